//! Tokens of JSON text and the errors of text that is none.
//!
//! Errors name the token at which reading stopped, as PostgreSQL does:
//!
//! ```text
//! [1 2]      Expected "," or "]", but found "2".
//! {"a": tru} Token "tru" is invalid.
//! ```

use crate::error::{Error, Result};

/// A token; texts are without their quotes and with their escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// One of `{}[],:`.
    Mark(u8),
    /// A text; whether it has escapes.
    Text(&'a str, bool),
    /// A number.
    Number(&'a str),
    /// `true`, `false` or `null`.
    Word(&'a str),
    /// The end.
    End,
}

/// The place of a grammar in which a token is not expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A value.
    Value,
    /// The first key of an object, or its end.
    FirstKey,
    /// A key.
    Key,
    /// Between a key and its value.
    Colon,
    /// Behind a member.
    NextMember,
    /// Behind an element.
    NextElement,
    /// Behind the value.
    End,
}

/// Reads tokens one after the other.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    start: usize,
    /// Whether escapes must stand for characters.
    strict: bool,
}

fn invalid(detail: impl Into<String>) -> Error {
    Error::new("22P02", "invalid input syntax for type json").with_detail(detail)
}

/// `22P05`: U+0000 cannot be held.
fn zero() -> Error {
    Error::new("22P05", "unsupported Unicode escape sequence")
        .with_detail("\\u0000 cannot be converted to text.")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, strict: bool) -> Self {
        Self {
            text,
            at: 0,
            start: 0,
            strict,
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The text between two places; a cut character is taken whole.
    fn slice(&self, start: usize, end: usize) -> &'a str {
        let mut end = end.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.text.get(start..end).unwrap_or("")
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte(self.at) {
            self.at += 1;
        }
        self.start = self.at;
        let Some(first) = self.byte(self.at) else {
            return Ok(Token::End);
        };
        match first {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => {
                self.at += 1;
                Ok(Token::Mark(first))
            }
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            _ => {
                while self.byte(self.at).is_some_and(is_word) {
                    self.at += 1;
                }
                if self.at == self.start {
                    self.at += 1;
                }
                match self.slice(self.start, self.at) {
                    word @ ("true" | "false" | "null") => Ok(Token::Word(word)),
                    _ => Err(self.bad_token(self.at)),
                }
            }
        }
    }

    fn bad_token(&self, end: usize) -> Error {
        let token = self.slice(self.start, end);
        invalid(format!("Token \"{token}\" is invalid."))
    }

    fn digits(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(|b| b.is_ascii_digit()) {
            at += 1;
        }
        at
    }

    fn number(&mut self) -> Result<Token<'a>> {
        let mut at = self.start + usize::from(self.byte(self.start) == Some(b'-'));
        let mut bad = false;
        match self.byte(at) {
            Some(b'0') => at += 1,
            Some(b'1'..=b'9') => at = self.digits(at),
            _ => bad = true,
        }
        if self.byte(at) == Some(b'.') {
            let end = self.digits(at + 1);
            bad |= end == at + 1;
            at = end;
        }
        if let Some(b'e' | b'E') = self.byte(at) {
            at += 1;
            if let Some(b'+' | b'-') = self.byte(at) {
                at += 1;
            }
            let end = self.digits(at);
            bad |= end == at;
            at = end;
        }
        while self.byte(at).is_some_and(is_word) {
            bad = true;
            at += 1;
        }
        self.at = at;
        match bad {
            true => Err(self.bad_token(at)),
            false => Ok(Token::Number(self.slice(self.start, at))),
        }
    }

    fn string(&mut self) -> Result<Token<'a>> {
        let bytes = self.text.as_bytes();
        let mut at = self.start + 1;
        let mut escapes = false;
        // A high surrogate that waits for its low one.
        let mut high = false;
        loop {
            let Some(&byte) = bytes.get(at) else {
                return Err(self.bad_token(at));
            };
            if byte == b'\\' {
                escapes = true;
                at = self.escape(at + 1, &mut high)?;
                continue;
            }
            if byte < 0x20 {
                return Err(invalid(format!(
                    "Character with value 0x{byte:02x} must be escaped."
                )));
            }
            if high && self.strict {
                return Err(lone_low());
            }
            if byte == b'"' {
                break;
            }
            at += 1;
        }
        self.at = at + 1;
        Ok(Token::Text(self.slice(self.start + 1, at), escapes))
    }

    /// Reads what follows a backslash and gives the place behind it.
    fn escape(&mut self, at: usize, high: &mut bool) -> Result<usize> {
        let Some(byte) = self.byte(at) else {
            return Err(self.bad_token(at));
        };
        if byte != b'u' {
            if *high && self.strict {
                return Err(lone_low());
            }
            if !b"\"\\/bfnrt".contains(&byte) {
                let width = self.text.get(at..).and_then(|rest| rest.chars().next());
                let end = at + width.map_or(1, char::len_utf8);
                let found = self.slice(at, end);
                return Err(invalid(format!(
                    "Escape sequence \"\\{found}\" is invalid."
                )));
            }
            return Ok(at + 1);
        }
        let mut code = 0;
        for place in at + 1..at + 5 {
            let Some(byte) = self.byte(place) else {
                return Err(self.bad_token(place));
            };
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(invalid(
                    "\"\\u\" must be followed by four hexadecimal digits.",
                ));
            };
            code = code * 16 + digit;
        }
        if self.strict {
            match (code, *high) {
                (0xd800..=0xdbff, true) => {
                    return Err(invalid(
                        "Unicode high surrogate must not follow a high surrogate.",
                    ));
                }
                (0xd800..=0xdbff, false) => *high = true,
                (0xdc00..=0xdfff, true) => *high = false,
                (0xdc00..=0xdfff, false) | (_, true) => return Err(lone_low()),
                (0, _) => return Err(zero()),
                _ => {}
            }
        }
        Ok(at + 5)
    }

    /// The error of a token that is not expected in a place.
    pub(super) fn unexpected(&self, token: Token<'_>, place: Place) -> Error {
        if token == Token::End {
            return invalid("The input string ended unexpectedly.");
        }
        let wanted = match place {
            Place::Value => "JSON value",
            Place::FirstKey => "string or \"}\"",
            Place::Key => "string",
            Place::Colon => "\":\"",
            Place::NextMember => "\",\" or \"}\"",
            Place::NextElement => "\",\" or \"]\"",
            Place::End => "end of input",
        };
        let found = self.slice(self.start, self.at);
        invalid(format!("Expected {wanted}, but found \"{found}\"."))
    }
}

