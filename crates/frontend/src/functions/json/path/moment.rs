//! Dates and times of `datetime`: reading, comparison and their text.
//!
//! Without a template the forms of ISO 8601 are read, with a blank or a `T` between date and
//! time. A template has the fields of `to_timestamp` that stand for parts of a date or a time;
//! which of them there are decides on the type.

use std::cmp::Ordering;

use crate::error::{Error, Result};
use crate::functions::Session;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The last year of dates.
const LAST_YEAR: i64 = 5_874_897;

/// A date or a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Days since 1970-01-01.
    Date(i64),
    /// Microseconds since midnight.
    Time(i64),
    /// The same, and seconds east of UTC.
    TimeTz(i64, i64),
    /// Microseconds since 1970-01-01.
    Stamp(i64),
    /// The same in local time, and seconds east of UTC.
    StampTz(i64, i64),
}

/// What was read.
#[derive(Default)]
struct Fields {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    micros: Option<i64>,
    /// Whether the hour is one of the second half of the day.
    afternoon: Option<bool>,
    /// Whether the hour is one of twelve.
    twelve: bool,
    zone_hour: Option<i64>,
    zone_minute: Option<i64>,
    zone_negative: bool,
}

impl Fields {
    /// The moment; none if a field is out of range.
    fn moment(&self) -> Option<Moment> {
        let has_date = self.year.or(self.month).or(self.day).is_some();
        let has_time = self
            .hour
            .or(self.minute)
            .or(self.second)
            .or(self.micros)
            .is_some();
        let date = self.days()?;
        let time = self.time()?;
        let zone = match (self.zone_hour, self.zone_minute) {
            (None, None) => None,
            (hour, minute) => {
                let size = hour.unwrap_or(0) * 3600 + minute.unwrap_or(0) * 60;
                Some(if self.zone_negative { -size } else { size })
            }
        };
        if zone.is_some_and(|zone| zone.abs() >= 16 * 3600) {
            return None;
        }
        Some(match (has_date, has_time, zone) {
            (true, false, _) => Moment::Date(date),
            (false, _, None) => Moment::Time(time),
            (false, _, Some(zone)) => Moment::TimeTz(time, zone),
            (true, true, None) => Moment::Stamp(stamp(date, time)?),
            (true, true, Some(zone)) => Moment::StampTz(stamp(date, time)?, zone),
        })
    }

    fn days(&self) -> Option<i64> {
        // A month or a day of 0 is one that is missing.
        let (year, month) = (self.year.unwrap_or(0), self.month.unwrap_or(1).max(1));
        let day = self.day.unwrap_or(1).max(1);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        let valid = (1..=length).contains(&day) && year <= LAST_YEAR;
        valid.then(|| days_of(year, month, day))
    }

    fn time(&self) -> Option<i64> {
        let mut hour = self.hour.unwrap_or(0);
        if self.twelve {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = match (self.afternoon, hour) {
                (Some(true), hour) if hour < 12 => hour + 12,
                (Some(false) | None, 12) => 0,
                _ => hour,
            };
        }
        let (minute, second) = (self.minute.unwrap_or(0), self.second.unwrap_or(0));
        let valid = (0..24).contains(&hour) && minute < 60 && second < 60;
        let seconds = (hour * 60 + minute) * 60 + second;
        valid.then(|| seconds * 1_000_000 + self.micros.unwrap_or(0))
    }
}

/// Microseconds since 1970-01-01 of a time of a day; none if timestamps end before it.
fn stamp(days: i64, time: i64) -> Option<i64> {
    days.checked_mul(DAY)?.checked_add(time)
}

