//! Dates and times of numbers, and AT TIME ZONE.

use std::cell::RefCell;

use super::super::kernel::{
    Date, F64, I32, Span, Stamp, Str, Time, TimeTz, f1, f3, f6, f7, w2, w6, w7,
};
use super::super::{Catalogue, scalar};
use super::casts::{date_to_instant, instant, seconds};
use super::{of, settings, timetz, timetz_parts};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::Interval;
use crate::values::datetime::calendar::{self, DAY, HOUR, MINUTE, SECOND};
use crate::values::datetime::{
    IntervalStyle, Sane, Zone, interval_out_of_range, sane_zone, stamp_out_of_range, write_interval,
};

/// A clock that a zone given by name means.
#[derive(Clone)]
pub(super) enum Clock {
    /// One offset, in seconds east of UTC.
    East(i32),
    /// A zone's.
    Zone(Zone),
    /// That of an abbreviation with a history.
    Abbreviation(Zone, String),
}

impl Clock {
    /// Seconds east of UTC at an instant.
    pub(super) fn east_at(&self, utc: i64) -> i32 {
        match self {
            Self::East(east) => *east,
            Self::Zone(zone) => zone.east_at(utc),
            Self::Abbreviation(zone, name) => {
                zone.east_of_abbreviation_at(name, utc, zone.east_at(utc))
            }
        }
    }

    /// The zone.
    pub(super) fn zone(self) -> Zone {
        match self {
            Self::East(east) => Zone::offset(east),
            Self::Zone(zone) | Self::Abbreviation(zone, _) => zone,
        }
    }

    /// Seconds east of UTC when the clock shows a time.
    pub(super) fn east_of_local(&self, local: i64) -> i32 {
        match self {
            Self::East(east) => *east,
            Self::Zone(zone) => zone.east_of_local(local),
            Self::Abbreviation(zone, name) => zone.east_of_abbreviation(name, local),
        }
    }
}

thread_local! {
    /// The zone that was named last, so that it is not looked for in every row.
    static LAST: RefCell<Option<(String, Clock)>> = const { RefCell::new(None) };
}

/// The clock of a zone's name or abbreviation.
pub(super) fn clock(name: &str) -> Result<Clock> {
    LAST.with_borrow_mut(|last| {
        if let Some((known, clock)) = last
            && known == name
        {
            return Ok(clock.clone());
        }
        let clock = named_clock(name, false)?;
        *last = Some((name.to_owned(), clock.clone()));
        Ok(clock)
    })
}

fn named_clock(name: &str, numbers: bool) -> Result<Clock> {
    Ok(match sane_zone(name, numbers)? {
        Sane::East(east) => Clock::East(east),
        Sane::Zone(zone) => Clock::Zone(zone),
        Sane::Abbreviation(zone, name) => Clock::Abbreviation(zone, name),
    })
}

/// The clock of an offset given as an interval.
fn interval_clock(span: &Interval) -> Result<Clock> {
    if span.months != 0 || span.days != 0 {
        let shown = write_interval(span, IntervalStyle::Postgres);
        let message = format!("interval time zone \"{shown}\" must not include months or days");
        return Err(Error::new("22023", message));
    }
    let east = i32::try_from(span.micros / SECOND);
    east.map(Clock::East).map_err(|_| interval_out_of_range())
}

/// The time that a clock shows at an instant.
fn shown(clock: &Clock, utc: i64) -> Result<i64> {
    if !calendar::is_finite(utc) {
        return Ok(utc);
    }
    let shown = utc.checked_add(seconds(clock.east_at(utc)));
    shown
        .filter(|local| calendar::is_stamp(*local))
        .ok_or_else(stamp_out_of_range)
}

/// The instant at which a clock shows a time.
fn meant(clock: &Clock, local: i64) -> Result<i64> {
    if !calendar::is_finite(local) {
        return Ok(local);
    }
    let utc = local.checked_sub(seconds(clock.east_of_local(local)));
    utc.filter(|utc| calendar::is_stamp(*utc))
        .ok_or_else(stamp_out_of_range)
}

/// A time of day on another clock.
fn moved(value: [u8; 12], east: i32) -> [u8; 12] {
    let (time, before) = timetz_parts(value);
    let time = (time + seconds(east) - seconds(before)).rem_euclid(DAY);
    timetz(time, east)
}

