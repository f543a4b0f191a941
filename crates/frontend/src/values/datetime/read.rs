//! Dates and times in text.
//!
//! The fields of `lex` are read in order. A date's numbers are told apart by their lengths, the
//! parts that are known, and `DateStyle`'s order. Each part may be given once.
//!
//! ```text
//! 1999-01-08   January 8, 1999   1/8/1999   08-Jan-99   19990108   1999.008   J2451187
//! 04:05:06.789   040506   04:05 PM   04:05:06-08:00   2003-04-12 04:05:06 America/New_York
//! ```

use super::calendar::{self, DAY, EARLY_DATE, LATE_DATE, MINUTE, Parts, SECOND};
use super::lex::{Field, Kind, fields};
use super::words::{Unit, Word, word};
use super::zone::{Abbreviated, Zone, abbreviation};
use super::{DateOrder, Locale, Refused};
use crate::error::{Error, Result};

/// Sets of parts.
mod part {
    pub(super) const YEAR: u32 = 1;
    pub(super) const MONTH: u32 = 2;
    pub(super) const DAY: u32 = 4;
    pub(super) const HOUR: u32 = 8;
    pub(super) const MINUTE: u32 = 16;
    pub(super) const SECOND: u32 = 32;
    pub(super) const FRACTION: u32 = 64;
    pub(super) const ZONE: u32 = 128;
    pub(super) const DAY_OF_YEAR: u32 = 256;
    pub(super) const WEEKDAY: u32 = 512;
    pub(super) const AM_PM: u32 = 1024;
    pub(super) const ERA: u32 = 2048;
    pub(super) const SUMMER: u32 = 4096;
    /// `epoch` or an infinity.
    pub(super) const SPECIAL: u32 = 8192;
    pub(super) const DATE: u32 = YEAR | MONTH | DAY;
    pub(super) const TIME: u32 = HOUR | MINUTE | SECOND | FRACTION;
}

type Read<T> = std::result::Result<T, Refused>;

/// The offset from UTC that a text names.
#[derive(Clone, Debug)]
enum Given {
    None,
    East(i32),
    Zone(Zone),
    Abbreviation(Zone, String),
}

/// A text's meaning.
enum Meaning {
    /// A date and a time, and the offset from UTC.
    Moment(Parts, i32),
    Epoch,
    Late,
    Early,
}

struct Reader<'a> {
    locale: &'a Locale,
    seen: u32,
    parts: Parts,
    day_of_year: i32,
    two_digits: bool,
    month_word: bool,
    before_christ: bool,
    julian: bool,
    afternoon: Option<bool>,
    given: Given,
    /// The label before a number.
    label: Option<Unit>,
    special: Option<Meaning>,
}

/// An integer at the beginning of a text, and the rest.
fn integer(text: &str) -> Read<(i32, &str)> {
    let (value, rest) = long(text)?;
    let value = i32::try_from(value).map_err(|_| Refused::Field)?;
    Ok((value, rest))
}

/// An integer of 64 bits at the beginning of a text, and the rest.
pub(super) fn long(text: &str) -> Read<(i64, &str)> {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return Ok((0, text));
    }
    let end = text.len() - body.len() + digits;
    let value = text[..end].parse().map_err(|_| Refused::Field)?;
    Ok((value, &text[end..]))
}

/// The fraction that a text of a point and digits is.
pub(super) fn fraction(text: &str) -> Read<f64> {
    let digits = text.get(1..).unwrap_or("");
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Refused::Format);
    }
    if digits.is_empty() {
        return Ok(0.0);
    }
    format!("0.{digits}").parse().map_err(|_| Refused::Format)
}

/// Microseconds of a text of a point and digits.
fn micros(text: &str) -> Read<i32> {
    Ok((fraction(text)? * 1e6).round_ties_even() as i32)
}

