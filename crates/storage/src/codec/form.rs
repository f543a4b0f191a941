//! In which arrays values are returned.

use super::Dictionary;
use crate::error::Result;
use crate::schema::{ColumnType, Physical};
use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;

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
            return super::views::coded(codes, nulls, dictionary.array()?);
        }
        dictionary.decode_as(&codes, nulls, self)
    }
}
