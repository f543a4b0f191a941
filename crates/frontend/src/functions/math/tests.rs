//! Functions, by PostgreSQL.

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

const FUNCTIONS: &[Case] = &[
    ("ceil", &[("numeric", "-1.5")], "-1"),
    ("floor", &[("numeric", "-1.5")], "-2"),
    ("round", &[("numeric", "2.5")], "3"),
    ("round", &[("float8", "2.5")], "2"),
    (
        "round",
        &[("numeric", "-1234.567"), ("int4", "-2")],
        "-1200",
    ),
    (
        "round",
        &[("numeric", "1234.567"), ("int4", "2")],
        "1234.57",
    ),
    ("trunc", &[("numeric", "-1.99")], "-1"),
    ("trunc", &[("numeric", "1999"), ("int4", "-3")], "1000"),
    ("trunc", &[("float8", "-1.5")], "-1"),
    ("ceil", &[("numeric(5,2)", "999.01")], "1000"),
    ("sign", &[("numeric", "-0.5")], "-1"),
    ("sign", &[("numeric", "NaN")], "NaN"),
    ("sign", &[("float8", "-3")], "-1"),
    ("abs", &[("numeric", "-1.50")], "1.50"),
    ("abs", &[("int2", "-32768")], "22003 smallint out of range"),
    ("mod", &[("int4", "-7"), ("int4", "3")], "-1"),
    ("mod", &[("numeric", "7.5"), ("numeric", "2")], "1.5"),
    ("div", &[("numeric", "9"), ("numeric", "4")], "2"),
    (
        "div",
        &[("numeric", "-9.9"), ("numeric", "0")],
        "22012 division by zero",
    ),
    ("gcd", &[("int4", "1071"), ("int4", "462")], "21"),
    (
        "gcd",
        &[("int4", "-2147483648"), ("int4", "0")],
        "22003 integer out of range",
    ),
    ("lcm", &[("int8", "1071"), ("int8", "462")], "23562"),
    (
        "lcm",
        &[("int4", "2147483647"), ("int4", "2")],
        "22003 integer out of range",
    ),
    ("gcd", &[("numeric", "1.5"), ("numeric", "0.9")], "0.3"),
    ("lcm", &[("numeric", "1.5"), ("numeric", "0.90")], "4.50"),
    ("exp", &[("numeric", "1")], "2.7182818284590452"),
    (
        "exp",
        &[("float8", "1000")],
        "22003 value out of range: overflow",
    ),
    (
        "exp",
        &[("float8", "-1000")],
        "22003 value out of range: underflow",
    ),
    (
        "exp",
        &[("numeric", "7000")],
        "22003 value overflows numeric format",
    ),
    ("ln", &[("numeric", "2")], "0.6931471805599453"),
    (
        "ln",
        &[("numeric", "0")],
        "2201E cannot take logarithm of zero",
    ),
    (
        "ln",
        &[("float8", "-1")],
        "2201E cannot take logarithm of a negative number",
    ),
    ("log", &[("numeric", "100")], "2.0000000000000000"),
    (
        "log",
        &[("numeric", "2"), ("numeric", "64")],
        "6.0000000000000000",
    ),
    (
        "log",
        &[("numeric", "1"), ("numeric", "64")],
        "22012 division by zero",
    ),
    ("log10", &[("float8", "1000")], "3"),
    ("sqrt", &[("numeric", "2")], "1.414213562373095"),
    (
        "sqrt",
        &[("numeric", "-1")],
        "2201F cannot take square root of a negative number",
    ),
    ("sqrt", &[("numeric", "0.000001")], "0.0010000000000000000"),
    ("cbrt", &[("float8", "0")], "0"),
    (
        "power",
        &[("numeric", "9"), ("numeric", "3")],
        "729.0000000000000000",
    ),
    ("power", &[("float8", "9"), ("float8", "0.5")], "3"),
    (
        "power",
        &[("numeric", "-8"), ("numeric", "0.3")],
        "2201F a negative number raised to a non-integer power yields a complex result",
    ),
    (
        "power",
        &[("numeric", "10000"), ("numeric", "-2.25")],
        "0.000000001000000000000000",
    ),
    (
        "power",
        &[("numeric", "10"), ("numeric", "200000")],
        "22003 value overflows numeric format",
    ),
    ("degrees", &[("float8", "0.5")], "28.64788975654116"),
    ("radians", &[("float8", "45")], "0.7853981633974483"),
    ("factorial", &[("int8", "20")], "2432902008176640000"),
    (
        "factorial",
        &[("int8", "40")],
        "815915283247897734345611269596115894272000000000",
    ),
    (
        "factorial",
        &[("int8", "-1")],
        "22003 factorial of a negative number is undefined",
    ),
    (
        "factorial",
        &[("int8", "40000")],
        "22003 value overflows numeric format",
    ),
    ("scale", &[("numeric", "8.4100")], "4"),
    ("scale", &[("numeric", "NaN")], "NULL"),
    ("min_scale", &[("numeric", "8.4100")], "2"),
    ("trim_scale", &[("numeric", "8.4100")], "8.41"),
    ("sind", &[("float8", "30")], "0.5"),
    ("cosd", &[("float8", "60")], "0.5"),
    ("tand", &[("float8", "45")], "1"),
    ("cotd", &[("float8", "135")], "-1"),
    ("asind", &[("float8", "0.5")], "30"),
    ("acosd", &[("float8", "-1")], "180"),
    ("atan2d", &[("float8", "1"), ("float8", "-1")], "135"),
    (
        "sin",
        &[("float8", "Infinity")],
        "22003 input is out of range",
    ),
    ("acos", &[("float8", "2")], "22003 input is out of range"),
    ("acosh", &[("float8", "0.5")], "22003 input is out of range"),
    ("atanh", &[("float8", "1")], "Infinity"),
    ("cot", &[("float8", "0")], "Infinity"),
    (
        "width_bucket",
        &[
            ("float8", "5.35"),
            ("float8", "0.024"),
            ("float8", "10.06"),
            ("int4", "5"),
        ],
        "3",
    ),
    (
        "width_bucket",
        &[
            ("numeric", "5.35"),
            ("numeric", "10.06"),
            ("numeric", "0.024"),
            ("int4", "5"),
        ],
        "3",
    ),
    (
        "width_bucket",
        &[
            ("numeric", "1"),
            ("numeric", "1"),
            ("numeric", "1"),
            ("int4", "5"),
        ],
        "2201G lower bound cannot equal upper bound",
    ),
    (
        "width_bucket",
        &[
            ("numeric", "1"),
            ("numeric", "0"),
            ("numeric", "1"),
            ("int4", "0"),
        ],
        "2201G count must be greater than zero",
    ),
    (
        "width_bucket",
        &[
            ("float8", "NaN"),
            ("float8", "0"),
            ("float8", "1"),
            ("int4", "1"),
        ],
        "2201G operand, lower bound, and upper bound cannot be NaN",
    ),
    (
        "width_bucket",
        &[
            ("float8", "2"),
            ("float8", "0"),
            ("float8", "1"),
            ("int4", "2147483647"),
        ],
        "22003 integer out of range",
    ),
];

