//! The way from a manifest to the last commit.

use super::{Catalog, Place, checkpoint, log};
use crate::error::Result;
use crate::manifest::Manifest;
use crate::wal::{Wal, WalOptions};
use std::sync::Arc;

/// A state of the database, and where the log goes on from it.
#[derive(Debug)]
pub(super) struct Recovered {
    place: Arc<Place>,
    pub catalog: Arc<Catalog>,
    pub timestamp: u64,
    /// Number of the manifest.
    pub manifest: u64,
    /// The segment after its checkpoint, if it has one.
    pub segment: Option<u64>,
}

impl Recovered {
    /// What a manifest and its checkpoint say.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn begin(manifest: Manifest, place: &Arc<Place>) -> Result<Recovered> {
        let segment = manifest.log;
        let mut recovered = Recovered::without_checkpoint(manifest, place)?;
        if let Some(segment) = segment {
            let record = checkpoint::read(place.files.as_ref(), segment)?;
            let name = format!("checkpoint {segment}");
            let times = (recovered.timestamp, recovered.timestamp);
            recovered.catalog = log::replay(&recovered.catalog, times, &record, place)
                .map_err(|error| error.at("", None, Some(&name)))?;
        }
        Ok(recovered)
    }

    /// What a manifest says: without rows that are in no block, and without deletes.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn without_checkpoint(manifest: Manifest, place: &Arc<Place>) -> Result<Recovered> {
        Ok(Recovered {
            place: place.clone(),
            timestamp: manifest.timestamp,
            manifest: manifest.version,
            segment: manifest.log,
            catalog: Arc::new(Catalog::from_manifest(manifest, place)?),
        })
    }

    /// A state that is there already.
    pub fn at(place: &Arc<Place>, (catalog, timestamp): (Arc<Catalog>, u64)) -> Recovered {
        Recovered {
            place: place.clone(),
            catalog,
            timestamp,
            manifest: 0,
            segment: None,
        }
    }

    /// Where its blocks are.
    pub fn place(&self) -> &Arc<Place> {
        &self.place
    }

    /// The first segment of the log that is needed.
    pub fn from(&self) -> u64 {
        self.segment.unwrap_or(1)
    }

    /// Does again what a record of the log says; `oldest` is the oldest snapshot
    /// that may look at the tables.
    ///
    /// # Errors
    /// `Corrupt` if it does not fit; then some of it may have been done.
    pub fn redo(&mut self, timestamp: u64, oldest: u64, payload: &[u8]) -> Result<()> {
        let name = format!("commit {timestamp}");
        self.catalog = log::replay(&self.catalog, (timestamp, oldest), payload, &self.place)
            .map_err(|error| error.at("", None, Some(&name)))?;
        self.timestamp = timestamp;
        Ok(())
    }

    /// Does the whole log again and opens it for writing.
    ///
    /// # Errors
    /// As [`Wal::open`].
    pub fn open_log(&mut self, options: WalOptions) -> Result<Wal> {
        let (files, from, after) = (self.place.files.clone(), self.from(), self.timestamp);
        let mut each = |timestamp: u64, payload: &[u8]| self.redo(timestamp, timestamp, payload);
        let (wal, _) = Wal::open(files, options, from, after, &mut each)?;
        for (_, table) in self.catalog.all_tables() {
            for block in table.blocks() {
                block.deletes().forget_times();
            }
            for fragment in table.delta().fragments() {
                fragment.deletes.forget_times();
            }
        }
        Ok(wal)
    }
}
