use super::super::tests::model::{join, nothing};
use super::{JoinKeys, hashes};
use crate::expression::Expression;
use crate::plan::JoinKind;
use crate::threads::on_threads;
use crate::vector::{Kind, Values, Vector};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, StringViewArray,
    UInt32Array,
};
use arrow_schema::DataType;
use proptest::prelude::*;
use std::sync::Arc;

const FLOATS: [f64; 7] = [0.0, -0.0, f64::NAN, -f64::NAN, 1.5, f64::INFINITY, -1e-310];

/// Equal floats have equal bits but for the zeros.
fn float(value: u8) -> (f64, i64) {
    let float = FLOATS[usize::from(value) % FLOATS.len()];
    let bits = float.to_bits() as i64;
    (float, if float == 0.0 { 0 } else { bits })
}

fn text(value: u8) -> String {
    match value % 3 {
        0 => format!("{value}"),
        _ => format!("a text that is longer than a view {value}"),
    }
}

/// A column of some type, in one of its forms, and numbers that are the same for equal values.
fn column(kind: &DataType, values: &[Option<u8>], form: u8) -> (ArrayRef, Vec<Option<i64>>) {
    let rows = values.iter();
    let same = |of: fn(u8) -> i64| rows.clone().map(|v| v.map(of)).collect();
    match kind {
        DataType::Float64 => {
            let array: Float64Array = rows.clone().map(|v| v.map(|v| float(v).0)).collect();
            (Arc::new(array), same(|v| float(v).1))
        }
        DataType::Boolean => {
            let array: BooleanArray = rows.clone().map(|v| v.map(|v| v % 2 == 1)).collect();
            (Arc::new(array), same(|v| i64::from(v % 2)))
        }
        DataType::Decimal128(..) => {
            // Some batches fit 64 bits, others do not.
            let large = if form == 0 { 0 } else { 1i128 << 70 };
            let wide = |v: u8| i128::from(v) + if v >= 200 { large } else { 0 };
            let array: Decimal128Array = rows.clone().map(|v| v.map(wide)).collect();
            let same = rows
                .clone()
                .map(|v| v.map(|v| (wide(v) >> 60) as i64 + i64::from(v)));
            let same = same.collect();
            (
                Arc::new(array.with_precision_and_scale(38, 2).unwrap()),
                same,
            )
        }
        _ => {
            let texts = rows.clone().map(|v| v.map(text));
            let texts: StringViewArray = texts.collect();
            let array: ArrayRef = match form {
                0 => Arc::new(texts),
                // A dictionary of these rows alone.
                1 => {
                    let code = |row| (texts.is_valid(row)).then_some(row as u32);
                    let codes: UInt32Array = (0..texts.len()).map(code).collect();
                    Arc::new(DictionaryArray::try_new(codes, Arc::new(texts)).unwrap())
                }
                // The same large one.
                _ => {
                    static ALL: std::sync::LazyLock<ArrayRef> = std::sync::LazyLock::new(|| {
                        Arc::new(StringViewArray::from_iter_values((0..=255).map(text)))
                    });
                    let codes: UInt32Array = rows.clone().map(|v| v.map(u32::from)).collect();
                    Arc::new(DictionaryArray::try_new(codes, ALL.clone()).unwrap())
                }
            };
            (array, same(i64::from))
        }
    }
}

