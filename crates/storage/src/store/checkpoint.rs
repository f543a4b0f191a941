//! Checkpoints: what the log has so far, in a manifest and one file beside it.
//!
//! A checkpoint neither rewrites blocks nor stops writers: while no commit
//! runs, the log begins a new segment and the delta and all deletes are copied
//! in memory; the rest happens beside further commits. Its file is
//! `wal/N.checkpoint`, N being the segment that follows it:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | magic `FREESTCP` |
//! | 8 | 8 | checksum of the rest, seeded with N |
//! | 16 | … | a record as the log has them |
//!
//! The manifest that names N comes after it. Then all is removed that neither it
//! nor the manifest before needs: should the newest manifest or its checkpoint be
//! damaged, the one before and the log lead to the same state.

use super::Engine;
use super::log::{self, Part};
use crate::error::{Error, Result};
use crate::format::checksum_seeded;
use crate::io::Files;
use crate::manifest;
use std::sync::atomic::Ordering;

const MAGIC: &[u8; 8] = b"FREESTCP";

/// A checkpoint that is being written.
const DRAFT: &str = "wal/checkpoint.draft";

fn name(segment: u64) -> String {
    format!("wal/{segment}.checkpoint")
}

/// The record of a checkpoint.
///
/// # Errors
/// `Corrupt` if it is not there or damaged, `Io`.
pub(super) fn read(files: &dyn Files, segment: u64) -> Result<Vec<u8>> {
    let name = name(segment);
    let whole = || {
        let file = files.open(&name)?;
        let len = usize::try_from(file.len()).map_err(|_| Error::corrupt("too long"))?;
        let bytes = file.read(0, len)?;
        let (head, record) = bytes
            .split_at_checked(16)
            .ok_or_else(|| Error::corrupt(format!("a checkpoint of {len} bytes")))?;
        let sum = checksum_seeded(record, segment);
        if &head[..8] != MAGIC || head[8..] != sum.to_le_bytes() {
            return Err(Error::corrupt("checksum mismatch"));
        }
        Ok(record.to_vec())
    };
    whole().map_err(|error: Error| error.at(&files.show(&name), None, Some("checkpoint")))
}

impl Engine {
    /// Writes a checkpoint, so that the log can be short.
    ///
    /// # Errors
    /// 25006 if read-only; `Full` or `Io`, upon which the log stays as it is.
    pub fn checkpoint(&self) -> Result<()> {
        self.must_be_writable()?;
        let Some(wal) = &self.wal else {
            return Ok(());
        };
        let mut newest = self.checkpointed.lock();
        let latest = self.latest.lock();
        let segment = wal.rotate()?;
        if *newest == Some(segment) {
            // Nothing was committed since.
            return Ok(());
        }
        let (catalog, timestamp) = (latest.catalog.clone(), latest.timestamp);
        let mut parts: Vec<Part> = Vec::new();
        for (_, table) in catalog.all_tables() {
            log::dump(table, &mut parts);
        }
        drop(latest);
        let files = self.place.files.as_ref();
        let all: Vec<&Part> = parts.iter().collect();
        let record = log::encode(None, &all)?;
        self.checkpoint_bytes
            .store(record.len() as u64, Ordering::Relaxed);
        let sum = checksum_seeded(&record, segment).to_le_bytes();
        // What the manifest says must be durable before the log loses it.
        wal.flush(timestamp)?;
        // A checkpoint that failed later than here may have left a manifest that names it.
        files.write(DRAFT, &[MAGIC, &sum, &record])?;
        files.rename(DRAFT, &name(segment))?;
        files.sync_directory("wal")?;
        let number = self.published.fetch_add(1, Ordering::Relaxed) + 1;
        let mut manifest = catalog.to_manifest(self.place.next_number());
        manifest.version = number;
        (manifest.timestamp, manifest.log) = (timestamp, Some(segment));
        manifest::publish(files, &manifest)?;
        let before = newest.replace(segment).unwrap_or(1);
        wal.passed(segment);
        // The checkpoint stands; tidying up may fail and be done by the next one.
        let _ = manifest::prune(files);
        let _ = wal.remove_before(before);
        let _ = remove_before(files, before);
        Ok(())
    }
}

impl Engine {
    /// Gives up the way back to the newest state by the checkpoint before: the log
    /// that it needs may be much longer than what it leads to.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn forget_spare(&self) -> Result<()> {
        let newest = self.checkpointed.lock();
        if let (Some(wal), Some(segment)) = (&self.wal, *newest) {
            wal.remove_before(segment)?;
            wal.trim()?;
            remove_before(self.place.files.as_ref(), segment)?;
        }
        Ok(())
    }
}

/// Removes checkpoints before `segment`.
fn remove_before(files: &dyn Files, segment: u64) -> Result<()> {
    for found in files.list("wal")? {
        let number = found
            .strip_suffix(".checkpoint")
            .and_then(|number| number.parse().ok());
        if number.is_some_and(|number: u64| number < segment) {
            files.remove(&format!("wal/{found}"))?;
        }
    }
    Ok(())
}
