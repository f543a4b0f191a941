//! The physical scan node.
//!
//! All partitions share one storage `Scan`, whose workers take blocks from one
//! queue: a partition that is done early takes what others have not begun. A
//! worker is synchronous and decodes one batch per poll (well under a
//! millisecond once a block is in memory), so polling it inline costs the
//! runtime nothing it would not spend on any other operator.
//!
//! Filters from above that are known at planning time arrive as the predicate.
//! Dynamic ones are kept aside; before each batch their current state is turned
//! into a predicate that prunes blocks nobody has taken yet. Blocks already
//! taken are left alone: reading one again under a tighter filter would lose or
//! repeat rows.

use std::fmt;
use std::sync::{Arc, OnceLock};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Statistics;
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::conjunction;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_expr_common::physical_expr::snapshot_generation;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions, SchedulingType, apply_expression_roots,
};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown,
};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, Count, ExecutionPlanMetricsSet, Metric, MetricValue, MetricsSet,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, StatisticsArgs,
};
use freestone_storage::{Predicate, Scan, ScanMetrics, ScanRequest, Snapshot, Table, Top};

use super::logical::describe;
use super::source::ScanSource;
use super::statistics::scan_statistics;
use super::stream::{Arrivals, ScanStream};
use crate::error::Error;
use crate::options::OwnOptions;
use crate::progress::{Progress, ScanCounts};

/// A scan of one table: projection, predicate and limit are applied by storage.
#[derive(Debug, Clone)]
pub(crate) struct FreestoneScan {
    source: Arc<ScanSource>,
    projection: Vec<usize>,
    predicate: Option<Predicate>,
    limit: Option<usize>,
    /// Which rows are enough for the sort above.
    top: Option<Top>,
    partitions: usize,
    dynamic: Vec<Arc<dyn PhysicalExpr>>,
    statistics: Arc<Statistics>,
    properties: Arc<PlanProperties>,
    timings: ExecutionPlanMetricsSet,
    /// The running scan, shared by all partitions of one execution.
    running: Running,
}

type Running = Arc<OnceLock<Result<Arc<Scan>, Error>>>;

impl FreestoneScan {
    /// A scan of the columns `projection` (indexes in the table).
    ///
    /// # Errors
    /// Those of reading the table's statistics.
    pub(crate) fn new(
        source: Arc<ScanSource>,
        projection: Vec<usize>,
        predicate: Option<Predicate>,
        limit: Option<usize>,
        target_partitions: usize,
    ) -> DfResult<Self> {
        let table = &source.table;
        let partitions = target_partitions.min(table.blocks().len()).max(1);
        let facts = table.statistics().map_err(Error::from)?;
        let mut statistics =
            scan_statistics(&table.schema, facts, &projection, predicate.as_ref(), limit);
        // Statistics are those of blocks as they were written.
        if !table.is_settled() || source.view.own.is_some() {
            statistics = statistics.to_inexact();
            let more = table.delta().rows() as usize;
            statistics.num_rows = statistics.num_rows.add(&Precision::Inexact(more));
        }
        let schema = source.schema(&projection);
        Ok(Self {
            properties: Arc::new(properties(schema, partitions)),
            statistics: Arc::new(statistics),
            source,
            projection,
            predicate,
            limit,
            top: None,
            partitions,
            dynamic: Vec::new(),
            timings: ExecutionPlanMetricsSet::new(),
            running: Running::default(),
        })
    }

    /// The same scan when the sort above needs only some rows by its column
    /// `index`; `None` if it cannot help or knows already.
    pub(crate) fn with_top(&self, index: usize, top: impl Fn(usize) -> Top) -> Option<Self> {
        let column = *self.projection.get(index)?;
        if column >= self.source.table.schema.columns.len() {
            return None;
        }
        if self.top.is_some() || self.limit.is_some() {
            return None;
        }
        Some(Self {
            top: Some(top(column)),
            ..self.fresh()
        })
    }

    /// The table, its columns that are read, and the condition.
    pub(crate) fn reads(&self) -> (&Arc<Table>, &[usize], Option<&Predicate>) {
        let table = &self.source.table;
        (table, &self.projection, self.predicate.as_ref())
    }

    /// What the scan counts, and seconds of all partitions; `None` if it was not begun.
    pub(crate) fn counted(&self) -> Option<(Arc<ScanMetrics>, f64)> {
        let scan = self.running.get()?.as_ref().ok()?;
        let spent = self.timings.clone_inner().elapsed_compute();
        let seconds = spent.unwrap_or_default() as f64 / 1e9;
        Some((Arc::clone(scan.metrics()), seconds))
    }

    /// Rows that the planner expects of it.
    pub(crate) fn rows_expected(&self) -> usize {
        self.statistics.num_rows.get_value().map_or(0, |rows| *rows)
    }

    /// Where the row id is to stand, if it is asked for; storage gives it last.
    fn row_id_place(&self) -> Option<usize> {
        let columns = self.source.table.schema.columns.len();
        self.projection.iter().position(|index| *index >= columns)
    }

    fn fresh(&self) -> Self {
        Self {
            running: Running::default(),
            timings: ExecutionPlanMetricsSet::new(),
            ..self.clone()
        }
    }

