//! Intervals in text.
//!
//! The fields of `lex` are read from the last to the first, so that a unit is known before its
//! number. Fractions of a unit spill into smaller ones: of years into months, of months into
//! days of 30, of days into time. A text that is none of these may be of ISO 8601's form.
//!
//! ```text
//! 1 year 2 mons   1 day 02:03:04   1-2 3 4:05:06   @ 3 days ago   P1Y2M3DT4H   P0001-02-03
//! ```

use super::calendar::{DAY, HOUR, MINUTE, SECOND};
use super::lex::{Kind, fields};
use super::read::{clock, fraction, long};
use super::words::{Unit, unit};
use super::{IntervalStyle, Refused, interval_out_of_range};
use crate::error::Result;
use crate::values::Interval;

type Read<T> = std::result::Result<T, Refused>;

/// A field of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum SpanField {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// The fields of an interval's type, as in `INTERVAL DAY TO SECOND(3)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanFields {
    /// The first.
    pub first: SpanField,
    /// The last: smaller ones are cut off.
    pub last: SpanField,
    /// Decimals of the second.
    pub decimals: Option<u8>,
}

impl Default for SpanFields {
    /// All of them.
    fn default() -> Self {
        Self {
            first: SpanField::Year,
            last: SpanField::Second,
            decimals: None,
        }
    }
}

impl SpanFields {
    /// An interval without what is smaller than the last field, rounded to the decimals.
    ///
    /// # Errors
    /// `22008`.
    pub fn restrict(&self, span: Interval) -> Result<Interval> {
        let Interval {
            mut months,
            mut days,
            mut micros,
        } = span;
        match self.last {
            SpanField::Year => (months, days, micros) = (months / 12 * 12, 0, 0),
            SpanField::Month => (days, micros) = (0, 0),
            SpanField::Day => micros = 0,
            SpanField::Hour => micros = micros / HOUR * HOUR,
            SpanField::Minute => micros = micros / MINUTE * MINUTE,
            SpanField::Second => {
                if let Some(decimals) = self.decimals {
                    let rounded = super::calendar::round(micros, decimals);
                    micros = rounded.ok_or_else(interval_out_of_range)?;
                }
            }
        }
        Ok(Interval {
            months,
            days,
            micros,
        })
    }
}

/// Sums of what was read.
#[derive(Default)]
struct Sum {
    years: i32,
    months: i32,
    days: i32,
    micros: i64,
}

impl Sum {
    fn add_micros(&mut self, value: i64, fraction: f64, scale: i64) -> Read<()> {
        let more = value.checked_mul(scale).ok_or(Refused::Field)?;
        self.micros = self.micros.checked_add(more).ok_or(Refused::Field)?;
        self.add_part(fraction, scale)
    }

    /// A fraction of a unit of some microseconds.
    fn add_part(&mut self, fraction: f64, scale: i64) -> Read<()> {
        if fraction == 0.0 {
            return Ok(());
        }
        let exact = fraction * scale as f64;
        let mut whole = exact as i64;
        let rest = exact - whole as f64;
        if rest > 0.5 {
            whole += 1;
        } else if rest < -0.5 {
            whole -= 1;
        }
        self.micros = self.micros.checked_add(whole).ok_or(Refused::Field)?;
        Ok(())
    }

    fn add_days(&mut self, value: i64, scale: i32) -> Read<()> {
        add(&mut self.days, value, scale)
    }

    /// A fraction of a unit of some days.
    fn add_part_of_days(&mut self, fraction: f64, scale: i32) -> Read<()> {
        let exact = fraction * f64::from(scale);
        let whole = exact as i32;
        add(&mut self.days, whole.into(), 1)?;
        self.add_part(exact - f64::from(whole), DAY)
    }

    fn add_months(&mut self, value: i64, fraction: f64) -> Read<()> {
        add(&mut self.months, value, 1)?;
        self.add_part_of_days(fraction, 30)
    }

