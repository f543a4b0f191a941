//! The structures of Arrow's C data interface, as C has them. Whoever holds one that is
//! not released owns what it points to, and releases it when it is dropped.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

/// Frees what a structure points to, and marks it released.
///
/// # Safety
/// It is not released, and nobody reads it any more.
pub type Release<T> = unsafe extern "C" fn(*mut T);

/// Asks a stream for a structure; 0 is success.
///
/// # Safety
/// The stream is not released, nobody else asks it, and the structure can be
/// written to.
pub type Ask<T> = unsafe extern "C" fn(*mut CStream, *mut T) -> c_int;

/// Asks a stream for a text that ends with a zero.
///
/// # Safety
/// As [`Ask`]; the text is good until the stream is asked again.
pub type AskText = unsafe extern "C" fn(*mut CStream) -> *const c_char;

/// `struct ArrowSchema`.
#[repr(C)]
pub struct CSchema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut CSchema,
    pub dictionary: *mut CSchema,
    pub release: Option<Release<CSchema>>,
    pub private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
pub struct CArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const c_void,
    pub children: *mut *mut CArray,
    pub dictionary: *mut CArray,
    pub release: Option<Release<CArray>>,
    pub private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
pub struct CStream {
    pub get_schema: Option<Ask<CSchema>>,
    pub get_next: Option<Ask<CArray>>,
    pub get_last_error: Option<AskText>,
    pub release: Option<Release<CStream>>,
    pub private_data: *mut c_void,
}

/// `ARROW_FLAG_NULLABLE`.
pub const NULLABLE: i64 = 2;
/// `ARROW_FLAG_MAP_KEYS_SORTED`.
pub const KEYS_SORTED: i64 = 4;

// SAFETY: the interface says that structures may go from thread to thread, and be released
// on any; nobody changes one that is shared.
unsafe impl Send for CSchema {}
// SAFETY: as above.
unsafe impl Send for CArray {}
// SAFETY: as above; what is read through `&CArray` stays as it is until it is released.
unsafe impl Sync for CArray {}
// SAFETY: as above.
unsafe impl Send for CStream {}

impl CSchema {
    /// One that is released.
    pub fn empty() -> Self {
        Self {
            format: null_mut(),
            name: null_mut(),
            metadata: null_mut(),
            flags: 0,
            n_children: 0,
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }
}

impl CArray {
    /// One that is released.
    pub fn empty() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: null_mut(),
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }
}

impl CStream {
    /// One that is released.
    pub fn empty() -> Self {
        Self {
            get_schema: None,
            get_next: None,
            get_last_error: None,
            release: None,
            private_data: null_mut(),
        }
    }
}

impl Drop for CSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is not released yet, and nobody else has it.
            unsafe { release(self) }
        }
    }
}

impl Drop for CArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is not released yet, and nobody else has it.
            unsafe { release(self) }
        }
    }
}

impl Drop for CStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is not released yet, and nobody else has it.
            unsafe { release(self) }
        }
    }
}
