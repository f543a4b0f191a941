//! The three cases of an update, and deletes, on the page that the essay draws.

use super::*;
use crate::layout::{Compaction, PageColumn, PageEditor, PageUpdate};

fn page(compaction: Compaction) -> PaxPageEditor {
    let kinds = [
        (ColumnType::Integer, false),
        (ColumnType::Text, false),
        (ColumnType::Integer, true),
    ];
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2, 3])),
        Arc::new(StringViewArray::from(vec!["Jane", "John", "Sue"])),
        Arc::new(Int32Array::from(vec![None, Some(9), Some(8)])),
    ];
    let sample = Sample::new(&kinds, arrays, options(128, 5));
    let columns: Vec<PageColumn> = sample.schema.columns.iter().map(PageColumn::of).collect();
    let form = PaxPageEditor::form(&columns, 128).unwrap();
    PaxPageEditor::open(&form, sample.pages.to_vec(), compaction).unwrap()
}

/// Bytes of a minipage.
fn minipage(page: &PaxPageEditor, column: usize) -> &[u8] {
    let bytes = page.bytes();
    let bound = |column: usize| match column {
        3 => bytes.len(),
        _ => usize::from(bytes[16 + 6 * column]),
    };
    &bytes[bound(column)..bound(column + 1)]
}

/// A value that fits moves those after it in its minipage, and nothing else.
#[test]
fn a_value_that_fits_its_minipage() {
    let mut page = page(Compaction::Now);
    let before = page.clone();
    assert_eq!(
        page.update(0, 1, Some(b"Janet")).unwrap(),
        PageUpdate::InPlace
    );
    assert!(minipage(&page, 1).starts_with(b"JanetJohnSue"));
    assert!(minipage(&page, 1).ends_with(&[12, 0, 9, 0, 5, 0]));
    assert_eq!(minipage(&page, 0), minipage(&before, 0));
    assert_eq!(minipage(&page, 2), minipage(&before, 2));
    assert_eq!(page.bytes()[12] + 1, before.bytes()[12], "bytes free");
    assert_eq!(page.update(1, 1, Some(b"Jo")).unwrap(), PageUpdate::InPlace);
    assert!(minipage(&page, 1).starts_with(b"JanetJoSue\0"));
    assert_eq!(
        page.update(1, 0, Some(&[7, 7, 7, 7])).unwrap(),
        PageUpdate::InPlace
    );
    assert_eq!(
        minipage(&page, 0)[..12],
        [1, 0, 0, 0, 7, 7, 7, 7, 3, 0, 0, 0]
    );
    // NULL takes no place: a value comes and goes.
    assert_eq!(
        page.update(0, 2, Some(&[6, 0, 0, 0])).unwrap(),
        PageUpdate::InPlace
    );
    assert_eq!(
        minipage(&page, 2)[..12],
        [6, 0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0]
    );
    assert_eq!(minipage(&page, 2).last(), Some(&0b111));
    assert_eq!(page.update(1, 2, None).unwrap(), PageUpdate::InPlace);
    assert_eq!(
        minipage(&page, 2)[..12],
        [6, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(minipage(&page, 2).last(), Some(&0b101));
}

/// A minipage that is full borrows from its neighbours; what they hold stays.
#[test]
fn a_value_for_which_a_boundary_moves() {
    let mut page = page(Compaction::Now);
    let size = |page: &PaxPageEditor, column| minipage(page, column).len();
    let before = [0, 1, 2].map(|column| size(&page, column));
    let long = vec![b'x'; before[1] - 13 + 5];
    assert_eq!(
        page.update(1, 1, Some(&long)).unwrap(),
        PageUpdate::Reorganised
    );
    let after = [0, 1, 2].map(|column| size(&page, column));
    // 5 bytes are missing; the first of the nearest lends half of its 16.
    assert_eq!(after, [before[0] - 8, before[1] + 8, before[2]]);
    assert_eq!(
        minipage(&page, 0)[..12],
        [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]
    );
    assert_eq!(page.value(1, 1).unwrap(), Some(&long[..]));
    assert_eq!(page.value(2, 1).unwrap(), Some(&b"Sue"[..]));
    assert_eq!(page.value(0, 2).unwrap(), None);
    assert_eq!(page.value(2, 2).unwrap(), Some(&[8, 0, 0, 0][..]));
}

/// All minipages together have not enough: nothing changes, the record must move.
#[test]
fn a_value_for_which_the_page_has_no_room() {
    let mut page = page(Compaction::Now);
    let before = page.clone();
    let free = usize::from(page.bytes()[12]);
    let longest = vec![b'x'; free + 4];
    let longer = vec![b'x'; free + 5];
    assert_eq!(
        page.update(1, 1, Some(&longer)).unwrap(),
        PageUpdate::NoRoom
    );
    assert_eq!(page.bytes(), before.bytes());
    assert_eq!(
        page.update(1, 1, Some(&longest)).unwrap(),
        PageUpdate::Reorganised
    );
    assert_eq!(page.bytes()[12], 0, "bytes free");
    let error = page.update(1, 1, Some(&[b'x'; 100])).unwrap_err();
    assert_eq!(error.sqlstate(), "54000");
    assert_eq!(
        page.insert(&[Some(&[0; 4]), Some(b""), None]).unwrap(),
        None
    );
    page.delete(1).unwrap();
    assert_eq!(
        page.insert(&[Some(&[0; 4]), Some(b""), None]).unwrap(),
        Some(3)
    );
}

/// Rows after a deleted one move up, at once or when they shall; numbers stay.
#[test]
fn deleted_records_leave_no_gap() {
    let moved = [1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
    let mut now = page(Compaction::Now);
    now.delete(1).unwrap();
    let mut deferred = page(Compaction::Deferred);
    let before = deferred.bytes().to_vec();
    deferred.delete(1).unwrap();
    assert_eq!(deferred.bytes(), before);
    assert_eq!(deferred.packed(), now.bytes());
    assert_eq!(deferred.value(1, 1).unwrap_err().sqlstate(), "22023");
    deferred.compact();
    for page in [&now, &deferred] {
        assert_eq!(page.bytes()[0], 2, "rows");
        assert_eq!(minipage(page, 0)[..12], moved);
        assert!(minipage(page, 1).starts_with(b"JaneSue\0"));
        assert!(minipage(page, 1).ends_with(&[0, 0, 7, 0, 4, 0]));
        assert_eq!(minipage(page, 2).last(), Some(&0b10));
        assert_eq!(page.value(2, 1).unwrap(), Some(&b"Sue"[..]));
        assert!(!page.has(1) && page.has(2) && page.numbers() == 3);
    }
}
