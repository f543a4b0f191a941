//! Files that lose what was not synced and fail on demand.
//!
//! The model is the pessimistic one: until a directory is synced, a crash
//! forgets every creation, rename and removal in it. `write` counts as one
//! operation that may stop half-way; what it writes over is gone at once. Writes
//! to logs are lost until the log is synced; [`Faulty::crash_tearing`] lets some
//! survive, whole or in part. [`Faulty::fail_after`] makes every operation past
//! the n-th fail, as on a disk that has gone away; [`Faulty::crash`] returns the
//! files as a restart would find them, and [`Faulty::watch`] keeps the files as
//! they were at every moment at which a crash could come.

use super::faulty_log::FaultyLog;
use super::memory::{MemoryFile, concatenate, names_in, zeros};
use super::unsynced::{Log, Survival, Unsynced};
use super::{Files, LogFile, ReadFile};
use crate::error::{Error, Result};
use arrow_buffer::Buffer;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// An in-memory directory for crash tests.
#[derive(Debug, Default)]
pub struct Faulty {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default, Clone)]
pub(super) struct State {
    /// What the running process sees.
    seen: BTreeMap<String, Content>,
    /// What a crash leaves.
    durable: BTreeMap<String, Content>,
    /// Logs by number; a rename moves the name, and the number stays.
    pub(super) logs: BTreeMap<usize, Log>,
    operations: u64,
    /// Numbers of the operations that fail, the first operation being 1.
    failing: Range<u64>,
    full: bool,
    /// The files before and within each operation, once somebody watches.
    moments: Option<Vec<Moment>>,
}

/// The files at one moment.
#[derive(Debug, Clone)]
pub struct Moment {
    /// Operations that had been done by then.
    pub operations: u64,
    /// The operation that comes next, or is half done.
    pub next: String,
    /// The files, to be crashed.
    pub files: Arc<Faulty>,
}

#[derive(Debug, Clone, PartialEq)]
enum Content {
    Whole(Buffer),
    Log(usize),
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

    /// Says whether there is room for new files.
    pub fn set_full(&self, full: bool) {
        self.state.lock().full = full;
    }

    /// Writing operations so far.
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// The files after a power loss: only what had been synced.
    #[must_use]
    pub fn crash(&self) -> Faulty {
        self.crash_tearing(|_| Survival::Nothing)
    }

    /// The files after a power loss that some changes happened to survive
    /// although they had not been synced: those changes of names and those
    /// writes to logs that `kept` says, by the name of the file.
    #[must_use]
    pub fn crash_keeping(&self, mut kept: impl FnMut(&str) -> bool) -> Faulty {
        self.crash_tearing(|change| match kept(change.name()) {
            true => Survival::Whole,
            false => Survival::Nothing,
        })
    }

