//! Text to lexemes, as PostgreSQL's scanner reads it.
//!
//! Texts with a line break between them are one, an operator is the longest row of its
//! characters (a sign at its end is its own but where another character allows it), and the
//! forms of texts (`E''`, `U&''`, `$$`) are read to what they mean. Integers of other bases and
//! underscores between digits are read, too; PostgreSQL has them since 16.

use sqlparser::tokenizer::{Location, Span};

use crate::error::{Error, Position, Result};

/// A lexeme.
#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    pub(super) kind: Kind,
    /// Where it begins and ends in the text, in bytes.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) span: Span,
}

/// A kind of lexeme, with what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word without quotes, in lower case.
    Word(String),
    /// An identifier in quotes.
    Quoted(String),
    /// A text.
    Text(String),
    /// Bits: `b` or `x`, and its digits.
    Bits(char, String),
    /// A number.
    Number(String),
    /// `$1`.
    Parameter(String),
    /// An operator.
    Operator(String),
    /// A mark: `( ) [ ] { } , ; . :`, `::`, `:=` or `=>`.
    Mark(&'static str),
    /// The end of the text.
    End,
}

impl Kind {
    /// Whether it is this word, in lower case.
    pub(super) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }
}

/// Characters of an operator, at most: of many signs in a row each looks so far.
const LONGEST: usize = 64;

/// Bytes of a name, at most: what is behind them is cut off.
pub(super) const NAME: usize = 63;

/// The part of a name that is kept. Names that stand for forms are none.
pub(super) fn kept_name(name: &str) -> &str {
    match name.len() > NAME && !name.starts_with(super::marks::FIRST) {
        true => &name[..name.floor_char_boundary(NAME)],
        false => name,
    }
}

/// The characters of operators.
const OPERATOR: &str = "+-*/<>=~!@#%^&|`?";

/// Characters that let an operator end in a sign.
const SIGNED: &str = "~!@#%^&|`?";

/// Reads a text.
///
/// # Errors
/// `42601` and others, with the place.
pub(super) fn lexemes(sql: &str) -> Result<Vec<Lexeme>> {
    let mut all = whole(sql)?;
    for lexeme in &mut all {
        if let Kind::Word(name) | Kind::Quoted(name) = &mut lexeme.kind {
            name.truncate(kept_name(name).len());
        }
    }
    Ok(all)
}

/// Reads a text without cutting names to 63 bytes.
///
/// # Errors
/// As [`lexemes`].
pub(super) fn whole(sql: &str) -> Result<Vec<Lexeme>> {
    let mut scanner = Scanner {
        sql,
        at: 0,
        line: 1,
        column: 1,
    };
    let mut all: Vec<Lexeme> = Vec::new();
    loop {
        let broken = scanner.blank()?;
        let (start, location) = (scanner.at, scanner.location());
        // A text goes on behind a line break, with the escapes of its beginning.
        let escaped = broken
            && scanner.plain_quote(start)
            && all.last().is_some_and(|last| {
                matches!(last.kind, Kind::Text(_)) && sql[last.start..].starts_with(['e', 'E'])
            });
        let kind = match escaped {
            true => Kind::Text(scanner.escaped(start, location)?),
            false => scanner.next(location)?,
        };
        if broken
            && scanner.plain_quote(start)
            && let Kind::Text(more) = &kind
            && let Some(last) = all.last_mut()
            && sql[..last.end].ends_with('\'')
            && let Kind::Text(text) = &mut last.kind
        {
            text.push_str(more);
            last.end = scanner.at;
            last.span.end = scanner.location();
            continue;
        }
        let ended = kind == Kind::End;
        all.push(Lexeme {
            kind,
            start,
            end: scanner.at,
            span: Span::new(location, scanner.location()),
        });
        if ended {
            break;
        }
    }
    unicode_escapes(&mut all, sql)?;
    Ok(all)
}

struct Scanner<'a> {
    sql: &'a str,
    at: usize,
    line: u64,
    column: u64,
}

