//! Waiting for the database without holding Python's lock: Ctrl-C, interrupts from other
//! threads, and progress are looked at while a statement runs.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
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
fn runtime(py: Python<'_>) -> PyResult<&'static Runtime> {
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

enum Step<T> {
    Done(T),
    Tick,
}

/// Waits for `work`. At Ctrl-C, at an interrupt, or when `observer` raises, it is dropped,
/// which is how a statement is cancelled.
///
/// # Errors
/// What Python raised meanwhile; `57014` after an interrupt.
pub fn wait<T: Send>(
    py: Python<'_>,
    interrupts: &Interrupts,
    observer: Option<&Bound<'_, PyAny>>,
    progress: impl Fn() -> Option<f64>,
    work: impl Future<Output = T> + Send,
) -> PyResult<T> {
    let runtime = runtime(py)?;
    let asked = interrupts.count();
    let mut work: Pin<Box<dyn Future<Output = T> + Send + '_>> = Box::pin(work);
    loop {
        let step = py.detach(|| {
            blocking(|| {
                runtime.block_on(async {
                    match tokio::time::timeout(TICK, work.as_mut()).await {
                        Ok(done) => Step::Done(done),
                        Err(_) => Step::Tick,
                    }
                })
            })
        });
        if let Step::Done(done) = step {
            return Ok(done);
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
            py.detach(|| drop(work));
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
