//! The index sub-blocks of a block: building, opening, asking (Q5).
//!
//! An index sub-block is one section. Its first byte says what keys are: values
//! (see [`KeyShape`]), or the codes of a column that has a dictionary, where
//! every condition that the dictionary can judge is a range of codes. Rows with
//! a NULL in a key column have no entry.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | kind: 1 csb, 2 inverted, 3 bloom |
//! | 1 | 1 | keys: 1 values, 2 codes, 3 hashes |
//! | 2 | 62 | zero |
//! | 64 | | csb, inverted: [`KeyShape::seal`]; bloom: the filter |

use super::positions::ascending;
use crate::codec::{CodeTest, Dense, DenseData, stored_value};
use crate::error::{Error, Result};
use crate::format::checksum;
use crate::index::bloom::DEFAULT_RATE;
use crate::index::{AnyCsb, Bloom, InvertedIndex, KeyInterval, KeyShape, KeyWidth, RawColumn};
use crate::predicate::{Conditions, combined};
use crate::schema::{IndexDefinition, IndexKind, Physical, TableSchema, Value};
use arrow_buffer::{Buffer, NullBuffer};
use std::ops::Range;

const HEAD: usize = 64;

/// What the keys of an index are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    Values = 1,
    Codes = 2,
    Hashes = 3,
}

/// The keys of `shape` that rows which meet conditions may have: those of the first columns that
/// must equal something, and of a range of the next; with the number of
/// columns that were used.
fn intervals(
    conditions: &Conditions<'_>,
    shape: &KeyShape,
    definition: &IndexDefinition,
    leads_to_all: impl Fn(&[usize]) -> bool,
) -> Option<(Vec<KeyInterval>, usize)> {
    let mut tuples: Vec<Vec<Value>> = vec![Vec::new()];
    let (mut used, mut sure) = (0, true);
    let mut range = None;
    for column in &definition.columns {
        let equal = conditions.equal(*column);
        match equal.and_then(|values| combined(&tuples, values)) {
            Some(more) => {
                sure &= conditions.on(*column).count() == 1;
                tuples = more;
            }
            None => {
                range = conditions.range(*column, &mut sure);
                used += usize::from(range.is_some());
                break;
            }
        }
        used += 1;
    }
    // Rows with a NULL in a key column that is not asked for have no entry.
    if used == 0 || !leads_to_all(&definition.columns[used..]) {
        return None;
    }
    let bounds = range
        .as_ref()
        .map(|(low, high)| (low.as_ref(), high.as_ref()));
    let intervals = tuples
        .iter()
        .map(|tuple| Some(softened(shape.interval(tuple, bounds)?, sure)));
    Some((intervals.collect::<Option<_>>()?, used))
}

/// An interval is exact only if the conditions it came from say it all.
fn softened(interval: KeyInterval, sure: bool) -> KeyInterval {
    match interval {
        KeyInterval::Span { low, high, exact } => KeyInterval::Span {
            low,
            high,
            exact: exact && sure,
        },
        KeyInterval::Empty => KeyInterval::Empty,
    }
}

/// The columns that an index is built from.
#[derive(Debug)]
pub struct IndexSource<'a> {
    /// The key columns.
    pub columns: Vec<&'a Dense>,
    /// Codes of the only key column, if it has a dictionary.
    pub codes: Option<&'a [i64]>,
}

