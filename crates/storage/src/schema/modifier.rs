//! What the declared type of a column says beside how its values are held.
//!
//! ```text
//! TIMESTAMP(3)              held as TIMESTAMP, without digits behind the third
//! NUMERIC(210, 10)          held as NUMERIC, with ten digits behind the point
//! INTERVAL DAY TO SECOND    held as INTERVAL
//! OID                       held as BIGINT
//! BIT(4)                    held as TEXT, of zeros and ones
//! INT4RANGE                 held as BYTEA, which has its order
//! NUMERIC, of a query       held as DECIMAL(p, s), of the digits that the query gives
//! ```

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::range::{self, RangeKind};
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
    /// NUMERIC without digits of its own, held as a [`ColumnType::Decimal`] with those that the
    /// query gave by which the table was created. A number with more of them is refused.
    AnyDigits,
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
    /// XID, held as BIGINT.
    Xid,
    /// BIT(n), held as TEXT of zeros and ones; without n of any length.
    Bit(Option<u32>),
    /// BIT VARYING(n), held as BIT is.
    BitVarying(Option<u32>),
    /// INET, held as BYTEA, which has its order.
    Inet,
    /// CIDR, held as INET is.
    Cidr,
    /// MACADDR, held as BYTEA.
    MacAddr,
    /// MACADDR8, held as BYTEA.
    MacAddr8,
    /// MONEY, held as BYTEA: eight bytes of hundredths, which have their order.
    Money,
    /// A range, held as BYTEA, which has its order.
    Range(RangeKind),
    /// A multirange, held as BYTEA, which has its order.
    Multirange(RangeKind),
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

    /// Whether equal values are held in equal bytes.
    pub fn has_keys(&self) -> bool {
        let has_scales = matches!(
            self.modifier,
            Some(Modifier::Range(RangeKind::Numeric) | Modifier::Multirange(RangeKind::Numeric))
        );
        self.kind.has_keys() && !has_scales
    }

    /// Bytes that it holds, for people: an address or a range in its own form, others in hexadecimal
    /// digits.
    pub fn shown_bytes(&self, bytes: &[u8]) -> String {
        let digits = |between: &str| {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            digits.join(between)
        };
        match self.modifier {
            Some(Modifier::Inet) => shown_address(bytes, false),
            Some(Modifier::Cidr) => shown_address(bytes, true),
            Some(Modifier::MacAddr | Modifier::MacAddr8) => digits(":"),
            Some(Modifier::Money) => shown_amount(bytes),
            Some(Modifier::Range(kind)) => range::shown(kind, false, bytes),
            Some(Modifier::Multirange(kind)) => range::shown(kind, true, bytes),
            _ => format!("\\x{}", digits("")),
        }
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
            Modifier::Inet | Modifier::Cidr => 2,
            Modifier::MacAddr => 3,
            Modifier::MacAddr8 => 4,
            Modifier::Money => 5,
            Modifier::Range(kind) => kind.family(false),
            Modifier::Multirange(kind) => kind.family(true),
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
            Modifier::AnyDigits => "NUMERIC".to_owned(),
            Modifier::Name => "NAME".to_owned(),
            Modifier::JsonPath => "JSONPATH".to_owned(),
            Modifier::InternalChar => "\"char\"".to_owned(),
            Modifier::Oid => "OID".to_owned(),
            Modifier::Xid => "XID".to_owned(),
            Modifier::Inet => "INET".to_owned(),
            Modifier::Cidr => "CIDR".to_owned(),
            Modifier::MacAddr => "MACADDR".to_owned(),
            Modifier::MacAddr8 => "MACADDR8".to_owned(),
            Modifier::Money => "MONEY".to_owned(),
            Modifier::Range(kind) => kind.name(false).to_owned(),
            Modifier::Multirange(kind) => kind.name(true).to_owned(),
            // Without quotes it would be BIT(1).
            Modifier::Bit(None) => "\"bit\"".to_owned(),
            Modifier::Bit(Some(length)) => format!("BIT({length})"),
            Modifier::BitVarying(None) => "BIT VARYING".to_owned(),
            Modifier::BitVarying(Some(length)) => format!("BIT VARYING({length})"),
        }
    }
}

