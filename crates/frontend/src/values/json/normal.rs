//! The check of a JSON text, and its normal form.
//!
//! Both read the tokens once, without recursion. The normal form is written while reading; an
//! object whose members come out of order, or twice, is written anew at its end.

use std::ops::Range;

use super::lex::{Lexer, Place, Token, pieces};
use super::walk::{compare_raw_keys, quote};
use super::{MAX_DEPTH, number, too_deep};
use crate::error::{Error, Result};

/// Is told what a text holds.
trait Sink {
    /// An array or an object begins.
    fn open(&mut self, object: bool);
    /// The last one that began ends.
    fn close(&mut self, object: bool);
    /// A key.
    fn key(&mut self, raw: &str, escapes: bool);
    /// A text.
    fn text(&mut self, raw: &str, escapes: bool);
    /// A number.
    fn number(&mut self, text: &str) -> Result<()>;
    /// `true`, `false` or `null`.
    fn word(&mut self, word: &str);
}

/// Reads a whole text.
fn read(text: &str, strict: bool, sink: &mut impl Sink) -> Result<()> {
    let mut lexer = Lexer::new(text, strict);
    // Whether each array or object that is open is an object.
    let mut open: Vec<bool> = Vec::new();
    let mut place = Place::Value;
    // Whether an array has just begun, and may end.
    let mut fresh = false;
    loop {
        let token = lexer.next()?;
        let was_fresh = std::mem::take(&mut fresh);
        match (place, token) {
            (Place::Value, Token::Mark(b']')) if was_fresh => {
                open.pop();
                sink.close(false);
                place = behind(&open);
            }
            (Place::Value, Token::Mark(mark @ (b'{' | b'['))) => {
                if open.len() >= MAX_DEPTH {
                    return Err(too_deep());
                }
                open.push(mark == b'{');
                sink.open(mark == b'{');
                match mark {
                    b'{' => place = Place::FirstKey,
                    _ => fresh = true,
                }
            }
            (Place::Value, token) => {
                match token {
                    Token::Text(raw, escapes) => sink.text(raw, escapes),
                    Token::Number(text) => sink.number(text)?,
                    Token::Word(word) => sink.word(word),
                    other => return Err(lexer.unexpected(other, Place::Value)),
                }
                place = behind(&open);
            }
            (Place::FirstKey | Place::Key, Token::Text(raw, escapes)) => {
                sink.key(raw, escapes);
                place = Place::Colon;
            }
            (Place::Colon, Token::Mark(b':')) => place = Place::Value,
            (Place::NextMember, Token::Mark(b',')) => place = Place::Key,
            (Place::NextElement, Token::Mark(b',')) => place = Place::Value,
            (Place::FirstKey | Place::NextMember, Token::Mark(b'}')) => {
                open.pop();
                sink.close(true);
                place = behind(&open);
            }
            (Place::NextElement, Token::Mark(b']')) => {
                open.pop();
                sink.close(false);
                place = behind(&open);
            }
            (Place::End, Token::End) => return Ok(()),
            (place, token) => return Err(lexer.unexpected(token, place)),
        }
    }
}

fn behind(open: &[bool]) -> Place {
    match open.last() {
        None => Place::End,
        Some(true) => Place::NextMember,
        Some(false) => Place::NextElement,
    }
}

/// Takes no notice.
struct Nothing;

impl Sink for Nothing {
    fn open(&mut self, _: bool) {}
    fn close(&mut self, _: bool) {}
    fn key(&mut self, _: &str, _: bool) {}
    fn text(&mut self, _: &str, _: bool) {}
    fn number(&mut self, _: &str) -> Result<()> {
        Ok(())
    }
    fn word(&mut self, _: &str) {}
}

/// Checks that a text is JSON. With `strict`, escapes must stand for characters that a text
/// can hold, too.
///
/// # Errors
/// `22P02`, `22P05`, `54001`.
pub fn validate(text: &str, strict: bool) -> Result<()> {
    read(text, strict, &mut Nothing)
}

