//! Predicates from DataFusion's physical expressions: filters that arrive while
//! a query runs.
//!
//! Joins and top-N publish what they have learnt as a dynamic filter. It only
//! prunes blocks here, so parts that cannot be translated are simply left out of
//! a conjunction; the join or the sort above decides rows.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CastExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, Literal,
};
use freestone_storage::{Predicate, TableSchema};

use super::logical::compare_op;
use super::sargable::{cast_keeps_order, compare, in_list, mirrored};

/// A predicate implied by `expr`, whose columns are those of the projection.
pub(crate) fn implied(
    schema: &TableSchema,
    projection: &[usize],
    expr: &Arc<dyn PhysicalExpr>,
) -> Option<Predicate> {
    Translate { schema, projection }.implied(expr)
}

struct Translate<'a> {
    schema: &'a TableSchema,
    projection: &'a [usize],
}

impl Translate<'_> {
    fn implied(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<Predicate> {
        if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
            return self.binary(binary);
        }
        if let Some(list) = expr.downcast_ref::<InListExpr>() {
            let column = self.column(list.expr())?;
            let scalars = list
                .list()
                .iter()
                .map(constant)
                .collect::<Option<Vec<&ScalarValue>>>()?;
            let kind = &self.schema.columns[column].kind;
            return in_list(column, kind, &scalars, list.negated(), false);
        }
        if let Some(inner) = expr.downcast_ref::<IsNullExpr>() {
            return self.column(inner.arg()).map(Predicate::IsNull);
        }
        if let Some(inner) = expr.downcast_ref::<IsNotNullExpr>() {
            return self.column(inner.arg()).map(Predicate::IsNotNull);
        }
        None
    }

    fn binary(&self, binary: &BinaryExpr) -> Option<Predicate> {
        match binary.op() {
            Operator::And => match (self.implied(binary.left()), self.implied(binary.right())) {
                (Some(left), Some(right)) => Some(Predicate::And(vec![left, right])),
                (one, other) => one.or(other),
            },
            Operator::Or => Some(Predicate::Or(vec![
                self.implied(binary.left())?,
                self.implied(binary.right())?,
            ])),
            op => {
                let op = compare_op(*op)?;
                let (column, op, scalar) = match (constant(binary.left()), constant(binary.right()))
                {
                    (None, Some(scalar)) => (self.column(binary.left())?, op, scalar),
                    (Some(scalar), None) => (self.column(binary.right())?, mirrored(op), scalar),
                    _ => return None,
                };
                compare(column, &self.schema.columns[column].kind, op, scalar)
            }
        }
    }

    fn column(&self, expr: &Arc<dyn PhysicalExpr>) -> Option<usize> {
        if let Some(column) = expr.downcast_ref::<Column>() {
            return self.projection.get(column.index()).copied();
        }
        let cast = expr.downcast_ref::<CastExpr>()?;
        let column = self.column(cast.expr())?;
        cast_keeps_order(&self.schema.columns[column].kind, cast.cast_type()).then_some(column)
    }
}

fn constant(expr: &Arc<dyn PhysicalExpr>) -> Option<&ScalarValue> {
    expr.downcast_ref::<Literal>().map(Literal::value)
}
