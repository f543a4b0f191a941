//! The table of bytes in `tuple`, by its example; sets of rows.

use super::{RowBits, TupleBatch, TupleShape};
use crate::codec::ArrayForm;
use crate::schema::{Column, ColumnType, TableSchema, Value};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, RecordBatch, StringViewArray};
use arrow_buffer::BooleanBuffer;
use std::sync::Arc;

#[test]
fn the_example_is_so() {
    let column = |name: &str, kind| Column {
        name: name.into(),
        kind,
        nullable: true,
        default: None,
        identity: None,
    };
    let schema = TableSchema {
        columns: vec![
            column("a", ColumnType::SmallInt),
            column("b", ColumnType::Integer),
            column("c", ColumnType::Text),
        ],
        ..TableSchema::default()
    };
    let shape = TupleShape::of(&schema);
    let mut tuple = Vec::new();
    let values = [Some(vec![7, 0]), None, Some(b"ab".to_vec())];
    shape.encode_stored(&values, &mut tuple).unwrap();
    let hex: Vec<String> = tuple.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex.join(" "), "05 07 00 00 00 00 00 0d 00 00 00 61 62");
    assert_eq!(shape.value(&tuple, 0), Some(Value::Int(7)));
    assert_eq!(shape.value(&tuple, 1), None);
    assert_eq!(shape.value(&tuple, 2), Some(Value::Bytes(b"ab".to_vec())));
}

#[test]
fn bits_are_a_set_of_rows_wherever_they_begin() {
    let mut model = std::collections::BTreeSet::new();
    let (mut bits, mut other) = (RowBits::default(), RowBits::default());
    let mut state = 9u64;
    for step in 0..4000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        // Few places at first, then everywhere.
        let row = (state >> 33) as u32 % [70, 900, 60_000][step / 1400] + 3000;
        match step % 5 {
            0 => {
                bits.remove(row);
                model.remove(&row);
            }
            1 => {
                other.insert(row);
                bits.add_all(&other);
                model.extend(other.rows());
            }
            _ => assert_eq!(bits.insert(row), model.insert(row)),
        }
        assert!(step % 97 != 0 || bits.rows().eq(model.iter().copied()));
        assert_eq!(bits.contains(row), model.contains(&row));
        let words = 64 * (row as usize / 64);
        let range = words..words + 200;
        let any = model.range(range.start as u32..(words + 256) as u32).next();
        assert_eq!(bits.any(&range), any.is_some());
    }
    assert_eq!(bits.count(), model.len());
    let all = BooleanBuffer::new_set(640);
    let left = bits.taken_from(&all, 3200);
    let expected: Vec<usize> = (0..640)
        .filter(|row| !model.contains(&(*row as u32 + 3200)))
        .collect();
    assert_eq!(left.set_indices().collect::<Vec<_>>(), expected);
    assert!(bits == bits.clone() && bits != RowBits::default());
}

/// Texts that repeat come as codes where that is asked for, others as they are.
#[test]
fn repeated_texts_come_as_codes() {
    let column = Column {
        name: "t".into(),
        kind: ColumnType::Text,
        nullable: true,
        default: None,
        identity: None,
    };
    let schema = TableSchema {
        columns: vec![column],
        ..TableSchema::default()
    };
    let shape = TupleShape::of(&schema);
    // NULL stands for an empty text among the different ones.
    for (rows, different, is_coded) in [(10, 2, false), (300, 255, true), (300, 256, false)] {
        let text = |row: usize| (row != 5).then(|| format!("{:013}", row % different));
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter((0..rows).map(text)));
        let batch = RecordBatch::try_new(schema.arrow(), vec![texts.clone()]).unwrap();
        let tuples = TupleBatch::of(&schema, &shape, &batch).unwrap();
        let plain = shape.column(tuples.iter(), 0, ArrayForm::Sql).unwrap();
        assert_eq!(&plain, &texts);
        let compact = shape.column(tuples.iter(), 0, ArrayForm::Compact).unwrap();
        let coded = compact.as_dictionary_opt::<UInt32Type>();
        assert_eq!(coded.is_some(), is_coded, "{rows} {different}");
        for row in 0..coded.map_or(0, |coded| coded.len()) {
            let key = coded.and_then(|coded| coded.key(row));
            let entries = coded.unwrap().values().as_string_view();
            assert_eq!(key.map(|key| entries.value(key).to_string()), text(row));
        }
    }
}