/// Seconds east of UTC of `+hh`, `+hhmm`, `+hh:mm` or `+hh:mm:ss`.
fn offset(text: &str) -> Read<i32> {
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Err(Refused::Format),
    };
    let beyond = |_| Refused::Offset;
    let (mut hours, mut rest) = integer(&text[1..]).map_err(beyond)?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(more) = rest.strip_prefix(':') {
        (minutes, rest) = integer(more).map_err(beyond)?;
        if let Some(more) = rest.strip_prefix(':') {
            (seconds, rest) = integer(more).map_err(beyond)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hours, minutes) = (hours / 100, hours % 100);
    }
    let ranges = [(hours, 15), (minutes, 59), (seconds, 59)];
    if ranges.iter().any(|(n, most)| !(0..=*most).contains(n)) {
        return Err(Refused::Offset);
    }
    if !rest.is_empty() {
        return Err(Refused::Format);
    }
    Ok(sign * ((hours * 60 + minutes) * 60 + seconds))
}

/// Hours, minutes, seconds and microseconds of `hh:mm`, `hh:mm:ss`, `hh:mm:ss.f` or `mm:ss.f`.
/// `short` says that `hh:mm` are minutes and seconds.
pub(super) fn clock(text: &str, short: bool) -> Read<(i64, i32, i32, i32)> {
    let (hours, rest) = long(text)?;
    let rest = rest.strip_prefix(':').ok_or(Refused::Format)?;
    let (minutes, rest) = integer(rest)?;
    let mut found = (hours, minutes, 0, 0);
    if rest.is_empty() {
        if short {
            found = (0, narrow(hours)?, minutes, 0);
        }
    } else if rest.starts_with('.') {
        let micros = micros(rest)?;
        found = (0, narrow(hours)?, minutes, micros);
    } else {
        let rest = rest.strip_prefix(':').ok_or(Refused::Format)?;
        let (seconds, rest) = integer(rest)?;
        found.2 = seconds;
        if rest.starts_with('.') {
            found.3 = micros(rest)?;
        } else if !rest.is_empty() {
            return Err(Refused::Format);
        }
    }
    let (h, m, s, _) = found;
    if h < 0 || !(0..60).contains(&m) || !(0..=60).contains(&s) {
        return Err(Refused::Field);
    }
    Ok(found)
}

fn narrow(value: i64) -> Read<i32> {
    i32::try_from(value).map_err(|_| Refused::Field)
}

fn zone_unknown(name: &str) -> Refused {
    Refused::Other(Box::new(unrecognized(name)))
}

/// `22023` for a time zone.
pub(crate) fn unrecognized(name: &str) -> Error {
    Error::new("22023", format!("time zone \"{name}\" not recognized"))
}

impl<'a> Reader<'a> {
    fn new(locale: &'a Locale) -> Self {
        Self {
            locale,
            seen: 0,
            parts: Parts::default(),
            day_of_year: 0,
            two_digits: false,
            month_word: false,
            before_christ: false,
            julian: false,
            afternoon: None,
            given: Given::None,
            label: None,
            special: None,
        }
    }

    fn has(&self, parts: u32) -> bool {
        self.seen & parts == parts
    }

    /// Notes that parts were found, each of which may be found once.
    fn note(&mut self, parts: u32) -> Read<()> {
        if self.seen & parts != 0 {
            return Err(Refused::Format);
        }
        self.seen |= parts;
        Ok(())
    }

    fn set_date(&mut self, days: i64) {
        let (year, month, day) = calendar::civil(days);
        (self.parts.year, self.parts.month, self.parts.day) = (year as i32, month, day);
    }

    fn set_time(&mut self, time: i64) {
        let date = self.parts;
        self.parts = Parts::of_time(time);
        (self.parts.year, self.parts.month, self.parts.day) = (date.year, date.month, date.day);
    }

    fn set_julian(&mut self, day: i32) -> Read<()> {
        if day < 0 {
            return Err(Refused::Field);
        }
        self.set_date(i64::from(day) - calendar::JULIAN_EPOCH);
        self.julian = true;
        Ok(())
    }

    /// Reads a date and a time.
    fn moment(mut self, fields: &[Field]) -> Read<Meaning> {
        for (at, Field { kind, text }) in fields.iter().enumerate() {
            let found = match kind {
                Kind::Date => self.date_field(text)?,
                Kind::Time => {
                    self.take_time_label()?;
                    let found = self.clock_field(text)?;
                    if is_beyond_day(&self.parts) {
                        return Err(Refused::Field);
                    }
                    found
                }
                Kind::Offset => {
                    self.given = Given::East(offset(text)?);
                    part::ZONE
                }
                Kind::Number => match self.label.take() {
                    Some(label) => self.labelled(label, text, 0)?,
                    None => self.number_field(text)?,
                },
                Kind::Word | Kind::Special => self.word_field(fields, at, false)?,
            };
            self.note(found)?;
        }
        if let Some(special) = self.special {
            return Ok(special);
        }
        self.validate()?;
        self.apply_afternoon()?;
        if !self.has(part::DATE) {
            return Err(Refused::Format);
        }
        let east = self.resolve_offset()?;
        Ok(Meaning::Moment(self.parts, east))
    }

