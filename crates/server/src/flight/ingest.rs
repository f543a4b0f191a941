//! Rows on their way in: tables made of what a client sends, and filled with it.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_flight::sql::server::PeekableFlightDataStream;
use arrow_flight::sql::{CommandStatementIngest, TableExistsOption, TableNotExistOption};
use freestone::{Error, Frame, Parameter, Result};
use futures::TryStreamExt;
use tonic::Status;

use super::prepared::Kept;
use super::work::{Held, Work, prepared};
use super::{refused, status, values};

/// What the rows are called in the statement that takes them.
const SENT: &str = "__sent";
/// Bytes that are collected before they are put into the table.
const PART: usize = 64 << 20;

/// Record batches that a client sends.
pub(super) fn batches(sent: PeekableFlightDataStream) -> FlightRecordBatchStream {
    FlightRecordBatchStream::new_from_flight_data(
        sent.map_err(|status| FlightError::Tonic(Box::new(status))),
    )
}

/// An error of a stream that cannot be read.
pub(super) fn unreadable(error: &FlightError) -> Status {
    status(&Error::new(
        "08P01",
        format!("cannot read what was sent: {error}"),
    ))
}

/// Puts rows into a table, all of them or none; how many there were.
///
/// # Errors
/// `42P07` and `42P01` by what the client says of tables that are there and that are not;
/// those of rows that do not fit.
pub(super) async fn ingest(
    mut held: Held,
    command: &CommandStatementIngest,
    sent: PeekableFlightDataStream,
) -> Result<i64, Status> {
    let own = begun(&held).await?;
    let done = filled(&mut held, command, sent).await;
    ended(&held, own, done).await
}

/// Runs a statement for each set of values that a client sends, for all or for none; how
/// many rows that changed.
///
/// # Errors
/// Those of the statement.
pub(super) async fn updates(
    held: &mut Held,
    kept: &Kept,
    sent: PeekableFlightDataStream,
) -> Result<i64, Status> {
    let own = begun(held).await?;
    let done = updated(held, kept, sent).await;
    ended(held, own, done).await
}

/// Runs a statement for each set of values that it is bound to, for all or for none; how many
/// rows that changed.
///
/// # Errors
/// Those of the statement.
pub(super) async fn changes(held: &mut Held, kept: &Kept) -> Result<i64, Status> {
    let runs = kept.runs();
    // A single one may be of those that no transaction takes.
    let own = runs.len() > 1 && begun(held).await?;
    let mut done = Ok(0);
    for values in runs.iter() {
        let rows = held.change(&kept.statement, values).await;
        done = done.and_then(|all| Ok(all + rows.map_err(refused)?));
        if done.is_err() {
            break;
        }
    }
    ended(held, own, done).await
}

async fn updated(
    held: &mut Held,
    kept: &Kept,
    sent: PeekableFlightDataStream,
) -> Result<i64, Status> {
    let mut sent = batches(sent);
    let mut rows = 0;
    let mut any = false;
    while let Some(batch) = sent.try_next().await.map_err(|error| unreadable(&error))? {
        for values in values::rows(&batch).map_err(refused)? {
            any = true;
            rows += held
                .change(&kept.statement, &values)
                .await
                .map_err(refused)?;
        }
    }
    // One without parameters is run once.
    if !any && kept.statement.parameters() == 0 {
        rows += held.change(&kept.statement, &[]).await.map_err(refused)?;
    }
    Ok(rows)
}

/// Begins a transaction, unless the call is part of one.
async fn begun(held: &Held) -> Result<bool, Status> {
    let own = !held.session.in_transaction();
    if own {
        held.command("BEGIN").await.map_err(refused)?;
    }
    Ok(own)
}

async fn ended<T>(held: &Held, own: bool, done: Result<T, Status>) -> Result<T, Status> {
    if own {
        let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        held.command(end).await.map_err(refused)?;
    }
    done
}

