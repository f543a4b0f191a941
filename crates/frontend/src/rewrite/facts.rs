//! Things that are known of expressions and plans without running them: whether they may fail,
//! whether they give at most one row, whether they are volatile.
//!
//! All answers are on the safe side: what is not known to be harmless may fail.

use std::collections::HashSet;

use crate::functions::windows::WindowFunction;
use crate::functions::{Scalar, Volatility};
use crate::plan::{ColumnId, CteBody, Expr, ExprKind, JoinKind, Plan, WindowKind};
use crate::types::Type;

/// Whether an expression may raise an error or has effects.
pub(super) fn may_fail(expr: &Expr) -> bool {
    expr.any(&mut |expr| match &expr.kind {
        ExprKind::Call {
            function,
            arguments,
        } => !is_harmless(function, arguments, &expr.ty),
        ExprKind::InList { equal, .. } => equal.volatility == Volatility::Volatile,
        ExprKind::Any { operator, .. } => !is_comparison(operator.name),
        ExprKind::Array(items) => items.iter().any(|item| matches!(item.ty, Type::Array(_))),
        ExprKind::Subquery(_) => true,
        _ => false,
    })
}

fn is_comparison(name: &str) -> bool {
    matches!(name, "=" | "<>" | "<" | "<=" | ">" | ">=")
}

fn is_harmless(function: &Scalar, arguments: &[Expr], ty: &Type) -> bool {
    if function.volatility == Volatility::Volatile {
        return false;
    }
    let plain = |expr: &Expr| !matches!(expr.ty, Type::Record(_) | Type::Array(_));
    match function.name {
        name if is_comparison(name) => arguments.iter().all(plain),
        "~~" | "!~~" | "lower" | "upper" | "length" | "char_length" => true,
        // NUMERIC has room for the results of sums and products of all that is met.
        "+" | "-" | "*" => matches!(ty, Type::Numeric(_)),
        "cast" => match arguments {
            [from] => is_widening(&from.ty, ty),
            _ => false,
        },
        _ => false,
    }
}

/// Whether all values of a type are values of another.
fn is_widening(from: &Type, to: &Type) -> bool {
    let rank = |ty: &Type| match ty {
        Type::Int2 => Some(0),
        Type::Int4 => Some(1),
        Type::Int8 => Some(2),
        Type::Numeric(None) => Some(3),
        _ => None,
    };
    match (rank(from), to) {
        _ if from.is_string() => matches!(to, Type::Text | Type::Varchar(None)),
        (_, Type::Text) => true,
        (Some(from), Type::Float8) => from < 3,
        (Some(from), Type::Numeric(Some(digits))) => {
            let needed = [5, 10, 19, u8::MAX][from];
            digits.precision.saturating_sub(digits.scale) >= needed
        }
        (Some(from), to) => rank(to).is_some_and(|to| from <= to),
        (None, _) => false,
    }
}

/// Whether a plan may raise an error or has effects.
pub(crate) fn plan_may_fail(plan: &Plan) -> bool {
    let here = match plan {
        Plan::Scan { sample, .. } => sample.is_some(),
        Plan::Functions { .. } | Plan::ProjectSet { .. } => true,
        Plan::Join { kind, .. } => *kind == JoinKind::Single,
        Plan::Limit { limit, offset, .. } => !limit
            .iter()
            .chain(offset)
            .all(|expr| expr.literal().is_some()),
        Plan::Aggregate { calls, .. } => calls.iter().any(|(_, call)| {
            let name = &*call.function.name;
            let counted = matches!(name, "count" | "min" | "max" | "bool_and" | "bool_or");
            let plain = |expr: &Expr| !matches!(expr.ty, Type::Float4 | Type::Float8);
            let summed = matches!(name, "sum" | "avg") && call.arguments.iter().all(plain);
            call.function.ordered || !counted && !summed
        }),
        Plan::Window { calls, .. } => calls.iter().any(|(_, call)| match &call.kind {
            WindowKind::Function(function) => !is_ranking(function),
            WindowKind::Aggregate(function) => function.name != "count",
        }),
        Plan::With { ctes, .. } => ctes.iter().any(|cte| !matches!(cte.body, CteBody::Plan(_))),
        _ => false,
    };
    here || plan.expressions().into_iter().any(may_fail)
        || plan.inputs().into_iter().any(plan_may_fail)
}

fn is_ranking(function: &WindowFunction) -> bool {
    matches!(function.name, "row_number" | "rank" | "dense_rank")
}

