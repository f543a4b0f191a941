//! Codecs alone, without a layout around them.

use crate::input::{Input, check_array};
use arrow_array::Array;
use arrow_buffer::NullBuffer;
use freestone_storage::codec::ArrayForm;
use freestone_storage::codec::Codebook;
use freestone_storage::codec::Fetch;
use freestone_storage::codec::bits::{CHUNK, Mask, Target};
use freestone_storage::codec::code_source::CodeSource;
use freestone_storage::codec::fields::{Fields, Rows};
use freestone_storage::codec::integers::Integers;
use freestone_storage::codec::symbols::SymbolTable;
use std::fmt::Debug;
use std::ops::{Range, RangeInclusive};

/// [`Integers`]: codec, rows, bytes.
pub fn integers(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let (codec, rows) = (input.codec(), input.rows());
    let Ok(integers) = Integers::open(codec, input.rest(), rows) else {
        return false;
    };
    assert_eq!(integers.rows(), rows);
    let mut values: Vec<i64> = Vec::new();
    integers.read(0..rows, &mut values);
    assert_eq!(values.len(), rows);
    as_type(&integers, &values, |value| value as u8);
    as_type(&integers, &values, |value| value as i16);
    as_type(&integers, &values, |value| value as i32);
    as_type(&integers, &values, i128::from);
    take(&integers, &values);
    test(&integers, &values);
    for count in [0, 1, 100, 1 << 18, usize::MAX] {
        let below = |value: &i64| u64::try_from(*value).is_ok_and(|value| value < count as u64);
        let all_below = values.iter().all(below);
        assert_eq!(integers.check_below(count).is_ok(), all_below, "{count}");
    }
    integers.memory();
    true
}

fn as_type<D: Target + PartialEq + Debug>(
    integers: &Integers,
    values: &[i64],
    cast: impl Fn(i64) -> D,
) {
    let cast: Vec<D> = values.iter().map(|value| cast(*value)).collect();
    let (from, to) = (values.len() / 3, values.len() * 2 / 3);
    for part in [0..values.len(), from..to] {
        let mut some: Vec<D> = Vec::new();
        integers.read(part.clone(), &mut some);
        assert_eq!(some, cast[part]);
    }
    for (chunk, known) in cast.chunks(CHUNK).enumerate() {
        let mut some = [D::default(); CHUNK];
        integers.chunk(chunk, &mut some);
        assert_eq!(some[..known.len()], *known);
    }
}

fn take(integers: &Integers, values: &[i64]) {
    for step in [1, 3, 70, 1500] {
        let positions: Vec<u32> = (values.len() / 7..values.len())
            .step_by(step)
            .map(|row| row as u32)
            .collect();
        let mut taken: Vec<i64> = Vec::new();
        integers.take(&positions, &mut taken);
        assert!(
            taken
                .iter()
                .eq(positions.iter().map(|row| &values[*row as usize]))
        );
    }
}

fn test(integers: &Integers, values: &[i64]) {
    let (first, last) = (values[0], values[values.len() - 1]);
    let (low, high) = (first.min(last), first.max(last));
    let choices: [&[RangeInclusive<i64>]; 4] = [
        &[low..=high],
        &[i64::MIN..=low, high..=high],
        &[0..=i64::MAX],
        &[],
    ];
    for ranges in choices {
        for (chunk, known) in values.chunks(CHUNK).enumerate() {
            let mut mask = [0; CHUNK / 64];
            integers.test(chunk, ranges, &mut mask);
            for (place, value) in known.iter().enumerate() {
                let passes = ranges.iter().any(|range| range.contains(value));
                assert_eq!(mask[place / 64] >> (place % 64) & 1 == 1, passes);
            }
        }
    }
}

/// Codes by a function of their rows.
struct Codes<F>(F);

impl<F: Fn(u32) -> u64> CodeSource for Codes<F> {
    fn read<D: Target>(&self, rows: &Rows<'_>, base: i64, out: &mut Vec<D>) {
        out.extend(rows.iter().map(|row| D::from_code(base, self.0(row))));
    }

    fn in_range(&self, rows: Range<usize>, codes: (u64, u64), mask: &mut Mask) {
        self.read_and_compare(rows, codes, mask);
    }
}

/// Integers of all rows.
struct Integral<'a>(&'a [i64]);

