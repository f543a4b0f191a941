//! Joins.
//!
//! Equalities between the sides become keys, by the canonical form where Arrow's equality is
//! not that of the type; all else is the filter. A right side that reads columns of the left
//! one is run for each of their values (`operators::lateral`); one that only calls functions
//! gives their rows beside each row of the left side.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{JoinType, NullEquality, ScalarValue};
use datafusion::logical_expr::expr::BinaryExpr;
use datafusion::logical_expr::{Expr, Join, JoinConstraint, LogicalPlan, Operator};
use freestone_frontend::plan::{
    Column, ColumnId, Expr as Bound, ExprKind, JoinKind, Plan, TableCall,
};
use freestone_frontend::types::Type;

use super::expression::{balanced, comparison, exact};
use super::operator::over;
use super::operators::asof::{AsOf, Near};
use super::operators::lateral::{Lateral, Pairs};
use super::operators::matches::Matches;
use super::operators::set_rows::{Part, SetRows};
use super::relation::filtered;
use super::{Lowering, canonical, own_name, projected, schema_of};
use crate::error::{Error, Result};

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
    /// The sides, the left side's first.
    pub(super) fn sides(&self) -> [&'a Bound; 2] {
        self.sides
    }
}

impl Lowering {
    pub(super) fn join(
        &self,
        kind: JoinKind,
        left: &Plan,
        right: &Plan,
        condition: Option<&Bound>,
        lateral: bool,
    ) -> Result<LogicalPlan> {
        let known = ids(&left.columns());
        if lateral && depends(left, right) {
            if let (Plan::Functions { calls, ordinality }, JoinKind::Inner | JoinKind::Left) =
                (right, kind)
            {
                let whole = condition.is_none_or(is_true);
                if kind == JoinKind::Inner || whole {
                    let outer = kind == JoinKind::Left;
                    let plan = self.rows_beside(left, calls, ordinality.as_ref(), outer)?;
                    return match condition.filter(|_| !whole) {
                        Some(condition) => filtered(self.condition(condition)?, plan),
                        None => Ok(plan),
                    };
                }
            }
            return self.lateral(kind, left, right, condition);
        }
        let join_type = match kind {
            JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
            JoinKind::Semi => JoinType::LeftSemi,
            JoinKind::Anti => JoinType::LeftAnti,
            JoinKind::AsOf | JoinKind::AsOfLeft => {
                return self.as_of(kind == JoinKind::AsOfLeft, left, right, condition);
            }
            // The only row that there is beside each row.
            JoinKind::Single if condition.is_none_or(is_true) && is_one_row(right) => {
                JoinType::Inner
            }
            JoinKind::Single if self.finds_one(left, right, condition) => JoinType::Left,
            JoinKind::Single | JoinKind::Mark(_) => {
                return self.matches(kind, left, right, condition);
            }
        };
        let sides = [known, ids(&right.columns())];
        let below = [self.plan(left)?, self.plan(right)?];
        let (mut on, mut rest) = (Vec::new(), Vec::new());
        let mut stricts = Vec::new();
        for term in terms(condition) {
            let found = compared(term, &sides).filter(|found| found.op == Operator::Eq);
            let key = match &found {
                Some(found) => self.key(found)?,
                None => None,
            };
            match (key, found) {
                (Some(key), Some(found)) => {
                    stricts.push(found.strict);
                    on.push(key);
                }
                _ => rest.push(self.condition(term)?),
            }
        }
        // NULLs are equal in all keys or in none.
        let null_equal = stricts.contains(&false);
        if null_equal {
            let strict = on.iter().zip(&stricts).filter(|(_, strict)| **strict);
            rest.extend(strict.map(|((left, _), _)| left.clone().is_not_null()));
        }
        let [left, right] = below.map(Arc::new);
        let join = Join::try_new(
            left,
            right,
            on,
            balanced(rest, Operator::And),
            join_type,
            JoinConstraint::On,
            match null_equal {
                true => NullEquality::NullEqualsNull,
                false => NullEquality::NullEqualsNothing,
            },
            false,
        )?;
        Ok(LogicalPlan::Join(join))
    }

