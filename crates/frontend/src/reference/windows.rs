//! Window calls: for each row its frame is found and looked at anew.

use std::cmp::Ordering;
use std::ops::Range;

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_select::take::take;

use super::groups::{Accumulated, accumulated};
use super::table::{self, concat};
use super::{Env, Run, Table};
use crate::error::{Error, Result};
use crate::functions::kernel::{Call, number};
use crate::functions::ordering::comparator;
use crate::functions::windows::Partition;
use crate::functions::windows::frame::null_offset;
use crate::plan::{Bound, Exclude, Expr, Frame, FrameUnits, WindowCall, WindowKind};
use crate::types::Type;

/// A partition in its order, as frames see it.
struct Ordered {
    rows: usize,
    /// The first and the last peer of each row.
    peers: Vec<Range<usize>>,
    /// Distances of the frame's ends, and for RANGE their values for each row.
    start: End,
    end: End,
    /// The only key's values and whether they descend.
    key: Option<(Type, ArrayRef, bool)>,
}

/// An end of a frame.
#[derive(Default)]
struct End {
    distance: Option<i64>,
    values: Option<ArrayRef>,
}

impl Run<'_> {
    /// The values of a call for the rows of a table.
    pub(super) fn window(
        &self,
        table: &Table,
        call: &WindowCall,
        env: &Env<'_>,
    ) -> Result<ArrayRef> {
        let partition = self.all(call.partition.iter(), table, env)?;
        let start = self.distance(&call.frame, &call.frame.start, "starting", env)?;
        let end = self.distance(&call.frame, &call.frame.end, "ending", env)?;
        let mut places = vec![0; table.rows];
        let mut results = Vec::new();
        let mut offset = 0;
        for rows in table::groups(&partition, table.rows)? {
            let group = table.select(&rows)?;
            let order = self.sorted(&group, &call.order, env)?;
            let group = group.select(&order)?;
            for (at, place) in order.iter().enumerate() {
                places[rows[*place]] = (offset + at) as u64;
            }
            offset += order.len();
            results.push(self.over(&group, call, (start, end), env)?);
        }
        if results.is_empty() {
            return Ok(arrow_array::new_empty_array(&call.returns.arrow()));
        }
        let results = concat(&results)?;
        Ok(take(&results, &UInt64Array::from(places), None)?)
    }

    /// The distance of a frame's end, checked.
    fn distance(
        &self,
        frame: &Frame,
        bound: &Bound,
        which: &str,
        env: &Env<'_>,
    ) -> Result<Option<i64>> {
        let (Bound::Preceding(expr) | Bound::Following(expr)) = bound else {
            return Ok(None);
        };
        let value = self.constant(expr, env)?;
        let is_start = which == "starting";
        if value.is_null(0) {
            return Err(null_offset(is_start));
        }
        if frame.units == FrameUnits::Range {
            return Ok(None);
        }
        let distance = number(&value).unwrap_or(0.0);
        if distance < 0.0 {
            let message = format!("frame {which} offset must not be negative");
            return Err(Error::new("22013", message));
        }
        Ok(Some(distance as i64))
    }

    /// The values of a call for a partition in its order.
    fn over(
        &self,
        group: &Table,
        call: &WindowCall,
        (start, end): (Option<i64>, Option<i64>),
        env: &Env<'_>,
    ) -> Result<ArrayRef> {
        let keys = self.all(call.order.iter().map(|key| &key.expr), group, env)?;
        let same = table::same(&keys)?;
        let mut peers: Vec<Range<usize>> = Vec::with_capacity(group.rows);
        for row in 0..group.rows {
            match peers.last() {
                Some(last) if row > 0 && same(row - 1, row) => peers.push(last.clone()),
                _ => peers.push(row..row),
            }
            let first = peers[row].start;
            peers[first..=row]
                .iter_mut()
                .for_each(|of| of.end = row + 1);
        }
        let value = |expr: &Option<Expr>| match expr {
            Some(expr) => self.expr(expr, group, env).map(Some),
            None => Ok(None),
        };
        let descending = call.order.first().is_some_and(|key| key.descending);
        let key = keys
            .first()
            .map(|(ty, values)| (ty.clone(), values.clone(), descending));
        let ordered = Ordered {
            rows: group.rows,
            start: End {
                distance: start,
                values: value(&call.frame.start_value)?,
            },
            end: End {
                distance: end,
                values: value(&call.frame.end_value)?,
            },
            peers,
            key,
        };
        let frames = (0..group.rows).map(|row| ordered.frame(&call.frame, row));
        let frames = frames.collect::<Result<Vec<_>>>()?;
        let arguments = self.all(call.arguments.iter(), group, env)?;
        match &call.kind {
            WindowKind::Function(function) => {
                let types: Vec<Type> = arguments.iter().map(|(ty, _)| ty.clone()).collect();
                let arrays: Vec<ArrayRef> = arguments.into_iter().map(|(_, a)| a).collect();
                let context = Call {
                    rows: group.rows,
                    types: &types,
                    returns: &call.returns,
                    session: self.session,
                };
                let partition = Partition {
                    rows: group.rows,
                    arguments: &arrays,
                    peers: &ordered.peers,
                    frame: &|row| ranges(frames.get(row).map_or(&[], Vec::as_slice)),
                    ignore_nulls: call.ignore_nulls,
                };
                (function.kernel)(&context, &partition)
            }
            WindowKind::Aggregate(function) => {
                let kept = match &call.filter {
                    Some(filter) => self.matching(filter, group, env)?,
                    None => (0..group.rows).collect(),
                };
                let of = Accumulated {
                    function,
                    direct: &[],
                    distinct: call.distinct,
                    keys: &[],
                    returns: &call.returns,
                };
                let mut results: Vec<ArrayRef> = Vec::with_capacity(group.rows);
                for (row, frame) in frames.iter().enumerate() {
                    if row > 0 && *frame == frames[row - 1] {
                        results.push(results[row - 1].clone());
                        continue;
                    }
                    let rows: Vec<u64> = frame
                        .iter()
                        .filter(|row| kept.binary_search(row).is_ok())
                        .map(|row| *row as u64)
                        .collect();
                    self.count(rows.len())?;
                    let rows = UInt64Array::from(rows);
                    let taken = arguments
                        .iter()
                        .map(|(ty, array)| Ok((ty.clone(), take(array, &rows, None)?)));
                    let taken = taken.collect::<Result<Vec<_>>>()?;
                    results.push(accumulated(&of, &taken, &[], rows.len(), self.session)?);
                }
                concat(&results)
            }
        }
    }
}

