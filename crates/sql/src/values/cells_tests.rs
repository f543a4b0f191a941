//! What PostgreSQL 15 prints for the same values.

use super::*;
use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int64Array, IntervalMonthDayNanoArray, ListArray, NullArray,
    StringViewArray, StructArray, Time64MicrosecondArray, TimestampMicrosecondArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{Field, Fields, Int32Type, IntervalMonthDayNano};
use std::sync::Arc;

fn texts(array: impl Array + 'static) -> Vec<String> {
    let array: ArrayRef = Arc::new(array);
    let cells = Cells::new(&array);
    (0..array.len())
        .map(|row| cells.text(row).unwrap_or_else(|| "NULL".into()))
        .collect()
}

#[test]
fn numbers() {
    assert_eq!(
        texts(Int64Array::from(vec![Some(-7), None])),
        ["-7", "NULL"]
    );
    assert_eq!(
        texts(BooleanArray::from(vec![true, false])),
        ["true", "false"]
    );
    let doubles = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.0001,
        1e-5,
        123456789012345.0,
        1e15,
        1.25e300,
        100.0,
    ];
    assert_eq!(
        texts(Float64Array::from(doubles.to_vec())),
        [
            "0",
            "-0",
            "1",
            "-1.5",
            "0.0001",
            "1e-05",
            "123456789012345",
            "1e+15",
            "1.25e+300",
            "100"
        ]
    );
    let odd = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    assert_eq!(
        texts(Float64Array::from(odd)),
        ["NaN", "Infinity", "-Infinity"]
    );
    assert_eq!(texts(Float32Array::from(vec![0.1, 1e6])), ["0.1", "1e+06"]);
}

#[test]
fn decimals() {
    let cents = Decimal128Array::from(vec![0, 5, -5, 12345]);
    let cents = cents.with_precision_and_scale(15, 2).expect("valid");
    assert_eq!(texts(cents), ["0.00", "0.05", "-0.05", "123.45"]);
    let hundreds = Decimal128Array::from(vec![0, 5]);
    let hundreds = hundreds.with_precision_and_scale(15, -2).expect("valid");
    assert_eq!(texts(hundreds), ["0", "500"]);
}

#[test]
fn dates_and_times() {
    assert_eq!(
        texts(Date32Array::from(vec![
            0, 11_016, -1, 18_321, -719_163, 2_932_897
        ])),
        [
            "1970-01-01",
            "2000-02-29",
            "1969-12-31",
            "2020-02-29",
            "0001-12-31 BC",
            "10000-01-01"
        ]
    );
    let stamps = vec![0, 1, 951_782_400_500_000, -1];
    let expected = [
        "1970-01-01 00:00:00",
        "1970-01-01 00:00:00.000001",
        "2000-02-29 00:00:00.5",
        "1969-12-31 23:59:59.999999",
    ];
    assert_eq!(
        texts(TimestampMicrosecondArray::from(stamps.clone())),
        expected
    );
    let zoned = TimestampMicrosecondArray::from(stamps).with_timezone("+00:00");
    assert_eq!(texts(zoned)[2], "2000-02-29 00:00:00.5+00");
    assert_eq!(
        texts(Time64MicrosecondArray::from(vec![3_661_000_000])),
        ["01:01:01"]
    );
    // Neither end of the range may panic.
    texts(Date32Array::from(vec![i32::MIN, i32::MAX]));
    texts(TimestampMicrosecondArray::from(vec![i64::MIN, i64::MAX]));
}

#[test]
fn intervals_read_as_in_postgresql() {
    let interval = IntervalMonthDayNano::new;
    let values = vec![
        interval(14, 3, 14_706_000_000_000),
        interval(0, 0, 0),
        interval(-1, -1, -1_500_000_000),
        interval(0, 0, i64::MIN),
        interval(-14, 3, 1_000_000_000),
        interval(1, -1, 1_000_000_000),
    ];
    let found = texts(IntervalMonthDayNanoArray::from(values));
    assert_eq!(found[0], "1 year 2 mons 3 days 04:05:06");
    assert_eq!(found[1], "00:00:00");
    assert_eq!(found[2], "-1 mons -1 days -00:00:01.5");
    assert_eq!(found[4], "-1 years -2 mons +3 days 00:00:01");
    assert_eq!(found[5], "1 mon -1 days +00:00:01");
}

