//! Parts of a JSON text that is known to be valid, as slices of it.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::lex::pieces;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `null`.
    Null,
    /// A text.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The name that `json_typeof` gives.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Bool => "boolean",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

/// The kind of a value.
pub fn kind(text: &str) -> Kind {
    let bytes = text.as_bytes();
    match bytes.get(skip_blanks(bytes, 0)) {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'n') | None => Kind::Null,
        _ => Kind::Number,
    }
}

/// The place of the next byte that is no blank.
#[inline]
pub(crate) fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The place behind the text whose opening quote is at a place.
#[inline]
fn skip_text(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    loop {
        let rest = bytes.get(at..).unwrap_or(&[]);
        match memchr::memchr2(b'"', b'\\', rest) {
            None => return bytes.len(),
            Some(found) if rest[found] == b'"' => return at + found + 1,
            Some(found) => at += found + 2,
        }
    }
}

/// The place behind the value that begins at a place.
pub(crate) fn skip_value(bytes: &[u8], mut at: usize) -> usize {
    match bytes.get(at) {
        Some(b'"') => return skip_text(bytes, at),
        Some(b'{' | b'[') => {}
        _ => {
            while let Some(byte) = bytes.get(at)
                && !matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\t' | b'\r')
            {
                at += 1;
            }
            return at;
        }
    }
    let mut depth = 0usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = skip_text(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The elements of an array, one after the other; none of another value.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Elements<'a> {
    /// The elements of a value.
    pub fn new(text: &'a str) -> Self {
        let at = skip_blanks(text.as_bytes(), 0);
        let at = match text.as_bytes().get(at) {
            Some(b'[') => at + 1,
            _ => text.len(),
        };
        Self { text, at }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let mut start = skip_blanks(bytes, self.at);
        if bytes.get(start) == Some(&b',') {
            start = skip_blanks(bytes, start + 1);
        }
        if matches!(bytes.get(start), None | Some(b']')) {
            self.at = bytes.len();
            return None;
        }
        self.at = skip_value(bytes, start);
        self.text.get(start..self.at)
    }
}

/// The members of an object, one after the other: the key without quotes and with its escapes,
/// and the value. None of another value.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Members<'a> {
    /// The members of a value.
    pub fn new(text: &'a str) -> Self {
        let at = skip_blanks(text.as_bytes(), 0);
        let at = match text.as_bytes().get(at) {
            Some(b'{') => at + 1,
            _ => text.len(),
        };
        Self { text, at }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let mut key = skip_blanks(bytes, self.at);
        if bytes.get(key) == Some(&b',') {
            key = skip_blanks(bytes, key + 1);
        }
        if bytes.get(key) != Some(&b'"') {
            self.at = bytes.len();
            return None;
        }
        let end = skip_text(bytes, key);
        let mut start = skip_blanks(bytes, end);
        if bytes.get(start) == Some(&b':') {
            start = skip_blanks(bytes, start + 1);
        }
        self.at = skip_value(bytes, start);
        Some((
            self.text.get(key + 1..end - 1)?,
            self.text.get(start..self.at)?,
        ))
    }
}

/// The value of a key of an object in normal form. The key is given as normal form has it,
/// without quotes.
pub fn find<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    Members::new(object)
        .find(|(found, _)| *found == key)
        .map(|(_, value)| value)
}

/// The characters that a text without its quotes stands for.
pub fn unquoted(raw: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut plain = String::with_capacity(raw.len());
    pieces(raw, |piece| plain.push_str(piece));
    Cow::Owned(plain)
}

/// A text without its quotes.
pub fn inside(text: &str) -> &str {
    let text = text.strip_prefix('"').unwrap_or(text);
    text.strip_suffix('"').unwrap_or(text)
}

/// Writes characters as a JSON text.
pub fn quote(plain: &str, out: &mut String) {
    out.push('"');
    escape(plain, out);
    out.push('"');
}

fn escape(plain: &str, out: &mut String) {
    let mut from = 0;
    for (at, byte) in plain.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(plain.get(from..at).unwrap_or(""));
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => out.push_str(&format!("\\u{byte:04x}")),
        }
    }
    out.push_str(plain.get(from..).unwrap_or(""));
}

/// Characters as a JSON text without its quotes: as normal form has them.
pub fn quoted(plain: &str) -> Cow<'_, str> {
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    if !plain.bytes().any(special) {
        return Cow::Borrowed(plain);
    }
    let mut out = String::with_capacity(plain.len() + 8);
    escape(plain, &mut out);
    Cow::Owned(out)
}

/// The order of the keys of an object: by length, then by bytes.
pub(crate) fn compare_raw_keys(a: &str, b: &str) -> Ordering {
    let (a, b) = (unquoted(a), unquoted(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
}
