//! A log among the files that lose what was not synced.

use super::faulty::State;
use super::memory::concatenate;
use super::unsynced::Log;
use super::{LogFile, ReadFile, no_such_place, past_the_end, span};
use crate::error::Result;
use arrow_buffer::Buffer;
use parking_lot::Mutex;
use std::sync::Arc;

/// A log that is open, for reading or writing.
#[derive(Debug)]
pub(super) struct FaultyLog {
    pub(super) state: Arc<Mutex<State>>,
    pub(super) number: usize,
    pub(super) name: String,
}

impl FaultyLog {
    fn with<T>(&self, what: impl FnOnce(&[u8]) -> T) -> T {
        let state = self.state.lock();
        what(state.logs.get(&self.number).map_or(&[], Log::seen))
    }
}

impl ReadFile for FaultyLog {
    fn read(&self, offset: u64, len: usize) -> Result<Buffer> {
        self.with(|bytes| match span(offset, len, bytes.len()) {
            Some(span) => Ok(concatenate(&[&bytes[span]])),
            None => Err(past_the_end(&self.name, offset, len, bytes.len() as u64)),
        })
    }

    fn len(&self) -> u64 {
        self.with(|bytes| bytes.len() as u64)
    }
}

impl LogFile for FaultyLog {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut state = self.state.lock();
        let outcome = state.count(&format!("cannot write {}", self.name));
        let Some(log) = state.logs.get_mut(&self.number) else {
            return outcome;
        };
        // A write that fails may have got half-way.
        let written = match outcome {
            Ok(()) => bytes,
            Err(_) => &bytes[..bytes.len() / 2],
        };
        let size = log.seen().len();
        let span = span(offset, written.len(), size)
            .ok_or_else(|| no_such_place(&self.name, offset, written.len(), size as u64))?;
        log.write(span, written);
        outcome
    }

    fn sync(&self) -> Result<()> {
        let mut state = self.state.lock();
        let outcome = state.count(&format!("cannot sync {}", self.name));
        if let Some(log) = state.logs.get_mut(&self.number) {
            match outcome {
                Ok(()) => log.sync(),
                Err(_) => log.sync_failed(),
            }
        }
        outcome
    }

    fn len(&self) -> u64 {
        ReadFile::len(self)
    }
}
