//! `+ - *` of integers that do not wrap, unary minus, `/ %` of floats that do not
//! divide by zero.
//!
//! Each result is computed for all rows first, with one flag for "some row went
//! wrong"; the loop has no branch and vectorises. Only when the flag is up are the
//! rows looked at again, because a NULL row may hold any bits.

use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::{
    Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, PrimitiveArray, cast::AsArray,
};
use datafusion::arrow::buffer::{NullBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::{
    DataType, Field, FieldRef, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::{
    ColumnarValue, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};

use crate::error::Error;

/// A checked operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Op {
    Add,
    Subtract,
    Multiply,
    Negate,
    Divide,
    Modulo,
}

/// The function that computes `op` for arguments of `kind`, where DataFusion's own
/// would not notice an error.
pub(crate) fn checked_operator(op: Operator, kind: &DataType) -> Option<Arc<ScalarUDF>> {
    let op = match op {
        Operator::Plus if signed(kind) => Op::Add,
        Operator::Minus if signed(kind) => Op::Subtract,
        Operator::Multiply if signed(kind) => Op::Multiply,
        Operator::Divide if kind.is_floating() => Op::Divide,
        Operator::Modulo if kind.is_floating() => Op::Modulo,
        _ => return None,
    };
    Some(function(op))
}

/// Unary minus, for integers.
pub(crate) fn checked_negation(kind: &DataType) -> Option<Arc<ScalarUDF>> {
    signed(kind).then(|| function(Op::Negate))
}

fn signed(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64
    )
}

fn function(op: Op) -> Arc<ScalarUDF> {
    static ALL: LazyLock<Vec<(Op, Arc<ScalarUDF>)>> = LazyLock::new(|| {
        [
            Op::Add,
            Op::Subtract,
            Op::Multiply,
            Op::Negate,
            Op::Divide,
            Op::Modulo,
        ]
        .into_iter()
        .map(|op| (op, Arc::new(ScalarUDF::from(Checked::new(op)))))
        .collect()
    });
    ALL.iter()
        .find(|(known, _)| *known == op)
        .map_or_else(|| Arc::new(Checked::new(op).into()), |(_, f)| Arc::clone(f))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    op: Op,
    signature: Signature,
}