    fn start(&self, context: &TaskContext) -> DfResult<Arc<Scan>> {
        let config = context.session_config();
        let own = config.options().extensions.get::<OwnOptions>();
        let scanner = own.map_or("single", |own| own.column_scanner.as_str());
        let (batch_rows, scanner) = (config.batch_size(), scanner.parse().unwrap_or_default());
        let progress = config.get_extension::<Progress>();
        let moment = config.get_extension::<Snapshot>();
        let view = self.source.view_at(moment.as_deref());
        let columns = self.source.table.schema.columns.len();
        let stored = self.projection.iter().copied();
        let stored: Vec<usize> = stored.filter(|index| *index < columns).collect();
        let start = || {
            let scan = self.source.table.scan(&ScanRequest {
                row_ids: stored.len() < self.projection.len(),
                projection: stored,
                view,
                predicate: self.predicate.clone(),
                limit: self.limit,
                batch_rows,
                scanner,
                top: self.top,
                ..ScanRequest::default()
            })?;
            if let Some(progress) = &progress {
                progress.watch(&scan);
            }
            Ok(scan)
        };
        Ok(self.running.get_or_init(start).clone()?)
    }
}

fn properties(schema: SchemaRef, partitions: usize) -> PlanProperties {
    PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Incremental,
        Boundedness::Bounded,
    )
    .with_scheduling_type(SchedulingType::Cooperative)
}

impl DisplayAs for FreestoneScan {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = &self.source.table;
        let columns: Vec<&str> = self
            .projection
            .iter()
            .filter_map(|index| table.schema.columns.get(*index))
            .map(|column| column.name.as_str())
            .collect();
        let tree = matches!(kind, DisplayFormatType::TreeRender);
        let gap = if tree { "\n" } else { ", " };
        if !tree {
            write!(f, "FreestoneScan: ")?;
        }
        write!(
            f,
            "table={}{gap}projection=[{}]",
            self.source.name,
            columns.join(", ")
        )?;
        if let Some(predicate) = &self.predicate {
            write!(f, "{gap}predicate={}", describe(&table.schema, predicate))?;
        }
        if !self.dynamic.is_empty() {
            let filters: Vec<String> = self.dynamic.iter().map(ToString::to_string).collect();
            write!(f, "{gap}dynamic=[{}]", filters.join(", "))?;
        }
        if let Some(limit) = self.limit {
            write!(f, "{gap}limit={limit}")?;
        }
        if let Some(top) = &self.top {
            let order = if top.descending { "DESC" } else { "ASC" };
            let column = &table.schema.columns[top.column].name;
            write!(f, "{gap}top={} by {column} {order}", top.rows)?;
        }
        write!(f, "{gap}blocks={}", table.blocks().len())
    }
}

impl ExecutionPlan for FreestoneScan {
    fn name(&self) -> &'static str {
        "FreestoneScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

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

    fn reset_state(self: Arc<Self>) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.fresh()))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        apply_expression_roots(&self.dynamic, f)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> DfResult<SendableRecordBatchStream> {
        let scan = self.start(&context)?;
        let dynamic = self.dynamic.iter().cloned();
        Ok(Box::pin(cooperative(ScanStream {
            worker: scan.worker(),
            schema: self.schema(),
            row_id: self.row_id_place(),
            timing: BaselineMetrics::new(&self.timings, partition),
            filter: (!self.dynamic.is_empty()).then(|| Arrivals {
                filter: conjunction(dynamic),
                generation: 0,
                scan,
                source: Arc::clone(&self.source),
                projection: self.projection.clone(),
            }),
        })))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut set = self.timings.clone_inner();
        if let Some(Ok(scan)) = self.running.get() {
            for (name, value) in ScanCounts::of(scan.metrics()).entries() {
                let count = Count::new();
                count.add(usize::try_from(value).unwrap_or(usize::MAX));
                let name = name.into();
                let value = MetricValue::Count { name, count };
                set.push(Arc::new(Metric::new(value, None)));
            }
        }
        Some(set)
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> DfResult<Arc<Statistics>> {
        Ok(match args.partition() {
            None => Arc::clone(&self.statistics),
            // Partitions share a queue: nobody knows which rows one will get.
            Some(_) => Arc::new(Statistics::new_unknown(&self.schema())),
        })
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        let limit = match (self.limit, limit) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
        Some(Arc::new(Self {
            limit,
            ..self.fresh()
        }))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn supports_limit_pushdown(&self) -> bool {
        false
    }

    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
        let mut columns = Vec::with_capacity(projection.expr().len());
        for item in projection.expr() {
            match item.expr.downcast_ref::<Column>() {
                Some(column) if column.name() == item.alias && self.dynamic.is_empty() => {
                    columns.push(self.projection[column.index()]);
                }
                _ => return Ok(None),
            }
        }
        let scan = Self::new(
            Arc::clone(&self.source),
            columns,
            self.predicate.clone(),
            self.limit,
            self.partitions,
        )?;
        Ok(Some(Arc::new(scan)))
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        pushed: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> DfResult<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let offered = pushed.parent_filters;
        // Never promised: a filter that arrives late has let rows pass.
        let answer = FilterPushdownPropagation::with_parent_pushdown_result(vec![
            PushedDown::No;
            offered.len()
        ]);
        let mut dynamic = self.dynamic.clone();
        dynamic.extend(
            offered
                .into_iter()
                .map(|offer| offer.filter)
                .filter(|filter| snapshot_generation(filter) != 0),
        );
        if dynamic.len() == self.dynamic.len() {
            return Ok(answer);
        }
        let scan: Arc<dyn ExecutionPlan> = Arc::new(Self {
            dynamic,
            ..self.fresh()
        });
        Ok(answer.with_updated_node(scan))
    }
}
