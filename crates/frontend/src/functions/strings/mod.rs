//! Strings: functions and operators of TEXT.
//!
//! Positions and lengths count characters, that is code points. VARCHAR, CHAR and NAME become
//! TEXT first, by which CHAR loses its trailing blanks. Case is that of Unicode's simple
//! mappings, character by character, as in the locale `C.UTF-8`: `upper('ß')` is `ß`.
//!
//! ```text
//! left('äöü', -1)                  'äö'
//! lpad('7', 3, '0')                '007'
//! split_part('a,b,c', ',', -1)     'c'
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `concat` | joining texts and other values: `||`, `concat`, `concat_ws` |
//! | `unicode` | normal forms and escapes: `normalize`, `unistr` |
//! | `quote` | SQL's quotes: `quote_ident`, `quote_literal`, `parse_ident` |
//! | `lists` | arrays and rows of texts: `string_to_array`, `string_to_table` |
//! | `distance` | likeness of two texts: `levenshtein`, `jaccard`, `hamming` |
//! | `friendly` | names that DuckDB gives: `url_encode`, `format_bytes`, `parse_filename` |
//!
//! `format` has a module of its own. `to_ascii` is left out, as it is for other encodings.

pub(super) mod concat;
mod distance;
mod friendly;
pub(super) mod lists;
pub(super) mod quote;
mod unicode;

use super::kernel::{Bool, I32, I64, Str, f1, f2, f3, f4, w1};
use super::{Catalogue, casts, scalar};
use crate::error::{Error, Result};
use crate::types::Type;

/// Bytes that a value has at most.
pub(super) const MOST_BYTES: usize = 0x3fff_fffb;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{Int4, Int8, Text};
    concat::register(c);
    distance::register(c);
    friendly::register(c);
    lists::register(c);
    quote::register(c);
    unicode::register(c);
    lengths(c);
    ends(c);
    parts(c);
    let one = |c: &mut Catalogue, names: &[&'static str], f: fn(&str) -> Result<String>| {
        for name in names {
            c.add(scalar(name, &[Text], Text, f1::<Str, Str>(f)));
        }
    };
    one(c, &["lower", "lcase"], |text| Ok(lower(text)));
    one(c, &["upper", "ucase"], |text| Ok(upper(text)));
    one(c, &["initcap"], |text| Ok(initcap(text)));
    one(c, &["reverse"], |text| Ok(text.chars().rev().collect()));
    one(c, &["md5"], |text| Ok(format!("{:x}", md5::compute(text))));
    c.add(scalar(
        "ascii",
        &[Text],
        Int4,
        f1::<Str, I32>(|text| Ok(code(text).unwrap_or(0))),
    ));
    for name in ["unicode", "ord"] {
        let kernel = f1::<Str, I32>(|text| Ok(code(text).unwrap_or(-1)));
        c.add(scalar(name, &[Text], Int4, kernel));
    }
    c.add(scalar("chr", &[Int4], Text, f1::<I32, Str>(chr)));
    c.add(scalar(
        "repeat",
        &[Text, Int4],
        Text,
        f2::<Str, I32, Str>(repeat),
    ));
    c.add(scalar(
        "replace",
        &[Text, Text, Text],
        Text,
        f3::<Str, Str, Str, Str>(replace),
    ));
    c.add(scalar(
        "translate",
        &[Text, Text, Text],
        Text,
        f3::<Str, Str, Str, Str>(translate),
    ));
    c.add(scalar(
        "to_hex",
        &[Int4],
        Text,
        f1::<I32, Str>(|n| Ok(format!("{n:x}"))),
    ));
    c.add(scalar(
        "to_hex",
        &[Int8],
        Text,
        f1::<I64, Str>(|n| Ok(format!("{n:x}"))),
    ));
    for (name, of) in [
        ("mismatches", "hamming"),
        ("split", "string_split"),
        ("nfc_normalize", "normalize"),
    ] {
        c.synonym(name, of);
    }
}

