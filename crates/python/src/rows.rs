//! Results, computed as they are read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use freestone::Error;
use futures::StreamExt;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

use crate::batch::Batch;
use crate::exchange;
use crate::failure::raised;
use crate::session::Opened;
use crate::values::tuples;
use crate::waiting::wait;

/// A column of a result: name, type, digits, digits after the point, whether it may be NULL.
type Column = (String, String, Option<u8>, Option<i8>, bool);

/// What of a result is still to come.
pub struct Source {
    /// The session that it is of, which it keeps as long as it may read.
    opened: Option<Arc<Opened>>,
    stream: Option<freestone::Rows>,
    waiting: VecDeque<RecordBatch>,
    /// Rows of the first waiting batch that were given.
    given: usize,
    /// Why no more comes, if that is not its end.
    failed: Option<Error>,
}

impl Source {
    /// A result that is to be read.
    pub fn of(rows: freestone::Rows, opened: Arc<Opened>) -> Self {
        Self {
            opened: Some(opened),
            stream: Some(rows),
            waiting: VecDeque::new(),
            given: 0,
            failed: None,
        }
    }

    /// A result that is there as a whole.
    pub fn whole(batch: RecordBatch, opened: Arc<Opened>) -> Self {
        Self {
            opened: Some(opened),
            stream: None,
            waiting: VecDeque::from([batch]),
            given: 0,
            failed: None,
        }
    }

    /// Ends it: what was not read is not computed.
    pub fn close(&mut self, why: Error) {
        self.stream = None;
        self.opened = None;
        self.waiting.clear();
        self.failed = Some(why);
    }
}

/// Why a result that was closed has no rows.
pub fn closed_result() -> Error {
    Error::new("24000", "the result is closed")
}

/// A result of a query. Rows are computed as they are asked for.
#[pyclass(frozen, module = "freestone")]
pub struct Rows {
    schema: SchemaRef,
    /// The same as others get it.
    plain: SchemaRef,
    source: Arc<Mutex<Source>>,
}

impl Rows {
    pub fn new(schema: SchemaRef, source: Arc<Mutex<Source>>) -> Self {
        Self {
            plain: exchange::plain::schema(&schema),
            schema,
            source,
        }
    }

    fn source(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that the first waiting batch has rows that were not given; `false` at the
    /// end.
    fn fill(&self, py: Python<'_>, observer: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        loop {
            let mut source = self.source();
            while let Some(first) = source.waiting.front() {
                if source.given < first.num_rows() {
                    return Ok(true);
                }
                source.waiting.pop_front();
                source.given = 0;
            }
            drop(source);
            if !self.read(py, observer)? {
                return Ok(false);
            }
        }
    }

    /// The first waiting batch, or what is left of it.
    fn take_first(&self) -> Option<RecordBatch> {
        let mut source = self.source();
        let given = std::mem::take(&mut source.given);
        let batch = source.waiting.pop_front()?;
        Some(batch.slice(given, batch.num_rows() - given))
    }

    /// Puts the next batch behind those that wait; `false` at the end.
    fn read(&self, py: Python<'_>, observer: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let mut source = self.source();
        if let Some(failed) = source.failed.clone() {
            // Python must not run while we hold what another of its threads may wait for.
            drop(source);
            return Err(raised(py, failed));
        }
        let (Some(mut rows), Some(opened)) = (source.stream.take(), source.opened.clone()) else {
            return Ok(false);
        };
        let busy = "another thread is reading this result";
        source.failed = Some(Error::new("55006", busy));
        drop(source);
        let progress = opened.session().progress();
        let (interrupts, fraction) = (&opened.interrupts, || progress.fraction());
        let next = wait(py, interrupts, observer, fraction, async move {
            let next = rows.stream.next().await;
            (rows, next)
        });
        let mut source = self.source();
        // Closing does not wait for a reader.
        let closed = source
            .failed
            .as_ref()
            .is_some_and(|why| why.message != busy);
        if closed {
            drop(source);
            return Err(raised(py, closed_result()));
        }
        match next {
            Ok((rows, Some(Ok(batch)))) => {
                source.failed = None;
                source.stream = Some(rows);
                source.waiting.push_back(batch);
                Ok(true)
            }
            Ok((rows, None)) => {
                source.failed = None;
                source.opened = None;
                drop(source);
                py.detach(|| drop(rows));
                Ok(false)
            }
            Ok((rows, Some(Err(error)))) => {
                source.failed = Some(error.clone());
                source.opened = None;
                drop(source);
                py.detach(|| drop(rows));
                Err(raised(py, error))
            }
            Err(stop) => {
                let message = "the result was interrupted before its end";
                source.failed = Some(Error::new("57014", message));
                Err(stop)
            }
        }
    }
}

