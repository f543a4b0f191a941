//! Interruption: planning and the reference interpreter stop soon after someone asks for it.
//!
//! A caller runs a statement's planning [`during`] an [`Interrupt`]: a flag that another thread
//! raises, a moment at which time is up, or both. Parsing, binding, folding, unnesting and
//! evaluation ask every few steps ([`check`]). Walks that cannot fail leave the rest as it is,
//! so that a caller asks once more behind them ([`now`]).
//!
//! A thread may have other work waiting. Where a statement keeps it for longer than a
//! [`SLICE`], it asks the [`Interrupt`]'s `aside` to have that work done by another thread.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Reasons to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// Raised to cancel the statement.
    pub flag: Option<Arc<AtomicBool>>,
    /// The end of the time that the statement may take.
    pub deadline: Option<Instant>,
    /// Runs a function while another thread takes over what else waits for this one.
    pub aside: Option<Aside>,
}

/// Runs a function while another thread takes over what else waits for this one.
pub type Aside = fn(&mut dyn FnMut());

/// The longest that work keeps a thread from others.
pub const SLICE: Duration = Duration::from_millis(10);

/// The time that another thread is given to take over.
const HAND_OVER: Duration = Duration::from_millis(1);

/// Steps between two looks at the flag and the clock.
const STEPS: u32 = 128;

/// Rows that take longer than a look.
const MANY: usize = 1024;

thread_local! {
    static CURRENT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
    static STEP: Cell<u32> = const { Cell::new(0) };
    /// When the outermost work of this thread began, until others no longer wait for it.
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs a function that is stopped by an interrupt.
pub fn during<T>(interrupt: &Interrupt, f: impl FnOnce() -> T) -> T {
    /// Brings back what was there, after a panic, too.
    struct Restore(Option<Interrupt>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let outer = CURRENT.replace(Some(interrupt.clone()));
    if outer.is_none() {
        BEGAN.set(interrupt.aside.map(|_| Instant::now()));
    }
    let _restore = Restore(outer);
    f()
}

/// Counts a step, and looks every few of them.
///
/// # Errors
/// `57014`.
#[inline]
pub fn check() -> Result<()> {
    let step = STEP.get().wrapping_add(1);
    STEP.set(step);
    match step % STEPS {
        0 => now(),
        _ => Ok(()),
    }
}

/// Looks if so many rows come next that a look costs little beside them, and counts a step
/// otherwise.
///
/// # Errors
/// `57014`.
pub fn check_rows(rows: usize) -> Result<()> {
    match rows >= MANY {
        true => now(),
        false => check(),
    }
}

/// Runs a function that may take long without a look, while another thread does what waits for
/// this one.
pub(crate) fn waiting<T>(f: impl FnOnce() -> T) -> T {
    let aside = CURRENT.with_borrow(|current| current.as_ref().and_then(|current| current.aside));
    let Some(aside) = aside else {
        return f();
    };
    let (mut f, mut done) = (Some(f), None);
    aside(&mut || done = f.take().map(|f| f()));
    match (done, f) {
        (Some(done), _) => done,
        (None, Some(f)) => f(),
        (None, None) => unreachable!("a function that was called has ended"),
    }
}

/// Runs work that looks neither at the flag nor at the clock; if this thread has been kept
/// for longer than a [`SLICE`], while another one does what waits for it.
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    match BEGAN.get().is_some_and(|began| began.elapsed() > SLICE) {
        true => waiting(work),
        false => work(),
    }
}

/// Looks at the flag and the clock.
///
/// # Errors
/// `57014`.
pub fn now() -> Result<()> {
    CURRENT.with_borrow(|current| {
        let Some(current) = current else {
            return Ok(());
        };
        let (began, deadline) = (BEGAN.get(), current.deadline);
        if began.is_some() || deadline.is_some() {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Err(canceled("statement timeout"));
            }
            if let (Some(began), Some(aside)) = (began, current.aside)
                && now.duration_since(began) > SLICE
            {
                BEGAN.set(None);
                aside(&mut || std::thread::sleep(HAND_OVER));
            }
        }
        let raised = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        match current.flag.as_ref().is_some_and(raised) {
            true => Err(canceled("user request")),
            false => Ok(()),
        }
    })
}

#[cold]
fn canceled(by: &str) -> Error {
    Error::new("57014", format!("canceling statement due to {by}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{stack, syntax};

    #[test]
    fn a_raised_flag_and_a_late_clock_stop_work() {
        let flag = Arc::new(AtomicBool::new(false));
        let interrupt = Interrupt {
            flag: Some(flag.clone()),
            ..Interrupt::default()
        };
        assert!(during(&interrupt, now).is_ok());
        flag.store(true, Ordering::Relaxed);
        let error = during(&interrupt, now).unwrap_err();
        assert_eq!(error.message, "canceling statement due to user request");
        assert!(now().is_ok());
        let late = Interrupt {
            deadline: Some(Instant::now()),
            ..Interrupt::default()
        };
        let error = during(&late, || stack::on_great_stack(now)).unwrap_err();
        assert_eq!(
            error.message,
            "canceling statement due to statement timeout"
        );
        let text = format!("SELECT {}", vec!["1"; 5_000].join(", "));
        let error = during(&late, || syntax::query(&text)).unwrap_err();
        assert_eq!(error.sqlstate, "57014");
        assert!(syntax::query(&text).is_ok());
    }

    #[test]
    fn work_that_keeps_its_thread_lets_another_take_over_once() {
        thread_local! {
            static ASIDE: Cell<u32> = const { Cell::new(0) };
        }
        let interrupt = Interrupt {
            aside: Some(|f| {
                ASIDE.set(ASIDE.get() + 1);
                f();
            }),
            ..Interrupt::default()
        };
        let short = during(&interrupt, || now().map(|()| apart(|| 7)));
        assert_eq!((short.unwrap(), ASIDE.get()), (7, 0));
        let long = || {
            std::thread::sleep(SLICE * 2);
            let apart = apart(|| 8);
            now().and(now()).map(|()| apart)
        };
        assert_eq!(during(&interrupt, long).unwrap(), 8);
        assert_eq!(ASIDE.get(), 2);
    }
}
