//! Text to statements.
//!
//! | module | does |
//! |---|---|
//! | `lexeme` | text to lexemes, as PostgreSQL's scanner reads it |
//! | `words` | which words may be names, and where |
//! | `reader` | finds what is no sentence of PostgreSQL's grammar, and writes the rest for `sqlparser` |
//! | `marks` | names that stand for forms which `sqlparser` lacks |
//! | `dialect` | the dialect of `sqlparser` |
//!
//! The tree is `sqlparser`'s. Errors of syntax are found by `reader`; what only `sqlparser`
//! refuses is understood, but not offered.

mod dialect;
mod lexeme;
pub(crate) mod marks;
mod reader;
mod words;

use sqlparser::ast::{Query, Statement};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::{Error, Position, Result};

pub use dialect::Dialect;
use lexeme::Lexeme;
use reader::Reader;

/// Brackets inside brackets, at most.
const NESTING: usize = 3_000;

/// The tokens of a text, brought into forms that the grammar has.
///
/// # Errors
/// `42601`, with the place.
pub fn tokens(sql: &str) -> Result<Vec<TokenWithSpan>> {
    let lexemes = lexeme::lexemes(sql)?;
    Reader::new(sql, &lexemes).statements()
}

/// The statements of a text.
///
/// # Errors
/// `42601`, with the place.
pub fn statements(sql: &str) -> Result<Vec<Statement>> {
    let lexemes = lexeme::lexemes(sql)?;
    let tokens = Reader::new(sql, &lexemes).statements()?;
    let mut parser = Parser::new(&Dialect)
        .with_recursion_limit(NESTING)
        .with_tokens_with_locations(tokens);
    let mut statements = Vec::new();
    loop {
        while parser.consume_token(&Token::SemiColon) {}
        if parser.peek_token().token == Token::EOF {
            return Ok(statements);
        }
        // The reader has found queries to be right; what is refused now is not offered.
        let is_query = match parser.peek_token_ref().token {
            Token::LParen => true,
            Token::Word(ref word) => matches!(
                word.keyword,
                Keyword::SELECT | Keyword::WITH | Keyword::VALUES | Keyword::FROM
            ),
            _ => false,
        };
        let statement = parser.parse_statement();
        let statement = statement.map_err(|error| {
            let error = in_words(sql, &lexemes, &error);
            match error.message.strip_prefix("syntax error ") {
                Some(place) if is_query => {
                    Error::unsupported(format!("this form of a query is not supported {place}"))
                        .at(error.position)
                }
                _ => error,
            }
        })?;
        statements.push(statement);
        let next = parser.peek_token();
        if !matches!(next.token, Token::EOF | Token::SemiColon) {
            return Err(at_place(sql, &lexemes, lexeme::position(next.span.start)));
        }
    }
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
    let lexemes = lexeme::lexemes(sql)?;
    let tokens = Reader::new(sql, &lexemes).expression()?;
    let mut parser = Parser::new(&Dialect)
        .with_recursion_limit(NESTING)
        .with_tokens_with_locations(tokens);
    let expr = parser.parse_expr().map_err(|error| syntax_error(&error))?;
    let next = parser.peek_token();
    match next.token {
        Token::EOF => Ok(expr),
        other => Err(lexeme::near(
            "syntax error",
            &shown(&other.to_string()),
            next.span.start,
        )),
    }
}

/// A parser's error in the words of the text.
fn in_words(sql: &str, lexemes: &[Lexeme], error: &ParserError) -> Error {
    let plain = syntax_error(error);
    match plain.position {
        _ if plain.sqlstate != "42601" => plain,
        None if plain.message.ends_with("end of input") => at_place(sql, lexemes, None),
        None => plain,
        position => at_place(sql, lexemes, position),
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
        Some(lexeme) if lexeme.kind != lexeme::Kind::End => {
            let text = sql.get(lexeme.start..lexeme.end).unwrap_or("");
            lexeme::near("syntax error", text, lexeme.span.start)
        }
        end => Error::new("42601", "syntax error at end of input")
            .at(end.and_then(|end| lexeme::position(end.span.start))),
    }
}

/// A text of the tree without the names that stand for forms.
pub(crate) fn shown(text: &str) -> String {
    text.replace(marks::QUOTE, "")
}

/// A parser's error in PostgreSQL's words.
pub fn syntax_error(error: &ParserError) -> Error {
    let text = match error {
        ParserError::RecursionLimitExceeded => {
            return Error::new("54001", "stack depth limit exceeded")
                .with_hint("The statement has too many levels of nesting.");
        }
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
    };
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
            "SELECT * EXCLUDE (a) FROM t GROUP BY ALL ORDER BY ALL",
            "SELECT count(*) FILTER (WHERE x) FROM t QUALIFY row_number() OVER () = 1",
        ] {
            assert!(query(text).is_ok(), "{text}: {:?}", query(text));
        }
        assert!(query("SELECT 12abc").is_err());
    }

    #[test]
    fn errors_have_places() {
        let error = statements("SELECT 1;\nSELECT (1 2)").unwrap_err();
        assert_eq!(
            (error.sqlstate, error.position.map(|p| p.line)),
            ("42601", Some(2))
        );
    }
}