/// Whether a plan may give other rows when it is run again.
pub(crate) fn is_volatile(plan: &Plan) -> bool {
    let volatile = |expr: &Expr| {
        expr.any(&mut |expr| match &expr.kind {
            ExprKind::Call { function, .. } => function.volatility == Volatility::Volatile,
            ExprKind::Subquery(subquery) => is_volatile(&subquery.plan),
            _ => false,
        })
    };
    let here = match plan {
        Plan::Scan { sample, .. } => sample.as_ref().is_some_and(|s| s.seed.is_none()),
        _ => false,
    };
    here || plan.expressions().into_iter().any(volatile)
        || plan.inputs().into_iter().any(is_volatile)
}

/// Whether a plan gives one row at most.
pub(super) fn gives_one_row_at_most(plan: &Plan) -> bool {
    match plan {
        Plan::Values { rows, .. } => rows.len() <= 1,
        Plan::Aggregate { keys, sets, .. } => keys.is_empty() && sets.is_none(),
        Plan::Limit {
            input,
            limit,
            ties,
            percent,
            ..
        } => {
            let few = limit.as_ref().and_then(Expr::literal_integer);
            let few = few.is_some_and(|limit| limit <= 1) && ties.is_none() && !percent;
            few || gives_one_row_at_most(input)
        }
        Plan::Filter { input, .. }
        | Plan::Project { input, .. }
        | Plan::Window { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Distinct { input, .. }
        | Plan::Barrier { input } => gives_one_row_at_most(input),
        Plan::Join {
            kind, left, right, ..
        } => {
            let left = gives_one_row_at_most(left);
            match kind {
                JoinKind::Inner | JoinKind::Left => left && gives_one_row_at_most(right),
                JoinKind::Right | JoinKind::Full => false,
                _ => left,
            }
        }
        Plan::With { body, .. } => gives_one_row_at_most(body),
        _ => false,
    }
}

/// The numbers of a plan's columns.
pub(super) fn made(plan: &Plan) -> HashSet<ColumnId> {
    plan.given()
}

/// Whether a plan reads one of some columns and does not make it.
pub(super) fn reads(plan: &Plan, columns: &HashSet<ColumnId>) -> bool {
    plan.free().iter().any(|id| columns.contains(id))
}

/// Whether an expression reads one of some columns.
pub(super) fn expr_reads(expr: &Expr, columns: &HashSet<ColumnId>) -> bool {
    expr.reads().iter().any(|id| columns.contains(id))
}

/// Whether equal values of a type are the same in all respects.
pub(super) fn is_exact(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Int2 | Type::Int4 | Type::Int8 | Type::Oid | Type::Reg(_) => true,
        Type::Numeric(digits) => digits.is_some(),
        Type::Text
        | Type::Varchar(_)
        | Type::Char(_)
        | Type::CatalogChar
        | Type::Internal(_)
        | Type::Bit(_)
        | Type::VarBit(_)
        | Type::Name
        | Type::Enum(_) => true,
        Type::Bytea | Type::Uuid | Type::Date => true,
        Type::Inet | Type::Cidr | Type::MacAddr | Type::MacAddr8 | Type::Money => true,
        Type::Range(of) | Type::Multirange(of) => !of.has_scales(),
        Type::Time(_) | Type::TimeTz(_) | Type::Timestamp(_) | Type::TimestampTz(_) => true,
        Type::Array(element) => is_exact(element),
        Type::Record(fields) => fields.iter().all(|(_, ty)| is_exact(ty)),
        _ => false,
    }
}

/// Whether a plan does nothing with a column but compare it, so that it gives the same for
/// equal values.
pub(super) fn is_compared_only(id: ColumnId, plan: &Plan) -> bool {
    plan.expressions()
        .into_iter()
        .all(|expr| is_compared(id, expr))
        && plan
            .inputs()
            .into_iter()
            .all(|input| is_compared_only(id, input))
}

fn is_compared(id: ColumnId, expr: &Expr) -> bool {
    // Sums and products of equal numbers are equal.
    fn is_number(id: ColumnId, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Column(_) => true,
            ExprKind::Call {
                function,
                arguments,
            } if matches!(function.name, "+" | "-" | "*") => {
                arguments.iter().all(|argument| is_number(id, argument))
            }
            _ => is_compared(id, expr),
        }
    }
    match &expr.kind {
        ExprKind::Column(other) => *other != id,
        ExprKind::Call {
            function,
            arguments,
        } if is_comparison(function.name) => {
            arguments.iter().all(|argument| is_number(id, argument))
        }
        ExprKind::IsNull(inner) if matches!(inner.kind, ExprKind::Column(_)) => true,
        ExprKind::Subquery(subquery) => {
            let below = expr.children().into_iter();
            is_compared_only(id, &subquery.plan) && below.into_iter().all(|e| is_compared(id, e))
        }
        _ => expr
            .children()
            .into_iter()
            .all(|child| is_compared(id, child)),
    }
}
