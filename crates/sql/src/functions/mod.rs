//! Functions and rules that bring DataFusion's arithmetic to PostgreSQL's.
//!
//! DataFusion lets integers wrap around, gives infinity for division of floats by
//! zero and cuts fractions in casts to integers. An analyzer rule (`rule`), run
//! after types are known, replaces exactly those operations by functions that
//! check or round (`arithmetic`, `convert`, `sum`); decimals, which DataFusion
//! checks itself, are left alone. Another (`operands`), run before, brings operands
//! of different types together. `info` has a few functions that clients call,
//! `sequences` those of sequences, `settings` those of settings.

mod arithmetic;
mod convert;
mod digest;
mod info;
mod json;
mod operands;
pub(crate) mod roles;
mod rule;
pub(crate) mod sequences;
pub(crate) mod settings;
mod single;
mod sum;

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DfResult;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::Analyzer;

use crate::error::Result;

pub(crate) use arithmetic::{checked_negation, checked_operator};
pub(crate) use convert::{hex, uuid_text};
pub(crate) use single::{several, single_value, value_of_single};
pub(crate) use sum::checked_sum;

/// Adds our functions and rules to a session being built.
pub(crate) fn install(builder: &mut SessionStateBuilder) {
    let mut rules = Analyzer::new().rules;
    rules.insert(0, Arc::new(operands::Operands));
    rules.push(Arc::new(rule::PostgresSemantics));
    *builder.analyzer() = Some(Analyzer::with_rules(rules));
    let scalars = builder.scalar_functions().get_or_insert_with(Vec::new);
    scalars.extend(info::functions());
    scalars.push(settings::SizePretty::function());
    scalars.push(json::BuildObject::function());
    scalars.push(digest::Md5::function());
    let aggregates = builder.aggregate_functions().get_or_insert_with(Vec::new);
    aggregates.push(sum::checked_sum());
    let planners = builder.expr_planners().get_or_insert_with(Vec::new);
    planners.insert(0, Arc::new(convert::Literals) as Arc<dyn ExprPlanner>);
}

/// Whether something in the expressions of a node is wanted.
///
/// # Errors
/// Those of the walk.
pub(crate) fn any_expression(plan: &LogicalPlan, wanted: impl Fn(&Expr) -> bool) -> DfResult<bool> {
    let mut found = false;
    plan.apply_expressions(|expr| {
        found |= expr.exists(|expr| Ok(wanted(expr)))?;
        Ok(match found {
            true => TreeNodeRecursion::Stop,
            false => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(found)
}

/// The expression with operands brought together; to be called before its types are
/// coerced.
///
/// # Errors
/// Those of finding the types of its parts.
pub(crate) fn prepared(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    Ok(operands::rewrite(expr, schema)?.data)
}

/// The expression with its unchecked operations replaced; its types are coerced.
///
/// # Errors
/// Those of finding the types of its parts.
pub(crate) fn checked(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    Ok(rule::rewrite(expr, schema)?.data)
}