/// Functions of lengths and positions.
fn lengths(c: &mut Catalogue) {
    use Type::{Bool as Boolean, Int4, Text};
    for name in ["length", "char_length", "character_length"] {
        for ty in [Text, Type::Char(None)] {
            let kernel = f1::<Str, I32>(|text| count(text.chars().count()));
            c.add(scalar(name, &[ty], Int4, kernel));
        }
    }
    let kernel = f1::<Str, I32>(|text| count(text.len()));
    c.add(scalar("octet_length", &[Text], Int4, kernel));
    let kernel = w1::<Str, I32>(|call, text| {
        let ty = call.types.first().unwrap_or(&Type::Text);
        count(casts::padded(ty, text).len())
    });
    c.add(scalar("octet_length", &[Type::Char(None)], Int4, kernel));
    let kernel = f1::<Str, I32>(|text| count(text.len() * 8));
    c.add(scalar("bit_length", &[Text], Int4, kernel));
    for name in ["position", "strpos", "instr"] {
        let kernel = f2::<Str, Str, I32>(|text, part| match text.find(part) {
            Some(at) => count(text[..at].chars().count() + 1),
            None => Ok(0),
        });
        c.add(scalar(name, &[Text, Text], Int4, kernel));
    }
    let mut two = |names: &[&'static str], f: fn(&str, &str) -> bool| {
        for name in names {
            let kernel = f2::<Str, Str, Bool>(move |a, b| Ok(f(a, b)));
            c.add(scalar(name, &[Text, Text], Boolean, kernel));
        }
    };
    two(&["starts_with", "prefix"], |text, start| {
        text.starts_with(start)
    });
    two(&["ends_with", "suffix"], |text, end| text.ends_with(end));
    two(&["contains"], |text, part| text.contains(part));
    let kernel = f2::<Str, Str, Bool>(|text, start| Ok(text.starts_with(start)));
    c.operator("^@", &[Text, Text], Boolean, kernel);
}

/// Functions that take from or add to the ends of a text.
fn ends(c: &mut Catalogue) {
    use Type::{Int4, Text};
    for (names, left, right) in [
        (&["btrim", "trim"][..], true, true),
        (&["ltrim"], true, false),
        (&["rtrim"], false, true),
    ] {
        for name in names {
            let kernel = f1::<Str, Str>(move |text| Ok(trim(text, " ", left, right).to_owned()));
            c.add(scalar(name, &[Text], Text, kernel));
            let kernel =
                f2::<Str, Str, Str>(move |text, set| Ok(trim(text, set, left, right).to_owned()));
            c.add(scalar(name, &[Text, Text], Text, kernel));
        }
    }
    for (name, left) in [("lpad", true), ("rpad", false)] {
        let kernel = f2::<Str, I32, Str>(move |text, length| pad(text, length, " ", left));
        c.add(scalar(name, &[Text, Int4], Text, kernel));
        let kernel =
            f3::<Str, I32, Str, Str>(move |text, length, fill| pad(text, length, fill, left));
        c.add(scalar(name, &[Text, Int4, Text], Text, kernel));
    }
    let kernel = f2::<Str, I32, Str>(|text, n| {
        Ok(match usize::try_from(n) {
            Ok(n) => text[..from_start(text, n)].to_owned(),
            Err(_) => text[..from_end(text, n.unsigned_abs() as usize)].to_owned(),
        })
    });
    c.add(scalar("left", &[Text, Int4], Text, kernel));
    let kernel = f2::<Str, I32, Str>(|text, n| {
        Ok(match usize::try_from(n) {
            Ok(n) => text[from_end(text, n)..].to_owned(),
            // The negation of the least integer is itself in PostgreSQL, and takes nothing away.
            Err(_) => text[from_start(text, n.wrapping_neg().max(0) as usize)..].to_owned(),
        })
    });
    c.add(scalar("right", &[Text, Int4], Text, kernel));
}

