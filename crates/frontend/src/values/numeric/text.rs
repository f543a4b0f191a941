//! Text of a NUMERIC, and the way by text from and to floating-point numbers.
//!
//! ```text
//! " -1.50e3 "   →  -1500      (the exponent moves the point of the scale, too)
//! "1e-3"        →  0.001
//! "inf", "NaN"
//! ```
//!
//! A double becomes the NUMERIC of its first 15 digits, a real that of its first 6.

use std::fmt;

use num_bigint::BigInt;

use super::{Big, Infinity, NaN, NegInfinity, Numeric, Repr, Small, big_pow10, overflow, pow10};
use super::{MOST_SCALE, MOST_WHOLE};
use crate::error::{Error, Result};

/// Whether C takes a byte for white space.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// A text without white space at its ends.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii() && is_space(c as u8))
}

/// A text without white space before it.
fn trimmed_start(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8))
}

/// Takes the digits at the beginning of a text.
fn take_digits<'a>(text: &mut &'a str) -> &'a str {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(end);
    *text = rest;
    digits
}

/// Exponents from which on PostgreSQL does not look further.
const ABSURD: i64 = (i32::MAX / 2) as i64;

impl Numeric {
    /// Reads PostgreSQL's text form.
    ///
    /// # Errors
    /// `22P02`, and `22003` if it has too many digits.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(trimmed(text))?.ok_or_else(|| {
            Error::new(
                "22P02",
                format!("invalid input syntax for type numeric: \"{text}\""),
            )
        })
    }

    /// The number that a text without spaces at its ends is; `None` if it is none.
    fn read(text: &str) -> Result<Option<Self>> {
        let (negative, signed, mut rest) = match text.as_bytes().first() {
            Some(b'-') => (true, true, &text[1..]),
            Some(b'+') => (false, true, &text[1..]),
            _ => (false, false, text),
        };
        if !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Ok(match rest.to_ascii_lowercase().as_str() {
                "nan" if !signed => Some(Self::NAN),
                "inf" | "infinity" if negative => Some(Self::NEG_INFINITY),
                "inf" | "infinity" => Some(Self::INFINITY),
                _ => None,
            });
        }
        let whole = take_digits(&mut rest);
        let mut fraction = "";
        if let Some(after) = rest.strip_prefix('.') {
            rest = after;
            fraction = take_digits(&mut rest);
        }
        if whole.is_empty() && fraction.is_empty() {
            return Ok(None);
        }
        let mut exponent = 0;
        if let Some(after) = rest.strip_prefix(['e', 'E']) {
            rest = trimmed_start(after);
            let minus = rest.starts_with('-');
            rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
            let digits = take_digits(&mut rest);
            if digits.is_empty() {
                return Ok(None);
            }
            let size = digits.parse::<i64>().unwrap_or(i64::MAX);
            if size >= ABSURD {
                return Err(overflow());
            }
            exponent = if minus { -size } else { size };
        }
        if !rest.is_empty() {
            return Ok(None);
        }
        Self::of_digits(negative, whole, fraction, exponent).map(Some)
    }

    /// The number of digits before and behind the point, times a power of ten.
    fn of_digits(negative: bool, whole: &str, fraction: &str, exponent: i64) -> Result<Self> {
        let point = fraction.len() as i64 - exponent;
        let scale = u32::try_from(point.max(0)).unwrap_or(u32::MAX);
        if scale > MOST_SCALE {
            return Err(overflow());
        }
        let leading = whole.trim_start_matches('0');
        let digits = match leading.is_empty() {
            true => fraction.trim_start_matches('0').len(),
            false => leading.len() + fraction.len(),
        };
        // Zero takes any exponent.
        if digits == 0 {
            return Ok(Self::new(0, scale));
        }
        let missing = (-point).max(0);
        if digits as i64 + missing - i64::from(scale) > MOST_WHOLE as i64 {
            return Err(overflow());
        }
        let missing = missing as u32;
        if digits as i64 + i64::from(missing) <= 38 {
            let each = whole.bytes().chain(fraction.bytes());
            let value = each.fold(0i128, |value, digit| value * 10 + i128::from(digit - b'0'));
            let value = value * pow10(missing).unwrap_or(1);
            return Ok(Self::new(if negative { -value } else { value }, scale));
        }
        let all = [leading.as_bytes(), fraction.as_bytes()].concat();
        let value = BigInt::parse_bytes(&all, 10).unwrap_or_default() * big_pow10(missing);
        Self::checked(if negative { -value } else { value }, scale)
    }

    /// The number of a double's first 15 digits.
    pub fn from_f64(value: f64) -> Self {
        Self::from_float(value, 15)
    }

    /// The number of a real's first 6 digits.
    pub fn from_f32(value: f32) -> Self {
        Self::from_float(value.into(), 6)
    }

    fn from_float(value: f64, digits: usize) -> Self {
        if value.is_nan() {
            return Self::NAN;
        }
        if value.is_infinite() {
            return match value > 0.0 {
                true => Self::INFINITY,
                false => Self::NEG_INFINITY,
            };
        }
        let text = format!("{value:.*e}", digits - 1);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent = exponent.parse::<i64>().unwrap_or(0);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let negative = whole.starts_with('-');
        let whole = whole.trim_start_matches('-');
        // Digits of a double are few and its exponent is small.
        Self::of_digits(negative, whole, fraction.trim_end_matches('0'), exponent)
            .unwrap_or(Self::NAN)
    }

    /// The nearest double; an infinity if it is too large.
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            // Both are exact, and one division rounds once.
            Small(value, scale) if value.unsigned_abs() < 1 << 53 && *scale <= 22 => {
                *value as f64 / 10f64.powi(*scale as i32)
            }
            NaN => f64::NAN,
            Infinity => f64::INFINITY,
            NegInfinity => f64::NEG_INFINITY,
            _ => self.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// The nearest real; an infinity if it is too large.
    pub fn to_f32(&self) -> f32 {
        match &self.0 {
            Small(value, 0) if value.unsigned_abs() < 1 << 24 => *value as f32,
            NaN => f32::NAN,
            Infinity => f32::INFINITY,
            NegInfinity => f32::NEG_INFINITY,
            // By way of a double it would be rounded twice.
            _ => self.to_string().parse().unwrap_or(f32::NAN),
        }
    }
}

