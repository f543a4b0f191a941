//! Rows of which some do not count.

use super::Batch;
use crate::Result;
use arrow_buffer::BooleanBuffer;

/// Some rows, and which of them count: what is computed with all of them costs less than
/// dropping a few.
#[derive(Debug)]
pub(crate) struct Selected {
    /// The rows.
    pub batch: Batch,
    /// Which of them count; `None` for all.
    pub which: Option<BooleanBuffer>,
}

impl Selected {
    /// The rows that count.
    ///
    /// # Errors
    /// Those of taking rows of arrays.
    pub fn whole(self) -> Result<Batch> {
        match self.which {
            Some(which) => self.batch.take(&positions(&which)),
            None => Ok(self.batch),
        }
    }

    /// How many rows count.
    pub fn rows(&self) -> usize {
        match &self.which {
            Some(which) => which.count_set_bits(),
            None => self.batch.rows,
        }
    }
}

impl From<Batch> for Selected {
    fn from(batch: Batch) -> Selected {
        Selected { batch, which: None }
    }
}

/// The numbers of the bits that are set.
pub(crate) fn positions(bits: &BooleanBuffer) -> Vec<u32> {
    // In range: a batch has fewer than 2^32 rows.
    bits.set_indices().map(|row| row as u32).collect()
}
