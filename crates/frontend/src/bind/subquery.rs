//! Sub-queries in expressions.

use sqlparser::ast::{BinaryOperator, Expr as Ast, Query};

use super::expr::is_row;
use super::operator::symbol;
use super::{Binder, Coercion};
use crate::error::{Error, Result};
use crate::plan::{Column, Expr, ExprKind, Plan, Quantifier, Subquery, SubqueryKind};
use crate::types::Type;

impl Binder<'_> {
    fn subplan(&mut self, query: &Query) -> Result<(Plan, Vec<Column>)> {
        let plan = self.bind_query(query)?;
        let columns = plan.columns();
        Ok((plan, columns))
    }

    /// `(SELECT …)` as a value.
    pub(super) fn scalar_subquery(&mut self, query: &Query) -> Result<Expr> {
        let (plan, _) = self.subplan(query)?;
        let plan = self.known(plan)?;
        let columns = plan.columns();
        let [column] = columns.as_slice() else {
            return Err(Error::new("42601", "subquery must return only one column"));
        };
        let ty = column.ty.clone();
        Ok(self.numbered(SubqueryKind::Scalar, plan, ty))
    }

    /// `ARRAY(SELECT …)`.
    pub(super) fn array_subquery(&mut self, query: &Query) -> Result<Expr> {
        let (plan, _) = self.subplan(query)?;
        let plan = self.known(plan)?;
        let columns = plan.columns();
        let [column] = columns.as_slice() else {
            return Err(Error::new("42601", "subquery must return only one column"));
        };
        let ty = column.ty.clone().array();
        Ok(self.numbered(SubqueryKind::Array, plan, ty))
    }

    /// EXISTS (SELECT …).
    pub(super) fn exists(&mut self, query: &Query) -> Result<Expr> {
        let (plan, _) = self.subplan(query)?;
        Ok(self.numbered(SubqueryKind::Exists, plan, Type::Bool))
    }

    /// `value IN (SELECT …)`.
    pub(super) fn in_subquery(&mut self, value: &Ast, query: &Query) -> Result<Expr> {
        self.compared_with(value, "=", query, Quantifier::Any)
    }

    /// The value is bound after the query, as PostgreSQL does: of two errors the query's comes
    /// first.
    fn compared_with(
        &mut self,
        value: &Ast,
        symbol: &str,
        query: &Query,
        quantifier: Quantifier,
    ) -> Result<Expr> {
        let (plan, columns) = self.subplan(query)?;
        let rows = is_row(value);
        let value = self.bind_expr(value)?;
        let width = match &value.kind {
            ExprKind::Row(values) if rows => values.len(),
            _ => 1,
        };
        check_width(columns.len(), width)?;
        let plan = self.known(plan)?;
        let columns = plan.columns();
        let mut references: Vec<Expr> = columns.iter().map(Column::reference).collect();
        let comparison = match rows {
            true => self.written_rows(symbol, value, super::expr::record(references))?,
            false => self.binary(symbol, value, references.swap_remove(0))?,
        };
        if comparison.ty != Type::Bool {
            let message = format!(
                "row comparison operator must yield type boolean, not type {}",
                comparison.ty.base()
            );
            return Err(Error::new("42804", message));
        }
        let kind = SubqueryKind::Compare {
            comparison: Box::new(comparison),
            quantifier,
        };
        Ok(self.numbered(kind, plan, Type::Bool))
    }

    /// `value op ANY (…)` or `ALL`, of a sub-query or an array.
    pub(super) fn quantified(
        &mut self,
        left: &Ast,
        op: &BinaryOperator,
        right: &Ast,
        all: bool,
    ) -> Result<Expr> {
        let symbol = symbol(op)?;
        self.quantified_by(left, &symbol, right, all)
    }

    /// The same of an operator by its symbol.
    pub(super) fn quantified_by(
        &mut self,
        left: &Ast,
        symbol: &str,
        right: &Ast,
        all: bool,
    ) -> Result<Expr> {
        let mut inner = right;
        while let Ast::Nested(nested) = inner {
            inner = nested;
        }
        let quantifier = if all {
            Quantifier::All
        } else {
            Quantifier::Any
        };
        if let Ast::Subquery(query) = inner {
            return self.compared_with(left, symbol, query, quantifier);
        }
        let value = self.bind_expr(left)?;
        let mut array = self.bind_expr(right)?;
        if let Some(item) = array.ty.vector_item() {
            array = self.coerce(array, &item.array(), Coercion::Implicit)?;
        }
        // The operator is found first; what it takes is what the array has.
        let element = match array.ty.clone() {
            Type::Unknown => Type::Unknown,
            Type::Array(element) => match element.innermost() {
                Type::Unknown => value.ty.clone(),
                other => other.clone(),
            },
            _ => {
                return Err(Error::new(
                    "42809",
                    "op ANY/ALL (array) requires array on right side",
                ));
            }
        };
        if super::operator::is_comparison(symbol)
            && let (Type::Record(_), Type::Record(_)) = (&value.ty, &element)
        {
            return Ok(Expr::new(
                ExprKind::Any {
                    operator: self.record_operator(symbol, &value.ty, &element)?,
                    value: Box::new(value),
                    array: Box::new(array),
                    all,
                },
                Type::Bool,
            ));
        }
        let one = Expr::new(
            ExprKind::Literal(arrow_array::new_null_array(&element.arrow(), 1)),
            element,
        );
        let resolved = self.operator(symbol, &[&value, &one])?;
        if resolved.returns != Type::Bool {
            return Err(Error::new(
                "42809",
                "op ANY/ALL (array) requires operator to yield boolean",
            ));
        }
        let value = self.coerce(value, &resolved.parameters[0], Coercion::Implicit)?;
        let of = &resolved.parameters[1];
        if let Type::Array(_) = of {
            return Err(super::call::no_array_of(Some(of)));
        }
        let array = self.coerce(array, &of.clone().array(), Coercion::Implicit)?;
        Ok(Expr::new(
            ExprKind::Any {
                operator: resolved.function,
                value: Box::new(value),
                array: Box::new(array),
                all,
            },
            Type::Bool,
        ))
    }

    fn numbered(&mut self, kind: SubqueryKind, plan: Plan, ty: Type) -> Expr {
        self.subqueries += 1;
        let id = self.subqueries;
        Expr::new(
            ExprKind::Subquery(Box::new(Subquery { kind, plan, id })),
            ty,
        )
    }

    /// `(a, b) op (SELECT …)`: the comparison with the only row, which is computed where the
    /// row is.
    pub(super) fn row_subquery(&mut self, symbol: &str, left: &Ast, query: &Query) -> Result<Expr> {
        let (plan, columns) = self.subplan(query)?;
        let left = self.bind_expr(left)?;
        if let ExprKind::Row(values) = &left.kind {
            check_width(columns.len(), values.len())?;
        }
        let plan = self.known(plan)?;
        let columns = plan.columns();
        let right = super::expr::record(columns.iter().map(Column::reference).collect());
        let comparison = self.written_rows(symbol, left, right)?;
        let column = self.column("row", Type::Bool);
        let plan = Plan::Project {
            input: Box::new(plan),
            items: vec![(column, comparison)],
        };
        Ok(self.numbered(SubqueryKind::Scalar, plan, Type::Bool))
    }

    /// An expression that reads a value in several places. A value that may differ from call to
    /// call, or is not small, is computed once: in a row of a sub-query, whose column the
    /// expression reads. Expressions within one another would double with each level else.
    pub(super) fn once(
        &mut self,
        value: Expr,
        with: impl FnOnce(&mut Self, Expr) -> Result<Expr>,
    ) -> Result<Expr> {
        if !value.is_volatile() && !is_large(&value) {
            return with(self, value);
        }
        let value = self.known_expr(value)?;
        let column = self.column("value", value.ty.clone());
        let whole = with(self, column.reference())?;
        let ty = whole.ty.clone();
        let row = Plan::Values {
            columns: vec![column],
            rows: vec![vec![value]],
        };
        let plan = Plan::Project {
            input: Box::new(row),
            items: vec![(self.column("whole", ty.clone()), whole)],
        };
        Ok(self.numbered(SubqueryKind::Scalar, plan, ty))
    }

    /// A cast that gives NULL where it fails.
    pub(super) fn try_cast(&mut self, value: Expr, to: &Type) -> Result<Expr> {
        let attempt = self.coerce(value, to, Coercion::Explicit);
        let cast = match attempt {
            Ok(cast) => cast,
            Err(error) if error.sqlstate.starts_with("22") => return Ok(Expr::null(to.clone())),
            Err(error) => return Err(error),
        };
        Ok(tried(cast))
    }
}

