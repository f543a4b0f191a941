//! Values of parameters, as the look-ups of a run are given them.
//!
//! Most are whole numbers or texts that go into a key as they are. They become arrays only for
//! expressions that are computed over arrays: three allocations for each value would be a good part of
//! the time that a look-up takes.

use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayRef, Int16Array, Int32Array, Int64Array, StringViewArray};
use arrow::datatypes::DataType;
use freestone_frontend::types::Type;
use freestone_storage::Value;
use freestone_storage::row::cell;

/// The values of all parameters.
#[derive(Debug, Default)]
pub(crate) struct Parameters<'a> {
    each: Vec<One<'a>>,
    arrays: OnceLock<Vec<ArrayRef>>,
}

/// The value of a parameter.
#[derive(Debug)]
pub(super) enum One<'a> {
    Int2(i16),
    Int4(i32),
    Int8(i64),
    Text(&'a str),
    /// A value of any type, in an array of its own.
    Array(ArrayRef),
}

impl One<'_> {
    fn array(&self) -> ArrayRef {
        match self {
            One::Int2(value) => Arc::new(Int16Array::from(vec![*value])),
            One::Int4(value) => Arc::new(Int32Array::from(vec![*value])),
            One::Int8(value) => Arc::new(Int64Array::from(vec![*value])),
            One::Text(text) => Arc::new(StringViewArray::from(vec![*text])),
            One::Array(array) => Arc::clone(array),
        }
    }

    /// The value as a column stores it; `None` is NULL.
    fn stored(&self) -> Option<Value> {
        match self {
            One::Int2(value) => Some(Value::Int((*value).into())),
            One::Int4(value) => Some(Value::Int((*value).into())),
            One::Int8(value) => Some(Value::Int((*value).into())),
            One::Text(text) => Some(Value::Bytes(text.as_bytes().to_vec())),
            One::Array(array) => cell(array, 0),
        }
    }

    fn is_of(&self, ty: &Type) -> bool {
        match (self, ty) {
            (One::Int2(_), Type::Int2)
            | (One::Int4(_), Type::Int4)
            | (One::Int8(_), Type::Int8) => true,
            (One::Text(_), ty) => ty.arrow() == DataType::Utf8View,
            (One::Array(array), ty) => *array.data_type() == ty.arrow(),
            _ => false,
        }
    }
}

impl<'a> Parameters<'a> {
    pub(super) fn new(each: Vec<One<'a>>) -> Self {
        Self {
            each,
            arrays: OnceLock::new(),
        }
    }

    /// The value of the parameter of a number, from 1, as a column stores it; the outer `None` if
    /// there is no such parameter, the inner one is NULL.
    pub(super) fn stored(&self, number: usize) -> Option<Option<Value>> {
        Some(self.each.get(number.checked_sub(1)?)?.stored())
    }

    /// As [`Parameters::stored`]; `None` if the parameter is of another type, too.
    pub(super) fn stored_as(&self, number: usize, ty: &Type) -> Option<Option<Value>> {
        let one = self.each.get(number.checked_sub(1)?)?;
        one.is_of(ty).then(|| one.stored())
    }

    /// All of them, each in an array of one row.
    pub(super) fn arrays(&self) -> &[ArrayRef] {
        self.arrays
            .get_or_init(|| self.each.iter().map(One::array).collect())
    }
}
