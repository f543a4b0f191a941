//! Types by their names, as PostgreSQL's catalogue and the standard spell them.

use super::{Internal, Reg, Type};

/// The type of a name of one word without modifiers, such as `int4` or `bpchar`.
pub fn named(name: &str) -> Option<Type> {
    if let Some(element) = name.strip_prefix('_') {
        return named(element).map(Type::array);
    }
    Some(match name {
        "bool" | "boolean" => Type::Bool,
        "int2" | "smallint" | "tinyint" => Type::Int2,
        "int4" | "int" | "integer" | "mediumint" => Type::Int4,
        "int8" | "bigint" | "long" => Type::Int8,
        "float4" | "real" => Type::Float4,
        "float8" | "float" | "double" => Type::Float8,
        "numeric" | "decimal" | "dec" => Type::Numeric(None),
        "text" | "string" => Type::Text,
        "varchar" => Type::Varchar(None),
        "bpchar" => Type::Char(None),
        "char" | "character" => Type::Char(Some(1)),
        "name" => Type::Name,
        "bytea" | "blob" => Type::Bytea,
        "bit" => Type::Bit(Some(1)),
        "varbit" => Type::VarBit(None),
        "inet" => Type::Inet,
        "cidr" => Type::Cidr,
        "macaddr" => Type::MacAddr,
        "money" => Type::Money,
        "macaddr8" => Type::MacAddr8,
        "date" => Type::Date,
        "time" => Type::Time(None),
        "timetz" => Type::TimeTz(None),
        "timestamp" | "datetime" => Type::Timestamp(None),
        "timestamptz" => Type::TimestampTz(None),
        "interval" => Type::Interval,
        "uuid" => Type::Uuid,
        "json" => Type::Json,
        "jsonb" => Type::Jsonb,
        "jsonpath" => Type::JsonPath,
        "oid" | "regoper" | "regoperator" | "regconfig" | "regdictionary" => Type::Oid,
        "xid" => Type::Internal(Internal::Xid),
        "xid8" => Type::Internal(Internal::Xid8),
        "cid" => Type::Internal(Internal::Cid),
        "tid" => Type::Internal(Internal::Tid),
        "aclitem" => Type::Internal(Internal::AclItem),
        "pg_node_tree" => Type::Internal(Internal::NodeTree),
        "regcollation" => Type::Reg(Reg::Collation),
        "regclass" => Type::Reg(Reg::Class),
        "regtype" => Type::Reg(Reg::Type),
        "regproc" => Type::Reg(Reg::Proc),
        "regprocedure" => Type::Reg(Reg::Procedure),
        "\"char\"" => Type::CatalogChar,
        "int2vector" => Type::Int2Vector,
        "oidvector" => Type::OidVector,
        "regnamespace" => Type::Reg(Reg::Namespace),
        "regrole" => Type::Reg(Reg::Role),
        "unknown" => Type::Unknown,
        "void" => Type::Void,
        other => return super::ranges::named(other),
    })
}

/// The type of a name as `format_type` writes it, such as `character varying(3)[]`; `None` for
/// one that is not built in.
pub fn formatted(name: &str) -> Option<Type> {
    if let Some(element) = name.strip_suffix("[]") {
        return formatted(element).map(Type::array);
    }
    let (name, numbers) = match name.split_once('(') {
        Some((before, rest)) => {
            let (numbers, behind) = rest.split_once(')')?;
            let numbers = numbers.split(',').map(|number| number.trim().parse().ok());
            let numbers = numbers.collect::<Option<Vec<u32>>>()?;
            (format!("{}{behind}", before.trim_end()), numbers)
        }
        None => (name.to_owned(), Vec::new()),
    };
    let first = numbers.first().copied();
    let digits = first.and_then(|digits| u8::try_from(digits).ok());
    Some(match (name.as_str(), numbers.as_slice()) {
        ("character varying", _) => Type::Varchar(first),
        ("character", _) => Type::Char(Some(first.unwrap_or(1))),
        ("bpchar", _) => Type::Char(first),
        ("\"char\"", _) => Type::CatalogChar,
        ("bit", _) => Type::Bit(Some(first.unwrap_or(1))),
        ("\"bit\"", _) => Type::Bit(None),
        ("bit varying", _) => Type::VarBit(first),
        ("numeric", [precision, scale]) => Type::numeric(*precision, *scale),
        ("double precision", _) => Type::Float8,
        ("time without time zone", _) => Type::Time(digits),
        ("time with time zone", _) => Type::TimeTz(digits),
        ("timestamp without time zone", _) => Type::Timestamp(digits),
        ("timestamp with time zone", _) => Type::TimestampTz(digits),
        (name, _) if name.starts_with("interval") => Type::Interval,
        (name, _) => named(name)?,
    })
}

#[cfg(test)]
mod tests {
    use super::formatted;
    use crate::types::{Internal, RangeOf, Type};

    #[test]
    fn types_are_read_as_they_are_written() {
        for ty in [
            Type::Bool,
            Type::Int8,
            Type::Float8,
            Type::Float4,
            Type::numeric(6, 2),
            Type::Numeric(None),
            Type::Varchar(None),
            Type::Varchar(Some(3)).array(),
            Type::Char(Some(4)),
            Type::Char(None),
            Type::CatalogChar,
            Type::Time(Some(3)),
            Type::TimeTz(None).array(),
            Type::Timestamp(None),
            Type::TimestampTz(Some(0)),
            Type::Interval,
            Type::Jsonb,
            Type::Name,
            Type::Bit(None),
            Type::Bit(Some(4)).array(),
            Type::VarBit(Some(7)),
            Type::Inet,
            Type::Cidr.array(),
            Type::MacAddr,
            Type::Money,
            Type::MacAddr8,
            Type::Range(RangeOf::Int4),
            Type::Range(RangeOf::TimestampTz).array(),
            Type::Multirange(RangeOf::Numeric),
            Type::Internal(Internal::Xid8),
            Type::Internal(Internal::Tid),
            Type::Internal(Internal::AclItem).array(),
        ] {
            assert_eq!(formatted(&ty.to_string()), Some(ty.clone()), "{ty}");
        }
        assert_eq!(formatted("mood"), None);
    }
}
