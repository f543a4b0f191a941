//! Orders, limits and unions.

use freestone_exec::expression::Expression;
use freestone_exec::vector::Kind;
use freestone_exec::{Limit, Node, Plan as Own, SortKey as Key, Sorting};
use freestone_frontend::plan::{Plan, SetKind, SortKey};
use freestone_storage::Top;

use super::super::canonical;
use super::super::expression::exact;
use super::super::sorting::is_sorted;
use super::super::subquery::is_of_running;
use super::{Bulk, Part, chosen, field};
use crate::engine::{Scope, cut, united};
use crate::error::{Error, Result};

/// Rows that are passed over, and the number of the last.
type Cut = (usize, Option<usize>);

/// Tells the scan of a table how many of its rows are enough.
fn hint(plan: &mut Own, rows: usize) {
    match &mut plan.node {
        Node::Table(table) => table.limit = Some(rows),
        Node::Project(input, _) => hint(input, rows),
        _ => {}
    }
}

/// Tells the scan of a table which of its rows are enough for an order: blocks in that order, or
/// with an index for it, give the first ones only.
fn top(plan: &mut Own, value: &Expression, top: Top) {
    let Expression::Column(column) = value else {
        return;
    };
    match &mut plan.node {
        Node::Project(input, expressions) => {
            if let Some(below) = expressions.get(*column) {
                self::top(input, below, top);
            }
        }
        Node::Table(table) => {
            let column = table.projection.get(*column).copied();
            table.top = column.map(|column| Top { column, ..top });
        }
        _ => {}
    }
}

impl Bulk<'_> {
    /// Rows in an order, or some of them.
    pub(super) fn sort(
        &self,
        plan: &Plan,
        input: &Plan,
        keys: &[SortKey],
        (skip, fetch): Cut,
    ) -> Result<Part> {
        let part = self.part(input)?;
        let scope = Scope::over(&part.found);
        let mut sorting = Sorting {
            keys: Vec::with_capacity(keys.len()),
            skip,
            fetch,
        };
        for key in keys {
            let value = self.lowering.expr(&key.expr)?;
            let order = canonical::order(value.clone(), &key.expr.ty);
            let kind = scope.kind_of(&order);
            let known = kind.filter(|kind| Kind::of(kind) != Kind::Other);
            let known = known.map(|kind| (order, kind));
            let other = || {
                let key = canonical::sortable(value, &key.expr.ty)?;
                Some((key.expr, key.kind))
            };
            let lost = || Error::internal(format!("an order of values of {}", key.expr.ty));
            let (value, kind) = known.or_else(other).ok_or_else(lost)?;
            let expression = scope.expr(&value)?;
            sorting.keys.push(Key {
                expression,
                kind,
                descending: key.descending,
                nulls_first: key.nulls_first,
            });
        }
        self.spend(plan);
        let Part { mut rows, found } = part;
        if let (Some(last), Some(first)) = (fetch, sorting.keys.first()) {
            let wanted = Top {
                column: 0,
                descending: first.descending,
                nulls_first: first.nulls_first,
                rows: last,
            };
            top(&mut rows.plan, &first.expression, wanted);
        }
        Ok(Part {
            rows: cut(rows, skip, fetch, |plan| Node::Sort(plan, sorting)),
            found,
        })
    }

    pub(super) fn limit(&self, plan: &Plan) -> Result<Part> {
        let Plan::Limit {
            input,
            limit,
            offset,
            ties,
            percent,
        } = plan
        else {
            return Err(Error::internal("a limit that is none"));
        };
        let is_of_running = limit.iter().chain(offset).any(is_of_running);
        if is_of_running || ties.is_some() || *percent {
            let numbers = (limit.as_ref(), offset.as_ref());
            return self.cut(plan, input, numbers, ties.as_deref(), *percent);
        }
        let number = |value: &Option<_>, sqlstate, word| match value {
            Some(value) => self.lowering.rows(value, sqlstate, word),
            None => Ok(None),
        };
        let skip = number(offset, "2201X", "OFFSET")?.unwrap_or(0);
        let fetch = number(limit, "2201W", "LIMIT")?;
        self.spend(plan);
        let rows = |rows: i64| usize::try_from(rows).unwrap_or(usize::MAX);
        let (skip, fetch) = (rows(skip), fetch.map(rows));
        let last = fetch.map(|fetch| skip.saturating_add(fetch));
        match skip == 0 && fetch.is_none() {
            true => self.part(input),
            false => self.first(input, (skip, last)),
        }
    }

    /// Some rows of a plan, counted in its order.
    fn first(&self, plan: &Plan, (skip, last): Cut) -> Result<Part> {
        match plan {
            Plan::Sort { input, keys } => self.sort(plan, input, keys, (skip, last)),
            // Values are computed of no more rows than are wanted.
            Plan::Project { input, items } if is_sorted(input) => {
                let part = self.first(input, (skip, last))?;
                self.project(plan, part, items)
            }
            plan => {
                let Part { rows, found } = self.part(plan)?;
                let fetch = last.map(|last| last.saturating_sub(skip));
                let mut rows = rows;
                if let Some(last) = last {
                    hint(&mut rows.plan, last);
                }
                let rows = cut(rows, skip, last, |plan| {
                    Node::Limit(plan, Limit { skip, fetch })
                });
                Ok(Part { rows, found })
            }
        }
    }

    pub(super) fn union(&self, plan: &Plan) -> Result<Part> {
        let Plan::Set {
            kind: SetKind::Union,
            all,
            inputs,
            columns,
        } = plan
        else {
            return Err(Error::internal("INTERSECT or EXCEPT that is no join"));
        };
        let types: Vec<_> = columns.iter().map(|column| column.ty.arrow()).collect();
        let mut sides = Vec::with_capacity(inputs.len());
        for input in inputs {
            let part = self.part(input)?;
            let scope = Scope::over(&part.found);
            let mut expressions = Vec::with_capacity(columns.len());
            for (of, to) in input.columns().iter().zip(columns) {
                let value = exact(self.lowering.column(of.id)?, &to.ty)?;
                let expression = scope.expr(&value)?;
                expressions.push(expression);
            }
            sides.push(chosen(part.rows, expressions, types.clone()));
        }
        let mut part = Part {
            rows: united(sides, types.clone()),
            found: Default::default(),
        };
        for (at, (column, kind)) in columns.iter().zip(types).enumerate() {
            let name = self.find(column, &kind);
            let field = field(&name, kind);
            part.found.insert(name, (at, field));
        }
        match all {
            true => {
                self.spend(plan);
                Ok(part)
            }
            false => self.once(plan, part, columns),
        }
    }
}
