//! The results of a call for a piece: sorted rows that are whole partitions.

use super::aggregate::aggregate;
use super::frames::{Frames, ranges};
use crate::plan::{Shift, SortKey, WindowCall, WindowFunction};
use crate::vector::{Batch, NO_ROW, Values, Vector, concat};
use crate::{Error, Result};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use std::ops::Range;

/// Some rows in order.
pub(super) struct Piece<'a> {
    /// The rows of this piece and of others, and their keys, in no order.
    pub batch: &'a Batch,
    pub keys: &'a [Vector],
    pub sorting: &'a [SortKey],
    /// The numbers of the rows of this piece in order.
    pub order: &'a [u32],
    /// How many keys each has in common with the row before.
    pub levels: &'a [u8],
}

impl Piece<'_> {
    /// How many rows.
    pub fn rows(&self) -> usize {
        self.order.len()
    }

    /// The values of a column in order.
    pub fn column(&self, place: usize) -> Result<Vector> {
        self.unsorted(place)?.take(self.order)
    }

    fn unsorted(&self, place: usize) -> Result<&Vector> {
        let column = self.batch.columns.get(place);
        column.ok_or_else(|| Error::internal(format!("there is no column {place}")))
    }

    /// Where rows differ from those before them in the first so many keys, then the end.
    pub fn starts(&self, keys: usize) -> Vec<u32> {
        let mut starts = Vec::new();
        for (row, level) in self.levels.iter().enumerate() {
            if row == 0 || usize::from(*level) < keys {
                starts.push(row as u32);
            }
        }
        starts.push(self.rows() as u32);
        starts
    }

    /// The results of a call.
    pub fn computed(&self, call: &WindowCall) -> Result<Vector> {
        let (partition, peers) = (call.partition, call.partition + call.order);
        let frames = || Frames::of(self, (call.partition, call.order), &call.frame);
        match &call.function {
            WindowFunction::RowNumber => Ok(self.numbers(partition, peers, |row, _, _| row + 1)),
            WindowFunction::Rank => Ok(self.numbers(partition, peers, |_, first, _| first + 1)),
            WindowFunction::DenseRank => Ok(self.numbers(partition, peers, |_, _, group| group)),
            WindowFunction::PercentRank => Ok(self.shares(partition, peers, |peers, rows| {
                peers.start as f64 / rows.saturating_sub(1).max(1) as f64
            })),
            WindowFunction::CumeDist => Ok(self.shares(partition, peers, |peers, rows| {
                peers.end as f64 / rows as f64
            })),
            WindowFunction::Tile(count) => self.tiles(partition, *count),
            WindowFunction::Shifted {
                value,
                by,
                back,
                default,
            } => self.shifted(partition, *value, *by, *back, *default),
            WindowFunction::First(value) => {
                let frames = frames()?;
                let first = |row| first(&frames.ranges(row), 0);
                self.found(*value, (0..self.rows()).map(first))
            }
            WindowFunction::Last(value) => {
                let frames = frames()?;
                let last = |row| {
                    let ranges = frames.ranges(row);
                    let last = ranges.iter().rev().find(|range| !range.is_empty());
                    last.map(|range| range.end - 1)
                };
                self.found(*value, (0..self.rows()).map(last))
            }
            WindowFunction::Nth { value, number } => {
                let numbers = self.column(*number)?;
                let Values::Int(counts) = &numbers.values else {
                    return Err(Error::internal("a row's number that is no integer"));
                };
                let is_known = |row: &usize| !numbers.is_null(*row);
                if (0..self.rows())
                    .filter(is_known)
                    .any(|row| counts[row] <= 0)
                {
                    return Err(Error::NotPositive("nth_value"));
                }
                let frames = frames()?;
                let nth = |row: usize| {
                    let number = usize::try_from(counts[row]).ok()?.checked_sub(1)?;
                    first(&frames.ranges(row), number).filter(|_| is_known(&row))
                };
                self.found(*value, (0..self.rows()).map(nth))
            }
            WindowFunction::Aggregate {
                function,
                argument,
                input,
            } => {
                let argument = match argument {
                    Some(place) => Some(self.column(*place)?),
                    None => None,
                };
                let filter = match call.filter {
                    Some(place) => Some(kept(&self.column(place)?)?),
                    None => None,
                };
                let frames = frames()?;
                let partitions = self.starts(partition);
                aggregate(
                    (*function, input, &call.kind),
                    argument,
                    filter,
                    &frames,
                    &partitions,
                )
            }
        }
    }

    /// A number for each row, of its place in the partition, that of the first of its peers,
    /// and the number of their group from 1 on.
    fn numbers(&self, partition: usize, peers: usize, of: impl Fn(i64, i64, i64) -> i64) -> Vector {
        let (mut row, mut first, mut group) = (-1, 0, 0);
        let mut numbers = Vec::with_capacity(self.rows());
        for (at, level) in self.levels.iter().enumerate() {
            row += 1;
            let level = usize::from(*level);
            if at == 0 || level < partition {
                (row, first, group) = (0, 0, 1);
            } else if level < peers {
                first = row;
                group += 1;
            }
            numbers.push(of(row, first, group));
        }
        Vector::of(Values::Int(numbers.into()))
    }

    /// A share of its partition for each row, of the places of its peers there and its rows.
    fn shares(
        &self,
        partition: usize,
        peers: usize,
        of: impl Fn(Range<usize>, usize) -> f64,
    ) -> Vector {
        let mut shares = Vec::with_capacity(self.rows());
        let groups = self.starts(peers);
        let mut groups = ranges(&groups).peekable();
        for partition in ranges(&self.starts(partition)) {
            let first = partition.start as usize;
            while let Some(peers) = groups.next_if(|peers| peers.start < partition.end) {
                let places = peers.start as usize - first..peers.end as usize - first;
                shares.resize(peers.end as usize, of(places, partition.len()));
            }
        }
        Vector::of(Values::Float(shares.into()))
    }

    /// Parts of each partition: the number of parts is that of its first row that has one.
    fn tiles(&self, partition: usize, count: usize) -> Result<Vector> {
        let counts = self.column(count)?;
        let Values::Int(values) = &counts.values else {
            return Err(Error::internal("a number of parts that is no integer"));
        };
        let mut tiles = Vec::with_capacity(self.rows());
        let mut known = Vec::with_capacity(self.rows());
        for partition in ranges(&self.starts(partition)) {
            let rows = partition.len();
            let mut places = partition.start as usize..partition.end as usize;
            let Some(first) = places.clone().find(|row| !counts.is_null(*row)) else {
                tiles.resize(places.end, 0);
                known.resize(places.end, false);
                continue;
            };
            let parts = usize::try_from(values[first]).unwrap_or(0);
            if parts == 0 {
                return Err(Error::NotPositive("ntile"));
            }
            let (length, longer) = (rows / parts, rows % parts);
            let border = longer * (length + 1);
            tiles.resize(first, 0);
            known.resize(first, false);
            places.start = first;
            for row in 0..places.len() {
                let tile = match row < border {
                    true => row / (length + 1),
                    false => longer + (row - border) / length.max(1),
                };
                tiles.push(tile as i64 + 1);
                known.push(true);
            }
        }
        let nulls = known.contains(&false);
        Ok(Vector {
            values: Values::Int(tiles.into()),
            nulls: nulls.then(|| NullBuffer::new(BooleanBuffer::from(known))),
        })
    }

    fn shifted(
        &self,
        partition: usize,
        value: usize,
        by: Shift,
        back: bool,
        default: Option<usize>,
    ) -> Result<Vector> {
        let away = |row: usize, by: i64, partition: &Range<usize>| {
            let by = if back { by.checked_neg()? } else { by };
            let found = i64::try_from(row).ok()?.checked_add(by)?;
            let found = usize::try_from(found).ok()?;
            partition.contains(&found).then_some(found)
        };
        let offsets = match by {
            Shift::Rows(_) => None,
            Shift::Column(place) => Some(self.column(place)?),
        };
        let offsets = match (&offsets, by) {
            (Some(vector), _) => match &vector.values {
                Values::Int(values) => Some((values, vector)),
                _ => return Err(Error::internal("a distance that is no integer")),
            },
            (None, _) => None,
        };
        let mut positions = Vec::with_capacity(self.rows());
        let mut outside = Vec::new();
        for partition in ranges(&self.starts(partition)) {
            let partition = partition.start as usize..partition.end as usize;
            for row in partition.clone() {
                let by = match (by, offsets) {
                    (Shift::Rows(by), _) => by,
                    // Without a distance there is no value, and no default.
                    (_, Some((_, vector))) if vector.is_null(row) => {
                        positions.push(NO_ROW);
                        continue;
                    }
                    (_, Some((values, _))) => values[row],
                    (_, None) => 1,
                };
                match away(row, by, &partition) {
                    Some(found) => positions.push(self.order[found]),
                    None => {
                        positions.push(NO_ROW);
                        outside.push(row);
                    }
                }
            }
        }
        let found = self.unsorted(value)?.take_or_null(&positions)?;
        let Some(default) = default.filter(|_| !outside.is_empty()) else {
            return Ok(found);
        };
        let rows: Vec<u32> = outside.iter().map(|row| self.order[*row]).collect();
        let defaults = self.unsorted(default)?.take(&rows)?;
        let mut positions: Vec<u32> = (0..self.rows() as u32).collect();
        for (number, row) in outside.iter().enumerate() {
            positions[*row] = (self.rows() + number) as u32;
        }
        concat(&[&found, &defaults])?.take(&positions)
    }

    /// The values of a column at places of the piece, NULL where there is none.
    fn found(&self, value: usize, rows: impl Iterator<Item = Option<usize>>) -> Result<Vector> {
        let positions = rows.map(|row| row.map_or(NO_ROW, |row| self.order[row]));
        self.unsorted(value)?
            .take_or_null(&positions.collect::<Vec<u32>>())
    }
}

/// The place of the row of a frame with so many others before it.
fn first(ranges: &[Range<usize>; 3], mut number: usize) -> Option<usize> {
    for range in ranges {
        if number < range.len() {
            return Some(range.start + number);
        }
        number -= range.len();
    }
    None
}

/// The rows that a filter keeps.
fn kept(filter: &Vector) -> Result<BooleanBuffer> {
    match (&filter.values, &filter.nulls) {
        (Values::Bool(bits), Some(nulls)) => Ok(bits & nulls.inner()),
        (Values::Bool(bits), None) => Ok(bits.clone()),
        _ => Err(Error::internal("a filter that is not boolean")),
    }
}
