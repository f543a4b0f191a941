//! SQL values of JSON: `json_populate_record`, `json_to_record` and their sets.
//!
//! The record's type comes from the call: that of the base value, or the columns that the
//! statement names. Each field takes the member of its name, through the input function of its
//! type:
//!
//! ```text
//! json_populate_record(NULL::t, '{"a": "7", "b": [1, 2]}')   with t (a integer, b integer[])
//! ```
//!
//! Functions that give records have one column, a `Struct`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use arrow_select::interleave::interleave;

use super::access::{as_text, last_member};
use super::{both, invalid};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column, Kernel};
use crate::functions::{Catalogue, Returns, Session, TableFunction, read, scalar};
use crate::types::arrays::{Bounds, Maker};
use crate::types::{Fields, Type};
use crate::values::array_text::{MOST_DIMENSIONS, too_many_dimensions};
use crate::values::json::{Elements, Kind, find, kind, normal, quoted};

pub(super) fn register(c: &mut Catalogue) {
    use Type::{AnyElement, Bool, Json, Jsonb};
    for ty in [Json, Jsonb] {
        let name = both!(ty, "_populate_record");
        let kernel = populate(name, ty == Jsonb);
        let mut parameters = vec![AnyElement, ty.clone()];
        let one = scalar(name, &parameters, AnyElement, kernel.clone());
        c.add(one.with_nulls().stable().named(&["base", "from_json"], &[]));
        if ty == Json {
            let three = scalar(name, &[AnyElement, Json, Bool], AnyElement, kernel);
            c.add(three.with_nulls().stable());
        }
        let name = both!(ty, "_populate_recordset");
        c.add_table(set(name, parameters.clone(), AnyElement, ty == Jsonb));
        if ty == Json {
            parameters.push(Bool);
            c.add_table(set(name, parameters, AnyElement, false));
        }
        // The binder puts the columns that the statement names in the place of this record.
        let record = Type::Record(Fields::from_iter([]));
        let name = both!(ty, "_to_record");
        let kernel = populate(name, ty == Jsonb);
        let rows = Arc::new(move |call: &Call<'_>, arguments: &[ArrayRef]| {
            let columns: Vec<_> = arguments.iter().cloned().map(Column::rows).collect();
            let call = Call { rows: 1, ..*call };
            let found = kernel(&call, &columns)?;
            let rows: crate::functions::json::rows::Rows =
                Box::new(std::iter::once(Ok(vec![found])));
            Ok(rows)
        });
        c.add_table(TableFunction {
            name,
            parameters: vec![ty.clone()],
            variadic: None,
            columns: vec![("", Returns::Type(record.clone()))],
            strict: true,
            rows,
        });
        let name = both!(ty, "_to_recordset");
        c.add_table(set(name, vec![ty.clone()], record, ty == Jsonb));
    }
}

/// The type of the records that a call gives.
fn record_type(call: &Call<'_>) -> Result<Fields> {
    match (call.returns, call.types.first()) {
        (Type::Record(fields), _) | (_, Some(Type::Record(fields))) => Ok(fields.clone()),
        _ => Err(
            Error::new("42804", "could not determine row type for result").with_hint(
                "Provide a non-null record argument, or call the function in the FROM \
                        clause using a column definition list.",
            ),
        ),
    }
}

/// The arguments' base records, if there are any, and their JSON.
fn parts(columns: &[Column], has_base: bool) -> Result<(Option<&Column>, &Column)> {
    let short = || Error::internal("a function is short of arguments");
    let base = match has_base {
        true => Some(columns.first().ok_or_else(short)?),
        false => None,
    };
    let json = columns.get(usize::from(has_base)).ok_or_else(short)?;
    Ok((base, json))
}

fn populate(name: &'static str, is_normal: bool) -> Kernel {
    Arc::new(move |call, columns| {
        let (base, json) = parts(columns, name.ends_with("populate_record"))?;
        let fields = record_type(call)?;
        let texts = json.array.as_string_view_opt();
        let texts = texts.ok_or_else(|| Error::internal("JSON was wanted"))?;
        let mut values = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let value = (!json.is_null(row)).then(|| texts.value(json.at(row)));
            if let Some(value) = value
                && kind(value) != Kind::Object
            {
                let found = match kind(value) {
                    Kind::Array => "an array",
                    _ => "a scalar",
                };
                return Err(invalid(format!(
                    "cannot call populate_composite on {found}"
                )));
            }
            values.push(value);
        }
        let from = From {
            session: call.session,
            is_normal,
        };
        let base = base.map(|base| match base.constant {
            true => crate::functions::kernel::repeated(Arc::clone(&base.array), call.rows),
            false => Arc::clone(&base.array),
        });
        from.record(&fields, &values, base.as_ref(), 0)
    })
}

