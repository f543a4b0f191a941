//! Arrays of other types into a column: assignment casts.
//!
//! The cast itself is Arrow's, asked to give NULL for a value that does not fit.
//! A NULL that was none before marks the first bad row; only then is anything
//! looked at value by value.

use std::sync::Arc;

use arrow::array::cast::AsArray;
use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryViewBuilder, PrimitiveArray, StringViewArray,
    StringViewBuilder, new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options, unary};
use arrow::datatypes::{
    DataType, Float32Type, Float64Type, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use freestone_frontend::types::arrays::element_type;
use freestone_frontend::values::datetime::{round_stamp, round_time};
use freestone_frontend::values::{Interval, Numeric};
use freestone_storage::{Column, ColumnType, Modifier};

use super::digits::digits_given;
use super::text::{field_overflow, fit_char, fit_varchar, invalid};
use super::{BadValue, ColumnBuilder};
use crate::error::{Error, Result};
use crate::types::{DECIMAL_DIGITS, span_fields, sql_name};

/// Whether values of `from` may be stored in `column` without an explicit cast.
///
/// # Errors
/// `42804`, naming the column and both types.
pub(crate) fn check_assignable(from: &DataType, column: &Column) -> Result<()> {
    let kind = match digits_given(column) {
        Some(_) => &ColumnType::Numeric,
        None => &column.kind,
    };
    if assignable(from, kind) {
        return Ok(());
    }
    Err(Error::new(
        "42804",
        format!(
            "column \"{}\" is of type {} but expression is of type {}",
            column.name,
            column.type_name().to_lowercase(),
            sql_name(from)
        ),
    )
    .with_hint("rewrite or cast the expression"))
}

fn assignable(from: &DataType, to: &ColumnType) -> bool {
    use ColumnType as C;
    if let DataType::Dictionary(_, values) = from {
        return assignable(values, to);
    }
    let text = is_text(from);
    match to {
        _ if from.is_null() || text => true,
        C::Varchar(_) | C::Char(_) | C::Text => !from.is_nested(),
        C::Boolean => *from == DataType::Boolean,
        C::SmallInt | C::Integer | C::BigInt | C::Real | C::Double | C::Decimal { .. } => {
            from.is_numeric()
        }
        C::Date | C::Timestamp | C::TimestampTz => matches!(
            from,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _)
        ),
        C::Time => matches!(from, DataType::Time32(_) | DataType::Time64(_)),
        C::Interval => matches!(from, DataType::Interval(_) | DataType::Duration(_)),
        C::Uuid => *from == DataType::FixedSizeBinary(16),
        C::Bytea => matches!(
            from,
            DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
        ),
        C::Json => false,
        C::Numeric => from.is_numeric() || *from == DataType::BinaryView,
        C::Jsonb | C::Record => false,
        C::TimeTz => {
            *from == DataType::FixedSizeBinary(12)
                || matches!(
                    from,
                    DataType::Time32(_) | DataType::Time64(_) | DataType::Timestamp(_, Some(_))
                )
        }
        C::Array { .. } => {
            element_type(from).is_some()
                || matches!(
                    from,
                    DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _)
                )
        }
    }
}

/// Whether values of a column are read and written by the front alone.
fn is_of_front(column: &Column) -> bool {
    let by_modifier = matches!(
        column.modifier,
        Some(
            Modifier::Name
                | Modifier::JsonPath
                | Modifier::InternalChar
                | Modifier::Oid
                | Modifier::Xid
                | Modifier::AnyDigits
        )
    );
    by_modifier
        || column.family() > 0
        || matches!(
            column.kind,
            ColumnType::Numeric
                | ColumnType::Json
                | ColumnType::Jsonb
                | ColumnType::TimeTz
                | ColumnType::Record
                | ColumnType::Array { .. }
        )
}

