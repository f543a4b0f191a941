//! Ranges and multiranges.
//!
//! They are held in bytes that have their order ([`range`]), so that they are compared and sorted
//! as bytes are; those of NUMERIC without the scales of their bounds.
//!
//! ```text
//! int4range(1, 5) @> 3                       true
//! '[1,5)'::int4range + '[5,9)'               [1,9)
//! '{[1,5),[7,9)}'::int4multirange - '{[2,3)}'  {[1,2),[3,5),[7,9)}
//! ```
//!
//! Operators and functions are polymorphic: ANYRANGE stands for all ranges, and ANYELEMENT beside it
//! for the type of its bounds.

mod make;
mod operators;

use std::sync::Arc;

use arrow_array::types::{Date32Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryViewArray, Float64Array, cast::AsArray,
};

use super::kernel::{
    Bool, Bytes, Call, Column, Date, I32, I64, Input, Kernel, Num, Output, Stamp, Str, f1,
    repeated, w1, w2,
};
use super::{Catalogue, Context, Returns, Session, TableFunction, datetime, numeric, scalar};
use crate::error::{Error, Result};
use crate::types::{RangeOf, Type};
use crate::values::Numeric;
use crate::values::datetime::{
    Locale, read_date, read_stamp, read_stamp_tz, write_date, write_stamp, write_stamp_tz,
};
use crate::values::range::{self, Bound, Span, Value};

pub(super) use operators::compared;

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    for of in RangeOf::ALL {
        casts(c, of);
    }
    make::register(c);
    operators::register(c);
    bounds(c);
    rows(c);
    support(c);
}

/// The range that an argument is, or whose multirange it is.
fn of_argument(call: &Call<'_>, at: usize) -> Result<RangeOf> {
    let of = call.types.get(at).and_then(Type::range);
    of.ok_or_else(|| Error::internal("a range that is none"))
}

/// A range or a multirange as ranges that are not empty.
fn spans(ty: &Type, bytes: &[u8]) -> Vec<Span> {
    match ty {
        Type::Range(of) => range::decode(*of, bytes).into_iter().collect(),
        Type::Multirange(of) => range::decode_many(*of, bytes),
        _ => Vec::new(),
    }
}

fn casts(c: &mut Catalogue, of: RangeOf) {
    use Context::{Assignment, Explicit};
    let (one, many) = (Type::Range(of), Type::Multirange(of));
    for ty in [one.clone(), many.clone()] {
        let kernel = w1::<Str, Bytes>(move |call, text| {
            read_text(call.returns, text, &datetime::locale(call.session))
        });
        c.cast(Type::Text, ty, Explicit, kernel);
    }
    for ty in [one.clone(), many.clone()] {
        let kernel = w1::<Bytes, Str>(move |call, bytes| {
            let ty = call.types.first().unwrap_or(call.returns);
            let show = shower(of, call.session);
            Ok(match ty {
                Type::Multirange(_) => range::write_many(&range::decode_many(of, bytes), &show),
                _ => range::write(range::decode(of, bytes).as_ref(), &show),
            })
        });
        c.cast(ty, Type::Text, Assignment, kernel);
    }
    let kernel = f1::<Bytes, Bytes>(move |bytes| {
        let span = range::decode(of, bytes);
        Ok(range::encode_many(of, span.as_slice()))
    });
    c.cast(one, many, Explicit, kernel);
}

/// The bytes that hold the range or the multirange of a text.
///
/// # Errors
/// `22P02` for a text that is none, `22000` for bounds that are not in order, and errors of bounds.
pub fn read_text(ty: &Type, text: &str, locale: &Locale) -> Result<Vec<u8>> {
    let Some(of) = ty.range() else {
        return Err(Error::internal("a text is read as a range that is none"));
    };
    let read = |text: &str| {
        Ok(match of {
            RangeOf::Int4 => {
                let (least, most) = (i32::MIN.into(), i32::MAX.into());
                Value::Int(numeric::read_integer(text, "integer", least, most)?)
            }
            RangeOf::Int8 => Value::Int(numeric::read_integer(text, "bigint", i64::MIN, i64::MAX)?),
            RangeOf::Numeric => Value::Num(Numeric::parse(text)?),
            RangeOf::Timestamp => Value::Int(read_stamp(text, locale)?),
            RangeOf::TimestampTz => Value::Int(read_stamp_tz(text, locale)?),
            RangeOf::Date => Value::Int(read_date(text, locale)?.into()),
        })
    };
    Ok(match ty {
        Type::Multirange(_) => range::encode_many(of, &range::read_many(of, text, &read)?),
        _ => range::encode(of, range::read(of, text, &read)?.as_ref()),
    })
}

