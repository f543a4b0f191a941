//! Interruption: planning and the reference interpreter stop soon after someone asks for it.
//!
//! A caller runs a statement's planning [`during`] an [`Interrupt`]: a flag that another thread
//! raises, a moment at which time is up, or both. Parsing, binding, folding, unnesting and
//! evaluation ask every few steps ([`check`]). Walks that cannot fail leave the rest as it is,
//! so that a caller asks once more behind them ([`now`]).

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::error::{Error, Result};

/// Reasons to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// Raised by whoever wants the statement canceled.
    pub flag: Option<Arc<AtomicBool>>,
    /// The end of the time that the statement may take.
    pub deadline: Option<Instant>,
}

/// Steps between two looks at the flag and the clock.
const STEPS: u32 = 128;

thread_local! {
    static CURRENT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
    static STEP: Cell<u32> = const { Cell::new(0) };
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
    let _restore = Restore(CURRENT.replace(Some(interrupt.clone())));
    f()
}

/// The interrupt of this thread, for another thread that does a part of the work.
pub(crate) fn current() -> Option<Interrupt> {
    CURRENT.with_borrow(Clone::clone)
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

/// Looks at the flag and the clock.
///
/// # Errors
/// `57014`.
pub fn now() -> Result<()> {
    CURRENT.with_borrow(|current| {
        let Some(Interrupt { flag, deadline }) = current else {
            return Ok(());
        };
        let raised = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        if flag.as_ref().is_some_and(raised) {
            return Err(canceled("user request"));
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(canceled("statement timeout"));
        }
        Ok(())
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
            deadline: None,
        };
        assert!(during(&interrupt, now).is_ok());
        flag.store(true, Ordering::Relaxed);
        let error = during(&interrupt, now).unwrap_err();
        assert_eq!(error.message, "canceling statement due to user request");
        assert!(now().is_ok());
        let late = Interrupt {
            flag: None,
            deadline: Some(Instant::now()),
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
}