fn is_text(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// The values of `array` as the column stores them.
///
/// # Errors
/// The first row whose value does not fit, and why.
pub(crate) fn assign(array: &ArrayRef, column: &Column) -> Result<ArrayRef, BadValue> {
    let assigned = assigned(array, column)?;
    match column.modifier {
        None => Ok(assigned),
        Some(declared) => restricted(assigned, column.kind, declared),
    }
}

/// Values as a column of a declared type keeps them: without digits or fields that it has not.
fn restricted(array: ArrayRef, kind: ColumnType, declared: Modifier) -> Result<ArrayRef, BadValue> {
    match (declared, kind) {
        (Modifier::Seconds(digits), ColumnType::Time) => {
            let times = array.as_primitive::<Time64MicrosecondType>();
            let times: PrimitiveArray<Time64MicrosecondType> =
                unary(times, |time| round_time(time, digits));
            Ok(Arc::new(times))
        }
        (Modifier::Seconds(digits), ColumnType::Timestamp | ColumnType::TimestampTz) => {
            let stamps = array.as_primitive::<TimestampMicrosecondType>();
            let round = |stamp| Ok(round_stamp(stamp, digits)?);
            let rounded = mapped::<TimestampMicrosecondType>(stamps, round)?;
            Ok(Arc::new(rounded.with_data_type(kind.arrow())))
        }
        (Modifier::Fields { .. }, ColumnType::Interval) => {
            let fields = span_fields(Some(declared));
            let spans = array.as_primitive::<IntervalMonthDayNanoType>();
            let restrict = |span| Ok(fields.restrict(Interval::from(span))?.into());
            let spans = mapped::<IntervalMonthDayNanoType>(spans, restrict)?;
            Ok(Arc::new(spans))
        }
        (Modifier::Digits { precision, scale }, ColumnType::Numeric) => {
            let mut builder = BinaryViewBuilder::with_capacity(array.len());
            for (row, bytes) in array.as_binary_view().iter().enumerate() {
                let fitted = bytes
                    .map(|bytes| Numeric::decode(bytes).fitted(precision.into(), scale.into()))
                    .transpose();
                let fitted = fitted.map_err(|error| BadValue {
                    row,
                    error: error.into(),
                })?;
                builder.append_option(fitted.map(|number| number.encode()));
            }
            Ok(Arc::new(builder.finish()))
        }
        _ => Ok(array),
    }
}

/// The values that a closure gives for those of an array.
fn mapped<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    work: impl Fn(T::Native) -> Result<T::Native>,
) -> Result<PrimitiveArray<T>, BadValue> {
    let values = array.iter().enumerate().map(|(row, value)| {
        let value = value.map(&work).transpose();
        value.map_err(|error| BadValue { row, error })
    });
    values.collect()
}

fn assigned(array: &ArrayRef, column: &Column) -> Result<ArrayRef, BadValue> {
    let whole = |error: Error| BadValue { row: 0, error };
    let kind = &column.kind;
    let target = kind.arrow();
    if array.data_type().is_null() {
        return Ok(new_null_array(&target, array.len()));
    }
    if let DataType::Dictionary(_, values) = array.data_type() {
        let plain = cast(array, values).map_err(whole)?;
        return assigned(&plain, column);
    }
    if is_of_front(column) {
        check_assignable(array.data_type(), column).map_err(whole)?;
        return super::convert::stored(array, column);
    }
    if is_text(array.data_type()) {
        return from_text(array, column);
    }
    if *array.data_type() == target {
        return Ok(Arc::clone(array));
    }
    check_assignable(array.data_type(), column).map_err(whole)?;
    if is_text(&target) {
        let strings = match array.data_type() {
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
                text_of_bytes(array)?
            }
            _ => cast(array, &DataType::Utf8View).map_err(whole)?,
        };
        return from_text(&strings, column);
    }
    let rounded = round_for(array, kind).map_err(whole)?;
    let out = cast(&rounded, &target).map_err(whole)?;
    if out.null_count() > array.null_count()
        && let Some(row) = (0..out.len()).find(|row| out.is_null(*row) && array.is_valid(*row))
    {
        let error = misfit(array, row, kind);
        return Err(BadValue { row, error });
    }
    if let (Some(doubles), Some(reals)) = (array.as_primitive_opt(), out.as_primitive_opt()) {
        check_reals(doubles, reals)?;
    }
    Ok(out)
}

/// Checks that doubles that have become reals are neither too large nor too near zero for one.
fn check_reals(
    doubles: &PrimitiveArray<Float64Type>,
    reals: &PrimitiveArray<Float32Type>,
) -> Result<(), BadValue> {
    for (row, (double, real)) in doubles.iter().zip(reals).enumerate() {
        let (Some(double), Some(real)) = (double, real) else {
            continue;
        };
        let why = match () {
            () if real.is_infinite() && double.is_finite() => "overflow",
            () if real == 0.0 && double != 0.0 => "underflow",
            () => continue,
        };
        let error = Error::new("22003", format!("value out of range: {why}"));
        return Err(BadValue { row, error });
    }
    Ok(())
}

fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let options = CastOptions {
        safe: true,
        ..CastOptions::default()
    };
    Ok(cast_with_options(array, to, &options)?)
}

