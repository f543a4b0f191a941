//! Python's objects as parameters.

use freestone::{Error, Parameter};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::failure::raised;

/// Values for a statement, and the types of those that say so.
#[derive(Default)]
pub struct Given {
    pub values: Vec<Parameter>,
    pub types: Vec<Option<&'static str>>,
}

/// The types that values can say they have, and those of lists of them.
const TYPES: [(&str, &str); 7] = [
    ("DATE", "DATE[]"),
    ("TIME", "TIME[]"),
    ("TIMESTAMP", "TIMESTAMP[]"),
    ("TIMESTAMPTZ", "TIMESTAMPTZ[]"),
    ("INTERVAL", "INTERVAL[]"),
    ("UUID", "UUID[]"),
    ("BYTEA", "BYTEA[]"),
];

/// A list or tuple of values.
///
/// # Errors
/// `07006` for an object that no value can be made of.
pub fn parameters(values: Option<&Bound<'_, PyAny>>) -> PyResult<Given> {
    let mut given = Given::default();
    let Some(values) = values else {
        return Ok(given);
    };
    for value in values.try_iter()? {
        let (value, kind) = one(&value?)?;
        given.values.push(value);
        given.types.push(kind);
    }
    // Statements whose values have no types of their own are all known by the same name.
    if given.types.iter().all(Option::is_none) {
        given.types.clear();
    }
    Ok(given)
}

fn one(value: &Bound<'_, PyAny>) -> PyResult<(Parameter, Option<&'static str>)> {
    Ok(if value.is_none() {
        (Parameter::Null, None)
    } else if let Ok(value) = value.cast::<PyBool>() {
        (Parameter::Boolean(value.is_true()), None)
    } else if let Ok(value) = value.cast::<PyInt>() {
        (integer(value)?, None)
    } else if let Ok(value) = value.cast::<PyFloat>() {
        (Parameter::Double(value.value()), None)
    } else if let Ok(value) = value.cast::<PyString>() {
        (Parameter::Text(value.to_cow()?.into_owned()), None)
    } else if let Ok(value) = value.cast::<PyBytes>() {
        (Parameter::Bytes(value.as_bytes().to_vec()), None)
    } else if value.cast::<PyList>().is_ok() || value.is_exact_instance_of::<PyTuple>() {
        list(value)?
    } else {
        other(value)?
    })
}

fn integer(value: &Bound<'_, PyInt>) -> PyResult<Parameter> {
    Ok(match value.extract::<i64>() {
        Ok(number) => Parameter::Integer(number),
        // Digits for a NUMERIC, as far as it goes.
        Err(_) => Parameter::Decimal(value.str()?.to_cow()?.into_owned()),
    })
}

fn list(values: &Bound<'_, PyAny>) -> PyResult<(Parameter, Option<&'static str>)> {
    let (mut items, mut kind) = (Vec::new(), None);
    for value in values.try_iter()? {
        let (item, own) = one(&value?)?;
        items.push(item);
        kind = kind.or(own);
    }
    let of = TYPES.iter().find(|(name, _)| Some(*name) == kind);
    Ok((Parameter::List(items), of.map(|(_, list)| *list)))
}

/// Dates, decimals and what else Python's side of the package knows to write.
fn other(value: &Bound<'_, PyAny>) -> PyResult<(Parameter, Option<&'static str>)> {
    static ADAPT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let adapt = ADAPT.get_or_try_init(py, || {
        let module = py.import("freestone._values")?;
        Ok::<_, PyErr>(module.getattr("adapt")?.unbind())
    })?;
    let (kind, adapted): (Option<String>, Bound<'_, PyAny>) =
        adapt.bind(py).call1((value,))?.extract()?;
    let Some(kind) = kind else {
        return one(&adapted);
    };
    if kind == "DECIMAL" {
        return Ok((Parameter::Decimal(adapted.extract()?), None));
    }
    let known = TYPES.iter().find(|(name, _)| *name == kind);
    let Some((known, _)) = known else {
        let message = format!("values of type {kind} cannot be given");
        return Err(raised(py, Error::new("07006", message)));
    };
    Ok((Parameter::Text(adapted.extract()?), Some(known)))
}
