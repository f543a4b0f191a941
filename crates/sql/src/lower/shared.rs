//! Common table expressions that are computed once, and recursion.
//!
//! One that is read once, or is small and read a few times, stands where it is read: conditions
//! reach into it, and the bulk engine finds groups that stand in a plan twice. Any other is a
//! table that computes its rows when the first of its readers in
//! a run asks for them, and keeps them for the others until the run ends. The rows of a
//! recursive term's last round are a table, too, which the operator of the recursion fills.

use std::fmt;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::default_table_source::{provider_as_source, source_as_provider};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::execution::session_state::SessionState;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{
    Expr, LogicalPlan, SubqueryAlias, TableScan, TableScanBuilder, TableType,
};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions, reset_plan_states,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, execute_stream,
};
use freestone_frontend::plan::{Column, ColumnId, Cte, CteBody, CteId, Plan};
use futures::{StreamExt, TryStreamExt};
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::operator::{batch, collected, over};
use super::operators::recursive::Recursive;
use super::{Lowering, own_name, schema_of};
use crate::engine::planned;
use crate::error::{Error, Result};

/// A common table expression, or the last round of one.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    rows: Rows,
    /// Its columns, in the order of the table's.
    columns: Vec<ColumnId>,
    /// The recursions around it whose last round its rows come from.
    rounds: Vec<Arc<LastRound>>,
}

/// Where the rows of a common table expression come from.
#[derive(Clone, Debug)]
enum Rows {
    Table(Arc<dyn TableProvider>),
    /// A plan that stands in the place of each reader.
    Plan(LogicalPlan),
}

/// Readers in whose places a plan stands, at most,
const READERS: usize = 4;
/// and its operators, if there are several readers: what is in it may stand there so as well.
const OPERATORS: usize = 32;

