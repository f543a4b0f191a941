//! Functions by names that DuckDB and other databases give them.
//!
//! `date_diff` counts the boundaries of a unit between two times, `date_sub` the whole units.
//! `time_bucket` is the beginning of a period, as `date_bin`, but also of months.
//!
//! ```text
//! date_diff('month', date '2003-01-31', date '2003-02-01')   1
//! date_sub('month', date '2003-01-31', date '2003-02-01')    0
//! strftime(timestamp '2003-02-01 16:05:06', '%d.%m.%Y')      01.02.2003
//! ```

use std::fmt::Write;
use std::sync::Arc;

use super::super::kernel::{
    Call, Date, F64, I32, I64, Kernel, Opt, Span, Stamp, Str, f1, f2, f3, w1, w2, w3,
};
use super::super::{Catalogue, scalar};
use super::casts::{date_to_stamp, local, stamp_to_date};
use super::fields::{Field, lowered, span_field, stamp_field, unrecognized, unsupported};
use super::make::clock;
use super::template::{DAYS, MONTHS};
use super::truncate::{age, binned};
use super::{of, settings};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::Interval;
use crate::values::datetime::calendar::{self, DAY, HOUR, MINUTE, Parts, SECOND};
use crate::values::datetime::{
    Unit, Zone, add_interval, add_interval_in, interval_out_of_range, stamp_out_of_range, unit,
};

/// Functions that give a field of a date, a time or an interval, and the field.
const FIELDS: &[(&str, &str)] = &[
    ("year", "year"),
    ("month", "month"),
    ("day", "day"),
    ("dayofmonth", "day"),
    ("hour", "hour"),
    ("minute", "minute"),
    ("second", "second"),
    ("millisecond", "millisecond"),
    ("microsecond", "microsecond"),
    ("quarter", "quarter"),
    ("decade", "decade"),
    ("century", "century"),
    ("millennium", "millennium"),
];

/// Such functions of fields that an interval has not.
const DATE_FIELDS: &[(&str, &str)] = &[
    ("week", "week"),
    ("weekofyear", "week"),
    ("dayofweek", "dow"),
    ("weekday", "dow"),
    ("isodow", "isodow"),
    ("isoyear", "isoyear"),
    ("dayofyear", "doy"),
];

/// The boundaries of a unit before a time.
fn boundaries(unit: Unit, stamp: i64) -> Option<i64> {
    let days = stamp.div_euclid(DAY);
    let (year, month, _) = calendar::civil(days);
    Some(match unit {
        Unit::Microsecond => stamp,
        Unit::Millisecond => stamp.div_euclid(1000),
        Unit::Second => stamp.div_euclid(SECOND),
        Unit::Minute => stamp.div_euclid(MINUTE),
        Unit::Hour => stamp.div_euclid(HOUR),
        Unit::Day => days,
        Unit::Week => (days + 3).div_euclid(7),
        Unit::Month => year * 12 + i64::from(month),
        Unit::Quarter => year * 4 + i64::from((month - 1) / 3),
        Unit::Year => year,
        Unit::Decade => year.div_euclid(10),
        Unit::Century => (year - 1).div_euclid(100),
        Unit::Millennium => (year - 1).div_euclid(1000),
        _ => return None,
    })
}

fn unit_named(name: &str) -> Result<Unit> {
    let name = lowered(name);
    unit(&name).ok_or_else(|| unrecognized(&name, &of::STAMP))
}

/// Boundaries of a unit from one time to another.
fn difference(name: &str, from: i64, to: i64) -> Result<Option<i64>> {
    let unit = unit_named(name)?;
    if !calendar::is_finite(from) || !calendar::is_finite(to) {
        return Ok(None);
    }
    let bounds = boundaries(unit, to).zip(boundaries(unit, from));
    let (to, from) = bounds.ok_or_else(|| unsupported(&lowered(name), &of::STAMP))?;
    to.checked_sub(from)
        .map(Some)
        .ok_or_else(interval_out_of_range)
}

