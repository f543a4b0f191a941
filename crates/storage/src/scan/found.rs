//! Rows that a look-up has found.

use crate::delta::arrays;
use crate::error::{Error, Result};
use crate::ids::RowId;
use crate::row::{Row, cell};
use crate::schema::Column;
use arrow_array::ArrayRef;
use arrow_select::concat::concat;

/// The rows that a look-up has found, in the order in which it found them.
#[derive(Debug, Default)]
pub struct FoundRows {
    pieces: Vec<Piece>,
}

/// Rows that were found one after the other.
#[derive(Debug)]
enum Piece {
    /// One by one.
    Rows(Vec<(RowId, Row)>),
    /// Many at once, as columns.
    Batch(Vec<RowId>, Vec<ArrayRef>),
}

impl FoundRows {
    /// How many there are.
    pub fn len(&self) -> usize {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Rows(rows) => rows.len(),
            Piece::Batch(ids, _) => ids.len(),
        });
        pieces.sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn push(&mut self, id: RowId, row: Row) {
        match self.pieces.last_mut() {
            Some(Piece::Rows(rows)) => rows.push((id, row)),
            _ => self.pieces.push(Piece::Rows(vec![(id, row)])),
        }
    }

    pub(super) fn push_batch(&mut self, ids: Vec<RowId>, columns: Vec<ArrayRef>) {
        if !ids.is_empty() {
            self.pieces.push(Piece::Batch(ids, columns));
        }
    }

    /// Adds the rows of another look-up.
    pub fn extend(&mut self, other: FoundRows) {
        self.pieces.extend(other.pieces);
    }

    /// Adds rows one by one.
    pub fn extend_rows(&mut self, rows: Vec<(RowId, Row)>) {
        match self.pieces.last_mut() {
            Some(Piece::Rows(known)) => known.extend(rows),
            _ => self.pieces.push(Piece::Rows(rows)),
        }
    }

    /// All of them one by one.
    pub fn into_rows(self) -> Vec<(RowId, Row)> {
        let mut all = Vec::new();
        for piece in self.pieces {
            match piece {
                Piece::Rows(rows) if all.is_empty() => all = rows,
                Piece::Rows(rows) => all.extend(rows),
                Piece::Batch(ids, columns) => {
                    all.extend(ids.into_iter().enumerate().map(|(at, id)| {
                        let values = columns.iter().map(|column| cell(column, at));
                        (id, values.collect())
                    }));
                }
            }
        }
        all
    }

    /// Their ids, and an array for each of the `columns` that the look-up read.
    ///
    /// # Errors
    /// 42804 for a value that is none of its column; `Corrupt` for values of over 2 GiB.
    pub fn into_columns<'c>(
        self,
        columns: impl IntoIterator<Item = &'c Column> + Clone,
    ) -> Result<(Vec<RowId>, Vec<ArrayRef>)> {
        let mut batches: Vec<(Vec<RowId>, Vec<ArrayRef>)> = Vec::with_capacity(self.pieces.len());
        for piece in self.pieces {
            batches.push(match piece {
                Piece::Rows(rows) => {
                    let (ids, rows): (Vec<RowId>, Vec<Row>) = rows.into_iter().unzip();
                    (ids, arrays(columns.clone(), &rows)?)
                }
                Piece::Batch(ids, columns) => (ids, columns),
            });
        }
        if batches.is_empty() {
            return Ok((Vec::new(), arrays(columns, &[])?));
        }
        if batches.len() == 1
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