proptest! {
    /// Keys of both sides have the same words if they are equal, and only then, in
    /// whatever form they come, and whichever threads ask; their hashes are the same.
    #[test]
    fn words_are_equal_where_keys_are(
        kind in 0usize..4,
        build in proptest::collection::vec(proptest::option::weighted(0.9, any::<u8>()), 0..60),
        probes in proptest::collection::vec(
            (0u8..3, proptest::collection::vec(proptest::option::weighted(0.9, any::<u8>()), 0..60)),
            1..8,
        ),
        form in 0u8..3,
    ) {
        let decimal = DataType::Decimal128(38, 2);
        let kind = [DataType::Utf8View, DataType::Float64, DataType::Boolean, decimal][kind].clone();
        let key = (Expression::Column(0), Expression::Column(0), kind.clone());
        let join = join(JoinKind::Inner, (nothing(), nothing()), vec![key]);
        let (array, known) = column(&kind, &build, form);
        let of_build = Vector::from_arrow(&array).unwrap();
        let mut keys = JoinKeys::new(&join);
        let numbers = keys.number(vec![of_build.clone()]).unwrap();
        let table = keys.words(&numbers, build.len(), 1).unwrap();
        let build_hashes = hashes(&join, vec![of_build], build.len()).unwrap();
        prop_assert!(Kind::of(&kind) != Kind::Text || keys.bytes() >= build.iter().flatten().count());
        let sides: Vec<_> = probes.iter().map(|(form, rows)| column(&kind, rows, *form)).collect();
        let asked = on_threads(3, |_| {
            let ask = |(array, _): &(ArrayRef, Vec<Option<i64>>)| {
                let vector = Vector::from_arrow(array).unwrap();
                let numbers = keys.look_up(vec![vector.clone()]).unwrap();
                let hashes = hashes(&join, vec![vector], array.len()).unwrap();
                (keys.words(&numbers, array.len(), 1).unwrap(), hashes)
            };
            sides.iter().map(ask).collect::<Vec<_>>()
        });
        for (side, (asked, asked_hashes)) in asked.iter().flat_map(|asked| sides.iter().zip(asked)) {
            prop_assert_eq!(asked.stride, table.stride);
            let key = |words: &[i64], row: usize| words[row * asked.stride..][..asked.stride].to_vec();
            for (row, probe) in side.1.iter().enumerate() {
                prop_assert_eq!(asked.is_able(row), probe.is_some());
                for (partner, known) in known.iter().enumerate() {
                    prop_assert_eq!(table.is_able(partner), known.is_some());
                    if probe.is_none() || known.is_none() {
                        continue;
                    }
                    let same = key(&asked.words, row) == key(&table.words, partner);
                    prop_assert_eq!(same, probe == known, "{:?} {:?}", probe, known);
                    prop_assert!(!same || asked_hashes[row] == build_hashes[partner]);
                }
            }
        }
    }
}

#[test]
fn dictionaries_are_remembered_up_to_a_number() {
    let key = (
        Expression::Column(0),
        Expression::Column(0),
        DataType::Utf8View,
    );
    let join = join(JoinKind::Inner, (nothing(), nothing()), vec![key]);
    let mut keys = JoinKeys::new(&join);
    let (array, _) = column(&DataType::Utf8View, &[Some(1), Some(2)], 0);
    keys.number(vec![Vector::from_arrow(&array).unwrap()])
        .unwrap();
    let ask = |array: &ArrayRef| {
        let found = keys
            .look_up(vec![Vector::from_arrow(array).unwrap()])
            .unwrap();
        match &found[0].values {
            Values::Int(numbers) => numbers.to_vec(),
            _ => Vec::new(),
        }
    };
    let (other, _) = column(&DataType::Utf8View, &[Some(2), Some(7), None, Some(1)], 1);
    for _ in 0..3 {
        let numbers = ask(&other);
        assert_eq!((numbers[0], numbers[1], numbers[3]), (1, super::ABSENT, 0));
    }
    assert_eq!(keys.texts[0].dictionaries.lock().len(), 1);
    for value in 0..3 * super::DICTIONARIES as u8 {
        let (array, _) = column(&DataType::Utf8View, &[Some(value)], 1);
        let expected = [super::ABSENT, 0, 1].get(usize::from(value)).copied();
        assert_eq!(ask(&array), [expected.unwrap_or(super::ABSENT)]);
    }
    assert_eq!(keys.texts[0].dictionaries.lock().len(), super::DICTIONARIES);
}
