//! Expressions of the front over rows at hand, whose columns a table has.
//!
//! DataFusion knows values of NUMERIC, JSONB, TIMETZ and arrays by their forms in columns only.
//! Schemas of such tables say the types of their columns in their fields' metadata, and an
//! expression that reads one of these columns is bound here.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::common::{Column as Place, DFSchema, TableReference};
use datafusion::logical_expr::Expr as Computed;
use datafusion::sql::sqlparser::ast::{Expr, visit_expressions};
use freestone_frontend::bind::Binder;
use freestone_frontend::plan::{Column, ColumnId};
use freestone_frontend::types::Type;
use freestone_storage::{ColumnType, TableSchema};

use super::names::{Names, type_of_column};
use super::session::session_of;
use crate::error::Result;
use crate::lower::{Surroundings, over_columns};
use crate::plan::names::fold;
use crate::plan::relations::Relations;

/// The key of a field's metadata under which the type of its column stands.
const COLUMN: &str = "freestone.column";

/// The Arrow schema of a table, with the types of its columns if one is of the front alone.
pub(crate) fn with_types(schema: &TableSchema) -> Schema {
    let arrow = schema.arrow();
    if schema.columns.iter().all(|column| column.kind.has_keys()) {
        return arrow.as_ref().clone();
    }
    let fields = arrow.fields().iter().zip(&schema.columns);
    let fields = fields.map(|(field, column)| {
        let field = field.as_ref().clone();
        match serde_json::to_string(&column.kind) {
            Ok(kind) => field.with_metadata(HashMap::from([(COLUMN.to_owned(), kind)])),
            Err(_) => field,
        }
    });
    Schema::new(fields.collect::<Vec<_>>())
}

fn kind_of(field: &Field) -> Option<ColumnType> {
    serde_json::from_str(field.metadata().get(COLUMN)?).ok()
}

/// Whether an expression reads a column that the front alone knows.
fn reads_one(expr: &Expr, columns: &DFSchema) -> bool {
    let mut of_front = columns.fields().iter().filter(|field| {
        let kind = kind_of(field);
        kind.is_some_and(|kind| !kind.has_keys())
    });
    let names: Vec<&str> = of_front.by_ref().map(|field| field.name().as_str()).collect();
    if names.is_empty() {
        return false;
    }
    let found = visit_expressions(expr, |part| {
        let name = match part {
            Expr::Identifier(ident) => Some(fold(ident)),
            Expr::CompoundIdentifier(parts) => parts.last().map(fold),
            _ => None,
        };
        match name.is_some_and(|name| names.contains(&name.as_str())) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    found.is_break()
}

/// An expression over rows at hand and its type, if it reads a column that the front alone
/// knows, or is stored in one.
///
/// # Errors
/// Whatever is wrong with it.
pub(crate) fn over_rows(
    relations: &Relations<'_>,
    expr: &Expr,
    columns: &DFSchema,
    to: Option<&ColumnType>,
) -> Result<Option<(Computed, Type)>> {
    let stored = to.filter(|kind| !kind.has_keys());
    if stored.is_none() && !reads_one(expr, columns) {
        return Ok(None);
    }
    let mut named: Vec<(String, Vec<Column>)> = Vec::new();
    let mut places = HashMap::new();
    for (number, (qualifier, field)) in (1..).zip(columns.iter()) {
        let alias = qualifier.map_or("", TableReference::table);
        let ty = match kind_of(field) {
            Some(kind) => type_of_column(&kind),
            None => super::names::type_of(field),
        };
        let id = ColumnId(number);
        let place = Place::new(qualifier.cloned(), field.name());
        places.insert(id, (Computed::Column(place), ty.clone()));
        let column = Column {
            id,
            name: field.name().clone(),
            ty,
        };
        match named.iter_mut().find(|(known, _)| known == alias) {
            Some((_, columns)) => columns.push(column),
            None => named.push((alias.to_owned(), vec![column])),
        }
    }
    let named: Vec<(&str, &[Column])> = named
        .iter()
        .map(|(alias, columns)| (alias.as_str(), columns.as_slice()))
        .collect();
    let session = Arc::new(session_of(relations));
    let names = Names::new(relations);
    let to = stored.map(type_of_column);
    let bound = Binder::new(&names, &session).expression(expr, &named, to.as_ref())?;
    let around = Surroundings {
        session,
        parameters: Arc::from(Vec::new()),
    };
    let computed = over_columns(&bound, &places, &around)?;
    Ok(Some((computed, bound.ty)))
}
