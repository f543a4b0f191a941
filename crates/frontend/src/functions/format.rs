//! `format`: texts with places for values.
//!
//! A place is `%[position$][-][width]type`. Types are `s` for the text as it is, `I` for a name
//! and `L` for a literal in SQL. A width is a number, or `*` for the next argument, or `*2$`; with
//! `-`, or a negative width, blanks stand behind the text.
//!
//! ```text
//! format('%s of %2$I|%-4s|', 'a', 'B')   'a of "B"|…'
//! ```
//!
//! A place without a position takes the argument behind that of the place before.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::StringViewBuilder;

use super::kernel::{Column, Input, Kernel, Opt, Str, repeated};
use super::strings::concat::shown;
use super::strings::{allowed, quote};
use super::{Catalogue, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    let format = scalar("format", &[Type::Text], Type::Text, kernel());
    c.add(format.variadic(Type::Any).with_nulls().stable());
    super::printf::register(c);
}

fn kernel() -> Kernel {
    Arc::new(|call, columns| {
        let columns = shown(call, columns)?;
        let Some((first, rest)) = columns.split_first() else {
            return Err(Error::internal("format is short of its argument"));
        };
        let same = columns.iter().all(|column| column.constant);
        let rows = if same { call.rows.min(1) } else { call.rows };
        let mut texts = StringViewBuilder::with_capacity(rows);
        for row in 0..rows {
            let values: Vec<Option<&str>> = rest
                .iter()
                .map(|column| value(column, row))
                .collect::<Result<_>>()?;
            match value(first, row)? {
                Some(format) => texts.append_value(formatted(format, &values)?),
                None => texts.append_null(),
            }
        }
        let texts: ArrayRef = Arc::new(texts.finish());
        Ok(repeated(texts, call.rows))
    })
}

fn value(column: &Column, row: usize) -> Result<Option<&str>> {
    let reader = Str::reader(&column.array)?;
    Ok(Opt::<Str>::get(&reader, &column.array, column.at(row)))
}

/// A place in a format.
#[derive(Default)]
struct Place {
    position: Option<usize>,
    left: bool,
    width: i32,
    /// The argument that has the width; 0 for the next one.
    width_from: Option<usize>,
}

fn refused(message: impl Into<String>) -> Error {
    Error::new("22023", message)
}

const HINT: &str = "For a single \"%\" use \"%%\".";

fn formatted(format: &str, values: &[Option<&str>]) -> Result<String> {
    let mut text = String::with_capacity(format.len());
    let mut rest = format;
    // The number of the last argument that was used.
    let mut used = 0;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        let place;
        (place, rest) = parsed(rest)?;
        let kind = rest.chars().next().ok_or_else(unterminated)?;
        rest = &rest[kind.len_utf8()..];
        if !matches!(kind, 's' | 'I' | 'L') {
            let message = format!("unrecognized format() type specifier \"{kind}\"");
            return Err(refused(message).with_hint(HINT));
        }
        let argument = |number: usize| {
            let found = number.checked_sub(1).and_then(|at| values.get(at));
            found
                .copied()
                .ok_or_else(|| refused("too few arguments for format()"))
        };
        let mut width = place.width;
        if let Some(from) = place.width_from {
            used = if from == 0 { used + 1 } else { from };
            width = argument(used)?.map_or(Ok(0), integer)?;
        }
        used = place.position.unwrap_or(used + 1);
        let value = argument(used)?;
        let value = match (kind, value) {
            ('s', value) => value.unwrap_or_default().to_owned(),
            ('L', value) => value.map_or("NULL".to_owned(), quote::literal),
            (_, Some(value)) => quote::name(value),
            (_, None) => {
                let message = "null values cannot be formatted as an SQL identifier";
                return Err(Error::new("22004", message));
            }
        };
        let left = place.left || width < 0;
        let width = width.checked_abs().ok_or_else(out_of_range)? as usize;
        let blanks = width.saturating_sub(value.chars().count());
        allowed(
            text.len()
                .checked_add(value.len())
                .and_then(|n| n.checked_add(blanks)),
        )?;
        let blanks = " ".repeat(blanks);
        let (before, after) = if left {
            ("", blanks.as_str())
        } else {
            (blanks.as_str(), "")
        };
        text.extend([before, &value, after]);
    }
    text.push_str(rest);
    Ok(text)
}

fn unterminated() -> Error {
    refused("unterminated format() type specifier").with_hint(HINT)
}

fn out_of_range() -> Error {
    Error::new("22003", "number is out of range")
}

