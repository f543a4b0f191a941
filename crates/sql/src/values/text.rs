//! Text to values: the input functions of the column types.
//!
//! They are the front's, with quick ways for the forms that files are full of. Blanks around
//! numbers, dates and truth values are ignored, as in PostgreSQL; within strings every character
//! counts.

use arrow::datatypes::IntervalMonthDayNano;
use freestone_frontend::functions::{boolean, read_bytes, read_uuid};
use freestone_frontend::values::datetime::{self, Locale, SpanFields, Zone};
use freestone_frontend::values::{Numeric, float};
use freestone_storage::ColumnType;

use crate::error::{Error, Result};

/// `22P02` or `22007`: text that is no value of the type.
pub(crate) fn invalid(kind: &str, text: &str) -> Error {
    let sqlstate = match kind {
        "date" | "time" | "timestamp" | "timestamp with time zone" | "interval" => "22007",
        _ => "22P02",
    };
    Error::new(
        sqlstate,
        format!("invalid input syntax for type {kind}: \"{text}\""),
    )
}

/// `22003`: a number outside the type's range.
pub(crate) fn out_of_range(kind: &str, text: &str) -> Error {
    Error::new(
        "22003",
        format!("value \"{text}\" is out of range for type {kind}"),
    )
}

pub(crate) fn parse_bool(text: &str) -> Result<bool> {
    Ok(boolean::read(text)?)
}

/// An integer within `min..=max`.
pub(crate) fn parse_int(kind: &str, text: &str, min: i64, max: i64) -> Result<i64> {
    let digits = text.trim();
    match digits.parse::<i64>() {
        Ok(value) if (min..=max).contains(&value) => Ok(value),
        Ok(_) => Err(out_of_range(kind, text)),
        Err(_) => {
            let body = digits.strip_prefix(['+', '-']).unwrap_or(digits);
            let number = !body.is_empty() && body.bytes().all(|b| b.is_ascii_digit());
            Err(if number {
                out_of_range(kind, text)
            } else {
                invalid(kind, text)
            })
        }
    }
}

pub(crate) fn parse_double(text: &str) -> Result<f64> {
    match plain_number(text).and_then(|text| text.parse::<f64>().ok()) {
        Some(value) if value.is_normal() => Ok(value),
        _ => Ok(float::read(text)?),
    }
}

pub(crate) fn parse_real(text: &str) -> Result<f32> {
    match plain_number(text).and_then(|text| text.parse::<f32>().ok()) {
        Some(value) if value.is_normal() => Ok(value),
        _ => Ok(float::read(text)?),
    }
}

/// A text of digits, a point and an exponent, of which nothing is special.
fn plain_number(text: &str) -> Option<&str> {
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes().all(plain).then_some(text)
}

/// A decimal as digits at `scale`, rounded half away from zero.
pub(crate) fn parse_decimal(text: &str, precision: u8, scale: i8) -> Result<i128> {
    let bad = || invalid("numeric", text);
    let trimmed = text.trim();
    let (negative, body) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| bad())?),
        None => (body, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(part.bytes());
    if digits().next().is_none() || !digits().all(|b| b.is_ascii_digit()) {
        // No number of digits: an infinity, which a field has no place for, NaN or an error.
        let number = Numeric::parse(text)?;
        if number.is_nan() {
            let message = format!("NaN in a column of type numeric({precision},{scale})");
            return Err(Error::unsupported(message).with_hint("NUMERIC without digits has NaN"));
        }
        let fitted = number.fitted(precision.into(), scale.into())?;
        return fitted
            .to_i128(u32::from(scale.unsigned_abs()))
            .ok_or_else(|| field_overflow(precision, scale));
    }
    // Digits to keep: those before the point, moved by exponent and scale.
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX);
    let keep = point + i64::from(exponent) + i64::from(scale);
    let mut value: i128 = 0;
    let mut round_up = false;
    for (digit, at) in digits().zip(0_i64..) {
        let digit = i128::from(digit - b'0');
        if at < keep {
            value = value.saturating_mul(10).saturating_add(digit);
        } else {
            round_up = at == keep && digit >= 5;
            break;
        }
    }
    let given = point + i64::try_from(part.len()).unwrap_or(i64::MAX);
    if value != 0 {
        for _ in given..keep.min(given + 40) {
            value = value.saturating_mul(10);
        }
    }
    value += i128::from(round_up);
    if value >= power_of_ten(precision) {
        return Err(field_overflow(precision, scale));
    }
    Ok(if negative { -value } else { value })
}

/// `22003`: too many digits before the point.
pub(crate) fn field_overflow(precision: u8, scale: i8) -> Error {
    let whole = i16::from(precision) - i16::from(scale);
    Error::new("22003", "numeric field overflow").with_detail(format!(
        "a field with precision {precision}, scale {scale} must round to an absolute value less than 10^{whole}"
    ))
}

