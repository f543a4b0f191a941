//! Sums, differences and products of dates, times and intervals, and OVERLAPS.

use super::super::kernel::{
    Bool, Date, F64, I32, Input, Kernel, Opt, Span, Stamp, Time, TimeTz, f1, f2, w2, w4,
};
use super::super::{Catalogue, scalar};
use super::casts::{date_to_stamp, seconds};
use super::{of, settings, timetz, timetz_parts};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::Interval;
use crate::values::datetime::calendar::{self, DAY};
use crate::values::datetime::{
    Zone, add_interval, add_interval_in, date_out_of_range, stamp_out_of_range,
};

pub(super) fn register(c: &mut Catalogue) {
    dates(c);
    stamps(c);
    times(c);
    intervals(c);
    overlaps(c);
}

fn plus_days(date: i32, days: i64) -> Result<i32> {
    if !calendar::is_finite_date(date) {
        return Ok(date);
    }
    calendar::date_from(i64::from(date) + days).map_err(|_| date_out_of_range())
}

fn dates(c: &mut Catalogue) {
    let int = || Type::Int4;
    c.operator(
        "+",
        &[of::DATE, int()],
        of::DATE,
        f2::<Date, I32, Date>(|date, days| plus_days(date, days.into())),
    );
    c.operator(
        "+",
        &[int(), of::DATE],
        of::DATE,
        f2::<I32, Date, Date>(|days, date| plus_days(date, days.into())),
    );
    c.operator(
        "-",
        &[of::DATE, int()],
        of::DATE,
        f2::<Date, I32, Date>(|date, days| plus_days(date, -i64::from(days))),
    );
    c.operator(
        "-",
        &[of::DATE, of::DATE],
        int(),
        f2::<Date, Date, I32>(|a, b| {
            if !calendar::is_finite_date(a) || !calendar::is_finite_date(b) {
                return Err(Error::new("22008", "cannot subtract infinite dates"));
            }
            a.checked_sub(b).ok_or_else(date_out_of_range)
        }),
    );
    c.operator(
        "+",
        &[of::DATE, of::SPAN],
        of::STAMP,
        f2::<Date, Span, Stamp>(|date, span| add_interval(date_to_stamp(date)?, &span)),
    );
    c.operator(
        "+",
        &[of::SPAN, of::DATE],
        of::STAMP,
        f2::<Span, Date, Stamp>(|span, date| add_interval(date_to_stamp(date)?, &span)),
    );
    c.operator(
        "-",
        &[of::DATE, of::SPAN],
        of::STAMP,
        f2::<Date, Span, Stamp>(|date, span| add_interval(date_to_stamp(date)?, &span.negated()?)),
    );
    c.operator(
        "+",
        &[of::DATE, of::TIME],
        of::STAMP,
        f2::<Date, Time, Stamp>(at_time),
    );
    c.operator(
        "+",
        &[of::TIME, of::DATE],
        of::STAMP,
        f2::<Time, Date, Stamp>(|time, date| at_time(date, time)),
    );
    c.operator(
        "+",
        &[of::DATE, of::TIMETZ],
        of::STAMPTZ,
        f2::<Date, TimeTz, Stamp>(at_timetz),
    );
    c.operator(
        "+",
        &[of::TIMETZ, of::DATE],
        of::STAMPTZ,
        f2::<TimeTz, Date, Stamp>(|time, date| at_timetz(date, time)),
    );
}

/// A time of a day.
pub(super) fn at_time(date: i32, time: i64) -> Result<i64> {
    let stamp = date_to_stamp(date)?;
    if !calendar::is_finite(stamp) {
        return Ok(stamp);
    }
    let stamp = stamp
        .checked_add(time)
        .filter(|stamp| calendar::is_stamp(*stamp));
    stamp.ok_or_else(stamp_out_of_range)
}

/// A time with an offset of a day.
pub(super) fn at_timetz(date: i32, time: [u8; 12]) -> Result<i64> {
    let (time, east) = timetz_parts(time);
    at_time(date, time - seconds(east))
}

