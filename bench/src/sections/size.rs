//! Bytes of all eight tables: a folder of ours, beside DuckDB's file after CHECKPOINT.

use crate::Result;
use crate::bench::Bench;
use crate::data::folder_bytes;
use crate::report::{Bar, Row, Section};

/// Part of DuckDB's size, by codec.
const CODECS: [(&str, f64); 2] = [("auto", 0.85), ("small", 0.70)];

/// Measures the section.
///
/// # Errors
/// Those of loading.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    bench.load_both()?;
    let file = bench.peer_file();
    let theirs = match &mut bench.peer {
        Some(peer) => Some(peer.size(&file)?),
        None => None,
    };
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let mut rows = Vec::new();
    for (codec, bar) in CODECS {
        let bytes = bytes(bench, codec)?;
        let row = Row::new(format!("codec = '{codec}'"), "MB", megabytes(bytes));
        rows.push(row.beside(theirs.map(megabytes)).bar(Bar::Ratio(bar)));
    }
    Ok(Section::new(
        "size",
        "all tables on disk, all files counted",
        rows,
    ))
}

/// Loads all tables with a codec, counts and removes them.
fn bytes(bench: &mut Bench, codec: &str) -> Result<u64> {
    let name = format!("freestone-{codec}");
    let (database, _) = bench.load_ours(&name, &format!("codec = '{codec}'"))?;
    // Closed before it is counted: whatever closing writes belongs to it.
    drop(database);
    let place = bench.place(&name);
    let bytes = folder_bytes(&place)?;
    std::fs::remove_dir_all(place)?;
    Ok(bytes)
}
