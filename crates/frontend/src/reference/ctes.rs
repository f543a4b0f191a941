//! Common table expressions: computed when they are first read, and recursion round by round.

use std::cell::OnceCell;

use arrow_array::new_empty_array;

use super::{Env, Run, Table, table, typed};
use crate::error::{Error, Result};
use crate::plan::{Column, ColumnId, Cte, CteBody, CteId, Plan};

/// Most rows that all rounds of a recursion may give.
const MOST_RECURSIVE_ROWS: usize = 1_000_000;

/// Most rounds of a recursion.
const MOST_ROUNDS: usize = 100_000;

/// A common table expression that is in sight.
pub(super) struct Definition<'a> {
    cte: &'a Cte,
    table: OnceCell<Table>,
}

impl Run<'_> {
    pub(super) fn with(&self, ctes: &[Cte], body: &Plan, env: &Env<'_>) -> Result<Table> {
        self.within(ctes, env, |inside| self.plan(body, inside))
    }

    pub(super) fn within(
        &self,
        ctes: &[Cte],
        env: &Env<'_>,
        f: impl FnOnce(&Env<'_>) -> Result<Table>,
    ) -> Result<Table> {
        let mut inside = Env::inside(env);
        inside.ctes = ctes
            .iter()
            .map(|cte| Definition {
                cte,
                table: OnceCell::new(),
            })
            .collect();
        f(&inside)
    }

    pub(super) fn cte_scan(
        &self,
        id: CteId,
        columns: &[(Column, ColumnId)],
        env: &Env<'_>,
        most: Option<usize>,
    ) -> Result<Table> {
        let mut level = Some(env);
        let found = loop {
            let Some(env) = level else {
                let message = format!("there is no common table expression {}", id.0);
                return Err(Error::internal(message));
            };
            match env.ctes.iter().find(|definition| definition.cte.id == id) {
                Some(definition) => break (definition, env),
                None => level = env.outer,
            }
        };
        let (definition, env) = found;
        let made;
        let table = match (definition.table.get(), most) {
            (Some(table), _) => table,
            (None, Some(most)) => {
                made = self.definition(definition.cte, env, most)?;
                &made
            }
            (None, None) => {
                let made = self.definition(definition.cte, env, usize::MAX)?;
                definition.table.get_or_init(|| made)
            }
        };
        let columns = columns.iter().map(|(column, of)| {
            let values = table.column(*of).cloned();
            let values = values.ok_or_else(|| {
                Error::internal(format!("{} has no column #{}", definition.cte.name, of.0))
            });
            Ok((column.id, values?))
        });
        Ok(Table {
            columns: columns.collect::<Result<_>>()?,
            rows: table.rows,
        })
    }

    /// The rows of a common table expression; the first ones will do.
    fn definition(&self, cte: &Cte, env: &Env<'_>, most: usize) -> Result<Table> {
        match &cte.body {
            CteBody::Plan(plan) => self.plan(plan, env),
            CteBody::Recursive {
                base,
                step,
                all,
                columns,
            } => self.recursion(cte.id, (base, step), *all, columns, env, most),
        }
    }

    fn recursion(
        &self,
        id: CteId,
        (base, step): (&Plan, &Plan),
        all: bool,
        columns: &[Column],
        env: &Env<'_>,
        most: usize,
    ) -> Result<Table> {
        let ids: Vec<ColumnId> = columns.iter().map(|column| column.id).collect();
        let none = columns.iter().map(|column| {
            let empty = new_empty_array(&column.ty.arrow());
            (column.id, empty)
        });
        let none = Table {
            columns: none.collect(),
            rows: 0,
        };
        let mut rounds = vec![none];
        let mut rows = 0;
        let mut round = self.plan(base, env)?;
        for _ in 0..MOST_ROUNDS {
            let mut last = Table::stacked(&ids, &[round])?;
            if !all {
                // Rows that are there come first in their groups.
                let before = Table::stacked(&ids, &rounds)?;
                let together = Table::stacked(&ids, &[before, last])?;
                let groups = table::groups(&typed(columns, &together)?, together.rows)?;
                let new = groups.iter().map(|group| group[0]);
                last = together.select(&new.filter(|row| *row >= rows).collect::<Vec<_>>())?;
            }
            rows += last.rows;
            self.count(rows / 100)?;
            if last.rows == 0 || rows >= most {
                rounds.push(last);
                return Table::stacked(&ids, &rounds);
            }
            if rows > MOST_RECURSIVE_ROWS {
                break;
            }
            let mut inside = Env::inside(env);
            inside.round = Some((id, &last));
            round = self.plan(step, &inside)?;
            rounds.push(last);
        }
        Err(Error::new(
            "54001",
            "a recursive query gives rows without end",
        ))
    }

    /// The last round of the recursion that a plan is in.
    pub(super) fn last_round(&self, id: CteId, columns: &[Column], env: &Env<'_>) -> Result<Table> {
        let mut level = Some(env);
        while let Some(env) = level {
            if let Some((of, table)) = env.round
                && of == id
            {
                let ids: Vec<ColumnId> = columns.iter().map(|column| column.id).collect();
                return Table::stacked(&ids, std::slice::from_ref(table));
            }
            level = env.outer;
        }
        Err(Error::internal("a recursion is read outside of it"))
    }
}
