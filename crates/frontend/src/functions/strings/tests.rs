//! Results of string functions as PostgreSQL gives them.

use super::super::testing::{call, operate};
use crate::types::Type;

/// A call written with its arguments: numbers are INTEGER, `NULL` is a text.
fn arguments<'a>(texts: &[&'a str]) -> Vec<(Type, Option<&'a str>)> {
    let of = |text: &&'a str| match text.parse::<i32>() {
        Ok(_) => (Type::Int4, Some(*text)),
        Err(_) if *text == "NULL" => (Type::Text, None),
        Err(_) => (Type::Text, Some(*text)),
    };
    texts.iter().map(of).collect()
}

#[test]
fn texts_give_texts() {
    for (name, texts, wanted) in [
        ("lower", &["ÄBC"][..], "äbc"),
        ("upper", &["äßc"], "ÄßC"),
        ("initcap", &["hELLO ab'c d_e"], "Hello Ab'C D_E"),
        ("reverse", &["äbc"], "cbä"),
        ("md5", &["abc"], "900150983cd24fb0d6963f7d28e17f72"),
        ("replace", &["aaa", "aa", "b"], "ba"),
        ("replace", &["aaa", "", "b"], "aaa"),
        ("translate", &["abcde", "adc", "xy"], "xbye"),
        ("btrim", &["  x y "], "x y"),
        ("btrim", &["xyxtrimyyx", "xyz"], "trim"),
        ("ltrim", &["zzzytest", "xyz"], "test"),
        ("rtrim", &["testxxzx", "xyz"], "test"),
        ("rtrim", &["abc", ""], "abc"),
        ("unistr", &["\\d83d\\de00"], "😀"),
        ("normalize", &["a\u{308}", "NFC"], "ä"),
        ("strip_accents", &["mühleisen"], "muhleisen"),
        ("quote_ident", &["Abc"], "\"Abc\""),
        ("quote_ident", &["select"], "\"select\""),
        ("quote_ident", &["name"], "name"),
        ("quote_ident", &["a\"b"], "\"a\"\"b\""),
        ("quote_ident", &[""], "\"\""),
        ("quote_literal", &["a\\b'"], "E'a\\\\b'''"),
        ("quote_nullable", &["NULL"], "NULL"),
    ] {
        assert_eq!(
            call(name, &arguments(texts)),
            Ok(Some(wanted.to_owned())),
            "{name}{texts:?}"
        );
    }
}

#[test]
fn null_of_an_argument_is_null() {
    for (name, texts) in [("lower", &["NULL"][..]), ("replace", &["a", "NULL", "b"])] {
        assert_eq!(call(name, &arguments(texts)), Ok(None));
    }
}

#[test]
fn texts_are_joined() {
    let text = |text| (Type::Text, Some(text));
    let all = [
        text("a"),
        (Type::Bool, Some("true")),
        (Type::Text, None),
        text("b"),
    ];
    assert_eq!(call("concat", &all), Ok(Some("atb".to_owned())));
    assert_eq!(call("concat_ws", &all), Ok(Some("tab".to_owned())));
    assert_eq!(
        call("concat_ws", &[(Type::Text, None), text("a")]),
        Ok(None)
    );
    let char = (Type::Char(Some(3)), Some("x"));
    assert_eq!(
        call("concat", &[char.clone(), text("y")]),
        Ok(Some("x  y".to_owned()))
    );
    assert_eq!(operate("||", &[char, text("y")]), Ok(Some("xy".to_owned())));
    assert_eq!(
        operate("||", &[(Type::Bool, Some("t")), text("y")]),
        Ok(Some("truey".to_owned()))
    );
    assert_eq!(operate("||", &[(Type::Text, None), text("y")]), Ok(None));
}

#[test]
fn escapes_and_names_that_are_wrong() {
    for (name, text, sqlstate, message) in [
        (
            "unistr",
            "\\d83d",
            "42601",
            "invalid Unicode surrogate pair",
        ),
        (
            "unistr",
            "\\de00",
            "42601",
            "invalid Unicode surrogate pair",
        ),
        ("unistr", "\\00", "42601", "invalid Unicode escape"),
        ("unistr", "\\000ä", "42601", "invalid Unicode escape"),
        (
            "unistr",
            "\\U00110000",
            "22023",
            "invalid Unicode code point: 110000",
        ),
        (
            "unistr",
            "\\0000",
            "22023",
            "invalid Unicode code point: 0000",
        ),
    ] {
        let error = call(name, &[(Type::Text, Some(text))]).unwrap_err();
        assert_eq!(
            (error.sqlstate, error.message.as_str()),
            (sqlstate, message),
            "{text}"
        );
    }
    let parse = |text: &str| super::quote::parts_of(text);
    assert_eq!(parse(" a . \"B\"\"c\" "), Ok("a|B\"c".to_owned()));
    for (text, detail) in [
        ("a.b[1]", None),
        ("", None),
        ("1a", None),
        ("a..b", Some("No valid identifier before \".\".")),
        ("a.", Some("No valid identifier after \".\".")),
        ("a.\"b", Some("String has unclosed double quotes.")),
        ("\"\"", Some("Quoted identifier must not be empty.")),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.sqlstate, "22023");
        assert_eq!(error.detail.as_deref(), detail, "{text}");
    }
}

