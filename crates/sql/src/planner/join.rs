//! Joins of DataFusion's plans as the bulk engine's.

use datafusion::common::{DFSchema, JoinType, NullEquality};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, Join as LogicalJoin, LogicalPlan};
use freestone_exec::expression::Expression;
use freestone_exec::{JoinKind, Node, Plan};

use super::converter::{Converter, types_of};
use crate::engine::{
    Cluster, Columns, Converted, PAIRS, RELATIONS, Scope, joined, key_kind, ordered, places,
};

impl Converter {
    pub(super) fn join(&self, join: &LogicalJoin, plan: &LogicalPlan) -> Option<Converted> {
        if is_free(join) {
            let mut cluster = Cluster::default();
            let columns = self.gather(plan, &mut cluster)?;
            if cluster.relations.len() > RELATIONS {
                return None;
            }
            return ordered(cluster, &columns, types_of(plan));
        }
        self.bound(join, plan)
    }

    /// Adds what a plan joins to a cluster; returns the numbers of its columns.
    pub(super) fn gather(&self, plan: &LogicalPlan, cluster: &mut Cluster) -> Option<Vec<usize>> {
        match plan {
            LogicalPlan::Join(join) if is_free(join) => {
                let left = self.gather(&join.left, cluster)?;
                let right = self.gather(&join.right, cluster)?;
                let scope = |schema, places| Scope {
                    columns: Columns::Schema(schema, places),
                    requests: &self.requests,
                };
                for (a, b) in &join.on {
                    let (from, to) = (
                        scope(join.left.schema(), &left),
                        scope(join.right.schema(), &right),
                    );
                    let kind = key_kind(&from, a, &to, b)?;
                    let sides = [from.expr(a)?, to.expr(b)?];
                    let null_equal = join.null_equality == NullEquality::NullEqualsNull;
                    cluster.equality(sides, kind, null_equal);
                }
                let both = [left.as_slice(), right.as_slice()].concat();
                if let Some(filter) = &join.filter {
                    let schema = join.left.schema().join(join.right.schema()).ok()?;
                    let scope = scope(&schema, &both);
                    for term in split_conjunction(filter) {
                        cluster.condition(scope.expr(term)?);
                    }
                }
                Some(both)
            }
            LogicalPlan::SubqueryAlias(alias) => self.gather(&alias.input, cluster),
            LogicalPlan::Projection(projection)
                if is_choice(&projection.expr) && joins(&projection.input) =>
            {
                let below = self.gather(&projection.input, cluster)?;
                let scope = Scope {
                    columns: Columns::Schema(projection.input.schema(), &below),
                    requests: &self.requests,
                };
                let column = |expr: &Expr| match expr.clone().unalias() {
                    Expr::Column(column) => scope.column(&column),
                    _ => None,
                };
                projection.expr.iter().map(column).collect()
            }
            LogicalPlan::Filter(filter) if joins(&filter.input) => {
                let below = self.gather(&filter.input, cluster)?;
                let scope = Scope {
                    columns: Columns::Schema(filter.input.schema(), &below),
                    requests: &self.requests,
                };
                for term in split_conjunction(&filter.predicate) {
                    cluster.condition(scope.expr(term)?);
                }
                Some(below)
            }
            other => {
                let converted = self.convert(other)?;
                Some(cluster.relation(converted).collect())
            }
        }
    }

