//! BYTEA as text.
//!
//! | form | text of the bytes 61, 5c, ff |
//! |---|---|
//! | output, hex | `\x615cff` |
//! | output, escape | `a\\\377` |
//! | `encode(…, 'hex')` | `615cff` |
//! | `encode(…, 'base64')` | `YVz/`, in lines of 76 characters |
//! | `encode(…, 'escape')` | `a\\\377` |
//!
//! Input takes both of the first two.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::super::kernel::{Bytes, Str, f1, f2, w1};
use super::super::strings::allowed;
use super::super::{Catalogue, Context, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Characters of a line of BASE64.
const LINE: usize = 76;

/// Adds the casts and functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Bytea, Text};
    c.cast(Text, Bytea, Context::Explicit, f1::<Str, Bytes>(read));
    let kernel = w1::<Bytes, Str>(|call, bytes| match call.session.bytea_escape {
        true => escape(bytes, |byte| !(0x20..0x7f).contains(&byte)),
        false => {
            allowed(bytes.len().checked_mul(2))?;
            Ok(format!("\\x{}", hex(bytes)))
        }
    });
    c.cast(Bytea, Text, Context::Assignment, kernel);
    c.add(scalar(
        "encode",
        &[Bytea, Text],
        Text,
        f2::<Bytes, Str, Str>(encode),
    ));
    c.add(scalar(
        "decode",
        &[Text, Text],
        Bytea,
        f2::<Str, Str, Bytes>(decode),
    ));
}

/// The value that a text stands for.
///
/// # Errors
/// `22P02`, and `22023` for digits that are none.
pub fn read(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(digits) => from_hex(digits),
        None => unescape(text),
    }
}

fn encode(bytes: &[u8], form: &str) -> Result<String> {
    allowed(bytes.len().checked_mul(4))?;
    match form.to_ascii_lowercase().as_str() {
        "hex" => Ok(hex(bytes)),
        "base64" => {
            let encoded = STANDARD.encode(bytes);
            let mut lines = String::with_capacity(encoded.len() + encoded.len() / LINE + 1);
            // A line ends once it is full, even if nothing follows.
            let whole = bytes.len() / 3 * 4;
            for (at, c) in encoded.chars().enumerate() {
                lines.push(c);
                if (at + 1) % LINE == 0 && at < whole {
                    lines.push('\n');
                }
            }
            Ok(lines)
        }
        "escape" => escape(bytes, |byte| byte == 0 || byte >= 0x80),
        _ => Err(unknown(form)),
    }
}

fn decode(text: &str, form: &str) -> Result<Vec<u8>> {
    match form.to_ascii_lowercase().as_str() {
        "hex" => from_hex(text),
        "base64" => from_base64(text),
        "escape" => unescape(text),
        _ => Err(unknown(form)),
    }
}

fn unknown(form: &str) -> Error {
    Error::new("22023", format!("unrecognized encoding: \"{form}\""))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half & 15)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(*byte)])
        .collect()
}

fn from_hex(text: &str) -> Result<Vec<u8>> {
    let bad = |c: char| Error::new("22023", format!("invalid hexadecimal digit: \"{c}\""));
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut digits = text.chars();
    while let Some(c) = digits.next() {
        // Blanks stand between bytes only.
        if matches!(c, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let high = c.to_digit(16).ok_or_else(|| bad(c))?;
        let odd = || Error::new("22023", "invalid hexadecimal data: odd number of digits");
        let c = digits.next().ok_or_else(odd)?;
        let low = c.to_digit(16).ok_or_else(|| bad(c))?;
        bytes.push((high * 16 + low) as u8);
    }
    Ok(bytes)
}

/// Bytes as text, those that a test finds as three octal digits.
fn escape(bytes: &[u8], octal: impl Fn(u8) -> bool) -> Result<String> {
    allowed(bytes.len().checked_mul(4))?;
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match *byte {
            b'\\' => text.push_str("\\\\"),
            byte if octal(byte) => text.push_str(&format!("\\{byte:03o}")),
            byte => text.push(char::from(byte)),
        }
    }
    Ok(text)
}

fn unescape(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return Ok(bytes),
            [b'\\', b'\\', after @ ..] => {
                bytes.push(b'\\');
                after
            }
            [
                b'\\',
                a @ b'0'..=b'3',
                b @ b'0'..=b'7',
                c @ b'0'..=b'7',
                after @ ..,
            ] => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                after
            }
            [b'\\', ..] => {
                return Err(Error::new("22P02", "invalid input syntax for type bytea"));
            }
            [byte, after @ ..] => {
                bytes.push(*byte);
                after
            }
        };
    }
}

fn from_base64(text: &str) -> Result<Vec<u8>> {
    let refused = |why: &str| Error::new("22023", why);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    // Bits of a group of four characters, how many there are, and how many of them are `=`.
    let (mut group, mut count, mut ends) = (0u32, 0, 0);
    for c in text.chars() {
        let value = match c {
            ' ' | '\t' | '\n' | '\r' => continue,
            '=' => {
                if ends == 0 {
                    match count {
                        2 => ends = 1,
                        3 => ends = 2,
                        _ => {
                            let why = "unexpected \"=\" while decoding base64 sequence";
                            return Err(refused(why));
                        }
                    }
                }
                0
            }
            'A'..='Z' => c as u32 - 'A' as u32,
            'a'..='z' => c as u32 - 'a' as u32 + 26,
            '0'..='9' => c as u32 - '0' as u32 + 52,
            '+' => 62,
            '/' => 63,
            _ => {
                let why = format!("invalid symbol \"{c}\" found while decoding base64 sequence");
                return Err(refused(&why));
            }
        };
        group = group << 6 | value;
        count += 1;
        if count == 4 {
            bytes.push((group >> 16) as u8);
            if ends == 0 || ends > 1 {
                bytes.push((group >> 8) as u8);
            }
            if ends == 0 || ends > 2 {
                bytes.push(group as u8);
            }
            (group, count) = (0, 0);
        }
    }
    match count {
        0 => Ok(bytes),
        _ => {
            let hint = "Input data is missing padding, is truncated, or is otherwise corrupted.";
            Err(refused("invalid base64 end sequence").with_hint(hint))
        }
    }
}
