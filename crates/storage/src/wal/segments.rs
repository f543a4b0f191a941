//! Files of segments: their names, how they begin and what becomes of them.

use super::record::{HEAD_BYTES, Head};
use crate::error::{Error, Result};
use crate::io::{Files, LogFile, ReadFile};
use std::sync::Arc;

pub(super) const DIRECTORY: &str = "wal";
/// A segment before it has a head and a number.
const DRAFT: &str = "wal/draft";
/// The fewest files that are kept to become segments again.
const SPARES: usize = 2;
/// The most of them.
const SPARES_MOST: usize = 64;

/// A segment that no record will be added to.
#[derive(Debug)]
pub(super) struct Older {
    pub(super) number: u64,
    /// Bytes of its records, as far as they count.
    pub(super) records: u64,
    /// Bytes of its file.
    pub(super) file: u64,
}

/// Segments before the one that is written, and files for later ones.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    older: Vec<Older>,
    spares: Vec<String>,
}

/// A file that has no number yet.
#[derive(Debug)]
pub(super) struct Blank {
    name: String,
    pub(super) file: Arc<dyn LogFile>,
}

pub(super) fn name(number: u64) -> String {
    format!("{DIRECTORY}/{number}.log")
}

/// Numbers of the segments that are there, ascending.
pub(super) fn numbers(files: &dyn Files) -> Result<Vec<u64>> {
    let names = files.list(DIRECTORY)?;
    let number = |file: &String| {
        let number: u64 = file.strip_suffix(".log")?.parse().ok()?;
        // Not `007.log`, and none without a successor.
        (number < u64::MAX && *file == format!("{number}.log")).then_some(number)
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Opens a segment for reading; `None` if it is not there.
pub(super) fn open(files: &dyn Files, number: u64) -> Result<Option<Arc<dyn ReadFile>>> {
    match files.open(&name(number)) {
        Err(Error::Corrupt { .. }) => Ok(None),
        other => other.map(Some),
    }
}

/// Reads a segment's head.
pub(super) fn head(file: &dyn ReadFile, number: u64) -> Result<Head> {
    Head::decode(file.read(0, HEAD_BYTES as usize)?.as_slice(), number)
}

/// A `Corrupt` at an offset of a segment.
pub(super) fn damage(files: &dyn Files, number: u64, offset: u64, reason: &str) -> Error {
    let place = format!("offset {offset}");
    Error::corrupt(reason).at(&files.show(&name(number)), None, Some(&place))
}

/// Removes files that never became segments or checkpoints, or were to become some.
pub(super) fn tidy(files: &dyn Files) -> Result<()> {
    for name in files.list(DIRECTORY)? {
        let name = format!("{DIRECTORY}/{name}");
        if name == DRAFT || name.ends_with(".spare") || name.ends_with(".draft") {
            files.remove(&name)?;
        }
    }
    Ok(())
}

/// Gives a file a head and a number; all of it is durable then.
pub(super) fn publish(files: &dyn Files, blank: &Blank, head: &Head) -> Result<()> {
    blank.file.write_at(0, &head.encode())?;
    blank.file.sync()?;
    files.rename(&blank.name, &name(head.number))?;
    files.sync_directory(DIRECTORY)
}

impl Shelf {
    /// A shelf without spare files.
    pub(super) fn new(older: Vec<Older>) -> Self {
        Shelf {
            older,
            ..Shelf::default()
        }
    }

    /// Adds the segment that was written until now.
    pub(super) fn push(&mut self, segment: Older) {
        self.older.push(segment);
    }

    /// Counts the records before `number` no more.
    pub(super) fn pass(&mut self, number: u64) {
        let older = self.older.iter_mut();
        older
            .filter(|older| older.number < number)
            .for_each(|older| older.records = 0);
    }

    /// Bytes of the records that count, in all segments.
    pub(super) fn records(&self) -> u64 {
        self.older.iter().map(|segment| segment.records).sum()
    }

    /// Whether there is a segment before `number`.
    pub(super) fn any_before(&self, number: u64) -> bool {
        self.older
            .first()
            .is_some_and(|first| first.number < number)
    }

    /// A file of `segment_bytes`, or of `bytes` if those are more.
    ///
    /// # Errors
    /// `Full` or `Io`; then nothing has changed.
    pub(super) fn blank(
        &mut self,
        files: &dyn Files,
        segment_bytes: u64,
        bytes: u64,
    ) -> Result<Blank> {
        let spare = match bytes <= segment_bytes {
            true => self.spares.pop(),
            false => None,
        };
        let name = spare.unwrap_or_else(|| DRAFT.to_string());
        let file = files.log(&name, segment_bytes.max(bytes))?;
        Ok(Blank { name, file })
    }

    /// Removes or sets aside the segments before `number`: as many are kept as were needed since
    /// the ones before them were. A new file would be written twice, with zeros first, while
    /// commits wait. The caller syncs the directory before it keeps the names returned, by
    /// [`Shelf::keep`].
    pub(super) fn clear(
        &mut self,
        files: &dyn Files,
        segment_bytes: u64,
        number: u64,
    ) -> Result<Vec<String>> {
        let mut spares = Vec::new();
        let needed = self.older.iter().filter(|older| older.number < number);
        let most = needed.count().clamp(SPARES, SPARES_MOST);
        while let Some(segment) = self.older.first().filter(|older| older.number < number) {
            let old = name(segment.number);
            if segment.file == segment_bytes && self.spares.len() + spares.len() < most {
                let spare = format!("{DIRECTORY}/{}.spare", segment.number);
                files.rename(&old, &spare)?;
                spares.push(spare);
            } else {
                files.remove(&old)?;
            }
            self.older.remove(0);
        }
        Ok(spares)
    }

    /// Removes all spare files but the few that are always kept.
    pub(super) fn trim(&mut self, files: &dyn Files) -> Result<()> {
        while self.spares.len() > SPARES {
            if let Some(spare) = self.spares.pop() {
                files.remove(&spare)?;
            }
        }
        Ok(())
    }

    /// Keeps files for later segments.
    pub(super) fn keep(&mut self, spares: Vec<String>) {
        self.spares.extend(spares);
    }
}
