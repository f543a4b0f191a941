//! All records of a directory.

use super::Record;
use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// All records of a directory.
#[derive(Debug, Default)]
pub struct Records {
    /// Those that can be read, by the names of their files.
    pub whole: Vec<Record>,
    /// What is wrong with the others.
    pub damaged: Vec<Error>,
}

impl Records {
    /// Reads every `.json` file of a directory.
    ///
    /// # Errors
    /// If the directory cannot be read or has no such file. Damaged files are no error here.
    pub fn read(directory: &Path) -> Result<Records> {
        let hint = "`freestone lab run all --quick` makes records; --out says where";
        let name = directory.display();
        let entries = fs::read_dir(directory).map_err(|error| {
            Error::new(format!("cannot read the directory {name}: {error}"), hint)
        })?;
        let paths = entries.flatten().map(|entry| entry.path());
        let is_json = |path: &PathBuf| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        };
        let mut paths: Vec<PathBuf> = paths.filter(is_json).collect();
        paths.sort();
        if paths.is_empty() {
            return Err(Error::new(
                format!("{name} has no records of experiments"),
                hint,
            ));
        }
        let mut records = Records::default();
        for path in paths {
            match Record::read(&path) {
                Ok(record) => records.whole.push(record),
                Err(error) => records.damaged.push(error),
            }
        }
        Ok(records)
    }
}
