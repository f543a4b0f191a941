//! Ranges and multiranges in their binary form.
//!
//! ```text
//! range        flags | length and bytes of the lower value | the same of the upper one
//! multirange   how many ranges | length and bytes of each
//! flags        1: empty, 2 and 4: inclusive bounds, 8 and 16: no bounds
//! ```
//!
//! An empty range has its flags only, and a bound without a value has no bytes.

use bytes::{BufMut, BytesMut};
use freestone::range::{Bound, Span, Value, decode, decode_many};
use freestone::{Parameter, RangeOf, Result, Styles};

use crate::kinds::Oid;
use crate::numeric;

/// Days and microseconds from 1970, where values are counted from, to 2000.
pub(crate) const DAYS: i32 = 10_957;
pub(crate) const MICROS: i64 = DAYS as i64 * 86_400_000_000;

const EMPTY: u8 = 1;
const LOWER_INCLUSIVE: u8 = 2;
const UPPER_INCLUSIVE: u8 = 4;
const NO_LOWER: u8 = 8;
const NO_UPPER: u8 = 16;

/// Types of ranges, and those of their bounds.
const RANGES: [(Oid, Oid, RangeOf); 6] = [
    (Oid::INT4RANGE, Oid::INT4, RangeOf::Int4),
    (Oid::INT8RANGE, Oid::INT8, RangeOf::Int8),
    (Oid::NUMRANGE, Oid::NUMERIC, RangeOf::Numeric),
    (Oid::TSRANGE, Oid::TIMESTAMP, RangeOf::Timestamp),
    (Oid::TSTZRANGE, Oid::TIMESTAMPTZ, RangeOf::TimestampTz),
    (Oid::DATERANGE, Oid::DATE, RangeOf::Date),
];

/// Types of multiranges, and those of their ranges.
const MULTIRANGES: [(Oid, Oid); 6] = [
    (Oid::INT4MULTIRANGE, Oid::INT4RANGE),
    (Oid::INT8MULTIRANGE, Oid::INT8RANGE),
    (Oid::NUMMULTIRANGE, Oid::NUMRANGE),
    (Oid::TSMULTIRANGE, Oid::TSRANGE),
    (Oid::TSTZMULTIRANGE, Oid::TSTZRANGE),
    (Oid::DATEMULTIRANGE, Oid::DATERANGE),
];

/// The type of the ranges of a multirange.
fn range_of(oid: Oid) -> Option<Oid> {
    let found = MULTIRANGES.iter().find(|(many, _)| *many == oid);
    found.map(|(_, one)| *one)
}

/// The type of the bounds of a range.
fn element_of(oid: Oid) -> Option<(Oid, RangeOf)> {
    let found = RANGES.iter().find(|(range, ..)| *range == oid);
    found.map(|(_, element, of)| (*element, *of))
}

/// Whether it is the type of a range or a multirange.
pub(crate) fn is_range(oid: Oid) -> bool {
    element_of(range_of(oid).unwrap_or(oid)).is_some()
}

/// Writes the value of a text in the styles of a session.
pub(crate) fn write(text: &str, oid: Oid, styles: &Styles, out: &mut BytesMut) {
    let many = range_of(oid);
    let Some((_, of)) = element_of(many.unwrap_or(oid)) else {
        return;
    };
    // What is shown can be read.
    let Ok(held) = styles.range(of, many.is_some(), text) else {
        return;
    };
    match many {
        Some(_) => {
            let spans = decode_many(of, &held);
            out.put_i32(spans.len() as i32);
            for span in &spans {
                sized(out, |out| put_range(of, Some(span), out));
            }
        }
        None => put_range(of, decode(of, &held).as_ref(), out),
    }
}

/// Writes a part after its length.
fn sized(out: &mut BytesMut, put: impl FnOnce(&mut BytesMut)) {
    let place = out.len();
    out.put_i32(0);
    put(out);
    let length = (out.len() - place - 4) as i32;
    out[place..place + 4].copy_from_slice(&length.to_be_bytes());
}

fn put_range(of: RangeOf, span: Option<&Span>, out: &mut BytesMut) {
    let Some(span) = span else {
        out.put_u8(EMPTY);
        return;
    };
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    out.put_u8(
        flag(span.lower.inclusive, LOWER_INCLUSIVE)
            | flag(span.upper.inclusive, UPPER_INCLUSIVE)
            | flag(span.lower.value.is_none(), NO_LOWER)
            | flag(span.upper.value.is_none(), NO_UPPER),
    );
    for Bound { value, .. } in [&span.lower, &span.upper] {
        if let Some(value) = value {
            sized(out, |out| put_value(of, value, out));
        }
    }
}

