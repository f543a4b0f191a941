//! Matches as PostgreSQL gives them.

use super::parse::{Options, parse};
use super::*;

fn groups(pattern: &str, text: &str) -> Option<String> {
    let regex = Regex::new(pattern, Options::default()).unwrap();
    let found = regex.find_at(text, 0).unwrap()?;
    let shown = |group: &Option<Range<usize>>| match group {
        Some(range) => text[range.clone()].to_owned(),
        None => "NULL".to_owned(),
    };
    let shown: Vec<String> = found.iter().map(shown).collect();
    Some(shown.join("|"))
}

#[test]
fn the_longest_match_and_its_groups() {
    for (pattern, text, wanted) in [
        ("a|ab|abc", "abcd", Some("abc")),
        ("(a|ab)(c|bcd)", "abcd", Some("abcd|a|bcd")),
        ("(a*)+", "aaa", Some("aaa|")),
        ("(a*)*", "aaa", Some("aaa|aaa")),
        ("a?(?:ab)?(.*)", "ab", Some("ab|")),
        ("(a*)(a*)", "aa", Some("aa|aa|")),
        ("(a*?)(a*)", "aa", Some("||")),
        ("(a)|(b)", "b", Some("b|NULL|b")),
        ("(?:(a)|(b))*", "ab", Some("ab|NULL|b")),
        ("((\\m).)\\1", "_ bb_", Some("bb|b|")),
        ("(.)\\1", "abccd", Some("cc|c")),
        ("(a+)b\\1", "aabaa", Some("aabaa|aa")),
        ("x*", "abc", Some("")),
        ("abc", "xyz", None),
        ("\\mfoo\\M", "a foo b", Some("foo")),
        ("\\mfoo\\M", "afoob", None),
        ("(?<=a)b", "bab", Some("b")),
        ("(?<!a)b$", "ab", None),
        ("a(?!b).", "abac", Some("ac")),
        ("[[:alpha:]]+", "12äß3", Some("äß")),
        ("[[.hyphen.]a]+", "x-a-", Some("-a-")),
        ("[a-]+", "b-a", Some("-a")),
        ("[]a]+", "b]a", Some("]a")),
        ("(?i)ÄB", "xäb", Some("äb")),
        ("***=a.b", "axb a.b", Some("a.b")),
        ("a{", "a{", Some("a{")),
        (".+", "a\nb", Some("a\nb")),
        ("(?n).+", "a\nb", Some("a")),
        ("(?x) a b # c", "ab", Some("ab")),
        ("a(?#no)b", "ab", Some("ab")),
        ("\\101\\x42\\u0043", "ABC", Some("ABC")),
    ] {
        assert_eq!(
            groups(pattern, text).as_deref(),
            wanted,
            "{pattern} on {text}"
        );
    }
}

#[test]
fn expressions_that_are_wrong() {
    for (pattern, why) in [
        ("a**", "quantifier operand invalid"),
        ("*a", "quantifier operand invalid"),
        ("(?=a)*", "quantifier operand invalid"),
        ("^*", "quantifier operand invalid"),
        ("a|*", "quantifier operand invalid"),
        ("***a", "quantifier operand invalid"),
        ("(?<a)", "quantifier operand invalid"),
        ("a{2,1}", "invalid repetition count(s)"),
        ("a{256}", "invalid repetition count(s)"),
        ("a{1x", "invalid repetition count(s)"),
        ("a{1", "braces {} not balanced"),
        ("(a", "parentheses () not balanced"),
        ("a)", "parentheses () not balanced"),
        ("[a", "brackets [] not balanced"),
        ("[b-a]", "invalid character range"),
        ("[a-c-e]", "invalid character range"),
        ("[[:foo:]]", "invalid character class"),
        ("[[.foo.]]", "invalid collating element"),
        ("\\1", "invalid backreference number"),
        ("(\\1)", "invalid backreference number"),
        ("a\\", "invalid escape \\ sequence"),
        ("\\q", "invalid escape \\ sequence"),
        ("(?zz)a", "invalid embedded option"),
    ] {
        let error = Regex::new(pattern, Options::default()).err().unwrap();
        let message = format!("invalid regular expression: {why}");
        assert_eq!(
            (error.sqlstate, error.message),
            ("2201B", message),
            "{pattern}"
        );
    }
}

#[test]
fn large_expressions_are_refused_and_slow_ones_end() {
    let deep = "(".repeat(5000) + &")".repeat(5000);
    assert!(Regex::new(&deep, Options::default()).is_err());
    assert!(Regex::new("((((a{255}){255}){255}){255})", Options::default()).is_err());
    let text = "a".repeat(5000);
    assert_eq!(groups("(?:a*)*b", &text), None);
    assert_eq!(groups("(a|aa)+$", &text), Some(format!("{text}|a")));
}

/// The machine alone finds the places that the crate finds.
#[test]
fn the_search_agrees_with_the_machine() {
    let patterns = [
        "a|ab",
        "[^b]+",
        "(?:b|a)*c",
        "\\Wa",
        "b$",
        "a??b",
        "(a|b){2,3}c",
    ];
    for pattern in patterns {
        let quick = Regex::new(pattern, Options::default()).unwrap();
        assert!(quick.quick.is_some(), "{pattern}");
        let mut slow = Regex::new(pattern, Options::default()).unwrap();
        slow.quick = None;
        for text in ["", "abc", "cab", "ccab", "äab ab", "bbbac", "\na\nb"] {
            let (a, b) = (quick.find_at(text, 0), slow.find_at(text, 0));
            assert_eq!(a.unwrap(), b.unwrap(), "{pattern} on {text}");
        }
    }
    assert!(parse("a", Options::default()).is_ok());
    // Places of words are left to the machine.
    assert!(
        Regex::new("\\ma", Options::default())
            .unwrap()
            .quick
            .is_none()
    );
}

#[test]
fn simple_expressions_need_no_machine() {
    for (pattern, simple) in [
        ("[0-9]+-([0-9]+)", true),
        ("a.*b", true),
        ("\\s+$", true),
        ("(a)b?c*d", true),
        ("a*.*b", false),
        ("a?[ab]?b", false),
        ("a|b", false),
        ("a*?b", false),
        ("(ab)*", false),
    ] {
        let regex = Regex::new(pattern, Options::default()).unwrap();
        assert_eq!(regex.simple, simple, "{pattern}");
    }
    for (pattern, text, wanted) in [
        ("(a*)(b?)(c)", "aacb", "aac|aa||c"),
        ("([0-9]+)-([0-9]*)x", "1-2 34-x", "34-x|34|"),
    ] {
        let regex = Regex::new(pattern, Options::default()).unwrap();
        assert!(regex.simple, "{pattern}");
        assert_eq!(groups(pattern, text).as_deref(), Some(wanted));
    }
}