impl Scanner<'_> {
    fn location(&self) -> Location {
        Location::new(self.line, self.column)
    }

    fn rest(&self) -> &str {
        self.sql.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.take();
        }
    }

    fn while_is(&mut self, is: impl Fn(char) -> bool) -> String {
        let mut found = String::new();
        while let Some(c) = self.peek().filter(|c| is(*c)) {
            found.push(c);
            self.take();
        }
        found
    }

    /// Whether the lexeme from a place is a text in quotes without a prefix.
    fn plain_quote(&self, start: usize) -> bool {
        self.sql[start..].starts_with('\'')
    }

    /// Passes over blanks and comments; whether they hold a line break outside of `/* */`.
    fn blank(&mut self) -> Result<bool> {
        let mut broken = false;
        let mut joins = true;
        loop {
            if self.rest().starts_with("--") {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.take();
                }
                continue;
            }
            if self.rest().starts_with("/*") {
                joins = false;
                let (start, location) = (self.at, self.location());
                let mut depth = 0usize;
                loop {
                    if self.rest().starts_with("/*") {
                        depth += 1;
                        self.skip(2);
                    } else if self.rest().starts_with("*/") {
                        depth -= 1;
                        self.skip(2);
                        if depth == 0 {
                            break;
                        }
                    } else if self.take().is_none() {
                        let text = &self.sql[start..];
                        return Err(near("unterminated /* comment", text, location));
                    }
                }
                continue;
            }
            match self.peek() {
                Some(c @ (' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{a0}')) => {
                    broken |= c == '\n' || c == '\r';
                    self.take();
                }
                _ => return Ok(broken && joins),
            }
        }
    }

    fn next(&mut self, location: Location) -> Result<Kind> {
        let start = self.at;
        let Some(c) = self.peek() else {
            return Ok(Kind::End);
        };
        let quoted = self.second() == Some('\'');
        match c {
            '\'' => Ok(Kind::Text(self.text(start, location)?)),
            'e' | 'E' if quoted => {
                self.take();
                Ok(Kind::Text(self.escaped(start, location)?))
            }
            'n' | 'N' if quoted => {
                self.take();
                Ok(Kind::Text(self.text(start, location)?))
            }
            'b' | 'B' | 'x' | 'X' if quoted => {
                self.take();
                let digits = self
                    .quoted('\'')
                    .ok_or_else(|| self.open("unterminated bit string literal", start, location))?;
                let kind = c.to_ascii_lowercase();
                let (base, name) = match kind {
                    'x' => (16, "hexadecimal"),
                    _ => (2, "binary"),
                };
                if let Some(wrong) = digits.chars().find(|c| !c.is_digit(base)) {
                    let message = format!("\"{wrong}\" is not a valid {name} digit");
                    return Err(Error::new("22P02", message).at(position(location)));
                }
                Ok(Kind::Bits(kind, digits))
            }
            'u' | 'U' if self.rest()[1..].starts_with("&'") => {
                self.skip(2);
                // Its escapes are read when UESCAPE is known.
                Ok(Kind::Text(self.text(start, location)?))
            }
            'u' | 'U' if self.rest()[1..].starts_with("&\"") => {
                self.skip(2);
                Ok(Kind::Quoted(self.identifier(start, location)?))
            }
            '"' => Ok(Kind::Quoted(self.identifier(start, location)?)),
            '$' => self.dollar(start, location),
            c if c.is_ascii_digit()
                || c == '.' && self.second().is_some_and(|c| c.is_ascii_digit()) =>
            {
                self.number(start, location)
            }
            c if is_word(c) => {
                let word = self.while_is(|c| is_word(c) || c.is_ascii_digit() || c == '$');
                Ok(Kind::Word(word.to_lowercase()))
            }
            ':' => {
                self.take();
                Ok(Kind::Mark(match self.peek() {
                    Some(':') => {
                        self.take();
                        "::"
                    }
                    Some('=') => {
                        self.take();
                        ":="
                    }
                    _ => ":",
                }))
            }
            c if OPERATOR.contains(c) => Ok(self.operator()),
            '.' if self.second() == Some('.') => {
                self.skip(2);
                Ok(Kind::Mark(".."))
            }
            c => {
                let marks = ["(", ")", "[", "]", "{", "}", ",", ";", "."];
                match marks.iter().find(|mark| mark.starts_with(c)) {
                    Some(mark) => {
                        self.take();
                        Ok(Kind::Mark(mark))
                    }
                    None => Err(near("syntax error", &c.to_string(), location)),
                }
            }
        }
    }

    /// The longest operator here.
    fn operator(&mut self) -> Kind {
        let rest = self.rest();
        let is_part = |byte: &u8| OPERATOR.as_bytes().contains(byte);
        let length = rest.bytes().take(LONGEST).take_while(is_part).count();
        let mut text = &rest[..length];
        for comment in ["--", "/*"] {
            if let Some(at) = text.find(comment)
                && at > 0
            {
                text = &text[..at];
            }
        }
        if !text.contains(|c| SIGNED.contains(c)) {
            let trimmed = text.trim_end_matches(['+', '-']);
            text = &text[..trimmed.len().max(1)];
        }
        // A parameter right behind an operator, such as `a=?`.
        if let Some(before) = text.strip_suffix('?')
            && [
                "=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "%", "||",
            ]
            .contains(&before)
        {
            text = before;
        }
        let text = text.to_owned();
        self.skip(text.len());
        match text.as_str() {
            "=>" => Kind::Mark("=>"),
            "!=" => Kind::Operator("<>".to_owned()),
            _ => Kind::Operator(text),
        }
    }

    /// What is between quotes, which are doubled inside.
    fn quoted(&mut self, quote: char) -> Option<String> {
        self.take();
        let mut text = String::new();
        loop {
            match self.take()? {
                c if c == quote => {
                    if self.peek() != Some(quote) {
                        return Some(text);
                    }
                    self.take();
                    text.push(quote);
                }
                c => text.push(c),
            }
        }
    }

    fn open(&self, what: &str, start: usize, location: Location) -> Error {
        near(what, &self.sql[start..], location)
    }

    fn text(&mut self, start: usize, location: Location) -> Result<String> {
        self.quoted('\'')
            .ok_or_else(|| self.open("unterminated quoted string", start, location))
    }

    fn identifier(&mut self, start: usize, location: Location) -> Result<String> {
        let name = self
            .quoted('"')
            .ok_or_else(|| self.open("unterminated quoted identifier", start, location))?;
        match name.is_empty() {
            true => Err(near(
                "zero-length delimited identifier",
                &self.sql[start..self.at],
                location,
            )),
            false => Ok(name),
        }
    }

    /// A text with escapes.
    fn escaped(&mut self, start: usize, location: Location) -> Result<String> {
        self.take();
        let mut bytes: Vec<u8> = Vec::new();
        let mut high: Option<u32> = None;
        loop {
            let (place, before) = (self.location(), self.at);
            let Some(c) = self.take() else {
                return Err(self.open("unterminated quoted string", start, location));
            };
            let escaped = match c {
                '\'' if self.peek() != Some('\'') => break,
                '\'' => {
                    self.take();
                    '\''
                }
                '\\' => {
                    let Some(c) = self.take() else {
                        return Err(self.open("unterminated quoted string", start, location));
                    };
                    match c {
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        '0'..='7' | 'x' => {
                            let (base, most) = if c == 'x' { (16, 2) } else { (8, 3) };
                            let mut digits = String::new();
                            if c != 'x' {
                                digits.push(c);
                            }
                            while digits.len() < most
                                && let Some(digit) = self.peek().filter(|c| c.is_digit(base))
                            {
                                digits.push(digit);
                                self.take();
                            }
                            match u32::from_str_radix(&digits, base) {
                                Ok(code) => bytes.push(code as u8),
                                Err(_) => bytes.push(b'x'),
                            }
                            continue;
                        }
                        'u' | 'U' => {
                            let length = if c == 'u' { 4 } else { 8 };
                            let digits: String = self.rest().chars().take(length).collect();
                            let code = u32::from_str_radix(&digits, 16).ok();
                            let code = code.filter(|_| {
                                digits.len() == length
                                    && digits.chars().all(|c| c.is_ascii_hexdigit())
                            });
                            let Some(code) = code else {
                                let text = &self.sql[before..self.at];
                                return Err(Error::new("22025", "invalid Unicode escape")
                                    .with_hint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX.")
                                    .at(position(place))
                                    .with_detail(format!("It begins at \"{text}\".")));
                            };
                            self.skip(length);
                            if let Some(code) = joined(&mut high, code, place)? {
                                push(&mut bytes, code);
                            }
                            continue;
                        }
                        other => other,
                    }
                }
                other => other,
            };
            if high.is_some() {
                return Err(pair(place));
            }
            push(&mut bytes, escaped);
        }
        if high.is_some() {
            return Err(pair(self.location()));
        }
        if bytes.contains(&0) {
            return Err(Error::new(
                "22021",
                "invalid byte sequence for encoding \"UTF8\": 0x00",
            ));
        }
        String::from_utf8(bytes).map_err(|error| {
            let bytes = error.as_bytes();
            let at = error.utf8_error().valid_up_to();
            let shown: Vec<String> = bytes[at..]
                .iter()
                .take(1)
                .map(|byte| format!("0x{byte:02x}"))
                .collect();
            Error::new(
                "22021",
                format!(
                    "invalid byte sequence for encoding \"UTF8\": {}",
                    shown.join(" ")
                ),
            )
        })
    }

    /// A parameter, or a text between tags.
    fn dollar(&mut self, start: usize, location: Location) -> Result<Kind> {
        self.take();
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            let digits = self.while_is(|c| c.is_ascii_digit());
            if self.peek().is_some_and(is_word) {
                self.while_is(|c| is_word(c) || c.is_ascii_digit() || c == '$');
                let text = &self.sql[start..self.at];
                return Err(near("trailing junk after parameter", text, location));
            }
            return Ok(Kind::Parameter(format!("${digits}")));
        }
        let tag = self.while_is(|c| is_word(c) || c.is_ascii_digit());
        if self.peek() != Some('$') {
            return Err(near("syntax error", "$", location));
        }
        self.take();
        let mark = format!("${tag}$");
        let Some(length) = self.rest().find(&mark) else {
            return Err(self.open("unterminated dollar-quoted string", start, location));
        };
        let end = self.at + length;
        let text = self.sql[self.at..end].to_owned();
        while self.at < end + mark.len() {
            self.take();
        }
        Ok(Kind::Text(text))
    }

    fn number(&mut self, start: usize, location: Location) -> Result<Kind> {
        let lower = self.rest().get(..2).unwrap_or("").to_lowercase();
        let base = match lower.as_str() {
            "0x" => Some(16),
            "0o" => Some(8),
            "0b" => Some(2),
            _ => None,
        };
        if let Some(base) = base
            && self.rest()[2..].starts_with(|c: char| c.is_digit(base))
        {
            self.skip(2);
            let digits = self.digits(base);
            self.no_junk(start, location)?;
            let value = u128::from_str_radix(&digits, base).map_err(|_| {
                let text = &self.sql[start..self.at];
                near("invalid integer", text, location)
            })?;
            return Ok(Kind::Number(value.to_string()));
        }
        let mut text = self.digits(10);
        // `1..2` is a range of PL/pgSQL.
        if self.peek() == Some('.') && self.second() != Some('.') {
            self.take();
            text.push('.');
            text.push_str(&self.digits(10));
        }
        if self.peek().is_some_and(|c| c == 'e' || c == 'E') {
            let signed = usize::from(self.second().is_some_and(|c| c == '+' || c == '-'));
            let first = self.rest().chars().nth(1 + signed);
            if first.is_some_and(|c| c.is_ascii_digit()) {
                let exponent = self.at;
                self.skip(1 + signed);
                text.push_str(&self.sql[exponent..self.at]);
                text.push_str(&self.digits(10));
            }
        }
        self.no_junk(start, location)?;
        Ok(Kind::Number(text))
    }

    /// Digits, without the single underscores between them.
    fn digits(&mut self, base: u32) -> String {
        let mut digits = String::new();
        loop {
            digits.push_str(&self.while_is(|c| c.is_digit(base)));
            let goes_on = self.second().is_some_and(|c| c.is_digit(base));
            if digits.is_empty() || self.peek() != Some('_') || !goes_on {
                return digits;
            }
            self.take();
        }
    }

    /// Refuses letters right behind a number.
    fn no_junk(&mut self, start: usize, location: Location) -> Result<()> {
        if !self.peek().is_some_and(is_word) {
            return Ok(());
        }
        // An exponent without digits belongs to the number.
        if self.peek().is_some_and(|c| c == 'e' || c == 'E') {
            self.take();
            if self.peek().is_some_and(|c| c == '+' || c == '-') {
                self.take();
            }
        }
        self.take_junk();
        let text = &self.sql[start..self.at];
        Err(near("trailing junk after numeric literal", text, location))
    }

    fn take_junk(&mut self) {
        self.while_is(|c| is_word(c) || c.is_ascii_digit() || c == '$');
    }
}

