//! Tuples on their way into a delta or a log.

use super::keys::stored_key;
use super::tuple::TupleShape;
use crate::codec::{Dense, Views, fixed_to_arrow};
use crate::error::{Error, Result};
use crate::row::Row;
use crate::schema::{Column, Physical, TableSchema, Value};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;

/// Tuples of one shape, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TupleBatch {
    bytes: Vec<u8>,
    /// End of each tuple.
    ends: Vec<usize>,
}

impl TupleBatch {
    /// The rows of a batch whose columns are the table's.
    ///
    /// # Errors
    /// 22003 for a decimal beyond its precision, 54000 for a row of over 2 GiB.
    pub fn of(schema: &TableSchema, shape: &TupleShape, batch: &RecordBatch) -> Result<TupleBatch> {
        let columns = schema.columns.iter().zip(batch.columns());
        let columns = columns.map(|(column, array)| Dense::from_arrow(array, column));
        let columns = columns.collect::<Result<Vec<Dense>>>()?;
        let mut tuples = TupleBatch::default();
        for row in 0..batch.num_rows() {
            shape.encode(&columns, row, &mut tuples.bytes)?;
            tuples.ends.push(tuples.bytes.len());
        }
        Ok(tuples)
    }

    /// Rows that have a value for each of `columns`.
    ///
    /// # Errors
    /// 42804 for a value that is none of its column, 54000 for a row of over 2 GiB.
    pub fn of_rows(columns: &[Column], shape: &TupleShape, rows: &[Row]) -> Result<TupleBatch> {
        let mut tuples = TupleBatch::default();
        tuples.ends.reserve_exact(rows.len());
        let mut stored = Vec::with_capacity(columns.len());
        for row in rows {
            stored.clear();
            for (value, column) in row.iter().zip(columns) {
                let Some(value) = value else {
                    stored.push(None);
                    continue;
                };
                let bytes = stored_key(value, column.kind.physical()).ok_or_else(|| {
                    let message = format!("column \"{}\" cannot hold {value}", column.name);
                    Error::invalid("42804", message)
                })?;
                stored.push(Some(bytes));
            }
            shape.encode_stored(&stored, &mut tuples.bytes)?;
            tuples.ends.push(tuples.bytes.len());
        }
        Ok(tuples)
    }

    /// Makes room for so many more tuples and bytes.
    pub fn reserve(&mut self, tuples: usize, bytes: usize) {
        self.ends.reserve_exact(tuples);
        self.bytes.reserve_exact(bytes);
    }

    /// Appends one tuple.
    pub fn push(&mut self, tuple: &[u8]) {
        self.bytes.extend_from_slice(tuple);
        self.ends.push(self.bytes.len());
    }

    /// How many tuples.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all tuples.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Each tuple.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.ends.len()).map(|row| {
            let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.bytes[start..self.ends[row]]
        })
    }

    /// Tuples from a file, of which there are `count`, each after its length in four bytes.
    ///
    /// # Errors
    /// `Corrupt` if one is not of `shape`.
    pub fn read(
        reader: &mut crate::format::Reader<'_>,
        shape: &TupleShape,
        count: u32,
    ) -> Result<TupleBatch> {
        let mut tuples = TupleBatch::default();
        for row in 0..count {
            let len = reader.u32()? as usize;
            let tuple = reader.take(len)?;
            shape
                .check(tuple)
                .map_err(|error| Error::corrupt(format!("row {row}: {error}")))?;
            tuples.push(tuple);
        }
        Ok(tuples)
    }

    /// Appends the tuples as [`TupleBatch::read`] reads them.
    pub fn write(&self, writer: &mut crate::format::Writer) {
        for tuple in self.iter() {
            // In range: the shape refuses rows of over 2 GiB.
            writer.u32(tuple.len() as u32);
            writer.put(tuple);
        }
    }
}

/// An array for each of `columns`, of rows that have a value for each.
///
/// # Errors
/// 42804 for a value that is none of its column; `Corrupt` for text that is not UTF-8 and for values
/// of over 2 GiB.
pub fn arrays<'c>(
    columns: impl IntoIterator<Item = &'c Column>,
    rows: &[Row],
) -> Result<Vec<ArrayRef>> {
    let columns = columns.into_iter().enumerate();
    let arrays = columns.map(|(at, column)| {
        let values = rows.iter().map(|row| row.get(at).and_then(Option::as_ref));
        array(column, values)
    });
    arrays.collect()
}

fn array<'v>(
    column: &Column,
    values: impl ExactSizeIterator<Item = Option<&'v Value>> + Clone,
) -> Result<ArrayRef> {
    let (count, physical) = (values.len(), column.kind.physical());
    let is_whole = values.clone().all(|value| value.is_some());
    let nulls = (!is_whole).then(|| values.clone().map(|value| value.is_some()).collect());
    let stored = |value: &'v Value| {
        stored_key(value, physical).ok_or_else(|| {
            let message = format!("column \"{}\" cannot hold {value}", column.name);
            Error::invalid("42804", message)
        })
    };
    if let Physical::Bytes { text } = physical {
        let (mut bytes, mut places) = (Vec::new(), Vec::with_capacity(count));
        for value in values {
            let start = bytes.len();
            if let Some(value) = value {
                bytes.extend_from_slice(&stored(value)?);
            }
            places.push(start..bytes.len());
        }
        let views = Views::new(Buffer::from_vec(bytes), places.into_iter(), text)?;
        return Ok(views.slice(0..count, nulls));
    }
    let width = physical.width().unwrap_or_default();
    let mut bytes = Vec::with_capacity(count * width);
    for value in values {
        match value {
            Some(value) => bytes.extend_from_slice(&stored(value)?),
            None => bytes.resize(bytes.len() + width, 0),
        }
    }
    fixed_to_arrow(&column.kind, count, Buffer::from_vec(bytes), nulls)
}
