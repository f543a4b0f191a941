//! Every scheme against the values themselves, and against broken bytes.

use super::*;
use proptest::prelude::*;

const CODECS: [Codec; 5] = [
    Codec::BitPack,
    Codec::For,
    Codec::ForDelta,
    Codec::RunLength,
    Codec::Truncation,
];

fn columns() -> impl Strategy<Value = Vec<i64>> {
    let value = prop_oneof![
        0i64..10,
        -1000i64..1000,
        any::<i64>(),
        Just(i64::MAX),
        Just(i64::MIN)
    ];
    let loose = prop::collection::vec(value, 1..300);
    let rising =
        (any::<i32>(), prop::collection::vec(0i64..9, 1..5000)).prop_map(|(start, steps)| {
            let mut value = i64::from(start);
            steps
                .into_iter()
                .map(|step| {
                    value += step;
                    value
                })
                .collect()
        });
    let runs = prop::collection::vec((0i64..4, 1usize..900), 1..12).prop_map(|runs| {
        runs.into_iter()
            .flat_map(|(value, count)| std::iter::repeat_n(value, count))
            .collect()
    });
    let even = (any::<i64>(), any::<i64>(), 1usize..3000).prop_map(|(start, step, count)| {
        let value = |row: usize| start.wrapping_add(step.wrapping_mul(row as i64));
        (0..count).map(value).collect()
    });
    prop_oneof![loose, rising, runs, even]
}

proptest! {
    #[test]
    fn every_scheme_gives_the_values_back(values in columns(), seed in any::<u64>()) {
        for codec in CODECS {
            let integers = Integers::open(codec, build(codec, &values).into(), values.len()).unwrap();
            let mut all: Vec<i64> = Vec::new();
            integers.read(0..values.len(), &mut all);
            prop_assert_eq!(&all, &values);
            let (a, b) = (seed as usize % values.len(), (seed >> 32) as usize % values.len());
            prop_assert_eq!((integers.get(a), integers.get(b)), (values[a], values[b]));
            let mut some: Vec<i128> = Vec::new();
            integers.read(a.min(b)..a.max(b) + 1, &mut some);
            prop_assert!(some.iter().copied().eq(values[a.min(b)..=a.max(b)].iter().map(|v| i128::from(*v))));
            for step in [1, 3, 70, 1500] {
                let positions: Vec<u32> = (a.min(b)..values.len()).step_by(step).map(|row| row as u32).collect();
                let mut taken: Vec<i64> = Vec::new();
                integers.take(&positions, &mut taken);
                prop_assert!(taken.iter().eq(positions.iter().map(|row| &values[*row as usize])));
            }
            let (low, high) = (values[a].min(values[b]), values[a].max(values[b]));
            for ranges in [vec![low..=high], vec![low..=low, high..=high], vec![i64::MIN..=low], vec![]] {
                for chunk in 0..values.len().div_ceil(CHUNK) {
                    let mut mask = [0; CHUNK / 64];
                    integers.test(chunk, &ranges, &mut mask);
                    for (place, value) in values[chunk * CHUNK..].iter().take(CHUNK).enumerate() {
                        let expected = ranges.iter().any(|range| range.contains(value));
                        prop_assert_eq!(mask[place / 64] >> (place % 64) & 1 == 1, expected, "{:?} row {}", codec, place);
                    }
                }
            }
        }
    }

    #[test]
    fn broken_bytes_never_panic(values in columns(), at in any::<prop::sample::Index>(), bit in 0u8..8, cut in any::<prop::sample::Index>()) {
        for codec in CODECS {
            let mut bytes = build(codec, &values);
            let place = at.index(bytes.len().min(200));
            bytes[place] ^= 1 << bit;
            let shorter = bytes[..cut.index(bytes.len())].to_vec();
            for bytes in [bytes, shorter] {
                if let Ok(integers) = Integers::open(codec, bytes.into(), values.len()) {
                    let mut all: Vec<i32> = Vec::new();
                    integers.read(0..values.len(), &mut all);
                    prop_assert_eq!(all.len(), values.len());
                    let _ = integers.check_below(5);
                }
            }
        }
    }
}

#[test]
fn impossible_widths_and_places_are_named() {
    let values: Vec<i64> = (0..3000).map(|row| row % 50).collect();
    let open = |codec, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = build(codec, &values);
        change(&mut bytes);
        Integers::open(codec, bytes.into(), values.len())
            .unwrap_err()
            .to_string()
    };
    let error = open(Codec::For, &|bytes| bytes[12] = 65);
    assert!(error.contains("chunk 0 has codes of 65 bits"), "{error}");
    let error = open(Codec::For, &|bytes| bytes[16 + 11] = 1);
    assert!(error.contains("chunk 1 ends at"), "{error}");
    let error = open(Codec::ForDelta, &|bytes| bytes[20] = 200);
    assert!(error.contains("chunk 0 has codes of 200 bits"), "{error}");
    let error = open(Codec::RunLength, &|bytes| bytes[0] = 0);
    assert!(error.contains("runs"), "{error}");
    let error = open(Codec::BitPack, &|bytes| bytes.truncate(40));
    assert!(error.contains("40 bytes for the chunk entries"), "{error}");
}
