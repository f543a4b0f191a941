//! Pictures, by PostgreSQL.

use crate::functions::testing;
use crate::types::{Type, named};

/// A function or operator, types and values of its arguments, and its result or its error.
type Case = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

fn ty(name: &str) -> Type {
    if let Some(digits) = name.strip_prefix("numeric(") {
        let (precision, scale) = digits.trim_end_matches(')').split_once(',').unwrap();
        return Type::numeric(precision.parse().unwrap(), scale.parse().unwrap());
    }
    named(name).unwrap()
}

fn arguments(case: &Case) -> Vec<testing::Argument<'static>> {
    let each = case.1.iter();
    each.map(|(name, value)| (ty(name), Some(*value))).collect()
}

fn shown(result: crate::Result<Option<String>>) -> String {
    match result {
        Ok(value) => value.unwrap_or_else(|| "NULL".to_owned()),
        Err(error) => format!("{} {}", error.sqlstate, error.message),
    }
}

const WRITTEN: &[Case] = &[
    ("to_char", &[("int4", "-1234"), ("text", "9,999")], "-1,234"),
    (
        "to_char",
        &[("int4", "485"), ("text", "RN")],
        "        CDLXXXV",
    ),
    ("to_char", &[("int4", "485"), ("text", "FMrn")], "cdlxxxv"),
    ("to_char", &[("int4", "5"), ("text", "00099")], " 00005"),
    ("to_char", &[("int4", "12"), ("text", "99V999")], " 12000"),
    ("to_char", &[("int4", "1"), ("text", "9th")], " 1st"),
    ("to_char", &[("int4", "12"), ("text", "FM99TH")], "12TH"),
    ("to_char", &[("int4", "-5"), ("text", "999PR")], "  <5>"),
    ("to_char", &[("int4", "5"), ("text", "S999")], "  +5"),
    ("to_char", &[("int4", "-5"), ("text", "999S")], "  5-"),
    ("to_char", &[("int4", "5"), ("text", "SG9")], "+5"),
    ("to_char", &[("int4", "-5"), ("text", "MI9")], "-5"),
    ("to_char", &[("int4", "5"), ("text", "PL9")], "+ 5"),
    ("to_char", &[("int4", "12345"), ("text", "999")], " ###"),
    (
        "to_char",
        &[("int4", "4000"), ("text", "RN")],
        "###############",
    ),
    ("to_char", &[("int4", "7"), ("text", "\"n: \"9")], "n:  7"),
    ("to_char", &[("int4", "7"), ("text", "\\\"9")], "\" 7"),
    ("to_char", &[("int4", "148"), ("text", "999EEEE")], " 1e+02"),
    ("to_char", &[("int4", "0"), ("text", "FM9")], "0"),
    (
        "to_char",
        &[("numeric", "-0.1"), ("text", "99.99")],
        "  -.10",
    ),
    ("to_char", &[("numeric", "-0.1"), ("text", "FM9.99")], "-.1"),
    ("to_char", &[("numeric", "0.1"), ("text", "0.9")], " 0.1"),
    (
        "to_char",
        &[("numeric", "12.34"), ("text", "FM999.99")],
        "12.34",
    ),
    (
        "to_char",
        &[("numeric", "12"), ("text", "FM9990999.9")],
        "0012.",
    ),
    (
        "to_char",
        &[("numeric", "148.5"), ("text", "999.999")],
        " 148.500",
    ),
    (
        "to_char",
        &[("numeric", "148.5"), ("text", "FM999.990")],
        "148.500",
    ),
    (
        "to_char",
        &[("numeric", "3148.5"), ("text", "9G999D999")],
        " 3,148.500",
    ),
    ("to_char", &[("numeric", "-485"), ("text", "9SG99")], "4-85"),
    ("to_char", &[("numeric", "485"), ("text", "L999")], "  485"),
    ("to_char", &[("numeric", "12.45"), ("text", "99V9")], " 125"),
    (
        "to_char",
        &[("numeric", "0.0004859"), ("text", "9.99EEEE")],
        " 4.86e-04",
    ),
    ("to_char", &[("numeric", "NaN"), ("text", "99.9")], " ##.#"),
    (
        "to_char",
        &[("numeric", "Infinity"), ("text", "99.9EEEE")],
        " ##.#####",
    ),
    (
        "to_char",
        &[("numeric", "1"), ("text", "9.9.9")],
        "42601 multiple decimal points",
    ),
    (
        "to_char",
        &[("numeric", "1"), ("text", "9EEEE9")],
        "42601 \"EEEE\" must be the last pattern used",
    ),
    (
        "to_char",
        &[("numeric", "1"), ("text", "S9S")],
        "42601 cannot use \"S\" twice",
    ),
    (
        "to_char",
        &[("numeric", "1"), ("text", "PR9")],
        "42601 \"9\" must be ahead of \"PR\"",
    ),
    ("to_char", &[("numeric", "-0.5"), ("text", "FM.9")], "-.#"),
    ("to_char", &[("numeric", "0"), ("text", "FM9.9")], "0."),
    (
        "to_char",
        &[("float8", "1234567.891"), ("text", "9999999.999999999999")],
        " 1234567.89100000",
    ),
    (
        "to_char",
        &[("float8", "-1e-10"), ("text", "9.99EEEE")],
        "-1.00e-10",
    ),
    ("to_char", &[("float8", "0.1"), ("text", "FM9.99")], ".1"),
    ("to_char", &[("float8", "NaN"), ("text", "999")], " NaN"),
];

