//! Opening and creating databases.

use super::{Catalog, DEFAULT_SCHEMA, Place, Store, default_cache_bytes, ids_of};
use crate::block::{Cache, file_name};
use crate::error::{Error, Result};
use crate::io::{Disk, Files, Lock, Memory};
use crate::manifest::{self, Manifest, ManifestSchema};
use parking_lot::{Mutex, RwLock};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

const FORMAT: &str = "FORMAT";
const FORMAT_TEXT: &str = "freestone 1\n";
/// What may lie in a directory whose creation was interrupted.
const OWN_NAMES: [&str; 5] = ["FORMAT", "FORMAT.draft", "LOCK", "manifest", "blocks"];

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
        Store::over(
            Arc::new(disk),
            Some(path.to_path_buf()),
            lock,
            mode != OpenMode::ReadOnly,
        )
    }

    /// A database that lives as long as this process.
    pub fn in_memory() -> Arc<Store> {
        // Nothing in memory fails to be created or read back.
        Store::over_files(Arc::new(Memory::default()))
            .unwrap_or_else(|error| unreachable!("{error}"))
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
        Store::over(files, None, None, true)
    }

    fn over(
        files: Arc<dyn Files>,
        path: Option<PathBuf>,
        lock: Option<Lock>,
        writable: bool,
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
        let catalog = Catalog::from_manifest(manifest, &place)?;
        if writable && passed.is_empty() {
            remove_strays(place.files.as_ref(), &catalog)?;
        }
        Ok(Arc::new(Store {
            place,
            snapshot: RwLock::new(Arc::new(catalog)),
            retired: Mutex::default(),
            path,
            writable,
            notes,
            _lock: lock,
        }))
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
        check_format(disk, path)?;
        return disk.lock();
    }
    for directory in ["", "manifest", "blocks"] {
        disk.create_directory(directory)?;
    }
    let lock = disk.lock()?;
    publish_first(disk)?;
    // FORMAT comes last: a directory with it is a whole database.
    disk.write("FORMAT.draft", &[FORMAT_TEXT.as_bytes()])?;
    disk.rename("FORMAT.draft", FORMAT)?;
    disk.sync_directory("")?;
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        Disk::new(parent).sync_directory("")?;
    }
    Ok(lock)
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

fn check_format(disk: &Disk, path: &Path) -> Result<()> {
    if !disk.list("")?.iter().any(|name| name == FORMAT) {
        return Err(no_database(path, path.exists()));
    }
    let file = disk.open(FORMAT)?;
    let text = file.read(0, file.len().min(64) as usize)?;
    let text = String::from_utf8_lossy(text.as_slice()).into_owned();
    if text == FORMAT_TEXT {
        return Ok(());
    }
    match text
        .trim()
        .strip_prefix("freestone ")
        .and_then(|version| version.parse::<u32>().ok())
    {
        Some(version) => Err(Error::invalid(
            "0A000",
            format!(
                "{} has database format {version}; this program knows formats up to 1",
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
