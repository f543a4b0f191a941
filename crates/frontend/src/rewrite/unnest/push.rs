//! The right side of a dependent join is computed at once for all values that it reads of the
//! left side.
//!
//! [`Unnesting::push`] turns a plan P that reads some outer columns into a plan P′ that reads
//! none and has a column for each of them: the rows of P′ with certain values there are those
//! of P for these values. At the leaves the values come from the *domain*, a table of all that
//! the left side has:
//!
//! ```text
//! sum(s.y) σ s.x < a (s)        a′, sum(s.y) by a′ (D ⋈ s on s.x < a′)
//! limit 1 (sort s.y (…))        σ rn ≤ 1 (row_number() over (partition by a′ order by s.y) …)
//! ```
//!
//! P′ may also have rows for values that are not in the domain; the join with the left side
//! does not find them. An aggregate without keys gives a row for every value of the domain,
//! with the value of no rows (0 for `count`) where there are none.

use std::collections::HashSet;

use super::super::facts::{expr_reads, is_exact, made, may_fail, plan_may_fail, reads};
use super::{Unnesting, equal, filter, join, not_distinct, only};
use crate::evaluate::fold::Fold;
use crate::functions::kernel::{Bool, Call, I64, f2};
use crate::functions::{Session, catalogue, resolve_operator, scalar};
use crate::plan::{
    AggregateCall, Bound, Column, ColumnId, CteId, Exclude, Expr, ExprKind, Frame, FrameUnits,
    JoinKind, Plan, SetItem, SortKey, WindowCall, WindowKind,
};
use crate::types::Type;

/// The values that a left side has in the columns that are read of it.
pub(super) struct Domain {
    /// These columns.
    pub(super) outer: Vec<Column>,
    ids: HashSet<ColumnId>,
    /// The table of the values, and its columns.
    pub(super) cte: CteId,
    pub(super) columns: Vec<Column>,
    /// Whether the table is read.
    pub(super) used: bool,
    /// Whether rows of values that are not in the domain do no harm.
    skippable: bool,
}

impl Domain {
    pub(super) fn new(
        outer: Vec<Column>,
        cte: CteId,
        right: &Plan,
        mut again: impl FnMut(&Column) -> Column,
    ) -> Self {
        Self {
            ids: outer.iter().map(|column| column.id).collect(),
            columns: outer.iter().map(&mut again).collect(),
            outer,
            cte,
            used: false,
            skippable: !plan_may_fail(right),
        }
    }

    fn place(&self, expr: &mut Expr, given: &[Given]) {
        expr.replace(&|id| self.placed(id, given));
    }

    fn placed(&self, id: ColumnId, given: &[Given]) -> Option<Expr> {
        let at = self.outer.iter().position(|column| column.id == id)?;
        Some(given[at].column.reference())
    }
}

/// A column that stands for an outer one.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) column: Column,
    /// Whether rows in which it is NULL mean nothing, as it comes from an equality.
    strict: bool,
}

impl Given {
    /// Whether it has an outer column's value.
    pub(super) fn is(&self, outer: &Column) -> Expr {
        match self.strict {
            true => equal(outer.reference(), self.column.reference()),
            false => not_distinct(outer.reference(), self.column.reference()),
        }
    }
}

/// Whether columns stand for the same outer values.
fn same(left: &[Given], right: &[Given]) -> Vec<Expr> {
    let pairs = left.iter().zip(right);
    let pairs = pairs.map(|(left, right)| match left.strict {
        true => equal(left.column.reference(), right.column.reference()),
        false => right.is(&left.column),
    });
    pairs.collect()
}

/// A plan without the rows that mean nothing.
pub(super) fn cleaned(plan: Plan, given: &mut [Given]) -> Plan {
    let strict = given.iter_mut().filter(|given| given.strict);
    let known: Vec<Expr> = strict
        .map(|given| {
            given.strict = false;
            given.column.reference().is_null().not()
        })
        .collect();
    match known.is_empty() {
        true => plan,
        false => filter(plan, Expr::and(known)),
    }
}

/// The columns of a plan and those that are given, each once.
fn with_given(mut columns: Vec<Column>, given: &[Given]) -> Vec<Column> {
    for given in given {
        if columns.iter().all(|column| column.id != given.column.id) {
            columns.push(given.column.clone());
        }
    }
    columns
}

