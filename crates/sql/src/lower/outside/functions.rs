//! Functions that give rows: alone in FROM, and beside each row of an input.
//!
//! ```text
//! generate_series(1, 10)                       rows of their own
//! SELECT a, unnest(b) FROM t                   rows beside each row of t
//! ROWS FROM (unnest(x), generate_series(1, 3)) side by side, filled up with NULL
//! ```

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, UInt64Array, new_null_array};
use arrow::compute::{concat, take};
use arrow::datatypes::DataType;
use freestone_exec as exec;
use freestone_exec::vector::Batch;
use freestone_exec::{Batches, Gathered, Inside, Operator, Out, Rows as Leaf, Working};
use freestone_frontend::functions::TableFunction;
use freestone_frontend::functions::kernel::{Call, repeated};
use freestone_frontend::plan::{Expr as Bound, TableCall};
use freestone_frontend::types::Type;

use super::super::{Surroundings, evaluated};
use super::{arrays, batch, joined};
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

/// Functions whose rows stand side by side.
#[derive(Debug)]
pub(in super::super) struct Calls {
    calls: Vec<(Part, Vec<Bound>)>,
    numbered: bool,
    about: String,
    around: Surroundings,
}

impl Calls {
    pub(in super::super) fn new(calls: &[TableCall], numbered: bool, around: Surroundings) -> Self {
        let about = calls.iter().map(|call| call.function.name);
        let about = about.collect::<Vec<_>>().join(", ");
        let calls = calls.iter().map(|call| {
            let places = (0..call.arguments.len()).collect();
            (Part::rows(call, places), call.arguments.clone())
        });
        Self {
            calls: calls.collect(),
            numbered,
            about,
            around,
        }
    }

    fn begin(&self) -> Result<Open> {
        let mut parts = Vec::with_capacity(self.calls.len() + 1);
        for (part, arguments) in &self.calls {
            let arguments = arguments.iter().map(|argument| {
                let value = evaluated::values(argument, &[], &[], 1, &self.around)?;
                with_kind(repeated(value.array, 1), &argument.ty.arrow())
            });
            parts.push((part, arguments.collect::<Result<Vec<_>>>()?));
        }
        if self.numbered {
            parts.push((&Part::Number, Vec::new()));
        }
        Open::new(parts.into_iter(), false, &self.around)
    }
}

impl Leaf for Calls {
    fn name(&self) -> &'static str {
        "rows of functions"
    }

    fn describe(&self) -> String {
        self.about.clone()
    }

    // Functions may tell the time.
    fn is_lasting(&self) -> bool {
        false
    }

    fn may_be_many(&self) -> bool {
        true
    }

    fn open<'b>(&'b self, run: &dyn Inside) -> exec::Result<Vec<Batches<'b>>> {
        let mut open = self.begin()?;
        let most = run.batch_rows();
        Ok(vec![Box::new(std::iter::from_fn(move || {
            let next = open.next(most).map_err(exec::Error::from).transpose()?;
            Some(next.and_then(|(columns, rows)| batch(&columns, rows)))
        }))])
    }
}

/// Rows of functions beside each row of an input.
#[derive(Debug)]
pub(in super::super) struct Beside {
    /// Parts of the result, in order.
    pub(in super::super) parts: Vec<Part>,
    /// Whether a row for which there are none comes once, with NULLs.
    pub(in super::super) outer: bool,
    /// Types of the input's columns.
    pub(in super::super) kinds: Vec<DataType>,
    pub(in super::super) around: Surroundings,
}

impl Operator for Beside {
    fn name(&self) -> &'static str {
        "rows of functions beside"
    }

    fn describe(&self) -> String {
        let sets = self.parts.iter().filter_map(|part| match part {
            Part::Rows(rows) => Some(rows.function.name),
            _ => None,
        });
        sets.collect::<Vec<_>>().join(", ")
    }

    fn is_parallel(&self) -> bool {
        true
    }

    // Functions may tell the time.
    fn is_lasting(&self) -> bool {
        false
    }

    fn begin(&self, _: Vec<Gathered>, _: &dyn Inside) -> exec::Result<Box<dyn Working + '_>> {
        Ok(Box::new(Work(self)))
    }
}

struct Work<'a>(&'a Beside);

/// Rows of one batch of the input that wait to be given.
#[derive(Default)]
struct Waiting {
    /// The functions' columns.
    pieces: Vec<Vec<ArrayRef>>,
    /// The row of the input that each row stands beside.
    origins: Vec<u64>,
}

impl Working for Work<'_> {
    fn push(&self, rows: Batch, run: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        let of = self.0;
        let from = arrays(&rows, &of.kinds)?;
        let most = run.batch_rows();
        let mut waiting = Waiting::default();
        for at in 0..rows.rows {
            run.goes_on()?;
            let parts = of.parts.iter().map(|part| {
                let arguments = match part {
                    Part::Rows(rows) => {
                        let places = rows.arguments.iter();
                        places.map(|place| from[*place].slice(at, 1)).collect()
                    }
                    Part::Value(_) | Part::Number => Vec::new(),
                };
                (part, arguments)
            });
            let mut open = Open::new(parts, of.outer, &of.around)?;
            while let Some((columns, rows)) = open.next(most)? {
                waiting.pieces.push(columns);
                let rows = std::iter::repeat_n(at as u64, rows);
                waiting.origins.extend(rows);
                if waiting.origins.len() >= most {
                    self.give(&mut waiting, &from, out)?;
                }
            }
        }
        self.give(&mut waiting, &from, out)
    }
}

impl Work<'_> {
    /// Gives the rows that wait, if there are any.
    fn give(&self, waiting: &mut Waiting, from: &[ArrayRef], out: Out<'_>) -> exec::Result<()> {
        let Waiting { pieces, origins } = std::mem::take(waiting);
        if pieces.is_empty() {
            return Ok(());
        }
        let origins = UInt64Array::from(origins);
        let mut columns = Vec::with_capacity(self.0.parts.len());
        let mut made = 0;
        for part in &self.0.parts {
            let kinds = match part {
                Part::Value(at) => {
                    columns.push(take(&from[*at], &origins, None)?);
                    continue;
                }
                Part::Rows(rows) => rows.returns.iter().map(Type::arrow).collect(),
                Part::Number => vec![DataType::Int64],
            };
            for kind in kinds {
                let parts = pieces.iter().map(|piece| Arc::clone(&piece[made]));
                columns.push(joined(&parts.collect::<Vec<_>>(), &kind)?);
                made += 1;
            }
        }
        out(batch(&columns, origins.len())?)
    }
}
