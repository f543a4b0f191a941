//! Sub-queries and dependent joins become joins: “Unnesting arbitrary queries” (Neumann and
//! Kemper, 2015), in three steps.
//!
//! 1. `joins`: every sub-query of an expression becomes a join on the input of its node: a
//!    scalar one a left join that refuses a second row, EXISTS and `= ANY` semi-joins or, where
//!    their truth value is a part of an expression, a mark. The join depends on its left side
//!    if the sub-query does.
//! 2. `pull`: conditions that read the left side leave the right side and become conditions of
//!    the join, as long as the operators between let them pass. Mostly nothing dependent is
//!    left then.
//! 3. `push`: else the right side is computed at once for all values that the left side has in
//!    the columns that are read, the *domain*. It goes down through the operators, groups and
//!    windows being computed for each of its values, until nothing below reads the left side.
//!
//! ```text
//! r ⋉ (lateral) σ s.x = r.x (s)                 r ⋉ s on s.x = r.x                    by 2
//! r ⟕ (lateral) avg(s.y) σ s.x < r.x (s)        r ⟕ D ⟕ avg(s.y) by D.x (D ⋈ s on s.x < D.x)
//!                                               with D = distinct r.x                 by 3
//! ```
//!
//! An equality with a column of the left side makes the domain needless where nothing can fail
//! for values that are not in it: the other side of the equality takes its place.
//!
//! Parts that must run for each outer row stay dependent joins: volatile ones, and those that
//! have an operator that a domain cannot pass, such as a common table expression that reads
//! the outer row. Sub-queries in LIMIT, OFFSET, frames' distances and TABLESAMPLE stay where
//! they are: they are constants.
//!
//! A sub-query that can fail is computed only for rows for which CASE, COALESCE, AND or OR
//! would do so: their condition becomes a filter on the domain.

mod joins;
mod pull;
mod push;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::facts::{self, is_volatile};
use super::{first, nodes, sets};
use crate::functions::kernel::{Any, Bool, f2};
use crate::functions::ordering::equality;
use crate::functions::{resolve_operator, scalar};
use crate::interrupt;
use crate::plan::{
    Column, ColumnId, Cte, CteBody, CteId, Expr, ExprKind, JoinKind, Plan, SetItem, TableCall,
};
use crate::stack;
use crate::types::Type;
use push::Domain;

pub(in crate::rewrite) use push::at_most;

/// A plan that gives the same rows, and has neither sub-queries in expressions nor dependent
/// joins where they can be removed, nor INTERSECT, EXCEPT and DISTINCT ON.
pub fn unnest(plan: Plan) -> Plan {
    // A level becomes a few, and plans are moved through each: frames are great.
    let levels = plan.levels().saturating_mul(32);
    stack::with_room(levels, || {
        let mut work = Unnesting::default();
        work.see(&plan);
        let plan = work.joined(plan);
        let mut plan = work.independent(plan);
        work.plain(&mut plan);
        plan
    })
}

/// A plan that gives the same rows, and has neither INTERSECT and EXCEPT nor DISTINCT ON.
pub fn plain(mut plan: Plan) -> Plan {
    let mut work = Unnesting::default();
    work.see(&plan);
    work.plain(&mut plan);
    plan
}

/// Gives new numbers to columns and common table expressions.
#[derive(Default)]
pub(in crate::rewrite) struct Unnesting {
    columns: u32,
    ctes: u32,
    /// Columns of the sub-queries whose comparisons are being searched: no row has them where
    /// the sub-queries within the comparisons are computed.
    compared: HashSet<ColumnId>,
    /// Values of sub-queries that have become joins, by their numbers, with the guards of
    /// the rows that they are computed for.
    values: HashMap<u32, (Expr, Vec<Expr>)>,
}