    /// The files after a power loss of which each unsynced change survived as
    /// far as `survived` says: writes to logs also in part, by sectors.
    #[must_use]
    pub fn crash_tearing(&self, mut survived: impl FnMut(Unsynced<'_>) -> Survival) -> Faulty {
        let State {
            seen,
            durable,
            mut logs,
            ..
        } = self.state.lock().clone();
        let mut left = durable.clone();
        for (name, content) in seen.iter().chain(&durable) {
            let Content::Log(number) = content else {
                continue;
            };
            // Crashing a second time, under its other name, changes nothing.
            if let Some(log) = logs.get_mut(number) {
                *log = log.crash(name, &mut survived);
            }
        }
        let mut names: Vec<&String> = seen.keys().chain(durable.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            if seen.get(name) != durable.get(name)
                && matches!(survived(Unsynced::Name(name)), Survival::Whole)
            {
                match seen.get(name) {
                    Some(content) => left.insert(name.clone(), content.clone()),
                    None => left.remove(name),
                };
            }
        }
        Faulty {
            state: Arc::new(Mutex::new(State {
                seen: left.clone(),
                durable: left,
                logs,
                ..State::default()
            })),
        }
    }

    /// Keeps the files as they are before and within each operation from now on.
    pub fn watch(&self) {
        self.state.lock().moments.get_or_insert_default();
    }

    /// The moments kept so far, in order; those to come begin anew.
    pub fn moments(&self) -> Vec<Moment> {
        let mut state = self.state.lock();
        state
            .moments
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Lets all operations succeed again.
    pub fn heal(&self) {
        self.state.lock().failing = 0..0;
    }

    /// Changes the bytes of a file, as a bad disk does.
    pub fn corrupt(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state.lock();
        let State {
            seen,
            durable,
            logs,
            ..
        } = &mut *state;
        match seen.get(name) {
            Some(Content::Whole(bytes)) => {
                let mut bytes = bytes.to_vec();
                change(&mut bytes);
                let content = Content::Whole(concatenate(&[&bytes]));
                durable.insert(name.to_string(), content.clone());
                seen.insert(name.to_string(), content);
            }
            Some(Content::Log(number)) => {
                if let Some(log) = logs.get_mut(number) {
                    let mut bytes = log.seen().to_vec();
                    change(&mut bytes);
                    *log = Log::new(bytes);
                }
            }
            None => {}
        }
    }

    fn change<T>(&self, what: &str, change: impl FnOnce(&mut State) -> T) -> Result<T> {
        let mut state = self.state.lock();
        state.count(what)?;
        Ok(change(&mut state))
    }
}

impl State {
    /// Counts an operation and says whether it fails.
    pub(super) fn count(&mut self, what: &str) -> Result<()> {
        self.keep_moment(what);
        self.operations += 1;
        if self.failing.contains(&self.operations) {
            return Err(Error::io(
                what.to_string(),
                std::io::Error::other("injected fault"),
            ));
        }
        Ok(())
    }

    fn keep_moment(&mut self, next: &str) {
        let Some(mut moments) = self.moments.take() else {
            return;
        };
        moments.push(Moment {
            operations: self.operations,
            next: next.to_string(),
            files: Arc::new(Faulty {
                state: Arc::new(Mutex::new(self.clone())),
            }),
        });
        self.moments = Some(moments);
    }

    /// Gives a name other content. A name that a crash would leave has it at once.
    fn overwrite(&mut self, name: &str, content: &Content) {
        if let Some(durable) = self.durable.get_mut(name) {
            *durable = content.clone();
        }
        self.seen.insert(name.to_string(), content.clone());
    }

    /// Writes half of a file.
    fn write_half(&mut self, name: &str, parts: &[&[u8]]) {
        let mut half = parts.concat();
        half.truncate(half.len() / 2);
        self.overwrite(name, &Content::Whole(concatenate(&[&half])));
    }

    /// Keeps the moment within the operation just counted, at which `part` of it is done.
    fn keep_within(&mut self, what: &str, part: impl FnOnce(&mut State)) {
        let Some(moments) = self.moments.take() else {
            return;
        };
        let mut half = self.clone();
        half.moments = Some(moments);
        half.operations -= 1;
        part(&mut half);
        half.keep_moment(what);
        self.moments = half.moments;
    }

    fn create_log(&mut self, name: &str, bytes: Vec<u8>) -> usize {
        let number = self.logs.len();
        self.logs.insert(number, Log::new(bytes));
        self.seen.insert(name.to_string(), Content::Log(number));
        number
    }

    fn check_room(&self, name: &str) -> Result<()> {
        match self.full {
            true => Err(Error::io(
                format!("cannot write {name}"),
                std::io::ErrorKind::StorageFull.into(),
            )),
            false => Ok(()),
        }
    }
}

impl Files for Faulty {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>> {
        let content = self.state.lock().seen.get(name).cloned();
        let name = name.to_string();
        match content {
            Some(Content::Whole(bytes)) => Ok(Arc::new(MemoryFile { bytes, name })),
            Some(Content::Log(number)) => Ok(Arc::new(FaultyLog {
                state: self.state.clone(),
                number,
                name,
            })),
            None => Err(Error::corrupt("the file is missing").at(&name, None, None)),
        }
    }

    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        let mut state = self.state.lock();
        let what = format!("cannot write {name}");
        let counted = state.count(&what);
        if let Err(error) = counted.and_then(|()| state.check_room(name)) {
            state.write_half(name, parts);
            state.seen.remove(name);
            return Err(error);
        }
        state.keep_within(&what, |state| state.write_half(name, parts));
        state.overwrite(name, &Content::Whole(concatenate(parts)));
        Ok(())
    }

    fn log(&self, name: &str, bytes: u64) -> Result<Arc<dyn LogFile>> {
        let mut state = self.state.lock();
        let number = match state.seen.get(name) {
            Some(Content::Log(number)) => *number,
            found => {
                let bytes = match found {
                    Some(Content::Whole(bytes)) => bytes.to_vec(),
                    _ => {
                        let what = format!("cannot create {name}");
                        state.count(&what)?;
                        state.check_room(name)?;
                        let half = zeros(name, bytes / 2)?;
                        state.keep_within(&what, |state| {
                            state.create_log(name, half);
                        });
                        zeros(name, bytes)?
                    }
                };
                state.create_log(name, bytes)
            }
        };
        Ok(Arc::new(FaultyLog {
            state: self.state.clone(),
            number,
            name: name.to_string(),
        }))
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
            durable.extend(now.map(|(name, content)| (name.clone(), content.clone())));
        })
    }

    fn show(&self, name: &str) -> String {
        format!("faulty:{name}")
    }
}
