//! Operators of NUMERIC.
//!
//! A column of one scale is an array of 128-bit integers, and sums, differences, products and
//! remainders of two such columns are again of one scale:
//!
//! | | digits before the point | behind it |
//! |---|---|---|
//! | `+` `-` | the greater number, and one | the greater number |
//! | `*` | the sum | the sum |
//! | `%` | the lesser number | the greater number |
//!
//! Where that would be more than 38 digits in all, those before the point are fewer and a result
//! that needs more is refused, as long as [`ROOM`] of them are left; else the result has a
//! scale for each value. Quotients and powers always have, as their scale depends on the
//! values.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::types::Decimal128Type;
use arrow_schema::DataType;

use super::rows;
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, Kernel, Num, f1, f2};
use crate::functions::{Catalogue, Returns, scalar};
use crate::types::{DECIMAL_DIGITS, Digits, Type};
use crate::values::Numeric;
use crate::values::numeric::{division_by_zero, pow10};

/// Digits before the point that a result of one scale has room for at least.
const ROOM: u32 = 10;

/// `22003` of a value that has more digits than its column.
pub(super) fn field_overflow() -> Error {
    Error::new("22003", "numeric field overflow")
}

/// A type for some digits before and behind the point.
fn type_of(whole: u32, scale: u32) -> Type {
    let most = u32::from(DECIMAL_DIGITS);
    match whole + scale <= most || scale + ROOM <= most {
        true => Type::numeric((whole + scale).clamp(1, most), scale),
        false => Type::Numeric(None),
    }
}

/// Digits before and behind the point.
type Parts = (u32, u32);

/// A result's type by digits before and behind the point of two operands.
fn by_digits(f: fn(Parts, Parts) -> Parts) -> Returns {
    Returns::Of(Arc::new(move |types| match types {
        [Type::Numeric(Some(a)), Type::Numeric(Some(b))] => {
            let parts = |d: &Digits| (u32::from(d.precision - d.scale), u32::from(d.scale));
            let (whole, scale) = f(parts(a), parts(b));
            type_of(whole, scale)
        }
        _ => Type::Numeric(None),
    }))
}

/// The type of the only operand.
fn unchanged() -> Returns {
    Returns::Of(Arc::new(|types| match types {
        [ty @ Type::Numeric(_)] => ty.clone(),
        _ => Type::Numeric(None),
    }))
}

/// The type of an integer that the only operand is rounded to.
pub(in crate::functions) fn whole_type() -> Returns {
    Returns::Of(Arc::new(|types| match types {
        [
            Type::Numeric(Some(Digits {
                precision,
                scale: 0,
            })),
        ] => Type::numeric((*precision).into(), 0),
        [Type::Numeric(Some(digits))] => {
            let whole = u32::from(digits.precision - digits.scale) + 1;
            Type::numeric(whole, 0)
        }
        _ => Type::Numeric(None),
    }))
}

/// Precision and scale of a column that has one scale.
pub(super) fn digits_of(column: &Column) -> Option<(u32, u32)> {
    match column.array.data_type() {
        DataType::Decimal128(precision, scale) => {
            Some(((*precision).into(), u32::try_from(*scale).ok()?))
        }
        _ => None,
    }
}

/// Two columns and a result of one scale each.
struct Fixed<'a> {
    columns: (&'a Column, &'a Column),
    left: (u32, u32),
    right: (u32, u32),
    digits: Digits,
    /// The power of ten that results stay below.
    limit: i128,
}

impl<'a> Fixed<'a> {
    fn of(call: &Call<'_>, columns: &'a [Column]) -> Option<Self> {
        let ([left, right], Type::Numeric(Some(digits))) = (columns, call.returns) else {
            return None;
        };
        Some(Self {
            columns: (left, right),
            left: digits_of(left)?,
            right: digits_of(right)?,
            digits: *digits,
            limit: pow10(digits.precision.into())?,
        })
    }

    fn precision(&self) -> u32 {
        self.digits.precision.into()
    }

    fn scale(&self) -> u32 {
        self.digits.scale.into()
    }

    /// The factors that give both operands the result's scale.
    fn factors(&self) -> Option<(i128, i128)> {
        let left = self.scale().checked_sub(self.left.1)?;
        let right = self.scale().checked_sub(self.right.1)?;
        Some((pow10(left)?, pow10(right)?))
    }

    fn compute(
        &self,
        call: &Call<'_>,
        f: impl Fn(i128, i128) -> (i128, bool) + Copy,
        error: impl Fn(i128, i128) -> Error,
    ) -> Result<ArrayRef> {
        rows::binary::<Decimal128Type, Decimal128Type, Decimal128Type>(call, self.columns, f, error)
    }

    /// Whether a result has as many digits as its value may need.
    fn holds(&self, whole: u32) -> bool {
        whole + self.scale() <= self.precision()
    }
}

/// A checked result: it is wrong if there is none or it has too many digits.
#[inline]
fn within(result: Option<i128>, limit: i128) -> (i128, bool) {
    match result {
        Some(result) => (result, result.unsigned_abs() >= limit.unsigned_abs()),
        None => (0, true),
    }
}

