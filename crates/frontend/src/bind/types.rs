//! Written types.

use sqlparser::ast::{
    ArrayElemTypeDef, BinaryLength, CharacterLength, DataType, ExactNumberInfo, IntervalFields,
    TimezoneInfo,
};

use super::{Catalog, Found, parts};
use crate::error::{Error, Result};
use crate::types::{DECIMAL_DIGITS, Fields, Reg, Type, named};
use crate::values::datetime::{SpanField, SpanFields};

/// Longest VARCHAR(n) and CHAR(n), as in PostgreSQL.
const LENGTH_MAX: u64 = 10_485_760;
/// Longest BIT(n) and BIT VARYING(n), as in PostgreSQL.
const BITS_MAX: u64 = 83_886_080;
/// Most digits of a NUMERIC, and its greatest scale, as in PostgreSQL.
const DIGITS_MAX: u64 = 1000;

/// The type that was written.
///
/// # Errors
/// `42704` for a type that does not exist, `22023` for digits or lengths out of range.
pub fn written_type(written: &DataType, catalog: &dyn Catalog) -> Result<Type> {
    use DataType as D;
    Ok(match written {
        D::Bool | D::Boolean => Type::Bool,
        D::SmallInt(None) | D::Int2(None) | D::TinyInt(None) => Type::Int2,
        D::Int(None) | D::Integer(None) | D::Int4(None) | D::MediumInt(None) => Type::Int4,
        D::BigInt(None) | D::Int8(None) => Type::Int8,
        D::Int16 => Type::Int2,
        D::Int32 => Type::Int4,
        D::Int64 => Type::Int8,
        D::Real | D::Float4 | D::Float32 => Type::Float4,
        D::Double(ExactNumberInfo::None) | D::DoublePrecision | D::Float8 | D::Float64 => {
            Type::Float8
        }
        D::Float(info) => float(*info)?,
        D::Numeric(info) | D::Decimal(info) | D::Dec(info) => numeric(*info)?,
        D::Date | D::Date32 => Type::Date,
        D::Time(digits, zone) => {
            let digits = seconds("TIME", *digits)?;
            match is_zoned(zone) {
                true => Type::TimeTz(digits),
                false => Type::Time(digits),
            }
        }
        D::Timestamp(digits, zone) => {
            let digits = seconds("TIMESTAMP", *digits)?;
            match is_zoned(zone) {
                true => Type::TimestampTz(digits),
                false => Type::Timestamp(digits),
            }
        }
        D::Datetime(digits) | D::TimestampNtz(digits) => {
            Type::Timestamp(seconds("TIMESTAMP", *digits)?)
        }
        D::Interval {
            fields: None,
            precision: None,
        } => Type::Interval,
        D::Interval { .. } => {
            return Err(Error::unsupported(
                "an INTERVAL of some fields or digits is not supported here",
            ));
        }
        D::Uuid => Type::Uuid,
        D::Varchar(n) | D::CharacterVarying(n) | D::CharVarying(n) | D::Nvarchar(n) => {
            Type::Varchar(length("varchar", n.as_ref())?)
        }
        D::Char(n) | D::Character(n) => Type::Char(Some(length("char", n.as_ref())?.unwrap_or(1))),
        D::Text | D::String(None) | D::Clob(None) => Type::Text,
        D::Bytea | D::Blob(None) | D::Binary(None) => Type::Bytea,
        D::Varbinary(None | Some(BinaryLength::Max)) => Type::Bytea,
        D::JSON => Type::Json,
        D::JSONB => Type::Jsonb,
        D::Regclass => Type::Reg(Reg::Class),
        D::Array(ArrayElemTypeDef::SquareBracket(element, _))
        | D::Array(ArrayElemTypeDef::AngleBracket(element)) => {
            written_type(element, catalog)?.array()
        }
        D::Custom(name, modifiers) => {
            let mut parts = parts(name)?;
            let full = parts.join(".");
            let last = parts.pop().unwrap_or_default();
            let schema = parts.pop();
            // "char" in quotes is a type of the catalog, and not CHAR.
            let quoted = name.0.last().is_some_and(|part| {
                part.as_ident()
                    .is_some_and(|ident| ident.quote_style.is_some())
            });
            let known = match schema.as_deref() {
                None | Some("pg_catalog") if last == "char" && (quoted || schema.is_some()) => {
                    Some(Type::CatalogChar)
                }
                // In quotes it is BIT of any length.
                None | Some("pg_catalog") if last == "bit" && (quoted || schema.is_some()) => {
                    Some(Type::Bit(None))
                }
                None | Some("pg_catalog") if quoted && is_keyword(&last) => None,
                None | Some("pg_catalog") => named(&last),
                Some(_) => None,
            };
            let known = known.or_else(|| catalog.named_type(schema.as_deref(), &last));
            let Some(ty) = known.or_else(|| row_type(catalog, schema.as_deref(), &last)) else {
                let message = format!("type \"{full}\" does not exist");
                return Err(Error::new("42704", message));
            };
            match modifiers.as_slice() {
                [] => ty,
                [one] => modified(&ty, one, name)?,
                _ => return Err(no_modifiers(&name.to_string())),
            }
        }
        D::Bit(n) => Type::Bit(Some(bits("bit", *n)?.unwrap_or(1))),
        D::BitVarying(n) | D::VarBit(n) => Type::VarBit(bits("varbit", *n)?),
        other => return Err(no_such_type(&other.to_string())),
    })
}

