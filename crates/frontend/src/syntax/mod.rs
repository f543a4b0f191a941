//! Text to statements.
//!
//! The grammar is `sqlparser`'s, of PostgreSQL's dialect with the friendly forms that people
//! bring from DuckDB (`dialect`). PostgreSQL has a few forms that the grammar lacks; their
//! tokens are brought into forms that it has (`adapt`), of which the binder knows what they
//! mean.

mod adapt;
mod balance;
mod dialect;
mod wrap;

use sqlparser::ast::{Query, Statement};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::error::{Error, Position, Result};

pub use adapt::adapt;
pub(crate) use adapt::{EXCLUDE, SYMMETRIC};
pub use balance::balance;
pub use dialect::Dialect;
pub(crate) use wrap::{LAMBDA, VARIADIC, WITH_LAMBDAS};

/// Brackets inside brackets, at most.
const NESTING: usize = 3_500;

/// Brackets inside brackets that any thread has room for.
const FLAT: usize = if cfg!(debug_assertions) { 25 } else { 60 };

/// Tokens of a text whose chains of operators any thread has room for.
const FEW: usize = 2_000;

/// The tokens of a text, brought into forms that the grammar has.
///
/// # Errors
/// `42601`.
pub fn tokens(sql: &str) -> Result<Vec<TokenWithSpan>> {
    let tokens = Tokenizer::new(&Dialect, sql).tokenize_with_location();
    let mut tokens = tokens.map_err(|error| syntax_error(&error.into()))?;
    adapt(&mut tokens)?;
    Ok(tokens)
}

/// The statements of a text.
///
/// # Errors
/// `42601`, with the place; `54001` for too many levels of nesting.
pub fn statements(sql: &str) -> Result<Vec<Statement>> {
    let tokens = tokens(sql)?;
    parsed(tokens, all_statements, |statements| {
        statements
            .iter_mut()
            .try_for_each(|statement| balance::balance(statement))
    })
}

/// Parses tokens where there is room: a text of few levels here, another one on a great stack,
/// where its long chains become balanced trees.
fn parsed<T: Send>(
    tokens: Vec<TokenWithSpan>,
    parse: impl Fn(&mut Parser<'_>) -> Result<T, ParserError> + Send,
    balance: impl Fn(&mut T) -> Result<()> + Send,
) -> Result<T> {
    let with = |levels: usize, tokens| {
        Parser::new(&Dialect)
            .with_recursion_limit(levels)
            .with_tokens_with_locations(tokens)
    };
    let mut tokens = tokens;
    if tokens.len() <= FEW {
        let mut parser = with(FLAT, tokens);
        match parse(&mut parser) {
            Err(ParserError::RecursionLimitExceeded) => tokens = parser.into_tokens(),
            done => return done.map_err(|error| syntax_error(&error)),
        }
    }
    crate::stack::on_great_stack(move || {
        let mut parser = with(NESTING, tokens);
        let mut done = parse(&mut parser).map_err(|error| syntax_error(&error))?;
        balance(&mut done)?;
        Ok(done)
    })
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
    parsed(tokens(sql)?, parse, balance::balance)
}

/// A parser's error in PostgreSQL's words.
pub fn syntax_error(error: &ParserError) -> Error {
    let text = match error {
        ParserError::RecursionLimitExceeded => {
            return crate::stack::too_complex();
        }
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
    };
    let (before, position) = placed(text);
    // "Expected: an expression, found: FROM"
    let message = match before.rsplit_once("found: ") {
        Some((_, "EOF")) => "syntax error at end of input".to_owned(),
        Some((_, found)) => format!("syntax error at or near \"{found}\""),
        None => format!("syntax error: {before}"),
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
            "SELECT f(VARIADIC '{a}'::text[]), f(a, VARIADIC ARRAY[g(VARIADIC b), c])",
            "SELECT f(trim(FROM x), VARIADIC array[trim(FROM y)])",
            "SELECT list_transform(l, x -> x + 1), list_reduce(l, (a, b) -> a + b, 0)",
            "SELECT list_filter(list_transform(l, x -> f(x, 1)), (y, i) -> y -> 'a' IS NULL)",
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
