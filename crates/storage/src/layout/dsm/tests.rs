use super::relation::gallop;
use super::*;
use crate::layout::StripeSections;
use crate::schema::{Column, ColumnType};
use arrow_array::{ArrayRef, Int32Array};
use std::sync::Arc;

fn column() -> Column {
    Column {
        name: "a".into(),
        kind: ColumnType::Integer,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    }
}

/// The sections of one column of these values, in stored form.
fn sections(values: Vec<Option<i32>>) -> Vec<SectionData> {
    let array: ArrayRef = Arc::new(Int32Array::from(values));
    let dense = Dense::from_arrow(&array, &column()).unwrap();
    let encoded = encode(&dense, Physical::I32, CodecChoice::None);
    build(&[dense], &[encoded])
}

/// The example of the essay, byte for byte.
#[test]
fn golden_sections() {
    let found = sections(vec![Some(7), None, Some(9)]);
    let kinds: Vec<SectionKind> = found.iter().map(|section| section.kind).collect();
    assert_eq!(kinds, [SectionKind::Surrogates, SectionKind::Values]);
    // Gaps: two rows, the first is 0, one row lies between.
    assert_eq!(found[0].bytes.as_slice(), [4, 2, 0, 1]);
    assert_eq!(found[1].bytes.as_slice(), [7, 0, 0, 0, 9, 0, 0, 0]);
    assert!(sections(vec![None; 100]).is_empty());
}

/// A column without NULLs has one run of rows.
#[test]
fn full_columns_have_few_surrogates() {
    let found = sections((0..100_000).map(Some).collect());
    assert!(found[0].bytes.len() < 10);
}

#[test]
fn damage_names_the_section() {
    let open = |surrogates: Option<&[u8]>, values: &[u8]| {
        let sections = StripeSections {
            surrogates: surrogates.map(|bytes| Buffer::from(bytes.to_vec())),
            values: Some(Buffer::from(values.to_vec())),
            ..StripeSections::default()
        };
        Relation::open(&column(), 3, Codec::Plain, sections)
    };
    assert!(open(Some(&[2, 2, 0, 2, 0b101]), &[0; 8]).is_ok());
    let bad: [(Option<&[u8]>, &str); 4] = [
        (None, "missing"),
        (Some(&[1, 0]), "no row"),
        (Some(&[1, 1, 3, 0]), "beyond the block"),
        (Some(&[2, 2, 0, 2, 0b111]), "does not hold"),
    ];
    for (surrogates, reason) in bad {
        let error = open(surrogates, &[0; 8]).unwrap_err();
        assert_eq!(error.sqlstate(), "XX001");
        let text = error.to_string();
        assert!(
            text.contains("surrogates of a") && text.contains(reason),
            "{text}"
        );
    }
    assert!(open(Some(&[2, 2, 0, 2, 0b101]), &[0; 12]).is_err());
}

#[test]
fn galloping_finds_what_searching_finds() {
    for len in 0..70_u32 {
        let ascending: Vec<u32> = (0..len).map(|value| 3 * value + 1).collect();
        for wanted in 0..3 * len + 5 {
            let expected = ascending.partition_point(|value| *value < wanted);
            assert_eq!(gallop(&ascending, wanted), expected);
        }
    }
}
