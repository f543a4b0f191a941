//! One read in the background.

use super::Held;
use crate::io::ReadFile;
use arrow_buffer::Buffer;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a file that somebody will want.
#[derive(Debug)]
pub(super) struct Transfer {
    pub file: Arc<dyn ReadFile>,
    pub offset: u64,
    pub len: usize,
    /// Whether they are to come past the page cache.
    pub direct: bool,
    progress: Mutex<Progress>,
    arrived: Condvar,
    given_up: AtomicBool,
    _held: Held,
}

#[derive(Debug)]
enum Progress {
    /// Nobody reads it yet.
    Waiting,
    /// Somebody reads it.
    Begun,
    /// It is there, or has to be read otherwise.
    Done(Option<Buffer>),
}

impl Transfer {
    pub fn new(
        file: Arc<dyn ReadFile>,
        (offset, len): (u64, usize),
        direct: bool,
        held: Held,
    ) -> Transfer {
        Transfer {
            file,
            offset,
            len,
            direct,
            progress: Mutex::new(Progress::Waiting),
            arrived: Condvar::new(),
            given_up: AtomicBool::new(false),
            _held: held,
        }
    }

    /// Nobody wants the bytes any more.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Whether somebody wants the bytes.
    pub fn is_wanted(&self) -> bool {
        !self.given_up.load(Ordering::Relaxed)
    }

    /// Whether the caller is the one to read it.
    pub fn begin(&self) -> bool {
        let mut progress = self.progress.lock();
        let first = matches!(*progress, Progress::Waiting);
        if first {
            *progress = Progress::Begun;
        }
        first
    }

    /// It is there, or has to be read otherwise.
    pub fn finish(&self, bytes: Option<Buffer>) {
        let bytes = bytes.filter(|_| self.is_wanted());
        *self.progress.lock() = Progress::Done(bytes);
        self.arrived.notify_all();
    }

    /// The outcome, if there is one.
    pub fn outcome(&self) -> Option<Option<Buffer>> {
        match &*self.progress.lock() {
            Progress::Done(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }

    /// Waits for whoever reads it. What nobody reads yet is left to the caller: he
    /// would only wait for others' bytes.
    pub fn wait(&self) -> Option<Buffer> {
        let mut progress = self.progress.lock();
        loop {
            match &*progress {
                Progress::Waiting => *progress = Progress::Done(None),
                Progress::Begun => self.arrived.wait(&mut progress),
                Progress::Done(bytes) => return bytes.clone(),
            }
        }
    }
}
