//! Binary strings: functions and operators of BYTEA.
//!
//! Bytes are counted from 1 by `substring` and its kin, and from 0 by `get_byte`; bits from 0,
//! the lowest bit of a byte first.
//!
//! | module | holds |
//! |---|---|
//! | `text` | BYTEA as text: its input and output, `encode`, `decode` |
//! | `send` | values in the binary form of the protocol |
//! | `charset` | texts in other character sets: `convert_from`, `convert_to` |

mod charset;
mod send;
mod text;

pub use text::read as read_bytes;

use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::kernel::{Bytes, I32, I64, Str, f1, f2, f3, f4};
use super::strings::{allowed, count, places};
use super::{Catalogue, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Bytea, Int4, Int8, Text};
    charset::register(c);
    text::register(c);
    let kernel = f2::<Bytes, Bytes, Bytes>(|a, b| {
        allowed(a.len().checked_add(b.len()))?;
        Ok([a, b].concat())
    });
    c.operator("||", &[Bytea, Bytea], Bytea, kernel);
    for name in ["octet_length", "length"] {
        c.add(scalar(
            name,
            &[Bytea],
            Int4,
            f1::<Bytes, I32>(|bytes| count(bytes.len())),
        ));
    }
    let kernel = f1::<Bytes, I32>(|bytes| {
        let bits = i32::try_from(bytes.len())
            .ok()
            .and_then(|bytes| bytes.checked_mul(8));
        bits.ok_or_else(|| Error::new("22003", "integer out of range"))
    });
    c.add(scalar("bit_length", &[Bytea], Int4, kernel));
    let kernel =
        f1::<Bytes, I64>(|bytes| Ok(bytes.iter().map(|byte| i64::from(byte.count_ones())).sum()));
    c.add(scalar("bit_count", &[Bytea], Int8, kernel));
    let kernel = f2::<Bytes, Bytes, I32>(|bytes, part| match memchr::memmem::find(bytes, part) {
        Some(at) => count(at + 1),
        None => Ok(0),
    });
    c.add(scalar("position", &[Bytea, Bytea], Int4, kernel));
    for name in ["substr", "substring"] {
        let kernel = f2::<Bytes, I32, Bytes>(|bytes, from| Ok(part(bytes, from, None)?.to_vec()));
        c.add(scalar(name, &[Bytea, Int4], Bytea, kernel));
        let kernel = f3::<Bytes, I32, I32, Bytes>(|bytes, from, length| {
            Ok(part(bytes, from, Some(length))?.to_vec())
        });
        c.add(scalar(name, &[Bytea, Int4, Int4], Bytea, kernel));
    }
    for (name, left, right) in [
        ("btrim", true, true),
        ("trim", true, true),
        ("ltrim", true, false),
        ("rtrim", false, true),
    ] {
        let kernel =
            f2::<Bytes, Bytes, Bytes>(move |bytes, set| Ok(trim(bytes, set, left, right).to_vec()));
        c.add(scalar(name, &[Bytea, Bytea], Bytea, kernel));
    }
    let kernel = f3::<Bytes, Bytes, I32, Bytes>(|bytes, new, from| {
        overlay(bytes, new, from, count(new.len())?)
    });
    c.add(scalar("overlay", &[Bytea, Bytea, Int4], Bytea, kernel));
    let kernel = f4::<Bytes, Bytes, I32, I32, Bytes>(overlay);
    c.add(scalar(
        "overlay",
        &[Bytea, Bytea, Int4, Int4],
        Bytea,
        kernel,
    ));
    bits(c);
    send::register(c);
    let kernel = f1::<Bytes, Str>(|bytes| Ok(format!("{:x}", md5::compute(bytes))));
    c.add(scalar("md5", &[Bytea], Text, kernel));
    let mut hash = |name: &'static str, of: fn(&[u8]) -> Vec<u8>| {
        c.add(scalar(
            name,
            &[Bytea],
            Bytea,
            f1::<Bytes, Bytes>(move |bytes| Ok(of(bytes))),
        ));
    };
    hash("sha224", |bytes| Sha224::digest(bytes).to_vec());
    hash("sha256", |bytes| Sha256::digest(bytes).to_vec());
    hash("sha384", |bytes| Sha384::digest(bytes).to_vec());
    hash("sha512", |bytes| Sha512::digest(bytes).to_vec());
}

/// Functions of single bytes and bits.
fn bits(c: &mut Catalogue) {
    use Type::{Bytea, Int4, Int8};
    let kernel = f2::<Bytes, I32, I32>(|bytes, at| {
        let at = place(at.into(), bytes.len())?;
        Ok(bytes.get(at).copied().unwrap_or_default().into())
    });
    c.add(scalar("get_byte", &[Bytea, Int4], Int4, kernel));
    let kernel = f2::<Bytes, I64, I32>(|bytes, at| {
        let at = place(at, bytes.len().saturating_mul(8))?;
        let byte = bytes.get(at / 8).copied().unwrap_or_default();
        Ok((byte >> (at % 8) & 1).into())
    });
    c.add(scalar("get_bit", &[Bytea, Int8], Int4, kernel));
    let kernel = f3::<Bytes, I32, I32, Bytes>(|bytes, at, new| {
        let at = place(at.into(), bytes.len())?;
        let mut bytes = bytes.to_vec();
        if let Some(byte) = bytes.get_mut(at) {
            *byte = (new & 0xff) as u8;
        }
        Ok(bytes)
    });
    c.add(scalar("set_byte", &[Bytea, Int4, Int4], Bytea, kernel));
    let kernel = f3::<Bytes, I64, I32, Bytes>(|bytes, at, new| {
        let at = place(at, bytes.len().saturating_mul(8))?;
        let mut bytes = bytes.to_vec();
        let bit = 1 << (at % 8);
        if let Some(byte) = bytes.get_mut(at / 8) {
            match new {
                0 => *byte &= !bit,
                1 => *byte |= bit,
                _ => return Err(Error::new("22023", "new bit must be 0 or 1")),
            }
        }
        Ok(bytes)
    });
    c.add(scalar("set_bit", &[Bytea, Int8, Int4], Bytea, kernel));
}

