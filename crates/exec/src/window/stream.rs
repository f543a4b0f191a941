//! Rows in order, computed as they come: for partitions that find no room in memory.
//!
//! Rows are held back until what their results depend on is there, and some are kept behind
//! those that have gone out. How long that is differs by call:
//!
//! | calls | waits for | keeps |
//! |---|---|---|
//! | `row_number`, running totals of ROWS | | the last result |
//! | `rank`, `dense_rank`, running totals of RANGE and GROUPS | the last of the peers | the last result |
//! | `lag`, `lead`, frames of rows on both sides | so many rows | so many rows |
//! | all others | the last row of the partition | |
//!
//! A running sum of floats is added to that of the rows before.

use super::collect::needed;
use super::compute::Piece;
use super::levels::levels;
use super::values::compare;
use crate::aggregate::Function;
use crate::expression::one_nan;
use crate::memory::Reservation;
use crate::plan::{Exclude, FrameBound, FrameUnit, Shift, WindowCall, WindowFunction, Windowing};
use crate::sort::{Sorted, together};
use crate::vector::{BATCH_ROWS, Batch, Values, Vector, concat, narrowed};
use crate::{Error, Result};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;

/// Rows that are kept or waited for at most.
const NEAR: usize = 1 << 16;

/// Sorted rows on their way, with the results of calls.
pub(crate) struct Stream<'a> {
    windowing: &'a Windowing,
    ways: Vec<Way>,
    sorted: Sorted<'a>,
    /// Rows in order, of which the first have gone out.
    rows: Batch,
    gone: usize,
    ended: bool,
    held: Reservation,
}

/// How a call is computed.
struct Way {
    method: Method,
    /// So many rows behind and before each row are looked at.
    back: usize,
    ahead: usize,
    /// Rows that do not differ in so many keys go out together.
    together: Option<usize>,
    /// The last results, or what they are made of, and the rows of their partition so far.
    last: Vec<Vector>,
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// With rows around.
    Around,
    /// Of the rows that go out alone.
    Alone,
    /// With what was before added.
    Added,
    /// With the rows of the partition before added.
    Ranked,
    /// The better of it and what was before.
    Better { is_greatest: bool },
    /// The state before, if there was one.
    Kept,
    /// A sum by a count, with both of what was before added.
    Mean,
}

impl Way {
    fn of(call: &WindowCall) -> Way {
        let (partition, peers) = (call.partition, call.partition + call.order);
        let way = |method, together| Way {
            method,
            back: 0,
            ahead: 0,
            together,
            last: Vec::new(),
            count: 0,
        };
        let around = |from: i64, to: i64| {
            let far = |rows: i64| usize::try_from(rows).unwrap_or(0);
            let back = far(from.saturating_neg().max(to.saturating_neg()));
            let ahead = far(from.max(to));
            match back.max(ahead) <= NEAR {
                true => Way {
                    back,
                    ahead,
                    ..way(Method::Around, None)
                },
                false => way(Method::Alone, Some(partition)),
            }
        };
        let whole = || way(Method::Alone, Some(partition));
        match call.function {
            WindowFunction::RowNumber => return way(Method::Added, None),
            WindowFunction::Rank => return way(Method::Ranked, Some(peers)),
            WindowFunction::DenseRank => return way(Method::Added, Some(peers)),
            WindowFunction::PercentRank | WindowFunction::CumeDist | WindowFunction::Tile(_) => {
                return whole();
            }
            WindowFunction::Shifted {
                by: Shift::Rows(by),
                back,
                ..
            } => {
                let by = if back { by.saturating_neg() } else { by };
                return around(by, by);
            }
            WindowFunction::Shifted { .. } => return whole(),
            _ => {}
        }
        let frame = call.frame;
        let distance = |bound| match bound {
            FrameBound::Unbounded => None,
            FrameBound::Current => Some(0),
            FrameBound::Preceding(by) => i64::try_from(by).ok().map(|by| -by),
            FrameBound::Following(by) => i64::try_from(by).ok(),
        };
        let ends = (distance(frame.start), distance(frame.end));
        if let (FrameUnit::Rows, (Some(from), Some(to))) = (frame.unit, ends)
            && matches!(frame.exclude, Exclude::NoOthers | Exclude::CurrentRow)
        {
            return around(from, to);
        }
        let grows = frame.start == FrameBound::Unbounded
            && frame.end == FrameBound::Current
            && frame.exclude == Exclude::NoOthers;
        let method = match &call.function {
            _ if !grows => return whole(),
            WindowFunction::First(_) => Method::Kept,
            WindowFunction::Last(_) => Method::Alone,
            WindowFunction::Aggregate {
                function, input, ..
            } => match function {
                Function::Count | Function::Sum => Method::Added,
                Function::Average { .. } if *input == DataType::Float64 => Method::Mean,
                Function::Average { .. } => return whole(),
                Function::Least => Method::Better { is_greatest: false },
                Function::Greatest => Method::Better { is_greatest: true },
            },
            _ => return whole(),
        };
        way(method, (frame.unit != FrameUnit::Rows).then_some(peers))
    }

