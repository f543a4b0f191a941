//! From keys to rows of the delta.

use super::tuple::TupleShape;
use crate::schema::{Physical, TableSchema, Value};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::ops::Deref;
use xxhash_rust::xxh3::Xxh3;

/// Rows by the hash of their key; rows with a NULL in it are not there.
#[derive(Debug)]
pub struct KeyMap {
    columns: Vec<usize>,
    rows: RwLock<HashMap<u64, Vec<u64>>>,
}

impl KeyMap {
    /// Bytes of memory that a row takes here, about: hash, list, and what is allocated for it.
    pub(super) const ROW_BYTES: usize = 72;

    /// One for each set of columns that is a key of the table or has an index.
    pub fn all_of(schema: &TableSchema) -> Vec<KeyMap> {
        let keys = schema.keys.iter().map(|key| &key.columns);
        let indexes = schema.indexes.iter().filter(|index| index.kind.has_parts());
        let indexes = indexes.map(|index| &index.columns);
        let mut maps: Vec<KeyMap> = Vec::new();
        for columns in keys.chain(indexes) {
            if maps.iter().all(|map| map.columns != *columns) {
                maps.push(KeyMap {
                    columns: columns.clone(),
                    rows: RwLock::default(),
                });
            }
        }
        maps
    }

    /// The key's columns.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Adds a row by its tuple.
    pub fn insert(&self, shape: &TupleShape, tuple: &[u8], number: u64) {
        if let Some(hash) = self.hash(shape, tuple) {
            self.rows.write().entry(hash).or_default().push(number);
        }
    }

    pub(super) fn remove(&self, shape: &TupleShape, tuple: &[u8], number: u64) {
        let Some(hash) = self.hash(shape, tuple) else {
            return;
        };
        let mut rows = self.rows.write();
        if let Some(numbers) = rows.get_mut(&hash) {
            numbers.retain(|known| *known != number);
            if numbers.is_empty() {
                rows.remove(&hash);
            }
        }
    }

    fn hash(&self, shape: &TupleShape, tuple: &[u8]) -> Option<u64> {
        key_hash(
            self.columns
                .iter()
                .map(|column| shape.stored(tuple, *column)),
        )
    }

    /// Numbers of the rows that may have a key of this hash, oldest first.
    pub fn candidates(&self, hash: u64) -> Vec<u64> {
        self.rows.read().get(&hash).cloned().unwrap_or_default()
    }

    /// Shows `visit` the numbers of the rows that may have a key of this hash, newest first,
    /// until it returns true.
    ///
    /// A row that is changed often has a version here for each change since the last merge. A
    /// reader of a unique key wants one of them, as a rule one of the last. The numbers are
    /// copied in small parts, so that `visit` runs without the lock; a row that a merge removes
    /// meanwhile may make it see a number twice.
    pub fn visit_newest(&self, hash: u64, mut visit: impl FnMut(u64) -> bool) {
        const PART: usize = 16;
        let mut end = usize::MAX;
        while end > 0 {
            let part: ([u64; PART], usize) = {
                let rows = self.rows.read();
                let Some(numbers) = rows.get(&hash) else {
                    return;
                };
                end = end.min(numbers.len());
                let begin = end.saturating_sub(PART);
                let mut part = [0; PART];
                let count = end - begin;
                part[..count].copy_from_slice(&numbers[begin..end]);
                end = begin;
                (part, count)
            };
            let (numbers, count) = part;
            if numbers[..count].iter().rev().any(|number| visit(*number)) {
                return;
            }
        }
    }
}

/// The hash of a key from the stored forms of its values; `None` if one is NULL.
pub fn key_hash<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Option<u64> {
    let mut hasher = Xxh3::new();
    for value in values {
        let value = value?;
        hasher.update(&(value.len() as u64).to_le_bytes());
        hasher.update(value);
    }
    Some(hasher.digest())
}

/// The stored form of a value.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a> {
    /// So many bytes of these.
    Fixed([u8; 16], usize),
    /// All of these.
    Bytes(&'a [u8]),
}

impl<const N: usize> From<[u8; N]> for Stored<'_> {
    /// Of a value of at most 16 bytes.
    fn from(bytes: [u8; N]) -> Self {
        let mut all = [0; 16];
        all[..N].copy_from_slice(&bytes);
        Stored::Fixed(all, N)
    }
}

impl Deref for Stored<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Stored::Fixed(bytes, len) => &bytes[..*len],
            Stored::Bytes(bytes) => bytes,
        }
    }
}

/// The stored form of a value; `None` for one that a column of this kind cannot have.
pub fn stored_key(value: &Value, physical: Physical) -> Option<Stored<'_>> {
    Some(match (value, physical) {
        (Value::Bool(value), Physical::Bool) => [u8::from(*value)].into(),
        (Value::Int(value), Physical::I16) => i16::try_from(*value).ok()?.to_le_bytes().into(),
        (Value::Int(value), Physical::I32) => i32::try_from(*value).ok()?.to_le_bytes().into(),
        (Value::Int(value), Physical::I64) => i64::try_from(*value).ok()?.to_le_bytes().into(),
        (Value::Int(value), Physical::I128) => value.to_le_bytes().into(),
        (Value::Float(value), Physical::F32) => {
            let single = *value as f32;
            let same = f64::from(single).to_bits() == value.to_bits();
            same.then(|| single.to_le_bytes().into())?
        }
        (Value::Float(value), Physical::F64) => value.to_le_bytes().into(),
        (Value::Bytes(bytes), Physical::Bytes { .. }) => Stored::Bytes(bytes),
        (Value::Bytes(bytes), Physical::Bytes16 | Physical::Interval) if bytes.len() == 16 => {
            Stored::Bytes(bytes)
        }
        _ => return None,
    })
}
