//! Pages and files of them against rows in a vector, and against the readers of blocks.

use super::*;
use crate::codec::fields::Rows;
use crate::codec::{Dense, DenseData};
use crate::layout::{
    BookSections, PaxPageEditor, PaxStore, RowStore, SlottedPageEditor, TupleStore,
};
use crate::schema::{ColumnType, TableSchema};
use arrow_buffer::Buffer;
use proptest::prelude::*;

mod file;
mod page;

/// The values of a record.
type Record = Vec<Option<Vec<u8>>>;

fn noise(seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(&seed.to_le_bytes()) >> 3
}

/// A value for a column; those of varying length have up to `longest` bytes.
fn value(column: PageColumn, seed: u64, longest: usize) -> Option<Vec<u8>> {
    if column.nullable && seed.is_multiple_of(4) {
        return None;
    }
    let seed = seed / 4;
    // A quarter of the values are empty or short.
    let length = match seed % 4 {
        0 => seed as usize / 4 % 4,
        _ => seed as usize / 4 % (longest + 1),
    };
    let length = column.width.unwrap_or(length.min(longest));
    let bytes = (0..length).map(|at| noise(seed + at as u64 / 3) as u8);
    Some(bytes.collect())
}

fn record(columns: &[PageColumn], seed: u64, longest: usize) -> Record {
    let seeds = (0..).map(|number| noise(seed ^ number << 40));
    columns
        .iter()
        .zip(seeds)
        .map(|(column, seed)| value(*column, seed, longest))
        .collect()
}

fn slices(record: &Record) -> Vec<Option<&[u8]>> {
    record.iter().map(Option::as_deref).collect()
}

fn length(record: &Record) -> usize {
    record.iter().flatten().map(Vec::len).sum()
}

/// A table of these columns.
fn schema(columns: &[PageColumn]) -> TableSchema {
    let column = |(number, column): (usize, &PageColumn)| Column {
        name: format!("c{number}"),
        kind: match column.width {
            Some(2) => ColumnType::SmallInt,
            Some(4) => ColumnType::Integer,
            Some(8) => ColumnType::BigInt,
            Some(_) => ColumnType::Uuid,
            None => ColumnType::Bytea,
        },
        nullable: column.nullable,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: columns.iter().enumerate().map(column).collect(),
        ..TableSchema::default()
    }
}

/// What tests know of a kind of page beside its editor.
trait TestedPage: PageEditor + Clone + std::fmt::Debug {
    /// Bytes of a page of `page_bytes` that records take which have no gaps;
    /// `slots` are those of a slotted page.
    fn needed(
        columns: &[PageColumn],
        records: &[&Record],
        slots: usize,
        page_bytes: usize,
    ) -> usize;

    /// Opens pages as those of a block.
    fn store(
        columns: &[PageColumn],
        rows: usize,
        page_bytes: usize,
        pages: Vec<u8>,
        directory: Vec<u8>,
    ) -> Result<Box<dyn TupleStore>>;
}

impl TestedPage for PaxPageEditor {
    fn needed(columns: &[PageColumn], records: &[&Record], _: usize, page_bytes: usize) -> usize {
        let end_bytes = if page_bytes <= 1 << 15 { 2 } else { 4 };
        let back = |column: &PageColumn| match (column.width, column.nullable) {
            (None, _) => end_bytes * records.len(),
            (Some(_), true) => records.len().div_ceil(8),
            _ => 0,
        };
        let values: usize = records.iter().map(|record| length(record)).sum();
        16 + 6 * columns.len() + columns.iter().map(back).sum::<usize>() + values
    }

    fn store(
        columns: &[PageColumn],
        rows: usize,
        page_bytes: usize,
        pages: Vec<u8>,
        directory: Vec<u8>,
    ) -> Result<Box<dyn TupleStore>> {
        let books = vec![BookSections::plain(); columns.len()];
        let (pages, directory) = (Buffer::from_vec(pages), Buffer::from_vec(directory));
        let schema = schema(columns);
        let store = PaxStore::open(&schema, rows, page_bytes as u32, pages, directory, &books)?;
        store.check()?;
        Ok(Box::new(store))
    }
}

impl TestedPage for SlottedPageEditor {
    fn needed(
        columns: &[PageColumn],
        records: &[&Record],
        slots: usize,
        page_bytes: usize,
    ) -> usize {
        let offset_bytes = if page_bytes <= 1 << 16 { 2 } else { 4 };
        let widths = columns
            .iter()
            .map(|column| column.width.unwrap_or(offset_bytes));
        let fixed = columns.len().div_ceil(8) + widths.sum::<usize>();
        let varying = |record: &&Record| {
            let values = record
                .iter()
                .zip(columns)
                .filter(|(_, column)| column.width.is_none());
            values
                .filter_map(|(value, _)| value.as_ref())
                .map(Vec::len)
                .sum::<usize>()
        };
        16 + records
            .iter()
            .map(|record| fixed + varying(record))
            .sum::<usize>()
            + slots * 2 * offset_bytes
    }

    fn store(
        columns: &[PageColumn],
        rows: usize,
        page_bytes: usize,
        pages: Vec<u8>,
        directory: Vec<u8>,
    ) -> Result<Box<dyn TupleStore>> {
        let books = vec![BookSections::plain(); columns.len()];
        let (pages, schema) = (Buffer::from_vec(pages), schema(columns));
        let page_bytes = page_bytes as u32;
        let store = RowStore::open_slotted(&schema, rows, page_bytes, pages, &directory, &books)?;
        Ok(Box::new(store))
    }
}

/// The records that a store has.
fn read(store: &dyn TupleStore, columns: &[PageColumn], rows: usize) -> Vec<Record> {
    let schema = schema(columns);
    let mut records = vec![Record::new(); rows];
    for (number, column) in schema.columns.iter().enumerate() {
        let array = store.read(number, &Rows::Range(0..rows)).unwrap();
        let dense = Dense::from_arrow(&array, column).unwrap();
        for (row, record) in records.iter_mut().enumerate() {
            let bytes = match &dense.data {
                DenseData::Fixed { width, bytes } => &bytes[row * width..(row + 1) * width],
                DenseData::Variable { ends, bytes } => {
                    let start = row.checked_sub(1).map_or(0, |before| ends[before] as usize);
                    &bytes[start..ends[row] as usize]
                }
            };
            let null = dense.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
            record.push((!null).then(|| bytes.to_vec()));
        }
    }
    records
}

/// One to six columns of every form.
fn columns() -> impl Strategy<Value = Vec<PageColumn>> {
    let width = prop_oneof![
        Just(None),
        prop::sample::select(vec![2, 4, 8, 16]).prop_map(Some)
    ];
    let column =
        (width, any::<bool>()).prop_map(|(width, nullable)| PageColumn { width, nullable });
    prop::collection::vec(column, 1..7)
}

fn compaction() -> impl Strategy<Value = Compaction> {
    prop::sample::select(vec![Compaction::Now, Compaction::Deferred])
}
