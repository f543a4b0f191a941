//! Files that lose what was not synced and fail on demand.
//!
//! The model is the pessimistic one: until a directory is synced, a crash
//! forgets every creation, rename and removal in it, and `write` counts as one
//! operation that may fail half-way. [`Faulty::fail_after`] makes every
//! operation past the n-th fail, as on a disk that has gone away;
//! [`Faulty::crash`] returns the files as a restart would find them.

use super::memory::{MemoryFile, concatenate, names_in};
use super::{Files, ReadFile};
use crate::error::{Error, Result};
use arrow_buffer::Buffer;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// An in-memory directory for crash tests.
#[derive(Debug, Default)]
pub struct Faulty {
    state: Mutex<State>,
}

#[derive(Debug, Default, Clone)]
struct State {
    /// What the running process sees.
    seen: BTreeMap<String, Buffer>,
    /// What a crash leaves.
    durable: BTreeMap<String, Buffer>,
    operations: u64,
    /// Numbers of the operations that fail, the first operation being 1.
    failing: Range<u64>,
}

fn directory_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(directory, _)| directory)
}

impl Faulty {
    /// Lets `operations` more writing operations succeed, then fails all.
    pub fn fail_after(&self, operations: u64) {
        let mut state = self.state.lock();
        state.failing = state.operations + operations + 1..u64::MAX;
    }

    /// Lets `operations` more writing operations succeed, then fails one.
    pub fn fail_once_after(&self, operations: u64) {
        let mut state = self.state.lock();
        let number = state.operations + operations + 1;
        state.failing = number..number + 1;
    }

    /// Writing operations so far.
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// The files after a power loss: only what had been synced.
    #[must_use]
    pub fn crash(&self) -> Faulty {
        let durable = self.state.lock().durable.clone();
        Faulty {
            state: Mutex::new(State {
                seen: durable.clone(),
                durable,
                ..State::default()
            }),
        }
    }

    /// The files after a power loss that some changes of names happened to
    /// survive although they had not been synced: those that `kept` says.
    #[must_use]
    pub fn crash_keeping(&self, mut kept: impl FnMut(&str) -> bool) -> Faulty {
        let State { seen, durable, .. } = self.state.lock().clone();
        let mut left = durable.clone();
        for name in seen.keys().chain(durable.keys()) {
            if seen.get(name) != durable.get(name) && kept(name) {
                match seen.get(name) {
                    Some(bytes) => left.insert(name.clone(), bytes.clone()),
                    None => left.remove(name),
                };
            }
        }
        Faulty {
            state: Mutex::new(State {
                seen: left.clone(),
                durable: left,
                ..State::default()
            }),
        }
    }

    /// Lets all operations succeed again.
    pub fn heal(&self) {
        self.state.lock().failing = 0..0;
    }

    /// Changes the bytes of a file, as a bad disk does.
    pub fn corrupt(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state.lock();
        if let Some(bytes) = state.seen.get(name) {
            let mut bytes = bytes.to_vec();
            change(&mut bytes);
            let bytes = concatenate(&[&bytes]);
            state.durable.insert(name.to_string(), bytes.clone());
            state.seen.insert(name.to_string(), bytes);
        }
    }

    fn change<T>(&self, what: &str, change: impl FnOnce(&mut State) -> T) -> Result<T> {
        let mut state = self.state.lock();
        state.operations += 1;
        if state.failing.contains(&state.operations) {
            return Err(Error::io(
                what.to_string(),
                std::io::Error::other("injected fault"),
            ));
        }
        Ok(change(&mut state))
    }
}

impl Files for Faulty {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>> {
        let bytes = self.state.lock().seen.get(name).cloned();
        let bytes =
            bytes.ok_or_else(|| Error::corrupt("the file is missing").at(name, None, None))?;
        Ok(Arc::new(MemoryFile {
            bytes,
            name: name.to_string(),
        }))
    }

    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        self.change(&format!("cannot write {name}"), |state| {
            state.seen.insert(name.to_string(), concatenate(parts));
        })
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.change(&format!("cannot rename {from}"), |state| {
            if let Some(bytes) = state.seen.remove(from) {
                state.seen.insert(to.to_string(), bytes);
            }
        })
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.change(&format!("cannot remove {name}"), |state| {
            state.seen.remove(name);
        })
    }

    fn list(&self, directory: &str) -> Result<Vec<String>> {
        Ok(names_in(directory, self.state.lock().seen.keys()))
    }

    fn sync_directory(&self, directory: &str) -> Result<()> {
        self.change(&format!("cannot sync {directory}"), |state| {
            let State { seen, durable, .. } = state;
            durable.retain(|name, _| directory_of(name) != directory);
            let now = seen
                .iter()
                .filter(|(name, _)| directory_of(name) == directory);
            durable.extend(now.map(|(name, bytes)| (name.clone(), bytes.clone())));
        })
    }

    fn show(&self, name: &str) -> String {
        format!("faulty:{name}")
    }
}