/// Whether a plan may stand in the places of its readers.
fn may_stand(plan: &LogicalPlan, readers: usize) -> DfResult<bool> {
    if readers > READERS {
        return Ok(false);
    }
    let (mut operators, mut steady) = (0, true);
    plan.apply_with_subqueries(|node| {
        operators += 1;
        steady &= match node {
            // Sums of floats differ from run to run.
            LogicalPlan::Aggregate(aggregate) if readers > 1 => {
                let fields = aggregate.schema.fields().iter();
                !fields
                    .into_iter()
                    .any(|field| field.data_type().is_floating())
            }
            // Rows that are not kept come once.
            LogicalPlan::TableScan(scan) if readers > 1 => !is_read_once(scan)?,
            LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::TableScan(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::EmptyRelation(_)
            | LogicalPlan::Join(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Union(_) => true,
            LogicalPlan::Sort(sort) => sort.fetch.is_none(),
            _ => false,
        };
        node.apply_expressions(|expr| {
            steady &= !expr.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(match steady {
            true => TreeNodeRecursion::Continue,
            false => TreeNodeRecursion::Stop,
        })
    })?;
    Ok(steady && (readers <= 1 || operators <= OPERATORS))
}

/// Whether a scan is that of a common table expression with one reader.
fn is_read_once(scan: &TableScan) -> DfResult<bool> {
    let provider = source_as_provider(&scan.source)?;
    let shared = provider.downcast_ref::<SharedTable>();
    Ok(shared.is_some_and(|table| table.once))
}

impl Lowering {
    pub(super) fn with(&self, ctes: &[Cte], body: &Plan) -> Result<LogicalPlan> {
        for (at, cte) in ctes.iter().enumerate() {
            self.expression_table(cte, readers(&ctes[at + 1..], body, cte.id))?;
        }
        self.plan(body)
    }

    /// Makes a common table expression known, which has some readers.
    pub(super) fn expression_table(&self, cte: &Cte, readers: usize) -> Result<()> {
        let mut rounds = Vec::new();
        let rows = match &cte.body {
            CteBody::Plan(plan) => {
                let below = self.plan(plan)?;
                let below = self.exactly_named(&self.kept(plan), below)?;
                self.rounds_of(plan, &mut rounds);
                match !cte.materialized && may_stand(&below, readers)? {
                    true => Rows::Plan(below),
                    false => {
                        let table = SharedTable::new(&cte.name, below, readers <= 1);
                        Rows::Table(Arc::new(table.anew_in(&rounds)))
                    }
                }
            }
            CteBody::Recursive {
                base,
                step,
                all,
                columns,
            } => {
                let once = (cte, readers <= 1);
                self.rounds_of(base, &mut rounds);
                self.rounds_of(step, &mut rounds);
                let table = self.recursive(once, (base, step), *all, columns)?;
                Rows::Table(Arc::new(table.anew_in(&rounds)))
            }
        };
        let mut columns = cte.body.columns();
        if matches!(cte.body, CteBody::Plan(_)) {
            columns.retain(|column| self.is_used(column.id));
        }
        let columns = columns.into_iter().map(|column| column.id).collect();
        let shared = Shared {
            rows,
            columns,
            rounds,
        };
        self.tables.borrow_mut().insert(cte.id, shared);
        Ok(())
    }

    /// Whether a common table expression, or the last round of one, is known.
    pub(super) fn is_shared(&self, id: CteId) -> bool {
        self.tables.borrow().contains_key(&id)
    }

    /// Exactly some columns; a row without columns stays one.
    fn exactly_named(&self, columns: &[Column], below: LogicalPlan) -> Result<LogicalPlan> {
        match columns.is_empty() {
            true => Ok(below),
            false => self.exactly(columns, below),
        }
    }

    fn recursive(
        &self,
        (cte, once): (&Cte, bool),
        (base, step): (&Plan, &Plan),
        all: bool,
        columns: &[Column],
    ) -> Result<SharedTable> {
        let below = self.plan(base)?;
        let below = self.exactly_named(&base.columns(), below)?;
        let fields = columns.iter().map(|column| {
            let kind = column.ty.arrow();
            datafusion::arrow::datatypes::Field::new(own_name(column), kind, true)
        });
        let schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let last = Arc::new(LastRound {
            schema: Arc::clone(&schema),
            rounds: Arc::default(),
            tables: Mutex::default(),
        });
        let shared = Shared {
            rows: Rows::Table(Arc::clone(&last) as _),
            columns: columns.iter().map(|column| column.id).collect(),
            rounds: vec![Arc::clone(&last)],
        };
        self.tables.borrow_mut().insert(cte.id, shared);
        let round = self.plan(step)?;
        let mut exprs = Vec::with_capacity(columns.len());
        for (of, to) in step.columns().iter().zip(columns) {
            let value = super::expression::exact(self.column(of.id)?, &to.ty)?;
            exprs.push(value.alias(own_name(to)));
        }
        let round = super::projected(exprs, round)?;
        let fields = schema.fields().iter();
        let fields = fields.map(|field| (None, Arc::clone(field))).collect();
        let operator = Recursive {
            step: round,
            all,
            types: columns.iter().map(|column| column.ty.clone()).collect(),
            last,
        };
        let plan = over(operator, vec![below], schema_of(fields)?);
        Ok(SharedTable::new(&cte.name, plan, once))
    }

    /// Adds the recursions whose last rounds the rows of a plan come from.
    fn rounds_of(&self, plan: &Plan, rounds: &mut Vec<Arc<LastRound>>) {
        if let Plan::CteScan { id, .. } | Plan::Recursion { id, .. } = plan
            && let Some(shared) = self.tables.borrow().get(id)
        {
            for round in &shared.rounds {
                if !rounds.iter().any(|known| Arc::ptr_eq(known, round)) {
                    rounds.push(Arc::clone(round));
                }
            }
        }
        let mut plans = plan.inputs();
        for expr in plan.expressions() {
            super::subqueries(expr, &mut plans);
        }
        for plan in plans {
            self.rounds_of(plan, rounds);
        }
    }

    pub(super) fn cte_scan(
        &self,
        id: CteId,
        name: &str,
        columns: &[(Column, ColumnId)],
    ) -> Result<LogicalPlan> {
        let shared = self.tables.borrow().get(&id).cloned();
        let shared = shared.ok_or_else(|| Error::internal(format!("\"{name}\" has no plan")))?;
        let mut found = Vec::with_capacity(columns.len());
        for (column, of) in columns {
            let at = shared.columns.iter().position(|known| known == of);
            let at = at.ok_or_else(|| Error::internal(format!("\"{name}\" lacks a column")))?;
            found.push((column, at));
        }
        self.shared_scan(&shared, name, &found)
    }

    pub(super) fn recursion(
        &self,
        id: CteId,
        name: &str,
        columns: &[Column],
    ) -> Result<LogicalPlan> {
        let shared = self.tables.borrow().get(&id).cloned();
        let shared = shared.ok_or_else(|| Error::internal(format!("\"{name}\" has no plan")))?;
        let found: Vec<_> = columns.iter().enumerate().map(|(at, c)| (c, at)).collect();
        self.shared_scan(&shared, name, &found)
    }

    fn shared_scan(
        &self,
        shared: &Shared,
        name: &str,
        columns: &[(&Column, usize)],
    ) -> Result<LogicalPlan> {
        let table = self.table_name(name);
        let plan = match &shared.rows {
            Rows::Table(provider) => {
                let source = provider_as_source(Arc::clone(provider));
                LogicalPlan::TableScan(TableScanBuilder::new(table.clone(), source).build()?)
            }
            Rows::Plan(plan) => {
                let alias = SubqueryAlias::try_new(Arc::new(plan.clone()), table.clone())?;
                LogicalPlan::SubqueryAlias(alias)
            }
        };
        self.found_in(plan, &table, columns, &|_| 0)
    }
}

/// How many places read a common table expression; one that may be run again counts as many.
pub(super) fn readers(later: &[Cte], body: &Plan, id: CteId) -> usize {
    let mut bodies: Vec<&Plan> = vec![body];
    let mut many = Vec::new();
    for cte in later {
        match &cte.body {
            CteBody::Plan(plan) => bodies.push(plan),
            CteBody::Recursive { base, step, .. } => {
                bodies.push(base);
                many.push(step);
            }
        }
    }
    let once: usize = bodies.into_iter().map(|plan| reads(plan, id)).sum();
    let again: usize = many.into_iter().map(|plan| reads(plan, id)).sum();
    once + 2 * again
}

fn reads(plan: &Plan, id: CteId) -> usize {
    let own = match plan {
        Plan::CteScan { id: other, .. } => usize::from(*other == id),
        _ => 0,
    };
    let mut plans = Vec::new();
    for expr in plan.expressions() {
        super::subqueries(expr, &mut plans);
    }
    let inside: usize = plans.into_iter().map(|plan| reads(plan, id)).sum();
    let below = plan.inputs().into_iter().map(|input| reads(input, id));
    let below: usize = below.sum();
    let again = matches!(plan, Plan::Join { lateral: true, .. })
        || matches!(plan, Plan::With { ctes, .. }
            if ctes.iter().any(|cte| matches!(cte.body, CteBody::Recursive { .. })));
    own + 2 * inside + below * if again { 2 } else { 1 }
}

/// Something that each run has of its own.
pub(super) struct PerRun<T> {
    runs: Mutex<Vec<(Weak<TaskContext>, Arc<T>)>>,
}

impl<T> Default for PerRun<T> {
    fn default() -> Self {
        Self {
            runs: Mutex::default(),
        }
    }
}

impl<T> fmt::Debug for PerRun<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PerRun")
    }
}

impl<T: Default> PerRun<T> {
    /// What the run of a context has.
    pub(super) fn of(&self, context: &Arc<TaskContext>) -> Arc<T> {
        let mut runs = self.runs.lock();
        let here = Arc::downgrade(context);
        if let Some((_, known)) = runs.iter().find(|(run, _)| Weak::ptr_eq(run, &here)) {
            return Arc::clone(known);
        }
        runs.retain(|(run, _)| run.strong_count() > 0);
        let own = Arc::new(T::default());
        runs.push((here, Arc::clone(&own)));
        own
    }

    /// Lets the run of a context begin with nothing.
    fn forget(&self, context: &Arc<TaskContext>) {
        let here = Arc::downgrade(context);
        let mut runs = self.runs.lock();
        runs.retain(|(run, _)| !Weak::ptr_eq(run, &here));
    }
}

/// Rows that were computed, and the memory that they take.
struct Kept {
    batches: Vec<RecordBatch>,
    _memory: MemoryReservation,
}

/// The rows of a plan, computed once in each run.
struct SharedTable {
    name: String,
    plan: LogicalPlan,
    schema: SchemaRef,
    physical: OnceCell<Arc<dyn ExecutionPlan>>,
    /// Whether it is read once, so that rows need not be kept.
    once: bool,
    rows: Arc<PerRun<OnceCell<Kept>>>,
}

impl SharedTable {
    fn new(name: &str, plan: LogicalPlan, once: bool) -> Self {
        let fields = plan.schema().fields().iter();
        let fields = fields.map(|field| field.as_ref().clone().with_nullable(true));
        Self {
            name: name.to_owned(),
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            plan,
            physical: OnceCell::new(),
            once,
            rows: Arc::default(),
        }
    }

    /// Lets its rows be computed anew in each round of recursions that they come from.
    fn anew_in(self, rounds: &[Arc<LastRound>]) -> Self {
        if !self.once {
            for round in rounds {
                round.tables.lock().push(Arc::clone(&self.rows));
            }
        }
        self
    }
}

impl fmt::Debug for SharedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedTable {}", self.name)
    }
}