impl Unnesting {
    /// The values of the domain.
    #[inline(never)]
    fn values_of(&mut self, domain: &mut Domain) -> (Plan, Vec<Given>) {
        domain.used = true;
        let columns = domain.columns.iter();
        let columns: Vec<_> = columns.map(|c| (self.again(c), c.id)).collect();
        let given = columns.iter().map(|(column, _)| Given {
            column: column.clone(),
            strict: false,
        });
        let given = given.collect();
        let plan = Plan::CteScan {
            id: domain.cte,
            name: format!("domain_{}", domain.cte.0),
            columns,
        };
        (plan, given)
    }

    /// The plan for all values of the domain, and the columns that stand for the outer ones;
    /// `None` if one of its operators cannot do that. `bare` aggregates need no row for values
    /// that have none.
    pub(super) fn push(
        &mut self,
        plan: Plan,
        domain: &mut Domain,
        bare: bool,
    ) -> Option<(Plan, Vec<Given>)> {
        if !reads(&plan, &domain.ids) {
            let (values, given) = self.values_of(domain);
            return Some((join(JoinKind::Inner, values, plan, None), given));
        }
        match plan {
            Plan::Values { columns, rows } => self.push_rows(columns, rows, domain),
            Plan::Functions { calls, ordinality } => {
                let (values, given) = self.values_of(domain);
                let mut plan = Plan::Functions { calls, ordinality };
                plan.replace(&|id| domain.placed(id, &given));
                let plan = match plan {
                    Plan::Functions {
                        calls,
                        ordinality: None,
                    } => Plan::ProjectSet {
                        input: Box::new(values),
                        items: with_values(calls.into_iter().map(SetItem::Rows), &given),
                    },
                    plan => super::lateral(JoinKind::Inner, values, plan, None),
                };
                Some((plan, given))
            }
            Plan::Filter { input, condition } => self.push_filter(*input, condition, domain),
            Plan::Project { input, mut items } => {
                let (input, given) = self.push(*input, domain, bare)?;
                for (_, expr) in &mut items {
                    domain.place(expr, &given);
                }
                for given in &given {
                    if items.iter().all(|(column, _)| column.id != given.column.id) {
                        items.push((given.column.clone(), given.column.reference()));
                    }
                }
                let input = Box::new(input);
                Some((Plan::Project { input, items }, given))
            }
            Plan::ProjectSet { input, items } => {
                let (input, given) = self.push(*input, domain, false)?;
                let mut plan = Plan::ProjectSet {
                    input: Box::new(Plan::one_row()),
                    items: with_values(items.into_iter(), &given),
                };
                for expr in plan.expressions_mut() {
                    domain.place(expr, &given);
                }
                for place in plan.inputs_mut() {
                    *place = input.clone();
                }
                Some((plan, given))
            }
            Plan::Join {
                kind,
                left,
                right,
                condition,
                lateral,
            } => self.push_join(kind, (*left, *right), condition, lateral, domain),
            Plan::Aggregate { .. } => self.push_aggregate(plan, domain, bare),
            Plan::Window { input, mut calls } => {
                let (input, given) = self.push(*input, domain, false)?;
                for (_, call) in &mut calls {
                    let constant = |bound: &Bound| match bound {
                        Bound::Preceding(expr) | Bound::Following(expr) => {
                            !expr_reads(expr, &domain.ids)
                        }
                        _ => true,
                    };
                    if !constant(&call.frame.start) || !constant(&call.frame.end) {
                        return None;
                    }
                    let extra = given.iter().map(|given| given.column.reference());
                    call.partition.extend(extra);
                }
                let mut plan = Plan::Window {
                    input: Box::new(Plan::one_row()),
                    calls,
                };
                for expr in plan.expressions_mut() {
                    domain.place(expr, &given);
                }
                for place in plan.inputs_mut() {
                    *place = input.clone();
                }
                Some((plan, given))
            }
            Plan::Sort { input, mut keys } => {
                let (input, given) = self.push(*input, domain, false)?;
                for key in &mut keys {
                    domain.place(&mut key.expr, &given);
                }
                let input = Box::new(input);
                Some((Plan::Sort { input, keys }, given))
            }
            Plan::Limit {
                input,
                limit,
                offset,
                ties,
                percent: false,
            } => self.push_limit(*input, limit, offset, ties, domain),
            Plan::Distinct { input, on } => {
                let columns = input.columns();
                let (input, given) = self.push(*input, domain, false)?;
                let on = on.map(|mut on| {
                    for expr in &mut on {
                        domain.place(expr, &given);
                    }
                    on.extend(given.iter().map(|given| given.column.reference()));
                    on
                });
                let input = Box::new(only(input, &with_given(columns, &given)));
                Some((Plan::Distinct { input, on }, given))
            }
            Plan::Set {
                kind,
                all,
                inputs,
                mut columns,
            } => {
                let mut sides = Vec::with_capacity(inputs.len());
                for input in inputs {
                    let own = input.columns();
                    let (input, mut given) = self.push(input, domain, false)?;
                    let input = cleaned(input, &mut given);
                    let own = own.into_iter().map(|column| {
                        let value = column.reference();
                        (column, value)
                    });
                    let mut items: Vec<_> = own.collect();
                    for given in &given {
                        items.push((self.again(&given.column), given.column.reference()));
                    }
                    let input = Box::new(input);
                    sides.push(Plan::Project { input, items });
                }
                let given: Vec<Given> = domain
                    .outer
                    .iter()
                    .map(|column| Given {
                        column: self.again(column),
                        strict: false,
                    })
                    .collect();
                columns.extend(given.iter().map(|given| given.column.clone()));
                let plan = Plan::Set {
                    kind,
                    all,
                    inputs: sides,
                    columns,
                };
                Some((plan, given))
            }
            Plan::With { ctes, body } => {
                let dependent = |plan: &Plan| reads(plan, &domain.ids);
                let around = Plan::With {
                    ctes,
                    body: Box::new(Plan::one_row()),
                };
                if around.inputs().into_iter().any(dependent) {
                    return None;
                }
                let (body, given) = self.push(*body, domain, false)?;
                let Plan::With { ctes, .. } = around else {
                    return None;
                };
                let body = Box::new(body);
                Some((Plan::With { ctes, body }, given))
            }
            Plan::Barrier { input } => {
                let (input, given) = self.push(*input, domain, false)?;
                let input = Box::new(input);
                Some((Plan::Barrier { input }, given))
            }
            Plan::Scan { .. }
            | Plan::CteScan { .. }
            | Plan::Recursion { .. }
            | Plan::Limit { .. } => None,
        }
    }

