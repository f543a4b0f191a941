//! A file of pages, in memory, on which records can move to another page.

use super::{Compaction, PageColumn, PageEditor, PageUpdate, no_record};
use crate::error::{Error, Result};
use crate::format::Writer;
use crate::layout::pages::{on_page, read_directory};

/// How many updates took what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateCounts {
    /// Updates [`PageUpdate::InPlace`].
    pub in_place: u64,
    /// Updates [`PageUpdate::Rewritten`].
    pub rewritten: u64,
    /// Updates [`PageUpdate::Reorganised`].
    pub reorganised: u64,
    /// Updates for which the record moved to another page.
    pub moved: u64,
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RecordPlace {
    page: u32,
    /// Its number on the page.
    number: u32,
}

/// Pages of one size and form, and where each record is on them.
///
/// Records are numbered in the order in which they came, from 0. A record that
/// moves to another page keeps its number: a table forwards from it to the
/// place. New and moved records go to the last page, then to a new one; room on
/// the pages before is left to the updates of their own records.
#[derive(Debug)]
pub struct PageFile<E: PageEditor> {
    form: E::Form,
    columns: usize,
    page_bytes: usize,
    compaction: Compaction,
    pages: Vec<E>,
    /// By record; `None` when it was deleted.
    places: Vec<Option<RecordPlace>>,
    counts: UpdateCounts,
}

impl<E: PageEditor> PageFile<E> {
    /// A file without records whose pages have `page_bytes`.
    ///
    /// # Errors
    /// 54000 if no page can have such columns.
    pub fn new(
        columns: &[PageColumn],
        page_bytes: usize,
        compaction: Compaction,
    ) -> Result<PageFile<E>> {
        Self::with_largest(columns, page_bytes, compaction, page_bytes)
    }

    fn with_largest(
        columns: &[PageColumn],
        page_bytes: usize,
        compaction: Compaction,
        largest: usize,
    ) -> Result<PageFile<E>> {
        Ok(PageFile {
            form: E::form(columns, largest)?,
            columns: columns.len(),
            page_bytes,
            compaction,
            pages: Vec::new(),
            places: Vec::new(),
            counts: UpdateCounts::default(),
        })
    }

    /// Opens the pages and the page directory of a block of `rows`, all of whose
    /// columns are stored without a codec.
    ///
    /// # Errors
    /// `Corrupt`, naming the page, as [`PageEditor::open`]; 54000 as
    /// [`PageFile::new`].
    pub fn open(
        columns: &[PageColumn],
        rows: usize,
        page_bytes: u32,
        pages: &[u8],
        directory: &[u8],
        compaction: Compaction,
    ) -> Result<PageFile<E>> {
        let entries = read_directory(directory, rows, page_bytes, pages.len())?;
        let sizes = entries.iter().map(|entry| entry.bytes.len());
        let largest = sizes.max().unwrap_or(0).max(page_bytes as usize);
        let mut file = Self::with_largest(columns, page_bytes as usize, compaction, largest)?;
        for (number, entry) in entries.into_iter().enumerate() {
            let bytes = pages[entry.bytes].to_vec();
            let page = E::open(&file.form, bytes, compaction)
                .and_then(|page| match page.numbers() == entry.rows as usize {
                    true => Ok(page),
                    false => Err(Error::corrupt("other rows than the directory says")),
                })
                .map_err(|error| on_page(error, number))?;
            file.pages.push(page);
            // In range: a section has under 2^32 bytes, and so fewer pages.
            file.places.extend((0..entry.rows).map(|on_page| {
                Some(RecordPlace {
                    page: number as u32,
                    number: on_page,
                })
            }));
        }
        Ok(file)
    }

