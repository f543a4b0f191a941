//! A record batch that others take by Arrow's capsules.

use arrow::array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::exchange;

/// Some rows of a result, as Arrow has them. Shape: `num_rows` × columns of the result.
#[pyclass(frozen, module = "freestone")]
pub struct Batch(pub RecordBatch);

#[pymethods]
impl Batch {
    /// Rows in the batch.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// Columns of the batch.
    #[getter]
    fn num_columns(&self) -> usize {
        self.0.num_columns()
    }

    /// Bytes that its values take in memory.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.get_array_memory_size()
    }

    /// The batch's columns and types, by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        exchange::schema_capsule(py, &self.0.schema())
    }

    /// The batch by the Arrow PyCapsule interface, without a copy.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // By the standard a producer that cannot cast gives what it has.
        let _ = requested_schema;
        let schema = self.__arrow_c_schema__(py)?;
        Ok((schema, exchange::batch_capsule(py, &self.0)?))
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        format!(
            "<freestone.Batch of {} rows and {} columns>",
            self.0.num_rows(),
            self.0.num_columns()
        )
    }
}