#[async_trait]
impl TableProvider for SharedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let state = state.as_any().downcast_ref::<SessionState>();
        let state = state.ok_or_else(|| Error::internal("a session without a state"))?;
        let plan = || planned(&self.plan, state);
        let physical = self.physical.get_or_try_init(plan).await?;
        let read = Read::Shared {
            name: self.name.clone(),
            plan: Arc::clone(physical),
            rows: (!self.once).then(|| Arc::clone(&self.rows)),
        };
        Ok(ReadExec::over(read, &self.schema, projection)?)
    }
}

/// The rows of the last round of a recursion.
pub(super) struct LastRound {
    schema: SchemaRef,
    rounds: Arc<Rounds>,
    /// The tables of the step whose rows come from it.
    tables: Mutex<Vec<Arc<PerRun<OnceCell<Kept>>>>>,
}

/// The rows of the last round, of each run.
type Rounds = PerRun<Mutex<Vec<RecordBatch>>>;

impl LastRound {
    /// Sets the rows for the next round of a run.
    pub(super) fn set(&self, context: &Arc<TaskContext>, batches: Vec<RecordBatch>) {
        *self.rounds.of(context).lock() = batches;
        for table in self.tables.lock().iter() {
            table.forget(context);
        }
    }
}

impl fmt::Debug for LastRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastRound")
    }
}