/// The bytes of an index sub-block.
pub fn build(
    definition: &IndexDefinition,
    schema: &TableSchema,
    source: &IndexSource<'_>,
) -> Vec<u8> {
    let rows = source.columns.first().map_or(0, |column| column.rows);
    let nulls: Vec<&NullBuffer> = source
        .columns
        .iter()
        .filter_map(|column| column.nulls.as_ref())
        .collect();
    // In range: a block has at most 2^20 rows.
    let present: Vec<u32> = (0..rows as u32)
        .filter(|row| nulls.iter().all(|nulls| nulls.is_valid(*row as usize)))
        .collect();
    let kinds: Vec<Physical> = definition
        .columns
        .iter()
        .map(|column| schema.columns[*column].kind.physical())
        .collect();
    let mut bytes = vec![0; HEAD];
    bytes[0] = definition.kind as u8;
    if definition.kind == IndexKind::Bloom {
        bytes[1] = Keys::Hashes as u8;
        let hashes: Vec<u64> = present
            .iter()
            .map(|row| hash_row(&source.columns, &kinds, *row as usize))
            .collect();
        bytes.extend_from_slice(&Bloom::build(&hashes, DEFAULT_RATE));
        return bytes;
    }
    let raw: Vec<RawColumn<'_>> = match source.codes {
        Some(codes) => vec![RawColumn::I64(codes)],
        None => source
            .columns
            .iter()
            .zip(&kinds)
            .map(|(column, kind)| raw_column(column, *kind))
            .collect(),
    };
    bytes[1] = if source.codes.is_some() {
        Keys::Codes
    } else {
        Keys::Values
    } as u8;
    let shape = KeyShape::of(&raw, present.iter().copied(), KeyWidth::Sixteen);
    let entries = shape.entries(&raw, present.iter().copied());
    let index = match definition.kind {
        IndexKind::Inverted => InvertedIndex::build(shape.width(), entries),
        _ => AnyCsb::build(shape.width(), entries),
    };
    bytes.extend_from_slice(&shape.seal(&index));
    bytes
}

fn raw_column(column: &Dense, physical: Physical) -> RawColumn<'_> {
    match (&column.data, physical) {
        (DenseData::Variable { ends, bytes }, _) => RawColumn::Joined { ends, bytes },
        (DenseData::Fixed { bytes, .. }, Physical::Bool) => RawColumn::Bool(bytes),
        (DenseData::Fixed { bytes, .. }, Physical::I16) => RawColumn::I16(bytes.typed_data()),
        (DenseData::Fixed { bytes, .. }, Physical::I32) => RawColumn::I32(bytes.typed_data()),
        (DenseData::Fixed { bytes, .. }, Physical::I64) => RawColumn::I64(bytes.typed_data()),
        (DenseData::Fixed { bytes, .. }, Physical::I128) => RawColumn::I128(bytes.typed_data()),
        (DenseData::Fixed { bytes, .. }, Physical::F32) => RawColumn::F32(bytes.typed_data()),
        (DenseData::Fixed { bytes, .. }, Physical::F64) => RawColumn::F64(bytes.typed_data()),
        (DenseData::Fixed { bytes, .. }, _) => RawColumn::Bytes16(bytes.as_chunks::<16>().0),
    }
}

/// The hash of one row's key, from values in stored form.
fn hash_row(columns: &[&Dense], kinds: &[Physical], row: usize) -> u64 {
    let values = columns.iter().zip(kinds).map(|(column, kind)| {
        let bytes = match &column.data {
            DenseData::Fixed { width, bytes } => &bytes[row * width..(row + 1) * width],
            DenseData::Variable { ends, bytes } => {
                let start = row.checked_sub(1).map_or(0, |before| ends[before] as usize);
                &bytes[start..ends[row] as usize]
            }
        };
        hash_value(&stored_value(bytes, *kind))
    });
    join(values)
}

fn hash_value(value: &Value) -> u64 {
    match value {
        Value::Bool(value) => checksum(&[u8::from(*value)]),
        Value::Int(value) => checksum(&value.to_le_bytes()),
        Value::Float(value) => checksum(&value.to_bits().to_le_bytes()),
        Value::Bytes(bytes) => checksum(bytes),
    }
}