/// 10 to the power of at most 38.
pub(crate) fn power_of_ten(exponent: u8) -> i128 {
    10_i128.pow(u32::from(exponent.min(38)))
}

/// Days since 1970.
pub(crate) fn parse_date(text: &str, locale: &Locale) -> Result<i32> {
    match iso_date(text.trim().as_bytes()) {
        Some(days) => Ok(days),
        None => Ok(datetime::read_date(text, locale)?),
    }
}

/// Days since 1970 of `YYYY-MM-DD`, the form that files are full of.
fn iso_date(text: &[u8]) -> Option<i32> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else {
        return None;
    };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0_i32, |value, digit| {
            digit
                .is_ascii_digit()
                .then(|| value * 10 + i32::from(digit - b'0'))
        })
    };
    let (year, month, day) = (
        number(&[y1, y2, y3, y4])?,
        number(&[m1, m2])?,
        number(&[d1, d2])?,
    );
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if day < 1 || day > length || year == 0 {
        return None;
    }
    // Count from 1 March, so that the leap day comes last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some(days - 719_468)
}

/// Microseconds since midnight.
pub(crate) fn parse_time(text: &str, locale: &Locale) -> Result<i64> {
    Ok(datetime::read_time(text, locale)?)
}

/// Microseconds since 1970 on the clock.
pub(crate) fn parse_timestamp(text: &str, locale: &Locale) -> Result<i64> {
    match iso_stamp(text.trim().as_bytes()) {
        Some(micros) => Ok(micros),
        None => Ok(datetime::read_stamp(text, locale)?),
    }
}

/// Microseconds since 1970 in UTC; a text without a zone is of the session's.
pub(crate) fn parse_instant(text: &str, locale: &Locale) -> Result<i64> {
    match iso_stamp(text.trim().as_bytes()).filter(|_| matches!(locale.zone, Zone::Utc)) {
        Some(micros) => Ok(micros),
        None => Ok(datetime::read_stamp_tz(text, locale)?),
    }
}

