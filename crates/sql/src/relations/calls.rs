//! Calls that give something else than one value for each row: aggregates, windows, sets.

use std::ops::ControlFlow;

use freestone_frontend::functions::catalogue;
use freestone_frontend::syntax::walk::walk;
use freestone_storage::Catalog;
use sqlparser::ast::{Expr, Function, ObjectName, Query, SelectItem, Visitor};

use crate::error::{Error, Result};
use crate::names::{fold_part, table_name};
use crate::routine;

/// The kinds of calls in expressions, outside of their sub-queries.
#[derive(Default)]
pub(crate) struct Gives {
    pub(crate) aggregates: bool,
    pub(crate) windows: bool,
    /// Functions that give rows.
    pub(crate) sets: bool,
}

impl Gives {
    /// The kinds of calls in some expressions.
    ///
    /// # Errors
    /// Errors of reading functions that were created.
    pub(crate) fn of<'e>(
        catalog: &Catalog,
        expressions: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Self> {
        let mut calls = Calls::default();
        for expr in expressions {
            let _ = walk(expr, &mut calls);
        }
        for name in &calls.others {
            let name = table_name(name)?;
            for known in routine::of_name(catalog, &name.schema, &name.name)? {
                calls.found.sets |= known.is_set();
                calls.found.aggregates |= known.aggregation.is_some();
            }
        }
        Ok(calls.found)
    }

    /// Refuses what has no place in a clause.
    ///
    /// # Errors
    /// `42803`, `42P20` or `0A000`.
    pub(crate) fn refuse(&self, clause: &str) -> Result<()> {
        let kinds = [
            (self.aggregates, "42803", "aggregate"),
            (self.windows, "42P20", "window"),
            (self.sets, "0A000", "set-returning"),
        ];
        match kinds.iter().find(|(present, ..)| *present) {
            Some((_, state, kind)) => {
                let message = format!("{kind} functions are not allowed in {clause}");
                Err(Error::new(state, message))
            }
            None => Ok(()),
        }
    }
}

/// The expressions of a list.
pub(crate) fn expressions_of(list: &[SelectItem]) -> impl Iterator<Item = &Expr> {
    list.iter().filter_map(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    })
}

#[derive(Default)]
struct Calls {
    queries: usize,
    found: Gives,
    /// Functions that were created, maybe.
    others: Vec<ObjectName>,
}

impl Visitor for Calls {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(Function { name, over, .. }) = expr
            && self.queries == 0
        {
            let last = name.0.last().and_then(fold_part).unwrap_or_default();
            let all = catalogue();
            if over.is_some() {
                self.found.windows = true;
            } else if !all.aggregates(&last).is_empty() {
                self.found.aggregates = true;
            } else if all.functions(&last).is_empty() {
                match all.tables(&last).is_empty() {
                    true => self.others.push(name.clone()),
                    false => self.found.sets = true,
                }
            }
        }
        ControlFlow::Continue(())
    }
}