impl Unnesting {
    /// Numbers that a plan has are not given again.
    fn see(&mut self, plan: &Plan) {
        plan.each_made(&mut |column| self.columns = self.columns.max(column.id.0));
        if let Plan::Join {
            kind: JoinKind::Mark(id),
            ..
        } = plan
        {
            self.columns = self.columns.max(id.0);
        }
        if let Plan::With { ctes, .. } = plan {
            for cte in ctes {
                self.ctes = self.ctes.max(cte.id.0);
                for column in cte.body.columns() {
                    self.columns = self.columns.max(column.id.0);
                }
            }
        }
        for expr in plan.expressions() {
            expr.any(&mut |expr| {
                if let ExprKind::Subquery(subquery) = &expr.kind {
                    self.see(&subquery.plan);
                }
                false
            });
        }
        for input in plan.inputs() {
            self.see(input);
        }
    }

    fn plain(&mut self, plan: &mut Plan) {
        nodes::each(plan, &mut |node| {
            sets::joined(node, self);
            first::numbered(node, self);
        });
    }

    pub(in crate::rewrite) fn column(&mut self, name: &str, ty: Type) -> Column {
        self.columns += 1;
        Column {
            id: ColumnId(self.columns),
            name: name.to_owned(),
            ty,
        }
    }

    fn again(&mut self, column: &Column) -> Column {
        self.column(&column.name, column.ty.clone())
    }

    fn cte(&mut self) -> CteId {
        self.ctes += 1;
        CteId(self.ctes)
    }

    /// The plan without dependent joins, those on the outside first.
    fn independent(&mut self, plan: Plan) -> Plan {
        if interrupt::check().is_err() {
            return plan;
        }
        match plan {
            Plan::Join {
                kind,
                left,
                right,
                condition,
                lateral: true,
            } => {
                let left = self.independent(*left);
                self.without_dependence(kind, left, *right, condition)
            }
            mut other => {
                for input in other.inputs_mut() {
                    let taken = std::mem::replace(input, Plan::one_row());
                    *input = self.independent(taken);
                }
                other
            }
        }
    }

    fn without_dependence(
        &mut self,
        kind: JoinKind,
        left: Plan,
        right: Plan,
        condition: Option<Expr>,
    ) -> Plan {
        let free = right.free();
        let outer = left.columns().into_iter();
        let outer: Vec<Column> = outer.filter(|column| free.contains(&column.id)).collect();
        if outer.is_empty() {
            let right = self.independent(right);
            return join(kind, left, right, condition);
        }
        if is_volatile(&right) {
            return self.kept(kind, left, right, condition);
        }
        let ids: HashSet<ColumnId> = outer.iter().map(|column| column.id).collect();
        let pulled = self.pulled(kind, right.clone(), condition.clone(), &ids);
        if let Some(plan) = pulled {
            return self.independent(plan.around(left));
        }
        let right = match right {
            Plan::Functions {
                calls,
                ordinality: None,
            } if kind == JoinKind::Inner => {
                return functions_of_each_row(left, calls, condition);
            }
            right => right,
        };
        let is_numbered = matches!(
            right,
            Plan::Functions {
                ordinality: Some(_),
                ..
            }
        );
        if is_numbered || !outer.iter().all(|column| may_be_in_domain(column, &right)) {
            return self.kept(kind, left, right, condition);
        }
        let cte = self.cte();
        let mut domain = Domain::new(outer, cte, &right, |column| self.again(column));
        let bare =
            matches!(kind, JoinKind::Left | JoinKind::Single) && push::is_null_without_rows(&right);
        let Some((mut new, mut given)) = self.push(right.clone(), &mut domain, bare) else {
            return self.kept(kind, left, right, condition);
        };
        if matches!(kind, JoinKind::Mark(_)) {
            new = push::cleaned(new, &mut given);
        }
        let same = domain.outer.iter().zip(&given);
        let same: Vec<Expr> = same.map(|(outer, given)| given.is(outer)).collect();
        let condition = Expr::and(same.into_iter().chain(condition));
        let columns = columns_of(kind, &left, &right);
        if !domain.used {
            let new = self.independent(new);
            return only(join(kind, left, new, Some(condition)), &columns);
        }
        let (left, ctes) = self.shared(left, &domain);
        let new = self.independent(new);
        let body = only(join(kind, left, new, Some(condition)), &columns);
        Plan::With {
            ctes,
            body: Box::new(body),
        }
    }

