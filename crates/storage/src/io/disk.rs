//! A database directory on a file system.

use super::directories::Directories;
use super::disk_file;
use super::{Files, LogFile, ReadFile, disk_log};
use crate::error::{Error, Result};
use parking_lot::RwLock;
use rustix::fs::FlockOperation;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directory that is there more than once.
const BLOCKS: &str = "blocks";

/// Files below one directory, and block files in further ones.
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
    further: RwLock<Vec<PathBuf>>,
}

/// Keeps other processes from writing while it lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Disk {
    /// Files below `root`, which must exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Disk {
            root: root.into(),
            further: RwLock::default(),
        }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether block files are in further directories, too.
    pub fn is_striped(&self) -> bool {
        !self.further.read().is_empty()
    }

    /// Learns the further directories of a database.
    ///
    /// # Errors
    /// 58P01 naming one that is not there, 22023 for one of another database,
    /// `Corrupt` or `Io`.
    pub fn find_directories(&self) -> Result<()> {
        if let Some(known) = Directories::load(self)? {
            for directory in &known.further {
                known.check(&Disk::new(directory))?;
            }
            *self.further.write() = known.further;
        }
        Ok(())
    }

    /// Adds further directories, which are made if they are not there; the caller is the
    /// only writer.
    ///
    /// # Errors
    /// Those of [`Disk::find_directories`], `Full`.
    pub fn add_directories(&self, directories: &[PathBuf]) -> Result<()> {
        if !directories.is_empty() {
            Directories::add(self, directories)?;
        }
        self.find_directories()
    }

    /// Learns which further directories a damaged database still has; what is wrong with
    /// the others, which are given up if it is `rewrite`.
    ///
    /// # Errors
    /// `Full` or `Io`.
    pub fn salvage_directories(&self, rewrite: bool) -> Result<Vec<String>> {
        let (left, damage) = Directories::left(self, rewrite)?;
        *self.further.write() = left;
        Ok(damage)
    }

    /// Where a file may be, the place of new ones first.
    fn places(&self, name: &str) -> Vec<PathBuf> {
        let further = self.further.read();
        let Some(number) = block_number(name).filter(|_| !further.is_empty()) else {
            return vec![self.root.join(name)];
        };
        let mut places: Vec<PathBuf> = vec![self.root.join(name)];
        places.extend(further.iter().map(|directory| directory.join(name)));
        let first = number % places.len() as u64;
        places.rotate_left(first as usize);
        places
    }

    /// Where a file is, or would be.
    fn place(&self, name: &str) -> PathBuf {
        let mut places = self.places(name);
        let there = places.iter().position(|path| path.exists());
        places.swap_remove(there.unwrap_or(0))
    }

    /// The directories that one of these names stands for.
    fn directories(&self, name: &str) -> Vec<PathBuf> {
        let mut all = vec![self.root.join(name)];
        if name == BLOCKS {
            all.extend(
                self.further
                    .read()
                    .iter()
                    .map(|directory| directory.join(name)),
            );
        }
        all
    }

    /// Opens a file wherever it is.
    fn find(&self, name: &str) -> io::Result<(File, PathBuf)> {
        let mut missing = io::Error::from(io::ErrorKind::NotFound);
        for path in self.places(name) {
            match File::open(&path) {
                Ok(file) => return Ok((file, path)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => missing = error,
                Err(error) => return Err(error),
            }
        }
        Err(missing)
    }

    /// Creates a directory below the root, and the root itself.
    ///
    /// # Errors
    /// `Io`.
    pub fn create_directory(&self, name: &str) -> Result<()> {
        let path = self.root.join(name);
        fs::create_dir_all(&path)
            .map_err(|e| Error::io(format!("cannot create directory {}", path.display()), e))
    }

    /// Takes the writer's lock and leaves this process's id in the file.
    ///
    /// # Errors
    /// 55006 naming the process that holds it.
    pub fn lock(&self) -> Result<Lock> {
        let path = self.root.join("LOCK");
        let context = |e| Error::io(format!("cannot lock {}", path.display()), e);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(context)?;
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut holder = String::new();
            // The id is a courtesy; without it the message is still right.
            let _ = file.read_to_string(&mut holder);
            return Err(Error::invalid(
                "55006",
                format!(
                    "database {} is open for writing in process {}",
                    self.root.display(),
                    holder.trim()
                ),
            )
            .with_hint("Close that process, or open the database read-only."));
        }
        file.set_len(0).map_err(context)?;
        file.seek(SeekFrom::Start(0)).map_err(context)?;
        writeln!(file, "{}", std::process::id()).map_err(context)?;
        Ok(Lock { _file: file })
    }
}

/// The number of the block that a file holds.
fn block_number(name: &str) -> Option<u64> {
    let name = name.strip_prefix(BLOCKS)?.strip_prefix('/')?;
    name.strip_suffix(".block")?.parse().ok()
}

impl Files for Disk {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>> {
        let mut found = self.find(name);
        if block_number(name).is_some()
            && matches!(&found, Err(error) if error.kind() == io::ErrorKind::NotFound)
        {
            // The writer beside may have added a directory.
            if let Ok(Some(known)) = Directories::load(self) {
                *self.further.write() = known.further;
            }
            found = self.find(name);
        }
        let (file, path) = found.map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => {
                Error::corrupt("the file is missing").at(&self.show(name), None, None)
            }
            _ => Error::io(format!("cannot open {}", self.show(name)), e),
        })?;
        disk_file::open(file, path)
    }

    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        let path = self.places(name).swap_remove(0);
        let attempt = || -> io::Result<()> {
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path)?;
            for part in parts {
                file.write_all(part)?;
            }
            file.sync_data()
        };
        attempt().map_err(|e| {
            // Half a file is worth nothing; the first error is the one to report.
            let _ = fs::remove_file(&path);
            Error::io(format!("cannot write {}", path.display()), e)
        })
    }

    fn log(&self, name: &str, bytes: u64) -> Result<Arc<dyn LogFile>> {
        disk_log::open(&self.root.join(name), bytes)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.root.join(from), self.root.join(to));
        fs::rename(&from, &to).map_err(|e| {
            Error::io(
                format!("cannot rename {} to {}", from.display(), to.display()),
                e,
            )
        })
    }

    fn remove(&self, name: &str) -> Result<()> {
        for path in self.places(name) {
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io(format!("cannot remove {}", path.display()), e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn list(&self, directory: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for path in self.directories(directory) {
            let context = |e| Error::io(format!("cannot list {}", path.display()), e);
            let entries = match fs::read_dir(&path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                other => other.map_err(context)?,
            };
            for entry in entries {
                let name = entry.map_err(context)?.file_name();
                names.push(name.to_string_lossy().into_owned());
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn sync_directory(&self, directory: &str) -> Result<()> {
        for path in self.directories(directory) {
            File::open(&path)
                .and_then(|file| file.sync_all())
                .map_err(|e| Error::io(format!("cannot sync directory {}", path.display()), e))?;
        }
        Ok(())
    }

    fn show(&self, name: &str) -> String {
        self.place(name).display().to_string()
    }

    fn roots(&self) -> Vec<PathBuf> {
        let mut roots = self.further.read().clone();
        roots.push(self.root.clone());
        roots
    }
}
