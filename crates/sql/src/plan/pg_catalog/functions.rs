//! PostgreSQL's functions about its catalog, its casts and operators by full names, in
//! words that are understood here.
//!
//! | written | becomes |
//! |---|---|
//! | `pg_catalog.f(x)`, `x::pg_catalog.t` | `f(x)`, `x::t` |
//! | `a OPERATOR(pg_catalog.~) b`, `a COLLATE "default"` | `a ~ b`, `a` |
//! | `pg_get_constraintdef(x)` and others | a sub-query over `pg_catalog` |
//! | `'t'::regclass`, `x::regclass` | the number of a table, its name |

use datafusion::sql::sqlparser::ast::{
    AccessExpr, BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, ObjectName, Value,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::PG_CATALOG;
use super::types::names;
use crate::error::Result;
use crate::plan::names::{DEFAULT_SCHEMA, fold, fold_part};

/// An expression in other words; `None` for one that stays as it is.
///
/// # Errors
/// None but those of a bug in here.
// Its callers are visitors, in which it would stand a hundred times.
#[inline(never)]
pub(crate) fn rewritten(expr: &mut Expr) -> Result<Option<Expr>> {
    Ok(match expr {
        Expr::CompoundFieldAccess { root, access_chain } => match part(root, access_chain) {
            Some(text) => Some(parsed(&text)?),
            None => None,
        },
        Expr::Function(function) => {
            if let Some(text) = expanded(function) {
                return parsed(&text).map(Some);
            }
            unqualified(&mut function.name);
            return called(function);
        }
        Expr::Collate { expr, collation } => {
            let name = collation.0.last().and_then(fold_part).unwrap_or_default();
            let plain = ["default", "C", "c", "POSIX", "posix"].contains(&name.as_str());
            plain.then(|| (**expr).clone())
        }
        Expr::BinaryOp { op, .. } => {
            if let BinaryOperator::PGCustomBinaryOperator(parts) = op
                && let Some(meant) = parts.last().and_then(|name| operator(name))
            {
                *op = meant;
            }
            None
        }
        Expr::Cast {
            kind: CastKind::Cast | CastKind::DoubleColon,
            expr: inner,
            data_type,
            ..
        } => {
            if let DataType::Custom(name, _) = data_type {
                unqualified(name);
                // Functions go by their names.
                if name.to_string().eq_ignore_ascii_case("regproc") {
                    *data_type = DataType::Text;
                }
            }
            match is_regclass(data_type) {
                true if let Some(serial) = serial(inner) => Some(parsed(&serial)?),
                true => Some(parsed(&table_of(inner))?),
                false => None,
            }
        }
        _ => None,
    })
}

/// Takes the schema from a name if it is this one.
fn unqualified(name: &mut ObjectName) {
    if let [schema, _] = name.0.as_slice()
        && fold_part(schema).as_deref() == Some(PG_CATALOG)
    {
        name.0.remove(0);
    }
}

fn operator(name: &str) -> Option<BinaryOperator> {
    Some(match name {
        "~" => BinaryOperator::PGRegexMatch,
        "~*" => BinaryOperator::PGRegexIMatch,
        "!~" => BinaryOperator::PGRegexNotMatch,
        "!~*" => BinaryOperator::PGRegexNotIMatch,
        "=" => BinaryOperator::Eq,
        "<>" => BinaryOperator::NotEq,
        _ => return None,
    })
}

fn is_regclass(kind: &DataType) -> bool {
    match kind {
        DataType::Regclass => true,
        DataType::Custom(name, _) => name.to_string().eq_ignore_ascii_case("regclass"),
        _ => false,
    }
}

/// The numbers of tables of the catalog, which does not list itself.
const SYSTEM: [(&str, i64); 20] = [
    ("pg_am", 2601),
    ("pg_attrdef", 2604),
    ("pg_attribute", 1249),
    ("pg_authid", 1260),
    ("pg_class", CLASSES),
    ("pg_collation", 3456),
    ("pg_constraint", CONSTRAINTS),
    ("pg_database", 1262),
    ("pg_description", 2609),
    ("pg_extension", 3079),
    ("pg_index", 2610),
    ("pg_language", 2612),
    ("pg_namespace", 2615),
    ("pg_operator", 2617),
    ("pg_proc", 1255),
    ("pg_rewrite", 2618),
    ("pg_sequence", 2224),
    ("pg_tablespace", 1213),
    ("pg_trigger", 2620),
    ("pg_type", 1247),
];
pub(super) const CLASSES: i64 = 1259;
pub(super) const CONSTRAINTS: i64 = 2606;

fn system(name: &str) -> Option<i64> {
    let found = SYSTEM.iter().find(|(known, _)| *known == name);
    found.map(|(_, number)| *number)
}

/// A table's number if it is named, its name if its number is given.
fn table_of(expr: &Expr) -> String {
    let text = match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    };
    match text {
        Some(number) if number.parse::<i64>().is_ok() => format!("CAST({number} AS BIGINT)"),
        Some(name) => {
            let (schema, table) = name.split_once('.').unwrap_or(("", name));
            let bare = |name: &str| match name.strip_prefix('"') {
                Some(quoted) => quoted.trim_end_matches('"').to_owned(),
                None => name.to_lowercase(),
            };
            if let ("" | PG_CATALOG, Some(number)) = (schema, system(&bare(table))) {
                return format!("CAST({number} AS BIGINT)");
            }
            let within = match schema {
                "" => String::new(),
                schema => format!(" AND \"n\" = '{}'", bare(schema).replace('\'', "''")),
            };
            format!(
                "(SELECT \"o\" FROM (SELECT c.oid AS \"o\", relname AS \"r\", nspname AS \"n\" FROM \
                 pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = relnamespace) \
                 AS \"of\" WHERE \"r\" = '{}'{within} LIMIT 1)",
                bare(table).replace('\'', "''")
            )
        }
        None => lookup("relname", ("pg_class", "oid"), &expr.to_string()),
    }
}

