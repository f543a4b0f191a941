//! date_trunc, date_bin, age, isfinite and justify_….

use super::super::kernel::{Bool, Date, Span, Stamp, Str, f1, f2, f3, w1, w2, w3};
use super::super::{Catalogue, scalar};
use super::casts::local;
use super::fields::{lowered, unrecognized, unsupported};
use super::make::{Clock, clock};
use super::{of, settings};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::Interval;
use crate::values::datetime::calendar::{self, DAY, HOUR, MINUTE, Parts, SECOND};
use crate::values::datetime::{Unit, interval_out_of_range, stamp_out_of_range, unit};

/// The first year of a decade, century or millennium.
fn first_year(unit: Unit, year: i64) -> i64 {
    match unit {
        Unit::Decade => year.div_euclid(10) * 10,
        Unit::Century => (year - 1).div_euclid(100) * 100 + 1,
        Unit::Millennium => (year - 1).div_euclid(1000) * 1000 + 1,
        _ => year,
    }
}

/// The beginning of a unit, by the calendar; whether it is at midnight.
fn begin(unit: Unit, stamp: i64) -> Option<(i64, bool)> {
    let (days, time) = (stamp.div_euclid(DAY), stamp.rem_euclid(DAY));
    let of_day = |scale: i64| days * DAY + time / scale * scale;
    let (year, month, _) = calendar::civil(days);
    let first = match unit {
        Unit::Microsecond => return Some((stamp, false)),
        Unit::Millisecond => return Some((of_day(1000), false)),
        Unit::Second => return Some((of_day(SECOND), false)),
        Unit::Minute => return Some((of_day(MINUTE), false)),
        Unit::Hour => return Some((of_day(HOUR), false)),
        Unit::Day => days,
        Unit::Week => days - (days + 3).rem_euclid(7),
        Unit::Month => calendar::days_of(year, month.into(), 1),
        Unit::Quarter => calendar::days_of(year, i64::from((month - 1) / 3 * 3 + 1), 1),
        Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium => {
            calendar::days_of(first_year(unit, year), 1, 1)
        }
        _ => return None,
    };
    Some((first.checked_mul(DAY)?, true))
}

/// The unit of a name, or why there is none to truncate to.
fn unit_named(name: &str, ty: &Type) -> Result<Unit> {
    unit(name).ok_or_else(|| unrecognized(name, ty))
}

/// The beginning of a unit.
pub(super) fn truncated(name: &str, stamp: i64) -> Result<i64> {
    let name = lowered(name);
    if !calendar::is_finite(stamp) {
        return Ok(stamp);
    }
    let unit = unit_named(&name, &of::STAMP)?;
    let (stamp, _) = begin(unit, stamp).ok_or_else(|| unsupported(&name, &of::STAMP))?;
    calendar::is_stamp(stamp)
        .then_some(stamp)
        .ok_or_else(stamp_out_of_range)
}

/// The beginning of a unit on a clock.
fn truncated_in(name: &str, stamp: i64, clock: &Clock) -> Result<i64> {
    let name = lowered(name);
    if !calendar::is_finite(stamp) {
        return Ok(stamp);
    }
    let unit = unit_named(&name, &of::STAMPTZ)?;
    let east = clock.east_at(stamp);
    let local = stamp.saturating_add(i64::from(east) * SECOND);
    let (begin, midnight) = begin(unit, local).ok_or_else(|| unsupported(&name, &of::STAMPTZ))?;
    // Midnight may have another offset; a part of a day keeps it.
    let east = if midnight {
        clock.east_of_local(begin)
    } else {
        east
    };
    let utc = begin.checked_sub(i64::from(east) * SECOND);
    utc.filter(|utc| calendar::is_stamp(*utc))
        .ok_or_else(stamp_out_of_range)
}

fn truncated_span(name: &str, span: &Interval) -> Result<Interval> {
    let name = lowered(name);
    let months = |scale: i32| Interval::new(span.months / scale * scale, 0, 0);
    let micros = |scale: i64| Interval {
        micros: span.micros / scale * scale,
        ..*span
    };
    Ok(match unit_named(&name, &of::SPAN)? {
        Unit::Millennium => months(12_000),
        Unit::Century => months(1200),
        Unit::Decade => months(120),
        Unit::Year => months(12),
        Unit::Quarter => months(3),
        Unit::Month => months(1),
        Unit::Day => Interval::new(span.months, span.days, 0),
        Unit::Hour => micros(HOUR),
        Unit::Minute => micros(MINUTE),
        Unit::Second => micros(SECOND),
        Unit::Millisecond => micros(1000),
        Unit::Microsecond => *span,
        unit => {
            let error = unsupported(&name, &of::SPAN);
            return Err(match unit {
                Unit::Week => error.with_detail("Months usually have fractional weeks."),
                _ => error,
            });
        }
    })
}

