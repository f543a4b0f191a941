//! Types as PostgreSQL numbers them.

use std::borrow::Cow;

use arrow::datatypes::{DataType, Field};
use freestone::{Error, JSON, Result, VECTOR, element_type, said_type, type_number};

/// A type of PostgreSQL's, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Oid(pub(crate) u32);

macro_rules! oids {
    ($($name:ident $number:literal)*) => {
        impl Oid { $(pub(crate) const $name: Oid = Oid($number);)* }
    };
}

oids! {
    UNKNOWN 0 BOOL 16 BYTEA 17 CHAR 18 NAME 19 INT8 20 INT2 21 INT2VECTOR 22 INT4 23 REGPROC 24 TEXT 25
    OID 26 TID 27 XID 28 CID 29 OIDVECTOR 30 JSON 114 PG_NODE_TREE 194 ACLITEM 1033 XID8 5069 FLOAT4 700 FLOAT8 701 UNKNOWN_TEXT 705 BPCHAR 1042 VARCHAR 1043 DATE 1082
    TIME 1083 TIMESTAMP 1114 TIMESTAMPTZ 1184 INTERVAL 1186 TIMETZ 1266 BIT 1560 VARBIT 1562 CIDR 650 MACADDR8 774 MONEY 790 MACADDR 829 INET 869 NUMERIC 1700
    REGCLASS 2205 REGTYPE 2206 RECORD 2249 VOID 2278 UUID 2950 JSONB 3802 JSONPATH 4072
    INT4RANGE 3904 NUMRANGE 3906 TSRANGE 3908 TSTZRANGE 3910 DATERANGE 3912 INT8RANGE 3926
    INT4MULTIRANGE 4451 NUMMULTIRANGE 4532 TSMULTIRANGE 4533 TSTZMULTIRANGE 4534
    DATEMULTIRANGE 4535 INT8MULTIRANGE 4536
    REGPROCEDURE 2202 REGNAMESPACE 4089 REGROLE 4096 REGCOLLATION 4191
}

/// Types, those of arrays of them, and how SQL writes these.
const ARRAYS: [(Oid, u32, &str); 58] = [
    (Oid::BOOL, 1000, "BOOLEAN[]"),
    (Oid::BYTEA, 1001, "BYTEA[]"),
    (Oid::INT2, 1005, "SMALLINT[]"),
    (Oid::INT4, 1007, "INTEGER[]"),
    (Oid::TEXT, 1009, "TEXT[]"),
    (Oid::BPCHAR, 1014, "TEXT[]"),
    (Oid::VARCHAR, 1015, "TEXT[]"),
    (Oid::INT8, 1016, "BIGINT[]"),
    (Oid::FLOAT4, 1021, "REAL[]"),
    (Oid::FLOAT8, 1022, "DOUBLE PRECISION[]"),
    (Oid::TIMESTAMP, 1115, "TIMESTAMP[]"),
    (Oid::DATE, 1182, "DATE[]"),
    (Oid::TIME, 1183, "TIME[]"),
    (Oid::TIMESTAMPTZ, 1185, "TIMESTAMP WITH TIME ZONE[]"),
    (Oid::NUMERIC, 1231, "DECIMAL(38,10)[]"),
    (Oid::UUID, 2951, "UUID[]"),
    (Oid::CIDR, 651, "CIDR[]"),
    (Oid::MACADDR8, 775, "MACADDR8[]"),
    (Oid::MONEY, 791, "MONEY[]"),
    (Oid::MACADDR, 1040, "MACADDR[]"),
    (Oid::INET, 1041, "INET[]"),
    (Oid::BIT, 1561, "\"bit\"[]"),
    (Oid::VARBIT, 1563, "BIT VARYING[]"),
    (Oid::INT4RANGE, 3905, "INT4RANGE[]"),
    (Oid::NUMRANGE, 3907, "NUMRANGE[]"),
    (Oid::TSRANGE, 3909, "TSRANGE[]"),
    (Oid::TSTZRANGE, 3911, "TSTZRANGE[]"),
    (Oid::DATERANGE, 3913, "DATERANGE[]"),
    (Oid::INT8RANGE, 3927, "INT8RANGE[]"),
    (Oid::INT4MULTIRANGE, 6150, "INT4MULTIRANGE[]"),
    (Oid::NUMMULTIRANGE, 6151, "NUMMULTIRANGE[]"),
    (Oid::TSMULTIRANGE, 6152, "TSMULTIRANGE[]"),
    (Oid::TSTZMULTIRANGE, 6153, "TSTZMULTIRANGE[]"),
    (Oid::DATEMULTIRANGE, 6155, "DATEMULTIRANGE[]"),
    (Oid::INT8MULTIRANGE, 6157, "INT8MULTIRANGE[]"),
    (Oid::JSON, 199, "TEXT[]"),
    (Oid::CHAR, 1002, "TEXT[]"),
    (Oid::XID, 1011, "XID[]"),
    (Oid::CID, 1012, "CID[]"),
    (Oid::XID8, 271, "XID8[]"),
    (Oid::TID, 1010, "TID[]"),
    (Oid::ACLITEM, 1034, "TEXT[]"),
    (Oid::OIDVECTOR, 1013, "TEXT[]"),
    (Oid::NAME, 1003, "TEXT[]"),
    (Oid::REGPROC, 1008, "TEXT[]"),
    (Oid::OID, 1028, "BIGINT[]"),
    (Oid::INTERVAL, 1187, "INTERVAL[]"),
    (Oid::TIMETZ, 1270, "TEXT[]"),
    (Oid::REGPROCEDURE, 2207, "TEXT[]"),
    (Oid::REGCOLLATION, 4192, "TEXT[]"),
    (Oid::REGCLASS, 2210, "TEXT[]"),
    (Oid::REGTYPE, 2211, "TEXT[]"),
    (Oid::RECORD, 2287, "TEXT[]"),
    (Oid::JSONB, 3807, "TEXT[]"),
    (Oid::JSONPATH, 4073, "TEXT[]"),
    (Oid::REGNAMESPACE, 4090, "TEXT[]"),
    (Oid::REGROLE, 4097, "TEXT[]"),
    (Oid::INT2VECTOR, 1006, "TEXT[]"),
];