    /// The results of a call for the rows from `gone` to before `cut`.
    fn computed(
        &mut self,
        call: &WindowCall,
        piece: &Piece<'_>,
        (gone, cut): (usize, usize),
    ) -> Result<Vector> {
        if self.method == Method::Around {
            return Ok(piece.computed(call)?.slice(gone, cut - gone));
        }
        let rows = Piece {
            order: &piece.order[gone..cut],
            levels: &piece.levels[gone..cut],
            ..*piece
        };
        let starts = rows.starts(call.partition);
        let goes_on = gone > 0 && usize::from(piece.levels[gone]) >= call.partition;
        // Of the rows, so many are of the partition that was there before.
        let of_before = if goes_on { starts[1] as usize } else { 0 };
        let before = if goes_on { self.count } else { 0 };
        let parts = match (self.method, &call.function) {
            (
                Method::Mean,
                WindowFunction::Aggregate {
                    argument, input, ..
                },
            ) => {
                let part = |function, kind: DataType| WindowCall {
                    function: WindowFunction::Aggregate {
                        function,
                        argument: *argument,
                        input: input.clone(),
                    },
                    kind,
                    ..call.clone()
                };
                let sum = part(Function::Sum, call.kind.clone());
                let count = part(Function::Count, DataType::Int64);
                vec![(sum, Method::Added), (count, Method::Added)]
            }
            _ => vec![(call.clone(), self.method)],
        };
        let mut results = Vec::with_capacity(parts.len());
        for (number, (part, method)) in parts.into_iter().enumerate() {
            let found = rows.computed(&part)?;
            let last = self.last.get(number).filter(|_| of_before > 0);
            results.push(match (last, method) {
                (Some(last), Method::Added) => added(&found, last, of_before, &part.kind)?,
                (Some(_), Method::Ranked) => {
                    let last = Vector::of(Values::Int(vec![before as i64].into()));
                    added(&found, &last, of_before, &part.kind)?
                }
                (Some(last), Method::Better { is_greatest }) => {
                    better(&found, last, of_before, is_greatest)?
                }
                (Some(last), Method::Kept) => {
                    let at = |row: usize| if row < of_before { found.len() } else { row };
                    replaced(&found, last, at)?
                }
                _ => found,
            });
        }
        let ends = results.iter().map(|found| found.slice(cut - gone - 1, 1));
        self.last = ends.collect();
        let in_last = cut - gone - starts[starts.len() - 2] as usize;
        self.count = in_last + if starts.len() == 2 { before } else { 0 };
        let mut results = results.into_iter();
        let lacks = || Error::internal("a window's call without a result");
        let first = results.next().ok_or_else(lacks)?;
        match results.next() {
            Some(counts) => mean(&first, &counts),
            None => Ok(first),
        }
    }
}

