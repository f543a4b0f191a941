//! Variable values as Arrow views into stored bytes, without copying them.
//!
//! Arrow checks every view again when an array is made from parts; here the
//! checks are made once, when a block is opened, and the arrays are made
//! unchecked. So are arrays of codes, whose codes Arrow checks one by one. This is the only module of the layouts with `unsafe`.

use super::prefetch;
use crate::error::{Error, Result};
use arrow_array::builder::make_view;
use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, BinaryViewArray, DictionaryArray, StringViewArray, UInt32Array};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use std::ops::Range;
use std::sync::Arc;

/// Codes and what they stand for as an array; codes are checked here, once.
///
/// # Errors
/// `Corrupt` for a code that stands for nothing.
pub fn coded(codes: Vec<u32>, nulls: Option<NullBuffer>, entries: ArrayRef) -> Result<ArrayRef> {
    let largest = codes.iter().copied().fold(0, u32::max) as usize;
    if largest >= entries.len() {
        let entries = entries.len();
        return Err(Error::corrupt(format!(
            "code {largest} in a dictionary of {entries}"
        )));
    }
    let codes = UInt32Array::new(codes.into(), nulls);
    // SAFETY: every code is below the number of entries, also those of NULLs.
    let array = unsafe { DictionaryArray::<UInt32Type>::new_unchecked(codes, entries) };
    Ok(Arc::new(array))
}

/// Variable values that were checked: every view lies in `bytes` and, for text,
/// is UTF-8.
#[derive(Clone, Debug)]
pub struct Views {
    views: ScalarBuffer<u128>,
    bytes: Buffer,
    text: bool,
}

impl Views {
    /// Checks values given by their places in `bytes`, one per row; a NULL has
    /// an empty place.
    ///
    /// # Errors
    /// `Corrupt` for a place outside `bytes` or text that is not UTF-8.
    pub fn new(
        bytes: Buffer,
        places: impl ExactSizeIterator<Item = Range<usize>>,
        text: bool,
    ) -> Result<Views> {
        if i32::try_from(bytes.len()).is_err() {
            return Err(Error::corrupt(format!(
                "{} bytes of variable values; 2 GiB is the most",
                bytes.len()
            )));
        }
        let all = bytes.as_slice();
        // When the whole is UTF-8, a value is as soon as it begins and ends between characters.
        let whole = if text {
            std::str::from_utf8(all).ok()
        } else {
            None
        };
        let mut views = Vec::with_capacity(places.len());
        for place in places {
            let start = place.start;
            let value = all.get(place.clone()).ok_or_else(|| {
                Error::corrupt(format!(
                    "a value at {place:?} lies outside {} bytes",
                    all.len()
                ))
            })?;
            let valid = match (text, whole) {
                (false, _) => true,
                (true, Some(whole)) => {
                    whole.is_char_boundary(place.start) && whole.is_char_boundary(place.end)
                }
                (true, None) => std::str::from_utf8(value).is_ok(),
            };
            if !valid {
                return Err(Error::corrupt(format!("text at {place:?} is not UTF-8")));
            }
            // In range: `bytes` is shorter than 2 GiB.
            views.push(make_view(value, 0, start as u32));
        }
        Ok(Views {
            views: views.into(),
            bytes,
            text,
        })
    }

    /// The values of some rows as an array.
    pub fn slice(&self, rows: Range<usize>, nulls: Option<NullBuffer>) -> ArrayRef {
        self.array(self.views.slice(rows.start, rows.len()), nulls)
    }

    /// The values at `positions` as an array.
    pub fn take(&self, positions: &[u32], nulls: Option<NullBuffer>) -> ArrayRef {
        let views: Vec<u128> = positions
            .iter()
            .map(|row| self.views[*row as usize])
            .collect();
        self.array(views.into(), nulls)
    }

    /// Begins to fetch the view of one value.
    pub fn prefetch(&self, row: usize) {
        prefetch(self.views.inner(), 16 * row);
    }

    /// The bytes of one value.
    pub fn value(&self, row: usize) -> &[u8] {
        let view = self.views[row];
        // The lowest 32 bits are the length, the highest the offset (see Arrow's `ByteView`).
        let len = (view as u32) as usize;
        let start = if len <= 12 {
            return self.inline(row, len);
        } else {
            (view >> 96) as usize
        };
        &self.bytes[start..start + len]
    }

    /// The bytes of a value that is short enough to lie in its view.
    fn inline(&self, row: usize, len: usize) -> &[u8] {
        let views = self.views.inner().as_slice();
        &views[16 * row + 4..16 * row + 4 + len]
    }

    /// Empty values, as NULLs have.
    pub fn empty(&self, rows: usize, nulls: Option<NullBuffer>) -> ArrayRef {
        self.array(vec![0u128; rows].into(), nulls)
    }

    /// Bytes of memory that the views take beside the values.
    pub fn memory(&self) -> usize {
        16 * self.views.len()
    }

    fn array(&self, views: ScalarBuffer<u128>, nulls: Option<NullBuffer>) -> ArrayRef {
        let buffers: Arc<[Buffer]> = Arc::from(vec![self.bytes.clone()]);
        if self.text {
            // SAFETY: `new` checked that every view lies in buffer 0 and is UTF-8;
            // `views` are some of those, and `nulls` has their length.
            Arc::new(unsafe { StringViewArray::new_unchecked(views, buffers, nulls) })
        } else {
            // SAFETY: as above; bytes need not be UTF-8.
            Arc::new(unsafe { BinaryViewArray::new_unchecked(views, buffers, nulls) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;

    fn views(bytes: &[u8], places: &[Range<usize>], text: bool) -> Result<Views> {
        Views::new(Buffer::from(bytes.to_vec()), places.iter().cloned(), text)
    }

    #[test]
    fn values_come_back() {
        let all = "a long value beyond twelve bytes|é".as_bytes();
        let views = views(all, &[0..32, 33..35, 4..4], true).unwrap();
        let array = views.slice(0..3, None);
        let array = array.as_string_view();
        assert_eq!(
            array.iter().flatten().collect::<Vec<_>>(),
            ["a long value beyond twelve bytes", "é", ""]
        );
        assert_eq!(views.take(&[1], None).as_string_view().value(0), "é");
    }

    fn one(bytes: &[u8], place: Range<usize>, text: bool) -> Result<Views> {
        views(bytes, std::slice::from_ref(&place), text)
    }

    #[test]
    fn bad_places_and_bad_text_are_refused() {
        assert!(one(b"abc", 1..4, false).is_err());
        assert!(one("é".as_bytes(), 0..1, true).is_err());
        assert!(one("é".as_bytes(), 0..1, false).is_ok());
        assert!(one(b"\xff\xfe ok", 0..1, true).is_err());
        // Text beside bytes that are none: each value is judged alone.
        assert!(one(b"\xff\xfe ok", 3..5, true).is_ok());
    }
}
