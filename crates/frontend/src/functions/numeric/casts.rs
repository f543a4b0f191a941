//! Casts between number types, and from and to text.
//!
//! From NUMERIC to integers half is rounded away from zero; from floating-point numbers, to
//! even. A value that the other type cannot hold is refused.
//!
//! ```text
//! 2.5::numeric::int      3        2.5::float8::int     2
//! 1234.5::numeric(5,2)   22003 numeric field overflow
//! '1e400'::float8        22003 "1e400" is out of range for type double precision
//! ```
//!
//! OID and the REG types are unsigned integers of 32 bits; an INTEGER's bits become theirs. A
//! REG type's name is read and written by the chapter on the system.

use std::sync::Arc;

use arrow_array::types::{Decimal128Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{ArrowPrimitiveType, types::Float32Type, types::Float64Type};

use super::decimals::digits_of;
use super::integers::out_of_range;
use super::{floats, rows};
use crate::error::{Error, Result};
use crate::functions::kernel::{Bool, F32, F64, I16, I32, I64, Kernel, Num, Str, f1, f2, w1};
use crate::functions::{Catalogue, Context, scalar};
use crate::types::{Digits, Reg, Type, modifier};
use crate::values::numeric::text::is_space;
use crate::values::numeric::{divided, pow10};
use crate::values::{Numeric, float};

/// `22003` of a number that a type of fixed digits cannot hold.
fn no_field(digits: Digits, infinite: bool) -> Error {
    let Digits { precision, scale } = digits;
    let field = format!("A field with precision {precision}, scale {scale}");
    let detail = match (infinite, precision - scale) {
        (true, _) => format!("{field} cannot hold an infinite value."),
        (_, 0) => format!("{field} must round to an absolute value less than 1."),
        (_, whole) => {
            format!("{field} must round to an absolute value less than 10^{whole}.")
        }
    };
    Error::new("22003", "numeric field overflow").with_detail(detail)
}

/// A number as a type of fixed digits holds it.
fn fitted(number: Numeric, ty: &Type) -> Result<Numeric> {
    let Type::Numeric(Some(digits)) = ty else {
        return Ok(number);
    };
    if number.is_nan() {
        return Err(Error::unsupported(format!("NaN in a column of type {ty}")));
    }
    let scale = digits.scale.into();
    let limit = pow10(digits.precision.into()).unwrap_or(i128::MAX);
    match number.to_i128(scale) {
        Some(value) if value.unsigned_abs() < limit.unsigned_abs() => {
            Ok(Numeric::new(value, scale))
        }
        _ => Err(no_field(*digits, number.is_infinite())),
    }
}

/// The cast of integers to NUMERIC.
fn of_integers<A>() -> Kernel
where
    A: ArrowPrimitiveType,
    A::Native: Into<i64>,
{
    Arc::new(|call, columns| {
        let column = rows::only(columns)?;
        let Type::Numeric(Some(digits)) = call.returns else {
            let array = rows::typed::<A>(column)?;
            let count = if column.constant {
                call.rows.min(1)
            } else {
                call.rows
            };
            let mut writer = arrow_array::builder::BinaryViewBuilder::with_capacity(count);
            for value in array.iter().take(count) {
                writer.append_option(value.map(|value| Numeric::from(value.into()).encode()));
            }
            let array: arrow_array::ArrayRef = Arc::new(writer.finish());
            return Ok(crate::functions::kernel::repeated(array, call.rows));
        };
        let factor = pow10(digits.scale.into()).unwrap_or(1);
        let limit = pow10(digits.precision.into()).unwrap_or(i128::MAX) / factor;
        let work = |value: A::Native| {
            let value = i128::from(value.into());
            // The limit is at most 10^38 divided by the factor.
            let bad = value >= limit || value <= -limit;
            (value.wrapping_mul(factor), bad)
        };
        rows::unary::<A, Decimal128Type>(call, column, work, |_| no_field(*digits, false))
    })
}

/// The cast of NUMERIC to NUMERIC of other digits.
fn of_numerics() -> Kernel {
    let varied = w1::<Num, Num>(|call, number| fitted(number, call.returns));
    Arc::new(move |call, columns| {
        let column = rows::only(columns)?;
        let (Some((precision, scale)), Type::Numeric(Some(digits))) =
            (digits_of(column), call.returns)
        else {
            let same = column.array.data_type() == &call.returns.arrow();
            return match same && !column.constant {
                true => Ok(Arc::clone(&column.array)),
                false => varied(call, columns),
            };
        };
        let to = u32::from(digits.scale);
        let limit = pow10(digits.precision.into()).unwrap_or(i128::MAX);
        let error = |_| no_field(*digits, false);
        let outside = move |value: i128| value.unsigned_abs() >= limit.unsigned_abs();
        type D = Decimal128Type;
        match (scale.cmp(&to), pow10(scale.abs_diff(to))) {
            (std::cmp::Ordering::Greater, Some(factor)) => {
                let work = |value| {
                    let value = divided(value, factor);
                    (value, outside(value))
                };
                rows::unary::<D, D>(call, column, work, error)
            }
            (_, Some(factor)) if precision + to - scale <= u32::from(digits.precision) => {
                let work = |value: i128| (value.wrapping_mul(factor), false);
                rows::unary::<D, D>(call, column, work, error)
            }
            (_, Some(factor)) => {
                let work = |value: i128| match value.checked_mul(factor) {
                    Some(value) => (value, outside(value)),
                    None => (0, true),
                };
                rows::unary::<D, D>(call, column, work, error)
            }
            (_, None) => varied(call, columns),
        }
    })
}

/// The integer of a NUMERIC.
fn integer_of<T: TryFrom<i128>>(number: &Numeric, name: &str) -> Result<T> {
    if number.is_nan() || number.is_infinite() {
        let kind = if number.is_nan() { "NaN" } else { "infinity" };
        return Err(Error::unsupported(format!(
            "cannot convert {kind} to {name}"
        )));
    }
    let value = number.to_i128(0).and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| out_of_range(name))
}

