//! Changed rows of one statement, applied together: deletes, new versions, new rows.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Decimal128Array, RecordBatch, UInt64Array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema};
use freestone_storage::delta::arrays;
use freestone_storage::{Activity, Column, Row, RowId, Table, TableId};

use super::Run;
use crate::error::{Error, Result};
use crate::front::Expressions;
use crate::ingest::{Checks, assign_batch};
use crate::relations::updatable::Command;
use crate::routing::Membership;
use crate::scan::ROW_ID;

/// What a statement does to the rows of one table.
#[derive(Default)]
pub(super) struct Changes {
    /// Rows that go: their ids and, where somebody asks for them, all columns.
    pub(super) deleted: Vec<RecordBatch>,
    /// Rows that change: their ids, and all columns as they are to be.
    pub(super) updated: Vec<RecordBatch>,
    /// New rows: all columns.
    pub(super) inserted: Vec<RecordBatch>,
    /// How many of the changed rows were given values in which columns.
    pub(super) assigned: Vec<(u64, Vec<usize>)>,
}

impl Changes {
    /// Changes of found rows by UPDATE, of these columns, or by DELETE.
    pub(super) fn of(command: Command, found: Vec<RecordBatch>, columns: Vec<usize>) -> Changes {
        let mut changes = Changes::default();
        match command {
            Command::Delete => changes.deleted = found,
            _ => changes.update(found, columns),
        }
        changes
    }

    /// Adds rows that change, as in `updated`: in these columns.
    pub(super) fn update(&mut self, rows: Vec<RecordBatch>, columns: Vec<usize>) {
        let count = rows.iter().map(|batch| batch.num_rows() as u64).sum();
        if count > 0 {
            self.assigned.push((count, columns));
        }
        self.updated.extend(rows);
    }

    /// The columns that rows which change were given values in: all, if not known of each row.
    fn columns(&self, table: &Table) -> Vec<usize> {
        let known: u64 = self.assigned.iter().map(|(rows, _)| rows).sum();
        if known < rows(&self.updated) as u64 {
            return (0..table.schema.columns.len()).collect();
        }
        let columns = self.assigned.iter().flat_map(|(_, columns)| columns);
        columns.copied().collect()
    }
}

/// The changed rows as the table holds them now.
#[derive(Default)]
pub(super) struct Applied {
    pub(super) rows: u64,
    /// Updated rows, then inserted ones.
    pub(super) written: Vec<RecordBatch>,
}

/// The tables that a statement has changed, and the first new row of each.
#[derive(Default)]
pub(super) struct Touched {
    tables: Vec<(TableId, u64)>,
    has_new_rows: bool,
    has_changed_keys: bool,
    /// How many foreign keys lead from the statement's table to this one.
    pub(super) depth: usize,
}

impl Touched {
    /// Whether there are new rows whose keys are to be checked.
    pub(super) fn has_new_rows(&self) -> bool {
        self.has_new_rows
    }

    /// Whether rows have come to keys that others may still give up.
    pub(super) fn has_changed_keys(&self) -> bool {
        self.has_changed_keys
    }

    /// Notes that rows have come to keys that others may still give up.
    pub(super) fn changes_keys(&mut self) {
        self.has_changed_keys = true;
    }

    pub(super) fn add(&mut self, table: TableId, first: u64) {
        match self.tables.iter_mut().find(|(known, _)| *known == table) {
            Some((_, known)) => *known = first.min(*known),
            None => self.tables.push((table, first)),
        }
    }
}

