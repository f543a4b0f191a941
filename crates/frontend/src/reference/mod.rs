//! The interpreter: a plan is run node by node, and a dependent part anew for each outer row.
//!
//! ```text
//! Filter x > Scalar(avg(y) over Filter k = o.k …)
//!   for each row o: run the sub-query with o's columns in the environment
//! ```
//!
//! It computes queries of few rows, for which making a plan of operators takes longer than
//! running it. In tests it is the judge of the operators, and of rewritten plans, which must give
//! the rows of the plans that they come from. An [`Env`] holds the values of outer rows and the
//! common table expressions that are in sight.
//!
//! A table, and all tables of a statement together, may have so many rows ([`MOST_ROWS`],
//! [`MOST_WORK`]); more are refused. Changes of rows are not run here.

mod ctes;
mod groups;
mod joins;
mod sources;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod windows;

use std::cell::Cell;
use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, new_null_array};

use crate::error::{Error, Result};
use crate::evaluate::{self, Input, Subqueries, evaluate, expanded};
use crate::functions::Session;
use crate::functions::aggregates::collected;
use crate::functions::kernel::{Column, number};
use crate::plan::SubqueryKind;
use crate::plan::{self, ColumnId, Expr, Plan, Quantifier, Relation, SetKind, SortKey, Subquery};
use crate::stack;
use crate::types::Type;
use ctes::Definition;

pub use table::Table;

/// Most rows of one table.
pub const MOST_ROWS: usize = 5_000_000;

/// Most rows, and pairs of rows, of all tables that a statement makes.
pub const MOST_WORK: usize = 100_000_000;

/// The rows of a relation, with the columns that are read, in their order; see [`read`].
pub type Tables<'a> = dyn Fn(&Relation, &[(plan::Column, usize)]) -> Result<Vec<RecordBatch>> + 'a;

/// The columns that are read of batches with all columns of their relation.
///
/// # Errors
/// `XX000` if a batch lacks one.
pub fn read(
    batches: &[RecordBatch],
    columns: &[(plan::Column, usize)],
) -> Result<Vec<RecordBatch>> {
    let places: Vec<usize> = columns.iter().map(|(_, at)| *at).collect();
    let batches = batches.iter().map(|batch| Ok(batch.project(&places)?));
    batches.collect()
}

/// The rows of a plan.
///
/// # Errors
/// Those of its functions, and `54000` for too many rows.
pub fn run(
    plan: &Plan,
    tables: &Tables<'_>,
    session: &Session,
    parameters: &[ArrayRef],
) -> Result<Table> {
    run_beside(plan, HashMap::new(), tables, session, parameters)
}

/// The rows of a plan that reads columns of an outer row, with one value each.
///
/// # Errors
/// As [`run`].
pub fn run_beside(
    plan: &Plan,
    outer: HashMap<ColumnId, ArrayRef>,
    tables: &Tables<'_>,
    session: &Session,
    parameters: &[ArrayRef],
) -> Result<Table> {
    let run = Run {
        tables,
        session,
        parameters,
        work: Cell::new(0),
    };
    let env = Env {
        values: outer,
        ..Env::default()
    };
    run.plan(plan, &env)
}

/// Whether a plan reads no rows but those that it makes itself.
pub fn is_self_contained(plan: &Plan) -> bool {
    let reads = match plan {
        Plan::Scan { .. } | Plan::With { .. } | Plan::CteScan { .. } | Plan::Recursion { .. } => {
            true
        }
        plan => plan.expressions().into_iter().any(|expr| {
            expr.any(&mut |part| match &part.kind {
                plan::ExprKind::Subquery(subquery) => !is_self_contained(&subquery.plan),
                _ => false,
            })
        }),
    };
    !reads && plan.inputs().into_iter().all(is_self_contained)
}

/// A statement that is run.
struct Run<'a> {
    tables: &'a Tables<'a>,
    session: &'a Session,
    parameters: &'a [ArrayRef],
    work: Cell<usize>,
}

/// The things that a plan may read of those around it.
#[derive(Default)]
struct Env<'a> {
    outer: Option<&'a Env<'a>>,
    /// Columns of an outer row, one value each.
    values: HashMap<ColumnId, ArrayRef>,
    /// Common table expressions.
    ctes: Vec<Definition<'a>>,
    /// The last round of a recursion.
    round: Option<(crate::plan::CteId, &'a Table)>,
}

impl<'a> Env<'a> {
    fn inside(outer: &'a Env<'a>) -> Env<'a> {
        Env {
            outer: Some(outer),
            ..Env::default()
        }
    }

    fn value(&self, id: ColumnId) -> Option<&ArrayRef> {
        let own = self.values.get(&id);
        own.or_else(|| self.outer.and_then(|outer| outer.value(id)))
    }
}