    fn add_years(&mut self, value: i64, fraction: f64, scale: i32) -> Read<()> {
        add(&mut self.years, value, scale)?;
        let months = (fraction * f64::from(scale) * 12.0).round_ties_even();
        add(&mut self.months, months as i64, 1)
    }

    /// Adds a number of a unit, and gives the unit of a number before it without one.
    fn add(&mut self, value: i64, fraction: f64, unit: Unit) -> Read<()> {
        match unit {
            Unit::Microsecond => self.add_micros(value, fraction, 1),
            Unit::Millisecond => self.add_micros(value, fraction, 1000),
            Unit::Second => self.add_micros(value, fraction, SECOND),
            Unit::Minute => self.add_micros(value, fraction, MINUTE),
            Unit::Hour => self.add_micros(value, fraction, HOUR),
            Unit::Day => {
                self.add_days(value, 1)?;
                self.add_part(fraction, DAY)
            }
            Unit::Week => {
                self.add_days(value, 7)?;
                self.add_part_of_days(fraction, 7)
            }
            Unit::Month => self.add_months(value, fraction),
            Unit::Year => self.add_years(value, fraction, 1),
            Unit::Decade => self.add_years(value, fraction, 10),
            Unit::Century => self.add_years(value, fraction, 100),
            Unit::Millennium => self.add_years(value, fraction, 1000),
            _ => Err(Refused::Format),
        }
    }

    fn negate(&mut self) -> Read<()> {
        let none = || Refused::Field;
        self.years = self.years.checked_neg().ok_or_else(none)?;
        self.months = self.months.checked_neg().ok_or_else(none)?;
        self.days = self.days.checked_neg().ok_or_else(none)?;
        self.micros = self.micros.checked_neg().ok_or_else(none)?;
        Ok(())
    }

    fn interval(&self) -> Option<Interval> {
        let months = i64::from(self.years) * 12 + i64::from(self.months);
        Some(Interval {
            months: i32::try_from(months).ok()?,
            days: self.days,
            micros: self.micros,
        })
    }
}

fn add(to: &mut i32, value: i64, scale: i32) -> Read<()> {
    let value = i32::try_from(value).map_err(|_| Refused::Field)?;
    let more = value.checked_mul(scale).ok_or(Refused::Field)?;
    *to = to.checked_add(more).ok_or(Refused::Field)?;
    Ok(())
}

/// Reads an interval.
///
/// # Errors
/// `22007`, `22008`, `22015`.
pub fn read_interval(text: &str, style: IntervalStyle, of: SpanFields) -> Result<Interval> {
    let found = match words(text, style, of) {
        Err(Refused::Format) => iso(text),
        found => found,
    };
    let sum = found.map_err(|why| why.error("interval", text))?;
    of.restrict(sum.interval().ok_or_else(interval_out_of_range)?)
}

/// Microseconds of `hh:mm` or `hh:mm:ss`.
fn clock_micros(text: &str, of: SpanFields) -> Read<i64> {
    let short = of.first == SpanField::Minute && of.last == SpanField::Second;
    let (hours, minutes, seconds, micros) = clock(text, short)?;
    let rest = i64::from(minutes) * MINUTE + i64::from(seconds) * SECOND + i64::from(micros);
    let hours = hours.checked_mul(HOUR).ok_or(Refused::Field)?;
    hours.checked_add(rest).ok_or(Refused::Field)
}

/// The parts of a date that a unit stands for, each of which may be given once.
fn bits(unit: Unit, fraction: f64) -> u32 {
    match unit {
        Unit::Second if fraction == 0.0 => 1,
        Unit::Second => 1 | 2 | 4,
        Unit::Millisecond => 2,
        Unit::Microsecond => 4,
        Unit::Minute => 8,
        Unit::Hour => 16,
        Unit::Day => 32,
        Unit::Week => 64,
        Unit::Month => 128,
        Unit::Year => 256,
        Unit::Decade => 512,
        Unit::Century => 1024,
        _ => 2048,
    }
}

/// Hours, minutes and seconds with their parts.
const CLOCK: u32 = 1 | 2 | 4 | 8 | 16;