/// Types by the names that `format_type` gives them, without digits and lengths.
const NAMES: [(&str, Oid); 62] = [
    ("boolean", Oid::BOOL),
    ("smallint", Oid::INT2),
    ("integer", Oid::INT4),
    ("bigint", Oid::INT8),
    ("real", Oid::FLOAT4),
    ("double precision", Oid::FLOAT8),
    ("numeric", Oid::NUMERIC),
    ("text", Oid::TEXT),
    ("unknown", Oid::TEXT),
    ("character varying", Oid::VARCHAR),
    ("character", Oid::BPCHAR),
    ("bpchar", Oid::BPCHAR),
    ("\"char\"", Oid::CHAR),
    ("name", Oid::NAME),
    ("bytea", Oid::BYTEA),
    ("inet", Oid::INET),
    ("cidr", Oid::CIDR),
    ("money", Oid::MONEY),
    ("macaddr", Oid::MACADDR),
    ("macaddr8", Oid::MACADDR8),
    ("int4range", Oid::INT4RANGE),
    ("int8range", Oid::INT8RANGE),
    ("numrange", Oid::NUMRANGE),
    ("tsrange", Oid::TSRANGE),
    ("tstzrange", Oid::TSTZRANGE),
    ("daterange", Oid::DATERANGE),
    ("int4multirange", Oid::INT4MULTIRANGE),
    ("int8multirange", Oid::INT8MULTIRANGE),
    ("nummultirange", Oid::NUMMULTIRANGE),
    ("tsmultirange", Oid::TSMULTIRANGE),
    ("tstzmultirange", Oid::TSTZMULTIRANGE),
    ("datemultirange", Oid::DATEMULTIRANGE),
    ("bit", Oid::BIT),
    ("\"bit\"", Oid::BIT),
    ("bit varying", Oid::VARBIT),
    ("date", Oid::DATE),
    ("time without time zone", Oid::TIME),
    ("time with time zone", Oid::TIMETZ),
    ("timestamp without time zone", Oid::TIMESTAMP),
    ("timestamp with time zone", Oid::TIMESTAMPTZ),
    ("interval", Oid::INTERVAL),
    ("uuid", Oid::UUID),
    ("json", Oid::JSON),
    ("jsonb", Oid::JSONB),
    ("jsonpath", Oid::JSONPATH),
    ("oid", Oid::OID),
    ("xid", Oid::XID),
    ("cid", Oid::CID),
    ("xid8", Oid::XID8),
    ("tid", Oid::TID),
    ("aclitem", Oid::ACLITEM),
    ("pg_node_tree", Oid::PG_NODE_TREE),
    ("oidvector", Oid::OIDVECTOR),
    ("regclass", Oid::REGCLASS),
    ("regtype", Oid::REGTYPE),
    ("regproc", Oid::REGPROC),
    ("regprocedure", Oid::REGPROCEDURE),
    ("regnamespace", Oid::REGNAMESPACE),
    ("regrole", Oid::REGROLE),
    ("regcollation", Oid::REGCOLLATION),
    ("record", Oid::RECORD),
    ("void", Oid::VOID),
];

