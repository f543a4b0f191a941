//! Parts of a value: `->`, `->>`, `#>`, `#>>`, subscripts, lengths and kinds.

use std::borrow::Cow;

use super::{both, invalid, lent, lent_alone, subscript, texts};
use crate::error::Result;
use crate::functions::kernel::{I32, List, Str, f1};
use crate::functions::{Catalogue, scalar};
use crate::types::Type;
use crate::values::json::{
    Elements, Kind, Members, find, inside, kind, quoted, unquoted, validate,
};

/// A part of a value, if there is one.
type Part<'a> = Result<Option<Cow<'a, str>>>;

pub(super) fn register(c: &mut Catalogue) {
    use Type::*;
    for ty in [Json, Jsonb] {
        let names: &[&str] = &["from_json", "field_name"];
        let name = both!(ty, "_object_field");
        let field = if ty == Json {
            lent::<Str>(json_field)
        } else {
            lent::<Str>(jsonb_field)
        };
        c.operator("->", &[ty.clone(), Text], ty.clone(), field.clone());
        c.add(scalar(name, &[ty.clone(), Text], ty.clone(), field).named(names, &[]));
        let name = both!(ty, "_object_field_text");
        let field = match ty {
            Json => lent::<Str>(json_field_text),
            _ => lent::<Str>(jsonb_field_text),
        };
        c.operator("->>", &[ty.clone(), Text], Text, field.clone());
        c.add(scalar(name, &[ty.clone(), Text], Text, field).named(names, &[]));

        let names: &[&str] = &["from_json", "element_index"];
        let name = both!(ty, "_array_element");
        let element = if ty == Json {
            lent::<I32>(json_element)
        } else {
            lent::<I32>(jsonb_element)
        };
        c.operator("->", &[ty.clone(), Int4], ty.clone(), element.clone());
        c.add(scalar(name, &[ty.clone(), Int4], ty.clone(), element).named(names, &[]));
        let name = both!(ty, "_array_element_text");
        let element = match ty {
            Json => lent::<I32>(json_element_text),
            _ => lent::<I32>(jsonb_element_text),
        };
        c.operator("->>", &[ty.clone(), Int4], Text, element.clone());
        c.add(scalar(name, &[ty.clone(), Int4], Text, element).named(names, &[]));

        let list = Text.array();
        let along = if ty == Json {
            lent::<List>(json_along)
        } else {
            lent::<List>(jsonb_along)
        };
        c.operator("#>", &[ty.clone(), list.clone()], ty.clone(), along.clone());
        let along_text = match ty {
            Json => lent::<List>(json_along_text),
            _ => lent::<List>(jsonb_along_text),
        };
        c.operator("#>>", &[ty.clone(), list.clone()], Text, along_text.clone());
        // The path as an array, and as any number of arguments.
        let name = both!(ty, "_extract_path");
        c.add(scalar(name, &[ty.clone(), list.clone()], ty.clone(), along));
        let spread = extract(ty.clone(), false);
        c.add(scalar(name, std::slice::from_ref(&ty), ty.clone(), spread).variadic(Text));
        let name = both!(ty, "_extract_path_text");
        c.add(scalar(name, &[ty.clone(), list], Text, along_text));
        let spread = extract(ty.clone(), true);
        c.add(scalar(name, std::slice::from_ref(&ty), Text, spread).variadic(Text));

        let length = match ty {
            Json => f1::<Str, I32>(|json| length(json, "non-array")),
            _ => f1::<Str, I32>(|json| length(json, "non-array")),
        };
        c.add(scalar(
            both!(ty, "_array_length"),
            std::slice::from_ref(&ty),
            Int4,
            length,
        ));
        let named = lent_alone(|json| Ok(Some(kind(json).name().into())));
        c.add(scalar(
            both!(ty, "_typeof"),
            std::slice::from_ref(&ty),
            Text,
            named,
        ));
    }
    c.add(scalar(
        "jsonb_subscript",
        &[Jsonb, Text],
        Jsonb,
        lent::<Str>(by_subscript),
    ));
    let by_number = lent::<I32>(by_number);
    c.add(scalar("jsonb_subscript", &[Jsonb, Int4], Jsonb, by_number));
    let is_json = f1::<Str, crate::functions::kernel::Bool>(|text| match validate(text, false) {
        Ok(()) => Ok(true),
        Err(error) if error.sqlstate == "54001" => Err(error),
        Err(_) => Ok(false),
    });
    c.add(scalar("is_json", &[Text], Bool, is_json));
}

/// Refuses escapes that stand for no character; few texts have escapes.
pub(super) fn check_escapes(json: &str) -> Result<()> {
    match memchr::memmem::find(json.as_bytes(), b"\\u") {
        Some(_) => validate(json, true),
        None => Ok(()),
    }
}

/// The text that `->>` gives for a value; none for null.
pub(super) fn as_text(value: &str) -> Option<Cow<'_, str>> {
    match kind(value) {
        Kind::Null => None,
        Kind::String => Some(unquoted(inside(value))),
        _ => Some(Cow::Borrowed(value)),
    }
}

