//! What others give as Arrow's C structures. Buffers are shared, not copied, and go back
//! to whom they belong when nobody reads them any more.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow::array::{Array, ArrayData, RecordBatch, RecordBatchReader, StructArray, layout};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use freestone::{Error, Result};

use super::kinds::{children, parsed};
use super::layout::{CArray, CSchema, CStream, KEYS_SORTED, NULLABLE};

fn broken(what: &str) -> Error {
    Error::new("22000", format!("not Arrow's C data interface: {what}"))
}

fn size(number: i64) -> Result<usize> {
    usize::try_from(number).map_err(|_| broken("a negative count"))
}

/// The field that a structure describes.
///
/// # Errors
/// `0A000` for types that are not known here.
pub fn field(schema: &CSchema) -> Result<Field> {
    if schema.release.is_none() || schema.format.is_null() {
        return Err(broken("a schema that was released"));
    }
    let mut inner = Vec::new();
    for place in 0..size(schema.n_children)? {
        // SAFETY: a schema that is not released has as many children as it says.
        let child = unsafe { schema.children.add(place).read().as_ref() };
        inner.push(field(
            child.ok_or_else(|| broken("a child that is not there"))?,
        )?);
    }
    // SAFETY: a schema that is not released has a format, which ends with a zero.
    let format = unsafe { CStr::from_ptr(schema.format) }.to_string_lossy();
    let mut kind = parsed(&format, inner, schema.flags & KEYS_SORTED != 0)?;
    // SAFETY: a dictionary belongs to its schema and is not released before.
    if let Some(values) = unsafe { schema.dictionary.as_ref() } {
        let values = field(values)?.data_type().clone();
        kind = DataType::Dictionary(Box::new(kind), Box::new(values));
    }
    let name = match schema.name.is_null() {
        true => String::new(),
        // SAFETY: a name that is there ends with a zero.
        false => unsafe { CStr::from_ptr(schema.name) }
            .to_string_lossy()
            .into_owned(),
    };
    Ok(Field::new(name, kind, schema.flags & NULLABLE != 0))
}

/// A batch that somebody gives; `kind` is a struct with its columns.
///
/// # Errors
/// `22000` for an array that is not what its schema says.
pub fn batch(array: CArray, kind: &DataType, schema: &SchemaRef) -> Result<RecordBatch> {
    let owner = Arc::new(array);
    let data = Imported {
        array: &owner,
        owner: &owner,
    };
    let data = data.data(kind)?;
    if data.null_count() > 0 {
        return Err(broken("a batch whose rows are NULL"));
    }
    let columns = StructArray::from(data);
    let rows = Some(columns.len());
    let options = arrow::array::RecordBatchOptions::new().with_row_count(rows);
    let columns = columns.columns().to_vec();
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|error| broken(&error.to_string()))
}

/// A part of an array that keeps all of it.
struct Imported<'a> {
    array: &'a CArray,
    owner: &'a Arc<CArray>,
}

