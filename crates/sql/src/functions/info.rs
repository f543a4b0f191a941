//! Functions about the database itself: `current_schema()`, `current_database()`,
//! `version()`.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::plan::names::{CATALOG, DEFAULT_SCHEMA};

/// All of them.
pub(super) fn functions() -> Vec<Arc<ScalarUDF>> {
    // Clients look for the version of PostgreSQL that they may take it for.
    let version = format!(
        "Freestone {}, with the ways of PostgreSQL 15.0",
        env!("CARGO_PKG_VERSION")
    );
    [
        ("current_schema", DEFAULT_SCHEMA.to_owned()),
        ("current_database", CATALOG.to_owned()),
        ("current_catalog", CATALOG.to_owned()),
        ("version", version),
    ]
    .into_iter()
    .map(|(name, value)| {
        let signature = Signature::nullary(Volatility::Stable);
        Arc::new(ScalarUDF::from(Fixed {
            name,
            value,
            signature,
        }))
    })
    .collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Fixed {
    name: &'static str,
    value: String,
    signature: Signature,
}

impl ScalarUDFImpl for Fixed {
    fn name(&self) -> &'static str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let value = ScalarValue::Utf8View(Some(self.value.clone()));
        Ok(ColumnarValue::Scalar(value))
    }
}