    /// Seconds east of UTC, by the text or the session's zone.
    fn resolve_offset(&self) -> Read<i32> {
        if self.has(part::SUMMER) && !matches!(self.given, Given::East(_)) {
            return Err(Refused::Format);
        }
        let local = || {
            let days = self.parts.days();
            calendar::stamp_of(days, self.parts.time()).unwrap_or(0)
        };
        Ok(match &self.given {
            Given::East(east) => *east,
            Given::Zone(zone) => zone.east_of_local(local()),
            Given::Abbreviation(zone, name) => zone.east_of_abbreviation(name, local()),
            Given::None => self.locale.zone.east_of_local(local()),
        })
    }

    /// A field of the kind `Date` in a date and a time.
    fn date_field(&mut self, text: &str) -> Read<u32> {
        if self.label == Some(Unit::Julian) {
            // A Julian day with an offset behind it.
            self.label = None;
            let (day, rest) = integer(text)?;
            self.set_julian(day)?;
            self.given = Given::East(offset(rest)?);
            return Ok(part::DATE | part::TIME | part::ZONE);
        }
        if self.label.is_none() && !self.has(part::MONTH | part::DAY) {
            return self.date(text);
        }
        // The date is known: it is a zone, or a time with an offset behind it.
        if self.label.is_some() || text.starts_with(|c: char| c.is_ascii_digit()) {
            self.take_time_label()?;
            if self.has(part::TIME) {
                return Err(Refused::Format);
            }
            return self.run_together(text, self.seen);
        }
        self.zone_name(text)
    }

    /// `hhmmss-zz`.
    fn run_together(&mut self, text: &str, seen: u32) -> Read<u32> {
        let at = text.find('-').ok_or(Refused::Format)?;
        self.given = Given::East(offset(&text[at..])?);
        Ok(self.concatenated(&text[..at], seen)? | part::ZONE)
    }

    fn zone_name(&mut self, text: &str) -> Read<u32> {
        let zone = Zone::find(text).ok_or_else(|| zone_unknown(text))?;
        self.given = Given::Zone(zone);
        Ok(part::ZONE)
    }

    /// After the label `t` only a time may follow.
    fn take_time_label(&mut self) -> Read<()> {
        match self.label.take() {
            None | Some(Unit::Time) => Ok(()),
            Some(_) => Err(Refused::Format),
        }
    }

    fn clock_field(&mut self, text: &str) -> Read<u32> {
        let (hour, minute, second, micro) = clock(text, false)?;
        self.parts.hour = narrow(hour)?;
        (self.parts.minute, self.parts.second, self.parts.micro) = (minute, second, micro);
        Ok(part::TIME)
    }

    /// A number with a label before it, as in `y2001m02d04`.
    fn labelled(&mut self, label: Unit, text: &str, known: u32) -> Read<u32> {
        let (value, rest) = integer(text)?;
        let decimals = matches!(label, Unit::Julian | Unit::Time | Unit::Second);
        if !(rest.is_empty() || decimals && rest.starts_with('.')) {
            return Err(Refused::Format);
        }
        Ok(match label {
            Unit::Year => {
                self.parts.year = value;
                part::YEAR
            }
            Unit::Month if self.has(part::MONTH | part::HOUR) => {
                self.parts.minute = value;
                part::MINUTE
            }
            Unit::Month => {
                self.parts.month = value;
                part::MONTH
            }
            Unit::Day => {
                self.parts.day = value;
                part::DAY
            }
            Unit::Hour => {
                self.parts.hour = value;
                part::HOUR
            }
            Unit::Minute => {
                self.parts.minute = value;
                part::MINUTE
            }
            Unit::Second => {
                self.parts.second = value;
                if rest.is_empty() {
                    return Ok(part::SECOND);
                }
                self.parts.micro = micros(rest)?;
                part::SECOND | part::FRACTION
            }
            Unit::Julian => {
                self.set_julian(value)?;
                if rest.is_empty() {
                    return Ok(part::DATE);
                }
                let time = fraction(rest)? * DAY as f64;
                self.set_time(time as i64);
                part::DATE | part::TIME
            }
            Unit::Time => {
                let found = self.concatenated(text, self.seen | part::DATE | known)?;
                if found != part::TIME {
                    return Err(Refused::Format);
                }
                found
            }
            _ => return Err(Refused::Format),
        })
    }

