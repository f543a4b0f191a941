//! TPC-H's queries over slotted pages and over pages of minipages.

use crate::error::Result;
use crate::measure::{in_turns, ratio};
use crate::setting::Setting;

/// The queries that the paper runs.
pub(super) const QUERIES: [usize; 4] = [1, 6, 12, 14];

/// NSM and PAX as options of a table, on pages as in the other experiments.
const MODELS: [(&str, &str); 2] = [
    (
        "nsm",
        "layout = 'row', slotted = true, codec = 'none', page_bytes = '8KiB'",
    ),
    (
        "pax",
        "layout = 'pax', codec = 'none', page_bytes = '8KiB', reorganise_percent = 0",
    ),
];

/// Of each scale factor, by how much faster each query is with PAX on one thread; `None`
/// without SQL.
///
/// # Errors
/// Those of loading, and of queries.
pub(super) fn speed_ups(setting: &Setting, scales: &[f64]) -> Result<Option<Vec<Vec<f64>>>> {
    let Some(sql) = &setting.sql else {
        return Ok(None);
    };
    let mut all = Vec::new();
    for scale in scales {
        let mut databases = Vec::new();
        for (name, options) in MODELS {
            let directory = setting.scratch.join(format!("{name}-{scale}"));
            sql.load(&directory, *scale, options)?;
            databases.push(sql.open(&directory, 1)?);
        }
        let speed_up = |query: usize| {
            let text = sql.query(query, *scale)?;
            let times = in_turns(setting.many_repetitions(), &databases, |database| {
                Ok(database.run(&text)?.0)
            })?;
            Ok(ratio(&times[0], &times[1]) - 1.0)
        };
        all.push(
            QUERIES
                .into_iter()
                .map(speed_up)
                .collect::<Result<Vec<f64>>>()?,
        );
    }
    Ok(Some(all))
}
