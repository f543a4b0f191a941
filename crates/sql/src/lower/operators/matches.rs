//! Joins that give a column to each row of the left side: the only row of the right side that
//! matches (`Single`, of scalar sub-queries) or whether one does (`Mark`, of IN and its kin), by
//! three-valued logic.
//!
//! ```text
//! x IN (SELECT y …)     TRUE   if some y equals x
//!                       NULL   else if some comparison is NULL
//!                       FALSE  else, and if there are no rows
//! ```
//!
//! Equalities find rows by a table of the right side's values. Other conditions are evaluated
//! with the left row's values for all rows of the right side that the equalities leave.

use std::collections::HashMap;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, RecordBatch, UInt32Array, UInt64Array, cast::AsArray,
};
use datafusion::arrow::compute::take;
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use freestone_frontend::functions::kernel::{Column as Values, repeated};
use freestone_frontend::plan::{ColumnId, Expr as Bound};
use freestone_frontend::types::Type;
use futures::StreamExt;

use super::super::canonical::{Encoder, Row};
use super::super::operator::{Batches, Operator, Run, later, whole};
use super::super::{Surroundings, evaluated};
use crate::error::{Error, Result};
use crate::values::buffers::Counted;

/// Answers that are remembered; then all are forgotten.
const REMEMBERED: usize = 65_536;

/// See the module.
#[derive(Clone, Debug)]
pub(in super::super) struct Matches {
    /// Whether a truth value is given, not the row.
    pub(in super::super) mark: bool,
    /// Columns that the sides give; after them come the values of the equalities, then those of
    /// the columns that other conditions read.
    pub(in super::super) columns: [usize; 2],
    /// Types of the equalities' values.
    pub(in super::super) equal: Vec<Type>,
    /// Whether each is NULL where a value is; in the others NULLs are equal.
    pub(in super::super) strict: Vec<bool>,
    /// Other conditions, and the columns of each side that they read.
    pub(in super::super) rest: Option<Bound>,
    pub(in super::super) read: [Vec<ColumnId>; 2],
    pub(in super::super) around: Surroundings,
}

impl Operator for Matches {
    fn name(&self) -> &'static str {
        if self.mark { "MarkJoin" } else { "SingleJoin" }
    }

    fn describe(&self) -> String {
        let rest = if self.rest.is_some() {
            ", a condition"
        } else {
            ""
        };
        format!("{} equalities{rest}", self.equal.len())
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
            let mut side = Side::new(node, right)?;
            memory.try_grow(side.bytes)?;
            let (mut given, mut counted) = (Vec::new(), Counted::default());
            while let Some(batch) = left.next().await {
                let batch = side.batch(&batch?, &run)?;
                memory.try_grow(counted.bytes(&batch))?;
                given.push(Ok(batch));
                tokio::task::yield_now().await;
            }
            Ok(given.into_iter())
        }))
    }
}

/// The right side, by its values.
struct Side {
    node: Matches,
    right: RecordBatch,
    encoder: Encoder,
    /// Rows without NULLs among the values, by these.
    table: HashMap<Row, Vec<u32>>,
    /// Rows with a NULL among them.
    null: Vec<u32>,
    /// Each value by itself, for rows with NULLs.
    singles: Vec<Encoder>,
    /// The bytes of each value of each row.
    parts: Vec<Vec<Option<Row>>>,
    /// Answers to combinations of left values.
    known: HashMap<Row, Found>,
    bytes: usize,
}

/// What a left row gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Row(u32),
    Several,
    Unknown,
    Nothing,
}

impl Side {
    fn new(node: Matches, right: RecordBatch) -> Result<Self> {
        let mut encoder = Encoder::new(node.equal.clone());
        let mut singles: Vec<Encoder> = node
            .equal
            .iter()
            .map(|ty| Encoder::new(vec![ty.clone()]))
            .collect();
        let first = node.columns[1];
        let values = right.columns()[first..first + node.equal.len()].to_vec();
        let mut table: HashMap<Row, Vec<u32>> = HashMap::new();
        let (mut null, mut bytes) = (Vec::new(), 0);
        let mut parts = Vec::new();
        if !values.is_empty() {
            let rows = encoder.rows(&values)?;
            for at in 0..right.num_rows() {
                if is_null(&node.strict, &values, at) {
                    null.push(at as u32);
                    continue;
                }
                let row = rows.row(at).owned();
                bytes += size_of::<Row>() + row.as_ref().len() + 40;
                table.entry(row).or_default().push(at as u32);
            }
            if node.mark {
                for (value, encoder) in values.iter().zip(&mut singles) {
                    parts.push(pieces(encoder, value)?);
                    bytes += 48 * value.len();
                }
            }
        }
        Ok(Self {
            encoder,
            table,
            null,
            singles,
            parts,
            known: HashMap::new(),
            right,
            bytes,
            node,
        })
    }