/// Results with a number added to the first of them; NULL is nothing to be added.
fn added(found: &Vector, last: &Vector, rows: usize, kind: &DataType) -> Result<Vector> {
    if last.is_null(0) {
        return Ok(found.clone());
    }
    let is_known = |row: usize| row < rows || !found.is_null(row);
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(found.len(), is_known));
    let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
    let wide = |values: &Values, row: usize| match values {
        Values::Int(values) => Some(i128::from(values[row])),
        Values::Wide(values) => Some(values[row]),
        _ => None,
    };
    let values = match (&found.values, &last.values) {
        (Values::Float(values), Values::Float(last)) => {
            let sum = |row: usize| match row < rows {
                true if found.is_null(row) => last[0],
                true => one_nan(last[0] + values[row]),
                false => values[row],
            };
            Values::Float((0..found.len()).map(sum).collect::<Vec<f64>>().into())
        }
        (values, last) => {
            let number = || Error::internal("a running total of what is no number");
            let last = wide(last, 0).ok_or_else(number)?;
            let sum = |row: usize| -> Result<i128> {
                let value = wide(values, row).ok_or_else(number)?;
                let value = if found.is_null(row) { 0 } else { value };
                let more = if row < rows { last } else { 0 };
                let sum = value.checked_add(more);
                sum.ok_or_else(|| Error::OutOfRange("decimal".into()))
            };
            let sums = (0..found.len()).map(sum).collect::<Result<Vec<i128>>>()?;
            let is_long = |sum: &i128| i64::try_from(*sum).is_err();
            if *kind == DataType::Int64 && sums.iter().any(is_long) {
                return Err(Error::OutOfRange("bigint".into()));
            }
            narrowed(&sums, None)
        }
    };
    Ok(Vector { values, nulls })
}

/// Results, the first of them replaced where a value is better.
fn better(found: &Vector, last: &Vector, rows: usize, is_greatest: bool) -> Result<Vector> {
    let mut places = Vec::with_capacity(found.len());
    for row in 0..found.len() {
        let stays = row >= rows
            || last.is_null(0)
            || !found.is_null(row) && {
                let order = compare(found, row, last, 0)?;
                if is_greatest {
                    order.is_ge()
                } else {
                    order.is_le()
                }
            };
        places.push(if stays { row } else { found.len() });
    }
    replaced(found, last, |row| places[row])
}

/// Results, or at the place behind the last of them another value.
fn replaced(found: &Vector, other: &Vector, at: impl Fn(usize) -> usize) -> Result<Vector> {
    let places: Vec<u32> = (0..found.len()).map(|row| at(row) as u32).collect();
    concat(&[found, other])?.take(&places)
}

/// Sums of floats by counts.
fn mean(sums: &Vector, counts: &Vector) -> Result<Vector> {
    match (&sums.values, &counts.values) {
        (Values::Float(values), Values::Int(counts)) => {
            let pairs = values.iter().zip(counts.iter());
            let means = pairs.map(|(sum, count)| one_nan(sum / (*count).max(1) as f64));
            Ok(Vector {
                values: Values::Float(means.collect::<Vec<f64>>().into()),
                nulls: sums.nulls.clone(),
            })
        }
        _ => Err(Error::internal("a mean of what is no float")),
    }
}

