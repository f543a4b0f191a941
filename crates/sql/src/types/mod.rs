//! SQL types, Arrow types and the names PostgreSQL gives them.
//!
//! A type written in a statement becomes a [`ColumnType`], the only type list of
//! the project, and from there an Arrow type; casts and column definitions take
//! the same way, so `CAST(x AS T)` and a column of type `T` always agree.
//! TIMESTAMP is microseconds (years 4713 BC to 294276 AD): nanoseconds would end in 2262.

mod held;

use arrow::datatypes::{DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use freestone_frontend::bind::{bits, many_digits, written_digits, written_fields};
use freestone_frontend::types::arrays::element_type;
use freestone_frontend::types::{Internal, RangeOf, Type, named};
use freestone_frontend::values::datetime::{SpanField, SpanFields};
use freestone_storage::{ColumnType, IntervalField, Modifier, RangeKind, TableSchema};
use sqlparser::ast::{
    ArrayElemTypeDef, CharacterLength, DataType as SqlType, ExactNumberInfo, ObjectName,
    TimezoneInfo,
};
use std::sync::Arc;

use crate::error::{Error, Result, sql_name_of_debug};

pub(crate) use held::{type_held, type_of, type_of_column, type_of_written};

/// The Arrow type that stands for a column's where clients are told what to send.
pub(crate) fn parameter_kind(kind: &ColumnType) -> DataType {
    match kind {
        ColumnType::Numeric => DataType::Decimal128(DECIMAL_DIGITS, 10),
        ColumnType::Json | ColumnType::Jsonb => JSON,
        ColumnType::Array { element, dims } => {
            let element = parameter_kind(&(*element).into());
            (0..*dims).fold(element, |kind, _| DataType::new_list(kind, true))
        }
        kind => kind.arrow(),
    }
}

/// Stands for OID and its kin where clients are told what to send; columns hold them otherwise.
pub const OBJECT: DataType = DataType::UInt32;

/// Most digits of a DECIMAL.
pub(crate) const DECIMAL_DIGITS: u8 = 38;

/// Longest declared VARCHAR(n) and CHAR(n), as in PostgreSQL.
const LENGTH_MAX: u64 = 10_485_760;

/// Most dimensions of an array, as in PostgreSQL.
const DIMENSIONS: u8 = 6;

/// The Arrow type of computed values of a written type: NUMERIC without
/// digits has as many as there is room for.
///
/// # Errors
/// Those of [`column_type`].
pub(crate) fn computed_type(sql: &SqlType) -> Result<DataType> {
    Ok(match column_type(sql)? {
        ColumnType::Numeric => DataType::Decimal128(DECIMAL_DIGITS, 10),
        other => other.arrow(),
    })
}

/// The column type that a written type means, and what it says beside.
///
/// # Errors
/// Those of [`column_type`].
pub(crate) fn declared_type(sql: &SqlType) -> Result<(ColumnType, Option<Modifier>)> {
    use SqlType as S;
    let declared = match sql {
        S::Numeric(_) | S::Decimal(_) | S::Dec(_) => {
            if let Some((precision, scale)) = many_digits(sql)? {
                let declared = Modifier::Digits {
                    precision: u16::try_from(precision).unwrap_or(u16::MAX),
                    scale: i16::try_from(scale).unwrap_or(i16::MAX),
                };
                return Ok((ColumnType::Numeric, Some(declared)));
            }
            None
        }
        S::Time(digits, _) | S::Timestamp(digits, _) | S::Datetime(digits) => seconds(*digits),
        S::Interval { fields, precision } => fields_of(written_fields(fields.as_ref(), *precision)),
        S::Custom(name, modifiers) => match (name.to_string().to_lowercase().as_str(), modifiers) {
            ("timestamptz" | "timetz", modifiers) => {
                let digits = modifiers
                    .first()
                    .and_then(|digits| digits.trim().parse().ok());
                seconds(digits)
            }
            ("name", _) => Some(Modifier::Name),
            ("jsonpath", _) => Some(Modifier::JsonPath),
            ("oid", _) => Some(Modifier::Oid),
            ("\"char\"", _) => Some(Modifier::InternalChar),
            ("\"bit\"", _) => Some(Modifier::Bit(None)),
            ("bpchar", modifiers) if modifiers.is_empty() => {
                let message = "a column of the type bpchar without a length is not supported";
                return Err(Error::unsupported(message)
                    .with_hint("char(n) pads values with blanks, text keeps them as they are"));
            }
            (other, _) => named(other).as_ref().and_then(declared_of_type),
        },
        S::Bit(length) => Some(Modifier::Bit(Some(bits("bit", *length)?.unwrap_or(1)))),
        S::BitVarying(length) | S::VarBit(length) => {
            Some(Modifier::BitVarying(bits("varbit", *length)?))
        }
        S::Array(
            ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::AngleBracket(element),
        ) => match declared_type(element)?.1 {
            Some(Modifier::Digits { .. } | Modifier::Fields { .. }) => {
                let message = format!("a column cannot have the type {sql}");
                return Err(Error::unsupported(message)
                    .with_hint("leave out the digits, or the fields, of its elements"));
            }
            declared => declared,
        },
        _ => None,
    };
    Ok((column_type(sql)?, declared))
}

/// Digits of seconds that are written; more than six are six, which are all.
fn seconds(digits: Option<u64>) -> Option<Modifier> {
    let digits = digits.map(|digits| digits.min(6) as u8);
    digits.map(Modifier::Seconds)
}

fn fields_of(fields: SpanFields) -> Option<Modifier> {
    let field = |field| match field {
        SpanField::Year => IntervalField::Year,
        SpanField::Month => IntervalField::Month,
        SpanField::Day => IntervalField::Day,
        SpanField::Hour => IntervalField::Hour,
        SpanField::Minute => IntervalField::Minute,
        SpanField::Second => IntervalField::Second,
    };
    (fields != SpanFields::default()).then_some(Modifier::Fields {
        first: field(fields.first),
        last: field(fields.last),
        digits: fields.decimals,
    })
}

/// The fields of an interval that a declared type says.
pub(crate) fn span_fields(declared: Option<Modifier>) -> SpanFields {
    let Some(Modifier::Fields {
        first,
        last,
        digits,
    }) = declared
    else {
        return SpanFields::default();
    };
    let field = |field| match field {
        IntervalField::Year => SpanField::Year,
        IntervalField::Month => SpanField::Month,
        IntervalField::Day => SpanField::Day,
        IntervalField::Hour => SpanField::Hour,
        IntervalField::Minute => SpanField::Minute,
        IntervalField::Second => SpanField::Second,
    };
    SpanFields {
        first: field(first),
        last: field(last),
        decimals: digits,
    }
}

/// What a type of the front says beside the column type that holds its values.
pub(crate) fn declared_of_type(ty: &Type) -> Option<Modifier> {
    match ty {
        Type::Time(digits)
        | Type::TimeTz(digits)
        | Type::Timestamp(digits)
        | Type::TimestampTz(digits) => digits.map(Modifier::Seconds),
        Type::Name => Some(Modifier::Name),
        Type::JsonPath => Some(Modifier::JsonPath),
        Type::CatalogChar => Some(Modifier::InternalChar),
        Type::Oid => Some(Modifier::Oid),
        Type::Internal(Internal::Xid) => Some(Modifier::Xid),
        Type::Bit(length) => Some(Modifier::Bit(*length)),
        Type::Inet => Some(Modifier::Inet),
        Type::Cidr => Some(Modifier::Cidr),
        Type::MacAddr => Some(Modifier::MacAddr),
        Type::MacAddr8 => Some(Modifier::MacAddr8),
        Type::Range(of) => Some(Modifier::Range(range_kind(*of))),
        Type::Multirange(of) => Some(Modifier::Multirange(range_kind(*of))),
        Type::Money => Some(Modifier::Money),
        Type::VarBit(length) => Some(Modifier::BitVarying(*length)),
        Type::Array(element) => declared_of_type(element),
        _ => None,
    }
}

fn range_kind(of: RangeOf) -> RangeKind {
    match of {
        RangeOf::Int4 => RangeKind::Integer,
        RangeOf::Int8 => RangeKind::BigInt,
        RangeOf::Numeric => RangeKind::Numeric,
        RangeOf::Timestamp => RangeKind::Timestamp,
        RangeOf::TimestampTz => RangeKind::TimestampTz,
        RangeOf::Date => RangeKind::Date,
    }
}

/// The column type that a written type means.
///
/// # Errors
/// `42704` for a type we do not have, `22023` for digits or lengths out of range.
pub(crate) fn column_type(sql: &SqlType) -> Result<ColumnType> {
    use SqlType as S;
    Ok(match sql {
        S::Boolean | S::Bool => ColumnType::Boolean,
        S::SmallInt(None) | S::Int2(None) | S::TinyInt(None) | S::Int16 => ColumnType::SmallInt,
        S::Int(None) | S::Integer(None) | S::Int4(None) | S::MediumInt(None) | S::Int32 => {
            ColumnType::Integer
        }
        S::BigInt(None) | S::Int8(None) | S::Int64 => ColumnType::BigInt,
        S::Real | S::Float4 | S::Float32 => ColumnType::Real,
        S::Float(info) => float(*info)?,
        S::Double(_) | S::DoublePrecision | S::Float8 | S::Float64 => ColumnType::Double,
        S::Numeric(info) | S::Decimal(info) | S::Dec(info) => decimal(*info)?,
        S::Date | S::Date32 => ColumnType::Date,
        S::Time(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => ColumnType::Time,
        S::Time(_, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => ColumnType::TimeTz,
        S::Timestamp(_, zone) => match zone {
            TimezoneInfo::None | TimezoneInfo::WithoutTimeZone => ColumnType::Timestamp,
            TimezoneInfo::WithTimeZone | TimezoneInfo::Tz => ColumnType::TimestampTz,
        },
        S::Datetime(_) | S::TimestampNtz(None) => ColumnType::Timestamp,
        S::Interval { .. } => ColumnType::Interval,
        S::Uuid => ColumnType::Uuid,
        S::Varchar(n) | S::CharacterVarying(n) | S::CharVarying(n) | S::Nvarchar(n) => {
            ColumnType::Varchar(length("varchar", n.as_ref())?)
        }
        S::Char(n) | S::Character(n) => ColumnType::Char(length("char", n.as_ref())?.unwrap_or(1)),
        S::Text | S::String(_) | S::Clob(_) | S::Regclass => ColumnType::Text,
        S::Bytea | S::Blob(_) | S::Binary(_) | S::Varbinary(_) => ColumnType::Bytea,
        S::Bit(_) | S::BitVarying(_) | S::VarBit(_) => ColumnType::Text,
        S::JSON => ColumnType::Json,
        S::JSONB => ColumnType::Jsonb,
        S::Array(
            ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::AngleBracket(element),
        ) => array_of(column_type(element)?)
            .ok_or_else(|| Error::unsupported(format!("the type {sql} has too many dimensions")))?,
        S::Custom(name, modifiers) => {
            match (custom(&name.to_string())?, bpchar_length(name, modifiers)?) {
                (_, Some(length)) => ColumnType::Char(length),
                (kind, None) => kind,
            }
        }
        other => return Err(no_such_type(&other.to_string())),
    })
}

/// The length of `bpchar(n)`.
fn bpchar_length(name: &ObjectName, modifiers: &[String]) -> Result<Option<u32>> {
    let [modifier] = modifiers else {
        return Ok(None);
    };
    if !name.to_string().eq_ignore_ascii_case("bpchar") {
        return Ok(None);
    }
    let Ok(length) = modifier.trim().parse() else {
        return Ok(None);
    };
    let written = CharacterLength::IntegerLength { length, unit: None };
    self::length("char", Some(&written))
}

fn no_such_type(name: &str) -> Error {
    Error::new(
        "42704",
        format!("type \"{}\" does not exist", name.to_lowercase()),
    )
    .with_hint(
        "the types are BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE PRECISION, NUMERIC, \
         DECIMAL(p,s), BIT(n), BIT VARYING(n), MONEY, INET, CIDR, MACADDR, MACADDR8, INT4RANGE, INT8RANGE, NUMRANGE, TSRANGE, TSTZRANGE, DATERANGE and their multiranges, DATE, TIME [WITH TIME ZONE], TIMESTAMP [WITH TIME ZONE], INTERVAL, UUID, VARCHAR(n), \
         CHAR(n), TEXT, BYTEA, JSON, JSONB, and arrays of them",
    )
}

fn custom(name: &str) -> Result<ColumnType> {
    match name.to_lowercase().as_str() {
        "bpchar" | "name" | "\"char\"" | "regtype" | "regproc" | "regnamespace" | "regrole"
        | "text" | "jsonpath" | "\"bit\"" => Ok(ColumnType::Text),
        "oid" => Ok(ColumnType::BigInt),
        "timetz" => Ok(ColumnType::TimeTz),
        "timestamptz" => Ok(ColumnType::TimestampTz),
        other => match named(other) {
            Some(
                known @ (Type::Array(_)
                | Type::Internal(_)
                | Type::Inet
                | Type::Cidr
                | Type::MacAddr
                | Type::MacAddr8
                | Type::Money
                | Type::Range(_)
                | Type::Multirange(_)),
            ) => column_type_of_type(&known),
            _ => Err(no_such_type(name)),
        },
    }
}

/// The type of arrays of a type, with a dimension more if it is one already.
fn array_of(element: ColumnType) -> Option<ColumnType> {
    match element {
        ColumnType::Array { element, dims } => {
            let dims = dims.checked_add(1).filter(|dims| *dims <= DIMENSIONS)?;
            Some(ColumnType::Array { element, dims })
        }
        plain => plain.array(1),
    }
}

/// The column type that holds values of a type of the front.
///
/// # Errors
/// `0A000` for types that no column has.
pub(crate) fn column_type_of_type(ty: &Type) -> Result<ColumnType> {
    let none = || Error::unsupported(format!("a column cannot have the type {ty}"));
    Ok(match ty {
        Type::Bool => ColumnType::Boolean,
        Type::Int2 => ColumnType::SmallInt,
        Type::Int4 => ColumnType::Integer,
        Type::Int8 | Type::Oid | Type::Internal(Internal::Xid) => ColumnType::BigInt,
        Type::Float4 => ColumnType::Real,
        Type::Float8 => ColumnType::Double,
        Type::Numeric(None) => ColumnType::Numeric,
        Type::Numeric(Some(digits)) => ColumnType::Decimal {
            precision: digits.precision,
            scale: i8::try_from(digits.scale).map_err(|_| none())?,
        },
        Type::Unknown
        | Type::Text
        | Type::CatalogChar
        | Type::Name
        | Type::Char(None)
        | Type::JsonPath
        | Type::Bit(_)
        | Type::VarBit(_)
        // The names of objects are kept.
        | Type::Reg(_)
        | Type::Enum(_) => ColumnType::Text,
        Type::Varchar(length) => ColumnType::Varchar(*length),
        Type::Char(Some(length)) => ColumnType::Char(*length),
        Type::Bytea
        | Type::Inet
        | Type::Cidr
        | Type::MacAddr
        | Type::MacAddr8
        | Type::Money
        | Type::Range(_)
        | Type::Multirange(_) => ColumnType::Bytea,
        Type::Date => ColumnType::Date,
        Type::Time(_) => ColumnType::Time,
        Type::TimeTz(_) => ColumnType::TimeTz,
        Type::Timestamp(_) => ColumnType::Timestamp,
        Type::TimestampTz(_) => ColumnType::TimestampTz,
        Type::Interval => ColumnType::Interval,
        Type::Uuid => ColumnType::Uuid,
        Type::Json => ColumnType::Json,
        Type::Jsonb => ColumnType::Jsonb,
        Type::Record(fields) if fields.number() > 0 => ColumnType::Record,
        Type::Array(element) => array_of(column_type_of_type(element)?).ok_or_else(none)?,
        _ => return Err(none()),
    })
}

fn float(info: ExactNumberInfo) -> Result<ColumnType> {
    match info {
        ExactNumberInfo::None | ExactNumberInfo::Precision(25..=53) => Ok(ColumnType::Double),
        ExactNumberInfo::Precision(1..=24) => Ok(ColumnType::Real),
        _ => Err(Error::new(
            "22023",
            "precision for type float must be between 1 and 53 bits",
        )),
    }
}

/// NUMERIC without digits holds those that DECIMAL cannot.
fn decimal(info: ExactNumberInfo) -> Result<ColumnType> {
    let Some((precision, scale)) = written_digits(info)? else {
        return Ok(ColumnType::Numeric);
    };
    let digits = u8::try_from(precision)
        .ok()
        .filter(|digits| *digits <= DECIMAL_DIGITS);
    let scale = i8::try_from(scale).ok();
    Ok(match digits.zip(scale) {
        Some((precision, scale)) if scale >= 0 && scale.unsigned_abs() <= precision => {
            ColumnType::Decimal { precision, scale }
        }
        _ => ColumnType::Numeric,
    })
}

fn length(kind: &str, length: Option<&CharacterLength>) -> Result<Option<u32>> {
    let Some(length) = length else {
        return Ok(None);
    };
    let CharacterLength::IntegerLength { length, .. } = length else {
        return Ok(None);
    };
    if *length == 0 {
        return Err(Error::new(
            "22023",
            format!("length for type {kind} must be at least 1"),
        ));
    }
    match u32::try_from(*length) {
        Ok(n) if *length <= LENGTH_MAX => Ok(Some(n)),
        _ => Err(Error::new(
            "22023",
            format!("length for type {kind} cannot exceed {LENGTH_MAX}"),
        )),
    }
}

/// The column type that holds values of an Arrow type, for CREATE TABLE AS and
/// for reading files.
///
/// # Errors
/// `0A000` for structs and other types that no column has.
pub(crate) fn column_type_of(arrow: &DataType) -> Result<ColumnType> {
    Ok(match arrow {
        DataType::Boolean => ColumnType::Boolean,
        DataType::Int8 | DataType::UInt8 | DataType::Int16 => ColumnType::SmallInt,
        DataType::UInt16 | DataType::Int32 => ColumnType::Integer,
        DataType::UInt32 | DataType::Int64 => ColumnType::BigInt,
        DataType::UInt64 => ColumnType::Decimal {
            precision: 20,
            scale: 0,
        },
        DataType::Float16 | DataType::Float32 => ColumnType::Real,
        DataType::Float64 => ColumnType::Double,
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s)
            if *s >= 0 =>
        {
            ColumnType::Decimal {
                precision: *p,
                scale: *s,
            }
        }
        DataType::Decimal256(p, s) if *s >= 0 => ColumnType::Decimal {
            precision: (*p).min(DECIMAL_DIGITS),
            scale: *s,
        },
        DataType::Date32 | DataType::Date64 => ColumnType::Date,
        DataType::Time32(_) | DataType::Time64(_) => ColumnType::Time,
        DataType::Timestamp(_, None) => ColumnType::Timestamp,
        DataType::Timestamp(_, Some(_)) => ColumnType::TimestampTz,
        DataType::Interval(_) => ColumnType::Interval,
        DataType::FixedSizeBinary(16) => ColumnType::Uuid,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            ColumnType::Text
        }
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => ColumnType::Bytea,
        DataType::Dictionary(_, values) => column_type_of(values)?,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)
            if let Some(array) = array_of(column_type_of(item.data_type())?) =>
        {
            array
        }
        DataType::Struct(_)
            if let Some(element) = element_type(arrow)
                && let Some(array) = array_of(column_type_of(element)?) =>
        {
            array
        }
        other => {
            return Err(Error::unsupported(format!(
                "a column cannot have the type {}",
                sql_name(other)
            )));
        }
    })
}

