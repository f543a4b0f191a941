//! The distinct values of a column, in order of appearance.
//!
//! Open addressing over value numbers; keys are compared in place. A NULL has
//! the number of the value before it, so that it breaks no run.

use super::Dense;
use xxhash_rust::xxh3::xxh3_64;

/// The distinct values and each row's number among them.
#[derive(Debug)]
pub struct Distinct<K> {
    /// In order of appearance.
    pub values: Vec<K>,
    /// One for each row.
    pub numbers: Vec<u32>,
}

/// A value that can be told from others.
pub trait Hashed: Copy + Eq {
    /// Spreads equal values to equal numbers.
    fn hash(&self) -> u64;
}

impl Hashed for &[u8] {
    fn hash(&self) -> u64 {
        xxh3_64(self)
    }
}

impl Hashed for u128 {
    fn hash(&self) -> u64 {
        let folded = (*self as u64) ^ ((*self >> 64) as u64).rotate_left(29);
        let spread = u128::from(folded).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        (spread ^ spread >> 64) as u64
    }
}

const EMPTY: u32 = u32::MAX;

/// Numbers the values of `column`'s rows; `None` as soon as there are more than `most`.
pub fn distinct<K: Hashed>(
    column: &Dense,
    most: usize,
    value: impl Fn(usize) -> K,
) -> Option<Distinct<K>> {
    let mut slots = vec![EMPTY; 1024];
    let mut found = Distinct {
        values: Vec::new(),
        numbers: Vec::with_capacity(column.rows),
    };
    let mut last = 0;
    for row in 0..column.rows {
        if column
            .nulls
            .as_ref()
            .is_some_and(|nulls| nulls.is_null(row))
        {
            found.numbers.push(last);
            continue;
        }
        let value = value(row);
        if found.values.get(last as usize) != Some(&value) {
            last = number(&mut slots, &mut found.values, value);
            if found.values.len() > most {
                return None;
            }
        }
        found.numbers.push(last);
    }
    Some(found)
}

/// The number of `value`, which is added if it is new.
fn number<K: Hashed>(slots: &mut Vec<u32>, values: &mut Vec<K>, value: K) -> u32 {
    let mask = slots.len() - 1;
    let mut at = value.hash() as usize & mask;
    while slots[at] != EMPTY {
        if values[slots[at] as usize] == value {
            return slots[at];
        }
        at = (at + 1) & mask;
    }
    // In range: a block has at most 2^20 rows.
    let number = values.len() as u32;
    slots[at] = number;
    values.push(value);
    if 2 * values.len() > slots.len() {
        grow(slots, values);
    }
    number
}

fn grow<K: Hashed>(slots: &mut Vec<u32>, values: &[K]) {
    let size = 4 * slots.len();
    slots.clear();
    slots.resize(size, EMPTY);
    for (number, value) in values.iter().enumerate() {
        let mut at = value.hash() as usize & (size - 1);
        while slots[at] != EMPTY {
            at = (at + 1) & (size - 1);
        }
        slots[at] = number as u32;
    }
}
