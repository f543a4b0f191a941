//! Column names of results, as PostgreSQL chooses them.
//!
//! DataFusion names an unnamed column after its expression (`sum(t.a)`,
//! `Int64(1)`); PostgreSQL takes the function's or the column's name and else
//! `?column?`. The names of the outermost result are changed when it is handed
//! out. Inner queries (`FROM (SELECT count(*) …)`), whose names others refer to,
//! get aliases before planning, unless two columns would share one.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Expr as Logical, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{
    AccessExpr, Cte, Expr, Ident, Query, Select, SelectItem, SetExpr, Statement as Ast,
    TableFactor, VisitMut, VisitorMut,
};

use super::names::{fold, fold_part};
use super::pg_catalog::PG_CATALOG;

/// The name of an unnamed column without a better one.
const UNNAMED: &str = "?column?";

/// PostgreSQL's name for an expression in a SELECT list.
pub(crate) fn column_name(expr: &Expr) -> String {
    strong_name(expr).unwrap_or_else(|| UNNAMED.to_owned())
}

fn strong_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(fold(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(fold),
        Expr::CompoundFieldAccess { root, access_chain } => match access_chain.last() {
            Some(AccessExpr::Dot(field)) => strong_name(field),
            _ => strong_name(root),
        },
        Expr::Function(call) => call.name.0.last()?.as_ident().map(fold),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => strong_name(inner),
        Expr::Cast {
            expr, data_type, ..
        } => strong_name(expr).or_else(|| type_word(&data_type.to_string())),
        Expr::TypedString(typed) => type_word(&typed.data_type.to_string()),
        Expr::Interval(_) => Some("interval".to_owned()),
        Expr::Case { else_result, .. } => else_result
            .as_deref()
            .and_then(strong_name)
            .or_else(|| Some("case".to_owned())),
        Expr::Exists { .. } => Some("exists".to_owned()),
        Expr::Extract { .. } => Some("extract".to_owned()),
        Expr::Ceil { .. } => Some("ceil".to_owned()),
        Expr::Floor { .. } => Some("floor".to_owned()),
        Expr::Position { .. } => Some("position".to_owned()),
        Expr::Substring { .. } => Some("substring".to_owned()),
        Expr::Trim { .. } => Some("btrim".to_owned()),
        Expr::Overlay { .. } => Some("overlay".to_owned()),
        Expr::Array(_) => Some("array".to_owned()),
        Expr::Subquery(query) => match select_of(query)?.projection.as_slice() {
            [SelectItem::UnnamedExpr(expr)] => Some(column_name(expr)),
            [SelectItem::ExprWithAlias { alias, .. }] => Some(fold(alias)),
            _ => None,
        },
        _ => None,
    }
}

/// PostgreSQL's internal word for a type, which it uses as a column name.
fn type_word(written: &str) -> Option<String> {
    let lower = written.to_lowercase();
    let word = lower.split(['(', ' ']).next()?;
    Some(
        match word {
            "int" | "integer" => "int4",
            "bigint" => "int8",
            "smallint" => "int2",
            "double" | "float" => "float8",
            "real" => "float4",
            "decimal" | "dec" => "numeric",
            "boolean" => "bool",
            "character" if lower.contains("varying") => "varchar",
            "char" | "character" => "bpchar",
            other => other,
        }
        .to_owned(),
    )
}

/// The SELECT that names a query's columns.
fn select_of(query: &Query) -> Option<&Select> {
    fn leftmost(body: &SetExpr) -> Option<&Select> {
        match body {
            SetExpr::Select(select) => Some(select),
            SetExpr::Query(query) => leftmost(&query.body),
            SetExpr::SetOperation { left, .. } => leftmost(left),
            _ => None,
        }
    }
    leftmost(&query.body)
}

/// Names for `width` output columns; `None` where the plan's name stands.
fn output_names(ast: &Ast, width: usize) -> Vec<Option<String>> {
    let unknown = || vec![None; width];
    let Ast::Query(query) = ast else {
        return unknown();
    };
    if let SetExpr::Values(_) = query.body.as_ref() {
        return (1..=width).map(|n| Some(format!("column{n}"))).collect();
    }
    let Some(select) = select_of(query) else {
        return unknown();
    };
    let is_wildcard = |item: &SelectItem| {
        matches!(
            item,
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(_, _)
        )
    };
    let wildcards = select.projection.iter().filter(|i| is_wildcard(i)).count();
    let plain = select.projection.len() - wildcards;
    if wildcards > 1 || plain > width || (wildcards == 0 && plain != width) {
        return unknown();
    }
    let mut names = Vec::with_capacity(width);
    for item in &select.projection {
        match item {
            SelectItem::UnnamedExpr(expr) => names.push(Some(column_name(expr))),
            SelectItem::ExprWithAlias { alias, .. } => names.push(Some(fold(alias))),
            SelectItem::ExprWithAliases { .. } => return unknown(),
            _ => names.extend(std::iter::repeat_n(None, width - plain)),
        }
    }
    names
}

