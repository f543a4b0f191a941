//! Texts in other character sets than UTF-8: ISO 8859-1 and none in particular.
//!
//! ```text
//! convert_to('ä', 'LATIN1')           \xe4
//! convert_from('\xe4', 'LATIN1')      ä
//! convert('\xc3a4', 'UTF8', 'LATIN1') \xe4
//! ```

use super::super::kernel::{Bytes, I32, Str, f2, f3};
use super::super::strings::count;
use super::super::{Catalogue, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

#[derive(Clone, Copy, PartialEq)]
enum Charset {
    Utf8,
    Latin1,
    /// Bytes of which only those below 128 have a meaning.
    Ascii,
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Bytea, Int4, Name, Text};
    let kernel = f2::<Bytes, Str, Str>(|bytes, from| {
        let decoded = convert(bytes, from, "UTF8")?;
        String::from_utf8(decoded).map_err(|_| Error::internal("a text is not in UTF-8"))
    });
    c.add(scalar("convert_from", &[Bytea, Name], Text, kernel));
    let kernel = f2::<Str, Str, Bytes>(|text, to| convert(text.as_bytes(), "UTF8", to));
    c.add(scalar("convert_to", &[Text, Name], Bytea, kernel));
    let kernel = f3::<Bytes, Str, Str, Bytes>(convert);
    c.add(scalar("convert", &[Bytea, Name, Name], Bytea, kernel));
    let kernel = f2::<Bytes, Str, I32>(|bytes, name| {
        let bad = || Error::new("22023", format!("invalid encoding name \"{name}\""));
        match named(name).ok_or_else(bad)? {
            Charset::Utf8 => count(checked(bytes)?.chars().count()),
            charset => {
                no_zero(charset, bytes)?;
                count(bytes.len())
            }
        }
    });
    c.add(scalar("length", &[Bytea, Name], Int4, kernel));
}

/// The character set of a name; case and signs do not count.
fn named(name: &str) -> Option<Charset> {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let letters: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    match letters.as_str() {
        "utf8" | "unicode" => Some(Charset::Utf8),
        "latin1" | "iso88591" => Some(Charset::Latin1),
        "sqlascii" => Some(Charset::Ascii),
        _ => None,
    }
}

fn convert(bytes: &[u8], from: &str, to: &str) -> Result<Vec<u8>> {
    let bad = |which: &str, name: &str| {
        Error::new("22023", format!("invalid {which} encoding name \"{name}\""))
    };
    let source = named(from).ok_or_else(|| bad("source", from))?;
    let target = named(to).ok_or_else(|| bad("destination", to))?;
    no_zero(source, bytes)?;
    match (source, target) {
        (Charset::Latin1, Charset::Utf8) => Ok(bytes
            .iter()
            .map(|byte| char::from(*byte))
            .collect::<String>()
            .into_bytes()),
        (Charset::Utf8, Charset::Latin1) => {
            let code = |c: char| {
                u8::try_from(u32::from(c)).map_err(|_| {
                    let message = format!(
                        "character with byte sequence {} in encoding \"UTF8\" has no equivalent \
                         in encoding \"LATIN1\"",
                        listed(c.to_string().as_bytes())
                    );
                    Error::new("22P05", message)
                })
            };
            checked(bytes)?.chars().map(code).collect()
        }
        (Charset::Latin1, _) => Ok(bytes.to_vec()),
        // No meaning is no conversion, but the result is a text.
        (Charset::Utf8, _) | (_, Charset::Utf8) => Ok(checked(bytes)?.as_bytes().to_vec()),
        _ => Ok(bytes.to_vec()),
    }
}

/// Refuses the character of code 0 in a character set of single bytes.
fn no_zero(charset: Charset, bytes: &[u8]) -> Result<()> {
    match charset {
        Charset::Latin1 if bytes.contains(&0) => Err(invalid("LATIN1", &[0])),
        Charset::Ascii if bytes.contains(&0) => Err(invalid("SQL_ASCII", &[0])),
        _ => Ok(()),
    }
}

/// Bytes as a text in UTF-8, without the character of code 0.
fn checked(bytes: &[u8]) -> Result<&str> {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let valid = memchr::memchr(0, &bytes[..valid]).unwrap_or(valid);
    let rest = &bytes[valid..];
    let Some(first) = rest.first() else {
        return std::str::from_utf8(bytes).map_err(|_| Error::internal("a text is not in UTF-8"));
    };
    let length = match first {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => 1,
    };
    Err(invalid("UTF8", &rest[..rest.len().min(length)]))
}

fn invalid(charset: &str, bytes: &[u8]) -> Error {
    let listed = listed(bytes);
    let message = format!("invalid byte sequence for encoding \"{charset}\": {listed}");
    Error::new("22021", message)
}

fn listed(bytes: &[u8]) -> String {
    let listed: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    listed.join(" ")
}
