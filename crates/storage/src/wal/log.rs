//! The writer: appends, group commit, segments that follow each other.

use super::record::{HEAD_BYTES, Head, record_bytes};
use super::segments::{self, Blank, DIRECTORY, Older, Shelf};
use super::state::State;
use super::wait::wake;
use crate::error::{Error, Result};
use crate::io::Files;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A log that is open for writing; one process at a time has it, by the
/// database's lock. The directory `wal` must exist.
///
/// The first write or sync that fails makes the log refuse everything that
/// would change it. A sync is never tried again: the system may have forgotten
/// what it did not write.
pub struct Wal {
    pub(super) files: Arc<dyn Files>,
    pub(super) segment_bytes: u64,
    pub(super) state: Mutex<State>,
    /// The newest timestamp that is durable.
    pub(super) durable: Arc<AtomicU64>,
    /// Whether a thread is syncing the file, without holding the state's lock; changes
    /// with the lock only.
    pub(super) syncing: AtomicBool,
    /// Whether the last sync made several records durable.
    pub(super) crowded: AtomicBool,
    /// Set once nothing can be written any more.
    pub(super) failed: Arc<AtomicBool>,
    /// Rung when a sync has ended, for those who need the file for themselves.
    pub(super) synced: Condvar,
    /// Taken after `state`, where both are needed.
    pub(super) shelf: Mutex<Shelf>,
}

impl Wal {
    /// Makes sure there is room for a record of so many bytes. Called before
    /// anything else of a commit happens: it is the place where a full disk
    /// shows. The room stays for a caller that holds the commit lock from here
    /// to [`Wal::append`].
    ///
    /// # Errors
    /// `Full` or `Io`, and nothing has changed; 54000 if no record is so long;
    /// 58030 after a failure.
    pub fn reserve(&self, payload_bytes: usize) -> Result<()> {
        self.room(record_bytes(payload_bytes)?).map(drop)
    }

    /// Whether it takes records still; asks for no lock unless it has failed.
    ///
    /// # Errors
    /// 58030 after a failure.
    pub fn check(&self) -> Result<()> {
        match self.failed.load(Ordering::Relaxed) {
            false => Ok(()),
            true => self.state.lock().check(),
        }
    }

    /// Whether a thread is syncing; certain for who holds the state's lock.
    pub(super) fn syncing(&self) -> bool {
        self.syncing.load(Ordering::Relaxed)
    }

    /// Puts a record into the buffer; it is durable after [`Wal::flush`]. The
    /// caller holds the commit lock, so that timestamps ascend.
    ///
    /// # Errors
    /// As [`Wal::reserve`], which it repeats; then the record is not in the log.
    pub fn append(&self, timestamp: u64, payload: &[u8]) -> Result<()> {
        let mut state = self.room(record_bytes(payload.len())?)?;
        if timestamp <= state.appended {
            return Err(Error::invalid(
                "XX000",
                format!(
                    "internal: record {timestamp} comes after record {}",
                    state.appended
                ),
            ));
        }
        state.append(timestamp, payload);
        Ok(())
    }

    /// Writes what is buffered without syncing it: it survives the end of this
    /// process, not of the machine. Waits for a sync that is under way, which
    /// writes what comes before.
    ///
    /// # Errors
    /// 58030 if that failed, now or before.
    pub fn write(&self) -> Result<()> {
        let mut state = self.state.lock();
        while self.syncing() {
            self.synced.wait(&mut state);
        }
        state.check()?;
        state.write()
    }

    /// The newest timestamp that is durable.
    pub fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// The newest timestamp that was appended.
    pub fn appended(&self) -> u64 {
        self.state.lock().appended
    }

    /// Begins a new segment, unless the current one has no records, and returns
    /// its number: all records appended so far are in older ones, and durable.
    ///
    /// # Errors
    /// `Full` or `Io`, and nothing has changed; 58030 after a failure.
    pub fn rotate(&self) -> Result<u64> {
        let mut state = self.state.lock();
        while self.syncing() {
            self.synced.wait(&mut state);
        }
        state.check()?;
        if state.end() > HEAD_BYTES {
            self.begin_segment(&mut state, HEAD_BYTES)?;
        }
        Ok(state.number)
    }

