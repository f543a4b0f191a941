use super::damage;
use crate::format::checksum;
use crate::index::bloom::{Bloom, DEFAULT_RATE};
use arrow_buffer::Buffer;
use proptest::prelude::*;

fn hash(number: u64) -> u64 {
    checksum(&number.to_le_bytes())
}

#[test]
fn rate_of_wrong_answers() {
    for rate in [0.1, DEFAULT_RATE, 0.001] {
        for keys in [100u64, 10_000, 1 << 20] {
            let hashes: Vec<u64> = (0..keys).map(hash).collect();
            let bytes = Bloom::build(&hashes, rate);
            let bits = 8.0 * bytes.len() as f64 / keys as f64;
            let filter = Bloom::open(Buffer::from(bytes)).unwrap();
            assert!(hashes.iter().all(|hash| filter.may_contain(*hash)));
            let asked = 1_000_000;
            let wrong = (0..asked)
                .filter(|n| filter.may_contain(hash(n + (1 << 40))))
                .count();
            let found = wrong as f64 / asked as f64;
            println!("{keys} keys at {rate}: {found:.5}, {bits:.2} bits a key");
            // A handful of groups may be unluckily full.
            let slack = if keys < 1000 { 1.6 } else { 1.05 };
            assert!(found < rate * slack, "{keys} keys at {rate}: {found}");
        }
    }
}

#[test]
fn empty_repeated_and_extreme() {
    let empty = Bloom::open(Buffer::from(Bloom::build(&[], DEFAULT_RATE))).unwrap();
    assert!(!empty.may_contain(0) && !empty.may_contain_any(&[1, u64::MAX]));
    let repeated = Bloom::build(&[7; 100_000], DEFAULT_RATE);
    assert_eq!(repeated.len(), 64);
    let ends = [0, u64::MAX];
    for rate in [0.0, 1e-9, 0.5, 1.0, 7.0, f64::NAN, -1.0] {
        let filter = Bloom::open(Buffer::from(Bloom::build(&ends, rate))).unwrap();
        assert!(ends.iter().all(|hash| filter.may_contain(*hash)));
        assert!(filter.may_contain_any(&[5, 0]) && !filter.may_contain_any(&[]));
    }
}

#[test]
fn damaged_filters() {
    for keys in [0, 1, 30] {
        let hashes: Vec<u64> = (0..keys).map(hash).collect();
        let bytes = Bloom::build(&hashes, DEFAULT_RATE);
        damage(&bytes, |bytes| {
            let filter = Bloom::open(bytes)?;
            (0..50).for_each(|n| _ = filter.may_contain(hash(n)));
            Ok(())
        });
    }
}

proptest! {
    #[test]
    fn nothing_added_is_missed(hashes in prop::collection::vec(any::<u64>(), 0..500)) {
        let filter = Bloom::open(Buffer::from(Bloom::build(&hashes, DEFAULT_RATE))).unwrap();
        prop_assert!(hashes.iter().all(|hash| filter.may_contain(*hash)));
    }
}
