//! The bytes of ranges and multiranges, for people.
//!
//! A range is 0 if it is empty, else its lower and its upper bound: a byte that says whether there is
//! a value (2 and 1), the value and a byte that says whether it is in the range. A multirange is its
//! ranges and a 0.

use serde::{Deserialize, Serialize};

/// A range by the type of its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RangeKind {
    Integer,
    BigInt,
    Numeric,
    Timestamp,
    TimestampTz,
    Date,
}

impl RangeKind {
    /// The name of the type, or of its multirange.
    pub(super) fn name(self, many: bool) -> &'static str {
        match (self, many) {
            (RangeKind::Integer, false) => "INT4RANGE",
            (RangeKind::BigInt, false) => "INT8RANGE",
            (RangeKind::Numeric, false) => "NUMRANGE",
            (RangeKind::Timestamp, false) => "TSRANGE",
            (RangeKind::TimestampTz, false) => "TSTZRANGE",
            (RangeKind::Date, false) => "DATERANGE",
            (RangeKind::Integer, true) => "INT4MULTIRANGE",
            (RangeKind::BigInt, true) => "INT8MULTIRANGE",
            (RangeKind::Numeric, true) => "NUMMULTIRANGE",
            (RangeKind::Timestamp, true) => "TSMULTIRANGE",
            (RangeKind::TimestampTz, true) => "TSTZMULTIRANGE",
            (RangeKind::Date, true) => "DATEMULTIRANGE",
        }
    }

    /// The number of the family of a range, or of a multirange; see
    /// [`Modifier::family`](super::Modifier::family).
    pub(super) fn family(self, many: bool) -> u8 {
        let place = match self {
            RangeKind::Integer => 0,
            RangeKind::BigInt => 1,
            RangeKind::Numeric => 2,
            RangeKind::Timestamp => 3,
            RangeKind::TimestampTz => 4,
            RangeKind::Date => 5,
        };
        16 + 2 * place + u8::from(many)
    }
}

/// The text of bytes of a range or a multirange. Bounds of NUMERIC stay bytes.
pub(super) fn shown(kind: RangeKind, many: bool, bytes: &[u8]) -> String {
    let digits = || {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("\\x{}", digits.concat())
    };
    if kind == RangeKind::Numeric {
        return digits();
    }
    let mut rest = bytes;
    let mut ranges = Vec::new();
    while let Some(range) = taken(kind, &mut rest) {
        ranges.push(range);
    }
    match (many, ranges.as_slice(), rest) {
        (true, ranges, [0]) => format!("{{{}}}", ranges.join(",")),
        (false, [], [0]) => "empty".to_owned(),
        (false, [range], []) => range.clone(),
        _ => digits(),
    }
}

/// The text of the range that bytes begin with, which is taken away.
fn taken(kind: RangeKind, rest: &mut &[u8]) -> Option<String> {
    let mut at = *rest;
    let byte = |at: &mut &[u8]| {
        let (first, after) = at.split_first()?;
        *at = after;
        Some(*first)
    };
    let lower = match byte(&mut at)? {
        1 => "(".to_owned(),
        2 => {
            let value = value(kind, &mut at)?;
            let open = if byte(&mut at)? == 0 { '[' } else { '(' };
            format!("{open}{value}")
        }
        _ => return None,
    };
    let upper = match byte(&mut at)? {
        1 => {
            let value = value(kind, &mut at)?;
            let close = if byte(&mut at)? == 1 { ']' } else { ')' };
            format!("{value}{close}")
        }
        _ => ")".to_owned(),
    };
    *rest = at;
    Some(format!("{lower},{upper}"))
}

/// The text of a value of a bound, which is taken away.
fn value(kind: RangeKind, rest: &mut &[u8]) -> Option<String> {
    let number = match kind {
        RangeKind::Integer | RangeKind::Date => {
            let (bytes, after) = rest.split_first_chunk::<4>()?;
            *rest = after;
            i64::from(i32::from_be_bytes(*bytes) ^ i32::MIN)
        }
        _ => {
            let (bytes, after) = rest.split_first_chunk::<8>()?;
            *rest = after;
            i64::from_be_bytes(*bytes) ^ i64::MIN
        }
    };
    Some(match kind {
        RangeKind::Date => match i32::try_from(number) {
            Ok(i32::MIN) => "-infinity".to_owned(),
            Ok(i32::MAX) => "infinity".to_owned(),
            _ => date(number),
        },
        RangeKind::Timestamp | RangeKind::TimestampTz => match number {
            i64::MIN => "-infinity".to_owned(),
            i64::MAX => "infinity".to_owned(),
            _ => stamp(number, kind == RangeKind::TimestampTz),
        },
        _ => number.to_string(),
    })
}

const DAY: i64 = 86_400_000_000;

/// A moment as `"2003-02-01 04:05:06"`, in UTC.
fn stamp(micros: i64, zoned: bool) -> String {
    let (days, time) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (seconds, part) = (time / 1_000_000, time % 1_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut text = format!("{hours:02}:{minutes:02}:{seconds:02}");
    if part > 0 {
        let part = format!(".{part:06}");
        text.push_str(part.trim_end_matches('0'));
    }
    if zoned {
        text.push_str("+00");
    }
    let date = date(days);
    match date.strip_suffix(" BC") {
        Some(date) => format!("\"{date} {text} BC\""),
        None => format!("\"{date} {text}\""),
    }
}

/// The date that comes days after 1970-01-01.
fn date(days: i64) -> String {
    // Years begin in March here, so that the leap day comes last.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    match year {
        1.. => format!("{year:04}-{month:02}-{day:02}"),
        // The year before 1 is 1 BC.
        _ => format!("{:04}-{month:02}-{day:02} BC", 1 - year),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown() {
        let integer = |n: i32| (n ^ i32::MIN).to_be_bytes().to_vec();
        let long = |n: i64| (n ^ i64::MIN).to_be_bytes().to_vec();
        let range =
            |low: Vec<u8>, high: Vec<u8>| [vec![2], low, vec![0, 1], high, vec![0]].concat();
        let one = range(integer(-1), integer(5));
        assert_eq!(shown(RangeKind::Integer, false, &one), "[-1,5)");
        assert_eq!(shown(RangeKind::Integer, false, &[0]), "empty");
        assert_eq!(shown(RangeKind::Integer, false, &[1, 2]), "(,)");
        assert_eq!(shown(RangeKind::Integer, false, &one[1..3]), "\\x7fff");
        let many = [one.clone(), range(integer(7), integer(9)), vec![0]].concat();
        assert_eq!(shown(RangeKind::Integer, true, &many), "{[-1,5),[7,9)}");
        assert_eq!(shown(RangeKind::Integer, true, &[0]), "{}");
        let dates = range(integer(-719_163), integer(11_016));
        assert_eq!(
            shown(RangeKind::Date, false, &dates),
            "[0001-12-31 BC,2000-02-29)"
        );
        let moments = range(long(i64::MIN), long(1_500_000));
        assert_eq!(
            shown(RangeKind::TimestampTz, false, &moments),
            "[-infinity,\"1970-01-01 00:00:01.5+00\")"
        );
        assert_eq!(shown(RangeKind::Numeric, false, &[0]), "\\x00");
    }
}