    /// A dependent join that stays one.
    fn kept(&mut self, kind: JoinKind, left: Plan, right: Plan, condition: Option<Expr>) -> Plan {
        Plan::Join {
            kind,
            left: Box::new(left),
            right: Box::new(self.independent(right)),
            condition,
            lateral: true,
        }
    }

    /// The left side's rows, computed once for the join and for its domain.
    fn shared(&mut self, left: Plan, domain: &Domain) -> (Plan, Vec<Cte>) {
        let mut ctes = Vec::new();
        let (left, copy) = match self.copied(&left) {
            Some((copy, renamed)) => {
                let column = |id: ColumnId| {
                    let found = renamed.iter().find(|(from, _)| *from == id);
                    found.map_or(id, |(_, to)| *to)
                };
                let columns: Vec<_> = domain.outer.iter().map(|c| column(c.id)).collect();
                (left, (copy, columns))
            }
            None => {
                let id = self.cte();
                let name = format!("outer_{}", id.0);
                let columns = left.columns();
                let here = |columns: Vec<(Column, ColumnId)>| Plan::CteScan {
                    id,
                    name: name.clone(),
                    columns,
                };
                let all = columns.iter().map(|c| (c.clone(), c.id)).collect();
                let read: Vec<_> = domain
                    .outer
                    .iter()
                    .map(|column| (self.again(column), column.id))
                    .collect();
                let ids = read.iter().map(|(column, _)| column.id).collect();
                let scans = (here(all), (here(read), ids));
                let body = CteBody::Plan(left);
                ctes.push(Cte {
                    id,
                    name,
                    body,
                    materialized: false,
                });
                scans
            }
        };
        let (copy, ids): (Plan, Vec<ColumnId>) = copy;
        let items = domain.columns.iter().zip(&ids).map(|(column, from)| {
            let value = Expr::new(ExprKind::Column(*from), column.ty.clone());
            (column.clone(), value)
        });
        let values = Plan::Project {
            input: Box::new(copy),
            items: items.collect(),
        };
        ctes.push(Cte {
            id: domain.cte,
            name: format!("domain_{}", domain.cte.0),
            body: CteBody::Plan(Plan::Distinct {
                input: Box::new(values),
                on: None,
            }),
            materialized: false,
        });
        (left, ctes)
    }

    /// A copy of a plan that is cheaper to run twice than to keep, with new numbers.
    fn copied(&mut self, plan: &Plan) -> Option<(Plan, Vec<(ColumnId, ColumnId)>)> {
        match plan {
            Plan::Scan {
                relation,
                alias,
                columns,
                sample: None,
            } => {
                let mut renamed = Vec::new();
                let columns = columns.iter().map(|(column, at)| {
                    let new = self.again(column);
                    renamed.push((column.id, new.id));
                    (new, *at)
                });
                let plan = Plan::Scan {
                    columns: columns.collect(),
                    relation: relation.clone(),
                    alias: alias.clone(),
                    sample: None,
                };
                Some((plan, renamed))
            }
            Plan::CteScan { id, name, columns } => {
                let mut renamed = Vec::new();
                let columns = columns.iter().map(|(column, of)| {
                    let new = self.again(column);
                    renamed.push((column.id, new.id));
                    (new, *of)
                });
                let plan = Plan::CteScan {
                    columns: columns.collect(),
                    id: *id,
                    name: name.clone(),
                };
                Some((plan, renamed))
            }
            Plan::Filter { input, condition } if !condition.is_volatile() => {
                let types = input.columns();
                let (input, renamed) = self.copied(input)?;
                let mut condition = condition.clone();
                condition.replace(&|id| {
                    let (_, new) = renamed.iter().find(|(from, _)| *from == id)?;
                    let column = types.iter().find(|column| column.id == id)?;
                    Some(Expr::new(ExprKind::Column(*new), column.ty.clone()))
                });
                let input = Box::new(input);
                Some((Plan::Filter { input, condition }, renamed))
            }
            _ => None,
        }
    }
}

