//! Time zones: the offset from UTC of an instant and of a local time.
//!
//! A zone is one of IANA's database, which is a part of this program; one of POSIX's form, such
//! as `EST5EDT` or `<+03>-3`; or a number of hours. POSIX counts west: `UTC+3` is three hours
//! behind.
//!
//! A local time that the clock skips is read with the offset before; one that it shows twice is
//! read with the offset after. The database's calendar ends in the year 9999. The Gregorian
//! calendar repeats itself after 400 years, and later instants use the last rule by that.

use std::sync::{LazyLock, RwLock};

use std::collections::HashMap;

use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, civil::DateTime};

use super::abbreviations::{DYNAMIC, FIXED};
use super::calendar::{DAY, Parts, SECOND, is_stamp};

/// A time zone.
#[derive(Clone, Debug, Default)]
pub enum Zone {
    /// UTC.
    #[default]
    Utc,
    /// One offset, with the abbreviation it is shown by.
    Fixed {
        /// Seconds east of UTC.
        east: i32,
        /// Abbreviation.
        name: String,
    },
    /// A zone with a history or rules.
    Ruled(TimeZone),
}

/// The clock of a zone at an instant.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Seconds east of UTC.
    pub east: i32,
    /// Abbreviation, such as `CEST`.
    pub abbreviation: String,
    /// Whether it is summer time.
    pub summer: bool,
}

/// The meaning of an abbreviation.
#[derive(Clone, Debug)]
pub(crate) enum Abbreviated {
    /// Seconds east of UTC.
    East(i32),
    /// The offset that the zone's history gives.
    In(Zone),
}

/// Microseconds of 400 years.
const CYCLE: i64 = 146_097 * DAY;
/// An instant in the year 9800.
const LAST: i64 = 247_000_000_000 * SECOND;
/// Zones that are kept when they were found.
const KEPT: usize = 4096;

static BUNDLED: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);
static FOUND: LazyLock<RwLock<HashMap<String, Option<Zone>>>> = LazyLock::new(RwLock::default);

/// Whether a text is a value of the setting `TimeZone`.
pub fn zone_exists(name: &str) -> bool {
    Zone::of_setting(name).is_some()
}

/// A value of the setting `TimeZone` as it is shown: a number of hours is an offset of POSIX's
/// form, such as `<-01:30>+01:30`, in which the second half has the other sign; a name has its
/// capitals.
pub fn shown_zone(name: &str) -> String {
    match Zone::of_hours(name) {
        Some(Zone::Fixed { east, name }) => {
            let sign = if east < 0 { '+' } else { '-' };
            format!("<{name}>{sign}{}", &name[1..])
        }
        _ => {
            let known = BUNDLED.get(name).ok();
            let known = known.and_then(|zone| zone.iana_name().map(str::to_owned));
            known.unwrap_or_else(|| name.to_owned())
        }
    }
}

/// Every zone by its name, with its abbreviation now, the seconds that it is east of UTC, and
/// whether its clocks are ahead for the summer.
pub fn zones_now() -> Vec<(String, String, i32, bool)> {
    let now = Timestamp::now();
    let names = BUNDLED.available();
    let zones = names.filter_map(|name| {
        let zone = BUNDLED.get(name.as_str()).ok()?;
        let info = zone.to_offset_info(now);
        let abbreviation = info.abbreviation().to_owned();
        Some((
            name.as_str().to_owned(),
            abbreviation,
            info.offset().seconds(),
            info.dst().is_dst(),
        ))
    });
    zones.collect()
}

/// An instant as the database's library has it, within its range.
fn instant(utc: i64) -> Timestamp {
    let mut utc = utc;
    if utc > LAST {
        utc -= ((utc - LAST) / CYCLE + 1) * CYCLE;
    }
    Timestamp::from_microsecond(utc).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Whether a text has only what a number is written with.
fn is_plain(text: &str) -> bool {
    let mut bytes = text.trim().bytes();
    bytes.all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b))
}

impl Zone {
    /// The zone of a name of the database or of POSIX's form, in any case.
    pub fn find(name: &str) -> Option<Zone> {
        if name.len() > 255 {
            return None;
        }
        if let Ok(found) = FOUND.read()
            && let Some(zone) = found.get(name)
        {
            return zone.clone();
        }
        let zone = Self::look_up(name);
        if let Ok(mut found) = FOUND.write()
            && found.len() < KEPT
        {
            found.insert(name.to_owned(), zone.clone());
        }
        zone
    }

    fn look_up(name: &str) -> Option<Zone> {
        if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("gmt") {
            return Some(match name.eq_ignore_ascii_case("utc") {
                true => Zone::Utc,
                false => Zone::fixed(0, "GMT"),
            });
        }
        let known = name.bytes().any(|b| b.is_ascii_alphabetic());
        if known
            && let Ok(zone) = BUNDLED.get(name)
            && !zone.is_unknown()
        {
            return Some(Zone::Ruled(zone));
        }
        posix(&name.to_ascii_uppercase())
    }

