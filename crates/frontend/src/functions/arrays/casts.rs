//! Casts of arrays and records, made of the casts of their elements and fields.
//!
//! The catalogue names no cast of an array type: there would be one for every pair of types.
//! [`nested_cast`] makes them when they are asked for:
//!
//! ```text
//! integer[] → bigint[]     integer → bigint on the elements, in the same context
//! text → integer[]         the text is taken apart, and text → integer on the elements
//! integer[] → text         integer → text on the elements, and braces
//! ```
//!
use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray, StructArray, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use arrow_select::take::take;

use super::lists::reformed;
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, Kernel, repeated};
use crate::functions::resolve::cast_in;
use crate::functions::{Cast, Catalogue, Context, Session, cast_between, scalar};
use crate::types::Type;
use crate::types::arrays::{Arrays, Maker};
use crate::values::array_text::{Literal, parse_record, write_element, write_field};

/// Most bytes of a text.
const MOST_BYTES: usize = 1 << 30;

/// The cast between two types of which one is an array or a record; `None` if there is none.
pub fn nested_cast(all: &Catalogue, from: &Type, to: &Type) -> Option<Cast> {
    let made = |context, kernel: Kernel| {
        let function = scalar("cast", std::slice::from_ref(from), to.clone(), kernel).stable();
        let function = Some(Arc::new(function));
        Some(Cast { context, function })
    };
    match (from, to) {
        (Type::Array(a), Type::Array(b)) => {
            let element = cast_in(all, a, b).or_else(|| same_base(a, b))?;
            made(element.context, cast_array(element))
        }
        (Type::Record(a), Type::Record(b)) if a.len() == b.len() => {
            // Rows of two tables are of two types.
            if a.name().is_some() && b.name().is_some() && a.name() != b.name() {
                return None;
            }
            let pairs = a.iter().zip(b.iter());
            let fields = pairs.map(|((_, a), (_, b))| match a {
                // A literal in quotes becomes what is asked for.
                Type::Unknown => cast_in(all, &Type::Text, b).map(|cast| Cast {
                    context: Context::Implicit,
                    ..cast
                }),
                a => cast_in(all, a, b).or_else(|| same_base(a, b)),
            });
            let fields = fields.collect::<Option<Vec<_>>>()?;
            let context = fields.iter().map(|cast| cast.context).min();
            made(context.unwrap_or(Context::Implicit), cast_record(fields))
        }
        (text, Type::Array(_)) if text.is_string() => {
            let inner = to.innermost();
            is_from_text(all, inner).then_some(())?;
            made(
                Context::Explicit,
                Arc::new(|call, columns| each_of(call, columns, array_from_text)),
            )
        }
        (text, Type::Record(fields)) if text.is_string() => {
            let mut fields = fields.iter();
            fields.all(|(_, ty)| is_from_text(all, ty)).then_some(())?;
            made(
                Context::Explicit,
                Arc::new(|call, columns| each_of(call, columns, record_from_text)),
            )
        }
        (Type::Array(_) | Type::Record(_), Type::Text) => {
            is_shown(all, from).then_some(())?;
            made(Context::Assignment, Arc::new(to_text))
        }
        (Type::Array(_) | Type::Record(_), text) if text.is_string() => {
            is_shown(all, from).then_some(())?;
            let shortened = cast_in(all, &Type::Text, text)?;
            made(
                Context::Assignment,
                Arc::new(move |call, columns| {
                    let shown = to_text(call, columns)?;
                    apply(&shortened, &shown, &Type::Text, call.returns, call.session)
                }),
            )
        }
        _ => None,
    }
}

/// The cast between types that differ in modifiers that the catalogue has no cast for.
fn same_base(from: &Type, to: &Type) -> Option<Cast> {
    (from.base() == to.base()).then_some(Cast {
        context: Context::Implicit,
        function: None,
    })
}

fn is_from_text(all: &Catalogue, ty: &Type) -> bool {
    cast_in(all, &Type::Text, ty).is_some()
}

