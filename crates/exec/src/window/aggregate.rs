//! Aggregates over the frames of a piece.
//!
//! | aggregates | way |
//! |---|---|
//! | counts, sums of integers and decimals | differences of running sums, which are exact |
//! | sums of floats, frames that only grow | one running sum of each partition |
//! | least and greatest, frames without gaps | a queue of the rows that may still be it |
//! | all others | short frames row by row, longer ones by a tree of segments |
//!
//! Digits that a large float has pushed out do not come back when it is taken away, so that
//! floats are added up anew for frames that move on.

use super::frames::{Frames, ranges};
use super::tree::Tree;
use super::values::{compare, text};
use crate::aggregate::Function;
use crate::expression::one_nan;
use crate::kernels::bounds;
use crate::vector::{NO_ROW, Values, Vector, narrowed};
use crate::{Error, Result};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Range;

/// Frames of so few rows are looked through row by row.
const SHORT: usize = 32;

/// The rows whose values count.
struct Counted {
    /// Which rows; `None` for all.
    which: Option<BooleanBuffer>,
    /// How many are before each row, and at last in all; none where all rows count.
    before: Vec<u32>,
}

impl Counted {
    fn of(rows: usize, nulls: Option<&NullBuffer>, filter: Option<BooleanBuffer>) -> Counted {
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        let which = match (nulls, filter) {
            (Some(nulls), Some(filter)) => Some(nulls.inner() & &filter),
            (Some(nulls), None) => Some(nulls.inner().clone()),
            (None, filter) => filter,
        };
        let mut before = Vec::new();
        if let Some(which) = &which {
            let mut count = 0;
            before.reserve(rows + 1);
            before.push(0);
            before.extend(which.iter().map(|counts| {
                count += u32::from(counts);
                count
            }));
        }
        Counted { which, before }
    }

    #[inline]
    fn counts(&self, row: usize) -> bool {
        self.which.as_ref().is_none_or(|which| which.value(row))
    }

    /// How many rows of a range count.
    #[inline]
    fn within(&self, range: &Range<usize>) -> usize {
        match self.before.is_empty() {
            true => range.len(),
            false => (self.before[range.end] - self.before[range.start]) as usize,
        }
    }
}

/// An aggregate of the values of an argument, in order, over the frame of each row.
///
/// # Errors
/// Sums that are out of range.
pub(super) fn aggregate(
    (function, input, kind): (Function, &DataType, &DataType),
    argument: Option<Vector>,
    filter: Option<BooleanBuffer>,
    frames: &Frames,
    partitions: &[u32],
) -> Result<Vector> {
    let rows = frames.starts.len();
    let nulls = argument.as_ref().and_then(|vector| vector.nulls.as_ref());
    let counted = Counted::of(rows, nulls, filter);
    let over = Over {
        counted: &counted,
        frames,
        partitions,
    };
    let counts = || over.each(|ranges| ranges.iter().map(|range| counted.within(range)).sum());
    if function == Function::Count {
        let counts: Vec<i64> = counts()
            .into_iter()
            .map(|count: usize| count as i64)
            .collect();
        return Ok(Vector::of(Values::Int(counts.into())));
    }
    let argument = argument.ok_or_else(|| Error::internal("an aggregate of no values"))?;
    if matches!(function, Function::Least | Function::Greatest) {
        return over.best(&argument, function == Function::Greatest);
    }
    let counts: Vec<usize> = counts();
    let known = BooleanBuffer::collect_bool(rows, |row| counts[row] > 0);
    let nulls = Some(NullBuffer::new(known)).filter(|nulls| nulls.null_count() > 0);
    let values = match (&argument.values, function) {
        (Values::Float(values), _) if *input == DataType::Float64 => {
            let sums = over.float_sums(values)?;
            let pairs = sums.into_iter().zip(&counts);
            let results: Vec<f64> = match function {
                Function::Average { .. } => pairs
                    .map(|(sum, count)| one_nan(sum / (*count).max(1) as f64))
                    .collect(),
                _ => pairs
                    .map(|(sum, count)| if *count == 0 { 0.0 } else { one_nan(sum) })
                    .collect(),
            };
            Values::Float(results.into())
        }
        (Values::Int(_) | Values::Wide(_), Function::Average { factor }) => {
            let sums = over.sums(&argument.values)?.wide();
            let average = |(sum, count): (i128, &usize)| -> Result<i128> {
                let scaled = sum.checked_mul(factor);
                let scaled = scaled.ok_or_else(|| Error::OutOfRange("decimal".into()))?;
                Ok(scaled / (*count).max(1) as i128)
            };
            let averages = sums.into_iter().zip(&counts).map(average);
            narrowed(&averages.collect::<Result<Vec<i128>>>()?, None)
        }
        (Values::Int(_) | Values::Wide(_), _) => match over.sums(&argument.values)? {
            Sums::Short(sums) => Values::Int(sums.into()),
            Sums::Long(sums) => {
                let is_long = |sum: &i128| i64::try_from(*sum).is_err();
                if *kind == DataType::Int64 && sums.iter().any(is_long) {
                    return Err(Error::OutOfRange("bigint".into()));
                }
                narrowed(&sums, None)
            }
        },
        _ => return Err(Error::internal("a sum of what is no number")),
    };
    Ok(Vector { values, nulls })
}