/// The amount of money that bytes hold: hundredths, with the bit of the sign turned over.
fn shown_amount(bytes: &[u8]) -> String {
    let bytes = <[u8; 8]>::try_from(bytes).unwrap_or_default();
    let amount = (u64::from_be_bytes(bytes) ^ 1 << 63) as i64;
    let sign = if amount < 0 { "-" } else { "" };
    let digits = (amount.unsigned_abs() / 100).to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}${grouped}.{:02}", amount.unsigned_abs() % 100)
}

/// The address that bytes hold: 4 or 6 for its family, the network, the bits of the mask, which are
/// shown if they are not all or if `masked` says so, and the address.
fn shown_address(bytes: &[u8], masked: bool) -> String {
    let size = if bytes.first() == Some(&6) { 16 } else { 4 };
    let bits = bytes.get(1 + size).copied().unwrap_or_default();
    let address = bytes.get(2 + size..).unwrap_or_default();
    let shown = match (<[u8; 4]>::try_from(address), <[u8; 16]>::try_from(address)) {
        (Ok(address), _) => Ipv4Addr::from(address).to_string(),
        (_, Ok(address)) => Ipv6Addr::from(address).to_string(),
        _ => String::new(),
    };
    match masked || usize::from(bits) != 8 * size {
        true => format!("{shown}/{bits}"),
        false => shown,
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
                ColumnType::Decimal {
                    precision: 12,
                    scale: 2,
                },
                Modifier::AnyDigits,
                r#""any_digits""#,
                "NUMERIC",
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
            (ColumnType::BigInt, Modifier::Xid, r#""xid""#, "XID"),
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
            (ColumnType::Bytea, Modifier::Inet, r#""inet""#, "INET"),
            (ColumnType::Bytea, Modifier::Money, r#""money""#, "MONEY"),
            (
                ColumnType::Bytea,
                Modifier::Range(RangeKind::BigInt),
                r#"{"range":"big_int"}"#,
                "INT8RANGE",
            ),
            (
                ColumnType::Bytea,
                Modifier::Multirange(RangeKind::TimestampTz),
                r#"{"multirange":"timestamp_tz"}"#,
                "TSTZMULTIRANGE",
            ),
            (
                ColumnType::Bytea,
                Modifier::MacAddr8,
                r#""mac_addr8""#,
                "MACADDR8",
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

    #[test]
    fn bytes_are_shown_by_their_type() {
        let column = |modifier| Column {
            name: "a".to_owned(),
            kind: ColumnType::Bytea,
            nullable: true,
            default: None,
            identity: None,
            declared: None,
            generated: false,
            hidden: None,
            modifier,
        };
        let v4 = [4, 10, 0, 0, 0, 8, 10, 1, 2, 3];
        assert_eq!(column(Some(Modifier::Inet)).shown_bytes(&v4), "10.1.2.3/8");
        let mut v6 = [0; 34];
        (v6[0], v6[17], v6[33]) = (6, 128, 1);
        assert_eq!(column(Some(Modifier::Inet)).shown_bytes(&v6), "::1");
        assert_eq!(column(Some(Modifier::Cidr)).shown_bytes(&v6), "::1/128");
        assert_eq!(
            column(Some(Modifier::MacAddr)).shown_bytes(&[8, 0x2b]),
            "08:2b"
        );
        let amount = [0x80, 0, 0, 0, 0, 1, 0xe2, 0x40];
        assert_eq!(
            column(Some(Modifier::Money)).shown_bytes(&amount),
            "$1,234.56"
        );
        let debt = [0x7f, 255, 255, 255, 255, 255, 255, 251];
        assert_eq!(column(Some(Modifier::Money)).shown_bytes(&debt), "-$0.05");
        assert_eq!(column(None).shown_bytes(&[0, 0x2b]), "\\x002b");
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
