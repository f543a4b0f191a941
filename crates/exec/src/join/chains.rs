//! Tables of rows, by place or by hash of their keys.

use super::fill::fill;
use super::keys::Words;
use crate::kernels::hash_key;

/// Rows that share a place, as numbers plus one; 0 for none.
#[derive(Debug)]
pub(super) struct Chains {
    /// The first row of each place.
    pub slots: Vec<u32>,
    /// The next row with the same place; empty if no place has two.
    pub next: Vec<u32>,
}

impl Chains {
    /// Puts every row that can have a partner in the place that its words say, the first
    /// of equal ones in front.
    pub fn new(
        places: usize,
        keys: &Words,
        (rows, threads): (usize, usize),
        place_of: impl Fn(&[i64]) -> usize + Sync,
    ) -> Chains {
        let (words, stride) = (&keys.words[..], keys.stride);
        let mut slots = vec![0; places];
        let next = fill(&mut slots, rows, threads, |row| {
            let place = || place_of(&words[row * stride..(row + 1) * stride]);
            keys.is_able(row).then(place)
        });
        Chains { slots, next }
    }

    /// A table by hash.
    pub fn by_hash(keys: &Words, rows: usize, threads: usize) -> Chains {
        let slots = Chains::slots_by_hash(rows);
        let place = |key: &[i64]| hash_key(key) as usize & (slots - 1);
        Chains::new(slots, keys, (rows, threads), place)
    }

    fn slots_by_hash(rows: usize) -> usize {
        (rows * 2).next_power_of_two().max(16)
    }

    /// Bytes of memory that a table by hash takes, where some slots have several rows.
    pub fn bytes_by_hash(rows: usize) -> usize {
        (Chains::slots_by_hash(rows) + rows) * 4
    }

    pub fn bytes(&self) -> usize {
        (self.slots.len() + self.next.len()) * 4
    }

    /// The first row of each place, and the next of each row.
    pub fn parts(&self) -> (&[u32], &[u32]) {
        (&self.slots, &self.next)
    }
}

/// The entry at a place, 0 where there is none.
#[inline(always)]
pub(super) fn entry(entries: &[u32], place: usize) -> u32 {
    entries.get(place).copied().unwrap_or(0)
}
