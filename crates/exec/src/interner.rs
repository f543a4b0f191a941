//! Numbers for distinct texts, so that keys are words.

use crate::kernels::hash;
use crate::vector::{Values, Vector, same_array};
use crate::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray};
use std::sync::Arc;

/// Texts that are looked up at once: what they wait for comes from memory together.
const AT_ONCE: usize = 32;
/// Stands for a number that is about to be found.
const SOON: u32 = u32::MAX;

/// Numbers of distinct texts, from 0 on.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    hashes: Vec<u64>,
    /// Numbers plus one by hash, whose upper half stands above; 0 for none.
    slots: Vec<u64>,
    /// The numbers plus one of the entries of the dictionary that was seen last; 0 for
    /// those not needed so far.
    known: Option<(ArrayRef, Vec<u32>)>,
}

/// The hash of a text, which is the same in all interners.
pub(crate) fn hash_of(text: &[u8]) -> u64 {
    let mut state = text.len() as u64;
    let mut words = text.chunks_exact(8);
    for word in &mut words {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        state = hash((state ^ u64::from_le_bytes(bytes)) as i64);
    }
    let mut bytes = [0; 8];
    bytes[..words.remainder().len()].copy_from_slice(words.remainder());
    hash((state ^ u64::from_le_bytes(bytes)) as i64)
}

/// What a slot holds for a text of this hash.
fn entry(number: usize, hash: u64) -> u64 {
    // In range: texts are numbered in 32 bits.
    hash >> 32 << 32 | (number as u64 + 1)
}

impl Interner {
    fn place(&self, number: usize) -> (usize, usize) {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        (start, self.ends[number])
    }

    /// The text of a number.
    pub fn text(&self, number: usize) -> &[u8] {
        let (start, end) = self.place(number);
        &self.bytes[start..end]
    }

    /// The hash of the text of a number, which is the same in all interners.
    pub fn hash(&self, number: usize) -> u64 {
        self.hashes.get(number).copied().unwrap_or(0)
    }

    /// All texts by their numbers, if there are any.
    pub fn texts(&self) -> Option<ArrayRef> {
        let texts = (0..self.ends.len()).map(|number| self.text(number));
        // They were text when they came.
        let texts = texts.map(|text| std::str::from_utf8(text).unwrap_or(""));
        (!self.ends.is_empty()).then(|| Arc::new(StringViewArray::from_iter_values(texts)) as _)
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.bytes.capacity()
            + (self.ends.capacity() + self.hashes.capacity() + self.slots.capacity()) * 8
    }

    /// Makes room for so many more.
    fn reserve(&mut self, more: usize) {
        let mut size = self.slots.len().max(64);
        while (self.ends.len() + more) * 2 > size {
            size *= 2;
        }
        if size == self.slots.len() {
            return;
        }
        self.slots = vec![0; size];
        for (number, hash) in self.hashes.iter().enumerate() {
            let mut slot = *hash as usize & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = entry(number, *hash);
        }
    }

    /// Lets go of the dictionary that was seen last.
    pub fn forget(&mut self) {
        self.known = None;
    }

    /// The number of a text.
    pub fn number(&mut self, text: &[u8]) -> u32 {
        self.reserve(1);
        self.number_of(text, hash_of(text))
    }

    /// The number of a text for which there is room.
    fn number_of(&mut self, text: &[u8], hash: u64) -> u32 {
        let slot = match self.look_up(text, hash) {
            Ok(number) => return number,
            Err(slot) => slot,
        };
        let number = self.ends.len();
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        self.hashes.push(hash);
        self.slots[slot] = entry(number, hash);
        number as u32
    }

