//! Errors of the database as exceptions of the package.

use freestone::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The exception for an error; which one is chosen by its SQLSTATE, in Python.
pub fn raised(py: Python<'_>, error: Error) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = MAKE.get_or_try_init(py, || {
        let module = py.import("freestone._errors")?;
        Ok::<_, PyErr>(module.getattr("of_error")?.unbind())
    });
    let (line, column) = error.position.map(|at| (at.line, at.column)).unzip();
    let made = make.and_then(|make| {
        let arguments = (
            error.sqlstate,
            error.message,
            error.detail,
            error.hint,
            line,
            column,
        );
        make.bind(py).call1(arguments)
    });
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(other) => other,
    }
}

/// `08003`: nothing can be asked of a connection that is closed.
pub fn closed(py: Python<'_>) -> PyErr {
    raised(py, Error::new("08003", "the connection is closed"))
}
