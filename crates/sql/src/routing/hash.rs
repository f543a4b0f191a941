//! The hash of a partition key, bit for bit PostgreSQL's, so that a dump of one server's
//! partitions fits the other's: Jenkins' `lookup3` with a seed.
//!
//! Values of types whose hash depends on numbers of the server, or that are seldom keys, have
//! none here: enumerations, intervals, arrays and JSON.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use freestone_frontend::types::Type;

use super::key::Key;
use crate::error::{Error, Result};
use crate::values::convert;

/// The start of all hashes of partition keys.
const SEED: u64 = 0x7a5b_2236_7996_dcfd;
/// Days, and microseconds, from 1970 to 2000.
const DAYS: i32 = 10_957;
const MICROSECONDS: i64 = 946_684_800_000_000;

/// Whether values of a type have a hash.
pub(crate) fn is_hashed(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Bool
            | Type::Int2
            | Type::Int4
            | Type::Int8
            | Type::Oid
            | Type::Float4
            | Type::Float8
            | Type::Numeric(_)
            | Type::Date
            | Type::Time(_)
            | Type::Timestamp(_)
            | Type::TimestampTz(_)
            | Type::Uuid
            | Type::Text
            | Type::Varchar(_)
            | Type::Char(_)
            | Type::Bytea
    )
}

/// The hashes of the keys of rows; a NULL adds nothing.
///
/// # Errors
/// `XX000` for values of another type than they say.
pub(super) fn of(key: &Key, values: &[ArrayRef]) -> Result<Vec<u64>> {
    let rows = values.first().map_or(0, |values| values.len());
    let mut all = vec![0_u64; rows];
    for (part, values) in key.parts.iter().zip(values) {
        let hash = of_values(&part.ty, values)?;
        for (row, all) in all.iter_mut().enumerate() {
            if values.is_valid(row) {
                *all = combined(*all, hash(row));
            }
        }
    }
    Ok(all)
}

fn combined(a: u64, b: u64) -> u64 {
    let more = b.wrapping_add(0x49a0_f4dd_15e5_a8e3);
    a ^ more.wrapping_add(a << 54).wrapping_add(a >> 7)
}

/// The hash of each value of an array.
fn of_values<'a>(ty: &Type, values: &'a ArrayRef) -> Result<Box<dyn Fn(usize) -> u64 + 'a>> {
    let wrong = || Error::internal(format!("a key of type {ty} has other values"));
    Ok(match ty {
        Type::Bool => {
            let values = values.as_boolean_opt().ok_or_else(wrong)?;
            Box::new(|row| of_word(u32::from(values.value(row))))
        }
        Type::Int2 => {
            let values = values.as_primitive_opt::<Int16Type>().ok_or_else(wrong)?;
            Box::new(|row| of_word(i32::from(values.value(row)) as u32))
        }
        Type::Int4 => {
            let values = values.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?;
            Box::new(|row| of_word(values.value(row) as u32))
        }
        Type::Oid => {
            let values = values.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
            Box::new(|row| of_word(values.value(row) as u32))
        }
        Type::Int8 => {
            let values = values.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
            Box::new(|row| of_long(values.value(row)))
        }
        Type::Date => {
            let values = values.as_primitive_opt::<Date32Type>().ok_or_else(wrong)?;
            Box::new(|row| of_word(values.value(row).wrapping_sub(DAYS) as u32))
        }
        Type::Time(_) => {
            let values = values.as_primitive_opt::<Time64MicrosecondType>();
            let values = values.ok_or_else(wrong)?;
            Box::new(|row| of_long(values.value(row)))
        }
        Type::Timestamp(_) | Type::TimestampTz(_) => {
            let values = values.as_primitive_opt::<TimestampMicrosecondType>();
            let values = values.ok_or_else(wrong)?;
            Box::new(|row| of_long(values.value(row).wrapping_sub(MICROSECONDS)))
        }
        Type::Float4 => {
            let values = values.as_primitive_opt::<Float32Type>().ok_or_else(wrong)?;
            Box::new(|row| of_float(values.value(row).into()))
        }
        Type::Float8 => {
            let values = values.as_primitive_opt::<Float64Type>().ok_or_else(wrong)?;
            Box::new(|row| of_float(values.value(row)))
        }
        Type::Uuid => {
            let values = values.as_fixed_size_binary_opt().ok_or_else(wrong)?;
            Box::new(|row| of_bytes(values.value(row)))
        }
        Type::Bytea => {
            let values = values.as_binary_view_opt().ok_or_else(wrong)?;
            Box::new(|row| of_bytes(values.value(row)))
        }
        Type::Char(_) => {
            let values = values.as_string_view_opt().ok_or_else(wrong)?;
            Box::new(|row| of_bytes(values.value(row).trim_end_matches(' ').as_bytes()))
        }
        Type::Text | Type::Varchar(_) => {
            let values = values.as_string_view_opt().ok_or_else(wrong)?;
            Box::new(|row| of_bytes(values.value(row).as_bytes()))
        }
        Type::Numeric(_) => {
            let texts = convert::as_text(values, ty)?;
            Box::new(move |row| {
                let texts = texts.as_string_view_opt();
                texts.map_or(0, |texts| of_number(texts.value(row)))
            })
        }
        _ => return Err(wrong()),
    })
}

