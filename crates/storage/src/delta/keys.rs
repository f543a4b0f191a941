//! From keys to rows of the delta, in the order of the keys.
//!
//! An entry is a key as bytes, then the number of its row. The bytes of a key sort as its values
//! do, first column first, so that the rows with a key, with values of its first columns, or with
//! a range of the next one are neighbours:
//!
//! ```text
//! (w, d, o) = (1, 7, 3001), row 5    00 80000001  00 80000007  00 80000bb9  0000000000000005
//! w = 1 AND d = 7 AND o > 3000       from 00 80000001  00 80000007  00 80000bb9
//!                                    to   00 80000001  00 80000008
//! ```
//!
//! A value begins with 0 and NULL is 1, so that NULLs come last. Bytes that vary in length end
//! with two zeros, and a zero among them is followed by 255. The versions of a row that does not
//! change its key lie next to each other, the newest last.

use super::fragment::Fragment;
use super::key_bytes::KeyBytes;
use super::tuple::TupleShape;
use crate::error::Result;
use crate::index::key::normal;
use crate::predicate::Conditions;
use crate::schema::{Physical, TableSchema, Value};
use parking_lot::RwLock;
use std::collections::BTreeSet;
use std::ops::{Bound, Deref};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows by their keys; see the module.
#[derive(Debug)]
pub struct KeyMap {
    columns: Vec<usize>,
    kinds: Vec<Physical>,
    entries: RwLock<BTreeSet<KeyBytes>>,
    /// Memory that the entries take.
    bytes: AtomicUsize,
}

/// Bytes of a row's number.
const NUMBER: usize = 8;
/// Bytes of memory that an entry takes in a node of the tree, about: nodes are not full.
const ENTRY: usize = 48;

impl KeyMap {
    /// One for each set of columns that is a key of the table or has an index.
    pub fn all_of(schema: &TableSchema) -> Vec<KeyMap> {
        let keys = schema.keys.iter().map(|key| &key.columns);
        let indexes = schema.indexes.iter().filter(|index| index.kind.has_parts());
        let indexes = indexes.map(|index| &index.columns);
        let mut maps: Vec<KeyMap> = Vec::new();
        for columns in keys.chain(indexes) {
            if maps.iter().all(|map| map.columns != *columns) {
                let kinds = columns.iter();
                let kinds = kinds.map(|column| schema.columns[*column].kind.physical());
                maps.push(KeyMap {
                    kinds: kinds.collect(),
                    columns: columns.clone(),
                    entries: RwLock::default(),
                    bytes: AtomicUsize::new(0),
                });
            }
        }
        maps
    }

    /// The same, with the rows of some fragments.
    pub fn over(schema: &TableSchema, fragments: &[Arc<Fragment>]) -> Vec<KeyMap> {
        let maps = KeyMap::all_of(schema);
        for fragment in fragments {
            let tuples = fragment.read();
            for row in 0..tuples.len() {
                if fragment.deletes.is_gone(row) {
                    continue;
                }
                let number = fragment.first() + u64::from(row);
                for map in &maps {
                    map.insert(fragment.shape(), tuples.tuple(row), number);
                }
            }
        }
        maps
    }

