//! Arithmetic on numbers in normal form, with the scales that NUMERIC gives its results.

use num_bigint::{BigInt, Sign};

use crate::error::{Error, Result};
use crate::values::json::normal_number;

use super::tree::Operator;

/// A number: `digits` times ten to the power of `-scale`.
struct Decimal {
    digits: BigInt,
    scale: u32,
}

/// Most digits behind the point of a quotient.
const MAX_QUOTIENT_SCALE: i64 = 1000;
/// Most digits behind the point of a product.
const MAX_SCALE: u32 = 16_383;
/// Digits of a quotient that count.
const QUOTIENT_DIGITS: i64 = 16;

impl Decimal {
    fn read(text: &str) -> Self {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}");
        Self {
            digits: digits.parse().unwrap_or_default(),
            scale: u32::try_from(fraction.len()).unwrap_or(0),
        }
    }

    fn scaled(&self, scale: u32) -> BigInt {
        &self.digits * ten().pow(scale.saturating_sub(self.scale))
    }

    fn text(&self) -> Result<String> {
        let sign = if self.digits.sign() == Sign::Minus {
            "-"
        } else {
            ""
        };
        let digits = self.digits.magnitude().to_string();
        let scale = self.scale as usize;
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let text = match fraction {
            "" => format!("{sign}{whole}"),
            _ => format!("{sign}{whole}.{fraction}"),
        };
        Ok(normal_number(&text)?.into_owned())
    }

    /// The number with fewer digits behind the point, rounded half away from zero.
    fn rounded(self, scale: u32) -> Self {
        if scale >= self.scale {
            return self;
        }
        let factor = ten().pow(self.scale - scale);
        Self {
            digits: divided(&self.digits, &factor),
            scale,
        }
    }
}

fn ten() -> BigInt {
    BigInt::from(10)
}

/// A quotient rounded half away from zero.
fn divided(a: &BigInt, b: &BigInt) -> BigInt {
    let (a_size, b_size) = (
        BigInt::from(a.magnitude().clone()),
        BigInt::from(b.magnitude().clone()),
    );
    let quotient = (a_size * 2 + &b_size) / (b_size * 2);
    match (a.sign() == Sign::Minus) == (b.sign() == Sign::Minus) {
        true => quotient,
        false => -quotient,
    }
}

/// The place and the value of the first digit that is not zero, to the base of 10000.
fn leading(text: &str) -> (i64, i64) {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.trim_start_matches('0');
    if !whole.is_empty() {
        let first = (whole.len() - 1) % 4 + 1;
        let digit = whole.get(..first).unwrap_or("").parse().unwrap_or(0);
        return ((whole.len() as i64 - 1) / 4, digit);
    }
    let zeros = fraction.bytes().take_while(|b| *b == b'0').count();
    if zeros == fraction.len() {
        return (0, 0);
    }
    let group = zeros / 4;
    let digits = fraction.get(group * 4..).unwrap_or("");
    let digits: String = digits
        .chars()
        .chain(std::iter::repeat('0'))
        .take(4)
        .collect();
    (-(group as i64) - 1, digits.parse().unwrap_or(0))
}

/// The result of an arithmetic operator.
///
/// # Errors
/// `22012`, `22003`.
pub(super) fn arithmetic(operator: Operator, left: &str, right: &str) -> Result<String> {
    let (a, b) = (Decimal::read(left), Decimal::read(right));
    let scale = a.scale.max(b.scale);
    let zero = || Error::new("22012", "division by zero");
    let digits = match operator {
        Operator::Add => a.scaled(scale) + b.scaled(scale),
        Operator::Subtract => a.scaled(scale) - b.scaled(scale),
        Operator::Multiply => {
            let product = Decimal {
                digits: a.digits * b.digits,
                scale: a.scale + b.scale,
            };
            return product.rounded(MAX_SCALE).text();
        }
        _ if b.digits.sign() == Sign::NoSign => return Err(zero()),
        Operator::Modulo => a.scaled(scale) % b.scaled(scale),
        _ => {
            let ((weight_a, first_a), (weight_b, first_b)) = (leading(left), leading(right));
            let weight = weight_a - weight_b - i64::from(first_a <= first_b);
            let digits = QUOTIENT_DIGITS - weight * 4;
            let scale = digits.max(i64::from(scale)).clamp(0, MAX_QUOTIENT_SCALE);
            let scale = u32::try_from(scale).unwrap_or(0);
            // The dividend takes the digits of the quotient and of the divisor.
            let shift = i64::from(scale) + i64::from(b.scale) - i64::from(a.scale);
            let (mut above, mut below) = (a.digits, b.digits);
            let power = u32::try_from(shift.unsigned_abs()).unwrap_or(0);
            match shift >= 0 {
                true => above *= ten().pow(power),
                false => below *= ten().pow(power),
            }
            let digits = divided(&above, &below);
            return Decimal { digits, scale }.text();
        }
    };
    Decimal { digits, scale }.text()
}

/// The number with the other sign.
pub(super) fn negated(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(digits) => digits.to_owned(),
        None if text.bytes().all(|b| matches!(b, b'0' | b'.')) => text.to_owned(),
        None => format!("-{text}"),
    }
}

/// The number without its sign.
pub(super) fn magnitude(text: &str) -> String {
    text.strip_prefix('-').unwrap_or(text).to_owned()
}

/// The nearest integer that is not greater, or, if `up`, not less.
pub(super) fn whole(text: &str, up: bool) -> Result<String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let exact = fraction.bytes().all(|b| b == b'0');
    let negative = text.starts_with('-');
    let mut value = Decimal::read(whole);
    if !exact && negative != up {
        value.digits += if up { 1 } else { -1 };
    }
    value.text()
}

/// The text of a binary number with 15 digits, as NUMERIC takes it.
pub(super) fn of_float(value: f64) -> Result<String> {
    let text = format!("{value:.14e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    Ok(normal_number(&format!("{digits}e{exponent}"))?.into_owned())
}