fn is_shown(all: &Catalogue, ty: &Type) -> bool {
    match ty {
        Type::Array(element) => is_shown(all, element),
        Type::Record(fields) => fields.iter().all(|(_, ty)| is_shown(all, ty)),
        // The output of a type whose literal's type is not known is its text.
        Type::Unknown => true,
        _ => cast_in(all, ty, &Type::Text).is_some(),
    }
}

/// Casts values by a cast of the catalogue.
///
/// # Errors
/// Those of the cast.
pub fn apply(
    cast: &Cast,
    array: &ArrayRef,
    from: &Type,
    to: &Type,
    session: &Session,
) -> Result<ArrayRef> {
    let Some(function) = &cast.function else {
        return reformed(array, to);
    };
    let call = Call {
        rows: array.len(),
        types: std::slice::from_ref(from),
        returns: to,
        session,
    };
    (function.kernel)(&call, &[Column::rows(Arc::clone(array))])
}

/// A kernel that casts the elements of arrays.
pub fn cast_array(element: Cast) -> Kernel {
    Arc::new(move |call, columns| {
        each_of(call, columns, |call, array| {
            let (Some(Type::Array(from)), Type::Array(to)) = (call.types.first(), call.returns)
            else {
                return Err(Error::internal("a cast of arrays is given something else"));
            };
            let arrays = Arrays::of(array)?;
            let values = used(&arrays, array.len())?;
            match values {
                None => {
                    let values = apply(&element, arrays.values(), from, to, call.session)?;
                    arrays.with_values(values, array.nulls().cloned())
                }
                // Elements that no array has are not cast, for they could fail.
                Some(values) => {
                    let values = apply(&element, &values, from, to, call.session)?;
                    let mut maker = Maker::new(array.len());
                    for at in 0..array.len() {
                        maker.bounded(&arrays.bounds(at))?;
                    }
                    maker.finish(values, array.nulls().cloned())
                }
            }
        })
    })
}

/// The elements that arrays have, if there are others around them.
fn used(arrays: &Arrays<'_>, rows: usize) -> Result<Option<ArrayRef>> {
    let used: usize = (0..rows).map(|at| arrays.range(at).len()).sum();
    if used == arrays.values().len() {
        return Ok(None);
    }
    let places = (0..rows).flat_map(|at| arrays.range(at));
    let places = places.map(|at| at as u64).collect::<UInt64Array>();
    Ok(Some(take(arrays.values(), &places, None)?))
}

/// A kernel that casts the fields of records.
fn cast_record(fields: Vec<Cast>) -> Kernel {
    Arc::new(move |call, columns| {
        each_of(call, columns, |call, array| {
            let (Some(Type::Record(from)), Type::Record(to)) = (call.types.first(), call.returns)
            else {
                return Err(Error::internal("a cast of records is given something else"));
            };
            let record = array.as_struct_opt();
            let record = record.ok_or_else(|| Error::internal("a record that is no struct"))?;
            let mut made = Vec::with_capacity(fields.len());
            for (at, cast) in fields.iter().enumerate() {
                let (from, to) = (&from[at].1, &to[at].1);
                made.push(apply(cast, record.column(at), from, to, call.session)?);
            }
            struct_of(call.returns, made, array.nulls().cloned(), array.len())
        })
    })
}

/// A struct array of a record type.
pub fn struct_of(
    ty: &Type,
    columns: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    rows: usize,
) -> Result<ArrayRef> {
    let DataType::Struct(fields) = ty.arrow() else {
        return Err(Error::internal("a record that is no struct"));
    };
    let made = StructArray::try_new_with_length(fields, columns, nulls, rows)?;
    Ok(Arc::new(made))
}