/// The floating-point number of a NUMERIC, made by `f`.
fn float_of<F: float::Float>(number: &Numeric, f: fn(&Numeric) -> F) -> Result<F> {
    let value = f(number);
    let double = value.double();
    if double.is_infinite() && !number.is_infinite() || double == 0.0 && !number.is_zero() {
        let name = F::NAME;
        let message = format!("\"{number}\" is out of range for type {name}");
        return Err(Error::new("22003", message));
    }
    Ok(value)
}

/// Reads an integer.
///
/// # Errors
/// `22P02` and `22003`.
pub fn read_integer(text: &str, name: &str, least: i64, most: i64) -> Result<i64> {
    let bad = || {
        let message = format!("invalid input syntax for type {name}: \"{text}\"");
        Error::new("22P02", message)
    };
    let far = || {
        let message = format!("value \"{text}\" is out of range for type {name}");
        Error::new("22003", message)
    };
    let mut bytes = text.bytes().skip_while(|byte| is_space(*byte)).peekable();
    let negative = bytes.next_if(|byte| matches!(byte, b'+' | b'-')) == Some(b'-');
    if !bytes.peek().is_some_and(u8::is_ascii_digit) {
        return Err(bad());
    }
    let mut value = 0i64;
    while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
        let digit = i64::from(digit - b'0');
        let digit = if negative { -digit } else { digit };
        let next = value
            .checked_mul(10)
            .and_then(|value| value.checked_add(digit));
        let next = next.filter(|value| (least..=most).contains(value));
        // A number that is too long is out of range, whatever follows.
        value = next.ok_or_else(far)?;
    }
    match bytes.all(is_space) {
        true => Ok(value),
        false => Err(bad()),
    }
}

/// Reads an OID as an unsigned integer of 64 bits, of which a negative one stands for its bits.
///
/// # Errors
/// `22P02` and `22003`.
pub fn read_oid(text: &str) -> Result<i64> {
    let far = || {
        let message = format!("value \"{text}\" is out of range for type oid");
        Error::new("22003", message)
    };
    let bad = || {
        let message = format!("invalid input syntax for type oid: \"{text}\"");
        Error::new("22P02", message)
    };
    let mut bytes = text.bytes().skip_while(|byte| is_space(*byte)).peekable();
    let negative = bytes.next_if(|byte| matches!(byte, b'+' | b'-')) == Some(b'-');
    if !bytes.peek().is_some_and(u8::is_ascii_digit) {
        return Err(bad());
    }
    let mut value = Some(0u64);
    while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
        let shifted = value.and_then(|value| value.checked_mul(10));
        value = shifted.and_then(|value| value.checked_add(u64::from(digit - b'0')));
    }
    let value = value.ok_or_else(far)?;
    if !bytes.all(is_space) {
        return Err(bad());
    }
    let value = if negative {
        value.wrapping_neg()
    } else {
        value
    };
    let low = value as u32;
    // The higher bits are zeros or those of a negative integer.
    match value == u64::from(low) || value == i64::from(low as i32) as u64 {
        true => Ok(low.into()),
        false => Err(far()),
    }
}

/// The OID of a BIGINT.
fn oid_of(value: i64) -> Result<i64> {
    match u32::try_from(value) {
        Ok(oid) => Ok(oid.into()),
        Err(_) => Err(Error::new("22003", "OID out of range")),
    }
}