/// A member that is written: its key without quotes and the whole of it.
struct Written {
    key: Range<usize>,
    whole: Range<usize>,
}

/// Writes the normal form.
struct Writer {
    out: String,
    /// The first place of each array or object that is open, and its first of `members`.
    open: Vec<(usize, usize)>,
    members: Vec<Written>,
    /// Whether a value follows another one.
    follows: bool,
}

impl Writer {
    /// Is called before each value.
    fn value(&mut self) {
        if self.follows {
            self.out.push_str(", ");
        }
        self.follows = true;
    }

    fn quoted(&mut self, raw: &str, escapes: bool) {
        if !escapes {
            self.out.push('"');
            self.out.push_str(raw);
            self.out.push('"');
            return;
        }
        let mut plain = String::with_capacity(raw.len());
        pieces(raw, |piece| plain.push_str(piece));
        quote(&plain, &mut self.out);
    }

    /// Orders the members of the object that ends.
    fn order(&mut self, start: usize, first: usize) {
        let out = &self.out;
        let raw = |written: &Written| out.get(written.key.clone()).unwrap_or("");
        let members = self.members.get_mut(first..).unwrap_or(&mut []);
        let ordered = members
            .windows(2)
            .all(|pair| compare_raw_keys(raw(&pair[0]), raw(&pair[1])).is_lt());
        if ordered {
            return;
        }
        // The sort is stable: of equal keys the last one stands last.
        members.sort_by(|a, b| compare_raw_keys(raw(a), raw(b)));
        let mut anew = String::with_capacity(out.len() - start);
        for (at, member) in members.iter().enumerate() {
            if members
                .get(at + 1)
                .is_some_and(|next| raw(next) == raw(member))
            {
                continue;
            }
            anew.push_str(if anew.is_empty() { "{" } else { ", " });
            anew.push_str(out.get(member.whole.clone()).unwrap_or(""));
        }
        self.out.truncate(start);
        self.out.push_str(&anew);
    }
}

impl Sink for Writer {
    fn open(&mut self, object: bool) {
        self.value();
        self.open.push((self.out.len(), self.members.len()));
        self.out.push(if object { '{' } else { '[' });
        self.follows = false;
    }

    fn close(&mut self, object: bool) {
        let (start, first) = self.open.pop().unwrap_or((0, 0));
        if object {
            self.end_member(first);
            self.order(start, first);
            self.members.truncate(first);
        }
        self.out.push(if object { '}' } else { ']' });
        self.follows = true;
    }

    fn key(&mut self, raw: &str, escapes: bool) {
        let first = self.open.last().map_or(0, |(_, first)| *first);
        self.end_member(first);
        self.value();
        let start = self.out.len();
        self.quoted(raw, escapes);
        let end = self.out.len();
        self.members.push(Written {
            key: start + 1..end - 1,
            whole: start..end,
        });
        self.out.push_str(": ");
        self.follows = false;
    }

    fn text(&mut self, raw: &str, escapes: bool) {
        self.value();
        self.quoted(raw, escapes);
    }

    fn number(&mut self, text: &str) -> Result<()> {
        self.value();
        self.out.push_str(&number::normal(text)?);
        Ok(())
    }

    fn word(&mut self, word: &str) {
        self.value();
        self.out.push_str(word);
    }
}

impl Writer {
    /// Notes where the last member of the object that is open ends.
    fn end_member(&mut self, first: usize) {
        let end = self.out.len();
        if self.members.len() > first
            && let Some(last) = self.members.last_mut()
        {
            last.whole.end = end;
        }
    }
}

/// The normal form of a JSON text: that of JSONB.
///
/// # Errors
/// `22P02`, `22P05`, `22003`, `54001`.
pub fn normal(text: &str) -> Result<String> {
    if text.len() >= 1 << 30 {
        return Err(Error::new("54000", "requested length too large"));
    }
    let mut writer = Writer {
        out: String::with_capacity(text.len()),
        open: Vec::new(),
        members: Vec::new(),
        follows: false,
    };
    read(text, true, &mut writer)?;
    Ok(writer.out)
}