    /// VALUES that read the outer row: a projection of the domain for each row.
    #[inline(never)]
    fn push_rows(
        &mut self,
        columns: Vec<Column>,
        rows: Vec<Vec<Expr>>,
        domain: &mut Domain,
    ) -> Option<(Plan, Vec<Given>)> {
        let mut sides = Vec::with_capacity(rows.len());
        let mut last = Vec::new();
        for row in rows {
            let (values, given) = self.values_of(domain);
            let mut items = Vec::with_capacity(columns.len());
            for (column, mut expr) in columns.iter().zip(row) {
                domain.place(&mut expr, &given);
                items.push((self.again(column), expr));
            }
            let own = given.iter().map(|given| given.column.clone());
            items.extend(own.map(|column| {
                let value = column.reference();
                (column, value)
            }));
            let input = Box::new(values);
            sides.push(Plan::Project { input, items });
            last = given;
        }
        let given: Vec<Given> = last
            .iter()
            .map(|given| Given {
                column: self.again(&given.column),
                strict: false,
            })
            .collect();
        let all = columns.into_iter();
        let all: Vec<Column> = all.chain(given.iter().map(|g| g.column.clone())).collect();
        let plan = match sides.as_mut_slice() {
            // One side gets the columns' own numbers.
            [Plan::Project { items, .. }] => {
                for ((column, _), own) in items.iter_mut().zip(&all) {
                    *column = own.clone();
                }
                sides.swap_remove(0)
            }
            _ => Plan::Set {
                kind: crate::plan::SetKind::Union,
                all: true,
                inputs: sides,
                columns: all,
            },
        };
        Some((plan, given))
    }

