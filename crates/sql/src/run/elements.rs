//! Elements, slices and fields of columns that get values: `SET a[1] = 2`, `SET r.f = 2`,
//! `INSERT INTO t (a[1])`.
//!
//! ```text
//! SET a[1] = 2, a[2] = 3      a = put(put(a, 1, 2), 2, 3)
//! INSERT INTO t (a[1], a[2])  the same over NULL
//! ```

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::visit_expressions_mut;
use freestone_frontend::syntax::{self, marks};
use freestone_storage::{Catalog, ColumnType, ElementType, Table};
use sqlparser::ast::{
    AccessExpr, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Insert, ObjectName,
    Query, SelectItem, SetExpr,
};

use super::compose;
use super::insert::{column_names, columns_named};
use super::literal::is_default;
use crate::error::{Error, Result};
use crate::front::shown_declaration;
use crate::names::{Name, fold};

/// Whether an expression says what elements of a column get.
pub(super) fn are_assigned(expr: &Expr) -> bool {
    match expr {
        Expr::Function(call) => match call.name.0.as_slice() {
            [part] => part
                .as_ident()
                .is_some_and(|ident| is_mark(ident, marks::ASSIGN)),
            _ => false,
        },
        _ => false,
    }
}

fn is_mark(ident: &Ident, mark: &str) -> bool {
    ident.quote_style == Some(marks::QUOTE) && ident.value == mark
}

/// The expression with what has those elements.
pub(super) fn assigned_to(base: &Expr, expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    let mut done = false;
    let _: ControlFlow<()> = visit_expressions_mut(&mut expr, |part| {
        // That of the outer assignment is met first; others are inside of the base.
        if let Expr::Identifier(ident) = part
            && !done
            && is_mark(ident, marks::BASE)
        {
            *part = Expr::Nested(Box::new(base.clone()));
            done = true;
        }
        ControlFlow::Continue(())
    });
    expr
}

/// A column of INSERT, and the subscripts behind it as they are written.
fn target(name: &ObjectName) -> Option<(ObjectName, &str)> {
    let [column, subscripts] = name.0.as_slice() else {
        return None;
    };
    let ident = subscripts.as_ident()?;
    let text = match ident.quote_style {
        Some(marks::QUOTE) => ident.value.strip_prefix(marks::TARGET)?,
        _ => return None,
    };
    Some((ObjectName(vec![column.clone()]), text))
}

/// A column that an INSERT gives values to: its place in the table, and for each value its
/// place in the source and the subscripts of what gets it.
struct Given<'a> {
    column: usize,
    values: Vec<(usize, Option<&'a str>)>,
}

/// An INSERT that gives values to elements as one that gives them to columns; `None` if it
/// gives none to elements.
///
/// # Errors
/// `42701` for a column that is named twice, `42601` for another number of values.
pub(crate) fn inserted_elements(
    insert: &Insert,
    catalog: &Catalog,
    table: &Table,
    name: &Name,
) -> Result<Option<Insert>> {
    if insert.columns.iter().all(|column| target(column).is_none()) {
        return Ok(None);
    }
    let mut given: Vec<Given<'_>> = Vec::new();
    for (at, written) in insert.columns.iter().enumerate() {
        let (column, subscripts) = match target(written) {
            Some((column, subscripts)) => (column, Some(subscripts)),
            None => (written.clone(), None),
        };
        let named = column_names(std::slice::from_ref(&column))?;
        let places = columns_named(&table.schema, name, &named)?;
        let column = places.first().copied().unwrap_or_default();
        let known = given.iter_mut().find(|known| known.column == column);
        match known {
            None => given.push(Given {
                column,
                values: vec![(at, subscripts)],
            }),
            Some(known) => {
                let whole = known
                    .values
                    .iter()
                    .any(|(_, subscripts)| subscripts.is_none());
                if subscripts.is_none() || whole {
                    let column = &table.schema.columns[column].name;
                    let message = format!("column \"{column}\" specified more than once");
                    return Err(Error::new("42701", message));
                }
                known.values.push((at, subscripts));
            }
        }
    }
    let Some(source) = &insert.source else {
        return Err(Error::internal("an INSERT with columns and no source"));
    };
    let width = insert.columns.len();
    let mut insert = insert.clone();
    insert.columns = given
        .iter()
        .map(|given| {
            let name = &table.schema.columns[given.column].name;
            ObjectName::from(vec![Ident::with_quote('"', name)])
        })
        .collect();
    insert.source = Some(Box::new(changed(source, &given, (catalog, table), width)?));
    Ok(Some(insert))
}

