//! `ALTER VIEW v RENAME TO w`: the parser knows it as `ALTER TABLE`.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::words;

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut [TokenWithSpan]) {
    let mut begins = true;
    for at in 0..tokens.len() {
        let begun = match &tokens[at].token {
            Token::Whitespace(_) => continue,
            Token::SemiColon => std::mem::replace(&mut begins, true),
            _ => std::mem::replace(&mut begins, false),
        };
        if !begun {
            continue;
        }
        let heads = words(tokens, at, 2);
        let [(first, alter), (view, what)] = heads.as_slice() else {
            continue;
        };
        if *first != at || alter != "ALTER" || what != "VIEW" {
            continue;
        }
        let rest = tokens.iter().skip(*view);
        let mut rest = rest.take_while(|token| token.token != Token::SemiColon);
        let renames = |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if word.value.eq_ignore_ascii_case("RENAME"));
        if rest.any(renames) {
            tokens[*view].token = Token::make_keyword("TABLE");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::statement::parse_one;

    #[test]
    fn views_are_renamed_as_tables() {
        let read = parse_one("alter view if exists s.v rename to w").unwrap();
        assert_eq!(read.to_string(), "ALTER TABLE IF EXISTS s.v RENAME TO w");
    }
}
