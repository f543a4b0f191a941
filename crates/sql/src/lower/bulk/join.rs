//! Joins: inner ones that follow each other are one cluster, whose order is for its rows to say;
//! sides of others keep their roles.

use arrow::datatypes::DataType;
use freestone_exec::JoinKind as Kind;
use freestone_exec::expression::{Constant, Expression};
use freestone_frontend::plan::{Column, ColumnId, Expr as Bound, ExprKind, JoinKind, Plan};

use super::super::expression::balanced;
use super::super::join::{
    Comparison, compared, depends, ids, is_false, is_one_row, is_true, terms,
};
use super::super::{Typed, canonical, own_name};
use super::shared::Shared;
use super::{Added, Bulk, Part, field, renamed};
use crate::engine::{Cluster, Found, RELATIONS, Scope, joined, key_kind, ordered};
use crate::error::{Error, Result};
use crate::expression::{Expr, Operator, Scalar};

/// The condition of a join, taken apart.
#[derive(Default)]
struct On {
    /// Keys of the left and the right side, and whether NULL is no key.
    keys: Vec<(Expr, Expr, bool)>,
    rest: Vec<Expr>,
}

impl On {
    /// Whether NULLs are equal in the keys; they are in all of them or in none.
    fn nulls_are_equal(&mut self) -> bool {
        let null_equal = self.keys.iter().any(|(.., strict)| !strict);
        if null_equal {
            let strict = self.keys.iter().filter(|(.., strict)| *strict);
            let strict =
                strict.map(|(a, ..)| Expr::Not(Box::new(Expr::IsNull(Box::new(a.clone())))));
            self.rest.extend(strict);
        }
        null_equal
    }
}

impl Part {
    /// Names the mark that a join has added.
    fn add_mark(&mut self, name: String) {
        let field = field(&name, DataType::Boolean);
        self.found.insert(name, (self.rows.distinct.len(), field));
        self.rows.distinct.push(2.0);
    }
}

/// Whether the sides of a join may be exchanged with those of others around it.
fn is_free(plan: &Plan) -> bool {
    match plan {
        Plan::Join {
            kind: JoinKind::Inner,
            left,
            right,
            lateral,
            condition,
        } => {
            let once = condition.as_ref().is_none_or(|c| !c.is_volatile());
            once && !(*lateral && depends(left, right))
        }
        // The only row that there is beside each row.
        Plan::Join {
            kind: JoinKind::Single,
            left,
            right,
            condition,
            lateral,
        } => {
            let whole = condition.as_ref().is_none_or(is_true);
            whole && is_one_row(right) && !(*lateral && depends(left, right))
        }
        _ => false,
    }
}

/// How many relations a plan joins.
fn relations(plan: &Plan) -> usize {
    match plan {
        Plan::Join { left, right, .. } if is_free(plan) => relations(left) + relations(right),
        Plan::Project { input, .. } | Plan::Filter { input, .. } if joins(plan) => relations(input),
        _ => 1,
    }
}

/// Whether a plan is a free join, with conditions and choices of columns above.
pub(super) fn joins(plan: &Plan) -> bool {
    match plan {
        Plan::Project { input, items } => {
            items.iter().all(|(_, value)| renamed(value).is_some()) && joins(input)
        }
        // The condition is to be computed once for each row of the result.
        Plan::Filter { input, condition } => !condition.is_volatile() && joins(input),
        plan => is_free(plan),
    }
}

