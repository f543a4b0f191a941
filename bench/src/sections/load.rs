//! Seconds to load all eight tables from the same Parquet files, until durable.

use crate::Result;
use crate::bench::Bench;
use crate::pair::median;
use crate::report::{Bar, Row, Section};

/// Measures the section; the last of each load stays for the sections after it.
///
/// # Errors
/// Those of loading.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=bench.rounds {
        let seconds = (bench.reload_ours()?, bench.reload_theirs()?);
        // The first brings the files into memory.
        if round > 0 {
            ours.push(seconds.0);
            theirs.extend(seconds.1);
        }
    }
    let row = Row::new("eight tables", "s", median(&ours).unwrap_or_default());
    let row = row.beside(median(&theirs)).bar(Bar::Ratio(1.0));
    Ok(Section::new(
        "load",
        "from Parquet, COPY beside CREATE TABLE AS and CHECKPOINT",
        vec![row],
    ))
}
