//! How rows are found: access methods, and the classes of operators that PostgreSQL's indexes
//! of each type have by default.

use freestone_storage::{IndexDefinition, IndexKind};

use super::facts::Facts;
use super::objects::OWNER;

/// The access method of ordered indexes.
const BTREE: i64 = 403;
/// The access method of hashes.
const HASH: i64 = 405;
/// The access method of indexes that blocks have no parts of.
const BRIN: i64 = 3580;

/// Access methods: number, name, kind, and the number and the name of their handlers.
pub(super) const ACCESS: [(i64, &str, &str, i64, &str); 7] = [
    (2, "heap", "t", 3, "heap_tableam_handler"),
    (2742, "gin", "i", 333, "ginhandler"),
    (3580, "brin", "i", 335, "brinhandler"),
    (4000, "spgist", "i", 334, "spghandler"),
    (403, "btree", "i", 330, "bthandler"),
    (405, "hash", "i", 331, "hashhandler"),
    (783, "gist", "i", 332, "gisthandler"),
];

/// Classes of operators: number, access method, name, family, type, and whether the type has it
/// by default.
const CLASSES: [(i64, i64, &str, i64, i64, bool); 70] = [
    (1979, 403, "int2_ops", 1976, 21, true),
    (1978, 403, "int4_ops", 1976, 23, true),
    (1981, 403, "oid_ops", 1989, 26, true),
    (3122, 403, "date_ops", 434, 1082, true),
    (3123, 403, "float8_ops", 1970, 701, true),
    (3124, 403, "int8_ops", 1976, 20, true),
    (3125, 403, "numeric_ops", 1988, 1700, true),
    (3126, 403, "text_ops", 1994, 25, true),
    (3127, 403, "timestamptz_ops", 434, 1184, true),
    (3128, 403, "timestamp_ops", 434, 1114, true),
    (4217, 403, "text_pattern_ops", 2095, 25, false),
    (4218, 403, "varchar_pattern_ops", 2095, 25, false),
    (4219, 403, "bpchar_pattern_ops", 2097, 1042, false),
    (10000, 403, "array_ops", 397, 2277, true),
    (10001, 405, "array_ops", 627, 2277, true),
    (10002, 403, "bit_ops", 423, 1560, true),
    (10003, 403, "bool_ops", 424, 16, true),
    (10004, 403, "bpchar_ops", 426, 1042, true),
    (10005, 405, "bpchar_ops", 427, 1042, true),
    (10006, 403, "bytea_ops", 428, 17, true),
    (10007, 403, "char_ops", 429, 18, true),
    (10008, 405, "char_ops", 431, 18, true),
    (10009, 403, "cidr_ops", 1974, 869, false),
    (10010, 405, "cidr_ops", 1975, 869, false),
    (10011, 405, "date_ops", 435, 1082, true),
    (10012, 403, "float4_ops", 1970, 700, true),
    (10013, 405, "float4_ops", 1971, 700, true),
    (10014, 405, "float8_ops", 1971, 701, true),
    (10015, 403, "inet_ops", 1974, 869, true),
    (10016, 405, "inet_ops", 1975, 869, true),
    (10019, 405, "int2_ops", 1977, 21, true),
    (10020, 405, "int4_ops", 1977, 23, true),
    (10021, 405, "int8_ops", 1977, 20, true),
    (10022, 403, "interval_ops", 1982, 1186, true),
    (10023, 405, "interval_ops", 1983, 1186, true),
    (10024, 403, "macaddr_ops", 1984, 829, true),
    (10025, 405, "macaddr_ops", 1985, 829, true),
    (10026, 403, "macaddr8_ops", 3371, 774, true),
    (10027, 405, "macaddr8_ops", 3372, 774, true),
    (10028, 403, "name_ops", 1994, 19, true),
    (10029, 405, "name_ops", 1995, 19, true),
    (10030, 405, "numeric_ops", 1998, 1700, true),
    (10031, 405, "oid_ops", 1990, 26, true),
    (10032, 403, "oidvector_ops", 1991, 30, true),
    (10033, 405, "oidvector_ops", 1992, 30, true),
    (10034, 403, "record_ops", 2994, 2249, true),
    (10035, 405, "record_ops", 6194, 2249, true),
    (10036, 403, "record_image_ops", 3194, 2249, false),
    (10037, 405, "text_ops", 1995, 25, true),
    (10038, 403, "time_ops", 1996, 1083, true),
    (10039, 405, "time_ops", 1997, 1083, true),
    (10040, 405, "timestamptz_ops", 1999, 1184, true),
    (10041, 403, "timetz_ops", 2000, 1266, true),
    (10042, 405, "timetz_ops", 2001, 1266, true),
    (10043, 403, "varbit_ops", 2002, 1562, true),
    (10044, 403, "varchar_ops", 1994, 25, false),
    (10045, 405, "varchar_ops", 1995, 25, false),
    (10046, 405, "timestamp_ops", 2040, 1114, true),
    (10047, 403, "money_ops", 2099, 790, true),
    (10048, 405, "bool_ops", 2222, 16, true),
    (10049, 405, "bytea_ops", 2223, 17, true),
    (10056, 405, "text_pattern_ops", 2229, 25, false),
    (10057, 405, "varchar_pattern_ops", 2229, 25, false),
    (10058, 405, "bpchar_pattern_ops", 2231, 1042, false),
    (10065, 403, "uuid_ops", 2968, 2950, true),
    (10066, 405, "uuid_ops", 2969, 2950, true),
    (10069, 403, "enum_ops", 3522, 3500, true),
    (10070, 405, "enum_ops", 3523, 3500, true),
    (10088, 403, "jsonb_ops", 4033, 3802, true),
    (10089, 405, "jsonb_ops", 4034, 3802, true),
];

