//! The proleptic Gregorian calendar: days to year, month and day, and back.
//!
//! Years are counted without a gap: the year 0 is 1 BC.

use super::zone::Zone;
use super::{date_out_of_range, stamp_out_of_range};
use crate::error::Result;
use crate::values::Interval;

/// Microseconds of a second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds of a minute.
pub const MINUTE: i64 = 60 * SECOND;
/// Microseconds of an hour.
pub const HOUR: i64 = 60 * MINUTE;
/// Microseconds of a day.
pub const DAY: i64 = 24 * HOUR;
/// The Julian day of 1970-01-01.
pub const JULIAN_EPOCH: i64 = 2_440_588;
/// Days from 1970-01-01 to 2000-01-01.
pub const DAYS_TO_2000: i64 = 10_957;
/// The first date: Julian day 0.
pub const FIRST_DATE: i64 = -JULIAN_EPOCH;
/// The last date: 5874897-12-31.
pub const LAST_DATE: i64 = 2_147_483_493 - JULIAN_EPOCH;
/// The first timestamp: the beginning of Julian day 0.
pub const FIRST_STAMP: i64 = FIRST_DATE * DAY;
/// The date before all others.
pub const EARLY_DATE: i32 = i32::MIN;
/// The date after all others.
pub const LATE_DATE: i32 = i32::MAX;
/// The timestamp before all others.
pub const EARLY: i64 = i64::MIN;
/// The timestamp after all others.
pub const LATE: i64 = i64::MAX;

/// A date and a time of day, in parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Year; 0 is 1 BC.
    pub year: i32,
    /// Month, from 1.
    pub month: i32,
    /// Day, from 1.
    pub day: i32,
    /// Hour.
    pub hour: i32,
    /// Minute.
    pub minute: i32,
    /// Second.
    pub second: i32,
    /// Microsecond.
    pub micro: i32,
}

/// Days since 1970-01-01 of a day of a month; months and days may be beyond their ranges.
pub fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year + (month - 1).div_euclid(12);
    let month = (month - 1).rem_euclid(12) + 1;
    // Years that begin in March end with the leap day.
    let (y, m) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let cycle = y.div_euclid(400);
    let of_cycle = y.rem_euclid(400);
    let of_year = (153 * m + 2) / 5;
    cycle * 146_097 + of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + of_year + day - 1 - 719_468
}

/// Year, month and day of days since 1970-01-01.
pub fn civil(days: i64) -> (i64, i32, i32) {
    let days = days + 719_468;
    let cycle = days.div_euclid(146_097);
    let of_cycle = days.rem_euclid(146_097);
    let year = (of_cycle - of_cycle / 1460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let m = (5 * of_year + 2) / 153;
    let day = of_year - (153 * m + 2) / 5 + 1;
    let month = if m < 10 { m + 3 } else { m - 9 };
    let year = year + cycle * 400 + i64::from(month <= 2);
    (year, month as i32, day as i32)
}

/// Whether a year has a leap day.
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month.
pub fn month_days(year: i64, month: i32) -> i32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Day of the week of days since 1970-01-01; Sunday is 0.
pub fn weekday(days: i64) -> i32 {
    (days + 4).rem_euclid(7) as i32
}

/// The ISO 8601 year and week of a day.
pub fn iso_week(days: i64) -> (i64, i32) {
    // The week belongs to the year of its Thursday.
    let thursday = days - (days + 3).rem_euclid(7) + 3;
    let (year, _, _) = civil(thursday);
    let week = (thursday - days_of(year, 1, 1)) / 7 + 1;
    (year, week as i32)
}

/// The Monday of the first week of an ISO 8601 year.
pub fn iso_year_start(year: i64) -> i64 {
    let fourth = days_of(year, 1, 4);
    fourth - (fourth + 3).rem_euclid(7)
}

impl Parts {
    /// The parts of a finite timestamp.
    pub fn of_stamp(stamp: i64) -> Self {
        let (year, month, day) = civil(stamp.div_euclid(DAY));
        let mut parts = Self::of_time(stamp.rem_euclid(DAY));
        (parts.year, parts.month, parts.day) = (year as i32, month, day);
        parts
    }

    /// The parts of a time of day.
    pub fn of_time(time: i64) -> Self {
        Self {
            hour: (time / HOUR) as i32,
            minute: (time / MINUTE % 60) as i32,
            second: (time / SECOND % 60) as i32,
            micro: (time % SECOND) as i32,
            ..Self::default()
        }
    }

    /// The parts of a finite date.
    pub fn of_date(date: i32) -> Self {
        let (year, month, day) = civil(date.into());
        Self {
            year: year as i32,
            month,
            day,
            ..Self::default()
        }
    }

    /// Days since 1970-01-01.
    pub fn days(&self) -> i64 {
        days_of(self.year.into(), self.month.into(), self.day.into())
    }

    /// Microseconds since midnight.
    pub fn time(&self) -> i64 {
        i64::from(self.hour) * HOUR
            + i64::from(self.minute) * MINUTE
            + i64::from(self.second) * SECOND
            + i64::from(self.micro)
    }

    /// The timestamp, if there is one.
    pub fn stamp(&self) -> Option<i64> {
        stamp_of(self.days(), self.time())
    }
}

/// The timestamp of a day and a time, if there is one.
pub fn stamp_of(days: i64, time: i64) -> Option<i64> {
    if !(FIRST_DATE..=LAST_DATE).contains(&days) {
        return None;
    }
    let stamp = days.checked_mul(DAY)?.checked_add(time)?;
    is_stamp(stamp).then_some(stamp)
}

/// Whether a number is a finite timestamp.
pub fn is_stamp(stamp: i64) -> bool {
    (FIRST_STAMP..LATE).contains(&stamp)
}

/// Whether a timestamp is finite.
pub fn is_finite(stamp: i64) -> bool {
    stamp != EARLY && stamp != LATE
}

/// Whether a date is finite.
pub fn is_finite_date(date: i32) -> bool {
    date != EARLY_DATE && date != LATE_DATE
}

/// A finite number of days as a date.
///
/// # Errors
/// `22008`.
pub fn date_from(days: i64) -> Result<i32> {
    if !(FIRST_DATE..=LAST_DATE).contains(&days) {
        return Err(date_out_of_range());
    }
    i32::try_from(days).map_err(|_| date_out_of_range())
}

/// A date some months later; the last day of a shorter month stands for those it lacks.
fn add_months(days: i64, months: i32) -> i64 {
    let (year, month, day) = civil(days);
    let total = year * 12 + i64::from(month) - 1 + i64::from(months);
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as i32 + 1);
    let day = day.min(month_days(year, month));
    days_of(year, month.into(), day.into())
}

