//! Indexes and the sets of positions in them.

use crate::input::Input;
use arrow_buffer::Buffer;
use freestone_storage::Value;
use freestone_storage::format::{Reader, Writer};
use freestone_storage::index::{AnyCsb, Bloom, InvertedIndex, KeyInterval, KeyShape};
use freestone_storage::postings::Postings;
use std::ops::{Bound, Range};

/// [`Postings`]: rows, then the set.
pub fn postings(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let rows = input.rows() as u32;
    let set = input.rest();
    let Ok(set) = Postings::open(&set, rows) else {
        return false;
    };
    let mut words = vec![0; (rows as usize).div_ceil(64)];
    let mut positions = Vec::new();
    let outcomes = [
        set.check().is_ok(),
        set.decode_into(&mut positions).is_ok(),
        set.or_into(&mut words).is_ok(),
    ];
    assert!(
        outcomes == [true; 3] || outcomes == [false; 3],
        "{outcomes:?}"
    );
    if outcomes[0] {
        check_positions(&positions, &words, set.len(), rows);
    }
    outcomes[0]
}

fn check_positions(positions: &[u32], words: &[u64], len: usize, rows: u32) {
    assert_eq!(positions.len(), len);
    assert!(positions.is_sorted_by(|left, right| left < right));
    assert!(positions.last().is_none_or(|last| *last < rows));
    let bits = words.iter().map(|word| word.count_ones() as usize);
    assert_eq!(bits.sum::<usize>(), len);
    let set = |row: &u32| words[*row as usize / 64] >> (row % 64) & 1 == 1;
    assert!(positions.iter().all(set));
}

/// Every key, and intervals around some, must be where a plain search finds them.
fn check_ranges(keys: &[u128], range: impl Fn(u128, u128) -> Range<usize>) {
    assert!(keys.is_sorted());
    let mut probes = vec![0, 1, u128::from(u64::MAX), u128::MAX];
    for key in keys.iter().step_by(keys.len() / 8 + 1) {
        probes.extend([*key, key.saturating_sub(1), key.saturating_add(1)]);
    }
    for low in &probes {
        for high in &probes {
            let found = range(*low, *high);
            let start = keys.partition_point(|key| key < low);
            let end = keys.partition_point(|key| key <= high);
            if low <= high && start < end {
                assert_eq!(found, start..end, "{low} to {high}");
            } else {
                assert!(found.is_empty(), "{low} to {high}");
            }
        }
    }
}

/// [`AnyCsb`]: rows, then the index.
pub fn tree(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let rows = input.rows() as u32;
    let Ok(tree) = AnyCsb::open(input.rest(), rows) else {
        return false;
    };
    let keys: Vec<u128> = (0..tree.len()).map(|entry| tree.key(entry)).collect();
    check_ranges(&keys, |low, high| tree.range(low, high));
    let positions = tree.positions(tree.range(0, u128::MAX));
    assert_eq!(positions.len(), tree.len());
    assert!(positions.iter().all(|position| *position < rows));
    true
}

/// [`InvertedIndex`]: rows, then the index.
pub fn inverted(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let rows = input.rows() as u32;
    let Ok(index) = InvertedIndex::open(input.rest(), rows) else {
        return false;
    };
    let keys: Vec<u128> = (0..index.len()).map(|key| index.key(key)).collect();
    check_ranges(&keys, |low, high| index.range(low, high));
    let mut words = vec![0; (rows as usize).div_ceil(64)];
    let mut positions = Vec::new();
    let all = index.range(0, u128::MAX);
    let checked = "opening checked everything";
    index.or_into(all.clone(), &mut words).expect(checked);
    for key in all.clone() {
        index.positions_into(key, &mut positions).expect(checked);
    }
    positions.sort_unstable();
    let len = index.count(all).expect(checked);
    check_positions(&positions, &words, len, rows);
    true
}

/// [`Bloom`]: a hash, then the filter.
pub fn bloom(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let hash = u64::from_le_bytes(std::array::from_fn(|_| input.byte()));
    let Ok(filter) = Bloom::open(input.rest()) else {
        return false;
    };
    let hashes = [hash, !hash, hash.rotate_left(32), 0, u64::MAX];
    let any = hashes.map(|hash| filter.may_contain(hash)).contains(&true);
    assert_eq!(filter.may_contain_any(&hashes), any);
    true
}

/// [`KeyShape`]: bytes of a constant with their length, then a sealed index.
pub fn key_shape(bytes: &[u8]) -> bool {
    let mut input = Input(bytes);
    let constant = input.section();
    let section: Buffer = input.rest();
    let Ok((shape, index)) = KeyShape::unseal(&section) else {
        return false;
    };
    assert_eq!(shape.seal(&index), section.as_slice(), "one form");
    let mut writer = Writer::default();
    shape.encode(&mut writer);
    let again = KeyShape::decode(&mut Reader::new(&writer.finish()));
    assert_eq!(again.ok().as_ref(), Some(&shape));
    let word = std::array::from_fn(|place| constant.get(place).copied().unwrap_or(0));
    let values = [
        Value::Bool(word[0] & 1 == 1),
        Value::Int(i128::from_le_bytes(word)),
        Value::Int(i128::from(word[0])),
        Value::Float(f64::from_bits(u128::from_le_bytes(word) as u64)),
        Value::Bytes(constant.to_vec()),
    ];
    for value in &values {
        for part in shape.parts() {
            part.place(value);
        }
        let bounds = [
            Bound::Unbounded,
            Bound::Included(value),
            Bound::Excluded(value),
        ];
        for low in bounds {
            for high in bounds {
                check_interval(&shape, shape.interval(&[], Some((low, high))));
                let equal = std::slice::from_ref(value);
                check_interval(&shape, shape.interval(equal, Some((low, high))));
            }
        }
        check_interval(
            &shape,
            shape.interval(&[value.clone(), value.clone()], None),
        );
    }
    check_interval(&shape, shape.interval(&[], None));
    true
}

fn check_interval(shape: &KeyShape, interval: Option<KeyInterval>) {
    if let Some(KeyInterval::Span { low, high, .. }) = interval {
        let bits = 8 * shape.width().bytes() as u32;
        assert!(low <= high && high.unbounded_shr(bits) == 0);
    }
}
