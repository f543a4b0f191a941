//! Roots, powers, logarithms and exponentials of NUMERIC.
//!
//! They are computed in binary fixed point, an integer and a number of bits behind the point,
//! with more bits than the result's digits need, and rounded once. The scale of a result is
//! PostgreSQL's: enough for 16 digits by an estimate of its size, and not less than that of an
//! operand.
//!
//! | function | way |
//! |---|---|
//! | square root | of the integer, with as many digits behind it as are wanted |
//! | ln x | x = m·2^k, m near 1; square roots bring m nearer; then 2·atanh((m-1)/(m+1)) |
//! | e^x | x = k·ln 2 + r; r is halved often; then the power series, and squares |
//! | x^n | squares of a decimal floating-point number that keeps all digits that matter |

use std::sync::LazyLock;

use num_bigint::{BigInt, Sign};

use super::arithmetic::divided_big;
use super::{LEAST_DIGITS, MOST_CHOSEN, MOST_WHOLE, Numeric, Small, big_pow10, division_by_zero};
use super::{digits_of, overflow};
use crate::error::{Error, Result};

/// Bits of a decimal digit.
const BITS: f64 = std::f64::consts::LOG2_10;

/// The logarithm of e to the base of ten.
const LOG_E: f64 = std::f64::consts::LOG10_E;

/// Most of ln of a result that is computed.
const MOST_LN: f64 = 6000.0;

/// Bits that hold some digits, and room for errors.
fn bits_for(digits: i64) -> u64 {
    (digits.max(0) as f64 * BITS) as u64 + 96
}

/// `2·atanh(z)` in fixed point.
fn twice_atanh(z: &BigInt, bits: u64) -> BigInt {
    let square = (z * z) >> bits;
    let mut power = z.clone();
    let mut sum = z.clone();
    let mut n = 3u32;
    while power.bits() > 1 {
        power = (power * &square) >> bits;
        sum += &power / n;
        n += 2;
    }
    sum * 2
}

/// `atanh(1/n)` in fixed point.
fn atanh_inverse(n: u32, bits: u64) -> BigInt {
    let square = n * n;
    let mut power = (BigInt::from(1) << bits) / n;
    let mut sum = power.clone();
    let mut k = 3u32;
    while power.sign() == Sign::Plus {
        power /= square;
        sum += &power / k;
        k += 2;
    }
    sum
}

/// ln 2 in fixed point.
fn ln2(bits: u64) -> BigInt {
    const KEPT: u64 = 1024;
    fn computed(bits: u64) -> BigInt {
        let bits = bits + 16;
        let sum = atanh_inverse(26, bits) * 18 - atanh_inverse(4801, bits) * 2
            + atanh_inverse(8749, bits) * 8;
        sum >> 16
    }
    static SHORT: LazyLock<BigInt> = LazyLock::new(|| computed(KEPT));
    match bits <= KEPT {
        true => &*SHORT >> (KEPT - bits),
        false => computed(bits),
    }
}

/// ln of a positive number in fixed point.
fn ln_fixed(x: &Numeric, bits: u64) -> BigInt {
    let Some(integer) = x.integer() else {
        return BigInt::default();
    };
    // Squaring of roots doubles their error each time.
    let roots = match bits {
        0..400 => 0,
        _ => ((bits as f64).sqrt() / 4.0) as u64,
    };
    let work = bits + roots + 32;
    let divisor = big_pow10(x.scale());
    let mut shift = integer.bits() as i64 - divisor.bits() as i64;
    let up = work as i64 - shift;
    let mut m = match u64::try_from(up) {
        Ok(up) => (integer.as_ref() << up) / &divisor,
        Err(_) => (integer.as_ref() >> up.unsigned_abs()) / &divisor,
    };
    let one = BigInt::from(1) << work;
    // Between 2/3 and 4/3, so that a number near 1 is taken as it is.
    while &m * 3 > &one * 4 {
        m >>= 1;
        shift += 1;
    }
    while &m * 3 < &one * 2 {
        m <<= 1;
        shift -= 1;
    }
    let mut taken = 0;
    // A number that is very near 1 needs no roots.
    let near = (&m - &one).bits();
    if near + roots > work {
        for _ in 0..roots {
            m = (m << work).sqrt();
            taken += 1;
        }
    }
    let z = ((&m - &one) << work) / (&m + &one);
    let ln = twice_atanh(&z, work) << taken;
    let whole = match shift {
        0 => BigInt::default(),
        _ => ln2(work) * shift,
    };
    (ln + whole) >> (work - bits)
}