/// Casts of integers among themselves.
macro_rules! integers {
    ($c:ident, $($from:expr, $A:ty => $to:expr, $B:ty, $context:ident;)*) => {$(
        $c.cast($from, $to, Context::$context, Arc::new(|call, columns| {
            type R = <$B as ArrowPrimitiveType>::Native;
            let name = $to.to_string();
            let work = |value: <$A as ArrowPrimitiveType>::Native| {
                (value as R, i64::from(value) != i64::from(value as R))
            };
            let error = |_| out_of_range(&name);
            rows::unary::<$A, $B>(call, rows::only(columns)?, work, error)
        }));
    )*};
}

/// Casts of integers to floating-point numbers, which always succeed.
macro_rules! to_floats {
    ($c:ident, $($from:expr, $A:ty;)*) => {$(
        $c.cast($from, Type::Float4, Context::Implicit, Arc::new(|call, columns| {
            let work = |value: <$A as ArrowPrimitiveType>::Native| (value as f32, false);
            let column = rows::only(columns)?;
            rows::unary::<$A, Float32Type>(call, column, work, |_| floats::overflow())
        }));
        $c.cast($from, Type::Float8, Context::Implicit, Arc::new(|call, columns| {
            let work = |value: <$A as ArrowPrimitiveType>::Native| (value as f64, false);
            let column = rows::only(columns)?;
            rows::unary::<$A, Float64Type>(call, column, work, |_| floats::overflow())
        }));
        $c.cast($from, Type::Numeric(None), Context::Implicit, of_integers::<$A>());
    )*};
}

/// Casts of floating-point numbers to integers.
macro_rules! from_floats {
    ($c:ident, $($to:expr, $B:ty, $n:ty;)*) => {$(
        from_floats!(one $c, Type::Float4, Float32Type, f32, $to, $B, $n);
        from_floats!(one $c, Type::Float8, Float64Type, f64, $to, $B, $n);
    )*};
    (one $c:ident, $from:expr, $A:ty, $f:ty, $to:expr, $B:ty, $n:ty) => {
        $c.cast($from, $to, Context::Assignment, Arc::new(|call, columns| {
            let name = $to.to_string();
            let work = |value: $f| {
                let value = value.round_ties_even();
                // The greatest integer may be no float; the one after it is a power of two.
                let inside = value >= <$n>::MIN as $f && value < -(<$n>::MIN as $f);
                (value as $n, !inside)
            };
            let error = |_| out_of_range(&name);
            rows::unary::<$A, $B>(call, rows::only(columns)?, work, error)
        }));
    };
}