/// The type of JSON: no other texts that are computed are long ones.
pub const JSON: DataType = DataType::LargeUtf8;

/// What elements of lists are called in which PostgreSQL's catalog has an `int2vector`: it is
/// written as `1 2`.
pub const VECTOR: &str = "vector";

/// The key of a field's metadata under which its SQL type stands, as `format_type` names it.
pub const TYPE_KEY: &str = "freestone.type";

/// The key of a field's metadata under which the number of its type in `pg_type` stands, where
/// the type was created.
pub const NUMBER_KEY: &str = "freestone.type_number";

/// The number in `pg_type` of the created type that a field is of.
pub fn type_number(field: &Field) -> Option<u32> {
    field.metadata().get(NUMBER_KEY)?.parse().ok()
}

/// The SQL type that a field says in its metadata.
pub fn said_type(field: &Field) -> Option<&str> {
    field.metadata().get(TYPE_KEY).map(String::as_str)
}

/// The SQL type of the elements of a list of the type that is said. Arrays of several
/// dimensions are lists of lists, and all of these have the type of the whole.
pub fn said_of_elements<'a>(said: Option<&'a str>, item: &'a Field) -> Option<&'a str> {
    said_type(item).or(match item.data_type() {
        DataType::List(_) => said,
        _ => said.and_then(|said| said.strip_suffix("[]")),
    })
}

