use super::*;
use crate::schema::{Column, ColumnType, TableSchema};
use arrow_array::{ArrayRef, Int16Array, StringViewArray};
use proptest::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

fn schema() -> TableSchema {
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
    TableSchema {
        columns: vec![
            column("n", ColumnType::SmallInt),
            column("s", ColumnType::Text),
        ],
        keys: vec![],
        ..TableSchema::default()
    }
}

type Row = (Option<i16>, Option<String>);

/// What SQL's three-valued logic says, written as plainly as possible.
fn model(predicate: &Predicate, row: &Row) -> Option<bool> {
    let value = |column: usize| match column {
        0 => row.0.map(|n| Value::Int(n.into())),
        _ => row.1.as_ref().map(|s| Value::Bytes(s.clone().into_bytes())),
    };
    match predicate {
        Predicate::Compare {
            column,
            op,
            value: constant,
        } => {
            let order = value(*column)?.compare(constant)?;
            Some(match op {
                CompareOp::Eq => order.is_eq(),
                CompareOp::NotEq => order.is_ne(),
                CompareOp::Lt => order.is_lt(),
                CompareOp::LtEq => order.is_le(),
                CompareOp::Gt => order.is_gt(),
                CompareOp::GtEq => order.is_ge(),
            })
        }
        Predicate::In {
            column,
            values,
            negated,
        } => Some(values.contains(&value(*column)?) != *negated),
        Predicate::IsNull(column) => Some(value(*column).is_none()),
        Predicate::IsNotNull(column) => Some(value(*column).is_some()),
        Predicate::Prefix { prefix, .. } => Some(row.1.as_ref()?.starts_with(prefix)),
        // The patterns of these tests are '%inner%'.
        Predicate::Like { pattern, .. } => {
            Some(row.1.as_ref()?.contains(pattern.trim_matches('%')))
        }
        Predicate::And(terms) => terms
            .iter()
            .try_fold(true, |_, _| Some(true))
            .and_then(|_| {
                let answers: Vec<_> = terms.iter().map(|term| model(term, row)).collect();
                if answers.contains(&Some(false)) {
                    Some(false)
                } else if answers.contains(&None) {
                    None
                } else {
                    Some(true)
                }
            }),
        Predicate::Or(terms) => {
            let answers: Vec<_> = terms.iter().map(|term| model(term, row)).collect();
            if answers.contains(&Some(true)) {
                Some(true)
            } else if answers.contains(&None) {
                None
            } else {
                Some(false)
            }
        }
        Predicate::Not(term) => model(term, row).map(|answer| !answer),
    }
}

fn op() -> impl Strategy<Value = CompareOp> {
    prop_oneof![
        Just(CompareOp::Eq),
        Just(CompareOp::NotEq),
        Just(CompareOp::Lt),
        Just(CompareOp::LtEq),
        Just(CompareOp::Gt),
        Just(CompareOp::GtEq)
    ]
}

fn text() -> impl Strategy<Value = String> {
    "[ab]{0,3}"
}

fn predicate() -> impl Strategy<Value = Predicate> {
    let number = prop_oneof![(-3i128..4), Just(40_000i128), Just(-40_000i128)];
    let leaf = prop_oneof![
        (op(), number.clone()).prop_map(|(op, n)| Predicate::Compare {
            column: 0,
            op,
            value: Value::Int(n)
        }),
        (op(), text()).prop_map(|(op, s)| Predicate::Compare {
            column: 1,
            op,
            value: Value::Bytes(s.into())
        }),
        (proptest::collection::vec(number, 0..12), any::<bool>()).prop_map(|(values, negated)| {
            Predicate::In {
                column: 0,
                values: values.into_iter().map(Value::Int).collect(),
                negated,
            }
        }),
        (0usize..2).prop_map(Predicate::IsNull),
        (0usize..2).prop_map(Predicate::IsNotNull),
        text().prop_map(|prefix| Predicate::Prefix { column: 1, prefix }),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Predicate::And),
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Predicate::Or),
            inner.prop_map(|term| Predicate::Not(Box::new(term))),
        ]
    })
}

fn zone_of(rows: &[Row], column: usize) -> Zone {
    let mut values: Vec<Value> = rows
        .iter()
        .filter_map(|row| match column {
            0 => row.0.map(|n| Value::Int(n.into())),
            _ => row.1.as_ref().map(|s| Value::Bytes(s.clone().into_bytes())),
        })
        .collect();
    values.sort_by(|a, b| a.compare(b).unwrap());
    let nulls = (rows.len() - values.len()) as u32;
    let bounds = values.first().cloned().zip(values.last().cloned());
    Zone {
        rows: rows.len() as u32,
        nulls,
        bounds: bounds.map(|(min, max)| Bounds {
            min,
            max,
            exact: true,
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn evaluation_and_pruning_agree_with_three_valued_logic(
        predicate in predicate(),
        rows in proptest::collection::vec((proptest::option::of(-3i16..4), proptest::option::of(text())), 1..20),
    ) {
        let bound = BoundPredicate::bind(&predicate, &schema()).unwrap();
        let numbers: ArrayRef = Arc::new(rows.iter().map(|row| row.0).collect::<Int16Array>());
        let texts: ArrayRef = Arc::new(rows.iter().map(|row| row.1.clone()).collect::<StringViewArray>());
        let arrays = [numbers, texts];
        let bits = bound.evaluate(rows.len(), &mut |column, leaf| evaluate_leaf(leaf, &arrays[column])).unwrap();
        let expected: Vec<bool> = rows.iter().map(|row| model(&predicate, row) == Some(true)).collect();
        prop_assert_eq!(bits.iter().collect::<Vec<_>>(), expected.clone());
        match bound.prune(&|column| Some(Cow::Owned(zone_of(&rows, column)))) {
            Prune::All => prop_assert!(expected.iter().all(|x| *x)),
            Prune::None => prop_assert!(!expected.iter().any(|x| *x)),
            Prune::Some | Prune::Unknown => {}
        }
    }
}

#[test]
fn pruning_examples() {
    let zone = |_| {
        Some(Cow::Owned(Zone {
            rows: 10,
            nulls: 0,
            bounds: Some(Bounds {
                min: Value::Int(1990),
                max: Value::Int(1999),
                exact: true,
            }),
        }))
    };
    let ask = |op, year| {
        let predicate = Predicate::Compare {
            column: 0,
            op,
            value: Value::Int(year),
        };
        BoundPredicate::bind(&predicate, &schema())
            .unwrap()
            .prune(&zone)
    };
    assert_eq!(ask(CompareOp::Eq, 2005), Prune::None);
    assert_eq!(ask(CompareOp::GtEq, 1990), Prune::All);
    assert_eq!(ask(CompareOp::Lt, 1995), Prune::Some);
    assert_eq!(
        BoundPredicate::bind(&Predicate::IsNull(0), &schema())
            .unwrap()
            .prune(&|_| None),
        Prune::Unknown
    );
}

#[test]
fn constants_of_another_type_are_refused() {
    let predicate = Predicate::Compare {
        column: 0,
        op: CompareOp::Eq,
        value: Value::Bytes(b"x".to_vec()),
    };
    assert_eq!(
        BoundPredicate::bind(&predicate, &schema())
            .unwrap_err()
            .sqlstate(),
        "42804"
    );
    assert_eq!(
        BoundPredicate::bind(&Predicate::IsNull(7), &schema())
            .unwrap_err()
            .sqlstate(),
        "42703"
    );
}