    /// A number without a label in a date and a time.
    fn number_field(&mut self, text: &str) -> Read<u32> {
        let point = text.find('.');
        match point {
            Some(_) if self.seen & part::DATE == 0 => self.date(text),
            Some(at) if at > 2 => self.concatenated(text, self.seen),
            _ if text.len() >= 6
                && (self.seen & part::DATE == 0 || self.seen & part::TIME == 0) =>
            {
                self.concatenated(text, self.seen)
            }
            _ => self.number(text, self.month_word, self.seen),
        }
    }

    /// A word. `time_only` says that the text is a time of day.
    fn word_field(&mut self, fields: &[Field], at: usize, time_only: bool) -> Read<u32> {
        let text = fields[at].text.as_str();
        match abbreviation(text) {
            Some(Abbreviated::East(east)) => {
                self.given = Given::East(east);
                return Ok(part::ZONE);
            }
            Some(Abbreviated::In(zone)) => {
                self.given = Given::Abbreviation(zone, text.to_owned());
                return Ok(part::ZONE);
            }
            None => {}
        }
        let Some(word) = word(text) else {
            // A zone's name of letters only.
            let zone = Zone::find(text).ok_or(Refused::Format)?;
            self.given = Given::Zone(zone);
            return Ok(part::ZONE);
        };
        let moment = part::DATE | part::TIME | part::ZONE;
        let locale = self.locale;
        let local = || locale.zone.to_local(locale.now);
        let today = || local().div_euclid(DAY);
        Ok(match word {
            Word::Ignored => 0,
            Word::Now if time_only => {
                self.set_time(local().rem_euclid(DAY));
                part::TIME
            }
            Word::Now => {
                self.special = None;
                self.parts = Parts::of_stamp(local());
                self.given = Given::East(locale.zone.east_at(locale.now));
                moment
            }
            Word::Midnight => {
                self.special = None;
                self.set_time(0);
                self.given = Given::East(0);
                part::TIME | part::ZONE
            }
            Word::Month(month) if !time_only => {
                // A number before it was taken for the month and is the day.
                let mut found = part::MONTH;
                let day = self.parts.month;
                if self.has(part::MONTH)
                    && !self.month_word
                    && !self.has(part::DAY)
                    && (1..=31).contains(&day)
                {
                    self.parts.day = day;
                    found = part::DAY;
                }
                self.month_word = true;
                self.parts.month = month;
                found
            }
            Word::Today | Word::Yesterday | Word::Tomorrow if !time_only => {
                let more = match word {
                    Word::Yesterday => -1,
                    Word::Tomorrow => 1,
                    _ => 0,
                };
                self.special = None;
                self.set_date(today() + more);
                part::DATE
            }
            // It is what counts, beside dates and times; a word such as `now` behind it counts
            // more.
            Word::Epoch | Word::Late | Word::Early if !time_only => {
                self.special = Some(match word {
                    Word::Epoch => Meaning::Epoch,
                    Word::Late => Meaning::Late,
                    _ => Meaning::Early,
                });
                part::SPECIAL
            }
            Word::Weekday if !time_only => part::WEEKDAY,
            Word::Summer => {
                // An hour more than the offset before it.
                if let Given::East(east) = &mut self.given {
                    *east += 3600;
                }
                part::SUMMER
            }
            Word::Afternoon(afternoon) => {
                self.afternoon = Some(afternoon);
                part::AM_PM
            }
            Word::BeforeChrist(before) => {
                self.before_christ = before;
                part::ERA
            }
            Word::Label(unit) => {
                self.label = Some(unit);
                0
            }
            Word::Time => {
                let next = fields.get(at + 1).map(|next| next.kind);
                let fits = matches!(next, Some(Kind::Number | Kind::Time | Kind::Date));
                if !fits || !time_only && !self.has(part::DATE) {
                    return Err(Refused::Format);
                }
                self.label = Some(Unit::Time);
                0
            }
            _ => return Err(Refused::Format),
        })
    }