/// The rows of functions for each row of a plan.
fn functions_of_each_row(left: Plan, calls: Vec<TableCall>, condition: Option<Expr>) -> Plan {
    let values = left.columns().into_iter().map(|column| {
        let value = column.reference();
        SetItem::Value(column, value)
    });
    let rows = Plan::ProjectSet {
        items: values.chain(calls.into_iter().map(SetItem::Rows)).collect(),
        input: Box::new(left),
    };
    match condition {
        Some(condition) => filter(rows, condition),
        None => rows,
    }
}

/// Whether a plan gives the same rows for equal values of an outer column. Equal values of some
/// types are not the same: 1.0 and 1.00, 0 and -0.
fn may_be_in_domain(column: &Column, plan: &Plan) -> bool {
    if equality(&column.ty).is_err() {
        return false;
    }
    facts::is_exact(&column.ty) || facts::is_compared_only(column.id, plan)
}

/// The columns that a join has.
fn columns_of(kind: JoinKind, left: &Plan, right: &Plan) -> Vec<Column> {
    let mut columns = left.columns();
    if kind.gives_right() {
        columns.extend(right.columns());
    }
    columns.extend(kind.mark());
    columns
}

fn join(kind: JoinKind, left: Plan, right: Plan, condition: Option<Expr>) -> Plan {
    Plan::Join {
        kind,
        left: Box::new(left),
        right: Box::new(right),
        condition,
        lateral: false,
    }
}

/// A join that is dependent if its right side reads the left one.
fn lateral(kind: JoinKind, left: Plan, right: Plan, condition: Option<Expr>) -> Plan {
    let lateral = facts::reads(&right, &facts::made(&left));
    Plan::Join {
        kind,
        left: Box::new(left),
        right: Box::new(right),
        condition,
        lateral,
    }
}

fn filter(input: Plan, condition: Expr) -> Plan {
    let input = Box::new(input);
    Plan::Filter { input, condition }
}

/// A plan with these of its columns and no others, in order.
pub(in crate::rewrite) fn only(plan: Plan, columns: &[Column]) -> Plan {
    let has = plan.columns();
    let ids = |all: &[Column]| -> Vec<ColumnId> { all.iter().map(|column| column.id).collect() };
    if ids(&has) == ids(columns) {
        return plan;
    }
    let items = columns
        .iter()
        .map(|column| (column.clone(), column.reference()));
    Plan::Project {
        items: items.collect(),
        input: Box::new(plan),
    }
}

/// Whether two values are equal, by the operator of their type.
pub(in crate::rewrite) fn equal(left: Expr, right: Expr) -> Expr {
    let types = [left.ty.clone(), right.ty.clone()];
    let function = match resolve_operator("=", &types) {
        Ok(found) if found.parameters == types => found.function,
        _ => {
            let ty = types[0].clone();
            let kernel = f2::<Any, Any, Bool>(move |left, right| {
                Ok(equality(&ty)?(&left, 0, &right, 0).is_eq())
            });
            Arc::new(scalar("=", &types, Type::Bool, kernel))
        }
    };
    Expr::call(function, vec![left, right], Type::Bool)
}

/// Whether two values are equal or both NULL; never NULL itself.
pub(in crate::rewrite) fn not_distinct(left: Expr, right: Expr) -> Expr {
    let both = Expr::and([left.clone().is_null(), right.clone().is_null()]);
    Expr::or([both, or_else(equal(left, right), false)])
}

/// A truth value, or another one if it is NULL.
fn or_else(condition: Expr, otherwise: bool) -> Expr {
    let values = vec![condition, Expr::bool(otherwise)];
    Expr::new(ExprKind::Coalesce(values), Type::Bool)
}
