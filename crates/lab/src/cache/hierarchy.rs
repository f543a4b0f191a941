//! Caches one behind the other.

use super::geometry::Geometry;
use super::level::Level;

/// Caches from the nearest to the furthest, and what they have counted.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    levels: Vec<Level>,
    reads: u64,
    misses: Vec<u64>,
}

/// What a [`Hierarchy`] has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines of the nearest cache that were asked for.
    pub reads: u64,
    /// Misses of each level, the nearest first; each is a read of the next.
    pub misses: Vec<u64>,
}

impl Hierarchy {
    /// Empty caches, the nearest first.
    pub fn new(levels: &[Geometry]) -> Hierarchy {
        Hierarchy {
            levels: levels.iter().copied().map(Level::new).collect(),
            reads: 0,
            misses: vec![0; levels.len()],
        }
    }

    /// Reads `length` bytes from `address` on.
    pub fn read(&mut self, address: u64, length: u64) {
        let Some(line) = self.levels.first().map(Level::line) else {
            return;
        };
        let (first, last) = (address / line, (address + length.max(1) - 1) / line);
        for number in first..=last {
            self.reads += 1;
            self.descend(number * line);
        }
    }

    /// Asks level after level until one has the line.
    fn descend(&mut self, address: u64) {
        for (level, misses) in self.levels.iter_mut().zip(&mut self.misses) {
            if level.touch(address) {
                return;
            }
            *misses += 1;
        }
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        Counts {
            reads: self.reads,
            misses: self.misses.clone(),
        }
    }

    /// Counts from zero; what is in the caches stays.
    pub fn restart(&mut self) {
        self.reads = 0;
        self.misses.fill(0);
    }
}

impl Counts {
    /// Misses of level `number`, counted from 1 as processors' are.
    pub fn of_level(&self, number: usize) -> u64 {
        let place = number.checked_sub(1);
        place.map_or(0, |place| self.misses.get(place).copied().unwrap_or(0))
    }

    /// Misses of the last level: lines that come from memory.
    pub fn from_memory(&self) -> u64 {
        self.misses.last().copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(first: u64, second: u64) -> Hierarchy {
        let level = |bytes, line| Geometry {
            bytes,
            ways: 2,
            line,
        };
        Hierarchy::new(&[level(first, 32), level(second, 64)])
    }

    /// 1,024 bytes in sequence, 8 at a time: 128 reads; a line of the nearest cache
    /// is missed every 4 of them, one of the second every 8.
    #[test]
    fn a_sequence_misses_each_line_once() {
        let mut caches = two(256, 4096);
        (0..128).for_each(|number| caches.read(8 * number, 8));
        assert_eq!(
            (caches.counts().reads, caches.counts().misses),
            (128, vec![32, 16])
        );
        // Again: too much for 256 bytes, not for 4,096.
        caches.restart();
        (0..128).for_each(|number| caches.read(8 * number, 8));
        assert_eq!(caches.counts().misses, [32, 0]);
    }

    /// Every 64 bytes 8 of them, as from rows: each read misses both.
    #[test]
    fn a_stride_of_lines_misses_always() {
        let mut caches = two(256, 1024);
        (0..1000).for_each(|number| caches.read(64 * number, 8));
        assert_eq!(caches.counts().misses, [1000, 1000]);
        assert_eq!(caches.counts().of_level(2), caches.counts().from_memory());
        assert_eq!(caches.counts().of_level(3), 0);
    }

    #[test]
    fn a_value_across_lines_is_two_reads() {
        let mut caches = two(256, 1024);
        caches.read(28, 8);
        caches.read(60, 8);
        assert_eq!(caches.counts().reads, 4);
        // Lines 0, 1 (known by then) and 2 of the nearest, 0 and 1 of the second.
        assert_eq!(caches.counts().misses, [3, 2]);
    }
}
