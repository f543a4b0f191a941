//! What is kept of each group for one aggregate.

use super::groups::NO_GROUP;
use super::{Aggregate, Function};
use crate::expression::one_nan;
use crate::kernels::{bounds, rows_of_group, sum_of_group};
use crate::vector::{Values, Vector, narrowed};
use crate::{Error, Result};
use arrow_array::StringViewArray;
use arrow_array::cast::AsArray;
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use std::sync::Arc;

/// So few groups are added up one after the other, which is done in wide instructions.
const FEW: usize = 12;

/// The state of one aggregate in all groups.
#[derive(Debug)]
pub(super) struct Accumulator {
    function: Function,
    kind: DataType,
    pub(super) state: State,
    /// Rows with a value, by group; `None` while every row had one.
    pub(super) counts: Option<Vec<i64>>,
    /// Bytes of the texts in `state`.
    pub(super) text_bytes: usize,
    /// Whether some of the floats were infinite or no number.
    pub(super) infinite: bool,
}

#[derive(Debug)]
pub(super) enum State {
    /// The count is all.
    Count,
    Sum(Sum),
    /// Sums of floats.
    Float(Vec<f64>),
    /// Least or greatest floats.
    BestFloat(Vec<f64>),
    /// Least or greatest numbers or truth values.
    Best(Vec<i128>),
    /// Least or greatest texts.
    Text(Vec<Option<Box<str>>>),
}

/// Sums in 64 bits, moved to 128 before they could leave them.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) low: Vec<i64>,
    pub(super) high: Vec<i128>,
    /// No value of `low` is further from 0.
    reach: u64,
}

impl Sum {
    /// Makes room for so many more.
    fn settle(&mut self, more: u64) {
        if self
            .reach
            .checked_add(more)
            .is_none_or(|reach| reach > i64::MAX as u64)
        {
            self.flush();
        }
        self.reach += more;
    }

    fn flush(&mut self) {
        self.high.resize(self.low.len(), 0);
        for (high, low) in self.high.iter_mut().zip(&mut self.low) {
            *high += i128::from(std::mem::take(low));
        }
        self.reach = 0;
    }

    pub(super) fn total(&self, group: usize) -> i128 {
        let high = self.high.get(group).copied().unwrap_or(0);
        high + i128::from(self.low[group])
    }

    fn add(&mut self, values: &Values, groups: &[u32], count: usize) -> Result<()> {
        match values {
            Values::Int(values) => {
                let (low, high) = bounds(values);
                let most = low.unsigned_abs().max(high.unsigned_abs());
                match most
                    .checked_mul(values.len() as u64)
                    .filter(|more| *more < 1 << 62)
                {
                    Some(more) => {
                        self.settle(more);
                        add_all(&mut self.low, values, groups, count);
                    }
                    None => self.add_wide(groups, |row| i128::from(values[row])),
                }
            }
            Values::Wide(values) => self.add_wide(groups, |row| values[row]),
            _ => return Err(Error::internal("a sum of what is no number")),
        }
        Ok(())
    }

    fn add_wide(&mut self, groups: &[u32], value: impl Fn(usize) -> i128) {
        self.flush();
        for (row, group) in groups.iter().enumerate() {
            if *group != NO_GROUP {
                let sum = &mut self.high[*group as usize];
                *sum = sum.saturating_add(value(row));
            }
        }
    }
}

fn add_all(sums: &mut [i64], values: &[i64], groups: &[u32], count: usize) {
    if count <= FEW {
        for (group, sum) in sums.iter_mut().enumerate().take(count) {
            *sum += sum_of_group(values, groups, group as u32);
        }
        return;
    }
    for (value, group) in values.iter().zip(groups) {
        if *group != NO_GROUP {
            sums[*group as usize] += value;
        }
    }
}

pub(super) fn count_all(counts: &mut [i64], groups: &[u32], count: usize) {
    if count <= FEW {
        for (group, rows) in counts.iter_mut().enumerate().take(count) {
            *rows += rows_of_group(groups, group as u32);
        }
        return;
    }
    for group in groups {
        if *group != NO_GROUP {
            counts[*group as usize] += 1;
        }
    }
}

impl Accumulator {
    pub fn new(aggregate: &Aggregate) -> Accumulator {
        let state = match (aggregate.function, &aggregate.input) {
            (Function::Count, _) => State::Count,
            (Function::Sum | Function::Average { .. }, DataType::Float64) => {
                State::Float(Vec::new())
            }
            (Function::Sum | Function::Average { .. }, _) => State::Sum(Sum::default()),
            (Function::Least | Function::Greatest, DataType::Float64) => {
                State::BestFloat(Vec::new())
            }
            (Function::Least | Function::Greatest, DataType::Utf8View | DataType::Utf8) => {
                State::Text(Vec::new())
            }
            (Function::Least | Function::Greatest, _) => State::Best(Vec::new()),
        };
        Accumulator {
            function: aggregate.function,
            kind: aggregate.kind.clone(),
            state,
            counts: None,
            text_bytes: 0,
            infinite: false,
        }
    }

