//! MERGE: a query for the rows of the join, each with the clause that claims it.
//!
//! The front joins the target and the source once and gives each row the number of its clause and
//! the values of the table's columns. Rows are changed while others are still being found, as by
//! UPDATE and DELETE.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Int32Type;
use freestone_frontend::syntax::marks;
use freestone_frontend::types::Type;
use freestone_storage::Table;
use sqlparser::ast::{
    AssignmentTarget, Expr, Merge, MergeAction, MergeClause, MergeClauseKind, MergeInsertExpr,
    MergeInsertKind, ObjectName, SelectItem, TableFactor, TableWithJoins,
};

use super::Run;
use super::assigned::{Assigned, assigned_columns, given};
use super::change::{Changed, RowQuery, Wanted, refuse, row_id, stored_as, targets};
use super::changes::{Changes, twice, whole_ids};
use super::compose;
use super::identity::Overriding;
use super::insert::{column_names, columns_named};
use super::literal::is_default;
use super::partitioned::with_whole_ids;
use super::streamed::{Manner, Streamed};
use crate::dialect::overriding_in_merge;
use crate::error::{Error, Result};
use crate::front::{default_of, parse_expr};
use crate::names::{Name, fold, table_name};
use crate::outcome::Outcome;

/// The rows that a clause is of: those that meet a row of the other side, and those of the
/// target's or the source's side that meet none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Matched,
    Target,
    Source,
}

impl Of {
    fn clause(clause: &MergeClause) -> Of {
        match clause.clause_kind {
            MergeClauseKind::Matched => Of::Matched,
            MergeClauseKind::NotMatchedBySource => Of::Target,
            MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget => Of::Source,
        }
    }

    /// Its name in the query.
    fn mark(self) -> &'static str {
        match self {
            Of::Matched => marks::WHEN_MATCHED,
            Of::Target => marks::WHEN_TARGET,
            Of::Source => marks::WHEN_SOURCE,
        }
    }
}

/// # Errors
/// `42601` if a clause comes after one of the same rows that has no condition.
pub(crate) fn must_be_reachable(clauses: &[MergeClause]) -> Result<()> {
    for (at, clause) in clauses.iter().enumerate() {
        let claims = |other: &MergeClause| {
            other.predicate.is_none() && Of::clause(other) == Of::clause(clause)
        };
        if clauses[..at].iter().any(claims) {
            let message = "unreachable WHEN clause specified after unconditional WHEN clause";
            return Err(Error::new("42601", message));
        }
    }
    Ok(())
}

/// A MERGE whose names are found.
pub(super) struct Merging {
    pub(super) target: Changed,
    pub(super) table: Arc<Table>,
    /// The query for the rows that its clauses claim.
    pub(super) query: RowQuery,
    /// The effect of each clause.
    does: Vec<Does>,
}

enum Does {
    Nothing,
    Insert,
    /// The columns that get values.
    Update(Vec<usize>),
    Delete,
}

/// The name by which a clause calls the rows of the source.
fn name_of_source(source: &TableFactor) -> Option<String> {
    match source {
        TableFactor::Table {
            alias: Some(alias), ..
        }
        | TableFactor::Derived {
            alias: Some(alias), ..
        } => Some(fold(&alias.name)),
        TableFactor::Table { name, .. } => table_name(name).ok().map(|name| name.name),
        _ => None,
    }
}

