//! Sub-queries that no join can stand for are run once for every value of the outer row.
//!
//! DataFusion makes joins of correlated sub-queries of the usual shapes (and `decorrelate` of
//! some more) and refuses the rest. Here the rest becomes *apply* (Galindo-Legaria and Joshi,
//! "Orthogonal Optimization of Subqueries and Aggregation", 2001): a node that adds the result of a
//! sub-query to every row of its input as a column. Rows with the same outer values share one run.
//!
//! ```text
//! SELECT k, (SELECT v FROM s WHERE s.k >= t.k LIMIT 1) FROM t
//! Projection: k, __applied_1
//!   Apply: keys=[t.k]
//!     t
//! ```
//!
//! `outer` finds a sub-query's outer columns and puts values in their place, `node` is the node
//! in logical plans, `exec` runs it.

mod exec;
mod node;
mod outer;

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Expr, Filter, JoinType, LogicalPlan, LogicalPlanBuilder, Operator, SkipType, Subquery,
    binary_expr, lit, when,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::scalar::ScalarValue;

use self::node::{ApplyNode, Gives};
use self::outer::{as_outer, finds_columns, free_columns};
use crate::functions::any_expression;

pub(crate) use exec::Applies;

/// Whether a plan has sub-queries with outer columns.
///
/// # Errors
/// Those of walking it.
pub(crate) fn has_correlated(plan: &LogicalPlan) -> DfResult<bool> {
    has(plan, |expr| {
        subquery_of(expr).map_or(Ok(false), |(subquery, _)| is_correlated(subquery))
    })
}

/// Whether DataFusion's rules have made of a plan what it means: they leave OFFSET out of EXISTS,
/// and some outer columns where no row has them.
///
/// # Errors
/// Those of walking it.
pub(crate) fn is_sound(plan: &LogicalPlan, optimized: &LogicalPlan) -> DfResult<bool> {
    if !has_correlated(plan)? {
        return Ok(true);
    }
    let skips = has(plan, |expr| match expr {
        Expr::Exists(exists) => Ok(skips(&exists.subquery)? && is_correlated(&exists.subquery)?),
        _ => Ok(false),
    });
    Ok(!skips? && free_columns(optimized)?.is_empty() && finds_columns(optimized)?)
}

fn skips(subquery: &Subquery) -> DfResult<bool> {
    subquery.subquery.exists(|node| match node {
        LogicalPlan::Limit(limit) => Ok(!matches!(limit.get_skip_type()?, SkipType::Literal(0))),
        _ => Ok(false),
    })
}

/// Whether sub-queries are left in an optimised plan that DataFusion's planner refuses.
///
/// # Errors
/// Those of walking it.
pub(crate) fn has_left(plan: &LogicalPlan) -> DfResult<bool> {
    has(plan, |expr| {
        subquery_of(expr).map_or(Ok(false), |(subquery, scalar)| is_left(subquery, scalar))
    })
}

/// Puts apply in the place of every correlated sub-query.
#[derive(Debug)]
pub(crate) struct Apply;

impl AnalyzerRule for Apply {
    fn name(&self) -> &'static str {
        "apply"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> DfResult<LogicalPlan> {
        rewritten(plan, &|subquery, _| is_correlated(subquery))
    }
}

/// The plan with apply in the place of the sub-queries that DataFusion's rules have left.
///
/// # Errors
/// Those of building plans.
pub(crate) fn without_left(plan: LogicalPlan) -> DfResult<LogicalPlan> {
    rewritten(plan, &is_left)
}

/// Scalar sub-queries that depend on nothing outside DataFusion runs by itself.
fn is_left(subquery: &Subquery, scalar: bool) -> DfResult<bool> {
    Ok(!scalar || is_correlated(subquery)?)
}

/// What DataFusion lists of a sub-query leaves out the outer columns of those within it.
fn is_correlated(subquery: &Subquery) -> DfResult<bool> {
    Ok(!free_columns(&subquery.subquery)?.is_empty())
}

fn has(plan: &LogicalPlan, wanted: impl Fn(&Expr) -> DfResult<bool>) -> DfResult<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found |= expr.exists(&wanted)?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}

/// The sub-query of an expression, and whether it stands for its value.
fn subquery_of(expr: &Expr) -> Option<(&Subquery, bool)> {
    match expr {
        Expr::ScalarSubquery(subquery) => Some((subquery, true)),
        Expr::Exists(exists) => Some((&exists.subquery, false)),
        Expr::InSubquery(member) => Some((&member.subquery, false)),
        Expr::SetComparison(set) => Some((&set.subquery, false)),
        _ => None,
    }
}

type Wanted<'a> = &'a dyn Fn(&Subquery, bool) -> DfResult<bool>;

fn rewritten(plan: LogicalPlan, wanted: Wanted<'_>) -> DfResult<LogicalPlan> {
    Ok(plan.transform_up(|node| rewrite_node(node, wanted))?.data)
}

fn rewrite_node(node: LogicalPlan, wanted: Wanted<'_>) -> DfResult<Transformed<LogicalPlan>> {
    if !any_expression(&node, |expr| subquery_of(expr).is_some())? {
        return Ok(Transformed::no(node));
    }
    let node = conditions_apart(node, wanted)?;
    let mut inputs: Vec<LogicalPlan> = node.inputs().into_iter().cloned().collect();
    let names = NamePreserver::new(&node);
    let mut expressions = Vec::new();
    for expr in node.expressions() {
        let name = names.save(&expr);
        let changed = expr.transform_up(|expr| replaced(expr, &mut inputs, wanted))?;
        expressions.push(changed.update_data(|expr| name.restore(expr)).data);
    }
    let before = Arc::clone(node.schema());
    let changed = node.with_new_exprs(expressions, inputs)?;
    if changed.schema().fields().len() == before.fields().len() {
        return Ok(Transformed::yes(changed));
    }
    // A filter passes the new columns on.
    let columns = before.columns().into_iter().map(Expr::from);
    let projected = LogicalPlanBuilder::from(changed)
        .project(columns)?
        .build()?;
    Ok(Transformed::yes(projected))
}