    /// Makes room for so many groups.
    pub fn resize(&mut self, groups: usize) {
        if let Some(counts) = &mut self.counts {
            counts.resize(groups, 0);
        }
        let least = self.function == Function::Least;
        match &mut self.state {
            State::Count => {}
            State::Sum(sum) => {
                sum.low.resize(groups, 0);
                sum.high
                    .resize(if sum.high.is_empty() { 0 } else { groups }, 0);
            }
            State::Float(values) => values.resize(groups, 0.0),
            // Anything takes the place of these.
            State::BestFloat(values) => {
                let bits = if least { u64::MAX >> 1 } else { u64::MAX };
                values.resize(groups, f64::from_bits(bits));
            }
            State::Best(values) => {
                values.resize(groups, if least { i128::MAX } else { i128::MIN });
            }
            State::Text(values) => values.resize(groups, None),
        }
    }

    /// Whether `new` takes the place of `old`.
    fn better(function: Function, order: std::cmp::Ordering) -> bool {
        match function {
            Function::Least => order.is_lt(),
            _ => order.is_gt(),
        }
    }

    /// Takes in the values of some rows; `groups` has the group of each, [`NO_GROUP`]
    /// for those that are left out, NULLs among them. Where some are, `before` has the
    /// rows that each group had so far.
    pub fn add(
        &mut self,
        vector: Option<&Vector>,
        groups: &[u32],
        count: usize,
        before: Option<&[i64]>,
    ) -> Result<()> {
        let mismatch = || Error::internal("an aggregate of values of another kind");
        let function = self.function;
        match (&mut self.state, vector.map(|vector| &vector.values)) {
            (State::Count, _) => {}
            (State::Sum(sum), Some(values)) => sum.add(values, groups, count)?,
            (State::Float(sums), Some(Values::Float(values))) => {
                self.infinite |= !values.iter().all(|value| value.is_finite());
                for (value, group) in values.iter().zip(groups) {
                    if let Some(sum) = sums.get_mut(*group as usize) {
                        *sum += value;
                    }
                }
            }
            (State::BestFloat(best), Some(Values::Float(values))) => {
                for (value, group) in values.iter().zip(groups) {
                    if let Some(old) = best.get_mut(*group as usize)
                        && Self::better(function, value.total_cmp(old))
                    {
                        *old = *value;
                    }
                }
            }
            (State::Best(best), Some(values)) => {
                let value = |row: usize| match values {
                    Values::Int(values) => Some(i128::from(values[row])),
                    Values::Wide(values) => Some(values[row]),
                    Values::Bool(bits) => Some(i128::from(bits.value(row))),
                    _ => None,
                };
                for (row, group) in groups.iter().enumerate() {
                    let value = value(row).ok_or_else(mismatch)?;
                    if let Some(old) = best.get_mut(*group as usize)
                        && Self::better(function, value.cmp(old))
                    {
                        *old = value;
                    }
                }
            }
            (State::Text(best), Some(_)) => {
                let array = vector.ok_or_else(mismatch)?.to_arrow(&DataType::Utf8View)?;
                let text = array.as_string_view();
                for (row, group) in groups.iter().enumerate() {
                    let Some(old) = best.get_mut(*group as usize) else {
                        continue;
                    };
                    let value = text.value(row);
                    if old
                        .as_deref()
                        .is_none_or(|old| Self::better(function, value.cmp(old)))
                    {
                        self.text_bytes += value.len();
                        self.text_bytes -= old.as_ref().map_or(0, |old| old.len());
                        *old = Some(value.into());
                    }
                }
            }
            _ => return Err(mismatch()),
        }
        if let (None, Some(before)) = (&self.counts, before) {
            let mut counts = before.to_vec();
            counts.resize(count, 0);
            self.counts = Some(counts);
        }
        if let Some(counts) = &mut self.counts {
            count_all(counts, groups, count);
        }
        Ok(())
    }

