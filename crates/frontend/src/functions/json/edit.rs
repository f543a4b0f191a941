//! Changed values: `||`, `-`, `#-`, `jsonb_set`, `jsonb_insert`, nulls taken out, pretty text.
//!
//! A change at the end of a path copies what stands before and behind each step, and builds
//! only the array or object in which the path ends anew.

use std::borrow::Cow;

use arrow_array::ArrayRef;

use super::{invalid, lent_alone, subscript, texts};
use crate::error::{Error, Result};
use crate::functions::kernel::{Bool, Bounded, I32, Opt, Str, f2, f3, f4, f5};
use crate::functions::{Catalogue, scalar};
use crate::types::Type;
use crate::types::arrays::Bounds;
use crate::values::json::{
    Elements, Kind, Members, compare_raw_keys, inside, kind, quote, quoted, skip_blanks,
    skip_value, unquoted,
};

/// The texts of a path or of keys, an array of one dimension.
fn path_of((elements, bounds): &(ArrayRef, Bounds)) -> Result<Vec<Option<String>>> {
    match bounds.dimensions() {
        0 | 1 => texts(elements),
        _ => Err(Error::new("2202E", "wrong number of array subscripts")),
    }
}

pub(super) fn register(c: &mut Catalogue) {
    use Type::{Int4, Json, Jsonb, Text};
    let boolean = Type::Bool;
    let list = Text.array();

    let joined = f2::<Str, Str, Str>(|a, b| checked(concat(a, b)));
    c.operator("||", &[Jsonb, Jsonb], Jsonb, joined.clone());
    c.add(scalar("jsonb_concat", &[Jsonb, Jsonb], Jsonb, joined));

    let without_key = f2::<Str, Str, Str>(|json, key| without(json, &[quoted(key)]));
    let without_keys = f2::<Str, Bounded, Str>(|json, keys| {
        let keys = path_of(&keys)?;
        let keys: Vec<_> = keys.iter().flatten().map(|key| quoted(key)).collect();
        without(json, &keys)
    });
    let without_element = f2::<Str, I32, Str>(without_element);
    for (ty, kernel) in [
        (Text, without_key),
        (Int4, without_element),
        (list.clone(), without_keys),
    ] {
        c.operator("-", &[Jsonb, ty.clone()], Jsonb, kernel.clone());
        c.add(scalar("jsonb_delete", &[Jsonb, ty], Jsonb, kernel));
    }
    let without_path = f2::<Str, Bounded, Str>(|json, path| delete_path(json, &path_of(&path)?));
    c.operator("#-", &[Jsonb, list.clone()], Jsonb, without_path.clone());
    c.add(scalar(
        "jsonb_delete_path",
        &[Jsonb, list.clone()],
        Jsonb,
        without_path,
    ));

    let set = f4::<Str, Bounded, Str, Bool, Str>(|json, path, new, create| {
        set(json, &path_of(&path)?, new, create)
    });
    c.add(
        scalar(
            "jsonb_set",
            &[Jsonb, list.clone(), Jsonb, boolean.clone()],
            Jsonb,
            set,
        )
        .named(
            &["jsonb_in", "path", "replacement", "create_if_missing"],
            &["true"],
        ),
    );
    let lax = f5::<Opt<Str>, Opt<Bounded>, Opt<Str>, Opt<Bool>, Opt<Str>, Opt<Str>>(
        |json, path, new, create, treatment| {
            let (Some(json), Some(path), Some(create)) = (json, path, create) else {
                return Ok(None);
            };
            set_lax(json, &path_of(&path)?, new, create, treatment).map(Some)
        },
    );
    c.add(
        scalar(
            "jsonb_set_lax",
            &[Jsonb, list.clone(), Jsonb, boolean.clone(), Text],
            Jsonb,
            lax,
        )
        .with_nulls()
        .named(
            &[
                "jsonb_in",
                "path",
                "replacement",
                "create_if_missing",
                "null_value_treatment",
            ],
            &["true", "use_json_null"],
        ),
    );
    let insert = f4::<Str, Bounded, Str, Bool, Str>(|json, path, new, after| {
        if kind(json) < Kind::Array {
            return Err(invalid("cannot set path in scalar"));
        }
        let change = if after {
            Change::InsertAfter
        } else {
            Change::InsertBefore
        };
        at_path(json, &path_of(&path)?, new, change)
    });
    c.add(
        scalar(
            "jsonb_insert",
            &[Jsonb, list.clone(), Jsonb, boolean],
            Jsonb,
            insert,
        )
        .named(
            &["jsonb_in", "path", "replacement", "insert_after"],
            &["false"],
        ),
    );
    let assign = f3::<Opt<Str>, Bounded, Opt<Str>, Str>(|json, path, new| {
        assign(json, &path_of(&path)?, new.unwrap_or("null"))
    });
    c.add(scalar("jsonb_subscript_set", &[Jsonb, list, Jsonb], Jsonb, assign).with_nulls());

    let strip = lent_alone(|json| Ok(Some(strip_nulls(json, true).into())));
    c.add(scalar("jsonb_strip_nulls", &[Jsonb], Jsonb, strip));
    let strip = lent_alone(|json| {
        super::access::check_escapes(json)?;
        Ok(Some(strip_nulls(json, false).into()))
    });
    c.add(scalar("json_strip_nulls", &[Json], Json, strip));
    let shown = lent_alone(|json| checked(pretty(json)?).map(|text| Some(text.into())));
    c.add(scalar("jsonb_pretty", &[Jsonb], Text, shown));
}

