use crate::index::key::*;
use crate::index::*;
use crate::schema::Value;
use arrow_buffer::Buffer;
use std::cmp::Ordering;
use std::ops::Bound;

/// Values of a part that are not at the ends sort as they should.
#[test]
fn normalised_order() {
    let floats = [
        f64::NEG_INFINITY,
        -1.5,
        -f64::MIN_POSITIVE,
        -0.0,
        0.0,
        1e-300,
        2.0,
        f64::INFINITY,
        f64::NAN,
    ];
    assert!(
        floats
            .map(normal::from_f64)
            .is_sorted_by(|left, right| left < right)
    );
    assert!(
        floats
            .map(|float| normal::from_f32(float as f32))
            .is_sorted()
    );
    assert!(normal::from_f64(-f64::NAN) < normal::from_f64(f64::NEG_INFINITY));
    assert_eq!([-1, 0, 1].map(normal::from_i16), [0x7fff, 0x8000, 0x8001]);
    assert_eq!(
        (normal::from_i128(i128::MIN), normal::from_i64(i64::MAX)),
        (0, u64::MAX)
    );
}

#[test]
fn example_of_the_module() {
    let texts: [&[u8]; 3] = [b"item-1", b"item-22", b"item-1"];
    let columns = [
        RawColumn::I64(&[1000, 1001, 1300]),
        RawColumn::Slices(&texts),
    ];
    let shape = KeyShape::of(&columns, 0..3, KeyWidth::Sixteen);
    assert!(shape.exact());
    assert_eq!(shape.width(), KeyWidth::Four);
    assert_eq!(shape.entries(&columns, 0..1).next(), Some((0x03e8_3100, 0)));
    let item = shape.parts()[1]
        .place(&Value::Bytes(b"item".to_vec()))
        .unwrap();
    assert_eq!((item.key, item.side), (0, Ordering::Less));
    assert_eq!(shape.interval(&[Value::Bool(true)], None), None);
}

#[test]
fn sealed_sections_come_apart() {
    let columns = [RawColumn::I16(&[5, 3, 9])];
    let shape = KeyShape::of(&columns, 0..3, KeyWidth::Sixteen);
    let tree = AnyCsb::build(shape.width(), shape.entries(&columns, 0..3));
    let section = shape.seal(&tree);
    let open = |bytes: Buffer| {
        let (shape, index) = KeyShape::unseal(&bytes)?;
        let tree = AnyCsb::open(index, 3)?;
        let _ = shape.interval(&[Value::Int(5)], None);
        Ok(tree.len())
    };
    assert_eq!(open(Buffer::from(section.clone())).unwrap(), 3);
    super::damage(&section, open);
}

/// A constant that a column cannot hold lies beside the values it can.
#[test]
fn places_of_odd_constants() {
    let place = |column: RawColumn<'_>, rows: u32, value: Value| {
        let shape = KeyShape::of(&[column], 0..rows, KeyWidth::Sixteen);
        let place = shape.parts()[0].place(&value).unwrap();
        (place.key, place.side)
    };
    let (zeros, ones) = ([0; 16], [1; 16]);
    let uuids = RawColumn::Bytes16(&[zeros, ones]);
    let bytes = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
    assert_eq!(place(uuids, 2, bytes(&zeros)), (0, Ordering::Equal));
    assert_eq!(place(uuids, 2, bytes(&zeros[..15])), (0, Ordering::Less));
    assert_eq!(place(uuids, 2, bytes(&[0; 17])), (0, Ordering::Greater));
    let small = RawColumn::I16(&[i16::MIN, i16::MAX]);
    assert_eq!(place(small, 2, Value::Int(-40_000)), (0, Ordering::Less));
    assert_eq!(
        place(small, 2, Value::Int(40_000)),
        (0xffff, Ordering::Greater)
    );
    let halves = RawColumn::F32(&[-1.5, 0.5]);
    let half = normal::from_f32(0.5).into();
    assert_eq!(place(halves, 2, Value::Float(0.5)), (half, Ordering::Equal));
    assert_eq!(
        place(halves, 2, Value::Float(0.5 + 1e-12)),
        (half, Ordering::Greater)
    );
    let texts = RawColumn::Slices(&[b"a", b"bc"]);
    assert_eq!(place(texts, 2, bytes(b"b")), (0x6200, Ordering::Equal));
    assert_eq!(place(texts, 2, bytes(b"bcd")), (0x6263, Ordering::Greater));
    assert_eq!(place(texts, 2, bytes(b"a\0")), (0x6100, Ordering::Greater));
}

/// Conditions beyond the key's room leave the interval as it is, but inexact.
#[test]
fn columns_without_room() {
    let wide: Vec<i64> = (0..100)
        .map(|row: i64| row.wrapping_mul(0x1234_5678_9abc_def1))
        .collect();
    let columns = [RawColumn::I64(&wide); 3];
    let shape = KeyShape::of(&columns, 0..100, KeyWidth::Sixteen);
    assert_eq!((shape.parts().len(), shape.exact()), (2, false));
    let values = [5, 6, 7].map(|row| Value::Int(wide[row].into()));
    let two = shape.interval(&values[..2], None).unwrap();
    let KeyInterval::Span {
        low,
        high,
        exact: true,
    } = two
    else {
        panic!("{two:?}");
    };
    let inexact = KeyInterval::Span {
        low,
        high,
        exact: false,
    };
    assert_eq!(shape.interval(&values, None), Some(inexact));
    let range = Some((Bound::Included(&values[2]), Bound::Unbounded));
    assert_eq!(shape.interval(&values[..2], range), Some(inexact));
}
