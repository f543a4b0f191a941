//! Room on the stack: statements are trees, which are walked by recursion.
//!
//! A walk that can fail asks before each level whether there is room ([`check`]), and refuses
//! the statement with `54001` where there is none, as PostgreSQL does by `max_stack_depth`. A
//! walk that cannot fail, over a tree that is deep, goes to a thread with a great stack
//! ([`with_room`]), of which the system gives memory for the part that is used only.
//!
//! ```text
//! thread's stack   ├── used ──┼──────── room ─────────┤ reserve ┤
//! ```
//!
//! The system says where the stack of a thread ends.

use crate::error::{Error, Result};
use crate::interrupt;

/// Bytes that a thread is taken to have on a system that does not say.
const DEFAULT: usize = 1 << 20;

/// Bytes at the end of a stack that are left to calls that do not ask.
const RESERVE: usize = if cfg!(debug_assertions) {
    1 << 20
} else {
    512 << 10
};

/// Bytes of a great stack. A build without optimization has frames some times as great.
const GREAT: usize = if cfg!(debug_assertions) {
    1 << 30
} else {
    256 << 20
};

/// Bytes that one level of a tree takes at most in a walk that does not ask.
const LEVEL: usize = if cfg!(debug_assertions) {
    4 << 10
} else {
    1 << 10
};

/// Levels that any thread has room for.
const FLAT: usize = 50;

/// Most levels of a tree. All walks over it have room on a great stack, and it can be freed on
/// any.
pub const LEVELS: usize = 5_000;

/// Bytes that are left.
pub fn left() -> usize {
    let left = stacker::remaining_stack().unwrap_or(DEFAULT);
    left.saturating_sub(RESERVE)
}

/// Whether there is room for a level that asks again, and nobody wants the work to stop.
///
/// # Errors
/// `54001`, `57014`.
#[inline]
pub fn check() -> Result<()> {
    match left() {
        0 => Err(too_complex()),
        _ => interrupt::check(),
    }
}

/// Whether there is room for walks over a tree of so many levels that do not ask.
///
/// # Errors
/// `54001`.
pub fn check_levels(levels: usize) -> Result<()> {
    match levels <= FLAT || levels <= LEVELS && levels.saturating_mul(LEVEL) <= left() {
        true => Ok(()),
        false => Err(too_complex()),
    }
}

/// The error of a statement that has too many levels.
#[cold]
pub fn too_complex() -> Error {
    Error::new("54001", "stack depth limit exceeded")
        .with_hint("The statement has too many levels of nesting.")
}

/// Calls a function where there is room for walks over a tree of so many levels: here, or on a
/// thread with a great stack.
pub fn with_room<T: Send>(levels: usize, f: impl FnOnce() -> T + Send) -> T {
    if levels <= FLAT || levels.saturating_mul(LEVEL) <= left() {
        return f();
    }
    on_great_stack(f)
}

/// Whether this thread has a great stack already.
pub fn is_great() -> bool {
    left() >= GREAT / 2
}

/// Calls a function on a thread with a great stack.
pub fn on_great_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    if is_great() {
        return f();
    }
    let mut f = Some(f);
    let current = interrupt::current().unwrap_or_default();
    let taken = &mut f;
    let work = move || taken.take().map(|f| interrupt::during(&current, f));
    let done = interrupt::waiting(|| {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(GREAT);
            let started = thread.spawn_scoped(scope, work);
            match started.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(done)) => done,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // The system has no thread to give.
                Err(_) => None,
            }
        })
    });
    match (done, f) {
        (Some(done), _) => done,
        (None, Some(f)) => f(),
        (None, None) => unreachable!("a function is called once"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deep(level: usize) -> Result<usize> {
        check()?;
        let bytes = std::hint::black_box([level; 64]);
        Ok(bytes[0].max(deep(level + 1)?))
    }

    #[test]
    fn a_walk_without_end_is_refused() {
        let error = deep(0).unwrap_err();
        assert_eq!(error.sqlstate, "54001");
        let error = on_great_stack(|| deep(0)).unwrap_err();
        assert_eq!(error.sqlstate, "54001");
    }

    #[test]
    fn a_great_stack_has_room_for_all_levels() {
        assert!(check_levels(10).is_ok());
        assert!(check_levels(LEVELS).is_err() || left() > LEVELS * LEVEL);
        assert!(with_room(LEVELS, || check_levels(LEVELS)).is_ok());
        assert!(with_room(LEVELS, || check_levels(LEVELS + 1)).is_err());
    }
}
