//! Text to statements.
//!
//! | module | does |
//! |---|---|
//! | `lexeme` | text to lexemes, as PostgreSQL's scanner reads it |
//! | `words` | which words may be names, and where |
//! | `reader` | finds what is no sentence of PostgreSQL's grammar, and writes the rest for `sqlparser` |
//! | `marks` | names that stand for forms which `sqlparser` lacks |
//! | `dialect` | the dialect of `sqlparser` |
//! | `balance` | long chains as balanced trees |
//! | `walk` | walks over trees, compiled once |
//!
//! A text of few levels is parsed where it is asked for; another one on a great stack, and its
//! long chains become balanced trees there.
//!
//! The tree is `sqlparser`'s. Errors of syntax are found by `reader`; what only `sqlparser`
//! refuses is understood, but not offered.

mod balance;
mod dialect;
mod lexeme;
pub mod marks;
mod reader;
pub mod strength;
pub mod walk;
mod words;

use sqlparser::ast::{Query, Statement};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::{Error, Position, Result};

pub use balance::{balance, is_deeper};
pub use dialect::Dialect;
use lexeme::{Kind, Lexeme};
use reader::Reader;

/// Brackets inside brackets, at most.
const NESTING: usize = 3_500;

/// Brackets inside brackets that any thread has room for, and as many NOTs and CASEs.
const FLAT: usize = if cfg!(debug_assertions) { 2 } else { 10 };

/// Levels of the grammar that such a text has at most: operators that bind closer and closer
/// are some in each bracket.
const FLAT_LEVELS: usize = if cfg!(debug_assertions) { 80 } else { 250 };

/// Levels that the reader has room for on any thread.
const FLAT_READS: usize = if cfg!(debug_assertions) { 25 } else { 60 };

/// The parser's message when it is to stop.
const INTERRUPTED: &str = "interrupted";

/// Tokens of a text whose chains of operators any thread has room for.
const FEW: usize = 2_000;

/// The tokens of a text, brought into forms that the grammar has.
///
/// # Errors
/// `42601`, with the place; `54001` for too many levels of nesting.
pub fn tokens(sql: &str) -> Result<Vec<TokenWithSpan>> {
    let lexemes = lexeme::lexemes(sql)?;
    read(sql, &lexemes, |reader| reader.statements())
}

/// The names of a text that are longer than names may be, each with the part of it that is read.
pub fn cut_names(sql: &str) -> Vec<(String, String)> {
    if !may_cut(sql) {
        return Vec::new();
    }
    let all = lexeme::whole(sql).unwrap_or_default().into_iter();
    let cut = all.filter_map(|lexeme| match lexeme.kind {
        Kind::Word(name) | Kind::Quoted(name) => {
            let kept = lexeme::kept_name(&name).to_owned();
            (kept != name).then_some((name, kept))
        }
        _ => None,
    });
    cut.collect()
}

/// Whether a text may have a name that is cut: a row of many bytes that could be one.
fn may_cut(sql: &str) -> bool {
    let mut length = 0;
    sql.bytes().any(|byte| {
        // A name in quotes may have anything in it.
        length = match byte {
            b'"' => return sql.len() > lexeme::NAME,
            byte if byte.is_ascii_alphanumeric() || !byte.is_ascii() => length + 1,
            b'_' | b'$' => length + 1,
            _ => 0,
        };
        length > lexeme::NAME
    })
}

