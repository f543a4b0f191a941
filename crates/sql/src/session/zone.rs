//! Instants are shown in the session's time zone.
//!
//! A TIMESTAMP WITH TIME ZONE is held as microseconds of UTC. The zone of its Arrow type says in
//! which zone it is shown: inside it is always UTC, and results carry that of the session. The
//! values stay as they are.
//!
//! ```text
//! SET timezone = 'Asia/Tokyo'; SELECT timestamptz '2024-01-01 00:00+00';
//! 2024-01-01 09:00:00+09
//! ```

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch};
use arrow::array::{RecordBatchOptions, StructArray, make_array};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use freestone_frontend::values::datetime::Zone;
use freestone_storage::{ColumnType, Value};
use futures::StreamExt;

use super::Session;
use crate::error::Result;
use crate::outcome::{Outcome, Rows};
use crate::settings::current;

/// When rows are changed.
pub(crate) struct Moment {
    /// When their transaction began, in microseconds since 1970.
    pub(crate) instant: i64,
    /// The zone of dates and of times without a zone.
    pub(crate) zone: Zone,
}

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

impl Moment {
    /// The time as a value of a type.
    pub(crate) fn value(&self, kind: &ColumnType) -> Option<Value> {
        let local = self.zone.to_local(self.instant);
        Some(Value::Int(i128::from(match kind {
            ColumnType::TimestampTz => self.instant,
            ColumnType::Timestamp => local,
            ColumnType::Date => local.div_euclid(DAY),
            _ => return None,
        })))
    }
}

impl Session {
    /// The zone in which its results show instants; `None` for UTC.
    fn shown_zone(&self) -> Option<Arc<str>> {
        let state = self.state.read();
        let zone = state.options().time_zone.as_str();
        let is_utc = zone.is_empty() || zone == "+00:00" || zone.eq_ignore_ascii_case("utc");
        (!is_utc).then(|| Arc::from(zone))
    }

    /// When the transaction began, or now if there is none, and the zone of local times.
    pub(crate) fn moment(&self) -> Moment {
        let begun = self.transaction().start();
        let zone = self.client().get("timezone");
        let zone = zone.or_else(|| current(&self.state.read(), "timezone").ok());
        let zone = zone.and_then(|zone| Zone::of_setting(&zone));
        Moment {
            instant: begun.unwrap_or_else(|| chrono::Utc::now().timestamp_micros()),
            zone: zone.unwrap_or_default(),
        }
    }

    /// An outcome whose instants are in the session's zone.
    pub(crate) fn zoned(&self, outcome: Outcome) -> Outcome {
        let (Outcome::Rows(rows), Some(zone)) = (&outcome, self.shown_zone()) else {
            return outcome;
        };
        let fields = rows.schema.fields().iter();
        let fields: Vec<Option<FieldRef>> = fields.map(|field| field_in(field, &zone)).collect();
        if fields.iter().all(Option::is_none) {
            return outcome;
        }
        let Outcome::Rows(Rows { schema, stream }) = outcome else {
            return outcome;
        };
        let fields = fields.into_iter().zip(schema.fields());
        let fields = fields.map(|(new, old)| new.unwrap_or_else(|| Arc::clone(old)));
        let fields: Vec<FieldRef> = fields.collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let to = Arc::clone(&schema);
        let stream = stream.map(move |batch| retyped(&batch?, &to));
        Outcome::Rows(Rows {
            schema: Arc::clone(&schema),
            stream: stream.boxed(),
        })
    }

    /// A batch whose instants are in the session's zone.
    ///
    /// # Errors
    /// None but those of Arrow.
    pub(crate) fn zoned_batch(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let Some(zone) = self.shown_zone() else {
            return Ok(batch);
        };
        let schema = batch.schema();
        let fields = schema.fields().iter();
        let fields =
            fields.map(|field| field_in(field, &zone).unwrap_or_else(|| Arc::clone(field)));
        let to = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
        retyped(&batch, &Arc::new(to))
    }
}

/// A field whose instants are in a zone; `None` if it has none.
fn field_in(field: &Field, zone: &Arc<str>) -> Option<FieldRef> {
    let kind = match field.data_type() {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some(Arc::clone(zone))),
        DataType::List(item) => DataType::List(field_in(item, zone)?),
        // Records, and arrays, whose elements are a field.
        DataType::Struct(fields) => {
            let new: Vec<Option<FieldRef>> =
                fields.iter().map(|field| field_in(field, zone)).collect();
            if new.iter().all(Option::is_none) {
                return None;
            }
            let pairs = new.into_iter().zip(fields);
            let all = pairs.map(|(new, old)| new.unwrap_or_else(|| Arc::clone(old)));
            DataType::Struct(all.collect())
        }
        _ => return None,
    };
    Some(Arc::new(field.clone().with_data_type(kind)))
}

fn retyped(batch: &RecordBatch, to: &Arc<Schema>) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(to.fields());
    let columns = columns.map(|(column, field)| relabelled(column, field.data_type()));
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(to),
        columns,
        &options,
    )?)
}

/// An array under a type that differs in its zones.
fn relabelled(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    match to {
        DataType::Timestamp(..) => {
            let data = array.to_data().into_builder().data_type(to.clone());
            Ok(make_array(data.build()?))
        }
        DataType::List(item) => {
            let Some(lists) = array.as_list_opt::<i32>() else {
                return Ok(Arc::clone(array));
            };
            let values = relabelled(lists.values(), item.data_type())?;
            let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
            Ok(Arc::new(ListArray::try_new(
                Arc::clone(item),
                offsets,
                values,
                nulls,
            )?))
        }
        DataType::Struct(fields) => {
            let Some(parts) = array.as_struct_opt() else {
                return Ok(Arc::clone(array));
            };
            let pairs = parts.columns().iter().zip(fields);
            let columns = pairs.map(|(column, field)| relabelled(column, field.data_type()));
            let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
            let (length, nulls) = (parts.len(), parts.nulls().cloned());
            let fields = fields.clone();
            Ok(Arc::new(StructArray::try_new_with_length(
                fields, columns, nulls, length,
            )?))
        }
        _ => Ok(Arc::clone(array)),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::TimestampMicrosecondArray;
    use freestone_frontend::types::arrays;

    use super::*;
    use crate::values::Cells;

    /// Instants are shown in the zone wherever they stand.
    #[test]
    fn instants_in_arrays_and_records_are_shown_in_the_zone() {
        let instants = TimestampMicrosecondArray::from(vec![0]).with_timezone("+00:00");
        let instants: ArrayRef = Arc::new(instants);
        let array = arrays::one(Arc::clone(&instants), None).unwrap();
        let record = |inner: &ArrayRef| -> ArrayRef {
            let field = Arc::new(Field::new("f", inner.data_type().clone(), true));
            Arc::new(StructArray::from(vec![(field, Arc::clone(inner))]))
        };
        for (given, expected) in [
            (instants.clone(), "1970-01-01 09:00:00+09"),
            (array.clone(), r#"{"1970-01-01 09:00:00+09"}"#),
            (record(&instants), r#"("1970-01-01 09:00:00+09")"#),
            (record(&array), r#"("{""1970-01-01 09:00:00+09""}")"#),
        ] {
            let field = Field::new("a", given.data_type().clone(), true);
            let to = field_in(&field, &Arc::from("Asia/Tokyo")).unwrap();
            let shown = relabelled(&given, to.data_type()).unwrap();
            assert_eq!(shown.data_type(), to.data_type());
            assert_eq!(Cells::new(&shown).text(0).as_deref(), Some(expected));
        }
    }
}
