//! How many rows conditions leave, learnt from a sample of the table.

use std::sync::Arc;

use arrow::buffer::BooleanBuffer;
use freestone_exec::expression::Expression;
use freestone_exec::vector::{Batch, Vector};
use freestone_storage::{Predicate, Sample, Table};

/// One row in so many is many in the delta.
const MANY: u64 = 16;

/// The rows of a table's sample that conditions have left so far.
#[derive(Clone)]
pub(crate) struct Sampled {
    sample: Arc<Sample>,
    projection: Vec<usize>,
    left: BooleanBuffer,
}

impl Sampled {
    /// Those for which a predicate is TRUE; `None` if there is no row to ask, or it
    /// cannot be read, which a scan will complain of.
    pub(super) fn of(
        table: &Arc<Table>,
        projection: &[usize],
        predicate: Option<&Predicate>,
    ) -> Option<Self> {
        let sample = table.sample();
        let left = match predicate {
            _ if sample.rows() == 0 => return None,
            Some(predicate) => sample.passing(predicate).ok()?,
            None => BooleanBuffer::new_set(sample.rows()),
        };
        Some(Self {
            sample,
            projection: projection.to_vec(),
            left,
        })
    }

    /// Those of them for which a condition on columns of the projection is TRUE; `None`
    /// if it cannot be evaluated for all.
    pub(super) fn filtered(&self, condition: &Expression) -> Option<Self> {
        let sample = &self.sample;
        let mut read = Vec::new();
        condition.columns(&mut |column| read.push(column));
        read.sort_unstable();
        read.dedup();
        let columns = read.iter().map(|column| {
            let column = self.projection.get(*column)?;
            Vector::from_arrow(sample.column(*column).ok()?).ok()
        });
        let batch = Batch {
            columns: columns.collect::<Option<_>>()?,
            rows: sample.rows(),
        };
        let place = |column: usize| read.binary_search(&column).unwrap_or(usize::MAX);
        let passing = condition.moved(&place).passing(&batch).ok()?;
        Some(Self {
            left: &self.left & &passing,
            ..self.clone()
        })
    }

    /// About how many different values a column of the table has; `known` are those of its
    /// blocks.
    pub(super) fn distinct(&self, column: usize, known: f64) -> f64 {
        let (all, in_delta) = self.sample.of_table();
        match in_delta * MANY < all {
            true => known,
            false => self.sample.distinct(column).unwrap_or(known).max(known),
        }
    }

    /// About how many rows the table has.
    pub(super) fn rows(&self) -> f64 {
        self.sample.of_table().0 as f64
    }

    /// The share of all rows that is left; `guess` counts where no row of the sample is,
    /// as few rows as are.
    pub(super) fn share(&self, guess: f64) -> f64 {
        let sample = &self.sample;
        let (left, rows) = (self.left.count_set_bits(), sample.rows() as f64);
        match left {
            0 if sample.is_whole() => 0.0,
            0 => guess.min(0.5 / rows),
            left => left as f64 / rows,
        }
    }
}
