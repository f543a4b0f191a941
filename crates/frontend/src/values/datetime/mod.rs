//! Dates and times: the calendar, time zones, and what texts mean and look like.
//!
//! Values are integers: days and microseconds since 1970-01-01. The least and the greatest
//! integer are the infinities.
//!
//! ```text
//! text ──lex──▶ fields ──read──▶ Parts (year, month, …, offset) ──calendar──▶ integer
//! integer ──calendar──▶ Parts ──write──▶ text
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `calendar` | days to year, month and day, and back; sums of times and intervals |
//! | `compare` | the order of values of different types |
//! | `zone` | time zones: offsets of instants and of local times |
//! | `lex` | a text's fields: numbers, dates, times, words |
//! | `read` | fields to dates and times |
//! | `write` | dates and times to text |
//! | `span_read`, `span_write` | intervals to and from text |
//!
//! Timestamps end in the year 294247, where the microseconds since 1970 do; PostgreSQL, which
//! counts from 2000, has 30 years more.

mod abbreviations;
pub mod calendar;
mod compare;
mod lex;
mod read;
mod span_read;
mod span_write;
mod words;
mod write;
pub mod zone;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};

pub use calendar::{Parts, add_interval, add_interval_in, date_from, is_finite_date};
pub use compare::{
    compare_date_instant, compare_date_stamp, compare_stamp_instant, compare_timetz, timetz_bytes,
    timetz_parts,
};
pub(crate) use read::{Sane, sane_zone};
pub use read::{read_date, read_stamp, read_stamp_tz, read_time, read_timetz};
pub use span_read::{SpanField, SpanFields, read_interval};
pub use span_write::write_interval;
pub(crate) use words::{Unit, field, unit};
pub use write::{write_date, write_stamp, write_stamp_tz, write_time, write_timetz};
pub use zone::{Zone, shown_zone, zone_exists};

/// The order of numbers in a date such as `1/2/2003`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DateOrder {
    /// Month, day, year.
    #[default]
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
}

/// How dates and times are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DateStyle {
    /// `2003-02-01 04:05:06+00`.
    #[default]
    Iso,
    /// `02/01/2003 04:05:06 UTC`.
    Sql,
    /// `Sat Feb 01 04:05:06 2003 UTC`.
    Postgres,
    /// `01.02.2003 04:05:06 UTC`.
    German,
}

/// How intervals are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum IntervalStyle {
    /// `1 year 2 mons 03:00:00`.
    #[default]
    Postgres,
    /// `@ 1 year 2 mons 3 hours`.
    Verbose,
    /// `+1-2 +0 +3:00:00`.
    Standard,
    /// `P1Y2MT3H`.
    Iso8601,
}

/// The settings and the time that texts of dates and times depend on.
#[derive(Clone, Debug, Default)]
pub struct Locale {
    /// The session's zone.
    pub zone: Zone,
    /// How dates and times are shown.
    pub style: DateStyle,
    /// The order of numbers in dates.
    pub order: DateOrder,
    /// How intervals are shown.
    pub intervals: IntervalStyle,
    /// The instant that `now` means.
    pub now: i64,
}

impl Locale {
    /// The settings of the names that PostgreSQL's variables have: `TimeZone`, `DateStyle` and
    /// `IntervalStyle`. A name that means nothing stands for the default.
    pub fn new(zone: &str, date_style: &str, interval_style: &str, now: i64) -> Self {
        let mut locale = Self {
            zone: Zone::of_setting(zone).unwrap_or_default(),
            now,
            ..Self::default()
        };
        for word in date_style.split(',') {
            match word.trim().to_ascii_lowercase().as_str() {
                "iso" => locale.style = DateStyle::Iso,
                "sql" => locale.style = DateStyle::Sql,
                "postgres" | "postgresql" => locale.style = DateStyle::Postgres,
                "german" => {
                    locale.style = DateStyle::German;
                    locale.order = DateOrder::Dmy;
                }
                "mdy" | "us" | "noneuro" | "noneuropean" => locale.order = DateOrder::Mdy,
                "dmy" | "euro" | "european" => locale.order = DateOrder::Dmy,
                "ymd" => locale.order = DateOrder::Ymd,
                _ => {}
            }
        }
        locale.intervals = match interval_style.to_ascii_lowercase().as_str() {
            "postgres_verbose" => IntervalStyle::Verbose,
            "sql_standard" => IntervalStyle::Standard,
            "iso_8601" => IntervalStyle::Iso8601,
            _ => IntervalStyle::Postgres,
        };
        locale
    }
}

/// The reason for which a text is no date, time or interval.
#[derive(Debug)]
enum Refused {
    /// It has no meaning.
    Format,
    /// A number is too large or too small.
    Field,
    /// The number of a month or a day is, perhaps because of the order of numbers.
    MonthOrDay,
    /// An offset from UTC is.
    Offset,
    /// Another error.
    Other(Box<Error>),
}

impl Refused {
    /// The error for a text that was to be of a type.
    fn error(self, ty: &str, text: &str) -> Error {
        match self {
            Self::Format => Error::new(
                "22007",
                format!("invalid input syntax for type {ty}: \"{text}\""),
            ),
            Self::Field if ty == "interval" => Error::new(
                "22015",
                format!("interval field value out of range: \"{text}\""),
            ),
            Self::Field => field_out_of_range(text),
            Self::MonthOrDay => field_out_of_range(text)
                .with_hint("Perhaps you need a different \"datestyle\" setting."),
            Self::Offset => Error::new(
                "22009",
                format!("time zone displacement out of range: \"{text}\""),
            ),
            Self::Other(error) => *error,
        }
    }
}

/// A time of day with so many digits of seconds.
pub fn round_time(time: i64, digits: u8) -> i64 {
    calendar::round(time, digits).unwrap_or(time)
}

/// A timestamp with so many digits of seconds. Halves are rounded away from 2000-01-01.
///
/// # Errors
/// `22008`.
pub fn round_stamp(stamp: i64, digits: u8) -> Result<i64> {
    const MIDDLE: i64 = calendar::DAYS_TO_2000 * calendar::DAY;
    if digits >= 6 || !calendar::is_finite(stamp) {
        return Ok(stamp);
    }
    let rounded = || {
        let rounded = calendar::round(stamp.checked_sub(MIDDLE)?, digits)?;
        rounded
            .checked_add(MIDDLE)
            .filter(|stamp| calendar::is_stamp(*stamp))
    };
    rounded().ok_or_else(stamp_out_of_range)
}

fn field_out_of_range(text: &str) -> Error {
    Error::new(
        "22008",
        format!("date/time field value out of range: \"{text}\""),
    )
}

/// `22008` for timestamps.
pub(crate) fn stamp_out_of_range() -> Error {
    Error::new("22008", "timestamp out of range")
}

/// `22008` for dates.
pub(crate) fn date_out_of_range() -> Error {
    Error::new("22008", "date out of range")
}

/// `22008` for intervals.
pub(crate) fn interval_out_of_range() -> Error {
    Error::new("22008", "interval out of range")
}
