//! The frame of each row of a piece.

use super::compute::Piece;
use super::values::compare;
use crate::plan::{Exclude, Frame, FrameBound, FrameUnit};
use crate::vector::Vector;
use crate::{Error, Result};
use std::cmp::Ordering;
use std::ops::Range;

/// Frames, as places of rows in the piece.
pub(super) struct Frames {
    /// Where each starts and ends before rows are left out; none ends before it starts.
    pub starts: Vec<u32>,
    pub ends: Vec<u32>,
    exclude: Exclude,
    /// The peers of each row, if some are left out.
    peers: Vec<(u32, u32)>,
}

/// Which end of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    End,
}

impl Frames {
    /// The frames of a call whose partition and order are so many keys.
    pub fn of(
        piece: &Piece<'_>,
        (partition, order): (usize, usize),
        frame: &Frame,
    ) -> Result<Frames> {
        let partitions = piece.starts(partition);
        let groups = match (frame.unit, frame.exclude) {
            (FrameUnit::Rows, Exclude::NoOthers | Exclude::CurrentRow) => Vec::new(),
            _ => piece.starts(partition + order),
        };
        let bounds = Bounds {
            piece,
            frame,
            partitions: &partitions,
            groups: &groups,
            key: partition,
        };
        let starts = bounds.side(Side::Start)?;
        let mut ends = bounds.side(Side::End)?;
        for (start, end) in starts.iter().zip(&mut ends) {
            *end = (*end).max(*start);
        }
        let mut peers = Vec::new();
        if matches!(frame.exclude, Exclude::Group | Exclude::Ties) {
            peers.reserve(piece.rows());
            for group in ranges(&groups) {
                peers.resize(group.end as usize, (group.start, group.end));
            }
        }
        Ok(Frames {
            starts,
            ends,
            exclude: frame.exclude,
            peers,
        })
    }

    /// Whether rows are left out of the middle of frames.
    pub fn excludes(&self) -> bool {
        self.exclude != Exclude::NoOthers
    }

    /// The frame of a row as ranges in order, of which some may be empty.
    #[inline]
    pub fn ranges(&self, row: usize) -> [Range<usize>; 3] {
        let (start, end) = (self.starts[row] as usize, self.ends[row] as usize);
        let without = |from: usize, to: usize| {
            [
                start..end.min(from).max(start),
                0..0,
                start.max(to).min(end)..end,
            ]
        };
        match self.exclude {
            Exclude::NoOthers => [start..end, 0..0, 0..0],
            Exclude::CurrentRow => without(row, row + 1),
            Exclude::Group | Exclude::Ties => {
                let (from, to) = self.peers[row];
                let mut ranges = without(from as usize, to as usize);
                if self.exclude == Exclude::Ties && (start..end).contains(&row) {
                    ranges[1] = row..row + 1;
                }
                ranges
            }
        }
    }
}

/// The ranges between some starts, of which the last is the end.
pub(super) fn ranges(starts: &[u32]) -> impl Iterator<Item = Range<u32>> {
    let pairs = starts.iter().zip(starts.iter().skip(1));
    pairs.map(|(start, end)| *start..*end)
}

struct Bounds<'a> {
    piece: &'a Piece<'a>,
    frame: &'a Frame,
    partitions: &'a [u32],
    groups: &'a [u32],
    /// The number of the order's first key.
    key: usize,
}

