//! The core below the Python package `freestone`: databases, sessions, results and
//! values of Python. What users see (DB-API, parameters by name, printing, progress bars)
//! is Python, in `crates/python/python/freestone`.
//!
//! | module | concern |
//! |---|---|
//! | `open` | databases that are open in this process |
//! | `connection` | a session: statements, parameters, frames that they name |
//! | `rows`, `batch` | results as they are read |
//! | `waiting` | threads for queries; Ctrl-C, interrupts, progress |
//! | `values` | between Arrow's values, parameters and Python's objects |
//! | `exchange` | Arrow's C data interface and its capsules |
//! | `failure` | errors as exceptions |

mod batch;
mod connection;
mod exchange;
mod failure;
mod many;
mod open;
mod rows;
mod session;
mod values;
mod waiting;

use pyo3::prelude::*;

/// The core of the package `freestone`; use that.
#[pymodule]
fn _freestone(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<connection::Connection>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<batch::Batch>()
}