/// The source with a value for each column.
fn changed(
    source: &Query,
    given: &[Given<'_>],
    (catalog, table): (&Catalog, &Table),
    width: usize,
) -> Result<Query> {
    let bare = source.with.is_none() && source.order_by.is_none() && source.limit_clause.is_none();
    if let SetExpr::Values(values) = source.body.as_ref()
        && bare
    {
        let mut values = values.clone();
        for row in &mut values.rows {
            if row.content.len() != width {
                let more = match row.content.len() > width {
                    true => "INSERT has more expressions than target columns",
                    false => "INSERT has more target columns than expressions",
                };
                return Err(Error::new("42601", more));
            }
            let content = given
                .iter()
                .map(|given| value(given, catalog, table, |at| row.content[at].clone()));
            row.content = content.collect::<Result<_>>()?;
        }
        let mut source = source.clone();
        source.body = Box::new(SetExpr::Values(values));
        return Ok(source);
    }
    if let SetExpr::Select(select) = source.body.as_ref()
        && bare
        && select.distinct.is_none()
        && select.projection.len() == width
        && let Some(items) = select
            .projection
            .iter()
            .map(value_of)
            .collect::<Option<Vec<&Expr>>>()
    {
        let content = given
            .iter()
            .map(|given| value(given, catalog, table, |at| items[at].clone()));
        let content = content.collect::<Result<Vec<Expr>>>()?;
        let mut select = select.clone();
        select.projection = content.into_iter().map(SelectItem::UnnamedExpr).collect();
        let mut source = source.clone();
        source.body = Box::new(SetExpr::Select(select));
        return Ok(source);
    }
    let name = |at: usize| compose::exact(&(at + 1).to_string());
    let list = given.iter().map(|given| {
        let value = value(given, catalog, table, |at| Expr::Identifier(name(at)))?;
        Ok(SelectItem::UnnamedExpr(value))
    });
    let list = list.collect::<Result<Vec<SelectItem>>>()?;
    let (called, names) = (compose::exact("source"), (0..width).map(name));
    let inner = compose::derived(source.clone(), called, names.collect());
    compose::query(list, vec![compose::alone(inner)], None)
}

/// The expression of an item of a SELECT list that is one value.
fn value_of(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// The value of a column.
fn value(
    given: &Given<'_>,
    catalog: &Catalog,
    table: &Table,
    source: impl Fn(usize) -> Expr,
) -> Result<Expr> {
    let column = &table.schema.columns[given.column];
    // A record is of a type that has a name only.
    let of = match column.kind {
        ColumnType::Record
        | ColumnType::Array {
            element: ElementType::Record,
            ..
        } => shown_declaration(catalog, column),
        kind => kind.to_string(),
    };
    let mut base = syntax::expression(&format!("CAST(NULL AS {of})"))?;
    for (at, subscripts) in &given.values {
        let value = source(*at);
        let Some(subscripts) = subscripts else {
            return Ok(value);
        };
        if is_default(&value) {
            let message = match subscripts.starts_with('.') {
                true => "cannot set a subfield to DEFAULT",
                false => "cannot set an array element to DEFAULT",
            };
            return Err(Error::unsupported(message));
        }
        let (quote, assign, of) = (marks::QUOTE, marks::ASSIGN, marks::BASE);
        let text = format!("{quote}{assign}{quote}(({quote}{of}{quote}){subscripts}, NULL)");
        let mut call = syntax::expression(&text)?;
        if let Expr::Function(call) = &mut call
            && let FunctionArguments::List(list) = &mut call.args
            && let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(last))) = list.args.last_mut()
        {
            *last = value;
        }
        base = assigned_to(&base, &call);
    }
    Ok(base)
}

/// The assignment to a name behind that of its table, `SET t.a = 1`, which is read as an
/// assignment to a field of `t`: the name of the column and the value; `None` for other values.
pub(super) fn without_table(assigned: &Expr) -> Option<(String, Expr)> {
    let mut rest = assigned.clone();
    let Expr::Function(call) = &mut rest else {
        return None;
    };
    let FunctionArguments::List(list) = &mut call.args else {
        return None;
    };
    let [
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::CompoundFieldAccess {
            access_chain, ..
        })),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(value)),
    ] = list.args.as_mut_slice()
    else {
        return None;
    };
    let AccessExpr::Dot(Expr::Identifier(name)) = access_chain.first()?.clone() else {
        return None;
    };
    access_chain.remove(0);
    let value = match access_chain.is_empty() {
        true => value.clone(),
        false => rest,
    };
    Some((fold(&name), value))
}

/// The folded name of a column that is assigned.
pub(super) fn named(name: &ObjectName) -> Result<String> {
    let ident = name.0.last().and_then(|part| part.as_ident());
    let ident =
        ident.ok_or_else(|| Error::new("42601", format!("{name} is not the name of a column")))?;
    Ok(fold(ident))
}
