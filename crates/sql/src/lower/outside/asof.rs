//! ASOF JOIN: each row of the left side with the nearest row of the right one.
//!
//! ```text
//! trades ASOF JOIN quotes ON trades.symbol = quotes.symbol AND trades.at >= quotes.at
//! ```
//!
//! Rows of the right side are kept by the values of the equalities, each group in the order of
//! the value that is compared; a row of the left side finds its own by bisection.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use freestone_exec as exec;
use freestone_exec::vector::Batch;
use freestone_exec::{Gathered, Inside, Operator, Out, Working};
use freestone_frontend::types::Type;

use super::super::canonical::{Encoder, Row};
use super::{Held, arrays, batch, other, whole};
use crate::error::Result;

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
    /// Arrow types of all columns of each side.
    pub(in super::super) kinds: [Vec<DataType>; 2],
    /// Types of the values, that of the inequality last.
    pub(in super::super) types: Vec<Type>,
}

/// The right side.
struct Side<'a> {
    of: &'a AsOf,
    /// The columns that it gives.
    columns: Vec<ArrayRef>,
    /// Values that are compared, and their rows, by the values of the equalities.
    groups: HashMap<Option<Row>, Vec<(Row, u64)>>,
    _held: Held,
}

impl Operator for AsOf {
    fn name(&self) -> &'static str {
        "asof join"
    }

    fn describe(&self) -> String {
        format!("{:?}", self.near)
    }

    fn is_parallel(&self) -> bool {
        true
    }

    fn begin(
        &self,
        beside: Vec<Gathered>,
        run: &dyn Inside,
    ) -> exec::Result<Box<dyn Working + '_>> {
        let right = beside.first();
        let right = right.ok_or_else(|| exec::Error::internal("a join without its right side"))?;
        let mut held = Held::new("ASOF JOIN", run);
        let mut columns = whole(right, &self.kinds[1], &mut held, run)?;
        let keys = keys(&self.types, &columns[self.columns[1]..]).map_err(other)?;
        columns.truncate(self.columns[1]);
        let mut groups: HashMap<Option<Row>, Vec<(Row, u64)>> = HashMap::new();
        let mut bytes = 0;
        for (at, key) in keys.into_iter().enumerate() {
            if let Some((group, value)) = key {
                bytes += 2 * size_of::<Row>() + value.as_ref().len() + 16;
                groups.entry(group).or_default().push((value, at as u64));
            }
        }
        held.grow(bytes, run)?;
        for group in groups.values_mut() {
            group.sort();
        }
        Ok(Box::new(Side {
            of: self,
            columns,
            groups,
            _held: held,
        }))
    }
}

impl Working for Side<'_> {
    fn push(&self, rows: Batch, _: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        let of = self.of;
        let left = arrays(&rows, &of.kinds[0])?;
        let keys = keys(&of.types, &left[of.columns[0]..]).map_err(other)?;
        let (mut here, mut there) = (Vec::new(), Vec::new());
        for (at, key) in keys.into_iter().enumerate() {
            let place =
                key.and_then(|(group, value)| nearest(self.groups.get(&group)?, &value, of.near));
            if place.is_some() || of.outer {
                here.push(at as u64);
                there.push(place);
            }
        }
        let rows = here.len();
        let (here, there) = (UInt64Array::from(here), UInt64Array::from(there));
        let mut columns = Vec::with_capacity(of.columns[0] + of.columns[1]);
        for column in &left[..of.columns[0]] {
            columns.push(take(column, &here, None)?);
        }
        for column in &self.columns {
            columns.push(take(column, &there, None)?);
        }
        out(batch(&columns, rows)?)
    }
}

/// The bytes of a row's equal values and of the one that is compared; `None` where one is NULL.
type Keys = Option<(Option<Row>, Row)>;

/// The keys of each row.
fn keys(types: &[Type], columns: &[ArrayRef]) -> Result<Vec<Keys>> {
    let (Some((value, equal)), Some((value_type, types))) =
        (columns.split_last(), types.split_last())
    else {
        return Ok(Vec::new());
    };
    let mut encoder = Encoder::new(types.to_vec());
    let groups = match equal.is_empty() {
        true => None,
        false => Some(encoder.rows(equal)?),
    };
    let mut encoder = Encoder::new(vec![value_type.clone()]);
    let values = encoder.rows(std::slice::from_ref(value))?;
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
