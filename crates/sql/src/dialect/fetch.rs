//! `FETCH FIRST (n) ROWS ONLY`: the parser takes a number without brackets only, so that it
//! becomes `LIMIT (n)`.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::edits::Edits;
use super::{is_blank, opens_brackets, words};
use crate::statement::NESTING;

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    for at in 0..tokens.len() {
        if let Some((first, close, only)) = clause(tokens, at) {
            let limit = TokenWithSpan::new(Token::make_keyword("LIMIT"), tokens[at].span);
            edits.put(at..first + 1, [limit]);
            edits.take(close + 1..only + 1);
        }
    }
    edits.make(tokens);
}

/// Where FIRST or NEXT, the closing bracket and ONLY of a clause stand that begins here.
fn clause(tokens: &[TokenWithSpan], at: usize) -> Option<(usize, usize, usize)> {
    let is_fetch = |word: &str| word.eq_ignore_ascii_case("FETCH");
    if !matches!(&tokens[at].token, Token::Word(word) if is_fetch(&word.value)) {
        return None;
    }
    let heads = words(tokens, at, 2);
    let [_, (first, which)] = heads.as_slice() else {
        return None;
    };
    if !["FIRST", "NEXT"].contains(&which.as_str()) || !opens_brackets(tokens, first + 1) {
        return None;
    }
    let close = closing(tokens, first + 1)?;
    let behind = tokens[close + 1..]
        .iter()
        .position(|token| !is_blank(token));
    let ends = words(tokens, close + 1 + behind?, 2);
    match ends.as_slice() {
        [(_, rows), (only, last)] if rows.starts_with("ROW") && last == "ONLY" => {
            Some((*first, close, *only))
        }
        _ => None,
    }
}

/// The bracket that closes the next one that opens; none if there are more inside than any
/// statement may have, so that a text of nothing but clauses is not searched for each.
fn closing(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.token {
            Token::LParen if depth > NESTING => return None,
            Token::LParen => depth += 1,
            Token::RParen => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            Token::SemiColon => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::statement::parse_one;

    #[test]
    fn brackets_make_it_a_limit() {
        for (written, read) in [
            (
                "SELECT 1 FETCH FIRST (2 + (3)) ROWS ONLY",
                "SELECT 1 LIMIT (2 + (3))",
            ),
            (
                "SELECT 1 OFFSET 4 ROWS FETCH NEXT ($1) ROW ONLY",
                "SELECT 1 LIMIT ($1) OFFSET 4 ROWS",
            ),
            (
                "SELECT 1 FETCH FIRST 2 ROWS ONLY",
                "SELECT 1 FETCH FIRST 2 ROWS ONLY",
            ),
        ] {
            assert_eq!(parse_one(written).unwrap().to_string(), read, "{written}");
        }
        assert!(parse_one("SELECT 1 FETCH FIRST (2 ROWS ONLY").is_err());
    }
}
