//! `COMMENT ON CONSTRAINT c ON t IS`: the parser knows no constraints there. It is given
//! `COMMENT ON DOMAIN t.c IS`, of which there are none.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::edits::Edits;
use super::{is_blank, words};

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    for at in 0..tokens.len() {
        if let Some(clause) = clause(tokens, at) {
            let name = tokens[clause.name].clone();
            let dot = TokenWithSpan::new(Token::Period, name.span);
            let (domain, place) = (Token::make_keyword("DOMAIN"), clause.constraint);
            let domain = TokenWithSpan::new(domain, tokens[place].span);
            edits.put(place..place + 1, [domain]);
            edits.take(clause.name..clause.on + 1);
            edits.put(clause.is..clause.is, [dot, name]);
        }
    }
    edits.make(tokens);
}

/// Where the parts of a clause stand.
struct Clause {
    constraint: usize,
    name: usize,
    on: usize,
    /// Behind the name of the table.
    is: usize,
}

fn clause(tokens: &[TokenWithSpan], at: usize) -> Option<Clause> {
    let is_comment = |word: &str| word.eq_ignore_ascii_case("COMMENT");
    if !matches!(&tokens[at].token, Token::Word(word) if is_comment(&word.value)) {
        return None;
    }
    let heads = words(tokens, at, 3);
    let [_, (_, on), (constraint, what)] = heads.as_slice() else {
        return None;
    };
    if on != "ON" || what != "CONSTRAINT" {
        return None;
    }
    let next = |from: usize| {
        let mut rest = tokens.iter().enumerate().skip(from);
        rest.find(|(_, token)| !is_blank(token)).map(|(at, _)| at)
    };
    let name = next(constraint + 1)?;
    let on = next(name + 1)?;
    if words(tokens, on, 1).first()?.1 != "ON" {
        return None;
    }
    let table = next(on + 1)?;
    let is_is = |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("IS"));
    let mut behind = table + tokens.iter().skip(table).position(is_is)?;
    while behind > table + 1 && is_blank(&tokens[behind - 1]) {
        behind -= 1;
    }
    Some(Clause {
        constraint: *constraint,
        name,
        on,
        is: behind,
    })
}

#[cfg(test)]
mod tests {
    use crate::statement::parse_one;

    #[test]
    fn constraints_stand_behind_their_tables() {
        for (written, read) in [
            (
                "COMMENT ON CONSTRAINT \"c 1\" ON main.t IS 'x'",
                "COMMENT ON DOMAIN main.t.\"c 1\" IS 'x'",
            ),
            ("comment on table t is null", "COMMENT ON TABLE t IS NULL"),
        ] {
            assert_eq!(parse_one(written).unwrap().to_string(), read, "{written}");
        }
        assert!(parse_one("COMMENT ON CONSTRAINT c IS 'x'").is_err());
    }
}
