//! The document's own program, CODB: for each column a file of values and one of keys
//! (C, sections II and IV).
//!
//! Where the document is silent: entries have no room to grow, as it speaks of a counter and
//! keys alone; keys are numbers in the order of writing; a request has the family for itself.
//! Where entries lie is kept in maps in memory, the document's "internal collections": it says
//! that looking for a value depends on how many there are, but in its table III throughput
//! with nothing but different values stays between 10,455 and 13,940 requests a second from
//! the first to the last of 50,000, which excludes a search through values or entries, while
//! with ten values it falls from 17,600 to 6,986: what grows are the keys of an entry. So a
//! request loads the entry that it asks for with all of its keys.

mod column;
mod file;
mod storage_map;

use self::column::Column;
use super::run::Records;
use super::workload::Workload;
use crate::error::{Error, Result};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// A column family of CODB.
#[derive(Debug)]
pub struct Codb(Mutex<Family>);

#[derive(Debug)]
struct Family {
    columns: Vec<Column>,
    records: u64,
}

impl Codb {
    /// A family without records in a directory.
    ///
    /// # Errors
    /// If files cannot be made there.
    pub fn new(directory: &Path, workload: &Workload) -> Result<Codb> {
        let columns = (0..workload.columns).map(|number| Column::new(directory, number));
        Ok(Codb(Mutex::new(Family {
            columns: columns.collect::<Result<_>>()?,
            records: 0,
        })))
    }

    fn family(&self) -> Result<MutexGuard<'_, Family>> {
        let poisoned = |_| Error::new("a thread of requests stopped", "");
        self.0.lock().map_err(poisoned)
    }
}

impl Family {
    /// The value that a record has in each column.
    fn read(&mut self, key: u64) -> Result<Vec<Option<Vec<u8>>>> {
        let columns = self.columns.iter_mut();
        columns.map(|column| column.find(key.into())).collect()
    }
}

impl Records for Codb {
    fn read(&self, chosen: u64) -> Result<()> {
        let mut family = self.family()?;
        // Without records it looks, too, and finds nothing.
        let key = chosen % family.records.max(1);
        std::hint::black_box(family.read(key)?);
        Ok(())
    }

    fn write(&self, entries: Vec<Vec<u8>>) -> Result<()> {
        let mut family = self.family()?;
        let key = family.records.into();
        for (column, entry) in family.columns.iter_mut().zip(&entries) {
            column.add(key, entry)?;
        }
        family.records += 1;
        Ok(())
    }

    fn bytes(&self) -> Result<u64> {
        let family = self.family()?;
        Ok(family
            .columns
            .iter()
            .map(|column| column.memory() as u64)
            .sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::workload::{Request, Requests};

    /// The records of a workload, as its generator made them.
    #[test]
    fn records_are_the_generators() {
        let place = tempfile::tempdir().unwrap();
        let workload = Workload {
            reads: 0.0,
            ..Workload::default()
        };
        let codb = Codb::new(place.path(), &workload).unwrap();
        codb.read(7).unwrap();
        let mut expected = Vec::new();
        for request in Requests::new(&workload, 3).take(300) {
            let Request::Write(entries) = request else {
                unreachable!("a workload of writes");
            };
            codb.write(entries.clone()).unwrap();
            expected.push(entries);
        }
        let mut family = codb.family().unwrap();
        for (key, entries) in (0..).zip(expected) {
            let found = family.read(key).unwrap();
            assert_eq!(found, entries.into_iter().map(Some).collect::<Vec<_>>());
        }
    }
}
