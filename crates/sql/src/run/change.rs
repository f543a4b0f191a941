//! UPDATE and DELETE.
//!
//! Each is planned as a query for the rows that it changes: their ids and, for
//! UPDATE, all columns with the new values. Only when that query is done are
//! rows deleted and their new versions added, in the statement's transaction,
//! so a statement never sees its own changes, and keys are checked at its end.

use std::fmt::Display;
use std::ops::RangeBounds;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::sqlparser::ast::{
    Delete, Expr, FromTable, Statement as Ast, TableFactor, TableWithJoins, Update,
    UpdateTableFromKind,
};
use freestone_frontend::types::Type;
use freestone_storage::delta::arrays;
use freestone_storage::{Catalog, Column, Table};

use super::Run;
use super::assigned::{Assigned, assigned_columns, given, new_values};
use super::changes::{Applied, Changes, first_of_each, row_ids_in, without_ids};
use super::partitioned::{ask_for_table, is_for_ids, with_whole_ids};
use super::returning::{Other, asks};
use crate::error::{Error, Result};
use crate::front::{self, Planned};
use crate::ingest::nullable;
use crate::names::{Name, fold, quoted, table_name};
use crate::plan::expression::{columns_of, has_query, parse_expr, printed};
use crate::plan::pg_catalog::TABLE;
use crate::plan::updatable::{Command, Through};
use crate::scan::ROW_ID;
use crate::session::Outcome;
use crate::statement::parse_one;

/// The table that a statement changes.
pub(super) struct Changed {
    pub(super) name: Name,
    /// What the statement calls it, as written there.
    pub(super) alias: String,
    /// The same, folded.
    pub(super) called: String,
    /// As it is to stand in FROM.
    pub(super) from: String,
    /// The views over the table by which it is changed.
    pub(super) through: Option<Arc<Through>>,
}

/// How the rows that a statement changes are found.
pub(super) enum Wanted {
    /// By a plan.
    Plan(Arc<dyn ExecutionPlan>),
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
        let (alias, called) = match alias {
            Some(alias) => (quoted(&fold(&alias.name)), fold(&alias.name)),
            None => (quoted(&full.name), full.name.clone()),
        };
        Ok(Changed {
            alias,
            called,
            from: printed(&written.relation),
            through: None,
            name: full,
        })
    }
}

