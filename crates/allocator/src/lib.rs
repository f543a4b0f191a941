//! The allocator of the programs: mimalloc, told to keep memory for a while.
//!
//! Queries free vectors by the hundred and soon ask for as many again. What goes back
//! to the system in between comes anew as pages that it must clear: about 5 % of the time of
//! the TPC-H queries with the second that mimalloc waits by itself.

pub use mimalloc::MiMalloc as Allocator;

/// How long freed memory is kept, in milliseconds.
const KEEP: core::ffi::c_long = 30_000;
/// The number of mimalloc's option `purge_delay`, which its bindings do not name.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Keeps freed memory for a while; `MIMALLOC_PURGE_DELAY` in the environment counts more.
pub fn keep_freed_memory() {
    // SAFETY: the option exists in this version and takes any number.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, KEEP) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number is that of the option: the default is what mimalloc documents.
    #[test]
    fn the_option_is_the_one_meant() {
        // SAFETY: as above.
        let before = unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        keep_freed_memory();
        // SAFETY: as above.
        let after = unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        let told = std::env::var("MIMALLOC_PURGE_DELAY").is_ok();
        assert!(told || (before, after) == (1000, KEEP), "{before}, {after}");
    }
}