/// Whole units from one time to another.
fn whole_units(name: &str, from: i64, to: i64) -> Result<Option<i64>> {
    let unit = unit_named(name)?;
    if !calendar::is_finite(from) || !calendar::is_finite(to) {
        return Ok(None);
    }
    let months = match unit {
        Unit::Month => 1,
        Unit::Quarter => 3,
        Unit::Year => 12,
        Unit::Decade => 120,
        Unit::Century => 1200,
        Unit::Millennium => 12_000,
        _ => 0,
    };
    if months > 0 {
        return Ok(Some(i64::from(age(to, from)?.months / months)));
    }
    let length = match unit {
        Unit::Microsecond => 1,
        Unit::Millisecond => 1000,
        Unit::Second => SECOND,
        Unit::Minute => MINUTE,
        Unit::Hour => HOUR,
        Unit::Day => DAY,
        Unit::Week => 7 * DAY,
        _ => return Err(unsupported(&lowered(name), &of::STAMP)),
    };
    let micros = to.checked_sub(from).ok_or_else(interval_out_of_range)?;
    Ok(Some(micros / length))
}

/// The beginning of the period in which a time is.
fn bucket(width: &Interval, stamp: i64, origin: Option<i64>) -> Result<i64> {
    if !calendar::is_finite(stamp) {
        return Ok(stamp);
    }
    if width.months == 0 {
        // Without an origin, weeks begin on Mondays.
        let monday = (calendar::DAYS_TO_2000 + 2) * DAY;
        return binned(width, stamp, origin.unwrap_or(monday));
    }
    if width.days != 0 || width.micros != 0 {
        return Err(Error::unsupported(
            "months cannot be mixed with days and time",
        ));
    }
    if width.months < 0 {
        return Err(Error::new("22008", "stride must be greater than zero"));
    }
    let origin = origin.unwrap_or(calendar::DAYS_TO_2000 * DAY);
    if !calendar::is_finite(origin) {
        return Err(Error::new("22008", "origin out of range"));
    }
    let (a, b) = (Parts::of_stamp(stamp), Parts::of_stamp(origin));
    let months = (i64::from(a.year) - i64::from(b.year)) * 12 + i64::from(a.month - b.month);
    let mut bins = months.div_euclid(width.months.into());
    loop {
        let months = i32::try_from(bins * i64::from(width.months));
        let months = months.map_err(|_| stamp_out_of_range())?;
        let begin = add_interval(origin, &Interval::new(months, 0, 0))?;
        // The origin's day or time may be later in the month.
        if begin <= stamp {
            return Ok(begin);
        }
        bins -= 1;
    }
}

