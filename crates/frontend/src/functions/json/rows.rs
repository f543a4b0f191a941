//! Functions that give a row for each part of a value: `json_each`, `json_array_elements`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray};

use super::access::{as_text, check_escapes};
use super::{both, invalid};
use crate::error::{Error, Result};
use crate::functions::kernel::Call;
use crate::functions::{Catalogue, Returns, TableFunction};
use crate::types::Type;
use crate::values::json::{Elements, Kind, Members, kind, unquoted};

/// Rows, in parts.
pub(super) type Rows = Box<dyn Iterator<Item = Result<Vec<ArrayRef>>> + Send>;

/// A function of one JSON value whose rows are made at once: they are parts of that value.
fn parts(
    name: &'static str,
    ty: Type,
    columns: &[(&'static str, Type)],
    f: fn(&str, &'static str, bool) -> Result<Vec<ArrayRef>>,
) -> TableFunction {
    let is_normal = ty == Type::Jsonb;
    let columns = columns.iter();
    let columns = columns.map(|(name, ty)| (*name, Returns::Type(ty.clone())));
    TableFunction {
        name,
        parameters: vec![ty],
        variadic: None,
        columns: columns.collect(),
        strict: true,
        rows: Arc::new(move |_: &Call<'_>, arguments: &[ArrayRef]| {
            let json = arguments
                .first()
                .and_then(|array| array.as_string_view_opt());
            let json = json.ok_or_else(|| Error::internal("JSON was wanted"))?;
            if json.is_empty() || json.is_null(0) {
                let none: Rows = Box::new(std::iter::empty());
                return Ok(none);
            }
            let json = json.value(0);
            if !is_normal {
                check_escapes(json)?;
            }
            let rows: Rows = Box::new(std::iter::once(Ok(f(json, name, is_normal)?)));
            Ok(rows)
        }),
    }
}

pub(super) fn register(c: &mut Catalogue) {
    use Type::{Json, Jsonb, Text};
    for ty in [Json, Jsonb] {
        let columns = [("key", Text), ("value", ty.clone())];
        c.add_table(parts(
            both!(ty, "_each"),
            ty.clone(),
            &columns,
            |json, name, normal| {
                is_object(json, name, normal)?;
                Ok(vec![
                    keys(json),
                    array(Members::new(json).map(|(_, value)| Some(value))),
                ])
            },
        ));
        let columns = [("key", Text), ("value", Text)];
        c.add_table(parts(
            both!(ty, "_each_text"),
            ty.clone(),
            &columns,
            |json, name, normal| {
                is_object(json, name, normal)?;
                Ok(vec![
                    keys(json),
                    array(Members::new(json).map(|(_, value)| as_text(value))),
                ])
            },
        ));
        let columns = [("value", ty.clone())];
        let name = both!(ty, "_array_elements");
        c.add_table(parts(name, ty.clone(), &columns, |json, name, normal| {
            is_array(json, name, normal)?;
            Ok(vec![array(Elements::new(json).map(Some))])
        }));
        let columns = [("value", Text)];
        let name = both!(ty, "_array_elements_text");
        c.add_table(parts(name, ty.clone(), &columns, |json, name, normal| {
            is_array(json, name, normal)?;
            Ok(vec![array(Elements::new(json).map(as_text))])
        }));
        let columns = [("", Text)];
        c.add_table(parts(
            both!(ty, "_object_keys"),
            ty.clone(),
            &columns,
            |json, name, _| match kind(json) {
                Kind::Object => Ok(vec![keys(json)]),
                Kind::Array => Err(invalid(format!("cannot call {name} on an array"))),
                _ => Err(invalid(format!("cannot call {name} on a scalar"))),
            },
        ));
    }
}

fn array<T: AsRef<str>>(values: impl Iterator<Item = Option<T>>) -> ArrayRef {
    Arc::new(values.collect::<StringViewArray>())
}

fn keys(json: &str) -> ArrayRef {
    array(Members::new(json).map(|(key, _)| Some(unquoted(key))))
}

fn is_object(json: &str, name: &str, is_normal: bool) -> Result<()> {
    match kind(json) {
        Kind::Object => Ok(()),
        _ if is_normal => Err(invalid(format!("cannot call {name} on a non-object"))),
        Kind::Array => Err(invalid("cannot deconstruct an array as an object")),
        _ => Err(invalid("cannot deconstruct a scalar")),
    }
}

fn is_array(json: &str, name: &str, is_normal: bool) -> Result<()> {
    match (kind(json), is_normal) {
        (Kind::Array, _) => Ok(()),
        (Kind::Object, true) => Err(invalid("cannot extract elements from an object")),
        (_, true) => Err(invalid("cannot extract elements from a scalar")),
        (Kind::Object, false) => Err(invalid(format!("cannot call {name} on a non-array"))),
        (_, false) => Err(invalid(format!("cannot call {name} on a scalar"))),
    }
}
