//! A query's rate, what holds it back, and rows beside columns (H9, equation 1 and the
//! formula for the speed-up).

use crate::disk::{self, File};
use crate::machine::Machine;
use crate::rate::{Rate, Scanner};
use std::fmt;

/// Scans whose tuples go through operators.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// What is read from disk; none if all of it is in memory.
    pub files: Vec<File>,
    /// One for each relation.
    pub scanners: Vec<Scanner>,
    /// Cycles of each operator above, for each tuple of the input.
    pub operator_cycles: Vec<f64>,
}

/// What holds a query back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It waits for disks.
    Disk,
    /// Its scanners wait for memory.
    Memory,
    /// It computes.
    Processor,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bound::Disk => "disk",
            Bound::Memory => "memory",
            Bound::Processor => "processor",
        })
    }
}

/// What the model says of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Tuples of its input a second.
    pub rate: Rate,
    /// What holds it back.
    pub bound: Bound,
}

impl Query {
    /// Its rate: the lesser of disks' and processors' (equation 1), which overlap.
    pub fn predict(&self, machine: &Machine) -> Prediction {
        let disk = match self.files.is_empty() {
            true => Rate::FREE,
            false => disk::rate(machine, &self.files),
        };
        let processor = self.processor(machine);
        let waits = |scanner: &Scanner| scanner.waits_for_memory(machine);
        let bound = match disk < processor {
            true => Bound::Disk,
            false if self.scanners.iter().any(waits) => Bound::Memory,
            false => Bound::Processor,
        };
        Prediction {
            rate: disk.at_most(processor),
            bound,
        }
    }

    /// The rate of scanners and operators, one after the other (equation 6).
    fn processor(&self, machine: &Machine) -> Rate {
        let operators = self.operator_cycles.iter();
        let operators = operators.map(|cycles| Rate::of_cycles(machine, *cycles));
        let scanners = self.scanners.iter().map(|scanner| scanner.rate(machine));
        Rate::chain(operators.chain(scanners))
    }
}

/// How many times as fast `columns` is as `rows`, which is the same query over another
/// layout.
pub fn speed_up(machine: &Machine, columns: &Query, rows: &Query) -> f64 {
    columns.predict(machine).rate.0 / rows.predict(machine).rate.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scan(tuple_bytes: f64, share: f64, user_cycles: f64) -> Query {
        let read_bytes = tuple_bytes * share;
        Query {
            files: vec![File {
                read_bytes,
                ..File::of_rows(60e6, tuple_bytes)
            }],
            scanners: vec![Scanner {
                system_cycles: read_bytes,
                user_cycles,
                bytes: read_bytes,
            }],
            operator_cycles: Vec::new(),
        }
    }

    /// Bound by disk, columns win by the bytes that they need not read; bound by the
    /// processor they may lose.
    #[test]
    fn what_binds_decides_who_wins() {
        let machine = Machine::of_the_paper();
        let (columns, rows) = (scan(32.0, 0.5, 250.0), scan(32.0, 1.0, 120.0));
        let slow_disks = machine.with_cpdb(400.0);
        assert_eq!(columns.predict(&slow_disks).bound, Bound::Disk);
        assert!((speed_up(&slow_disks, &columns, &rows) - 2.0).abs() < 1e-9);
        let fast_disks = machine.with_cpdb(2.0);
        assert_eq!(columns.predict(&fast_disks).bound, Bound::Processor);
        assert!(speed_up(&fast_disks, &columns, &rows) < 1.0);
        let in_memory = Query {
            files: Vec::new(),
            ..rows
        };
        assert_ne!(in_memory.predict(&slow_disks).bound, Bound::Disk);
    }

    proptest! {
        /// The formula divides all rates by the bandwidth of disks: it knows of clock and
        /// disks only the cycles per disk byte.
        #[test]
        fn only_cycles_per_disk_byte_matter(
            clock in 1e8..1e11f64, cpdb in 1.0..500.0f64,
            width in 4.0..200.0f64, share in 0.01..1.0f64,
            columns in 1.0..1000.0f64, rows in 1.0..1000.0f64, operator in 0.0..1000.0f64,
        ) {
            let with = |query: Query| Query { operator_cycles: vec![operator], ..query };
            let columns = with(scan(width, share, columns));
            let rows = with(scan(width, 1.0, rows));
            let paper = Machine::of_the_paper().with_cpdb(cpdb);
            let other = Machine { clock, ..Machine::of_the_paper() }.with_cpdb(cpdb);
            let (one, two) = (speed_up(&paper, &columns, &rows), speed_up(&other, &columns, &rows));
            prop_assert!((one - two).abs() < 1e-9 * one);
            // An operator that costs much hides the difference where neither waits for disks.
            let free = Query { operator_cycles: Vec::new(), files: Vec::new(), ..columns.clone() };
            let plain = Query { operator_cycles: Vec::new(), files: Vec::new(), ..rows.clone() };
            let hidden = |query: &Query| Query { operator_cycles: vec![operator], ..query.clone() };
            let apart = speed_up(&paper, &free, &plain).ln().abs();
            let together = speed_up(&paper, &hidden(&free), &hidden(&plain)).ln().abs();
            prop_assert!(together <= apart + 1e-9);
        }
    }
}
