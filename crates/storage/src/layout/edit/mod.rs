//! Pages that change: updates, inserts and deletes in place (P5).
//!
//! Blocks of the database are immutable; changed rows live elsewhere until a
//! block is written anew. Experiments compare how pages of both kinds take
//! updates, as Ailamaki et al. did (section 4.2 of their paper): there is an
//! editor for PAX pages and one for slotted pages, over the bytes of one page
//! with plain values, and a [`PageFile`] of pages on which a record that no
//! longer fits its page moves to another.
//!
//! | | PAX page | slotted page |
//! |---|---|---|
//! | value fits | later values of its minipage move | the record shrinks in its place |
//! | longer value | space is borrowed from other minipages, near ones first | the record is rewritten in the free space, the page compacted if that helps |
//! | page is full | the record moves to another page | the same |
//! | delete | a bitmap of deleted records | the record's slot is freed |
//!
//! A record keeps its number on its page whatever happens to others. Values are
//! the bytes that a page has for them: little-endian numbers, text as UTF-8; the
//! editors do not look into them.

mod file;
#[cfg(test)]
mod tests;

pub use file::{PageFile, UpdateCounts};

use crate::error::{Error, Result};
use crate::schema::Column;

/// What an editor knows of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageColumn {
    /// Bytes of a value, 1 to 255; `None` when they vary.
    pub width: Option<usize>,
    /// Whether values may be NULL.
    pub nullable: bool,
}

impl PageColumn {
    /// The form of a column's values where no codec is used.
    pub fn of(column: &Column) -> PageColumn {
        PageColumn {
            width: column.kind.physical().width(),
            nullable: column.nullable,
        }
    }
}

/// When the place of a deleted record is filled by those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// With the delete.
    Now,
    /// When [`PageEditor::compact`] is called, or an update or insert needs the room.
    Deferred,
}

/// What an update on a page took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageUpdate {
    /// The value went where the old one was; what follows it in its minipage or
    /// record moved at most.
    InPlace,
    /// The record was written anew in the free space of its slotted page.
    Rewritten,
    /// The page was reorganised: minipage boundaries moved, or gaps between
    /// records closed.
    Reorganised,
    /// No record was changed: the page has no room for the value.
    NoRoom,
}

/// The bytes of one page, and ways to change its records.
///
/// Records have numbers, counted from 0. Unless a method says otherwise, it
/// fails with 22023 for a record or column that the page has not, and for a
/// value of another length than the column's.
pub trait PageEditor: Sized {
    /// What all pages of a table have in common.
    type Form: Clone + std::fmt::Debug;

    /// The form of pages of these columns, the largest of which has
    /// `largest_page` bytes.
    ///
    /// # Errors
    /// 54000 for no or too many columns, or widths out of range.
    fn form(columns: &[PageColumn], largest_page: usize) -> Result<Self::Form>;

    /// A page without records, of `page_bytes`.
    ///
    /// # Errors
    /// 54000 if the header is larger, or the page than 2 GiB.
    fn empty(form: &Self::Form, page_bytes: usize, compaction: Compaction) -> Result<Self>;

    /// A page of a block, all of whose columns are stored without a codec.
    ///
    /// # Errors
    /// `Corrupt` if header, slots, presence bits or end offsets are wrong.
    fn open(form: &Self::Form, page: Vec<u8>, compaction: Compaction) -> Result<Self>;

    /// The page as it is. Readers of blocks understand it as long as no record
    /// is deleted; [`PageEditor::packed`] is for them in any case.
    fn bytes(&self) -> &[u8];

    /// The page as a block would have it: the records that are not deleted, in
    /// order and without gaps, numbered anew. Its header says 0 if none is left.
    fn packed(&self) -> Vec<u8>;

    /// How many record numbers the page knows, those of deleted records included.
    fn numbers(&self) -> usize;

    /// Whether a record has this number and is not deleted.
    fn has(&self, record: usize) -> bool;

    /// The bytes of a value; `None` for NULL.
    ///
    /// # Errors
    /// See the trait.
    fn value(&self, record: usize, column: usize) -> Result<Option<&[u8]>>;

