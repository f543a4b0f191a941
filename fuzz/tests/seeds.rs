//! The seeds lead deep into the decoders, and stay small.

use freestone_fuzz::TARGETS;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of all seeds together.
const BYTES_MAX: u64 = 200 << 10;

fn seeds(target: &str) -> Vec<PathBuf> {
    let folder = Path::new("corpus").join(target);
    let entries = fs::read_dir(folder).expect("a folder of seeds");
    let mut seeds: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    seeds
}

#[test]
fn every_seed_is_accepted() {
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for seed in seeds {
            assert!(target(&fs::read(&seed).unwrap()), "{}", seed.display());
        }
    }
}

#[test]
fn seeds_stay_small() {
    let all = TARGETS.iter().flat_map(|(name, _)| seeds(name));
    let bytes: u64 = all.map(|seed| fs::metadata(seed).unwrap().len()).sum();
    assert!(bytes <= BYTES_MAX, "{bytes} bytes");
}

/// A little of what the fuzzer does, for a compiler that cannot instrument.
#[test]
fn damaged_seeds_are_survived() {
    for (name, target) in TARGETS {
        for seed in seeds(name) {
            let whole = fs::read(&seed).unwrap();
            let step = whole.len() / 100 + 1;
            for at in (0..whole.len()).step_by(step) {
                for flip in [1, 128, 255] {
                    let mut bytes = whole.clone();
                    bytes[at] ^= flip;
                    target(&bytes);
                }
                target(&whole[..at]);
            }
        }
    }
}
