//! Functions that give rows, for each row of an input: `SELECT a, unnest(b) FROM t`.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, Int64Array, UInt64Array, new_null_array};
use datafusion::arrow::compute::{concat, take};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use freestone_frontend::functions::TableFunction;
use freestone_frontend::functions::kernel::Call;
use freestone_frontend::plan::TableCall;
use freestone_frontend::types::Type;
use futures::StreamExt;

use super::super::Surroundings;
use super::super::operator::{Batches, Operator, Run};
use crate::error::{Error, Result};
use crate::values::with_kind;

/// A part of the result's columns.
#[derive(Clone)]
pub(in super::super) enum Part {
    /// A column of the input.
    Value(usize),
    /// The columns of a function's rows.
    Rows(Arc<Rows>),
    /// The number of the row among those of one row of the input.
    Number,
}

/// A call of a function that gives rows.
pub(in super::super) struct Rows {
    function: Arc<TableFunction>,
    /// Places of the arguments in the input.
    arguments: Vec<usize>,
    types: Vec<Type>,
    returns: Vec<Type>,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Value(at) => write!(f, "#{at}"),
            Part::Rows(rows) => write!(f, "{}", rows.function.name),
            Part::Number => f.write_str("ordinality"),
        }
    }
}

impl Part {
    pub(in super::super) fn rows(call: &TableCall, arguments: Vec<usize>) -> Self {
        Part::Rows(Arc::new(Rows {
            function: Arc::clone(&call.function),
            arguments,
            types: call.arguments.iter().map(|a| a.ty.clone()).collect(),
            returns: call.columns.iter().map(|c| c.ty.clone()).collect(),
        }))
    }
}

/// Rows of functions beside each row of an input.
#[derive(Debug)]
pub(in super::super) struct SetRows {
    parts: Vec<Part>,
    /// Whether a row for which there are none comes once, with NULLs.
    pub(in super::super) outer: bool,
    around: Surroundings,
}

impl SetRows {
    pub(in super::super) fn new(parts: Vec<Part>, around: Surroundings) -> Self {
        Self {
            parts,
            outer: false,
            around,
        }
    }
}

/// Parts of the rows that a function gives.
type Chunks = Box<dyn Iterator<Item = freestone_frontend::Result<Vec<ArrayRef>>> + Send>;

/// The rows of one function for one row of the input.
struct Source {
    /// The next parts; `None` after the last.
    chunks: Option<Chunks>,
    /// Rows that came and were not given yet.
    ahead: Vec<ArrayRef>,
    kinds: Vec<DataType>,
}

impl Source {
    fn begin(rows: &Rows, arguments: &[ArrayRef], around: &Surroundings) -> Result<Self> {
        let function = &rows.function;
        let none = function.strict && arguments.iter().any(|argument| argument.is_null(0));
        let returns = rows.returns.first().unwrap_or(&Type::Void);
        let chunks = match none {
            true => None,
            false => {
                let call = Call {
                    rows: 1,
                    types: &rows.types,
                    returns,
                    session: &around.session,
                };
                Some((function.rows)(&call, arguments)?)
            }
        };
        let kinds: Vec<DataType> = rows.returns.iter().map(Type::arrow).collect();
        Ok(Self {
            chunks,
            ahead: kinds.iter().map(|kind| new_null_array(kind, 0)).collect(),
            kinds,
        })
    }

    fn waiting(&self) -> usize {
        self.ahead.first().map_or(0, |column| column.len())
    }

    /// Lets so many rows be known, if there are.
    fn fill(&mut self, rows: usize) -> Result<()> {
        while self.waiting() < rows {
            let Some(chunks) = &mut self.chunks else {
                return Ok(());
            };
            let Some(chunk) = chunks.next() else {
                self.chunks = None;
                return Ok(());
            };
            let chunk = chunk?;
            for ((ahead, more), kind) in self.ahead.iter_mut().zip(chunk).zip(&self.kinds) {
                let more = with_kind(more, kind)?;
                *ahead = match ahead.is_empty() {
                    true => more,
                    false => concat(&[ahead.as_ref(), more.as_ref()])?,
                };
            }
        }
        Ok(())
    }

    /// The next rows, filled up with NULL.
    fn take(&mut self, rows: usize) -> Result<Vec<ArrayRef>> {
        let mut given = Vec::with_capacity(self.ahead.len());
        for (ahead, kind) in self.ahead.iter_mut().zip(&self.kinds) {
            let known = ahead.len().min(rows);
            let head = ahead.slice(0, known);
            *ahead = ahead.slice(known, ahead.len() - known);
            given.push(match known == rows {
                true => head,
                false => {
                    let nulls = new_null_array(kind, rows - known);
                    concat(&[head.as_ref(), nulls.as_ref()])?
                }
            });
        }
        Ok(given)
    }
}

/// A part in a run for one row.
enum Opened {
    Value(ArrayRef),
    Source(Source),
    Number,
}

/// The rows of functions for one row of the input.
pub(in super::super) struct Open {
    parts: Vec<Opened>,
    given: usize,
    outer: bool,
    done: bool,
}

impl Open {
    /// Begins; each part has its arguments, one row each.
    pub(in super::super) fn new(
        parts: &[(Part, Vec<ArrayRef>)],
        outer: bool,
        around: &Surroundings,
    ) -> Result<Self> {
        let parts = parts.iter().map(|(part, arguments)| match part {
            Part::Value(_) => {
                let value = arguments.first().cloned();
                let value = value.ok_or_else(|| Error::internal("a part without a value"));
                Ok(Opened::Value(value?))
            }
            Part::Rows(rows) => Ok(Opened::Source(Source::begin(rows, arguments, around)?)),
            Part::Number => Ok(Opened::Number),
        });
        Ok(Self {
            parts: parts.collect::<Result<_>>()?,
            given: 0,
            outer,
            done: false,
        })
    }

