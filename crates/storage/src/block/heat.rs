//! How hot a block is: how often its rows are asked for one by one.

use super::Block;
use std::sync::atomic::Ordering;

impl Block {
    /// How often single rows of it were asked for by key; half of it is forgotten each
    /// time that [`Block::cool`] is called.
    pub fn heat(&self) -> u64 {
        self.heat.load(Ordering::Relaxed)
    }

    /// Forgets half of its heat.
    pub fn cool(&self) {
        let _ = self
            .heat
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |heat| Some(heat / 2));
    }

    /// Single rows of it, or of blocks that it came of, were asked for.
    pub(crate) fn warm(&self, times: u64) {
        self.heat.fetch_add(times, Ordering::Relaxed);
    }
}
