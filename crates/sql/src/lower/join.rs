//! Conditions of joins, and what is known of their sides.
//!
//! Equalities between the sides become keys, by the canonical form where Arrow's equality is
//! not that of the type.

use std::collections::HashSet;

use freestone_frontend::plan::{Column, ColumnId, Expr as Bound, ExprKind, Plan};

use super::expression::{comparison, exact};
use super::{Lowering, canonical};
use crate::error::{Error, Result};
use crate::expression::{Expr, Operator};

/// The sides of a comparison, the left side's first.
pub(super) struct Comparison<'a> {
    pub(super) op: Operator,
    /// Whether it is NULL, and not the equality of NULLs, where a side is.
    pub(super) strict: bool,
    /// The comparison itself.
    term: &'a Bound,
    sides: [&'a Bound; 2],
}

impl<'a> Comparison<'a> {
    /// Whether it is NULL where a side is.
    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    /// The sides, the left side's first.
    pub(super) fn sides(&self) -> [&'a Bound; 2] {
        self.sides
    }
}

impl Lowering {
    /// The two sides of an equality as a key.
    pub(super) fn key(&self, found: &Comparison<'_>) -> Result<Option<(Expr, Expr)>> {
        let ([left, right], term) = (found.sides, found.term);
        if let Expr::Binary(a, Operator::Eq, b) = self.expr(term)?.expr {
            let swapped = matches!(&term.kind, ExprKind::Call { arguments, .. }
                if arguments.first().is_some_and(|first| std::ptr::eq(first, right)));
            return Ok(Some(match swapped {
                true => (*b, *a),
                false => (*a, *b),
            }));
        }
        let alike = left.ty.base() == right.ty.base()
            && canonical::kind(&left.ty, &left.ty.base().arrow()).is_some();
        if !alike {
            return Ok(None);
        }
        let side = |side: &Bound| {
            let ty = side.ty.base();
            let value = exact(self.expr(side)?, &ty)?;
            let typed = super::Typed::new(value, ty.arrow());
            Ok::<_, Error>(canonical::key(typed, &ty).expr)
        };
        Ok(Some((side(left)?, side(right)?)))
    }

    /// Whether a row of the left side can find no more than one of the right one.
    pub(super) fn finds_one(&self, left: &Plan, right: &Plan, condition: Option<&Bound>) -> bool {
        let sides = [ids(&left.columns()), ids(&right.columns())];
        let mut equal = HashSet::new();
        for term in terms(condition) {
            let found = compared(term, &sides).filter(|found| found.op == Operator::Eq);
            if let Some(found) = found
                && let ExprKind::Column(id) = found.sides[1].kind
            {
                equal.insert(id);
            }
        }
        is_unique(right, &equal)
    }
}

/// Whether the right side of a join reads columns of the left one.
pub(super) fn depends(left: &Plan, right: &Plan) -> bool {
    let known = ids(&left.columns());
    right.free().iter().any(|id| known.contains(id))
}

/// Whether a plan gives exactly one row, whatever there is.
pub(super) fn is_one_row(plan: &Plan) -> bool {
    match plan {
        Plan::Aggregate { keys, sets, .. } => keys.is_empty() && sets.is_none(),
        Plan::Values { rows, .. } => rows.len() == 1,
        Plan::Project { input, .. } | Plan::Sort { input, .. } => is_one_row(input),
        _ => false,
    }
}

