//! JSON: casts, operators, functions and paths.
//!
//! Values are texts (see `values::json`), and most functions hand out slices of them:
//!
//! ```text
//! '{"a": [1, 2]}'::jsonb -> 'a'   →   [1, 2], a slice of the operand
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `access` | parts of a value: `->`, `#>`, subscripts, lengths and kinds |
//! | `compare` | `=`, `<`, `@>`, `?` of JSONB |
//! | `edit` | `||`, `-`, `jsonb_set`, `jsonb_strip_nulls`, `jsonb_pretty` |
//! | `build` | JSON of SQL values: `to_json`, `json_build_object` |
//! | `record` | SQL values of JSON: `json_populate_record` |
//! | `rows` | functions that give rows: `json_each` |
//! | `path` | the language of paths and its functions |
//!
//! Text search over JSON is left out.

mod access;
mod build;
mod compare;
mod edit;
mod path;
mod record;
mod rows;
#[cfg(test)]
mod tests;

pub(super) use path::PARAMETERS as PATH_PARAMETERS;

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;

use super::kernel::{self, Column, F32, F64, I16, I32, I64, Input, Kernel, Num, Str, f1, repeated};
use super::{Catalogue, Context};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values;
use crate::values::json::{Kind, kind, normal, validate};

pub(crate) use build::Encoder;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    casts(c);
    access::register(c);
    compare::register(c);
    edit::register(c);
    build::register(c);
    record::register(c);
    rows::register(c);
    path::register(c);
}

fn casts(c: &mut Catalogue) {
    use Type::*;
    let checked = f1::<Str, Str>(|text| {
        validate(text, false)?;
        Ok(text.to_owned())
    });
    c.cast(Text, Json, Context::Explicit, checked);
    c.cast(Text, Jsonb, Context::Explicit, f1::<Str, Str>(normal));
    c.cast(Json, Jsonb, Context::Assignment, f1::<Str, Str>(normal));
    // Functions that build JSON write it by the type of their result, so that these casts must
    // not change that type.
    let same = || f1::<Str, Str>(|text| Ok(text.to_owned()));
    c.cast(Jsonb, Json, Context::Assignment, same());
    c.cast(Jsonb, Text, Context::Assignment, same());
    c.relabel(Json, Text, Context::Assignment);
    let to_bool = f1::<Str, kernel::Bool>(|json| match kind(json) {
        Kind::Bool => Ok(json == "true"),
        other => Err(cannot_cast(other, "boolean")),
    });
    c.cast(Jsonb, Bool, Context::Explicit, to_bool);
    let to_int2 = f1::<Str, I16>(|json| {
        let whole = integer(json, "smallint")?;
        i16::try_from(whole).map_err(|_| out_of_range("smallint"))
    });
    c.cast(Jsonb, Int2, Context::Explicit, to_int2);
    let to_int4 = f1::<Str, I32>(|json| {
        let whole = integer(json, "integer")?;
        i32::try_from(whole).map_err(|_| out_of_range("integer"))
    });
    c.cast(Jsonb, Int4, Context::Explicit, to_int4);
    let to_int8 = f1::<Str, I64>(|json| integer(json, "bigint"));
    c.cast(Jsonb, Int8, Context::Explicit, to_int8);
    let to_float4 = f1::<Str, F32>(|json| {
        let text = number(json, "real")?;
        float(
            text,
            "real",
            |value: f32| value.is_finite(),
            |value| value == 0.0,
        )
    });
    c.cast(Jsonb, Float4, Context::Explicit, to_float4);
    let to_float8 = f1::<Str, F64>(|json| {
        let text = number(json, "double precision")?;
        let finite = |value: f64| value.is_finite();
        float(text, "double precision", finite, |value| value == 0.0)
    });
    c.cast(Jsonb, Float8, Context::Explicit, to_float8);
    let to_numeric = f1::<Str, Num>(|json| values::Numeric::parse(number(json, "numeric")?));
    c.cast(Jsonb, Numeric(None), Context::Explicit, to_numeric);
}

fn cannot_cast(kind: Kind, to: &str) -> Error {
    let what = match kind {
        Kind::Null => "null",
        Kind::String => "string",
        Kind::Number => "numeric",
        Kind::Bool => "boolean",
        Kind::Array => "array",
        Kind::Object => "object",
    };
    Error::new("22023", format!("cannot cast jsonb {what} to type {to}"))
}

