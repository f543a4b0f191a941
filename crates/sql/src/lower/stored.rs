//! Columns that are held in another form than the front has them, and expressions of the
//! front over rows at hand.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use freestone_frontend::plan::{ColumnId, Expr as Bound};
use freestone_frontend::types::Type;

use super::Surroundings;
use super::evaluated::Evaluated;
use crate::error::Error;
use crate::front::loaded;

/// Values of a column as the front has them.
#[derive(Debug, PartialEq, Eq)]
struct Loaded {
    ty: Type,
    signature: Signature,
}

impl Hash for Loaded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ty.hash(state);
    }
}

/// The values of a column as the front has them.
pub(super) fn load(column: Expr, ty: &Type) -> Expr {
    let function = Loaded {
        ty: ty.clone(),
        signature: Signature::any(1, Volatility::Immutable),
    };
    ScalarUDF::from(function).call(vec![column])
}

impl ScalarUDFImpl for Loaded {
    fn name(&self) -> &'static str {
        "loaded"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.ty.arrow())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> DfResult<FieldRef> {
        Ok(Arc::new(Field::new("loaded", self.ty.arrow(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let [value] = args.args.as_slice() else {
            return Err(Error::internal("one value is loaded").into());
        };
        Ok(match value {
            ColumnarValue::Array(array) => ColumnarValue::Array(loaded(array, &self.ty)?),
            ColumnarValue::Scalar(value) => {
                let array = loaded(&value.to_array()?, &self.ty)?;
                ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)
            }
        })
    }
}

/// An expression of the front over columns of rows at hand, which are held as a table has them.
pub(crate) fn over_columns(
    bound: &Bound,
    places: &HashMap<ColumnId, (Expr, Type)>,
    around: &Surroundings,
) -> crate::error::Result<Expr> {
    let mut read: Vec<ColumnId> = bound.reads().into_iter().collect();
    read.sort_unstable();
    let mut arguments = Vec::with_capacity(read.len());
    for id in &read {
        let Some((column, ty)) = places.get(id) else {
            return Err(Error::internal(format!("column #{} is not there", id.0)));
        };
        arguments.push(match crate::front::is_held_as_text(ty) {
            true => load(column.clone(), ty),
            false => column.clone(),
        });
    }
    let name = super::shown::sql(bound, &|id| match places.get(&id) {
        Some((Expr::Column(column), _)) => column.name.clone(),
        _ => format!("#{}", id.0),
    });
    let function = Evaluated::new(bound.clone(), read, name, around.clone());
    Ok(ScalarUDF::from(function).call(arguments))
}