#[test]
fn functions() {
    for case in FUNCTIONS {
        let found = shown(testing::call(case.0, &arguments(case)));
        assert_eq!(found, case.2, "{case:?}");
    }
}

#[test]
fn of_other_databases() {
    let cases = [
        ("log2", "8", "3"),
        ("even", "2.1", "4"),
        ("even", "-2.1", "-4"),
        ("even", "2", "2"),
    ];
    for (name, value, wanted) in cases {
        let found = testing::call(name, &[(Type::Float8, Some(value))]);
        assert_eq!(shown(found), wanted, "{name}");
    }
}

#[test]
fn buckets_between_bounds() {
    let bucket = |value: (&str, &str), bounds: (&str, &str)| {
        let bounds_type = ty(bounds.0).array();
        let arguments = [(ty(value.0), Some(value.1)), (bounds_type, Some(bounds.1))];
        shown(testing::call("width_bucket", &arguments))
    };
    assert_eq!(bucket(("int4", "5"), ("int4", "{1,3,5,7}")), "3");
    assert_eq!(bucket(("int4", "0"), ("int4", "{1,3}")), "0");
    assert_eq!(bucket(("numeric", "2.5"), ("numeric", "{1,2.50,3}")), "2");
    assert_eq!(bucket(("float8", "NaN"), ("float8", "{1,NaN}")), "2");
    assert_eq!(bucket(("text", "b"), ("text", "{a,b,c}")), "2");
    assert_eq!(bucket(("int4", "5"), ("int4", "{}")), "0");
    assert_eq!(
        bucket(("int4", "5"), ("int4", "{3,NULL}")),
        "22004 thresholds array must not contain NULLs"
    );
}
