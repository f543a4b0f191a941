//! SELECTs from tables of the catalog that are always empty: they have no rows, whatever
//! else they say. Clients ask for policies, publications, statistics and partitions in
//! terms of arrays and much else that is not understood, and of which there is none.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, GroupByExpr, JoinOperator, ObjectName, Query, Select,
    SelectItem, SetExpr, Statement as Ast, TableFactor, TableWithJoins, Visit, Visitor,
};

use super::PG_CATALOG;
use super::others::columns;
use crate::error::{Error, Result};
use crate::plan::names::{fold_part, quoted};
use crate::statement::parse_one;

/// Tables that have rows.
const FILLED: [&str; 20] = [
    "pg_am",
    "pg_attrdef",
    "pg_attribute",
    "pg_auth_members",
    "pg_authid",
    "pg_class",
    "pg_constraint",
    "pg_database",
    "pg_description",
    "pg_index",
    "pg_indexes",
    "pg_namespace",
    "pg_roles",
    "pg_sequence",
    "pg_settings",
    "pg_tables",
    "pg_tablespace",
    "pg_type",
    "pg_user",
    "pg_views",
];

/// Functions that give a row of no rows.
const AGGREGATES: [&str; 12] = [
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "string_agg",
    "array_agg",
    "bool_and",
    "bool_or",
    "every",
    "json_agg",
    "jsonb_agg",
];

/// Puts SELECTs that cannot have rows in words that are understood.
///
/// # Errors
/// None but those of a bug in here.
// Its callers are visitors, in which it would stand a hundred times.
#[inline(never)]
pub(crate) fn emptied(query: &mut Query) -> Result<()> {
    // It may give such a name to something else.
    if query.with.is_some() {
        return Ok(());
    }
    if let Some(body) = without_rows(&query.body)? {
        *query.body = body;
        query.order_by = None;
        return Ok(());
    }
    branches(&mut query.body)
}

fn branches(body: &mut SetExpr) -> Result<()> {
    if let SetExpr::SetOperation { left, right, .. } = body {
        for side in [left, right] {
            match without_rows(side)? {
                Some(other) => **side = other,
                None => branches(side)?,
            }
        }
    }
    Ok(())
}

/// The same columns and no rows; `None` for a SELECT that may have some.
fn without_rows(body: &SetExpr) -> Result<Option<SetExpr>> {
    let SetExpr::Select(select) = body else {
        return Ok(None);
    };
    if !select.from.iter().any(is_empty) || aggregates(select) {
        return Ok(None);
    }
    let names = select.projection.iter().map(name_of);
    let Some(names) = names.collect::<Option<Vec<String>>>() else {
        return Ok(None);
    };
    let columns = names
        .iter()
        .map(|name| format!("CAST(NULL AS TEXT) AS {}", quoted(name)));
    let columns: Vec<String> = columns.collect();
    match parse_one(&format!("SELECT {} WHERE FALSE", columns.join(", ")))? {
        Ast::Query(query) => Ok(Some(*query.body)),
        _ => Err(Error::internal("a SELECT without rows is no query")),
    }
}

/// Whether joined tables have no rows.
fn is_empty(tables: &TableWithJoins) -> bool {
    let inner = tables.joins.iter().filter(|join| {
        matches!(
            join.join_operator,
            JoinOperator::Join(_) | JoinOperator::Inner(_) | JoinOperator::CrossJoin(_)
        )
    });
    // All joins must keep that there are none.
    let keep = tables.joins.iter().all(|join| {
        !matches!(
            join.join_operator,
            JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_)
        )
    });
    let mut all = std::iter::once(&tables.relation).chain(inner.map(|join| &join.relation));
    keep && all.any(is_empty_table)
}

fn is_empty_table(table: &TableFactor) -> bool {
    let TableFactor::Table { name, args, .. } = table else {
        return false;
    };
    if let Some(args) = args {
        return is_of_nothing(name, &args.args);
    }
    let parts: Option<Vec<String>> = name.0.iter().map(fold_part).collect();
    let parts = parts.unwrap_or_default();
    let name = match parts.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [schema, name] if schema == PG_CATALOG => name.to_owned(),
        [name] if name.starts_with("pg_") => name.to_owned(),
        _ => return false,
    };
    columns(&name).is_some() && !FILLED.contains(&name.as_str())
}

