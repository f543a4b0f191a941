//! A text's fields: numbers, dates, times, offsets and words.
//!
//! `Feb 3, 2020 04:05 PM +02` is a word, two numbers, a time, a word and an offset. A number
//! with `-`, `/` or `.` behind it takes all that looks like a date, and a word with them in it
//! may be a date or the name of a zone. Other punctuation separates fields.

use super::Refused;

/// The kind of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Digits, perhaps with a point.
    Number,
    /// Several numbers or words with `-`, `/` or `.` between them; or the name of a zone.
    Date,
    /// Numbers with `:` between them.
    Time,
    /// A sign and digits.
    Offset,
    /// Letters.
    Word,
    /// A sign and letters.
    Special,
}

/// A field in small letters.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Its kind.
    pub(super) kind: Kind,
    /// Its text.
    pub(super) text: String,
}

/// Most fields of a text.
const FIELDS: usize = 25;
/// Most bytes of a text's fields with one more for each.
const BYTES: usize = 128 + 25;

/// The fields of a text.
pub(super) fn fields(text: &str) -> Result<Vec<Field>, Refused> {
    let bytes = text.as_bytes();
    let mut fields: Vec<Field> = Vec::new();
    let mut at = 0;
    let mut used = 0;
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    while let Some(&first) = bytes.get(at) {
        if is_space(first) {
            at += 1;
            continue;
        }
        let mut start = at;
        let mut sign = None;
        let take = |at: &mut usize, more: &dyn Fn(u8) -> bool| {
            while *at < bytes.len() && more(bytes[*at]) {
                *at += 1;
            }
        };
        let digits = |b: u8| b.is_ascii_digit();
        let kind = match first {
            b'0'..=b'9' => {
                take(&mut at, &digits);
                match byte(at) {
                    b':' => {
                        take(&mut at, &|b| b.is_ascii_digit() || b == b':' || b == b'.');
                        Kind::Time
                    }
                    delimiter @ (b'-' | b'/' | b'.') => {
                        at += 1;
                        if byte(at).is_ascii_digit() {
                            take(&mut at, &digits);
                            let mut kind = match delimiter {
                                b'.' => Kind::Number,
                                _ => Kind::Date,
                            };
                            if byte(at) == delimiter {
                                kind = Kind::Date;
                                take(&mut at, &|b| b.is_ascii_digit() || b == delimiter);
                            }
                            kind
                        } else {
                            take(&mut at, &|b| b.is_ascii_alphanumeric() || b == delimiter);
                            Kind::Date
                        }
                    }
                    _ => Kind::Number,
                }
            }
            b'.' => {
                at += 1;
                take(&mut at, &digits);
                Kind::Number
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                take(&mut at, &|b| b.is_ascii_alphabetic());
                let joined = match byte(at) {
                    b'-' | b'/' | b'.' => true,
                    b'+' | b'0'..=b'9' => {
                        let word = text[start..at].to_ascii_lowercase();
                        super::words::word(&word).is_none()
                    }
                    _ => false,
                };
                if joined {
                    take(&mut at, &|b| {
                        b.is_ascii_alphanumeric() || b"+-/_.:".contains(&b)
                    });
                    Kind::Date
                } else {
                    Kind::Word
                }
            }
            b'+' | b'-' => {
                sign = Some(char::from(first));
                at += 1;
                take(&mut at, &is_space);
                start = at;
                match byte(at) {
                    b'0'..=b'9' => {
                        take(&mut at, &|b| b.is_ascii_digit() || b":.-".contains(&b));
                        Kind::Offset
                    }
                    b'a'..=b'z' | b'A'..=b'Z' => {
                        take(&mut at, &|b| b.is_ascii_alphabetic());
                        Kind::Special
                    }
                    _ => return Err(Refused::Format),
                }
            }
            other if other.is_ascii_punctuation() => {
                at += 1;
                continue;
            }
            _ => return Err(Refused::Format),
        };
        let mut field = String::with_capacity(at - start + 1);
        field.extend(sign);
        field.push_str(&text[start..at].to_ascii_lowercase());
        used += field.len() + 1;
        if fields.len() == FIELDS || used > BYTES {
            return Err(Refused::Format);
        }
        fields.push(Field { kind, text: field });
    }
    Ok(fields)
}

/// White space as C has it.
pub(super) fn is_space(byte: u8) -> bool {
    byte == b' ' || (9..=13).contains(&byte)
}
