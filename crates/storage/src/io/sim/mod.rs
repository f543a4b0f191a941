//! Disks in numbers: reads of large files, computed in virtual time (H7, H10).
//!
//! Experiments that were made for the disks of another day, or for more of them than a
//! machine has, are repeated by these rules:
//!
//! * Every file is striped over all disks. A request is one I/O unit: `unit_bytes` of each
//!   disk, the last one less. It has arrived when all disks have delivered their part.
//! * A disk serves requests in the order in which they were made, each in
//!   bytes / `bytes_per_second`, and `seek_seconds` more unless it begins where the one
//!   before has ended. Its head is nowhere at first.
//! * A scan reads its files side by side, as columns of one table: it takes their units in
//!   the order of the tuples that they begin with, and computes with each as long as its
//!   share of the file's `compute_seconds`. The first request of a file is made when the
//!   scan comes to it.
//! * A file has a buffer of `depth` units. When half of it is free, as many units as are
//!   free are asked for at once, and meanwhile the scan computes with the rest. A unit is
//!   free when the scan comes to the next one of that file.
//! * Scans share the disks and nothing else: each has a processor of its own, none waits
//!   for the bus, and a request itself takes no time.

mod run;
#[cfg(test)]
mod tests;

/// Equal disks over which every file is striped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sim {
    /// How many disks; at least one is there.
    pub disks: usize,
    /// Bytes a second that one disk delivers in sequence.
    pub bytes_per_second: f64,
    /// Seconds until a disk delivers from another place.
    pub seek_seconds: f64,
}

/// A file that a scan reads from end to end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimFile {
    /// Its bytes.
    pub bytes: u64,
    /// Seconds that the scan computes with all of it.
    pub compute_seconds: f64,
}

/// When a scan may ask for units of one of its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SimAsking {
    /// Whenever a buffer is half free.
    #[default]
    Ahead,
    /// Only when nothing of its other files is still to come: the "slow" columns of H,
    /// figure 11. A buffer that had to wait is filled with all that is free by then.
    OneFile,
}

/// A scan of files that lie side by side: one of a row table, one for each column of
/// another.
#[derive(Clone, Debug, PartialEq)]
pub struct SimScan {
    /// The files.
    pub files: Vec<SimFile>,
    /// Bytes of an I/O unit on one disk.
    pub unit_bytes: u64,
    /// Prefetch depth: I/O units in a file's buffer; at least one.
    pub depth: u64,
    /// When it asks.
    pub asking: SimAsking,
}

/// What became of a scan, in seconds of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimScanReport {
    /// From the beginning, when all scans start, to its end.
    pub elapsed: f64,
    /// How long it computed.
    pub computing: f64,
    /// How long it waited for disks.
    pub waiting: f64,
}

/// What a disk did until the last scan ended, in seconds of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimDiskReport {
    /// How long it delivered.
    pub transferring: f64,
    /// How long it moved its head.
    pub seeking: f64,
    /// How long it waited for requests.
    pub idle: f64,
}

/// What became of all.
#[derive(Clone, Debug, PartialEq)]
pub struct SimReport {
    /// The scans, in the order in which they were given.
    pub scans: Vec<SimScanReport>,
    /// The disks.
    pub disks: Vec<SimDiskReport>,
}

impl Sim {
    /// Runs `scans`, which all start at once, to their ends.
    pub fn run(&self, scans: &[SimScan]) -> SimReport {
        run::run(self, scans)
    }

    /// Bytes a second of all disks together.
    pub fn bandwidth(&self) -> f64 {
        self.bytes_per_second * self.disks.max(1) as f64
    }
}
