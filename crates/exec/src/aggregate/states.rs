//! What a table knows of its groups, as columns, and back from them.

use super::accumulate::{Accumulator, State};
use super::{GroupTable, Grouping};
use crate::partition::parted;
use crate::vector::{Batch, Values, Vector, narrowed};
use crate::{Error, Result};
use arrow_array::StringViewArray;
use arrow_array::cast::AsArray;
use std::sync::Arc;

/// A column without values, whatever the rows of its batch.
fn nothing() -> Vector {
    numbers(Vec::new())
}

fn numbers(values: Vec<i64>) -> Vector {
    Vector::of(Values::Int(values.into()))
}

impl Accumulator {
    /// The state of each group and how many values it is of, if not all its rows.
    fn columns(&self) -> [Vector; 2] {
        let state = match &self.state {
            State::Count => nothing(),
            State::Sum(sum) => {
                let sums: Vec<i128> = (0..sum.low.len()).map(|group| sum.total(group)).collect();
                Vector::of(narrowed(&sums, None))
            }
            State::Float(values) | State::BestFloat(values) => {
                Vector::of(Values::Float(values.clone().into()))
            }
            State::Best(values) => Vector::of(narrowed(values, None)),
            State::Text(values) => {
                let array = StringViewArray::from_iter(values.iter().map(Option::as_deref));
                Vector {
                    nulls: arrow_array::Array::nulls(&array).cloned(),
                    values: Values::Text(Arc::new(array)),
                }
            }
        };
        let counts = self.counts.clone().map_or_else(nothing, numbers);
        [state, counts]
    }

    /// Takes the states of new groups, as [`Accumulator::columns`] gave them.
    fn restore(&mut self, state: &Vector, counts: &Vector) -> Result<()> {
        let wide = |values: &Values| match values {
            Values::Int(values) => Some(values.iter().map(|v| i128::from(*v)).collect()),
            Values::Wide(values) => Some(values.to_vec()),
            _ => None,
        };
        let mismatch = || Error::internal("states of another kind");
        match (&mut self.state, &state.values) {
            (State::Count, _) => {}
            (State::Sum(sum), values) => {
                sum.high = wide(values).ok_or_else(mismatch)?;
                sum.low = vec![0; sum.high.len()];
            }
            (State::Best(best), values) => *best = wide(values).ok_or_else(mismatch)?,
            (State::Float(all) | State::BestFloat(all), Values::Float(values)) => {
                self.infinite |= !values.iter().all(|value| value.is_finite());
                *all = values.to_vec();
            }
            (State::Text(all), Values::Text(array)) => {
                let texts = array.as_string_view().iter();
                self.text_bytes = texts.clone().flatten().map(str::len).sum();
                *all = texts.map(|text| text.map(Into::into)).collect();
            }
            _ => return Err(mismatch()),
        }
        self.counts = match &counts.values {
            Values::Int(values) if !values.is_empty() => Some(values.to_vec()),
            _ => None,
        };
        Ok(())
    }

    fn bytes(&self) -> usize {
        let state = match &self.state {
            State::Count => 0,
            State::Sum(sum) => sum.low.capacity() * 8 + sum.high.capacity() * 16,
            State::Float(values) | State::BestFloat(values) => values.capacity() * 8,
            State::Best(values) => values.capacity() * 16,
            State::Text(values) => values.capacity() * 16 + self.text_bytes,
        };
        state
            + self
                .counts
                .as_ref()
                .map_or(0, |counts| counts.capacity() * 8)
    }
}