/// Families of those classes: number, access method, name.
const FAMILIES: [(i64, i64, &str); 54] = [
    (397, 403, "array_ops"),
    (423, 403, "bit_ops"),
    (424, 403, "bool_ops"),
    (426, 403, "bpchar_ops"),
    (427, 405, "bpchar_ops"),
    (428, 403, "bytea_ops"),
    (429, 403, "char_ops"),
    (431, 405, "char_ops"),
    (434, 403, "datetime_ops"),
    (435, 405, "date_ops"),
    (627, 405, "array_ops"),
    (1970, 403, "float_ops"),
    (1971, 405, "float_ops"),
    (1974, 403, "network_ops"),
    (1975, 405, "network_ops"),
    (1976, 403, "integer_ops"),
    (1977, 405, "integer_ops"),
    (1982, 403, "interval_ops"),
    (1983, 405, "interval_ops"),
    (1984, 403, "macaddr_ops"),
    (1985, 405, "macaddr_ops"),
    (1988, 403, "numeric_ops"),
    (1989, 403, "oid_ops"),
    (1990, 405, "oid_ops"),
    (1991, 403, "oidvector_ops"),
    (1992, 405, "oidvector_ops"),
    (1994, 403, "text_ops"),
    (1995, 405, "text_ops"),
    (1996, 403, "time_ops"),
    (1997, 405, "time_ops"),
    (1998, 405, "numeric_ops"),
    (1999, 405, "timestamptz_ops"),
    (2000, 403, "timetz_ops"),
    (2001, 405, "timetz_ops"),
    (2002, 403, "varbit_ops"),
    (2040, 405, "timestamp_ops"),
    (2095, 403, "text_pattern_ops"),
    (2099, 403, "money_ops"),
    (2097, 403, "bpchar_pattern_ops"),
    (2222, 405, "bool_ops"),
    (2223, 405, "bytea_ops"),
    (2229, 405, "text_pattern_ops"),
    (2231, 405, "bpchar_pattern_ops"),
    (2968, 403, "uuid_ops"),
    (2969, 405, "uuid_ops"),
    (2994, 403, "record_ops"),
    (3194, 403, "record_image_ops"),
    (3371, 403, "macaddr8_ops"),
    (3372, 405, "macaddr8_ops"),
    (3522, 403, "enum_ops"),
    (3523, 405, "enum_ops"),
    (4033, 403, "jsonb_ops"),
    (4034, 405, "jsonb_ops"),
    (6194, 405, "record_ops"),
];

