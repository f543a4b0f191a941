//! Queries composed of parts of statements that change rows.
//!
//! ```text
//! UPDATE t SET a = a + 1 FROM u WHERE t.b = u.b
//! SELECT t.rowid, a + 1 AS a, t.b AS b FROM t, u WHERE t.b = u.b
//! ```
//!
//! A query is a syntax tree, and the parts keep their positions in the statement: an error in
//! one of them points there. Names that are made here are quoted, so that they stand as they are.

use std::sync::LazyLock;

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, ObjectName, OrderBy, OrderByExpr, OrderByKind, OrderByOptions,
    Query, SelectItem, SelectItemQualifiedWildcardKind as Qualified, SetExpr, SetOperator,
    SetQuantifier, Statement as Ast, TableAlias, TableAliasColumnDef, TableFactor, TableWithJoins,
    Value,
};

use crate::error::{Error, Result};
use crate::statement::parse_one;

/// A query with all clauses that are used here; its parts are replaced.
static FORM: LazyLock<Option<Query>> = LazyLock::new(|| match parse_one("SELECT 1 FROM t") {
    Ok(Ast::Query(query)) => Some(*query),
    _ => None,
});

fn form() -> Result<Query> {
    let form = FORM.as_ref();
    form.cloned()
        .ok_or_else(|| Error::internal("the form of a composed query"))
}

/// `SELECT list FROM from WHERE condition`.
///
/// # Errors
/// `XX000`, if the parser is broken.
pub(super) fn query(
    list: Vec<SelectItem>,
    from: Vec<TableWithJoins>,
    condition: Option<Expr>,
) -> Result<Query> {
    let mut query = form()?;
    if let SetExpr::Select(select) = query.body.as_mut() {
        select.projection = list;
        select.from = from;
        select.selection = condition;
    }
    Ok(query)
}

/// `(left) UNION ALL (right)`.
///
/// # Errors
/// As [`query`].
pub(super) fn union_all(left: Query, right: Query) -> Result<Query> {
    let side = |query: Query| Box::new(SetExpr::Query(Box::new(query)));
    let mut union = form()?;
    *union.body = SetExpr::SetOperation {
        op: SetOperator::Union,
        set_quantifier: SetQuantifier::All,
        left: side(left),
        right: side(right),
    };
    Ok(union)
}

/// `SELECT * FROM name`.
///
/// # Errors
/// As [`query`].
pub(super) fn everything(name: &str) -> Result<Query> {
    let called = exact(name);
    let list = vec![all_of(&called)];
    let from = table(relation(name), called, Vec::new())?;
    query(list, vec![alone(from)], None)
}

/// `VALUES (values)`.
///
/// # Errors
/// As [`query`].
pub(super) fn row(values: Vec<Expr>) -> Result<Query> {
    let Ast::Query(mut query) = parse_one("VALUES (1)")? else {
        return Err(Error::internal("the form of a composed query"));
    };
    if let SetExpr::Values(form) = query.body.as_mut()
        && let Some(first) = form.rows.first_mut()
    {
        first.content = values;
    }
    Ok(*query)
}

/// The query with `ORDER BY key`.
pub(super) fn ordered(mut query: Query, key: Expr) -> Query {
    let key = OrderByExpr {
        expr: key,
        options: OrderByOptions::default(),
        with_fill: None,
    };
    query.order_by = Some(OrderBy {
        kind: OrderByKind::Expressions(vec![key]),
        interpolate: None,
    });
    query
}

/// `name AS alias (columns)`, as an item of FROM.
///
/// # Errors
/// As [`query`].
pub(super) fn table(name: ObjectName, alias: Ident, columns: Vec<Ident>) -> Result<TableFactor> {
    let form = form()?;
    let SetExpr::Select(select) = *form.body else {
        return Err(Error::internal("the form of a composed query"));
    };
    let mut items = select.from.into_iter();
    let mut item = items
        .next()
        .ok_or_else(|| Error::internal("the form of a composed query"))?
        .relation;
    if let TableFactor::Table {
        name: of,
        alias: called,
        ..
    } = &mut item
    {
        *of = name;
        *called = Some(aliased(alias, columns));
    }
    Ok(item)
}

/// `(query) AS alias (columns)`, as an item of FROM.
pub(super) fn derived(query: Query, alias: Ident, columns: Vec<Ident>) -> TableFactor {
    TableFactor::Derived {
        lateral: false,
        subquery: Box::new(query),
        alias: Some(aliased(alias, columns)),
        sample: None,
    }
}

fn aliased(name: Ident, columns: Vec<Ident>) -> TableAlias {
    let columns = columns.into_iter().map(|name| TableAliasColumnDef {
        name,
        data_type: None,
    });
    TableAlias {
        explicit: true,
        name,
        columns: columns.collect(),
        at: None,
    }
}

/// An item of FROM without joins.
pub(super) fn alone(relation: TableFactor) -> TableWithJoins {
    TableWithJoins {
        relation,
        joins: Vec::new(),
    }
}

/// A name that stands as it is.
pub(super) fn exact(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

/// A relation of a name that stands as it is.
pub(super) fn relation(name: &str) -> ObjectName {
    ObjectName::from(vec![exact(name)])
}

/// `table.column`.
pub(super) fn column(table: &Ident, column: &str) -> Expr {
    Expr::CompoundIdentifier(vec![table.clone(), exact(column)])
}

/// `value AS name`.
pub(super) fn named(expr: Expr, name: &str) -> SelectItem {
    SelectItem::ExprWithAlias {
        expr,
        alias: exact(name),
    }
}

/// `table.*`.
pub(super) fn all_of(table: &Ident) -> SelectItem {
    let name = ObjectName::from(vec![table.clone()]);
    SelectItem::QualifiedWildcard(Qualified::ObjectName(name), Default::default())
}

/// `left AND right`.
pub(super) fn both(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOperator::And, right)
}

/// `left = right`.
pub(super) fn equal(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOperator::Eq, right)
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

/// TRUE.
pub(super) fn truth() -> Expr {
    Expr::Value(Value::Boolean(true).with_empty_span())
}

/// FALSE.
pub(super) fn falsehood() -> Expr {
    Expr::Value(Value::Boolean(false).with_empty_span())
}

/// NULL.
pub(super) fn null() -> Expr {
    Expr::Value(Value::Null.with_empty_span())
}
