//! The disk that a directory is on.

use crate::{Random, Result};
use freestone_storage::io::{self, Files, PrefetchFile, Prefetcher, ReadFile};
use rustix::fs::{Advice, fadvise, statfs};
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of the file that is read.
const BYTES: u64 = 256 << 20;
/// Bytes read in one piece, as a part of a block is.
const STRIDE: u64 = 1 << 20;
/// Bytes read at random places.
const PAGE: usize = 4096;
/// Random places.
const PLACES: u64 = 512;
/// Times that the file is read; the median counts.
const PASSES: usize = 5;
/// What the system calls file systems that are in memory: tmpfs and ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// What a disk does.
pub(crate) struct Disk {
    /// Bytes a second in sequence.
    pub bandwidth: f64,
    /// Seconds until it delivers from another place.
    pub seek: f64,
}

/// Measures by a file that the system does not remember.
pub(crate) fn measure(directory: &Path) -> Result<Disk> {
    measured(directory, BYTES)
}

fn measured(directory: &Path, bytes: u64) -> Result<Disk> {
    const NAME: &str = "bytes";
    let place = tempfile::tempdir_in(directory)?;
    let path = place.path().join(NAME);
    let mut random = Random::new(2);
    written(&path, bytes, &mut random)?;
    let opened = File::open(&path)?;
    let file = io::Disk::new(place.path()).open(NAME)?;
    let prefetcher = Arc::new(Prefetcher::default());
    prefetcher.method();
    let mut in_sequence = || {
        forget(&opened)?;
        sequence(&file, &prefetcher)
    };
    let bandwidth = bytes as f64 / median(&mut in_sequence)?;
    fadvise(&opened, 0, None, Advice::Random).map_err(std::io::Error::from)?;
    let mut at_random = || {
        forget(&opened)?;
        let mut buffer = [0; PAGE];
        let start = Instant::now();
        for _ in 0..PLACES {
            let at = random.below(bytes / PAGE as u64) * PAGE as u64;
            opened.read_exact_at(&mut buffer, at)?;
        }
        Ok(start.elapsed().as_secs_f64())
    };
    let seek = median(&mut at_random)? / PLACES as f64;
    Ok(Disk { bandwidth, seek })
}

/// Writes bytes that no disk makes smaller.
fn written(path: &Path, bytes: u64, random: &mut Random) -> Result<()> {
    let mut file = File::create(path)?;
    for _ in 0..bytes / STRIDE {
        let words = (0..STRIDE / 8).flat_map(|_| random.bits().to_le_bytes());
        file.write_all(&words.collect::<Vec<u8>>())?;
    }
    Ok(file.sync_all()?)
}

/// Seconds to read a file the way scans read blocks: pieces are asked for as far ahead as
/// the prefetch depth goes, and waited for one after the other.
fn sequence(file: &Arc<dyn ReadFile>, prefetcher: &Arc<Prefetcher>) -> Result<f64> {
    let options = prefetcher.options();
    let window = (options.unit_bytes * options.depth) as u64;
    let start = Instant::now();
    let pieces = PrefetchFile::new(Arc::clone(file), Arc::clone(prefetcher));
    let mut asked = 0;
    for at in (0..file.len()).step_by(STRIDE as usize) {
        while asked < file.len().min(at + window) {
            pieces.prefetch(asked..asked + STRIDE, 1, Box::new(()));
            asked += STRIDE;
        }
        black_box(pieces.read(at, STRIDE as usize)?);
    }
    Ok(start.elapsed().as_secs_f64())
}

fn median(pass: &mut dyn FnMut() -> Result<f64>) -> Result<f64> {
    let mut all = (0..PASSES).map(|_| pass()).collect::<Result<Vec<f64>>>()?;
    all.sort_by(f64::total_cmp);
    Ok(all[PASSES / 2])
}

/// Has the system forget what it knows of a file, as far as it does.
fn forget(file: &File) -> Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed).map_err(std::io::Error::from)?)
}

/// Whether files of a directory are in memory, as those of tmpfs: then no disk is measured.
///
/// # Errors
/// If there is no such directory.
pub fn is_in_memory(directory: &Path) -> Result<bool> {
    let found = statfs(directory).map_err(std::io::Error::from)?;
    // In range: the numbers of file systems have 32 bits.
    Ok(IN_MEMORY.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

/// Has the system forget all files of a directory.
pub(crate) fn forget_all(directory: &Path) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        match path.is_dir() {
            true => forget_all(&path)?,
            false => forget(&File::open(&path)?)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_in_memory_are_known() {
        assert!(!is_in_memory(Path::new("/proc")).unwrap());
        assert!(is_in_memory(Path::new("/no/such/directory")).is_err());
        // Not every system has one.
        let shared = Path::new("/dev/shm");
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
        if mounts.contains(" /dev/shm tmpfs ") {
            assert!(is_in_memory(shared).unwrap());
        }
    }

    /// Every piece is read, also those beyond the window.
    #[test]
    fn a_disk_is_measured() {
        let place = tempfile::tempdir().unwrap();
        let found = measured(place.path(), 9 * STRIDE).unwrap();
        assert!(found.bandwidth > 0.0 && found.seek > 0.0);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
