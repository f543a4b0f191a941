//! Arrays as Arrow lists, for those who take results as Arrow.
//!
//! A result holds arrays with their bounds; a list of Arrow has none. Columns whose arrays have
//! several dimensions say how many in their metadata, and become lists of lists:
//!
//! ```text
//! integer[]      {1,2}            [1, 2]
//! integer[][]    {{1,2},{3,4}}    [[1, 2], [3, 4]]
//! ```
//!
//! The types of a result are known before its rows, so that an array that does not have as many
//! dimensions as its column says is refused.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, RecordBatch, RecordBatchOptions, StructArray, UInt64Array,
};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use freestone_frontend::types::arrays::{Arrays, element_type};

use crate::error::{Error, Result};

/// The key of a field's metadata under which stands how many dimensions its arrays have, if they
/// may have more than one.
pub(crate) const DIMENSIONS_KEY: &str = "freestone.dimensions";

/// How many dimensions the arrays of a field have.
fn dimensions(field: &Field) -> usize {
    let said = field.metadata().get(DIMENSIONS_KEY);
    said.and_then(|said| said.parse().ok())
        .filter(|count| *count > 0)
        .unwrap_or(1)
}

/// The columns of a result with lists for its arrays.
pub fn lists_schema(schema: &Schema) -> SchemaRef {
    let fields: Vec<FieldRef> = schema.fields().iter().map(of_lists).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn of_lists(field: &FieldRef) -> FieldRef {
    let kind = kind(field.data_type(), dimensions(field));
    match kind == *field.data_type() {
        true => Arc::clone(field),
        false => Arc::new(field.as_ref().clone().with_data_type(kind)),
    }
}

fn kind(of: &DataType, dimensions: usize) -> DataType {
    if let Some(element) = element_type(of) {
        let element = kind(element, 1);
        return (0..dimensions).fold(element, |kind, _| DataType::new_list(kind, true));
    }
    match of {
        DataType::List(item) => DataType::List(of_lists(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of_lists).collect()),
        other => other.clone(),
    }
}

/// A batch of a result with lists for its arrays: one of [`lists_schema`].
///
/// # Errors
/// `0A000` for an array of other dimensions than its column says, and for one with lower bounds
/// other than 1.
pub fn as_lists(batch: &RecordBatch) -> Result<RecordBatch> {
    let from = batch.schema();
    let to = lists_schema(&from);
    if to == from {
        return Ok(batch.clone());
    }
    let columns = batch.columns().iter().zip(from.fields());
    let columns = columns.map(|(column, field)| listed(column, dimensions(field)));
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(to, columns, &options)?)
}

fn listed(array: &ArrayRef, dimensions: usize) -> Result<ArrayRef> {
    if kind(array.data_type(), dimensions) == *array.data_type() {
        return Ok(Arc::clone(array));
    }
    if let Some(arrays) = Arrays::read(array) {
        return lists(&arrays, array, dimensions);
    }
    match array.data_type() {
        DataType::List(item) => {
            let from = array.as_list::<i32>();
            let values = listed(from.values(), self::dimensions(item))?;
            let (offsets, nulls) = (from.offsets().clone(), from.nulls().cloned());
            let lists = ListArray::try_new(of_lists(item), offsets, values, nulls)?;
            Ok(Arc::new(lists))
        }
        DataType::Struct(fields) => {
            let records = array.as_struct();
            let columns = records.columns().iter().zip(fields);
            let columns = columns.map(|(column, field)| listed(column, self::dimensions(field)));
            let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
            let fields = fields.iter().map(of_lists).collect();
            let (length, nulls) = (records.len(), records.nulls().cloned());
            let records = StructArray::try_new_with_length(fields, columns, nulls, length)?;
            Ok(Arc::new(records))
        }
        _ => Ok(Arc::clone(array)),
    }
}

/// Lists of arrays that have some dimensions or no elements.
fn lists(arrays: &Arrays<'_>, array: &ArrayRef, dimensions: usize) -> Result<ArrayRef> {
    let mut offsets: Vec<Vec<i32>> = vec![vec![0]; dimensions];
    let mut places: Vec<u64> = Vec::new();
    let mut is_gapless = dimensions == 1;
    for at in 0..array.len() {
        let bounds = arrays.bounds(at);
        if ![0, dimensions].contains(&bounds.dimensions()) {
            let one = if bounds.dimensions() == 1 { "" } else { "s" };
            return Err(refused(format!(
                "an array of {} dimension{one} is not given as an Arrow list of {dimensions}",
                bounds.dimensions()
            )));
        }
        if !bounds.begin_at_one() {
            let range = bounds.text();
            return Err(refused(format!(
                "an array with the bounds {range} is not given as an Arrow list, which begins at 1"
            )));
        }
        let range = arrays.range(at);
        is_gapless &= range.is_empty() || range.start == places.len();
        places.extend(range.map(|at| at as u64));
        let mut parts = 1;
        for (offsets, level) in offsets.iter_mut().zip(0..) {
            let length = bounds.lengths.get(level).copied().unwrap_or(0);
            for _ in 0..parts {
                let end = i32::try_from(length).ok();
                let end = end.and_then(|length| offsets.last()?.checked_add(length));
                let end =
                    end.ok_or_else(|| Error::new("54000", "a list with too many elements"))?;
                offsets.push(end);
            }
            parts *= length;
        }
    }
    let values = match is_gapless {
        true => arrays.values().slice(0, places.len()),
        false => take(arrays.values(), &UInt64Array::from(places), None)?,
    };
    let mut values = listed(&values, 1)?;
    let levels = offsets.into_iter().enumerate().rev();
    for (level, offsets) in levels {
        let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let nulls = array.nulls().cloned().filter(|_| level == 0);
        values = Arc::new(ListArray::try_new(item, offsets, values, nulls)?);
    }
    Ok(values)
}

