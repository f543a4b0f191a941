//! Where a column of a single row gets its value from.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchOptions,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DFSchema, TableReference};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Ident, UnaryOperator};
use freestone_frontend::syntax::walk::{visit_expressions, visit_expressions_mut};
use freestone_frontend::types::RangeOf;
use freestone_storage::delta::{arrays, stored_key};
use freestone_storage::row::cell;
use freestone_storage::{Column, ColumnType, Row, TableSchema, Value};

use super::increment::Increment;
use super::key::column_of;
use super::literal::{Literal, literal};
use crate::error::Result;
use crate::parameter::{self, Parameter};
use crate::plan::expression::Expressions;
use crate::types::type_held;
use crate::values::{ColumnBuilder, assign, is_the_same_everywhere};

/// Where a value comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// The statement; `None` is NULL.
    Given(Option<Value>),
    /// The parameter of this number, from 0.
    Parameter(usize),
    /// The row as it was, and parameters.
    Computed(Formula),
    /// As `Computed`, where it is a sum that is exact and fits.
    Sum(Increment, Formula),
}

/// Arithmetic over columns and parameters, ready to be computed: nothing in it
/// depends on the time or on anything else but its values.
#[derive(Debug)]
pub(super) struct Formula {
    expr: Arc<dyn PhysicalExpr>,
    /// Of the columns and then of the parameters.
    schema: SchemaRef,
    columns: Vec<(usize, Column)>,
    parameters: Vec<usize>,
}

impl Source {
    /// A literal or a parameter; `None` for anything else.
    pub(super) fn of(expr: &Expr, column: &Column) -> Option<Source> {
        if let Some(number) = parameter::number_of(expr) {
            return Some(Source::Parameter(number));
        }
        Some(Source::Given(match literal(expr, &column.kind)? {
            Literal::Null if column.nullable => None,
            Literal::Null => return None,
            Literal::Number(digits) => Some(read(&digits, column)?),
            Literal::Text(text) => Some(read(text, column)?),
        }))
    }

