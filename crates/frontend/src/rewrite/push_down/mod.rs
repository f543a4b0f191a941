//! Conditions go down to where their columns are made, and outer joins of which a condition
//! refuses the rows without a partner become inner ones.
//!
//! ```text
//! Filter a.x = b.x ∧ b.y > 3 ∧ c.z = 1       Join a.x = b.x
//!   Join (left) c.k = b.k                      Scan a
//!     Join (inner, no condition)               Join (inner) c.k = b.k
//!       Scan a                                   Filter b.y > 3   (Scan b)
//!       Scan b                                   Filter c.z = 1   (Scan c)
//!     Scan c
//! ```
//!
//! A condition is a list of *terms* that must all be TRUE. A term passes an operator if the rows
//! that it refuses above the operator are those that it refuses below:
//!
//! | operator | terms that pass |
//! |---|---|
//! | projection | those whose columns' values are not volatile; the values take their places |
//! | inner join | those of one side; the others become the join's condition |
//! | left join | those of the left side; those of the right side in the join's own condition |
//! | aggregate | those that read keys of all its sets only |
//! | window | those that read columns by which all windows are partitioned |
//! | DISTINCT, sort | all |
//! | UNION, INTERSECT | all, to each input |
//! | LIMIT, EXCEPT | none |
//! | barrier | those that cannot fail |
//!
//! Volatile terms and those with sub-queries stay where they are.
//!
//! Inner joins that follow each other are taken apart and put together again, so that each input
//! is joined when an equality connects it with those before it. Three kinds of terms are made
//! from others: what all branches of an OR have in common, what the branches say of one input,
//! and what is said of a column for the columns that it is equal to.

mod joins;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::facts::{is_exact, may_fail};
use super::unnest::only;
use crate::evaluate::fold::truth;
use crate::interrupt;
use crate::plan::{ColumnId, CteBody, Expr, ExprKind, JoinKind, Plan, SetItem, SetKind};
use crate::stack;

/// A plan that gives the same rows.
pub fn push_down(plan: Plan) -> Plan {
    // A level becomes a few.
    let levels = plan.levels().saturating_mul(4);
    stack::with_room(levels, || same_columns(plan, Vec::new()))
}

/// One of the conditions that must all be TRUE.
#[derive(Clone)]
struct Term {
    expr: Expr,
    /// The columns that it reads.
    reads: HashSet<ColumnId>,
}

impl Term {
    fn new(expr: Expr) -> Self {
        let reads = expr.reads();
        Self { expr, reads }
    }

    /// Whether it has to stay where it is.
    fn is_fixed(&self) -> bool {
        self.expr.is_volatile() || self.expr.has_subquery()
    }

    /// Whether it reads columns, and only some of these.
    fn reads_only(&self, columns: &HashSet<ColumnId>) -> bool {
        !self.reads.is_empty() && self.reads.is_subset(columns)
    }

    fn reads_any(&self, columns: &HashSet<ColumnId>) -> bool {
        !self.reads.is_disjoint(columns)
    }

    /// With expressions in the place of columns.
    fn replaced(mut self, with: &dyn Fn(ColumnId) -> Option<Expr>) -> Self {
        self.expr.replace(with);
        Self::new(self.expr)
    }
}

/// The terms of a condition; what all branches of an OR have in common is a term of its own.
fn terms(condition: Expr) -> Vec<Term> {
    let conjuncts = condition.conjuncts().into_iter();
    let factored = conjuncts.flat_map(|term| match term.kind {
        ExprKind::Or(branches) => factored(branches),
        _ => vec![term],
    });
    factored.map(Term::new).collect()
}

/// Branches of an OR that are compared with each other, at most.
const BRANCHES: usize = 64;

/// An OR as terms.
///
/// ```text
/// (a ∧ b) ∨ (a ∧ c)      a, b ∨ c
/// ```
fn factored(branches: Vec<Expr>) -> Vec<Expr> {
    let whole = |branches| vec![Expr::or(branches)];
    if branches.len() > BRANCHES || branches.iter().any(|b| b.is_volatile() || b.has_subquery()) {
        return whole(branches);
    }
    let mut split: Vec<Vec<Expr>> = branches.iter().cloned().map(Expr::conjuncts).collect();
    let Some((first, others)) = split.split_first() else {
        return whole(branches);
    };
    let common = |term: &&Expr| others.iter().all(|branch| branch.contains(term));
    let common: Vec<Expr> = first.iter().filter(common).cloned().collect();
    if common.is_empty() {
        return whole(branches);
    }
    for branch in &mut split {
        branch.retain(|term| !common.contains(term));
    }
    // A branch that asks for nothing more is TRUE where the common terms are.
    if split.iter().any(Vec::is_empty) {
        return common;
    }
    let rest = Expr::or(split.into_iter().map(Expr::and));
    common.into_iter().chain([rest]).collect()
}

