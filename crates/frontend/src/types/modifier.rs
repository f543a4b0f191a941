//! Modifiers of types that [`Type`](super::Type) has no place for, as the numbers that
//! PostgreSQL's catalog and its functions `numeric(n, modifier)` and `interval(i, modifier)`
//! have for them.
//!
//! ```text
//! numeric(210, 10)         210 · 2^16 + 10 + 4
//! interval day to second   the fields' bits · 2^16 + 65535
//! interval(3)              32767 · 2^16 + 3
//! ```

use crate::values::datetime::{SpanField, SpanFields};

/// Bytes of a head, which PostgreSQL adds to the digits of numbers.
const HEAD: i32 = 4;
/// The bits of a scale.
const SCALE: i32 = 0x7ff;
/// All fields of an interval.
const ALL_FIELDS: i32 = 0x7fff;
/// An interval's seconds have all the digits that they have.
const ALL_DIGITS: i32 = 0xffff;

/// The bit of each field.
const FIELDS: [(SpanField, i32); 6] = [
    (SpanField::Year, 1 << 2),
    (SpanField::Month, 1 << 1),
    (SpanField::Day, 1 << 3),
    (SpanField::Hour, 1 << 10),
    (SpanField::Minute, 1 << 11),
    (SpanField::Second, 1 << 12),
];

/// The modifier of a NUMERIC with digits.
pub fn of_digits(precision: u32, scale: i32) -> i32 {
    ((precision as i32) << 16 | scale & SCALE) + HEAD
}

/// Digits in all and behind the point that a modifier says; `None` for all that there are.
pub fn digits(modifier: i32) -> Option<(u32, i32)> {
    let said = modifier.checked_sub(HEAD).filter(|said| *said >= 0)?;
    // The scale has eleven bits, of which the first is its sign.
    let scale = ((said & SCALE) ^ 1024) - 1024;
    Some(((said >> 16) as u32 & 0xffff, scale))
}

/// The modifier of an INTERVAL of some fields and digits.
pub fn of_fields(fields: SpanFields) -> i32 {
    if fields == SpanFields::default() {
        return -1;
    }
    let SpanFields {
        first,
        last,
        decimals,
    } = fields;
    let bits = match (first, last) {
        (SpanField::Year, SpanField::Second) => ALL_FIELDS,
        _ => FIELDS
            .iter()
            .filter(|(field, _)| (first..=last).contains(field))
            .fold(0, |bits, (_, bit)| bits | bit),
    };
    bits << 16 | decimals.map_or(ALL_DIGITS, i32::from)
}

/// The fields and digits that a modifier says; `None` for all that there are.
pub fn fields(modifier: i32) -> Option<SpanFields> {
    if modifier < 0 {
        return None;
    }
    let (bits, digits) = (modifier >> 16 & ALL_FIELDS, modifier & ALL_DIGITS);
    let all = SpanFields {
        decimals: u8::try_from(digits).ok().filter(|digits| *digits <= 6),
        ..SpanFields::default()
    };
    if bits == ALL_FIELDS {
        return Some(all);
    }
    let mut said = FIELDS.iter().filter(|(_, bit)| bits & bit != 0);
    let first = said.next()?.0;
    let last = said.next_back().map_or(first, |(field, _)| *field);
    Some(SpanFields { first, last, ..all })
}

/// What stands behind `interval` in the name of a type: ` day to second(3)`.
pub fn fields_shown(fields: SpanFields) -> String {
    let name = |field| match field {
        SpanField::Year => "year",
        SpanField::Month => "month",
        SpanField::Day => "day",
        SpanField::Hour => "hour",
        SpanField::Minute => "minute",
        SpanField::Second => "second",
    };
    let SpanFields {
        first,
        last,
        decimals,
    } = fields;
    let mut shown = match (first, last) {
        (SpanField::Year, SpanField::Second) => String::new(),
        (first, last) if first == last => format!(" {}", name(first)),
        (first, last) => format!(" {} to {}", name(first), name(last)),
    };
    if let Some(digits) = decimals {
        shown.push_str(&format!("({digits})"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As PostgreSQL's `pg_attribute` has them.
    #[test]
    fn numbers_are_those_of_the_catalog() {
        use SpanField::{Day, Hour, Minute, Month, Second, Year};
        for (precision, scale, modifier) in [
            (210, 10, 13_762_574),
            (3, 5, 196_617),
            (3, -6, 198_654),
            (1000, -1000, 65_537_052),
            (1000, 1000, 65_537_004),
        ] {
            assert_eq!(of_digits(precision, scale), modifier);
            assert_eq!(digits(modifier), Some((precision, scale)));
        }
        assert_eq!(digits(-1), None);
        for (first, last, decimals, modifier, shown) in [
            (Year, Year, None, 327_679, " year"),
            (Year, Month, None, 458_751, " year to month"),
            (Day, Second, None, 470_351_871, " day to second"),
            (Day, Second, Some(2), 470_286_338, " day to second(2)"),
            (Hour, Minute, None, 201_392_127, " hour to minute"),
            (Month, Month, None, 196_607, " month"),
            (Second, Second, Some(0), 268_435_456, " second(0)"),
            (Year, Second, Some(3), 2_147_418_115, "(3)"),
        ] {
            let of = SpanFields {
                first,
                last,
                decimals,
            };
            assert_eq!(of_fields(of), modifier, "{shown}");
            assert_eq!(fields(modifier), Some(of), "{shown}");
            assert_eq!(fields_shown(of), shown);
        }
        assert_eq!(of_fields(SpanFields::default()), -1);
    }
}
