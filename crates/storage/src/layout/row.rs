//! Row layout: dense tuples without slots (H1).
//!
//! Every tuple has the same width: presence bits (one a column, 1 = present),
//! then each column in declaration order: fixed-width values in place, variable
//! ones as the end offset of their bytes in the heap. A variable value begins
//! where the one before it in the block ends, so a tuple of two texts costs
//! eight bytes beside the text itself.
//!
//! ```text
//! (1, 'ab', NULL), (2, 'c', 'd') with one INTEGER and two TEXT columns
//! tuples: 011 1 2 2 | 111 2 3 4      heap: abcd
//! ```

use super::dense::{Dense, DenseData, fixed_to_arrow};
use super::views::Views;
use super::{SectionData, TupleStore};
use crate::error::{Error, Result};
use crate::format::SectionKind;
use crate::schema::{ColumnType, Physical, TableSchema};
use arrow_array::ArrayRef;
use arrow_buffer::{Buffer, MutableBuffer, NullBuffer};
use std::ops::Range;

/// Bytes of an end offset.
const END_BYTES: usize = 4;

/// Where each column lies in a tuple.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    offsets: Vec<usize>,
    width: usize,
}

impl Shape {
    fn new(widths: impl ExactSizeIterator<Item = usize>) -> Shape {
        let mut width = widths.len().div_ceil(8);
        let offsets = widths
            .map(|bytes| {
                width += bytes;
                width - bytes
            })
            .collect();
        Shape { offsets, width }
    }
}

/// Lays out `columns` as tuples and a heap.
pub(super) fn build(columns: &[Dense]) -> Result<Vec<SectionData>> {
    let rows = columns.first().map_or(0, |column| column.rows);
    let shape = Shape::new(columns.iter().map(|column| match &column.data {
        DenseData::Fixed { width, .. } => *width,
        DenseData::Variable { .. } => END_BYTES,
    }));
    let mut tuples = MutableBuffer::from_len_zeroed(rows * shape.width);
    let mut heap: Vec<u8> = Vec::with_capacity(columns.iter().map(Dense::raw_bytes).sum());
    for (row, tuple) in tuples
        .as_slice_mut()
        .chunks_exact_mut(shape.width)
        .enumerate()
    {
        for (number, (column, offset)) in columns.iter().zip(&shape.offsets).enumerate() {
            if column
                .nulls
                .as_ref()
                .is_none_or(|nulls| nulls.is_valid(row))
            {
                tuple[number / 8] |= 1 << (number % 8);
            }
            match &column.data {
                DenseData::Fixed { width, bytes } => {
                    tuple[*offset..offset + width]
                        .copy_from_slice(&bytes[row * width..(row + 1) * width]);
                }
                DenseData::Variable { ends, bytes } => {
                    let start = if row == 0 { 0 } else { ends[row - 1] as usize };
                    heap.extend_from_slice(&bytes[start..ends[row] as usize]);
                    let end = i32::try_from(heap.len()).map_err(|_| {
                        Error::invalid("54000", "more than 2 GiB of variable values in one block")
                            .with_hint("Choose a smaller block_bytes.")
                    })?;
                    tuple[*offset..offset + END_BYTES].copy_from_slice(&end.to_le_bytes());
                }
            }
        }
    }
    let section = |kind, bytes| SectionData {
        kind,
        column: None,
        unit_rows: 0,
        bytes,
    };
    Ok(vec![
        section(SectionKind::Tuples, tuples.into()),
        section(SectionKind::Heap, Buffer::from_vec(heap)),
    ])
}

/// The tuples of one block, opened.
#[derive(Debug)]
pub struct RowStore {
    shape: Shape,
    kinds: Vec<ColumnType>,
    rows: usize,
    tuples: Buffer,
    /// Per column; `None` for fixed-width ones.
    views: Vec<Option<Views>>,
}

impl RowStore {
    /// Checks tuples and heap against each other.
    ///
    /// # Errors
    /// `Corrupt` if lengths, offsets or text are wrong.
    pub fn open(
        schema: &TableSchema,
        rows: usize,
        tuples: Buffer,
        heap: Buffer,
    ) -> Result<RowStore> {
        let kinds: Vec<ColumnType> = schema.columns.iter().map(|column| column.kind).collect();
        let shape = Shape::new(
            kinds
                .iter()
                .map(|kind| kind.physical().width().unwrap_or(END_BYTES)),
        );
        if rows.checked_mul(shape.width) != Some(tuples.len()) {
            return Err(Error::corrupt(format!(
                "{} bytes for {rows} tuples of {} bytes",
                tuples.len(),
                shape.width
            )));
        }
        let mut store = RowStore {
            shape,
            kinds,
            rows,
            tuples,
            views: Vec::new(),
        };
        let variable: Vec<usize> = (0..store.kinds.len())
            .filter(|number| store.kinds[*number].physical().width().is_none())
            .collect();
        let mut places: Vec<Vec<Range<usize>>> =
            variable.iter().map(|_| Vec::with_capacity(rows)).collect();
        let mut start = 0;
        for row in 0..rows {
            for (places, number) in places.iter_mut().zip(&variable) {
                let end = store.end(row, *number);
                places.push(start..end);
                start = end;
            }
        }
        store.views = store.kinds.iter().map(|_| None).collect();
        for (places, number) in places.into_iter().zip(variable) {
            let text = store.kinds[number].physical() == Physical::Bytes { text: true };
            store.views[number] = Some(Views::new(heap.clone(), places.into_iter(), text)?);
        }
        Ok(store)
    }

    fn end(&self, row: usize, column: usize) -> usize {
        let at = row * self.shape.width + self.shape.offsets[column];
        let mut bytes = [0; END_BYTES];
        bytes.copy_from_slice(&self.tuples[at..at + END_BYTES]);
        u32::from_le_bytes(bytes) as usize
    }

    fn present(&self, row: usize, column: usize) -> bool {
        self.tuples[row * self.shape.width + column / 8] >> (column % 8) & 1 == 1
    }

    fn gather(
        &self,
        column: usize,
        rows: impl ExactSizeIterator<Item = usize> + Clone,
    ) -> Result<ArrayRef> {
        let count = rows.len();
        let nulls: NullBuffer = rows.clone().map(|row| self.present(row, column)).collect();
        let nulls = (nulls.null_count() > 0).then_some(nulls);
        if let Some(views) = &self.views[column] {
            let positions: Vec<u32> = rows.map(|row| row as u32).collect();
            return Ok(views.take(&positions, nulls));
        }
        let width = self.kinds[column].physical().width().unwrap_or(0);
        let mut bytes = MutableBuffer::new(count * width);
        let offset = self.shape.offsets[column];
        for row in rows {
            let at = row * self.shape.width + offset;
            bytes.extend_from_slice(&self.tuples[at..at + width]);
        }
        fixed_to_arrow(&self.kinds[column], count, bytes.into(), nulls)
    }

    /// Bytes of memory beyond the sections.
    pub fn memory(&self) -> usize {
        self.views.iter().flatten().map(Views::memory).sum()
    }
}

impl TupleStore for RowStore {
    fn read(&self, column: usize, rows: Range<usize>) -> Result<ArrayRef> {
        debug_assert!(rows.end <= self.rows);
        self.gather(column, rows)
    }

    fn take(&self, column: usize, positions: &[u32]) -> Result<ArrayRef> {
        self.gather(column, positions.iter().map(|row| *row as usize))
    }
}
