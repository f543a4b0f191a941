//! Scans: select(projection, predicate) over the blocks of one table (Q1).
//!
//! A [`Scan`] is shared by any number of [`ScanWorker`]s, which take blocks from
//! one queue. A worker prunes its block by zone maps, evaluates the predicate
//! zone by zone on the predicate's columns alone, and reads the projected
//! columns only for rows that pass. A filter that arrives while running
//! ([`Scan::tighten`]) prunes what has not been read yet; nothing that was
//! delivered is read again.

mod access;
mod ahead;
mod emit;
mod filter;
mod foremost;
mod found;
mod fragments;
mod keep;
mod key;
mod look_up;
mod metrics;
mod pipelined;
mod worker;

pub use foremost::Foremost;
pub use found::FoundRows;
pub use fragments::Columns;
pub use key::KeyLookUp;
pub use look_up::{BlockBounds, Extent, LookUp, look_up};
pub use metrics::ScanMetrics;
pub use worker::ScanWorker;

use self::ahead::ReadAhead;
use crate::block::Block;
use crate::codec::ArrayForm;
use crate::delta::{Fragment, ReadView, RowHome};
use crate::error::{Error, Result};
use crate::predicate::{BoundPredicate, Conditions, Predicate, Prune};
use crate::schema::TableSchema;
use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Rows of a batch unless the request says otherwise: one zone.
pub const BATCH_ROWS: usize = crate::format::ZONE_ROWS;

/// Name of the column of row ids.
pub const ROW_ID: &str = "rowid";

/// What to read.
#[derive(Clone, Debug, Default)]
pub struct ScanRequest {
    /// Columns to return, in this order.
    pub projection: Vec<usize>,
    /// Rows to return: those for which it is TRUE.
    pub predicate: Option<Predicate>,
    /// At most this many rows.
    pub limit: Option<usize>,
    /// Most rows of a batch; 0 for [`BATCH_ROWS`].
    pub batch_rows: usize,
    /// How blocks of columns are scanned.
    pub scanner: ColumnScanner,
    /// Which rows are enough, if not all.
    pub top: Option<Top>,
    /// What the reader sees.
    pub view: ReadView,
    /// Whether batches end with a column `rowid` of [`RowId`]s, as unsigned integers.
    pub row_ids: bool,
    /// In which arrays [`ScanWorker::next_columns`] gives values.
    pub form: ArrayForm,
    /// Where several scans count together, if it does not count alone; `blocks_total` is
    /// then left to whoever makes the scans.
    pub metrics: Option<Arc<ScanMetrics>>,
}

/// A test that a join's keys make of the other side's values.
pub trait ValueTest: Send + Sync + std::fmt::Debug {
    /// Whether it has dropped enough so far to be asked again.
    fn is_worthwhile(&self) -> bool;

    /// Drops the positions of values that nobody wants; `values` has one for each.
    fn retain(&self, values: &ArrayRef, positions: &mut Vec<u32>);

    /// All values that are wanted, each once, if they are few enough to be looked up;
    /// else none.
    fn wanted(&self) -> &[i64] {
        &[]
    }

    /// A condition on a column that all values meet which are wanted now, if there is one: blocks
    /// whose zone maps contradict it are not read.
    fn within(&self, _column: usize) -> Option<Predicate> {
        None
    }
}

#[derive(Debug)]
struct ValueFilter {
    column: usize,
    test: Arc<dyn ValueTest>,
}

/// Rows that are enough for ORDER BY … LIMIT: of each block those that come
/// first, with all that tie with the last of them. A block that cannot tell
/// them at once gives all its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Top {
    /// Position in the table of the column that rows are ordered by first.
    pub column: usize,
    /// Largest first.
    pub descending: bool,
    /// NULLs before everything else.
    pub nulls_first: bool,
    /// How many rows are wanted.
    pub rows: usize,
}

/// The two ways to scan columns (H4); both give the same rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnScanner {
    /// One iterator over all columns: conditions on codes first, then each
    /// column once for the rows that are left.
    #[default]
    Single,
    /// A node for each column, passing positions and values up.
    Pipelined,
}

impl std::str::FromStr for ColumnScanner {
    type Err = Error;

    fn from_str(text: &str) -> Result<ColumnScanner> {
        match text.to_ascii_lowercase().as_str() {
            "single" => Ok(ColumnScanner::Single),
            "pipelined" => Ok(ColumnScanner::Pipelined),
            _ => Err(
                Error::invalid("22023", format!("unknown column scanner \"{text}\""))
                    .with_hint("Valid scanners: single, pipelined."),
            ),
        }
    }
}

