//! Input and output of the types, and casts between them.

use super::super::kernel::{Date, I32, Span, Stamp, Str, Time, TimeTz, f1, f2, w1, w2};
use super::super::{Catalogue, Context, scalar};
use super::{decimals, of, settings, timetz, timetz_parts};
use crate::error::{Error, Result};
use crate::types::{Type, modifier};
use crate::values::Interval;
use crate::values::datetime::calendar::{self, DAY, SECOND};
use crate::values::datetime::{self, SpanFields, Zone};

pub(super) fn register(c: &mut Catalogue) {
    texts(c);
    between(c);
    rounding(c);
}

/// Input and output.
fn texts(c: &mut Catalogue) {
    use Context::{Assignment, Explicit};
    let text = || Type::Text;
    c.cast(
        text(),
        of::DATE,
        Explicit,
        w1::<Str, Date>(|call, text| datetime::read_date(text, &settings(call))),
    );
    c.cast(
        text(),
        of::TIME,
        Explicit,
        w1::<Str, Time>(|call, text| {
            let time = datetime::read_time(text, &settings(call))?;
            Ok(rounded(time, call.returns))
        }),
    );
    c.cast(
        text(),
        of::TIMETZ,
        Explicit,
        w1::<Str, TimeTz>(|call, text| {
            let (time, east) = datetime::read_timetz(text, &settings(call))?;
            Ok(timetz(rounded(time, call.returns), east))
        }),
    );
    c.cast(
        text(),
        of::STAMP,
        Explicit,
        w1::<Str, Stamp>(|call, text| {
            let stamp = datetime::read_stamp(text, &settings(call))?;
            rounded_stamp(stamp, call.returns)
        }),
    );
    c.cast(
        text(),
        of::STAMPTZ,
        Explicit,
        w1::<Str, Stamp>(|call, text| {
            let stamp = datetime::read_stamp_tz(text, &settings(call))?;
            rounded_stamp(stamp, call.returns)
        }),
    );
    c.cast(
        text(),
        of::SPAN,
        Explicit,
        w1::<Str, Span>(|call, text| {
            let style = settings(call).intervals;
            datetime::read_interval(text, style, SpanFields::default())
        }),
    );
    c.cast(
        of::DATE,
        text(),
        Assignment,
        w1::<Date, Str>(|call, date| Ok(datetime::write_date(date, &settings(call)))),
    );
    c.cast(
        of::TIME,
        text(),
        Assignment,
        f1::<Time, Str>(|time| Ok(datetime::write_time(time))),
    );
    c.cast(
        of::TIMETZ,
        text(),
        Assignment,
        f1::<TimeTz, Str>(|value| {
            let (time, east) = timetz_parts(value);
            Ok(datetime::write_timetz(time, east))
        }),
    );
    c.cast(
        of::STAMP,
        text(),
        Assignment,
        w1::<Stamp, Str>(|call, stamp| Ok(datetime::write_stamp(stamp, &settings(call)))),
    );
    c.cast(
        of::STAMPTZ,
        text(),
        Assignment,
        w1::<Stamp, Str>(|call, stamp| Ok(datetime::write_stamp_tz(stamp, &settings(call)))),
    );
    c.cast(
        of::SPAN,
        text(),
        Assignment,
        w1::<Span, Str>(|call, span| Ok(datetime::write_interval(&span, settings(call).intervals))),
    );
}

/// Casts from one type to another.
fn between(c: &mut Catalogue) {
    use Context::{Assignment, Implicit};
    c.cast(
        of::DATE,
        of::STAMP,
        Implicit,
        w1::<Date, Stamp>(|call, date| rounded_stamp(date_to_stamp(date)?, call.returns)),
    );
    c.cast(
        of::DATE,
        of::STAMPTZ,
        Implicit,
        w1::<Date, Stamp>(|call, date| {
            rounded_stamp(date_to_instant(date, &settings(call).zone)?, call.returns)
        }),
    );
    c.cast(
        of::STAMP,
        of::DATE,
        Assignment,
        f1::<Stamp, Date>(stamp_to_date),
    );
    c.cast(
        of::STAMPTZ,
        of::DATE,
        Assignment,
        w1::<Stamp, Date>(|call, stamp| stamp_to_date(local(stamp, &settings(call).zone))),
    );
    c.cast(
        of::STAMP,
        of::STAMPTZ,
        Implicit,
        w1::<Stamp, Stamp>(|call, stamp| {
            rounded_stamp(instant(stamp, &settings(call).zone)?, call.returns)
        }),
    );
    c.cast(
        of::STAMPTZ,
        of::STAMP,
        Assignment,
        w1::<Stamp, Stamp>(|call, stamp| {
            rounded_stamp(local(stamp, &settings(call).zone), call.returns)
        }),
    );
    // An infinite time has no time of day.
    type MaybeTime = super::super::kernel::Opt<Time>;
    c.cast(
        of::STAMP,
        of::TIME,
        Assignment,
        w1::<Stamp, MaybeTime>(|call, stamp| {
            let finite = calendar::is_finite(stamp);
            Ok(finite.then(|| rounded(stamp.rem_euclid(DAY), call.returns)))
        }),
    );
    c.cast(
        of::STAMPTZ,
        of::TIME,
        Assignment,
        w1::<Stamp, MaybeTime>(|call, stamp| {
            let local = local(stamp, &settings(call).zone);
            let finite = calendar::is_finite(stamp);
            Ok(finite.then(|| rounded(local.rem_euclid(DAY), call.returns)))
        }),
    );
    type MaybeTimeTz = super::super::kernel::Opt<TimeTz>;
    c.cast(
        of::STAMPTZ,
        of::TIMETZ,
        Assignment,
        w1::<Stamp, MaybeTimeTz>(|call, stamp| {
            let zone = &settings(call).zone;
            let time = local(stamp, zone).rem_euclid(DAY);
            let finite = calendar::is_finite(stamp);
            Ok(finite.then(|| timetz(rounded(time, call.returns), zone.east_at(stamp))))
        }),
    );
    c.cast(
        of::TIME,
        of::SPAN,
        Implicit,
        f1::<Time, Span>(|time| Ok(Interval::new(0, 0, time))),
    );
    c.cast(
        of::SPAN,
        of::TIME,
        Assignment,
        w1::<Span, Time>(|call, span| Ok(rounded(span.micros.rem_euclid(DAY), call.returns))),
    );
    c.cast(
        of::TIME,
        of::TIMETZ,
        Implicit,
        w1::<Time, TimeTz>(|call, time| {
            let locale = settings(call);
            let today = locale.zone.to_local(locale.now).div_euclid(DAY) * DAY;
            let east = locale.zone.east_of_local(today + time);
            Ok(timetz(rounded(time, call.returns), east))
        }),
    );
    c.cast(
        of::TIMETZ,
        of::TIME,
        Assignment,
        w1::<TimeTz, Time>(|call, value| Ok(rounded(timetz_parts(value).0, call.returns))),
    );
}