fn put_value(of: RangeOf, value: &Value, out: &mut BytesMut) {
    match (value, of) {
        (Value::Num(value), _) => numeric::write_text(&value.to_string(), out),
        (Value::Int(value), RangeOf::Int4) => out.put_i32(*value as i32),
        (Value::Int(value), RangeOf::Date) => out.put_i32(match *value as i32 {
            i32::MAX => i32::MAX,
            days => days.saturating_sub(DAYS),
        }),
        (Value::Int(value), RangeOf::Timestamp | RangeOf::TimestampTz) => {
            out.put_i64(match *value {
                i64::MAX => i64::MAX,
                micros => micros.saturating_sub(MICROS),
            });
        }
        (Value::Int(value), _) => out.put_i64(*value),
    }
}

/// Reads the bytes of a value of a type; `None` for bytes that are none.
type ReadValue = dyn Fn(&[u8], Oid) -> Result<Option<Parameter>>;

/// The text of a range or a multirange; `None` for bytes that are none. `value` reads its bounds.
///
/// # Errors
/// Those of its bounds.
pub(crate) fn read(bytes: &[u8], oid: Oid, value: &ReadValue) -> Result<Option<Parameter>> {
    let text = match range_of(oid) {
        Some(one) => many_text(bytes, one, value)?,
        None => range_text(bytes, oid, value)?,
    };
    Ok(text.map(Parameter::Text))
}

fn many_text(bytes: &[u8], one: Oid, value: &ReadValue) -> Result<Option<String>> {
    let Some((count, mut rest)) = bytes.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let mut ranges = Vec::new();
    for _ in 0..u32::from_be_bytes(*count) {
        let Some(part) = part(&mut rest) else {
            return Ok(None);
        };
        match range_text(part, one, value)? {
            Some(range) => ranges.push(range),
            None => return Ok(None),
        }
    }
    Ok(rest.is_empty().then(|| format!("{{{}}}", ranges.join(","))))
}

/// Bytes after their length, which are taken away.
fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (part, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = after;
    Some(part)
}

fn range_text(bytes: &[u8], oid: Oid, value: &ReadValue) -> Result<Option<String>> {
    let (Some((flags, mut rest)), Some((element, _))) = (bytes.split_first(), element_of(oid))
    else {
        return Ok(None);
    };
    if flags & EMPTY != 0 {
        return Ok(rest.is_empty().then(|| "empty".to_owned()));
    }
    let mut text = String::new();
    text.push(if flags & LOWER_INCLUSIVE != 0 {
        '['
    } else {
        '('
    });
    for (none, behind) in [(NO_LOWER, ','), (NO_UPPER, ' ')] {
        if flags & none == 0 {
            let Some(part) = part(&mut rest) else {
                return Ok(None);
            };
            let shown = match value(part, element)? {
                Some(Parameter::Integer(value)) => value.to_string(),
                Some(Parameter::Text(text) | Parameter::Decimal(text)) => text,
                _ => return Ok(None),
            };
            text.push_str(&format!("\"{shown}\""));
        }
        if behind == ',' {
            text.push(behind);
        }
    }
    text.push(if flags & UPPER_INCLUSIVE != 0 {
        ']'
    } else {
        ')'
    });
    Ok(rest.is_empty().then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::binary;

    #[test]
    fn ranges_are_written_as_postgresql_sends_them_and_read() {
        for (oid, text, hex, read_as) in [
            (
                Oid::INT4RANGE,
                "[1,5)",
                "0200000004000000010000000400000005",
                "[\"1\",\"5\")",
            ),
            (Oid::INT4RANGE, "empty", "01", "empty"),
            (Oid::INT8RANGE, "(,)", "18", "(,)"),
            (
                Oid::DATERANGE,
                "[2000-01-02,)",
                "120000000400000001",
                "[\"2000-01-02\",)",
            ),
            (
                Oid::NUMRANGE,
                "(,1.5]",
                "0c0000000c000200000000000100011388",
                "(,\"1.5\"]",
            ),
            (
                Oid::TSRANGE,
                "[\"2000-01-01 00:00:01\",\"2000-01-01 00:00:02\"]",
                "060000000800000000000f42400000000800000000001e8480",
                "[\"2000-01-01 00:00:01\",\"2000-01-01 00:00:02\"]",
            ),
            (
                Oid::INT4MULTIRANGE,
                "{[1,5),[7,)}",
                "000000020000001102000000040000000100000004000000050000000912\
                 0000000400000007",
                "{[\"1\",\"5\"),[\"7\",)}",
            ),
        ] {
            let mut out = BytesMut::new();
            write(text, oid, &Styles::default(), &mut out);
            let found: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, hex, "{text}");
            let read_back = read(&out, oid, &binary).unwrap();
            assert_eq!(read_back, Some(Parameter::Text(read_as.to_owned())));
            assert_eq!(read(&out[..out.len() - 1], oid, &binary).unwrap(), None);
        }
    }
}
