//! IN, ANY and ALL over lists and arrays, and arrays made of values.
//!
//! A long list of constants is put into a hash set, where equality of a type's values is that
//! of their bits; otherwise the operator is called for one element after the other.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt64Array, new_empty_array};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::truth::{Connective, Needed, constant, places, single};
use super::{Input, apply, evaluate, evaluate_rows, expanded};
use crate::error::{Error, Result};
use crate::functions::Scalar;
use crate::functions::arrays::construct;
use crate::functions::kernel::{Call, Column};
use crate::plan::Expr;
use crate::types::Type;
use crate::types::arrays::Arrays;

/// Elements from which on a hash set is built.
const LONG: usize = 8;

#[inline(never)]
pub(super) fn in_list(
    value: &Expr,
    list: &[Expr],
    equal: &Scalar,
    input: &Input<'_>,
) -> Result<Column> {
    let values = evaluate(value, input)?;
    if list.len() > LONG
        && let Some(literals) = list.iter().map(Expr::literal).collect::<Option<Vec<_>>>()
        && list.iter().all(|item| item.ty == value.ty)
    {
        let literals: Vec<&dyn Array> = literals.iter().map(|array| array.as_ref()).collect();
        let literals = concat(&literals)?;
        if let Some(found) = among(&values, &literals, &value.ty) {
            return found;
        }
    }
    let mut result = Connective::new(false, input.rows);
    for item in list {
        let types = [value.ty.clone(), item.ty.clone()];
        let is_fixed = item.literal().is_some();
        match result.needed() {
            Needed::None => break,
            Needed::Some(open) if !is_fixed => {
                let rows = places(&open);
                let mut some = values.clone();
                if !some.constant {
                    some.array = take(&some.array, &rows, None)?;
                }
                let item = evaluate_rows(item, &rows, input)?;
                let part = compare(equal, &types, some, item, rows.len(), input)?;
                result.add(&part, Some(&open))?;
            }
            _ => {
                let item = evaluate(item, input)?;
                let part = compare(equal, &types, values.clone(), item, input.rows, input)?;
                result.add(&part, None)?;
            }
        }
    }
    result.finish()
}

fn compare(
    operator: &Scalar,
    types: &[Type],
    left: Column,
    right: Column,
    rows: usize,
    input: &Input<'_>,
) -> Result<Column> {
    apply(
        operator,
        types,
        vec![left, right],
        &Type::Bool,
        rows,
        input.session,
    )
}

/// Whether values are among some constants, by a hash set; `None` if equality of the type is
/// not that of bits.
fn among(values: &Column, constants: &ArrayRef, ty: &Type) -> Option<Result<Column>> {
    let is_plain = matches!(
        ty,
        Type::Int2
            | Type::Int4
            | Type::Int8
            | Type::Oid
            | Type::Float4
            | Type::Float8
            | Type::Date
            | Type::Time(_)
            | Type::Timestamp(_)
            | Type::TimestampTz(_)
            | Type::Text
            | Type::Varchar(_)
            | Type::Char(_)
            | Type::CatalogChar
            | Type::Internal(_)
            | Type::Bit(_)
            | Type::VarBit(_)
            | Type::Name
            | Type::Enum(_)
            | Type::Uuid
            | Type::Bytea
            | Type::Inet
            | Type::Cidr
            | Type::MacAddr
            | Type::Money
            | Type::MacAddr8
    ) || ty.range().is_some_and(|of| !of.has_scales());
    if !is_plain || values.array.data_type() != constants.data_type() {
        return None;
    }
    let unknown = constants.null_count() > 0;
    // Without a hit a NULL in the list leaves it open.
    let missed = if unknown { None } else { Some(false) };
    let result: BooleanArray = match (integers(&values.array), integers(constants)) {
        (Some(values), Some(constants)) => {
            let set: HashSet<i64> = constants.into_iter().flatten().collect();
            let found = |value: i64| {
                if set.contains(&value) {
                    Some(true)
                } else {
                    missed
                }
            };
            values
                .into_iter()
                .map(|value| value.and_then(found))
                .collect()
        }
        _ => {
            let (values, constants) = (bytes(&values.array)?, bytes(constants)?);
            let set: HashSet<&[u8]> = constants.into_iter().flatten().collect();
            let found = |value: &[u8]| {
                if set.contains(value) {
                    Some(true)
                } else {
                    missed
                }
            };
            values
                .into_iter()
                .map(|value| value.and_then(found))
                .collect()
        }
    };
    let array: ArrayRef = Arc::new(result);
    Some(Ok(Column {
        array,
        constant: values.constant,
    }))
}

/// Integers that are equal if and only if values are.
fn integers(array: &ArrayRef) -> Option<Vec<Option<i64>>> {
    fn all<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        number: impl Fn(T::Native) -> i64,
    ) -> Option<Vec<Option<i64>>> {
        let array = array.as_primitive_opt::<T>()?;
        Some(array.iter().map(|value| value.map(&number)).collect())
    }
    // All NaNs are equal, and so are both zeros.
    let float = |value: f64| match value.is_nan() {
        true => f64::NAN.to_bits() as i64,
        false => (value + 0.0).to_bits() as i64,
    };
    match array.data_type() {
        DataType::Int16 => all::<Int16Type>(array, i64::from),
        DataType::Int32 => all::<Int32Type>(array, i64::from),
        DataType::Int64 => all::<Int64Type>(array, |value| value),
        DataType::Date32 => all::<Date32Type>(array, i64::from),
        DataType::Time64(_) => all::<Time64MicrosecondType>(array, |value| value),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            all::<TimestampMicrosecondType>(array, |value| value)
        }
        DataType::Float32 => all::<Float32Type>(array, |value| float(value.into())),
        DataType::Float64 => all::<Float64Type>(array, float),
        _ => None,
    }
}