/// Digits at the start of a text, and the rest, which is not to be empty.
fn digits(text: &str) -> Result<(Option<i32>, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let end = end.unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Ok((None, rest));
    }
    let number = digits.parse::<i32>().map_err(|_| out_of_range())?;
    match rest.is_empty() {
        true => Err(unterminated()),
        false => Ok((Some(number), rest)),
    }
}

fn parsed(text: &str) -> Result<(Place, &str)> {
    let mut place = Place::default();
    let filled = |rest: &'_ str| (!rest.is_empty()).then_some(()).ok_or_else(unterminated);
    let position = |number: i32| match usize::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(refused(
            "format specifies argument 0, but arguments are numbered from 1",
        )),
    };
    filled(text)?;
    let (number, mut rest) = digits(text)?;
    if let Some(number) = number {
        let Some(after) = rest.strip_prefix('$') else {
            place.width = number;
            return Ok((place, rest));
        };
        place.position = Some(position(number)?);
        rest = after;
        filled(rest)?;
    }
    while let Some(after) = rest.strip_prefix('-') {
        place.left = true;
        rest = after;
        filled(rest)?;
    }
    if let Some(after) = rest.strip_prefix('*') {
        filled(after)?;
        let (number, after) = digits(after)?;
        rest = after;
        place.width_from = Some(0);
        if let Some(number) = number {
            let ended = after.strip_prefix('$');
            rest =
                ended.ok_or_else(|| refused("width argument position must be ended by \"$\""))?;
            place.width_from = Some(position(number)?);
            filled(rest)?;
        }
        return Ok((place, rest));
    }
    let (number, rest) = digits(rest)?;
    place.width = number.unwrap_or(0);
    Ok((place, rest))
}

/// An argument that is a width.
fn integer(text: &str) -> Result<i32> {
    let bad = || {
        Error::new(
            "22P02",
            format!("invalid input syntax for type integer: \"{text}\""),
        )
    };
    let trimmed = text.trim_matches(super::boolean::is_space);
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad());
    }
    trimmed.parse().map_err(|_| {
        let message = format!("value \"{text}\" is out of range for type integer");
        Error::new("22003", message)
    })
}

#[cfg(test)]
mod tests {
    use super::formatted;

    #[test]
    fn places_take_values() {
        for (format, values, wanted) in [
            ("%1$s %1$s %s", &[Some("a"), Some("b")][..], "a a b"),
            ("%-5s|%5s|", &[Some("a"), Some("b")], "a    |    b|"),
            (
                "%*s|%-*s|",
                &[Some("4"), Some("c"), Some("4"), Some("d")],
                "   c|d   |",
            ),
            ("%I %L %s|", &[Some("A b"), None, None], "\"A b\" NULL |"),
            ("%2$*1$s|", &[Some("-5"), Some("a")], "a    |"),
            ("%1$-5s|%2$5L", &[Some("a"), Some("b")], "a    |  'b'"),
            ("%*s", &[None, Some("a")], "a"),
            ("%%", &[], "%"),
            ("%3s|", &[Some("äöüß")], "äöüß|"),
        ] {
            assert_eq!(formatted(format, values).unwrap(), wanted, "{format}");
        }
    }

    #[test]
    fn places_that_are_wrong() {
        for (format, values, sqlstate, message) in [
            ("%s", &[][..], "22023", "too few arguments for format()"),
            (
                "%x",
                &[Some("1")],
                "22023",
                "unrecognized format() type specifier \"x\"",
            ),
            (
                "%5%|",
                &[],
                "22023",
                "unrecognized format() type specifier \"%\"",
            ),
            ("%", &[], "22023", "unterminated format() type specifier"),
            (
                "%1$",
                &[Some("1")],
                "22023",
                "unterminated format() type specifier",
            ),
            (
                "%I",
                &[None],
                "22004",
                "null values cannot be formatted as an SQL identifier",
            ),
            (
                "%*0$s",
                &[Some("1")],
                "22023",
                "format specifies argument 0, but arguments are numbered from 1",
            ),
            (
                "%*2$s",
                &[Some("1"), Some("5")],
                "22023",
                "too few arguments for format()",
            ),
            (
                "%99999999999s",
                &[Some("1")],
                "22003",
                "number is out of range",
            ),
            (
                "%*s",
                &[Some("x"), Some("1")],
                "22P02",
                "invalid input syntax for type integer: \"x\"",
            ),
        ] {
            let error = formatted(format, values).unwrap_err();
            assert_eq!(
                (error.sqlstate, error.message.as_str()),
                (sqlstate, message),
                "{format}"
            );
        }
    }
}
