//! Mathematics: functions of numbers.
//!
//! | module | holds |
//! |---|---|
//! | `angles` | trigonometry in radians and degrees, and hyperbolic functions |
//! | `buckets` | `width_bucket` |
//! | `random` | `random` and `setseed` |
//!
//! The rest is here: rounding, roots, powers and logarithms, divisors and multiples.
//!
//! ```text
//! round(2.5) = 3     round(2.5::float8) = 2     sqrt(2.0) = 1.414213562373095
//! ln(0)              2201E cannot take logarithm of zero
//! ```
//!
//! Beside PostgreSQL's functions there are log2, even, isnan, isinf, isfinite,
//! greatest_common_divisor and least_common_multiple, which other databases have.

use std::sync::Arc;

use super::numeric::{out_of_range, overflow, power, square_root, underflow, whole_type};
use super::{Catalogue, Returns, scalar};
use crate::error::{Error, Result};
use crate::functions::kernel::{Bool, F64, I32, I64, Kernel, Num, Opt, f0, f1, f2};
use crate::types::Type;
use crate::types::Type::{Float8, Int4, Int8};
use crate::values::Numeric;

mod angles;
mod buckets;
mod random;

#[cfg(test)]
mod tests;

fn numeric() -> Type {
    Type::Numeric(None)
}

/// `2201E` of a logarithm that is no real number.
fn check_ln(x: f64) -> Result<()> {
    let what = match x {
        0.0 => "zero",
        _ if x < 0.0 => "a negative number",
        _ => return Ok(()),
    };
    let message = format!("cannot take logarithm of {what}");
    Err(Error::new("2201E", message))
}

/// e to a power.
fn exp(x: f64) -> Result<f64> {
    let result = x.exp();
    if x.is_finite() && result.is_infinite() {
        return Err(overflow());
    }
    if x.is_finite() && result == 0.0 {
        return Err(underflow());
    }
    Ok(result)
}

/// Degrees of radians.
fn degrees(x: f64) -> Result<f64> {
    let result = x / angles::RADIANS;
    if x.is_finite() && result.is_infinite() {
        return Err(overflow());
    }
    Ok(result)
}

/// Radians of degrees.
fn radians(x: f64) -> Result<f64> {
    let result = x * angles::RADIANS;
    if x != 0.0 && result == 0.0 {
        return Err(underflow());
    }
    Ok(result)
}

/// -1, 0 or 1; 0 for NaN.
fn sign(x: f64) -> f64 {
    match x {
        _ if x > 0.0 => 1.0,
        _ if x < 0.0 => -1.0,
        _ => 0.0,
    }
}

/// The next even integer away from zero.
fn even(x: f64) -> f64 {
    (x.abs() / 2.0).ceil() * 2.0 * if x < 0.0 { -1.0 } else { 1.0 }
}

/// The greatest common divisor of two sizes.
fn divisor(a: i64, b: i64) -> u64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest common divisor of two integers of a type.
fn gcd<T: TryFrom<u64>>(a: i64, b: i64, name: &str) -> Result<T> {
    T::try_from(divisor(a, b)).map_err(|_| out_of_range(name))
}

/// Their least common multiple.
fn lcm<T: TryFrom<u64>>(a: i64, b: i64, name: &str) -> Result<T> {
    let divisor = divisor(a, b).max(1);
    let share = a.unsigned_abs() / divisor;
    let result = share.checked_mul(b.unsigned_abs());
    let result = result.and_then(|result| T::try_from(result).ok());
    result.ok_or_else(|| out_of_range(name))
}

/// Adds a function of doubles.
fn double(c: &mut Catalogue, name: &'static str, f: fn(f64) -> Result<f64>) {
    c.add(scalar(name, &[Float8], Float8, f1::<F64, F64>(f)));
}

/// Adds a function of NUMERIC whose result is an integer.
fn whole(c: &mut Catalogue, name: &'static str, f: fn(&Numeric) -> Numeric) {
    let kernel = f1::<Num, Num>(move |x| Ok(f(&x)));
    c.add(scalar(name, &[numeric()], whole_type(), kernel));
}

/// Adds a function of NUMERIC whose scale depends on the values.
fn varied(c: &mut Catalogue, name: &'static str, f: fn(&Numeric) -> Result<Numeric>) {
    let kernel = f1::<Num, Num>(move |x| f(&x));
    c.add(scalar(name, &[numeric()], numeric(), kernel));
}

/// The same of two.
fn varied_two(c: &mut Catalogue, name: &'static str, f: fn(&Numeric, &Numeric) -> Result<Numeric>) {
    let kernel = f2::<Num, Num, Num>(move |x, y| f(&x, &y));
    c.add(scalar(name, &[numeric(), numeric()], numeric(), kernel));
}