    /// Forgets the segments before `segment`, except the current one. As many as were needed
    /// lately are kept to be used again; [`Wal::trim`] removes them.
    ///
    /// # Errors
    /// `Io`; those that are left are forgotten the next time.
    pub fn remove_before(&self, segment: u64) -> Result<()> {
        let mut shelf = self.shelf.lock();
        if !shelf.any_before(segment) {
            return Ok(());
        }
        let spares = shelf.clear(&*self.files, self.segment_bytes, segment)?;
        // Before this, a crash could bring the old name back for a new segment.
        let outcome = self.files.sync_directory(DIRECTORY);
        if outcome.is_ok() {
            shelf.keep(spares);
        }
        drop(shelf);
        outcome.map_err(|error| self.state.lock().fail(&error))
    }

    /// Removes files that are kept to become segments again, but for two.
    ///
    /// # Errors
    /// `Io`; a file that is left is forgotten when the log is opened the next time.
    pub fn trim(&self) -> Result<()> {
        self.shelf.lock().trim(&*self.files)
    }

    /// Leaves the records before `segment` out of [`Wal::bytes`]: a checkpoint has them.
    pub fn passed(&self, segment: u64) {
        self.shelf.lock().pass(segment);
    }

    /// Bytes of records in segments that are kept, from the first one that was
    /// asked for when the log was opened, or passed since.
    pub fn bytes(&self) -> u64 {
        let state = self.state.lock();
        self.shelf.lock().records() + state.end() - HEAD_BYTES
    }

    /// The state, with room in the current segment for a record of `bytes`.
    fn room(&self, bytes: u64) -> Result<MutexGuard<'_, State>> {
        let mut state = self.state.lock();
        loop {
            state.check()?;
            if state.end() + bytes <= state.file.len() {
                return Ok(state);
            }
            match self.syncing() {
                true => self.synced.wait(&mut state),
                false => self.begin_segment(&mut state, HEAD_BYTES + bytes)?,
            }
        }
    }

    /// Writes everything and syncs it, the lock being free meanwhile.
    pub(super) fn sync(&self, state: &mut MutexGuard<'_, State>) -> Result<()> {
        let (file, reached) = (state.file.clone(), state.appended);
        let (offset, buffer) = state.take();
        self.syncing.store(true, Ordering::Relaxed);
        let synced = MutexGuard::unlocked(state, || file.write_durably(offset, &buffer));
        self.syncing.store(false, Ordering::Relaxed);
        state.give_back(buffer);
        let outcome = match synced {
            Ok(()) => {
                let served = state.reach(reached);
                self.crowded.store(served > 1, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => Err(state.fail(&error)),
        };
        self.synced.notify_all();
        wake(state);
        outcome
    }

    /// Goes on in a new segment whose file has at least `bytes`; nobody is syncing.
    fn begin_segment(&self, state: &mut MutexGuard<'_, State>, bytes: u64) -> Result<()> {
        // Everything that needs room comes first.
        let blank = self
            .shelf
            .lock()
            .blank(&*self.files, self.segment_bytes, bytes)?;
        let replaced = self.replace(state, &blank);
        let replaced = replaced.map_err(|error| state.fail(&error));
        if replaced.is_ok() {
            self.shelf.lock().push(Older {
                number: state.number,
                records: state.written - HEAD_BYTES,
                file: state.file.len(),
            });
            state.number += 1;
            state.file = blank.file;
            state.written = HEAD_BYTES;
        }
        wake(state);
        replaced
    }

    /// Ends the current segment and makes `blank` the next one.
    fn replace(&self, state: &mut State, blank: &Blank) -> Result<()> {
        state.write()?;
        state.file.sync()?;
        state.reach(state.appended);
        let head = Head {
            number: state.number + 1,
            previous_end: state.written,
            previous_newest: state.appended,
        };
        segments::publish(&*self.files, blank, &head)
    }
}

impl fmt::Debug for Wal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Wal")
            .field("segment", &state.number)
            .field("appended", &state.appended)
            .field("durable", &state.durable)
            .finish_non_exhaustive()
    }
}
