//! Fields of dates and times: extract and date_part.
//!
//! `extract` gives NUMERIC, with the digits that a field has: three for milliseconds and six for
//! seconds and the epoch. `date_part` gives the same as DOUBLE PRECISION.
//!
//! A field of an infinity is infinite where it grows without an end, and NULL where it returns
//! to its beginning.

use super::super::kernel::{Date, F64, Kernel, Num, Opt, Span, Stamp, Str, Time, TimeTz, w2};
use super::super::{Catalogue, scalar};
use super::casts::date_to_stamp;
use super::{of, settings, timetz_parts};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::datetime::calendar::{self, DAY, HOUR, MINUTE, SECOND};
use crate::values::datetime::{Unit, field};
use crate::values::{Interval, Numeric};

/// A field's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// A number of some decimals.
    Decimal(i128, u32),
    /// The fraction of a Julian day is a quotient of its microseconds.
    Julian(i64, i64),
    /// Infinite; whether it is negative.
    Infinite(bool),
    /// None.
    Null,
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Decimal(value.into(), 0)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Decimal(value.into(), 0)
    }
}

impl Value {
    /// The value as DOUBLE PRECISION.
    pub(super) fn float(self) -> Option<f64> {
        Some(match self {
            Self::Decimal(value, scale) => value as f64 / 10f64.powi(scale as i32),
            Self::Julian(day, micros) => day as f64 + micros as f64 / DAY as f64,
            Self::Infinite(true) => f64::NEG_INFINITY,
            Self::Infinite(false) => f64::INFINITY,
            Self::Null => return None,
        })
    }

    /// The whole part of the value.
    pub(super) fn whole(self) -> Option<i64> {
        match self {
            Self::Decimal(value, scale) => i64::try_from(value.div_euclid(10i128.pow(scale))).ok(),
            Self::Julian(day, _) => Some(day),
            _ => None,
        }
    }

    /// The value as NUMERIC.
    fn numeric(self) -> Result<Option<Numeric>> {
        Ok(Some(match self {
            Self::Decimal(value, scale) => Numeric::new(value, scale),
            Self::Julian(day, micros) => julian(day, micros),
            Self::Infinite(true) => Numeric::parse("-Infinity")?,
            Self::Infinite(false) => Numeric::parse("Infinity")?,
            Self::Null => return Ok(None),
        }))
    }
}

/// A Julian day and the quotient of a time and a day, with as many digits as division gives.
fn julian(day: i64, micros: i64) -> Numeric {
    // Division looks at digits of base 10000; those of a day are 864, 0, 0.
    let (mut weight, mut first) = (0, micros);
    while first >= 10_000 {
        first /= 10_000;
        weight += 1;
    }
    let quotient = weight - 2 - i32::from(first <= 864);
    let scale = (16 - quotient * 4).max(0) as u32;
    let power = 10i128.pow(scale);
    let (micros, whole) = (i128::from(micros) * power, i128::from(DAY));
    let fraction = (micros + whole / 2) / whole;
    Numeric::new(i128::from(day) * power + fraction, scale)
}

/// The error for a field that a type has not.
pub(super) fn unsupported(name: &str, ty: &Type) -> Error {
    Error::unsupported(format!("unit \"{name}\" not supported for type {ty}"))
}

/// The error for a word that is no field.
pub(super) fn unrecognized(name: &str, ty: &Type) -> Error {
    Error::new(
        "22023",
        format!("unit \"{name}\" not recognized for type {ty}"),
    )
}

/// A name as identifiers are read: in small letters.
pub(super) fn lowered(name: &str) -> String {
    let mut lower = name.to_ascii_lowercase();
    if lower.len() > 63 {
        let end = (0..=63).rev().find(|at| lower.is_char_boundary(*at));
        lower.truncate(end.unwrap_or(0));
    }
    lower
}

fn unit_of(name: &str, ty: &Type) -> Result<Unit> {
    field(name).ok_or_else(|| unrecognized(name, ty))
}

/// A year as the field shows it: 1 BC is -1.
fn year(year: i32) -> i32 {
    if year > 0 { year } else { year - 1 }
}

