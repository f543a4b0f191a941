use super::damage;
use crate::error::Result;
use crate::index::*;
use arrow_buffer::Buffer;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Compares with a map from keys to rows; row `n` has key `keys[n]`.
fn agrees(width: KeyWidth, keys: &[u128], probes: &[u128]) {
    let rows = keys.len() as u32;
    let mut model: BTreeMap<u128, Vec<u32>> = BTreeMap::new();
    for (key, row) in keys.iter().zip(0..) {
        model.entry(*key).or_default().push(row);
    }
    let bytes = InvertedIndex::build(width, keys.iter().copied().zip(0..));
    let index = InvertedIndex::open(Buffer::from(bytes), rows).unwrap();
    assert_eq!(index.len(), model.len());
    for (number, (key, rows)) in model.iter().enumerate() {
        let mut positions = Vec::new();
        index.positions_into(number, &mut positions).unwrap();
        assert_eq!((index.key(number), &positions), (*key, rows));
    }
    for low in probes {
        for high in probes.iter().filter(|high| *high >= low) {
            let mut expected: Vec<u32> = model
                .range(low..=high)
                .flat_map(|(_, r)| r.clone())
                .collect();
            expected.sort_unstable();
            let range = index.range(*low, *high);
            assert_eq!(index.count(range.clone()).unwrap(), expected.len());
            let mut words = vec![0; keys.len().div_ceil(64)];
            index.or_into(range, &mut words).unwrap();
            let found: Vec<u32> = (0..rows)
                .filter(|row| words[*row as usize / 64] >> (row % 64) & 1 == 1)
                .collect();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn shapes() {
    let probes = [0, 1, 4, 5, 500, u128::MAX];
    for width in [KeyWidth::Four, KeyWidth::Eight, KeyWidth::Sixteen] {
        let largest = u128::MAX >> (128 - 8 * width.bytes());
        agrees(width, &[], &probes);
        agrees(width, &[largest], &probes);
        agrees(width, &[4; 3000], &probes);
        agrees(width, &[vec![0; 70], vec![largest; 70]].concat(), &probes);
        let keys: Vec<u128> = (0..5000).map(|row| row * 31 % 700).collect();
        agrees(width, &keys, &probes);
        agrees(width, &(0..700).rev().collect::<Vec<_>>(), &probes);
    }
}

#[test]
fn example_of_the_module() {
    let bytes = InvertedIndex::build(KeyWidth::Four, [7, 9, 9, 7].into_iter().zip(0..));
    assert_eq!(bytes[128..136], [4, 0, 0, 0, 8, 0, 0, 0]);
}

fn open_and_use(bytes: Buffer, rows: u32) -> Result<()> {
    let index = InvertedIndex::open(bytes, rows)?;
    for low in [0, 3, 40, 1 << 40] {
        let range = index.range(low, low + 100);
        let mut words = vec![0; rows.div_ceil(64) as usize];
        let mut positions = Vec::new();
        // What was checked on opening cannot fail later.
        index.or_into(range.clone(), &mut words).unwrap();
        range
            .clone()
            .for_each(|key| index.positions_into(key, &mut positions).unwrap());
        assert!(positions.iter().all(|position| *position < rows));
        assert_eq!(index.count(range).unwrap(), positions.len());
    }
    Ok(())
}

#[test]
fn damaged_indexes() {
    for width in [KeyWidth::Four, KeyWidth::Eight, KeyWidth::Sixteen] {
        for modulus in [1, 2, 7, 90] {
            let keys = (0..90u32).map(|row| u128::from(row * row % modulus * 3));
            let bytes = InvertedIndex::build(width, keys.zip(0..));
            damage(&bytes, |bytes| open_and_use(bytes, 90));
            assert!(InvertedIndex::open(Buffer::from(bytes), 89).is_err());
        }
    }
    let both = InvertedIndex::build(KeyWidth::Four, [(1, 0), (2, 0)].into_iter());
    assert!(InvertedIndex::open(Buffer::from(both), 2).is_err());
}

proptest! {
    #[test]
    fn any_keys(
        keys in prop::collection::vec(any::<u32>(), 0..1500),
        modulus in prop_oneof![Just(2u32), Just(40), Just(900), Just(u32::MAX)],
        probes in prop::collection::vec(any::<u32>(), 0..6),
    ) {
        let keys: Vec<u128> = keys.iter().map(|key| u128::from(key % modulus)).collect();
        let probes: Vec<u128> = probes.iter().map(|probe| u128::from(probe % modulus)).collect();
        agrees(KeyWidth::Four, &keys, &probes);
        agrees(KeyWidth::Sixteen, &keys, &probes);
    }
}

/// Sizes and times over a million rows, beside one entry per row.
#[test]
#[ignore = "measures; run alone"]
fn sizes_and_speed() {
    use std::time::Instant;
    const ROWS: u32 = 1 << 20;
    let hash = |row: u32| crate::format::checksum(&row.to_le_bytes());
    for keys in [2u64, 100, 10_000, 1 << 20] {
        let entries = || (0..ROWS).map(|row| (u128::from(hash(row) % keys), row));
        let tree = AnyCsb::build(KeyWidth::Four, entries());
        let started = Instant::now();
        let bytes = InvertedIndex::build(KeyWidth::Four, entries());
        let built = started.elapsed();
        let bits = |bytes: &[u8]| 8.0 * bytes.len() as f64 / f64::from(ROWS);
        let sizes = (bits(&bytes), bits(&tree));
        let started = Instant::now();
        let index = InvertedIndex::open(Buffer::from(bytes), ROWS).unwrap();
        let opened = started.elapsed();
        let mut words = vec![0; ROWS as usize / 64];
        let started = Instant::now();
        index.or_into(0..index.len(), &mut words).unwrap();
        let read = started.elapsed();
        println!(
            "{keys} keys: {sizes:.2?} bits a row; built {built:?}, opened {opened:?}, all read {read:?}"
        );
    }
}