impl Drop for Rows {
    /// What is stopped may be in Python's code, and need its lock to end.
    fn drop(&mut self) {
        let stop = |py: Python<'_>| py.detach(|| self.source().close(closed_result()));
        let _ = Python::try_attach(stop);
    }
}

#[pymethods]
impl Rows {
    /// Each column: name, SQL type, precision, scale, whether it may be NULL.
    fn columns(&self) -> Vec<Column> {
        let each = self.schema.fields().iter();
        each.map(|field| {
            let kind = field.data_type();
            let digits = match kind {
                DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
                    (Some(*precision), Some(*scale))
                }
                _ => (None, None),
            };
            let kind = freestone::type_name_of(field);
            (
                field.name().clone(),
                kind,
                digits.0,
                digits.1,
                field.is_nullable(),
            )
        })
        .collect()
    }

    /// At most `most` rows, as tuples, of one batch: fewer are not the end, none is.
    #[pyo3(signature = (most, observer=None))]
    fn some<'py>(
        &self,
        py: Python<'py>,
        most: usize,
        observer: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        if !self.fill(py, observer)? {
            return Ok(PyList::empty(py));
        }
        let (batch, start, count) = {
            let mut source = self.source();
            let start = source.given;
            let Some(batch) = source.waiting.front().cloned() else {
                return Ok(PyList::empty(py));
            };
            let count = most.min(batch.num_rows() - start);
            source.given += count;
            (batch, start, count)
        };
        tuples(py, &batch.slice(start, count))
    }

    /// The next rows, as tuples, which stay to be read: for looking at a result.
    #[pyo3(signature = (most, observer=None))]
    fn peek<'py>(
        &self,
        py: Python<'py>,
        most: usize,
        observer: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let seen = PyList::empty(py);
        if !self.fill(py, observer)? {
            return Ok(seen);
        }
        let mut place = 0;
        while seen.len() < most {
            let found = {
                let source = self.source();
                let start = if place == 0 { source.given } else { 0 };
                let batch = source.waiting.get(place);
                batch.map(|batch| batch.slice(start, batch.num_rows() - start))
            };
            let Some(batch) = found else {
                match self.read(py, observer)? {
                    true => continue,
                    false => break,
                }
            };
            let count = batch.num_rows().min(most - seen.len());
            for row in tuples(py, &batch.slice(0, count))? {
                seen.append(row)?;
            }
            place += 1;
        }
        Ok(seen)
    }

    /// Computes all that is left, and keeps it until it is read.
    #[pyo3(signature = (observer=None))]
    fn load(&self, py: Python<'_>, observer: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        while self.read(py, observer)? {}
        Ok(())
    }

    /// Gives back the last `count` rows that `some` gave.
    fn give_back(&self, count: usize) {
        let mut source = self.source();
        source.given = source.given.saturating_sub(count);
    }

    /// The next batch, or what is left of one; `None` at the end.
    #[pyo3(signature = (observer=None))]
    fn batch(
        &self,
        py: Python<'_>,
        observer: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Batch>> {
        if !self.fill(py, observer)? {
            return Ok(None);
        }
        let Some(batch) = self.take_first() else {
            return Ok(None);
        };
        let plain = py.detach(|| exchange::plain::batch(&batch, &self.plain));
        let plain = plain.map_err(|error| raised(py, error))?;
        Ok(Some(Batch(plain)))
    }

    /// Columns and types, by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        exchange::schema_capsule(py, &self.plain)
    }

    /// What was not read yet, as a stream of batches, by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        slf: &Bound<'py, Self>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // By the standard a producer that cannot cast gives what it has.
        let _ = requested_schema;
        let rows = slf.clone().unbind();
        let schema = Arc::clone(&slf.get().plain);
        let next = move || {
            Python::attach(|py| {
                let batch = rows.get().batch(py, None);
                let batch = batch.map_err(|error| error.to_string())?;
                Ok(batch.map(|batch| batch.0))
            })
        };
        exchange::stream_capsule(slf.py(), schema, Box::new(next))
    }

    /// The same without copying text: columns of it are views.
    fn stream_of_views<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyCapsule>> {
        let rows = slf.clone().unbind();
        let schema = freestone::lists_schema(&slf.get().schema);
        let next = move || {
            Python::attach(|py| match rows.get().fill(py, None) {
                Ok(true) => {
                    let batch = rows.get().take_first();
                    let lists = batch.map(|batch| freestone::as_lists(&batch));
                    lists.transpose().map_err(|error| error.to_string())
                }
                Ok(false) => Ok(None),
                Err(error) => Err(error.to_string()),
            })
        };
        exchange::stream_capsule(slf.py(), schema, Box::new(next))
    }

    /// Ends the result; what was not read is not computed.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.source().close(closed_result()));
    }
}
