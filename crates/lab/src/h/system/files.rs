//! Files of pages, read past the page cache.

use crate::error::Result;
use crate::h::disks::UNIT_BYTES;
use crate::h::replica::Page;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of an I/O unit.
const UNIT: usize = UNIT_BYTES as usize;
/// What buffers and places of direct reads are multiples of, bytes.
const ALIGNMENT: usize = 4096;

/// A file of pages, opened for reads past the page cache, where the file system has them.
///
/// # Errors
/// Those of the disk.
pub(super) fn written(path: &Path, pages: &[Page]) -> Result<File> {
    let mut file = File::create(path)?;
    file.write_all(pages.as_flattened())?;
    file.sync_all()?;
    Ok(direct(path).or_else(|_| File::open(path))?)
}

/// Opens a file past the page cache.
#[cfg(target_os = "linux")]
fn direct(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(target_os = "linux"))]
fn direct(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

/// Memory for a unit.
pub(super) fn buffer() -> Vec<u8> {
    vec![0; UNIT + ALIGNMENT]
}

/// The part of a buffer that a direct read may fill.
pub(super) fn aligned(memory: &mut [u8]) -> &mut [u8] {
    let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    &mut memory[start..start + UNIT]
}

/// Reads all of some files, a unit at a time: next the one of which least has been read.
///
/// # Errors
/// Those of the disk.
pub(super) fn read(files: &[File], unit: &mut [u8]) -> Result<()> {
    let ends = files.iter().map(|file| Ok(file.metadata()?.len()));
    let ends: Vec<u64> = ends.collect::<Result<_>>()?;
    let mut at = vec![0; files.len()];
    let share = |at: &[u64], file: usize| at[file] as f64 / ends[file] as f64;
    loop {
        let left = (0..files.len()).filter(|file| at[*file] < ends[*file]);
        let next = left.min_by(|a, b| share(&at, *a).total_cmp(&share(&at, *b)));
        let Some(next) = next else {
            return Ok(());
        };
        let bytes = (ends[next] - at[next]).min(unit.len() as u64);
        let part = &mut unit[..bytes as usize];
        files[next].read_exact_at(part, at[next])?;
        black_box(part);
        at[next] += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte of every file is read, the last unit of each being shorter.
    #[test]
    fn files_are_read_to_their_ends() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, pages: usize| {
            let pages: Vec<Page> = (0..pages).map(|page| [page as u8; 4096]).collect();
            written(&directory.path().join(name), &pages).unwrap()
        };
        let files = [file("a", 33), file("b", 1), file("c", 70)];
        let mut memory = buffer();
        read(&files, aligned(&mut memory)).unwrap();
        // What is left: pages 64 to 69 of the longest, then 32, the last of the first.
        let unit = aligned(&mut memory);
        assert_eq!((unit[0], unit[5 * 4096]), (32, 69));
    }
}
