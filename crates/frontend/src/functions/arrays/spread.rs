//! `f(a, VARIADIC array)`: the elements of an array as the last arguments of a function.
//!
//! Rows whose arrays have the same number of elements are computed together. Dimensions do not
//! matter.

use std::collections::BTreeMap;

use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow_select::interleave::interleave;
use arrow_select::take::take;

use super::lists::{Lists, argument_type, kernel};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, Column};
use crate::functions::{Returns, Scalar};
use crate::types::Type;

/// A function that takes the elements of its last argument as arguments.
pub fn spread(function: &Scalar, parameters: &[Type], returns: &Type) -> Scalar {
    let inner = function.clone();
    Scalar {
        name: "variadic",
        parameters: parameters.to_vec(),
        variadic: None,
        names: &[],
        defaults: &[],
        returns: Returns::Type(returns.clone()),
        volatility: function.volatility,
        strict: function.strict,
        kernel: kernel(move |call, columns| called(&inner, call, columns)),
    }
}

fn called(inner: &Scalar, call: &Call<'_>, columns: &[Column]) -> Result<ArrayRef> {
    let Some((array, fixed)) = columns.split_last() else {
        return Err(Error::internal("VARIADIC without an array"));
    };
    let lists = Lists::of(array)?;
    let element = argument_type(call, fixed.len())?.innermost();
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for row in 0..call.rows {
        match lists.range(row) {
            Some(range) => groups.entry(range.len()).or_default().push(row),
            // Where there is no array, `format` has no arguments, and other functions are NULL.
            None if inner.name == "format" => groups.entry(0).or_default().push(row),
            None => {}
        }
    }
    let null = new_null_array(&call.returns.arrow(), 1);
    let mut results = vec![null];
    let mut picks = vec![(0, 0); call.rows];
    for (count, rows) in groups {
        let mut given = Vec::with_capacity(fixed.len() + count);
        let mut types = call.types.get(..fixed.len()).unwrap_or_default().to_vec();
        types.resize(fixed.len() + count, element.clone());
        for column in fixed {
            let places = rows.iter().map(|row| column.at(*row) as u32);
            let places = places.collect::<UInt32Array>();
            given.push(Column::rows(take(&column.array, &places, None)?));
        }
        for number in 0..count {
            let places = rows
                .iter()
                .map(|row| lists.range(*row).map(|range| (range.start + number) as u32));
            let places = places.collect::<UInt32Array>();
            given.push(Column::rows(take(&lists.values, &places, None)?));
        }
        let call = Call {
            rows: rows.len(),
            types: &types,
            ..*call
        };
        let result = (inner.kernel)(&call, &given)?;
        for (at, row) in rows.into_iter().enumerate() {
            if let Some(pick) = picks.get_mut(row) {
                *pick = (results.len(), at);
            }
        }
        results.push(result);
    }
    let results: Vec<&dyn Array> = results.iter().map(AsRef::as_ref).collect();
    Ok(interleave(&results, &picks)?)
}
