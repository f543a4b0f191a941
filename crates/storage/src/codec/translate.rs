//! Conditions in the domain of codes: translated once per block (Q6).
//!
//! On integers a comparison is a range. On a dictionary any condition at all is
//! evaluated once per distinct value; the ranks that pass are a few ranges, or
//! a set of bits.

use super::Codebook;
use super::bits::{CHUNK, Mask};
use super::integers::test_values;
use crate::error::Result;
use crate::predicate::{CompareOp, Leaf, evaluate_leaf};
use crate::schema::Value;
use arrow_buffer::BooleanBuffer;
use std::ops::RangeInclusive;

/// Dictionary conditions with more pieces than this become a set.
const RANGES_MAX: usize = 4;
/// IN lists on integers with more values than this are evaluated on values.
const VALUES_MAX: usize = 8;

/// A condition on integers; rows that are NULL are for the caller to take out.
#[derive(Clone, Debug)]
pub enum CodeTest {
    /// The integer lies in one of these; of none: never.
    Ranges(Vec<RangeInclusive<i64>>),
    /// The bit of the integer is set.
    Set(BooleanBuffer),
    /// The rows of the block that pass; their codes need not be looked at.
    Rows(BooleanBuffer),
}

impl CodeTest {
    /// No row passes.
    pub fn is_never(&self) -> bool {
        matches!(self, CodeTest::Ranges(ranges) if ranges.is_empty())
    }

    /// Sets the bits of the integers that pass; a test of rows says nothing of integers.
    pub fn test(&self, values: &[i64; CHUNK], mask: &mut Mask) {
        match self {
            CodeTest::Ranges(ranges) => test_values(values, ranges, mask),
            CodeTest::Set(set) => {
                for (bits, values) in mask.iter_mut().zip(values.as_chunks::<64>().0) {
                    *bits = values.iter().enumerate().fold(0, |bits, (place, value)| {
                        bits | u64::from(self::contains(set, *value)) << place
                    });
                }
            }
            CodeTest::Rows(_) => mask.fill(0),
        }
    }
}

fn contains(set: &BooleanBuffer, value: i64) -> bool {
    usize::try_from(value).is_ok_and(|value| value < set.len() && set.value(value))
}

/// `leaf` as a test of the integers of a column with `codebook`; `None` where
/// it has to be evaluated on values.
///
/// # Errors
/// Those of evaluating it on a dictionary.
pub fn translate(leaf: &Leaf, codebook: &Codebook) -> Result<Option<CodeTest>> {
    Ok(match (codebook, leaf) {
        (_, Leaf::IsNull | Leaf::IsNotNull) => None,
        (Codebook::Integers, leaf) => on_integers(leaf),
        (Codebook::Dictionary(dictionary), leaf) => {
            Some(on_entries(&evaluate_leaf(leaf, &dictionary.array()?)?))
        }
        _ => None,
    })
}

fn on_entries(passing: &BooleanBuffer) -> CodeTest {
    let ranges: Vec<RangeInclusive<i64>> = passing
        .set_slices()
        .take(RANGES_MAX + 1)
        .map(|(start, end)| start as i64..=end as i64 - 1)
        .collect();
    if ranges.len() <= RANGES_MAX {
        CodeTest::Ranges(ranges)
    } else {
        CodeTest::Set(passing.clone())
    }
}

fn on_integers(leaf: &Leaf) -> Option<CodeTest> {
    let integer = |value: &Value| match value {
        Value::Int(value) => Some(*value),
        Value::Bool(value) => Some(i128::from(*value)),
        _ => None,
    };
    let ranges = match leaf {
        Leaf::Never => Vec::new(),
        Leaf::Compare { op, value, .. } => compared(*op, integer(value)?),
        Leaf::In {
            values, negated, ..
        } if values.len() <= VALUES_MAX => {
            let values = values.iter().map(integer).collect::<Option<Vec<i128>>>()?;
            if *negated {
                outside(&values)
            } else {
                values
                    .iter()
                    .flat_map(|value| within(*value, *value))
                    .collect()
            }
        }
        _ => return None,
    };
    Some(CodeTest::Ranges(ranges))
}

/// The part of a range that 64-bit integers have.
fn within(low: i128, high: i128) -> Option<RangeInclusive<i64>> {
    let (low, high) = (low.max(i64::MIN.into()), high.min(i64::MAX.into()));
    (low <= high).then_some(low as i64..=high as i64)
}

fn compared(op: CompareOp, value: i128) -> Vec<RangeInclusive<i64>> {
    let (least, most) = (i128::MIN, i128::MAX);
    let pieces = match op {
        CompareOp::Eq => vec![(value, value)],
        CompareOp::NotEq => return outside(&[value]),
        CompareOp::Lt => vec![(least, value.saturating_sub(1))],
        CompareOp::LtEq => vec![(least, value)],
        CompareOp::Gt => vec![(value.saturating_add(1), most)],
        CompareOp::GtEq => vec![(value, most)],
    };
    pieces
        .into_iter()
        .filter_map(|(low, high)| within(low, high))
        .collect()
}

/// Everything between sorted, distinct values.
fn outside(values: &[i128]) -> Vec<RangeInclusive<i64>> {
    let lows = std::iter::once(i128::MIN).chain(values.iter().map(|value| value.saturating_add(1)));
    let highs = values
        .iter()
        .map(|value| value.saturating_sub(1))
        .chain(std::iter::once(i128::MAX));
    lows.zip(highs)
        .filter_map(|(low, high)| within(low, high))
        .collect()
}