impl Run<'_> {
    pub(super) async fn delete(&self, delete: &Delete) -> Result<Outcome> {
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
        let using: &[TableWithJoins] = delete.using.as_deref().unwrap_or_default();
        let others: Vec<String> = using.iter().map(printed).collect();
        let beside = match delete.returning.is_some() {
            true => self.others(using).await?,
            false => Vec::new(),
        };
        let selection = delete.selection.as_ref();
        let mut found = self.known_rows(&changed, &table, &others, selection)?;
        let mut with = Vec::new();
        if found.is_none() {
            let lists: Vec<String> = beside.iter().map(Other::list).collect();
            let query = select(&changed, &lists, others, selection);
            let into = match beside.is_empty() {
                true => Vec::new(),
                false => with_others(targets(&self.snapshot, []), &beside),
            };
            let rows = self.rows_to_change(&changed, &query, &into, delete).await?;
            let rows = self.unchanged(&table, first_of_each(rows)?)?;
            with = parts(&rows, 1..)?;
            found = Some(parts(&rows, ..1)?);
        }
        let changes = Changes {
            deleted: found.unwrap_or_default(),
            ..Changes::default()
        };
        let list = delete.returning.as_deref();
        let mut before = Vec::new();
        if list.is_some() {
            for batch in &changes.deleted {
                before.push(self.rows_of(&table, batch.column(0))?);
            }
        }
        let rows = self.apply(&table, &changes)?.rows;
        let tag = format!("DELETE {rows}");
        let through = changed.through.as_deref();
        if let Some(list) = list
            && (asks(Some(list)) || !beside.is_empty() || through.is_some())
        {
            let of = (table.as_ref(), changed.called.as_str(), through);
            return self
                .returned_beside(of, list, &before, (&beside, &with))
                .await;
        }
        self.returned(&table, &changed.called, list, &before, tag, rows)
    }

    pub(super) async fn update(&self, update: &Update) -> Result<Outcome> {
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
        let assigned = assigned_columns(
            &self.snapshot,
            &table,
            (&changed.name, &changed.called, updated),
            &update.assignments,
        )?;
        let tables: &[TableWithJoins] = match &update.from {
            None => &[],
            Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) => {
                from
            }
        };
        let from: Vec<String> = tables.iter().map(printed).collect();
        let beside = match update.returning.is_some() {
            true => self.others(tables).await?,
            false => Vec::new(),
        };
        let selection = update.selection.as_ref();
        let mut found = None;
        let mut with = Vec::new();
        if let Some(rows) = self.known_rows(&changed, &table, &from, selection)? {
            found = self.new_versions(&changed, &table, &assigned, &rows)?;
        }
        let is_checked = through.is_some_and(|through| !through.checks().is_empty());
        if found.is_none() && from.is_empty() && update.returning.is_none() && !is_checked {
            let rows = self.update_columns(&changed, &table, &assigned, update);
            if let Some(rows) = rows.await? {
                let tag = format!("UPDATE {rows}");
                return Ok(Outcome::Done { tag, rows });
            }
        }
        if found.is_none() {
            let several = !from.is_empty();
            let mut values = new_values(&table, &changed, &assigned);
            values.extend(beside.iter().map(Other::list));
            let query = select(&changed, &values, from, selection);
            let targets = with_others(targets(&self.snapshot, &table.schema.columns), &beside);
            let rows = self
                .rows_to_change(&changed, &query, &targets, update)
                .await?;
            let rows = if several { first_of_each(rows)? } else { rows };
            let rows = self.unchanged(&table, rows)?;
            let own = table.schema.columns.len() + 1;
            with = parts(&rows, own..)?;
            found = Some(parts(&rows, ..own)?);
        }
        let mut changes = Changes::default();
        changes.update(found.unwrap_or_default(), given(&assigned));
        let Applied { rows, written } = self.apply(&table, &changes)?;
        self.check_views(through, &table, &written).await?;
        let (list, tag) = (update.returning.as_deref(), format!("UPDATE {rows}"));
        if let Some(list) = list
            && (asks(Some(list)) || !beside.is_empty() || through.is_some())
        {
            let of = (table.as_ref(), changed.called.as_str(), through);
            return self
                .returned_beside(of, list, &written, (&beside, &with))
                .await;
        }
        self.returned(&table, &changed.called, list, &written, tag, rows)
    }

    /// The table of an UPDATE, and the plan of its query for new rows, for EXPLAIN.
    ///
    /// # Errors
    /// Whatever is wrong with the statement.
    pub(super) async fn explained_update(
        &self,
        update: &Update,
    ) -> Result<(Name, Arc<dyn ExecutionPlan>)> {
        let mut changed = Changed::of(&update.table, "UPDATE")?;
        let table = self.table_to_change(&mut changed, Command::Update)?;
        let through = changed.through.as_deref();
        let updated = through.map(|through| (through, Command::Update));
        let assigned = assigned_columns(
            &self.snapshot,
            &table,
            (&changed.name, &changed.called, updated),
            &update.assignments,
        )?;
        let from = match &update.from {
            None => &[],
            Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) => {
                from.as_slice()
            }
        };
        let from = from.iter().map(printed).collect();
        let values = new_values(&table, &changed, &assigned);
        let query = select(&changed, &values, from, update.selection.as_ref());
        let into = targets(&self.snapshot, &table.schema.columns);
        let plan = self.plan_of_change(&changed, &query, &into).await?;
        Ok((changed.name, plan))
    }

    /// The same of a DELETE.
    ///
    /// # Errors
    /// Whatever is wrong with the statement.
    pub(super) async fn explained_delete(
        &self,
        delete: &Delete,
    ) -> Result<(Name, Arc<dyn ExecutionPlan>)> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        let [written] = from.as_slice() else {
            return Err(Error::unsupported(
                "DELETE of several tables is not supported",
            ));
        };
        let mut changed = Changed::of(written, "DELETE")?;
        self.table_to_change(&mut changed, Command::Delete)?;
        let others = delete.using.iter().flatten().map(printed).collect();
        let query = select(&changed, &[], others, delete.selection.as_ref());
        let plan = self.plan_of_change(&changed, &query, &[]).await?;
        Ok((changed.name, plan))
    }

    /// The rows with a key that the condition names; `None` for other conditions.
    fn known_rows(
        &self,
        changed: &Changed,
        table: &Table,
        others: &[String],
        selection: Option<&Expr>,
    ) -> Result<Option<Vec<RecordBatch>>> {
        let is_alone = others.is_empty() && changed.through.is_none();
        if !is_alone || table.schema.partitioned.is_some() {
            return Ok(None);
        }
        match self.rows_at_point(table, &changed.called, selection)? {
            Some(rows) => self.unchanged(table, vec![rows]).map(Some),
            None => Ok(None),
        }
    }

    /// Ids and new values of rows at hand; `None` if a value needs a query.
    fn new_versions(
        &self,
        changed: &Changed,
        table: &Table,
        assigned: &[Assigned],
        rows: &[RecordBatch],
    ) -> Result<Option<Vec<RecordBatch>>> {
        let columns = columns_of(&table.schema, &changed.called)?;
        let mut values = Vec::with_capacity(assigned.len());
        for value in assigned {
            values.push(match value {
                Assigned::Same => None,
                Assigned::Value(text) => {
                    let expr = parse_expr(text)?;
                    if has_query(&expr) {
                        return Ok(None);
                    }
                    Some(expr)
                }
            });
        }
        let version = |batch: &RecordBatch| {
            let (mut fields, mut arrays) = (Vec::new(), Vec::new());
            fields.push(batch.schema().field(0).clone());
            arrays.push(batch.column(0).clone());
            let old = without_ids(batch)?;
            for (number, value) in values.iter().enumerate() {
                let array = match value {
                    None => old.column(number).clone(),
                    Some(expr) => {
                        let column = &table.schema.columns[number];
                        self.expressions()
                            .evaluate_for(expr, &columns, &old, column)?
                    }
                };
                let name = &table.schema.columns[number].name;
                fields.push(Field::new(name, array.data_type().clone(), true));
                arrays.push(array);
            }
            Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
        };
        rows.iter().map(version).collect::<Result<_>>().map(Some)
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

    /// The answer of a query that may name the row ids of the changed table; it is
    /// recorded as that of the statement.
    pub(super) async fn rows_to_change(
        &self,
        changed: &Changed,
        query: &str,
        targets: &[(String, Type)],
        statement: &(dyn Display + Sync),
    ) -> Result<Vec<RecordBatch>> {
        let rows = match self.found_for_change(changed, query, targets).await? {
            Wanted::Plan(plan) => {
                let watching = self.watched(&plan, statement);
                self.collected(plan, watching).await?
            }
            Wanted::Rows(rows) => vec![rows],
        };
        let whole = self.is_partitioned(&changed.name) && is_for_ids(query, &changed.alias);
        match whole {
            true => rows.iter().map(with_whole_ids).collect(),
            false => Ok(rows),
        }
    }

    /// The plan of such a query, whose columns are stored in those of some types, if any.
    pub(super) async fn plan_of_change(
        &self,
        changed: &Changed,
        query: &str,
        targets: &[(String, Type)],
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match self.wanted(changed, query, targets, false).await? {
            Wanted::Plan(plan) => Ok(plan),
            Wanted::Rows(_) => Err(Error::internal("rows that nobody asked for")),
        }
    }

    /// The same, or its rows if they are found by keys.
    pub(super) async fn found_for_change(
        &self,
        changed: &Changed,
        query: &str,
        targets: &[(String, Type)],
    ) -> Result<Wanted> {
        self.wanted(changed, query, targets, true).await
    }

    async fn wanted(
        &self,
        changed: &Changed,
        query: &str,
        targets: &[(String, Type)],
        finds: bool,
    ) -> Result<Wanted> {
        let mut ast = parse_one(query)?;
        if let Ast::Query(query) = &mut ast {
            query.with.clone_from(&self.around.lock());
        }
        let mut targets = targets.to_vec();
        let whole = self.is_partitioned(&changed.name) && is_for_ids(query, &changed.alias);
        if whole && ask_for_table(&mut ast, &changed.alias)? {
            targets.extend((!targets.is_empty()).then(|| (TABLE.to_owned(), Type::Oid)));
        }
        let mut relations = self.relations(&ast).await?;
        if changed.through.is_none() {
            relations.row_ids = Some((changed.name.schema.clone(), changed.name.name.clone()));
        }
        // Positions are those of the query made here, not of the statement.
        let placeless = |mut error: Error| {
            error.position = None;
            error
        };
        let planned = match (finds, targets.is_empty()) {
            (true, _) => front::found_or_planned_into(&relations, &ast, &targets),
            (false, true) => {
                let plan = front::planned(&relations, &ast).and_then(front::Logical::stored);
                plan.map(|plan| Planned::Plan(Box::new(plan)))
            }
            (false, false) => {
                let plan = front::planned_into(&relations, &ast, &targets);
                plan.map(|plan| Planned::Plan(Box::new(plan)))
            }
        };
        match planned.map_err(placeless)? {
            Planned::Plan(plan) => {
                let plan = self.physical(&plan).await.map_err(placeless)?;
                Ok(Wanted::Plan(plan))
            }
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
    id.chain(stored_in(catalog, columns)).collect()
}

/// The names and types of columns.
pub(super) fn stored_in<'a>(
    catalog: &'a Catalog,
    columns: impl IntoIterator<Item = &'a Column>,
) -> impl Iterator<Item = (String, Type)> {
    let columns = columns.into_iter();
    columns.map(|column| (column.name.clone(), front::type_of_stored(catalog, column)))
}

/// Types of the columns of a change, and those of other tables behind them.
fn with_others(mut own: Vec<(String, Type)>, others: &[Other]) -> Vec<(String, Type)> {
    own.extend(
        others
            .iter()
            .flat_map(|other| other.columns.iter().cloned()),
    );
    own
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
pub(super) fn select(
    changed: &Changed,
    values: &[String],
    others: Vec<String>,
    selection: Option<&Expr>,
) -> String {
    let mut list = vec![format!("{}.{}", changed.alias, quoted(ROW_ID))];
    list.extend(values.iter().cloned());
    let mut from = vec![changed.from.clone()];
    from.extend(others);
    let condition = selection.map_or(String::new(), |expr| format!(" WHERE {}", printed(expr)));
    format!(
        "SELECT {} FROM {}{condition}",
        list.join(", "),
        from.join(", ")
    )
}