    /// The key's columns.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Bytes of memory that its entries take, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Adds a row by its tuple.
    pub fn insert(&self, shape: &TupleShape, tuple: &[u8], number: u64) {
        let entry = self.entry(shape, tuple, number);
        let bytes = entry.apart() + ENTRY;
        if self.entries.write().insert(entry) {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    pub(super) fn remove(&self, shape: &TupleShape, tuple: &[u8], number: u64) {
        let entry = self.entry(shape, tuple, number);
        if self.entries.write().remove(&entry) {
            self.bytes
                .fetch_sub(entry.apart() + ENTRY, Ordering::Relaxed);
        }
    }

    fn entry(&self, shape: &TupleShape, tuple: &[u8], number: u64) -> KeyBytes {
        let mut bytes = Vec::with_capacity(self.columns.len() * 9 + NUMBER);
        for (column, kind) in self.columns.iter().zip(&self.kinds) {
            add(&mut bytes, *kind, shape.stored(tuple, *column));
        }
        bytes.extend_from_slice(&number.to_be_bytes());
        bytes.as_slice().into()
    }

    /// Shows `visit` the numbers of the rows with these values of the key's columns, none of them
    /// NULL, newest first, until it returns true.
    ///
    /// A row that is changed often has a version here for each change since the last merge. A
    /// reader of a unique key wants one of them, as a rule the last. The numbers are copied in
    /// small parts, the first of them the smallest, so that `visit` runs without the lock.
    pub fn visit_newest(&self, key: &[Stored<'_>], mut visit: impl FnMut(u64) -> bool) {
        const FIRST: usize = 2;
        const PART: usize = 16;
        let mut bounds = Vec::with_capacity(2 * (key.len() * 9 + NUMBER));
        for (kind, value) in self.kinds.iter().zip(key) {
            add(&mut bounds, *kind, Some(value));
        }
        let end = bounds.len();
        bounds.extend_from_slice(&[0; NUMBER]);
        bounds.extend_from_within(..end);
        // No row has the greatest number.
        bounds.extend_from_slice(&[u8::MAX; NUMBER]);
        let (low, high) = bounds.split_at_mut(end + NUMBER);
        let mut part = FIRST;
        loop {
            let mut numbers = [0; PART];
            let mut count = 0;
            {
                let within = (Bound::Included(&*low), Bound::Excluded(&*high));
                let entries = self.entries.read();
                for entry in entries.range::<[u8], _>(within).rev().take(part) {
                    numbers[count] = number_of(entry);
                    count += 1;
                }
            }
            if numbers[..count].iter().any(|number| visit(*number)) || count < part {
                return;
            }
            high[end..].copy_from_slice(&numbers[count - 1].to_be_bytes());
            part = PART;
        }
    }

    /// How many of the key's columns conditions bound: the first ones by equality, and the next
    /// by a range. No other row can meet the conditions than those that [`KeyMap::rows`] gives.
    pub fn bounded(&self, conditions: &Conditions<'_>) -> usize {
        let equal = self.equal(conditions);
        equal + usize::from(self.range_after(equal, conditions).is_some())
    }

    /// Whether the rows that [`KeyMap::rows`] gives for conditions all meet them.
    pub fn decides(&self, conditions: &Conditions<'_>) -> bool {
        conditions.are_equalities_of(&self.columns[..self.equal(conditions)])
    }

    /// The numbers of the rows within the bounds of conditions, each once in ascending order;
    /// `None` if there are more than `most`.
    pub fn rows(&self, conditions: &Conditions<'_>, most: usize) -> Option<Vec<u64>> {
        let equal = self.equal(conditions);
        let tuples = conditions.all_equal(&self.columns[..equal])?;
        let range = self.range_after(equal, conditions);
        let mut numbers = Vec::new();
        for tuple in tuples {
            let Some((low, high)) = self.within(equal, &tuple, range.as_ref()) else {
                continue;
            };
            let entries = self.entries.read();
            for entry in entries.range::<[u8], _>(between(&low, high.as_deref())) {
                if numbers.len() == most {
                    return None;
                }
                numbers.push(number_of(entry));
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Some(numbers)
    }

    /// Whether conditions give the first columns one value each, and this column is the next
    /// one: then [`KeyMap::visit_in_order`] goes by it.
    pub fn is_in_order_of(&self, column: usize, conditions: &Conditions<'_>) -> bool {
        let equal = self.equal(conditions);
        self.columns.get(equal) == Some(&column)
            && conditions.combinations(&self.columns[..equal]) == Some(1)
    }

    /// Shows `visit` the numbers of the rows within the bounds of conditions in the order of
    /// the column that follows those with one value, until it returns true. The numbers are
    /// copied in small parts, so that `visit` runs without the lock.
    ///
    /// # Errors
    /// An error of `visit`.
    pub fn visit_in_order(
        &self,
        conditions: &Conditions<'_>,
        descending: bool,
        mut visit: impl FnMut(u64) -> Result<bool>,
    ) -> Result<()> {
        const PART: usize = 32;
        let equal = self.equal(conditions);
        let tuples = conditions.all_equal(&self.columns[..equal]);
        let range = self.range_after(equal, conditions);
        let bounds = tuples.iter().flatten().next();
        let bounds = bounds.and_then(|tuple| self.within(equal, tuple, range.as_ref()));
        let Some((low, high)) = bounds else {
            return Ok(());
        };
        let mut seen: Option<KeyBytes> = None;
        loop {
            let mut numbers = [0; PART];
            let mut count = 0;
            {
                let entries = self.entries.read();
                let (mut from, mut to) = between(&low, high.as_deref());
                match &seen {
                    Some(last) if descending => to = Bound::Excluded(last),
                    Some(last) => from = Bound::Excluded(last),
                    None => {}
                }
                let mut range = entries.range::<[u8], _>((from, to));
                let mut last = None;
                while count < PART {
                    let next = match descending {
                        true => range.next_back(),
                        false => range.next(),
                    };
                    let Some(entry) = next else {
                        break;
                    };
                    numbers[count] = number_of(entry);
                    count += 1;
                    last = Some(entry);
                }
                if let Some(last) = last {
                    seen = Some(last.clone());
                }
            }
            for number in &numbers[..count] {
                if visit(*number)? {
                    return Ok(());
                }
            }
            if count < PART {
                return Ok(());
            }
        }
    }

    /// The bytes from which and before which entries lie whose first columns have these values
    /// and whose next one is within a range; `None` if there are none.
    fn within(
        &self,
        equal: usize,
        tuple: &[Value],
        range: Option<&(Bound<Value>, Bound<Value>)>,
    ) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let stored = tuple.iter().zip(&self.kinds);
        let stored = stored.map(|(value, kind)| stored_key(value, *kind));
        // A value that the column cannot have is in no row.
        let stored = stored.collect::<Option<Vec<_>>>()?;
        let mut prefix = Vec::new();
        for (kind, value) in self.kinds.iter().zip(&stored) {
            add(&mut prefix, *kind, Some(value));
        }
        let (low, high) = match range {
            None => (prefix.clone(), after(prefix)),
            Some((low, high)) => self.bounds(equal, prefix, (low.as_ref(), high.as_ref())),
        };
        let is_empty = high.as_ref().is_some_and(|high| low >= *high);
        (!is_empty).then_some((low, high))
    }

    /// How many of the first columns have to equal values.
    fn equal(&self, conditions: &Conditions<'_>) -> usize {
        let mut equal = 0;
        while equal < self.columns.len()
            && !is_float(self.kinds[equal])
            && conditions.combinations(&self.columns[..=equal]).is_some()
        {
            equal += 1;
        }
        equal
    }

    /// The bounds of the column after the first `equal` ones, if it has any.
    fn range_after(
        &self,
        equal: usize,
        conditions: &Conditions<'_>,
    ) -> Option<(Bound<Value>, Bound<Value>)> {
        let column = self.columns.get(equal)?;
        if is_float(self.kinds[equal]) {
            return None;
        }
        conditions.range(*column, &mut true)
    }

    /// The bytes from which and before which entries lie whose first columns are `prefix` and
    /// whose next one is between two values.
    fn bounds(
        &self,
        column: usize,
        prefix: Vec<u8>,
        (low, high): (Bound<&Value>, Bound<&Value>),
    ) -> (Vec<u8>, Option<Vec<u8>>) {
        let kind = self.kinds[column];
        let with = |value: &Value| {
            let value = stored_key(value, kind)?;
            let mut bytes = prefix.clone();
            add(&mut bytes, kind, Some(&value));
            Some(bytes)
        };
        // A bound that the column cannot have is left to the conditions.
        let first = match low {
            Bound::Included(value) => with(value),
            Bound::Excluded(value) => with(value).and_then(after),
            Bound::Unbounded => None,
        };
        let last = match high {
            Bound::Included(value) => with(value).and_then(after),
            Bound::Excluded(value) => with(value),
            Bound::Unbounded => None,
        };
        let first = first.unwrap_or_else(|| prefix.clone());
        (first, last.or_else(|| after(prefix)))
    }
}

/// The entries from some bytes on and before others.
fn between<'a>(low: &'a [u8], high: Option<&'a [u8]>) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    let high = high.map_or(Bound::Unbounded, Bound::Excluded);
    (Bound::Included(low), high)
}

/// The least bytes that are greater than all that begin with these; `None` if there are none.
fn after(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = bytes.pop() {
        if last < u8::MAX {
            bytes.push(last + 1);
            return Some(bytes);
        }
    }
    None
}

/// The number of an entry's row.
fn number_of(entry: &[u8]) -> u64 {
    let number = entry.last_chunk::<NUMBER>();
    number.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

fn is_float(kind: Physical) -> bool {
    matches!(kind, Physical::F32 | Physical::F64)
}

/// Adds a value in its stored form to a key.
fn add(key: &mut Vec<u8>, kind: Physical, stored: Option<&[u8]>) {
    let Some(stored) = stored else {
        key.push(1);
        return;
    };
    key.push(0);
    macro_rules! number {
        ($from:ident of $number:ty) => {
            if let Ok(bytes) = stored.try_into() {
                let number = <$number>::from_le_bytes(bytes);
                key.extend_from_slice(&normal::$from(number).to_be_bytes());
            }
        };
    }
    match kind {
        Physical::I16 => number!(from_i16 of i16),
        Physical::I32 => number!(from_i32 of i32),
        Physical::I64 => number!(from_i64 of i64),
        Physical::I128 => number!(from_i128 of i128),
        Physical::F32 => number!(from_f32 of f32),
        Physical::F64 => number!(from_f64 of f64),
        Physical::Bytes { .. } => {
            for byte in stored {
                key.push(*byte);
                if *byte == 0 {
                    key.push(u8::MAX);
                }
            }
            key.extend_from_slice(&[0, 0]);
        }
        Physical::Bool | Physical::Bytes16 | Physical::Interval => key.extend_from_slice(stored),
    }
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
