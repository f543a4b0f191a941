//! Files out of the system's page cache.

use crate::error::Result;
use rustix::fs::{Advice, fadvise};
use std::fs::{self, File};
use std::path::Path;

/// Tells the system to forget all files below a directory, written back first.
///
/// # Errors
/// If a file cannot be opened or written back.
pub(super) fn forget(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            forget(&entry.path())?;
        } else if kind.is_file() {
            let file = File::open(entry.path())?;
            file.sync_all()?;
            fadvise(&file, 0, None, Advice::DontNeed).map_err(std::io::Error::from)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("file"), [7; 10_000]).unwrap();
        forget(folder.path()).unwrap();
        assert_eq!(fs::read(inner.join("file")).unwrap(), [7; 10_000]);
        assert!(forget(&folder.path().join("nowhere")).is_err());
    }
}