/// The decade, century or millennium of a year.
fn years(unit: Unit, year: i32) -> i64 {
    let year = i64::from(year);
    match unit {
        Unit::Decade => year.div_euclid(10),
        Unit::Century if year > 0 => (year + 99) / 100,
        Unit::Century => -((100 - year) / 100),
        _ if year > 0 => (year + 999) / 1000,
        _ => -((1000 - year) / 1000),
    }
}

/// A field of an infinity.
fn of_infinity(unit: Unit, early: bool) -> Option<Value> {
    Some(match unit {
        Unit::Year
        | Unit::Decade
        | Unit::Century
        | Unit::Millennium
        | Unit::Julian
        | Unit::IsoYear
        | Unit::Epoch => Value::Infinite(early),
        Unit::Time => return None,
        _ => Value::Null,
    })
}

/// A field that a date has.
fn of_days(unit: Unit, days: i64) -> Option<Value> {
    let (y, month, day) = calendar::civil(days);
    let y = y as i32;
    Some(match unit {
        Unit::Day => day.into(),
        Unit::Month => month.into(),
        Unit::Quarter => ((month - 1) / 3 + 1).into(),
        Unit::Week => calendar::iso_week(days).1.into(),
        Unit::Year => year(y).into(),
        Unit::Decade | Unit::Century | Unit::Millennium => years(unit, y).into(),
        Unit::IsoYear => year(calendar::iso_week(days).0 as i32).into(),
        Unit::Dow => calendar::weekday(days).into(),
        Unit::IsoDow => ((days + 3).rem_euclid(7) + 1).into(),
        Unit::Doy => (days - calendar::days_of(y.into(), 1, 1) + 1).into(),
        _ => return None,
    })
}

/// A field that a time of day has.
fn of_clock(unit: Unit, time: i64) -> Option<Value> {
    let of_minute = i128::from(time % MINUTE);
    Some(match unit {
        Unit::Microsecond => Value::Decimal(of_minute, 0),
        Unit::Millisecond => Value::Decimal(of_minute, 3),
        Unit::Second => Value::Decimal(of_minute, 6),
        Unit::Minute => (time / MINUTE % 60).into(),
        Unit::Hour => (time / HOUR).into(),
        _ => return None,
    })
}

/// A field of an offset from UTC.
fn of_offset(unit: Unit, east: i32) -> Option<Value> {
    Some(match unit {
        Unit::Timezone => east.into(),
        Unit::TimezoneHour => (east / 3600).into(),
        Unit::TimezoneMinute => (east % 3600 / 60).into(),
        _ => return None,
    })
}

/// A field of a date.
fn date_field(name: &str, date: i32) -> Result<Value> {
    let unit = unit_of(name, &of::DATE)?;
    let of_time = matches!(
        unit,
        Unit::Microsecond | Unit::Millisecond | Unit::Second | Unit::Minute | Unit::Hour
    ) || of_offset(unit, 0).is_some();
    let value = match calendar::is_finite_date(date) {
        _ if of_time => None,
        false => of_infinity(unit, date < 0),
        true => match unit {
            Unit::Julian => Some((i64::from(date) + calendar::JULIAN_EPOCH).into()),
            Unit::Epoch => Some((i64::from(date) * 86_400).into()),
            _ => of_days(unit, date.into()),
        },
    };
    value.ok_or_else(|| unsupported(name, &of::DATE))
}

/// A field of a timestamp, whose time a clock some seconds east of UTC shows.
pub(super) fn stamp_field(name: &str, utc: i64, east: Option<i32>) -> Result<Value> {
    let ty = match east {
        Some(_) => of::STAMPTZ,
        None => of::STAMP,
    };
    let unit = unit_of(name, &ty)?;
    if !calendar::is_finite(utc) {
        return of_infinity(unit, utc < 0).ok_or_else(|| unsupported(name, &ty));
    }
    let offset = east.and_then(|east| of_offset(unit, east));
    let local = utc.saturating_add(i64::from(east.unwrap_or(0)) * SECOND);
    let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let value = match unit {
        Unit::Epoch => Some(Value::Decimal(utc.into(), 6)),
        Unit::Julian => Some(Value::Julian(days + calendar::JULIAN_EPOCH, time)),
        _ => of_clock(unit, time)
            .or_else(|| of_days(unit, days))
            .or(offset),
    };
    value.ok_or_else(|| unsupported(name, &ty))
}