impl Oid {
    /// The type of arrays of this one; that of texts if there is none.
    fn array(self) -> Oid {
        let found = ARRAYS.iter().find(|(element, ..)| *element == self);
        Oid(found.map_or(Self::TEXT.0, |(_, number, _)| *number))
    }

    /// Whether it is one of vectors of the catalog.
    fn is_vector(self) -> bool {
        matches!(self, Self::INT2VECTOR | Self::OIDVECTOR)
    }

    /// Whether it is one of arrays.
    pub(crate) fn is_array(self) -> bool {
        self.is_vector() || ARRAYS.iter().any(|(_, number, _)| *number == self.0)
    }

    /// The type of a column: as its field says, else by its Arrow type.
    pub(crate) fn of_field(field: &Field) -> Oid {
        Self::said(said_type(field), field.data_type())
    }

    /// The type that a client is told of a column: a created type by its number in `pg_type`.
    pub(crate) fn told(field: &Field) -> Oid {
        type_number(field).map_or_else(|| Self::of_field(field), Oid)
    }

    /// The type that is said of values of an Arrow type.
    pub(crate) fn said(said: Option<&str>, kind: &DataType) -> Oid {
        said.and_then(Self::named).unwrap_or_else(|| Self::of(kind))
    }

    /// The type of a name; `None` for one that is not built in.
    fn named(name: &str) -> Option<Oid> {
        if let Some(element) = name.strip_suffix("[]") {
            return Self::named(element).map(Self::array);
        }
        let (name, _) = without_modifier(name);
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, oid)| *oid)
    }

    /// Whether both forms of its values are their text.
    pub(crate) fn is_text(self) -> bool {
        [
            Self::TEXT,
            Self::VARCHAR,
            Self::BPCHAR,
            Self::NAME,
            Self::JSON,
            Self::UNKNOWN_TEXT,
        ]
        .contains(&self)
    }

    /// Whether it is that of numbers of objects, four bytes in binary.
    pub(crate) fn is_object(self) -> bool {
        [
            Self::OID,
            Self::XID,
            Self::CID,
            Self::REGPROC,
            Self::REGPROCEDURE,
            Self::REGCLASS,
            Self::REGTYPE,
            Self::REGNAMESPACE,
            Self::REGROLE,
            Self::REGCOLLATION,
        ]
        .contains(&self)
    }

    /// Whether it is that of arrays of such numbers.
    pub(crate) fn is_array_of_objects(self) -> bool {
        let mut all = ARRAYS.iter();
        all.any(|(element, number, _)| *number == self.0 && element.is_object())
    }

    /// The type that values of an Arrow type have.
    pub(crate) fn of(kind: &DataType) -> Oid {
        match kind {
            DataType::Boolean => Self::BOOL,
            DataType::Int8 | DataType::Int16 | DataType::UInt8 => Self::INT2,
            DataType::Int32 | DataType::UInt16 => Self::INT4,
            DataType::Int64 | DataType::UInt32 => Self::INT8,
            DataType::Float16 | DataType::Float32 => Self::FLOAT4,
            DataType::Float64 => Self::FLOAT8,
            DataType::UInt64
            | DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => Self::NUMERIC,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Self::BYTEA,
            DataType::FixedSizeBinary(12) => Self::TIMETZ,
            DataType::FixedSizeBinary(16) => Self::UUID,
            DataType::Struct(_) => match element_type(kind) {
                Some(element) => Self::of(element).array(),
                None => Self::RECORD,
            },
            DataType::FixedSizeBinary(_) => Self::BYTEA,
            DataType::Date32 | DataType::Date64 => Self::DATE,
            DataType::Time32(_) | DataType::Time64(_) => Self::TIME,
            DataType::Timestamp(_, None) => Self::TIMESTAMP,
            DataType::Timestamp(_, Some(_)) => Self::TIMESTAMPTZ,
            DataType::Interval(_) | DataType::Duration(_) => Self::INTERVAL,
            kind if *kind == JSON => Self::JSON,
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::List(item) if item.name() == VECTOR => match item.data_type() {
                DataType::Int64 => Self::OIDVECTOR,
                _ => Self::INT2VECTOR,
            },
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                // There is one type of arrays, of any number of dimensions.
                match Self::of_field(item) {
                    oid if oid.is_array() && !oid.is_vector() => oid,
                    oid => oid.array(),
                }
            }
            _ => Self::TEXT,
        }
    }

    /// Whether values of the other type can be sent as this one: numbers as wider numbers.
    pub(crate) fn holds(self, other: Oid) -> bool {
        const NUMBERS: [Oid; 6] = [
            Oid::INT2,
            Oid::INT4,
            Oid::INT8,
            Oid::NUMERIC,
            Oid::FLOAT4,
            Oid::FLOAT8,
        ];
        let rank = |oid| NUMBERS.iter().position(|number| *number == oid);
        let wider = matches!((rank(self), rank(other)), (Some(own), Some(other)) if other <= own);
        wider || (self == Self::JSONB && other.is_text())
    }

    /// Bytes of a value, -1 if they vary.
    pub(crate) fn size(self) -> i16 {
        match self {
            Self::BOOL => 1,
            Self::INT2 => 2,
            Self::INT4 | Self::FLOAT4 | Self::DATE | Self::VOID => 4,
            oid if oid.is_object() => 4,
            Self::TIMETZ | Self::ACLITEM => 12,
            Self::NAME => 64,
            Self::MACADDR | Self::TID => 6,
            Self::INT8 | Self::FLOAT8 | Self::TIME | Self::TIMESTAMP | Self::TIMESTAMPTZ => 8,
            Self::MACADDR8 | Self::MONEY | Self::XID8 => 8,
            Self::INTERVAL | Self::UUID => 16,
            _ => -1,
        }
    }

    /// What the type of a column has besides its number: digits of a number or of seconds, or
    /// the length of a text.
    pub(crate) fn modifier(field: &Field) -> i32 {
        /// Numbers and texts have the bytes of a head added.
        const HEAD: i32 = 4;
        let digits = |precision: u8, scale: i8| {
            (i32::from(precision) << 16 | i32::from(scale) & 0x7ff) + HEAD
        };
        let Some(said) = said_type(field) else {
            return match field.data_type() {
                DataType::Decimal128(precision, scale) => digits(*precision, *scale),
                _ => -1,
            };
        };
        let (_, modifier) = without_modifier(said);
        let Some(modifier) = modifier else {
            return -1;
        };
        let mut numbers = modifier
            .split(',')
            .map(|number| number.trim().parse::<i32>().ok());
        let (first, second) = (numbers.next().flatten(), numbers.next().flatten());
        let element = said.strip_suffix("[]").unwrap_or(said);
        match (Self::named(element), first) {
            (Some(Self::NUMERIC), Some(precision)) => {
                (precision << 16 | second.unwrap_or(0) & 0x7ff) + HEAD
            }
            (Some(Self::VARCHAR | Self::BPCHAR), Some(length)) => length.saturating_add(HEAD),
            (_, Some(digits)) => digits,
            (_, None) => -1,
        }
    }

    /// How SQL writes the type of a parameter; `None` for one that any literal fits.
    ///
    /// # Errors
    /// `42704` for a type that there is not.
    pub(crate) fn sql(self) -> Result<Option<&'static str>> {
        Ok(Some(match self {
            Self::BOOL => "BOOLEAN",
            Self::INT2 => "SMALLINT",
            Self::INT4 => "INTEGER",
            Self::INT8 | Self::OID => "BIGINT",
            Self::FLOAT4 => "REAL",
            Self::FLOAT8 => "DOUBLE PRECISION",
            Self::BYTEA => "BYTEA",
            Self::DATE => "DATE",
            Self::TIME => "TIME",
            Self::TIMESTAMP => "TIMESTAMP",
            Self::TIMESTAMPTZ => "TIMESTAMP WITH TIME ZONE",
            Self::INTERVAL => "INTERVAL",
            Self::TIMETZ => "TIME WITH TIME ZONE",
            Self::UUID => "UUID",
            Self::INET => "INET",
            Self::CIDR => "CIDR",
            Self::MONEY => "MONEY",
            Self::MACADDR => "MACADDR",
            Self::MACADDR8 => "MACADDR8",
            Self::XID => "XID",
            Self::CID => "CID",
            Self::XID8 => "XID8",
            Self::TID => "TID",
            Self::INT4RANGE => "INT4RANGE",
            Self::INT8RANGE => "INT8RANGE",
            Self::NUMRANGE => "NUMRANGE",
            Self::TSRANGE => "TSRANGE",
            Self::TSTZRANGE => "TSTZRANGE",
            Self::DATERANGE => "DATERANGE",
            Self::INT4MULTIRANGE => "INT4MULTIRANGE",
            Self::INT8MULTIRANGE => "INT8MULTIRANGE",
            Self::NUMMULTIRANGE => "NUMMULTIRANGE",
            Self::TSMULTIRANGE => "TSMULTIRANGE",
            Self::TSTZMULTIRANGE => "TSTZMULTIRANGE",
            Self::DATEMULTIRANGE => "DATEMULTIRANGE",
            Self::BIT => "\"bit\"",
            Self::VARBIT => "BIT VARYING",
            // Numbers keep the digits they have; texts are literals.
            Self::UNKNOWN | Self::UNKNOWN_TEXT | Self::NUMERIC => return Ok(None),
            Self::TEXT | Self::VARCHAR | Self::BPCHAR | Self::JSON | Self::JSONB => {
                return Ok(None);
            }
            Self::CHAR | Self::NAME | Self::ACLITEM => return Ok(None),
            other if other.is_array() => {
                let found = ARRAYS.iter().find(|(_, number, _)| *number == other.0);
                return Ok(found.map(|(_, _, written)| *written));
            }
            Oid(number) => {
                let message = format!("a parameter of the type number {number} is not supported");
                return Err(
                    Error::new("42704", message).with_hint("send it as text, without a type")
                );
            }
        }))
    }
}

