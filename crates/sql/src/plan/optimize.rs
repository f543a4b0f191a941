//! Sends a plan through those of DataFusion's rules that can have something to do.
//!
//! DataFusion repeats all its rules until the plan stays as it is, and each walks the
//! whole plan. Here what a plan is made of decides: a rule for unions is left out of a
//! plan without them, and instead of a second and a third round a few rules come again
//! after those that make work for them. Plans with other nodes than those of usual
//! queries take DataFusion's way. Sub-queries that its rules refuse or leave become *apply*.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use datafusion::common::alias::AliasGenerator;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DfResult;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::registry::FunctionRegistry;
use datafusion::logical_expr::{Expr, ExpressionPlacement, JoinType, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::Optimizer;
use datafusion::optimizer::{Analyzer, OptimizerConfig, OptimizerRule};

use super::joins_apart::{APART, KEYS_AGAIN, is_apart};
use crate::apply::{self, Apply};
use crate::barrier::{self, THROUGH};
use datafusion::common::NullEquality;

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// The plan with its types made to fit, and optimised.
///
/// # Errors
/// Those of the rules.
pub(crate) fn optimized(plan: &LogicalPlan, state: &SessionState) -> DfResult<LogicalPlan> {
    let analyzer = state.analyzer();
    let optimized = match by_rules(plan, analyzer, state) {
        Ok(optimized) if apply::is_sound(plan, &optimized)? => optimized,
        Err(error) if !apply::has_correlated(plan)? => return Err(error),
        _ => {
            let mut rules = analyzer.rules.clone();
            rules.push(Arc::new(Apply));
            let analyzer = Analyzer {
                function_rewrites: analyzer.function_rewrites.clone(),
                rules,
            };
            by_rules(plan, &analyzer, state)?
        }
    };
    match apply::has_left(&optimized)? {
        true => apply::without_left(optimized),
        false => Ok(optimized),
    }
}

fn by_rules(
    plan: &LogicalPlan,
    analyzer: &Analyzer,
    state: &SessionState,
) -> DfResult<LogicalPlan> {
    let options = state.config_options();
    let plan = analyzer.execute_and_check(plan.clone(), options, |_, _| {})?;
    let Some(parts) = Parts::of(&plan)? else {
        return state.optimizer().optimize(plan, state, |_, _| {});
    };
    let all = state.optimizers();
    let once = all.iter().filter(|rule| parts.concern(rule.name()));
    let again = all.iter().filter(|rule| parts.concern_again(rule.name()));
    let rules: Vec<Rule> = once.chain(again).map(Arc::clone).collect();
    Optimizer::with_rules(rules).optimize(plan, &OnePass::of(state), |_, _| {})
}

/// What a plan has that some rules are for.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    aggregate: bool,
    distinct_aggregate: bool,
    join: bool,
    outer_join: bool,
    limit: bool,
    subquery: bool,
    /// `= ANY` and the like.
    set_comparison: bool,
    /// A disjunction, which may become several conditions.
    either: bool,
    /// Keys of joins that need care: see `joins_apart`.
    keys_apart: bool,
    /// Keys of a sort or a group that stand there twice.
    repeated_keys: bool,
    /// Functions that are best computed next to a scan.
    leaf_function: bool,
    /// Views whose readers may not read what is under them.
    barrier: bool,
}

impl Parts {
    /// What a plan has; `None` if it has nodes that are not known here.
    pub(crate) fn of(plan: &LogicalPlan) -> DfResult<Option<Parts>> {
        let mut parts = Parts::default();
        let mut known = true;
        plan.apply_with_subqueries(|node| {
            known &= parts.see(node);
            if !known {
                return Ok(TreeNodeRecursion::Stop);
            }
            node.apply_expressions(|expr| {
                expr.apply(|expr| {
                    parts.see_expression(expr);
                    Ok(TreeNodeRecursion::Continue)
                })
            })
        })?;
        Ok(known.then_some(parts))
    }

