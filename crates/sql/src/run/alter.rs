//! ALTER TABLE … SET (layout = …, sort_by = …, …): new options, and all blocks
//! rewritten to them.
//!
//! The rewrite reads a snapshot and writes new blocks beside the old ones; readers
//! go on with what they have, and the exchange is one commit. When the table grew
//! meanwhile, the rewrite starts again. With `rewrite = false` only the options
//! change: blocks written from then on follow them, older ones stay as they are,
//! so that one table holds blocks of several layouts.

use std::sync::Arc;

use freestone_storage::{TableOptions, TableSchema};
use sqlparser::ast::{AlterTable, AlterTableOperation, RenameTableNameKind};

use super::Run;
use super::alter_parts::apart;
use super::create::{is_of_pages, options_of};
use super::materialized::may_alter;
use crate::error::{Error, Result};
use crate::grammar::define::{SequenceChange, TableChange};
use crate::ingest::{self, Target};
use crate::names::{Name, fold, table_name};
use crate::outcome::Outcome;
use crate::relations::unknown_table;
use crate::scan::StoredTable;

/// Rewrites begun before giving up on a table that keeps changing.
const ATTEMPTS: usize = 5;

impl Run<'_> {
    /// Whether no table and no view is called so.
    fn is_free(&self, name: &Name) -> bool {
        let table = self.snapshot.table(&name.schema, &name.name);
        table.is_none() && self.snapshot.view(&name.schema, &name.name).is_none()
    }

    pub(super) async fn alter_table(&self, alter: &AlterTable) -> Result<Outcome> {
        let name = table_name(&alter.name)?;
        if let Some(table) = self.snapshot.table(&name.schema, &name.name) {
            alter
                .operations
                .iter()
                .try_for_each(|one| may_alter(table, one))?;
        }
        if alter.if_exists && self.is_free(&name) {
            return Ok(Outcome::done("ALTER TABLE"));
        }
        if let [
            AlterTableOperation::RenameTable {
                table_name: RenameTableNameKind::To(to) | RenameTableNameKind::As(to),
            },
        ] = alter.operations.as_slice()
            && self.snapshot.view(&name.schema, &name.name).is_some()
        {
            let to = table_name(to)?.name;
            self.edit(|edit| {
                Ok(edit.rename_view(&name.schema, &name.name, (&name.schema, &to))?)
            })?;
            return Ok(Outcome::done("ALTER VIEW"));
        }
        if let [
            AlterTableOperation::RenameTable {
                table_name: RenameTableNameKind::To(to) | RenameTableNameKind::As(to),
            },
        ] = alter.operations.as_slice()
            && self.snapshot.sequence(&name.schema, &name.name).is_some()
        {
            let change = SequenceChange::Rename(table_name(to)?.name);
            self.alter_sequence(&name, false, &change)?;
            return Ok(Outcome::done("ALTER TABLE"));
        }
        if let [
            AlterTableOperation::RenameColumn {
                old_column_name,
                new_column_name,
            },
        ] = alter.operations.as_slice()
            && self.snapshot.view(&name.schema, &name.name).is_some()
        {
            let (from, to) = (fold(old_column_name), fold(new_column_name));
            return self.alter_relation(
                true,
                &name,
                false,
                &TableChange::RenameColumn { from, to },
            );
        }
        if let [AlterTableOperation::SetOptionsParens { options }] = alter.operations.as_slice() {
            let options = options_of(options)?;
            // Partitions have blocks; their parent says what new ones begin with.
            let whole = self.is_partitioned(&name).then(|| name.clone());
            for table in self.with_leaves(vec![name])?.into_iter().chain(whole) {
                self.set_options(&table, &options).await?;
            }
            return Ok(Outcome::done("ALTER TABLE"));
        }
        if alter.operations.iter().all(is_of_triggers) {
            self.switch_triggers(&name, &alter.operations)?;
            return Ok(Outcome::done("ALTER TABLE"));
        }
        let table = self.stored_table(&name)?;
        if alter.only && table.schema.partitioned.is_some() {
            return Err(Error::unsupported(
                "ALTER TABLE ONLY of a partitioned table is not supported",
            )
            .with_hint("Without ONLY its partitions change, too."));
        }
        if table.schema.is_in_partitions() {
            let operations = apart(&table.schema, &alter.operations);
            let table = Arc::clone(table);
            self.alter_partitions(&name, &table, &operations).await?;
            return Ok(Outcome::done("ALTER TABLE"));
        }
        match apart(&table.schema, &alter.operations).as_slice() {
            [] => {}
            [operation] if !is_of_columns(operation) => self.redeclare(&name, operation).await?,
            operations if operations.iter().all(is_of_columns) => {
                self.absorbed(&name)?.alter_columns(&name, operations)?;
            }
            operations => {
                let steps = operations.iter();
                let steps = steps.map(|operation| (name.clone(), operation.clone()));
                self.alter_in_turn(&steps.collect::<Vec<_>>()).await?;
            }
        }
        Ok(Outcome::done("ALTER TABLE"))
    }

    /// DISABLE and ENABLE TRIGGER: those of ALL are foreign keys, of USER there are none.
    ///
    /// # Errors
    /// `42704` for a trigger by name; `42501`, `42P01`.
    fn switch_triggers(&self, name: &Name, operations: &[AlterTableOperation]) -> Result<()> {
        let table = self.stored_table(name)?;
        for operation in operations {
            let (trigger, off) = match operation {
                AlterTableOperation::DisableTrigger { name } => (name, true),
                AlterTableOperation::EnableTrigger { name } => (name, false),
                _ => continue,
            };
            match trigger.value.to_lowercase().as_str() {
                "user" if trigger.quote_style.is_none() => {}
                "all" if trigger.quote_style.is_none() => {
                    let what = "turn foreign keys off and on";
                    self.rights(self.snapshot.catalog()).superuser(what)?;
                    let partitions = crate::partition::leaves(&self.snapshot, table);
                    let tables = partitions.iter().map(|(_, leaf)| leaf.id).chain([table.id]);
                    let tables: Vec<_> = tables.collect();
                    self.edit(|edit| {
                        for id in tables {
                            edit.set_unreferenced(id, off)?;
                        }
                        Ok(())
                    })?;
                }
                _ => {
                    let message = format!(
                        "trigger \"{}\" for table \"{}\" does not exist",
                        fold(trigger),
                        table.name
                    );
                    return Err(Error::new("42704", message));
                }
            }
        }
        Ok(())
    }

    /// One operation in the session's transaction.
    pub(super) async fn alter_once(
        &self,
        name: &Name,
        operation: &AlterTableOperation,
    ) -> Result<()> {
        match is_of_columns(operation) {
            true => self.alter_columns(name, std::slice::from_ref(operation)),
            false => self.redeclare_once(name, operation).await,
        }
    }

    async fn set_options(&self, name: &Name, written: &[(String, String)]) -> Result<Outcome> {
        let table = self.stored_table(name)?;
        if self.session.in_transaction() {
            let message = "ALTER TABLE … SET cannot run inside a transaction block";
            return Err(Error::new("25001", message));
        }
        let (options, rewrite) = changed(&table.options, &table.schema, written)?;
        if !rewrite {
            let id = table.id;
            self.edit(|edit| Ok(edit.set_options(id, options)?))?;
            self.session.database().keep_layouts();
            return Ok(Outcome::done("ALTER TABLE"));
        }
        for attempt in 1.. {
            match self.rewrite(name, &options).await {
                Err(error) if error.sqlstate == "40001" && attempt < ATTEMPTS => {}
                done => {
                    done?;
                    self.session.database().keep_layouts();
                    break;
                }
            }
        }
        Ok(Outcome::done("ALTER TABLE"))
    }

    async fn rewrite(&self, name: &Name, options: &TableOptions) -> Result<()> {
        if let Some(table) = self.snapshot.table(&name.schema, &name.name) {
            self.store().move_delta(table.id)?;
        }
        let held = self.snapshot.table(&name.schema, &name.name);
        let _hold = held.map(|table| self.store().hold_mover(table.id));
        let snapshot = self.store().snapshot();
        let table = snapshot
            .table(&name.schema, &name.name)
            .ok_or_else(|| unknown_table(&snapshot, name))?;
        let options = &options.with_bounds_from(table, true)?;
        let target = Target::new(self.store(), Arc::clone(&table.schema), options.clone());
        let stored = StoredTable::new(table, snapshot.read_view(table.id));
        let scan = crate::engine::whole(&stored)?;
        let streams = ingest::assigned(&target, &scan, self.threads())?;
        let written = ingest::write(self.state(), &target.without_keys(), streams).await?;
        let blocks = written.into_blocks();
        self.edit(|edit| {
            let seen = snapshot.timestamp();
            Ok(edit.rewrite(table.id, table, seen, options.clone(), blocks)?)
        })
    }
}

