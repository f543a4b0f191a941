//! Sums of integers and decimals without a limit, and PostgreSQL's scale of quotients.
//!
//! A [`Total`] keeps the sum of values and of their squares as integers at the greatest scale
//! seen. It adds in 128 bits and carries into a big integer when those overflow:
//!
//! ```text
//! 1.5, 2.25  ─▶  sum 375, squares 73125, scale 2, two values
//! ```
//!
//! Values can be taken back, until the last one of the greatest scale is: the scale of the
//! result would then be that of the rest, which is not known.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use crate::error::Result;
use crate::values::Numeric;

/// Digits that a quotient has at least.
const SIGNIFICANT_DIGITS: i64 = 16;
/// Most digits behind the point of a quotient.
const MOST_SCALE: i64 = 1000;
/// Decimal digits of a group, by which PostgreSQL counts the digits of a quotient.
const GROUP: i64 = 4;

/// A finite decimal: `mantissa` times ten to the power of `-scale`.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    pub(super) mantissa: BigInt,
    pub(super) scale: u32,
}

/// A value of NUMERIC.
pub(super) enum Value {
    Small(i128, u32),
    Large(Decimal),
    NotANumber,
    Infinite { negative: bool },
}

impl Value {
    /// Reads a NUMERIC.
    pub(super) fn of(number: &Numeric) -> Value {
        if let Some(value) = number.to_i128(number.scale()) {
            return Value::Small(value, number.scale());
        }
        let text = number.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        match format!("{whole}{fraction}").parse() {
            Ok(mantissa) => Value::Large(Decimal {
                mantissa,
                scale: fraction.len() as u32,
            }),
            Err(_) if text.contains("Inf") => Value::Infinite {
                negative: text.starts_with('-'),
            },
            Err(_) => Value::NotANumber,
        }
    }
}

impl Decimal {
    /// The decimal as a NUMERIC.
    pub(super) fn numeric(&self) -> Result<Numeric> {
        if let Ok(value) = i128::try_from(&self.mantissa) {
            return Ok(Numeric::new(value, self.scale));
        }
        let scale = self.scale as usize;
        let digits = self.mantissa.magnitude().to_string();
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let sign = if self.is_negative() { "-" } else { "" };
        let point = if scale > 0 { "." } else { "" };
        Numeric::parse(&format!("{sign}{whole}{point}{fraction}"))
    }

    fn is_negative(&self) -> bool {
        self.mantissa.sign() == Sign::Minus
    }

    /// The greatest power of 10000 that is not above the value, and its factor there.
    fn leading_group(&self) -> (i64, u32) {
        if self.mantissa.sign() == Sign::NoSign {
            return (0, 0);
        }
        let digits = self.mantissa.magnitude().to_string();
        let exponent = digits.len() as i64 - 1 - i64::from(self.scale);
        let weight = exponent.div_euclid(GROUP);
        let width = (exponent - weight * GROUP + 1) as usize;
        let group: String = digits.chars().chain("0000".chars()).take(width).collect();
        (weight, group.parse().unwrap_or(0))
    }

    /// The quotient with the digits that PostgreSQL gives it, rounded half away from zero.
    /// The divisor is not zero.
    pub(super) fn divided(&self, by: &Decimal) -> Decimal {
        let ((weight, first), (weight_by, first_by)) = (self.leading_group(), by.leading_group());
        let weight = weight - weight_by - i64::from(first <= first_by);
        let scale = (SIGNIFICANT_DIGITS - weight * GROUP)
            .max(self.scale.into())
            .max(by.scale.into())
            .clamp(0, MOST_SCALE) as u32;
        let mut above = self.mantissa.magnitude() * ten(scale + by.scale).magnitude();
        let below = by.mantissa.magnitude() * ten(self.scale).magnitude();
        above = (above * 2u32 + &below) / (below * 2u32);
        let negative = self.is_negative() != by.is_negative();
        let sign = if negative { Sign::Minus } else { Sign::Plus };
        Decimal {
            mantissa: BigInt::from_biguint(sign, above),
            scale,
        }
    }

