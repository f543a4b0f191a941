//! Values that nothing reads go.
//!
//! ```text
//! Project a                             Project a
//!   Join b = c                            Join b = c
//!     Project a, b, x + y AS d              Project a, b
//! ```
//!
//! Items of projections, calls of aggregates and of windows are such values, and columns of
//! tables and of common table expressions that no place reads; one that is volatile stays.
//! Columns of set operations, of DISTINCT and of recursions are all read, by their places.

use std::collections::HashSet;

use crate::plan::{Column, ColumnId, Cte, CteBody, ExprKind, Plan};
use crate::stack;

/// A plan that gives the same rows.
pub(super) fn pruned(mut plan: Plan) -> Plan {
    let mut read = ids(&plan.columns());
    let levels = plan.levels().saturating_mul(2);
    stack::with_room(levels, || prune(&mut plan, &mut read));
    plan
}

fn ids(columns: &[Column]) -> HashSet<ColumnId> {
    columns.iter().map(|column| column.id).collect()
}

/// Takes values away that nothing reads; adds the columns that the plan reads.
fn prune(plan: &mut Plan, read: &mut HashSet<ColumnId>) {
    match plan {
        Plan::Project { items, .. } => {
            items.retain(|(column, value)| read.contains(&column.id) || value.is_volatile());
        }
        Plan::Aggregate { calls, .. } => {
            calls.retain(|(column, call)| {
                let mut values = call.arguments.iter().chain(&call.filter);
                read.contains(&column.id) || values.any(|value| value.is_volatile())
            });
        }
        Plan::Window { calls, .. } => calls.retain(|(column, _)| read.contains(&column.id)),
        Plan::Set { inputs, .. } => inputs
            .iter()
            .for_each(|input| read.extend(ids(&input.columns()))),
        Plan::Distinct { input, .. } => read.extend(ids(&input.columns())),
        Plan::Scan { columns, .. } => keep_read(columns, read),
        Plan::CteScan { columns, .. } => {
            keep_read(columns, read);
            read.extend(columns.iter().map(|(_, of)| *of));
        }
        Plan::With { ctes, .. } => ctes.iter().for_each(|cte| read.extend(all_of(cte))),
        _ => {}
    }
    for expr in plan.expressions_mut() {
        expr.change(&mut |part| {
            if let ExprKind::Subquery(subquery) = &mut part.kind {
                read.extend(ids(&subquery.plan.columns()));
                prune(&mut subquery.plan, read);
            }
        });
        expr.read(read);
    }
    // The right side of a join may read columns of the left one.
    for input in plan.inputs_mut().into_iter().rev() {
        prune(input, read);
    }
}

/// Takes columns of a table away that are not read.
fn keep_read<T: Clone>(columns: &mut Vec<(Column, T)>, read: &HashSet<ColumnId>) {
    // Rows without columns would be no rows of a table.
    let first = columns.first().cloned();
    columns.retain(|(column, _)| read.contains(&column.id));
    if columns.is_empty() {
        columns.extend(first);
    }
}

/// The columns of a common table expression that are read by its rounds.
fn all_of(cte: &Cte) -> HashSet<ColumnId> {
    match &cte.body {
        CteBody::Plan(_) => HashSet::new(),
        CteBody::Recursive {
            base,
            step,
            columns,
            ..
        } => {
            let all = [base.columns(), step.columns(), columns.clone()];
            all.iter().flat_map(|columns| ids(columns)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Expr, JoinKind};

    fn column(id: u32) -> Column {
        Column {
            id: ColumnId(id),
            name: format!("c{id}"),
            ty: crate::types::Type::Int4,
        }
    }

    fn project(items: &[(u32, Expr)], input: Plan) -> Plan {
        Plan::Project {
            input: Box::new(input),
            items: items
                .iter()
                .map(|(id, value)| (column(*id), value.clone()))
                .collect(),
        }
    }

    /// The numbers of all columns that projections of a plan make, from the top.
    fn made(plan: &Plan) -> Vec<u32> {
        let own: Vec<u32> = match plan {
            Plan::Project { items, .. } => items.iter().map(|(column, _)| column.id.0).collect(),
            _ => Vec::new(),
        };
        let below = plan.inputs().into_iter().flat_map(made);
        own.into_iter().chain(below).collect()
    }

    #[test]
    fn values_go_that_nothing_reads_and_those_that_a_dependent_side_reads_stay() {
        let left = project(
            &[(1, Expr::int4(1)), (2, Expr::int4(2)), (3, Expr::int4(3))],
            Plan::one_row(),
        );
        let right = project(
            &[(4, column(2).reference()), (5, column(3).reference())],
            Plan::one_row(),
        );
        let join = Plan::Join {
            kind: JoinKind::Inner,
            left: Box::new(left),
            right: Box::new(right),
            condition: None,
            lateral: true,
        };
        let plan = project(&[(6, column(4).reference())], join);
        assert_eq!(made(&pruned(plan)), [6, 2, 4]);
    }
}
