//! How far a row may lie back and still be one of the first: what threads share, and what
//! the scan below tests values with before it reads other columns.

use super::bytes::ByteKeys;
use crate::Result;
use crate::expression::{Constant, Expression};
use crate::kernels::Comparison;
use crate::plan::{SortKey, Sorting};
use crate::vector::{Batch, Values, Vector, positions};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;
use freestone_storage::{CompareOp, Predicate, Value, ValueTest};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The least key of which so many rows are known as are wanted.
#[derive(Debug, Default)]
pub(super) struct Cut {
    last: Mutex<Option<Arc<Last>>>,
    /// Whether the first column of the key comes first where it is NULL.
    nulls_first: bool,
    /// Whether the scan has dropped enough values by the key that is known now.
    worthwhile: AtomicBool,
}

/// The key of the last row that is wanted so far.
#[derive(Debug)]
struct Last {
    key: Vec<u8>,
    first: First,
}

/// What the first column of a key must be, so that the whole may lie before the last.
#[derive(Debug)]
enum First {
    Anything,
    Null,
    /// TRUE of this, over that column alone, or NULL where NULLs come first.
    Within(Expression),
}

impl Cut {
    /// Of no row yet.
    pub fn new(sorting: &Sorting) -> Cut {
        Cut {
            nulls_first: sorting.keys.first().is_some_and(|key| key.nulls_first),
            ..Cut::default()
        }
    }

    /// Notes the key of a row that has, with itself, as many before it as are wanted.
    pub fn note(&self, sorting: &Sorting, columns: &[Vector], row: usize) -> Result<()> {
        let keys = ByteKeys::new(columns, &sorting.keys, row..row + 1)?;
        let mut last = self.last.lock();
        if last.as_ref().is_none_or(|last| *keys.key(0) < *last.key) {
            let first = match (columns, sorting.keys.as_slice()) {
                ([column, rest @ ..], [key, ..]) => First::of(column, key, row, rest.is_empty()),
                _ => First::Anything,
            };
            let key = keys.key(0).to_vec();
            *last = Some(Arc::new(Last { key, first }));
            self.worthwhile.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The rows of a batch that may be wanted, whose keys are at `places`; `None` for all.
    pub fn passing(
        &self,
        sorting: &Sorting,
        batch: &Batch,
        places: &[usize],
    ) -> Result<Option<Vec<u32>>> {
        let (Some(last), Some(place)) = (self.last.lock().clone(), places.first()) else {
            return Ok(None);
        };
        let first = &batch.columns[*place];
        let passing: Vec<u32> = match last.first.passing(first, self.nulls_first)? {
            Some(bits) if bits.count_set_bits() == 0 => return Ok(Some(Vec::new())),
            Some(bits) => positions(&bits),
            None => (0..batch.rows as u32).collect(),
        };
        if matches!((&last.first, places), (First::Within(_), [_])) {
            return Ok(Some(passing));
        }
        let columns = places.iter();
        let columns = columns.map(|place| batch.columns[*place].take(&passing));
        let columns = columns.collect::<Result<Vec<Vector>>>()?;
        let keys = ByteKeys::new(&columns, &sorting.keys, 0..passing.len())?;
        let before = passing.iter().enumerate();
        let before = before.filter(|(at, _)| *keys.key(*at) < *last.key);
        Ok(Some(before.map(|(_, row)| *row).collect()))
    }
}

impl ValueTest for Cut {
    fn within(&self, column: usize) -> Option<Predicate> {
        self.condition(column)
    }

    fn is_worthwhile(&self) -> bool {
        self.worthwhile.load(Ordering::Relaxed)
    }

    fn retain(&self, values: &ArrayRef, positions: &mut Vec<u32>) {
        let Some(last) = self.last.lock().clone() else {
            return;
        };
        let (count, passing) = (positions.len(), Vector::from_arrow(values));
        let passing = passing.and_then(|values| last.first.passing(&values, self.nulls_first));
        // What cannot be tested here is tested where rows are collected.
        if let Ok(Some(bits)) = passing
            && values.len() == count
        {
            let mut bits = bits.iter();
            positions.retain(|_| bits.next() == Some(true));
        }
        if positions.len() * 10 > count * 8 {
            self.worthwhile.store(false, Ordering::Relaxed);
        }
    }
}

impl Cut {
    /// A condition that the first column meets in all rows that are wanted, as storage tests it.
    fn condition(&self, column: usize) -> Option<Predicate> {
        let last = self.last.lock().clone()?;
        let First::Within(Expression::Compare(comparison, _, constant)) = &last.first else {
            return None;
        };
        let Expression::Constant(constant) = &**constant else {
            return None;
        };
        let value = match constant {
            Constant::Int(value) => Value::Int((*value).into()),
            Constant::Float(value) => Value::Float(*value),
            Constant::Bool(value) => Value::Bool(*value),
            Constant::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        };
        let op = match comparison {
            Comparison::Less => CompareOp::Lt,
            Comparison::LessOrEqual => CompareOp::LtEq,
            Comparison::Greater => CompareOp::Gt,
            Comparison::GreaterOrEqual => CompareOp::GtEq,
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        let before = Predicate::Compare { column, op, value };
        Some(match self.nulls_first {
            true => Predicate::Or(vec![before, Predicate::IsNull(column)]),
            false => before,
        })
    }
}

impl First {
    /// By the value of the column in `row`; nothing equal to it if the key has no other.
    fn of(column: &Vector, key: &SortKey, row: usize, only: bool) -> First {
        if column.is_null(row) {
            return match key.nulls_first {
                true => First::Null,
                false => First::Anything,
            };
        }
        let constant = match &column.values {
            Values::Int(values) => Constant::Int(values[row]),
            Values::Wide(values) => match i64::try_from(values[row]) {
                Ok(value) => Constant::Int(value),
                Err(_) => return First::Anything,
            },
            Values::Float(values) => Constant::Float(values[row]),
            Values::Bool(bits) => Constant::Bool(bits.value(row)),
            Values::Text(array) => Constant::Text(array.as_string_view().value(row).into()),
            Values::Coded { codes, entries } => {
                let code = codes[row] as usize;
                Constant::Text(entries.as_string_view().value(code).into())
            }
            Values::Other(_) => return First::Anything,
        };
        let comparison = match (key.descending, only) {
            (false, false) => Comparison::LessOrEqual,
            (false, true) => Comparison::Less,
            (true, false) => Comparison::GreaterOrEqual,
            (true, true) => Comparison::Greater,
        };
        let (value, constant) = (Expression::Column(0), Expression::Constant(constant));
        First::Within(Expression::Compare(
            comparison,
            value.into(),
            constant.into(),
        ))
    }

    /// Where the first column is as it must be; `None` for everywhere.
    fn passing(&self, first: &Vector, nulls_first: bool) -> Result<Option<BooleanBuffer>> {
        Ok(match (self, &first.nulls) {
            (First::Anything, _) => None,
            (First::Null, None) => Some(BooleanBuffer::new_unset(first.len())),
            (First::Null, Some(nulls)) => Some(!nulls.inner()),
            (First::Within(condition), nulls) => {
                let (columns, rows) = (vec![first.clone()], first.len());
                let bits = condition.passing(&Batch { columns, rows })?;
                Some(match nulls {
                    Some(nulls) if nulls_first => &bits | &!nulls.inner(),
                    _ => bits,
                })
            }
        })
    }
}
