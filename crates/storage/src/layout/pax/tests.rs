use super::page::*;
use super::*;
use crate::codec::fields::Rows;
use crate::format::{Reader, Writer};
use crate::layout::pages::{DIRECTORY_BYTES, DIRECTORY_FIELDS};
use crate::layout::{BookSections, TupleStore};
use crate::schema::ColumnType;
use arrow_array::*;
use proptest::prelude::*;
use std::sync::Arc;

mod edit;
mod fuzz;
mod reorganise;
mod round_trip;
mod samples;

use samples::*;

#[test]
fn byte_tables() {
    use crate::format::tests::check_table;
    check_table("pax-page", PAGE_FIELDS, PAGE_BYTES);
    check_table("pax-minipage", MINIPAGE_FIELDS, MINIPAGE_BYTES);
    check_table("page-directory", DIRECTORY_FIELDS, DIRECTORY_BYTES);
    let header = PageHeader {
        rows: 1,
        columns: 2,
        end_bytes: 4,
        bytes: 8192,
        free: 17,
    };
    let mut writer = Writer::default();
    header.encode(&mut writer);
    assert_eq!(writer.len(), PAGE_BYTES);
    encode_minipage(
        &mut writer,
        300,
        Shape {
            width: Some(4),
            nullable: true,
        },
    );
    assert_eq!(writer.len(), PAGE_BYTES + MINIPAGE_BYTES);
    let bytes = writer.finish();
    let mut reader = Reader::new(&bytes);
    assert_eq!(PageHeader::decode(&mut reader).unwrap(), header);
    assert_eq!(
        decode_minipage(&mut reader).unwrap(),
        (
            300,
            Shape {
                width: Some(4),
                nullable: true
            }
        )
    );
}

/// The page drawn in the module's essay, byte for byte.
#[test]
fn golden_page() {
    let kinds = [
        (ColumnType::Integer, false),
        (ColumnType::Text, false),
        (ColumnType::Integer, true),
    ];
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2])),
        Arc::new(StringViewArray::from(vec!["Jane", "John"])),
        Arc::new(Int32Array::from(vec![None, Some(9)])),
    ];
    let sample = Sample::new(&kinds, arrays, options(1024, 5));
    assert_eq!(sample.directory.as_slice(), [0; 8]);
    let page = sample.pages.as_slice();
    assert_eq!(page.len(), 1024);
    let free = 1024 - (16 + 3 * 6) - (8 + 8 + 4 + 4 + 1);
    assert_eq!(
        page[..16],
        [
            2,
            0,
            0,
            0,
            3,
            0,
            2,
            0,
            0,
            4,
            0,
            0,
            (free % 256) as u8,
            (free / 256) as u8,
            0,
            0
        ]
    );
    let offset = |column: usize| {
        usize::from(page[16 + 6 * column]) + 256 * usize::from(page[17 + 6 * column])
    };
    assert_eq!(
        [page[20], page[21], page[26], page[27], page[32], page[33]],
        [4, 0, 0, 0, 4, 1]
    );
    assert_eq!(offset(0), 34);
    assert_eq!(page[34..42], [1, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(&page[offset(1)..offset(1) + 8], b"JaneJohn");
    assert_eq!(page[offset(2) - 4..offset(2)], [8, 0, 4, 0]);
    assert_eq!(page[offset(2)..offset(2) + 4], [9, 0, 0, 0]);
    assert_eq!(page[1023], 0b10);
}