/// A kernel of a sum or a difference.
fn sum(plus: bool) -> Kernel {
    let varied = match plus {
        true => f2::<Num, Num, Num>(|a, b| a.add(&b)),
        false => f2::<Num, Num, Num>(|a, b| a.sub(&b)),
    };
    Arc::new(move |call, columns| {
        let Some(fixed) = Fixed::of(call, columns) else {
            return varied(call, columns);
        };
        let Some((up_a, up_b)) = fixed.factors() else {
            return varied(call, columns);
        };
        let whole = (fixed.left.0 - fixed.left.1.min(fixed.left.0))
            .max(fixed.right.0 - fixed.right.1.min(fixed.right.0));
        let never = |_, _| field_overflow();
        // A difference is a sum with the other sign.
        let up_b = if plus { up_b } else { -up_b };
        match (fixed.holds(whole + 1), up_a, up_b) {
            (true, 1, 1) => fixed.compute(call, |a, b| (a.wrapping_add(b), false), never),
            (true, 1, -1) => fixed.compute(call, |a, b| (a.wrapping_sub(b), false), never),
            (true, ..) => {
                let add = |a: i128, b: i128| {
                    let (a, b) = (a.wrapping_mul(up_a), b.wrapping_mul(up_b));
                    (a.wrapping_add(b), false)
                };
                fixed.compute(call, add, never)
            }
            (false, ..) => {
                let limit = fixed.limit;
                let add = |a: i128, b: i128| {
                    let (a, b) = (a.checked_mul(up_a), b.checked_mul(up_b));
                    within(a.zip(b).and_then(|(a, b)| a.checked_add(b)), limit)
                };
                fixed.compute(call, add, never)
            }
        }
    })
}

/// The kernel of a product.
fn product() -> Kernel {
    let varied = f2::<Num, Num, Num>(|a, b| a.mul(&b));
    Arc::new(move |call, columns| {
        let fixed = Fixed::of(call, columns);
        let fixed = fixed.filter(|fixed| fixed.left.1 + fixed.right.1 == fixed.scale());
        let Some(fixed) = fixed else {
            return varied(call, columns);
        };
        let never = |_, _| field_overflow();
        if fixed.left.0 + fixed.right.0 <= fixed.precision() {
            return fixed.compute(call, |a, b| (a.wrapping_mul(b), false), never);
        }
        let limit = fixed.limit;
        fixed.compute(call, |a, b| within(a.checked_mul(b), limit), never)
    })
}

/// The kernel of a remainder.
fn remainder() -> Kernel {
    let varied = f2::<Num, Num, Num>(|a, b| a.rem(&b));
    Arc::new(move |call, columns| {
        let fixed = Fixed::of(call, columns);
        let factors = fixed.as_ref().and_then(Fixed::factors);
        let (Some(fixed), Some((up_a, up_b))) = (fixed, factors) else {
            return varied(call, columns);
        };
        let most = u32::from(DECIMAL_DIGITS);
        let fits = |(precision, scale): (u32, u32)| precision + fixed.scale() - scale <= most;
        if !fits(fixed.left) || !fits(fixed.right) {
            return varied(call, columns);
        }
        let rest = |a: i128, b: i128| {
            let rest = a.wrapping_mul(up_a).checked_rem(b.wrapping_mul(up_b));
            (rest.unwrap_or(0), b == 0)
        };
        fixed.compute(call, rest, |_, _| division_by_zero())
    })
}

/// A kernel of one operand whose type is kept.
fn one(fixed: fn(i128) -> i128, varied: fn(&Numeric) -> Numeric) -> Kernel {
    let varied = f1::<Num, Num>(move |a| Ok(varied(&a)));
    Arc::new(move |call, columns| {
        let column = rows::only(columns)?;
        if column.array.data_type() != &call.returns.arrow() || digits_of(column).is_none() {
            return varied(call, columns);
        }
        let work = |a| (fixed(a), false);
        let never = |_| field_overflow();
        rows::unary::<Decimal128Type, Decimal128Type>(call, column, work, never)
    })
}

/// Adds the operators.
pub(super) fn register(c: &mut Catalogue) {
    let numeric = || Type::Numeric(None);
    let two = [numeric(), numeric()];
    let of_sum = || by_digits(|(a, s), (b, t)| (a.max(b) + 1, s.max(t)));
    c.operator("+", &two, of_sum(), sum(true));
    c.operator("-", &two, of_sum(), sum(false));
    let of_product = by_digits(|(a, s), (b, t)| (a + b, s + t));
    c.operator("*", &two, of_product, product());
    c.operator("/", &two, numeric(), f2::<Num, Num, Num>(|a, b| a.div(&b)));
    let of_rest = || by_digits(|(a, s), (b, t)| (a.min(b), s.max(t)));
    c.operator("%", &two, of_rest(), remainder());
    c.add(scalar("mod", &two, of_rest(), remainder()));
    let power = f2::<Num, Num, Num>(|a, b| a.power(&b));
    c.operator("^", &two, numeric(), power);
    let one_of = [numeric()];
    c.operator("+", &one_of, unchanged(), one(|a| a, Numeric::clone));
    c.operator(
        "-",
        &one_of,
        unchanged(),
        one(i128::wrapping_neg, Numeric::neg),
    );
    c.operator(
        "@",
        &one_of,
        unchanged(),
        one(i128::wrapping_abs, Numeric::abs),
    );
    let size = one(i128::wrapping_abs, Numeric::abs);
    c.add(scalar("abs", &one_of, unchanged(), size));
}