    /// A date of several parts, such as `1999-01-08` or `8-jan-99`.
    fn date(&mut self, text: &str) -> Read<u32> {
        let bytes = text.as_bytes();
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            while at < bytes.len() && !bytes[at].is_ascii_alphanumeric() {
                at += 1;
            }
            if at == bytes.len() {
                return Err(Refused::Format);
            }
            let start = at;
            let is_digit = bytes[at].is_ascii_digit();
            while at < bytes.len()
                && bytes[at].is_ascii_alphanumeric()
                && bytes[at].is_ascii_digit() == is_digit
            {
                at += 1;
            }
            pieces.push((&text[start..at], is_digit));
            // The separator behind it, whatever it is.
            at += 1;
        }
        let mut seen = self.seen;
        let mut found = 0;
        let mut month_word = false;
        let mut add = |parts: u32, seen: &mut u32| match *seen & parts {
            0 => {
                *seen |= parts;
                found |= parts;
                Ok(())
            }
            _ => Err(Refused::Format),
        };
        for (piece, _) in pieces.iter().filter(|(_, is_digit)| !is_digit) {
            match word(piece) {
                Some(Word::Ignored) => {}
                Some(Word::Month(month)) => {
                    self.parts.month = month;
                    month_word = true;
                    add(part::MONTH, &mut seen)?;
                }
                _ => return Err(Refused::Format),
            }
        }
        for (piece, _) in pieces.iter().filter(|(_, is_digit)| *is_digit) {
            let parts = self.number(piece, month_word, seen)?;
            add(parts, &mut seen)?;
        }
        if seen & !(part::DAY_OF_YEAR | part::ZONE) != part::DATE {
            return Err(Refused::Format);
        }
        Ok(found)
    }

    /// A number whose part is told by its length and the parts that are known.
    fn number(&mut self, text: &str, month_word: bool, seen: u32) -> Read<u32> {
        let (value, rest) = integer(text)?;
        let digits = text.len() - rest.len();
        if digits == 0 {
            return Err(Refused::Format);
        }
        if rest.starts_with('.') {
            if digits > 2 {
                return self.concatenated(text, seen | part::DATE);
            }
            self.parts.micro = micros(rest)?;
        } else if !rest.is_empty() {
            return Err(Refused::Format);
        }
        let long = text.len() >= 3;
        let order = self.locale.order;
        let known = seen & part::DATE;
        if text.len() == 3 && known == part::YEAR && (1..=366).contains(&value) {
            self.day_of_year = value;
            return Ok(part::DAY_OF_YEAR | part::MONTH | part::DAY);
        }
        const YEAR_MONTH: u32 = part::YEAR | part::MONTH;
        const MONTH_DAY: u32 = part::MONTH | part::DAY;
        let found = match known {
            0 if long || order == DateOrder::Ymd => part::YEAR,
            0 if order == DateOrder::Dmy => part::DAY,
            0 => part::MONTH,
            part::YEAR | part::DAY => part::MONTH,
            part::MONTH if month_word && (long || order == DateOrder::Ymd) => part::YEAR,
            part::MONTH => part::DAY,
            YEAR_MONTH if month_word && long && self.two_digits => {
                // The number that was taken for the year is the day.
                self.parts.day = self.parts.year;
                self.parts.year = value;
                self.two_digits = false;
                return Ok(part::DAY);
            }
            YEAR_MONTH => part::DAY,
            MONTH_DAY => part::YEAR,
            part::DATE => return self.concatenated(text, seen),
            _ => return Err(Refused::Format),
        };
        match found {
            part::YEAR => {
                self.parts.year = value;
                self.two_digits = !long;
            }
            part::MONTH => self.parts.month = value,
            _ => self.parts.day = value,
        }
        Ok(found)
    }

    /// Digits of several parts: `yymmdd`, `yyyymmdd`, `hhmmss`, `hhmm`, with a fraction.
    fn concatenated(&mut self, text: &str, seen: u32) -> Read<u32> {
        let mut digits = text;
        if let Some(at) = text.find('.') {
            let rest = &text[at + 1..];
            let rest = &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()];
            self.parts.micro = match rest.is_empty() {
                true => 0,
                false => micros(&format!(".{rest}"))?,
            };
            digits = &text[..at];
        } else if seen & part::DATE != part::DATE && text.len() >= 6 {
            let (year, month_day) = text.split_at(text.len() - 4);
            let (month, day) = month_day.split_at(2);
            self.parts.day = leading(day);
            self.parts.month = leading(month);
            self.parts.year = leading(year);
            self.two_digits |= year.len() == 2;
            return Ok(part::DATE);
        }
        let time = seen & part::TIME != part::TIME;
        if !time || !matches!(digits.len(), 4 | 6) {
            return Err(Refused::Format);
        }
        self.parts.hour = leading(&digits[..2]);
        self.parts.minute = leading(&digits[2..4]);
        self.parts.second = leading(&digits[4..]);
        Ok(part::TIME)
    }

    /// Checks a date's parts, and completes its year.
    fn validate(&mut self) -> Read<()> {
        if self.has(part::YEAR) && !self.julian {
            let year = &mut self.parts.year;
            if self.before_christ {
                if *year <= 0 {
                    return Err(Refused::Field);
                }
                *year = 1 - *year;
            } else if self.two_digits {
                match *year {
                    ..0 => return Err(Refused::Field),
                    0..70 => *year += 2000,
                    70..100 => *year += 1900,
                    _ => {}
                }
            } else if *year <= 0 {
                return Err(Refused::Field);
            }
        }
        if self.has(part::DAY_OF_YEAR) {
            let first = calendar::days_of(self.parts.year.into(), 1, 1);
            self.set_date(first + i64::from(self.day_of_year) - 1);
        }
        let Parts {
            year, month, day, ..
        } = self.parts;
        if self.has(part::MONTH) && !(1..=12).contains(&month) {
            return Err(Refused::MonthOrDay);
        }
        if self.has(part::DAY) && !(1..=31).contains(&day) {
            return Err(Refused::MonthOrDay);
        }
        if self.has(part::DATE) && day > calendar::month_days(year.into(), month) {
            return Err(Refused::Field);
        }
        Ok(())
    }

    fn apply_afternoon(&mut self) -> Read<()> {
        let Some(afternoon) = self.afternoon else {
            return Ok(());
        };
        let hour = &mut self.parts.hour;
        match (afternoon, *hour) {
            (_, 13..) => return Err(Refused::Field),
            (false, 12) => *hour = 0,
            (true, ..=11) => *hour += 12,
            _ => {}
        }
        Ok(())
    }

    /// Reads a time of day and its offset from UTC, if it is to have one: then parts of a date
    /// may have labels.
    fn time(mut self, fields: &[Field], zoned: bool) -> Read<(Parts, i32)> {
        let last = fields.last().map(|field| field.kind);
        let second = fields.get(1).map(|field| field.kind);
        // A date may stand before the time, which decides whether it is summer.
        let date_ahead = |at: usize| at == 0 && fields.len() >= 2;
        for (at, Field { kind, text }) in fields.iter().enumerate() {
            let found = match kind {
                Kind::Date => {
                    let ends = last == Some(Kind::Date) || second == Some(Kind::Time);
                    if date_ahead(at) && ends {
                        self.date(text)?
                    } else if text.starts_with(|c: char| c.is_ascii_digit()) {
                        if self.has(part::TIME) {
                            return Err(Refused::Format);
                        }
                        self.label = None;
                        self.run_together(text, self.seen | part::DATE)?
                    } else {
                        self.zone_name(text)?
                    }
                }
                // A label before it is that of a later number.
                Kind::Time => self.clock_field(text)?,
                Kind::Offset => {
                    self.given = Given::East(offset(text)?);
                    part::ZONE
                }
                Kind::Number => match self.label.take() {
                    Some(Unit::Year | Unit::Month | Unit::Day | Unit::Julian) if !zoned => {
                        return Err(Refused::Format);
                    }
                    Some(label) => self.labelled(label, text, part::DATE)?,
                    None => match text.find('.') {
                        Some(_) if date_ahead(at) && last == Some(Kind::Date) => self.date(text)?,
                        Some(at) if at > 2 => self.concatenated(text, self.seen | part::DATE)?,
                        Some(_) => return Err(Refused::Format),
                        None if text.len() > 4 => {
                            self.concatenated(text, self.seen | part::DATE)?
                        }
                        None => self.number(text, false, self.seen | part::DATE)?,
                    },
                },
                Kind::Word | Kind::Special => self.word_field(fields, at, true)?,
            };
            self.note(found)?;
        }
        self.validate()?;
        self.apply_afternoon()?;
        if is_beyond_day(&self.parts) {
            return Err(Refused::Field);
        }
        if !self.has(part::TIME) {
            return Err(Refused::Format);
        }
        // The date decides whether it is summer, where that is the question.
        let part_of_date = self.seen & part::DATE != 0 && !self.has(part::DATE);
        let asks = !matches!(self.given, Given::East(_) | Given::Zone(_));
        if zoned && part_of_date && asks {
            return Err(Refused::Format);
        }
        if let Given::Zone(zone) = &self.given
            && !self.has(part::DATE)
        {
            let east = zone.only_offset().ok_or(Refused::Format)?;
            return Ok((self.parts, east));
        }
        if !self.has(part::DATE) {
            let today = self.locale.zone.to_local(self.locale.now).div_euclid(DAY);
            self.set_date(today);
        }
        let east = self.resolve_offset()?;
        Ok((self.parts, east))
    }
}