/// Numbers with units, times, and years with months.
fn words(text: &str, style: IntervalStyle, of: SpanFields) -> Read<Sum> {
    let fields = fields(text)?;
    // In the standard's form a sign ahead of all is that of all.
    let signed = |text: &str| text.starts_with(['-', '+']);
    let negative = style == IntervalStyle::Standard
        && fields
            .first()
            .is_some_and(|field| field.text.starts_with('-'))
        && !fields.iter().skip(1).any(|field| signed(&field.text));
    let mut sum = Sum::default();
    let mut seen = 0;
    let mut ago = false;
    let mut next: Option<Unit> = None;
    for field in fields.iter().rev() {
        let text = field.text.as_str();
        let mut found = 0;
        match field.kind {
            Kind::Time => {
                let micros = clock_micros(text, of)?;
                sum.micros = if negative { -micros } else { micros };
                found = CLOCK;
                next = Some(Unit::Day);
            }
            Kind::Offset | Kind::Date | Kind::Number => {
                let time = match field.kind == Kind::Offset && text.contains(':') {
                    true => clock_micros(&text[1..], of).ok(),
                    false => None,
                };
                if let Some(micros) = time {
                    sum.micros = match negative || text.starts_with('-') {
                        true => -micros,
                        false => micros,
                    };
                    found = CLOCK;
                    next = Some(Unit::Day);
                } else {
                    let mut unit = next.unwrap_or(match of.last {
                        SpanField::Year => Unit::Year,
                        SpanField::Month => Unit::Month,
                        SpanField::Day => Unit::Day,
                        SpanField::Hour => Unit::Hour,
                        SpanField::Minute => Unit::Minute,
                        SpanField::Second => Unit::Second,
                    });
                    let (mut value, rest) = long(text)?;
                    let minus = text.starts_with('-');
                    let mut part = 0.0;
                    if let Some(more) = rest.strip_prefix('-') {
                        let (months, rest) = long(more)?;
                        if !(0..12).contains(&months) {
                            return Err(Refused::Field);
                        }
                        if !rest.is_empty() {
                            return Err(Refused::Format);
                        }
                        unit = Unit::Month;
                        let months = if minus { -months } else { months };
                        let years = value.checked_mul(12).ok_or(Refused::Field)?;
                        value = years.checked_add(months).ok_or(Refused::Field)?;
                    } else if rest.starts_with('.') {
                        part = fraction(rest)?;
                        if minus {
                            part = -part;
                        }
                    } else if !rest.is_empty() {
                        return Err(Refused::Format);
                    }
                    if negative {
                        value = value.checked_abs().ok_or(Refused::Field)?;
                        (value, part) = (-value, -part.abs());
                    }
                    sum.add(value, part, unit)?;
                    found = bits(unit, part);
                    next = Some(if unit == Unit::Hour { Unit::Day } else { unit });
                }
            }
            Kind::Word | Kind::Special => match text {
                "@" => {}
                "ago" => {
                    ago = true;
                    // A number before it needs a unit of its own.
                    next = Some(Unit::Time);
                }
                _ => next = Some(unit(text).ok_or(Refused::Format)?),
            },
        }
        if seen & found != 0 {
            return Err(Refused::Format);
        }
        seen |= found;
    }
    if seen == 0 {
        return Err(Refused::Format);
    }
    if ago {
        sum.negate()?;
    }
    Ok(sum)
}

