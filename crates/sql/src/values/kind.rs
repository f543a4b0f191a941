//! Values in another Arrow form of their type.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewBuilder, StructArray};
use arrow::datatypes::{DataType, Decimal128Type};
use freestone_frontend::types::arrays;
use freestone_frontend::values::Numeric;

use crate::error::Error;

/// An array with an Arrow type: a NUMERIC may have come out in its other form, also as an
/// element or a field.
///
/// # Errors
/// `22003` where a number does not fit.
pub(crate) fn with_kind(array: ArrayRef, kind: &DataType) -> Result<ArrayRef, Error> {
    match (array.data_type(), kind) {
        (a, b) if a == b => Ok(array),
        (DataType::Decimal128(..), DataType::BinaryView) => varied(&array),
        (DataType::BinaryView, DataType::Decimal128(precision, scale)) => {
            let from = array.as_binary_view();
            let limit = 10i128.checked_pow(u32::from(*precision));
            let wide = u32::try_from(*scale).unwrap_or(0);
            let mut values = Vec::with_capacity(from.len());
            for value in from {
                let Some(value) = value else {
                    values.push(None);
                    continue;
                };
                let value = Numeric::decode(value).to_i128(wide);
                let fits =
                    value.filter(|v| limit.is_none_or(|limit| v.unsigned_abs() < limit as u128));
                let value = fits.ok_or_else(|| Error::new("22003", "numeric field overflow"))?;
                values.push(Some(value));
            }
            let array = arrow::array::PrimitiveArray::<Decimal128Type>::from(values);
            Ok(Arc::new(array.with_data_type(kind.clone())))
        }
        (held, _)
            if arrays::element_type(kind).is_some()
                && (matches!(held, DataType::List(_)) || arrays::element_type(held).is_some()) =>
        {
            let made = match array.as_list_opt::<i32>() {
                Some(lists) => arrays::from_lists(lists)?,
                None => array,
            };
            match (made.data_type() == kind, arrays::element_type(kind)) {
                (false, Some(element)) => {
                    let of = arrays::Arrays::of(&made)?;
                    let values = with_kind(Arc::clone(of.values()), element)?;
                    Ok(of.with_values(values, made.nulls().cloned())?)
                }
                _ => Ok(made),
            }
        }
        (DataType::Struct(held), DataType::Struct(wanted)) if held.len() == wanted.len() => {
            let records = array.as_struct();
            let columns = records.columns().iter().zip(wanted);
            let columns =
                columns.map(|(column, field)| with_kind(Arc::clone(column), field.data_type()));
            let columns = columns.collect::<Result<Vec<_>, Error>>()?;
            let (length, nulls) = (records.len(), records.nulls().cloned());
            Ok(Arc::new(StructArray::try_new_with_length(
                wanted.clone(),
                columns,
                nulls,
                length,
            )?))
        }
        _ => Ok(arrow::compute::cast(&array, kind)?),
    }
}

fn varied(array: &ArrayRef) -> Result<ArrayRef, Error> {
    let DataType::Decimal128(_, scale) = array.data_type() else {
        return Err(Error::internal("no decimal"));
    };
    let scale = u32::try_from(*scale).unwrap_or(0);
    let from = array.as_primitive::<Decimal128Type>();
    let mut builder = BinaryViewBuilder::with_capacity(from.len());
    for value in from {
        builder.append_option(value.map(|value| Numeric::new(value, scale).encode()));
    }
    Ok(Arc::new(builder.finish()))
}
