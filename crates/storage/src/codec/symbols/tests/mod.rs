//! Round trips, determinism, and what the fast ways have to equal.

mod damage;

use crate::codec::symbols::matcher::{Matcher, walk};
use crate::codec::symbols::measure::comments;
use crate::codec::symbols::{MAX_SYMBOL, SymbolTable};
use proptest::collection::vec;
use proptest::prelude::*;

fn slices(values: &[Vec<u8>]) -> Vec<&[u8]> {
    values.iter().map(Vec::as_slice).collect()
}

fn written(table: &SymbolTable) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write(&mut bytes);
    bytes
}

fn encoded(table: &SymbolTable, value: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    table.encoder().encode(value, &mut coded);
    coded
}

/// The codes of a value as the module header describes them.
fn codes(coded: &[u8], code_bits: usize) -> Vec<usize> {
    (0..coded.len() * 8 / code_bits)
        .map(|at| {
            (0..code_bits).fold(0, |code, bit| {
                let from = at * code_bits + bit;
                code | usize::from(coded[from / 8] >> (from % 8) & 1) << bit
            })
        })
        .collect()
}

/// Decoding as plainly as can be; the fast one must equal it.
fn decode_plainly(table: &SymbolTable, coded: &[u8]) -> Option<Vec<u8>> {
    let code_bits = usize::from(table.code_bits());
    let codes = codes(coded, code_bits);
    if (codes.len() * code_bits).div_ceil(8) != coded.len() {
        return None;
    }
    let mut out = Vec::new();
    for code in codes {
        let length = usize::from(table.lengths[code]);
        if length == 0 {
            return None;
        }
        out.extend_from_slice(&table.symbols[code][..length]);
    }
    Some(out)
}

/// Encoding by trying every symbol; the fast one must equal it.
fn encode_plainly(table: &SymbolTable, value: &[u8]) -> Vec<u8> {
    let code_bits = usize::from(table.code_bits());
    let (mut at, mut codes) = (0, Vec::new());
    while at < value.len() {
        let code = (0..table.len())
            .filter(|&code| {
                let length = usize::from(table.lengths[code]);
                value[at..].starts_with(&table.symbols[code][..length])
            })
            .max_by_key(|&code| table.lengths[code])
            .expect("single bytes are symbols");
        codes.push(code);
        at += usize::from(table.lengths[code]);
    }
    let mut coded = vec![0; (codes.len() * code_bits).div_ceil(8)];
    for (place, code) in codes.into_iter().enumerate() {
        for bit in (0..code_bits).filter(|bit| code >> bit & 1 == 1) {
            let to = place * code_bits + bit;
            coded[to / 8] |= 1 << (to % 8);
        }
    }
    coded
}

/// Codes and decodes values in every way and compares.
fn check_round_trip(table: &SymbolTable, values: &[Vec<u8>]) {
    let encoder = table.encoder();
    let (mut coded, mut ends) = (Vec::new(), Vec::new());
    let (mut out, mut out_ends) = (b"before".to_vec(), vec![6]);
    let (mut expected, mut expected_ends) = (out.clone(), out_ends.clone());
    for value in values {
        let start = coded.len();
        encoder.encode(value, &mut coded);
        let one = &coded[start..];
        ends.push(coded.len());
        let mut single = Vec::new();
        table.decode(one, &mut single).unwrap();
        assert_eq!(&single, value);
        assert_eq!(decode_plainly(table, one).as_ref(), Some(value));
        assert_eq!(table.decoded_len(one).unwrap(), value.len());
        expected.extend_from_slice(value);
        expected_ends.push(expected.len() as u32);
    }
    table
        .decode_all(&coded, ends.into_iter(), &mut out, &mut out_ends)
        .unwrap();
    assert_eq!((out, out_ends), (expected, expected_ends));
    assert_eq!(encoder.compressed_estimate(&slices(values)), coded.len());
}

fn check(values: &[Vec<u8>]) {
    for code_bits in [12, 16] {
        let table = SymbolTable::train(&slices(values), code_bits);
        check_round_trip(&table, values);
        let again = SymbolTable::read(&written(&table)).unwrap();
        assert_eq!(again, table);
        assert_eq!(written(&again), written(&table));
        for value in values {
            assert_eq!(encoded(&again, value), encoded(&table, value));
        }
    }
}

/// Values of few different pieces, so that symbols are learnt from few of them.
fn repetitive() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        Just(b"the ".to_vec()),
        Just(b"furiously ".to_vec()),
        Just(vec![0, 0]),
        Just(vec![0]),
        Just(vec![255; 5]),
        Just("żółw".as_bytes().to_vec()),
        vec(any::<u8>(), 0..3),
    ];
    let value = vec(piece, 0..12).prop_map(|pieces| pieces.concat());
    vec(value, 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_bytes_come_back(values in vec(vec(any::<u8>(), 0..80), 0..40)) {
        check(&values);
    }

    #[test]
    fn text_comes_back(values in vec("[a-e ]{0,60}|\\PC{0,30}", 0..60)) {
        check(&values.into_iter().map(String::into_bytes).collect::<Vec<_>>());
    }

    #[test]
    fn repetitive_values_come_back(values in repetitive()) {
        check(&values);
    }

    #[test]
    fn fast_encoding_is_the_plain_one(values in repetitive(), code_bits in prop_oneof![Just(12), Just(16)]) {
        let table = SymbolTable::train(&slices(&values), code_bits);
        for value in values {
            prop_assert_eq!(encoded(&table, &value), encode_plainly(&table, &value));
        }
    }

    #[test]
    fn walks_see_every_byte_once(value in vec(any::<u8>(), 0..70), steps in vec(1_usize..=16, 70)) {
        let mut at = 0;
        let mut steps = steps.into_iter();
        walk(&value, |window, allowed| {
            let mut expected = [0; MAX_SYMBOL];
            let left = (value.len() - at).min(MAX_SYMBOL);
            expected[..left].copy_from_slice(&value[at..at + left]);
            assert_eq!(window.to_le_bytes(), expected);
            assert_eq!((allowed & 0xFFFF).count_ones() as usize, left);
            assert_eq!(MAX_SYMBOL - allowed.trailing_zeros() as usize, left);
            let step = steps.next().unwrap().min(left);
            at += step;
            step
        });
        prop_assert_eq!(at, value.len());
    }
}

