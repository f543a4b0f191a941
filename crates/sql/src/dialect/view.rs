//! Statements about views: `ALTER VIEW v RENAME TO w`, which the parser knows as `ALTER TABLE`, and
//! the text of the query of CREATE VIEW, which the catalog tells as it was written.

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::{visit_expressions, visit_relations};
use sqlparser::ast::{CreateView, Expr, ObjectName, ObjectNamePart, Statement as Ast};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace};

use super::edits::Edits;
use super::{is_blank, words};
use crate::names::fold;

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

/// `CREATE VIEW … AS query WITH LOCAL CHECK OPTION` as
/// `CREATE VIEW … WITH (check_option = 'local') AS query`; options have their values as texts.
pub(super) fn adapt_options(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    let mut at = 0;
    while at < tokens.len() {
        let ends = |token: &TokenWithSpan| matches!(token.token, Token::SemiColon | Token::EOF);
        let end = tokens.iter().skip(at).position(ends);
        let end = end.map_or(tokens.len(), |end| at + end);
        let first = (at..end).find(|place| !is_blank(&tokens[*place]));
        if let Some(first) = first {
            options_of(&tokens[..end], first, &mut edits);
        }
        at = end + 1;
    }
    edits.make(tokens);
}

fn options_of(tokens: &[TokenWithSpan], first: usize, edits: &mut Edits) {
    let heads = words(tokens, first, 6);
    let mut heads = heads.iter().map(|(at, word)| (*at, word.as_str()));
    if heads.next().is_none_or(|(_, word)| word != "CREATE") {
        return;
    }
    let before = ["OR", "REPLACE", "TEMP", "TEMPORARY", "RECURSIVE"];
    let view = heads.find(|(_, word)| !before.contains(word));
    let Some((view, "VIEW")) = view else {
        return;
    };
    let (mut depth, mut begin, mut open, mut close) = (0_usize, None, None, None);
    for (at, token) in tokens.iter().enumerate().skip(view) {
        match &token.token {
            Token::LParen => {
                let with = (view..at).rev().find(|before| !is_blank(&tokens[*before]));
                if depth == 0 && with.is_some_and(|with| is_keyword(&tokens[with], Keyword::WITH)) {
                    open = Some(at);
                }
                depth += 1;
            }
            Token::RParen => {
                depth = depth.saturating_sub(1);
                if depth == 0 && open.is_some() && close.is_none() {
                    close = Some(at);
                }
            }
            Token::Word(_) if depth == 0 && is_keyword(token, Keyword::AS) => {
                begin = Some(at);
                break;
            }
            _ => {}
        }
    }
    let Some(begin) = begin else {
        return;
    };
    if let (Some(open), Some(close)) = (open, close) {
        values_as_texts(tokens, open, close, edits);
    }
    let Some((from, kind)) = check_option(&tokens[begin..]) else {
        return;
    };
    edits.take(begin + from..tokens.len());
    let near = |token: Token| TokenWithSpan::new(token, tokens[begin].span);
    let mut option = vec![
        near(Token::make_word("check_option", None)),
        near(Token::Eq),
        near(Token::SingleQuotedString(kind.to_owned())),
    ];
    match close {
        Some(close) => {
            option.insert(0, near(Token::Comma));
            edits.put_all(close..close, option);
        }
        None => {
            option.insert(0, near(Token::LParen));
            option.insert(0, near(Token::make_keyword("WITH")));
            option.push(near(Token::RParen));
            option.push(near(Token::Whitespace(Whitespace::Space)));
            edits.put_all(begin..begin, option);
        }
    }
}

/// Gives options of a view their values as texts; one without a value is true.
fn values_as_texts(tokens: &[TokenWithSpan], open: usize, close: usize, edits: &mut Edits) {
    let visible = |from: usize, to: usize| {
        let places = (from..to).filter(|at| !is_blank(&tokens[*at]));
        places.collect::<Vec<usize>>()
    };
    let mut next = open + 1;
    for at in open + 1..=close {
        if at != close && tokens[at].token != Token::Comma {
            continue;
        }
        let start = std::mem::replace(&mut next, at + 1);
        let near = |token: Token| TokenWithSpan::new(token, tokens[at].span);
        match visible(start, at).as_slice() {
            [_] => {
                let value = near(Token::SingleQuotedString("true".to_owned()));
                edits.put(at..at, [near(Token::Eq), value]);
            }
            [_, equal, value] if tokens[*equal].token == Token::Eq => {
                let text = match &tokens[*value].token {
                    Token::Word(word) if word.quote_style.is_none() => word.value.to_lowercase(),
                    Token::Word(word) => word.value.clone(),
                    Token::SingleQuotedString(_) => continue,
                    other => other.to_string(),
                };
                edits.put(*value..*value + 1, [near(Token::SingleQuotedString(text))]);
            }
            _ => {}
        }
    }
}