/// A name of a type without what stands in parentheses, and this.
fn without_modifier(name: &str) -> (Cow<'_, str>, Option<&str>) {
    let parts = name
        .split_once('(')
        .and_then(|(before, rest)| Some((before, rest.split_once(')')?)));
    match parts {
        Some((before, (modifier, after))) => {
            (Cow::Owned(format!("{before}{after}")), Some(modifier))
        }
        None => (Cow::Borrowed(name), None),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use freestone::TYPE_KEY;

    use super::*;

    fn field(said: &str) -> Field {
        let metadata = HashMap::from([(TYPE_KEY.to_owned(), said.to_owned())]);
        Field::new("", DataType::Utf8View, true).with_metadata(metadata)
    }

    /// Numbers, sizes and modifiers as PostgreSQL's messages have them.
    #[test]
    fn fields_say_their_types() {
        for (said, oid, size, modifier) in [
            ("numeric", 1700, -1, -1),
            ("numeric(10,2)", 1700, -1, 655_366),
            ("numeric[]", 1231, -1, -1),
            ("numeric(10,2)[]", 1231, -1, 655_366),
            ("character varying", 1043, -1, -1),
            ("character varying(5)", 1043, -1, 9),
            ("character(3)", 1042, -1, 7),
            ("character(3)[]", 1014, -1, 7),
            ("time(3) without time zone", 1083, 8, 3),
            ("time with time zone", 1266, 12, -1),
            ("timestamp with time zone", 1184, 8, -1),
            ("json", 114, -1, -1),
            ("json[]", 199, -1, -1),
            ("jsonb[]", 3807, -1, -1),
            ("interval[]", 1187, -1, -1),
            ("oid", 26, 4, -1),
            ("xid", 28, 4, -1),
            ("cid[]", 1012, -1, -1),
            ("xid8", 5069, 8, -1),
            ("tid", 27, 6, -1),
            ("aclitem[]", 1034, -1, -1),
            ("pg_node_tree", 194, -1, -1),
            ("\"char\"[]", 1002, -1, -1),
            ("oidvector", 30, -1, -1),
            ("bit(4)", 1560, -1, 4),
            ("inet", 869, -1, -1),
            ("cidr[]", 651, -1, -1),
            ("money", 790, 8, -1),
            ("money[]", 791, -1, -1),
            ("macaddr", 829, 6, -1),
            ("macaddr8", 774, 8, -1),
            ("int4range", 3904, -1, -1),
            ("tstzmultirange[]", 6153, -1, -1),
            ("\"bit\"", 1560, -1, -1),
            ("bit(4)[]", 1561, -1, 4),
            ("bit varying(7)", 1562, -1, 7),
            ("regclass", 2205, 4, -1),
            ("record", 2249, -1, -1),
            ("name", 19, 64, -1),
            ("a_type_of_ours", 25, -1, -1),
        ] {
            let field = field(said);
            let found = Oid::of_field(&field);
            let all = (found.0, found.size(), Oid::modifier(&field));
            assert_eq!(all, (oid, size, modifier), "{said}");
        }
    }

    #[test]
    fn fields_that_say_nothing_have_the_types_of_their_values() {
        let list = |kind| DataType::List(Field::new("item", kind, true).into());
        for (kind, oid) in [
            (DataType::Decimal128(10, 2), 1700),
            (DataType::LargeUtf8, 114),
            (DataType::FixedSizeBinary(12), 1266),
            (list(DataType::Int32), 1007),
            (list(list(DataType::Int32)), 1007),
        ] {
            let field = Field::new("", kind, true);
            assert_eq!(Oid::of_field(&field), Oid(oid), "{field}");
        }
    }
}
