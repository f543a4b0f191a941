//! Parts of a plan that stand in it more than once are computed once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::LogicalPlan;
use freestone_exec::{Node, Plan};

use crate::engine::Converted;

/// More rows are not worth the memory that keeping them takes.
const ROWS: f64 = 4_194_304.0;

/// Groups that a plan asks for more than once, and what they were converted to.
#[derive(Default)]
pub(super) struct Repeated(RefCell<HashMap<LogicalPlan, Option<Once>>>);

/// A part that was converted.
struct Once {
    plan: Arc<Plan>,
    distinct: Vec<f64>,
}

impl Repeated {
    /// The groups that stand in a plan more than once. What is cheap to compute again is
    /// not looked for: scans and joins are filtered by what is around them.
    ///
    /// # Errors
    /// Those of walking the plan.
    pub(super) fn of(plan: &LogicalPlan) -> DfResult<Self> {
        let mut groups = Vec::new();
        visit(plan, &mut groups)?;
        let mut seen: HashMap<LogicalPlan, usize> = HashMap::new();
        if groups.len() > 1 {
            groups
                .into_iter()
                .for_each(|group| *seen.entry(group).or_default() += 1);
        }
        let repeated = seen.into_iter().filter(|(_, count)| *count > 1);
        let repeated = repeated.map(|(group, _)| (group, None)).collect();
        Ok(Self(RefCell::new(repeated)))
    }

    /// What a plan was converted to, if it stands elsewhere as well; the first time
    /// `convert` does it.
    pub(super) fn once(
        &self,
        plan: &LogicalPlan,
        convert: impl FnOnce() -> Option<Converted>,
    ) -> Option<Converted> {
        if !self.0.borrow().contains_key(plan) {
            return convert();
        }
        if self.0.borrow().get(plan).is_some_and(Option::is_none) {
            let converted = convert()?;
            if converted.plan.estimate > ROWS {
                return Some(converted);
            }
            let Converted {
                plan: ours,
                distinct,
                ..
            } = converted;
            let once = Once {
                plan: Arc::new(ours),
                distinct,
            };
            self.0.borrow_mut().insert(plan.clone(), Some(once));
        }
        let known = self.0.borrow();
        let once = known.get(plan)?.as_ref()?;
        let (types, rows) = (once.plan.types.clone(), once.plan.estimate);
        Some(Converted {
            plan: Plan::new(Node::Shared(Arc::clone(&once.plan)), types, rows),
            distinct: once.distinct.clone(),
            sampled: None,
        })
    }
}

/// Lists the groups of a plan, those outside others.
fn visit(plan: &LogicalPlan, groups: &mut Vec<LogicalPlan>) -> DfResult<()> {
    plan.apply(|node| {
        if matches!(node, LogicalPlan::Aggregate(_)) && is_steady(node)? {
            groups.push(node.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// Whether a plan gives the same rows wherever it stands.
fn is_steady(plan: &LogicalPlan) -> DfResult<bool> {
    let unsteady = plan.exists(|node| {
        let mut unsteady = matches!(node, LogicalPlan::Limit(_));
        node.apply_expressions(|expr| {
            unsteady |= expr.is_volatile() || expr.contains_outer();
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(unsteady)
    });
    unsteady.map(|unsteady| !unsteady)
}
