//! Rows into blocks: what INSERT, COPY FROM, CREATE TABLE AS, ALTER TABLE SET and
//! `Database::load` have in common.
//!
//! ```text
//! source streams ─ assign (casts, defaults) ─┬─ writer ─ blocks ┐
//!                                            └─ writer ─ blocks ┴─ one commit
//! ```
//!
//! Each stream has a writer of its own and they run at once. A table with
//! `sort_by` is written from one stream, sorted as a whole by DataFusion, unless
//! `partition_by` keeps ranges of its rows apart. Until the
//! commit nothing is visible, and blocks of a statement that fails are removed.

mod apart;
mod checks;
mod keys;
mod load;
mod references;
mod source;

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::SortOptions;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column as ColumnExpr;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::streaming::StreamingTableExec;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use freestone_exec::Plan;
use freestone_storage::delta::LATEST;
use freestone_storage::{
    CatalogEdit, NewBlock, ReadView, Store, Table, TableId, TableOptions, TableSchema,
};
use futures::StreamExt;

use crate::engine::pipelines;
use crate::error::{Error, Result};
use crate::interrupt::apart;
use crate::names::Name;
use crate::progress::Progress;
use crate::types::nullable;
use crate::values::{BadValue, assign};

pub(crate) use apart::write_apart;
pub(crate) use checks::{Checks, shown_row};
pub(crate) use keys::KeySet;
pub(crate) use load::load;
use references::References;
use source::plan_streams;
pub(crate) use source::{Streams, batches, iterators};

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
pub(crate) async fn few(
    state: &SessionState,
    target: &Target,
    streams: Streams,
) -> Result<Gathered> {
    let [stream] = streams.as_slice() else {
        return Ok(Gathered::Many(streams));
    };
    let mut stream = stream.execute(state.task_ctx());
    let (mut batches, mut rows) = (Vec::new(), 0);
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        rows += batch.num_rows();
        batches.push(batch);
        if rows > FEW {
            let schema = nullable(&target.schema);
            return Ok(Gathered::Many(source::resumed(schema, batches, stream)));
        }
    }
    Ok(Gathered::Few(batches))
}

/// The rows of a plan, cast to the target's columns one by one, in at most so many streams.
///
/// # Errors
/// `42804` when a column's type cannot be stored in the target's.
pub(crate) fn assigned(
    target: &Target,
    plan: Arc<dyn ExecutionPlan>,
    threads: usize,
) -> Result<Streams> {
    let schema = plan.schema();
    for (field, column) in schema.fields().iter().zip(&target.schema.columns) {
        crate::values::check_assignable(field.data_type(), column)?;
    }
    let streams = streams_of(&plan, threads);
    let to = Arc::clone(&target.schema);
    Ok(plan_streams(
        plan,
        streams,
        nullable(&target.schema),
        move |batch| {
            assign_batch(&to, &batch).map_err(|(column, bad)| {
                let detail = format!("column \"{}\"", to.columns[column].name);
                bad.error.with_detail(detail)
            })
        },
    ))
}

/// How many streams share the rows of a plan: one for few rows, of which two would leave two small
/// blocks, and for rows that come in an order.
fn streams_of(plan: &Arc<dyn ExecutionPlan>, threads: usize) -> usize {
    let shares = |plan: &Arc<Plan>| plan.estimate >= ROWS_FOR_TWO && !plan.is_ordered();
    match pipelines(plan).is_some_and(shares) {
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
    let context = state.task_ctx();
    let progress = state.config().get_extension::<Progress>();
    let streams = match sort_column(target) {
        Some(column) => vec![sorted(streams, target, column, &context)?],
        None => streams
            .iter()
            .map(|partition| partition.execute(Arc::clone(&context)))
            .collect(),
    };
    let tasks: Vec<_> = streams
        .into_iter()
        .map(|stream| SpawnedTask::spawn(write_stream(target.clone(), stream, progress.clone())))
        .collect();
    let mut all = Written {
        blocks: Vec::new(),
        keys: KeySet::new(&target.schema, target.check_keys)?,
        references: References::new(&target.schema),
        rows: 0,
    };
    for task in tasks {
        let part = task
            .join()
            .await
            .map_err(|error| Error::internal(format!("a writing task failed: {error}")))??;
        all.blocks.extend(part.blocks);
        all.keys.merge(part.keys)?;
        all.references.merge(part.references);
        all.rows += part.rows;
    }
    Ok(all)
}

async fn write_stream(
    target: Target,
    mut stream: SendableRecordBatchStream,
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
fn sorted(
    streams: Streams,
    target: &Target,
    column: usize,
    context: &Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    let name = &target.schema.columns[column].name;
    let expr = PhysicalSortExpr {
        expr: Arc::new(ColumnExpr::new(name, column)),
        options: SortOptions {
            descending: false,
            nulls_first: false,
        },
    };
    let ordering =
        LexOrdering::new(vec![expr]).ok_or_else(|| Error::internal("an empty sort order"))?;
    let schema = nullable(&target.schema);
    let source = StreamingTableExec::try_new(schema, streams, None, None, false, None)?;
    let sort = SortExec::new(ordering.clone(), Arc::new(source)).with_preserve_partitioning(true);
    let merge = SortPreservingMergeExec::new(ordering, Arc::new(sort));
    Ok(execute_stream(Arc::new(merge), Arc::clone(context))?)
}
