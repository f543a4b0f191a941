//! What SET gives to the columns of a row: in UPDATE, MERGE and ON CONFLICT.

use freestone_storage::{Catalog, Column, Table};
use sqlparser::ast::{
    Assignment, AssignmentTarget, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Ident, ObjectName, ObjectNamePart, Query, SelectItem, SetExpr,
};
use std::collections::HashSet;

use super::change::Changed;
use super::compose;
use super::elements::{are_assigned, assigned_to, named, without_table};
use super::identity::must_not_be_always;
use super::insert::columns_named;
use super::literal::is_default;
use crate::error::{Error, Result};
use crate::front::{default_of, parse_expr};
use crate::names::{Name, fold};
use crate::relations::Gives;
use crate::relations::updatable::{Command, Through};

/// What a statement does with a column of a row.
pub(super) enum Assigned {
    /// Nothing.
    Same,
    /// It gets the value of this expression.
    Value(Box<Expr>),
}

/// The columns that get values.
pub(super) fn given(assigned: &[Assigned]) -> Vec<usize> {
    let columns = assigned.iter().enumerate();
    let given = columns.filter(|(_, assigned)| matches!(assigned, Assigned::Value(_)));
    given.map(|(column, _)| column).collect()
}

/// What SET does with each column of the table.
///
/// # Errors
/// `42703` and `42701` for names; `428C9` for columns GENERATED ALWAYS; `0A000` for forms that are not done.
pub(super) fn assigned_columns(
    catalog: &Catalog,
    table: &Table,
    (name, called, through): (&Name, &str, Option<(&Through, Command)>),
    assignments: &[Assignment],
) -> Result<Vec<Assigned>> {
    let has_column = |name: &str| match through {
        Some((through, _)) => through.has_column(name),
        None => table.schema.index_of(name).is_some(),
    };
    let given = column_values(assignments, called, &has_column)?;
    let values = given.iter().map(|(_, value)| value);
    Gives::of(catalog, values)?.refuse("UPDATE")?;
    let defaults = given.iter().map(|(name, _)| {
        let default = through.and_then(|(through, _)| through.default_of(name));
        default.map(str::to_owned)
    });
    let defaults: Vec<Option<String>> = defaults.collect();
    let names = given.iter().map(|(name, _)| match through {
        Some((through, command)) => through.column(name, command),
        None => Ok(name.clone()),
    });
    let names = names.collect::<Result<Vec<String>>>()?;
    let places = columns_named(&table.schema, name, &names).map_err(|error| {
        if error.sqlstate == "42701" {
            let mut seen = HashSet::new();
            let twice = names.iter().find(|name| !seen.insert(name.as_str()));
            let twice = twice.map_or("", String::as_str);
            let message = format!("multiple assignments to same column \"{twice}\"");
            return Error::new("42601", message);
        }
        error
    })?;
    let columns = table.schema.columns.iter().enumerate();
    let assigned = columns.map(|(index, column)| {
        let place = places.iter().position(|place| *place == index);
        match place {
            None => Ok(Assigned::Same),
            Some(place) if is_default(&given[place].1) => {
                // Of a view it is that of the view's column, and else NULL.
                let default = match through {
                    Some(_) => {
                        must_not_be_always(column)?;
                        defaults[place].clone()
                    }
                    None => default_of(catalog, column).map(str::to_owned),
                };
                Ok(Assigned::Value(Box::new(match default {
                    Some(text) => parse_expr(&text)?,
                    None => compose::null(),
                })))
            }
            Some(place) => {
                must_not_be_always(column)?;
                Ok(Assigned::Value(Box::new(given[place].1.clone())))
            }
        }
    });
    assigned.collect()
}

