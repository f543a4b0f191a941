//! Codecs on whole columns.

use super::*;
use crate::format::Codec;
use crate::schema::{CodecChoice, Layout, Physical};
use arrow_buffer::Buffer;

fn doubles(values: Vec<f64>) -> Dense {
    Dense {
        rows: values.len(),
        nulls: None,
        data: DenseData::Fixed {
            width: 8,
            bytes: Buffer::from_vec(values),
        },
    }
}

/// A sample at a fixed step of 12 would see whole numbers only.
#[test]
fn samples_do_not_fall_into_step_with_the_data() {
    let column = doubles((0..3000).map(|row| f64::from(row) / 4.0).collect());
    let encoded = pick(&column, Physical::F64, CodecChoice::Auto, Layout::Column);
    assert_eq!(encoded.codec, Codec::Alp);
}

#[test]
fn spread_rows_ascend_and_stay_inside() {
    for (rows, most) in [(0, 5), (1, 5), (7, 3), (3000, 256), (100, 100), (10, 0)] {
        let places: Vec<usize> = encode::spread(rows, most).collect();
        assert!(
            places.windows(2).all(|pair| pair[0] < pair[1]),
            "{rows} {most}"
        );
        assert!(places.iter().all(|place| *place < rows));
        assert!(places.len() <= most.max(1));
    }
}
