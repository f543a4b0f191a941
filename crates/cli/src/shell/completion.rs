//! What Tab offers.
//!
//! The tokens before the cursor decide: after `FROM`, `JOIN`, `INTO` and their
//! like come tables, views and schemas; after `schema.` or `table.` what is in
//! it; elsewhere the columns of the tables that the statement names (of all
//! tables, if it names none), and keywords. A meta command completes to meta
//! commands, tables or files. Everything is read from a snapshot of the catalog
//! at the moment of the key.

use super::keywords::{BEFORE_TABLE, KEYWORDS, is_keyword};
use crate::lexer::{Kind, Token, tokens};
use crate::meta;
use freestone_storage::Catalog;
use std::collections::BTreeSet;

/// What can stand at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub enum Offer {
    /// Words that replace the text from `start` to the cursor.
    Words {
        /// Byte offset of the word that is being typed.
        start: usize,
        /// The candidates, sorted.
        words: Vec<String>,
    },
    /// A path of the file system.
    File,
}

/// Candidates for the cursor at byte `at` of `line`.
pub fn offer(catalog: &Catalog, line: &str, at: usize) -> Offer {
    let text = line.get(..at).unwrap_or(line);
    if let Some(command) = text.trim_start().strip_prefix('\\') {
        return after_backslash(catalog, text, command);
    }
    let before: Vec<Token> = tokens(text).collect();
    let (typed, context) = match before.split_last() {
        Some((last, _)) if matches!(last.kind, Kind::String | Kind::Comment) && !last.closed => {
            let start = at;
            return Offer::Words {
                start,
                words: Vec::new(),
            };
        }
        Some((last, rest)) if matches!(last.kind, Kind::Word | Kind::Identifier) => {
            (&text[last.range.clone()], rest)
        }
        _ => ("", before.as_slice()),
    };
    let words = |token: &&Token| !matches!(token.kind, Kind::Space | Kind::Comment);
    let mut previous = context.iter().rev().filter(words);
    let last = previous
        .next()
        .map_or("", |token| &text[token.range.clone()]);
    let qualifier = previous
        .next()
        .map_or("", |token| &text[token.range.clone()]);
    let mut found = BTreeSet::new();
    if last == "." {
        members(catalog, unquoted(qualifier), &mut found);
    } else if BEFORE_TABLE.contains(&last.to_ascii_uppercase().as_str()) {
        relations(catalog, &mut found);
    } else {
        columns(catalog, line, &mut found);
        keywords(typed, &mut found);
    }
    Offer::Words {
        start: text.len() - typed.len(),
        words: found
            .into_iter()
            .filter(|word| starts_with(word, typed))
            .collect(),
    }
}

fn after_backslash(catalog: &Catalog, text: &str, command: &str) -> Offer {
    let Some((name, rest)) = command.split_once(char::is_whitespace) else {
        let start = text.len() - command.len() - 1;
        let typed = &text[start..];
        let words = meta::names().filter(|name| name.starts_with(typed));
        return Offer::Words {
            start,
            words: words.map(String::from).collect(),
        };
    };
    match name {
        "i" | "o" => Offer::File,
        "d" => {
            let typed = rest.trim_start();
            let mut found = BTreeSet::new();
            relations(catalog, &mut found);
            let words = found
                .into_iter()
                .filter(|word| starts_with(word, typed))
                .collect();
            Offer::Words {
                start: text.len() - typed.len(),
                words,
            }
        }
        _ => Offer::Words {
            start: text.len(),
            words: Vec::new(),
        },
    }
}

/// Without regard to case, or to quotes that a name needs.
fn starts_with(word: &str, typed: &str) -> bool {
    let folded = |text: &str| text.trim_start_matches('"').to_lowercase();
    folded(word).starts_with(&folded(typed))
}

/// Tables and views by name, and schemas.
fn relations(catalog: &Catalog, found: &mut BTreeSet<String>) {
    for schema in catalog.schemas() {
        found.insert(quoted(schema));
        members_of_schema(catalog, schema, found);
    }
}