/// Shows values of bounds.
fn shower(of: RangeOf, session: &Session) -> impl Fn(&Value) -> String {
    let locale = datetime::locale(session);
    move |value| match (value, of) {
        (Value::Num(value), _) => value.to_string(),
        (Value::Int(value), RangeOf::Date) => write_date(*value as i32, &locale),
        (Value::Int(value), RangeOf::Timestamp) => write_stamp(*value, &locale),
        (Value::Int(value), RangeOf::TimestampTz) => write_stamp_tz(*value, &locale),
        (Value::Int(value), _) => value.to_string(),
    }
}

/// Reads values of an array that are bounds, or may be in a range.
///
/// # Errors
/// `XX000` for values of another type.
fn values(of: RangeOf, array: &ArrayRef) -> Result<Box<dyn Fn(usize) -> Value + '_>> {
    fn integers<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<Box<dyn Fn(usize) -> Value + '_>>
    where
        T::Native: Into<i64>,
    {
        let values = array.as_primitive_opt::<T>();
        let values = values.ok_or_else(|| Error::internal("a bound of another type"))?;
        Ok(Box::new(move |at| Value::Int(values.value(at).into())))
    }
    match of {
        RangeOf::Int4 => integers::<Int32Type>(array),
        RangeOf::Int8 => integers::<Int64Type>(array),
        RangeOf::Date => integers::<Date32Type>(array),
        RangeOf::Timestamp | RangeOf::TimestampTz => integers::<TimestampMicrosecondType>(array),
        RangeOf::Numeric => {
            let reader = Num::reader(array)?;
            Ok(Box::new(move |at| Value::Num(Num::get(&reader, array, at))))
        }
    }
}

/// Bounds as an array of the type of a call's result.
fn array_of(call: &Call<'_>, values: Vec<Option<Value>>) -> Result<ArrayRef> {
    fn integers<O: Output>(
        call: &Call<'_>,
        values: Vec<Option<Value>>,
        item: fn(i64) -> O::Item,
    ) -> Result<ArrayRef> {
        let mut writer = O::writer(call.returns, values.len());
        for value in values {
            match value {
                Some(Value::Int(value)) => O::put(&mut writer, item(value))?,
                _ => O::null(&mut writer),
            }
        }
        Ok(O::finish(writer))
    }
    match call.returns {
        Type::Int4 => integers::<I32>(call, values, |value| value as i32),
        Type::Int8 => integers::<I64>(call, values, |value| value),
        Type::Date => integers::<Date>(call, values, |value| value as i32),
        Type::Timestamp(_) | Type::TimestampTz(_) => integers::<Stamp>(call, values, |value| value),
        _ => {
            let mut writer = Num::writer(call.returns, values.len());
            for value in values {
                match value {
                    Some(Value::Num(value)) => Num::put(&mut writer, value)?,
                    _ => Num::null(&mut writer),
                }
            }
            Ok(Num::finish(writer))
        }
    }
}

/// The bytes of an argument.
fn bytes_of(column: &Column) -> Result<&BinaryViewArray> {
    let bytes = column.array.as_binary_view_opt();
    bytes.ok_or_else(|| Error::internal("a range that is no bytes"))
}

fn argument(columns: &[Column], at: usize) -> Result<&Column> {
    let column = columns.get(at);
    column.ok_or_else(|| Error::internal("a function of ranges is short of arguments"))
}

