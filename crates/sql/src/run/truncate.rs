//! TRUNCATE and VACUUM.

use std::sync::Arc;

use freestone_storage::{SequenceId, Table, TableId};
use sqlparser::ast::{
    CascadeOption, ObjectName, Truncate, TruncateIdentityOption, VacuumStatement,
};

use super::Run;
use super::change::{Changed, select};
use super::changes::row_ids;
use super::compose;
use crate::error::{Error, Result};
use crate::names::{Name, table_name};
use crate::outcome::Outcome;
use crate::partition;
use crate::session::Notice;
use crate::workload;

impl Run<'_> {
    pub(super) async fn truncate(&self, truncate: &Truncate) -> Result<Outcome> {
        let names = truncate
            .table_names
            .iter()
            .map(|target| table_name(&target.name));
        let named = names.collect::<Result<Vec<Name>>>()?;
        for (target, name) in truncate.table_names.iter().zip(&named) {
            if target.only && self.is_partitioned(name) {
                let message = "cannot truncate only a partitioned table";
                return Err(Error::new("42809", message).with_hint(
                    "Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions \
                     directly.",
                ));
            }
        }
        let mut named = named;
        let cascades = truncate.cascade == Some(CascadeOption::Cascade);
        let (names, tables) = loop {
            let names = self.with_leaves(named.clone())?;
            let mut tables: Vec<Arc<Table>> = Vec::with_capacity(names.len());
            for name in &names {
                tables.push(self.stored_table(name)?.clone());
            }
            // The rows of a partitioned table are in its leaves; all its levels have its keys.
            let mut reached = tables.clone();
            for name in &named {
                reached.push(self.stored_table(name)?.clone());
            }
            let Some((table, child)) = self.referring(&reached) else {
                break (names, tables);
            };
            if !cascades {
                let message = "cannot truncate a table referenced in a foreign key constraint";
                let detail = format!("Table \"{}\" references \"{}\".", child.name, table.name);
                let hint = format!(
                    "Truncate table \"{}\" at the same time, or use TRUNCATE ... CASCADE.",
                    child.name
                );
                let error = Error::unsupported(message).with_detail(detail);
                return Err(error.with_hint(hint));
            }
            let text = format!("truncate cascades to table \"{}\"", child.name);
            self.session.notify(Notice::told("00000", text));
            named.push(Name::in_catalog(&self.snapshot, &child));
        };
        for (name, table) in names.into_iter().zip(&tables) {
            let parts = [&name.schema, &name.name].map(|part| compose::exact(part));
            let (alias, called) = (compose::exact(&name.name), name.name.clone());
            let changed = Changed {
                from: compose::table(ObjectName::from(parts.to_vec()), alias.clone(), Vec::new())?,
                alias,
                called,
                through: None,
                name,
            };
            let query = select(&changed, Vec::new(), &[], None, Vec::new())?;
            let plan = self.plan_of_change(&changed, &query).await?;
            for batch in self.collected(plan, None).await? {
                let ids = row_ids(&batch)?;
                self.change(|transaction| Ok(transaction.delete(table.id, &ids)?))?;
            }
        }
        for table in &tables {
            self.change(|transaction| Ok(transaction.check_keys(table.id, u64::MAX)?))?;
        }
        if truncate.identity == Some(TruncateIdentityOption::Restart) {
            for name in &named {
                self.restart(self.stored_table(name)?)?;
            }
        }
        Ok(Outcome::done("TRUNCATE TABLE"))
    }

    /// A foreign key of another table to one of these or of their partitions.
    fn referring(&self, tables: &[Arc<Table>]) -> Option<(Arc<Table>, Arc<Table>)> {
        let known = |table: &Table| tables.iter().any(|known| known.id == table.id);
        let inside = |table: &Table| {
            let above = partition::ancestors(&self.snapshot, table);
            known(table) || above.into_iter().any(|(_, table)| known(table))
        };
        tables.iter().find_map(|table| {
            let mut children = self.snapshot.children(table.id).into_iter();
            let child = children.find(|child| !inside(child))?;
            Some((Arc::clone(table), child))
        })
    }

    /// Lets the sequences of identity columns, and others that columns of a table own, begin
    /// again.
    fn restart(&self, table: &Table) -> Result<()> {
        let identities = table.schema.columns.iter().filter_map(|c| c.identity);
        let identities: Vec<SequenceId> = identities.map(|identity| identity.sequence).collect();
        for (schema, sequence) in self.snapshot.all_sequences() {
            let owner = sequence.definition.owner.as_ref().map(|(table, _)| *table);
            if owner != Some(table.id) && !identities.contains(&sequence.id) {
                continue;
            }
            let name = &sequence.name;
            self.change(|transaction| {
                Ok(transaction.edit(|edit| edit.restart_sequence(schema, name))?)
            })?;
        }
        Ok(())
    }

    /// VACUUM: the rows of deltas become blocks, deleted ones leave theirs.
    pub(super) fn vacuum(&self, vacuum: &VacuumStatement) -> Result<Outcome> {
        if self.session.in_transaction() {
            let message = "VACUUM cannot run inside a transaction block";
            return Err(Error::new("25001", message));
        }
        let tables: Vec<TableId> = match &vacuum.table_name {
            Some(name) => {
                let name = table_name(name)?;
                self.stored_table(&name)?;
                let names = self.with_leaves(vec![name])?;
                let tables = names.iter().map(|name| Ok(self.stored_table(name)?.id));
                tables.collect::<Result<_>>()?
            }
            None => self
                .snapshot
                .all_tables()
                .map(|(_, table)| table.id)
                .collect(),
        };
        let database = self.session.database();
        let now = self.store().snapshot();
        database.record().settle(now.catalog());
        let known = tables
            .iter()
            .filter_map(|id| now.catalog().table_by_id(*id));
        for table in known.filter(|table| table.options.auto_layout) {
            // Blocks that cannot be tried stay as they are.
            let _ = workload::follow(self.store(), database.record(), table, &|| true);
        }
        drop(now);
        for table in tables {
            self.store().vacuum(table)?;
        }
        Ok(Outcome::done("VACUUM"))
    }
}