/// A function that gives a record for each element of an array.
fn set(name: &'static str, parameters: Vec<Type>, of: Type, is_normal: bool) -> TableFunction {
    let rows = Arc::new(move |call: &Call<'_>, arguments: &[ArrayRef]| {
        let columns: Vec<_> = arguments.iter().cloned().map(Column::constant).collect();
        let (base, json) = parts(&columns, name.ends_with("populate_recordset"))?;
        let empty: super::rows::Rows = Box::new(std::iter::empty());
        if json.is_null(0) {
            return Ok(empty);
        }
        let fields = record_type(call)?;
        let texts = json.array.as_string_view_opt();
        let texts = texts.ok_or_else(|| Error::internal("JSON was wanted"))?;
        let json = texts.value(0);
        match kind(json) {
            Kind::Array => {}
            _ if is_normal => return Err(invalid(format!("cannot call {name} on a non-array"))),
            Kind::Object => {
                return Err(invalid(format!("cannot call {name} on an object")));
            }
            _ => return Err(invalid(format!("cannot call {name} on a scalar"))),
        }
        let values: Vec<_> = Elements::new(json).map(Some).collect();
        if values
            .iter()
            .flatten()
            .any(|value| kind(value) != Kind::Object)
        {
            return Err(invalid(format!(
                "argument of {name} must be an array of objects"
            )));
        }
        let from = From {
            session: call.session,
            is_normal,
        };
        let base = base
            .map(|base| crate::functions::kernel::repeated(Arc::clone(&base.array), values.len()));
        let found = from.record(&fields, &values, base.as_ref(), 0)?;
        let rows: super::rows::Rows = Box::new(std::iter::once(Ok(vec![found])));
        Ok(rows)
    });
    TableFunction {
        name,
        parameters,
        variadic: None,
        columns: vec![("", Returns::Type(of))],
        strict: false,
        rows,
    }
}

/// Makes SQL values of JSON.
struct From<'a> {
    session: &'a Session,
    is_normal: bool,
}

impl From<'_> {
    /// Records of objects; a field of no member is that of the base.
    fn record(
        &self,
        fields: &[(String, Type)],
        values: &[Option<&str>],
        base: Option<&ArrayRef>,
        depth: usize,
    ) -> Result<ArrayRef> {
        if depth > 100 {
            return Err(crate::values::json::too_deep());
        }
        let base = base.and_then(|base| base.as_struct_opt());
        let mut columns = Vec::with_capacity(fields.len());
        for (at, (name, ty)) in fields.iter().enumerate() {
            let key = quoted(name);
            let member = |object: &Option<&str>| match (*object)? {
                object if self.is_normal => find(object, &key).map(str::to_owned),
                object => last_member(object, name).map(str::to_owned),
            };
            let found: Vec<Option<String>> = values.iter().map(member).collect();
            let parts: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
            let of_base = base.map(|base| base.column(at));
            let mut column = self.column(ty, (&parts, of_base), name, depth)?;
            if let Some(base) = base {
                // A record that is NULL has no fields.
                let given = |row: usize| parts[row].is_some() || base.is_null(row);
                let from = |row| (usize::from(!given(row)), row);
                let places: Vec<_> = (0..parts.len()).map(from).collect();
                column = interleave(&[&column, base.column(at)], &places)?;
            }
            columns.push(column);
        }
        let DataType::Struct(types) = Type::Record(fields.into()).arrow() else {
            return Err(Error::internal("a record's Arrow type is no struct"));
        };
        let there = |(row, value): (usize, &Option<&str>)| {
            value.is_some() || base.is_some_and(|base| !base.is_null(row))
        };
        let nulls: NullBuffer = values
            .iter()
            .enumerate()
            .map(there)
            .collect::<Vec<_>>()
            .into();
        Ok(Arc::new(StructArray::try_new_with_length(
            types,
            columns,
            Some(nulls),
            values.len(),
        )?))
    }

    /// Values of a type; the fields of records that are in no object are those of a base.
    fn column(
        &self,
        ty: &Type,
        (values, base): (&[Option<&str>], Option<&ArrayRef>),
        name: &str,
        depth: usize,
    ) -> Result<ArrayRef> {
        let null = |value: &&str| kind(value) != Kind::Null;
        let values: Vec<Option<&str>> = values.iter().map(|v| v.filter(null)).collect();
        match ty {
            Type::Json => Ok(Arc::new(StringViewArray::from(values))),
            Type::Jsonb => {
                let normal = values.iter().map(|value| value.map(normal).transpose());
                let normal = normal.collect::<Result<Vec<_>>>()?;
                Ok(Arc::new(StringViewArray::from_iter(normal)))
            }
            Type::Record(fields) => {
                let objects = values.iter().flatten();
                for value in objects {
                    match kind(value) {
                        Kind::Object | Kind::String => {}
                        Kind::Array => {
                            return Err(invalid("cannot call populate_composite on an array"));
                        }
                        _ => {
                            return Err(invalid("cannot call populate_composite on a scalar"));
                        }
                    }
                }
                // A string is the text of a record.
                let is_text = |value: &&str| kind(value) == Kind::String;
                let objects: Vec<_> = values.iter().map(|v| v.filter(|v| !is_text(v))).collect();
                let made = self.record(fields, &objects, base, depth + 1)?;
                if objects == values {
                    return Ok(made);
                }
                let texts = values.iter().map(|value| value.filter(is_text));
                let texts = texts.map(|text| text.and_then(as_text));
                let read = read(
                    self.session,
                    ty,
                    Arc::new(StringViewArray::from_iter(texts)),
                )?;
                let from =
                    |row: usize| (usize::from(values[row].is_some_and(|v| is_text(&v))), row);
                let places: Vec<_> = (0..values.len()).map(from).collect();
                Ok(interleave(&[&made, &read], &places)?)
            }
            Type::Array(element) if values.iter().flatten().all(|v| kind(v) == Kind::Array) => {
                let mut maker = Maker::new(values.len());
                let mut elements = Vec::new();
                for value in &values {
                    let bounds = flattened(value.unwrap_or("[]"), name, &mut elements)?;
                    maker.bounded(&bounds)?;
                }
                let elements = self.column(element, (&elements, None), name, depth + 1)?;
                let nulls: NullBuffer = values
                    .iter()
                    .map(Option::is_some)
                    .collect::<Vec<_>>()
                    .into();
                maker.finish(elements, Some(nulls))
            }
            Type::Array(_)
                if values
                    .iter()
                    .flatten()
                    .any(|v| !matches!(kind(v), Kind::Array | Kind::String)) =>
            {
                Err(no_array("", name))
            }
            _ => {
                let texts = values.iter().map(|value| value.and_then(as_text));
                let texts: ArrayRef = Arc::new(StringViewArray::from_iter(texts));
                read(self.session, ty, texts)
            }
        }
    }
}