impl Run<'_> {
    /// Counts rows, or pairs of rows, and refuses too many of them.
    fn count(&self, rows: usize) -> Result<()> {
        let work = self.work.get().saturating_add(rows);
        self.work.set(work);
        match rows > MOST_ROWS || work > MOST_WORK {
            true => Err(Error::new("54000", "the statement makes too many rows")),
            false => Ok(()),
        }
    }

    fn plan(&self, plan: &Plan, env: &Env<'_>) -> Result<Table> {
        let table = stack::step(|| self.node(plan, env))?;
        self.count(table.rows.max(1))?;
        Ok(table)
    }

    fn node(&self, plan: &Plan, env: &Env<'_>) -> Result<Table> {
        match plan {
            Plan::Values { columns, rows } => self.values(columns, rows, env),
            Plan::Scan {
                relation,
                columns,
                sample,
                ..
            } => self.scan(relation, columns, sample.as_ref(), env),
            Plan::Functions { calls, ordinality } => {
                self.functions(calls, ordinality.as_ref(), env)
            }
            Plan::Filter { input, condition } => {
                let table = self.plan(input, env)?;
                let rows = self.matching(condition, &table, env)?;
                table.select(&rows)
            }
            Plan::Project { input, items } => {
                let table = self.plan(input, env)?;
                self.project(&table, items, env)
            }
            Plan::ProjectSet { input, items } => self.project_set(input, items, env),
            Plan::Join {
                kind,
                left,
                right,
                condition,
                lateral,
            } => self.join(*kind, (left, right), condition.as_ref(), *lateral, env),
            Plan::Aggregate {
                input,
                keys,
                sets,
                calls,
                grouping,
            } => {
                let table = self.plan(input, env)?;
                self.aggregate(&table, keys, sets.as_deref(), calls, grouping, env)
            }
            Plan::Window { input, calls } => {
                let mut table = self.plan(input, env)?;
                let rows = table.rows;
                for (column, call) in calls {
                    let values = self.window(&table, call, env)?;
                    table.columns.push((column.id, values));
                }
                table.rows = rows;
                Ok(table)
            }
            Plan::Sort { input, keys } => {
                let table = self.plan(input, env)?;
                let rows = self.sorted(&table, keys, env)?;
                table.select(&rows)
            }
            Plan::Limit {
                input,
                limit,
                offset,
                ties,
                percent,
            } => self.limit(
                input,
                limit.as_ref(),
                offset.as_ref(),
                ties.as_deref(),
                *percent,
                env,
            ),
            Plan::Distinct { input, on } => {
                let table = self.plan(input, env)?;
                let groups = match on {
                    Some(on) => {
                        let keys = self.all(on.iter(), &table, env)?;
                        table::groups(&keys, table.rows)?
                    }
                    None => table::groups(&typed(&input.columns(), &table)?, table.rows)?,
                };
                let firsts: Vec<usize> = groups.iter().map(|group| group[0]).collect();
                table.select(&firsts)
            }
            Plan::Set {
                kind,
                all,
                inputs,
                columns,
            } => self.set(*kind, *all, inputs, columns, env),
            Plan::With { ctes, body } => self.with(ctes, body, env),
            Plan::CteScan { id, columns, .. } => self.cte_scan(*id, columns, env, None),
            Plan::Recursion { id, columns, .. } => self.last_round(*id, columns, env),
            Plan::Barrier { input } => self.plan(input, env),
        }
    }

    /// Calls a closure with the rows of a table as an expression sees them: its columns, the
    /// columns of outer rows and sub-queries.
    fn seen<R>(
        &self,
        table: &Table,
        env: &Env<'_>,
        f: impl FnOnce(&Input<'_>) -> Result<R>,
    ) -> Result<R> {
        let columns = |id: ColumnId| match table.column(id) {
            Some(array) => Some(Column::rows(array.clone())),
            None => env.value(id).cloned().map(Column::constant),
        };
        let subquery = |subquery: &Subquery, ty: &Type, input: &Input<'_>| {
            self.subquery(subquery, ty, input, env)
        };
        let subquery: &Subqueries<'_> = &subquery;
        f(&Input {
            rows: table.rows,
            columns: &columns,
            parameters: self.parameters,
            session: self.session,
            subquery: Some(subquery),
        })
    }

    /// The values of an expression, one for each row.
    fn expr(&self, expr: &Expr, table: &Table, env: &Env<'_>) -> Result<ArrayRef> {
        self.seen(table, env, |input| {
            Ok(expanded(&evaluate(expr, input)?, input.rows))
        })
    }

    /// The values of expressions with their types.
    fn all<'e>(
        &self,
        exprs: impl Iterator<Item = &'e Expr>,
        table: &Table,
        env: &Env<'_>,
    ) -> Result<Vec<(Type, ArrayRef)>> {
        exprs
            .map(|expr| Ok((expr.ty.clone(), self.expr(expr, table, env)?)))
            .collect()
    }

    /// The value of an expression that reads columns of outer rows only.
    fn constant(&self, expr: &Expr, env: &Env<'_>) -> Result<ArrayRef> {
        self.expr(expr, &Table::one_row(), env)
    }

    /// The rows for which a condition is TRUE.
    fn matching(&self, condition: &Expr, table: &Table, env: &Env<'_>) -> Result<Vec<usize>> {
        self.seen(table, env, |input| {
            let rows = evaluate::matching(condition, input)?;
            Ok(rows.values().iter().map(|row| *row as usize).collect())
        })
    }

    fn project(
        &self,
        table: &Table,
        items: &[(crate::plan::Column, Expr)],
        env: &Env<'_>,
    ) -> Result<Table> {
        let columns = items
            .iter()
            .map(|(column, expr)| Ok((column.id, self.expr(expr, table, env)?)));
        Ok(Table {
            columns: columns.collect::<Result<_>>()?,
            rows: table.rows,
        })
    }

    /// The value of a sub-query for each row of an input.
    fn subquery(
        &self,
        subquery: &Subquery,
        ty: &Type,
        input: &Input<'_>,
        env: &Env<'_>,
    ) -> Result<Column> {
        let free = subquery.free();
        let read: Vec<(ColumnId, Column)> = free
            .iter()
            .filter_map(|id| Some((*id, (input.columns)(*id)?)))
            .collect();
        let varies = read.iter().any(|(_, column)| !column.constant);
        let rows = if varies { input.rows } else { 1 };
        let mut results = Vec::with_capacity(rows);
        // A plan that reads nothing of the row is run once, though its comparison may differ.
        let plan_reads = subquery.plan.free();
        let mut once: Option<Table> = None;
        // EXISTS does not compute values.
        let mut run = &subquery.plan;
        while let (SubqueryKind::Exists, Plan::Project { input, .. }) = (&subquery.kind, run) {
            run = input;
        }
        for row in 0..rows {
            let mut env = Env::inside(env);
            for (id, column) in &read {
                env.values
                    .insert(*id, column.array.slice(column.at(row), 1));
            }
            let table = match &once {
                Some(table) => table.clone(),
                None => self.plan(run, &env)?,
            };
            if plan_reads.iter().all(|id| {
                read.iter()
                    .all(|(other, column)| id != other || column.constant)
            }) && once.is_none()
            {
                once = Some(table.clone());
            }
            results.push(self.value_of(subquery, ty, &table, &env)?);
        }
        Ok(match varies {
            true => Column::rows(table::concat(&results)?),
            false => Column::constant(results.swap_remove(0)),
        })
    }

    /// The value of a sub-query's rows.
    fn value_of(
        &self,
        subquery: &Subquery,
        ty: &Type,
        table: &Table,
        env: &Env<'_>,
    ) -> Result<ArrayRef> {
        let first = || {
            let column = table.columns.first().map(|(_, array)| array);
            column.ok_or_else(|| Error::internal("a sub-query without columns"))
        };
        Ok(match &subquery.kind {
            SubqueryKind::Scalar => match table.rows {
                0 => new_null_array(&ty.arrow(), 1),
                1 => first()?.clone(),
                _ => return Err(several_rows()),
            },
            SubqueryKind::Exists => truth(Some(table.rows > 0)),
            SubqueryKind::Array => {
                let values = first()?.clone();
                collected(values)?
            }
            SubqueryKind::Compare {
                comparison,
                quantifier,
            } => {
                let compared = self.expr(comparison, table, env)?;
                truth(quantified(&compared, *quantifier)?)
            }
        })
    }

    fn sorted(&self, table: &Table, keys: &[SortKey], env: &Env<'_>) -> Result<Vec<usize>> {
        let values = self.all(keys.iter().map(|key| &key.expr), table, env)?;
        table::sorted(&values, keys, table.rows)
    }

    fn limit(
        &self,
        input: &Plan,
        limit: Option<&Expr>,
        offset: Option<&Expr>,
        ties: Option<&[SortKey]>,
        percent: bool,
        env: &Env<'_>,
    ) -> Result<Table> {
        let number = |expr: Option<&Expr>| match expr {
            Some(expr) => self.constant(expr, env).map(|value| number(&value)),
            None => Ok(None),
        };
        let (limit, offset) = (number(limit)?, number(offset)?);
        if limit.is_some_and(|limit| limit < 0.0) {
            return Err(Error::new("2201W", "LIMIT must not be negative"));
        }
        if offset.is_some_and(|offset| offset < 0.0) {
            return Err(Error::new("2201X", "OFFSET must not be negative"));
        }
        let start = offset.unwrap_or(0.0) as usize;
        let most = limit.filter(|_| !percent && ties.is_none());
        let most = most.map(|limit| start.saturating_add(limit as usize));
        if limit == Some(0.0) {
            let (columns, rows) = (input.columns(), Vec::new());
            return self.plan(&Plan::Values { columns, rows }, env);
        }
        let table = self.limited(input, env, most)?;
        let start = start.min(table.rows);
        let share = |limit: f64| match percent {
            true => (table.rows as f64 * limit / 100.0).ceil(),
            false => limit,
        };
        let rows = limit.map_or(usize::MAX, |limit| share(limit) as usize);
        let mut end = start.saturating_add(rows).min(table.rows);
        if let Some(keys) = ties.filter(|_| end > start) {
            let keys = self.all(keys.iter().map(|key| &key.expr), &table, env)?;
            let same = table::same(&keys)?;
            while end < table.rows && same(end - 1, end) {
                end += 1;
            }
        }
        table.select(&(start..end).collect::<Vec<_>>())
    }

    /// The rows of a plan of which only the first ones are asked for: an endless recursion
    /// ends there.
    fn limited(&self, plan: &Plan, env: &Env<'_>, most: Option<usize>) -> Result<Table> {
        match plan {
            Plan::Project { input, items } => {
                let table = self.limited(input, env, most)?;
                self.project(&table, items, env)
            }
            Plan::CteScan { id, columns, .. } => self.cte_scan(*id, columns, env, most),
            Plan::With { ctes, body } => {
                self.within(ctes, env, |inside| self.limited(body, inside, most))
            }
            _ => self.plan(plan, env),
        }
    }

    fn set(
        &self,
        kind: SetKind,
        all: bool,
        inputs: &[Plan],
        columns: &[crate::plan::Column],
        env: &Env<'_>,
    ) -> Result<Table> {
        // Rows of all sides one after the other, and the side of each.
        let tables = inputs.iter().map(|input| self.plan(input, env));
        let tables = tables.collect::<Result<Vec<_>>>()?;
        let sides = tables.iter().enumerate();
        let sides: Vec<usize> = sides
            .flat_map(|(side, table)| std::iter::repeat_n(side, table.rows))
            .collect();
        let ids: Vec<ColumnId> = columns.iter().map(|column| column.id).collect();
        let together = Table::stacked(&ids, &tables)?;
        if kind == SetKind::Union && all {
            return Ok(together);
        }
        let mut kept = Vec::new();
        for group in table::groups(&typed(columns, &together)?, together.rows)? {
            let left = group.iter().filter(|row| sides[**row] == 0).count();
            let right = group.len() - left;
            let times = match (kind, all) {
                (SetKind::Union, _) => 1,
                (SetKind::Intersect, true) => left.min(right),
                (SetKind::Intersect, false) => left.min(right).min(1),
                (SetKind::Except, true) => left.saturating_sub(right),
                (SetKind::Except, false) => usize::from(left > 0 && right == 0),
            };
            // The left side's rows are the group's first ones.
            kept.extend(group.into_iter().take(times));
        }
        together.select(&kept)
    }
}

/// The values of columns with their types.
fn typed(columns: &[crate::plan::Column], table: &Table) -> Result<Vec<(Type, ArrayRef)>> {
    let found = columns.iter().map(|column| {
        let values = table.column(column.id).cloned();
        let values = values.ok_or_else(|| Error::internal("a column is missing"))?;
        Ok((column.ty.clone(), values))
    });
    found.collect()
}

fn several_rows() -> Error {
    Error::new(
        "21000",
        "more than one row returned by a subquery used as an expression",
    )
}

fn truth(value: Option<bool>) -> ArrayRef {
    std::sync::Arc::new(arrow_array::BooleanArray::from(vec![value]))
}

/// Whether any or all of some truth values are TRUE, by three-valued logic.
fn quantified(values: &ArrayRef, quantifier: Quantifier) -> Result<Option<bool>> {
    let values = values.as_boolean_opt();
    let values = values.ok_or_else(|| Error::internal("a comparison that is no boolean"))?;
    let deciding = quantifier == Quantifier::Any;
    Ok(if values.iter().flatten().any(|value| value == deciding) {
        Some(deciding)
    } else if values.null_count() > 0 {
        None
    } else {
        Some(!deciding)
    })
}