/// The decimal digits of a number, with a point before the last `scale` of them.
fn pointed(f: &mut fmt::Formatter<'_>, sign: &str, digits: &str, scale: usize) -> fmt::Result {
    if scale == 0 {
        return write!(f, "{sign}{digits}");
    }
    match digits.len().checked_sub(scale) {
        None | Some(0) => {
            let zeros = "0".repeat(scale - digits.len());
            write!(f, "{sign}0.{zeros}{digits}")
        }
        Some(whole) => {
            let (whole, fraction) = digits.split_at(whole);
            write!(f, "{sign}{whole}.{fraction}")
        }
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(value, scale) => {
                let mut buffer = [0u8; 40];
                let digits = decimal(value.unsigned_abs(), &mut buffer);
                let sign = if *value < 0 { "-" } else { "" };
                pointed(f, sign, digits, *scale as usize)
            }
            Big(value, scale) => {
                let digits = value.magnitude().to_string();
                pointed(
                    f,
                    if self.sign() < 0 { "-" } else { "" },
                    &digits,
                    *scale as usize,
                )
            }
            NaN => f.write_str("NaN"),
            Infinity => f.write_str("Infinity"),
            NegInfinity => f.write_str("-Infinity"),
        }
    }
}

/// The digits of an integer, in a buffer that they fit in.
fn decimal(mut value: u128, buffer: &mut [u8; 40]) -> &str {
    let mut at = buffer.len();
    // Division of 128 bits is slow and is done once for 19 digits.
    loop {
        let high = value / 10_000_000_000_000_000_000;
        let mut low = (value % 10_000_000_000_000_000_000) as u64;
        let stop = at.saturating_sub(19);
        while low > 0 || high > 0 && at > stop {
            at -= 1;
            buffer[at] = b'0' + (low % 10) as u8;
            low /= 10;
        }
        value = high;
        if value == 0 {
            break;
        }
    }
    if at == buffer.len() {
        at -= 1;
        buffer[at] = b'0';
    }
    std::str::from_utf8(&buffer[at..]).unwrap_or("")
}
