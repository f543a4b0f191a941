//! Arrays without the rows that are gone.

use super::bits::{Level, compact};
use crate::error::Result;
use arrow_array::{Array, ArrayRef, BooleanArray, make_array};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use arrow_select::filter::filter;
use std::ops::Range;

/// The rows of some arrays whose bit is set.
///
/// # Errors
/// Those of Arrow, for types that it cannot filter.
pub fn compacted(arrays: &[ArrayRef], which: &BooleanBuffer) -> Result<Vec<ArrayRef>> {
    let words: Vec<u64> = which.bit_chunks().iter_padded().collect();
    let arrays = arrays.iter().map(|array| match kept_of(array, &words) {
        Some(array) => Ok(array),
        None => Ok(filter(array, &BooleanArray::new(which.clone(), None))?),
    });
    arrays.collect()
}

/// The rows of an array, if it is one of plain values.
fn kept_of(array: &ArrayRef, words: &[u64]) -> Option<ArrayRef> {
    let width = match array.data_type() {
        _ if array.nulls().is_some() => None,
        DataType::Dictionary(key, _) => key.primitive_width(),
        DataType::Utf8View | DataType::BinaryView => Some(16),
        other => other.primitive_width(),
    };
    let data = array.to_data();
    let values = data.buffers().first().cloned();
    let (width, values) = (width?, values?);
    let rows = data.offset()..data.offset() + data.len();
    let kept = match width {
        1 => kept::<u8>(values, rows, words),
        2 => kept::<u16>(values, rows, words),
        4 => kept::<u32>(values, rows, words),
        8 => kept::<u64>(values, rows, words),
        16 => kept::<u128>(values, rows, words),
        _ => None,
    }?;
    let (kind, _, _, _, mut buffers, children) = data.into_parts();
    let count = kept.len() / width;
    buffers[0] = kept;
    let data = ArrayData::builder(kind)
        .len(count)
        .buffers(buffers)
        .child_data(children);
    // SAFETY: some of the values of an array that is right, whose codes and views lead
    // into the same children and buffers.
    let data = unsafe { data.build_unchecked() };
    Some(make_array(data))
}

/// The values of rows; `None` if they are not aligned, as intervals need not be.
fn kept<T: ArrowNativeType>(values: Buffer, rows: Range<usize>, words: &[u64]) -> Option<Buffer> {
    if !values.as_ptr().cast::<T>().is_aligned() {
        return None;
    }
    let values = ScalarBuffer::<T>::new(values, rows.start, rows.len());
    Some(Buffer::from_vec(compact(Level::best(), &values, words)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::UInt32Type;
    use arrow_array::{
        Date32Array, Decimal128Array, DictionaryArray, Int16Array, Int64Array,
        IntervalMonthDayNanoArray, StringViewArray,
    };
    use std::sync::Arc;

    #[test]
    fn rows_are_those_of_arrow() {
        let rows = 300;
        let numbers = 0..rows as i64;
        let texts = numbers
            .clone()
            .map(|n| "long enough to be elsewhere ".repeat(n as usize % 3));
        let texts: Vec<String> = texts.collect();
        let codes = texts.iter().map(String::as_str);
        let intervals = numbers
            .clone()
            .map(|n| arrow_buffer::IntervalMonthDayNano::new(1, 2, n));
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(numbers.clone())),
            Arc::new(Int64Array::from_iter(
                numbers.clone().map(|n| (n % 3 > 0).then_some(n)),
            )),
            Arc::new(Int16Array::from_iter_values(0..rows as i16)),
            Arc::new(Date32Array::from_iter_values(0..rows as i32)),
            Arc::new(Decimal128Array::from_iter_values(
                numbers.clone().map(i128::from),
            )),
            Arc::new(BooleanArray::from_iter(numbers.map(|n| Some(n % 5 == 0)))),
            Arc::new(StringViewArray::from_iter_values(&texts)),
            Arc::new(codes.collect::<DictionaryArray<UInt32Type>>()),
            Arc::new(IntervalMonthDayNanoArray::from_iter_values(intervals)),
        ];
        for dead in [1, 2, 3, 50, 1000] {
            let which = BooleanBuffer::collect_bool(rows, |row| row % dead != dead - 1);
            for array in &arrays {
                for (start, length) in [(0, rows), (70, 200), (299, 1), (5, 0)] {
                    let (array, which) = (array.slice(start, length), which.slice(start, length));
                    let expected = filter(&array, &BooleanArray::new(which.clone(), None));
                    let found = compacted(&[array], &which);
                    assert_eq!(
                        found.unwrap(),
                        [expected.unwrap()],
                        "{dead} {start} {length}"
                    );
                }
            }
        }
    }
}
