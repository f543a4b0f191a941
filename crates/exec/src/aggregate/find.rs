//! Which group each row belongs to.

use super::GroupTable;
use super::groups::NO_GROUP;
use crate::Result;
use crate::vector::{Values, Vector};
use arrow_buffer::BooleanBuffer;

impl GroupTable<'_> {
    /// The group of each row.
    pub(super) fn find(&mut self, keys: &[Vector], rows: usize) -> Result<Vec<u32>> {
        if let Some((column, rest)) = &mut self.led {
            let column = *column;
            // A lead that is NULL, or of another form, leads nowhere.
            if matches!(
                &keys[column],
                Vector {
                    values: Values::Int(_),
                    nulls: None
                }
            ) {
                let words = self.keys.words(&keys[column..=column], rows)?;
                let ids = self.groups.find(&words);
                let others = keys.iter().enumerate();
                let others = others.filter(|(number, _)| *number != column);
                if rest.add(others.map(|(_, key)| key), &ids, self.groups.len()) {
                    return Ok(ids);
                }
                self.complete();
            }
            self.grouping.lead.give_up();
            let empty = GroupTable::of_whole_keys(self.grouping)?;
            *self = std::mem::replace(self, empty).whole()?;
        }
        self.find_whole(keys, rows)
    }

    /// Lets every group have its row count and states, of no rows so far.
    fn complete(&mut self) {
        let count = self.groups.len();
        self.rows.resize(count, 0);
        self.accumulators
            .iter_mut()
            .for_each(|accumulator| accumulator.resize(count));
    }

    /// The group of each row, by its whole key.
    pub(super) fn find_whole(&mut self, keys: &[Vector], rows: usize) -> Result<Vec<u32>> {
        if keys.is_empty() {
            return Ok(vec![0; rows]);
        }
        if let Some(places) = self.codes.places(keys, rows) {
            let (groups, all) = self.codes.groups(&places);
            if all {
                return Ok(groups);
            }
            self.learn(keys, &places, 0..rows)?;
            return Ok(self.codes.groups(&places).0);
        }
        if keys.iter().any(|key| key.nulls.is_some()) {
            self.allow_nulls();
        }
        let words = self.keys.words(keys, rows)?;
        Ok(self.groups.find(&words))
    }

    /// The group of each row whose bit is set, of others [`NO_GROUP`]; `None` if that
    /// takes more than keys of codes.
    pub(super) fn find_selected(
        &mut self,
        keys: &[Vector],
        rows: usize,
        which: &BooleanBuffer,
    ) -> Result<Option<Vec<u32>>> {
        let mut ids = match keys.is_empty() {
            true => vec![0; rows],
            false if self.led.is_some() => return Ok(None),
            false => {
                let Some(places) = self.codes.places(keys, rows) else {
                    return Ok(None);
                };
                let (groups, all) = self.codes.groups(&places);
                match all {
                    true => groups,
                    false => {
                        self.learn(keys, &places, which.set_indices())?;
                        self.codes.groups(&places).0
                    }
                }
            }
        };
        for row in (!which).set_indices() {
            ids[row] = NO_GROUP;
        }
        Ok(Some(ids))
    }

    /// Finds the groups of combinations of codes that came for the first time.
    fn learn(
        &mut self,
        keys: &[Vector],
        places: &[u32],
        rows: impl Iterator<Item = usize>,
    ) -> Result<()> {
        let new = self.codes.unknown(places, rows);
        let keys = keys.iter().map(|key| key.take(&new));
        let keys = keys.collect::<Result<Vec<Vector>>>()?;
        let words = self.keys.words(&keys, new.len())?;
        self.codes.learn(places, &new, &self.groups.find(&words));
        Ok(())
    }

    pub(super) fn allow_nulls(&mut self) {
        if !self.keys.is_nullable() {
            self.keys.allow_nulls();
            self.groups.lengthen();
        }
    }
}
