//! Taking rows in.

use super::accumulate::count_all;
use super::groups::NO_GROUP;
use super::{Aggregate, GroupTable};
use crate::Result;
use crate::vector::{Batch, Selected, Vector};
use arrow_buffer::BooleanBuffer;

/// What one aggregate reads of some rows.
struct Input {
    vector: Option<Vector>,
    /// Which rows it wants, if not all.
    wanted: Option<BooleanBuffer>,
}

impl Input {
    fn of(aggregate: &Aggregate, batch: &Batch) -> Result<Input> {
        let argument = aggregate.argument.as_ref();
        let vector = argument.map(|argument| argument.evaluate(batch));
        let wanted = aggregate.filter.as_ref();
        let wanted = wanted.map(|filter| filter.passing(batch));
        Ok(Input {
            vector: vector.transpose()?,
            wanted: wanted.transpose()?,
        })
    }
}

impl GroupTable<'_> {
    /// Takes in some rows.
    pub fn add(&mut self, rows: Selected) -> Result<()> {
        if let Some(which) = &rows.which
            && self.add_selected(&rows.batch, which)?
        {
            return Ok(());
        }
        let batch = rows.whole()?;
        let keys = self.keys_of(&batch)?;
        if self.led.is_none() && self.groups.len() == 0 {
            let kinds = self.grouping.kinds();
            if let Some(column) = self.grouping.lead.guess(&kinds, &keys, batch.rows) {
                *self = GroupTable::led_by(self.grouping, column)?;
            }
        }
        let ids = self.find(&keys, batch.rows)?;
        for number in 0..self.accumulators.len() {
            let input = Input::of(&self.grouping.aggregates[number], &batch)?;
            self.accumulate(number, &input, &ids)?;
        }
        self.count(&ids);
        Ok(())
    }

    /// Takes in those rows of `batch` whose bit is set; false, with nothing done, if the
    /// others must be dropped before.
    fn add_selected(&mut self, batch: &Batch, which: &BooleanBuffer) -> Result<bool> {
        // What fails may do so for a row that does not count.
        let aggregates = self.grouping.aggregates.iter();
        let inputs = aggregates.map(|aggregate| Input::of(aggregate, batch));
        let (Ok(keys), Ok(inputs)) = (self.keys_of(batch), inputs.collect::<Result<Vec<_>>>())
        else {
            return Ok(false);
        };
        let Some(ids) = self.find_selected(&keys, batch.rows, which)? else {
            return Ok(false);
        };
        for (number, input) in inputs.iter().enumerate() {
            self.accumulate(number, input, &ids)?;
        }
        self.count(&ids);
        Ok(true)
    }

    fn keys_of(&self, batch: &Batch) -> Result<Vec<Vector>> {
        let keys = self.grouping.keys.iter();
        keys.map(|(key, _)| key.evaluate(batch)).collect()
    }

    /// Takes the values of one aggregate in, before the rows are counted.
    fn accumulate(&mut self, number: usize, input: &Input, ids: &[u32]) -> Result<()> {
        let count = self.groups.len();
        self.rows.resize(count, 0);
        let accumulator = &mut self.accumulators[number];
        accumulator.resize(count);
        let vector = input.vector.as_ref();
        let nulls = vector.and_then(|vector| vector.nulls.as_ref());
        if nulls.is_none() && input.wanted.is_none() {
            return accumulator.add(vector, ids, count, None);
        }
        let left = |row: usize| {
            nulls.is_none_or(|nulls| nulls.is_valid(row))
                && input.wanted.as_ref().is_none_or(|wanted| wanted.value(row))
        };
        let some = ids.iter().enumerate();
        let some: Vec<u32> = some
            .map(|(row, id)| if left(row) { *id } else { NO_GROUP })
            .collect();
        accumulator.add(vector, &some, count, Some(&self.rows))
    }

    fn count(&mut self, ids: &[u32]) {
        let count = self.groups.len();
        self.rows.resize(count, 0);
        count_all(&mut self.rows, ids, count);
    }
}

#[cfg(test)]
mod tests;
