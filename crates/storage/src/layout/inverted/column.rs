//! Reading an inverted column: conditions from sets, values by way of ranks.

use super::values::{Ranks, ValueStore};
use crate::codec::fields::Rows;
use crate::codec::{ArrayForm, CodeTest};
use crate::error::{Error, Result};
use crate::format::{Codec, SectionKind};
use crate::layout::validity::at_rows;
use crate::layout::{StripeSections, TupleStore};
use crate::predicate::{Leaf, evaluate_leaf};
use crate::schema::{Column, ColumnType};
use arrow_array::{ArrayRef, new_null_array};
use arrow_buffer::{BooleanBuffer, Buffer};
use std::ops::Range;
use std::sync::OnceLock;

/// One column of one block, opened.
#[derive(Debug)]
pub struct InvertedColumn {
    kind: ColumnType,
    name: String,
    rows: usize,
    /// `None` when every row is NULL.
    values: Option<ValueStore>,
    ranks: OnceLock<Ranks>,
}

impl InvertedColumn {
    /// Checks the codebook and the places of the row sets; the sets themselves
    /// are checked when they are read. A column without any section is NULL in
    /// all rows.
    ///
    /// # Errors
    /// `Corrupt`, naming the section.
    pub fn open(
        column: &Column,
        rows: usize,
        codec: Codec,
        sections: StripeSections,
    ) -> Result<InvertedColumn> {
        let values = if sections.bytes_in_all() == 0 {
            None
        } else {
            Some(ValueStore::open(column, rows, codec, sections)?)
        };
        Ok(InvertedColumn {
            kind: column.kind,
            name: column.name.clone(),
            rows,
            values,
            ranks: OnceLock::new(),
        })
    }

    /// Bytes of memory beyond the sections, once values have been read.
    pub fn memory(&self) -> usize {
        let values = |values: &ValueStore| {
            values.dictionary.memory() + 4 * values.ends.len() + 4 * self.rows + self.rows / 8
        };
        self.values.as_ref().map_or(0, values)
    }

    /// Places an error in the row sets.
    fn blame(&self) -> impl Fn(Error) -> Error {
        let section = format!("{} of {}", SectionKind::RowSets.name(), self.name);
        move |error| error.at("", None, Some(&section))
    }

    /// The rows in the sets of some values.
    fn rows_of(
        &self,
        values: &ValueStore,
        wanted: impl Iterator<Item = usize>,
    ) -> Result<BooleanBuffer> {
        let mut words = vec![0u64; self.rows.div_ceil(64)];
        for rank in wanted {
            let set = values.set(rank, self.rows);
            set.and_then(|set| set.or_into(&mut words))
                .map_err(self.blame())?;
        }
        Ok(BooleanBuffer::new(Buffer::from_vec(words), 0, self.rows))
    }

    /// The way from row to value, made at its first use.
    fn ranks(&self, values: &ValueStore) -> Result<&Ranks> {
        if let Some(ranks) = self.ranks.get() {
            return Ok(ranks);
        }
        let ranks = values.ranks(self.rows).map_err(self.blame())?;
        Ok(self.ranks.get_or_init(|| ranks))
    }
}

impl TupleStore for InvertedColumn {
    fn read_as(&self, _: usize, rows: &Rows<'_>, _: ArrayForm) -> Result<ArrayRef> {
        let Some(values) = &self.values else {
            return Ok(new_null_array(&self.kind.arrow(), rows.count()));
        };
        let Ranks { ranks, nulls } = self.ranks(values)?;
        let nulls = nulls.as_ref().map(|nulls| at_rows(nulls, rows));
        match rows {
            Rows::Range(rows) => values.dictionary.decode(&ranks[rows.clone()], nulls),
            Rows::Positions(positions) => {
                let ranks: Vec<u32> = positions.iter().map(|row| ranks[*row as usize]).collect();
                values.dictionary.decode(&ranks, nulls)
            }
        }
    }

    fn translate(&self, _: usize, leaf: &Leaf) -> Result<Option<CodeTest>> {
        let Some(values) = &self.values else {
            return Ok(Some(match leaf {
                Leaf::IsNull => CodeTest::Rows(BooleanBuffer::new_set(self.rows)),
                // No other condition is TRUE for NULL.
                _ => CodeTest::Ranges(Vec::new()),
            }));
        };
        let all = 0..values.ends.len();
        let rows = match leaf {
            Leaf::IsNotNull => self.rows_of(values, all)?,
            Leaf::IsNull => !&self.rows_of(values, all)?,
            leaf => {
                let passing = evaluate_leaf(leaf, &values.dictionary.array()?)?;
                self.rows_of(values, passing.set_indices())?
            }
        };
        // Asked once here, so that it need not be asked of every zone.
        let never = rows.count_set_bits() == 0;
        Ok(Some(if never {
            CodeTest::Ranges(Vec::new())
        } else {
            CodeTest::Rows(rows)
        }))
    }

    /// None: conditions become rows here, not codes.
    fn ranks(&self, _: usize) -> Result<Option<Vec<i64>>> {
        Ok(None)
    }

    fn test(&self, _: usize, test: &CodeTest, rows: Range<usize>) -> Result<BooleanBuffer> {
        Ok(match test {
            CodeTest::Rows(passing) => passing.slice(rows.start, rows.len()),
            _ => BooleanBuffer::new_unset(rows.len()),
        })
    }
}
