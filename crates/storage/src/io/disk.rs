//! A database directory on a file system.

use super::aligned::{AlignedBuffer, whole_units};
use super::{Files, LogFile, ReadFile, disk_log, past_the_end};
use crate::error::{Error, Result};
use arrow_buffer::{Buffer, MutableBuffer};
use rustix::fs::FlockOperation;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

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
    /// The same file for reads past the page cache, opened when the first one comes.
    direct: OnceLock<Option<File>>,
    path: PathBuf,
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
            io::ErrorKind::NotFound => {
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
            direct: OnceLock::new(),
            path,
            len,
        }))
    }

    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        let path = self.root.join(name);
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
        let path = self.root.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(Error::io(format!("cannot remove {}", path.display()), e))
            }
            _ => Ok(()),
        }
    }

    fn list(&self, directory: &str) -> Result<Vec<String>> {
        let path = self.root.join(directory);
        let context = |e| Error::io(format!("cannot list {}", path.display()), e);
        let entries = match fs::read_dir(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
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

impl DiskFile {
    fn check(&self, offset: u64, len: usize) -> Result<()> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(past_the_end(&self.name(), offset, len, self.len)),
        }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The file past the page cache; file systems without that refuse to open it so.
    #[cfg(target_os = "linux")]
    fn direct(&self) -> Option<&File> {
        use std::os::unix::fs::OpenOptionsExt;
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true);
            options.custom_flags(rustix::fs::OFlags::DIRECT.bits() as i32);
            options.open(&self.path).ok()
        };
        self.direct.get_or_init(open).as_ref()
    }

    #[cfg(not(target_os = "linux"))]
    fn direct(&self) -> Option<&File> {
        None
    }

    /// Reads whole units around `len` bytes at `offset`.
    fn read_units(&self, file: &File, offset: u64, len: usize) -> io::Result<Buffer> {
        let units = whole_units(offset, len);
        let mut buffer = AlignedBuffer::new((units.end - units.start) as usize);
        let before = (offset - units.start) as usize;
        let mut read = 0;
        // The last unit may go beyond the end of the file.
        while read < before + len {
            let rest = &mut buffer.as_mut_slice()[read..];
            match file.read_at(rest, units.start + read as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(buffer.part(before, len))
    }
}

impl ReadFile for DiskFile {
    fn read(&self, offset: u64, len: usize) -> Result<Buffer> {
        self.check(offset, len)?;
        let mut buffer = MutableBuffer::from_len_zeroed(len);
        self.file
            .read_exact_at(buffer.as_slice_mut(), offset)
            .map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => Error::corrupt(
                    "the file became shorter while it was open",
                )
                .at(&self.name(), None, None),
                _ => Error::io(format!("cannot read {}", self.name()), e),
            })?;
        Ok(buffer.into())
    }

    fn read_directly(&self, offset: u64, len: usize) -> Result<Buffer> {
        self.check(offset, len)?;
        // Whatever is wrong, reading as usual says so or works.
        let direct = self.direct();
        match direct.map(|file| self.read_units(file, offset, len)) {
            Some(Ok(bytes)) => Ok(bytes),
            _ => self.read(offset, len),
        }
    }

    fn descriptor(&self, direct: bool) -> Option<BorrowedFd<'_>> {
        let other = if direct { self.direct() } else { None };
        Some(other.unwrap_or(&self.file).as_fd())
    }

    fn len(&self) -> u64 {
        self.len
    }
}
