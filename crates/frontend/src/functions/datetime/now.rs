//! The current date and time.
//!
//! `now` and its kin are the time at which the transaction began, so that all of its statements
//! see one time; `clock_timestamp` moves on.

use super::super::kernel::{Call, Date, Kernel, Stamp, Str, Time, TimeTz, f0};
use super::super::{Catalogue, Scalar, scalar};
use super::{of, settings, timetz};
use crate::error::Result;
use crate::types::Type;
use crate::values::datetime::calendar::{self, DAY, SECOND};
use crate::values::datetime::{DateStyle, Locale, write_stamp_tz};

/// The time by the machine's clock.
pub(super) fn clock() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    })
}

/// The time in the session's zone.
fn local(call: &Call<'_>) -> i64 {
    let locale = settings(call);
    locale.zone.to_local(locale.now)
}

/// A function without arguments, and with the digits of its seconds.
fn with_digits(
    c: &mut Catalogue,
    name: &'static str,
    ty: Type,
    plain: Kernel,
    digits: impl Fn(Option<u8>) -> Type,
) {
    c.add(scalar(name, &[], ty.clone(), plain.clone()).stable());
    // The digits are no value of a row: they round all of them.
    let rounded: Kernel = std::sync::Arc::new(move |call, columns| {
        let digits = columns.first().filter(|digits| !digits.is_null(0));
        let digits = digits.map(|digits| {
            use arrow_array::cast::AsArray;
            let digits = digits
                .array
                .as_primitive_opt::<arrow_array::types::Int32Type>();
            digits.map_or(6, |digits| digits.value(0))
        });
        let digits = digits.unwrap_or(6).clamp(0, 6) as u8;
        round_all(plain(call, &[])?, digits)
    });
    c.add(scalar(name, &[Type::Int4], digits(None), rounded).stable());
}

/// Values of a time with fewer digits of seconds.
fn round_all(array: arrow_array::ArrayRef, digits: u8) -> Result<arrow_array::ArrayRef> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Time64MicrosecondType, TimestampMicrosecondType};
    use std::sync::Arc;
    let round = |value: i64| calendar::round(value, digits).unwrap_or(value);
    if let Some(stamps) = array.as_primitive_opt::<TimestampMicrosecondType>() {
        let zone = stamps.timezone().map(Arc::from);
        let stamps = stamps.unary::<_, TimestampMicrosecondType>(round);
        return Ok(Arc::new(stamps.with_timezone_opt::<Arc<str>>(zone)));
    }
    if let Some(times) = array.as_primitive_opt::<Time64MicrosecondType>() {
        return Ok(Arc::new(times.unary::<_, Time64MicrosecondType>(round)));
    }
    if let Some(bytes) = array.as_fixed_size_binary_opt() {
        let rounded = bytes.iter().map(|value| {
            let value = value.and_then(|value| <[u8; 12]>::try_from(value).ok());
            value.map(|value| {
                let (time, east) = super::timetz_parts(value);
                timetz(round(time), east)
            })
        });
        let rounded =
            arrow_array::FixedSizeBinaryArray::try_from_sparse_iter_with_size(rounded, 12);
        return Ok(Arc::new(rounded?));
    }
    Ok(array)
}

pub(super) fn register(c: &mut Catalogue) {
    let now = || f0::<Stamp>(|call| Ok(call.session.transaction_time));
    for name in ["now", "transaction_timestamp"] {
        c.add(scalar(name, &[], of::STAMPTZ, now()).stable());
    }
    let statement = f0::<Stamp>(|call| Ok(call.session.statement_time));
    c.add(scalar("statement_timestamp", &[], of::STAMPTZ, statement).stable());
    let moving = f0::<Stamp>(|_| Ok(clock()));
    c.add(scalar("clock_timestamp", &[], of::STAMPTZ, moving).volatile());
    c.add(time_of_day());
    let today = f0::<Date>(|call| calendar::date_from(local(call).div_euclid(DAY)));
    c.add(scalar("current_date", &[], of::DATE, today).stable());
    with_digits(
        c,
        "current_timestamp",
        of::STAMPTZ,
        now(),
        Type::TimestampTz,
    );
    let stamp = f0::<Stamp>(|call| Ok(local(call)));
    with_digits(c, "localtimestamp", of::STAMP, stamp, Type::Timestamp);
    let time = f0::<Time>(|call| Ok(local(call).rem_euclid(DAY)));
    with_digits(c, "localtime", of::TIME, time, Type::Time);
    let time = f0::<TimeTz>(|call| {
        let locale = settings(call);
        let east = locale.zone.east_at(locale.now);
        let local = locale.now + i64::from(east) * SECOND;
        Ok(timetz(local.rem_euclid(DAY), east))
    });
    with_digits(c, "current_time", of::TIMETZ, time, Type::TimeTz);
}

/// `timeofday`: the clock's time in a text such as `Wed Feb 26 15:47:27.123456 2020 EST`.
fn time_of_day() -> Scalar {
    let shown = f0::<Str>(|call| {
        let locale = Locale {
            style: DateStyle::Postgres,
            ..Locale::clone(&settings(call))
        };
        // All six decimals are shown.
        let now = clock();
        let text = write_stamp_tz(now / SECOND * SECOND, &locale);
        let (head, tail) = text.split_at(text.len().min(19));
        Ok(format!("{head}.{:06}{tail}", now % SECOND))
    });
    scalar("timeofday", &[], Type::Text, shown).volatile()
}
