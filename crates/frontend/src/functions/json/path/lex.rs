//! Tokens of a path.
//!
//! An error names the text that was read last. Behind a word that is what ended it: a blank, or
//! nothing.

use crate::error::{Error, Result};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or a keyword, as written.
    Word(String),
    /// A text in quotes.
    Text(String),
    /// `$name`.
    Variable(String),
    /// A number with a point or an exponent.
    Number(String),
    /// An integer.
    Integer(String),
    /// An operator or a mark.
    Mark(&'static str),
    /// The end.
    End,
}

/// Reads tokens one after the other.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The text that was read last.
    last: &'a str,
}

const MARKS: [&str; 33] = [
    "&&", "||", "**", "<=", "==", "<>", "!=", ">=", "<", ">", "!", "?", "%", "$", ".", "[", "]",
    "{", "}", "(", ")", "|", "&", "=", "@", "#", ",", "*", ":", "-", "+", "/", "\u{0}",
];

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

fn is_special(c: char) -> bool {
    "?%$.[]{}()|&!=<>@#,*:-+/".contains(c)
}

/// Characters of names.
fn is_other(c: char) -> bool {
    !is_blank(c) && !is_special(c) && c != '\\' && c != '"'
}

/// The end of a part of a text.
enum End {
    /// A closing quote.
    Quote,
    /// A character that is no part of a name.
    Name,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            last: "",
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes characters as long as they are of a kind.
    fn take(&mut self, of: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !of(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or("")
    }

    /// An error at the text that was read last.
    pub(super) fn error(&self, message: &str) -> Error {
        let text = match self.last {
            "" => format!("{message} at end of jsonpath input"),
            last => format!("{message} at or near \"{last}\" of jsonpath input"),
        };
        Error::new("42601", text)
    }

    fn read(&mut self, start: usize) -> &'a str {
        self.last = self.text.get(start..self.at).unwrap_or("");
        self.last
    }

    /// The next token. A name with a comment right behind it is passed over, for
    /// compatibility.
    pub(super) fn next(&mut self) -> Result<Token> {
        loop {
            self.take(is_blank);
            if self.rest().starts_with("/*") {
                self.comment()?;
                continue;
            }
            let token = self.token()?;
            if !matches!(token, Token::Word(_)) || !self.rest().starts_with("/*") {
                return Ok(token);
            }
        }
    }

