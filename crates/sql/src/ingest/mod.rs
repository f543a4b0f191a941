//! Rows into blocks: what INSERT, COPY FROM, CREATE TABLE AS, ALTER TABLE SET and
//! `Database::load` have in common.
//!
//! ```text
//! source streams ─ assign (casts, defaults) ─┬─ writer ─ blocks ┐
//!                                            └─ writer ─ blocks ┴─ one commit
//! ```
//!
//! Each stream has a writer of its own and they run at once. A table with
//! `sort_by` is written from one stream, sorted as a whole, unless
//! `partition_by` keeps ranges of its rows apart. Until the
//! commit nothing is visible, and blocks of a statement that fails are removed.

mod apart;
mod checks;
mod keys;
mod load;
mod references;
mod source;
mod task;

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use freestone_exec::vector::{Batch, Vector};
use freestone_exec::{Batches, Inside, Node, Plan, Rows, SortKey, Sorting};
use freestone_storage::delta::LATEST;
use freestone_storage::{
    CatalogEdit, NewBlock, ReadView, Store, Table, TableId, TableOptions, TableSchema,
};
use futures::StreamExt;
use parking_lot::Mutex;

use crate::engine::{Pipelines, RunContext};
use crate::error::{Error, Result};
use crate::interrupt::apart;
use crate::lower::sort_key;
use crate::names::Name;
use crate::outcome::RowStream;
use crate::progress::Progress;
use crate::state::SessionState;
use crate::types::nullable;
use crate::values::{BadValue, assign};

pub(crate) use apart::write_apart;
pub(crate) use checks::{Checks, shown_row};
pub(crate) use keys::KeySet;
pub(crate) use load::load;
use references::References;
use source::plan_streams;
pub(crate) use source::{Streams, Unopened, batches, iterators};
use task::Task;

/// More rows than these become blocks at once, and not by way of the delta.
pub(crate) const FEW: usize = 10_000;

/// Rows below which a second writer is not worth a second block.
const ROWS_FOR_TWO: f64 = 200_000.0;

/// What is being written to.
#[derive(Clone)]
pub(crate) struct Target {
    store: Arc<Store>,
    schema: Arc<TableSchema>,
    options: TableOptions,
    check_keys: bool,
    checks: Arc<Checks>,
}

impl Target {
    pub(crate) fn new(store: &Arc<Store>, schema: Arc<TableSchema>, options: TableOptions) -> Self {
        Self {
            store: Arc::clone(store),
            schema,
            options,
            check_keys: true,
            checks: Arc::default(),
        }
    }

    /// The target of rows that `checks` must hold for.
    pub(crate) fn with_checks(mut self, checks: Checks) -> Self {
        self.checks = Arc::new(checks);
        self
    }

    /// The target of rows that are known to keep the keys.
    pub(crate) fn without_keys(mut self) -> Self {
        self.check_keys = false;
        self
    }
}

/// Blocks on disk that no table names yet, and the keys in them.
pub(crate) struct Written {
    blocks: Vec<NewBlock>,
    keys: KeySet,
    references: References,
    rows: u64,
}

