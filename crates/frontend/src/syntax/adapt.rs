//! Forms of PostgreSQL that the grammar lacks, brought into forms that it has.
//!
//! | written | becomes |
//! |---|---|
//! | a frame with `EXCLUDE TIES` | a last key of ORDER BY, an identifier in quotes that nobody can write |
//! | `BETWEEN SYMMETRIC a AND b` | `BETWEEN` a call around `a`, of a function that nobody can write |
//! | `trim(LEADING FROM x)` | `trim(LEADING ' ' FROM x)` |
//! | `x ISNULL`, `x NOTNULL` | `x IS NULL`, `x IS NOT NULL` |
//! | `FETCH FIRST (n) ROWS ONLY` | `LIMIT (n)` |
//! | `TABLE t` | `SELECT * FROM t` |
//! | `0x1F`, `0b101`, `0o17` | the number in digits |
//! | `$tag$text$tag$` | `'text'` |
//! | `f(VARIADIC a)`, `f(l, x -> x + 1)` | calls around the argument (`wrap`) |
//! | `?` | `$1`, `$2` … by their order in the statement |

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use crate::error::{Error, Result};

/// The quote of identifiers that stand for forms: no text has it.
pub(super) const QUOTE: char = '`';

/// The beginning of the identifier that stands for EXCLUDE of a frame.
pub(crate) const EXCLUDE: &str = "exclude ";

/// The function that stands for SYMMETRIC.
pub(crate) const SYMMETRIC: &str = "symmetric ";

/// Changes the tokens of a text.
///
/// # Errors
/// `42601` for a number with letters behind it.
pub fn adapt(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    numbers(tokens)?;
    super::wrap::wrap(tokens);
    dimensions(tokens)?;
    parameters(tokens);
    let mut adapted = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        at = step(tokens, at, &mut adapted);
    }
    *tokens = adapted;
    Ok(())
}

/// Moves a token, or what becomes of it and those behind it; the next place.
fn step(tokens: &[TokenWithSpan], at: usize, adapted: &mut Vec<TokenWithSpan>) -> usize {
    let token = &tokens[at];
    let put = |adapted: &mut Vec<TokenWithSpan>, new: Token| {
        adapted.push(TokenWithSpan::new(new, token.span));
    };
    if let Token::DollarQuotedString(quoted) = &token.token {
        put(adapted, Token::SingleQuotedString(quoted.value.clone()));
        return at + 1;
    }
    let Some(word) = keyword(token) else {
        adapted.push(token.clone());
        return at + 1;
    };
    match word.as_str() {
        "ISNULL" | "NOTNULL" if behind_value(adapted) && !opens(tokens, at + 1) => {
            put(adapted, Token::make_keyword("IS"));
            put(adapted, space());
            if word == "NOTNULL" {
                put(adapted, Token::make_keyword("NOT"));
                put(adapted, space());
            }
            put(adapted, Token::make_keyword("NULL"));
            at + 1
        }
        "TRIM" => {
            adapted.push(token.clone());
            trim(tokens, at + 1, adapted)
        }
        "SYMMETRIC" if follows(adapted, "BETWEEN") => symmetric(tokens, at, adapted),
        "ASYMMETRIC" if follows(adapted, "BETWEEN") => at + 1,
        "TABLE" if begins_query(adapted) && names_table(tokens, at + 1) => {
            let select = [
                Token::make_keyword("SELECT"),
                space(),
                Token::Mul,
                space(),
                Token::make_keyword("FROM"),
            ];
            select.into_iter().for_each(|new| put(adapted, new));
            at + 1
        }
        "EXCLUDE" => exclude(tokens, at, adapted),
        "FETCH" => fetch(tokens, at, adapted),
        _ => {
            adapted.push(token.clone());
            at + 1
        }
    }
}

fn space() -> Token {
    Token::Whitespace(sqlparser::tokenizer::Whitespace::Space)
}

/// The word of a token in upper case, if it is not quoted.
pub(super) fn keyword(token: &TokenWithSpan) -> Option<String> {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
        _ => None,
    }
}

pub(super) fn is_blank(token: &TokenWithSpan) -> bool {
    matches!(token.token, Token::Whitespace(_))
}

/// The next token that is no blank.
pub(super) fn visible(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    (from..tokens.len()).find(|at| !is_blank(&tokens[*at]))
}

