//! Meaning from the text of errors that carry no code.
//!
//! DataFusion and Arrow report many conditions as prose only. The phrases looked
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

/// A refusal of the planner.
pub(super) fn plan(text: &str) -> Error {
    let first = text.lines().next().unwrap_or(text);
    if let Some(name) = between(text, "Invalid function '", "'") {
        let hint = between(text, "Did you mean '", "'")
            .map(|near| format!("did you mean function \"{near}\"?"));
        return Error::new("42883", format!("function {name} does not exist")).with_hint_opt(hint);
    }
    let sqlstate = if text.contains("require unique expression names") {
        "42701"
    } else if text.contains("must be in GROUP BY") || text.contains("must appear in the GROUP BY") {
        return Error::new("42803", grouping(text));
    } else if text.contains("No function matches") || text.contains("does not support") {
        "42883"
    } else if text.contains("oerce") || text.contains("common argument type") {
        "42804"
    } else if text.contains("overflow") {
        "22003"
    } else if text.contains("Scalar subquery should only return one column")
        || text.contains("must be aggregated to return at most one row")
        || text.contains("different number of columns")
        || text.contains("equal number of columns")
        || text.contains("same number of columns")
    {
        "42601"
    } else {
        "42000"
    };
    Error::new(sqlstate, first.to_owned())
}

fn grouping(text: &str) -> String {
    match between(text, "column \"", "\" must appear") {
        Some(column) => format!(
            "column \"{column}\" must appear in the GROUP BY clause or be used in an aggregate function"
        ),
        None => text.lines().next().unwrap_or(text).to_owned(),
    }
}

/// Something DataFusion or Arrow does not offer.
pub(super) fn unsupported(text: &str) -> Error {
    match between(text, "Unsupported SQL type ", "\n")
        .or_else(|| text.strip_prefix("Unsupported SQL type "))
    {
        Some(name) => Error::new(
            "42704",
            format!("type \"{}\" does not exist", name.to_lowercase()),
        ),
        None => Error::unsupported(text.to_owned()),
    }
}

/// A failure while running.
pub(super) fn execution(text: &str) -> Error {
    if text.contains("subquery returned more than one row") {
        return Error::new(
            "21000",
            "more than one row returned by a subquery used as an expression",
        );
    }
    let lower = text.to_lowercase();
    if lower.contains("divide by zero") || lower.contains("division by zero") {
        return Error::new("22012", "division by zero");
    }
    if lower.contains("overflow") || lower.contains("out of range") {
        return overflow(text);
    }
    let sqlstate = match () {
        () if lower.contains("regular expression") || lower.contains("regex") => "2201B",
        () if lower.contains("negative") && lower.contains("limit") => "2201W",
        () => "22000",
    };
    Error::new(sqlstate, text.to_owned())
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
