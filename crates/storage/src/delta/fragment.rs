//! A fragment of the delta: tuples one after the other, with when they came and went.

use super::deletes::{Deletes, RowBits};
use super::kept::KeptColumns;
use super::tuple::TupleShape;
use crate::codec::ArrayForm;
use crate::error::Result;
use crate::schema::TableSchema;
use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;
use parking_lot::{RwLock, RwLockReadGuard};
use std::sync::Arc;

/// Most rows of a fragment.
pub const FRAGMENT_ROWS: usize = crate::format::ZONE_ROWS;
/// A fragment takes no more rows when its tuples pass so many bytes.
const FRAGMENT_BYTES: usize = 4 << 20;
/// Less than one row in so many is few.
const FEW: usize = 4;

/// Some rows of a table that are in no block.
#[derive(Debug)]
pub struct Fragment {
    /// Number of the first row within the table's delta.
    first: u64,
    schema: Arc<TableSchema>,
    shape: TupleShape,
    rows: RwLock<Rows>,
    columns: KeptColumns,
    /// Rows that were deleted.
    pub deletes: Deletes,
}

#[derive(Debug, Default)]
struct Rows {
    tuples: Vec<u8>,
    /// End of each tuple.
    ends: Vec<usize>,
    /// When each row was committed, ascending.
    created: Vec<u64>,
}

impl Fragment {
    /// An empty fragment whose first row will be number `first`.
    pub fn new(first: u64, schema: Arc<TableSchema>) -> Fragment {
        let shape = TupleShape::of(&schema);
        Fragment {
            first,
            schema,
            shape,
            rows: RwLock::default(),
            columns: KeptColumns::default(),
            deletes: Deletes::default(),
        }
    }

    /// Number of the first row.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The columns of its rows.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// How tuples are laid out.
    pub fn shape(&self) -> &TupleShape {
        &self.shape
    }

    /// Rows, deleted ones included.
    pub fn len(&self) -> usize {
        self.rows.read().ends.len()
    }

    /// When its newest row was committed; 0 if there is none.
    pub fn newest(&self) -> u64 {
        self.rows.read().created.last().copied().unwrap_or(0)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of its tuples, their ends and their times, and of columns that are kept.
    pub fn bytes(&self) -> usize {
        let rows = self.rows.read();
        rows.tuples.len() + 16 * rows.ends.len() + self.columns.bytes()
    }

    /// Whether further rows belong into another fragment.
    pub fn is_full(&self) -> bool {
        let rows = self.rows.read();
        rows.ends.len() >= FRAGMENT_ROWS || rows.tuples.len() >= FRAGMENT_BYTES
    }

    /// Appends a tuple of this fragment's shape; returns its row in the fragment.
    pub fn push(&self, tuple: &[u8], created: u64) -> u32 {
        let mut rows = self.rows.write();
        rows.tuples.extend_from_slice(tuple);
        let end = rows.tuples.len();
        rows.ends.push(end);
        rows.created.push(created);
        // In range: a fragment has at most `FRAGMENT_ROWS` rows.
        rows.ends.len() as u32 - 1
    }

    /// Takes back all rows from `len` on, which nobody has seen.
    pub fn truncate(&self, len: usize) {
        let mut rows = self.rows.write();
        rows.ends.truncate(len);
        rows.created.truncate(len);
        let bytes = rows.ends.last().copied().unwrap_or(0);
        rows.tuples.truncate(bytes);
        self.columns.clear();
    }

    /// The rows from number `first` on as a fragment of their own, if there are any.
    /// Only while nobody else uses the fragment: its deletes lose their times.
    pub fn rest(&self, first: u64) -> Option<Fragment> {
        let from = u32::try_from(first.checked_sub(self.first)?).ok()?;
        let tuples = self.read();
        if from >= tuples.len() {
            return None;
        }
        let mut rest = Fragment::new(first, self.schema.clone());
        for row in from..tuples.len() {
            rest.push(tuples.tuple(row), tuples.rows.created[row as usize]);
        }
        let mut gone = RowBits::default();
        for row in self
            .deletes
            .at(u64::MAX)
            .iter()
            .flat_map(|bits| bits.rows())
        {
            if row >= from {
                gone.insert(row - from);
            }
        }
        rest.deletes = Deletes::settled(gone);
        Some(rest)
    }

    /// The rows that `timestamp` sees and that are not in `own`.
    pub fn visible(&self, timestamp: u64, own: Option<&RowBits>) -> Vec<u32> {
        // Deletes are looked at after the rows: a row that came and went in
        // between is newer than the timestamp either way.
        let count = {
            let rows = self.rows.read();
            rows.created
                .partition_point(|created| *created <= timestamp) as u32
        };
        let deleted = self.deletes.at(timestamp);
        if deleted.is_none() && own.is_none() {
            return (0..count).collect();
        }
        let gone = |bits: Option<&RowBits>, row| bits.is_some_and(|bits| bits.contains(row));
        let rows = (0..count).filter(|row| !gone(deleted.as_deref(), *row) && !gone(own, *row));
        rows.collect()
    }

    /// Whether `timestamp` sees a row of this fragment.
    pub fn sees(&self, row: u32, timestamp: u64) -> bool {
        let created = self.rows.read().created.get(row as usize).copied();
        created.is_some_and(|created| created <= timestamp)
            && !self.deletes.contains_at(row, timestamp)
    }

    /// Access to tuples, while no row is added.
    pub fn read(&self) -> Tuples<'_> {
        Tuples {
            fragment: self,
            rows: self.rows.read(),
        }
    }
}