impl<'a> GroupTable<'a> {
    /// About how many bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        let accumulators = self.accumulators.iter().map(Accumulator::bytes);
        let rest = self.led.as_ref().map_or(0, |(_, rest)| rest.bytes());
        rest + self.keys.bytes()
            + self.groups.bytes()
            + self.rows.capacity() * 8
            + accumulators.sum::<usize>()
    }

    /// All that is known of each partition's groups: keys, rows, two columns for every
    /// aggregate.
    pub fn parted(self, level: u32) -> Result<Vec<Batch>> {
        // All tables part their groups by the same hashes.
        let table = self.whole()?;
        let stride = table.keys.stride;
        let keys = table.groups.keys.chunks_exact(stride);
        let parts = parted(keys.map(|key| table.keys.content_hash(key)), level);
        let mut all = table.keys.columns(&table.groups.keys);
        all.rows = table.groups.len();
        all.columns.push(numbers(table.rows));
        all.columns
            .extend(table.accumulators.iter().flat_map(Accumulator::columns));
        parts.iter().map(|rows| all.take(rows)).collect()
    }

    /// The table of some groups, as [`GroupTable::parted`] gave them.
    pub fn restored(grouping: &'a Grouping, batch: &Batch) -> Result<GroupTable<'a>> {
        let mut table = GroupTable::of_whole_keys(grouping)?;
        let (keys, rest) = batch.columns.split_at(grouping.keys.len());
        if keys.iter().any(|key| key.nulls.is_some()) {
            table.allow_nulls();
        }
        let words = table.keys.words(keys, batch.rows)?;
        table.groups.find(&words);
        let mismatch = || Error::internal("groups that are not of their table");
        let (rows, states) = rest.split_first().ok_or_else(mismatch)?;
        let Values::Int(rows) = &rows.values else {
            return Err(mismatch());
        };
        if table.groups.len() != batch.rows || rows.len() != batch.rows {
            return Err(mismatch());
        }
        table.rows = rows.to_vec();
        for (accumulator, state) in table.accumulators.iter_mut().zip(states.chunks_exact(2)) {
            accumulator.restore(&state[0], &state[1])?;
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{Aggregate, Function, Lead, Parting};
    use crate::expression::Expression;
    use arrow_schema::DataType;
    use proptest::prelude::*;

    fn grouping() -> Grouping {
        let of = |function, column, input: DataType, kind: DataType| Aggregate {
            function,
            argument: Some(Expression::Column(column)),
            filter: None,
            input,
            kind,
        };
        let (int, text) = (DataType::Int64, DataType::Utf8View);
        Grouping {
            keys: vec![
                (Expression::Column(0), int.clone()),
                (Expression::Column(1), text.clone()),
            ],
            aggregates: vec![
                of(Function::Sum, 2, int.clone(), int.clone()),
                of(Function::Least, 2, int.clone(), int.clone()),
                of(Function::Count, 2, int.clone(), int.clone()),
                of(Function::Greatest, 1, text.clone(), text),
                of(Function::Sum, 3, DataType::Float64, DataType::Float64),
            ],
            lead: Lead::default(),
        }
    }

    fn batch(rows: &[(i8, u8, Option<i32>)]) -> Batch {
        let array = |values: arrow_array::ArrayRef| Vector::from_arrow(&values).unwrap();
        let texts = rows.iter().map(|(_, text, _)| match text % 5 {
            0 => None,
            text => Some(format!("a text that is longer than a view {text}")),
        });
        let values = rows.iter().map(|(_, _, value)| value.map(i64::from));
        Batch {
            columns: vec![
                array(Arc::new(arrow_array::Int64Array::from_iter_values(
                    rows.iter().map(|(key, _, _)| i64::from(*key / 8)),
                ))),
                array(Arc::new(StringViewArray::from_iter(texts))),
                array(Arc::new(arrow_array::Int64Array::from_iter(values))),
                array(Arc::new(arrow_array::Float64Array::from_iter_values(
                    rows.iter().map(|(key, _, _)| f64::from(*key)),
                ))),
            ],
            rows: rows.len(),
        }
    }

    /// Groups as text, in an order of their own.
    fn shown(table: GroupTable<'_>) -> Vec<String> {
        let kinds = [0, 1, 0, 0, 0, 1, 2];
        let kind = |number: i32| match number {
            0 => DataType::Int64,
            1 => DataType::Utf8View,
            _ => DataType::Float64,
        };
        let batch = table.finish().unwrap();
        let mut rows: Vec<String> = (0..batch.rows)
            .map(|row| {
                let cells = batch.columns.iter().zip(kinds);
                let cells = cells.map(|(column, number)| {
                    let array = column.slice(row, 1).to_arrow(&kind(number)).unwrap();
                    format!("{array:?}")
                });
                cells.collect()
            })
            .collect();
        rows.sort();
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        /// Groups that were set aside in parts and put together again are those of one table.
        #[test]
        fn parts_make_the_whole(
            batches in proptest::collection::vec(
                proptest::collection::vec(any::<(i8, u8, Option<i32>)>(), 1..80), 1..6),
            level in 0u32..5,
        ) {
            let grouping = grouping();
            let mut whole = GroupTable::new(&grouping).unwrap();
            let mut again = GroupTable::new(&grouping).unwrap();
            for rows in &batches {
                whole.add(batch(rows).into()).unwrap();
                let mut table = GroupTable::new(&grouping).unwrap();
                table.add(batch(rows).into()).unwrap();
                for part in table.parted(level).unwrap() {
                    let part = GroupTable::restored(&grouping, &part).unwrap();
                    prop_assert!(again.absorb(&part, &Parting::Whole, 0));
                }
            }
            prop_assert_eq!(shown(whole), shown(again));
        }
    }
}
