//! From keys to rows of the delta: the bounds of conditions, and versions.

use crate::tables::{Dice, schema};
use crate::transactions::{self, batch, find};
use freestone_storage::delta::{Stored, TupleShape};
use freestone_storage::predicate::{BoundPredicate, Conditions};
use freestone_storage::{
    Column, ColumnType, CompareOp, DEFAULT_SCHEMA, Delta, Extent, Foremost, Key, Predicate,
    Snapshot, Store, Value,
};
use std::collections::BTreeMap;
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

/// A queue: rows are put at its end, taken from its front, and given other values, while
/// snapshots come and go. Look-ups take rows out of the maps that nobody can see any more.
#[test]
fn rows_that_nobody_sees_are_forgotten_and_no_others() {
    let store = Store::in_memory();
    let table = transactions::create(&store);
    let mut dice = Dice(41);
    let (mut model, mut next) = (BTreeMap::new(), 0);
    let mut held: Vec<(Snapshot, BTreeMap<i32, i32>)> = Vec::new();
    for _ in 0..1500 {
        let mut transaction = store.begin().unwrap();
        match dice.below(3) {
            0 => {
                transaction.insert(table, &batch(&[(next, next)])).unwrap();
                model.insert(next, next);
                next += 1;
            }
            1 if dice.once_in(2) => {
                if let Some((key, _)) = model.pop_first() {
                    let id = find(&transaction.snapshot(), key).unwrap();
                    transaction.delete(table, &[id]).unwrap();
                }
            }
            _ => {
                let place = dice.below(model.len().max(1));
                if let Some((key, value)) = model.iter_mut().nth(place) {
                    *value += 1;
                    let id = find(&transaction.snapshot(), *key).unwrap();
                    transaction.delete(table, &[id]).unwrap();
                    transaction
                        .insert(table, &batch(&[(*key, *value)]))
                        .unwrap();
                }
            }
        }
        transaction.commit().unwrap();
        if dice.once_in(50) {
            held.push((store.snapshot(), model.clone()));
        }
        if dice.once_in(60) && !held.is_empty() {
            held.swap_remove(dice.below(held.len()));
        }
        let now = (store.snapshot(), model.clone());
        let other = held.get(dice.below(held.len().max(1))).unwrap_or(&now);
        for (snapshot, model) in [&now, other] {
            let first = dice.below(next.max(1) as usize) as i32;
            for (predicate, expected) in [
                (
                    compare(0, CompareOp::GtEq, Value::Int(0)),
                    model.first_key_value(),
                ),
                (
                    compare(0, CompareOp::GtEq, Value::Int(first.into())),
                    model.range(first..).next(),
                ),
                (
                    compare(0, CompareOp::Eq, Value::Int(first.into())),
                    model.get_key_value(&first),
                ),
            ] {
                let found = foremost(snapshot, &predicate);
                assert_eq!(found, expected.map(|(key, value)| (*key, *value)));
            }
        }
    }
    // Without readers of the past, only the rows themselves are left, and the last that went.
    held.clear();
    let mut last = store.begin().unwrap();
    let (key, _) = model.pop_first().unwrap();
    let id = find(&last.snapshot(), key).unwrap();
    last.delete(table, &[id]).unwrap();
    last.commit().unwrap();
    let snapshot = store.snapshot();
    let all = compare(0, CompareOp::GtEq, Value::Int(0));
    let delta = snapshot.table(DEFAULT_SCHEMA, "t").unwrap().delta().clone();
    let bound = BoundPredicate::bind(&all, delta.schema()).unwrap();
    let conditions = Conditions::of(&bound);
    let map = delta.map_for(&conditions).unwrap();
    let before = map.rows(&conditions, usize::MAX).unwrap().len();
    let table = snapshot.table(DEFAULT_SCHEMA, "t").unwrap();
    table
        .look_up(&snapshot.read_view(table.id), &all, &[0])
        .unwrap();
    let after = map.rows(&conditions, usize::MAX).unwrap().len();
    let whole = model.len();
    assert!(
        before > 2 * whole && after <= whole + 1,
        "{before} entries, then {after} for {whole} rows"
    );
}

/// The first row in the order of the key that meets a condition.
fn foremost(snapshot: &Snapshot, predicate: &Predicate) -> Option<(i32, i32)> {
    let table = snapshot.table(DEFAULT_SCHEMA, "t").unwrap();
    let extent = Extent {
        most: usize::MAX,
        foremost: Some(Foremost {
            column: 0,
            descending: false,
            count: 1,
            any: false,
        }),
    };
    let view = snapshot.read_view(table.id);
    let found = table.look_up_within(&view, predicate, &[0, 1], extent);
    let rows = found.unwrap().unwrap().into_rows();
    let number = |value: &Option<Value>| match value {
        Some(Value::Int(value)) => i32::try_from(*value).unwrap(),
        other => panic!("{other:?}"),
    };
    let rows = rows
        .iter()
        .map(|(_, row)| (number(&row[0]), number(&row[1])));
    rows.min()
}
