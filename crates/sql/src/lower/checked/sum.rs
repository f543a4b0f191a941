//! `sum` of integers and of decimals that reports overflow instead of wrapping around.
//!
//! DataFusion's own `sum` does everything else: other types, DISTINCT, sliding
//! windows. A partial sum that leaves 64 bits, of decimals 128, is an error, even if later rows
//! would have brought it back. Decimals of fewer digits than fill 128 bits do not get there.

use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{
    Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, BooleanArray, PrimitiveArray,
};
use datafusion::arrow::compute::{not, nullif, prep_null_mask_filter};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, FieldRef, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator,
    ReversedUDAF, Signature,
};
use datafusion::physical_expr::NullState;

use crate::error::Error;

/// The `sum` of every session.
pub(crate) fn checked_sum() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(CheckedSum { inner: Sum::new() }))
}

fn overflow(kind: &DataType) -> Error {
    if kind.is_decimal() {
        return Error::new("22003", "decimal out of range");
    }
    Error::new("22003", "bigint out of range")
        .with_detail("the sum does not fit in 64 bits")
        .with_hint("sum the values as DECIMAL: sum(CAST(x AS DECIMAL(38)))")
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct CheckedSum {
    inner: Sum,
}

/// The type of a sum that may leave its bits; `None` for others.
fn checkable(args: &AccumulatorArgs<'_>) -> Option<DataType> {
    let kind = args.return_field.data_type();
    let may_leave = matches!(kind, DataType::Int64 | DataType::Decimal128(38, _));
    (may_leave && !args.is_distinct).then(|| kind.clone())
}

impl AggregateUDFImpl for CheckedSum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> DfResult<DataType> {
        self.inner.return_type(arguments)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> DfResult<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> DfResult<Box<dyn Accumulator>> {
        if let Some(kind) = checkable(&args) {
            return Ok(Box::new(Total { sum: None, kind }));
        }
        self.inner.accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> DfResult<Box<dyn GroupsAccumulator>> {
        match checkable(&args) {
            Some(kind @ DataType::Int64) => Ok(Box::new(Totals::<Int64Type>::of(kind))),
            Some(kind) => Ok(Box::new(Totals::<Decimal128Type>::of(kind))),
            None => self.inner.create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> DfResult<Box<dyn Accumulator>> {
        self.inner.create_sliding_accumulator(args)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}

/// The sum of all rows.
#[derive(Debug)]
struct Total {
    /// Of integers it is wide enough for 2^64 rows.
    sum: Option<i128>,
    kind: DataType,
}

impl Total {
    fn narrow(&self) -> DfResult<ScalarValue> {
        if let DataType::Decimal128(precision, scale) = self.kind {
            return Ok(ScalarValue::Decimal128(self.sum, precision, scale));
        }
        let sum = self.sum.map(i64::try_from).transpose();
        Ok(ScalarValue::Int64(sum.map_err(|_| overflow(&self.kind))?))
    }

    /// The sum of an array's values; `None` if it leaves 128 bits.
    fn added(&self, values: &ArrayRef) -> DfResult<Option<i128>> {
        let wrong = || Error::internal(format!("a sum of {}", values.data_type()));
        if self.kind.is_decimal() {
            let values = values.as_primitive_opt::<Decimal128Type>();
            let mut values = values.ok_or_else(wrong)?.iter().flatten();
            return Ok(values.try_fold(0i128, i128::checked_add));
        }
        let values = values.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
        Ok(Some(match values.nulls() {
            None => values.values().iter().map(|v| i128::from(*v)).sum(),
            Some(_) => values.iter().flatten().map(i128::from).sum(),
        }))
    }
}

impl Accumulator for Total {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        let Some(values) = values.first() else {
            return Err(Error::internal("sum expects one argument").into());
        };
        if values.null_count() == values.len() {
            return Ok(());
        }
        let sum = self.added(values)?;
        let sum = sum.and_then(|added| self.sum.unwrap_or(0).checked_add(added));
        self.sum = Some(sum.ok_or_else(|| overflow(&self.kind))?);
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> DfResult<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        Ok(vec![self.narrow()?])
    }

    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        self.narrow()
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The sums of groups.
struct Totals<T: ArrowPrimitiveType> {
    sums: Vec<T::Native>,
    nulls: NullState,
    kind: DataType,
}

impl<T: ArrowPrimitiveType> Totals<T> {
    fn of(kind: DataType) -> Self {
        Self {
            sums: Vec::new(),
            nulls: NullState::new(),
            kind,
        }
    }
}

impl<T> GroupsAccumulator for Totals<T>
where
    T: ArrowPrimitiveType + Send,
    T::Native: ArrowNativeTypeOp,
{
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total_groups: usize,
    ) -> DfResult<()> {
        let Some(values) = values.first().and_then(|v| v.as_primitive_opt::<T>()) else {
            return Err(Error::internal("a sum of another type").into());
        };
        self.sums.resize(total_groups, T::Native::ZERO);
        let sums = &mut self.sums;
        let mut overflowed = false;
        self.nulls.accumulate(
            groups,
            values,
            filter,
            total_groups,
            |group, value| match sums[group].add_checked(value) {
                Ok(sum) => sums[group] = sum,
                Err(_) => overflowed = true,
            },
        );
        if overflowed {
            return Err(overflow(&self.kind).into());
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        total_groups: usize,
    ) -> DfResult<()> {
        self.update_batch(values, groups, None, total_groups)
    }

    fn evaluate(&mut self, emit: EmitTo) -> DfResult<ArrayRef> {
        let sums = emit.take_needed(&mut self.sums);
        let nulls = self.nulls.build(emit);
        let sums = PrimitiveArray::<T>::new(sums.into(), nulls);
        Ok(Arc::new(sums.with_data_type(self.kind.clone())))
    }

    fn state(&mut self, emit: EmitTo) -> DfResult<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit)?])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> DfResult<Vec<ArrayRef>> {
        let Some(values) = values.first() else {
            return Err(Error::internal("sum expects one argument").into());
        };
        let kept = match filter {
            None => Arc::clone(values),
            Some(filter) => {
                let kept = match filter.null_count() {
                    0 => filter.clone(),
                    _ => prep_null_mask_filter(filter),
                };
                nullif(values, &not(&kept)?)?
            }
        };
        // Decimals of a sum have more digits.
        let kept = kept.as_primitive_opt::<T>().cloned();
        let kept = kept.ok_or_else(|| Error::internal("a sum of another type"))?;
        Ok(vec![Arc::new(kept.with_data_type(self.kind.clone()))])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<T::Native>() + self.nulls.size()
    }
}