impl Checked {
    fn new(op: Op) -> Self {
        let arguments = if op == Op::Negate { 1 } else { 2 };
        Self {
            op,
            signature: Signature::any(arguments, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &'static str {
        match self.op {
            Op::Add => "checked_add",
            Op::Subtract => "checked_subtract",
            Op::Multiply => "checked_multiply",
            Op::Negate => "checked_negate",
            Op::Divide => "checked_divide",
            Op::Modulo => "checked_modulo",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> DfResult<DataType> {
        match arguments {
            [first, ..] => Ok(first.clone()),
            [] => Err(Error::internal("arithmetic without operands").into()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> DfResult<FieldRef> {
        let kinds: Vec<DataType> = args
            .arg_fields
            .iter()
            .map(|f| f.data_type().clone())
            .collect();
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        let kind = self.return_type(&kinds)?;
        Ok(Arc::new(Field::new(self.name(), kind, nullable)))
    }

    /// DataFusion compares bounds only of one type, and forgets an order where it cannot.
    fn evaluate_bounds(&self, inputs: &[&Interval]) -> DfResult<Interval> {
        let kind = inputs.first().map(|input| input.data_type());
        Interval::make_unbounded(&kind.unwrap_or(DataType::Null))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let (left, right) = match args.args.as_slice() {
            [left, right] => (left, right),
            [only] => (only, only),
            _ => return Err(Error::internal("arithmetic takes one or two operands").into()),
        };
        let scalar = matches!(
            (left, right),
            (ColumnarValue::Scalar(_), ColumnarValue::Scalar(_))
        );
        let array = match left.data_type() {
            DataType::Int8 => integers::<Int8Type>(self.op, left, right),
            DataType::Int16 => integers::<Int16Type>(self.op, left, right),
            DataType::Int32 => integers::<Int32Type>(self.op, left, right),
            DataType::Int64 => integers::<Int64Type>(self.op, left, right),
            DataType::Float32 => floats::<Float32Type>(self.op, left, right),
            DataType::Float64 => floats::<Float64Type>(self.op, left, right),
            other => return Err(Error::internal(format!("no arithmetic of {other}")).into()),
        }?;
        if scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(
                &array, 0,
            )?));
        }
        Ok(ColumnarValue::Array(array))
    }
}

/// What can go wrong with one row.
trait Arithmetic: ArrowPrimitiveType {
    fn add(a: Self::Native, b: Self::Native) -> (Self::Native, bool);
    fn subtract(a: Self::Native, b: Self::Native) -> (Self::Native, bool);
    fn multiply(a: Self::Native, b: Self::Native) -> (Self::Native, bool);
    fn negate(a: Self::Native, b: Self::Native) -> (Self::Native, bool);
}

macro_rules! integer {
    ($($kind:ty),*) => {$(
        impl Arithmetic for $kind {
            #[inline]
            fn add(a: Self::Native, b: Self::Native) -> (Self::Native, bool) {
                a.overflowing_add(b)
            }
            #[inline]
            fn subtract(a: Self::Native, b: Self::Native) -> (Self::Native, bool) {
                a.overflowing_sub(b)
            }
            #[inline]
            fn multiply(a: Self::Native, b: Self::Native) -> (Self::Native, bool) {
                a.overflowing_mul(b)
            }
            #[inline]
            fn negate(a: Self::Native, _: Self::Native) -> (Self::Native, bool) {
                a.overflowing_neg()
            }
        }
    )*};
}
integer!(Int8Type, Int16Type, Int32Type, Int64Type);

fn integers<T: Arithmetic>(
    op: Op,
    left: &ColumnarValue,
    right: &ColumnarValue,
) -> Result<ArrayRef, Error> {
    let wrong = || Error::new("22003", format!("{} out of range", kind_name::<T>()));
    match op {
        Op::Add => apply::<T>(left, right, T::add, wrong),
        Op::Subtract => apply::<T>(left, right, T::subtract, wrong),
        Op::Multiply => apply::<T>(left, right, T::multiply, wrong),
        _ => apply::<T>(left, right, T::negate, wrong),
    }
}

fn floats<T: ArrowPrimitiveType>(
    op: Op,
    left: &ColumnarValue,
    right: &ColumnarValue,
) -> Result<ArrayRef, Error>
where
    T::Native: ArrowNativeTypeOp,
{
    let wrong = || Error::new("22012", "division by zero");
    let zero = T::Native::ZERO;
    if op == Op::Divide {
        let divide = |a: T::Native, b: T::Native| (a.div_wrapping(b), b == zero);
        apply::<T>(left, right, divide, wrong)
    } else {
        let modulo = |a: T::Native, b: T::Native| (a.mod_wrapping(b), b == zero);
        apply::<T>(left, right, modulo, wrong)
    }
}

fn kind_name<T: ArrowPrimitiveType>() -> String {
    crate::types::sql_name(&T::DATA_TYPE)
}

/// One operand: a column, or one value for all rows.
enum Operand<'a, T: ArrowPrimitiveType> {
    Column(&'a PrimitiveArray<T>),
    One(Option<T::Native>),
}

fn operand<T: ArrowPrimitiveType>(value: &ColumnarValue) -> Result<Operand<'_, T>, Error> {
    let mismatch = || Error::internal("the operands of an operator differ in type");
    match value {
        ColumnarValue::Array(array) => {
            let column = array.as_primitive_opt::<T>().ok_or_else(mismatch)?;
            Ok(Operand::Column(column))
        }
        ColumnarValue::Scalar(scalar) => {
            let array = scalar.to_array()?;
            let one = array.as_primitive_opt::<T>().ok_or_else(mismatch)?;
            Ok(Operand::One(one.is_valid(0).then(|| one.value(0))))
        }
    }
}

fn apply<T: ArrowPrimitiveType>(
    left: &ColumnarValue,
    right: &ColumnarValue,
    f: impl Fn(T::Native, T::Native) -> (T::Native, bool),
    wrong: impl Fn() -> Error,
) -> Result<ArrayRef, Error> {
    let (values, nulls, bad): (Vec<T::Native>, Option<NullBuffer>, bool) =
        match (operand::<T>(left)?, operand::<T>(right)?) {
            (Operand::Column(a), Operand::Column(b)) => {
                let nulls = NullBuffer::union(a.nulls(), b.nulls());
                let (values, bad) = compute(
                    a.values().iter().copied().zip(b.values().iter().copied()),
                    &f,
                );
                (values, nulls, bad)
            }
            (Operand::Column(a), Operand::One(Some(b))) => {
                let (values, bad) = compute(a.values().iter().map(|a| (*a, b)), &f);
                (values, a.nulls().cloned(), bad)
            }
            (Operand::One(Some(a)), Operand::Column(b)) => {
                let (values, bad) = compute(b.values().iter().map(|b| (a, *b)), &f);
                (values, b.nulls().cloned(), bad)
            }
            (Operand::One(Some(a)), Operand::One(Some(b))) => {
                let (values, bad) = compute(std::iter::once((a, b)), &f);
                (values, None, bad)
            }
            (Operand::Column(a), _) | (_, Operand::Column(a)) => {
                return Ok(Arc::new(PrimitiveArray::<T>::new_null(a.len())));
            }
            _ => return Ok(Arc::new(PrimitiveArray::<T>::new_null(1))),
        };
    if bad && (nulls.is_none() || some_valid_row_is_bad::<T>(left, right, nulls.as_ref(), &f)?) {
        return Err(wrong());
    }
    let values = ScalarBuffer::from(values);
    Ok(Arc::new(PrimitiveArray::<T>::new(values, nulls)))
}

fn compute<N: Copy>(
    pairs: impl Iterator<Item = (N, N)>,
    f: impl Fn(N, N) -> (N, bool),
) -> (Vec<N>, bool) {
    let mut bad = false;
    let values = pairs
        .map(|(a, b)| {
            let (value, wrong) = f(a, b);
            bad |= wrong;
            value
        })
        .collect();
    (values, bad)
}

fn some_valid_row_is_bad<T: ArrowPrimitiveType>(
    left: &ColumnarValue,
    right: &ColumnarValue,
    nulls: Option<&NullBuffer>,
    f: impl Fn(T::Native, T::Native) -> (T::Native, bool),
) -> Result<bool, Error> {
    let Some(nulls) = nulls else { return Ok(true) };
    let (left, right) = (operand::<T>(left)?, operand::<T>(right)?);
    let at = |side: &Operand<'_, T>, row: usize| match side {
        Operand::Column(column) => Some(column.value(row)),
        Operand::One(one) => *one,
    };
    Ok(nulls
        .valid_indices()
        .any(|row| match (at(&left, row), at(&right, row)) {
            (Some(a), Some(b)) => f(a, b).1,
            _ => false,
        }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::Int32Array;

    fn add(left: ArrayRef, right: ArrayRef) -> Result<ArrayRef, Error> {
        integers::<Int32Type>(
            Op::Add,
            &ColumnarValue::Array(left),
            &ColumnarValue::Array(right),
        )
    }

    #[test]
    fn overflow_counts_only_in_valid_rows() {
        let big: ArrayRef = Arc::new(Int32Array::new(
            vec![i32::MAX, 1].into(),
            Some(vec![false, true].into()),
        ));
        let one: ArrayRef = Arc::new(Int32Array::from(vec![1, 1]));
        let sum = add(Arc::clone(&big), Arc::clone(&one)).unwrap();
        assert_eq!(
            sum.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(),
            [None, Some(2)]
        );
        let all: ArrayRef = Arc::new(Int32Array::from(vec![i32::MAX, 1]));
        assert_eq!(add(all, one).unwrap_err().sqlstate, "22003");
    }
}
