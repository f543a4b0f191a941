//! UPDATE, DELETE, TRUNCATE and VACUUM.
//!
//! Each is planned as a query for the rows that it changes: their ids and, for
//! UPDATE, all columns with the new values. Only when that query is done are
//! rows deleted and their new versions added, in the statement's transaction,
//! so a statement never sees its own changes, and keys are checked at its end.

use std::collections::HashSet;

use datafusion::arrow::array::{Array, BooleanArray, RecordBatch, UInt64Array};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::physical_plan::collect;
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, ObjectName, TableFactor, TableWithJoins,
    Truncate, Update, UpdateTableFromKind, VacuumStatement,
};
use freestone_storage::{RowId, Table, TableId};

use super::Run;
use super::insert::columns_named;
use crate::error::{Error, Result};
use crate::ingest::assign_batch;
use crate::plan::names::{Name, fold_part, quoted, table_name};
use crate::scan::ROW_ID;
use crate::session::Outcome;
use crate::statement::parse_one;

/// The table that a statement changes.
struct Changed {
    name: Name,
    /// What the statement calls it.
    alias: String,
    /// As it is to stand in FROM.
    from: String,
}

impl Changed {
    fn of(written: &TableWithJoins, what: &str) -> Result<Changed> {
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
        let alias_of = |name: &Name| quoted(&name.name);
        let full = table_name(name)?;
        let alias = match alias {
            Some(alias) => alias.name.to_string(),
            None => alias_of(&full),
        };
        Ok(Changed {
            alias,
            from: written.relation.to_string(),
            name: full,
        })
    }
}

impl Run<'_> {
    pub(super) async fn delete(&self, delete: &Delete) -> Result<Outcome> {
        refuse(&[
            (delete.returning.is_some(), "DELETE with RETURNING"),
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
        let changed = Changed::of(written, "DELETE")?;
        let using = delete.using.iter().flatten().map(ToString::to_string);
        let query = select(&changed, &[], using.collect(), delete.selection.as_ref());
        let table = self.stored_table(&changed.name)?.clone();
        let found = self.rows_to_change(&changed, &query).await?;
        let mut rows = 0;
        for batch in &found {
            let ids = row_ids(batch)?;
            rows += self.change(|transaction| Ok(transaction.delete(table.id, &ids)?))?;
        }
        Ok(Outcome::Done {
            tag: format!("DELETE {rows}"),
            rows,
        })
    }

    pub(super) async fn update(&self, update: &Update) -> Result<Outcome> {
        refuse(&[
            (update.returning.is_some(), "UPDATE with RETURNING"),
            (update.or.is_some(), "UPDATE with OR"),
            (update.output.is_some(), "UPDATE with OUTPUT"),
            (!update.order_by.is_empty(), "UPDATE with ORDER BY"),
            (update.limit.is_some(), "UPDATE with LIMIT"),
        ])?;
        let changed = Changed::of(&update.table, "UPDATE")?;
        let table = self.stored_table(&changed.name)?.clone();
        let values = new_values(&table, &changed, &update.assignments)?;
        let from: Vec<String> = match &update.from {
            None => Vec::new(),
            Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) => {
                from.iter().map(ToString::to_string).collect()
            }
        };
        let several = !from.is_empty();
        let query = select(&changed, &values, from, update.selection.as_ref());
        let mut found = self.rows_to_change(&changed, &query).await?;
        if several {
            found = first_of_each(found)?;
        }
        let rows = self.exchange(&table, &found)?;
        Ok(Outcome::Done {
            tag: format!("UPDATE {rows}"),
            rows,
        })
    }

    pub(super) async fn truncate(&self, truncate: &Truncate) -> Result<Outcome> {
        for target in &truncate.table_names {
            let name = table_name(&target.name)?;
            self.stored_table(&name)?;
            let query = format!("SELECT {} FROM {}", quoted(ROW_ID), target.name);
            let changed = Changed {
                alias: String::new(),
                from: String::new(),
                name,
            };
            let found = self.rows_to_change(&changed, &query).await?;
            let table = self.stored_table(&changed.name)?.clone();
            for batch in &found {
                let ids = row_ids(batch)?;
                self.change(|transaction| Ok(transaction.delete(table.id, &ids)?))?;
            }
        }
        Ok(Outcome::done("TRUNCATE TABLE"))
    }

    /// VACUUM: the rows of deltas become blocks.
    pub(super) fn vacuum(&self, vacuum: &VacuumStatement) -> Result<Outcome> {
        if self.session.in_transaction() {
            let message = "VACUUM cannot run inside a transaction block";
            return Err(Error::new("25001", message));
        }
        let tables: Vec<TableId> = match &vacuum.table_name {
            Some(name) => vec![self.stored_table(&table_name(name)?)?.id],
            None => self
                .snapshot
                .all_tables()
                .map(|(_, table)| table.id)
                .collect(),
        };
        for table in tables {
            self.store().move_delta(table)?;
        }
        Ok(Outcome::done("VACUUM"))
    }

    /// The answer of a query that may name the row ids of the changed table.
    async fn rows_to_change(&self, changed: &Changed, query: &str) -> Result<Vec<RecordBatch>> {
        let ast = parse_one(query)?;
        let mut relations = self.relations(&ast).await?;
        relations.row_ids = Some((changed.name.schema.clone(), changed.name.name.clone()));
        // Positions are those of the query made here, not of the statement.
        let placeless = |mut error: Error| {
            error.position = None;
            error
        };
        let plan = relations.plan(&ast).map_err(placeless)?;
        let physical = self.physical(&plan).await.map_err(placeless)?;
        Ok(collect(physical, self.state.task_ctx()).await?)
    }

    /// Deletes rows and adds their new versions; keys are checked in the end.
    fn exchange(&self, table: &Table, found: &[RecordBatch]) -> Result<u64> {
        let mut batches = Vec::with_capacity(found.len());
        for batch in found {
            let values: Vec<usize> = (1..batch.num_columns()).collect();
            let values = batch.project(&values)?;
            let assigned = assign_batch(&table.schema, &values).map_err(|(column, bad)| {
                let column = &table.schema.columns[column].name;
                bad.error.with_detail(format!("column \"{column}\""))
            })?;
            batches.push((row_ids(batch)?, assigned));
        }
        self.change(|transaction| {
            let (mut rows, mut first) = (0, None);
            for (ids, _) in &batches {
                rows += transaction.delete(table.id, ids)?;
            }
            for (_, batch) in &batches {
                let number = transaction.insert(table.id, batch)?;
                first.get_or_insert(number);
            }
            if let Some(first) = first {
                transaction.check_keys(table.id, first)?;
            }
            Ok(rows)
        })
    }
}

