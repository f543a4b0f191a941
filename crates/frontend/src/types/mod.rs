//! SQL types, their names and how Arrow holds their values.
//!
//! A [`Type`] is a SQL type with its modifiers, such as `VARCHAR(3)`. Overloads are found by
//! its [`base`](Type::base), which has none.
//!
//! | SQL | Arrow |
//! |---|---|
//! | BOOLEAN | `Boolean` |
//! | SMALLINT, INTEGER, BIGINT | `Int16`, `Int32`, `Int64` |
//! | REAL, DOUBLE PRECISION | `Float32`, `Float64` |
//! | NUMERIC(p, s), p up to 38 | `Decimal128(p, s)`: every value has the scale s |
//! | NUMERIC | `BinaryView`: [`Numeric`](crate::values::Numeric)'s bytes, each with a scale of its own |
//! | TEXT, VARCHAR, CHAR, NAME, enumerations | `Utf8View`; CHAR(n) without its trailing blanks |
//! | JSON, JSONB, JSONPATH | `Utf8View`; JSONB in its normal form |
//! | BYTEA | `BinaryView` |
//! | INET, CIDR, MACADDR, MACADDR8 | `BinaryView`, of bytes in the order of the values ([`network`](crate::values::network)) |
//! | ranges, multiranges | `BinaryView`, of bytes in the order of the values ([`range`](crate::values::range)) |
//! | MONEY | `BinaryView`, of eight bytes in the order of the values ([`money`](crate::values::money)) |
//! | BIT, BIT VARYING | `Utf8View`: zeros and ones, whose order as texts is theirs |
//! | DATE | `Date32` |
//! | TIME | `Time64(Microsecond)` |
//! | TIMETZ | `FixedSizeBinary(12)`: microseconds (i64) and seconds west of UTC (i32), little-endian |
//! | TIMESTAMP, TIMESTAMPTZ | `Timestamp(Microsecond)`, the latter in "+00:00" |
//! | INTERVAL | `Interval(MonthDayNano)` |
//! | UUID | `FixedSizeBinary(16)` |
//! | OID and the REG types | `Int64` |
//! | XID, XID8, CID, TID | `Int64`; XID8 by its bits, TID as [`Internal::Tid`] says |
//! | ACLITEM, PG_NODE_TREE | `Utf8View` |
//! | "char" | `Utf8View` |
//! | INT2VECTOR, OIDVECTOR | `List` whose items are called [`VECTOR`] |
//! | T[] | a struct of elements and bounds ([`arrays`]) |
//! | records | `Struct` |
//!
//! The infinities of dates and timestamps are the least and the greatest integer.

use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

pub mod arrays;
pub mod modifier;
mod names;
pub mod ranges;

pub use names::{formatted, named};
pub use ranges::RangeOf;

/// Digits of a NUMERIC whose values all have one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digits {
    /// Digits in all, 1 to 38.
    pub precision: u8,
    /// Digits behind the point, 0 to `precision`.
    pub scale: u8,
}

/// An enumeration.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    /// Its name.
    pub name: String,
    /// Its labels, in order.
    pub labels: Vec<String>,
    /// Its number in the catalog.
    pub number: i64,
}

/// The domain that values of a field, or the elements of its arrays, are of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldDomain {
    /// The schema of the domain, if it is known.
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
    /// Whether the field has arrays of it.
    pub of_elements: bool,
}

/// The fields of a record, with the name of its type if it has one: a table's rows and values
/// of composite types do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fields {
    name: Option<Arc<str>>,
    number: i64,
    fields: Arc<[(String, Type)]>,
    /// The domains of the fields; none at all where no field is of one.
    domains: Arc<[Option<FieldDomain>]>,
}

impl Fields {
    /// The fields as those of a type of a name, with its number in the catalog, or 0.
    #[must_use]
    pub fn with_name(mut self, name: &str, number: i64) -> Fields {
        self.name = Some(Arc::from(name));
        self.number = number;
        self
    }

