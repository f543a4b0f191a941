//! `printf`: C's formats of values, as DuckDB has them.
//!
//! ```text
//! printf('%d %s %.2f %05d', 42, 'x', 1.234, 7)   42 x 1.23 00007
//! ```
//!
//! A place is `%[flags][width][.digits]kind`. Flags are `-`, `0`, `+` and a blank; kinds are `d`,
//! `i` and `u` for integers, `x`, `X` and `o` for integers of other bases, `f` for numbers, `s` for
//! any value as a text, `c` for its first character, and `%%`. Other kinds are refused.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::StringViewBuilder;

use super::kernel::{Input, Opt, Str, repeated};
use super::strings::allowed;
use super::strings::concat::shown;
use super::{Catalogue, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the function.
pub(super) fn register(c: &mut Catalogue) {
    let kernel = Arc::new(
        |call: &super::kernel::Call<'_>, columns: &[super::kernel::Column]| {
            let columns = shown(call, columns)?;
            let same = columns.iter().all(|column| column.constant);
            let rows = if same { call.rows.min(1) } else { call.rows };
            let mut texts = StringViewBuilder::with_capacity(rows);
            for row in 0..rows {
                let mut values = Vec::with_capacity(columns.len());
                for column in &columns {
                    let reader = Str::reader(&column.array)?;
                    values.push(Opt::<Str>::get(&reader, &column.array, column.at(row)));
                }
                let values: Option<Vec<&str>> = values.into_iter().collect();
                match values.as_deref().and_then(<[&str]>::split_first) {
                    Some((format, values)) => texts.append_value(printed(format, values)?),
                    None => texts.append_null(),
                }
            }
            let texts: ArrayRef = Arc::new(texts.finish());
            Ok(repeated(texts, call.rows))
        },
    );
    let printf = scalar("printf", &[Type::Text], Type::Text, kernel);
    c.add(printf.variadic(Type::Any).with_nulls().stable());
}

/// A place in a format.
#[derive(Default)]
struct Place {
    left: bool,
    zeros: bool,
    sign: Option<char>,
    width: usize,
    digits: Option<usize>,
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new("22023", message)
}

fn printed(format: &str, values: &[&str]) -> Result<String> {
    let mut to = String::with_capacity(format.len());
    let mut values = values.iter();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            to.push(c);
            continue;
        }
        let mut place = Place::default();
        while let Some(flag) = rest.next_if(|c| matches!(c, '-' | '0' | '+' | ' ')) {
            match flag {
                '-' => place.left = true,
                '0' => place.zeros = true,
                sign => place.sign = Some(sign),
            }
        }
        let mut number = |first: Option<usize>| -> Result<Option<usize>> {
            let mut value = first;
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                let digit = digit.to_digit(10).unwrap_or(0) as usize;
                let more = value.unwrap_or(0).saturating_mul(10).saturating_add(digit);
                value = Some(allowed(Some(more))?);
            }
            Ok(value)
        };
        place.width = number(None)?.unwrap_or(0);
        if rest.next_if_eq(&'.').is_some() {
            let mut digits = 0;
            while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                digits = digits * 10 + digit.to_digit(10).unwrap_or(0) as usize;
                if digits > 1000 {
                    return Err(wrong("printf takes at most 1000 digits behind the point"));
                }
            }
            place.digits = Some(digits);
        }
        // The length of an integer says nothing here.
        while rest.next_if(|c| matches!(c, 'l' | 'h' | 'z')).is_some() {}
        let kind = rest
            .next()
            .ok_or_else(|| wrong("a format of printf ends behind %"))?;
        if kind == '%' {
            to.push('%');
            continue;
        }
        let value = values
            .next()
            .ok_or_else(|| wrong("printf has fewer values than its format"))?;
        place.put(kind, value, &mut to)?;
        allowed(Some(to.len()))?;
    }
    Ok(to)
}

impl Place {
    fn put(&self, kind: char, value: &str, to: &mut String) -> Result<()> {
        let integer = || -> Result<i128> {
            let refused = || {
                wrong(format!(
                    "%{kind} of printf takes an integer, not \"{value}\""
                ))
            };
            value.parse().map_err(|_| refused())
        };
        let (sign, body) = match kind {
            'd' | 'i' | 'u' => {
                let n = integer()?;
                (n < 0, n.unsigned_abs().to_string())
            }
            'x' => (integer()? < 0, format!("{:x}", integer()?.unsigned_abs())),
            'X' => (integer()? < 0, format!("{:X}", integer()?.unsigned_abs())),
            'o' => (integer()? < 0, format!("{:o}", integer()?.unsigned_abs())),
            'f' | 'F' => {
                let n: f64 = value.parse().map_err(|_| {
                    wrong(format!("%{kind} of printf takes a number, not \"{value}\""))
                })?;
                let digits = self.digits.unwrap_or(6);
                (
                    n.is_sign_negative() && !n.is_nan(),
                    format!("{:.digits$}", n.abs()),
                )
            }
            's' | 'c' => {
                let count = if kind == 'c' {
                    1
                } else {
                    self.digits.unwrap_or(usize::MAX)
                };
                let text: String = value.chars().take(count).collect();
                return self.pad("", &text, false, to);
            }
            other => {
                return Err(Error::unsupported(format!(
                    "%{other} of printf is not supported"
                )));
            }
        };
        let sign = match (sign, self.sign) {
            (true, _) => "-".to_owned(),
            (false, Some(sign)) => sign.to_string(),
            (false, None) => String::new(),
        };
        self.pad(&sign, &body, self.zeros && !self.left, to)
    }

    fn pad(&self, sign: &str, body: &str, zeros: bool, to: &mut String) -> Result<()> {
        let length = sign.len() + body.chars().count();
        let missing = self.width.saturating_sub(length);
        allowed(to.len().checked_add(missing))?;
        let (before, between, behind) = match () {
            () if self.left => (0, 0, missing),
            () if zeros => (0, missing, 0),
            () => (missing, 0, 0),
        };
        to.extend(std::iter::repeat_n(' ', before));
        to.push_str(sign);
        to.extend(std::iter::repeat_n('0', between));
        to.push_str(body);
        to.extend(std::iter::repeat_n(' ', behind));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::printed;

    #[test]
    fn values_are_put_into_their_places() {
        let cases: [(&str, &[&str], &str); 8] = [
            (
                "%d %s %.2f %05d",
                &["42", "x", "1.234", "7"],
                "42 x 1.23 00007",
            ),
            ("%-4d|%4d|%+d", &["1", "2", "3"], "1   |   2|+3"),
            ("%x %X %o", &["255", "255", "8"], "ff FF 10"),
            ("%05.1f", &["-2.25"], "-02.2"),
            ("%.2s%c", &["abc", "xyz"], "abx"),
            ("100%%", &[], "100%"),
            ("%ld", &["-9223372036854775808"], "-9223372036854775808"),
            ("%f", &["1"], "1.000000"),
        ];
        for (format, values, expected) in cases {
            assert_eq!(printed(format, values).unwrap(), expected, "{format}");
        }
        for (format, values) in [("%d", &["x"][..]), ("%d", &[]), ("%", &[]), ("%g", &["1"])] {
            assert!(printed(format, values).is_err(), "{format}");
        }
    }
}