    #[inline(never)]
    fn push_filter(
        &mut self,
        mut input: Plan,
        condition: Expr,
        domain: &mut Domain,
    ) -> Option<(Plan, Vec<Given>)> {
        let mut conjuncts = condition.conjuncts();
        // Filters on one another are one.
        while let Plan::Filter {
            input: below,
            condition,
        } = input
        {
            let mut all = condition.conjuncts();
            all.append(&mut conjuncts);
            (conjuncts, input) = (all, *below);
        }
        let inside = reads(&input, &domain.ids);
        let (plan, given) = if inside {
            self.push(input, domain, false)?
        } else if let Some((plan, given)) = self.by_equalities(&mut conjuncts, &input, domain) {
            (plan, given)
        } else {
            let (values, given) = self.values_of(domain);
            (join(JoinKind::Inner, values, input, None), given)
        };
        for condition in &mut conjuncts {
            domain.place(condition, &given);
        }
        if conjuncts.is_empty() {
            return Some((plan, given));
        }
        let condition = Expr::and(conjuncts);
        Some(match plan {
            Plan::Join {
                kind: JoinKind::Inner,
                left,
                right,
                condition: None,
                lateral: false,
            } if !inside => {
                let joined = join(JoinKind::Inner, *left, *right, Some(condition));
                (joined, given)
            }
            plan => (filter(plan, condition), given),
        })
    }

    /// The input, if equalities give a column for each outer one; these conditions are taken.
    fn by_equalities(
        &mut self,
        conjuncts: &mut Vec<Expr>,
        input: &Plan,
        domain: &Domain,
    ) -> Option<(Plan, Vec<Given>)> {
        if !domain.skippable {
            return None;
        }
        let own = made(input);
        let mut taken = Vec::new();
        let mut values = Vec::new();
        for outer in &domain.outer {
            let found = conjuncts.iter().enumerate().find_map(|(at, condition)| {
                let value = other_side(condition, outer)?;
                let reads = value.reads();
                let fits = value.ty == outer.ty
                    && reads.iter().all(|id| own.contains(id))
                    && !may_fail(value)
                    && !taken.contains(&at);
                fits.then(|| (at, value.clone()))
            });
            let (at, value) = found?;
            taken.push(at);
            values.push(value);
        }
        let mut items = Vec::new();
        let mut given = Vec::new();
        for (outer, value) in domain.outer.iter().zip(values) {
            let id = match value.kind {
                ExprKind::Column(id) => id,
                _ => {
                    let column = self.again(outer);
                    let id = column.id;
                    items.push((column, value));
                    id
                }
            };
            let column = Column {
                id,
                ..outer.clone()
            };
            given.push(Given {
                column,
                strict: true,
            });
        }
        let mut at = 0;
        conjuncts.retain(|_| {
            at += 1;
            !taken.contains(&(at - 1))
        });
        let mut plan = input.clone();
        if !items.is_empty() {
            let own = plan.columns().into_iter().map(|column| {
                let value = column.reference();
                (column, value)
            });
            plan = Plan::Project {
                items: own.chain(items).collect(),
                input: Box::new(plan),
            };
        }
        Some((plan, given))
    }

