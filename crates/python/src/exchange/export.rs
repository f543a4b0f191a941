//! What we have, as Arrow's C structures. Buffers are shared, not copied.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use arrow::array::{Array, ArrayData, RecordBatch, StructArray, layout};
use arrow::buffer::{Buffer, NullBuffer};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use freestone::{Error, Result};

use super::Next;
use super::kinds::{children, format};
use super::layout::{CArray, CSchema, CStream, KEYS_SORTED, NULLABLE};

/// What a `CSchema` of ours points to.
struct SchemaParts {
    format: CString,
    name: CString,
    /// Owned; the structure points to this slice.
    children: Box<[*mut CSchema]>,
}

/// The columns of a result.
///
/// # Errors
/// `0A000` for types that cannot be exchanged.
pub fn schema(schema: &Schema) -> Result<CSchema> {
    field(&Field::new(
        "",
        DataType::Struct(schema.fields().clone()),
        false,
    ))
}

fn field(field: &Field) -> Result<CSchema> {
    let kind = field.data_type();
    let text = |text: String| {
        CString::new(text.replace('\0', "")).map_err(|error| Error::internal(error.to_string()))
    };
    let inner = children(kind).into_iter();
    let inner: Result<Vec<CSchema>> = inner.map(|child| self::field(child)).collect();
    let dictionary = match kind {
        DataType::Dictionary(_, values) => {
            let values = Field::new("", values.as_ref().clone(), true);
            Some(self::field(&values)?)
        }
        _ => None,
    };
    let boxed = |one: CSchema| Box::into_raw(Box::new(one));
    let mut parts = Box::new(SchemaParts {
        format: text(format(kind)?)?,
        name: text(field.name().clone())?,
        children: inner?.into_iter().map(boxed).collect(),
    });
    let nullable = if field.is_nullable() { NULLABLE } else { 0 };
    let sorted = match kind {
        DataType::Map(_, true) => KEYS_SORTED,
        _ => 0,
    };
    Ok(CSchema {
        format: parts.format.as_ptr(),
        name: parts.name.as_ptr(),
        metadata: null(),
        flags: nullable | sorted,
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        dictionary: dictionary.map_or(null_mut(), boxed),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    })
}

/// # Safety
/// `schema` is one that `field` made and that was not released.
unsafe extern "C" fn release_schema(schema: *mut CSchema) {
    // SAFETY: of the caller; all pointers are those that `field` made of boxes.
    unsafe {
        let Some(schema) = schema.as_mut() else {
            return;
        };
        let parts = Box::from_raw(schema.private_data.cast::<SchemaParts>());
        for child in &parts.children {
            drop(Box::from_raw(*child));
        }
        if !schema.dictionary.is_null() {
            drop(Box::from_raw(schema.dictionary));
        }
        schema.release = None;
    }
}

/// What a `CArray` of ours points to.
struct ArrayParts {
    /// Kept for those who read through the pointers.
    _buffers: Vec<Option<Buffer>>,
    pointers: Box<[*const c_void]>,
    /// Owned; the structure points to this slice.
    children: Box<[*mut CArray]>,
}

/// A batch, as the struct that Arrow's streams have it in.
pub fn batch(batch: &RecordBatch) -> CArray {
    array(&StructArray::from(batch.clone()).to_data())
}