async fn filled(
    held: &mut Held,
    command: &CommandStatementIngest,
    sent: PeekableFlightDataStream,
) -> Result<i64, Status> {
    if command.temporary {
        let error = Error::new("0A000", "there are no temporary tables");
        return Err(status(
            &error.with_hint("name a table, and drop it when it has served"),
        ));
    }
    let table = match &command.schema {
        Some(schema) => format!("{}.{}", quoted(schema), quoted(&command.table)),
        None => quoted(&command.table),
    };
    let mut sent = batches(sent);
    let mut part = Part::default();
    let mut rows = 0;
    let mut made = false;
    loop {
        let batch = sent.try_next().await.map_err(|error| unreadable(&error))?;
        let last = batch.is_none();
        part.add(batch);
        let Some(schema) = sent.schema().cloned() else {
            break;
        };
        if !std::mem::replace(&mut made, true) {
            make(held, command, &table, &schema)
                .await
                .map_err(refused)?;
        }
        if last || part.bytes >= PART {
            rows += part.put(held, &table, &schema).await.map_err(refused)?;
        }
        if last {
            break;
        }
    }
    Ok(rows)
}

/// Makes the table, or makes sure that it is there.
async fn make(
    held: &mut Held,
    command: &CommandStatementIngest,
    table: &str,
    schema: &SchemaRef,
) -> Result<()> {
    let options = command.table_definition_options.unwrap_or_default();
    match (is_there(held, command).await?, options.if_exists()) {
        (true, TableExistsOption::Append | TableExistsOption::Unspecified) => return Ok(()),
        (true, TableExistsOption::Replace) => held.command(&format!("DROP TABLE {table}")).await?,
        (true, TableExistsOption::Fail) => {
            let message = format!("table {table} already exists");
            return Err(Error::new("42P07", message));
        }
        (false, _) if options.if_not_exist() == TableNotExistOption::Create => {}
        (false, _) => {
            let message = format!("table {table} does not exist");
            return Err(Error::new("42P01", message));
        }
    }
    let sql = format!("CREATE TABLE {table} AS SELECT * FROM \"{SENT}\"");
    run(held, schema, &[], &sql).await.map(drop)
}

async fn is_there(held: &mut Held, command: &CommandStatementIngest) -> Result<bool> {
    let sql = "SELECT 1 FROM information_schema.tables WHERE table_schema = $1 AND table_name = $2";
    let statement = prepared(&held.session, sql)?;
    let schema = command
        .schema
        .clone()
        .unwrap_or_else(|| "public".to_owned());
    let values = [schema, command.table.clone()].map(Parameter::Text);
    Ok(!statement.rows(&held.session, &values).await?.is_empty())
}

/// Batches that wait.
#[derive(Default)]
struct Part {
    batches: Vec<RecordBatch>,
    bytes: usize,
}

impl Part {
    fn add(&mut self, batch: Option<RecordBatch>) {
        if let Some(batch) = batch.filter(|batch| batch.num_rows() > 0) {
            self.bytes += batch.get_array_memory_size();
            self.batches.push(batch);
        }
    }

    /// Puts them into the table; how many rows there were.
    async fn put(&mut self, held: &mut Held, table: &str, schema: &SchemaRef) -> Result<i64> {
        let part = std::mem::take(self);
        let rows = part
            .batches
            .iter()
            .map(RecordBatch::num_rows)
            .sum::<usize>();
        if rows > 0 {
            let names = names(schema);
            let sql = format!("INSERT INTO {table} ({names}) SELECT {names} FROM \"{SENT}\"");
            run(held, schema, &part.batches, &sql).await?;
        }
        Ok(i64::try_from(rows).unwrap_or(i64::MAX))
    }
}

fn names(schema: &Schema) -> String {
    let names = schema.fields().iter().map(|field| quoted(field.name()));
    names.collect::<Vec<_>>().join(", ")
}

/// Runs a statement that may name what was sent.
async fn run(
    held: &mut Held,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    sql: &str,
) -> Result<()> {
    let frame = Frame::of_batches(SchemaRef::clone(schema), batches)?;
    let statement = prepared(&held.session, sql)?;
    let lent = HashMap::from([(SENT.to_owned(), frame)]);
    let work: &mut Work = held;
    work.limits.begin(work.session.timeout("statement_timeout"));
    let lending = work
        .session
        .lending(lent, statement.run(&work.session, &[]));
    work.limits.wait(lending).await?.map(drop)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
