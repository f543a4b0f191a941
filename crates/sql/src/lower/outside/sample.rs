//! TABLESAMPLE: a share of the rows. The number of a row decides whether it is drawn, so that a seed
//! draws the same rows whichever thread reads them.

use arrow::array::{BooleanArray, UInt64Array, cast::AsArray};
use arrow::compute::filter;
use arrow::datatypes::{DataType, UInt64Type};
use freestone_exec as exec;
use freestone_exec::vector::Batch;
use freestone_exec::{Gathered, Inside, Operator, Out, Working};

use super::{arrays, batch};
use crate::error::Error;

/// Rows that SYSTEM draws together.
const PAGE: u64 = 1024;

/// Draws rows.
#[derive(Debug)]
pub(in super::super) struct Sampled {
    /// From 0 to 1.
    pub(in super::super) share: f64,
    /// Without one, each run draws others.
    pub(in super::super) seed: Option<f64>,
    /// Whether rows that lie together are drawn together.
    pub(in super::super) system: bool,
    /// Types of the columns. The last are the rows' numbers, which are not given on.
    pub(in super::super) kinds: Vec<DataType>,
}

/// A draw with a seed.
struct Draw<'a> {
    of: &'a Sampled,
    seed: u64,
}

/// A number that looks like chance (the last steps of splitmix64).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Draw<'_> {
    fn is_drawn(&self, row: u64) -> bool {
        let number = if self.of.system { row / PAGE } else { row };
        let drawn = (mixed(self.seed ^ mixed(number)) >> 11) as f64 / (1u64 << 53) as f64;
        self.of.share >= 1.0 || drawn < self.of.share
    }
}

impl Operator for Sampled {
    fn name(&self) -> &'static str {
        "sample"
    }

    fn describe(&self) -> String {
        let by = if self.system { "system" } else { "bernoulli" };
        format!("{by} {}", self.share * 100.0)
    }

    fn is_parallel(&self) -> bool {
        true
    }

    // Without REPEATABLE each run draws others.
    fn is_lasting(&self) -> bool {
        false
    }

    fn begin(&self, _: Vec<Gathered>, _: &dyn Inside) -> exec::Result<Box<dyn Working + '_>> {
        use std::hash::{BuildHasher, Hasher, RandomState};
        let seed = match self.seed {
            Some(seed) => mixed(seed.to_bits()),
            None => RandomState::new().build_hasher().finish(),
        };
        Ok(Box::new(Draw { of: self, seed }))
    }
}

impl Working for Draw<'_> {
    fn push(&self, rows: Batch, _: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        let mut columns = arrays(&rows, &self.of.kinds)?;
        let numbers = columns.pop();
        let numbers: Option<&UInt64Array> = numbers
            .as_ref()
            .and_then(|numbers| numbers.as_primitive_opt::<UInt64Type>());
        let numbers = numbers.ok_or_else(|| super::other(Error::internal("rows without ids")))?;
        let keep = numbers.values().iter().map(|row| Some(self.is_drawn(*row)));
        let keep: BooleanArray = keep.collect();
        let kept = columns.iter().map(|column| filter(column, &keep));
        let kept = kept.collect::<Result<Vec<_>, _>>()?;
        out(batch(&kept, keep.true_count())?)
    }
}
