//! Text of floating-point numbers.
//!
//! A number is written with the fewest digits that are read as that number and no other:
//!
//! ```text
//! 0.1   1e+20   1.5e-07   -0   Infinity   NaN
//! ```
//!
//! An exponent is written if it is less than -4, or at least 15 for doubles and 6 for reals. A
//! decimal that lies exactly between two floating-point numbers is not taken for either, though
//! reading it would give one of them: 1e23 is written `9.999999999999999e+22`, as PostgreSQL
//! writes it. With `extra_float_digits` of 0 or less the number of digits is fixed.

use crate::error::{Error, Result};
use crate::values::numeric::text::{is_space, trimmed};

/// One of the two floating-point types.
pub trait Float: Copy + PartialEq {
    /// Bits of the significand.
    const BITS: u32;
    /// Decimal digits that every number of so many digits keeps.
    const DIGITS: i32;
    /// SQL name of the type.
    const NAME: &'static str;
    /// `d.ddde±n` with the fewest digits, or with some behind the point.
    fn scientific(self, digits: Option<usize>) -> String;
    /// The nearest number of a text that Rust reads.
    fn parsed(text: &str) -> Option<Self>;
    /// The double it is.
    fn double(self) -> f64;
    /// The nearest number of a double.
    fn of_double(value: f64) -> Self;
}

