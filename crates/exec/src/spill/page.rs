//! A page: some rows, each column in a minipage of its own (P1).
//!
//! Rows and columns, then for every column a tag, the bits of NULLs where there are
//! any, and its values. It is read by the process that wrote it, from a file that no
//! other sees.

use crate::Result;
use crate::kernels::bounds;
use crate::vector::{Batch, Values, Vector};
use arrow_array::builder::StringViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringViewArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use std::sync::Arc;

const INT: u8 = 0;
const WIDE: u8 = 1;
const FLOAT: u8 = 2;
const BOOL: u8 = 3;
const TEXT: u8 = 4;
const OTHER: u8 = 5;
/// A column that was left out.
const NOTHING: u8 = 6;
/// Set in the tag of a column that has NULLs.
const NULLS: u8 = 0x80;

/// The bytes of some rows.
pub(super) fn encode(batch: &Batch) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(batch.bytes() + 64);
    put(&mut out, batch.rows as u64);
    put(&mut out, batch.columns.len() as u64);
    for column in &batch.columns {
        if column.is_empty() && batch.rows > 0 {
            out.push(NOTHING);
            continue;
        }
        let tag = match &column.values {
            Values::Int(_) => INT,
            Values::Wide(_) => WIDE,
            Values::Float(_) => FLOAT,
            Values::Bool(_) => BOOL,
            Values::Text(_) | Values::Coded { .. } => TEXT,
            Values::Other(_) => OTHER,
        };
        out.push(tag | if column.nulls.is_some() { NULLS } else { 0 });
        if let Some(nulls) = &column.nulls {
            put_bits(&mut out, nulls.inner());
        }
        put_values(&mut out, &column.values)?;
    }
    Ok(out)
}

fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_bits(out: &mut Vec<u8>, bits: &BooleanBuffer) {
    let bytes = bits.sliced();
    out.extend_from_slice(&bytes.as_slice()[..bits.len().div_ceil(8)]);
}

fn put_values(out: &mut Vec<u8>, values: &Values) -> Result<()> {
    match values {
        Values::Int(values) => put_integers(out, values),
        Values::Wide(values) => values
            .iter()
            .for_each(|value| out.extend_from_slice(&value.to_le_bytes())),
        Values::Float(values) => values
            .iter()
            .for_each(|value| out.extend_from_slice(&value.to_bits().to_le_bytes())),
        Values::Bool(bits) => put_bits(out, bits),
        Values::Text(array) => put_text(out, array.as_string_view(), 0..array.len()),
        Values::Coded { codes, entries } => {
            let codes = codes.iter().map(|code| *code as usize);
            put_text(out, entries.as_string_view(), codes);
        }
        Values::Other(array) => {
            let batch = RecordBatch::try_from_iter_with_nullable([("", array.clone(), true)])?;
            let mut bytes = Vec::new();
            let mut writer = StreamWriter::try_new(&mut bytes, batch.schema_ref())?;
            writer.write(&batch)?;
            writer.finish()?;
            drop(writer);
            put(out, bytes.len() as u64);
            out.extend_from_slice(&bytes);
        }
    }
    Ok(())
}

/// The least value, bytes of a value, and what each has over the least.
fn put_integers(out: &mut Vec<u8>, values: &[i64]) {
    let (least, greatest) = match values.is_empty() {
        true => (0, 0),
        false => bounds(values),
    };
    let over = |value: &i64| value.wrapping_sub(least) as u64;
    let width = match over(&greatest) {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    put(out, least as u64);
    out.push(width as u8);
    match width {
        1 => out.extend(values.iter().map(|value| over(value) as u8)),
        2 => values
            .iter()
            .for_each(|value| out.extend_from_slice(&(over(value) as u16).to_le_bytes())),
        4 => values
            .iter()
            .for_each(|value| out.extend_from_slice(&(over(value) as u32).to_le_bytes())),
        _ => values
            .iter()
            .for_each(|value| out.extend_from_slice(&over(value).to_le_bytes())),
    }
}

/// Lengths, then bytes.
fn put_text(
    out: &mut Vec<u8>,
    text: &StringViewArray,
    places: impl ExactSizeIterator<Item = usize> + Clone,
) {
    for place in places.clone() {
        let len = if text.is_empty() {
            0
        } else {
            text.value(place).len()
        };
        out.extend_from_slice(&(len as u32).to_le_bytes());
    }
    for place in places.filter(|_| !text.is_empty()) {
        out.extend_from_slice(text.value(place).as_bytes());
    }
}

/// The rows of a page; `None` if it is shorter than it says.
pub(super) fn decode(bytes: &[u8]) -> Option<Result<Batch>> {
    let mut left = bytes;
    let rows = number(&mut left)? as usize;
    let count = number(&mut left)? as usize;
    let mut columns = Vec::with_capacity(count);
    for _ in 0..count {
        let tag = *taken(&mut left, 1)?.first()?;
        if tag == NOTHING {
            columns.push(Vector::of(Values::Int(Vec::new().into())));
            continue;
        }
        let nulls = match tag & NULLS {
            0 => None,
            _ => Some(NullBuffer::new(bits(&mut left, rows)?)),
        };
        let values = match tag & !NULLS {
            INT => Values::Int(integers(&mut left, rows)?.into()),
            WIDE => {
                let (values, _) = taken(&mut left, rows * 16)?.as_chunks();
                let values = values.iter().map(|value| i128::from_le_bytes(*value));
                Values::Wide(values.collect::<Vec<i128>>().into())
            }
            FLOAT => {
                let values = words(&mut left, rows)?.map(f64::from_bits);
                Values::Float(values.collect::<Vec<f64>>().into())
            }
            BOOL => Values::Bool(bits(&mut left, rows)?),
            TEXT => Values::Text(text(&mut left, rows)?),
            _ => match other(&mut left)? {
                Ok(array) => Values::Other(array),
                Err(error) => return Some(Err(error)),
            },
        };
        columns.push(Vector { values, nulls });
    }
    Some(Ok(Batch { columns, rows }))
}

fn taken<'a>(left: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    let (taken, rest) = left.split_at_checked(bytes)?;
    *left = rest;
    Some(taken)
}