/// A scan in progress, shared by its workers.
#[derive(Debug)]
pub struct Scan {
    table: Arc<TableSchema>,
    blocks: Vec<Arc<Block>>,
    /// Rows in no block, after the blocks in the queue.
    fragments: Vec<(RowHome, Arc<Fragment>)>,
    next: AtomicUsize,
    /// What is read before it is needed, if anything.
    ahead: Option<ReadAhead>,
    projection: Vec<usize>,
    output: SchemaRef,
    predicate: Option<BoundPredicate>,
    columns: Vec<usize>,
    arrived: RwLock<Option<BoundPredicate>>,
    remaining: AtomicU64,
    batch_rows: usize,
    scanner: ColumnScanner,
    top: Option<Top>,
    view: ReadView,
    row_ids: bool,
    form: ArrayForm,
    /// Tests of values that arrived.
    filters: RwLock<Vec<ValueFilter>>,
    metrics: Arc<ScanMetrics>,
}

/// What a worker takes from the queue.
enum Work {
    /// A block, and whether zone maps say that all its rows pass.
    Block(Arc<Block>, bool),
    /// Rows in no block.
    Fragment(RowHome, Arc<Fragment>),
}

impl Scan {
    /// Prepares a scan of `blocks` and `fragments`, which share the columns of
    /// `table`; `schema` is its Arrow schema.
    ///
    /// # Errors
    /// 42703 for a column that is not there, 42804 for a mistyped constant.
    pub fn new(
        table: Arc<TableSchema>,
        schema: &SchemaRef,
        blocks: Vec<Arc<Block>>,
        fragments: Vec<(RowHome, Arc<Fragment>)>,
        request: &ScanRequest,
    ) -> Result<Arc<Scan>> {
        let predicate = request.predicate.as_ref();
        let predicate = predicate
            .map(|predicate| BoundPredicate::bind(predicate, &table))
            .transpose()?;
        Scan::bound(table, schema, blocks, fragments, request, predicate)
    }

    /// The same with `predicate` in the place of the request's.
    fn bound(
        table: Arc<TableSchema>,
        schema: &SchemaRef,
        blocks: Vec<Arc<Block>>,
        fragments: Vec<(RowHome, Arc<Fragment>)>,
        request: &ScanRequest,
        predicate: Option<BoundPredicate>,
    ) -> Result<Arc<Scan>> {
        let mut fields = Vec::with_capacity(request.projection.len());
        for column in &request.projection {
            let field = schema.fields().get(*column);
            fields.push(
                field
                    .ok_or_else(|| {
                        Error::invalid("42703", format!("there is no column number {column}"))
                    })?
                    .clone(),
            );
        }
        if request.row_ids {
            fields.push(Arc::new(Field::new(ROW_ID, DataType::UInt64, false)));
        }
        let mut columns = request.projection.clone();
        if let Some(predicate) = &predicate {
            predicate.columns(&mut columns);
        }
        let metrics = request.metrics.clone().unwrap_or_else(|| {
            let alone = ScanMetrics::default();
            let total = blocks.len() as u64;
            alone.blocks_total.store(total, Ordering::Relaxed);
            Arc::new(alone)
        });
        Ok(Arc::new(Scan {
            table,
            ahead: ReadAhead::of(&blocks),
            blocks,
            fragments,
            next: AtomicUsize::new(0),
            projection: request.projection.clone(),
            output: Arc::new(Schema::new(fields)),
            predicate,
            columns,
            arrived: RwLock::default(),
            remaining: AtomicU64::new(request.limit.map_or(u64::MAX, |limit| limit as u64)),
            batch_rows: if request.batch_rows == 0 {
                BATCH_ROWS
            } else {
                request.batch_rows
            },
            scanner: request.scanner,
            top: request.top,
            view: request.view.clone(),
            row_ids: request.row_ids,
            form: request.form,
            filters: RwLock::default(),
            metrics,
        }))
    }

    /// A worker; several may run at once, each in its own thread.
    pub fn worker(self: &Arc<Self>) -> ScanWorker {
        ScanWorker::new(self.clone())
    }

    /// The columns of the table that is scanned.
    pub fn table(&self) -> &Arc<TableSchema> {
        &self.table
    }

    /// What has happened so far.
    pub fn metrics(&self) -> &Arc<ScanMetrics> {
        &self.metrics
    }

    /// Blocks that the scan may have to read.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Blocks and fragments that may have to be read: most workers that have work.
    pub fn pieces(&self) -> usize {
        self.blocks.len() + self.fragments.len()
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.output
    }

