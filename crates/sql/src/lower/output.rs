//! Results as they leave the engine.
//!
//! A NUMERIC with a scale for each value becomes text and CHAR(n) is filled up with blanks;
//! each field says its SQL type in its metadata, from which a server knows what a client is to
//! be told.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, RecordBatch, RecordBatchOptions, StringViewBuilder, cast::AsArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::common::metadata::FieldMetadata;
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::expr::Alias;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use freestone_frontend::types::Type;
use freestone_frontend::values::Numeric;
use futures::StreamExt;

use super::{Lowered, projected};
use crate::error::{Error, Result};

/// The key of a field's metadata under which its SQL type stands.
pub(crate) const TYPE: &str = "freestone.type";

/// The SQL type that a field says, as PostgreSQL's `format_type` names it.
pub(crate) fn type_of(field: &Field) -> Option<String> {
    field.metadata().get(TYPE).cloned()
}

/// The plan with its columns as clients are shown them.
///
/// # Errors
/// Those of building plans.
pub(crate) fn output(lowered: Lowered) -> Result<Lowered> {
    let Lowered { plan, names, types } = lowered;
    let columns = plan.schema().columns();
    let mut exprs = Vec::with_capacity(columns.len());
    for (column, ty) in columns.into_iter().zip(&types) {
        let name = column.name.clone();
        let relation = column.relation.clone();
        let expr = match is_shown_otherwise(ty) {
            true => ScalarUDF::from(Shown::new(ty)).call(vec![Expr::Column(column)]),
            false => Expr::Column(column),
        };
        let metadata = HashMap::from([(TYPE.to_owned(), ty.to_string())]);
        exprs.push(Expr::Alias(Alias {
            expr: Box::new(expr),
            relation,
            name,
            metadata: Some(FieldMetadata::from(metadata)),
        }));
    }
    let plan = match exprs.is_empty() {
        true => plan,
        false => projected(exprs, plan)?,
    };
    Ok(Lowered { plan, names, types })
}

/// A value as storage takes it: a NUMERIC with a scale for each value as text.
pub(super) fn storable(value: Expr, ty: &Type) -> Expr {
    match ty {
        Type::Numeric(None) => ScalarUDF::from(Shown::new(ty)).call(vec![value]),
        _ => value,
    }
}

/// The plan with its columns as storage takes them.
///
/// # Errors
/// Those of building plans.
pub(crate) fn stored(lowered: Lowered) -> Result<Lowered> {
    let Lowered { plan, names, types } = lowered;
    if !types.contains(&Type::Numeric(None)) {
        return Ok(Lowered { plan, names, types });
    }
    let columns = plan.schema().columns().into_iter().zip(&types);
    let exprs = columns.map(|(column, ty)| {
        let (relation, name) = (column.relation.clone(), column.name.clone());
        storable(Expr::Column(column), ty).alias_qualified(relation, name)
    });
    let plan = projected(exprs.collect(), plan)?;
    Ok(Lowered { plan, names, types })
}

/// The schema of a result: names and types as the statement has them.
pub(crate) fn schema(names: &[String], types: &[Type]) -> SchemaRef {
    let fields = names.iter().zip(types).map(|(name, ty)| {
        let kind = match ty {
            Type::Numeric(None) => DataType::Utf8View,
            other => other.arrow(),
        };
        let metadata = HashMap::from([(TYPE.to_owned(), ty.to_string())]);
        Field::new(name, kind, true).with_metadata(metadata)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A result's stream under its schema: operators may have lost names and metadata.
pub(crate) fn with_schema(
    stream: SendableRecordBatchStream,
    schema: SchemaRef,
) -> SendableRecordBatchStream {
    let to = Arc::clone(&schema);
    let stream = stream.map(move |batch| {
        let batch = batch?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&to),
            batch.columns().to_vec(),
            &options,
        )?)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, stream))
}

fn is_shown_otherwise(ty: &Type) -> bool {
    matches!(ty, Type::Numeric(None) | Type::Char(Some(_)))
}

/// The form of values that clients are shown.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    ty: Type,
    name: String,
    signature: Signature,
}

impl Hash for Shown {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ty.hash(state);
    }
}

impl Shown {
    fn new(ty: &Type) -> Self {
        Self {
            ty: ty.clone(),
            name: "shown".to_owned(),
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for Shown {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let [value] = args.args.as_slice() else {
            return Err(Error::internal("one value is shown").into());
        };
        Ok(match value {
            ColumnarValue::Array(array) => ColumnarValue::Array(shown(&self.ty, array)?),
            ColumnarValue::Scalar(value) => {
                let array = shown(&self.ty, &value.to_array()?)?;
                ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)
            }
        })
    }
}

fn shown(ty: &Type, array: &ArrayRef) -> Result<ArrayRef> {
    let mut out = StringViewBuilder::with_capacity(array.len());
    match (ty, array.data_type()) {
        (Type::Numeric(_), DataType::BinaryView) => {
            for value in array.as_binary_view() {
                out.append_option(value.map(|value| Numeric::decode(value).to_string()));
            }
        }
        (Type::Char(Some(n)), DataType::Utf8View) => {
            let width = usize::try_from(*n).unwrap_or(usize::MAX);
            for value in array.as_string_view() {
                out.append_option(value.map(|value| {
                    let blanks = width.saturating_sub(value.chars().count());
                    let mut padded = String::with_capacity(value.len() + blanks);
                    padded.push_str(value);
                    padded.extend(std::iter::repeat_n(' ', blanks));
                    padded
                }));
            }
        }
        (_, other) => return Err(Error::internal(format!("{ty} in {other}"))),
    }
    Ok(Arc::new(out.finish()))
}
