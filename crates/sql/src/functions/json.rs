//! `json_build_object(key, value, …)`: a JSON text of its arguments.

use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayRef, LargeStringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::types::JSON;

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct BuildObject(Signature);

impl BuildObject {
    pub(super) fn function() -> Arc<ScalarUDF> {
        let signature = Signature::variadic_any(Volatility::Immutable);
        Arc::new(ScalarUDF::from(Self(signature)))
    }
}

impl ScalarUDFImpl for BuildObject {
    fn name(&self) -> &str {
        "json_build_object"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(JSON)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        if args.args.len() % 2 == 1 {
            let message = "argument list must have even number of elements";
            return Err(Error::new("22023", message)
                .with_hint("json_build_object takes keys and values in turns")
                .into());
        }
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let parts = columns.iter().map(part).collect::<DfResult<Vec<Part>>>()?;
        let objects = (0..args.number_rows).map(|row| object(&parts, row));
        let objects = objects.collect::<Result<Vec<String>>>()?;
        let objects = LargeStringArray::from_iter_values(objects);
        Ok(ColumnarValue::Array(Arc::new(objects)))
    }
}

/// An argument as text, and whether that is JSON already.
struct Part(ArrayRef, bool);

fn part(column: &ArrayRef) -> DfResult<Part> {
    let kind = column.data_type();
    let plain = kind.is_numeric() || [DataType::Boolean, JSON].contains(kind);
    Ok(Part(cast(column, &DataType::Utf8View)?, plain))
}

fn object(parts: &[Part], row: usize) -> Result<String> {
    let text = |Part(texts, _): &Part| {
        let texts = texts.as_string_view();
        texts.is_valid(row).then(|| texts.value(row).to_owned())
    };
    let pairs = parts.as_chunks().0.iter().map(|[key, value]| {
        let Some(name) = text(key) else {
            return Err(Error::new("22004", "null value not allowed for object key"));
        };
        let value = match text(value) {
            None => "null".to_owned(),
            Some(text) if value.1 => text,
            Some(text) => Value::from(text).to_string(),
        };
        Ok(format!("{} : {value}", Value::from(name)))
    });
    let pairs = pairs.collect::<Result<Vec<String>>>()?;
    Ok(format!("{{{}}}", pairs.join(", ")))
}
