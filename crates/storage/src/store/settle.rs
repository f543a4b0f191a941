//! Rows of an open transaction become blocks: new ones that take too much memory, and
//! all of a table whose columns are to change.
//!
//! They are blocks of its draft of the catalog then, as those of a bulk INSERT are:
//! nobody else sees them, and going back to a savepoint gives them up.

use super::check::changed_row;
use super::transaction::Transaction;
use super::{keys, references};
use crate::block::Block;
use crate::codec::ArrayForm;
use crate::delta::{Delta, KeyMap, LATEST, OwnChanges, ReadView, RowHome};
use crate::error::{Error, Result};
use crate::ids::{BlockId, TableId};
use crate::scan::{Scan, ScanRequest};
use crate::table::Table;
use arrow_array::RecordBatch;
use std::collections::HashSet;
use std::sync::Arc;

impl Transaction {
    /// Writes new rows as blocks, of tables of which they take as much memory as a
    /// delta may. Called between statements, when their keys have been checked: the
    /// rows have other names then.
    ///
    /// # Errors
    /// `Full` or `Io`.
    pub fn settle(&mut self) -> Result<()> {
        self.settle_since(0)
    }

    /// As [`Transaction::settle`] while a statement still reads the rows below number `first`:
    /// those keep their names, and fragments that have some of them stay.
    ///
    /// # Errors
    /// `Full` or `Io`.
    pub fn settle_since(&mut self, first: u64) -> Result<()> {
        // What was left to be checked is found among its rows.
        if self.unchecked {
            return Ok(());
        }
        // A fragment is little enough for anybody, and found without counting.
        match self.tables.values().any(|own| own.fragments.len() > 1) {
            true => self.write_large(first, self.store.delta_limit().bytes()),
            false => Ok(()),
        }
    }

    /// As [`Transaction::settle`], where they take at least so many bytes.
    ///
    /// # Errors
    /// `Full` or `Io`.
    pub fn settle_from(&mut self, bytes: u64) -> Result<()> {
        self.write_large(0, bytes)
    }

    /// Writes fragments from row `first` on as blocks, of tables where those take so many bytes.
    fn write_large(&mut self, first: u64, bytes: u64) -> Result<()> {
        let large = |own: &OwnChanges| {
            let since = own.bytes_since(first);
            since > 0 && since as u64 >= bytes
        };
        let tables = self.tables.iter().filter(|(_, own)| large(own));
        let tables: Vec<TableId> = tables.map(|(id, _)| *id).collect();
        for id in tables {
            let table = self.table(id)?;
            let Some(own) = self.tables.get(&id).cloned() else {
                continue;
            };
            // Rows of columns that were changed since are left to the commit.
            let mut fragments = own.fragments.iter();
            if fragments.all(|fragment| fragment.schema().same_rows(&table.schema)) {
                self.write_rows(&table, &own, first)?;
            }
        }
        Ok(())
    }

    /// Writes the fragments that begin with row `first` or a later one as blocks.
    fn write_rows(&mut self, table: &Arc<Table>, own: &OwnChanges, first: u64) -> Result<()> {
        let mut writer = self.store.writer(&table.schema, &table.options)?;
        for fragment in own.since(first) {
            let deleted = own.deleted.get(&RowHome::Own(fragment.first()));
            let rows = fragment.visible(LATEST, deleted);
            let tuples = fragment.read();
            let columns = 0..table.schema.columns.len();
            let columns = columns.map(|column| tuples.column(column, &rows, ArrayForm::Sql));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            writer.push(&RecordBatch::try_new(table.arrow().clone(), columns)?)?;
        }
        let blocks = writer.finish()?;
        self.edit(|edit| edit.append(table.id, blocks))?;
        let own = self.own(table);
        own.fragments.retain(|fragment| fragment.first() < first);
        own.deleted
            .retain(|home, _| !matches!(home, RowHome::Own(begin) if *begin >= first));
        own.maps = Arc::new(KeyMap::over(&table.schema, &own.fragments));
        Ok(())
    }

