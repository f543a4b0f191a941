//! The three cases of an update, and deletes, on the page that the essay draws.

use super::*;
use crate::layout::{Compaction, PageColumn, PageEditor, PageUpdate};

/// Records of 11 and 12 bytes, at 16 and 27.
fn page(compaction: Compaction) -> SlottedPageEditor {
    let kinds = [ColumnType::SmallInt, ColumnType::Text, ColumnType::Text];
    let arrays: [ArrayRef; 3] = [
        Arc::new(Int16Array::from(vec![7, 8])),
        Arc::new(StringViewArray::from(vec![Some("Jane"), None])),
        Arc::new(StringViewArray::from(vec![None, Some("Smith")])),
    ];
    let (schema, sections) = filled(&kinds, &arrays, 128, 100);
    let columns: Vec<PageColumn> = schema.columns.iter().map(PageColumn::of).collect();
    let form = SlottedPageEditor::form(&columns, 128).unwrap();
    SlottedPageEditor::open(&form, sections[0].to_vec(), compaction).unwrap()
}

/// The records of the slots, and where the free space begins.
fn slots(page: &SlottedPageEditor) -> (Vec<std::ops::Range<usize>>, u32) {
    let header = PageHeader::decode(page.bytes(), page.numbers() as u32).unwrap();
    (header.slots(page.bytes()).collect(), header.free)
}

#[test]
fn a_value_that_is_not_longer() {
    let mut page = page(Compaction::Now);
    assert_eq!(
        page.update(1, 0, Some(&[9, 1])).unwrap(),
        PageUpdate::InPlace
    );
    assert_eq!(page.bytes()[27..34], [0b101, 9, 1, 7, 0, 12, 0]);
    assert_eq!(page.update(0, 1, Some(b"Jo")).unwrap(), PageUpdate::InPlace);
    assert_eq!(page.bytes()[16..25], *b"\x03\x07\x00\x09\x00\x09\x00Jo");
    assert_eq!(slots(&page), (vec![16..25, 27..39], 39));
    assert_eq!(page.update(1, 2, None).unwrap(), PageUpdate::InPlace);
    assert_eq!(
        slots(&page),
        (vec![16..25, 27..34], 34),
        "the last one gives back its bytes"
    );
    assert_eq!(page.value(1, 2).unwrap(), None);
}

#[test]
fn a_longer_value() {
    let mut page = page(Compaction::Now);
    assert_eq!(
        page.update(0, 1, Some(b"Janet")).unwrap(),
        PageUpdate::Rewritten
    );
    assert_eq!(slots(&page), (vec![39..51, 27..39], 51));
    assert_eq!(
        page.update(0, 2, Some(&[b'x'; 40])).unwrap(),
        PageUpdate::Rewritten
    );
    assert_eq!(
        slots(&page),
        (vec![39..91, 27..39], 91),
        "the last one grows in its place"
    );
    // 29 bytes are free at the end, 11 in the gap: 31 are to be had by closing it.
    assert_eq!(
        page.update(1, 1, Some(&[b'y'; 19])).unwrap(),
        PageUpdate::Reorganised
    );
    assert_eq!(slots(&page), (vec![16..68, 68..99], 99));
    assert_eq!(page.value(0, 1).unwrap(), Some(&b"Janet"[..]));
    assert_eq!(page.value(1, 1).unwrap(), Some(&[b'y'; 19][..]));
    assert_eq!(page.value(1, 2).unwrap(), Some(&b"Smith"[..]));
}

#[test]
fn a_value_for_which_the_page_has_no_room() {
    let mut page = page(Compaction::Now);
    let before = page.clone();
    // 128 less 16 of header, 8 of slots, 12 of the other record, 7 of this one.
    assert_eq!(
        page.update(0, 1, Some(&[b'x'; 86])).unwrap(),
        PageUpdate::NoRoom
    );
    assert_eq!(page.bytes(), before.bytes());
    assert_eq!(
        page.update(0, 1, Some(&[b'x'; 85])).unwrap(),
        PageUpdate::Reorganised
    );
    let error = page.update(0, 1, Some(&[b'x'; 102])).unwrap_err();
    assert_eq!(error.sqlstate(), "54000");
}

#[test]
fn deleted_records_free_their_slots() {
    let mut deferred = page(Compaction::Deferred);
    deferred.delete(0).unwrap();
    assert_eq!(slots(&deferred), (vec![0..0, 27..39], 39));
    let mut now = page(Compaction::Now);
    now.delete(0).unwrap();
    deferred.compact();
    for page in [&mut now, &mut deferred] {
        assert_eq!(slots(page), (vec![0..0, 16..28], 28));
        assert_eq!(page.packed()[124..], [16, 0, 12, 0]);
        assert_eq!(page.packed()[..2], [1, 0]);
        assert_eq!(page.insert(&[None, Some(b"a"), None]).unwrap(), Some(0));
        assert_eq!(slots(page), (vec![28..36, 16..28], 36));
        page.delete(1).unwrap();
        page.compact();
        assert_eq!(
            (page.numbers(), slots(page).1),
            (1, 24),
            "the last slot goes"
        );
    }
}

/// Records may lie in any order, but not one in another.
#[test]
fn overlapping_records_are_refused() {
    let page = page(Compaction::Now);
    let mut bytes = page.bytes().to_vec();
    bytes[124] = 20;
    let columns = vec![
        PageColumn {
            width: Some(2),
            nullable: true,
        },
        PageColumn {
            width: None,
            nullable: true,
        },
        PageColumn {
            width: None,
            nullable: true,
        },
    ];
    let form = SlottedPageEditor::form(&columns, 128).unwrap();
    bytes[27..38].copy_from_slice(b"\x05\x08\x00\x07\x00\x07\x00Smit");
    bytes[20..27].copy_from_slice(b"\x00\x08\x00\x07\x00\x07\x00");
    let error = SlottedPageEditor::open(&form, bytes, Compaction::Now).unwrap_err();
    assert!(error.to_string().contains("overlap"), "{error}");
}
