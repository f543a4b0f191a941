//! Opening and creating databases.

use super::beside::Beside;
use super::commit::{Latest, Shown};
use super::follow::Following;
use super::locks::RowLocks;
use super::mover::Mover;
use super::recover::Recovered;
use super::relaxed::Flusher;
use super::{Catalog, Engine, Place, Store, block_files, follow, ids_of};
use crate::block::file_name;
use crate::error::{Error, Result};
use crate::io::{Disk, Files, Lock, Memory};
use crate::manifest::{self, Manifest};
use crate::wal::{Wal, WalOptions};
use parking_lot::{Mutex, RwLock};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

const FORMAT: &str = "FORMAT";
const FORMAT_TEXT: &str = "freestone 2\n";
/// The same with block files in further directories.
const FORMAT_STRIPED: &str = "freestone 3\n";
/// The format without a log: it may be opened, and becomes the newer one when written.
const FORMAT_BEFORE: &str = "freestone 1\n";
/// Bytes of a segment of the log.
const SEGMENT_BYTES: u64 = 1 << 20;
/// What may lie in a directory whose creation was interrupted.
const OWN_NAMES: [&str; 8] = [
    "FORMAT",
    "FORMAT.draft",
    "LOCK",
    "DIRECTORIES",
    "DIRECTORIES.draft",
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
    /// if another process writes it, 58P01 if a directory with some of its blocks is
    /// missing, `Corrupt` if manifest, checkpoint or log are damaged, `Io`.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Arc<Store>> {
        Store::open_striped(path, mode, &[])
    }

    /// As [`Store::open`], with directories for block files beside the database's own:
    /// new blocks go to each of them in turn. The database remembers them; those that it
    /// knows already need not be given again. They are made if they are not there.
    ///
    /// # Errors
    /// As [`Store::open`]; 22023 for a directory that belongs to another database, 25006
    /// for new ones when opening for reading.
    pub fn open_striped(
        path: &Path,
        mode: OpenMode,
        directories: &[PathBuf],
    ) -> Result<Arc<Store>> {
        let disk = Disk::new(path);
        let named = Some(path.to_path_buf());
        if mode == OpenMode::ReadOnly {
            if !directories.is_empty() {
                let message = "directories cannot be added to a database that is only read";
                return Err(Error::invalid("25006", message)
                    .with_hint("Open it without the read-only option."));
            }
            check_format(&disk, path)?;
            disk.find_directories()?;
            return Store::beside(Arc::new(disk), named);
        }
        let lock = Some(prepare(&disk, path, mode, directories)?);
        Store::over(Arc::new(disk), named, lock, (Access::Write, log_options()))
    }

    /// A database that lives as long as this process.
    pub fn in_memory() -> Arc<Store> {
        // Nothing in memory fails to be created or read back.
        let files: Arc<dyn Files> = Arc::new(Memory::default());
        let opened = publish_first(files.as_ref())
            .and_then(|()| Store::over(files, None, None, (Access::WriteUnlogged, log_options())));
        opened.unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// Opens, or creates, a database over any kind of files.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn over_files(files: Arc<dyn Files>) -> Result<Arc<Store>> {
        Store::over_files_with(files, log_options())
    }

    /// As [`Store::over_files`], with a log of this form.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn over_files_with(files: Arc<dyn Files>, log: WalOptions) -> Result<Arc<Store>> {
        if files
            .list("manifest")?
            .iter()
            .all(|name| name.parse::<u64>().is_err())
        {
            publish_first(files.as_ref())?;
        }
        Store::over(files, None, None, (Access::Write, log))
    }

    /// Opens a database over any kind of files for reading.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn read_files(files: Arc<dyn Files>) -> Result<Arc<Store>> {
        Store::beside(files, None)
    }

    fn over(
        files: Arc<dyn Files>,
        path: Option<PathBuf>,
        lock: Option<Lock>,
        (access, options): (Access, WalOptions),
    ) -> Result<Arc<Store>> {
        let manifest = manifest::load(files.as_ref())?;
        let place = Arc::new(Place::new(files, &manifest)?);
        let mut recovered = Recovered::begin(manifest, &place)?;
        let wal = match access {
            Access::Write => Some(recovered.open_log(options)?),
            Access::WriteUnlogged => None,
        };
        remove_strays(place.files.as_ref(), &recovered.catalog)?;
        let opened = Opened {
            path,
            lock,
            wal,
            writable: true,
            ..Opened::default()
        };
        Ok(Arc::new(Store::of(place, recovered, opened)))
    }

    /// Opens a database for reading, beside a writer.
    fn beside(files: Arc<dyn Files>, path: Option<PathBuf>) -> Result<Arc<Store>> {
        let files = Arc::new(Beside::of(files));
        let place = Arc::new(Place::new(files, &Manifest::default())?);
        let (recovered, follower) = follow::load(&place)?;
        let opened = Opened {
            path,
            following: Some(Following::At(follower)),
            ..Opened::default()
        };
        Ok(Arc::new(Store::of(place, recovered, opened)))
    }

    pub(super) fn of(place: Arc<Place>, recovered: Recovered, opened: Opened) -> Store {
        let Recovered {
            catalog,
            timestamp,
            manifest,
            segment,
            ..
        } = recovered;
        let engine = Arc::new(Engine {
            place,
            shown: RwLock::new(Shown {
                catalog: catalog.clone(),
                timestamp,
                pending: VecDeque::new(),
            }),
            next_table: Arc::new(AtomicU64::new(catalog.next_table)),
            latest: Mutex::new(Latest {
                catalog,
                timestamp,
                retired: Vec::new(),
                changed: HashMap::new(),
                full: 0,
                unlocked: 0,
            }),
            active: Arc::default(),
            locks: RowLocks::default(),
            wal: opened.wal,
            transactions: AtomicU64::new(timestamp.saturating_add(FIRST_TRANSACTION)),
            delta_memory: AtomicU64::new(u64::MAX),
            published: AtomicU64::new(manifest),
            checkpointed: Mutex::new(segment),
            checkpoint_bytes: AtomicU64::new(0),
            mover: Mover::default(),
            flusher: Flusher::default(),
            release: OnceLock::new(),
            writable: opened.writable,
            following: opened.following.map(Mutex::new),
        });
        Store {
            engine,
            path: opened.path,
            notes: opened.notes,
            _lock: opened.lock,
        }
    }
}

