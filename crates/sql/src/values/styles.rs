//! How values are shown: the settings `DateStyle`, `IntervalStyle`, `extra_float_digits` and
//! `bytea_output`.
//!
//! ```text
//! DateStyle           'ISO, MDY'    2003-02-01      'German, DMY'       01.02.2003
//! IntervalStyle       postgres      1 day 02:00:00  iso_8601            P1DT2H
//! extra_float_digits  1             0.30000000000000004             0   0.3
//! bytea_output        hex           \x4100          escape              A\000
//! ```

use freestone_frontend::functions::read_range;
use freestone_frontend::types::{RangeOf, Type};
use freestone_frontend::values::datetime::{DateOrder, DateStyle, IntervalStyle, Locale, Zone};

use crate::error::{Error, Result};

pub(crate) const DATE_STYLE: &str = "datestyle";
pub(crate) const INTERVAL_STYLE: &str = "intervalstyle";
pub(crate) const FLOAT_DIGITS: &str = "extra_float_digits";
pub(crate) const BYTEA_OUTPUT: &str = "bytea_output";

/// Their names.
pub(crate) const NAMES: [&str; 4] = [BYTEA_OUTPUT, DATE_STYLE, FLOAT_DIGITS, INTERVAL_STYLE];

/// How values are shown as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Styles {
    pub(crate) dates: DateStyle,
    pub(crate) order: DateOrder,
    pub(crate) intervals: IntervalStyle,
    /// 1 stands for all numbers above 0: the digits that tell a number from all others.
    pub(crate) float_digits: i32,
    pub(crate) escapes_bytes: bool,
}

impl Default for Styles {
    fn default() -> Self {
        Self {
            dates: DateStyle::default(),
            order: DateOrder::default(),
            intervals: IntervalStyle::default(),
            float_digits: 1,
            escapes_bytes: false,
        }
    }
}

impl Styles {
    /// The styles that the values of settings ask for, as [`checked`] gives them.
    pub(crate) fn of(setting: impl Fn(&str) -> Option<String>) -> Self {
        let own = Self::default();
        let dates =
            setting(DATE_STYLE).and_then(|value| date_style(&value, (own.dates, own.order)).ok());
        let (dates, order) = dates.unwrap_or((own.dates, own.order));
        let intervals = setting(INTERVAL_STYLE).and_then(|value| interval_style(&value));
        let digits = setting(FLOAT_DIGITS).and_then(|value| value.parse::<i32>().ok());
        Self {
            dates,
            order,
            intervals: intervals.unwrap_or(own.intervals),
            float_digits: digits.unwrap_or(own.float_digits).min(own.float_digits),
            escapes_bytes: setting(BYTEA_OUTPUT).is_some_and(|value| value == "escape"),
        }
    }

    /// The bytes that hold a range, or with `many` a multirange, of a text that is shown in these
    /// styles.
    ///
    /// # Errors
    /// `22P02` for a text that shows none.
    pub fn range(&self, of: RangeOf, many: bool, text: &str) -> Result<Vec<u8>> {
        let ty = match many {
            true => Type::Multirange(of),
            false => Type::Range(of),
        };
        Ok(read_range(&ty, text, &self.locale(Zone::default()))?)
    }

    /// The settings that texts of dates and times depend on, with the zone of instants.
    pub(crate) fn locale(&self, zone: Zone) -> Locale {
        Locale {
            zone,
            style: self.dates,
            order: self.order,
            intervals: self.intervals,
            now: 0,
        }
    }
}

/// A value of one of these settings as SHOW prints it; `now` is the one that it has.
///
/// # Errors
/// `22023` for a value that it cannot have.
pub(crate) fn checked(name: &str, value: &str, now: &str) -> Result<String> {
    let refuse = |hint: &str| {
        let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
        Error::new("22023", message).with_hint(hint.to_owned())
    };
    match name {
        DATE_STYLE => {
            let own = Styles::default();
            let now = date_style(now, (own.dates, own.order)).unwrap_or((own.dates, own.order));
            let (style, order) = date_style(value, now).map_err(|fault| match fault {
                Fault::Unknown => {
                    refuse("give ISO, SQL, Postgres or German, and MDY, DMY or YMD: 'ISO, DMY'")
                }
                Fault::Conflict => refuse("it names two styles, or two orders"),
            })?;
            let style = match style {
                DateStyle::Iso => "ISO",
                DateStyle::Sql => "SQL",
                DateStyle::Postgres => "Postgres",
                DateStyle::German => "German",
            };
            let order = match order {
                DateOrder::Mdy => "MDY",
                DateOrder::Dmy => "DMY",
                DateOrder::Ymd => "YMD",
            };
            Ok(format!("{style}, {order}"))
        }
        INTERVAL_STYLE => match interval_style(value) {
            Some(_) => Ok(value.to_ascii_lowercase()),
            None => Err(refuse(
                "give postgres, postgres_verbose, sql_standard or iso_8601",
            )),
        },
        _ => match value.to_ascii_lowercase() {
            value if value == "hex" || value == "escape" => Ok(value),
            _ => Err(refuse("give hex or escape")),
        },
    }
}