/// `e^x` of a number in fixed point, with `scale` digits behind the point.
fn exp_fixed(x: &BigInt, bits: u64, scale: u32) -> Result<Numeric> {
    let ln2 = ln2(bits);
    let mut power = x / &ln2;
    if x.sign() == Sign::Minus {
        power -= 1;
    }
    let rest = x - &power * &ln2;
    let power = i64::try_from(&power).map_err(|_| overflow())?;
    let halvings = ((bits as f64).sqrt() / 2.0) as u64 + 1;
    let work = bits + halvings + 16;
    let rest = (rest << (work - bits)) >> halvings;
    let one = BigInt::from(1) << work;
    let mut sum = one.clone();
    let mut term = one;
    let mut n = 1u32;
    while term.bits() > 1 {
        term = ((term * &rest) >> work) / n;
        sum += &term;
        n += 1;
    }
    for _ in 0..halvings {
        sum = (&sum * &sum) >> work;
    }
    let value = sum * big_pow10(scale);
    let down = work as i64 - power;
    let value = match u64::try_from(down) {
        Ok(0) => value,
        Ok(down) => (value + (BigInt::from(1) << (down - 1))) >> down,
        Err(_) => value << down.unsigned_abs(),
    };
    Numeric::checked(value, scale)
}

/// A scale within bounds.
fn chosen(scale: i64, least: u32) -> u32 {
    scale.max(least.into()).clamp(0, MOST_CHOSEN) as u32
}

/// `2201F` of a root or a power that is no real number.
fn no_power(message: &str) -> Error {
    Error::new("2201F", message)
}

impl Numeric {
    /// The square root.
    ///
    /// # Errors
    /// `2201F` of a negative number.
    pub fn sqrt(&self) -> Result<Self> {
        if self.sign() < 0 {
            return Err(no_power("cannot take square root of a negative number"));
        }
        let Some(integer) = self.integer() else {
            return Ok(self.clone());
        };
        let weight = self.lead().map_or(0, |lead| lead.div_euclid(4));
        let estimate = (weight + 1) * 2 - 1;
        let scale = chosen(LEAST_DIGITS - estimate, self.scale());
        // sqrt(n / 10^s) * 10^scale = sqrt(n * 10^(2*scale - s))
        let up = 2 * i64::from(scale) - i64::from(self.scale());
        let (square, exact) = match u32::try_from(up) {
            Ok(up) => (integer.as_ref() * big_pow10(up), true),
            Err(_) => {
                let factor = big_pow10(up.unsigned_abs() as u32);
                let quotient = integer.as_ref() / &factor;
                let exact = &quotient * &factor == *integer;
                (quotient, exact)
            }
        };
        let mut root = square.sqrt();
        // It is rounded up if the rest is more than the root: (r + 1/2)^2 = r^2 + r + 1/4.
        let rest = square - &root * &root;
        if rest > root || !exact && rest == root && root.sign() != Sign::NoSign {
            root += 1;
        }
        Self::checked(root, scale)
    }

    /// The power of ten of ln's first digit, estimated as PostgreSQL does.
    fn ln_weight(&self) -> i64 {
        if self.sign() <= 0 {
            return 0;
        }
        let near = self >= &Self::new(9, 1) && self <= &Self::new(11, 1);
        if near {
            // ln(1 + x) is about x.
            let rest = self.sub(&Self::ONE).unwrap_or(Self::ZERO);
            return rest.lead().unwrap_or(0);
        }
        let lead = self.lead().unwrap_or(0);
        let group = lead.rem_euclid(4) as u32 + 5;
        let digits = self.leading(group) as f64;
        let power = (lead - i64::from(group) + 1) as f64;
        let ln = digits.ln() + power * std::f64::consts::LN_10;
        ln.abs().log10() as i64
    }

    /// Refuses numbers without a logarithm.
    fn check_ln(&self) -> Result<()> {
        match self.sign() {
            _ if self.is_nan() => Ok(()),
            0 => Err(Error::new("2201E", "cannot take logarithm of zero")),
            -1 => {
                let message = "cannot take logarithm of a negative number";
                Err(Error::new("2201E", message))
            }
            _ => Ok(()),
        }
    }

    /// The natural logarithm.
    ///
    /// # Errors
    /// `2201E` of a number that is not positive.
    pub fn ln(&self) -> Result<Self> {
        self.check_ln()?;
        if !self.is_finite() {
            return Ok(self.clone());
        }
        let scale = chosen(LEAST_DIGITS - self.ln_weight(), self.scale());
        self.ln_rounded(scale)
    }

    /// The natural logarithm of a positive number with `scale` digits behind the point.
    fn ln_rounded(&self, scale: u32) -> Result<Self> {
        let bits = bits_for(scale.into());
        let value = ln_fixed(self, bits) * big_pow10(scale);
        Ok(Self::of_big(
            divided_big(&value, &(BigInt::from(1) << bits)),
            scale,
        ))
    }

