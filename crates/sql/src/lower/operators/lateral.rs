//! A join whose right side depends on the left one, and that no rewriting has made a plain one.
//!
//! For each combination of the values that the right side reads, its plan is run with the values
//! in the columns' places. Results are remembered, for values come again. A right side that reads
//! no table, such as `LATERAL (VALUES …)`, is run by the front's interpreter: there are few rows,
//! for which a plan would take longer to make than to run.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, RecordBatch, UInt64Array, cast::AsArray, new_null_array,
};
use datafusion::arrow::compute::{concat, take};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::execute_stream;
use freestone_frontend::plan::{Column, CteId, Expr as Bound, ExprKind, Plan, Relation};
use freestone_frontend::{interrupt, reference};
use futures::StreamExt;

use super::super::canonical::{Encoder, Row};
use super::super::operator::{Batches, Operator, Run, batch};
use super::super::shared::Shared;
use super::super::{Surroundings, lowered_within};
use crate::engine::planned;
use crate::error::Error;
use crate::values::buffers::{Counted, concatenated};
use crate::values::with_kind;

/// The interpreter's refusals of too many rows, and of a plan too deep for the stack.
const TOO_MUCH: [&str; 2] = ["54000", "54001"];
/// Results that are remembered; then all are forgotten.
const REMEMBERED: usize = 65_536;

/// Which rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Pairs {
    /// Pairs.
    Inner,
    /// Pairs, and left rows without one.
    Left,
    /// Left rows with one.
    Semi,
    /// Left rows without one.
    Anti,
    /// Left rows with the only one, or with NULLs.
    Single,
    /// Left rows, and whether the condition, the right side's only column, holds for any of its
    /// rows; without one, whether there are any.
    Mark {
        /// Whether there is one.
        condition: bool,
    },
}

/// See the module.
#[derive(Clone, Debug)]
pub(in super::super) struct Lateral {
    pub(in super::super) pairs: Pairs,
    /// Columns of the left side; after them come the values that the right side reads.
    pub(in super::super) columns: usize,
    /// The columns that these are.
    pub(in super::super) outer: Vec<Column>,
    /// Arrow types of the columns that the right side gives.
    pub(in super::super) given: Vec<DataType>,
    /// The right side.
    pub(in super::super) plan: Plan,
    pub(in super::super) around: Surroundings,
    pub(in super::super) tables: HashMap<CteId, Shared>,
}

impl Operator for Lateral {
    fn name(&self) -> &'static str {
        "DependentJoin"
    }

    fn describe(&self) -> String {
        let names = self.outer.iter().map(|column| column.name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        format!("{:?} on [{names}]", self.pairs)
    }

    // It plans its inner query as it runs.
    fn is_lasting(&self) -> bool {
        false
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let Some(input) = inputs.into_iter().next() else {
            return Ok(Box::pin(futures::stream::empty()));
        };
        let types = self.outer.iter().map(|column| column.ty.clone());
        let work = Work {
            encoder: Encoder::new(types.collect()),
            lasting: !is_volatile(&self.plan),
            interprets: reference::is_self_contained(&self.plan),
            node: self.clone(),
            known: HashMap::new(),
            memory: run.memory(),
            run,
        };
        Ok(Box::pin(futures::stream::unfold(
            (input, work),
            |(mut input, mut work)| async move {
                let batch = input.next().await?;
                let batch = match batch {
                    Ok(batch) => work.batch(&batch).await,
                    Err(error) => Err(error),
                };
                Some((batch, (input, work)))
            },
        )))
    }
}

/// Whether a plan may give other rows when it is run again.
fn is_volatile(plan: &Plan) -> bool {
    plan.expressions().iter().any(|expr| volatile(expr))
        || plan.inputs().into_iter().any(is_volatile)
}

fn volatile(expr: &Bound) -> bool {
    expr.any(&mut |expr| match &expr.kind {
        ExprKind::Subquery(subquery) => is_volatile(&subquery.plan),
        ExprKind::Call { function, .. } => {
            function.volatility == freestone_frontend::functions::Volatility::Volatile
        }
        _ => false,
    })
}

/// Whether one value is TRUE; NULL if none is, but one is NULL.
fn any(values: &ArrayRef) -> Option<bool> {
    let values = values.as_boolean_opt()?;
    match values.true_count() {
        0 if values.null_count() > 0 => None,
        count => Some(count > 0),
    }
}

struct Work {
    node: Lateral,
    encoder: Encoder,
    /// Whether equal values give equal rows.
    lasting: bool,
    /// Whether the right side is run by the interpreter.
    interprets: bool,
    known: HashMap<Row, Arc<RecordBatch>>,
    memory: MemoryReservation,
    run: Run,
}

