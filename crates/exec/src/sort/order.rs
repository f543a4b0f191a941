//! Numbers of rows in the order of their keys.
//!
//! Each thread sorts a chunk of the rows. What they have is cut by sampled keys into parts
//! that come one after the other; a part is merged when its rows are wanted.

use super::bytes::ByteKeys;
use super::words::{Word, Words, bits_of};
use crate::Result;
use crate::plan::SortKey;
use crate::threads::{on_items, on_threads};
use crate::vector::{BATCH_ROWS, Vector};
use std::cmp::Ordering;
use std::ops::Range;

/// Rows that one thread sorts alone.
const ALONE: usize = 1 << 13;
/// One of so many entries is sampled to find where parts end.
const SAMPLE: usize = BATCH_ROWS / 16;
/// Bytes of a key that stand in a word, above the number of its row.
const PREFIX: usize = 12;
const PREFIX_ROW_BITS: u32 = 32;

/// Some rows in order.
pub(super) enum Order {
    Short(Chunks<u64>),
    Long(Chunks<u128>),
}

/// Entries of keys and numbers of rows, in order chunk by chunk.
pub(super) struct Chunks<W> {
    chunks: Vec<Vec<W>>,
    /// Where each part begins in each chunk, and where the last one ends.
    cuts: Vec<Vec<usize>>,
    row_bits: u32,
    whole: Option<WholeKeys>,
}

/// The keys that entries have prefixes of.
struct WholeKeys {
    chunks: Vec<ByteKeys>,
    /// Rows of a chunk.
    rows: usize,
}

impl WholeKeys {
    fn key(&self, row: u32) -> &[u8] {
        let row = row as usize;
        self.chunks[row / self.rows].key(row % self.rows)
    }

    fn compare<W: Word>(&self, a: &W, b: &W) -> Ordering {
        let (row_a, row_b) = (a.low(PREFIX_ROW_BITS), b.low(PREFIX_ROW_BITS));
        match a.same_above(*b, PREFIX_ROW_BITS) {
            false => a.cmp(b),
            true => self.key(row_a).cmp(self.key(row_b)).then(row_a.cmp(&row_b)),
        }
    }
}

/// Calls a function with what compares the entries of some chunks.
macro_rules! compared {
    ($whole:expr, $compare:ident => $body:expr) => {
        match $whole {
            None => {
                let $compare = |a: &_, b: &_| Ord::cmp(a, b);
                $body
            }
            Some(whole) => {
                let $compare = |a: &_, b: &_| WholeKeys::compare(whole, a, b);
                $body
            }
        }
    };
}

impl Order {
    /// The first rows of so many, with a column for each key; more than `most` may come.
    pub fn new(
        columns: &[Vector],
        keys: &[SortKey],
        rows: usize,
        most: usize,
        threads: usize,
    ) -> Result<Order> {
        let row_bits = bits_of(rows.saturating_sub(1) as u64);
        let chunk_rows = rows.div_ceil(rows.div_ceil(ALONE).clamp(1, threads.max(1)));
        let starts = (0..rows).step_by(chunk_rows.max(1));
        let ranges: Vec<Range<usize>> = starts
            .map(|start| start..rows.min(start + chunk_rows))
            .collect();
        let words = Words::new(columns, keys)?;
        Ok(match words {
            Some(words) if words.bits + row_bits <= u64::BITS => {
                Order::Short(Chunks::of_words(&words, row_bits, &ranges, most))
            }
            Some(words) if words.bits + row_bits <= u128::BITS => {
                Order::Long(Chunks::of_words(&words, row_bits, &ranges, most))
            }
            _ => {
                let keys = each(&ranges, |range| ByteKeys::new(columns, keys, range));
                let chunks = keys.into_iter().collect::<Result<_>>()?;
                let rows = chunk_rows;
                Order::Long(Chunks::of_bytes(WholeKeys { chunks, rows }, &ranges, most))
            }
        })
    }

    /// How many parts.
    pub fn parts(&self) -> usize {
        match self {
            Order::Short(chunks) => chunks.cuts.len() - 1,
            Order::Long(chunks) => chunks.cuts.len() - 1,
        }
    }

    /// How many rows come before a part.
    pub fn start(&self, part: usize) -> usize {
        match self {
            Order::Short(chunks) => chunks.cuts[part].iter().sum(),
            Order::Long(chunks) => chunks.cuts[part].iter().sum(),
        }
    }

    /// The numbers of the rows of a part.
    pub fn rows(&self, part: usize) -> Vec<u32> {
        match self {
            Order::Short(chunks) => chunks.merged(part),
            Order::Long(chunks) => chunks.merged(part),
        }
    }

    /// The numbers of all rows, but of `most` at most.
    pub fn all(&self, most: usize) -> Vec<u32> {
        let mut rows = Vec::new();
        for part in 0..self.parts() {
            if rows.len() < most {
                rows.append(&mut self.rows(part));
            }
        }
        rows.truncate(most);
        rows
    }
}