/// Functions of parts of a text.
fn parts(c: &mut Catalogue) {
    use Type::{Int4, Int8, Text};
    for name in ["substr", "substring"] {
        let kernel = f2::<Str, I32, Str>(|text, from| Ok(part(text, from, None)?.to_owned()));
        c.add(scalar(name, &[Text, Int4], Text, kernel));
        let kernel = f3::<Str, I32, I32, Str>(|text, from, length| {
            Ok(part(text, from, Some(length))?.to_owned())
        });
        c.add(scalar(name, &[Text, Int4, Int4], Text, kernel));
    }
    let kernel = f3::<Str, Str, I32, Str>(|text, new, from| {
        overlay(text, new, from, count(new.chars().count())?)
    });
    c.add(scalar("overlay", &[Text, Text, Int4], Text, kernel));
    let kernel = f4::<Str, Str, I32, I32, Str>(overlay);
    c.add(scalar("overlay", &[Text, Text, Int4, Int4], Text, kernel));
    for name in ["array_extract", "list_extract", "list_element"] {
        let kernel = f2::<Str, I64, Str>(|text, at| Ok(between(text, at, at).to_owned()));
        c.add(scalar(name, &[Text, Int8], Text, kernel));
    }
    for name in ["array_slice", "list_slice"] {
        let kernel =
            f3::<Str, I64, I64, Str>(|text, low, high| Ok(between(text, low, high).to_owned()));
        c.add(scalar(name, &[Text, Int8, Int8], Text, kernel));
    }
    c.add(scalar(
        "split_part",
        &[Text, Text, Int4],
        Text,
        f3::<Str, Str, I32, Str>(split_part),
    ));
}

/// The characters from one place to another, from 1, or from the end if they are negative.
fn between(text: &str, low: i64, high: i64) -> &str {
    let length = || text.chars().count() as i64;
    let counted = |at: i64| match at < 0 {
        true => at.saturating_add(length()).saturating_add(1),
        false => at,
    };
    let (low, high) = (counted(low).max(1), counted(high));
    if low > high {
        return "";
    }
    let from = from_start(text, low as usize - 1);
    let rest = &text[from..];
    &rest[..from_start(rest, (high - low) as usize + 1)]
}

/// A number of characters or bytes as INTEGER.
pub(super) fn count(number: usize) -> Result<i32> {
    i32::try_from(number).map_err(|_| Error::new("22003", "integer out of range"))
}

/// Refuses a result that would be too large.
///
/// # Errors
/// `54000`.
pub(super) fn allowed(bytes: Option<usize>) -> Result<usize> {
    let allowed = bytes.filter(|bytes| *bytes <= MOST_BYTES);
    allowed.ok_or_else(|| Error::new("54000", "requested length too large"))
}

fn code(text: &str) -> Option<i32> {
    text.chars().next().map(|c| c as i32)
}

/// A character's other case, if it is one character.
fn mapped(c: char, mut to: impl Iterator<Item = char>) -> char {
    match (to.next(), to.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// A text in lower case.
pub(super) fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().map(|c| mapped(c, c.to_lowercase())).collect()
}

/// A text in upper case.
pub(super) fn upper(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_uppercase();
    }
    text.chars().map(|c| mapped(c, c.to_uppercase())).collect()
}

/// A text with the first letter of each word in upper case.
fn initcap(text: &str) -> String {
    let mut within = false;
    let cased = text.chars().map(|c| {
        let cased = match within {
            true => mapped(c, c.to_lowercase()),
            false => mapped(c, c.to_uppercase()),
        };
        within = c.is_alphanumeric();
        cased
    });
    cased.collect()
}

fn chr(code: i32) -> Result<String> {
    let refused = |why: String| Err(Error::new("54000", why));
    match u32::try_from(code) {
        Err(_) => Err(Error::new("22023", "character number must be positive")),
        Ok(0) => refused("null character not permitted".to_owned()),
        Ok(0x11_0000..) => refused(format!(
            "requested character too large for encoding: {code}"
        )),
        Ok(code) => match char::from_u32(code) {
            Some(c) => Ok(c.to_string()),
            None => refused(format!(
                "requested character not valid for encoding: {code}"
            )),
        },
    }
}

fn repeat(text: &str, times: i32) -> Result<String> {
    let times = usize::try_from(times).unwrap_or(0);
    allowed(text.len().checked_mul(times))?;
    Ok(text.repeat(times))
}

fn replace(text: &str, from: &str, to: &str) -> Result<String> {
    if from.is_empty() {
        return Ok(text.to_owned());
    }
    if to.len() > from.len() {
        let more = text
            .matches(from)
            .count()
            .checked_mul(to.len() - from.len());
        allowed(more.and_then(|more| more.checked_add(text.len())))?;
    }
    Ok(text.replace(from, to))
}

