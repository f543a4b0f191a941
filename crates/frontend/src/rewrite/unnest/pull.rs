//! Conditions that read the left side of a dependent join are pulled out of its right side.
//!
//! ```text
//! r ⋉ (lateral) π 1 (σ s.x = r.x ∧ s.y > 0 (s))        r ⋉ (σ s.y > 0 (s)) on s.x = r.x
//! ```
//!
//! A condition passes projections, inner joins and the left side of outer ones. Where only the
//! existence of rows counts, it passes DISTINCT and LIMIT, too, and values that are computed of
//! the outer row are put in the place of their columns. No operator that may fail gets rows
//! that a pulled condition would have kept from it.

use std::collections::{HashMap, HashSet};

use super::super::facts::{expr_reads, made, may_fail, plan_may_fail, reads};
use super::{Unnesting, filter, join, only, or_else};
use crate::plan::{Column, ColumnId, Expr, JoinKind, Plan};

/// A join whose right side reads nothing of the left one any more.
pub(super) struct Pulled {
    kind: JoinKind,
    /// `None` if it is one row without columns.
    right: Option<Plan>,
    condition: Option<Expr>,
    /// Columns of the right side that are computed of pairs.
    computed: Option<Vec<(Column, Expr)>>,
    /// Columns of the right side as it was.
    columns: Vec<Column>,
}

impl Pulled {
    /// The join with its left side.
    pub(super) fn around(self, left: Plan) -> Plan {
        let mut columns = left.columns();
        let plan = match self.right {
            Some(right) => join(self.kind, left, right, self.condition),
            None => match self.condition {
                // Nothing is computed yet that the condition could read.
                Some(condition) => filter(left, condition),
                None => left,
            },
        };
        if let Some(computed) = self.computed {
            let items = columns
                .iter()
                .map(|column| (column.clone(), column.reference()));
            let items = items.chain(computed).collect();
            let input = Box::new(plan);
            return Plan::Project { input, items };
        }
        if self.kind.gives_right() {
            columns.extend(self.columns);
        }
        columns.extend(self.kind.mark());
        only(plan, &columns)
    }
}

/// Conditions on their way up.
struct Pull<'a> {
    kind: JoinKind,
    outer: &'a HashSet<ColumnId>,
    /// Whether projections may be left out, and their values computed later.
    late: bool,
    /// Whether the join has no condition of its own.
    any_row_counts: bool,
    conditions: Vec<Expr>,
    /// Projections that are left out, those below first.
    items: Vec<HashMap<ColumnId, Expr>>,
}

impl Unnesting {
    /// The dependent join as an ordinary one, if all that reads the left side can be pulled.
    pub(super) fn pulled(
        &mut self,
        kind: JoinKind,
        right: Plan,
        condition: Option<Expr>,
        outer: &HashSet<ColumnId>,
    ) -> Option<Pulled> {
        let columns = right.columns();
        let paired = matches!(kind, JoinKind::Inner | JoinKind::Left | JoinKind::Single);
        if paired && let Some(values) = values_of_one_row(&right) {
            let condition = match (kind, condition) {
                (_, None) => None,
                (JoinKind::Inner, Some(mut condition)) => {
                    condition.replace(&|id| values.get(&id).cloned());
                    Some(condition)
                }
                _ => return None,
            };
            let computed = columns.iter().map(|column| {
                let value = values.get(&column.id).cloned()?;
                Some((column.clone(), value))
            });
            return Some(Pulled {
                kind,
                right: None,
                condition,
                computed: Some(computed.collect::<Option<_>>()?),
                columns,
            });
        }
        let existential = matches!(kind, JoinKind::Semi | JoinKind::Anti | JoinKind::Mark(_));
        let mut pull = Pull {
            kind,
            outer,
            late: existential || kind == JoinKind::Inner,
            any_row_counts: existential && condition.is_none(),
            conditions: Vec::new(),
            items: Vec::new(),
        };
        let right = pull.plan(right)?;
        if reads(&right, outer) {
            return None;
        }
        let Pull {
            mut conditions,
            mut items,
            ..
        } = pull;
        items.reverse();
        let late = |mut expr: Expr| {
            for values in &items {
                expr.replace(&|id| values.get(&id).cloned());
            }
            expr
        };
        conditions = conditions.into_iter().map(late).collect();
        let condition = condition.map(late);
        // A row that a condition does not let through has no part in the mark.
        if matches!(kind, JoinKind::Mark(_)) {
            let certain = conditions.into_iter().map(|c| or_else(c, false));
            conditions = certain.collect();
        }
        conditions.extend(condition);
        let computed = (kind == JoinKind::Inner && !items.is_empty()).then(|| {
            let values = columns.iter().map(|column| late(column.reference()));
            columns.iter().cloned().zip(values).collect()
        });
        let condition = (!conditions.is_empty()).then(|| Expr::and(conditions));
        Some(Pulled {
            kind,
            right: Some(right),
            condition,
            computed,
            columns,
        })
    }
}

