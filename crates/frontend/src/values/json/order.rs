//! Order and containment of values in normal form.
//!
//! Values are ordered null, text, number, boolean, array, object. Arrays and objects are
//! ordered by the number of their parts, then by the parts. An exception is kept for
//! compatibility: the empty array is less than values that are neither array nor object,
//! unless it is within another value. [`key`] has bytes in that order.

use std::cmp::Ordering;

use super::number;
use super::too_deep;
use super::walk::{Elements, Kind, Members, find, inside, kind, skip_blanks, skip_value, unquoted};
use crate::error::Result;
use crate::values::Numeric;

/// The order of two values in normal form.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (kind_a, kind_b) = (kind(a), kind(b));
    match (kind_a, kind_b) {
        (Kind::Array, other) if other < Kind::Array && Elements::new(a).next().is_none() => {
            return Ordering::Less;
        }
        (other, Kind::Array) if other < Kind::Array && Elements::new(b).next().is_none() => {
            return Ordering::Greater;
        }
        _ => {}
    }
    compare_parts(a, b)
}

/// Walks both texts in step: up to the first difference they have the same structure.
fn compare_parts(a: &str, b: &str) -> Ordering {
    let (bytes_a, bytes_b) = (a.as_bytes(), b.as_bytes());
    let (mut at_a, mut at_b) = (0, 0);
    loop {
        at_a = skip_blanks(bytes_a, at_a);
        at_b = skip_blanks(bytes_b, at_b);
        let (Some(byte_a), Some(byte_b)) = (bytes_a.get(at_a), bytes_b.get(at_b)) else {
            return Ordering::Equal;
        };
        if byte_a == byte_b && matches!(byte_a, b',' | b':' | b']' | b'}') {
            at_a += 1;
            at_b += 1;
            continue;
        }
        let rest_a = a.get(at_a..).unwrap_or("");
        let rest_b = b.get(at_b..).unwrap_or("");
        let (kind_a, kind_b) = (kind(rest_a), kind(rest_b));
        if kind_a != kind_b {
            return kind_a.cmp(&kind_b);
        }
        let counts = match kind_a {
            Kind::Array => (Elements::new(rest_a).count(), Elements::new(rest_b).count()),
            Kind::Object => (Members::new(rest_a).count(), Members::new(rest_b).count()),
            _ => {
                let end_a = skip_value(bytes_a, at_a);
                let end_b = skip_value(bytes_b, at_b);
                let found_a = a.get(at_a..end_a).unwrap_or("");
                let found_b = b.get(at_b..end_b).unwrap_or("");
                let order = compare_scalars(kind_a, found_a, found_b);
                if order.is_ne() {
                    return order;
                }
                (at_a, at_b) = (end_a, end_b);
                continue;
            }
        };
        if counts.0 != counts.1 {
            return counts.0.cmp(&counts.1);
        }
        at_a += 1;
        at_b += 1;
    }
}

/// The order of two values of one kind that have no parts.
fn compare_scalars(kind: Kind, a: &str, b: &str) -> Ordering {
    match kind {
        Kind::Number => number::compare(a, b),
        Kind::Bool => a.len().cmp(&b.len()).reverse(),
        Kind::String => unquoted(inside(a)).cmp(&unquoted(inside(b))),
        _ => Ordering::Equal,
    }
}

/// Bytes whose order is that of values in normal form, equal where they are.
///
/// Each value is a byte for its kind and what it is ordered by: a count of parts, or a scalar
/// with an end that is less than all that could follow. Parts come behind.
pub fn key(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut key = Vec::with_capacity(text.len() + 8);
    if kind(text) == Kind::Array && Elements::new(text).next().is_none() {
        return key;
    }
    let mut at = 0;
    loop {
        at = skip_blanks(bytes, at);
        let Some(byte) = bytes.get(at) else {
            return key;
        };
        if matches!(byte, b',' | b':' | b']' | b'}') {
            at += 1;
            continue;
        }
        let rest = text.get(at..).unwrap_or("");
        let kind = kind(rest);
        key.push(kind as u8 + 1);
        let parts = match kind {
            Kind::Array => Elements::new(rest).count(),
            Kind::Object => Members::new(rest).count(),
            _ => {
                let end = skip_value(bytes, at);
                put_scalar(&mut key, kind, text.get(at..end).unwrap_or(""));
                at = end.max(at + 1);
                continue;
            }
        };
        key.extend_from_slice(&(parts as u64).to_be_bytes());
        at += 1;
    }
}

/// Appends bytes in the order of the scalars of a kind.
fn put_scalar(key: &mut Vec<u8>, kind: Kind, text: &str) {
    let mut put = |bytes: &[u8]| {
        for byte in bytes {
            key.push(*byte);
            // Zero is the end, unless this follows.
            if *byte == 0 {
                key.push(u8::MAX);
            }
        }
        key.extend_from_slice(&[0, 0]);
    };
    match kind {
        Kind::Number => {
            let value = Numeric::parse(text).unwrap_or(Numeric::NAN);
            put(Numeric::key(&value.encode()));
        }
        Kind::Bool => put(&[u8::from(text.starts_with('t'))]),
        Kind::String => put(unquoted(inside(text)).as_bytes()),
        _ => {}
    }
}

/// Levels down to which containment is looked for.
const CONTAINMENT_DEPTH: usize = 800;

/// Whether a value in normal form contains another one.
///
/// # Errors
/// `54001` if they are nested too deeply.
pub fn contains(whole: &str, part: &str) -> Result<bool> {
    match (kind(whole), kind(part)) {
        // An array contains a value that is one of its elements.
        (Kind::Array, Kind::Object) => Ok(false),
        (Kind::Array, inner) if inner < Kind::Array => {
            Ok(Elements::new(whole).any(|element| equal_scalars(element, part)))
        }
        (a, b) if a != b => Ok(false),
        _ => contains_in(whole, part, 0),
    }
}

fn equal_scalars(a: &str, b: &str) -> bool {
    let (kind_a, kind_b) = (kind(a), kind(b));
    kind_a == kind_b && kind_a < Kind::Array && compare_scalars(kind_a, a, b).is_eq()
}

fn contains_in(whole: &str, part: &str, depth: usize) -> Result<bool> {
    if depth > CONTAINMENT_DEPTH {
        return Err(too_deep());
    }
    // Every value contains itself.
    if whole == part {
        return Ok(true);
    }
    match (kind(whole), kind(part)) {
        (Kind::Object, Kind::Object) => {
            for (key, wanted) in Members::new(part) {
                match find(whole, key) {
                    Some(found) if contains_in(found, wanted, depth + 1)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Kind::Array, Kind::Array) => {
            for wanted in Elements::new(part) {
                let inner = kind(wanted);
                let mut found = false;
                for element in Elements::new(whole) {
                    if kind(element) == inner && contains_in(element, wanted, depth + 1)? {
                        found = true;
                        break;
                    }
                }
                if !found {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (a, b) if a == b => Ok(compare_scalars(a, whole, part).is_eq()),
        _ => Ok(false),
    }
}