fn lone_low() -> Error {
    invalid("Unicode low surrogate must follow a high surrogate.")
}

/// The characters that a text with escapes stands for, one piece after the other; a surrogate
/// that stands alone is passed over.
pub fn pieces(raw: &str, mut each: impl FnMut(&str)) {
    let mut rest = raw;
    let mut buffer = [0; 4];
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        each(rest.get(..at).unwrap_or(""));
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        let mut end = at + 2;
        let character = match escape {
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'n' => Some('\n'),
            b'r' => Some('\r'),
            b't' => Some('\t'),
            b'u' => {
                let code = hex(rest, at + 2);
                end = at + 6;
                match (code, hex(rest, at + 8)) {
                    (high @ 0xd800..=0xdbff, low @ 0xdc00..=0xdfff) => {
                        end = at + 12;
                        char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                    }
                    _ => char::from_u32(code),
                }
            }
            other => Some(char::from(other)),
        };
        if let Some(character) = character {
            each(character.encode_utf8(&mut buffer));
        }
        rest = rest.get(end..).unwrap_or("");
    }
    each(rest);
}

/// The number of four hexadecimal digits at a place; 0 if there are none.
fn hex(text: &str, at: usize) -> u32 {
    let digits = text.get(at..at + 4);
    digits.map_or(0, |digits| u32::from_str_radix(digits, 16).unwrap_or(0))
}