    /// The logarithm of `self` to a base.
    ///
    /// # Errors
    /// `2201E` of numbers that are not positive, `22012` of the base 1.
    pub fn log(base: &Self, number: &Self) -> Result<Self> {
        if base.is_nan() || number.is_nan() {
            return Ok(Self::NAN);
        }
        if base.is_infinite() || number.is_infinite() {
            // A sign is looked at before a zero.
            [base, number]
                .into_iter()
                .try_for_each(|x| match x.sign() < 0 {
                    true => x.check_ln(),
                    false => Ok(()),
                })?;
        }
        base.check_ln()?;
        number.check_ln()?;
        match (base.is_infinite(), number.is_infinite()) {
            (true, true) => return Ok(Self::NAN),
            (true, false) => return Ok(Self::ZERO),
            (false, true) => return Ok(Self::INFINITY),
            (false, false) => {}
        }
        if base == &Self::ONE {
            return Err(division_by_zero());
        }
        let (weight, number_weight) = (base.ln_weight(), number.ln_weight());
        let result_weight = number_weight - weight;
        let least = base.scale().max(number.scale());
        let scale = chosen(LEAST_DIGITS - result_weight, least);
        let digits = i64::from(scale) + result_weight.max(0) + 8;
        // Both have as many digits that count.
        let bits = bits_for(digits + (-weight).max(-number_weight).max(0));
        let value = ln_fixed(number, bits) * big_pow10(scale);
        Self::checked(divided_big(&value, &ln_fixed(base, bits)), scale)
    }

    /// e to the power of the number.
    ///
    /// # Errors
    /// `22003` if it is too long.
    pub fn exp(&self) -> Result<Self> {
        if !self.is_finite() {
            return Ok(match self.sign() < 0 {
                true => Self::ZERO,
                false => self.clone(),
            });
        }
        let x = self.to_f64();
        let weight = (x * LOG_E).clamp(-2000.0, 2000.0) as i64;
        let scale = chosen(LEAST_DIGITS - weight, self.scale());
        if x.abs() >= MOST_LN {
            return match x > 0.0 {
                true => Err(overflow()),
                false => Ok(Self::new(0, scale)),
            };
        }
        let digits = i64::from(scale) + ((x * LOG_E) as i64).max(0);
        let bits = bits_for(digits);
        let integer = self.integer().unwrap_or_default();
        let fixed = (integer.as_ref() << bits) / big_pow10(self.scale());
        exp_fixed(&fixed, bits, scale)
    }

    /// Whether it has no digits behind the point; infinities have none.
    fn is_integral(&self) -> bool {
        !self.is_nan() && (self.is_infinite() || self.trunc(0) == *self)
    }

    /// Whether it is an odd integer.
    fn is_odd(&self) -> bool {
        let half = self.rem(&Self::new(2, 0)).map(|rest| rest.abs());
        half.is_ok_and(|rest| rest == Self::ONE)
    }

    /// The power that has an operand that is not finite.
    fn special_power(&self, exponent: &Self) -> Result<Self> {
        if self.is_nan() {
            return Ok(match exponent.is_zero() {
                true => Self::ONE,
                false => Self::NAN,
            });
        }
        if exponent.is_nan() {
            return Ok(match *self == Self::ONE {
                true => Self::ONE,
                false => Self::NAN,
            });
        }
        self.check_power(exponent)?;
        if *self == Self::ONE || exponent.is_zero() {
            return Ok(Self::ONE);
        }
        if self.is_zero() {
            return Ok(Self::ZERO);
        }
        if exponent.is_infinite() {
            let size = self.abs();
            return Ok(match (size.cmp(&Self::ONE), exponent.sign() > 0) {
                (std::cmp::Ordering::Equal, _) => Self::ONE,
                (std::cmp::Ordering::Greater, true) => Self::INFINITY,
                (std::cmp::Ordering::Less, false) => Self::INFINITY,
                _ => Self::ZERO,
            });
        }
        Ok(match (self.sign() > 0, exponent.sign() > 0) {
            (true, true) => Self::INFINITY,
            (_, false) => Self::ZERO,
            (false, true) if exponent.is_odd() => Self::NEG_INFINITY,
            (false, true) => Self::INFINITY,
        })
    }

    /// Refuses powers that are no real number.
    fn check_power(&self, exponent: &Self) -> Result<()> {
        if self.is_zero() && exponent.sign() < 0 {
            return Err(no_power("zero raised to a negative power is undefined"));
        }
        if self.sign() < 0 && !exponent.is_integral() {
            return Err(no_power(
                "a negative number raised to a non-integer power yields a complex result",
            ));
        }
        Ok(())
    }

