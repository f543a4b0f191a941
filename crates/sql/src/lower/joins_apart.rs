//! Keys of inner joins that DataFusion's `eliminate_cross_join` would lose or change.
//!
//! It takes the inputs of joins within joins together and joins them anew by whatever keys two of
//! them have. A key whose one side needs two inputs is lost if these meet later than the third,
//! and NULLs are treated everywhere as in the outermost join:
//!
//! ```text
//! a JOIN b ON a.x <= b.x JOIN c ON c.x = a.x AND c.y = a.y + b.y
//! a JOIN b ON a.x IS NOT DISTINCT FROM b.x JOIN c ON c.y = b.y
//! ```
//!
//! Such keys are made conditions before it, which it leaves alone, and keys again after all rules.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, NullEquality};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, Operator, binary_expr};
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The rule that joins inputs anew.
const REORDERS: &str = "eliminate_cross_join";
/// What the two rules here are called.
pub(crate) const APART: &str = "joins_apart";
pub(crate) const KEYS_AGAIN: &str = "join_keys_again";

/// Puts the rules where they belong.
pub(crate) fn install(optimizer: &mut Optimizer) {
    let rules = &mut optimizer.rules;
    if let Some(place) = rules.iter().position(|rule| rule.name() == REORDERS) {
        rules.insert(place, Arc::new(JoinsApart));
        rules.push(Arc::new(Keys::new(KEYS_AGAIN)));
    }
}

/// Whether an expression, as a part of a join's condition, becomes such a key.
pub(super) fn is_apart(expr: &Expr) -> bool {
    let Expr::BinaryExpr(binary) = expr else {
        return false;
    };
    match binary.op {
        Operator::IsNotDistinctFrom => true,
        Operator::Eq => [&binary.left, &binary.right].into_iter().any(|side| {
            let relations = || {
                side.column_refs()
                    .into_iter()
                    .map(|column| &column.relation)
            };
            !matches!(**side, Expr::Column(_)) && relations().collect::<HashSet<_>>().len() > 1
        }),
        _ => false,
    }
}

#[derive(Debug)]
struct JoinsApart;

impl OptimizerRule for JoinsApart {
    fn name(&self) -> &str {
        APART
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> DfResult<Transformed<LogicalPlan>> {
        let LogicalPlan::Join(mut join) = plan else {
            return Ok(Transformed::no(plan));
        };
        let operator = match join.null_equality {
            NullEquality::NullEqualsNull => Operator::IsNotDistinctFrom,
            NullEquality::NullEqualsNothing => Operator::Eq,
        };
        let apart = match (join.join_type, operator) {
            (JoinType::Inner, Operator::Eq) => taken_wide(&mut join),
            (JoinType::Inner, _) => std::mem::take(&mut join.on),
            _ => Vec::new(),
        };
        if apart.is_empty() {
            return Ok(Transformed::no(LogicalPlan::Join(join)));
        }
        join.null_equality = NullEquality::NullEqualsNothing;
        let conditions = apart.into_iter();
        let conditions = conditions.map(|(left, right)| binary_expr(left, operator, right));
        join.filter = conjunction(join.filter.take().into_iter().chain(conditions));
        Ok(Transformed::yes(LogicalPlan::Join(join)))
    }
}

/// Takes the keys out of a join of which a side needs several of the inputs that are joined.
fn taken_wide(join: &mut Join) -> Vec<(Expr, Expr)> {
    let mut schemas = Vec::new();
    inputs(&join.left, &mut schemas);
    inputs(&join.right, &mut schemas);
    if schemas.len() < 3 {
        return Vec::new();
    }
    let is_wide = |side: &Expr| {
        let columns = side.column_refs();
        let has_some = |schema: &&&DFSchema| columns.iter().any(|column| schema.has_column(column));
        schemas.iter().filter(has_some).count() > 1
    };
    let (wide, others) = std::mem::take(&mut join.on)
        .into_iter()
        .partition(|(left, right)| is_wide(left) || is_wide(right));
    join.on = others;
    wide
}

/// The inputs of inner joins within inner joins.
fn inputs<'a>(plan: &'a LogicalPlan, found: &mut Vec<&'a DFSchema>) {
    match plan {
        LogicalPlan::Join(join) if join.join_type == JoinType::Inner => {
            inputs(&join.left, found);
            inputs(&join.right, found);
        }
        other => found.push(other.schema()),
    }
}

/// DataFusion's rule that makes keys of conditions, kept from joins whose keys take NULLs for
/// equal.
#[derive(Debug)]
pub(super) struct Keys {
    rule: ExtractEquijoinPredicate,
    name: &'static str,
}

impl Keys {
    pub(super) fn new(name: &'static str) -> Self {
        let rule = ExtractEquijoinPredicate::new();
        Self { rule, name }
    }
}

impl OptimizerRule for Keys {
    fn name(&self) -> &str {
        self.name
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> DfResult<Transformed<LogicalPlan>> {
        // A key of such a join would take NULLs for equal, which its condition does not.
        if let LogicalPlan::Join(join) = &plan
            && join.null_equality == NullEquality::NullEqualsNull
            && !join.on.is_empty()
        {
            return Ok(Transformed::no(plan));
        }
        self.rule.rewrite(plan, config)
    }
}
