//! The value store: distinct values and their row sets, opened.

use crate::codec::integers::Integers;
use crate::codec::{Codebook, Dictionary};
use crate::error::{Error, Result};
use crate::format::{Codec, SectionKind};
use crate::layout::StripeSections;
use crate::postings::Postings;
use crate::schema::Column;
use arrow_buffer::{Buffer, NullBuffer};

/// Marks a row that is in no set yet.
const NOWHERE: u32 = u32::MAX;

/// The distinct values and where their row sets lie.
#[derive(Debug)]
pub(super) struct ValueStore {
    /// The values, sorted.
    pub dictionary: Dictionary,
    /// Where each set ends; the first begins at 0.
    pub ends: Vec<u32>,
    sets: Buffer,
}

/// From row to value.
#[derive(Debug)]
pub(super) struct Ranks {
    /// Of each row; 0 for NULL.
    pub ranks: Vec<u32>,
    /// Which rows are in a set; `None` when all are.
    pub nulls: Option<NullBuffer>,
}

impl ValueStore {
    /// Checks the codebook and the places of the row sets.
    pub fn open(
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
    pub fn set(&self, rank: usize, rows: usize) -> Result<Postings<'_>> {
        let start = rank.checked_sub(1).map_or(0, |before| self.ends[before]);
        let bytes = &self.sets[start as usize..self.ends[rank] as usize];
        // In range: the header bounds the rows of a block.
        let set = Postings::open(bytes, rows as u32)?;
        if set.is_empty() {
            return Err(Error::corrupt(format!("value {rank} in no row")));
        }
        Ok(set)
    }

    /// The way back, from all sets.
    pub fn ranks(&self, rows: usize) -> Result<Ranks> {
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
