//! Unicode: normal forms, escapes and accents.
//!
//! ```text
//! normalize('a\u{308}', 'NFC')   'ä' as one character
//! unistr('\0041\+01F600')        'A😀'
//! strip_accents('é')             'e'
//! ```
//!
//! The grammar writes the form of `normalize` as a word, `normalize(x, NFC)`; it is a text here.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::super::kernel::{Bool, Str, f0, f1, f2};
use super::super::{Catalogue, scalar};
use super::allowed;
use crate::error::{Error, Result};
use crate::types::Type;

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::Text;
    c.add(scalar(
        "normalize",
        &[Text, Text],
        Text,
        f2::<Str, Str, Str>(normalize),
    ));
    let kernel = f1::<Str, Str>(|text| normalize(text, "NFC"));
    c.add(scalar("normalize", &[Text], Text, kernel));
    let kernel = f2::<Str, Str, Bool>(|text, form| Ok(normalize(text, form)? == text));
    c.add(scalar("is_normalized", &[Text, Text], Type::Bool, kernel));
    let kernel = f1::<Str, Bool>(|text| Ok(normalize(text, "NFC")? == text));
    c.add(scalar("is_normalized", &[Text], Type::Bool, kernel));
    c.add(scalar("unistr", &[Text], Text, f1::<Str, Str>(unistr)));
    let kernel = f1::<Str, Str>(|text| {
        Ok(text
            .nfd()
            .filter(|c| !is_combining_mark(*c))
            .nfc()
            .collect())
    });
    c.add(scalar("strip_accents", &[Text], Text, kernel));
    let encoding = f0::<super::super::kernel::Str>(|_| Ok("UTF8".to_owned()));
    c.add(scalar("pg_client_encoding", &[], Type::Name, encoding).stable());
}

fn normalize(text: &str, form: &str) -> Result<String> {
    let normal: String = match form.to_ascii_uppercase().as_str() {
        _ if text.is_ascii() && matches!(form, "NFC" | "NFD" | "NFKC" | "NFKD") => text.to_owned(),
        "NFC" => text.nfc().collect(),
        "NFD" => text.nfd().collect(),
        "NFKC" => text.nfkc().collect(),
        "NFKD" => text.nfkd().collect(),
        _ => {
            let message = format!("invalid normalization form: {form}");
            return Err(Error::new("22023", message));
        }
    };
    allowed(Some(normal.len()))?;
    Ok(normal)
}

/// A text with its escapes replaced.
fn unistr(text: &str) -> Result<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    // The first half of a pair of surrogates.
    let mut half: Option<u32> = None;
    let pair = || Error::new("42601", "invalid Unicode surrogate pair");
    loop {
        let Some(escape) = rest.strip_prefix('\\') else {
            if half.is_some() {
                return Err(pair());
            }
            let end = rest.find('\\').unwrap_or(rest.len());
            plain.push_str(&rest[..end]);
            rest = &rest[end..];
            if rest.is_empty() {
                return Ok(plain);
            }
            continue;
        };
        if let Some(after) = escape.strip_prefix('\\') {
            if half.is_some() {
                return Err(pair());
            }
            plain.push('\\');
            rest = after;
            continue;
        }
        let found = [("", 4), ("u", 4), ("+", 6), ("U", 8)]
            .into_iter()
            .find_map(|(mark, n)| {
                let digits = escape.strip_prefix(mark)?.get(..n)?;
                let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().filter(|_| hex)?;
                Some((code, digits, &escape[mark.len() + n..]))
            });
        let Some((code, digits, after)) = found else {
            let hint = r"Unicode escapes must be \XXXX, \+XXXXXX, \uXXXX, or \UXXXXXXXX.";
            return Err(Error::new("42601", "invalid Unicode escape").with_hint(hint));
        };
        rest = after;
        if code == 0 || code > 0x10_ffff {
            // PostgreSQL shows four digits at least.
            let shown = digits.to_uppercase();
            let shown = shown.trim_start_matches('0');
            let message = format!("invalid Unicode code point: {shown:0>4}");
            return Err(Error::new("22023", message));
        }
        plain.push(match (half.take(), code) {
            (None, 0xd800..0xdc00) => {
                half = Some(code);
                continue;
            }
            (Some(high), 0xdc00..0xe000) => {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00);
                char::from_u32(code).ok_or_else(pair)?
            }
            (None, code) => char::from_u32(code).ok_or_else(pair)?,
            (Some(_), _) => return Err(pair()),
        });
    }
}
