//! Some rows of a table written in another design, to see what they become.

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::RecordBatch;
use freestone_model::{BlockUse, Design, Stored, Tried, TriedUsage, Usage, Workload};
use freestone_storage::{
    Block, DEFAULT_SCHEMA, IndexDefinition, IndexForm, IndexKind, Layout, ReadView, RowId,
    ScanRequest, Store, Table, TableOptions, TableSchema,
};

use super::changes::options_in;
use super::clock::Clock;
use super::present::{Sums, design_of, is_of_key};
use super::timing::{asked, seconds};
use crate::error::{Error, Result};

/// Rows that are written in each design, and blocks that they come from.
const ROWS: usize = 1 << 16;
const BLOCKS: usize = 4;
/// Rows that are fetched one by one, and how often: the quickest turn counts.
const FETCHED: u32 = 200;
const FETCHES: u32 = 5;

/// Rows of a table, from several places.
pub(crate) struct Rows {
    table: Arc<Table>,
    batches: Vec<RecordBatch>,
    count: usize,
    /// What is timed in each design.
    asked: Vec<(Usage, f64, ScanRequest)>,
}

/// Rows in a design of their own, in memory.
struct Written {
    /// Holds the blocks.
    _store: Arc<Store>,
    table: Arc<Table>,
    seconds: f64,
}

impl Rows {
    /// Reads rows that are next to each other from each of some blocks; none if there are
    /// no rows in blocks.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub(crate) fn of(table: &Arc<Table>, workload: &Workload) -> Result<Option<Self>> {
        let blocks = table.blocks();
        let some = blocks.len().min(BLOCKS);
        let chosen = (0..some).map(|number| Arc::clone(&blocks[number * blocks.len() / some]));
        let chosen: Vec<_> = chosen.collect();
        let each = ROWS / some.max(1);
        Self::first_of(table, chosen, each, &ReadView::default(), workload)
    }

    /// Reads the rows of some blocks of a table that a view sees; none if there are none.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub(crate) fn of_blocks(
        table: &Arc<Table>,
        blocks: Vec<Arc<Block>>,
        view: &ReadView,
        workload: &Workload,
    ) -> Result<Option<Self>> {
        Self::first_of(table, blocks, usize::MAX, view, workload)
    }

    fn first_of(
        table: &Arc<Table>,
        blocks: Vec<Arc<Block>>,
        each: usize,
        view: &ReadView,
        workload: &Workload,
    ) -> Result<Option<Self>> {
        let (mut batches, mut count) = (Vec::new(), 0);
        for block in blocks {
            let one = table.of_blocks(vec![block]);
            let scan = one.scan(&ScanRequest {
                view: view.clone(),
                ..all(&table.schema)
            })?;
            let mut taken = 0;
            for batch in scan.worker() {
                let batch = batch?;
                let batch = batch.slice(0, batch.num_rows().min(each - taken));
                taken += batch.num_rows();
                batches.push(batch);
                if taken >= each {
                    break;
                }
            }
            count += taken;
        }
        if count == 0 {
            return Ok(None);
        }
        Ok(Some(Self {
            table: Arc::clone(table),
            batches,
            count,
            asked: asked(table, workload)?,
        }))
    }

    /// What the whole table would be in a design.
    ///
    /// # Errors
    /// `Corrupt` or `Io`; `22023` for a design that cannot be.
    pub(crate) fn in_design(&self, design: &Design) -> Result<Stored> {
        let (schema, options) = declared(&self.table, design)?;
        let written = self.written(schema, options)?;
        let table = &written.table;
        let columns: Vec<usize> = (0..table.schema.columns.len()).collect();
        let fetch_seconds = fetched(table, &columns)?;
        let usages = self.asked.iter().map(|(usage, _, request)| {
            Ok(TriedUsage {
                usage: usage.clone(),
                seconds: seconds(table, request)?,
                fetch_seconds: fetched(table, &request.projection)?,
            })
        });
        let tried = Tried {
            rows: self.count as f64,
            usages: usages.collect::<Result<_>>()?,
        };
        let mut sums = Sums::default();
        for block in written.table.blocks() {
            sums.add(&written.table, block)?;
        }
        let now = design_of(&self.table);
        let is_unordered = design.sort_by.is_none() && design.partition_by.is_none();
        let as_now = (&now.sort_by, &now.partition_by) == (&design.sort_by, &design.partition_by);
        let rows = self.table.rows() as f64;
        Ok(Stored {
            design: design.clone(),
            rows,
            blocks: (rows / self.rows_of_block(&written.table)).ceil().max(1.0),
            row_bytes: sums.bytes / sums.rows.max(1.0),
            columns: sums.columns(),
            write_seconds: written.seconds / self.count as f64,
            fetch_seconds,
            in_order: as_now || is_unordered,
            tried: Some(tried),
            mixture: Vec::new(),
        })
    }

    /// Rows of a block of the whole table, if these are its blocks: where NULLs take no
    /// space there are more.
    fn rows_of_block(&self, written: &Table) -> f64 {
        let now = self.table.rows() as f64 / self.table.blocks().len().max(1) as f64;
        match written.blocks() {
            [full, _, ..] => full.rows() as f64,
            // One that is not full tells nothing but that it has room for them.
            _ => now.max(self.count as f64),
        }
    }

    /// What it would be in each layout, in the order of [`Layout::ALL`].
    ///
    /// # Errors
    /// As [`Rows::in_design`].
    pub(crate) fn in_layouts(&self, design: &Design) -> Result<Vec<Stored>> {
        let of = |layout: &Layout| {
            self.in_design(&Design {
                layout: layout.to_string(),
                ..design.clone()
            })
        };
        Layout::ALL.iter().map(of).collect()
    }

    fn written(&self, schema: TableSchema, options: TableOptions) -> Result<Written> {
        let store = Store::in_memory();
        let shared = Arc::new(schema.clone());
        let begin = Clock::start();
        let mut writer = store.writer(&shared, &options)?;
        for batch in &self.batches {
            writer.push(batch)?;
        }
        let blocks = writer.finish()?;
        let seconds = begin.seconds();
        store.commit(|edit| {
            let id = edit.create_table(DEFAULT_SCHEMA, "t", schema, options)?;
            edit.append(id, blocks)
        })?;
        let snapshot = store.snapshot();
        let table = snapshot.table(DEFAULT_SCHEMA, "t").cloned();
        Ok(Written {
            _store: store,
            table: table.ok_or_else(|| Error::internal("a trial without a table"))?,
            seconds,
        })
    }
}