fn translate(text: &str, from: &str, to: &str) -> Result<String> {
    let mut changes = std::collections::HashMap::new();
    let mut to = to.chars();
    for c in from.chars() {
        let other = to.next();
        changes.entry(c).or_insert(other);
    }
    let changed = text.chars().filter_map(|c| match changes.get(&c) {
        Some(other) => *other,
        None => Some(c),
    });
    let changed: String = changed.collect();
    allowed(Some(changed.len()))?;
    Ok(changed)
}

/// A text without characters of a set at its ends.
fn trim<'a>(text: &'a str, set: &str, left: bool, right: bool) -> &'a str {
    let within = |c: char| set.contains(c);
    let text = if left {
        text.trim_start_matches(within)
    } else {
        text
    };
    if right {
        text.trim_end_matches(within)
    } else {
        text
    }
}

fn pad(text: &str, length: i32, fill: &str, left: bool) -> Result<String> {
    let length = usize::try_from(length).unwrap_or(0);
    if fill.is_empty() {
        return Ok(text[..from_start(text, length)].to_owned());
    }
    // PostgreSQL allows for four bytes a character.
    allowed(length.checked_mul(4))?;
    let missing = length.saturating_sub(text.chars().count());
    if missing == 0 {
        return Ok(text[..from_start(text, length)].to_owned());
    }
    let fill = fill.chars().cycle().take(missing);
    Ok(match left {
        true => fill.chain(text.chars()).collect(),
        false => text.chars().chain(fill).collect(),
    })
}

/// The byte at which the character of a number begins; the end if there are fewer.
pub(super) fn from_start(text: &str, characters: usize) -> usize {
    if text.is_ascii() {
        return characters.min(text.len());
    }
    text.char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| at)
}

/// The byte at which the last characters begin; the start if there are fewer.
fn from_end(text: &str, characters: usize) -> usize {
    match characters.checked_sub(1) {
        None => text.len(),
        Some(last) => text.char_indices().nth_back(last).map_or(0, |(at, _)| at),
    }
}

/// The characters that SQL's `SUBSTRING(… FROM … FOR …)` means: a range of places from 0.
///
/// # Errors
/// `22011` for a negative length.
pub(super) fn places(from: i32, length: Option<i32>) -> Result<std::ops::Range<usize>> {
    let place = |at: i64| usize::try_from(at - 1).unwrap_or(0);
    let start = i64::from(from);
    let end = match length {
        None => i64::MAX,
        Some(length) if length < 0 => {
            return Err(Error::new("22011", "negative substring length not allowed"));
        }
        Some(length) => start + i64::from(length),
    };
    Ok(place(start)..place(end).max(place(start)))
}

fn part(text: &str, from: i32, length: Option<i32>) -> Result<&str> {
    let places = places(from, length)?;
    let rest = &text[from_start(text, places.start)..];
    Ok(&rest[..from_start(rest, places.len())])
}

fn overlay(text: &str, new: &str, from: i32, length: i32) -> Result<String> {
    if from <= 0 {
        return Err(Error::new("22011", "negative substring length not allowed"));
    }
    let rest = from.checked_add(length);
    let rest = rest.ok_or_else(|| Error::new("22003", "integer out of range"))?;
    let before = part(text, 1, Some(from - 1))?;
    let after = part(text, rest, None)?;
    allowed(Some(before.len() + new.len() + after.len()))?;
    Ok([before, new, after].concat())
}

fn split_part(text: &str, separator: &str, field: i32) -> Result<String> {
    let place = field.unsigned_abs() as usize;
    let Some(before) = place.checked_sub(1) else {
        return Err(Error::new("22023", "field position must not be zero"));
    };
    let found = match (separator.is_empty(), field > 0) {
        (true, _) => (before == 0).then_some(text),
        (_, true) => text.split(separator).nth(before),
        // Overlapping separators are found from the left.
        (_, false) => {
            let fields = text.split(separator).count();
            fields
                .checked_sub(place)
                .and_then(|at| text.split(separator).nth(at))
        }
    };
    Ok(found.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests;