fn zones(c: &mut Catalogue) {
    let text = || Type::Text;
    let f = w2::<Str, Stamp, Stamp>(|_, name, utc| match calendar::is_finite(utc) {
        true => shown(&clock(name)?, utc),
        false => Ok(utc),
    });
    c.add(scalar("timezone", &[text(), of::STAMPTZ], of::STAMP, f));
    let f = w2::<Str, Stamp, Stamp>(|_, name, local| match calendar::is_finite(local) {
        true => meant(&clock(name)?, local),
        false => Ok(local),
    });
    c.add(scalar("timezone", &[text(), of::STAMP], of::STAMPTZ, f));
    let f = w2::<Str, TimeTz, TimeTz>(|call, name, value| {
        Ok(moved(value, clock(name)?.east_at(settings(call).now)))
    });
    c.add(scalar("timezone", &[text(), of::TIMETZ], of::TIMETZ, f).stable());
    let f = w2::<Span, Stamp, Stamp>(|_, span, utc| match calendar::is_finite(utc) {
        true => shown(&interval_clock(&span)?, utc),
        false => Ok(utc),
    });
    c.add(scalar("timezone", &[of::SPAN, of::STAMPTZ], of::STAMP, f));
    let f = w2::<Span, Stamp, Stamp>(|_, span, local| match calendar::is_finite(local) {
        true => meant(&interval_clock(&span)?, local),
        false => Ok(local),
    });
    c.add(scalar("timezone", &[of::SPAN, of::STAMP], of::STAMPTZ, f));
    let f = w2::<Span, TimeTz, TimeTz>(|_, span, value| {
        Ok(moved(value, interval_clock(&span)?.east_at(0)))
    });
    c.add(scalar("timezone", &[of::SPAN, of::TIMETZ], of::TIMETZ, f));
}

/// A year as it is counted: 1 BC is 0.
fn counted(year: i32) -> i32 {
    if year < 0 { year + 1 } else { year }
}

/// Days since 1970-01-01; a negative year is before Christ. Errors show the year as `named`.
fn days(year: i32, month: i32, day: i32, named: i32) -> Result<i64> {
    let counted = counted(year);
    let shown = || format!("{named}-{month:02}-{day:02}");
    let bad = || {
        Error::new(
            "22008",
            format!("date field value out of range: {}", shown()),
        )
    };
    let valid = year != 0
        && (1..=12).contains(&month)
        && day >= 1
        && day <= calendar::month_days(counted.into(), month);
    if !valid {
        return Err(bad());
    }
    let days = calendar::days_of(counted.into(), month.into(), day.into());
    if !(calendar::FIRST_DATE..=calendar::LAST_DATE).contains(&days) {
        return Err(Error::new(
            "22008",
            format!("date out of range: {}", shown()),
        ));
    }
    Ok(days)
}

/// Seconds as C's `%02g` shows them.
fn seconds_shown(seconds: f64) -> String {
    if !seconds.is_finite() {
        let text = if seconds.is_nan() { "nan" } else { "inf" };
        return if seconds < 0.0 {
            format!("-{text}")
        } else {
            text.to_owned()
        };
    }
    let shown = general(seconds);
    format!("{shown:0>2}")
}

