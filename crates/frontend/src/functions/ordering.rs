//! One total order for the values of every type: that of ORDER BY, of `<` and of DISTINCT.
//!
//! A [`Comparator`] is made for a type once and then told two arrays and a place in each. NULLs
//! are equal and come after all values, as with NULLS LAST; operators look for them first.
//!
//! ```text
//! let order = comparator(&Type::Float8)?;
//! order(&left, 3, &right, 0)        // NaN is the greatest number, -0 equals 0
//! ```
//!
//! Texts are ordered by their bytes, as in the collation "C". JSON has no order.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};

use super::kernel::{Bool, Bytes, Date, F32, F64, I16, I32, I64, Input, Num, NumReader, Span};
use super::kernel::{Stamp, Str, Time, TimeTz, Uuid};
use crate::error::{Error, Result};
use crate::types::arrays::{Arrays, Bounds};
use crate::types::{Internal, Type};
use crate::values::{json, range};

/// The order of the values at two places.
pub type Comparator = Box<dyn Fn(&ArrayRef, usize, &ArrayRef, usize) -> Ordering + Send + Sync>;

/// The order of a type's values; NULLs are equal to each other and greater than all else.
///
/// # Errors
/// `42883` if the type has no order.
pub fn comparator(ty: &Type) -> Result<Comparator> {
    let values = values(ty)?;
    Ok(Box::new(move |left, at, right, other| {
        match (left.is_null(at), right.is_null(other)) {
            (false, false) => values(left, at, right, other),
            (left, right) => left.cmp(&right),
        }
    }))
}

/// The same where only equality is asked for, which makes another message.
///
/// # Errors
/// `42883` if the type has no order.
pub fn equality(ty: &Type) -> Result<Comparator> {
    comparator(ty).map_err(|error| {
        let message = error
            .message
            .replace("a comparison function", "an equality operator");
        Error { message, ..error }
    })
}

/// A number for each value whose order is theirs wherever two numbers differ: the first
/// eight bytes of a text, or an integer. `None` for other types, and if there are NULLs.
///
/// Sorts compare these first, which is a comparison of two integers side by side in
/// place of a call that looks both values up.
pub fn beginnings(ty: &Type, array: &ArrayRef) -> Option<Vec<u64>> {
    /// With the sign turned, integers are ordered as those without a sign.
    fn whole(value: i64) -> u64 {
        value.cast_unsigned() ^ 1 << 63
    }
    if array.null_count() > 0 {
        return None;
    }
    Some(match ty {
        Type::Int2 => {
            let values = array.as_primitive_opt::<Int16Type>()?.values().iter();
            values.map(|value| whole((*value).into())).collect()
        }
        Type::Int4 => {
            let values = array.as_primitive_opt::<Int32Type>()?.values().iter();
            values.map(|value| whole((*value).into())).collect()
        }
        Type::Int8 => {
            let values = array.as_primitive_opt::<Int64Type>()?.values().iter();
            values.map(|value| whole(*value)).collect()
        }
        Type::Text | Type::Varchar(_) | Type::Char(_) | Type::Name => {
            let texts = array.as_string_view_opt()?;
            let first = |place| {
                let bytes = texts.value(place).as_bytes();
                let mut first = [0; 8];
                let length = bytes.len().min(8);
                first[..length].copy_from_slice(&bytes[..length]);
                u64::from_be_bytes(first)
            };
            (0..texts.len()).map(first).collect()
        }
        _ => return None,
    })
}

