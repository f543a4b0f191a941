//! Measures a machine: its clock, memory and disk, and what Freestone's scans cost on it.
//!
//! What is measured goes into the model's [`Machine`] and [`Costs`], all in cycles.
//! [`check()`] draws selections that nothing was fitted on and says how far off the
//! model is.

mod check;
mod cold;
mod columns;
mod disk;
mod hardware;
mod scans;
mod tables;
mod timer;

pub use check::{Checked, Errors, check};
pub use columns::kind_of;
pub use hardware::{bandwidth, clock, machine};
pub use scans::costs;
pub use timer::{CpuTimer, least};

use std::fmt;

/// A result of measuring.
pub type Result<T> = std::result::Result<T, Error>;

/// What kept a machine from being measured.
#[derive(Debug)]
pub enum Error {
    /// Tables could not be made or read.
    Storage(freestone_storage::Error),
    /// Files could not.
    Io(std::io::Error),
    /// Arrays could not be made.
    Arrow(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Storage(error) => error.fmt(f),
            Error::Io(error) => error.fmt(f),
            Error::Arrow(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for Error {}

impl From<freestone_storage::Error> for Error {
    fn from(error: freestone_storage::Error) -> Error {
        Error::Storage(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error)
    }
}

/// Splitmix64: numbers that look random and are the same every time.
#[derive(Clone, Debug)]
pub(crate) struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number from 0 to 1.
    pub fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