/// Fractions rounded before they meet an integer column: Arrow would cut them.
fn round_for(array: &ArrayRef, kind: &ColumnType) -> Result<ArrayRef> {
    if !matches!(
        kind,
        ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt
    ) {
        return Ok(Arc::clone(array));
    }
    match array.data_type() {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let doubles = cast(array, &DataType::Float64)?;
            let doubles = doubles.as_primitive::<Float64Type>();
            let rounded = unary::<_, _, Float64Type>(doubles, f64::round_ties_even);
            Ok(Arc::new(rounded))
        }
        DataType::Decimal32(_, s)
        | DataType::Decimal64(_, s)
        | DataType::Decimal128(_, s)
        | DataType::Decimal256(_, s)
            if *s != 0 =>
        {
            cast(array, &DataType::Decimal128(DECIMAL_DIGITS, 0))
        }
        _ => Ok(Arc::clone(array)),
    }
}

/// Why the value at `row` became NULL in the cast.
fn misfit(array: &ArrayRef, row: usize, kind: &ColumnType) -> Error {
    let value = show(array, row);
    match kind {
        ColumnType::Decimal { precision, scale } => field_overflow(*precision, *scale),
        ColumnType::Date | ColumnType::Time | ColumnType::Timestamp | ColumnType::TimestampTz => {
            Error::new(
                "22008",
                format!("date/time field value out of range: {value}"),
            )
        }
        _ => {
            let name = sql_name(&kind.arrow());
            Error::new(
                "22003",
                format!("value {value} is out of range for type {name}"),
            )
        }
    }
}

/// One value as text, for messages.
pub(crate) fn show(array: &ArrayRef, row: usize) -> String {
    ArrayFormatter::try_new(array.as_ref(), &FormatOptions::default().with_null("NULL"))
        .map_or_else(
            |_| "?".to_owned(),
            |formatter| formatter.value(row).to_string(),
        )
}

/// One value of a column as text, for messages.
pub(crate) fn show_of(array: &ArrayRef, row: usize, column: &Column) -> String {
    match array.as_binary_view_opt() {
        Some(bytes) if column.kind == ColumnType::Bytea && bytes.is_valid(row) => {
            column.shown_bytes(bytes.value(row))
        }
        _ => show(array, row),
    }
}

fn from_text(array: &ArrayRef, column: &Column) -> Result<ArrayRef, BadValue> {
    let kind = &column.kind;
    let views = cast(array, &DataType::Utf8View).map_err(|error| BadValue { row: 0, error })?;
    let strings = views.as_string_view();
    match kind {
        ColumnType::Text | ColumnType::Varchar(None) => return Ok(Arc::clone(&views)),
        ColumnType::Varchar(Some(length)) => {
            let limit = *length as usize;
            // A byte count within the limit is a character count within it.
            if strings
                .views()
                .iter()
                .all(|view| (*view as u32) as usize <= limit)
            {
                return Ok(Arc::clone(&views));
            }
            return fitted(strings, |text| fit_varchar(text, *length));
        }
        ColumnType::Char(length) => {
            let limit = *length as usize;
            let plain = strings
                .iter()
                .flatten()
                .all(|text| text.len() <= limit && !text.ends_with(' '));
            if plain {
                return Ok(Arc::clone(&views));
            }
            return fitted(strings, |text| fit_char(text, *length));
        }
        _ => {}
    }
    // No session has written them.
    let mut builder = ColumnBuilder::of(column, &Arc::default());
    for (row, text) in strings.iter().enumerate() {
        match text {
            None => builder.push_null(),
            Some(text) => builder
                .push(text)
                .map_err(|error| BadValue { row, error })?,
        }
    }
    Ok(builder.finish())
}

fn fitted(
    strings: &StringViewArray,
    fit: impl Fn(&str) -> Result<&str>,
) -> Result<ArrayRef, BadValue> {
    let mut builder = StringViewBuilder::with_capacity(strings.len());
    for (row, text) in strings.iter().enumerate() {
        match text {
            None => builder.append_null(),
            Some(text) => {
                builder.append_value(fit(text).map_err(|error| BadValue { row, error })?);
            }
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Bytes that must be text, checked: Parquet files may lie about their strings.
pub(crate) fn text_of_bytes(array: &ArrayRef) -> Result<ArrayRef, BadValue> {
    let views = cast(array, &DataType::BinaryView).map_err(|error| BadValue { row: 0, error })?;
    let bytes = views.as_binary_view();
    let mut builder = StringViewBuilder::with_capacity(bytes.len());
    for (row, value) in bytes.iter().enumerate() {
        match value.map(std::str::from_utf8) {
            None => builder.append_null(),
            Some(Ok(text)) => builder.append_value(text),
            Some(Err(_)) => {
                let shown = String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
                let mut error = invalid("text", &shown);
                error.sqlstate = "22021".to_owned();
                error.message = format!("invalid byte sequence for encoding \"UTF8\": \"{shown}\"");
                return Err(BadValue { row, error });
            }
        }
    }
    Ok(Arc::new(builder.finish()))
}
