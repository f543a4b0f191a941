//! Cells as text, the way PostgreSQL writes them.
//!
//! A column's type is looked at once per batch: [`Cells::new`] returns a writer
//! for that array, and the loop over rows only calls it. Dates and timestamps
//! use the proleptic Gregorian calendar over the whole range of their integers,
//! with ` BC` for years before 1. Styles other than the usual ones are the front's.
//!
//! Differences from `psql`, on purpose: booleans are `true` and `false`, except in arrays
//! and records, which have the forms that SQL reads, `{t,f}` and `(1,a,)`.
//! Maps and other types that SQL does not have are written by Arrow.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType,
    Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use freestone_frontend::types::arrays::Arrays;
use freestone_frontend::values::datetime::{
    DateStyle, IntervalStyle, Zone, write_date, write_interval, write_stamp, write_stamp_tz,
};
use freestone_frontend::values::{Interval, float};
use std::fmt::Write;

use super::Styles;

type Writer<'a> = Box<dyn Fn(usize, &mut String) + Send + Sync + 'a>;

/// Writes the cells of one array as text.
pub struct Cells<'a> {
    array: &'a dyn Array,
    writer: Writer<'a>,
}

impl<'a> Cells<'a> {
    /// Prepares to write `array` in the usual styles.
    pub fn new(array: &'a dyn Array) -> Self {
        Self::styled(array, &Styles::default())
    }

    /// Prepares to write `array` in the styles of a session.
    pub fn styled(array: &'a dyn Array, styles: &Styles) -> Self {
        let writer = writer(array, styles);
        Cells { array, writer }
    }

    /// Whether the cell is NULL. `row` is below the array's length.
    pub fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row) || *self.array.data_type() == DataType::Null
    }

    /// Appends the text of a cell that is not NULL. `row` is below the array's
    /// length.
    pub fn write(&self, row: usize, out: &mut String) {
        (self.writer)(row, out);
    }

    /// The text of a cell, or `None` for NULL.
    pub fn text(&self, row: usize) -> Option<String> {
        if self.is_null(row) {
            return None;
        }
        let mut out = String::new();
        self.write(row, &mut out);
        Some(out)
    }
}

/// Writing to a `String` cannot fail.
macro_rules! put {
    ($out:expr, $($rest:tt)*) => { { let _ = write!($out, $($rest)*); } };
}

macro_rules! display {
    ($array:expr, $kind:ty) => {{
        let values = $array.as_primitive::<$kind>();
        Box::new(move |row, out: &mut String| put!(out, "{}", values.value(row)))
    }};
}

/// A timestamp or time: `$scale` microseconds per unit, or units per
/// microsecond when negative.
macro_rules! micros {
    ($array:expr, $kind:ty, $to_micros:expr, $write:expr) => {{
        let values = $array.as_primitive::<$kind>();
        Box::new(move |row, out: &mut String| $write($to_micros(values.value(row)), out))
    }};
}