impl Fetch for Integral<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn fetch<D: Target>(&self, out: &mut Vec<D>) {
        out.extend(self.0.iter().map(|value| D::from_code(*value, 0)));
    }

    fn rows(&self) -> impl Iterator<Item = u32> + Clone {
        0..self.0.len() as u32
    }
}

/// [`Fields`]: rows, the header with its length, then bytes that codes are made of.
pub fn fields(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let rows = input.rows();
    let Ok(fields) = Fields::open(&input.section(), rows) else {
        return false;
    };
    let source = input.rest();
    let mask = u64::MAX.unbounded_shr(64 - u32::from(fields.width()));
    let code = |row: u32| {
        let byte = source.get(row as usize % source.len().max(1)).copied();
        u64::from(byte.unwrap_or(1)).wrapping_mul(0x0101_0101_0101_0101) & mask
    };
    let codes = Codes(code);
    let integers = |rows: &Rows<'_>| {
        let mut out: Vec<i64> = Vec::new();
        fields.integers(rows, &codes, &mut out);
        out
    };
    let all = integers(&Rows::Range(0..rows));
    assert_eq!(all.len(), rows);
    let part = integers(&Rows::Range(rows / 3..rows));
    assert_eq!(part, all[rows / 3..]);
    for step in [1, 9, 1025] {
        let positions: Vec<u32> = (rows / 5..rows)
            .step_by(step)
            .map(|row| row as u32)
            .collect();
        let some = integers(&Rows::Positions(&positions));
        assert!(
            some.iter()
                .eq(positions.iter().map(|row| &all[*row as usize]))
        );
    }
    fields.memory();
    true
}

/// [`Codebook`]: type, codec, rows, the codebook with its length, then bytes
/// that integers and NULLs are made of.
pub fn codebook(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let (kind, codec, rows) = (input.kind(), input.codec(), input.rows());
    let Ok(book) = Codebook::open(codec, kind, &input.section(), rows) else {
        return false;
    };
    book.memory();
    let wide = input.byte() & 1 == 1;
    let source = input.rest();
    let byte = |at: usize| source.get(at % source.len().max(1)).copied().unwrap_or(0);
    let integer = |row: usize| match wide {
        true => i64::from_le_bytes(std::array::from_fn(|place| byte(8 * row + place))),
        false => i64::from(byte(row)),
    };
    let integers: Vec<i64> = (0..rows).map(integer).collect();
    let nulls: NullBuffer = (0..rows).map(|row| byte(row / 3) % 4 > 0).collect();
    for nulls in [None, Some(nulls), Some(NullBuffer::new_null(rows))] {
        let fetched = Integral(&integers);
        if let Ok(array) = book.decode(&kind, &fetched, nulls.clone(), ArrayForm::Sql) {
            check_array(&array, kind, integers.len());
            assert_eq!(
                array.null_count(),
                nulls.map_or(0, |nulls| nulls.null_count())
            );
        }
    }
    true
}

/// [`SymbolTable`]: the table with its length, then coded bytes; the first of
/// them says how long the values are.
pub fn symbols(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let stored = input.section();
    let Ok(table) = SymbolTable::read(&stored) else {
        return false;
    };
    let mut again = Vec::new();
    table.write(&mut again);
    assert_eq!(again, stored.as_slice(), "one table has one form");
    let step = usize::from(input.byte()) + 1;
    let coded = input.rest();
    let mut ends: Vec<usize> = (step..coded.len()).step_by(step).collect();
    ends.push(coded.len());
    let (mut text, mut text_ends) = (b"before".to_vec(), Vec::new());
    let together = table.decode_all(&coded, ends.iter().copied(), &mut text, &mut text_ends);
    let (mut apart, mut apart_ends, mut start) = (b"before".to_vec(), Vec::new(), 0);
    let singly = ends.iter().try_for_each(|end| {
        let before = apart.len();
        let len = table.decoded_len(&coded[start..*end]);
        let outcome = table.decode(&coded[start..*end], &mut apart);
        assert_eq!(len.is_ok(), outcome.is_ok());
        assert!(outcome.is_err() || len.ok() == Some(apart.len() - before));
        apart_ends.push(apart.len() as u32);
        start = *end;
        outcome
    });
    assert_eq!(together.is_ok(), singly.is_ok());
    if together.is_ok() {
        assert_eq!((text, text_ends), (apart, apart_ends));
    } else {
        assert_eq!((text.as_slice(), text_ends.len()), (&b"before"[..], 0));
    }
    true
}
