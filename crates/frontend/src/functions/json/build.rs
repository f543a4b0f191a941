//! JSON of SQL values: `to_json`, `row_to_json`, `json_build_object`, `json_object`.
//!
//! An [`Encoder`] is made once for a column and writes the value of any of its rows. Numbers,
//! booleans and JSON stand as they are; dates and times take the form of ISO 8601; arrays and
//! records become arrays and objects; all else is the text of its type, in quotes:
//!
//! ```text
//! to_json(ROW(1, 'a"b', ARRAY[true, NULL]))   →   {"f1":1,"f2":"a\"b","f3":[true,null]}
//! ```

use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, StringViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use super::{both, invalid};
use crate::error::{Error, Result};
use crate::functions::kernel::{Bounded, Call, Column, Input, Kernel, Num, Str, f1, f2, repeated};
use crate::functions::{Catalogue, Session, cast_between, scalar};
use crate::types::Type;
use crate::types::arrays::{Arrays, Bounds};
use crate::values::json::{normal, quote, validate};

/// Most bytes of a result.
const MAX_BYTES: usize = 1 << 30;

/// How the values of a column are written.
enum Form {
    /// NULL only.
    Nothing,
    /// BOOLEAN.
    Bool(BooleanArray),
    /// Numbers; those that JSON has no form for are quoted.
    Number(StringViewArray),
    /// Dates and times, with a `T` between the two.
    Stamp(StringViewArray, bool),
    /// JSON.
    Json(StringViewArray),
    /// All that is quoted.
    Text(StringViewArray),
    /// CHAR(n), which is filled up with blanks.
    Padded(StringViewArray, usize),
    /// Arrays: where the elements of each are, and its dimensions.
    List(Vec<(usize, Vec<usize>)>, Box<Encoder>),
    /// Records: the keys with their quotes and the fields.
    Record(Vec<(String, Encoder)>),
}

/// Writes the values of a column as JSON.
pub(crate) struct Encoder {
    nulls: Option<NullBuffer>,
    form: Form,
}

impl Encoder {
    /// An encoder of the values of an array of a type.
    ///
    /// # Errors
    /// `XX000` if the array is of another type.
    pub(crate) fn new(session: &Session, ty: &Type, array: &ArrayRef) -> Result<Self> {
        Self::within(session, ty, array, 0)
    }

    fn within(session: &Session, ty: &Type, array: &ArrayRef, depth: usize) -> Result<Self> {
        if depth > 500 {
            return Err(crate::values::json::too_deep());
        }
        let texts = || text_of(session, ty, array);
        let form = match ty {
            _ if *array.data_type() == DataType::Null => Form::Nothing,
            Type::Bool => Form::Bool(array.as_boolean().clone()),
            Type::Int2 | Type::Int4 | Type::Int8 | Type::Numeric(_) => {
                Form::Number(number_texts(array)?)
            }
            Type::Float4 | Type::Float8 => Form::Number(texts()?),
            Type::Date | Type::Timestamp(_) => Form::Stamp(stamps(session, ty, array)?, false),
            Type::TimestampTz(_) => Form::Stamp(stamps(session, ty, array)?, true),
            Type::Json | Type::Jsonb => Form::Json(texts()?),
            Type::Char(Some(length)) => Form::Padded(texts()?, *length as usize),
            Type::Array(element) => {
                let arrays = Arrays::of(array)?;
                let elements = Self::within(session, element, arrays.values(), depth + 1)?;
                let places =
                    (0..array.len()).map(|at| (arrays.range(at).start, arrays.bounds(at).lengths));
                Form::List(places.collect(), Box::new(elements))
            }
            Type::Record(fields) => {
                let record = array.as_struct_opt();
                let record = record.ok_or_else(|| Error::internal("a record was wanted"))?;
                let mut all = Vec::with_capacity(fields.len());
                for ((name, ty), column) in fields.iter().zip(record.columns()) {
                    let mut key = String::new();
                    quote(name, &mut key);
                    all.push((key, Self::within(session, ty, column, depth + 1)?));
                }
                Form::Record(all)
            }
            _ => Form::Text(texts()?),
        };
        Ok(Self {
            nulls: array.nulls().cloned(),
            form,
        })
    }

