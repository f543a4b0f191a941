//! DataFusion's expressions as programs of the bulk engine.
//!
//! Numbers, comparisons and conditions become ours; whatever else an expression has is
//! left to DataFusion's own evaluation, as a foreign function of the columns it reads.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::common::{Column, DFSchema, ExprSchema, ScalarValue};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::expr::{BinaryExpr, Case, InList};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{Between, Expr, ExprSchemable, Operator};
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use freestone_exec::Comparison;
use freestone_exec::expression::{Arithmetic, Call, Constant, Expression, Foreign};
use freestone_exec::vector::Kind;

use crate::error::{Error, Result};
use crate::interrupt::Requests;

/// Where columns are found.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) columns: &'a Found,
    /// Requests to end the statement: an expression may take long for a few rows.
    pub(crate) requests: &'a Arc<Requests>,
}

/// Columns of a plan of ours: the place and the type of each, by the name that it has in all of
/// the statement.
pub(crate) type Found = HashMap<String, (usize, FieldRef)>;

impl ExprSchema for Scope<'_> {
    fn field_from_column(&self, column: &Column) -> DfResult<&FieldRef> {
        match self.columns.get(&column.name) {
            Some((_, field)) => Ok(field),
            None => Err(Error::internal(format!("no column {}", column.name)).into()),
        }
    }
}

/// An expression of DataFusion over some columns.
#[derive(Debug)]
struct Evaluated {
    expression: Arc<dyn PhysicalExpr>,
    schema: SchemaRef,
    /// Requests to end the statement: an expression may take long for a few rows.
    requests: Arc<Requests>,
}

impl Foreign for Evaluated {
    fn call(&self, arguments: &[ArrayRef], rows: usize) -> freestone_exec::Result<ArrayRef> {
        let other = |error: datafusion::error::DataFusionError| {
            freestone_exec::Error::Other(Arc::new(error))
        };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            arguments.to_vec(),
            &options,
        )?;
        let value = self.requests.watched(|| self.expression.evaluate(&batch));
        let value = value.map_err(other)?;
        value.into_array(rows).map_err(other)
    }
}

