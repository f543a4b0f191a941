//! Row layout: dense tuples without slots (H1), or slotted pages (P1).
//!
//! Every tuple has the same width: presence bits (one a column, 1 = present),
//! then each column in declaration order. A column in codes takes its code's
//! bits, one after the other without alignment; a stored value begins at a
//! whole byte; a variable one is the end offset of its bytes in the heap, four
//! bytes. A variable value begins where the one before it in the block ends, so
//! a tuple of two texts costs eight bytes beside the text itself.
//!
//! ```text
//! (1, 'ab', NULL), (2, 'c', 'd') with one INTEGER (FOR, 1 bit) and two TEXT columns
//! tuples: 011 0 2 2 | 111 1 3 4      heap: abcd
//! ```
//!
//! With the table option `slotted` the same tuples, with their variable values,
//! are records on pages instead: see [`slotted`].

mod edit;
mod page;
mod read;
mod record;
mod shape;
mod slotted;
mod store;
#[cfg(test)]
mod tests;

pub use edit::SlottedPageEditor;
pub use store::RowStore;

use super::SectionData;
use super::book;
use crate::codec::Encoded;
use crate::error::{Error, Result};
use crate::format::{Codec, SectionKind};
use crate::schema::TableOptions;
use arrow_buffer::{Buffer, MutableBuffer};
use shape::{Shape, Source};

/// Lays out `columns` as tuples and a heap.
///
/// # Errors
/// 54000 when the heap takes over 2 GiB.
pub(super) fn build(columns: &[Encoded]) -> Result<Vec<SectionData>> {
    let source = Source::new(columns);
    let shape = Shape::dense(&source.forms);
    let mut tuples = MutableBuffer::from_len_zeroed(source.rows() * shape.width);
    let mut heap: Vec<u8> = Vec::new();
    let places = tuples.as_slice_mut().chunks_exact_mut(shape.width);
    for (row, tuple) in places.enumerate() {
        source.put_fixed(row, &shape, tuple);
        for (column, value) in source.variable(row) {
            heap.extend_from_slice(value);
            if i32::try_from(heap.len()).is_err() {
                let message = "more than 2 GiB of variable values in one block";
                return Err(
                    Error::invalid("54000", message).with_hint("Choose a smaller block_bytes.")
                );
            }
            shape.put_end(tuple, column, heap.len());
        }
    }
    let parts = [
        (SectionKind::Tuples, tuples.into()),
        (SectionKind::Heap, Buffer::from_vec(heap)),
    ];
    Ok(sections(parts, &source))
}

/// Lays out `columns` as records on slotted pages.
///
/// # Errors
/// 54000 when the pages take over 2 GiB.
pub(super) fn build_slotted(
    columns: &[Encoded],
    options: &TableOptions,
) -> Result<Vec<SectionData>> {
    let source = Source::new(columns);
    let filled = slotted::fill(&source, options)?;
    let parts = [
        (SectionKind::SlottedPages, Buffer::from_vec(filled.pages)),
        (
            SectionKind::PageDirectory,
            Buffer::from_vec(filled.directory.finish()),
        ),
    ];
    Ok(sections(parts, &source))
}

/// The sections of all columns, then what explains each.
fn sections(parts: [(SectionKind, Buffer); 2], source: &Source<'_>) -> Vec<SectionData> {
    let whole = parts.into_iter().map(|(kind, bytes)| SectionData {
        kind,
        codec: Codec::Plain,
        column: None,
        unit_rows: 0,
        bytes,
    });
    let columns = source.columns.iter().zip(&source.codes).enumerate();
    let own = columns
        .flat_map(|(number, (column, codes))| book::sections(number, column, codes.as_ref()));
    whole.chain(own).collect()
}
