//! The frame of each row: the rows that a window function looks at.
//!
//! ```text
//! x                                         1   2   2   5
//! ROWS  BETWEEN 1 PRECEDING AND CURRENT ROW [0] [01] [12] [23]
//! RANGE BETWEEN 1 PRECEDING AND CURRENT ROW [0] [012] [012] [3]
//! GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW [0] [012] [012] [123]
//! ```
//!
//! Both ends of the frame only move forward from row to row, so that two pointers find all
//! frames in linear time. For RANGE with an offset the caller gives the order values and, for
//! each end, the values at which it lies: each row's order value plus or minus the offset
//! (`distance`). [`boundary`] computes those of numbers and times of day, and does not
//! overflow. A date plus an interval is a timestamp, so that dates must be given as timestamps.
//! A time of day plus an interval begins anew at midnight, which a frame must not.
//!
//! Rows whose order value is NULL are in one another's frames, and in no others that have an
//! offset at that end.
//!
//! The binder refuses frames that end before they begin, and RANGE offsets without exactly one
//! order column; offsets are constants here.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    IntervalMonthDayNanoType, Time64MicrosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};

use crate::error::{Error, Result};
use crate::functions::aggregates::Direction;
use crate::functions::ordering::Comparator;
use crate::values::Interval;
use crate::values::datetime::{timetz_bytes, timetz_parts};

/// In which units offsets count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Rows.
    Rows,
    /// The order column's values.
    Range,
    /// Groups of peers.
    Groups,
}

/// An end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The partition's first row.
    UnboundedPreceding,
    /// Before the row, by an offset; the offset of RANGE is in [`Ranges`] and is not read here.
    Preceding(Option<i64>),
    /// The row, or with RANGE and GROUPS its peers.
    CurrentRow,
    /// Behind the row, by an offset.
    Following(Option<i64>),
    /// The partition's last row.
    UnboundedFollowing,
}

/// Rows that a frame leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Exclude {
    /// EXCLUDE NO OTHERS.
    #[default]
    NoOthers,
    /// The row itself.
    CurrentRow,
    /// The row and its peers.
    Group,
    /// The row's peers, and not the row itself.
    Ties,
}

/// A frame clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The unit of offsets.
    pub mode: Mode,
    /// The first row.
    pub start: Bound,
    /// The last row.
    pub end: Bound,
    /// Rows that are left out.
    pub exclude: Exclude,
}

impl Default for Frame {
    /// RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW.
    fn default() -> Self {
        Self {
            mode: Mode::Range,
            start: Bound::UnboundedPreceding,
            end: Bound::CurrentRow,
            exclude: Exclude::NoOthers,
        }
    }
}

/// The order column's values, as RANGE with an offset needs them.
pub struct Ranges<'a> {
    /// The order values of the partition's rows, in order.
    pub keys: &'a ArrayRef,
    /// The values at which frames start, one for each row, if the start has an offset. NULL
    /// says that the value is beyond the type's limits; the caller refuses an offset that is
    /// NULL ([`null_offset`]). Rows whose order value is NULL need none.
    pub start: Option<&'a ArrayRef>,
    /// The values at which frames end, if the end has an offset.
    pub end: Option<&'a ArrayRef>,
    /// The comparison of order values with those at which frames start and end.
    pub compare: &'a Comparator,
    /// The direction of the order.
    pub direction: Direction,
}

/// The frames of a partition's rows.
#[derive(Clone, Debug)]
pub struct Frames {
    /// The frame of each row before rows are excluded; both ends never move backwards.
    bounds: Vec<Range<usize>>,
    exclude: Exclude,
    peers: Vec<Range<usize>>,
}

impl Frames {
    /// Frames without excluded rows.
    pub fn of(bounds: Vec<Range<usize>>) -> Self {
        Self {
            bounds,
            exclude: Exclude::NoOthers,
            peers: Vec::new(),
        }
    }

    /// Rows of the partition.
    pub fn rows(&self) -> usize {
        self.bounds.len()
    }

    /// Whether rows are left out of the middle of frames.
    pub fn excludes(&self) -> bool {
        self.exclude != Exclude::NoOthers
    }

    /// The frame of a row before rows are excluded.
    pub fn bounds(&self, row: usize) -> Range<usize> {
        self.bounds.get(row).cloned().unwrap_or(0..0)
    }

    /// The frame of a row as ranges in order, none of which is empty.
    pub fn ranges(&self, row: usize) -> Vec<Range<usize>> {
        let frame = self.bounds(row);
        let peers = self.peers.get(row).cloned().unwrap_or(row..row + 1);
        let parts = match self.exclude {
            Exclude::NoOthers => [frame, 0..0, 0..0],
            Exclude::CurrentRow => [
                frame.start..frame.end.min(row),
                frame.start.max(row + 1)..frame.end,
                0..0,
            ],
            Exclude::Group => [
                frame.start..frame.end.min(peers.start),
                frame.start.max(peers.end)..frame.end,
                0..0,
            ],
            Exclude::Ties => [
                frame.start..frame.end.min(peers.start),
                frame.start.max(row)..frame.end.min(row + 1),
                frame.start.max(peers.end)..frame.end,
            ],
        };
        parts.into_iter().filter(|part| !part.is_empty()).collect()
    }
}

