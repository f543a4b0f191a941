//! ON DELETE and ON UPDATE of foreign keys: rows that follow their parents.
//!
//! RESTRICT and NO ACTION need nothing here: storage refuses, at the end of the
//! statement, what would leave a row without its parent.

use std::sync::Arc;

use freestone_frontend::stack;
use freestone_storage::row::cell;
use freestone_storage::{
    Catalog, ForeignAction, ForeignKey, KeyLookUp, Row, RowId, Snapshot, Table, TableId, Value,
};

use super::Run;
use super::changes::{Changes, Touched, row_ids, with_ids};
use crate::error::{Error, Result};
use crate::front::{default_of, parse_expr};
use crate::values::assign;

/// A key that rows of a parent had, and the one that they have now, if any.
pub(super) type Moved = (Vec<Value>, Option<Row>);

/// A table whose rows follow those of another, by which foreign key.
pub(super) type Follower = (Arc<Table>, ForeignKey);

/// Most foreign keys from one table to the next that are followed.
const DEPTH: usize = 500;
/// Bytes of the stack that one of them takes at most, with the look-ups of its rows.
const LEVEL: usize = 128 << 10;

/// The foreign keys whose rows change with those of a table, each with the table that has it.
pub(super) fn following(catalog: &Catalog, table: &Table) -> Vec<Follower> {
    if table.schema.unreferenced {
        return Vec::new();
    }
    let passive = |key: &ForeignKey| key.on_delete.refuses() && key.on_update.refuses();
    let children = catalog.all_tables().flat_map(|(_, child)| {
        let keys = child.schema.foreign_keys.iter();
        let keys = keys.filter(|key| key.parent == table.id && !passive(key));
        keys.map(|key| (Arc::clone(child), key.clone()))
    });
    children.collect()
}

impl Run<'_> {
    /// The tables whose rows follow those of `table`.
    pub(super) fn following(&self, table: &Table) -> Vec<Follower> {
        following(&self.snapshot, table)
    }

    /// Whether rows of a table follow others of the same table, by way of other tables or at once.
    pub(super) fn follows_itself(&self, table: &Table) -> bool {
        let mut known: Vec<TableId> = Vec::new();
        let mut open = self.following(table);
        while let Some((child, _)) = open.pop() {
            if child.id == table.id {
                return true;
            }
            if !known.contains(&child.id) {
                known.push(child.id);
                open.extend(self.following(&child));
            }
        }
        false
    }

    /// For each follower, the keys that changed rows are about to lose.
    pub(super) fn all_moved(
        &self,
        table: &Table,
        followers: &[Follower],
        changes: &Changes,
    ) -> Result<Vec<Vec<Moved>>> {
        if followers.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.change(|transaction| Ok(transaction.snapshot()))?;
        let moved = |(_, key): &Follower| self.moved_keys(table, key, changes, &now);
        followers.iter().map(moved).collect()
    }

    /// Lets rows of other tables follow keys that moved.
    ///
    /// # Errors
    /// As [`Run::apply`]; `54001` for a chain of more than 500 foreign keys.
    pub(super) fn follow(
        &self,
        followers: &[Follower],
        moved: &[Vec<Moved>],
        touched: &mut Touched,
    ) -> Result<()> {
        for ((child, key), moved) in followers.iter().zip(moved) {
            if moved.is_empty() {
                continue;
            }
            if touched.depth >= DEPTH {
                let message = format!("rows follow each other over more than {DEPTH} levels");
                return Err(Error::new("54001", message)
                    .with_hint("delete the rows that refer to others first"));
            }
            let now = self.change(|transaction| Ok(transaction.snapshot()))?;
            let changes = self.followers(child, key, moved, &now)?;
            if !(changes.deleted.is_empty() && changes.updated.is_empty()) {
                touched.depth += 1;
                let mut carried_out = || self.carry_out(child, &changes, touched).map(|_| ());
                match stack::left() < LEVEL {
                    true => stack::on_great_stack(carried_out)?,
                    false => carried_out()?,
                }
                touched.depth -= 1;
            }
        }
        Ok(())
    }

    /// The keys that rows lost, and what they became.
    fn moved_keys(
        &self,
        table: &Table,
        key: &ForeignKey,
        changes: &Changes,
        now: &Snapshot,
    ) -> Result<Vec<Moved>> {
        let view = now.read_view(table.id);
        let before = |id: RowId| -> Result<Option<Vec<Value>>> {
            let row = table.row(&view, id, &key.parent_columns)?;
            Ok(row.and_then(|row| row.into_iter().collect()))
        };
        let mut moved = Vec::new();
        for batch in &changes.deleted {
            for id in row_ids(batch)? {
                moved.extend(before(id)?.map(|old| (old, None)));
            }
        }
        for batch in &changes.updated {
            for (row, id) in row_ids(batch)?.into_iter().enumerate() {
                let Some(old) = before(id)? else { continue };
                // The first column is the row id.
                let columns = key.parent_columns.iter().map(|column| {
                    let array = batch.column(column + 1);
                    let value = assign(array, &table.schema.columns[*column]);
                    Ok(cell(&value.map_err(|bad| bad.error)?, row))
                });
                let new = columns.collect::<Result<Row>>()?;
                if !old
                    .iter()
                    .zip(&new)
                    .all(|(old, new)| Some(old) == new.as_ref())
                {
                    moved.push((old, Some(new)));
                }
            }
        }
        Ok(moved)
    }

    /// What becomes of the rows that refer to keys that moved.
    fn followers(
        &self,
        child: &Table,
        key: &ForeignKey,
        moved: &[Moved],
        now: &Snapshot,
    ) -> Result<Changes> {
        let all: Vec<usize> = (0..child.schema.columns.len()).collect();
        let look_up = KeyLookUp::prepare(&child.schema, &key.columns, &all)?;
        let view = now.read_view(child.id);
        let (mut gone, mut ids, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (old, new) in moved {
            let action = match new {
                None => key.on_delete,
                Some(_) => key.on_update,
            };
            if action.refuses() {
                continue;
            }
            for (id, mut row) in child.find(&view, &look_up, old)? {
                if action == ForeignAction::Cascade && new.is_none() {
                    gone.push(id);
                    continue;
                }
                for (place, column) in key.columns.iter().enumerate() {
                    row[*column] = match action {
                        ForeignAction::Cascade => new.as_ref().and_then(|new| new[place].clone()),
                        ForeignAction::SetDefault => self.default_value(child, *column)?,
                        _ => None,
                    };
                }
                ids.push(id);
                rows.push(row);
            }
        }
        let mut changes = Changes::default();
        if !gone.is_empty() {
            changes.deleted = vec![with_ids(&[], &gone, &vec![Row::new(); gone.len()])?];
        }
        if !ids.is_empty() {
            let rows = with_ids(&child.schema.columns, &ids, &rows)?;
            changes.update(vec![rows], key.columns.clone());
        }
        Ok(changes)
    }

    fn default_value(&self, table: &Table, column: usize) -> Result<Option<Value>> {
        let column = &table.schema.columns[column];
        match default_of(&self.snapshot, column) {
            None => Ok(None),
            Some(text) => {
                let value = self.constant(&parse_expr(text)?)?;
                let assigned = assign(&value, column).map_err(|bad| bad.error)?;
                Ok(cell(&assigned, 0))
            }
        }
    }
}
