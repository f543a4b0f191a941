//! Matches as PostgreSQL gives them.

use super::super::testing::{call, operate};
use super::regexp::replace;
use crate::types::Type;

fn texts<'a>(texts: &[&'a str]) -> Vec<(Type, Option<&'a str>)> {
    texts.iter().map(|text| (Type::Text, Some(*text))).collect()
}

#[test]
fn like_and_its_relatives() {
    for (text, symbol, pattern, wanted) in [
        ("abc", "~~", "abc", true),
        ("abc", "~~", "a%", true),
        ("abc", "~~", "%c", true),
        ("abc", "~~", "%b%", true),
        ("abc", "~~", "_b_", true),
        ("abc", "~~", "c", false),
        ("äöü", "~~", "___", true),
        ("äöü", "~~", "_%ü", true),
        ("aab", "~~", "a%ab", true),
        ("abcabc", "~~", "%b_%c", true),
        ("abab", "~~", "%ab_", false),
        ("", "~~", "%", true),
        ("", "~~", "", true),
        ("", "~~", "_", false),
        ("", "~~", "\\", false),
        ("b", "~~", "a\\", false),
        ("a", "~~", "a\\", false),
        ("a%c", "~~", "a\\%c", true),
        ("abc", "~~", "a\\%c", false),
        ("ab", "~~", "a\\b", true),
        ("ÄB", "~~*", "äb", true),
        ("ÄB", "!~~*", "ä%", false),
        ("abc", "!~~", "b", true),
        ("abc", "~", "b", true),
        ("abc", "~", "^b", false),
        ("ABC", "~*", "b", true),
        ("abc", "!~", "b", false),
        ("ABC", "!~*", "x", true),
    ] {
        let found = operate(symbol, &texts(&[text, pattern]));
        assert_eq!(
            found,
            Ok(Some(wanted.to_string())),
            "{text} {symbol} {pattern}"
        );
    }
    for (text, pattern) in [("a", "\\"), ("ab", "a\\"), ("ab", "a%\\"), ("ab", "_\\")] {
        let error = operate("~~", &texts(&[text, pattern])).unwrap_err();
        assert_eq!(error.sqlstate, "22025");
        assert_eq!(
            error.message,
            "LIKE pattern must not end with escape character"
        );
    }
    let char = [(Type::Char(Some(3)), Some("a")), (Type::Text, Some("a"))];
    assert_eq!(operate("~~", &char), Ok(Some("false".to_owned())));
    assert_eq!(operate("~", &char), Ok(Some("true".to_owned())));
}

#[test]
fn functions_of_texts() {
    for (name, arguments, wanted) in [
        ("like_escape", &["a#%\\", "#"][..], Some("a\\%\\\\")),
        ("like_escape", &["a\\b", ""], Some("a\\\\b")),
        ("like_escape", &["a##b", "#"], Some("a\\#b")),
        ("like_escape", &["aäb", "ä"], Some("a\\b")),
        (
            "similar_to_escape",
            &["a%b_c|d(e)[f%_]*+?{2}.^$\\%"],
            Some("^(?:a.*b.c|d(?:e)[f%_]*+?{2}\\.\\^\\$\\%)$"),
        ),
        (
            "similar_to_escape",
            &["%#\"b_#\"%", "#"],
            Some("^(?:.*){1,1}?(b.){1,1}(?:.*)$"),
        ),
        ("substring", &["foobar", "o(.)b"], Some("o")),
        ("substring", &["foobar", "o.b"], Some("oob")),
        ("substring", &["foobar", "x"], None),
        ("substring", &["abcdefg", "%#\"(b_d)#\"%", "#"], Some("bcd")),
        ("regexp_like", &["abc", "B", "i"], Some("true")),
        (
            "regexp_replace",
            &["abc", "(b)", "[\\1\\2\\&\\\\]"],
            Some("a[bb\\]c"),
        ),
        (
            "regexp_replace",
            &["foobarbaz", "b(..)", "X\\1Y", "g"],
            Some("fooXarYXazY"),
        ),
        ("regexp_replace", &["abc", "b", "\\"], Some("a\\c")),
        ("regexp_replace", &["aaa", "^a", "b", "g"], Some("baa")),
        ("regexp_replace", &["abc", "", "-", "g"], Some("-a-b-c-")),
        ("regexp_substr", &["foobar", "o+"], Some("oo")),
    ] {
        let found = call(name, &texts(arguments));
        assert_eq!(found, Ok(wanted.map(str::to_owned)), "{name}{arguments:?}");
    }
}

