//! Opening and creating databases.

use super::commit::{Latest, Shown};
use super::locks::RowLocks;
use super::mover::Mover;
use super::{
    Catalog, DEFAULT_SCHEMA, Engine, Place, Store, checkpoint, default_cache_bytes, ids_of, log,
};
use crate::block::{Cache, file_name};
use crate::error::{Error, Result};
use crate::io::{Disk, Files, Lock, Memory};
use crate::manifest::{self, Manifest, ManifestSchema};
use crate::wal::{Follower, Wal, WalOptions};
use parking_lot::{Mutex, RwLock};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

const FORMAT: &str = "FORMAT";
const FORMAT_TEXT: &str = "freestone 2\n";
/// The format without a log: it may be opened, and becomes the newer one when written.
const FORMAT_BEFORE: &str = "freestone 1\n";
/// Bytes of a segment of the log.
const SEGMENT_BYTES: u64 = 1 << 20;
/// What may lie in a directory whose creation was interrupted.
const OWN_NAMES: [&str; 6] = [
    "FORMAT",
    "FORMAT.draft",
    "LOCK",
    "manifest",
    "blocks",
    "wal",
];

/// How to open a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// For writing; created if it is not there.
    Create,
    /// For writing; it must be there.
    ReadWrite,
    /// For reading, beside a writer.
    ReadOnly,
}

impl Store {
    /// Opens a database directory.
    ///
    /// # Errors
    /// 3D000 if there is no database at `path`, 0A000 for a newer format, 55006
    /// if another process writes it, `Corrupt` if no manifest holds, `Io`.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Arc<Store>> {
        let disk = Disk::new(path);
        let lock = if mode == OpenMode::ReadOnly {
            check_format(&disk, path)?;
            None
        } else {
            Some(prepare(&disk, path, mode)?)
        };
        let access = match mode {
            OpenMode::ReadOnly => Access::Read,
            OpenMode::Create | OpenMode::ReadWrite => Access::Write,
        };
        Store::over(Arc::new(disk), Some(path.to_path_buf()), lock, access)
    }

    /// A database that lives as long as this process.
    pub fn in_memory() -> Arc<Store> {
        // Nothing in memory fails to be created or read back.
        let files: Arc<dyn Files> = Arc::new(Memory::default());
        let opened = publish_first(files.as_ref())
            .and_then(|()| Store::over(files, None, None, Access::WriteUnlogged));
        opened.unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// Opens, or creates, a database over any kind of files.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn over_files(files: Arc<dyn Files>) -> Result<Arc<Store>> {
        if files
            .list("manifest")?
            .iter()
            .all(|name| name.parse::<u64>().is_err())
        {
            publish_first(files.as_ref())?;
        }
        Store::over(files, None, None, Access::Write)
    }

    /// Opens a database over any kind of files for reading.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn read_files(files: Arc<dyn Files>) -> Result<Arc<Store>> {
        Store::over(files, None, None, Access::Read)
    }

    fn over(
        files: Arc<dyn Files>,
        path: Option<PathBuf>,
        lock: Option<Lock>,
        access: Access,
    ) -> Result<Arc<Store>> {
        let (manifest, passed) = manifest::load(files.as_ref())?;
        let notes = passed
            .iter()
            .map(|error| format!("opened an older state of the database: {error}"))
            .collect();
        let used = block_files(files.as_ref())?
            .into_iter()
            .max()
            .map_or(0, |newest| newest + 1);
        let next_block = AtomicU64::new(manifest.next_block.max(used));
        let place = Arc::new(Place {
            files,
            cache: Arc::new(Cache::new(default_cache_bytes())),
            next_block,
        });
        let published = AtomicU64::new(manifest.version);
        let (timestamp, log) = (manifest.timestamp, manifest.log);
        let catalog = Arc::new(Catalog::from_manifest(manifest, &place)?);
        let mut recovery = Recovery {
            place: &place,
            catalog,
            timestamp,
        };
        let wal = recovery.run(log, access)?;
        let Recovery {
            catalog, timestamp, ..
        } = recovery;
        if access != Access::Read && passed.is_empty() {
            remove_strays(place.files.as_ref(), &catalog)?;
        }
        let next_table = Arc::new(AtomicU64::new(catalog.next_table));
        let engine = Arc::new(Engine {
            place,
            shown: RwLock::new(Shown {
                catalog: catalog.clone(),
                timestamp,
                pending: VecDeque::new(),
            }),
            latest: Mutex::new(Latest {
                catalog,
                timestamp,
                retired: Vec::new(),
                changed: HashMap::new(),
            }),
            active: Arc::default(),
            locks: RowLocks::default(),
            wal,
            next_table,
            transactions: AtomicU64::new(1),
            published,
            checkpointing: Mutex::default(),
            mover: Mover::default(),
            writable: access != Access::Read,
        });
        Ok(Arc::new(Store {
            engine,
            path,
            notes,
            _lock: lock,
        }))
    }
}

/// What a database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    /// Nothing outlives it, so nothing is logged.
    WriteUnlogged,
}

/// The way from a manifest to the last commit.
struct Recovery<'a> {
    place: &'a Arc<Place>,
    catalog: Arc<Catalog>,
    timestamp: u64,
}