/// Microseconds since 1970-01-01 of the midnight that a date begins with. Dates behind all
/// timestamps have as many as there can be.
fn midnight(days: i64) -> i64 {
    days.saturating_mul(DAY)
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of days since 1970-01-01.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days - era * 146_097;
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = years + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Takes digits, at most so many.
fn digits(text: &mut &str, most: usize) -> Option<i64> {
    let count = text
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    let (found, rest) = text.split_at_checked(count)?;
    *text = rest;
    found.parse().ok()
}

/// Takes a mark.
fn mark(text: &mut &str, wanted: char) -> Option<()> {
    *text = text.strip_prefix(wanted)?;
    Some(())
}

/// Takes a fraction of a second in microseconds.
fn fraction(text: &mut &str, most: usize) -> Option<i64> {
    let before = text.len();
    let value = digits(text, most)?;
    let taken = u32::try_from(before - text.len()).ok()?;
    match taken {
        0..=6 => Some(value * 10i64.pow(6 - taken)),
        _ => Some(value / 10i64.pow(taken - 6)),
    }
}

fn date(text: &mut &str, fields: &mut Fields) -> Option<()> {
    fields.year = Some(digits(text, 9)?);
    mark(text, '-')?;
    fields.month = Some(digits(text, 2)?);
    mark(text, '-')?;
    fields.day = Some(digits(text, 2)?);
    Some(())
}

fn time(text: &mut &str, fields: &mut Fields) -> Option<()> {
    fields.hour = Some(digits(text, 2)?);
    mark(text, ':')?;
    fields.minute = Some(digits(text, 2)?);
    mark(text, ':')?;
    fields.second = Some(digits(text, 2)?);
    if mark(text, '.').is_some() {
        fields.micros = Some(fraction(text, 6)?);
    }
    *text = text.trim_start_matches(' ');
    if text.is_empty() {
        return Some(());
    }
    fields.zone_negative = text.starts_with('-');
    *text = text.strip_prefix(['+', '-'])?;
    fields.zone_hour = Some(digits(text, 2)?);
    if mark(text, ':').is_some() {
        fields.zone_minute = Some(digits(text, 2).filter(|minute| *minute < 60)?);
    }
    Some(())
}

/// Reads a text of ISO 8601.
///
/// # Errors
/// `22031`.
pub(super) fn read(text: &str) -> Result<Moment> {
    let attempt = || {
        let mut rest = text.trim_start_matches(' ');
        let mut fields = Fields::default();
        if date(&mut rest, &mut fields).is_none() {
            fields = Fields::default();
            rest = text;
            time(&mut rest, &mut fields)?;
        } else if !rest.is_empty() {
            rest = rest.strip_prefix(['T', ' '])?.trim_start_matches(' ');
            if !rest.is_empty() {
                time(&mut rest, &mut fields)?;
            }
        }
        match rest.trim_start_matches(' ').is_empty() {
            true => fields.moment(),
            false => None,
        }
    };
    attempt().ok_or_else(|| {
        Error::new(
            "22031",
            format!("datetime format is not recognized: \"{text}\""),
        )
        .with_hint("Use a datetime template argument to specify the input data format.")
    })
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new("22007", message)
}

/// Months by the first three letters of their names.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Fields of a template, the longer ones first.
const FIELDS: [&str; 29] = [
    "month", "hh24", "hh12", "yyyy", "a.m.", "p.m.", "yyy", "mon", "tzh", "tzm", "ff1", "ff2",
    "ff3", "ff4", "ff5", "ff6", "yy", "mm", "dd", "hh", "mi", "ss", "ms", "us", "am", "pm", "fx",
    "fm", "y",
];

/// Reads a text by a template.
///
/// # Errors
/// `22007`, `22008`.
pub(super) fn read_by(text: &str, template: &str, _: bool, session: &Session) -> Result<Moment> {
    let mut fields = Fields::default();
    let mut rest = text;
    let mut form = template;
    while let Some(first) = form.chars().next() {
        let lower = form
            .get(..form.len().min(5))
            .unwrap_or(form)
            .to_ascii_lowercase();
        let field = FIELDS.iter().find(|field| lower.starts_with(**field));
        if let Some(field) = field {
            form = form.get(field.len()..).unwrap_or("");
            rest = rest.trim_start_matches(' ');
            // Digits that no field follows are taken all.
            let fixed = form.starts_with(|c: char| c.is_alphabetic());
            read_field(field, fixed, &mut rest, &mut fields, session)?;
            continue;
        }
        form = form.get(first.len_utf8()..).unwrap_or("");
        if first == '"' {
            while let Some(c) = form.chars().next() {
                form = form.get(c.len_utf8()..).unwrap_or("");
                if c == '"' {
                    break;
                }
                let found = rest.strip_prefix(c);
                rest = found.ok_or_else(|| unmatched("character", c, rest))?;
            }
            continue;
        }
        if !"-./,':; ".contains(first) {
            return Err(wrong(format!(
                "invalid datetime format separator: \"{first}\""
            )));
        }
        let found = rest.strip_prefix(first);
        rest = found.ok_or_else(|| unmatched("separator", first, rest))?;
    }
    if !rest.trim_start_matches(' ').is_empty() {
        return Err(wrong(
            "trailing characters remain in input string after datetime format",
        ));
    }
    fields.moment().ok_or_else(|| {
        Error::new(
            "22008",
            format!("date/time field value out of range: \"{text}\""),
        )
    })
}

fn unmatched(what: &str, wanted: char, rest: &str) -> Error {
    match rest.is_empty() {
        true => wrong("input string is too short for datetime format"),
        false => wrong(format!("unmatched format {what} \"{wanted}\"")),
    }
}

fn read_field(
    field: &str,
    fixed: bool,
    rest: &mut &str,
    fields: &mut Fields,
    session: &Session,
) -> Result<()> {
    if matches!(field, "fx" | "fm") {
        return Ok(());
    }
    if rest.is_empty() {
        return Err(wrong("input string is too short for datetime format"));
    }
    let start = *rest;
    let shown = field.to_ascii_uppercase();
    let bad = || {
        let found = start.chars().take(field.len()).collect::<String>();
        wrong(format!("invalid value \"{found}\" for \"{shown}\""))
            .with_detail("Value must be an integer.")
    };
    let mut number = |most| digits(rest, if fixed { most } else { 9 }).ok_or_else(bad);
    match field {
        "yyyy" => fields.year = Some(number(4)?),
        "yyy" | "yy" | "y" => {
            let now = date_of(session.transaction_time.div_euclid(DAY)).0;
            let year = number(field.len())?;
            let base = 10i64.pow(field.len() as u32);
            let near = match field {
                _ if year >= base => year,
                "yy" if year < 70 => 2000 + year,
                "yy" => 1900 + year,
                _ => now / base * base + year,
            };
            fields.year = Some(near);
        }
        "mm" => fields.month = Some(number(2)?),
        "dd" => fields.day = Some(number(2)?),
        "hh24" => fields.hour = Some(number(2)?),
        "hh12" | "hh" => {
            fields.hour = Some(number(2)?);
            fields.twelve = true;
        }
        "mi" => fields.minute = Some(number(2)?),
        "ss" => fields.second = Some(number(2)?),
        "ms" => fields.micros = Some(fraction(rest, 3).ok_or_else(bad)?),
        "us" => fields.micros = Some(fraction(rest, 6).ok_or_else(bad)?),
        "am" | "pm" | "a.m." | "p.m." => {
            let word = rest.get(..field.len()).unwrap_or("").to_ascii_lowercase();
            fields.afternoon = match word.chars().next() {
                Some('a') => Some(false),
                Some('p') => Some(true),
                _ => return Err(bad()),
            };
            fields.twelve = true;
            *rest = rest.get(field.len()..).unwrap_or("");
        }
        "tzh" => {
            fields.zone_negative = rest.starts_with('-');
            *rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            fields.zone_hour = Some(digits(rest, 2).ok_or_else(bad)?);
        }
        "tzm" => fields.zone_minute = Some(number(2)?),
        "mon" | "month" => {
            let lower = rest.to_ascii_lowercase();
            let found = MONTHS.iter().position(|month| match field {
                "mon" => lower.starts_with(&month[..3]),
                _ => lower.starts_with(month),
            });
            let found = found.ok_or_else(|| {
                let word: String = start.chars().take(3).collect();
                wrong(format!("invalid value \"{word}\" for \"{shown}\"")).with_detail(
                    "The given value did not match any of the allowed values for this field.",
                )
            })?;
            let length = if field == "mon" {
                3
            } else {
                MONTHS[found].len()
            };
            *rest = rest.get(length..).unwrap_or("");
            fields.month = Some(found as i64 + 1);
        }
        // ff1 to ff6.
        _ => {
            let most = usize::from(field.as_bytes().get(2).map_or(6, |b| b - b'0'));
            fields.micros = Some(fraction(rest, most).ok_or_else(bad)?);
        }
    }
    Ok(())
}

impl Moment {
    /// The name that `type` gives.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Moment::Date(_) => "date",
            Moment::Time(_) => "time without time zone",
            Moment::TimeTz(..) => "time with time zone",
            Moment::Stamp(_) => "timestamp without time zone",
            Moment::StampTz(..) => "timestamp with time zone",
        }
    }

    /// The text in ISO 8601.
    pub(super) fn text(&self) -> String {
        match self {
            Moment::Date(days) => dated(*days, ""),
            Moment::Time(micros) => clock(*micros),
            Moment::TimeTz(micros, zone) => clock(*micros) + &offset(*zone),
            Moment::Stamp(micros) => stamped(*micros, ""),
            Moment::StampTz(micros, zone) => stamped(*micros, &offset(*zone)),
        }
    }
}