/// A time by a template of C's `strftime`.
fn formatted(stamp: i64, template: &str, zone: Option<&Zone>) -> Result<Option<String>> {
    if !calendar::is_finite(stamp) {
        return Ok(None);
    }
    let clock = zone.map(|zone| zone.clock_at(stamp));
    let east = clock.as_ref().map_or(0, |clock| clock.east);
    let local = stamp.saturating_add(i64::from(east) * SECOND);
    let days = local.div_euclid(DAY);
    let parts = Parts::of_stamp(local);
    let weekday = calendar::weekday(days);
    let of_year = days - calendar::days_of(parts.year.into(), 1, 1);
    let (iso_year, iso_week) = calendar::iso_week(days);
    let half = (parts.hour + 11) % 12 + 1;
    let (day, month) = (DAYS[weekday as usize], MONTHS[(parts.month - 1) as usize]);
    let mut out = String::new();
    let mut chars = template.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut code = chars.next();
        // `%-d` has no zeros before the number.
        let fill = code == Some('-');
        if fill {
            code = chars.next();
        }
        let width = |width: usize| if fill { 0 } else { width };
        let (y, mo, d) = (parts.year, parts.month, parts.day);
        let (h, mi, s) = (parts.hour, parts.minute, parts.second);
        let two = width(2);
        let three = width(3);
        let afternoon = if h < 12 { "AM" } else { "PM" };
        // A `String` takes all that is written to it.
        let _ = match code {
            Some('a') => write!(out, "{}", &day[..3]),
            Some('A') => write!(out, "{day}"),
            Some('b' | 'h') => write!(out, "{}", &month[..3]),
            Some('B') => write!(out, "{month}"),
            Some('d') => write!(out, "{d:0two$}"),
            Some('e') => write!(out, "{d:two$}"),
            Some('m') => write!(out, "{mo:0two$}"),
            Some('y') => write!(out, "{:0two$}", y.rem_euclid(100)),
            Some('Y') => write!(out, "{y}"),
            Some('G') => write!(out, "{iso_year}"),
            Some('V') => write!(out, "{iso_week:0two$}"),
            Some('u') => write!(out, "{}", (weekday + 6) % 7 + 1),
            Some('w') => write!(out, "{weekday}"),
            Some('H') => write!(out, "{h:0two$}"),
            Some('I') => write!(out, "{half:0two$}"),
            Some('p') => write!(out, "{afternoon}"),
            Some('M') => write!(out, "{mi:0two$}"),
            Some('S') => write!(out, "{s:0two$}"),
            Some('f') => write!(out, "{:06}", parts.micro),
            Some('n') => write!(out, "{:09}", i64::from(parts.micro) * 1000),
            Some('g') => write!(out, "{:03}", parts.micro / 1000),
            Some('j') => write!(out, "{:0three$}", of_year + 1),
            Some('U') => write!(out, "{:0two$}", (of_year + 7 - i64::from(weekday)) / 7),
            Some('W') => {
                let monday = i64::from((weekday + 6) % 7);
                write!(out, "{:0two$}", (of_year + 7 - monday) / 7)
            }
            Some('s') => write!(out, "{}", stamp.div_euclid(SECOND)),
            Some('F') => write!(out, "{y:04}-{mo:02}-{d:02}"),
            Some('D' | 'x') => write!(out, "{mo:02}/{d:02}/{:02}", y.rem_euclid(100)),
            Some('T' | 'X') => write!(out, "{h:02}:{mi:02}:{s:02}"),
            Some('R') => write!(out, "{h:02}:{mi:02}"),
            Some('c') => write!(out, "{y:04}-{mo:02}-{d:02} {h:02}:{mi:02}:{s:02}"),
            Some('z') => {
                let sign = if east < 0 { '-' } else { '+' };
                let east = east.abs();
                write!(out, "{sign}{:02}{:02}", east / 3600, east / 60 % 60)
            }
            Some('Z') => match &clock {
                Some(clock) => write!(out, "{}", clock.abbreviation),
                None => Ok(()),
            },
            Some('%') => write!(out, "%"),
            code => {
                let code = code.map(String::from).unwrap_or_default();
                let message = format!("unrecognized format for strftime/strptime: \"%{code}\"");
                return Err(Error::new("22007", message));
            }
        };
        if out.len() > 1 << 30 {
            return Err(Error::new("54000", "requested length too large"));
        }
    }
    Ok(Some(out))
}