/// A sub-query for the column `wanted` of the row whose `key` is `value`.
fn lookup(wanted: &str, (table, key): (&str, &str), value: &str) -> String {
    format!(
        "(SELECT max(\"__value\") FROM (SELECT {wanted} AS \"__value\", {key} AS \"__key\" FROM pg_catalog.{table}) \
         AS \"of\" WHERE \"__key\" = ({value}))"
    )
}

/// What a function about the catalog comes to.
fn called(function: &mut Function) -> Result<Option<Expr>> {
    let name = match function.name.0.as_slice() {
        [name] => fold_part(name).unwrap_or_default(),
        _ => return Ok(None),
    };
    if ["nextval", "currval", "setval"].contains(&name.as_str()) {
        sequences(function);
        return Ok(None);
    }
    let first = || argument(function, 0).unwrap_or_else(|| "NULL".to_owned());
    let text = match name.as_str() {
        "pg_table_is_visible" => visible(&first()),
        "pg_type_is_visible"
        | "pg_collation_is_visible"
        | "pg_conversion_is_visible"
        | "pg_function_is_visible"
        | "pg_opclass_is_visible"
        | "pg_operator_is_visible"
        | "pg_opfamily_is_visible"
        | "pg_statistics_obj_is_visible"
        | "pg_ts_config_is_visible"
        | "pg_ts_dict_is_visible"
        | "pg_ts_parser_is_visible"
        | "pg_ts_template_is_visible"
        | "has_database_privilege" => "TRUE".to_owned(),
        "pg_is_in_recovery" | "pg_is_other_temp_schema" => "FALSE".to_owned(),
        "pg_my_temp_schema" | "pg_backend_pid" => "CAST(0 AS BIGINT)".to_owned(),
        "pg_partition_ancestors" => "CAST(NULL AS BIGINT)".to_owned(),
        "pg_get_userbyid" => lookup("rolname", ("pg_roles", "oid"), &first()),
        "session_user" if argument(function, 0).is_none() => "freestone_session_user()".to_owned(),
        "current_user" | "current_role" | "user" if argument(function, 0).is_none() => {
            "freestone_current_user()".to_owned()
        }
        "pg_encoding_to_char" => "'UTF8'".to_owned(),
        "gen_random_uuid" => "CAST(uuid() AS UUID)".to_owned(),
        "pg_table_size" | "pg_relation_size" | "pg_total_relation_size" => {
            format!(
                "coalesce({}, 0)",
                lookup("relbytes", ("pg_class", "oid"), &first())
            )
        }
        // Indexes are parts of their tables' blocks.
        "pg_indexes_size" => "CAST(0 AS BIGINT)".to_owned(),
        "pg_database_size" | "pg_tablespace_size" => {
            "(SELECT coalesce(CAST(sum(relbytes) AS BIGINT), 0) FROM pg_catalog.pg_class)"
                .to_owned()
        }
        "pg_get_expr" => format!("({})", first()),
        "obj_description" => described(&first(), "0"),
        "col_description" => {
            let column = argument(function, 1).unwrap_or_else(|| "NULL".to_owned());
            described(&first(), &column)
        }
        "shobj_description"
        | "pg_advisory_unlock_all"
        | "inet_client_addr"
        | "inet_server_addr"
        | "pg_tablespace_location"
        | "pg_get_partkeydef"
        | "pg_get_statisticsobjdef_columns"
        | "pg_get_ruledef"
        | "pg_get_triggerdef"
        | "pg_relation_is_publishable" => "CAST(NULL AS TEXT)".to_owned(),
        "pg_get_serial_sequence" => {
            let number = serial(&Expr::Function(function.clone()));
            let number = number.unwrap_or_else(|| "NULL".to_owned());
            lookup("relname", ("pg_class", "oid"), &number)
        }
        "pg_get_viewdef" => lookup("reldefinition", ("pg_class", "oid"), &first()),
        "generate_subscripts" => {
            let list = first();
            // Lists of an index begin at 0, as PostgreSQL's vectors do.
            let of_index = ["indkey", "indclass", "indoption", "indcollation"];
            match of_index.iter().any(|column| list.ends_with(column)) {
                true => format!("unnest(range(0, CAST(array_length({list}) AS BIGINT)))"),
                false => format!("unnest(range(1, CAST(array_length({list}) AS BIGINT) + 1))"),
            }
        }
        "current_schemas" => format!("ARRAY['{DEFAULT_SCHEMA}', '{PG_CATALOG}']"),
        "array_upper" => format!("CAST(array_length({}) AS INTEGER)", first()),
        "array_lower" => format!("CASE WHEN array_length({}) > 0 THEN 1 END", first()),
        "to_regtype" => lookup("oid", ("pg_type", "typname"), &first()),
        "to_regclass" => lookup("oid", ("pg_class", "relname"), &first()),
        "pg_get_constraintdef" => lookup("definition", ("pg_constraint", "oid"), &first()),
        "pg_get_indexdef" => match argument(function, 1).filter(|place| place != "0") {
            None => lookup("definition", ("pg_index", "indexrelid"), &first()),
            Some(place) => format!(
                "(SELECT max(\"__value\") FROM (SELECT attname AS \"__value\", attrelid AS \"__key\", attnum AS \"__place\" \
                 FROM pg_catalog.pg_attribute) AS \"of\" WHERE \"__key\" = ({}) AND \"__place\" = ({place}))",
                first()
            ),
        },
        "format_type" => {
            let modifier = argument(function, 1);
            format_type(&first(), modifier.as_deref().unwrap_or("-1"))
        }
        _ => return Ok(None),
    };
    parsed(&text).map(Some)
}