/// Reads lexemes where there is room: those of few levels here, others on a great stack.
fn read(
    sql: &str,
    lexemes: &[Lexeme],
    by: fn(Reader<'_>) -> Result<Vec<TokenWithSpan>>,
) -> Result<Vec<TokenWithSpan>> {
    dimensions(lexemes)?;
    match by(Reader::new(sql, lexemes, FLAT_READS)) {
        Err(error) if error.sqlstate == "54001" => {
            crate::stack::on_great_stack(move || by(Reader::new(sql, lexemes, NESTING)))
        }
        done => done,
    }
}

/// Most pairs of brackets in a row: the grammar makes a tree of them that is as deep.
const DIMENSIONS: usize = 100;

/// Refuses a type of very many dimensions.
fn dimensions(lexemes: &[Lexeme]) -> Result<()> {
    let mut pairs = 0;
    let mut rest = lexemes;
    loop {
        rest = match rest {
            [
                Lexeme {
                    kind: Kind::Mark("["),
                    ..
                },
                Lexeme {
                    kind: Kind::Mark("]"),
                    ..
                },
                rest @ ..,
            ] => {
                pairs += 1;
                rest
            }
            // The grammar counts pairs that the reader empties.
            [
                Lexeme {
                    kind: Kind::Mark("["),
                    ..
                },
                Lexeme {
                    kind: Kind::Number(_),
                    ..
                },
                Lexeme {
                    kind: Kind::Mark("]"),
                    ..
                },
                rest @ ..,
            ] => rest,
            [_, rest @ ..] => {
                pairs = 0;
                rest
            }
            [] => return Ok(()),
        };
        if pairs > DIMENSIONS {
            let message = "number of array dimensions exceeds the maximum allowed (6)";
            return Err(Error::new("54000", message));
        }
    }
}

/// The statements of a text.
///
/// # Errors
/// `42601`, with the place; `54001` for too many levels of nesting.
pub fn statements(sql: &str) -> Result<Vec<Statement>> {
    let lexemes = lexeme::lexemes(sql)?;
    let tokens = read(sql, &lexemes, |reader| reader.statements())?;
    let words = |error: &ParserError| in_words(sql, &lexemes, error);
    parsed(tokens, all_statements, words, |statements| {
        statements.iter_mut().try_for_each(balance::balance)
    })
}

/// Parses tokens where there is room: a text of few levels here, another one on a great stack,
/// where its long chains become balanced trees.
fn parsed<T: Send>(
    tokens: Vec<TokenWithSpan>,
    parse: impl Fn(&mut Parser<'_>) -> Result<T, ParserError> + Send,
    words: impl Fn(&ParserError) -> Error + Send,
    balance: impl Fn(&mut T) -> Result<()> + Send,
) -> Result<T> {
    let with = |levels: usize, tokens| {
        dialect::begin();
        Parser::new(&Dialect)
            .with_recursion_limit(levels)
            .with_tokens_with_locations(tokens)
    };
    let mut tokens = tokens;
    if tokens.len() <= FEW && nesting(&tokens) <= FLAT {
        let mut parser = with(FLAT_LEVELS, tokens);
        match parse(&mut parser) {
            Ok(done) => return Ok(done),
            // The grammar may hide that it came to its limit behind another error.
            Err(_) => tokens = parser.into_tokens(),
        }
    }
    crate::stack::on_great_stack(move || {
        let mut parser = with(NESTING, tokens);
        let mut done = parse(&mut parser).map_err(|error| words(&error))?;
        balance(&mut done)?;
        Ok(done)
    })
}

/// The most brackets inside of each other, or the number of words that nest without brackets.
fn nesting(tokens: &[TokenWithSpan]) -> usize {
    let (mut open, mut most, mut words) = (0usize, 0, 0);
    for token in tokens {
        match &token.token {
            Token::LParen | Token::LBracket => {
                open += 1;
                most = most.max(open);
            }
            Token::RParen | Token::RBracket => open = open.saturating_sub(1),
            Token::Word(word) if matches!(word.keyword, Keyword::NOT | Keyword::CASE) => words += 1,
            _ => {}
        }
    }
    most.max(words)
}

fn all_statements(parser: &mut Parser<'_>) -> Result<Vec<Statement>, ParserError> {
    let mut statements = Vec::new();
    loop {
        while parser.consume_token(&Token::SemiColon) {}
        if parser.peek_token_ref().token == Token::EOF {
            return Ok(statements);
        }
        statements.push(parser.parse_statement()?);
        let next = parser.peek_token_ref();
        if !matches!(next.token, Token::EOF | Token::SemiColon) {
            return Err(unexpected(next));
        }
    }
}

/// The error of a token that may not stand where it does, in the parser's form.
fn unexpected(token: &TokenWithSpan) -> ParserError {
    let TokenWithSpan { token, span } = token;
    let text = format!("Expected: end of statement, found: {token}{}", span.start);
    ParserError::ParserError(text)
}

/// The only query of a text.
///
/// # Errors
/// `42601`, also for other statements.
pub fn query(sql: &str) -> Result<Box<Query>> {
    let mut all = statements(sql)?;
    match (all.pop(), all.is_empty()) {
        (Some(Statement::Query(query)), true) => Ok(query),
        _ => Err(Error::new("42601", "expected exactly one query")),
    }
}

/// An expression that stands alone.
///
/// # Errors
/// `42601`.
pub fn expression(sql: &str) -> Result<sqlparser::ast::Expr> {
    let parse = |parser: &mut Parser<'_>| {
        let expr = parser.parse_expr()?;
        let next = parser.peek_token_ref();
        match next.token {
            Token::EOF => Ok(expr),
            _ => Err(unexpected(next)),
        }
    };
    let lexemes = lexeme::lexemes(sql)?;
    let tokens = read(sql, &lexemes, |reader| reader.expression())?;
    let words = |error: &ParserError| in_words(sql, &lexemes, error);
    parsed(tokens, parse, words, balance::balance)
}

/// A parser's error in the words of the text. The reader has found queries to be right; what
/// is refused in them now is not offered.
fn in_words(sql: &str, lexemes: &[Lexeme], error: &ParserError) -> Error {
    let plain = syntax_error(error);
    let at_end = plain.message.ends_with("end of input");
    if plain.sqlstate != "42601" || plain.position.is_none() && !at_end {
        return plain;
    }
    let error = at_place(sql, lexemes, plain.position);
    match error.message.strip_prefix("syntax error ") {
        Some(place) if in_query(lexemes, error.position) => {
            Error::unsupported(format!("this form of a query is not supported {place}"))
                .at(error.position)
        }
        _ => error,
    }
}

/// Whether the statement at a place is a query.
fn in_query(lexemes: &[Lexeme], position: Option<Position>) -> bool {
    let before = |lexeme: &&Lexeme| {
        let start = lexeme.span.start;
        position.is_none_or(|place| (start.line, start.column) < (place.line, place.column))
    };
    let mut first = None;
    for lexeme in lexemes.iter().take_while(before) {
        match &lexeme.kind {
            Kind::Mark(";") => first = None,
            kind => first = first.or(Some(kind)),
        }
    }
    match first {
        Some(Kind::Mark(mark)) => *mark == "(",
        Some(Kind::Word(word)) => {
            matches!(
                word.as_str(),
                "select" | "with" | "values" | "from" | "table"
            )
        }
        _ => false,
    }
}

/// The error of a lexeme at a place that fits nowhere.
fn at_place(sql: &str, lexemes: &[Lexeme], position: Option<Position>) -> Error {
    let found = position.and_then(|position| {
        let key = |lexeme: &Lexeme| (lexeme.span.start.line, lexeme.span.start.column);
        let at = lexemes.binary_search_by_key(&(position.line, position.column), key);
        lexemes.get(at.ok()?)
    });
    match found.or(lexemes.last()) {
        Some(lexeme) if lexeme.kind != Kind::End => {
            let text = sql.get(lexeme.start..lexeme.end).unwrap_or("");
            lexeme::near("syntax error", text, lexeme.span.start)
        }
        end => Error::new("42601", "syntax error at end of input")
            .at(end.and_then(|end| lexeme::position(end.span.start))),
    }
}

/// A text of the tree without the quotes of names that stand for forms.
pub(crate) fn shown(text: &str) -> String {
    let begin = [marks::QUOTE, marks::FIRST].iter().collect::<String>();
    let mut shown = String::with_capacity(text.len());
    let mut parts = text.split(begin.as_str());
    shown.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let (name, rest) = part.split_once(marks::QUOTE).unwrap_or((part, ""));
        shown.push_str(name);
        shown.push_str(rest);
    }
    shown
}

