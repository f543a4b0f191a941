//! Functions over windows that the bulk engine has not: with DISTINCT, IGNORE NULLS, and any aggregate.
//!
//! Rows come sorted by partition and order. Whole partitions are computed as soon as they are
//! there, so that no more than one that is not whole is held.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, cast::AsArray};
use arrow::compute::concat;
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, Rows, SortField};
use freestone_exec as exec;
use freestone_exec::vector::Batch;
use freestone_exec::{Gathered, Inside, Operator, Out, Working};
use freestone_frontend::functions::aggregates::Direction;
use freestone_frontend::functions::kernel::Call;
use freestone_frontend::functions::ordering::comparator;
use freestone_frontend::functions::windows::Partition;
use freestone_frontend::functions::windows::aggregate::over_frames;
use freestone_frontend::functions::windows::frame::{Frame, Ranges, frames, peers};
use freestone_frontend::plan::WindowKind;
use freestone_frontend::types::Type;
use parking_lot::Mutex;

use super::super::Surroundings;
use super::{Held, arrays, batch, joined, other};
use crate::error::{Error, Result};
use crate::values::with_kind;

/// For RANGE with distances: the places of the order's values and of the ends'.
#[derive(Debug)]
pub(in super::super) struct Distances {
    pub(in super::super) keys: usize,
    pub(in super::super) start: Option<usize>,
    pub(in super::super) end: Option<usize>,
    pub(in super::super) direction: Direction,
    pub(in super::super) ty: Type,
}

/// A call, with the places of what it reads.
#[derive(Debug)]
pub(in super::super) struct Spec {
    pub(in super::super) kind: WindowKind,
    pub(in super::super) types: Vec<Type>,
    pub(in super::super) arguments: Vec<usize>,
    pub(in super::super) filter: Option<usize>,
    pub(in super::super) frame: Frame,
    pub(in super::super) distances: Option<Distances>,
    pub(in super::super) ignore_nulls: bool,
    pub(in super::super) returns: Type,
}

/// See the module.
#[derive(Clone, Debug)]
pub(in super::super) struct Windows {
    /// Columns of the input that are the result's, too.
    pub(in super::super) columns: usize,
    /// Types of the input's columns.
    pub(in super::super) kinds: Vec<DataType>,
    /// Places of the partition's keys, and of those of the order.
    pub(in super::super) partition: Vec<usize>,
    pub(in super::super) order: Vec<usize>,
    pub(in super::super) calls: Arc<Vec<Spec>>,
    pub(in super::super) around: Surroundings,
}

impl Operator for Windows {
    fn name(&self) -> &'static str {
        "general window"
    }

    fn describe(&self) -> String {
        let calls = self.calls.iter().map(|call| match &call.kind {
            WindowKind::Function(function) => function.name,
            WindowKind::Aggregate(function) => &*function.name,
        });
        let calls = calls.collect::<Vec<_>>().join(", ");
        let (partition, order) = (self.partition.len(), self.order.len());
        format!("[{calls}] by {partition} keys, in order of {order}")
    }

    fn begin(&self, _: Vec<Gathered>, run: &dyn Inside) -> exec::Result<Box<dyn Working + '_>> {
        Ok(Box::new(Work {
            of: self,
            pending: Mutex::new(Pending {
                rows: Vec::new(),
                held: Held::new("functions over windows", run),
            }),
        }))
    }
}

struct Work<'a> {
    of: &'a Windows,
    pending: Mutex<Pending>,
}

/// Rows of partitions that are not computed yet: of the last, not whole, one.
struct Pending {
    rows: Vec<(Vec<ArrayRef>, usize)>,
    held: Held,
}

impl Pending {
    fn add(&mut self, columns: Vec<ArrayRef>, rows: usize, run: &dyn Inside) -> exec::Result<()> {
        let bytes = columns.iter().map(|column| column.get_array_memory_size());
        self.held.grow(bytes.sum(), run)?;
        self.rows.push((columns, rows));
        Ok(())
    }
}

impl Working for Work<'_> {
    fn push(&self, rows: Batch, run: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        if rows.rows == 0 {
            return Ok(());
        }
        let columns = arrays(&rows, &self.of.kinds)?;
        let mut pending = self.pending.lock();
        // Where the last partition of the batch begins, all before is whole.
        let start = self.last_start(&pending, &columns).map_err(other)?;
        let Some(start) = start else {
            return pending.add(columns, rows.rows, run);
        };
        let cut = |from: usize, rows: usize| {
            let columns = columns.iter().map(|column| column.slice(from, rows));
            columns.collect::<Vec<_>>()
        };
        if start > 0 {
            pending.add(cut(0, start), start, run)?;
        }
        self.compute(&mut pending, out)?;
        let rest = rows.rows - start;
        pending.add(cut(start, rest), rest, run)
    }

    fn finish(&self, _: &dyn Inside, out: Out<'_>) -> exec::Result<()> {
        self.compute(&mut self.pending.lock(), out)
    }
}