/// The comment on an object, or on a column of it.
fn described(number: &str, column: &str) -> String {
    format!(
        "(SELECT max(\"__value\") FROM (SELECT description AS \"__value\", objoid AS \"__key\", objsubid AS \"__column\" \
         FROM pg_catalog.pg_description) AS \"of\" WHERE \"__key\" = ({number}) AND \"__column\" = ({column}))"
    )
}

/// Of `pg_get_serial_sequence(table, column)` the sequence's number; `None` for anything else.
fn serial(expr: &Expr) -> Option<String> {
    let Expr::Function(function) = expr else {
        return None;
    };
    let name = function.name.0.last().and_then(fold_part)?;
    let (table, column) = (argument(function, 0)?, argument(function, 1)?);
    (name == "pg_get_serial_sequence").then(|| {
        format!(
            "(SELECT max(\"__value\") FROM (SELECT attserial AS \"__value\", relname AS \"__key\", attname AS \"__column\" \
             FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class ON pg_class.oid = attrelid \
             WHERE attserial > 0) AS \"of\" WHERE \"__key\" = ({table}) AND \"__column\" = ({column}))"
        )
    })
}

/// Whether a table is found by its name alone, by its number.
fn visible(number: &str) -> String {
    let public = super::objects::PUBLIC;
    match number.strip_suffix("oid") {
        Some(of) if of.is_empty() || of.ends_with('.') => {
            format!("({of}relnamespace IN ({public}, 11))")
        }
        _ => {
            let schema = lookup("relnamespace", ("pg_class", "oid"), number);
            format!("({schema} IN ({public}, 11))")
        }
    }
}

