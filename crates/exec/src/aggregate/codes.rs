//! Groups of rows whose keys are codes of small dictionaries, found without their texts.

use super::groups::NO_GROUP;
use crate::kernels::{TABLE, looked_up};
use crate::vector::{Values, Vector, same_array};
use arrow_array::{Array, ArrayRef};

/// Stands for a group that is about to be found.
const SOON: u32 = NO_GROUP - 1;

/// The group of each combination of codes.
#[derive(Debug)]
pub(super) struct CodeMap {
    /// The dictionaries the codes are of.
    entries: Vec<ArrayRef>,
    groups: Box<[u32; TABLE]>,
}

impl Default for CodeMap {
    fn default() -> CodeMap {
        CodeMap {
            entries: Vec::new(),
            groups: Box::new([NO_GROUP; TABLE]),
        }
    }
}

impl CodeMap {
    /// The place of each row's combination; `None` if some key is no code, or NULL, or
    /// there are too many combinations.
    pub fn places(&mut self, keys: &[Vector], rows: usize) -> Option<Vec<u32>> {
        let mut coded = Vec::with_capacity(keys.len());
        let mut size = 1usize;
        for key in keys {
            let (Values::Coded { codes, entries }, None) = (&key.values, &key.nulls) else {
                return None;
            };
            size = size.checked_mul(entries.len().max(1))?;
            coded.push((codes, entries));
        }
        if size > TABLE {
            return None;
        }
        let mut pairs = self.entries.iter().zip(&coded);
        if self.entries.len() != keys.len() || !pairs.all(|(a, (_, b))| same_array(a, b)) {
            self.entries = coded
                .iter()
                .map(|(_, entries)| ArrayRef::clone(entries))
                .collect();
            self.groups.fill(NO_GROUP);
        }
        let mut coded = coded.into_iter();
        let mut places = match coded.next() {
            Some((codes, _)) => codes.to_vec(),
            None => vec![0; rows],
        };
        for (codes, entries) in coded {
            let width = entries.len() as u32;
            for (place, code) in places.iter_mut().zip(codes.iter()) {
                // Below TABLE.
                *place = *place * width + code;
            }
        }
        Some(places)
    }

    /// Of some rows the first of each combination that has no group so far.
    pub fn unknown(&mut self, places: &[u32], rows: impl Iterator<Item = usize>) -> Vec<u32> {
        let mut unknown = Vec::new();
        for row in rows {
            let group = &mut self.groups[places[row] as usize];
            if *group == NO_GROUP {
                *group = SOON;
                unknown.push(row as u32);
            }
        }
        unknown
    }

    /// Learns the groups of some rows.
    pub fn learn(&mut self, places: &[u32], rows: &[u32], groups: &[u32]) {
        for (row, group) in rows.iter().zip(groups) {
            self.groups[places[*row as usize] as usize] = *group;
        }
    }

    /// The group of each place, [`NO_GROUP`] where it has none so far, and whether all
    /// have one.
    pub fn groups(&self, places: &[u32]) -> (Vec<u32>, bool) {
        let (groups, greatest) = looked_up(&self.groups, places);
        (groups, greatest != NO_GROUP)
    }
}
