//! From keys to rows of the delta: the bounds of conditions, and versions.

use crate::tables::schema;
use freestone_storage::delta::{Stored, TupleShape};
use freestone_storage::predicate::{BoundPredicate, Conditions};
use freestone_storage::{Column, ColumnType, CompareOp, Delta, Key, Predicate, Value};
use std::sync::Arc;

/// A row as a test has it: the values of three columns, of which the last is not in the key.
type Row = (Option<i64>, Option<Vec<u8>>, i32);

fn delta_of(rows: &[Row]) -> Delta {
    let column = |name: &str, kind| Column {
        name: name.into(),
        kind,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    let mut schema = schema(&[]);
    schema.columns = vec![
        column("n", ColumnType::BigInt),
        column("b", ColumnType::Bytea),
        column("i", ColumnType::Integer),
    ];
    schema.keys = vec![Key {
        name: "key".to_owned(),
        columns: vec![0, 1],
        ..Key::default()
    }];
    let delta = Delta::new(Arc::new(schema), 0);
    let shape = TupleShape::of(delta.schema());
    for (n, b, i) in rows {
        let values = [
            n.map(|n| n.to_le_bytes().into()),
            b.as_deref().map(Stored::Bytes),
            Some(i.to_le_bytes().into()),
        ];
        let mut tuple = Vec::new();
        shape.encode_stored(&values, &mut tuple).unwrap();
        delta.append([tuple.as_slice()].into_iter(), 1);
    }
    delta
}

fn compare(column: usize, op: CompareOp, value: Value) -> Predicate {
    Predicate::Compare { column, op, value }
}

#[test]
fn rows_lie_within_the_bounds_of_conditions() {
    let numbers = [
        None,
        Some(i64::MIN),
        Some(-1),
        Some(0),
        Some(7),
        Some(i64::MAX),
    ];
    let texts: [Option<&[u8]>; 8] = [
        None,
        Some(b""),
        Some(b"\0"),
        Some(b"\0\0"),
        Some(b"a"),
        Some(b"a\0b"),
        Some(b"ab"),
        Some(&[255, 255]),
    ];
    let mut rows: Vec<Row> = Vec::new();
    for n in numbers {
        for b in texts {
            for version in 0..2 {
                rows.push((n, b.map(<[u8]>::to_vec), version));
            }
        }
    }
    let delta = delta_of(&rows);
    let ops = [
        CompareOp::Eq,
        CompareOp::Lt,
        CompareOp::LtEq,
        CompareOp::Gt,
        CompareOp::GtEq,
    ];
    let holds = |op: CompareOp, order: std::cmp::Ordering| match op {
        CompareOp::Eq => order.is_eq(),
        CompareOp::NotEq => order.is_ne(),
        CompareOp::Lt => order.is_lt(),
        CompareOp::LtEq => order.is_le(),
        CompareOp::Gt => order.is_gt(),
        CompareOp::GtEq => order.is_ge(),
    };
    for n in numbers.into_iter().flatten() {
        for b in texts.into_iter().flatten() {
            for first in ops {
                for second in ops.map(Some).into_iter().chain([None]) {
                    let mut terms = vec![compare(0, first, Value::Int(n.into()))];
                    let bytes = Value::Bytes(b.to_vec());
                    terms.extend(second.map(|op| compare(1, op, bytes)));
                    let predicate = Predicate::And(terms);
                    let bound = BoundPredicate::bind(&predicate, delta.schema()).unwrap();
                    let conditions = Conditions::of(&bound);
                    let map = delta.map_for(&conditions).unwrap();
                    let found = map.rows(&conditions, usize::MAX).unwrap();
                    let numbered = rows.iter().zip(0u64..);
                    let expected = numbered.filter(|((own, text, _), _)| {
                        let fits = own.is_some_and(|own| holds(first, own.cmp(&n)));
                        // The second column is bounded only under an equality.
                        let bounded = second.filter(|_| first == CompareOp::Eq);
                        let fits_too = bounded.is_none_or(|op| {
                            let text = text.as_deref();
                            text.is_some_and(|text| holds(op, text.cmp(b)))
                        });
                        fits && fits_too
                    });
                    let expected: Vec<u64> = expected.map(|(_, number)| number).collect();
                    let missing = expected.iter().any(|number| !found.contains(number));
                    assert!(!missing, "{predicate:?}");
                    // NULLs may be among them where nothing bounds a column from above.
                    let others = found.iter().filter(|number| !expected.contains(number));
                    let nulls = others.map(|number| &rows[usize::try_from(*number).unwrap()]);
                    assert!(
                        nulls.clone().all(|row| row.0.is_none() || row.1.is_none()),
                        "{predicate:?}: {nulls:?}"
                    );
                    let few = map.rows(&conditions, found.len().saturating_sub(1));
                    assert_eq!(few.is_some(), found.is_empty());
                }
            }
        }
    }
    let one = Predicate::And(vec![compare(2, CompareOp::Eq, Value::Int(1))]);
    let bound = BoundPredicate::bind(&one, delta.schema()).unwrap();
    assert!(delta.map_for(&Conditions::of(&bound)).is_none());
}

#[test]
fn versions_are_visited_from_the_newest() {
    let rows: Vec<Row> = (0..100).map(|i| (Some(i % 2), Some(vec![]), 0)).collect();
    let delta = delta_of(&rows);
    let map = delta.map(&[0, 1]).unwrap();
    let key = [1i64.to_le_bytes().into(), Stored::Bytes(b"")];
    let (mut seen, mut until) = (Vec::new(), Vec::new());
    map.visit_newest(&key, |number| {
        seen.push(number);
        false
    });
    let expected: Vec<u64> = (0..100).rev().filter(|number| number % 2 == 1).collect();
    assert_eq!(seen, expected);
    map.visit_newest(&key, |number| {
        until.push(number);
        number < 60
    });
    assert_eq!(until, expected[..=20]);
}

#[test]
fn rows_come_in_the_order_of_the_next_column() {
    let text = |number: u64| Some(format!("{:03}", number * 37 % 101).into_bytes());
    let rows: Vec<Row> = (0..200)
        .map(|number| (Some(i64::from(number % 2 == 0)), text(number), 0))
        .collect();
    let delta = delta_of(&rows);
    let order = |predicate: &Predicate, descending: bool, most: usize| {
        let bound = BoundPredicate::bind(predicate, delta.schema()).unwrap();
        let conditions = Conditions::of(&bound);
        let map = delta.map_for(&conditions).unwrap();
        assert!(map.is_in_order_of(1, &conditions) && !map.is_in_order_of(0, &conditions));
        let mut texts = Vec::new();
        map.visit_in_order(&conditions, descending, |number| {
            texts.push(rows[usize::try_from(number).unwrap()].1.clone().unwrap());
            Ok(texts.len() == most)
        })
        .unwrap();
        texts
    };
    let even = compare(0, CompareOp::Eq, Value::Int(1));
    let from = |low: &str| {
        let low = compare(1, CompareOp::GtEq, Value::Bytes(low.as_bytes().to_vec()));
        Predicate::And(vec![even.clone(), low])
    };
    for (predicate, low) in [
        (even.clone(), ""),
        (from("050"), "050"),
        (from("999"), "999"),
    ] {
        let own = rows.iter().filter(|row| row.0 == Some(1));
        let mut expected: Vec<Vec<u8>> = own.filter_map(|row| row.1.clone()).collect();
        expected.retain(|text| text.as_slice() >= low.as_bytes());
        expected.sort();
        assert_eq!(order(&predicate, false, usize::MAX), expected);
        assert_eq!(
            order(&predicate, false, 33),
            expected[..expected.len().min(33)]
        );
        expected.reverse();
        assert_eq!(order(&predicate, true, usize::MAX), expected);
        assert_eq!(
            order(&predicate, true, 2),
            expected[..expected.len().min(2)]
        );
    }
}
