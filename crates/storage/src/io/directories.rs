//! Further directories for block files, so that scans read from several disks at once.
//!
//! The file `DIRECTORIES` of a database names them:
//!
//! ```text
//! {"version":1,"key":"<16 hex digits>","directories":["/disk2/sales","/disk3/sales"]}
//! ```
//!
//! Each of them holds a file `DATABASE` with that key, so that no two databases share one,
//! and block files in `blocks`. Block N goes to place N modulo the number of places,
//! the database's own directory being the first; it is looked for in all of them, so
//! places may be added.

use super::{Disk, Files};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};

const DIRECTORIES: &str = "DIRECTORIES";
const DRAFT: &str = "DIRECTORIES.draft";
const DATABASE: &str = "DATABASE";
const VERSION: u32 = 1;

/// The file as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Directories {
    version: u32,
    /// What the directories show that they belong to this database.
    key: String,
    #[serde(rename = "directories")]
    pub further: Vec<PathBuf>,
}

fn text(disk: &Disk, name: &str) -> Result<String> {
    let file = disk.open(name)?;
    let len = usize::try_from(file.len()).unwrap_or(usize::MAX);
    let bytes = file.read(0, len)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn has(disk: &Disk, name: &str) -> Result<bool> {
    Ok(disk.list("")?.iter().any(|known| known == name))
}

/// Writes a file whole, or not at all.
fn publish(disk: &Disk, (draft, name): (&str, &str), text: &str) -> Result<()> {
    disk.write(draft, &[text.as_bytes()])?;
    disk.rename(draft, name)?;
    disk.sync_directory("")
}

impl Directories {
    /// What a database says; `None` if it has no further directories.
    ///
    /// # Errors
    /// `Corrupt`, also for a newer version, or `Io`.
    pub fn load(disk: &Disk) -> Result<Option<Directories>> {
        if !has(disk, DIRECTORIES)? {
            return Ok(None);
        }
        let damaged = |why: String| Error::corrupt(why).at(&disk.show(DIRECTORIES), None, None);
        let known: Directories = serde_json::from_str(&text(disk, DIRECTORIES)?)
            .map_err(|error| damaged(error.to_string()))?;
        if known.version != VERSION {
            let version = known.version;
            return Err(damaged(format!(
                "version {version}; this program reads {VERSION}"
            )));
        }
        Ok(Some(known))
    }

    /// Adds directories that are not among them yet.
    ///
    /// # Errors
    /// 22023 for one that belongs to another database or cannot be named, `Full`, `Io`.
    pub fn add(disk: &Disk, more: &[PathBuf]) -> Result<()> {
        let mut known = match Directories::load(disk)? {
            Some(known) => known,
            None => {
                // The key comes first: a directory that is claimed belongs to somebody.
                let random = RandomState::new().hash_one(std::process::id());
                let known = Directories {
                    version: VERSION,
                    key: format!("{random:016x}"),
                    further: Vec::new(),
                };
                known.publish(disk)?;
                known
            }
        };
        let own = named(disk.root())?;
        for directory in more {
            let place = Disk::new(directory);
            place.create_directory("blocks")?;
            let directory = named(directory)?;
            if directory == own || known.further.contains(&directory) {
                continue;
            }
            known.claim(&place)?;
            known.further.push(directory);
        }
        known.publish(disk)
    }

    /// The directories that are there, for a database that may be damaged, and what is
    /// wrong with others; those are given up if it is `rewrite`.
    ///
    /// # Errors
    /// `Full` or `Io`.
    pub fn left(disk: &Disk, rewrite: bool) -> Result<(Vec<PathBuf>, Vec<String>)> {
        let mut damage = Vec::new();
        let loaded = match Directories::load(disk) {
            Err(error @ Error::Corrupt { .. }) => {
                damage.push(error.to_string());
                if rewrite {
                    disk.remove(DIRECTORIES)?;
                    disk.sync_directory("")?;
                }
                None
            }
            loaded => loaded?,
        };
        let Some(mut known) = loaded else {
            return Ok((Vec::new(), damage));
        };
        let all = std::mem::take(&mut known.further);
        for directory in all {
            match known.check(&Disk::new(&directory)) {
                Ok(()) => known.further.push(directory),
                Err(error) => damage.push(error.to_string()),
            }
        }
        if rewrite && !damage.is_empty() {
            known.publish(disk)?;
        }
        Ok((known.further, damage))
    }

    fn publish(&self, disk: &Disk) -> Result<()> {
        let text = serde_json::to_string(self);
        let text = text.map_err(|error| Error::invalid("22023", error.to_string()))?;
        publish(disk, (DRAFT, DIRECTORIES), &text)
    }

    /// Marks a directory as this database's.
    fn claim(&self, place: &Disk) -> Result<()> {
        if has(place, DATABASE)? {
            return self.check(place);
        }
        if !place.list("blocks")?.is_empty() || has(place, "FORMAT")? {
            return Err(taken(place));
        }
        publish(place, ("DATABASE.draft", DATABASE), &self.key)
    }

    /// Whether a directory is there, and this database's.
    ///
    /// # Errors
    /// 58P01 naming a directory that is not there, 22023 for one of another database.
    pub fn check(&self, place: &Disk) -> Result<()> {
        let missing = |_| {
            let directory = place.root().display();
            let message = format!("directory {directory} with blocks of the database is missing");
            Error::invalid("58P01", message)
                .with_hint("Mount or restore it; freestone salvage opens what is left without it.")
        };
        match text(place, DATABASE).map_err(missing)? == self.key {
            true => Ok(()),
            false => Err(taken(place)),
        }
    }
}

fn taken(place: &Disk) -> Error {
    let directory = place.root().display();
    Error::invalid(
        "22023",
        format!("directory {directory} belongs to another database"),
    )
    .with_hint("Give a directory that is empty or does not exist yet.")
}

/// The full name of a directory that is there.
fn named(directory: &Path) -> Result<PathBuf> {
    let name = directory.canonicalize();
    name.map_err(|e| Error::io(format!("cannot find {}", directory.display()), e))
}
