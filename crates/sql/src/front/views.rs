//! The columns of views.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use freestone_frontend::bind::{Binder, Catalog, Found};
use freestone_frontend::types::Type;
use freestone_frontend::{Position, Result as FrontResult};

use super::names::Names;
use super::session_of;
use crate::error::Result;
use crate::relations::{Relations, query_of_view};
use crate::statement::parse_one;

/// Names and types that are the language's own.
pub(crate) struct Nothing;

impl Catalog for Nothing {
    fn relation(
        &self,
        _: Option<&str>,
        _: &str,
        _: Option<Position>,
    ) -> FrontResult<Option<Found>> {
        Ok(None)
    }
}

/// Names and types of the columns of a view.
///
/// # Errors
/// Whatever is wrong with its query.
pub(crate) fn columns_of_view(
    relations: &Relations<'_>,
    schema: &str,
    name: &str,
) -> Result<Vec<(String, Type)>> {
    let before = relations.describing.swap(true, Ordering::Relaxed);
    let columns = bound_columns(relations, schema, name);
    relations.describing.store(before, Ordering::Relaxed);
    columns
}

fn bound_columns(
    relations: &Relations<'_>,
    schema: &str,
    name: &str,
) -> Result<Vec<(String, Type)>> {
    let Some(query) = query_of_view(&relations.snapshot, schema, name) else {
        return Ok(Vec::new());
    };
    let sqlparser::ast::Statement::Query(query) = parse_one(&query.sql)? else {
        return Err(crate::Error::internal("a view that is no query"));
    };
    let session = Arc::new(session_of(relations));
    let names = Names::new(relations);
    names.enter_view(Some(schema), name)?;
    let bound = Binder::new(&names, &session).query(&query);
    names.leave_view();
    let columns = bound?.columns.into_iter();
    Ok(columns.map(|column| (column.name, column.ty)).collect())
}
