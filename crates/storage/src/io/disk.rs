//! A database directory on a file system.

use super::{Files, LogFile, ReadFile, disk_log, past_the_end};
use crate::error::{Error, Result};
use arrow_buffer::{Buffer, MutableBuffer};
use rustix::fs::FlockOperation;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files below one directory.
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
}

/// Keeps other processes from writing while it lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

#[derive(Debug)]
struct DiskFile {
    file: File,
    name: String,
    len: u64,
}

impl Disk {
    /// Files below `root`, which must exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Disk { root: root.into() }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
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

impl Files for Disk {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>> {
        let path = self.root.join(name);
        let file = File::open(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                Error::corrupt("the file is missing").at(&self.show(name), None, None)
            }
            _ => Error::io(format!("cannot open {}", path.display()), e),
        })?;
        let len = file
            .metadata()
            .map_err(|e| Error::io(format!("cannot read {}", path.display()), e))?
            .len();
        Ok(Arc::new(DiskFile {
            file,
            name: self.show(name),
            len,
        }))
    }

    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        let path = self.root.join(name);
        let attempt = || -> std::io::Result<()> {
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
        let path = self.root.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(format!("cannot remove {}", path.display()), e))
            }
            _ => Ok(()),
        }
    }

    fn list(&self, directory: &str) -> Result<Vec<String>> {
        let path = self.root.join(directory);
        let context = |e| Error::io(format!("cannot list {}", path.display()), e);
        let entries = match fs::read_dir(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(context)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            names.push(
                entry
                    .map_err(context)?
                    .file_name()
                    .to_string_lossy()
                    .into_owned(),
            );
        }
        names.sort();
        Ok(names)
    }

    fn sync_directory(&self, directory: &str) -> Result<()> {
        let path = self.root.join(directory);
        File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(|e| Error::io(format!("cannot sync directory {}", path.display()), e))
    }

    fn show(&self, name: &str) -> String {
        self.root.join(name).display().to_string()
    }
}

impl ReadFile for DiskFile {
    fn read(&self, offset: u64, len: usize) -> Result<Buffer> {
        let ends = offset.checked_add(len as u64);
        if ends.is_none_or(|end| end > self.len) {
            return Err(past_the_end(&self.name, offset, len, self.len));
        }
        let mut buffer = MutableBuffer::from_len_zeroed(len);
        self.file
            .read_exact_at(buffer.as_slice_mut(), offset)
            .map_err(|e| match e.kind() {
                std::io::ErrorKind::UnexpectedEof => {
                    Error::corrupt("the file became shorter while it was open")
                        .at(&self.name, None, None)
                }
                _ => Error::io(format!("cannot read {}", self.name), e),
            })?;
        Ok(buffer.into())
    }

    fn len(&self) -> u64 {
        self.len
    }
}
