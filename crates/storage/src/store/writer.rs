//! Cutting rows into blocks and writing their files.

use super::Place;
use super::pending::{Pending, PendingRanges};
use crate::block::{self, Block, BlockInfo, file_name};
use crate::error::{Error, Result};
use crate::ids::BlockId;
use crate::schema::{TableOptions, TableSchema};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{DataType, SchemaRef};
use std::sync::Arc;

/// Takes rows and writes them as blocks; several may write for one table at once.
#[derive(Debug)]
pub struct BlockWriter {
    place: Arc<Place>,
    schema: Arc<TableSchema>,
    arrow: SchemaRef,
    options: TableOptions,
    pending: Pending,
    /// The same for each range of a partitioned table.
    ranges: Option<PendingRanges>,
    /// Whether rows come in the order that blocks have.
    in_order: bool,
    written: Vec<NewBlock>,
}

/// A block that is on disk and not part of any table yet; its file goes away
/// with it unless the catalog takes it.
#[derive(Debug)]
pub struct NewBlock {
    handle: Arc<Block>,
    place: Arc<Place>,
    kept: bool,
}

impl NewBlock {
    pub(super) fn new(handle: Arc<Block>, place: Arc<Place>) -> NewBlock {
        NewBlock {
            handle,
            place,
            kept: false,
        }
    }

    /// Rows in the block.
    pub fn rows(&self) -> u64 {
        self.handle.rows()
    }

    /// The block's number.
    pub(super) fn id(&self) -> BlockId {
        self.handle.id()
    }

    /// The block, to be read before it is part of a table.
    pub fn handle(&self) -> Arc<Block> {
        self.handle.clone()
    }

    /// Leaves the file where it is.
    pub(super) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for NewBlock {
    fn drop(&mut self) {
        if !self.kept {
            self.place.discard(self.handle.id());
        }
    }
}

impl BlockWriter {
    pub(super) fn new(place: Arc<Place>, schema: Arc<TableSchema>, options: TableOptions) -> Self {
        let arrow = schema.arrow();
        let ranges = PendingRanges::of(&schema, &options, options.block_bytes);
        BlockWriter {
            place,
            schema,
            arrow,
            options,
            pending: Pending::default(),
            ranges,
            in_order: false,
            written: Vec::new(),
        }
    }

    /// Rows come in the order that blocks of a sorted or partitioned table have, and
    /// keep it: sorting them again could exchange equal ones.
    pub(super) fn in_order(self) -> Self {
        BlockWriter {
            in_order: true,
            ranges: None,
            ..self
        }
    }