/// A part of a composite value, which is written `(x).part`.
fn part(root: &Expr, chain: &[AccessExpr]) -> Option<String> {
    let [AccessExpr::Dot(Expr::Identifier(name))] = chain else {
        return None;
    };
    let root = match root {
        Expr::Nested(inner) => inner.as_ref(),
        other => other,
    };
    let name = fold(name).replace('\'', "''");
    Some(format!("get_field({root}, '{name}')"))
}

/// Whether a function is `information_schema._pg_expandarray` of an index' columns: then
/// these with their places.
fn expanded(function: &Function) -> Option<String> {
    let mut names = function.name.0.iter().rev();
    let name = names.next().and_then(fold_part)?;
    let list = argument(function, 0)?;
    (name == "_pg_expandarray" && list.ends_with("indkey")).then(|| format!("unnest({list}parts)"))
}

/// The name of a type with its length or digits.
fn format_type(number: &str, modifier: &str) -> String {
    let each = names().map(|(known, name)| match known {
        1042 | 1043 => format!(
            "WHEN {known} THEN CASE WHEN ({modifier}) > 4 THEN '{name}(' || (({modifier}) - 4) || ')' \
             ELSE '{name}' END"
        ),
        1700 => format!(
            "WHEN {known} THEN CASE WHEN ({modifier}) > 4 THEN '{name}(' || ((({modifier}) - 4) / 65536) \
             || ',' || ((({modifier}) - 4) % 65536) || ')' ELSE '{name}' END"
        ),
        _ => format!("WHEN {known} THEN '{name}'"),
    });
    let each: Vec<String> = each.collect();
    format!("CASE ({number}) {} ELSE '???' END", each.join(" "))
}

/// An argument of a call as text; `None` if there is none, or one of another form.
fn argument(function: &Function, place: usize) -> Option<String> {
    let FunctionArguments::List(list) = &function.args else {
        return None;
    };
    match list.args.get(place)? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.to_string()),
        _ => None,
    }
}

/// Sequences are called by their names, whatever these are cast to.
fn sequences(function: &mut Function) {
    if let FunctionArguments::List(list) = &mut function.args {
        for argument in &mut list.args {
            if let FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Cast {
                expr, data_type, ..
            })) = argument
                && is_regclass(data_type)
            {
                let named = (**expr).clone();
                *argument = FunctionArg::Unnamed(FunctionArgExpr::Expr(named));
            }
        }
    }
}

fn parsed(text: &str) -> Result<Expr> {
    Parser::new(&PostgreSqlDialect {})
        .try_with_sql(text)
        .and_then(|mut parser| parser.parse_expr())
        .map_err(|error| crate::error::parser(&error))
}