/// Whether no two rows of a plan have the same values in some columns.
fn is_unique(plan: &Plan, columns: &HashSet<ColumnId>) -> bool {
    match plan {
        Plan::Aggregate {
            keys, sets: None, ..
        } => keys.iter().all(|(column, _)| columns.contains(&column.id)),
        Plan::Values { rows, .. } => rows.len() <= 1,
        Plan::Filter { input, .. } | Plan::Sort { input, .. } | Plan::Barrier { input } => {
            is_unique(input, columns)
        }
        Plan::Distinct { input, on: None } => input
            .columns()
            .iter()
            .all(|column| columns.contains(&column.id)),
        Plan::Limit { input, limit, .. } => {
            let one = limit.as_ref().and_then(Bound::literal_integer);
            one.is_some_and(|rows| rows <= 1) || is_unique(input, columns)
        }
        Plan::Project { input, items } => {
            let below = items.iter().filter_map(|(column, expr)| match expr.kind {
                ExprKind::Column(id) if columns.contains(&column.id) => Some(id),
                _ => None,
            });
            is_unique(input, &below.collect())
        }
        Plan::Scan {
            relation,
            columns: read,
            ..
        } => {
            let key = &relation.key;
            let has = |at: &usize| {
                let mut read = read.iter();
                read.any(|(column, place)| place == at && columns.contains(&column.id))
            };
            !key.is_empty() && key.iter().all(has)
        }
        _ => false,
    }
}

pub(super) fn ids(columns: &[Column]) -> HashSet<ColumnId> {
    columns.iter().map(|column| column.id).collect()
}

pub(super) fn is_true(condition: &Bound) -> bool {
    *condition == Bound::bool(true)
}

pub(super) fn is_false(condition: &Bound) -> bool {
    *condition == Bound::bool(false)
}

/// The terms of a condition.
pub(super) fn terms(condition: Option<&Bound>) -> Vec<&Bound> {
    match condition {
        None => Vec::new(),
        Some(Bound {
            kind: ExprKind::And(terms),
            ..
        }) => terms.iter().collect(),
        Some(condition) if is_true(condition) => Vec::new(),
        Some(condition) => vec![condition],
    }
}

/// The comparison of a value of one side with one of the other that a condition is.
pub(super) fn compared<'a>(
    term: &'a Bound,
    sides: &[HashSet<ColumnId>; 2],
) -> Option<Comparison<'a>> {
    if let Some(equality) = null_safe(term) {
        let found = compared(equality, sides)?;
        return (found.op == Operator::Eq).then_some(Comparison {
            strict: false,
            ..found
        });
    }
    let ExprKind::Call {
        function,
        arguments,
    } = &term.kind
    else {
        return None;
    };
    let [a, b] = arguments.as_slice() else {
        return None;
    };
    let op = comparison(function.name)?;
    if term.is_volatile() {
        return None;
    }
    let of = |expr: &Bound| {
        let read = expr.reads();
        let within = |side: &HashSet<ColumnId>| read.iter().all(|id| side.contains(id));
        match read.is_empty() {
            true => None,
            false => sides.iter().position(within),
        }
    };
    match (of(a)?, of(b)?) {
        (0, 1) => Some(Comparison {
            strict: true,
            term,
            op,
            sides: [a, b],
        }),
        (1, 0) => Some(Comparison {
            strict: true,
            term,
            op: op.swap()?,
            sides: [b, a],
        }),
        _ => None,
    }
}

/// The equality in `a IS NULL AND b IS NULL OR coalesce(a = b, FALSE)`.
fn null_safe(term: &Bound) -> Option<&Bound> {
    let ExprKind::Or(either) = &term.kind else {
        return None;
    };
    let [both, other] = either.as_slice() else {
        return None;
    };
    let ExprKind::And(nulls) = &both.kind else {
        return None;
    };
    let [first, second] = nulls.as_slice() else {
        return None;
    };
    let (ExprKind::IsNull(a), ExprKind::IsNull(b)) = (&first.kind, &second.kind) else {
        return None;
    };
    let ExprKind::Coalesce(values) = &other.kind else {
        return None;
    };
    let [equality, otherwise] = values.as_slice() else {
        return None;
    };
    let ExprKind::Call {
        function,
        arguments,
    } = &equality.kind
    else {
        return None;
    };
    let [x, y] = arguments.as_slice() else {
        return None;
    };
    let same = a.as_ref() == x && b.as_ref() == y || a.as_ref() == y && b.as_ref() == x;
    let whole = same && function.name == "=" && *otherwise == Bound::bool(false);
    whole.then_some(equality)
}