fn is_of_triggers(operation: &AlterTableOperation) -> bool {
    matches!(
        operation,
        AlterTableOperation::DisableTrigger { .. } | AlterTableOperation::EnableTrigger { .. }
    )
}

/// Whether an operation adds or drops columns; several of those are one change.
fn is_of_columns(operation: &AlterTableOperation) -> bool {
    matches!(
        operation,
        AlterTableOperation::AddColumn { .. } | AlterTableOperation::DropColumn { .. }
    )
}

/// The options after the statement, and whether blocks are to be rewritten.
fn changed(
    options: &TableOptions,
    schema: &TableSchema,
    written: &[(String, String)],
) -> Result<(TableOptions, bool)> {
    let before = options;
    let mut options = before.clone();
    // Options about pages change nothing.
    let mut rewrite = written.iter().any(|(name, _)| !is_of_pages(name));
    for (name, value) in written {
        if name == "rewrite" {
            rewrite = match value.to_lowercase().as_str() {
                "true" | "on" => true,
                "false" | "off" => false,
                _ => {
                    return Err(Error::new(
                        "22023",
                        format!("invalid value for \"rewrite\": \"{value}\""),
                    )
                    .with_hint("the values are true and false"));
                }
            };
        } else if !is_of_pages(name) {
            options.set(name, value)?;
        }
    }
    options.check(schema)?;
    // Blocks get their layouts by and by where those are automatic.
    let by_and_by = options.auto_layout && options.writes_as(before);
    Ok((options, rewrite && !by_and_by))
}