/// The SQL type of the elements of arrays of the type that is said: there is one type for arrays
/// of all dimensions.
pub fn said_of_element(said: Option<&str>) -> Option<&str> {
    said.and_then(|said| said.strip_suffix("[]"))
}

/// What SQL calls the type of a result's column: as its field says, else by its Arrow type.
pub fn type_name_of(field: &Field) -> String {
    said_type(field).map_or_else(|| sql_name(field.data_type()), str::to_owned)
}

/// What SQL calls the type of a result's column, such as `numeric(10,2)`.
pub fn type_name(arrow: &DataType) -> String {
    sql_name(arrow)
}

/// PostgreSQL's name of an Arrow type.
pub(crate) fn sql_name(arrow: &DataType) -> String {
    match arrow {
        DataType::Null => "unknown".to_owned(),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            format!("{}[]", sql_name(item.data_type()))
        }
        DataType::Struct(_) if let Some(element) = element_type(arrow) => {
            format!("{}[]", sql_name(element))
        }
        DataType::Dictionary(_, values) => sql_name(values),
        DataType::Decimal128(p, s) | DataType::Decimal256(p, s) => format!("numeric({p},{s})"),
        DataType::Interval(IntervalUnit::MonthDayNano) => "interval".to_owned(),
        DataType::Timestamp(TimeUnit::Microsecond, None) => "timestamp".to_owned(),
        other => match sql_name_of_debug(&other.to_string()) {
            "unknown" => other.to_string(),
            name => name.to_owned(),
        },
    }
}

/// The Arrow schema with every column nullable: NOT NULL is checked by storage,
/// which can name the column.
pub(crate) fn nullable(schema: &TableSchema) -> SchemaRef {
    let arrow = schema.arrow();
    let fields: Vec<_> = arrow
        .fields()
        .iter()
        .map(|field| field.as_ref().clone().with_nullable(true))
        .collect();
    Arc::new(Schema::new(fields))
}
