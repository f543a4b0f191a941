//! Caches of machines: those of the PAX paper, and of this one.

use super::geometry::Geometry;
use super::hierarchy::Hierarchy;
use std::fs;
use std::path::Path;

/// The data caches of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheMachine {
    /// What it is called.
    pub name: String,
    /// Its caches, the nearest first.
    pub levels: Vec<Geometry>,
}

/// A cache of so many KiB.
fn cache(kibibytes: u64, ways: u64, line: u64) -> Geometry {
    Geometry {
        bytes: kibibytes << 10,
        ways,
        line,
    }
}

impl CacheMachine {
    fn new(name: &str, levels: &[Geometry]) -> CacheMachine {
        CacheMachine {
            name: name.into(),
            levels: levels.to_vec(),
        }
    }

    /// The machine of P, section 5.1: 16 KB and 512 KB, both of 4 ways and lines of 32 bytes.
    pub fn pentium() -> CacheMachine {
        CacheMachine::new("Pentium II Xeon", &[cache(16, 4, 32), cache(512, 4, 32)])
    }

    /// The second machine of P, section 8: 512 KB with lines of 64 bytes behind 16 KB
    /// of lines of 32; both are direct-mapped.
    pub fn ultra_sparc() -> CacheMachine {
        CacheMachine::new("UltraSparc-IIi", &[cache(16, 1, 32), cache(512, 1, 64)])
    }

    /// The third: 8 KB direct-mapped, 96 KB of 3 ways, 4 MB direct-mapped, the last
    /// two with lines of 64 bytes.
    pub fn alpha() -> CacheMachine {
        let levels = [cache(8, 1, 32), cache(96, 3, 64), cache(4096, 1, 64)];
        CacheMachine::new("Alpha 21164", &levels)
    }

    /// Its caches, empty.
    pub fn caches(&self) -> Hierarchy {
        Hierarchy::new(&self.levels)
    }

    /// For people to read.
    pub fn described(&self) -> String {
        let levels = self.levels.iter().zip(1..);
        let levels = levels.map(|(level, number)| format!("L{number} {}", level.described()));
        let levels: Vec<String> = levels.collect();
        format!("{} ({})", self.name, levels.join("; "))
    }
}

/// The first two data caches of this machine, as Linux tells them; where it does not,
/// those of a usual processor of 2024, which its name then says.
pub fn here() -> CacheMachine {
    let found = read(Path::new("/sys/devices/system/cpu/cpu0/cache"));
    if found.len() == 2 {
        return CacheMachine::new("this machine", &found);
    }
    let usual = [cache(48, 12, 64), cache(2048, 16, 64)];
    CacheMachine::new("a usual machine, as this one does not tell", &usual)
}

/// The data caches of levels 1 and 2 in a directory as Linux has it.
fn read(directory: &Path) -> Vec<Geometry> {
    let level = |wanted: &str| {
        (0..8).find_map(|number| {
            let index = directory.join(format!("index{number}"));
            let text = |name: &str| fs::read_to_string(index.join(name)).ok();
            let is = |name: &str, value: &str| text(name).is_some_and(|text| text.trim() == value);
            let number = |name: &str| text(name)?.trim().parse::<u64>().ok();
            if !is("level", wanted) || is("type", "Instruction") {
                return None;
            }
            let size = text("size")?;
            let kibibytes = size.trim().strip_suffix('K')?.parse::<u64>().ok()?;
            let (ways, line) = (
                number("ways_of_associativity")?,
                number("coherency_line_size")?,
            );
            (kibibytes > 0 && ways > 0 && line > 0).then(|| cache(kibibytes, ways, line))
        })
    };
    ["1", "2"]
        .iter()
        .filter_map(|wanted| level(wanted))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_read_as_linux_tells_them() {
        let directory = tempfile::tempdir().unwrap();
        let put = |index: &str, level: &str, kind: &str, size: &str, ways: &str| {
            let place = directory.path().join(index);
            fs::create_dir(&place).unwrap();
            let fields = [
                ("level", level),
                ("type", kind),
                ("size", size),
                ("ways_of_associativity", ways),
                ("coherency_line_size", "64"),
            ];
            for (name, value) in fields {
                fs::write(place.join(name), format!("{value}\n")).unwrap();
            }
        };
        put("index0", "1", "Instruction", "32K", "8");
        put("index1", "1", "Data", "48K", "12");
        assert_eq!(read(directory.path()), [cache(48, 12, 64)]);
        put("index2", "2", "Unified", "2048K", "16");
        let found = read(directory.path());
        assert_eq!(found, [cache(48, 12, 64), cache(2048, 16, 64)]);
        assert_eq!(here().levels.len(), 2);
    }

    #[test]
    fn machines_of_the_paper() {
        assert_eq!(CacheMachine::pentium().levels[1].sets(), 4096);
        let described = CacheMachine::alpha().described();
        assert!(
            described.contains("L2 96 KiB, 3 ways, 64 B lines"),
            "{described}"
        );
    }
}
