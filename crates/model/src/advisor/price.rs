//! What a workload costs under a design.

use super::design::{Index, Stored};
use super::usage::{Run, Test, Usage};
use super::workload::Workload;
use crate::calibration::Calibration;
use crate::query::Bound;
use crate::selection::{Selection, Used};

/// Rows that the tuple mover writes for each row that was changed: it writes a block
/// again when a share of its rows is gone, and of a sorted table all that new rows come
/// between.
const REWRITTEN: f64 = 5.0;
const REWRITTEN_SORTED: f64 = 50.0;
/// Of a table in ranges they come between those of their range.
const REWRITTEN_RANGES: f64 = 10.0;
/// Of rows that an index gives, this share at most is fetched one by one.
const BY_INDEX: f64 = 0.05;
/// Seconds to plan a query. Rows with one value in an index are found without a plan.
const PLANNING: f64 = 60e-6;
/// What was tried corrects the model by at most so much, up or down.
const CORRECTION: f64 = 64.0;

/// What a scan costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Seconds of one thread, the blocks being in memory.
    pub seconds: f64,
    /// Seconds more if they come from disk.
    pub disk_seconds: f64,
    /// What holds it back in memory.
    pub bound: Bound,
    /// Whether it needs a plan.
    pub planned: bool,
}

impl Price {
    /// Seconds of one run whose scans `threads` share, with its plan.
    pub(super) fn with_plan(&self, threads: f64) -> f64 {
        self.seconds / threads + self.planning()
    }

    /// Seconds of its plan alone, if it needs one.
    pub fn planning(&self) -> f64 {
        if self.planned { PLANNING } else { 0.0 }
    }
}

/// What a workload costs a second of recorded work: the sums that designs are compared by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Total {
    /// Seconds of queries.
    pub reading: f64,
    /// Seconds of look-ups by key.
    pub looking_up: f64,
    /// Seconds of writing rows into blocks.
    pub writing: f64,
}

impl Total {
    /// All of it.
    pub fn seconds(&self) -> f64 {
        self.reading + self.looking_up + self.writing
    }
}

/// The price of one run of a usage, corrected by what was tried of it; none if its layout
/// was not measured.
pub fn price(
    calibration: &Calibration,
    stored: &Stored,
    usage: &Usage,
    run: &Run,
) -> Option<Price> {
    if !stored.mixture.is_empty() {
        return mixed(calibration, stored, usage, run);
    }
    let modelled = modelled(calibration, stored, usage, run)?;
    let tried = stored.tried(usage).and_then(|tried| {
        let small = Stored {
            rows: stored.tried.as_ref()?.rows,
            blocks: 1.0,
            tried: None,
            in_order: true,
            ..stored.clone()
        };
        // All of the rows that were tried are looked at but those that an order rules out.
        let all = Run {
            scanned: 1.0,
            ..run.clone()
        };
        let expected = self::modelled(calibration, &small, usage, &all)?;
        Some(tried.seconds / expected.seconds.max(1e-9))
    });
    // What needs no plan was not tried as it is run.
    let factor = tried.filter(|_| modelled.planned).unwrap_or(1.0);
    Some(Price {
        seconds: modelled.seconds * factor.clamp(1.0 / CORRECTION, CORRECTION),
        ..modelled
    })
}

/// The price of a table in several layouts: that of each for its share of the rows; held back
/// by what holds back the largest share.
fn mixed(calibration: &Calibration, stored: &Stored, usage: &Usage, run: &Run) -> Option<Price> {
    let parts = stored.mixture.iter();
    let parts = parts.map(|(share, part)| Some((*share, price(calibration, part, usage, run)?)));
    let parts: Vec<(f64, Price)> = parts.collect::<Option<_>>()?;
    let largest = parts.iter().max_by(|one, two| one.0.total_cmp(&two.0))?.1;
    let sum = |of: fn(&Price) -> f64| parts.iter().map(|(share, price)| share * of(price)).sum();
    Some(Price {
        seconds: sum(|price| price.seconds),
        disk_seconds: sum(|price| price.disk_seconds),
        planned: parts.iter().any(|(_, price)| price.planned),
        ..largest
    })
}