fn refused(message: String) -> Error {
    Error::unsupported(message).with_hint("cast it to text, which shows arrays of all dimensions")
}

#[cfg(test)]
mod tests {
    use arrow::array::{BooleanArray, Int32Array};
    use arrow::buffer::NullBuffer;
    use freestone_frontend::types::arrays::{Bounds, Maker};

    use super::*;
    use crate::values::Cells;

    /// Arrays of the elements 1, 2, … of some bounds; `None` is NULL.
    fn batch(rows: &[Option<(&[usize], i32)>], dimensions: Option<usize>) -> RecordBatch {
        let mut maker = Maker::new(rows.len());
        let mut count = 0;
        for row in rows {
            let (lengths, low) = row.unwrap_or_default();
            count += match lengths {
                [] => 0,
                some => some.iter().product::<usize>(),
            };
            let lows = vec![low; lengths.len()];
            let lengths = lengths.to_vec();
            maker.bounded(&Bounds { lengths, lows }).unwrap();
        }
        let values: ArrayRef = Arc::new(Int32Array::from_iter_values(1..=count as i32));
        let nulls: Vec<bool> = rows.iter().map(Option::is_some).collect();
        let array = maker.finish(values, Some(NullBuffer::from(nulls))).unwrap();
        let metadata = dimensions.map(|count| (DIMENSIONS_KEY.to_owned(), count.to_string()));
        let field = Field::new("a", array.data_type().clone(), true)
            .with_metadata(metadata.into_iter().collect());
        RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
    }

    fn texts(batch: &RecordBatch) -> Vec<Option<String>> {
        let cells = Cells::new(batch.column(0).as_ref());
        (0..batch.num_rows()).map(|row| cells.text(row)).collect()
    }

    #[test]
    fn arrays_become_lists_that_look_like_them() {
        let list = |kind: DataType| DataType::new_list(kind, true);
        let one = [Some((&[2][..], 1)), None, Some((&[], 1)), Some((&[1], 1))];
        let two = [
            Some((&[2, 1][..], 1)),
            None,
            Some((&[], 1)),
            Some((&[1, 3], 1)),
        ];
        let flat = list(DataType::Int32);
        for (rows, dimensions, kind) in [
            (one, None, flat.clone()),
            (one, Some(1), flat.clone()),
            (two, Some(2), list(flat)),
        ] {
            let batch = batch(&rows, dimensions);
            for part in [batch.clone(), batch.slice(1, 3), batch.slice(3, 1)] {
                let lists = as_lists(&part).unwrap();
                assert_eq!(lists.schema(), lists_schema(&part.schema()));
                assert_eq!(lists.schema().field(0).data_type(), &kind);
                assert_eq!(texts(&lists), texts(&part));
            }
        }
    }

    #[test]
    fn arrays_that_are_no_such_lists_are_refused() {
        for (row, dimensions) in [
            (Some((&[1, 2][..], 1)), None),
            (Some((&[1, 2], 1)), Some(3)),
            (Some((&[2], 1)), Some(2)),
            (Some((&[2], 0)), None),
            (Some((&[2, 2], 5)), Some(2)),
        ] {
            let error = as_lists(&batch(&[row], dimensions)).unwrap_err();
            assert_eq!(error.sqlstate, "0A000", "{row:?}: {error}");
            assert!(error.hint.is_some(), "{row:?}");
        }
    }

    #[test]
    fn other_columns_stay_as_they_are() {
        let column: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
        let batch = RecordBatch::try_from_iter([("b", column)]).unwrap();
        assert_eq!(as_lists(&batch).unwrap(), batch);
    }

    #[test]
    fn arrays_in_records_become_lists() {
        let arrays = batch(&[Some((&[2], 1)), None], None);
        let fields = arrays.schema().fields().clone();
        let records = StructArray::new(fields, arrays.columns().to_vec(), None);
        let records: ArrayRef = Arc::new(records);
        let batch = RecordBatch::try_from_iter([("r", records)]).unwrap();
        let lists = as_lists(&batch).unwrap();
        assert_eq!(texts(&lists), texts(&batch));
        let inner = lists.column(0).as_struct().column(0).clone();
        assert_eq!(
            inner.data_type(),
            &DataType::new_list(DataType::Int32, true)
        );
    }
}
