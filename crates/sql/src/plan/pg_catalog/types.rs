//! Types by PostgreSQL's numbers.

use datafusion::arrow::datatypes::DataType;
use freestone_storage::ColumnType;

use super::facts::Facts;
use super::objects::{OWNER, has_length};

/// Number, name, name in SQL, bytes (-1: they vary), category.
const TYPES: [(i64, &str, &str, i64, &str); 45] = [
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
    (199, "_json", "json[]", -1, "A"),
    (700, "float4", "real", 4, "N"),
    (701, "float8", "double precision", 8, "N"),
    (705, "unknown", "unknown", -2, "X"),
    (1000, "_bool", "boolean[]", -1, "A"),
    (1001, "_bytea", "bytea[]", -1, "A"),
    (1005, "_int2", "smallint[]", -1, "A"),
    (1007, "_int4", "integer[]", -1, "A"),
    (1009, "_text", "text[]", -1, "A"),
    (1014, "_bpchar", "character[]", -1, "A"),
    (1015, "_varchar", "character varying[]", -1, "A"),
    (1016, "_int8", "bigint[]", -1, "A"),
    (1021, "_float4", "real[]", -1, "A"),
    (1022, "_float8", "double precision[]", -1, "A"),
    (1042, "bpchar", "character", -1, "S"),
    (1043, "varchar", "character varying", -1, "S"),
    (1082, "date", "date", 4, "D"),
    (1083, "time", "time without time zone", 8, "D"),
    (1114, "timestamp", "timestamp without time zone", 8, "D"),
    (1115, "_timestamp", "timestamp without time zone[]", -1, "A"),
    (1182, "_date", "date[]", -1, "A"),
    (1183, "_time", "time without time zone[]", -1, "A"),
    (1184, "timestamptz", "timestamp with time zone", 8, "D"),
    (1185, "_timestamptz", "timestamp with time zone[]", -1, "A"),
    (1186, "interval", "interval", 16, "T"),
    (1187, "_interval", "interval[]", -1, "A"),
    (1231, "_numeric", "numeric[]", -1, "A"),
    (1266, "timetz", "time with time zone", 12, "D"),
    (1270, "_timetz", "time with time zone[]", -1, "A"),
    (1700, "numeric", "numeric", -1, "N"),
    (2205, "regclass", "regclass", 4, "N"),
    (2950, "uuid", "uuid", 16, "U"),
    (2951, "_uuid", "uuid[]", -1, "A"),
    (3802, "jsonb", "jsonb", -1, "U"),
    (3807, "_jsonb", "jsonb[]", -1, "A"),
];

/// The number of a column's type, and what it has besides: a length or digits.
pub(super) fn of_column(kind: &ColumnType) -> (i64, i64) {
    let modifier = match kind {
        ColumnType::Decimal { precision, scale } => {
            (i64::from(*precision) << 16 | i64::from(*scale)) + 4
        }
        ColumnType::Array { element, .. } => of_column(&(*element).into()).1,
        kind => has_length(kind).map_or(-1, |length| i64::from(length) + 4),
    };
    let number = match kind {
        ColumnType::Varchar(_) => 1043,
        ColumnType::Char(_) => 1042,
        ColumnType::Json => 114,
        ColumnType::Numeric => 1700,
        ColumnType::Jsonb => 3802,
        ColumnType::TimeTz => 1266,
        ColumnType::Array { element, .. } => array_of(of_column(&(*element).into()).0),
        kind => number_of(&kind.arrow()),
    };
    (number, modifier)
}

/// The number of the type of arrays of a type: that of which the name begins with `_`.
fn array_of(element: i64) -> i64 {
    let mut types = TYPES.iter();
    let name = types
        .find(|(number, ..)| *number == element)
        .map(|(_, name, ..)| *name);
    let name = name.unwrap_or("text");
    let mut types = TYPES.iter();
    let found = types.find(|(_, array, ..)| array.strip_prefix('_') == Some(name));
    found.map_or(1009, |(number, ..)| *number)
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
