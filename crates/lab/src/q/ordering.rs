//! Whether to bring rows that an index finds into order (Q, section 4.4.1).
//!
//! Freestone always does. What it would cost not to is measured on plain arrays of rows
//! and of columns with CSB+-trees over them, of a block's size and of a file's.

use super::alone::{columns, shares, tree};
use super::clock::timed;
use super::figure::by_share;
use super::race::{Lab, Sweep, Times, memory};
use super::tables::TableKind;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome, Plot};
use crate::setting::Setting;
use freestone_storage::Value;
use freestone_storage::index::AnyCsb;

/// Section 4.4.1: index order against row order.
pub const EXPERIMENT: Experiment = Experiment {
    id: "qorder",
    source: "Q, section 4.4.1",
    title: "Sorting the rows that an index finds",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;
const SHARES: [f64; 3] = [0.01, 0.1, 0.5];
const AS_FOUND: &str = "in the order of the index";
const IN_ORDER: &str = "sorted into the order of rows";

const CASES: [(&str, bool, bool); 4] = [
    ("files, column store", true, false),
    ("files, row store", true, true),
    ("blocks, column store", false, false),
    ("blocks, row store", false, true),
];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 4),
        ..Need::default()
    }
}

/// A part of a table in memory: columns, the same as rows, and a tree over one column.
struct Part {
    columns: Vec<Vec<i32>>,
    rows: Vec<i32>,
    tree: AnyCsb,
}

/// What one thread works on, and where its results go.
struct Share {
    parts: Vec<Part>,
    positions: Vec<u32>,
    output: Vec<i32>,
}

impl Part {
    fn of(columns: Vec<Vec<i32>>) -> Result<Part> {
        let tree = AnyCsb::open(tree(&columns[0]).into(), columns[0].len() as u32)?;
        let rows = 0..columns[0].len();
        let tuple = |row: usize| columns.iter().map(move |column| column[row]);
        Ok(Part {
            rows: rows.flat_map(tuple).collect(),
            tree,
            columns,
        })
    }
}

impl Share {
    /// Puts the tuples whose first column is at least `least` into the output.
    fn select(&mut self, least: u128, as_rows: bool, in_order: bool) {
        self.output.clear();
        for part in &self.parts {
            let found = part.tree.positions(part.tree.range(least, u32::MAX.into()));
            if found.is_empty() {
                continue;
            }
            self.positions.clear();
            self.positions.extend_from_slice(found);
            if in_order {
                self.positions.sort_unstable();
            }
            let width = part.columns.len();
            if as_rows {
                for row in &self.positions {
                    let start = *row as usize * width;
                    self.output
                        .extend_from_slice(&part.rows[start..start + width]);
                }
                continue;
            }
            let before = self.output.len();
            self.output.resize(before + self.positions.len() * width, 0);
            let tuples = &mut self.output[before..];
            for (number, column) in part.columns.iter().enumerate() {
                let places = tuples[number..].iter_mut().step_by(width);
                let pairs = places.zip(&self.positions);
                pairs.for_each(|(place, row)| *place = column[*row as usize]);
            }
        }
    }
}

/// The table of all threads in parts of so many rows.
fn organised(lab: &Lab, rows_of_part: u64) -> Result<Vec<Share>> {
    let share = |rows: std::ops::Range<u64>| {
        let starts = rows.clone().step_by(rows_of_part.max(1) as usize);
        let parts = starts.map(|start| {
            let rows = start..rows.end.min(start + rows_of_part);
            Part::of(columns(lab.generator(), KIND.columns(), rows))
        });
        Ok(Share {
            parts: parts.collect::<Result<_>>()?,
            positions: Vec::new(),
            output: Vec::new(),
        })
    };
    shares(lab).into_iter().map(share).collect()
}

