//! The front's types of what columns hold and of Arrow's fields.

use arrow::datatypes::{DataType, Field, TimeUnit};
use freestone_frontend::types::arrays::element_type;
use freestone_frontend::types::{Internal, RangeOf, Type};
use freestone_storage::{Column, ColumnType, Modifier, RangeKind};
use sqlparser::ast::DataType as SqlType;

use super::TYPE_KEY;

/// The front's type of a column, but for a created type.
pub(crate) fn type_held(column: &Column) -> Type {
    modified(type_of_column(&column.kind), column.modifier)
}

/// The front's type of values that are held as a type, as far as it has a place for modifiers.
fn modified(held: Type, modifier: Option<Modifier>) -> Type {
    match (held, modifier) {
        (Type::Array(element), modifier) => modified(*element, modifier).array(),
        (Type::Time(_), Some(Modifier::Seconds(digits))) => Type::Time(Some(digits)),
        (Type::TimeTz(_), Some(Modifier::Seconds(digits))) => Type::TimeTz(Some(digits)),
        (Type::Timestamp(_), Some(Modifier::Seconds(digits))) => Type::Timestamp(Some(digits)),
        (Type::TimestampTz(_), Some(Modifier::Seconds(digits))) => Type::TimestampTz(Some(digits)),
        (Type::Text, Some(Modifier::Name)) => Type::Name,
        (Type::Text, Some(Modifier::JsonPath)) => Type::JsonPath,
        (Type::Text, Some(Modifier::InternalChar)) => Type::CatalogChar,
        (Type::Int8, Some(Modifier::Oid)) => Type::Oid,
        (Type::Int8, Some(Modifier::Xid)) => Type::Internal(Internal::Xid),
        (Type::Bytea, Some(Modifier::Inet)) => Type::Inet,
        (Type::Bytea, Some(Modifier::Cidr)) => Type::Cidr,
        (Type::Bytea, Some(Modifier::MacAddr)) => Type::MacAddr,
        (Type::Bytea, Some(Modifier::MacAddr8)) => Type::MacAddr8,
        (Type::Bytea, Some(Modifier::Range(kind))) => Type::Range(range_of(kind)),
        (Type::Bytea, Some(Modifier::Multirange(kind))) => Type::Multirange(range_of(kind)),
        (Type::Bytea, Some(Modifier::Money)) => Type::Money,
        (Type::Text, Some(Modifier::Bit(length))) => Type::Bit(length),
        (Type::Text, Some(Modifier::BitVarying(length))) => Type::VarBit(length),
        (held, _) => held,
    }
}

fn range_of(kind: RangeKind) -> RangeOf {
    match kind {
        RangeKind::Integer => RangeOf::Int4,
        RangeKind::BigInt => RangeOf::Int8,
        RangeKind::Numeric => RangeOf::Numeric,
        RangeKind::Timestamp => RangeOf::Timestamp,
        RangeKind::TimestampTz => RangeOf::TimestampTz,
        RangeKind::Date => RangeOf::Date,
    }
}

/// The front's type of columns of a written type; `None` for one that they cannot have.
pub(crate) fn type_of_written(written: &SqlType) -> Option<Type> {
    let (kind, modifier) = super::declared_type(written).ok()?;
    Some(modified(type_of_column(&kind), modifier))
}

/// The front's type of what a column is held as.
pub(crate) fn type_of_column(kind: &ColumnType) -> Type {
    match kind {
        ColumnType::Boolean => Type::Bool,
        ColumnType::SmallInt => Type::Int2,
        ColumnType::Integer => Type::Int4,
        ColumnType::BigInt => Type::Int8,
        ColumnType::Real => Type::Float4,
        ColumnType::Double => Type::Float8,
        ColumnType::Decimal { precision, scale } => {
            Type::numeric((*precision).into(), scale.unsigned_abs().into())
        }
        ColumnType::Date => Type::Date,
        ColumnType::Time => Type::Time(None),
        ColumnType::Timestamp => Type::Timestamp(None),
        ColumnType::TimestampTz => Type::TimestampTz(None),
        ColumnType::Interval => Type::Interval,
        ColumnType::Uuid => Type::Uuid,
        ColumnType::Varchar(length) => Type::Varchar(*length),
        ColumnType::Char(length) => Type::Char(Some(*length)),
        ColumnType::Text => Type::Text,
        ColumnType::Bytea => Type::Bytea,
        ColumnType::Json => Type::Json,
        ColumnType::Numeric => Type::Numeric(None),
        ColumnType::Jsonb => Type::Jsonb,
        ColumnType::TimeTz => Type::TimeTz(None),
        // Its created type says which fields it has.
        ColumnType::Record => Type::Text,
        ColumnType::Array { element, dims } => {
            let element = type_of_column(&(*element).into());
            (0..*dims).fold(element, |ty, _| ty.array())
        }
    }
}

/// The front's type of an Arrow field.
pub(crate) fn type_of(field: &Field) -> Type {
    if let Some(named) = field.metadata().get(TYPE_KEY)
        && let Some(ty) = freestone_frontend::types::formatted(named)
    {
        return ty;
    }
    match field.data_type() {
        DataType::Boolean => Type::Bool,
        DataType::Int8 | DataType::UInt8 | DataType::Int16 => Type::Int2,
        DataType::UInt16 | DataType::Int32 => Type::Int4,
        DataType::UInt32 | DataType::Int64 => Type::Int8,
        DataType::UInt64 => Type::numeric(20, 0),
        DataType::Float16 | DataType::Float32 => Type::Float4,
        DataType::Float64 => Type::Float8,
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s)
            if *s >= 0 =>
        {
            Type::numeric((*p).into(), s.unsigned_abs().into())
        }
        DataType::Decimal256(..) => Type::Numeric(None),
        DataType::Date32 | DataType::Date64 => Type::Date,
        DataType::Time32(_) | DataType::Time64(_) => Type::Time(None),
        DataType::Timestamp(
            TimeUnit::Second | TimeUnit::Millisecond | TimeUnit::Microsecond | TimeUnit::Nanosecond,
            zone,
        ) => match zone {
            Some(_) => Type::TimestampTz(None),
            None => Type::Timestamp(None),
        },
        DataType::Interval(_) | DataType::Duration(_) => Type::Interval,
        DataType::FixedSizeBinary(16) => Type::Uuid,
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => Type::Bytea,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            type_of(item).array()
        }
        DataType::Struct(fields) => {
            if let Some(element) = element_type(field.data_type()) {
                return type_of(&Field::new("", element.clone(), true)).array();
            }
            let fields = fields.iter();
            Type::Record(
                fields
                    .map(|field| (field.name().clone(), type_of(field)))
                    .collect(),
            )
        }
        DataType::Dictionary(_, values) => type_of(&Field::new("", values.as_ref().clone(), true)),
        _ => Type::Text,
    }
}
