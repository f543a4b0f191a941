//! Values in the binary form of PostgreSQL's protocol: `float8send` and its kin.
//!
//! ```text
//! int4send(258)           \x00000102
//! float4send(5e-20)       \x1f6c1e4a
//! date_send('2000-01-02') \x00000001
//! ```
//!
//! Numbers have their first byte first. Dates and times are counted from 2000.

use super::super::kernel::{Bool, Bytes, Date, F32, F64, I16, I32, I64, Input, Span, Stamp, Str};
use super::super::kernel::{Time, Uuid, f1};
use super::super::{Catalogue, scalar};
use crate::types::Type;
use crate::values::datetime::calendar::{DAY, DAYS_TO_2000};

/// Adds the chapter's functions.
pub(super) fn register(c: &mut Catalogue) {
    add::<Bool>(c, "boolsend", Type::Bool, |value| vec![value.into()]);
    add::<I16>(c, "int2send", Type::Int2, |value| {
        value.to_be_bytes().to_vec()
    });
    add::<I32>(c, "int4send", Type::Int4, |value| {
        value.to_be_bytes().to_vec()
    });
    add::<I64>(c, "int8send", Type::Int8, |value| {
        value.to_be_bytes().to_vec()
    });
    // It has 32 bits.
    add::<I64>(c, "oidsend", Type::Oid, |value| {
        (value as u32).to_be_bytes().to_vec()
    });
    add::<F32>(c, "float4send", Type::Float4, |value| {
        value.to_be_bytes().to_vec()
    });
    add::<F64>(c, "float8send", Type::Float8, |value| {
        value.to_be_bytes().to_vec()
    });
    add::<Str>(c, "textsend", Type::Text, |value| value.as_bytes().to_vec());
    add::<Bytes>(c, "byteasend", Type::Bytea, <[u8]>::to_vec);
    add::<Uuid>(c, "uuid_send", Type::Uuid, |value| value.to_vec());
    add::<Date>(c, "date_send", Type::Date, |value| {
        let days = match value {
            // The infinities.
            i32::MIN | i32::MAX => value,
            days => days.saturating_sub(DAYS_TO_2000 as i32),
        };
        days.to_be_bytes().to_vec()
    });
    add::<Time>(c, "time_send", Type::Time(None), |value| {
        value.to_be_bytes().to_vec()
    });
    add::<Stamp>(c, "timestamp_send", Type::Timestamp(None), stamp);
    add::<Stamp>(c, "timestamptz_send", Type::TimestampTz(None), stamp);
    add::<Span>(c, "interval_send", Type::Interval, |value| {
        let mut bytes = value.micros.to_be_bytes().to_vec();
        bytes.extend(value.days.to_be_bytes());
        bytes.extend(value.months.to_be_bytes());
        bytes
    });
}

fn stamp(value: i64) -> Vec<u8> {
    let micros = match value {
        i64::MIN | i64::MAX => value,
        micros => micros.saturating_sub(DAYS_TO_2000 * DAY),
    };
    micros.to_be_bytes().to_vec()
}

fn add<A: Input>(
    c: &mut Catalogue,
    name: &'static str,
    ty: Type,
    bytes: impl Fn(A::Item<'_>) -> Vec<u8> + Send + Sync + 'static,
) {
    let kernel = f1::<A, Bytes>(move |value| Ok(bytes(value)));
    c.add(scalar(name, &[ty], Type::Bytea, kernel));
}
