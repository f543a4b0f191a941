//! The bounds of all partitions of a table, as values: which partition holds a key.
//!
//! ```text
//! ranges   [1, 10) ▶ 0   [10, 20) ▶ 1        sorted; searched by halves
//! list     'a' ▶ 0   'b' ▶ 0   'c' ▶ 1       sorted; searched by halves
//! hash     hash mod 4 = 0 ▶ 0   …            tried one by one
//! ```

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef};
use freestone_frontend::functions::ordering::Comparator;
use freestone_storage::{BoundValue, PartitionBound};

use super::hash;
use super::key::{Key, read};
use crate::error::Result;

/// The partitions of a table by their bounds; each has a number.
pub(crate) struct Divisions {
    orders: Vec<Comparator>,
    /// For each part of the key, all values of bounds.
    values: Vec<ArrayRef>,
    ranges: Vec<Range>,
    /// Places of a list's values, and their partitions.
    list: Vec<(usize, usize)>,
    /// The partitions whose list has NULL: one, but for a new one that is being looked at.
    nulls: Vec<usize>,
    hashes: Vec<(u64, u64, usize)>,
    /// The default partition.
    pub(crate) default: Option<usize>,
}

/// An end of a range for one part of the key.
#[derive(Clone, Copy)]
enum End {
    Min,
    Max,
    /// A value at a place.
    At(usize),
}

struct Range {
    from: Vec<End>,
    to: Vec<End>,
    of: usize,
}

