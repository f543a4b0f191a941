//! `SELECT … INTO t`: a new table of a query.

use sqlparser::ast::{Query, SelectInto, SetExpr, Statement as Ast};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

/// Makes a statement of SELECT INTO one of CREATE TABLE AS.
pub(crate) fn create(ast: &mut Ast) {
    match ast {
        Ast::Explain { statement, .. } | Ast::Prepare { statement, .. } => create(statement),
        Ast::Query(query) => {
            if let Some(into) = taken(query)
                && let Some(made) = made(query, into)
            {
                *ast = made;
            }
        }
        _ => {}
    }
}

/// The INTO of the first SELECT, taken out of it.
fn taken(query: &mut Query) -> Option<SelectInto> {
    let mut body = query.body.as_mut();
    loop {
        match body {
            SetExpr::Select(select) => return select.into.take(),
            SetExpr::SetOperation { left, .. } => body = left.as_mut(),
            _ => return None,
        }
    }
}

fn made(query: &Query, into: SelectInto) -> Option<Ast> {
    let text = "CREATE TABLE t AS SELECT 1";
    let mut parsed = Parser::parse_sql(&PostgreSqlDialect {}, text).ok()?;
    let Some(Ast::CreateTable(mut create)) = parsed.pop() else {
        return None;
    };
    create.name = into.name;
    create.temporary = into.temporary;
    create.query = Some(Box::new(query.clone()));
    Some(Ast::CreateTable(create))
}

#[cfg(test)]
mod tests {
    use crate::statement::parse_one;

    #[test]
    fn tables_are_made_of_queries() {
        for (written, read) in [
            (
                "select a, b into s.t from u where a > 1",
                "CREATE TABLE s.t AS SELECT a, b FROM u WHERE a > 1",
            ),
            (
                "WITH q AS (SELECT 1) SELECT * INTO TEMP TABLE t FROM q UNION SELECT 2",
                "CREATE TEMPORARY TABLE t AS WITH q AS (SELECT 1) SELECT * FROM q UNION SELECT 2",
            ),
            (
                "EXPLAIN SELECT 1 INTO UNLOGGED t",
                "EXPLAIN CREATE TABLE t AS SELECT 1",
            ),
        ] {
            assert_eq!(parse_one(written).unwrap().to_string(), read, "{written}");
        }
    }
}
