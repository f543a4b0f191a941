//! Rows are put into the slots of a table, by one thread or by several.
//!
//! Several threads do it in three passes, in none of which two write to the same place:
//! each takes some rows and lists them by the part of the table their slots are in; then
//! each takes a part and chains the rows that share a slot; then each takes some rows
//! again and notes what comes after them. A part is small enough for a processor's
//! cache, which the table is not.

use crate::threads::on_items;

/// Rows that one thread puts in alone: others only help where the table is not in its cache.
pub(super) const ALONE: usize = 1 << 19;
/// Parts of the table.
pub(super) const PARTS: usize = 64;
/// Pieces of the rows for each thread: another may be late.
pub(super) const PIECES: usize = 4;

/// Rows whose slots are in one part: the slot within it, later the row that comes after,
/// plus one; and the row.
type Listed = Vec<(u32, u32)>;

/// Puts rows into slots, which are 0 and become numbers of rows plus one, the first of
/// those of one slot in front; rows without a slot are left out. Gives for each row the
/// next in its slot, plus one; nothing if no slot has two.
pub(super) fn fill(
    slots: &mut [u32],
    rows: usize,
    threads: usize,
    slot_of: impl Fn(usize) -> Option<usize> + Sync,
) -> Vec<u32> {
    if threads > 1 && rows > ALONE {
        return together(slots, rows, threads, slot_of);
    }
    let mut next = Vec::new();
    for row in (0..rows).rev() {
        let Some(slot) = slot_of(row) else {
            continue;
        };
        let slot = &mut slots[slot];
        if *slot != 0 {
            if next.is_empty() {
                next = vec![0; rows];
            }
            next[row] = *slot;
        }
        *slot = row as u32 + 1;
    }
    next
}

fn together(
    slots: &mut [u32],
    rows: usize,
    threads: usize,
    slot_of: impl Fn(usize) -> Option<usize> + Sync,
) -> Vec<u32> {
    let width = slots.len().div_ceil(PARTS).next_power_of_two();
    let parts = slots.len().div_ceil(width);
    let piece = rows.div_ceil(threads * PIECES);
    let starts = (0..rows).step_by(piece).collect();
    let lists = on_items(threads, starts, |first: usize| {
        let last = rows.min(first + piece);
        // Hashes fill parts alike.
        let expected = piece / parts + piece / parts / 8;
        let mut lists = vec![Listed::new(); parts];
        lists.iter_mut().for_each(|list| list.reserve(expected));
        for row in first..last {
            if let Some(slot) = slot_of(row) {
                // In range: rows are numbered in 32 bits, and a part has fewer slots.
                lists[slot / width].push(((slot % width) as u32, row as u32));
            }
        }
        lists
    });
    let parts = slots.chunks_mut(width).zip(transposed(lists)).collect();
    let chained = on_items(
        threads,
        parts,
        |(slots, mut lists): (&mut [u32], Vec<_>)| {
            let several = chain(slots, &mut lists);
            (several, lists)
        },
    );
    if chained.iter().all(|(several, _)| !several) {
        return Vec::new();
    }
    let lists = transposed(chained.into_iter().map(|(_, lists)| lists).collect());
    let mut next = vec![0; rows];
    let pieces = next.chunks_mut(piece).zip(lists).enumerate().collect();
    on_items(
        threads,
        pieces,
        |(number, (next, lists)): (usize, (&mut [u32], Vec<Listed>))| {
            for (after, row) in lists.into_iter().flatten() {
                next[row as usize - number * piece] = after;
            }
        },
    );
    next
}

/// Puts rows into the slots of a part, from the last to the first; whether some slot
/// has several.
fn chain(slots: &mut [u32], lists: &mut [Listed]) -> bool {
    let mut several = false;
    for list in lists.iter_mut().rev() {
        for (place, row) in list.iter_mut().rev() {
            let slot = &mut slots[*place as usize];
            *place = std::mem::replace(slot, *row + 1);
            several |= *place != 0;
        }
    }
    several
}

/// The lists of each row as those of each column.
pub(super) fn transposed<T>(rows: Vec<Vec<T>>) -> Vec<Vec<T>> {
    let mut columns = Vec::new();
    for row in rows {
        columns.resize_with(row.len().max(columns.len()), Vec::new);
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::{ALONE, fill};
    use crate::kernels::hash;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        /// Several threads leave what one does.
        #[test]
        fn threads_fill_as_one_does(
            seed in any::<i64>(),
            rows in ALONE + 1..2 * ALONE,
            slots in prop_oneof![Just(1usize), 2usize..100, 60_000usize..900_000],
            left_out in 0u64..4,
            together in any::<bool>(),
        ) {
            let slot = |row: usize| {
                let hash = hash(seed ^ row as i64);
                let slot = if together { row.min(slots - 1) } else { hash as usize % slots };
                (left_out == 0 || hash >> 60 >= left_out).then_some(slot)
            };
            let mut alone = vec![0; slots];
            let next = fill(&mut alone, rows, 1, slot);
            let mut model = vec![Vec::new(); slots];
            (0..rows).for_each(|row| if let Some(slot) = slot(row) { model[slot].push(row as u32) });
            for (first, model) in alone.iter().zip(model) {
                let next = |row: &u32| next.get(*row as usize - 1).copied().filter(|n| *n != 0);
                let chain = std::iter::successors(Some(*first).filter(|n| *n != 0), next);
                prop_assert!(chain.map(|n| n - 1).eq(model));
            }
            for threads in 2..5 {
                let mut together = vec![0; slots];
                let of_several = fill(&mut together, rows, threads, slot);
                prop_assert!(together == alone && of_several == next, "{threads} threads");
            }
        }
    }
}