/// Whether an expression has so many parts, those of its sub-queries among them, that no copies
/// of it are made.
pub(super) fn is_large(expr: &Expr) -> bool {
    let mut left = 100;
    exceeds(expr, &mut left)
}

/// Whether an expression has more parts than are left.
fn exceeds(expr: &Expr, left: &mut usize) -> bool {
    expr.any(&mut |part| {
        let Some(fewer) = left.checked_sub(1) else {
            return true;
        };
        *left = fewer;
        match &part.kind {
            ExprKind::Subquery(subquery) => plan_exceeds(&subquery.plan, left),
            _ => false,
        }
    })
}

fn plan_exceeds(plan: &Plan, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else {
        return true;
    };
    *left = fewer;
    let mut exprs = plan.expressions().into_iter();
    exprs.any(|expr| exceeds(expr, left))
        || plan
            .inputs()
            .into_iter()
            .any(|input| plan_exceeds(input, left))
}

/// Whether a sub-query has as many columns as it is compared with.
fn check_width(columns: usize, wanted: usize) -> Result<()> {
    let than = match columns.cmp(&wanted) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Greater => "many",
        std::cmp::Ordering::Less => "few",
    };
    Err(Error::new(
        "42601",
        format!("subquery has too {than} columns"),
    ))
}

/// A call whose errors become NULLs, row by row.
fn tried(expr: Expr) -> Expr {
    let ExprKind::Call {
        function,
        arguments,
    } = expr.kind
    else {
        return expr;
    };
    let inner = function.kernel.clone();
    let kernel: crate::functions::kernel::Kernel = std::sync::Arc::new(move |call, columns| {
        if let Ok(all) = inner(call, columns) {
            return Ok(all);
        }
        let mut parts = Vec::with_capacity(call.rows);
        for row in 0..call.rows {
            let one: Vec<_> = columns
                .iter()
                .map(|column| crate::functions::kernel::Column {
                    array: column.array.slice(column.at(row), 1),
                    constant: true,
                })
                .collect();
            let call = crate::functions::kernel::Call { rows: 1, ..*call };
            let null = arrow_array::new_null_array(&call.returns.arrow(), 1);
            parts.push(inner(&call, &one).unwrap_or(null));
        }
        let parts: Vec<&dyn arrow_array::Array> = parts.iter().map(AsRef::as_ref).collect();
        match parts.is_empty() {
            true => Ok(arrow_array::new_empty_array(&call.returns.arrow())),
            false => Ok(arrow_select::concat::concat(&parts)?),
        }
    });
    let mut function = (*function).clone();
    function.name = "try_cast";
    function.kernel = kernel;
    Expr::call(std::sync::Arc::new(function), arguments, expr.ty)
}