impl Run<'_> {
    /// Applies what a statement found to change; keys and references are checked
    /// when everything is as it is to be.
    ///
    /// # Errors
    /// `40001` if another transaction changed one of the rows; those of constraints.
    pub(super) fn apply(&self, table: &Table, changes: &Changes) -> Result<Applied> {
        if table.schema.partitioned.is_some() {
            return self.apply_to_leaves(table, changes);
        }
        let mut touched = Touched::default();
        let applied = self.carry_out(table, changes, &mut touched)?;
        self.settle(touched)?;
        Ok(applied)
    }

    /// Checks what has to hold when all changes of a statement are made.
    ///
    /// # Errors
    /// Those of keys and references.
    pub(super) fn settle(&self, touched: Touched) -> Result<()> {
        if let Some(parts) = self.parts.lock().as_mut() {
            let tables = touched.tables.into_iter();
            tables.for_each(|(table, first)| parts.add(table, first));
            return Ok(());
        }
        self.check(touched)?;
        self.change(|transaction| Ok(transaction.settle()?))
    }

    /// Checks keys and references of what a statement has changed so far.
    ///
    /// # Errors
    /// `23505` or `23503` for a key or a reference that does not hold.
    pub(super) fn check(&self, touched: Touched) -> Result<()> {
        for (table, first) in touched.tables {
            self.change(|transaction| Ok(transaction.check_keys(table, first)?))?;
        }
        Ok(())
    }

    /// Whether several statements of one WITH change rows.
    pub(super) fn is_of_parts(&self) -> bool {
        self.parts.lock().is_some()
    }

    /// Rows to change, ids first, without those that a statement of the same WITH has changed:
    /// one change of a row takes place.
    ///
    /// # Errors
    /// `40001` for rows that have gone.
    pub(super) fn unchanged(
        &self,
        table: &Table,
        found: Vec<RecordBatch>,
    ) -> Result<Vec<RecordBatch>> {
        match self.is_of_parts() {
            true => self.not_deleted(table, found),
            false => Ok(found),
        }
    }

    /// Rows to change, ids first, without those that the transaction has deleted or put others in
    /// the place of.
    ///
    /// # Errors
    /// `40001` for rows that have gone.
    pub(super) fn not_deleted(
        &self,
        table: &Table,
        found: Vec<RecordBatch>,
    ) -> Result<Vec<RecordBatch>> {
        let in_parts = table.schema.partitioned.is_some();
        let only_unchanged = |batch: RecordBatch| {
            let ids = whole_ids(batch.column(0))?;
            let unchanged = self.change(|transaction| {
                let unchanged = ids.iter().map(|id| {
                    let (table, row) = match in_parts {
                        true => of_partition(*id),
                        false => (table.id, RowId(*id as u64)),
                    };
                    Ok(Some(!transaction.has_deleted(table, row)?))
                });
                unchanged.collect::<Result<BooleanArray>>()
            })?;
            Ok(filter_record_batch(&batch, &unchanged)?)
        };
        found.into_iter().map(only_unchanged).collect()
    }

    /// Applies changes, and lets rows of other tables follow.
    pub(super) fn carry_out(
        &self,
        table: &Table,
        changes: &Changes,
        touched: &mut Touched,
    ) -> Result<Applied> {
        let checks = self.checks(table)?;
        let deleted = changes.deleted.iter().map(row_ids);
        let mut gone = deleted.collect::<Result<Vec<Vec<RowId>>>>()?;
        let mut written = Vec::new();
        for batch in &changes.updated {
            gone.push(row_ids(batch)?);
            let rows = self.assigned(table, &without_ids(batch)?)?;
            written.push(checks.completed(rows)?);
        }
        for batch in &changes.inserted {
            written.push(checks.completed(self.assigned(table, batch)?)?);
        }
        written.iter().try_for_each(|batch| checks.check(batch))?;
        let followers = match gone.is_empty() {
            true => Vec::new(),
            false => self.following(table),
        };
        let moved = self.all_moved(table, &followers, changes)?;
        let (deleted, replaced) = gone.split_at(changes.deleted.len());
        let (updated, inserted) = written.split_at(replaced.len());
        let assigned = changes.columns(table);
        let schema = &table.schema;
        let is_checked = !schema.keys.is_empty() || !schema.foreign_keys.is_empty();
        let mut changes_keys = false;
        let first = self.change(|transaction| {
            for ids in deleted {
                transaction.delete(table.id, ids)?;
            }
            let mut first = None;
            for (ids, rows) in replaced.iter().zip(updated) {
                let number = transaction.update_batch(table.id, ids, rows, &assigned)?;
                first = first.or(number);
            }
            changes_keys = first.is_some();
            for rows in inserted {
                let number = transaction.insert(table.id, rows)?;
                first.get_or_insert(number);
            }
            Ok(first)
        })?;
        // Rows whose keys did not change have them rightly.
        if first.is_some() || !deleted.is_empty() {
            touched.add(table.id, first.unwrap_or(u64::MAX));
        }
        touched.has_new_rows |= is_checked && first.is_some();
        touched.has_changed_keys |= changes_keys;
        count(table, changes);
        self.follow(&followers, &moved, touched)?;
        let inserted = changes.inserted.iter().map(RecordBatch::num_rows);
        let changed: usize = gone.iter().map(Vec::len).chain(inserted).sum();
        Ok(Applied {
            rows: changed as u64,
            written,
        })
    }

    /// Refuses changes of rows that the transaction has changed since the statement began: those
    /// of an earlier part of it.
    ///
    /// # Errors
    /// `21000`; those of [`Run::not_deleted`].
    pub(super) fn must_be_undeleted(&self, table: &Table, changes: &Changes) -> Result<()> {
        let found = [changes.deleted.as_slice(), changes.updated.as_slice()].concat();
        match rows(&self.not_deleted(table, found.clone())?) == rows(&found) {
            true => Ok(()),
            false => Err(twice()),
        }
    }

    /// Refuses rows to change, ids first, that a statement of the same WITH has changed.
    ///
    /// # Errors
    /// `21000`; those of [`Run::unchanged`].
    pub(super) fn must_be_unchanged(
        &self,
        table: &Table,
        found: &[RecordBatch],
        command: &str,
    ) -> Result<()> {
        if rows(&self.unchanged(table, found.to_vec())?) == rows(found) {
            return Ok(());
        }
        let message = format!("{command} command cannot affect row a second time");
        Err(Error::new("21000", message)
            .with_hint("Another statement of the same WITH changes the row."))
    }

    /// The table's CHECK constraints, ready to be computed.
    pub(crate) fn checks(&self, table: &Table) -> Result<Checks> {
        if table.schema.partition.is_none() && !Checks::are_needed(&table.schema) {
            return Ok(Checks::default());
        }
        let checks = Checks::of(self.expressions(), &table.schema, &table.name)?;
        match table.schema.partition {
            Some(_) => {
                let membership = Membership::of(self.expressions(), table)?;
                Ok(checks.within(&table.name, membership))
            }
            None => Ok(checks),
        }
    }

    /// What expressions of this statement are planned with.
    pub(crate) fn expressions(&self) -> Expressions<'_> {
        Expressions {
            state: self.state(),
            snapshot: &self.snapshot,
        }
    }

    pub(super) fn assigned(&self, table: &Table, batch: &RecordBatch) -> Result<RecordBatch> {
        assign_batch(&table.schema, batch).map_err(|(column, bad)| {
            let column = &table.schema.columns[column].name;
            bad.error.with_detail(format!("column \"{column}\""))
        })
    }
}

fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

/// The error of a MERGE that would change a row twice.
pub(super) fn twice() -> Error {
    Error::new("21000", "MERGE command cannot affect row a second time")
        .with_hint("more than one source row matched a row of the table")
}

/// Counts changes for the workload record.
fn count(table: &Table, changes: &Changes) {
    let activity = table.activity();
    for (rows, count) in [
        (
            rows(&changes.inserted),
            Activity::inserted as fn(&Activity, u64),
        ),
        (rows(&changes.deleted), Activity::deleted),
    ] {
        if rows > 0 {
            count(activity, rows as u64);
        }
    }
    for (rows, columns) in &changes.assigned {
        activity.updated(*rows, columns);
    }
}

/// The first column of rows to be changed.
pub(super) fn row_ids(batch: &RecordBatch) -> Result<Vec<RowId>> {
    row_ids_in(batch.column(0))
}

/// A column of row ids.
pub(super) fn row_ids_in(column: &ArrayRef) -> Result<Vec<RowId>> {
    let column = column.as_any();
    if let Some(ids) = column.downcast_ref::<UInt64Array>() {
        return Ok(ids.values().iter().map(|id| RowId(*id)).collect());
    }
    // Those that have passed the language front are decimals.
    let ids = column.downcast_ref::<Decimal128Array>();
    let ids = ids.ok_or_else(|| Error::internal("row ids of another type"))?;
    let ids = ids.values().iter();
    ids.map(|id| u64::try_from(*id).map(RowId))
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| Error::internal("a row id out of range"))
}

/// A column of row ids, of which those in partitions are numbers of their tables and ids there:
/// see [`in_partition`].
pub(super) fn whole_ids(column: &ArrayRef) -> Result<Vec<i128>> {
    if let Some(ids) = column.as_any().downcast_ref::<Decimal128Array>() {
        return Ok(ids.values().to_vec());
    }
    let ids = row_ids_in(column)?.into_iter();
    Ok(ids.map(|id| i128::from(id.0)).collect())
}

/// The id of a row of a partition among those of all partitions.
pub(super) fn in_partition(table: TableId, id: RowId) -> i128 {
    (i128::from(table.0) << 64) | i128::from(id.0)
}

/// The end of [`in_partition`].
pub(super) fn of_partition(id: i128) -> (TableId, RowId) {
    (TableId((id >> 64) as u64), RowId(id as u64))
}

/// Row ids and some columns of rows of a table.
pub(super) fn with_ids(columns: &[Column], ids: &[RowId], rows: &[Row]) -> Result<RecordBatch> {
    let ids: ArrayRef = Arc::new(UInt64Array::from_iter_values(ids.iter().map(|id| id.0)));
    let mut fields = vec![Field::new(ROW_ID, ids.data_type().clone(), false)];
    let named = columns.iter();
    fields.extend(named.map(|column| Field::new(&column.name, column.kind.arrow(), true)));
    let mut all = vec![ids];
    all.extend(arrays(columns, rows)?);
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), all)?)
}

/// All other columns.
pub(super) fn without_ids(batch: &RecordBatch) -> Result<RecordBatch> {
    let values: Vec<usize> = (1..batch.num_columns()).collect();
    Ok(batch.project(&values)?)
}

/// Of several matches of one row the first counts.
pub(super) fn first_of_each(found: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
    let mut seen = HashSet::new();
    let only_first = |batch: RecordBatch| {
        let ids = whole_ids(batch.column(0))?;
        let first: BooleanArray = ids.iter().map(|id| Some(seen.insert(*id))).collect();
        if first.true_count() == batch.num_rows() {
            return Ok(batch);
        }
        Ok(filter_record_batch(&batch, &first)?)
    };
    found.into_iter().map(only_first).collect()
}
