//! Room on the stack: statements are trees, which are walked by recursion.
//!
//! A walk that can fail asks before each level whether there is room ([`check`]), and refuses
//! the statement with `54001` where there is none, as PostgreSQL does by `max_stack_depth`. A
//! walk that cannot fail, over a tree that is deep, goes to a great stack ([`with_room`]), of
//! which the system gives memory for the part that is used only. Evaluation goes there by itself
//! when its thread's stack is used up ([`step`]).
//!
//! ```text
//! thread's stack   ├── used ──┼──────── room ─────────┤ reserve ┤
//! ```
//!
//! The system says where the stack of a thread ends.

use std::cell::Cell;

use crate::error::{Error, Result};
use crate::interrupt;

thread_local! {
    /// Whether a great stack is in use.
    static ON_GREAT: Cell<bool> = const { Cell::new(false) };
}

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

/// Does a step of a walk that asks at each level: here, or on a great stack where this one has
/// no room. Threads may have small stacks, and the work that waits may be taken up by any.
///
/// # Errors
/// Errors of the step; `54001` where the great stack is used up, too; `57014`.
pub fn step<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    interrupt::check()?;
    match left() {
        0 if ON_GREAT.get() => Err(too_complex()),
        0 => on_great_stack(f),
        _ => f(),
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
/// great stack.
pub fn with_room<T>(levels: usize, f: impl FnOnce() -> T) -> T {
    if levels <= FLAT || levels.saturating_mul(LEVEL) <= left() {
        return f();
    }
    on_great_stack(f)
}

/// Whether there is the room of a great stack already.
pub fn is_great() -> bool {
    left() >= GREAT / 2
}

/// Calls a function on a great stack: this one, or a new one of this thread.
pub fn on_great_stack<T>(f: impl FnOnce() -> T) -> T {
    /// Brings back what was there, after a panic, too.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            ON_GREAT.set(self.0);
        }
    }
    if is_great() {
        return f();
    }
    let _restore = Restore(ON_GREAT.replace(true));
    // Walks that do not ask take their time.
    interrupt::waiting(|| stacker::grow(GREAT, f))
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
