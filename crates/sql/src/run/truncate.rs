//! TRUNCATE and VACUUM.

use datafusion::sql::sqlparser::ast::{Truncate, TruncateIdentityOption, VacuumStatement};
use freestone_storage::{Table, TableId};

use super::Run;
use super::change::Changed;
use super::changes::row_ids;
use crate::advisor;
use crate::error::{Error, Result};
use crate::names::{Name, quoted, table_name};
use crate::scan::ROW_ID;
use crate::session::Outcome;

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
        let names = self.with_leaves(named.clone())?;
        let mut tables = Vec::with_capacity(names.len());
        for name in &names {
            tables.push(self.stored_table(name)?.clone());
        }
        for table in &tables {
            let children = self.snapshot.children(table.id).into_iter();
            let mut others = children.filter(|child| tables.iter().all(|t| t.id != child.id));
            if let Some(child) = others.next() {
                let message = format!(
                    "cannot truncate \"{}\", which a foreign key of \"{}\" refers to",
                    table.name, child.name
                );
                let hint = "truncate both in one statement, or use DELETE";
                return Err(Error::unsupported(message).with_hint(hint));
            }
        }
        for (name, table) in names.into_iter().zip(&tables) {
            let query = format!(
                "SELECT {} FROM {}.{}",
                quoted(ROW_ID),
                quoted(&name.schema),
                quoted(&name.name)
            );
            let changed = Changed {
                alias: String::new(),
                called: String::new(),
                from: String::new(),
                name,
            };
            let plan = self.plan_of_change(&changed, &query, &[]).await?;
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

    /// Lets the identity columns of a table begin again.
    fn restart(&self, table: &Table) -> Result<()> {
        let identities = table.schema.columns.iter().filter_map(|c| c.identity);
        for identity in identities {
            let known = self.snapshot.sequence_by_id(identity.sequence);
            let Some((schema, sequence)) = known else {
                continue;
            };
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
            let _ = advisor::follow(self.store(), database.record(), table, &|| true);
        }
        drop(now);
        for table in tables {
            self.store().vacuum(table)?;
        }
        Ok(Outcome::done("VACUUM"))
    }
}
