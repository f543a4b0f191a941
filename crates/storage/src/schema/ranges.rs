//! Which range of a partitioned table rows are of, and where ranges should begin.

use super::{ColumnType, Partitioning, Value};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::{DataType, TimeUnit};
use std::cmp::Ordering;

/// Rows of which bounds are determined, at most.
pub const BOUNDS_SAMPLE: usize = 1 << 16;
/// Bytes of text in a bound: fewer than zone maps keep, so that those of a block tell
/// its range.
const BOUND_BYTES: usize = 63;
/// Up to so many bounds each value is compared with all of them, which takes no branch.
const COMPARE_ALL: usize = 16;

impl Partitioning {
    /// The last range, which NULL and NaN belong to.
    pub fn last(&self) -> u16 {
        // In range: bounds are fewer than ranges.
        self.bounds.len() as u16
    }

    /// Whether bounds are known, and of this type.
    pub fn fits(&self, kind: ColumnType) -> bool {
        self.ranges_of(&new_empty_array(&kind.arrow())).is_some()
    }

    /// The range of a value.
    pub fn range_of(&self, value: &Value) -> u16 {
        let before = |bound: &Value| value.compare(bound) != Some(Ordering::Less);
        self.bounds.partition_point(before) as u16
    }

    /// The range of each value of a column; `None` if bounds are not known, or of
    /// another type.
    pub fn ranges_of(&self, values: &ArrayRef) -> Option<Vec<u16>> {
        if !self.is_known() {
            return None;
        }
        let mut ranges = match values.data_type() {
            DataType::Boolean => {
                let bounds = self.bounds_as(|bound| match bound {
                    Value::Bool(value) => Some(*value),
                    _ => None,
                })?;
                let values: Vec<bool> = values.as_boolean().values().iter().collect();
                numbered(&values, &bounds)
            }
            DataType::Int16 => self.of_integers::<Int16Type>(values)?,
            DataType::Int32 => self.of_integers::<Int32Type>(values)?,
            DataType::Int64 => self.of_integers::<Int64Type>(values)?,
            DataType::Date32 => self.of_integers::<Date32Type>(values)?,
            DataType::Time64(TimeUnit::Microsecond) => {
                self.of_integers::<Time64MicrosecondType>(values)?
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                self.of_integers::<TimestampMicrosecondType>(values)?
            }
            DataType::Decimal128(..) => self.of_integers::<Decimal128Type>(values)?,
            DataType::Float32 => {
                let values = values.as_primitive::<Float32Type>().values().iter();
                let values: Vec<f64> = values.map(|value| f64::from(*value)).collect();
                numbered(&values, &self.floats()?)
            }
            DataType::Float64 => numbered(
                values.as_primitive::<Float64Type>().values(),
                &self.floats()?,
            ),
            DataType::Utf8View => {
                let values = values.as_string_view().iter();
                self.of_bytes(values.map(|value| value.map(str::as_bytes)))?
            }
            DataType::BinaryView => self.of_bytes(values.as_binary_view().iter())?,
            DataType::FixedSizeBinary(_) => self.of_bytes(values.as_fixed_size_binary().iter())?,
            _ => return None,
        };
        if values.null_count() > 0 {
            let last = self.last();
            let absent = (0..ranges.len()).filter(|row| values.is_null(*row));
            absent.for_each(|row| ranges[row] = last);
        }
        Some(ranges)
    }

    fn bounds_as<'a, T>(&'a self, of: impl FnMut(&'a Value) -> Option<T>) -> Option<Vec<T>> {
        self.bounds.iter().map(of).collect()
    }

    fn floats(&self) -> Option<Vec<f64>> {
        self.bounds_as(|bound| match bound {
            Value::Float(value) => Some(*value),
            _ => None,
        })
    }

    fn of_integers<T>(&self, values: &ArrayRef) -> Option<Vec<u16>>
    where
        T: ArrowPrimitiveType,
        T::Native: TryFrom<i128> + PartialOrd,
    {
        let bounds = self.bounds_as(|bound| match bound {
            Value::Int(value) => T::Native::try_from(*value).ok(),
            _ => None,
        })?;
        Some(numbered(values.as_primitive::<T>().values(), &bounds))
    }

