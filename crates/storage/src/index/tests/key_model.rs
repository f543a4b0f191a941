//! Keys and intervals of two columns against comparing the values themselves.

use crate::format::{Reader, Writer};
use crate::index::key::*;
use crate::index::*;
use crate::schema::Value;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::ops::Bound;

/// A column of the model: values, and the same as raw memory.
#[derive(Clone, Debug)]
enum Model {
    I16(Vec<i16>),
    I64(Vec<i64>),
    I128(Vec<i128>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(Vec<u8>),
    Uuid(Vec<[u8; 16]>),
    Text(Vec<Vec<u8>>),
}

impl Model {
    fn value(&self, row: usize) -> Value {
        match self {
            Model::I16(of) => Value::Int(of[row].into()),
            Model::I64(of) => Value::Int(of[row].into()),
            Model::I128(of) => Value::Int(of[row]),
            Model::F32(of) => Value::Float(of[row].into()),
            Model::F64(of) => Value::Float(of[row]),
            Model::Bool(of) => Value::Bool(of[row] != 0),
            Model::Uuid(of) => Value::Bytes(of[row].to_vec()),
            Model::Text(of) => Value::Bytes(of[row].clone()),
        }
    }

    /// Gives `check` the column in every raw form it has.
    fn raw(&self, mut check: impl FnMut(RawColumn<'_>)) {
        match self {
            Model::I16(of) => check(RawColumn::I16(of)),
            Model::I64(of) => check(RawColumn::I64(of)),
            Model::I128(of) => check(RawColumn::I128(of)),
            Model::F32(of) => check(RawColumn::F32(of)),
            Model::F64(of) => check(RawColumn::F64(of)),
            Model::Bool(of) => check(RawColumn::Bool(of)),
            Model::Uuid(of) => check(RawColumn::Bytes16(of)),
            Model::Text(of) => {
                let slices: Vec<&[u8]> = of.iter().map(Vec::as_slice).collect();
                check(RawColumn::Slices(&slices));
                let bytes = of.concat();
                let ends: Vec<u32> = of
                    .iter()
                    .scan(0, |end, string| {
                        *end += string.len() as u32;
                        Some(*end)
                    })
                    .collect();
                check(RawColumn::Joined {
                    ends: &ends,
                    bytes: &bytes,
                });
            }
        }
    }
}

fn holds(value: &Value, low: Bound<&Value>, high: Bound<&Value>) -> bool {
    let low = match low {
        Bound::Unbounded => true,
        Bound::Included(low) => value.total_order(low) != Ordering::Less,
        Bound::Excluded(low) => value.total_order(low) == Ordering::Greater,
    };
    low && match high {
        Bound::Unbounded => true,
        Bound::Included(high) => value.total_order(high) != Ordering::Greater,
        Bound::Excluded(high) => value.total_order(high) == Ordering::Less,
    }
}

/// Whether the interval has the keys of all rows that hold, and if exact no others.
fn covers(interval: KeyInterval, keys: &[u128], holds: impl Fn(usize) -> bool, what: &str) {
    for (row, key) in keys.iter().enumerate() {
        let (found, exact) = match interval {
            KeyInterval::Empty => (false, true),
            KeyInterval::Span { low, high, exact } => ((low..=high).contains(key), exact),
        };
        assert!(found || !holds(row), "row {row} is missed: {what}");
        assert!(
            !exact || found == holds(row),
            "row {row} is found wrongly: {what}"
        );
    }
}

/// Checks order, exactness and intervals of keys over two columns.
fn agrees(first: &Model, second: &Model, rows: usize, probes: &[[Value; 2]], limit: KeyWidth) {
    first.raw(|first_raw| {
        second.raw(|second_raw| {
            let columns = [first_raw, second_raw];
            let shape = KeyShape::of(&columns, 0..rows as u32, limit);
            assert!(shape.width() <= limit);
            let mut writer = Writer::default();
            shape.encode(&mut writer);
            let read = KeyShape::decode(&mut Reader::new(&writer.finish())).unwrap();
            assert_eq!(read, shape);
            let entries = shape.entries(&columns, 0..rows as u32);
            let (keys, positions): (Vec<u128>, Vec<u32>) = entries.unzip();
            assert_eq!(positions, (0..rows as u32).collect::<Vec<_>>());
            let row = |row| [first.value(row), second.value(row)];
            let compare = |left: &[Value; 2], right: &[Value; 2]| {
                let order = left[0].total_order(&right[0]);
                order.then_with(|| left[1].total_order(&right[1]))
            };
            for left in 0..rows {
                for right in 0..rows {
                    let order = compare(&row(left), &row(right));
                    let keys = keys[left].cmp(&keys[right]);
                    let ordered = if shape.exact() { keys == order } else { true };
                    assert!(ordered, "{:?} {:?} {shape:?}", row(left), row(right));
                }
            }
            for probe in probes.iter().cloned().chain((0..rows.min(4)).map(row)) {
                check_probe(&shape, &keys, &row, &probe);
            }
        });
    });
}

fn check_probe(
    shape: &KeyShape,
    keys: &[u128],
    row: &impl Fn(usize) -> [Value; 2],
    probe: &[Value; 2],
) {
    let same = |value: &Value, probe: &Value| value.total_order(probe) == Ordering::Equal;
    let one = shape.interval(&probe[..1], None).unwrap();
    covers(
        one,
        keys,
        |n| same(&row(n)[0], &probe[0]),
        &format!("{probe:?} {shape:?}"),
    );
    let both = shape.interval(probe, None).unwrap();
    let equal = |n| same(&row(n)[0], &probe[0]) && same(&row(n)[1], &probe[1]);
    covers(both, keys, equal, &format!("both {probe:?} {shape:?}"));
    for column in 0..2 {
        let bound = &probe[column];
        for low in [
            Bound::Unbounded,
            Bound::Included(bound),
            Bound::Excluded(bound),
        ] {
            for high in [
                Bound::Unbounded,
                Bound::Included(bound),
                Bound::Excluded(bound),
            ] {
                let interval = shape.interval(&probe[..column], Some((low, high))).unwrap();
                let held = |n: usize| {
                    let values = row(n);
                    (column == 0 || same(&values[0], &probe[0]))
                        && holds(&values[column], low, high)
                };
                covers(interval, keys, held, &format!("{low:?} {high:?} {shape:?}"));
            }
        }
    }
}

fn column(rows: usize) -> impl Strategy<Value = (Model, Vec<Value>)> {
    use prop::collection::vec;
    let text = |alphabet: &'static str| {
        let string =
            || (proptest::string::string_regex(alphabet).unwrap()).prop_map(String::into_bytes);
        (vec(string(), rows), vec(string().prop_map(Value::Bytes), 4))
            .prop_map(|(of, probes)| (Model::Text(of), probes))
    };
    let whole = vec(any::<i128>().prop_map(Value::Int), 2);
    let near = vec((-70_000i128..70_000).prop_map(Value::Int), 2);
    let whole = (whole, near).prop_map(|(left, right)| [left, right].concat());
    let float = vec(
        prop_oneof![
            any::<f64>(),
            Just(0.0),
            Just(-0.0),
            Just(0.1),
            Just(1e300),
            Just(f64::NAN)
        ]
        .prop_map(Value::Float),
        4,
    );
    let float32 = prop_oneof![any::<f32>(), Just(0.0), Just(-0.0), Just(0.1), -2f32..2.0];
    let float64 = prop_oneof![
        any::<f64>(),
        Just(0.0),
        Just(-0.0),
        Just(0.1),
        Just(f64::NAN)
    ];
    let uuid = vec(any::<[u8; 16]>(), rows);
    let uuids = vec(vec(any::<u8>(), 14..19).prop_map(Value::Bytes), 4);
    prop_oneof![
        (vec(any::<i16>(), rows), whole.clone()).prop_map(|(of, probes)| (Model::I16(of), probes)),
        (vec(any::<i64>(), rows), whole.clone()).prop_map(|(of, probes)| (Model::I64(of), probes)),
        (vec(5000i64..9000, rows), near_probes()).prop_map(|(of, probes)| (Model::I64(of), probes)),
        (vec(any::<i128>(), rows), whole.clone())
            .prop_map(|(of, probes)| (Model::I128(of), probes)),
        (vec(-2i128..3, rows), whole).prop_map(|(of, probes)| (Model::I128(of), probes)),
        (vec(float32, rows), float.clone()).prop_map(|(of, probes)| (Model::F32(of), probes)),
        (vec(float64, rows), float).prop_map(|(of, probes)| (Model::F64(of), probes)),
        (
            vec(0u8..2, rows),
            vec(any::<bool>().prop_map(Value::Bool), 4)
        )
            .prop_map(|(of, probes)| (Model::Bool(of), probes)),
        (uuid, uuids).prop_map(|(of, probes)| (Model::Uuid(of), probes)),
        text("(item-)?[ab]{0,3}"),
        text("item-[a-c]{2}"),
        text("item-[a-c\\x00]{0,3}"),
        text("same"),
        text("[a-z]{0,40}"),
        text("[\\x00a]{0,3}"),
        text("[\\x00a]{3}"),
    ]
}

fn near_probes() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec((4900i128..9100).prop_map(Value::Int), 4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn keys_and_intervals(
        ((first, probes), (second, others), rows) in (0usize..14)
            .prop_flat_map(|rows| (column(rows), column(rows), Just(rows))),
        limit in prop_oneof![Just(KeyWidth::Four), Just(KeyWidth::Eight), Just(KeyWidth::Sixteen)],
    ) {
        let probes: Vec<[Value; 2]> = probes.into_iter().zip(others).map(|(a, b)| [a, b]).collect();
        agrees(&first, &second, rows, &probes, limit);
    }

    #[test]
    fn any_shape_bytes_are_harmless(bytes in prop::collection::vec(0u8..20, 0..60)) {
        if let Ok(shape) = KeyShape::decode(&mut Reader::new(&bytes)) {
            for value in [Value::Int(5), Value::Bytes(vec![1; 20]), Value::Float(0.5), Value::Bool(true)] {
                let bound = Some((Bound::Included(&value), Bound::Excluded(&value)));
                let _ = shape.interval(&[], bound);
                let _ = shape.interval(&[value.clone(), value.clone()], bound);
            }
        }
    }
}
