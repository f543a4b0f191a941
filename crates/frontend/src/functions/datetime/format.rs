//! `to_char` of timestamps and intervals.
//!
//! ```text
//! to_char(timestamp '2003-02-01 16:05:06', 'Day, DD Month YYYY HH12:MI PM')
//! Saturday , 01 February  2003 04:05 PM
//! ```

use std::fmt::Write;

use super::super::kernel::{Opt, Span, Stamp, Str, w2};
use super::super::{Catalogue, scalar};
use super::template::{DAYS, Ending, Key, Letters, MONTHS, Node, Pattern, ROMAN, nodes};
use super::{of, settings};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::Interval;
use crate::values::datetime::calendar::{self, DAY, HOUR, MINUTE, Parts, SECOND};
use crate::values::datetime::zone::Clock;

/// Most bytes of a result.
const LIMIT: usize = 1 << 30;

/// A date and time, or an interval, in parts.
struct Shown {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micro: i64,
    day_of_year: i64,
    /// Days since 1970-01-01; `None` for an interval.
    days: Option<i64>,
    clock: Option<Clock>,
}

impl Shown {
    fn of_stamp(local: i64, clock: Option<Clock>) -> Self {
        let parts = Parts::of_stamp(local);
        let days = local.div_euclid(DAY);
        let first = calendar::days_of(parts.year.into(), 1, 1);
        Self {
            year: parts.year.into(),
            month: parts.month.into(),
            day: parts.day.into(),
            hour: parts.hour.into(),
            minute: parts.minute.into(),
            second: parts.second.into(),
            micro: parts.micro.into(),
            day_of_year: days - first + 1,
            days: Some(days),
            clock,
        }
    }

    fn of_interval(span: &Interval) -> Self {
        Self {
            year: i64::from(span.months) / 12,
            month: i64::from(span.months) % 12,
            day: span.days.into(),
            hour: span.micros / HOUR,
            minute: span.micros / MINUTE % 60,
            second: span.micros / SECOND % 60,
            micro: span.micros % SECOND,
            day_of_year: i64::from(span.months) * 30 + i64::from(span.days),
            days: None,
            clock: None,
        }
    }

    /// The days of a date, which an interval has not.
    fn date(&self) -> Result<i64> {
        self.days.ok_or_else(|| {
            Error::new(
                "22007",
                "invalid format specification for an interval value",
            )
            .with_hint("Intervals are not tied to specific calendar dates.")
        })
    }

    /// A year as it is shown: 1 BC is 1.
    fn shown_year(&self, year: i64) -> i64 {
        if self.days.is_some() && year <= 0 {
            1 - year
        } else {
            year
        }
    }

    /// The ISO 8601 year and week; an interval's parts are taken for a date's.
    fn iso(&self) -> (i64, i64) {
        let (year, week) = calendar::iso_week(self.day_number());
        (year, week.into())
    }

    fn day_number(&self) -> i64 {
        let days = calendar::days_of(self.year, self.month, self.day);
        self.days.unwrap_or(days)
    }
}

/// Appends a number with at least some digits, and one more place for a minus.
fn number(out: &mut String, value: i64, width: usize, fill: bool) {
    let width = match (fill, value < 0) {
        (true, _) => 0,
        (false, true) => width + 1,
        (false, false) => width,
    };
    let _ = write!(out, "{value:0width$}");
}

/// Appends an ordinal's ending to the number behind a place.
fn ordinal(out: &mut String, from: usize, ending: Ending) {
    let digits = out.as_bytes().get(from..).unwrap_or(&[]);
    let teens = digits.len() > 1 && digits[digits.len() - 2] == b'1';
    let text = match digits.last() {
        Some(b'1') if !teens => "st",
        Some(b'2') if !teens => "nd",
        Some(b'3') if !teens => "rd",
        _ => "th",
    };
    match ending {
        Ending::None => {}
        Ending::Small => out.push_str(text),
        Ending::Capital => out.push_str(&text.to_ascii_uppercase()),
    }
}

/// Appends a name, with blanks up to a width.
fn name(out: &mut String, text: &str, pattern: &Pattern, width: usize) {
    let width = match pattern.fill || pattern.translated {
        true => 0,
        false => width,
    };
    let text = match pattern.letters {
        Letters::Capital => text.to_ascii_uppercase(),
        Letters::Small => text.to_ascii_lowercase(),
        Letters::Title => text.to_owned(),
    };
    let _ = write!(out, "{text:width$}");
}

