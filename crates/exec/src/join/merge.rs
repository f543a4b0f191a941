//! Rows that are kept in the order of their keys need no table: rows that ask in the same
//! order are merged with them, as in the last step of a sort-merge join (Blasgen and
//! Eswaran, "Storage and Access in Relational Data Bases", 1977). What nobody asks for is
//! passed over by exponential search (Bentley and Yao, "An Almost Optimal Algorithm for
//! Unbounded Searching", 1976).

use super::chains::Chains;
use super::keys::{Words, kinds};
use super::table::places;
use crate::Result;
use crate::expression::Expression;
use crate::kernels::is_ascending;
use crate::memory::Reservation;
use crate::plan::Join;
use crate::vector::{Batch, Kind, Values};
use arrow_buffer::ScalarBuffer;
use parking_lot::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that are looked at one by one before a search begins.
const NEAR: usize = 8;
/// If more rows than so many are passed over for each that asks, a table finds it sooner,
const FAR: usize = 32;
/// and is made when all rows were passed over so many times.
const TIMES: usize = 2;

/// What else finds rows that are in order: a table by hash, once rows ask that are not.
#[derive(Debug)]
pub(super) struct Sorted {
    hashed: OnceLock<Chains>,
    /// The memory that it takes; locked by the thread that makes it.
    held: Mutex<Reservation>,
    /// Rows that were passed over where they were many.
    passed: AtomicUsize,
}

impl Sorted {
    pub fn new(held: Reservation) -> Sorted {
        Sorted {
            hashed: OnceLock::new(),
            held: Mutex::new(held),
            passed: AtomicUsize::new(0),
        }
    }

    /// The table, if it was made.
    pub fn made(&self) -> Option<&Chains> {
        self.hashed.get()
    }

    /// A table of the rows with some keys, for those that ask; `None` if they are to be
    /// merged. That is also right for rows in no order, only slower: so no thread waits
    /// while another makes the table, and none is made without memory.
    pub fn table_for(&self, asked: &Words, kept: &ScalarBuffer<i64>) -> Option<&Chains> {
        if let Some((least, greatest)) = ends(asked) {
            let place = |key: i64| kept.partition_point(|word| *word < key);
            let passed = place(greatest) - place(least);
            let near = passed <= asked.words.len() * FAR;
            let seldom = || {
                let before = self.passed.fetch_add(passed, Ordering::Relaxed);
                before < kept.len() * TIMES && self.made().is_none()
            };
            if near || seldom() {
                return None;
            }
        }
        if let Some(made) = self.hashed.get() {
            return Some(made);
        }
        let mut held = self.held.try_lock()?;
        if !held.hold(Chains::bytes_by_hash(kept.len())) {
            return None;
        }
        Some(self.hashed.get_or_init(|| {
            let keys = Words {
                words: kept.clone(),
                stride: 1,
                able: None,
            };
            // Alone: threads that probe must not wait for others.
            Chains::by_hash(&keys, kept.len(), 1)
        }))
    }
}

/// The least and the greatest key if keys are in order, whatever stands for NULLs.
fn ends(keys: &Words) -> Option<(i64, i64)> {
    let Some(able) = &keys.able else {
        let ends = keys.words.first().copied().zip(keys.words.last().copied());
        return is_ascending(&keys.words).then_some(ends.unwrap_or_default());
    };
    let mut valid = able.valid_indices().map(|row| keys.words[row]);
    let first = valid.next().unwrap_or_default();
    let last = valid.try_fold(first, |last, key| (last <= key).then_some(key));
    Some(first).zip(last)
}

/// The batches of a build side in the order of their keys, if that puts all rows in order
/// and the keys are too far from each other for a table by key. Threads give batches in
/// any order.
pub(super) fn in_order<'b>(join: &Join, batches: &'b [Batch]) -> Option<Vec<&'b Batch>> {
    let [(Expression::Column(column), _, _)] = join.keys.as_slice() else {
        return None;
    };
    if join.null_equal || kinds(join) != [Kind::Int] {
        return None;
    }
    let (mut parts, mut rows) = (Vec::new(), 0);
    for batch in batches.iter().filter(|batch| batch.rows > 0) {
        let key = batch.columns.get(*column)?;
        let (Values::Int(words), None | Some(0)) = (
            &key.values,
            key.nulls.as_ref().map(|nulls| nulls.null_count()),
        ) else {
            return None;
        };
        parts.push((*words.first()?, *words.last()?, words, batch));
        rows += batch.rows;
    }
    // The ends of batches say at once what cannot be in order.
    parts.sort_by_key(|(first, last, ..)| (*first, *last));
    let (least, greatest) = (parts.first()?.0, parts.last()?.1);
    let apart = parts.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    let wide = least <= greatest && places(least, greatest, rows).is_none();
    let in_order = apart && wide && parts.iter().all(|(_, _, words, _)| is_ascending(words));
    in_order.then(|| parts.into_iter().map(|(.., batch)| batch).collect())
}

/// Calls `pair` for every row that asks and each of the kept rows with the same key, in
/// order; with `first` only for one of those. Kept keys are in order.
pub(super) fn merge(
    kept: &[i64],
    asked: &Words,
    first: bool,
    mut pair: impl FnMut(u32, u32) -> Result<()>,
) -> Result<()> {
    let (mut at, mut last) = (0, i64::MIN);
    for (row, key) in asked.words.iter().copied().enumerate() {
        if !asked.is_able(row) {
            continue;
        }
        at = match key < last {
            true => kept[..at].partition_point(|word| *word < key),
            false => passed_over(kept, at, key),
        };
        last = key;
        for (place, word) in kept[at..].iter().enumerate() {
            if *word != key {
                break;
            }
            pair(row as u32, (at + place) as u32)?;
            if first {
                break;
            }
        }
    }
    Ok(())
}

/// The first row from `at` on whose key is not below `key`.
#[inline(always)]
fn passed_over(kept: &[i64], mut at: usize, key: i64) -> usize {
    let near = kept.len().min(at + NEAR);
    while at < near {
        if kept[at] >= key {
            return at;
        }
        at += 1;
    }
    let mut step = NEAR;
    while kept.get(at + step).is_some_and(|word| *word < key) {
        at += step;
        step *= 2;
    }
    let end = kept.len().min(at + step);
    at + kept[at..end].partition_point(|word| *word < key)
}
