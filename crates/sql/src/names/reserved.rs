//! Which words cannot be names without double quotes.

use std::collections::HashSet;
use std::sync::LazyLock;

use freestone_frontend::functions::is_unreserved;
use sqlparser::keywords::{
    RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_IDENTIFIER, RESERVED_FOR_TABLE_ALIAS,
    RESERVED_FOR_TABLE_FACTOR,
};

/// What PostgreSQL reserves, and what the parser reads as something else than a name.
const RESERVED: [&str; 103] = [
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "binary",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "not",
    "notnull",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "overlaps",
    "placing",
    "primary",
    "references",
    "replace",
    "returning",
    "right",
    "select",
    "session_user",
    "similar",
    "some",
    "symmetric",
    "system_user",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "unnest",
    "user",
    "using",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
];

/// These words and those that the parser itself reserves in some places. Names are asked for
/// by every statement that is written, and words are compared as text but once.
static ALL: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lists = [
        RESERVED_FOR_COLUMN_ALIAS,
        RESERVED_FOR_IDENTIFIER,
        RESERVED_FOR_TABLE_ALIAS,
        RESERVED_FOR_TABLE_FACTOR,
    ];
    let words = lists.into_iter().flatten();
    let words = words.map(|word| word.to_string().to_lowercase());
    words.chain(RESERVED.map(str::to_owned)).collect()
});

/// Whether `name`, in lower case, needs double quotes to be a name anywhere, or has them where
/// PostgreSQL writes it: it does so with all words that are not free in each place.
pub(super) fn is_reserved(name: &str) -> bool {
    ALL.contains(name) || !is_unreserved(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::quoted;
    use crate::statement::parse_one;
    use sqlparser::keywords::ALL_KEYWORDS;

    #[test]
    fn the_list_is_sorted() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn every_word_is_a_name_where_names_are_written() {
        for word in ALL_KEYWORDS {
            let name = quoted(&word.to_lowercase());
            for sql in [
                format!("SELECT {name} FROM {name} WHERE {name} = 1 ORDER BY {name}"),
                format!("SELECT {name} + 1 AS {name} FROM public.{name} AS {name}"),
                format!("UPDATE {name} SET {name} = {name} + 1"),
                format!("DELETE FROM {name} WHERE {name} IN (1)"),
                format!("CREATE INDEX {name} ON {name}({name})"),
                format!("ALTER TABLE {name} RENAME COLUMN {name} TO {name}"),
            ] {
                let parsed = parse_one(&sql).map(|statement| statement.to_string());
                assert_eq!(parsed.ok(), Some(sql));
            }
        }
    }
}
