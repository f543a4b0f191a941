//! The texts of groups, without copies where they come as codes.

use crate::Result;
use crate::vector::{Values, Vector, same_array};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringViewArray};
use std::sync::Arc;

/// So many dictionaries are kept for the texts of a column; those of others are copied.
const DICTIONARIES: usize = 16;

/// The texts of groups: codes of dictionaries, which stay where they are, or copies.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// For each group a dictionary's number plus one, or 0 for copies, and the code there.
    places: Vec<(u32, u32)>,
    dictionaries: Vec<ArrayRef>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// Bytes of memory beside the dictionaries.
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + (self.ends.capacity() + self.places.capacity()) * 8
    }

    /// The text of a group that is not NULL.
    pub fn of(&self, group: usize) -> &[u8] {
        self.text(self.places[group])
    }

    fn text(&self, (dictionary, code): (u32, u32)) -> &[u8] {
        let code = code as usize;
        match (dictionary as usize).checked_sub(1) {
            Some(number) => self.dictionaries[number]
                .as_string_view()
                .value(code)
                .as_bytes(),
            None => {
                // NULLs have the first copy, which need not be there.
                let end = self.ends.get(code).copied().unwrap_or(0);
                let start = code.checked_sub(1).map_or(0, |before| self.ends[before]);
                &self.bytes[start..end]
            }
        }
    }

    fn copy(&mut self, text: &[u8]) -> (u32, u32) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        // In range: groups are numbered in 32 bits.
        (0, self.ends.len() as u32 - 1)
    }

    /// The number plus one of a dictionary that is kept; 0 for others.
    fn known(&self, entries: &ArrayRef) -> u32 {
        let mut known = self.dictionaries.iter();
        let number = known.position(|known| same_array(known, entries));
        number.map_or(0, |number| number as u32 + 1)
    }

    /// The number plus one of a dictionary that is to be kept; 0 if there are too many.
    fn number(&mut self, entries: &ArrayRef) -> u32 {
        match self.known(entries) {
            0 if self.dictionaries.len() < DICTIONARIES => {
                self.dictionaries.push(entries.clone());
                self.dictionaries.len() as u32
            }
            number => number,
        }
    }

    /// Takes in the texts of new groups.
    pub fn add(&mut self, vector: &Vector, rows: &[u32]) {
        let (codes, array) = match &vector.values {
            Values::Coded { codes, entries } => (Some(codes), entries),
            Values::Text(array) => (None, array),
            _ => return,
        };
        if rows.is_empty() {
            // A dictionary that no group needs is not kept.
            return;
        }
        let dictionary = codes.map_or(0, |_| self.number(array));
        let texts = array.as_string_view();
        for row in rows.iter().map(|row| *row as usize) {
            let code = codes.map_or(row, |codes| codes[row] as usize);
            let place = match (vector.is_null(row), dictionary) {
                (true, _) => (0, 0),
                (false, 0) => self.copy(texts.value(code).as_bytes()),
                // In range: it is a code.
                (false, _) => (dictionary, code as u32),
            };
            self.places.push(place);
        }
    }

    /// Whether the group of each row that is not NULL has its text.
    pub fn are(&self, vector: &Vector, groups: &[u32]) -> bool {
        let (codes, array) = match &vector.values {
            Values::Coded { codes, entries } => (Some(codes), entries),
            Values::Text(array) => (None, array),
            _ => return false,
        };
        let dictionary = codes.map_or(0, |_| self.known(array));
        let texts = array.as_string_view();
        let mut rows = (0..groups.len()).filter(|row| !vector.is_null(*row));
        rows.all(|row| {
            let code = codes.map_or(row, |codes| codes[row] as usize);
            let place = self.places[groups[row] as usize];
            (dictionary > 0 && place == (dictionary, code as u32))
                || self.text(place) == texts.value(code).as_bytes()
        })
    }

    /// Takes in texts of other groups.
    pub fn absorb(&mut self, others: &Texts, groups: impl Iterator<Item = (u32, bool)>) {
        let numbers = others.dictionaries.iter();
        let numbers: Vec<u32> = numbers.map(|entries| self.number(entries)).collect();
        for (group, null) in groups {
            let (dictionary, code) = others.places[group as usize];
            let number = dictionary
                .checked_sub(1)
                .map(|number| numbers[number as usize]);
            let place = match (null, number) {
                (true, _) => (0, 0),
                (false, None | Some(0)) => self.copy(others.text((dictionary, code))),
                (false, Some(number)) => (number, code),
            };
            self.places.push(place);
        }
    }

    /// The texts of all groups.
    ///
    /// # Errors
    /// Those of putting dictionaries together.
    pub fn values(mut self) -> Result<Values> {
        if let ([entries], true) = (self.dictionaries.as_slice(), self.ends.is_empty())
            && !entries.is_empty()
        {
            let codes = self.places.iter().map(|(_, code)| *code);
            return Ok(Values::Coded {
                codes: codes.collect::<Vec<u32>>().into(),
                entries: entries.clone(),
            });
        }
        if self.ends.is_empty() {
            // The codes of NULLs must be codes of something.
            self.copy(b"");
        }
        let copies = (0..self.ends.len() as u32).map(|code| self.text((0, code)));
        // They were text when they came.
        let copies = copies.map(|text| std::str::from_utf8(text).unwrap_or(""));
        let copies: ArrayRef = Arc::new(StringViewArray::from_iter_values(copies));
        let all: Vec<&dyn Array> = std::iter::once(&copies)
            .chain(&self.dictionaries)
            .map(AsRef::as_ref)
            .collect();
        let firsts = all.iter().scan(0, |first, array| {
            *first += array.len() as u32;
            Some(*first - array.len() as u32)
        });
        let firsts: Vec<u32> = firsts.collect();
        let codes = self.places.iter();
        let codes = codes.map(|(dictionary, code)| firsts[*dictionary as usize] + code);
        Ok(Values::Coded {
            codes: codes.collect::<Vec<u32>>().into(),
            entries: arrow_select::concat::concat(&all)?,
        })
    }
}
