//! Filling blocks: tuples come as rows and are put into the block's own form.

use super::super::organisation::Organisation;
use super::super::tables::{Generator, TableKind};
use super::block::{Block, unknown};
use super::field::{Field, Key, chunk};
use super::header::Header;
use super::tree::sorted;
use crate::error::{Error, Result};
use freestone_storage::{CodecChoice, Layout};
use std::ops::Range;

/// Rows of a table, one after the other.
pub fn tuples(generator: Generator, rows: Range<u64>) -> Vec<u8> {
    let kind = generator.kind;
    let number = (rows.end - rows.start) as usize;
    let mut tuples = vec![0; number * kind.row_bytes()];
    for column in 0..kind.columns() {
        let places = tuples.chunks_exact_mut(kind.row_bytes());
        let start = column * kind.value_bytes();
        for (row, tuple) in rows.clone().zip(places) {
            let place = &mut tuple[start..start + kind.value_bytes()];
            match kind {
                TableKind::Strings => place.copy_from_slice(&generator.string(column, row)),
                _ => place.copy_from_slice(&generator.integer(column, row).to_le_bytes()),
            }
        }
    }
    tuples
}

impl Block {
    /// A block of these tuples.
    ///
    /// # Errors
    /// Too many tuples to be numbered, too many columns for a header, or a layout that the
    /// paper does not have.
    pub fn build(kind: TableKind, organisation: &Organisation, tuples: &[u8]) -> Result<Block> {
        let rows = is_column(organisation.layout).map(|columns| !columns)?;
        let number = tuples.len() / kind.row_bytes();
        let widths: Vec<u8> = match organisation.codec {
            CodecChoice::None => vec![kind.value_bytes() as u8; kind.columns()],
            _ => (0..kind.columns())
                .map(|column| width(kind, tuples, column))
                .collect(),
        };
        let header = Header {
            tuples: u32::try_from(number)
                .map_err(|_| Error::new("a block of more than 2^32 tuples", ""))?,
            is_row_store: rows,
            sorted: organisation.sorted.map(|column| column as u8),
            value_bytes: kind.value_bytes() as u8,
            widths,
        };
        let mut memory = header.memory()?;
        let fields = header.fields();
        for (column, field) in fields.iter().enumerate() {
            let start = column * kind.value_bytes();
            for (number, tuple) in tuples.chunks_exact(kind.row_bytes()).enumerate() {
                // Values that are truncated lose their high-order bytes.
                memory[field.at(number)..][..field.bytes]
                    .copy_from_slice(&tuple[start..start + field.bytes]);
            }
        }
        if let Some(column) = organisation.sorted {
            let by = *fields.get(column).ok_or_else(|| unknown(column))?;
            let order = match by.bytes {
                1 => sorted::<u8>(&memory, by, number),
                2 => sorted::<u16>(&memory, by, number),
                4 => sorted::<u32>(&memory, by, number),
                _ => sorted::<u128>(&memory, by, number),
            };
            fields
                .iter()
                .for_each(|field| reorder(&mut memory, *field, &order));
        }
        Block::open(memory)
    }
}

/// Whether tuples lie column by column.
fn is_column(layout: Layout) -> Result<bool> {
    match layout {
        Layout::Column => Ok(true),
        Layout::Row => Ok(false),
        _ => Err(Error::new("the replica has rows and columns only", "")),
    }
}

/// Bytes that the values of a column need: 1, 2 or 4 (Q, section 3.3.4).
fn width(kind: TableKind, tuples: &[u8], column: usize) -> u8 {
    if kind == TableKind::Strings {
        return kind.value_bytes() as u8;
    }
    let values = tuples.chunks_exact(kind.row_bytes());
    let largest = values.map(|tuple| u32::read(tuple, column * 4)).max();
    match largest.unwrap_or(0) {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        _ => 4,
    }
}

/// Puts the values of a column into another order.
fn reorder(memory: &mut [u8], field: Field, order: &[u32]) {
    fn of<const BYTES: usize>(memory: &mut [u8], field: Field, order: &[u32]) {
        let value = |tuple: &u32| chunk::<BYTES>(memory, field.at(*tuple as usize));
        let values: Vec<[u8; BYTES]> = order.iter().map(value).collect();
        for (number, value) in values.iter().enumerate() {
            memory[field.at(number)..][..BYTES].copy_from_slice(value);
        }
    }
    match field.bytes {
        1 => of::<1>(memory, field, order),
        2 => of::<2>(memory, field, order),
        4 => of::<4>(memory, field, order),
        _ => of::<20>(memory, field, order),
    }
}