    /// The fields with the domains that they are of, one or none for each.
    #[must_use]
    pub fn with_domains(mut self, domains: Vec<Option<FieldDomain>>) -> Fields {
        if domains.iter().any(Option::is_some) {
            self.domains = domains.into();
        }
        self
    }

    /// Whether any of the fields is of a domain.
    pub fn has_domains(&self) -> bool {
        !self.domains.is_empty()
    }

    /// The domain that a field, counted from 0, is of.
    pub(crate) fn domain(&self, at: usize) -> Option<&FieldDomain> {
        self.domains.get(at)?.as_ref()
    }

    /// The number of the type in the catalog; 0 if it has none.
    pub fn number(&self) -> i64 {
        self.number
    }

    /// The fields of the same type with others in the place of their types.
    pub(crate) fn map(&self, mut of: impl FnMut(&Type) -> Type) -> Fields {
        let fields = self.fields.iter();
        Fields {
            fields: fields.map(|(name, ty)| (name.clone(), of(ty))).collect(),
            ..self.clone()
        }
    }

    /// The name of the type; `None` for a record that is none's.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl Deref for Fields {
    type Target = [(String, Type)];

    fn deref(&self) -> &[(String, Type)] {
        &self.fields
    }
}

impl From<Arc<[(String, Type)]>> for Fields {
    fn from(fields: Arc<[(String, Type)]>) -> Fields {
        Fields {
            name: None,
            number: 0,
            fields,
            domains: Arc::default(),
        }
    }
}

impl From<&[(String, Type)]> for Fields {
    fn from(fields: &[(String, Type)]) -> Fields {
        Fields::from(Arc::from(fields))
    }
}

impl FromIterator<(String, Type)> for Fields {
    fn from_iter<I: IntoIterator<Item = (String, Type)>>(fields: I) -> Fields {
        Fields {
            name: None,
            number: 0,
            fields: fields.into_iter().collect(),
            domains: Arc::default(),
        }
    }
}

/// A SQL type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A literal in quotes or NULL, before its context says of which type it is.
    Unknown,
    /// BOOLEAN.
    Bool,
    /// SMALLINT.
    Int2,
    /// INTEGER.
    Int4,
    /// BIGINT.
    Int8,
    /// REAL.
    Float4,
    /// DOUBLE PRECISION.
    Float8,
    /// NUMERIC, with one scale for all values or with one each.
    Numeric(Option<Digits>),
    /// TEXT.
    Text,
    /// VARCHAR(n), n in characters.
    Varchar(Option<u32>),
    /// CHAR(n), n in characters; without n, BPCHAR of any length.
    Char(Option<u32>),
    /// NAME, of at most 63 bytes.
    Name,
    /// BYTEA.
    Bytea,
    /// BIT(n); without n of any length.
    Bit(Option<u32>),
    /// BIT VARYING(n).
    VarBit(Option<u32>),
    /// INET: the address of a host, with the mask of its network.
    Inet,
    /// CIDR: the address of a network.
    Cidr,
    /// MACADDR, of six bytes.
    MacAddr,
    /// MACADDR8, of eight bytes.
    MacAddr8,
    /// A range of values of a type.
    Range(RangeOf),
    /// A set of values of a type, as ranges that do not touch each other.
    Multirange(RangeOf),
    /// MONEY, of hundredths.
    Money,
    /// DATE.
    Date,
    /// TIME, with digits of seconds.
    Time(Option<u8>),
    /// TIME WITH TIME ZONE, with digits of seconds.
    TimeTz(Option<u8>),
    /// TIMESTAMP, with digits of seconds.
    Timestamp(Option<u8>),
    /// TIMESTAMP WITH TIME ZONE, with digits of seconds.
    TimestampTz(Option<u8>),
    /// INTERVAL.
    Interval,
    /// UUID.
    Uuid,
    /// JSON, the text as it was given.
    Json,
    /// JSONB, in normal form.
    Jsonb,
    /// JSONPATH.
    JsonPath,
    /// OID.
    Oid,
    /// REGCLASS, REGTYPE and their kin: an OID that is shown by a name.
    Reg(Reg),
    /// XID, ACLITEM and their kin: types of PostgreSQL's own working.
    Internal(Internal),
    /// `"char"`: one byte of PostgreSQL's catalog.
    CatalogChar,
    /// INT2VECTOR: numbers of columns, counted from 0.
    Int2Vector,
    /// OIDVECTOR: numbers of types, counted from 0.
    OidVector,
    /// An array of any number of dimensions, made by [`array`](Type::array): its elements are
    /// no arrays.
    Array(Box<Type>),
    /// A record, with its fields.
    Record(Fields),
    /// An enumeration.
    Enum(Arc<EnumType>),
    /// The result of functions that give none.
    Void,
    /// In signatures: any type.
    Any,
    /// In signatures: any type, the same at all places.
    AnyElement,
    /// In signatures: an array of the type that `AnyElement` is.
    AnyArray,
    /// In signatures: as `AnyElement`, but no array.
    AnyNonArray,
    /// In signatures: an enumeration, the same at all places.
    AnyEnum,
    /// In signatures: a row of any type.
    AnyRecord,
    /// In signatures: a range of the type that `AnyElement` is.
    AnyRange,
    /// In signatures: a multirange of the type that `AnyElement` is.
    AnyMultirange,
    /// In signatures: types that have one type in common.
    AnyCompatible,
    /// In signatures: an array of the type that `AnyCompatible` is.
    AnyCompatibleArray,
}

