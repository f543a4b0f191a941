//! NUMERIC as bytes whose order is that of the values.
//!
//! ```text
//! ┌──────┬──────────────────────────────┬───────┐
//! │ head │ two decimal digits a byte    │ scale │
//! └──────┴──────────────────────────────┴───────┘
//!  sign and power of ten of the first digit
//! ```
//!
//! The number is written as `d.ddd… × 10^e` without trailing zeros, two digits a byte from the
//! first digit on. A byte of digits is the pair times two, plus one if another byte follows;
//! so a number that ends where another goes on is the lesser one, and the end is known. All
//! bytes of a negative number but those of the scale are inverted.
//!
//! | first byte | number |
//! |---|---|
//! | `00` | -Infinity |
//! | `02` … `7E` | negative: the inverse of that of the positive one |
//! | `80` | zero |
//! | `81` | positive, less than 10^-40: three bytes of exponent follow |
//! | `82` … `FC` | positive, e from -40 to 82 |
//! | `FD` | positive, 10^83 or more: three bytes of exponent follow |
//! | `FE` | Infinity |
//! | `FF` | NaN |
//!
//! The scale is its value in one byte if it is below 128, else two bytes of seven bits, low
//! ones first and the last with its highest bit set. It is read from the end.
//!
//! Example: 12.50 is `AB 19 64 02`: e is 1, then 12 and 50 as `12*2+1` and `50*2`, scale 2.

use num_bigint::BigInt;

use super::{Big, Infinity, NaN, NegInfinity, Numeric, Small, big_pow10, pow10};

const NEG_INFINITY: u8 = 0x00;
const ZERO: u8 = 0x80;
const TINY: u8 = 0x81;
const FIRST: u8 = 0x82;
const HUGE: u8 = 0xFD;
const INFINITY: u8 = 0xFE;
const NAN: u8 = 0xFF;

/// The exponent of `FIRST`.
const LEAST: i64 = -40;
/// Added to an exponent of three bytes, so that it is not negative.
const OFFSET: i64 = 1 << 20;

/// Adds the scale.
fn put_scale(bytes: &mut Vec<u8>, scale: u32) {
    if scale < 0x80 {
        bytes.push(scale as u8);
    } else {
        bytes.push((scale & 0x7f) as u8);
        bytes.push(0x80 | (scale >> 7) as u8);
    }
}

/// The bytes without the scale, and the scale.
fn split_scale(bytes: &[u8]) -> (&[u8], u32) {
    match bytes {
        [rest @ .., low, high] if *high >= 0x80 => {
            (rest, u32::from(*high & 0x7f) << 7 | u32::from(*low))
        }
        [rest @ .., scale] => (rest, (*scale).into()),
        [] => (bytes, 0),
    }
}

/// Adds the head of a positive number whose first digit stands for ten to the power of `lead`.
fn put_lead(bytes: &mut Vec<u8>, lead: i64) {
    let head = lead - LEAST;
    if (0..i64::from(HUGE - FIRST)).contains(&head) {
        bytes.push(FIRST + head as u8);
        return;
    }
    bytes.push(if head < 0 { TINY } else { HUGE });
    let exponent = (lead + OFFSET) as u32;
    bytes.extend(&exponent.to_be_bytes()[1..]);
}

/// Adds pairs of digits, of which the first may be the first of the number.
fn put_pairs(bytes: &mut Vec<u8>, digits: impl Iterator<Item = u8>) {
    bytes.extend(digits.map(|pair| pair << 1 | 1));
    if let Some(last) = bytes.last_mut() {
        *last &= !1;
    }
}