    /// The zone of a value of the setting `TimeZone`: a name, or hours east of UTC.
    pub fn of_setting(name: &str) -> Option<Zone> {
        let is_number = name.trim().parse::<f64>().is_ok();
        Zone::of_hours(name).or_else(|| match is_number && is_plain(name) {
            true => None,
            false => Zone::find(name),
        })
    }

    /// The zone of a number of hours east of UTC.
    fn of_hours(text: &str) -> Option<Zone> {
        let hours = text.trim().parse::<f64>().ok();
        let east = hours.filter(|_| is_plain(text))? * 3600.0;
        (east.abs() <= 168.0 * 3600.0).then(|| Zone::offset(east as i32))
    }

    /// One offset with an abbreviation.
    pub fn fixed(east: i32, name: &str) -> Zone {
        let name = name.to_owned();
        Zone::Fixed { east, name }
    }

    /// One offset, which is shown as a number.
    pub fn offset(east: i32) -> Zone {
        let sign = if east < 0 { '-' } else { '+' };
        let (hours, rest) = (east.abs() / 3600, east.abs() % 3600);
        let mut name = format!("{sign}{hours:02}");
        if rest != 0 {
            name.push_str(&format!(":{:02}", rest / 60));
        }
        if rest % 60 != 0 {
            name.push_str(&format!(":{:02}", rest % 60));
        }
        Zone::Fixed { east, name }
    }

    /// Seconds east of UTC at an instant.
    #[inline]
    pub fn east_at(&self, utc: i64) -> i32 {
        match self {
            Zone::Utc => 0,
            Zone::Fixed { east, .. } => *east,
            Zone::Ruled(zone) => zone.to_offset(instant(utc)).seconds(),
        }
    }

    /// The clock at an instant.
    pub fn clock_at(&self, utc: i64) -> Clock {
        let (east, abbreviation, summer) = match self {
            Zone::Utc => (0, "UTC".to_owned(), false),
            Zone::Fixed { east, name } => (*east, name.clone(), false),
            Zone::Ruled(zone) => {
                let info = zone.to_offset_info(instant(utc));
                let (east, name) = (info.offset().seconds(), info.abbreviation());
                (east, name.to_owned(), info.dst().is_dst())
            }
        };
        Clock {
            east,
            abbreviation,
            summer,
        }
    }

    /// Seconds east of UTC when the clock shows a time.
    pub fn east_of_local(&self, local: i64) -> i32 {
        let zone = match self {
            Zone::Utc => return 0,
            Zone::Fixed { east, .. } => return *east,
            Zone::Ruled(zone) => zone,
        };
        let mut local = local;
        if local > LAST {
            local -= ((local - LAST) / CYCLE + 1) * CYCLE;
        }
        let Some(shown) = shown(local) else {
            return zone.to_offset(instant(local)).seconds();
        };
        match zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
            AmbiguousOffset::Gap { before, .. } => before.seconds(),
            AmbiguousOffset::Fold { after, .. } => after.seconds(),
        }
    }

    /// The time that the clock shows at an instant.
    #[inline]
    pub fn to_local(&self, utc: i64) -> i64 {
        utc.saturating_add(i64::from(self.east_at(utc)) * SECOND)
    }

    /// The instant at which the clock shows a time, if it is a timestamp.
    #[inline]
    pub fn to_utc(&self, local: i64) -> Option<i64> {
        let east = i64::from(self.east_of_local(local)) * SECOND;
        local.checked_sub(east).filter(|utc| is_stamp(*utc))
    }

    /// The one offset of a zone that never had another, in seconds east of UTC.
    pub(crate) fn only_offset(&self) -> Option<i32> {
        match self {
            Zone::Utc => Some(0),
            Zone::Fixed { east, .. } => Some(*east),
            Zone::Ruled(zone) => {
                if let Ok(offset) = zone.to_fixed_offset() {
                    return Some(offset.seconds());
                }
                let first = zone.following(Timestamp::MIN).next();
                first
                    .is_none()
                    .then(|| zone.to_offset(Timestamp::UNIX_EPOCH).seconds())
            }
        }
    }

    /// The offset that an abbreviation has in this zone when the clock shows a time: the last
    /// one that it had by then, or the first after; without any, the zone's own.
    pub(crate) fn east_of_abbreviation(&self, abbreviation: &str, local: i64) -> i32 {
        let own = self.east_of_local(local);
        let utc = local.saturating_sub(i64::from(own) * SECOND);
        self.east_of_abbreviation_at(abbreviation, utc, own)
    }

    /// The same at an instant, at which the zone's clock is so many seconds east of UTC.
    pub(crate) fn east_of_abbreviation_at(&self, abbreviation: &str, utc: i64, own: i32) -> i32 {
        let Zone::Ruled(zone) = self else {
            return own;
        };
        // No rule changes after 2037.
        let until = Timestamp::from_second(2_145_916_800).unwrap_or(Timestamp::UNIX_EPOCH);
        let now = instant(utc).min(until);
        let is = |name: &str| name.eq_ignore_ascii_case(abbreviation);
        let info = zone.to_offset_info(now);
        if is(info.abbreviation()) {
            return info.offset().seconds();
        }
        let before = zone.preceding(now).find(|t| is(t.abbreviation()));
        let found = before.or_else(|| {
            let mut after = zone.following(now).take_while(|t| t.timestamp() < until);
            after.find(|t| is(t.abbreviation()))
        });
        if let Some(found) = found {
            return found.offset().seconds();
        }
        let first = zone.to_offset_info(Timestamp::MIN);
        match is(first.abbreviation()) {
            true => first.offset().seconds(),
            false => own,
        }
    }
}