fn join(hashes: impl Iterator<Item = u64>) -> u64 {
    hashes.fold(0, |all, hash| {
        (all.rotate_left(5) ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// An index sub-block, opened.
#[derive(Debug)]
pub struct BlockIndex {
    keys: Keys,
    body: Body,
    has_every_row: bool,
}

#[derive(Debug)]
enum Body {
    Csb(KeyShape, AnyCsb),
    Inverted(KeyShape, InvertedIndex),
    Bloom(Bloom),
}

/// Rows that an index gives for some conditions.
#[derive(Debug)]
pub struct Found<'a> {
    index: &'a BlockIndex,
    /// Entries of a tree, or keys of an inverted index.
    ranges: Vec<Range<usize>>,
    /// How many rows.
    pub count: usize,
    /// Whether every one of them meets the conditions that were used.
    pub exact: bool,
}

impl BlockIndex {
    /// Checks all of it.
    ///
    /// # Errors
    /// `Corrupt`.
    pub fn open(definition: &IndexDefinition, bytes: &Buffer, rows: u32) -> Result<BlockIndex> {
        if bytes.len() < HEAD || bytes[0] != definition.kind as u8 {
            return Err(Error::corrupt(format!(
                "it is no index of kind {}",
                definition.kind
            )));
        }
        let rest = bytes.slice(HEAD);
        let keys = match (bytes[1], definition.kind) {
            (1, IndexKind::Csb | IndexKind::Inverted) => Keys::Values,
            (2, IndexKind::Csb | IndexKind::Inverted) => Keys::Codes,
            (3, IndexKind::Bloom) => Keys::Hashes,
            (other, kind) => {
                return Err(Error::corrupt(format!(
                    "unknown keys {other} of an index of kind {kind}"
                )));
            }
        };
        let body = match definition.kind {
            IndexKind::Bloom => Body::Bloom(Bloom::open(rest)?),
            IndexKind::Csb => {
                let (shape, index) = KeyShape::unseal(&rest)?;
                Body::Csb(shape, AnyCsb::open(index, rows)?)
            }
            // No block has a part of one.
            IndexKind::Brin => return Err(Error::corrupt("an index of a kind without parts")),
            IndexKind::Inverted => {
                let (shape, index) = KeyShape::unseal(&rest)?;
                Body::Inverted(shape, InvertedIndex::open(index, rows)?)
            }
        };
        let entries = match &body {
            Body::Csb(_, tree) => tree.len(),
            Body::Inverted(_, index) => index.count(0..index.len())?,
            Body::Bloom(_) => 0,
        };
        Ok(BlockIndex {
            keys,
            body,
            has_every_row: entries == rows as usize,
        })
    }

    /// Whether no row is without an entry for a NULL in one of `columns`, which are some of its
    /// key.
    pub fn leads_to_all(&self, columns: &[usize], schema: &TableSchema) -> bool {
        let filled = |column: &usize| !schema.columns[*column].nullable;
        self.has_every_row || columns.iter().all(filled)
    }

    /// Whether keys are codes of the column's dictionary.
    pub fn has_codes(&self) -> bool {
        self.keys == Keys::Codes
    }

    /// Whether a row may meet equality conditions; `false` is certain.
    pub fn may_contain(&self, conditions: &Conditions<'_>, definition: &IndexDefinition) -> bool {
        let Body::Bloom(bloom) = &self.body else {
            return true;
        };
        let Some(tuples) = conditions.all_equal(&definition.columns) else {
            return true;
        };
        tuples
            .iter()
            .any(|values| bloom.may_contain(join(values.iter().map(hash_value))))
    }

    /// The rows whose code lies in one of the ranges of `test`.
    ///
    /// # Errors
    /// `Corrupt` for a broken set of rows.
    pub fn by_codes(&self, test: &CodeTest) -> Result<Option<Found<'_>>> {
        let CodeTest::Ranges(ranges) = test else {
            return Ok(None);
        };
        let bounds: Vec<(Value, Value)> = ranges
            .iter()
            .map(|range| {
                (
                    Value::Int((*range.start()).into()),
                    Value::Int((*range.end()).into()),
                )
            })
            .collect();
        let intervals = bounds.iter().map(|(low, high)| {
            use std::ops::Bound::Included;
            self.shape()?
                .interval(&[], Some((Included(low), Included(high))))
        });
        match intervals.collect::<Option<Vec<KeyInterval>>>() {
            Some(intervals) => self.found(&intervals),
            None => Ok(None),
        }
    }

    /// The rows that may meet `conditions`; `None` if the index cannot tell.
    ///
    /// # Errors
    /// `Corrupt` for a broken set of rows.
    pub fn by_values(
        &self,
        conditions: &Conditions<'_>,
        definition: &IndexDefinition,
        schema: &TableSchema,
    ) -> Result<Option<Found<'_>>> {
        let Some(shape) = self.shape() else {
            return Ok(None);
        };
        let leads_to_all = |columns: &[usize]| self.leads_to_all(columns, schema);
        let Some((intervals, used)) = intervals(conditions, shape, definition, leads_to_all) else {
            return Ok(None);
        };
        let mut found = self.found(&intervals)?;
        if let Some(found) = &mut found {
            found.exact &= conditions.only_on(&definition.columns[..used]);
        }
        Ok(found)
    }

    /// The rows that may have the values `key` in all key columns, and whether
    /// all of them do; `None` if the index is no tree of values.
    pub fn equal(&self, key: &[Value]) -> Option<(&[u32], bool)> {
        match &self.body {
            Body::Csb(shape, tree) if !self.has_codes() => match shape.interval(key, None)? {
                KeyInterval::Empty => Some((&[], true)),
                KeyInterval::Span { low, high, exact } => {
                    Some((tree.positions(tree.range(low, high)), exact))
                }
            },
            _ => None,
        }
    }

    /// The rows of the `count` first keys, and of those equal to the last of
    /// them, ascending; `None` if the index is no tree or has fewer keys.
    pub fn first(&self, count: usize, descending: bool) -> Option<Vec<u32>> {
        let Body::Csb(_, tree) = &self.body else {
            return None;
        };
        if count == 0 || count > tree.len() {
            return None;
        }
        let entries = if descending {
            tree.range(tree.key(tree.len() - count), u128::MAX)
        } else {
            tree.range(0, tree.key(count - 1))
        };
        let mut positions = tree.positions(entries).to_vec();
        positions.sort_unstable();
        Some(positions)
    }

    fn shape(&self) -> Option<&KeyShape> {
        match &self.body {
            Body::Csb(shape, _) | Body::Inverted(shape, _) => Some(shape),
            Body::Bloom(_) => None,
        }
    }

    fn found(&self, intervals: &[KeyInterval]) -> Result<Option<Found<'_>>> {
        let (mut ranges, mut exactly, mut count) = (Vec::new(), true, 0);
        for interval in intervals {
            let KeyInterval::Span { low, high, exact } = interval else {
                continue;
            };
            exactly &= exact;
            let range = match &self.body {
                Body::Csb(_, tree) => tree.range(*low, *high),
                Body::Inverted(_, index) => index.range(*low, *high),
                Body::Bloom(_) => return Ok(None),
            };
            count += match &self.body {
                Body::Inverted(_, index) => index.count(range.clone())?,
                _ => range.len(),
            };
            if !range.is_empty() {
                ranges.push(range);
            }
        }
        Ok(Some(Found {
            index: self,
            ranges,
            count,
            exact: exactly,
        }))
    }

    /// Bytes of memory beyond the section.
    pub fn memory(&self) -> usize {
        256
    }
}

