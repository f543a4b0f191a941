//! Functions that give the value of another row: by its distance, or by its place in the frame.
//!
//! With IGNORE NULLS, rows whose value is NULL are not counted:
//!
//! ```text
//! x                                1 NULL NULL   4
//! lag(x) IGNORE NULLS           NULL    1    1   1
//! last_value(x) IGNORE NULLS       1    1    1   4     (frame: up to the row itself)
//! ```
//!
//! Each row's answer is found by counts of the counted rows before each place, in constant
//! time. Results are taken from the argument by the rows' numbers in one go.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_select::interleave::interleave;
use arrow_select::take::take;

use super::{Catalogue, Partition, WindowFunction, WindowKernel};
use crate::error::{Error, Result};
use crate::functions::Returns;
use crate::functions::arrays::lists::reformed;
use crate::functions::kernel::{Call, I32, Input};
use crate::types::Type;

/// The rows that are counted: all, or those without NULL.
struct Counted {
    /// The counted rows in order; `None` if all are.
    rows: Option<Vec<usize>>,
    /// The counted rows before each row, and in all.
    before: Vec<usize>,
}

impl Counted {
    fn of(partition: &Partition<'_>, values: &ArrayRef) -> Self {
        if !partition.ignore_nulls || values.null_count() == 0 {
            let (rows, before) = (None, Vec::new());
            return Self { rows, before };
        }
        let mut rows = Vec::with_capacity(partition.rows - values.null_count());
        let mut before = Vec::with_capacity(partition.rows + 1);
        for row in 0..partition.rows {
            before.push(rows.len());
            if !values.is_null(row) {
                rows.push(row);
            }
        }
        before.push(rows.len());
        let rows = Some(rows);
        Self { rows, before }
    }

    /// Counted rows before a row.
    fn before(&self, row: usize) -> usize {
        match self.rows {
            Some(_) => self.before.get(row).copied().unwrap_or(0),
            None => row,
        }
    }

    /// The counted row with that many counted ones before it.
    fn at(&self, number: usize) -> Option<usize> {
        match &self.rows {
            Some(rows) => rows.get(number).copied(),
            None => Some(number),
        }
    }

    /// The counted row of ranges with that many counted ones in the ranges before it.
    fn nth(&self, ranges: &[std::ops::Range<usize>], mut number: usize) -> Option<usize> {
        for range in ranges {
            let first = self.before(range.start);
            let count = self.before(range.end).saturating_sub(first);
            if number < count {
                return self.at(first + number);
            }
            number -= count;
        }
        None
    }

    /// The last counted row of ranges.
    fn last(&self, ranges: &[std::ops::Range<usize>]) -> Option<usize> {
        ranges.iter().rev().find_map(|range| {
            let end = self.before(range.end);
            let any = end > self.before(range.start);
            any.then(|| self.at(end - 1)).flatten()
        })
    }
}

/// The row that is a distance away; `None` outside of the partition.
fn distant(counted: &Counted, rows: usize, row: usize, distance: i64) -> Option<usize> {
    let steps = usize::try_from(distance.unsigned_abs()).ok()?;
    if steps == 0 {
        return Some(row);
    }
    let found = match distance > 0 {
        // The row itself may not be counted.
        true => counted.before(row + 1).checked_add(steps - 1)?,
        false => counted.before(row).checked_sub(steps)?,
    };
    counted.at(found).filter(|found| *found < rows)
}

/// `lag` and `lead`.
fn shifted(sign: i64) -> WindowKernel {
    Arc::new(move |call, partition| {
        // NUMERIC values and defaults may come with scales of their own.
        let values = &reformed(partition.argument(0)?, call.returns)?;
        let counted = Counted::of(partition, values);
        let offsets = partition.arguments.get(1);
        let reader = offsets.map(I32::reader).transpose()?;
        let default = partition.arguments.get(2);
        let default = default
            .map(|array| reformed(array, call.returns))
            .transpose()?;
        let mut found = Vec::with_capacity(partition.rows);
        // A NULL offset gives NULL, a row outside the default.
        let mut outside = vec![false; partition.rows];
        for (row, outside) in outside.iter_mut().enumerate() {
            let offset = match (offsets, &reader) {
                (Some(offsets), _) if offsets.is_null(row) => {
                    found.push(None);
                    continue;
                }
                (_, Some(reader)) => i64::from(reader.value(row)),
                _ => 1,
            };
            let row = distant(&counted, partition.rows, row, sign * offset);
            *outside = row.is_none();
            found.push(row);
        }
        match &default {
            Some(default) if outside.contains(&true) => {
                let nulls = arrow_array::new_null_array(values.data_type(), 1);
                let places = found.iter().enumerate().map(|(row, found)| match found {
                    Some(found) => (0, *found),
                    None if outside[row] => (1, row),
                    None => (2, 0),
                });
                let places: Vec<(usize, usize)> = places.collect();
                Ok(interleave(&[values, default, &nulls], &places)?)
            }
            _ => taken(values, found),
        }
    })
}

/// The values at places; NULL where there is none.
fn taken(values: &ArrayRef, rows: Vec<Option<usize>>) -> Result<ArrayRef> {
    let rows = rows.into_iter().map(|row| row.map(|row| row as u64));
    let rows: UInt64Array = rows.collect();
    Ok(take(values, &rows, None)?)
}

fn first_value(_: &Call<'_>, partition: &Partition<'_>) -> Result<ArrayRef> {
    let values = partition.argument(0)?;
    let counted = Counted::of(partition, values);
    let rows = (0..partition.rows).map(|row| counted.nth(&(partition.frame)(row), 0));
    taken(values, rows.collect())
}

fn last_value(_: &Call<'_>, partition: &Partition<'_>) -> Result<ArrayRef> {
    let values = partition.argument(0)?;
    let counted = Counted::of(partition, values);
    let rows = (0..partition.rows).map(|row| counted.last(&(partition.frame)(row)));
    taken(values, rows.collect())
}

fn nth_value(_: &Call<'_>, partition: &Partition<'_>) -> Result<ArrayRef> {
    let (values, numbers) = (partition.argument(0)?, partition.argument(1)?);
    let reader = I32::reader(numbers)?;
    let counted = Counted::of(partition, values);
    let mut found = Vec::with_capacity(partition.rows);
    for row in 0..partition.rows {
        if numbers.is_null(row) {
            found.push(None);
            continue;
        }
        let number = usize::try_from(reader.value(row)).unwrap_or(0);
        let Some(number) = number.checked_sub(1) else {
            let message = "argument of nth_value must be greater than zero";
            return Err(Error::new("22016", message));
        };
        found.push(counted.nth(&(partition.frame)(row), number));
    }
    taken(values, found)
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{AnyCompatible, AnyElement, Int4};
    let mut add = |name, parameters: &[Type], optional, returns: Type, kernel| {
        c.add_window(WindowFunction {
            name,
            parameters: parameters.to_vec(),
            optional,
            returns: Returns::from(returns),
            nulls: true,
            framed: !matches!(name, "lag" | "lead"),
            kernel,
        });
    };
    let shift = [AnyCompatible, Int4, AnyCompatible];
    add("lag", &shift, 2, AnyCompatible, shifted(-1));
    add("lead", &shift, 2, AnyCompatible, shifted(1));
    let element = [AnyElement];
    add(
        "first_value",
        &element,
        0,
        AnyElement,
        Arc::new(first_value),
    );
    add("last_value", &element, 0, AnyElement, Arc::new(last_value));
    let nth = [AnyElement, Int4];
    add("nth_value", &nth, 0, AnyElement, Arc::new(nth_value));
}