impl<'a> Stream<'a> {
    /// Of sorted rows; `held` is to be their reservation.
    pub fn new(windowing: &'a Windowing, sorted: Sorted<'a>, held: Reservation) -> Stream<'a> {
        Stream {
            ways: windowing.calls.iter().map(Way::of).collect(),
            windowing,
            sorted,
            rows: Batch {
                columns: Vec::new(),
                rows: 0,
            },
            gone: 0,
            ended: false,
            held,
        }
    }

    /// The next rows, of some columns of the input and with all results; the memory that was
    /// lacking if there is none for them.
    pub fn next(&mut self) -> Result<std::result::Result<Option<Batch>, usize>> {
        loop {
            if !self.read()? {
                let bytes = self.bytes();
                return Ok(Err(bytes));
            }
            if self.rows.rows == self.gone {
                return Ok(Ok(None));
            }
            if let Some(batch) = self.computed()? {
                return Ok(Ok(Some(batch)));
            }
        }
    }

    fn bytes(&self) -> usize {
        needed(self.windowing, self.rows.rows, self.rows.bytes())
    }

    /// Takes more rows, as many as a batch has; false without memory.
    fn read(&mut self) -> Result<bool> {
        let mut more = Vec::new();
        if self.rows.rows > 0 {
            more.push(std::mem::replace(
                &mut self.rows,
                Batch {
                    columns: Vec::new(),
                    rows: 0,
                },
            ));
        }
        // Rows that wait long are put together a few times only.
        let wanted = BATCH_ROWS.max(more.first().map_or(0, |waiting| waiting.rows) / 2);
        let mut new = 0;
        while !self.ended && new < wanted {
            match self.sorted.next()? {
                Some((batch, ticket)) => {
                    // No other thread takes rows.
                    ticket.in_turn(|| Ok(()))?;
                    new += batch.rows;
                    more.push(batch);
                }
                None => self.ended = true,
            }
        }
        self.rows = together(more)?;
        let bytes = self.bytes();
        // Two batches are worked on whatever is left.
        Ok(self.held.hold(bytes) || self.rows.rows <= 2 * BATCH_ROWS)
    }

    /// Those rows whose results are known; `None` if more must come before.
    fn computed(&mut self) -> Result<Option<Batch>> {
        let sorting = &self.windowing.sorting.keys;
        let keys = sorting
            .iter()
            .map(|key| key.expression.evaluate(&self.rows));
        let keys = keys.collect::<Result<Vec<Vector>>>()?;
        // In range: so many rows are not held.
        let order: Vec<u32> = (0..self.rows.rows as u32).collect();
        let levels = levels(&keys, &order, 1)?;
        let Some(cut) = self.cut(&levels) else {
            return Ok(None);
        };
        let gone = self.gone;
        let piece = Piece {
            batch: &self.rows,
            keys: &keys,
            sorting,
            order: &order,
            levels: &levels,
        };
        let columns = self.windowing.columns.iter();
        let columns = columns.map(|column| match self.rows.columns.get(*column) {
            Some(column) if column.is_empty() => Ok(column.clone()),
            Some(column) => Ok(column.slice(gone, cut - gone)),
            None => Err(Error::internal("a column that is not there")),
        });
        let mut all = columns.collect::<Result<Vec<Vector>>>()?;
        for (way, call) in self.ways.iter_mut().zip(&self.windowing.calls) {
            all.push(way.computed(call, &piece, (gone, cut))?);
        }
        let back = self.ways.iter().map(|way| way.back).max().unwrap_or(0);
        // One row at least tells whether the next is of its partition.
        let first = cut.saturating_sub(back.max(1));
        let places: Vec<u32> = (first as u32..self.rows.rows as u32).collect();
        self.rows = self.rows.take(&places)?;
        self.gone = cut - first;
        Ok(Some(Batch {
            columns: all,
            rows: cut - gone,
        }))
    }

    /// Before which row results are known; `None` if before none.
    fn cut(&self, levels: &[u8]) -> Option<usize> {
        let rows = self.rows.rows;
        if self.ended {
            return Some(rows).filter(|rows| *rows > self.gone);
        }
        let ahead = self.ways.iter().map(|way| way.ahead).max().unwrap_or(0);
        let fits = |cut: usize| {
            let mut ways = self.ways.iter().filter_map(|way| way.together);
            ways.all(|keys| usize::from(levels[cut]) < keys)
        };
        let last = rows.checked_sub(ahead.max(1))?;
        (self.gone + 1..=last).rev().find(|cut| fits(*cut))
    }
}
