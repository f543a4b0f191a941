//! Whether there is a PostgreSQL, and whether it can be used.

use rustix::process::geteuid;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Whom the server runs as where we are root, which it refuses to be.
pub(super) const SOMEBODY: &str = "postgres";
/// Where Debian keeps the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The directory of PostgreSQL's programs, of the newest version that is installed.
///
/// # Errors
/// Why a server cannot have its files below the directory `place`, and what would mend it.
pub fn usable(place: &Path) -> Result<PathBuf, String> {
    let missing = "PostgreSQL is not installed (on Debian, apt-get install postgresql)";
    let programs = programs().ok_or(missing)?;
    match geteuid().is_root().then(|| closed(place)).flatten() {
        None => Ok(programs),
        Some(closed) => Err(format!(
            "PostgreSQL does not run as root, and the user {SOMEBODY} may not enter {} (choose \
             another directory with --out)",
            closed.display()
        )),
    }
}

/// The directory among this one and those above it that others may not enter.
fn closed(place: &Path) -> Option<PathBuf> {
    let place = fs::canonicalize(place).ok()?;
    let is_closed = |directory: &&Path| {
        let metadata = fs::metadata(directory);
        metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o001 == 0)
    };
    place.ancestors().find(is_closed).map(Path::to_path_buf)
}

fn programs() -> Option<PathBuf> {
    let has = |folder: &PathBuf| {
        ["initdb", "pg_ctl"]
            .iter()
            .all(|one| folder.join(one).is_file())
    };
    let path = env::var_os("PATH").unwrap_or_default();
    let version = |folder: &PathBuf| folder.file_name()?.to_str()?.parse::<u32>().ok();
    let kept = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = kept.map(|entry| entry.path()).collect();
    versions.sort_by_key(version);
    let versions = versions.into_iter().rev().map(|folder| folder.join("bin"));
    versions.chain(env::split_paths(&path)).find(has)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions};

    #[test]
    fn closed_directories_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let outer = fs::canonicalize(folder.path()).unwrap();
        let inner = outer.join("inner");
        fs::create_dir(&inner).unwrap();
        let allow =
            |place: &Path, mode| set_permissions(place, Permissions::from_mode(mode)).unwrap();
        allow(&outer, 0o711);
        allow(&inner, 0o700);
        assert_eq!(closed(&inner), Some(inner.clone()));
        allow(&inner, 0o711);
        assert!(closed(&inner).is_none_or(|closed| !closed.starts_with(&outer)));
    }
}