    /// The number to a power.
    ///
    /// # Errors
    /// `2201F` of zero to a negative and of a negative number to a fractional power, `22003` if
    /// it is too long.
    pub fn power(&self, exponent: &Self) -> Result<Self> {
        if !self.is_finite() || !exponent.is_finite() {
            return self.special_power(exponent);
        }
        self.check_power(exponent)?;
        if let Small(value, 0) = exponent.trim_scale().0
            && let Ok(n) = i32::try_from(value)
        {
            return self.power_of_integer(n);
        }
        if self.is_zero() {
            return Ok(Self::new(0, LEAST_DIGITS as u32));
        }
        let negative = self.sign() < 0 && exponent.is_odd();
        let base = self.abs();
        let integer = exponent.integer().unwrap_or_default();
        let divisor = big_pow10(exponent.scale());
        let whole = (exponent.lead().unwrap_or(0) + 1).max(0);
        let ln_weight = base.ln_weight();
        // First with few digits, to know the size of the result; PostgreSQL's number of them
        // decides about scales.
        let rough = (8 - ln_weight).max(0) as u32;
        let ln = base.ln_rounded(rough)?;
        let product = ln
            .mul(exponent)
            .map(|product| product.rescaled(rough).to_f64());
        // A product that is too long is far beyond every limit.
        let far = f64::from(ln.sign() * exponent.sign()) * f64::INFINITY;
        let estimate = product.unwrap_or(far);
        if estimate.abs() > MOST_LN * 1.003_333 {
            return match estimate > 0.0 {
                true => Err(overflow()),
                false => Ok(Self::new(0, MOST_CHOSEN as u32)),
            };
        }
        let weight = (estimate * LOG_E) as i64;
        let least = self.scale().max(exponent.scale());
        let scale = chosen(LEAST_DIGITS - weight, least);
        if estimate.abs() >= MOST_LN {
            return match estimate > 0.0 {
                true => Err(overflow()),
                false => Ok(Self::new(0, scale)),
            };
        }
        let bits = bits_for(i64::from(scale) + weight.max(0) + whole + 8);
        let x = ln_fixed(&base, bits) * integer.as_ref() / &divisor;
        let result = exp_fixed(&x, bits, scale)?;
        Ok(if negative { result.neg() } else { result })
    }

    /// The number to the power of an integer.
    fn power_of_integer(&self, n: i32) -> Result<Self> {
        let scale = chosen(LEAST_DIGITS, self.scale());
        match n {
            0 => return Ok(Self::ONE.rescaled(scale)),
            1 => return self.round(scale as i32),
            -1 => return Self::ONE.quotient(self, scale),
            2 => {
                let square = self.mul(self)?;
                return square.round(scale as i32);
            }
            _ => {}
        }
        let (Some(lead), Some(integer)) = (self.lead(), self.integer()) else {
            return Ok(Self::new(0, scale));
        };
        // The power of ten of the result.
        let first = self.leading(16) as f64;
        let weight = f64::from(n) * (first.log10() + (lead - 15) as f64);
        if weight > (MOST_WHOLE + 4) as f64 {
            return Err(overflow());
        }
        if weight + 1.0 < -f64::from(scale) {
            return Ok(Self::new(0, scale));
        }
        // Digits that a rounding of the result may depend on, and those that errors may reach.
        let kept = (f64::from(scale) + weight.max(0.0)) as u64 + 40;
        let mut result = (BigInt::from(1), 0i64);
        let mut square = (integer.into_owned(), -i64::from(self.scale()));
        let mut left = n.unsigned_abs();
        loop {
            if left & 1 == 1 {
                result = shortened(&result.0 * &square.0, result.1 + square.1, kept);
            }
            left >>= 1;
            if left == 0 {
                break;
            }
            square = shortened(&square.0 * &square.0, square.1 * 2, kept);
        }
        let (digits, power) = result;
        // 10^scale * (digits * 10^power)^(±1)
        let value = match n < 0 {
            false => {
                let power = power + i64::from(scale);
                let factor = big_pow10(u32::try_from(power.abs()).map_err(|_| overflow())?);
                match power >= 0 {
                    true => digits * factor,
                    false => divided_big(&digits, &factor),
                }
            }
            true => {
                let power = i64::from(scale) - power;
                let factor = big_pow10(u32::try_from(power.abs()).map_err(|_| overflow())?);
                match power >= 0 {
                    true => divided_big(&factor, &digits),
                    false => divided_big(&BigInt::from(1), &(digits * factor)),
                }
            }
        };
        Self::checked(value, scale)
    }
}

/// Digits times a power of ten, cut to a number of digits.
fn shortened(digits: BigInt, power: i64, kept: u64) -> (BigInt, i64) {
    if (digits.bits() as f64) < kept as f64 * 3.33 + 64.0 {
        return (digits, power);
    }
    let extra = digits_of(&digits).saturating_sub(kept);
    let cut = divided_big(&digits, &big_pow10(extra as u32));
    (cut, power + extra as i64)
}