/// OID types that are shown by names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reg {
    /// REGCLASS.
    Class,
    /// REGTYPE.
    Type,
    /// REGPROC.
    Proc,
    /// REGPROCEDURE: a function with the types of its parameters.
    Procedure,
    /// REGNAMESPACE.
    Namespace,
    /// REGROLE.
    Role,
    /// REGCOLLATION.
    Collation,
}

impl Reg {
    /// All of them.
    pub const ALL: [Reg; 7] = [
        Reg::Class,
        Reg::Type,
        Reg::Proc,
        Reg::Procedure,
        Reg::Namespace,
        Reg::Role,
        Reg::Collation,
    ];
}

/// Types of PostgreSQL's own working, which its catalog and functions about it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Internal {
    /// XID: the number of a transaction, of four bytes.
    Xid,
    /// XID8: the number of a transaction, of eight bytes.
    Xid8,
    /// CID: the number of a statement within a transaction.
    Cid,
    /// TID: where a row is. The number of a page has the higher 32 of 48 bits, and that of the row
    /// in it the others.
    Tid,
    /// ACLITEM: the rights of a role, and the role that gave them.
    AclItem,
    /// PG_NODE_TREE: an expression of the catalog.
    NodeTree,
}

impl Internal {
    /// All of them.
    pub const ALL: [Internal; 6] = [
        Internal::Xid,
        Internal::Xid8,
        Internal::Cid,
        Internal::Tid,
        Internal::AclItem,
        Internal::NodeTree,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Internal::Xid => "xid",
            Internal::Xid8 => "xid8",
            Internal::Cid => "cid",
            Internal::Tid => "tid",
            Internal::AclItem => "aclitem",
            Internal::NodeTree => "pg_node_tree",
        }
    }

    /// Whether its values are numbers.
    pub fn is_number(self) -> bool {
        matches!(
            self,
            Internal::Xid | Internal::Xid8 | Internal::Cid | Internal::Tid
        )
    }
}

/// Name of the items of lists that are vectors of PostgreSQL's catalog: they are written
/// `1 2` and not `{1,2}`.
pub const VECTOR: &str = "vector";