/// A place, from 0, among a number of them.
fn place(at: i64, length: usize) -> Result<usize> {
    let within = usize::try_from(at).ok().filter(|at| *at < length);
    within.ok_or_else(|| {
        let last = length as i64 - 1;
        Error::new("2202E", format!("index {at} out of valid range, 0..{last}"))
    })
}

fn part(bytes: &[u8], from: i32, length: Option<i32>) -> Result<&[u8]> {
    let places = places(from, length)?;
    let start = places.start.min(bytes.len());
    Ok(&bytes[start..places.end.clamp(start, bytes.len())])
}

fn trim<'a>(mut bytes: &'a [u8], set: &[u8], left: bool, right: bool) -> &'a [u8] {
    while left
        && let [first, rest @ ..] = bytes
        && set.contains(first)
    {
        bytes = rest;
    }
    while right
        && let [rest @ .., last] = bytes
        && set.contains(last)
    {
        bytes = rest;
    }
    bytes
}

fn overlay(bytes: &[u8], new: &[u8], from: i32, length: i32) -> Result<Vec<u8>> {
    if from <= 0 {
        return Err(Error::new("22011", "negative substring length not allowed"));
    }
    let rest = from.checked_add(length);
    let rest = rest.ok_or_else(|| Error::new("22003", "integer out of range"))?;
    let before = part(bytes, 1, Some(from - 1))?;
    let after = part(bytes, rest, None)?;
    allowed(Some(before.len() + new.len() + after.len()))?;
    Ok([before, new, after].concat())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, cast, operate};
    use super::*;

    fn bytes(texts: &[&'static str]) -> Vec<(Type, Option<&'static str>)> {
        texts
            .iter()
            .map(|text| (Type::Bytea, Some(*text)))
            .collect()
    }

    #[test]
    fn functions_of_bytes() {
        for (name, arguments, wanted) in [
            ("btrim", &["\\x1234567890", "\\x9012"][..], "\\x345678"),
            ("ltrim", &["\\x1234567890", "\\x9012"], "\\x34567890"),
            ("rtrim", &["\\x1234567890", "\\x9012"], "\\x12345678"),
            ("md5", &["Th\\000omas"], "8ab2d3c9689aaf18b4958c334c82d8b1"),
            (
                "sha224",
                &["abc"],
                "\\x23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
            ),
        ] {
            let found = call(name, &bytes(arguments)).unwrap().unwrap();
            assert_eq!(found, wanted, "{name}{arguments:?}");
        }
        let joined = operate("||", &bytes(&["\\x12", "ab"]));
        assert_eq!(joined, Ok(Some("\\x126162".to_owned())));
    }

    #[test]
    fn places_and_parts() {
        assert_eq!(part(b"abcd", 0, Some(2)).unwrap(), b"a");
        assert_eq!(part(b"abcd", 2, None).unwrap(), b"bcd");
        assert_eq!(part(b"abcd", 9, Some(i32::MAX)).unwrap(), b"");
        assert_eq!(part(b"abcd", 1, Some(-1)).unwrap_err().sqlstate, "22011");
        let error = place(4, 4).unwrap_err();
        assert_eq!(error.sqlstate, "2202E");
        assert_eq!(error.message, "index 4 out of valid range, 0..3");
        assert_eq!(
            place(0, 0).unwrap_err().message,
            "index 0 out of valid range, 0..-1"
        );
        assert_eq!(overlay(b"1234567890", b"ab", 2, 3).unwrap(), b"1ab567890");
    }

    #[test]
    fn input_and_output() {
        for (text, shown) in [
            ("\\xDEADbeef", "\\xdeadbeef"),
            ("\\x de ad", "\\xdead"),
            ("abc\\\\d\\001", "\\x6162635c6401"),
            ("", "\\x"),
            ("ä", "\\xc3a4"),
        ] {
            let found = cast((Type::Text, Some(text)), &Type::Bytea);
            assert_eq!(found, Ok(Some(shown.to_owned())), "{text}");
        }
        for (text, sqlstate, message) in [
            ("\\xg", "22023", "invalid hexadecimal digit: \"g\""),
            (
                "\\x123",
                "22023",
                "invalid hexadecimal data: odd number of digits",
            ),
            ("\\1", "22P02", "invalid input syntax for type bytea"),
            ("\\477", "22P02", "invalid input syntax for type bytea"),
        ] {
            let error = cast((Type::Text, Some(text)), &Type::Bytea).unwrap_err();
            assert_eq!(
                (error.sqlstate, error.message.as_str()),
                (sqlstate, message)
            );
        }
    }
}
