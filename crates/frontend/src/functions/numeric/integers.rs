//! Operators of integers.
//!
//! Of two types of integers the longer one is that of the result. Its range is checked: the
//! sum of two SMALLINTs that is no SMALLINT is an error. Shifts use the lowest bits of the
//! distance, 5 for SMALLINT and INTEGER and 6 for BIGINT, as processors do.

use std::sync::Arc;

use arrow_array::ArrowPrimitiveType;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};

use super::rows;
use crate::error::Error;
use crate::functions::kernel::{I16, I32, I64, Kernel, f2};
use crate::functions::{Catalogue, scalar};
use crate::types::Type;
use crate::values::numeric::division_by_zero;

/// `22003` of a type.
pub(in crate::functions) fn out_of_range(name: &str) -> Error {
    Error::new("22003", format!("{name} out of range"))
}

/// An integer of machine length.
trait Integer: Copy + PartialEq + Send + Sync + 'static {
    const NAME: &'static str;
    const ZERO: Self;
    const MINUS_ONE: Self;
    const LEAST: Self;
    fn plus(self, other: Self) -> (Self, bool);
    fn minus(self, other: Self) -> (Self, bool);
    fn times(self, other: Self) -> (Self, bool);
    fn over(self, other: Self) -> Self;
    fn modulo(self, other: Self) -> Self;
    fn negated(self) -> (Self, bool);
    fn size(self) -> (Self, bool);
}

macro_rules! integers {
    ($($ty:ty, $name:expr;)*) => {$(
        impl Integer for $ty {
            const NAME: &'static str = $name;
            const ZERO: Self = 0;
            const MINUS_ONE: Self = -1;
            const LEAST: Self = <$ty>::MIN;
            #[inline]
            fn plus(self, other: Self) -> (Self, bool) {
                self.overflowing_add(other)
            }
            #[inline]
            fn minus(self, other: Self) -> (Self, bool) {
                self.overflowing_sub(other)
            }
            #[inline]
            fn times(self, other: Self) -> (Self, bool) {
                self.overflowing_mul(other)
            }
            #[inline]
            fn over(self, other: Self) -> Self {
                self.checked_div(other).unwrap_or(0)
            }
            #[inline]
            fn modulo(self, other: Self) -> Self {
                self.checked_rem(other).unwrap_or(0)
            }
            #[inline]
            fn negated(self) -> (Self, bool) {
                self.overflowing_neg()
            }
            #[inline]
            fn size(self) -> (Self, bool) {
                self.overflowing_abs()
            }
        }
    )*};
}

integers! {
    i16, "smallint";
    i32, "integer";
    i64, "bigint";
}

/// A result of two integers, and whether it is wrong.
type Checked<T> = fn(T, T) -> (T, bool);

/// A kernel of two integers that are made as long as the result.
fn two<A, B, R>(f: Checked<R::Native>, error: fn(R::Native) -> Error) -> Kernel
where
    A: ArrowPrimitiveType,
    B: ArrowPrimitiveType,
    R: ArrowPrimitiveType,
    A::Native: Into<R::Native>,
    B::Native: Into<R::Native>,
{
    Arc::new(move |call, columns| {
        let columns = rows::pair(columns)?;
        let work = |x: A::Native, y: B::Native| f(x.into(), y.into());
        rows::binary::<A, B, R>(call, columns, work, |_, y| error(y.into()))
    })
}

/// A kernel of one.
fn one<R>(f: fn(R::Native) -> (R::Native, bool)) -> Kernel
where
    R: ArrowPrimitiveType,
    R::Native: Integer,
{
    Arc::new(move |call, columns| {
        let column = rows::only(columns)?;
        rows::unary::<R, R>(call, column, f, |_| out_of_range(R::Native::NAME))
    })
}

/// The closures of `+ - *` go through generic functions, so that each has its own loop.
macro_rules! checked {
    ($c:ident, $symbol:expr, $method:ident, $left:expr, $right:expr, $result:expr,
     $A:ty, $B:ty, $R:ty) => {
        $c.operator(
            $symbol,
            &[$left, $right],
            $result,
            Arc::new(|call, columns| {
                let columns = rows::pair(columns)?;
                type R = <$R as ArrowPrimitiveType>::Native;
                rows::binary::<$A, $B, $R>(
                    call,
                    columns,
                    #[inline]
                    |x, y| Integer::$method(R::from(x), R::from(y)),
                    |_, _| out_of_range(<R as Integer>::NAME),
                )
            }),
        );
    };
}

