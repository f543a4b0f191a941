//! Types by PostgreSQL's numbers.

use freestone_frontend::types::{RangeOf, Reg, Type, modifier};
use freestone_storage::{Catalog, Column, Modifier, Object, UserTypeKind};

use super::facts::{Fact, Facts};
use super::objects::{OWNER, collation_of, schema_number};
use super::procedures::{input_number, named};
use super::roles::owner;
use crate::deparse::{deparsed, pretty};
use crate::front::{declared_by, declared_type, has_arrays_of_domain, type_of_stored};
use crate::oids::{
    composite_number, relation_numbers, row_type_number, table_number, type_number, view_row_number,
};
use crate::relations::Relations;
use crate::types::span_fields;

/// Number, name, name in SQL, bytes (-1: they vary), category, number of arrays of it.
const TYPES: [(i64, &str, &str, i64, &str, i64); 74] = [
    (16, "bool", "boolean", 1, "B", 1000),
    (17, "bytea", "bytea", -1, "U", 1001),
    (18, "char", "\"char\"", 1, "Z", 1002),
    (19, "name", "name", 64, "S", 1003),
    (20, "int8", "bigint", 8, "N", 1016),
    (21, "int2", "smallint", 2, "N", 1005),
    (22, "int2vector", "int2vector", -1, "A", 1006),
    (23, "int4", "integer", 4, "N", 1007),
    (24, "regproc", "regproc", 4, "N", 1008),
    (25, "text", "text", -1, "S", 1009),
    (26, "oid", "oid", 4, "N", 1028),
    (27, "tid", "tid", 6, "U", 1010),
    (28, "xid", "xid", 4, "U", 1011),
    (29, "cid", "cid", 4, "U", 1012),
    (30, "oidvector", "oidvector", -1, "A", 1013),
    (114, "json", "json", -1, "U", 199),
    (194, "pg_node_tree", "pg_node_tree", -1, "Z", 0),
    (650, "cidr", "cidr", -1, "I", 651),
    (700, "float4", "real", 4, "N", 1021),
    (701, "float8", "double precision", 8, "N", 1022),
    (705, "unknown", "unknown", -2, "X", 0),
    (774, "macaddr8", "macaddr8", 8, "U", 775),
    (790, "money", "money", 8, "N", 791),
    (829, "macaddr", "macaddr", 6, "U", 1040),
    (869, "inet", "inet", -1, "I", 1041),
    (1033, "aclitem", "aclitem", 12, "U", 1034),
    (1042, "bpchar", "character", -1, "S", 1014),
    (1043, "varchar", "character varying", -1, "S", 1015),
    (1082, "date", "date", 4, "D", 1182),
    (1083, "time", "time without time zone", 8, "D", 1183),
    (
        1114,
        "timestamp",
        "timestamp without time zone",
        8,
        "D",
        1115,
    ),
    (
        1184,
        "timestamptz",
        "timestamp with time zone",
        8,
        "D",
        1185,
    ),
    (1186, "interval", "interval", 16, "T", 1187),
    (1266, "timetz", "time with time zone", 12, "D", 1270),
    (1560, "bit", "bit", -1, "V", 1561),
    (1562, "varbit", "bit varying", -1, "V", 1563),
    (1700, "numeric", "numeric", -1, "N", 1231),
    (2202, "regprocedure", "regprocedure", 4, "N", 2207),
    (2205, "regclass", "regclass", 4, "N", 2210),
    (2206, "regtype", "regtype", 4, "N", 2211),
    (2249, "record", "record", -1, "P", 2287),
    (2275, "cstring", "cstring", -2, "P", 1263),
    (2276, "any", "\"any\"", 4, "P", 0),
    (2277, "anyarray", "anyarray", -1, "P", 0),
    (2278, "void", "void", 4, "P", 0),
    (2279, "trigger", "trigger", 4, "P", 0),
    (2281, "internal", "internal", 8, "P", 0),
    (2283, "anyelement", "anyelement", 4, "P", 0),
    (2776, "anynonarray", "anynonarray", 4, "P", 0),
    (2950, "uuid", "uuid", 16, "U", 2951),
    (3500, "anyenum", "anyenum", 4, "P", 0),
    (3802, "jsonb", "jsonb", -1, "U", 3807),
    (3831, "anyrange", "anyrange", -1, "P", 0),
    (3904, "int4range", "int4range", -1, "R", 3905),
    (3906, "numrange", "numrange", -1, "R", 3907),
    (3908, "tsrange", "tsrange", -1, "R", 3909),
    (3910, "tstzrange", "tstzrange", -1, "R", 3911),
    (3912, "daterange", "daterange", -1, "R", 3913),
    (3926, "int8range", "int8range", -1, "R", 3927),
    (4072, "jsonpath", "jsonpath", -1, "U", 4073),
    (4089, "regnamespace", "regnamespace", 4, "N", 4090),
    (4096, "regrole", "regrole", 4, "N", 4097),
    (4191, "regcollation", "regcollation", 4, "N", 4192),
    (4451, "int4multirange", "int4multirange", -1, "R", 6150),
    (4532, "nummultirange", "nummultirange", -1, "R", 6151),
    (4533, "tsmultirange", "tsmultirange", -1, "R", 6152),
    (4534, "tstzmultirange", "tstzmultirange", -1, "R", 6153),
    (4535, "datemultirange", "datemultirange", -1, "R", 6155),
    (4536, "int8multirange", "int8multirange", -1, "R", 6157),
    (4537, "anymultirange", "anymultirange", -1, "P", 0),
    (5069, "xid8", "xid8", 8, "U", 271),
    (5077, "anycompatible", "anycompatible", 4, "P", 0),
    (5078, "anycompatiblearray", "anycompatiblearray", -1, "P", 0),
    (
        5079,
        "anycompatiblenonarray",
        "anycompatiblenonarray",
        4,
        "P",
        0,
    ),
];