    /// The square root with the same scale; zero of a negative decimal.
    pub(super) fn square_root(&self) -> Decimal {
        let square = match self.mantissa.sign() {
            Sign::Plus => self.mantissa.magnitude() * ten(self.scale).magnitude(),
            _ => 0u32.into(),
        };
        // The root of four times the square has one more bit, by which is rounded.
        let root = ((square * 4u32).sqrt() + 1u32) / 2u32;
        Decimal {
            mantissa: root.into(),
            scale: self.scale,
        }
    }
}

/// A power of ten.
pub(super) fn ten(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

/// A sum of integers without a limit.
#[derive(Default)]
struct Whole {
    small: i128,
    large: BigInt,
}

impl Whole {
    fn add(&mut self, value: i128) {
        match self.small.checked_add(value) {
            Some(sum) => self.small = sum,
            None => {
                self.large += self.small;
                self.small = value;
            }
        }
    }

    fn add_square(&mut self, value: i128, negative: bool) {
        match value.checked_mul(value) {
            Some(square) if negative => self.add(-square),
            Some(square) => self.add(square),
            None => {
                let square = BigInt::from(value) * value;
                self.add_large(if negative { -square } else { square });
            }
        }
    }

    fn add_large(&mut self, value: BigInt) {
        self.large += value;
    }

    fn rescale(&mut self, digits: u32) {
        if self.large.sign() != Sign::NoSign {
            self.large *= ten(digits);
        }
        let factor = 10i128.checked_pow(digits);
        match factor.and_then(|factor| self.small.checked_mul(factor)) {
            Some(small) => self.small = small,
            None => {
                let small = std::mem::take(&mut self.small);
                self.large += ten(digits) * small;
            }
        }
    }

    fn value(&self) -> BigInt {
        &self.large + self.small
    }
}

/// A sum that is asked for.
pub(super) enum Sum {
    /// There were no values.
    Empty,
    /// A value was no number, or both infinities came.
    NotANumber,
    /// An infinity came.
    Infinite { negative: bool },
    /// The sum.
    Finite(Decimal),
}

/// The sum and the count of values, and the sum of their squares if it is wanted.
#[derive(Default)]
pub(super) struct Total {
    sum: Whole,
    squares: Option<Whole>,
    scale: u32,
    /// Values that have the greatest scale.
    at_scale: u64,
    finite: u64,
    not_a_number: u64,
    infinite: [u64; 2],
}

impl Total {
    /// A total that also sums squares.
    pub(super) fn with_squares() -> Self {
        Self {
            squares: Some(Whole::default()),
            ..Self::default()
        }
    }

    /// Values in all.
    pub(super) fn count(&self) -> u64 {
        self.finite + self.not_a_number + self.infinite.iter().sum::<u64>()
    }

    /// Adds an integer or a decimal's mantissa.
    #[inline]
    pub(super) fn add(&mut self, value: i128, scale: u32) {
        self.finite += 1;
        match scale.cmp(&self.scale) {
            Ordering::Equal => self.at_scale += 1,
            Ordering::Greater => {
                let digits = scale - self.scale;
                self.sum.rescale(digits);
                if let Some(squares) = &mut self.squares {
                    squares.rescale(2 * digits);
                }
                (self.scale, self.at_scale) = (scale, 1);
            }
            Ordering::Less => {}
        }
        self.count_in(value, scale, false);
    }

    /// Takes an integer or a decimal's mantissa back; false if the scale would be unknown.
    #[inline]
    pub(super) fn remove(&mut self, value: i128, scale: u32) -> bool {
        self.finite = self.finite.saturating_sub(1);
        self.count_in(value, scale, true);
        self.forget_scale(scale)
    }

    fn forget_scale(&mut self, scale: u32) -> bool {
        if scale == self.scale {
            self.at_scale = self.at_scale.saturating_sub(1);
        }
        if self.at_scale == 0 && self.finite == 0 {
            self.sum = Whole::default();
            self.squares = self.squares.take().map(|_| Whole::default());
            self.scale = 0;
        }
        self.at_scale > 0 || self.scale == 0
    }

    fn count_in(&mut self, value: i128, scale: u32, negative: bool) {
        let factor = 10i128.checked_pow(self.scale - scale.min(self.scale));
        match factor.and_then(|factor| value.checked_mul(factor)) {
            Some(value) => {
                if let Some(squares) = &mut self.squares {
                    squares.add_square(value, negative);
                }
                match value.checked_neg().filter(|_| negative) {
                    Some(value) => self.sum.add(value),
                    None if negative => self.sum.add_large(-BigInt::from(value)),
                    None => self.sum.add(value),
                }
            }
            None => self.count_in_large(BigInt::from(value), scale, negative),
        }
    }

    fn count_in_large(&mut self, value: BigInt, scale: u32, negative: bool) {
        let value = value * ten(self.scale - scale.min(self.scale));
        if let Some(squares) = &mut self.squares {
            let square = &value * &value;
            squares.add_large(if negative { -square } else { square });
        }
        self.sum.add_large(if negative { -value } else { value });
    }

    /// Adds a NUMERIC.
    pub(super) fn add_numeric(&mut self, value: &Numeric) {
        match Value::of(value) {
            Value::Small(value, scale) => self.add(value, scale),
            Value::Large(value) => {
                // Zero brings the scale in.
                self.add(0, value.scale);
                self.count_in_large(value.mantissa, value.scale, false);
            }
            Value::NotANumber => self.not_a_number += 1,
            Value::Infinite { negative } => self.infinite[usize::from(negative)] += 1,
        }
    }

    /// Takes a NUMERIC back; false if the scale would be unknown.
    pub(super) fn remove_numeric(&mut self, value: &Numeric) -> bool {
        match Value::of(value) {
            Value::Small(value, scale) => return self.remove(value, scale),
            Value::Large(value) => {
                self.count_in_large(value.mantissa, value.scale, true);
                return self.remove(0, value.scale);
            }
            Value::NotANumber => self.not_a_number = self.not_a_number.saturating_sub(1),
            Value::Infinite { negative } => {
                let count = &mut self.infinite[usize::from(negative)];
                *count = count.saturating_sub(1);
            }
        }
        true
    }

    /// The sum.
    pub(super) fn sum(&self) -> Sum {
        match self.infinite {
            _ if self.count() == 0 => Sum::Empty,
            _ if self.not_a_number > 0 => Sum::NotANumber,
            [0, 0] => Sum::Finite(Decimal {
                mantissa: self.sum.value(),
                scale: self.scale,
            }),
            [_, 0] => Sum::Infinite { negative: false },
            [0, _] => Sum::Infinite { negative: true },
            _ => Sum::NotANumber,
        }
    }

    /// The sum in 128 bits, if it is finite.
    pub(super) fn small(&self) -> Option<i128> {
        match self.sum.large.sign() {
            Sign::NoSign => Some(self.sum.small),
            _ => i128::try_from(self.sum.value()).ok(),
        }
    }

    /// The variance of all values or of a sample; of infinities it is not a number.
    pub(super) fn variance(&self, sample: bool) -> Sum {
        let count = self.count();
        if count <= u64::from(sample) {
            return Sum::Empty;
        }
        let Sum::Finite(sum) = self.sum() else {
            return Sum::NotANumber;
        };
        let squares = self.squares.as_ref().map(Whole::value).unwrap_or_default();
        let above = Decimal {
            mantissa: squares * count - &sum.mantissa * &sum.mantissa,
            scale: 2 * self.scale,
        };
        if above.mantissa.sign() != Sign::Plus {
            return Sum::Finite(Decimal {
                mantissa: BigInt::default(),
                scale: 0,
            });
        }
        let below = Decimal {
            mantissa: BigInt::from(count) * (count - u64::from(sample)),
            scale: 0,
        };
        Sum::Finite(above.divided(&below))
    }
}