/// Reads the escapes of `U&''` and `U&""`.
fn unicode_escapes(all: &mut Vec<Lexeme>, sql: &str) -> Result<()> {
    let mut at = 0;
    while at < all.len() {
        let lexeme = &all[at];
        let is_unicode =
            sql[lexeme.start..].starts_with("u&") || sql[lexeme.start..].starts_with("U&");
        if !is_unicode || !matches!(lexeme.kind, Kind::Text(_) | Kind::Quoted(_)) {
            at += 1;
            continue;
        }
        let mut escape = '\\';
        let next = all.get(at + 1).map(|next| &next.kind);
        if next == Some(&Kind::Word("uescape".to_owned())) {
            let behind = all.get(at + 2);
            let location = behind.map_or(Location::new(0, 0), |behind| behind.span.start);
            let Some(Kind::Text(text)) = behind.map(|behind| &behind.kind) else {
                let text = behind.map_or("", |behind| &sql[behind.start..behind.end]);
                return Err(near(
                    "UESCAPE must be followed by a simple string literal",
                    text,
                    location,
                ));
            };
            let mut chars = text.chars();
            let (first, more) = (chars.next(), chars.next());
            let allowed = |c: &char| {
                !c.is_ascii_hexdigit() && !matches!(c, '+' | '\'' | '"') && !c.is_whitespace()
            };
            let (Some(first), None) = (first.filter(allowed), more) else {
                let text = behind.map_or("", |behind| &sql[behind.start..behind.end]);
                return Err(near("invalid Unicode escape character", text, location));
            };
            escape = first;
            all.drain(at + 1..at + 3);
        }
        let location = all[at].span.start;
        if let Kind::Text(text) | Kind::Quoted(text) = &mut all[at].kind {
            *text = unescaped(text, escape, location)?;
        }
        at += 1;
    }
    Ok(())
}