/// The price by the model alone: that of the cheapest way to find the rows.
fn modelled(calibration: &Calibration, stored: &Stored, usage: &Usage, run: &Run) -> Option<Price> {
    let ways = Way::all(stored, usage, run).into_iter();
    let prices = ways.filter_map(|way| way.price(calibration, stored, usage, run));
    prices.min_by(|one, two| one.with_plan(1.0).total_cmp(&two.with_plan(1.0)))
}

/// What a workload costs; usages of columns that are gone cost nothing.
pub fn total(calibration: &Calibration, stored: &Stored, workload: &Workload) -> Total {
    let priced = workload.usages.iter().filter_map(|(usage, runs)| {
        let price = price(calibration, stored, usage, &runs.mean())?;
        Some(price.with_plan(1.0) * runs.count)
    });
    let changed = workload.updated + workload.deleted;
    let rewritten = match (&stored.design.partition_by, &stored.design.sort_by) {
        (Some(_), _) => REWRITTEN_RANGES,
        (None, Some(_)) => REWRITTEN_SORTED,
        (None, None) => REWRITTEN,
    };
    Total {
        reading: priced.sum(),
        looking_up: workload.looked_up * stored.fetch_seconds,
        writing: (workload.inserted + rewritten * changed) * stored.write_seconds,
    }
}

/// The kind of index that has its values in order.
pub(super) const CSB: &str = "csb";
/// The kind that only tells of a value that no row has it.
const BLOOM: &str = "bloom";

/// Whether an index finds the rows that pass a condition, and these are few enough: of
/// a value all kinds are priced so, of a range those that have values in order.
pub(super) fn may_find(index: &Index, test: Test, share: f64) -> bool {
    let finds = match test {
        Test::Equal => true,
        Test::Range => index.kind != BLOOM,
        Test::Present | Test::Absent | Test::Other => false,
    };
    finds && share <= BY_INDEX
}

/// How rows are found.
enum Way {
    /// So many of so many blocks are looked at.
    Scan(f64, f64),
    /// An order has decided a condition: so many rows of so many blocks are left.
    Order(usize, f64, f64),
    /// Indexes of so many blocks find so many rows, which are fetched one by one; whether
    /// without a plan.
    Index(f64, f64, bool),
}

/// The share of the rows that lie in ranges of which some may pass.
fn in_ranges(stored: &Stored, usage: &Usage, run: &Run) -> f64 {
    let Some(partition) = &stored.design.partition_by else {
        return 1.0;
    };
    let ranges = f64::from(partition.ranges.max(1));
    let tested = usage.tested.iter().zip(&run.shares);
    let tested = tested.filter(|(tested, _)| tested.column == partition.column);
    let left = tested.map(|(tested, share)| match tested.test {
        Test::Equal => share.max(1.0 / ranges),
        // It begins within a range and ends within another.
        Test::Range => (share * ranges + 1.0).ceil() / ranges,
        Test::Present | Test::Absent | Test::Other => 1.0,
    });
    left.fold(1.0, f64::min)
}

impl Way {
    fn all(stored: &Stored, usage: &Usage, run: &Run) -> Vec<Way> {
        let scanned = if stored.in_order { run.scanned } else { 1.0 };
        let left = in_ranges(stored, usage, run);
        let blocks_left = (stored.blocks * left).ceil().max(1.0);
        let rows = stored.rows * scanned.min(left).max(run.selected);
        let mut ways = vec![Way::Scan(rows, blocks_left)];
        let alone = usage.tested.len() == 1
            && usage.joined.is_empty()
            && usage.grouped.is_empty()
            && usage.sorted.is_empty();
        for (place, tested) in usage.tested.iter().enumerate() {
            let share = run.shares.get(place).copied().unwrap_or(1.0);
            let share = share.clamp(0.0, 1.0);
            let matching = stored.rows * share;
            let is_sorted = stored.design.sort_by.as_ref() == Some(&tested.column);
            if is_sorted && tested.test.is_of_order() {
                ways.push(match stored.design.partition_by {
                    // Each range is sorted by itself.
                    Some(_) => Way::Order(place, matching * left, blocks_left),
                    // The table is sorted as a whole when it is written.
                    None => Way::Order(place, matching, (stored.blocks * share).ceil().max(1.0)),
                });
            }
            let indexes = &stored.design.indexes;
            let index = indexes.iter().find(|index| index.column == tested.column);
            if let Some(index) = index
                && may_find(index, tested.test, share)
            {
                let unplanned = alone && tested.test == Test::Equal && index.kind == CSB;
                ways.push(Way::Index(matching, blocks_left, unplanned));
            }
        }
        ways
    }

