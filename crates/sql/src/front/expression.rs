//! Expressions over rows at hand, such as DEFAULTs and CHECKs, bound by the front.

use std::sync::Arc;

use datafusion::common::{Column as Place, DFSchema, TableReference};
use datafusion::logical_expr::Expr as Lowered;
use datafusion::sql::sqlparser::ast::Expr;
use freestone_frontend::bind::Binder;
use freestone_frontend::plan::{Column, ColumnId};

use super::names::{Names, type_of};
use super::session_of;
use crate::error::Result;
use crate::lower::{self, Surroundings};
use crate::plan::relations::Relations;

/// Columns are numbered from here on; those that the binder makes come before.
const FIRST: u32 = 1 << 30;

/// An expression over columns, as DataFusion evaluates it.
///
/// # Errors
/// Whatever is wrong with it; `0A000` for sub-queries.
pub(crate) fn lowered_expression(
    relations: &Relations<'_>,
    expr: &Expr,
    columns: &DFSchema,
) -> Result<Lowered> {
    let session = Arc::new(session_of(relations));
    let names = Names::new(relations);
    let mut tables: Vec<(String, Vec<Column>)> = Vec::new();
    let mut places = Vec::new();
    for ((qualifier, field), number) in columns.iter().zip(FIRST..) {
        let column = Column {
            id: ColumnId(number),
            name: field.name().clone(),
            ty: type_of(field),
        };
        let table = qualifier.map(TableReference::table).unwrap_or_default();
        match tables.iter_mut().find(|(name, _)| name == table) {
            Some((_, columns)) => columns.push(column.clone()),
            None => tables.push((table.to_owned(), vec![column.clone()])),
        }
        let place = Place::new(qualifier.cloned(), field.name());
        places.push((column, Lowered::Column(place), field.data_type().clone()));
    }
    let bound = Binder::new(&names, &session).expression(expr, &tables, None)?;
    let around = Surroundings {
        session,
        parameters: Arc::from(Vec::new()),
    };
    lower::lowered_expression(&bound, &places, &around)
}
