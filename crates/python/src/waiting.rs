//! Waiting for the database without holding Python's lock: Ctrl-C, interrupts from other
//! threads, and progress are looked at while a statement runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use freestone::Error;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::failure::raised;

/// How often a running statement is looked at.
const TICK: Duration = Duration::from_millis(50);
/// Bytes of a thread's stack, as the shell has it.
const STACK: usize = 8 << 20;

/// Counts the times that somebody asked a connection's statement to stop.
#[derive(Default)]
pub struct Interrupts(AtomicU64);

impl Interrupts {
    /// Stops the statements that are running.
    pub fn ask(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The threads of all queries of this process.
///
/// # Errors
/// `08003` in a process that was forked from the one that made them.
pub fn runtime(py: Python<'_>) -> PyResult<&'static Runtime> {
    static RUNTIME: OnceLock<Result<(u32, Runtime), String>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        let runtime = Builder::new_multi_thread()
            .thread_stack_size(STACK)
            .thread_name("freestone")
            .enable_all()
            .build();
        runtime
            .map(|runtime| (std::process::id(), runtime))
            .map_err(|error| error.to_string())
    });
    let failed = |message: String| Err(raised(py, Error::new("58000", message)));
    match made {
        Ok((process, runtime)) if *process == std::process::id() => Ok(runtime),
        Ok(_) => Err(raised(
            py,
            Error::new(
                "08003",
                "a connection cannot be used after the process forked",
            )
            .with_hint("connect in the new process, or start processes with the method \"spawn\""),
        )),
        Err(why) => failed(format!("no threads for queries: {why}")),
    }
}

/// How long a statement that was stopped may take to end before its caller goes on.
const GRACE: Duration = Duration::from_secs(2);

/// Waits for `work`, which threads of our own do. At Ctrl-C, at an interrupt, or when
/// `observer` raises, it is dropped, which is how a statement is cancelled.
///
/// # Errors
/// What Python raised meanwhile; `57014` after an interrupt.
pub fn wait<T: Send + 'static>(
    py: Python<'_>,
    interrupts: &Interrupts,
    observer: Option<&Bound<'_, PyAny>>,
    progress: impl Fn() -> Option<f64>,
    work: impl Future<Output = T> + Send + 'static,
) -> PyResult<T> {
    let runtime = runtime(py)?;
    let asked = interrupts.count();
    let (sender, receiver) = mpsc::sync_channel(1);
    let task = runtime.spawn(async move {
        // Nobody waits any more after an interrupt.
        let _ = sender.send(work.await);
    });
    let receiver = Mutex::new(receiver);
    let receive = |limit: Duration| {
        let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
        blocking(|| receiver.recv_timeout(limit))
    };
    loop {
        match py.detach(|| receive(TICK)) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(raised(py, Error::internal("a statement's thread panicked")));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let looked = py.check_signals().and_then(|()| match observer {
            Some(observer) => observer.call1((progress(),)).map(drop),
            None => Ok(()),
        });
        let looked = looked.and_then(|()| match interrupts.count() == asked {
            true => Ok(()),
            false => Err(raised(
                py,
                Error::new("57014", "canceling statement due to user request"),
            )),
        });
        if let Err(stop) = looked {
            task.abort();
            // It is dropped as soon as it lets go, and takes back what it began.
            py.detach(|| drop(receive(GRACE)));
            return Err(stop);
        }
    }
}

/// Python code that one of our own threads runs (a reader of record batches, say) may ask
/// the database itself.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(_) => tokio::task::block_in_place(work),
        Err(_) => work(),
    }
}
