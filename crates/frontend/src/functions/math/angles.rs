//! Trigonometry in radians and degrees, and hyperbolic functions.
//!
//! Functions of degrees give exact results where there are such, as `sind(30) = 0.5`: an angle
//! is brought into the first quadrant, where a function is computed up to the angle at which
//! its value is known and divided by the value that the machine computes there.

use super::double;
use crate::error::{Error, Result};
use crate::functions::kernel::{F64, f2};
use crate::functions::{Catalogue, scalar};
use crate::types::Type::Float8;

/// Radians of a degree.
pub(super) const RADIANS: f64 = 0.017_453_292_519_943_295;

/// `22003` of an argument outside of a function's domain.
fn outside() -> Error {
    Error::new("22003", "input is out of range")
}

/// An angle that is no infinity.
fn angle(x: f64) -> Result<f64> {
    if x.is_infinite() {
        Err(outside())
    } else {
        Ok(x)
    }
}

/// A number that is not less than a bound and not more than another.
fn between(x: f64, least: f64, most: f64) -> Result<f64> {
    if x < least || x > most {
        Err(outside())
    } else {
        Ok(x)
    }
}

/// Sine of 0 to 30 degrees, exact at both.
fn sine_to_30(x: f64) -> f64 {
    (x * RADIANS).sin() / (30.0 * RADIANS).sin() / 2.0
}

/// Cosine of 0 to 60 degrees, exact at both.
fn cosine_to_60(x: f64) -> f64 {
    let whole = 1.0 - (60.0 * RADIANS).cos();
    1.0 - (1.0 - (x * RADIANS).cos()) / whole / 2.0
}

/// Sine of 0 to 90 degrees.
fn sine(x: f64) -> f64 {
    if x <= 30.0 {
        sine_to_30(x)
    } else {
        cosine_to_60(90.0 - x)
    }
}

/// Cosine of 0 to 90 degrees.
fn cosine(x: f64) -> f64 {
    if x <= 60.0 {
        cosine_to_60(x)
    } else {
        sine_to_30(90.0 - x)
    }
}

/// An angle in the first quadrant, and the signs of its sine and cosine.
fn quadrant(x: f64) -> (f64, f64, f64) {
    let (mut x, mut of_sine, mut of_cosine) = (x % 360.0, 1.0, 1.0);
    if x < 0.0 {
        x = -x;
        of_sine = -of_sine;
    }
    if x > 180.0 {
        x = 360.0 - x;
        of_sine = -of_sine;
    }
    if x > 90.0 {
        x = 180.0 - x;
        of_cosine = -of_cosine;
    }
    (x, of_sine, of_cosine)
}

/// A zero without a sign.
fn unsigned_zero(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x }
}

fn sind(x: f64) -> Result<f64> {
    let (x, sign, _) = quadrant(angle(x)?);
    Ok(sign * sine(x))
}

fn cosd(x: f64) -> Result<f64> {
    let (x, _, sign) = quadrant(angle(x)?);
    Ok(sign * cosine(x))
}

fn tand(x: f64) -> Result<f64> {
    let (x, a, b) = quadrant(angle(x)?);
    let unit = sine(45.0) / cosine(45.0);
    Ok(unsigned_zero(a * b * (sine(x) / cosine(x) / unit)))
}

fn cotd(x: f64) -> Result<f64> {
    let (x, a, b) = quadrant(angle(x)?);
    let unit = cosine(45.0) / sine(45.0);
    Ok(unsigned_zero(a * b * (cosine(x) / sine(x) / unit)))
}

/// Degrees of a sine of 0 to 1.
fn arc_sine(x: f64) -> f64 {
    match x <= 0.5 {
        true => x.asin() / 0.5f64.asin() * 30.0,
        false => 90.0 - x.acos() / 0.5f64.acos() * 60.0,
    }
}

/// Degrees of a cosine of 0 to 1.
fn arc_cosine(x: f64) -> f64 {
    match x <= 0.5 {
        true => 90.0 - x.asin() / 0.5f64.asin() * 30.0,
        false => x.acos() / 0.5f64.acos() * 60.0,
    }
}

fn asind(x: f64) -> Result<f64> {
    let x = between(x, -1.0, 1.0)?;
    Ok(if x >= 0.0 { arc_sine(x) } else { -arc_sine(-x) })
}

fn acosd(x: f64) -> Result<f64> {
    let x = between(x, -1.0, 1.0)?;
    Ok(if x >= 0.0 {
        arc_cosine(x)
    } else {
        90.0 + arc_sine(-x)
    })
}

/// Degrees of radians of which a quarter of pi is exact.
fn in_degrees(x: f64) -> f64 {
    x / 1f64.atan() * 45.0
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    double(c, "sin", |x| angle(x).map(f64::sin));
    double(c, "cos", |x| angle(x).map(f64::cos));
    double(c, "tan", |x| angle(x).map(f64::tan));
    double(c, "cot", |x| angle(x).map(|x| 1.0 / x.tan()));
    double(c, "asin", |x| between(x, -1.0, 1.0).map(f64::asin));
    double(c, "acos", |x| between(x, -1.0, 1.0).map(f64::acos));
    double(c, "atan", |x| Ok(x.atan()));
    let atan2 = f2::<F64, F64, F64>(|y, x| Ok(y.atan2(x)));
    c.add(scalar("atan2", &[Float8, Float8], Float8, atan2));
    double(c, "sind", sind);
    double(c, "cosd", cosd);
    double(c, "tand", tand);
    double(c, "cotd", cotd);
    double(c, "asind", asind);
    double(c, "acosd", acosd);
    double(c, "atand", |x| Ok(in_degrees(x.atan())));
    let atan2d = f2::<F64, F64, F64>(|y, x| Ok(in_degrees(y.atan2(x))));
    c.add(scalar("atan2d", &[Float8, Float8], Float8, atan2d));
    double(c, "sinh", |x| Ok(x.sinh()));
    double(c, "cosh", |x| Ok(x.cosh()));
    double(c, "tanh", |x| Ok(x.tanh()));
    double(c, "asinh", |x| Ok(inverse_sinh(x)));
    double(c, "acosh", |x| {
        between(x, 1.0, f64::INFINITY).map(inverse_cosh)
    });
    double(c, "atanh", |x| between(x, -1.0, 1.0).map(inverse_tanh));
}

/// The inverse of sinh; the standard library's loses digits near zero and of large numbers.
fn inverse_sinh(x: f64) -> f64 {
    let size = x.abs();
    let result = match size {
        _ if !size.is_finite() => size,
        _ if size > 1e8 => size.ln() + std::f64::consts::LN_2,
        _ => (size + size * size / (1.0 + (1.0 + size * size).sqrt())).ln_1p(),
    };
    result.copysign(x)
}

/// The inverse of cosh.
fn inverse_cosh(x: f64) -> f64 {
    match x {
        _ if x > 1e8 => x.ln() + std::f64::consts::LN_2,
        _ => {
            let more = x - 1.0;
            (more + (2.0 * more + more * more).sqrt()).ln_1p()
        }
    }
}

/// The inverse of tanh; the standard library's loses digits of negative numbers.
fn inverse_tanh(x: f64) -> f64 {
    let size = x.abs();
    (0.5 * (2.0 * size / (1.0 - size)).ln_1p()).copysign(x)
}