/// Most bytes of a result.
const MAX_BYTES: usize = 1 << 30;

fn too_long() -> Error {
    Error::new("54000", "requested length too large")
}

fn checked(text: String) -> Result<String> {
    match text.len() < MAX_BYTES {
        true => Ok(text),
        false => Err(too_long()),
    }
}

/// Writes an array of values in normal form.
fn array<'a>(values: impl IntoIterator<Item = &'a str>, out: &mut String) {
    out.push('[');
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(value);
    }
    out.push(']');
}

/// Writes an object of members in normal form.
fn object<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>, out: &mut String) {
    out.push('{');
    for (at, (key, value)) in members.into_iter().enumerate() {
        out.push_str(if at > 0 { ", \"" } else { "\"" });
        out.push_str(key);
        out.push_str("\": ");
        out.push_str(value);
    }
    out.push('}');
}

/// `a || b`.
fn concat(a: &str, b: &str) -> String {
    let mut out = String::with_capacity(a.len() + b.len() + 2);
    if (kind(a), kind(b)) == (Kind::Object, Kind::Object) {
        // Both are in order, so that they are merged.
        let (mut left, mut right) = (Members::new(a).peekable(), Members::new(b).peekable());
        let merged = std::iter::from_fn(|| match (left.peek(), right.peek()) {
            (Some((x, _)), Some((y, _))) => match compare_raw_keys(x, y) {
                std::cmp::Ordering::Less => left.next(),
                std::cmp::Ordering::Greater => right.next(),
                std::cmp::Ordering::Equal => {
                    left.next();
                    right.next()
                }
            },
            (Some(_), None) => left.next(),
            _ => right.next(),
        });
        object(merged, &mut out);
        return out;
    }
    let parts = |json| {
        let alone = (kind(json) != Kind::Array).then_some(json);
        alone.into_iter().chain(Elements::new(json))
    };
    array(parts(a).chain(parts(b)), &mut out);
    out
}

/// The value without the members, or the elements, that are one of some texts.
fn without(json: &str, keys: &[Cow<'_, str>]) -> Result<String> {
    let mut out = String::with_capacity(json.len());
    match kind(json) {
        Kind::Object => {
            let kept = Members::new(json).filter(|(key, _)| !keys.iter().any(|k| k == key));
            object(kept, &mut out);
        }
        Kind::Array => {
            let goes = |value: &&str| {
                kind(value) == Kind::String && keys.iter().any(|key| *key == inside(value))
            };
            array(Elements::new(json).filter(|value| !goes(value)), &mut out);
        }
        _ => return Err(invalid("cannot delete from scalar")),
    }
    Ok(out)
}

fn without_element(json: &str, at: i32) -> Result<String> {
    match kind(json) {
        Kind::Array => {}
        Kind::Object => {
            return Err(invalid("cannot delete from object using integer index"));
        }
        _ => return Err(invalid("cannot delete from scalar")),
    }
    let count = Elements::new(json).count() as i64;
    let at = if at < 0 {
        count + i64::from(at)
    } else {
        i64::from(at)
    };
    let mut out = String::with_capacity(json.len());
    let kept = Elements::new(json).enumerate();
    let kept = kept.filter(|(place, _)| *place as i64 != at);
    array(kept.map(|(_, value)| value), &mut out);
    Ok(out)
}

/// A change at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// What is there is replaced; what is missing stays so.
    Replace,
    /// What is missing is added, too.
    Create,
    /// A new element before the one that is there, or a new member.
    InsertBefore,
    /// A new element behind the one that is there, or a new member.
    InsertAfter,
    /// What is there is taken out.
    Delete,
}