/// A type of a name with a modifier in brackets, such as `bpchar(3)`.
fn modified(ty: &Type, modifier: &str, name: &sqlparser::ast::ObjectName) -> Result<Type> {
    let number: Option<u32> = modifier.trim().parse().ok();
    Ok(match (ty, number) {
        (Type::Char(_), Some(n)) => Type::Char(Some(n)),
        (Type::Varchar(_), Some(n)) => Type::Varchar(Some(n)),
        (Type::Bit(_), Some(n)) => Type::Bit(bits("bit", Some(n.into()))?),
        (Type::TimestampTz(_), Some(n)) => Type::TimestampTz(seconds("TIMESTAMP", Some(n.into()))?),
        (Type::TimeTz(_), Some(n)) => Type::TimeTz(seconds("TIME", Some(n.into()))?),
        _ => return Err(no_modifiers(&name.to_string())),
    })
}

/// The type of a table's rows.
fn row_type(catalog: &dyn Catalog, schema: Option<&str>, name: &str) -> Option<Type> {
    let found = match catalog.relation(schema, name, None).ok()?? {
        Found::Seen(found, _) => *found,
        found => found,
    };
    let found = match found {
        Found::Limited(found, _) => *found,
        found => found,
    };
    let relation = match found {
        Found::Relation(relation) => relation,
        Found::Parts(parts) => parts.whole,
        Found::View(_) | Found::Seen(..) | Found::Limited(..) => return None,
    };
    let fields: Fields = relation.columns.iter().cloned().collect();
    Some(Type::Record(
        fields.with_name(&relation.name, relation.number),
    ))
}

/// Whether a type's name is a word of the grammar, which in quotes is none.
fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "boolean"
            | "smallint"
            | "int"
            | "integer"
            | "bigint"
            | "real"
            | "float"
            | "double"
            | "decimal"
            | "dec"
            | "character"
    )
}

fn no_modifiers(name: &str) -> Error {
    Error::new(
        "42601",
        format!("type modifier is not allowed for type \"{name}\""),
    )
}

fn no_such_type(name: &str) -> Error {
    Error::new(
        "42704",
        format!("type \"{}\" does not exist", name.to_lowercase()),
    )
}

fn is_zoned(zone: &TimezoneInfo) -> bool {
    matches!(zone, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz)
}

/// Digits of seconds; more than six are six.
fn seconds(kind: &str, digits: Option<u64>) -> Result<Option<u8>> {
    match digits {
        None => Ok(None),
        Some(digits @ 0..=6) => Ok(Some(digits as u8)),
        Some(7..=9999) => Ok(Some(6)),
        Some(digits) => Err(Error::new(
            "22023",
            format!("{kind}({digits}) precision must not be larger than 6"),
        )),
    }
}

fn float(info: ExactNumberInfo) -> Result<Type> {
    match info {
        ExactNumberInfo::None | ExactNumberInfo::Precision(25..=53) => Ok(Type::Float8),
        ExactNumberInfo::Precision(1..=24) => Ok(Type::Float4),
        ExactNumberInfo::Precision(0) => Err(Error::new(
            "22023",
            "precision for type float must be at least 1 bit",
        )),
        _ => Err(Error::new(
            "22023",
            "precision for type float must be less than 54 bits",
        )),
    }
}

