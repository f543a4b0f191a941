//! Expressions over rows at hand: no scan, no plan of a query.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::state::SessionState;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef};
use freestone_exec::expression::Expression;
use freestone_exec::vector::{Batch, Vector};
use freestone_frontend::syntax;
use freestone_frontend::syntax::walk::{visit_expressions, visit_expressions_mut, walk};
use freestone_frontend::types::Type;
use freestone_storage::{Column, Snapshot, Table, TableSchema};
use sqlparser::ast::{Expr, Ident, Query, Visitor};

use crate::engine::{Found, Scope};
use crate::error::{Error, Result};
use crate::expression::Expr as Lowered;
use crate::front::{self, Purpose};
use crate::lower::shown_as;
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

/// The columns that an expression may read, table by table, as they are in rows at hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// Each with the name of its table.
    pub(super) all: Vec<(String, FieldRef)>,
    /// The number of the type of the table's rows; 0 for none.
    pub(super) row_type: i64,
}

impl Columns {
    /// The columns of a table as expressions name them, alone or after `alias`.
    pub(crate) fn of(schema: &TableSchema, alias: &str) -> Self {
        let arrow = front::with_types(schema);
        let fields = arrow.fields().iter();
        Self {
            all: fields
                .map(|field| (alias.to_owned(), Arc::clone(field)))
                .collect(),
            row_type: 0,
        }
    }

    /// The columns of a table whose rows are told as values of its type.
    pub(crate) fn of_rows(table: &Table, alias: &str) -> Self {
        Self {
            row_type: row_type_number(table),
            ..Self::of(&table.schema, alias)
        }
    }

    /// These columns, and others behind them.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.all.extend(others.all);
        self
    }
}

/// An expression over rows at hand, ready to be computed.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    program: Expression,
    kind: DataType,
    /// The places of the columns that it reads.
    reads: Vec<usize>,
}

impl Compiled {
    /// A program over columns.
    ///
    /// # Errors
    /// `XX000` for an expression that nothing evaluates.
    fn new(expr: &Lowered, columns: &Columns) -> Result<Self> {
        let found = columns.all.iter().enumerate();
        let found = found.map(|(at, (_, field))| (place(at, field), (at, Arc::clone(field))));
        let found: Found = found.collect();
        let scope = Scope::over(&found);
        let (kind, program) = (scope.typed(expr)?, scope.expr(expr)?);
        let mut reads = Vec::new();
        program.columns(&mut |at| reads.push(at));
        reads.sort_unstable();
        reads.dedup();
        let program = program.moved(&|at| reads.binary_search(&at).unwrap_or(at));
        Ok(Self {
            program,
            kind,
            reads,
        })
    }

    /// The type of its values.
    pub(crate) fn kind(&self) -> &DataType {
        &self.kind
    }

    /// Its value for each of some rows.
    ///
    /// # Errors
    /// Errors of computing it.
    pub(crate) fn evaluate(&self, rows: &RecordBatch) -> Result<ArrayRef> {
        let columns = self
            .reads
            .iter()
            .map(|at| Vector::from_arrow(rows.column(*at)));
        let batch = Batch {
            columns: columns.collect::<freestone_exec::Result<_>>()?,
            rows: rows.num_rows(),
        };
        Ok(self.program.evaluate(&batch)?.to_arrow(&self.kind)?)
    }
}

/// The type of an expression that reads no column.
///
/// # Errors
/// `XX000` for one that does.
pub(crate) fn kind_of(expr: &Lowered) -> Result<DataType> {
    let columns = Found::default();
    let scope = Scope::over(&columns);
    scope.typed(expr)
}

/// The name of a column among those that an expression may read: no two have the same.
pub(super) fn place(at: usize, field: &Field) -> String {
    format!("{}:{at}", field.name())
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
    /// An expression over `columns`, for some purpose.
    ///
    /// # Errors
    /// Errors of the expression.
    fn compiled_to(
        self,
        expr: &Expr,
        columns: &Columns,
        purpose: Purpose<'_>,
    ) -> Result<(Compiled, Type)> {
        let relations = Relations::new(self.state, self.snapshot.clone());
        let (lowered, ty) = front::lowered_expression(&relations, expr, columns, purpose)?;
        Ok((Compiled::new(&lowered, columns)?, ty))
    }

    /// The value of an expression for each of `rows`, as a column can store it.
    ///
    /// # Errors
    /// Errors of the expression, and of computing it.
    pub(crate) fn evaluate_for(
        self,
        expr: &Expr,
        columns: &Columns,
        rows: &RecordBatch,
        column: &Column,
    ) -> Result<ArrayRef> {
        self.compiled_for(expr, columns, column)?.evaluate(rows)
    }

    /// An expression over `columns` whose values a column can store, ready to be computed.
    ///
    /// # Errors
    /// Errors of the expression.
    pub(crate) fn compiled_for(
        self,
        expr: &Expr,
        columns: &Columns,
        column: &Column,
    ) -> Result<Compiled> {
        let purpose = Purpose::Stored(Some(column));
        Ok(self.compiled_to(expr, columns, purpose)?.0)
    }

    /// An expression without columns whose values a column can store.
    ///
    /// # Errors
    /// Errors of the expression.
    pub(crate) fn lowered_for(self, expr: &Expr, column: &Column) -> Result<Lowered> {
        let relations = Relations::new(self.state, self.snapshot.clone());
        let (none, purpose) = (Columns::default(), Purpose::Stored(Some(column)));
        Ok(front::lowered_expression(&relations, expr, &none, purpose)?.0)
    }

    /// An expression without columns, ready to be computed.
    ///
    /// # Errors
    /// `XX000` for one that reads columns.
    pub(crate) fn compile(self, value: &Lowered) -> Result<Compiled> {
        Compiled::new(value, &Columns::default())
    }

    /// The type of an expression over `columns`.
    ///
    /// # Errors
    /// Errors of the expression.
    pub(crate) fn type_of(self, expr: &Expr, columns: &Columns) -> Result<Type> {
        let relations = Relations::new(self.state, self.snapshot.clone());
        front::type_of_expression(&relations, expr, columns)
    }

    /// An expression over `columns`, ready to be computed.
    ///
    /// # Errors
    /// Errors of the expression.
    pub(crate) fn compiled(self, expr: &Expr, columns: &Columns) -> Result<Compiled> {
        Ok(self.compiled_to(expr, columns, Purpose::Stored(None))?.0)
    }

    /// The value of an expression for each of `rows` as clients are shown it, and its field.
    ///
    /// # Errors
    /// Errors of the expression, and of computing it.
    pub(crate) fn shown(
        self,
        expr: &Expr,
        columns: &Columns,
        rows: &RecordBatch,
    ) -> Result<(Field, ArrayRef)> {
        let (compiled, ty) = self.compiled_to(expr, columns, Purpose::Shown)?;
        Ok((
            shown_as(compiled.kind.clone(), &ty),
            compiled.evaluate(rows)?,
        ))
    }

    /// The value of an expression for each of `rows`, whose columns are `columns`.
    ///
    /// # Errors
    /// Errors of the expression, and of computing it.
    pub(crate) fn evaluate(
        self,
        expr: &Expr,
        columns: &Columns,
        rows: &RecordBatch,
    ) -> Result<ArrayRef> {
        self.compiled(expr, columns)?.evaluate(rows)
    }
}
