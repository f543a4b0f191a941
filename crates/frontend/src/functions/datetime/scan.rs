//! `to_date` and `to_timestamp` of texts by templates.
//!
//! A pattern takes the characters of its value, another character of the template takes one
//! character whatever it is. Blanks before a value are skipped unless `FX` was seen. An integer
//! has as many digits as its pattern, or any number if no digit may follow it.
//!
//! ```text
//! to_date('05 Dec 2000', 'DD Mon YYYY')   2000-12-05
//! ```

use super::super::kernel::{Date, Stamp, Str, w2};
use super::super::{Catalogue, scalar};
use super::template::{
    DAYS, Ending, Key, MONTHS, Node, Pattern, ROMAN, ends_by_itself, is_separator, is_space, nodes,
};
use super::{of, settings};
use crate::error::{Error, Result};
use crate::types::Type;
use crate::values::datetime::calendar::{self, DAY, Parts, SECOND};
use crate::values::datetime::stamp_out_of_range;

/// A calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Convention {
    Gregorian,
    IsoWeek,
}

/// Values of patterns; zero is none.
#[derive(Debug, Default)]
struct Found {
    convention: Option<Convention>,
    hour: i32,
    minute: i32,
    second: i32,
    second_of_day: i32,
    weekday: i32,
    day: i32,
    day_of_year: i32,
    month: i32,
    milli: i32,
    year: i32,
    before_christ: i32,
    week: i32,
    week_of_month: i32,
    century: i32,
    julian: i32,
    micro: i32,
    /// Digits of the year's pattern.
    year_digits: u8,
    half_day: bool,
    afternoon: i32,
    zone_sign: i32,
    zone_hour: i32,
    zone_minute: i32,
    decimals: Option<u8>,
}

/// A date and a time that was read.
struct Scanned {
    parts: Parts,
    /// Seconds east of UTC.
    east: Option<i32>,
    decimals: Option<u8>,
}

impl Key {
    fn convention(self) -> Option<Convention> {
        match self {
            Key::DayOfYear
            | Key::Day
            | Key::Weekday
            | Key::Month
            | Key::MonthName
            | Key::MonthShort
            | Key::Roman
            | Key::Week
            | Key::WeekOfMonth
            | Key::YearComma
            | Key::Year(_) => Some(Convention::Gregorian),
            Key::IsoDayOfYear | Key::IsoWeekday | Key::IsoWeek | Key::IsoYear(_) => {
                Some(Convention::IsoWeek)
            }
            _ => None,
        }
    }
}

/// Sets a value that is not set, or is set to the same.
fn set(to: &mut i32, value: i32, pattern: &Pattern) -> Result<()> {
    if *to != 0 && *to != value {
        let name = &pattern.name;
        return Err(Error::new(
            "22007",
            format!("conflicting values for \"{name}\" field in formatting string"),
        )
        .with_detail("This value contradicts a previous setting for the same field type."));
    }
    *to = value;
    Ok(())
}

