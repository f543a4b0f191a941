use super::damage;
use crate::error::Result;
use crate::index::*;
use arrow_buffer::Buffer;
use proptest::prelude::*;
use std::hint::black_box;
use std::time::Instant;

fn shuffled(entries: usize) -> Vec<u32> {
    // Odd multipliers permute a power of two.
    let size = entries.next_power_of_two() as u64;
    (0..size)
        .map(|n| (n * 2_654_435_761 % size) as u32)
        .filter(|n| (*n as usize) < entries)
        .collect()
}

/// Builds, opens and compares with a sorted vector of (key, position).
fn agrees<K: TreeKey>(keys: &[K], probes: &[K]) {
    let rows = keys.len() as u32;
    let mut model: Vec<(K, u32)> = keys.iter().copied().zip(shuffled(keys.len())).collect();
    let bytes = AnyCsb::build(K::WIDTH, model.iter().map(|(key, row)| (key.widen(), *row)));
    model.sort();
    let tree = CsbTree::<K>::open(Buffer::from(bytes.clone()), rows).unwrap();
    let any = AnyCsb::open(Buffer::from(bytes), rows).unwrap();
    assert_eq!(tree.len(), model.len());
    for (entry, (key, position)) in model.iter().enumerate() {
        assert_eq!(tree.key(entry), *key);
        assert_eq!(any.key(entry), key.widen());
        assert_eq!(tree.positions(entry..entry + 1), [*position]);
    }
    for low in probes {
        for high in probes {
            let range = tree.range(*low, *high);
            let expected = if low > high {
                range.start..range.start
            } else {
                model.partition_point(|(key, _)| key < low)
                    ..model.partition_point(|(key, _)| key <= high)
            };
            assert_eq!(range, expected, "{low:?} to {high:?}");
            assert_eq!(any.range(low.widen(), high.widen()), expected);
            assert_eq!(any.positions(range.clone()), tree.positions(range));
        }
    }
    assert_eq!(any.range(0, u128::MAX), 0..model.len());
}

fn agrees_in_all_widths(keys: &[u128], probes: &[u128]) {
    fn cast<K: TreeKey>(keys: &[u128]) -> Vec<K> {
        let wide = |key: &u128| K::narrow(key & K::LARGEST.widen()).unwrap();
        keys.iter().map(wide).collect()
    }
    agrees::<u32>(&cast(keys), &cast(probes));
    agrees::<u64>(&cast(keys), &cast(probes));
    agrees::<u128>(keys, probes);
}

#[test]
fn every_size_up_to_three_levels() {
    for len in (0..400).chain([1300, 4624, 4625, 5000]) {
        let keys: Vec<u128> = (0..len).map(|key| key * 10).collect();
        let probes = [0, 1, 10, 159, 160, 161, 1600, len * 10, u128::MAX];
        agrees_in_all_widths(&keys, &probes);
    }
}

#[test]
fn equal_and_extreme_keys() {
    for len in [1, 2, 4, 15, 16, 17, 100, 1000] {
        for key in [0, 7, u128::MAX - 1, u128::MAX] {
            let probes = [0, 6, 7, 8, u128::MAX - 1, u128::MAX];
            agrees_in_all_widths(&vec![key; len], &probes);
        }
        let ends: Vec<u128> = (0..len)
            .map(|n| if n % 2 == 0 { 0 } else { u128::MAX })
            .collect();
        agrees_in_all_widths(&ends, &[0, 1, u128::MAX - 1, u128::MAX]);
    }
}

#[test]
fn keys_beyond_the_width() {
    let bytes = AnyCsb::build(
        KeyWidth::Four,
        [(5, 0), (u128::from(u32::MAX), 1)].into_iter(),
    );
    let tree = AnyCsb::open(Buffer::from(bytes), 2).unwrap();
    assert_eq!(tree.range(6, u128::MAX), 1..2);
    assert_eq!(tree.range(1 << 32, u128::MAX), 2..2);
    assert_eq!(tree.range(0, 1 << 32), 0..2);
}

#[test]
fn unaligned_bytes_are_copied() {
    let bytes = AnyCsb::build(KeyWidth::Eight, (0..100).map(|n| (n * 3, n as u32)));
    let shifted = Buffer::from([&[0u8; 3], bytes.as_slice()].concat()).slice(3);
    let tree = AnyCsb::open(shifted, 100).unwrap();
    assert_eq!(tree.range(30, 33), 10..12);
}

fn open_and_use(bytes: Buffer, rows: u32) -> Result<()> {
    let tree = AnyCsb::open(bytes, rows)?;
    for key in [0, 5, 100, 1 << 31, u128::MAX] {
        let range = tree.range(key, key.saturating_add(200));
        let positions = tree.positions(range);
        assert!(positions.iter().all(|position| *position < rows));
    }
    Ok(())
}