/// The type of `sign`.
fn sign_type() -> Returns {
    Returns::Of(Arc::new(|types| match types {
        [Type::Numeric(Some(_))] => Type::numeric(1, 0),
        _ => Type::Numeric(None),
    }))
}

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    rounding(c);
    powers(c);
    divisors(c);
    scales(c);
    angles::register(c);
    buckets::register(c);
    random::register(c);
    for name in ["isnan", "isinf", "isfinite"] {
        let kernel: Kernel = match name {
            "isnan" => f1::<F64, Bool>(|x| Ok(x.is_nan())),
            "isinf" => f1::<F64, Bool>(|x| Ok(x.is_infinite())),
            _ => f1::<F64, Bool>(|x| Ok(x.is_finite())),
        };
        c.add(scalar(name, &[Float8], Type::Bool, kernel));
    }
}

fn rounding(c: &mut Catalogue) {
    for name in ["ceil", "ceiling"] {
        double(c, name, |x| Ok(x.ceil()));
        whole(c, name, Numeric::ceil);
    }
    double(c, "floor", |x| Ok(x.floor()));
    whole(c, "floor", Numeric::floor);
    double(c, "round", |x| Ok(x.round_ties_even()));
    whole(c, "round", |x| x.rescaled(0));
    double(c, "trunc", |x| Ok(x.trunc()));
    whole(c, "trunc", |x| x.trunc(0));
    let round = f2::<Num, I32, Num>(|x, scale| x.round(scale));
    c.add(scalar("round", &[numeric(), Int4], numeric(), round));
    let trunc = f2::<Num, I32, Num>(|x, scale| Ok(x.trunc(scale)));
    c.add(scalar("trunc", &[numeric(), Int4], numeric(), trunc));
    double(c, "sign", |x| Ok(sign(x)));
    let of_sign = f1::<Num, Num>(|x| {
        Ok(match x.is_nan() {
            true => x,
            false => Numeric::from(x.sign()),
        })
    });
    c.add(scalar("sign", &[numeric()], sign_type(), of_sign));
    double(c, "even", |x| Ok(even(x)));
}

fn powers(c: &mut Catalogue) {
    double(c, "exp", exp);
    varied(c, "exp", Numeric::exp);
    double(c, "ln", |x| check_ln(x).map(|()| x.ln()));
    varied(c, "ln", Numeric::ln);
    for name in ["log", "log10"] {
        double(c, name, |x| check_ln(x).map(|()| x.log10()));
        varied(c, name, |x| Numeric::log(&Numeric::from(10), x));
    }
    varied_two(c, "log", Numeric::log);
    double(c, "log2", |x| check_ln(x).map(|()| x.log2()));
    for name in ["power", "pow"] {
        c.add(scalar(
            name,
            &[Float8, Float8],
            Float8,
            f2::<F64, F64, F64>(power),
        ));
        varied_two(c, name, Numeric::power);
    }
    double(c, "sqrt", square_root);
    varied(c, "sqrt", Numeric::sqrt);
    double(c, "cbrt", |x| Ok(x.cbrt()));
    double(c, "degrees", degrees);
    double(c, "radians", radians);
    let pi = f0::<F64>(|_| Ok(std::f64::consts::PI));
    c.add(scalar("pi", &[], Float8, pi));
}

fn divisors(c: &mut Catalogue) {
    varied_two(c, "div", Numeric::div_trunc);
    for name in ["gcd", "greatest_common_divisor"] {
        let short = f2::<I32, I32, I32>(|a, b| {
            let divisor = gcd::<i32>(a.into(), b.into(), "integer")?;
            Ok(divisor)
        });
        c.add(scalar(name, &[Int4, Int4], Int4, short));
        let long = f2::<I64, I64, I64>(|a, b| gcd(a, b, "bigint"));
        c.add(scalar(name, &[Int8, Int8], Int8, long));
        varied_two(c, name, Numeric::gcd);
    }
    for name in ["lcm", "least_common_multiple"] {
        let short = f2::<I32, I32, I32>(|a, b| lcm(a.into(), b.into(), "integer"));
        c.add(scalar(name, &[Int4, Int4], Int4, short));
        let long = f2::<I64, I64, I64>(|a, b| lcm(a, b, "bigint"));
        c.add(scalar(name, &[Int8, Int8], Int8, long));
        varied_two(c, name, Numeric::lcm);
    }
    let factorial = f1::<I64, Num>(Numeric::factorial);
    c.add(scalar("factorial", &[Int8], numeric(), factorial));
}

fn scales(c: &mut Catalogue) {
    let scale = f1::<Num, Opt<I32>>(|x| Ok(x.is_finite().then(|| x.scale() as i32)));
    c.add(scalar("scale", &[numeric()], Int4, scale));
    let least = f1::<Num, Opt<I32>>(|x| Ok(x.is_finite().then(|| x.min_scale() as i32)));
    c.add(scalar("min_scale", &[numeric()], Int4, least));
    varied(c, "trim_scale", |x| Ok(x.trim_scale()));
}
