//! Groups found by one column of their key, as long as it determines the others.
//!
//! `GROUP BY c_custkey, c_name, c_address` has as many groups as `GROUP BY c_custkey`.
//! Whether that is so is guessed from the first rows and held against every later one:
//! other columns are compared with those of the group, which costs less than hashing
//! them, and their texts are kept without being looked up. One row to the contrary, and
//! the whole key counts, in this statement and in later ones with the same plan.

use super::texts::Texts;
use crate::Result;
use crate::vector::{Kind, Values, Vector};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that a guess needs at least.
const LEAST: usize = 512;
/// At most so many rows may share a value of the column on average.
const SHARED: usize = 8;

/// Which column of a key leads to its groups.
#[derive(Clone, Debug, Default)]
pub struct Lead(Arc<AtomicUsize>);

/// Nothing is known so far; columns are above [`NONE`].
const UNKNOWN: usize = 0;
/// The whole key counts.
const NONE: usize = 1;

impl Lead {
    pub(super) fn known(&self) -> Option<usize> {
        self.0.load(Ordering::Relaxed).checked_sub(NONE + 1)
    }

    /// From now on the whole key counts.
    pub(crate) fn give_up(&self) {
        self.0.store(NONE, Ordering::Relaxed);
    }

    /// Chooses a column from the first rows: the one with most values.
    pub(super) fn guess(&self, kinds: &[Kind], keys: &[Vector], rows: usize) -> Option<usize> {
        if self.0.load(Ordering::Relaxed) != UNKNOWN || rows < LEAST || keys.len() < 2 {
            return self.known();
        }
        let fits = |(kind, key): (&Kind, &Vector)| match &key.values {
            Values::Int(_) => *kind == Kind::Int,
            Values::Text(_) | Values::Coded { .. } => *kind == Kind::Text,
            _ => false,
        };
        let mut best = (0, rows / SHARED);
        if kinds.iter().zip(keys).all(fits) {
            for (column, key) in keys.iter().enumerate() {
                if let (Values::Int(values), None) = (&key.values, &key.nulls) {
                    let mut values = values.to_vec();
                    values.sort_unstable();
                    values.dedup();
                    if values.len() > best.1 {
                        best = (column + NONE + 1, values.len());
                    }
                }
            }
        }
        let chosen = best.0.max(NONE);
        // Another thread may have chosen before.
        let (relaxed, unknown) = (Ordering::Relaxed, UNKNOWN);
        let _ = self.0.compare_exchange(unknown, chosen, relaxed, relaxed);
        self.known()
    }
}

/// The other columns of the keys of groups.
#[derive(Debug)]
pub(super) struct Rest {
    columns: Vec<Column>,
    groups: usize,
}

#[derive(Debug)]
struct Column {
    held: Held,
    /// Groups whose value is NULL; shorter than the groups where none is.
    nulls: Vec<bool>,
}

#[derive(Debug)]
enum Held {
    Ints(Vec<i64>),
    Texts(Texts),
}

impl Column {
    fn new(kind: Kind) -> Column {
        let held = match kind {
            Kind::Text => Held::Texts(Texts::default()),
            _ => Held::Ints(Vec::new()),
        };
        let nulls = Vec::new();
        Column { held, nulls }
    }

    fn is_null(&self, group: usize) -> bool {
        self.nulls.get(group) == Some(&true)
    }

    fn note_nulls(&mut self, before: usize, rows: impl ExactSizeIterator<Item = bool>) {
        let count = before + rows.len();
        for (place, null) in rows.enumerate().filter(|(_, null)| *null) {
            self.nulls.resize(count, false);
            self.nulls[before + place] = null;
        }
    }

    fn vector(self, groups: usize) -> Result<Vector> {
        let nulls = (!self.nulls.is_empty()).then(|| {
            let valid = |group| !self.is_null(group);
            NullBuffer::new(BooleanBuffer::collect_bool(groups, valid))
        });
        let values = match self.held {
            Held::Ints(values) => Values::Int(values.into()),
            Held::Texts(texts) => texts.values()?,
        };
        Ok(Vector { values, nulls })
    }
}

impl Rest {
    pub fn new(kinds: impl Iterator<Item = Kind>) -> Rest {
        Rest {
            columns: kinds.map(Column::new).collect(),
            groups: 0,
        }
    }

