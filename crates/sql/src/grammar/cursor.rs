//! FETCH and MOVE, in all the forms that PostgreSQL takes.

use sqlparser::ast::{FetchDirection, Ident, ObjectName, Statement as Ast, Value};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

/// Where a MOVE puts its rows: a name that no user can write.
const NOWHERE: &str = "moved over";

/// Reads a FETCH or a MOVE.
///
/// # Errors
/// Errors in it.
pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Option<Ast>, ParserError> {
    let Token::Word(word) = parser.peek_token().token else {
        return Ok(None);
    };
    let moves = word.quote_style.is_none() && word.value.eq_ignore_ascii_case("MOVE");
    if !moves && word.keyword != Keyword::FETCH {
        return Ok(None);
    }
    parser.next_token();
    let direction = direction(parser)?;
    let _ = parser.parse_one_of_keywords(&[Keyword::FROM, Keyword::IN]);
    let name = parser.parse_identifier()?;
    Ok(Some(Ast::Fetch {
        name,
        direction,
        position: sqlparser::ast::FetchPosition::From,
        into: moves.then(|| ObjectName::from(vec![Ident::new(NOWHERE)])),
    }))
}

fn direction(parser: &mut Parser<'_>) -> Result<FetchDirection, ParserError> {
    use Keyword::{ABSOLUTE, ALL, BACKWARD, FIRST, FORWARD, LAST, NEXT, PRIOR, RELATIVE};
    let words = [
        NEXT, PRIOR, FIRST, LAST, ABSOLUTE, RELATIVE, ALL, FORWARD, BACKWARD,
    ];
    let Some(word) = parser.parse_one_of_keywords(&words) else {
        return Ok(match number(parser)? {
            Some(limit) => FetchDirection::Count { limit },
            None => FetchDirection::Next,
        });
    };
    Ok(match word {
        PRIOR => FetchDirection::Prior,
        FIRST => FetchDirection::First,
        LAST => FetchDirection::Last,
        ALL => FetchDirection::All,
        FORWARD if parser.parse_keyword(ALL) => FetchDirection::ForwardAll,
        FORWARD => FetchDirection::Forward {
            limit: number(parser)?,
        },
        BACKWARD if parser.parse_keyword(ALL) => FetchDirection::BackwardAll,
        BACKWARD => FetchDirection::Backward {
            limit: number(parser)?,
        },
        ABSOLUTE | RELATIVE => match number(parser)? {
            Some(limit) if word == ABSOLUTE => FetchDirection::Absolute { limit },
            Some(limit) => FetchDirection::Relative { limit },
            None => return parser.expected("a number", parser.peek_token()),
        },
        _ => FetchDirection::Next,
    })
}

/// A number with its sign, if there is one.
fn number(parser: &mut Parser<'_>) -> Result<Option<sqlparser::ast::ValueWithSpan>, ParserError> {
    let negative = parser.consume_token(&Token::Minus);
    if !negative {
        let _ = parser.consume_token(&Token::Plus);
    }
    match parser.peek_token().token {
        Token::Number(digits, _) => {
            parser.next_token();
            let sign = if negative { "-" } else { "" };
            Ok(Some(
                Value::Number(format!("{sign}{digits}"), false).with_empty_span(),
            ))
        }
        _ if negative => parser.expected("a number", parser.peek_token()),
        _ => Ok(None),
    }
}

/// Whether a FETCH gives rows: a MOVE does not.
pub(crate) fn gives_rows(into: Option<&ObjectName>) -> bool {
    into.is_none()
}
