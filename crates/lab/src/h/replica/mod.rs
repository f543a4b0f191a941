//! The document's own program: dense pages of 4 KiB, a scanner of rows and a pipelined one of
//! columns, a value at a time, tuples in blocks of 100 (H, section 2.2).
//!
//! Files are in memory, as the I/O interface would hand out their units. Where the document
//! is silent: a value iterator has one implementation for each codec, and the node around it
//! is made for that, as the scanner of rows is made for its tuples; it finds a page by its
//! number, since all pages but the last are full; numbers are moved, texts copied.

mod attribute;
mod block;
mod columns;
mod page;
mod rows;
mod values;

pub use attribute::{Codec, orders_z};

use self::attribute::Attribute;
use self::block::{Operator, Predicate};
use self::columns::ColumnFile;
use self::page::PAGE_BYTES;
pub use self::page::Page;
use self::rows::{RowFile, RowScanner};
use super::stored::{BLOCK_ROWS, Query, Scanner, Source};
use super::tables::{Generator, TableName};
use crate::error::Result;
use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use freestone_calibrate::CpuTimer;
use std::hint::black_box;

/// A table as rows.
#[derive(Debug)]
pub struct Rows {
    file: RowFile,
    tuples: usize,
}

/// A table as columns.
#[derive(Debug)]
pub struct Columns {
    files: Vec<ColumnFile>,
    tuples: usize,
}

/// The tuples that [`super::stored::Stored::make`] makes of the same arguments, without
/// codecs.
///
/// # Errors
/// Those of generators.
pub fn make_plain(table: TableName, rows: u64, seed: u64) -> Result<(Rows, Columns)> {
    make(table, rows, seed, &vec![Codec::Plain; table.widths().len()])
}

/// The same with a codec for each attribute.
///
/// # Errors
/// Those of generators, and of codecs that have no bits for a value.
pub fn make(table: TableName, rows: u64, seed: u64, codecs: &[Codec]) -> Result<(Rows, Columns)> {
    let attributes: Vec<Attribute> = table
        .widths()
        .iter()
        .zip(table.numbers())
        .zip(codecs)
        .map(|((bytes, number), codec)| Attribute {
            bytes: *bytes as usize,
            number,
            codec: *codec,
            dictionary: Vec::new(),
        })
        .collect();
    let mut row_file = RowFile::new(attributes.clone());
    let mut files: Vec<ColumnFile> = attributes.into_iter().map(ColumnFile::new).collect();
    let mut generator = Generator::new(table, seed);
    for first in (0..rows).step_by(BLOCK_ROWS as usize) {
        let count = BLOCK_ROWS.min(rows - first) as usize;
        let batch = generator.batch(count)?;
        let columns: Vec<Vec<u8>> = batch.columns().iter().map(flat).collect();
        let value = |column: usize, bytes: usize, row: usize| {
            &columns[column][row * bytes..(row + 1) * bytes]
        };
        let widths = table.widths();
        for (column, file) in files.iter_mut().enumerate() {
            let bytes = widths[column] as usize;
            for row in 0..count {
                file.push(value(column, bytes, row))?;
            }
        }
        for row in 0..count {
            let values = widths.iter().enumerate();
            row_file.push(values.map(|(column, bytes)| value(column, *bytes as usize, row)))?;
        }
    }
    let tuples = rows as usize;
    Ok((
        Rows {
            file: row_file,
            tuples,
        },
        Columns { files, tuples },
    ))
}

/// The bytes of all values, one after the other.
fn flat(column: &ArrayRef) -> Vec<u8> {
    match column.as_primitive_opt::<Int32Type>() {
        Some(numbers) => {
            let bytes = numbers.values().iter().map(|number| number.to_le_bytes());
            bytes.flatten().collect()
        }
        None => {
            let texts = column.as_string_view().iter().flatten();
            texts.flat_map(str::bytes).collect()
        }
    }
}

fn predicate(query: Query) -> Predicate {
    Predicate {
        most: query.threshold,
    }
}

/// Runs a scanner whose tuples nobody needs: CPU seconds for each of `tuples`.
fn run(mut scanner: impl Operator, tuples: usize) -> f64 {
    let timer = CpuTimer::start();
    while let Some(block) = scanner.next_block() {
        black_box(block);
    }
    timer.elapsed().as_secs_f64() / tuples as f64
}

fn bytes(pages: usize, tuples: usize) -> f64 {
    (pages * PAGE_BYTES) as f64 / tuples as f64
}

impl Rows {
    /// The pages of its file.
    pub fn files(&self) -> Vec<&[Page]> {
        vec![&self.file.pages]
    }

    fn scanner(&self, query: Query) -> RowScanner<'_> {
        RowScanner::new(&self.file, query.attributes, predicate(query))
    }
}

impl Columns {
    /// The pages of each file.
    pub fn files(&self) -> Vec<&[Page]> {
        let files = self.files.iter();
        files.map(|file| file.pages.as_slice()).collect()
    }

    fn scanner(&self, query: Query) -> Option<Box<dyn Operator + '_>> {
        columns::scanner(&self.files[..query.attributes], predicate(query))
    }
}

impl Operator for Box<dyn Operator + '_> {
    fn next_block(&mut self) -> Option<&mut block::Block> {
        self.as_mut().next_block()
    }
}

impl Source for Rows {
    fn attributes(&self) -> usize {
        self.file.attributes.len()
    }

    fn bytes_per_tuple(&self, _attributes: usize) -> Result<f64> {
        Ok(bytes(self.file.pages.len(), self.tuples))
    }

    fn seconds_per_tuple(&self, query: Query, _scanner: Scanner) -> Result<f64> {
        Ok(run(self.scanner(query), self.tuples))
    }
}

impl Source for Columns {
    fn attributes(&self) -> usize {
        self.files.len()
    }

    fn bytes_per_tuple(&self, attributes: usize) -> Result<f64> {
        let files = self.files[..attributes].iter();
        Ok(bytes(files.map(|file| file.pages.len()).sum(), self.tuples))
    }

    fn seconds_per_tuple(&self, query: Query, _scanner: Scanner) -> Result<f64> {
        let scanner = self.scanner(query);
        Ok(scanner.map_or(0.0, |scanner| run(scanner, self.tuples)))
    }
}

#[cfg(test)]
mod tests;
