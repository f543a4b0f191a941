//! Blocks older than the table's columns (C1).
//!
//! ALTER TABLE ADD and DROP COLUMN leave blocks as they are. A block keeps the
//! columns it was written with; a [`Places`] says where each column of the table
//! is found in it, or which value stands for it in every row.

use crate::codec::{Dense, DenseData};
use crate::error::{Error, Result};
use crate::predicate::{Bounds, Zone};
use crate::schema::{Column, ColumnType, Place, Value};
use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_buffer::{Buffer, NullBuffer};
use std::sync::Arc;

/// Where the columns of a table are found in a block.
#[derive(Debug)]
pub struct Places {
    columns: Vec<Found>,
}

/// Where one column is found.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// The block's own column of this number.
    Own(usize),
    /// Nowhere: one row of this array stands for every row.
    Missing(ArrayRef, ColumnType),
}

impl Places {
    /// The places of a table's `columns` by what the manifest says.
    ///
    /// # Errors
    /// `Corrupt` for a value that is none of the column's type, or a column that
    /// blocks of this version do not have.
    pub fn open(columns: &[Column], places: &[Place], own: usize) -> Result<Places> {
        if columns.len() != places.len() {
            return Err(Error::corrupt(format!(
                "{} places of {} columns",
                places.len(),
                columns.len()
            )));
        }
        let found = columns
            .iter()
            .zip(places)
            .map(|(column, place)| match place {
                Place::Stored(number) if *number < own => Ok(Found::Own(*number)),
                Place::Stored(number) => Err(Error::corrupt(format!(
                    "column {number} of blocks with {own}"
                ))),
                Place::Missing(value) => Ok(Found::Missing(
                    one_row(column.kind, value.as_deref())?,
                    column.kind,
                )),
            });
        Ok(Places {
            columns: found.collect::<Result<_>>()?,
        })
    }

    /// Where `column` is found.
    pub(super) fn find(&self, column: usize) -> Result<&Found> {
        self.columns
            .get(column)
            .ok_or_else(|| Error::corrupt(format!("no column {column}")))
    }

    /// What `of` makes of each column of the table.
    pub(super) fn map<T>(&self, of: impl FnMut(&Found) -> Result<T>) -> Result<Vec<T>> {
        self.columns.iter().map(of).collect()
    }

    /// The table's column that the block's own `number` is.
    pub(super) fn table_column(&self, number: usize) -> Option<usize> {
        self.columns
            .iter()
            .position(|found| matches!(found, Found::Own(own) if *own == number))
    }
}

/// The stored form of a value as text for the manifest.
pub fn to_hex(array: &ArrayRef, column: &Column) -> Result<Option<String>> {
    let dense = Dense::from_arrow(array, column)?;
    if array.is_null(0) {
        return Ok(None);
    }
    let bytes = match &dense.data {
        DenseData::Fixed { bytes, .. } | DenseData::Variable { bytes, .. } => bytes,
    };
    Ok(Some(
        bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    ))
}

/// An array of one row from the stored form of a value; `None` is NULL.
fn one_row(kind: ColumnType, hex: Option<&str>) -> Result<ArrayRef> {
    let bad = || Error::corrupt(format!("{hex:?} is no stored value of type {kind}"));
    let digits = hex.unwrap_or_default();
    let byte = |at: usize| {
        digits
            .get(at..at + 2)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    let bytes: Vec<u8> = (0..digits.len())
        .step_by(2)
        .map(byte)
        .collect::<Option<_>>()
        .ok_or_else(bad)?;
    let nulls = hex.is_none().then(|| NullBuffer::new_null(1));
    match kind.physical().width() {
        Some(width) => {
            let bytes = if hex.is_none() { vec![0; width] } else { bytes };
            crate::codec::fixed_to_arrow(&kind, 1, Buffer::from_vec(bytes), nulls)
                .map_err(|_| bad())
        }
        None => {
            let text = kind.physical() == crate::schema::Physical::Bytes { text: true };
            let place = std::iter::once(0..bytes.len());
            Ok(crate::codec::Views::new(Buffer::from_vec(bytes), place, text)?.slice(0..1, nulls))
        }
    }
}

/// The one value in `rows` rows.
pub(super) fn repeated(one: &ArrayRef, rows: usize) -> Result<ArrayRef> {
    Ok(arrow_select::take::take(
        one,
        &UInt32Array::from(vec![0; rows]),
        None,
    )?)
}

/// The zone map of `rows` rows of one value.
pub(super) fn zone_of(one: &ArrayRef, kind: ColumnType, rows: usize) -> Zone {
    // Intervals have no order, and a NaN no place among others.
    let ordered = kind != ColumnType::Interval;
    let value = (one.is_valid(0) && ordered)
        .then(|| crate::predicate::value_at(one, 0))
        .flatten();
    let zero = Value::Float(0.0);
    Zone {
        rows: rows as u32,
        nulls: if one.is_null(0) { rows as u32 } else { 0 },
        bounds: value.filter(|value| !value.is_nan()).map(|value| Bounds {
            exact: value != zero,
            min: value.clone(),
            max: value,
        }),
    }
}

/// Places shared by the blocks of one version of a table.
pub type SharedPlaces = Option<Arc<Places>>;