/// The numbers of all rows in order, with a column for each key; as they came without keys.
pub(crate) fn ordered_rows(
    columns: &[Vector],
    keys: &[SortKey],
    rows: usize,
    threads: usize,
) -> Result<Vec<u32>> {
    if keys.is_empty() || rows == 0 {
        // In range: rows are numbered in 32 bits.
        return Ok((0..rows as u32).collect());
    }
    let order = Order::new(columns, keys, rows, usize::MAX, threads)?;
    let parts = on_items(threads, (0..order.parts()).collect(), |part| {
        order.rows(part)
    });
    Ok(parts.concat())
}

/// What is made of each range of rows, each by a thread.
fn each<T: Send>(ranges: &[Range<usize>], make: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    match ranges {
        [] => Vec::new(),
        _ => on_threads(ranges.len(), |number| make(ranges[number].clone())),
    }
}

impl<W: Word> Chunks<W> {
    fn of_words(words: &Words<'_>, row_bits: u32, ranges: &[Range<usize>], most: usize) -> Self {
        let chunks = each(ranges, |range| {
            let entries = words.entries(range, row_bits);
            sorted(entries, most, Ord::cmp)
        });
        Chunks::new(chunks, row_bits, None)
    }

    fn new(chunks: Vec<Vec<W>>, row_bits: u32, whole: Option<WholeKeys>) -> Chunks<W> {
        let cuts = compared!(&whole, compare => cuts(&chunks, compare));
        Chunks {
            chunks,
            cuts,
            row_bits,
            whole,
        }
    }

    fn merged(&self, part: usize) -> Vec<u32> {
        let places = self.cuts[part].iter().zip(&self.cuts[part + 1]);
        let pieces = self.chunks.iter().zip(places);
        let pieces = pieces.map(|(chunk, (from, to))| &chunk[*from..*to]);
        let mut entries: Vec<W> = pieces.clone().flatten().copied().collect();
        if pieces.filter(|piece| !piece.is_empty()).count() > 1 {
            // A stable sort finds the pieces, which are in order, and merges them.
            compared!(&self.whole, compare => entries.sort_by(compare));
        }
        let rows = entries.iter().map(|entry| entry.low(self.row_bits));
        rows.collect()
    }
}

impl Chunks<u128> {
    fn of_bytes(keys: WholeKeys, ranges: &[Range<usize>], most: usize) -> Chunks<u128> {
        let numbers: Vec<Range<usize>> = (0..ranges.len()).map(|n| n..n + 1).collect();
        let first = keys.chunks.first().filter(|chunk| chunk.len() > 0);
        let first = first.map_or(&[][..], |chunk| chunk.key(0));
        // A beginning that all keys share says nothing.
        let common = each(&numbers, |n| keys.chunks[n.start].common(first));
        let common = common.into_iter().min().unwrap_or(0);
        let chunks = each(ranges, |range| {
            let entries = range.map(|row| {
                // In range: rows are numbered in 32 bits.
                let key = &keys.key(row as u32)[common..];
                let (mut prefix, len) = ([0; 16], key.len().min(PREFIX));
                prefix[..len].copy_from_slice(&key[..len]);
                u128::from_be_bytes(prefix) | row as u128
            });
            let entries = entries.collect();
            sorted(entries, most, |a: &u128, b: &u128| keys.compare(a, b))
        });
        Chunks::new(chunks, PREFIX_ROW_BITS, Some(keys))
    }
}

/// The first `most` entries in order.
fn sorted<W: Word>(
    mut entries: Vec<W>,
    most: usize,
    compare: impl Fn(&W, &W) -> Ordering + Copy,
) -> Vec<W> {
    if most < entries.len() {
        entries.select_nth_unstable_by(most, compare);
        entries.truncate(most);
        entries.shrink_to_fit();
    }
    entries.sort_unstable_by(compare);
    entries
}

/// Where parts of about a batch begin and end in each chunk; none of them is empty.
fn cuts<W: Word>(
    chunks: &[Vec<W>],
    compare: impl Fn(&W, &W) -> Ordering + Copy,
) -> Vec<Vec<usize>> {
    let ends: Vec<usize> = chunks.iter().map(Vec::len).collect();
    let mut cuts = vec![vec![0; chunks.len()]];
    if let [entries] = *ends.as_slice() {
        let starts = (0..entries).step_by(BATCH_ROWS);
        cuts.extend(starts.skip(1).map(|start| vec![start]));
    } else {
        let samples = chunks.iter().flat_map(|chunk| chunk.iter().step_by(SAMPLE));
        let mut samples: Vec<W> = samples.copied().collect();
        samples.sort_unstable_by(compare);
        let firsts = samples.iter().step_by(BATCH_ROWS / SAMPLE).skip(1);
        cuts.extend(firsts.map(|first| {
            let before = |entry: &W| compare(entry, first) == Ordering::Less;
            let places = chunks.iter().map(|chunk| chunk.partition_point(before));
            places.collect()
        }));
    }
    cuts.push(ends);
    cuts.dedup();
    if cuts.len() == 1 {
        // No rows: one part of none.
        cuts.push(cuts[0].clone());
    }
    cuts
}