/// `lower`, `upper`, and what can be asked of one range.
fn bounds(c: &mut Catalogue) {
    type End = fn(Span) -> Bound;
    let ends: [(&str, End); 2] = [("lower", |span| span.lower), ("upper", |span| span.upper)];
    type Test = fn(Option<&Span>) -> bool;
    let tests: [(&str, Test); 5] = [
        ("isempty", |span| span.is_none()),
        ("lower_inc", |span| {
            span.is_some_and(|span| span.lower.inclusive)
        }),
        ("upper_inc", |span| {
            span.is_some_and(|span| span.upper.inclusive)
        }),
        ("lower_inf", |span| {
            span.is_some_and(|span| span.lower.value.is_none())
        }),
        ("upper_inf", |span| {
            span.is_some_and(|span| span.upper.value.is_none())
        }),
    ];
    for ty in [Type::AnyRange, Type::AnyMultirange] {
        for (name, end) in ends {
            let kernel: Kernel = Arc::new(move |call, columns| {
                let column = argument(columns, 0)?;
                let ty = call.types.first().unwrap_or(call.returns);
                let values = bytes_of(column)?.iter().map(|bytes| {
                    let whole = range::whole(&spans(ty, bytes?))?;
                    end(whole).value
                });
                Ok(repeated(array_of(call, values.collect())?, call.rows))
            });
            c.add(scalar(
                name,
                std::slice::from_ref(&ty),
                Type::AnyElement,
                kernel,
            ));
        }
        for (name, test) in tests {
            let kernel = w1::<Bytes, Bool>(move |call, bytes| {
                let ty = call.types.first().unwrap_or(call.returns);
                Ok(test(range::whole(&spans(ty, bytes)).as_ref()))
            });
            c.add(scalar(name, std::slice::from_ref(&ty), Type::Bool, kernel));
        }
    }
    let kernel = w2::<Bytes, Bytes, Bytes>(|call, a, b| {
        let of = of_argument(call, 0)?;
        let (a, b) = (range::decode(of, a), range::decode(of, b));
        let merged = match (a, b) {
            (Some(a), Some(b)) => Some(a.merged(&b)),
            (a, b) => a.or(b),
        };
        Ok(range::encode(of, merged.as_ref()))
    });
    let (one, many) = (Type::AnyRange, Type::AnyMultirange);
    c.add(scalar(
        "range_merge",
        &[one.clone(), one.clone()],
        one.clone(),
        kernel,
    ));
    let kernel = w1::<Bytes, Bytes>(|call, bytes| {
        let of = of_argument(call, 0)?;
        let whole = range::whole(&range::decode_many(of, bytes));
        Ok(range::encode(of, whole.as_ref()))
    });
    c.add(scalar("range_merge", &[many], one, kernel));
}

/// What `pg_range` names: how far two values of a range are apart, and the canonical forms, which
/// all ranges have.
fn support(c: &mut Catalogue) {
    for of in RangeOf::ALL {
        let name = match of {
            RangeOf::Int4 => "int4range_subdiff",
            RangeOf::Int8 => "int8range_subdiff",
            RangeOf::Numeric => "numrange_subdiff",
            RangeOf::Timestamp => "tsrange_subdiff",
            RangeOf::TimestampTz => "tstzrange_subdiff",
            RangeOf::Date => "daterange_subdiff",
        };
        let unit = match of {
            RangeOf::Timestamp | RangeOf::TimestampTz => 1e6,
            _ => 1.0,
        };
        let kernel: Kernel = Arc::new(move |call, columns| {
            let (left, right) = (argument(columns, 0)?, argument(columns, 1)?);
            let (a, b) = (values(of, &left.array)?, values(of, &right.array)?);
            let apart = (0..call.rows).map(|row| {
                if left.is_null(row) || right.is_null(row) {
                    return Ok(None);
                }
                Ok(match (a(left.at(row)), b(right.at(row))) {
                    (Value::Num(a), Value::Num(b)) => Some(a.sub(&b)?.to_f64()),
                    (Value::Int(a), Value::Int(b)) => Some((a as f64 - b as f64) / unit),
                    _ => None,
                })
            });
            let apart = apart.collect::<Result<Float64Array>>()?;
            Ok(Arc::new(apart))
        });
        c.add(scalar(
            name,
            &[of.element(), of.element()],
            Type::Float8,
            kernel,
        ));
    }
    for (name, of) in [
        ("int4range_canonical", RangeOf::Int4),
        ("int8range_canonical", RangeOf::Int8),
        ("daterange_canonical", RangeOf::Date),
    ] {
        let ty = Type::Range(of);
        let same = f1::<Bytes, Bytes>(|bytes| Ok(bytes.to_vec()));
        c.add(scalar(name, std::slice::from_ref(&ty), ty.clone(), same));
    }
}

/// `unnest` of a multirange.
fn rows(c: &mut Catalogue) {
    c.add_table(TableFunction {
        name: "unnest",
        parameters: vec![Type::AnyMultirange],
        variadic: None,
        columns: vec![("", Returns::Type(Type::AnyRange))],
        strict: true,
        rows: Arc::new(|call, arguments| {
            let of = of_argument(call, 0)?;
            let values = arguments
                .first()
                .and_then(|array| array.as_binary_view_opt());
            let values = values.filter(|values| !values.is_empty());
            let spans =
                values.map_or_else(Vec::new, |values| range::decode_many(of, values.value(0)));
            let mut spans = spans.into_iter();
            Ok(Box::new(std::iter::from_fn(move || {
                let part = spans.by_ref().take(super::series::PART);
                let part: BinaryViewArray = part
                    .map(|span| Some(range::encode(of, Some(&span))))
                    .collect();
                (!part.is_empty()).then(|| Ok(vec![Arc::new(part) as ArrayRef]))
            })))
        }),
    });
}
