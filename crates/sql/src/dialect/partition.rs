//! `CREATE TABLE … PARTITION OF` and `PARTITION BY` in forms that the grammar lacks.
//!
//! | written | becomes |
//! |---|---|
//! | `PARTITION OF t (b DEFAULT 1)` | `PARTITION OF t (b` a type that nobody can name `DEFAULT 1)` |
//! | `PARTITION OF t (b WITH OPTIONS NOT NULL)` | the same with NOT NULL |
//! | `PARTITION BY RANGE (a) WITH (…)` | `WITH (…) PARTITION BY RANGE (a)` |

use sqlparser::ast::{ColumnDef, DataType};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace, Word};

use super::edits::Edits;
use super::{is_blank, words};

/// The type of a column whose parent says it: no type of a user has the name without quotes.
const UNTYPED: &str = "of the parent";

/// Whether a column was written without a type.
pub(crate) fn is_untyped(column: &ColumnDef) -> bool {
    matches!(&column.data_type, DataType::Custom(name, _)
    if name.0.len() == 1 && name.0[0].as_ident().is_some_and(|ident| {
        ident.value == UNTYPED && ident.quote_style.is_none()
    }))
}

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    let mut creates = false;
    let mut at = 0;
    while at < tokens.len() {
        let heads = words(tokens, at, 2);
        let heads: Vec<&str> = heads.iter().map(|(_, word)| word.as_str()).collect();
        match heads.as_slice() {
            ["CREATE", ..] if begins(tokens, at) => creates = true,
            ["PARTITION", "OF"] if creates && !is_blank(&tokens[at]) => {
                at = columns(tokens, at, &mut edits);
                continue;
            }
            ["PARTITION", "BY"] if creates && !is_blank(&tokens[at]) => {
                options(tokens, at, &mut edits);
            }
            _ => {}
        }
        creates &= tokens[at].token != Token::SemiColon;
        at += 1;
    }
    edits.make(tokens);
}

/// Whether a statement begins here.
fn begins(tokens: &[TokenWithSpan], at: usize) -> bool {
    let mut before = tokens[..at].iter().rev().filter(|token| !is_blank(token));
    before
        .next()
        .is_none_or(|token| token.token == Token::SemiColon)
}

/// The end of brackets that open at a place.
fn closing(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    tokens
        .iter()
        .enumerate()
        .skip(open)
        .find_map(|(at, token)| {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            (depth == 0).then_some(at)
        })
}

fn next_visible(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    (from..tokens.len()).find(|at| !is_blank(&tokens[*at]))
}

/// Gives columns of a partition a type; returns where to go on.
fn columns(tokens: &[TokenWithSpan], from: usize, edits: &mut Edits) -> usize {
    // The parent's name ends where brackets or a bound begin.
    let mut at = from + 1;
    while let Some(token) = tokens.get(at) {
        match &token.token {
            Token::LParen => break,
            Token::SemiColon => return at,
            Token::Word(word)
                if word.quote_style.is_none()
                    && ["FOR", "DEFAULT"].contains(&word.value.to_uppercase().as_str()) =>
            {
                return at;
            }
            _ => at += 1,
        }
    }
    let Some(end) = closing(tokens, at) else {
        return at.max(from + 1);
    };
    let (mut depth, mut first) = (0_usize, true);
    for place in at..end {
        match &tokens[place].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Comma if depth == 1 => first = true,
            Token::Word(word) if first && depth == 1 => {
                first = false;
                let name = word.value.to_uppercase();
                let constraints = [
                    "CONSTRAINT",
                    "PRIMARY",
                    "UNIQUE",
                    "CHECK",
                    "FOREIGN",
                    "EXCLUDE",
                    "LIKE",
                ];
                if word.quote_style.is_none() && constraints.contains(&name.as_str()) {
                    continue;
                }
                let after = words(tokens, place + 1, 2);
                let options = matches!(after.as_slice(), [(_, with), (_, options)]
                    if with == "WITH" && options == "OPTIONS");
                let said = after.first().is_none_or(|(_, word)| {
                    let known = [
                        "DEFAULT",
                        "NOT",
                        "NULL",
                        "CHECK",
                        "PRIMARY",
                        "UNIQUE",
                        "CONSTRAINT",
                        "REFERENCES",
                        "GENERATED",
                        "COLLATE",
                    ];
                    known.contains(&word.as_str())
                });
                let next = next_visible(tokens, place + 1);
                let ends = next
                    .is_some_and(|next| matches!(tokens[next].token, Token::Comma | Token::RParen));
                if !options && !said && !ends {
                    continue;
                }
                let made = |token: Token| TokenWithSpan {
                    token,
                    span: tokens[place].span,
                };
                let untyped = made(Token::Word(Word {
                    value: UNTYPED.to_owned(),
                    quote_style: None,
                    keyword: Keyword::NoKeyword,
                }));
                let blank = || made(Token::Whitespace(Whitespace::Space));
                let last = match (options, after.get(1)) {
                    (true, Some((last, _))) => last + 1,
                    _ => place + 1,
                };
                edits.put_all(place + 1..last, vec![blank(), untyped, blank()]);
            }
            _ => first &= is_blank(&tokens[place]),
        }
    }
    end
}

/// Brings options of the table before its partition key.
fn options(tokens: &[TokenWithSpan], from: usize, edits: &mut Edits) {
    let Some(open) = (from..tokens.len()).find(|at| tokens[*at].token == Token::LParen) else {
        return;
    };
    let Some(close) = closing(tokens, open) else {
        return;
    };
    let Some(with) = next_visible(tokens, close + 1) else {
        return;
    };
    let is_with = matches!(&tokens[with].token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("WITH"));
    let brackets = next_visible(tokens, with + 1).filter(|at| tokens[*at].token == Token::LParen);
    let Some(end) = brackets
        .and_then(|at| closing(tokens, at))
        .filter(|_| is_with)
    else {
        return;
    };
    let mut put = tokens[with..=end].to_vec();
    put.push(TokenWithSpan {
        token: Token::Whitespace(Whitespace::Space),
        span: tokens[from].span,
    });
    put.extend(tokens[from..=close].iter().cloned());
    edits.put_all(from..end + 1, put);
}
