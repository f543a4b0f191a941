//! Joins, by looking at each pair of rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, new_empty_array};

use super::{Env, Run, Table, quantified, several_rows};
use crate::error::Result;
use crate::plan::{Expr, JoinKind, Plan, Quantifier};

impl Run<'_> {
    pub(super) fn join(
        &self,
        kind: JoinKind,
        (left, right): (&Plan, &Plan),
        condition: Option<&Expr>,
        lateral: bool,
        env: &Env<'_>,
    ) -> Result<Table> {
        let outer = self.plan(left, env)?;
        let always = matches!(kind, JoinKind::Right | JoinKind::Full);
        let mut inner: Option<Table> = None;
        if !lateral && (always || outer.rows > 0) {
            inner = Some(self.plan(right, env)?);
        }
        // The rows of the result: a row of the left side, one of the right side, or both.
        let mut pairs: Vec<(Option<usize>, Option<usize>)> = Vec::new();
        let mut parts: Vec<Table> = Vec::new();
        let mut offset = 0;
        let mut marks: Vec<Option<bool>> = Vec::new();
        for row in 0..outer.rows {
            let mut env = Env::inside(env);
            for (id, array) in &outer.columns {
                env.values.insert(*id, array.slice(row, 1));
            }
            let table = match &inner {
                Some(table) if !lateral => table.clone(),
                _ => self.plan(right, &env)?,
            };
            self.count(table.rows)?;
            let matches = match condition {
                Some(condition) if table.rows > 0 && !matches!(kind, JoinKind::Mark(_)) => {
                    self.matching(condition, &table, &env)?
                }
                _ => (0..table.rows).collect(),
            };
            let pair = |at: &usize| (Some(row), Some(offset + at));
            let alone = || (Some(row), None);
            match kind {
                JoinKind::Inner | JoinKind::Right => pairs.extend(matches.iter().map(pair)),
                JoinKind::Left | JoinKind::Full if matches.is_empty() => pairs.push(alone()),
                JoinKind::Left | JoinKind::Full => pairs.extend(matches.iter().map(pair)),
                JoinKind::Semi if !matches.is_empty() => pairs.push(alone()),
                JoinKind::Anti if matches.is_empty() => pairs.push(alone()),
                JoinKind::Semi | JoinKind::Anti => {}
                JoinKind::AsOf => pairs.extend(matches.last().map(pair)),
                JoinKind::AsOfLeft => pairs.push(matches.last().map_or_else(alone, pair)),
                JoinKind::Single if matches.len() > 1 => return Err(several_rows()),
                JoinKind::Single => pairs.push(matches.last().map_or_else(alone, pair)),
                JoinKind::Mark(_) => {
                    pairs.push(alone());
                    marks.push(match condition {
                        Some(condition) => {
                            let compared = self.expr(condition, &table, &env)?;
                            quantified(&compared, Quantifier::Any)?
                        }
                        None => Some(table.rows > 0),
                    });
                }
            }
            self.count(pairs.len())?;
            if lateral && kind.gives_right() {
                offset += table.rows;
                parts.push(table);
            }
        }
        let ids: Vec<_> = right.columns().iter().map(|column| column.id).collect();
        let none = right.columns().into_iter().map(|column| {
            let empty = new_empty_array(&column.ty.arrow());
            (column.id, empty)
        });
        let none = Table {
            columns: none.collect(),
            rows: 0,
        };
        parts.push(none.clone());
        let inner = match inner {
            Some(inner) => inner,
            None if lateral => Table::stacked(&ids, &parts)?,
            None => none,
        };
        if always {
            let mut met = vec![false; inner.rows];
            pairs
                .iter()
                .filter_map(|(_, right)| *right)
                .for_each(|at| met[at] = true);
            let unmet = (0..inner.rows).filter(|at| !met[*at]);
            pairs.extend(unmet.map(|at| (None, Some(at))));
        }
        let lefts: Vec<_> = pairs.iter().map(|(left, _)| *left).collect();
        let mut result = outer.select_or_null(&lefts)?;
        if kind.gives_right() {
            let rights: Vec<_> = pairs.iter().map(|(_, right)| *right).collect();
            result = result.beside(inner.select_or_null(&rights)?);
        }
        if let JoinKind::Mark(id) = kind {
            let marks: ArrayRef = Arc::new(BooleanArray::from(marks));
            result.columns.push((id, marks));
        }
        Ok(result)
    }
}
