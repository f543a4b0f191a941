//! One set-associative cache.

use super::geometry::Geometry;

/// A tag that no line has: addresses end long before.
const NOTHING: u64 = u64::MAX;

/// One cache, and what is in it.
#[derive(Clone, Debug)]
pub(super) struct Level {
    geometry: Geometry,
    sets: u64,
    /// Numbers of lines, set by set; of each set the one used last comes first.
    tags: Vec<u64>,
}

impl Level {
    /// An empty cache.
    pub fn new(geometry: Geometry) -> Level {
        let sets = geometry.sets();
        Level {
            geometry,
            sets,
            tags: vec![NOTHING; (sets * geometry.ways) as usize],
        }
    }

    /// Bytes of a line.
    pub fn line(&self) -> u64 {
        self.geometry.line
    }

    /// Uses the line that holds `address`; whether it was there. Now it is.
    pub fn touch(&mut self, address: u64) -> bool {
        let line = address / self.geometry.line;
        let ways = self.geometry.ways as usize;
        let first = (line % self.sets) as usize * ways;
        let set = &mut self.tags[first..first + ways];
        match set.iter().position(|tag| *tag == line) {
            Some(place) => {
                set[..=place].rotate_right(1);
                true
            }
            None => {
                set.rotate_right(1);
                set[0] = line;
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sets of two lines of 16 bytes: lines 0, 2, 4 … share the first set.
    fn small() -> Level {
        Level::new(Geometry {
            bytes: 64,
            ways: 2,
            line: 16,
        })
    }

    #[test]
    fn the_line_used_longest_ago_goes() {
        let mut level = small();
        let lines = |level: &mut Level, lines: &[u64]| -> Vec<bool> {
            lines.iter().map(|line| level.touch(16 * line)).collect()
        };
        // 0 and 2 fill the set, 0 is used again, so that 4 takes the place of 2.
        let found = lines(&mut level, &[0, 2, 0, 4, 0, 2]);
        assert_eq!(found, [false, false, true, false, true, false]);
        // The other set is untouched, and holds two lines of its own.
        let found = lines(&mut level, &[1, 3, 1, 3]);
        assert_eq!(found, [false, false, true, true]);
    }

    #[test]
    fn all_bytes_of_a_line_come_together() {
        let mut level = small();
        assert!(!level.touch(31));
        assert!(level.touch(16));
        assert!(!level.touch(32));
    }

    #[test]
    fn a_direct_mapped_cache_keeps_one_line_a_set() {
        let mut level = Level::new(Geometry {
            bytes: 64,
            ways: 1,
            line: 16,
        });
        assert!(!level.touch(0));
        assert!(!level.touch(64));
        assert!(!level.touch(0));
        assert!(!level.touch(16));
        assert!(level.touch(0));
    }
}
