//! Values between types of the front, and between its types and the forms that columns have.
//!
//! Most columns hold values as the front does. An array, a record and a TIMETZ are held as their
//! text:
//!
//! ```text
//! integer[] of the front    elements [1, NULL, 3]
//! in a column               {1,NULL,3}
//! row of the front          1, 'a b'
//! in a column               (1,"a b")
//! ```
//!
//! Texts in columns do not depend on a session's settings.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringViewArray};
use arrow::datatypes::{DataType, Field};
use freestone_frontend::functions::arrays::casts::{output, struct_of};
use freestone_frontend::functions::kernel::{Call, Column as Values, repeated};
use freestone_frontend::functions::{Session, cast_between, must_fit};
use freestone_frontend::types::Type;
use freestone_frontend::types::arrays::{Arrays, element_type};
use freestone_frontend::values::network::Inet;
use freestone_frontend::values::range;
use freestone_storage::{Column, ColumnType, Modifier};

use super::digits::{digits_given, exact};
use super::{BadValue, with_kind};
use crate::error::{Error, Result};
use crate::types::{type_held, type_of};

/// Settings that texts in columns are written and read with.
pub(super) static STORED: LazyLock<Session> = LazyLock::new(Session::default);

/// Values cast from one type to another.
///
/// # Errors
/// `42846` if there is no such cast; those of the cast.
pub(crate) fn convert(
    array: &ArrayRef,
    from: &Type,
    to: &Type,
    session: &Session,
) -> Result<ArrayRef> {
    let array = &in_form(array, from)?;
    let cast = cast_between(from, to);
    let Some(cast) = cast else {
        return match from.base() == to.base() {
            true => in_form(array, to),
            false => Err(Error::new(
                "42846",
                format!("cannot cast type {from} to {to}"),
            )),
        };
    };
    let Some(function) = cast.function else {
        return in_form(array, to);
    };
    let call = Call {
        rows: array.len(),
        types: std::slice::from_ref(from),
        returns: to,
        session,
    };
    let values = Values::rows(Arc::clone(array));
    let cast = (function.kernel)(&call, &[values])?;
    in_form(&repeated(cast, array.len()), to)
}

/// An array with the Arrow type of its SQL type: texts and lists come in several.
fn in_form(array: &ArrayRef, ty: &Type) -> Result<ArrayRef> {
    match array.data_type() {
        // A kernel of numbers reads both forms.
        DataType::Decimal128(..) if matches!(ty, Type::Numeric(_)) => match ty {
            Type::Numeric(None) => Ok(with_kind(Arc::clone(array), &ty.arrow())?),
            _ => Ok(Arc::clone(array)),
        },
        _ => with_kind(Arc::clone(array), &ty.arrow()),
    }
}

/// Whether a column holds values in another form than the front does.
pub(crate) fn is_held_as_text(ty: &Type) -> bool {
    matches!(ty, Type::Array(_) | Type::Record(_) | Type::TimeTz(_))
}

/// Values of a column as the front has them.
///
/// # Errors
/// Those of reading a text that no column should have.
pub(crate) fn loaded(array: &ArrayRef, ty: &Type) -> Result<ArrayRef> {
    match (array.data_type(), is_held_as_text(ty)) {
        (DataType::List(_), _) => in_form(array, ty),
        (_, true) => convert(array, &Type::Text, ty, &STORED),
        _ => Ok(Arc::clone(array)),
    }
}

/// Values for a column of one of the types that the front reads and writes alone.
///
/// # Errors
/// The first row that cannot be stored, and why.
pub(crate) fn stored(array: &ArrayRef, column: &Column) -> Result<ArrayRef, BadValue> {
    if let Some(digits) = digits_given(column) {
        return exact(array, column, digits);
    }
    let kind = &column.kind;
    let field = Field::new("", array.data_type().clone(), true);
    let from = match (array.data_type(), kind) {
        // No other numbers are bytes.
        (DataType::BinaryView, ColumnType::Numeric) => return Ok(Arc::clone(array)),
        (DataType::BinaryView, ColumnType::Bytea) => {
            must_be_held(array, &type_held(column))?;
            return Ok(Arc::clone(array));
        }
        // No numbers can be cast to XID, so that those that get here are XIDs.
        (DataType::Int64, ColumnType::BigInt) if column.modifier == Some(Modifier::Xid) => {
            must_be_xids(array.as_primitive())?;
            return Ok(Arc::clone(array));
        }
        (held, ColumnType::Array { .. })
            if column.family() > 0 && elements_of(held) == Some(&DataType::BinaryView) =>
        {
            type_held(column).without_length()
        }
        (DataType::FixedSizeBinary(12), ColumnType::TimeTz) => Type::TimeTz(None),
        (held, ColumnType::Array { element, .. })
            if let Some(elements) = elements_of(held)
                && let Some(ty) = type_of_bytes(elements, &(*element).into()) =>
        {
            ty.array()
        }
        _ => type_of(&field),
    };
    let work = |array: &ArrayRef| -> Result<ArrayRef> {
        let to = type_held(column);
        let is_cut = matches!(to, Type::Array(_) | Type::Bit(_) | Type::VarBit(_));
        let (array, from) = &match is_cut {
            // A cast would cut what is too long.
            true => {
                let any = to.without_length();
                let array = match from == any {
                    true => Arc::clone(array),
                    false => convert(array, &from, &any, &STORED)?,
                };
                must_fit(&array, &to)?;
                (array, any)
            }
            false => (Arc::clone(array), from.clone()),
        };
        let values = match array.data_type() == &to.arrow() && *from == to {
            true => Arc::clone(array),
            false => convert(array, from, &to, &STORED)?,
        };
        match is_held_as_text(&to) {
            true => convert(&values, &to, &Type::Text, &STORED),
            false => Ok(values),
        }
    };
    by_rows(array, work)
}