/// The rest of a text behind its blanks.
fn unspaced(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// The rest of a text behind its first character.
fn behind_one(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

/// An integer as C reads it, blanks and a sign before it; its bytes are 0 if there is none.
fn leading(text: &str) -> (Option<i64>, usize) {
    let body = unspaced(text);
    let unsigned = body.strip_prefix(['-', '+']).unwrap_or(body);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return (Some(0), 0);
    }
    let end = text.len() - unsigned.len() + digits;
    (
        body[..body.len() - unsigned.len() + digits].parse().ok(),
        end,
    )
}

/// At most some bytes of a text.
fn at_most(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev();
    let end = end.into_iter().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

fn invalid(value: &str, pattern: &Pattern) -> Error {
    let name = &pattern.name;
    Error::new("22007", format!("invalid value \"{value}\" for \"{name}\""))
}

/// Reads an integer of a pattern; also gives the bytes that it took.
fn integer(nodes: &[Node], at: usize, length: usize, rest: &mut &str) -> Result<(i32, usize)> {
    let Some(Node::Pattern(pattern)) = nodes.get(at) else {
        return Err(Error::internal("a value without a pattern"));
    };
    let name = &pattern.name;
    let start = *rest;
    let body = unspaced(start);
    let copy = at_most(body, length);
    let hint = "If your source string is not fixed-width, try using the \"FM\" modifier.";
    let value;
    if pattern.fill || ends_by_itself(nodes, at) {
        let (found, used) = leading(start);
        value = found;
        *rest = &start[used..];
    } else {
        if body.len() < length {
            let message = format!("source string too short for \"{name}\" formatting field");
            let left = body.len();
            return Err(Error::new("22007", message)
                .with_detail(format!(
                    "Field requires {length} characters, but only {left} remain."
                ))
                .with_hint(hint));
        }
        let (found, used) = leading(copy);
        if used > 0 && used < length {
            return Err(invalid(copy, pattern)
                .with_detail(format!(
                    "Field requires {length} characters, but only {used} could be parsed."
                ))
                .with_hint(hint));
        }
        value = found;
        *rest = &body[used..];
    }
    if rest.len() == start.len() {
        return Err(invalid(copy, pattern).with_detail("Value must be an integer."));
    }
    let value = value
        .and_then(|value| i32::try_from(value).ok())
        .ok_or_else(|| {
            let message = format!("value for \"{name}\" in source string is out of range");
            Error::new("22008", message).with_detail(format!(
                "Value must be in the range {} to {}.",
                i32::MIN,
                i32::MAX
            ))
        })?;
    Ok((value, start.len() - rest.len()))
}

/// Reads one of some names; gives its place among them.
fn one_of(names: &[&str], pattern: &Pattern, rest: &mut &str) -> Result<i32> {
    let found = names.iter().position(|name| {
        let head = rest.as_bytes().get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
    });
    let Some(found) = found else {
        let word = rest.split(is_space).next().unwrap_or("");
        return Err(invalid(word, pattern).with_detail(
            "The given value did not match any of the allowed values for this field.",
        ));
    };
    *rest = &rest[names[found].len()..];
    Ok(found as i32)
}

/// A year of less than four digits, near 2020.
fn near_2020(year: i32) -> i32 {
    match year {
        ..70 => year.saturating_add(2000),
        70..100 => year + 1900,
        100..520 => year + 2000,
        520..1000 => year + 1000,
        _ => year,
    }
}

/// Reads the values of a template's patterns.
fn scan(text: &str, nodes: &[Node]) -> Result<Found> {
    let mut found = Found::default();
    let mut rest = text;
    let mut fixed = false;
    // Blanks that were skipped beyond those of the template.
    let mut extra = 0i64;
    for (at, node) in nodes.iter().enumerate() {
        if rest.is_empty() {
            break;
        }
        let is_fx = matches!(node, Node::Pattern(pattern) if pattern.key == Key::Fixed);
        let skips = matches!(node, Node::Pattern(_)) || at == 0;
        if !fixed && !is_fx && skips {
            let skipped = unspaced(rest);
            extra += (rest.len() - skipped.len()) as i64;
            rest = skipped;
        }
        let pattern = match node {
            Node::Pattern(pattern) => pattern,
            Node::Space(_) | Node::Separator(_) if fixed => {
                rest = behind_one(rest);
                continue;
            }
            Node::Space(_) | Node::Separator(_) => {
                extra -= 1;
                if rest.starts_with(|c: char| is_space(c) || is_separator(c)) {
                    rest = behind_one(rest);
                    extra += 1;
                }
                continue;
            }
            Node::Other(_) => {
                if !fixed && extra > 0 {
                    extra -= 1;
                } else {
                    rest = behind_one(rest);
                }
                continue;
            }
        };
        if let Some(convention) = pattern.key.convention() {
            let known = *found.convention.get_or_insert(convention);
            if known != convention {
                return Err(
                    Error::new("22007", "invalid combination of date conventions").with_hint(
                        "Do not mix Gregorian and ISO week date conventions in a formatting \
                         template.",
                    ),
                );
            }
        }
        if is_fx {
            fixed = true;
        } else {
            let before = &text[..text.len() - rest.len()];
            let minus = extra > 0 && before.ends_with('-');
            value(nodes, at, pattern, &mut rest, &mut found, minus)?;
        }
        if !fixed {
            let skipped = unspaced(rest);
            extra = (rest.len() - skipped.len()) as i64;
            rest = skipped;
        }
    }
    Ok(found)
}

/// Reads the value of a pattern. `minus` says that a minus sign was skipped before it.
fn value(
    nodes: &[Node],
    at: usize,
    pattern: &Pattern,
    rest: &mut &str,
    found: &mut Found,
    minus: bool,
) -> Result<()> {
    let own = pattern.name.len();
    let int = |length: usize, rest: &mut &str| integer(nodes, at, length, rest);
    let mut numbered = true;
    match pattern.key {
        Key::Fixed => {}
        Key::Noon | Key::NoonDotted => {
            let names = match pattern.key {
                Key::Noon => ["am", "pm"],
                _ => ["a.m.", "p.m."],
            };
            set(
                &mut found.afternoon,
                one_of(&names, pattern, rest)?,
                pattern,
            )?;
            found.half_day = true;
            numbered = false;
        }
        Key::Era | Key::EraDotted => {
            let names = match pattern.key {
                Key::Era => ["ad", "bc"],
                _ => ["a.d.", "b.c."],
            };
            set(
                &mut found.before_christ,
                one_of(&names, pattern, rest)?,
                pattern,
            )?;
            numbered = false;
        }
        Key::Hour12 => {
            set(&mut found.hour, int(2, rest)?.0, pattern)?;
            found.half_day = true;
        }
        Key::Hour24 => set(&mut found.hour, int(2, rest)?.0, pattern)?,
        Key::Minute => set(&mut found.minute, int(own, rest)?.0, pattern)?,
        Key::Second => set(&mut found.second, int(own, rest)?.0, pattern)?,
        Key::SecondOfDay => set(&mut found.second_of_day, int(own, rest)?.0, pattern)?,
        Key::Millisecond => {
            let (value, length) = int(3, rest)?;
            set(&mut found.milli, value, pattern)?;
            let power = 3u32.saturating_sub(length as u32);
            found.milli = found.milli.saturating_mul(10i32.pow(power));
        }
        Key::Fraction(_) | Key::Microsecond => {
            let mut digits = 6;
            if let Key::Fraction(of) = pattern.key {
                digits = usize::from(of);
                found.decimals = Some(of);
            }
            let (value, length) = int(digits, rest)?;
            set(&mut found.micro, value, pattern)?;
            let power = 6u32.saturating_sub(length as u32);
            found.micro = found.micro.saturating_mul(10i32.pow(power));
        }
        Key::Zone | Key::Offset => {
            let name = &pattern.name;
            let message = format!("formatting field \"{name}\" is only supported in to_char");
            return Err(Error::unsupported(message));
        }
        Key::ZoneHour => {
            found.zone_sign = if minus { -1 } else { 1 };
            if let Some(sign) = rest.chars().next().filter(|c| "+- ".contains(*c)) {
                found.zone_sign = if sign == '-' { -1 } else { 1 };
                *rest = behind_one(rest);
            }
            set(&mut found.zone_hour, int(2, rest)?.0, pattern)?;
            numbered = false;
        }
        Key::ZoneMinute => {
            if found.zone_sign == 0 {
                found.zone_sign = 1;
            }
            set(&mut found.zone_minute, int(2, rest)?.0, pattern)?;
            numbered = false;
        }
        Key::MonthName | Key::MonthShort => {
            let short = MONTHS.map(|name| &name[..3]);
            let names = match pattern.key {
                Key::MonthName => &MONTHS,
                _ => &short,
            };
            set(&mut found.month, one_of(names, pattern, rest)? + 1, pattern)?;
            numbered = false;
        }
        Key::Month => set(&mut found.month, int(own, rest)?.0, pattern)?,
        Key::DayName | Key::DayShort => {
            let short = DAYS.map(|name| &name[..3]);
            let names = match pattern.key {
                Key::DayName => &DAYS,
                _ => &short,
            };
            // The number before it is shifted is what is compared.
            set(&mut found.weekday, one_of(names, pattern, rest)?, pattern)?;
            found.weekday += 1;
            numbered = false;
        }
        Key::DayOfYear | Key::IsoDayOfYear => {
            set(&mut found.day_of_year, int(3, rest)?.0, pattern)?;
        }
        Key::Day => set(&mut found.day, int(own, rest)?.0, pattern)?,
        Key::Weekday => set(&mut found.weekday, int(own, rest)?.0, pattern)?,
        Key::IsoWeekday => {
            set(&mut found.weekday, int(1, rest)?.0, pattern)?;
            // Sunday is 1.
            found.weekday = found.weekday.saturating_add(1);
            if found.weekday > 7 {
                found.weekday = 1;
            }
        }
        Key::Week | Key::IsoWeek => set(&mut found.week, int(own, rest)?.0, pattern)?,
        Key::WeekOfMonth => set(&mut found.week_of_month, int(own, rest)?.0, pattern)?,
        Key::Quarter => {
            int(own, rest)?;
        }
        Key::Century => set(&mut found.century, int(own, rest)?.0, pattern)?,
        Key::YearComma => {
            set(&mut found.year, year_with_comma(rest, pattern)?, pattern)?;
            found.year_digits = 4;
        }
        Key::Year(digits) | Key::IsoYear(digits) => {
            let (value, length) = int(own, rest)?;
            set(&mut found.year, value, pattern)?;
            if digits < 4 && length < 4 {
                found.year = near_2020(found.year);
            }
            found.year_digits = digits;
        }
        Key::Roman => {
            // Longer numerals come before those that they begin with.
            let reversed: Vec<&str> = ROMAN.iter().rev().copied().collect();
            let at = one_of(&reversed, pattern, rest)?;
            set(&mut found.month, 12 - at, pattern)?;
            numbered = false;
        }
        Key::Julian => set(&mut found.julian, int(own, rest)?.0, pattern)?,
    }
    if numbered && pattern.ending != Ending::None {
        *rest = behind_one(behind_one(rest));
    }
    Ok(())
}

/// A year such as `2,003`.
fn year_with_comma(rest: &mut &str, pattern: &Pattern) -> Result<i32> {
    let bad = || Error::new("22007", "invalid input string for \"Y,YYY\"");
    let (thousands, used) = leading(rest);
    let behind = rest[used..]
        .strip_prefix(',')
        .filter(|_| used > 0)
        .ok_or_else(bad)?;
    let (years, length) = leading(at_most(unspaced(behind), 3));
    if length == 0 {
        return Err(bad());
    }
    let out = || {
        let name = &pattern.name;
        Error::new(
            "22008",
            format!("value for \"{name}\" in source string is out of range"),
        )
    };
    let year = thousands.and_then(|thousands| thousands.checked_mul(1000));
    let year = year.zip(years).and_then(|(a, b)| a.checked_add(b));
    let year = year
        .and_then(|year| i32::try_from(year).ok())
        .ok_or_else(out)?;
    *rest = &unspaced(behind)[length..];
    Ok(year)
}

/// Completes what was found to a date and a time.
fn complete(text: &str, mut found: Found) -> Result<Scanned> {
    let bad = || {
        Error::new(
            "22008",
            format!("date/time field value out of range: \"{text}\""),
        )
    };
    let mut parts = Parts {
        month: 1,
        day: 1,
        ..Parts::default()
    };
    let (mut has_year, mut has_month, mut has_day) = (false, false, false);
    if found.second_of_day != 0 {
        let seconds = found.second_of_day;
        parts.hour = seconds / 3600;
        parts.minute = seconds % 3600 / 60;
        parts.second = seconds % 60;
    }
    let given = |to: &mut i32, value: i32| {
        if value != 0 {
            *to = value;
        }
    };
    given(&mut parts.second, found.second);
    given(&mut parts.minute, found.minute);
    given(&mut parts.hour, found.hour);
    if found.half_day {
        if !(1..=12).contains(&parts.hour) {
            let hour = parts.hour;
            let message = format!("hour \"{hour}\" is invalid for the 12-hour clock");
            return Err(Error::new("22007", message)
                .with_hint("Use the 24-hour clock, or give an hour between 1 and 12."));
        }
        if found.afternoon != 0 && parts.hour < 12 {
            parts.hour += 12;
        } else if found.afternoon == 0 && parts.hour == 12 {
            parts.hour = 0;
        }
    }
    let before = found.before_christ != 0;
    let mut year = i64::from(parts.year);
    let century = i64::from(found.century) * if before { -1 } else { 1 };
    if found.year != 0 {
        year = i64::from(found.year);
        if found.century != 0 && found.year_digits <= 2 {
            let of_century = year % 100;
            year = match (of_century, century >= 0) {
                (0, true) => century * 100,
                (0, false) => century * 100 + 1,
                (of_century, true) => of_century + (century - 1) * 100,
                (of_century, false) => (century + 1) * 100 - of_century + 1,
            };
        } else {
            if before {
                year = -year;
            }
            if year < 0 {
                year += 1;
            }
        }
        has_year = true;
    } else if found.century != 0 {
        year = match century >= 0 {
            true => (century - 1) * 100 + 1,
            false => century * 100 + 1,
        };
        has_year = true;
    }
    parts.year = i32::try_from(year).map_err(|_| bad())?;
    let set_days = |parts: &mut Parts, days: i64| {
        let (year, month, day) = calendar::civil(days);
        (parts.year, parts.month, parts.day) = (year as i32, month, day);
    };
    if found.julian != 0 {
        set_days(&mut parts, i64::from(found.julian) - calendar::JULIAN_EPOCH);
        (has_year, has_month, has_day) = (true, true, true);
    }
    let iso = found.convention == Some(Convention::IsoWeek);
    if found.week != 0 {
        if iso {
            let monday = calendar::iso_year_start(parts.year.into());
            let monday = monday + (i64::from(found.week) - 1) * 7;
            let day = match found.weekday {
                0 => 0,
                ..=1 => 6,
                day => i64::from(day) - 2,
            };
            set_days(&mut parts, monday + day);
            (has_year, has_month, has_day) = (true, true, true);
        } else {
            found.day_of_year = found
                .week
                .saturating_sub(1)
                .saturating_mul(7)
                .saturating_add(1);
        }
    }
    if found.week_of_month != 0 {
        let days = found.week_of_month.saturating_sub(1).saturating_mul(7);
        found.day = days.saturating_add(1);
    }
    if found.day != 0 {
        parts.day = found.day;
        has_day = true;
    }
    if found.month != 0 {
        parts.month = found.month;
        has_month = true;
    }
    if found.day_of_year != 0 && (parts.month <= 1 || parts.day <= 1) {
        if parts.year == 0 && !before {
            return Err(Error::new(
                "22007",
                "cannot calculate day of year without year information",
            ));
        }
        let day_of_year = i64::from(found.day_of_year);
        if iso {
            let first = calendar::iso_year_start(parts.year.into());
            set_days(&mut parts, first + day_of_year - 1);
            has_year = true;
        } else {
            let year = i64::from(parts.year);
            let mut month = 1;
            let mut left = day_of_year;
            while month <= 12 && left > calendar::month_days(year, month).into() {
                left -= i64::from(calendar::month_days(year, month));
                month += 1;
            }
            if parts.month <= 1 {
                parts.month = month;
            }
            if parts.day <= 1 {
                parts.day = i32::try_from(left).map_err(|_| bad())?;
            }
        }
        (has_month, has_day) = (true, true);
    }
    let micros = i64::from(found.milli) * 1000 + i64::from(found.micro);
    if has_month && !(1..=12).contains(&parts.month) || has_day && !(1..=31).contains(&parts.day) {
        return Err(bad());
    }
    let most = calendar::month_days(parts.year.into(), parts.month);
    if has_year && has_month && has_day && parts.day > most {
        return Err(bad());
    }
    let valid = (0..24).contains(&parts.hour)
        && (0..60).contains(&parts.minute)
        && (0..60).contains(&parts.second)
        && (0..SECOND).contains(&micros);
    if !valid {
        return Err(bad());
    }
    parts.micro = micros as i32;
    let mut east = None;
    if found.zone_sign != 0 {
        let (hours, minutes) = (found.zone_hour, found.zone_minute);
        if !(0..=15).contains(&hours) || !(0..60).contains(&minutes) {
            return Err(bad());
        }
        east = Some(found.zone_sign * (hours * 3600 + minutes * 60));
    }
    Ok(Scanned {
        parts,
        east,
        decimals: found.decimals,
    })
}

fn scanned(text: &str, template: &str) -> Result<Scanned> {
    complete(text, scan(text, &nodes(template))?)
}

pub(super) fn register(c: &mut Catalogue) {
    let texts = [Type::Text, Type::Text];
    let f = w2::<Str, Str, Date>(|_, text, template| {
        let parts = scanned(text, template)?.parts;
        let out = |_| Error::new("22008", format!("date out of range: \"{text}\""));
        calendar::date_from(parts.days()).map_err(out)
    });
    c.add(scalar("to_date", &texts, of::DATE, f).stable());
    let f = w2::<Str, Str, Stamp>(|call, text, template| {
        let scanned = scanned(text, template)?;
        let local = scanned.parts.days().checked_mul(DAY);
        let local = local.and_then(|days| days.checked_add(scanned.parts.time()));
        let local = local.ok_or_else(stamp_out_of_range)?;
        let zone = &settings(call).zone;
        let east = match scanned.east {
            Some(east) => east,
            None => zone.east_of_local(local),
        };
        let utc = local.checked_sub(i64::from(east) * SECOND);
        let utc = utc.filter(|utc| calendar::is_stamp(*utc));
        let utc = utc.ok_or_else(stamp_out_of_range)?;
        super::casts::rounded_stamp(utc, &Type::TimestampTz(scanned.decimals))
    });
    c.add(scalar("to_timestamp", &texts, of::STAMPTZ, f).stable());
}