    #[inline(never)]
    fn push_join(
        &mut self,
        kind: JoinKind,
        (left, mut right): (Plan, Plan),
        mut condition: Option<Expr>,
        lateral: bool,
        domain: &mut Domain,
    ) -> Option<(Plan, Vec<Given>)> {
        let (in_left, in_right) = (reads(&left, &domain.ids), reads(&right, &domain.ids));
        if lateral {
            if matches!(kind, JoinKind::Right | JoinKind::Full) {
                return None;
            }
            let (left, given) = self.push(left, domain, false)?;
            right.replace(&|id| domain.placed(id, &given));
            if let Some(condition) = &mut condition {
                domain.place(condition, &given);
            }
            let plan = Plan::Join {
                kind,
                left: Box::new(left),
                right: Box::new(right),
                condition,
                lateral,
            };
            return Some((plan, given));
        }
        if kind == JoinKind::Inner && !in_left && !in_right {
            // Only its condition reads the outer row: it may as well be a filter.
            let conjuncts = condition.map(Expr::conjuncts).unwrap_or_default();
            let outer = |condition: &Expr| expr_reads(condition, &domain.ids);
            let all = conjuncts.iter().any(|c| !outer(c) && may_fail(c));
            let (above, below): (Vec<_>, Vec<_>) =
                conjuncts.into_iter().partition(|c| all || outer(c));
            let below = (!below.is_empty()).then(|| Expr::and(below));
            let pairs = join(kind, left, right, below);
            return self.push_filter(pairs, Expr::and(above), domain);
        }
        let keeps_left = !matches!(kind, JoinKind::Inner | JoinKind::Right);
        let keeps_right = matches!(kind, JoinKind::Right | JoinKind::Full);
        let (mut left, mut from_left) = match in_left || keeps_left {
            true => self.push(left, domain, false).map(|(l, g)| (l, Some(g)))?,
            false => (left, None),
        };
        let (mut right, mut from_right) = match in_right || keeps_right {
            true => self.push(right, domain, false).map(|(r, g)| (r, Some(g)))?,
            false => (right, None),
        };
        if kind == JoinKind::Full
            && let Some(given) = &mut from_left
        {
            left = cleaned(left, given);
        }
        if matches!(kind, JoinKind::Full | JoinKind::Mark(_))
            && let Some(given) = &mut from_right
        {
            right = cleaned(right, given);
        }
        let given = match keeps_right {
            true => from_right.clone().or_else(|| from_left.clone())?,
            false => from_left.clone().or_else(|| from_right.clone())?,
        };
        let mut conditions = Vec::new();
        if let (Some(left), Some(right)) = (&from_left, &from_right) {
            conditions = match kind {
                // Conditions of a mark must not be NULL for rows of other values.
                JoinKind::Mark(_) => {
                    let pairs = left.iter().zip(right);
                    let pairs = pairs.map(|(left, right)| right.is(&left.column));
                    pairs.collect()
                }
                _ => same(left, right),
            };
        }
        if let Some(mut condition) = condition {
            domain.place(&mut condition, &given);
            conditions.push(condition);
        }
        let condition = (!conditions.is_empty()).then(|| Expr::and(conditions));
        let columns = super::columns_of(kind, &left, &right);
        let plan = join(kind, left, right, condition);
        let (JoinKind::Full, Some(left), Some(right)) = (kind, from_left, from_right) else {
            return Some((plan, given));
        };
        // The values of both sides are one.
        let mut items: Vec<_> = columns
            .into_iter()
            .map(|column| {
                let value = column.reference();
                (column, value)
            })
            .collect();
        let mut given = Vec::new();
        for (left, right) in left.iter().zip(&right) {
            let column = self.again(&left.column);
            let values = vec![left.column.reference(), right.column.reference()];
            let value = Expr::new(ExprKind::Coalesce(values), column.ty.clone());
            items.push((column.clone(), value));
            given.push(Given {
                column,
                strict: false,
            });
        }
        let input = Box::new(plan);
        Some((Plan::Project { input, items }, given))
    }

    #[inline(never)]
    fn push_aggregate(
        &mut self,
        plan: Plan,
        domain: &mut Domain,
        bare: bool,
    ) -> Option<(Plan, Vec<Given>)> {
        let Plan::Aggregate {
            input,
            mut keys,
            mut sets,
            mut calls,
            mut grouping,
        } = plan
        else {
            return None;
        };
        if sets.iter().flatten().any(Vec::is_empty) {
            return None;
        }
        let scalar = keys.is_empty() && sets.is_none();
        let (input, given) = self.push(*input, domain, false)?;
        for (_, expr) in &mut keys {
            domain.place(expr, &given);
        }
        let mut results = Vec::new();
        for given in &given {
            for set in sets.iter_mut().flatten() {
                set.push(keys.len());
            }
            let column = self.again(&given.column);
            keys.push((column.clone(), given.column.reference()));
            results.push(Given { column, ..*given });
        }
        // Where there are no rows, results are those of no rows.
        let mut items = Vec::new();
        if scalar && !bare {
            for (column, call) in &mut calls {
                let empty = value_of_no_rows(call)?;
                let result = self.again(column);
                let result = std::mem::replace(column, result);
                let value = match empty.is_literal_null() {
                    true => column.reference(),
                    false => {
                        let values = vec![column.reference(), empty];
                        Expr::new(ExprKind::Coalesce(values), column.ty.clone())
                    }
                };
                items.push((result, value));
            }
            for (column, _) in std::mem::take(&mut grouping) {
                items.push((column, Expr::int4(0)));
            }
        }
        let mut plan = Plan::Aggregate {
            input: Box::new(Plan::one_row()),
            keys,
            sets,
            calls,
            grouping,
        };
        for expr in plan.expressions_mut() {
            domain.place(expr, &given);
        }
        for place in plan.inputs_mut() {
            *place = input.clone();
        }
        if !scalar || bare {
            return Some((plan, results));
        }
        let (values, given) = self.values_of(domain);
        let condition = Expr::and(same(&given, &results));
        let own = given.iter().map(|given| given.column.clone());
        items.extend(own.map(|column| {
            let value = column.reference();
            (column, value)
        }));
        let plan = Plan::Project {
            input: Box::new(join(JoinKind::Left, values, plan, Some(condition))),
            items,
        };
        Some((plan, given))
    }