/// The number of a type, and what it has besides: a length or digits.
pub(crate) fn of_type(ty: &Type) -> (i64, i64) {
    let seconds = |digits: &Option<u8>| digits.map_or(-1, i64::from);
    let length = |length: &Option<u32>| length.map_or(-1, |length| i64::from(length) + 4);
    match ty {
        Type::Bool => (16, -1),
        Type::Bytea => (17, -1),
        Type::CatalogChar => (18, -1),
        Type::Name => (19, -1),
        Type::Int8 => (20, -1),
        Type::Int2 => (21, -1),
        Type::Int2Vector => (22, -1),
        Type::Int4 => (23, -1),
        Type::Text | Type::Unknown => (25, -1),
        Type::Enum(of) if of.number > 0 => (of.number, -1),
        Type::Enum(_) => (25, -1),
        Type::Oid => (26, -1),
        Type::OidVector => (30, -1),
        Type::Json => (114, -1),
        Type::Float4 => (700, -1),
        Type::Float8 => (701, -1),
        Type::Char(n) => (1042, length(n)),
        Type::Varchar(n) => (1043, length(n)),
        Type::Date => (1082, -1),
        Type::Cidr => (650, -1),
        Type::MacAddr8 => (774, -1),
        Type::MacAddr => (829, -1),
        Type::Money => (790, -1),
        Type::Inet => (869, -1),
        Type::Range(of) => (number_of_name(of.range_name()).unwrap_or_default(), -1),
        Type::Multirange(of) => (number_of_name(of.multirange_name()).unwrap_or_default(), -1),
        Type::AnyRange => (3831, -1),
        Type::AnyMultirange => (4537, -1),
        Type::Bit(n) => (1560, n.map_or(-1, i64::from)),
        Type::VarBit(n) => (1562, n.map_or(-1, i64::from)),
        Type::Time(digits) => (1083, seconds(digits)),
        Type::Timestamp(digits) => (1114, seconds(digits)),
        Type::TimestampTz(digits) => (1184, seconds(digits)),
        Type::Interval => (1186, -1),
        Type::TimeTz(digits) => (1266, seconds(digits)),
        Type::Numeric(digits) => {
            let modifier =
                |precision: u8, scale: u8| (i64::from(precision) << 16 | i64::from(scale)) + 4;
            let modifier = digits.map_or(-1, |d| modifier(d.precision, d.scale));
            (1700, modifier)
        }
        Type::Record(fields) if fields.number() > 0 => (fields.number(), -1),
        Type::Record(_) | Type::AnyRecord => (2249, -1),
        Type::Any => (2276, -1),
        Type::AnyArray => (2277, -1),
        Type::Void => (2278, -1),
        Type::AnyElement => (2283, -1),
        Type::AnyNonArray => (2776, -1),
        Type::Uuid => (2950, -1),
        Type::AnyEnum => (3500, -1),
        Type::Jsonb => (3802, -1),
        Type::JsonPath => (4072, -1),
        Type::AnyCompatible => (5077, -1),
        Type::AnyCompatibleArray => (5078, -1),
        Type::Internal(of) => (number_of_name(of.name()).unwrap_or_default(), -1),
        Type::Reg(Reg::Class) => (2205, -1),
        Type::Reg(Reg::Type) => (2206, -1),
        Type::Reg(Reg::Proc) => (24, -1),
        Type::Reg(Reg::Procedure) => (2202, -1),
        Type::Reg(Reg::Namespace) => (4089, -1),
        Type::Reg(Reg::Role) => (4096, -1),
        Type::Reg(Reg::Collation) => (4191, -1),
        // Numbers of a created type: itself, then its arrays.
        Type::Array(element) if let Type::Enum(of) = element.as_ref() => (of.number + 1, -1),
        Type::Array(element)
            if let Type::Record(fields) = element.as_ref()
                && fields.number() > 0 =>
        {
            (fields.number() + 1, -1)
        }
        Type::Array(element) => {
            let (element, modifier) = of_type(element.innermost());
            (array_of(element), modifier)
        }
    }
}

