//! VACUUM, ANALYZE and COPY as PostgreSQL's tools write them: words that change nothing here
//! are taken out, and ON and OFF are put as TRUE and FALSE.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::edits::Edits;
use super::words;

/// Words between VACUUM or ANALYZE and the name of a table.
const WORDS: [&str; 5] = ["ANALYSE", "ANALYZE", "FREEZE", "SKIP_LOCKED", "VERBOSE"];

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    let mut begins = true;
    for at in 0..tokens.len() {
        match &tokens[at].token {
            Token::SemiColon => begins = true,
            Token::Whitespace(_) => {}
            Token::Word(word) if begins && word.quote_style.is_none() => {
                begins = false;
                match word.value.to_uppercase().as_str() {
                    "VACUUM" | "ANALYZE" => take_options(tokens, at + 1, &mut edits),
                    "ANALYSE" => {
                        let analyze = Token::make_keyword("ANALYZE");
                        let analyze = TokenWithSpan::new(analyze, tokens[at].span);
                        edits.put(at..at + 1, [analyze]);
                        take_options(tokens, at + 1, &mut edits);
                    }
                    "COPY" => {
                        spell_truths(&mut tokens[at..]);
                        quote_all(tokens, at, &mut edits);
                    }
                    "EXPLAIN" => {
                        if let [_, (at, word)] = words(tokens, at, 2).as_slice()
                            && word == "ANALYSE"
                        {
                            let analyze = Token::make_keyword("ANALYZE");
                            let analyze = TokenWithSpan::new(analyze, tokens[*at].span);
                            edits.put(*at..at + 1, [analyze]);
                        }
                        spell_options(&mut tokens[at + 1..]);
                    }
                    _ => {}
                }
            }
            _ => begins = false,
        }
    }
    edits.make(tokens);
}

/// Takes out options, in brackets or without.
fn take_options(tokens: &[TokenWithSpan], from: usize, edits: &mut Edits) {
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        match &token.token {
            Token::Whitespace(_) => at += 1,
            Token::LParen => {
                let ends =
                    |token: &TokenWithSpan| matches!(token.token, Token::RParen | Token::SemiColon);
                let end = tokens[at..].iter().position(ends).map(|end| at + end);
                let Some(end) = end.filter(|end| tokens[*end].token == Token::RParen) else {
                    return;
                };
                edits.take(at..end + 1);
                at = end + 1;
            }
            Token::Word(word) if word.quote_style.is_none() => {
                if word.value.eq_ignore_ascii_case("FULL") {
                    at += 1;
                    continue;
                }
                if !WORDS.contains(&word.value.to_uppercase().as_str()) {
                    return;
                }
                edits.take(at..at + 1);
                at += 1;
            }
            _ => return,
        }
    }
}

/// `ANALYZE ON` in the brackets behind EXPLAIN.
fn spell_options(tokens: &mut [TokenWithSpan]) {
    let mut rest = tokens.iter_mut();
    let first = rest.find(|token| !matches!(token.token, Token::Whitespace(_)));
    if first.is_none_or(|token| token.token != Token::LParen) {
        return;
    }
    for token in rest {
        match &mut token.token {
            Token::RParen | Token::SemiColon => return,
            Token::Word(word)
                if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("ON") =>
            {
                (word.value, word.keyword) = ("TRUE".to_owned(), Keyword::TRUE);
            }
            _ => {}
        }
    }
}

/// `FORCE_QUOTE *` and `FORCE QUOTE *` as lists of a column of that name.
fn quote_all(tokens: &[TokenWithSpan], from: usize, edits: &mut Edits) {
    let (mut option, mut word) = (false, false);
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match &token.token {
            Token::SemiColon => return,
            Token::Whitespace(_) => continue,
            Token::Mul if option || word => {
                let span = token.span;
                let sign = |token| TokenWithSpan::new(token, span);
                let star = sign(Token::make_word("*", Some('"')));
                match option {
                    true => {
                        edits.put(at..at + 1, [sign(Token::LParen), star, sign(Token::RParen)]);
                    }
                    false => edits.put(at..at + 1, [star]),
                }
                (option, word) = (false, false);
            }
            Token::Word(name) if name.quote_style.is_none() => {
                option = name.value.eq_ignore_ascii_case("FORCE_QUOTE");
                word = name.value.eq_ignore_ascii_case("QUOTE");
            }
            _ => (option, word) = (false, false),
        }
    }
}

/// `FREEZE ON` and `HEADER OFF`, up to the end of the statement.
fn spell_truths(tokens: &mut [TokenWithSpan]) {
    let mut after_option = false;
    for token in tokens {
        match &mut token.token {
            Token::SemiColon => return,
            Token::Whitespace(_) => {}
            Token::Word(word) if word.quote_style.is_none() => {
                let name = word.value.to_uppercase();
                let truth = match name.as_str() {
                    "ON" => Some(("TRUE", Keyword::TRUE)),
                    "OFF" => Some(("FALSE", Keyword::FALSE)),
                    _ => None,
                };
                if let (true, Some((text, keyword))) = (after_option, truth) {
                    (word.value, word.keyword) = (text.to_owned(), keyword);
                }
                after_option = name == "FREEZE" || name == "HEADER";
            }
            _ => after_option = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::statement::parse_one;

    #[test]
    fn what_tools_write_is_read() {
        for (written, read) in [
            ("vacuum analyze t", "VACUUM t"),
            ("VACUUM (VERBOSE, ANALYZE) t", "VACUUM t"),
            ("vacuum freeze verbose", "VACUUM"),
            ("VACUUM", "VACUUM"),
            ("ANALYZE VERBOSE t", "ANALYZE t"),
            ("analyze", "ANALYZE"),
            ("analyse", "ANALYZE"),
            ("ANALYSE (verbose) t", "ANALYZE t"),
            ("VACUUM ANALYSE t", "VACUUM t"),
            ("VACUUM FULL FREEZE VERBOSE ANALYSE t", "VACUUM FULL t"),
            ("EXPLAIN ANALYZE SELECT 1", "EXPLAIN ANALYZE SELECT 1"),
            ("explain analyse select 1", "EXPLAIN ANALYZE SELECT 1"),
            (
                "explain (analyze on, costs off) select 1",
                "EXPLAIN (analyze true, costs off) SELECT 1",
            ),
            (
                "copy t from stdin with (freeze on)",
                "COPY t FROM STDIN (FREEZE)",
            ),
            (
                "copy t to stdout with (format csv, force_quote *)",
                "COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE (\"*\"))",
            ),
            (
                "copy (select 2 * 3) to stdout csv force quote *",
                "COPY (SELECT 2 * 3) TO STDOUT CSV FORCE QUOTE \"*\"",
            ),
        ] {
            assert_eq!(parse_one(written).unwrap().to_string(), read, "{written}");
        }
    }
}
