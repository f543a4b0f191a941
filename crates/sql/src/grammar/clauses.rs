//! Clauses of PostgreSQL that the grammar does not read.
//!
//! ```text
//! CREATE TABLE t (EXCLUDE USING gist (c WITH &&))
//!                               ^ the grammar's syntax error, told as 0A000: an EXCLUDE constraint
//! ```
//!
//! Text that PostgreSQL takes is no syntax error to its user. A syntax error that stands in one of
//! these clauses, or right behind its words, says that the clause is not supported.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::Error;

/// A clause: words that its statement begins with, its own words, and what it is called.
type Clause = (
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);

const CLAUSES: [Clause; 24] = [
    (&[], &["CURRENT", "OF"], "WHERE CURRENT OF"),
    (&[], &["EXCLUDE", "USING"], "an EXCLUDE constraint"),
    (&["CREATE", "TABLE"], &["EXCLUDE"], "an EXCLUDE constraint"),
    (&["ALTER", "TABLE"], &["EXCLUDE"], "an EXCLUDE constraint"),
    (
        &[],
        &["NULLS", "NOT", "DISTINCT"],
        "NULLS NOT DISTINCT here",
    ),
    (&[], &["NULLS", "DISTINCT"], "NULLS DISTINCT here"),
    (&[], &["USING", "INDEX"], "USING INDEX"),
    (&[], &["TABLESPACE"], "TABLESPACE"),
    (&["CREATE", "TABLE"], &["OF"], "CREATE TABLE … OF"),
    (&["CREATE", "TABLE"], &["WITHOUT"], "WITHOUT OIDS here"),
    (
        &["CREATE", "TABLE"],
        &["INCLUDE"],
        "INCLUDE in a constraint",
    ),
    (&["ALTER", "TABLE"], &["INCLUDE"], "INCLUDE in a constraint"),
    (&["CREATE", "TABLE"], &["WITH"], "WITH (…) here"),
    (&["CREATE"], &["USING"], "USING here"),
    (&["ALTER"], &["IN", "DATABASE"], "IN DATABASE"),
    (&["CREATE"], &["SUPPORT"], "SUPPORT"),
    (&["ALTER"], &["OWNED", "BY"], "OWNED BY here"),
    (&["CREATE"], &["OWNED", "BY"], "OWNED BY here"),
    (&["GRANT"], &["GRANTED", "BY"], "GRANTED BY"),
    (&["REVOKE"], &["GRANTED", "BY"], "GRANTED BY"),
    (&["COPY"], &["HEADER", "MATCH"], "HEADER MATCH"),
    (
        &["ALTER", "TABLE"],
        &["WITHOUT", "OIDS"],
        "WITHOUT OIDS here",
    ),
    (&["VACUUM"], &[","], "VACUUM of several tables"),
    (&["ANALYZE"], &[","], "ANALYZE of several tables"),
];

/// Words that an action of ALTER begins with.
const ACTIONS: [&str; 24] = [
    "ADD", "ALTER", "ATTACH", "CLUSTER", "DEPENDS", "DETACH", "DISABLE", "DROP", "ENABLE", "FORCE",
    "INHERIT", "NO", "NOT", "OF", "OPTIONS", "OWNER", "REFRESH", "RENAME", "REPLICA", "RESET",
    "SET", "SUPPORT", "UPDATE", "VALIDATE",
];

/// The word of a token, or its sign.
fn word(token: &Token) -> String {
    match token {
        Token::Word(word) if word.quote_style.is_some() => String::new(),
        Token::Word(word) => word.value.to_uppercase(),
        other => other.to_string(),
    }
}

/// A syntax error, or the clause that it stands in.
pub(crate) fn told(error: Error, tokens: &[TokenWithSpan]) -> Error {
    let Some(place) = error.position.filter(|_| error.sqlstate == "42601") else {
        return error;
    };
    let tokens = tokens.iter();
    let tokens: Vec<&TokenWithSpan> = tokens
        .filter(|token| !matches!(token.token, Token::Whitespace(_)))
        .collect();
    let is_here = |token: &&TokenWithSpan| {
        (token.span.start.line, token.span.start.column) == (place.line, place.column)
    };
    let Some(at) = tokens.iter().position(is_here) else {
        return error;
    };
    let ends = |token: &&TokenWithSpan| token.token == Token::SemiColon;
    let from = tokens[..at].iter().rposition(ends).map_or(0, |end| end + 1);
    let words: Vec<String> = tokens[from..]
        .iter()
        .take(at - from + 4)
        .map(|token| word(&token.token))
        .collect();
    let at = at - from;
    let begins = |wanted: &[&str]| words.iter().zip(wanted).all(|(a, b)| a == b);
    let stands = |wanted: &[&str]| {
        // The error is at one of the words, or right behind them.
        (at.saturating_sub(wanted.len())..=at).any(|start| {
            let here = words.get(start..start + wanted.len());
            here.is_some_and(|here| here.iter().zip(wanted).all(|(a, b)| a == b))
        })
    };
    let mut clauses = CLAUSES.iter();
    let known = clauses.find(|(begin, clause, _)| begins(begin) && stands(clause));
    let what = match (known, words.as_slice()) {
        (Some((.., what)), _) => (*what).to_owned(),
        (None, [alter, kind, ..])
            if alter == "ALTER"
                && !["GROUP", "ROLE", "USER"].contains(&kind.as_str())
                && at > 2
                && ACTIONS.contains(&words[at].as_str()) =>
        {
            format!("ALTER {kind} … {}", words[at])
        }
        _ => return error,
    };
    Error::unsupported(format!("{what} is not supported")).at(Some(place))
}

#[cfg(test)]
mod tests {
    use crate::statement::parse;

    #[test]
    fn clauses_are_told() {
        for (text, told) in [
            (
                "CREATE TABLE t (d int, EXCLUDE USING gist (d WITH &&))",
                "an EXCLUDE constraint",
            ),
            (
                "CREATE TABLE t (d int, EXCLUDE (d WITH =))",
                "an EXCLUDE constraint",
            ),
            (
                "ALTER TABLE t ADD EXCLUDE USING gist (d WITH &&)",
                "an EXCLUDE constraint",
            ),
            (
                "SELECT 1; DELETE FROM t WHERE CURRENT OF c",
                "WHERE CURRENT OF",
            ),
            (
                "CREATE TABLE t OF pair (PRIMARY KEY (a))",
                "CREATE TABLE … OF",
            ),
            ("CREATE INDEX i ON t (a) TABLESPACE fast", "TABLESPACE"),
            ("ALTER TABLE t SET TABLESPACE fast", "TABLESPACE"),
            (
                "ALTER ROLE r IN DATABASE d SET search_path = s",
                "IN DATABASE",
            ),
            (
                "ALTER FUNCTION f SET search_path = s",
                "ALTER FUNCTION … SET",
            ),
            ("ALTER INDEX i RESET (fillfactor)", "ALTER INDEX … RESET"),
            ("VACUUM t, u", "VACUUM of several tables"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.sqlstate, "0A000", "{text}: {error}");
            assert_eq!(error.message, format!("{told} is not supported"), "{text}");
        }
        for text in [
            "ALTER TABLE t ADD",
            "CREATE TABLE t (a int",
            "ALTER ROLE r ADD USER u",
            "SELECT FROM WHERE OF",
        ] {
            assert_eq!(parse(text).unwrap_err().sqlstate, "42601", "{text}");
        }
    }
}