/// The number of a column's type, and what it has besides: a length or digits.
fn of_column(catalog: &Catalog, column: &Column) -> (i64, i64) {
    let (number, held) = of_type(&type_of_stored(catalog, column));
    let said = match column.modifier {
        Some(Modifier::Digits { precision, scale }) => {
            modifier::of_digits(precision.into(), scale.into()).into()
        }
        Some(Modifier::Fields { .. }) => modifier::of_fields(span_fields(column.modifier)).into(),
        Some(Modifier::AnyDigits) => -1,
        _ => held,
    };
    (number, said)
}

/// The same for a column that may be declared with a created type.
pub(super) fn of_stored(catalog: &Catalog, column: &Column) -> (i64, i64) {
    match column.declared.and_then(|id| catalog.type_by_id(id)) {
        Some((_, _, known)) if matches!(known.kind, UserTypeKind::Domain(_)) => {
            let is_array = has_arrays_of_domain(catalog, column);
            (type_number(known.id) + i64::from(is_array), -1)
        }
        _ => of_column(catalog, column),
    }
}

/// The number of the type of arrays of a type; that of arrays of texts if there is none.
fn array_of(element: i64) -> i64 {
    let found = TYPES.iter().find(|(number, ..)| *number == element);
    match found {
        Some((.., array)) if *array > 0 => *array,
        _ => 1009,
    }
}

/// Types of values of any length that begin where a number of eight bytes does.
const DOUBLED: [i64; 8] = [3831, 3908, 3910, 3926, 4533, 4534, 4536, 4537];

