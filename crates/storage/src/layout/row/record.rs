//! The values of one record of a slotted page, and how to change them.

use super::shape::Shape;
use crate::error::{Error, Result};
use crate::layout::book::Form;
use crate::layout::edit::PageColumn;
use std::ops::Range;

/// The form of the records of a table.
#[derive(Debug)]
pub struct RecordForm {
    /// The columns.
    pub(super) columns: Vec<PageColumn>,
    /// Where each begins in a record.
    pub(super) shape: Shape,
    /// By column, the last one of varying length before it.
    before: Vec<Option<usize>>,
}

impl RecordForm {
    /// Of records whose end offsets have `end_bytes`.
    pub(super) fn new(columns: &[PageColumn], end_bytes: usize) -> RecordForm {
        let forms: Vec<Form> = columns
            .iter()
            .map(|column| column.width.map_or(Form::Variable, Form::Fixed))
            .collect();
        let mut last = None;
        let before = columns.iter().enumerate().map(|(number, column)| {
            let before = last;
            last = if column.width.is_none() {
                Some(number)
            } else {
                last
            };
            before
        });
        RecordForm {
            before: before.collect(),
            columns: columns.to_vec(),
            shape: Shape::slotted(&forms, end_bytes),
        }
    }

    /// Where in a record the value of a column lies, NULL or not.
    pub(super) fn span(&self, record: &[u8], column: usize) -> Range<usize> {
        match (self.columns[column].width, self.before[column]) {
            (Some(width), _) => {
                let start = self.shape.offsets[column] / 8;
                start..start + width
            }
            (None, before) => {
                let end = |column| self.shape.end(record, 0, column);
                before.map_or(self.shape.width, end)..end(column)
            }
        }
    }

    /// The values of varying length, with their columns; empty for NULL.
    pub(super) fn varying<'a>(
        &self,
        values: &[Option<&'a [u8]>],
    ) -> impl Iterator<Item = (usize, &'a [u8])> {
        let columns = self.columns.iter().zip(values).enumerate();
        columns
            .filter(|(_, (column, _))| column.width.is_none())
            .map(|(number, (_, value))| (number, value.unwrap_or(&[])))
    }

    /// Checks that the end offsets of a record ascend within it.
    pub(super) fn check(&self, record: &[u8]) -> Result<()> {
        let columns = self.columns.iter().enumerate();
        for (column, _) in columns.filter(|(_, column)| column.width.is_none()) {
            let value = self.span(record, column);
            if value.end < value.start || value.end > record.len() {
                return Err(Error::corrupt(format!(
                    "a value at {value:?} of a record of {} bytes",
                    record.len()
                )));
            }
        }
        Ok(())
    }

    /// The bytes of a record, `size` of them.
    pub(super) fn record(&self, values: &[Option<&[u8]>], size: usize) -> Vec<u8> {
        let mut record = Vec::with_capacity(size);
        record.resize(self.shape.width, 0);
        for (column, value) in self.varying(values) {
            record.extend_from_slice(value);
            let end = record.len();
            self.shape.put_end(&mut record, column, end);
        }
        // Their places are there now; this sets presence bits and fixed values.
        for (column, value) in values.iter().enumerate() {
            self.put(&mut record, size, column, *value);
        }
        record
    }

    /// Writes a value into a record of `len` bytes, which have room for it, and
    /// returns how many it has then. Values after it move.
    pub(super) fn put(
        &self,
        record: &mut [u8],
        len: usize,
        column: usize,
        value: Option<&[u8]>,
    ) -> usize {
        let bit = 1 << (column % 8);
        match value {
            Some(_) => record[column / 8] |= bit,
            None => record[column / 8] &= !bit,
        }
        let old = self.span(record, column);
        if self.columns[column].width.is_some() {
            match value {
                Some(value) => record[old].copy_from_slice(value),
                None => record[old].fill(0),
            }
            return len;
        }
        let new = value.unwrap_or(&[]);
        record.copy_within(old.end..len, old.start + new.len());
        record[old.start..old.start + new.len()].copy_from_slice(new);
        if new.len() != old.len() {
            let later =
                (column..self.columns.len()).filter(|later| self.columns[*later].width.is_none());
            for later in later {
                let end = self.shape.end(record, 0, later) + new.len() - old.len();
                self.shape.put_end(record, later, end);
            }
        }
        len + new.len() - old.len()
    }
}
