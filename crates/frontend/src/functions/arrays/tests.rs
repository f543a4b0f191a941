//! Results as PostgreSQL 15 gives them, and DuckDB for the functions that only it has.

use crate::functions::testing::{Argument, call, cast, operate};
use crate::functions::{Context, arrays, cast_between, resolve_operator, scalar, testing};
use crate::types::Type::{self, Bool, Char, Float8, Int4, Int8, Interval, Jsonb, Text, Unknown};

fn show(result: crate::Result<Option<String>>) -> String {
    match result {
        Ok(Some(text)) => text,
        Ok(None) => "NULL".to_owned(),
        Err(error) => format!("{} {}", error.sqlstate, error.message),
    }
}

fn ints(text: &str) -> Argument<'_> {
    (Int4.array(), Some(text))
}

fn grid(text: &str) -> Argument<'_> {
    (Int4.array(), Some(text))
}

fn texts(text: &str) -> Argument<'_> {
    (Text.array(), Some(text))
}

fn int(text: &str) -> Argument<'_> {
    (Int4, Some(text))
}

fn text(text: &str) -> Argument<'_> {
    (Text, Some(text))
}

const NO_INT: Argument<'static> = (Int4, None);

fn no_ints() -> Argument<'static> {
    (Int4.array(), None)
}

fn check(cases: &[(&str, Vec<Argument<'_>>, &str)], f: fn(&str, &[Argument<'_>]) -> String) {
    for (name, arguments, expected) in cases {
        assert_eq!(f(name, arguments), *expected, "{name} {arguments:?}");
    }
}