/// PostgreSQL's categories of types, by which overloads are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Category {
    Unknown,
    Boolean,
    Number,
    String,
    DateTime,
    Timespan,
    BitString,
    Network,
    Range,
    Array,
    Composite,
    Enum,
    UserDefined,
    Pseudo,
}

/// Most digits of a NUMERIC that is held as [`DataType::Decimal128`].
pub const DECIMAL_DIGITS: u8 = 38;

impl Type {
    /// NUMERIC with a precision and a scale, if there is room for its digits.
    pub fn numeric(precision: u32, scale: u32) -> Type {
        let fits = precision <= u32::from(DECIMAL_DIGITS) && scale <= precision && precision > 0;
        Type::Numeric(fits.then_some(Digits {
            precision: precision as u8,
            scale: scale as u8,
        }))
    }

    /// The type with texts and bit strings of any length in the place of those with a length, in
    /// arrays and records, too.
    pub fn without_length(&self) -> Type {
        match self {
            Type::Varchar(_) => Type::Varchar(None),
            Type::Char(_) => Type::Char(None),
            Type::Bit(_) => Type::Bit(None),
            Type::VarBit(_) => Type::VarBit(None),
            Type::Array(element) => element.without_length().array(),
            Type::Record(fields) => Type::Record(fields.map(Type::without_length)),
            other => other.clone(),
        }
    }

    /// An array of this type. PostgreSQL has one type for arrays of all dimensions: an array of
    /// arrays is of the type of its elements' elements.
    #[must_use]
    pub fn array(self) -> Type {
        match self {
            Type::Array(_) => self,
            element => Type::Array(Box::new(element)),
        }
    }

    /// The type without modifiers, by which overloads are found.
    #[must_use]
    pub fn base(&self) -> Type {
        match self {
            Type::Numeric(_) => Type::Numeric(None),
            Type::Varchar(_) => Type::Varchar(None),
            Type::Char(_) => Type::Char(None),
            Type::Bit(_) => Type::Bit(None),
            Type::VarBit(_) => Type::VarBit(None),
            Type::Time(_) => Type::Time(None),
            Type::TimeTz(_) => Type::TimeTz(None),
            Type::Timestamp(_) => Type::Timestamp(None),
            Type::TimestampTz(_) => Type::TimestampTz(None),
            Type::Array(element) => element.base().array(),
            Type::Record(fields) => Type::Record(fields.map(Type::base)),
            other => other.clone(),
        }
    }

    /// The type of the items of a vector.
    pub fn vector_item(&self) -> Option<Type> {
        match self {
            Type::Int2Vector => Some(Type::Int2),
            Type::OidVector => Some(Type::Oid),
            _ => None,
        }
    }

    /// Its name without modifiers, as error messages and `pg_typeof` give it.
    pub fn standard_name(&self) -> String {
        match self {
            Type::Char(_) => "character".to_owned(),
            Type::Bit(_) => "bit".to_owned(),
            Type::Array(element) => format!("{}[]", element.innermost().standard_name()),
            ty => ty.base().to_string(),
        }
    }

    /// The element of an array, or the type itself.
    pub fn innermost(&self) -> &Type {
        match self {
            Type::Array(element) => element,
            other => other,
        }
    }

