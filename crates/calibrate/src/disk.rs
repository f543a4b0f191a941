//! The disk that a directory is on.

use crate::{Random, Result};
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

/// Bytes of the file that is read.
const BYTES: u64 = 256 << 20;
/// Bytes read at once in sequence.
const STRIDE: usize = 1 << 20;
/// Bytes read at random places.
const PAGE: usize = 4096;
/// Random places.
const PLACES: u64 = 512;

/// What a disk does.
pub(crate) struct Disk {
    /// Bytes a second in sequence.
    pub bandwidth: f64,
    /// Seconds until it delivers from another place.
    pub seek: f64,
}

/// Measures by a file that the system does not remember.
pub(crate) fn measure(directory: &Path) -> Result<Disk> {
    let mut file = tempfile::tempfile_in(directory)?;
    let mut random = Random::new(2);
    let part: Vec<u8> = (0..STRIDE / 8)
        .flat_map(|_| random.bits().to_le_bytes())
        .collect();
    for _ in 0..BYTES / STRIDE as u64 {
        file.write_all(&part)?;
    }
    file.sync_all()?;
    let mut buffer = vec![0; STRIDE];
    forget(&file)?;
    let start = Instant::now();
    for at in (0..BYTES).step_by(STRIDE) {
        file.read_exact_at(&mut buffer, at)?;
    }
    let bandwidth = BYTES as f64 / start.elapsed().as_secs_f64();
    forget(&file)?;
    fadvise(&file, 0, None, Advice::Random).map_err(std::io::Error::from)?;
    let start = Instant::now();
    for _ in 0..PLACES {
        let at = random.below(BYTES / PAGE as u64) * PAGE as u64;
        file.read_exact_at(&mut buffer[..PAGE], at)?;
    }
    let seek = start.elapsed().as_secs_f64() / PLACES as f64;
    Ok(Disk { bandwidth, seek })
}

/// Has the system forget what it knows of a file, as far as it does.
pub(crate) fn forget(file: &File) -> Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed).map_err(std::io::Error::from)?)
}