fn time_field(name: &str, time: i64) -> Result<Value> {
    let unit = unit_of(name, &of::TIME)?;
    match unit {
        Unit::Epoch => Ok(Value::Decimal(time.into(), 6)),
        _ => of_clock(unit, time).ok_or_else(|| unsupported(name, &of::TIME)),
    }
}

fn timetz_field(name: &str, value: [u8; 12]) -> Result<Value> {
    let unit = unit_of(name, &of::TIMETZ)?;
    let (time, east) = timetz_parts(value);
    if unit == Unit::Epoch {
        let utc = time - i64::from(east) * SECOND;
        return Ok(Value::Decimal(utc.into(), 6));
    }
    let value = of_clock(unit, time).or_else(|| of_offset(unit, east));
    value.ok_or_else(|| unsupported(name, &of::TIMETZ))
}

pub(super) fn span_field(name: &str, span: &Interval) -> Result<Value> {
    let unit = unit_of(name, &of::SPAN)?;
    let (year, month) = (span.months / 12, span.months % 12);
    Ok(match unit {
        Unit::Day => span.days.into(),
        Unit::Month => month.into(),
        Unit::Quarter => (month / 3 + 1).into(),
        Unit::Year => year.into(),
        Unit::Decade => (year / 10).into(),
        Unit::Century => (year / 100).into(),
        Unit::Millennium => (year / 1000).into(),
        Unit::Epoch => {
            // A year is 365.25 days.
            let quarters = i128::from(year) * 1461 + i128::from(month) * 120;
            let days = quarters * i128::from(DAY) / 4 + i128::from(span.days) * i128::from(DAY);
            Value::Decimal(days + i128::from(span.micros), 6)
        }
        _ => of_clock(unit, span.micros).ok_or_else(|| unsupported(name, &of::SPAN))?,
    })
}

/// `extract` and `date_part` of a type.
macro_rules! both {
    ($c:ident, $ty:expr, $marker:ty, $field:expr) => {{
        let numeric: Kernel = w2::<Str, $marker, Opt<Num>>(move |call, name, value| {
            $field(call, &lowered(name), value)?.numeric()
        });
        let float: Kernel = w2::<Str, $marker, Opt<F64>>(move |call, name, value| {
            Ok($field(call, &lowered(name), value)?.float())
        });
        let types = [Type::Text, $ty];
        let stable = matches!($ty, Type::TimestampTz(_));
        let all = [
            scalar("extract", &types, Type::Numeric(None), numeric),
            scalar("date_part", &types, Type::Float8, float),
        ];
        for function in all {
            $c.add(if stable { function.stable() } else { function });
        }
    }};
}

pub(super) fn register(c: &mut Catalogue) {
    use super::super::kernel::Call;
    both!(c, of::TIME, Time, |_: &Call<'_>, name: &str, v| time_field(
        name, v
    ));
    both!(c, of::TIMETZ, TimeTz, |_: &Call<'_>, name: &str, v| {
        timetz_field(name, v)
    });
    both!(c, of::STAMP, Stamp, |_: &Call<'_>, name: &str, v| {
        stamp_field(name, v, None)
    });
    both!(c, of::STAMPTZ, Stamp, |call: &Call<'_>, name: &str, v| {
        let east = match calendar::is_finite(v) {
            true => settings(call).zone.east_at(v),
            false => 0,
        };
        stamp_field(name, v, Some(east))
    });
    both!(
        c,
        of::SPAN,
        Span,
        |_: &Call<'_>, name: &str, v: Interval| span_field(name, &v)
    );
    let extract =
        w2::<Str, Date, Opt<Num>>(|_, name, date| date_field(&lowered(name), date)?.numeric());
    c.add(scalar(
        "extract",
        &[Type::Text, of::DATE],
        Type::Numeric(None),
        extract,
    ));
    // A date has the fields of its midnight here.
    let part = w2::<Str, Date, Opt<F64>>(|_, name, date| {
        Ok(stamp_field(&lowered(name), date_to_stamp(date)?, None)?.float())
    });
    c.add(scalar(
        "date_part",
        &[Type::Text, of::DATE],
        Type::Float8,
        part,
    ));
}
