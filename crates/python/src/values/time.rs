//! Dates, times, moments and intervals.

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, Int32Array, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, DurationMicrosecondType, Int64Type, IntervalMonthDayNanoType,
    IntervalUnit, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use freestone::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::read::{Objects, each};
use crate::failure::raised;

/// Days from the first of January of the year 1 to that of 1970, which is day 1 in Python.
const EPOCH: i64 = 719_163;

/// The array as the type that values are read from.
fn as_type(py: Python<'_>, array: &ArrayRef, kind: &DataType) -> PyResult<ArrayRef> {
    cast(array, kind).map_err(|error| raised(py, Error::new("22008", error.to_string())))
}

/// Dates, and times of a day.
pub fn days<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Objects<'py>> {
    static DATE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static TIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let DataType::Date32 | DataType::Date64 = array.data_type() {
        let date = DATE.import(py, "freestone._values", "date_of")?;
        let array = as_type(py, array, &DataType::Date32)?;
        let days: Int32Array = array.as_primitive::<Date32Type>().reinterpret_cast();
        return each(py, &days, |at| {
            date.call1((EPOCH + i64::from(days.value(at)),))
        });
    }
    let time = TIME.import(py, "datetime", "time")?;
    let array = as_type(py, array, &DataType::Time64(TimeUnit::Microsecond))?;
    let times: Int64Array = array
        .as_primitive::<Time64MicrosecondType>()
        .reinterpret_cast();
    each(py, &times, |at| {
        let micros = times.value(at);
        let seconds = micros / 1_000_000;
        let (hour, minute) = (seconds / 3600, seconds / 60 % 60);
        time.call1((hour, minute, seconds % 60, micros % 1_000_000))
    })
}

/// Times of a day with their zones: microseconds, then seconds west of UTC.
pub fn zoned<'py>(py: Python<'py>, array: &FixedSizeBinaryArray) -> PyResult<Objects<'py>> {
    static ZONED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let zoned = ZONED.import(py, "freestone._values", "zoned_time_of")?;
    each(py, array, |at| {
        let (micros, west) = array.value(at).split_at(8);
        let micros = micros.try_into().map_or(0, i64::from_le_bytes);
        let west = west.try_into().map_or(0, i32::from_le_bytes);
        zoned.call1((micros, west))
    })
}

/// Moments, durations and intervals.
pub fn moments<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Objects<'py>> {
    static MOMENT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static DURATION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static INTERVAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    match array.data_type() {
        DataType::Timestamp(_, zone) => {
            let moment = MOMENT.import(py, "freestone._values", "moment_of")?;
            let kind = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
            let array = as_type(py, array, &kind)?;
            let micros = array.as_primitive::<TimestampMicrosecondType>();
            let micros = micros.reinterpret_cast::<Int64Type>();
            let zone = zone.as_deref();
            each(py, &micros, |at| moment.call1((micros.value(at), zone)))
        }
        DataType::Duration(_) => {
            let duration = DURATION.import(py, "freestone._values", "interval_of")?;
            let array = as_type(py, array, &DataType::Duration(TimeUnit::Microsecond))?;
            let array = array.as_primitive::<DurationMicrosecondType>();
            each(py, array, |at| duration.call1((0, 0, array.value(at))))
        }
        _ => {
            let interval = INTERVAL.import(py, "freestone._values", "interval_of")?;
            let kind = DataType::Interval(IntervalUnit::MonthDayNano);
            let array = as_type(py, array, &kind)?;
            let array = array.as_primitive::<IntervalMonthDayNanoType>();
            each(py, array, |at| {
                let value = array.value(at);
                interval.call1((value.months, value.days, value.nanoseconds / 1000))
            })
        }
    }
}
