//! Which columns of a query are NUMERIC without declared digits.
//!
//! A number that is computed has as many digits as it takes; only a column or a cast says how many
//! there are to be. Types here always tell the digits that values are held with, so that the
//! difference has to be looked for in the plan, where the binder marks values of casts that are
//! written:
//!
//! ```text
//! SELECT price, price * 2, price::NUMERIC(6,1), 1.5 FROM sales    -- price is NUMERIC(12,2)
//!
//! declared: price and the cast; not declared: the product and the literal
//! ```

use std::cell::RefCell;
use std::collections::HashMap;

use freestone_frontend::bind::{Binder, DECLARED_DIGITS};
use freestone_frontend::plan::{ColumnId, CteBody, Expr, ExprKind, Plan, Relation, SetItem};
use freestone_frontend::types::Type;
use freestone_storage::Modifier;
use sqlparser::ast::Statement as Ast;

use super::{Names, session_of, with_room};
use crate::error::{Error, Result};
use crate::lower::Handle;
use crate::relations::Relations;

/// The digits of a column of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    /// It is no NUMERIC, or its digits are declared.
    Declared,
    /// It has the digits of columns of relations that it is computed of.
    OfColumns,
    /// It has those of constants, which tell nothing of other values.
    OfConstants,
}

/// The digits of the columns of a query.
///
/// # Errors
/// Whatever is wrong with the query.
pub(crate) fn digits_of(relations: &Relations<'_>, ast: &Ast) -> Result<Vec<Digits>> {
    let Ast::Query(query) = ast else {
        return Err(Error::internal("only queries have columns"));
    };
    with_room(relations, || {
        let session = session_of(relations);
        let names = Names::new(relations);
        let bound = Binder::new(&names, &session)
            .marking_digits()
            .query_into(query, &[])?;
        let mut known = Known::default();
        known.of_plan(&bound.plan);
        let columns = bound.plan.columns();
        let digits = columns.iter().map(|column| match column.ty {
            Type::Numeric(Some(_)) if !known.is_declared(column.id) => {
                match known.reads_relations && !known.is_constant(column.id, DEPTH) {
                    true => Digits::OfColumns,
                    false => Digits::OfConstants,
                }
            }
            _ => Digits::Declared,
        });
        Ok(digits.collect())
    })
}

/// The things that columns of a plan are.
#[derive(Default)]
struct Known<'p> {
    columns: HashMap<ColumnId, Source<'p>>,
    reads_relations: bool,
    /// Answers for columns, which others may read many times.
    constant: RefCell<HashMap<ColumnId, bool>>,
    declared: RefCell<HashMap<ColumnId, bool>>,
}

enum Source<'p> {
    /// A column of a relation, and whether its digits are declared.
    Stored(bool),
    Computed(&'p Expr),
    /// One of these, all of the same type.
    Of(Vec<ColumnId>),
    /// Values that stand in the statement.
    Constants,
}

impl<'p> Known<'p> {
    /// Notes the columns of a plan and of all that is in it, without recursion over its inputs.
    fn of_plan(&mut self, plan: &'p Plan) {
        let mut open = vec![plan];
        while let Some(plan) = open.pop() {
            self.of_node(plan);
            let expressions = plan.expressions().into_iter();
            open.extend(expressions.flat_map(subqueries));
            open.extend(plan.inputs());
        }
    }