fn unescaped(text: &str, escape: char, start: Location) -> Result<String> {
    // The place behind `U&'`, as far as the text is on one line.
    let place = |rest: &str| {
        let before = text[..text.len() - rest.len()].chars().count() as u64;
        Location::new(start.line, start.column + 3 + before)
    };
    let mut out = String::new();
    let mut high = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let from = rest;
        rest = &rest[c.len_utf8()..];
        if c != escape || rest.starts_with(escape) {
            if high.is_some() {
                return Err(pair(place(from)));
            }
            if c == escape {
                rest = &rest[c.len_utf8()..];
            }
            out.push(c);
            continue;
        }
        let invalid = || {
            Error::new("42601", "invalid Unicode escape")
                .with_hint("Unicode escapes must be \\XXXX or \\+XXXXXX.")
                .at(position(place(from)))
        };
        let (digits, behind) = match rest.strip_prefix('+') {
            Some(rest) => rest.split_at_checked(6).ok_or_else(invalid)?,
            None => rest.split_at_checked(4).ok_or_else(invalid)?,
        };
        if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(invalid());
        }
        let code = u32::from_str_radix(digits, 16).map_err(|_| invalid())?;
        rest = behind;
        if high.is_some() && !(0xDC00..=0xDFFF).contains(&code) {
            return Err(pair(place(from)));
        }
        if let Some(c) = joined(&mut high, code, start)? {
            out.push(c);
        }
    }
    match high {
        Some(_) => Err(pair(place(rest))),
        None => Ok(out),
    }
}

