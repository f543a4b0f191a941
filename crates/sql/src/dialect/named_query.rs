//! `CREATE TABLE t (a, b) AS query`: the grammar wants a type behind each name.
//!
//! ```text
//! CREATE TABLE t (a, b) AS SELECT 1, 2
//! CREATE TABLE t AS SELECT * FROM (SELECT 1, 2) AS t (a, b)
//! ```

use std::ops::Range;

use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::{is_blank, words};

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at < tokens.len() {
        match found(tokens, at) {
            Some(found) => at = found.rewrite(tokens),
            None => at += 1,
        }
    }
}

/// A statement of that form.
struct Found {
    /// The name of the table.
    name: Token,
    /// The names in brackets.
    names: Range<usize>,
    /// The query.
    query: Range<usize>,
}

fn found(tokens: &[TokenWithSpan], at: usize) -> Option<Found> {
    let heads = words(tokens, at, 4);
    if heads.first()?.0 != at || heads[0].1 != "CREATE" {
        return None;
    }
    let table = heads.iter().find(|(_, word)| word == "TABLE")?.0;
    // The brackets, behind the name.
    let behind = |from: usize, token: &Token| {
        let rest = tokens.iter().enumerate().skip(from);
        let mut rest = rest.take_while(|(_, token)| token.token != Token::SemiColon);
        rest.find(|(_, found)| found.token == *token)
            .map(|(at, _)| at)
    };
    let open = behind(table, &Token::LParen)?;
    let close = behind(open, &Token::RParen)?;
    let before = tokens[table + 1..open].iter().rev();
    // Between TABLE and the brackets stands the name alone.
    let is_name = |token: &TokenWithSpan| match &token.token {
        Token::Period | Token::Whitespace(_) => true,
        Token::Word(word) => !(word.quote_style.is_none() && word.value.eq_ignore_ascii_case("AS")),
        _ => false,
    };
    if !tokens[table + 1..open].iter().all(is_name) {
        return None;
    }
    let name = before.clone().find(|token| !is_blank(token))?.token.clone();
    let plain = |token: &&TokenWithSpan| !is_blank(token);
    let inside = tokens[open + 1..close].iter().filter(plain);
    let mut wants_name = true;
    for token in inside {
        match (&token.token, wants_name) {
            (Token::Word(_), true) | (Token::Comma, false) => wants_name = !wants_name,
            _ => return None,
        }
    }
    let is_as = |at: usize| matches!(&tokens[at].token, Token::Word(Word { value, quote_style: None, .. }) if value.eq_ignore_ascii_case("AS"));
    let mut rest = close + 1..tokens.len();
    let end = tokens[close..].iter();
    let end = end
        .clone()
        .position(|token| matches!(token.token, Token::SemiColon | Token::EOF))
        .map_or(tokens.len(), |end| close + end);
    rest.end = end;
    // Options may stand between the names and AS.
    let mut depth = 0_usize;
    let query = rest.clone().find(|at| {
        match tokens[*at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is_as(*at)
    })?;
    let between = &tokens[close + 1..query];
    let mut between = between.iter().filter(plain);
    let is_option = |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if ["WITH", "WITHOUT", "ON", "USING"].iter().any(|option| word.value.eq_ignore_ascii_case(option)));
    if wants_name || between.next().is_some_and(|first| !is_option(first)) {
        return None;
    }
    Some(Found {
        name,
        names: open..close + 1,
        query: query + 1..end,
    })
}

impl Found {
    /// Writes the statement anew; the place behind it.
    fn rewrite(self, tokens: &mut Vec<TokenWithSpan>) -> usize {
        let made = |token: Token, like: &TokenWithSpan| TokenWithSpan {
            token,
            span: like.span,
        };
        let names: Vec<TokenWithSpan> = tokens[self.names.clone()].to_vec();
        let query: Vec<TokenWithSpan> = tokens[self.query.clone()].to_vec();
        let (Some(first), Some(last)) = (query.first(), query.last()) else {
            return self.query.end;
        };
        let blank = Token::Whitespace(sqlparser::tokenizer::Whitespace::Space);
        let mut all = Vec::with_capacity(query.len() + names.len() + 12);
        let head = [
            Token::make_keyword("SELECT"),
            Token::Mul,
            Token::make_keyword("FROM"),
            Token::LParen,
        ];
        for token in head {
            all.push(made(blank.clone(), first));
            all.push(made(token, first));
        }
        all.extend(query.iter().cloned());
        for token in [Token::RParen, Token::make_keyword("AS"), self.name.clone()] {
            all.push(made(blank.clone(), last));
            all.push(made(token, last));
        }
        all.extend(names);
        let end = self.query.start + all.len();
        tokens.splice(self.query.clone(), all);
        for token in &mut tokens[self.names] {
            token.token = blank.clone();
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use crate::statement::parse_one;

    #[test]
    fn names_go_behind_the_query() {
        for (written, read) in [
            (
                "create table t(a, \"B\") as select 1, 2",
                "CREATE TABLE t AS SELECT * FROM (SELECT 1, 2) AS t (a, \"B\")",
            ),
            (
                "CREATE TEMP TABLE s.t (a) WITH (layout = 'row') AS (VALUES (1))",
                "CREATE TEMPORARY TABLE s.t WITH (layout = 'row') AS \
                 SELECT * FROM ((VALUES (1))) AS t (a)",
            ),
        ] {
            assert_eq!(parse_one(written).unwrap().to_string(), read);
        }
        let called = "CREATE TABLE t AS SELECT f(x) AS a, g(y) AS b FROM s";
        assert_eq!(parse_one(called).unwrap().to_string(), called);
        let usual = parse_one("CREATE TABLE t (a INT) AS SELECT 1").unwrap();
        assert_eq!(usual.to_string(), "CREATE TABLE t (a INT) AS SELECT 1");
    }
}
