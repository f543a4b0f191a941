//! LIKE and ILIKE.
//!
//! `%` stands for any text, `_` for one character, and a backslash makes the next character
//! stand for itself. Patterns of the commonest forms need no matching by characters:
//!
//! ```text
//! 'abc'     equality
//! 'abc%'    the beginning
//! '%abc'    the end
//! '%abc%'   a search
//! ```
//!
//! A pattern must not end with a single backslash; that is found only where the match gets so far.
//! ILIKE compares both sides in lower case.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray};
use memchr::memmem::Finder;

use super::super::casts::padded;
use super::super::kernel::{Bytes, Column, Kernel, Str, f2, repeated};
use super::super::strings::lower;
use super::super::{Catalogue, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Bool, Bytea, Text};
    for (symbol, any_case, negated) in [
        ("~~", false, false),
        ("!~~", false, true),
        ("~~*", true, false),
        ("!~~*", true, true),
    ] {
        for ty in [Text, Type::Char(None)] {
            c.operator(symbol, &[ty, Text], Bool, texts(any_case, negated));
        }
    }
    c.operator("~~", &[Bytea, Bytea], Bool, bytes(false));
    c.operator("!~~", &[Bytea, Bytea], Bool, bytes(true));
    for (name, negated) in [("like", false), ("notlike", true)] {
        for ty in [Text, Type::Char(None)] {
            c.add(scalar(name, &[ty, Text], Bool, texts(false, negated)));
        }
        c.add(scalar(name, &[Bytea, Bytea], Bool, bytes(negated)));
    }
    c.add(scalar(
        "like_escape",
        &[Text, Text],
        Text,
        f2::<Str, Str, Str>(escape),
    ));
    let kernel = f2::<Bytes, Bytes, Bytes>(|pattern, mark| match mark {
        [] | [_] => Ok(escaped(pattern.chunks(1), mark)),
        _ => Err(bad_escape()),
    });
    c.add(scalar("like_escape", &[Bytea, Bytea], Bytea, kernel));
}

/// The error of an escape that is longer than a character.
pub(super) fn bad_escape() -> Error {
    let error = Error::new("22025", "invalid escape string");
    error.with_hint("Escape string must be empty or one character.")
}

/// A pattern with another escape than the backslash, as one with the backslash.
fn escape(pattern: &str, mark: &str) -> Result<String> {
    if mark.chars().nth(1).is_some() {
        return Err(bad_escape());
    }
    let characters = pattern.split_inclusive(|_| true).map(str::as_bytes);
    let with = escaped(characters, mark.as_bytes());
    String::from_utf8(with).map_err(|_| Error::internal("a pattern is no text"))
}

/// The characters of a pattern; without a mark nothing is an escape.
fn escaped<'a>(parts: impl Iterator<Item = &'a [u8]>, mark: &[u8]) -> Vec<u8> {
    let mut with = Vec::new();
    let mut after = false;
    for part in parts {
        if !after && part == mark {
            with.push(b'\\');
            after = true;
            continue;
        }
        if part == b"\\" && !after {
            with.push(b'\\');
        }
        with.extend_from_slice(part);
        after = false;
    }
    with
}

/// A pattern, ready to be matched.
pub struct Pattern {
    kind: Kind,
    /// Whether `_` is a byte rather than a character.
    binary: bool,
}

enum Kind {
    Exact(Vec<u8>),
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Contains(Box<Finder<'static>>),
    Any(Vec<Token>),
}

#[derive(Clone, Copy, PartialEq)]
enum Token {
    Byte(u8),
    One,
    Many,
    /// A backslash with nothing behind it.
    Open,
}

impl Pattern {
    /// Makes a pattern ready.
    pub fn new(pattern: &[u8], binary: bool) -> Self {
        let mut tokens = Vec::with_capacity(pattern.len());
        let mut bytes = pattern.iter();
        while let Some(byte) = bytes.next() {
            tokens.push(match byte {
                b'%' => Token::Many,
                b'_' => Token::One,
                b'\\' => bytes.next().map_or(Token::Open, |byte| Token::Byte(*byte)),
                byte => Token::Byte(*byte),
            });
        }
        let literal = |tokens: &[Token]| -> Option<Vec<u8>> {
            let byte = |token: &Token| match token {
                Token::Byte(byte) => Some(*byte),
                _ => None,
            };
            tokens.iter().map(byte).collect()
        };
        let kind = match tokens.as_slice() {
            [Token::Many, inner @ .., Token::Many] if literal(inner).is_some() => {
                let inner = literal(inner).unwrap_or_default();
                Kind::Contains(Box::new(Finder::new(&inner).into_owned()))
            }
            [start @ .., Token::Many] if literal(start).is_some() => {
                Kind::Prefix(literal(start).unwrap_or_default())
            }
            [Token::Many, end @ ..] if literal(end).is_some() => {
                Kind::Suffix(literal(end).unwrap_or_default())
            }
            all => match literal(all) {
                Some(all) => Kind::Exact(all),
                None => Kind::Any(tokens),
            },
        };
        Self { kind, binary }
    }