/// Adds the elements of a JSON array to others, those of arrays within it in their place; its
/// bounds. How deep arrays are is seen from the first elements: arrays that are deeper are elements.
///
/// # Errors
/// `22P02` for arrays that do not fit into dimensions, `54000` for too many of them.
fn flattened<'j>(
    array: &'j str,
    name: &str,
    elements: &mut Vec<Option<&'j str>>,
) -> Result<Bounds> {
    let mut level: Vec<&'j str> = Elements::new(array).collect();
    let mut lengths = Vec::new();
    if level.is_empty() {
        return Ok(Bounds::default());
    }
    lengths.push(level.len());
    while level
        .first()
        .is_some_and(|first| kind(first) == Kind::Array)
    {
        if lengths.len() >= MOST_DIMENSIONS {
            return Err(too_many_dimensions(lengths.len() + 1));
        }
        let mut inner = Vec::new();
        let mut length = None;
        for (at, part) in level.iter().enumerate() {
            if kind(part) != Kind::Array {
                return Err(no_array(&place_of(at, &lengths), name));
            }
            let before = inner.len();
            inner.extend(Elements::new(part));
            let count = inner.len() - before;
            if *length.get_or_insert(count) != count {
                return Err(Error::new("22P02", "malformed JSON array").with_detail(
                    "Multidimensional arrays must have sub-arrays with matching dimensions.",
                ));
            }
        }
        lengths.push(length.unwrap_or(0));
        level = inner;
    }
    if level.is_empty() {
        return Ok(Bounds::default());
    }
    elements.extend(level.into_iter().map(Some));
    Ok(Bounds::of(lengths))
}

/// The subscripts, counted from 0, of an element in the dimensions that are known.
fn place_of(element: usize, lengths: &[usize]) -> String {
    let mut rest = element;
    let mut subscripts = Vec::with_capacity(lengths.len());
    for length in lengths.iter().rev() {
        subscripts.push(format!("[{}]", rest % (*length).max(1)));
        rest /= (*length).max(1);
    }
    subscripts.reverse();
    subscripts.concat()
}

/// `22P02` for a value, or an element of an array, that is to be an array.
fn no_array(place: &str, name: &str) -> Error {
    Error::new("22P02", "expected JSON array").with_hint(match place {
        "" => format!("See the value of key \"{name}\"."),
        place => format!("See the array element {place} of key \"{name}\"."),
    })
}