fn writer<'a>(array: &'a dyn Array, styles: &Styles) -> Writer<'a> {
    match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |row, out| put!(out, "{}", values.value(row)))
        }
        DataType::Int8 => display!(array, Int8Type),
        DataType::Int16 => display!(array, Int16Type),
        DataType::Int32 => display!(array, Int32Type),
        DataType::Int64 => display!(array, Int64Type),
        DataType::UInt8 => display!(array, UInt8Type),
        DataType::UInt16 => display!(array, UInt16Type),
        DataType::UInt32 => display!(array, UInt32Type),
        DataType::UInt64 => display!(array, UInt64Type),
        DataType::Float32 => {
            let (values, digits) = (array.as_primitive::<Float32Type>(), styles.float_digits);
            Box::new(move |row, out| out.push_str(&float::write(values.value(row), digits)))
        }
        DataType::Float64 => {
            let (values, digits) = (array.as_primitive::<Float64Type>(), styles.float_digits);
            Box::new(move |row, out| out.push_str(&float::write(values.value(row), digits)))
        }
        DataType::Decimal128(_, scale) => {
            let (values, scale) = (array.as_primitive::<Decimal128Type>(), *scale);
            Box::new(move |row, out| decimal(values.value(row), scale, out))
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            Box::new(move |row, out| out.push_str(values.value(row)))
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            Box::new(move |row, out| out.push_str(values.value(row)))
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            Box::new(move |row, out| out.push_str(values.value(row)))
        }
        DataType::Binary => {
            let (values, escapes) = (array.as_binary::<i32>(), styles.escapes_bytes);
            Box::new(move |row, out| bytes(values.value(row), escapes, out))
        }
        DataType::LargeBinary => {
            let (values, escapes) = (array.as_binary::<i64>(), styles.escapes_bytes);
            Box::new(move |row, out| bytes(values.value(row), escapes, out))
        }
        DataType::BinaryView => {
            let (values, escapes) = (array.as_binary_view(), styles.escapes_bytes);
            Box::new(move |row, out| bytes(values.value(row), escapes, out))
        }
        DataType::FixedSizeBinary(size) => {
            let (values, size) = (array.as_fixed_size_binary(), *size);
            let escapes = styles.escapes_bytes;
            Box::new(move |row, out| match size {
                12 => zoned_clock(values.value(row), out),
                16 => uuid(values.value(row), out),
                _ => bytes(values.value(row), escapes, out),
            })
        }
        DataType::List(_) => nested::list(array, styles),
        DataType::Struct(_) => match Arrays::read(array) {
            Some(arrays) => nested::array(arrays, styles),
            None => nested::record(array, styles),
        },
        DataType::Interval(_) => intervals(array, styles.intervals),
        DataType::Date32 | DataType::Timestamp(TimeUnit::Microsecond, _)
            if styles.dates != DateStyle::Iso =>
        {
            styled_dates(array, styles)
        }
        _ => temporal(array),
    }
}

fn temporal<'a>(array: &'a dyn Array) -> Writer<'a> {
    let zone = match array.data_type() {
        DataType::Timestamp(_, Some(name)) => Some(zone_of(name)),
        _ => None,
    };
    let stamp = move |micros, out: &mut String| timestamp(micros, zone.as_ref(), out);
    match array.data_type() {
        DataType::Date32 => {
            let values = array.as_primitive::<Date32Type>();
            Box::new(move |row, out| match values.value(row) {
                i32::MIN => out.push_str("-infinity"),
                i32::MAX => out.push_str("infinity"),
                days => date(days.into(), "", out),
            })
        }
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => {
                micros!(
                    array,
                    TimestampSecondType,
                    |v: i64| i128::from(v) * 1_000_000,
                    stamp
                )
            }
            TimeUnit::Millisecond => {
                micros!(
                    array,
                    TimestampMillisecondType,
                    |v: i64| i128::from(v) * 1_000,
                    stamp
                )
            }
            TimeUnit::Microsecond => {
                let values = array.as_primitive::<TimestampMicrosecondType>();
                Box::new(move |row, out| match values.value(row) {
                    i64::MIN => out.push_str("-infinity"),
                    i64::MAX => out.push_str("infinity"),
                    micros => stamp(micros.into(), out),
                })
            }
            TimeUnit::Nanosecond => micros!(
                array,
                TimestampNanosecondType,
                |v: i64| i128::from(v.div_euclid(1_000)),
                stamp
            ),
        },
        DataType::Time64(TimeUnit::Microsecond) => {
            micros!(array, Time64MicrosecondType, |v: i64| v, clock)
        }
        DataType::Time64(TimeUnit::Nanosecond) => {
            micros!(
                array,
                Time64NanosecondType,
                |v: i64| v.div_euclid(1_000),
                clock
            )
        }
        _ => other(array),
    }
}