fn opens(tokens: &[TokenWithSpan], from: usize) -> bool {
    visible(tokens, from).is_some_and(|at| tokens[at].token == Token::LParen)
}

/// Whether the last token that is no blank is a word.
fn follows(adapted: &[TokenWithSpan], word: &str) -> bool {
    let last = adapted.iter().rev().find(|token| !is_blank(token));
    last.and_then(keyword).is_some_and(|found| found == word)
}

/// Whether a name follows TABLE, and not the query of a macro: `AS TABLE SELECT …`.
fn names_table(tokens: &[TokenWithSpan], from: usize) -> bool {
    let next = visible(tokens, from).and_then(|at| tokens.get(at));
    let word = next.and_then(keyword);
    word.is_none_or(|word| !["SELECT", "WITH", "VALUES", "FROM"].contains(&word.as_str()))
}

/// Whether a query may begin here.
fn begins_query(adapted: &[TokenWithSpan]) -> bool {
    let Some(last) = adapted.iter().rev().find(|token| !is_blank(token)) else {
        return true;
    };
    match &last.token {
        Token::SemiColon | Token::LParen => true,
        _ => keyword(last).is_some_and(|word| {
            ["UNION", "ALL", "AS", "DISTINCT", "INTERSECT", "EXCEPT"].contains(&word.as_str())
        }),
    }
}

/// Whether a value ends here: an identifier, a literal or a bracket.
fn behind_value(adapted: &[TokenWithSpan]) -> bool {
    let last = adapted.iter().rev().find(|token| !is_blank(token));
    last.is_some_and(|token| match &token.token {
        Token::Word(word) => {
            word.quote_style.is_some()
                || matches!(
                    word.keyword,
                    Keyword::NoKeyword
                        | Keyword::NULL
                        | Keyword::TRUE
                        | Keyword::FALSE
                        | Keyword::END
                )
                || !sqlparser::keywords::RESERVED_FOR_COLUMN_ALIAS.contains(&word.keyword)
                    && !matches!(
                        word.keyword,
                        Keyword::SELECT
                            | Keyword::AS
                            | Keyword::AND
                            | Keyword::OR
                            | Keyword::NOT
                            | Keyword::WHERE
                            | Keyword::ON
                    )
        }
        Token::RParen | Token::RBracket | Token::Number(..) | Token::SingleQuotedString(_) => true,
        Token::Placeholder(_) => true,
        _ => false,
    })
}

/// `trim(LEADING FROM x)` has a blank as what is trimmed.
fn trim(tokens: &[TokenWithSpan], from: usize, adapted: &mut Vec<TokenWithSpan>) -> usize {
    let open = visible(tokens, from).filter(|at| tokens[*at].token == Token::LParen);
    let Some(open) = open else { return from };
    adapted.extend_from_slice(&tokens[from..=open]);
    let Some(first) = visible(tokens, open + 1) else {
        return open + 1;
    };
    let side = keyword(&tokens[first])
        .filter(|word| matches!(word.as_str(), "LEADING" | "TRAILING" | "BOTH"));
    let next = match side {
        Some(_) => visible(tokens, first + 1),
        None => Some(first),
    };
    let Some(next) = next else { return open + 1 };
    if keyword(&tokens[next]).as_deref() != Some("FROM") {
        return open + 1;
    }
    let span = tokens[next].span;
    match side {
        Some(_) => adapted.push(tokens[first].clone()),
        None => adapted.push(TokenWithSpan::new(Token::make_keyword("BOTH"), span)),
    }
    for new in [space(), Token::SingleQuotedString(" ".to_owned()), space()] {
        adapted.push(TokenWithSpan::new(new, span));
    }
    next
}

/// The lower bound behind BETWEEN SYMMETRIC becomes an argument of a function.
fn symmetric(tokens: &[TokenWithSpan], at: usize, adapted: &mut Vec<TokenWithSpan>) -> usize {
    let mut depth = 0usize;
    for end in at + 1..tokens.len() {
        match &tokens[end].token {
            // Another one begins before this one has its bounds.
            Token::Word(_) if depth == 0 && keyword(&tokens[end]).as_deref() == Some("BETWEEN") => {
                break;
            }
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket if depth == 0 => break,
            Token::RParen | Token::RBracket => depth -= 1,
            Token::SemiColon => break,
            _ if depth == 0 && keyword(&tokens[end]).as_deref() == Some("AND") => {
                let span = tokens[at].span;
                let name = Token::Word(Word {
                    value: SYMMETRIC.to_owned(),
                    quote_style: Some(QUOTE),
                    keyword: Keyword::NoKeyword,
                });
                for new in [name, Token::LParen] {
                    adapted.push(TokenWithSpan::new(new, span));
                }
                adapted.extend_from_slice(&tokens[at + 1..end]);
                adapted.push(TokenWithSpan::new(Token::RParen, span));
                return end;
            }
            _ => {}
        }
    }
    adapted.push(tokens[at].clone());
    at + 1
}

