//! ADVISE, PILOT, APPLY and UNDO ADVICE, RESET WORKLOAD: statements that no parser knows.

use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// A statement of the advisor's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    /// Of all tables, by their recorded workloads.
    Everything,
    /// Of one table, written as in SQL.
    Table(String),
    /// For some queries, whatever was recorded.
    Queries(Vec<String>),
    /// To try advice on some blocks.
    Pilot(u64),
    /// To do what was advised.
    Apply(u64),
    /// To take it back.
    Undo(u64),
    /// To forget what was recorded.
    Reset,
}

/// Reads one of the statements, if the next one is one.
///
/// # Errors
/// Errors in it.
pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Option<Asked>, ParserError> {
    let words = (word(parser, 0), word(parser, 1));
    let (Some(first), second) = (words.0.as_deref(), words.1.as_deref()) else {
        return Ok(None);
    };
    let asked = match (first, second) {
        ("ADVISE", _) => {
            parser.next_token();
            advise(parser)?
        }
        ("RESET", Some("WORKLOAD")) => {
            parser.next_token();
            parser.next_token();
            Asked::Reset
        }
        ("PILOT" | "APPLY" | "UNDO", Some("ADVICE")) => {
            let first = first.to_owned();
            parser.next_token();
            parser.next_token();
            let number = parser.parse_literal_uint()?;
            match first.as_str() {
                "PILOT" => Asked::Pilot(number),
                "APPLY" => Asked::Apply(number),
                _ => Asked::Undo(number),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(asked))
}

fn advise(parser: &mut Parser<'_>) -> Result<Asked, ParserError> {
    if parser.parse_keyword(Keyword::TABLE) {
        return Ok(Asked::Table(parser.parse_object_name(false)?.to_string()));
    }
    if !parser.parse_keyword(Keyword::FOR) {
        return Ok(Asked::Everything);
    }
    parser.expect_token(&Token::LParen)?;
    let mut queries = Vec::new();
    loop {
        queries.push(parser.parse_query()?.to_string());
        let more = parser.consume_token(&Token::SemiColon);
        if parser.consume_token(&Token::RParen) {
            return Ok(Asked::Queries(queries));
        }
        if !more {
            return parser.expected("; or )", parser.peek_token());
        }
    }
}

/// The word at a distance, in upper case.
fn word(parser: &Parser<'_>, distance: usize) -> Option<String> {
    match parser.peek_nth_token(distance).token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
        _ => None,
    }
}

impl Asked {
    /// Whether it answers with rows.
    pub(crate) fn returns_rows(&self) -> bool {
        !matches!(self, Self::Apply(_) | Self::Undo(_) | Self::Reset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{OwnStatement, Tree};
    use crate::statement::parse;

    fn asked(sql: &str) -> Option<Asked> {
        let parsed = parse(sql).unwrap();
        assert_eq!(parsed.len(), 1, "{sql}");
        match parsed[0].tree() {
            Tree::Own(OwnStatement::Advice(asked)) => Some(asked.clone()),
            _ => None,
        }
    }

    #[test]
    fn statements_of_the_advisor_are_read() {
        assert_eq!(asked("ADVISE"), Some(Asked::Everything));
        assert_eq!(
            asked("advise table \"T\".a;"),
            Some(Asked::Table("\"T\".a".into()))
        );
        let queries = Asked::Queries(vec!["SELECT 'it''s'".into(), "SELECT a FROM t".into()]);
        assert_eq!(
            asked("ADVISE FOR (SELECT 'it''s'; SELECT a FROM t;)"),
            Some(queries)
        );
        assert_eq!(asked("PILOT ADVICE 2"), Some(Asked::Pilot(2)));
        assert_eq!(asked("apply advice 3"), Some(Asked::Apply(3)));
        assert_eq!(asked("UNDO ADVICE 3"), Some(Asked::Undo(3)));
        assert_eq!(asked("RESET WORKLOAD"), Some(Asked::Reset));
    }

    #[test]
    fn nobody_else_can_call_it() {
        assert_eq!(asked("CALL \"advise it\"('everything')"), None);
        assert_eq!(asked("CALL advise('everything')"), None);
        assert_eq!(asked("RESET threads"), None);
    }

    #[test]
    fn errors_say_where() {
        for wrong in [
            "ADVISE FOR SELECT 1",
            "ADVISE FOR (SELECT 1",
            "APPLY ADVICE x",
            "ADVISE it",
        ] {
            let error = parse(wrong).unwrap_err();
            assert_eq!(error.sqlstate, "42601", "{wrong}: {error:?}");
        }
        // Two statements, the second of which begins with a semicolon of its own.
        assert_eq!(parse("ADVISE; SELECT 1").unwrap().len(), 2);
    }
}
