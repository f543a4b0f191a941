//! FOREIGN KEY: every row that refers to another finds it.
//!
//! Checked at the end of a statement, against everything committed and the
//! transaction's own changes, and again at its commit if others committed since:
//! so of two transactions, one that adds a child and one that deletes its parent,
//! the later is refused.

use super::Catalog;
use super::keys::{described, key_of};
use crate::block::Block;
use crate::delta::{LATEST, OwnChanges, ReadView, RowHome};
use crate::error::{Error, Result};
use crate::ids::TableId;
use crate::scan::KeyLookUp;
use crate::schema::{ForeignKey, Value};
use crate::table::Table;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A transaction's changes by table.
pub(super) type Changes = HashMap<TableId, Arc<OwnChanges>>;

/// Everything committed, and a transaction's own changes of one table.
fn view(own: &Changes, table: TableId) -> ReadView {
    ReadView {
        timestamp: LATEST,
        own: own.get(&table).cloned(),
        own_before: u64::MAX,
    }
}

/// Checks the references from and to the rows that a transaction changed in
/// `table`, of which the new ones count from row `first` on; other tables are
/// those of the first catalog that has them.
///
/// # Errors
/// 23503 naming constraint, columns and values.
pub(super) fn check(catalogs: &[&Catalog], own: &Changes, table: &Table, first: u64) -> Result<()> {
    let Some(changes) = own.get(&table.id) else {
        return Ok(());
    };
    for key in &table.schema.foreign_keys {
        let mut known = catalogs.iter();
        let parent = known.find_map(|catalog| catalog.table_by_id(key.parent));
        let parent = parent.ok_or_else(|| Error::Conflict {
            message: "a referenced table was dropped meanwhile".into(),
        })?;
        check_children(parent, own, table, key, changes, first)?;
    }
    let mut seen = HashSet::new();
    for (_, child) in catalogs.iter().flat_map(|catalog| catalog.all_tables()) {
        if seen.insert(child.id) {
            let keys = child.schema.foreign_keys.iter();
            for key in keys.filter(|key| key.parent == table.id) {
                check_parents(own, table, child, key, changes)?;
            }
        }
    }
    Ok(())
}

/// New rows must have a parent.
fn check_children(
    parent: &Table,
    own: &Changes,
    table: &Table,
    key: &ForeignKey,
    changes: &OwnChanges,
    first: u64,
) -> Result<()> {
    let look_up = KeyLookUp::prepare(&parent.schema, &key.parent_columns, &[])?;
    let (mine, theirs) = (view(own, table.id), view(own, parent.id));
    let mut known = HashSet::new();
    for fragment in &changes.fragments {
        let rows = mine.visible(RowHome::Own(fragment.first()), fragment);
        for row in rows {
            if fragment.first() + u64::from(row) < first {
                continue;
            }
            let values = key_of(fragment, row, &key.columns);
            let Some(values) = values else { continue };
            if !known.insert(format!("{values:?}")) {
                continue;
            }
            if parent.find(&theirs, &look_up, &values)?.is_empty() {
                let message = format!(
                    "insert or update on table \"{}\" violates foreign key constraint \"{}\": \
                     key {} is not present in table \"{}\"",
                    table.name,
                    key.name,
                    described(table, &key.columns, &values),
                    parent.name
                );
                return Err(Error::invalid("23503", message));
            }
        }
    }
    Ok(())
}

/// Rows that are gone, or have another key, must have no children left.
fn check_parents(
    own: &Changes,
    table: &Table,
    child: &Table,
    key: &ForeignKey,
    changes: &OwnChanges,
) -> Result<()> {
    let still = KeyLookUp::prepare(&table.schema, &key.parent_columns, &[])?;
    let children = KeyLookUp::prepare(&child.schema, &key.columns, &[])?;
    let (mine, theirs) = (view(own, table.id), view(own, child.id));
    let mut known = HashSet::new();
    for values in deleted_keys(table, changes, &key.parent_columns)? {
        if !known.insert(format!("{values:?}")) {
            continue;
        }
        if table.find(&mine, &still, &values)?.is_empty()
            && !child.find(&theirs, &children, &values)?.is_empty()
        {
            let message = format!(
                "update or delete on table \"{}\" violates foreign key constraint \"{}\" on \
                 table \"{}\": key {} is still referenced",
                table.name,
                key.name,
                child.name,
                described(table, &key.parent_columns, &values)
            );
            return Err(Error::invalid("23503", message));
        }
    }
    Ok(())
}

/// The keys of the rows that a transaction deleted.
fn deleted_keys(table: &Table, changes: &OwnChanges, columns: &[usize]) -> Result<Vec<Vec<Value>>> {
    let mut keys = Vec::new();
    for (home, rows) in &changes.deleted {
        for row in rows.rows() {
            let key = match home {
                RowHome::Own(first) => {
                    let found = changes.find(first + u64::from(row));
                    found.and_then(|(fragment, row)| key_of(&fragment, row, columns))
                }
                RowHome::Block(id) => {
                    let of_block = |block: &Arc<Block>| block.row(columns, row);
                    let values = table.block(*id).map(of_block).transpose()?;
                    values.and_then(|values| values.into_iter().collect())
                }
                RowHome::Fragment(first) => {
                    let found = table.delta().find(first + u64::from(row));
                    found.and_then(|(fragment, row)| key_of(&fragment, row, columns))
                }
            };
            keys.extend(key);
        }
    }
    Ok(keys)
}
