//! Opening what is left of a damaged database.
//!
//! The newest manifest whose checkpoint can be read is the base; the log is done
//! again up to the first transaction that cannot be read. What comes after it may
//! depend on it and is left out, so that the result is a state that the database
//! once had, but for lost blocks: those are taken out of their tables. Only if no
//! checkpoint leads anywhere is the newest manifest taken without its own.
//!
//! Rewriting makes a checkpoint of that. Damaged files stay until the checkpoint
//! after it, or the next opening in the case of block files; nothing reads them.

use super::open::{Opened, format_for_salvage, log_options, make_whole};
use super::recover::Recovered;
use super::report::{LostBlock, SalvageReport};
use super::{Catalog, Place, Store, block_files, ids_of};
use crate::block::Block;
use crate::error::{Error, Result};
use crate::io::{Disk, Files};
use crate::manifest::{self, Manifest};
use crate::wal::{self, Wal, WalOptions};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

fn options() -> WalOptions {
    WalOptions {
        salvage: true,
        ..log_options()
    }
}

impl Store {
    /// Opens what is left of a damaged database and says what is lost. Without
    /// `rewrite` it changes no data and opens for reading; with it, the directory
    /// then is a whole database of what is left, open for writing. Take a copy of the
    /// directory before, as damaged files go away in time. Reads every block.
    ///
    /// # Errors
    /// 3D000, 0A000 and 55006 as [`Store::open`]; `Corrupt` if there is nothing to
    /// begin with; `Full` or `Io`.
    pub fn salvage(path: &Path, rewrite: bool) -> Result<(Arc<Store>, SalvageReport)> {
        let disk = Disk::new(path);
        let mut report = SalvageReport::default();
        if let Err(error) = format_for_salvage(&disk, path)? {
            report.damage.push(error.to_string());
        }
        let opened = Opened {
            path: Some(path.to_path_buf()),
            lock: Some(disk.lock()?),
            ..Opened::default()
        };
        report.damage.extend(disk.salvage_directories(rewrite)?);
        if rewrite {
            make_whole(&disk)?;
        }
        salvaged(Arc::new(disk), opened, report, rewrite)
    }

    /// As [`Store::salvage`], over any kind of files.
    ///
    /// # Errors
    /// As [`Store::salvage`].
    pub fn salvage_files(
        files: Arc<dyn Files>,
        rewrite: bool,
    ) -> Result<(Arc<Store>, SalvageReport)> {
        let report = SalvageReport::default();
        salvaged(files, Opened::default(), report, rewrite)
    }
}

fn salvaged(
    files: Arc<dyn Files>,
    opened: Opened,
    mut report: SalvageReport,
    rewrite: bool,
) -> Result<(Arc<Store>, SalvageReport)> {
    let manifests = manifests(files.as_ref(), &mut report)?;
    let next_block = manifests.iter().map(|manifest| manifest.next_block).max();
    let place = Place::new(
        files.clone(),
        &Manifest {
            next_block: next_block.unwrap_or_default(),
            ..Manifest::default()
        },
    )?;
    let place = Arc::new(place);
    let mut left = log_done_again(&manifests, &place, &mut report)?;
    let (from, after) = (left.from(), left.timestamp);
    left.catalog = Arc::new(without_lost_blocks(&left.catalog, &mut report)?);
    if !rewrite {
        let opened = Opened {
            notes: report.damage.clone(),
            ..opened
        };
        return Ok((Arc::new(Store::of(place, left, opened)), report));
    }
    let (wal, replay) = Wal::open(files.clone(), options(), from, after, &mut |_, _| Ok(()))?;
    // Numbers that lost transactions and manifests had are not given again.
    let known = manifests.iter().map(|manifest| manifest.timestamp).max();
    left.timestamp = left.timestamp.max(replay.newest).max(known.unwrap_or(0));
    left.manifest = manifest::newest(files.as_ref())?.unwrap_or(0);
    // The new checkpoint is made in any case, and nothing counts as kept before it.
    left.segment = None;
    let opened = Opened {
        wal: Some(wal),
        writable: true,
        ..opened
    };
    let store = Arc::new(Store::of(place, left, opened));
    store.checkpoint()?;
    report.rewritten = true;
    Ok((store, report))
}