/// Calls a closure for the values of the only argument, once if they are the same.
fn each_of(
    call: &Call<'_>,
    columns: &[Column],
    f: impl Fn(&Call<'_>, &ArrayRef) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let column = columns.first();
    let column = column.ok_or_else(|| Error::internal("a cast is short of its argument"))?;
    Ok(repeated(f(call, &column.array)?, call.rows))
}

/// The texts of an argument.
fn texts(array: &ArrayRef) -> Result<&StringViewArray> {
    let texts = array.as_string_view_opt();
    texts.ok_or_else(|| Error::internal("a text that is none"))
}

/// The values that texts stand for.
fn from_texts(texts: ArrayRef, ty: &Type, session: &Session) -> Result<ArrayRef> {
    let cast = cast_between(&Type::Text, ty);
    let cast = cast.ok_or_else(|| Error::internal(format!("no text can be read as {ty}")))?;
    apply(&cast, &texts, &Type::Text, ty, session)
}

/// Arrays of the texts that are their literals. The call's result type is theirs.
///
/// # Errors
/// `22P02` for texts that are no arrays, and those of the elements.
pub fn array_from_text(call: &Call<'_>, array: &ArrayRef) -> Result<ArrayRef> {
    let mut maker = Maker::new(array.len());
    let mut elements = StringViewBuilder::new();
    let mut total = 0usize;
    for text in texts(array)? {
        let literal = text.map(Literal::parse).transpose()?.unwrap_or_default();
        maker.bounded(&literal.bounds)?;
        for element in literal.elements {
            total += element.as_ref().map_or(0, String::len);
            elements.append_option(element);
        }
        if total > i32::MAX as usize {
            return Err(too_long());
        }
    }
    let elements: ArrayRef = Arc::new(elements.finish());
    let values = from_texts(elements, call.returns.innermost(), call.session)?;
    maker.finish(values, array.nulls().cloned())
}

fn too_long() -> Error {
    Error::new("54000", "requested length too large")
}

/// Records of the texts that are their literals. The call's result type is theirs.
///
/// # Errors
/// `22P02` for texts that are no records, and those of the fields.
pub fn record_from_text(call: &Call<'_>, array: &ArrayRef) -> Result<ArrayRef> {
    let Type::Record(types) = call.returns else {
        return Err(Error::internal("a record's text is read as something else"));
    };
    let mut fields: Vec<StringViewBuilder> = Vec::new();
    fields.resize_with(types.len(), StringViewBuilder::new);
    for text in texts(array)? {
        let mut given = Vec::with_capacity(types.len());
        let parsed = text.map_or(Ok(()), |text| parse_record(text, types.len(), &mut given));
        if let Err(error) = parsed {
            for (field, (_, ty)) in given.into_iter().zip(types.iter()) {
                let field: ArrayRef = Arc::new(StringViewArray::from(vec![field]));
                from_texts(field, ty, call.session)?;
            }
            return Err(error);
        }
        let mut given = given.into_iter();
        for field in &mut fields {
            field.append_option(given.next().flatten());
        }
    }
    let mut columns = Vec::with_capacity(types.len());
    for (mut field, (_, ty)) in fields.into_iter().zip(types.iter()) {
        let field: ArrayRef = Arc::new(field.finish());
        columns.push(from_texts(field, ty, call.session)?);
    }
    struct_of(call.returns, columns, array.nulls().cloned(), array.len())
}

/// A kernel's work: arrays and records to their texts.
fn to_text(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    each_of(call, columns, |call, array| {
        let ty = call.types.first();
        let ty = ty.ok_or_else(|| Error::internal("a cast without its argument's type"))?;
        output(array, ty, call.session)
    })
}

/// The texts that the output functions of a type give, as they stand in arrays, records and
/// rows that are sent. They differ from casts to text for BOOLEAN, CHAR(n) and INET.
///
/// # Errors
/// `XX000` if the type has no text form.
pub fn output(array: &ArrayRef, ty: &Type, session: &Session) -> Result<ArrayRef> {
    match ty {
        Type::Bool => {
            let values = array.as_boolean_opt();
            let values = values.ok_or_else(|| Error::internal("a BOOLEAN that is none"))?;
            let texts = values.iter().map(|v| v.map(|v| if v { "t" } else { "f" }));
            Ok(Arc::new(texts.collect::<StringViewArray>()))
        }
        Type::Char(Some(length)) => {
            let width = *length as usize;
            let texts = texts(array)?.iter();
            let texts = texts.map(|text| text.map(|text| format!("{text:<width$}")));
            Ok(Arc::new(texts.collect::<StringViewArray>()))
        }
        Type::Unknown => Ok(Arc::clone(array)),
        Type::Inet => super::super::network::shown(array),
        Type::Array(_) => array_to_text(array, ty, session),
        Type::Record(fields) => record_to_text(array, fields, session),
        _ => {
            let cast = cast_between(ty, &Type::Text);
            let cast = cast.ok_or_else(|| Error::internal(format!("{ty} has no text")))?;
            apply(&cast, array, ty, &Type::Text, session)
        }
    }
}

/// Texts of arrays of a type: `{1,NULL,"a b"}`, `[0:1]={1,2}`.
///
/// # Errors
/// `54000` for a text of over 1 GB.
pub fn array_to_text(array: &ArrayRef, ty: &Type, session: &Session) -> Result<ArrayRef> {
    if array.is_empty() {
        return Ok(Arc::new(StringViewArray::new_null(0)));
    }
    let arrays = Arrays::of(array)?;
    let values = output(arrays.values(), ty.innermost(), session)?;
    let elements = texts(&values)?;
    let mut made = StringViewBuilder::with_capacity(array.len());
    for at in 0..array.len() {
        if array.is_null(at) {
            made.append_null();
            continue;
        }
        let range = arrays.range(at);
        if range.is_empty() {
            made.append_value("{}");
            continue;
        }
        let bounds = arrays.bounds(at);
        let mut text = String::new();
        if !bounds.begin_at_one() {
            text.push_str(&bounds.text());
            text.push('=');
        }
        write_list(&mut text, range.start, &bounds.lengths, elements)?;
        made.append_value(text);
    }
    Ok(Arc::new(made.finish()))
}

/// Writes the elements from a place on as an array of some lengths.
fn write_list(
    to: &mut String,
    start: usize,
    lengths: &[usize],
    elements: &StringViewArray,
) -> Result<()> {
    if to.len() > MOST_BYTES {
        return Err(too_long());
    }
    let Some((length, inner)) = lengths.split_first() else {
        return Ok(());
    };
    let size: usize = inner.iter().product();
    to.push('{');
    for number in 0..*length {
        if number > 0 {
            to.push(',');
        }
        let at = start + number * size;
        match inner.is_empty() {
            true if at >= elements.len() => return Err(Error::internal("too few elements")),
            true => write_element(to, (!elements.is_null(at)).then(|| elements.value(at))),
            false => write_list(to, at, inner, elements)?,
        }
    }
    to.push('}');
    Ok(())
}

/// Texts of records: `(1,,"a b")`.
fn record_to_text(
    array: &ArrayRef,
    types: &[(String, Type)],
    session: &Session,
) -> Result<ArrayRef> {
    let record = array.as_struct_opt();
    let record = record.ok_or_else(|| Error::internal("a record that is no struct"))?;
    let columns = record.columns().iter().zip(types);
    let columns = columns.map(|(column, (_, ty))| output(column, ty, session));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let mut made = StringViewBuilder::with_capacity(array.len());
    for at in 0..array.len() {
        if array.is_null(at) {
            made.append_null();
            continue;
        }
        let mut text = String::from("(");
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            let field = texts(column)?;
            write_field(&mut text, (!field.is_null(at)).then(|| field.value(at)));
            if text.len() > MOST_BYTES {
                return Err(too_long());
            }
        }
        text.push(')');
        made.append_value(text);
    }
    Ok(Arc::new(made.finish()))
}
