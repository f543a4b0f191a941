//! The shape of one cache.

/// The shape of one cache; all numbers are at least 1, those of lines powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes in all.
    pub bytes: u64,
    /// Lines of a set; 1 is a direct-mapped cache.
    pub ways: u64,
    /// Bytes of a line.
    pub line: u64,
}

impl Geometry {
    /// How many sets it has, one at least.
    pub fn sets(self) -> u64 {
        (self.bytes / (self.ways * self.line)).max(1)
    }

    /// For people to read, as `16 KiB, 4 ways, 32 B lines`.
    pub fn described(self) -> String {
        let size = match self.bytes {
            bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
            bytes => format!("{} KiB", bytes >> 10),
        };
        let ways = match self.ways {
            1 => "direct-mapped".to_string(),
            ways => format!("{ways} ways"),
        };
        format!("{size}, {ways}, {} B lines", self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_what_ways_and_lines_leave() {
        let cache = Geometry {
            bytes: 16 << 10,
            ways: 4,
            line: 32,
        };
        assert_eq!(cache.sets(), 128);
        assert_eq!(cache.described(), "16 KiB, 4 ways, 32 B lines");
        let direct = Geometry { ways: 1, ..cache };
        assert_eq!(direct.described(), "16 KiB, direct-mapped, 32 B lines");
    }
}
