//! Operators and casts, by PostgreSQL; and loops over columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int32Type};
use arrow_array::{Array, ArrayRef, Decimal128Array, Int32Array};

use crate::functions::kernel::{Call, Column};
use crate::functions::testing;
use crate::functions::{Session, resolve_operator};
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

const OPERATORS: &[Case] = &[
    (
        "+",
        &[("int2", "32767"), ("int2", "1")],
        "22003 smallint out of range",
    ),
    ("+", &[("int2", "32767"), ("int4", "1")], "32768"),
    (
        "+",
        &[("int4", "2147483647"), ("int4", "1")],
        "22003 integer out of range",
    ),
    (
        "-",
        &[("int8", "-9223372036854775808"), ("int2", "1")],
        "22003 bigint out of range",
    ),
    (
        "*",
        &[("int4", "46341"), ("int4", "46341")],
        "22003 integer out of range",
    ),
    ("*", &[("int8", "3037000500"), ("int4", "2")], "6074001000"),
    ("/", &[("int4", "-7"), ("int4", "2")], "-3"),
    (
        "/",
        &[("int2", "-32768"), ("int2", "-1")],
        "22003 smallint out of range",
    ),
    (
        "/",
        &[("int4", "1"), ("int8", "0")],
        "22012 division by zero",
    ),
    ("%", &[("int4", "-7"), ("int4", "2")], "-1"),
    (
        "%",
        &[("int8", "-9223372036854775808"), ("int8", "-1")],
        "0",
    ),
    (
        "%",
        &[("int2", "1"), ("int2", "0")],
        "22012 division by zero",
    ),
    ("&", &[("int4", "12"), ("int4", "10")], "8"),
    ("|", &[("int4", "12"), ("int4", "10")], "14"),
    ("#", &[("int8", "12"), ("int8", "-10")], "-6"),
    ("~", &[("int2", "0")], "-1"),
    ("<<", &[("int4", "1"), ("int4", "33")], "2"),
    ("<<", &[("int2", "1"), ("int4", "15")], "-32768"),
    ("<<", &[("int2", "1"), ("int4", "20")], "0"),
    (">>", &[("int8", "-8"), ("int4", "65")], "-4"),
    (
        "@",
        &[("int4", "-2147483648")],
        "22003 integer out of range",
    ),
    (
        "-",
        &[("int8", "-9223372036854775808")],
        "22003 bigint out of range",
    ),
    ("-", &[("int2", "5")], "-5"),
    (
        "+",
        &[("float8", "1e308"), ("float8", "1e308")],
        "22003 value out of range: overflow",
    ),
    (
        "-",
        &[("float8", "Infinity"), ("float8", "Infinity")],
        "NaN",
    ),
    (
        "*",
        &[("float8", "1e-300"), ("float8", "1e-300")],
        "22003 value out of range: underflow",
    ),
    (
        "*",
        &[("float4", "3e38"), ("float4", "10")],
        "22003 value out of range: overflow",
    ),
    (
        "*",
        &[("float4", "0.1"), ("float8", "1e15")],
        "100000001490116.12",
    ),
    (
        "/",
        &[("float8", "1"), ("float8", "0")],
        "22012 division by zero",
    ),
    ("/", &[("float8", "NaN"), ("float8", "0")], "NaN"),
    ("/", &[("float8", "1"), ("float8", "Infinity")], "0"),
    ("-", &[("float8", "0")], "-0"),
    (
        "^",
        &[("float8", "-8"), ("float8", "0.5")],
        "2201F a negative number raised to a non-integer power yields a complex result",
    ),
    (
        "^",
        &[("float8", "0"), ("float8", "-1")],
        "2201F zero raised to a negative power is undefined",
    ),
    (
        "^",
        &[("float8", "10"), ("float8", "400")],
        "22003 value out of range: overflow",
    ),
    ("|/", &[("float8", "2")], "1.4142135623730951"),
    (
        "|/",
        &[("float8", "-1")],
        "2201F cannot take square root of a negative number",
    ),
    ("+", &[("numeric", "1.50"), ("numeric", "2.5")], "4.00"),
    ("-", &[("numeric", "1"), ("numeric", "1.000")], "0.000"),
    ("*", &[("numeric", "-1.5"), ("numeric", "2.25")], "-3.375"),
    (
        "/",
        &[("numeric", "1"), ("numeric", "3")],
        "0.33333333333333333333",
    ),
    (
        "/",
        &[("numeric", "100000"), ("numeric", "7.0")],
        "14285.714285714286",
    ),
    (
        "/",
        &[("numeric", "1"), ("numeric", "0")],
        "22012 division by zero",
    ),
    ("%", &[("numeric", "-7.5"), ("numeric", "2")], "-1.5"),
    ("%", &[("numeric", "NaN"), ("numeric", "0")], "NaN"),
    (
        "^",
        &[("numeric", "2"), ("numeric", "0.5")],
        "1.4142135623730950",
    ),
    (
        "^",
        &[("numeric", "2"), ("numeric", "-3")],
        "0.1250000000000000",
    ),
    ("-", &[("numeric", "Infinity")], "-Infinity"),
    ("@", &[("numeric", "-2.50")], "2.50"),
    (
        "+",
        &[("numeric(5,2)", "1.50"), ("numeric(3,1)", "2.5")],
        "4.00",
    ),
    (
        "*",
        &[("numeric(15,2)", "12345.67"), ("numeric(15,2)", "-0.05")],
        "-617.2835",
    ),
    ("-", &[("int4", "1"), ("numeric(15,2)", "0.07")], "0.93"),
    (
        "%",
        &[("numeric(5,2)", "-7.50"), ("numeric(20,4)", "2.0001")],
        "-1.4997",
    ),
    (
        "%",
        &[("numeric(5,2)", "7.50"), ("int4", "0")],
        "22012 division by zero",
    ),
    (
        "/",
        &[("numeric(5,2)", "7.50"), ("int4", "3")],
        "2.5000000000000000",
    ),
    ("-", &[("numeric(5,2)", "-999.99")], "999.99"),
    ("@", &[("numeric(5,2)", "-999.99")], "999.99"),
    ("+", &[("int8", "1"), ("numeric", "0.5")], "1.5"),
    (
        "+",
        &[
            ("numeric", "99999999999999999999999999999999999999"),
            ("numeric", "99999999999999999999999999999999999999"),
        ],
        "199999999999999999999999999999999999998",
    ),
];