/// The integer at the beginning of a text, 0 without one.
fn leading(text: &str) -> i32 {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().unwrap_or(0)
}

fn is_beyond_day(parts: &Parts) -> bool {
    !(0..=24).contains(&parts.hour)
        || !(0..60).contains(&parts.minute)
        || !(0..=60).contains(&parts.second)
        || parts.time() > DAY
}

/// Reads a date.
///
/// # Errors
/// `22007`, `22008`, `22009`, `22023`.
pub fn read_date(text: &str, locale: &Locale) -> Result<i32> {
    if let Some((days, "")) = plain_date(text) {
        return Ok(days as i32);
    }
    let meaning = fields(text).and_then(|fields| Reader::new(locale).moment(&fields));
    match meaning.map_err(|why| why.error("date", text))? {
        Meaning::Moment(parts, _) => {
            let out = |_| Error::new("22008", format!("date out of range: \"{text}\""));
            calendar::date_from(parts.days()).map_err(out)
        }
        Meaning::Epoch => Ok(0),
        Meaning::Late => Ok(LATE_DATE),
        Meaning::Early => Ok(EARLY_DATE),
    }
}

/// Days of `yyyy-mm-dd` and the rest, if it is a date.
fn plain_date(text: &str) -> Option<(i64, &str)> {
    let bytes: &[u8; 10] = text.as_bytes().first_chunk()?;
    let digit = |at: usize| match bytes[at] {
        b @ b'0'..=b'9' => Some(i64::from(b - b'0')),
        _ => None,
    };
    if bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let year = digit(0)? * 1000 + digit(1)? * 100 + digit(2)? * 10 + digit(3)?;
    let month = digit(5)? * 10 + digit(6)?;
    let day = digit(8)? * 10 + digit(9)?;
    let valid = year > 0
        && (1..=12).contains(&month)
        && day > 0
        && day <= calendar::month_days(year, month as i32).into();
    valid.then(|| (calendar::days_of(year, month, day), &text[10..]))
}

