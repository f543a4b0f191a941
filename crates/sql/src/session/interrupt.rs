//! What ends a statement while it is planned.
//!
//! Work that waits is dropped when a client asks for it, or when its time is up. Planning does
//! not wait: it asks every few steps whether it is to go on. A long text is planned beside the
//! runtime's threads, so that nobody else waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use freestone_frontend::interrupt::{self, Interrupt};
use parking_lot::Mutex;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::Session;

/// Bytes of a text that takes no while to plan.
const SHORT: usize = 4 << 10;

/// Requests to end the statement that a session runs.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    canceled: Arc<AtomicBool>,
    deadline: Mutex<Option<Instant>>,
    /// Whether the statement's text is long.
    long: AtomicBool,
}

impl Requests {
    /// Plans something, unless somebody wants it to end.
    pub(crate) fn planning<T>(&self, plan: impl FnOnce() -> T) -> T {
        let interrupt = Interrupt {
            flag: Some(Arc::clone(&self.canceled)),
            deadline: *self.deadline.lock(),
        };
        let work = || interrupt::during(&interrupt, plan);
        let threads = Handle::try_current().map(|handle| handle.runtime_flavor());
        match threads {
            Ok(RuntimeFlavor::MultiThread) if self.long.load(Ordering::Relaxed) => {
                tokio::task::block_in_place(work)
            }
            _ => work(),
        }
    }

    /// Says how long the next statement's text is.
    pub(crate) fn set_long(&self, text: &str) {
        self.long.store(text.len() > SHORT, Ordering::Relaxed);
    }
}

impl Session {
    /// Begins a statement that may take so long. Requests to end one before it are forgotten.
    pub fn begin_statement(&self, limit: Option<Duration>) {
        self.requests.canceled.store(false, Ordering::Relaxed);
        // A limit beyond all time is none.
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        *self.requests.deadline.lock() = deadline;
    }

    /// A flag that ends the planning of a statement when it is raised.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.requests.canceled)
    }
}
