//! Types by their names, as PostgreSQL's catalogue and the standard spell them.

use super::{Reg, Type};

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
        "oid" | "xid" | "cid" | "regoper" | "regoperator" | "regconfig" | "regdictionary"
        | "regcollation" => Type::Oid,
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
        _ => return None,
    })
}