/// Precision and scale of a NUMERIC that is written with them.
///
/// # Errors
/// `22023` if they are out of range.
pub fn written_digits(info: ExactNumberInfo) -> Result<Option<(u32, i32)>> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => return Ok(None),
        ExactNumberInfo::Precision(precision) => (precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale),
    };
    let refuse = |message: String| Err(Error::new("22023", message));
    if !(1..=DIGITS_MAX).contains(&precision) {
        return refuse(format!(
            "NUMERIC precision {precision} must be between 1 and {DIGITS_MAX}"
        ));
    }
    if scale.unsigned_abs() > DIGITS_MAX {
        return refuse(format!(
            "NUMERIC scale {scale} must be between -{DIGITS_MAX} and {DIGITS_MAX}"
        ));
    }
    Ok(Some((precision as u32, scale as i32)))
}

/// Precision and scale of a written NUMERIC whose values are held each with a scale of its own;
/// `None` for all other types.
///
/// # Errors
/// `22023` if they are out of range.
pub fn many_digits(written: &DataType) -> Result<Option<(u32, i32)>> {
    let (DataType::Numeric(info) | DataType::Decimal(info) | DataType::Dec(info)) = written else {
        return Ok(None);
    };
    let digits = written_digits(*info)?;
    Ok(digits.filter(|(precision, scale)| fixed(*precision, *scale).is_none()))
}

/// The type of numbers with these digits, if all its values have one scale.
fn fixed(precision: u32, scale: i32) -> Option<Type> {
    let ty = Type::numeric(precision, u32::try_from(scale).ok()?);
    (ty != Type::Numeric(None)).then_some(ty)
}

fn numeric(info: ExactNumberInfo) -> Result<Type> {
    let Some((precision, scale)) = written_digits(info)? else {
        return Ok(Type::Numeric(None));
    };
    fixed(precision, scale).ok_or_else(|| {
        Error::unsupported(format!(
            "NUMERIC({precision},{scale}) is not supported here: at most {DECIMAL_DIGITS} digits, \
             and a scale from 0 to the precision"
        ))
        .with_hint("NUMERIC without digits holds numbers of any size.")
    })
}

/// The fields that an INTERVAL is written with.
pub fn written_fields(fields: Option<&IntervalFields>, precision: Option<u64>) -> SpanFields {
    use IntervalFields as F;
    use SpanField::{Day, Hour, Minute, Month, Second, Year};
    let decimals = precision.map(|digits| digits.min(6) as u8);
    let all = SpanFields {
        decimals,
        ..SpanFields::default()
    };
    let (first, last) = match fields {
        None => return all,
        Some(F::Year) => (Year, Year),
        Some(F::Month) => (Month, Month),
        Some(F::Day) => (Day, Day),
        Some(F::Hour) => (Hour, Hour),
        Some(F::Minute) => (Minute, Minute),
        Some(F::Second) => (Second, Second),
        Some(F::YearToMonth) => (Year, Month),
        Some(F::DayToHour) => (Day, Hour),
        Some(F::DayToMinute) => (Day, Minute),
        Some(F::DayToSecond) => (Day, Second),
        Some(F::HourToMinute) => (Hour, Minute),
        Some(F::HourToSecond) => (Hour, Second),
        Some(F::MinuteToSecond) => (Minute, Second),
    };
    SpanFields { first, last, ..all }
}

/// The length that a BIT or a BIT VARYING is written with.
///
/// # Errors
/// `22023` if it is out of range.
pub fn bits(kind: &str, length: Option<u64>) -> Result<Option<u32>> {
    length.map_or(Ok(None), |length| within(kind, length, BITS_MAX))
}

fn length(kind: &str, length: Option<&CharacterLength>) -> Result<Option<u32>> {
    let Some(CharacterLength::IntegerLength { length, unit: _ }) = length else {
        return Ok(None);
    };
    within(kind, *length, LENGTH_MAX)
}

/// A length of at least one.
fn within(kind: &str, length: u64, most: u64) -> Result<Option<u32>> {
    match u32::try_from(length) {
        Ok(0) => Err(Error::new(
            "22023",
            format!("length for type {kind} must be at least 1"),
        )),
        Ok(number) if length <= most => Ok(Some(number)),
        _ => Err(Error::new(
            "22023",
            format!("length for type {kind} cannot exceed {most}"),
        )),
    }
}