/// The names of a query's result, in order.
pub(crate) fn result_names(ast: &Ast, plan: &LogicalPlan) -> Vec<String> {
    let fields = plan.schema().fields();
    output_names(ast, fields.len())
        .into_iter()
        .zip(fields.iter())
        .map(|(name, field)| name.unwrap_or_else(|| field.name().clone()))
        .collect()
}

/// Gives a plan's columns the names of [`result_names`], where they differ.
///
/// # Errors
/// `42701` when two columns would have one name.
pub(crate) fn rename_output(ast: &Ast, plan: LogicalPlan) -> DfResult<LogicalPlan> {
    let names = result_names(ast, &plan);
    let columns = plan.schema().columns();
    let bare = columns.iter().all(|column| column.relation.is_none());
    if bare && columns.iter().map(|column| &column.name).eq(&names) {
        return Ok(plan);
    }
    let projection: Vec<Logical> = columns
        .into_iter()
        .zip(names)
        .map(|(column, name)| Logical::Column(column).alias(name))
        .collect();
    LogicalPlanBuilder::from(plan).project(projection)?.build()
}

/// Names unnamed columns of inner queries, which outer ones may refer to.
pub(crate) fn name_inner_columns(ast: &mut Ast) {
    let _ = VisitMut::visit(ast, &mut Inner);
}

struct Inner;

impl VisitorMut for Inner {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Derived {
            subquery, alias, ..
        } = factor
            && alias.as_ref().is_none_or(|alias| alias.columns.is_empty())
        {
            name_columns(&mut subquery.body);
        }
        // Functions have no schemas here.
        if let TableFactor::Table {
            name,
            args: Some(_),
            ..
        } = factor
            && let [schema, _] = name.0.as_slice()
            && fold_part(schema).is_some_and(|schema| schema == PG_CATALOG)
        {
            name.0.remove(0);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        for Cte { alias, query, .. } in query.with.iter_mut().flat_map(|w| &mut w.cte_tables) {
            if alias.columns.is_empty() {
                name_columns(&mut query.body);
            }
        }
        ControlFlow::Continue(())
    }
}

fn name_columns(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => name_select(select),
        SetExpr::Query(query) => name_columns(&mut query.body),
        SetExpr::SetOperation { left, .. } => name_columns(left),
        _ => {}
    }
}

fn name_select(select: &mut Select) {
    let mut taken: HashSet<String> = HashSet::new();
    let mut twice: HashSet<String> = HashSet::new();
    for item in &select.projection {
        let name = match item {
            SelectItem::UnnamedExpr(expr) => column_name(expr),
            SelectItem::ExprWithAlias { alias, .. } => fold(alias),
            _ => continue,
        };
        if !taken.insert(name.clone()) {
            twice.insert(name);
        }
    }
    for item in &mut select.projection {
        let SelectItem::UnnamedExpr(expr) = item else {
            continue;
        };
        if matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) {
            continue;
        }
        let name = column_name(expr);
        if !twice.contains(&name) {
            alias(item, &name);
        }
    }
}

fn alias(item: &mut SelectItem, name: &str) {
    if let SelectItem::UnnamedExpr(expr) = item {
        *item = SelectItem::ExprWithAlias {
            expr: expr.clone(),
            alias: Ident::with_quote('"', name),
        };
    }
}

/// Gives every unnamed column of every SELECT list, and every repeated alias, a
/// name of its own, for DataFusion's sake: two columns may not share one there.
pub(crate) fn name_every_column(ast: &mut Ast) {
    let _ = VisitMut::visit(ast, &mut Every);
}

struct Every;

impl VisitorMut for Every {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let mut taken: HashSet<String> = HashSet::new();
        for item in &mut select.projection {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let keep = matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
                    let name = column_name(expr);
                    if keep && taken.insert(name.clone()) {
                        continue;
                    }
                    let name = free(&name, &mut taken);
                    alias(item, &name);
                }
                SelectItem::ExprWithAlias { alias, .. } => {
                    let name = fold(alias);
                    if !taken.insert(name.clone()) {
                        *alias = Ident::with_quote('"', free(&name, &mut taken));
                    }
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    }
}

/// `name`, or `name` with the first number that makes it new.
fn free(name: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut number = 1;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{name} {number}");
        number += 1;
    }
    candidate
}
