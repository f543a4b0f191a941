//! Sums, products, quotients and rounding of NUMERIC.
//!
//! The scale of a result is PostgreSQL's: the greater one for sums and remainders, the sum for
//! products; for quotients enough for 16 digits, and never less than that of an operand.
//!
//! ```text
//! 1.5 + 2.25 = 3.75     1.5 * 2.25 = 3.375     1 / 3 = 0.33333333333333333333
//! ```
//!
//! NaN gives NaN. Infinities follow IEEE 754, but for a division by zero, which is an error.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use super::{Big, Infinity, LEAST_DIGITS, MOST_CHOSEN, MOST_SCALE, NaN, NegInfinity, Numeric};
use super::{Small, big_pow10, division_by_zero, overflow, pow10};
use crate::error::{Error, Result};

/// A quotient rounded half away from zero; the divisor is positive.
#[inline]
pub(crate) fn divided(value: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (value / divisor, value % divisor);
    match rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs() {
        true => quotient + value.signum(),
        false => quotient,
    }
}

/// A direction of rounding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    HalfAway,
    Truncate,
    Floor,
    Ceil,
}

impl Mode {
    /// The step to be added to a truncated quotient, by the remainder's sign and how twice its size
    /// compares with the divisor.
    fn step(self, sign: i32, twice: Ordering) -> i32 {
        match self {
            Mode::HalfAway if twice != Ordering::Less => sign,
            Mode::Floor if sign < 0 => -1,
            Mode::Ceil if sign > 0 => 1,
            _ => 0,
        }
    }
}

/// A quotient and its remainder's sign and double, compared with the divisor, which is not
/// zero.
fn quotient(value: &BigInt, divisor: &BigInt) -> (BigInt, i32, Ordering) {
    let quotient = value / divisor;
    let rest = value - &quotient * divisor;
    let sign = match (rest.sign(), divisor.sign()) {
        (Sign::NoSign, _) => 0,
        (a, b) if a == b => 1,
        _ => -1,
    };
    let twice = (rest.magnitude() * 2u32).cmp(divisor.magnitude());
    (quotient, sign, twice)
}

/// A quotient rounded half away from zero.
pub(super) fn divided_big(value: &BigInt, divisor: &BigInt) -> BigInt {
    let (whole, sign, twice) = quotient(value, divisor);
    whole + Mode::HalfAway.step(sign, twice)
}

impl Numeric {
    /// With `scale` digits behind the point, which may be negative.
    fn at_scale(&self, scale: i64, mode: Mode) -> Self {
        let scale = scale.min(MOST_SCALE.into());
        let shown = scale.max(0) as u32;
        let dropped = i64::from(self.scale()) - scale;
        match &self.0 {
            Small(0, _) => Self::new(0, shown),
            Small(value, _) if dropped <= 0 => {
                let factor = u32::try_from(-dropped).ok().and_then(pow10);
                match factor.and_then(|factor| value.checked_mul(factor)) {
                    Some(value) => Self::new(value, shown),
                    None => {
                        let factor = big_pow10((-dropped) as u32);
                        Self::of_big(BigInt::from(*value) * factor, shown)
                    }
                }
            }
            Big(value, _) if dropped <= 0 => {
                Self::of_big(value.as_ref() * big_pow10((-dropped) as u32), shown)
            }
            Small(value, _) => {
                let factor = u32::try_from(dropped).ok().and_then(pow10);
                let quotient = match factor {
                    Some(factor) => {
                        let (quotient, rest) = (value / factor, value % factor);
                        let size = rest.unsigned_abs();
                        let twice = size.cmp(&(factor.unsigned_abs() - size));
                        quotient + i128::from(mode.step(rest.signum() as i32, twice))
                    }
                    None => mode.step(value.signum() as i32, Ordering::Less).into(),
                };
                Self::new(quotient, 0).widened(scale)
            }
            Big(value, _) => {
                // More digits than it has leave nothing to divide.
                let quotient = match dropped > self.digits() as i64 {
                    true => mode.step(self.sign(), Ordering::Less).into(),
                    false => {
                        let (whole, sign, twice) = quotient(value, &big_pow10(dropped as u32));
                        whole + mode.step(sign, twice)
                    }
                };
                Self::of_big(quotient, 0).widened(scale)
            }
            _ => self.clone(),
        }
    }