impl Change {
    fn adds(self) -> bool {
        !matches!(self, Change::Replace | Change::Delete)
    }
}

fn set(json: &str, path: &[Option<String>], new: &str, create: bool) -> Result<String> {
    if kind(json) < Kind::Array {
        return Err(invalid("cannot set path in scalar"));
    }
    let change = if create {
        Change::Create
    } else {
        Change::Replace
    };
    at_path(json, path, new, change)
}

fn delete_path(json: &str, path: &[Option<String>]) -> Result<String> {
    if kind(json) < Kind::Array {
        return Err(invalid("cannot delete path in scalar"));
    }
    at_path(json, path, "", Change::Delete)
}

fn set_lax(
    json: &str,
    path: &[Option<String>],
    new: Option<&str>,
    create: bool,
    treatment: Option<&str>,
) -> Result<String> {
    let unknown = || {
        invalid(
            "null_value_treatment must be \"delete_key\", \"return_target\", \
             \"use_json_null\", or \"raise_exception\"",
        )
    };
    let treatment = treatment.ok_or_else(unknown)?;
    match (new, treatment) {
        (Some(new), _) => set(json, path, new, create),
        (None, "raise_exception") => Err(Error::new("22004", "JSON value must not be null")
            .with_detail(
                "Exception was raised because null_value_treatment is \"raise_exception\".",
            )
            .with_hint(
                "To avoid, either change the null_value_treatment argument or ensure that an \
                 SQL NULL is not passed.",
            )),
        (None, "use_json_null") => set(json, path, "null", create),
        (None, "return_target") => Ok(json.to_owned()),
        (None, "delete_key") => delete_path(json, path),
        _ => Err(unknown()),
    }
}

fn null_step(level: usize) -> Error {
    let place = level + 1;
    Error::new("22004", format!("path element at position {place} is null"))
}

/// The place in an array that a step means.
fn place(step: &str, level: usize) -> Result<i32> {
    subscript(step).ok_or_else(|| {
        let place = level + 1;
        Error::new(
            "22P02",
            format!("path element at position {place} is not an integer: \"{step}\""),
        )
    })
}

/// Where a part of a text begins in it.
fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize)
}

/// The value with a change at the end of a path.
fn at_path(json: &str, path: &[Option<String>], new: &str, change: Change) -> Result<String> {
    let empty = matches!(json, "{}" | "[]");
    if path.is_empty() || empty && !change.adds() {
        return Ok(json.to_owned());
    }
    let mut out = String::with_capacity(json.len() + new.len() + 16);
    let mut behind: Vec<&str> = Vec::new();
    let mut part = json;
    for (level, step) in path.iter().enumerate() {
        let Some(step) = step else {
            return Err(null_step(level));
        };
        let last = level + 1 == path.len();
        let child = match kind(part) {
            Kind::Object => {
                let key = quoted(step);
                if last {
                    change_member(part, &key, new, change, &mut out)?;
                    break;
                }
                let mut members = Members::new(part);
                members
                    .find(|(found, _)| *found == key)
                    .map(|(_, value)| value)
            }
            Kind::Array => {
                let at = place(step, level)?;
                if last {
                    change_element(part, at, new, change, &mut out);
                    break;
                }
                super::access::element_at(part, at)
            }
            _ => None,
        };
        let Some(child) = child else {
            out.push_str(part);
            break;
        };
        let start = offset(part, child);
        out.push_str(part.get(..start).unwrap_or(""));
        behind.push(part.get(start + child.len()..).unwrap_or(""));
        part = child;
    }
    out.extend(behind.into_iter().rev());
    checked(out)
}