/// The timestamp of `yyyy-mm-dd`, perhaps with ` hh:mm:ss` and up to six decimals.
fn plain_stamp(text: &str) -> Option<i64> {
    let (days, rest) = plain_date(text)?;
    let midnight = days * DAY;
    if rest.is_empty() {
        return Some(midnight);
    }
    let bytes = rest.as_bytes();
    let plain =
        bytes.len() >= 9 && matches!(bytes[0], b' ' | b'T') && bytes[3] == b':' && bytes[6] == b':';
    if !plain {
        return None;
    }
    let digit = |at: usize| match bytes[at] {
        b @ b'0'..=b'9' => Some(i64::from(b - b'0')),
        _ => None,
    };
    let (hour, minute) = (digit(1)? * 10 + digit(2)?, digit(4)? * 10 + digit(5)?);
    let second = digit(7)? * 10 + digit(8)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut micros = 0;
    if bytes.len() > 9 {
        if bytes[9] != b'.' || bytes.len() > 16 {
            return None;
        }
        for at in 10..16 {
            let more = if at < bytes.len() { digit(at)? } else { 0 };
            micros = micros * 10 + more;
        }
    }
    Some(midnight + (hour * 60 + minute) * MINUTE + second * SECOND + micros)
}

/// Reads a timestamp; an offset or a zone in the text is ignored.
///
/// # Errors
/// As [`read_date`].
pub fn read_stamp(text: &str, locale: &Locale) -> Result<i64> {
    if let Some(stamp) = plain_stamp(text) {
        return Ok(stamp);
    }
    moment(text, "timestamp", locale, false)
}

