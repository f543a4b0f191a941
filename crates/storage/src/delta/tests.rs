//! The table of bytes in `tuple`, by its example; sets of rows.

use super::{Fragment, RowBits, Stored, TupleBatch, TupleShape};
use crate::codec::ArrayForm;
use crate::schema::{Column, ColumnType, TableSchema, Value};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type};
use arrow_array::{ArrayRef, RecordBatch, StringViewArray};
use arrow_buffer::BooleanBuffer;
use std::sync::Arc;

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

#[test]
fn the_example_is_so() {
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
    let values = [Some([7, 0].into()), None, Some(Stored::Bytes(b"ab"))];
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
    let schema = TableSchema {
        columns: vec![column("t", ColumnType::Text)],
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
        assert_eq!(values(&compact), (0..rows).map(text).collect::<Vec<_>>());
    }
}

/// The values of an array of texts, coded or not, or of integers.
fn values(array: &ArrayRef) -> Vec<Option<String>> {
    if let Some(coded) = array.as_dictionary_opt::<UInt32Type>() {
        let entries = coded.values().as_string_view();
        let entry = |key: Option<u32>| key.map(|key| entries.value(key as usize).to_string());
        return coded.keys().iter().map(entry).collect();
    }
    match array.as_primitive_opt::<Int32Type>() {
        Some(numbers) => numbers
            .iter()
            .map(|number| number.map(|number| number.to_string()))
            .collect(),
        None => array
            .as_string_view()
            .iter()
            .map(|text| text.map(str::to_string))
            .collect(),
    }
}

#[test]
fn kept_columns_are_those_of_the_tuples() {
    let schema = Arc::new(TableSchema {
        columns: vec![
            column("number", ColumnType::Integer),
            column("text", ColumnType::Text),
        ],
        ..TableSchema::default()
    });
    let fragment = Fragment::new(0, schema);
    let push = |from: i32, to: i32, times: i32| {
        for number in from..to {
            let text = (number % 7 != 0).then(|| format!("text {}", number * times % 5));
            let values = [
                Some(number.wrapping_mul(times).to_le_bytes().into()),
                text.as_ref().map(|text| Stored::Bytes(text.as_bytes())),
            ];
            let mut tuple = Vec::new();
            fragment.shape().encode_stored(&values, &mut tuple).unwrap();
            fragment.push(&tuple, 1);
        }
    };
    let check = || {
        let tuples = fragment.read();
        let every: Vec<u32> = (0..tuples.len()).collect();
        let most: Vec<u32> = every.iter().copied().filter(|row| row % 9 != 4).collect();
        let last = &every[every.len() - 1..];
        for rows in [&every[..], &most, &every[..every.len() / 2], last, &[]] {
            for form in [ArrayForm::Sql, ArrayForm::Compact] {
                for number in 0..2 {
                    let kept = tuples.kept_column(number, rows, form).unwrap();
                    let read = tuples.column(number, rows, form).unwrap();
                    assert_eq!(values(&kept), values(&read));
                }
            }
        }
    };
    push(0, 300, 1);
    let before = fragment.bytes();
    check();
    assert!(fragment.bytes() > before, "what is kept is counted");
    push(300, 500, 3);
    check();
    fragment.truncate(250);
    assert!(fragment.bytes() < before);
    push(250, 400, 2);
    check();
}
