//! Functions of DataFusion that the language front evaluates.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::Array;
use datafusion::arrow::array::{ArrayRef, BinaryViewBuilder, StructArray, cast::AsArray};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use freestone_frontend::evaluate::{Input, evaluate};
use freestone_frontend::functions::Volatility as Changes;
use freestone_frontend::functions::kernel::{Column, repeated};
use freestone_frontend::plan::{ColumnId, Expr as Bound, ExprKind};
use freestone_frontend::types::arrays;
use freestone_frontend::values::Numeric;

use super::Surroundings;
use crate::error::Error;

/// An expression of the front as a function of the columns that it reads.
pub(super) struct Evaluated {
    expr: Bound,
    /// The columns, in the order of the arguments.
    columns: Vec<ColumnId>,
    /// The expression as SQL.
    name: String,
    around: Surroundings,
    signature: Signature,
}

impl Evaluated {
    pub(super) fn new(
        expr: Bound,
        columns: Vec<ColumnId>,
        name: String,
        around: Surroundings,
    ) -> Self {
        let volatility = match changes(&expr) {
            Changes::Immutable => Volatility::Immutable,
            Changes::Stable => Volatility::Stable,
            Changes::Volatile => Volatility::Volatile,
        };
        let signature = match columns.len() {
            0 => Signature::nullary(volatility),
            some => Signature::any(some, volatility),
        };
        Self {
            expr,
            columns,
            name,
            around,
            signature,
        }
    }
}

/// How often an expression may change its value.
fn changes(expr: &Bound) -> Changes {
    let mut most = Changes::Immutable;
    expr.any(&mut |expr| {
        let of = match &expr.kind {
            ExprKind::Call { function, .. } => function.volatility,
            // Its operators stand for calls of a type's own, which are not volatile.
            ExprKind::Any { .. } | ExprKind::InList { .. } => Changes::Stable,
            _ => Changes::Immutable,
        };
        most = most.max(of);
        false
    });
    most
}

/// The values of an expression for rows of some columns.
///
/// # Errors
/// Those of the expression.
pub(super) fn values(
    expr: &Bound,
    ids: &[ColumnId],
    columns: &[Column],
    rows: usize,
    around: &Surroundings,
) -> Result<Column, Error> {
    let find = |id: ColumnId| {
        let at = ids.iter().position(|known| *known == id)?;
        columns.get(at).cloned()
    };
    let input = Input {
        rows,
        columns: &find,
        parameters: &around.parameters,
        session: &around.session,
        subquery: None,
    };
    Ok(evaluate(expr, &input)?)
}

impl fmt::Debug for Evaluated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for Evaluated {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.columns == other.columns
            && Arc::ptr_eq(&self.around.session, &other.around.session)
            && self.expr == other.expr
    }
}

impl Eq for Evaluated {}

impl Hash for Evaluated {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.columns.hash(state);
    }
}

impl ScalarUDFImpl for Evaluated {
    fn name(&self) -> &str {
        &self.name
    }

    fn display_name(&self, _: &[Expr]) -> DfResult<String> {
        Ok(self.name.clone())
    }

    fn schema_name(&self, _: &[Expr]) -> DfResult<String> {
        Ok(self.name.clone())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.expr.ty.arrow())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> DfResult<FieldRef> {
        Ok(Arc::new(Field::new(&self.name, self.expr.ty.arrow(), true)))
    }

    /// DataFusion compares bounds only of one type, and forgets an order where it cannot.
    fn evaluate_bounds(&self, _: &[&Interval]) -> DfResult<Interval> {
        Interval::make_unbounded(&self.expr.ty.arrow())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let rows = args.number_rows;
        let mut columns = Vec::with_capacity(args.args.len());
        for argument in args.args {
            columns.push(match argument {
                ColumnarValue::Array(array) => Column::rows(array),
                ColumnarValue::Scalar(value) => Column::constant(value.to_array()?),
            });
        }
        let value = values(&self.expr, &self.columns, &columns, rows, &self.around)?;
        let array = with_kind(value.array, &self.expr.ty.arrow())?;
        if value.constant && array.len() == 1 {
            let value = ScalarValue::try_from_array(&array, 0)?;
            return Ok(ColumnarValue::Scalar(value));
        }
        Ok(ColumnarValue::Array(repeated(array, rows)))
    }
}