    fn batch(&mut self, left: &RecordBatch, run: &Run) -> DfResult<RecordBatch> {
        let rows = left.num_rows();
        let first = self.node.columns[0];
        let width = self.node.equal.len();
        let values = left.columns()[first..first + width].to_vec();
        // A side without any of these columns has others, which nobody reads.
        let first_read = first + width;
        let last_read = first_read + self.node.read[0].len();
        let read = left.columns()[first_read..last_read].to_vec();
        let keys = match values.is_empty() {
            true => None,
            false => Some(self.encoder.rows(&values)?),
        };
        let pieces = match self.node.mark && !self.parts.is_empty() {
            true => values
                .iter()
                .zip(&mut self.singles)
                .map(|(value, encoder)| pieces(encoder, value))
                .collect::<Result<Vec<_>>>()?,
            false => Vec::new(),
        };
        let mut found = Vec::with_capacity(rows);
        for at in 0..rows {
            let null = is_null(&self.node.strict, &values, at);
            let key = keys.as_ref().map(|keys| keys.row(at).owned());
            found.push(match (&self.node.rest, key) {
                (Some(rest), key) => {
                    let read: Vec<ArrayRef> = read.iter().map(|value| value.slice(at, 1)).collect();
                    // Of a mark none is strict: rows that they leave out are FALSE.
                    let places = match (&key, null) {
                        (None, _) => None,
                        (Some(_), true) => Some(Vec::new()),
                        (Some(key), false) => {
                            Some(self.table.get(key).cloned().unwrap_or_default())
                        }
                    };
                    self.by_condition(rest, places, &read)?
                }
                (None, None) => match self.right.num_rows() {
                    0 => Found::Nothing,
                    1 => Found::Row(0),
                    _ => Found::Several,
                },
                (None, Some(key)) => {
                    if let Some(known) = self.known.get(&key) {
                        found.push(*known);
                        continue;
                    }
                    let own: Vec<Option<&Row>> =
                        pieces.iter().map(|piece| piece[at].as_ref()).collect();
                    let answer = self.by_equality(&key, null, &own);
                    if self.known.len() >= REMEMBERED {
                        self.known.clear();
                    }
                    self.known.insert(key, answer);
                    answer
                }
            });
        }
        let mut columns: Vec<ArrayRef> = left.columns()[..first].to_vec();
        if self.node.mark {
            let marks = found.iter().map(|found| match found {
                Found::Row(_) | Found::Several => Some(true),
                Found::Unknown => None,
                Found::Nothing => Some(false),
            });
            columns.push(std::sync::Arc::new(marks.collect::<BooleanArray>()));
        } else {
            if found.contains(&Found::Several) {
                return Err(super::several().into());
            }
            let places = found.iter().map(|found| match found {
                Found::Row(at) => Some(u64::from(*at)),
                _ => None,
            });
            let places: UInt64Array = places.collect();
            for column in &self.right.columns()[..self.node.columns[1]] {
                columns.push(take(column, &places, None)?);
            }
        }
        run.batch(columns, rows)
    }

    /// What the equalities say of a left row's values.
    fn by_equality(&self, key: &Row, null: bool, own: &[Option<&Row>]) -> Found {
        if !null && let Some(rows) = self.table.get(key) {
            return match rows.as_slice() {
                [only] => Found::Row(*only),
                _ => Found::Several,
            };
        }
        if !self.node.mark {
            return Found::Nothing;
        }
        // No comparison may be FALSE of a row for which the whole is NULL.
        let unknown = |at: usize| {
            let pairs = own.iter().zip(&self.parts).zip(&self.node.strict);
            pairs.into_iter().all(|((own, parts), strict)| {
                match (own, parts.get(at).and_then(Option::as_ref)) {
                    (Some(own), Some(other)) => *own == other,
                    (None, None) => true,
                    _ => *strict,
                }
            })
        };
        let found = match null {
            true => (0..self.right.num_rows()).any(unknown),
            false => self.null.iter().any(|at| unknown(*at as usize)),
        };
        match found {
            true => Found::Unknown,
            false => Found::Nothing,
        }
    }

    /// What a condition says of a left row; `places` are the rows to be asked, or all.
    fn by_condition(
        &self,
        rest: &Bound,
        places: Option<Vec<u32>>,
        read: &[ArrayRef],
    ) -> Result<Found> {
        let first_read = self.node.columns[1] + self.node.equal.len();
        let last_read = first_read + self.node.read[1].len();
        let right = &self.right.columns()[first_read..last_read];
        let rows = places.as_ref().map_or(self.right.num_rows(), Vec::len);
        if rows == 0 {
            return Ok(Found::Nothing);
        }
        let mut columns: Vec<Values> = read.iter().cloned().map(Values::constant).collect();
        for value in right {
            columns.push(Values::rows(match &places {
                Some(places) => take(value, &UInt32Array::from(places.clone()), None)?,
                None => std::sync::Arc::clone(value),
            }));
        }
        let ids: Vec<ColumnId> = self.node.read.iter().flatten().copied().collect();
        let value = evaluated::values(rest, &ids, &columns, rows, &self.node.around)?;
        let value = repeated(value.array, rows);
        let truth = value.as_boolean_opt();
        let truth = truth.ok_or_else(|| Error::internal("a condition that is no truth value"))?;
        let mut answer = Found::Nothing;
        for at in 0..truth.len() {
            if truth.is_null(at) {
                if answer == Found::Nothing {
                    answer = Found::Unknown;
                }
                continue;
            }
            if truth.value(at) {
                let place = places.as_ref().map_or(at as u32, |places| places[at]);
                answer = match answer {
                    Found::Row(_) => return Ok(Found::Several),
                    _ if self.node.mark => return Ok(Found::Row(place)),
                    _ => Found::Row(place),
                };
            }
        }
        Ok(answer)
    }
}

/// Whether a value of a strict equality is NULL.
fn is_null(strict: &[bool], values: &[ArrayRef], at: usize) -> bool {
    let mut pairs = strict.iter().zip(values);
    pairs.any(|(strict, value)| *strict && value.is_null(at))
}

/// The bytes of each value, `None` for NULL.
fn pieces(encoder: &mut Encoder, value: &ArrayRef) -> Result<Vec<Option<Row>>> {
    let rows = encoder.rows(std::slice::from_ref(value))?;
    let pieces = (0..value.len()).map(|at| value.is_valid(at).then(|| rows.row(at).owned()));
    Ok(pieces.collect())
}