    pub fn bytes(&self) -> usize {
        let column = |column: &Column| match &column.held {
            Held::Ints(values) => values.capacity() * 8,
            Held::Texts(texts) => texts.memory(),
        };
        self.columns.iter().map(column).sum()
    }

    /// Takes in rows with their groups; the first row of each new group, of which there
    /// are `count` with them, has its values. False if one contradicts its group: then
    /// only new groups were taken in.
    pub fn add<'v>(
        &mut self,
        vectors: impl Iterator<Item = &'v Vector>,
        groups: &[u32],
        count: usize,
    ) -> bool {
        let mut first = vec![u32::MAX; count - self.groups];
        for (row, group) in (0u32..).zip(groups) {
            if let Some(place) = (*group as usize).checked_sub(self.groups)
                && first[place] == u32::MAX
            {
                first[place] = row;
            }
        }
        let before = std::mem::replace(&mut self.groups, count);
        let mut same = true;
        for (column, vector) in self.columns.iter_mut().zip(vectors) {
            let nulls = first.iter().map(|row| vector.is_null(*row as usize));
            column.note_nulls(before, nulls);
            match (&mut column.held, &vector.values) {
                (Held::Ints(held), Values::Int(values)) => {
                    held.extend(first.iter().map(|row| values[*row as usize]));
                    let mut pairs = groups.iter().zip(values.iter()).enumerate();
                    same &= match &vector.nulls {
                        None => pairs.all(|(_, (group, value))| held[*group as usize] == *value),
                        Some(nulls) => pairs.all(|(row, (group, value))| {
                            nulls.is_null(row) || held[*group as usize] == *value
                        }),
                    };
                }
                (Held::Texts(texts), _) => {
                    texts.add(vector, &first);
                    same &= texts.are(vector, groups);
                }
                _ => same = false,
            }
            if vector.nulls.is_some() || !column.nulls.is_empty() {
                let mut rows = groups.iter().enumerate();
                let column = &*column;
                same &=
                    rows.all(|(row, group)| vector.is_null(row) == column.is_null(*group as usize));
            }
        }
        same
    }

    /// Takes in groups of another table, `from` there and `to` here; as [`Rest::add`].
    pub fn absorb(&mut self, other: &Rest, pairs: &[(u32, u32)], count: usize) -> bool {
        let before = std::mem::replace(&mut self.groups, count);
        let mut new: Vec<(u32, u32)> = Vec::with_capacity(count - before);
        new.extend(pairs.iter().filter(|(_, to)| *to as usize >= before));
        new.sort_unstable_by_key(|(_, to)| *to);
        let mut same = true;
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            let nulls = new.iter().map(|(from, _)| other.is_null(*from as usize));
            column.note_nulls(before, nulls);
            match (&mut column.held, &other.held) {
                (Held::Ints(held), Held::Ints(others)) => {
                    held.extend(new.iter().map(|(from, _)| others[*from as usize]));
                }
                (Held::Texts(texts), Held::Texts(others)) => {
                    let groups = new.iter().map(|(from, _)| *from);
                    let groups = groups.map(|group| (group, other.is_null(group as usize)));
                    texts.absorb(others, groups);
                }
                _ => same = false,
            }
            let mut old = pairs.iter().filter(|(_, to)| (*to as usize) < before);
            same &= old.all(|(from, to)| column.has(*to, other, *from));
        }
        same
    }

    /// The columns.
    ///
    /// # Errors
    /// Those of putting dictionaries together.
    pub fn vectors(self) -> Result<Vec<Vector>> {
        let groups = self.groups;
        let columns = self.columns.into_iter();
        columns.map(|column| column.vector(groups)).collect()
    }
}

impl Column {
    /// Whether a group has the value that one of another table has.
    fn has(&self, group: u32, other: &Column, from: u32) -> bool {
        let (group, from) = (group as usize, from as usize);
        if self.is_null(group) || other.is_null(from) {
            return self.is_null(group) == other.is_null(from);
        }
        match (&self.held, &other.held) {
            (Held::Ints(held), Held::Ints(others)) => held[group] == others[from],
            (Held::Texts(texts), Held::Texts(others)) => texts.of(group) == others.of(from),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
