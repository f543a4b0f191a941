//! What goes over from one catalog to the next beside what was changed.

use super::locks::{Hop, Went};
use super::log::{self, Part};
use super::{Catalog, files_of, ids_of};
use crate::block::Block;
use crate::delta::{Deletes, TupleBatch};
use crate::error::{Error, Result};
use crate::ids::{BlockId, RowId, TableId};
use crate::schema::Column;
use crate::table::Table;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

/// Refuses blocks of the draft that say what was so when the transaction began:
/// keys in whole blocks were checked against that, and rows that were rewritten
/// read from it. `changed` says which tables others changed since.
pub(super) fn check_blocks(
    base: &Catalog,
    draft: &Catalog,
    changed: impl Fn(TableId) -> bool,
) -> Result<()> {
    for table in changed_tables(base, draft) {
        let Some(before) = base.table_by_id(table.id) else {
            continue;
        };
        let new = |block: &Arc<Block>| before.block(block.id()).is_none();
        let constrained = !table.schema.keys.is_empty() || !table.schema.foreign_keys.is_empty();
        let added = constrained && table.blocks().iter().any(new);
        let kept = deletes_of(&table);
        let lost = |block: &Arc<Block>| !kept.contains_key(&Arc::as_ptr(block.deletes()));
        let rewritten = before.blocks().iter().any(lost);
        // Rows of the delta that are in blocks of the draft now.
        let absorbed = table.delta().first() > before.delta().first();
        // What is declared anew was asked of the rows that were there.
        let declared = !before.schema.same_rows(&table.schema);
        let mut parents = table.schema.foreign_keys.iter();
        let parents = (added || declared) && parents.any(|key| changed(key.parent));
        if parents || (added || rewritten || declared || absorbed) && changed(table.id) {
            return Err(Error::Conflict {
                message: format!("table \"{}\" was changed meanwhile", table.name),
            });
        }
    }
    Ok(())
}

/// Refuses foreign keys to tables that are no more.
pub(super) fn check_parents(before: &Catalog, after: &Catalog) -> Result<()> {
    for table in changed_tables(before, after) {
        let mut keys = table.schema.foreign_keys.iter();
        if keys.any(|key| after.table_by_id(key.parent).is_none()) {
            return Err(Error::Conflict {
                message: format!(
                    "a table that \"{}\" refers to was dropped meanwhile",
                    table.name
                ),
            });
        }
        let whole = table.schema.partition.as_ref().map(|of| of.parent);
        if whole.is_some_and(|whole| after.table_by_id(whole).is_none()) {
            return Err(Error::Conflict {
                message: format!(
                    "the table that \"{}\" is a partition of was dropped meanwhile",
                    table.name
                ),
            });
        }
    }
    Ok(())
}

/// The tables of `after` that are new or other than in `before`.
pub(super) fn changed_tables(before: &Catalog, after: &Catalog) -> Vec<Arc<Table>> {
    let known: HashMap<TableId, &Arc<Table>> = before
        .all_tables()
        .map(|(_, table)| (table.id, table))
        .collect();
    let same = |table: &Arc<Table>| {
        let known = known.get(&table.id);
        known.is_some_and(|known| Arc::ptr_eq(known, table))
    };
    let tables = after.all_tables().map(|(_, table)| table);
    tables.filter(|table| !same(table)).cloned().collect()
}

/// The tables of `before` that are not in `after`.
pub(super) fn dropped_tables(before: &Catalog, after: &Catalog) -> Vec<TableId> {
    let left: HashSet<TableId> = after.all_tables().map(|(_, table)| table.id).collect();
    let ids = before.all_tables().map(|(_, table)| table.id);
    ids.filter(|id| !left.contains(id)).collect()
}

/// Blocks by what marks their rows as deleted.
fn deletes_of(table: &Table) -> HashMap<*const Deletes, &Arc<Block>> {
    let blocks = table.blocks().iter();
    blocks
        .map(|block| (Arc::as_ptr(block.deletes()), block))
        .collect()
}

/// Rows of blocks that are the same rows in another file now, as with an index more.
pub(super) fn renumbered(before: &Catalog, table: &Table) -> Vec<Hop> {
    let Some(before) = before.table_by_id(table.id) else {
        return Vec::new();
    };
    let gone = before.blocks().iter();
    let mut gone = gone
        .filter(|block| table.block(block.id()).is_none())
        .peekable();
    if gone.peek().is_none() {
        return Vec::new();
    }
    let now = deletes_of(table);
    let hop = |old: &Arc<Block>| {
        let new = now.get(&Arc::as_ptr(old.deletes()))?;
        let went = Went::Whole(new.id(), new.rows(), new.deletes().clone());
        Some((RowId::in_block(old.id(), 0), went))
    };
    gone.filter_map(hop).collect()
}

/// Tables that were changed go on with the rows that were committed since.
pub(super) fn carry_deltas(before: &Catalog, catalog: &mut Catalog) -> Result<()> {
    for entry in catalog.schemas.values_mut() {
        for table in entry.tables.values_mut() {
            let Some(known) = before.table_by_id(table.id) else {
                continue;
            };
            if Arc::ptr_eq(known.delta(), table.delta()) {
                continue;
            }
            let first = table.delta().first();
            let delta = known.delta().from(table.schema.clone(), first);
            if !same_tuples(&known.schema.columns, &table.schema.columns) && delta.rows() > 0 {
                return Err(Error::Conflict {
                    message: format!("rows of table \"{}\" were changed meanwhile", table.name),
                });
            }
            let (name, options) = (table.name.clone(), table.options.clone());
            let same = table.with(&name, options, table.blocks().to_vec());
            *table = Arc::new(same.with_delta(Arc::new(delta)));
        }
    }
    Ok(())
}

/// Whether rows of columns like these are rows of those: defaults make no difference.
fn same_tuples(these: &[Column], those: &[Column]) -> bool {
    let stored = |column: &Column| (column.name.clone(), column.kind, column.nullable);
    these.iter().map(stored).eq(those.iter().map(stored))
}

/// Deletes that blocks new in the catalog came with.
pub(super) fn carried_deletes(before: &Catalog, after: &Catalog) -> Vec<Part> {
    let known: HashSet<BlockId> = ids_of(before);
    let tables = after.all_tables().map(|(_, table)| {
        let new = table
            .blocks()
            .iter()
            .filter(|block| !known.contains(&block.id()));
        Part {
            table: table.id,
            first: 0,
            inserted: TupleBatch::default(),
            deleted: new
                .flat_map(|block| log::deleted_in(block.id(), block.deletes()))
                .collect(),
        }
    });
    tables.filter(|part| !part.deleted.is_empty()).collect()
}

/// Blocks and overlays that are in no table any more.
pub(super) fn left(before: &Catalog, named: &HashSet<BlockId>) -> Vec<(BlockId, Weak<()>)> {
    let gone = files_of(before).filter(|block| !named.contains(&block.id()));
    gone.map(|block| (block.id(), Arc::downgrade(block.needed())))
        .collect()
}
