//! Sub-queries in expressions.

use sqlparser::ast::{BinaryOperator, Expr as Ast, Query};

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
        let value = self.bind_expr(value)?;
        self.compared_with(value, "=", query, Quantifier::Any)
    }

    fn compared_with(
        &mut self,
        value: Expr,
        symbol: &str,
        query: &Query,
        quantifier: Quantifier,
    ) -> Result<Expr> {
        let (plan, columns) = self.subplan(query)?;
        let width = match &value.kind {
            ExprKind::Row(values) => values.len(),
            _ => 1,
        };
        if columns.len() != width {
            let than = if columns.len() > width { "many" } else { "few" };
            return Err(Error::new(
                "42601",
                format!("subquery has too {than} columns"),
            ));
        }
        // Literals of the sub-query take the type of what they are compared with.
        let plan = match (&value.kind, columns.as_slice()) {
            (ExprKind::Row(_), _) => self.known(plan)?,
            (_, [column]) if column.ty == Type::Unknown && value.ty != Type::Unknown => {
                self.plan_of_types(plan, std::slice::from_ref(&value.ty), Coercion::Implicit)?
            }
            _ => self.known(plan)?,
        };
        let columns = plan.columns();
        let mut references: Vec<Expr> = columns.iter().map(Column::reference).collect();
        let right = match (&value.kind, references.len()) {
            (ExprKind::Row(_), _) => super::expr::record(references),
            _ => references.swap_remove(0),
        };
        let comparison = self.binary(symbol, value, right)?;
        let comparison = self.condition(comparison, "ANY")?;
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
        let (symbol, sign) = symbol(op)?;
        if sign.is_some() {
            return Err(Error::new(
                "42883",
                format!("operator does not exist: {op}"),
            ));
        }
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
        let value = self.bind_expr(left)?;
        let quantifier = if all {
            Quantifier::All
        } else {
            Quantifier::Any
        };
        if let Ast::Subquery(query) = inner {
            return self.compared_with(value, symbol, query, quantifier);
        }
        let mut array = self.bind_expr(right)?;
        if array.ty == Type::Unknown {
            let element = match &value.ty {
                Type::Unknown => Type::Text,
                Type::Array(_) => return Err(super::call::no_array_of(Some(&value.ty))),
                other => other.base(),
            };
            array = self.coerce(array, &element.array(), Coercion::Implicit)?;
        }
        if let Some(item) = array.ty.vector_item() {
            array = self.coerce(array, &item.array(), Coercion::Implicit)?;
        }
        let Type::Array(element) = array.ty.clone() else {
            return Err(Error::new(
                "42809",
                "op ANY/ALL (array) requires array on right side",
            ));
        };
        let element = match element.innermost() {
            Type::Unknown => value.ty.clone(),
            other => other.clone(),
        };
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
        let to = resolved.parameters[1].clone().array();
        let array = self.coerce(array, &to, Coercion::Implicit)?;
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

    /// `(SELECT a, b)` as a record, to be compared with another.
    pub(super) fn record_subquery(&mut self, query: &Query) -> Result<Expr> {
        let plan = self.bind_query(query)?;
        let plan = self.known(plan)?;
        let columns = plan.columns();
        let row = super::expr::record(columns.iter().map(Column::reference).collect());
        let ty = row.ty.clone();
        let column = self.column("row", ty.clone());
        let plan = Plan::Project {
            input: Box::new(plan),
            items: vec![(column, row)],
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
