//! Constants of conditions in Arrow's form.
//!
//! Kernels compare arrays with an array of one. Zone maps, codes and indexes decide most
//! conditions without a kernel, so that a constant becomes an array only when a kernel asks for it:
//!
//! ```text
//! k = 7      look-up by an index      7 as a value
//!            scan of the delta        7 as a value, then [7] for the kernel
//! ```

use crate::codec::fixed_to_arrow;
use crate::delta::stored_key;
use crate::error::{Error, Result};
use crate::schema::{ColumnType, Physical, Value};
use arrow_array::{ArrayRef, BinaryViewArray, Decimal128Array, StringViewArray};
use arrow_buffer::Buffer;
use std::sync::{Arc, OnceLock};

/// The constants of a condition, each as an array of one.
#[derive(Clone, Debug)]
pub struct Constants {
    kind: ColumnType,
    arrays: OnceLock<Vec<ArrayRef>>,
}

impl Constants {
    /// Of values of a type.
    pub fn of(kind: ColumnType) -> Constants {
        Constants {
            kind,
            arrays: OnceLock::new(),
        }
    }

    /// The arrays of the condition's values, which are always the same.
    ///
    /// # Errors
    /// 42804 for a value that is not of the type.
    pub fn arrays(&self, values: &[Value]) -> Result<&[ArrayRef]> {
        if let Some(arrays) = self.arrays.get() {
            return Ok(arrays);
        }
        let arrays = values.iter().map(|value| array(value, &self.kind));
        let arrays = arrays.collect::<Result<Vec<ArrayRef>>>()?;
        Ok(self.arrays.get_or_init(|| arrays))
    }
}

/// A value as an array of one, of the Arrow type that scans return.
fn array(value: &Value, kind: &ColumnType) -> Result<ArrayRef> {
    let mismatch = || Error::invalid("42804", format!("{value} is no value of type {kind}"));
    if let (Value::Int(value), ColumnType::Decimal { precision, scale }) = (value, kind) {
        // A bound of a decimal may be one that no decimal of the type equals.
        let array = Decimal128Array::from(vec![*value]);
        let array = array.with_precision_and_scale(*precision, *scale)?;
        return Ok(Arc::new(array));
    }
    let physical = kind.physical();
    let stored = stored_key(value, physical).ok_or_else(mismatch)?;
    match physical {
        Physical::Bytes { text: true } => {
            let text = std::str::from_utf8(&stored).map_err(|_| mismatch())?;
            Ok(Arc::new(StringViewArray::from(vec![text])))
        }
        Physical::Bytes { text: false } => Ok(Arc::new(BinaryViewArray::from(vec![&stored[..]]))),
        _ => fixed_to_arrow(kind, 1, Buffer::from(&stored[..]), None),
    }
}