impl Work<'_> {
    /// Where the last partition of a batch begins; `None` if that is before the batch.
    fn last_start(&self, pending: &Pending, batch: &[ArrayRef]) -> Result<Option<usize>> {
        let places = &self.of.partition;
        if places.is_empty() {
            return Ok(None);
        }
        let last = pending.rows.last();
        let mut columns = Vec::with_capacity(places.len());
        for at in places {
            let here = &batch[*at];
            columns.push(match last {
                Some((last, rows)) => {
                    let before = last[*at].slice(rows - 1, 1);
                    concat(&[before.as_ref(), here.as_ref()])?
                }
                None => Arc::clone(here),
            });
        }
        let rows = encoded(&columns)?;
        let more = usize::from(last.is_some());
        let found = (1..rows.num_rows())
            .rev()
            .find(|at| rows.row(*at) != rows.row(at - 1));
        Ok(found.map(|at| at - more))
    }

    /// Gives the rows that wait, which are whole partitions.
    fn compute(&self, pending: &mut Pending, out: Out<'_>) -> exec::Result<()> {
        let parts = std::mem::take(&mut pending.rows);
        let rows = parts.iter().map(|(_, rows)| rows).sum();
        if rows == 0 {
            return Ok(());
        }
        let kinds = self.of.kinds.iter().enumerate();
        let columns = kinds.map(|(at, kind)| {
            let parts = parts.iter().map(|(columns, _)| Arc::clone(&columns[at]));
            joined(&parts.collect::<Vec<_>>(), kind)
        });
        let columns = columns.collect::<exec::Result<Vec<_>>>()?;
        drop(parts);
        let columns = self.computed(columns, rows)?;
        out(batch(&columns, rows)?)?;
        pending.held.free();
        Ok(())
    }

    /// The result for whole partitions.
    fn computed(&self, mut all: Vec<ArrayRef>, rows: usize) -> Result<Vec<ArrayRef>> {
        let of = self.of;
        let partitions = ranges(&of.partition, &all, rows)?;
        let keys = match of.order.is_empty() {
            true => None,
            false => {
                let columns = of.order.iter().map(|at| Arc::clone(&all[*at]));
                Some(encoded(&columns.collect::<Vec<_>>())?)
            }
        };
        let mut results: Vec<Vec<ArrayRef>> = vec![Vec::new(); of.calls.len()];
        for partition in partitions {
            let rows = partition.len();
            let part = all.iter();
            let part = part.map(|column| column.slice(partition.start, rows));
            let part: Vec<ArrayRef> = part.collect();
            let same = |at: usize| match &keys {
                Some(keys) => {
                    let at = partition.start + at;
                    keys.row(at) == keys.row(at - 1)
                }
                None => true,
            };
            let peers = peers(rows, same);
            for (spec, results) in of.calls.iter().zip(&mut results) {
                results.push(one(spec, (&part, rows), &peers, &of.around)?);
            }
        }
        all.truncate(of.columns);
        for parts in results {
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            all.push(concat(&parts)?);
        }
        Ok(all)
    }
}

fn encoded(columns: &[ArrayRef]) -> Result<Rows> {
    let fields = columns.iter();
    let fields = fields.map(|column| SortField::new(column.data_type().clone()));
    Ok(RowConverter::new(fields.collect())?.convert_columns(columns)?)
}

/// The partitions of rows.
fn ranges(places: &[usize], all: &[ArrayRef], rows: usize) -> Result<Vec<Range<usize>>> {
    if rows == 0 {
        return Ok(Vec::new());
    }
    if places.is_empty() {
        return Ok(std::iter::once(0..rows).collect());
    }
    let columns = places.iter().map(|at| Arc::clone(&all[*at]));
    let keys = encoded(&columns.collect::<Vec<_>>())?;
    let mut ranges = Vec::new();
    let mut start = 0;
    for at in 1..=rows {
        if at == rows || keys.row(at) != keys.row(at - 1) {
            ranges.push(start..at);
            start = at;
        }
    }
    Ok(ranges)
}

/// The results of a call for the rows of a partition.
fn one(
    spec: &Spec,
    (part, rows): (&[ArrayRef], usize),
    peers: &[Range<usize>],
    around: &Surroundings,
) -> Result<ArrayRef> {
    let call = Call {
        rows,
        types: &spec.types,
        returns: &spec.returns,
        session: &around.session,
    };
    let arguments = spec.arguments.iter();
    let arguments: Vec<ArrayRef> = arguments.map(|at| Arc::clone(&part[*at])).collect();
    let found = match &spec.distances {
        Some(distances) => {
            let compare = comparator(&distances.ty)?;
            let ranges = Ranges {
                keys: &part[distances.keys],
                start: distances.start.map(|at| &part[at]),
                end: distances.end.map(|at| &part[at]),
                compare: &compare,
                direction: distances.direction,
            };
            frames(&spec.frame, peers, Some(&ranges))?
        }
        None => frames(&spec.frame, peers, None)?,
    };
    let result = match &spec.kind {
        WindowKind::Function(function) => {
            let partition = Partition {
                rows,
                arguments: &arguments,
                peers,
                frame: &|row| found.ranges(row),
                ignore_nulls: spec.ignore_nulls,
            };
            (function.kernel)(&call, &partition)?
        }
        WindowKind::Aggregate(function) => {
            let filter = match spec.filter {
                Some(at) => Some(
                    part[at]
                        .as_boolean_opt()
                        .ok_or_else(|| Error::internal("a condition that is no truth value"))?,
                ),
                None => None,
            };
            over_frames(&call, function, &arguments, filter, &found)?
        }
    };
    with_kind(result, &spec.returns.arrow())
}