/// Whether a text of a date or time means the same in every session.
pub(crate) fn is_the_same_everywhere(kind: &ColumnType, text: &str) -> bool {
    let bytes = text.as_bytes();
    let iso = || {
        bytes
            .get(..5)
            .is_some_and(|start| start[..4].iter().all(u8::is_ascii_digit) && start[4] == b'-')
    };
    let zoned = || match bytes.len().checked_sub(3).map(|at| &bytes[at..]) {
        Some([b'+' | b'-', hours @ ..]) => hours.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    match kind {
        ColumnType::Date | ColumnType::Timestamp => iso(),
        ColumnType::TimestampTz => iso() && zoned() && bytes.len() > 13,
        ColumnType::Time | ColumnType::TimeTz | ColumnType::Interval => false,
        _ => true,
    }
}

/// Microseconds of `YYYY-MM-DD` or `YYYY-MM-DD hh:mm:ss[.ffffff]`.
fn iso_stamp(text: &[u8]) -> Option<i64> {
    let (date, time) = text.split_at_checked(10)?;
    let days = i64::from(iso_date(date)?);
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    let two = |a: u8, b: u8| Some(digit(a)? * 10 + digit(b)?);
    let micros = match *time {
        [] => 0,
        [
            b' ' | b'T',
            h1,
            h2,
            b':',
            m1,
            m2,
            b':',
            s1,
            s2,
            ref rest @ ..,
        ] => {
            let (hour, minute, second) = (two(h1, h2)?, two(m1, m2)?, two(s1, s2)?);
            if hour > 23 || minute > 59 || second > 59 {
                return None;
            }
            let fraction = match rest {
                [] => 0,
                [b'.', digits @ ..] if (1..=6).contains(&digits.len()) => {
                    let mut value = digits.iter();
                    let value = value.try_fold(0, |sum, byte| Some(sum * 10 + digit(*byte)?))?;
                    value * 10_i64.pow(6 - u32::try_from(digits.len()).ok()?)
                }
                _ => return None,
            };
            ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction
        }
        _ => return None,
    };
    Some(days * 86_400_000_000 + micros)
}

/// An interval of some fields as Arrow has it.
pub(crate) fn parse_interval(
    text: &str,
    locale: &Locale,
    fields: SpanFields,
) -> Result<IntervalMonthDayNano> {
    let span = datetime::read_interval(text, locale.intervals, fields)?;
    match span.is_storable() {
        true => Ok(span.into()),
        false => Err(Error::new("22008", "interval out of range")),
    }
}

/// A UUID in any of the forms PostgreSQL reads.
pub(crate) fn parse_uuid(text: &str) -> Result<[u8; 16]> {
    Ok(read_uuid(text)?)
}

/// BYTEA in hex (`\xDEAD`) or escape form (`a\000b\\`).
pub(crate) fn parse_bytea(text: &str) -> Result<Vec<u8>> {
    Ok(read_bytes(text)?)
}

/// Text cut and checked for VARCHAR(n): blanks beyond the length may go.
pub(crate) fn fit_varchar(text: &str, length: u32) -> Result<&str> {
    fit("character varying", text, length)
}

/// Text for CHAR(n): as VARCHAR(n), and stored without trailing blanks.
pub(crate) fn fit_char(text: &str, length: u32) -> Result<&str> {
    Ok(fit("character", text, length)?.trim_end_matches(' '))
}

fn fit<'a>(kind: &str, text: &'a str, length: u32) -> Result<&'a str> {
    let limit = usize::try_from(length).unwrap_or(usize::MAX);
    if text.len() <= limit {
        return Ok(text);
    }
    match text.char_indices().nth(limit) {
        None => Ok(text),
        Some((end, _)) if text[end..].bytes().all(|b| b == b' ') => Ok(&text[..end]),
        Some(_) => Err(Error::new(
            "22001",
            format!("value too long for type {kind}({length})"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_round_half_away_from_zero() {
        assert_eq!(parse_decimal("1.005", 15, 2).unwrap(), 101);
        assert_eq!(parse_decimal("-1.005", 15, 2).unwrap(), -101);
        assert_eq!(parse_decimal("1.5e3", 15, 2).unwrap(), 150_000);
        assert_eq!(parse_decimal("15e-4", 15, 2).unwrap(), 0);
        assert_eq!(parse_decimal("0.995", 3, 2).unwrap(), 100);
        assert_eq!(parse_decimal(".5", 3, 0).unwrap(), 1);
        assert_eq!(parse_decimal("9.995", 3, 2).unwrap_err().sqlstate, "22003");
        assert_eq!(parse_decimal("1e99", 38, 0).unwrap_err().sqlstate, "22003");
        assert_eq!(parse_decimal("1.2.3", 3, 2).unwrap_err().sqlstate, "22P02");
        assert_eq!(parse_decimal("", 3, 2).unwrap_err().sqlstate, "22P02");
    }

    /// The quick ways give what the language front reads.
    #[test]
    fn dates_and_stamps_are_read_as_by_the_front() {
        let locale = Locale::default();
        for text in [
            "1970-01-01",
            "2000-02-29",
            "1998-12-01",
            "0001-01-01",
            "9999-12-31",
            "1900-02-28",
        ] {
            let front = datetime::read_date(text, &locale).unwrap();
            assert_eq!(iso_date(text.as_bytes()), Some(front), "{text}");
        }
        for text in [
            "1969-12-31 23:59:59",
            "2000-02-29T00:00:00.1",
            "9999-12-31 12:34:56.789012",
            "0001-01-01",
        ] {
            let front = datetime::read_stamp(text, &locale).unwrap();
            assert_eq!(iso_stamp(text.as_bytes()), Some(front), "{text}");
        }
        for text in ["1999-02-29", "0000-01-01", "1999-13-01", "1999-1-01"] {
            assert_eq!(iso_date(text.as_bytes()), None, "{text}");
        }
        for text in [
            "2000-01-01 24:00:00",
            "2000-01-01 00:00:60",
            "2000-01-01 00:00",
            "2000-01-01 00:00:00.1234567",
            "2000-01-01 00:00:00+01",
        ] {
            assert_eq!(iso_stamp(text.as_bytes()), None, "{text}");
        }
        assert!(parse_date("1999-02-29", &locale).is_err());
    }

    #[test]
    fn texts_that_depend_on_a_session_are_known() {
        use ColumnType as C;
        for (kind, text, is) in [
            (C::Date, "2024-01-02", true),
            (C::Date, "01/02/2024", false),
            (C::Timestamp, "2024-01-02 10:00", true),
            (C::Timestamp, "now", false),
            (C::TimestampTz, "2024-01-02 10:00:00+02", true),
            (C::TimestampTz, "2024-01-02 10:00:00", false),
            (C::TimestampTz, "2024-01-02", false),
            (C::Integer, "7", true),
            (C::Interval, "1 day", false),
        ] {
            assert_eq!(is_the_same_everywhere(&kind, text), is, "{text}");
        }
    }

    #[test]
    fn lengths_count_characters() {
        assert_eq!(fit_varchar("äöü  ", 3).unwrap(), "äöü");
        assert_eq!(fit_varchar("abcd", 3).unwrap_err().sqlstate, "22001");
        assert_eq!(fit_char("a  ", 3).unwrap(), "a");
    }

    #[test]
    fn bytes_and_uuids() {
        assert_eq!(parse_bytea("\\xDEad").unwrap(), [0xde, 0xad]);
        assert_eq!(parse_bytea("a\\000\\\\").unwrap(), [b'a', 0, b'\\']);
        assert!(parse_bytea("\\xabc").is_err());
        let text = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        assert_eq!(parse_uuid(text).unwrap()[..2], [0xa0, 0xee]);
        assert!(parse_uuid("a0ee").is_err());
    }
}