    /// The category that overload resolution goes by.
    pub fn category(&self) -> Category {
        match self {
            Type::Unknown => Category::Unknown,
            Type::Bool => Category::Boolean,
            Type::Int2
            | Type::Int4
            | Type::Int8
            | Type::Float4
            | Type::Float8
            | Type::Numeric(_)
            | Type::Money
            | Type::Oid
            | Type::Reg(_) => Category::Number,
            Type::Text | Type::Varchar(_) | Type::Char(_) | Type::Name => Category::String,
            Type::Date
            | Type::Time(_)
            | Type::TimeTz(_)
            | Type::Timestamp(_)
            | Type::TimestampTz(_) => Category::DateTime,
            Type::Interval => Category::Timespan,
            Type::Bit(_) | Type::VarBit(_) => Category::BitString,
            Type::Inet | Type::Cidr => Category::Network,
            Type::Range(_) | Type::Multirange(_) => Category::Range,
            Type::Array(_) | Type::Int2Vector | Type::OidVector => Category::Array,
            Type::Record(_) => Category::Composite,
            Type::Enum(_) => Category::Enum,
            Type::Bytea
            | Type::Uuid
            | Type::MacAddr
            | Type::MacAddr8
            | Type::Json
            | Type::Jsonb
            | Type::JsonPath
            | Type::Internal(_)
            | Type::CatalogChar => Category::UserDefined,
            _ => Category::Pseudo,
        }
    }

    /// Whether it is preferred among the types of its category.
    pub fn is_preferred(&self) -> bool {
        matches!(
            self,
            Type::Bool
                | Type::Float8
                | Type::Oid
                | Type::Text
                | Type::TimestampTz(_)
                | Type::Interval
                | Type::VarBit(_)
                | Type::Inet
        )
    }

    /// Whether it stands for other types in a signature.
    pub fn is_pseudo(&self) -> bool {
        self.category() == Category::Pseudo
    }

    /// Whether values are numbers.
    pub fn is_number(&self) -> bool {
        self.category() == Category::Number && *self != Type::Money
    }

    /// Whether values are texts of the string category.
    pub fn is_string(&self) -> bool {
        self.category() == Category::String
    }

    /// The Arrow type of arrays of its values.
    pub fn arrow(&self) -> DataType {
        match self {
            Type::Bool => DataType::Boolean,
            Type::Int2 => DataType::Int16,
            Type::Int4 => DataType::Int32,
            Type::Int8 | Type::Oid | Type::Reg(_) => DataType::Int64,
            Type::Internal(of) if of.is_number() => DataType::Int64,
            Type::Float4 => DataType::Float32,
            Type::Float8 => DataType::Float64,
            Type::Numeric(Some(digits)) => {
                DataType::Decimal128(digits.precision, digits.scale as i8)
            }
            Type::Numeric(None)
            | Type::Bytea
            | Type::Inet
            | Type::Cidr
            | Type::MacAddr
            | Type::MacAddr8
            | Type::Money
            | Type::Range(_)
            | Type::Multirange(_) => DataType::BinaryView,
            Type::Date => DataType::Date32,
            Type::Time(_) => DataType::Time64(TimeUnit::Microsecond),
            Type::TimeTz(_) => DataType::FixedSizeBinary(12),
            Type::Timestamp(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
            Type::TimestampTz(_) => {
                DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::from("+00:00")))
            }
            Type::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            Type::Uuid => DataType::FixedSizeBinary(16),
            Type::Array(element) => arrays::data_type(element.arrow()),
            Type::Int2Vector => DataType::List(Arc::new(Field::new(VECTOR, DataType::Int16, true))),
            Type::OidVector => DataType::List(Arc::new(Field::new(VECTOR, DataType::Int64, true))),
            Type::Record(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, ty)| Field::new(name, ty.arrow(), true));
                DataType::Struct(arrow_schema::Fields::from(fields.collect::<Vec<_>>()))
            }
            _ => DataType::Utf8View,
        }
    }
}

