//! Constructors: `ARRAY[1, 2]`, `ARRAY[ARRAY[1], ARRAY[2]]`, `list_value(1, 2)`.
//!
//! Arrays within an array have to have equal dimensions. Empty ones and NULLs make it empty if
//! there is nothing else.

use arrow_array::ArrayRef;

use super::lists::{Picker, element_of, kernel};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column};
use crate::functions::ordering::{depth, dimensions};
use crate::functions::{Catalogue, scalar};
use crate::types::Type::{AnyCompatible, AnyCompatibleArray};

/// Adds the constructors; the binder's ARRAY is `list_value`.
pub(super) fn register(c: &mut Catalogue) {
    for name in ["list_value", "list_pack", "array_value"] {
        let made = scalar(name, &[], AnyCompatibleArray, kernel(construct));
        c.add(made.with_nulls().variadic(AnyCompatible));
    }
}

/// An array of the arguments' values.
pub fn construct(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let element = element_of(call.returns);
    let levels = depth(element);
    let sources: Vec<&ArrayRef> = columns.iter().map(|column| &column.array).collect();
    let mut picker = Picker::new(element, &sources, call.rows)?;
    let differing = || {
        Error::new(
            "2202E",
            "multidimensional arrays must have array expressions with matching dimensions",
        )
    };
    for row in 0..call.rows {
        let mut known: Option<Vec<usize>> = None;
        for (source, column) in columns.iter().enumerate() {
            if levels > 0 {
                let given = match column.is_null(row) {
                    true => Vec::new(),
                    false => dimensions(&column.array, column.at(row), levels),
                };
                if *known.get_or_insert_with(|| given.clone()) != given {
                    return Err(differing());
                }
                if given.is_empty() {
                    continue;
                }
            }
            picker.pick(source, column.at(row));
        }
        picker.end_row()?;
    }
    picker.finish()
}