#[test]
fn replacements_by_place() {
    for (start, n, wanted) in [
        (1, Some(0), "xbxbx"),
        (2, Some(0), "abxbx"),
        (1, Some(2), "abxba"),
        (2, Some(1), "abxba"),
        (9, Some(1), "ababa"),
        (1, None, "xbaba"),
    ] {
        assert_eq!(replace("ababa", "a", "x", start, n, "").unwrap(), wanted);
    }
    let error = replace("a", "a", "", 0, None, "").unwrap_err();
    assert_eq!(error.message, "invalid value for parameter \"start\": 0");
}

#[test]
fn refused_calls() {
    for (name, arguments, sqlstate, message) in [
        (
            "like_escape",
            &["a", "xy"][..],
            "22025",
            "invalid escape string",
        ),
        (
            "regexp_match",
            &["a", "a", "z"],
            "22023",
            "invalid regular expression option: \"z\"",
        ),
        (
            "regexp_match",
            &["a", "a", "g"],
            "22023",
            "regexp_match() does not support the \"global\" option",
        ),
        (
            "regexp_replace",
            &["a", "a", "b", "1"],
            "22023",
            "invalid regular expression option: \"1\"",
        ),
        (
            "similar_to_escape",
            &["a#\"b#\"c#\"d", "#"],
            "2200C",
            "SQL regular expression may not contain more than two escape-double-quote separators",
        ),
    ] {
        let error = call(name, &texts(arguments)).unwrap_err();
        assert_eq!(
            (error.sqlstate, error.message.as_str()),
            (sqlstate, message)
        );
    }
}

#[test]
fn columns_of_texts_and_patterns() {
    use super::super::kernel::{Call, Column};
    use super::super::{Session, resolve_operator};
    use arrow_array::cast::AsArray;
    use arrow_array::{ArrayRef, StringViewArray};
    use std::sync::Arc;

    let column = |texts: Vec<Option<&str>>| -> ArrayRef { Arc::new(StringViewArray::from(texts)) };
    let session = Session::default();
    let of = |symbol: &str, left: Column, right: Column| -> Vec<Option<bool>> {
        let found = resolve_operator(symbol, &[Type::Text, Type::Text]).unwrap();
        let call = Call {
            rows: 3,
            types: &found.parameters,
            returns: &found.returns,
            session: &session,
        };
        let result = (found.function.kernel)(&call, &[left, right]).unwrap();
        result.as_boolean().iter().collect()
    };
    for symbol in ["~~", "~"] {
        let texts = Column::rows(column(vec![Some("abc"), None, Some("b")]));
        let pattern = if symbol == "~" { "^a" } else { "a%" };
        let constant = Column::constant(column(vec![Some(pattern)]));
        assert_eq!(
            of(symbol, texts.clone(), constant.clone()),
            [Some(true), None, Some(false)]
        );
        let none = Column::constant(column(vec![None]));
        assert_eq!(of(symbol, texts.clone(), none), [None, None, None]);
        let patterns = Column::rows(column(vec![Some("b"), Some("b"), Some("b")]));
        let wanted = [Some(symbol == "~"), None, Some(true)];
        assert_eq!(of(symbol, texts, patterns.clone()), wanted);
        let text = Column::constant(column(vec![Some("ab")]));
        assert_eq!(of(symbol, text.clone(), patterns), [Some(symbol == "~"); 3]);
        assert_eq!(of(symbol, text, constant), [Some(true); 3]);
    }
}