fn interval_style(text: &str) -> Option<IntervalStyle> {
    Some(match text.to_ascii_lowercase().as_str() {
        "postgres" => IntervalStyle::Postgres,
        "postgres_verbose" => IntervalStyle::Verbose,
        "sql_standard" => IntervalStyle::Standard,
        "iso_8601" => IntervalStyle::Iso8601,
        _ => return None,
    })
}

/// The reason for which a text is no `DateStyle`.
#[derive(Debug)]
enum Fault {
    /// It has a word that there is not.
    Unknown,
    /// Two words say different things.
    Conflict,
}

/// A style and an order of numbers; where a text says nothing, they stay as they are.
fn date_style(text: &str, now: (DateStyle, DateOrder)) -> Result<(DateStyle, DateOrder), Fault> {
    let (mut style, mut order) = (None, None);
    // German dates begin with the day, unless the text says otherwise.
    let mut german = false;
    if text.trim().is_empty() {
        return Ok(now);
    }
    for word in text.split(',') {
        let word = word.trim().trim_matches('"').to_ascii_lowercase();
        let begins = |start: &str| word.starts_with(start);
        let (said_style, said_order) = match word.as_str() {
            "iso" => (Some(DateStyle::Iso), None),
            "sql" => (Some(DateStyle::Sql), None),
            "german" => (Some(DateStyle::German), None),
            _ if begins("postgres") => (Some(DateStyle::Postgres), None),
            "ymd" => (None, Some(DateOrder::Ymd)),
            "dmy" => (None, Some(DateOrder::Dmy)),
            _ if begins("euro") => (None, Some(DateOrder::Dmy)),
            "mdy" | "us" => (None, Some(DateOrder::Mdy)),
            _ if begins("noneuro") => (None, Some(DateOrder::Mdy)),
            "default" => {
                let own = Styles::default();
                style = style.or(Some(own.dates));
                order = order.or(Some(own.order));
                continue;
            }
            _ => return Err(Fault::Unknown),
        };
        let clashes = said_style.is_some_and(|said| style.is_some_and(|style| style != said))
            || said_order.is_some_and(|said| order.is_some_and(|order| order != said));
        if clashes {
            return Err(Fault::Conflict);
        }
        german |= said_style == Some(DateStyle::German);
        style = said_style.or(style);
        order = said_order.or(order);
    }
    let order = order.or(german.then_some(DateOrder::Dmy));
    Ok((style.unwrap_or(now.0), order.unwrap_or(now.1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As PostgreSQL's SHOW prints them.
    #[test]
    fn values_are_checked_and_completed() {
        for (name, now, value, shown) in [
            (DATE_STYLE, "ISO, MDY", "dmy", "ISO, DMY"),
            (DATE_STYLE, "ISO, DMY", "sql", "SQL, DMY"),
            (DATE_STYLE, "ISO, MDY", "German", "German, DMY"),
            (DATE_STYLE, "ISO, MDY", "German, YMD", "German, YMD"),
            (DATE_STYLE, "ISO, MDY", "ymd, german", "German, YMD"),
            (DATE_STYLE, "SQL, DMY", "US,Postgres", "Postgres, MDY"),
            (DATE_STYLE, "ISO, MDY", "European", "ISO, DMY"),
            (DATE_STYLE, "SQL, YMD", "default", "ISO, MDY"),
            (DATE_STYLE, "SQL, DMY", "NonEuropean", "SQL, MDY"),
            (DATE_STYLE, "ISO, MDY", "PostgreSQL", "Postgres, MDY"),
            (DATE_STYLE, "ISO, MDY", "iso, iso", "ISO, MDY"),
            (DATE_STYLE, "SQL, DMY", "", "SQL, DMY"),
            (INTERVAL_STYLE, "postgres", "ISO_8601", "iso_8601"),
            (BYTEA_OUTPUT, "hex", "Escape", "escape"),
        ] {
            assert_eq!(checked(name, value, now).unwrap(), shown, "{name} {value}");
        }
        for (name, value) in [
            (DATE_STYLE, "isoo"),
            (DATE_STYLE, "iso, sql"),
            (DATE_STYLE, "mdy, dmy"),
            (DATE_STYLE, "iso,"),
            (INTERVAL_STYLE, "verbose"),
            (BYTEA_OUTPUT, "base64"),
        ] {
            let error = checked(name, value, "").unwrap_err();
            assert_eq!(error.sqlstate, "22023", "{name} {value}");
        }
    }
}
