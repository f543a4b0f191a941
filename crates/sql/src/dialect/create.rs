//! CREATE TABLE, CREATE VIEW and constraints in forms that the grammar lacks.
//!
//! | written | becomes |
//! |---|---|
//! | `CREATE UNLOGGED TABLE t` | `CREATE TABLE t`: all tables are logged |
//! | `CREATE TABLE t (…) WITHOUT OIDS` | `CREATE TABLE t (…)` |
//! | `… AS query WITH DATA` | `… AS query` |
//! | `… AS query WITH NO DATA` | `… AS SELECT * FROM (query) AS t LIMIT 0` |
//! | `… AS EXECUTE q (1)` | `… AS SELECT * FROM` a call that nobody can write |
//! | `CREATE MATERIALIZED VIEW … WITH NO DATA` | the same with such a query |
//! | `CHECK (…) NO INHERIT` | `CHECK (…)`: no table inherits |
//! | `CREATE RECURSIVE VIEW v (a) AS query` | `CREATE VIEW v (a) AS WITH RECURSIVE v (a) AS (query) SELECT a FROM v` |

use freestone_frontend::syntax::marks;
use sqlparser::ast::{ObjectName, Query, SetExpr, TableFactor};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace, Word};

use super::edits::Edits;
use super::{is_blank, words};

/// The alias of a query of which CREATE TABLE AS takes no rows.
const NO_DATA: &str = "no data";

/// Whether a query of CREATE TABLE AS is WITH NO DATA.
pub(crate) fn is_without_data(query: &Query) -> bool {
    without_data(query).is_some()
}

/// The query before WITH NO DATA, if a statement has that.
pub(crate) fn without_data(query: &Query) -> Option<&Query> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    let [from] = select.from.as_slice() else {
        return None;
    };
    match &from.relation {
        TableFactor::Derived {
            alias: Some(alias),
            subquery,
            ..
        } => {
            let named = alias.name.quote_style.is_some() && alias.name.value == NO_DATA;
            match named && query.limit_clause.is_some() {
                true => Some(subquery),
                false => without_data(subquery),
            }
        }
        _ => None,
    }
}

/// The statement that a call stands for EXECUTE of.
pub(crate) fn executed(name: &ObjectName) -> Option<&str> {
    let [part] = name.0.as_slice() else {
        return None;
    };
    marks::marked(part.as_ident()?, marks::EXECUTE)
}

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    let mut at = 0;
    while at < tokens.len() {
        let end = end_of(tokens, at);
        // EXPLAIN and PREPARE may stand before it.
        let place = (at..end).find(|place| is_word(&tokens[*place], "CREATE"));
        let first = (at..end).find(|place| !is_blank(&tokens[*place]));
        let holds =
            |first: usize| is_word(&tokens[first], "EXPLAIN") || is_word(&tokens[first], "CREATE");
        if let (Some(place), Some(first)) = (place, first)
            && holds(first)
        {
            created(tokens, place, end, &mut edits);
        }
        let defines =
            |first: usize| is_word(&tokens[first], "CREATE") || is_word(&tokens[first], "ALTER");
        if first.is_some_and(defines) {
            without_heirs(tokens, at, end, &mut edits);
        }
        at = end + 1;
    }
    edits.make(tokens);
}

/// Takes out NO INHERIT behind brackets.
fn without_heirs(tokens: &[TokenWithSpan], from: usize, end: usize, edits: &mut Edits) {
    let no = |at: &usize| is_word(&tokens[*at], "NO");
    for at in (from..end).filter(no) {
        let mut before = tokens[from..at]
            .iter()
            .rev()
            .filter(|token| !is_blank(token));
        let behind = words(&tokens[..end], at, 2);
        if let [_, (last, word)] = behind.as_slice()
            && word == "INHERIT"
            && before
                .next()
                .is_some_and(|token| token.token == Token::RParen)
        {
            edits.take(at..last + 1);
        }
    }
}

/// The end of the statement from a token on.
fn end_of(tokens: &[TokenWithSpan], from: usize) -> usize {
    let ends = |token: &TokenWithSpan| matches!(token.token, Token::SemiColon | Token::EOF);
    let end = tokens.iter().skip(from).position(ends);
    end.map_or(tokens.len(), |end| from + end)
}

