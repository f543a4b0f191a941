//! TABLESAMPLE: a share of the rows, drawn one by one or by batches.

use datafusion::arrow::array::BooleanArray;
use datafusion::arrow::compute::filter_record_batch;
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;

use super::super::operator::{Batches, Operator, Run};

/// Draws rows.
#[derive(Debug)]
pub(in super::super) struct Sampled {
    /// From 0 to 1.
    share: f64,
    seed: Option<f64>,
    /// Whether whole batches are drawn.
    system: bool,
}

impl Sampled {
    pub(in super::super) fn new(share: f64, seed: Option<f64>, system: bool) -> Self {
        Self {
            share,
            seed,
            system,
        }
    }
}

/// The next number of a sequence that looks like chance (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Operator for Sampled {
    fn name(&self) -> &'static str {
        "Sample"
    }

    fn describe(&self) -> String {
        let by = if self.system { "system" } else { "bernoulli" };
        format!("{by} {}", self.share * 100.0)
    }

    // Without REPEATABLE each run draws others.
    fn is_lasting(&self) -> bool {
        false
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let Some(input) = inputs.into_iter().next() else {
            return Ok(Box::pin(futures::stream::empty()));
        };
        let mut state = match self.seed {
            Some(seed) => seed.to_bits(),
            None => {
                use std::hash::{BuildHasher, Hasher};
                std::collections::hash_map::RandomState::new()
                    .build_hasher()
                    .finish()
            }
        };
        let (share, system) = (self.share, self.system);
        let mut draw = move || (next(&mut state) >> 11) as f64 / (1u64 << 53) as f64 <= share;
        let mut chosen = move || share > 0.0 && (share >= 1.0 || draw());
        Ok(Box::pin(input.map(move |batch| {
            let batch = batch?;
            let rows = batch.num_rows();
            let keep: BooleanArray = match system {
                true => {
                    let all = chosen();
                    (0..rows).map(|_| Some(all)).collect()
                }
                false => (0..rows).map(|_| Some(chosen())).collect(),
            };
            let kept = filter_record_batch(&batch, &keep)?;
            run.batch(kept.columns().to_vec(), kept.num_rows())
        })))
    }
}