#[test]
fn bytes_uuids_text_and_null() {
    let data: Vec<&[u8]> = vec![b"\x00\xff"];
    assert_eq!(texts(BinaryViewArray::from_iter_values(data)), ["\\x00ff"]);
    let id = FixedSizeBinaryArray::try_from_iter([(0u8..16).collect::<Vec<_>>()].into_iter());
    let id = id.expect("one size");
    assert_eq!(texts(id), ["00010203-0405-0607-0809-0a0b0c0d0e0f"]);
    assert_eq!(texts(StringViewArray::from(vec!["é"])), ["é"]);
    assert_eq!(texts(NullArray::new(1)), ["NULL"]);
}

fn zoned(micros: i64, west: i32) -> Vec<u8> {
    let mut bytes = micros.to_le_bytes().to_vec();
    bytes.extend_from_slice(&west.to_le_bytes());
    bytes
}

#[test]
fn times_with_zones() {
    let values = [
        zoned(0, 0),
        zoned(3_661_500_000, -7_200),
        zoned(86_400_000_000, 19_800),
        zoned(1, -3_661),
    ];
    let array = FixedSizeBinaryArray::try_from_iter(values.into_iter()).expect("one size");
    assert_eq!(
        texts(array),
        [
            "00:00:00+00",
            "01:01:01.5+02",
            "24:00:00-05:30",
            "00:00:00.000001+01:01:01"
        ]
    );
}

#[test]
fn infinite_dates() {
    assert_eq!(
        texts(Date32Array::from(vec![i32::MIN, i32::MAX])),
        ["-infinity", "infinity"]
    );
    assert_eq!(
        texts(TimestampMicrosecondArray::from(vec![i64::MIN, i64::MAX])),
        ["-infinity", "infinity"]
    );
}

fn lists(values: ArrayRef, lengths: &[usize]) -> ListArray {
    let field = Arc::new(Field::new("item", values.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
    ListArray::new(field, offsets, values, None)
}

#[test]
fn arrays() {
    let rows = [Some(vec![Some(1), None]), Some(vec![]), None];
    let numbers = ListArray::from_iter_primitive::<Int32Type, _, _>(rows);
    assert_eq!(texts(numbers), ["{1,NULL}", "{}", "NULL"]);
    let words = StringViewArray::from(vec!["a.b", "", "Null", "a, \"b\\", "{", "é"]);
    assert_eq!(
        texts(lists(Arc::new(words), &[6])),
        [r#"{a.b,"","Null","a, \"b\\","{",é}"#]
    );
    let flags = BooleanArray::from(vec![true, false]);
    assert_eq!(texts(lists(Arc::new(flags), &[2])), ["{t,f}"]);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
    let inner: ArrayRef = Arc::new(lists(numbers, &[2, 2, 0, 0]));
    assert_eq!(
        texts(lists(inner, &[2, 2, 0])),
        ["{{1,2},{3,4}}", "{}", "{}"]
    );
}

#[test]
fn arrays_with_bounds() {
    use freestone_frontend::types::arrays::{Bounds, Maker};
    for (lengths, lows, words, expected) in [
        (&[][..], &[][..], &[][..], "{}"),
        (&[2], &[1], &["a b", "NULL"], r#"{"a b","NULL"}"#),
        (&[2], &[2], &["a", ""], r#"[2:3]={a,""}"#),
        (&[2, 2], &[1, 1], &["a", "b", "c", "d"], "{{a,b},{c,d}}"),
        (&[2, 1], &[1, -1], &["a", "b"], "[1:2][-1:-1]={{a},{b}}"),
        (&[1, 2, 1], &[1, 1, 1], &["a", "b"], "{{{a},{b}}}"),
    ] {
        let mut maker = Maker::new(1);
        let (lengths, lows) = (lengths.to_vec(), lows.to_vec());
        maker.bounded(&Bounds { lengths, lows }).expect("few");
        let words: ArrayRef = Arc::new(StringViewArray::from(words.to_vec()));
        let array = maker.finish(words, None).expect("as many");
        assert_eq!(texts(array), [expected]);
    }
}

#[test]
fn records() {
    let fields = Fields::from(vec![
        Field::new("a", DataType::Int64, true),
        Field::new("b", DataType::Utf8View, true),
        Field::new("c", DataType::Boolean, true),
    ]);
    let words = StringViewArray::from(vec!["a", "", "x \"y\\"]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![Some(1), None, Some(2)])),
        Arc::new(words),
        Arc::new(BooleanArray::from(vec![None, Some(true), Some(false)])),
    ];
    assert_eq!(
        texts(StructArray::new(fields, columns, None)),
        ["(1,a,)", r#"(,"",t)"#, r#"(2,"x ""y\\",f)"#]
    );
}