/// A timestamp and an interval: months first, then days, then the time.
///
/// # Errors
/// `22008`.
pub fn add_interval(stamp: i64, span: &Interval) -> Result<i64> {
    if !is_finite(stamp) {
        return Ok(stamp);
    }
    let out = stamp_out_of_range;
    let time = stamp.rem_euclid(DAY);
    let mut days = stamp.div_euclid(DAY);
    if span.months != 0 {
        days = add_months(days, span.months);
        stamp_of(days, time).ok_or_else(out)?;
    }
    days += i64::from(span.days);
    let stamp = stamp_of(days, time).ok_or_else(out)?;
    let stamp = stamp.checked_add(span.micros).ok_or_else(out)?;
    is_stamp(stamp).then_some(stamp).ok_or_else(out)
}

/// An instant and an interval; months and days are those of a zone's clock.
///
/// # Errors
/// `22008`.
pub fn add_interval_in(stamp: i64, span: &Interval, zone: &Zone) -> Result<i64> {
    if !is_finite(stamp) {
        return Ok(stamp);
    }
    let out = stamp_out_of_range;
    let mut stamp = stamp;
    if span.months != 0 {
        let local = zone.to_local(stamp);
        let days = add_months(local.div_euclid(DAY), span.months);
        let local = stamp_of(days, local.rem_euclid(DAY)).ok_or_else(out)?;
        stamp = zone.to_utc(local).ok_or_else(out)?;
    }
    if span.days != 0 {
        let local = zone.to_local(stamp);
        let days = local.div_euclid(DAY) + i64::from(span.days);
        let local = stamp_of(days, local.rem_euclid(DAY)).ok_or_else(out)?;
        stamp = zone.to_utc(local).ok_or_else(out)?;
    }
    let stamp = stamp.checked_add(span.micros).ok_or_else(out)?;
    is_stamp(stamp).then_some(stamp).ok_or_else(out)
}

/// Microseconds rounded to some decimals of a second, half away from zero; `None` if they are
/// beyond all.
pub fn round(micros: i64, decimals: u8) -> Option<i64> {
    let scale = 10i64.pow(6 - u32::from(decimals.min(6)));
    let half = scale / 2;
    let shifted = match micros < 0 {
        true => micros.checked_sub(half)?,
        false => micros.checked_add(half)?,
    };
    Some(shifted / scale * scale)
}