    /// LIMIT for each value of the domain: rows are numbered.
    #[inline(never)]
    fn push_limit(
        &mut self,
        input: Plan,
        limit: Option<Expr>,
        offset: Option<Expr>,
        ties: Option<Vec<SortKey>>,
        domain: &mut Domain,
    ) -> Option<(Plan, Vec<Given>)> {
        // Projections keep the order and the number of rows.
        if let (Plan::Project { input, items }, None) = (&input, &ties) {
            let limited = Plan::Limit {
                input: input.clone(),
                limit,
                offset,
                ties,
                percent: false,
            };
            let plan = Plan::Project {
                input: Box::new(limited),
                items: items.clone(),
            };
            return self.push(plan, domain, false);
        }
        let count = |expr: &Option<Expr>| match expr {
            Some(expr) if expr.is_literal_null() => Some(None),
            Some(expr) => expr.literal_integer().filter(|n| *n >= 0).map(Some),
            None => Some(None),
        };
        let (limit, offset) = (count(&limit)?, count(&offset)?.unwrap_or(0));
        let (input, mut keys) = match (input, &ties) {
            (Plan::Sort { input, keys }, _) => (*input, keys),
            (input, Some(ties)) => (input, ties.clone()),
            (input, None) => (input, Vec::new()),
        };
        let columns = input.columns();
        let (input, given) = self.push(input, domain, false)?;
        for key in &mut keys {
            domain.place(&mut key.expr, &given);
        }
        let partition: Vec<Expr> = given.iter().map(|g| g.column.reference()).collect();
        let number = self.numbering("row_number", &partition, &keys)?;
        let mut calls = vec![number];
        let mut conditions = Vec::new();
        if offset > 0 {
            conditions.push(at_least(&calls[0].0, offset.checked_add(1)?));
        }
        if limit == Some(0) {
            // No row, and so none with the rank of the last.
            conditions.push(Expr::bool(false));
        } else if let Some(limit) = limit {
            if ties.is_some() {
                calls.push(self.numbering("rank", &partition, &keys)?);
            }
            let (column, _) = calls.last()?;
            conditions.push(at_most(column, offset.saturating_add(limit)));
        }
        let numbered = Plan::Window {
            input: Box::new(input),
            calls,
        };
        let chosen = filter(numbered, Expr::and(conditions));
        let mut plan = only(chosen, &with_given(columns, &given));
        if !keys.is_empty() {
            let input = Box::new(plan);
            plan = Plan::Sort { input, keys };
        }
        Some((plan, given))
    }

    /// The call of a function that numbers rows.
    pub(in crate::rewrite) fn numbering(
        &mut self,
        name: &str,
        partition: &[Expr],
        order: &[SortKey],
    ) -> Option<(Column, WindowCall)> {
        let function = catalogue().windows(name).first()?;
        let call = WindowCall {
            kind: WindowKind::Function(function.clone()),
            arguments: Vec::new(),
            ignore_nulls: false,
            distinct: false,
            filter: None,
            partition: partition.to_vec(),
            order: order.to_vec(),
            frame: Frame {
                units: FrameUnits::Range,
                start: Bound::Unbounded,
                end: Bound::Current,
                exclude: Exclude::NoOthers,
                start_value: None,
                end_value: None,
            },
            returns: Type::Int8,
        };
        Some((self.column(name, Type::Int8), call))
    }
}

