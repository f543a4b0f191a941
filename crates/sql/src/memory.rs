//! One broker of memory: for operators, for rows that statements hold, and for the cache of
//! blocks, which gives way to both.

use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use freestone_storage::{Store, machine_memory};
use parking_lot::Mutex;

use crate::error::{Error, Result};

/// What `memory_limit` is unless it is set.
pub(crate) const DEFAULT: &str = "80%";
/// The least that can be set, bytes.
const LEAST: usize = 1 << 20;
/// The cache keeps one part of so many, whatever queries need.
const CACHE_SHARE: usize = 8;
/// Rows in no block take one part of so many at most.
const DELTA_SHARE: usize = 8;
/// Units of a size, longest names first.
const UNITS: [(&str, usize); 10] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("bytes", 1),
    ("B", 1),
];

/// The memory of a database.
#[derive(Debug)]
pub(crate) struct Broker {
    /// Bytes that operators hold.
    used: AtomicUsize,
    limit: AtomicUsize,
    /// The limit as it was set.
    text: Mutex<String>,
    /// Bytes the cache was told it may have.
    cache: AtomicU64,
    /// Bytes of rows in no block, when that was last looked at.
    delta: AtomicUsize,
    store: Weak<Store>,
    /// Where rows are set aside; the system's folder if there is none.
    folder: Option<PathBuf>,
    /// The database's own, of which a role's is a part.
    whole: Option<Arc<Broker>>,
}

/// The bytes that a setting means.
///
/// # Errors
/// `22023` for what is no size, or too small a one.
pub(crate) fn bytes_of(text: &str) -> Result<usize> {
    let refuse = |why: &str| {
        let message = format!("invalid value for parameter \"memory_limit\": \"{text}\"");
        Error::new("22023", message).with_hint(why.to_owned())
    };
    let usage =
        "give a size such as '4GB' or '512MiB', or a share of the machine's memory such as '80%'";
    let bytes = size(text).ok_or_else(|| refuse(usage))?;
    match bytes as usize {
        LEAST.. => Ok(bytes as usize),
        _ => Err(refuse("the least is '1MiB'")),
    }
}

/// The bytes of a size, or of a share of the machine's memory; `None` for what is neither.
pub(crate) fn size(text: &str) -> Option<f64> {
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = trimmed.split_at(digits.unwrap_or(trimmed.len()));
    let number: f64 = number.parse().ok()?;
    match unit.trim() {
        "%" => Some(number / 100.0 * machine_memory() as f64),
        unit => {
            let mut units = UNITS.iter();
            let unit = units.find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
            Some(number * unit.1 as f64)
        }
    }
}

impl Broker {
    /// The broker of a database, with the limit it has by default.
    pub(crate) fn new(store: &Arc<Store>) -> Arc<Self> {
        let broker = Self {
            used: AtomicUsize::new(0),
            limit: AtomicUsize::new(bytes_of(DEFAULT).unwrap_or(usize::MAX)),
            text: Mutex::new(DEFAULT.to_owned()),
            cache: AtomicU64::new(u64::MAX),
            delta: AtomicUsize::new(0),
            store: Arc::downgrade(store),
            folder: store.path().map(Into::into),
            whole: None,
        };
        broker.limit_delta();
        Arc::new(broker)
    }

