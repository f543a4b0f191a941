//! Readers beside a writer: a store that is open for reading follows the log.
//!
//! Commits are applied as recovery applies them, and shown together when all that
//! was written by then has been read. When a checkpoint has removed what comes
//! next, or anything does not fit, the newest manifest is loaded and followed from
//! there; snapshots keep what they see. A commit may be seen before it is durable.
//!
//! **Files that the writer removes.** A reader is known to nobody, so the writer
//! removes block files that its own snapshots need no more. What a reader has
//! opened stays readable as long as it is open, as Unix has it; a file that is
//! opened too late gives 40001, and the next snapshot does without it.

use super::recover::Recovered;
use super::{Catalog, Engine, Place, ids_of};
use crate::error::{Error, Result};
use crate::manifest;
use crate::wal::{Follower, Polled};
use std::sync::Arc;

/// Loads begun before giving up on a database that checkpoints overtake.
const ATTEMPTS: usize = 50;

/// The newest state of a database that others write.
///
/// # Errors
/// `Corrupt` or `Io`.
pub(super) fn load(place: &Arc<Place>) -> Result<(Recovered, Follower)> {
    let files = place.files.as_ref();
    for attempt in 1.. {
        let newest = manifest::newest(files)?;
        match load_once(place) {
            // A checkpoint removes what those before it need.
            Err(_) if attempt < ATTEMPTS && manifest::newest(files)? != newest => {}
            done => return done,
        }
    }
    unreachable!("the last attempt returns")
}

fn load_once(place: &Arc<Place>) -> Result<(Recovered, Follower)> {
    let manifest = manifest::load(place.files.as_ref())?;
    let mut recovered = Recovered::begin(manifest, place)?;
    let (from, after) = (recovered.from(), recovered.timestamp);
    let mut follower = Follower::open(place.files.clone(), from, after);
    let mut each = |timestamp: u64, payload: &[u8]| recovered.redo(timestamp, timestamp, payload);
    match follower.poll(&mut each)? {
        Polled::Read(_) => Ok((recovered, follower)),
        Polled::Lost => Err(Error::corrupt("the log does not begin where it should").at(
            &place.files.show("wal"),
            None,
            None,
        )),
    }
}

/// Where a store is in the log of another.
#[derive(Debug)]
pub(super) enum Following {
    /// What is shown is what was read by here.
    At(Follower),
    /// Anywhere: the newest manifest has to be loaded.
    Astray,
}

impl Engine {
    /// Lets a store that is open for reading see everything committed by now;
    /// returns whether there was anything new. [`Engine::snapshot`] does so, too.
    ///
    /// # Errors
    /// `Corrupt` or `Io`; what was seen before stays.
    pub fn refresh(&self) -> Result<bool> {
        let Some(following) = &self.following else {
            return Ok(false);
        };
        let mut following = following.lock();
        let before = {
            let shown = self.shown.read();
            (shown.catalog.clone(), shown.timestamp)
        };
        let oldest = self.active.oldest(before.1);
        let mut state = Recovered::at(&self.place, before.clone());
        let mut each = |timestamp: u64, payload: &[u8]| state.redo(timestamp, oldest, payload);
        let polled = match &mut *following {
            Following::At(follower) => follower.poll(&mut each),
            Following::Astray => Ok(Polled::Lost),
        };
        match polled {
            Ok(Polled::Read(0)) => return Ok(false),
            Ok(Polled::Read(_)) => {}
            Ok(Polled::Lost) | Err(_) => {
                // The follower may be ahead of what is shown, by records that
                // were applied to tables that are given up here.
                *following = Following::Astray;
                let (loaded, follower) = load(&self.place)?;
                (state, *following) = (loaded, Following::At(follower));
            }
        }
        self.show(&before.0, state);
        Ok(true)
    }

    fn show(&self, before: &Catalog, state: Recovered) {
        let now = ids_of(&state.catalog);
        let gone = ids_of(before).into_iter().filter(|id| !now.contains(id));
        gone.for_each(|id| self.place.cache.forget(id));
        let mut shown = self.shown.write();
        (shown.catalog, shown.timestamp) = (state.catalog, state.timestamp);
    }
}