macro_rules! floats {
    ($($ty:ty, $digits:expr, $name:expr;)*) => {$(
        impl Float for $ty {
            const BITS: u32 = <$ty>::MANTISSA_DIGITS;
            const DIGITS: i32 = $digits;
            const NAME: &'static str = $name;
            fn scientific(self, digits: Option<usize>) -> String {
                match digits {
                    Some(digits) => format!("{self:.digits$e}"),
                    None => format!("{self:e}"),
                }
            }
            fn parsed(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn double(self) -> f64 {
                self.into()
            }
            fn of_double(value: f64) -> Self {
                value as $ty
            }
        }
    )*};
}

floats! {
    f32, 6, "real";
    f64, 15, "double precision";
}

/// The text of a number, with PostgreSQL's `extra_float_digits`.
pub fn write<F: Float>(value: F, extra_digits: i32) -> String {
    let double = value.double();
    if double.is_nan() {
        return "NaN".to_owned();
    }
    if double.is_infinite() {
        return if double > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    if extra_digits > 0 {
        return laid_out(&shortest(value), F::DIGITS);
    }
    let digits = (F::DIGITS + extra_digits).max(1);
    let text = value.scientific(Some(digits as usize - 1));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    laid_out(&format!("{mantissa}e{exponent}"), digits)
}

/// The fewest digits in scientific notation.
fn shortest<F: Float>(value: F) -> String {
    let text = value.scientific(None);
    let (mantissa, _) = text.split_once('e').unwrap_or((&text, ""));
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    // A number that is told by fewer digits lies far from others.
    if (digits as i32) < F::DIGITS && !is_between::<F>(&text) {
        return text;
    }
    // The nearest decimal of as many digits, the even one of two; or one of more digits.
    let fits = |text: &String| F::parsed(text) == Some(value) && !is_between::<F>(text);
    let nearest = value.scientific(Some(digits - 1));
    if fits(&nearest) {
        return nearest;
    }
    // The nearest one may be on the side of lesser numbers, which are nearer to a power of two.
    if !is_between::<F>(&text) {
        return text;
    }
    let mut longer = (digits..18).map(|digits| value.scientific(Some(digits)));
    longer.find(fits).unwrap_or(text)
}

/// Whether a decimal lies exactly between two neighbours.
fn is_between<F: Float>(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let behind = mantissa
        .split_once('.')
        .map_or(0, |(_, behind)| behind.len());
    let power = exponent.parse::<i32>().unwrap_or(0) - behind as i32;
    let digits = mantissa.bytes().filter(u8::is_ascii_digit);
    let mut value = digits.fold(0u128, |value, digit| value * 10 + u128::from(digit - b'0'));
    // In between is an odd number of one bit more than the significand has, times a power of
    // two. Greater powers of five have more bits, and the decimal is no multiple of others.
    match power {
        0..=24 => value *= 5u128.pow(power.unsigned_abs()),
        -3..0 => {
            let five = 5u128.pow(power.unsigned_abs());
            if !value.is_multiple_of(five) {
                return false;
            }
            value /= five;
        }
        _ => return false,
    }
    value != 0 && 128 - (value >> value.trailing_zeros()).leading_zeros() == F::BITS + 1
}

/// Scientific notation as C's `%g` lays it out for a number of digits.
fn laid_out(text: &str, most: i32) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    if exponent < -4 || exponent >= most {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    match digits.len() > whole {
        true => format!("{sign}{}.{}", &digits[..whole], &digits[whole..]),
        false => format!("{sign}{digits:0<whole$}"),
    }
}

/// Reads a number as PostgreSQL and C's `strtod` do.
///
/// # Errors
/// `22P02`, and `22003` of a number that is too large or too near zero.
pub fn read<F: Float>(text: &str) -> Result<F> {
    let bad = || {
        let name = F::NAME;
        Error::new(
            "22P02",
            format!("invalid input syntax for type {name}: \"{text}\""),
        )
    };
    let start = text.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
    let (negative, unsigned) = match start.as_bytes().first() {
        Some(b'-') => (true, &start[1..]),
        Some(b'+') => (false, &start[1..]),
        _ => (false, start),
    };
    let (value, end, zero) = match scan::<F>(unsigned) {
        Some(found) => found,
        None => {
            let (value, end) = special(unsigned).ok_or_else(bad)?;
            (value, end, false)
        }
    };
    let (number, rest) = start.split_at(start.len() - unsigned.len() + end);
    let size = value.double();
    let finite = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if finite && (size.is_infinite() || size == 0.0 && !zero) {
        // The name of a real that does not fit is given with all that was written.
        let shown = if F::DIGITS == 6 { text } else { number };
        let name = F::NAME;
        return Err(Error::new(
            "22003",
            format!("\"{shown}\" is out of range for type {name}"),
        ));
    }
    if !trimmed(rest).is_empty() {
        return Err(bad());
    }
    Ok(if negative { F::of_double(-size) } else { value })
}

/// The number at the beginning of a text, where it ends, and whether its digits are zeros.
fn scan<F: Float>(text: &str) -> Option<(F, usize, bool)> {
    let bytes = text.as_bytes();
    if let [b'0', b'x' | b'X', ..] = bytes
        && let Some(found) = scan_hex(text)
    {
        return Some((F::of_double(found.0), found.1, found.2));
    }
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or(&[]);
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let whole = digits(0);
    let mut end = whole;
    let mut behind = 0;
    if bytes.get(end) == Some(&b'.') {
        behind = digits(end + 1);
        end += 1 + behind;
    }
    if whole + behind == 0 {
        return None;
    }
    let zero = !bytes[..end].iter().any(|byte| matches!(byte, b'1'..=b'9'));
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    Some((F::parsed(&text[..end])?, end, zero))
}

/// A number in hexadecimal digits: `0x1.8p3`.
fn scan_hex(text: &str) -> Option<(f64, usize, bool)> {
    let bytes = text.as_bytes();
    let (mut value, mut power, mut at, mut any, mut point) = (0u64, 0i32, 2, false, false);
    let mut sticky = false;
    while let Some(byte) = bytes.get(at) {
        match char::from(*byte).to_digit(16) {
            Some(digit) => {
                any = true;
                // Digits after the first 60 bits only say whether there is more.
                if value >> 60 == 0 {
                    value = value << 4 | u64::from(digit);
                    power -= if point { 4 } else { 0 };
                } else {
                    sticky |= digit != 0;
                    power = power.saturating_add(if point { 0 } else { 4 });
                }
            }
            None if *byte == b'.' && !point => point = true,
            None => break,
        }
        at += 1;
    }
    if !any {
        return None;
    }
    if let Some(b'p' | b'P') = bytes.get(at) {
        let rest = &text[at + 1..];
        let sign = usize::from(rest.starts_with(['+', '-']));
        let digits = rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let size = rest[sign..sign + digits].parse::<i32>().unwrap_or(100_000);
            let size = size.min(100_000);
            power = power.saturating_add(if rest.starts_with('-') { -size } else { size });
            at += 1 + sign + digits;
        }
    }
    let exact = (value | u64::from(sticky)) as f64;
    let power = power.clamp(-2200, 2200);
    let scaled = exact * 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
    Some((scaled, at, value == 0))
}

/// NaN or an infinity at the beginning of a text, and where it ends.
fn special<F: Float>(text: &str) -> Option<(F, usize)> {
    let starts = |word: &str| {
        let head = text.as_bytes().get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    };
    if starts("nan") {
        // C takes a payload in parentheses.
        let rest = &text.as_bytes()[3..];
        let inner = rest.strip_prefix(b"(").map_or(0, |inner| {
            let word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            inner.iter().take_while(word).count() + 1
        });
        let closed = inner > 0 && rest.get(inner) == Some(&b')');
        let end = if closed { 4 + inner } else { 3 };
        return Some((F::of_double(f64::NAN), end));
    }
    let infinity = F::of_double(f64::INFINITY);
    match starts("infinity") {
        true => Some((infinity, 8)),
        false => starts("inf").then_some((infinity, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written() {
        let cases = [
            (0.1, "0.1"),
            (-0.0, "-0"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (1e20, "1e+20"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (123456.789, "123456.789"),
            (800000011920929.0 / 8.0, "100000001490116.12"),
            (1e23, "9.999999999999999e+22"),
            (2f64.powi(-24), "5.960464477539063e-08"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "Infinity"),
            (0.1 + 0.2, "0.30000000000000004"),
        ];
        for (value, text) in cases {
            assert_eq!(write(value, 1), text);
        }
        assert_eq!(write(0.1f32, 1), "0.1");
        assert_eq!(write(1e6f32, 1), "1e+06");
        assert_eq!(write(123456f32, 1), "123456");
        assert_eq!(write(0.1 + 0.2, 0), "0.3");
        assert_eq!(write(1234567.0, -10), "1.2346e+06");
    }

    #[test]
    fn read_as_strtod() {
        let cases = [
            (" 1.5e3 ", "1500"),
            ("0x10", "16"),
            ("-0x1.8p1", "-3"),
            ("-nan", "NaN"),
            ("nan(12)", "NaN"),
            ("-iNf", "-Infinity"),
            (".5", "0.5"),
            ("5.", "5"),
            ("0e999", "0"),
        ];
        for (text, shown) in cases {
            assert_eq!(write(read::<f64>(text).unwrap(), 1), shown, "{text}");
        }
        for text in [
            "", ".", "1e", "1 e5", "x", "1d", "infi", "--1", "1_0", "nan(", "é",
        ] {
            assert_eq!(read::<f64>(text).unwrap_err().sqlstate, "22P02", "{text}");
        }
        let far = read::<f64>("1e400 ").unwrap_err();
        assert_eq!(
            far.message,
            "\"1e400\" is out of range for type double precision"
        );
        let near = read::<f32>(" 1e-60 ").unwrap_err();
        assert_eq!(near.message, "\" 1e-60 \" is out of range for type real");
    }
}
