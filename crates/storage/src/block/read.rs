//! Reading columns of a block, and testing conditions on their codes.

use super::places::{Found as FoundColumn, repeated};
use super::{Block, Part};
use crate::codec::fields::Rows;
use crate::codec::{ArrayForm, CodeTest};
use crate::error::{Error, Result};
use crate::format::SectionKind;
#[cfg(doc)]
use crate::layout::Stripe;
use crate::predicate::Leaf;
use crate::row::{Row, cell};
use crate::schema::{Column, Layout, Value};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use std::ops::Range;

impl Block {
    /// Reads `column` in `rows`.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn read(&self, column: usize, rows: Range<usize>) -> Result<ArrayRef> {
        self.read_rows(column, &Rows::Range(rows), ArrayForm::Sql)
    }

    /// Reads `column` in `rows` in some form.
    ///
    /// # Errors
    /// As [`Block::read`].
    pub(crate) fn read_rows(
        &self,
        column: usize,
        rows: &Rows<'_>,
        form: ArrayForm,
    ) -> Result<ArrayRef> {
        match self.find_column(column)? {
            FoundColumn::Own(column) => match self.overlay(column) {
                Some((block, place)) => block.read_rows(place, rows, form),
                None => self.read_own(column, rows, form),
            },
            FoundColumn::Missing(one, _) => repeated(&one, rows.count()),
        }
    }

    /// The runs of a column in `rows`, if it is stored so, see [`Stripe::runs`].
    ///
    /// # Errors
    /// As [`Block::read`].
    pub(crate) fn runs(
        &self,
        column: usize,
        rows: Range<usize>,
    ) -> Result<Option<(Vec<i64>, Vec<u32>)>> {
        let FoundColumn::Own(column) = self.find_column(column)? else {
            return Ok(None);
        };
        if let Some((block, place)) = self.overlay(column) {
            return block.runs(place, rows);
        }
        Ok(match self.part(column)? {
            Part::Stripe(stripe) => {
                let runs = stripe.runs(rows);
                runs.map(|(values, ends)| (values.to_vec(), ends.to_vec()))
            }
            Part::Tuples(store) => store.runs(column, rows)?,
            Part::Index(_) => None,
        })
    }

    pub(super) fn read_own(
        &self,
        column: usize,
        rows: &Rows<'_>,
        form: ArrayForm,
    ) -> Result<ArrayRef> {
        let of_column = |error: Error| error.of_column(&self.schema.columns[column].name);
        let read = || match self.part(column)? {
            Part::Stripe(stripe) => stripe.read_as(rows, form).map_err(of_column),
            Part::Tuples(store) => store
                .read_as(column, rows, form)
                .map_err(|error| self.in_tuples(error, column)),
            Part::Index(_) => Err(Error::corrupt("an index where a column was expected")),
        };
        self.checked(column, read())
    }

    /// The `columns` of one row.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn row(&self, columns: &[usize], row: u32) -> Result<Row> {
        if self.places.is_none() {
            let mut values = self.own_row(columns, row)?;
            self.lay_over(columns, row, &mut values)?;
            return Ok(values);
        }
        let value = |column: &usize| match self.find_column(*column)? {
            FoundColumn::Own(column) => {
                let mut values = self.own_row(&[column], row)?;
                self.lay_over(&[column], row, &mut values)?;
                Ok(values.pop().flatten())
            }
            FoundColumn::Missing(one, _) => Ok(cell(&one, 0)),
        };
        columns.iter().map(value).collect()
    }

    /// Everything is asked for before anything is read.
    fn own_row(&self, columns: &[usize], row: u32) -> Result<Row> {
        let whole = self.info.layout.keeps_tuples();
        let apart = if whole {
            &columns[..1.min(columns.len())]
        } else {
            columns
        };
        let parts = apart.iter().map(|column| self.part(*column));
        let parts = parts.collect::<Result<Vec<Part>>>()?;
        for (part, column) in parts.iter().zip(columns) {
            match part {
                Part::Stripe(stripe) => stripe.prefetch(row),
                Part::Tuples(store) if whole => store.prefetch(columns, row),
                Part::Tuples(store) => store.prefetch(&[*column], row),
                Part::Index(_) => {}
            }
        }
        let mut values = Vec::with_capacity(columns.len());
        for (number, column) in columns.iter().enumerate() {
            let part = &parts[if whole { 0 } else { number }];
            values.push(self.own_value(*column, part, row)?);
        }
        Ok(values)
    }

    pub(super) fn own_value(&self, column: usize, part: &Part, row: u32) -> Result<Option<Value>> {
        let value = match part {
            Part::Stripe(stripe) => stripe
                .value(row)
                .map_err(|error| error.of_column(&self.schema.columns[column].name)),
            Part::Tuples(store) => store
                .value(column, row)
                .map_err(|error| self.in_tuples(error, column)),
            Part::Index(_) => Err(Error::corrupt("an index where a column was expected")),
        };
        let value = value.map_err(self.blame(None))?;
        let known = &self.schema.columns[column];
        if value.is_none() && !known.nullable {
            return Err(self.unexpected_null(known));
        }
        Ok(value)
    }

    /// `leaf` as a test of the codes of `column`; `None` where it must be
    /// evaluated on values.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn translate(&self, column: usize, leaf: &Leaf) -> Result<Option<CodeTest>> {
        let FoundColumn::Own(column) = self.find_column(column)? else {
            return Ok(None);
        };
        if let Some((block, place)) = self.overlay(column) {
            return block.translate(place, leaf);
        }
        let translate = || match self.part(column)? {
            Part::Stripe(stripe) => stripe.translate(leaf),
            Part::Tuples(store) => store.translate(column, leaf),
            Part::Index(_) => Ok(None),
        };
        translate().map_err(self.blame(None))
    }

    /// Which of `rows`, which begin a chunk, pass a test from [`Block::translate`].
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn test(
        &self,
        column: usize,
        test: &CodeTest,
        rows: Range<usize>,
    ) -> Result<BooleanBuffer> {
        let FoundColumn::Own(column) = self.find_column(column)? else {
            return Ok(BooleanBuffer::new_unset(rows.len()));
        };
        if let Some((block, place)) = self.overlay(column) {
            return block.test(place, test, rows);
        }
        let test = || match self.part(column)? {
            Part::Stripe(stripe) => Ok(stripe.test(test, rows)),
            Part::Tuples(store) => store.test(column, test, rows),
            Part::Index(_) => Err(Error::corrupt("an index where a column was expected")),
        };
        test().map_err(self.blame(None))
    }

    /// Names the section that a corruption of tuples was found in.
    pub(super) fn in_tuples(&self, error: Error, column: usize) -> Error {
        let kind = match self.info.layout {
            Layout::Pax => SectionKind::Pages,
            Layout::Row => SectionKind::Tuples,
            _ => return error.of_column(&self.schema.columns[column].name),
        };
        error.at("", None, Some(kind.name()))
    }

    /// Places an error in this block; NULL where none may be is one.
    pub(super) fn checked(&self, column: usize, values: Result<ArrayRef>) -> Result<ArrayRef> {
        let values = values.map_err(self.blame(None))?;
        match self.schema.columns.get(column) {
            Some(known) if !known.nullable && values.null_count() > 0 => {
                Err(self.unexpected_null(known))
            }
            _ => Ok(values),
        }
    }

    fn unexpected_null(&self, column: &Column) -> Error {
        let error = Error::corrupt("NULL in a column that is NOT NULL");
        self.blame(Some(&format!("values of {}", column.name)))(error)
    }

    /// Reads `column` at ascending `positions`.
    ///
    /// # Errors
    /// `Corrupt` or `Io`.
    pub fn take(&self, column: usize, positions: &[u32]) -> Result<ArrayRef> {
        self.read_rows(column, &Rows::Positions(positions), ArrayForm::Sql)
    }
}