/// The blocks of a table in numbers; their designs are layouts, in the order of
/// [`Layout::ALL`].
pub(crate) fn blocks_of(table: &Table) -> Vec<BlockUse> {
    let place = |layout: Layout| Layout::ALL.iter().position(|one| *one == layout);
    let blocks = table.blocks().iter().map(|block| BlockUse {
        rows: block.rows() as f64,
        heat: block.heat() as f64,
        design: place(block.layout()),
    });
    blocks.collect()
}

/// All columns of all rows.
fn all(schema: &TableSchema) -> ScanRequest {
    ScanRequest {
        projection: (0..schema.columns.len()).collect(),
        ..ScanRequest::default()
    }
}

/// Schema and options of a table in a design, without what only its names and other
/// tables need.
pub(super) fn declared(table: &Table, design: &Design) -> Result<(TableSchema, TableOptions)> {
    let options = options_in(table, design)?;
    let mut schema = (*table.schema).clone();
    schema.foreign_keys.clear();
    schema.checks.clear();
    let is_kept = |index: &IndexDefinition| index.columns.len() != 1 || is_of_key(table, index);
    schema.indexes.retain(is_kept);
    for index in &design.indexes {
        let column = schema.index_of(&index.column);
        let column = column.ok_or_else(|| Error::internal("an index without a column"))?;
        schema.indexes.push(IndexDefinition {
            number: 0,
            name: format!("{}_{}", index.column, index.kind),
            kind: index.kind.parse::<IndexKind>()?,
            columns: vec![column],
            form: IndexForm::default(),
        });
    }
    Ok((schema, options))
}

/// Seconds to fetch some columns of a row, from here and there.
fn fetched(table: &Table, columns: &[usize]) -> Result<f64> {
    let view = Default::default();
    let blocks = table.blocks();
    let place = |number: u32| -> Option<RowId> {
        let block = blocks.get(number as usize % blocks.len().max(1))?;
        let row = u64::from(number.wrapping_mul(2_654_435_761)) % block.rows().max(1);
        Some(RowId::in_block(block.id(), u32::try_from(row).ok()?))
    };
    let fetch = || -> Result<()> {
        for id in (0..FETCHED).filter_map(place) {
            black_box(table.row(&view, id, columns)?);
        }
        Ok(())
    };
    // Once to open what is opened once.
    fetch()?;
    let mut best = f64::INFINITY;
    for _ in 0..FETCHES {
        let begin = Clock::start();
        fetch()?;
        best = best.min(begin.seconds());
    }
    Ok(best / f64::from(FETCHED))
}
