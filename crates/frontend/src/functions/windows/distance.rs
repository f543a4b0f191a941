//! The values at which frames of RANGE with a distance start and end.
//!
//! ```text
//! x            1   2147483640  2147483647
//! x + 10      11         NULL        NULL     beyond INTEGER: behind all rows
//! ```
//!
//! A sum must not fail where the value plus the distance is none of its type: such a value is
//! NULL here, and for a time of day one that no day has. Other types are added by their
//! operators, which fail as PostgreSQL's frames do.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::IntervalMonthDayNanoType;
use arrow_array::{Array, ArrayRef, new_empty_array, new_null_array};

use super::frame::{boundary, negative_offset};
use crate::error::{Error, Result};
use crate::functions::aggregates::Direction;
use crate::functions::kernel::{Call, Column, Input, Num, Output, number, repeated};
use crate::functions::{Scalar, scalar};
use crate::types::Type;
use crate::values::{Interval, Numeric};

/// An end of a frame with a distance.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Whether the frame starts here.
    pub is_start: bool,
    /// Whether it lies before the row.
    pub is_preceding: bool,
    /// Whether the order descends.
    pub descending: bool,
}

impl Edge {
    /// A name for each kind of edge, so that calls of two kinds are not taken for one.
    fn name(self) -> &'static str {
        match (self.is_start, self.is_preceding, self.descending) {
            (true, true, false) => "frame start before",
            (true, true, true) => "frame start before, descending",
            (true, false, false) => "frame start behind",
            (true, false, true) => "frame start behind, descending",
            (false, true, false) => "frame end before",
            (false, true, true) => "frame end before, descending",
            (false, false, false) => "frame end behind",
            (false, false, true) => "frame end behind, descending",
        }
    }

    /// The numeric sum. What is infinite minus what is infinite is a value that has all others
    /// on the frame's side.
    fn numeric(self, key: &Numeric, by: &Numeric) -> Result<Numeric> {
        let sum = match self.is_preceding != self.descending {
            true => key.sub(by)?,
            false => key.add(by)?,
        };
        Ok(match sum.is_nan() && !key.is_nan() {
            true if self.is_start != self.descending => Numeric::NEG_INFINITY,
            true => Numeric::INFINITY,
            false => sum,
        })
    }
}

/// The function of an order's value and a distance that gives the value at which a frame ends.
/// `operator` adds or subtracts them, and gives `returns`.
pub fn at_distance(edge: Edge, operator: &Scalar, returns: &Type) -> Scalar {
    let add = Arc::clone(&operator.kernel);
    let kernel = move |call: &Call<'_>, columns: &[Column]| {
        let [keys, distance] = columns else {
            return Err(Error::internal("a frame's end without its distance"));
        };
        if call.rows == 0 {
            return Ok(new_empty_array(&call.returns.arrow()));
        }
        if distance.is_null(0) {
            return Ok(new_null_array(&call.returns.arrow(), call.rows));
        }
        let by = distance.array.slice(0, 1);
        let rows = match keys.constant {
            true => repeated(Arc::clone(&keys.array), call.rows),
            false => Arc::clone(&keys.array),
        };
        if let Type::Numeric(_) = call.returns {
            return numerics(edge, call, &rows, &by);
        }
        let direction = Direction {
            descending: edge.descending,
            nulls_first: false,
        };
        if let Some(found) = boundary(&rows, &by, edge.is_start, edge.is_preceding, direction)? {
            return Ok(found);
        }
        let spans = by.as_primitive_opt::<IntervalMonthDayNanoType>();
        let is_negative = match spans {
            Some(spans) => Interval::from(spans.value(0)).length() < 0,
            None => number(&by).is_some_and(|by| by < 0.0),
        };
        if is_negative && rows.null_count() < rows.len() {
            return Err(negative_offset());
        }
        add(call, columns)
    };
    let mut function = scalar(
        edge.name(),
        &operator.parameters,
        returns.clone(),
        Arc::new(kernel),
    );
    function.volatility = operator.volatility;
    function
}

fn numerics(edge: Edge, call: &Call<'_>, keys: &ArrayRef, by: &ArrayRef) -> Result<ArrayRef> {
    let by = Num::get(&Num::reader(by)?, by, 0);
    let mut sums = Num::writer(call.returns, keys.len());
    let reader = Num::reader(keys)?;
    for row in 0..keys.len() {
        if keys.is_null(row) {
            Num::null(&mut sums);
            continue;
        }
        if by.is_nan() || by.sign() < 0 {
            return Err(negative_offset());
        }
        Num::put(&mut sums, edge.numeric(&Num::get(&reader, keys, row), &by)?)?;
    }
    Ok(Num::finish(sums))
}
