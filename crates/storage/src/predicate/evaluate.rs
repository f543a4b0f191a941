//! Evaluating a bound predicate on arrays.

use super::CompareOp;
use super::bind::{BoundPredicate, Leaf};
use super::pattern::Pieces;
use crate::error::{Error, Result};
use crate::schema::Value;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, BooleanArray, Datum, Scalar, StringViewArray};
use arrow_buffer::BooleanBuffer;
use arrow_ord::cmp;
use arrow_schema::{DataType, TimeUnit};

impl BoundPredicate {
    /// One bit per row: set where the predicate is TRUE.
    ///
    /// `leaf` gives the bits of a condition on one column. Later terms of a
    /// conjunction are not asked for once no row is left.
    ///
    /// # Errors
    /// Those of `leaf`.
    pub fn evaluate(
        &self,
        rows: usize,
        leaf: &mut impl FnMut(usize, &Leaf) -> Result<BooleanBuffer>,
    ) -> Result<BooleanBuffer> {
        match self {
            BoundPredicate::Leaf(_, Leaf::Never) => Ok(BooleanBuffer::new_unset(rows)),
            BoundPredicate::Leaf(column, condition) => leaf(*column, condition),
            BoundPredicate::And(terms) => {
                let mut passing: Option<BooleanBuffer> = None;
                for term in terms {
                    if passing
                        .as_ref()
                        .is_some_and(|bits| bits.count_set_bits() == 0)
                    {
                        break;
                    }
                    let bits = term.evaluate(rows, leaf)?;
                    passing = Some(passing.map_or(bits.clone(), |before| &before & &bits));
                }
                Ok(passing.unwrap_or_else(|| BooleanBuffer::new_set(rows)))
            }
            BoundPredicate::Or(terms) => {
                let mut passing = BooleanBuffer::new_unset(rows);
                for term in terms {
                    passing = &passing | &term.evaluate(rows, leaf)?;
                }
                Ok(passing)
            }
        }
    }
}

/// IN lists up to this long are compared value by value with vector kernels;
/// longer ones by binary search per row.
const FEW: usize = 8;

/// NULL is not TRUE.
fn true_bits(mask: &BooleanArray) -> BooleanBuffer {
    match mask.nulls() {
        Some(nulls) => mask.values() & nulls.inner(),
        None => mask.values().clone(),
    }
}

/// One bit per row of `array`: set where `leaf` is TRUE.
///
/// # Errors
/// 42804 for an array of another type.
pub fn evaluate_leaf(leaf: &Leaf, array: &ArrayRef) -> Result<BooleanBuffer> {
    let rows = array.len();
    let present = || {
        array.nulls().map_or_else(
            || BooleanBuffer::new_set(rows),
            |nulls| nulls.inner().clone(),
        )
    };
    match leaf {
        Leaf::Never => Ok(BooleanBuffer::new_unset(rows)),
        Leaf::IsNull => Ok(!&present()),
        Leaf::IsNotNull => Ok(present()),
        Leaf::Compare {
            op,
            value,
            constants,
        } => match constants.arrays(std::slice::from_ref(value))? {
            [constant] => compare(*op, array, constant),
            _ => Err(Error::corrupt("a comparison without its constant")),
        },
        Leaf::In {
            values,
            constants,
            negated,
        } => {
            let found = if values.len() > FEW {
                search(values, array)?
            } else {
                let mut found = BooleanBuffer::new_unset(rows);
                for constant in constants.arrays(values)? {
                    found = &found | &compare(CompareOp::Eq, array, constant)?;
                }
                found
            };
            Ok(if *negated {
                &!&found & &present()
            } else {
                found
            })
        }
        Leaf::Like {
            pattern,
            insensitive,
            negated,
        } => {
            let found = like(array, pattern, *insensitive)?;
            Ok(if *negated {
                &!&found & &present()
            } else {
                found
            })
        }
        Leaf::Prefix { prefix, negated } => {
            let pattern = Scalar::new(StringViewArray::from(vec![prefix.as_str()]));
            let found = true_bits(&arrow_string::like::starts_with(array, &pattern)?);
            Ok(if *negated {
                &!&found & &present()
            } else {
                found
            })
        }
    }
}

fn like(array: &ArrayRef, pattern: &str, insensitive: bool) -> Result<BooleanBuffer> {
    if !insensitive
        && let Some(pieces) = Pieces::of(pattern)
        && let Some(texts) = array.as_string_view_opt()
    {
        return Ok(pieces.test(texts));
    }
    let pattern = Scalar::new(StringViewArray::from(vec![pattern]));
    let mask = if insensitive {
        arrow_string::like::ilike(array, &pattern)?
    } else {
        arrow_string::like::like(array, &pattern)?
    };
    Ok(true_bits(&mask))
}

fn compare(op: CompareOp, array: &ArrayRef, constant: &ArrayRef) -> Result<BooleanBuffer> {
    let constant = Scalar::new(constant.clone());
    let (left, right): (&dyn Datum, &dyn Datum) = (array, &constant);
    let mask = match op {
        CompareOp::Eq => cmp::eq(left, right),
        CompareOp::NotEq => cmp::neq(left, right),
        CompareOp::Lt => cmp::lt(left, right),
        CompareOp::LtEq => cmp::lt_eq(left, right),
        CompareOp::Gt => cmp::gt(left, right),
        CompareOp::GtEq => cmp::gt_eq(left, right),
    }?;
    Ok(true_bits(&mask))
}

/// Binary search of every row among sorted values; rows that are NULL are not found.
fn search(values: &[Value], array: &ArrayRef) -> Result<BooleanBuffer> {
    let found = |value: Value| {
        values
            .binary_search_by(|known| known.total_order(&value))
            .is_ok()
    };
    let rows = array.len();
    if rows == 0 {
        return Ok(BooleanBuffer::new_unset(0));
    }
    let bits = BooleanBuffer::collect_bool(rows, |row| {
        array.is_valid(row) && value_at(array, row).is_some_and(&found)
    });
    match value_at(array, 0) {
        None => Err(Error::invalid(
            "42804",
            format!("IN cannot compare {}", array.data_type()),
        )),
        _ => Ok(bits),
    }
}

/// The value of a row that is not NULL; `None` for types without order here.
pub fn value_at(array: &ArrayRef, row: usize) -> Option<Value> {
    macro_rules! integer {
        ($type:ty) => {
            Value::Int(array.as_primitive::<$type>().value(row).into())
        };
    }
    Some(match array.data_type() {
        DataType::Boolean => Value::Bool(array.as_boolean().value(row)),
        DataType::Int16 => integer!(Int16Type),
        DataType::Int32 => integer!(Int32Type),
        DataType::Int64 => integer!(Int64Type),
        DataType::Date32 => integer!(Date32Type),
        DataType::Time64(TimeUnit::Microsecond) => integer!(Time64MicrosecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => integer!(TimestampMicrosecondType),
        DataType::Decimal128(..) => integer!(Decimal128Type),
        DataType::Float32 => Value::Float(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        DataType::FixedSizeBinary(_) => {
            Value::Bytes(array.as_fixed_size_binary().value(row).to_vec())
        }
        DataType::Utf8View => Value::Bytes(array.as_string_view().value(row).as_bytes().to_vec()),
        DataType::BinaryView => Value::Bytes(array.as_binary_view().value(row).to_vec()),
        _ => return None,
    })
}