    /// The broker of a role, whose queries take of the whole at most `limit` together.
    ///
    /// # Errors
    /// `22023` for what is no size.
    pub(crate) fn of_role(whole: &Arc<Self>, limit: &str) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            used: AtomicUsize::new(0),
            limit: AtomicUsize::new(bytes_of(limit)?),
            text: Mutex::new(limit.trim().to_owned()),
            cache: AtomicU64::new(u64::MAX),
            delta: AtomicUsize::new(0),
            store: Weak::new(),
            folder: whole.folder.clone(),
            whole: Some(Arc::clone(whole)),
        }))
    }

    /// Sets the limit.
    ///
    /// # Errors
    /// `22023` for what is no size.
    pub(crate) fn set_limit(&self, text: &str) -> Result<()> {
        let bytes = bytes_of(text)?;
        self.limit.store(bytes, Ordering::Relaxed);
        text.trim().clone_into(&mut self.text.lock());
        self.limit_delta();
        self.tell_cache(true);
        Ok(())
    }

    fn limit_delta(&self) {
        let share = self.limit.load(Ordering::Relaxed) / DELTA_SHARE;
        if let Some(store) = self.store.upgrade() {
            store.set_delta_bytes(share as u64);
        }
    }

    /// Looks how much of the limit rows in no block take. At the start of a
    /// statement: they grow while nobody asks.
    pub(crate) fn look_at_delta(&self) {
        let bytes = self.store.upgrade().map_or(0, |store| store.delta_bytes());
        self.delta.store(bytes as usize, Ordering::Relaxed);
    }

    /// What neither operators nor rows in no block hold.
    fn left(&self) -> usize {
        let limit = self.limit.load(Ordering::Relaxed);
        let delta = self.delta.load(Ordering::Relaxed);
        limit.saturating_sub(self.used.load(Ordering::Relaxed).saturating_add(delta))
    }

    /// The limit as it was set.
    pub(crate) fn shown(&self) -> String {
        self.text.lock().clone()
    }

    /// Lets the cache have what operators do not hold; without `now` only if that is
    /// much more or less than it has.
    fn tell_cache(&self, now: bool) {
        if self.whole.is_some() {
            return;
        }
        let limit = self.limit.load(Ordering::Relaxed);
        let share = self
            .left()
            .max(limit / CACHE_SHARE)
            .min(machine_memory() / 2) as u64;
        let told = self.cache.load(Ordering::Relaxed);
        if !now && share.abs_diff(told) < (limit / 16) as u64 {
            return;
        }
        self.cache.store(share, Ordering::Relaxed);
        if let Some(store) = self.store.upgrade() {
            store.set_cache_bytes(share);
        }
    }

    fn take(&self, bytes: usize, most: usize) -> bool {
        let more = |used: usize| used.checked_add(bytes).filter(|used| *used <= most);
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok();
        let more = || match &self.whole {
            Some(whole) => whole.take(bytes, whole.most()),
            None => true,
        };
        if taken && !more() {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        if taken {
            self.tell_cache(false);
        }
        taken
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.give_back(bytes);
        }
        self.tell_cache(false);
    }

    /// What all operators may have together.
    fn most(&self) -> usize {
        let limit = self.limit.load(Ordering::Relaxed);
        if self.whole.is_some() {
            return limit;
        }
        let delta = self.delta.load(Ordering::Relaxed).min(limit / DELTA_SHARE);
        limit - limit / CACHE_SHARE - delta
    }
}

impl freestone_exec::Memory for Broker {
    fn grow(&self, bytes: usize) -> bool {
        self.take(bytes, self.most())
    }

    fn shrink(&self, bytes: usize) {
        self.give_back(bytes);
    }

    fn limit(&self) -> usize {
        let own = self.limit.load(Ordering::Relaxed);
        let whole = self.whole.as_ref();
        whole.map_or(own, |whole| {
            own.min(freestone_exec::Memory::limit(&**whole))
        })
    }

    fn file(&self) -> std::io::Result<File> {
        // A database that is only read may be where nothing can be written.
        let own = self.folder.as_ref().map(tempfile::tempfile_in);
        match own {
            Some(Ok(file)) => Ok(file),
            _ => tempfile::tempfile(),
        }
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory_limit = '{}'", self.shown())
    }
}

/// Memory that a statement holds for rows; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    broker: Arc<Broker>,
    /// The use of the memory.
    of: &'static str,
    bytes: usize,
}

impl Held {
    /// Nothing yet, for some use.
    pub(crate) fn new(broker: &Arc<Broker>, of: &'static str) -> Self {
        Self {
            broker: Arc::clone(broker),
            of,
            bytes: 0,
        }
    }

    /// Takes so many bytes more.
    ///
    /// # Errors
    /// `53200` if `memory_limit` has no room for them.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<()> {
        if !self.broker.take(bytes, self.broker.most()) {
            let (of, limit) = (self.of, self.broker.shown());
            let message =
                format!("{of} needs {bytes} bytes more than memory_limit = '{limit}' leaves it");
            return Err(Error::new("53200", message));
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives all bytes back.
    pub(crate) fn free(&mut self) {
        self.broker.give_back(self.bytes);
        self.bytes = 0;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.free();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(bytes_of("1GB").unwrap(), 1_000_000_000);
        assert_eq!(bytes_of(" 2.5 mib ").unwrap(), 5 << 19);
        assert_eq!(bytes_of("1048576B").unwrap(), 1 << 20);
        assert!(bytes_of("50%").unwrap() > LEAST);
        for bad in [
            "", "GB", "-1GB", "1 XB", "1e3", "10", "1023KiB", "nan", "0%",
        ] {
            assert_eq!(bytes_of(bad).unwrap_err().sqlstate, "22023", "{bad}");
        }
    }
}
