//! Operators let other statements run, and end when they are to.
//!
//! DataFusion's operators give a thread back when their sources do. A join may read little and
//! make billions of pairs of it:
//!
//! ```sql
//! SELECT count(*) FROM a, b, c WHERE a.x + b.y < c.z
//! ```
//!
//! For seconds nothing would come of it, nobody else would run on its thread, and neither a
//! limit of time nor a request to cancel would be heard. Such a join gets an operator above it
//! that gives the thread back every few milliseconds, and a look at the clock inside of its
//! condition, which is computed for each few thousand pairs. Where pairs without any result take
//! long, another thread takes over what waits for this one (`interrupt`). So do operators whose
//! inputs run as tasks of their own.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::error::Result as DfResult;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder,
};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use freestone_frontend::interrupt::{self, SLICE};
use futures::Stream;

use super::pass::{Pass, over};
use crate::error::Error;
use crate::interrupt::Requests;
use crate::values::buffers::thinned;

/// Puts such operators above joins. It comes last, as others look for the joins themselves.
#[derive(Debug)]
pub(crate) struct Yield;

impl PhysicalOptimizerRule for Yield {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            if runs_inputs_apart(&plan) {
                let inputs = plan.children().into_iter();
                let inputs = inputs.map(|input| over(Pass::Yielding, Arc::clone(input)));
                let inputs = inputs.collect();
                return replace_children_if_necessary(plan, inputs).map(Transformed::yes);
            }
            Ok(match watched_join(&plan)? {
                Some(join) => Transformed::yes(over(Pass::Yielding, join)),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "freestone_yield"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether the inputs of an operator are tasks of their own.
fn runs_inputs_apart(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.is::<RepartitionExec>()
        || plan.is::<CoalescePartitionsExec>()
        || plan.is::<SortPreservingMergeExec>()
}

/// A join that may take long over few rows, with its condition watched.
fn watched_join(plan: &Arc<dyn ExecutionPlan>) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
        let filter = join.filter().map(watched);
        let join = NestedLoopJoinExecBuilder::from(join).with_filter(filter);
        return Ok(Some(Arc::new(join.build()?)));
    }
    if plan.is::<CrossJoinExec>() {
        return Ok(Some(Arc::clone(plan)));
    }
    match plan.downcast_ref::<HashJoinExec>() {
        // Without a condition, each pair is a result.
        Some(join) if join.filter().is_some() => {
            let filter = join.filter().map(watched);
            Ok(Some(Arc::new(join.builder().with_filter(filter).build()?)))
        }
        Some(_) => Ok(Some(Arc::clone(plan))),
        None => Ok(None),
    }
}

fn watched(filter: &JoinFilter) -> JoinFilter {
    let condition = Arc::clone(filter.expression());
    JoinFilter::new(
        Arc::new(Watched { condition }),
        filter.column_indices().to_vec(),
        Arc::clone(filter.schema()),
    )
}

/// The rows of an operator, a thread's slice at a time.
pub(crate) fn stream(
    rows: SendableRecordBatchStream,
    context: &TaskContext,
) -> SendableRecordBatchStream {
    let requests = context.session_config().get_extension::<Requests>();
    watching(rows, requests.unwrap_or_default())
}

/// The rows of an operator, a slice at a time; they end when a session's requests say so.
pub(crate) fn watching(
    rows: SendableRecordBatchStream,
    requests: Arc<Requests>,
) -> SendableRecordBatchStream {
    Box::pin(Yielding {
        rows,
        requests,
        since: Instant::now(),
    })
}

struct Yielding {
    rows: SendableRecordBatchStream,
    requests: Arc<Requests>,
    /// When the thread was last given back.
    since: Instant,
}

impl Stream for Yielding {
    type Item = DfResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let asked = Instant::now();
        if asked.duration_since(this.since) > SLICE {
            this.since = asked;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let rows = &mut this.rows;
        let polled = this.requests.watched(|| {
            interrupt::now().map_err(Error::from)?;
            Ok::<_, Error>(rows.as_mut().poll_next(cx))
        });
        match polled {
            Ok(Poll::Pending) => {
                this.since = Instant::now();
                Poll::Pending
            }
            // A join that gives few rows at a time has the buffers of all its inputs in each.
            Ok(Poll::Ready(Some(Ok(batch)))) => {
                Poll::Ready(Some(thinned(batch).map_err(Into::into)))
            }
            Ok(ready) => ready,
            Err(error) => Poll::Ready(Some(Err(error.into()))),
        }
    }
}

impl RecordBatchStream for Yielding {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}

/// A join's condition, which fails when the statement is to end.
#[derive(Debug)]
struct Watched {
    condition: Arc<dyn PhysicalExpr>,
}

impl PartialEq for Watched {
    fn eq(&self, other: &Self) -> bool {
        self.condition.eq(&other.condition)
    }
}

impl Eq for Watched {}

impl Hash for Watched {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.condition.hash(state);
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl PhysicalExpr for Watched {
    fn data_type(&self, input: &Schema) -> DfResult<DataType> {
        self.condition.data_type(input)
    }

    fn nullable(&self, input: &Schema) -> DfResult<bool> {
        self.condition.nullable(input)
    }

    fn evaluate(&self, batch: &RecordBatch) -> DfResult<ColumnarValue> {
        interrupt::now().map_err(Error::from)?;
        self.condition.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.condition]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> DfResult<Arc<dyn PhysicalExpr>> {
        let condition = children.into_iter().next();
        let condition = condition.ok_or_else(|| Error::internal("no condition to watch"))?;
        Ok(Arc::new(Self { condition }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt_sql(f)
    }
}
