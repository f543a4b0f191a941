//! Plans computed range by range (H6, Q8): where tables are stored about in the order of a
//! column that rows are grouped or joined by, the rows of one range of its values make
//! groups and pairs of their own. They come out before the input has ended, take the memory
//! of one range for each thread, and need not be merged.

use crate::context::{Bounds, Most};
use crate::plan::{Metrics, Plan, Ranges, Table};
use crate::scan::Filter;
use crate::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A plan whose ranges threads take one after the other.
pub(crate) struct PlanRanges<'a> {
    pub plan: &'a Plan,
    pub filters: Vec<Filter>,
    pub metrics: &'a Metrics,
    cuts: &'a [i64],
    keys: Vec<(&'a Table, usize)>,
    next: AtomicUsize,
}

impl<'a> PlanRanges<'a> {
    /// The ranges of a plan, of which none is taken yet.
    ///
    /// # Errors
    /// `internal` if they are in no order, or of no table of the plan.
    pub fn new(
        plan: &'a Plan,
        ranges: &'a Ranges,
        metrics: &'a Metrics,
        filters: &[Filter],
    ) -> Result<PlanRanges<'a>> {
        if !ranges.cuts.is_sorted_by(|one, next| one < next) {
            return Err(Error::internal("ranges that are not in order"));
        }
        let tables = plan.tables();
        let keys = ranges.columns.iter().map(|(number, column)| {
            let table = tables.get(*number).copied();
            let table = table.ok_or_else(|| Error::internal("a range of no table"))?;
            Ok((table, *column))
        });
        Ok(PlanRanges {
            plan,
            filters: filters.to_vec(),
            metrics,
            cuts: &ranges.cuts,
            keys: keys.collect::<Result<_>>()?,
            next: AtomicUsize::new(0),
        })
    }

    /// How many ranges.
    pub fn count(&self) -> usize {
        self.cuts.len() + 1
    }

    /// The next range that nobody has taken.
    pub fn next<'r>(
        &'r self,
        around: Option<&'r Bounds<'r>>,
        most: &'r Most,
    ) -> Option<Bounds<'r>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.count()).then(|| Bounds {
            from: number.checked_sub(1).map(|before| self.cuts[before]),
            to: self.cuts.get(number).copied(),
            keys: &self.keys,
            around,
            most,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