/// The columns that SET names, each with the value that it gets: those of lists one by one, and
/// elements and fields put into the column of the relation that is called so.
///
/// # Errors
/// `0A000` for forms that are not done.
pub(crate) fn column_values(
    assignments: &[Assignment],
    called: &str,
    has_column: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, Expr)>> {
    let is_part = |name: &ObjectName| {
        let first = name.0.first().and_then(|part| part.as_ident());
        name.0.len() > 1 && first.is_some_and(|ident| has_column(&fold(ident)))
    };
    let mut given: Vec<(String, Expr)> = Vec::new();
    for assignment in assignments {
        match (&assignment.target, &assignment.value) {
            (AssignmentTarget::ColumnName(name), value) if are_assigned(value) => {
                let (mut name, mut value) = (named(name)?, value.clone());
                if !has_column(&name)
                    && name == called
                    && let Some((column, rest)) = without_table(&value)
                {
                    (name, value) = (column, rest);
                    if !are_assigned(&value) {
                        given.push((name, value));
                        continue;
                    }
                }
                let before = given.iter_mut().find(|(known, _)| *known == name);
                match before {
                    Some((_, before)) if are_assigned(before) => {
                        *before = assigned_to(before, &value);
                    }
                    // Another assignment of the whole column.
                    Some(_) => given.push((name, value)),
                    None => {
                        let base = compose::column(&compose::exact(called), &name);
                        given.push((name, assigned_to(&base, &value)));
                    }
                }
            }
            (AssignmentTarget::ColumnName(name), value) => {
                given.push((named(name)?, value.clone()));
            }
            (AssignmentTarget::Tuple(names), _) if names.iter().any(is_part) => {
                return Err(Error::unsupported(
                    "SET (…) = … with a field or an element of a column is not supported",
                ));
            }
            (AssignmentTarget::Tuple(names), Expr::Tuple(values))
                if names.len() == values.len() =>
            {
                for (name, value) in names.iter().zip(values) {
                    given.push((named(name)?, value.clone()));
                }
            }
            (AssignmentTarget::Tuple(names), Expr::Function(call))
                if row_of(call).is_some_and(|values| values.len() == names.len()) =>
            {
                for (name, value) in names.iter().zip(row_of(call).into_iter().flatten()) {
                    given.push((named(name)?, value.clone()));
                }
            }
            (AssignmentTarget::Tuple(names), Expr::Subquery(query)) => {
                for (place, name) in names.iter().enumerate() {
                    let value = column_of_query(query, place, names.len())?;
                    given.push((named(name)?, value));
                }
            }
            (AssignmentTarget::Tuple(_), _) => {
                return Err(Error::unsupported(
                    "SET (…) = … with anything but a list of as many values, or a query, is not supported",
                ));
            }
        }
    }
    Ok(given)
}

/// The values of `ROW(…)`.
fn row_of(call: &Function) -> Option<Vec<&Expr>> {
    let [ObjectNamePart::Identifier(name)] = call.name.0.as_slice() else {
        return None;
    };
    let FunctionArguments::List(list) = &call.args else {
        return None;
    };
    if name.quote_style.is_some() || !name.value.eq_ignore_ascii_case("row") {
        return None;
    }
    let values = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => Some(value),
        _ => None,
    });
    values.collect()
}

/// The query of one value that a query of one row of `count` values has at `place`.
fn column_of_query(query: &Query, place: usize, count: usize) -> Result<Expr> {
    let plain = |item: &SelectItem| {
        matches!(
            item,
            SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. }
        )
    };
    match query.body.as_ref() {
        SetExpr::Select(select) if select.projection.iter().all(plain) => {
            if select.projection.len() != count {
                let message = format!(
                    "number of columns does not match number of values: {count} and {}",
                    select.projection.len()
                );
                return Err(Error::new("42601", message));
            }
            if select.distinct.is_some() || query.order_by.is_some() {
                return column_of_rows(query, place, count);
            }
            let mut query = query.clone();
            if let SetExpr::Select(select) = query.body.as_mut() {
                select.projection = vec![select.projection.swap_remove(place)];
            }
            Ok(Expr::Subquery(Box::new(query)))
        }
        _ => column_of_rows(query, place, count),
    }
}

/// A query of one value that reads column `place` of any query's rows. The union with `count`
/// NULLs, of which there is no row, refuses a query with another number of columns.
fn column_of_rows(query: &Query, place: usize, count: usize) -> Result<Expr> {
    let names = (0..count).map(|at| compose::exact(&format!("c{at}")));
    let names: Vec<Ident> = names.collect();
    let nulls = vec![SelectItem::UnnamedExpr(compose::null()); count];
    let none = compose::query(nulls, Vec::new(), Some(compose::falsehood()))?;
    let called = compose::exact("q");
    let value = compose::column(&called, &names[place].value);
    let rows = compose::derived(compose::union_all(query.clone(), none)?, called, names);
    let list = vec![SelectItem::UnnamedExpr(value)];
    let value = compose::query(list, vec![compose::alone(rows)], None)?;
    Ok(Expr::Subquery(Box::new(value)))
}

/// An expression for each column of the table: the assigned one, or the column itself.
pub(super) fn new_values(
    table: &Table,
    changed: &Changed,
    assigned: &[Assigned],
) -> Vec<SelectItem> {
    let columns = table.schema.columns.iter().zip(assigned);
    columns.map(|column| new_value(changed, column)).collect()
}

/// The same for one column.
pub(super) fn new_value(changed: &Changed, (column, assigned): (&Column, &Assigned)) -> SelectItem {
    let value = match assigned {
        Assigned::Same => match &changed.through {
            Some(through) => compose::column(&changed.alias, &through.in_sight(&column.name)),
            None => compose::column(&changed.alias, &column.name),
        },
        Assigned::Value(value) => (**value).clone(),
    };
    compose::named(value, &column.name)
}