/// Dates and timestamps in another style than ISO.
fn styled_dates<'a>(array: &'a dyn Array, styles: &Styles) -> Writer<'a> {
    let zone = match array.data_type() {
        DataType::Timestamp(_, Some(name)) => Some(zone_of(name)),
        _ => None,
    };
    let is_zoned = zone.is_some();
    let locale = styles.locale(zone.unwrap_or(Zone::Utc));
    if let Some(values) = array.as_primitive_opt::<Date32Type>() {
        return Box::new(move |row, out| out.push_str(&write_date(values.value(row), &locale)));
    }
    let values = array.as_primitive::<TimestampMicrosecondType>();
    match is_zoned {
        true => Box::new(move |row, out| {
            out.push_str(&write_stamp_tz(values.value(row), &locale));
        }),
        false => Box::new(move |row, out| {
            out.push_str(&write_stamp(values.value(row), &locale));
        }),
    }
}

fn intervals<'a>(array: &'a dyn Array, style: IntervalStyle) -> Writer<'a> {
    let interval = move |months, days, micros, out: &mut String| match style {
        IntervalStyle::Postgres => interval(months, days, micros, out),
        style => out.push_str(&write_interval(&Interval::new(months, days, micros), style)),
    };
    use arrow::datatypes::IntervalUnit;
    match array.data_type() {
        DataType::Interval(IntervalUnit::YearMonth) => {
            let values = array.as_primitive::<IntervalYearMonthType>();
            Box::new(move |row, out| interval(values.value(row), 0, 0, out))
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let values = array.as_primitive::<IntervalDayTimeType>();
            Box::new(move |row, out| {
                let value = values.value(row);
                interval(0, value.days, i64::from(value.milliseconds) * 1_000, out);
            })
        }
        _ => {
            let values = array.as_primitive::<IntervalMonthDayNanoType>();
            Box::new(move |row, out| {
                let value = values.value(row);
                interval(value.months, value.days, value.nanoseconds / 1_000, out);
            })
        }
    }
}

/// Maps and whatever else a query may return.
fn other<'a>(array: &'a dyn Array) -> Writer<'a> {
    const NO_OPTIONS: FormatOptions<'static> = FormatOptions::new().with_null("NULL");
    // One for each cell, as it cannot go from thread to thread.
    Box::new(
        move |row, out| match ArrayFormatter::try_new(array, &NO_OPTIONS) {
            Ok(formatter) => put!(out, "{}", formatter.value(row)),
            Err(error) => put!(out, "<{error}>"),
        },
    )
}

/// `value` × 10^-`scale`, with exactly `scale` digits after the point.
fn decimal(value: i128, scale: i8, out: &mut String) {
    if value < 0 {
        out.push('-');
    }
    let digits = value.unsigned_abs().to_string();
    match usize::try_from(scale) {
        Ok(0) => out.push_str(&digits),
        Ok(scale) => {
            let padded = format!("{digits:0>width$}", width = scale + 1);
            let point = padded.len() - scale;
            put!(out, "{}.{}", &padded[..point], &padded[point..]);
        }
        Err(_) => {
            out.push_str(&digits);
            if value != 0 {
                out.push_str(&"0".repeat(usize::from(scale.unsigned_abs())));
            }
        }
    }
}

/// Bytes in hex, or as text with octal escapes.
fn bytes(value: &[u8], escapes: bool, out: &mut String) {
    if escapes {
        for byte in value {
            match byte {
                b'\\' => out.push_str("\\\\"),
                b' '..=b'~' => out.push(char::from(*byte)),
                _ => put!(out, "\\{byte:03o}"),
            }
        }
        return;
    }
    out.push_str("\\x");
    for byte in value {
        put!(out, "{byte:02x}");
    }
}

fn uuid(value: &[u8], out: &mut String) {
    for (at, byte) in value.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        put!(out, "{byte:02x}");
    }
}

