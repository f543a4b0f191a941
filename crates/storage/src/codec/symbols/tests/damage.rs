//! Tables and codes that are not what was written: an error or a sound answer.

use super::{check_round_trip, decode_plainly, repetitive, slices, written};
use crate::codec::symbols::SymbolTable;
use crate::error::{Error, Result};
use proptest::collection::vec;
use proptest::prelude::*;

fn assert_corrupt<T>(result: Result<T>) {
    match result {
        Err(Error::Corrupt { .. }) => {}
        Err(other) => panic!("not corrupt but {other}"),
        Ok(_) => panic!("taken for good"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_bytes_as_codes_decode_as_plainly(
        values in repetitive(),
        coded in vec(any::<u8>(), 0..64),
        small in any::<bool>(),
        code_bits in prop_oneof![Just(12), Just(16)],
    ) {
        let table = SymbolTable::train(&slices(&values), code_bits);
        // Codes below 512, which more often have symbols.
        let coded: Vec<u8> = match (small, code_bits) {
            (true, 16) => coded.iter().enumerate().map(|(at, byte)| if at % 2 == 1 { byte & 1 } else { *byte }).collect(),
            _ => coded,
        };
        let mut out = b"before".to_vec();
        let result = table.decode(&coded, &mut out);
        match decode_plainly(&table, &coded) {
            Some(value) => {
                prop_assert!(result.is_ok());
                prop_assert_eq!(&out[6..], &value);
                prop_assert_eq!(table.decoded_len(&coded).unwrap(), value.len());
            }
            None => {
                assert_corrupt(result);
                prop_assert_eq!(&out, b"before");
                assert_corrupt(table.decoded_len(&coded));
            }
        }
    }

    #[test]
    fn any_bytes_as_ends_are_an_error_or_in_order(
        values in repetitive(),
        ends in vec(0_usize..40, 0..6),
    ) {
        let table = SymbolTable::train(&slices(&values), 16);
        let (mut out, mut out_ends) = (b"before".to_vec(), vec![6]);
        let result = table.decode_all(&[b'a', 0].repeat(16), ends.iter().copied(), &mut out, &mut out_ends);
        let fine = ends.is_sorted() && ends.iter().all(|end| *end <= 32 && end % 2 == 0);
        prop_assert_eq!(result.is_ok(), fine);
        if !fine {
            prop_assert_eq!((out, out_ends), (b"before".to_vec(), vec![6]));
        }
    }

    #[test]
    fn damaged_tables_are_read_or_refused(
        values in repetitive(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = written(&SymbolTable::train(&slices(&values), 12));
        assert_corrupt(SymbolTable::read(&bytes[..cut.index(bytes.len())]));
        let place = place.index(bytes.len());
        bytes[place] = byte;
        match SymbolTable::read(&bytes) {
            Ok(table) => {
                prop_assert_eq!(written(&table), bytes);
                check_round_trip(&table, &values);
            }
            Err(error) => assert_corrupt::<()>(Err(error)),
        }
    }

    #[test]
    fn any_bytes_as_table_are_read_or_refused(mut bytes in vec(any::<u8>(), 0..200), width in 0..3) {
        if let Some(first) = bytes.first_mut() {
            *first = [12, 16, *first][width as usize];
        }
        if let Ok(table) = SymbolTable::read(&bytes) {
            prop_assert_eq!(written(&table), bytes);
        }
    }
}

#[test]
fn tables_that_say_too_much_are_refused() {
    let refused: [&[u8]; 11] = [
        &[],
        &[8, 0, 0, 0, 0],
        &[12, 0, 0, 0],
        // Trailing byte.
        &[12, 0, 0, 0, 0, 0],
        // One symbol of one byte; one with a spare nibble; one that ends early.
        &[12, 1, 0, 0, 0, 0x00, b'a'],
        &[12, 1, 0, 0, 0, 0x11, b'a', b'b'],
        &[12, 1, 0, 0, 0, 0x0F, b'a', b'b'],
        // More symbols than codes.
        &[12, 0xFF, 0xFF, 0xFF, 0xFF],
        &[16, 0, 0, 1, 0xFF],
        // Joined from itself; from one that comes later.
        &[12, 0, 0, 1, 0, 0x00, 0x01, 0x00],
        &[16, 0, 0, 1, 0, 0x00, 0x00, 0x01, 0x01],
    ];
    for bytes in refused {
        assert_corrupt(SymbolTable::read(bytes));
    }
    // Doubling: 2, 4, 8, 16 bytes are fine, 32 are not.
    let mut bytes = vec![16, 0, 0, 4, 0];
    for code in [u16::from(b'a'), 256, 257, 258, 259] {
        bytes.extend([code.to_le_bytes(), code.to_le_bytes()].concat());
    }
    assert_eq!(SymbolTable::read(&bytes[..21]).unwrap().lengths[259], 16);
    bytes[3] = 5;
    assert_corrupt(SymbolTable::read(&bytes));
}