const CASTS: &[Case] = &[
    ("int2", &[("int4", "32768")], "22003 smallint out of range"),
    (
        "int4",
        &[("int8", "2147483648")],
        "22003 integer out of range",
    ),
    ("int4", &[("numeric", "2.5")], "3"),
    ("int4", &[("numeric", "-2.5")], "-3"),
    ("int4", &[("float8", "2.5")], "2"),
    ("int4", &[("float8", "3.5")], "4"),
    ("int4", &[("float8", "NaN")], "22003 integer out of range"),
    (
        "int8",
        &[("float8", "9223372036854775807")],
        "22003 bigint out of range",
    ),
    (
        "int8",
        &[("numeric", "9223372036854775807.5")],
        "22003 bigint out of range",
    ),
    (
        "int8",
        &[("numeric", "NaN")],
        "0A000 cannot convert NaN to bigint",
    ),
    (
        "int4",
        &[("numeric", "-Infinity")],
        "0A000 cannot convert infinity to integer",
    ),
    (
        "int2",
        &[("float4", "32767.5")],
        "22003 smallint out of range",
    ),
    (
        "float4",
        &[("float8", "1e40")],
        "22003 value out of range: overflow",
    ),
    (
        "float4",
        &[("float8", "1e-50")],
        "22003 value out of range: underflow",
    ),
    (
        "float8",
        &[("numeric", "1e400")],
        "22003 \"10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000\" is out of range for type double precision",
    ),
    ("float4", &[("numeric", "16777217")], "1.6777216e+07"),
    ("numeric", &[("float4", "0.1")], "0.1"),
    (
        "numeric",
        &[("float8", "0.1234567890123456789")],
        "0.123456789012346",
    ),
    ("numeric", &[("float8", "1e22")], "10000000000000000000000"),
    ("numeric(5,2)", &[("numeric", "999.994")], "999.99"),
    (
        "numeric(5,2)",
        &[("numeric", "999.995")],
        "22003 numeric field overflow",
    ),
    (
        "numeric(5,2)",
        &[("numeric", "Infinity")],
        "22003 numeric field overflow",
    ),
    ("numeric(5,2)", &[("float8", "-1.005")], "-1.01"),
    (
        "numeric(5,2)",
        &[("int4", "1000")],
        "22003 numeric field overflow",
    ),
    ("numeric(3,1)", &[("numeric(10,4)", "-12.3500")], "-12.4"),
    (
        "numeric(38,20)",
        &[("numeric(38,0)", "1234567890123456789")],
        "22003 numeric field overflow",
    ),
    ("numeric(38,0)", &[("numeric(38,38)", "0.5")], "1"),
    ("int4", &[("text", " 12 ")], "12"),
    (
        "int4",
        &[("text", "12a")],
        "22P02 invalid input syntax for type integer: \"12a\"",
    ),
    (
        "int4",
        &[("text", "")],
        "22P02 invalid input syntax for type integer: \"\"",
    ),
    (
        "int4",
        &[("text", "2147483648")],
        "22003 value \"2147483648\" is out of range for type integer",
    ),
    (
        "int2",
        &[("text", "99999x")],
        "22003 value \"99999x\" is out of range for type smallint",
    ),
    (
        "int8",
        &[("text", "-9223372036854775808")],
        "-9223372036854775808",
    ),
    (
        "int4",
        &[("text", "1_000")],
        "22P02 invalid input syntax for type integer: \"1_000\"",
    ),
    (
        "float8",
        &[("text", "1e400")],
        "22003 \"1e400\" is out of range for type double precision",
    ),
    ("float8", &[("text", "0x10")], "16"),
    (
        "float8",
        &[("text", "1e")],
        "22P02 invalid input syntax for type double precision: \"1e\"",
    ),
    (
        "float4",
        &[("text", " 1e40 ")],
        "22003 \" 1e40 \" is out of range for type real",
    ),
    ("numeric", &[("text", "1e-3")], "0.001"),
    (
        "numeric",
        &[("text", "1_0")],
        "22P02 invalid input syntax for type numeric: \"1_0\"",
    ),
    (
        "numeric(5,2)",
        &[("text", "1234.5")],
        "22003 numeric field overflow",
    ),
    ("numeric(5,2)", &[("text", "12.345")], "12.35"),
    ("oid", &[("text", "-1")], "4294967295"),
    (
        "oid",
        &[("text", "4294967296")],
        "22003 value \"4294967296\" is out of range for type oid",
    ),
    (
        "oid",
        &[("text", "x")],
        "22P02 invalid input syntax for type oid: \"x\"",
    ),
    ("oid", &[("int2", "-1")], "4294967295"),
    ("oid", &[("int8", "-1")], "22003 OID out of range"),
    ("int4", &[("oid", "4294967295")], "-1"),
    ("int8", &[("oid", "4294967295")], "4294967295"),
    ("int4", &[("bool", "t")], "1"),
    ("bool", &[("int4", "5")], "true"),
    ("text", &[("float8", "1e20")], "1e+20"),
    ("text", &[("float8", "-0")], "-0"),
    ("text", &[("float8", "1e23")], "9.999999999999999e+22"),
    ("text", &[("float8", "0.00001")], "1e-05"),
    ("text", &[("float4", "1e6")], "1e+06"),
    ("text", &[("float4", "123456")], "123456"),
    ("text", &[("numeric", "-0.00")], "0.00"),
    ("text", &[("float8", "-Infinity")], "-Infinity"),
];

