//! Conditions that hidden columns of a table answer.
//!
//! An index over an expression is over a hidden column that has its value, so that
//! `lower(a) = 'x'` is read as `hidden = 'x'`. A partial index ends in a hidden column that is
//! TRUE where its condition holds: a filter with all terms of that condition gets one term more,
//! that column. Both are put in the plan before it is lowered, and scans look rows up as ever.
//!
//! ```text
//! Filter lower(a#1) = 'x' AND b#2 > 0   Filter hidden#3 = 'x' AND b#2 > 0 AND hidden#4
//!   Scan t [a#1, b#2, #3, #4]             Scan t [a#1, b#2, #3, #4]
//! ```
//!
//! Terms are compared as they are bound: `b > 1` is not seen to imply `b > 0`. One thing more is
//! known: a comparison that is TRUE has no NULL, which `b IS NOT NULL` asks for.

use freestone_frontend::evaluate::fold::Fold;
use freestone_frontend::plan::{Column, Expr as Bound, ExprKind, JoinKind, Plan};
use freestone_frontend::stack;

use super::Handle;

/// Columns of a table are numbered from here on where expressions over them are bound alone;
/// those that the binder makes come before.
pub(crate) const FIRST: u32 = 1 << 30;

/// A hidden column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// Its position in the table.
    pub(crate) at: usize,
    /// Its value, over the table's columns from [`FIRST`] on; of a partial index the condition.
    pub(crate) value: Bound,
    /// Whether it is the condition of a partial index.
    pub(crate) is_condition: bool,
}

/// A hidden column that a filter may read.
struct Readable {
    column: Column,
    /// Over the columns of the plan.
    value: Bound,
    is_condition: bool,
}

/// Lets filters read hidden columns.
pub(super) fn look_up(plan: &mut Plan, fold: &Fold<'_>) {
    if has_terms(plan) {
        stack::with_room(plan.levels(), || {
            readable(plan, fold);
        });
    }
}

fn terms(plan: &Plan) -> &[Term] {
    let Plan::Scan { relation, .. } = plan else {
        return &[];
    };
    let handle = relation.handle.downcast_ref::<Handle>();
    handle.map_or(&[], |handle| &handle.terms)
}

fn has_terms(plan: &Plan) -> bool {
    let mut open = vec![plan];
    while let Some(plan) = open.pop() {
        if !terms(plan).is_empty() {
            return true;
        }
        open.extend(plan.inputs());
    }
    false
}

/// Changes the filters of a plan; what filters above it may read.
fn readable(plan: &mut Plan, fold: &Fold<'_>) -> Vec<Readable> {
    match plan {
        Plan::Scan { .. } => of_scan(plan, fold),
        Plan::Filter { input, condition } => {
            let known = readable(input, fold);
            change(condition, &known);
            known
        }
        Plan::Join {
            kind,
            left,
            right,
            condition,
            ..
        } => {
            let (mut known, right) = (readable(left, fold), readable(right, fold));
            // Rows without a partner have NULLs, of which an expression may have a value.
            match kind {
                JoinKind::Inner => {
                    known.extend(right);
                    if let Some(condition) = condition {
                        change(condition, &known);
                    }
                }
                JoinKind::Right => known = right,
                JoinKind::Full => known.clear(),
                _ => {}
            }
            known
        }
        other => {
            for input in other.inputs_mut() {
                readable(input, fold);
            }
            Vec::new()
        }
    }
}

fn of_scan(plan: &Plan, fold: &Fold<'_>) -> Vec<Readable> {
    let Plan::Scan { columns, .. } = plan else {
        return Vec::new();
    };
    let mut known = Vec::new();
    for term in terms(plan) {
        let mut own = columns.iter();
        let Some((column, _)) = own.find(|(_, at)| *at == term.at) else {
            continue;
        };
        let mut value = term.value.clone();
        let mut missing = false;
        value.change(&mut |part| {
            if let ExprKind::Column(id) = &mut part.kind {
                let at = id.0.wrapping_sub(FIRST) as usize;
                match columns.iter().find(|(_, known)| *known == at) {
                    Some((column, _)) => *id = column.id,
                    None => missing = true,
                }
            }
        });
        fold.expr(&mut value);
        // A value that is stored in another type is another value.
        if missing || !term.is_condition && value.ty != column.ty {
            continue;
        }
        known.push(Readable {
            column: column.clone(),
            value,
            is_condition: term.is_condition,
        });
    }
    // The larger of two expressions first, of which one may be part of the other.
    known.sort_by_key(|one| std::cmp::Reverse(one.value.size(usize::MAX)));
    known
}

/// A condition over rows with these hidden columns.
fn change(condition: &mut Bound, known: &[Readable]) {
    if known.is_empty() {
        return;
    }
    let terms = condition.clone().conjuncts();
    let mut more = Vec::new();
    for one in known.iter().filter(|one| one.is_condition) {
        let asked = one.value.clone().conjuncts();
        if asked.iter().all(|asked| is_implied(asked, &terms)) {
            more.push(column_of(&one.column));
        }
    }
    for one in known.iter().filter(|one| !one.is_condition) {
        let is_same = |part: &Bound| *part == one.value;
        if condition.any(&mut |part| is_same(part)) {
            condition.change(&mut |part| {
                if is_same(part) {
                    *part = column_of(&one.column);
                }
            });
        }
    }
    if !more.is_empty() {
        let terms = condition.clone().conjuncts();
        *condition = Bound::and(terms.into_iter().chain(more));
    }
}

fn column_of(column: &Column) -> Bound {
    Bound::new(ExprKind::Column(column.id), column.ty.clone())
}

/// Whether a term is TRUE where all of some terms are.
fn is_implied(asked: &Bound, terms: &[Bound]) -> bool {
    if terms.contains(asked) {
        return true;
    }
    let ExprKind::Not(inner) = &asked.kind else {
        return false;
    };
    let ExprKind::IsNull(present) = &inner.kind else {
        return false;
    };
    let compares = |term: &Bound| match &term.kind {
        ExprKind::Call {
            function,
            arguments,
        } => {
            ["=", "<", "<=", ">", ">=", "<>", "~~"].contains(&function.name)
                && arguments.contains(present)
        }
        ExprKind::InList { value, .. } => value == present,
        _ => false,
    };
    terms.iter().any(compares)
}
