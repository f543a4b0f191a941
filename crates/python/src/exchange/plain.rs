//! Text and bytes as most libraries compute on them: pyarrow holds views, but has hardly
//! a function for them.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use freestone::{Error, Result, as_lists, lists_schema};

/// The schema with plain arrays for views, and lists for arrays.
pub fn schema(schema: &Schema) -> SchemaRef {
    let schema = lists_schema(schema);
    let fields: Vec<FieldRef> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new(fields))
}

fn field(field: &FieldRef) -> FieldRef {
    let kind = kind(field.data_type());
    match kind == *field.data_type() {
        true => Arc::clone(field),
        // Its metadata says which SQL type it is.
        false => Arc::new(field.as_ref().clone().with_data_type(kind)),
    }
}

fn kind(of: &DataType) -> DataType {
    match of {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(item) => DataType::List(field(item)),
        DataType::LargeList(item) => DataType::LargeList(field(item)),
        DataType::FixedSizeList(item, items) => DataType::FixedSizeList(field(item), *items),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(kind(values)))
        }
        other => other.clone(),
    }
}

/// A batch with the columns of [`schema`]; only text and bytes are copied.
///
/// # Errors
/// `54000` for a batch with more than 2 GiB of text in a column, `0A000` for arrays that are no
/// lists of one form.
pub fn batch(batch: &RecordBatch, to: &SchemaRef) -> Result<RecordBatch> {
    let batch = as_lists(batch)?;
    let columns = batch.columns().iter().zip(to.fields());
    let columns = columns.map(
        |(column, field)| match column.data_type() == field.data_type() {
            true => Ok(Arc::clone(column)),
            false => cast(column, field.data_type()),
        },
    );
    let columns: std::result::Result<Vec<_>, _> = columns.collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    columns
        .and_then(|columns| RecordBatch::try_new_with_options(Arc::clone(to), columns, &options))
        .map_err(|error| Error::new("54000", error.to_string()))
}
