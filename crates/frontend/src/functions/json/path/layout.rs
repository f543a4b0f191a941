//! Numbers of objects for `keyvalue`.
//!
//! PostgreSQL numbers an object by its place in its binary form of the value. The place is
//! computed from the sizes of that form: a header of four bytes and four for each element, or
//! eight for each member; then all keys and all values. Numbers, arrays and objects begin at
//! multiples of four.

use crate::values::json::{Elements, Kind, Members, inside, kind, unquoted};

/// Levels down to which places are computed.
const MAX_DEPTH: usize = 300;

/// The place in binary form of the object at a place of the text; 0 if there is none.
pub(super) fn offset(text: &str, at: usize) -> i64 {
    if at == 0 || at >= text.len() {
        return 0;
    }
    let mut size = 0;
    value(text, text.as_ptr() as usize + at, &mut size, 0).unwrap_or_default()
}

fn align(size: &mut i64) {
    *size = (*size + 3) & !3;
}

/// Adds the size of a value, or gives the place of the object that begins at an address.
fn value(text: &str, wanted: usize, size: &mut i64, depth: usize) -> Option<i64> {
    let parts = match kind(text) {
        Kind::Null | Kind::Bool => return None,
        Kind::String => {
            *size += unquoted(inside(text)).len() as i64;
            return None;
        }
        Kind::Number => {
            align(size);
            *size += numeric(text);
            return None;
        }
        Kind::Array => Elements::new(text).count() as i64,
        Kind::Object => Members::new(text).count() as i64 * 2,
    };
    align(size);
    if text.as_ptr() as usize == wanted {
        return Some(*size);
    }
    if depth > MAX_DEPTH {
        return None;
    }
    *size += 4 + parts * 4;
    for (key, _) in Members::new(text) {
        *size += unquoted(key).len() as i64;
    }
    let values = Members::new(text).map(|(_, value)| value);
    for part in values.chain(Elements::new(text)) {
        if let Some(found) = value(part, wanted, size, depth + 1) {
            return Some(found);
        }
    }
    None
}

/// The size of a number: six bytes and two for each digit to the base of 10000, without zeros
/// at either end.
fn numeric(text: &str) -> i64 {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let pad = (4 - whole.len() % 4) % 4;
    let mut digits = "0".repeat(pad) + whole + fraction;
    while !digits.len().is_multiple_of(4) {
        digits.push('0');
    }
    let groups: Vec<&[u8]> = digits.as_bytes().chunks(4).collect();
    let zero = |group: &&&[u8]| **group == b"0000";
    let first = groups.iter().take_while(zero).count();
    let last = groups.iter().rev().take_while(zero).count();
    let weight = (whole.len() + pad) as i64 / 4 - 1 - first as i64;
    let header = match fraction.len() <= 63 && (-64..=63).contains(&weight) {
        true => 6,
        false => 8,
    };
    match first == groups.len() {
        true => header,
        false => header + 2 * (groups.len() - first - last) as i64,
    }
}
