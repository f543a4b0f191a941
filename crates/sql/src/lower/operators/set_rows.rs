//! Functions that give rows, for each row of an input: `SELECT a, unnest(b) FROM t`.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, Int64Array, RecordBatch, UInt64Array, new_null_array,
};
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
use crate::error::Result;
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
    /// Begins. Functions have their arguments beside them, one row each; parts that are columns
    /// of the input are left out.
    pub(in super::super) fn new<'a>(
        parts: impl Iterator<Item = (&'a Part, Vec<ArrayRef>)>,
        outer: bool,
        around: &Surroundings,
    ) -> Result<Self> {
        let mut opened = Vec::new();
        for (part, arguments) in parts {
            match part {
                Part::Value(_) => {}
                Part::Rows(rows) => {
                    opened.push(Opened::Source(Source::begin(rows, &arguments, around)?));
                }
                Part::Number => opened.push(Opened::Number),
            }
        }
        Ok(Self {
            parts: opened,
            given: 0,
            outer,
            done: false,
        })
    }

    /// The functions' columns of at most so many rows more.
    pub(in super::super) fn next(&mut self, most: usize) -> Result<Option<(Vec<ArrayRef>, usize)>> {
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

/// Rows of one batch of the input that wait to be given.
#[derive(Default)]
struct Gathered {
    /// The functions' columns.
    pieces: Vec<Vec<ArrayRef>>,
    /// The row of the input that each row stands beside.
    origins: Vec<u64>,
}

impl Gathered {
    fn add(&mut self, columns: Vec<ArrayRef>, origin: usize, rows: usize) {
        self.pieces.push(columns);
        let rows = std::iter::repeat_n(origin as u64, rows);
        self.origins.extend(rows);
    }

    /// The rows as a batch, if there are any.
    fn flush(
        &mut self,
        parts: &[Part],
        from: &RecordBatch,
        run: &Run,
    ) -> DfResult<Option<RecordBatch>> {
        let pieces = std::mem::take(&mut self.pieces);
        let origins = UInt64Array::from(std::mem::take(&mut self.origins));
        if pieces.is_empty() {
            return Ok(None);
        }
        let mut columns = Vec::with_capacity(parts.len());
        let mut made = 0;
        for part in parts {
            let width = match part {
                Part::Value(at) => {
                    columns.push(take(from.column(*at), &origins, None)?);
                    continue;
                }
                Part::Rows(rows) => rows.returns.len(),
                Part::Number => 1,
            };
            for at in made..made + width {
                let parts: Vec<&dyn Array> =
                    pieces.iter().map(|piece| piece[at].as_ref()).collect();
                columns.push(concat(&parts)?);
            }
            made += width;
        }
        Ok(Some(run.batch(columns, origins.len())?))
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

    // Functions may tell the time.
    fn is_lasting(&self) -> bool {
        false
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
    /// The batch whose rows are taken, and the place of the row whose functions are open, or
    /// are to be opened next.
    batch: Option<(RecordBatch, usize)>,
    open: Option<Open>,
    gathered: Gathered,
    ended: bool,
}

impl Work {
    async fn next(&mut self) -> DfResult<Option<RecordBatch>> {
        loop {
            if self.ended {
                return Ok(None);
            }
            let Some((batch, at)) = &mut self.batch else {
                match self.input.next().await {
                    Some(batch) => self.batch = Some((batch?, 0)),
                    None => self.ended = true,
                }
                continue;
            };
            if let Some(open) = &mut self.open {
                match open.next(self.most)? {
                    Some((columns, rows)) => self.gathered.add(columns, *at, rows),
                    None => {
                        self.open = None;
                        *at += 1;
                    }
                }
            } else if *at < batch.num_rows() {
                let row = batch.slice(*at, 1);
                let parts = self.parts.iter().map(|part| {
                    let arguments = match part {
                        Part::Rows(rows) => {
                            let places = rows.arguments.iter();
                            places.map(|at| Arc::clone(row.column(*at))).collect()
                        }
                        Part::Value(_) | Part::Number => Vec::new(),
                    };
                    (part, arguments)
                });
                self.open = Some(Open::new(parts, self.outer, &self.around)?);
            }
            let over = *at == batch.num_rows();
            if over || self.gathered.origins.len() >= self.most {
                let given = self.gathered.flush(&self.parts, batch, &self.run)?;
                if over {
                    self.batch = None;
                }
                if given.is_some() {
                    return Ok(given);
                }
            }
        }
    }
}
