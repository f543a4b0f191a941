//! Types of generated columns and values of them.

use freestone_frontend::types::Type;

use crate::random::Random;

/// Types of columns; frequent ones stand more than once.
pub(super) fn column_type(random: &mut Random) -> Type {
    use Type::*;
    match random.below(38) {
        0..=6 => Int4,
        7..=10 => Text,
        11..=13 => Numeric(None),
        14 | 15 => Int8,
        16 => Int2,
        17 | 18 => Float8,
        19 => Float4,
        20 | 21 => Bool,
        22 | 23 => Date,
        24 | 25 => Timestamp(None),
        26 => TimestampTz(None),
        27 => Time(None),
        28 => Interval,
        29 => Varchar(None),
        30 => Uuid,
        31 => Jsonb,
        32 => Json,
        33 => Int4.array(),
        34 => Text.array(),
        35 => Bytea,
        36 => Numeric(None).array(),
        _ => TimeTz(None),
    }
}

/// Types of results of expressions.
pub(super) fn any_type(random: &mut Random) -> Type {
    match random.below(14) {
        0 => Type::Bool,
        1 => Type::Int4,
        _ => column_type(random),
    }
}

/// The beginning of the name of a column, by its type: columns of one name have one type, so
/// that they can be joined.
pub(super) fn initial(ty: &Type) -> &'static str {
    use Type::*;
    match ty {
        Int4 => "i",
        Int8 => "l",
        Int2 => "s",
        Text => "t",
        Varchar(_) => "v",
        Numeric(_) => "n",
        Float8 => "d",
        Float4 => "f",
        Bool => "b",
        Date => "dt",
        Timestamp(_) => "ts",
        TimestampTz(_) => "tz",
        Time(_) => "tm",
        TimeTz(_) => "tmz",
        Interval => "iv",
        Uuid => "u",
        Jsonb => "jb",
        Json => "js",
        Bytea => "by",
        Array(_) => "a",
        _ => "x",
    }
}

/// Whether values of a type have an order.
pub(super) fn sortable(ty: &Type) -> bool {
    match ty {
        Type::Json | Type::JsonPath | Type::Unknown | Type::Void => false,
        Type::Array(element) => sortable(element),
        _ => true,
    }
}

/// The text of a value without its quotes, and whether it needs them.
fn text(random: &mut Random, ty: &Type) -> (String, bool) {
    use Type::*;
    let edge = random.percent(4);
    let quoted = |text: &str| (text.to_owned(), true);
    let bare = |text: String| (text, false);
    match ty {
        Bool => bare(random.word(&["true", "false"]).to_owned()),
        Int2 if edge => bare(random.word(&["32767", "-32768", "-1"]).to_owned()),
        Int4 if edge => bare(
            random
                .word(&["2147483647", "-2147483648", "1000000"])
                .to_owned(),
        ),
        Int8 if edge => {
            let edges = ["9223372036854775807", "-9223372036854775808", "5000000000"];
            bare(random.word(&edges).to_owned())
        }
        Int2 | Int4 | Int8 => bare((random.below(9) as i64 - 2).to_string()),
        Float4 | Float8 if edge => {
            quoted(random.word(&["NaN", "Infinity", "-Infinity", "-0", "1e30"]))
        }
        Float4 | Float8 => bare(format!("{}", (random.below(33) as f64 - 8.0) / 4.0)),
        Numeric(_) if edge => quoted(random.word(&["NaN", "Infinity", "1e20", "-1e-10"])),
        Numeric(_) => {
            let numbers = ["0", "1", "-1.5", "2.25", "10", "0.10", "3", "100.001", "-7"];
            bare(random.word(&numbers).to_owned())
        }
        Text | Varchar(_) => quoted(random.word(&[
            "", "a", "b", "ab", "abc", "B", "Abc d", "x_y%", "42", " p ", "zé", "aa,bb", "\\d+",
        ])),
        Bytea => quoted(random.word(&["\\x", "\\x00", "\\x61", "\\x6162", "\\xff00fe"])),
        Date if edge => quoted(random.word(&["infinity", "0044-03-15 BC", "9999-12-31"])),
        Date => {
            let dates = [
                "2020-01-31",
                "2020-02-29",
                "2021-12-31",
                "1999-01-01",
                "1970-01-01",
            ];
            quoted(random.word(&dates))
        }
        Timestamp(_) | TimestampTz(_) if edge => {
            quoted(random.word(&["-infinity", "infinity", "0001-01-01 00:00:00"]))
        }
        Timestamp(_) | TimestampTz(_) => quoted(random.word(&[
            "2020-01-31 10:00:00",
            "2020-02-29 23:59:59.5",
            "2021-12-31 00:00:00",
            "1999-07-01 12:34:56.789012",
            "2024-03-31 01:30:00",
        ])),
        Time(_) => quoted(random.word(&["00:00:00", "12:34:56", "23:59:59.999", "06:30:00"])),
        TimeTz(_) => quoted(random.word(&["00:00:00+00", "12:34:56-05", "12:34:56+02:30"])),
        Interval => quoted(random.word(&[
            "1 day",
            "2 mons",
            "-3 hours",
            "1 year 2 mons 3 days 04:05:06",
            "00:00:00.5",
            "0",
            "-1 mon +5 days",
        ])),
        Uuid => quoted(random.word(&[
            "00000000-0000-0000-0000-000000000000",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ])),
        Json | Jsonb => quoted(random.word(&[
            "null",
            "1",
            "\"a\"",
            "[]",
            "{}",
            "[1, 2, null]",
            "{\"a\": 1, \"b\": [true, \"x\"]}",
            "{\"b\": {\"a\": null}, \"a\": 1.50}",
            "true",
            "[{\"a\": 2}]",
        ])),
        Array(element) => (array(random, element), true),
        _ => ("x".to_owned(), true),
    }
}