/// The operators of two types.
macro_rules! mixture {
    ($c:ident, $left:expr, $right:expr, $result:expr, $A:ty, $B:ty, $R:ty) => {
        checked!($c, "+", plus, $left, $right, $result, $A, $B, $R);
        checked!($c, "-", minus, $left, $right, $result, $A, $B, $R);
        checked!($c, "*", times, $left, $right, $result, $A, $B, $R);
        $c.operator(
            "/",
            &[$left, $right],
            $result,
            two::<$A, $B, $R>(quotient, wrong_quotient),
        );
    };
}

/// A quotient, and whether there is none.
fn quotient<T: Integer>(x: T, y: T) -> (T, bool) {
    let wrong = y == T::ZERO || y == T::MINUS_ONE && x == T::LEAST;
    (x.over(y), wrong)
}

fn wrong_quotient<T: Integer>(y: T) -> Error {
    match y == T::ZERO {
        true => division_by_zero(),
        false => out_of_range(T::NAME),
    }
}

/// A remainder, and whether there is none; that of -1 is 0, although the quotient may not fit.
fn remainder<T: Integer>(x: T, y: T) -> (T, bool) {
    (x.modulo(y), y == T::ZERO)
}

/// The operators of one type.
macro_rules! plain {
    ($c:ident, $ty:expr, $T:ty, $marker:ty, $n:ty, $wide:ty) => {
        let two_of = [$ty, $ty];
        for name in ["%", "mod"] {
            let kernel = two::<$T, $T, $T>(remainder, wrong_quotient);
            match name {
                "%" => $c.operator(name, &two_of, $ty, kernel),
                _ => $c.add(scalar(name, &two_of, $ty, kernel)),
            }
        }
        $c.operator(
            "&",
            &two_of,
            $ty,
            two::<$T, $T, $T>(|x, y| (x & y, false), out),
        );
        $c.operator(
            "|",
            &two_of,
            $ty,
            two::<$T, $T, $T>(|x, y| (x | y, false), out),
        );
        $c.operator(
            "#",
            &two_of,
            $ty,
            two::<$T, $T, $T>(|x, y| (x ^ y, false), out),
        );
        $c.operator("~", &[$ty], $ty, one::<$T>(|x| (!x, false)));
        $c.operator("+", &[$ty], $ty, one::<$T>(|x| (x, false)));
        $c.operator("-", &[$ty], $ty, one::<$T>(Integer::negated));
        $c.operator("@", &[$ty], $ty, one::<$T>(Integer::size));
        $c.add(scalar("abs", &[$ty], $ty, one::<$T>(Integer::size)));
        let shift = [$ty, Type::Int4];
        let left =
            f2::<$marker, I32, $marker>(|x, n| Ok(<$wide>::from(x).wrapping_shl(n as u32) as $n));
        $c.operator("<<", &shift, $ty, left);
        let right =
            f2::<$marker, I32, $marker>(|x, n| Ok(<$wide>::from(x).wrapping_shr(n as u32) as $n));
        $c.operator(">>", &shift, $ty, right);
    };
}

/// The error of an operator that has none.
fn out<T: Integer>(_: T) -> Error {
    out_of_range(T::NAME)
}

/// Adds the operators.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Int2, Int4, Int8};
    mixture!(c, Int2, Int2, Int2, Int16Type, Int16Type, Int16Type);
    mixture!(c, Int2, Int4, Int4, Int16Type, Int32Type, Int32Type);
    mixture!(c, Int2, Int8, Int8, Int16Type, Int64Type, Int64Type);
    mixture!(c, Int4, Int2, Int4, Int32Type, Int16Type, Int32Type);
    mixture!(c, Int4, Int4, Int4, Int32Type, Int32Type, Int32Type);
    mixture!(c, Int4, Int8, Int8, Int32Type, Int64Type, Int64Type);
    mixture!(c, Int8, Int2, Int8, Int64Type, Int16Type, Int64Type);
    mixture!(c, Int8, Int4, Int8, Int64Type, Int32Type, Int64Type);
    mixture!(c, Int8, Int8, Int8, Int64Type, Int64Type, Int64Type);
    plain!(c, Int2, Int16Type, I16, i16, i32);
    plain!(c, Int4, Int32Type, I32, i32, i32);
    plain!(c, Int8, Int64Type, I64, i64, i64);
}
