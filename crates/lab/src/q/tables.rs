//! The tables of the experiments: Narrow-U, Narrow-E, Wide-E, Strings (Q, section 3.1).
//!
//! A value follows from seed, column and row alone, so any rows can be made at any
//! time, in any order and by any thread, and every organisation holds the same table.

use arrow_array::builder::StringViewBuilder;
use arrow_array::{ArrayRef, Int32Array};
use freestone_storage::{Column, ColumnType, TableSchema, Value};
use std::sync::Arc;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Ten integers, each from 1 to 100,000,000.
    NarrowU,
    /// Ten integers, column i from 1 to 2^(2.7 i).
    NarrowE,
    /// Fifty integers, column i from 1 to 2^(4 + 23/50 i).
    WideE,
    /// Ten strings of 20 letters, digits, spaces and periods.
    Strings,
    /// Narrow-U with a last column that has 100 values, to group by.
    Grouped,
}

/// Groups of [`TableKind::Grouped`].
pub const GROUPS: i32 = 100;

/// Characters of a string.
pub const CHARACTERS: usize = 20;

/// What strings are made of, in ascending order: six bits each.
const ALPHABET: &[u8; 64] = b" .0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl TableKind {
    /// Its columns.
    pub fn columns(self) -> usize {
        match self {
            TableKind::WideE => 50,
            _ => 10,
        }
    }

    /// Bytes of a value.
    pub fn value_bytes(self) -> usize {
        match self {
            TableKind::Strings => CHARACTERS,
            _ => size_of::<i32>(),
        }
    }

    /// Bytes of a tuple's values.
    pub fn row_bytes(self) -> usize {
        self.columns() * self.value_bytes()
    }

    /// Rows that the paper's table has.
    pub fn paper_rows(self) -> u64 {
        match self {
            TableKind::WideE | TableKind::Strings => 150_000_000,
            _ => 750_000_000,
        }
    }

    /// The projection widths that the paper varies; 0 is the predicate alone.
    pub fn widths(self) -> [usize; 5] {
        match self {
            TableKind::WideE => [0, 1, 15, 25, 50],
            _ => [0, 1, 3, 5, 10],
        }
    }

    /// The columns as declared: `c1`, `c2`, …, none of them nullable.
    pub fn schema(self) -> TableSchema {
        let kind = match self {
            TableKind::Strings => ColumnType::Varchar(Some(CHARACTERS as u32)),
            _ => ColumnType::Integer,
        };
        let column = |number: usize| Column {
            name: format!("c{}", number + 1),
            kind,
            nullable: false,
            default: None,
            identity: None,
            declared: None,
            modifier: None,
            generated: false,
            hidden: None,
        };
        TableSchema {
            columns: (0..self.columns()).map(column).collect(),
            ..TableSchema::default()
        }
    }

    /// Integers of `column` are from 1 to this.
    pub fn largest(self, column: usize) -> i32 {
        let number = (column + 1) as f64;
        match self {
            TableKind::NarrowU => 100_000_000,
            TableKind::Grouped if column + 1 == self.columns() => GROUPS,
            TableKind::Grouped => 100_000_000,
            TableKind::NarrowE => (2.7 * number).exp2() as i32,
            TableKind::WideE => (4.0 + 23.0 / 50.0 * number).exp2() as i32,
            TableKind::Strings => i32::MAX,
        }
    }

    /// The constant of `column >= constant` that a `share` of the rows passes, as
    /// nearly as the column's values allow.
    pub fn at_least(self, column: usize, share: f64) -> Value {
        let below = (1.0 - share).clamp(0.0, 1.0);
        if self != TableKind::Strings {
            let skipped = (below * f64::from(self.largest(column))).round();
            return Value::Int(skipped as i128 + 1);
        }
        let mut left = below;
        let digits = (0..CHARACTERS / 2).map(|_| {
            left = left.fract() * 64.0;
            ALPHABET[(left as usize).min(63)]
        });
        Value::Bytes(digits.collect())
    }
}

/// Makes rows of a table.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// Which table.
    pub kind: TableKind,
    /// Another seed gives another table.
    pub seed: u64,
}

