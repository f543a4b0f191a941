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

use super::Typed;
use super::expression::cast;
use crate::error::Error;
use crate::values::DIMENSIONS_KEY;
use crate::values::convert::{is_held_as_text, loaded};

/// Values of a column as the front has them.
#[derive(Debug, PartialEq, Eq)]
struct Loaded {
    ty: Type,
    /// How many dimensions its arrays have, as its column says.
    dimensions: u8,
    signature: Signature,
}

impl Hash for Loaded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ty.hash(state);
    }
}

/// The values of a column as the front has them. Arrays of several dimensions are marked, for
/// those who make lists of them.
pub(super) fn load(column: Expr, ty: &Type, dimensions: u8) -> Expr {
    let function = Loaded {
        ty: ty.clone(),
        dimensions,
        signature: Signature::any(1, Volatility::Immutable),
    };
    ScalarUDF::from(function).call(vec![column])
}

/// A column that stands somewhere in an Arrow type, as one of a type of the front.
pub(super) fn of_column(place: Expr, held: &DataType, ty: &Type) -> Typed {
    let wanted = ty.arrow();
    if *held == wanted || matches!(ty, Type::Numeric(_)) && held.is_decimal() {
        return Typed::new(place, held.clone());
    }
    // Tables of the catalog have lists where the front has arrays.
    let is_list = matches!((held, ty), (DataType::List(_), Type::Array(_)));
    let value = match is_list || *held == DataType::Utf8View && is_held_as_text(ty) {
        true => load(place, ty, 1),
        false => cast(place, &wanted),
    };
    Typed::new(value, wanted)
}

/// A column whose arrays have some number of dimensions, and says so if there are several.
pub(super) fn marked(name: &str, kind: DataType, dimensions: u8) -> FieldRef {
    let field = Field::new(name, kind, true);
    let marked = (dimensions > 1).then(|| (DIMENSIONS_KEY.to_owned(), dimensions.to_string()));
    Arc::new(field.with_metadata(marked.into_iter().collect()))
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
        Ok(marked("loaded", self.ty.arrow(), self.dimensions))
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