/// A plan under terms that go no further.
fn filtered(plan: Plan, terms: Vec<Term>) -> Plan {
    let mut kept: Vec<Expr> = Vec::with_capacity(terms.len());
    for Term { expr, .. } in terms {
        let is_known = kept.len() < BRANCHES && kept.contains(&expr);
        if truth(&expr) != Some(Some(true)) && !is_known {
            kept.push(expr);
        }
    }
    match kept.is_empty() {
        true => plan,
        false => Plan::Filter {
            input: Box::new(plan),
            condition: Expr::and(kept),
        },
    }
}

/// A plan under terms, with its columns in the order that they had.
fn same_columns(plan: Plan, above: Vec<Term>) -> Plan {
    let columns = plan.columns();
    only(down(plan, above), &columns)
}

/// The rows of a plan for which all terms are TRUE; its columns may come in another order.
fn down(mut plan: Plan, above: Vec<Term>) -> Plan {
    if interrupt::check().is_err() {
        return filtered(plan, above);
    }
    // There are no rows, whatever is below.
    let never = |term: &Term| matches!(truth(&term.expr), Some(None | Some(false)));
    if above.iter().any(never) {
        return Plan::Filter {
            input: Box::new(down(plan, Vec::new())),
            condition: Expr::bool(false),
        };
    }
    for expr in plan.expressions_mut() {
        in_subqueries(expr);
    }
    match plan {
        Plan::Filter { input, condition } => {
            let (fixed, mut own): (Vec<_>, Vec<_>) =
                terms(condition).into_iter().partition(Term::is_fixed);
            own.extend(above);
            filtered(down(*input, own), fixed)
        }
        Plan::Project { input, items } => {
            let (passing, above) = {
                let values = items.iter().map(|(column, expr)| (column.id, expr));
                through_values(values.collect(), above)
            };
            let input = Box::new(down(*input, passing));
            filtered(Plan::Project { input, items }, above)
        }
        Plan::ProjectSet { input, items } => {
            let (passing, above) = {
                let mut values = HashMap::new();
                let mut made = HashSet::new();
                for item in &items {
                    match item {
                        SetItem::Value(column, expr) => {
                            values.insert(column.id, expr);
                        }
                        SetItem::Rows(call) => made.extend(call.columns.iter().map(|c| c.id)),
                    }
                }
                let (of_rows, others): (Vec<_>, Vec<_>) =
                    above.into_iter().partition(|term| term.reads_any(&made));
                let (passing, mut above) = through_values(values, others);
                above.extend(of_rows);
                (passing, above)
            };
            let input = Box::new(down(*input, passing));
            filtered(Plan::ProjectSet { input, items }, above)
        }
        Plan::Join {
            kind,
            left,
            right,
            condition,
            lateral,
        } => {
            let join = Join {
                kind,
                left: *left,
                right: *right,
                condition,
                lateral,
            };
            join.under(above)
        }
        Plan::Aggregate {
            input,
            keys,
            sets,
            calls,
            grouping,
        } => {
            let in_all_sets = |at: usize| sets.iter().flatten().all(|set| set.contains(&at));
            let keyed: HashMap<ColumnId, &Expr> = keys
                .iter()
                .enumerate()
                .filter(|(at, (_, expr))| in_all_sets(*at) && !expr.is_volatile())
                .map(|(_, (column, expr))| (column.id, expr))
                .collect();
            let ids: HashSet<ColumnId> = keyed.keys().copied().collect();
            let (passing, above): (Vec<_>, Vec<_>) =
                above.into_iter().partition(|term| term.reads_only(&ids));
            let (passing, mut kept) = through_values(keyed, passing);
            kept.extend(above);
            let input = Box::new(down(*input, passing));
            let plan = Plan::Aggregate {
                input,
                keys,
                sets,
                calls,
                grouping,
            };
            filtered(plan, kept)
        }
        Plan::Window { input, calls } => {
            let mut partitioned: Option<HashSet<ColumnId>> = None;
            for (_, call) in &calls {
                let columns: HashSet<ColumnId> =
                    call.partition.iter().filter_map(of_column).collect();
                partitioned = Some(match partitioned {
                    Some(before) => before.intersection(&columns).copied().collect(),
                    None => columns,
                });
            }
            let partitioned = partitioned.unwrap_or_default();
            let (passing, above): (Vec<_>, Vec<_>) = above
                .into_iter()
                .partition(|term| term.reads_only(&partitioned));
            let input = Box::new(down(*input, passing));
            filtered(Plan::Window { input, calls }, above)
        }
        Plan::Sort { input, keys } => {
            let input = Box::new(down(*input, above));
            Plan::Sort { input, keys }
        }
        Plan::Distinct { input, on } => {
            let (passing, above) = match &on {
                None => (above, Vec::new()),
                Some(on) => {
                    let columns = on.iter().filter_map(of_column).collect();
                    above
                        .into_iter()
                        .partition(|term| term.reads_only(&columns))
                }
            };
            let input = Box::new(down(*input, passing));
            filtered(Plan::Distinct { input, on }, above)
        }
        Plan::Set {
            kind,
            all,
            inputs,
            columns,
        } => {
            let (passing, above) = match kind {
                SetKind::Union | SetKind::Intersect => (above, Vec::new()),
                SetKind::Except => (Vec::new(), above),
            };
            let inputs = inputs.into_iter().map(|input| {
                let of_input = input.columns();
                let value = |id: ColumnId| {
                    let at = columns.iter().position(|column| column.id == id)?;
                    Some(of_input.get(at)?.reference())
                };
                let terms = passing.iter().cloned();
                let terms = terms.map(|term| term.replaced(&value)).collect();
                only(down(input, terms), &of_input)
            });
            let plan = Plan::Set {
                inputs: inputs.collect(),
                kind,
                all,
                columns,
            };
            filtered(plan, above)
        }
        Plan::With { mut ctes, body } => {
            for cte in &mut ctes {
                let plans = match &mut cte.body {
                    CteBody::Plan(plan) => vec![plan],
                    CteBody::Recursive { base, step, .. } => vec![base, step],
                };
                for plan in plans {
                    let taken = std::mem::replace(plan, Plan::one_row());
                    *plan = same_columns(taken, Vec::new());
                }
            }
            let body = Box::new(down(*body, above));
            Plan::With { ctes, body }
        }
        Plan::Barrier { input } => {
            let needless = !hides_rows(&input);
            let (passing, above): (Vec<_>, Vec<_>) = above
                .into_iter()
                .partition(|term| needless || !may_fail(&term.expr));
            let input = down(*input, passing);
            match needless {
                true => input,
                false => {
                    let input = Box::new(input);
                    filtered(Plan::Barrier { input }, above)
                }
            }
        }
        Plan::Limit {
            input,
            limit,
            offset,
            ties,
            percent,
        } => {
            let plan = Plan::Limit {
                input: Box::new(down(*input, Vec::new())),
                limit,
                offset,
                ties,
                percent,
            };
            filtered(plan, above)
        }
        leaf @ (Plan::Values { .. }
        | Plan::Scan { .. }
        | Plan::Functions { .. }
        | Plan::CteScan { .. }
        | Plan::Recursion { .. }) => filtered(leaf, above),
    }
}