    /// Gives a record another value of one column.
    ///
    /// # Errors
    /// See the trait; 23502 for NULL in a column that may not be, 54000 if an
    /// empty page of this size could not hold the record either. Nothing is
    /// changed then.
    fn update(&mut self, record: usize, column: usize, value: Option<&[u8]>) -> Result<PageUpdate>;

    /// Adds a record and returns its number; `None`, and no change, if the page
    /// has no room.
    ///
    /// # Errors
    /// As [`PageEditor::update`]; 22023 also for another number of values than
    /// columns.
    fn insert(&mut self, values: &[Option<&[u8]>]) -> Result<Option<usize>>;

    /// Deletes a record.
    ///
    /// # Errors
    /// See the trait.
    fn delete(&mut self, record: usize) -> Result<()>;

    /// Closes the gaps that deleted records, or rewritten ones, have left.
    fn compact(&mut self);
}

/// Checks columns before a form is made of them.
pub(super) fn check_columns(columns: &[PageColumn]) -> Result<()> {
    if columns.is_empty() || columns.len() > usize::from(u16::MAX) {
        let message = format!("a page cannot have {} columns", columns.len());
        return Err(Error::invalid("54000", message));
    }
    let wide = |column: &&PageColumn| !matches!(column.width, None | Some(1..=255));
    match columns.iter().find(wide) {
        Some(column) => {
            let message = format!("a value of {:?} bytes on a page", column.width);
            Err(Error::invalid("54000", message).with_hint("Widths are 1 to 255 bytes."))
        }
        None => Ok(()),
    }
}

/// Checks the size of a page with `header` bytes before its records.
pub(super) fn check_page_bytes(page_bytes: usize, header: usize) -> Result<()> {
    if page_bytes < header || i32::try_from(page_bytes).is_err() {
        let message = format!("a page of {page_bytes} bytes, {header} of them its header");
        return Err(Error::invalid("54000", message));
    }
    Ok(())
}

/// Checks a value against its column.
pub(super) fn check_value(
    columns: &[PageColumn],
    column: usize,
    value: Option<&[u8]>,
) -> Result<()> {
    let form = columns.get(column).ok_or_else(|| no_column(column))?;
    match (value, form.width) {
        (None, _) if !form.nullable => Err(Error::invalid(
            "23502",
            format!("NULL in column {column}, which is NOT NULL"),
        )),
        (Some(value), Some(width)) if value.len() != width => Err(Error::invalid(
            "22023",
            format!("{} bytes for column {column} of {width}", value.len()),
        )),
        _ => Ok(()),
    }
}

/// Checks the values of a record against the columns.
pub(super) fn check_record(columns: &[PageColumn], values: &[Option<&[u8]>]) -> Result<()> {
    if columns.len() != values.len() {
        let message = format!("{} values for {} columns", values.len(), columns.len());
        return Err(Error::invalid("22023", message));
    }
    let mut numbered = values.iter().enumerate();
    numbered.try_for_each(|(column, value)| check_value(columns, column, *value))
}

/// There is no such column.
pub(super) fn no_column(column: usize) -> Error {
    Error::invalid("22023", format!("there is no column {column}"))
}

/// There is no such record.
pub(super) fn no_record(record: usize) -> Error {
    Error::invalid("22023", format!("there is no record {record}"))
}

/// An empty page of `page` bytes has not the `needed` ones.
pub(super) fn too_large(needed: usize, page: usize) -> Error {
    let message = format!("a record that needs {needed} bytes of a page of {page}");
    Error::invalid("54000", message).with_hint("Choose larger pages.")
}

/// A field of four bytes of a page header.
pub(super) fn word(page: &[u8], at: usize) -> usize {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&page[at..at + 4]);
    u32::from_le_bytes(bytes) as usize
}

/// Writes a field of four bytes; pages are under 2 GiB, so that it fits.
pub(super) fn put_word(page: &mut [u8], at: usize, value: usize) {
    page[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
}
