//! Meaning from the text of errors that carry no code.
//!
//! Arrow reports many conditions as prose only. The phrases looked
//! for here are those of the versions pinned in the workspace; tests in
//! `tests/sql/errors.rs` provoke each through SQL, so a change upstream shows.

use super::{Error, Position};

/// Text between `start` and the next `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = &text[text.find(start)? + start.len()..];
    Some(&rest[..rest.find(end)?])
}

/// Splits ` at Line: 1, Column: 8` off the end of a parser's message.
pub(super) fn split_position(text: &str) -> (&str, Option<Position>) {
    let Some(at) = text.rfind(" at Line: ") else {
        return (text, None);
    };
    let mut numbers = text[at..]
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse::<u64>().ok());
    let position = match (numbers.next(), numbers.next()) {
        (Some(line), Some(column)) if line > 0 => Some(Position { line, column }),
        _ => None,
    };
    (&text[..at], position)
}

/// A number that does not fit.
pub(super) fn overflow(detail: &str) -> Error {
    Error::new("22003", "value out of range: overflow").with_detail(detail.to_owned())
}

/// A message of an Arrow kernel: mostly casts.
pub(super) fn kernel(text: &str) -> Error {
    if let Some(value) = between(text, "Cannot cast string '", "' to value of ") {
        let kind = between(text, "' to value of ", " type").map_or("unknown", sql_name_of_debug);
        return invalid_text(kind, value);
    }
    if let Some(value) = between(text, "Cannot cast value '", "' to value of Boolean") {
        return invalid_text("boolean", value);
    }
    if let Some(value) = between(text, "Error parsing timestamp from '", "'") {
        return Error::new(
            "22007",
            format!("invalid input syntax for type timestamp: \"{value}\""),
        );
    }
    if let Some(value) = between(text, "Failed to parse '", "' as time") {
        return Error::new(
            "22007",
            format!("invalid input syntax for type time: \"{value}\""),
        );
    }
    if let Some(value) = between(text, "parse the string value ", " to decimal") {
        return invalid_text("numeric", value);
    }
    if let Some(value) = between(text, "Can't cast value ", " to type ") {
        let kind = text.rsplit(" to type ").next().unwrap_or("");
        let kind = sql_name_of_debug(kind.trim_end_matches('.'));
        return Error::new(
            "22003",
            format!("value {value} is out of range for type {kind}"),
        );
    }
    if let Some(value) = between(text, "value of ", " is out of range ") {
        let kind = text.rsplit(" is out of range ").next().unwrap_or("");
        let kind = sql_name_of_debug(kind);
        return Error::new(
            "22003",
            format!("value {value} is out of range for type {kind}"),
        );
    }
    if text.contains("to store in a Decimal")
        || text.contains("Overflowing on")
        || text.contains("overflow")
    {
        return Error::new("22003", "numeric field overflow").with_detail(text.to_owned());
    }
    if text.contains("interval") || text.contains("Interval") {
        return Error::new(
            "22007",
            format!("invalid input syntax for type interval: {text}"),
        );
    }
    if text.contains("Casting from") && text.contains("not supported") {
        return Error::new("42846", text.to_owned());
    }
    Error::new("22000", text.to_owned())
}

/// PostgreSQL's complaint about text that is no value of a type.
pub(super) fn invalid_text(kind: &str, value: &str) -> Error {
    let sqlstate = match kind {
        "date" | "time" | "timestamp" | "timestamp with time zone" | "interval" => "22007",
        _ => "22P02",
    };
    Error::new(
        sqlstate,
        format!("invalid input syntax for type {kind}: \"{value}\""),
    )
}

/// PostgreSQL's name of a type as Arrow spells it in its messages.
pub(crate) fn sql_name_of_debug(arrow: &str) -> &'static str {
    let head = arrow
        .trim_start_matches("DataType::")
        .split(['(', ' '])
        .next()
        .unwrap_or(arrow);
    match head {
        "Boolean" => "boolean",
        "Int8" | "Int16" | "UInt8" => "smallint",
        "Int32" | "UInt16" => "integer",
        "Int64" | "UInt32" | "UInt64" => "bigint",
        "Float16" | "Float32" => "real",
        "Float64" => "double precision",
        "Decimal32" | "Decimal64" | "Decimal128" | "Decimal256" => "numeric",
        "Date32" | "Date64" => "date",
        "Time32" | "Time64" => "time",
        "Timestamp" if arrow.contains('"') || arrow.contains("Some") => "timestamp with time zone",
        "Timestamp" => "timestamp",
        "Interval" | "Duration" => "interval",
        "FixedSizeBinary" if arrow.contains("(16)") => "uuid",
        "FixedSizeBinary" if arrow.contains("(12)") => "time with time zone",
        "Struct" => "record",
        "Binary" | "LargeBinary" | "BinaryView" | "FixedSizeBinary" => "bytea",
        "Utf8" | "LargeUtf8" | "Utf8View" => "text",
        _ => "unknown",
    }
}