/// Whether values of a type are passed by themselves, and where they may begin.
pub(super) fn placed(number: i64) -> (bool, &'static str) {
    match size_of(number) {
        1 => (true, "c"),
        2 => (true, "s"),
        8 if number == 774 => (false, "i"),
        _ if DOUBLED.contains(&number) => (false, "d"),
        8 => (true, "d"),
        4 => (true, "i"),
        64 | 16 if number == 19 || number == 2950 => (false, "c"),
        12 if number == 1033 => (false, "i"),
        12 | 16 => (false, "d"),
        _ => (false, "i"),
    }
}

/// Bytes of a value of a type, -1 if they vary.
pub(super) fn size_of(number: i64) -> i64 {
    let found = TYPES.iter().find(|(known, ..)| *known == number);
    found.map_or(-1, |(_, _, _, size, ..)| *size)
}

/// The catalog's name of a type, such as `int4` or `_text`.
pub(crate) fn short_name(number: i64) -> Option<String> {
    TYPES.iter().find_map(|(known, name, .., array)| {
        if *known == number {
            return Some((*name).to_owned());
        }
        (*array == number && number > 0).then(|| format!("_{name}"))
    })
}

/// The number of a type by the catalog's name of it.
pub(crate) fn number_of_name(name: &str) -> Option<i64> {
    let (element, is_array) = match name.strip_prefix('_') {
        Some(element) => (element, true),
        None => (name, false),
    };
    let (number, .., array) = TYPES.iter().find(|(_, known, ..)| *known == element)?;
    match is_array {
        true => (*array > 0).then_some(*array),
        false => Some(*number),
    }
}

/// The name of a type with its length or digits, as `format_type` gives it.
pub(crate) fn formatted(number: i64, said: Option<i64>) -> String {
    if number == 0 {
        return "-".to_owned();
    }
    let found = TYPES
        .iter()
        .find(|(known, .., array)| *known == number || *array == number);
    let Some((known, _, name, ..)) = found else {
        return "???".to_owned();
    };
    let with = said.filter(|said| *said >= 0);
    let narrow = |said: i64| i32::try_from(said).unwrap_or(-1);
    let digits = |said| modifier::digits(narrow(said));
    let fields = |said| modifier::fields(narrow(said));
    let text = match (known, with) {
        // Without a length this is CHAR of one character, which no modifier is.
        (1042, None) if said.is_some() => "bpchar".to_owned(),
        (1560, None) if said.is_some() => "\"bit\"".to_owned(),
        (1560 | 1562, Some(length)) => format!("{name}({length})"),
        (1042 | 1043, Some(length)) if length > 4 => format!("{name}({})", length - 4),
        (1700, Some(said)) if let Some((precision, scale)) = digits(said) => {
            format!("{name}({precision},{scale})")
        }
        (1186, Some(said)) if let Some(fields) = fields(said) => {
            format!("{name}{}", modifier::fields_shown(fields))
        }
        (1083 | 1114 | 1184 | 1266, Some(digits)) => match name.split_once(' ') {
            Some((first, rest)) => format!("{first}({digits}) {rest}"),
            None => (*name).to_owned(),
        },
        _ => (*name).to_owned(),
    };
    match *known == number {
        true => text,
        false => format!("{text}[]"),
    }
}