fn change_member(part: &str, key: &str, new: &str, change: Change, out: &mut String) -> Result<()> {
    let mut members: Vec<(&str, &str)> = Members::new(part).collect();
    let found = members.iter().position(|(found, _)| *found == key);
    match (found, change) {
        (Some(_), Change::InsertBefore | Change::InsertAfter) => {
            return Err(invalid("cannot replace existing key")
                .with_hint("Try using the function jsonb_set to replace key value."));
        }
        (Some(at), Change::Delete) => {
            members.remove(at);
        }
        (Some(at), _) => members[at].1 = new,
        (None, change) if change.adds() => {
            let at = members.partition_point(|(found, _)| compare_raw_keys(found, key).is_lt());
            members.insert(at, (key, new));
        }
        (None, _) => {}
    }
    object(members, out);
    Ok(())
}

fn change_element(part: &str, at: i32, new: &str, change: Change, out: &mut String) {
    let mut values: Vec<&str> = Elements::new(part).collect();
    let count = values.len();
    let at = match at {
        0.. => Some((at as usize).min(count)),
        _ => count.checked_sub(at.unsigned_abs() as usize),
    };
    match (at, change) {
        (Some(at), change) if at < count => match change {
            Change::Replace | Change::Create => values[at] = new,
            Change::InsertBefore => values.insert(at, new),
            Change::InsertAfter => values.insert(at + 1, new),
            Change::Delete => {
                values.remove(at);
            }
        },
        (Some(_), change) if change.adds() => values.push(new),
        (None, change) if change.adds() => values.insert(0, new),
        _ => {}
    }
    array(values, out);
}

/// The value of `json[…][…] = new`: steps that are missing are made, and gaps of arrays are
/// filled with null.
pub(super) fn assign(json: Option<&str>, path: &[Option<String>], new: &str) -> Result<String> {
    let number = |step: &str| subscript(step);
    let first = path.first().and_then(Option::as_deref).unwrap_or("");
    let fresh = if number(first).is_some() { "[]" } else { "{}" };
    let mut part = json.unwrap_or(fresh);
    let mut out = String::new();
    let mut behind: Vec<Cow<'_, str>> = Vec::new();
    for (level, step) in path.iter().enumerate() {
        let Some(step) = step else {
            return Err(Error::new(
                "22004",
                "jsonb subscript in assignment must not be null",
            ));
        };
        let last = level + 1 == path.len();
        let child = match kind(part) {
            Kind::Object => {
                let key = quoted(step);
                if last {
                    change_member(part, &key, new, Change::Create, &mut out)?;
                    break;
                }
                Members::new(part)
                    .find(|(found, _)| *found == key)
                    .map(|(_, value)| value)
            }
            Kind::Array => {
                let at = place(step, level)?;
                let count = Elements::new(part).count();
                if at < 0 && at.unsigned_abs() as usize > count {
                    let place = level + 1;
                    return Err(invalid(format!(
                        "path element at position {place} is out of range: {at}"
                    )));
                }
                if at as i64 > count as i64 {
                    // Each null takes six bytes.
                    if at as usize > MAX_BYTES / 6 {
                        return Err(too_long());
                    }
                    let nulls = std::iter::repeat_n("null", at as usize - count);
                    let rest = nested(&path[level + 1..], new)?;
                    let all = Elements::new(part).chain(nulls).chain([rest.as_str()]);
                    array(all, &mut out);
                    break;
                }
                if last {
                    change_element(part, at, new, Change::Create, &mut out);
                    break;
                }
                super::access::element_at(part, at)
            }
            _ => {
                return Err(invalid("cannot replace existing key").with_detail(
                    "The path assumes key is a composite object, but it is a scalar value.",
                ));
            }
        };
        let Some(child) = child else {
            let rest = nested(&path[level + 1..], new)?;
            match kind(part) {
                Kind::Object => {
                    change_member(part, &quoted(step), &rest, Change::Create, &mut out)?;
                }
                _ => change_element(part, place(step, level)?, &rest, Change::Create, &mut out),
            }
            break;
        };
        let start = offset(part, child);
        out.push_str(part.get(..start).unwrap_or(""));
        behind.push(part.get(start + child.len()..).unwrap_or("").into());
        part = child;
    }
    behind.iter().rev().for_each(|text| out.push_str(text));
    checked(out)
}

