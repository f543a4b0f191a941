//! Locks of the keys that foreign keys refer to.
//!
//! A row that is added shares the key of its parent until its transaction ends, so that who deletes
//! the parent waits, and is then told that it is referred to. Who deletes a parent, or gives it another
//! key, holds the key alone: who adds a child waits, and is then told that the parent is gone.
//!
//! Keys are locked before anything is changed. A transaction that has locked 65,536 keys locks no
//! more: the check at its commit still finds what is wrong. So does that of constraints that are
//! checked at the end of the transaction.

use super::Catalog;
use super::locks::{LockMode, Locked};
use super::references::key_at;
use super::rows::{MOST_KEYS, Stopped};
use super::transaction::Transaction;
use crate::delta::{TupleBatch, TupleShape};
use crate::error::{Error, Result};
use crate::ids::{RowId, RowPlace, TableId};
use crate::schema::Value;
use crate::table::Table;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The columns of keys of a table that foreign keys refer to, each key once.
pub(super) fn keys_of(catalog: &Catalog, table: TableId) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (_, child) in catalog.all_tables() {
        for key in &child.schema.foreign_keys {
            if key.parent == table && !found.contains(&key.parent_columns) {
                found.push(key.parent_columns.clone());
            }
        }
    }
    found
}

/// The hash of a key, which is the same for equal values of types that foreign keys compare.
fn hash_of(columns: &[usize], values: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    columns.hash(&mut hasher);
    for value in values {
        match value {
            Value::Bool(value) => value.hash(&mut hasher),
            Value::Int(value) => value.hash(&mut hasher),
            // Both zeros are one value.
            Value::Float(value) => (value + 0.0).to_bits().hash(&mut hasher),
            Value::Bytes(value) => value.hash(&mut hasher),
        }
    }
    hasher.finish()
}

impl Transaction {
    /// Shares the keys that new rows of a table refer to; of rows that take the place of others
    /// those alone whose columns are `assigned`.
    ///
    /// # Errors
    /// `Conflict` if another transaction is about to take one of them away.
    pub(super) fn lock_parents(
        &mut self,
        table: &Table,
        (shape, tuples): (&TupleShape, &TupleBatch),
        assigned: Option<&[usize]>,
    ) -> Result<()> {
        if table.schema.foreign_keys.is_empty() {
            return Ok(());
        }
        if table.schema.unreferenced {
            self.secured.has_unlocked();
            return Ok(());
        }
        for key in &table.schema.foreign_keys {
            let is_new = |columns: &[usize]| key.columns.iter().any(|at| columns.contains(at));
            let is_later = self.deferred.has(table.id, &key.name, key.deferral);
            if is_later {
                self.secured.has_unlocked();
            }
            if is_later || assigned.is_some_and(|columns| !is_new(columns)) {
                continue;
            }
            let of_tuple = |tuple| {
                let values = key.columns.iter().map(|at| shape.value(tuple, *at));
                let values = values.collect::<Option<Vec<Value>>>()?;
                Some(hash_of(&key.parent_columns, &values))
            };
            let hashes: HashSet<u64> = tuples.iter().filter_map(of_tuple).collect();
            self.refer(key.parent, hashes, LockMode::Share)?;
        }
        Ok(())
    }

    /// Takes for itself the keys that rows of a table are about to lose: they are deleted, or have
    /// the keys of the tuples from now on.
    ///
    /// # Errors
    /// `Conflict` if another transaction refers to one of them; `Corrupt` or `Io`.
    pub(super) fn lock_referred(
        &mut self,
        table: &Table,
        rows: &[RowId],
        new: Option<(&TupleShape, &TupleBatch)>,
    ) -> Result<()> {
        for columns in keys_of(&self.catalog, table.id) {
            let mut hashes = HashSet::new();
            let mut tuples = new.map(|(shape, tuples)| (shape, tuples.iter()));
            for row in rows {
                let tuple = tuples
                    .as_mut()
                    .and_then(|(shape, tuples)| Some((*shape, tuples.next()?)));
                // Its own rows are seen by no other transaction.
                if matches!(row.place(), RowPlace::Own(_)) {
                    continue;
                }
                let Some(old) = key_at(table, *row, &columns)? else {
                    continue;
                };
                let stays = tuple.is_some_and(|(shape, tuple)| {
                    let mut pairs = columns.iter().zip(&old);
                    pairs.all(|(at, old)| shape.value(tuple, *at).as_ref() == Some(old))
                });
                if !stays {
                    hashes.insert(hash_of(&columns, &old));
                }
            }
            self.refer(table.id, hashes, LockMode::Update)?;
        }
        Ok(())
    }

    /// Locks one key of a row: shares it for [`LockMode::KeyShare`], or takes it alone.
    ///
    /// # Errors
    /// `Conflict` if another transaction does not let it; `Corrupt` or `Io`.
    pub(super) fn lock_key(
        &mut self,
        table: &Table,
        row: RowId,
        columns: &[usize],
        mode: LockMode,
    ) -> Result<()> {
        let Some(values) = key_at(table, row, columns)? else {
            return Ok(());
        };
        let mode = match mode {
            LockMode::KeyShare => LockMode::Share,
            mode => mode,
        };
        let key = HashSet::from([hash_of(columns, &values)]);
        self.refer(table.id, key, mode)
    }

    /// Lets go the keys that it has locked since it had locked so many.
    pub(super) fn unlock_keys(&mut self, before: usize) {
        let referred = self.referred.split_off(before);
        let locked = Locked {
            rows: &[],
            tables: &[],
            keys: &[],
            referred: &referred,
        };
        self.store.locks.release(self.number, locked, false);
    }

    fn refer(&mut self, parent: TableId, keys: HashSet<u64>, mode: LockMode) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        if self.referred.len() + keys.len() > MOST_KEYS {
            self.secured.has_unlocked();
            return Ok(());
        }
        let keys: Vec<u64> = keys.into_iter().collect();
        let locks = &self.store.locks;
        let taken = locks.refer((parent, &keys), mode, self.number, &mut self.referred);
        if let Err(holder) = taken {
            self.stopped = Some(Stopped::ByAnother(holder));
            let message = match mode {
                LockMode::Share => {
                    "another transaction is about to take away a key that is referred to"
                }
                _ => "another transaction has added a row that refers to a key",
            };
            return Err(Error::Conflict {
                message: message.into(),
            });
        }
        self.has_locked = true;
        Ok(())
    }
}
