//! CASE and COALESCE: each row takes the value of one of several expressions, and only that
//! one is computed for it.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow_select::interleave::interleave;

use super::truth::{self, Truth};
use super::{Input, evaluate, evaluate_rows};
use crate::error::Result;
use crate::functions::kernel::Column;
use crate::plan::Expr;
use crate::types::Type;

/// Values for some rows each, as they come.
struct Choice {
    rows: usize,
    pieces: Vec<ArrayRef>,
    /// The piece and the place in it of each row's value.
    places: Vec<(usize, usize)>,
    /// Rows that have no value; `None` for all.
    left: Option<UInt32Array>,
}

impl Choice {
    /// For rows that are NULL as long as nothing is chosen.
    fn new(rows: usize, ty: &Type) -> Self {
        Self {
            rows,
            pieces: vec![new_null_array(&ty.arrow(), 1)],
            places: Vec::new(),
            left: None,
        }
    }

    fn row(&self, at: usize) -> usize {
        self.left
            .as_ref()
            .map_or(at, |left| left.value(at) as usize)
    }

    fn left(&self) -> usize {
        self.left.as_ref().map_or(self.rows, UInt32Array::len)
    }

    fn evaluate(&self, expr: &Expr, input: &Input<'_>) -> Result<Column> {
        match &self.left {
            Some(left) => evaluate_rows(expr, left, input),
            None => evaluate(expr, input),
        }
    }

    /// Gives values to rows: the value at a place of a column to a row, each.
    fn give(&mut self, value: &Column, rows: impl Iterator<Item = (usize, usize)>) {
        if self.places.is_empty() {
            self.places = vec![(0, 0); self.rows];
        }
        for (at, row) in rows {
            self.places[row] = (self.pieces.len(), value.at(at));
        }
        self.pieces.push(Arc::clone(&value.array));
    }

    fn finish(self) -> Result<Column> {
        let Some(first) = self.pieces.get(1) else {
            return Ok(Column::constant(Arc::clone(&self.pieces[0])));
        };
        let pieces: Vec<&dyn Array> = self.pieces.iter().map(AsRef::as_ref).collect();
        // All rows may have got the values of one expression, one by one.
        let whole = |(at, place): (usize, &(usize, usize))| *place == (1, at);
        if first.len() == self.rows && self.places.iter().enumerate().all(whole) {
            return Ok(Column::rows(Arc::clone(first)));
        }
        Ok(Column::rows(interleave(&pieces, &self.places)?))
    }
}

#[inline(never)]
pub(super) fn case(
    branches: &[(Expr, Expr)],
    otherwise: Option<&Expr>,
    ty: &Type,
    input: &Input<'_>,
) -> Result<Column> {
    let mut choice = Choice::new(input.rows, ty);
    for (when, then) in branches {
        let condition = choice.evaluate(when, input)?;
        match condition.constant {
            true if truth::single(&condition)? == Some(true) => {
                return rest(choice, Some(then), input);
            }
            true => {}
            false => branch(&mut choice, &condition, then, input)?,
        }
        if choice.left() == 0 {
            return choice.finish();
        }
    }
    rest(choice, otherwise, input)
}

/// Gives a branch's value to the rows for which its condition is TRUE.
#[inline(never)]
fn branch(choice: &mut Choice, condition: &Column, then: &Expr, input: &Input<'_>) -> Result<()> {
    let truth = Truth::of(condition, choice.left())?;
    let (hits, misses) = (truth.yes.count_set_bits(), truth.yes.len());
    if hits == 0 {
        return Ok(());
    }
    let rows_of = |set: &arrow_buffer::BooleanBuffer| -> UInt32Array {
        set.set_indices().map(|at| choice.row(at) as u32).collect()
    };
    let (taken, left) = (rows_of(&truth.yes), rows_of(&!&truth.yes));
    let value = match hits == misses && choice.left.is_none() {
        true => evaluate(then, input)?,
        false => evaluate_rows(then, &taken, input)?,
    };
    let taken = taken.values().iter().map(|row| *row as usize);
    choice.give(&value, taken.enumerate());
    choice.left = Some(left);
    Ok(())
}

/// Gives an expression's value to all rows that have none.
#[inline(never)]
fn rest(mut choice: Choice, expr: Option<&Expr>, input: &Input<'_>) -> Result<Column> {
    let Some(expr) = expr else {
        return choice.finish();
    };
    let value = choice.evaluate(expr, input)?;
    if choice.left.is_none() {
        return Ok(value);
    }
    let rows: Vec<usize> = (0..choice.left()).map(|at| choice.row(at)).collect();
    choice.give(&value, rows.into_iter().enumerate());
    choice.finish()
}

#[inline(never)]
pub(super) fn coalesce(values: &[Expr], ty: &Type, input: &Input<'_>) -> Result<Column> {
    let mut choice = Choice::new(input.rows, ty);
    for expr in values {
        let value = choice.evaluate(expr, input)?;
        if value.constant && value.is_null(0) {
            continue;
        }
        let nulls = value.array.logical_nulls().filter(|n| n.null_count() > 0);
        if choice.left.is_none() && nulls.is_none() {
            return Ok(value);
        }
        let known = |at: &usize| nulls.as_ref().is_none_or(|n| n.is_valid(value.at(*at)));
        let given: Vec<_> = (0..choice.left())
            .filter(known)
            .map(|at| (at, choice.row(at)))
            .collect();
        let left: UInt32Array = (0..choice.left())
            .filter(|at| !known(at))
            .map(|at| choice.row(at) as u32)
            .collect();
        choice.give(&value, given.into_iter());
        choice.left = Some(left);
        if choice.left() == 0 {
            break;
        }
    }
    choice.finish()
}