/// Sums of integers.
enum Sums {
    Short(Vec<i64>),
    Long(Vec<i128>),
}

impl Sums {
    fn wide(self) -> Vec<i128> {
        match self {
            Sums::Short(sums) => sums.into_iter().map(i128::from).collect(),
            Sums::Long(sums) => sums,
        }
    }
}

/// Which rows there are, and their frames.
struct Over<'a> {
    counted: &'a Counted,
    frames: &'a Frames,
    partitions: &'a [u32],
}

impl Over<'_> {
    /// A result for the frame of each row.
    #[inline(always)]
    fn each<T>(&self, of: impl Fn(&[Range<usize>]) -> T) -> Vec<T> {
        let rows = self.frames.starts.len();
        if self.frames.excludes() {
            return (0..rows).map(|row| of(&self.frames.ranges(row))).collect();
        }
        let pairs = self.frames.starts.iter().zip(&self.frames.ends);
        pairs
            .map(|(start, end)| of(std::slice::from_ref(&(*start as usize..*end as usize))))
            .collect()
    }

    /// The sum of the values of each frame.
    fn sums(&self, values: &Values) -> Result<Sums> {
        let rows = self.frames.starts.len();
        match values {
            Values::Int(values) => {
                let (least, greatest) = bounds(values);
                let most = least.unsigned_abs().max(greatest.unsigned_abs());
                let all = most.checked_mul(rows as u64).filter(|all| *all < 1 << 62);
                if all.is_some() {
                    let before = self.running(|row| values[row], |a, b| a + b, 0);
                    return Ok(Sums::Short(self.each(|ranges| {
                        let ranges = ranges.iter();
                        ranges
                            .map(|range| before[range.end] - before[range.start])
                            .sum()
                    })));
                }
                // The numbers of rows have 32 bits, so that no sum leaves 128.
                Ok(Sums::Long(self.differences(|row| i128::from(values[row]))))
            }
            Values::Wide(values) => {
                let most = values.iter().map(|value| value.unsigned_abs()).max();
                let all = most.unwrap_or(0).checked_mul(rows as u128);
                if all.is_some_and(|all| all < 1 << 126) {
                    return Ok(Sums::Long(self.differences(|row| values[row])));
                }
                self.checked(values).map(Sums::Long)
            }
            _ => Err(Error::internal("a sum of what is no number")),
        }
    }

    fn differences(&self, value: impl Fn(usize) -> i128) -> Vec<i128> {
        let before = self.running(value, |a, b| a + b, 0);
        self.each(|ranges| {
            let ranges = ranges.iter();
            ranges
                .map(|range| before[range.end] - before[range.start])
                .sum()
        })
    }

    /// The sum of all values before each row, and at last of all.
    #[inline(always)]
    fn running<T: Copy>(
        &self,
        value: impl Fn(usize) -> T,
        add: impl Fn(T, T) -> T,
        nothing: T,
    ) -> Vec<T> {
        let rows = self.frames.starts.len();
        let mut sums = Vec::with_capacity(rows + 1);
        let mut sum = nothing;
        sums.push(sum);
        match &self.counted.which {
            None => sums.extend((0..rows).map(|row| {
                sum = add(sum, value(row));
                sum
            })),
            Some(which) => sums.extend((0..rows).map(|row| {
                if which.value(row) {
                    sum = add(sum, value(row));
                }
                sum
            })),
        }
        sums
    }

    /// Sums of decimals that may leave 128 bits.
    fn checked(&self, values: &[i128]) -> Result<Vec<i128>> {
        let leaf = |row: usize| match self.counted.counts(row) {
            true => Some(values[row]),
            false => Some(0),
        };
        let both = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        let sums = self.by_tree(leaf, Some(0), both);
        let all = sums.into_iter().collect::<Option<Vec<i128>>>();
        all.ok_or_else(|| Error::OutOfRange("decimal".into()))
    }

    fn float_sums(&self, values: &[f64]) -> Result<Vec<f64>> {
        let counts = |row: usize| self.counted.counts(row);
        // Added to any number, zeros of either sign among them, this leaves it as it is.
        let leaf = |row: usize| if counts(row) { values[row] } else { -0.0 };
        let sums = match self.grows() {
            true => self.growing(leaf, -0.0, |a, b| a + b),
            false => self.by_tree(leaf, -0.0, |a, b| a + b),
        };
        let is_finite = |row: usize| !counts(row) || values[row].is_finite();
        if sums.iter().any(|sum| !sum.is_finite()) && (0..values.len()).all(is_finite) {
            return Err(Error::OutOfRange("double precision".into()));
        }
        Ok(sums)
    }

    /// Whether each frame has all rows of the one before it, in the same partition.
    fn grows(&self) -> bool {
        let mut partitions = ranges(self.partitions);
        !self.frames.excludes()
            && partitions.all(|partition| {
                let rows = partition.start as usize..partition.end as usize;
                let starts = &self.frames.starts[rows.clone()];
                let ends = &self.frames.ends[rows];
                starts.iter().all(|start| *start == partition.start) && ends.is_sorted()
            })
    }

    /// The combined state of the rows of each frame, where frames only grow.
    fn growing<S: Copy>(
        &self,
        leaf: impl Fn(usize) -> S,
        nothing: S,
        both: impl Fn(S, S) -> S,
    ) -> Vec<S> {
        let mut found = Vec::with_capacity(self.frames.starts.len());
        for partition in ranges(self.partitions) {
            let (mut state, mut next) = (nothing, partition.start);
            for row in partition {
                let end = self.frames.ends[row as usize];
                while next < end {
                    state = both(state, leaf(next as usize));
                    next += 1;
                }
                found.push(state);
            }
        }
        found
    }

    /// The combined state of the rows of each frame, by a tree of segments.
    fn by_tree<S: Copy>(
        &self,
        leaf: impl Fn(usize) -> S,
        nothing: S,
        both: impl Fn(S, S) -> S + Copy,
    ) -> Vec<S> {
        let mut found = Vec::with_capacity(self.frames.starts.len());
        let mut tree = Tree::new();
        for partition in ranges(self.partitions) {
            let rows = partition.start as usize..partition.end as usize;
            let mut is_filled = false;
            for row in rows.clone() {
                let ranges = self.frames.ranges(row);
                let state = match ranges.iter().map(Range::len).sum::<usize>() <= SHORT {
                    true => ranges
                        .into_iter()
                        .flatten()
                        .fold(nothing, |state, row| both(state, leaf(row))),
                    false => {
                        if !is_filled {
                            tree.fill(rows.clone().map(&leaf), nothing, both);
                            is_filled = true;
                        }
                        ranges.into_iter().fold(nothing, |state, range| {
                            let range = range.start.max(rows.start)..range.end.max(rows.start);
                            let range = range.start - rows.start..range.end - rows.start;
                            both(state, tree.of(range, nothing, both))
                        })
                    }
                };
                found.push(state);
            }
        }
        found
    }

    /// The least or the greatest value of each frame.
    fn best(&self, values: &Vector, is_greatest: bool) -> Result<Vector> {
        let rows = match &values.values {
            Values::Int(values) => self.best_rows(is_greatest, |a, b| values[a].cmp(&values[b])),
            Values::Wide(values) => self.best_rows(is_greatest, |a, b| values[a].cmp(&values[b])),
            Values::Float(values) => {
                self.best_rows(is_greatest, |a, b| values[a].total_cmp(&values[b]))
            }
            Values::Text(_) | Values::Coded { .. } => {
                self.best_rows(is_greatest, |a, b| text(values, a).cmp(&text(values, b)))
            }
            Values::Bool(bits) => {
                self.best_rows(is_greatest, |a, b| bits.value(a).cmp(&bits.value(b)))
            }
            Values::Other(_) => {
                // Says that such values do not compare.
                compare(values, 0, values, 0)?;
                Vec::new()
            }
        };
        values.take_or_null(&rows)
    }

    /// The row with the best value of each frame.
    fn best_rows(
        &self,
        is_greatest: bool,
        compare: impl Fn(usize, usize) -> Ordering + Copy,
    ) -> Vec<u32> {
        let beats = move |new: u32, old: u32| {
            let order = compare(new as usize, old as usize);
            if is_greatest {
                order.is_gt()
            } else {
                order.is_lt()
            }
        };
        let both = move |a: u32, b: u32| match (a, b) {
            (NO_ROW, other) | (other, NO_ROW) => other,
            (a, b) if beats(b, a) => b,
            (a, _) => a,
        };
        let leaf = |row: usize| match self.counted.counts(row) {
            true => row as u32,
            false => NO_ROW,
        };
        if self.grows() {
            return self.growing(leaf, NO_ROW, both);
        }
        let starts = &self.frames.starts;
        if self.frames.excludes() || !starts.is_sorted() || !self.frames.ends.is_sorted() {
            return self.by_tree(leaf, NO_ROW, both);
        }
        // Rows in the frame that no later row of it beats, the best first.
        let mut queue: VecDeque<u32> = VecDeque::new();
        let mut next = 0;
        let mut found = Vec::with_capacity(starts.len());
        for (start, end) in starts.iter().zip(&self.frames.ends) {
            while queue.front().is_some_and(|first| first < start) {
                queue.pop_front();
            }
            for new in next.max(*start)..*end {
                if leaf(new as usize) == NO_ROW {
                    continue;
                }
                while queue.back().is_some_and(|old| !beats(*old, new)) {
                    queue.pop_back();
                }
                queue.push_back(new);
            }
            next = next.max(*end);
            let best = queue.front().filter(|best| (*start..*end).contains(*best));
            found.push(best.copied().unwrap_or(NO_ROW));
        }
        found
    }
}
