//! How queries use a table: what the record keeps of each, and what the advisor is asked
//! to make fast.

use serde::{Deserialize, Serialize};

/// The use that a query made of one table, without the constants it compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Usage {
    /// Columns whose values it read, each once, by name.
    pub read: Vec<String>,
    /// Conditions that all had to be true.
    pub tested: Vec<Tested>,
    /// Columns that rows of other tables were compared with.
    pub joined: Vec<String>,
    /// Columns that it grouped by.
    pub grouped: Vec<String>,
    /// Columns that it sorted by.
    pub sorted: Vec<String>,
}

/// A condition on one column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tested {
    /// The column.
    pub column: String,
    /// What it is compared by.
    pub test: Test,
}

/// What a condition asks of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// To be one of some values: an index or an order finds them.
    Equal,
    /// To lie between two: an order or an index in order finds them.
    Range,
    /// To be there, or not to be: no value is looked at.
    Present,
    /// See `Present`.
    Absent,
    /// Anything else: every value is looked at.
    Other,
}

impl Test {
    /// Whether the rows that pass lie together where the column is in order.
    pub(super) fn is_of_order(self) -> bool {
        matches!(self, Test::Equal | Test::Range)
    }
}

/// What one run of a query found and took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Seconds from its begin, when its plan is there, to its end, of all that it did.
    pub seconds: f64,
    /// Share of the table's rows that the query got: they passed all conditions and what was
    /// asked of keys of joins.
    pub selected: f64,
    /// Share of the rows that were looked at, others being ruled out by their block or zone.
    pub scanned: f64,
    /// Share of the rows that pass each condition of [`Usage::tested`] by itself.
    pub shares: Vec<f64>,
}

/// Runs of one usage: all are sums that count recent runs more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// How many.
    pub count: f64,
    /// Their [`Run`]s, added up.
    pub seconds: f64,
    /// See [`Run::selected`].
    pub selected: f64,
    /// See [`Run::scanned`].
    pub scanned: f64,
    /// See [`Run::shares`].
    pub shares: Vec<f64>,
}

impl Runs {
    /// Counts so many more that are alike.
    pub fn add_alike(&mut self, run: &Run, count: f64) {
        self.count += count;
        self.seconds += count * run.seconds;
        self.selected += count * run.selected;
        self.scanned += count * run.scanned;
        self.shares
            .resize(self.shares.len().max(run.shares.len()), 0.0);
        for (sum, share) in self.shares.iter_mut().zip(&run.shares) {
            *sum += count * share;
        }
    }

    /// Lets all of them count less.
    pub fn fade(&mut self, factor: f64) {
        let sums = [
            &mut self.count,
            &mut self.seconds,
            &mut self.selected,
            &mut self.scanned,
        ];
        let sums = sums.into_iter().chain(&mut self.shares);
        sums.for_each(|sum| *sum *= factor);
    }

    /// The average of them.
    pub fn mean(&self) -> Run {
        let count = self.count.max(f64::MIN_POSITIVE);
        Run {
            seconds: self.seconds / count,
            selected: (self.selected / count).clamp(0.0, 1.0),
            scanned: (self.scanned / count).clamp(0.0, 1.0),
            shares: self.shares.iter().map(|sum| sum / count).collect(),
        }
    }
}
