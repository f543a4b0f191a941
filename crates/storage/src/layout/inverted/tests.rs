use super::*;
use crate::codec::fields::Rows;
use crate::layout::{StripeSections, TupleStore};
use crate::schema::{Column, ColumnType};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray};
use std::sync::Arc;

fn column() -> Column {
    Column {
        name: "a".into(),
        kind: ColumnType::Text,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    }
}

fn sections(values: &[Option<&str>]) -> Vec<SectionData> {
    let array: ArrayRef = Arc::new(StringViewArray::from(values.to_vec()));
    let dense = Dense::from_arrow(&array, &column()).unwrap();
    build(&[encode(&dense, Physical::Bytes { text: true })])
}

fn opened(sections: &[SectionData], rows: usize) -> crate::Result<InvertedColumn> {
    let mut found = StripeSections::default();
    for section in sections {
        *found.slot(section.kind).unwrap() = Some(section.bytes.clone());
    }
    InvertedColumn::open(&column(), rows, Codec::Dictionary, found)
}

const EXAMPLE: [Option<&str>; 6] = [Some("b"), Some("a"), Some("b"), None, Some("c"), Some("b")];

/// The example of the essay: counts and sets.
#[test]
fn golden_sets() {
    let found = sections(&EXAMPLE);
    let sets = found[2].bytes.as_slice();
    // {1} and {4} are a first row and no gaps; {0, 2, 5} is a bitmap to 5 rows on.
    assert_eq!(sets, [4, 1, 1, 2, 3, 0, 5, 0b100101, 4, 1, 4]);
    assert!(sections(&[None; 9]).is_empty());
    let values = opened(&found, 6).unwrap();
    let values = values.read(0, &Rows::Range(0..6)).unwrap();
    assert_eq!(values.as_string_view().iter().collect::<Vec<_>>(), EXAMPLE);
    let nothing = opened(&[], 4).unwrap().read(0, &Rows::Range(1..4)).unwrap();
    assert_eq!((nothing.len(), nothing.null_count()), (3, 3));
}

#[test]
fn damage_names_the_section() {
    let damaged = |place: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut found = sections(&EXAMPLE);
        let mut bytes = found[place].bytes.as_slice().to_vec();
        change(&mut bytes);
        found[place].bytes = Buffer::from_vec(bytes);
        let error = opened(&found, 6)
            .and_then(|column| column.read(0, &Rows::Range(0..6)))
            .unwrap_err();
        assert_eq!(error.sqlstate(), "XX001");
        error.to_string()
    };
    let text = damaged(0, &|bytes| bytes[0] = 200);
    assert!(text.contains("codebook of a"), "{text}");
    let text = damaged(1, &|bytes| bytes[0] = 9);
    assert!(text.contains("ends of a"), "{text}");
    // The set of "a" becomes {2}, which "b" has too.
    let text = damaged(2, &|bytes| bytes[2] = 2);
    assert!(
        text.contains("row sets of a") && text.contains("row 2"),
        "{text}"
    );
    let found = sections(&EXAMPLE);
    let text = opened(&found[..2], 6).unwrap_err().to_string();
    assert!(
        text.contains("row sets of a") && text.contains("missing"),
        "{text}"
    );
}
