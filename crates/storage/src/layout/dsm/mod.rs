//! DSM layout: one relation of surrogate and value per column (P2, C1).
//!
//! A tuple is taken apart into pairs (row, value), one per value that is there;
//! a NULL is a pair that is missing and takes no space. So a column is added or
//! left out freely, and a table of thousands of columns of which a row has ten
//! is as small as those ten. A column that is NULL in the whole block has no
//! sections.
//!
//! ```text
//! (row, a, b) = (0, 7, NULL), (1, NULL, NULL), (2, 9, 'x')
//! a: surrogates {0, 2}, values 7 9        b: surrogates {2}, values x
//! ```
//!
//! | section | holds |
//! |---|---|
//! | surrogates | the rows that have a value, ascending, as a set of [`crate::postings`] |
//! | codebook, values, ends, bytes | a [`Stripe`](super::Stripe) of the values of those rows |
//!
//! The set is one run where nothing is NULL, a bitmap or packed gaps where much
//! or little is. It is decoded once, at opening; a stripe's rows are then the
//! *places* in that list. Conditions are tested on the stripe's codes, and the
//! places that pass become rows; IS NULL asks the surrogates alone.

mod relation;
#[cfg(test)]
mod tests;

pub use relation::Relation;

use super::SectionData;
use super::column::stripe;
use crate::codec::{Dense, DenseData, Encoded, pick};
use crate::format::{Codec, SectionKind};
use crate::postings;
use crate::schema::{CodecChoice, Layout, Physical};
use arrow_buffer::{Buffer, MutableBuffer};

/// Encodes the values of `column` that are present.
pub(super) fn encode(column: &Dense, physical: Physical, choice: CodecChoice) -> Encoded {
    let present = present(column);
    // Nothing is stored of no values at all.
    let choice = if present.rows == 0 {
        CodecChoice::None
    } else {
        choice
    };
    pick(&present, physical, choice, Layout::Dsm)
}

/// The column without its NULLs.
fn present(column: &Dense) -> Dense {
    let Some(nulls) = &column.nulls else {
        return column.clone();
    };
    let data = match &column.data {
        DenseData::Fixed { width, bytes } => {
            let mut values = MutableBuffer::new((column.rows - nulls.null_count()) * width);
            for (start, end) in nulls.valid_slices() {
                values.extend_from_slice(&bytes[start * width..end * width]);
            }
            DenseData::Fixed {
                width: *width,
                bytes: values.into(),
            }
        }
        // A NULL has no bytes, so nothing but its end has to go.
        DenseData::Variable { ends, bytes } => DenseData::Variable {
            ends: nulls.valid_indices().map(|row| ends[row]).collect(),
            bytes: bytes.clone(),
        },
    };
    Dense {
        rows: column.rows - nulls.null_count(),
        nulls: None,
        data,
    }
}

/// Lays out each column that has values; `encoded` are their present values.
pub(super) fn build(columns: &[Dense], encoded: &[Encoded]) -> Vec<SectionData> {
    let columns = columns.iter().zip(encoded).enumerate();
    columns
        .filter(|(_, (_, encoded))| encoded.rows > 0)
        .flat_map(|(number, (column, encoded))| {
            let mut sections = vec![SectionData {
                kind: SectionKind::Surrogates,
                codec: Codec::Plain,
                column: u16::try_from(number).ok(),
                unit_rows: 0,
                bytes: surrogates(column),
            }];
            sections.extend(stripe(number, encoded));
            sections
        })
        .collect()
}

/// The rows of `column` that have a value.
fn surrogates(column: &Dense) -> Buffer {
    // In range: a block has at most 2^20 rows.
    let rows: Vec<u32> = match &column.nulls {
        None => (0..column.rows as u32).collect(),
        Some(nulls) => nulls.valid_indices().map(|row| row as u32).collect(),
    };
    let mut bytes = Vec::new();
    postings::encode(&rows, &mut bytes);
    Buffer::from_vec(bytes)
}
