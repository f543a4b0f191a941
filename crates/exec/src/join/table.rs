//! The side of a join that is kept.

use super::Join;
use super::fill::{ALONE, fill};
use super::keys::{JoinKeys, Words};
use crate::Result;
use crate::kernels::{bounds, hash_key};
use crate::memory::Reservation;
use crate::threads::on_items;
use crate::vector::{Batch, Values, Vector, concat};
use arrow_buffer::ScalarBuffer;
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
    /// What keys are, and the texts among them.
    pub(super) keys: JoinKeys,
    words: ScalarBuffer<i64>,
    stride: usize,
    finder: Finder,
    /// The next row with the same place, plus one; empty if no place has two.
    next: Vec<u32>,
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
    /// be its reservation. Up to so many threads make it.
    pub fn new(
        join: &Join,
        batches: &[Batch],
        held: Reservation,
        threads: usize,
    ) -> Result<(JoinTable, Vec<Vector>)> {
        let rows: usize = batches.iter().map(|batch| batch.rows).sum();
        let threads = if rows > ALONE { threads } else { 1 };
        let columns = (0..join.build.types.len()).collect();
        let columns = on_items(threads, columns, |column: usize| {
            let parts: Vec<&Vector> = batches.iter().map(|batch| &batch.columns[column]).collect();
            match parts.is_empty() {
                true => {
                    Vector::from_arrow(&arrow_array::new_empty_array(&join.build.types[column]))
                }
                false => concat(&parts),
            }
        });
        let columns = columns.into_iter().collect::<Result<_>>()?;
        let batch = Batch { columns, rows };
        let columns = join.keys.iter().map(|(key, _, _)| key.evaluate(&batch));
        let columns = columns.collect::<Result<Vec<Vector>>>()?;
        let mut keys = JoinKeys::new(join);
        let words = keys.number(columns.clone())?;
        let words = keys.words(&words, rows, threads)?;
        let mut finder = finder(&words, rows, threads);
        let threads = if is_in_order(&finder, &words.words) {
            1
        } else {
            threads
        };
        let next = finder.fill(&words, rows, threads);
        let mut table = JoinTable {
            finder,
            next,
            words: words.words,
            stride: words.stride,
            keys,
            matched: match join.kind.gives_build_rows() {
                true => (0..batch.rows).map(|_| AtomicBool::new(false)).collect(),
                false => Vec::new(),
            },
            batch,
            held,
        };
        // It is there already, so that a refusal would come too late.
        let bytes = table.bytes();
        table.held.hold(bytes);
        Ok((table, columns))
    }

    /// Most bytes of memory that it held, with the rows that it was made of.
    pub fn held(&self) -> usize {
        self.held.most()
    }

    /// Bytes of memory that it takes.
    fn bytes(&self) -> usize {
        let slots = match &self.finder {
            Finder::Dense(_, slots) | Finder::Hashed(slots) => slots.len(),
        };
        let words = self.words.inner();
        let mut columns = self.batch.columns.iter();
        let shared = columns.any(|column| match &column.values {
            Values::Int(values) => values.inner().ptr_eq(words),
            _ => false,
        });
        let words = if shared { 0 } else { words.len() };
        let numbers = (slots + self.next.len()) * 4 + words + self.matched.len();
        self.batch.bytes() + numbers + self.keys.bytes()
    }

    /// Calls `pair` for every row of a batch of the probe side and each row here with
    /// the same key, in order; with `first` only for one of those. Keys are as
    /// [`JoinKeys::look_up`] gives them.
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
        let asked = self.keys.words(keys, rows, 1)?;
        let (stride, words) = (self.stride, &self.words[..]);
        for (row, key) in asked.words.chunks_exact(stride).enumerate() {
            if !asked.is_able(row) {
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
                if (0..stride).all(|word| words[place + word] == key[word]) {
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

impl Finder {
    /// Puts in every row that can have a partner, the first of equal ones in front;
    /// gives what comes after each.
    fn fill(&mut self, keys: &Words, rows: usize, threads: usize) -> Vec<u32> {
        let (words, stride) = (&keys.words[..], keys.stride);
        match self {
            Finder::Dense(least, slots) => fill(slots, rows, threads, |row| {
                let place = words[row].wrapping_sub(*least) as usize;
                keys.is_able(row).then_some(place)
            }),
            Finder::Hashed(slots) => {
                let mask = slots.len() - 1;
                fill(slots, rows, threads, |row| {
                    let key = &words[row * stride..(row + 1) * stride];
                    keys.is_able(row).then(|| hash_key(key) as usize & mask)
                })
            }
        }
    }
}

/// Whether rows that follow each other mostly have slots that do, too: then one thread
/// is done with them before others have parted theirs.
fn is_in_order(finder: &Finder, words: &[i64]) -> bool {
    let Finder::Dense(_, slots) = finder else {
        return false;
    };
    let pieces = words.chunks(1024).map(bounds);
    let (count, reach) = pieces.fold((0, 0), |(count, reach), (least, greatest)| {
        (
            count + 1,
            reach + greatest.wrapping_sub(least) as u64 as u128,
        )
    });
    reach < count * slots.len() as u128 / 8
}

fn finder(keys: &Words, rows: usize, threads: usize) -> Finder {
    if keys.stride == 1 && rows > 0 {
        let pieces = keys.words.chunks(rows.div_ceil(threads.max(1))).collect();
        let bounds = on_items(threads, pieces, bounds).into_iter();
        let (least, greatest) = bounds.fold((i64::MAX, i64::MIN), |all, piece| {
            (all.0.min(piece.0), all.1.max(piece.1))
        });
        let range = i128::from(greatest) - i128::from(least) + 1;
        if let Ok(range) = u64::try_from(range)
            && range <= SMALL.max(SPARSE * rows as u64)
        {
            return Finder::Dense(least, vec![0; range as usize]);
        }
    }
    Finder::Hashed(vec![0; (rows * 2).next_power_of_two().max(16)])
}

#[cfg(test)]
mod tests;
