//! Expressions over rows at hand, such as DEFAULTs and CHECKs, bound by the front.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use freestone_frontend::bind::{Binder, RowName};
use freestone_frontend::functions::{Session, Volatility};
use freestone_frontend::plan::{Column, ColumnId, Expr as Bound, ExprKind};
use freestone_frontend::types::Type;
use freestone_storage::{Column as Stored, ColumnType, Hidden, TableSchema};
use sqlparser::ast::Expr;

use super::declared::{type_of_stored, type_to_store};
use super::evaluation::place;
use super::names::Names;
use super::{Columns, condition_of, here_or_where_there_is_room, parse_expr, session_of};
use crate::error::Result;
use crate::expression::Expr as Lowered;
use crate::lower::{self, FIRST, Surroundings, Term};
use crate::relations::Relations;
use crate::types::type_of;

/// The key of a field's metadata under which the type of its column stands.
pub(crate) const COLUMN: &str = "freestone.column";

/// The Arrow schema of a table. Fields say the types of their columns if that of one is not
/// known by its Arrow type.
pub(crate) fn with_types(schema: &TableSchema) -> Schema {
    let arrow = schema.arrow();
    let by_arrow = |column: &Stored| {
        let other = matches!(
            column.kind,
            ColumnType::Json | ColumnType::Char(_) | ColumnType::Varchar(_)
        );
        column.is_plain() && !other
    };
    if schema.columns.iter().all(by_arrow) {
        return arrow.as_ref().clone();
    }
    let fields = arrow.fields().iter().zip(&schema.columns);
    let fields = fields.map(|(field, column)| {
        let field = field.as_ref().clone();
        match serde_json::to_string(column) {
            Ok(kind) => field.with_metadata(HashMap::from([(COLUMN.to_owned(), kind)])),
            Err(_) => field,
        }
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// The column of a table that a field is of, if its Arrow type does not say its type.
fn column_of(field: &Field) -> Option<Stored> {
    serde_json::from_str(field.metadata().get(COLUMN)?).ok()
}

/// What becomes of the value of an expression.
#[derive(Clone, Copy)]
pub(crate) enum Purpose<'a> {
    /// It is stored in a column, if that is known, or something depends on it.
    Stored(Option<&'a Stored>),
    /// A client is shown it.
    Shown,
}

/// An expression over columns, bound.
struct Over {
    bound: Bound,
    places: Vec<(Column, Lowered, DataType)>,
    session: Arc<Session>,
}

fn bound_over(
    relations: &Relations<'_>,
    expr: &Expr,
    columns: &Columns,
    to: Option<&(String, Type)>,
) -> Result<Over> {
    let session = Arc::new(session_of(relations));
    let mut tables: Vec<(RowName, Vec<Column>)> = Vec::new();
    let mut places = Vec::new();
    for ((at, (table, field)), number) in columns.all.iter().enumerate().zip(FIRST..) {
        let column = Column {
            id: ColumnId(number),
            name: field.name().clone(),
            ty: match column_of(field) {
                Some(column) => type_of_stored(&relations.snapshot, &column),
                None => type_of(field),
            },
        };
        match tables.iter_mut().find(|((name, _), _)| name == table) {
            Some((_, columns)) => columns.push(column.clone()),
            None => tables.push(((table.clone(), columns.row_type), vec![column.clone()])),
        }
        let place = Lowered::Column(place(at, field));
        places.push((column, place, field.data_type().clone()));
    }
    let bound = here_or_where_there_is_room(|| {
        let names = Names::new(relations);
        let binder = Binder::new(&names, &session);
        Ok(binder.expression(expr, &tables, to)?)
    })?;
    Ok(Over {
        bound,
        places,
        session,
    })
}

/// An expression over columns as one over arrays, and its type.
///
/// # Errors
/// Whatever is wrong with it; `0A000` for sub-queries.
pub(crate) fn lowered_expression(
    relations: &Relations<'_>,
    expr: &Expr,
    columns: &Columns,
    purpose: Purpose<'_>,
) -> Result<(Lowered, Type)> {
    let to = match purpose {
        Purpose::Stored(to) => to.map(|column| {
            let ty = type_to_store(&relations.snapshot, column);
            (column.name.clone(), ty)
        }),
        Purpose::Shown => None,
    };
    let Over {
        bound,
        places,
        session,
    } = bound_over(relations, expr, columns, to.as_ref())?;
    let around = Surroundings {
        session,
        parameters: Arc::from(Vec::new()),
    };
    let is_shown = matches!(purpose, Purpose::Shown);
    let lowered = lower::lowered_expression(&bound, &places, &around, is_shown)?;
    Ok((lowered, bound.ty))
}

/// The hidden columns of a table, for conditions that they answer.
///
/// # Errors
/// Whatever is wrong with their expressions.
pub(crate) fn terms_of(relations: &Relations<'_>, schema: &TableSchema) -> Result<Vec<Term>> {
    let mut terms = Vec::new();
    for (at, column) in schema.columns.iter().enumerate() {
        let expr = match column.hidden {
            None => continue,
            Some(Hidden::Condition) => condition_of(column)?,
            Some(Hidden::Expression) => parse_expr(column.default.as_deref().unwrap_or_default())?,
        };
        terms.push(Term {
            at,
            value: bound_over(relations, &expr, &Columns::of(schema, ""), None)?.bound,
            is_condition: column.hidden == Some(Hidden::Condition),
        });
    }
    Ok(terms)
}

/// Whether two expressions over columns are one as they are bound.
///
/// # Errors
/// Whatever is wrong with them.
pub(crate) fn is_same(
    relations: &Relations<'_>,
    (one, other): (&Expr, &Expr),
    columns: &Columns,
) -> Result<bool> {
    let one = bound_over(relations, one, columns, None)?.bound;
    Ok(one == bound_over(relations, other, columns, None)?.bound)
}

/// The type of an expression over columns.
///
/// # Errors
/// Whatever is wrong with it.
pub(crate) fn type_of_expression(
    relations: &Relations<'_>,
    expr: &Expr,
    columns: &Columns,
) -> Result<Type> {
    Ok(bound_over(relations, expr, columns, None)?.bound.ty)
}

/// Whether an expression over columns has the same value for the same row at any time.
///
/// # Errors
/// Whatever is wrong with it.
pub(crate) fn is_immutable(
    relations: &Relations<'_>,
    expr: &Expr,
    columns: &Columns,
) -> Result<bool> {
    let over = bound_over(relations, expr, columns, None)?;
    Ok(!over.bound.any(&mut |part| match &part.kind {
        ExprKind::Call { function, .. } => function.volatility != Volatility::Immutable,
        _ => false,
    }))
}