/// EXCLUDE at the end of a frame becomes a key before the frame.
fn exclude(tokens: &[TokenWithSpan], at: usize, adapted: &mut Vec<TokenWithSpan>) -> usize {
    let words: Vec<(usize, String)> = (at + 1..tokens.len())
        .filter(|place| !is_blank(&tokens[*place]))
        .take(3)
        .map(|place| (place, keyword(&tokens[place]).unwrap_or_default()))
        .collect();
    let word = |number: usize| words.get(number).map_or("", |(_, word)| word.as_str());
    let (what, last) = match (word(0), word(1)) {
        ("CURRENT", "ROW") => ("current row", 1),
        ("NO", "OTHERS") => ("no others", 1),
        ("GROUP", _) => ("group", 0),
        ("TIES", _) => ("ties", 0),
        _ => ("", 0),
    };
    let closes = words
        .get(last)
        .and_then(|(place, _)| visible(tokens, place + 1))
        .is_some_and(|place| tokens[place].token == Token::RParen);
    let frame = frame_before(adapted);
    let (Some((frame, ordered)), true, Some((end, _))) =
        (frame, closes && !what.is_empty(), words.get(last))
    else {
        adapted.push(tokens[at].clone());
        return at + 1;
    };
    let span = tokens[at].span;
    let key = Token::Word(Word {
        value: format!("{EXCLUDE}{what}"),
        quote_style: Some(QUOTE),
        keyword: Keyword::NoKeyword,
    });
    let new: Vec<Token> = match ordered {
        true => vec![Token::Comma, key, space()],
        false => vec![
            Token::make_keyword("ORDER"),
            space(),
            Token::make_keyword("BY"),
            space(),
            key,
            space(),
        ],
    };
    let new = new.into_iter().map(|token| TokenWithSpan::new(token, span));
    adapted.splice(frame..frame, new);
    end + 1
}

/// The place of ROWS, RANGE or GROUPS of the window that ends here, and whether the window has
/// an order.
fn frame_before(adapted: &[TokenWithSpan]) -> Option<(usize, bool)> {
    let (mut depth, mut frame) = (0usize, None);
    let mut ordered = false;
    for at in (0..adapted.len()).rev() {
        match &adapted[at].token {
            Token::RParen => depth += 1,
            Token::LParen if depth == 0 => break,
            Token::LParen => depth -= 1,
            Token::SemiColon => break,
            _ if depth == 0 => match keyword(&adapted[at]).as_deref() {
                Some("ROWS" | "RANGE" | "GROUPS") if frame.is_none() => frame = Some(at),
                Some("ORDER") => ordered = true,
                _ => {}
            },
            _ => {}
        }
    }
    frame.map(|frame| (frame, ordered))
}

/// `FETCH FIRST (n) ROWS ONLY` is `LIMIT (n)`; WITH TIES is left as it is, without brackets.
fn fetch(tokens: &[TokenWithSpan], at: usize, adapted: &mut Vec<TokenWithSpan>) -> usize {
    let plain = |adapted: &mut Vec<TokenWithSpan>| {
        adapted.push(tokens[at].clone());
        at + 1
    };
    let Some(first) = visible(tokens, at + 1) else {
        return plain(adapted);
    };
    let is_first = keyword(&tokens[first]).is_some_and(|word| word == "FIRST" || word == "NEXT");
    let open = visible(tokens, first + 1).filter(|open| tokens[*open].token == Token::LParen);
    let (Some(open), true) = (open, is_first) else {
        return plain(adapted);
    };
    let mut depth = 0usize;
    let mut close = None;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => {
                depth -= 1;
                if depth == 0 {
                    close = Some(place);
                    break;
                }
            }
            Token::SemiColon => break,
            _ => {}
        }
    }
    let Some(close) = close else {
        return plain(adapted);
    };
    let Some(rows) = visible(tokens, close + 1) else {
        return plain(adapted);
    };
    if !keyword(&tokens[rows]).is_some_and(|word| word == "ROW" || word == "ROWS") {
        return plain(adapted);
    }
    let Some(last) = visible(tokens, rows + 1) else {
        return plain(adapted);
    };
    let span = tokens[at].span;
    match keyword(&tokens[last]).as_deref() {
        Some("ONLY") => {
            adapted.push(TokenWithSpan::new(Token::make_keyword("LIMIT"), span));
            adapted.push(TokenWithSpan::new(space(), span));
            adapted.extend_from_slice(&tokens[open..=close]);
            last + 1
        }
        Some("WITH") => {
            adapted.extend_from_slice(&tokens[at..open]);
            adapted.extend_from_slice(&tokens[open + 1..close]);
            adapted.push(TokenWithSpan::new(space(), span));
            rows
        }
        _ => plain(adapted),
    }
}

