//! Plans computed range by range (H6, Q8): where tables are stored about in the order of a
//! column that rows are grouped or joined by, the rows of one range of its values make
//! groups and pairs of their own. They come out before the input has ended, take the memory
//! of one range for each thread, and need not be merged.

use crate::context::{Context, Most};
use crate::drive::{Pipeline, Target};
use crate::plan::{Metrics, Plan, Table};
use crate::scan::Filter;
use crate::shared::SharedPlans;
use crate::source::Source;
use crate::step::flow;
use crate::threads::Workers;
use crate::vector::Selected;
use crate::{Error, Result};
use freestone_storage::{CompareOp, Predicate, Value};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The range that is computed.
pub(crate) struct Bounds<'r> {
    /// Where it begins, and what lies behind it.
    from: Option<i64>,
    to: Option<i64>,
    keys: &'r [(&'r Table, usize)],
    /// The range around it, of a plan that has this one as part.
    around: Option<&'r Bounds<'r>>,
    pub most: &'r Most,
}

impl Bounds<'_> {
    /// Adds what is asked of the rows of a table.
    pub fn add_terms(&self, table: &Table, terms: &mut Vec<Predicate>) {
        let keys = self.keys.iter();
        for (_, column) in keys.filter(|(of, _)| std::ptr::eq(*of, table)) {
            let term = |op, bound: i64| Predicate::Compare {
                column: *column,
                op,
                value: Value::Int(bound.into()),
            };
            terms.extend(self.from.map(|from| term(CompareOp::GtEq, from)));
            terms.extend(self.to.map(|to| term(CompareOp::Lt, to)));
        }
        if let Some(around) = self.around {
            around.add_terms(table, terms);
        }
    }
}

/// A plan whose ranges threads take one after the other.
pub(crate) struct PlanRanges<'a> {
    plan: &'a Plan,
    cuts: &'a [i64],
    keys: Vec<(&'a Table, usize)>,
    filters: Vec<Filter>,
    next: AtomicUsize,
    metrics: &'a Metrics,
}

impl PlanRanges<'_> {
    /// How many ranges.
    pub fn count(&self) -> usize {
        self.cuts.len() + 1
    }

    /// The next range that nobody has taken.
    fn next<'r>(&'r self, around: Option<&'r Bounds<'r>>, most: &'r Most) -> Option<Bounds<'r>> {
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

/// Takes the rows of a range.
type Taker<'t> = &'t mut (dyn FnMut(Selected) -> Result<()> + Send);

impl Context<'_> {
    /// The rows of a plan, range by range.
    pub(crate) fn ranges<'a>(
        &self,
        plan: &'a Plan,
        ranges: &'a Ranges,
        metrics: &'a Metrics,
        filters: &[Filter],
    ) -> Result<Pipeline<'a>> {
        if !ranges.cuts.is_sorted_by(|one, next| one < next) {
            return Err(Error::internal("ranges that are not in order"));
        }
        let tables = plan.tables();
        let keys = ranges.columns.iter().map(|(number, column)| {
            let table = tables.get(*number).copied();
            let table = table.ok_or_else(|| Error::internal("a range of no table"))?;
            Ok((table, *column))
        });
        let keys = keys.collect::<Result<_>>()?;
        // Within a range, whoever began the outermost has announced all.
        if self.bounds.is_none() {
            self.counters.announce(plan, ranges.count() as u64);
        }
        Ok(Pipeline::of(Source::Ranges(PlanRanges {
            plan,
            cuts: &ranges.cuts,
            keys,
            filters: filters.to_vec(),
            next: AtomicUsize::new(0),
            metrics,
        })))
    }

    /// Sends the rows of each range through the steps of a pipeline.
    pub(crate) fn fill_of_ranges<S: Send>(
        &self,
        ranges: &PlanRanges<'_>,
        pipeline: &Pipeline<'_>,
        workers: Workers,
        sinks: Vec<S>,
        target: &Target<'_, S>,
    ) -> Result<Vec<S>> {
        let is_full = || (target.is_full)() || pipeline.is_full(0);
        self.phase(sinks, workers, |sink, goes_on| {
            let most = Most::default();
            let most = self.bounds.map_or(&most, |around| around.most);
            let is_unwanted = || goes_on().is_err() || is_full();
            let mut push = |rows: Selected| {
                ranges.metrics.add(rows.rows(), Instant::now());
                flow(&pipeline.steps, rows, &mut |rows| (target.push)(sink, rows))
            };
            while !is_full()
                && let Some(bounds) = ranges.next(self.bounds, most)
            {
                goes_on()?;
                let shared = SharedPlans::default();
                let context = Context {
                    shared: &shared,
                    threads: 1,
                    is_unwanted: &is_unwanted,
                    bounds: Some(&bounds),
                    ..*self
                };
                let outcome = context.range(ranges, &mut push, &is_full);
                self.ended(outcome, &is_full)?;
            }
            Ok(())
        })
    }

    /// Computes one range on this thread: with one sink, none of the pool is asked for.
    fn range(
        &self,
        ranges: &PlanRanges<'_>,
        push: Taker<'_>,
        is_full: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        let pipeline = self.open(ranges.plan, &ranges.filters)?;
        let target = Target {
            push: &|push: &mut Taker<'_>, rows| push(rows),
            is_full,
        };
        self.fill(&pipeline, Workers::Pooled, vec![push], &target)?;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
