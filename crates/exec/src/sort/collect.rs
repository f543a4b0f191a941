//! What a thread keeps of the rows that come: all, or those that may be among the first.

use super::cut::Cut;
use super::order::Order;
use super::runs::{Run, write};
use crate::Result;
use crate::expression::Expression;
use crate::memory::{LEAST, Reservation, Space};
use crate::plan::Sorting;
use crate::vector::{Batch, Vector, concat};
use freestone_storage::ValueTest;
use std::sync::Arc;

/// Bytes of a row while it is sorted, beside its values.
const ROW: usize = 32;
/// Rows that are sorted in memory at most: they are numbered in 32 bits.
pub(crate) const MOST: usize = 1 << 30;
/// So many batches of few rows become one: each may hold on to more than its rows.
const BATCHES: usize = 64;

/// What the threads of a sort share.
pub(crate) struct Sorter<'a> {
    pub(super) sorting: &'a Sorting,
    /// Where the value of each key is, among the columns or behind them.
    places: Vec<usize>,
    cut: Arc<Cut>,
    /// How many columns come out.
    pub(super) width: usize,
}

/// The rows of one thread.
pub(crate) struct Collected {
    pub(super) batches: Vec<Batch>,
    pub(super) rows: usize,
    bytes: usize,
    pub(super) held: Reservation,
    pub(super) runs: Vec<Run>,
}

impl<'a> Sorter<'a> {
    /// For rows of `width` columns.
    pub fn new(sorting: &'a Sorting, width: usize) -> Sorter<'a> {
        let mut next = width;
        let places = sorting.keys.iter().map(|key| match key.expression {
            Expression::Column(place) if place < width => place,
            _ => {
                next += 1;
                next - 1
            }
        });
        Sorter {
            places: places.collect(),
            sorting,
            cut: Arc::new(Cut::new(sorting)),
            width,
        }
    }

    /// A test of the values of a column, where only the first rows are wanted and that
    /// column comes first in the key.
    pub fn test(&self) -> Option<(usize, Arc<dyn ValueTest>)> {
        let first = self.places.first().copied()?;
        let tests = self.sorting.fetch.is_some() && first < self.width;
        tests.then(|| (first, self.cut.clone() as Arc<dyn ValueTest>))
    }

    /// What a thread begins with.
    pub fn collected(&self, space: &Space) -> Collected {
        Collected {
            batches: Vec::new(),
            rows: 0,
            bytes: 0,
            held: space.reservation(),
            runs: Vec::new(),
        }
    }

    /// The columns of keys of some rows.
    pub(super) fn keys(&self, batch: &Batch) -> Vec<Vector> {
        let places = self.places.iter();
        places.map(|place| batch.columns[*place].clone()).collect()
    }

    /// Takes some rows.
    pub fn push(&self, to: &mut Collected, mut batch: Batch, space: &Space) -> Result<()> {
        let most = self.sorting.most();
        if batch.rows == 0 || most == 0 {
            return Ok(());
        }
        for (key, place) in self.sorting.keys.iter().zip(&self.places) {
            if *place >= self.width {
                let value = key.expression.evaluate(&batch)?;
                batch.columns.push(value);
            }
        }
        if let Some(passing) = self.cut.passing(self.sorting, &batch, &self.places)? {
            match passing.len() {
                0 => return Ok(()),
                all if all == batch.rows => {}
                _ => batch = batch.take(&passing)?,
            }
        }
        to.rows += batch.rows;
        to.bytes += batch.bytes();
        to.batches.push(batch);
        let many = to.rows / 2 >= most.max(LEAST) || to.batches.len() >= BATCHES;
        if to.rows > most && many {
            self.keep_first(to)?;
        }
        if (!to.hold() && to.rows > LEAST) || to.rows >= MOST {
            self.set_aside(to, space)?;
        }
        Ok(())
    }

    /// Keeps those rows that come first, as many as are wanted.
    fn keep_first(&self, rows: &mut Collected) -> Result<()> {
        let (all, order) = self.ordered(rows)?;
        let first = all.take(&order)?;
        (rows.rows, rows.bytes) = (first.rows, first.bytes());
        rows.batches = vec![first];
        Ok(())
    }

    /// All rows of a thread as one batch, and the numbers of the first in order; notes the
    /// last of them if they are as many as are wanted.
    fn ordered(&self, rows: &mut Collected) -> Result<(Batch, Vec<u32>)> {
        let most = self.sorting.most();
        let all = together(std::mem::take(&mut rows.batches))?;
        let keys = self.keys(&all);
        let order = Order::new(&keys, &self.sorting.keys, all.rows, most, 1)?;
        let order = order.all(most);
        if let Some(last) = order.last().filter(|_| order.len() == most) {
            self.cut.note(self.sorting, &keys, *last as usize)?;
        }
        Ok((all, order))
    }

    /// Writes the rows of a thread, in order.
    pub(super) fn set_aside(&self, rows: &mut Collected, space: &Space) -> Result<()> {
        if rows.rows > 0 {
            let (all, order) = self.ordered(rows)?;
            rows.runs.push(write(&all, &order, space)?);
        }
        (rows.rows, rows.bytes) = (0, 0);
        rows.held.hold(0);
        Ok(())
    }
}

impl Collected {
    /// Asks for the memory to sort the rows.
    fn hold(&mut self) -> bool {
        // They are put together beside themselves.
        self.held.hold(self.bytes * 2 + self.rows * ROW)
    }
}

/// Some batches as one.
pub(crate) fn together(batches: Vec<Batch>) -> Result<Batch> {
    let rows = batches.iter().map(|batch| batch.rows).sum();
    let columns = super::output::by_column(batches);
    let columns = columns.into_iter().map(|parts| {
        let parts: Vec<&Vector> = parts.iter().collect();
        concat(&parts)
    });
    Ok(Batch {
        columns: columns.collect::<Result<_>>()?,
        rows,
    })
}