/// An inner join whose condition has a sub-query as a filter over a join, since it may ask for
/// columns of both sides.
fn conditions_apart(node: LogicalPlan, wanted: Wanted<'_>) -> DfResult<LogicalPlan> {
    let LogicalPlan::Join(mut join) = node else {
        return Ok(node);
    };
    let is_wanted =
        |expr: &Expr| subquery_of(expr).map_or(Ok(false), |(query, scalar)| wanted(query, scalar));
    let apart = match &join.filter {
        Some(condition) => join.join_type == JoinType::Inner && condition.exists(is_wanted)?,
        None => false,
    };
    match join.filter.take_if(|_| apart) {
        Some(condition) => {
            let input = Arc::new(LogicalPlan::Join(join));
            Ok(LogicalPlan::Filter(Filter::try_new(condition, input)?))
        }
        None => Ok(LogicalPlan::Join(join)),
    }
}

/// An expression with a column in the place of a sub-query, which an input then gives.
fn replaced(
    expr: Expr,
    inputs: &mut [LogicalPlan],
    wanted: Wanted<'_>,
) -> DfResult<Transformed<Expr>> {
    let Some((subquery, scalar)) = subquery_of(&expr) else {
        return Ok(Transformed::no(expr));
    };
    if !wanted(subquery, scalar)? {
        // It may have some of its own.
        let plan = rewritten(subquery.subquery.as_ref().clone(), wanted)?;
        let inner = subquery.with_plan(Arc::new(plan));
        return Ok(Transformed::yes(with_subquery(expr, inner)));
    }
    let value = match expr {
        Expr::ScalarSubquery(subquery) => applied(&subquery.subquery, Gives::Value, inputs)?,
        Expr::Exists(Exists { subquery, negated }) => negated_if(
            negated,
            applied(&subquery.subquery, Gives::Whether, inputs)?,
        ),
        Expr::InSubquery(InSubquery {
            expr,
            subquery,
            negated,
        }) => {
            let member = compared(&expr, Operator::Eq, &subquery, SetQuantifier::Any, inputs)?;
            negated_if(negated, member)
        }
        Expr::SetComparison(SetComparison {
            expr,
            subquery,
            op,
            quantifier,
        }) => compared(&expr, op, &subquery, quantifier, inputs)?,
        other => return Ok(Transformed::no(other)),
    };
    Ok(Transformed::yes(value))
}

fn with_subquery(expr: Expr, inner: Subquery) -> Expr {
    match expr {
        Expr::ScalarSubquery(_) => Expr::ScalarSubquery(inner),
        Expr::Exists(exists) => Expr::Exists(Exists {
            subquery: inner,
            ..exists
        }),
        Expr::InSubquery(member) => Expr::InSubquery(InSubquery {
            subquery: inner,
            ..member
        }),
        Expr::SetComparison(set) => Expr::SetComparison(SetComparison {
            subquery: inner,
            ..set
        }),
        other => other,
    }
}

fn negated_if(negated: bool, value: Expr) -> Expr {
    match negated {
        true => Expr::Not(Box::new(value)),
        false => value,
    }
}

/// `expr op ANY (sub-query)` or `ALL`, by whether there is a row that decides it, and else
/// whether there is one of which it is not known.
fn compared(
    expr: &Expr,
    op: Operator,
    subquery: &Subquery,
    quantifier: SetQuantifier,
    inputs: &mut [LogicalPlan],
) -> DfResult<Expr> {
    let schema = subquery.subquery.schema();
    let first = schema.columns().into_iter().next();
    let first = first.ok_or_else(|| crate::Error::internal("a sub-query without columns"))?;
    let mut outer = DFSchema::empty();
    inputs.iter().for_each(|input| outer.merge(input.schema()));
    let comparison = binary_expr(as_outer(expr.clone(), &outer)?, op, Expr::from(first));
    let (decides, decided) = match quantifier {
        SetQuantifier::Any => (comparison.clone().is_true(), true),
        SetQuantifier::All => (comparison.clone().is_false(), false),
    };
    let mut some = |condition: Expr| {
        let plan = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone())
            .filter(condition)?
            .build()?;
        applied(&plan, Gives::Whether, inputs)
    };
    let decides = some(decides)?;
    let unknown = some(comparison.is_null())?;
    when(decides, lit(decided))
        .when(unknown, lit(ScalarValue::Boolean(None)))
        .otherwise(lit(!decided))
}

/// The column that stands for a sub-query, which the first input that has its outer columns
/// gives from now on.
fn applied(plan: &LogicalPlan, gives: Gives, inputs: &mut [LogicalPlan]) -> DfResult<Expr> {
    let columns = free_columns(plan)?;
    let known = |input: &&mut LogicalPlan| {
        let schema = input.schema();
        columns.iter().all(|column| schema.has_column(column))
    };
    let Some(input) = inputs.iter_mut().find(known) else {
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let columns = columns.join(", ");
        let text = format!("a sub-query asks for {columns} where no one relation has them");
        return Err(crate::Error::unsupported(text)
            .with_hint(
                "move it from the condition of an outer join to WHERE or to the list of columns",
            )
            .into());
    };
    let node = ApplyNode::new(input.clone(), plan.clone(), columns, gives)?;
    let column = Expr::from(node.column());
    *input = node.into_plan();
    Ok(column)
}