/// The values of the columns of a plan that is a projection of one row without columns.
fn values_of_one_row(plan: &Plan) -> Option<HashMap<ColumnId, Expr>> {
    match plan {
        Plan::Values { columns, rows } => match rows.as_slice() {
            [row] => {
                let ids = columns.iter().map(|column| column.id);
                Some(ids.zip(row.iter().cloned()).collect())
            }
            _ => None,
        },
        Plan::Project { input, items } => {
            let below = values_of_one_row(input)?;
            let values = items.iter().map(|(column, expr)| {
                let mut expr = expr.clone();
                expr.replace(&|id| below.get(&id).cloned());
                (column.id, expr)
            });
            Some(values.collect())
        }
        _ => None,
    }
}

impl Pull<'_> {
    fn plan(&mut self, plan: Plan) -> Option<Plan> {
        if !reads(&plan, self.outer) {
            return Some(plan);
        }
        let existential = !matches!(self.kind, JoinKind::Inner) && self.late;
        match plan {
            Plan::Filter { input, condition } => {
                let left_out = self.items.len();
                let input = self.plan(*input)?;
                let kept = self.condition(condition, self.items.len() > left_out)?;
                Some(match kept {
                    Some(condition) => filter(input, condition),
                    None => input,
                })
            }
            Plan::Project { input, mut items } => {
                let input = self.plan(*input)?;
                if self.late {
                    let items = items.into_iter();
                    let items = items.map(|(column, expr)| (column.id, expr));
                    self.items.push(items.collect());
                    return Some(input);
                }
                let fixed =
                    |(_, expr): &(Column, Expr)| !expr_reads(expr, self.outer) && !may_fail(expr);
                if !items.iter().all(fixed) {
                    return None;
                }
                // The columns that pulled conditions read come along.
                let mut read = HashSet::new();
                self.conditions.iter().for_each(|c| c.read(&mut read));
                for column in input.columns() {
                    let has = items.iter().any(|(other, _)| other.id == column.id);
                    if read.contains(&column.id) && !has {
                        let value = column.reference();
                        items.push((column, value));
                    }
                }
                let input = Box::new(input);
                Some(Plan::Project { input, items })
            }
            Plan::Sort { input, .. }
                if !matches!(self.kind, JoinKind::AsOf | JoinKind::AsOfLeft) =>
            {
                self.plan(*input)
            }
            Plan::Distinct { input, on: None } if existential => self.plan(*input),
            Plan::Limit {
                input,
                limit,
                offset: None,
                percent: false,
                ..
            } if existential && self.any_row_counts => {
                let some = limit.is_none_or(|l| l.literal_integer().is_some_and(|l| l > 0));
                if some { self.plan(*input) } else { None }
            }
            Plan::Join {
                kind,
                left,
                right,
                condition,
                lateral,
            } => {
                let late = std::mem::replace(&mut self.late, false);
                let found = self.join(kind, *left, *right, condition, lateral);
                self.late = late;
                found
            }
            _ => None,
        }
    }

    /// Takes the parts of a condition that read the outer row; the others are left, or all are
    /// taken if those could fail without them.
    fn condition(&mut self, condition: Expr, all: bool) -> Option<Option<Expr>> {
        let conjuncts = condition.conjuncts();
        if conjuncts
            .iter()
            .any(|c| c.has_subquery() || c.is_volatile())
        {
            return None;
        }
        let outer = |condition: &Expr| expr_reads(condition, self.outer);
        let pulls = !self.conditions.is_empty() || conjuncts.iter().any(outer);
        let guarded = |condition: &Expr| !outer(condition) && may_fail(condition);
        if all || pulls && conjuncts.iter().any(guarded) {
            self.conditions.extend(conjuncts);
            return Some(None);
        }
        let (taken, left): (Vec<_>, Vec<_>) = conjuncts.into_iter().partition(outer);
        self.conditions.extend(taken);
        Some((!left.is_empty()).then(|| Expr::and(left)))
    }

    fn join(
        &mut self,
        kind: JoinKind,
        left: Plan,
        right: Plan,
        condition: Option<Expr>,
        lateral: bool,
    ) -> Option<Plan> {
        // It may be dependent only to be run for some rows of the left side.
        let lateral = lateral && reads(&right, &made(&left));
        if lateral && reads(&right, self.outer) {
            return None;
        }
        let before = self.conditions.len();
        let left = self.plan(left)?;
        let pulled = self.conditions.len() > before;
        let (right, condition) = match kind {
            JoinKind::Inner => {
                if pulled && plan_may_fail(&right) {
                    return None;
                }
                let right = self.plan(right)?;
                let condition = match condition {
                    Some(condition) => self.condition(condition, false)?,
                    None => None,
                };
                (right, condition)
            }
            JoinKind::Left | JoinKind::Semi | JoinKind::Anti | JoinKind::Mark(_) => {
                let reading = reads(&right, self.outer);
                let bad = |c: &Expr| expr_reads(c, self.outer) || may_fail(c);
                if reading || condition.iter().any(bad) || plan_may_fail(&right) {
                    return None;
                }
                (right, condition)
            }
            _ => return None,
        };
        Some(Plan::Join {
            kind,
            left: Box::new(left),
            right: Box::new(right),
            condition,
            lateral,
        })
    }
}