/// What may follow `qualifier.`: relations of a schema, columns of a table.
fn members(catalog: &Catalog, qualifier: &str, found: &mut BTreeSet<String>) {
    members_of_schema(catalog, qualifier, found);
    for (_, table) in catalog
        .all_tables()
        .filter(|(_, table)| table.name == qualifier)
    {
        found.extend(
            table
                .schema
                .columns
                .iter()
                .map(|column| quoted(&column.name)),
        );
    }
}

fn members_of_schema(catalog: &Catalog, schema: &str, found: &mut BTreeSet<String>) {
    found.extend(
        catalog
            .tables(schema)
            .iter()
            .map(|table| quoted(&table.name)),
    );
    found.extend(catalog.views(schema).iter().map(|view| quoted(&view.name)));
}

/// Columns of the tables that the line names, or of all.
fn columns(catalog: &Catalog, line: &str, found: &mut BTreeSet<String>) {
    let names: BTreeSet<&str> = tokens(line)
        .filter(|token| matches!(token.kind, Kind::Word | Kind::Identifier))
        .map(|token| unquoted(&line[token.range]))
        .collect();
    let named = |table: &str| names.contains(table);
    let any = catalog.all_tables().any(|(_, table)| named(&table.name));
    for (_, table) in catalog
        .all_tables()
        .filter(|(_, table)| !any || named(&table.name))
    {
        found.extend(
            table
                .schema
                .columns
                .iter()
                .map(|column| quoted(&column.name)),
        );
    }
}

/// Keywords in the case of what is typed; upper case at the start of a word.
fn keywords(typed: &str, found: &mut BTreeSet<String>) {
    let lower = typed.chars().any(char::is_lowercase);
    found.extend(KEYWORDS.iter().map(|word| match lower {
        true => word.to_lowercase(),
        false => (*word).to_string(),
    }));
}

fn unquoted(name: &str) -> &str {
    name.trim_matches('"')
}

/// The name as SQL needs it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if starts && name.chars().all(plain) && !is_keyword(name) {
        name.to_string()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use freestone_storage::{Column, ColumnType, DEFAULT_SCHEMA, Store, TableOptions, TableSchema};
    use std::sync::Arc;

    fn catalog() -> Arc<Catalog> {
        let store = Store::in_memory();
        let table = |names: &[&str]| TableSchema {
            columns: names
                .iter()
                .map(|name| Column {
                    name: (*name).to_string(),
                    kind: ColumnType::Integer,
                    nullable: true,
                    default: None,
                    identity: None,
                    modifier: None,
                    declared: None,
                    generated: false,
                    hidden: None,
                })
                .collect(),
            keys: Vec::new(),
            ..TableSchema::default()
        };
        store
            .commit(|edit| {
                edit.create_schema("sales")?;
                edit.create_table(
                    DEFAULT_SCHEMA,
                    "orders",
                    table(&["id", "Total"]),
                    TableOptions::default(),
                )?;
                edit.create_table(
                    "sales",
                    "parts",
                    table(&["part_id"]),
                    TableOptions::default(),
                )?;
                edit.create_view(DEFAULT_SCHEMA, "open_orders", "select 1")
            })
            .expect("valid");
        store.snapshot().catalog().clone()
    }

    fn words(line: &str) -> Vec<String> {
        match offer(&catalog(), line, line.len()) {
            Offer::Words { words, .. } => words,
            Offer::File => vec!["<file>".into()],
        }
    }

    #[test]
    fn tables_come_after_from() {
        assert_eq!(words("select * from o"), ["open_orders", "orders"]);
        assert_eq!(words("select * from sales."), ["parts"]);
        assert_eq!(words("\\d pa"), ["parts"]);
    }

    #[test]
    fn columns_of_the_tables_named() {
        assert_eq!(words("select orders.i"), ["id"]);
        assert_eq!(
            words("select * from parts where p"),
            ["part_id", "partition", "precision"]
        );
        assert_eq!(words("select orders.t"), ["\"Total\""]);
    }

    #[test]
    fn keywords_follow_the_case() {
        assert_eq!(words("sel"), ["select"]);
        assert_eq!(words("SEL"), ["SELECT"]);
    }

    #[test]
    fn nothing_in_strings_and_files_after_i() {
        assert!(words("select 'sel").is_empty());
        assert_eq!(words("\\i da"), ["<file>"]);
        assert_eq!(words("\\ti"), ["\\timing"]);
    }
}