/// The tuples of a fragment.
pub struct Tuples<'a> {
    fragment: &'a Fragment,
    rows: RwLockReadGuard<'a, Rows>,
}

impl Tuples<'_> {
    /// How many there are.
    #[allow(
        clippy::len_without_is_empty,
        reason = "nobody asks whether there are none"
    )]
    pub fn len(&self) -> u32 {
        // In range: a fragment has at most `FRAGMENT_ROWS` rows.
        self.rows.ends.len() as u32
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.rows.tuples.len()
    }

    /// The tuple of a row that is there.
    pub fn tuple(&self, row: u32) -> &[u8] {
        let row = row as usize;
        let start = row
            .checked_sub(1)
            .map_or(0, |before| self.rows.ends[before]);
        &self.rows.tuples[start..self.rows.ends[row]]
    }

    /// A column at rows that are there.
    ///
    /// # Errors
    /// `Corrupt` for values that cannot be of the column's type.
    pub fn column(&self, column: usize, rows: &[u32], form: ArrayForm) -> Result<ArrayRef> {
        let tuples = rows.iter().map(|row| self.tuple(*row));
        self.fragment.shape.column(tuples, column, form)
    }
    /// As [`Tuples::column`], of ascending rows; the column is kept for further calls
    /// unless few of its rows are asked for.
    ///
    /// # Errors
    /// As [`Tuples::column`].
    pub fn kept_column(&self, column: usize, rows: &[u32], form: ArrayForm) -> Result<ArrayRef> {
        let needed = rows.last().map_or(0, |last| *last as usize + 1);
        let columns = &self.fragment.columns;
        let all = match columns.get(column, form, needed) {
            Some(all) => all,
            None if FEW * rows.len() < self.len() as usize => {
                return self.column(column, rows, form);
            }
            None => {
                let every: Vec<u32> = (0..self.len()).collect();
                let all = self.column(column, &every, form)?;
                columns.keep(column, form, &all);
                all.slice(0, needed)
            }
        };
        if rows.len() == needed {
            return Ok(all);
        }
        let places = UInt32Array::from(rows.to_vec());
        Ok(take(&all, &places, None)?)
    }
}
