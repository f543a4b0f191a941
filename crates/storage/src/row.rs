//! Single rows: what look-ups return.

use crate::predicate::value_at;
use crate::schema::Value;
use arrow_array::cast::AsArray;
use arrow_array::types::IntervalMonthDayNanoType;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// One value for each column; `None` is NULL.
pub type Row = Vec<Option<Value>>;

/// One value of an array of a column's Arrow type; an interval in its stored form.
pub fn cell(array: &ArrayRef, row: usize) -> Option<Value> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Interval(_) => {
            let value = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            let mut bytes = Vec::with_capacity(16);
            bytes.extend_from_slice(&value.months.to_le_bytes());
            bytes.extend_from_slice(&value.days.to_le_bytes());
            bytes.extend_from_slice(&value.nanoseconds.to_le_bytes());
            Some(Value::Bytes(bytes))
        }
        _ => value_at(array, row),
    }
}