impl Found<'_> {
    /// The rows in the order of a tree's keys, in parts of at least so many; rows with equal keys, which
    /// may stand for values that differ, are in one part. `None` for other indexes and several
    /// ranges.
    pub fn in_order(
        &self,
        descending: bool,
        part: usize,
    ) -> Option<impl Iterator<Item = Vec<u32>> + use<'_>> {
        let Body::Csb(_, tree) = &self.index.body else {
            return None;
        };
        let mut left = match self.ranges.as_slice() {
            [] => 0..0,
            [only] => only.clone(),
            _ => return None,
        };
        Some(std::iter::from_fn(move || {
            if left.is_empty() {
                return None;
            }
            let same = |one: usize, other: usize| tree.key(one) == tree.key(other);
            let entries = match descending {
                false => {
                    let mut end = left.end.min(left.start + part);
                    while end < left.end && same(end, end - 1) {
                        end += 1;
                    }
                    let entries = left.start..end;
                    left.start = end;
                    entries
                }
                true => {
                    let mut start = left.start.max(left.end.saturating_sub(part));
                    while start > left.start && same(start, start - 1) {
                        start -= 1;
                    }
                    let entries = start..left.end;
                    left.end = start;
                    entries
                }
            };
            Some(tree.positions(entries).to_vec())
        }))
    }

    /// The rows, ascending and each once.
    ///
    /// # Errors
    /// `Corrupt` for a broken set of rows.
    pub fn positions(&self) -> Result<Vec<u32>> {
        let mut positions = Vec::with_capacity(self.count);
        for range in &self.ranges {
            match &self.index.body {
                Body::Csb(_, tree) => positions.extend_from_slice(tree.positions(range.clone())),
                Body::Inverted(_, index) => {
                    for key in range.clone() {
                        index.positions_into(key, &mut positions)?;
                    }
                }
                Body::Bloom(_) => {}
            }
        }
        Ok(ascending(positions))
    }
}
