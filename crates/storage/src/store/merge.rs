//! Two changes of the catalog that were made side by side, as one.
//!
//! A transaction changes a draft of the catalog it began with. When it commits,
//! others may have committed changes since. What only one of them changed is
//! taken from that one; the blocks of a table may be changed by both, as long
//! as what one removed is still there. Anything else is a conflict.

use super::catalog::{Catalog, SchemaEntry};
use crate::block::Block;
use crate::error::{Error, Result};
use crate::ids::{BlockId, TableId};
use crate::roles::Roles;
use crate::table::Table;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Says whether others have changed a table since.
type Changed<'a> = &'a dyn Fn(TableId) -> bool;

fn conflict(what: &str) -> Error {
    Error::Conflict {
        message: format!("{what} was changed meanwhile"),
    }
}

/// The changes from `base` to `draft`, made to `latest`. Tables that `changed` does
/// not know are those of `base`, though their rows may have other places.
///
/// # Errors
/// `Conflict` if both changed the same thing.
pub(super) fn merge(
    base: &Catalog,
    draft: &Catalog,
    latest: &Catalog,
    changed: Changed<'_>,
) -> Result<Catalog> {
    let mut merged = latest.clone();
    merged.next_table = latest.next_table.max(draft.next_table);
    for (name, entry) in &draft.schemas {
        match base.schemas.get(name) {
            None => {
                if merged.schemas.insert(name.clone(), entry.clone()).is_some() {
                    return Err(conflict(&format!("schema \"{name}\"")));
                }
            }
            Some(before) => {
                let missing = || conflict(&format!("schema \"{name}\""));
                let now = merged.schemas.get_mut(name);
                merge_schema(before, entry, now, changed, missing)?;
            }
        }
    }
    for (name, before) in &base.schemas {
        if draft.schemas.contains_key(name) {
            continue;
        }
        let unchanged = latest
            .schemas
            .get(name)
            .is_some_and(|now| same_entry(before, now, |a, b| is_unchanged(a, b, changed)));
        if !unchanged {
            return Err(conflict(&format!("schema \"{name}\"")));
        }
        merged.schemas.remove(name);
    }
    if !Arc::ptr_eq(&base.roles, &draft.roles) {
        merged.roles = Arc::new(merge_roles(&base.roles, &draft.roles, &latest.roles)?);
    }
    Ok(merged)
}

/// Roles, and owners and grants of objects, of which each was changed by one only.
fn merge_roles(base: &Roles, draft: &Roles, latest: &Roles) -> Result<Roles> {
    let mut merged = latest.clone();
    let role = |name: &String| conflict(&format!("role \"{name}\""));
    merge_each(&base.roles, &draft.roles, &mut merged.roles, role)?;
    let access = |_: &_| conflict("a privilege");
    merge_each(&base.access, &draft.access, &mut merged.access, access)?;
    Ok(merged)
}

fn merge_each<K: Ord + Clone, V: Clone + PartialEq>(
    base: &BTreeMap<K, V>,
    draft: &BTreeMap<K, V>,
    latest: &mut BTreeMap<K, V>,
    conflict: impl Fn(&K) -> Error,
) -> Result<()> {
    let gone = base.keys().filter(|key| !draft.contains_key(*key));
    for key in draft.keys().chain(gone) {
        let (before, after) = (base.get(key), draft.get(key));
        if before == after {
            continue;
        }
        if latest.get(key) != before {
            return Err(conflict(key));
        }
        match after {
            Some(value) => latest.insert(key.clone(), value.clone()),
            None => latest.remove(key),
        };
    }
    Ok(())
}

/// Whether a table is as it was, but for the places of its rows.
fn is_unchanged(before: &Arc<Table>, now: &Arc<Table>, changed: Changed<'_>) -> bool {
    before.id == now.id && (Arc::ptr_eq(before, now) || !changed(now.id))
}

/// Whether schemas have the same things in them, their tables compared by `same`.
pub(super) fn same_entry(
    a: &SchemaEntry,
    b: &SchemaEntry,
    same: impl Fn(&Arc<Table>, &Arc<Table>) -> bool,
) -> bool {
    let tables = a.tables.len() == b.tables.len()
        && a.tables
            .iter()
            .all(|(name, table)| b.tables.get(name).is_some_and(|other| same(table, other)));
    tables
        && a.views == b.views
        && a.functions == b.functions
        && a.types == b.types
        && same_sequences(a, b)
}

fn same_sequences(a: &SchemaEntry, b: &SchemaEntry) -> bool {
    let (a, b) = (&a.sequences, &b.sequences);
    let same = |(name, sequence)| {
        b.get(name)
            .is_some_and(|other| Arc::ptr_eq(sequence, other))
    };
    a.len() == b.len() && a.iter().all(same)
}

