//! Measures a machine: its clock, memory and disk, and what Freestone's scans cost on it.
//!
//! What is measured goes into the model's [`Machine`](freestone_model::Machine) and
//! [`Costs`](freestone_model::Costs), all in cycles.
//! [`check()`] draws selections that nothing was fitted on and says how far off the
//! model is.

mod check;
mod cold;
mod columns;
mod descent;
mod disk;
mod drawn;
mod hardware;
mod meter;
mod random;
mod refine;
mod scans;
mod tables;
mod timer;

pub use check::{Checked, Errors, check};
pub use disk::is_in_memory;
pub use hardware::{bandwidth, clock, machine};
pub use random::Random;
pub use scans::calibration;
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