    /// An expression of columns, numbers, texts and parameters; `None` for one
    /// of anything else.
    ///
    /// # Errors
    /// Those of the expression.
    pub(super) fn computed(
        expressions: Expressions<'_>,
        (expr, target): (&Expr, usize),
        schema: &TableSchema,
        called: &str,
        given: &[Parameter],
    ) -> Result<Option<Source>> {
        let (mut columns, mut parameters) = (Vec::new(), Vec::new());
        let known = visit_expressions(expr, |part| {
            let known = match part {
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                    let column = column_of(part, schema, called);
                    columns.extend(column);
                    column.is_some()
                }
                Expr::Value(_) => match parameter::number_of(part) {
                    None => true,
                    Some(number) => {
                        parameters.push(number);
                        given.get(number).and_then(kind_of).is_some()
                    }
                },
                Expr::Nested(_) => true,
                Expr::UnaryOp { op, .. } => {
                    matches!(op, UnaryOperator::Minus | UnaryOperator::Plus)
                }
                Expr::BinaryOp { op, .. } => matches!(
                    op,
                    BinaryOperator::Plus
                        | BinaryOperator::Minus
                        | BinaryOperator::Multiply
                        | BinaryOperator::Divide
                        | BinaryOperator::Modulo
                        | BinaryOperator::StringConcat
                ),
                _ => false,
            };
            match known {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        if known.is_break() {
            return Ok(None);
        }
        columns.sort_unstable();
        columns.dedup();
        parameters.sort_unstable();
        parameters.dedup();
        let known = |column: &usize| {
            let column = &schema.columns[*column];
            column.is_plain() && column.kind != ColumnType::Json
        };
        if !known(&target) || !columns.iter().all(known) {
            // The front computes it.
            return Ok(None);
        }
        let columns: Vec<(usize, Column)> = columns
            .into_iter()
            .map(|column| (column, schema.columns[column].clone()))
            .collect();
        let mut fields: Vec<Field> = columns
            .iter()
            .map(|(_, column)| Field::new(&column.name, column.kind.arrow(), true))
            .collect();
        for number in &parameters {
            let name = placeholder(*number);
            let kind = given.get(*number).and_then(kind_of);
            match (kind, schema.index_of(&name)) {
                (Some(kind), None) => fields.push(Field::new(name, kind, true)),
                _ => return Ok(None),
            }
        }
        let mut named = expr.clone();
        let _: ControlFlow<()> = visit_expressions_mut(&mut named, |part| {
            if let Some(number) = parameter::number_of(part) {
                *part = Expr::Identifier(Ident::with_quote('"', placeholder(number)));
            }
            ControlFlow::Continue(())
        });
        let increment = Increment::of(expr, target, schema, called);
        let target = &schema.columns[target];
        let schema = Arc::new(Schema::new(fields));
        let reference = TableReference::bare(called);
        let names = DFSchema::try_from_qualified_schema(reference, &schema)?;
        let expr = expressions.compiled_for(&named, &names, target)?;
        let formula = Formula {
            expr,
            schema,
            columns,
            parameters,
        };
        Ok(Some(match increment {
            Some(increment) => Source::Sum(increment, formula),
            None => Source::Computed(formula),
        }))
    }

    /// A value that needs no computation; `None` if it does, or may not fit.
    pub(super) fn plain(&self, column: &Column, parameters: &[Parameter]) -> Option<Option<Value>> {
        match self {
            Source::Given(value) => Some(value.clone()),
            Source::Parameter(number) => storable(parameters.get(*number)?, column),
            Source::Computed(_) | Source::Sum(..) => None,
        }
    }

    /// The value for a column of a row; `None` if it may not fit.
    ///
    /// # Errors
    /// Those of computing it.
    pub(super) fn value(
        &self,
        schema: &TableSchema,
        column: usize,
        row: &Row,
        parameters: &[Parameter],
    ) -> Result<Option<Option<Value>>> {
        let column = &schema.columns[column];
        match self {
            Source::Computed(formula) => formula.value(column, row, parameters),
            Source::Sum(increment, formula) => match increment.value(column, row, parameters) {
                Some(value) => Ok(Some(value)),
                None => formula.value(column, row, parameters),
            },
            plain => Ok(plain.plain(column, parameters)),
        }
    }
}

impl Formula {
    fn value(
        &self,
        column: &Column,
        row: &Row,
        given: &[Parameter],
    ) -> Result<Option<Option<Value>>> {
        let columns: Vec<Column> = self
            .columns
            .iter()
            .map(|(_, column)| column.clone())
            .collect();
        let values = self.columns.iter().map(|(index, _)| row[*index].clone());
        let mut inputs = arrays(&columns, &[values.collect()])?;
        for (field, number) in self.schema.fields()[columns.len()..]
            .iter()
            .zip(&self.parameters)
        {
            let array = given.get(*number).and_then(array_of);
            match array.filter(|array| array.data_type() == field.data_type()) {
                Some(array) => inputs.push(array),
                // Prepared for a parameter of another type.
                None => return Ok(None),
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), inputs, &options)?;
        let computed = self.expr.evaluate(&batch)?.into_array(1)?;
        let assigned = assign(&computed, column)
            .map_err(|bad| bad.error.with_detail(format!("column \"{}\"", column.name)))?;
        Ok(Some(cell(&assigned, 0)))
    }
}

/// What a parameter is called within a formula.
fn placeholder(number: usize) -> String {
    format!("${}", number + 1)
}

/// The type of a parameter that has one of its own.
fn kind_of(parameter: &Parameter) -> Option<DataType> {
    array_of(parameter).map(|array| array.data_type().clone())
}

fn array_of(parameter: &Parameter) -> Option<ArrayRef> {
    Some(match parameter {
        Parameter::Boolean(value) => Arc::new(BooleanArray::from(vec![*value])),
        Parameter::Integer(value) => Arc::new(Int64Array::from(vec![*value])),
        Parameter::Double(value) => Arc::new(Float64Array::from(vec![*value])),
        // Their types depend on what they are used with.
        Parameter::Null
        | Parameter::Decimal(_)
        | Parameter::Text(_)
        | Parameter::Bytes(_)
        | Parameter::List(_) => return None,
    })
}

/// The value of a parameter for a column; `None` if it may not fit.
fn storable(given: &Parameter, column: &Column) -> Option<Option<Value>> {
    let kind = &column.kind;
    Some(Some(match (given, kind) {
        (Parameter::Null, _) => return column.nullable.then_some(None),
        // Texts and digits are read as what is declared.
        (Parameter::Integer(_) | Parameter::Double(_), _) if column.modifier.is_some() => {
            return None;
        }
        (
            Parameter::Integer(number),
            ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt,
        ) => {
            let value = Value::Int((*number).into());
            stored_key(&value, kind.physical())?;
            value
        }
        (
            Parameter::Integer(number),
            ColumnType::Real
            | ColumnType::Double
            | ColumnType::Decimal { .. }
            | ColumnType::Numeric,
        ) => read(&number.to_string(), column)?,
        (
            Parameter::Decimal(digits),
            ColumnType::Real
            | ColumnType::Double
            | ColumnType::Decimal { .. }
            | ColumnType::Numeric,
        ) => read(digits, column)?,
        (Parameter::Boolean(value), ColumnType::Boolean) => Value::Bool(*value),
        (Parameter::Double(value), ColumnType::Double) => Value::Float(*value),
        (Parameter::Text(text), _) => read(text, column)?,
        (Parameter::Bytes(bytes), ColumnType::Bytea) if column.modifier.is_none() => {
            Value::Bytes(bytes.clone())
        }
        _ => return None,
    }))
}

/// A value that is read from its text.
fn read(text: &str, column: &Column) -> Option<Value> {
    let kind = &column.kind;
    if let (ColumnType::Text | ColumnType::Varchar(None), None) = (kind, column.modifier) {
        return Some(Value::Bytes(text.as_bytes().to_vec()));
    }
    let range = type_held(column).innermost().range();
    let is_range_of_time = range.is_some_and(RangeOf::is_of_time);
    if is_range_of_time || !is_the_same_everywhere(kind, text) {
        return None;
    }
    let mut builder = ColumnBuilder::of(column, &Arc::default());
    builder.push(text).ok()?;
    cell(&builder.finish(), 0)
}
