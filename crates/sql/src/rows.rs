//! Small tables made of values: information_schema, SHOW, table functions.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::error::Result;

/// A column being filled.
pub(crate) enum Values {
    /// TEXT.
    Text(Vec<Option<String>>),
    /// INTEGER.
    Int(Vec<Option<i32>>),
    /// BIGINT.
    Long(Vec<Option<i64>>),
    /// DOUBLE PRECISION.
    Double(Vec<Option<f64>>),
}

/// Named columns as one batch.
///
/// # Errors
/// When the columns differ in length, which would be a bug here.
pub(crate) fn batch(columns: Vec<(&str, Values)>) -> Result<RecordBatch> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
    for (name, values) in columns {
        let (kind, array): (DataType, ArrayRef) = match values {
            Values::Text(values) => (
                DataType::Utf8View,
                Arc::new(values.into_iter().collect::<StringViewArray>()),
            ),
            Values::Int(values) => (DataType::Int32, Arc::new(Int32Array::from(values))),
            Values::Long(values) => (DataType::Int64, Arc::new(Int64Array::from(values))),
            Values::Double(values) => (DataType::Float64, Arc::new(Float64Array::from(values))),
        };
        fields.push(Field::new(name, kind, true));
        arrays.push(array);
    }
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    if arrays.is_empty() {
        return Ok(RecordBatch::new_empty(schema));
    }
    Ok(RecordBatch::try_new(schema, arrays)?)
}
