//! Types as PostgreSQL numbers them.

use arrow::datatypes::DataType;
use freestone::{Error, JSON, Result, VECTOR};

/// A type of PostgreSQL's, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Oid(pub(crate) u32);

macro_rules! oids {
    ($($name:ident $number:literal)*) => {
        impl Oid { $(pub(crate) const $name: Oid = Oid($number);)* }
    };
}

oids! {
    UNKNOWN 0 BOOL 16 BYTEA 17 INT8 20 INT2 21 INT2VECTOR 22 INT4 23 TEXT 25 OID 26 JSON 114 FLOAT4 700
    FLOAT8 701 UNKNOWN_TEXT 705 BPCHAR 1042 VARCHAR 1043 DATE 1082 TIME 1083 TIMESTAMP 1114
    TIMESTAMPTZ 1184 INTERVAL 1186 NUMERIC 1700 UUID 2950 JSONB 3802
}

/// Types, those of arrays of them, and how SQL writes these.
const ARRAYS: [(Oid, u32, &str); 16] = [
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
];

impl Oid {
    /// The type of arrays of this one; that of texts if there is none.
    fn array(self) -> Oid {
        let found = ARRAYS.iter().find(|(element, ..)| *element == self);
        Oid(found.map_or(Self::TEXT.0, |(_, number, _)| *number))
    }

    /// Whether it is one of arrays.
    pub(crate) fn is_array(self) -> bool {
        self == Self::INT2VECTOR || ARRAYS.iter().any(|(_, number, _)| *number == self.0)
    }

    /// The type of a column.
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
            DataType::FixedSizeBinary(16) => Self::UUID,
            DataType::FixedSizeBinary(_) => Self::BYTEA,
            DataType::Date32 | DataType::Date64 => Self::DATE,
            DataType::Time32(_) | DataType::Time64(_) => Self::TIME,
            DataType::Timestamp(_, None) => Self::TIMESTAMP,
            DataType::Timestamp(_, Some(_)) => Self::TIMESTAMPTZ,
            DataType::Interval(_) | DataType::Duration(_) => Self::INTERVAL,
            kind if *kind == JSON => Self::JSON,
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::List(item) if item.name() == VECTOR => Self::INT2VECTOR,
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                Self::of(item.data_type()).array()
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
        matches!((rank(self), rank(other)), (Some(own), Some(other)) if other <= own)
    }

    /// Bytes of a value, -1 if they vary.
    pub(crate) fn size(self) -> i16 {
        match self {
            Self::BOOL => 1,
            Self::INT2 => 2,
            Self::INT4 | Self::FLOAT4 | Self::DATE | Self::OID => 4,
            Self::INT8 | Self::FLOAT8 | Self::TIME | Self::TIMESTAMP | Self::TIMESTAMPTZ => 8,
            Self::INTERVAL | Self::UUID => 16,
            _ => -1,
        }
    }

    /// What the type of a column has besides its number: digits of a number.
    pub(crate) fn modifier(kind: &DataType) -> i32 {
        match kind {
            DataType::Decimal128(precision, scale) => {
                (i32::from(*precision) << 16 | i32::from(*scale)) + 4
            }
            _ => -1,
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
            Self::UUID => "UUID",
            // Numbers keep the digits they have; texts are literals.
            Self::UNKNOWN | Self::UNKNOWN_TEXT | Self::NUMERIC => return Ok(None),
            Self::TEXT | Self::VARCHAR | Self::BPCHAR | Self::JSON | Self::JSONB => {
                return Ok(None);
            }
            // "char", name
            Oid(18 | 19) => return Ok(None),
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