/// Changes the plans of the sub-queries of an expression.
fn in_subqueries(expr: &mut Expr) {
    expr.change(&mut |part| {
        if let ExprKind::Subquery(subquery) = &mut part.kind {
            let taken = std::mem::replace(&mut subquery.plan, Plan::one_row());
            subquery.plan = same_columns(taken, Vec::new());
        }
    });
}

/// Terms below a node that computes values, and those that stay above it.
fn through_values(values: HashMap<ColumnId, &Expr>, terms: Vec<Term>) -> (Vec<Term>, Vec<Term>) {
    let fixed: HashSet<ColumnId> = values
        .iter()
        .filter(|(_, expr)| expr.is_volatile() || expr.has_subquery())
        .map(|(id, _)| *id)
        .collect();
    let (above, passing): (Vec<_>, Vec<_>) =
        terms.into_iter().partition(|term| term.reads_any(&fixed));
    let passing = passing.into_iter();
    let passing = passing.map(|term| term.replaced(&|id| values.get(&id).map(|e| Expr::clone(e))));
    (passing.collect(), above)
}

/// The column that an expression is.
fn of_column(expr: &Expr) -> Option<ColumnId> {
    match expr.kind {
        ExprKind::Column(id) => Some(id),
        _ => None,
    }
}

/// Whether a view leaves out rows that its reader might be told of.
fn hides_rows(plan: &Plan) -> bool {
    match plan {
        Plan::Scan { sample, .. } => sample.is_some(),
        Plan::Project { input, .. } | Plan::Sort { input, .. } => hides_rows(input),
        _ => true,
    }
}

