//! The disks of H, as fast beside this machine's processor as they were beside theirs.

use super::tables::TUPLES;
use freestone_storage::io::{Sim, SimAsking, SimFile, SimScan, SimScanReport};

/// Cycles per disk byte of H's machine with its three disks.
pub const PAPER_CPDB: f64 = 18.0;
/// Bytes of an I/O unit on a disk.
pub const UNIT_BYTES: u64 = 128 << 10;
/// The prefetch depth of all experiments but figures 10 and 11.
pub const DEPTH: u64 = 48;
/// The middle of the 5 to 10 ms that H gives for a seek, on a machine with
pub const PAPER_SEEK: f64 = 7.5e-3;
/// this clock, cycles a second.
const PAPER_CLOCK: f64 = 3.2e9;

/// A table's files and the time that it takes to compute with them.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Bytes of a tuple in each file.
    pub file_bytes: Vec<f64>,
    /// Seconds of computation for each tuple.
    pub compute: f64,
}

/// How a simulation differs from the usual one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// I/O units of each file's buffer.
    pub depth: u64,
    /// When a scan may ask.
    pub asking: SimAsking,
    /// Bytes of a tuple of another table, of as many tuples, that is scanned as rows
    /// meanwhile; 0 for none.
    pub beside: f64,
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions {
            depth: DEPTH,
            asking: SimAsking::Ahead,
            beside: 0.0,
        }
    }
}

/// Three disks that give a machine of `clock` cycles a second so many cycles per byte, and
/// as many cycles per seek as H's machine had.
pub fn disks(clock: f64, cpdb: f64) -> Sim {
    Sim {
        disks: 3,
        bytes_per_second: clock / cpdb / 3.0,
        seek_seconds: seek_of(PAPER_SEEK, clock),
    }
}

/// What a seek of H's machine is to one of `clock` cycles a second: as many cycles.
pub fn seek_of(seek_seconds: f64, clock: f64) -> f64 {
    seek_seconds * PAPER_CLOCK / clock
}

impl Reading {
    /// One file.
    pub fn rows(tuple_bytes: f64, compute: f64) -> Reading {
        Reading {
            file_bytes: vec![tuple_bytes],
            compute,
        }
    }

    /// Bytes of a tuple in all files.
    pub fn bytes(&self) -> f64 {
        self.file_bytes.iter().sum()
    }

    /// The scan of 60 million tuples; what is computed is spread over files by their size.
    pub fn scan(&self, conditions: Conditions) -> SimScan {
        let all = self.bytes();
        let file = |bytes: &f64| SimFile {
            bytes: (bytes * TUPLES) as u64,
            compute_seconds: self.compute * TUPLES * bytes / all,
        };
        SimScan {
            files: self.file_bytes.iter().map(file).collect(),
            unit_bytes: UNIT_BYTES,
            depth: conditions.depth,
            asking: conditions.asking,
        }
    }

    /// What becomes of it on such disks.
    pub fn on(&self, disks: &Sim, conditions: Conditions) -> SimScanReport {
        let mut scans = vec![self.scan(conditions)];
        if conditions.beside > 0.0 {
            let ahead = Conditions {
                asking: SimAsking::Ahead,
                ..conditions
            };
            scans.push(Reading::rows(conditions.beside, 0.0).scan(ahead));
        }
        disks.run(&scans).scans[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 9.5 GB at 180 MB/s take 53 seconds in H.
    #[test]
    fn rows_take_the_time_of_the_paper() {
        let disks = disks(3.2e9, PAPER_CPDB);
        assert!((disks.bandwidth() / 1e6 - 178.0).abs() < 1.0);
        let lineitem = Reading::rows(152.0, 1e-8).on(&disks, Conditions::default());
        assert!((51.0..53.0).contains(&lineitem.elapsed), "{lineitem:?}");
        let computing = Reading::rows(152.0, 2e-6).on(&disks, Conditions::default());
        assert!((120.0..121.0).contains(&computing.elapsed), "{computing:?}");
    }

    /// Columns of all bytes seek; without a deep buffer they do little else.
    #[test]
    fn columns_seek() {
        let disks = disks(3.2e9, PAPER_CPDB);
        let columns = Reading {
            file_bytes: vec![4.0; 8],
            compute: 0.0,
        };
        let rows = Reading::rows(32.0, 0.0).on(&disks, Conditions::default());
        let mut before = rows.elapsed;
        for depth in [48, 16, 8, 4, 2] {
            let conditions = Conditions {
                depth,
                ..Conditions::default()
            };
            let elapsed = columns.on(&disks, conditions).elapsed;
            assert!(elapsed > before, "{depth} {elapsed} {before}");
            before = elapsed;
        }
    }
}
