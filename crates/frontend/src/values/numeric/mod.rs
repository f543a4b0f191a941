//! NUMERIC values: decimal numbers of any length, each with a scale of its own.
//!
//! A value is an integer and a scale: the integer times ten to the power of `-scale`. The scale
//! is part of the value's text only, so that `1.0` equals `1.00`. An integer that fits in 128
//! bits is held in place and computed with machine arithmetic; a longer one is a [`BigInt`].
//!
//! ```text
//! 12.50      Small(1250, 2)
//! 1e50       Big(10^50, 0)
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `text` | reading, writing, and floating-point numbers, which go by their digits |
//! | `bytes` | a form whose bytes compare as the values do |
//! | `arithmetic` | the exact operations, rounding and division |
//! | `power` | roots, powers, logarithms and exponentials |
//!
//! A value has at most 131072 digits before the point and 16383 behind it, as in PostgreSQL.
//! Results of irrational operations are rounded from more digits than are shown; PostgreSQL's
//! own may differ in the last digit of a result whose next digits are all 0, 5 or 9.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use num_bigint::{BigInt, Sign};

use crate::error::{Error, Result};

mod arithmetic;
mod bytes;
mod power;
pub(crate) mod text;

#[cfg(test)]
mod tests;

/// Most digits before the point.
const MOST_WHOLE: u64 = 131_072;

/// Most digits behind the point.
pub(crate) const MOST_SCALE: u32 = 16_383;

/// Most digits behind the point of a result whose scale is chosen by its operation.
const MOST_CHOSEN: i64 = 1000;

/// Digits that a result has at least where its operation chooses them.
const LEAST_DIGITS: i64 = 16;

/// Powers of ten that fit.
const POWERS: [i128; 39] = {
    let mut all = [1i128; 39];
    let mut n = 1;
    while n < 39 {
        all[n] = all[n - 1] * 10;
        n += 1;
    }
    all
};

/// A NUMERIC value.
#[derive(Clone, Debug)]
pub struct Numeric(Repr);

#[derive(Clone, Debug)]
enum Repr {
    /// Never `i128::MIN`.
    Small(i128, u32),
    /// An integer that `Small` cannot hold.
    Big(Box<BigInt>, u32),
    NaN,
    Infinity,
    NegInfinity,
}

use Repr::{Big, Infinity, NaN, NegInfinity, Small};
pub(crate) use arithmetic::divided;

/// Ten to the power of `n`, if it fits.
#[inline]
pub(crate) fn pow10(n: u32) -> Option<i128> {
    POWERS.get(n as usize).copied()
}

/// Ten to the power of `n`.
fn big_pow10(n: u32) -> BigInt {
    match pow10(n) {
        Some(small) => BigInt::from(small),
        None => BigInt::from(10).pow(n),
    }
}

/// `22003` of a result that is too long.
pub(crate) fn overflow() -> Error {
    Error::new("22003", "value overflows numeric format")
}

/// `22012`.
pub(crate) fn division_by_zero() -> Error {
    Error::new("22012", "division by zero")
}

/// Decimal digits of a positive integer.
fn digits_of(value: &BigInt) -> u64 {
    let bits = value.bits();
    if bits == 0 {
        return 0;
    }
    // 2^(bits-1) <= value < 2^bits, so there are one or two candidates.
    let least = ((bits - 1) as f64 * std::f64::consts::LOG10_2) as u64;
    let mut digits = least.max(1);
    let mut power = big_pow10(u32::try_from(digits).unwrap_or(u32::MAX));
    while value.magnitude() >= power.magnitude() {
        power *= 10;
        digits += 1;
    }
    digits
}

impl Numeric {
    /// Not a number.
    pub const NAN: Self = Self(NaN);
    /// More than every number.
    pub const INFINITY: Self = Self(Infinity);
    /// Less than every number.
    pub const NEG_INFINITY: Self = Self(NegInfinity);
    /// Zero.
    pub const ZERO: Self = Self(Small(0, 0));
    /// One.
    pub const ONE: Self = Self(Small(1, 0));

    /// `value` times ten to the power of `-scale`, shown with `scale` digits.
    #[inline]
    pub fn new(value: i128, scale: u32) -> Self {
        match value {
            i128::MIN => Self(Big(Box::new(BigInt::from(value)), scale)),
            _ => Self(Small(value, scale)),
        }
    }

    /// The same of an integer of any length, in the form that it is to have.
    fn of_big(value: BigInt, scale: u32) -> Self {
        match i128::try_from(&value) {
            Ok(small) => Self::new(small, scale),
            Err(_) => Self(Big(Box::new(value), scale)),
        }
    }

    /// A result, if it is not too long.
    fn checked(value: BigInt, scale: u32) -> Result<Self> {
        let result = Self::of_big(value, scale);
        match result.fits() {
            true => Ok(result),
            false => Err(overflow()),
        }
    }