/// A join on the way.
struct Join {
    kind: JoinKind,
    left: Plan,
    right: Plan,
    condition: Option<Expr>,
    lateral: bool,
}

impl Join {
    /// The join's rows for which all terms are TRUE.
    fn under(mut self, above: Vec<Term>) -> Plan {
        let sides = [self.left.given(), self.right.given()];
        self.kind = simplified(self.kind, &sides, &above);
        if self.kind == JoinKind::Inner && !self.lateral {
            return joins::joined(self, above);
        }
        let own = self.condition.take().map(terms).unwrap_or_default();
        // Terms from above that go to the left and to the right side.
        let [left, right] = &sides;
        let mark = self.kind.mark().map(|column| column.id);
        let of_left = |term: &Term| {
            !term.reads_any(right) && mark.is_none_or(|mark| !term.reads.contains(&mark))
        };
        let of_right = |term: &Term| !term.reads_any(left);
        let (to_left, to_right): (bool, bool) = match self.kind {
            JoinKind::Inner => (true, true),
            JoinKind::Right => (false, true),
            JoinKind::Full => (false, false),
            _ => (true, false),
        };
        let mut down_left = Vec::new();
        let mut down_right = Vec::new();
        let mut stay = Vec::new();
        for term in above {
            if to_left && of_left(&term) {
                down_left.push(term);
            } else if to_right && of_right(&term) {
                down_right.push(term);
            } else {
                stay.push(term);
            }
        }
        // Terms of its own.
        let (own_left, own_right) = match self.kind {
            JoinKind::Inner | JoinKind::Semi => (true, true),
            JoinKind::Left | JoinKind::Anti | JoinKind::Single => (false, true),
            JoinKind::Right => (true, false),
            JoinKind::Full | JoinKind::AsOf | JoinKind::AsOfLeft | JoinKind::Mark(_) => {
                (false, false)
            }
        };
        let inferred = match self.kind {
            JoinKind::Inner
            | JoinKind::Left
            | JoinKind::Single
            | JoinKind::Semi
            | JoinKind::Anti => follow(&down_left, &own, [left, right]),
            _ => Vec::new(),
        };
        let back = match self.kind {
            JoinKind::Inner | JoinKind::Right => follow(&down_right, &own, [right, left]),
            _ => Vec::new(),
        };
        let mut condition = Vec::new();
        for term in own {
            let moves = !term.is_fixed();
            let [of_left, of_right] = [left, right].map(|side| term.reads_any(side));
            if own_left && moves && of_left && !of_right {
                down_left.push(term);
            } else if own_right && moves && of_right && !of_left {
                down_right.push(term);
            } else {
                condition.push(term.expr);
            }
        }
        down_right.extend(inferred);
        down_left.extend(back);
        let had_condition = !condition.is_empty();
        let plan = Plan::Join {
            kind: self.kind,
            left: Box::new(down(self.left, down_left)),
            right: Box::new(down(self.right, down_right)),
            condition: had_condition.then(|| Expr::and(condition)),
            lateral: self.lateral,
        };
        filtered(plan, stay)
    }
}

/// The kind of a join some of whose rows without a partner are refused by terms above it.
fn simplified(kind: JoinKind, sides: &[HashSet<ColumnId>; 2], above: &[Term]) -> JoinKind {
    let refuses = |side: usize| {
        let refuses = |term: &Term| {
            let value = without(&term.expr, &sides[side]);
            matches!(value, Outcome::Null | Outcome::NotTrue)
        };
        above.iter().any(refuses)
    };
    match kind {
        JoinKind::Left if refuses(1) => JoinKind::Inner,
        JoinKind::Right if refuses(0) => JoinKind::Inner,
        JoinKind::Full => match (refuses(0), refuses(1)) {
            (true, true) => JoinKind::Inner,
            (true, false) => JoinKind::Left,
            (false, true) => JoinKind::Right,
            (false, false) => JoinKind::Full,
        },
        other => other,
    }
}