/// Reads a time by a template of C's `strptime`.
fn parsed(text: &str, template: &str) -> Result<i64> {
    let bad = || {
        let message = format!("could not parse \"{text}\" with the format \"{template}\"");
        Error::new("22007", message)
    };
    let mut parts = Parts {
        year: 1900,
        month: 1,
        day: 1,
        ..Parts::default()
    };
    let (mut half, mut afternoon, mut of_year, mut epoch) = (false, false, None, None);
    let mut east = 0;
    let mut rest = text.trim_start();
    let expanded = template
        .replace("%F", "%Y-%m-%d")
        .replace("%T", "%H:%M:%S")
        .replace("%X", "%H:%M:%S")
        .replace("%R", "%H:%M")
        .replace("%D", "%m/%d/%y")
        .replace("%x", "%m/%d/%y")
        .replace("%c", "%Y-%m-%d %H:%M:%S");
    let mut chars = expanded.chars();
    let number = |rest: &mut &str, most: usize| -> Result<i64> {
        let digits = rest
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        let value = rest[..digits].parse().map_err(|_| bad())?;
        *rest = &rest[digits..];
        Ok(value)
    };
    let name = |rest: &mut &str, names: &[&str]| -> Result<i32> {
        // Full names come before their beginnings.
        for length in [usize::MAX, 3] {
            for (at, name) in names.iter().enumerate() {
                let name = name.get(..length).unwrap_or(name);
                let head = rest.get(..name.len());
                if head.is_some_and(|head| head.eq_ignore_ascii_case(name)) {
                    *rest = &rest[name.len()..];
                    return Ok(at as i32);
                }
            }
        }
        Err(bad())
    };
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        if c != '%' {
            rest = rest.strip_prefix(c).ok_or_else(bad)?;
            continue;
        }
        let mut code = chars.next();
        if code == Some('-') {
            code = chars.next();
        }
        match code {
            Some('Y') => {
                let negative = rest.starts_with('-');
                rest = rest.strip_prefix('-').unwrap_or(rest);
                let year = number(&mut rest, 6)? as i32;
                parts.year = if negative { -year } else { year };
            }
            Some('y') => {
                let year = number(&mut rest, 2)? as i32;
                parts.year = if year < 70 { 2000 + year } else { 1900 + year };
            }
            Some('m') => parts.month = number(&mut rest, 2)? as i32,
            Some('d' | 'e') => {
                rest = rest.trim_start();
                parts.day = number(&mut rest, 2)? as i32;
            }
            Some('b' | 'B' | 'h') => parts.month = name(&mut rest, &MONTHS)? + 1,
            Some('a' | 'A') => {
                name(&mut rest, &DAYS)?;
            }
            Some('H') => parts.hour = number(&mut rest, 2)? as i32,
            Some('I') => {
                parts.hour = number(&mut rest, 2)? as i32;
                half = true;
            }
            Some('p') => afternoon = name(&mut rest, &["AM", "PM"])? == 1,
            Some('M') => parts.minute = number(&mut rest, 2)? as i32,
            Some('S') => parts.second = number(&mut rest, 2)? as i32,
            Some(unit @ ('f' | 'g' | 'n')) => {
                let most = match unit {
                    'f' => 6,
                    'g' => 3,
                    _ => 9,
                };
                let before = rest.len();
                let value = number(&mut rest, most)?;
                let digits = (before - rest.len()) as u32;
                let nanos = value * 10i64.pow(9 - digits);
                parts.micro = (nanos / 1000) as i32;
            }
            Some('j') => of_year = Some(number(&mut rest, 3)?),
            Some('s') => epoch = Some(number(&mut rest, 12)?),
            Some('z') => {
                let sign = match rest.as_bytes().first() {
                    Some(b'-') => -1,
                    Some(b'+') => 1,
                    _ => return Err(bad()),
                };
                rest = &rest[1..];
                let hours = number(&mut rest, 2)?;
                rest = rest.strip_prefix(':').unwrap_or(rest);
                let minutes = number(&mut rest, 2).unwrap_or(0);
                east = sign * (hours * 60 + minutes) * MINUTE;
            }
            Some('%') => rest = rest.strip_prefix('%').ok_or_else(bad)?,
            code => {
                let code = code.map(String::from).unwrap_or_default();
                let message = format!("unrecognized format for strftime/strptime: \"%{code}\"");
                return Err(Error::new("22007", message));
            }
        }
    }
    if !rest.trim_end().is_empty() {
        return Err(bad());
    }
    if half {
        if !(1..=12).contains(&parts.hour) {
            return Err(bad());
        }
        parts.hour = parts.hour % 12 + if afternoon { 12 } else { 0 };
    }
    if let Some(seconds) = epoch {
        return Ok(seconds * SECOND);
    }
    let valid = (1..=12).contains(&parts.month)
        && (1..=calendar::month_days(parts.year.into(), parts.month)).contains(&parts.day)
        && (0..24).contains(&parts.hour)
        && (0..60).contains(&parts.minute)
        && (0..60).contains(&parts.second);
    if !valid {
        return Err(bad());
    }
    let days = match of_year {
        Some(day) => calendar::days_of(parts.year.into(), 1, day),
        None => parts.days(),
    };
    let stamp = calendar::stamp_of(days, parts.time()).and_then(|local| local.checked_sub(east));
    stamp
        .filter(|stamp| calendar::is_stamp(*stamp))
        .ok_or_else(stamp_out_of_range)
}

