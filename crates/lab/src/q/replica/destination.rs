//! Where selections put their tuples: an unsorted row store in memory (Q, section 3.2).

use super::super::output::Answer;
use super::field::chunk;

/// Tuples of one thread. Its memory is kept from one query to the next, so that none
/// waits for the operating system to find pages.
#[derive(Debug, Default)]
pub struct Destination {
    memory: Vec<u8>,
    used: usize,
    tuples: u64,
    is_text: bool,
    /// The numbers of the tuples that match in a block.
    pub(super) matches: Vec<u32>,
}

impl Destination {
    /// Forgets all tuples.
    pub fn clear(&mut self) {
        (self.used, self.tuples) = (0, 0);
    }

    /// Adds tuples of so many bytes each, and gives their memory to be written; none if
    /// they have no values.
    pub(super) fn insert(&mut self, tuples: usize, bytes: usize, is_text: bool) -> &mut [u8] {
        let start = self.used;
        self.used += tuples * bytes;
        self.tuples += tuples as u64;
        self.is_text = is_text;
        if self.memory.len() < self.used {
            self.memory.resize(self.used.max(self.memory.len() * 2), 0);
        }
        &mut self.memory[start..self.used]
    }

    /// What has come together; reads all of it.
    pub fn answer(&self) -> Answer {
        let memory = &self.memory[..self.used];
        let sum = match self.is_text {
            true => memory.iter().map(|byte| u64::from(*byte)).sum(),
            false => {
                let values = memory.chunks_exact(4).map(|four| chunk::<4>(four, 0));
                values.map(|four| u64::from(u32::from_le_bytes(four))).sum()
            }
        };
        Answer {
            rows: self.tuples,
            sum,
        }
    }

    /// Its tuples, of two integers each.
    #[cfg(test)]
    pub fn tuples(&self) -> Vec<(i32, i32)> {
        let pairs = self.memory[..self.used].chunks_exact(8);
        let integer = |pair: &[u8], at| i32::from_le_bytes(chunk(pair, at));
        pairs
            .map(|pair| (integer(pair, 0), integer(pair, 4)))
            .collect()
    }
}
