//! The 22 queries of TPC-H.

use crate::bench::Bench;
use crate::report::{Bar, Row, Section};
use crate::{Result, pair, queries};

/// Measures the section.
///
/// # Errors
/// Those of loading and of Freestone's queries.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    bench.load_both()?;
    let session = bench.session()?;
    let mut rows = Vec::new();
    for query in 1..=queries::COUNT {
        eprintln!("tpch: Q{query}");
        let sql = queries::text(query, bench.scale).ok_or("there is no such query")?;
        let row = pair::query(bench, &session, &sql)?.row(format!("Q{query}"));
        rows.push(row.bar(Bar::Ratio(1.1)));
    }
    let (total, mean) = totals(&rows);
    rows.push(total.bar(Bar::Ratio(0.7)));
    rows.push(mean.bar(Bar::Ratio(0.7)));
    Ok(Section::new("tpch", "the 22 queries, warm", rows))
}

/// The sum and the geometric mean of queries, in milliseconds.
pub(super) fn totals(rows: &[Row]) -> (Row, Row) {
    let ours: Vec<f64> = rows.iter().map(|row| row.freestone).collect();
    // Only where all of them ran on both sides.
    let theirs: Option<Vec<f64>> = rows.iter().map(|row| row.peer).collect();
    let summed = |values: &[f64]| values.iter().sum::<f64>();
    let total = Row::new("total", "ms", summed(&ours)).beside(theirs.as_deref().map(summed));
    let mean = Row::new("geometric mean", "ms", geometric_mean(&ours));
    (total, mean.beside(theirs.as_deref().map(geometric_mean)))
}

fn geometric_mean(values: &[f64]) -> f64 {
    // A time of zero would be the mean of everything.
    let sum: f64 = values.iter().map(|value| value.max(1e-3).ln()).sum();
    (sum / values.len().max(1) as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means() {
        assert!((geometric_mean(&[1.0, 100.0]) - 10.0).abs() < 1e-9);
        assert!(geometric_mean(&[]).is_finite());
    }
}
