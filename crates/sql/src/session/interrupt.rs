//! Requests to end the statement that a session runs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::Session;
use crate::error::Result;

impl Session {
    /// Begins a statement that may take so long. Requests to end one before it are forgotten.
    pub fn begin_statement(&self, limit: Option<Duration>) {
        freestone_exec::statement_begins();
        self.requests.begin(limit);
    }

    /// Whether the statement is to go on; any thread may ask.
    ///
    /// # Errors
    /// `57014`.
    pub(crate) fn goes_on(&self) -> Result<()> {
        self.requests.goes_on()
    }

    /// A flag that ends the planning of a statement when it is raised.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.requests.flag()
    }
}
