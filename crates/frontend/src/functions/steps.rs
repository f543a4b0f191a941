//! Functions that PostgreSQL's own aggregates and operators are made of, by the names that
//! CREATE AGGREGATE calls them by: `int4pl`, `int8inc`, `float8larger`.

use std::sync::Arc;

use super::kernel::{Call, F32, F64, I16, I32, I64, Kernel, Num, Opt, Str, f1, f2};
use super::{Catalogue, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Any, Float4, Float8, Int2, Int4, Int8, Text};
    macro_rules! integers {
        ($($marker:ident $ty:ident $name:literal $plus:literal $minus:literal $times:literal
           $larger:literal $smaller:literal;)*) => {$({
            let of = |value: Option<_>| value.ok_or_else(|| out_of_range($name));
            let plus = f2::<$marker, $marker, $marker>(move |a, b| of(a.checked_add(b)));
            c.add(scalar($plus, &[$ty, $ty], $ty, plus));
            let minus = f2::<$marker, $marker, $marker>(move |a, b| of(a.checked_sub(b)));
            c.add(scalar($minus, &[$ty, $ty], $ty, minus));
            let times = f2::<$marker, $marker, $marker>(move |a, b| of(a.checked_mul(b)));
            c.add(scalar($times, &[$ty, $ty], $ty, times));
            let larger = f2::<$marker, $marker, $marker>(|a, b| Ok(a.max(b)));
            c.add(scalar($larger, &[$ty, $ty], $ty, larger));
            let smaller = f2::<$marker, $marker, $marker>(|a, b| Ok(a.min(b)));
            c.add(scalar($smaller, &[$ty, $ty], $ty, smaller));
        })*};
    }
    integers! {
        I16 Int2 "smallint" "int2pl" "int2mi" "int2mul" "int2larger" "int2smaller";
        I32 Int4 "integer" "int4pl" "int4mi" "int4mul" "int4larger" "int4smaller";
        I64 Int8 "bigint" "int8pl" "int8mi" "int8mul" "int8larger" "int8smaller";
    }
    macro_rules! floats {
        ($($marker:ident $ty:ident $plus:literal $minus:literal $times:literal
           $larger:literal $smaller:literal;)*) => {$({
            let plus = f2::<$marker, $marker, $marker>(|a, b| finite(a + b, &[a, b]));
            c.add(scalar($plus, &[$ty, $ty], $ty, plus));
            let minus = f2::<$marker, $marker, $marker>(|a, b| finite(a - b, &[a, b]));
            c.add(scalar($minus, &[$ty, $ty], $ty, minus));
            let times = f2::<$marker, $marker, $marker>(|a, b| finite(a * b, &[a, b]));
            c.add(scalar($times, &[$ty, $ty], $ty, times));
            // NaN is greater than all numbers.
            let larger = f2::<$marker, $marker, $marker>(|a, b| {
                Ok(if a.is_nan() || a > b { a } else { b })
            });
            c.add(scalar($larger, &[$ty, $ty], $ty, larger));
            let smaller = f2::<$marker, $marker, $marker>(|a, b| {
                Ok(if b.is_nan() || a < b { a } else { b })
            });
            c.add(scalar($smaller, &[$ty, $ty], $ty, smaller));
        })*};
    }
    floats! {
        F32 Float4 "float4pl" "float4mi" "float4mul" "float4larger" "float4smaller";
        F64 Float8 "float8pl" "float8mi" "float8mul" "float8larger" "float8smaller";
    }
    let text = f2::<Str, Str, Str>(|a, b| Ok(a.max(b).to_owned()));
    c.add(scalar("text_larger", &[Text, Text], Text, text));
    let text = f2::<Str, Str, Str>(|a, b| Ok(a.min(b).to_owned()));
    c.add(scalar("text_smaller", &[Text, Text], Text, text));
    let text = f2::<Str, Str, Str>(|a, b| Ok(format!("{a}{b}")));
    c.add(scalar("textcat", &[Text, Text], Text, text));
    let numeric = || Type::Numeric(None);
    let sum = f2::<Num, Num, Num>(|a, b| a.add(&b));
    c.add(scalar(
        "numeric_add",
        &[numeric(), numeric()],
        numeric(),
        sum,
    ));
    // A sum of INTEGERs begins with the first of them.
    let sum = f2::<Opt<I64>, Opt<I32>, Opt<I64>>(|sum, value| {
        Ok(match (sum, value) {
            (sum, None) => sum,
            (None, Some(value)) => Some(value.into()),
            (Some(sum), Some(value)) => Some(sum.wrapping_add(value.into())),
        })
    });
    c.add(scalar("int4_sum", &[Int8, Int4], Int8, sum).with_nulls());
    let next = |count: i64| count.checked_add(1).ok_or_else(|| out_of_range("bigint"));
    c.add(scalar("int8inc", &[Int8], Int8, f1::<I64, I64>(next)));
    c.add(scalar(
        "int8inc_any",
        &[Int8, Any],
        Int8,
        first_of(f1::<I64, I64>(next)),
    ));
}

/// A kernel of the first argument.
fn first_of(kernel: Kernel) -> Kernel {
    Arc::new(move |call, columns| {
        kernel(
            &Call {
                types: &call.types[..1],
                ..*call
            },
            &columns[..1],
        )
    })
}

fn out_of_range(name: &str) -> Error {
    Error::new("22003", format!("{name} out of range"))
}

/// A result that is infinite only where a number that it is of is.
fn finite<F: Copy + Into<f64>>(result: F, of: &[F]) -> Result<F> {
    let is_finite = |number: &F| (*number).into().is_finite();
    match result.into().is_infinite() && of.iter().all(is_finite) {
        true => Err(Error::new("22003", "value out of range: overflow")),
        false => Ok(result),
    }
}