/// Columns of the catalog that are NULL in every row.
const NULLS: [&str; 8] = [
    "attacl",
    "attfdwoptions",
    "attoptions",
    "datacl",
    "nspacl",
    "relacl",
    "reloptions",
    "typacl",
];

/// Whether a function makes rows of a list that is NULL in every row of the catalog.
fn is_of_nothing(name: &ObjectName, args: &[FunctionArg]) -> bool {
    let parts: Option<Vec<String>> = name.0.iter().map(fold_part).collect();
    let parts = parts.unwrap_or_default();
    let ([schema, function], [FunctionArg::Unnamed(FunctionArgExpr::Expr(list))]) =
        (parts.as_slice(), args)
    else {
        return false;
    };
    let column = match list {
        Expr::CompoundIdentifier(names) => names.last(),
        _ => None,
    };
    schema == PG_CATALOG
        && ["aclexplode", "unnest"].contains(&function.as_str())
        && column.is_some_and(|column| NULLS.contains(&column.value.as_str()))
}

/// Whether a SELECT gives a row of no rows, or might.
fn aggregates(select: &Select) -> bool {
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty());
    grouped || select.having.is_some() || select.projection.visit(&mut Within(0)).is_break()
}

/// Looks for aggregates of the SELECT itself: not in sub-queries, of which it counts how
/// deep it is in.
struct Within(usize);

impl Visitor for Within {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0 -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr
            && self.0 == 0
            && let Some(name) = function.name.0.last().and_then(fold_part)
            && AGGREGATES.contains(&name.as_str())
        {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// What a column is called; `None` for all columns of a table.
fn name_of(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
        SelectItem::UnnamedExpr(expr) => Some(match expr {
            Expr::Identifier(name) => name.value.clone(),
            Expr::CompoundIdentifier(names) => names.last()?.value.clone(),
            Expr::Function(function) => function.name.0.last().and_then(fold_part)?,
            _ => "?column?".to_owned(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(sql: &str) -> String {
        let Ast::Query(mut query) = parse_one(sql).unwrap() else {
            panic!("{sql} is no query");
        };
        emptied(&mut query).unwrap();
        query.to_string()
    }

    #[test]
    fn what_cannot_have_rows_has_none() {
        let none = "SELECT CAST(NULL AS TEXT) AS polname WHERE false";
        for sql in [
            "SELECT polname FROM pg_catalog.pg_policy pol WHERE 1 = ANY(pol.polroles) ORDER BY 1",
            "SELECT p.polname FROM pg_class c, pg_policy p WHERE c.oid = p.polrelid",
            "SELECT p.polname FROM pg_class c JOIN pg_policy p ON c.oid = p.polrelid",
            "SELECT (SELECT max(oid) FROM pg_class) AS polname FROM pg_policy",
        ] {
            assert_eq!(rewritten(sql), none, "{sql}");
        }
        let both = rewritten("SELECT polname FROM pg_policy UNION SELECT relname FROM pg_class");
        assert_eq!(both, format!("{none} UNION SELECT relname FROM pg_class"));
    }

    #[test]
    fn what_may_have_rows_stays() {
        for sql in [
            "SELECT count(*) FROM pg_policy",
            "SELECT relname FROM pg_class",
            "SELECT * FROM pg_policy",
            "SELECT relname FROM pg_class AS c LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid",
            "SELECT i.inhrelid FROM pg_inherits AS i RIGHT JOIN pg_class AS c ON i.inhrelid = c.oid",
            "SELECT polname FROM mine.pg_policy",
            "SELECT a FROM t",
            "WITH pg_policy AS (SELECT 1 AS a) SELECT a FROM pg_policy",
        ] {
            assert_eq!(rewritten(sql), sql);
        }
    }
}