#[test]
fn operators() {
    for case in OPERATORS {
        let found = shown(testing::operate(case.0, &arguments(case)));
        assert_eq!(found, case.2, "{case:?}");
    }
}

#[test]
fn casts() {
    for case in CASTS {
        let argument = arguments(case).remove(0);
        let found = shown(testing::cast(argument, &ty(case.0)));
        assert_eq!(found, case.2, "{case:?}");
    }
}

#[test]
fn details_of_fields() {
    let detail = |value, to: &str| {
        let error = testing::cast((Type::Numeric(None), Some(value)), &ty(to)).unwrap_err();
        error.detail.unwrap()
    };
    assert_eq!(
        detail("1234.5", "numeric(5,2)"),
        "A field with precision 5, scale 2 must round to an absolute value less than 10^3."
    );
    assert_eq!(
        detail("1", "numeric(2,2)"),
        "A field with precision 2, scale 2 must round to an absolute value less than 1."
    );
    assert_eq!(
        detail("Infinity", "numeric(5,2)"),
        "A field with precision 5, scale 2 cannot hold an infinite value."
    );
}

#[test]
fn types_of_results() {
    let of = |symbol: &str, operands: &[&str]| {
        let types: Vec<Type> = operands.iter().map(|name| ty(name)).collect();
        resolve_operator(symbol, &types)
            .unwrap()
            .returns
            .to_string()
    };
    assert_eq!(of("+", &["numeric(15,2)", "numeric(5,4)"]), "numeric(18,4)");
    assert_eq!(
        of("*", &["numeric(15,2)", "numeric(15,2)"]),
        "numeric(30,4)"
    );
    assert_eq!(
        of("*", &["numeric(30,2)", "numeric(30,2)"]),
        "numeric(38,4)"
    );
    assert_eq!(of("*", &["numeric(38,20)", "numeric(38,20)"]), "numeric");
    assert_eq!(of("-", &["int4", "numeric(15,2)"]), "numeric(16,2)");
    assert_eq!(of("%", &["numeric(15,2)", "numeric(5,4)"]), "numeric(5,4)");
    assert_eq!(of("/", &["numeric(15,2)", "numeric(5,4)"]), "numeric");
    assert_eq!(of("-", &["numeric(15,2)"]), "numeric(15,2)");
}