/// The lowest number of a transaction, as in PostgreSQL. Numbers are counted from the newest commit
/// on.
const FIRST_TRANSACTION: u64 = 3;

/// What a store has beside what is in the database.
#[derive(Debug, Default)]
pub(super) struct Opened {
    pub path: Option<PathBuf>,
    pub lock: Option<Lock>,
    pub wal: Option<Wal>,
    pub writable: bool,
    pub following: Option<Following>,
    pub notes: Vec<String>,
}

/// What a database is opened for, if for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Write,
    /// Nothing outlives it, so nothing is logged.
    WriteUnlogged,
}

pub(super) fn log_options() -> WalOptions {
    WalOptions {
        segment_bytes: SEGMENT_BYTES,
        ..WalOptions::default()
    }
}

fn publish_first(files: &dyn Files) -> Result<()> {
    manifest::publish(files, &Manifest::first())
}

/// Creates what is missing if that is wanted, and takes the writer's lock.
fn prepare(disk: &Disk, path: &Path, mode: OpenMode, directories: &[PathBuf]) -> Result<Lock> {
    let names = disk.list("")?;
    let complete = names.iter().any(|name| name == FORMAT);
    if !complete
        && (mode == OpenMode::ReadWrite
            || !names.iter().all(|name| OWN_NAMES.contains(&name.as_str())))
    {
        return Err(no_database(path, path.exists()));
    }
    if complete {
        let format = check_format(disk, path)?;
        let lock = disk.lock()?;
        disk.add_directories(directories)?;
        if format == FORMAT_BEFORE {
            disk.create_directory("wal")?;
        }
        if format != format_of(disk) {
            write_format(disk)?;
        }
        return Ok(lock);
    }
    create_directories(disk)?;
    let lock = disk.lock()?;
    disk.add_directories(directories)?;
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

fn create_directories(disk: &Disk) -> Result<()> {
    let mut directories = ["", "manifest", "blocks", "wal"].into_iter();
    directories.try_for_each(|directory| disk.create_directory(directory))
}

/// The format of a damaged database: what is wrong with it, if that is no reason
/// to leave the database alone.
pub(super) fn format_for_salvage(disk: &Disk, path: &Path) -> Result<Result<&'static str>> {
    match check_format(disk, path) {
        Err(error) if manifest::newest(disk)?.is_some() && error.sqlstate() != "0A000" => {
            Ok(Err(error))
        }
        Err(error) => Err(error),
        known => Ok(known),
    }
}

/// Makes what a database directory has beside its data.
pub(super) fn make_whole(disk: &Disk) -> Result<()> {
    create_directories(disk)?;
    write_format(disk)
}

/// The format that a database is written in.
fn format_of(disk: &Disk) -> &'static str {
    match disk.is_striped() {
        true => FORMAT_STRIPED,
        false => FORMAT_TEXT,
    }
}

fn write_format(disk: &Disk) -> Result<()> {
    disk.write("FORMAT.draft", &[format_of(disk).as_bytes()])?;
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

/// The format, which this program knows.
fn check_format(disk: &Disk, path: &Path) -> Result<&'static str> {
    if !disk.list("")?.iter().any(|name| name == FORMAT) {
        return Err(no_database(path, path.exists()));
    }
    let file = disk.open(FORMAT)?;
    let text = file.read(0, file.len().min(64) as usize)?;
    let text = String::from_utf8_lossy(text.as_slice()).into_owned();
    let known = [FORMAT_BEFORE, FORMAT_TEXT, FORMAT_STRIPED];
    if let Some(known) = known.into_iter().find(|known| *known == text) {
        return Ok(known);
    }
    match text
        .trim()
        .strip_prefix("freestone ")
        .and_then(|version| version.parse::<u32>().ok())
    {
        Some(version) => Err(Error::invalid(
            "0A000",
            format!(
                "{} has database format {version}; this program knows formats up to 3",
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
