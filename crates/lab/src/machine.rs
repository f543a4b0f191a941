//! The machine that experiments ran on, as far as it tells.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A processor, its caches and its memory; what is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Name of the processor.
    pub processor: Option<String>,
    /// Hardware threads that the system has.
    pub threads: usize,
    /// Cores, each with one or several hardware threads.
    pub cores: Option<usize>,
    /// Bytes of the first-level data cache of a core.
    pub l1: Option<u64>,
    /// Bytes of the second-level cache of a core.
    pub l2: Option<u64>,
    /// Bytes of the third-level cache.
    pub l3: Option<u64>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// Whether it is a virtual machine, which seldom lets count misses and stalls.
    pub is_virtual: bool,
}

impl Machine {
    /// This machine.
    pub fn here() -> Machine {
        Machine::under(Path::new("/"))
    }

    /// The machine whose `proc` and `sys` are under that directory.
    fn under(root: &Path) -> Machine {
        let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        let cpus = text("proc/cpuinfo");
        let listed = values(&cpus, "processor").count();
        let unknown = || std::thread::available_parallelism().map_or(1, usize::from);
        let cache = |level, kind: &[&str]| cache(root, level, kind);
        Machine {
            processor: processor(&cpus),
            threads: if listed > 0 { listed } else { unknown() },
            cores: cores(&cpus),
            l1: cache("1", &["Data", "Unified"]),
            l2: cache("2", &["Data", "Unified"]),
            l3: cache("3", &["Data", "Unified"]),
            memory: values(&text("proc/meminfo"), "MemTotal").find_map(size),
            kernel: Some(text("proc/sys/kernel/osrelease").trim().to_string())
                .filter(|release| !release.is_empty()),
            is_virtual: values(&cpus, "flags")
                .any(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")),
        }
    }
}

/// Bytes of memory that could be had now without taking it from others.
pub fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    values(&text, "MemAvailable").find_map(size)
}

/// How many threads wanted to run in the last minute, on average.
pub fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Values of lines of the form `key : value`.
fn values<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs
        .filter(move |(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

/// Other processors than x86 have other names for their name.
fn processor(cpus: &str) -> Option<String> {
    let keys = [
        "model name",
        "Processor",
        "Hardware",
        "cpu",
        "uarch",
        "CPU part",
    ];
    let name = keys.into_iter().find_map(|key| values(cpus, key).next())?;
    let words: Vec<&str> = name.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Different pairs of socket and core; none if the system does not tell.
fn cores(cpus: &str) -> Option<usize> {
    let pairs: BTreeSet<_> = values(cpus, "physical id")
        .zip(values(cpus, "core id"))
        .collect();
    (!pairs.is_empty()).then_some(pairs.len())
}

/// Size of the first processor's cache of that level.
fn cache(root: &Path, level: &str, kinds: &[&str]) -> Option<u64> {
    let folder = root.join("sys/devices/system/cpu/cpu0/cache");
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let read = |name: &str| {
            let text = fs::read_to_string(entry.path().join(name)).ok()?;
            Some(text.trim().to_string())
        };
        let kind = read("type")?;
        let wanted = read("level")? == level && kinds.contains(&kind.as_str());
        wanted.then(|| size(&read("size")?)).flatten()
    })
}

/// Bytes of `48K`, `2M` or `24 kB`.
fn size(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim_start().bytes().next() {
        None => 1,
        Some(b'K' | b'k') => 1 << 10,
        Some(b'M') => 1 << 20,
        Some(b'G') => 1 << 30,
        Some(_) => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_the_system_tells_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let cpu = |core: usize| {
            format!(
                "processor\t: {core}\nmodel name\t: Fast  9\nphysical id\t: 0\ncore id\t: {}\nflags\t: fpu hypervisor\n\n",
                core / 2
            )
        };
        let cpus: String = (0..4).map(cpu).collect();
        write(root, "proc/cpuinfo", &cpus);
        write(
            root,
            "proc/meminfo",
            "MemTotal:       1024 kB\nMemFree: 3 kB\n",
        );
        write(root, "proc/sys/kernel/osrelease", "6.1.0\n");
        for (index, level, kind, size) in [
            (0, 1, "Instruction", "32K"),
            (1, 1, "Data", "48K"),
            (2, 2, "Unified", "2M"),
        ] {
            let cache = format!("sys/devices/system/cpu/cpu0/cache/index{index}");
            write(root, &format!("{cache}/level"), &format!("{level}\n"));
            write(root, &format!("{cache}/type"), &format!("{kind}\n"));
            write(root, &format!("{cache}/size"), &format!("{size}\n"));
        }
        let expected = Machine {
            processor: Some("Fast 9".to_string()),
            threads: 4,
            cores: Some(2),
            l1: Some(48 << 10),
            l2: Some(2 << 20),
            l3: None,
            memory: Some(1 << 20),
            kernel: Some("6.1.0".to_string()),
            is_virtual: true,
        };
        assert_eq!(Machine::under(root), expected);
    }

    #[test]
    fn a_system_that_tells_nothing_is_borne() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::under(folder.path());
        assert!(machine.threads >= 1);
        let nothing = Machine {
            threads: machine.threads,
            ..Machine::default()
        };
        assert_eq!(machine, nothing);
        write(folder.path(), "proc/meminfo", "MemTotal: many kB\n");
        assert_eq!(Machine::under(folder.path()).memory, None);
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("48K"), Some(49_152));
        assert_eq!(size("24 kB"), Some(24 << 10));
        assert_eq!(size("7"), Some(7));
        assert_eq!(size("99999999999999999999K"), None);
        assert_eq!(size("5 miles"), None);
    }
}
