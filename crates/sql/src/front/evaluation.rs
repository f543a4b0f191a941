//! Expressions over rows at hand: no scan, no plan of a query.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::common::{DFSchema, TableReference};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::Expr as Logical;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, Visitor};
use freestone_frontend::syntax;
use freestone_frontend::syntax::walk::{visit_expressions, visit_expressions_mut, walk};
use freestone_frontend::types::Type;
use freestone_storage::{Column, Snapshot, Table, TableSchema};

use crate::error::{Error, Result};
use crate::front::{self, Purpose};
use crate::names::{Name, column_of, fold};
use crate::oids::row_type_number;
use crate::relations::Relations;

/// Parses an expression that is kept as text, such as a DEFAULT or a CHECK.
///
/// # Errors
/// `42601`.
pub(crate) fn parse_expr(text: &str) -> Result<Expr> {
    Ok(syntax::expression(text)?)
}

/// The condition that a hidden column stands for.
///
/// # Errors
/// Those of reading its text.
pub(crate) fn condition_of(column: &Column) -> Result<Expr> {
    let expr = parse_expr(column.default.as_deref().unwrap_or_default())?;
    match expr {
        Expr::Case { conditions, .. } if conditions.len() == 1 => {
            let mut conditions = conditions.into_iter();
            let first = conditions.next().map(|when| when.condition);
            first.ok_or_else(|| Error::internal("a condition of an index is empty"))
        }
        _ => Err(Error::internal("a condition of an index is none")),
    }
}

/// A condition of a domain as one on a column.
pub(crate) fn with_value(condition: &Expr, column: &str) -> Expr {
    let mut condition = condition.clone();
    let _: ControlFlow<()> = visit_expressions_mut(&mut condition, |part| {
        if let Expr::Identifier(ident) = part
            && fold(ident) == "value"
        {
            *ident = Ident::with_quote('"', column);
        }
        ControlFlow::Continue(())
    });
    condition
}

/// Whether an expression has a sub-query in it.
pub(crate) fn has_query(expr: &Expr) -> bool {
    struct Queries;
    impl Visitor for Queries {
        type Break = ();

        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    walk(expr, &mut Queries).is_break()
}

/// The columns of a table as expressions name them, alone or after `alias`.
///
/// # Errors
/// Those of DataFusion for two columns of one name.
pub(crate) fn columns_of(schema: &TableSchema, alias: &str) -> Result<DFSchema> {
    let arrow: Schema = front::with_types(schema);
    let reference = TableReference::bare(alias);
    Ok(DFSchema::try_from_qualified_schema(reference, &arrow)?)
}

/// The columns of a table whose rows are told as values of its type.
///
/// # Errors
/// As [`columns_of`].
pub(crate) fn columns_of_rows(table: &Table, alias: &str) -> Result<DFSchema> {
    let number = row_type_number(table).to_string();
    let arrow = front::with_types(&table.schema)
        .with_metadata(HashMap::from([(front::ROW_TYPE.to_owned(), number)]));
    let reference = TableReference::bare(alias);
    Ok(DFSchema::try_from_qualified_schema(reference, &arrow)?)
}

/// The columns that an expression reads.
pub(crate) fn columns_in(expr: &Expr, schema: &TableSchema, table: &Name) -> Vec<usize> {
    let mut columns = Vec::new();
    let _: ControlFlow<()> = visit_expressions(expr, |part| {
        let ident = match part {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => column_of(parts, table),
            _ => None,
        };
        let column = ident.and_then(|ident| schema.index_of(&fold(ident)));
        columns.extend(column.filter(|column| !columns.contains(column)));
        ControlFlow::Continue(())
    });
    columns
}

/// What expressions are planned with.
#[derive(Clone, Copy)]
pub(crate) struct Expressions<'a> {
    pub(crate) state: &'a SessionState,
    pub(crate) snapshot: &'a Snapshot,
}