fn run(setting: &Setting) -> Result<Outcome> {
    let lab = Lab::new(setting, KIND, 4);
    let block = lab.rows_of(setting.by_scale(4 << 20, 16 << 20)) as u64;
    let (mut files, mut blocks) = (organised(&lab, lab.rows)?, organised(&lab, block)?);
    let mut sweeps = Vec::new();
    for (_, is_file, as_rows) in CASES {
        let shares = if is_file { &mut files } else { &mut blocks };
        let mut times = vec![vec![Times::default(); SHARES.len()]; 2];
        for (number, share) in SHARES.into_iter().enumerate() {
            for _ in 0..=lab.turns {
                for (in_order, times) in [false, true].into_iter().zip(&mut times) {
                    times[number]
                        .0
                        .push(selected(shares, share, as_rows, in_order)?);
                }
            }
            // The first run makes room for the output.
            for times in &mut times {
                times[number].0.remove(0);
            }
        }
        sweeps.push(Sweep {
            names: vec![AS_FOUND.into(), IN_ORDER.into()],
            xs: SHARES.to_vec(),
            times,
        });
    }
    let titled = CASES.iter().zip(&sweeps);
    let plots: Vec<Plot> = titled
        .map(|((name, ..), sweep)| by_share(&format!("{name}, {} columns", KIND.columns()), sweep))
        .collect();
    Ok(Outcome {
        setup: format!(
            "{KIND:?}, {} rows, {} threads, {} samples, each the best of three. Plain arrays; a file \
             is all that a thread has, a block has {block} rows, each with a tree of its own.",
            lab.rows, lab.threads, lab.turns
        ),
        plots,
        claims: claims(&sweeps),
        ..Outcome::default()
    })
}

/// The best of three times of a selection of all columns.
fn selected(shares: &mut [Share], share: f64, as_rows: bool, in_order: bool) -> Result<f64> {
    let Value::Int(least) = KIND.at_least(0, share) else {
        return Err(Error::new("the table has no numbers", ""));
    };
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let elapsed = timed(shares.iter_mut().collect(), |part: &mut Share| {
            part.select(least as u128, as_rows, in_order);
            Ok(())
        })?;
        best = best.min(elapsed.as_secs_f64());
    }
    Ok(best)
}

fn claims(sweeps: &[Sweep]) -> Vec<Claim> {
    let ratios = |number: usize| sweeps[number].ratios(IN_ORDER, AS_FOUND);
    let at_ten = |number: usize| ratios(number).of(|share| share == 0.1);
    let listed = |numbers: &[usize]| {
        let each = numbers
            .iter()
            .map(|number| format!("{}: {}", CASES[*number].0, ratios(*number)));
        format!(
            "Sorted over as found, by share of rows: {}.",
            each.collect::<Vec<String>>().join("; ")
        )
    };
    vec![
        Claim::tested(
            "Section 4.4.1: for a column store in files, at 10 % and 10 columns, sorting the rows \
             that an index finds changes the time little (holds if by at most 20 %).",
            at_ten(0).about_one(0.2),
            listed(&[0]),
        ),
        Claim::tested(
            "Section 4.4.1: for row stores and for blocks it takes longer to sort them (holds if at \
             10 % it does in all three cases).",
            [1, 2, 3]
                .into_iter()
                .all(|number| at_ten(number).at_least(1.0)),
            listed(&[1, 2, 3]),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_selects_the_same_tuples() {
        let columns: Vec<Vec<i32>> = vec![vec![5, 1, 9, 7], vec![50, 10, 90, 70]];
        let mut share = Share {
            parts: vec![Part::of(columns).unwrap()],
            positions: Vec::new(),
            output: Vec::new(),
        };
        let mut select = |as_rows, in_order| {
            share.select(6, as_rows, in_order);
            share.output.clone()
        };
        for as_rows in [false, true] {
            assert_eq!(select(as_rows, false), [7, 70, 9, 90]);
            assert_eq!(select(as_rows, true), [9, 90, 7, 70]);
        }
        for as_rows in [false, true] {
            share.select(10, as_rows, true);
            assert!(share.output.is_empty());
        }
    }
}