/// All types.
pub(super) fn types(facts: &mut Facts) {
    for (number, name, _, size, category, array) in TYPES {
        let kind = match category {
            "P" | "X" => "p",
            "R" if name.ends_with("multirange") => "m",
            "R" => "r",
            _ => "b",
        };
        let read_as = match kind {
            "m" => "multirange",
            "r" => "range",
            _ => name,
        };
        let collation = match name {
            "name" => 950,
            "text" | "varchar" | "bpchar" => 100,
            _ => 0,
        };
        let preferred = [
            "bool",
            "float8",
            "oid",
            "text",
            "timestamptz",
            "interval",
            "varbit",
            "inet",
        ];
        let element = match name {
            "name" => 18,
            "int2vector" => 21,
            "oidvector" => 26,
            _ => 0,
        };
        facts.add([
            ("oid", number.into()),
            ("typname", name.into()),
            ("typnamespace", 11.into()),
            ("typowner", OWNER.into()),
            ("typlen", size.into()),
            ("typtype", kind.into()),
            ("typcategory", category.into()),
            ("typispreferred", preferred.contains(&name).into()),
            ("typisdefined", true.into()),
            ("typdelim", ",".into()),
            ("typelem", element.into()),
            ("typarray", array.into()),
            ("typinput", input_number(read_as, "in").into()),
            ("typoutput", input_number(read_as, "out").into()),
            ("typreceive", input_number(read_as, "recv").into()),
            ("typsend", input_number(read_as, "send").into()),
            ("typbyval", placed(number).0.into()),
            ("typalign", placed(number).1.into()),
            (
                "typstorage",
                match size {
                    ..0 if matches!(name, "numeric" | "inet" | "cidr") => "m",
                    ..0 => "x",
                    _ => "p",
                }
                .into(),
            ),
            ("typtypmod", (-1).into()),
            ("typcollation", collation.into()),
        ]);
        if array == 0 {
            continue;
        }
        facts.add([
            ("oid", array.into()),
            ("typname", format!("_{name}").into()),
            ("typnamespace", 11.into()),
            ("typowner", OWNER.into()),
            ("typlen", (-1).into()),
            ("typtype", "b".into()),
            ("typcategory", "A".into()),
            ("typisdefined", true.into()),
            ("typdelim", ",".into()),
            ("typelem", number.into()),
            ("typinput", input_number("array", "in").into()),
            ("typoutput", input_number("array", "out").into()),
            ("typreceive", input_number("array", "recv").into()),
            ("typsend", input_number("array", "send").into()),
            ("typalign", align_of_arrays(placed(number).1).into()),
            ("typstorage", "x".into()),
            ("typtypmod", (-1).into()),
            ("typcollation", collation.into()),
        ]);
    }
}

/// Ranges, with their multiranges and the types of their bounds.
pub(super) fn ranges(facts: &mut Facts) {
    for of in RangeOf::ALL {
        let number_of = |name| named(name).next().map_or(0, |one| one.number);
        let (class, canonical, difference) = match of {
            RangeOf::Int4 => (1978, "int4range_canonical", "int4range_subdiff"),
            RangeOf::Int8 => (3124, "int8range_canonical", "int8range_subdiff"),
            RangeOf::Numeric => (3125, "", "numrange_subdiff"),
            RangeOf::Timestamp => (3128, "", "tsrange_subdiff"),
            RangeOf::TimestampTz => (3127, "", "tstzrange_subdiff"),
            RangeOf::Date => (3122, "daterange_canonical", "daterange_subdiff"),
        };
        facts.add([
            ("rngtypid", of_type(&Type::Range(of)).0.into()),
            ("rngsubtype", of_type(&of.element()).0.into()),
            ("rngmultitypid", of_type(&Type::Multirange(of)).0.into()),
            ("rngcollation", 0.into()),
            ("rngsubopc", class.into()),
            ("rngcanonical", number_of(canonical).into()),
            ("rngsubdiff", number_of(difference).into()),
        ]);
    }
}