    fn price(
        &self,
        calibration: &Calibration,
        stored: &Stored,
        usage: &Usage,
        run: &Run,
    ) -> Option<Price> {
        let machine = &calibration.machine;
        let miss = machine.miss_cycles / machine.clock;
        let price = |seconds, bound, planned, disk_seconds| Price {
            seconds,
            disk_seconds,
            bound,
            planned,
        };
        let (decided, rows, blocks) = match self {
            Way::Index(matching, blocks, alone) => {
                let descents = blocks * calibration.costs.descent_misses() * miss;
                let seconds = descents + matching * (fetch_seconds(stored, usage) + miss);
                let cold = matching.min(*blocks) * machine.seek_seconds;
                return Some(price(seconds, Bound::Processor, !alone, cold));
            }
            Way::Scan(rows, blocks) => (None, *rows, *blocks),
            Way::Order(place, rows, blocks) => (Some(*place), *rows, *blocks),
        };
        let selection = selection(stored, (usage, run), decided, rows, blocks);
        let scanner = calibration.costs.scanner(&selection)?;
        // What is handed over where it lies is read by whoever wants it.
        let read = selection.read.iter();
        let lies = read.filter(|used| used.kind.ends_with(" plain"));
        let bytes = lies.map(|used| used.stored).sum::<f64>() * selection.rows * selection.share;
        let bandwidth = machine.memory_bytes_per_cycle * machine.clock;
        let seconds = scanner.rate(machine).seconds(selection.rows);
        let searches = decided.map_or(0.0, |_| blocks * calibration.costs.descent_misses() * miss);
        let bound = match scanner.waits_for_memory(machine) {
            true => Bound::Memory,
            false => Bound::Processor,
        };
        let cold = calibration.costs.cold_seconds(machine, &selection)?;
        Some(price(
            seconds.max(bytes / bandwidth) + searches,
            bound,
            true,
            cold,
        ))
    }
}

/// Seconds to fetch what a usage reads of one row: as tried, else by the share of the columns.
pub(super) fn fetch_seconds(stored: &Stored, usage: &Usage) -> f64 {
    if let Some(tried) = stored.tried(usage) {
        return tried.fetch_seconds;
    }
    let columns = (usage.read.len() + usage.tested.len()) as f64;
    let share = (columns / stored.columns.len().max(1) as f64).min(1.0);
    stored.fetch_seconds * share
}

fn selection(
    stored: &Stored,
    (usage, run): (&Usage, &Run),
    decided: Option<usize>,
    rows: f64,
    blocks: f64,
) -> Selection {
    let used = |name: &String| stored.columns.get(name).cloned();
    let wanted = stored.rows * run.selected;
    let rows = rows.max(wanted).max(1.0);
    let (mut tested, mut reached): (Vec<(Used, f64)>, f64) = (Vec::new(), 1.0);
    let terms = usage.tested.iter().enumerate();
    let terms = terms.filter(|(place, _)| decided != Some(*place));
    let share = |place| run.shares.get(place).copied().unwrap_or(1.0);
    let terms = terms.map(|(place, tested)| (share(place), &tested.column));
    let mut terms: Vec<(f64, &String)> = terms.collect();
    // Storage tests first what drops most.
    terms.sort_by(|one, two| one.0.total_cmp(&two.0));
    for (share, column) in terms {
        tested.extend(used(column).map(|used| (used, reached)));
        reached *= share.clamp(0.0, 1.0);
    }
    Selection {
        layout: stored.design.layout.clone(),
        blocks,
        rows,
        tuple_bytes: stored.tuple_bytes(),
        stride: Selection::stride(&stored.design.layout, stored.columns.values()),
        tested,
        share: (wanted / rows).clamp(0.0, 1.0),
        read: usage.read.iter().filter_map(used).collect(),
    }
}