impl Divisions {
    /// Those of a table with a key, numbered as they come.
    ///
    /// # Errors
    /// Those of reading the texts of bounds.
    pub(crate) fn of<'a>(
        key: &Key,
        bounds: impl IntoIterator<Item = &'a PartitionBound>,
    ) -> Result<Self> {
        let mut texts: Vec<Vec<Option<&str>>> = vec![Vec::new(); key.parts.len()];
        let mut all = Self {
            orders: key.orders()?,
            values: Vec::new(),
            ranges: Vec::new(),
            list: Vec::new(),
            nulls: Vec::new(),
            hashes: Vec::new(),
            default: None,
        };
        let place = |texts: &mut Vec<Vec<Option<&'a str>>>, part: usize, text: &'a str| {
            texts[part].push(Some(text));
            texts[part].len() - 1
        };
        for (of, bound) in bounds.into_iter().enumerate() {
            match bound {
                PartitionBound::Range { from, to } => {
                    let mut ends = |ends: &'a [BoundValue]| {
                        let ends = ends.iter().take(key.parts.len()).enumerate();
                        let ends = ends.map(|(part, end)| match end {
                            BoundValue::Min => End::Min,
                            BoundValue::Max => End::Max,
                            BoundValue::Value(text) => End::At(place(&mut texts, part, text)),
                        });
                        ends.collect::<Vec<End>>()
                    };
                    let (from, to) = (ends(from), ends(to));
                    all.ranges.push(Range { from, to, of });
                }
                PartitionBound::List(list) => {
                    for value in list {
                        match value {
                            Some(text) => all.list.push((place(&mut texts, 0, text), of)),
                            None => all.nulls.push(of),
                        }
                    }
                }
                PartitionBound::Hash { modulus, remainder } => {
                    all.hashes.push((*modulus, *remainder, of));
                }
                PartitionBound::Default => all.default = Some(of),
            }
        }
        let values = texts.iter().zip(&key.parts);
        let values = values.map(|(texts, part)| read(texts, &part.ty));
        all.values = values.collect::<Result<_>>()?;
        let (mut ranges, mut list) = (
            std::mem::take(&mut all.ranges),
            std::mem::take(&mut all.list),
        );
        ranges.sort_by(|a, b| all.between(&a.from, &b.from));
        if let (Some(order), Some(values)) = (all.orders.first(), all.values.first()) {
            list.sort_by(|(a, _), (b, _)| order(values, *a, values, *b));
        }
        (all.ranges, all.list) = (ranges, list);
        Ok(all)
    }

    /// The order of two ends.
    fn between(&self, a: &[End], b: &[End]) -> Ordering {
        for (part, (a, b)) in a.iter().zip(b).enumerate() {
            let order = match (a, b) {
                (End::Min, End::Min) | (End::Max, End::Max) => return Ordering::Equal,
                (End::Min, _) | (_, End::Max) => Ordering::Less,
                (End::Max, _) | (_, End::Min) => Ordering::Greater,
                (End::At(a), End::At(b)) => {
                    (self.orders[part])(&self.values[part], *a, &self.values[part], *b)
                }
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// The order of an end and the key of a row.
    fn compared(&self, ends: &[End], key: &[ArrayRef], row: usize) -> Ordering {
        for (part, (end, key)) in ends.iter().zip(key).enumerate() {
            let order = match end {
                End::Min => Ordering::Less,
                End::Max => Ordering::Greater,
                End::At(at) => (self.orders[part])(&self.values[part], *at, key, row),
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// The partition that holds each key.
    ///
    /// # Errors
    /// Those of hashing it.
    pub(crate) fn find(&self, key: &Key, values: &[ArrayRef]) -> Result<Vec<Option<usize>>> {
        if !self.hashes.is_empty() {
            let hashes = hash::of(key, values)?.into_iter();
            let of = |hash: u64| {
                let mut all = self.hashes.iter();
                let found = all.find(|(modulus, remainder, _)| hash % modulus == *remainder);
                found.map(|(_, _, of)| *of)
            };
            return Ok(hashes.map(of).collect());
        }
        let rows = values.first().map_or(0, |values| values.len());
        let of = |row: usize| self.own(values, row).or(self.default);
        Ok((0..rows).map(of).collect())
    }

    /// The partition with a range or a list that holds the key of a row.
    fn own(&self, key: &[ArrayRef], row: usize) -> Option<usize> {
        let first = key.first()?;
        if !self.ranges.is_empty() {
            if key.iter().any(|values| values.is_null(row)) {
                return None;
            }
            let at = self
                .ranges
                .partition_point(|range| self.compared(&range.from, key, row).is_le());
            let range = self.ranges.get(at.checked_sub(1)?)?;
            return (self.compared(&range.to, key, row).is_gt()).then_some(range.of);
        }
        if first.is_null(row) {
            return self.nulls.first().copied();
        }
        let (order, values) = (self.orders.first()?, self.values.first()?);
        let found = self
            .list
            .binary_search_by(|(at, _)| order(values, *at, first, row));
        Some(self.list.get(found.ok()?)?.1)
    }

    /// Whether the range of a partition holds nothing.
    pub(crate) fn is_empty(&self, number: usize) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|range| range.of == number && self.between(&range.from, &range.to).is_ge())
    }

    /// A partition other than the one of a number that would hold keys of it.
    pub(crate) fn overlapping(&self, number: usize) -> Option<usize> {
        for range in self.ranges.iter().filter(|range| range.of == number) {
            let mut others = self.ranges.iter().filter(|other| other.of != number);
            let meets = |other: &&Range| {
                self.between(&range.from, &other.to).is_lt()
                    && self.between(&other.from, &range.to).is_lt()
            };
            if let Some(other) = others.find(meets) {
                return Some(other.of);
            }
        }
        if let (Some(order), Some(values)) = (self.orders.first(), self.values.first()) {
            let met = self.list.windows(2).find_map(|pair| {
                let [(a, of_a), (b, of_b)] = pair else {
                    return None;
                };
                if of_a == of_b || order(values, *a, values, *b).is_ne() {
                    return None;
                }
                match (*of_a == number, *of_b == number) {
                    (true, _) => Some(*of_b),
                    (_, true) => Some(*of_a),
                    _ => None,
                }
            });
            if met.is_some() {
                return met;
            }
        }
        if self.nulls.contains(&number)
            && let Some(other) = self.nulls.iter().find(|of| **of != number)
        {
            return Some(*other);
        }
        let own = self.hashes.iter().find(|(_, _, of)| *of == number)?;
        let mut others = self.hashes.iter().filter(|(_, _, of)| *of != number);
        let met = others.find(|(modulus, remainder, _)| {
            let smaller = own.0.min(*modulus);
            smaller > 0 && own.1 % smaller == remainder % smaller
        });
        met.map(|(_, _, of)| *of)
    }
}