    /// The rows of NOT IN: those whose mark is FALSE, if a single equality makes it.
    ///
    /// ```text
    /// Filter: NOT mark
    ///   Join: mark if a = b            Join: those of a that are not among b
    /// ```
    pub(super) fn not_in(&self, input: &Plan, condition: &Bound) -> Result<Option<LogicalPlan>> {
        let Plan::Join {
            kind: JoinKind::Mark(mark),
            left,
            right,
            condition: Some(equality),
            lateral: false,
        } = input
        else {
            return Ok(None);
        };
        let not_mark = |term: &&Bound| {
            matches!(&term.kind, ExprKind::Not(inner)
                if matches!(inner.kind, ExprKind::Column(id) if id == *mark))
        };
        let (marks, others): (Vec<&Bound>, Vec<&Bound>) =
            terms(Some(condition)).into_iter().partition(not_mark);
        if marks.is_empty() {
            return Ok(None);
        }
        let sides = [ids(&left.columns()), ids(&right.columns())];
        let equalities = terms(Some(equality));
        let found = match equalities.as_slice() {
            [term] => compared(term, &sides),
            _ => None,
        };
        let Some(found) = found.filter(|found| found.op == Operator::Eq && found.strict) else {
            return Ok(None);
        };
        let below = [self.plan(left)?, self.plan(right)?];
        let Some(key) = self.key(&found)? else {
            return Ok(None);
        };
        let [left, right] = below.map(Arc::new);
        let join = Join::try_new(
            left,
            right,
            vec![key],
            None,
            JoinType::LeftAnti,
            JoinConstraint::On,
            NullEquality::NullEqualsNothing,
            true,
        )?;
        let no = Expr::Literal(ScalarValue::Boolean(Some(false)), None);
        self.found(*mark, no, DataType::Boolean);
        let plan = LogicalPlan::Join(join);
        let others = others.into_iter().map(|term| self.condition(term));
        let others = others.collect::<Result<Vec<Expr>>>()?;
        match balanced(others, Operator::And) {
            Some(rest) => filtered(rest, plan).map(Some),
            None => Ok(Some(plan)),
        }
    }

