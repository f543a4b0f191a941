//! The 22 queries of TPC-H over tables as PAX, beside the same tables as columns.

use super::tpch::totals;
use crate::bench::Bench;
use crate::compare::difference;
use crate::pair::best;
use crate::report::{Bar, Row, Section};
use crate::{Result, ours, queries};
use freestone::Session;

/// Measures the section.
///
/// # Errors
/// Those of loading and of the queries.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    let place = "freestone-pax";
    // `column` is what the database of the other sections has.
    let column = bench.session()?;
    let (database, _) = bench.load_ours(place, "layout = 'pax'")?;
    let pax = bench.session_on(&database)?;
    let mut rows = Vec::new();
    for number in 1..=queries::COUNT {
        eprintln!("layouts: Q{number}");
        let sql = queries::text(number, bench.scale).ok_or("there is no such query")?;
        let mut row = query(bench, [&pax, &column], &sql)?;
        row.what = format!("Q{number}");
        rows.push(row);
    }
    let (total, mean) = totals(&rows);
    rows.push(total);
    rows.push(mean.bar(Bar::Ratio(1.3)));
    drop((pax, database));
    std::fs::remove_dir_all(bench.place(place))?;
    let note = "the 22 queries, warm, Freestone's layout pax beside its layout column";
    Ok(Section::new("layouts", note, rows).beside("as column"))
}

/// Runs a query once on each side without counting, then in turn; the results must agree.
fn query(bench: &Bench, sides: [&Session; 2], sql: &str) -> Result<Row> {
    let mut seconds = [Vec::new(), Vec::new()];
    let mut problem = None;
    for round in 0..=bench.rounds {
        let (took, pax) = ours::run(&bench.runtime, sides[0], sql)?;
        let (beside, column) = ours::run(&bench.runtime, sides[1], sql)?;
        if round == 0 {
            problem = difference(&ours::cells(&pax)?, &ours::cells(&column)?, "column");
            continue;
        }
        seconds[0].push(took * 1e3);
        seconds[1].push(beside * 1e3);
    }
    let [pax, column] = seconds.map(|seconds| best(&seconds));
    let mut row = Row::new("", "ms", pax.unwrap_or_default()).beside(column);
    row.problem = problem;
    Ok(row)
}