/// Most pairs of brackets in a row: the grammar makes a tree of them that is as deep.
const DIMENSIONS: usize = 100;

/// Refuses a type of very many dimensions.
fn dimensions(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut visible = tokens.iter().filter(|token| !is_blank(token));
    let mut pairs = 0;
    while let Some(token) = visible.next() {
        pairs = match token.token {
            Token::LBracket => match visible.next() {
                Some(next) if next.token == Token::RBracket => pairs + 1,
                _ => 0,
            },
            _ => 0,
        };
        if pairs > DIMENSIONS {
            let message = "number of array dimensions exceeds the maximum allowed (6)";
            return Err(Error::new("54000", message));
        }
    }
    Ok(())
}

/// `?` becomes a parameter with its number.
fn parameters(tokens: &mut [TokenWithSpan]) {
    let mut number = 0;
    for at in 0..tokens.len() {
        match tokens[at].token {
            Token::SemiColon => number = 0,
            // Behind a value it is the operator of JSON.
            Token::Question if !behind_value(&tokens[..at]) => {
                number += 1;
                tokens[at].token = Token::Placeholder(format!("${number}"));
            }
            _ => {}
        }
    }
}

/// Integers of other bases, and letters right behind a number.
fn numbers(tokens: &mut Vec<TokenWithSpan>) -> Result<()> {
    let mut at = 0;
    while at < tokens.len() {
        if let Token::HexStringLiteral(digits) = &tokens[at].token {
            // `0x1F` is one character shorter than `x'1F'` with its quotes.
            let (start, end) = (tokens[at].span.start, tokens[at].span.end);
            let width = end.column.saturating_sub(start.column) as usize;
            if start.line == end.line && width == digits.len() + 2 {
                tokens[at].token = integer(digits, 16)?;
            }
        }
        let Some(next) = tokens.get(at + 1) else {
            break;
        };
        if let (Token::Number(digits, _), Token::Word(word)) = (&tokens[at].token, &next.token)
            && tokens[at].span.end == next.span.start
            && word.quote_style.is_none()
        {
            let lower = word.value.to_lowercase();
            let based = match (digits.as_str(), lower.split_at_checked(1)) {
                ("0", Some(("b", rest))) if !rest.is_empty() => Some(integer(rest, 2)?),
                ("0", Some(("o", rest))) if !rest.is_empty() => Some(integer(rest, 8)?),
                ("0", Some(("x", rest))) if !rest.is_empty() => Some(integer(rest, 16)?),
                _ => None,
            };
            match based {
                Some(number) => {
                    tokens[at].token = number;
                    // The letters are a part of the number.
                    tokens[at + 1].token = space();
                }
                None => {
                    let start = tokens[at].span.start;
                    return Err(Error::new(
                        "42601",
                        format!(
                            "trailing junk after numeric literal at or near \"{digits}{}\"",
                            word.value
                        ),
                    )
                    .at(Some(crate::Position {
                        line: start.line,
                        column: start.column,
                    })));
                }
            }
        }
        at += 1;
    }
    Ok(())
}

fn integer(digits: &str, base: u32) -> Result<Token> {
    let value = u128::from_str_radix(digits, base).map_err(|_| {
        Error::new(
            "42601",
            format!("invalid integer with base {base}: \"{digits}\""),
        )
    })?;
    Ok(Token::Number(value.to_string(), false))
}