/// Items of a projection and the given columns.
fn with_values(items: impl Iterator<Item = SetItem>, given: &[Given]) -> Vec<SetItem> {
    let mut items: Vec<SetItem> = items.collect();
    for given in given {
        let has = items.iter().any(|item| match item {
            SetItem::Value(column, _) => column.id == given.column.id,
            SetItem::Rows(_) => false,
        });
        if !has {
            items.push(SetItem::Value(
                given.column.clone(),
                given.column.reference(),
            ));
        }
    }
    items
}

pub(in crate::rewrite) fn at_most(column: &Column, most: i64) -> Expr {
    compared("<=", column, most, |a, b| a <= b)
}

fn at_least(column: &Column, least: i64) -> Expr {
    compared(">=", column, least, |a, b| a >= b)
}

/// A comparison of a BIGINT with a number.
fn compared(name: &'static str, column: &Column, with: i64, f: fn(i64, i64) -> bool) -> Expr {
    let types = [Type::Int8, Type::Int8];
    let function = match resolve_operator(name, &types) {
        Ok(found) if found.parameters == types => found.function,
        _ => {
            let kernel = f2::<I64, I64, Bool>(move |a, b| Ok(f(a, b)));
            std::sync::Arc::new(scalar(name, &types, Type::Bool, kernel))
        }
    };
    let number = std::sync::Arc::new(arrow_array::Int64Array::from(vec![with]));
    let number = Expr::new(ExprKind::Literal(number), Type::Int8);
    Expr::call(function, vec![column.reference(), number], Type::Bool)
}

/// The expression that a condition says an outer column is equal to, if equal values of its
/// type are the same in all respects.
fn other_side<'a>(condition: &'a Expr, outer: &Column) -> Option<&'a Expr> {
    let ExprKind::Call {
        function,
        arguments,
    } = &condition.kind
    else {
        return None;
    };
    let is_exact = is_exact(&outer.ty);
    let is_outer = |expr: &Expr| matches!(expr.kind, ExprKind::Column(id) if id == outer.id);
    match arguments.as_slice() {
        [left, right] if function.name == "=" && is_exact => {
            if is_outer(left) {
                Some(right)
            } else if is_outer(right) {
                Some(left)
            } else {
                None
            }
        }
        _ => None,
    }
}

/// The value of an aggregate of no rows, if it is known.
fn value_of_no_rows(call: &AggregateCall) -> Option<Expr> {
    let direct = call.direct.iter().map(|expr| expr.literal().cloned());
    let direct = direct.collect::<Option<Vec<_>>>()?;
    let types: Vec<Type> = call
        .direct
        .iter()
        .chain(&call.arguments)
        .map(|expr| expr.ty.clone())
        .collect();
    let session = Session::default();
    let context = Call {
        rows: 0,
        types: &types,
        returns: &call.returns,
        session: &session,
    };
    let mut state = (call.function.state)(&context, &direct).ok()?;
    let value = state.result(&context).ok()?;
    let fits = value.len() == 1 && value.data_type() == &call.returns.arrow();
    fits.then(|| Expr::new(ExprKind::Literal(value), call.returns.clone()))
}

/// Whether all columns of a plan are NULL in the row that an aggregate in it gives of no rows.
pub(super) fn is_null_without_rows(plan: &Plan) -> bool {
    values_without_rows(plan)
        .is_some_and(|values| values.iter().all(|(_, value)| value.is_literal_null()))
}

fn values_without_rows(plan: &Plan) -> Option<Vec<(ColumnId, Expr)>> {
    match plan {
        Plan::Aggregate {
            keys,
            sets: None,
            calls,
            grouping,
            ..
        } if keys.is_empty() && grouping.is_empty() => {
            let values = calls.iter();
            let values = values.map(|(column, call)| Some((column.id, value_of_no_rows(call)?)));
            values.collect()
        }
        Plan::Project { input, items } => {
            let below = values_without_rows(input)?;
            let session = Session::default();
            let fold = Fold {
                session: &session,
                stable: false,
                parameters: &[],
            };
            let values = items.iter().map(|(column, expr)| {
                let mut expr = expr.clone();
                expr.replace(&|id| {
                    let found = below.iter().find(|(other, _)| *other == id);
                    found.map(|(_, value)| value.clone())
                });
                fold.expr(&mut expr);
                (column.id, expr)
            });
            Some(values.collect())
        }
        _ => None,
    }
}