impl Bounds<'_> {
    /// One end of each row's frame: its first row, or the one behind its last.
    fn side(&self, side: Side) -> Result<Vec<u32>> {
        let bound = match side {
            Side::Start => self.frame.start,
            Side::End => self.frame.end,
        };
        let rows = self.piece.rows();
        let mut places = Vec::with_capacity(rows);
        match (bound, self.frame.unit) {
            (FrameBound::Unbounded, _) => self.repeated(self.partitions, side, &mut places),
            (FrameBound::Current, FrameUnit::Rows) => {
                let more = u32::from(side == Side::End);
                places.extend((0..rows as u32).map(|row| row + more));
            }
            (FrameBound::Current, _) => self.repeated(self.groups, side, &mut places),
            (FrameBound::Preceding(by) | FrameBound::Following(by), FrameUnit::Rows) => {
                let back = matches!(bound, FrameBound::Preceding(_));
                // In range: there are fewer rows.
                let by = by.min(rows) as u32;
                let more = u32::from(side == Side::End);
                for partition in ranges(self.partitions) {
                    let (first, last) = (partition.start, partition.end);
                    match back {
                        true => places.extend(
                            partition.map(|row| (row + more).saturating_sub(by).max(first)),
                        ),
                        false => places.extend(partition.map(|row| (row + more + by).min(last))),
                    }
                }
            }
            (FrameBound::Preceding(by) | FrameBound::Following(by), FrameUnit::Groups) => {
                let back = matches!(bound, FrameBound::Preceding(_));
                self.groups_away(by, back, side, &mut places);
            }
            (FrameBound::Preceding(at) | FrameBound::Following(at), FrameUnit::Range) => {
                let back = matches!(bound, FrameBound::Preceding(_));
                self.values_away(at, back, side, &mut places)?;
            }
        }
        Ok(places)
    }

    /// An end of the range that each row is in.
    fn repeated(&self, starts: &[u32], side: Side, places: &mut Vec<u32>) {
        for range in ranges(starts) {
            let place = match side {
                Side::Start => range.start,
                Side::End => range.end,
            };
            places.resize(range.end as usize, place);
        }
    }

    fn groups_away(&self, by: usize, back: bool, side: Side, places: &mut Vec<u32>) {
        let mut first = 0;
        for partition in ranges(self.partitions) {
            let behind = self.groups[first..].partition_point(|group| *group < partition.end);
            let groups = &self.groups[first..=first + behind];
            for number in 0..behind {
                let found = match back {
                    true => number.checked_sub(by),
                    false => number.checked_add(by).filter(|found| *found < behind),
                };
                let place = match (found, side) {
                    (Some(found), Side::Start) => groups[found],
                    (Some(found), Side::End) => groups[found + 1],
                    // Before the first group nothing begins and nothing ends.
                    (None, _) if back => partition.start,
                    (None, _) => partition.end,
                };
                places.resize(groups[number + 1] as usize, place);
            }
            first += behind;
        }
    }

    /// Ends at values of the order's first key.
    fn values_away(
        &self,
        column: usize,
        back: bool,
        side: Side,
        places: &mut Vec<u32>,
    ) -> Result<()> {
        let sorted = self
            .piece
            .keys
            .get(self.key)
            .zip(self.piece.sorting.get(self.key));
        let (keys, key) = sorted.ok_or_else(|| Error::internal("RANGE without an order"))?;
        let keys = keys.take(self.piece.order)?;
        let bounds = self.piece.column(column)?;
        for partition in ranges(self.partitions) {
            let all = partition.start as usize..partition.end as usize;
            let (null, known) = split(&keys, all.clone(), key.nulls_first);
            let mut place = known.start;
            for row in all {
                if null.contains(&row) {
                    let end = match side {
                        Side::Start => null.start,
                        Side::End => null.end,
                    };
                    places.push(end as u32);
                    continue;
                }
                if bounds.is_null(row) {
                    places.push(if back { known.start } else { known.end } as u32);
                    continue;
                }
                while place < known.end {
                    let order = compare(&keys, place, &bounds, row)?;
                    let order = if key.descending {
                        order.reverse()
                    } else {
                        order
                    };
                    let passed = match side {
                        Side::Start => order == Ordering::Less,
                        Side::End => order != Ordering::Greater,
                    };
                    if !passed {
                        break;
                    }
                    place += 1;
                }
                places.push(place as u32);
            }
        }
        Ok(())
    }
}

/// The rows of a partition whose key is NULL, which are at one end of it, and the others.
fn split(keys: &Vector, all: Range<usize>, nulls_first: bool) -> (Range<usize>, Range<usize>) {
    let nulls = keys.nulls.as_ref();
    let nulls = nulls.map_or(0, |nulls| nulls.slice(all.start, all.len()).null_count());
    match nulls_first {
        true => (all.start..all.start + nulls, all.start + nulls..all.end),
        false => (all.end - nulls..all.end, all.start..all.end - nulls),
    }
}