/// Casts to fewer digits of seconds, and to fewer fields.
fn rounding(c: &mut Catalogue) {
    let implicit = Context::Implicit;
    // A text is read by the fields: a number is one of the last.
    let read = w2::<Str, I32, Span>(|call, text, modifier| {
        let fields = modifier::fields(modifier).unwrap_or_default();
        datetime::read_interval(text, settings(call).intervals, fields)
    });
    let read = scalar("interval", &[Type::Text, Type::Int4], of::SPAN, read);
    c.add(read.stable());
    let restrict = f2::<Span, I32, Span>(|span, modifier| match modifier::fields(modifier) {
        Some(fields) => fields.restrict(span),
        None => Ok(span),
    });
    c.add(scalar(
        "interval",
        &[of::SPAN, Type::Int4],
        of::SPAN,
        restrict,
    ));
    c.cast(
        of::TIME,
        of::TIME,
        implicit,
        w1::<Time, Time>(|call, time| Ok(rounded(time, call.returns))),
    );
    c.cast(
        of::TIMETZ,
        of::TIMETZ,
        implicit,
        w1::<TimeTz, TimeTz>(|call, value| {
            let (time, east) = timetz_parts(value);
            Ok(timetz(rounded(time, call.returns), east))
        }),
    );
    for ty in [of::STAMP, of::STAMPTZ] {
        c.cast(
            ty.clone(),
            ty,
            implicit,
            w1::<Stamp, Stamp>(|call, stamp| rounded_stamp(stamp, call.returns)),
        );
    }
}

/// A time of day with the digits that a type keeps.
fn rounded(time: i64, ty: &Type) -> i64 {
    decimals(ty).map_or(time, |digits| datetime::round_time(time, digits))
}

/// A timestamp with the digits that a type keeps.
pub(super) fn rounded_stamp(stamp: i64, ty: &Type) -> Result<i64> {
    decimals(ty).map_or(Ok(stamp), |digits| datetime::round_stamp(stamp, digits))
}

/// Midnight of a date.
pub(super) fn date_to_stamp(date: i32) -> Result<i64> {
    match date {
        calendar::LATE_DATE => return Ok(calendar::LATE),
        calendar::EARLY_DATE => return Ok(calendar::EARLY),
        _ => {}
    }
    let stamp = calendar::stamp_of(date.into(), 0);
    stamp.ok_or_else(|| Error::new("22008", "date out of range for timestamp"))
}

/// Midnight of a date in a zone.
pub(super) fn date_to_instant(date: i32, zone: &Zone) -> Result<i64> {
    let stamp = date_to_stamp(date)?;
    if !calendar::is_finite(stamp) {
        return Ok(stamp);
    }
    let instant = zone.to_utc(stamp);
    instant.ok_or_else(|| Error::new("22008", "date out of range for timestamp"))
}

/// The date of a timestamp.
pub(super) fn stamp_to_date(stamp: i64) -> Result<i32> {
    match stamp {
        calendar::LATE => Ok(calendar::LATE_DATE),
        calendar::EARLY => Ok(calendar::EARLY_DATE),
        _ => calendar::date_from(stamp.div_euclid(DAY)),
    }
}

/// The time that a zone's clock shows.
pub(super) fn local(stamp: i64, zone: &Zone) -> i64 {
    match calendar::is_finite(stamp) {
        true => zone.to_local(stamp),
        false => stamp,
    }
}

/// The instant at which a zone's clock shows a time.
pub(super) fn instant(stamp: i64, zone: &Zone) -> Result<i64> {
    match calendar::is_finite(stamp) {
        true => zone.to_utc(stamp).ok_or_else(datetime::stamp_out_of_range),
        false => Ok(stamp),
    }
}

/// Seconds as microseconds.
pub(super) fn seconds(seconds: i32) -> i64 {
    i64::from(seconds) * SECOND
}