/// One of two texts, in the pattern's letters.
fn choice(out: &mut String, second: bool, texts: [&str; 2], pattern: &Pattern) {
    let text = texts[usize::from(second)];
    match pattern.letters {
        Letters::Small => out.push_str(&text.to_ascii_lowercase()),
        _ => out.push_str(text),
    }
}

fn append(out: &mut String, pattern: &Pattern, value: &Shown) -> Result<()> {
    let fill = pattern.fill;
    let start = out.len();
    let of_half = || match value.hour % 12 {
        0 => 12,
        hour => hour,
    };
    let mut numbered = true;
    let negative = value.shown_year(value.year) < 0;
    match pattern.key {
        Key::Noon | Key::NoonDotted => {
            let texts = match pattern.key {
                Key::Noon => ["AM", "PM"],
                _ => ["A.M.", "P.M."],
            };
            choice(out, value.hour % 24 >= 12, texts, pattern);
            numbered = false;
        }
        Key::Era | Key::EraDotted => {
            value.date()?;
            let texts = match pattern.key {
                Key::Era => ["AD", "BC"],
                _ => ["A.D.", "B.C."],
            };
            choice(out, value.year <= 0, texts, pattern);
            numbered = false;
        }
        Key::Hour12 => {
            // The width goes by the whole hour's sign.
            let width = if value.hour < 0 { 3 } else { 2 };
            let width = if fill { 0 } else { width };
            let _ = write!(out, "{:0width$}", of_half());
        }
        Key::Hour24 => number(out, value.hour, 2, fill),
        Key::Minute => number(out, value.minute, 2, fill),
        Key::Second => number(out, value.second, 2, fill),
        Key::Fraction(digits) => fraction(out, value.micro, digits),
        Key::Millisecond => fraction(out, value.micro, 3),
        Key::Microsecond => fraction(out, value.micro, 6),
        Key::SecondOfDay => {
            let seconds = value.hour * 3600 + value.minute * 60 + value.second;
            let _ = write!(out, "{seconds}");
        }
        Key::Zone => {
            value.date()?;
            if let Some(clock) = &value.clock {
                match pattern.letters {
                    Letters::Small => out.push_str(&clock.abbreviation.to_ascii_lowercase()),
                    _ => out.push_str(&clock.abbreviation),
                }
            }
            numbered = false;
        }
        Key::ZoneHour | Key::ZoneMinute | Key::Offset => {
            value.date()?;
            let east = value.clock.as_ref().map_or(0, |clock| clock.east);
            let sign = if east < 0 { '-' } else { '+' };
            let (hours, minutes) = (east.abs() / 3600, east.abs() % 3600 / 60);
            let _ = match pattern.key {
                Key::ZoneHour => write!(out, "{sign}{hours:02}"),
                Key::ZoneMinute => write!(out, "{minutes:02}"),
                _ if fill => write!(out, "{sign}{hours}"),
                _ => write!(out, "{sign}{hours:02}"),
            };
            if pattern.key == Key::Offset && east % 3600 != 0 {
                let _ = write!(out, ":{minutes:02}");
            }
            numbered = false;
        }
        Key::MonthName | Key::MonthShort => {
            value.date()?;
            let text = MONTHS
                .get((value.month - 1) as usize)
                .copied()
                .unwrap_or("");
            match pattern.key {
                Key::MonthName => name(out, text, pattern, 9),
                _ => name(out, &text[..3], pattern, 0),
            }
            numbered = false;
        }
        Key::DayName | Key::DayShort => {
            let text = DAYS[calendar::weekday(value.date()?) as usize];
            match pattern.key {
                Key::DayName => name(out, text, pattern, 9),
                _ => name(out, &text[..3], pattern, 0),
            }
            numbered = false;
        }
        Key::Month => number(out, value.month, 2, fill),
        Key::DayOfYear => plain(out, value.day_of_year, 3, fill),
        Key::IsoDayOfYear => {
            let start = calendar::iso_year_start(value.iso().0);
            plain(out, value.day_number() - start + 1, 3, fill);
        }
        Key::Day => plain(out, value.day, 2, fill),
        Key::Weekday => {
            let _ = write!(out, "{}", calendar::weekday(value.date()?) + 1);
        }
        Key::IsoWeekday => {
            let _ = write!(out, "{}", (calendar::weekday(value.date()?) + 6) % 7 + 1);
        }
        Key::Week => plain(out, (value.day_of_year - 1) / 7 + 1, 2, fill),
        Key::IsoWeek => plain(out, value.iso().1, 2, fill),
        Key::WeekOfMonth => {
            let _ = write!(out, "{}", (value.day - 1) / 7 + 1);
        }
        Key::Quarter if value.month == 0 => numbered = false,
        Key::Quarter => {
            let _ = write!(out, "{}", (value.month - 1) / 3 + 1);
        }
        Key::Century => {
            let century = match (value.days.is_some(), value.year) {
                (false, year) => year / 100,
                (true, year @ 1..) => (year - 1) / 100 + 1,
                (true, year) => year / 100 - 1,
            };
            number(out, century, 2, fill || century.abs() > 99);
        }
        Key::YearComma => {
            let year = value.shown_year(value.year);
            let _ = write!(out, "{},{:03}", year / 1000, year % 1000);
        }
        Key::Year(digits) => {
            year(out, value.shown_year(value.year), digits, fill, negative);
        }
        Key::IsoYear(digits) => {
            year(out, value.shown_year(value.iso().0), digits, fill, negative);
        }
        Key::Roman => {
            numbered = false;
            let at = match (value.month, value.year) {
                (0, 0) => None,
                (0, 1..) => Some(11),
                (0, _) => Some(0),
                (month @ ..0, _) => Some(12 + month),
                (month, _) => Some(month - 1),
            };
            if let Some(text) = at.and_then(|at| ROMAN.get(at as usize)) {
                let width = if fill { 0 } else { 4 };
                let small = pattern.letters == Letters::Small;
                let text = if small {
                    text.to_ascii_lowercase()
                } else {
                    text.to_string()
                };
                let _ = write!(out, "{text:width$}");
            }
        }
        Key::Julian => {
            let _ = write!(out, "{}", value.day_number() + calendar::JULIAN_EPOCH);
        }
        Key::Fixed => numbered = false,
    }
    if numbered {
        ordinal(out, start, pattern.ending);
    }
    Ok(())
}

