//! Dates and times as text, by `DateStyle`.

use super::calendar::{self, DAY, MINUTE, Parts, SECOND};
use super::zone::Clock;
use super::{DateOrder, DateStyle, Locale};

/// Names of days in three letters, from Sunday.
const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
/// Names of months in three letters.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Appends a number with at least some digits.
fn padded(out: &mut String, value: i64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut rest = value.unsigned_abs();
    let mut at = digits.len();
    while rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let at = at.min(digits.len().saturating_sub(width));
    if value < 0 {
        out.push('-');
    }
    out.extend(digits[at..].iter().map(|digit| char::from(*digit)));
}

/// Appends the decimals of a second without trailing zeros.
pub(super) fn decimals(out: &mut String, micro: i64) {
    if micro == 0 {
        return;
    }
    out.push('.');
    padded(out, micro, 6);
    out.truncate(out.trim_end_matches('0').len());
}

fn clock(out: &mut String, time: i64) {
    padded(out, time / calendar::HOUR, 2);
    out.push(':');
    padded(out, time / MINUTE % 60, 2);
    out.push(':');
    padded(out, time / SECOND % 60, 2);
    decimals(out, time % SECOND);
}

/// Appends an offset from UTC.
fn offset(out: &mut String, east: i32) {
    out.push(if east < 0 { '-' } else { '+' });
    let east = i64::from(east.abs());
    padded(out, east / 3600, 2);
    if east % 3600 != 0 {
        out.push(':');
        padded(out, east / 60 % 60, 2);
    }
    if east % 60 != 0 {
        out.push(':');
        padded(out, east % 60, 2);
    }
}

fn year_shown(year: i32) -> i64 {
    match i64::from(year) {
        year if year > 0 => year,
        year => 1 - year,
    }
}

/// Appends year, month and day as a style and an order have them.
fn date_numbers(out: &mut String, parts: &Parts, locale: &Locale) {
    let (month, day) = (parts.month.into(), parts.day.into());
    let year = year_shown(parts.year);
    let day_first = locale.order == DateOrder::Dmy;
    let (a, b, c, separator) = match locale.style {
        DateStyle::Iso => ((year, 4), (month, 2), (day, 2), '-'),
        DateStyle::German => ((day, 2), (month, 2), (year, 4), '.'),
        style => {
            let separator = if style == DateStyle::Sql { '/' } else { '-' };
            match day_first {
                true => ((day, 2), (month, 2), (year, 4), separator),
                false => ((month, 2), (day, 2), (year, 4), separator),
            }
        }
    };
    padded(out, a.0, a.1);
    out.push(separator);
    padded(out, b.0, b.1);
    out.push(separator);
    padded(out, c.0, c.1);
}

fn era(out: &mut String, parts: &Parts) {
    if parts.year <= 0 {
        out.push_str(" BC");
    }
}

/// A date as text.
pub fn write_date(date: i32, locale: &Locale) -> String {
    match date {
        calendar::LATE_DATE => return "infinity".to_owned(),
        calendar::EARLY_DATE => return "-infinity".to_owned(),
        _ => {}
    }
    let parts = Parts::of_date(date);
    let mut out = String::with_capacity(13);
    date_numbers(&mut out, &parts, locale);
    era(&mut out, &parts);
    out
}

/// A time of day as text.
pub fn write_time(time: i64) -> String {
    let mut out = String::with_capacity(15);
    clock(&mut out, time);
    out
}

/// A time of day with its offset, in seconds east of UTC, as text.
pub fn write_timetz(time: i64, east: i32) -> String {
    let mut out = write_time(time);
    offset(&mut out, east);
    out
}

/// A timestamp as text.
pub fn write_stamp(stamp: i64, locale: &Locale) -> String {
    moment(stamp, locale, None)
}

/// An instant as text, in the session's zone.
pub fn write_stamp_tz(stamp: i64, locale: &Locale) -> String {
    if !calendar::is_finite(stamp) {
        return moment(stamp, locale, None);
    }
    if locale.style == DateStyle::Iso {
        // Its abbreviation is not shown.
        let east = locale.zone.east_at(stamp);
        let local = stamp.saturating_add(i64::from(east) * SECOND);
        let abbreviation = String::new();
        let clock = Clock {
            east,
            abbreviation,
            summer: false,
        };
        return moment(local, locale, Some(&clock));
    }
    let clock = locale.zone.clock_at(stamp);
    let local = stamp.saturating_add(i64::from(clock.east) * SECOND);
    moment(local, locale, Some(&clock))
}

fn moment(local: i64, locale: &Locale, zone: Option<&Clock>) -> String {
    if local == calendar::LATE && zone.is_none() {
        return "infinity".to_owned();
    }
    if local == calendar::EARLY {
        return "-infinity".to_owned();
    }
    let parts = Parts::of_stamp(local);
    let time = local.rem_euclid(DAY);
    let mut out = String::with_capacity(32);
    if locale.style == DateStyle::Postgres {
        let (day, month) = (i64::from(parts.day), (parts.month - 1) as usize);
        out.push_str(DAYS[calendar::weekday(local.div_euclid(DAY)) as usize]);
        out.push(' ');
        let month = MONTHS.get(month).copied().unwrap_or("");
        if locale.order == DateOrder::Dmy {
            padded(&mut out, day, 2);
            out.push(' ');
            out.push_str(month);
        } else {
            out.push_str(month);
            out.push(' ');
            padded(&mut out, day, 2);
        }
        out.push(' ');
        clock(&mut out, time);
        out.push(' ');
        padded(&mut out, year_shown(parts.year), 4);
    } else {
        date_numbers(&mut out, &parts, locale);
        out.push(' ');
        clock(&mut out, time);
    }
    if let Some(zone) = zone {
        if locale.style == DateStyle::Iso {
            offset(&mut out, zone.east);
        } else {
            out.push(' ');
            out.extend(zone.abbreviation.chars().take(10));
        }
    }
    era(&mut out, &parts);
    out
}
