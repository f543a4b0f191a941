//! Tables whose groups came in the order of their keys, such as those of a table that is
//! stored in order: put together they are in order again, and nothing is looked up.

use super::GroupTable;
use super::parting::Parting;
use std::ops::Range;

/// So many groups that follow each other in a table make it worth while.
const LENGTH: usize = 64;

/// The groups of a part in the order of their keys, as pieces of tables; `None` if some
/// table is in no order, or pieces would be short.
pub(super) fn slices<'t, 'a>(
    tables: &'t [GroupTable<'a>],
    parting: &Parting,
    part: usize,
) -> Option<Vec<(&'t GroupTable<'a>, Range<u32>)>> {
    let is_ordered = |table: &GroupTable<'_>| table.groups.is_ordered();
    if !tables.iter().all(is_ordered) {
        return None;
    }
    let keys = tables.iter().map(|table| table.groups.keys.as_slice());
    let keys: Vec<&[i64]> = keys.collect();
    let mut left: Vec<Range<usize>> = keys
        .iter()
        .map(|keys| parting.range(keys, part))
        .collect::<Option<_>>()?;
    let most = 16 + left.iter().map(Range::len).sum::<usize>() / LENGTH;
    let mut slices = Vec::new();
    loop {
        let next = left.iter().zip(&keys).enumerate();
        let mut next: Vec<(i64, usize)> = next
            .filter(|(_, (left, _))| !left.is_empty())
            .map(|(table, (left, keys))| (keys[left.start], table))
            .collect();
        next.sort_unstable();
        let Some((_, table)) = next.first().copied() else {
            return Some(slices);
        };
        let here = &keys[table][left[table].clone()];
        let length = match next.get(1) {
            Some((other, _)) => here.partition_point(|key| key < other).max(1),
            None => here.len(),
        };
        let start = left[table].start;
        left[table].start += length;
        // In range: groups are numbered in 32 bits.
        slices.push((&tables[table], start as u32..(start + length) as u32));
        if slices.len() > most {
            return None;
        }
    }
}