fn bytes(array: &ArrayRef) -> Option<Vec<Option<&[u8]>>> {
    match array.data_type() {
        DataType::Utf8View => {
            let array = array.as_string_view();
            Some(array.iter().map(|value| value.map(str::as_bytes)).collect())
        }
        DataType::BinaryView => Some(array.as_binary_view().iter().collect()),
        DataType::FixedSizeBinary(_) => Some(array.as_fixed_size_binary().iter().collect()),
        _ => None,
    }
}

#[inline(never)]
pub(super) fn any(
    operator: &Scalar,
    value: &Expr,
    array: &Expr,
    all: bool,
    input: &Input<'_>,
) -> Result<Column> {
    let values = evaluate(value, input)?;
    let lists = evaluate(array, input)?;
    let types = [value.ty.clone(), array.ty.innermost().clone()];
    if lists.constant {
        return any_of_one(operator, &types, values, &lists.array, all, input);
    }
    let (ranges, elements) = flattened(&lists.array)?;
    // Rows and their elements side by side, one comparison for all.
    let mut owners = Vec::new();
    let mut places = Vec::new();
    for (row, range) in ranges.iter().enumerate() {
        if !lists.array.is_null(row) {
            owners.extend(range.clone().map(|_| values.at(row) as u64));
            places.extend(range.clone().map(|at| at as u64));
        }
    }
    let count = owners.len();
    let left = Column::rows(take(&values.array, &UInt64Array::from(owners), None)?);
    let right = Column::rows(take(&elements, &UInt64Array::from(places), None)?);
    let compared = match count {
        0 => Column::rows(new_empty_array(&DataType::Boolean)),
        _ => compare(operator, &types, left, right, count, input)?,
    };
    let compared = expanded(&compared, count);
    let compared = compared
        .as_boolean_opt()
        .ok_or_else(|| Error::internal("an operator of ANY gives no boolean"))?;
    let mut next = 0;
    let result = ranges.iter().enumerate().map(|(row, range)| {
        if lists.array.is_null(row) {
            return None;
        }
        let found = (next..next + range.len())
            .map(|at| (!compared.is_null(at)).then(|| compared.value(at)));
        next += range.len();
        quantified(found, all)
    });
    Ok(Column::rows(Arc::new(result.collect::<BooleanArray>())))
}

/// Whether any or all of some truth values are TRUE.
pub(crate) fn quantified(values: impl Iterator<Item = Option<bool>>, all: bool) -> Option<bool> {
    let mut result = Some(all);
    for value in values {
        match value {
            Some(value) if value != all => return Some(value),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}

/// The same for an array that is the same for all rows.
fn any_of_one(
    operator: &Scalar,
    types: &[Type; 2],
    values: Column,
    list: &ArrayRef,
    all: bool,
    input: &Input<'_>,
) -> Result<Column> {
    let Some(elements) = elements(list)? else {
        return Ok(constant(None));
    };
    let hashed = !all && operator.name == "=" && elements.len() > LONG && types[0] == types[1];
    if hashed && let Some(found) = among(&values, &elements, &types[0]) {
        return found;
    }
    let mut result = Connective::new(all, input.rows);
    for at in 0..elements.len() {
        if matches!(result.needed(), Needed::None) {
            break;
        }
        let element = Column::constant(elements.slice(at, 1));
        let part = compare(operator, types, values.clone(), element, input.rows, input)?;
        result.add(&part, None)?;
    }
    let result = result.finish()?;
    match result.constant {
        true => Ok(constant(single(&result)?)),
        false => Ok(result),
    }
}

/// The elements of an array of one row, in all dimensions; `None` of one that is NULL.
pub(super) fn elements(array: &ArrayRef) -> Result<Option<ArrayRef>> {
    if array.is_null(0) {
        return Ok(None);
    }
    let (ranges, elements) = flattened(array)?;
    let range = ranges.first().cloned().unwrap_or(0..0);
    Ok(Some(elements.slice(range.start, range.len())))
}

/// For each row the range of its elements of all dimensions, and the elements.
fn flattened(array: &ArrayRef) -> Result<(Vec<std::ops::Range<usize>>, ArrayRef)> {
    let arrays = Arrays::of(array)?;
    let ranges = (0..array.len()).map(|at| arrays.range(at)).collect();
    Ok((ranges, Arc::clone(arrays.values())))
}

/// Arrays of values of the same place each.
#[inline(never)]
pub(super) fn array(items: &[Expr], ty: &Type, input: &Input<'_>) -> Result<Column> {
    let mut columns = Vec::with_capacity(items.len());
    for item in items {
        columns.push(evaluate(item, input)?);
    }
    array_of(&columns, items, ty, input)
}

#[inline(never)]
fn array_of(columns: &[Column], items: &[Expr], ty: &Type, input: &Input<'_>) -> Result<Column> {
    let constant = columns.iter().all(|column| column.constant);
    let types: Vec<Type> = items.iter().map(|item| item.ty.clone()).collect();
    let call = Call {
        rows: if constant { 1 } else { input.rows },
        types: &types,
        returns: ty,
        session: input.session,
    };
    let array = construct(&call, columns)?;
    Ok(Column { array, constant })
}