fn array(data: &ArrayData) -> CArray {
    let layout = layout(data.data_type());
    let mut buffers: Vec<Option<Buffer>> = Vec::new();
    if layout.can_contain_null_mask {
        buffers.push(validity(data.nulls(), data.offset()));
    }
    buffers.extend(data.buffers().iter().cloned().map(Some));
    if layout.variadic {
        let lengths = data.buffers().iter().skip(1);
        let lengths: Vec<i64> = lengths.map(|buffer| buffer.len() as i64).collect();
        buffers.push(Some(Buffer::from_vec(lengths)));
    }
    let pointer = |buffer: &Option<Buffer>| {
        let buffer = buffer.as_ref();
        buffer.map_or(null(), |buffer| buffer.as_ptr().cast::<c_void>())
    };
    let boxed = |data: &ArrayData| Box::into_raw(Box::new(array(data)));
    let is_dictionary = matches!(data.data_type(), DataType::Dictionary(_, _));
    let (children, dictionary) = match (is_dictionary, data.child_data()) {
        (true, [values]) => (Box::default(), boxed(values)),
        (_, inner) => (inner.iter().map(boxed).collect(), null_mut()),
    };
    let null_count = match data.data_type() {
        DataType::Null => data.len(),
        _ => data.null_count(),
    };
    let mut parts = Box::new(ArrayParts {
        pointers: buffers.iter().map(pointer).collect(),
        _buffers: buffers,
        children,
    });
    CArray {
        length: data.len() as i64,
        null_count: null_count as i64,
        offset: data.offset() as i64,
        n_buffers: parts.pointers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.pointers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        dictionary,
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

/// The bits of validity, which in the interface begin where the values do.
fn validity(nulls: Option<&NullBuffer>, offset: usize) -> Option<Buffer> {
    let nulls = nulls?;
    if nulls.offset() == offset {
        return Some(nulls.buffer().clone());
    }
    let before = std::iter::repeat_n(true, offset);
    let bits: NullBuffer = before.chain(nulls.iter()).collect();
    Some(bits.buffer().clone())
}

/// # Safety
/// `structure` is one that `array` made and that was not released.
unsafe extern "C" fn release_array(structure: *mut CArray) {
    // SAFETY: of the caller; all pointers are those that `array` made of boxes.
    unsafe {
        let Some(structure) = structure.as_mut() else {
            return;
        };
        let parts = Box::from_raw(structure.private_data.cast::<ArrayParts>());
        for child in &parts.children {
            drop(Box::from_raw(*child));
        }
        if !structure.dictionary.is_null() {
            drop(Box::from_raw(structure.dictionary));
        }
        structure.release = None;
    }
}

/// What a `CStream` of ours points to.
struct StreamParts {
    schema: SchemaRef,
    next: Next,
    error: CString,
}

/// `EIO`, which says that a text tells more.
const FAILED: c_int = 5;

/// Batches as they are asked for.
pub fn stream(schema: SchemaRef, next: Next) -> CStream {
    let parts = Box::new(StreamParts {
        schema,
        next,
        error: CString::default(),
    });
    CStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(parts).cast(),
    }
}

impl StreamParts {
    fn fail(&mut self, why: &str) -> c_int {
        self.error = CString::new(why.replace('\0', "")).unwrap_or_default();
        FAILED
    }
}

/// # Safety
/// `stream` is one that [`stream`] made and that was not released.
unsafe fn parts<'a>(stream: *mut CStream) -> &'a mut StreamParts {
    // SAFETY: of the caller; the interface lets one thread at a time call a stream.
    unsafe { &mut *(*stream).private_data.cast::<StreamParts>() }
}

/// # Safety
/// As [`parts`]; `out` can be written to.
unsafe extern "C" fn get_schema(stream: *mut CStream, out: *mut CSchema) -> c_int {
    // SAFETY: of the caller.
    let parts = unsafe { parts(stream) };
    match schema(&parts.schema) {
        Ok(made) => {
            // SAFETY: of the caller; what `out` holds is not initialised.
            unsafe { out.write(made) };
            0
        }
        Err(error) => parts.fail(&error.to_string()),
    }
}

/// # Safety
/// As [`parts`]; `out` can be written to.
unsafe extern "C" fn get_next(stream: *mut CStream, out: *mut CArray) -> c_int {
    // SAFETY: of the caller.
    let parts = unsafe { parts(stream) };
    let made = match (parts.next)() {
        Ok(Some(found)) => batch(&found),
        Ok(None) => CArray::empty(),
        Err(why) => return parts.fail(&why),
    };
    // SAFETY: of the caller; what `out` holds is not initialised.
    unsafe { out.write(made) };
    0
}

/// # Safety
/// As [`parts`].
unsafe extern "C" fn get_last_error(stream: *mut CStream) -> *const c_char {
    // SAFETY: of the caller.
    unsafe { parts(stream) }.error.as_ptr()
}

/// # Safety
/// As [`parts`].
unsafe extern "C" fn release_stream(stream: *mut CStream) {
    // SAFETY: of the caller; the pointer is that of the box that `stream` made.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
    }
}