fn out_of_range(ty: &str) -> Error {
    Error::new("22003", format!("{ty} out of range"))
}

/// The text of a number.
fn number<'a>(json: &'a str, to: &str) -> Result<&'a str> {
    match kind(json) {
        Kind::Number => Ok(json),
        other => Err(cannot_cast(other, to)),
    }
}

/// A number as an integer, rounded half away from zero.
fn integer(json: &str, to: &str) -> Result<i64> {
    let text = number(json, to)?;
    rounded(text).ok_or_else(|| out_of_range(to))
}

/// The integer nearest to a number in normal form.
fn rounded(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let value: i64 = whole.parse().ok()?;
    match fraction.as_bytes().first() {
        Some(b'5'..) if whole.starts_with('-') => value.checked_sub(1),
        Some(b'5'..) => value.checked_add(1),
        _ => Some(value),
    }
}

/// A number in normal form as a binary one.
fn float<T: std::str::FromStr + Copy>(
    text: &str,
    ty: &str,
    is_finite: impl Fn(T) -> bool,
    is_zero: impl Fn(T) -> bool,
) -> Result<T> {
    let range = || Error::new("22003", format!("\"{text}\" is out of range for type {ty}"));
    let value: T = text.parse().map_err(|_| range())?;
    let vanished = is_zero(value) && text.bytes().any(|b| matches!(b, b'1'..=b'9'));
    match is_finite(value) && !vanished {
        true => Ok(value),
        false => Err(range()),
    }
}

/// `22023`.
fn invalid(message: impl Into<String>) -> Error {
    Error::new("22023", message)
}

/// The name of a function for one of the two types.
macro_rules! both {
    ($ty:expr, $suffix:literal) => {
        match $ty {
            $crate::types::Type::Json => concat!("json", $suffix),
            _ => concat!("jsonb", $suffix),
        }
    };
}
use both;

/// A result that is mostly a slice of an argument.
type Lent<'a> = Result<Option<Cow<'a, str>>>;

/// A kernel of a JSON value and another argument whose results are mostly slices of the former.
fn lent<B: Input>(
    f: impl for<'a> Fn(&'a str, B::Item<'a>) -> Lent<'a> + Send + Sync + 'static,
) -> Kernel {
    Arc::new(move |call, columns| {
        let [json, other] = columns else {
            return Err(Error::internal("a function is short of arguments"));
        };
        let texts = Str::reader(&json.array)?;
        let others = B::reader(&other.array)?;
        let rows = rows(call.rows, columns);
        let mut out = StringViewBuilder::with_capacity(rows);
        for row in 0..rows {
            if json.is_null(row) || other.is_null(row) {
                out.append_null();
                continue;
            }
            let value = B::get(&others, &other.array, other.at(row));
            out.append_option(f(texts.value(json.at(row)), value)?);
        }
        Ok(repeated(Arc::new(out.finish()), call.rows))
    })
}

/// A kernel of one JSON value whose results are mostly slices of it.
fn lent_alone(f: impl for<'a> Fn(&'a str) -> Lent<'a> + Send + Sync + 'static) -> Kernel {
    Arc::new(move |call, columns| {
        let [json] = columns else {
            return Err(Error::internal("a function is short of arguments"));
        };
        let texts = Str::reader(&json.array)?;
        let rows = rows(call.rows, columns);
        let mut out = StringViewBuilder::with_capacity(rows);
        for row in 0..rows {
            match json.is_null(row) {
                true => out.append_null(),
                false => out.append_option(f(texts.value(json.at(row)))?),
            }
        }
        Ok(repeated(Arc::new(out.finish()), call.rows))
    })
}

/// Rows to be computed: one if all arguments are constant.
fn rows(rows: usize, columns: &[Column]) -> usize {
    match columns.iter().all(|column| column.constant) && !columns.is_empty() {
        true => rows.min(1),
        false => rows,
    }
}

/// The texts that are an array's elements.
fn texts(array: &ArrayRef) -> Result<Vec<Option<String>>> {
    let found = array.as_string_view_opt();
    let found = found.ok_or_else(|| Error::internal("an array of TEXT was wanted"))?;
    Ok(found.iter().map(|text| text.map(str::to_owned)).collect())
}

/// The integer that a path's element is, as C's `strtol` reads it.
fn subscript(text: &str) -> Option<i32> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    text.parse().ok()
}
