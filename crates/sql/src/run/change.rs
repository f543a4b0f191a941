//! UPDATE and DELETE.
//!
//! Each is planned as a query for the rows that it changes: their ids and, for
//! UPDATE, all columns with the new values. The query reads the moment at which the statement
//! began, so it never sees the statement's own changes: rows are changed in the statement's
//! transaction while others are still being found ([`super::streamed`]).
//!
//! RETURNING and views that check their rows need all rows that were found at once.

use std::fmt::Display;
use std::ops::RangeBounds;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use freestone_frontend::types::Type;
use freestone_storage::delta::arrays;
use freestone_storage::{Catalog, Column, Table};
use sqlparser::ast::{
    Delete, Expr, FromTable, Ident, Query, SelectItem, Statement as Ast, TableFactor,
    TableWithJoins, Update, UpdateTableFromKind,
};

use super::Run;
use super::assigned::{Assigned, assigned_columns, given, new_values};
use super::changes::{Applied, Changes, first_of_each, row_ids_in};
use super::compose;
use super::partitioned::{ask_for_table, with_whole_ids};
use super::returning::{Other, asks};
use super::streamed::{Manner, Streamed};
use crate::engine::Pipelines;
use crate::error::{Error, Result};
use crate::front::{self, Planned};
use crate::names::{Name, fold, table_name};
use crate::outcome::Outcome;
use crate::relations::TABLE;
use crate::relations::updatable::{Command, Through};
use crate::scan::ROW_ID;
use crate::types::nullable;

/// The table that a statement changes.
pub(super) struct Changed {
    pub(super) name: Name,
    /// The name by which the statement calls it.
    pub(super) alias: Ident,
    /// The same, folded.
    pub(super) called: String,
    /// As it is to stand in FROM.
    pub(super) from: TableFactor,
    /// The views over the table by which it is changed.
    pub(super) through: Option<Arc<Through>>,
}

/// A query for the rows that a statement changes.
pub(super) struct RowQuery {
    pub(super) query: Query,
    /// Whether its first column has their ids; new rows of MERGE have none.
    pub(super) has_ids: bool,
    /// Names and types of the columns that its columns are stored in; none for ids alone.
    pub(super) into: Vec<(String, Type)>,
}

/// How the rows that a statement changes are found.
pub(super) enum Wanted {
    /// By a plan.
    Plan(Pipelines),
    /// They are found.
    Rows(RecordBatch),
}

impl Changed {
    pub(super) fn of(written: &TableWithJoins, what: &str) -> Result<Changed> {
        let TableFactor::Table {
            name,
            alias,
            args: None,
            ..
        } = &written.relation
        else {
            return Err(Error::unsupported(format!(
                "{what} of anything but a table"
            )));
        };
        if !written.joins.is_empty() {
            return Err(Error::unsupported(format!(
                "{what} with JOIN is not supported"
            )));
        }
        let full = table_name(name)?;
        let called = match alias {
            Some(alias) => fold(&alias.name),
            None => full.name.clone(),
        };
        Ok(Changed {
            alias: compose::exact(&called),
            called,
            from: written.relation.clone(),
            through: None,
            name: full,
        })
    }
}

/// An UPDATE or a DELETE whose names are found.
pub(super) struct Understood<'a> {
    pub(super) changed: Changed,
    pub(super) table: Arc<Table>,
    /// The change of each column; none for DELETE.
    pub(super) assigned: Vec<Assigned>,
    /// The other tables of the statement.
    pub(super) others: &'a [TableWithJoins],
    pub(super) selection: Option<&'a Expr>,
    pub(super) returning: Option<&'a [SelectItem]>,
}

impl Understood<'_> {
    /// The query for the rows that are changed, with columns of the other tables behind.
    ///
    /// # Errors
    /// As [`select`].
    pub(super) fn query(&self, catalog: &Catalog, beside: &[Other]) -> Result<RowQuery> {
        let mut values = match self.assigned.is_empty() {
            true => Vec::new(),
            false => new_values(&self.table, &self.changed, &self.assigned),
        };
        let columns = match values.len() {
            0 => [].as_slice(),
            _ => &self.table.schema.columns,
        };
        values.extend(beside.iter().map(Other::list));
        let mut into = Vec::new();
        if !values.is_empty() {
            into = targets(catalog, columns);
            let beside = beside.iter().flat_map(|other| other.columns.iter());
            into.extend(beside.cloned());
        }
        select(&self.changed, values, self.others, self.selection, into)
    }

    /// How many columns of the query are those of the table and the ids of its rows.
    fn own(&self) -> usize {
        1 + self.assigned.len()
    }

    fn command(&self) -> Command {
        match self.assigned.is_empty() {
            true => Command::Delete,
            false => Command::Update,
        }
    }

    fn verb(&self) -> &'static str {
        match self.command() {
            Command::Delete => "DELETE",
            _ => "UPDATE",
        }
    }

    /// The rows that a query found, as changes.
    fn changes(&self, found: Vec<RecordBatch>) -> Changes {
        Changes::of(self.command(), found, given(&self.assigned))
    }
}