impl fmt::Display for Type {
    /// The name as `format_type` gives it; a composite type's without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |f: &mut fmt::Formatter<'_>, before: &str, n: &Option<u8>, after: &str| {
            f.write_str(before)?;
            if let Some(n) = n {
                write!(f, "({n})")?;
            }
            f.write_str(after)
        };
        let length = |f: &mut fmt::Formatter<'_>, name: &str, n: &Option<u32>| {
            f.write_str(name)?;
            n.map_or(Ok(()), |n| write!(f, "({n})"))
        };
        match self {
            Type::Numeric(Some(d)) => write!(f, "numeric({},{})", d.precision, d.scale),
            Type::Varchar(n) => length(f, "character varying", n),
            Type::Char(None) => f.write_str("bpchar"),
            Type::Char(n) => length(f, "character", n),
            // Without quotes it would be BIT(1).
            Type::Bit(None) => f.write_str("\"bit\""),
            Type::Bit(n) => length(f, "bit", n),
            Type::VarBit(n) => length(f, "bit varying", n),
            Type::Time(n) => digits(f, "time", n, " without time zone"),
            Type::TimeTz(n) => digits(f, "time", n, " with time zone"),
            Type::Timestamp(n) => digits(f, "timestamp", n, " without time zone"),
            Type::TimestampTz(n) => digits(f, "timestamp", n, " with time zone"),
            // A BPCHAR of any length has this name in arrays.
            Type::Array(element) if **element == Type::Char(None) => f.write_str("character[]"),
            Type::Array(element) => write!(f, "{element}[]"),
            Type::Enum(of) => f.write_str(&of.name),
            Type::Record(fields) => f.write_str(fields.name().unwrap_or("record")),
            other => f.write_str(other.plain_name()),
        }
    }
}

impl Type {
    /// The name of a type that has neither modifiers nor parts.
    fn plain_name(&self) -> &'static str {
        match self {
            Type::Unknown => "unknown",
            Type::Bool => "boolean",
            Type::Int2 => "smallint",
            Type::Int4 => "integer",
            Type::Int8 => "bigint",
            Type::Float4 => "real",
            Type::Float8 => "double precision",
            Type::Numeric(_) => "numeric",
            Type::Text => "text",
            Type::Varchar(_) => "character varying",
            Type::Char(_) => "character",
            Type::Name => "name",
            Type::Bytea => "bytea",
            Type::Bit(_) => "bit",
            Type::VarBit(_) => "bit varying",
            Type::Inet => "inet",
            Type::Cidr => "cidr",
            Type::Money => "money",
            Type::MacAddr => "macaddr",
            Type::MacAddr8 => "macaddr8",
            Type::Range(of) => of.range_name(),
            Type::Multirange(of) => of.multirange_name(),
            Type::Date => "date",
            Type::Time(_) => "time without time zone",
            Type::TimeTz(_) => "time with time zone",
            Type::Timestamp(_) => "timestamp without time zone",
            Type::TimestampTz(_) => "timestamp with time zone",
            Type::Interval => "interval",
            Type::Uuid => "uuid",
            Type::Json => "json",
            Type::Jsonb => "jsonb",
            Type::JsonPath => "jsonpath",
            Type::Oid => "oid",
            Type::Reg(Reg::Class) => "regclass",
            Type::Reg(Reg::Type) => "regtype",
            Type::Reg(Reg::Proc) => "regproc",
            Type::Reg(Reg::Procedure) => "regprocedure",
            Type::Reg(Reg::Namespace) => "regnamespace",
            Type::Reg(Reg::Role) => "regrole",
            Type::Reg(Reg::Collation) => "regcollation",
            Type::Internal(of) => of.name(),
            Type::CatalogChar => "\"char\"",
            Type::Int2Vector => "int2vector",
            Type::OidVector => "oidvector",
            Type::Array(_) => "array",
            Type::Record(_) => "record",
            Type::Enum(_) => "enum",
            Type::Void => "void",
            Type::Any => "\"any\"",
            Type::AnyElement => "anyelement",
            Type::AnyArray => "anyarray",
            Type::AnyNonArray => "anynonarray",
            Type::AnyEnum => "anyenum",
            Type::AnyRecord => "record",
            Type::AnyRange => "anyrange",
            Type::AnyMultirange => "anymultirange",
            Type::AnyCompatible => "anycompatible",
            Type::AnyCompatibleArray => "anycompatiblearray",
        }
    }
}