/// A table of the bytes and `learnt`, by way of its bytes: all written whole.
fn table_of(code_bits: u8, learnt: &[&str]) -> SymbolTable {
    let mut bytes = vec![code_bits, learnt.len() as u8, 0, 0, 0];
    for pair in learnt.chunks(2) {
        let high = pair.get(1).map_or(0, |symbol| symbol.len() - 1);
        bytes.push(((pair[0].len() - 1) | (high << 4)) as u8);
    }
    bytes.extend(learnt.iter().flat_map(|symbol| symbol.bytes()));
    SymbolTable::read(&bytes).unwrap()
}

#[test]
fn the_example_of_the_module_header() {
    let table = table_of(12, &["th", "the ", "cat"]);
    assert_eq!(
        encoded(&table, b"the catch"),
        [0x01, 0x21, 0x10, 0x63, 0x80, 0x06]
    );
    check_round_trip(&table, &[b"the catch".to_vec(), b"t".to_vec()]);
    let table = table_of(16, &["th", "the ", "cat"]);
    assert_eq!(encoded(&table, b"the catch"), [1, 1, 2, 1, 99, 0, 104, 0]);
}

#[test]
fn odd_values_come_back() {
    check(&[]);
    check(&[vec![]]);
    check(&[vec![], vec![0], vec![0; 2], vec![0; 100_000], vec![7; 33]]);
    check(
        &(0..300)
            .map(|length| vec![b'x'; length])
            .collect::<Vec<_>>(),
    );
    check(
        &(0..=255)
            .map(|byte| vec![byte, 0, byte, 0, byte])
            .collect::<Vec<_>>(),
    );
    check(&vec![
        "naïve café, 東京タワー 🗼".as_bytes().to_vec();
        40
    ]);
}

#[test]
fn symbols_of_zeros_are_not_found_past_the_end() {
    let table = table_of(12, &["a\0", "a\0\0\0", "\0\0\0"]);
    for value in [&b"a"[..], b"a\0", b"a\0\0", b"a\0\0\0", b"ba\0\0\0\0\0\0"] {
        assert_eq!(encoded(&table, value), encode_plainly(&table, value));
        check_round_trip(&table, &[value.to_vec()]);
    }
}

#[test]
fn equal_symbols_are_coded_as_the_first() {
    let table = table_of(12, &["ab", "ab", "abc", "ab"]);
    assert_eq!(codes(&encoded(&table, b"abcabab"), 12), [258, 256, 256]);
    assert_eq!(table.len(), 260);
}

#[test]
fn full_tables_are_written_and_read() {
    for (code_bits, pieces) in [(12, 64_u32), (16, 256)] {
        let mut matcher = Matcher::new(1 << code_bits);
        let mut number = 0_u32;
        while matcher.len() < 1 << code_bits {
            // Pairs of bytes, then longer ones.
            let (left, right) = (number / pieces % 256, number % pieces);
            let longer = number / (256 * pieces);
            matcher.push(
                u128::from(left | right << 8 | longer << 16),
                2 + longer.min(1) as usize,
            );
            number += 1;
        }
        let table = SymbolTable::from_symbols(&matcher, code_bits);
        assert_eq!(table.len(), 1 << code_bits);
        assert_eq!(SymbolTable::read(&written(&table)).unwrap(), table);
        check_round_trip(&table, &comments(1000, 10..=43));
    }
}

#[test]
fn training_is_repeatable() {
    let values = comments(200_000, 10..=43);
    for code_bits in [12, 16] {
        let table = SymbolTable::train(&slices(&values), code_bits);
        assert_eq!(
            written(&SymbolTable::train(&slices(&values), code_bits)),
            written(&table)
        );
    }
}

#[test]
fn comments_shrink_to_a_fraction() {
    for (lengths, least) in [(10..=43, 3.5), (49..=198, 4.5)] {
        let values = comments(1 << 20, lengths);
        let table = SymbolTable::train(&slices(&values), 12);
        let bytes: usize = values.iter().map(Vec::len).sum();
        let coded = table.encoder().compressed_estimate(&slices(&values));
        let ratio = bytes as f64 / (coded + written(&table).len()) as f64;
        assert!(ratio >= least, "{ratio}");
        check_round_trip(&table, &values);
    }
}

/// Lengths on both sides of every limit of decoding in batches, in turns.
#[test]
fn long_and_short_values_come_back_together() {
    let text = comments(200_000, 40..=43).concat();
    let lengths = [0, 1, 3, 60, 2000, 5, 255, 256, 257, 30_000, 12, 0, 511, 900];
    let mut start = 0;
    let values: Vec<Vec<u8>> = (0..1200)
        .map(|at| {
            let length = lengths[at % lengths.len()];
            start = (start + 7919) % (text.len() - length);
            text[start..start + length].to_vec()
        })
        .collect();
    for code_bits in [12, 16] {
        check_round_trip(&SymbolTable::train(&slices(&values), code_bits), &values);
    }
}
