//! Texts of tuples as codes, where they repeat: queries group and compare codes.

use crate::codec::{Views, coded_array};
use crate::error::Result;
use arrow_array::ArrayRef;
use arrow_buffer::{Buffer, NullBuffer};
use xxhash_rust::xxh3::xxh3_64;

/// Different texts that are told apart at most; slots are four times as many.
const MOST: usize = 256;
/// Rows below which codes are not worth it.
const LEAST: usize = 64;

/// The texts as an array of codes; `None` if they are few, or too many are different.
///
/// # Errors
/// `Corrupt` for text that is not UTF-8.
pub(super) fn repeated<'a>(
    texts: impl ExactSizeIterator<Item = &'a [u8]>,
    nulls: Option<NullBuffer>,
) -> Result<Option<ArrayRef>> {
    if texts.len() < LEAST {
        return Ok(None);
    }
    let mut slots = [0u16; 4 * MOST];
    let mut entries: Vec<&[u8]> = Vec::new();
    let mut codes: Vec<u32> = Vec::with_capacity(texts.len());
    for text in texts {
        let mut slot = xxh3_64(text) as usize % slots.len();
        let code = loop {
            match slots[slot] {
                0 if entries.len() == MOST => return Ok(None),
                0 => {
                    entries.push(text);
                    slots[slot] = entries.len() as u16;
                    break entries.len() - 1;
                }
                known if entries[usize::from(known) - 1] == text => break usize::from(known) - 1,
                _ => slot = (slot + 1) % slots.len(),
            }
        };
        // In range: below MOST.
        codes.push(code as u32);
    }
    let mut end = 0;
    let places = entries.iter().map(|text| {
        let start = end;
        end += text.len();
        start..end
    });
    let places: Vec<_> = places.collect();
    let views = Views::new(Buffer::from_vec(entries.concat()), places.into_iter(), true)?;
    let entries = views.slice(0..entries.len(), None);
    coded_array(codes, nulls, entries).map(Some)
}