const READ: &[Case] = &[
    (
        "to_number",
        &[("text", "-34,338,492"), ("text", "99G999G999")],
        "-34338492",
    ),
    (
        "to_number",
        &[("text", "12,454.8-"), ("text", "99G999D9S")],
        "-12454.8",
    ),
    (
        "to_number",
        &[("text", "<564646.654564>"), ("text", "999999.999999PR")],
        "-564646.654564",
    ),
    (
        "to_number",
        &[("text", "0.00001-"), ("text", "9.999999S")],
        "-0.00001",
    ),
    (
        "to_number",
        &[("text", "5.01-"), ("text", "FM9.999999MI")],
        "-5.01",
    ),
    (
        "to_number",
        &[("text", "-01234"), ("text", "99999")],
        "-1234",
    ),
    (
        "to_number",
        &[("text", "$1234.56"), ("text", "L99999.99")],
        "1234.56",
    ),
    (
        "to_number",
        &[("text", "12345"), ("text", "99V999")],
        "12.3450000000000000",
    ),
    ("to_number", &[("text", "42nd"), ("text", "99th")], "42"),
    (
        "to_number",
        &[("text", ""), ("text", "99")],
        "22P02 invalid input syntax for type numeric: \" \"",
    ),
    (
        "to_number",
        &[("text", "abc"), ("text", "99")],
        "22P02 invalid input syntax for type numeric: \" \"",
    ),
    ("to_number", &[("text", "1234"), ("text", "9")], "1"),
    (
        "to_number",
        &[("text", "12"), ("text", "RN")],
        "0A000 \"RN\" not supported for input",
    ),
    (
        "to_number",
        &[("text", "12"), ("text", "9EEEE")],
        "0A000 \"EEEE\" not supported for input",
    ),
    ("to_number", &[("text", "1 2 3"), ("text", "9 9 9")], "123"),
    (
        "to_number",
        &[("text", "123456"), ("text", "FM999,999")],
        "123456",
    ),
];

#[test]
fn written_and_read() {
    for case in WRITTEN.iter().chain(READ) {
        let found = shown(testing::call(case.0, &arguments(case)));
        assert_eq!(found, case.2, "{case:?}");
    }
}

#[test]
fn any_picture_is_read() {
    // Patterns in any order neither panic nor loop.
    let patterns = [
        "9", "0", ".", "S", "PR", "FM", "V", "MI", "é", "\"", "\\", "TH", "RN", "G",
    ];
    for a in patterns {
        for b in patterns {
            for c in patterns {
                let picture = format!("{a}{b}{c}");
                for value in ["-12.5", "0", "NaN"] {
                    let number = (Type::Numeric(None), Some(value));
                    let picture = (Type::Text, Some(picture.as_str()));
                    drop(testing::call("to_char", &[number, picture.clone()]));
                    drop(testing::call(
                        "to_number",
                        &[(Type::Text, Some(value)), picture],
                    ));
                }
            }
        }
    }
}

#[test]
fn long_pictures() {
    let picture = format!("9.{}EEEE", "9".repeat(70_000));
    for name in ["float8", "numeric", "int4"] {
        let arguments = [(ty(name), Some("1")), (Type::Text, Some(picture.as_str()))];
        drop(testing::call("to_char", &arguments));
    }
    let arguments = [
        (Type::Float8, Some("1")),
        (Type::Text, Some(picture.as_str())),
    ];
    let text = testing::call("to_char", &arguments).unwrap().unwrap();
    assert_eq!(text.len(), 70_007);
    let whole = "9".repeat(70_000);
    let arguments = [
        (Type::Float8, Some("1")),
        (Type::Text, Some(whole.as_str())),
    ];
    let text = testing::call("to_char", &arguments).unwrap().unwrap();
    assert_eq!(text.len(), 70_001);
}