impl Run<'_> {
    pub(super) async fn merge(&self, merge: &Merge) -> Result<Outcome> {
        let merging = self.merging(merge)?;
        let (target, table) = (&merging.target, &merging.table);
        let found = match self.found_for_change(target, &merging.query).await? {
            Wanted::Plan(plan) => {
                let watching = self.watched(&plan, merge);
                if self.may_change_while_finding(table, &Manner::Any)? {
                    let of = Streamed::Merge(&merging);
                    let rows = self.changed_while_finding(of, plan, watching).await?;
                    return Ok(merged(rows));
                }
                self.collected(plan, watching).await?
            }
            Wanted::Rows(rows) => vec![rows],
        };
        let changes = self.merge_changes(&merging, found)?;
        let rows = self.apply(table, &changes)?.rows;
        Ok(merged(rows))
    }

    /// The changes that clauses make of the rows that they claim.
    ///
    /// # Errors
    /// `21000` if a row would be changed twice.
    pub(super) fn merge_changes(
        &self,
        merging: &Merging,
        found: Vec<RecordBatch>,
    ) -> Result<Changes> {
        let table = &merging.table;
        let changes = merging.changes(found)?;
        must_be_once(&changes)?;
        let rows = [changes.deleted.as_slice(), changes.updated.as_slice()].concat();
        self.must_be_unchanged(table, &rows, "MERGE")?;
        Ok(changes)
    }

    /// The table that a MERGE changes, and the query for its rows.
    ///
    /// # Errors
    /// Errors of names and clauses; errors inside of the query come when it is planned.
    pub(super) fn merging(&self, merge: &Merge) -> Result<Merging> {
        refuse(&[(merge.output.is_some(), "MERGE with OUTPUT")])?;
        must_be_reachable(&merge.clauses)?;
        let written = TableWithJoins {
            relation: merge.table.clone(),
            joins: Vec::new(),
        };
        let target = Changed::of(&written, "MERGE")?;
        let table = self.table_to_merge(&target.name)?.clone();
        if name_of_source(&merge.source).as_deref() == Some(target.called.as_str()) {
            let message = format!("name \"{}\" specified more than once", target.called);
            return Err(Error::new("42712", message)
                .with_detail("The name is used both as MERGE target table and data source."));
        }
        let mut list = vec![row_id(&target)];
        let mut does = Vec::with_capacity(merge.clauses.len());
        for clause in &merge.clauses {
            let (what, values) = self.clause_of_merge(clause, &target, &table)?;
            let mut kind = Of::clause(clause).mark().to_owned();
            if matches!(what, Does::Nothing) {
                kind.push_str(marks::WHEN_NOTHING);
            }
            let mut arguments = vec![match &clause.predicate {
                Some(predicate) => predicate.clone(),
                None => compose::truth(),
            }];
            arguments.extend(values);
            let call = marks::call(marks::WHEN, &kind, arguments)?;
            list.push(SelectItem::UnnamedExpr(call));
            does.push(what);
        }
        let mut into = targets(&self.snapshot, &[]);
        into.push(("clause".to_owned(), Type::Int4));
        if does
            .iter()
            .any(|does| matches!(does, Does::Insert | Does::Update(_)))
        {
            into.extend(stored_as(&self.snapshot, &table.schema.columns));
        }
        let from = vec![
            compose::alone(target.from.clone()),
            compose::alone(merge.source.clone()),
        ];
        let on = Some(merge.on.as_ref().clone());
        Ok(Merging {
            query: RowQuery {
                query: compose::query(list, from, on)?,
                has_ids: true,
                into,
            },
            target,
            table,
            does,
        })
    }

    /// The effect of a clause, and the values that it gives to all columns of the table.
    fn clause_of_merge(
        &self,
        clause: &MergeClause,
        target: &Changed,
        table: &Table,
    ) -> Result<(Does, Vec<Expr>)> {
        let inserts = Of::clause(clause) == Of::Source;
        match (&clause.action, inserts) {
            (action, _) if does_nothing(action) => Ok((Does::Nothing, Vec::new())),
            (MergeAction::Insert(insert), true) => {
                refuse(&[(
                    insert.insert_predicate.is_some() && overriding_in_merge(insert).is_none(),
                    "INSERT … WHERE in MERGE",
                )])?;
                Ok((Does::Insert, self.merge_insert(table, target, insert)?))
            }
            (MergeAction::Update(update), false) => {
                refuse(&[
                    (update.update_predicate.is_some(), "UPDATE … WHERE in MERGE"),
                    (update.delete_predicate.is_some(), "DELETE WHERE in MERGE"),
                ])?;
                let of = (&target.name, target.called.as_str(), None);
                let assigned = assigned_columns(&self.snapshot, table, of, &update.assignments)?;
                let columns = given(&assigned);
                let values = table.schema.columns.iter().zip(assigned);
                let values = values.map(|(column, value)| match value {
                    Assigned::Same => compose::column(&target.alias, &column.name),
                    Assigned::Value(value) => *value,
                });
                Ok((Does::Update(columns), values.collect()))
            }
            (MergeAction::Delete { .. }, false) => Ok((Does::Delete, Vec::new())),
            (action, _) => {
                let message = format!("{action} cannot follow WHEN {}", clause.clause_kind);
                Err(Error::new("42601", message))
            }
        }
    }

    /// The table of a MERGE.
    ///
    /// # Errors
    /// `0A000` for a view; those of names.
    pub(crate) fn table_to_merge(&self, name: &Name) -> Result<&Arc<Table>> {
        if self.snapshot.view(&name.schema, &name.name).is_some() {
            let message = format!("cannot execute MERGE on relation \"{}\"", name.name);
            let error = Error::unsupported(message);
            return Err(error.with_detail("This operation is not supported for views."));
        }
        self.stored_table(name)
    }

    /// The values of the rows that a clause inserts.
    fn merge_insert(
        &self,
        table: &Table,
        target: &Changed,
        insert: &MergeInsertExpr,
    ) -> Result<Vec<Expr>> {
        let MergeInsertKind::Values(values) = &insert.kind else {
            return Err(Error::unsupported("INSERT ROW is not supported"));
        };
        let [row] = values.rows.as_slice() else {
            return Err(Error::new("42601", "MERGE inserts one row of VALUES"));
        };
        let defaults = insert
            .columns
            .iter()
            .any(|name| is_form(name, marks::DEFAULTS));
        let row: &[Expr] = if defaults { &[] } else { &row.content };
        let places = match insert.columns.is_empty() || defaults {
            true => (0..table.schema.declared().len()).collect(),
            false => {
                let names = column_names(&insert.columns)?;
                columns_named(&table.schema, &target.name, &names)?
            }
        };
        let listed = !insert.columns.is_empty() && !defaults;
        if row.len() > places.len() || (row.len() < places.len() && listed) {
            return Err(Error::new(
                "42601",
                format!(
                    "MERGE inserts {} values into {} columns",
                    row.len(),
                    places.len()
                ),
            ));
        }
        let overriding = Overriding::in_merge(insert);
        let columns = table.schema.columns.iter().enumerate();
        let values = columns.map(|(index, column)| {
            let place = places.iter().position(|place| *place == index);
            let given = place.and_then(|place| row.get(place));
            let given = match given.filter(|value| !is_default(value)) {
                Some(given) => overriding.takes(column)?.then(|| given.clone()),
                None => None,
            };
            match (given, default_of(&self.snapshot, column)) {
                (Some(given), _) => Ok(given),
                (None, Some(default)) => parse_expr(default),
                (None, None) => Ok(compose::null()),
            }
        });
        values.collect()
    }
}