impl Bulk<'_> {
    /// The rows of joins in the order that is best.
    pub(super) fn free_joins(&self, plan: &Plan) -> Result<Part> {
        let (cluster, found) = self.gathered(plan)?;
        self.of_cluster(cluster, &found)
    }

    /// The relations that a plan joins, and their columns.
    pub(super) fn gathered(&self, plan: &Plan) -> Result<(Cluster, Found)> {
        let (mut cluster, mut found) = (Cluster::default(), Found::new());
        self.gather(plan, &mut cluster, &mut found)?;
        Ok((cluster, found))
    }

    /// The columns of a cluster that something reads.
    pub(super) fn of_cluster(&self, cluster: Cluster, found: &Found) -> Result<Part> {
        let read = found.iter().filter(|(name, _)| self.is_read(name));
        let mut read: Vec<_> = read.collect();
        read.sort_unstable_by_key(|(_, (number, _))| *number);
        let wanted: Vec<usize> = read.iter().map(|(_, (number, _))| *number).collect();
        let types = read
            .iter()
            .map(|(_, (_, field))| field.data_type().clone())
            .collect();
        let rows = ordered(cluster, &wanted, types);
        let rows = rows.ok_or_else(|| Error::internal("joins without an order"))?;
        let found = read.into_iter().enumerate();
        let found = found.map(|(at, (name, (_, field)))| (name.clone(), (at, field.clone())));
        Ok(Part {
            rows,
            found: found.collect(),
        })
    }

    fn gather(&self, plan: &Plan, cluster: &mut Cluster, found: &mut Found) -> Result<()> {
        match plan {
            Plan::Join {
                left,
                right,
                condition,
                ..
            } if is_free(plan) => {
                // More relations than are ordered at once are joined side by side.
                let are_few = relations(plan) <= RELATIONS;
                for side in [left, right] {
                    match are_few {
                        true => self.gather(side, cluster, found)?,
                        false => self.add_relation(side, cluster, found)?,
                    }
                }
                let On { keys, rest } = self.on(left, right, condition.as_ref())?;
                let scope = Scope::over(found);
                for (a, b, strict) in keys {
                    let (a, b, kind) = key_of((&scope, a), (&scope, b))?;
                    cluster.equality([a, b], kind, !strict);
                }
                for term in rest {
                    let term = scope.expr(&term)?;
                    cluster.condition(term);
                }
                self.spend(plan);
            }
            Plan::Project { input, items } if joins(plan) => {
                self.gather(input, cluster, found)?;
                let used = items.iter();
                let used = used.filter(|(column, _)| self.lowering.is_used(column.id));
                for (column, value) in used {
                    if let Some(of) = renamed(value) {
                        self.rename(column, of)?;
                    }
                }
                self.spend(plan);
            }
            Plan::Filter { input, condition } if joins(plan) => {
                self.gather(input, cluster, found)?;
                let scope = Scope::over(found);
                for term in terms(Some(condition)) {
                    let term = self.lowering.condition(term)?;
                    let term = scope.expr(&term)?;
                    cluster.condition(term);
                }
                self.spend(plan);
            }
            other => self.add_relation(other, cluster, found)?,
        }
        Ok(())
    }

    /// Adds the rows of a plan to those that are joined.
    fn add_relation(&self, plan: &Plan, cluster: &mut Cluster, found: &mut Found) -> Result<()> {
        let part = self.part(plan)?;
        let Part { rows, found: own } = self.narrowed(part);
        let columns = cluster.relation(rows);
        let own = own.into_iter();
        found.extend(own.map(|(name, (at, field))| (name, (columns.start + at, field))));
        Ok(())
    }

    /// The condition of a join of two sides whose columns are found, taken apart.
    fn on(&self, left: &Plan, right: &Plan, condition: Option<&Bound>) -> Result<On> {
        let mut on = On::default();
        let terms = terms(condition);
        if terms.is_empty() {
            return Ok(on);
        }
        let sides = [ids(&left.columns()), ids(&right.columns())];
        for term in terms {
            let found = compared(term, &sides).filter(|found| found.op == Operator::Eq);
            let key = match &found {
                Some(found) => self.lowering.key(found)?,
                None => None,
            };
            match (key, found) {
                (Some((a, b)), Some(found)) => on.keys.push((a, b, found.strict)),
                _ => on.rest.push(self.lowering.condition(term)?),
            }
        }
        Ok(on)
    }

    /// A join whose sides keep their roles.
    pub(super) fn bound_join(
        &self,
        plan: &Plan,
        kind: JoinKind,
        (left, right): (&Plan, &Plan),
        condition: Option<&Bound>,
    ) -> Result<Part> {
        let kind = match kind {
            JoinKind::Single if self.lowering.finds_one(left, right, condition) => JoinKind::Left,
            JoinKind::Left
            | JoinKind::Right
            | JoinKind::Full
            | JoinKind::Semi
            | JoinKind::Anti
            | JoinKind::Single
            | JoinKind::Mark(_) => kind,
            JoinKind::Inner => return self.volatile_join((left, right), condition),
            JoinKind::AsOf | JoinKind::AsOfLeft => {
                return Err(Error::internal("a nearest row that is no operator"));
            }
        };
        let [from, to] = self.sides(left, right)?;
        let mut on = self.on(left, right, condition)?;
        // Of marks those of `x IN (…)` with a single key.
        let is_in = matches!(on.keys.as_slice(), [(.., true)]) && on.rest.is_empty();
        if let Some(mark) = kind.mark().filter(|_| !is_in) {
            return self.marked(plan, &mark, [from, to], condition);
        }
        let null_equal = on.nulls_are_equal();
        self.spend(plan);
        let [from, to] = [from, to].map(|side| self.narrowed_for(side, &on));
        let smaller = from.rows.plan.estimate < to.rows.plan.estimate;
        let (own, build_left) = match kind {
            JoinKind::Left if smaller => (Kind::BuildOuter, true),
            JoinKind::Left => (Kind::ProbeOuter, false),
            JoinKind::Right if smaller => (Kind::ProbeOuter, true),
            JoinKind::Right => (Kind::BuildOuter, false),
            JoinKind::Full => (Kind::Full, smaller),
            JoinKind::Semi if smaller => (Kind::BuildSemi, true),
            JoinKind::Semi => (Kind::ProbeSemi, false),
            JoinKind::Anti if smaller => (Kind::BuildAnti, true),
            JoinKind::Mark(_) => (Kind::ProbeMarkIn, false),
            JoinKind::Single => (Kind::ProbeSingle, false),
            _ => (Kind::ProbeAnti, false),
        };
        let mut part = self.pairs(own, build_left, [from, to], on, null_equal)?;
        if let Some(mark) = kind.mark() {
            part.add_mark(self.find(&mark, &DataType::Boolean));
        }
        Ok(part)
    }

    /// Pairs for which a condition is TRUE that may change its value from one pair to the next.
    fn volatile_join(
        &self,
        (left, right): (&Plan, &Plan),
        condition: Option<&Bound>,
    ) -> Result<Part> {
        let pairs = Plan::Join {
            kind: JoinKind::Inner,
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
            condition: None,
            lateral: false,
        };
        match condition {
            Some(condition) => self.filter(&pairs, &pairs, condition),
            None => self.free_joins(&pairs),
        }
    }

    /// The rows of a left side, each marked: TRUE if the condition is TRUE for a row of the right
    /// side, NULL if it is NULL for one, and FALSE if not.
    ///
    /// A condition of which a part may be NULL is looked for twice: where all of it is TRUE, and
    /// where no part of it is FALSE.
    fn marked(
        &self,
        plan: &Plan,
        mark: &Column,
        [from, to]: [Part; 2],
        condition: Option<&Bound>,
    ) -> Result<Part> {
        let Plan::Join { left, right, .. } = plan else {
            return Err(Error::internal("a mark that no join makes"));
        };
        let (mut certain, mut open) = (Vec::new(), Vec::new());
        for term in terms(condition) {
            match &term.kind {
                ExprKind::Coalesce(values) if matches!(values.as_slice(), [_, no] if is_false(no)) =>
                {
                    certain.extend(terms(values.first()).into_iter().cloned());
                }
                _ => open.push(term.clone()),
            }
        }
        let whole = Bound::and(certain.iter().chain(&open).cloned());
        let joined = |from: Part, to: Part, condition: &Bound| -> Result<Part> {
            let mut on = self.on(left, right, Some(condition))?;
            let null_equal = on.nulls_are_equal();
            let [from, to] = [from, to].map(|side| self.narrowed_for(side, &on));
            self.pairs(Kind::ProbeMark, false, [from, to], on, null_equal)
        };
        let name = format!("{}?", own_name(mark));
        let is_open = !open.is_empty();
        let mut part = if is_open {
            let to = Shared::of(to);
            let mut part = joined(from, to.read(), &whole)?;
            part.add_mark(name.clone());
            // The columns of the condition and the first mark are kept.
            let not_false = open.into_iter().map(|term| {
                let is_null = term.clone().is_null();
                Bound::or([term, is_null])
            });
            let maybe = Bound::and(certain.into_iter().chain(not_false));
            self.name(&name, mark.id);
            joined(part, to.read(), &maybe)?
        } else {
            joined(from, to, &whole)?
        };
        self.spend(plan);
        if !is_open {
            part.add_mark(self.find(mark, &DataType::Boolean));
            return Ok(part);
        }
        let maybe = part.rows.plan.types.len() - 1;
        let Some((is_true, _)) = part.found.remove(&name) else {
            // Nothing reads the mark.
            return Ok(part);
        };
        let mut add = Added::over(self, &part);
        let value = Expression::Case(
            vec![
                (
                    Expression::Column(is_true),
                    Expression::Constant(Constant::Bool(true)),
                ),
                (
                    Expression::Column(maybe),
                    Expression::Null(DataType::Boolean),
                ),
            ],
            Some(Box::new(Expression::Constant(Constant::Bool(false)))),
        );
        add.push(
            self.find(mark, &DataType::Boolean),
            value,
            DataType::Boolean,
        );
        Ok(add.part(part.rows))
    }

    /// Both sides of a join.
    fn sides(&self, left: &Plan, right: &Plan) -> Result<[Part; 2]> {
        let left = self.part(left)?;
        Ok([left, self.part(right)?])
    }

    /// A side without columns that neither the join nor anything above it reads.
    fn narrowed_for(&self, part: Part, on: &On) -> Part {
        let keys = on.keys.iter().flat_map(|(a, b, _)| [a, b]);
        let exprs: Vec<&Expr> = keys.chain(&on.rest).collect();
        let is_asked = |name: &str| {
            let mut exprs = exprs.iter();
            exprs.any(|expr| expr.reads(name))
        };
        let dropped = part.found.keys();
        let mut dropped = dropped.filter(|name| !self.is_read(name) && !is_asked(name));
        // Most sides have nothing but what is read.
        if dropped.next().is_none() {
            return part;
        }
        self.kept(part, &is_asked)
    }

    fn pairs(
        &self,
        kind: Kind,
        build_left: bool,
        [from, to]: [Part; 2],
        on: On,
        null_equal: bool,
    ) -> Result<Part> {
        let (a, b) = (Scope::over(&from.found), Scope::over(&to.found));
        let mut keys = Vec::with_capacity(on.keys.len());
        for (left, right, _) in on.keys {
            let (left, right, of) = key_of((&a, left), (&b, right))?;
            keys.push(match build_left {
                true => (left, right, of),
                false => (right, left, of),
            });
        }
        let estimates = [from.rows.plan.estimate, to.rows.plan.estimate];
        let rows = match kind {
            Kind::BuildSemi | Kind::BuildAnti | Kind::ProbeSemi | Kind::ProbeAnti => {
                estimates[0] * 0.5
            }
            Kind::ProbeNotIn => estimates[0] * 0.5,
            _ => estimates[0].max(estimates[1]),
        };
        let (build, probe) = match build_left {
            true => (from, to),
            false => (to, from),
        };
        // Columns of the probe side come first.
        let width = probe.rows.plan.types.len();
        let mut both = probe.found.clone();
        let of_build = build.found.iter();
        both.extend(
            of_build.map(|(name, (at, field))| (name.clone(), (width + at, field.clone()))),
        );
        let filter = match balanced(on.rest, Operator::And) {
            Some(rest) => Some(Scope::over(&both).expr(&rest)?),
            None => None,
        };
        let of_build = matches!(kind, Kind::BuildSemi | Kind::BuildAnti);
        let mut distinct: Vec<f64> = Vec::new();
        if !of_build {
            distinct.extend(&probe.rows.distinct);
        }
        if kind.gives_pairs() || of_build {
            distinct.extend(&build.rows.distinct);
        }
        let found = match () {
            () if kind.gives_pairs() => both,
            () if of_build => build.found,
            () => probe.found,
        };
        let plan = joined(
            kind,
            build.rows.plan,
            probe.rows.plan,
            keys,
            rows,
            |join| join.filter = filter,
            null_equal,
        );
        let rows = crate::engine::Converted {
            sampled: None,
            plan,
            distinct,
        };
        Ok(Part { rows, found })
    }

    /// The rows of NOT IN: those whose mark is FALSE, if a single equality makes it.
    pub(super) fn not_in(
        &self,
        plan: &Plan,
        input: &Plan,
        condition: &Bound,
    ) -> Result<Option<Part>> {
        let Plan::Join {
            kind: kind @ JoinKind::Mark(mark),
            left,
            right,
            condition: Some(equality),
            lateral,
        } = input
        else {
            return Ok(None);
        };
        if *lateral && depends(left, right) {
            return Ok(None);
        }
        let (marks, others): (Vec<&Bound>, Vec<&Bound>) = terms(Some(condition))
            .into_iter()
            .partition(|term| is_not(term, *mark));
        let equalities = terms(Some(equality));
        let ([_, ..], [equality], Some(marked)) =
            (marks.as_slice(), equalities.as_slice(), kind.mark())
        else {
            return Ok(None);
        };
        let known = [ids(&left.columns()), ids(&right.columns())];
        let is_key = |found: &Comparison<'_>| found.op == Operator::Eq && found.is_strict();
        if compared(equality, &known).filter(is_key).is_none() {
            return Ok(None);
        }
        let sides = self.sides(left, right)?;
        let on = self.on(left, right, Some(equality))?;
        // Values of types that are not compared as keys make marks.
        let is_key = matches!(on.keys.as_slice(), [(.., true)]);
        let (part, others) = match is_key {
            true => {
                self.spend(input);
                let sides = sides.map(|side| self.narrowed_for(side, &on));
                let part = self.pairs(Kind::ProbeNotIn, false, sides, on, false)?;
                let no = Expr::Literal(Scalar::boolean(false));
                self.lowering.found(*mark, no, DataType::Boolean);
                (part, others)
            }
            false => {
                let part = self.marked(input, &marked, sides, Some(equality))?;
                (part, terms(Some(condition)))
            }
        };
        let others = others.into_iter();
        let others = others.map(|term| self.lowering.condition(term));
        let others = balanced(others.collect::<Result<Vec<Expr>>>()?, Operator::And);
        let condition: Option<Expression> = match others {
            Some(others) => Some(Scope::over(&part.found).expr(&others)?),
            None => None,
        };
        self.spend(plan);
        let Part { rows, found } = part;
        let rows = match condition {
            Some(condition) => crate::engine::filtered(rows, condition),
            None => rows,
        };
        Ok(Some(Part { rows, found }))
    }
}

/// The sides of an equality and their type as a key of the bulk engine; values of types that it
/// does not compare as others of the same equality.
fn key_of(
    (from, a): (&Scope<'_>, Expr),
    (to, b): (&Scope<'_>, Expr),
) -> Result<(Expression, Expression, DataType)> {
    if let Some(kind) = key_kind(from, &a, to, &b) {
        return Ok((from.expr(&a)?, to.expr(&b)?, kind));
    }
    let (left, right) = (from.typed(&a)?, to.typed(&b)?);
    let lost = || Error::internal(format!("a key of {left} and {right}"));
    let a = canonical::comparable(Typed::new(a, left.clone())).ok_or_else(lost)?;
    let b = canonical::comparable(Typed::new(b, right.clone())).ok_or_else(lost)?;
    match a.kind == b.kind {
        true => Ok((from.expr(&a.expr)?, to.expr(&b.expr)?, a.kind)),
        false => Err(lost()),
    }
}

/// Whether a term says that a mark is FALSE.
fn is_not(term: &Bound, mark: ColumnId) -> bool {
    matches!(&term.kind, ExprKind::Not(inner) if renamed(inner) == Some(mark))
}
