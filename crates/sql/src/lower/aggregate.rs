//! Calls of GROUP BY.
//!
//! Counts, sums, averages, least and greatest values of types that Arrow compares as SQL does
//! are native; an average of exact numbers is its sum by its count. If one call or a key
//! is more than that, the whole node is folded by states of the front (`outside::general`).

use std::sync::Arc;

use arrow::datatypes::DataType;
use freestone_exec::vector::Kind as Vectors;
use freestone_frontend::functions::aggregates::Aggregate as Aggregated;
use freestone_frontend::functions::{self, aggregates::Kind};
use freestone_frontend::plan::{AggregateCall, Column, Expr as Bound, ExprKind};
use freestone_frontend::types::{DECIMAL_DIGITS, Type};

use super::expression::{Floats, cast, exact, is_integer};
use super::outside::general::{General, Spec};
use super::sorting::options;
use super::{Lowering, Typed, canonical, floats};
use crate::engine::Simple;
use crate::error::{Error, Result};
use crate::expression::{Expr, Scalar};

/// A simple aggregate over an expression.
pub(super) struct Native {
    pub(super) function: Simple,
    pub(super) argument: Expr,
    pub(super) distinct: bool,
    pub(super) kind: DataType,
}

/// What a call becomes.
pub(super) enum Found {
    /// One aggregate.
    One(Native),
    /// The quotient of a sum, of a SQL type, and a count.
    Mean(Box<Native>, Type, Box<Native>),
    /// The float that an integer stands for.
    Float(Native),
}

/// Groups by states of the language front.
pub(super) struct GeneralParts {
    /// The values that the operator is given.
    pub(super) given: Vec<Expr>,
    /// The columns of its result.
    pub(super) columns: Vec<Column>,
    pub(super) operator: General,
}

/// The parts of a node.
type Keys = [(Column, Bound)];
type Calls = [(Column, AggregateCall)];
type Grouping = [(Column, Vec<usize>)];

impl Lowering {
    /// A call as one of simple aggregates, if it means the same.
    pub(super) fn native_call(&self, call: &AggregateCall) -> Result<Option<Found>> {
        if !call.order.is_empty() && call.function.follows_order() {
            return Ok(None);
        }
        self.native_aggregate(&call.function, &call.arguments, call.distinct)
    }

    /// An aggregate over some arguments as a simple one.
    pub(super) fn native_aggregate(
        &self,
        function: &Aggregated,
        arguments: &[Bound],
        distinct: bool,
    ) -> Result<Option<Found>> {
        if function.kind != Kind::Plain || function.ordered {
            return Ok(None);
        }
        if function.name == "count" && arguments.is_empty() && !distinct {
            let one = Expr::Literal(Scalar::integer(1));
            return Ok(Some(Found::One(count(one, false))));
        }
        let [argument] = arguments else {
            return Ok(None);
        };
        if function.name == "count" {
            let typed = self.expr(argument)?;
            let value = match distinct {
                true if argument.ty == Type::Json => return Ok(None),
                true => {
                    let key = canonical::key(typed, &argument.ty);
                    let is_known = Vectors::of(&key.kind) != Vectors::Other;
                    match canonical::comparable(key.clone()).filter(|_| !is_known) {
                        Some(comparable) => comparable.expr,
                        None => key.expr,
                    }
                }
                false => typed.expr,
            };
            return Ok(Some(Found::One(count(value, distinct))));
        }
        let one = |function, Typed { expr, kind }: Typed| {
            Some(Found::One(Native {
                function,
                argument: expr,
                distinct: false,
                kind,
            }))
        };
        if matches!(&*function.name, "min" | "max") {
            let typed = self.expr(argument)?;
            let function = match &*function.name {
                "min" => Simple::Least,
                _ => Simple::Greatest,
            };
            if argument.ty.is_float() {
                let typed = floats::ordinal(typed);
                return Ok(Some(Found::Float(Native {
                    function,
                    argument: typed.expr,
                    distinct: false,
                    kind: typed.kind,
                })));
            }
            let simple = matches!(
                typed.kind,
                DataType::Int16
                    | DataType::Int32
                    | DataType::Int64
                    | DataType::Decimal128(..)
                    | DataType::Date32
                    | DataType::Time64(_)
                    | DataType::Timestamp(..)
                    | DataType::Utf8View
            );
            let plain = super::expression::is_native(&argument.ty, true)
                || matches!(argument.ty, Type::Numeric(None));
            return Ok(one(function, typed).filter(|_| simple && plain));
        }
        if distinct {
            return Ok(None);
        }
        match &*function.name {
            "sum" => self
                .sum(argument)
                .map(|sum| sum.map(|(sum, _)| Found::One(sum))),
            "avg" if argument.ty == Type::Float8 => Ok(one(Simple::Average, self.expr(argument)?)),
            // The sum and the count would each call a volatile function.
            "avg" if argument.is_volatile() => Ok(None),
            "avg" if is_integer(&argument.ty) || matches!(argument.ty, Type::Numeric(_)) => {
                let Some((sum, ty)) = self.sum(argument)? else {
                    return Ok(None);
                };
                let value = self.expr(argument)?.expr;
                Ok(Some(Found::Mean(
                    Box::new(sum),
                    ty,
                    Box::new(count(value, false)),
                )))
            }
            "bool_and" | "every" => Ok(one(Simple::All, self.expr(argument)?)),
            "bool_or" => Ok(one(Simple::Any, self.expr(argument)?)),
            _ => Ok(None),
        }
    }