/// The beginning of the period of some length in which a timestamp is.
pub(super) fn binned(stride: &Interval, stamp: i64, origin: i64) -> Result<i64> {
    if !calendar::is_finite(stamp) {
        return Ok(stamp);
    }
    if !calendar::is_finite(origin) {
        return Err(Error::new("22008", "origin out of range"));
    }
    if stride.months != 0 {
        return Err(Error::unsupported(
            "timestamps cannot be binned into intervals containing months or years",
        ));
    }
    let length = i64::from(stride.days).checked_mul(DAY);
    let length = length.and_then(|days| days.checked_add(stride.micros));
    let length = length.ok_or_else(interval_out_of_range)?;
    if length <= 0 {
        return Err(Error::new("22008", "stride must be greater than zero"));
    }
    let since = stamp
        .checked_sub(origin)
        .ok_or_else(interval_out_of_range)?;
    let bins = since.div_euclid(length);
    let begin = bins
        .checked_mul(length)
        .and_then(|since| origin.checked_add(since));
    begin
        .filter(|stamp| calendar::is_stamp(*stamp))
        .ok_or_else(stamp_out_of_range)
}

/// The difference of two local times in years, months, days and time.
pub(super) fn age(a: i64, b: i64) -> Result<Interval> {
    if !calendar::is_finite(a) || !calendar::is_finite(b) {
        return Err(stamp_out_of_range());
    }
    let negative = a < b;
    let (late, early) = if negative { (b, a) } else { (a, b) };
    let (l, e) = (Parts::of_stamp(late), Parts::of_stamp(early));
    let mut micros = late.rem_euclid(DAY) - early.rem_euclid(DAY);
    let mut days = l.day - e.day;
    let mut months = (l.year - e.year) * 12 + l.month - e.month;
    if micros < 0 {
        micros += DAY;
        days -= 1;
    }
    while days < 0 {
        // The month that is borrowed from is the earlier one's.
        days += calendar::month_days(e.year.into(), e.month);
        months -= 1;
    }
    let span = Interval::new(months, days, micros);
    if negative { span.negated() } else { Ok(span) }
}

pub(super) fn register(c: &mut Catalogue) {
    let text = || Type::Text;
    let trunc = f2::<Str, Stamp, Stamp>(truncated);
    c.add(scalar("date_trunc", &[text(), of::STAMP], of::STAMP, trunc));
    let trunc = w2::<Str, Stamp, Stamp>(|call, name, stamp| {
        truncated_in(name, stamp, &Clock::Zone(settings(call).zone.clone()))
    });
    c.add(scalar("date_trunc", &[text(), of::STAMPTZ], of::STAMPTZ, trunc).stable());
    let trunc = w3::<Str, Stamp, Str, Stamp>(|_, name, stamp, zone| {
        if !calendar::is_finite(stamp) {
            return Ok(stamp);
        }
        // An abbreviation stands for its zone.
        let clock = match clock(zone)? {
            Clock::Abbreviation(zone, _) => Clock::Zone(zone),
            clock => clock,
        };
        truncated_in(name, stamp, &clock)
    });
    let types = [text(), of::STAMPTZ, text()];
    c.add(scalar("date_trunc", &types, of::STAMPTZ, trunc).stable());
    let trunc = f2::<Str, Span, Span>(|name, span| truncated_span(name, &span));
    c.add(scalar("date_trunc", &[text(), of::SPAN], of::SPAN, trunc));
    for ty in [of::STAMP, of::STAMPTZ] {
        let bin =
            f3::<Span, Stamp, Stamp, Stamp>(|stride, stamp, origin| binned(&stride, stamp, origin));
        c.add(scalar(
            "date_bin",
            &[of::SPAN, ty.clone(), ty.clone()],
            ty.clone(),
            bin,
        ));
        let finite = f1::<Stamp, Bool>(|stamp| Ok(calendar::is_finite(stamp)));
        c.add(scalar("isfinite", &[ty], Type::Bool, finite));
    }
    let finite = f1::<Date, Bool>(|date| Ok(calendar::is_finite_date(date)));
    c.add(scalar("isfinite", &[of::DATE], Type::Bool, finite));
    c.add(scalar(
        "isfinite",
        &[of::SPAN],
        Type::Bool,
        f1::<Span, Bool>(|_| Ok(true)),
    ));
    ages(c);
    type Justified = fn(&Interval) -> Result<Interval>;
    let justify: [(_, Justified); 3] = [
        ("justify_hours", Interval::justified_hours),
        ("justify_days", Interval::justified_days),
        ("justify_interval", Interval::justified),
    ];
    for (name, justified) in justify {
        let kernel = f1::<Span, Span>(move |span| justified(&span));
        c.add(scalar(name, &[of::SPAN], of::SPAN, kernel));
    }
}

fn ages(c: &mut Catalogue) {
    let two = f2::<Stamp, Stamp, Span>(age);
    c.add(scalar("age", &[of::STAMP, of::STAMP], of::SPAN, two));
    let two = w2::<Stamp, Stamp, Span>(|call, a, b| {
        let zone = &settings(call).zone;
        age(local(a, zone), local(b, zone))
    });
    c.add(scalar("age", &[of::STAMPTZ, of::STAMPTZ], of::SPAN, two));
    // One is the age today, at midnight.
    let one = w1::<Stamp, Span>(|call, b| {
        let locale = settings(call);
        let today = locale.zone.to_local(locale.now).div_euclid(DAY) * DAY;
        age(today, b)
    });
    c.add(scalar("age", &[of::STAMP], of::SPAN, one).stable());
    let one = w1::<Stamp, Span>(|call, b| {
        let locale = settings(call);
        let today = locale.zone.to_local(locale.now).div_euclid(DAY) * DAY;
        age(today, local(b, &locale.zone))
    });
    c.add(scalar("age", &[of::STAMPTZ], of::SPAN, one).stable());
}
