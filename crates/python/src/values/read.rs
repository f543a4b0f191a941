//! Rows of Arrow as tuples of Python.

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, FixedSizeBinaryArray, GenericByteArray,
    GenericByteViewArray, OffsetSizeTrait, PrimitiveArray, RecordBatch,
};
use arrow::datatypes::{
    ArrowPrimitiveType, BinaryViewType, ByteArrayType, DataType, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, GenericBinaryType, GenericStringType,
    Int8Type, Int16Type, Int32Type, Int64Type, StringViewType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use freestone::{Error, said_type};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use super::{nested, time};
use crate::failure::raised;

/// The objects of a column.
pub type Objects<'py> = Vec<Bound<'py, PyAny>>;

/// The rows of a batch.
///
/// # Errors
/// `0A000` for types without a counterpart in Python, `22008` for dates beyond its own.
pub fn tuples<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyList>> {
    let schema = batch.schema();
    let pairs = batch.columns().iter().zip(schema.fields());
    let columns: PyResult<Vec<Objects<'py>>> = pairs
        .map(|(column, field)| objects(py, column, said_type(field)))
        .collect();
    let mut columns: Vec<_> = columns?.into_iter().map(Vec::into_iter).collect();
    let rows = PyList::empty(py);
    for _ in 0..batch.num_rows() {
        let row = columns.iter_mut().filter_map(Iterator::next);
        rows.append(PyTuple::new(py, row.collect::<Objects<'py>>())?)?;
    }
    Ok(rows)
}

/// The values of an array, of the SQL type that is said.
pub fn objects<'py>(
    py: Python<'py>,
    array: &ArrayRef,
    said: Option<&str>,
) -> PyResult<Objects<'py>> {
    use DataType as T;
    match array.data_type() {
        T::Utf8View if said == Some("numeric") => numerics(py, array.as_byte_view()),
        T::Null => Ok(vec![py.None().into_bound(py); array.len()]),
        T::Boolean => booleans(py, array.as_boolean()),
        T::Int8 => numbers::<Int8Type>(py, array),
        T::Int16 => numbers::<Int16Type>(py, array),
        T::Int32 => numbers::<Int32Type>(py, array),
        T::Int64 => numbers::<Int64Type>(py, array),
        T::UInt8 => numbers::<UInt8Type>(py, array),
        T::UInt16 => numbers::<UInt16Type>(py, array),
        T::UInt32 => numbers::<UInt32Type>(py, array),
        T::UInt64 => numbers::<UInt64Type>(py, array),
        T::Float16 => each(py, array, |at| {
            f64::from(array.as_primitive::<Float16Type>().value(at)).into_bound_py_any(py)
        }),
        T::Float32 => each(py, array, |at| {
            real(array.as_primitive::<Float32Type>().value(at)).into_bound_py_any(py)
        }),
        T::Float64 => numbers::<Float64Type>(py, array),
        T::Decimal128(_, _) => decimals::<Decimal128Type>(py, array),
        T::Decimal256(_, _) => decimals::<Decimal256Type>(py, array),
        T::Utf8 => strings::<i32>(py, array.as_bytes::<GenericStringType<i32>>()),
        T::LargeUtf8 => strings::<i64>(py, array.as_bytes::<GenericStringType<i64>>()),
        T::Utf8View => views(py, array.as_byte_view::<StringViewType>()),
        T::Binary => bytes(py, array.as_bytes::<GenericBinaryType<i32>>()),
        T::LargeBinary => bytes(py, array.as_bytes::<GenericBinaryType<i64>>()),
        T::BinaryView => {
            let array = array.as_byte_view::<BinaryViewType>();
            each(py, array, |at| {
                PyBytes::new(py, array.value(at)).into_bound_py_any(py)
            })
        }
        T::FixedSizeBinary(12) => time::zoned(py, array.as_fixed_size_binary()),
        T::FixedSizeBinary(_) => fixed(py, array.as_fixed_size_binary()),
        T::Dictionary(_, values) => match arrow::compute::cast(array, values) {
            Ok(plain) => objects(py, &plain, said),
            Err(error) => Err(raised(py, Error::new("XX000", error.to_string()))),
        },
        T::Date32 | T::Date64 | T::Time32(_) | T::Time64(_) => time::days(py, array),
        T::Timestamp(_, _) | T::Duration(_) | T::Interval(_) => time::moments(py, array),
        _ => nested::objects(py, array, said),
    }
}

/// An object for each value that is not NULL.
pub fn each<'py>(
    py: Python<'py>,
    array: &dyn Array,
    make: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Objects<'py>> {
    let none = py.None().into_bound(py);
    (0..array.len())
        .map(|at| match array.is_null(at) {
            true => Ok(none.clone()),
            false => make(at),
        })
        .collect()
}

fn booleans<'py>(py: Python<'py>, array: &BooleanArray) -> PyResult<Objects<'py>> {
    each(py, array, |at| array.value(at).into_bound_py_any(py))
}

fn numbers<'py, T>(py: Python<'py>, array: &ArrayRef) -> PyResult<Objects<'py>>
where
    T: ArrowPrimitiveType,
    T::Native: IntoPyObject<'py>,
{
    let array: &PrimitiveArray<T> = array.as_primitive();
    each(py, array, |at| array.value(at).into_bound_py_any(py))
}

/// The number that has the same digits: 0.1 stays 0.1.
fn real(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// Decimals of Python, made of digits.
fn decimal<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static DECIMAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    DECIMAL.import(py, "decimal", "Decimal")
}

/// Numbers that come as their digits, each with as many as it has.
fn numerics<'py>(
    py: Python<'py>,
    array: &GenericByteViewArray<StringViewType>,
) -> PyResult<Objects<'py>> {
    let decimal = decimal(py)?;
    each(py, array, |at| decimal.call1((array.value(at),)))
}

fn decimals<'py, T: DecimalType>(py: Python<'py>, array: &ArrayRef) -> PyResult<Objects<'py>> {
    let decimal = decimal(py)?;
    let array: &PrimitiveArray<T> = array.as_primitive();
    each(py, array, |at| decimal.call1((array.value_as_string(at),)))
}

fn strings<'py, O: OffsetSizeTrait>(
    py: Python<'py>,
    array: &GenericByteArray<GenericStringType<O>>,
) -> PyResult<Objects<'py>> {
    each(py, array, |at| {
        PyString::new(py, array.value(at)).into_bound_py_any(py)
    })
}

fn views<'py>(
    py: Python<'py>,
    array: &GenericByteViewArray<StringViewType>,
) -> PyResult<Objects<'py>> {
    each(py, array, |at| {
        PyString::new(py, array.value(at)).into_bound_py_any(py)
    })
}

fn bytes<'py, T: ByteArrayType<Native = [u8]>>(
    py: Python<'py>,
    array: &GenericByteArray<T>,
) -> PyResult<Objects<'py>> {
    each(py, array, |at| {
        PyBytes::new(py, array.value(at)).into_bound_py_any(py)
    })
}

/// Sixteen bytes are a UUID.
fn fixed<'py>(py: Python<'py>, array: &FixedSizeBinaryArray) -> PyResult<Objects<'py>> {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let uuid = MAKE.import(py, "freestone._values", "uuid_of")?;
    let is_uuid = array.value_length() == 16;
    each(py, array, |at| {
        let bytes = PyBytes::new(py, array.value(at));
        match is_uuid {
            true => uuid.call1((bytes,)),
            false => bytes.into_bound_py_any(py),
        }
    })
}