impl Ordered {
    /// The rows of a row's frame, in order.
    fn frame(&self, frame: &Frame, row: usize) -> Result<Vec<usize>> {
        let first = self.border(frame, &frame.start, row, true)?;
        let behind = self.border(frame, &frame.end, row, false)?;
        let peers = &self.peers[row];
        let kept = |at: &usize| match frame.exclude {
            Exclude::NoOthers => true,
            Exclude::CurrentRow => *at != row,
            Exclude::Group => !peers.contains(at),
            Exclude::Ties => *at == row || !peers.contains(at),
        };
        Ok((first..behind.max(first)).filter(kept).collect())
    }

    /// The first row of a row's frame, or the one behind the last.
    fn border(&self, frame: &Frame, bound: &Bound, row: usize, is_start: bool) -> Result<usize> {
        let end = if is_start { &self.start } else { &self.end };
        let forward = match bound {
            Bound::Unbounded if is_start => return Ok(0),
            Bound::Unbounded => return Ok(self.rows),
            Bound::Current => {
                return Ok(match (frame.units, is_start) {
                    (FrameUnits::Rows, true) => row,
                    (FrameUnits::Rows, false) => row + 1,
                    (_, true) => self.peers[row].start,
                    (_, false) => self.peers[row].end,
                });
            }
            Bound::Preceding(_) => false,
            Bound::Following(_) => true,
        };
        if frame.units == FrameUnits::Range {
            return self.by_value(end, row, is_start, forward);
        }
        let distance = i128::from(end.distance.unwrap_or(0));
        let distance = if forward { distance } else { -distance };
        let wanted = |at: usize| {
            let place = |row: usize| match frame.units {
                FrameUnits::Rows => row as i128,
                _ => self.group_of(row),
            };
            match is_start {
                true => place(at) >= place(row) + distance,
                false => place(at) <= place(row) + distance,
            }
        };
        Ok(match is_start {
            true => (0..self.rows).find(|at| wanted(*at)).unwrap_or(self.rows),
            false => (0..self.rows)
                .rfind(|at| wanted(*at))
                .map_or(0, |at| at + 1),
        })
    }

    /// The number of a row's group of peers.
    fn group_of(&self, row: usize) -> i128 {
        let before = (0..row).filter(|at| self.peers[*at].end == at + 1);
        before.count() as i128
    }

    /// The border by the value at which it lies.
    fn by_value(&self, end: &End, row: usize, is_start: bool, forward: bool) -> Result<usize> {
        let (Some((ty, keys, descending)), Some(values)) = (&self.key, &end.values) else {
            return Err(Error::internal("RANGE with a distance, without its values"));
        };
        let peers = &self.peers[row];
        if keys.is_null(row) {
            return Ok(if is_start { peers.start } else { peers.end });
        }
        let order = comparator(ty)?;
        let inside = |at: &usize| {
            let order = match order(keys, *at, values, row) {
                order if *descending => order.reverse(),
                order => order,
            };
            match is_start {
                true => order != Ordering::Less,
                false => order != Ordering::Greater,
            }
        };
        let known: Vec<usize> = (0..self.rows).filter(|at| !keys.is_null(*at)).collect();
        let (first, last) = (known.first().copied(), known.last().copied());
        // The value is beyond the type's limits, and so beyond all rows.
        if values.is_null(row) {
            return Ok(match forward {
                true => last.map_or(0, |last| last + 1),
                false => first.unwrap_or(0),
            });
        }
        Ok(match is_start {
            true => known
                .iter()
                .copied()
                .find(inside)
                .unwrap_or(last.map_or(0, |last| last + 1)),
            false => known
                .iter()
                .copied()
                .rfind(inside)
                .map_or(first.unwrap_or(0), |at| at + 1),
        })
    }
}

/// Rows in order as ranges.
fn ranges(rows: &[usize]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for row in rows {
        match ranges.last_mut() {
            Some(last) if last.end == *row => last.end = row + 1,
            _ => ranges.push(*row..row + 1),
        }
    }
    ranges
}
