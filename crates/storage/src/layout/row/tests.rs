use super::page::*;
use super::*;
use crate::codec::fields::Rows;
use crate::codec::{Dense, encode};
use crate::layout::{BookSections, TupleStore};
use crate::schema::{Column, ColumnType, TableSchema};
use arrow_array::cast::AsArray;
use arrow_array::*;
use std::sync::Arc;

mod edit;

#[test]
fn byte_tables() {
    use crate::format::tests::check_table;
    check_table("slotted-page", PAGE_FIELDS, PAGE_BYTES);
    check_table("slot", SLOT_FIELDS, 4);
}

fn column(name: &str, kind: ColumnType) -> Column {
    Column {
        name: name.into(),
        kind,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    }
}

/// Pages and directory of plain columns, and the schema.
fn filled(
    kinds: &[ColumnType],
    arrays: &[ArrayRef],
    page_bytes: u32,
    fill_percent: u8,
) -> (TableSchema, Vec<Buffer>) {
    let columns: Vec<Column> = kinds
        .iter()
        .enumerate()
        .map(|(number, kind)| column(&format!("c{number}"), *kind))
        .collect();
    let encoded: Vec<Encoded> = columns
        .iter()
        .zip(arrays)
        .map(|(column, array)| {
            let dense = Dense::from_arrow(array, column).unwrap();
            encode(&dense, column.kind.physical(), Codec::Plain).unwrap()
        })
        .collect();
    let options = TableOptions {
        page_bytes,
        fill_percent,
        ..TableOptions::default()
    };
    let sections = build_slotted(&encoded, &options).unwrap();
    let schema = TableSchema {
        columns,
        ..TableSchema::default()
    };
    (
        schema,
        sections.into_iter().map(|section| section.bytes).collect(),
    )
}

/// The record and the page of the essays, byte for byte.
#[test]
fn golden_page() {
    let kinds = [ColumnType::SmallInt, ColumnType::Text, ColumnType::Text];
    let arrays: [ArrayRef; 3] = [
        Arc::new(Int16Array::from(vec![7, 8])),
        Arc::new(StringViewArray::from(vec![Some("Jane"), None])),
        Arc::new(StringViewArray::from(vec![None, Some("Smith")])),
    ];
    let (_, sections) = filled(&kinds, &arrays, 1024, 100);
    let (page, directory) = (sections[0].as_slice(), sections[1].as_slice());
    assert_eq!(directory, [0; 8]);
    assert_eq!(page.len(), 1024);
    assert_eq!(
        page[..16],
        [2, 0, 0, 0, 2, 0, 0, 0, 0, 4, 0, 0, 39, 0, 0, 0]
    );
    assert_eq!(page[16..23], [0b011, 7, 0, 11, 0, 11, 0]);
    assert_eq!(&page[23..27], b"Jane");
    assert_eq!(page[27..34], [0b101, 8, 0, 7, 0, 12, 0]);
    assert_eq!(&page[34..39], b"Smith");
    assert_eq!(page[1016..], [27, 0, 12, 0, 16, 0, 11, 0]);
    assert!(page[39..1016].iter().all(|byte| *byte == 0));
}

/// Pages are as full as they shall be; a record that is too large has its own.
#[test]
fn pages_fill_to_their_limit() {
    let texts = |len: &dyn Fn(usize) -> usize| -> ArrayRef {
        let texts = (0..100).map(|row| "x".repeat(len(row)));
        Arc::new(texts.map(Some).collect::<StringViewArray>())
    };
    // 16 bytes of header; 1 + 2 + 81 of a record and 4 of its slot.
    let even = [texts(&|_| 81)];
    for (percent, each) in [(100, 11), (50, 5), (1, 1)] {
        let (_, sections) = filled(&[ColumnType::Text], &even, 1024, percent);
        assert_eq!(sections[0].len(), 1024 * 100_usize.div_ceil(each));
        assert_eq!(sections[1].len(), 8 * 100_usize.div_ceil(each));
    }
    let wide = |row: usize| if row == 50 { 100_000 } else { 5 };
    let mixed = [texts(&wide)];
    for page_bytes in [1024, 1 << 17] {
        let (schema, sections) = filled(&[ColumnType::Text], &mixed, page_bytes, 100);
        let (pages, directory) = (sections[0].clone(), &sections[1]);
        assert_eq!(pages[4], 4, "wide offsets");
        let books = [BookSections::plain()];
        let store =
            RowStore::open_slotted(&schema, 100, page_bytes, pages, directory, &books).unwrap();
        let found = store.read(0, &Rows::Positions(&[49, 50, 99])).unwrap();
        let lengths: Vec<u32> = found.as_string_view().lengths().collect();
        assert_eq!(lengths, [5, 100_000, 5]);
    }
}