    fn of_bytes<'a>(&self, values: impl Iterator<Item = Option<&'a [u8]>>) -> Option<Vec<u16>> {
        let bounds = self.bounds_as(|bound| match bound {
            Value::Bytes(bytes) => Some(bytes.as_slice()),
            _ => None,
        })?;
        let range = |value: &[u8]| bounds.partition_point(|bound| *bound <= value) as u16;
        Some(values.map(|value| value.map_or(0, range)).collect())
    }

    /// The same with bounds between which about equally many of these rows lie; with
    /// none if the rows have fewer than two values.
    #[must_use]
    pub fn with_bounds_of(&self, arrays: &[ArrayRef]) -> Partitioning {
        let mut values = sample(arrays);
        // Those that are left can all be compared.
        values.sort_by(|one, other| one.compare(other).unwrap_or(Ordering::Equal));
        let mut bounds: Vec<Value> = Vec::new();
        let ranges = usize::from(self.ranges);
        for number in 1..ranges {
            let Some(value) = values.get(number * values.len() / ranges) else {
                break;
            };
            let before = bounds.last().unwrap_or(&values[0]);
            let bound = match value.compare(before) {
                Some(Ordering::Greater) => Some(value),
                // One of very many rows gets a range of its own.
                Some(Ordering::Equal) => {
                    let until = |other: &Value| other.compare(value) != Some(Ordering::Greater);
                    values.get(values.partition_point(until))
                }
                _ => None,
            };
            bounds.extend(bound.cloned());
        }
        Partitioning {
            bounds,
            ..self.without_bounds()
        }
    }
}

/// By value, how many bounds it is not below: NaN is below none.
fn numbered<T: PartialOrd>(values: &[T], bounds: &[T]) -> Vec<u16> {
    let is_past = |value: &T, bound: &T| value.partial_cmp(bound) != Some(Ordering::Less);
    match bounds.len() <= COMPARE_ALL {
        true => values
            .iter()
            .map(|value| {
                bounds
                    .iter()
                    .map(|bound| u16::from(is_past(value, bound)))
                    .sum()
            })
            .collect(),
        false => values
            .iter()
            .map(|value| bounds.partition_point(|bound| is_past(value, bound)) as u16)
            .collect(),
    }
}

/// Values from rows that are spread evenly; neither NULL nor NaN, and text cut to what
/// a bound may have.
fn sample(arrays: &[ArrayRef]) -> Vec<Value> {
    let present: usize = arrays
        .iter()
        .map(|array| array.len() - array.null_count())
        .sum();
    let step = present.div_ceil(BOUNDS_SAMPLE).max(1);
    let rows = arrays
        .iter()
        .flat_map(|array| (0..array.len()).map(move |row| (array, row)))
        .filter(|(array, row)| array.is_valid(*row));
    rows.step_by(step)
        .filter_map(|(array, row)| value(array, row))
        .filter(|value| !value.is_nan())
        .collect()
}

fn value(array: &ArrayRef, row: usize) -> Option<Value> {
    fn int<T: ArrowPrimitiveType>(array: &ArrayRef, row: usize) -> Value
    where
        T::Native: Into<i128>,
    {
        Value::Int(array.as_primitive::<T>().value(row).into())
    }
    let bytes = |bytes: &[u8]| {
        let cut = bytes.get(..BOUND_BYTES).unwrap_or(bytes);
        Value::Bytes(cut.to_vec())
    };
    Some(match array.data_type() {
        DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
        DataType::Int16 => int::<Int16Type>(array, row),
        DataType::Int32 => int::<Int32Type>(array, row),
        DataType::Int64 => int::<Int64Type>(array, row),
        DataType::Date32 => int::<Date32Type>(array, row),
        DataType::Time64(TimeUnit::Microsecond) => int::<Time64MicrosecondType>(array, row),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            int::<TimestampMicrosecondType>(array, row)
        }
        DataType::Decimal128(..) => int::<Decimal128Type>(array, row),
        DataType::Float32 => Value::Float(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8View => bytes(array.as_string_view().value(row).as_bytes()),
        DataType::BinaryView => bytes(array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(row)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
