//! How many keys a row has in common with the row before it: where partitions and groups of
//! peers begin.

use crate::Result;
use crate::threads::on_items;
use crate::vector::{BATCH_ROWS, Values, Vector};
use crate::{Error, vector};
use arrow_array::cast::AsArray;
use std::ops::Range;

/// Keys that are told apart at most.
const MOST: usize = u8::MAX as usize;

/// For each row in order, how many of the first keys are those of the row before; of the
/// first row none. `keys` are the columns of the keys before they were sorted.
pub(super) fn levels(keys: &[Vector], order: &[u32], threads: usize) -> Result<Vec<u8>> {
    if keys.len() > MOST {
        return Err(Error::internal("too many keys of windows"));
    }
    let pieces = (0..order.len()).step_by(BATCH_ROWS);
    let pieces: Vec<Range<usize>> = pieces
        .map(|start| start..order.len().min(start + BATCH_ROWS))
        .collect();
    let found = on_items(threads, pieces, |piece| piece_of(keys, order, piece));
    let mut levels = Vec::with_capacity(order.len());
    for piece in found {
        levels.extend(piece?);
    }
    Ok(levels)
}

fn piece_of(keys: &[Vector], order: &[u32], piece: Range<usize>) -> Result<Vec<u8>> {
    // In range: there are no more keys than that.
    let mut levels = vec![keys.len() as u8; piece.len()];
    let before = piece.start.checked_sub(1);
    let rows = &order[before.unwrap_or(piece.start)..piece.end];
    // With a row before it, each has a pair.
    let (skip, to) = match before {
        Some(_) => (0, &mut levels[..]),
        None => (1, levels.split_at_mut(1.min(piece.len())).1),
    };
    for (number, key) in keys.iter().enumerate().rev() {
        differences(key, rows, to, number as u8)?;
    }
    if skip == 1
        && let Some(first) = levels.first_mut()
    {
        *first = 0;
    }
    Ok(levels)
}

/// Puts a number where rows differ from those before them.
fn differences(key: &Vector, rows: &[u32], to: &mut [u8], number: u8) -> Result<()> {
    match &key.values {
        Values::Int(values) => each(key, rows, to, number, |a, b| values[a] == values[b]),
        Values::Wide(values) => each(key, rows, to, number, |a, b| values[a] == values[b]),
        Values::Float(values) => each(key, rows, to, number, |a, b| {
            values[a].to_bits() == values[b].to_bits()
        }),
        Values::Bool(bits) => each(key, rows, to, number, |a, b| bits.value(a) == bits.value(b)),
        Values::Text(array) => {
            let texts = array.as_string_view();
            each(key, rows, to, number, |a, b| {
                texts.value(a) == texts.value(b)
            });
        }
        Values::Coded { codes, entries } => {
            let texts = entries.as_string_view();
            each(key, rows, to, number, |a, b| {
                let (a, b) = (codes[a] as usize, codes[b] as usize);
                a == b || texts.value(a) == texts.value(b)
            });
        }
        Values::Other(_) => return Err(Error::internal("a window's key that is not sorted")),
    }
    Ok(())
}

#[inline(always)]
fn each(
    key: &vector::Vector,
    rows: &[u32],
    to: &mut [u8],
    number: u8,
    same: impl Fn(usize, usize) -> bool,
) {
    let pairs = rows.iter().zip(rows.iter().skip(1));
    let pairs = pairs.map(|(a, b)| (*a as usize, *b as usize));
    let each = to.iter_mut().zip(pairs);
    match &key.nulls {
        None => each.for_each(|(to, (a, b))| {
            *to = if same(a, b) { *to } else { number };
        }),
        Some(nulls) => each.for_each(|(to, (a, b))| {
            let equal = match (nulls.is_null(a), nulls.is_null(b)) {
                (false, false) => same(a, b),
                (a, b) => a && b,
            };
            *to = if equal { *to } else { number };
        }),
    }
}
