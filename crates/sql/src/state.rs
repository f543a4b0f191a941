//! The state that statements of a session run with: options, memory, and parts of the session
//! that functions and catalogs ask for by their types.
//!
//! ```text
//! state.get::<Identity>()      who the session is
//! state.options().threads      how many threads a statement has
//! ```

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

use crate::memory::Broker;
use crate::options::Options;

type Part = Arc<dyn Any + Send + Sync>;

/// The state that statements of a session run with.
#[derive(Clone)]
pub(crate) struct SessionState {
    options: Options,
    memory: Arc<Broker>,
    /// When the statement began, in microseconds since 1970; unknown outside of statements.
    began: Option<i64>,
    /// Parts of the session, by their types.
    parts: HashMap<TypeId, Part>,
}

impl SessionState {
    /// A state without parts, whose queries take their memory of a broker.
    pub(crate) fn new(memory: Arc<Broker>) -> Self {
        Self {
            options: Options::default(),
            memory,
            began: None,
            parts: HashMap::new(),
        }
    }

    /// Settings that decide how statements run.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Settings, to be changed.
    pub(crate) fn options_mut(&mut self) -> &mut Options {
        &mut self.options
    }

    /// The memory of queries.
    pub(crate) fn memory(&self) -> &Arc<Broker> {
        &self.memory
    }

    /// Lets queries take their memory of a broker.
    pub(crate) fn set_memory(&mut self, memory: Arc<Broker>) {
        self.memory = memory;
    }

    /// When the statement began, in microseconds since 1970.
    pub(crate) fn began(&self) -> Option<i64> {
        self.began
    }

    /// Begins a statement: `now()` stands still in it.
    pub(crate) fn begin(&mut self) {
        self.began = Some(chrono::Utc::now().timestamp_micros());
    }

    /// The part of a type.
    pub(crate) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let part = self.parts.get(&TypeId::of::<T>())?;
        Arc::clone(part).downcast().ok()
    }

    /// Puts in a part, in the place of that of its type.
    pub(crate) fn put<T: Any + Send + Sync>(&mut self, part: Arc<T>) {
        self.parts.insert(TypeId::of::<T>(), part);
    }
}
