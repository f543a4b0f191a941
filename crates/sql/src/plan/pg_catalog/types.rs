//! Types by PostgreSQL's numbers.

use datafusion::arrow::datatypes::DataType;
use freestone_storage::ColumnType;

use super::facts::Facts;
use super::objects::{OWNER, has_length};

/// Number, name, name in SQL, bytes (-1: they vary), category.
const TYPES: [(i64, &str, &str, i64, &str); 23] = [
    (16, "bool", "boolean", 1, "B"),
    (17, "bytea", "bytea", -1, "U"),
    (18, "char", "\"char\"", 1, "Z"),
    (19, "name", "name", 64, "S"),
    (20, "int8", "bigint", 8, "N"),
    (21, "int2", "smallint", 2, "N"),
    (23, "int4", "integer", 4, "N"),
    (25, "text", "text", -1, "S"),
    (26, "oid", "oid", 4, "N"),
    (114, "json", "json", -1, "U"),
    (700, "float4", "real", 4, "N"),
    (701, "float8", "double precision", 8, "N"),
    (705, "unknown", "unknown", -2, "X"),
    (1042, "bpchar", "character", -1, "S"),
    (1043, "varchar", "character varying", -1, "S"),
    (1082, "date", "date", 4, "D"),
    (1083, "time", "time without time zone", 8, "D"),
    (1114, "timestamp", "timestamp without time zone", 8, "D"),
    (1184, "timestamptz", "timestamp with time zone", 8, "D"),
    (1186, "interval", "interval", 16, "T"),
    (1700, "numeric", "numeric", -1, "N"),
    (2205, "regclass", "regclass", 4, "N"),
    (2950, "uuid", "uuid", 16, "U"),
];

/// The number of a column's type, and what it has besides: a length or digits.
pub(super) fn of_column(kind: &ColumnType) -> (i64, i64) {
    let modifier = match kind {
        ColumnType::Decimal { precision, scale } => {
            (i64::from(*precision) << 16 | i64::from(*scale)) + 4
        }
        kind => has_length(kind).map_or(-1, |length| i64::from(length) + 4),
    };
    let number = match kind {
        ColumnType::Varchar(_) => 1043,
        ColumnType::Char(_) => 1042,
        ColumnType::Json => 114,
        kind => number_of(&kind.arrow()),
    };
    (number, modifier)
}

/// The number of the type of a column of a result.
pub(super) fn number_of(kind: &DataType) -> i64 {
    let name = crate::types::sql_name(kind);
    let name = name.split('(').next().unwrap_or_default();
    let name = match name {
        "time" | "timestamp" => &format!("{name} without time zone"),
        name => name,
    };
    let found = TYPES.iter().find(|(_, _, sql, ..)| *sql == name);
    found.map_or(25, |(number, ..)| *number)
}

/// Bytes of a value of a type, -1 if they vary.
pub(super) fn size_of(number: i64) -> i64 {
    let found = TYPES.iter().find(|(known, ..)| *known == number);
    found.map_or(-1, |(_, _, _, size, _)| *size)
}

/// What SQL calls types: pairs of a number and a name.
pub(super) fn names() -> impl Iterator<Item = (i64, &'static str)> {
    TYPES.iter().map(|(number, _, sql, ..)| (*number, *sql))
}

/// All types.
pub(super) fn types(facts: &mut Facts) {
    for (number, name, _, size, category) in TYPES {
        facts.add([
            ("oid", number.into()),
            ("typname", name.into()),
            ("typnamespace", 11.into()),
            ("typowner", OWNER.into()),
            ("typlen", size.into()),
            ("typbyval", (size > 0 && size <= 8).into()),
            ("typtype", "b".into()),
            ("typcategory", category.into()),
            ("typisdefined", true.into()),
            ("typdelim", ",".into()),
            ("typtypmod", (-1).into()),
        ]);
    }
}