    /// How many record numbers there are, those of deleted records included.
    pub fn records(&self) -> usize {
        self.places.len()
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// What the updates so far took.
    pub fn counts(&self) -> UpdateCounts {
        self.counts
    }

    fn place(&self, record: usize) -> Result<RecordPlace> {
        let place = self.places.get(record).copied().flatten();
        place.ok_or_else(|| no_record(record))
    }

    /// The bytes of a value; `None` for NULL.
    ///
    /// # Errors
    /// 22023 for a record or column that there is not.
    pub fn value(&self, record: usize, column: usize) -> Result<Option<&[u8]>> {
        let place = self.place(record)?;
        self.pages[place.page as usize].value(place.number as usize, column)
    }

    /// Gives a record another value of one column; [`PageUpdate::NoRoom`] says
    /// that it moved to another page.
    ///
    /// # Errors
    /// As [`PageEditor::update`], and nothing has changed.
    pub fn update(
        &mut self,
        record: usize,
        column: usize,
        value: Option<&[u8]>,
    ) -> Result<PageUpdate> {
        let place = self.place(record)?;
        let page = &mut self.pages[place.page as usize];
        let update = page.update(place.number as usize, column, value)?;
        match update {
            PageUpdate::InPlace => self.counts.in_place += 1,
            PageUpdate::Rewritten => self.counts.rewritten += 1,
            PageUpdate::Reorganised => self.counts.reorganised += 1,
            PageUpdate::NoRoom => {
                self.relocate(record, place, column, value)?;
                self.counts.moved += 1;
            }
        }
        Ok(update)
    }

    /// Moves a record, with its new value, to another page.
    fn relocate(
        &mut self,
        record: usize,
        from: RecordPlace,
        column: usize,
        value: Option<&[u8]>,
    ) -> Result<()> {
        let (page, number) = (from.page as usize, from.number as usize);
        let mut values: Vec<Option<Vec<u8>>> = Vec::with_capacity(self.columns);
        for column in 0..self.columns {
            values.push(self.pages[page].value(number, column)?.map(<[u8]>::to_vec));
        }
        let mut values: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
        values[column] = value;
        let to = self.put(&values)?;
        self.pages[page].delete(number)?;
        self.places[record] = Some(to);
        Ok(())
    }

    /// Adds a record and returns its number.
    ///
    /// # Errors
    /// As [`PageEditor::insert`].
    pub fn insert(&mut self, values: &[Option<&[u8]>]) -> Result<usize> {
        let place = self.put(values)?;
        self.places.push(Some(place));
        Ok(self.places.len() - 1)
    }

    /// Writes a record to the last page, or to a new one.
    fn put(&mut self, values: &[Option<&[u8]>]) -> Result<RecordPlace> {
        let last = self.pages.len().wrapping_sub(1);
        let found = match self.pages.get_mut(last) {
            Some(page) => page.insert(values)?,
            None => None,
        };
        let (page, number) = match found {
            Some(number) => (last, number),
            None => {
                let mut page = E::empty(&self.form, self.page_bytes, self.compaction)?;
                let number = page.insert(values)?.ok_or_else(|| {
                    Error::invalid("54000", "a record that an empty page has no room for")
                })?;
                self.pages.push(page);
                (self.pages.len() - 1, number)
            }
        };
        match (u32::try_from(page), u32::try_from(number)) {
            (Ok(page), Ok(number)) => Ok(RecordPlace { page, number }),
            _ => Err(Error::invalid("54000", "more than 2^32 pages or records")),
        }
    }

    /// Deletes a record.
    ///
    /// # Errors
    /// 22023 if there is none of this number.
    pub fn delete(&mut self, record: usize) -> Result<()> {
        let place = self.place(record)?;
        self.pages[place.page as usize].delete(place.number as usize)?;
        self.places[record] = None;
        Ok(())
    }

    /// Compacts every page: the periodic reorganisation of files whose deletes
    /// defer it.
    pub fn compact(&mut self) {
        self.pages.iter_mut().for_each(E::compact);
    }

    /// Pages and page directory as a block has them, for its readers: pages in
    /// order without deleted records, none without any.
    ///
    /// # Errors
    /// 54000 when the pages take over 2 GiB.
    pub fn packed(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        let (mut pages, mut directory, mut first) = (Vec::new(), Writer::default(), 0);
        for page in &self.pages {
            let records = (0..page.numbers()).filter(|record| page.has(*record));
            let records = records.count();
            if records > 0 {
                // In range: the pages so far have under 2 GiB, of a bit a record at least.
                directory.u32(pages.len() as u32);
                directory.u32(first);
                first += records as u32;
                pages.extend_from_slice(&page.packed());
            }
            if i32::try_from(pages.len()).is_err() {
                return Err(Error::invalid("54000", "more than 2 GiB of pages"));
            }
        }
        Ok((pages, directory.finish()))
    }
}