/// A new value at the end of a path of which nothing is there.
fn nested(path: &[Option<String>], new: &str) -> Result<String> {
    let mut out = String::new();
    let mut behind: Vec<char> = Vec::new();
    for (level, step) in path.iter().enumerate() {
        let step = step.as_deref().ok_or_else(|| null_step(level))?;
        match subscript(step) {
            Some(at) => {
                let gap = usize::try_from(at).unwrap_or(0);
                if gap > MAX_BYTES / 6 || out.len() + gap * 6 > MAX_BYTES {
                    return Err(too_long());
                }
                out.push('[');
                (0..gap).for_each(|_| out.push_str("null, "));
                behind.push(']');
            }
            None => {
                out.push('{');
                quote(step, &mut out);
                out.push_str(": ");
                behind.push('}');
            }
        }
    }
    out.push_str(new);
    out.extend(behind.into_iter().rev());
    Ok(out)
}

/// The value without the members that are null. The text of JSON comes without blanks.
fn strip_nulls(json: &str, is_normal: bool) -> String {
    let (comma, colon) = if is_normal { (", ", ": ") } else { (",", ":") };
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len());
    // Whether each array or object that is open is an object, and has a part.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut at = 0;
    let text = |raw: &str, out: &mut String| match is_normal {
        true => {
            out.push('"');
            out.push_str(raw);
            out.push('"');
        }
        false => quote(&unquoted(raw), out),
    };
    // Whether a value is that of a key.
    let mut keyed = false;
    loop {
        at = skip_blanks(bytes, at);
        let Some(byte) = bytes.get(at) else {
            return out;
        };
        match byte {
            b',' => {
                at += 1;
                continue;
            }
            b'}' | b']' => {
                out.push(char::from(*byte));
                open.pop();
                at += 1;
                continue;
            }
            _ => {}
        }
        if let Some((true, _)) = open.last()
            && !keyed
        {
            let end = skip_value(bytes, at);
            let key = json.get(at..end).unwrap_or("");
            let start = skip_blanks(bytes, skip_blanks(bytes, end) + 1);
            at = start;
            if kind(json.get(start..).unwrap_or("")) == Kind::Null {
                at = skip_value(bytes, start);
                continue;
            }
            separate(&mut open, comma, &mut out);
            text(inside(key), &mut out);
            out.push_str(colon);
            keyed = true;
            continue;
        }
        if !keyed {
            separate(&mut open, comma, &mut out);
        }
        keyed = false;
        match byte {
            b'{' | b'[' => {
                out.push(char::from(*byte));
                open.push((*byte == b'{', false));
                at += 1;
            }
            _ => {
                let end = skip_value(bytes, at);
                let value = json.get(at..end).unwrap_or("");
                match byte {
                    b'"' => text(inside(value), &mut out),
                    _ => out.push_str(value),
                }
                at = end;
            }
        }
    }
}

fn separate(open: &mut [(bool, bool)], comma: &str, out: &mut String) {
    if let Some((_, follows)) = open.last_mut() {
        if *follows {
            out.push_str(comma);
        }
        *follows = true;
    }
}

/// The value with each part on a line of its own.
fn pretty(json: &str) -> Result<String> {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0usize;
    let mut at = 0;
    let line = |depth: usize, out: &mut String| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str("    "));
    };
    // Whether an array or an object has just begun.
    let mut fresh = false;
    while let Some(byte) = bytes.get(at) {
        if out.len() > MAX_BYTES {
            return Err(too_long());
        }
        match byte {
            b' ' => {
                at += 1;
                continue;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                line(depth, &mut out);
                out.push(char::from(*byte));
                at += 1;
                fresh = false;
                continue;
            }
            b',' => {
                out.push(',');
                line(depth, &mut out);
                at += 1;
                continue;
            }
            b':' => {
                out.push_str(": ");
                at += 1;
                continue;
            }
            _ => {}
        }
        if std::mem::take(&mut fresh) {
            line(depth, &mut out);
        }
        match byte {
            b'{' | b'[' => {
                out.push(char::from(*byte));
                depth += 1;
                fresh = true;
                at += 1;
            }
            _ => {
                let end = skip_value(bytes, at);
                out.push_str(json.get(at..end).unwrap_or(""));
                at = end;
            }
        }
    }
    Ok(out)
}