impl Scope<'_> {
    pub(crate) fn kind_of(&self, expr: &Expr) -> Option<DataType> {
        expr.get_type(self).ok()
    }

    /// The type of an expression.
    ///
    /// # Errors
    /// `XX000` for one that has none.
    pub(crate) fn typed(&self, expr: &Expr) -> Result<DataType> {
        Ok(expr.get_type(self)?)
    }

    /// The expression as a program.
    ///
    /// # Errors
    /// `XX000` for one that nothing here can evaluate.
    pub(crate) fn expr(&self, expr: &Expr) -> Result<Expression> {
        let found = self.program(expr);
        found.ok_or_else(|| Error::internal(format!("an expression without a program: {expr}")))
    }

    /// The expression as a program; `None` for one that nothing here can evaluate.
    pub(crate) fn program(&self, expr: &Expr) -> Option<Expression> {
        self.own(expr).or_else(|| self.foreign(expr))
    }

    fn column(&self, column: &Column) -> Option<usize> {
        self.columns.get(&column.name).map(|(place, _)| *place)
    }

    fn own(&self, expr: &Expr) -> Option<Expression> {
        match expr {
            Expr::Alias(alias) => self.program(&alias.expr),
            Expr::Column(column) => Some(Expression::Column(self.column(column)?)),
            Expr::Literal(value, _) => literal(value),
            Expr::BinaryExpr(binary) => self.binary(binary),
            Expr::Not(value) => Some(Expression::Not(Box::new(self.program(value)?))),
            Expr::IsNull(value) => Some(Expression::IsNull(Box::new(self.program(value)?))),
            Expr::IsNotNull(value) => {
                let null = Expression::IsNull(Box::new(self.program(value)?));
                Some(Expression::Not(Box::new(null)))
            }
            Expr::Between(between) => self.between(between),
            Expr::Case(case) => self.case(case),
            Expr::InList(list) => self.in_list(list),
            Expr::Cast(cast) => self.cast(&cast.expr, cast.field.data_type()),
            _ => None,
        }
    }

    fn binary(&self, binary: &BinaryExpr) -> Option<Expression> {
        let (left, right) = (&*binary.left, &*binary.right);
        match binary.op {
            Operator::And => Some(Expression::And(vec![
                self.program(left)?,
                self.program(right)?,
            ])),
            Operator::Or => Some(Expression::Or(vec![
                self.program(left)?,
                self.program(right)?,
            ])),
            Operator::Plus => self.arithmetic(Arithmetic::Add, left, right),
            Operator::Minus => self.arithmetic(Arithmetic::Subtract, left, right),
            Operator::Multiply => self.arithmetic(Arithmetic::Multiply, left, right),
            operator => self.compare(comparison(operator)?, left, right),
        }
    }

    fn compare(&self, comparison: Comparison, left: &Expr, right: &Expr) -> Option<Expression> {
        let (a, b) = (self.kind_of(left)?, self.kind_of(right)?);
        let same = match (&a, &b) {
            (DataType::Decimal128(_, a), DataType::Decimal128(_, b)) => a == b,
            (DataType::Utf8 | DataType::Utf8View, DataType::Utf8 | DataType::Utf8View) => true,
            (a, b) => a == b && Kind::of(a) != Kind::Other,
        };
        let (left, right) = (self.program(left)?, self.program(right)?);
        same.then(|| Expression::Compare(comparison, Box::new(left), Box::new(right)))
    }

    fn arithmetic(&self, operation: Arithmetic, left: &Expr, right: &Expr) -> Option<Expression> {
        let (a, b) = (self.kind_of(left)?, self.kind_of(right)?);
        let (mut x, mut y) = (self.program(left)?, self.program(right)?);
        match (a, b) {
            (DataType::Float64, DataType::Float64) => {}
            (DataType::Decimal128(p, s), DataType::Decimal128(q, t)) if s >= 0 && t >= 0 => {
                let result = Expr::BinaryExpr(BinaryExpr {
                    left: Box::new(left.clone()),
                    op: match operation {
                        Arithmetic::Add => Operator::Plus,
                        Arithmetic::Subtract => Operator::Minus,
                        Arithmetic::Multiply => Operator::Multiply,
                    },
                    right: Box::new(right.clone()),
                });
                let DataType::Decimal128(_, scale) = self.kind_of(&result)? else {
                    return None;
                };
                let expected = match operation {
                    Arithmetic::Multiply => s + t,
                    _ => s.max(t),
                };
                if scale != expected || p > 38 || q > 38 {
                    return None;
                }
                if operation != Arithmetic::Multiply {
                    (x, y) = (scaled(x, scale - s)?, scaled(y, scale - t)?);
                }
            }
            _ => return None,
        }
        Some(Expression::Arithmetic(operation, Box::new(x), Box::new(y)))
    }

    fn between(&self, between: &Between) -> Option<Expression> {
        let low = self.compare(Comparison::GreaterOrEqual, &between.expr, &between.low)?;
        let high = self.compare(Comparison::LessOrEqual, &between.expr, &between.high)?;
        let both = Expression::And(vec![low, high]);
        Some(match between.negated {
            true => Expression::Not(Box::new(both)),
            false => both,
        })
    }

    fn case(&self, case: &Case) -> Option<Expression> {
        if case.expr.is_some() {
            return None;
        }
        let branches = case.when_then_expr.iter();
        let branches =
            branches.map(|(when, then)| Some((self.program(when)?, self.program(then)?)));
        let otherwise = match &case.else_expr {
            Some(value) => Some(Box::new(self.program(value)?)),
            None => None,
        };
        Some(Expression::Case(
            branches.collect::<Option<_>>()?,
            otherwise,
        ))
    }

    fn in_list(&self, list: &InList) -> Option<Expression> {
        let kind = self.kind_of(&list.expr)?;
        if Kind::of(&kind) != Kind::Int {
            return None;
        }
        let integer = |expr: &Expr| match expr {
            Expr::Literal(value, _) if value.data_type() == kind => match literal(value)? {
                Expression::Constant(Constant::Int(value)) => Some(value),
                _ => None,
            },
            _ => None,
        };
        let mut values = list
            .list
            .iter()
            .map(integer)
            .collect::<Option<Vec<i64>>>()?;
        values.sort_unstable();
        let found = Expression::OneOf(Box::new(self.program(&list.expr)?), values);
        Some(match list.negated {
            true => Expression::Not(Box::new(found)),
            false => found,
        })
    }

    /// Casts that change no value: to more digits, or to a wider integer.
    fn cast(&self, expr: &Expr, to: &DataType) -> Option<Expression> {
        let from = self.kind_of(expr)?;
        if from == *to {
            return self.program(expr);
        }
        let digits = |kind: &DataType| match kind {
            DataType::Int16 => Some(5),
            DataType::Int32 => Some(10),
            DataType::Int64 => Some(19),
            _ => None,
        };
        match (&from, to) {
            (DataType::Int16 | DataType::Int32, DataType::Int32 | DataType::Int64) => {
                (digits(&from)? < digits(to)?).then(|| self.program(expr))?
            }
            (DataType::Decimal128(p, s), DataType::Decimal128(q, t)) => {
                let whole = |precision: &u8, scale: &i8| i16::from(*precision) - i16::from(*scale);
                (t >= s && whole(q, t) >= whole(p, s)).then_some(())?;
                scaled(self.program(expr)?, t - s)
            }
            (from, DataType::Decimal128(q, t)) => {
                (i16::from(*q) - i16::from(*t) >= digits(from)?).then_some(())?;
                scaled(self.program(expr)?, *t)
            }
            _ => None,
        }
    }

    /// The expression as a function that DataFusion evaluates.
    fn foreign(&self, expr: &Expr) -> Option<Expression> {
        if has_subquery(expr) {
            return None;
        }
        let mut columns: Vec<&Column> = expr.column_refs().into_iter().collect();
        columns.sort();
        let mut fields = Vec::with_capacity(columns.len());
        let mut arguments = Vec::with_capacity(columns.len());
        for column in columns {
            let (place, field) = self.columns.get(&column.name)?;
            let place = Expression::Column(*place);
            arguments.push((place, field.data_type().clone()));
            fields.push((None, Arc::clone(field)));
        }
        let schema = DFSchema::new_with_metadata(fields, Default::default()).ok()?;
        let (props, context) = (ExecutionProps::new(), PhysicalPlanningContext::default());
        let physical = create_physical_expr(expr, &schema, &props, &context).ok()?;
        let by_entry =
            arguments.len() == 1 && arguments[0].1 == DataType::Utf8View && never_fails(expr);
        let plain: Vec<Field> = schema
            .fields()
            .iter()
            .map(|field| field.as_ref().clone())
            .collect();
        Some(Expression::Foreign(Call {
            function: Arc::new(Evaluated {
                expression: physical,
                schema: Arc::new(Schema::new(plain)),
                requests: Arc::clone(self.requests),
            }),
            arguments,
            by_entry,
            known: Arc::default(),
        }))
    }
}

