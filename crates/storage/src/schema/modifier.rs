//! What the declared type of a column says beside how its values are held.
//!
//! ```text
//! TIMESTAMP(3)              held as TIMESTAMP, without digits behind the third
//! NUMERIC(210, 10)          held as NUMERIC, with ten digits behind the point
//! INTERVAL DAY TO SECOND    held as INTERVAL
//! OID                       held as BIGINT
//! BIT(4)                    held as TEXT, of zeros and ones
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Column, ColumnType};

/// The part of a declared type that its [`ColumnType`] does not tell. Of an array it is that of
/// its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Modifier {
    /// Digits of seconds, 0 to 6, of a TIME or TIMESTAMP with or without zone.
    Seconds(u8),
    /// Digits of a NUMERIC that is no [`ColumnType::Decimal`].
    Digits {
        /// Digits in all, 1 to 1000.
        precision: u16,
        /// Digits after the point, -1000 to 1000.
        scale: i16,
    },
    /// The fields of an INTERVAL.
    Fields {
        /// The first.
        first: IntervalField,
        /// The last.
        last: IntervalField,
        /// Digits of seconds, 0 to 6.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digits: Option<u8>,
    },
    /// NAME, held as TEXT.
    Name,
    /// JSONPATH, held as TEXT.
    JsonPath,
    /// "char", held as TEXT.
    InternalChar,
    /// OID, held as BIGINT.
    Oid,
    /// BIT(n), held as TEXT of zeros and ones; without n of any length.
    Bit(Option<u32>),
    /// BIT VARYING(n), held as BIT is.
    BitVarying(Option<u32>),
}

/// A field of an INTERVAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum IntervalField {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

impl fmt::Display for IntervalField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IntervalField::Year => "YEAR",
            IntervalField::Month => "MONTH",
            IntervalField::Day => "DAY",
            IntervalField::Hour => "HOUR",
            IntervalField::Minute => "MINUTE",
            IntervalField::Second => "SECOND",
        })
    }
}

impl Column {
    /// The family of its declared type; see [`Modifier::family`].
    pub fn family(&self) -> u8 {
        self.modifier.map_or(0, Modifier::family)
    }

    /// Its type as SQL writes it.
    pub fn type_name(&self) -> String {
        let Some(declared) = self.modifier else {
            return self.kind.to_string();
        };
        let (element, dims) = match self.kind {
            ColumnType::Array { element, dims } => (ColumnType::from(element), dims),
            kind => (kind, 0),
        };
        let mut name = declared.of(element);
        (0..dims).for_each(|_| name.push_str("[]"));
        name
    }
}

impl Modifier {
    /// Whether values are compared with those of their own kind only, which the number tells; 0 if
    /// with all that are held alike. Their texts are read in forms of their own, too.
    pub fn family(self) -> u8 {
        match self {
            Modifier::Bit(_) | Modifier::BitVarying(_) => 1,
            _ => 0,
        }
    }

    /// The name of a type that is held as `kind`.
    fn of(self, kind: ColumnType) -> String {
        match self {
            Modifier::Seconds(digits) => {
                let name = kind.to_string();
                match name.split_once(' ') {
                    Some((first, rest)) => format!("{first}({digits}) {rest}"),
                    None => format!("{name}({digits})"),
                }
            }
            Modifier::Digits { precision, scale } => format!("NUMERIC({precision},{scale})"),
            Modifier::Fields {
                first,
                last,
                digits,
            } => {
                let digits = digits.map_or(String::new(), |digits| format!("({digits})"));
                match (first, last) {
                    (IntervalField::Year, IntervalField::Second) => format!("INTERVAL{digits}"),
                    (first, last) if first == last => format!("INTERVAL {first}{digits}"),
                    (first, last) => format!("INTERVAL {first} TO {last}{digits}"),
                }
            }
            Modifier::Name => "NAME".to_owned(),
            Modifier::JsonPath => "JSONPATH".to_owned(),
            Modifier::InternalChar => "\"char\"".to_owned(),
            Modifier::Oid => "OID".to_owned(),
            // Without quotes it would be BIT(1).
            Modifier::Bit(None) => "\"bit\"".to_owned(),
            Modifier::Bit(Some(length)) => format!("BIT({length})"),
            Modifier::BitVarying(None) => "BIT VARYING".to_owned(),
            Modifier::BitVarying(Some(length)) => format!("BIT VARYING({length})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_and_shown() {
        use IntervalField::{Day, Second, Year};
        let fields = |first, last, digits| Modifier::Fields {
            first,
            last,
            digits,
        };
        let digits = Modifier::Digits {
            precision: 210,
            scale: -3,
        };
        for (kind, declared, written, shown) in [
            (
                ColumnType::Time,
                Modifier::Seconds(0),
                r#"{"seconds":0}"#,
                "TIME(0)",
            ),
            (
                ColumnType::TimestampTz,
                Modifier::Seconds(3),
                r#"{"seconds":3}"#,
                "TIMESTAMP(3) WITH TIME ZONE",
            ),
            (
                ColumnType::Numeric,
                digits,
                r#"{"digits":{"precision":210,"scale":-3}}"#,
                "NUMERIC(210,-3)",
            ),
            (
                ColumnType::Interval,
                fields(Day, Second, Some(2)),
                r#"{"fields":{"first":"day","last":"second","digits":2}}"#,
                "INTERVAL DAY TO SECOND(2)",
            ),
            (
                ColumnType::Interval,
                fields(Day, Day, None),
                r#"{"fields":{"first":"day","last":"day"}}"#,
                "INTERVAL DAY",
            ),
            (
                ColumnType::Interval,
                fields(Year, Second, Some(0)),
                r#"{"fields":{"first":"year","last":"second","digits":0}}"#,
                "INTERVAL(0)",
            ),
            (ColumnType::BigInt, Modifier::Oid, r#""oid""#, "OID"),
            (
                ColumnType::Text,
                Modifier::JsonPath,
                r#""json_path""#,
                "JSONPATH",
            ),
            (
                ColumnType::Text,
                Modifier::Bit(Some(4)),
                r#"{"bit":4}"#,
                "BIT(4)",
            ),
            (
                ColumnType::Text,
                Modifier::BitVarying(None),
                r#"{"bit_varying":null}"#,
                "BIT VARYING",
            ),
        ] {
            assert_eq!(serde_json::to_string(&declared).unwrap(), written);
            let read: Modifier = serde_json::from_str(written).unwrap();
            assert_eq!(read, declared);
            let column = |kind| Column {
                name: "a".to_owned(),
                kind,
                nullable: true,
                default: None,
                identity: None,
                declared: None,
                generated: false,
                hidden: None,
                modifier: Some(declared),
            };
            assert_eq!(column(kind).type_name(), shown);
            let array = column(kind.array(2).unwrap());
            assert_eq!(array.type_name(), format!("{shown}[][]"));
        }
    }

    /// As databases have them that were written before there was such a part.
    #[test]
    fn columns_without_it_are_read() {
        let written = r#"{"name":"a","type":"timestamp","nullable":true}"#;
        let column: Column = serde_json::from_str(written).unwrap();
        assert_eq!(column.modifier, None);
        assert_eq!(serde_json::to_string(&column).unwrap(), written);
    }
}
