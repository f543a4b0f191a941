//! Inverted layout: each distinct value once, with the rows that hold it (C2).
//!
//! The value store of a column is close to run-length encoding of the sorted
//! column: a value, how often it occurs, and the set of its rows. One more
//! occurrence costs one more member of a set. Rows in no set are NULL.
//!
//! ```text
//! rows: b a b NULL c b
//! codebook: a b c        row sets: {1} {0, 2, 5} {4}
//! ```
//!
//! | section | holds |
//! |---|---|
//! | codebook | the distinct values, sorted, as [`Dictionary`] |
//! | ends | bytes of each value's row set, as [`Integers`] |
//! | row sets | for each value its set of [`postings`], which begins with the count |
//!
//! A column that is NULL in the whole block has no sections.
//!
//! A condition is evaluated once per distinct value; the sets of those that
//! pass, put together, are the answer, and no other set is read. Reading rows
//! needs the way back, from row to value: it is made from all sets when values
//! are first read. The sets must be disjoint then.
//!
//! The table option `codec` does not matter here: the sets are the code. (The
//! values in the codebook are stored as they are.)

use super::column::at_rows;
use super::{SectionData, StripeSections, TupleStore};
use crate::codec::fields::Rows;
use crate::codec::integers::{self, Integers};
use crate::codec::{CodeTest, Codebook, Codes, Dense, Dictionary, Encoded, dictionary_of};
use crate::error::{Error, Result};
use crate::format::{Codec, SectionKind, UNIT_ROWS};
use crate::postings::{self, Postings};
use crate::predicate::{Leaf, evaluate_leaf};
use crate::schema::{Column, ColumnType, Physical};
use arrow_array::{ArrayRef, new_null_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use std::ops::Range;
use std::sync::OnceLock;

/// Marks a row that is in no set yet.
const NOWHERE: u32 = u32::MAX;

/// The sorted distinct values of `column`, and each row's rank among them.
pub(super) fn encode(column: &Dense, physical: Physical) -> Encoded {
    let (codebook, codes) = dictionary_of(column, physical);
    Encoded {
        codec: Codec::Dictionary,
        rows: column.rows,
        nulls: column.nulls.clone(),
        codebook,
        codes: Codes::Integers(codes),
    }
}

/// Lays out each column that has values.
pub(super) fn build(columns: &[Encoded]) -> Vec<SectionData> {
    let columns = columns.iter().enumerate();
    columns
        .filter(|(_, column)| column.nulls.as_ref().map_or(0, NullBuffer::null_count) < column.rows)
        .flat_map(|(number, column)| value_store(number, column))
        .collect()
}

/// The sections of one column.
fn value_store(number: usize, column: &Encoded) -> [SectionData; 3] {
    let section = |kind, codec, unit_rows, bytes| SectionData {
        kind,
        codec,
        column: u16::try_from(number).ok(),
        unit_rows,
        bytes: Buffer::from_vec(bytes),
    };
    let (sets, lengths) = row_sets(column);
    let lengths = integers::build(Codec::For, &lengths);
    [
        section(
            SectionKind::Codebook,
            Codec::Dictionary,
            0,
            column.codebook.clone(),
        ),
        section(SectionKind::Ends, Codec::For, UNIT_ROWS, lengths),
        section(SectionKind::RowSets, Codec::Plain, 0, sets),
    ]
}

/// The row set of every rank, one after the other, and the bytes of each.
fn row_sets(column: &Encoded) -> (Vec<u8>, Vec<i64>) {
    let Codes::Integers(ranks) = &column.codes else {
        return Default::default();
    };
    let nulls = column.nulls.as_ref();
    let present = |row: &usize| nulls.is_none_or(|nulls| nulls.is_valid(*row));
    let rows = || (0..ranks.len()).filter(present);
    // Rows by rank, each rank's ascending: counted first, then put in place.
    let mut starts = vec![0usize; 1];
    for row in rows() {
        // Ranks are below the number of rows.
        let rank = ranks[row] as usize;
        starts.resize(starts.len().max(rank + 2), 0);
        starts[rank + 1] += 1;
    }
    for rank in 1..starts.len() {
        starts[rank] += starts[rank - 1];
    }
    let (mut sorted, mut next) = (vec![0u32; starts[starts.len() - 1]], starts.clone());
    for row in rows() {
        let place = &mut next[ranks[row] as usize];
        sorted[*place] = row as u32;
        *place += 1;
    }
    let (mut bytes, mut lengths) = (Vec::new(), Vec::with_capacity(starts.len()));
    for set in starts.windows(2) {
        let before = bytes.len();
        postings::encode(&sorted[set[0]..set[1]], &mut bytes);
        lengths.push((bytes.len() - before) as i64);
    }
    (bytes, lengths)
}

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

/// The distinct values and where their row sets lie.
#[derive(Debug)]
struct ValueStore {
    dictionary: Dictionary,
    /// Where each set ends; the first begins at 0.
    ends: Vec<u32>,
    sets: Buffer,
}

/// From row to value.
#[derive(Debug)]
struct Ranks {
    /// Of each row; 0 for NULL.
    ranks: Vec<u32>,
    nulls: Option<NullBuffer>,
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

impl ValueStore {
    fn open(
        column: &Column,
        rows: usize,
        codec: Codec,
        sections: StripeSections,
    ) -> Result<ValueStore> {
        let place = |kind: SectionKind| format!("{} of {}", kind.name(), column.name);
        let need = |section: Option<Buffer>, kind| {
            let missing = || Error::corrupt("the section is missing");
            section
                .ok_or_else(missing)
                .map_err(|error| error.at("", None, Some(&place(kind))))
        };
        let book = need(sections.codebook, SectionKind::Codebook)?;
        let lengths = need(sections.ends, SectionKind::Ends)?;
        let sets = need(sections.row_sets, SectionKind::RowSets)?;
        let dictionary = match Codebook::open(codec, column.kind, &book, rows) {
            Ok(Codebook::Dictionary(dictionary)) if dictionary.entries() <= rows => Ok(dictionary),
            Ok(_) => Err(Error::corrupt("no dictionary of the values of these rows")),
            Err(error) => Err(error),
        };
        let dictionary =
            dictionary.map_err(|error| error.at("", None, Some(&place(SectionKind::Codebook))))?;
        let ends = ends(lengths, dictionary.entries(), sets.len())
            .map_err(|error| error.at("", None, Some(&place(SectionKind::Ends))))?;
        Ok(ValueStore {
            dictionary,
            ends,
            sets,
        })
    }

    /// The rows of one value.
    fn set(&self, rank: usize, rows: usize) -> Result<Postings<'_>> {
        let start = rank.checked_sub(1).map_or(0, |before| self.ends[before]);
        let bytes = &self.sets[start as usize..self.ends[rank] as usize];
        // In range: the header bounds the rows of a block.
        let set = Postings::open(bytes, rows as u32)?;
        if set.is_empty() {
            return Err(Error::corrupt(format!("value {rank} in no row")));
        }
        Ok(set)
    }

    fn ranks(&self, rows: usize) -> Result<Ranks> {
        let mut ranks = vec![NOWHERE; rows];
        let (mut positions, mut count) = (Vec::new(), 0);
        for rank in 0..self.dictionary.entries() {
            positions.clear();
            self.set(rank, rows)?.decode_into(&mut positions)?;
            count += positions.len();
            for row in positions.iter().map(|row| *row as usize) {
                if ranks[row] != NOWHERE {
                    let reason = format!("row {row} has values {} and {rank}", ranks[row]);
                    return Err(Error::corrupt(reason));
                }
                // In range: no more values than rows.
                ranks[row] = rank as u32;
            }
        }
        let mut nulls = None;
        if count < rows {
            nulls = Some(ranks.iter().map(|rank| *rank != NOWHERE).collect());
            ranks
                .iter_mut()
                .filter(|rank| **rank == NOWHERE)
                .for_each(|rank| *rank = 0);
        }
        Ok(Ranks { ranks, nulls })
    }
}

/// Where each of `count` sets ends, from their lengths.
fn ends(lengths: Buffer, count: usize, bytes: usize) -> Result<Vec<u32>> {
    let lengths = Integers::open(Codec::For, lengths, count)?;
    let mut values: Vec<i64> = Vec::with_capacity(count);
    lengths.read(0..count, &mut values);
    let mut end = 0u32;
    let mut ends = Vec::with_capacity(count);
    for length in values {
        let next = u32::try_from(length)
            .ok()
            .and_then(|length| end.checked_add(length));
        let next = next.filter(|next| *next as usize <= bytes);
        end = next.ok_or_else(|| {
            Error::corrupt(format!(
                "a set of {length} bytes at {end}, there are {bytes}"
            ))
        })?;
        ends.push(end);
    }
    if end as usize != bytes {
        let reason = format!("the sets have {end} bytes, the section {bytes}");
        return Err(Error::corrupt(reason));
    }
    Ok(ends)
}

impl TupleStore for InvertedColumn {
    fn read(&self, _: usize, rows: &Rows<'_>) -> Result<ArrayRef> {
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
        Ok(Some(CodeTest::Rows(rows)))
    }

    fn test(&self, _: usize, test: &CodeTest, rows: Range<usize>) -> Result<BooleanBuffer> {
        Ok(match test {
            CodeTest::Rows(passing) => passing.slice(rows.start, rows.len()),
            _ => BooleanBuffer::new_unset(rows.len()),
        })
    }
}