/// Where WITH CHECK OPTION begins at the end of some tokens, and of which kind it is.
fn check_option(tokens: &[TokenWithSpan]) -> Option<(usize, &'static str)> {
    let places = (0..tokens.len()).filter(|at| !is_blank(&tokens[*at]));
    let places: Vec<usize> = places.collect();
    let is = |at: usize, wanted: &str| {
        matches!(&tokens[at].token, Token::Word(word)
            if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
    };
    let (&[.., before, check, option], kinds) = (places.as_slice(), ["LOCAL", "CASCADED"]) else {
        return None;
    };
    if !is(check, "CHECK") || !is(option, "OPTION") {
        return None;
    }
    if is(before, "WITH") {
        return Some((before, "cascaded"));
    }
    let kind = kinds.into_iter().find(|kind| is(before, kind))?;
    let with = *places.get(places.len().checked_sub(4)?)?;
    let kind = if kind == "LOCAL" { "local" } else { "cascaded" };
    is(with, "WITH").then_some((with, kind))
}

fn is_keyword(token: &TokenWithSpan, keyword: Keyword) -> bool {
    matches!(&token.token, Token::Word(word) if word.keyword == keyword)
}

/// The prefix of a view's text. The text is kept in COMMENT, a clause that PostgreSQL lacks.
const WRITTEN: &str = "\u{1}written ";

/// Keeps the text of the query of CREATE VIEW: printed from the tree it would have names that
/// stand for forms which the grammar lacks.
pub(crate) fn keep_text(ast: &mut Ast, text: &str) {
    if let Ast::CreateView(view) = ast
        && view.comment.is_none()
        && let Some(query) = query_of(text)
    {
        view.comment = Some(format!("{WRITTEN}{query}"));
    }
}

/// The text of a view's query that [`keep_text`] has kept.
pub(crate) fn written(view: &CreateView) -> Option<&str> {
    view.comment.as_ref()?.strip_prefix(WRITTEN)
}

/// The text behind the AS of a CREATE VIEW.
fn query_of(text: &str) -> Option<&str> {
    let mut tokens = Tokenizer::new(&PostgreSqlDialect {}, text);
    let tokens = tokens.tokenize_with_location().ok()?;
    let (mut depth, mut found) = (0_usize, None);
    for token in &tokens {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            // Its query is put into another one.
            Token::Word(word) if word.keyword == Keyword::RECURSIVE => return None,
            Token::Word(word) if word.keyword == Keyword::AS && depth == 0 => {
                found = Some(token.span.end);
                break;
            }
            _ => {}
        }
    }
    let end = match check_option(&tokens) {
        Some((with, _)) => offset(text, tokens[with].span.start),
        None => text.len(),
    };
    let query = text.get(offset(text, found?)..end)?.trim();
    // A view with a list of columns puts brackets behind it, which a comment would swallow.
    (!query.contains("--")).then_some(query)
}

/// The text of a view's query, and its tree, with a schema before the names of relations and
/// functions that have none, where it has some of these names.
pub(crate) fn with_schema(
    (text, ast): (&str, &Ast),
    schema: &str,
    has_relation: impl Fn(&str) -> bool,
    has_function: impl Fn(&str) -> bool,
) -> String {
    let mut places = Vec::new();
    let mut note = |name: &ObjectName, has: &dyn Fn(&str) -> bool| {
        if let [ObjectNamePart::Identifier(only)] = name.0.as_slice()
            && has(&fold(only))
        {
            places.push(offset(text, only.span.start));
        }
    };
    let _ = visit_relations(ast, |name| {
        note(name, &has_relation);
        ControlFlow::<()>::Continue(())
    });
    let _ = visit_expressions(ast, |expr| {
        if let Expr::Function(call) = expr {
            note(&call.name, &has_function);
        }
        ControlFlow::<()>::Continue(())
    });
    places.sort_unstable();
    places.dedup();
    let mut whole = text.to_owned();
    for place in places.into_iter().rev() {
        whole.insert_str(place, &format!("{schema}."));
    }
    whole
}

/// The offset of a place in bytes.
fn offset(text: &str, place: Location) -> usize {
    let before = usize::try_from(place.line.saturating_sub(1)).unwrap_or(usize::MAX);
    let mut lines = text.split_inclusive('\n');
    let start: usize = lines.by_ref().take(before).map(str::len).sum();
    let columns = usize::try_from(place.column.saturating_sub(1)).unwrap_or(usize::MAX);
    let line = lines.next().unwrap_or_default().chars();
    start + line.take(columns).map(char::len_utf8).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::parse_one;

    #[test]
    fn names_get_a_schema_where_they_stand() {
        let known = |name: &str| matches!(name, "t" | "Odd t" | "f");
        for (text, whole) in [
            ("SELECT t.a FROM t", "SELECT t.a FROM s.t"),
            (
                "WITH c AS (SELECT f(1) FROM \"Odd t\" x,\n T) SELECT 'é', (TABLE t) FROM c, u.t",
                "WITH c AS (SELECT s.f(1) FROM s.\"Odd t\" x,\n s.T) SELECT 'é', (TABLE s.t) FROM c, u.t",
            ),
        ] {
            let ast = parse_one(text).unwrap();
            assert_eq!(with_schema((text, &ast), "s", known, known), whole);
        }
    }

    #[test]
    fn check_options_are_options() {
        for (text, read) in [
            (
                "create view v (a) as select 1 with check option",
                "CREATE VIEW v (a) WITH (check_option = 'cascaded') AS SELECT 1",
            ),
            (
                "CREATE OR REPLACE VIEW v WITH (security_barrier, security_invoker = on) \
                 AS SELECT 1 WITH LOCAL CHECK OPTION",
                "CREATE OR REPLACE VIEW v WITH (security_barrier = 'true', \
                 security_invoker = 'on', check_option = 'local') AS SELECT 1",
            ),
        ] {
            let mut ast = parse_one(text).unwrap();
            let Ast::CreateView(view) = &mut ast else {
                panic!("{text} is no CREATE VIEW");
            };
            assert_eq!(
                written(view).map(str::to_lowercase).as_deref(),
                Some("select 1")
            );
            view.comment = None;
            assert_eq!(ast.to_string(), read);
        }
        let text = "CREATE VIEW v AS SELECT 1 WITH CASCADED CHECK OPTION";
        assert_eq!(query_of(text), Some("SELECT 1"));
    }

    #[test]
    fn views_are_renamed_as_tables() {
        let read = parse_one("alter view if exists s.v rename to w").unwrap();
        assert_eq!(read.to_string(), "ALTER TABLE IF EXISTS s.v RENAME TO w");
    }
}