/// An array with an Arrow type: a NUMERIC may have come out in its other form, also as an
/// element or a field.
///
/// # Errors
/// `22003` where a number does not fit.
pub(crate) fn with_kind(array: ArrayRef, kind: &DataType) -> Result<ArrayRef, Error> {
    match (array.data_type(), kind) {
        (a, b) if a == b => Ok(array),
        (DataType::Decimal128(..), DataType::BinaryView) => varied(&array),
        (DataType::BinaryView, DataType::Decimal128(precision, scale)) => {
            let from = array.as_binary_view();
            let limit = 10i128.checked_pow(u32::from(*precision));
            let wide = u32::try_from(*scale).unwrap_or(0);
            let mut values = Vec::with_capacity(from.len());
            for value in from {
                let Some(value) = value else {
                    values.push(None);
                    continue;
                };
                let value = Numeric::decode(value).to_i128(wide);
                let fits =
                    value.filter(|v| limit.is_none_or(|limit| v.unsigned_abs() < limit as u128));
                let value = fits.ok_or_else(|| Error::new("22003", "numeric field overflow"))?;
                values.push(Some(value));
            }
            let array = datafusion::arrow::array::PrimitiveArray::<Decimal128Type>::from(values);
            Ok(Arc::new(array.with_data_type(kind.clone())))
        }
        (held, _)
            if arrays::element_type(kind).is_some()
                && (matches!(held, DataType::List(_)) || arrays::element_type(held).is_some()) =>
        {
            let made = match array.as_list_opt::<i32>() {
                Some(lists) => arrays::from_lists(lists)?,
                None => array,
            };
            match (made.data_type() == kind, arrays::element_type(kind)) {
                (false, Some(element)) => {
                    let of = arrays::Arrays::of(&made)?;
                    let values = with_kind(Arc::clone(of.values()), element)?;
                    Ok(of.with_values(values, made.nulls().cloned())?)
                }
                _ => Ok(made),
            }
        }
        (DataType::Struct(held), DataType::Struct(wanted)) if held.len() == wanted.len() => {
            let records = array.as_struct();
            let columns = records.columns().iter().zip(wanted);
            let columns =
                columns.map(|(column, field)| with_kind(Arc::clone(column), field.data_type()));
            let columns = columns.collect::<Result<Vec<_>, Error>>()?;
            let (length, nulls) = (records.len(), records.nulls().cloned());
            Ok(Arc::new(StructArray::try_new_with_length(
                wanted.clone(),
                columns,
                nulls,
                length,
            )?))
        }
        _ => Ok(datafusion::arrow::compute::cast(&array, kind)?),
    }
}

fn varied(array: &ArrayRef) -> Result<ArrayRef, Error> {
    let DataType::Decimal128(_, scale) = array.data_type() else {
        return Err(Error::internal("no decimal"));
    };
    let scale = u32::try_from(*scale).unwrap_or(0);
    let from = array.as_primitive::<Decimal128Type>();
    let mut builder = BinaryViewBuilder::with_capacity(from.len());
    for value in from {
        builder.append_option(value.map(|value| Numeric::new(value, scale).encode()));
    }
    Ok(Arc::new(builder.finish()))
}

/// NUMERIC values in another form.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    kind: DataType,
    signature: Signature,
}

impl Held {
    /// As values of an Arrow type.
    pub(super) fn new(kind: &DataType) -> Self {
        Self {
            kind: kind.clone(),
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for Held {
    fn name(&self) -> &'static str {
        "numeric"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.kind.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let [value] = args.args.as_slice() else {
            return Err(Error::internal("numeric takes one value").into());
        };
        Ok(match value {
            ColumnarValue::Array(array) => {
                ColumnarValue::Array(with_kind(Arc::clone(array), &self.kind)?)
            }
            ColumnarValue::Scalar(value) => {
                let array = with_kind(value.to_array()?, &self.kind)?;
                ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)
            }
        })
    }
}
