//! What the parameters of MERGE are: told by its condition, and by what each clause gives
//! the columns of its table.

use std::sync::Arc;

use freestone_storage::Table;
use sqlparser::ast::{
    Expr, Merge, MergeAction, MergeClause, MergeClauseKind, MergeInsertExpr, MergeInsertKind,
    TableFactor,
};

use super::parts::named_or_all;
use super::{Prepared, Session, Told};
use crate::error::Result;
use crate::grammar::printed;
use crate::names::{fold, table_name};
use crate::run::{Run, column_values, is_default, must_be_reachable};

impl Prepared {
    /// Each clause is a query over what its rows come from, as when it runs.
    pub(super) async fn merge(
        &self,
        session: &Session,
        merge: &Merge,
        told: &mut Told,
    ) -> Result<()> {
        let TableFactor::Table { name, .. } = &merge.table else {
            return Ok(());
        };
        must_be_reachable(&merge.clauses)?;
        let run = Run::planning(session)?;
        let table = Arc::clone(run.table_to_merge(&table_name(name)?)?);
        let (target, source) = (printed(&merge.table), printed(&merge.source));
        let both = format!("{target}, {source}");
        let matched = format!("{both} WHERE {}", printed(&*merge.on));
        self.selected(session, ("1", &matched), None, told).await?;
        let called = match &merge.table {
            TableFactor::Table {
                alias: Some(alias), ..
            } => fold(&alias.name),
            _ => table_name(name)?.name,
        };
        for clause in &merge.clauses {
            let from = match clause.clause_kind {
                MergeClauseKind::Matched => &both,
                MergeClauseKind::NotMatchedBySource => &target,
                MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget => &source,
            };
            let what = told.of_clause(&table, &called, clause)?;
            if !what.is_empty() {
                self.selected(session, (&what.join(", "), from), None, told)
                    .await?;
            }
        }
        Ok(())
    }
}

impl Told {
    /// What a clause assigns as it is; the rest of its expressions.
    fn of_clause(
        &mut self,
        table: &Table,
        called: &str,
        clause: &MergeClause,
    ) -> Result<Vec<String>> {
        let has_column = |name: &str| table.schema.index_of(name).is_some();
        let assigned: Vec<(String, Expr)> = match &clause.action {
            MergeAction::Update(update) => column_values(&update.assignments, called, &has_column)?,
            MergeAction::Insert(insert) => inserted(table, insert),
            MergeAction::Delete { .. } => Vec::new(),
        };
        let mut others: Vec<String> = clause.predicate.iter().map(printed).collect();
        for (column, value) in assigned {
            if !self.direct(table, (&column, &value)) && !is_default(&value) {
                others.push(printed(&value));
            }
        }
        Ok(others)
    }
}

/// The columns of an INSERT with their values.
fn inserted(table: &Table, insert: &MergeInsertExpr) -> Vec<(String, Expr)> {
    let MergeInsertKind::Values(values) = &insert.kind else {
        return Vec::new();
    };
    let columns = named_or_all(table, &insert.columns);
    let row = values.rows.first().into_iter();
    let row = row.flat_map(|row| row.content.iter().cloned());
    columns.into_iter().zip(row).collect()
}
