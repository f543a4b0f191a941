//! The side of a join that is kept.

use super::Join;
use crate::Result;
use crate::kernels::{bounds, hash_key};
use crate::keys::Keys;
use crate::memory::Reservation;
use crate::vector::{Batch, Kind, Values, Vector, concat};
use std::sync::atomic::{AtomicBool, Ordering};

/// A table over integers is dense if it has at most so many entries for each row,
const SPARSE: u64 = 16;
/// or so many altogether.
const SMALL: u64 = 1 << 16;

/// Rows of the build side, to be found by key.
#[derive(Debug)]
pub(crate) struct JoinTable {
    /// The rows.
    pub batch: Batch,
    words: Vec<i64>,
    stride: usize,
    kinds: Vec<Kind>,
    finder: Finder,
    /// The next row with the same place, plus one; empty if no place has two.
    next: Vec<u32>,
    null_equal: bool,
    /// Which rows have found a partner, if that is asked.
    pub matched: Vec<AtomicBool>,
    /// The memory it takes.
    held: Reservation,
}

/// Numbers of rows plus one; 0 for none.
#[derive(Debug)]
enum Finder {
    /// By key.
    Dense(i64, Vec<u32>),
    /// By hash.
    Hashed(Vec<u32>),
}

impl JoinTable {
    /// A table of all rows of some batches, and the columns of their keys; `held` is to
    /// be its reservation.
    pub fn new(
        join: &Join,
        batches: &[Batch],
        held: Reservation,
    ) -> Result<(JoinTable, Vec<Vector>)> {
        let columns = (0..join.build.types.len()).map(|column| {
            let parts: Vec<&Vector> = batches.iter().map(|batch| &batch.columns[column]).collect();
            match parts.is_empty() {
                true => {
                    Vector::from_arrow(&arrow_array::new_empty_array(&join.build.types[column]))
                }
                false => concat(&parts),
            }
        });
        let batch = Batch {
            columns: columns.collect::<Result<_>>()?,
            rows: batches.iter().map(|batch| batch.rows).sum(),
        };
        let kinds = kinds(join);
        let keys = join.keys.iter().map(|(key, _, _)| key.evaluate(&batch));
        let keys = keys.collect::<Result<Vec<Vector>>>()?;
        let (words, stride, left_out) = words_of(&kinds, &keys, batch.rows, join.null_equal)?;
        let mut table = JoinTable {
            finder: finder(&words, stride, batch.rows),
            next: Vec::new(),
            words,
            stride,
            kinds,
            null_equal: join.null_equal,
            matched: match join.kind.gives_build_rows() {
                true => (0..batch.rows).map(|_| AtomicBool::new(false)).collect(),
                false => Vec::new(),
            },
            batch,
            held,
        };
        table.fill(&left_out);
        let slots = match &table.finder {
            Finder::Dense(_, slots) | Finder::Hashed(slots) => slots.len(),
        };
        let numbers = (slots + table.next.len()) * 4 + table.words.len() * 8;
        // It is there already, so that a refusal would come too late.
        table
            .held
            .hold(table.batch.bytes() + numbers + table.matched.len());
        Ok((table, keys))
    }

    /// Puts in every row that can have a partner, the first of equal ones in front.
    fn fill(&mut self, left_out: &[bool]) {
        let rows = self.batch.rows;
        for row in (0..rows).rev() {
            if left_out.get(row) == Some(&true) {
                continue;
            }
            let key = &self.words[row * self.stride..(row + 1) * self.stride];
            let slot = match &mut self.finder {
                Finder::Dense(least, slots) => &mut slots[key[0].wrapping_sub(*least) as usize],
                Finder::Hashed(slots) => {
                    let mask = slots.len() - 1;
                    &mut slots[hash_key(key) as usize & mask]
                }
            };
            if *slot != 0 {
                if self.next.is_empty() {
                    self.next = vec![0; rows];
                }
                self.next[row] = *slot;
            }
            *slot = row as u32 + 1;
        }
    }

