//! Which of DataFusion's rules run over plans of the front.
//!
//! Types are complete, so that none of the analyzer's rules run. The front's own rewritings have
//! made joins of sub-queries, given joins their keys and put conditions where they belong; what is
//! left to DataFusion's rules are conditions that go into scans and into common table expressions
//! that stand in several places, columns that nothing reads, and repeated expressions.
//!
//! `push_down_filter` moves a condition that reads no column below an aggregate without keys,
//! which has a row whatever there is below it, and one that calls a volatile function; such
//! conditions are kept away from it. `optimize_projections` drops keys of an aggregate that it
//! takes for determined by others: where an aggregate stands under a join, each of its rows comes
//! as often as it finds partners, and the rule takes it for one row still. It is told of no
//! columns that determine others. `common_sub_expression_eliminate` takes calls of the same values
//! for the same if their functions are called alike. Plans in which others are called so do without.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, FunctionalDependencies};
use datafusion::error::Result as DfResult;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, ExpressionPlacement, LogicalPlan, ScalarUDF};
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use crate::barrier;
use crate::scan::pruned;

/// Rules that have nothing to do, or would change what a plan means.
const LEFT_OUT: [&str; 11] = [
    // It keeps one side of a join whose other side nothing reads, if keys of groups determine each
    // other; it goes on to believe so when a projection has dropped some of them.
    "eliminate_join",
    // It drops keys of an order that it takes for determined by others: an aggregate over a join
    // counts each key of one side as one of all.
    "eliminate_duplicated_expr",
    // It joins inputs anew, and loses keys or treats their NULLs otherwise.
    "eliminate_cross_join",
    "extract_equijoin_predicate",
    "eliminate_outer_join",
    "rewrite_set_comparison",
    "unions_to_filter",
    "decorrelate_predicate_subquery",
    "scalar_subquery_to_join",
    "decorrelate_lateral_join",
    "filter_null_join_keys",
];

/// The plan, optimised.
///
/// # Errors
/// Those of the rules.
pub(crate) fn optimize(plan: LogicalPlan, state: &SessionState) -> DfResult<LogicalPlan> {
    // `None` for plans with nodes of which it is not known what concerns them.
    let parts = Parts::of(&plan)?;
    let guarded = |rule: &Arc<dyn OptimizerRule + Send + Sync>| {
        let name = rule.name();
        let several = parts.as_ref().is_none_or(|parts| parts.aggregates > 1);
        let concerns = parts.as_ref().is_none_or(|parts| parts.concern(name));
        let by = |asked: Asked| -> Option<Arc<Rule>> {
            let rule = Arc::clone(rule);
            Some(Arc::new(Guarded { rule, asked }))
        };
        match name {
            _ if LEFT_OUT.contains(&name) || !concerns => None,
            "push_down_filter" => by(filters),
            "common_sub_expression_eliminate" => by(repeated),
            "optimize_projections" if several => by(projections),
            _ => Some(Arc::clone(rule)),
        }
    };
    let rules = state.optimizers().iter().filter_map(guarded).collect();
    let plan = Optimizer::with_rules(rules).optimize(plan, state, |_, _| {})?;
    super::constants::called(pruned(plan)?)
}

/// The way in which a rule of DataFusion is asked.
type Asked = fn(&Rule, LogicalPlan, &dyn OptimizerConfig) -> DfResult<Transformed<LogicalPlan>>;

type Rule = dyn OptimizerRule + Send + Sync;

/// A rule of DataFusion that is kept from what it does wrong.
#[derive(Debug)]
struct Guarded {
    rule: Arc<Rule>,
    asked: Asked,
}

impl OptimizerRule for Guarded {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> DfResult<Transformed<LogicalPlan>> {
        (self.asked)(self.rule.as_ref(), plan, config)
    }
}

/// `push_down_filter`, but for conditions that have to stay where they are.
fn filters(
    rule: &Rule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> DfResult<Transformed<LogicalPlan>> {
    if let LogicalPlan::Filter(filter) = &plan
        && (ends_in_one_row(&filter.input) || filter.predicate.is_volatile())
    {
        return Ok(Transformed::no(plan));
    }
    rule.rewrite(plan, config)
}

/// `optimize_projections`, which is told of no columns that determine others.
fn projections(
    rule: &Rule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> DfResult<Transformed<LogicalPlan>> {
    rule.rewrite(independent(plan)?, config)
}

/// `common_sub_expression_eliminate`, for plans where a function's name says which one it is.
fn repeated(
    rule: &Rule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> DfResult<Transformed<LogicalPlan>> {
    match names_tell_functions_apart(&plan)? {
        true => rule.rewrite(plan, config),
        false => Ok(Transformed::no(plan)),
    }
}

/// Whether calls with the same arguments are of the same function if their names are the same.
fn names_tell_functions_apart(plan: &LogicalPlan) -> DfResult<bool> {
    let mut apart = true;
    plan.apply_with_subqueries(|node| {
        // The rule looks for repeated parts within a node.
        let mut known: HashMap<u64, Arc<ScalarUDF>> = HashMap::new();
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                if let Expr::ScalarFunction(call) = part {
                    let mut hasher = DefaultHasher::new();
                    (call.func.name(), &call.args).hash(&mut hasher);
                    let known = known.entry(hasher.finish());
                    apart &= *known.or_insert_with(|| Arc::clone(&call.func)) == call.func;
                }
                Ok(match apart {
                    true => TreeNodeRecursion::Continue,
                    false => TreeNodeRecursion::Stop,
                })
            })
        })
    })?;
    Ok(apart)
}