    /// Whether PostgreSQL has a place for the number.
    fn fits(&self) -> bool {
        match &self.0 {
            Small(_, scale) => *scale <= MOST_SCALE,
            Big(value, scale) => {
                // Longer by bits than the longest number of that scale.
                let most = MOST_WHOLE + u64::from(*scale);
                *scale <= MOST_SCALE
                    && (value.bits() as f64 * std::f64::consts::LOG10_2 < most as f64 - 1.0
                        || digits_of(value) <= most)
            }
            _ => true,
        }
    }

    /// Digits that are shown behind the point.
    #[inline]
    pub fn scale(&self) -> u32 {
        match &self.0 {
            Small(_, scale) | Big(_, scale) => *scale,
            _ => 0,
        }
    }

    /// Whether it is no number.
    pub fn is_nan(&self) -> bool {
        matches!(self.0, NaN)
    }

    /// Whether it is one of the infinities.
    pub fn is_infinite(&self) -> bool {
        matches!(self.0, Infinity | NegInfinity)
    }

    /// Whether it is a number and finite.
    pub fn is_finite(&self) -> bool {
        matches!(self.0, Small(..) | Big(..))
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Small(0, _))
    }

    /// -1, 0 or 1; 0 for NaN.
    pub fn sign(&self) -> i32 {
        match &self.0 {
            Small(value, _) => value.signum() as i32,
            Big(value, _) => match value.sign() {
                Sign::Minus => -1,
                _ => 1,
            },
            NaN => 0,
            Infinity => 1,
            NegInfinity => -1,
        }
    }

    /// The integer of a finite number.
    fn integer(&self) -> Option<Cow<'_, BigInt>> {
        match &self.0 {
            Small(value, _) => Some(Cow::Owned(BigInt::from(*value))),
            Big(value, _) => Some(Cow::Borrowed(value)),
            _ => None,
        }
    }

    /// Decimal digits of the integer; 0 for zero.
    fn digits(&self) -> u64 {
        match &self.0 {
            Small(0, _) => 0,
            Small(value, _) => u64::from(value.unsigned_abs().ilog10()) + 1,
            Big(value, _) => digits_of(value),
            _ => 0,
        }
    }

    /// The power of ten of the first digit that is not zero; `None` for zero.
    pub(crate) fn lead(&self) -> Option<i64> {
        match self.digits() {
            0 => None,
            digits => Some(digits as i64 - 1 - i64::from(self.scale())),
        }
    }

    /// The integer it is with `scale` digits behind the point, rounded half away from zero;
    /// `None` if it is too large or no number.
    #[inline]
    pub fn to_i128(&self, scale: u32) -> Option<i128> {
        match &self.0 {
            Small(value, own) if *own == scale => Some(*value),
            Small(value, own) if *own < scale => value.checked_mul(pow10(scale - own)?),
            Small(value, own) => Some(match pow10(own - scale) {
                Some(factor) => arithmetic::divided(*value, factor),
                None => 0,
            }),
            Big(..) => match self.rescaled(scale).0 {
                Small(value, _) => Some(value),
                Big(value, _) => i128::try_from(value.as_ref()).ok(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The place among NaN, the infinities and the numbers.
    fn rank(&self) -> u8 {
        match self.0 {
            NegInfinity => 0,
            Small(..) | Big(..) => 1,
            Infinity => 2,
            NaN => 3,
        }
    }
}

impl From<i64> for Numeric {
    fn from(value: i64) -> Self {
        Self(Small(value.into(), 0))
    }
}

impl From<i32> for Numeric {
    fn from(value: i32) -> Self {
        Self(Small(value.into(), 0))
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Numeric {}

impl Hash for Numeric {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Self::key(&self.encode()).hash(state);
    }
}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Numeric {
    /// NaN equals itself and is more than all others.
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Small(a, s), Small(b, t)) = (&self.0, &other.0) {
            if s == t {
                return a.cmp(b);
            }
            let (up, down) = (t.saturating_sub(*s), s.saturating_sub(*t));
            let a = pow10(up).and_then(|factor| a.checked_mul(factor));
            let b = pow10(down).and_then(|factor| b.checked_mul(factor));
            if let (Some(a), Some(b)) = (a, b) {
                return a.cmp(&b);
            }
        }
        let by_kind = (self.rank(), self.sign()).cmp(&(other.rank(), other.sign()));
        if by_kind != Ordering::Equal {
            return by_kind;
        }
        let (Some(a), Some(b)) = (self.integer(), other.integer()) else {
            return Ordering::Equal;
        };
        let by_lead = self.lead().cmp(&other.lead());
        if by_lead != Ordering::Equal {
            return match self.sign() < 0 {
                true => by_lead.reverse(),
                false => by_lead,
            };
        }
        let (s, t) = (self.scale(), other.scale());
        match s.cmp(&t) {
            Ordering::Equal => a.cmp(&b),
            Ordering::Less => (a.as_ref() * big_pow10(t - s)).cmp(&b),
            Ordering::Greater => a.as_ref().cmp(&(b.as_ref() * big_pow10(s - t))),
        }
    }
}