    /// Calls `pair` for every row of a batch of the probe side and each row here with
    /// the same key, in order; with `first` only for one of those.
    pub fn find(
        &self,
        keys: &[Vector],
        rows: usize,
        first: bool,
        mut pair: impl FnMut(u32, u32),
    ) -> Result<()> {
        let next = |row: u32| self.next.get(row as usize).copied().unwrap_or(0);
        if let (
            Finder::Dense(least, slots),
            [
                Vector {
                    values: Values::Int(values),
                    nulls,
                },
            ],
        ) = (&self.finder, keys)
        {
            for (row, value) in values.iter().enumerate() {
                let place = value.wrapping_sub(*least) as u64 as usize;
                let mut found = slots.get(place).copied().unwrap_or(0);
                if found != 0 && nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                    while found != 0 {
                        pair(row as u32, found - 1);
                        found = if first { 0 } else { next(found - 1) };
                    }
                }
            }
            return Ok(());
        }
        let (words, stride, left_out) = words_of(&self.kinds, keys, rows, self.null_equal)?;
        for (row, key) in words.chunks_exact(stride).enumerate() {
            if left_out.get(row) == Some(&true) {
                continue;
            }
            let mut found = match &self.finder {
                Finder::Dense(least, slots) => slots
                    .get(key[0].wrapping_sub(*least) as u64 as usize)
                    .copied()
                    .unwrap_or(0),
                Finder::Hashed(slots) => slots[hash_key(key) as usize & (slots.len() - 1)],
            };
            while found != 0 {
                let place = (found as usize - 1) * stride;
                if (0..stride).all(|word| self.words[place + word] == key[word]) {
                    pair(row as u32, found - 1);
                    if first {
                        break;
                    }
                }
                found = next(found - 1);
            }
        }
        Ok(())
    }

    /// Notes that a row has a partner.
    pub fn mark(&self, row: u32) {
        if let Some(matched) = self.matched.get(row as usize) {
            matched.store(true, Ordering::Relaxed);
        }
    }

    /// The rows that have a partner, or those that have none.
    pub fn rows_where(&self, matched: bool) -> Vec<u32> {
        let rows = self.matched.iter().enumerate();
        let rows = rows.filter(|(_, found)| found.load(Ordering::Relaxed) == matched);
        rows.map(|(row, _)| row as u32).collect()
    }
}

fn kinds(join: &Join) -> Vec<Kind> {
    join.keys
        .iter()
        .map(|(_, _, kind)| Kind::of(kind))
        .collect()
}

/// Hashes of the keys of some rows of either side.
pub(super) fn hashes(join: &Join, keys: &[Vector], rows: usize) -> Result<Vec<u64>> {
    let (words, stride, _) = words_of(&kinds(join), keys, rows, join.null_equal)?;
    Ok(words.chunks_exact(stride).map(hash_key).collect())
}

/// Words of keys, words of each, and which rows can have no partner (none if empty).
fn words_of(
    kinds: &[Kind],
    keys: &[Vector],
    rows: usize,
    null_equal: bool,
) -> Result<(Vec<i64>, usize, Vec<bool>)> {
    let any_null = keys.iter().any(|key| key.nulls.is_some());
    if let ([Kind::Int], [key], false) = (kinds, keys, null_equal)
        && let Values::Int(values) = &key.values
    {
        let left_out = match &key.nulls {
            Some(nulls) => nulls.iter().map(|valid| !valid).collect(),
            None => Vec::new(),
        };
        return Ok((values.to_vec(), 1, left_out));
    }
    let mut all = Keys::new(kinds)?;
    if null_equal {
        all.allow_nulls();
        return Ok((all.words(keys, rows)?, all.stride, Vec::new()));
    }
    let is_null = |row| keys.iter().any(|key| key.is_null(row));
    let left_out = match any_null {
        true => (0..rows).map(is_null).collect(),
        false => Vec::new(),
    };
    // Rows with a NULL are left out, so that keys need no word for it.
    let bare = keys.iter().map(|key| Vector::of(key.values.clone()));
    let words = all.words(&bare.collect::<Vec<Vector>>(), rows)?;
    Ok((words, all.stride, left_out))
}

fn finder(words: &[i64], stride: usize, rows: usize) -> Finder {
    if stride == 1 && rows > 0 {
        let (least, greatest) = bounds(words);
        let range = i128::from(greatest) - i128::from(least) + 1;
        if let Ok(range) = u64::try_from(range)
            && range <= SMALL.max(SPARSE * rows as u64)
        {
            return Finder::Dense(least, vec![0; range as usize]);
        }
    }
    Finder::Hashed(vec![0; (rows * 2).next_power_of_two().max(16)])
}
