//! Where the minipages of a page begin, from average value sizes (P3, 4.2).
//!
//! As many tuples of average size as the page can hold are given their bytes in
//! every minipage. What is left, less than one such tuple, goes to the
//! V-minipages in proportion to their values: only they can use it.

use super::page::Shape;

/// The sizes that a plan is made from: those of `rows` tuples.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Tuples, 1 or more.
    pub rows: usize,
    /// Bytes of their values, per column; NULLs have none.
    pub values: Vec<usize>,
}

/// The page that a plan is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Offset of the first minipage: bytes of the header.
    pub begin: usize,
    /// Offset of the page's end: its bytes.
    pub end: usize,
    /// Bytes of an end offset.
    pub end_bytes: usize,
}

/// Minipage offsets, and the page's end as the last of them.
///
/// If the sampled tuples themselves fit the page, each column's minipage holds
/// at least its share of them.
pub(super) fn bounds(shapes: &[Shape], sample: &Sample, room: Room) -> Vec<usize> {
    let usable = room.end - room.begin;
    let size = |(shape, values): (&Shape, &usize), tuples: usize| {
        (tuples * values).div_ceil(sample.rows) + shape.back(tuples, room.end_bytes)
    };
    let columns = || shapes.iter().zip(&sample.values);
    // Without rounding to whole bytes more tuples fit, so this is the most there can be.
    let bits: usize = columns()
        .map(|(shape, values)| 8 * values + sample.rows * shape.back_bits(room.end_bytes))
        .sum();
    let mut tuples = 8 * usable * sample.rows / bits.max(1);
    let mut taken = columns().map(|column| size(column, tuples)).sum::<usize>();
    while taken > usable {
        tuples -= 1;
        taken = columns().map(|column| size(column, tuples)).sum();
    }
    let spare = usable - taken;
    let varying: usize = columns()
        .filter(|(shape, _)| shape.width.is_none())
        .map(|(_, values)| values)
        .sum();
    let mut bounds = Vec::with_capacity(shapes.len() + 1);
    let mut at = room.begin;
    for (shape, values) in columns() {
        bounds.push(at);
        at += size((shape, values), tuples);
        if shape.width.is_none() {
            at += spare * values / varying.max(1);
        }
    }
    bounds.push(room.end);
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shapes() -> impl Strategy<Value = Vec<Shape>> {
        let width = prop_oneof![
            Just(None),
            prop::sample::select(vec![1, 2, 4, 8, 16]).prop_map(Some)
        ];
        let shape = (width, any::<bool>()).prop_map(|(width, nullable)| Shape { width, nullable });
        prop::collection::vec(shape, 1..30)
    }

    #[test]
    fn fixed_columns_get_whole_tuples() {
        let fixed = |width| Shape {
            width: Some(width),
            nullable: false,
        };
        let sample = Sample {
            rows: 10,
            values: vec![40, 80],
        };
        let room = Room {
            begin: 28,
            end: 1024,
            end_bytes: 2,
        };
        // (1024 - 28) / 12 = 83 tuples
        assert_eq!(
            bounds(&[fixed(4), fixed(8)], &sample, room),
            [28, 28 + 83 * 4, 1024]
        );
    }

    proptest! {
        #[test]
        fn sampled_tuples_fit_their_minipages(
            shapes in shapes(),
            rows in 1_usize..200,
            averages in prop::collection::vec(0_usize..40, 30),
            slack in 0_usize..5000,
        ) {
            let values: Vec<usize> = shapes.iter().zip(averages)
                .map(|(shape, average)| rows * shape.width.map_or(average, |width| if shape.nullable { width / 2 } else { width }))
                .collect();
            let taken: usize = shapes.iter().zip(&values).map(|(shape, values)| values + shape.back(rows, 2)).sum();
            let room = Room { begin: 100, end: 100 + taken + slack, end_bytes: 2 };
            let bounds = bounds(&shapes, &Sample { rows, values: values.clone() }, room);
            prop_assert_eq!((bounds[0], bounds[shapes.len()]), (100, room.end));
            for (column, shape) in shapes.iter().enumerate() {
                prop_assert!(bounds[column] + values[column] + shape.back(rows, 2) <= bounds[column + 1]);
            }
        }
    }
}