impl Run<'_> {
    /// # Errors
    /// `0A000` for clauses that are not done; those of names.
    pub(super) fn understood_delete<'a>(&self, delete: &'a Delete) -> Result<Understood<'a>> {
        refuse(&[
            (!delete.tables.is_empty(), "DELETE of several tables"),
            (!delete.order_by.is_empty(), "DELETE with ORDER BY"),
            (delete.limit.is_some(), "DELETE with LIMIT"),
            (delete.output.is_some(), "DELETE with OUTPUT"),
        ])?;
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let [written] = from.as_slice() else {
            return Err(Error::unsupported(
                "DELETE of several tables is not supported",
            ));
        };
        let mut changed = Changed::of(written, "DELETE")?;
        let table = self.table_to_change(&mut changed, Command::Delete)?;
        Ok(Understood {
            changed,
            table,
            assigned: Vec::new(),
            others: delete.using.as_deref().unwrap_or_default(),
            selection: delete.selection.as_ref(),
            returning: delete.returning.as_deref(),
        })
    }

    /// # Errors
    /// As [`Run::understood_delete`].
    pub(super) fn understood_update<'a>(&self, update: &'a Update) -> Result<Understood<'a>> {
        refuse(&[
            (update.or.is_some(), "UPDATE with OR"),
            (update.output.is_some(), "UPDATE with OUTPUT"),
            (!update.order_by.is_empty(), "UPDATE with ORDER BY"),
            (update.limit.is_some(), "UPDATE with LIMIT"),
        ])?;
        let mut changed = Changed::of(&update.table, "UPDATE")?;
        let table = self.table_to_change(&mut changed, Command::Update)?;
        let through = changed.through.as_deref();
        let updated = through.map(|through| (through, Command::Update));
        let of = (&changed.name, changed.called.as_str(), updated);
        let assigned = assigned_columns(&self.snapshot, &table, of, &update.assignments)?;
        let others: &[TableWithJoins] = match &update.from {
            None => &[],
            Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) => {
                from
            }
        };
        Ok(Understood {
            changed,
            table,
            assigned,
            others,
            selection: update.selection.as_ref(),
            returning: update.returning.as_deref(),
        })
    }

    pub(super) async fn delete(&self, delete: &Delete) -> Result<Outcome> {
        let understood = self.understood_delete(delete)?;
        self.changed_as(&understood, delete).await
    }

    pub(super) async fn update(&self, update: &Update) -> Result<Outcome> {
        let understood = self.understood_update(update)?;
        let through = understood.changed.through.as_deref();
        let is_checked = through.is_some_and(|through| !through.checks().is_empty());
        if understood.others.is_empty() && update.returning.is_none() && !is_checked {
            let rows = self.update_columns(&understood, update);
            if let Some(rows) = rows.await? {
                let tag = format!("UPDATE {rows}");
                return Ok(Outcome::Done { tag, rows });
            }
        }
        self.changed_as(&understood, update).await
    }

    /// Finds the rows of a statement, and changes them.
    async fn changed_as(
        &self,
        understood: &Understood<'_>,
        statement: &(dyn Display + Sync),
    ) -> Result<Outcome> {
        let Understood {
            changed,
            table,
            others,
            returning,
            ..
        } = understood;
        let beside = match returning.is_some() {
            true => self.others(others).await?,
            false => Vec::new(),
        };
        let query = understood.query(&self.snapshot, &beside)?;
        let rows = match self.may_be_streamed(understood)? {
            true => match self.found_for_change(changed, &query).await? {
                Wanted::Plan(plan) => {
                    let watching = self.watched(&plan, statement);
                    let of = Streamed::Change(understood);
                    let rows = self.changed_while_finding(of, plan, watching).await?;
                    let tag = format!("{} {rows}", understood.verb());
                    return Ok(Outcome::Done { tag, rows });
                }
                Wanted::Rows(rows) => vec![rows],
            },
            false => self.rows_to_change(changed, &query, statement).await?,
        };
        let rows = match others.is_empty() {
            true => rows,
            false => first_of_each(rows)?,
        };
        let rows = self.unchanged(table, rows)?;
        let (own, with) = match beside.is_empty() {
            true => (rows, Vec::new()),
            false => {
                let own = understood.own();
                (parts(&rows, ..own)?, parts(&rows, own..)?)
            }
        };
        let of = (
            table.as_ref(),
            changed.called.as_str(),
            changed.through.as_deref(),
        );
        let changes = understood.changes(own);
        let change = (understood.command(), &changes);
        self.carried_out(of, change, *returning, (&beside, &with))
            .await
    }

    /// Whether rows of an UPDATE or a DELETE may be changed while others are still being found.
    fn may_be_streamed(&self, understood: &Understood<'_>) -> Result<bool> {
        let through = understood.changed.through.as_deref();
        let is_plain = understood.returning.is_none()
            && through.is_none_or(|through| through.checks().is_empty());
        let manner = match understood.command() {
            Command::Delete => Manner::Delete,
            _ => Manner::Update(given(&understood.assigned)),
        };
        Ok(is_plain && self.may_change_while_finding(&understood.table, &manner)?)
    }

    /// The changes of some of a statement's rows, of which others may have been changed.
    pub(super) fn changes_of(
        &self,
        understood: &Understood<'_>,
        found: Vec<RecordBatch>,
    ) -> Result<Changes> {
        let found = match understood.others.is_empty() {
            true => found,
            // Others may have matched a row that was changed with an earlier part.
            false => self.not_deleted(&understood.table, first_of_each(found)?)?,
        };
        Ok(understood.changes(found))
    }

    /// Makes the changes of an UPDATE or a DELETE; the rows of RETURNING, else its tag.
    ///
    /// # Errors
    /// As [`Run::apply`]; those of RETURNING.
    pub(super) async fn carried_out(
        &self,
        (table, called, through): (&Table, &str, Option<&Through>),
        (command, changes): (Command, &Changes),
        returning: Option<&[SelectItem]>,
        (beside, with): (&[Other], &[RecordBatch]),
    ) -> Result<Outcome> {
        let mut before = Vec::new();
        if returning.is_some() {
            for batch in &changes.deleted {
                before.push(self.rows_of(table, batch.column(0))?);
            }
        }
        let Applied { rows, written } = self.apply(table, changes)?;
        let (verb, shown) = match command {
            Command::Delete => ("DELETE", before),
            _ => {
                self.check_views(through, table, &written).await?;
                ("UPDATE", written)
            }
        };
        let tag = format!("{verb} {rows}");
        if let Some(list) = returning
            && (asks(Some(list)) || !beside.is_empty() || through.is_some())
        {
            let of = (table, called, through);
            return self.returned_beside(of, list, &shown, (beside, with)).await;
        }
        self.returned(table, called, returning, &shown, tag, rows)
    }

    /// The table of an UPDATE or a DELETE, and the plan of its query for rows, for EXPLAIN.
    ///
    /// # Errors
    /// Whatever is wrong with the statement.
    pub(super) async fn explained_change(
        &self,
        understood: Understood<'_>,
    ) -> Result<(Name, Pipelines)> {
        let query = understood.query(&self.snapshot, &[])?;
        let plan = self.plan_of_change(&understood.changed, &query).await?;
        Ok((understood.changed.name, plan))
    }

    /// All columns of rows of a table.
    pub(super) fn rows_of(&self, table: &Table, ids: &ArrayRef) -> Result<RecordBatch> {
        if table.schema.partitioned.is_some() {
            return self.rows_of_leaves(table, ids);
        }
        let ids = &row_ids_in(ids)?;
        let view = self.snapshot.read_view(table.id);
        let all: Vec<usize> = (0..table.schema.columns.len()).collect();
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            rows.extend(table.row(&view, *id, &all)?);
        }
        let arrays = arrays(&table.schema.columns, &rows)?;
        Ok(RecordBatch::try_new(nullable(&table.schema), arrays)?)
    }

    /// The answer of a query for rows to change; it is recorded as that of the statement.
    pub(super) async fn rows_to_change(
        &self,
        changed: &Changed,
        query: &RowQuery,
        statement: &(dyn Display + Sync),
    ) -> Result<Vec<RecordBatch>> {
        let rows = match self.found_for_change(changed, query).await? {
            Wanted::Plan(plan) => {
                let watching = self.watched(&plan, statement);
                self.collected(plan, watching).await?
            }
            Wanted::Rows(rows) => vec![rows],
        };
        match self.has_whole_ids(changed, query) {
            true => rows.iter().map(with_whole_ids).collect(),
            false => Ok(rows),
        }
    }

    /// Whether a query gives the table of each row, too: rows of partitions.
    fn has_whole_ids(&self, changed: &Changed, query: &RowQuery) -> bool {
        query.has_ids && self.is_partitioned(&changed.name)
    }

    /// The plan of a query for rows to change.
    pub(super) async fn plan_of_change(
        &self,
        changed: &Changed,
        query: &RowQuery,
    ) -> Result<Pipelines> {
        match self.wanted(changed, query, false).await? {
            Wanted::Plan(plan) => Ok(plan),
            Wanted::Rows(_) => Err(Error::internal("rows that nobody asked for")),
        }
    }

    /// The same, or its rows if they are found by keys.
    pub(super) async fn found_for_change(
        &self,
        changed: &Changed,
        query: &RowQuery,
    ) -> Result<Wanted> {
        self.wanted(changed, query, true).await
    }

    async fn wanted(&self, changed: &Changed, query: &RowQuery, finds: bool) -> Result<Wanted> {
        let mut targets = query.into.clone();
        let whole = self.has_whole_ids(changed, query);
        let mut query = query.query.clone();
        query.with.clone_from(&self.around.lock());
        if whole {
            ask_for_table(&mut query, &changed.alias);
            targets.extend((!targets.is_empty()).then(|| (TABLE.to_owned(), Type::Oid)));
        }
        let ast = Ast::Query(Box::new(query));
        let mut relations = self.relations(&ast).await?;
        relations.list_of = Some("UPDATE");
        if changed.through.is_none() {
            relations.row_ids = Some((changed.name.schema.clone(), changed.name.name.clone()));
        }
        let planned = match (finds, targets.is_empty()) {
            (true, _) => front::found_or_planned_into(&relations, &ast, &targets)?,
            (false, true) => {
                let plan = front::planned(&relations, &ast)?.stored()?;
                Planned::Plan(Box::new(plan))
            }
            (false, false) => {
                let plan = front::planned_into(&relations, &ast, &targets)?;
                Planned::Plan(Box::new(plan))
            }
        };
        match planned {
            Planned::Plan(plan) => Ok(Wanted::Plan(plan.runnable()?)),
            Planned::Rows(rows) => Ok(Wanted::Rows(rows)),
        }
    }
}

