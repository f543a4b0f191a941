//! `ON CONFLICT (lower(a), b text_ops) WHERE c > 0`: the parser takes columns alone. It is given
//! names that hold what is written, of which the last is the condition.

use freestone_frontend::syntax::marks;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::edits::Edits;
use super::{is_blank, words, written};

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    for at in 0..tokens.len() {
        if let Some(target) = target(tokens, at) {
            let plain = |range: &(usize, usize)| {
                let mut visible = tokens[range.0..range.1].iter().filter(|t| !is_blank(t));
                matches!(
                    (visible.next().map(|t| &t.token), visible.next()),
                    (Some(Token::Word(_)), None)
                )
            };
            for element in target.elements.iter().filter(|element| !plain(element)) {
                let text = written(&tokens[element.0..element.1]);
                let name = named(marks::INFERRED, &text, &tokens[element.0]);
                edits.put(element.0..element.1, [name]);
            }
            if let Some((from, to)) = target.condition {
                let text = written(&tokens[from + 1..to]);
                let near = &tokens[from];
                let comma = TokenWithSpan::new(Token::Comma, near.span);
                let name = named(marks::INFERRED_WHERE, &text, near);
                edits.put(target.end..target.end, [comma, name]);
                edits.take(from..to);
            }
        }
    }
    edits.make(tokens);
}

fn named(mark: &str, text: &str, near: &TokenWithSpan) -> TokenWithSpan {
    let name = Token::make_word(&format!("{mark}{text}"), Some(marks::QUOTE));
    TokenWithSpan::new(name, near.span)
}

/// Where the parts of a target stand.
struct Target {
    elements: Vec<(usize, usize)>,
    /// The closing bracket.
    end: usize,
    /// From WHERE to DO.
    condition: Option<(usize, usize)>,
}

fn target(tokens: &[TokenWithSpan], at: usize) -> Option<Target> {
    if !matches!(&tokens[at].token, Token::Word(word) if word.quote_style.is_none()
        && word.value.eq_ignore_ascii_case("ON"))
    {
        return None;
    }
    let heads = words(tokens, at, 2);
    let [_, (conflict, word)] = heads.as_slice() else {
        return None;
    };
    if word != "CONFLICT" {
        return None;
    }
    let next = |from: usize| (from..tokens.len()).find(|at| !is_blank(&tokens[*at]));
    let open = next(conflict + 1).filter(|at| tokens[*at].token == Token::LParen)?;
    let (mut elements, mut depth, mut first) = (Vec::new(), 0, open + 1);
    let mut end = None;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth -= 1,
            Token::SemiColon => return None,
            _ => {}
        }
        let ends = depth == 0;
        if ends || depth == 1 && token.token == Token::Comma {
            // Without blanks around it.
            let from = next(first).filter(|from| *from < at)?;
            elements.push((from, at));
            first = at + 1;
        }
        if ends {
            end = Some(at);
            break;
        }
    }
    let end = end?;
    let behind = next(end + 1)?;
    let word_at = |at: usize| words(&tokens[..=at], at, 1).pop().map(|(_, word)| word);
    let condition = match word_at(behind)?.as_str() {
        "DO" => None,
        "WHERE" => {
            let mut depth = 0;
            let is_do = |at: &usize| {
                match tokens[*at].token {
                    Token::LParen => depth += 1,
                    Token::RParen => depth -= 1,
                    _ => {}
                }
                depth == 0 && word_at(*at).is_some_and(|word| word == "DO")
            };
            Some((behind, (behind..tokens.len()).find(is_do)?))
        }
        _ => return None,
    };
    Some(Target {
        elements,
        end,
        condition,
    })
}

#[cfg(test)]
mod tests {
    use crate::statement::parse_one;

    #[test]
    fn elements_of_conflicts_are_names() {
        for (written, read) in [
            (
                "INSERT INTO t VALUES (1) ON CONFLICT (a, b) DO NOTHING",
                "INSERT INTO t VALUES (1) ON CONFLICT(a, b) DO NOTHING",
            ),
            (
                "insert into t values (1) on conflict (lower(a), b) where c = 'it''s' do nothing",
                "INSERT INTO t VALUES (1) ON CONFLICT(\"\u{1}inferred lower ( a )\", b, \
                 \"\u{1}inferred where c = 'it''s'\") DO NOTHING",
            ),
            (
                "SELECT 1 FROM a JOIN b ON conflict (a)",
                "SELECT 1 FROM a JOIN b ON conflict(a)",
            ),
        ] {
            assert_eq!(parse_one(written).unwrap().to_string(), read, "{written}");
        }
    }
}
