//! Asking for bytes before they are needed.
//!
//! A row of columns lies in as many places as it has columns. Asked for one
//! after the other, each is a wait for memory; asked for together, all are one.

/// Begins to fetch the cache line that holds byte `at` of `bytes`, if there is one.
#[inline(always)]
pub fn prefetch(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(byte) = bytes.get(at) {
        // SAFETY: a prefetch changes nothing that a program can see, and SSE is
        // part of x86-64.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}
