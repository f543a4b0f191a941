//! ASOF JOIN: each row of the left side with the nearest row of the right one.
//!
//! ```text
//! trades ASOF JOIN quotes ON trades.symbol = quotes.symbol AND trades.at >= quotes.at
//! ```
//!
//! Rows of the right side are kept by the values of the equalities, each group in the order of
//! the value that is compared; a row of the left side finds its own by bisection.

use std::collections::HashMap;

use datafusion::arrow::array::{Array, ArrayRef, UInt64Array};
use datafusion::arrow::compute::take;
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use freestone_frontend::types::Type;
use futures::StreamExt;

use super::super::canonical::{Encoder, Row};
use super::super::operator::{Batches, Operator, Run, later, whole};
use crate::values::buffers::Counted;

/// Which row of the right side is the nearest.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Near {
    /// The last one before the left side's value, or at it.
    Before {
        /// Whether one at it will do.
        equal: bool,
    },
    /// The first one after it, or at it.
    After {
        /// Whether one at it will do.
        equal: bool,
    },
}

/// See the module.
#[derive(Clone, Debug)]
pub(in super::super) struct AsOf {
    pub(in super::super) near: Near,
    /// Whether rows of the left side without one come, too.
    pub(in super::super) outer: bool,
    /// Columns that the sides give; after them come the values that are compared.
    pub(in super::super) columns: [usize; 2],
    /// Types of these, that of the inequality last.
    pub(in super::super) types: Vec<Type>,
}

impl Operator for AsOf {
    fn name(&self) -> &'static str {
        "AsOfJoin"
    }

    fn describe(&self) -> String {
        format!("{:?}", self.near)
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let node = self.clone();
        let memory = run.memory();
        Ok(later(async move {
            let mut inputs = inputs.into_iter();
            let (Some(mut left), Some(right)) = (inputs.next(), inputs.next()) else {
                return Ok(Vec::new().into_iter());
            };
            let right = whole(right, &memory).await?;
            let Some((value, equal)) = node.types.split_last() else {
                return Ok(Vec::new().into_iter());
            };
            let mut encoders = [
                Encoder::new(equal.to_vec()),
                Encoder::new(vec![value.clone()]),
            ];
            let found = keys(&mut encoders, &right.columns()[node.columns[1]..])?;
            let mut groups: HashMap<Option<Row>, Vec<(Row, u64)>> = HashMap::new();
            let mut bytes = 0;
            for (at, key) in found.into_iter().enumerate() {
                if let Some((group, value)) = key {
                    bytes += 2 * size_of::<Row>() + value.as_ref().len() + 16;
                    groups.entry(group).or_default().push((value, at as u64));
                }
            }
            memory.try_grow(bytes)?;
            for group in groups.values_mut() {
                group.sort();
            }
            let (mut given, mut counted) = (Vec::new(), Counted::default());
            while let Some(batch) = left.next().await {
                let batch = batch?;
                let found = keys(&mut encoders, &batch.columns()[node.columns[0]..])?;
                let (mut here, mut there) = (Vec::new(), Vec::new());
                for (at, key) in found.into_iter().enumerate() {
                    let place = key
                        .and_then(|(group, value)| nearest(groups.get(&group)?, &value, node.near));
                    if place.is_some() || node.outer {
                        here.push(at as u64);
                        there.push(place);
                    }
                }
                let rows = here.len();
                let (here, there) = (UInt64Array::from(here), UInt64Array::from(there));
                let mut columns = Vec::new();
                for column in &batch.columns()[..node.columns[0]] {
                    columns.push(take(column, &here, None)?);
                }
                for column in &right.columns()[..node.columns[1]] {
                    columns.push(take(column, &there, None)?);
                }
                let batch = run.batch(columns, rows)?;
                memory.try_grow(counted.bytes(&batch))?;
                given.push(Ok(batch));
                tokio::task::yield_now().await;
            }
            Ok(given.into_iter())
        }))
    }
}

/// The bytes of a row's equal values and of the one that is compared; `None` where one is NULL.
type Keys = Option<(Option<Row>, Row)>;

/// The keys of each row.
fn keys(encoders: &mut [Encoder; 2], columns: &[ArrayRef]) -> DfResult<Vec<Keys>> {
    let Some((value, equal)) = columns.split_last() else {
        return Ok(Vec::new());
    };
    let groups = match equal.is_empty() {
        true => None,
        false => Some(encoders[0].rows(equal)?),
    };
    let values = encoders[1].rows(std::slice::from_ref(value))?;
    let mut keys = Vec::with_capacity(value.len());
    for at in 0..value.len() {
        if columns.iter().any(|column| column.is_null(at)) {
            keys.push(None);
            continue;
        }
        let own = values.row(at).owned();
        let group = groups.as_ref().map(|groups| groups.row(at).owned());
        keys.push(Some((group, own)));
    }
    Ok(keys)
}

fn nearest(group: &[(Row, u64)], value: &Row, near: Near) -> Option<u64> {
    let place = match near {
        Near::Before { equal: true } => group.partition_point(|(v, _)| v <= value).checked_sub(1),
        Near::Before { equal: false } => group.partition_point(|(v, _)| v < value).checked_sub(1),
        Near::After { equal: true } => Some(group.partition_point(|(v, _)| v < value)),
        Near::After { equal: false } => Some(group.partition_point(|(v, _)| v <= value)),
    };
    group.get(place?).map(|(_, at)| *at)
}