impl Merging {
    /// The rows of each clause as changes. A row has its id, the number of its clause and the
    /// values of all columns; of a partitioned table its last is the number of its partition.
    fn changes(&self, found: Vec<RecordBatch>) -> Result<Changes> {
        let is_partitioned = self.table.schema.partitioned.is_some();
        let mut changes = Changes::default();
        for batch in found {
            let clauses = batch.column(1).as_primitive_opt::<Int32Type>();
            let clauses = clauses.ok_or_else(|| Error::internal("clauses of another type"))?;
            for (does, number) in self.does.iter().zip(0..) {
                let is_of: BooleanArray = clauses
                    .iter()
                    .map(|clause| Some(clause == Some(number)))
                    .collect();
                if is_of.true_count() == 0 {
                    continue;
                }
                let rows = filter_record_batch(&batch, &is_of)?;
                let without = |columns: &[usize]| {
                    let all = (0..rows.num_columns()).filter(|at| !columns.contains(at));
                    rows.project(&all.collect::<Vec<_>>())
                };
                let last = rows.num_columns() - 1;
                let there = || match is_partitioned {
                    true => with_whole_ids(&without(&[1])?),
                    false => Ok(without(&[1])?),
                };
                match does {
                    Does::Nothing => {}
                    Does::Insert if is_partitioned => {
                        changes.inserted.push(without(&[0, 1, last])?);
                    }
                    Does::Insert => changes.inserted.push(without(&[0, 1])?),
                    Does::Update(columns) => changes.update(vec![there()?], columns.clone()),
                    Does::Delete => changes.deleted.push(there()?.project(&[0])?),
                }
            }
        }
        Ok(changes)
    }
}

fn merged(rows: u64) -> Outcome {
    Outcome::Done {
        tag: format!("MERGE {rows}"),
        rows,
    }
}

/// Whether a name stands for a form.
fn is_form(name: &ObjectName, mark: &str) -> bool {
    let ident = name.0.first().and_then(|part| part.as_ident());
    ident.is_some_and(|ident| ident.quote_style == Some(marks::QUOTE) && ident.value == mark)
}

/// Whether an action is DO NOTHING: its rows are claimed, and stay as they are.
fn does_nothing(action: &MergeAction) -> bool {
    match action {
        MergeAction::Insert(insert) => {
            let mut columns = insert.columns.iter();
            columns.any(|name| is_form(name, marks::NOTHING))
        }
        MergeAction::Update(update) => update.assignments.iter().any(|one| {
            matches!(&one.target, AssignmentTarget::ColumnName(name)
                if is_form(name, marks::NOTHING))
        }),
        MergeAction::Delete { .. } => false,
    }
}

/// A row may be changed once.
fn must_be_once(changes: &Changes) -> Result<()> {
    let mut seen = HashSet::new();
    for batch in changes.deleted.iter().chain(&changes.updated) {
        if whole_ids(batch.column(0))?
            .into_iter()
            .any(|id| !seen.insert(id))
        {
            return Err(twice());
        }
    }
    Ok(())
}