/// An expression's value where some columns are NULL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// NULL.
    Null,
    /// FALSE or NULL.
    NotTrue,
    /// TRUE or NULL.
    NotFalse,
    /// Any value.
    Any,
}

fn without(expr: &Expr, columns: &HashSet<ColumnId>) -> Outcome {
    use Outcome::{Any, NotFalse, NotTrue, Null};
    let of = |expr: &Expr| without(expr, columns);
    let is_null = |expr: &Expr| of(expr) == Null;
    match &expr.kind {
        ExprKind::Literal(value) if value.is_null(0) => Null,
        ExprKind::Literal(_) => match truth(expr) {
            Some(Some(false)) => NotTrue,
            Some(Some(true)) => NotFalse,
            _ => Any,
        },
        ExprKind::Column(id) if columns.contains(id) => Null,
        ExprKind::Call {
            function,
            arguments,
        } if function.strict && arguments.iter().any(is_null) => Null,
        ExprKind::And(all) => {
            let found: Vec<Outcome> = all.iter().map(of).collect();
            match () {
                () if found.iter().all(|one| *one == Null) => Null,
                () if found.iter().any(|one| matches!(one, Null | NotTrue)) => NotTrue,
                () if found.iter().all(|one| matches!(one, Null | NotFalse)) => NotFalse,
                () => Any,
            }
        }
        ExprKind::Or(all) => {
            let found: Vec<Outcome> = all.iter().map(of).collect();
            match () {
                () if found.iter().all(|one| *one == Null) => Null,
                () if found.iter().all(|one| matches!(one, Null | NotTrue)) => NotTrue,
                () if found.iter().any(|one| matches!(one, Null | NotFalse)) => NotFalse,
                () => Any,
            }
        }
        ExprKind::Not(inner) => match of(inner) {
            NotTrue => NotFalse,
            NotFalse => NotTrue,
            other => other,
        },
        ExprKind::IsNull(inner) if is_null(inner) => NotFalse,
        ExprKind::Coalesce(all) if all.iter().all(is_null) => Null,
        ExprKind::Coalesce(all) => {
            // `coalesce(x = 1, false)` is FALSE where x is NULL.
            let mut left = all.iter().map(of).skip_while(|one| *one == Null);
            let (first, others) = (left.next(), left.count());
            match (first, others) {
                (Some(NotTrue), 0) => NotTrue,
                (Some(NotFalse), 0) => NotFalse,
                _ => Any,
            }
        }
        ExprKind::InList { value, .. } if is_null(value) => Null,
        ExprKind::Field(inner, _) if is_null(inner) => Null,
        _ => Any,
    }
}

/// The equality of two columns that a term is, whose values are the same in all respects.
fn equality(term: &Term) -> Option<[(ColumnId, &Expr); 2]> {
    let ExprKind::Call {
        function,
        arguments,
    } = &term.expr.kind
    else {
        return None;
    };
    let [left, right] = arguments.as_slice() else {
        return None;
    };
    let alike = function.name == "=" && left.ty.base() == right.ty.base() && is_exact(&left.ty);
    match alike {
        true => Some([(of_column(left)?, left), (of_column(right)?, right)]),
        false => None,
    }
}

/// Terms about columns of one side that follow from those about the columns of the other side
/// that they are equal to.
fn follow(known: &[Term], own: &[Term], sides: [&HashSet<ColumnId>; 2]) -> Vec<Term> {
    let [from, to] = sides;
    let mut made = Vec::new();
    for [(left, one), (right, other)] in own.iter().filter_map(equality) {
        let (column, value) = match () {
            () if from.contains(&left) && to.contains(&right) => (left, other),
            () if from.contains(&right) && to.contains(&left) => (right, one),
            () => continue,
        };
        let about = |term: &&Term| is_about(term, column);
        let others = known.iter().filter(about).cloned();
        made.extend(others.map(|term| term.replaced(&|_| Some(value.clone()))));
    }
    made
}

/// Whether a term is about one column alone and may be asked of other values of its type.
fn is_about(term: &Term, column: ColumnId) -> bool {
    term.reads.len() == 1 && term.reads.contains(&column) && !may_fail(&term.expr)
}
