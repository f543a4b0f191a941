//! Reading relations: from rows to places among the present values, and back.

use crate::codec::bits::CHUNK;
use crate::codec::fields::Rows;
use crate::codec::{ArrayForm, CodeTest};
use crate::error::{Error, Result};
use crate::format::{Codec, SectionKind};
use crate::layout::{Stripe, StripeSections, TupleStore};
use crate::postings::Postings;
use crate::predicate::Leaf;
use crate::schema::{Column, ColumnType};
use arrow_array::{ArrayRef, UInt32Array, new_null_array};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};
use arrow_select::take::take;
use std::ops::Range;

/// One column of one block, opened.
#[derive(Debug)]
pub struct Relation {
    kind: ColumnType,
    rows: usize,
    /// The rows that have a value, ascending; `None` when all have.
    surrogates: Option<Vec<u32>>,
    /// Their values; `None` when there are none.
    values: Option<Stripe>,
}

impl Relation {
    /// Checks surrogates and values against each other; a column without any
    /// section is NULL in all rows.
    ///
    /// # Errors
    /// `Corrupt` for rows that do not ascend or are not in the block, and as [`Stripe::open`].
    pub fn open(
        column: &Column,
        rows: usize,
        codec: Codec,
        mut sections: StripeSections,
    ) -> Result<Relation> {
        let section = format!("{} of {}", SectionKind::Surrogates.name(), column.name);
        let blame = |error: Error| error.at("", None, Some(&section));
        let mut present: Vec<u32> = Vec::new();
        match sections.surrogates.take() {
            None if sections.bytes_in_all() > 0 => {
                return Err(blame(Error::corrupt("the section is missing")));
            }
            None => {}
            Some(bytes) => {
                // In range: the header bounds the rows of a block.
                let set = Postings::open(&bytes, rows as u32).map_err(blame)?;
                if set.is_empty() {
                    return Err(blame(Error::corrupt("values of no row")));
                }
                set.decode_into(&mut present).map_err(blame)?;
            }
        }
        let count = present.len();
        // Presence is what the surrogates say.
        sections.validity = None;
        let values = (count > 0).then(|| Stripe::open(column.kind, count, codec, sections));
        Ok(Relation {
            kind: column.kind,
            rows,
            surrogates: (count < rows).then_some(present),
            values: values.transpose()?,
        })
    }

    /// Bytes of memory beyond the sections.
    pub fn memory(&self) -> usize {
        4 * self.surrogates.as_ref().map_or(0, Vec::len)
            + self.values.as_ref().map_or(0, Stripe::memory)
    }

    /// One bit for each row of the block that has a value.
    fn present(&self) -> BooleanBuffer {
        let Some(surrogates) = &self.surrogates else {
            return BooleanBuffer::new_set(self.rows);
        };
        let mut bits = unset(self.rows);
        surrogates
            .iter()
            .for_each(|row| bits.set_bit(*row as usize, true));
        bits.finish()
    }
}

impl TupleStore for Relation {
    fn read_as(&self, _: usize, rows: &Rows<'_>, _: ArrayForm) -> Result<ArrayRef> {
        let nothing = || Ok(new_null_array(&self.kind.arrow(), rows.count()));
        let (values, surrogates) = match (&self.values, &self.surrogates) {
            (None, _) => return nothing(),
            (Some(values), None) => return values.read_as(rows, ArrayForm::Sql),
            (Some(values), Some(surrogates)) => (values, surrogates),
        };
        match rows {
            Rows::Range(rows) => {
                let places = places(surrogates, rows);
                if places.is_empty() {
                    return nothing();
                }
                let found = values.read_as(&Rows::Range(places.clone()), ArrayForm::Sql)?;
                let slots = surrogates[places].iter();
                scatter(
                    found,
                    slots.map(|row| *row as usize - rows.start),
                    rows.len(),
                )
            }
            Rows::Positions(positions) => {
                let (places, slots) = matching(surrogates, positions);
                if places.is_empty() {
                    return nothing();
                }
                let found = values.read_as(&Rows::Positions(&places), ArrayForm::Sql)?;
                scatter(found, slots.into_iter(), positions.len())
            }
        }
    }

