use super::*;
use arrow_array::{
    BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int16Array, Int32Array, Int64Array, StringViewArray,
    Time64MicrosecondArray, TimestampMicrosecondArray,
};
use proptest::prelude::*;
use std::sync::Arc;

/// Types of which arrays are made below.
const KINDS: [ColumnType; 15] = [
    ColumnType::Boolean,
    ColumnType::SmallInt,
    ColumnType::Integer,
    ColumnType::BigInt,
    ColumnType::Real,
    ColumnType::Double,
    ColumnType::Decimal {
        precision: 9,
        scale: 2,
    },
    ColumnType::Decimal {
        precision: 38,
        scale: 2,
    },
    ColumnType::Date,
    ColumnType::Time,
    ColumnType::Timestamp,
    ColumnType::TimestampTz,
    ColumnType::Uuid,
    ColumnType::Text,
    ColumnType::Bytea,
];

/// An array of a type from numbers, in some order of its own; every other float that is
/// infinite becomes NaN.
fn array(kind: ColumnType, numbers: &[Option<i16>]) -> ArrayRef {
    let numbers = numbers.iter().copied();
    let float = |n: i16| match n {
        i16::MIN => f64::NAN,
        0 => -0.0,
        n => f64::from(n) / 7.0,
    };
    let text = |n: i16| format!("{}{n}", "long ".repeat((n as usize & 3) * 8));
    match kind {
        ColumnType::Boolean => {
            Arc::new(numbers.map(|n| n.map(|n| n > 3)).collect::<BooleanArray>())
        }
        ColumnType::SmallInt => Arc::new(numbers.collect::<Int16Array>()),
        ColumnType::Integer => Arc::new(numbers.map(|n| n.map(i32::from)).collect::<Int32Array>()),
        ColumnType::BigInt => {
            let big = |n: i16| i64::from(n) << 40;
            Arc::new(numbers.map(|n| n.map(big)).collect::<Int64Array>())
        }
        ColumnType::Real => {
            let all = numbers.map(|n| n.map(|n| float(n) as f32));
            Arc::new(all.collect::<Float32Array>())
        }
        ColumnType::Double => Arc::new(numbers.map(|n| n.map(float)).collect::<Float64Array>()),
        ColumnType::Decimal { precision, scale } => {
            let all = numbers
                .map(|n| n.map(i128::from))
                .collect::<Decimal128Array>();
            Arc::new(all.with_precision_and_scale(precision, scale).unwrap())
        }
        ColumnType::Date => Arc::new(numbers.map(|n| n.map(i32::from)).collect::<Date32Array>()),
        ColumnType::Time => {
            let all = numbers.map(|n| n.map(|n| i64::from(n).abs()));
            Arc::new(all.collect::<Time64MicrosecondArray>())
        }
        ColumnType::Timestamp | ColumnType::TimestampTz => {
            let all = numbers.map(|n| n.map(i64::from));
            let all = all.collect::<TimestampMicrosecondArray>();
            Arc::new(all.with_data_type(kind.arrow()))
        }
        ColumnType::Uuid => {
            let all = numbers.map(|n| n.map(|n| [(n & 255) as u8; 16]));
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(all, 16).unwrap())
        }
        ColumnType::Bytea => {
            let all = numbers.map(|n| n.map(|n| text(n).into_bytes()));
            Arc::new(all.collect::<BinaryViewArray>())
        }
        _ => Arc::new(numbers.map(|n| n.map(text)).collect::<StringViewArray>()),
    }
}

/// The values as the plain model sees them; text is not cut.
fn plain(array: &ArrayRef, row: usize) -> Option<Value> {
    array.is_valid(row).then(|| match array.data_type() {
        DataType::Utf8View => Value::Bytes(array.as_string_view().value(row).into()),
        DataType::BinaryView => Value::Bytes(array.as_binary_view().value(row).into()),
        _ => value(array, row).unwrap(),
    })
}

