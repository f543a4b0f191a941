//! Intervals as text, by `IntervalStyle`.

use std::fmt::Write;

use super::IntervalStyle;
use super::calendar::{HOUR, MINUTE, SECOND};
use super::write::decimals;
use crate::values::Interval;

/// An interval's parts, each with its sign.
struct Split {
    years: i64,
    months: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    seconds: i64,
    micros: i64,
}

impl From<&Interval> for Split {
    fn from(span: &Interval) -> Self {
        Self {
            years: i64::from(span.months) / 12,
            months: i64::from(span.months) % 12,
            days: span.days.into(),
            hours: span.micros / HOUR,
            minutes: span.micros / MINUTE % 60,
            seconds: span.micros / SECOND % 60,
            micros: span.micros % SECOND,
        }
    }
}

/// An interval as text.
pub fn write_interval(span: &Interval, style: IntervalStyle) -> String {
    let split = Split::from(span);
    let mut out = String::with_capacity(32);
    // A `String` takes all that is written to it.
    let _ = match style {
        IntervalStyle::Postgres => postgres(&mut out, &split),
        IntervalStyle::Verbose => verbose(&mut out, &split),
        IntervalStyle::Standard => standard(&mut out, &split),
        IntervalStyle::Iso8601 => iso(&mut out, &split),
    };
    out
}

/// Appends seconds with their decimals.
fn seconds(out: &mut String, seconds: i64, micros: i64, width: usize) -> std::fmt::Result {
    write!(out, "{:0width$}", seconds.abs())?;
    decimals(out, micros.abs());
    Ok(())
}

/// `hh:mm:ss.f`, without a sign.
fn clock(out: &mut String, split: &Split, width: usize) -> std::fmt::Result {
    let (hours, minutes) = (split.hours.abs(), split.minutes.abs());
    write!(out, "{hours:0width$}:{minutes:02}:")?;
    seconds(out, split.seconds, split.micros, 2)
}

fn is_time_negative(split: &Split) -> bool {
    [split.hours, split.minutes, split.seconds, split.micros]
        .iter()
        .any(|part| *part < 0)
}

fn has_time(split: &Split) -> bool {
    [split.hours, split.minutes, split.seconds, split.micros]
        .iter()
        .any(|part| *part != 0)
}

/// `1 year 2 mons -3 days +04:05:06`: a sign is shown where the one before it was a minus.
fn postgres(out: &mut String, split: &Split) -> std::fmt::Result {
    let mut negative = false;
    let parts = [
        (split.years, "year"),
        (split.months, "mon"),
        (split.days, "day"),
    ];
    for (value, name) in parts.into_iter().filter(|(value, _)| *value != 0) {
        let space = if out.is_empty() { "" } else { " " };
        let plus = if negative && value > 0 { "+" } else { "" };
        let plural = if value == 1 { "" } else { "s" };
        write!(out, "{space}{plus}{value} {name}{plural}")?;
        negative = value < 0;
    }
    if out.is_empty() || has_time(split) {
        if !out.is_empty() {
            out.push(' ');
        }
        match is_time_negative(split) {
            true => out.push('-'),
            false if negative => out.push('+'),
            false => {}
        }
        clock(out, split, 2)?;
    }
    Ok(())
}

/// `@ 1 year 2 mons 3 hours ago`: the first part's sign is that of all.
fn verbose(out: &mut String, split: &Split) -> std::fmt::Result {
    out.push('@');
    let mut first = None;
    let parts = [
        (split.years, "year"),
        (split.months, "mon"),
        (split.days, "day"),
        (split.hours, "hour"),
        (split.minutes, "min"),
    ];
    for (value, name) in parts.into_iter().filter(|(value, _)| *value != 0) {
        let before = *first.get_or_insert(value < 0);
        let value = if before { -value } else { value };
        let plural = if value == 1 { "" } else { "s" };
        write!(out, " {value} {name}{plural}")?;
    }
    if split.seconds != 0 || split.micros != 0 {
        let minus = split.seconds < 0 || split.micros < 0;
        let before = *first.get_or_insert(minus);
        out.push(' ');
        if minus != before {
            out.push('-');
        }
        seconds(out, split.seconds, split.micros, 1)?;
        let one = split.seconds.abs() == 1 && split.micros == 0;
        out.push_str(if one { " sec" } else { " secs" });
    }
    match first {
        None => out.push_str(" 0"),
        Some(true) => out.push_str(" ago"),
        Some(false) => {}
    }
    Ok(())
}

/// `1-2`, `3 4:05:06`, or with signs `+1-2 -3 +4:05:06`.
fn standard(out: &mut String, split: &Split) -> std::fmt::Result {
    let all = [
        split.years,
        split.months,
        split.days,
        split.hours,
        split.minutes,
        split.seconds,
        split.micros,
    ];
    let negative = all.iter().any(|part| *part < 0);
    let positive = all.iter().any(|part| *part > 0);
    let months = split.years != 0 || split.months != 0;
    let time = has_time(split);
    let days = split.days != 0;
    if !negative && !positive {
        out.push('0');
        return Ok(());
    }
    if negative && positive || months && (days || time) {
        let sign = |minus: bool| if minus { '-' } else { '+' };
        let minus = split.years < 0 || split.months < 0;
        let (years, left) = (split.years.abs(), split.months.abs());
        write!(out, "{}{years}-{left}", sign(minus))?;
        write!(out, " {}{} ", sign(split.days < 0), split.days.abs())?;
        out.push(sign(is_time_negative(split)));
        return clock(out, split, 1);
    }
    if negative {
        out.push('-');
    }
    if months {
        return write!(out, "{}-{}", split.years.abs(), split.months.abs());
    }
    if days {
        write!(out, "{} ", split.days.abs())?;
    }
    clock(out, split, 1)
}

/// `P1Y2M3DT4H5M6S`.
fn iso(out: &mut String, split: &Split) -> std::fmt::Result {
    out.push('P');
    let date = [(split.years, 'Y'), (split.months, 'M'), (split.days, 'D')];
    for (value, name) in date.into_iter().filter(|(value, _)| *value != 0) {
        write!(out, "{value}{name}")?;
    }
    if has_time(split) || out.len() == 1 {
        out.push('T');
        let time = [(split.hours, 'H'), (split.minutes, 'M')];
        for (value, name) in time.into_iter().filter(|(value, _)| *value != 0) {
            write!(out, "{value}{name}")?;
        }
        if split.seconds != 0 || split.micros != 0 || out.len() == 2 {
            if split.seconds < 0 || split.micros < 0 {
                out.push('-');
            }
            seconds(out, split.seconds, split.micros, 1)?;
            out.push('S');
        }
    }
    Ok(())
}