fn refuse(clauses: &[(bool, &str)]) -> Result<()> {
    match clauses.iter().find(|(present, _)| *present) {
        Some((_, clause)) => Err(Error::unsupported(format!("{clause} is not supported yet"))),
        None => Ok(()),
    }
}

/// The query for rows to be changed, and their new values.
fn select(
    changed: &Changed,
    values: &[String],
    others: Vec<String>,
    selection: Option<&Expr>,
) -> String {
    let mut list = vec![format!("{}.{}", changed.alias, quoted(ROW_ID))];
    list.extend(values.iter().cloned());
    let mut from = vec![changed.from.clone()];
    from.extend(others);
    let condition = selection.map_or(String::new(), |expr| format!(" WHERE {expr}"));
    format!(
        "SELECT {} FROM {}{condition}",
        list.join(", "),
        from.join(", ")
    )
}

/// An expression for each column of the table: the assigned one, or the column itself.
fn new_values(table: &Table, changed: &Changed, assignments: &[Assignment]) -> Result<Vec<String>> {
    let mut given: Vec<(String, String)> = Vec::new();
    let part = |name: &ObjectName| {
        name.0
            .last()
            .and_then(fold_part)
            .ok_or_else(|| Error::new("42601", format!("{name} is not the name of a column")))
    };
    for assignment in assignments {
        match (&assignment.target, &assignment.value) {
            (AssignmentTarget::ColumnName(name), value) => {
                given.push((part(name)?, value.to_string()));
            }
            (AssignmentTarget::Tuple(names), Expr::Tuple(values))
                if names.len() == values.len() =>
            {
                for (name, value) in names.iter().zip(values) {
                    given.push((part(name)?, value.to_string()));
                }
            }
            (AssignmentTarget::Tuple(_), _) => {
                return Err(Error::unsupported(
                    "SET (…) = … with anything but a list of as many values is not supported",
                ));
            }
        }
    }
    let names: Vec<String> = given.iter().map(|(name, _)| name.clone()).collect();
    let places = columns_named(&table.schema, &changed.name, &names)?;
    let columns = table.schema.columns.iter().enumerate();
    let values = columns.map(|(index, column)| {
        let place = places.iter().position(|place| *place == index);
        let value = match place {
            None => format!("{}.{}", changed.alias, quoted(&column.name)),
            Some(place) if given[place].1.eq_ignore_ascii_case("default") => {
                column.default.clone().unwrap_or_else(|| "NULL".to_owned())
            }
            Some(place) => given[place].1.clone(),
        };
        format!("({value}) AS {}", quoted(&column.name))
    });
    Ok(values.collect())
}

fn row_ids(batch: &RecordBatch) -> Result<Vec<RowId>> {
    let ids = batch.column(0).as_any().downcast_ref::<UInt64Array>();
    let ids = ids.ok_or_else(|| Error::internal("row ids of another type"))?;
    Ok(ids.values().iter().map(|id| RowId(*id)).collect())
}

/// Of several matches of one row the first counts.
fn first_of_each(found: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
    let mut seen = HashSet::new();
    let only_first = |batch: RecordBatch| {
        let ids = row_ids(&batch)?;
        let first: BooleanArray = ids.iter().map(|id| Some(seen.insert(*id))).collect();
        if first.true_count() == batch.num_rows() {
            return Ok(batch);
        }
        Ok(filter_record_batch(&batch, &first)?)
    };
    found.into_iter().map(only_first).collect()
}