/// The order of values that are not NULL.
fn values(ty: &Type) -> Result<Comparator> {
    Ok(match ty {
        Type::Bool => natural::<Bool>(),
        Type::Int2 => natural::<I16>(),
        Type::Int4 => natural::<I32>(),
        Type::Int8 | Type::Oid | Type::Reg(_) => natural::<I64>(),
        Type::Internal(Internal::Xid | Internal::Cid | Internal::Tid) => natural::<I64>(),
        Type::Internal(Internal::Xid8) => {
            compared::<I64>(|a, b| a.cast_unsigned().cmp(&b.cast_unsigned()))
        }
        Type::Date => natural::<Date>(),
        Type::Time(_) => natural::<Time>(),
        Type::Timestamp(_) | Type::TimestampTz(_) => natural::<Stamp>(),
        Type::Float4 => compared::<F32>(|a, b| floats(a.into(), b.into())),
        Type::Float8 => compared::<F64>(floats),
        Type::Numeric(_) => Box::new(numbers),
        Type::Interval => natural::<Span>(),
        Type::TimeTz(_) => compared::<TimeTz>(|a, b| zoned_time(a).cmp(&zoned_time(b))),
        Type::Uuid => natural::<Uuid>(),
        Type::Bytea | Type::Inet | Type::Cidr | Type::MacAddr | Type::MacAddr8 | Type::Money => {
            natural::<Bytes>()
        }
        Type::Range(of) | Type::Multirange(of) => {
            let of = *of;
            compared::<Bytes>(move |a, b| range::key(of, a).cmp(range::key(of, b)))
        }
        Type::Text
        | Type::Unknown
        | Type::Varchar(_)
        | Type::Char(_)
        | Type::CatalogChar
        | Type::Internal(_)
        | Type::Bit(_)
        | Type::VarBit(_)
        | Type::Name => natural::<Str>(),
        Type::Jsonb => compared::<Str>(json::compare),
        Type::Enum(of) => {
            let of = std::sync::Arc::clone(of);
            Box::new(move |left, at, right, other| {
                let rank = |array: &ArrayRef, at| {
                    let label = array.as_string_view_opt().map(|a| a.value(at));
                    of.labels.iter().position(|l| Some(l.as_str()) == label)
                };
                rank(left, at).cmp(&rank(right, other))
            })
        }
        Type::Array(_) => lists(ty)?,
        Type::Record(fields) => {
            let types = fields.iter().map(|(_, ty)| comparator(ty));
            let types = types.collect::<Result<Vec<_>>>()?;
            Box::new(move |left, at, right, other| {
                let (Some(left), Some(right)) = (left.as_struct_opt(), right.as_struct_opt())
                else {
                    return Ordering::Equal;
                };
                let columns = left.columns().iter().zip(right.columns());
                let mut fields = columns.zip(&types);
                let found = fields.find_map(|((left, right), order)| {
                    Some(order(left, at, right, other)).filter(|order| order.is_ne())
                });
                found.unwrap_or(Ordering::Equal)
            })
        }
        _ => {
            return Err(Error::new(
                "42883",
                format!("could not identify a comparison function for type {ty}"),
            ));
        }
    })
}

/// The order of a marker's values as Rust has it.
fn natural<I: Input>() -> Comparator
where
    for<'a> I::Item<'a>: Ord,
{
    compared::<I>(|a, b| a.cmp(&b))
}

/// The order of a marker's values by a closure.
fn compared<I: Input>(
    order: impl for<'a> Fn(I::Item<'a>, I::Item<'a>) -> Ordering + Send + Sync + 'static,
) -> Comparator {
    Box::new(move |left, at, right, other| {
        let (Ok(a), Ok(b)) = (I::reader(left), I::reader(right)) else {
            return Ordering::Equal;
        };
        order(I::get(&a, left, at), I::get(&b, right, other))
    })
}

/// NUMERIC of either form on each side.
fn numbers(left: &ArrayRef, at: usize, right: &ArrayRef, other: usize) -> Ordering {
    let (Ok(a), Ok(b)) = (Num::reader(left), Num::reader(right)) else {
        return Ordering::Equal;
    };
    match (&a, &b) {
        (NumReader::Fixed(x, scale), NumReader::Fixed(y, same)) if scale == same => {
            x.value(at).cmp(&y.value(other))
        }
        _ => Num::get(&a, left, at).cmp(&Num::get(&b, right, other)),
    }
}

