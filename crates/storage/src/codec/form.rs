//! In which arrays values are returned.

use super::Dictionary;
use crate::error::Result;
use crate::schema::{ColumnType, Physical};
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, DictionaryArray, UInt32Array};
use arrow_buffer::NullBuffer;
use std::sync::Arc;

/// In which arrays values are returned. Whoever asks for [`ArrayForm::Compact`] must
/// take both: not every place has a compact form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArrayForm {
    /// Arrays of the column's Arrow type.
    #[default]
    Sql,
    /// Decimals of at most 18 digits as the integers that are stored; text with a
    /// dictionary as an array of its codes.
    Compact,
}

impl ArrayForm {
    /// The type to decode stored values as.
    pub fn kind(self, kind: &ColumnType) -> ColumnType {
        match (self, kind, kind.physical()) {
            (ArrayForm::Compact, ColumnType::Decimal { .. }, Physical::I32) => ColumnType::Integer,
            (ArrayForm::Compact, ColumnType::Decimal { .. }, Physical::I64) => ColumnType::BigInt,
            _ => *kind,
        }
    }

    /// Codes below `dictionary`'s entries as an array.
    ///
    /// # Errors
    /// As [`Dictionary::array`].
    pub(super) fn coded(
        self,
        dictionary: &Dictionary,
        codes: Vec<u32>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        if self == ArrayForm::Compact && dictionary.entries() > 0 && dictionary.is_variable() {
            let codes = UInt32Array::new(codes.into(), nulls);
            // Keys were checked against the number of entries.
            let array = DictionaryArray::<UInt32Type>::try_new(codes, dictionary.array()?)?;
            return Ok(Arc::new(array));
        }
        dictionary.decode_as(&codes, nulls, self)
    }
}
