//! Arrays, lists, structs and maps as lists and dictionaries.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType;
use freestone::{Arrays, Error, said_of_element, said_of_elements, said_type};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::read::{self, Objects, each};
use crate::failure::raised;

/// The values of an array of nested values.
///
/// # Errors
/// `0A000` for a type that has no counterpart in Python.
pub fn objects<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    said: Option<&str>,
) -> PyResult<Objects<'py>> {
    let of_items = match array.data_type() {
        DataType::List(item) => said_of_elements(said, item),
        _ => None,
    };
    let list = |items: ArrayRef| {
        PyList::new(py, read::objects(py, &items, of_items)?)?.into_bound_py_any(py)
    };
    match array.data_type() {
        DataType::List(_) => each(py, array, |at| list(array.as_list::<i32>().value(at))),
        DataType::LargeList(_) => each(py, array, |at| list(array.as_list::<i64>().value(at))),
        DataType::ListView(_) => each(py, array, |at| list(array.as_list_view::<i32>().value(at))),
        DataType::LargeListView(_) => {
            each(py, array, |at| list(array.as_list_view::<i64>().value(at)))
        }
        DataType::FixedSizeList(_, _) => {
            each(py, array, |at| list(array.as_fixed_size_list().value(at)))
        }
        DataType::Struct(_) if let Some(arrays) = Arrays::read(array) => {
            let objects = read::objects(py, arrays.values(), said_of_element(said))?;
            each(py, array, |at| {
                let range = arrays.range(at);
                let objects = objects.get(range).unwrap_or_default();
                dimensions(py, objects, &arrays.bounds(at).lengths)
            })
        }
        DataType::Struct(fields) => {
            let pairs = array.as_struct().columns().iter().zip(fields);
            let columns: PyResult<Vec<Objects<'py>>> = pairs
                .map(|(column, field)| read::objects(py, column, said_type(field)))
                .collect();
            let columns = columns?;
            each(py, array, |at| {
                let record = PyDict::new(py);
                for (field, column) in fields.iter().zip(&columns) {
                    record.set_item(field.name(), &column[at])?;
                }
                record.into_bound_py_any(py)
            })
        }
        DataType::Map(_, _) => each(py, array, |at| {
            let entries = array.as_map().value(at);
            let map = PyDict::new(py);
            let keys = read::objects(py, entries.column(0), None)?;
            for (key, value) in keys.iter().zip(read::objects(py, entries.column(1), None)?) {
                map.set_item(key, value)?;
            }
            map.into_bound_py_any(py)
        }),
        other => {
            let kind = freestone::type_name(other);
            let error = Error::unsupported(format!("values of type {kind} have no Python type"))
                .with_hint("take the result as Arrow: fetch_arrow()");
            Err(raised(py, error))
        }
    }
}

/// A list of lists for each dimension but the last.
fn dimensions<'py>(
    py: Python<'py>,
    objects: &[Bound<'py, PyAny>],
    lengths: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let size: usize = lengths.iter().skip(1).product();
    if lengths.len() < 2 || size == 0 {
        return PyList::new(py, objects)?.into_bound_py_any(py);
    }
    let inner = lengths.get(1..).unwrap_or_default();
    let parts = objects.chunks(size).map(|part| dimensions(py, part, inner));
    let parts = parts.collect::<PyResult<Objects<'py>>>()?;
    PyList::new(py, parts)?.into_bound_py_any(py)
}