fn stamps(c: &mut Catalogue) {
    for ty in [of::STAMP, of::STAMPTZ] {
        let between = f2::<Stamp, Stamp, Span>(Interval::between);
        c.operator("-", &[ty.clone(), ty], of::SPAN, between);
    }
    c.operator(
        "+",
        &[of::STAMP, of::SPAN],
        of::STAMP,
        f2::<Stamp, Span, Stamp>(|stamp, span| add_interval(stamp, &span)),
    );
    c.operator(
        "+",
        &[of::SPAN, of::STAMP],
        of::STAMP,
        f2::<Span, Stamp, Stamp>(|span, stamp| add_interval(stamp, &span)),
    );
    c.operator(
        "-",
        &[of::STAMP, of::SPAN],
        of::STAMP,
        f2::<Stamp, Span, Stamp>(|stamp, span| add_interval(stamp, &span.negated()?)),
    );
    let plus = w2::<Stamp, Span, Stamp>(|call, stamp, span| {
        add_interval_in(stamp, &span, &settings(call).zone)
    });
    c.add_operator(scalar("+", &[of::STAMPTZ, of::SPAN], of::STAMPTZ, plus).stable());
    let plus = w2::<Span, Stamp, Stamp>(|call, span, stamp| {
        add_interval_in(stamp, &span, &settings(call).zone)
    });
    c.add_operator(scalar("+", &[of::SPAN, of::STAMPTZ], of::STAMPTZ, plus).stable());
    let minus = w2::<Stamp, Span, Stamp>(|call, stamp, span| {
        add_interval_in(stamp, &span.negated()?, &settings(call).zone)
    });
    c.add_operator(scalar("-", &[of::STAMPTZ, of::SPAN], of::STAMPTZ, minus).stable());
}

/// A time of day some time later, on whatever day.
fn later(time: i64, span: &Interval) -> i64 {
    // Both are shorter than a day.
    (time + span.micros % DAY).rem_euclid(DAY)
}

fn earlier(time: i64, span: &Interval) -> i64 {
    (time - span.micros % DAY).rem_euclid(DAY)
}

fn times(c: &mut Catalogue) {
    c.operator(
        "-",
        &[of::TIME, of::TIME],
        of::SPAN,
        f2::<Time, Time, Span>(|a, b| Ok(Interval::new(0, 0, a - b))),
    );
    c.operator(
        "+",
        &[of::TIME, of::SPAN],
        of::TIME,
        f2::<Time, Span, Time>(|time, span| Ok(later(time, &span))),
    );
    c.operator(
        "+",
        &[of::SPAN, of::TIME],
        of::TIME,
        f2::<Span, Time, Time>(|span, time| Ok(later(time, &span))),
    );
    c.operator(
        "-",
        &[of::TIME, of::SPAN],
        of::TIME,
        f2::<Time, Span, Time>(|time, span| Ok(earlier(time, &span))),
    );
    let zoned = |f: fn(i64, &Interval) -> i64| {
        move |value, span: Interval| {
            let (time, east) = timetz_parts(value);
            Ok(timetz(f(time, &span), east))
        }
    };
    let plus = zoned(later);
    c.operator(
        "+",
        &[of::TIMETZ, of::SPAN],
        of::TIMETZ,
        f2::<TimeTz, Span, TimeTz>(plus),
    );
    c.operator(
        "+",
        &[of::SPAN, of::TIMETZ],
        of::TIMETZ,
        f2::<Span, TimeTz, TimeTz>(move |span, value| plus(value, span)),
    );
    let minus = zoned(earlier);
    c.operator(
        "-",
        &[of::TIMETZ, of::SPAN],
        of::TIMETZ,
        f2::<TimeTz, Span, TimeTz>(minus),
    );
}

fn intervals(c: &mut Catalogue) {
    let span = || of::SPAN;
    let float = || Type::Float8;
    c.operator(
        "+",
        &[span(), span()],
        span(),
        f2::<Span, Span, Span>(|a, b| a.plus(&b)),
    );
    c.operator(
        "-",
        &[span(), span()],
        span(),
        f2::<Span, Span, Span>(|a, b| a.minus(&b)),
    );
    c.operator("-", &[span()], span(), f1::<Span, Span>(|a| a.negated()));
    c.operator(
        "*",
        &[span(), float()],
        span(),
        f2::<Span, F64, Span>(|a, b| a.times(b)),
    );
    c.operator(
        "*",
        &[float(), span()],
        span(),
        f2::<F64, Span, Span>(|a, b| b.times(a)),
    );
    c.operator(
        "/",
        &[span(), float()],
        span(),
        f2::<Span, F64, Span>(|a, b| a.over(b)),
    );
}

