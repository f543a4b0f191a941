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
//! | codebook | the distinct values, sorted, as [`Dictionary`](crate::codec::Dictionary) |
//! | ends | bytes of each value's row set, as [`Integers`](crate::codec::integers::Integers) |
//! | row sets | for each value its set of [`crate::postings`], which begins with the count |
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

mod column;
#[cfg(test)]
mod tests;
mod values;

pub use column::InvertedColumn;

use super::SectionData;
use crate::codec::integers;
use crate::codec::{Codes, Dense, Encoded, dictionary_of};
use crate::format::{Codec, SectionKind, UNIT_ROWS};
use crate::postings;
use crate::schema::Physical;
use arrow_buffer::{Buffer, NullBuffer};

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