/// Types that users have created, each with that of its arrays.
pub(super) fn created(relations: &Relations<'_>, facts: &mut Facts) {
    for (schema, name, known) in relations.snapshot.user_types() {
        let number = type_number(known.id);
        let namespace = schema_number(relations, schema);
        let owner = owner(relations, &known.id.into());
        let (kind, category, base, modifier, nullable, default) = match &known.kind {
            UserTypeKind::Enum(_) => ("e", "E", 0, -1, true, None),
            UserTypeKind::Composite(_) => ("c", "C", 0, -1, true, None),
            UserTypeKind::Domain(domain) => {
                let ty = declared_type(&relations.snapshot, &domain.kind, domain.declared);
                let (base, modifier) = match domain.declared {
                    Some(id) if declared_by(&ty) != Some(id) => (type_number(id), -1),
                    _ => of_type(&ty),
                };
                let default = domain.default.as_deref();
                let default = default.map(|text| deparsed(relations, text, &[], Some(&ty)));
                (
                    "d",
                    match ty {
                        Type::Record(_) => "C",
                        _ => category_of(of_type(&ty).0),
                    },
                    base,
                    modifier,
                    domain.nullable,
                    default,
                )
            }
        };
        let (size, input) = match kind {
            "e" => (4, "enum"),
            "c" => (-1, "record"),
            _ => (size_of(base), "domain"),
        };
        let align = match kind {
            "e" => "i",
            "c" => "d",
            _ => placed(base).1,
        };
        // A domain is written as the type that it is over.
        let base_name = short_name(base);
        let written = match (kind, &base_name) {
            ("d", Some(name)) if name.starts_with('_') => "array",
            ("d", Some(name)) => name.as_str(),
            _ => input,
        };
        let class = match kind {
            "c" => composite_number(known.id),
            _ => 0,
        };
        facts.add([
            ("oid", number.into()),
            ("typname", name.into()),
            ("typnamespace", namespace.into()),
            ("typowner", owner.into()),
            ("typlen", size.into()),
            ("typbyval", (size > 0 && size <= 8).into()),
            ("typtype", kind.into()),
            ("typcategory", category.into()),
            ("typisdefined", true.into()),
            ("typdelim", ",".into()),
            ("typrelid", class.into()),
            ("typarray", (number + 1).into()),
            ("typinput", input_number(input, "in").into()),
            ("typoutput", input_number(written, "out").into()),
            ("typreceive", input_number(input, "recv").into()),
            ("typsend", input_number(written, "send").into()),
            ("typcollation", collation_of(base).into()),
            ("typalign", align.into()),
            ("typstorage", if size < 0 { "x" } else { "p" }.into()),
            ("typnotnull", (!nullable).into()),
            ("typbasetype", base.into()),
            ("typtypmod", modifier.into()),
        ]);
        if let Some(default) = default {
            facts.also("typdefault", pretty(&default).into());
            facts.also("typdefaultbin", default.into());
        }
        let align = align_of_arrays(align);
        arrays_of(facts, (number, number + 1, name, align), namespace, owner);
    }
}

/// Where arrays of values may begin that begin there.
fn align_of_arrays(values: &str) -> &'static str {
    match values {
        "d" => "d",
        _ => "i",
    }
}

/// The type of arrays of a type that users have made.
fn arrays_of(
    facts: &mut Facts,
    (number, array, name, align): (i64, i64, &str, &str),
    namespace: i64,
    owner: i64,
) {
    facts.add([
        ("oid", array.into()),
        ("typname", format!("_{name}").into()),
        ("typnamespace", namespace.into()),
        ("typowner", owner.into()),
        ("typlen", (-1).into()),
        ("typtype", "b".into()),
        ("typcategory", "A".into()),
        ("typisdefined", true.into()),
        ("typdelim", ",".into()),
        ("typelem", number.into()),
        ("typinput", input_number("array", "in").into()),
        ("typoutput", input_number("array", "out").into()),
        ("typreceive", input_number("array", "recv").into()),
        ("typsend", input_number("array", "send").into()),
        ("typalign", align.into()),
        ("typstorage", "x".into()),
        ("typtypmod", (-1).into()),
    ]);
}