/// Whether two periods have a point in common; an end may be unknown.
fn overlap<T: Ord + Copy>(
    first: (Option<T>, Option<T>),
    second: (Option<T>, Option<T>),
) -> Option<bool> {
    let ordered = |(start, end): (Option<T>, Option<T>)| match (start, end) {
        (None, None) => None,
        (None, Some(end)) => Some((end, None)),
        (Some(start), Some(end)) if start > end => Some((end, Some(start))),
        (Some(start), end) => Some((start, end)),
    };
    let (mut a, mut b) = (ordered(first)?, ordered(second)?);
    if a.0 > b.0 {
        std::mem::swap(&mut a, &mut b);
    }
    if a.0 == b.0 {
        return (a.1.is_some() && b.1.is_some()).then_some(true);
    }
    if b.0 < a.1? {
        return Some(true);
    }
    b.1.map(|_| false)
}

/// `overlaps` of periods given by beginnings and, at choice, ends or lengths.
fn periods<S, T>(
    add: impl Fn(&Zone, S::Value, &Interval) -> Result<S::Value> + Copy + Send + Sync + 'static,
) -> [Kernel; 4]
where
    S: Point<Value = T> + 'static,
    T: Ord + Copy + 'static,
{
    let end = move |zone: &Zone, start: Option<T>, span: Option<Interval>| match (start, span) {
        (Some(start), Some(span)) => add(zone, start, &span).map(Some),
        _ => Ok(None),
    };
    [
        w4::<Opt<S>, Opt<S>, Opt<S>, Opt<S>, Opt<Bool>>(move |_, a, b, c, d| {
            Ok(overlap(
                (a.map(S::value), b.map(S::value)),
                (c.map(S::value), d.map(S::value)),
            ))
        }),
        w4::<Opt<S>, Opt<Span>, Opt<S>, Opt<Span>, Opt<Bool>>(move |call, a, b, c, d| {
            let zone = &settings(call).zone;
            let (a, c) = (a.map(S::value), c.map(S::value));
            Ok(overlap((a, end(zone, a, b)?), (c, end(zone, c, d)?)))
        }),
        w4::<Opt<S>, Opt<S>, Opt<S>, Opt<Span>, Opt<Bool>>(move |call, a, b, c, d| {
            let zone = &settings(call).zone;
            let c = c.map(S::value);
            Ok(overlap(
                (a.map(S::value), b.map(S::value)),
                (c, end(zone, c, d)?),
            ))
        }),
        w4::<Opt<S>, Opt<Span>, Opt<S>, Opt<S>, Opt<Bool>>(move |call, a, b, c, d| {
            let zone = &settings(call).zone;
            let a = a.map(S::value);
            Ok(overlap(
                (a, end(zone, a, b)?),
                (c.map(S::value), d.map(S::value)),
            ))
        }),
    ]
}

/// A type of points in time.
trait Point: Input {
    /// A value with an order.
    type Value;
    /// The value of an item.
    fn value(item: Self::Item<'_>) -> Self::Value;
}

impl Point for Stamp {
    type Value = i64;
    fn value(item: i64) -> i64 {
        item
    }
}

impl Point for Time {
    type Value = i64;
    fn value(item: i64) -> i64 {
        item
    }
}

impl Point for TimeTz {
    type Value = (i64, i32);
    /// The time in UTC, and then the offset.
    fn value(item: [u8; 12]) -> (i64, i32) {
        let (time, east) = timetz_parts(item);
        (time - seconds(east), -east)
    }
}

fn overlaps(c: &mut Catalogue) {
    let kinds = [
        (
            of::STAMP,
            periods::<Stamp, i64>(|_, start, span| add_interval(start, span)),
        ),
        (
            of::STAMPTZ,
            periods::<Stamp, i64>(|zone, start, span| add_interval_in(start, span, zone)),
        ),
        (
            of::TIME,
            periods::<Time, i64>(|_, start, span| Ok(later(start, span))),
        ),
    ];
    for (ty, kernels) in kinds {
        let ends = [
            (ty.clone(), ty.clone()),
            (of::SPAN, of::SPAN),
            (ty.clone(), of::SPAN),
            (of::SPAN, ty.clone()),
        ];
        for ((first, second), kernel) in ends.into_iter().zip(kernels) {
            let types = [ty.clone(), first, ty.clone(), second];
            let function = scalar("overlaps", &types, Type::Bool, kernel).with_nulls();
            c.add(match ty {
                Type::TimestampTz(_) => function.stable(),
                _ => function,
            });
        }
    }
    let [kernel, ..] = periods::<TimeTz, (i64, i32)>(|_, start, _| Ok(start));
    let types = [of::TIMETZ, of::TIMETZ, of::TIMETZ, of::TIMETZ];
    c.add(scalar("overlaps", &types, Type::Bool, kernel).with_nulls());
}
