//! One value as SQLite's runner prints it.
//!
//! The record, not the result, says how: `I` shows any number as an integer
//! (fractions are cut off), `R` with three decimals, `T` as text. NULL is
//! `NULL`, empty text `(empty)`, and characters outside printable ASCII are `@`.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use sqllogictest::DefaultColumnType;

/// A value, reduced to what SQLite distinguishes.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// NULL of any type.
    Null,
    /// Booleans (0, 1) and every integer.
    Integer(i128),
    /// Floating-point numbers and decimals.
    Real(f64),
    /// Everything else, as Arrow displays it.
    Text(String),
}

impl Cell {
    /// The value of `array` at `row`.
    ///
    /// # Errors
    /// When Arrow cannot display the value.
    pub fn read(array: &ArrayRef, row: usize) -> Result<Cell, String> {
        if array.is_null(row) || array.data_type() == &DataType::Null {
            return Ok(Cell::Null);
        }
        Ok(match array.data_type() {
            DataType::Boolean => Cell::Integer(i128::from(array.as_boolean().value(row))),
            DataType::Int8 => Cell::Integer(array.as_primitive::<Int8Type>().value(row).into()),
            DataType::Int16 => Cell::Integer(array.as_primitive::<Int16Type>().value(row).into()),
            DataType::Int32 => Cell::Integer(array.as_primitive::<Int32Type>().value(row).into()),
            DataType::Int64 => Cell::Integer(array.as_primitive::<Int64Type>().value(row).into()),
            DataType::UInt8 => Cell::Integer(array.as_primitive::<UInt8Type>().value(row).into()),
            DataType::UInt16 => Cell::Integer(array.as_primitive::<UInt16Type>().value(row).into()),
            DataType::UInt32 => Cell::Integer(array.as_primitive::<UInt32Type>().value(row).into()),
            DataType::UInt64 => Cell::Integer(array.as_primitive::<UInt64Type>().value(row).into()),
            DataType::Float32 => Cell::Real(array.as_primitive::<Float32Type>().value(row).into()),
            DataType::Float64 => Cell::Real(array.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal128(_, 0) => {
                Cell::Integer(array.as_primitive::<Decimal128Type>().value(row))
            }
            DataType::Decimal128(_, scale) => {
                let unscaled = array.as_primitive::<Decimal128Type>().value(row);
                Cell::Real(unscaled as f64 / 10f64.powi((*scale).into()))
            }
            _ => {
                let formatter = ArrayFormatter::try_new(array, &FormatOptions::default())
                    .map_err(|error| error.to_string())?;
                Cell::Text(
                    formatter
                        .value(row)
                        .try_to_string()
                        .map_err(|error| error.to_string())?,
                )
            }
        })
    }

    /// The value as a record with a column of type `kind` shows it.
    pub fn show(&self, kind: &DefaultColumnType) -> String {
        match (kind, self) {
            (_, Cell::Null) => "NULL".to_string(),
            (DefaultColumnType::Integer, Cell::Integer(value)) => value.to_string(),
            // A cast saturates and cuts the fraction off, as SQLite's does.
            (DefaultColumnType::Integer, Cell::Real(value)) => (*value as i64).to_string(),
            (DefaultColumnType::Integer, Cell::Text(text)) => leading_integer(text).to_string(),
            (DefaultColumnType::FloatingPoint, Cell::Integer(value)) => {
                format!("{:.3}", *value as f64)
            }
            (DefaultColumnType::FloatingPoint, Cell::Real(value)) => format!("{value:.3}"),
            (DefaultColumnType::FloatingPoint, Cell::Text(text)) => {
                format!("{:.3}", text.trim().parse::<f64>().unwrap_or(0.0))
            }
            (_, Cell::Integer(value)) => value.to_string(),
            (_, Cell::Real(value)) => format!("{value:?}"),
            (_, Cell::Text(text)) => show_text(text),
        }
    }
}

fn show_text(text: &str) -> String {
    if text.is_empty() {
        return "(empty)".to_string();
    }
    text.bytes()
        .map(|byte| {
            if (b' '..=b'~').contains(&byte) {
                byte.into()
            } else {
                '@'
            }
        })
        .collect()
}

fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    text[..sign + digits].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use DefaultColumnType::{FloatingPoint, Integer, Text};
    use arrow::array::{
        BooleanArray, Decimal128Array, Float64Array, Int32Array, NullArray, StringViewArray,
    };

    #[test]
    fn the_record_decides_how_a_value_looks() {
        for (cell, kind, shown) in [
            (Cell::Null, Integer, "NULL"),
            (Cell::Integer(-7), Integer, "-7"),
            (Cell::Integer(7), FloatingPoint, "7.000"),
            (Cell::Integer(7), Text, "7"),
            (Cell::Real(-2.9), Integer, "-2"),
            (Cell::Real(2.0 / 3.0), FloatingPoint, "0.667"),
            (Cell::Text("12 monkeys".into()), Integer, "12"),
            (Cell::Text("true".into()), Integer, "0"),
            (Cell::Text(String::new()), Text, "(empty)"),
            (Cell::Text("a\tb".into()), Text, "a@b"),
            (Cell::Text("1.5".into()), FloatingPoint, "1.500"),
        ] {
            assert_eq!(cell.show(&kind), shown, "{cell:?} as {kind:?}");
        }
    }

    #[test]
    fn arrow_values_are_read() {
        let decimals = Decimal128Array::from(vec![12345])
            .with_precision_and_scale(10, 2)
            .unwrap();
        let columns: Vec<(ArrayRef, Cell)> = vec![
            (Arc::new(Int32Array::from(vec![5])), Cell::Integer(5)),
            (Arc::new(Int32Array::from(vec![None])), Cell::Null),
            (Arc::new(NullArray::new(1)), Cell::Null),
            (Arc::new(BooleanArray::from(vec![true])), Cell::Integer(1)),
            (Arc::new(Float64Array::from(vec![0.5])), Cell::Real(0.5)),
            (Arc::new(decimals), Cell::Real(123.45)),
            (
                Arc::new(StringViewArray::from(vec!["x"])),
                Cell::Text("x".into()),
            ),
        ];
        for (array, cell) in columns {
            assert_eq!(Cell::read(&array, 0).unwrap(), cell);
        }
    }
}