#[async_trait]
impl TableProvider for LastRound {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let read = Read::Last(Arc::clone(&self.rounds));
        Ok(ReadExec::over(read, &self.schema, projection)?)
    }
}

/// Where rows are read.
#[derive(Clone)]
enum Read {
    Shared {
        name: String,
        plan: Arc<dyn ExecutionPlan>,
        /// `None` where rows are given as they come.
        rows: Option<Arc<PerRun<OnceCell<Kept>>>>,
    },
    Last(Arc<Rounds>),
}

/// Reads rows that are kept.
#[derive(Clone)]
struct ReadExec {
    read: Read,
    projection: Option<Vec<usize>>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl ReadExec {
    fn over(
        read: Read,
        schema: &SchemaRef,
        projection: Option<&Vec<usize>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(columns) => Arc::new(schema.project(columns)?),
            None => Arc::clone(schema),
        };
        Ok(Arc::new(Self {
            read,
            projection: projection.cloned(),
            properties: Arc::new(PlanProperties::new(
                EquivalenceProperties::new(Arc::clone(&schema)),
                Partitioning::UnknownPartitioning(1),
                EmissionType::Incremental,
                Boundedness::Bounded,
            )),
            schema,
        }))
    }
}

impl fmt::Debug for ReadExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl DisplayAs for ReadExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.read {
            Read::Shared { name, .. } => write!(f, "CteScan: {name}"),
            Read::Last(_) => f.write_str("WorkTableScan"),
        }
    }
}

impl ExecutionPlan for ReadExec {
    fn name(&self) -> &'static str {
        match &self.read {
            Read::Shared { .. } => "CteScan",
            Read::Last(_) => "WorkTableScan",
        }
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    /// The plan of a common table expression is run by whoever is first, and is no child: each
    /// reader would be one more place of it.
    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let (schema, projection) = (Arc::clone(&self.schema), self.projection.clone());
        let chosen = {
            let schema = Arc::clone(&schema);
            move |rows: &RecordBatch| {
                let columns = match &projection {
                    Some(places) => places
                        .iter()
                        .map(|at| Arc::clone(rows.column(*at)))
                        .collect(),
                    None => rows.columns().to_vec(),
                };
                batch(&schema, columns, rows.num_rows())
            }
        };
        let batches = match &self.read {
            Read::Last(last) => {
                let batches = last.of(&context).lock().clone();
                futures::stream::iter(batches)
                    .map(move |rows| chosen(&rows))
                    .left_stream()
            }
            Read::Shared {
                plan, rows: None, ..
            } => {
                let plan = reset_plan_states(Arc::clone(plan))?;
                let stream = execute_stream(plan, context)?;
                let stream = stream.map(move |rows| chosen(&rows?));
                return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)));
            }
            Read::Shared {
                name,
                plan,
                rows: Some(rows),
            } => {
                let cell = rows.of(&context);
                let (plan, name) = (Arc::clone(plan), name.clone());
                let work = async move {
                    let compute = || async {
                        let plan = reset_plan_states(plan)?;
                        let memory = datafusion::execution::memory_pool::MemoryConsumer::new(
                            format!("rows of {name}"),
                        );
                        let memory = memory.register(context.memory_pool());
                        let stream = execute_stream(plan, Arc::clone(&context))?;
                        let batches = collected(stream, &memory).await?;
                        Ok::<_, DataFusionError>(Kept {
                            batches,
                            _memory: memory,
                        })
                    };
                    let kept = cell.get_or_try_init(compute).await?;
                    let given: Vec<_> = kept.batches.iter().map(chosen).collect();
                    Ok::<_, DataFusionError>(futures::stream::iter(given))
                };
                futures::stream::once(work).try_flatten().right_stream()
            }
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}
