//! Operators of floating-point numbers.
//!
//! They follow IEEE 754 but for what PostgreSQL refuses: a result that is infinite or zero
//! without an operand that makes it so, and a division by zero. REAL with DOUBLE PRECISION
//! gives DOUBLE PRECISION.

use std::sync::Arc;

use arrow_array::ArrowPrimitiveType;
use arrow_array::types::{Float32Type, Float64Type};

use super::rows;
use crate::error::{Error, Result};
use crate::functions::Catalogue;
use crate::functions::kernel::{F64, Kernel, f1, f2};
use crate::functions::scalar;
use crate::types::Type;
use crate::values::numeric::division_by_zero;

/// `22003` of a result that is too large.
pub(in crate::functions) fn overflow() -> Error {
    Error::new("22003", "value out of range: overflow")
}

/// `22003` of a result that is too near zero.
pub(in crate::functions) fn underflow() -> Error {
    Error::new("22003", "value out of range: underflow")
}

/// The error of a quotient.
fn wrong_quotient(x: f64, y: f64, result: f64) -> Error {
    match (x.is_nan(), y == 0.0) {
        (false, true) => division_by_zero(),
        _ => wrong(result),
    }
}

/// The error of a result that has left the range.
fn wrong(result: f64) -> Error {
    if result == 0.0 {
        underflow()
    } else {
        overflow()
    }
}

/// A result whose NaN has no sign: comparisons go by bits, and there is one NaN, greater than all
/// numbers.
macro_rules! one_nan {
    ($N:ty, $result:expr) => {{
        let result: $N = $result;
        match result.is_nan() {
            true => <$N>::NAN,
            false => result,
        }
    }};
}

macro_rules! operators {
    ($c:ident, $left:expr, $right:expr, $result:expr, $A:ty, $B:ty, $R:ty) => {{
        type N = <$R as ArrowPrimitiveType>::Native;
        let both = [$left, $right];
        $c.operator(
            "+",
            &both,
            $result,
            Arc::new(|call, columns| {
                rows::binary::<$A, $B, $R>(
                    call,
                    rows::pair(columns)?,
                    |x, y| {
                        let (x, y) = (N::from(x), N::from(y));
                        let sum = one_nan!(N, x + y);
                        (sum, sum.is_infinite() && x.is_finite() && y.is_finite())
                    },
                    |_, _| overflow(),
                )
            }),
        );
        $c.operator(
            "-",
            &both,
            $result,
            Arc::new(|call, columns| {
                rows::binary::<$A, $B, $R>(
                    call,
                    rows::pair(columns)?,
                    |x, y| {
                        let (x, y) = (N::from(x), N::from(y));
                        let difference = one_nan!(N, x - y);
                        (
                            difference,
                            difference.is_infinite() && x.is_finite() && y.is_finite(),
                        )
                    },
                    |_, _| overflow(),
                )
            }),
        );
        $c.operator(
            "*",
            &both,
            $result,
            Arc::new(|call, columns| {
                rows::binary::<$A, $B, $R>(
                    call,
                    rows::pair(columns)?,
                    |x, y| {
                        let (x, y) = (N::from(x), N::from(y));
                        let product = one_nan!(N, x * y);
                        let far = product.is_infinite() && x.is_finite() && y.is_finite();
                        (product, far || product == 0.0 && x != 0.0 && y != 0.0)
                    },
                    |x, y| wrong(f64::from(N::from(x) * N::from(y))),
                )
            }),
        );
        $c.operator(
            "/",
            &both,
            $result,
            Arc::new(|call, columns| {
                rows::binary::<$A, $B, $R>(
                    call,
                    rows::pair(columns)?,
                    |x, y| {
                        let (x, y) = (N::from(x), N::from(y));
                        let quotient = one_nan!(N, x / y);
                        let far = quotient.is_infinite() && x.is_finite();
                        let near = quotient == 0.0 && x != 0.0 && y.is_finite();
                        (quotient, far || near || y == 0.0 && !x.is_nan())
                    },
                    |x, y| {
                        let (x, y) = (N::from(x), N::from(y));
                        wrong_quotient(x.into(), y.into(), (x / y).into())
                    },
                )
            }),
        );
    }};
}

macro_rules! signs {
    ($c:ident, $ty:expr, $T:ty) => {
        let plus: Kernel = Arc::new(|call, columns| {
            rows::unary::<$T, $T>(call, rows::only(columns)?, |x| (x, false), |_| overflow())
        });
        $c.operator("+", &[$ty], $ty, plus);
        let minus: Kernel = Arc::new(|call, columns| {
            rows::unary::<$T, $T>(
                call,
                rows::only(columns)?,
                |x| (one_nan!(<$T as ArrowPrimitiveType>::Native, -x), false),
                |_| overflow(),
            )
        });
        $c.operator("-", &[$ty], $ty, minus);
        let size: Kernel = Arc::new(|call, columns| {
            rows::unary::<$T, $T>(
                call,
                rows::only(columns)?,
                |x| (x.abs(), false),
                |_| overflow(),
            )
        });
        $c.operator("@", &[$ty], $ty, Arc::clone(&size));
        $c.add(scalar("abs", &[$ty], $ty, size));
    };
}

/// A number to a power.
pub(in crate::functions) fn power(x: f64, y: f64) -> Result<f64> {
    if x.is_nan() {
        return Ok(if y == 0.0 { 1.0 } else { x });
    }
    if y.is_nan() {
        return Ok(if x == 1.0 { 1.0 } else { y });
    }
    if x == 0.0 && y < 0.0 {
        let message = "zero raised to a negative power is undefined";
        return Err(Error::new("2201F", message));
    }
    if x < 0.0 && y.floor() != y {
        let message = "a negative number raised to a non-integer power yields a complex result";
        return Err(Error::new("2201F", message));
    }
    let result = x.powf(y);
    if x.is_finite() && y.is_finite() {
        if result.is_infinite() {
            return Err(overflow());
        }
        if result == 0.0 && x != 0.0 {
            return Err(underflow());
        }
    }
    Ok(result)
}

/// The square root.
pub(in crate::functions) fn square_root(x: f64) -> Result<f64> {
    match x < 0.0 {
        true => {
            let message = "cannot take square root of a negative number";
            Err(Error::new("2201F", message))
        }
        false => Ok(x.sqrt()),
    }
}

/// Adds the operators.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Float4, Float8};
    operators!(
        c,
        Float4,
        Float4,
        Float4,
        Float32Type,
        Float32Type,
        Float32Type
    );
    operators!(
        c,
        Float4,
        Float8,
        Float8,
        Float32Type,
        Float64Type,
        Float64Type
    );
    operators!(
        c,
        Float8,
        Float4,
        Float8,
        Float64Type,
        Float32Type,
        Float64Type
    );
    operators!(
        c,
        Float8,
        Float8,
        Float8,
        Float64Type,
        Float64Type,
        Float64Type
    );
    signs!(c, Float4, Float32Type);
    signs!(c, Float8, Float64Type);
    c.operator("^", &[Float8, Float8], Float8, f2::<F64, F64, F64>(power));
    c.operator("|/", &[Float8], Float8, f1::<F64, F64>(square_root));
    c.operator("||/", &[Float8], Float8, f1::<F64, F64>(|x| Ok(x.cbrt())));
}