    /// A join whose sides keep their roles.
    fn bound(&self, join: &LogicalJoin, plan: &LogicalPlan) -> Option<Converted> {
        // NOT IN with what NULLs mean there.
        if join.null_aware
            && (join.join_type, join.on.len(), &join.filter) != (JoinType::LeftAnti, 1, &None)
        {
            return None;
        }
        let (left, right) = (self.convert(&join.left)?, self.convert(&join.right)?);
        // Rows of the left side stay; which side is kept in a table is for their number to say.
        let smaller = left.plan.estimate < right.plan.estimate;
        let (kind, build_left) = match join.join_type {
            JoinType::Left if smaller => (JoinKind::BuildOuter, true),
            JoinType::Left => (JoinKind::ProbeOuter, false),
            JoinType::Right if smaller => (JoinKind::ProbeOuter, true),
            JoinType::Right => (JoinKind::BuildOuter, false),
            JoinType::Full => (JoinKind::Full, smaller),
            JoinType::LeftSemi if smaller => (JoinKind::BuildSemi, true),
            JoinType::LeftSemi => (JoinKind::ProbeSemi, false),
            JoinType::LeftAnti if join.null_aware => (JoinKind::ProbeNotIn, false),
            JoinType::LeftAnti if smaller => (JoinKind::BuildAnti, true),
            JoinType::LeftAnti => (JoinKind::ProbeAnti, false),
            JoinType::LeftMark => (JoinKind::ProbeMark, false),
            JoinType::RightSemi if !smaller => (JoinKind::BuildSemi, false),
            JoinType::RightSemi => (JoinKind::ProbeSemi, true),
            JoinType::RightAnti if !smaller => (JoinKind::BuildAnti, false),
            JoinType::RightAnti => (JoinKind::ProbeAnti, true),
            JoinType::RightMark => (JoinKind::ProbeMark, true),
            JoinType::Inner => (JoinKind::Inner, smaller),
        };
        let widths = [left.plan.types.len(), right.plan.types.len()];
        let (own, other) = (places(widths[0]), places(widths[1]));
        let scope = |schema, places| Scope {
            columns: Columns::Schema(schema, places),
            requests: &self.requests,
        };
        let (from, to) = (
            scope(join.left.schema(), &own),
            scope(join.right.schema(), &other),
        );
        let keys = join.on.iter().map(|(a, b)| {
            let kind = key_kind(&from, a, &to, b)?;
            let (a, b) = (from.expr(a)?, to.expr(b)?);
            Some(if build_left {
                (a, b, kind)
            } else {
                (b, a, kind)
            })
        });
        let keys = keys.collect::<Option<Vec<_>>>()?;
        if keys.is_empty() && left.plan.estimate * right.plan.estimate > PAIRS {
            return None;
        }
        // Columns of the probe side come first.
        let first = if build_left { widths[1] } else { widths[0] };
        let both: Vec<usize> = match build_left {
            true => (first..first + widths[0]).chain(0..first).collect(),
            false => places(widths[0] + widths[1]),
        };
        let filter = match &join.filter {
            Some(filter) => {
                let schema: DFSchema = join.left.schema().join(join.right.schema()).ok()?;
                Some(scope(&schema, &both).expr(filter)?)
            }
            None => None,
        };
        let rows = match join.join_type {
            JoinType::LeftMark | JoinType::RightMark => left.plan.estimate.max(right.plan.estimate),
            JoinType::LeftSemi | JoinType::LeftAnti => left.plan.estimate * 0.5,
            JoinType::RightSemi | JoinType::RightAnti => right.plan.estimate * 0.5,
            _ => left.plan.estimate.max(right.plan.estimate),
        };
        let (build, probe) = if build_left {
            (left, right)
        } else {
            (right, left)
        };
        let mut distinct: Vec<f64> = Vec::new();
        if !matches!(kind, JoinKind::BuildSemi | JoinKind::BuildAnti) {
            distinct.extend(&probe.distinct);
        }
        if kind.gives_pairs() || matches!(kind, JoinKind::BuildSemi | JoinKind::BuildAnti) {
            distinct.extend(&build.distinct);
        }
        let joined = joined(
            kind,
            build.plan,
            probe.plan,
            keys,
            rows,
            |join| {
                join.filter = filter;
            },
            join.null_equality == NullEquality::NullEqualsNull,
        );
        let types = types_of(plan);
        distinct.resize(types.len(), rows);
        if !(kind.gives_pairs() && build_left) {
            return Some(Converted {
                sampled: None,
                plan: Plan { types, ..joined },
                distinct,
            });
        }
        let expressions = both
            .iter()
            .map(|place| Expression::Column(*place))
            .collect();
        Some(Converted {
            sampled: None,
            plan: Plan::new(Node::Project(Box::new(joined), expressions), types, rows),
            distinct: both.iter().map(|place| distinct[*place]).collect(),
        })
    }
}

/// Whether the sides of a join may be exchanged with those of others around it.
fn is_free(join: &LogicalJoin) -> bool {
    join.join_type == JoinType::Inner
}

/// Whether a plan is a free join, with nothing above but a choice of columns.
pub(super) fn joins(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Join(join) => is_free(join),
        LogicalPlan::SubqueryAlias(alias) => joins(&alias.input),
        LogicalPlan::Projection(projection) => {
            is_choice(&projection.expr) && joins(&projection.input)
        }
        LogicalPlan::Filter(filter) => joins(&filter.input),
        _ => false,
    }
}

fn is_choice(exprs: &[Expr]) -> bool {
    let is_column = |expr: &Expr| match expr {
        Expr::Column(_) => true,
        Expr::Alias(alias) => matches!(*alias.expr, Expr::Column(_)),
        _ => false,
    };
    exprs.iter().all(is_column)
}