/// The text of an array, which may have several dimensions and other lower bounds than 1.
fn array(random: &mut Random, element: &Type) -> String {
    let dimensions = match random.below(10) {
        0 | 1 => 2,
        2 => 3,
        _ => 1,
    };
    let least = usize::from(dimensions > 1);
    let lengths: Vec<usize> = (0..dimensions)
        .map(|_| least + random.below(4 - least))
        .collect();
    let items = items(random, element, &lengths);
    if lengths.contains(&0) || !random.percent(12) {
        return items;
    }
    let bounds = lengths.iter().map(|length| {
        let low = random.below(4) as i64 - 1;
        format!("[{low}:{}]", low + *length as i64 - 1)
    });
    format!("{}={items}", bounds.collect::<String>())
}

/// Elements within braces, those of further dimensions within more of them.
fn items(random: &mut Random, element: &Type, lengths: &[usize]) -> String {
    let (length, inner) = lengths.split_first().unwrap_or((&0, &[]));
    let items = (0..*length).map(|_| {
        if !inner.is_empty() {
            return items(random, element, inner);
        }
        if random.percent(15) {
            return "NULL".to_owned();
        }
        let (item, _) = text(random, element);
        format!("\"{}\"", item.replace('\\', "\\\\").replace('"', "\\\""))
    });
    let items: Vec<String> = items.collect();
    format!("{{{}}}", items.join(","))
}

/// A value of a type as it stands in VALUES of INSERT.
pub(super) fn stored(random: &mut Random, ty: &Type) -> String {
    if random.percent(18) {
        return "NULL".to_owned();
    }
    match text(random, ty) {
        (text, true) => format!("'{text}'"),
        (text, false) => text,
    }
}

/// A literal of a type that stands in an expression.
pub(super) fn literal(random: &mut Random, ty: &Type) -> String {
    if random.percent(5) {
        return format!("NULL::{ty}");
    }
    let (text, quoted) = text(random, ty);
    match ty {
        Type::Bool => text,
        Type::Int4 | Type::Numeric(_) if !quoted && !text.starts_with('-') => match ty {
            Type::Numeric(_) if !text.contains('.') => format!("{text}.0"),
            _ => text,
        },
        Type::Date if random.percent(50) => format!("date '{text}'"),
        Type::Timestamp(_) if random.percent(50) => format!("timestamp '{text}'"),
        Type::Interval if random.percent(50) => format!("interval '{text}'"),
        Type::Array(element) if text == "{}" => format!("ARRAY[]::{element}[]"),
        _ if random.percent(10) => format!("CAST('{text}' AS {ty})"),
        _ => format!("'{text}'::{ty}"),
    }
}
