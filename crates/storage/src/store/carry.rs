//! What goes over from one catalog to the next beside what was changed.

use super::log::{self, Part};
use super::{Catalog, ids_of};
use crate::delta::TupleBatch;
use crate::error::{Error, Result};
use crate::ids::BlockId;
use std::collections::HashSet;
use std::sync::{Arc, Weak};

/// Keys in whole blocks were checked against what the transaction began with, so
/// a table with keys that got some may not have changed since.
pub(super) fn check_added_blocks(base: &Catalog, draft: &Catalog) -> Result<()> {
    for (_, table) in draft.all_tables() {
        let before = base.table_by_id(table.id);
        let new = |id: &BlockId| before.is_some_and(|before| before.block(*id).is_none());
        if before.is_some() && !table.schema.keys.is_empty() && table.block_ids().iter().any(new) {
            return Err(Error::Conflict {
                message: format!("table \"{}\" was changed meanwhile", table.name),
            });
        }
    }
    Ok(())
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
            if known.schema.columns != table.schema.columns && delta.rows() > 0 {
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

/// Blocks that are in no table any more.
pub(super) fn left(before: &Catalog, named: &HashSet<BlockId>) -> Vec<(BlockId, Weak<()>)> {
    let blocks = before.all_tables().flat_map(|(_, table)| table.blocks());
    let gone = blocks.filter(|block| !named.contains(&block.id()));
    gone.map(|block| (block.id(), Arc::downgrade(block.needed())))
        .collect()
}
