//! Statements about views: `ALTER VIEW v RENAME TO w`, which the parser knows as `ALTER TABLE`, and
//! the text of the query of CREATE VIEW, which the catalog tells as it was written.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    CreateView, Expr, ObjectName, ObjectNamePart, Statement as Ast,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use freestone_frontend::syntax::walk::{visit_expressions, visit_relations};

use super::words;
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
    for token in tokens {
        match token.token {
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
    let query = text.get(offset(text, found?)..)?.trim();
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
    fn views_are_renamed_as_tables() {
        let read = parse_one("alter view if exists s.v rename to w").unwrap();
        assert_eq!(read.to_string(), "ALTER TABLE IF EXISTS s.v RENAME TO w");
    }
}