fn number(left: &mut &[u8]) -> Option<u64> {
    words(left, 1)?.next()
}

fn words<'a>(left: &mut &'a [u8], count: usize) -> Option<impl Iterator<Item = u64> + use<'a>> {
    let (words, _) = taken(left, count.checked_mul(8)?)?.as_chunks();
    Some(words.iter().map(|word| u64::from_le_bytes(*word)))
}

fn bits(left: &mut &[u8], rows: usize) -> Option<BooleanBuffer> {
    let bytes = taken(left, rows.div_ceil(8))?;
    Some(BooleanBuffer::new(Buffer::from(bytes), 0, rows))
}

fn integers(left: &mut &[u8], rows: usize) -> Option<Vec<i64>> {
    let least = number(left)? as i64;
    let width = *taken(left, 1)?.first()?;
    let bytes = taken(left, rows.checked_mul(width.into())?)?;
    let value = |over: u64| least.wrapping_add(over as i64);
    Some(match width {
        1 => bytes.iter().map(|over| value((*over).into())).collect(),
        2 => {
            let (all, _) = bytes.as_chunks();
            let all = all.iter().map(|over| u16::from_le_bytes(*over));
            all.map(|over| value(over.into())).collect()
        }
        4 => {
            let (all, _) = bytes.as_chunks();
            let all = all.iter().map(|over| u32::from_le_bytes(*over));
            all.map(|over| value(over.into())).collect()
        }
        _ => {
            let (all, _) = bytes.as_chunks();
            all.iter()
                .map(|over| value(u64::from_le_bytes(*over)))
                .collect()
        }
    })
}

fn text(left: &mut &[u8], rows: usize) -> Option<ArrayRef> {
    let (lengths, _) = taken(left, rows.checked_mul(4)?)?.as_chunks();
    let mut array = StringViewBuilder::with_capacity(rows);
    for length in lengths {
        let bytes = taken(left, u32::from_le_bytes(*length) as usize)?;
        array.append_value(std::str::from_utf8(bytes).ok()?);
    }
    Some(Arc::new(array.finish()))
}

fn other(left: &mut &[u8]) -> Option<Result<ArrayRef>> {
    let len = number(left)? as usize;
    let bytes = taken(left, len)?;
    let read = || -> Result<ArrayRef> {
        let mut reader = StreamReader::try_new(bytes, None)?;
        let batch = reader.next();
        let batch = batch.ok_or_else(|| crate::Error::internal("an empty page"))??;
        Ok(batch.column(0).clone())
    };
    Some(read())
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use crate::vector::{Batch, Vector};
    use arrow_array::types::Int32Type;
    use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array};
    use arrow_array::{ListArray, StringViewArray};
    use arrow_schema::DataType;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// What a column is before and after.
    fn kept(array: ArrayRef) -> (ArrayRef, ArrayRef) {
        let kind = array.data_type().clone();
        let batch = Batch {
            columns: vec![Vector::from_arrow(&array).unwrap()],
            rows: array.len(),
        };
        let bytes = encode(&batch).unwrap();
        for cut in 0..bytes.len() {
            assert!(
                decode(&bytes[..cut]).is_none_or(|batch| batch.is_err()),
                "cut at {cut}"
            );
        }
        let batch = decode(&bytes).unwrap().unwrap();
        assert_eq!(batch.rows, array.len());
        let kind = match kind {
            DataType::Utf8 => DataType::Utf8View,
            kind => kind,
        };
        (array, batch.columns[0].to_arrow(&kind).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Rows come back as they were, of every kind of column.
        #[test]
        fn pages_give_back_their_rows(
            numbers in proptest::collection::vec(any::<Option<i64>>(), 1..40),
            near in proptest::collection::vec(-300i64..70_000, 1..40),
            floats in proptest::collection::vec(any::<Option<f64>>(), 1..40),
            wide in proptest::collection::vec(-(10i128.pow(37))..10i128.pow(37), 1..40),
            bits in proptest::collection::vec(any::<Option<bool>>(), 1..40),
            texts in proptest::collection::vec(any::<Option<String>>(), 1..20),
            lists in proptest::collection::vec(proptest::option::of(
                proptest::collection::vec(any::<Option<i32>>(), 0..4)), 1..10),
        ) {
            let arrays: Vec<ArrayRef> = vec![
                Arc::new(Int64Array::from(numbers)),
                Arc::new(Int64Array::from(near)),
                Arc::new(Float64Array::from(floats)),
                Arc::new(Decimal128Array::from(wide).with_precision_and_scale(38, 2).unwrap()),
                Arc::new(BooleanArray::from(bits)),
                Arc::new(StringViewArray::from_iter(texts)),
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
            ];
            for array in arrays {
                let (before, after) = kept(array);
                prop_assert_eq!(format!("{before:?}"), format!("{after:?}"));
            }
        }
    }
}
