//! Sorting, and building trees, by themselves: on plain arrays, without what else a
//! block of Freestone is made of, and over as many rows at once as there are.

use super::clock::timed;
use super::figure::by_rows;
use super::race::{Lab, Sweep, Times};
use super::tables::Generator;
use crate::error::Result;
use crate::outcome::Plot;
use freestone_storage::index::{AnyCsb, KeyWidth};
use std::hint::black_box;
use std::ops::Range;

/// The columns of one thread's part of a table.
type Columns = Vec<Vec<i32>>;

/// Work on rows of a part.
type Work = fn(&Columns, Range<usize>);

/// Times of some work over a table, by how many rows it is done on at once; the last is
/// all that a thread has.
#[derive(Debug)]
pub struct Alone {
    sweep: Sweep,
}

/// Sorts rows by their first column, and puts all columns into that order.
///
/// # Errors
/// That a thread died.
pub fn sorting(lab: &Lab) -> Result<Alone> {
    measured(
        lab,
        "sort by one column, and gather all",
        lab.kind.columns(),
        |columns, rows| {
            black_box(sorted(columns, rows));
        },
    )
}

/// Builds a CSB+-tree over the first column.
///
/// # Errors
/// That a thread died.
pub fn trees(lab: &Lab) -> Result<Alone> {
    measured(lab, "build a CSB+-tree", 1, |columns, rows| {
        black_box(tree(&columns[0][rows]));
    })
}

/// The rows in the order of their first column.
fn sorted(columns: &Columns, rows: Range<usize>) -> Columns {
    let values = columns[0][rows.clone()].iter();
    // Values are positive: a value above its place sorts as the value does.
    let mut order: Vec<u64> = values
        .zip(0_u64..)
        .map(|(value, place)| (*value as u64) << 32 | place)
        .collect();
    order.sort_unstable();
    let gathered = columns.iter().map(|column| {
        let column = &column[rows.clone()];
        order
            .iter()
            .map(|entry| column[(entry & 0xffff_ffff) as usize])
            .collect()
    });
    gathered.collect()
}

/// The stored form of a CSB+-tree over values that are not negative.
fn tree(values: &[i32]) -> Vec<u8> {
    let entries = values
        .iter()
        .zip(0..)
        .map(|(value, place)| (*value as u128, place));
    AnyCsb::build(KeyWidth::Four, entries)
}

/// The columns of a thread's rows.
fn columns(generator: Generator, count: usize, rows: Range<u64>) -> Columns {
    let column = |column| {
        rows.clone()
            .map(|row| generator.integer(column, row))
            .collect()
    };
    (0..count).map(column).collect()
}

/// The rows of each thread.
fn shares(lab: &Lab) -> Vec<Range<u64>> {
    let share = lab.rows.div_ceil(lab.threads as u64).max(1);
    let starts = (0..lab.rows).step_by(share as usize);
    starts
        .map(|start| start..lab.rows.min(start + share))
        .collect()
}

fn measured(lab: &Lab, name: &str, count: usize, work: Work) -> Result<Alone> {
    let parts = shares(lab)
        .into_iter()
        .map(|rows| columns(lab.generator(), count, rows));
    let parts: Vec<Columns> = parts.collect();
    let all = parts.first().map_or(0, |part| part[0].len());
    let powers = (12..).step_by(2).map(|power| 1_usize << power);
    let mut sizes: Vec<usize> = powers.take_while(|size| *size * 2 <= all).collect();
    sizes.push(all.max(1));
    let mut times = vec![Times::default(); sizes.len()];
    for _ in 0..lab.turns {
        for (size, times) in sizes.iter().zip(&mut times) {
            let once = || {
                let elapsed = timed(parts.iter().collect(), |part: &Columns| {
                    let rows = part[0].len();
                    let starts = (0..rows).step_by(*size);
                    starts.for_each(|start| work(part, start..rows.min(start + size)));
                    Ok(())
                })?;
                Result::Ok(elapsed.as_secs_f64())
            };
            times.0.push(f64::min(once()?, once()?));
        }
    }
    Ok(Alone {
        sweep: Sweep {
            names: vec![name.into()],
            xs: sizes.iter().map(|size| *size as f64).collect(),
            times: vec![times],
        },
    })
}

impl Alone {
    /// Time by rows at once.
    pub fn plot(&self, title: &str) -> Plot {
        by_rows(title, &self.sweep)
    }

    /// The time over so many rows at once, or the next fewer, as a share of that over all
    /// that a thread has; with the number of rows of both.
    pub fn share(&self, rows: usize) -> (f64, [f64; 2]) {
        let medians = self.sweep.medians(&self.sweep.names[0]);
        let fewer = medians.iter().rev().find(|(size, _)| *size <= rows as f64);
        match (fewer, medians.last()) {
            (Some((few, time)), Some((all, whole))) => (time / whole, [*few, *all]),
            _ => (f64::NAN, [f64::NAN; 2]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tables::TableKind;
    use super::*;

    #[test]
    fn rows_are_sorted_as_wholes() {
        let generator = Generator {
            kind: TableKind::NarrowU,
            seed: 2,
        };
        let plain = columns(generator, 3, 0..1000);
        let sorted = sorted(&plain, 100..900);
        assert!(sorted[0].is_sorted() && sorted[0].len() == 800);
        let rows = |columns: &Columns, rows: Range<usize>| {
            let mut rows: Vec<[i32; 3]> = rows
                .map(|row| [0, 1, 2].map(|column: usize| columns[column][row]))
                .collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(rows(&sorted, 0..800), rows(&plain, 100..900));
    }
}