/// Scrambles 64 bits (the finaliser of SplitMix64).
pub fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Generator {
    /// Random bits that belong to a value.
    fn bits(self, column: usize, row: u64) -> u64 {
        let stream = mixed(self.seed ^ (column as u64 + 1).wrapping_mul(STEP));
        mixed(stream.wrapping_add(row.wrapping_mul(STEP)))
    }

    /// An integer of the table.
    pub fn integer(self, column: usize, row: u64) -> i32 {
        self.up_to(self.kind.largest(column), column, row)
    }

    /// The same where the largest of the column is known.
    fn up_to(self, largest: i32, column: usize, row: u64) -> i32 {
        let bits = u128::from(self.bits(column, row));
        ((bits * largest as u128) >> 64) as i32 + 1
    }

    /// A string of the table.
    pub fn string(self, column: usize, row: u64) -> [u8; CHARACTERS] {
        let first = self.bits(column, row);
        let second = mixed(first ^ STEP);
        let half = CHARACTERS / 2;
        std::array::from_fn(|place| {
            let bits = if place < half { first } else { second };
            ALPHABET[(bits >> (58 - 6 * (place % half)) & 63) as usize]
        })
    }

    /// A column at some rows.
    pub fn column(self, column: usize, rows: impl Iterator<Item = u64>) -> ArrayRef {
        if self.kind != TableKind::Strings {
            let largest = self.kind.largest(column);
            let values = rows.map(|row| self.up_to(largest, column, row));
            return Arc::new(Int32Array::from_iter_values(values));
        }
        let mut strings = StringViewBuilder::new().with_fixed_block_size(1 << 20);
        for row in rows {
            let string = self.string(column, row);
            // The alphabet is ASCII.
            strings.append_value(str::from_utf8(&string).unwrap_or_default());
        }
        Arc::new(strings.finish())
    }

    /// All columns at some rows.
    pub fn columns(self, rows: impl Iterator<Item = u64> + Clone) -> Vec<ArrayRef> {
        let columns = 0..self.kind.columns();
        columns
            .map(|column| self.column(column, rows.clone()))
            .collect()
    }

    /// `width` columns drawn from all of the table's, in the table's order.
    pub fn projection(self, width: usize, draw: u64) -> Vec<usize> {
        let mut columns: Vec<usize> = (0..self.kind.columns()).collect();
        let key =
            |column: &usize| mixed(self.seed ^ mixed(draw.wrapping_add(*column as u64 * STEP)));
        columns.sort_by_key(key);
        columns.truncate(width);
        columns.sort_unstable();
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;

    const ROWS: u64 = 20_000;

    fn generator(kind: TableKind) -> Generator {
        Generator { kind, seed: 7 }
    }

    #[test]
    fn integers_are_spread_evenly_over_their_range() {
        for kind in [TableKind::NarrowU, TableKind::NarrowE, TableKind::WideE] {
            for column in [0, 4, kind.columns() - 1] {
                let largest = f64::from(kind.largest(column));
                let array = generator(kind).column(column, 0..ROWS);
                let values = array.as_primitive::<Int32Type>().values();
                let sum: f64 = values.iter().map(|value| f64::from(*value)).sum();
                let mean = sum / ROWS as f64;
                let expected = (1.0 + largest) / 2.0;
                // Five standard errors of a uniform mean.
                let error = 5.0 * largest / (12.0 * ROWS as f64).sqrt();
                assert!((mean - expected).abs() < error, "{kind:?} {column}: {mean}");
                let (min, max) = (values.iter().min(), values.iter().max());
                assert!(min >= Some(&1) && max <= Some(&kind.largest(column)));
            }
        }
        assert_eq!(TableKind::NarrowE.largest(0), 6);
        assert_eq!(TableKind::NarrowE.largest(9), 1 << 27);
        assert_eq!(TableKind::WideE.largest(49), 1 << 27);
        assert_eq!(TableKind::Grouped.largest(9), 100);
    }

    #[test]
    fn constants_select_the_share_that_they_shall() {
        for kind in [TableKind::NarrowU, TableKind::NarrowE, TableKind::Strings] {
            for share in [0.001, 0.01, 0.1, 0.5, 1.0] {
                let column = 4;
                let made = generator(kind);
                let passes = |row: &u64| match kind.at_least(column, share) {
                    Value::Int(least) => i128::from(made.integer(column, *row)) >= least,
                    Value::Bytes(least) => made.string(column, *row)[..] >= least[..],
                    _ => false,
                };
                let passed = (0..ROWS).filter(passes).count() as f64;
                let expected = share * ROWS as f64;
                let error = 5.0 * (expected * (1.0 - share)).sqrt().max(1.0);
                assert!(
                    (passed - expected).abs() <= error,
                    "{kind:?} {share}: {passed}"
                );
            }
        }
    }

    #[test]
    fn strings_use_the_whole_alphabet_everywhere() {
        let made = generator(TableKind::Strings);
        for place in 0..CHARACTERS {
            let used = (0..ROWS).map(|row| made.string(3, row)[place]);
            let used: std::collections::BTreeSet<u8> = used.collect();
            assert_eq!(used.len(), 64);
        }
        assert!(ALPHABET.is_sorted());
    }

    #[test]
    fn projections_are_different_columns() {
        let made = generator(TableKind::WideE);
        let mut columns = made.projection(15, 3);
        assert_ne!(columns, made.projection(15, 4));
        assert!(columns.is_sorted());
        columns.dedup();
        assert_eq!(columns.len(), 15);
    }
}
