//! Runs of sorted rows on disk, and merging them page by page.
//!
//! A page of each run is in memory. Rows up to the least of their last keys are next:
//! they are put together and sorted, and at least one page has been used up.

use super::bytes::ByteKeys;
use super::collect::Sorter;
use crate::Result;
use crate::memory::{LEAST, Reservation, Space};
use crate::spill::Page;
use crate::vector::{BATCH_ROWS, Batch, Vector, concat};
use std::collections::VecDeque;

/// About how many bytes a page has.
const PAGE_BYTES: usize = 1 << 15;
/// So many runs are merged at once, if there is memory.
const AT_ONCE: usize = 64;
/// Memory of a page that is merged over its bytes.
const MEMORY: usize = 4;

/// Pages of rows in order.
pub(crate) type Run = VecDeque<Page>;

/// Writes rows in order.
pub(super) fn write(batch: &Batch, order: &[u32], space: &Space) -> Result<Run> {
    let rows = PAGE_BYTES * batch.rows / batch.bytes().max(1);
    let pages = order.chunks(rows.clamp(1, BATCH_ROWS));
    pages
        .map(|rows| space.set_aside(&batch.take(rows)?))
        .collect()
}

/// Runs that are being merged.
pub(super) struct Merge {
    runs: Vec<Reader>,
    ready: VecDeque<Batch>,
    /// Rows to be left out, and to be given after those.
    skip: usize,
    left: usize,
    _held: Reservation,
}

/// Where a run is read.
struct Reader {
    pages: Run,
    batch: Batch,
    keys: ByteKeys,
    /// The next row of the page.
    next: usize,
}

impl Merge {
    /// Merges as many runs as there is no memory for, until the others can be.
    pub fn new(sorter: &Sorter<'_>, runs: Vec<Run>, space: &Space) -> Result<Merge> {
        let mut runs: VecDeque<Run> = runs.into();
        let most = sorter.sorting.most();
        loop {
            let (count, held) = at_once(&runs, space)?;
            let now: Vec<Run> = runs.drain(..count).collect();
            if runs.is_empty() {
                let skip = sorter.sorting.skip;
                return Ok(Merge::of(now, skip, most - skip.min(most), held));
            }
            let mut merge = Merge::of(now, 0, most, held);
            let mut run = Run::new();
            while let Some(batch) = merge.next(sorter)? {
                let all: Vec<u32> = (0..batch.rows as u32).collect();
                run.extend(write(&batch, &all, space)?);
            }
            runs.push_back(run);
        }
    }

    fn of(runs: Vec<Run>, skip: usize, left: usize, held: Reservation) -> Merge {
        let readers = runs.into_iter().map(|pages| Reader {
            pages,
            batch: Batch {
                columns: Vec::new(),
                rows: 0,
            },
            keys: ByteKeys::default(),
            next: 0,
        });
        Merge {
            runs: readers.collect(),
            ready: VecDeque::new(),
            skip,
            left,
            _held: held,
        }
    }

    /// The next rows, with the columns of their keys.
    pub fn next(&mut self, sorter: &Sorter<'_>) -> Result<Option<Batch>> {
        while self.left > 0 {
            if let Some(batch) = self.ready.pop_front() {
                let skipped = batch.rows.min(self.skip);
                self.skip -= skipped;
                let rows = (batch.rows - skipped).min(self.left);
                self.left -= rows;
                if rows > 0 {
                    return Ok(Some(batch.slice(skipped, rows)));
                }
                continue;
            }
            for run in &mut self.runs {
                run.fill(sorter)?;
            }
            self.runs.retain(|run| run.next < run.batch.rows);
            let Some(batch) = self.step()? else {
                return Ok(None);
            };
            self.ready = batch.pieces().into();
        }
        Ok(None)
    }

    /// All rows up to the least last key of a page.
    fn step(&mut self) -> Result<Option<Batch>> {
        let Some(last) = self.runs.iter().filter_map(|run| run.keys.last()).min() else {
            return Ok(None);
        };
        let ends: Vec<usize> = self.runs.iter().map(|run| run.end(last)).collect();
        let mut keys: Vec<(&[u8], u32)> = Vec::new();
        let mut slices = Vec::new();
        for (run, end) in self.runs.iter().zip(&ends) {
            let rows = run.next..*end;
            slices.push(run.batch.slice(rows.start, rows.len()));
            // In range: there are few pages.
            let number = keys.len() as u32;
            keys.extend(rows.map(|row| run.keys.key(row)).zip(number..));
        }
        // A stable sort finds the runs, and merges them.
        keys.sort_by_key(|(key, _)| *key);
        let order: Vec<u32> = keys.into_iter().map(|(_, row)| row).collect();
        let width = slices.first().map_or(0, |slice| slice.columns.len());
        let columns = (0..width).map(|column| {
            let parts: Vec<&Vector> = slices.iter().map(|slice| &slice.columns[column]).collect();
            concat(&parts)?.take(&order)
        });
        let batch = Batch {
            columns: columns.collect::<Result<_>>()?,
            rows: order.len(),
        };
        for (run, end) in self.runs.iter_mut().zip(ends) {
            run.next = end;
        }
        Ok(Some(batch))
    }
}

impl Reader {
    /// Reads the next page if the last has been used up.
    fn fill(&mut self, sorter: &Sorter<'_>) -> Result<()> {
        if self.next == self.batch.rows
            && let Some(page) = self.pages.pop_front()
        {
            self.batch = page.read()?;
            let (keys, rows) = (sorter.keys(&self.batch), 0..self.batch.rows);
            self.keys = ByteKeys::new(&keys, &sorter.sorting.keys, rows)?;
            self.next = 0;
        }
        Ok(())
    }

    /// Where the rows of the page end that are not behind `last`.
    fn end(&self, last: &[u8]) -> usize {
        let (mut low, mut high) = (self.next, self.batch.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.keys.key(middle) <= last {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

/// How many of some runs can be merged at once, and the memory for that.
fn at_once(runs: &VecDeque<Run>, space: &Space) -> Result<(usize, Reservation)> {
    let mut held = space.reservation();
    let mut count = runs.len().min(AT_ONCE);
    loop {
        let pages = runs.iter().take(count);
        let pages = pages.filter_map(|run| run.iter().max_by_key(|page| page.bytes()));
        let bytes = pages.clone().map(Page::bytes).sum::<usize>() * MEMORY;
        if held.hold(bytes) {
            return Ok((count, held));
        }
        if count <= 2 {
            return match pages.map(Page::rows).sum::<usize>() <= LEAST {
                true => Ok((count, held)),
                false => Err(space.refused("ORDER BY", bytes)),
            };
        }
        count = (count / 2).max(2);
    }
}