    /// A sum, and the SQL type of its form.
    fn sum(&self, argument: &Bound) -> Result<Option<(Native, Type)>> {
        let sum = |argument, kind| Native {
            function: Simple::Sum,
            argument,
            distinct: false,
            kind,
        };
        let (value, ty) = match &argument.ty {
            Type::Int2 | Type::Int4 => {
                let value = cast(self.expr(argument)?.expr, &DataType::Int64);
                return Ok(Some((sum(value, DataType::Int64), Type::Int8)));
            }
            Type::Float8 => {
                let typed = self.expr(argument)?;
                return Ok(Some((sum(typed.expr, typed.kind), Type::Float8)));
            }
            Type::Int8 => {
                let kind = DataType::Decimal128(19, 0);
                let value = cast(self.expr(argument)?.expr, &kind);
                (Typed::new(value, kind), Type::Numeric(None))
            }
            Type::Numeric(_) => match self.fixed(argument)? {
                Some(typed) => (typed, Type::Numeric(None)),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let DataType::Decimal128(precision, scale) = value.kind else {
            return Ok(None);
        };
        let digits = precision.saturating_add(10).min(DECIMAL_DIGITS);
        Ok(Some((
            sum(value.expr, DataType::Decimal128(digits, scale)),
            ty,
        )))
    }

    /// Groups by states of the language front, over columns that are found.
    pub(super) fn general_parts(
        &self,
        keys: &Keys,
        sets: Option<&[Vec<usize>]>,
        calls: &Calls,
        grouping: &Grouping,
    ) -> Result<GeneralParts> {
        let (mut exprs, mut given) = (Vec::new(), Vec::new());
        let mut add = |value: Expr, kind: DataType| {
            exprs.push(value);
            given.push(kind);
            exprs.len() - 1
        };
        for (_, key) in keys {
            add(exact(self.expr(key)?, &key.ty)?, key.ty.arrow());
        }
        let mut specs = Vec::with_capacity(calls.len());
        let mut results = Vec::with_capacity(calls.len());
        for (column, call) in calls {
            if !self.is_used(column.id) {
                continue;
            }
            results.push(column.clone());
            let mut direct = Vec::with_capacity(call.direct.len());
            for value in &call.direct {
                if value.reads().is_empty() {
                    direct.push((Vec::new(), Some(self.constant(value)?)));
                    continue;
                }
                let all = || vec![(0..keys.len()).collect()];
                let mut places = Vec::new();
                for set in sets.map_or_else(all, <[_]>::to_vec) {
                    let mut value = value.clone();
                    let absent = keys.iter().enumerate().filter(|(at, _)| !set.contains(at));
                    absent.for_each(|(_, (_, key))| value.forget(key));
                    places.push(add(exact(self.expr(&value)?, &value.ty)?, value.ty.arrow()));
                }
                direct.push((places, None));
            }
            let mut arguments = Vec::with_capacity(call.arguments.len());
            for value in &call.arguments {
                let typed = self.expr(value)?;
                arguments.push(add(exact(typed, &value.ty)?, value.ty.arrow()));
            }
            let filter = match &call.filter {
                Some(filter) => Some(add(self.condition(filter)?, DataType::Boolean)),
                None => None,
            };
            let mut order = Vec::with_capacity(call.order.len());
            for key in &call.order {
                let value = canonical::key(self.expr(&key.expr)?, &key.expr.ty);
                order.push((add(value.expr, value.kind), options(key)));
            }
            specs.push(Spec {
                function: Arc::clone(&call.function),
                direct,
                types: call
                    .direct
                    .iter()
                    .chain(&call.arguments)
                    .map(|value| value.ty.clone())
                    .collect(),
                arguments,
                distinct: call.distinct,
                filter,
                order,
                returns: call.returns.clone(),
            });
        }
        let mut columns: Vec<Column> = keys.iter().map(|(column, _)| column.clone()).collect();
        columns.extend(results);
        columns.extend(grouping.iter().map(|(column, _)| column.clone()));
        let all = || (0..keys.len()).collect();
        let operator = General {
            keys: keys.iter().map(|(_, key)| key.ty.clone()).collect(),
            sets: sets.map_or_else(|| vec![all()], <[_]>::to_vec),
            calls: Arc::new(specs),
            grouping: grouping.iter().map(|(_, of)| of.clone()).collect(),
            around: self.around.clone(),
            given,
            results: columns.iter().map(|column| column.ty.arrow()).collect(),
        };
        Ok(GeneralParts {
            given: exprs,
            columns,
            operator,
        })
    }
}

fn count(argument: Expr, distinct: bool) -> Native {
    Native {
        function: Simple::Count,
        argument,
        distinct,
        kind: DataType::Int64,
    }
}

/// A sum by a count, as PostgreSQL divides numbers.
pub(super) fn quotient(sum: &Column, count: &Column) -> Result<Bound> {
    let number = Type::Numeric(None);
    let lacks = || Error::internal("the catalogue has no division of numbers");
    let division = functions::resolve_operator("/", &[number.clone(), number.clone()]);
    let division = division.map_err(|_| lacks())?;
    let as_number = |column: &Column| -> Result<Bound> {
        let value = column.reference();
        if matches!(column.ty, Type::Numeric(_)) {
            return Ok(value);
        }
        let cast = functions::cast_between(&column.ty, &number).ok_or_else(lacks)?;
        Ok(match cast.function {
            Some(function) => Bound::call(function, vec![value], number.clone()),
            None => Bound::new(ExprKind::Column(column.id), number.clone()),
        })
    };
    let operands = vec![as_number(sum)?, as_number(count)?];
    Ok(Bound::call(division.function, operands, number))
}
