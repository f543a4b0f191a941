//! Fields of dates and times: extract and date_part.
//!
//! `extract` gives NUMERIC, with the digits that a field has: three for milliseconds and six for
//! seconds and the epoch. `date_part` gives the same as DOUBLE PRECISION.
//!
//! A field of an infinity is infinite where it grows without an end, and NULL where it returns
//! to its beginning.

use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use super::super::kernel::{
    Call, Date, F64, I64, Kernel, Num, Opt, Span, Stamp, Time, TimeTz, by_text, f1,
};
use super::super::{Catalogue, Scalar, scalar};
use super::casts::date_to_stamp;
use super::{of, settings, timetz_parts};
use crate::error::{Error, Result};
use crate::types::{Digits, Type};
use crate::values::datetime::calendar::{self, DAY, HOUR, MINUTE, SECOND};
use crate::values::datetime::{Locale, Unit, field};
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

    /// The number that stands for a whole value.
    fn ordinal(self) -> Option<i64> {
        match self {
            Self::Infinite(true) => Some(i64::MIN),
            Self::Infinite(false) => Some(i64::MAX),
            value => value.whole(),
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

/// A field by its name.
#[derive(Clone, Debug)]
pub(super) struct Field {
    unit: Unit,
    /// Its name in small letters.
    name: String,
}

impl Field {
    /// The field that a name means.
    ///
    /// # Errors
    /// `22023` for a word that is no field.
    pub(super) fn named(name: &str, ty: &Type) -> Result<Field> {
        let name = lowered(name);
        match field(&name) {
            Some(unit) => Ok(Field { unit, name }),
            None => Err(unrecognized(&name, ty)),
        }
    }

    fn date(&self, date: i32) -> Result<Value> {
        self.or_unsupported(date_value(self.unit, date), &of::DATE)
    }

    /// Its value, if values of the type have it.
    fn or_unsupported(&self, value: Option<Value>, ty: &Type) -> Result<Value> {
        value.ok_or_else(|| unsupported(&self.name, ty))
    }
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
fn date_value(unit: Unit, date: i32) -> Option<Value> {
    let of_time = matches!(
        unit,
        Unit::Microsecond | Unit::Millisecond | Unit::Second | Unit::Minute | Unit::Hour
    ) || of_offset(unit, 0).is_some();
    match calendar::is_finite_date(date) {
        _ if of_time => None,
        false => of_infinity(unit, date < 0),
        true => match unit {
            Unit::Julian => Some((i64::from(date) + calendar::JULIAN_EPOCH).into()),
            Unit::Epoch => Some((i64::from(date) * 86_400).into()),
            _ => of_days(unit, date.into()),
        },
    }
}

/// A field of a timestamp, whose time a clock some seconds east of UTC shows.
fn stamp_value(unit: Unit, utc: i64, east: Option<i32>) -> Option<Value> {
    if !calendar::is_finite(utc) {
        return of_infinity(unit, utc < 0);
    }
    let offset = east.and_then(|east| of_offset(unit, east));
    let local = utc.saturating_add(i64::from(east.unwrap_or(0)) * SECOND);
    let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    match unit {
        Unit::Epoch => Some(Value::Decimal(utc.into(), 6)),
        Unit::Julian => Some(Value::Julian(days + calendar::JULIAN_EPOCH, time)),
        _ => of_clock(unit, time)
            .or_else(|| of_days(unit, days))
            .or(offset),
    }
}

pub(super) fn stamp_field(field: &Field, utc: i64, east: Option<i32>) -> Result<Value> {
    let ty = match east {
        Some(_) => &of::STAMPTZ,
        None => &of::STAMP,
    };
    field.or_unsupported(stamp_value(field.unit, utc, east), ty)
}

fn time_value(unit: Unit, time: i64) -> Option<Value> {
    match unit {
        Unit::Epoch => Some(Value::Decimal(time.into(), 6)),
        _ => of_clock(unit, time),
    }
}

fn timetz_value(unit: Unit, value: [u8; 12]) -> Option<Value> {
    let (time, east) = timetz_parts(value);
    if unit == Unit::Epoch {
        let utc = time - i64::from(east) * SECOND;
        return Some(Value::Decimal(utc.into(), 6));
    }
    of_clock(unit, time).or_else(|| of_offset(unit, east))
}

fn span_value(unit: Unit, span: &Interval) -> Option<Value> {
    let (year, month) = (span.months / 12, span.months % 12);
    Some(match unit {
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
        _ => return of_clock(unit, span.micros),
    })
}

pub(super) fn span_field(field: &Field, span: &Interval) -> Result<Value> {
    field.or_unsupported(span_value(field.unit, span), &of::SPAN)
}

/// The digits of `extract` where its values are NULL or numbers of one scale, which is so for all
/// fields that return to their beginning; `None` for others.
pub fn digits_of_field(name: &str, ty: &Type) -> Option<Digits> {
    let unit = field(&lowered(name))?;
    let value = match ty {
        Type::Date => date_value(unit, 0),
        Type::Timestamp(_) => stamp_value(unit, 0, None),
        Type::TimestampTz(_) => stamp_value(unit, 0, Some(0)),
        Type::Time(_) => time_value(unit, 0),
        Type::TimeTz(_) => timetz_value(unit, [0; 12]),
        Type::Interval => span_value(unit, &Interval::new(0, 0, 0)),
        _ => None,
    };
    let returns = match ty {
        Type::Date | Type::Timestamp(_) | Type::TimestampTz(_) => {
            matches!(of_infinity(unit, false), Some(Value::Null))
        }
        _ => unit != Unit::Epoch,
    };
    match value {
        Some(Value::Decimal(_, scale)) if returns => Some(Digits {
            precision: DIGITS,
            scale: u8::try_from(scale).ok()?,
        }),
        _ => None,
    }
}

/// Most digits of a field that returns to its beginning, and of those of intervals.
const DIGITS: u8 = 18;

/// Numbers that stand for fields which grow without an end: the infinities are the least and the
/// greatest number.
#[derive(Debug)]
pub struct Ordinals {
    /// Gives the number, of the name of a field and a date or timestamp.
    pub of: Arc<Scalar>,
    /// Gives the field's value, as `extract` has it, of its number.
    pub value: Arc<Scalar>,
}

/// The numbers of a field of dates or timestamps; `None` if it is not whole, or does not grow.
pub fn ordinals(name: &str, ty: &Type) -> Option<Ordinals> {
    let unit = field(&lowered(name))?;
    let known = matches!(
        unit,
        Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium | Unit::IsoYear
    );
    let of = match ty {
        Type::Date => &ORDINALS.date,
        Type::Timestamp(_) => &ORDINALS.stamp,
        Type::TimestampTz(_) => &ORDINALS.stamp_with_zone,
        _ => return None,
    };
    known.then(|| Ordinals {
        of: Arc::clone(of),
        value: Arc::clone(&ORDINALS.value),
    })
}

/// Functions of ordinals, by the type that they are of.
struct OfOrdinals {
    date: Arc<Scalar>,
    stamp: Arc<Scalar>,
    stamp_with_zone: Arc<Scalar>,
    value: Arc<Scalar>,
}

static ORDINALS: LazyLock<OfOrdinals> = LazyLock::new(|| {
    let of = |ty: Type, kernel| scalar("ordinal", &[Type::Text, ty], Type::Int8, kernel);
    let date = by_text::<_, Date, Opt<I64>>(
        |_, name| Field::named(name, &of::DATE),
        |field, date| Ok(field.date(date)?.ordinal()),
    );
    let stamp = by_text::<_, Stamp, Opt<I64>>(
        |_, name| Field::named(name, &of::STAMP),
        |field, stamp| Ok(stamp_field(field, stamp, None)?.ordinal()),
    );
    let zoned = by_text::<_, Stamp, Opt<I64>>(zoned, |(field, locale), stamp| {
        Ok(zoned_field(field, locale, stamp)?.ordinal())
    });
    let value = f1::<I64, Num>(|ordinal| match ordinal {
        i64::MIN => Numeric::parse("-Infinity"),
        i64::MAX => Numeric::parse("Infinity"),
        whole => Ok(Numeric::new(whole.into(), 0)),
    });
    OfOrdinals {
        date: Arc::new(of(of::DATE, date)),
        stamp: Arc::new(of(of::STAMP, stamp)),
        stamp_with_zone: Arc::new(of(of::STAMPTZ, zoned).stable()),
        value: Arc::new(scalar("field", &[Type::Int8], Type::Numeric(None), value)),
    }
});

/// A field, and the settings of a call.
fn zoned(call: &Call<'_>, name: &str) -> Result<(Field, Rc<Locale>)> {
    Ok((Field::named(name, &of::STAMPTZ)?, settings(call)))
}

fn zoned_field(field: &Field, locale: &Locale, utc: i64) -> Result<Value> {
    let east = match calendar::is_finite(utc) {
        true => locale.zone.east_at(utc),
        false => 0,
    };
    stamp_field(field, utc, Some(east))
}

/// `extract` and `date_part` of a type.
macro_rules! both {
    ($c:ident, $ty:expr, $marker:ty, $prepare:expr, $value:expr) => {{
        let numeric: Kernel =
            by_text::<_, $marker, Opt<Num>>($prepare, |field, v| $value(field, v)?.numeric());
        let float: Kernel =
            by_text::<_, $marker, Opt<F64>>($prepare, |field, v| Ok($value(field, v)?.float()));
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
    both!(
        c,
        of::TIME,
        Time,
        |_, name| Field::named(name, &of::TIME),
        |field: &Field, v| field.or_unsupported(time_value(field.unit, v), &of::TIME)
    );
    both!(
        c,
        of::TIMETZ,
        TimeTz,
        |_, name| Field::named(name, &of::TIMETZ),
        |field: &Field, v| field.or_unsupported(timetz_value(field.unit, v), &of::TIMETZ)
    );
    both!(
        c,
        of::STAMP,
        Stamp,
        |_, name| Field::named(name, &of::STAMP),
        |field: &Field, v| stamp_field(field, v, None)
    );
    both!(
        c,
        of::STAMPTZ,
        Stamp,
        zoned,
        |(field, locale): &(Field, Rc<Locale>), v| zoned_field(field, locale, v)
    );
    both!(
        c,
        of::SPAN,
        Span,
        |_, name| Field::named(name, &of::SPAN),
        |field: &Field, v: Interval| span_field(field, &v)
    );
    let extract = by_text::<_, Date, Opt<Num>>(
        |_, name| Field::named(name, &of::DATE),
        |field, date| field.date(date)?.numeric(),
    );
    c.add(scalar(
        "extract",
        &[Type::Text, of::DATE],
        Type::Numeric(None),
        extract,
    ));
    // A date has the fields of its midnight here.
    let part = by_text::<_, Date, Opt<F64>>(
        |_, name| Field::named(name, &of::STAMP),
        |field, date| Ok(stamp_field(field, date_to_stamp(date)?, None)?.float()),
    );
    c.add(scalar(
        "date_part",
        &[Type::Text, of::DATE],
        Type::Float8,
        part,
    ));
}