impl Written {
    /// Compares the keys with the rows that a reader of a table sees, and with
    /// everything committed since.
    ///
    /// # Errors
    /// `23505`, naming the constraint and the key.
    pub(crate) fn check_keys(&self, table: &Table, view: &ReadView) -> Result<()> {
        self.keys.check_against(table, &newest(view))
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The blocks, for a table that has no other rows.
    pub(crate) fn into_blocks(self) -> Vec<NewBlock> {
        self.blocks
    }
}

/// Publishes a change to the catalog.
///
/// # Errors
/// The closure's own, unchanged, and those of storage.
pub(crate) fn commit<T>(
    store: &Store,
    edit: impl FnOnce(&mut CatalogEdit) -> Result<T>,
) -> Result<T> {
    edited(edit, |wrapped| store.commit(wrapped))
}

/// Runs an edit by `with`, with the error of either.
pub(crate) fn edited<T, E: FnOnce(&mut CatalogEdit) -> Result<T>>(
    edit: E,
    with: impl FnOnce(
        &mut dyn FnMut(&mut CatalogEdit) -> freestone_storage::Result<T>,
    ) -> freestone_storage::Result<T>,
) -> Result<T> {
    let (mut failure, mut edit) = (None, Some(edit));
    let refused = || freestone_storage::Error::invalid("XX000", "the change was refused");
    let mut wrapped = |catalog: &mut CatalogEdit| match edit.take().map(|edit| edit(catalog)) {
        Some(Ok(done)) => Ok(done),
        Some(Err(error)) => {
            failure = Some(error);
            Err(refused())
        }
        None => Err(refused()),
    };
    let committed = with(&mut wrapped);
    match (committed, failure) {
        (_, Some(error)) => Err(error),
        (Ok(done), None) => Ok(done),
        (Err(error), None) => Err(error.into()),
    }
}

/// Everything committed, and a reader's own rows.
fn newest(view: &ReadView) -> ReadView {
    ReadView {
        timestamp: LATEST,
        ..view.clone()
    }
}

/// Appends written blocks to the table `seen`; returns the rows. `parents` is what
/// the statement sees of other tables.
///
/// # Errors
/// `23505` when a key exists already, `40001` when the table is gone.
pub(crate) fn append(
    edit: &mut CatalogEdit,
    name: &Name,
    seen: &Table,
    view: &ReadView,
    written: Written,
    parents: &dyn Fn(TableId) -> ReadView,
) -> Result<u64> {
    let Written {
        blocks,
        keys,
        references,
        rows,
    } = written;
    let now = edit
        .catalog()
        .table(&name.schema, &name.name)
        .filter(|now| now.id == seen.id)
        .ok_or_else(|| {
            Error::new(
                "40001",
                format!("table \"{name}\" was dropped or replaced meanwhile"),
            )
        })?;
    keys.check_against(now, &newest(view))?;
    let appended = edit.append(seen.id, blocks)?;
    seen.activity().inserted(appended);
    // Parents may be among the rows themselves.
    references.check(edit.catalog(), &name.name, &|table| newest(&parents(table)))?;
    debug_assert_eq!(appended, rows);
    Ok(appended)
}

/// Rows that are not worth a block, or streams of more.
pub(crate) enum Gathered {
    Few(Vec<RecordBatch>),
    Many(Streams),
}

/// Reads one stream as far as its rows are few.
///
/// # Errors
/// Those of the stream.
pub(crate) async fn few(state: &SessionState, streams: Streams) -> Result<Gathered> {
    let [stream] = match <[Unopened; 1]>::try_from(streams) {
        Ok(only) => only,
        Err(several) => return Ok(Gathered::Many(several)),
    };
    let mut stream = stream.open(&RunContext::of(state));
    let (mut batches, mut rows) = (Vec::new(), 0);
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        rows += batch.num_rows();
        batches.push(batch);
        if rows > FEW {
            return Ok(Gathered::Many(source::resumed(batches, stream)));
        }
    }
    Ok(Gathered::Few(batches))
}

/// The rows of a plan, cast to the target's columns one by one, in at most so many streams.
///
/// # Errors
/// `42804` when a column's type cannot be stored in the target's.
pub(crate) fn assigned(target: &Target, plan: &Pipelines, threads: usize) -> Result<Streams> {
    let schema = plan.schema();
    for (field, column) in schema.fields().iter().zip(&target.schema.columns) {
        crate::values::check_assignable(field.data_type(), column)?;
    }
    let streams = streams_of(plan, threads);
    let to = Arc::clone(&target.schema);
    Ok(plan_streams(plan, streams, move |batch| {
        assign_batch(&to, &batch).map_err(|(column, bad)| {
            let detail = format!("column \"{}\"", to.columns[column].name);
            bad.error.with_detail(detail)
        })
    }))
}

/// How many streams share the rows of a plan: one for few rows, of which two would leave two small
/// blocks, and for rows that come in an order.
fn streams_of(plan: &Pipelines, threads: usize) -> usize {
    let plan = plan.plan();
    match plan.estimate >= ROWS_FOR_TWO && !plan.is_ordered() {
        true => threads,
        false => 1,
    }
}

/// Casts a batch, column by column; on failure names the column.
pub(crate) fn assign_batch(
    schema: &TableSchema,
    batch: &RecordBatch,
) -> Result<RecordBatch, (usize, BadValue)> {
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (index, (column, array)) in schema.columns.iter().zip(batch.columns()).enumerate() {
        columns.push(assign(array, column).map_err(|bad| (index, bad))?);
    }
    let arrow = nullable(schema);
    RecordBatch::try_new(arrow, columns).map_err(|error| {
        let error = Error::from(error);
        (0, BadValue { row: 0, error })
    })
}