/// A plan that tells of no columns that determine others.
fn independent(plan: LogicalPlan) -> DfResult<LogicalPlan> {
    let without = |schema: &DFSchemaRef| -> DfResult<Option<DFSchemaRef>> {
        if schema.functional_dependencies().is_empty() {
            return Ok(None);
        }
        let none = FunctionalDependencies::empty();
        let schema = schema.as_ref().clone();
        Ok(Some(Arc::new(schema.with_functional_dependencies(none)?)))
    };
    let plan = plan.transform_up_with_subqueries(|mut node| {
        let schema = match &mut node {
            LogicalPlan::Aggregate(aggregate) => &mut aggregate.schema,
            LogicalPlan::Join(join) => &mut join.schema,
            LogicalPlan::Projection(projection) => &mut projection.schema,
            LogicalPlan::SubqueryAlias(alias) => &mut alias.schema,
            _ => return Ok(Transformed::no(node)),
        };
        match without(schema)? {
            Some(other) => {
                *schema = other;
                Ok(Transformed::yes(node))
            }
            None => Ok(Transformed::no(node)),
        }
    })?;
    Ok(plan.data)
}

/// Whether a plan is, under projections, an aggregate without keys, one with several sets of
/// them, or an operator of ours, which may be either.
fn ends_in_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => {
            // One of several sets may be the empty one.
            let sets = |key: &Expr| matches!(key, Expr::GroupingSet(_));
            aggregate.group_expr.is_empty() || aggregate.group_expr.iter().any(sets)
        }
        LogicalPlan::Projection(projection) => ends_in_one_row(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => ends_in_one_row(&alias.input),
        LogicalPlan::Filter(filter) => ends_in_one_row(&filter.input),
        LogicalPlan::Extension(_) => true,
        _ => false,
    }
}

/// What a plan has that some rules are for.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    aggregates: usize,
    distinct_aggregate: bool,
    limit: bool,
    /// Conditions apart from the keys of joins.
    condition: bool,
    /// Expressions that are more than columns and their names.
    computed: bool,
    /// Relations without rows.
    empty: bool,
    /// Functions that are best computed next to a scan.
    leaf_function: bool,
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
            LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) => {}
            LogicalPlan::TableScan(scan) => self.condition |= !scan.filters.is_empty(),
            LogicalPlan::EmptyRelation(_) => self.empty = true,
            LogicalPlan::Filter(_) => self.condition = true,
            LogicalPlan::Limit(_) => self.limit = true,
            LogicalPlan::Join(join) => {
                self.condition |= join.filter.is_some();
            }
            LogicalPlan::Sort(sort) => {
                self.limit |= sort.fetch.is_some();
            }
            LogicalPlan::Aggregate(_) => self.aggregates += 1,
            other => return barrier::under(other).is_some(),
        }
        true
    }

    fn see_expression(&mut self, expr: &Expr) {
        self.computed |= !matches!(expr, Expr::Column(_) | Expr::Alias(_));
        match expr {
            Expr::AggregateFunction(call) => self.distinct_aggregate |= call.params.distinct,
            Expr::ScalarFunction(_) => {
                self.leaf_function |= expr.placement() == ExpressionPlacement::MoveTowardsLeafNodes;
            }
            _ => {}
        }
    }

    /// Whether a rule can have something to do.
    pub(crate) fn concern(&self, rule: &str) -> bool {
        match rule {
            "optimize_unions" | "replace_distinct_aggregate" => false,
            "eliminate_limit" | "push_down_limit" => self.limit,
            "eliminate_filter" | "push_down_filter" => self.condition,
            "simplify_expressions" | "common_sub_expression_eliminate" => {
                self.condition || self.computed
            }
            "propagate_empty_relation" => self.condition || self.limit || self.empty,
            "single_distinct_aggregation_to_group_by" => self.distinct_aggregate,
            "eliminate_group_by_constant" => self.aggregates > 0,
            "extract_leaf_expressions" | "push_down_leaf_projections" => self.leaf_function,
            _ => true,
        }
    }
}
