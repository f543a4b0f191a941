//! Rows that a look-up has found.

use crate::delta::arrays;
use crate::error::{Error, Result};
use crate::ids::RowId;
use crate::row::{Row, cell};
use crate::schema::Column;
use arrow_array::ArrayRef;
use arrow_select::concat::concat;

/// The rows that a look-up has found: those of which a block gave many as columns, others one by
/// one.
#[derive(Debug, Default)]
pub struct FoundRows {
    batches: Vec<(Vec<RowId>, Vec<ArrayRef>)>,
    rows: Vec<(RowId, Row)>,
}

impl FoundRows {
    /// How many there are.
    pub fn len(&self) -> usize {
        let batches = self.batches.iter().map(|(ids, _)| ids.len());
        self.rows.len() + batches.sum::<usize>()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn push(&mut self, id: RowId, row: Row) {
        self.rows.push((id, row));
    }

    pub(super) fn push_batch(&mut self, ids: Vec<RowId>, columns: Vec<ArrayRef>) {
        if !ids.is_empty() {
            self.batches.push((ids, columns));
        }
    }

    /// Adds the rows of another look-up.
    pub fn extend(&mut self, other: FoundRows) {
        self.batches.extend(other.batches);
        self.rows.extend(other.rows);
    }

    /// Adds rows one by one.
    pub fn extend_rows(&mut self, rows: Vec<(RowId, Row)>) {
        match self.rows.is_empty() {
            true => self.rows = rows,
            false => self.rows.extend(rows),
        }
    }

    /// All of them one by one.
    pub fn into_rows(self) -> Vec<(RowId, Row)> {
        let mut rows = self.rows;
        for (ids, columns) in self.batches {
            rows.extend(ids.into_iter().enumerate().map(|(at, id)| {
                let values = columns.iter().map(|column| cell(column, at));
                (id, values.collect())
            }));
        }
        rows
    }

    /// Their ids, and an array for each of the `columns` that the look-up read.
    ///
    /// # Errors
    /// 42804 for a value that is none of its column; `Corrupt` for values of over 2 GiB.
    pub fn into_columns<'c>(
        self,
        columns: impl IntoIterator<Item = &'c Column>,
    ) -> Result<(Vec<RowId>, Vec<ArrayRef>)> {
        let mut batches = self.batches;
        if !self.rows.is_empty() || batches.is_empty() {
            let (ids, rows): (Vec<RowId>, Vec<Row>) = self.rows.into_iter().unzip();
            batches.push((ids, arrays(columns, &rows)?));
        }
        if let [_] = batches.as_slice()
            && let Some(only) = batches.pop()
        {
            return Ok(only);
        }
        let width = batches.first().map_or(0, |(_, columns)| columns.len());
        let column = |at: usize| {
            let parts: Vec<_> = batches.iter().map(|(_, columns)| &*columns[at]).collect();
            concat(&parts).map_err(|error| Error::corrupt(error.to_string()))
        };
        let columns = (0..width).map(column).collect::<Result<Vec<ArrayRef>>>()?;
        let ids = batches.into_iter().flat_map(|(ids, _)| ids).collect();
        Ok((ids, columns))
    }
}
