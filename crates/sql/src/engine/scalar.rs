//! Conditions with scalar sub-queries: the one row of each becomes a column of every row.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::{Expr, LogicalPlan};
use freestone_exec::expression::Expression;
use freestone_exec::{JoinKind, Node, Plan};

use super::convert::{Converted, Converter, places};
use super::join::joined;

/// Whether a condition has a sub-query in it.
pub(super) fn has_subquery(condition: &Expr) -> bool {
    let found = condition.exists(|expr| Ok(matches!(expr, Expr::ScalarSubquery(_))));
    found.unwrap_or(true)
}

/// Whether a plan gives exactly one row, whatever there is.
fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(projection) => is_one_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_one_row(&alias.input),
        _ => false,
    }
}

/// A condition with columns in the place of its sub-queries.
struct Replaced {
    condition: Expr,
    fields: Vec<FieldRef>,
    plans: Vec<Arc<LogicalPlan>>,
}

/// `None` if some sub-query depends on the row, or may have no row or several.
fn replaced(condition: &Expr) -> Option<Replaced> {
    let (mut fields, mut plans) = (Vec::<FieldRef>::new(), Vec::new());
    let mut all = true;
    let condition = condition.clone().transform(|expr| {
        let Expr::ScalarSubquery(query) = &expr else {
            return Ok(Transformed::no(expr));
        };
        let field = query.subquery.schema().fields().first().cloned();
        let Some(field) =
            field.filter(|_| query.outer_ref_columns.is_empty() && is_one_row(&query.subquery))
        else {
            all = false;
            return Ok(Transformed::no(expr));
        };
        // No name that SQL can give to a column.
        let name = format!("\0sub-query {}", plans.len());
        let field = Field::new(&name, field.data_type().clone(), true);
        fields.push(Arc::new(field));
        plans.push(Arc::clone(&query.subquery));
        let column = Expr::Column(Column::new_unqualified(name));
        Ok(Transformed::yes(column))
    });
    let condition = condition.ok()?.data;
    all.then_some(Replaced {
        condition,
        fields,
        plans,
    })
}

impl Converter<'_> {
    /// The rows of `input` for which a condition with sub-queries is TRUE.
    pub(super) fn filtered_by_subqueries(
        &self,
        input: Converted,
        schema: &DFSchema,
        condition: &Expr,
    ) -> Option<Converted> {
        let found = replaced(condition)?;
        let (types, distinct) = (input.plan.types.clone(), input.distinct.clone());
        let more = DFSchema::from_unqualified_fields(found.fields.into(), HashMap::new());
        let schema = schema.join(&more.ok()?).ok()?;
        let mut all = input;
        for query in &found.plans {
            let query = self.convert(query)?;
            let rows = all.plan.estimate;
            all.distinct.push(1.0);
            let kind = JoinKind::Inner;
            all.plan = joined(kind, query.plan, all.plan, Vec::new(), rows, |_| {}, false);
        }
        let filtered = self.filtered(all, &schema, &found.condition)?;
        let columns = places(types.len()).into_iter().map(Expression::Column);
        let rows = filtered.plan.estimate;
        let node = Node::Project(Box::new(filtered.plan), columns.collect());
        let distinct = distinct.iter().map(|distinct| distinct.min(rows));
        Some(Converted {
            sampled: None,
            distinct: distinct.collect(),
            plan: Plan::new(node, types, rows),
        })
    }
}