/// Which end of a frame an offset belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Start,
    End,
}

impl End {
    fn word(self) -> &'static str {
        match self {
            End::Start => "starting",
            End::End => "ending",
        }
    }
}

/// The frames of a partition's rows. `peers` are those of each row; without ORDER BY all rows
/// are peers of one another.
///
/// # Errors
/// `22004` for an offset that is NULL, `22013` for a negative one.
pub fn frames(
    frame: &Frame,
    peers: &[Range<usize>],
    ranges: Option<&Ranges<'_>>,
) -> Result<Frames> {
    let start = ends(frame, End::Start, peers, ranges)?;
    let end = ends(frame, End::End, peers, ranges)?;
    let bounds = start.into_iter().zip(end);
    let bounds = bounds.map(|(start, end)| start..end.max(start)).collect();
    let exclude = frame.exclude;
    let peers = match exclude {
        Exclude::NoOthers | Exclude::CurrentRow => Vec::new(),
        Exclude::Group | Exclude::Ties => peers.to_vec(),
    };
    Ok(Frames {
        bounds,
        exclude,
        peers,
    })
}

/// The peers of each row, by whether a row is a peer of the one before it.
pub fn peers(rows: usize, mut same: impl FnMut(usize) -> bool) -> Vec<Range<usize>> {
    let mut peers = Vec::with_capacity(rows);
    let mut start = 0;
    for row in 1..=rows {
        if row == rows || !same(row) {
            peers.resize(row, start..row);
            start = row;
        }
    }
    peers
}

/// One end of each row's frame: the first row in it, or the one behind its last.
fn ends(
    frame: &Frame,
    end: End,
    peers: &[Range<usize>],
    ranges: Option<&Ranges<'_>>,
) -> Result<Vec<usize>> {
    let rows = peers.len();
    let bound = match end {
        End::Start => frame.start,
        End::End => frame.end,
    };
    let (offset, preceding) = match bound {
        Bound::UnboundedPreceding => return Ok(vec![0; rows]),
        Bound::UnboundedFollowing => return Ok(vec![rows; rows]),
        Bound::CurrentRow => {
            let place = |(row, peers): (usize, &Range<usize>)| match (frame.mode, end) {
                (Mode::Rows, End::Start) => row,
                (Mode::Rows, End::End) => row + 1,
                (_, End::Start) => peers.start,
                (_, End::End) => peers.end,
            };
            return Ok(peers.iter().enumerate().map(place).collect());
        }
        Bound::Preceding(offset) => (offset, true),
        Bound::Following(offset) => (offset, false),
    };
    if frame.mode == Mode::Range {
        let ranges = ranges.ok_or_else(|| Error::internal("RANGE without order values"))?;
        return range_ends(end, preceding, rows, ranges);
    }
    let offset = offset.ok_or_else(|| null_offset(end == End::Start))?;
    let offset = usize::try_from(offset).map_err(|_| {
        let message = format!("frame {} offset must not be negative", end.word());
        Error::new("22013", message)
    })?;
    Ok(match frame.mode {
        Mode::Rows => {
            let place = |row: usize| {
                let row = row + usize::from(end == End::End);
                match preceding {
                    true => row.saturating_sub(offset),
                    false => row.saturating_add(offset).min(rows),
                }
            };
            (0..rows).map(place).collect()
        }
        _ => group_ends(end, peers, offset, preceding),
    })
}

/// `22004`: the offset of a frame's start or of its end is NULL.
pub fn null_offset(is_start: bool) -> Error {
    let end = if is_start { End::Start } else { End::End };
    let message = format!("frame {} offset must not be null", end.word());
    Error::new("22004", message)
}

/// The ends of frames that lie some groups of peers before or behind a row.
fn group_ends(end: End, peers: &[Range<usize>], offset: usize, preceding: bool) -> Vec<usize> {
    let rows = peers.len();
    let firsts = peers
        .iter()
        .enumerate()
        .filter(|(row, peers)| peers.start == *row);
    let groups: Vec<Range<usize>> = firsts.map(|(_, peers)| peers.clone()).collect();
    let mut ends = Vec::with_capacity(rows);
    for (number, group) in groups.iter().enumerate() {
        let found = match preceding {
            true => number.checked_sub(offset),
            false => number.checked_add(offset),
        };
        let place = match (found.and_then(|found| groups.get(found)), end) {
            (Some(found), End::Start) => found.start,
            (Some(found), End::End) => found.end,
            // Before the first group nothing begins and nothing ends.
            (None, _) if preceding => 0,
            (None, _) => rows,
        };
        ends.resize(group.end, place);
    }
    ends
}