    /// Whether a node is known here.
    fn see(&mut self, node: &LogicalPlan) -> bool {
        match node {
            LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::TableScan(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::EmptyRelation(_) => {}
            LogicalPlan::Limit(_) => self.limit = true,
            LogicalPlan::Join(join) => {
                self.join = true;
                self.outer_join |= join.join_type != JoinType::Inner;
                let plain = |side: &Expr| matches!(side, Expr::Column(_));
                self.keys_apart |= join.null_equality == NullEquality::NullEqualsNull
                    || join
                        .on
                        .iter()
                        .any(|(left, right)| !plain(left) || !plain(right));
            }
            LogicalPlan::Sort(sort) => {
                self.limit |= sort.fetch.is_some();
                self.repeated_keys |= has_repeated(sort.expr.iter().map(|key| &key.expr));
            }
            LogicalPlan::Aggregate(aggregate) => {
                self.aggregate = true;
                self.repeated_keys |= has_repeated(aggregate.group_expr.iter());
            }
            other => match barrier::under(other) {
                Some(_) => self.barrier = true,
                None => return false,
            },
        }
        true
    }

    fn see_expression(&mut self, expr: &Expr) {
        match expr {
            Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_) => {
                self.subquery = true;
            }
            Expr::SetComparison(_) => self.set_comparison = true,
            Expr::AggregateFunction(call) => self.distinct_aggregate |= call.params.distinct,
            Expr::BinaryExpr(binary) => {
                self.either |= binary.op == Operator::Or;
                self.keys_apart |= is_apart(expr);
            }
            Expr::ScalarFunction(_) => {
                self.leaf_function |= expr.placement() == ExpressionPlacement::MoveTowardsLeafNodes;
            }
            _ => {}
        }
    }

    /// Whether a rule can have something to do.
    pub(crate) fn concern(&self, rule: &str) -> bool {
        // Sub-queries become joins and groups.
        let join = self.join || self.subquery || self.set_comparison;
        match rule {
            "rewrite_set_comparison" => self.set_comparison,
            "optimize_unions"
            | "unions_to_filter"
            | "replace_distinct_aggregate"
            | "decorrelate_lateral_join" => false,
            "decorrelate_predicate_subquery" | "scalar_subquery_to_join" => {
                self.subquery || self.set_comparison
            }
            "eliminate_join" | "extract_equijoin_predicate" | "eliminate_cross_join" => join,
            "eliminate_outer_join" => self.outer_join || self.subquery || self.set_comparison,
            APART | KEYS_AGAIN => join && self.keys_apart,
            "eliminate_duplicated_expr" => self.repeated_keys,
            "eliminate_limit" | "push_down_limit" => self.limit,
            "single_distinct_aggregation_to_group_by" => self.distinct_aggregate,
            "eliminate_group_by_constant" => self.aggregate,
            THROUGH => self.barrier,
            "extract_leaf_expressions" | "push_down_leaf_projections" => self.leaf_function,
            _ => true,
        }
    }

    /// Whether it has joins.
    pub(crate) fn has_joins(&self) -> bool {
        self.join
    }

    /// Whether some rules make work for others before them.
    pub(crate) fn makes_work(&self) -> bool {
        self.subquery || self.set_comparison || self.barrier || self.either && self.join
    }

    /// Whether a rule can have something to do after all rules.
    fn concern_again(&self, rule: &str) -> bool {
        let makes_work = self.makes_work();
        match rule {
            "push_down_limit" => self.limit,
            APART | KEYS_AGAIN => makes_work && self.keys_apart,
            "eliminate_join"
            | "extract_equijoin_predicate"
            | "eliminate_cross_join"
            | "push_down_filter"
            | "optimize_projections" => makes_work,
            _ => false,
        }
    }
}

fn has_repeated<'a>(keys: impl Iterator<Item = &'a Expr>) -> bool {
    let mut seen = HashSet::new();
    keys.into_iter().any(|key| !seen.insert(key))
}

/// The session's state, for an optimizer that does not repeat its rules.
pub(crate) struct OnePass<'a> {
    state: &'a SessionState,
    options: Arc<ConfigOptions>,
}

impl<'a> OnePass<'a> {
    pub(crate) fn of(state: &'a SessionState) -> Self {
        let mut options = state.config_options().as_ref().clone();
        options.optimizer.max_passes = 1;
        let options = Arc::new(options);
        Self { state, options }
    }
}

impl OptimizerConfig for OnePass<'_> {
    fn query_execution_start_time(&self) -> Option<DateTime<Utc>> {
        self.state.query_execution_start_time()
    }

    fn alias_generator(&self) -> &Arc<AliasGenerator> {
        self.state.alias_generator()
    }

    fn options(&self) -> Arc<ConfigOptions> {
        Arc::clone(&self.options)
    }

    fn function_registry(&self) -> Option<&dyn FunctionRegistry> {
        OptimizerConfig::function_registry(self.state)
    }
}