    fn token(&mut self) -> Result<Token> {
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            self.last = "";
            return Ok(Token::End);
        };
        let second = rest.chars().nth(1);
        match first {
            '"' => {
                self.at += 1;
                let text = self.string(End::Quote)?;
                self.last = "\"";
                return Ok(Token::Text(text));
            }
            '$' if second == Some('"') => {
                self.at += 2;
                let name = self.string(End::Quote)?;
                self.last = "\"";
                return Ok(Token::Variable(name));
            }
            '$' if second.is_some_and(is_other) => {
                self.at += 1;
                let name = self.take(is_other).to_owned();
                self.read(start);
                return Ok(Token::Variable(name));
            }
            '0'..='9' => return self.number(),
            '.' if second.is_some_and(|c| c.is_ascii_digit()) => return self.number(),
            c if is_other(c) || c == '\\' => return self.word(),
            _ => {}
        }
        let mark = MARKS.iter().find(|mark| rest.starts_with(**mark)).copied();
        self.at += mark.map_or(first.len_utf8(), str::len);
        self.read(start);
        Ok(Token::Mark(match mark {
            Some("<>") => "!=",
            Some(mark) => mark,
            None => "",
        }))
    }

    /// Reads a name and notes what ended it.
    fn word(&mut self) -> Result<Token> {
        let name = self.string(End::Name)?;
        let start = self.at;
        self.take(is_blank);
        self.read(start);
        Ok(Token::Word(name))
    }

    fn comment(&mut self) -> Result<()> {
        match self.rest().get(2..).and_then(|rest| rest.find("*/")) {
            Some(end) => {
                self.at += end + 4;
                Ok(())
            }
            None => {
                self.last = "";
                Err(self.error("unexpected end of comment"))
            }
        }
    }

    fn number(&mut self) -> Result<Token> {
        let start = self.at;
        let rest = self.rest();
        let run = rest.find(|c| !is_other(c)).unwrap_or(rest.len());
        let digit = |c: char| c.is_ascii_digit();
        let mut whole = true;
        if self.peek() == Some('0') {
            self.at += 1;
        } else {
            self.take(digit);
        }
        if self.peek() == Some('.') {
            self.at += 1;
            self.take(digit);
            whole = false;
        }
        if let Some('e' | 'E') = self.peek() {
            let mut after = self.rest().chars().skip(1);
            let sign = after.clone().next().is_some_and(|c| matches!(c, '+' | '-'));
            if sign {
                after.next();
            }
            if after.next().is_some_and(digit) {
                self.at += 1 + usize::from(sign);
                self.take(digit);
                whole = false;
            } else if sign {
                self.at += 2;
                self.read(start);
                return Err(self.error("invalid numeric literal"));
            }
        }
        if let Some(c) = self.peek()
            && is_other(c)
        {
            self.at += c.len_utf8();
            // A name may begin with digits, and the longer token counts.
            if start + run > self.at {
                self.at = start;
                return self.word();
            }
            self.read(start);
            return Err(self.error("trailing junk after numeric literal"));
        }
        let text = self.read(start).to_owned();
        Ok(match whole {
            true => Token::Integer(text),
            false => Token::Number(text),
        })
    }

    /// Characters with escapes, up to an end.
    fn string(&mut self, end: End) -> Result<String> {
        let mut out = String::new();
        // A high surrogate that waits for its low one.
        let mut high: Option<u32> = None;
        loop {
            let start = self.at;
            let Some(c) = self.peek() else {
                self.last = "";
                return match end {
                    End::Quote => Err(self.error("unexpected end of quoted string")),
                    End::Name => Ok(out),
                };
            };
            match c {
                '\\' => {
                    self.at += 1;
                    self.escape(start, &mut high, &mut out)?;
                    continue;
                }
                _ if high.is_some() => return Err(lone_low()),
                '"' => {
                    if let End::Quote = end {
                        self.at += 1;
                    }
                    return Ok(out);
                }
                c if matches!(end, End::Name) && !is_other(c) => return Ok(out),
                c => {
                    self.at += c.len_utf8();
                    out.push(c);
                }
            }
        }
    }

    fn escape(&mut self, start: usize, high: &mut Option<u32>, out: &mut String) -> Result<()> {
        let Some(c) = self.peek() else {
            self.read(start);
            return Err(self.error("unexpected end after backslash"));
        };
        self.at += c.len_utf8();
        if high.is_some() && c != 'u' {
            return Err(lone_low());
        }
        let code = match c {
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            'x' => {
                let found = self.hex(2);
                if found.len() < 2 {
                    self.read(start);
                    return Err(self.error("invalid hex character sequence"));
                }
                u32::from_str_radix(found, 16).unwrap_or(0)
            }
            'u' => {
                let braces = self.peek() == Some('{');
                self.at += usize::from(braces);
                let found = self.hex(if braces { 6 } else { 4 });
                let closed = !braces || self.peek() == Some('}');
                if found.is_empty() || !braces && found.len() < 4 || !closed {
                    self.read(start);
                    return Err(self.error("invalid unicode sequence"));
                }
                self.at += usize::from(braces);
                u32::from_str_radix(found, 16).unwrap_or(0)
            }
            other => u32::from(other),
        };
        let code = match (code, *high) {
            (0xd800..=0xdbff, Some(_)) => {
                return Err(invalid(
                    "Unicode high surrogate must not follow a high surrogate.",
                ));
            }
            (0xd800..=0xdbff, None) => {
                *high = Some(code);
                return Ok(());
            }
            (0xdc00..=0xdfff, Some(first)) => {
                *high = None;
                0x10000 + ((first - 0xd800) << 10) + (code - 0xdc00)
            }
            (0xdc00..=0xdfff, None) | (_, Some(_)) => return Err(lone_low()),
            (code, None) => code,
        };
        if code == 0 {
            return Err(Error::new("22P05", "unsupported Unicode escape sequence")
                .with_detail("\\u0000 cannot be converted to text."));
        }
        let c = char::from_u32(code)
            .ok_or_else(|| Error::new("22P02", "invalid Unicode code point"))?;
        out.push(c);
        Ok(())
    }

    /// Takes up to so many hexadecimal digits.
    fn hex(&mut self, most: usize) -> &'a str {
        let rest = self.rest();
        let digits = rest
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_hexdigit)
            .count();
        self.at += digits;
        rest.get(..digits).unwrap_or("")
    }
}

fn invalid(detail: &str) -> Error {
    Error::new("22P02", "invalid input syntax for type jsonpath").with_detail(detail)
}

fn lone_low() -> Error {
    invalid("Unicode low surrogate must follow a high surrogate.")
}