fn called(name: &str, arguments: &[Argument<'_>]) -> String {
    show(call(name, arguments))
}

fn operated(symbol: &str, operands: &[Argument<'_>]) -> String {
    show(operate(symbol, operands))
}

#[test]
fn texts_are_read_and_written_by_the_elements() {
    let cases = [
        (Int4.array(), "{1, 2,NULL}", "{1,2,NULL}"),
        (
            Int4.array(),
            "{1,x}",
            "22P02 invalid input syntax for type integer: \"x\"",
        ),
        (
            Int4.array(),
            "{1,",
            "22P02 malformed array literal: \"{1,\"",
        ),
        (
            Int4.array(),
            " [1:2]={,",
            "22P02 malformed array literal: \"{,\"",
        ),
        (Bool.array(), "{true,no,NULL}", "{t,f,NULL}"),
        (Char(Some(3)).array(), "{a,abcd}", "{\"a  \",abc}"),
        (Int4.array(), "{{1,2},{3,NULL}}", "{{1,2},{3,NULL}}"),
        (Int4.array(), "{}", "{}"),
        (Int4.array(), "[0:1]={1,2}", "[0:1]={1,2}"),
        (Int4.array(), "[1:1][-2:-1]={{1,2}}", "[1:1][-2:-1]={{1,2}}"),
        (Int4.array(), "[1:2]={1,2}", "{1,2}"),
        (Interval.array(), "{1 day 1 hour}", "{\"1 day 01:00:00\"}"),
        (Type::numeric(5, 2).array(), "{1.005,-2}", "{1.01,-2.00}"),
    ];
    for (ty, text, expected) in cases {
        let shown = show(cast((ty.clone(), Some(text)), &Text));
        assert_eq!(shown, expected, "{text} as {ty}");
    }
}

#[test]
fn arrays_are_cast_by_their_elements() {
    let to = |from: Argument<'_>, to: Type| show(cast(from, &to));
    assert_eq!(to(ints("{1,NULL}"), Int8.array()), "{1,NULL}");
    assert_eq!(
        to((Float8.array(), Some("{1.5,-0.5}")), Int4.array()),
        "{2,0}"
    );
    assert_eq!(to(grid("{{1},{2}}"), Text.array()), "{{1},{2}}");
    let exact = (Type::numeric(5, 2).array(), Some("{1.5,NULL}"));
    assert_eq!(to(exact, Type::Numeric(None).array()), "{1.50,NULL}");
    let context = |from: &Type, to: &Type| cast_between(from, to).map(|cast| cast.context);
    assert_eq!(
        context(&Int4.array(), &Int8.array()),
        Some(Context::Implicit)
    );
    assert_eq!(
        context(&Int8.array(), &Int4.array()),
        Some(Context::Assignment)
    );
    assert_eq!(context(&Text, &Int4.array()), Some(Context::Explicit));
    assert_eq!(context(&Int4.array(), &Text), Some(Context::Assignment));
    assert_eq!(context(&Int4.array(), &Bool), None);
}

#[test]
fn elements_and_slices() {
    check(
        &[
            ("array_subscript", vec![ints("{7,8}"), int("2")], "8"),
            ("array_subscript", vec![ints("{7,8}"), int("0")], "NULL"),
            ("array_subscript", vec![ints("{7,8}"), int("3")], "NULL"),
            (
                "array_subscript",
                vec![ints("{7,8}"), int("-2147483648")],
                "NULL",
            ),
            ("array_subscript", vec![ints("{7,8}"), NO_INT], "NULL"),
            (
                "array_subscript",
                vec![grid("{{1,2},{3,4}}"), int("2")],
                "NULL",
            ),
            (
                "array_subscript",
                vec![grid("{{1,2},{3,4}}"), int("2"), int("1")],
                "3",
            ),
            (
                "array_subscript",
                vec![ints("{7,8}"), int("1"), int("1")],
                "NULL",
            ),
            ("array_subscript", vec![ints("[0:1]={7,8}"), int("0")], "7"),
            (
                "array_slice",
                vec![ints("[0:2]={7,8,9}"), int("1"), int("5")],
                "{8,9}",
            ),
            (
                "array_slice",
                vec![ints("{1,2,3}"), int("0"), int("2")],
                "{1,2}",
            ),
            (
                "array_slice",
                vec![ints("{1,2,3}"), int("2"), int("1")],
                "{}",
            ),
            (
                "array_slice",
                vec![ints("{1,2,3}"), NO_INT, int("2")],
                "NULL",
            ),
            (
                "array_slice",
                vec![ints("{1,2}"), int("1"), int("1"), int("1"), int("1")],
                "{}",
            ),
            (
                "array_slice",
                vec![grid("{{1,2,3},{4,5,6}}"), int("2"), int("2")],
                "{{4,5,6}}",
            ),
            (
                "array_slice",
                vec![
                    grid("{{1,2,3},{4,5,6}}"),
                    int("-2147483648"),
                    int("2147483647"),
                    int("2"),
                    int("2147483647"),
                ],
                "{{2,3},{5,6}}",
            ),
        ],
        called,
    );
}

#[test]
fn concatenation() {
    let apart = "2202E cannot concatenate incompatible arrays";
    check(
        &[
            ("||", vec![ints("{1}"), ints("{2,NULL}")], "{1,2,NULL}"),
            ("||", vec![ints("{1}"), no_ints()], "{1}"),
            ("||", vec![no_ints(), no_ints()], "NULL"),
            ("||", vec![ints("{1}"), int("2")], "{1,2}"),
            ("||", vec![int("2"), ints("{1}")], "{2,1}"),
            ("||", vec![ints("{1}"), NO_INT], "{1,NULL}"),
            ("||", vec![no_ints(), int("1")], "{1}"),
            (
                "||",
                vec![ints("{1}"), (Int8, Some("5000000000"))],
                "{1,5000000000}",
            ),
            ("||", vec![ints("{1}"), (Unknown, Some("{3}"))], "{1,3}"),
            ("||", vec![grid("{{1,2}}"), ints("{5,6}")], "{{1,2},{5,6}}"),
            ("||", vec![ints("{5,6}"), grid("{{1,2}}")], "{{5,6},{1,2}}"),
            ("||", vec![grid("{{1,2}}"), ints("{5}")], apart),
            ("||", vec![grid("{{1,2}}"), grid("{{3}}")], apart),
            ("||", vec![grid("{{{1,2}}}"), ints("{3,4}")], apart),
            (
                "||",
                vec![ints("[0:1]={1,2}"), ints("{3}")],
                "[0:2]={1,2,3}",
            ),
            ("||", vec![ints("[0:1]={1,2}"), int("3")], "[0:2]={1,2,3}"),
            ("||", vec![int("3"), ints("[0:1]={1,2}")], "[0:2]={3,1,2}"),
            (
                "||",
                vec![grid("{{1,2}}"), int("3")],
                "22000 argument must be empty or one-dimensional array",
            ),
            ("||", vec![grid("{{1,2}}"), no_ints()], "{{1,2}}"),
            ("||", vec![grid("{{1,2}}"), ints("{}")], "{{1,2}}"),
        ],
        operated,
    );
}

#[test]
fn comparisons() {
    let floats = |text| (Float8.array(), Some(text));
    check(
        &[
            ("=", vec![ints("{1,NULL}"), ints("{1,NULL}")], "true"),
            ("=", vec![ints("{1}"), no_ints()], "NULL"),
            ("=", vec![ints("{1}"), ints("[0:0]={1}")], "false"),
            ("<", vec![ints("[0:0]={1}"), ints("{1}")], "true"),
            ("<", vec![ints("{1,2}"), grid("{{1},{2}}")], "true"),
            ("<", vec![ints("{1,2}"), ints("{1,NULL}")], "true"),
            ("<", vec![ints("{}"), ints("{NULL}")], "true"),
            ("<", vec![grid("{{1,2},{3,4}}"), grid("{{1,2,3}}")], "false"),
            (">", vec![grid("{{1},{2}}"), grid("{{1,2}}")], "true"),
            ("=", vec![floats("{-0,NaN}"), floats("{0,NaN}")], "true"),
            (">=", vec![floats("{NaN}"), floats("{Infinity}")], "true"),
            (
                "=",
                vec![
                    (Interval.array(), Some("{1 mon}")),
                    (Interval.array(), Some("{30 days}")),
                ],
                "true",
            ),
            (
                "=",
                vec![
                    (Type::numeric(5, 2).array(), Some("{1.50}")),
                    (Type::Numeric(None).array(), Some("{1.5}")),
                ],
                "true",
            ),
            (
                "<",
                vec![
                    (Jsonb.array(), Some("{\"[]\"}")),
                    (Jsonb.array(), Some("{null}")),
                ],
                "true",
            ),
            (
                "<",
                vec![
                    (Type::Json.array(), Some("{1}")),
                    (Type::Json.array(), Some("{1}")),
                ],
                "42883 could not identify a comparison function for type json",
            ),
            ("@>", vec![ints("{1,2,NULL}"), ints("{2,2}")], "true"),
            ("@>", vec![ints("{1,NULL}"), ints("{NULL}")], "false"),
            ("<@", vec![ints("{}"), ints("{NULL}")], "true"),
            ("<@", vec![grid("{{1},{2}}"), grid("{{2,1}}")], "true"),
            ("&&", vec![ints("{NULL}"), ints("{NULL}")], "false"),
            ("&&", vec![texts("{a,é}"), texts("{é}")], "true"),
        ],
        operated,
    );
}

#[test]
fn dimensions_and_searches() {
    let many = "0A000 searching for elements in multidimensional arrays is not supported";
    check(
        &[
            ("array_dims", vec![grid("{{1,2,3}}")], "[1:1][1:3]"),
            ("array_dims", vec![ints("{}")], "NULL"),
            ("array_ndims", vec![grid("{{1}}")], "2"),
            ("array_ndims", vec![ints("{}")], "NULL"),
            ("array_length", vec![grid("{{1,2}}"), int("2")], "2"),
            ("array_length", vec![ints("{1}"), int("2")], "NULL"),
            ("array_length", vec![ints("{}"), int("1")], "NULL"),
            ("array_upper", vec![ints("{1,2}"), int("1")], "2"),
            ("array_lower", vec![ints("{1,2}"), int("1")], "1"),
            ("array_lower", vec![ints("{1,2}"), int("-1")], "NULL"),
            ("cardinality", vec![grid("{{1,2},{3,4}}")], "4"),
            ("cardinality", vec![ints("{}")], "0"),
            ("array_position", vec![ints("{1,2,NULL}"), NO_INT], "3"),
            (
                "array_position",
                vec![ints("{1,2,1}"), int("1"), int("2")],
                "3",
            ),
            (
                "array_position",
                vec![ints("{1}"), int("1"), int("-5")],
                "1",
            ),
            ("array_position", vec![ints("{1}"), int("2")], "NULL"),
            (
                "array_position",
                vec![ints("{1}"), int("1"), NO_INT],
                "22004 initial position must not be null",
            ),
            ("array_position", vec![ints("{}"), int("1"), NO_INT], "NULL"),
            ("array_position", vec![grid("{{1}}"), int("1")], many),
            ("array_position", vec![ints("[0:1]={5,6}"), int("6")], "1"),
            ("array_lower", vec![ints("[-1:1]={1,2,3}"), int("1")], "-1"),
            ("array_upper", vec![ints("[-1:1]={1,2,3}"), int("1")], "1"),
            ("array_dims", vec![ints("[-1:1]={1,2,3}")], "[-1:1]"),
            (
                "array_positions",
                vec![ints("{1,NULL,1}"), int("1")],
                "{1,3}",
            ),
            ("array_positions", vec![ints("{1}"), NO_INT], "{}"),
            ("array_positions", vec![no_ints(), int("1")], "NULL"),
        ],
        called,
    );
}

#[test]
fn changes() {
    let trim = "2202E number of elements to trim must be between 0 and 2";
    let full = "54000 array size exceeds the maximum allowed (134217727)";
    check(
        &[
            ("array_append", vec![ints("{1}"), int("2")], "{1,2}"),
            ("array_append", vec![no_ints(), NO_INT], "{NULL}"),
            ("array_prepend", vec![int("2"), ints("{1}")], "{2,1}"),
            ("array_cat", vec![ints("{1}"), ints("{}")], "{1}"),
            (
                "array_remove",
                vec![ints("{1,2,NULL,1}"), int("1")],
                "{2,NULL}",
            ),
            ("array_remove", vec![ints("{1,NULL}"), NO_INT], "{1}"),
            ("array_remove", vec![no_ints(), int("1")], "NULL"),
            (
                "array_replace",
                vec![ints("{1,2}"), int("1"), NO_INT],
                "{NULL,2}",
            ),
            (
                "array_replace",
                vec![grid("{{1,NULL}}"), NO_INT, int("4")],
                "{{1,4}}",
            ),
            ("trim_array", vec![ints("{1,2}"), int("2")], "{}"),
            ("trim_array", vec![ints("[0:2]={1,2,3}"), int("1")], "{1,2}"),
            (
                "trim_array",
                vec![grid("{{1,2},{3,4}}"), int("1")],
                "{{1,2}}",
            ),
            ("trim_array", vec![ints("{1,2}"), int("3")], trim),
            ("trim_array", vec![ints("{1,2}"), int("-1")], trim),
            ("array_fill", vec![int("7"), ints("{3}")], "{7,7,7}"),
            ("array_fill", vec![NO_INT, ints("{2}")], "{NULL,NULL}"),
            ("array_fill", vec![int("7"), ints("{0}")], "{}"),
            ("array_fill", vec![int("7"), ints("{2,1}")], "{{7},{7}}"),
            (
                "array_fill",
                vec![int("7"), ints("{1,2}"), ints("{1,0}")],
                "[1:1][0:1]={{7,7}}",
            ),
            ("array_fill", vec![int("7"), ints("{}")], "{}"),
            ("array_fill", vec![int("7"), ints("{-1}")], full),
            ("array_fill", vec![int("7"), ints("{134217728}")], full),
            (
                "array_fill",
                vec![int("7"), no_ints()],
                "22004 dimension array or low bound array cannot be null",
            ),
            (
                "array_fill",
                vec![int("7"), ints("{NULL}")],
                "22004 dimension values cannot be null",
            ),
            (
                "array_to_string",
                vec![grid("{{1,2},{3,NULL}}"), text(",")],
                "1,2,3",
            ),
            (
                "array_to_string",
                vec![ints("{1,NULL}"), text(", "), text("*")],
                "1, *",
            ),
            (
                "array_to_string",
                vec![ints("{1,NULL}"), text(","), (Text, None)],
                "1",
            ),
            ("array_to_string", vec![ints("{1}"), (Text, None)], "NULL"),
            (
                "array_to_string",
                vec![(Bool.array(), Some("{true}")), text(",")],
                "t",
            ),
            ("array_to_string", vec![ints("{}"), text(",")], ""),
        ],
        called,
    );
}

#[test]
fn constructors_want_equal_dimensions() {
    let apart =
        "2202E multidimensional arrays must have array expressions with matching dimensions";
    check(
        &[
            ("list_value", vec![int("1"), NO_INT], "{1,NULL}"),
            ("list_value", vec![int("1"), (Int8, Some("2"))], "{1,2}"),
            ("list_value", vec![ints("{1}"), ints("{2}")], "{{1},{2}}"),
            ("list_value", vec![ints("{1}"), ints("{2,3}")], apart),
            ("list_value", vec![ints("{1}"), no_ints()], apart),
            (
                "list_value",
                vec![grid("{{1}}"), grid("{{2}}")],
                "{{{1}},{{2}}}",
            ),
            ("list_value", vec![ints("{}"), no_ints()], "{}"),
        ],
        called,
    );
}

#[test]
fn any_and_all_know_null() {
    let cases = [
        (true, "=", int("1"), ints("{1,NULL}"), "true"),
        (true, "=", int("2"), ints("{1,NULL}"), "NULL"),
        (true, "=", int("2"), ints("{}"), "false"),
        (true, "=", NO_INT, ints("{}"), "false"),
        (true, "=", NO_INT, ints("{1}"), "NULL"),
        (true, "=", int("1"), no_ints(), "NULL"),
        (false, "<>", int("3"), ints("{1,2}"), "true"),
        (false, "<>", int("1"), ints("{1,NULL}"), "false"),
        (false, "<>", int("3"), ints("{1,NULL}"), "NULL"),
        (false, "<", NO_INT, ints("{}"), "true"),
        (true, "=", int("4"), grid("{{1,2},{3,4}}"), "true"),
    ];
    for (any, symbol, left, right, expected) in cases {
        let found = resolve_operator(symbol, &[Int4, Int4]).expect("an operator of integers");
        let kernel = arrays::any_all(&found.function, any);
        let types = [left.0.clone(), right.0.clone()];
        let function = scalar("any", &types, Bool, kernel).with_nulls();
        let shown = show(testing::apply(
            &function,
            &Bool,
            &[left.clone(), right.clone()],
        ));
        assert_eq!(shown, expected, "{left:?} {symbol} {any} {right:?}");
    }
}

#[test]
fn friendly_functions() {
    let long = |text| (Int8, Some(text));
    check(
        &[
            ("list_contains", vec![ints("{1,NULL}"), int("1")], "true"),
            ("list_contains", vec![ints("{1,NULL}"), int("2")], "false"),
            ("list_sort", vec![ints("{3,NULL,1}")], "{1,3,NULL}"),
            (
                "list_sort",
                vec![ints("{3,NULL,1}"), text("desc")],
                "{NULL,3,1}",
            ),
            (
                "list_sort",
                vec![ints("{3,NULL,1}"), text("DESC"), text("NULLS LAST")],
                "{3,1,NULL}",
            ),
            (
                "array_sort",
                vec![ints("{3,NULL,1}"), (Bool, Some("true"))],
                "{NULL,3,1}",
            ),
            ("list_reverse_sort", vec![ints("{3,5,1}")], "{5,3,1}"),
            ("array_reverse", vec![ints("{3,NULL,1}")], "{1,NULL,3}"),
            ("list_distinct", vec![ints("{2,1,NULL,2}")], "{2,1}"),
            ("list_unique", vec![ints("{2,1,NULL,2}")], "2"),
            (
                "list_intersect",
                vec![ints("{3,1,1,2}"), ints("{1,3,NULL}")],
                "{3,1}",
            ),
            ("len", vec![ints("{1,NULL}")], "2"),
            ("list_extract", vec![ints("{1,2,3}"), long("-1")], "3"),
            ("list_extract", vec![ints("{1,2,3}"), long("4")], "NULL"),
            (
                "list_slice",
                vec![ints("{1,2,3}"), long("-2"), long("-1")],
                "{2,3}",
            ),
            (
                "list_slice",
                vec![ints("{1,2,3}"), (Int8, None), long("2")],
                "{1,2}",
            ),
            ("flatten", vec![grid("{{1,2},{3,NULL}}")], "{1,2,3,NULL}"),
            ("list_min", vec![ints("{3,NULL,1}")], "1"),
            ("list_max", vec![texts("{a,é,b}")], "é"),
            ("list_max", vec![ints("{}")], "NULL"),
            ("array_has_any", vec![ints("{1,2}"), ints("{2}")], "true"),
            ("array_has_all", vec![ints("{1,2}"), ints("{2,3}")], "false"),
        ],
        called,
    );
}

#[test]
fn samples_have_the_size_asked_for() {
    let sizes = |count| called("array_sample", &[ints("{1,2,3}"), int(count)]);
    assert_eq!(sizes("0"), "{}");
    assert_eq!(sizes("1").len(), 3);
    assert_eq!(sizes("4"), "22023 sample size must be between 0 and 3");
    let shuffled = called("array_shuffle", &[ints("{1,2,3}")]);
    let mut digits: Vec<char> = shuffled.chars().filter(char::is_ascii_digit).collect();
    digits.sort_unstable();
    assert_eq!(digits, ['1', '2', '3']);
}
