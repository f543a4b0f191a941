//! What it costs to load a sorted column store, and what it takes (Q, sections 4.2, 4.3).

use super::alone::{Alone, sorting};
use super::figure::{blocks, tested};
use super::organisation::{Cut, Organisation, Stored};
use super::race::{Lab, Times, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome, Table};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Sections 4.2 and 4.2.1: cost of loading, and size.
pub const EXPERIMENT: Experiment = Experiment {
    id: "qload",
    source: "Q, sections 4.2, 4.2.1 and 4.3",
    title: "Loading a sorted column store, and sizes",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 2),
        ..Need::default()
    }
}

/// A table's cost, and what it takes.
struct Loaded {
    name: String,
    times: Times,
    /// Bytes of its blocks, and how many there are.
    bytes: u64,
    blocks: u64,
}

fn run(setting: &Setting) -> Result<Outcome> {
    let lab = Lab::new(setting, KIND, 2);
    let cut = blocks(setting, &lab);
    let sorted = |cut| Organisation::plain(Layout::Column, cut).sorted(0);
    let column = |cut| Organisation::plain(Layout::Column, cut);
    let row = |cut| Organisation::plain(Layout::Row, cut);
    let cases = [
        ("files, sorted column store", sorted(Cut::Files)),
        ("blocks, sorted column store", sorted(cut)),
        ("files, column store", column(Cut::Files)),
        ("blocks, column store", column(cut)),
        ("files, row store", row(Cut::Files)),
        ("blocks, row store", row(cut)),
    ];
    let mut loaded: Vec<Loaded> = Vec::new();
    // A first round to fault in memory is not counted.
    for turn in 0..=lab.turns {
        for (number, (name, organisation)) in cases.iter().enumerate() {
            let stored = lab.load(organisation)?;
            match (turn, loaded.get_mut(number)) {
                (0, _) | (_, None) => loaded.push(Loaded::new(name, &stored)),
                (_, Some(known)) => known.times.0.push(stored.load_seconds),
            }
        }
    }
    let raw = lab.rows * KIND.row_bytes() as u64;
    let setup = format!(
        "{KIND:?}, {} rows, {} threads, {} samples. The seconds are of sorting, \
         encoding, checksums and zone maps, the mean of all threads; making the rows is not among \
         them. A file is \
         the part of one thread, in blocks of 2^20 rows, the most that there can be.",
        lab.rows, lab.threads, lab.turns
    );
    let alone = sorting(&lab)?;
    let block = match cut {
        Cut::Blocks(rows) => rows,
        _ => 0,
    };
    let mut claims = claims(&loaded, raw);
    claims.insert(1, of_sorting(&alone, block));
    Ok(Outcome {
        setup,
        plots: vec![alone.plot("Sorting the table, by how many rows are sorted at once")],
        tables: vec![table(&loaded, raw)],
        claims,
    })
}

impl Loaded {
    fn new(name: &str, stored: &Stored) -> Loaded {
        Loaded {
            name: name.into(),
            times: Times::default(),
            bytes: stored.table.bytes(),
            blocks: stored.table.blocks().len() as u64,
        }
    }
}

fn table(loaded: &[Loaded], raw: u64) -> Table {
    let rows = loaded.iter().map(|loaded| {
        let point = loaded.times.point(0.0);
        vec![
            loaded.name.clone(),
            format!("{:.0} ± {:.0}", point.mean, point.deviation),
            loaded.blocks.to_string(),
            format!("{:.2}", loaded.bytes as f64 / 1e6),
            format!("{:.2}", (loaded.bytes as f64 / raw as f64 - 1.0) * 100.0),
        ]
    });
    Table {
        title: "Loading Narrow-U".into(),
        columns: [
            "organisation",
            "ms",
            "blocks",
            "MB",
            "% more than raw tuples",
        ]
        .map(String::from)
        .to_vec(),
        rows: rows.collect(),
    }
}

fn of_sorting(alone: &Alone, block: usize) -> Claim {
    let (share, [few, all]) = alone.share(block);
    Claim::tested(
        "Observation 5, the sort alone: less time for many blocks than for few files (holds if \
         below 95 %, on plain arrays).",
        share < 0.95,
        format!(
            "Sorting {few} rows at once takes {:.0} % of the time of {all} at once, which is all \
             that a thread has.",
            share * 100.0
        ),
    )
}

fn claims(loaded: &[Loaded], raw: u64) -> Vec<Claim> {
    let seconds = |number: usize| loaded[number].times.median();
    let sorted = seconds(1) / seconds(0);
    let unsorted = |number: usize| seconds(number) * 1e3;
    let more = loaded[3].bytes as f64 / loaded[2].bytes as f64 - 1.0;
    let blocks = loaded[3].blocks - loaded[2].blocks;
    let metadata = (loaded[3].bytes as f64 - loaded[2].bytes as f64) / blocks.max(1) as f64;
    let rows = loaded[5].bytes as f64 / loaded[3].bytes as f64;
    vec![
        tested(
            "Observation 5: a sorted column store of blocks is built in less time than one of \
             files; 55 % of it in the paper (holds if below 95 %).",
            sorted < 0.95,
            format!("Blocks take {:.0} % of the time of files.", sorted * 100.0),
            &format!(
                "Without a sort, blocks take {:.0} ms and files {:.0} ms: most of the time goes to \
                 encoding, zone maps, sketches and checksums, which the paper's blocks do not have.",
                unsorted(3),
                unsorted(2)
            ),
        ),
        Claim::tested(
            "Section 4.2: blocks take 0.05 % more memory than files (holds if at most 0.5 %).",
            more <= 0.005,
            format!("Blocks take {:.3} % more.", more * 100.0),
        ),
        Claim::tested(
            "Section 4.2: a block has less than 100 bytes of metadata.",
            metadata < 100.0,
            format!(
                "Each block more adds {metadata:.0} bytes: header, directory of sections with \
                 checksums, zone maps and sketches of ten columns. All tables have {:.2} % more \
                 than raw tuples or less.",
                loaded
                    .iter()
                    .map(|loaded| (loaded.bytes as f64 / raw as f64 - 1.0) * 100.0)
                    .fold(0.0, f64::max)
            ),
        ),
        Claim::tested(
            "Section 4.3: row store and column store take the same memory (holds if within 1 %).",
            (rows - 1.0).abs() <= 0.01,
            format!(
                "The row store takes {:.2} times as much: a tuple begins with a bit for each \
                 column that says whether it is NULL.",
                rows
            ),
        ),
    ]
}