impl Expressions<'_> {
    /// An expression over `columns` with its types made to fit, and its value to what becomes
    /// of it.
    ///
    /// # Errors
    /// Whatever is wrong with the expression.
    pub(crate) fn prepared_for(
        self,
        expr: &Expr,
        columns: &DFSchema,
        purpose: Purpose<'_>,
    ) -> Result<Logical> {
        let relations = Relations::new(self.state, self.snapshot.clone());
        front::lowered_expression(&relations, expr, columns, purpose)
    }

    /// The value of an expression for each of `rows`, as a column can store it.
    ///
    /// # Errors
    /// Whatever is wrong with the expression, or happens while it is computed.
    pub(crate) fn evaluate_for(
        self,
        expr: &Expr,
        columns: &DFSchema,
        rows: &RecordBatch,
        column: &Column,
    ) -> Result<ArrayRef> {
        let compiled = self.compiled_for(expr, columns, column)?;
        Ok(compiled.evaluate(rows)?.into_array(rows.num_rows())?)
    }

    /// An expression over `columns` whose values a column can store, ready to be computed.
    ///
    /// # Errors
    /// Whatever is wrong with the expression.
    pub(crate) fn compiled_for(
        self,
        expr: &Expr,
        columns: &DFSchema,
        column: &Column,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let simple = self.prepared_for(expr, columns, Purpose::Stored(Some(column)))?;
        Ok(self.state.create_physical_expr(simple, columns)?)
    }

    /// The type of an expression over `columns`.
    ///
    /// # Errors
    /// Whatever is wrong with the expression.
    pub(crate) fn type_of(self, expr: &Expr, columns: &DFSchema) -> Result<Type> {
        let relations = Relations::new(self.state, self.snapshot.clone());
        front::type_of_expression(&relations, expr, columns)
    }

    /// An expression over `columns` with its types made to fit.
    ///
    /// # Errors
    /// Whatever is wrong with the expression.
    pub(crate) fn prepared(self, expr: &Expr, columns: &DFSchema) -> Result<Logical> {
        self.prepared_for(expr, columns, Purpose::Stored(None))
    }

    /// An expression over `columns`, ready to be computed.
    ///
    /// # Errors
    /// Whatever is wrong with the expression.
    pub(crate) fn compiled(self, expr: &Expr, columns: &DFSchema) -> Result<Arc<dyn PhysicalExpr>> {
        let simple = self.prepared(expr, columns)?;
        Ok(self.state.create_physical_expr(simple, columns)?)
    }

    /// The value of an expression for each of `rows` as clients are shown it, and its field.
    ///
    /// # Errors
    /// Whatever is wrong with the expression, or happens while it is computed.
    pub(crate) fn shown(
        self,
        expr: &Expr,
        columns: &DFSchema,
        rows: &RecordBatch,
    ) -> Result<(Field, ArrayRef)> {
        let simple = self.prepared_for(expr, columns, Purpose::Shown)?;
        let compiled = self.state.create_physical_expr(simple, columns)?;
        let field = compiled.return_field(columns.as_arrow())?;
        let array = compiled.evaluate(rows)?.into_array(rows.num_rows())?;
        let shown = Field::new(field.name(), array.data_type().clone(), true);
        let mut metadata = field.metadata().clone();
        metadata.remove(front::COLUMN);
        Ok((shown.with_metadata(metadata), array))
    }

    /// The value of an expression for each of `rows`, whose columns are `columns`.
    ///
    /// # Errors
    /// Whatever is wrong with the expression, or happens while it is computed.
    pub(crate) fn evaluate(
        self,
        expr: &Expr,
        columns: &DFSchema,
        rows: &RecordBatch,
    ) -> Result<ArrayRef> {
        let compiled = self.compiled(expr, columns)?;
        Ok(compiled.evaluate(rows)?.into_array(rows.num_rows())?)
    }
}
