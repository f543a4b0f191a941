//! At which rate disks deliver tuples (H9, equations 2 to 4).

use crate::machine::Machine;
use crate::rate::Rate;

/// A relation in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct File {
    /// How many tuples.
    pub tuples: f64,
    /// Bytes of a whole tuple, as it is stored.
    pub tuple_bytes: f64,
    /// Bytes of it that a query reads: all of it from rows, those of the attributes
    /// that it needs from columns.
    pub read_bytes: f64,
}

impl File {
    /// Whole tuples.
    pub fn of_rows(tuples: f64, tuple_bytes: f64) -> File {
        File {
            tuples,
            tuple_bytes,
            read_bytes: tuple_bytes,
        }
    }

    /// How many times as large a tuple is as what is read of it: the factor f of
    /// equation 4.
    pub fn factor(&self) -> f64 {
        self.tuple_bytes / self.read_bytes
    }

    /// Bytes of all tuples.
    pub fn bytes(&self) -> f64 {
        self.tuples * self.tuple_bytes
    }
}

/// The rate at which disks deliver tuples of files, each weighted by its size (equation 4;
/// equation 3 where all is read).
pub(crate) fn rate(machine: &Machine, files: &[File]) -> Rate {
    let tuples: f64 = files.iter().map(|file| file.tuples * file.factor()).sum();
    let bytes: f64 = files.iter().map(File::bytes).sum();
    Rate(machine.disk_bandwidth * tuples / bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two integers of the 32 bytes of ORDERS: the factor is 4.
    #[test]
    fn columns_are_delivered_as_much_faster_as_they_are_narrower() {
        let machine = Machine::of_the_paper();
        let rows = File::of_rows(60e6, 32.0);
        let columns = File {
            read_bytes: 8.0,
            ..rows
        };
        assert_eq!(columns.factor(), 4.0);
        let (rows, columns) = (rate(&machine, &[rows]), rate(&machine, &[columns]));
        assert_eq!(columns.0, 4.0 * rows.0);
        assert_eq!(rows.0, 180e6 / 32.0);
    }

    /// Equation 2: of files of 1 and 10 GB, ten of eleven bytes are from the second.
    #[test]
    fn files_count_by_their_size() {
        let machine = Machine::of_the_paper();
        let small = File::of_rows(1e7, 100.0);
        let large = File::of_rows(2e8, 50.0);
        let weighted =
            machine.disk_bandwidth / 100.0 / 11.0 + machine.disk_bandwidth / 50.0 * 10.0 / 11.0;
        assert!((rate(&machine, &[small, large]).0 - weighted).abs() < 1e-3);
    }
}
