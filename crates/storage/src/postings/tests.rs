use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const ROWS: u32 = 1 << 20;

fn encoded(positions: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(positions, &mut bytes);
    bytes
}

fn decoded(bytes: &[u8], rows: u32) -> Result<Vec<u32>> {
    let mut positions = Vec::new();
    Postings::open(bytes, rows)?.decode_into(&mut positions)?;
    Ok(positions)
}

fn agrees(positions: &[u32], rows: u32) {
    let bytes = encoded(positions);
    let set = Postings::open(&bytes, rows).unwrap();
    assert_eq!(set.len(), positions.len());
    set.check().unwrap();
    assert_eq!(decoded(&bytes, rows).unwrap(), positions);
    let mut words = vec![0; rows.div_ceil(64) as usize];
    set.or_into(&mut words).unwrap();
    let mut model = vec![0; words.len()];
    positions
        .iter()
        .for_each(|position| model[*position as usize / 64] |= 1u64 << (position % 64));
    assert_eq!(words, model);
    // One row fewer and the last position is outside.
    if positions.last() == Some(&(rows - 1)) {
        assert!(decoded(&bytes, rows - 1).is_err());
    }
}

/// A set of each form.
fn samples() -> Vec<Vec<u32>> {
    vec![
        vec![],
        vec![0],
        vec![ROWS - 1],
        (0..ROWS).collect(),
        (100..90_000).chain(90_500..91_000).collect(),
        (0..ROWS).filter(|row| row % 3 != 1).collect(),
        (0..ROWS)
            .filter(|row| crate::format::checksum(&row.to_le_bytes()) & 1 == 0)
            .collect(),
        (0..200).map(|row| row * 3 + row % 2).collect(),
        (0..200).map(|row| row * 1000 + row % 7).collect(),
        (0..200)
            .map(|row| row * 3 + row % 2 + row / 50 * 200_000)
            .collect(),
    ]
}

#[test]
fn every_form_reads_back() {
    let mut forms = BTreeSet::new();
    for positions in samples() {
        agrees(&positions, ROWS);
        forms.insert(encoded(&positions)[0]);
    }
    agrees(&[0, 2, 3, 4, 9, 300, 100_000], ROWS);
    assert_eq!(forms.len(), 4, "the samples cover all forms");
    assert_eq!(
        encoded(&[5, 6, 7, 8, 20, 21]),
        [1, 6, 5, 3, 10, 1],
        "the example of the module"
    );
}

#[test]
fn sizes() {
    let bits = |positions: &[u32]| 8.0 * encoded(positions).len() as f64 / positions.len() as f64;
    assert_eq!(encoded(&[77]).len(), 3);
    assert!(bits(&(0..ROWS).collect::<Vec<_>>()) < 0.001);
    assert!(bits(&(0..ROWS).step_by(2).collect::<Vec<_>>()) < 2.001);
    assert!(bits(&(0..ROWS).step_by(100).collect::<Vec<_>>()) < 7.1);
}

/// Whatever the bytes, an answer is an ascending set in the block, or an error.
fn harmless(bytes: &[u8], rows: u32) {
    if let Ok(positions) = decoded(bytes, rows) {
        assert!(positions.is_sorted_by(|left, right| left < right));
        assert!(positions.last().is_none_or(|last| *last < rows));
        assert_eq!(Postings::open(bytes, rows).unwrap().len(), positions.len());
    }
    let mut words = vec![0; rows.div_ceil(64) as usize];
    let _ = Postings::open(bytes, rows).and_then(|set| set.or_into(&mut words));
}

#[test]
fn flips_and_cuts_are_harmless() {
    for positions in samples() {
        let positions = &positions[..positions.len().min(150)];
        let rows = positions.last().map_or(1, |last| last + 1);
        let bytes = encoded(positions);
        for len in 0..bytes.len() {
            assert!(decoded(&bytes[..len], rows).is_err(), "cut to {len}");
        }
        for place in 0..bytes.len() {
            for flip in 1..=255 {
                let mut bytes = bytes.clone();
                bytes[place] ^= flip;
                harmless(&bytes, rows);
            }
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(decoded(&longer, rows).is_err());
    }
}

proptest! {
    #[test]
    fn any_set_reads_back(
        rows in 1u32..5000,
        density in 1u32..100,
        seeds in prop::collection::vec(any::<u32>(), 0..3000),
    ) {
        let limit = (rows * density / 100).max(1);
        let set: BTreeSet<u32> = seeds.iter().map(|seed| seed % limit).collect();
        agrees(&set.into_iter().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn any_bytes_are_harmless(bytes in prop::collection::vec(any::<u8>(), 0..60), form in 0u8..6) {
        harmless(&bytes, 100_000);
        let with_form: Vec<u8> = [form].into_iter().chain(bytes).collect();
        harmless(&with_form, 70);
        harmless(&with_form, ROWS);
    }
}