/// The types that the columns of a query for new rows are stored in, behind their ids.
pub(super) fn targets<'a>(
    catalog: &'a Catalog,
    columns: impl IntoIterator<Item = &'a Column>,
) -> Vec<(String, Type)> {
    let id = std::iter::once((ROW_ID.to_owned(), Type::numeric(20, 0)));
    id.chain(stored_as(catalog, columns)).collect()
}

/// The names and types of columns.
pub(super) fn stored_in<'a>(
    catalog: &'a Catalog,
    columns: impl IntoIterator<Item = &'a Column>,
) -> impl Iterator<Item = (String, Type)> {
    let columns = columns.into_iter();
    columns.map(|column| (column.name.clone(), front::type_of_stored(catalog, column)))
}

/// The names of columns and the types of values that are to be stored in them.
pub(super) fn stored_as<'a>(
    catalog: &'a Catalog,
    columns: impl IntoIterator<Item = &'a Column>,
) -> impl Iterator<Item = (String, Type)> {
    let columns = columns.into_iter();
    columns.map(|column| (column.name.clone(), front::type_to_store(catalog, column)))
}

/// Some columns of batches.
fn parts(rows: &[RecordBatch], columns: impl RangeBounds<usize>) -> Result<Vec<RecordBatch>> {
    let take = |batch: &RecordBatch| {
        let places = (0..batch.num_columns()).filter(|at| columns.contains(at));
        Ok(batch.project(&places.collect::<Vec<_>>())?)
    };
    rows.iter().map(take).collect()
}

pub(super) fn refuse(clauses: &[(bool, &str)]) -> Result<()> {
    match clauses.iter().find(|(present, _)| *present) {
        Some((_, clause)) => Err(Error::unsupported(format!("{clause} is not supported yet"))),
        None => Ok(()),
    }
}

/// The query for rows to be changed, and their new values.
///
/// # Errors
/// As [`compose::query`].
pub(super) fn select(
    changed: &Changed,
    values: Vec<SelectItem>,
    others: &[TableWithJoins],
    selection: Option<&Expr>,
    into: Vec<(String, Type)>,
) -> Result<RowQuery> {
    let mut list = vec![row_id(changed)];
    list.extend(values);
    let mut from = vec![compose::alone(changed.from.clone())];
    from.extend(others.iter().cloned());
    Ok(RowQuery {
        query: compose::query(list, from, selection.cloned())?,
        has_ids: true,
        into,
    })
}

/// The ids of the rows to be changed.
pub(super) fn row_id(changed: &Changed) -> SelectItem {
    SelectItem::UnnamedExpr(compose::column(&changed.alias, ROW_ID))
}