/// A parser's error in PostgreSQL's words.
pub fn syntax_error(error: &ParserError) -> Error {
    let text = match error {
        ParserError::RecursionLimitExceeded => {
            return crate::stack::too_complex();
        }
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
    };
    // It may have tried something else behind the place where it was stopped.
    if let Err(error) = crate::interrupt::now() {
        return error;
    }
    let (before, position) = placed(text);
    // "Expected: an expression, found: FROM"
    let message = match before.rsplit_once("found: ") {
        Some((_, "EOF")) => "syntax error at end of input".to_owned(),
        Some((_, found)) => format!("syntax error at or near \"{found}\""),
        // The parser's other messages may hold its own trees.
        None => "syntax error".to_owned(),
    };
    Error::new("42601", message).at(position)
}

/// The place at the end of a parser's message, and the rest.
fn placed(text: &str) -> (&str, Option<Position>) {
    let Some((before, place)) = text.rsplit_once(" at Line: ") else {
        return (text, None);
    };
    let mut parts = place.split(", Column: ");
    let mut number = || parts.next().and_then(|digits| digits.trim().parse().ok());
    match (number(), number()) {
        (Some(line), Some(column)) => (before, Some(Position { line, column })),
        _ => (before, None),
    }
}

#[cfg(test)]
mod tests {
    use super::{query, statements};

