//! WITH RECURSIVE: the rows of the base, then those of each round over the rows of the round
//! before, until a round gives none.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::compute::filter;
use arrow::datatypes::DataType;
use freestone_exec as exec;
use freestone_exec::vector::Batch;
use freestone_exec::{Again, Gathered, Gathering, Inside, Node, Operator, Out, Plan, Working};
use freestone_frontend::types::Type;
use parking_lot::Mutex;

use super::super::canonical::{Encoder, Row};
use super::{Held, arrays, batch, other};

/// See the module.
#[derive(Debug)]
pub(in super::super) struct Recursive {
    /// A round, over the rows of the one before.
    pub(in super::super) step: Plan,
    /// The number by which the step reads these rows.
    pub(in super::super) round: usize,
    /// Whether rows that came before come again.
    pub(in super::super) all: bool,
    pub(in super::super) types: Vec<Type>,
}

/// Addresses of the shared plans in a plan whose rows do not come of a round.
fn outer(plan: &Plan, round: usize, found: &mut HashSet<usize>) -> bool {
    let mut reads = matches!(plan.node, Node::Round(number) if number == round);
    for input in plan.inputs() {
        reads |= outer(input, round, found);
    }
    if let (Node::Shared(of), false) = (&plan.node, reads) {
        found.insert(Arc::as_ptr(of).addr());
    }
    reads
}

impl Operator for Recursive {
    fn name(&self) -> &'static str {
        "recursive union"
    }

    fn describe(&self) -> String {
        let all = if self.all { "all" } else { "distinct" };
        all.to_owned()
    }

    fn inner(&self) -> Vec<&Plan> {
        vec![&self.step]
    }

    fn begin(&self, _: Vec<Gathered>, run: &dyn Inside) -> exec::Result<Box<dyn Working + '_>> {
        let mut shared = HashSet::new();
        outer(&self.step, self.round, &mut shared);
        Ok(Box::new(Work {
            of: self,
            outer: shared,
            state: Mutex::new(State {
                kinds: self.types.iter().map(Type::arrow).collect(),
                encoder: Encoder::new(self.types.clone()),
                seen: HashSet::new(),
                has_empty: false,
                held: Held::new("WITH RECURSIVE", run),
                last: run.gathering(),
            }),
        }))
    }
}

struct Work<'a> {
    of: &'a Recursive,
    outer: HashSet<usize>,
    state: Mutex<State>,
}

struct State {
    kinds: Vec<DataType>,
    encoder: Encoder,
    /// Rows that came, where they may come once only.
    seen: HashSet<Row>,
    /// Whether a row without columns came.
    has_empty: bool,
    held: Held,
    /// The rows of this round.
    last: Gathering,
}

impl State {
    /// The rows of a batch that did not come before.
    fn unseen(&mut self, rows: Batch, run: &dyn Inside) -> exec::Result<Batch> {
        let columns = arrays(&rows, &self.kinds)?;
        if columns.is_empty() {
            // Rows without columns are equal.
            let first = usize::from(!self.has_empty).min(rows.rows);
            self.has_empty |= first > 0;
            return Ok(rows.slice(0, first));
        }
        let mut bytes = 0;
        let encoded = self.encoder.rows(&columns).map_err(other)?;
        let keep = encoded.iter().map(|row| {
            let row = row.owned();
            let size = size_of::<Row>() + row.as_ref().len() + 16;
            let new = self.seen.insert(row);
            bytes += if new { size } else { 0 };
            Some(new)
        });
        let keep: BooleanArray = keep.collect();
        self.held.grow(bytes, run)?;
        let kept = columns.iter().map(|column| filter(column, &keep));
        let kept = kept.collect::<Result<Vec<_>, _>>()?;
        batch(&kept, keep.true_count())
    }

    /// Takes rows of a round and gives those that are new.
    fn take(&mut self, rows: Batch, all: bool, run: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        let rows = if all { rows } else { self.unseen(rows, run)? };
        if rows.rows == 0 {
            return Ok(());
        }
        self.last.push(rows.clone(), run.space())?;
        out(rows)
    }
}

impl Working for Work<'_> {
    fn push(&self, rows: Batch, run: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        self.state.lock().take(rows, self.of.all, run, out)
    }

    fn finish(&self, run: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        let mut state = self.state.lock();
        loop {
            run.goes_on()?;
            let last = std::mem::replace(&mut state.last, run.gathering());
            if last.rows() == 0 {
                return Ok(());
            }
            let last = last.finish(run.space())?;
            let rows = run.again(&Again {
                plan: &self.of.step,
                outer: &self.outer,
                round: Some((self.of.round, &last)),
            })?;
            for batch in rows.batches() {
                state.take(batch?, self.of.all, run, out)?;
            }
        }
    }
}
