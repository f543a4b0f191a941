//! Rows on their way to a client.

use std::pin::Pin;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::cast_with_options;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow_flight::FlightData;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use freestone::{Error, Outcome, Parameter, Prepared, Result, Rows, as_lists, lists_schema};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use tokio::sync::mpsc::{self, Sender};
use tonic::Status;

use super::work::Held;
use super::{refused, status};
use crate::output::EXACT;
use crate::watch::Traffic;

/// What a client is sent.
pub(super) type Sent = Pin<Box<dyn Stream<Item = Result<FlightData, Status>> + Send>>;

/// The columns as they are sent: types that every client of Arrow knows. NUMERIC without fixed
/// digits is text; the metadata `freestone.type` of each field names its SQL type.
pub(super) fn plain_schema(schema: &Schema) -> SchemaRef {
    let schema = lists_schema(schema);
    let fields = schema.fields().iter().map(|field| plain_field(field));
    Arc::new(Schema::new(fields.collect::<Vec<Field>>()))
}

fn plain_field(field: &Field) -> Field {
    Field::new(field.name(), plain(field.data_type()), true).with_metadata(field.metadata().clone())
}

/// Not every client knows views, and dictionaries differ from batch to batch.
fn plain(kind: &DataType) -> DataType {
    match kind {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::Dictionary(_, values) => plain(values),
        DataType::List(item) => DataType::List(Arc::new(plain_field(item))),
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(|field| plain_field(field)).collect())
        }
        other => other.clone(),
    }
}

fn plain_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let batch = as_lists(batch)?;
    let pairs = batch.columns().iter().zip(schema.fields());
    let columns = pairs.map(
        |(array, field)| match array.data_type() == field.data_type() {
            true => Ok(Arc::clone(array)),
            false => cast_with_options(array, field.data_type(), &EXACT),
        },
    );
    let columns = columns.collect::<Result<Vec<ArrayRef>, _>>();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    columns
        .and_then(|columns| {
            RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        })
        .map_err(|error| Error::new("22003", format!("cannot send a column: {error}")))
}

/// A statement's rows, one run after the other.
struct Runs {
    /// Ends before the session that it is of.
    rows: Option<Rows>,
    held: Held,
    statement: Arc<Prepared>,
    values: Arc<Vec<Vec<Parameter>>>,
    next: usize,
    schema: SchemaRef,
}

impl Runs {
    /// Begins the next run, if there is one.
    async fn begin(&mut self) -> Result<bool> {
        let Some(values) = self.values.get(self.next) else {
            return Ok(false);
        };
        self.next += 1;
        self.rows = match self.held.run(&self.statement, values).await? {
            Outcome::Rows(rows) => Some(rows),
            Outcome::Done { .. } => None,
        };
        Ok(true)
    }

    async fn batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(rows) = &mut self.rows
                && let Some(batch) = self.held.limits.wait(rows.stream.next()).await?
            {
                let batch = plain_batch(&batch?, &self.schema)?;
                self.held.client.watched.count(&mut Traffic {
                    rows: batch.num_rows() as u64,
                    ..Traffic::default()
                });
                return Ok(Some(batch));
            }
            if !self.begin().await? {
                return Ok(None);
            }
        }
    }

    /// Sends all batches, in a task of its own: limits of time are of a client that does not
    /// read, too.
    async fn send(mut self, sender: Sender<Result<RecordBatch>>) {
        // Room for how it ends, whatever else waits.
        let Ok(room) = sender.clone().reserve_owned().await else {
            return;
        };
        loop {
            let batch = tokio::select! {
                () = sender.closed() => return,
                batch = self.batch() => batch,
            };
            let sent = match batch {
                Ok(Some(batch)) => self.held.limits.wait(sender.send(Ok(batch))).await,
                Ok(None) => return,
                Err(error) => Err(error),
            };
            match sent {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(error) => {
                    drop(room.send(Err(error)));
                    return;
                }
            }
        }
    }
}

/// Runs a statement, once for each set of values, and sends what it gives: the columns that
/// the client was told of, as far as what comes can be made those.
///
/// # Errors
/// Those of the first run; those of others end the stream.
pub(super) async fn sent(
    held: Held,
    statement: Arc<Prepared>,
    values: Arc<Vec<Vec<Parameter>>>,
    told: Option<&SchemaRef>,
) -> Result<Sent, Status> {
    let mut runs = Runs {
        rows: None,
        held,
        statement,
        values,
        next: 0,
        schema: Arc::new(Schema::empty()),
    };
    runs.begin().await.map_err(refused)?;
    if let Some(rows) = &runs.rows {
        let comes = plain_schema(&rows.schema);
        let told = told.filter(|told| told.fields().len() == comes.fields().len());
        runs.schema = told.map_or(comes, Arc::clone);
    }
    let schema = Arc::clone(&runs.schema);
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(runs.send(sender));
    let batches = stream::unfold(receiver, |mut receiver| async move {
        let batch = receiver.recv().await?;
        Some((batch, receiver))
    });
    let batches = batches.map_err(|error| FlightError::Tonic(Box::new(status(&error))));
    Ok(encoded(schema, batches))
}

/// Batches that are there.
pub(super) fn sent_batch(batch: RecordBatch) -> Sent {
    let schema = batch.schema();
    encoded(schema, stream::iter([Ok(batch)]))
}

fn encoded(
    schema: SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch, FlightError>> + Send + 'static,
) -> Sent {
    let data = FlightDataEncoderBuilder::new()
        .with_schema(schema)
        .build(batches);
    Box::pin(data.map_err(Status::from))
}