/// Appends a number with at least some places, a minus among them.
fn plain(out: &mut String, value: i64, width: usize, fill: bool) {
    let width = if fill { 0 } else { width };
    let _ = write!(out, "{value:0width$}");
}

/// Appends the last digits of a year, with one more place if years are `negative`.
fn year(out: &mut String, year: i64, digits: u8, fill: bool, negative: bool) {
    let width = match (fill || digits < 2, negative) {
        (true, _) => 0,
        (false, negative) => usize::from(digits) + usize::from(negative),
    };
    let shown = match digits {
        4.. => year,
        _ => year % 10i64.pow(digits.into()),
    };
    plain(out, shown, width, false);
}

/// Appends decimals of a second.
fn fraction(out: &mut String, micro: i64, digits: u8) {
    let digits = usize::from(digits.min(6));
    let value = micro / 10i64.pow(6 - digits as u32);
    let _ = write!(out, "{value:0digits$}");
}

/// A value by a template.
fn shown(template: &str, value: &Shown) -> Result<Option<String>> {
    if template.is_empty() {
        return Ok(None);
    }
    let mut out = String::new();
    for node in nodes(template).iter() {
        match node {
            Node::Pattern(pattern) => append(&mut out, pattern, value)?,
            Node::Space(c) | Node::Separator(c) | Node::Other(c) => out.push(*c),
        }
        if out.len() > LIMIT {
            return Err(Error::new("54000", "requested length too large"));
        }
    }
    Ok(Some(out))
}

pub(super) fn register(c: &mut Catalogue) {
    let text = || Type::Text;
    let f = w2::<Stamp, Str, Opt<Str>>(|_, stamp, template| {
        if !calendar::is_finite(stamp) {
            return Ok(None);
        }
        shown(template, &Shown::of_stamp(stamp, None))
    });
    c.add(scalar("to_char", &[of::STAMP, text()], text(), f).stable());
    let f = w2::<Stamp, Str, Opt<Str>>(|call, stamp, template| {
        if !calendar::is_finite(stamp) {
            return Ok(None);
        }
        let clock = settings(call).zone.clock_at(stamp);
        let local = stamp.saturating_add(i64::from(clock.east) * SECOND);
        shown(template, &Shown::of_stamp(local, Some(clock)))
    });
    c.add(scalar("to_char", &[of::STAMPTZ, text()], text(), f).stable());
    let f =
        w2::<Span, Str, Opt<Str>>(|_, span, template| shown(template, &Shown::of_interval(&span)));
    c.add(scalar("to_char", &[of::SPAN, text()], text(), f).stable());
}
