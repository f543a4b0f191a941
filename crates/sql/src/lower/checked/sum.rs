//! `sum` of integers that reports overflow instead of wrapping around.
//!
//! DataFusion's own `sum` does everything else: other types, DISTINCT, sliding
//! windows. A partial sum that leaves 64 bits is an error, even if later rows would
//! have brought it back.

use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, Int64Array};
use datafusion::arrow::compute::{not, nullif, prep_null_mask_filter};
use datafusion::arrow::datatypes::{DataType, FieldRef, Int64Type};
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

fn overflow() -> Error {
    Error::new("22003", "bigint out of range")
        .with_detail("the sum does not fit in 64 bits")
        .with_hint("sum the values as DECIMAL: sum(CAST(x AS DECIMAL(38)))")
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct CheckedSum {
    inner: Sum,
}

fn checkable(args: &AccumulatorArgs<'_>) -> bool {
    !args.is_distinct && *args.return_field.data_type() == DataType::Int64
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
        if checkable(&args) {
            return Ok(Box::new(Total::default()));
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
        if checkable(&args) {
            return Ok(Box::new(Totals {
                sums: Vec::new(),
                nulls: NullState::new(),
            }));
        }
        self.inner.create_groups_accumulator(args)
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
#[derive(Debug, Default)]
struct Total {
    /// Wide enough for 2^64 rows.
    sum: Option<i128>,
}

impl Total {
    fn narrow(&self) -> DfResult<ScalarValue> {
        let sum = self.sum.map(i64::try_from).transpose();
        Ok(ScalarValue::Int64(sum.map_err(|_| overflow())?))
    }
}

impl Accumulator for Total {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        let Some(values) = values
            .first()
            .and_then(|v| v.as_primitive_opt::<Int64Type>())
        else {
            return Err(Error::internal("sum expects bigint").into());
        };
        if values.null_count() == values.len() {
            return Ok(());
        }
        let added: i128 = match values.nulls() {
            None => values.values().iter().map(|v| i128::from(*v)).sum(),
            Some(_) => values.iter().flatten().map(i128::from).sum(),
        };
        self.sum = Some(self.sum.unwrap_or(0) + added);
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
struct Totals {
    sums: Vec<i64>,
    nulls: NullState,
}

impl GroupsAccumulator for Totals {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total_groups: usize,
    ) -> DfResult<()> {
        let Some(values) = values
            .first()
            .and_then(|v| v.as_primitive_opt::<Int64Type>())
        else {
            return Err(Error::internal("sum expects bigint").into());
        };
        self.sums.resize(total_groups, 0);
        let sums = &mut self.sums;
        let mut overflowed = false;
        self.nulls
            .accumulate(groups, values, filter, total_groups, |group, value| {
                let (sum, wrapped) = sums[group].overflowing_add(value);
                sums[group] = sum;
                overflowed |= wrapped;
            });
        if overflowed {
            return Err(overflow().into());
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
        Ok(Arc::new(Int64Array::new(sums.into(), nulls)))
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
        Ok(vec![kept])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<i64>() + self.nulls.size()
    }
}