/// NaN is equal to itself and greater than all numbers; the zeros are equal.
pub fn floats(left: f64, right: f64) -> Ordering {
    let order = left.partial_cmp(&right);
    order.unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// Times with a zone are ordered by the instant, then the farther west the greater.
fn zoned_time(bytes: [u8; 12]) -> (i64, i32) {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = bytes;
    let micros = i64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let west = i32::from_le_bytes([i, j, k, l]);
    let instant = micros.saturating_add(i64::from(west).saturating_mul(1_000_000));
    (instant, west)
}

/// Arrays are ordered by their elements without regard to dimensions, then by how many there
/// are, then by the number of dimensions, their lengths and their lower bounds.
fn lists(ty: &Type) -> Result<Comparator> {
    let element = comparator(ty.innermost())?;
    Ok(Box::new(move |left, at, right, other| {
        let (Some(a), Some(b)) = (Arrays::read(left), Arrays::read(right)) else {
            return Ordering::Equal;
        };
        let (here, there) = (a.range(at), b.range(other));
        let mut pairs = here.clone().zip(there.clone());
        let found = pairs.find_map(|(here, there)| {
            Some(element(a.values(), here, b.values(), there)).filter(|order| order.is_ne())
        });
        found.unwrap_or_else(|| {
            let lengths = here.len().cmp(&there.len());
            lengths.then_with(|| by_bounds(&a.bounds(at), &b.bounds(other)))
        })
    }))
}

/// The order of bounds: the number of dimensions, their lengths, their lower bounds.
fn by_bounds(a: &Bounds, b: &Bounds) -> Ordering {
    let dimensions = a.lengths.len().cmp(&b.lengths.len());
    let lengths = dimensions.then_with(|| a.lengths.cmp(&b.lengths));
    lengths.then_with(|| a.lows.cmp(&b.lows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int32Type;
    use arrow_array::{Float64Array, Int16Array, Int32Array, Int64Array};
    use arrow_array::{ListArray, StringViewArray};
    use std::sync::Arc;

    #[test]
    fn nan_is_greatest_and_zeros_are_equal() {
        let values = vec![
            Some(0.0),
            Some(-0.0),
            Some(f64::NAN),
            Some(f64::INFINITY),
            None,
        ];
        let array: ArrayRef = Arc::new(Float64Array::from(values));
        let order = comparator(&Type::Float8).unwrap();
        assert_eq!(order(&array, 0, &array, 1), Ordering::Equal);
        assert_eq!(order(&array, 2, &array, 3), Ordering::Greater);
        assert_eq!(order(&array, 2, &array, 2), Ordering::Equal);
        assert_eq!(order(&array, 4, &array, 2), Ordering::Greater);
        assert_eq!(order(&array, 4, &array, 4), Ordering::Equal);
    }

    #[test]
    fn where_beginnings_differ_they_have_the_order_of_the_values() {
        let texts = [
            "",
            "\0",
            "a",
            "a\0",
            "abcdefgh",
            "abcdefgi",
            "abcdefghi",
            "é",
            "z",
        ];
        let texts: ArrayRef = Arc::new(StringViewArray::from(texts.to_vec()));
        let small = [i16::MIN, -1, 0, 1, i16::MAX];
        let all = |ty: Type, array: ArrayRef| {
            let order = comparator(&ty).unwrap();
            let first = beginnings(&ty, &array).unwrap();
            let places = || 0..array.len();
            let pairs = places().flat_map(|a| places().map(move |b| (a, b)));
            for (a, b) in pairs {
                let by_first = first[a].cmp(&first[b]);
                let agrees = by_first.is_eq() || by_first == order(&array, a, &array, b);
                assert!(agrees, "{ty:?}: {a} and {b}");
            }
            first.iter().collect::<std::collections::HashSet<_>>().len()
        };
        assert_eq!(all(Type::Text, texts.clone()), 6);
        assert_eq!(all(Type::Char(None), texts), 6);
        let int2 = Int16Array::from(small.to_vec());
        assert_eq!(all(Type::Int2, Arc::new(int2)), 5);
        let int4 = small.map(|value| i32::from(value) << 16);
        assert_eq!(
            all(Type::Int4, Arc::new(Int32Array::from(int4.to_vec()))),
            5
        );
        let int8 = small.map(|value| i64::from(value) << 48);
        assert_eq!(
            all(Type::Int8, Arc::new(Int64Array::from(int8.to_vec()))),
            5
        );
        let with_null: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
        assert!(beginnings(&Type::Int4, &with_null).is_none());
    }

    #[test]
    fn lists_are_ordered_by_elements_then_length() {
        let lists: Vec<Option<Vec<Option<i32>>>> = vec![
            Some(vec![Some(1), Some(2)]),
            Some(vec![Some(1), None]),
            Some(vec![Some(1)]),
            Some(vec![]),
            Some(vec![Some(2)]),
        ];
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
        let array = crate::types::arrays::plain(&lists).unwrap();
        let order = comparator(&Type::Int4.array()).unwrap();
        assert_eq!(order(&array, 0, &array, 1), Ordering::Less);
        assert_eq!(order(&array, 0, &array, 2), Ordering::Greater);
        assert_eq!(order(&array, 3, &array, 2), Ordering::Less);
        assert_eq!(order(&array, 4, &array, 0), Ordering::Greater);
    }

    #[test]
    fn times_with_zones_are_ordered_by_instant() {
        let time = |micros: i64, west: i32| {
            let mut bytes = [0; 12];
            bytes[..8].copy_from_slice(&micros.to_le_bytes());
            bytes[8..].copy_from_slice(&west.to_le_bytes());
            zoned_time(bytes)
        };
        assert!(time(0, 3600) > time(3_599_000_000, 0));
        assert!(time(3_600_000_000, 0) < time(0, 3600));
    }

    #[test]
    fn json_has_no_order() {
        let error = comparator(&Type::Json.array()).err().unwrap();
        let message = "could not identify a comparison function for type json";
        assert_eq!((error.sqlstate, error.message.as_str()), ("42883", message));
    }

    #[test]
    fn enumerations_are_ordered_by_their_labels() {
        let labels = vec!["low".to_owned(), "high".to_owned()];
        let name = "level".to_owned();
        let ty = Type::Enum(Arc::new(crate::types::EnumType {
            name,
            labels,
            number: 0,
        }));
        let array: ArrayRef = Arc::new(StringViewArray::from(vec!["high", "low"]));
        let order = comparator(&ty).unwrap();
        assert_eq!(order(&array, 0, &array, 1), Ordering::Greater);
    }
}