    /// Whether a text matches.
    ///
    /// # Errors
    /// `22025` if the match gets to a backslash at the end of the pattern.
    pub fn matches(&self, text: &[u8]) -> Result<bool> {
        match &self.kind {
            Kind::Exact(all) => Ok(text == all.as_slice()),
            Kind::Prefix(start) => Ok(text.starts_with(start)),
            Kind::Suffix(end) => Ok(text.ends_with(end)),
            Kind::Contains(finder) => Ok(finder.find(text).is_some()),
            Kind::Any(tokens) => matched(tokens, text, self.binary),
        }
    }
}

fn open() -> Error {
    Error::new("22025", "LIKE pattern must not end with escape character")
}

/// Matches token by token; where that fails, the last `%` takes one more character.
fn matched(tokens: &[Token], text: &[u8], binary: bool) -> Result<bool> {
    let width = |at: usize| match binary {
        true => 1,
        // Bytes that go on with a character begin with the bits 10.
        false => {
            let rest = text.get(at + 1..).unwrap_or_default();
            1 + rest.iter().take_while(|byte| **byte & 0xc0 == 0x80).count()
        }
    };
    let (mut at, mut token) = (0, 0);
    // The last `%`: the token behind it, and the place up to which it has taken text.
    let mut last: Option<(usize, usize)> = None;
    loop {
        if at >= text.len() {
            // Taking more text by a `%` cannot help.
            let rest = tokens.get(token..).unwrap_or_default();
            return Ok(rest.iter().all(|token| *token == Token::Many));
        }
        match tokens.get(token) {
            Some(Token::Byte(byte)) if text.get(at) == Some(byte) => {
                at += 1;
                token += 1;
                continue;
            }
            Some(Token::One) => {
                at += width(at);
                token += 1;
                continue;
            }
            Some(Token::Many) => {
                // Single characters behind it are taken at once.
                while let Some(Token::Many | Token::One) = tokens.get(token) {
                    if tokens.get(token) == Some(&Token::One) {
                        if at >= text.len() {
                            return Ok(false);
                        }
                        at += width(at);
                    }
                    token += 1;
                }
                match tokens.get(token) {
                    None => return Ok(true),
                    Some(Token::Open) => return Err(open()),
                    Some(_) => last = Some((token, at)),
                }
                continue;
            }
            Some(Token::Open) => return Err(open()),
            _ => {}
        }
        let Some((behind, taken)) = last else {
            return Ok(false);
        };
        let mut next = taken + width(taken);
        if let Some(Token::Byte(byte)) = tokens.get(behind) {
            match memchr::memchr(*byte, text.get(next..).unwrap_or_default()) {
                Some(skipped) => next += skipped,
                None => return Ok(false),
            }
        }
        last = Some((behind, next));
        (at, token) = (next, behind);
    }
}

/// LIKE of texts.
fn texts(any_case: bool, negated: bool) -> Kernel {
    Arc::new(move |call, columns| {
        let [left, right] = operands(columns)?;
        let wrong = || Error::internal("LIKE of no text");
        let values = left.array.as_string_view_opt().ok_or_else(wrong)?;
        let patterns = right.array.as_string_view_opt().ok_or_else(wrong)?;
        let ty = call.types.first().unwrap_or(&Type::Text);
        let ready = |at: usize| match any_case {
            true => Pattern::new(lower(patterns.value(at)).as_bytes(), false),
            false => Pattern::new(patterns.value(at).as_bytes(), false),
        };
        let test = |pattern: &Pattern, at: usize| {
            let text = padded(ty, values.value(at));
            match any_case {
                true => pattern.matches(lower(&text).as_bytes()),
                false => pattern.matches(text.as_bytes()),
            }
        };
        tested(call.rows, left, right, ready, test, negated)
    })
}

/// LIKE of bytes.
fn bytes(negated: bool) -> Kernel {
    Arc::new(move |call, columns| {
        let [left, right] = operands(columns)?;
        let wrong = || Error::internal("LIKE of no bytes");
        let values = left.array.as_binary_view_opt().ok_or_else(wrong)?;
        let patterns = right.array.as_binary_view_opt().ok_or_else(wrong)?;
        let ready = |at: usize| Pattern::new(patterns.value(at), true);
        let test = |pattern: &Pattern, at: usize| pattern.matches(values.value(at));
        tested(call.rows, left, right, ready, test, negated)
    })
}

fn operands(columns: &[Column]) -> Result<[&Column; 2]> {
    match columns {
        [left, right] => Ok([left, right]),
        _ => Err(Error::internal("LIKE has two operands")),
    }
}

/// A test of every row by its pattern; a constant pattern is made ready once.
fn tested(
    rows: usize,
    left: &Column,
    right: &Column,
    ready: impl Fn(usize) -> Pattern,
    test: impl Fn(&Pattern, usize) -> Result<bool>,
    negated: bool,
) -> Result<ArrayRef> {
    let both = left.constant && right.constant;
    let count = if both { rows.min(1) } else { rows };
    let constant = match right.constant && count > 0 && !right.is_null(0) {
        true => Some(ready(0)),
        false => None,
    };
    let of = |row: usize| -> Result<Option<bool>> {
        if left.is_null(row) || right.is_null(row) {
            return Ok(None);
        }
        let found = match &constant {
            Some(pattern) => test(pattern, left.at(row)),
            None => test(&ready(right.at(row)), left.at(row)),
        };
        Ok(Some(found? != negated))
    };
    let found: BooleanArray = (0..count).map(of).collect::<Result<_>>()?;
    Ok(repeated(Arc::new(found), rows))
}