fn check(kind: ColumnType, numbers: &[Option<i16>], ranges: u16) -> Partitioning {
    let values = array(kind, numbers);
    assert_eq!(*values.data_type(), kind.arrow());
    let halves = [
        values.slice(0, values.len() / 3),
        values.slice(values.len() / 3, values.len() - values.len() / 3),
    ];
    let by = Partitioning::new("c", ranges).with_bounds_of(&halves);
    assert!(by.bounds.len() < usize::from(ranges));
    for pair in by.bounds.windows(2) {
        assert_eq!(pair[0].compare(&pair[1]), Some(Ordering::Less), "{kind}");
    }
    let found = by.ranges_of(&values);
    assert_eq!(found.is_some(), by.is_known());
    assert_eq!(by.fits(kind), by.is_known());
    for (row, range) in found.into_iter().flatten().enumerate() {
        let below = |bound: &&Value| {
            plain(&values, row).is_some_and(|value| value.compare(bound) == Some(Ordering::Less))
        };
        let expected = by.bounds.iter().position(|bound| below(&bound));
        let expected = expected.unwrap_or(by.bounds.len());
        assert_eq!(
            usize::from(range),
            expected,
            "{kind}: row {row} of {numbers:?}"
        );
        if let Some(value) = plain(&values, row) {
            assert_eq!(by.range_of(&value), range);
        }
    }
    by
}

proptest! {
    #[test]
    fn rows_get_the_range_of_their_value(
        kind in prop::sample::select(KINDS.to_vec()),
        numbers in prop::collection::vec(
            prop_oneof![Just(None), Just(Some(i16::MIN)), (-9i16..9).prop_map(Some), any::<i16>().prop_map(Some)],
            0..200,
        ),
        ranges in prop_oneof![2u16..8, 2u16..=256],
    ) {
        check(kind, &numbers, ranges);
    }
}

#[test]
fn ranges_have_about_equally_many_rows() {
    let numbers: Vec<Option<i16>> = (0..16_000)
        .map(|n| Some((n as i16).wrapping_mul(31)))
        .collect();
    for kind in KINDS {
        let by = check(kind, &numbers, 16);
        if matches!(kind, ColumnType::Boolean) {
            assert_eq!(by.bounds, vec![Value::Bool(true)]);
            continue;
        }
        // Many texts are equal as far as bounds go.
        if matches!(kind, ColumnType::Text | ColumnType::Bytea) {
            assert!((8..=15).contains(&by.bounds.len()), "{kind}");
            continue;
        }
        assert_eq!(by.bounds.len(), 15, "{kind}");
        let ranges = by.ranges_of(&array(kind, &numbers)).unwrap();
        for range in 0..16 {
            let rows = ranges.iter().filter(|other| **other == range).count();
            assert!(
                (500..2_000).contains(&rows),
                "{kind}: {rows} rows of range {range}"
            );
        }
    }
}

#[test]
fn few_values_give_few_bounds() {
    let bounds = |numbers: &[Option<i16>]| check(ColumnType::Integer, numbers, 8).bounds;
    assert_eq!(bounds(&[]), vec![]);
    assert_eq!(bounds(&[None, None]), vec![]);
    assert_eq!(bounds(&[Some(4); 100]), vec![]);
    // One value of nearly all rows, and another.
    let mut skewed = vec![Some(4); 1000];
    skewed.push(Some(5));
    assert_eq!(bounds(&skewed), vec![Value::Int(5)]);
    // One of most rows has a range of its own.
    let mut around: Vec<Option<i16>> = vec![Some(0); 600];
    around.extend((1..=200).map(Some));
    around.extend((1..=200).map(|n| Some(-n)));
    let around = bounds(&around);
    assert!(
        around.contains(&Value::Int(0)) && around.contains(&Value::Int(1)),
        "{around:?}"
    );
}

#[test]
fn bounds_of_another_type_are_no_bounds() {
    let by = check(ColumnType::Integer, &[Some(1), Some(2), Some(3)], 2);
    assert!(by.is_known() && by.fits(ColumnType::BigInt));
    assert!(!by.fits(ColumnType::Text) && !by.fits(ColumnType::Double));
    assert!(!by.fits(ColumnType::Interval));
    let large = Partitioning {
        bounds: vec![Value::Int(1 << 70)],
        ..by
    };
    assert!(!large.fits(ColumnType::BigInt));
}
