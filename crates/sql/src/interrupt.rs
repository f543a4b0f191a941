//! The end of a statement while it is planned.
//!
//! Work that waits is dropped when a client asks for it, or when its time is up. Planning does
//! not wait: it asks every few steps whether it is to go on. Plans, tables and indexes are made
//! beside the runtime's threads, so that nobody else waits for them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use freestone_frontend::interrupt::{self, Aside, Interrupt};
use freestone_frontend::stack;
use parking_lot::Mutex;
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::error::Result;

/// Bytes of a text that takes no while to read.
const SHORT: usize = 4 << 10;

/// Requests to end the statement that a session runs.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    canceled: Arc<AtomicBool>,
    deadline: Mutex<Option<Instant>>,
    /// Whether the statement is likely to keep a thread.
    apart: AtomicBool,
}

impl Requests {
    /// Plans something, unless somebody wants it to end, beside the runtime's threads.
    pub(crate) fn planning<T>(&self, plan: impl FnOnce() -> T) -> T {
        apart(|| self.watched(plan))
    }

    /// Parses a text, unless somebody wants the statement to end; a long one beside the threads of
    /// the runtime.
    pub(crate) fn parsing<T>(&self, text: &str, parse: impl FnOnce() -> T) -> T {
        match text.len() > SHORT {
            true => self.planning(parse),
            false => self.watched(parse),
        }
    }

    /// Does something that looks now and then whether it is to end.
    pub(crate) fn watched<T>(&self, work: impl FnOnce() -> T) -> T {
        let interrupt = Interrupt {
            flag: Some(Arc::clone(&self.canceled)),
            deadline: *self.deadline.lock(),
            aside: aside(),
        };
        interrupt::during(&interrupt, work)
    }

    /// Waits for something that looks now and then whether it is to end, of a statement that
    /// may be deep.
    pub(crate) async fn waited<T: Send>(
        &self,
        deep: bool,
        mut work: Pin<Box<impl Future<Output = T> + Send>>,
    ) -> T {
        std::future::poll_fn(|context| {
            let work = work.as_mut();
            let poll = || self.watched(|| polled(deep, work, context));
            match self.apart.load(Ordering::Relaxed) {
                true => apart(poll),
                false => poll(),
            }
        })
        .await
    }

    /// Begins a statement that may take so long. Requests to end one before it are forgotten.
    pub(crate) fn begin(&self, limit: Option<Duration>) {
        self.canceled.store(false, Ordering::Relaxed);
        // A limit beyond all time is none.
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        *self.deadline.lock() = deadline;
    }

    /// Whether the statement is to go on; any thread may ask.
    ///
    /// # Errors
    /// `57014`.
    pub(crate) fn goes_on(&self) -> Result<()> {
        Ok(self.watched(interrupt::now)?)
    }

    /// A flag that ends the statement when it is raised.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.canceled)
    }

    /// Says whether the next statement is one that works for long without waiting.
    pub(crate) fn set_apart(&self, apart: bool) {
        self.apart.store(apart, Ordering::Relaxed);
    }
}

/// Waits for work on a statement that may be deep.
pub(crate) async fn with_room<T: Send>(
    deep: bool,
    mut work: Pin<Box<impl Future<Output = T> + Send>>,
) -> T {
    std::future::poll_fn(|context| polled(deep, work.as_mut(), context)).await
}

/// Bytes of a stack that statements are begun with.
const SMALL: usize = 128 << 10;

/// Polls work on a statement, on a great stack if it is deep or this stack is small.
fn polled<T>(
    deep: bool,
    work: Pin<&mut impl Future<Output = T>>,
    context: &mut Context<'_>,
) -> Poll<T> {
    match deep || stack::left() < SMALL {
        true => stack::on_great_stack(|| work.poll(context)),
        false => work.poll(context),
    }
}

/// Does work that takes long beside the runtime's threads.
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    match aside() {
        Some(_) => tokio::task::block_in_place(work),
        None => work(),
    }
}

/// The way to have other work of this thread done by another one; `None` if no runtime has
/// several threads.
fn aside() -> Option<Aside> {
    let runtime = Handle::try_current().ok()?;
    let several = runtime.runtime_flavor() == RuntimeFlavor::MultiThread;
    several.then_some(|work| tokio::task::block_in_place(work))
}