    /// Takes in groups of another: pairs of a group of `other` and one of this; with
    /// the rows of all groups of both.
    pub fn merge(
        &mut self,
        other: &Accumulator,
        pairs: &[(u32, u32)],
        (own_rows, other_rows): (&[i64], &[i64]),
    ) {
        let function = self.function;
        if let State::Sum(sums) = &mut self.state {
            sums.flush();
        }
        if let (None, Some(_)) = (&self.counts, &other.counts) {
            self.counts = Some(own_rows.to_vec());
        }
        self.infinite |= other.infinite;
        let theirs = other.counts.as_deref().unwrap_or(other_rows);
        for (from, to) in pairs
            .iter()
            .map(|(from, to)| (*from as usize, *to as usize))
        {
            if theirs[from] == 0 {
                continue;
            }
            match (&mut self.state, &other.state) {
                (State::Sum(sums), State::Sum(more)) => {
                    let high = &mut sums.high[to];
                    *high = high.saturating_add(more.total(from));
                }
                (State::Float(values), State::Float(more)) => values[to] += more[from],
                (State::BestFloat(values), State::BestFloat(more))
                    if Self::better(function, more[from].total_cmp(&values[to])) =>
                {
                    values[to] = more[from];
                }
                (State::Best(values), State::Best(more))
                    if Self::better(function, more[from].cmp(&values[to])) =>
                {
                    values[to] = more[from];
                }
                (State::Text(values), State::Text(more))
                    if values[to].is_none()
                        || Self::better(function, more[from].cmp(&values[to])) =>
                {
                    let len = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
                    self.text_bytes = self.text_bytes + len(&more[from]) - len(&values[to]);
                    values[to] = more[from].clone();
                }
                _ => {}
            }
            if let Some(counts) = &mut self.counts {
                counts[to] += theirs[from];
            }
        }
    }

    /// The results of all groups, of which each has so many rows.
    ///
    /// # Errors
    /// Sums and averages outside their type.
    pub fn finish(self, rows_of_groups: &[i64]) -> Result<Vector> {
        let counts = self.counts.as_deref().unwrap_or(rows_of_groups);
        let rows = counts.len();
        if matches!(self.state, State::Count) {
            return Ok(Vector::of(Values::Int(counts.to_vec().into())));
        }
        let nulls = NullBuffer::new(BooleanBuffer::collect_bool(rows, |row| counts[row] > 0));
        let nulls = (nulls.null_count() > 0).then_some(nulls);
        if let State::Float(sums) = &self.state
            && !self.infinite
            && sums
                .iter()
                .zip(counts)
                .any(|(sum, rows)| *rows > 0 && !sum.is_finite())
        {
            return Err(Error::OutOfRange("double precision".into()));
        }
        let values = match (self.state, self.function) {
            (State::Sum(sum), Function::Average { factor }) => {
                let average = |row: usize| -> Result<i128> {
                    let scaled = sum.total(row).checked_mul(factor);
                    let scaled = scaled.ok_or_else(|| Error::OutOfRange("decimal".into()))?;
                    Ok(scaled / i128::from(counts[row].max(1)))
                };
                let averages = (0..rows).map(average).collect::<Result<Vec<i128>>>()?;
                narrowed(&averages, None)
            }
            (State::Sum(sum), _) if sum.high.is_empty() => Values::Int(sum.low.into()),
            (State::Sum(sum), _) => {
                let sums: Vec<i128> = (0..rows).map(|row| sum.total(row)).collect();
                if self.kind == DataType::Int64 && sums.iter().any(|v| i64::try_from(*v).is_err()) {
                    return Err(Error::OutOfRange("bigint".into()));
                }
                // Where sums stop when they have left 128 bits.
                if sums
                    .iter()
                    .any(|sum| *sum == i128::MAX || *sum == i128::MIN)
                {
                    return Err(Error::OutOfRange("decimal".into()));
                }
                narrowed(&sums, None)
            }
            (State::Float(sums), Function::Average { .. }) => {
                let pairs = sums.iter().zip(counts);
                Values::Float(
                    pairs
                        .map(|(sum, rows)| one_nan(sum / *rows as f64))
                        .collect::<Vec<f64>>()
                        .into(),
                )
            }
            (State::Float(sums), _) => {
                Values::Float(sums.into_iter().map(one_nan).collect::<Vec<f64>>().into())
            }
            (State::BestFloat(values), _) => Values::Float(values.into()),
            (State::Best(values), _) if self.kind == DataType::Boolean => {
                Values::Bool(BooleanBuffer::collect_bool(rows, |row| values[row] == 1))
            }
            (State::Best(mut values), _) => {
                // What groups without a value hold is no value.
                let empty = counts
                    .iter()
                    .zip(&mut values)
                    .filter(|(rows, _)| **rows == 0);
                empty.for_each(|(_, value)| *value = 0);
                narrowed(&values, None)
            }
            (State::Text(values), _) => {
                let text = values.iter().map(|value| value.as_deref().unwrap_or(""));
                Values::Text(Arc::new(StringViewArray::from_iter_values(text)))
            }
            (State::Count, _) => return Err(Error::internal("a count without values")),
        };
        Ok(Vector { values, nulls })
    }
}
