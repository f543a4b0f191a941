//! The write-ahead log: commits, durable before they reach blocks.
//!
//! The log is a row of segments, `wal/1.log`, `wal/2.log` and so on, each of a
//! fixed length and full of zeros before the first record. A segment begins
//! with a head, which is synced before the file gets its name:
//!
//! | offset | bytes | field |
//! |---:|---:|---|
//! | 0 | 8 | magic `FREESTWL` |
//! | 8 | 2 | format version, 1 |
//! | 10 | 6 | zero |
//! | 16 | 8 | segment number |
//! | 24 | 8 | offset at which the records of the segment before end, 0 for none |
//! | 32 | 8 | newest timestamp before this segment |
//! | 40 | 16 | zero |
//! | 56 | 8 | checksum of bytes 0..56 |
//!
//! Records follow one after the other, each at a multiple of 8 bytes with zeros
//! before the next. A record is one committed transaction, whole if its
//! checksum holds:
//!
//! | offset | bytes | field |
//! |---:|---:|---|
//! | 0 | 4 | bytes of the payload |
//! | 4 | 4 | check of the other fields, low half of their checksum |
//! | 8 | 8 | timestamp, greater than that of the record before |
//! | 16 | 8 | newest timestamp in the log that was durable when this record was appended |
//! | 24 | 8 | checksum of the payload, seeded with the three fields above |
//!
//! Both checksums are seeded with the number of the segment and the offset in
//! it, so that a record is one only where it was written: what an earlier use
//! of the file left behind never passes.
//!
//! **Where the log ends.** A segment that has a successor ends where the
//! successor's head says; anything unreadable before is a hole, thus `Corrupt`.
//! The last segment ends at the first place without a whole record. A crash
//! leaves remains behind that place if it tore writes that were not synced,
//! and a bad disk leaves the rest of a log. They are told apart by the third
//! field: if a record further on knows that more was durable than has been
//! read, there is a hole. Otherwise those records were never acknowledged; they
//! are overwritten with zeros before anything new is appended, since a new
//! record could end where one of them begins. Bytes that are no record where
//! they stand can only become one by being written, and stay.
//!
//! **What is synced when.** A segment is synced before its successor gets a
//! name, so only the last one can be torn. [`Wal::open`] writes the records of the
//! last segment again and syncs it and the directory: a process that was killed
//! may have synced neither, and after a failed sync the system takes records for
//! written that it has lost.
//!
//! A segment that is no longer needed becomes the next one: `N.log` is renamed
//! to `N.spare`, and later, with a new head, to its new number. Spare files that
//! a process leaves behind are removed by the next one: they are never trusted.

mod follow;
mod log;
mod open;
mod record;
mod replay;
mod segments;
mod state;
mod wait;

pub use follow::{Follower, Polled};
pub use log::Wal;
pub use wait::Flush;

use crate::error::{Error, Result};
use crate::io::Files;

/// How a log is written and read.
#[derive(Clone, Debug)]
pub struct WalOptions {
    /// Bytes of a segment; a record that needs more gets a longer one.
    pub segment_bytes: u64,
    /// Skips what cannot be read instead of refusing to open. The records behind
    /// a hole may depend on lost ones; check the database, and take a checkpoint
    /// at once, since the damaged segments stay as they are.
    pub salvage: bool,
}

impl Default for WalOptions {
    fn default() -> Self {
        WalOptions {
            segment_bytes: 16 << 20,
            salvage: false,
        }
    }
}

/// What was found when a log was opened.
#[derive(Debug, Default)]
pub struct Replay {
    /// Records handed over.
    pub records: u64,
    /// Newest timestamp in the log, or the one asked for if there is none after it.
    pub newest: u64,
    /// Whether remains of records that were never acknowledged were erased.
    pub torn: bool,
    /// What could not be read; empty unless salvage was asked for.
    pub lost: Vec<Error>,
}

/// Reads a log as [`Wal::open`] does, and changes nothing.
///
/// # Errors
/// As [`Wal::open`].
pub fn read(
    files: &dyn Files,
    options: &WalOptions,
    from: u64,
    after: u64,
    each: &mut dyn FnMut(u64, &[u8]) -> Result<()>,
) -> Result<Replay> {
    replay::read(files, options, (from.max(1), after), each).map(|found| found.replay)
}

/// Whether the log has its first segment still.
///
/// # Errors
/// `Io`.
pub fn begins(files: &dyn Files) -> Result<bool> {
    Ok(segments::numbers(files)?.first() == Some(&1))
}

#[cfg(test)]
mod tests;