/// A local time as the database's library has it.
fn shown(local: i64) -> Option<DateTime> {
    let parts = Parts::of_stamp(local);
    DateTime::new(
        parts.year.try_into().ok()?,
        parts.month as i8,
        parts.day as i8,
        parts.hour as i8,
        parts.minute as i8,
        parts.second as i8,
        parts.micro * 1000,
    )
    .ok()
}

/// The meaning of an abbreviation in small letters.
pub(crate) fn abbreviation(name: &str) -> Option<Abbreviated> {
    let name = name.get(..10).unwrap_or(name);
    if let Ok(at) = FIXED.binary_search_by(|(known, _)| (*known).cmp(name)) {
        return Some(Abbreviated::East(FIXED[at].1));
    }
    let at = DYNAMIC.binary_search_by(|(known, _)| (*known).cmp(name));
    Zone::find(DYNAMIC[at.ok()?].1).map(Abbreviated::In)
}

/// A zone of POSIX's form: a name, hours west of UTC, and perhaps summer time's name, offset
/// and rule. Without a rule, that of the United States holds.
fn posix(text: &str) -> Option<Zone> {
    let (name, rest) = posix_name(text)?;
    let (west, rest) = posix_offset(rest)?;
    if rest.is_empty() {
        return Some(Zone::fixed(-west, name));
    }
    // Summer time begins and ends by a rule.
    let (summer, after) = posix_name(rest)?;
    if summer.is_empty() {
        return None;
    }
    let (ahead, rule) = match after.is_empty() || after.starts_with([',', ';']) {
        true => (None, after),
        false => posix_offset(after).map(|(west, rule)| (Some(west), rule))?,
    };
    let rule = match rule.is_empty() {
        true => ",M3.2.0,M11.1.0",
        false => rule,
    };
    let offset = |west: i32| {
        let sign = if west < 0 { "-" } else { "" };
        let west = west.abs();
        format!(
            "{sign}{}:{:02}:{:02}",
            west / 3600,
            west / 60 % 60,
            west % 60
        )
    };
    let least = ahead.map_or(0, i32::abs);
    let ahead = ahead.map(offset).unwrap_or_default();
    // The library reads names of three letters and more only.
    let named = |name: &str, other: &str| {
        let length = name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-".contains(&b));
        let name = if length && name.len() >= 3 {
            name
        } else {
            other
        };
        format!("<{name}>")
    };
    let (standard, summer) = (named(name, "-00"), named(summer, "-01"));
    let rules = format!("{standard}{}{summer}{ahead}{rule}", offset(west));
    match TimeZone::posix(&rules) {
        Ok(zone) => Some(Zone::Ruled(zone)),
        // The library holds offsets of a day. Further ones have no summer here.
        Err(_) if west.abs().max(least) > 25 * 3600 => Some(Zone::fixed(-west, name)),
        Err(_) => None,
    }
}

fn posix_name(text: &str) -> Option<(&str, &str)> {
    if let Some(quoted) = text.strip_prefix('<') {
        return quoted.split_once('>');
    }
    let end = text.find(|c: char| c.is_ascii_digit() || c == ',' || c == '-' || c == '+');
    Some(text.split_at(end.unwrap_or(text.len())))
}

/// Seconds of `[+-]hh[:mm[:ss]]`, and the rest.
fn posix_offset(text: &str) -> Option<(i32, &str)> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let number = |limit: i32, text: &mut &str| {
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let value = text[..end].parse::<i32>().ok().filter(|n| *n <= limit)?;
        *text = &text[end..];
        Some(value)
    };
    let mut seconds = number(167, &mut rest)? * 3600;
    for (limit, unit) in [(59, 60), (60, 1)] {
        if let Some(mut more) = rest.strip_prefix(':') {
            seconds += number(limit, &mut more)? * unit;
            rest = more;
        } else {
            break;
        }
    }
    Some((sign * seconds, rest))
}
