//! Arrow's C data interface, and the capsules in which Python hands it around.
//!
//! Our own, because that of the crate `arrow` is a feature that would build everything
//! above Arrow once more. Types that SQL has no use for (unions, run ends) are refused.

mod export;
mod import;
mod kinds;
mod layout;
pub mod plain;

use std::ffi::CStr;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use freestone::{Error, Frame, Result};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::raised;
use import::Reader;
use layout::{CArray, CSchema, CStream};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Gives the next batch of a stream, or a text that says why there is none.
pub type Next = Box<dyn FnMut() -> Result<Option<RecordBatch>, String> + Send>;

/// Columns and types, for others.
///
/// # Errors
/// `0A000` for types that cannot be exchanged.
pub fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let made = export::schema(schema).map_err(|error| raised(py, error))?;
    PyCapsule::new_with_value(py, made, SCHEMA)
}

/// A batch, for others.
///
/// # Errors
/// Those of Python.
pub fn batch_capsule<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, export::batch(batch), ARRAY)
}

/// A stream of batches, for others.
///
/// # Errors
/// Those of Python.
pub fn stream_capsule(
    py: Python<'_>,
    schema: SchemaRef,
    next: Next,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, export::stream(schema, next), STREAM)
}

/// What somebody gives, as a table that a statement can name: read `once`, as it comes, or
/// kept.
///
/// # Errors
/// `42804` for an object that is no table; those of the stream.
pub fn frame(source: &Bound<'_, PyAny>, once: bool) -> PyResult<Frame> {
    let py = source.py();
    let made = if source.hasattr("__arrow_c_stream__")? {
        let capsule = source.call_method0("__arrow_c_stream__")?;
        let stream = taken::<CStream>(&capsule, STREAM, CStream::empty())?;
        // The stream's code may be Python's, on any thread.
        py.detach(move || {
            let reader = Reader::new(stream)?;
            match once {
                true => Frame::of_reader(Box::new(reader)),
                false => kept(reader),
            }
        })
    } else if source.hasattr("__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            source.call_method0("__arrow_c_array__")?.extract()?;
        let schema = taken::<CSchema>(&schema, SCHEMA, CSchema::empty())?;
        let array = taken::<CArray>(&array, ARRAY, CArray::empty())?;
        single(&schema, array)
    } else {
        let what = source.get_type().name()?.to_string();
        let message = format!("an object of type {what} is no table");
        let hint = "give a pandas or Polars frame, or anything with __arrow_c_stream__";
        Err(Error::new("42804", message).with_hint(hint))
    };
    made.map_err(|error| raised(py, error))
}

fn kept(reader: Reader) -> Result<Frame> {
    let schema = arrow::array::RecordBatchReader::schema(&reader);
    let batches: std::result::Result<Vec<RecordBatch>, _> = reader.collect();
    let failed = |error: arrow::error::ArrowError| match error {
        arrow::error::ArrowError::ExternalError(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::internal(other.to_string()),
        },
        other => Error::internal(other.to_string()),
    };
    Frame::of_batches(schema, &batches.map_err(failed)?)
}

fn single(schema: &CSchema, array: CArray) -> Result<Frame> {
    let kind = import::field(schema)?.data_type().clone();
    let DataType::Struct(fields) = &kind else {
        return Err(Error::new("42804", "an array without columns is no table"));
    };
    let schema: SchemaRef = std::sync::Arc::new(Schema::new(fields.clone()));
    let batch = import::batch(array, &kind, &schema)?;
    Frame::of_batches(schema, &[batch])
}

/// Moves a structure out of its capsule, in which a released one stays.
fn taken<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr, empty: T) -> PyResult<T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: a capsule of that name has such a structure, which is the consumer's to move.
    Ok(unsafe { pointer.as_ptr().replace(empty) })
}