    /// Adds rows; a block is written whenever its target size is reached.
    ///
    /// # Errors
    /// 42804 if the columns are not the table's, 23502 for a NULL where none may
    /// be, 22003 for a decimal out of range, `Full`, `Io`.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        check_batch(&self.schema, batch)?;
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(());
        }
        if let Some(ranges) = &mut self.ranges {
            let columns = batch.columns().to_vec();
            ranges.push(RecordBatch::try_new(self.arrow.clone(), columns)?)?;
            return self.write_due();
        }
        let bytes = raw_bytes(batch.columns(), self.options.layout.is_sparse());
        let row_bytes = (bytes / rows as u64).max(1);
        let (most, mut start) = (self.options.block_bytes, 0);
        while start < rows {
            let taken = self.pending.fill(batch, start, row_bytes, most);
            start += taken;
            if taken == 0 || self.pending.is_full(most) {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes what is left and hands over all blocks.
    ///
    /// # Errors
    /// As [`BlockWriter::push`].
    pub fn finish(mut self) -> Result<Vec<NewBlock>> {
        if let Some(ranges) = &mut self.ranges {
            ranges.end()?;
            self.write_due()?;
        }
        self.flush()?;
        Ok(std::mem::take(&mut self.written))
    }

    /// Writes rows of one range that are to be blocks of their own, as many as their
    /// bytes fill, of about as many rows each; returns how many.
    pub(super) fn write_evenly(&mut self, batch: &RecordBatch, bytes: u64) -> Result<usize> {
        let rows = batch.num_rows();
        let blocks = bytes.div_ceil(self.options.block_bytes).max(1);
        let blocks = usize::try_from(blocks)
            .unwrap_or(rows)
            .clamp(1, rows.max(1));
        let share = |number: usize| number * rows / blocks;
        for number in 0..blocks {
            let (start, end) = (share(number), share(number + 1));
            self.write(batch.slice(start, end - start))?;
        }
        Ok(blocks)
    }

    fn write_due(&mut self) -> Result<()> {
        while let Some(due) = self.ranges.as_mut().and_then(PendingRanges::next_due) {
            self.write(due.batch)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        match self.pending.take(Some(&self.arrow))? {
            Some((batch, _)) => self.write(batch),
            None => Ok(()),
        }
    }

    /// Writes a block.
    fn write(&mut self, batch: RecordBatch) -> Result<()> {
        let batch = match self.in_order {
            true => batch,
            false => match sort_order(&batch, &self.schema, &self.options)? {
                Some(order) => arrow_select::take::take_record_batch(&batch, &order)?,
                None => batch,
            },
        };
        let id = self.place.next_block();
        let bytes = block::build(id, &self.schema, &self.options, &batch)?;
        let info = BlockInfo {
            id,
            rows: batch.num_rows() as u64,
            bytes: bytes.total(),
            layout: self.options.layout,
            version: None,
            overlays: Vec::new(),
        };
        self.place.files.write(&file_name(id), &bytes.pieces())?;
        let handle = Block::new(
            info,
            self.schema.clone(),
            None,
            self.place.files.clone(),
            self.place.cache.clone(),
        );
        self.written
            .push(NewBlock::new(Arc::new(handle), self.place.clone()));
        Ok(())
    }
}

/// Checks that a batch has the columns of a table, and no NULL where none may be.
///
/// # Errors
/// 42804, 23502.
pub(super) fn check_batch(schema: &TableSchema, batch: &RecordBatch) -> Result<()> {
    let given = batch.columns();
    if given.len() != schema.columns.len() {
        return Err(wrong_width(given.len(), schema.columns.len()));
    }
    for (column, array) in schema.columns.iter().zip(given) {
        if *array.data_type() != column.kind.arrow() {
            let message = format!(
                "column {} is {}, not {}",
                column.name,
                column.kind,
                array.data_type()
            );
            return Err(Error::invalid("42804", message));
        }
        if !column.nullable && array.null_count() > 0 {
            return Err(not_null(&column.name));
        }
    }
    Ok(())
}

/// The error for rows of another width than the table.
pub(super) fn wrong_width(given: usize, wanted: usize) -> Error {
    let message = format!("{given} columns were given, the table has {wanted}");
    Error::invalid("42804", message)
}

/// The error for a NULL where none may be.
pub(super) fn not_null(column: &str) -> Error {
    let message = format!("null value in column \"{column}\" violates not-null constraint");
    Error::invalid("23502", message)
}

/// Fields may differ in nullability between batches, so columns are joined one by one.
pub(super) fn concatenated(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<RecordBatch> {
    let join = |column: usize| {
        let arrays: Vec<&dyn Array> = batches
            .iter()
            .map(|batch| batch.column(column).as_ref())
            .collect();
        arrow_select::concat::concat(&arrays)
    };
    let columns = (0..schema.fields().len())
        .map(join)
        .collect::<std::result::Result<Vec<ArrayRef>, _>>()?;
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

/// The rows of a batch in the order that a sorted table wants.
pub(super) fn sort_order(
    batch: &RecordBatch,
    schema: &TableSchema,
    options: &TableOptions,
) -> Result<Option<UInt32Array>> {
    let Some(column) = options
        .sort_by
        .as_ref()
        .and_then(|name| schema.index_of(name))
    else {
        return Ok(None);
    };
    let order = arrow_schema::SortOptions {
        descending: false,
        nulls_first: false,
    };
    let rows = arrow_ord::sort::sort_to_indices(batch.column(column), Some(order), None)?;
    Ok(Some(rows))
}

/// Bytes of the values: what block sizes are measured in. For layouts in which
/// a NULL takes no space it counts as one byte, for the sake of memory.
pub(super) fn raw_bytes(columns: &[ArrayRef], sparse: bool) -> u64 {
    let bytes = |array: &ArrayRef| -> u64 {
        let absent = if sparse { array.null_count() as u64 } else { 0 };
        let rows = array.len() as u64 - absent;
        let present = match array.data_type() {
            DataType::Utf8View => {
                array.as_string_view().lengths().map(u64::from).sum::<u64>() + 4 * rows
            }
            DataType::BinaryView => {
                array.as_binary_view().lengths().map(u64::from).sum::<u64>() + 4 * rows
            }
            DataType::Boolean => rows,
            DataType::Decimal128(precision, _) if *precision <= 9 => 4 * rows,
            DataType::Decimal128(precision, _) if *precision <= 18 => 8 * rows,
            other => rows * other.primitive_width().unwrap_or(16) as u64,
        };
        present + absent
    };
    columns.iter().map(bytes).sum()
}
