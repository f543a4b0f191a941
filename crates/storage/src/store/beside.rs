//! The files of a database as a reader beside the writer sees them.

use super::recover::Recovered;
use super::{Place, follow, ids_of};
use crate::error::{Error, Result};
use crate::ids::BlockId;
use crate::io::{Files, LogFile, ReadFile};
use crate::manifest::Manifest;
use std::path::PathBuf;
use std::sync::Arc;

/// Files that somebody else may remove.
#[derive(Debug)]
pub(super) struct Beside {
    files: Arc<dyn Files>,
}

impl Beside {
    pub fn of(files: Arc<dyn Files>) -> Beside {
        Beside { files }
    }

    /// Whether the newest state of the database has a block.
    fn has_block(&self, id: BlockId) -> Result<bool> {
        let place = Place::new(self.files.clone(), &Manifest::default())?;
        let (Recovered { catalog, .. }, _) = follow::load(&Arc::new(place))?;
        Ok(ids_of(&catalog).contains(&id))
    }
}

/// The block that a file holds.
fn block_of(name: &str) -> Option<BlockId> {
    let number = name.strip_prefix("blocks/")?.strip_suffix(".block")?;
    number.parse().ok().map(BlockId)
}

impl Files for Beside {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>> {
        let opened = self.files.open(name);
        if let (Err(Error::Corrupt { .. }), Some(block)) = (&opened, block_of(name))
            && !self.has_block(block)?
        {
            let file = self.show(name);
            return Err(Error::Conflict {
                message: format!(
                    "the snapshot is too old: the writer has removed {file} meanwhile; try again"
                ),
            });
        }
        opened
    }

    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        self.files.write(name, parts)
    }

    fn log(&self, name: &str, bytes: u64) -> Result<Arc<dyn LogFile>> {
        self.files.log(name, bytes)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.files.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.files.remove(name)
    }

    fn list(&self, directory: &str) -> Result<Vec<String>> {
        self.files.list(directory)
    }

    fn sync_directory(&self, directory: &str) -> Result<()> {
        self.files.sync_directory(directory)
    }

    fn show(&self, name: &str) -> String {
        self.files.show(name)
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.files.roots()
    }
}