    fn translate(&self, _: usize, leaf: &Leaf) -> Result<Option<CodeTest>> {
        match (leaf, &self.values) {
            (Leaf::IsNotNull, _) => Ok(Some(CodeTest::Rows(self.present()))),
            (Leaf::IsNull, _) => Ok(Some(CodeTest::Rows(!&self.present()))),
            (leaf, Some(values)) => values.translate(leaf),
            // No condition is TRUE for NULL.
            (_, None) => Ok(Some(CodeTest::Ranges(Vec::new()))),
        }
    }

    fn ranks(&self, _: usize) -> Result<Option<Vec<i64>>> {
        // Rows without a value have no code.
        Ok(match (&self.values, &self.surrogates) {
            (Some(values), None) => values.ranks(),
            _ => None,
        })
    }

    fn test(&self, _: usize, test: &CodeTest, rows: Range<usize>) -> Result<BooleanBuffer> {
        if let CodeTest::Rows(passing) = test {
            return Ok(passing.slice(rows.start, rows.len()));
        }
        let (values, surrogates) = match (&self.values, &self.surrogates) {
            (None, _) => return Ok(BooleanBuffer::new_unset(rows.len())),
            (Some(values), None) => return Ok(values.test(test, rows)),
            (Some(values), Some(surrogates)) => (values, surrogates),
        };
        let places = places(surrogates, &rows);
        // Values are tested in whole chunks; those before the first place are not wanted.
        let start = places.start / CHUNK * CHUNK;
        let mut bits = unset(rows.len());
        if !places.is_empty() {
            let passing = values.test(test, start..places.end);
            let wanted = passing.slice(places.start - start, places.len());
            let surrogates = &surrogates[places];
            wanted
                .set_indices()
                .for_each(|place| bits.set_bit(surrogates[place] as usize - rows.start, true));
        }
        Ok(bits.finish())
    }
}

fn unset(rows: usize) -> BooleanBufferBuilder {
    let mut bits = BooleanBufferBuilder::new(rows);
    bits.append_n(rows, false);
    bits
}

/// The places of the surrogates in `rows`.
fn places(surrogates: &[u32], rows: &Range<usize>) -> Range<usize> {
    let before = |end: usize| surrogates.partition_point(|row| (*row as usize) < end);
    before(rows.start)..before(rows.end)
}

/// Of ascending `positions` those that have a value: its place, and their number.
fn matching(surrogates: &[u32], positions: &[u32]) -> (Vec<u32>, Vec<usize>) {
    let (mut places, mut slots) = (Vec::new(), Vec::new());
    let mut place = 0;
    for (slot, position) in positions.iter().enumerate() {
        place += gallop(&surrogates[place..], *position);
        if surrogates.get(place) == Some(position) {
            places.push(place as u32);
            slots.push(slot);
        }
    }
    (places, slots)
}

/// How many of `ascending` are below `wanted`; quick when they are few.
pub(super) fn gallop(ascending: &[u32], wanted: u32) -> usize {
    let mut step = 1;
    while step < ascending.len() && ascending[step] < wanted {
        step *= 2;
    }
    let (low, high) = (step / 2, ascending.len().min(step + 1));
    low + ascending[low..high].partition_point(|value| *value < wanted)
}

/// `values` in their slots among `count`, all others NULL.
fn scatter(values: ArrayRef, slots: impl Iterator<Item = usize>, count: usize) -> Result<ArrayRef> {
    if values.len() == count {
        return Ok(values);
    }
    let (mut sources, mut present) = (vec![0u32; count], unset(count));
    for (source, slot) in slots.enumerate() {
        sources[slot] = source as u32;
        present.set_bit(slot, true);
    }
    let present = NullBuffer::new(present.finish());
    let sources = UInt32Array::new(sources.into(), Some(present));
    Ok(take(&values, &sources, None)?)
}
