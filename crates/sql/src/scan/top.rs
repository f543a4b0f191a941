//! ORDER BY … LIMIT: a scan below a sort with a limit learns which rows are enough.
//!
//! Each block then gives only the rows that come first by the first sort key, if
//! it is sorted on that column or has an index over it. The sort above stays as
//! it is: it gets fewer rows and the same answer.

use std::sync::Arc;

use datafusion::common::Result as DfResult;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::sorts::sort::SortExec;
use freestone_storage::Top;

use super::exec::FreestoneScan;

/// Tells scans what the sort right above them needs.
#[derive(Debug)]
pub(crate) struct TopOfScan;

impl PhysicalOptimizerRule for TopOfScan {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let done = plan.transform_down(|plan| {
            Ok(match told(&plan)? {
                Some(told) => Transformed::yes(told),
                None => Transformed::no(plan),
            })
        })?;
        Ok(done.data)
    }

    fn name(&self) -> &str {
        "freestone_top_of_scan"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The sort over a scan that knows what is needed; `None` where there is no such pair.
fn told(plan: &Arc<dyn ExecutionPlan>) -> DfResult<Option<Arc<dyn ExecutionPlan>>> {
    let Some(sort) = plan.downcast_ref::<SortExec>() else {
        return Ok(None);
    };
    let Some(scan) = sort.input().downcast_ref::<FreestoneScan>() else {
        return Ok(None);
    };
    let (Some(rows), first) = (sort.fetch(), sort.expr().first()) else {
        return Ok(None);
    };
    let Some(column) = first.expr.downcast_ref::<Column>() else {
        return Ok(None);
    };
    let top = |column| Top {
        column,
        descending: first.options.descending,
        nulls_first: first.options.nulls_first,
        rows,
    };
    let Some(scan) = scan.with_top(column.index(), top) else {
        return Ok(None);
    };
    replace_children_if_necessary(Arc::clone(plan), vec![Arc::new(scan)]).map(Some)
}
