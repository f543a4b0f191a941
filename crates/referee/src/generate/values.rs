//! Types of generated columns and values of them.

use freestone_frontend::types::{Digits, RangeOf, Type};

use crate::random::Random;

/// Types of columns; frequent ones stand more than once.
pub(super) fn column_type(random: &mut Random) -> Type {
    use Type::*;
    let digits = |precision, scale| Numeric(Some(Digits { precision, scale }));
    match random.below(60) {
        0..=8 => Int4,
        9..=13 => Text,
        14..=16 => Numeric(None),
        17 => digits(6, 2),
        18 => match random.below(3) {
            0 => digits(4, 0),
            1 => digits(38, 10),
            _ => digits(3, 3),
        },
        19..=21 => Int8,
        22 | 23 => Int2,
        24 | 25 => Float8,
        26 | 27 => Float4,
        28..=30 => Bool,
        31..=33 => Date,
        34 | 35 => Timestamp(None),
        36 => match random.percent(50) {
            true => Timestamp(Some(0)),
            false => TimestampTz(Some(3)),
        },
        37 | 38 => TimestampTz(None),
        39 => Time(None),
        40 | 41 => Interval,
        42 => Varchar(None),
        43 => Varchar(Some(3)),
        44 => Char(Some(4)),
        45 => Char(Some(1)),
        46 => Uuid,
        47 => Jsonb,
        48 => Json,
        49 => Int4.array(),
        50 => Text.array(),
        51 | 52 => Bytea,
        53 => match random.below(8) {
            0 => Bool.array(),
            1 => Date.array(),
            2 => Int8.array(),
            3 => Float8.array(),
            4 => Timestamp(None).array(),
            5 => Jsonb.array(),
            6 => Int2.array(),
            _ => Varchar(None).array(),
        },
        54 => Numeric(None).array(),
        55 => TimeTz(None),
        56 => match random.percent(50) {
            true => VarBit(None),
            false => Bit(Some(4)),
        },
        57 | 58 => match random.below(9) {
            0 => Range(RangeOf::Int8),
            1 => Range(RangeOf::Numeric),
            2 => Range(RangeOf::Date),
            3 => Range(RangeOf::Timestamp),
            4 => Multirange(RangeOf::Int4),
            5 => Multirange(RangeOf::Numeric),
            6 => Range(RangeOf::Int4).array(),
            _ => Range(RangeOf::Int4),
        },
        _ => match random.below(5) {
            0 => Cidr,
            1 if random.percent(50) => MacAddr,
            1 => Money,
            2 => Inet.array(),
            _ => Inet,
        },
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
        Varchar(None) => "v",
        Varchar(_) => "vn",
        Char(Some(1)) => "ch",
        Char(_) => "chn",
        Numeric(None) => "n",
        Numeric(Some(Digits { precision: 6, .. })) => "m",
        Numeric(Some(Digits { precision: 4, .. })) => "mi",
        Numeric(Some(Digits { precision: 38, .. })) => "mw",
        Numeric(_) => "mf",
        Float8 => "d",
        Float4 => "f",
        Bool => "b",
        Date => "dt",
        Timestamp(None) => "ts",
        Timestamp(_) => "tsn",
        TimestampTz(None) => "tz",
        TimestampTz(_) => "tzn",
        Time(_) => "tm",
        TimeTz(_) => "tmz",
        Interval => "iv",
        Uuid => "u",
        Jsonb => "jb",
        Json => "js",
        Bytea => "by",
        Array(_) => "a",
        Range(_) => "r",
        Multirange(_) => "mr",
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
        Float4 | Float8 if edge => quoted(random.word(&[
            "NaN",
            "Infinity",
            "-Infinity",
            "-0",
            "1e30",
            "1e-30",
            "16777217",
            "123456789",
            "0.1",
        ])),
        Float4 | Float8 => bare(format!("{}", (random.below(33) as f64 - 8.0) / 4.0)),
        Numeric(Some(Digits { precision: 3, .. })) => bare(
            random
                .word(&["0", "0.5", "-0.125", "0.999", "0.001"])
                .to_owned(),
        ),
        Numeric(Some(_)) if edge => quoted(random.word(&["0.005", "999.995", "-0.004"])),
        Numeric(_) if edge => quoted(random.word(&[
            "NaN",
            "Infinity",
            "-Infinity",
            "1e20",
            "-1e-10",
            "99999999999999999999999999999999999999",
            "0.000",
            "1e-30",
        ])),
        Numeric(_) => {
            let numbers = ["0", "1", "-1.5", "2.25", "10", "0.10", "3", "100.001", "-7"];
            bare(random.word(&numbers).to_owned())
        }
        Char(Some(1)) => quoted(random.word(&["", "a", "B", "é", " ", "1"])),
        Char(_) | Varchar(Some(_)) => {
            quoted(random.word(&["", "a", "ab", "abc", "a ", "B", "é", "12", " a"]))
        }
        Text | Varchar(_) => quoted(random.word(&[
            "",
            "a",
            "b",
            "ab",
            "abc",
            "B",
            "Abc d",
            "x_y%",
            "42",
            " p ",
            "zé",
            "aa,bb",
            "\\d+",
            "A",
            "a ",
            "true",
            "2020-01-31",
            "ß",
            "-1.5",
            "NULL",
            "日本",
        ])),
        Bytea => quoted(random.word(&["\\x", "\\x00", "\\x61", "\\x6162", "\\xff00fe"])),
        Date if edge => quoted(random.word(&[
            "infinity",
            "-infinity",
            "0044-03-15 BC",
            "9999-12-31",
            "0001-01-01",
        ])),
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
        Timestamp(_) | TimestampTz(_) if edge => quoted(random.word(&[
            "-infinity",
            "infinity",
            "0001-01-01 00:00:00",
            "0044-03-15 12:00:00 BC",
            "1900-02-28 23:59:59.999999",
        ])),
        Timestamp(_) | TimestampTz(_) => quoted(random.word(&[
            "2020-01-31 10:00:00",
            "2020-02-29 23:59:59.5",
            "2021-12-31 00:00:00",
            "1999-07-01 12:34:56.789012",
            "2024-03-31 01:30:00",
        ])),
        Time(_) => quoted(random.word(&[
            "00:00:00",
            "12:34:56",
            "23:59:59.999",
            "06:30:00",
            "24:00:00",
        ])),
        TimeTz(_) => quoted(random.word(&["00:00:00+00", "12:34:56-05", "12:34:56+02:30"])),
        Interval => quoted(random.word(&[
            "1 day",
            "2 mons",
            "-3 hours",
            "1 year 2 mons 3 days 04:05:06",
            "00:00:00.5",
            "0",
            "-1 mon +5 days",
            "25 hours",
            "1 mon -1 day 00:00:01",
            "-00:00:00.000001",
            "30 days",
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
        Bit(Some(4)) => quoted(random.word(&["0000", "1010", "1111", "0101"])),
        Bit(_) => quoted(random.word(&["0", "1"])),
        VarBit(_) => quoted(random.word(&["", "0", "1", "01", "1010", "10110011101"])),
        Inet => quoted(random.word(&[
            "10.1.2.3",
            "10.1.2.3/8",
            "10.0.0.0/8",
            "192.168.1.5/24",
            "0.0.0.0/0",
            "255.255.255.255",
            "::1",
            "2001:db8::/32",
        ])),
        Cidr => quoted(random.word(&["10.0.0.0/8", "10.1.0.0/16", "192.168.1.0/24", "::/0"])),
        Money => quoted(random.word(&["$0.00", "1", "-$5.50", "$1,234.56", "99999999.99"])),
        MacAddr | MacAddr8 => quoted(random.word(&[
            "08:00:2b:01:02:03",
            "00:00:00:00:00:00",
            "ff:ff:ff:ff:ff:fe",
        ])),
        Range(of) => (range(random, *of), true),
        Multirange(of) => {
            let many = random.below(4);
            let ranges: Vec<String> = (0..many).map(|_| range(random, *of)).collect();
            (format!("{{{}}}", ranges.join(",")), true)
        }
        Array(element) => (array(random, element), true),
        _ => ("x".to_owned(), true),
    }
}

/// The text of a range, whose bounds are in order.
fn range(random: &mut Random, of: RangeOf) -> String {
    if random.below(12) == 0 {
        return "empty".to_owned();
    }
    let values: &[&str] = match of {
        RangeOf::Int4 | RangeOf::Int8 => &["-7", "0", "1", "2", "3", "5", "9", "100"],
        RangeOf::Numeric => &["-1.5", "0", "1", "1.10", "2.0", "2.5", "9", "1e3"],
        RangeOf::Date => &["1999-12-31", "2020-01-01", "2020-01-31", "2020-02-29"],
        RangeOf::Timestamp | RangeOf::TimestampTz => &[
            "1999-12-31 00:00:00",
            "2020-01-01 10:00:00",
            "2020-01-31 23:59:59.5",
        ],
    };
    let (a, b) = (random.below(values.len()), random.below(values.len()));
    let bound = |random: &mut Random, at: usize| match random.below(8) {
        0 => "",
        _ => values[at],
    };
    let (low, high) = (bound(random, a.min(b)), bound(random, a.max(b)));
    let (open, close) = (random.word(&["[", "[", "("]), random.word(&["]", ")", ")"]));
    format!("{open}{low},{high}{close}")
}

/// The text of an array, which may have several dimensions and other lower bounds than 1.
fn array(random: &mut Random, element: &Type) -> String {
    let dimensions = match random.below(40) {
        0..=2 => 2,
        3 => 3,
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
        let (mut item, _) = text(random, element);
        if matches!(element, Type::Char(_)) {
            item = unpadded(&item);
        }
        format!("\"{}\"", item.replace('\\', "\\\\").replace('"', "\\\""))
    });
    let items: Vec<String> = items.collect();
    format!("{{{}}}", items.join(","))
}

/// A text that CHAR without a length holds as it is: it has no blanks at its end, which are a
/// difference on purpose.
fn unpadded(text: &str) -> String {
    match text.trim_end_matches(' ') {
        "" => "a".to_owned(),
        text => text.to_owned(),
    }
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
    let (mut text, quoted) = text(random, ty);
    if *ty == Type::Char(None) {
        text = unpadded(&text);
    }
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
        Type::Time(_) | Type::Jsonb if random.percent(30) => {
            format!("{ty} '{text}'").replace("time without time zone", "time")
        }
        _ if random.percent(10) => format!("CAST('{text}' AS {ty})"),
        _ => format!("'{text}'::{ty}"),
    }
}

/// A literal without a type, which its context gives.
pub(super) fn untyped(random: &mut Random, ty: &Type) -> String {
    if random.percent(5) {
        return "NULL".to_owned();
    }
    let (text, _) = text(random, ty);
    format!("'{text}'")
}
