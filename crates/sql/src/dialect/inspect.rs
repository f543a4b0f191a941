//! Questions of DuckDB's clients about the catalog, as queries over `pg_catalog`.
//!
//! | statement | gives |
//! |---|---|
//! | `PRAGMA table_info('t')` | a row for each column of a table |
//! | `PRAGMA show_tables` | the names of tables and views, as `SHOW TABLES` does |
//! | `SHOW ALL TABLES` | a row for each table and view |
//!
//! A statement of these words begins a text or stands behind a semicolon.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use freestone_frontend::syntax;

use super::edits::Edits;
use super::{is_blank, spaced, words};

/// A row for each column of the table that `$1` names.
const TABLE_INFO: &str = "SELECT (a.attnum - 1)::integer AS cid, a.attname::text AS name, \
    format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS \"notnull\", \
    pg_get_expr(d.adbin, d.adrelid) AS dflt_value, \
    EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary \
        AND a.attnum = ANY (i.indkey::smallint[])) AS pk \
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
    WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

const ALL_TABLES: &str = "SELECT current_database()::text AS database, n.nspname::text AS schema, \
    c.relname::text AS name, \
    array_agg(a.attname::text ORDER BY a.attnum) AS column_names, \
    array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum) AS column_types, \
    c.relpersistence::text = 't' AS temporary \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    WHERE c.relkind::text IN ('r', 'v', 'p') \
    AND n.nspname::text NOT IN ('pg_catalog', 'information_schema', 'pg_toast') \
    GROUP BY n.nspname, c.relname, c.relpersistence ORDER BY 2, 3";

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    let mut begins = true;
    for at in 0..tokens.len() {
        if is_blank(&tokens[at]) {
            continue;
        }
        let first = std::mem::replace(&mut begins, tokens[at].token == Token::SemiColon);
        if !first {
            continue;
        }
        let found = words(tokens, at, 3);
        let found: Vec<(usize, &str)> = found
            .iter()
            .map(|(at, word)| (*at, word.as_str()))
            .collect();
        match found.as_slice() {
            [(_, "SHOW"), (_, "ALL"), (last, "TABLES"), ..] => {
                put(&mut edits, tokens, (at, *last), ALL_TABLES);
            }
            [(_, "PRAGMA"), (last, "SHOW_TABLES"), ..] => {
                put(&mut edits, tokens, (at, *last), "SHOW TABLES");
            }
            [(_, "PRAGMA"), (name, "TABLE_INFO"), ..] => {
                if let Some((text, last)) = argument(tokens, *name) {
                    let text = format!("'{}'", text.replace('\'', "''"));
                    put(
                        &mut edits,
                        tokens,
                        (at, last),
                        &TABLE_INFO.replace("$1", &text),
                    );
                }
            }
            _ => {}
        }
    }
    edits.make(tokens);
}

/// The text or name in the brackets behind a token, and the place of the closing one.
fn argument(tokens: &[TokenWithSpan], from: usize) -> Option<(String, usize)> {
    let mut rest = tokens.iter().enumerate().skip(from + 1);
    let mut next = || rest.find(|(_, token)| !is_blank(token));
    let opens = next()?.1.token == Token::LParen;
    let text = match &next()?.1.token {
        Token::SingleQuotedString(text) => text.clone(),
        Token::Word(word) => word.value.clone(),
        _ => return None,
    };
    let (last, token) = next()?;
    (opens && token.token == Token::RParen).then_some((text, last))
}

/// Puts a statement in the place of tokens.
fn put(edits: &mut Edits, tokens: &[TokenWithSpan], (first, last): (usize, usize), text: &str) {
    let Ok(new) = syntax::tokens(text) else {
        return;
    };
    let span = tokens[first].span;
    let new = new.into_iter().filter(|token| token.token != Token::EOF);
    let new = new.map(|token| TokenWithSpan::new(token.token, span));
    edits.put_all(first..last + 1, spaced(new.collect()));
}