fn dated(days: i64, behind: &str) -> String {
    let (year, month, day) = date_of(days);
    match year {
        ..=0 => format!("{:04}-{month:02}-{day:02}{behind} BC", 1 - year),
        _ => format!("{year:04}-{month:02}-{day:02}{behind}"),
    }
}

fn stamped(micros: i64, zone: &str) -> String {
    let behind = format!("T{}{zone}", clock(micros.rem_euclid(DAY)));
    dated(micros.div_euclid(DAY), &behind)
}

fn clock(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let text = format!("{hour:02}:{minute:02}:{second:02}");
    match micros % 1_000_000 {
        0 => text,
        part => format!("{text}.{part:06}").trim_end_matches('0').to_owned(),
    }
}

fn offset(zone: i64) -> String {
    let sign = if zone < 0 { '-' } else { '+' };
    let size = zone.abs();
    format!("{sign}{:02}:{:02}", size / 3600, size / 60 % 60)
}

/// The order of two moments; none if their types have nothing in common.
///
/// # Errors
/// `0A000` if the session's time zone decides, and may not be used.
pub(super) fn compare(
    a: &Moment,
    b: &Moment,
    zone: bool,
    session: &Session,
) -> Result<Option<Ordering>> {
    use Moment::{Date, Stamp, StampTz, Time, TimeTz};
    let needed = |from: &str, to: &str| match zone {
        true => Ok(()),
        false => Err(Error::unsupported(format!(
            "cannot convert value from {from} to {to} without time zone usage"
        ))
        .with_hint("Use *_tz() function for time zone support.")),
    };
    let in_utc = |local: i64, zone: i64| local - zone * 1_000_000;
    Ok(Some(match (a, b) {
        (Date(a), Date(b)) => a.cmp(b),
        (Date(a), Stamp(b)) => midnight(*a).cmp(b),
        (Stamp(a), Date(b)) => a.cmp(&midnight(*b)),
        (Stamp(a), Stamp(b)) | (Time(a), Time(b)) => a.cmp(b),
        (StampTz(a, x), StampTz(b, y)) => in_utc(*a, *x).cmp(&in_utc(*b, *y)),
        (TimeTz(a, x), TimeTz(b, y)) => {
            let order = in_utc(*a, *x).cmp(&in_utc(*b, *y));
            order.then(y.cmp(x))
        }
        (Date(a), StampTz(b, zone)) => {
            needed("date", "timestamptz")?;
            local(midnight(*a), session).cmp(&in_utc(*b, *zone))
        }
        (Stamp(a), StampTz(b, zone)) => {
            needed("timestamp", "timestamptz")?;
            local(*a, session).cmp(&in_utc(*b, *zone))
        }
        (Time(a), TimeTz(b, zone)) => {
            needed("time", "timetz")?;
            let here = zone_now(session);
            in_utc(*a, here)
                .cmp(&in_utc(*b, *zone))
                .then(zone.cmp(&here))
        }
        (StampTz(..), Date(_) | Stamp(_)) | (TimeTz(..), Time(_)) => {
            return Ok(compare(b, a, zone, session)?.map(Ordering::reverse));
        }
        _ => return Ok(None),
    }))
}