    /// An integer as the digits of a number of some scale, which may be negative.
    fn widened(self, scale: i64) -> Self {
        match (self.0, u32::try_from(scale)) {
            (Small(0, _), scale) => Self::new(0, scale.unwrap_or(0)),
            (Small(value, _), Ok(scale)) => Self::new(value, scale),
            (Big(value, _), Ok(scale)) => Self(Big(value, scale)),
            (Small(value, _), Err(_)) => {
                Self::of_big(BigInt::from(value) * big_pow10((-scale) as u32), 0)
            }
            (Big(value, _), Err(_)) => Self::of_big(*value * big_pow10((-scale) as u32), 0),
            (other, _) => Self(other),
        }
    }

    /// The number with `scale` digits behind the point, rounded half away from zero.
    #[must_use]
    pub fn rescaled(&self, scale: u32) -> Self {
        match &self.0 {
            Small(_, own) | Big(_, own) if *own == scale => self.clone(),
            _ => self.at_scale(scale.into(), Mode::HalfAway),
        }
    }

    /// Rounded half away from zero to digits behind the point; before it, if negative.
    ///
    /// # Errors
    /// `22003` if it gets too long.
    pub fn round(&self, scale: i32) -> Result<Self> {
        let result = self.at_scale(scale.into(), Mode::HalfAway);
        if result.fits() {
            Ok(result)
        } else {
            Err(overflow())
        }
    }

    /// The number as a type of a precision and a scale holds it: rounded to the scale. NaN stays.
    ///
    /// # Errors
    /// `22003` if it has more digits before the point than `precision - scale`.
    pub fn fitted(&self, precision: u32, scale: i32) -> Result<Self> {
        if self.is_nan() {
            return Ok(self.clone());
        }
        let overflow = |why: String| {
            let field = format!("A field with precision {precision}, scale {scale}");
            Error::new("22003", "numeric field overflow").with_detail(format!("{field} {why}"))
        };
        if self.is_infinite() {
            return Err(overflow("cannot hold an infinite value.".to_owned()));
        }
        let whole = i64::from(precision) - i64::from(scale);
        let fitted = self.round(scale)?;
        if fitted.lead().is_none_or(|lead| lead < whole) {
            return Ok(fitted);
        }
        let limit = match whole {
            0 => "1".to_owned(),
            whole => format!("10^{whole}"),
        };
        Err(overflow(format!(
            "must round to an absolute value less than {limit}."
        )))
    }

    /// Without digits that are further behind the point; before it, if negative.
    #[must_use]
    pub fn trunc(&self, scale: i32) -> Self {
        self.at_scale(scale.into(), Mode::Truncate)
    }

    /// The least integer that is not less.
    #[must_use]
    pub fn ceil(&self) -> Self {
        self.at_scale(0, Mode::Ceil)
    }

    /// The greatest integer that is not more.
    #[must_use]
    pub fn floor(&self) -> Self {
        self.at_scale(0, Mode::Floor)
    }

    /// Times ten to a power: the point is moved, and the scale with it where it can be.
    ///
    /// # Errors
    /// `22003` if it is too long.
    pub(crate) fn moved(&self, power: i64) -> Result<Self> {
        let scale = i64::from(self.scale()) - power;
        match (&self.0, u32::try_from(scale)) {
            (Small(value, _), Ok(scale)) if scale <= MOST_SCALE => Ok(Self::new(*value, scale)),
            (Small(..) | Big(..), _) if scale.abs() > 1 << 18 => Err(overflow()),
            (Small(..) | Big(..), Ok(scale)) => {
                let integer = self.integer().unwrap_or_default();
                Ok(Self::of_big(integer.into_owned(), scale))
            }
            (Small(..) | Big(..), Err(_)) => {
                let factor = big_pow10(scale.unsigned_abs() as u32);
                let integer = self.integer().unwrap_or_default();
                Self::checked(integer.as_ref() * factor, 0)
            }
            _ => Ok(self.clone()),
        }
    }

