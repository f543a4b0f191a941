//! The state that every session starts with: options and memory.

use std::sync::Arc;

use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;

use crate::memory::Broker;
use crate::names::{CATALOG, DEFAULT_SCHEMA};
use crate::options::OwnOptions;

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
    options.execution.time_zone = Some("UTC".to_owned());
    SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(Arc::new(runtime))
        .build()
}