    #[test]
    fn forms_that_the_grammar_lacks() {
        for text in [
            "SELECT sum(x) OVER (ORDER BY x ROWS 1 PRECEDING EXCLUDE TIES) FROM t",
            "SELECT sum(x) OVER (ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE NO OTHERS) FROM t",
            "SELECT trim(LEADING FROM x), trim(FROM x), trim(BOTH FROM x) FROM t",
            "SELECT 2 BETWEEN SYMMETRIC 3 AND 1 AND true",
            "SELECT x ISNULL, x NOTNULL FROM t",
            "SELECT 1 FETCH FIRST (1 + 1) ROWS ONLY",
            "SELECT 1 FETCH FIRST (2) ROWS WITH TIES",
            "TABLE t",
            "SELECT * FROM t JOIN u USING (a) WHERE x>-1",
            "SELECT 0x1F + 0b101 + 0o17",
            "FROM t SELECT a",
            "FROM t",
            "FROM t WHERE a = 1 LIMIT 10%",
            "SELECT * EXCLUDE (a) FROM t GROUP BY ALL ORDER BY ALL",
            "SELECT count(*) FILTER (WHERE x) FROM t QUALIFY row_number() OVER () = 1",
            "SELECT f(VARIADIC '{a}'::text[]), f(a, VARIADIC ARRAY[g(VARIADIC b), c])",
            "SELECT f(trim(FROM x), VARIADIC array[trim(FROM y)])",
            "SELECT list_transform(l, x -> x + 1), list_reduce(l, (a, b) -> a + b, 0)",
            "SELECT list_filter(list_transform(l, x -> f(x, 1)), (y, i) -> y -> 'a' IS NULL)",
            "SELECT a FROM t GROUP BY DISTINCT ROLLUP (a, (b, c)), GROUPING SETS ((), CUBE (a))",
            "SELECT j.id FROM t LEFT JOIN u USING (id) AS j",
            "SELECT (t.*)::text, row(t.*, 1), count(t.*) FROM t",
            "SELECT * FROM ROWS FROM (f(1), g(2) AS (a int, b text)) WITH ORDINALITY AS r (a, b)",
            "SELECT * FROM f(1) AS (a int, b text)",
            "SELECT b FROM t ORDER BY b USING > NULLS FIRST, a USING <",
            "WITH RECURSIVE t (a) AS (SELECT 1) SEARCH DEPTH FIRST BY a SET o CYCLE a SET m TO 'x' \
             DEFAULT 'y' USING p SELECT * FROM t",
            "SELECT x LIKE ANY (ARRAY['a']), x NOT ILIKE ALL (y), 1 = ANY (VALUES (1)) FROM t",
            "SELECT substring(a SIMILAR b ESCAPE c), overlay(a PLACING b FROM 1 FOR 2) FROM t",
            "SELECT position(a IN b), extract(year FROM d), normalize(x, NFD), x IS NOT NFC NORMALIZED FROM t",
            "SELECT interval '1.5' second(3), interval(3) '1', timestamp(3) with time zone '2020-01-01'",
            "SELECT 1 AS year, 2 AS select, s.end FROM s year",
            "SELECT FROM t UNION SELECT",
            "SELECT a FROM t *, ONLY (u), LATERAL f(x) FOR UPDATE OF t SKIP LOCKED LIMIT 1",
            "SELECT @ - 5, |/ 25, 1 OPERATOR(pg_catalog.+) 2, a COLLATE \"C\" < b FROM t",
            "SELECT 1 and, 2 is, 3 collate",
            "SELECT x: 1, a, FROM t",
            "WITH q AS (SELECT 1) SELECT * FROM q WHERE a = ANY (ARRAY[1]) AND b > ALL (SELECT 2)",
            "SELECT 'a'\n'b'",
            "SELECT * FROM a JOIN b JOIN c ON b.x = c.x ON a.x = b.x",
            "SELECT * FROM a ASOF JOIN b ON a.t >= b.t",
            "SELECT year, value, \"select\" FROM day AS month (hour)",
        ] {
            assert!(query(text).is_ok(), "{text}: {:?}", query(text));
        }
    }

