//! The databases that are open in this process: connections to one path share it, and it
//! closes with the last of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use freestone::{Database, Error, Result};

/// Where a database is, and whether it is open for reading only.
type Key = (PathBuf, bool);

struct Shared {
    database: Database,
    holders: usize,
}

fn all() -> MutexGuard<'static, HashMap<Key, Shared>> {
    static ALL: OnceLock<Mutex<HashMap<Key, Shared>>> = OnceLock::new();
    let all = ALL.get_or_init(Mutex::default);
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A hold on an open database.
pub struct Held {
    database: Option<Database>,
    key: Option<Key>,
}

impl Held {
    /// A new database in memory.
    pub fn in_memory() -> Self {
        Self {
            database: Some(Database::in_memory()),
            key: None,
        }
    }

    /// The database at `path`, opened unless it is.
    ///
    /// # Errors
    /// Those of opening it; `22023` for stripes of one that is open or only read.
    pub fn open(path: &Path, read_only: bool, stripes: &[PathBuf]) -> Result<Self> {
        let mut all = all();
        let key = (canonical(path), read_only);
        if let Some(shared) = all.get_mut(&key) {
            if !stripes.is_empty() {
                let message = "stripes can be given only by the first connection";
                return Err(Error::new("22023", message));
            }
            shared.holders += 1;
            return Ok(Self {
                database: Some(shared.database.clone()),
                key: Some(key),
            });
        }
        let database = match read_only {
            true => Database::open_read_only(path)?,
            false => Database::open_striped(path, stripes)?,
        };
        // Only now is there surely a directory.
        let key = (canonical(path), read_only);
        let shared = Shared {
            database: database.clone(),
            holders: 1,
        };
        all.insert(key.clone(), shared);
        Ok(Self {
            database: Some(database),
            key: Some(key),
        })
    }

    /// One hold more on the same database.
    pub fn again(&self) -> Self {
        if let Some(key) = &self.key
            && let Some(shared) = all().get_mut(key)
        {
            shared.holders += 1;
        }
        Self {
            database: self.database.clone(),
            key: self.key.clone(),
        }
    }

    /// The database; `None` never, but while it is given up.
    pub fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }
}

impl Drop for Held {
    /// The last hold closes the database before anybody else can ask for it.
    fn drop(&mut self) {
        let mut all = all();
        drop(self.database.take());
        let Some(key) = &self.key else {
            return;
        };
        if let Some(shared) = all.get_mut(key) {
            shared.holders -= 1;
            if shared.holders == 0 {
                drop(all.remove(key));
            }
        }
    }
}

/// The path without links and dots; of one that is not there yet, that of its folder.
fn canonical(path: &Path) -> PathBuf {
    let found = path.canonicalize().ok().or_else(|| {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    });
    found.unwrap_or_else(|| path.to_owned())
}
