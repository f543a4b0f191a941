//! A file on disk that is read.

use super::aligned::{AlignedBuffer, whole_units};
use super::{ReadFile, past_the_end};
use crate::error::{Error, Result};
use arrow_buffer::{Buffer, MutableBuffer};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
struct DiskFile {
    file: File,
    /// The same file for reads past the page cache, opened when the first one comes.
    direct: OnceLock<Option<File>>,
    path: PathBuf,
    len: u64,
}

/// A file that was opened at `path`.
pub(super) fn open(file: File, path: PathBuf) -> Result<Arc<dyn ReadFile>> {
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

    /// Asks for the first and the last byte, if nobody has to wait for them.
    #[cfg(target_os = "linux")]
    fn is_cached(&self, bytes: &Range<u64>) -> bool {
        use rustix::io::{ReadWriteFlags, preadv2};
        let at = |offset| {
            let mut byte = [0];
            let mut to = [io::IoSliceMut::new(&mut byte)];
            preadv2(&self.file, &mut to, offset, ReadWriteFlags::NOWAIT) == Ok(1)
        };
        !bytes.is_empty() && at(bytes.start) && at(bytes.end - 1)
    }

    fn len(&self) -> u64 {
        self.len
    }
}