    fn of_node(&mut self, plan: &'p Plan) {
        match plan {
            Plan::Scan {
                relation, columns, ..
            } => {
                self.reads_relations = true;
                for (column, at) in columns {
                    let source = Source::Stored(is_declared_in(relation, *at));
                    self.columns.insert(column.id, source);
                }
            }
            Plan::Project { items, .. } | Plan::Aggregate { keys: items, .. } => {
                for (column, expr) in items {
                    self.columns.insert(column.id, Source::Computed(expr));
                }
            }
            Plan::ProjectSet { items, .. } => {
                for item in items {
                    if let SetItem::Value(column, expr) = item {
                        self.columns.insert(column.id, Source::Computed(expr));
                    }
                }
            }
            Plan::Set {
                inputs, columns, ..
            } => {
                let sides: Vec<_> = inputs.iter().map(Plan::columns).collect();
                for (at, column) in columns.iter().enumerate() {
                    let same = sides.iter().filter_map(|side| Some(side.get(at)?.id));
                    self.columns.insert(column.id, Source::Of(same.collect()));
                }
            }
            Plan::With { ctes, .. } => {
                for cte in ctes {
                    if let CteBody::Recursive {
                        base,
                        step,
                        columns,
                        ..
                    } = &cte.body
                    {
                        let sides = [base.columns(), step.columns()];
                        for (at, column) in columns.iter().enumerate() {
                            let same = sides.iter().filter_map(|side| Some(side.get(at)?.id));
                            self.columns.insert(column.id, Source::Of(same.collect()));
                        }
                    }
                }
            }
            Plan::Values { columns, .. } => {
                for column in columns {
                    self.columns.insert(column.id, Source::Constants);
                }
            }
            Plan::CteScan { columns, .. } => {
                for (column, of) in columns {
                    self.columns.insert(column.id, Source::Of(vec![*of]));
                }
            }
            _ => {}
        }
    }

    fn is_declared(&self, column: ColumnId) -> bool {
        self.declares(column, DEPTH)
    }

    /// Whether a column is computed without reading one of a relation.
    fn is_constant(&self, column: ColumnId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        if let Some(known) = self.constant.borrow().get(&column) {
            return *known;
        }
        let is_constant = |column: ColumnId| self.is_constant(column, depth);
        let found = match self.columns.get(&column) {
            Some(Source::Computed(expr)) => {
                !expr.has_subquery() && expr.reads().into_iter().all(is_constant)
            }
            Some(Source::Of(columns)) => columns.iter().copied().all(is_constant),
            Some(Source::Constants) => true,
            Some(Source::Stored(_)) | None => false,
        };
        self.constant.borrow_mut().insert(column, found);
        found
    }

    /// Whether the digits of a column are declared.
    fn declares(&self, column: ColumnId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        if let Some(known) = self.declared.borrow().get(&column) {
            return *known;
        }
        let found = match self.columns.get(&column) {
            Some(Source::Stored(declared)) => *declared,
            Some(Source::Computed(expr)) => self.declares_value(expr, depth),
            Some(Source::Of(columns)) => {
                let mut each = columns.iter();
                each.all(|column| self.declares(*column, depth))
            }
            Some(Source::Constants) | None => false,
        };
        self.declared.borrow_mut().insert(column, found);
        found
    }

    fn declares_value(&self, expr: &Expr, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let declares = |value: &Expr| self.declares_value(value, depth);
        match &expr.kind {
            ExprKind::Column(column) => self.declares(*column, depth),
            ExprKind::Call { function, .. } => function.name == DECLARED_DIGITS,
            ExprKind::Case {
                branches,
                otherwise,
            } => {
                otherwise.as_deref().is_some_and(declares)
                    && branches.iter().all(|(_, value)| declares(value))
            }
            ExprKind::Coalesce(values) => values.iter().all(declares),
            ExprKind::Subquery(query) => match query.plan.columns().as_slice() {
                [only] => self.declares(only.id, depth),
                _ => false,
            },
            _ => false,
        }
    }
}

/// Most steps from a column to what its digits come from.
const DEPTH: usize = 200;

/// The plans of the sub-queries of an expression.
fn subqueries(expr: &Expr) -> Vec<&Plan> {
    let (mut open, mut found) = (vec![expr], Vec::new());
    while let Some(expr) = open.pop() {
        if let ExprKind::Subquery(query) = &expr.kind {
            found.push(&query.plan);
        }
        open.extend(expr.children());
    }
    found
}

/// Whether the digits of a column of a relation are declared: those of files and of the system
/// catalogs are.
fn is_declared_in(relation: &Relation, at: usize) -> bool {
    let column = || {
        let handle = relation.handle.downcast_ref::<Handle>()?;
        let stored = handle.source.stored()?;
        let (name, _) = relation.columns.get(at)?;
        let schema = &stored.parts().0.schema;
        schema.columns.get(schema.index_of(name)?)
    };
    column().is_none_or(|column| column.modifier != Some(Modifier::AnyDigits))
}