#[test]
fn substrings_by_place() {
    for (from, length, wanted) in [
        (2, None, "bcd"),
        (0, None, "abcd"),
        (-5, None, "abcd"),
        (5, None, ""),
        (2, Some(2), "bc"),
        (0, Some(2), "a"),
        (-1, Some(2), ""),
        (-1, Some(3), "a"),
        (i32::MIN, Some(i32::MAX), ""),
        (2, Some(i32::MAX), "bcd"),
        (i32::MAX, Some(i32::MAX), ""),
    ] {
        assert_eq!(
            super::part("abcd", from, length).unwrap(),
            wanted,
            "{from} {length:?}"
        );
    }
    let error = super::part("abcd", 1, Some(-1)).unwrap_err();
    assert_eq!(error.sqlstate, "22011");
    let overlaid = super::overlay("Txxxxas", "hom", 2, 4).unwrap();
    assert_eq!(overlaid, "Thomas");
    assert_eq!(
        super::overlay("Txxxxas", "hom", 0, 4).unwrap_err().sqlstate,
        "22011"
    );
    assert_eq!(
        super::overlay("T", "hom", i32::MAX, 4)
            .unwrap_err()
            .sqlstate,
        "22003"
    );
    assert_eq!(
        super::overlay("Txxxxas", "hom", 2, -1).unwrap(),
        "ThomTxxxxas"
    );
}

#[test]
fn lengths_that_are_too_large() {
    assert_eq!(
        super::repeat("ab", 1_000_000_000).unwrap_err().sqlstate,
        "54000"
    );
    assert_eq!(
        super::pad("a", 1_000_000_000, " ", true)
            .unwrap_err()
            .sqlstate,
        "54000"
    );
    assert_eq!(super::repeat("ab", -1).unwrap(), "");
    assert_eq!(super::pad("abc", -1, " ", true).unwrap(), "");
    assert_eq!(super::pad("äbc", 2, "xy", true).unwrap(), "äb");
    assert_eq!(super::pad("äbc", 6, "xy", true).unwrap(), "xyxäbc");
    assert_eq!(super::pad("äbc", 6, "xy", false).unwrap(), "äbcxyx");
    assert_eq!(super::pad("äbc", 6, "", false).unwrap(), "äbc");
}

#[test]
fn codes_of_characters() {
    for (code, sqlstate) in [
        (0, "54000"),
        (-1, "22023"),
        (0xd800, "54000"),
        (0x11_0000, "54000"),
    ] {
        assert_eq!(super::chr(code).unwrap_err().sqlstate, sqlstate);
    }
    assert_eq!(super::chr(0x1f600).unwrap(), "😀");
}

#[test]
fn fields_of_both_directions() {
    for (text, separator, field, wanted) in [
        ("abc~@~def~@~ghi", "~@~", 2, "def"),
        ("a,b,c", ",", -2, "b"),
        ("a,b,c", ",", 4, ""),
        ("a,b,c", ",", -4, ""),
        ("a,b,c", ",", i32::MIN, ""),
        ("abc", "", 1, "abc"),
        ("abc", "", -1, "abc"),
        ("abc", "", 2, ""),
        ("aaa", "aa", -1, "a"),
        ("", ",", 1, ""),
    ] {
        assert_eq!(
            super::split_part(text, separator, field).unwrap(),
            wanted,
            "{text} {field}"
        );
    }
    assert_eq!(
        super::split_part("a", ",", 0).unwrap_err().sqlstate,
        "22023"
    );
}

#[test]
fn rows_are_joined_with_constants() {
    use super::super::kernel::{Call, Column};
    use super::super::{Session, catalogue, resolve_function};
    use arrow_array::cast::AsArray;
    use arrow_array::{ArrayRef, StringViewArray};
    use std::sync::Arc;

    let column = |texts: Vec<Option<&str>>| -> ArrayRef { Arc::new(StringViewArray::from(texts)) };
    let session = Session::default();
    let separator = Column::constant(column(vec![Some("-")]));
    let rows = Column::rows(column(vec![Some("a"), None]));
    for (name, wanted) in [("concat", ["-a-", "--"]), ("concat_ws", ["a--", "-"])] {
        let types = [Type::Text, Type::Text, Type::Text];
        let found = resolve_function(catalogue().functions(name), &types).unwrap();
        let call = Call {
            rows: 2,
            types: &found.parameters,
            returns: &found.returns,
            session: &session,
        };
        let columns = [separator.clone(), rows.clone(), separator.clone()];
        let result = (found.function.kernel)(&call, &columns).unwrap();
        let result: Vec<_> = result.as_string_view().iter().flatten().collect();
        assert_eq!(result, wanted, "{name}");
    }
}
