//! Groups of scans whose rows pass in part, which come with those that do not.

use crate::aggregate::{Aggregate, Function, Grouping, Lead};
use crate::expression::{Arithmetic, Expression};
use crate::plan::{Node, Plan};
use crate::testing::{ALONE, How, columns, table};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Int64Type};
use arrow_array::{Array, ArrayRef, Decimal128Array, Int64Array, StringViewArray};
use arrow_schema::DataType;
use freestone_storage::{ColumnType, CompareOp, Predicate, Value};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const WIDE: DataType = DataType::Decimal128(38, 0);

/// Of each text the rows, the sum of a number and that of the square of another.
type Groups = BTreeMap<Option<String>, (i64, Option<i128>, Option<i128>)>;

fn aggregate(function: Function, argument: Expression, kind: DataType) -> Aggregate {
    Aggregate {
        function,
        argument: Some(argument),
        filter: None,
        input: kind.clone(),
        kind,
    }
}

/// The groups of rows whose first column is below a bound.
fn groups(rows: &[(i64, usize, Option<i64>)], block: usize, bound: i64, how: How) -> Groups {
    let kinds = [
        ColumnType::BigInt,
        ColumnType::Text,
        ColumnType::BigInt,
        ColumnType::Decimal {
            precision: 38,
            scale: 0,
        },
    ];
    let of_block = |rows: &[(i64, usize, Option<i64>)]| -> Vec<ArrayRef> {
        let numbers = rows.iter().map(|row| row.0);
        // What does not pass is too large to be squared, and has a text of its own.
        let squared = numbers.clone().map(|n| {
            if n < bound {
                i128::from(n)
            } else {
                10i128.pow(37)
            }
        });
        let text = |row: &(i64, usize, Option<i64>)| match row.0 < bound {
            true => format!("text {}", row.1),
            false => "none".to_owned(),
        };
        let squared = Decimal128Array::from_iter_values(squared);
        vec![
            Arc::new(Int64Array::from_iter_values(numbers)),
            Arc::new(StringViewArray::from_iter_values(rows.iter().map(text))),
            Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.2))),
            Arc::new(squared.with_precision_and_scale(38, 0).unwrap()),
        ]
    };
    let blocks: Vec<Vec<ArrayRef>> = rows.chunks(block).map(of_block).collect();
    let mut scan = table(&kinds, &blocks);
    if let Node::Table(table) = &mut scan.node {
        table.predicate = Some(Predicate::Compare {
            column: 0,
            op: CompareOp::Lt,
            value: Value::Int(bound.into()),
        });
    }
    let column = |number| Box::new(Expression::Column(number));
    let square = Expression::Arithmetic(Arithmetic::Multiply, column(3), column(3));
    let grouping = Grouping {
        keys: vec![(Expression::Column(1), DataType::Utf8View)],
        aggregates: vec![
            aggregate(Function::Count, Expression::Column(0), DataType::Int64),
            aggregate(Function::Sum, Expression::Column(2), DataType::Int64),
            aggregate(Function::Sum, square, WIDE),
        ],
        lead: Lead::default(),
    };
    assert!(grouping.takes_selected());
    let types = vec![DataType::Utf8View, DataType::Int64, DataType::Int64, WIDE];
    let node = Node::Aggregate(Box::new(scan), grouping);
    let found = columns(&Plan::new(node, types, 0.0), how).unwrap();
    let (texts, counts) = (
        found[0].as_string_view(),
        found[1].as_primitive::<Int64Type>(),
    );
    let (sums, squares) = (
        found[2].as_primitive::<Int64Type>(),
        found[3].as_primitive::<Decimal128Type>(),
    );
    let group = |row: usize| {
        let sum = sums.is_valid(row).then(|| i128::from(sums.value(row)));
        let square = squares.is_valid(row).then(|| squares.value(row));
        let text = texts.is_valid(row).then(|| texts.value(row).to_owned());
        (text, (counts.value(row), sum, square))
    };
    (0..texts.len()).map(group).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Rows that do not pass make no groups, count for nothing and cannot fail.
    #[test]
    fn rows_that_do_not_pass_leave_no_trace(
        rows in proptest::collection::vec((0i64..1000, 0usize..6, proptest::option::of(-50i64..50)), 1..4000),
        block in 500usize..3000,
        bound in prop_oneof![Just(1000i64), 700i64..1000, 0i64..700],
        threads in 1usize..3,
        batch_rows in prop_oneof![Just(7usize), Just(8192)],
    ) {
        let how = How { threads, batch_rows, ..ALONE };
        let mut expected = Groups::new();
        for (number, text, value) in rows.iter().filter(|row| row.0 < bound) {
            let group = expected.entry(Some(format!("text {text}"))).or_insert((0, None, Some(0)));
            group.0 += 1;
            group.1 = value.map(|v| i128::from(v) + group.1.unwrap_or(0)).or(group.1);
            group.2 = group.2.map(|sum| sum + i128::from(*number).pow(2));
        }
        prop_assert_eq!(groups(&rows, block, bound, how), expected);
    }
}
