//! Numbers for a column of NUMERIC that holds no more digits than its query gave.
//!
//! ```text
//! CREATE TABLE sums AS SELECT shop, sum(price) AS total FROM sales GROUP BY shop
//!
//! total is NUMERIC, held as DECIMAL(38, 2) because price has two digits
//! 12.5, '7.00'   are held
//! 12.345         is refused: rounded to two digits it would be another number
//! ```

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Builder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use freestone_frontend::types::Type;
use freestone_frontend::values::Numeric;
use freestone_storage::{Column, ColumnType, Modifier};

use super::BadValue;
use super::convert::{STORED, by_rows, convert};
use crate::error::{Error, Result};
use crate::types::type_of;

/// The digits of a column that holds as many as its query gave; `None` for other columns.
pub(super) fn digits_given(column: &Column) -> Option<(u8, i8)> {
    match (column.kind, column.modifier) {
        (ColumnType::Decimal { precision, scale }, Some(Modifier::AnyDigits)) => {
            Some((precision, scale))
        }
        _ => None,
    }
}

/// A number as such a column holds it.
///
/// # Errors
/// `0A000` for one that it cannot hold.
pub(super) fn held_exactly(
    number: &Numeric,
    (precision, scale): (u8, i8),
    column: &str,
) -> Result<i128> {
    let digits = u32::from(scale.unsigned_abs());
    let most = 10_u128.pow(precision.into());
    let held = match number.min_scale() <= digits {
        true => number.to_i128(digits),
        false => None,
    };
    held.filter(|held| held.unsigned_abs() < most).ok_or_else(|| {
        let before = u32::from(precision).saturating_sub(digits);
        let message = format!(
            "{number} does not fit into column \"{column}\", which holds {before} digits before the \
             point and {digits} behind it, as the query gave that created it"
        );
        let hint =
            format!("ALTER TABLE … ALTER COLUMN \"{column}\" TYPE NUMERIC lets it hold all numbers");
        Error::unsupported(message).with_hint(hint)
    })
}

/// Values as such a column holds them.
///
/// # Errors
/// The first row whose number it cannot hold, or whose value is no number.
pub(super) fn exact(
    array: &ArrayRef,
    column: &Column,
    (precision, scale): (u8, i8),
) -> Result<ArrayRef, BadValue> {
    let whole = |error: Error| BadValue { row: 0, error };
    let target = column.kind.arrow();
    if let DataType::Decimal128(digits, behind) = array.data_type()
        && *behind <= scale
        && i16::from(*digits) - i16::from(*behind) <= i16::from(precision) - i16::from(scale)
    {
        return cast(array, &target).map_err(|error| whole(error.into()));
    }
    let from = type_of(&Field::new("", array.data_type().clone(), true));
    let numbers = match array.data_type() {
        DataType::BinaryView => Arc::clone(array),
        _ => by_rows(array, |array| {
            convert(array, &from, &Type::Numeric(None), &STORED)
        })?,
    };
    let mut held = Decimal128Builder::with_capacity(array.len()).with_data_type(target);
    for (row, bytes) in numbers.as_binary_view().iter().enumerate() {
        let number = bytes.map(Numeric::decode);
        let number = number.map(|one| held_exactly(&one, (precision, scale), &column.name));
        let number = number.transpose();
        held.append_option(number.map_err(|error| BadValue { row, error })?);
    }
    Ok(Arc::new(held.finish()))
}