/// The ends of frames at values of the order column.
fn range_ends(end: End, preceding: bool, rows: usize, ranges: &Ranges<'_>) -> Result<Vec<usize>> {
    let boundaries = match end {
        End::Start => ranges.start,
        End::End => ranges.end,
    };
    let boundaries = boundaries.ok_or_else(|| Error::internal("RANGE without boundaries"))?;
    let keys = ranges.keys;
    let nulls = keys.null_count();
    // NULLs are at one end of the order.
    let (null, known) = match ranges.direction.nulls_first {
        true => (0..nulls, nulls..rows),
        false => (rows - nulls..rows, 0..rows - nulls),
    };
    let mut place = known.start;
    let mut ends = Vec::with_capacity(rows);
    for row in 0..rows {
        if null.contains(&row) {
            ends.push(match end {
                End::Start => null.start,
                End::End => null.end,
            });
            continue;
        }
        if boundaries.is_null(row) {
            ends.push(match preceding {
                true => known.start,
                false => known.end,
            });
            continue;
        }
        while place < known.end {
            let mut order = (ranges.compare)(keys, place, boundaries, row);
            if ranges.direction.descending {
                order = order.reverse();
            }
            let passed = match end {
                End::Start => order == Ordering::Less,
                End::End => order != Ordering::Greater,
            };
            if !passed {
                break;
            }
            place += 1;
        }
        ends.push(place);
    }
    Ok(ends)
}

/// The values at which frames with a RANGE offset start or end, for order values that are
/// numbers and an offset of the same type (one row), or times of day and an interval. A value
/// beyond the type's limits is NULL. `None` for other types, whose operators the caller must
/// use.
///
/// # Errors
/// `22004` for an offset that is NULL, `22013` for one that is negative or not a number.
pub fn boundary(
    keys: &ArrayRef,
    offset: &ArrayRef,
    is_start: bool,
    is_preceding: bool,
    direction: Direction,
) -> Result<Option<ArrayRef>> {
    if offset.is_empty() || offset.is_null(0) {
        return Err(null_offset(is_start));
    }
    // Nothing is added to NULLs, and a wrong offset does no harm.
    let any = keys.null_count() < keys.len();
    // Preceding values are less in ascending order.
    let minus = is_preceding != direction.descending;
    macro_rules! integers {
        ($arrow:ident) => {{
            let by = offset.as_primitive::<$arrow>().value(0);
            if by < 0 && any {
                return Err(negative_offset());
            }
            mapped::<$arrow>(keys, |key| match minus {
                true => key.checked_sub(by),
                false => key.checked_add(by),
            })
        }};
    }
    macro_rules! floats {
        ($arrow:ident, $native:ident) => {{
            let by = offset.as_primitive::<$arrow>().value(0);
            if (by.is_nan() || by < 0.0) && any {
                return Err(negative_offset());
            }
            mapped::<$arrow>(keys, |key| {
                let sum = if minus { key - by } else { key + by };
                // An infinite value minus infinity is a boundary that all values are within.
                Some(match sum.is_nan() && !key.is_nan() {
                    true if is_start != direction.descending => $native::NEG_INFINITY,
                    true => $native::INFINITY,
                    false => sum,
                })
            })
        }};
    }
    let time = *keys.data_type() == DataType::Time64(TimeUnit::Microsecond);
    let zoned = keys.as_fixed_size_binary_opt();
    let zoned = zoned.filter(|zoned| zoned.value_length() == 12);
    if let (true, Some(by)) = (
        time || zoned.is_some(),
        offset.as_primitive_opt::<IntervalMonthDayNanoType>(),
    ) {
        // Months and days do not count.
        let by = Interval::from(by.value(0)).micros;
        if by < 0 && any {
            return Err(negative_offset());
        }
        let moved = |key: i64| match minus {
            true => key.checked_sub(by),
            false => key.checked_add(by),
        };
        let Some(zoned) = zoned else {
            return Ok(Some(mapped::<Time64MicrosecondType>(keys, moved)));
        };
        let mut builder = FixedSizeBinaryBuilder::with_capacity(zoned.len(), 12);
        for key in zoned {
            let key = key.and_then(|bytes| bytes.try_into().ok());
            let moved = key.map(timetz_parts).and_then(|(time, east)| {
                let time = moved(time)?;
                Some(timetz_bytes(time, east))
            });
            match moved {
                Some(bytes) => builder.append_value(bytes)?,
                None => builder.append_null(),
            }
        }
        return Ok(Some(Arc::new(builder.finish())));
    }
    if keys.data_type() != offset.data_type() {
        return Ok(None);
    }
    Ok(Some(match keys.data_type() {
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::Decimal128(..) => integers!(Decimal128Type),
        DataType::Float32 => floats!(Float32Type, f32),
        DataType::Float64 => floats!(Float64Type, f64),
        _ => return Ok(None),
    }))
}

/// `22013`: a RANGE offset that is negative or not a number. For the caller's own types, too.
pub fn negative_offset() -> Error {
    let message = "invalid preceding or following size in window function";
    Error::new("22013", message)
}

/// An array with each value changed, of the same Arrow type.
fn mapped<T: ArrowPrimitiveType>(
    keys: &ArrayRef,
    f: impl Fn(T::Native) -> Option<T::Native>,
) -> ArrayRef {
    let mapped: PrimitiveArray<T> = keys.as_primitive::<T>().unary_opt(f);
    Arc::new(mapped.with_data_type(keys.data_type().clone()))
}