fn as_text_of(part: Part<'_>) -> Part<'_> {
    Ok(match part? {
        Some(Cow::Borrowed(value)) => as_text(value),
        Some(Cow::Owned(value)) => as_text(&value).map(|text| Cow::Owned(text.into_owned())),
        None => None,
    })
}

fn jsonb_field<'a>(json: &'a str, key: &'a str) -> Part<'a> {
    Ok(find(json, &quoted(key)).map(Cow::Borrowed))
}

fn jsonb_field_text<'a>(json: &'a str, key: &'a str) -> Part<'a> {
    Ok(find(json, &quoted(key)).and_then(as_text))
}

/// The last member of a key in a text that need not be in normal form.
pub(super) fn last_member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let members = Members::new(json).filter(|(found, _)| unquoted(found) == key);
    members.last().map(|(_, value)| value)
}

fn json_field<'a>(json: &'a str, key: &'a str) -> Part<'a> {
    check_escapes(json)?;
    Ok(last_member(json, key).map(Cow::Borrowed))
}

fn json_field_text<'a>(json: &'a str, key: &'a str) -> Part<'a> {
    as_text_of(json_field(json, key))
}

/// The element at a place, from the end if it is negative.
pub(super) fn element_at(json: &str, at: i32) -> Option<&str> {
    let mut elements = Elements::new(json);
    if at >= 0 {
        return elements.nth(at as usize);
    }
    let back = at.unsigned_abs() as usize;
    let count = elements.clone().count();
    elements.nth(count.checked_sub(back)?)
}

/// The element of a JSONB value; one that is no array or object counts as its only element.
fn jsonb_element_at(json: &str, at: i32) -> Option<&str> {
    match kind(json) < Kind::Array && matches!(at, 0 | -1) {
        true => Some(json),
        false => element_at(json, at),
    }
}

fn jsonb_element(json: &str, at: i32) -> Part<'_> {
    Ok(jsonb_element_at(json, at).map(Cow::Borrowed))
}

fn jsonb_element_text(json: &str, at: i32) -> Part<'_> {
    Ok(jsonb_element_at(json, at).and_then(as_text))
}

fn json_element(json: &str, at: i32) -> Part<'_> {
    check_escapes(json)?;
    Ok(element_at(json, at).map(Cow::Borrowed))
}

fn json_element_text(json: &str, at: i32) -> Part<'_> {
    check_escapes(json)?;
    Ok(element_at(json, at).and_then(as_text))
}

/// The part at the end of a path.
fn along<'a>(json: &'a str, path: &[Option<String>], is_normal: bool) -> Option<&'a str> {
    let mut part = json.trim_matches([' ', '\t', '\n', '\r']);
    if path.iter().any(Option::is_none) {
        return None;
    }
    for step in path.iter().flatten() {
        part = match kind(part) {
            Kind::Object if is_normal => find(part, &quoted(step))?,
            Kind::Object => last_member(part, step)?,
            Kind::Array => element_at(part, subscript(step)?)?,
            _ => return None,
        };
    }
    Some(part)
}

fn jsonb_along(json: &str, path: arrow_array::ArrayRef) -> Part<'_> {
    Ok(along(json, &texts(&path)?, true).map(Cow::Borrowed))
}

fn jsonb_along_text(json: &str, path: arrow_array::ArrayRef) -> Part<'_> {
    as_text_of(jsonb_along(json, path))
}

fn json_along(json: &str, path: arrow_array::ArrayRef) -> Part<'_> {
    let path = texts(&path)?;
    if path.iter().all(Option::is_some) {
        check_escapes(json)?;
    }
    Ok(along(json, &path, false).map(Cow::Borrowed))
}

fn json_along_text(json: &str, path: arrow_array::ArrayRef) -> Part<'_> {
    as_text_of(json_along(json, path))
}

fn by_subscript<'a>(json: &'a str, key: &'a str) -> Part<'a> {
    Ok(along(json, &[Some(key.to_owned())], true).map(Cow::Borrowed))
}

fn by_number(json: &str, at: i32) -> Part<'_> {
    Ok(along(json, &[Some(at.to_string())], true).map(Cow::Borrowed))
}

/// `json_extract_path` with the path's elements as arguments.
fn extract(ty: Type, text: bool) -> crate::functions::kernel::Kernel {
    use crate::functions::kernel::{Input, repeated};
    use arrow_array::builder::StringViewBuilder;
    use std::sync::Arc;
    Arc::new(move |call, columns| {
        let readers = columns.iter().map(|column| Str::reader(&column.array));
        let readers = readers.collect::<Result<Vec<_>>>()?;
        let rows = super::rows(call.rows, columns);
        let mut out = StringViewBuilder::with_capacity(rows);
        for row in 0..rows {
            if columns.iter().any(|column| column.is_null(row)) {
                out.append_null();
                continue;
            }
            let mut all = columns.iter().zip(&readers);
            let mut all = all
                .by_ref()
                .map(|(column, reader)| reader.value(column.at(row)));
            let json = all.next().unwrap_or("null");
            let path: Vec<_> = all.map(|step| Some(step.to_owned())).collect();
            if ty == Type::Json {
                check_escapes(json)?;
            }
            let part = along(json, &path, ty == Type::Jsonb);
            match (part, text) {
                (Some(part), true) => out.append_option(as_text(part)),
                (part, _) => out.append_option(part),
            }
        }
        Ok(repeated(Arc::new(out.finish()), call.rows))
    })
}

fn length(json: &str, otherwise: &str) -> Result<i32> {
    match kind(json) {
        Kind::Array => Ok(i32::try_from(Elements::new(json).count()).unwrap_or(i32::MAX)),
        Kind::Object => Err(invalid(format!("cannot get array length of a {otherwise}"))),
        _ => Err(invalid("cannot get array length of a scalar")),
    }
}