/// A number with a fraction, and the rest.
fn number(text: &str) -> Read<(i64, f64, &str)> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') {
        return Err(Refused::Format);
    }
    let bytes = text.as_bytes();
    let mut end = usize::from(bytes[0] == b'-');
    let digits = |at: usize| {
        bytes[at..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    end += digits(end);
    if bytes.get(end) == Some(&b'.') {
        end += 1;
        end += digits(end);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let more = bytes
            .get(end + 1 + signed..)
            .map_or(0, |_| digits(end + 1 + signed));
        if more > 0 {
            end += 1 + signed + more;
        }
    }
    let value: f64 = text[..end].parse().map_err(|_| Refused::Format)?;
    if !(-1e15..=1e15).contains(&value) {
        return Err(Refused::Field);
    }
    let whole = value.trunc();
    Ok((whole as i64, value - whole, &text[end..]))
}

/// Digits of an integer.
fn width(text: &str) -> usize {
    let text = text.strip_prefix('-').unwrap_or(text);
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// ISO 8601's forms: with designators, `P1Y2DT3H`, and without, `P0001-02-03T04:05:06` or
/// `P00010203T040506`.
fn iso(text: &str) -> Read<Sum> {
    let mut sum = Sum::default();
    let mut rest = text.strip_prefix('P').ok_or(Refused::Format)?;
    if rest.is_empty() {
        return Err(Refused::Format);
    }
    let mut of_date = true;
    let mut have = false;
    while !rest.is_empty() {
        if let Some(more) = rest.strip_prefix('T') {
            (of_date, have) = (false, false);
            rest = more;
            continue;
        }
        let start = rest;
        let (value, part, more) = number(rest)?;
        let designator = more.chars().next();
        rest = more
            .get(designator.map_or(0, char::len_utf8)..)
            .unwrap_or("");
        match (of_date, designator) {
            (true, Some('Y')) => sum.add(value, part, Unit::Year)?,
            (true, Some('M')) => sum.add(value, part, Unit::Month)?,
            (true, Some('W')) => sum.add(value, part, Unit::Week)?,
            (true, Some('D')) => sum.add(value, part, Unit::Day)?,
            (true, Some('T') | None) if width(start) == 8 && !have => {
                sum.add(value / 10_000, 0.0, Unit::Year)?;
                sum.add(value / 100 % 100, 0.0, Unit::Month)?;
                sum.add(value % 100, part, Unit::Day)?;
                of_date = false;
                continue;
            }
            (true, Some('T' | '-') | None) => {
                if have {
                    return Err(Refused::Format);
                }
                sum.add(value, part, Unit::Year)?;
                if designator == Some('-') {
                    let (value, part, more) = number(rest)?;
                    sum.add(value, part, Unit::Month)?;
                    rest = more;
                    if let Some(more) = rest.strip_prefix('-') {
                        let (value, part, more) = number(more)?;
                        sum.add(value, part, Unit::Day)?;
                        rest = more;
                    }
                    if !rest.is_empty() && !rest.starts_with('T') {
                        return Err(Refused::Format);
                    }
                }
                of_date = false;
                continue;
            }
            (false, Some('H')) => sum.add(value, part, Unit::Hour)?,
            (false, Some('M')) => sum.add(value, part, Unit::Minute)?,
            (false, Some('S')) => sum.add(value, part, Unit::Second)?,
            (false, None) if width(start) == 6 && !have => {
                sum.add(value / 10_000, 0.0, Unit::Hour)?;
                sum.add(value / 100 % 100, 0.0, Unit::Minute)?;
                sum.add(value % 100, 0.0, Unit::Second)?;
                // PostgreSQL takes the fraction for one of a microsecond.
                sum.add_part(part, 1)?;
                return Ok(sum);
            }
            (false, Some(':') | None) => {
                if have {
                    return Err(Refused::Format);
                }
                sum.add(value, part, Unit::Hour)?;
                if designator.is_none() {
                    return Ok(sum);
                }
                let (value, part, more) = number(rest)?;
                sum.add(value, part, Unit::Minute)?;
                let Some(more) = more.strip_prefix(':') else {
                    return if more.is_empty() {
                        Ok(sum)
                    } else {
                        Err(Refused::Format)
                    };
                };
                let (value, part, more) = number(more)?;
                sum.add(value, part, Unit::Second)?;
                return if more.is_empty() {
                    Ok(sum)
                } else {
                    Err(Refused::Format)
                };
            }
            _ => return Err(Refused::Format),
        }
        have = true;
    }
    Ok(sum)
}