    #[test]
    fn statements_that_are_no_queries() {
        for text in [
            "WITH q AS (SELECT 7 AS id) UPDATE t SET id = q.id FROM q WHERE t.a IS NFC NORMALIZED",
            "WITH m AS (DELETE FROM t RETURNING t.*) INSERT INTO u SELECT a, b FROM m",
            "INSERT INTO t (year, b) VALUES (DEFAULT, trim(BOTH FROM 'x')), (2, substring('a' FROM 1))",
            "CREATE TABLE t (a int CHECK (a BETWEEN SYMMETRIC 3 AND 1), b text DEFAULT trim(FROM 'x'))",
            "DELETE FROM t WHERE a LIKE ANY (ARRAY['x']) AND b ISNULL",
            "CREATE VIEW v AS (SELECT a FROM t GROUP BY DISTINCT ROLLUP (a))",
            "CREATE TABLE Mixed AS TABLE t",
            "CREATE TABLE t (a text ARRAY, b numeric(4, 2) array[3] DEFAULT ARRAY[1], c s.\"T\" ARRAY NOT NULL)",
            "ALTER TABLE t ADD COLUMN a int ARRAY, ALTER b TYPE double precision array USING ARRAY[b]",
            "INSERT INTO t TABLE u",
            "INSERT INTO s.t AS x (a, b) TABLE ONLY u",
            "INSERT INTO \"t\" FROM u ON CONFLICT DO NOTHING",
            "INSERT INTO t BY NAME FROM u",
            "EXPLAIN TABLE t",
            "EXPLAIN (COSTS OFF, ANALYZE) TABLE t",
            "EXPLAIN INSERT INTO t TABLE u",
            "DECLARE c CURSOR FOR TABLE t",
            "WITH q AS (INSERT INTO t TABLE u RETURNING a) TABLE q",
            "GRANT SELECT, INSERT ON t TO u",
            "EXPLAIN SELECT x ISNULL FROM t",
        ] {
            assert!(statements(text).is_ok(), "{text}: {:?}", statements(text));
        }
        // DEFAULT is a value of INSERT only.
        assert!(statements("VALUES (DEFAULT)").is_err());
    }

    #[test]
    fn errors_name_the_place() {
        let near = |word: &str| format!("syntax error at or near \"{word}\"");
        let end = "syntax error at end of input".to_owned();
        for (text, message, column) in [
            ("SELECT FROM WHERE", near("WHERE"), 13),
            ("SELECT 1 year", near("year"), 10),
            ("SELECT 1 +", end.clone(), 11),
            ("SELECT (1, 2", end.clone(), 13),
            ("SELECT 1)", near(")"), 9),
            ("SELECT 'a' 'b'", near("'b'"), 12),
            ("SELECT 1 < 2 < 3", near("<"), 14),
            ("SELECT a FROM t WHERE a IN 1", near("1"), 28),
            ("SELECT * FROM t JOIN u", end.clone(), 23),
            ("SELECT * FROM t CROSS JOIN u ON true", near("ON"), 30),
            ("SELECT * FROM (t)", near(")"), 17),
            ("SELECT select FROM t", near("select"), 8),
            ("SELECT a AS FROM t", near("t"), 18),
            ("SELECT 5 !", end.clone(), 11),
            ("SELECT a FROM t ORDER BY a NULLS", near("NULLS"), 28),
            ("SELECT interval '1' month to day", near("to"), 27),
            ("SELEC 1", near("SELEC"), 1),
            ("SELECT CAST(1 AS)", near(")"), 17),
            (
                "SELECT 12abc",
                "trailing junk after numeric literal at or near \"12abc\"".to_owned(),
                8,
            ),
        ] {
            let error = match statements(text) {
                Ok(_) => panic!("{text} is taken"),
                Err(error) => error,
            };
            assert_eq!(error.sqlstate, "42601", "{text}");
            assert_eq!(error.message, message, "{text}");
            assert_eq!(error.position.map(|p| p.column), Some(column), "{text}");
        }
    }

    #[test]
    fn errors_have_lines() {
        let error = statements("SELECT 1;\nSELECT (1 2)").unwrap_err();
        assert_eq!(
            (error.sqlstate, error.position.map(|p| (p.line, p.column))),
            ("42601", Some((2, 11)))
        );
    }

    #[test]
    fn no_text_is_too_deep_or_too_long() {
        // Deep statements are read by recursion.
        let reading = std::thread::Builder::new().stack_size(1 << 29);
        reading.spawn(deep_texts).unwrap().join().unwrap();
    }

    fn deep_texts() {
        for text in [
            "(".repeat(100_000),
            format!("SELECT {}", "(".repeat(50_000)),
            format!("SELECT {}1", "NOT ".repeat(50_000)),
            format!("SELECT {}1", "- ".repeat(50_000)),
            format!("SELECT {}", "[".repeat(50_000)),
            format!("SELECT a FROM {}", "(".repeat(50_000)),
            format!(
                "SELECT a FROM t GROUP BY {}",
                "GROUPING SETS (".repeat(20_000)
            ),
            format!("SELECT {}", "CASE WHEN ".repeat(20_000)),
            "/*".repeat(100_000),
            "$a$".repeat(3),
            "U&'\\".to_owned(),
            "E'\\".to_owned(),
            "\u{a0}é🙂'🙂\"".to_owned(),
        ] {
            assert!(statements(&text).is_err());
        }
    }
}
