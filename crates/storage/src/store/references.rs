//! FOREIGN KEY: every row that refers to another finds it.
//!
//! Checked at the end of a statement, against everything committed until then and the
//! transaction's own changes, and again at its commit if others committed since:
//! so of two transactions, one that adds a child and one that deletes its parent,
//! the later is refused. A check reads as of one commit: an update that is committed
//! meanwhile takes the old version of a row away before the new one is there.

use super::Catalog;
use super::keys::{described, key_of};
use crate::delta::{LATEST, OwnChanges, ReadView, RowHome};
use crate::error::{Error, Result};
use crate::ids::{IdMap, RowId, TableId};
use crate::scan::KeyLookUp;
use crate::schema::{Deferral, ForeignAction, ForeignKey, Value};
use crate::table::Table;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A transaction's changes by table.
pub(super) type Changes = IdMap<TableId, Arc<OwnChanges>>;

/// Commits up to a moment, and a transaction's own changes of one table.
fn view(own: &Changes, table: TableId, timestamp: u64) -> ReadView {
    ReadView {
        timestamp,
        own: own.get(&table).cloned(),
        own_before: u64::MAX,
    }
}

/// Which constraints a transaction checks at its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Deferred {
    /// What was last asked for all of them.
    all: Option<bool>,
    /// What was asked since for some, by table and name.
    named: HashMap<(TableId, String), bool>,
}

impl Deferred {
    /// Whether a constraint of a table is checked at the end of the transaction.
    pub(super) fn has(&self, table: TableId, name: &str, deferral: Deferral) -> bool {
        let initially = match deferral {
            Deferral::Never => return false,
            Deferral::Possible => false,
            Deferral::Initial => true,
        };
        let named = self.named.get(&(table, name.to_owned())).copied();
        named.or(self.all).unwrap_or(initially)
    }

    /// Sets when some constraints, or all of them, are checked.
    pub(super) fn set(&mut self, named: Option<&[(TableId, String)]>, deferred: bool) {
        match named {
            None => {
                self.named.clear();
                self.all = Some(deferred);
            }
            Some(named) => {
                let named = named.iter().cloned();
                self.named.extend(named.map(|key| (key, deferred)));
            }
        }
    }
}

/// Checks the references from and to the rows that a transaction changed in
/// `table`, of which the new ones count from row `first` on; other tables are
/// those of the first catalog that has them. Commits count up to `timestamp`: of a snapshot that
/// is held meanwhile, or the newest where nothing can be committed meanwhile. Says whether some
/// are left to the transaction's end.
///
/// # Errors
/// 23503 naming constraint, columns and values; `Conflict` if a later snapshot than the
/// transaction's has to decide.
pub(super) fn check(
    catalogs: &[&Catalog],
    own: &Changes,
    table: &Table,
    (first, deferred): (u64, Option<&Deferred>),
    (began, timestamp): (u64, u64),
) -> Result<bool> {
    let Some(changes) = own.get(&table.id) else {
        return Ok(false);
    };
    let is_deferred = |child: &Table, key: &ForeignKey| {
        deferred.is_some_and(|deferred| deferred.has(child.id, &key.name, key.deferral))
    };
    // Old versions of rows do not say whether the rows were deleted or changed.
    let restricts =
        |key: &ForeignKey| [key.on_delete, key.on_update].contains(&ForeignAction::Restrict);
    let mut skipped = false;
    if table.schema.unreferenced {
        return Ok(false);
    }
    for key in &table.schema.foreign_keys {
        if is_deferred(table, key) {
            skipped = true;
            continue;
        }
        // A row may be in blocks that only the transaction's own catalog has.
        let parents = versions(catalogs, key.parent);
        if parents.is_empty() {
            return Err(Error::Conflict {
                message: "a referenced table was dropped meanwhile".into(),
            });
        }
        check_children(
            &parents,
            own,
            table,
            key,
            (changes, first),
            (began, timestamp),
        )?;
    }
    if changes.deleted.is_empty() {
        return Ok(skipped);
    }
    let mut seen = HashSet::new();
    for (_, child) in catalogs.iter().flat_map(|catalog| catalog.all_tables()) {
        if seen.insert(Arc::as_ptr(child)) {
            let keys = child.schema.foreign_keys.iter();
            for key in keys.filter(|key| key.parent == table.id) {
                if is_deferred(child, key) && !restricts(key) {
                    skipped = true;
                    continue;
                }
                check_parents(
                    &versions(catalogs, table.id),
                    own,
                    table,
                    child,
                    key,
                    changes,
                    timestamp,
                )?;
            }
        }
    }
    Ok(skipped)
}