/// The values that some work gives of an array.
///
/// # Errors
/// The first row that it fails for, and why.
pub(super) fn by_rows(
    array: &ArrayRef,
    work: impl Fn(&ArrayRef) -> Result<ArrayRef>,
) -> Result<ArrayRef, BadValue> {
    work(array).map_err(|error| {
        // Only now is anything looked at value by value.
        let failed = (0..array.len()).find_map(|row| {
            let error = work(&array.slice(row, 1)).err()?;
            Some(BadValue { row, error })
        });
        failed.unwrap_or(BadValue { row: 0, error })
    })
}

/// # Errors
/// `22003` for numbers that take more than four bytes.
fn must_be_xids(numbers: &Int64Array) -> Result<(), BadValue> {
    let bad = |number: &Option<i64>| number.is_some_and(|number| u32::try_from(number).is_err());
    match numbers.iter().position(|number| bad(&number)) {
        None => Ok(()),
        Some(row) => {
            let number = numbers.value(row);
            let message = format!("value \"{number}\" is out of range for type xid");
            let error = Error::new("22003", message);
            Err(BadValue { row, error })
        }
    }
}

/// Texts for a column of records, or of arrays of them, as such a column holds them.
///
/// # Errors
/// `22P02` for a text that is no such record, those of its fields, and `22001` for a text that is
/// too long for its field.
pub(crate) fn normal_records(texts: &ArrayRef, ty: &Type) -> Result<ArrayRef> {
    let any = ty.without_length();
    let mut values = convert(texts, &Type::Text, &any, &STORED)?;
    if any != *ty {
        must_fit(&values, ty)?;
        values = convert(texts, &Type::Text, ty, &STORED)?;
    }
    convert(&values, ty, &Type::Text, &STORED)
}

/// Checks that bytes are values of a type in the form that it is held in: a file may have others.
///
/// # Errors
/// `22P03` for others.
fn must_be_held(array: &ArrayRef, ty: &Type) -> Result<(), BadValue> {
    let is = |bytes: &[u8]| match ty {
        Type::Inet => Inet::decode(bytes).encode() == bytes,
        Type::Cidr => Inet::decode(bytes).network().encode() == bytes,
        Type::MacAddr => bytes.len() == 6,
        Type::MacAddr8 | Type::Money => bytes.len() == 8,
        Type::Range(of) => range::is_range(*of, bytes),
        Type::Multirange(of) => range::is_multirange(*of, bytes),
        _ => true,
    };
    let values = array.as_binary_view_opt().into_iter().flatten().enumerate();
    for (row, bytes) in values {
        if !bytes.is_none_or(is) {
            let error = Error::new("22P03", format!("bytes that are no value of type {ty}"));
            return Err(BadValue { row, error });
        }
    }
    Ok(())
}

/// The Arrow type of the elements of arrays, or of lists in lists.
fn elements_of(held: &DataType) -> Option<&DataType> {
    match held {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let item = item.data_type();
            Some(elements_of(item).unwrap_or(item))
        }
        other => element_type(other),
    }
}

/// The type of elements whose Arrow type does not tell it: numbers and times that are bytes.
fn type_of_bytes(held: &DataType, column: &ColumnType) -> Option<Type> {
    match (held, column) {
        (DataType::BinaryView, ColumnType::Bytea) => None,
        (DataType::BinaryView, _) => Some(Type::Numeric(None)),
        (DataType::FixedSizeBinary(12), _) => Some(Type::TimeTz(None)),
        _ => None,
    }
}

/// Values of the front in the form that clients are shown, as the front has them.
///
/// # Errors
/// Those of reading a text.
pub(crate) fn from_shown(array: &ArrayRef, ty: &Type) -> Result<ArrayRef> {
    if let (Type::Char(_), Some(texts)) = (ty, array.as_string_view_opt()) {
        // Shown with its blanks, and held without them.
        let texts = texts
            .iter()
            .map(|text| text.map(|text| text.trim_end_matches(' ')));
        return Ok(Arc::new(texts.collect::<StringViewArray>()));
    }
    if *array.data_type() == ty.arrow() {
        return Ok(Arc::clone(array));
    }
    match ty {
        Type::Array(element) if let Some(arrays) = Arrays::read(array) => {
            let values = from_shown(arrays.values(), element)?;
            Ok(arrays.with_values(values, array.nulls().cloned())?)
        }
        Type::Record(fields) if let Some(records) = array.as_struct_opt() => {
            let pairs = records.columns().iter().zip(fields.iter());
            let columns = pairs.map(|(column, (_, ty))| from_shown(column, ty));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let nulls = records.nulls().cloned();
            Ok(struct_of(ty, columns, nulls, records.len())?)
        }
        _ => convert(array, &Type::Text, ty, &STORED),
    }
}

/// Values of the front as the texts that PostgreSQL writes under default settings.
///
/// # Errors
/// Those of the output function.
pub(crate) fn as_text(array: &ArrayRef, ty: &Type) -> Result<ArrayRef> {
    convert(array, ty, &Type::Text, &STORED)
}

/// Values of the front as clients are shown them under default settings.
///
/// # Errors
/// Those of the output function.
pub(crate) fn as_shown(array: &ArrayRef, ty: &Type) -> Result<ArrayRef> {
    Ok(output(array, ty, &STORED)?)
}

/// Texts of [`as_text`] as values of the front.
///
/// # Errors
/// Those of reading them.
pub(crate) fn from_text(texts: &ArrayRef, ty: &Type) -> Result<ArrayRef> {
    convert(texts, &Type::Text, ty, &STORED)
}