/// An integer of 32 bits.
fn of_word(value: u32) -> u64 {
    let mut state = State::new(4);
    state.0[0] = state.0[0].wrapping_add(value);
    state.finished()
}

/// An integer of 64 bits; one of 32 bits has the same hash.
fn of_long(value: i64) -> u64 {
    let (low, high) = (value as u32, (value >> 32) as u32);
    of_word(low ^ if value >= 0 { high } else { !high })
}

/// A float: both zeros are one value, and so are all that are no numbers.
fn of_float(value: f64) -> u64 {
    match value {
        0.0 => SEED,
        value if value.is_nan() => of_bytes(&0x7ff8_0000_0000_0000_u64.to_le_bytes()),
        value => of_bytes(&value.to_le_bytes()),
    }
}

/// A number, by its digits in groups of four and the place of the first.
fn of_number(text: &str) -> u64 {
    let text = text.trim_start_matches('-');
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return SEED;
    }
    let lead = (4 - whole.len() % 4) % 4;
    let mut digits = vec![b'0'; lead];
    digits.extend(whole.bytes().chain(fraction.bytes()));
    digits.resize(digits.len().next_multiple_of(4), b'0');
    let group = |four: &[u8]| {
        let digits = four.iter();
        digits.fold(0_i16, |all, digit| all * 10 + i16::from(digit - b'0'))
    };
    let groups: Vec<i16> = digits.chunks(4).map(group).collect();
    let Some(first) = groups.iter().position(|group| *group != 0) else {
        return SEED.wrapping_sub(1);
    };
    let last = groups.iter().rposition(|group| *group != 0);
    let kept = groups
        .get(first..=last.unwrap_or(first))
        .unwrap_or_default();
    let bytes: Vec<u8> = kept.iter().flat_map(|group| group.to_le_bytes()).collect();
    let weight = ((lead + whole.len()) / 4) as i64 - 1 - first as i64;
    of_bytes(&bytes) ^ weight as u64
}

/// Bytes of any number.
fn of_bytes(bytes: &[u8]) -> u64 {
    let mut state = State::new(bytes.len() as u32);
    let mut chunks = bytes.chunks_exact(12);
    for chunk in &mut chunks {
        state.add(chunk);
        state.mix();
    }
    // The last word keeps its lowest byte free.
    let rest = chunks.remainder();
    let mut last = [0; 12];
    let (head, tail) = rest.split_at(rest.len().min(8));
    last[..head.len()].copy_from_slice(head);
    last[9..9 + tail.len()].copy_from_slice(tail);
    state.add(&last);
    state.finished()
}

/// The three words of a hash.
struct State([u32; 3]);

impl State {
    fn new(len: u32) -> Self {
        let begin = 0x9e37_79b9_u32.wrapping_add(len).wrapping_add(3_923_095);
        let mut state = Self([begin; 3]);
        state.0[0] = state.0[0].wrapping_add((SEED >> 32) as u32);
        state.0[1] = state.0[1].wrapping_add(SEED as u32);
        state.mix();
        state
    }

    fn add(&mut self, bytes: &[u8]) {
        for (word, bytes) in self.0.iter_mut().zip(bytes.chunks(4)) {
            let mut four = [0; 4];
            four[..bytes.len()].copy_from_slice(bytes);
            *word = word.wrapping_add(u32::from_le_bytes(four));
        }
    }

    fn mix(&mut self) {
        let [mut a, mut b, mut c] = self.0;
        for bits in [4, 6, 8, 16, 19, 4] {
            a = a.wrapping_sub(c) ^ c.rotate_left(bits);
            c = c.wrapping_add(b);
            // The next step is of the next word.
            (a, b, c) = (b, c, a);
        }
        self.0 = [a, b, c];
    }

    fn finished(&self) -> u64 {
        let [mut a, mut b, mut c] = self.0;
        for bits in [14, 11, 25, 16, 4, 14, 24] {
            c = (c ^ b).wrapping_sub(b.rotate_left(bits));
            (a, b, c) = (b, c, a);
        }
        // Seven rounds end with the words one place on.
        (u64::from(a) << 32) | u64::from(b)
    }
}