/// Days since 1970-01-01, then `middle`, then the era.
fn date(days: i64, middle: &str, out: &mut String) {
    let (year, month, day) = civil(days);
    let (shown, era) = if year > 0 {
        (year, "")
    } else {
        (1 - year, " BC")
    };
    put!(out, "{shown:04}-{month:02}-{day:02}{middle}{era}");
}

/// Year, month and day of a day since 1970-01-01; eras of 400 years start in
/// March so that leap days come last.
fn civil(days: i64) -> (i64, i64, i64) {
    let from_era = days + 719_468;
    let era = from_era.div_euclid(146_097);
    let day_of_era = from_era.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

const MICROS_PER_DAY: i128 = 86_400_000_000;

/// The zone of an array's type.
fn zone_of(name: &str) -> Zone {
    match name {
        "+00:00" => Zone::Utc,
        name => Zone::of_setting(name).unwrap_or(Zone::Utc),
    }
}

fn timestamp(micros: i128, zone: Option<&Zone>, out: &mut String) {
    let east = zone.map(|zone| match i64::try_from(micros) {
        Ok(instant) => zone.east_at(instant),
        Err(_) => 0,
    });
    let micros = micros + i128::from(east.unwrap_or(0)) * 1_000_000;
    let days = micros.div_euclid(MICROS_PER_DAY);
    let mut middle = String::from(" ");
    clock(
        i64::try_from(micros.rem_euclid(MICROS_PER_DAY)).unwrap_or(0),
        &mut middle,
    );
    if let Some(east) = east {
        offset(east, &mut middle);
    }
    date(i64::try_from(days).unwrap_or(0), &middle, out);
}

/// A time of the day with its zone: microseconds, then seconds west of UTC.
fn zoned_clock(value: &[u8], out: &mut String) {
    let Some((micros, west)) = value.split_first_chunk() else {
        return;
    };
    let west = west.try_into().map_or(0, i32::from_le_bytes);
    clock(i64::from_le_bytes(*micros), out);
    offset(west.saturating_neg(), out);
}

/// Seconds east of UTC as `+hh[:mm[:ss]]`.
fn offset(east: i32, out: &mut String) {
    out.push(if east < 0 { '-' } else { '+' });
    let seconds = east.unsigned_abs();
    put!(out, "{:02}", seconds / 3_600);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    if minutes != 0 || seconds != 0 {
        put!(out, ":{minutes:02}");
    }
    if seconds != 0 {
        put!(out, ":{seconds:02}");
    }
}

/// Microseconds as `hh:mm:ss[.ffffff]`; hours may pass 24 in an interval.
fn clock(micros: i64, out: &mut String) {
    let seconds = micros / 1_000_000;
    let (minutes, second) = (seconds / 60, seconds % 60);
    put!(out, "{:02}:{:02}:{second:02}", minutes / 60, minutes % 60);
    let fraction = micros % 1_000_000;
    if fraction != 0 {
        let digits = format!("{fraction:06}");
        put!(out, ".{}", digits.trim_end_matches('0'));
    }
}

fn interval(months: i32, days: i32, micros: i64, out: &mut String) {
    let mut parts = Vec::new();
    // After a negative part a positive one has a sign, too.
    let mut plus = "";
    for (count, unit) in [(months / 12, "year"), (months % 12, "mon"), (days, "day")] {
        if count != 0 {
            let sign = if count > 0 { plus } else { "" };
            parts.push(format!(
                "{sign}{count} {unit}{}",
                if count == 1 { "" } else { "s" }
            ));
            plus = if count < 0 { "+" } else { "" };
        }
    }
    if micros != 0 || parts.is_empty() {
        let mut time = String::from(if micros < 0 { "-" } else { plus });
        clock(micros.saturating_abs(), &mut time);
        parts.push(time);
    }
    out.push_str(&parts.join(" "));
}

#[path = "nested.rs"]
mod nested;

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