/// Whether all keys that foreign keys of other tables may refer to are still there after a
/// transaction's changes of a table.
pub(super) fn keeps_keys(catalog: &Catalog, own: &Changes, table: &Arc<Table>) -> Result<bool> {
    let Some(changes) = own.get(&table.id) else {
        return Ok(true);
    };
    // The table is held: nothing is committed to it.
    let mine = view(own, table.id, LATEST);
    let mut known = HashSet::new();
    for child in catalog.children(table.id) {
        let keys = child.schema.foreign_keys.iter();
        for key in keys.filter(|key| key.parent == table.id) {
            if !known.insert(key.parent_columns.clone()) {
                continue;
            }
            let still = KeyLookUp::prepare(&table.schema, &key.parent_columns, &[])?.of_reader();
            for values in deleted_keys(table, changes, &key.parent_columns)? {
                if !is_there(&[table], &mine, &still, &values)? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// A table as the catalogs have it, each version once.
fn versions<'a>(catalogs: &[&'a Catalog], id: TableId) -> Vec<&'a Arc<Table>> {
    let mut found: Vec<&Arc<Table>> = Vec::new();
    for table in catalogs
        .iter()
        .filter_map(|catalog| catalog.table_by_id(id))
    {
        if !found.iter().any(|known| Arc::ptr_eq(known, table)) {
            found.push(table);
        }
    }
    found
}

/// Whether a version of a table has a row with this key.
fn is_there(
    versions: &[&Arc<Table>],
    view: &ReadView,
    look_up: &KeyLookUp,
    key: &[Value],
) -> Result<bool> {
    for table in versions {
        if !table.find(view, look_up, key)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// New rows must have a parent. A parent that the snapshot `began` has, and that is gone since,
/// is a conflict.
fn check_children(
    parents: &[&Arc<Table>],
    own: &Changes,
    table: &Table,
    key: &ForeignKey,
    (changes, first): (&OwnChanges, u64),
    (began, timestamp): (u64, u64),
) -> Result<()> {
    let parent = parents[0];
    let look_up = KeyLookUp::prepare(&parent.schema, &key.parent_columns, &[])?.of_reader();
    let view = |table, timestamp| view(own, table, timestamp);
    let (mine, theirs) = (view(table.id, timestamp), view(parent.id, timestamp));
    let mut known = HashSet::new();
    for fragment in &changes.fragments {
        if fragment.first() + fragment.len() as u64 <= first {
            continue;
        }
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
            if !is_there(parents, &theirs, &look_up, &values)? {
                if is_there(parents, &view(parent.id, began), &look_up, &values)? {
                    let message = format!(
                        "a row of table \"{}\" that is referred to was deleted by another transaction",
                        parent.name
                    );
                    return Err(Error::Conflict { message });
                }
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
    parents: &[&Arc<Table>],
    own: &Changes,
    table: &Table,
    child: &Table,
    key: &ForeignKey,
    changes: &OwnChanges,
    timestamp: u64,
) -> Result<()> {
    let still = KeyLookUp::prepare(&table.schema, &key.parent_columns, &[])?.of_reader();
    let children = KeyLookUp::prepare(&child.schema, &key.columns, &[])?;
    let view = |table| view(own, table, timestamp);
    let (mine, theirs) = (view(table.id), view(child.id));
    let mut known = HashSet::new();
    for values in deleted_keys(table, changes, &key.parent_columns)? {
        if !known.insert(format!("{values:?}")) {
            continue;
        }
        if !is_there(parents, &mine, &still, &values)?
            && !child.find(&theirs, &children, &values)?.is_empty()
        {
            let follows =
                |action| matches!(action, ForeignAction::Cascade | ForeignAction::SetNull);
            if follows(key.on_delete) && follows(key.on_update) {
                // They were not there when the others were made to follow.
                let message = format!("rows of table \"{}\" came meanwhile", child.name);
                return Err(Error::Conflict { message });
            }
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
                RowHome::Block(_) | RowHome::Fragment(_) => key_at(table, home.row(row), columns)?,
            };
            keys.extend(key);
        }
    }
    Ok(keys)
}

/// The key of a row that is committed; `None` if one of its values is NULL, or there is no such row.
pub(super) fn key_at(table: &Table, row: RowId, columns: &[usize]) -> Result<Option<Vec<Value>>> {
    let values = table.row(&ReadView::at(LATEST), row, columns)?;
    Ok(values.and_then(|values| values.into_iter().collect()))
}