/// Adds the casts.
pub(super) fn register(c: &mut Catalogue) {
    use Context::{Assignment, Explicit, Implicit};
    use Type::{Float4, Float8, Int2, Int4, Int8, Oid, Text};
    let numeric = || Type::Numeric(None);
    integers! { c,
        Int2, Int16Type => Int4, Int32Type, Implicit;
        Int2, Int16Type => Int8, Int64Type, Implicit;
        Int4, Int32Type => Int8, Int64Type, Implicit;
        Int4, Int32Type => Int2, Int16Type, Assignment;
        Int8, Int64Type => Int2, Int16Type, Assignment;
        Int8, Int64Type => Int4, Int32Type, Assignment;
    }
    to_floats! { c,
        Int2, Int16Type;
        Int4, Int32Type;
        Int8, Int64Type;
    }
    from_floats! { c,
        Int2, Int16Type, i16;
        Int4, Int32Type, i32;
        Int8, Int64Type, i64;
    }
    c.cast(
        Float4,
        Float8,
        Implicit,
        f1::<F32, F64>(|value| Ok(value.into())),
    );
    let narrowed = |value: f64| {
        let result = value as f32;
        if result.is_infinite() && value.is_finite() {
            return Err(floats::overflow());
        }
        if result == 0.0 && value != 0.0 {
            return Err(floats::underflow());
        }
        Ok(result)
    };
    c.cast(Float8, Float4, Assignment, f1::<F64, F32>(narrowed));

    c.cast(numeric(), numeric(), Implicit, of_numerics());
    let to_int2 = f1::<Num, I16>(|number| integer_of(&number, "smallint"));
    c.cast(numeric(), Int2, Assignment, to_int2);
    let to_int4 = f1::<Num, I32>(|number| integer_of(&number, "integer"));
    c.cast(numeric(), Int4, Assignment, to_int4);
    let to_int8 = f1::<Num, I64>(|number| integer_of(&number, "bigint"));
    c.cast(numeric(), Int8, Assignment, to_int8);
    let to_float4 = f1::<Num, F32>(|number| float_of(&number, Numeric::to_f32));
    c.cast(numeric(), Float4, Implicit, to_float4);
    let to_float8 = f1::<Num, F64>(|number| float_of(&number, Numeric::to_f64));
    c.cast(numeric(), Float8, Implicit, to_float8);
    let of_float4 = w1::<F32, Num>(|call, value| fitted(Numeric::from_f32(value), call.returns));
    c.cast(Float4, numeric(), Assignment, of_float4);
    let of_float8 = w1::<F64, Num>(|call, value| fitted(Numeric::from_f64(value), call.returns));
    c.cast(Float8, numeric(), Assignment, of_float8);

    let read_int2 = |text: &str| {
        let value = read_integer(text, "smallint", i16::MIN.into(), i16::MAX.into())?;
        Ok(value as i16)
    };
    c.cast(Text, Int2, Explicit, f1::<Str, I16>(read_int2));
    let read_int4 = |text: &str| {
        let value = read_integer(text, "integer", i32::MIN.into(), i32::MAX.into())?;
        Ok(value as i32)
    };
    c.cast(Text, Int4, Explicit, f1::<Str, I32>(read_int4));
    let read_int8 = |text: &str| read_integer(text, "bigint", i64::MIN, i64::MAX);
    c.cast(Text, Int8, Explicit, f1::<Str, I64>(read_int8));
    c.cast(Text, Float4, Explicit, f1::<Str, F32>(float::read::<f32>));
    c.cast(Text, Float8, Explicit, f1::<Str, F64>(float::read::<f64>));
    let read_numeric = w1::<Str, Num>(|call, text| fitted(Numeric::parse(text)?, call.returns));
    c.cast(Text, numeric(), Explicit, read_numeric);
    c.cast(Text, Oid, Explicit, f1::<Str, I64>(read_oid));
    let varchar = Type::Varchar(None);
    c.cast(varchar.clone(), Oid, Explicit, f1::<Str, I64>(read_oid));
    let show_oid = f1::<I64, Str>(|value| Ok(value.to_string()));
    c.cast(Oid, varchar, Assignment, show_oid);

    c.cast(
        Int2,
        Text,
        Assignment,
        f1::<I16, Str>(|value| Ok(value.to_string())),
    );
    c.cast(
        Int4,
        Text,
        Assignment,
        f1::<I32, Str>(|value| Ok(value.to_string())),
    );
    c.cast(
        Int8,
        Text,
        Assignment,
        f1::<I64, Str>(|value| Ok(value.to_string())),
    );
    c.cast(
        Oid,
        Text,
        Assignment,
        f1::<I64, Str>(|value| Ok(value.to_string())),
    );
    let show_float4 =
        w1::<F32, Str>(|call, value| Ok(float::write(value, call.session.extra_float_digits)));
    c.cast(Float4, Text, Assignment, show_float4);
    let show_float8 =
        w1::<F64, Str>(|call, value| Ok(float::write(value, call.session.extra_float_digits)));
    c.cast(Float8, Text, Assignment, show_float8);
    let show_numeric = f1::<Num, Str>(|number| Ok(number.to_string()));
    c.cast(numeric(), Text, Assignment, show_numeric);
    let fit = f2::<Num, I32, Num>(|number, modifier| match modifier::digits(modifier) {
        Some((precision, scale)) => number.fitted(precision, scale),
        None => Ok(number),
    });
    c.add(scalar("numeric", &[numeric(), Int4], numeric(), fit));

    c.cast(
        Type::Bool,
        Int4,
        Explicit,
        f1::<Bool, I32>(|value| Ok(value.into())),
    );
    c.cast(
        Int4,
        Type::Bool,
        Explicit,
        f1::<I32, Bool>(|value| Ok(value != 0)),
    );

    for ty in Reg::ALL.map(Type::Reg).into_iter().chain([Oid]) {
        // The bits of an INTEGER are kept.
        let of_int2 = f1::<I16, I64>(|value| Ok(i64::from(i32::from(value) as u32)));
        c.cast(Int2, ty.clone(), Implicit, of_int2);
        let of_int4 = f1::<I32, I64>(|value| Ok(i64::from(value as u32)));
        c.cast(Int4, ty.clone(), Implicit, of_int4);
        c.cast(Int8, ty.clone(), Implicit, f1::<I64, I64>(oid_of));
        c.cast(
            ty.clone(),
            Int4,
            Assignment,
            f1::<I64, I32>(|value| Ok(value as i32)),
        );
        c.relabel(ty.clone(), Int8, Assignment);
        if ty != Oid {
            c.relabel(ty.clone(), Oid, Implicit);
            c.relabel(Oid, ty, Implicit);
        }
    }
}
