//! Values that clients bind to parameters.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use freestone::{Error, Parameter, Result};

/// A set of values for each row of a batch.
///
/// # Errors
/// `0A000` for types that no parameter has.
pub(super) fn rows(batch: &RecordBatch) -> Result<Vec<Vec<Parameter>>> {
    let columns = batch.columns().iter().map(column);
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    let row = |_| columns.iter_mut().filter_map(Iterator::next).collect();
    Ok((0..batch.num_rows()).map(row).collect())
}

fn column(array: &ArrayRef) -> Result<Vec<Parameter>> {
    let unknown = |error: arrow::error::ArrowError| {
        let message = format!("a parameter of type {}: {error}", array.data_type());
        Error::new("0A000", message)
    };
    let to = |kind| arrow::compute::cast(array, &kind).map_err(unknown);
    match array.data_type() {
        DataType::Null => Ok(vec![Parameter::Null; array.len()]),
        DataType::Boolean => {
            let values = array.as_boolean();
            Ok(each(array, |row| Parameter::Boolean(values.value(row))))
        }
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32 => {
            let values = to(DataType::Int64)?;
            let values = values.as_primitive::<Int64Type>();
            Ok(each(array, |row| Parameter::Integer(values.value(row))))
        }
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>();
            Ok(each(array, |row| {
                Parameter::Double(f64::from(values.value(row)))
            }))
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            Ok(each(array, |row| Parameter::Double(values.value(row))))
        }
        DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_) => {
            let values = to(DataType::BinaryView)?;
            let values = values.as_binary_view();
            Ok(each(array, |row| {
                Parameter::Bytes(values.value(row).to_vec())
            }))
        }
        kind if kind.is_nested() => {
            let message = format!("a parameter of type {kind}");
            Err(Error::new("0A000", message).with_hint("bind single values"))
        }
        kind => {
            let options = FormatOptions::new();
            let values = ArrayFormatter::try_new(array, &options).map_err(unknown)?;
            let number = matches!(
                kind,
                DataType::UInt64 | DataType::Decimal128(..) | DataType::Decimal256(..)
            );
            Ok(each(array, |row| {
                let text = values.value(row).to_string();
                match number {
                    true => Parameter::Decimal(text),
                    false => Parameter::Text(text),
                }
            }))
        }
    }
}

fn each(array: &ArrayRef, value: impl Fn(usize) -> Parameter) -> Vec<Parameter> {
    let rows = 0..array.len();
    rows.map(|row| match array.is_null(row) {
        true => Parameter::Null,
        false => value(row),
    })
    .collect()
}
