//! PAX layout: one minipage per column inside a page (P3).
//!
//! A tuple stays on one page, as in NSM; within the page the values of a column
//! lie together, as in DSM, so that a scan of two columns touches two minipages
//! of every page and a look-up touches one page (Ailamaki et al., P3, P4).
//!
//! ```text
//! (1, 'Jane', NULL), (2, 'John', 9)     INTEGER NOT NULL, TEXT, INTEGER
//!
//! ┌ header: 2 rows, 3 columns, free bytes, where the minipages begin ┐
//! │ 1 2 ·····                          F-minipage                    │
//! │ JaneJohn ········ 8 4              V-minipage: ends from the back│
//! │ 9 ······· 01                       F-minipage with presence bits │
//! └──────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A column in codes takes the whole bytes (1, 2, 4 or 8) that hold its codes.
//! An F-minipage has the values that are present, one after the other; if the
//! column may be NULL, presence bits grow backwards from its end, the first
//! eight rows in the last byte. A V-minipage has values from the front and their
//! end offsets, relative to the minipage, from the back; NULL is marked in the
//! offset. Values are not aligned: they are copied out minipage by minipage.
//!
//! Pages have `page_bytes`; a tuple that is larger than an empty page gets one
//! of several times that size, for itself. The page directory says where each
//! page begins and with which row. `docs/format.md` has the byte tables.
//!
//! Blocks are immutable; changed rows live elsewhere until a block is written
//! anew. Deletes and updates in place are for experiments: see [`edit`].

mod check;
mod deleted;
mod edit;
mod fill;
mod minipage;
mod page;
mod plan;
mod read;
mod shift;
mod source;
mod store;

pub use edit::PaxPageEditor;
pub use store::PaxStore;

use super::SectionData;
use super::book::{self, field_codes};
use crate::codec::bits::lane_bits;
use crate::codec::fields::FieldCodes;
use crate::codec::{Codes, Dense, DenseData, Encoded};
use crate::error::Result;
use crate::format::{Codec, SectionKind};
use crate::schema::{TableOptions, TableSchema};
use arrow_buffer::Buffer;
use source::Source;

/// What filling the pages of one block took (P4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaxBuildReport {
    /// Pages written.
    pub pages: u64,
    /// Times that minipage boundaries of a page with tuples on it were moved.
    pub reorganisations: u64,
}

/// Lays out `columns` as pages.
pub(super) fn build(
    schema: &TableSchema,
    columns: &[Encoded],
    options: &TableOptions,
) -> Result<Vec<SectionData>> {
    let codes: Vec<Option<FieldCodes>> = columns
        .iter()
        .map(|column| field_codes(column, false))
        .collect();
    let stored: Vec<Dense> = columns
        .iter()
        .zip(&codes)
        .map(|(column, codes)| in_bytes(column, codes.as_ref()))
        .collect();
    let mut sections = build_reported(schema, &stored, options)?.0;
    for (number, (column, codes)) in columns.iter().zip(&codes).enumerate() {
        sections.extend(book::sections(number, column, codes.as_ref()));
    }
    Ok(sections)
}

/// Bytes of a code of `bits` bits in a minipage.
fn code_bytes(bits: u8) -> usize {
    lane_bits(bits) / 8
}

/// The column as a minipage holds it: codes in whole bytes.
fn in_bytes(column: &Encoded, codes: Option<&FieldCodes>) -> Dense {
    let data = match (&column.codes, codes) {
        (Codes::Stored(data), _) => data.clone(),
        (Codes::Integers(_), Some(codes)) => {
            let width = code_bytes(codes.width);
            let mut bytes = Vec::with_capacity(codes.codes.len() * width);
            codes
                .codes
                .iter()
                .for_each(|code| bytes.extend_from_slice(&code.to_le_bytes()[..width]));
            DenseData::Fixed {
                width,
                bytes: Buffer::from_vec(bytes),
            }
        }
        _ => DenseData::Fixed {
            width: 1,
            bytes: Buffer::from_vec(vec![0u8; column.rows]),
        },
    };
    Dense {
        rows: column.rows,
        nulls: column.nulls.clone(),
        data,
    }
}

/// Lays out columns in the form of their minipages as pages, and tells how many
/// and how often they were reorganised.
///
/// # Errors
/// 54000 when the pages of the block take over 2 GiB.
pub fn build_reported(
    schema: &TableSchema,
    columns: &[Dense],
    options: &TableOptions,
) -> Result<(Vec<SectionData>, PaxBuildReport)> {
    let rows = columns.first().map_or(0, |column| column.rows);
    let filled = fill::fill(&sources(schema, columns), rows, options, usize::MAX)?;
    let section = |kind, bytes| SectionData {
        kind,
        codec: Codec::Plain,
        column: None,
        unit_rows: 0,
        bytes,
    };
    let sections = vec![
        section(SectionKind::Pages, Buffer::from_vec(filled.pages)),
        section(
            SectionKind::PageDirectory,
            Buffer::from_vec(filled.directory.finish()),
        ),
    ];
    Ok((sections, filled.report))
}

fn sources<'a>(schema: &TableSchema, columns: &'a [Dense]) -> Vec<Source<'a>> {
    let nullable = schema.columns.iter().map(|column| column.nullable);
    columns
        .iter()
        .zip(nullable)
        .map(|(column, nullable)| Source::new(column, nullable))
        .collect()
}

#[cfg(test)]
mod tests;