/// A character by its code, which may be the second half of a pair.
fn joined(high: &mut Option<u32>, code: u32, location: Location) -> Result<Option<char>> {
    let code = match (*high, code) {
        (None, 0xD800..=0xDBFF) => {
            *high = Some(code);
            return Ok(None);
        }
        (Some(first), 0xDC00..=0xDFFF) => {
            *high = None;
            0x10000 + ((first - 0xD800) << 10) + (code - 0xDC00)
        }
        (None, 0xDC00..=0xDFFF) | (Some(_), _) => return Err(pair(location)),
        (None, code) => code,
    };
    match char::from_u32(code).filter(|c| *c != '\0') {
        Some(c) => Ok(Some(c)),
        None => Err(Error::new("42601", "invalid Unicode escape value").at(position(location))),
    }
}

fn pair(location: Location) -> Error {
    Error::new("42601", "invalid Unicode surrogate pair").at(position(location))
}

fn push(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

pub(super) fn position(location: Location) -> Option<Position> {
    (location.line > 0).then_some(Position {
        line: location.line,
        column: location.column,
    })
}

/// `42601` at a place.
pub(super) fn near(what: &str, text: &str, location: Location) -> Error {
    Error::new("42601", format!("{what} at or near \"{text}\"")).at(position(location))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(sql: &str) -> Vec<Kind> {
        let mut all: Vec<Kind> = lexemes(sql).unwrap().into_iter().map(|l| l.kind).collect();
        assert_eq!(all.pop(), Some(Kind::End));
        all
    }

    #[test]
    fn operators_are_the_longest() {
        let cases: [(&str, &[&str]); 9] = [
            ("*-", &["*", "-"]),
            ("<>-", &["<>", "-"]),
            ("@-", &["@-"]),
            ("=@", &["=@"]),
            ("<-", &["<", "-"]),
            ("+--x", &["+"]),
            ("*/**/-", &["*", "-"]),
            ("!=", &["<>"]),
            ("||/", &["||/"]),
        ];
        for (text, expected) in cases {
            let found = kinds(text);
            let expected: Vec<Kind> = expected
                .iter()
                .map(|op| Kind::Operator((*op).to_owned()))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn texts_are_read() {
        let cases = [
            ("'it''s'", "it's"),
            ("'a'\n'b'", "ab"),
            ("'a' -- c\n 'b'", "ab"),
            ("E'a\\tb\\x41\\101\\u00e9\\\\'''", "a\tbAA\u{e9}\\'"),
            ("U&'d\\0061t\\+000061'", "data"),
            ("U&'d!0061' UESCAPE '!'", "da"),
            ("$a$x$$y$a$", "x$$y"),
            ("N'x'", "x"),
        ];
        for (text, expected) in cases {
            assert_eq!(kinds(text), [Kind::Text(expected.to_owned())], "{text}");
        }
        assert_eq!(kinds("'a' 'b'").len(), 2);
        assert_eq!(kinds("'a' /*\n*/ 'b'").len(), 2);
        assert_eq!(kinds("$$a$$\n'b'").len(), 2);
    }

    #[test]
    fn errors_name_the_text() {
        let cases = [
            (
                "SELECT 'abc",
                "unterminated quoted string at or near \"'abc\"",
                8,
            ),
            (
                "SELECT \"abc",
                "unterminated quoted identifier at or near \"\"abc\"",
                8,
            ),
            (
                "SELECT /* abc",
                "unterminated /* comment at or near \"/* abc\"",
                8,
            ),
            (
                "SELECT 12abc",
                "trailing junk after numeric literal at or near \"12abc\"",
                8,
            ),
            (
                "SELECT \"\"",
                "zero-length delimited identifier at or near \"\"\"\"",
                8,
            ),
        ];
        for (text, message, column) in cases {
            let error = lexemes(text).unwrap_err();
            assert_eq!(error.message, message);
            assert_eq!(error.position.map(|p| p.column), Some(column), "{text}");
        }
    }

    #[test]
    fn numbers_are_read() {
        for (text, expected) in [
            ("0x1F", "31"),
            ("0b101", "5"),
            ("1_000_000", "1000000"),
            ("0x1_F", "31"),
            ("1_0.0_1e1_0", "10.01e10"),
            ("1.", "1."),
            (".5e-3", ".5e-3"),
        ] {
            assert_eq!(kinds(text), [Kind::Number(expected.to_owned())], "{text}");
        }
    }
}
