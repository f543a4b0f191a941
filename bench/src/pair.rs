//! The same query on both sides, in turn, and whether the results agree.

use crate::Result;
use crate::bench::Bench;
use crate::ours::{self, Cells};
use crate::report::Row;
use freestone::Session;

/// What a query took on each side.
#[derive(Debug, Clone, Default)]
pub struct Pair {
    /// Median seconds of Freestone.
    pub ours: f64,
    /// Median seconds of DuckDB.
    pub theirs: Option<f64>,
    /// Where the results differ, or why there is none.
    pub problem: Option<String>,
}

impl Pair {
    /// As a row in milliseconds.
    pub fn row(&self, what: impl Into<String>) -> Row {
        let mut row = Row::new(what, "ms", self.ours * 1e3);
        row.peer = self.theirs.map(|seconds| seconds * 1e3);
        row.problem.clone_from(&self.problem);
        row
    }
}

/// Runs a query once on each side without counting, then in turn.
///
/// # Errors
/// Those of Freestone; DuckDB's become the pair's problem.
pub fn query(bench: &mut Bench, session: &Session, sql: &str) -> Result<Pair> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut pair = Pair::default();
    for round in 0..=bench.rounds {
        let (seconds, batches) = ours::run(&bench.runtime, session, sql)?;
        ours.push(seconds);
        let Some(peer) = bench.peer.as_mut().filter(|_| pair.problem.is_none()) else {
            continue;
        };
        let answer = match round {
            0 => peer.fetch(sql),
            _ => peer.run(sql),
        };
        match answer {
            Ok(answer) => {
                theirs.extend(answer.seconds);
                if let Some(cells) = answer.value {
                    pair.problem = difference(&ours::cells(&batches)?, &cells);
                }
            }
            Err(error) => pair.problem = Some(error.to_string()),
        }
    }
    // The first of each warmed up.
    pair.ours = median(&ours[1..]).unwrap_or_default();
    pair.theirs = median(theirs.get(1..).unwrap_or_default());
    Ok(pair)
}

/// The value in the middle; of an even count the mean of the two.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted.get((sorted.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

/// The first difference, in words.
fn difference(ours: &Cells, theirs: &Cells) -> Option<String> {
    let different = different_row(ours, theirs)?;
    // Rows that tie in their order may come either way; the column they are ordered by
    // is then the same in every place.
    let columns = ours.first().map_or(0, Vec::len);
    let in_place = |column: usize| {
        let mut pairs = ours.iter().zip(theirs);
        pairs.all(|(ours, theirs)| ours.get(column) == theirs.get(column))
    };
    if !(0..columns).any(in_place) {
        return Some(different);
    }
    let sorted = |cells: &Cells| {
        let mut cells = cells.clone();
        cells.sort();
        cells
    };
    different_row(&sorted(ours), &sorted(theirs)).map(|_| different)
}

/// What is different about the first row that is.
fn different_row(ours: &Cells, theirs: &Cells) -> Option<String> {
    if ours.len() != theirs.len() {
        return Some(format!(
            "results differ: {} rows, DuckDB has {}",
            ours.len(),
            theirs.len()
        ));
    }
    for (number, (ours, theirs)) in (1..).zip(ours.iter().zip(theirs)) {
        let same = ours.len() == theirs.len()
            && ours
                .iter()
                .zip(theirs)
                .all(|(ours, theirs)| match (ours, theirs) {
                    (Some(ours), Some(theirs)) => same(ours, theirs),
                    (ours, theirs) => ours.is_none() && theirs.is_none(),
                });
        if !same {
            let shown = |row: &[Option<String>]| {
                let cells = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL"));
                cells.collect::<Vec<_>>().join(" | ")
            };
            return Some(format!(
                "results differ in row {number}: {}, DuckDB has {}",
                shown(ours),
                shown(theirs)
            ));
        }
    }
    None
}

/// Equal text, or numbers that agree as far as the shorter one's digits go:
/// averages are decimals on one side and floats on the other.
fn same(ours: &str, theirs: &str) -> bool {
    if ours == theirs {
        return true;
    }
    let (Ok(a), Ok(b)) = (ours.parse::<f64>(), theirs.parse::<f64>()) else {
        return false;
    };
    (a - b).abs() <= 1e-5 + a.abs() * 1e-12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn cells_agree_as_far_as_their_digits_go() {
        assert!(same("25.522005", "25.522005853257337"));
        assert!(same("380456", "380456.00"));
        assert!(!same("380456", "380457"));
        assert!(!same("1994-01-01", "1994-01-02"));
        let row = |text: &str| vec![vec![Some(text.to_string()), None]];
        assert_eq!(difference(&row("1"), &row("1.0")), None);
        assert!(difference(&row("1"), &row("2")).is_some());
        assert!(difference(&row("1"), &Vec::new()).is_some());
    }

    #[test]
    fn rows_that_tie_may_come_either_way() {
        let rows = |rows: &[[&str; 2]]| -> Cells {
            let cells = |row: &[&str; 2]| row.iter().map(|cell| Some(cell.to_string())).collect();
            rows.iter().map(cells).collect()
        };
        let (a, b) = (
            rows(&[["1", "x"], ["2", "x"]]),
            rows(&[["2", "x"], ["1", "x"]]),
        );
        assert_eq!(difference(&a, &b), None);
        let (a, b) = (
            rows(&[["1", "x"], ["2", "y"]]),
            rows(&[["2", "y"], ["1", "x"]]),
        );
        assert!(difference(&a, &b).is_some());
    }
}