/// Reads an instant.
///
/// # Errors
/// As [`read_date`].
pub fn read_stamp_tz(text: &str, locale: &Locale) -> Result<i64> {
    moment(text, "timestamp with time zone", locale, true)
}

fn moment(text: &str, ty: &str, locale: &Locale, zoned: bool) -> Result<i64> {
    let meaning = fields(text).and_then(|fields| Reader::new(locale).moment(&fields));
    match meaning.map_err(|why| why.error(ty, text))? {
        Meaning::Moment(parts, east) => {
            let stamp = parts.days().checked_mul(DAY);
            let stamp = stamp.and_then(|stamp| stamp.checked_add(parts.time()));
            let east = if zoned { i64::from(east) * SECOND } else { 0 };
            let stamp = stamp.and_then(|stamp| stamp.checked_sub(east));
            let stamp = stamp.filter(|stamp| calendar::is_stamp(*stamp));
            stamp.ok_or_else(|| Error::new("22008", format!("timestamp out of range: \"{text}\"")))
        }
        Meaning::Epoch => Ok(0),
        Meaning::Late => Ok(calendar::LATE),
        Meaning::Early => Ok(calendar::EARLY),
    }
}

/// Reads a time of day, in microseconds since midnight.
///
/// # Errors
/// As [`read_date`].
pub fn read_time(text: &str, locale: &Locale) -> Result<i64> {
    let found = fields(text).and_then(|fields| Reader::new(locale).time(&fields, false));
    let (parts, _) = found.map_err(|why| why.error("time", text))?;
    Ok(parts.time())
}

/// Reads a time of day and its offset from UTC, in seconds east.
///
/// # Errors
/// As [`read_date`].
pub fn read_timetz(text: &str, locale: &Locale) -> Result<(i64, i32)> {
    let found = fields(text).and_then(|fields| Reader::new(locale).time(&fields, true));
    let (parts, east) = found.map_err(|why| why.error("time with time zone", text))?;
    Ok((parts.time(), east))
}

/// A zone given to a function.
pub(crate) enum Sane {
    /// Seconds east of UTC.
    East(i32),
    /// An abbreviation with a history.
    Abbreviation(Zone, String),
    /// A zone.
    Zone(Zone),
}

/// The zone of a name, an abbreviation, or, if `numbers`, an offset with a sign.
///
/// # Errors
/// `22023`, `22009`.
pub(crate) fn sane_zone(name: &str, numbers: bool) -> Result<Sane> {
    if numbers {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            let message = format!("invalid input syntax for type numeric time zone: \"{name}\"");
            return Err(Error::new("22023", message)
                .with_hint("Numeric time zones must have \"-\" or \"+\" as first character."));
        }
        match offset(name) {
            Ok(east) => return Ok(Sane::East(east)),
            Err(Refused::Offset) => {
                let message = format!("numeric time zone \"{name}\" out of range");
                return Err(Error::new("22023", message));
            }
            Err(_) => {}
        }
    }
    let lower = name.to_ascii_lowercase();
    match abbreviation(&lower) {
        Some(Abbreviated::East(east)) => return Ok(Sane::East(east)),
        Some(Abbreviated::In(zone)) => return Ok(Sane::Abbreviation(zone, lower)),
        None => {}
    }
    let zone = Zone::find(name).ok_or_else(|| unrecognized(name))?;
    Ok(Sane::Zone(zone))
}