impl Work {
    async fn batch(&mut self, left: &RecordBatch) -> DfResult<RecordBatch> {
        let columns = self.node.columns;
        let values = &left.columns()[columns..];
        let keys: Vec<Option<Row>> = match values.is_empty() || !self.lasting {
            true => vec![None; left.num_rows()],
            false => {
                let rows = self.encoder.rows(values)?;
                rows.iter().map(|row| Some(row.owned())).collect()
            }
        };
        let mut places: Vec<u64> = Vec::new();
        let mut marks: Vec<Option<bool>> = Vec::new();
        let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::new(); self.node.given.len()];
        let mut rows = 0;
        for (at, key) in keys.into_iter().enumerate() {
            let values: Vec<ArrayRef> = values.iter().map(|value| value.slice(at, 1)).collect();
            let right = self.right(key, &values).await?;
            let found = right.num_rows();
            let times = match self.node.pairs {
                Pairs::Inner => found,
                Pairs::Single if found > 1 => return Err(super::several().into()),
                Pairs::Left | Pairs::Single => found.max(1),
                Pairs::Mark { condition } => {
                    marks.push(match condition {
                        true => any(right.column(0)),
                        false => Some(found > 0),
                    });
                    1
                }
                Pairs::Semi => usize::from(found > 0),
                Pairs::Anti => usize::from(found == 0),
            };
            places.extend(std::iter::repeat_n(at as u64, times));
            rows += times;
            if matches!(self.node.pairs, Pairs::Mark { .. }) {
                continue;
            }
            for (at, kind) in self.node.given.iter().enumerate() {
                parts[at].push(match found {
                    0 => new_null_array(kind, times),
                    _ => Arc::clone(right.column(at)),
                });
            }
        }
        let places = UInt64Array::from(places);
        let mut given = Vec::with_capacity(columns + parts.len());
        for column in &left.columns()[..columns] {
            given.push(take(column, &places, None)?);
        }
        if matches!(self.node.pairs, Pairs::Mark { .. }) {
            given.push(Arc::new(BooleanArray::from(marks)));
            return self.run.batch(given, rows);
        }
        for (parts, kind) in parts.iter().zip(&self.node.given) {
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            given.push(match parts.is_empty() {
                true => new_null_array(kind, 0),
                false => concat(&parts)?,
            });
        }
        self.run.batch(given, rows)
    }

    /// The right side's rows for some values.
    async fn right(&mut self, key: Option<Row>, values: &[ArrayRef]) -> DfResult<Arc<RecordBatch>> {
        if let Some(known) = key.as_ref().and_then(|key| self.known.get(key)) {
            return Ok(Arc::clone(known));
        }
        // Planning alone may take a batch's worth of time without a wait.
        tokio::task::yield_now().await;
        let batch = Arc::new(self.fresh(values).await?);
        let Some(key) = key else {
            return Ok(batch);
        };
        if self.known.len() >= REMEMBERED {
            self.known.clear();
            self.memory.free();
        }
        let bytes = Counted::default().bytes(&batch);
        self.memory.try_grow(bytes + 128)?;
        self.known.insert(key, Arc::clone(&batch));
        Ok(batch)
    }

    /// The rows of the right side by the interpreter; `None` if there are too many for it.
    fn interpreted(&self, values: &[ArrayRef]) -> DfResult<Option<RecordBatch>> {
        let node = &self.node;
        let outer = node.outer.iter().zip(values);
        let outer = outer.map(|(column, value)| (column.id, Arc::clone(value)));
        let around = &node.around;
        let none = |_: &Relation, _: &[(Column, usize)]| Ok(Vec::new());
        let (session, parameters) = (&around.session, &around.parameters);
        let found = interrupt::apart(|| {
            reference::run_beside(&node.plan, outer.collect(), &none, session, parameters)
        });
        let table = match found {
            Ok(table) => table,
            Err(error) if TOO_MUCH.contains(&error.sqlstate) => return Ok(None),
            Err(error) => return Err(Error::from(error).into()),
        };
        let columns = table.columns.into_iter().zip(&node.given);
        let columns = columns.map(|((_, values), kind)| with_kind(values, kind));
        let columns = columns.collect::<Result<Vec<_>, Error>>()?;
        batch(&self.given_schema(), columns, table.rows).map(Some)
    }

    /// The columns that the right side gives.
    fn given_schema(&self) -> SchemaRef {
        let fields = self.node.given.iter().enumerate();
        let fields = fields.map(|(at, kind)| Field::new(at.to_string(), kind.clone(), true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    async fn fresh(&self, values: &[ArrayRef]) -> DfResult<RecordBatch> {
        let node = &self.node;
        if self.interprets
            && let Some(found) = self.interpreted(values)?
        {
            return Ok(found);
        }
        let mut plan = node.plan.clone();
        plan.replace(&|id| {
            let at = node.outer.iter().position(|column| column.id == id)?;
            let (column, value) = (&node.outer[at], &values[at]);
            Some(Bound::new(
                ExprKind::Literal(Arc::clone(value)),
                column.ty.clone(),
            ))
        });
        node.around.fold().plan(&mut plan);
        let lowered = lowered_within(&plan, &node.around, node.tables.clone())?;
        let physical = Box::pin(planned(&lowered.plan, &self.run.state)).await?;
        let mut stream = execute_stream(physical, Arc::clone(&self.run.context))?;
        let schema = self.given_schema();
        let decides = matches!(
            node.pairs,
            Pairs::Semi | Pairs::Anti | Pairs::Mark { condition: false }
        );
        let mut batches = Vec::new();
        while let Some(found) = stream.next().await {
            let found = found?;
            let given = found.columns().iter().take(node.given.len()).cloned();
            batches.push(batch(&schema, given.collect(), found.num_rows())?);
            if decides && found.num_rows() > 0 {
                break;
            }
        }
        if node.given.is_empty() {
            let rows = batches.iter().map(RecordBatch::num_rows).sum();
            return batch(&schema, Vec::new(), rows);
        }
        Ok(concatenated(&schema, &batches)?)
    }
}