impl Imported<'_> {
    fn data(&self, kind: &DataType) -> Result<ArrayData> {
        let layout = layout(kind);
        let (length, offset) = (size(self.array.length)?, size(self.array.offset)?);
        let mask = usize::from(layout.can_contain_null_mask);
        let count = size(self.array.n_buffers)?;
        if count < mask + layout.buffers.len() + usize::from(layout.variadic) {
            return Err(broken("too few buffers"));
        }
        let all = length + offset;
        let nulls = match mask {
            1 if self.array.null_count != 0 => self.buffer(0, all.div_ceil(8))?,
            _ => None,
        };
        let mut buffers = Vec::new();
        for place in mask..count - usize::from(layout.variadic) {
            let bytes = self.bytes(kind, (place, place - mask), all, count)?;
            buffers.push(match self.buffer(place, bytes)? {
                Some(buffer) => buffer,
                None if bytes == 0 => Buffer::from_vec(Vec::<i64>::new()),
                // An array without rows may leave out its one offset.
                None if all == 0 => Buffer::from_vec(vec![0_i64]),
                None => return Err(broken("a buffer that is not there")),
            });
        }
        // SAFETY: buffers are as long as the interface says they are for the type; what is
        // cheap to check is checked below.
        let mut data = unsafe {
            ArrayData::new_unchecked(
                kind.clone(),
                length,
                None,
                nulls,
                offset,
                buffers,
                self.inner(kind)?,
            )
        };
        data.align_buffers();
        data.validate()
            .map_err(|error| broken(&error.to_string()))?;
        Ok(data)
    }

    fn inner(&self, kind: &DataType) -> Result<Vec<ArrayData>> {
        if let DataType::Dictionary(_, values) = kind {
            // SAFETY: a dictionary belongs to its array and is not released before.
            let array = unsafe { self.array.dictionary.as_ref() };
            let array = array.ok_or_else(|| broken("no dictionary"))?;
            let owner = self.owner;
            return Ok(vec![Imported { array, owner }.data(values)?]);
        }
        let fields = children(kind);
        if size(self.array.n_children)? < fields.len() {
            return Err(broken("too few children"));
        }
        let each = fields.into_iter().enumerate().map(|(place, field)| {
            // SAFETY: an array that is not released has as many children as it says.
            let array = unsafe { self.array.children.add(place).read().as_ref() };
            let array = array.ok_or_else(|| broken("a child that is not there"))?;
            let owner = self.owner;
            Imported { array, owner }.data(field.data_type())
        });
        each.collect()
    }

    fn pointer(&self, place: usize) -> *const c_void {
        // SAFETY: `place` is below `n_buffers`, as callers see to.
        unsafe { self.array.buffers.add(place).read_unaligned() }
    }

    /// A buffer, if it is there.
    fn buffer(&self, place: usize, bytes: usize) -> Result<Option<Buffer>> {
        let pointer = self.pointer(place).cast_mut().cast::<u8>();
        let Some(pointer) = NonNull::new(pointer).filter(|_| bytes > 0) else {
            return Ok(None);
        };
        let owner = Arc::clone(self.owner);
        // SAFETY: the buffer has so many bytes, and stays as long as its owner.
        Ok(Some(unsafe {
            Buffer::from_custom_allocation(pointer, bytes, owner)
        }))
    }

    /// Bytes of a buffer: `place` among all, `own` among those that are no mask.
    fn bytes(
        &self,
        kind: &DataType,
        (place, own): (usize, usize),
        rows: usize,
        count: usize,
    ) -> Result<usize> {
        use DataType as T;
        let last = |width: usize| match self.pointer(place - 1).is_null() || rows == 0 {
            true => Ok(0),
            // SAFETY: an array of so many rows has one offset more.
            false => unsafe {
                let offsets = self.pointer(place - 1);
                match width {
                    4 => size(offsets.cast::<i32>().add(rows).read_unaligned().into()),
                    _ => size(offsets.cast::<i64>().add(rows).read_unaligned()),
                }
            },
        };
        Ok(match (kind, own) {
            (T::Dictionary(keys, _), _) => rows * keys.primitive_width().unwrap_or(0),
            (T::Boolean, _) => rows.div_ceil(8),
            (T::Utf8 | T::Binary | T::List(_) | T::Map(_, _), 0) => (rows + 1) * 4,
            (T::LargeUtf8 | T::LargeBinary | T::LargeList(_), 0) => (rows + 1) * 8,
            (T::Utf8 | T::Binary, _) => last(4)?,
            (T::LargeUtf8 | T::LargeBinary, _) => last(8)?,
            (T::ListView(_), _) => rows * 4,
            (T::LargeListView(_), _) => rows * 8,
            (T::Utf8View | T::BinaryView, 0) => rows * 16,
            (T::Utf8View | T::BinaryView, own) => {
                let lengths = self.pointer(count - 1).cast::<i64>();
                match lengths.is_null() {
                    true => return Err(broken("no lengths of buffers")),
                    // SAFETY: the last buffer has the lengths of all after the views.
                    false => size(unsafe { lengths.add(own - 1).read_unaligned() })?,
                }
            }
            (T::FixedSizeBinary(width), _) => rows * size((*width).into())?,
            (other, _) => rows * other.primitive_width().unwrap_or(0),
        })
    }
}

/// Batches that somebody gives one by one.
pub struct Reader {
    stream: CStream,
    kind: DataType,
    schema: SchemaRef,
}

impl Reader {
    /// Takes a stream.
    ///
    /// # Errors
    /// Those of the stream; `0A000` for types that are not known here.
    pub fn new(mut stream: CStream) -> Result<Self> {
        let ask = stream.get_schema.filter(|_| stream.release.is_some());
        let ask = ask.ok_or_else(|| broken("a stream that was read before"))?;
        let mut schema = CSchema::empty();
        // SAFETY: the stream is not released, and we are its only reader.
        if unsafe { ask(&mut stream, &mut schema) } != 0 {
            return Err(last_error(&mut stream));
        }
        let kind = field(&schema)?.data_type().clone();
        let DataType::Struct(fields) = &kind else {
            let hint = "give a table, a frame or a batch, whose columns have names";
            return Err(broken("an array that has no columns").with_hint(hint));
        };
        Ok(Self {
            stream,
            schema: Arc::new(Schema::new(fields.clone())),
            kind,
        })
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        let ask = self.stream.get_next.ok_or_else(|| broken("no stream"))?;
        let mut array = CArray::empty();
        // SAFETY: the stream is not released, and we are its only reader.
        if unsafe { ask(&mut self.stream, &mut array) } != 0 {
            return Err(last_error(&mut self.stream));
        }
        if array.release.is_none() {
            return Ok(None);
        }
        batch(array, &self.kind, &self.schema).map(Some)
    }
}

fn last_error(stream: &mut CStream) -> Error {
    let text = stream.get_last_error.and_then(|ask| {
        // SAFETY: the stream is not released, and its text is good until it is asked again.
        let text = unsafe { ask(stream).as_ref().map(|text| CStr::from_ptr(text)) };
        text.map(|text| text.to_string_lossy().into_owned())
    });
    let text = text.unwrap_or_else(|| "it does not say why".to_owned());
    Error::new(
        "22000",
        format!("the stream of record batches failed: {text}"),
    )
}

impl Iterator for Reader {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let taken = self.take().transpose()?;
        Some(taken.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