    /// With the other sign.
    #[must_use]
    pub fn neg(&self) -> Self {
        match &self.0 {
            Small(value, scale) => Self(Small(-value, *scale)),
            Big(value, scale) => Self::of_big(-value.as_ref(), *scale),
            NaN => Self::NAN,
            Infinity => Self::NEG_INFINITY,
            NegInfinity => Self::INFINITY,
        }
    }

    /// Without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        match self.sign() < 0 {
            true => self.neg(),
            false => self.clone(),
        }
    }

    /// Least scale that shows all of its digits.
    pub fn min_scale(&self) -> u32 {
        self.trim_scale().scale()
    }

    /// Without zeros at the end behind the point.
    #[must_use]
    pub fn trim_scale(&self) -> Self {
        match &self.0 {
            Small(0, _) => Self::ZERO,
            Small(value, scale) => {
                let (mut value, mut scale) = (*value, *scale);
                while scale > 0 && value % 10 == 0 {
                    value /= 10;
                    scale -= 1;
                }
                Self::new(value, scale)
            }
            Big(value, scale) => {
                let text = value.magnitude().to_string();
                let zeros = text.len() - text.trim_end_matches('0').len();
                let dropped = (zeros as u64).min((*scale).into()) as u32;
                Self::of_big(value.as_ref() / big_pow10(dropped), scale - dropped)
            }
            _ => self.clone(),
        }
    }

    /// Both integers with the greater scale.
    fn aligned(&self, other: &Self) -> Option<(BigInt, BigInt, u32)> {
        let (a, b) = (self.integer()?, other.integer()?);
        let (s, t) = (self.scale(), other.scale());
        Some(match s.cmp(&t) {
            Ordering::Equal => (a.into_owned(), b.into_owned(), s),
            Ordering::Less => (a.as_ref() * big_pow10(t - s), b.into_owned(), t),
            Ordering::Greater => (a.into_owned(), b.as_ref() * big_pow10(s - t), s),
        })
    }

    /// The same of integers that are short.
    #[inline]
    fn aligned_small(&self, other: &Self) -> Option<(i128, i128, u32)> {
        let (Small(a, s), Small(b, t)) = (&self.0, &other.0) else {
            return None;
        };
        if s == t {
            return Some((*a, *b, *s));
        }
        let up = pow10(t.saturating_sub(*s))?;
        let down = pow10(s.saturating_sub(*t))?;
        Some((a.checked_mul(up)?, b.checked_mul(down)?, *s.max(t)))
    }

    /// The sum.
    ///
    /// # Errors
    /// `22003` if it is too long.
    pub fn add(&self, other: &Self) -> Result<Self> {
        if let Some((a, b, scale)) = self.aligned_small(other)
            && let Some(sum) = a.checked_add(b)
        {
            return Ok(Self::new(sum, scale));
        }
        match self.aligned(other) {
            Some((a, b, scale)) => Self::checked(a + b, scale),
            None => Ok(match (&self.0, &other.0) {
                (NaN, _) | (_, NaN) => Self::NAN,
                (Infinity, NegInfinity) | (NegInfinity, Infinity) => Self::NAN,
                (Infinity, _) | (_, Infinity) => Self::INFINITY,
                _ => Self::NEG_INFINITY,
            }),
        }
    }

    /// The difference.
    ///
    /// # Errors
    /// `22003` if it is too long.
    pub fn sub(&self, other: &Self) -> Result<Self> {
        if let Some((a, b, scale)) = self.aligned_small(other)
            && let Some(difference) = a.checked_sub(b)
        {
            return Ok(Self::new(difference, scale));
        }
        self.add(&other.neg())
    }

    /// An infinity of a sign; NaN without one.
    fn infinity(sign: i32) -> Self {
        match sign {
            0 => Self::NAN,
            1 => Self::INFINITY,
            _ => Self::NEG_INFINITY,
        }
    }

    /// The product.
    ///
    /// # Errors
    /// `22003` if it is too long.
    pub fn mul(&self, other: &Self) -> Result<Self> {
        if let (Small(a, s), Small(b, t)) = (&self.0, &other.0)
            && let Some(product) = a.checked_mul(*b)
            && s + t <= MOST_SCALE
        {
            return Ok(Self::new(product, s + t));
        }
        let (Some(a), Some(b)) = (self.integer(), other.integer()) else {
            return Ok(match self.is_nan() || other.is_nan() {
                true => Self::NAN,
                false => Self::infinity(self.sign() * other.sign()),
            });
        };
        let product = Self::of_big(a.as_ref() * b.as_ref(), self.scale() + other.scale());
        let product = product.rescaled(product.scale().min(MOST_SCALE));
        if product.fits() {
            Ok(product)
        } else {
            Err(overflow())
        }
    }

    /// The first digits, as many as PostgreSQL has in the first of its digits of base 10000,
    /// and the power of 10000 that they stand for.
    fn first_group(&self) -> (i64, u64) {
        match self.lead() {
            None => (0, 0),
            Some(lead) => (
                lead.div_euclid(4),
                self.leading(lead.rem_euclid(4) as u32 + 1),
            ),
        }
    }

    /// The first `count` digits, up to 18.
    pub(super) fn leading(&self, count: u32) -> u64 {
        let digits = self.digits();
        let extra = digits.saturating_sub(count.into()) as u32;
        let missing = u64::from(count).saturating_sub(digits) as u32;
        let first = match &self.0 {
            Small(value, _) => {
                let value = value.unsigned_abs() / pow10(extra).unwrap_or(1).unsigned_abs();
                u64::try_from(value).unwrap_or(0)
            }
            Big(value, _) => {
                let value = value.magnitude() / big_pow10(extra).magnitude();
                u64::try_from(&value).unwrap_or(0)
            }
            _ => 0,
        };
        first * 10u64.pow(missing)
    }

    /// Digits behind the point of a quotient.
    fn quotient_scale(&self, divisor: &Self) -> u32 {
        let (weight, first) = self.first_group();
        let (other_weight, other_first) = divisor.first_group();
        let mut weight = weight - other_weight;
        if first <= other_first {
            weight -= 1;
        }
        let scale = LEAST_DIGITS - weight * 4;
        let least = self.scale().max(divisor.scale()).into();
        scale.max(least).min(MOST_CHOSEN) as u32
    }

    /// The quotient of which one operand is not finite, or the divisor is zero.
    fn special_quotient(&self, divisor: &Self) -> Result<Option<Self>> {
        if self.is_nan() || divisor.is_nan() {
            return Ok(Some(Self::NAN));
        }
        if divisor.is_zero() {
            return Err(division_by_zero());
        }
        Ok(match (self.is_infinite(), divisor.is_infinite()) {
            (true, true) => Some(Self::NAN),
            (true, false) => Some(Self::infinity(self.sign() * divisor.sign())),
            (false, true) => Some(Self::ZERO),
            (false, false) => None,
        })
    }

    /// The quotient, with at least 16 digits.
    ///
    /// # Errors
    /// `22012`, and `22003` if it is too long.
    pub fn div(&self, divisor: &Self) -> Result<Self> {
        if let Some(special) = self.special_quotient(divisor)? {
            return Ok(special);
        }
        self.quotient(divisor, self.quotient_scale(divisor))
    }

    /// The quotient of finite numbers with `scale` digits behind the point, rounded half away
    /// from zero.
    pub(super) fn quotient(&self, divisor: &Self, scale: u32) -> Result<Self> {
        let up = i64::from(scale) + i64::from(divisor.scale()) - i64::from(self.scale());
        if let (Small(a, _), Small(b, _), Ok(up)) = (&self.0, &divisor.0, u32::try_from(up))
            && let Some(a) = pow10(up).and_then(|factor| a.checked_mul(factor))
        {
            let quotient = divided(a, b.abs()) * b.signum();
            return Ok(Self::new(quotient, scale));
        }
        let (Some(a), Some(b)) = (self.integer(), divisor.integer()) else {
            return Ok(Self::NAN);
        };
        let value = match u32::try_from(up) {
            Ok(up) => divided_big(&(a.as_ref() * big_pow10(up)), &b),
            Err(_) => divided_big(&a, &(b.as_ref() * big_pow10(up.unsigned_abs() as u32))),
        };
        Self::checked(value, scale)
    }

    /// The integer of the quotient.
    ///
    /// # Errors
    /// `22012`, and `22003` if it is too long.
    pub fn div_trunc(&self, divisor: &Self) -> Result<Self> {
        if let Some(special) = self.special_quotient(divisor)? {
            return Ok(special);
        }
        if let Some((a, b, _)) = self.aligned_small(divisor) {
            return Ok(Self::new(a / b, 0));
        }
        match self.aligned(divisor) {
            Some((a, b, _)) => Self::checked(a / b, 0),
            None => Ok(Self::NAN),
        }
    }

    /// The remainder, with the dividend's sign.
    ///
    /// # Errors
    /// `22012`.
    pub fn rem(&self, divisor: &Self) -> Result<Self> {
        if let Some(special) = self.special_quotient(divisor)? {
            return Ok(match special.is_zero() {
                true => self.clone(),
                false => Self::NAN,
            });
        }
        if let Some((a, b, scale)) = self.aligned_small(divisor) {
            return Ok(Self::new(a % b, scale));
        }
        match self.aligned(divisor) {
            Some((a, b, scale)) => Self::checked(a % b, scale),
            None => Ok(Self::NAN),
        }
    }

    /// The greatest common divisor.
    ///
    /// # Errors
    /// `22003` if it is too long.
    pub fn gcd(&self, other: &Self) -> Result<Self> {
        if let Some((a, b, scale)) = self.aligned_small(other) {
            let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            return Ok(Self::of_big(BigInt::from(a), scale));
        }
        let Some((mut a, mut b, scale)) = self.aligned(other) else {
            return Ok(Self::NAN);
        };
        while b.sign() != Sign::NoSign {
            let rest = &a % &b;
            a = std::mem::replace(&mut b, rest);
        }
        Self::checked(a, scale).map(|result| result.abs())
    }

    /// The least common multiple.
    ///
    /// # Errors
    /// `22003` if it is too long.
    pub fn lcm(&self, other: &Self) -> Result<Self> {
        let scale = self.scale().max(other.scale());
        if !self.is_finite() || !other.is_finite() {
            return Ok(Self::NAN);
        }
        if self.is_zero() || other.is_zero() {
            return Ok(Self::new(0, scale));
        }
        let share = self.div_trunc(&self.gcd(other)?)?;
        Ok(share.mul(other)?.abs().rescaled(scale))
    }

    /// The product of all integers from 1 on.
    ///
    /// # Errors
    /// `22003` if it is negative or too long.
    pub fn factorial(n: i64) -> Result<Self> {
        if n < 0 {
            let message = "factorial of a negative number is undefined";
            return Err(Error::new("22003", message));
        }
        // 32178! has more digits than a number may have.
        let n = u32::try_from(n)
            .ok()
            .filter(|n| *n <= 32_177)
            .ok_or_else(overflow)?;
        // Halves that are alike are multiplied faster than one long number and one short.
        fn product(from: u32, to: u32) -> BigInt {
            match to - from {
                0 => BigInt::from(from),
                1..16 => (from..=to).fold(BigInt::from(1), |all, n| all * n),
                span => product(from, from + span / 2) * product(from + span / 2 + 1, to),
            }
        }
        Self::checked(product(1, n.max(1)), 0)
    }
}