    /// The columns of at most so many rows more.
    pub(in super::super) fn next(
        &mut self,
        most: usize,
        _: &Surroundings,
    ) -> Result<Option<(Vec<ArrayRef>, usize)>> {
        if self.done {
            return Ok(None);
        }
        let mut rows = 0;
        for part in &mut self.parts {
            if let Opened::Source(source) = part {
                source.fill(most)?;
                rows = rows.max(source.waiting().min(most));
            }
        }
        self.done = rows < most;
        let alone = rows == 0 && self.given == 0 && self.outer;
        if rows == 0 && !alone {
            return Ok(None);
        }
        let rows = rows.max(1);
        let mut columns = Vec::new();
        for part in &mut self.parts {
            match part {
                Opened::Value(value) => columns.push(same(value, rows)?),
                Opened::Source(source) => columns.extend(source.take(rows)?),
                Opened::Number if alone => columns.push(new_null_array(&DataType::Int64, 1)),
                Opened::Number => {
                    let first = self.given as i64 + 1;
                    let numbers = Int64Array::from_iter_values(first..first + rows as i64);
                    columns.push(Arc::new(numbers));
                }
            }
        }
        self.given += rows;
        Ok(Some((columns, rows)))
    }
}

/// A value for as many rows.
fn same(value: &ArrayRef, rows: usize) -> Result<ArrayRef> {
    match rows {
        1 => Ok(Arc::clone(value)),
        _ => Ok(take(value, &UInt64Array::from(vec![0; rows]), None)?),
    }
}

/// Joins small batches to larger ones.
#[derive(Default)]
struct Gathered {
    batches: Vec<(Vec<ArrayRef>, usize)>,
    rows: usize,
}

impl Gathered {
    fn flush(&mut self, run: &Run) -> DfResult<Option<datafusion::arrow::array::RecordBatch>> {
        let batches = std::mem::take(&mut self.batches);
        let rows = std::mem::take(&mut self.rows);
        let Some((first, _)) = batches.first() else {
            return Ok(None);
        };
        let mut columns = Vec::with_capacity(first.len());
        for at in 0..first.len() {
            let parts: Vec<&dyn Array> = batches.iter().map(|(c, _)| c[at].as_ref()).collect();
            columns.push(concat(&parts)?);
        }
        Ok(Some(run.batch(columns, rows)?))
    }
}

impl Operator for SetRows {
    fn name(&self) -> &'static str {
        "ProjectSet"
    }

    fn describe(&self) -> String {
        let sets = self.parts.iter().filter_map(|part| match part {
            Part::Rows(rows) => Some(rows.function.name),
            _ => None,
        });
        sets.collect::<Vec<_>>().join(", ")
    }

    fn run(&self, inputs: Vec<SendableRecordBatchStream>, run: Run) -> DfResult<Batches> {
        let Some(input) = inputs.into_iter().next() else {
            return Ok(Box::pin(futures::stream::empty()));
        };
        let work = Work {
            parts: self.parts.clone(),
            outer: self.outer,
            around: self.around.clone(),
            most: run.context.session_config().batch_size(),
            run,
            input,
            batch: None,
            open: None,
            gathered: Gathered::default(),
            ended: false,
        };
        Ok(Box::pin(futures::stream::unfold(
            work,
            |mut work| async move {
                let next = work.next().await.transpose()?;
                if next.is_err() {
                    work.ended = true;
                }
                Some((next, work))
            },
        )))
    }
}

struct Work {
    parts: Vec<Part>,
    outer: bool,
    around: Surroundings,
    most: usize,
    run: Run,
    input: SendableRecordBatchStream,
    /// The batch whose rows are taken, and the next one.
    batch: Option<(datafusion::arrow::array::RecordBatch, usize)>,
    open: Option<Open>,
    gathered: Gathered,
    ended: bool,
}

impl Work {
    async fn next(&mut self) -> DfResult<Option<datafusion::arrow::array::RecordBatch>> {
        loop {
            if self.ended {
                return self.gathered.flush(&self.run);
            }
            if let Some(open) = &mut self.open {
                match open.next(self.most, &self.around)? {
                    Some((columns, rows)) => {
                        self.gathered.rows += rows;
                        self.gathered.batches.push((columns, rows));
                        if self.gathered.rows >= self.most {
                            return self.gathered.flush(&self.run);
                        }
                    }
                    None => self.open = None,
                }
                continue;
            }
            match &mut self.batch {
                Some((batch, at)) if *at < batch.num_rows() => {
                    let row = batch.slice(*at, 1);
                    *at += 1;
                    let parts = self.parts.iter().map(|part| {
                        let arguments = match part {
                            Part::Value(at) => vec![Arc::clone(row.column(*at))],
                            Part::Rows(rows) => rows
                                .arguments
                                .iter()
                                .map(|at| Arc::clone(row.column(*at)))
                                .collect(),
                            Part::Number => Vec::new(),
                        };
                        (part.clone(), arguments)
                    });
                    let parts: Vec<_> = parts.collect();
                    self.open = Some(Open::new(&parts, self.outer, &self.around)?);
                }
                _ => {
                    self.batch = match self.input.next().await {
                        Some(batch) => Some((batch?, 0)),
                        None => {
                            self.ended = true;
                            None
                        }
                    };
                }
            }
        }
    }
}