/// The last day of a time's month.
fn last_day(stamp: i64) -> Result<Option<i32>> {
    if !calendar::is_finite(stamp) {
        return Ok(None);
    }
    let parts = Parts::of_stamp(stamp);
    let day = calendar::month_days(parts.year.into(), parts.month);
    stamp_to_date(Parts { day, ..parts }.days().saturating_mul(DAY)).map(Some)
}

/// A function of the local time, for dates and both kinds of timestamps.
macro_rules! of_local {
    ($c:ident, $name:expr, $returns:expr, $out:ty, $f:expr) => {{
        let of_local = Arc::new($f);
        let f = Arc::clone(&of_local);
        let kernel: Kernel = f1::<Date, $out>(move |date| f(date_to_stamp(date)?));
        $c.add(scalar($name, &[of::DATE], $returns, kernel));
        let f = Arc::clone(&of_local);
        let kernel: Kernel = f1::<Stamp, $out>(move |stamp| f(stamp));
        $c.add(scalar($name, &[of::STAMP], $returns, kernel));
        let f = of_local;
        let kernel: Kernel =
            w1::<Stamp, $out>(move |call: &Call<'_>, stamp| f(local(stamp, &settings(call).zone)));
        $c.add(scalar($name, &[of::STAMPTZ], $returns, kernel).stable());
    }};
}

/// Intervals of a number of units: `to_days(3)`.
fn spans(c: &mut Catalogue) {
    for (name, months) in [
        ("to_months", 1),
        ("to_quarters", 3),
        ("to_years", 12),
        ("to_decades", 120),
        ("to_centuries", 1200),
        ("to_millennia", 12_000),
    ] {
        let f = f1::<I32, Span>(move |n: i32| {
            let months = n.checked_mul(months).ok_or_else(interval_out_of_range)?;
            Ok(Interval::new(months, 0, 0))
        });
        c.add(scalar(name, &[Type::Int4], of::SPAN, f));
    }
    for (name, days) in [("to_days", 1), ("to_weeks", 7)] {
        let f = f1::<I32, Span>(move |n: i32| {
            let days = n.checked_mul(days).ok_or_else(interval_out_of_range)?;
            Ok(Interval::new(0, days, 0))
        });
        c.add(scalar(name, &[Type::Int4], of::SPAN, f));
    }
    for (name, micros) in [
        ("to_microseconds", 1),
        ("to_minutes", MINUTE),
        ("to_hours", HOUR),
    ] {
        let f = f1::<I64, Span>(move |n: i64| {
            let micros = n.checked_mul(micros).ok_or_else(interval_out_of_range)?;
            Ok(Interval::new(0, 0, micros))
        });
        c.add(scalar(name, &[Type::Int8], of::SPAN, f));
    }
    for (name, micros) in [("to_milliseconds", 1000.0), ("to_seconds", 1_000_000.0)] {
        let f = f1::<F64, Span>(move |n: f64| {
            let micros = (n * micros).round_ties_even();
            match micros.abs() < i64::MAX as f64 {
                true => Ok(Interval::new(0, 0, micros as i64)),
                false => Err(interval_out_of_range()),
            }
        });
        c.add(scalar(name, &[Type::Float8], of::SPAN, f));
    }
}

fn fields(c: &mut Catalogue) {
    let big = || Type::Int8;
    for &(name, field) in FIELDS.iter().chain(DATE_FIELDS) {
        let field = Field::named(field, &of::STAMP);
        of_local!(c, name, big(), Opt<I64>, move |stamp: i64| {
            let field = field.as_ref().map_err(Clone::clone)?;
            Ok(stamp_field(field, stamp, None)?.whole())
        });
    }
    for &(name, field) in FIELDS {
        let field = Field::named(field, &of::SPAN);
        let f = f1::<Span, Opt<I64>>(move |span| {
            let field = field.as_ref().map_err(Clone::clone)?;
            Ok(span_field(field, &span)?.whole())
        });
        c.add(scalar(name, &[of::SPAN], big(), f));
    }
    spans(c);
    // Times of microseconds or milliseconds since 1970.
    for (name, scale) in [
        ("make_timestamp", 1),
        ("make_timestamp_ms", 1000),
        ("epoch_ms", 1000),
    ] {
        let f = f1::<I64, Stamp>(move |n: i64| {
            let stamp = n.checked_mul(scale).ok_or_else(stamp_out_of_range)?;
            match calendar::is_stamp(stamp) {
                true => Ok(stamp),
                false => Err(stamp_out_of_range()),
            }
        });
        c.add(scalar(name, &[Type::Int8], of::STAMP, f));
    }
    // The epoch is that of the instant, not of the local time.
    for ty in [of::STAMP, of::STAMPTZ] {
        let epoch = Field::named("epoch", &ty);
        let f = f1::<Stamp, Opt<F64>>(move |stamp| {
            let epoch = epoch.as_ref().map_err(Clone::clone)?;
            Ok(stamp_field(epoch, stamp, None)?.float())
        });
        c.add(scalar("epoch", std::slice::from_ref(&ty), Type::Float8, f));
        for (name, scale) in [("epoch_ms", 1000), ("epoch_us", 1)] {
            let f = f1::<Stamp, Opt<I64>>(move |stamp| {
                Ok(calendar::is_finite(stamp).then(|| stamp.div_euclid(scale)))
            });
            c.add(scalar(name, std::slice::from_ref(&ty), big(), f));
        }
    }
    let epoch = Field::named("epoch", &of::SPAN);
    let f = f1::<Span, Opt<F64>>(move |span| {
        let epoch = epoch.as_ref().map_err(Clone::clone)?;
        Ok(span_field(epoch, &span)?.float())
    });
    c.add(scalar("epoch", &[of::SPAN], Type::Float8, f));
    let text = || Type::Text;
    of_local!(c, "dayname", text(), Opt<Str>, |stamp: i64| {
        let day = DAYS[calendar::weekday(stamp.div_euclid(DAY)) as usize];
        Ok(calendar::is_finite(stamp).then(|| day.to_owned()))
    });
    of_local!(c, "monthname", text(), Opt<Str>, |stamp: i64| {
        if !calendar::is_finite(stamp) {
            return Ok(None);
        }
        let month = Parts::of_stamp(stamp).month;
        Ok(Some(MONTHS[(month - 1) as usize].to_owned()))
    });
    of_local!(c, "last_day", of::DATE, Opt<Date>, last_day);
}

fn differences(c: &mut Catalogue) {
    type Difference = fn(&str, i64, i64) -> Result<Option<i64>>;
    let all: [(&str, Difference); 4] = [
        ("date_diff", difference),
        ("datediff", difference),
        ("date_sub", whole_units),
        ("datesub", whole_units),
    ];
    for (name, f) in all {
        let types = |ty: Type| [Type::Text, ty.clone(), ty];
        let dates = f3::<Str, Date, Date, Opt<I64>>(move |unit, a, b| {
            f(unit, date_to_stamp(a)?, date_to_stamp(b)?)
        });
        c.add(scalar(name, &types(of::DATE), Type::Int8, dates));
        let stamps = f3::<Str, Stamp, Stamp, Opt<I64>>(f);
        c.add(scalar(name, &types(of::STAMP), Type::Int8, stamps));
        let instants = w3::<Str, Stamp, Stamp, Opt<I64>>(move |call, unit, a, b| {
            let zone = &settings(call).zone;
            f(unit, local(a, zone), local(b, zone))
        });
        c.add(scalar(name, &types(of::STAMPTZ), Type::Int8, instants).stable());
    }
}

fn sums(c: &mut Catalogue) {
    for (name, sign) in [
        ("date_add", 1.0),
        ("date_subtract", -1.0),
        ("date_sub", -1.0),
    ] {
        let signed = move |span: Interval| if sign < 0.0 { span.negated() } else { Ok(span) };
        let f = f2::<Date, Span, Stamp>(move |date, span| {
            add_interval(date_to_stamp(date)?, &signed(span)?)
        });
        c.add(scalar(name, &[of::DATE, of::SPAN], of::STAMP, f));
        let f = f2::<Stamp, Span, Stamp>(move |stamp, span| add_interval(stamp, &signed(span)?));
        c.add(scalar(name, &[of::STAMP, of::SPAN], of::STAMP, f));
        let f = w2::<Stamp, Span, Stamp>(move |call, stamp, span| {
            add_interval_in(stamp, &signed(span)?, &settings(call).zone)
        });
        c.add(scalar(name, &[of::STAMPTZ, of::SPAN], of::STAMPTZ, f).stable());
        let f = w3::<Stamp, Span, Str, Stamp>(move |_, stamp, span, zone| {
            add_interval_in(stamp, &signed(span)?, &clock(zone)?.zone())
        });
        let types = [of::STAMPTZ, of::SPAN, Type::Text];
        c.add(scalar(name, &types, of::STAMPTZ, f));
    }
}

fn buckets(c: &mut Catalogue) {
    for ty in [of::STAMP, of::STAMPTZ] {
        let f = f2::<Span, Stamp, Stamp>(|width, stamp| bucket(&width, stamp, None));
        c.add(scalar(
            "time_bucket",
            &[of::SPAN, ty.clone()],
            ty.clone(),
            f,
        ));
        let f = f3::<Span, Stamp, Stamp, Stamp>(|width, stamp, origin| {
            bucket(&width, stamp, Some(origin))
        });
        c.add(scalar(
            "time_bucket",
            &[of::SPAN, ty.clone(), ty.clone()],
            ty,
            f,
        ));
    }
    let f = f2::<Span, Date, Date>(|width, date| {
        stamp_to_date(bucket(&width, date_to_stamp(date)?, None)?)
    });
    c.add(scalar("time_bucket", &[of::SPAN, of::DATE], of::DATE, f));
}

pub(super) fn register(c: &mut Catalogue) {
    fields(c);
    differences(c);
    sums(c);
    buckets(c);
    let text = || Type::Text;
    let f = f2::<Stamp, Str, Opt<Str>>(|stamp, template| formatted(stamp, template, None));
    c.add(scalar("strftime", &[of::STAMP, text()], text(), f));
    let f =
        f2::<Date, Str, Opt<Str>>(|date, template| formatted(date_to_stamp(date)?, template, None));
    c.add(scalar("strftime", &[of::DATE, text()], text(), f));
    let f = w2::<Stamp, Str, Opt<Str>>(|call, stamp, template| {
        formatted(stamp, template, Some(&settings(call).zone))
    });
    c.add(scalar("strftime", &[of::STAMPTZ, text()], text(), f).stable());
    let f = f2::<Str, Str, Stamp>(parsed);
    c.add(scalar("strptime", &[text(), text()], of::STAMP, f));
}