    /// Whether the value of a row is NULL.
    pub(crate) fn is_null(&self, row: usize) -> bool {
        matches!(self.form, Form::Nothing)
            || self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Whether values have parts, as seen by `json_agg`, which writes them on lines of their
    /// own.
    pub(crate) fn has_parts(&self) -> bool {
        matches!(self.form, Form::List(..) | Form::Record(_))
    }

    /// Writes the value of a row.
    pub(crate) fn write(&self, row: usize, out: &mut String) {
        self.write_lines(row, false, out);
    }

    /// Writes the value of a row, with each part on a line of its own if `lines` says so.
    pub(crate) fn write_lines(&self, row: usize, lines: bool, out: &mut String) {
        if self.is_null(row) {
            out.push_str("null");
            return;
        }
        let comma = if lines { ",\n " } else { "," };
        match &self.form {
            Form::Nothing => out.push_str("null"),
            Form::Bool(values) => out.push_str(if values.value(row) { "true" } else { "false" }),
            Form::Number(texts) => {
                let text = texts.value(row);
                match text.bytes().any(|b| b.is_ascii_alphabetic() && b != b'e') {
                    true => quote(text, out),
                    false => out.push_str(text),
                }
            }
            Form::Stamp(texts, zone) => {
                out.push('"');
                iso(texts.value(row), *zone, out);
                out.push('"');
            }
            Form::Json(texts) => out.push_str(texts.value(row)),
            Form::Text(texts) => quote(texts.value(row), out),
            Form::Padded(texts, length) => quote(&format!("{:<length$}", texts.value(row)), out),
            Form::List(places, elements) => match places.get(row) {
                Some((start, lengths)) if !lengths.is_empty() => {
                    elements.write_array(*start, lengths, comma, out);
                }
                _ => out.push_str("[]"),
            },
            Form::Record(fields) => {
                out.push('{');
                for (at, (key, field)) in fields.iter().enumerate() {
                    if at > 0 {
                        out.push_str(comma);
                    }
                    out.push_str(key);
                    out.push(':');
                    field.write(row, out);
                }
                out.push('}');
            }
        }
    }

    /// Writes the elements from a place on as an array of some lengths.
    fn write_array(&self, start: usize, lengths: &[usize], comma: &str, out: &mut String) {
        let Some((length, inner)) = lengths.split_first() else {
            return;
        };
        let size: usize = inner.iter().product();
        out.push('[');
        for number in 0..*length {
            if number > 0 {
                out.push_str(comma);
            }
            let at = start + number * size;
            match inner.is_empty() {
                true => self.write(at, out),
                false => self.write_array(at, inner, ",", out),
            }
        }
        out.push(']');
    }

    /// Writes the value of a row, which is not NULL, as the key of a member.
    ///
    /// # Errors
    /// `22023` if it has parts.
    pub(crate) fn write_key(&self, row: usize, out: &mut String) -> Result<()> {
        match &self.form {
            Form::Json(_) | Form::List(..) | Form::Record(_) => Err(invalid(
                "key value must be scalar, not array, composite, or json",
            )),
            Form::Bool(_) => {
                out.push('"');
                self.write(row, out);
                out.push('"');
                Ok(())
            }
            Form::Number(texts) => {
                quote(texts.value(row), out);
                Ok(())
            }
            _ => {
                self.write(row, out);
                Ok(())
            }
        }
    }
}

/// The texts of integers and NUMERIC.
fn number_texts(array: &ArrayRef) -> Result<StringViewArray> {
    macro_rules! integers {
        ($ty:ty) => {
            array
                .as_primitive::<$ty>()
                .iter()
                .map(|v| v.map(|v| v.to_string()))
                .collect()
        };
    }
    Ok(match array.data_type() {
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        _ => {
            let reader = Num::reader(array)?;
            let text = |at| (!array.is_null(at)).then(|| Num::get(&reader, array, at).to_string());
            (0..array.len()).map(text).collect()
        }
    })
}

/// The texts of the values of a type.
pub(super) fn text_of(session: &Session, ty: &Type, array: &ArrayRef) -> Result<StringViewArray> {
    let casted = match cast_between(ty, &Type::Text).and_then(|cast| cast.function) {
        Some(_) if *ty == Type::Inet => crate::functions::network::shown(array)?,
        None => Arc::clone(array),
        Some(function) => {
            let call = Call {
                rows: array.len(),
                types: std::slice::from_ref(ty),
                returns: &Type::Text,
                session,
            };
            (function.kernel)(&call, &[Column::rows(Arc::clone(array))])?
        }
    };
    let texts = casted.as_string_view_opt().cloned();
    texts.ok_or_else(|| Error::internal(format!("{ty} has no text form")))
}

/// The texts of dates and times in the ISO style.
fn stamps(session: &Session, ty: &Type, array: &ArrayRef) -> Result<StringViewArray> {
    if session.date_style.to_ascii_uppercase().starts_with("ISO") {
        return text_of(session, ty, array);
    }
    let session = Session {
        date_style: "ISO, MDY".to_owned(),
        ..session.clone()
    };
    text_of(&session, ty, array)
}

/// Writes a date or a time of the ISO style with a `T` and the minutes of its zone.
fn iso(text: &str, zone: bool, out: &mut String) {
    let (rest, era) = match text.strip_suffix(" BC") {
        Some(rest) => (rest, " BC"),
        None => (text, ""),
    };
    match rest.split_once(' ') {
        None => out.push_str(rest),
        Some((date, time)) => {
            out.push_str(date);
            out.push('T');
            out.push_str(time);
            let offset = time.rfind(['+', '-']).map_or("", |at| &time[at..]);
            if zone && !offset.contains(':') {
                out.push_str(":00");
            }
        }
    }
    out.push_str(era);
}

/// A kernel that writes the JSON of each row; JSONB is brought into normal form.
fn written(
    f: impl Fn(&Call<'_>, &[Column], &[Encoder], usize, &mut String) -> Result<bool>
    + Send
    + Sync
    + 'static,
) -> Kernel {
    Arc::new(move |call, columns| {
        let mut encoders = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            let ty = call.types.get(at).unwrap_or(&Type::Text);
            let ty = if *ty == Type::Unknown {
                &Type::Text
            } else {
                ty
            };
            encoders.push(Encoder::new(call.session, ty, &column.array)?);
        }
        let rows = super::rows(call.rows, columns);
        let mut out = StringViewBuilder::with_capacity(rows);
        let mut text = String::new();
        for row in 0..rows {
            text.clear();
            if !f(call, columns, &encoders, row, &mut text)? {
                out.append_null();
                continue;
            }
            if text.len() > MAX_BYTES {
                return Err(Error::new("54000", "requested length too large"));
            }
            match call.returns {
                Type::Jsonb => out.append_value(normal(&text)?),
                _ => out.append_value(&text),
            }
        }
        Ok(repeated(Arc::new(out.finish()), call.rows))
    })
}

pub(super) fn register(c: &mut Catalogue) {
    use Type::{Any, AnyArray, AnyElement, AnyRecord, Bool, Json, Jsonb, Text};
    for ty in [Json, Jsonb] {
        let one = written(|_, columns, encoders, row, out| {
            let at = columns[0].at(row);
            if encoders[0].is_null(at) {
                return Ok(false);
            }
            encoders[0].write(at, out);
            Ok(true)
        });
        let name = if ty == Json { "to_json" } else { "to_jsonb" };
        c.add(scalar(name, &[AnyElement], ty.clone(), one).stable());

        let name = both!(ty, "_build_array");
        c.add(
            scalar(name, &[], ty.clone(), built_array())
                .variadic(Any)
                .with_nulls()
                .stable(),
        );
        let name = both!(ty, "_build_object");
        let object = built_object(name, ty == Json);
        c.add(
            scalar(name, &[], ty.clone(), object)
                .variadic(Any)
                .with_nulls()
                .stable(),
        );

        let name = both!(ty, "_object");
        let normal = ty == Jsonb;
        let flat = f1::<Bounded, Str>(move |(pairs, bounds)| {
            finish(object_of_pairs(&pairs, &bounds)?, normal)
        });
        c.add(scalar(name, &[Text.array()], ty.clone(), flat));
        let keyed = f2::<Bounded, Bounded, Str>(move |(keys, a), (values, b)| {
            let (keys, values) = (super::texts(&keys)?, super::texts(&values)?);
            if a.dimensions() > 1 || a.dimensions() != b.dimensions() {
                return Err(Error::new("2202E", "wrong number of array subscripts"));
            }
            if keys.len() != values.len() {
                return Err(Error::new("2202E", "mismatched array dimensions"));
            }
            finish(object_of(keys.iter().zip(&values))?, normal)
        });
        c.add(scalar(name, &[Text.array(), Text.array()], ty, keyed));
    }
    for (name, of) in [("array_to_json", AnyArray), ("row_to_json", AnyRecord)] {
        let lines = written(move |_, columns, encoders, row, out| {
            if columns.iter().any(|column| column.is_null(row)) {
                return Ok(false);
            }
            let lines = columns.get(1).is_some_and(|column| {
                let values = column.array.as_boolean_opt();
                values.is_some_and(|values| values.value(column.at(row)))
            });
            encoders[0].write_lines(columns[0].at(row), lines, out);
            Ok(true)
        });
        c.add(scalar(name, std::slice::from_ref(&of), Json, lines.clone()).stable());
        c.add(scalar(name, &[of, Bool], Json, lines).stable());
    }
}

fn finish(text: String, is_normal: bool) -> Result<String> {
    match is_normal {
        true => normal(&text),
        false => Ok(text),
    }
}

fn built_array() -> Kernel {
    written(|_, columns, encoders, row, out| {
        out.push('[');
        for (at, (column, encoder)) in columns.iter().zip(encoders).enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            encoder.write(column.at(row), out);
        }
        out.push(']');
        Ok(true)
    })
}

