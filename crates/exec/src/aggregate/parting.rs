//! Which groups of several threads' tables are put together by which thread.

use super::GroupTable;
use std::ops::Range;

/// Keys looked at in each table.
const SAMPLE: usize = 512;

/// Parts of all keys.
#[derive(Debug)]
pub(crate) enum Parting {
    /// One part.
    Whole,
    /// So many, by the hash of the key.
    Hashes(usize),
    /// By the least key of each part but the first: what lies together stays so.
    Ranges(Vec<i64>),
}

impl Parting {
    /// About equal parts of the keys of some tables.
    pub fn of(tables: &[GroupTable<'_>], parts: usize) -> Parting {
        if parts <= 1 {
            return Parting::Whole;
        }
        if !tables.iter().all(|table| table.keys.is_one_number()) {
            return Parting::Hashes(parts);
        }
        let mut sample = Vec::new();
        for table in tables {
            let keys = &table.groups.keys;
            sample.extend(keys.iter().step_by(keys.len() / SAMPLE + 1));
        }
        sample.sort_unstable();
        let points = (1..parts).map(|part| sample.get(part * sample.len() / parts));
        match points.map(Option::<&i64>::copied).collect() {
            Some(points) => Parting::Ranges(points),
            None => Parting::Whole,
        }
    }

    /// How many parts.
    pub fn parts(&self) -> usize {
        match self {
            Parting::Whole => 1,
            Parting::Hashes(parts) => *parts,
            Parting::Ranges(points) => points.len() + 1,
        }
    }

    /// Where the keys of a part lie among keys in order, if it is a range of keys.
    pub fn range(&self, keys: &[i64], part: usize) -> Option<Range<usize>> {
        match self {
            Parting::Whole => Some(0..keys.len()),
            Parting::Hashes(_) => None,
            Parting::Ranges(points) => {
                let (from, to) = bounds(points, part);
                let start = keys.partition_point(|key| *key < from);
                let end = to.map_or(keys.len(), |to| keys.partition_point(|key| *key < to));
                Some(start..end.max(start))
            }
        }
    }

    /// The groups of a table that belong to a part.
    pub fn groups(&self, table: &GroupTable<'_>, part: usize) -> Vec<u32> {
        let keys = table.groups.keys.chunks_exact(table.keys.stride);
        // In range: groups are numbered in 32 bits.
        let numbered = (0u32..).zip(keys);
        match self {
            Parting::Whole => numbered.map(|(group, _)| group).collect(),
            Parting::Hashes(parts) => {
                let mine = |key: &[i64]| table.keys.content_hash(key) >> 32;
                let mine = numbered.filter(|(_, key)| mine(key) as usize % parts == part);
                mine.map(|(group, _)| group).collect()
            }
            Parting::Ranges(points) => {
                let (from, to) = bounds(points, part);
                let mine = |key: i64| key >= from && to.is_none_or(|to| key < to);
                let mine = numbered.filter(|(_, key)| mine(key[0]));
                mine.map(|(group, _)| group).collect()
            }
        }
    }
}

/// The least key of a part, and the first beyond it.
fn bounds(points: &[i64], part: usize) -> (i64, Option<i64>) {
    let from = part.checked_sub(1).and_then(|before| points.get(before));
    (from.copied().unwrap_or(i64::MIN), points.get(part).copied())
}
