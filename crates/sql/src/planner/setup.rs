//! The state of DataFusion that every session starts with: options, functions, rules.

use std::sync::Arc;

use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::prelude::SessionConfig;

use super::{HideConstants, Planner};
use crate::engine::Yield;
use crate::memory::Broker;
use crate::names::{CATALOG, DEFAULT_SCHEMA};
use crate::options::OwnOptions;
use crate::scan::{TopOfScan, twins};

/// Rows per batch between operators.
const BATCH_ROWS: usize = 8192;

/// A state whose queries take their memory of a broker of their own.
pub(crate) fn limited(state: &SessionState, memory: Arc<Broker>) -> SessionState {
    let mut runtime = RuntimeEnv::clone(state.runtime_env());
    runtime.memory_pool = Arc::clone(&memory) as _;
    let mut state = SessionStateBuilder::new_from_existing(state.clone())
        .with_runtime_env(Arc::new(runtime))
        .build();
    state.config_mut().set_extension(memory);
    state
}

/// The state that sessions are copied from.
pub(crate) fn template(memory: Option<Arc<Broker>>) -> SessionState {
    let mut runtime = RuntimeEnv::default();
    let mut config = SessionConfig::new()
        .with_create_default_catalog_and_schema(false)
        .with_default_catalog_and_schema(CATALOG, DEFAULT_SCHEMA)
        .with_information_schema(false)
        .with_batch_size(BATCH_ROWS)
        .with_collect_statistics(true);
    if let Some(memory) = memory {
        runtime.memory_pool = Arc::clone(&memory) as _;
        config = config.with_extension(memory);
    }
    let options = config.options_mut();
    options.extensions.insert(OwnOptions::default());
    options.sql_parser.parse_float_as_decimal = true;
    options.sql_parser.default_null_ordering = "nulls_max".to_owned();
    options.sql_parser.collect_spans = true;
    options.execution.time_zone = Some("UTC".to_owned());
    // Rows that come in an order from one stream would be scattered over several.
    options.optimizer.enable_round_robin_repartition = false;
    // Constants have no NULLs in the logical plan and may have some in the physical one.
    options.execution.skip_physical_aggregate_schema_check = true;
    // Rules that make work for others are followed by them, see `lower::optimize`.
    options.optimizer.max_passes = 1;
    // With it, an aggregate of keys alone over sorted rows fails: it wants an order for its limit.
    options.optimizer.enable_distinct_aggregation_soft_limit = false;
    let mut builder = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(Arc::new(runtime))
        .with_query_planner(Arc::new(Planner))
        .with_physical_optimizer_rule(Arc::new(TopOfScan));
    let physical = builder.physical_optimizers();
    let physical = physical.get_or_insert_with(PhysicalOptimizer::new);
    physical.rules.insert(0, Arc::new(HideConstants));
    physical.rules.push(Arc::new(Yield));
    twins::guard(physical);
    builder.build()
}