/// The manifests that can be read, newest first.
fn manifests(files: &dyn Files, report: &mut SalvageReport) -> Result<Vec<Manifest>> {
    let mut manifests = Vec::new();
    for version in manifest::versions(files)? {
        match manifest::read(files, version) {
            Ok(manifest) => manifests.push(manifest),
            Err(error @ Error::Corrupt { .. }) => report.damage.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(manifests)
}

/// What is left by the manifest that leads furthest.
fn log_done_again(
    manifests: &[Manifest],
    place: &Arc<Place>,
    report: &mut SalvageReport,
) -> Result<Recovered> {
    let Some(newest) = manifests.first() else {
        // A log that begins with the database has all there is.
        if wal::begins(place.files.as_ref())? {
            return done_again(&|| Recovered::begin(Manifest::first(), place), 0, report);
        }
        let why = "no manifest can be read, and the log does not begin with the database";
        return Err(Error::corrupt(why).at(&place.files.show("manifest"), None, None));
    };
    let there: HashSet<u64> = block_files(place.files.as_ref())?.into_iter().collect();
    let mut older = None;
    for manifest in manifests {
        let mut found = report.clone();
        let begin = || Recovered::begin(manifest.clone(), place);
        match done_again(&begin, newest.timestamp, &mut found) {
            Ok(state) if state.timestamp >= newest.timestamp => {
                *report = found;
                return Ok(state);
            }
            // The log does not lead from it to the newest one.
            Ok(state) => {
                let whole = ids_of(&state.catalog)
                    .iter()
                    .all(|id| there.contains(&id.0));
                older = older.or(whole.then(|| (state, found.clone())));
                report.damage = found.damage;
            }
            Err(error @ Error::Corrupt { .. }) => report.damage.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    if let Some((state, found)) = older {
        *report = found;
        return Ok(state);
    }
    report.lost_checkpoint = true;
    let begin = || Recovered::without_checkpoint(newest.clone(), place);
    done_again(&begin, newest.timestamp, report)
}

/// The state after the last transaction before the first lost one; there were
/// transactions up to `known`.
fn done_again(
    begin: &dyn Fn() -> Result<Recovered>,
    known: u64,
    report: &mut SalvageReport,
) -> Result<Recovered> {
    let mut end = u64::MAX;
    loop {
        let mut state = begin()?;
        let files = state.place().files.clone();
        let (mut left_out, mut failed) = (Vec::new(), None);
        let (from, after) = (state.from(), state.timestamp);
        let mut each = |timestamp: u64, payload: &[u8]| {
            // Commits are numbered without gaps.
            if timestamp != state.timestamp + 1 || timestamp >= end {
                left_out.push(timestamp);
            } else if let Err(error) = state.redo(timestamp, timestamp, payload) {
                failed = Some((timestamp, error));
                left_out.push(timestamp);
            }
            Ok(())
        };
        let replay = wal::read(files.as_ref(), &options(), from, after, &mut each)?;
        if let Some((timestamp, error)) = failed {
            // It may have been done in part: all again, without it.
            end = timestamp;
            report.damage.push(error.to_string());
            continue;
        }
        let lost = replay.lost.iter().map(ToString::to_string);
        report.damage.extend(lost);
        report.last_transaction = state.timestamp;
        let lost = state.timestamp + 1..=replay.newest.max(known);
        report.lose(lost, &left_out);
        return Ok(state);
    }
}

/// The catalog without the blocks that cannot be read.
fn without_lost_blocks(catalog: &Catalog, report: &mut SalvageReport) -> Result<Catalog> {
    let mut whole = catalog.clone();
    for (schema, entry) in &mut whole.schemas {
        for table in entry.tables.values_mut() {
            let mut lost = HashSet::new();
            for block in table.blocks() {
                match block.verify() {
                    Ok(()) => continue,
                    Err(error @ Error::Corrupt { .. }) => report.blocks.push(LostBlock {
                        schema: schema.clone(),
                        table: table.name.clone(),
                        block: block.id().0,
                        rows: block.rows().saturating_sub(block.deletes().count() as u64),
                        reason: error.to_string(),
                    }),
                    Err(error) => return Err(error),
                }
                lost.insert(block.id());
            }
            if !lost.is_empty() {
                let kept = table.blocks().iter();
                let kept: Vec<Arc<Block>> = kept
                    .filter(|block| !lost.contains(&block.id()))
                    .cloned()
                    .collect();
                *table = Arc::new(table.with(&table.name, table.options.clone(), kept));
            }
        }
    }
    Ok(whole)
}
