//! The table of bytes in `tuple`, by its example.

use super::TupleShape;
use crate::schema::{Column, ColumnType, TableSchema, Value};

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
