//! Numbers of JSON as NUMERIC shows them, and their order.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::error::{Error, Result};

/// Most digits of a NUMERIC before the point.
const MAX_WHOLE: i64 = 131_072;
/// Most digits of a NUMERIC behind the point.
const MAX_SCALE: i64 = 16_383;

fn overflow() -> Error {
    Error::new("22003", "value overflows numeric format")
}

/// The text of a number as NUMERIC shows it: `1.50e1` is `15.0`, `-0` is `0`.
///
/// # Errors
/// `22003` if NUMERIC does not hold it.
pub fn normal(text: &str) -> Result<Cow<'_, str>> {
    let (mantissa, exponent) = match memchr::memchr2(b'e', b'E', text.as_bytes()) {
        None => (text, "0"),
        Some(at) => (
            text.get(..at).unwrap_or(""),
            text.get(at + 1..).unwrap_or(""),
        ),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_zero = || digits.bytes().all(|b| matches!(b, b'0' | b'.'));
    if mantissa.len() == text.len() {
        if whole.len() as i64 > MAX_WHOLE || fraction.len() as i64 > MAX_SCALE {
            return Err(overflow());
        }
        return Ok(Cow::Borrowed(match negative && is_zero() {
            true => digits,
            false => text,
        }));
    }
    let exponent: i64 = exponent.parse().map_err(|_| overflow())?;
    if exponent.abs() >= i64::from(i32::MAX / 2) {
        return Err(overflow());
    }
    let scale = (fraction.len() as i64 - exponent).max(0);
    if scale > MAX_SCALE {
        return Err(overflow());
    }
    let scale_digits = scale as usize;
    if is_zero() {
        return Ok(Cow::Owned(match scale_digits {
            0 => "0".to_owned(),
            _ => format!("0.{:0<scale_digits$}", ""),
        }));
    }
    let mut all = format!("{whole}{fraction}");
    let point = whole.len() as i64 + exponent;
    let leading = all.bytes().take_while(|b| *b == b'0').count();
    if point - leading as i64 > MAX_WHOLE {
        return Err(overflow());
    }
    // The point stands behind `point` of the digits, which are filled up with zeros.
    if point > all.len() as i64 {
        all.extend(std::iter::repeat_n('0', point as usize - all.len()));
    }
    let (before, behind) = match point {
        ..=0 => {
            let zeros = std::iter::repeat_n('0', (-point) as usize);
            ("", zeros.chain(all.chars()).collect::<String>())
        }
        _ => {
            let at = point as usize;
            (
                all.get(..at).unwrap_or(""),
                all.get(at..).unwrap_or("").to_owned(),
            )
        }
    };
    let before = match before.trim_start_matches('0') {
        "" => "0",
        some => some,
    };
    let sign = if negative { "-" } else { "" };
    Ok(Cow::Owned(match behind.as_str() {
        "" => format!("{sign}{before}"),
        _ => format!("{sign}{before}.{behind}"),
    }))
}

/// The order of two numbers in normal form.
pub fn compare(a: &str, b: &str) -> Ordering {
    if a.len() < 19
        && b.len() < 19
        && let (Ok(a), Ok(b)) = (a.parse::<i64>(), b.parse::<i64>())
    {
        return a.cmp(&b);
    }
    match (a.strip_prefix('-'), b.strip_prefix('-')) {
        (Some(a), Some(b)) => compare_magnitudes(b, a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => compare_magnitudes(a, b),
    }
}

fn compare_magnitudes(a: &str, b: &str) -> Ordering {
    let (whole_a, fraction_a) = a.split_once('.').unwrap_or((a, ""));
    let (whole_b, fraction_b) = b.split_once('.').unwrap_or((b, ""));
    let fraction_a = fraction_a.trim_end_matches('0');
    let fraction_b = fraction_b.trim_end_matches('0');
    let lengths = whole_a.len().cmp(&whole_b.len());
    let wholes = lengths.then_with(|| whole_a.cmp(whole_b));
    wholes.then_with(|| fraction_a.cmp(fraction_b))
}
