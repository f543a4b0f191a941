//! Constructors: `ARRAY[1, 2]`, `ARRAY[ARRAY[1], ARRAY[2]]`, `list_value(1, 2)`.
//!
//! Arrays within an array have to have equal bounds, and it has one dimension more. Empty ones
//! and NULLs make it empty if there is nothing else.

use arrow_array::ArrayRef;

use super::lists::{Lists, Picker, element_of, kernel};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column};
use crate::functions::{Catalogue, scalar};
use crate::types::Type::{AnyCompatible, AnyCompatibleArray};
use crate::types::arrays::{Bounds, element_type};
use crate::values::array_text::{MOST_DIMENSIONS, too_many_dimensions};

/// Adds the constructors; the binder's ARRAY is `list_value`.
pub(super) fn register(c: &mut Catalogue) {
    for name in ["list_value", "list_pack", "array_value"] {
        let made = scalar(name, &[], AnyCompatibleArray, kernel(construct));
        c.add(made.with_nulls().variadic(AnyCompatible));
    }
}

/// An array of the arguments' values.
///
/// # Errors
/// `2202E` for arrays of unequal bounds, `54000` for too many dimensions or elements.
pub fn construct(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let element = element_of(call.returns);
    let mut columns_of_arrays = columns.iter().map(|column| column.array.data_type());
    let is_nested = columns_of_arrays.any(|held| element_type(held).is_some());
    if is_nested {
        return nested(call, columns);
    }
    let sources: Vec<&ArrayRef> = columns.iter().map(|column| &column.array).collect();
    let mut picker = Picker::new(element, &sources, call.rows)?;
    for row in 0..call.rows {
        for (source, column) in columns.iter().enumerate() {
            picker.pick(source, column.at(row));
        }
        picker.end_row()?;
    }
    picker.finish()
}

/// An array of arrays.
fn nested(call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let lists = columns.iter().map(Lists::of).collect::<Result<Vec<_>>>()?;
    let sources: Vec<&ArrayRef> = lists.iter().map(|list| &list.values).collect();
    let mut picker = Picker::new(element_of(call.returns), &sources, call.rows)?;
    for row in 0..call.rows {
        let mut known: Option<Bounds> = None;
        let mut has_empty = false;
        for (source, list) in lists.iter().enumerate() {
            let bounds = list.bounds(row);
            if bounds.lengths.is_empty() {
                has_empty = true;
                continue;
            }
            match &known {
                Some(known) if *known != bounds => return Err(differing()),
                Some(_) => {}
                None if bounds.dimensions() >= MOST_DIMENSIONS => {
                    return Err(too_many_dimensions(bounds.dimensions() + 1));
                }
                None => known = Some(bounds),
            }
            picker.pick_all(source, list.range(row).unwrap_or_default());
        }
        match known {
            Some(_) if has_empty => return Err(differing()),
            Some(inner) => picker.end_bounded(&within(lists.len(), 1, &inner))?,
            None => picker.end_row()?,
        }
    }
    picker.finish()
}

/// The bounds of an array of a number of arrays.
pub(super) fn within(length: usize, low: i32, inner: &Bounds) -> Bounds {
    let (mut lengths, mut lows) = (vec![length], vec![low]);
    lengths.extend(&inner.lengths);
    lows.extend(&inner.lows);
    Bounds { lengths, lows }
}

fn differing() -> Error {
    Error::new(
        "2202E",
        "multidimensional arrays must have array expressions with matching dimensions",
    )
}
