//! What the writer's threads share.

use super::record::{Place, Record};
use super::wait::Waiter;
use crate::error::{Error, Result};
use crate::io::LogFile;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes that the buffer of records keeps when it is empty.
const BUFFER_BYTES: usize = 1 << 20;

/// What threads share.
pub(super) struct State {
    pub(super) number: u64,
    pub(super) file: Arc<dyn LogFile>,
    /// Offset in the file of the buffer's first byte.
    pub(super) written: u64,
    /// Records that are not in the file yet.
    pub(super) buffer: Vec<u8>,
    pub(super) appended: u64,
    /// Read without the lock by those who wait for it to grow.
    pub(super) durable: Arc<AtomicU64>,
    /// As `durable`, but known from the log alone: what a checkpoint knows
    /// beyond it is no proof that records are missing.
    pub(super) proven: u64,
    /// Who waits for which timestamp to be durable.
    pub(super) waiting: Vec<(u64, Waiter)>,
    /// How many have waited.
    pub(super) waits: u64,
    /// Set with `failure`, and read without the lock.
    pub(super) failed: Arc<AtomicBool>,
    /// Why nothing can be written any more.
    pub(super) failure: Option<String>,
}

/// The error of everything that would write after a failure.
fn refusal(why: &str) -> Error {
    Error::io(
        "the database is read-only until it is reopened, since its log could not be written",
        std::io::Error::other(why),
    )
}

impl State {
    /// Offset at which the next record begins.
    pub(super) fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Puts a record into the buffer.
    pub(super) fn append(&mut self, timestamp: u64, payload: &[u8]) {
        let place = Place {
            segment: self.number,
            offset: self.end(),
        };
        let times = (timestamp, self.proven);
        Record::encode(place, times, payload, &mut self.buffer);
        self.appended = timestamp;
    }

    /// Notes that records up to `timestamp` are durable, and returns how many became so.
    pub(super) fn reach(&mut self, timestamp: u64) -> u64 {
        self.durable.store(timestamp, Ordering::Release);
        let before = std::mem::replace(&mut self.proven, timestamp);
        timestamp.saturating_sub(before)
    }

    /// Whoever need not wait any longer, and first of all one who is to sync for
    /// the others, of tasks all that may; after a failure all.
    pub(super) fn woken(&mut self) -> Vec<Waiter> {
        let durable = self.durable.load(Ordering::Relaxed);
        let failed = self.failure.is_some();
        let served = |(goal, _): &mut (u64, Waiter)| failed || *goal <= durable;
        let mut woken: Vec<(u64, Waiter)> = self.waiting.extract_if(.., served).collect();
        let is_thread = |(_, waiter): &(u64, Waiter)| matches!(waiter, Waiter::Thread(_));
        match self.waiting.iter().position(is_thread) {
            Some(thread) => woken.insert(0, self.waiting.remove(thread)),
            // Whoever polls a task may be busy, even with waiting for this log.
            None => woken.append(&mut self.waiting),
        }
        woken.into_iter().map(|(_, waiter)| waiter).collect()
    }

    /// Refuses to go on after a failure.
    pub(super) fn check(&self) -> Result<()> {
        self.failure
            .as_ref()
            .map_or(Ok(()), |why| Err(refusal(why)))
    }

    /// Notes a failure, if it is the first, and returns the error for it.
    pub(super) fn fail(&mut self, error: &Error) -> Error {
        self.failed.store(true, Ordering::Relaxed);
        refusal(self.failure.get_or_insert_with(|| error.to_string()))
    }

    /// The buffer, for whoever writes it, and where it belongs.
    pub(super) fn take(&mut self) -> (u64, Vec<u8>) {
        let (offset, buffer) = (self.written, std::mem::take(&mut self.buffer));
        self.written += buffer.len() as u64;
        (offset, buffer)
    }

    /// Keeps the memory of a buffer that was written.
    pub(super) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.buffer.is_empty() {
            buffer.clear();
            buffer.shrink_to(BUFFER_BYTES);
            self.buffer = buffer;
        }
    }

    /// Writes the buffer to the file.
    pub(super) fn write(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let (offset, buffer) = self.take();
        let written = self.file.write_at(offset, &buffer);
        self.give_back(buffer);
        written.map_err(|error| self.fail(&error))
    }
}