impl Recovery<'_> {
    /// Does again what checkpoint and log have; opens the log for writing.
    fn run(&mut self, log: Option<u64>, access: Access) -> Result<Option<Wal>> {
        let files = self.place.files.clone();
        if let Some(segment) = log {
            let record = checkpoint::read(files.as_ref(), segment)?;
            let place = format!("checkpoint {segment}");
            self.catalog = log::replay(&self.catalog, self.timestamp, &record, self.place)
                .map_err(|error| error.at("", None, Some(&place)))?;
        }
        let (from, after) = (log.unwrap_or(1), self.timestamp);
        let place = self.place;
        let (catalog, newest) = (&mut self.catalog, &mut self.timestamp);
        let mut each = |timestamp: u64, payload: &[u8]| {
            *catalog = log::replay(catalog, timestamp, payload, place)
                .map_err(|error| error.at("", None, Some(&format!("commit {timestamp}"))))?;
            *newest = timestamp;
            Ok(())
        };
        match access {
            Access::WriteUnlogged => Ok(None),
            Access::Write => {
                let options = WalOptions {
                    segment_bytes: SEGMENT_BYTES,
                    ..WalOptions::default()
                };
                Wal::open(files, options, from, after, &mut each).map(|(wal, _)| Some(wal))
            }
            Access::Read => {
                let mut follower = Follower::open(files, from, after);
                follower.poll(&mut each)?;
                Ok(None)
            }
        }
    }
}

fn publish_first(files: &dyn Files) -> Result<()> {
    let mut manifest = Manifest {
        version: 1,
        next_table: 1,
        next_block: 1,
        ..Manifest::default()
    };
    manifest
        .schemas
        .insert(DEFAULT_SCHEMA.to_string(), ManifestSchema::default());
    manifest::publish(files, &manifest)
}

/// Creates what is missing if that is wanted, and takes the writer's lock.
fn prepare(disk: &Disk, path: &Path, mode: OpenMode) -> Result<Lock> {
    let names = disk.list("")?;
    let complete = names.iter().any(|name| name == FORMAT);
    if !complete
        && (mode == OpenMode::ReadWrite
            || !names.iter().all(|name| OWN_NAMES.contains(&name.as_str())))
    {
        return Err(no_database(path, path.exists()));
    }
    if complete {
        let before = check_format(disk, path)?;
        let lock = disk.lock()?;
        if before {
            disk.create_directory("wal")?;
            write_format(disk)?;
        }
        return Ok(lock);
    }
    for directory in ["", "manifest", "blocks", "wal"] {
        disk.create_directory(directory)?;
    }
    let lock = disk.lock()?;
    publish_first(disk)?;
    // FORMAT comes last: a directory with it is a whole database.
    write_format(disk)?;
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        Disk::new(parent).sync_directory("")?;
    }
    Ok(lock)
}

fn write_format(disk: &Disk) -> Result<()> {
    disk.write("FORMAT.draft", &[FORMAT_TEXT.as_bytes()])?;
    disk.rename("FORMAT.draft", FORMAT)?;
    disk.sync_directory("")
}

fn no_database(path: &Path, exists: bool) -> Error {
    let path = path.display();
    if exists {
        Error::invalid(
            "3D000",
            format!("{path} is not a Freestone database: it has no FORMAT file"),
        )
        .with_hint(
            "Give the path of a database, or of a directory that is empty or does not exist yet.",
        )
    } else {
        Error::invalid("3D000", format!("there is no database at {path}"))
    }
}

/// Checks that this program knows the format; whether it is the one before.
fn check_format(disk: &Disk, path: &Path) -> Result<bool> {
    if !disk.list("")?.iter().any(|name| name == FORMAT) {
        return Err(no_database(path, path.exists()));
    }
    let file = disk.open(FORMAT)?;
    let text = file.read(0, file.len().min(64) as usize)?;
    let text = String::from_utf8_lossy(text.as_slice()).into_owned();
    if text == FORMAT_TEXT || text == FORMAT_BEFORE {
        return Ok(text == FORMAT_BEFORE);
    }
    match text
        .trim()
        .strip_prefix("freestone ")
        .and_then(|version| version.parse::<u32>().ok())
    {
        Some(version) => Err(Error::invalid(
            "0A000",
            format!(
                "{} has database format {version}; this program knows formats up to 2",
                path.display()
            ),
        )
        .with_hint("Use a newer version of Freestone.")),
        None => Err(
            Error::corrupt("it does not begin with \"freestone\" and a version").at(
                &disk.show(FORMAT),
                None,
                None,
            ),
        ),
    }
}

/// Numbers of the block files that are there.
fn block_files(files: &dyn Files) -> Result<Vec<u64>> {
    let names = files.list("blocks")?;
    Ok(names
        .iter()
        .filter_map(|name| name.strip_suffix(".block")?.parse().ok())
        .collect())
}

/// Removes what a crash left: block files that no manifest names.
fn remove_strays(files: &dyn Files, catalog: &Catalog) -> Result<()> {
    let named: HashSet<u64> = ids_of(catalog).into_iter().map(|id| id.0).collect();
    for id in block_files(files)? {
        if !named.contains(&id) {
            files.remove(&file_name(crate::ids::BlockId(id)))?;
        }
    }
    Ok(())
}
