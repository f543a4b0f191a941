//! Which rows of a column are not NULL.

use crate::codec::fields::Rows;
use crate::error::{Error, Result};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};

/// Validity bits as a null buffer.
pub(super) fn open_validity(bits: Option<Buffer>, rows: usize) -> Result<Option<NullBuffer>> {
    match bits {
        None => Ok(None),
        Some(bits) if bits.len() == rows.div_ceil(8) => {
            Ok(Some(NullBuffer::new(BooleanBuffer::new(bits, 0, rows))))
        }
        Some(bits) => Err(Error::corrupt(format!(
            "{} bytes of validity for {rows} rows",
            bits.len()
        ))),
    }
}

/// The validity of some rows.
pub(super) fn at_rows(nulls: &NullBuffer, rows: &Rows<'_>) -> NullBuffer {
    match rows {
        Rows::Range(rows) => nulls.slice(rows.start, rows.len()),
        Rows::Positions(positions) => positions
            .iter()
            .map(|row| nulls.is_valid(*row as usize))
            .collect(),
    }
}