/// Microseconds in UTC of a local time of the session's zone.
fn local(micros: i64, session: &Session) -> i64 {
    let seek = || {
        let zone = jiff::tz::TimeZone::get(&session.time_zone).ok()?;
        let (year, month, day) = date_of(micros.div_euclid(DAY));
        let seconds = micros.rem_euclid(DAY) / 1_000_000;
        let civil = jiff::civil::DateTime::new(
            year.try_into().ok()?,
            month.try_into().ok()?,
            day.try_into().ok()?,
            (seconds / 3600).try_into().ok()?,
            (seconds / 60 % 60).try_into().ok()?,
            (seconds % 60).try_into().ok()?,
            0,
        );
        let instant = zone.to_ambiguous_timestamp(civil.ok()?).compatible().ok()?;
        Some(instant.as_second() * 1_000_000 + micros.rem_euclid(1_000_000))
    };
    seek().unwrap_or(micros)
}

/// Seconds east of UTC of the session's zone at the transaction's time.
fn zone_now(session: &Session) -> i64 {
    let seek = || {
        let zone = jiff::tz::TimeZone::get(&session.time_zone).ok()?;
        let now = jiff::Timestamp::from_microsecond(session.transaction_time).ok()?;
        Some(i64::from(zone.to_offset(now).seconds()))
    };
    seek().unwrap_or(0)
}
