//! The input of windows. Each thread keeps its rows in memory, or spills them by the hash of
//! their partition.

use crate::Result;
use crate::expression::Expression;
use crate::keys::Keys;
use crate::memory::{LEAST, Reservation, Space};
use crate::partition::{PARTS, PartWriter, parted};
use crate::plan::Windowing;
use crate::sort::{self, Sorter};
use crate::spill::Page;
use crate::vector::{Batch, Kind, Vector};

/// Bytes of a row while it is sorted, beside its values and the results.
const ROW: usize = 40;
/// Bytes of a result of a row, with what it is computed of.
const RESULT: usize = 32;

/// The part of collecting that the threads share.
pub(crate) struct Collector<'a> {
    pub(super) windowing: &'a Windowing,
    /// Where the value of each key is, among the columns or behind them.
    places: Vec<usize>,
    /// How many columns the input has.
    pub(super) width: usize,
}

/// The rows of one thread.
pub(crate) struct Collected {
    pub(super) batches: Vec<Batch>,
    pub(super) rows: usize,
    bytes: usize,
    pub(super) held: Reservation,
    /// A spill file for each part, once the rows do not fit into memory.
    parts: Vec<PartWriter>,
    /// All rows, once there was no room, where there are no parts.
    pub(super) sorted: Option<sort::Collected>,
}

impl<'a> Collector<'a> {
    /// For rows of `width` columns.
    pub fn new(windowing: &'a Windowing, width: usize) -> Collector<'a> {
        let mut next = width;
        let places = windowing
            .sorting
            .keys
            .iter()
            .map(|key| match key.expression {
                Expression::Column(place) if place < width => place,
                _ => {
                    next += 1;
                    next - 1
                }
            });
        Collector {
            places: places.collect(),
            windowing,
            width,
        }
    }

    /// The empty collection that a thread begins with.
    pub fn collected(&self, space: &Space) -> Collected {
        Collected {
            batches: Vec::new(),
            rows: 0,
            bytes: 0,
            held: space.reservation(),
            parts: Vec::new(),
            sorted: None,
        }
    }

    /// The columns of keys of some rows.
    pub(super) fn keys(&self, batch: &Batch) -> Vec<Vector> {
        let places = self.places.iter();
        places.map(|place| batch.columns[*place].clone()).collect()
    }

    /// Takes some rows.
    pub fn push(&self, to: &mut Collected, mut batch: Batch, space: &Space) -> Result<()> {
        if batch.rows == 0 {
            return Ok(());
        }
        if let Some(sorted) = &mut to.sorted {
            batch.columns.truncate(self.width);
            return self.sorter().push(sorted, batch, space);
        }
        for (key, place) in self.windowing.sorting.keys.iter().zip(&self.places) {
            if *place >= self.width {
                let value = key.expression.evaluate(&batch)?;
                batch.columns.push(value);
            }
        }
        if !to.parts.is_empty() {
            return self.set_aside(&mut to.parts, batch, 0, space);
        }
        to.rows += batch.rows;
        to.bytes += batch.bytes();
        to.batches.push(batch);
        let bytes = self.needed(to.rows, to.bytes);
        if !to.held.hold(bytes) && to.rows > LEAST {
            match self.windowing.common() {
                0 => self.sort(to, space)?,
                _ => self.begin_parts(to, space)?,
            }
        }
        Ok(())
    }

    /// The memory that rows take while they are sorted and computed: they are put together
    /// beside themselves.
    pub(super) fn needed(&self, rows: usize, bytes: usize) -> usize {
        needed(self.windowing, rows, bytes)
    }

    /// Sorts rows where they find room.
    pub(super) fn sorter(&self) -> Sorter<'a> {
        Sorter::new(&self.windowing.sorting, self.width)
    }

    /// Gives the rows of a thread to the sort, which spills the rows that do not fit.
    pub(super) fn sort(&self, rows: &mut Collected, space: &Space) -> Result<()> {
        let sorter = self.sorter();
        let sorted = rows.sorted.get_or_insert_with(|| sorter.collected(space));
        rows.held.hold(0);
        for mut batch in std::mem::take(&mut rows.batches) {
            batch.columns.truncate(self.width);
            sorter.push(sorted, batch, space)?;
        }
        (rows.rows, rows.bytes) = (0, 0);
        Ok(())
    }

    /// Spills the rows of a thread; the rows that come later are spilled, too.
    fn begin_parts(&self, rows: &mut Collected, space: &Space) -> Result<()> {
        rows.parts.resize_with(PARTS, PartWriter::default);
        for batch in std::mem::take(&mut rows.batches) {
            self.set_aside(&mut rows.parts, batch, 0, space)?;
        }
        (rows.rows, rows.bytes) = (0, 0);
        rows.held.hold(0);
        Ok(())
    }

    /// Writes rows to their parts.
    pub(super) fn set_aside(
        &self,
        parts: &mut [PartWriter],
        batch: Batch,
        level: u32,
        space: &Space,
    ) -> Result<()> {
        let common = self.windowing.common();
        let kinds = self.windowing.sorting.keys.iter().take(common);
        let kinds: Vec<Kind> = kinds.map(|key| Kind::of(&key.kind)).collect();
        let mut keys = Keys::new(&kinds)?;
        // Whether a batch has NULLs must not tell its hashes from those of others.
        keys.allow_nulls();
        let columns = self.places.iter().take(common);
        let columns: Vec<Vector> = columns.map(|at| batch.columns[*at].clone()).collect();
        let words = keys.words(&columns, batch.rows)?;
        let hashes = words.chunks_exact(keys.stride);
        let rows = parted(hashes.map(|key| keys.content_hash(key)), level);
        for (part, positions) in parts.iter_mut().zip(rows) {
            if !positions.is_empty() {
                part.push(batch.take(&positions)?, space)?;
            }
        }
        Ok(())
    }

    /// The pages of each part of all threads; `None` if all rows are in memory.
    pub(super) fn parts(
        &self,
        all: &mut Vec<Collected>,
        space: &Space,
    ) -> Result<Option<Vec<Vec<Page>>>> {
        if all.iter().all(|one| one.parts.is_empty()) {
            return Ok(None);
        }
        let mut pages = vec![Vec::new(); PARTS];
        for mut one in std::mem::take(all) {
            if one.parts.is_empty() {
                self.begin_parts(&mut one, space)?;
            }
            for (pages, part) in pages.iter_mut().zip(one.parts) {
                pages.extend(part.finish(space)?);
            }
        }
        Ok(Some(pages))
    }
}

/// See [`Collector::needed`].
pub(super) fn needed(windowing: &Windowing, rows: usize, bytes: usize) -> usize {
    bytes * 2 + rows * (ROW + RESULT * windowing.calls.len())
}
