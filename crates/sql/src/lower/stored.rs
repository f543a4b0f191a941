//! Columns that are held in another form than the front has them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use freestone_frontend::types::Type;

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
