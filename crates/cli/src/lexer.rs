//! Just enough of SQL's lexical structure to find where a statement ends.
//!
//! The shell must know whether a line is complete before it hands anything to
//! the parser, and must colour and complete text that is not SQL yet. So this
//! knows tokens only: words, quoted identifiers, strings (plain, `E'…'`,
//! dollar-quoted), numbers, comments (line and nested block), symbols and `;`.
//! It accepts every input: an unclosed quote or comment is a token whose
//! `closed` is false and which runs to the end.
//!
//! Not here: grammar. Whether a statement makes sense is the parser's business.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Keyword or plain identifier.
    Word,
    /// `"quoted identifier"`.
    Identifier,
    /// `'string'`, `E'string'` or `$tag$string$tag$`.
    String,
    /// A number, or the digits of one.
    Number,
    /// `-- line` or `/* block */`.
    Comment,
    /// White space.
    Space,
    /// The `;` that ends a statement: one within brackets does not, as in psql.
    Semicolon,
    /// Any other single character.
    Symbol,
}

/// One token and the bytes it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it is, in bytes of the text.
    pub range: Range<usize>,
    /// False for a quote or block comment that the text ends in the middle of.
    pub closed: bool,
}

/// Splits `text` into tokens that cover it without gaps.
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens {
        text,
        at: 0,
        depth: 0,
    }
}

/// Iterator over the tokens of a text.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// Brackets that are open.
    depth: usize,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (mut kind, length, closed) = first(rest);
        match (kind, rest.as_bytes().first()) {
            (Kind::Symbol, Some(b'(')) => self.depth += 1,
            (Kind::Symbol, Some(b')')) => self.depth = self.depth.saturating_sub(1),
            (Kind::Semicolon, _) if self.depth > 0 => kind = Kind::Symbol,
            _ => {}
        }
        let start = self.at;
        self.at += length;
        Some(Token {
            kind,
            range: start..self.at,
            closed,
        })
    }
}

/// The first token of a text that is not empty: kind, bytes, closed.
fn first(rest: &str) -> (Kind, usize, bool) {
    let Some(head) = rest.chars().next() else {
        return (Kind::Space, 0, true);
    };
    let run = |accept: fn(char) -> bool| rest.find(|c| !accept(c)).unwrap_or(rest.len());
    match head {
        ';' => (Kind::Semicolon, 1, true),
        '\'' => quoted(rest, 1, '\'', false, Kind::String),
        '"' => quoted(rest, 1, '"', false, Kind::Identifier),
        'e' | 'E' if rest[1..].starts_with('\'') => quoted(rest, 2, '\'', true, Kind::String),
        '$' => dollar(rest),
        '-' if rest.starts_with("--") => {
            let end = rest.find('\n').unwrap_or(rest.len());
            (Kind::Comment, end, true)
        }
        '/' if rest.starts_with("/*") => block_comment(rest),
        c if c.is_whitespace() => (Kind::Space, run(char::is_whitespace), true),
        c if c.is_ascii_digit() => (Kind::Number, run(|c| c.is_ascii_digit() || c == '.'), true),
        c if is_word_start(c) => (Kind::Word, run(is_word), true),
        c => (Kind::Symbol, c.len_utf8(), true),
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// A quote that `quote` closes; doubled, or after a backslash in an `E` string,
/// it stands for itself.
fn quoted(rest: &str, open: usize, quote: char, escapes: bool, kind: Kind) -> (Kind, usize, bool) {
    let mut characters = rest[open..].char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if escapes && c == '\\' {
            characters.next();
        } else if c == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return (kind, open + at + 1, true);
        }
    }
    (kind, rest.len(), false)
}

/// `$tag$ … $tag$`, or a lone `$`.
fn dollar(rest: &str) -> (Kind, usize, bool) {
    let tag = rest[1..].find(|c| !is_word(c) || c == '$');
    let Some(length) = tag.filter(|at| rest[1 + at..].starts_with('$')) else {
        return (Kind::Symbol, 1, true);
    };
    if rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return (Kind::Symbol, 1, true); // $1 is a parameter
    }
    let delimiter = &rest[..length + 2];
    match rest[delimiter.len()..].find(delimiter) {
        Some(at) => (Kind::String, at + 2 * delimiter.len(), true),
        None => (Kind::String, rest.len(), false),
    }
}

/// `/* … */`, nested as in PostgreSQL.
fn block_comment(rest: &str) -> (Kind, usize, bool) {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return (Kind::Comment, at, true);
            }
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
    }
    (Kind::Comment, rest.len(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str, bool)> {
        tokens(text)
            .filter(|token| token.kind != Kind::Space)
            .map(|token| (token.kind, &text[token.range], token.closed))
            .collect()
    }

    #[test]
    fn a_semicolon_in_quotes_or_comments_ends_nothing() {
        for text in [
            "';'",
            "\";\"",
            "$$;$$",
            "$a$;$$;$a$",
            "-- ;",
            "/*;/*;*/;*/",
            "E'\\';'",
            "'it''s;'",
        ] {
            let found = kinds(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].2, "{text}");
        }
    }

    #[test]
    fn a_semicolon_in_brackets_ends_nothing() {
        let ends = |text: &str| {
            let found = tokens(text).filter(|token| token.kind == Kind::Semicolon);
            found.map(|token| token.range.start).collect::<Vec<_>>()
        };
        assert_eq!(ends("advise for (select 1; select (2););"), [34]);
        assert_eq!(ends("); select ')('; ("), [1, 14]);
    }

    #[test]
    fn what_is_open_says_so() {
        for text in [
            "'a", "\"a", "$$a", "$t$a$$", "/*a", "/* /* */", "E'\\'", "'''",
        ] {
            assert!(!kinds(text)[0].2, "{text}");
        }
    }

    #[test]
    fn tokens_cover_every_byte() {
        let text = "select é,\"ü\" from t$1 where x=$1 and y<>1.5e3 /*a*/ ; 'ö";
        let mut at = 0;
        for token in tokens(text) {
            assert_eq!(token.range.start, at);
            at = token.range.end;
        }
        assert_eq!(at, text.len());
    }

    #[test]
    fn words_numbers_and_symbols() {
        assert_eq!(
            kinds("a1 = $1"),
            vec![
                (Kind::Word, "a1", true),
                (Kind::Symbol, "=", true),
                (Kind::Symbol, "$", true),
                (Kind::Number, "1", true)
            ]
        );
    }
}
