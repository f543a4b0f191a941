//! One value as an unsigned integer, or bytes, that sorts as the value does.
//!
//! Signed integers flip their sign bit: -1, 0, 1 of 16 bits become `7fff`, `8000`
//! and `8001`. Floats are in the order of `total_cmp`: with the sign bit set all
//! bits flip, otherwise the sign bit alone. So NaN has places of its own at both
//! ends, and -0.0 comes just before 0.0: they are *different* keys. Who holds
//! them equal asks for the range of both.

use crate::schema::Value;
use std::cmp::Ordering;

macro_rules! signed {
    ($($name:ident: $signed:ty => $unsigned:ty),*) => {$(
        /// The integer with its sign bit flipped.
        #[inline]
        pub fn $name(value: $signed) -> $unsigned {
            value.cast_unsigned() ^ (1 << (<$unsigned>::BITS - 1))
        }
    )*};
}

signed!(from_i16: i16 => u16, from_i32: i32 => u32, from_i64: i64 => u64, from_i128: i128 => u128);

macro_rules! float {
    ($($name:ident: $float:ty => $signed:ident, $from:ident, $unsigned:ty),*) => {$(
        /// The float's place in IEEE total order.
        #[inline]
        pub fn $name(value: $float) -> $unsigned {
            let bits = value.to_bits().cast_signed();
            // All ones if negative: flips what is below the sign.
            let flip = (bits >> (<$unsigned>::BITS - 1)).cast_unsigned() >> 1;
            $from(bits ^ flip.cast_signed())
        }
    )*};
}

float!(from_f32: f32 => i32, from_i32, u32, from_f64: f64 => i64, from_i64, u64);

/// False before true.
#[inline]
pub fn from_bool(value: bool) -> u8 {
    u8::from(value)
}

/// Sixteen bytes (a UUID) in the order of the bytes.
#[inline]
pub fn from_bytes16(value: [u8; 16]) -> u128 {
    u128::from_be_bytes(value)
}

/// Up to 16 bytes in the order of the bytes, filled up with zeros to `taken`.
#[inline]
pub fn from_bytes(bytes: &[u8], taken: usize) -> u128 {
    let mut word = [0; 16];
    let len = bytes.len().min(taken);
    word[16 - taken..16 - taken + len].copy_from_slice(&bytes[..len]);
    u128::from_be_bytes(word)
}

/// How many bytes two strings share at the front.
pub fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(l, r)| l == r).count()
}

/// A constant of some kind of part, normalised: the nearest value that the
/// column can hold, and whether the constant is below, at or above it.
pub(super) struct Normal<'a> {
    word: [u8; 16],
    bytes: Option<&'a [u8]>,
    len: usize,
    pub side: Ordering,
}

impl Normal<'_> {
    /// The bytes that sort as the values do.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.unwrap_or(&self.word[16 - self.len..])
    }
}

/// Normalises a constant; `None` if it is of another type than the column.
pub(super) fn constant(value: &Value, kind: super::KeyKind) -> Option<Normal<'_>> {
    use super::KeyKind as Kind;
    let len = kind.bytes().unwrap_or(0);
    let word = |word: u128, side| Normal {
        word: word.to_be_bytes(),
        bytes: None,
        len,
        side,
    };
    Some(match (value, kind) {
        (Value::Bool(value), Kind::Bool) => word(u128::from(from_bool(*value)), Ordering::Equal),
        (Value::Int(value), Kind::I16 | Kind::I32 | Kind::I64 | Kind::I128) => {
            // Flipping the sign bit is adding half the range, wrapping.
            let half = 1u128 << (8 * len - 1);
            let least = half.wrapping_neg().cast_signed();
            let nearest = match kind {
                Kind::I128 => *value,
                _ => (*value).clamp(least, half.cast_signed() - 1),
            };
            let place = nearest.cast_unsigned().wrapping_add(half);
            word(place, value.cmp(&nearest))
        }
        (Value::Float(value), Kind::F32) => {
            let nearest = *value as f32;
            let side = value.total_cmp(&f64::from(nearest));
            // Converting may quiet a NaN: then any of its kind will do.
            let side = if value.is_nan() {
                Ordering::Equal
            } else {
                side
            };
            word(u128::from(from_f32(nearest)), side)
        }
        (Value::Float(value), Kind::F64) => word(u128::from(from_f64(*value)), Ordering::Equal),
        (Value::Bytes(value), Kind::Bytes) => Normal {
            word: [0; 16],
            bytes: Some(value),
            len,
            side: Ordering::Equal,
        },
        (Value::Bytes(value), Kind::Bytes16) => {
            // A string of another length sorts as bytes do: filled up or cut.
            let side = value.len().cmp(&16);
            word(from_bytes(value, 16), side)
        }
        _ => return None,
    })
}