/// A number as C's `%g` shows it: six digits.
pub(super) fn general(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let decimals = (5 - exponent).max(0) as usize;
        return trimmed(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

fn time(hour: i32, minute: i32, second: f64) -> Result<i64> {
    let bad = || {
        let second = match second.is_nan() {
            true => "NaN".to_owned(),
            false => seconds_shown(second),
        };
        let message = format!("time field value out of range: {hour}:{minute:02}:{second}");
        Error::new("22008", message)
    };
    if !(0..=24).contains(&hour) || !(0..60).contains(&minute) || second.is_nan() {
        return Err(bad());
    }
    let micros = (second * 1e6).round_ties_even();
    if !(0.0..=60e6).contains(&micros) {
        return Err(bad());
    }
    let time = i64::from(hour) * HOUR + i64::from(minute) * MINUTE + micros as i64;
    (time <= DAY).then_some(time).ok_or_else(bad)
}

/// A timestamp of numbers.
fn stamp(y: i32, mo: i32, d: i32, h: i32, mi: i32, s: f64) -> Result<i64> {
    let (days, time) = (days(y, mo, d, y)?, time(h, mi, s)?);
    calendar::stamp_of(days, time).ok_or_else(|| {
        let second = seconds_shown(s);
        let shown = format!("{y}-{mo:02}-{d:02} {h}:{mi:02}:{second}");
        Error::new("22008", format!("timestamp out of range: {shown}"))
    })
}

fn interval(
    years: i32,
    months: i32,
    weeks: i32,
    days: i32,
    clock: (i32, i32),
    secs: f64,
) -> Result<Interval> {
    let whole = (secs * 1e6).round_ties_even();
    let fits = secs.is_finite() && whole.abs() < i64::MAX as f64;
    let sum = || {
        Some(Interval {
            months: years.checked_mul(12)?.checked_add(months)?,
            days: weeks.checked_mul(7)?.checked_add(days)?,
            micros: (i64::from(clock.0) * HOUR)
                .checked_add(i64::from(clock.1) * MINUTE)?
                .checked_add(whole as i64)?,
        })
    };
    fits.then(sum).flatten().ok_or_else(interval_out_of_range)
}

/// The instant of seconds since 1970.
pub(super) fn of_epoch(seconds: f64) -> Result<i64> {
    if seconds.is_nan() {
        return Err(Error::new("22008", "timestamp cannot be NaN"));
    }
    if seconds.is_infinite() {
        return Ok(if seconds > 0.0 {
            calendar::LATE
        } else {
            calendar::EARLY
        });
    }
    let out = || {
        let shown = general(seconds);
        Error::new("22008", format!("timestamp out of range: \"{shown}\""))
    };
    // Seconds are rounded as counted from 2000.
    const MIDDLE: i64 = calendar::DAYS_TO_2000 * 86_400;
    let micros = ((seconds - MIDDLE as f64) * 1e6).round_ties_even();
    if micros.abs() >= 9.3e18 {
        return Err(out());
    }
    let utc = (micros as i64).checked_add(MIDDLE * SECOND);
    utc.filter(|utc| calendar::is_stamp(*utc)).ok_or_else(out)
}

pub(super) fn register(c: &mut Catalogue) {
    zones(c);
    let int = || Type::Int4;
    let float = || Type::Float8;
    let f = f3::<I32, I32, I32, Date>(|y, m, d| calendar::date_from(days(y, m, d, counted(y))?));
    let f = scalar("make_date", &[int(), int(), int()], of::DATE, f);
    c.add(f.named(&["year", "month", "day"], &[]));
    let f = f3::<I32, I32, F64, Time>(time);
    let f = scalar("make_time", &[int(), int(), float()], of::TIME, f);
    c.add(f.named(&["hour", "min", "sec"], &[]));
    let mut types = vec![int(), int(), int(), int(), int(), float()];
    let names = &["year", "month", "mday", "hour", "min", "sec"];
    let f = f6::<I32, I32, I32, I32, I32, F64, Stamp>(stamp);
    c.add(scalar("make_timestamp", &types, of::STAMP, f).named(names, &[]));
    let f = w6::<I32, I32, I32, I32, I32, F64, Stamp>(|call, y, mo, d, h, mi, s| {
        instant(stamp(y, mo, d, h, mi, s)?, &settings(call).zone)
    });
    let f = scalar("make_timestamptz", &types, of::STAMPTZ, f).stable();
    c.add(f.named(names, &[]));
    types.push(Type::Text);
    let f = w7::<I32, I32, I32, I32, I32, F64, Str, Stamp>(|_, y, mo, d, h, mi, s, zone| {
        let local = stamp(y, mo, d, h, mi, s)?;
        meant(&named_clock(zone, true)?, local)
    });
    let f = scalar("make_timestamptz", &types, of::STAMPTZ, f).stable();
    c.add(f.named(
        &["year", "month", "mday", "hour", "min", "sec", "timezone"],
        &[],
    ));
    let types = [int(), int(), int(), int(), int(), int(), float()];
    let f = f7::<I32, I32, I32, I32, I32, I32, F64, Span>(|y, mo, w, d, h, mi, s| {
        interval(y, mo, w, d, (h, mi), s)
    });
    let names = &["years", "months", "weeks", "days", "hours", "mins", "secs"];
    let defaults = &["0", "0", "0", "0", "0", "0", "0.0"];
    c.add(scalar("make_interval", &types, of::SPAN, f).named(names, defaults));
    c.add(scalar(
        "to_timestamp",
        &[float()],
        of::STAMPTZ,
        f1::<F64, Stamp>(of_epoch),
    ));
    let f = w2::<Date, Time, Stamp>(|call, date, time| {
        let zone = &settings(call).zone;
        match calendar::is_finite_date(date) {
            true => instant(super::arithmetic::at_time(date, time)?, zone),
            false => date_to_instant(date, zone),
        }
    });
    c.add(scalar("timestamptz", &[of::DATE, of::TIME], of::STAMPTZ, f).stable());
    let f = w2::<Date, TimeTz, Stamp>(|_, date, time| super::arithmetic::at_timetz(date, time));
    c.add(scalar(
        "timestamptz",
        &[of::DATE, of::TIMETZ],
        of::STAMPTZ,
        f,
    ));
    let f = w2::<Date, Time, Stamp>(|_, date, time| super::arithmetic::at_time(date, time));
    c.add(scalar("timestamp", &[of::DATE, of::TIME], of::STAMP, f));
}