    /// Lets all rows of a table be in blocks, none of which has a row that this
    /// transaction deleted. Called between statements, before its columns change.
    ///
    /// # Errors
    /// `Conflict` if others changed the table since the transaction began; 25001 if it
    /// deleted rows that foreign keys may refer to; 55006 if a deferred constraint does not hold; `Full` or `Io`.
    pub fn absorb(&mut self, id: TableId) -> Result<()> {
        self.hold(id);
        let renewed = self.renew(id);
        let table = self.table(id)?;
        let own = self.tables.get(&id).cloned();
        if own.is_none() && table.delta().is_empty() {
            return Ok(());
        }
        renewed?;
        if self.unchecked && own.is_some() && self.has_pending(&table)? {
            let message = format!(
                "table \"{}\" cannot be altered because it has constraints that are yet to be checked",
                table.name
            );
            return Err(Error::invalid("55006", message)
                .with_hint("SET CONSTRAINTS ALL IMMEDIATE checks them."));
        }
        let own = own.unwrap_or_default();
        if !own.deleted.is_empty() && !references::keeps_keys(&self.catalog, &self.tables, &table)?
        {
            let message = format!(
                "table \"{}\" cannot be altered in a transaction that has changed its rows: \
                 foreign keys refer to it",
                table.name
            );
            return Err(Error::invalid("25001", message).with_hint("COMMIT first."));
        }
        let changed = |block: &&Arc<Block>| own.deleted.contains_key(&RowHome::Block(block.id()));
        let changed: Vec<Arc<Block>> = table.blocks().iter().filter(changed).cloned().collect();
        let gone: HashSet<BlockId> = changed.iter().map(|block| block.id()).collect();
        let request = ScanRequest {
            projection: (0..table.schema.columns.len()).collect(),
            view: self.read_view(id),
            ..ScanRequest::default()
        };
        let fragments = request.view.fragments(table.delta());
        let (schema, arrow) = (table.schema.clone(), table.arrow());
        let scan = Scan::new(schema, arrow, changed, fragments, &request)?;
        let mut writer = self.store.writer(&table.schema, &table.options)?;
        for batch in scan.worker() {
            writer.push(&batch?)?;
        }
        let blocks = writer.finish()?;
        let delta = Delta::new(table.schema.clone(), table.delta().next());
        self.edit(|edit| {
            let blocks = edit.adopt(blocks);
            edit.change(id, |table| {
                let kept = table.blocks().iter();
                let kept = kept.filter(|block| !gone.contains(&block.id()));
                let all = kept.cloned().chain(blocks).collect();
                let table = table.with(&table.name, table.options.clone(), all);
                Ok(table.with_delta(Arc::new(delta)))
            })
        })?;
        self.tables.remove(&id);
        Ok(())
    }

    /// Whether a constraint that is to be checked at the end of the transaction does not hold for
    /// its changes of a table as they are now.
    fn has_pending(&self, table: &Arc<Table>) -> Result<bool> {
        let Some(own) = self.tables.get(&table.id) else {
            return Ok(false);
        };
        let seen = self.store.newest(&self.store.latest.lock());
        let view = ReadView {
            own: Some(own.clone()),
            own_before: u64::MAX,
            ..ReadView::at(seen.timestamp())
        };
        let keys = keys::check(table, &view, own, (0, None), &|_| None);
        let checked = keys.and_then(|_| {
            let (catalogs, own) = ([&*self.catalog], &self.tables);
            let seen = seen.timestamp();
            references::check(&catalogs, own, table, (0, None), (seen, seen)).map(|_| ())
        });
        match checked {
            Err(error) if matches!(error.sqlstate(), "23503" | "23505") => Ok(true),
            done => done.map(|()| false),
        }
    }

    /// Lets the transaction have begun with a table as it is now, where the tuple mover alone has
    /// changed it since: its rows are the same in other places.
    ///
    /// # Errors
    /// `Conflict` if others have changed it since the transaction began, as its commit would say.
    fn renew(&mut self, id: TableId) -> Result<()> {
        let Some(base) = self.base.table_by_id(id).cloned() else {
            return Ok(());
        };
        let draft = self.table(id)?;
        let known = {
            let latest = self.store.latest.lock();
            let last = latest.changed.get(&id).copied().unwrap_or(0);
            let known = latest.catalog.table_by_id(id);
            known.filter(|_| last <= self.base.timestamp()).cloned()
        };
        let known = known.ok_or_else(|| changed_row(&draft))?;
        if Arc::ptr_eq(&known, &base) {
            return Ok(());
        }
        let renewed = draft.over(&base, &known);
        let renewed = renewed.ok_or_else(|| changed_row(&draft))?;
        let unchanged = Arc::ptr_eq(&self.catalog, self.base.catalog());
        let begun = Arc::new(self.base.catalog().with_table(&known));
        self.catalog = match unchanged {
            true => begun.clone(),
            false => Arc::new(self.catalog.with_table(&renewed)),
        };
        self.base = self.base.with_own(begun, Default::default(), None);
        if let Some(own) = self.tables.get_mut(&id) {
            *own = self.store.locks.renamed(id, own);
        }
        self.renewed.push((base, known));
        Ok(())
    }
}