impl Numeric {
    /// Bytes whose order is that of the values, but for the scale at their end.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(12);
        let (negative, scale) = match &self.0 {
            Small(0, scale) => {
                bytes.push(ZERO);
                (false, *scale)
            }
            Small(value, scale) => {
                put_small(&mut bytes, value.unsigned_abs(), *scale);
                (*value < 0, *scale)
            }
            Big(value, scale) => {
                let text = value.magnitude().to_string();
                put_lead(&mut bytes, text.len() as i64 - 1 - i64::from(*scale));
                let digits = text.trim_end_matches('0').as_bytes();
                let pairs = digits.chunks(2).map(|pair| match pair {
                    [tens, ones] => (tens - b'0') * 10 + (ones - b'0'),
                    [tens] => (tens - b'0') * 10,
                    _ => 0,
                });
                put_pairs(&mut bytes, pairs);
                (self.sign() < 0, *scale)
            }
            NaN => return vec![NAN, 0],
            Infinity => return vec![INFINITY, 0],
            NegInfinity => return vec![NEG_INFINITY, 0],
        };
        if negative {
            bytes.iter_mut().for_each(|byte| *byte = !*byte);
        }
        put_scale(&mut bytes, scale);
        bytes
    }

    /// The part of [`encode`](Self::encode)'s bytes that equal numbers have in common.
    pub fn key(bytes: &[u8]) -> &[u8] {
        split_scale(bytes).0
    }

    /// How many of some bytes are a [`key`](Self::key) that they begin with; `None` for bytes that
    /// begin with none.
    pub fn key_length(bytes: &[u8]) -> Option<usize> {
        let head = *bytes.first()?;
        if matches!(head, NAN | INFINITY | NEG_INFINITY | ZERO) {
            return Some(1);
        }
        let mask = if head < ZERO { 0xFF } else { 0 };
        let before = match head ^ mask {
            TINY | HUGE => 4,
            _ => 1,
        };
        let digits = bytes.get(before..)?;
        let last = digits.iter().position(|byte| (byte ^ mask) & 1 == 0)?;
        Some(before + last + 1)
    }

    /// The value of a [`key`](Self::key), shown with `scale` digits.
    pub fn of_key(key: &[u8], scale: u32) -> Self {
        let mut bytes = key.to_vec();
        put_scale(&mut bytes, scale);
        Self::decode(&bytes)
    }

    /// The value of [`encode`](Self::encode)'s bytes; zero or NaN for others.
    pub fn decode(bytes: &[u8]) -> Self {
        let (number, scale) = split_scale(bytes);
        let Some((&head, mut rest)) = number.split_first() else {
            return Self::new(0, scale);
        };
        match head {
            NAN => return Self::NAN,
            INFINITY => return Self::INFINITY,
            NEG_INFINITY => return Self::NEG_INFINITY,
            ZERO => return Self::new(0, scale),
            _ => {}
        }
        let mask = if head < ZERO { 0xFF } else { 0 };
        let lead = match head ^ mask {
            TINY | HUGE => {
                let Some((exponent, after)) = rest.split_first_chunk::<3>() else {
                    return Self::NAN;
                };
                rest = after;
                let [a, b, c] = exponent.map(|byte| i64::from(byte ^ mask));
                (a << 16 | b << 8 | c) - OFFSET
            }
            head => i64::from(head) - i64::from(FIRST) + LEAST,
        };
        // The last pair's power of ten, as a number of digits to be added behind it.
        let missing = i64::from(scale) + lead + 1 - 2 * rest.len() as i64;
        let pairs = rest.iter().map(|byte| (byte ^ mask) >> 1);
        if rest.len() <= 18 && missing <= 37 - 2 * rest.len() as i64 {
            let mut value: i128 = 0;
            // Two parts of 64 bits spare multiplications of 128.
            let mut part: u64 = 0;
            for (at, pair) in pairs.enumerate() {
                if at == 9 {
                    value = i128::from(part);
                    part = 0;
                }
                part = part * 100 + u64::from(pair.min(99));
            }
            let behind = rest.len().saturating_sub(9) as u32 * 2;
            value = value * pow10(behind).unwrap_or(1) + i128::from(part);
            value = match missing {
                0.. => value * pow10(missing as u32).unwrap_or(1),
                // The second digit of the last pair is a zero that is not there.
                _ => value / 10,
            };
            return Self::new(if mask == 0 { value } else { -value }, scale);
        }
        let mut text = Vec::with_capacity(rest.len() * 2);
        for pair in pairs {
            text.extend([b'0' + pair.min(99) / 10, b'0' + pair.min(99) % 10]);
        }
        let value = BigInt::parse_bytes(&text, 10).unwrap_or_default();
        let value = match u32::try_from(missing) {
            Ok(missing) if missing > 1 << 18 => return Self::NAN,
            Ok(missing) => value * big_pow10(missing),
            Err(_) => value / 10,
        };
        Self::of_big(if mask == 0 { value } else { -value }, scale)
    }
}

/// Adds head and digits of an integer other than zero.
fn put_small(bytes: &mut Vec<u8>, value: u128, scale: u32) {
    let digits = value.ilog10() + 1;
    put_lead(bytes, i64::from(digits) - 1 - i64::from(scale));
    let mut pairs = [0u8; 20];
    let mut count = digits.div_ceil(2) as usize;
    let odd = u128::from(digits % 2 == 1);
    // An odd number of digits gets a zero at its end; 39 digits have no room for it.
    let mut at = count;
    let mut left = value;
    if odd == 1 {
        at -= 1;
        pairs[at] = (left % 10) as u8 * 10;
        left /= 10;
    }
    while left > u128::from(u64::MAX) {
        at -= 1;
        pairs[at] = (left % 100) as u8;
        left /= 100;
    }
    let mut left = left as u64;
    while at > 0 {
        at -= 1;
        pairs[at] = (left % 100) as u8;
        left /= 100;
    }
    while count > 1 && pairs[count - 1] == 0 {
        count -= 1;
    }
    put_pairs(bytes, pairs[..count].iter().copied());
}
