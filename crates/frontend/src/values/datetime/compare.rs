//! Order of values of different types.
//!
//! A date is compared with a timestamp as its midnight, also where that is beyond the
//! timestamps; it is then still before infinity.

use std::cmp::Ordering;

use super::calendar::{self, DAY, SECOND};
use super::zone::Zone;

/// Midnight of a date, in microseconds since 1970, or an infinity.
fn midnight(date: i32) -> i128 {
    match date {
        calendar::LATE_DATE => i128::MAX,
        calendar::EARLY_DATE => i128::MIN,
        date => i128::from(date) * i128::from(DAY),
    }
}

/// A timestamp, with its infinities beyond all dates.
fn widened(stamp: i64) -> i128 {
    match stamp {
        calendar::LATE => i128::MAX,
        calendar::EARLY => i128::MIN,
        stamp => stamp.into(),
    }
}

/// The instant at which a zone's clock shows a time.
fn meant(local: i128, zone: &Zone) -> i128 {
    let Ok(stamp) = i64::try_from(local) else {
        return local;
    };
    local - i128::from(zone.east_of_local(stamp)) * i128::from(SECOND)
}

/// Compares a date and a timestamp.
pub fn compare_date_stamp(date: i32, stamp: i64) -> Ordering {
    midnight(date).cmp(&widened(stamp))
}

/// Compares a date, whose midnight is that of a zone, and an instant.
pub fn compare_date_instant(date: i32, instant: i64, zone: &Zone) -> Ordering {
    meant(midnight(date), zone).cmp(&widened(instant))
}

/// Compares a timestamp, which a zone's clock shows, and an instant.
pub fn compare_stamp_instant(stamp: i64, instant: i64, zone: &Zone) -> Ordering {
    meant(widened(stamp), zone).cmp(&widened(instant))
}

/// Compares two values of TIMETZ, each of microseconds and seconds east of UTC: by the time in
/// UTC, and then by the offset.
pub fn compare_timetz(a: (i64, i32), b: (i64, i32)) -> Ordering {
    let utc = |(time, east): (i64, i32)| i128::from(time) - i128::from(east) * 1_000_000;
    utc(a).cmp(&utc(b)).then(b.1.cmp(&a.1))
}

/// The microseconds and the seconds east of UTC of TIMETZ's bytes.
pub fn timetz_parts(bytes: [u8; 12]) -> (i64, i32) {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = bytes;
    let time = i64::from_le_bytes([a, b, c, d, e, f, g, h]);
    (time, i32::from_le_bytes([i, j, k, l]).saturating_neg())
}

/// The bytes of a TIMETZ of microseconds and seconds east of UTC.
pub fn timetz_bytes(time: i64, east: i32) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&time.to_le_bytes());
    bytes[8..].copy_from_slice(&east.saturating_neg().to_le_bytes());
    bytes
}