    /// The number of a text, or the slot where it would be. There must be slots.
    fn look_up(&self, text: &[u8], hash: u64) -> std::result::Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.slots[slot];
            if found == 0 {
                return Err(slot);
            }
            let number = found as u32 - 1;
            if found == entry(number as usize, hash) && self.text(number as usize) == text {
                return Ok(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Hashes of at most [`AT_ONCE`] texts, and of those that are in their first slot
    /// the number. There must be slots.
    fn first_look(&self, texts: &[&[u8]]) -> ([u64; AT_ONCE], [Option<u32>; AT_ONCE]) {
        let mask = self.slots.len() - 1;
        let (mut hashes, mut found) = ([0; AT_ONCE], [0; AT_ONCE]);
        for (hash, text) in hashes.iter_mut().zip(texts) {
            *hash = hash_of(text);
        }
        for (found, hash) in found.iter_mut().zip(&hashes) {
            *found = self.slots[*hash as usize & mask];
        }
        let mut places = [(0, 0); AT_ONCE];
        for (place, found) in places.iter_mut().zip(&found) {
            if let Some(number) = (*found as u32).checked_sub(1) {
                *place = self.place(number as usize);
            }
        }
        let mut numbers = [None; AT_ONCE];
        for (at, text) in texts.iter().enumerate() {
            let (found, (start, end)) = (found[at], places[at]);
            let likely = found != 0 && found >> 32 == hashes[at] >> 32;
            if likely && self.bytes[start..end] == **text {
                numbers[at] = Some(found as u32 - 1);
            }
        }
        (hashes, numbers)
    }

    /// The numbers of some texts.
    fn number_all(&mut self, texts: &[&[u8]]) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(texts.len());
        for texts in texts.chunks(AT_ONCE) {
            self.reserve(texts.len());
            let (hashes, known) = self.first_look(texts);
            for ((text, hash), known) in texts.iter().zip(hashes).zip(known) {
                numbers.push(known.unwrap_or_else(|| self.number_of(text, hash)));
            }
        }
        numbers
    }

    /// The numbers of those of some texts that have one.
    pub fn find_all(&self, texts: &[&[u8]]) -> Vec<Option<u32>> {
        if self.slots.is_empty() {
            return vec![None; texts.len()];
        }
        let mut numbers = Vec::with_capacity(texts.len());
        for texts in texts.chunks(AT_ONCE) {
            let (hashes, known) = self.first_look(texts);
            for ((text, hash), known) in texts.iter().zip(hashes).zip(known) {
                numbers.push(known.or_else(|| self.look_up(text, hash).ok()));
            }
        }
        numbers
    }

    /// Gives `put` the number of each text of a vector that is not NULL, by its row.
    pub fn numbers(&mut self, vector: &Vector, mut put: impl FnMut(usize, i64)) -> Result<()> {
        match &vector.values {
            Values::Coded { codes, entries } => {
                let same = |(known, _): &(ArrayRef, Vec<u32>)| same_array(known, entries);
                let known = self.known.take().filter(same);
                let (entries, mut known) =
                    known.unwrap_or_else(|| (entries.clone(), vec![0; entries.len()]));
                let valid = |row: usize| !vector.is_null(row);
                let mut new = Vec::new();
                for (row, code) in codes.iter().enumerate() {
                    if valid(row) && known[*code as usize] == 0 {
                        known[*code as usize] = SOON;
                        new.push(*code as usize);
                    }
                }
                let text = entries.as_string_view();
                let texts = new.iter().map(|code| text.value(*code).as_bytes());
                let numbers = self.number_all(&texts.collect::<Vec<&[u8]>>());
                for (code, number) in new.into_iter().zip(numbers) {
                    known[code] = number + 1;
                }
                for (row, code) in codes.iter().enumerate().filter(|(row, _)| valid(*row)) {
                    put(row, i64::from(known[*code as usize]) - 1);
                }
                self.known = Some((entries, known));
            }
            Values::Text(array) => {
                let text = array.as_string_view();
                let rows: Vec<usize> = (0..text.len())
                    .filter(|row| !vector.is_null(*row))
                    .collect();
                let texts = rows.iter().map(|row| text.value(*row).as_bytes());
                let numbers = self.number_all(&texts.collect::<Vec<&[u8]>>());
                for (row, number) in rows.into_iter().zip(numbers) {
                    put(row, i64::from(number));
                }
            }
            _ => return Err(Error::internal("a key that is not of its column's kind")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Interner;
    use crate::vector::Vector;
    use arrow_array::{Array, ArrayRef, DictionaryArray, StringViewArray, UInt32Array};
    use proptest::prelude::*;
    use std::collections::HashMap;
    use std::sync::Arc;

    proptest! {
        /// Texts are numbered as a map would, as views or as codes, alone or many at once.
        #[test]
        fn numbers_are_those_of_a_map(
            batches in proptest::collection::vec(
                (any::<bool>(), proptest::collection::vec(proptest::option::of("[ab]{0,4}|[a-c]{20}"), 1..100)),
                1..6),
        ) {
            let (mut interner, mut model) = (Interner::default(), HashMap::<String, i64>::new());
            for (coded, texts) in batches {
                let view = StringViewArray::from_iter(texts.iter().map(Option::as_deref));
                let array: ArrayRef = match coded {
                    false => Arc::new(view),
                    true => {
                        let codes = (0..view.len() as u32).map(|row| texts[row as usize].as_ref().map(|_| row));
                        let codes = UInt32Array::from_iter(codes);
                        Arc::new(DictionaryArray::try_new(codes, Arc::new(view)).unwrap())
                    }
                };
                let mut found = vec![None; texts.len()];
                interner.numbers(&Vector::from_arrow(&array).unwrap(), |row, n| found[row] = Some(n)).unwrap();
                for (text, found) in texts.into_iter().zip(found) {
                    let expected = text.clone().map(|text| {
                        let next = model.len() as i64;
                        *model.entry(text).or_insert(next)
                    });
                    prop_assert_eq!(found, expected);
                    if let (Some(text), Some(number)) = (text, found) {
                        prop_assert_eq!(interner.text(number as usize), text.as_bytes());
                        prop_assert_eq!(i64::from(interner.number(text.as_bytes())), number);
                    }
                }
            }
            let asked: Vec<String> = model.keys().cloned().chain(["c".into(), "abc d".into()]).collect();
            let found = interner.find_all(&asked.iter().map(String::as_bytes).collect::<Vec<_>>());
            for (text, found) in asked.iter().zip(found) {
                prop_assert_eq!(found.map(i64::from), model.get(text).copied(), "{}", text);
            }
        }
    }
}