#[test]
fn damaged_trees() {
    for width in [KeyWidth::Four, KeyWidth::Eight, KeyWidth::Sixteen] {
        for rows in [0, 1, 16, 60] {
            let entries = (0..rows).map(|row| (u128::from(row / 2 * 5), row));
            let bytes = AnyCsb::build(width, entries);
            damage(&bytes, |bytes| open_and_use(bytes, rows));
            if rows > 0 {
                assert!(AnyCsb::open(Buffer::from(bytes), rows - 1).is_err());
            }
        }
    }
    let twice = AnyCsb::build(KeyWidth::Four, [(1, 0), (2, 0)].into_iter());
    assert!(AnyCsb::open(Buffer::from(twice), 2).is_err());
}

proptest! {
    #[test]
    fn any_keys(
        keys in prop::collection::vec(any::<u128>(), 0..700),
        modulus in prop_oneof![Just(3u128), Just(100), Just(1 << 40), Just(u128::MAX)],
        probes in prop::collection::vec(any::<u128>(), 0..12),
    ) {
        let keys: Vec<u128> = keys.iter().map(|key| key % modulus).collect();
        let probes: Vec<u128> = probes
            .iter()
            .map(|probe| probe % modulus)
            .chain(keys.iter().copied().take(6))
            .collect();
        agrees_in_all_widths(&keys, &probes);
    }

    #[test]
    fn any_bytes_are_harmless(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        entries in 0u32..30,
        width in prop_oneof![Just(4u8), Just(8), Just(16)],
    ) {
        if bytes.len() >= 64 {
            bytes[..64].fill(0);
            bytes[..4].copy_from_slice(b"CSB1");
            bytes[4..8].copy_from_slice(&entries.to_le_bytes());
            bytes[8] = width;
        }
        let _ = open_and_use(Buffer::from(bytes), 30);
    }
}

/// Nanoseconds of one search among a million keys, here and by bisection.
#[test]
#[ignore = "measures; run alone"]
fn search_speed() {
    fn measure<K: TreeKey>(scatter: impl Fn(u64) -> K) {
        const LEN: u64 = 1 << 20;
        let mut keys: Vec<K> = (0..LEN).map(&scatter).collect();
        keys.sort_unstable();
        let positions: Vec<u32> = (0..LEN as u32).collect();
        let started = Instant::now();
        let bytes = Buffer::from(CsbTree::build(&keys, &positions));
        let built = started.elapsed();
        let tree = CsbTree::<K>::open(bytes, LEN as u32).unwrap();
        let opened = started.elapsed() - built;
        println!("{:?}: build {built:?}, open {opened:?}", K::WIDTH);
        let probes: Vec<K> = (0..LEN).map(|n| scatter(n * 7919 % LEN)).collect();
        // The median of short stretches: other work on the machine does not count.
        let timed = |name: &str, search: &dyn Fn(&[K]) -> usize| {
            let stretch = |probes: &[K]| {
                let started = Instant::now();
                black_box(search(probes));
                started.elapsed().as_nanos() as usize / probes.len()
            };
            let mut each: Vec<usize> = probes.chunks(1024).map(stretch).collect();
            each.sort_unstable();
            let (median, best) = (each[each.len() / 2], each[each.len() / 100]);
            println!("{:?}: {name} {median} ns, at best {best} ns", K::WIDTH);
        };
        let keys = &keys;
        let tree = &tree;
        timed("lower bound", &|probes| {
            probes.iter().map(|key| tree.keys.lower_bound(*key)).sum()
        });
        timed("equal range", &|probes| {
            probes.iter().map(|key| tree.range(*key, *key).end).sum()
        });
        timed("binary search", &|probes| {
            let search = |key: &K| keys.partition_point(|other| other < key);
            probes.iter().map(search).sum()
        });
        timed("binary search, one after the other", &|probes| {
            let next =
                |last, n| keys.partition_point(|key| *key < probes[(last + n) % probes.len()]);
            (0..probes.len()).fold(0, next)
        });
        // Which key is next depends on the answer, so that searches do not overlap.
        timed("lower bound, one after the other", &|probes| {
            let next = |last, n| tree.keys.lower_bound(probes[(last + n) % probes.len()]);
            (0..probes.len()).fold(0, next)
        });
    }
    let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    measure::<u32>(|n| (spread(n) >> 32) as u32);
    measure::<u64>(spread);
    measure::<u128>(|n| u128::from(spread(n)) << 64 | u128::from(n));
}