fn computed(
    symbol: &str,
    types: &[Type],
    columns: &[Column],
    rows: usize,
) -> crate::Result<ArrayRef> {
    let found = resolve_operator(symbol, types).unwrap();
    let call = Call {
        rows,
        types: &found.parameters,
        returns: &found.returns,
        session: &Session::default(),
    };
    (found.function.kernel)(&call, columns)
}

#[test]
fn columns_with_nulls_and_constants() {
    let many: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(i32::MAX)]));
    let one: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let none: ArrayRef = Arc::new(Int32Array::from(vec![None]));
    let types = [Type::Int4, Type::Int4];
    let rows = Column::rows(Arc::clone(&many));
    let less = computed(
        "-",
        &types,
        &[rows.clone(), Column::constant(Arc::clone(&one))],
        3,
    );
    let less = less.unwrap();
    let less: Vec<_> = less.as_primitive::<Int32Type>().iter().collect();
    assert_eq!(less, [Some(0), None, Some(i32::MAX - 1)]);
    let more = computed(
        "+",
        &types,
        &[Column::constant(Arc::clone(&one)), rows.clone()],
        3,
    );
    assert_eq!(more.unwrap_err().sqlstate, "22003");
    // A NULL in the place of what would overflow is NULL.
    let valid = arrow_buffer::NullBuffer::from(vec![true, false]);
    let hidden = Int32Array::new(vec![5, i32::MAX].into(), Some(valid));
    let hidden = Column::rows(Arc::new(hidden) as ArrayRef);
    let sum = computed(
        "+",
        &types,
        &[hidden, Column::constant(Arc::clone(&one))],
        2,
    )
    .unwrap();
    assert_eq!(sum.as_primitive::<Int32Type>().value(0), 6);
    assert!(sum.is_null(1));
    let null = computed("*", &types, &[rows, Column::constant(none)], 3).unwrap();
    assert_eq!((null.len(), null.null_count()), (3, 3));
    let both = [Column::constant(Arc::clone(&one)), Column::constant(one)];
    let same = computed("+", &types, &both, 4).unwrap();
    assert_eq!(same.as_primitive::<Int32Type>().values(), &[2, 2, 2, 2]);
    assert_eq!(computed("+", &types, &both, 0).unwrap().len(), 0);
}

#[test]
fn columns_of_one_scale() {
    let column = |values: Vec<i128>, precision, scale| {
        let array = Decimal128Array::from(values);
        let array = array.with_precision_and_scale(precision, scale).unwrap();
        Column::rows(Arc::new(array) as ArrayRef)
    };
    let types = [ty("numeric(5,2)"), ty("numeric(4,1)")];
    let columns = [
        column(vec![150, -99999], 5, 2),
        column(vec![25, 9999], 4, 1),
    ];
    let results = |symbol| {
        let result = computed(symbol, &types, &columns, 2).unwrap();
        result.as_primitive::<Decimal128Type>().values().to_vec()
    };
    assert_eq!(results("+"), [400, -9]);
    assert_eq!(results("-"), [-100, -199_989]);
    assert_eq!(results("*"), [3750, -999_890_001]);
    assert_eq!(results("%"), [150, -9]);
    // An argument may have another form than its type says.
    let other = [column(vec![1500], 7, 3), column(vec![25], 4, 1)];
    let sum = computed("+", &types, &other, 1).unwrap();
    assert_eq!(sum.as_primitive::<Decimal128Type>().values(), &[400]);
    let large = "9".repeat(38).parse::<i128>().unwrap();
    let types = [ty("numeric(38,0)"), ty("numeric(38,0)")];
    let columns = [column(vec![large], 38, 0), column(vec![large], 38, 0)];
    for symbol in ["+", "*"] {
        let error = computed(symbol, &types, &columns, 1).unwrap_err();
        assert_eq!(
            (error.sqlstate, error.message.as_str()),
            ("22003", "numeric field overflow")
        );
    }
}
