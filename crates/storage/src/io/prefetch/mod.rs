//! Reads in the background, so that a scan finds what it needs next (H7).
//!
//! A [`Prefetcher`] starts reads and does not wait for them: by io_uring where the
//! system allows that, by threads elsewhere. A [`PrefetchFile`] is a file that
//! remembers what was started of it and gives it to whoever reads those bytes. A read in
//! the background never fails a scan: whatever keeps it from succeeding, the bytes
//! are then read when they are needed, and that read says what is wrong.

mod file;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod ring;
#[cfg(test)]
mod tests;
mod threads;
mod transfer;

pub use file::PrefetchFile;

use super::ReadFile;
use crate::error::{Error, Result};
use arrow_buffer::Buffer;
use parking_lot::RwLock;
use std::fmt::Debug;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use threads::Threads;
use transfer::Transfer;

/// Bytes of an I/O unit (H7).
const UNIT_BYTES: usize = 128 << 10;
/// Units that are asked for ahead (H7).
const DEPTH: usize = 48;
/// Bounds of an I/O unit, which is a multiple of the least one, bytes.
const LEAST_UNIT: usize = 4 << 10;
const MOST_UNIT: usize = 16 << 20;
/// Most units that can be asked for ahead.
const MOST_DEPTH: usize = 1024;

/// How blocks are read that are not in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Who reads in the background.
    pub method: ReadMethod,
    /// Bytes that a disk is asked for at once: 4 KiB to 16 MiB, a multiple of 4 KiB.
    pub unit_bytes: usize,
    /// Units that a scan has asked for and not come to yet, at most; 0: every read
    /// waits until the scan needs its bytes. At most 1,024.
    pub depth: usize,
    /// Whether reads go past the system's page cache, where the file system can do that.
    pub direct: bool,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            method: ReadMethod::Auto,
            unit_bytes: UNIT_BYTES,
            depth: DEPTH,
            direct: false,
        }
    }
}

impl ReadOptions {
    /// # Errors
    /// 22023 naming the option that is out of its bounds.
    fn check(&self) -> Result<()> {
        let unit = (LEAST_UNIT..=MOST_UNIT).contains(&self.unit_bytes);
        if !unit || !self.unit_bytes.is_multiple_of(LEAST_UNIT) {
            let message = format!("an I/O unit of {} bytes", self.unit_bytes);
            return Err(Error::invalid("22023", message)
                .with_hint("Give 4 KiB to 16 MiB, a multiple of 4 KiB."));
        }
        if self.depth > MOST_DEPTH {
            let message = format!("a prefetch depth of {} units", self.depth);
            return Err(Error::invalid("22023", message).with_hint("Give 0 to 1024 units."));
        }
        Ok(())
    }
}

/// Who reads in the background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadMethod {
    /// io_uring where the system allows it, else threads. What is in memory, or in the
    /// page cache if reads go through it, is not read ahead: copying it when it is
    /// needed is quicker.
    #[default]
    Auto,
    /// io_uring; threads where the system does not allow it.
    IoUring,
    /// Threads.
    Threads,
}

impl FromStr for ReadMethod {
    type Err = Error;

    fn from_str(text: &str) -> Result<ReadMethod> {
        match text.to_ascii_lowercase().as_str() {
            "auto" => Ok(ReadMethod::Auto),
            "io_uring" => Ok(ReadMethod::IoUring),
            "threads" => Ok(ReadMethod::Threads),
            _ => {
                let message = format!("unknown method of reading \"{text}\"");
                let hint = "Valid methods: auto, io_uring, threads.";
                Err(Error::invalid("22023", message).with_hint(hint))
            }
        }
    }
}

/// Starts reads in the background.
#[derive(Debug, Default)]
pub struct Prefetcher {
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    options: ReadOptions,
    /// Made at the first read with these options.
    backend: Option<Arc<dyn Backend>>,
}

/// What reads in the background.
trait Backend: Send + Sync + Debug {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Begins to read, in units of so many bytes if it has a choice.
    fn start(&self, transfer: Arc<Transfer>, unit_bytes: usize);

    /// Waits for what was started here; `None` if the bytes have to be read otherwise.
    fn wait(&self, transfer: &Transfer) -> Option<Buffer>;
}

/// Something that is kept until a read in the background has ended.
pub type Held = Box<dyn Debug + Send + Sync>;

/// A read in the background. Dropped, it is given up, without waiting for it: its
/// memory is freed when the system has let go of it.
#[derive(Debug)]
pub struct Pending {
    transfer: Arc<Transfer>,
    backend: Arc<dyn Backend>,
}

impl Pending {
    /// Waits for the bytes; `None` if they have to be read otherwise.
    pub fn wait(&self) -> Option<Buffer> {
        self.backend.wait(&self.transfer)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.transfer.give_up();
    }
}

impl Prefetcher {
    /// The options.
    pub fn options(&self) -> ReadOptions {
        self.state.read().options
    }

    /// Changes the options for reads from now on.
    ///
    /// # Errors
    /// 22023 naming the option that is out of its bounds.
    pub fn set_options(&self, options: ReadOptions) -> Result<()> {
        options.check()?;
        let mut state = self.state.write();
        let same = (state.options.method, state.options.depth) == (options.method, options.depth);
        state.options = options;
        if !same {
            // Whoever waits for the old one keeps it until then.
            state.backend = None;
        }
        Ok(())
    }

    /// What reads in the background here and now: `io_uring` or `threads`.
    pub fn method(&self) -> &'static str {
        self.backend().1.name()
    }

    /// Begins to read `span` of a file, which has to lie in it, if reading ahead is
    /// wanted; `held` is dropped when the bytes are.
    pub fn start(&self, file: &Arc<dyn ReadFile>, span: Range<u64>, held: Held) -> Option<Pending> {
        let options = self.options();
        let at_hand =
            || file.descriptor(false).is_none() || (!options.direct && file.is_cached(&span));
        if options.depth == 0 || (options.method == ReadMethod::Auto && at_hand()) {
            return None;
        }
        // Made no sooner: many a database is never read from the disk.
        let (options, backend) = self.backend();
        let len = usize::try_from(span.end.checked_sub(span.start)?).ok()?;
        let transfer = Transfer::new(file.clone(), (span.start, len), options.direct, held);
        let transfer = Arc::new(transfer);
        backend.start(transfer.clone(), options.unit_bytes);
        Some(Pending { transfer, backend })
    }

    fn backend(&self) -> (ReadOptions, Arc<dyn Backend>) {
        let state = self.state.read();
        if let Some(backend) = &state.backend {
            return (state.options, backend.clone());
        }
        drop(state);
        let mut state = self.state.write();
        let options = state.options;
        let backend = state.backend.get_or_insert_with(|| backend_for(&options));
        (options, backend.clone())
    }
}

fn backend_for(options: &ReadOptions) -> Arc<dyn Backend> {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    if options.method != ReadMethod::Threads
        && let Some(ring) = ring::Ring::new(options.depth)
    {
        return Arc::new(ring);
    }
    Arc::new(Threads::new(options.depth))
}