fn built_object(name: &'static str, is_json: bool) -> Kernel {
    written(move |_, columns, encoders, row, out| {
        if columns.len() % 2 == 1 {
            let hint =
                format!("The arguments of {name}() must consist of alternating keys and values.");
            let message = "argument list must have even number of elements";
            return Err(invalid(message).with_hint(hint));
        }
        out.push('{');
        for (at, (column, encoder)) in columns.iter().zip(encoders).enumerate() {
            let row = column.at(row);
            if at % 2 == 1 {
                encoder.write(row, out);
                continue;
            }
            if encoder.is_null(row) {
                let place = at + 1;
                return Err(match is_json {
                    true => invalid(format!("argument {place} cannot be null"))
                        .with_hint("Object keys should be text."),
                    false => invalid(format!("argument {place}: key must not be null")),
                });
            }
            if at > 0 {
                out.push_str(", ");
            }
            encoder.write_key(row, out)?;
            out.push_str(" : ");
        }
        out.push('}');
        Ok(true)
    })
}

/// `json_object` of keys and values in turns, or in pairs.
fn object_of_pairs(pairs: &ArrayRef, bounds: &Bounds) -> Result<String> {
    let wrong = |message: &str| Error::new("2202E", message);
    match bounds.lengths.as_slice() {
        [] | [_] | [_, 2] => {}
        [_, _] => return Err(wrong("array must have two columns")),
        _ => return Err(wrong("wrong number of array subscripts")),
    }
    let all = super::texts(pairs)?;
    if all.len() % 2 == 1 {
        return Err(wrong("array must have even number of elements"));
    }
    object_of(all.chunks_exact(2).map(|pair| (&pair[0], &pair[1])))
}

fn object_of<'a>(
    members: impl Iterator<Item = (&'a Option<String>, &'a Option<String>)>,
) -> Result<String> {
    let mut out = String::from("{");
    for (key, value) in members {
        let key = key.as_ref();
        let key = key.ok_or_else(|| Error::new("22004", "null value not allowed for object key"));
        if out.len() > 1 {
            out.push_str(", ");
        }
        quote(key?, &mut out);
        out.push_str(" : ");
        match value {
            Some(value) => quote(value, &mut out),
            None => out.push_str("null"),
        }
    }
    out.push('}');
    debug_assert!(validate(&out, false).is_ok());
    Ok(out)
}