/// Writes all rows of the streams as blocks.
///
/// # Errors
/// Those of the streams; `23502`, `23505`; `58030` and `53100` of the disk.
pub(crate) async fn write(
    state: &SessionState,
    target: &Target,
    streams: Streams,
) -> Result<Written> {
    let context = RunContext::of(state);
    let progress = state.get::<Progress>();
    let streams = streams.into_iter().map(|stream| stream.open(&context));
    let streams = match sort_column(target) {
        Some(column) => {
            let sorted = sorted(streams.collect(), target, column)?;
            vec![sorted.stream(&context)?]
        }
        None => streams.collect(),
    };
    let tasks = streams.into_iter();
    let tasks = tasks.map(|stream| {
        Task::spawn(
            &context.requests,
            write_stream(target.clone(), stream, progress.clone()),
        )
    });
    let tasks: Vec<_> = tasks.collect();
    let mut all = Written {
        blocks: Vec::new(),
        keys: KeySet::new(&target.schema, target.check_keys)?,
        references: References::new(&target.schema),
        rows: 0,
    };
    for task in tasks {
        let part = task.join().await?;
        all.blocks.extend(part.blocks);
        all.keys.merge(part.keys)?;
        all.references.merge(part.references);
        all.rows += part.rows;
    }
    Ok(all)
}

async fn write_stream(
    target: Target,
    mut stream: RowStream,
    progress: Option<Arc<Progress>>,
) -> Result<Written> {
    let mut writer = target.store.writer(&target.schema, &target.options)?;
    let mut keys = KeySet::new(&target.schema, target.check_keys)?;
    let mut references = References::new(&target.schema);
    let mut rows = 0;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let batch = target.checks.completed(batch)?;
        target.checks.check(&batch)?;
        keys.add(&batch)?;
        references.add(&batch);
        // Blocks are encoded when they are full.
        apart(|| writer.push(&batch))?;
        rows += batch.num_rows() as u64;
        if let Some(progress) = &progress {
            progress.add_done(batch.num_rows() as u64);
        }
    }
    Ok(Written {
        blocks: apart(|| writer.finish())?,
        keys,
        references,
        rows,
    })
}

/// The column that all rows are sorted by; those in ranges are by each block alone.
fn sort_column(target: &Target) -> Option<usize> {
    let options = &target.options;
    let sort_by = options.sort_by.as_ref();
    let sort_by = sort_by.filter(|_| options.partition_by.is_none());
    sort_by.and_then(|name| target.schema.index_of(name))
}

/// All streams as one, in the order of a column, NULLs last.
fn sorted(streams: Vec<RowStream>, target: &Target, column: usize) -> Result<Pipelines> {
    let schema = nullable(&target.schema);
    let fields: Vec<_> = schema.fields().iter().cloned().collect();
    let types = fields.iter().map(|field| field.data_type().clone());
    let types: Vec<_> = types.collect();
    let (expression, kind) = sort_key(column, &fields[column])?;
    let key = SortKey {
        expression,
        kind,
        descending: false,
        nulls_first: false,
    };
    let sorting = Sorting {
        keys: vec![key],
        skip: 0,
        fetch: None,
    };
    let rows = Node::Rows(Arc::new(Incoming(Mutex::new(streams))));
    let rows = Plan::new(rows, types.clone(), ROWS_FOR_TWO);
    let plan = Plan::new(Node::Sort(Box::new(rows), sorting), types, ROWS_FOR_TWO);
    Ok(Pipelines::new(plan, fields))
}

/// Streams as rows of a plan, which are read once, by threads that wait for them.
struct Incoming(Mutex<Vec<RowStream>>);

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Rows for Incoming {
    fn name(&self) -> &'static str {
        "incoming rows"
    }

    fn waits(&self) -> bool {
        true
    }

    fn open(&self, _: &dyn Inside) -> freestone_exec::Result<Vec<Batches<'_>>> {
        let streams = std::mem::take(&mut *self.0.lock()).into_iter();
        let parts = streams.map(|mut stream| -> Batches<'_> {
            let batches = std::iter::from_fn(move || {
                let batch = futures::executor::block_on(stream.next())?;
                let batch = batch.map_err(freestone_exec::Error::from);
                Some(batch.and_then(|batch| {
                    let columns = batch.columns().iter().map(Vector::from_arrow);
                    Ok(Batch {
                        columns: columns.collect::<freestone_exec::Result<_>>()?,
                        rows: batch.num_rows(),
                    })
                }))
            });
            Box::new(batches)
        });
        Ok(parts.collect())
    }
}