/// Types of the rows of tables, each with that of its arrays.
pub(super) fn of_rows(relations: &Relations<'_>, facts: &mut Facts) {
    let tables = relations.snapshot.all_tables().map(|(schema, table)| {
        let object = Object::from(table.id);
        let numbers = (row_type_number(table), table_number(table));
        (schema, table.name.as_str(), object, numbers)
    });
    let views = relation_numbers(&relations.snapshot);
    let views = views.iter().filter_map(|(number, schema, name)| {
        let object = Object::view(schema, name);
        Some((
            *schema,
            name.as_str(),
            object,
            (view_row_number(*number)?, *number),
        ))
    });
    for (schema, name, object, (number, relation)) in tables.chain(views) {
        let namespace = schema_number(relations, schema);
        let owner = owner(relations, &object);
        let numbers = (number, number + 1);
        row_type(facts, numbers, (namespace, name), relation, owner);
    }
}

/// The type of the rows of a relation and that of their arrays, in a schema.
pub(super) fn row_type(
    facts: &mut Facts,
    (number, array): (i64, i64),
    (namespace, name): (i64, &str),
    relation: i64,
    owner: i64,
) {
    facts.add([
        ("oid", number.into()),
        ("typname", name.into()),
        ("typnamespace", namespace.into()),
        ("typowner", owner.into()),
        ("typlen", (-1).into()),
        ("typtype", "c".into()),
        ("typcategory", "C".into()),
        ("typisdefined", true.into()),
        ("typdelim", ",".into()),
        ("typrelid", relation.into()),
        ("typarray", array.into()),
        ("typinput", input_number("record", "in").into()),
        ("typoutput", input_number("record", "out").into()),
        ("typreceive", input_number("record", "recv").into()),
        ("typsend", input_number("record", "send").into()),
        ("typalign", "d".into()),
        ("typstorage", "x".into()),
        ("typtypmod", (-1).into()),
    ]);
    arrays_of(facts, (number, array, name, "d"), namespace, owner);
}

/// Labels of enumerations.
pub(super) fn labels(relations: &Relations<'_>, facts: &mut Facts) {
    for (_, _, known) in relations.snapshot.user_types() {
        let UserTypeKind::Enum(labels) = &known.kind else {
            continue;
        };
        let of = type_number(known.id);
        for label in labels {
            facts.add([
                ("oid", (of + 2 + i64::from(label.number)).into()),
                ("enumtypid", of.into()),
                ("enumsortorder", Fact::Real(label.order)),
                ("enumlabel", label.name.as_str().into()),
            ]);
        }
    }
}

/// The category of a built-in type.
fn category_of(number: i64) -> &'static str {
    let found = TYPES.iter().find(|(known, ..)| *known == number);
    found.map_or("U", |(_, _, _, _, category, _)| *category)
}

/// Numbers and names in SQL of all types that have one.
pub(super) fn names() -> impl Iterator<Item = (i64, &'static str)> {
    TYPES.iter().map(|(number, _, sql, ..)| (*number, *sql))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_in_order_and_formatted() {
        assert!(TYPES.is_sorted_by_key(|(number, ..)| *number));
        for (number, modifier, wanted) in [
            (23, Some(-1), "integer"),
            (1043, Some(14), "character varying(10)"),
            (1043, Some(-1), "character varying"),
            (1042, None, "character"),
            (1042, Some(-1), "bpchar"),
            (1042, Some(7), "character(3)"),
            (1560, None, "bit"),
            (1560, Some(-1), "\"bit\""),
            (1560, Some(4), "bit(4)"),
            (1563, Some(7), "bit varying(7)[]"),
            (1700, Some(327_686), "numeric(5,2)"),
            (1184, Some(3), "timestamp(3) with time zone"),
            (1009, Some(-1), "text[]"),
            (1015, Some(14), "character varying(10)[]"),
            (1, None, "???"),
            (0, None, "-"),
        ] {
            assert_eq!(formatted(number, modifier), wanted, "{number}");
        }
        assert_eq!(number_of_name("_int4"), Some(1007));
        assert_eq!(short_name(1007).as_deref(), Some("_int4"));
    }
}
