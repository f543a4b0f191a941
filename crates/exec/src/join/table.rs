//! The side of a join that is kept.

use super::chains::{Chains, entry};
use super::fill::ALONE;
use super::keys::{JoinKeys, Words};
use super::merge::{Sorted, in_order, merge};
use crate::Result;
use crate::kernels::{bounds, hash_key};
use crate::memory::Reservation;
use crate::plan::Join;
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
    /// Which rows have found a partner, if that is asked.
    pub matched: Vec<AtomicBool>,
    /// The memory it takes.
    held: Reservation,
}

/// What finds rows.
#[derive(Debug)]
enum Finder {
    /// By key, the least one first.
    Dense(i64, Chains),
    /// By hash.
    Hashed(Chains),
    /// In the order of their keys.
    Sorted(Sorted),
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
        let in_order = in_order(join, batches);
        let is_sorted = in_order.is_some();
        let batches = in_order.unwrap_or_else(|| batches.iter().collect());
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
        let mut table = JoinTable {
            finder: match is_sorted {
                true => Finder::Sorted(Sorted::new(held.another())),
                false => finder(&words, rows, threads),
            },
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

    /// Whether rows that ask in order are merged.
    #[cfg(test)]
    pub fn is_merged(&self) -> bool {
        matches!(self.finder, Finder::Sorted(_))
    }

    /// Most bytes of memory that it held, with the rows that it was made of.
    pub fn held(&self) -> usize {
        self.held.most()
    }

    /// Bytes of memory that it takes; a table that is made later has its own.
    fn bytes(&self) -> usize {
        let chains = match &self.finder {
            Finder::Dense(_, chains) | Finder::Hashed(chains) => chains.bytes(),
            Finder::Sorted(_) => 0,
        };
        let words = self.words.inner();
        let mut columns = self.batch.columns.iter();
        let shared = columns.any(|column| match &column.values {
            Values::Int(values) => values.inner().ptr_eq(words),
            _ => false,
        });
        let words = if shared { 0 } else { words.len() };
        let numbers = chains + words + self.matched.len();
        self.batch.bytes() + numbers + self.keys.bytes()
    }

    /// Calls `pair` for every row of a batch of the probe side and each row here with
    /// the same key, in order; with `first` only for one of those. Keys are as
    /// [`JoinKeys::look_up`] gives them.
    ///
    /// # Errors
    /// The first of `pair`, after which it is not called any more.
    pub fn find(
        &self,
        keys: &[Vector],
        rows: usize,
        first: bool,
        mut pair: impl FnMut(u32, u32) -> Result<()>,
    ) -> Result<()> {
        if let (
            Finder::Dense(least, chains),
            [
                Vector {
                    values: Values::Int(values),
                    nulls,
                },
            ],
        ) = (&self.finder, keys)
        {
            let (slots, next) = chains.parts();
            for (row, value) in values.iter().enumerate() {
                let place = value.wrapping_sub(*least) as u64 as usize;
                let mut found = entry(slots, place);
                if found != 0 && nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                    while found != 0 {
                        pair(row as u32, found - 1)?;
                        found = match first {
                            true => 0,
                            false => entry(next, found as usize - 1),
                        };
                    }
                }
            }
            return Ok(());
        }
        let asked = self.keys.words(keys, rows, 1)?;
        let (least, chains) = match &self.finder {
            Finder::Dense(least, chains) => (Some(*least), chains),
            Finder::Hashed(chains) => (None, chains),
            Finder::Sorted(sorted) => match sorted.table_for(&asked, &self.words) {
                Some(chains) => (None, chains),
                None => {
                    return merge(&self.words, &asked, first, pair);
                }
            },
        };
        let (slots, next) = chains.parts();
        let (stride, words) = (self.stride, &self.words[..]);
        for (row, key) in asked.words.chunks_exact(stride).enumerate() {
            if !asked.is_able(row) {
                continue;
            }
            let place = match least {
                Some(least) => key[0].wrapping_sub(least) as u64 as usize,
                None => hash_key(key) as usize & (slots.len() - 1),
            };
            let mut found = entry(slots, place);
            while found != 0 {
                let place = (found as usize - 1) * stride;
                if (0..stride).all(|word| words[place + word] == key[word]) {
                    pair(row as u32, found - 1)?;
                    if first {
                        break;
                    }
                }
                found = entry(next, found as usize - 1);
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

/// Places of a table by key, unless too few of them would have a row.
pub(super) fn places(least: i64, greatest: i64, rows: usize) -> Option<usize> {
    let range = i128::from(greatest) - i128::from(least) + 1;
    let most = SMALL.max(SPARSE * rows as u64);
    usize::try_from(range)
        .ok()
        .filter(|range| *range as u64 <= most)
}

/// Whether rows that follow each other mostly have places that do, too: then one thread
/// is done with them before others have parted theirs.
fn is_in_order(places: usize, words: &[i64]) -> bool {
    let pieces = words.chunks(1024).map(bounds);
    let (count, reach) = pieces.fold((0, 0), |(count, reach), (least, greatest)| {
        (
            count + 1,
            reach + greatest.wrapping_sub(least) as u64 as u128,
        )
    });
    reach < count * places as u128 / 8
}

fn finder(keys: &Words, rows: usize, threads: usize) -> Finder {
    if keys.stride == 1 && rows > 0 {
        let pieces = keys.words.chunks(rows.div_ceil(threads.max(1))).collect();
        let bounds = on_items(threads, pieces, bounds).into_iter();
        let (least, greatest) = bounds.fold((i64::MAX, i64::MIN), |all, piece| {
            (all.0.min(piece.0), all.1.max(piece.1))
        });
        if let Some(places) = places(least, greatest, rows) {
            let in_order = is_in_order(places, &keys.words);
            let threads = if in_order { 1 } else { threads };
            let place = |key: &[i64]| key[0].wrapping_sub(least) as usize;
            let chains = Chains::new(places, keys, (rows, threads), place);
            return Finder::Dense(least, chains);
        }
    }
    Finder::Hashed(Chains::by_hash(keys, rows, threads))
}

#[cfg(test)]
mod tests;