fn merge_schema(
    base: &SchemaEntry,
    draft: &SchemaEntry,
    latest: Option<&mut SchemaEntry>,
    others: Changed<'_>,
    missing: impl Fn() -> Error,
) -> Result<()> {
    if same_entry(base, draft, Arc::ptr_eq) {
        return Ok(());
    }
    let latest = latest.ok_or_else(missing)?;
    let same = |a: &Arc<Table>, b: &Arc<Table>| Arc::ptr_eq(a, b);
    let tables = changes(&base.tables, &draft.tables, same);
    // Names given up come first, so that a new table may take the name of an old one.
    for (name, change) in &tables {
        if change.is_none() {
            let before = base.tables.get(name);
            let gone = latest.tables.remove(name);
            let both = before.zip(gone.as_ref());
            let unchanged = both.is_some_and(|(a, b)| is_unchanged(a, b, others));
            if !unchanged {
                return Err(conflict(&format!("table \"{name}\"")));
            }
        }
    }
    for (name, table) in tables
        .into_iter()
        .filter_map(|(name, table)| Some((name, table?)))
    {
        let before = base.tables.get(&name);
        let now = latest.tables.get(&name);
        let table = match (before, now) {
            (None, None) => table,
            (Some(before), Some(now)) if same(before, now) => table,
            (Some(before), Some(now)) => Arc::new(merge_table(before, &table, now)?),
            _ => return Err(conflict(&format!("table \"{name}\""))),
        };
        latest.tables.insert(name, table);
    }
    merge_sequences(base, draft, latest)?;
    for (name, view) in changes(&base.views, &draft.views, |a, b| a == b) {
        if latest.views.get(&name) != base.views.get(&name) {
            return Err(conflict(&format!("view \"{name}\"")));
        }
        match view {
            Some(view) => latest.views.insert(name, view),
            None => latest.views.remove(&name),
        };
    }
    for (name, sql) in changes(&base.functions, &draft.functions, |a, b| a == b) {
        if latest.functions.get(&name) != base.functions.get(&name) {
            return Err(conflict(&format!("function \"{name}\"")));
        }
        match sql {
            Some(sql) => latest.functions.insert(name, sql),
            None => latest.functions.remove(&name),
        };
    }
    for (name, stored) in changes(&base.types, &draft.types, |a, b| a == b) {
        if latest.types.get(&name) != base.types.get(&name) {
            return Err(conflict(&format!("type \"{name}\"")));
        }
        match stored {
            Some(stored) => latest.types.insert(name, stored),
            None => latest.types.remove(&name),
        };
    }
    Ok(())
}

/// Sequences that were added, declared anew and removed; that numbers were taken
/// from them is no change of the catalog.
fn merge_sequences(
    base: &SchemaEntry,
    draft: &SchemaEntry,
    latest: &mut SchemaEntry,
) -> Result<()> {
    for (name, sequence) in changes(&base.sequences, &draft.sequences, Arc::ptr_eq) {
        let (before, now) = (base.sequences.get(&name), latest.sequences.get(&name));
        let taken = before.is_none() && latest.has_relation(&name);
        if taken || before.map(Arc::as_ptr) != now.map(Arc::as_ptr) {
            return Err(conflict(&format!("sequence \"{name}\"")));
        }
        match sequence {
            Some(sequence) => latest.sequences.insert(name, sequence),
            None => latest.sequences.remove(&name),
        };
    }
    Ok(())
}

/// What is new or other in `draft`, and, as `None`, what is no more.
fn changes<T: Clone>(
    base: &BTreeMap<String, T>,
    draft: &BTreeMap<String, T>,
    same: impl Fn(&T, &T) -> bool,
) -> Vec<(String, Option<T>)> {
    let new = draft
        .iter()
        .filter(|(name, value)| base.get(*name).is_none_or(|before| !same(before, value)));
    let gone = base.keys().filter(|name| !draft.contains_key(*name));
    new.map(|(name, value)| (name.clone(), Some(value.clone())))
        .chain(gone.map(|name| (name.clone(), None)))
        .collect()
}

/// Blocks that were added and removed on both sides.
fn merge_table(base: &Table, draft: &Table, latest: &Table) -> Result<Table> {
    let conflict = || conflict(&format!("table \"{}\"", base.name));
    let declared = |table: &Table| (table.schema.clone(), table.former().to_vec());
    let same_columns = declared(base) == declared(draft) && declared(base) == declared(latest);
    // The tuple mover may have found bounds of ranges meanwhile; those stay.
    let same_options =
        base.options == draft.options && base.options.same_but_bounds(&latest.options);
    let only_blocks = same_columns && same_options;
    let same_delta = Arc::ptr_eq(base.delta(), draft.delta());
    if base.id != draft.id || base.id != latest.id || !only_blocks || !same_delta {
        return Err(conflict());
    }
    let ids = |table: &Table| table.block_ids().into_iter().collect::<HashSet<_>>();
    let (before, after, now) = (ids(base), ids(draft), ids(latest));
    let removed: HashSet<_> = before.difference(&after).copied().collect();
    if !removed.is_subset(&now) {
        return Err(conflict());
    }
    // Blocks that the draft laid columns over must be as they were.
    let mut laid: HashMap<BlockId, &Arc<Block>> = HashMap::new();
    for block in draft.blocks() {
        let same = |known: Option<&Arc<Block>>, of: &Block| {
            known.is_some_and(|known| known.info() == of.info())
        };
        let Some(old) = base.block(block.id()) else {
            continue;
        };
        if !same(Some(old), block) {
            if !same(latest.block(block.id()), old) {
                return Err(conflict());
            }
            laid.insert(block.id(), block);
        }
    }
    let kept = latest.blocks().iter();
    let kept = kept.filter(|block| !removed.contains(&block.id()));
    let kept = kept.map(|block| laid.get(&block.id()).copied().unwrap_or(block));
    let added = draft
        .blocks()
        .iter()
        .filter(|block| !before.contains(&block.id()));
    let blocks = kept.chain(added).cloned().collect();
    Ok(latest.with(&latest.name, latest.options.clone(), blocks))
}
