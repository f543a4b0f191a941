//! New rows of a table: few go to the delta, many become blocks at once.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Fields;
use freestone_storage::{CatalogEdit, Table};

use super::Run;
use super::changes::Changes;
use crate::engine::Pipelines;
use crate::error::Result;
use crate::ingest::{self, FEW, Gathered, Target, Unopened, Written};
use crate::names::Name;
use crate::relations::may_change;
use crate::values::check_assignable;
use crate::workload::Watching;

/// Where new rows come from.
pub(super) enum Source {
    /// From the statement, cast to the table's columns.
    Rows(RecordBatch),
    /// From a query; how it runs is recorded, if it is to be.
    Plan(Pipelines, Option<Watching>),
}

/// Checks that the values of columns can be stored in those of a table.
///
/// # Errors
/// `42804`.
pub(super) fn check_columns(fields: &Fields, table: &Table) -> Result<()> {
    let mut columns = fields.iter().zip(&table.schema.columns);
    columns.try_for_each(|(field, column)| check_assignable(field.data_type(), column))
}

impl Run<'_> {
    /// Adds rows: few to the delta, many as blocks.
    pub(super) async fn add(&self, name: &Name, table: &Arc<Table>, source: Source) -> Result<u64> {
        if let Source::Rows(rows) = &source
            && rows.num_rows() <= FEW
        {
            return self.add_few(table, vec![rows.clone()]);
        }
        let target = self.target(table)?;
        let streams = match source {
            Source::Rows(rows) => ingest::batches(vec![rows]),
            Source::Plan(plan, watching) => {
                let streams = ingest::assigned(&target, &plan, self.threads())?;
                Watching::over_all(watching, streams, Unopened::map)
            }
        };
        match ingest::few(self.state(), streams).await? {
            Gathered::Few(batches) => self.add_few(table, batches),
            Gathered::Many(streams) => self.load(name, table, streams).await,
        }
    }

    fn add_few(&self, table: &Table, inserted: Vec<RecordBatch>) -> Result<u64> {
        let changes = Changes {
            inserted,
            ..Changes::default()
        };
        Ok(self.apply(table, &changes)?.rows)
    }

    /// A table to be written to, with what must hold for its rows.
    pub(crate) fn target(&self, table: &Table) -> Result<Target> {
        let schema = Arc::clone(&table.schema);
        let target = Target::new(self.store(), schema, table.options.clone());
        Ok(target.with_checks(self.checks(table)?))
    }

    /// All rows of a source, in memory.
    pub(super) async fn gathered(&self, table: &Table, source: Source) -> Result<Vec<RecordBatch>> {
        match source {
            Source::Rows(rows) => Ok(vec![rows]),
            Source::Plan(plan, watching) => {
                check_columns(plan.schema().fields(), table)?;
                let rows = self.collected(plan, watching).await?;
                let rows = rows.iter().map(|rows| self.assigned(table, rows));
                rows.collect()
            }
        }
    }

    /// Appends written blocks, of which each has those of one table; returns the rows.
    ///
    /// # Errors
    /// `23505` when a key exists already, `40001` when the table is gone.
    pub(crate) fn append(
        &self,
        tables: &[(Name, Arc<Table>)],
        written: Vec<Written>,
    ) -> Result<u64> {
        for ((name, seen), written) in tables.iter().zip(&written) {
            may_change(name, seen)?;
            written.check_keys(seen, &self.snapshot.read_view(seen.id))?;
        }
        let view = |table| self.snapshot.read_view(table);
        let append = |edit: &mut CatalogEdit| {
            let mut rows = 0;
            for ((name, seen), written) in tables.iter().zip(written) {
                if !written.is_empty() {
                    rows += ingest::append(edit, name, seen, &view(seen.id), written, &view)?;
                }
            }
            Ok(rows)
        };
        let mut transaction = self.own.lock();
        if self.session.modes().is_serializable()
            && let Some(transaction) = &mut *transaction
        {
            // What it has read is looked at when it commits.
            return ingest::edited(append, |wrapped| transaction.edit(wrapped));
        }
        // A statement of its own publishes at once, with keys checked in between.
        drop(transaction.take());
        drop(transaction);
        self.edit(append)
    }
}