    /// Sets a condition that rows must meet to matter from now on, in the place
    /// of the one set before. It prunes zones and blocks not read yet; rows that
    /// do not meet it may still come.
    ///
    /// # Errors
    /// As [`Scan::new`].
    pub fn tighten(&self, predicate: &Predicate) -> Result<()> {
        let bound = BoundPredicate::bind(predicate, &self.table)?;
        *self.arrived.write() = Some(bound);
        Ok(())
    }

    /// Drops rows whose values in `column` a test does not want, as far as that is
    /// cheap: others may come as well.
    pub fn filter_values(&self, column: usize, test: Arc<dyn ValueTest>) {
        self.filters.write().push(ValueFilter { column, test });
    }

    /// Whether there is a test that values are worth reading for.
    fn is_filtered(&self) -> bool {
        let filters = self.filters.read();
        filters.iter().any(|filter| filter.test.is_worthwhile())
    }

    /// Takes the next block that zone maps do not rule out, or fragment.
    fn next_work(&self) -> Result<Option<Work>> {
        while self.remaining.load(Ordering::Relaxed) > 0 {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(block) = self.blocks.get(number) else {
                let fragment = self.fragments.get(number - self.blocks.len());
                return Ok(fragment.map(|(home, fragment)| Work::Fragment(*home, fragment.clone())));
            };
            let (verdict, by_bloom) = self.verdict(block)?;
            if verdict == Prune::None || by_bloom {
                self.is_done_with(block);
                self.metrics.blocks_pruned.fetch_add(1, Ordering::Relaxed);
                let bloomed = u64::from(by_bloom);
                self.metrics
                    .blocks_pruned_by_bloom
                    .fetch_add(bloomed, Ordering::Relaxed);
                if by_bloom || self.fails(block) {
                    // In range: a block has at most 2^20 rows.
                    self.metrics.decided(block.rows() as usize, 0);
                }
                continue;
            }
            self.metrics.blocks_read.fetch_add(1, Ordering::Relaxed);
            let is_cold = !block.is_in_memory(&self.columns);
            let cold = u64::from(is_cold);
            self.metrics.blocks_cold.fetch_add(cold, Ordering::Relaxed);
            self.metrics
                .bytes_read
                .fetch_add(block.bytes_of(&self.columns)?, Ordering::Relaxed);
            let all = verdict == Prune::All;
            self.read_ahead((number, block), all, is_cold);
            return Ok(Some(Work::Block(block.clone(), all)));
        }
        Ok(None)
    }

    /// Whether it is the scan's own predicate that rules a block out, not one that arrived.
    fn fails(&self, block: &Block) -> bool {
        let zone = |column| block.zone(column).ok();
        let own = self.predicate.as_ref();
        self.arrived.read().is_none() || own.is_some_and(|own| own.prune(&zone) == Prune::None)
    }

    /// What zone maps say of a block, and whether Bloom filters rule it out.
    fn verdict(&self, block: &Block) -> Result<(Prune, bool)> {
        let verdict = self.prune_block(block)?;
        let by_bloom = verdict == Prune::Some || verdict == Prune::Unknown;
        Ok((verdict, by_bloom && self.ruled_out(block)?))
    }

    fn ruled_out(&self, block: &Block) -> Result<bool> {
        match &self.predicate {
            None => Ok(false),
            Some(predicate) => access::ruled_out(&self.table, block, &Conditions::of(predicate)),
        }
    }

    fn prune_block(&self, block: &Block) -> Result<Prune> {
        let zone = |column| block.zone(column).ok();
        let arrived = self.arrived.read();
        let filters = self.filters.read();
        let within = filters.iter().filter_map(|filter| {
            let within = filter.test.within(filter.column)?;
            BoundPredicate::bind(&within, &self.table).ok()
        });
        let within: Vec<BoundPredicate> = within.collect();
        drop(filters);
        if self.predicate.is_none() && arrived.is_none() && within.is_empty() {
            return Ok(Prune::All);
        }
        // A block that cannot be opened must fail the scan, not be skipped.
        block.zone(0)?;
        if arrived
            .iter()
            .chain(&within)
            .any(|predicate| predicate.prune(&zone) == Prune::None)
        {
            return Ok(Prune::None);
        }
        Ok(self
            .predicate
            .as_ref()
            .map_or(Prune::All, |predicate| predicate.prune(&zone)))
    }

    /// Reserves up to `rows` rows of the limit.
    fn reserve(&self, rows: usize) -> usize {
        let taken = self
            .remaining
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                Some(if left == u64::MAX {
                    left
                } else {
                    left.saturating_sub(rows as u64)
                })
            });
        taken.map_or(0, |left| {
            usize::try_from(left).unwrap_or(usize::MAX).min(rows)
        })
    }
}
