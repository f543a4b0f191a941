//! The only value of some rows, for sub-queries that stand for a value: more than one
//! row is an error, none is NULL.
//!
//! Such a sub-query is computed for all keys that it could be asked for, so the
//! aggregate `single_value` only counts; `value_of_single`, which is computed for the
//! rows that ask, complains.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StructArray};
use datafusion::arrow::compute::nullif;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Expr, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::error::Error;

/// An aggregate over the one row that there may be.
pub(crate) fn single_value(expr: Expr) -> Expr {
    AggregateUDF::from(SingleValue {
        signature: Signature::any(1, Volatility::Immutable),
    })
    .call(vec![expr])
}

/// The value of such an aggregate.
pub(crate) fn value_of_single(expr: Expr) -> Expr {
    ScalarUDF::from(ValueOfSingle {
        signature: Signature::any(1, Volatility::Immutable),
    })
    .call(vec![expr])
}

/// That a sub-query stands for a value and has several rows.
pub(crate) fn several() -> Error {
    Error::new(
        "21000",
        "more than one row returned by a subquery used as an expression",
    )
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SingleValue {
    signature: Signature,
}

impl AggregateUDFImpl for SingleValue {
    fn name(&self) -> &'static str {
        "single_value"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> DfResult<DataType> {
        let value = arguments.first().cloned();
        let value = value.ok_or_else(|| Error::internal("a value of nothing"))?;
        Ok(DataType::Struct(parts(value)))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> DfResult<Vec<FieldRef>> {
        Ok(fields_of(args.return_field.data_type())?.to_vec())
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> DfResult<Box<dyn Accumulator>> {
        let fields = fields_of(args.return_field.data_type())?.clone();
        let value = ScalarValue::try_from(fields[0].data_type())?;
        Ok(Box::new(Single {
            fields,
            value,
            rows: 0,
        }))
    }
}

/// A value and of how many rows it is one.
fn parts(value: DataType) -> Fields {
    let value = Field::new("value", value, true);
    let rows = Field::new("rows", DataType::Int64, true);
    Fields::from(vec![value, rows])
}

fn fields_of(kind: &DataType) -> DfResult<&Fields> {
    match kind {
        DataType::Struct(fields) if fields.len() == 2 => Ok(fields),
        _ => Err(Error::internal("a value and its rows were expected").into()),
    }
}

#[derive(Debug)]
struct Single {
    fields: Fields,
    value: ScalarValue,
    rows: i64,
}

impl Single {
    fn add(&mut self, values: &ArrayRef, row: usize, rows: i64) -> DfResult<()> {
        self.rows += rows;
        self.value = ScalarValue::try_from_array(values, row)?;
        Ok(())
    }
}

impl Accumulator for Single {
    fn update_batch(&mut self, values: &[ArrayRef]) -> DfResult<()> {
        match values.first() {
            Some(values) if !values.is_empty() => self.add(values, 0, values.len() as i64),
            _ => Ok(()),
        }
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> DfResult<()> {
        let [values, rows] = states else {
            return Err(Error::internal("a value and its rows were expected").into());
        };
        let rows = rows.as_primitive::<Int64Type>();
        for (place, rows) in rows
            .values()
            .iter()
            .enumerate()
            .filter(|(_, rows)| **rows > 0)
        {
            self.add(values, place, *rows)?;
        }
        Ok(())
    }

    fn state(&mut self) -> DfResult<Vec<ScalarValue>> {
        Ok(vec![
            self.value.clone(),
            ScalarValue::Int64(Some(self.rows)),
        ])
    }

    fn evaluate(&mut self) -> DfResult<ScalarValue> {
        let rows = ScalarValue::Int64(Some(self.rows));
        let arrays = vec![self.value.to_array()?, rows.to_array()?];
        let both = StructArray::try_new(self.fields.clone(), arrays, None)?;
        Ok(ScalarValue::Struct(Arc::new(both)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.value.size()
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ValueOfSingle {
    signature: Signature,
}

impl ScalarUDFImpl for ValueOfSingle {
    fn name(&self) -> &'static str {
        "value_of_single"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> DfResult<DataType> {
        let both = arguments.first().unwrap_or(&DataType::Null);
        Ok(fields_of(both)?[0].data_type().clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let both = arrays.first().and_then(|array| array.as_struct_opt());
        let both = both.ok_or_else(|| Error::internal("a value and its rows were expected"))?;
        let rows = both.column(1).as_primitive::<Int64Type>();
        let several_at =
            |row: usize| both.is_valid(row) && rows.is_valid(row) && rows.value(row) > 1;
        if (0..both.len()).any(several_at) {
            return Err(several().into());
        }
        let value = both.column(0);
        Ok(ColumnarValue::Array(match both.nulls() {
            None => Arc::clone(value),
            Some(nulls) => {
                let missing = BooleanArray::new(!nulls.inner(), None);
                nullif(value, &missing)?
            }
        }))
    }
}