    /// The two sides of an equality as a key.
    pub(super) fn key(&self, found: &Comparison<'_>) -> Result<Option<(Expr, Expr)>> {
        let ([left, right], term) = (found.sides, found.term);
        if let Expr::BinaryExpr(BinaryExpr {
            left: a,
            op: Operator::Eq,
            right: b,
        }) = self.expr(term)?.expr
        {
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

    /// The rows of functions beside each row of a plan.
    fn rows_beside(
        &self,
        left: &Plan,
        calls: &[TableCall],
        ordinality: Option<&Column>,
        outer: bool,
    ) -> Result<LogicalPlan> {
        let kept = self.kept(left);
        let below = self.plan(left)?;
        let mut exprs = Vec::new();
        let mut parts = Vec::new();
        for column in &kept {
            parts.push(Part::Value(exprs.len()));
            let value = exact(self.column(column.id)?, &column.ty)?;
            exprs.push(value.alias(own_name(column)));
        }
        let mut columns = kept;
        for call in calls {
            let mut places = Vec::with_capacity(call.arguments.len());
            for argument in &call.arguments {
                places.push(exprs.len());
                let value = exact(self.expr(argument)?, &argument.ty)?;
                exprs.push(value.alias(format!("argument {}", exprs.len())));
            }
            columns.extend(call.columns.iter().cloned());
            parts.push(Part::rows(call, places));
        }
        if let Some(column) = ordinality {
            parts.push(Part::Number);
            columns.push(column.clone());
        }
        let input = match exprs.is_empty() {
            true => below,
            false => projected(exprs, below)?,
        };
        let schema = self.schema_of_kept(&columns)?;
        let mut operator = SetRows::new(parts, self.around.clone());
        operator.outer = outer;
        Ok(over(operator, vec![input], schema))
    }

    /// A right side that is run for each row of the left one.
    fn lateral(
        &self,
        kind: JoinKind,
        left: &Plan,
        right: &Plan,
        condition: Option<&Bound>,
    ) -> Result<LogicalPlan> {
        let pairs = match kind {
            JoinKind::Inner => Pairs::Inner,
            JoinKind::Left => Pairs::Left,
            JoinKind::Semi => Pairs::Semi,
            JoinKind::Anti => Pairs::Anti,
            JoinKind::Single => Pairs::Single,
            JoinKind::Mark(_) => Pairs::Mark {
                condition: condition.is_some(),
            },
            _ => {
                let message = "a dependent side of such a join";
                return Err(Error::unsupported(message));
            }
        };
        let given = match kind.gives_right() {
            true => self.kept(right),
            false => Vec::new(),
        };
        let mut plan = right.clone();
        // No more columns than are read above.
        let mut items: Vec<(Column, Bound)> = given
            .iter()
            .map(|column| (column.clone(), column.reference()))
            .collect();
        match (condition, kind) {
            (Some(condition), JoinKind::Mark(_)) => {
                let column = self.fresh("condition", Type::Bool);
                items.push((column, condition.clone()));
            }
            (Some(condition), _) => {
                plan = Plan::Filter {
                    input: Box::new(plan),
                    condition: condition.clone(),
                };
            }
            (None, _) => {}
        }
        let inside = items.iter().map(|(column, _)| column.ty.arrow()).collect();
        plan = Plan::Project {
            items,
            input: Box::new(plan),
        };
        let free = plan.free();
        let outer: Vec<Column> = left
            .columns()
            .into_iter()
            .filter(|column| free.contains(&column.id))
            .collect();
        let kept = self.kept(left);
        let below = self.plan(left)?;
        let values: Vec<Bound> = outer.iter().map(Column::reference).collect();
        let (below, _) = self.with_keys(&kept, &values.iter().collect::<Vec<_>>(), &[], below)?;
        let mut columns: Vec<Column> = kept.iter().chain(&given).cloned().collect();
        columns.extend(kind.mark());
        let schema = self.schema_of_kept(&columns)?;
        let operator = Lateral {
            pairs,
            columns: kept.len(),
            outer,
            given: inside,
            plan,
            around: self.around.clone(),
            tables: self.tables.borrow().clone(),
        };
        Ok(over(operator, vec![below], schema))
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

    /// A join by an operator of ours that gives each left row its only match, or a mark.
    fn matches(
        &self,
        kind: JoinKind,
        left: &Plan,
        right: &Plan,
        condition: Option<&Bound>,
    ) -> Result<LogicalPlan> {
        let mark = kind.mark();
        let sides = [ids(&left.columns()), ids(&right.columns())];
        let plain = |found: &Comparison<'_>| {
            let [a, b] = found.sides.map(|side| side.ty.base());
            found.op == Operator::Eq && a == b && !matches!(a, Type::Jsonb | Type::Json)
        };
        let (mut equal, mut rest) = (Vec::new(), Vec::new());
        for term in terms(condition) {
            match compared(term, &sides).filter(plain) {
                Some(found) => equal.push(found),
                None => rest.push(term.clone()),
            }
        }
        // An equality that is NULL counts, too, where other conditions stand beside it.
        if mark.is_some() && !rest.is_empty() {
            let (strict, others): (Vec<_>, Vec<_>) =
                equal.into_iter().partition(|found| found.strict);
            equal = others;
            rest.extend(strict.into_iter().map(|found| found.term.clone()));
        }
        let rest = (!rest.is_empty()).then(|| Bound::and(rest));
        let reads = rest.as_ref().map(Bound::reads).unwrap_or_default();
        let read = [left, right].map(|side| {
            let columns = side.columns().into_iter();
            columns
                .filter(|column| reads.contains(&column.id))
                .collect::<Vec<_>>()
        });
        let given = match kind.gives_right() {
            true => self.kept(right),
            false => Vec::new(),
        };
        let kept = [self.kept(left), given];
        let plans = [self.plan(left)?, self.plan(right)?];
        let mut inputs = Vec::with_capacity(2);
        for (at, plan) in plans.into_iter().enumerate() {
            let mut exprs = Vec::new();
            for column in &kept[at] {
                let value = exact(self.column(column.id)?, &column.ty)?;
                exprs.push(value.alias(own_name(column)));
            }
            for (number, found) in equal.iter().enumerate() {
                let value = self.expr(found.sides[at])?;
                let kind = found.sides[at].ty.base().arrow();
                let value = super::expression::as_kind(value, &kind)?;
                exprs.push(value.alias(format!("key {number}")));
            }
            for column in &read[at] {
                let value = exact(self.column(column.id)?, &column.ty)?;
                exprs.push(value.alias(format!("read {}", column.id.0)));
            }
            inputs.push(projected(exprs, plan)?);
        }
        let widths = [kept[0].len(), kept[1].len()];
        let columns: Vec<Column> = kept.iter().flatten().cloned().chain(mark.clone()).collect();
        let schema = self.schema_of_kept(&columns)?;
        let operator = Matches {
            mark: mark.is_some(),
            columns: widths,
            equal: equal.iter().map(|found| found.sides[0].ty.base()).collect(),
            strict: equal.iter().map(|found| found.strict).collect(),
            rest,
            read: read.map(|columns| columns.iter().map(|column| column.id).collect()),
            around: self.around.clone(),
        };
        Ok(over(operator, inputs, schema))
    }

    fn as_of(
        &self,
        outer: bool,
        left: &Plan,
        right: &Plan,
        condition: Option<&Bound>,
    ) -> Result<LogicalPlan> {
        let sides = [ids(&left.columns()), ids(&right.columns())];
        let (mut equal, mut near) = (Vec::new(), None);
        for term in terms(condition) {
            let found = compared(term, &sides);
            match found {
                Some(found) if found.op == Operator::Eq => equal.push(found),
                Some(found) if near.is_none() && found.op != Operator::NotEq => near = Some(found),
                _ => {
                    let message = "an ASOF join with more than equalities and one inequality";
                    return Err(Error::unsupported(message));
                }
            }
        }
        let near = near.ok_or_else(|| Error::unsupported("an ASOF join without an inequality"))?;
        let direction = match near.op {
            Operator::GtEq => Near::Before { equal: true },
            Operator::Gt => Near::Before { equal: false },
            Operator::LtEq => Near::After { equal: true },
            _ => Near::After { equal: false },
        };
        let mut types = Vec::new();
        for found in equal.iter().chain([&near]) {
            let [a, b] = found.sides.map(|side| side.ty.base());
            if a != b {
                let message = "an ASOF join on values of two types";
                return Err(Error::unsupported(message).with_hint("cast one side"));
            }
            types.push(a);
        }
        let kept = [self.kept(left), self.kept(right)];
        let plans = [self.plan(left)?, self.plan(right)?];
        let mut inputs = Vec::with_capacity(2);
        for (at, plan) in plans.into_iter().enumerate() {
            let mut exprs = Vec::new();
            for column in &kept[at] {
                let value = exact(self.column(column.id)?, &column.ty)?;
                exprs.push(value.alias(own_name(column)));
            }
            for (number, (found, ty)) in equal.iter().chain([&near]).zip(&types).enumerate() {
                let value = self.expr(found.sides[at])?;
                let value = super::expression::as_kind(value, &ty.arrow())?;
                exprs.push(value.alias(format!("key {number}")));
            }
            inputs.push(projected(exprs, plan)?);
        }
        let columns: Vec<Column> = kept.iter().flatten().cloned().collect();
        let kinds = columns.iter().map(|column| column.ty.arrow());
        let schema = schema_of(self.named(&columns, kinds))?;
        let operator = AsOf {
            near: direction,
            outer,
            columns: [kept[0].len(), kept[1].len()],
            types,
        };
        Ok(over(operator, inputs, schema))
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