fn is_word(token: &TokenWithSpan, wanted: &str) -> bool {
    matches!(&token.token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
}

/// Places of tokens that are no blanks.
fn visible(tokens: &[TokenWithSpan], from: usize, end: usize) -> Vec<usize> {
    (from..end).filter(|at| !is_blank(&tokens[*at])).collect()
}

fn created(tokens: &[TokenWithSpan], create: usize, end: usize, edits: &mut Edits) {
    let heads = words(tokens, create, 7);
    let heads: Vec<(usize, &str)> = heads
        .iter()
        .map(|(at, word)| (*at, word.as_str()))
        .collect();
    let place = |wanted: &str| {
        heads
            .iter()
            .find(|(_, word)| *word == wanted)
            .map(|(at, _)| *at)
    };
    let before = |at: usize, words: &[&str]| {
        let mut heads = heads.iter().skip(1).take_while(|(place, _)| *place < at);
        heads.all(|(_, word)| words.contains(word))
    };
    if let Some(unlogged) = place("UNLOGGED")
        && before(unlogged, &[])
    {
        edits.take(unlogged..unlogged + 1);
    }
    let modifiers = [
        "UNLOGGED",
        "TEMP",
        "TEMPORARY",
        "LOCAL",
        "GLOBAL",
        "OR",
        "REPLACE",
    ];
    if let Some(table) = place("TABLE")
        && before(table, &modifiers)
    {
        as_query(tokens, table, end, edits);
    }
    if let (Some(_), Some(view)) = (place("MATERIALIZED"), place("VIEW"))
        && before(view, &["MATERIALIZED"])
    {
        as_query(tokens, view, end, edits);
    }
    if let (Some(recursive), Some(view)) = (place("RECURSIVE"), place("VIEW"))
        && before(recursive, &modifiers)
    {
        recursive_view(tokens, recursive, view, end, edits);
    }
}

/// Reads the words behind the name of a new table.
fn as_query(tokens: &[TokenWithSpan], table: usize, end: usize, edits: &mut Edits) {
    let all = visible(tokens, table + 1, end);
    if let [.., without, oids] = all.as_slice()
        && is_word(&tokens[*without], "WITHOUT")
        && is_word(&tokens[*oids], "OIDS")
    {
        edits.take(*without..end);
    }
    // AS outside of brackets.
    let mut depth = 0_usize;
    let found = all.iter().position(|at| {
        match tokens[*at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is_word(&tokens[*at], "AS")
    });
    let Some(place) = found else {
        return;
    };
    let query = &all[place + 1..];
    let Some(first) = query.first().copied() else {
        return;
    };
    let (empty, data) = match query {
        [.., with, data] if is_word(&tokens[*with], "WITH") && is_word(&tokens[*data], "DATA") => {
            (false, *with)
        }
        [.., with, no, data]
            if is_word(&tokens[*with], "WITH")
                && is_word(&tokens[*no], "NO")
                && is_word(&tokens[*data], "DATA") =>
        {
            (true, *with)
        }
        _ => (false, end),
    };
    if data <= first {
        return;
    }
    let like = &tokens[first];
    let made = |token: Token| TokenWithSpan {
        token,
        span: like.span,
    };
    let word = |text: &str| made(Token::make_word(text, None));
    let blank = || made(Token::Whitespace(Whitespace::Space));
    let execute = is_word(like, "EXECUTE");
    let named = query.get(1).copied().filter(|_| execute);
    if let Some(name) = named
        && let Token::Word(prepared) = &tokens[name].token
    {
        let prepared = match prepared.quote_style {
            Some(_) => prepared.value.clone(),
            None => prepared.value.to_lowercase(),
        };
        let call = made(Token::Word(Word {
            value: format!("{}{prepared}", marks::EXECUTE),
            quote_style: Some(marks::QUOTE),
            keyword: Keyword::NoKeyword,
        }));
        let mut put = Vec::new();
        for token in [word("SELECT"), made(Token::Mul), word("FROM"), call] {
            put.extend([token, blank()]);
        }
        let has_values = query
            .get(2)
            .is_some_and(|at| tokens[*at].token == Token::LParen);
        if !has_values {
            put.extend([made(Token::LParen), made(Token::RParen), blank()]);
        }
        edits.put_all(first..name + 1, put);
        if data < end {
            let limit = [
                word("LIMIT"),
                blank(),
                made(Token::Number("0".to_owned(), false)),
            ];
            edits.put_all(data..end, if empty { limit.into() } else { Vec::new() });
        }
        return;
    }
    if data == end {
        return;
    }
    if !empty {
        edits.take(data..end);
        return;
    }
    let mut head = Vec::new();
    for token in [
        word("SELECT"),
        made(Token::Mul),
        word("FROM"),
        made(Token::LParen),
    ] {
        head.extend([token, blank()]);
    }
    edits.put_all(first..first, head);
    let mut tail = vec![blank()];
    for token in [
        made(Token::RParen),
        word("AS"),
        made(Token::make_word(NO_DATA, Some('"'))),
        word("LIMIT"),
        made(Token::Number("0".to_owned(), false)),
    ] {
        tail.extend([token, blank()]);
    }
    edits.put_all(data..end, tail);
}

fn recursive_view(
    tokens: &[TokenWithSpan],
    recursive: usize,
    view: usize,
    end: usize,
    edits: &mut Edits,
) {
    let all = visible(tokens, view + 1, end);
    let Some(open) = all.iter().position(|at| tokens[*at].token == Token::LParen) else {
        return;
    };
    let Some(close) = all.iter().position(|at| tokens[*at].token == Token::RParen) else {
        return;
    };
    let Some(at) = all.iter().position(|at| is_word(&tokens[*at], "AS")) else {
        return;
    };
    let (Some(name), Some(first)) = (
        open.checked_sub(1).and_then(|at| all.get(at)),
        all.get(at + 1).copied(),
    ) else {
        return;
    };
    if !(open < close && close < at) {
        return;
    }
    let like = &tokens[first];
    let made = |token: Token| TokenWithSpan {
        token,
        span: like.span,
    };
    let word = |text: &str| made(Token::make_word(text, None));
    let blank = || made(Token::Whitespace(Whitespace::Space));
    let columns = &tokens[all[open]..=all[close]];
    let mut head = Vec::new();
    for token in [word("WITH"), word("RECURSIVE"), tokens[*name].clone()] {
        head.extend([token, blank()]);
    }
    head.extend(columns.iter().cloned());
    for token in [word("AS"), made(Token::LParen)] {
        head.extend([blank(), token]);
    }
    head.push(blank());
    let mut tail = vec![
        blank(),
        made(Token::RParen),
        blank(),
        word("SELECT"),
        blank(),
    ];
    tail.extend(columns[1..columns.len() - 1].iter().cloned());
    tail.extend([
        blank(),
        word("FROM"),
        blank(),
        tokens[*name].clone(),
        blank(),
    ]);
    edits.take(recursive..recursive + 1);
    edits.put_all(first..first, head);
    edits.put_all(end..end, tail);
}

#[cfg(test)]
mod tests {
    use crate::statement::parse_one;

    #[test]
    fn forms_that_the_grammar_lacks() {
        for (written, read) in [
            ("create unlogged table t (a int)", "CREATE TABLE t (a INT)"),
            (
                "CREATE TABLE t (a INT) WITHOUT OIDS",
                "CREATE TABLE t (a INT)",
            ),
            (
                "CREATE TABLE t AS SELECT 1 AS a WITH DATA",
                "CREATE TABLE t AS SELECT 1 AS a",
            ),
            (
                "CREATE TABLE t AS SELECT 1 AS a WITH NO DATA",
                "CREATE TABLE t AS SELECT * FROM (SELECT 1 AS a) AS \"no data\" LIMIT 0",
            ),
            (
                "CREATE TABLE t (b) AS SELECT 1 AS a WITH NO DATA",
                "CREATE TABLE t AS SELECT * FROM (SELECT * FROM (SELECT 1 AS a) AS \"no data\" LIMIT 0) AS t (b)",
            ),
            (
                "CREATE RECURSIVE VIEW s.v (a) AS VALUES (1) UNION ALL SELECT a + 1 FROM v WHERE a < 3",
                "CREATE VIEW s.v (a) AS WITH RECURSIVE v (a) AS (VALUES (1) UNION ALL SELECT a + 1 FROM v WHERE a < 3) SELECT a FROM v",
            ),
            (
                "CREATE TABLE t AS EXECUTE q (1, 'x') WITH NO DATA",
                "CREATE TABLE t AS SELECT * FROM \"\u{1}execute q\"(1, 'x') LIMIT 0",
            ),
            (
                "CREATE TABLE t AS EXECUTE q",
                "CREATE TABLE t AS SELECT * FROM \"\u{1}execute q\"()",
            ),
        ] {
            assert_eq!(parse_one(written).unwrap().to_string(), read, "{written}");
        }
    }
}