/// The number of the class that an index over values of a type has; 0 if there is none.
pub(super) fn class_of(index: &IndexDefinition, ty: i64) -> i64 {
    let method = method_of_classes(index);
    // Texts with a length are compared as those without.
    let ty = if ty == 1043 { 25 } else { ty };
    let mut all = CLASSES.iter();
    let class =
        all.find(|(_, of_method, _, _, of, default)| *of_method == method && *of == ty && *default);
    class.map_or(0, |(number, ..)| *number)
}

/// The number of the class of a name for an ordered index over values of a type.
pub(super) fn class_called(index: &IndexDefinition, name: &str, ty: i64) -> Option<i64> {
    let method = method_of_classes(index);
    let of_name = |of: Option<i64>| {
        let mut all = CLASSES.iter();
        all.find(|(_, of_method, known, _, ty, _)| {
            *of_method == method && *known == name && of.is_none_or(|of| *ty == of)
        })
    };
    let found = of_name(Some(ty)).or_else(|| of_name(None));
    found.map(|(number, ..)| *number)
}

/// Whether a class is that which an ordered index over values of a type has by itself.
pub(super) fn is_usual(index: &IndexDefinition, name: &str, ty: i64) -> bool {
    // Created types and arrays have one class.
    let usual = class_of(index, ty);
    usual == 0 || class_called(index, name, ty) == Some(usual)
}

/// The number of the access method by which PostgreSQL knows an index.
pub(super) fn access_number(index: &IndexDefinition) -> i64 {
    match index.kind {
        IndexKind::Csb if index.form.hash => HASH,
        IndexKind::Brin => BRIN,
        _ => BTREE,
    }
}

/// The access method that has the classes of an index. Those of ordered indexes stand for the
/// classes that no query asks.
fn method_of_classes(index: &IndexDefinition) -> i64 {
    match access_number(index) {
        HASH => HASH,
        _ => BTREE,
    }
}

/// Rows of `pg_am`, `pg_opclass` and `pg_opfamily`; whether it is one of them.
pub(super) fn fill(name: &str, facts: &mut Facts) -> bool {
    match name {
        "pg_am" => {
            for (number, name, kind, handler, _) in ACCESS {
                facts.add([
                    ("oid", number.into()),
                    ("amname", name.into()),
                    ("amtype", kind.into()),
                    ("amhandler", handler.into()),
                ]);
            }
        }
        "pg_opclass" => {
            for (number, method, name, family, ty, default) in CLASSES {
                facts.add([
                    ("oid", number.into()),
                    ("opcmethod", method.into()),
                    ("opcname", name.into()),
                    ("opcnamespace", 11.into()),
                    ("opcowner", OWNER.into()),
                    ("opcfamily", family.into()),
                    ("opcintype", ty.into()),
                    ("opcdefault", default.into()),
                ]);
            }
        }
        "pg_opfamily" => {
            for (number, method, name) in FAMILIES {
                facts.add([
                    ("oid", number.into()),
                    ("opfmethod", method.into()),
                    ("opfname", name.into()),
                    ("opfnamespace", 11.into()),
                    ("opfowner", OWNER.into()),
                ]);
            }
        }
        _ => return false,
    }
    true
}

/// Whether an access method, by its number, has a property.
pub(crate) fn method_has(method: i64, property: &str) -> Option<bool> {
    let ordered = method == BTREE;
    ACCESS
        .iter()
        .find(|(number, _, kind, ..)| *number == method && *kind == "i")?;
    Some(match property {
        "can_order" | "can_unique" | "can_include" => ordered,
        "can_multi_col" => method != HASH,
        "can_exclude" => true,
        _ => return None,
    })
}
