//! The first rows of an order, with their peers.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use super::super::operator::{Batches, Key, Operator, Run, later, whole};
use crate::error::{Error, Result};

/// How many rows are given.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Most {
    /// All.
    All,
    /// So many.
    Rows(usize),
    /// A share of them.
    Share(f64),
}

/// The numbers of LIMIT and OFFSET.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Bounds {
    /// Known when the plan is made.
    Known {
        /// Rows passed over.
        skip: usize,
        /// Rows given.
        most: Most,
    },
    /// The only row of a second input: LIMIT, then OFFSET.
    Computed {
        /// Whether LIMIT is a share of all rows.
        percent: bool,
    },
}

/// A share of all rows, given in percent.
///
/// # Errors
/// `2201W` out of range.
pub(in super::super) fn share_of(percent: f64) -> Result<Most> {
    match (0.0..=100.0).contains(&percent) {
        true => Ok(Most::Share(percent / 100.0)),
        false => Err(Error::new(
            "2201W",
            "a share of rows must be between 0 and 100 percent",
        )),
    }
}

/// The numbers of a row with LIMIT and OFFSET.
fn computed(row: &RecordBatch, percent: bool) -> Result<(usize, Most)> {
    let rows = |column: usize, code: &str, word: &str| {
        let array = row.column(column).as_primitive_opt::<Int64Type>();
        let array = array.filter(|array| array.len() == 1);
        let array = array.ok_or_else(|| Error::internal("a limit of another type"))?;
        match array.is_valid(0).then(|| array.value(0)) {
            None => Ok(None),
            Some(rows) => usize::try_from(rows)
                .map(Some)
                .map_err(|_| Error::new(code, format!("{word} must not be negative"))),
        }
    };
    let skip = rows(1, "2201X", "OFFSET")?.unwrap_or(0);
    let most = match percent {
        true => super::number(row.column(0)).map_or(Ok(Most::All), share_of)?,
        false => rows(0, "2201W", "LIMIT")?.map_or(Most::All, Most::Rows),
    };
    Ok((skip, most))
}

/// The batches of a stream up to that with the row of a number, counted from 1.
fn until(input: SendableRecordBatchStream, rows: usize) -> SendableRecordBatchStream {
    let schema = input.schema();
    let batches = input.scan(0, move |seen, batch| {
        let more = *seen < rows;
        *seen += batch.as_ref().map_or(0, RecordBatch::num_rows);
        futures::future::ready(more.then_some(batch))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, batches))
}

/// The first rows of an order, with the peers of the last one or as a share of all.
#[derive(Debug)]
pub(in super::super) struct Cut {
    /// Rows passed over, and rows given.
    pub(in super::super) bounds: Bounds,
    /// Columns of the result; keys come after them.
    pub(in super::super) columns: usize,
    /// The order.
    pub(in super::super) order: Vec<Key>,
    /// Whether peers of the last row come, too.
    pub(in super::super) ties: bool,
}

impl Operator for Cut {
    fn name(&self) -> &'static str {
        "FirstRows"
    }

    fn describe(&self) -> String {
        let ties = if self.ties { " with ties" } else { "" };
        let Bounds::Known { skip, most } = self.bounds else {
            return format!("as many as the second input says{ties}");
        };
        let most = match most {
            Most::All => "all".to_owned(),
            Most::Rows(rows) => format!("{rows} rows"),
            Most::Share(share) => format!("{} percent", share * 100.0),
        };
        format!("{most}{ties}, skip={skip}")
    }

    fn order(&self, input: usize) -> Vec<Key> {
        match input {
            0 => self.order.clone(),
            _ => Vec::new(),
        }
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let (bounds, columns) = (self.bounds, self.columns);
        let keys = self.order.iter().map(|(place, _)| *place);
        let keys: Option<Vec<usize>> = self.ties.then(|| keys.collect());
        let memory = run.memory();
        Ok(later(async move {
            let mut inputs = inputs.into_iter();
            let Some(input) = inputs.next() else {
                return Ok(Vec::new().into_iter());
            };
            let (skip, most) = match (bounds, inputs.next()) {
                (Bounds::Known { skip, most }, _) => (skip, most),
                (Bounds::Computed { percent }, Some(numbers)) => {
                    computed(&whole(numbers, &memory).await?, percent)?
                }
                (Bounds::Computed { .. }, None) => {
                    return Err(Error::internal("a limit without its numbers").into());
                }
            };
            let input = match most {
                // No row is computed if none is wanted.
                Most::Rows(0) => return Ok(Vec::new().into_iter()),
                Most::Rows(most) if keys.is_none() => until(input, skip.saturating_add(most)),
                _ => input,
            };
            let all = whole(input, &memory).await?;
            let rows = all.num_rows();
            let first = skip.min(rows);
            let most = match most {
                Most::All => rows,
                Most::Rows(most) => most,
                Most::Share(share) => (share * rows as f64).ceil() as usize,
            };
            let mut last = first.saturating_add(most).min(rows);
            if let Some(keys) = keys.filter(|_| last > first && last < rows) {
                let keys = keys.iter().map(|at| Arc::clone(all.column(*at)));
                let keys: Vec<_> = keys.collect();
                let fields = keys.iter();
                let fields = fields.map(|key| SortField::new(key.data_type().clone()));
                let values = RowConverter::new(fields.collect())?.convert_columns(&keys)?;
                while last < rows && values.row(last) == values.row(last - 1) {
                    last += 1;
                }
            }
            let chosen = all.slice(first, last - first);
            let given = chosen.columns().iter().take(columns).cloned();
            let batch = run.batch(given.collect(), chosen.num_rows())?;
            Ok(vec![Ok(batch)].into_iter())
        }))
    }
}
