//! `md5(value)`: 32 hexadecimal digits for a text or bytes.

use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{ArrayRef, StringViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Md5(Signature);

impl Md5 {
    pub(super) fn function() -> Arc<ScalarUDF> {
        let signature = Signature::any(1, Volatility::Immutable);
        Arc::new(ScalarUDF::from(Self(signature)))
    }
}

impl ScalarUDFImpl for Md5 {
    fn name(&self) -> &'static str {
        "md5"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let mut digests: Vec<ArrayRef> = Vec::with_capacity(1);
        for values in ColumnarValue::values_to_arrays(&args.args)? {
            // Texts first: other types have bytes of their own, which are no texts.
            let bytes = match values.data_type() {
                DataType::Binary | DataType::LargeBinary | DataType::BinaryView => values,
                _ => cast(&values, &DataType::Utf8View)?,
            };
            let bytes = cast(&bytes, &DataType::BinaryView)?;
            let each = bytes.as_binary_view().iter();
            let each = each.map(|bytes| bytes.map(|bytes| format!("{:x}", md5::compute(bytes))));
            digests.push(Arc::new(StringViewArray::from_iter(each)));
        }
        let digests = digests.pop();
        let digests = digests.ok_or_else(|| crate::Error::internal("md5 without an argument"))?;
        Ok(ColumnarValue::Array(digests))
    }
}