fn has_subquery(expr: &Expr) -> bool {
    use datafusion::common::tree_node::TreeNode;
    let inner = |expr: &Expr| {
        Ok(matches!(
            expr,
            Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::SetComparison(_)
                | Expr::ScalarSubquery(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::AggregateFunction(_)
                | Expr::WindowFunction(_)
                | Expr::Placeholder(_)
        ))
    };
    expr.exists(inner).unwrap_or(true)
}

/// Whether evaluation succeeds for every text, also for those of no row.
fn never_fails(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Literal(..) => true,
        Expr::Alias(alias) => never_fails(&alias.expr),
        Expr::Like(like) => never_fails(&like.expr) && never_fails(&like.pattern),
        Expr::Not(value) | Expr::IsNull(value) | Expr::IsNotNull(value) => never_fails(value),
        Expr::InList(list) => never_fails(&list.expr) && list.list.iter().all(never_fails),
        Expr::BinaryExpr(binary) => {
            let safe = comparison(binary.op).is_some()
                || matches!(binary.op, Operator::And | Operator::Or);
            safe && never_fails(&binary.left) && never_fails(&binary.right)
        }
        Expr::ScalarFunction(call) => {
            let total = ["lower", "upper", "starts_with", "character_length", "btrim"];
            total.contains(&call.func.name()) && call.args.iter().all(never_fails)
        }
        _ => false,
    }
}

fn comparison(operator: Operator) -> Option<Comparison> {
    Some(match operator {
        Operator::Eq => Comparison::Equal,
        Operator::NotEq => Comparison::NotEqual,
        Operator::Lt => Comparison::Less,
        Operator::LtEq => Comparison::LessOrEqual,
        Operator::Gt => Comparison::Greater,
        Operator::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// Times ten to the power of `digits`.
fn scaled(expression: Expression, digits: i8) -> Option<Expression> {
    if digits == 0 {
        return Some(expression);
    }
    let factor = 10i64.checked_pow(u32::try_from(digits).ok()?)?;
    if let Expression::Constant(Constant::Int(value)) = expression {
        return Some(Expression::Constant(Constant::Int(
            value.checked_mul(factor)?,
        )));
    }
    Some(Expression::Scaled(Box::new(expression), factor))
}

fn literal(value: &ScalarValue) -> Option<Expression> {
    let integer = |value: i64| Some(Expression::Constant(Constant::Int(value)));
    match value {
        value if value.is_null() => {
            let kind = value.data_type();
            (kind != DataType::Null).then_some(Expression::Null(kind))
        }
        ScalarValue::Int16(Some(value)) => integer(i64::from(*value)),
        ScalarValue::Int32(Some(value)) | ScalarValue::Date32(Some(value)) => {
            integer(i64::from(*value))
        }
        ScalarValue::Int64(Some(value)) => integer(*value),
        ScalarValue::TimestampMicrosecond(Some(value), _)
        | ScalarValue::Time64Microsecond(Some(value)) => integer(*value),
        ScalarValue::Decimal128(Some(value), ..) => integer(i64::try_from(*value).ok()?),
        ScalarValue::Float64(Some(value)) => Some(Expression::Constant(Constant::Float(*value))),
        ScalarValue::Boolean(Some(value)) => Some(Expression::Constant(Constant::Bool(*value))),
        ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
            Some(Expression::Constant(Constant::Text(text.clone())))
        }
        _ => None,
    }
}
