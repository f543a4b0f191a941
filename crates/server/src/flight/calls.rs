//! What calls do: statements, those that are prepared, transactions.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow_flight::sql::server::PeekableFlightDataStream;
use arrow_flight::sql::{
    ActionBeginTransactionResult, ActionClosePreparedStatementRequest,
    ActionCreatePreparedStatementRequest, ActionCreatePreparedStatementResult,
    ActionEndTransactionRequest, CommandPreparedStatementQuery, CommandPreparedStatementUpdate,
    CommandStatementIngest, CommandStatementQuery, CommandStatementUpdate,
    DoPutPreparedStatementResult, EndTransaction, TicketStatementQuery,
};
use arrow_flight::{
    Action, FlightInfo, HandshakeRequest, HandshakeResponse, IpcMessage, SchemaAsIpc,
};
use arrow_ipc::writer::IpcWriteOptions;
use bytes::Bytes;
use freestone::{Error, Parameter, Prepared};
use futures::{TryStreamExt, stream};
use prost::Message;
use tonic::{Request, Response, Status, Streaming};

use super::clients::{Client, Link};
use super::prepared::Kept;
use super::results::{plain_schema, sent};
use super::service::{Asks, Fetches, Get, Info, Puts, Service, Tokens, info};
use super::work::{Held, Work, prepared};
use super::{ingest, refused, values};

/// Bytes of the values that a statement is bound to, which it keeps until others come.
const BOUND: usize = 64 << 20;

/// Who calls.
pub(super) fn client<T>(request: &Request<T>) -> Result<Arc<Client>, Status> {
    let client = request.extensions().get::<Arc<Client>>();
    let client = client.ok_or_else(|| refused(Error::internal("a call by nobody")))?;
    Ok(Arc::clone(client))
}

/// Who calls, and the session that a call uses.
impl Service {
    /// Finds out who calls, before anything else of the call is read.
    pub(super) fn known_caller(&self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let link = request.extensions().get::<Link>();
        let link = link.ok_or_else(|| refused(Error::internal("a call by no connection")))?;
        let client = self.clients.of(&self.door, request.metadata(), link);
        let client = client.map_err(refused)?;
        request.extensions_mut().insert(client);
        Ok(request)
    }

    /// A session for this call.
    pub(super) fn own(&self, client: &Arc<Client>) -> Result<Work, Status> {
        Work::begin(&self.door, client, &self.stopping).map_err(refused)
    }

    /// The session of a transaction, or one for this call.
    async fn held(
        &self,
        client: &Arc<Client>,
        transaction: Option<&Bytes>,
    ) -> Result<Held, Status> {
        match transaction.filter(|name| !name.is_empty()) {
            Some(name) => {
                let found = self.transactions.find(name, client).await;
                found.map_err(refused)
            }
            None => Ok(Held::Own(Box::new(self.own(client)?))),
        }
    }

    /// A prepared statement, and the session that it is run in.
    async fn kept<T>(&self, name: &Bytes, request: &Request<T>) -> Result<(Held, Kept), Status> {
        let client = client(request)?;
        let kept = self.statements.find(name, &client).map_err(refused)?;
        let held = self.held(&client, kept.transaction.as_ref()).await?;
        Ok((held, kept))
    }

    pub(super) fn token(
        &self,
        request: &Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Tokens>, Status> {
        let token = self.clients.token(client(request)?);
        let header = format!("Bearer {token}").parse();
        let header = header.map_err(|_| Status::internal("a token that is no header"))?;
        let answer = HandshakeResponse {
            protocol_version: 0,
            payload: Bytes::from(token),
        };
        let all: Tokens = Box::pin(stream::iter([Ok(answer)]));
        let mut response = Response::new(all);
        response.metadata_mut().insert("authorization", header);
        Ok(response)
    }
}

/// Columns of a result as they are sent; none of a statement without one.
async fn columns(held: &Held, statement: &Prepared) -> Result<Option<SchemaRef>, Status> {
    let described = statement.describe(&held.session).await.map_err(refused)?;
    Ok(described.columns.map(|columns| plain_schema(&columns)))
}

/// The answer to who asks for the rows of a statement that gives none: it has been run, since
/// clients do not come for nothing.
fn done(rows: i64, request: Asks) -> Info {
    let info = FlightInfo::new()
        .try_with_schema(&Schema::empty())
        .map_err(|error| refused(Error::internal(error.to_string())))?;
    let info = info.with_total_records(rows);
    Ok(Response::new(info.with_descriptor(request.into_inner())))
}

/// Statements that are run as they come.
impl Service {
    pub(super) async fn statement_info(&self, query: CommandStatementQuery, request: Asks) -> Info {
        let client = client(&request)?;
        let mut held = self.held(&client, query.transaction_id.as_ref()).await?;
        let statement = prepared(&held.session, &query.query).map_err(refused)?;
        let Some(columns) = columns(&held, &statement).await? else {
            let rows = held.change(&statement, &[]).await.map_err(refused)?;
            return done(rows, request);
        };
        // The text itself: nothing has to be kept until the client comes for the rows.
        let ticket = TicketStatementQuery {
            statement_handle: query.encode_to_vec().into(),
        };
        info(&columns, &ticket, request)
    }

    pub(super) async fn statement_rows(
        &self,
        ticket: TicketStatementQuery,
        request: &Fetches,
    ) -> Get {
        let client = client(request)?;
        let query = CommandStatementQuery::decode(ticket.statement_handle);
        let query = query.map_err(|_| {
            let message = "the ticket is none of those that were given";
            refused(Error::new("08P01", message))
        })?;
        let held = self.held(&client, query.transaction_id.as_ref()).await?;
        let statement = prepared(&held.session, &query.query).map_err(refused)?;
        let once = Arc::new(vec![Vec::new()]);
        Ok(Response::new(
            sent(held, Arc::new(statement), once, None).await?,
        ))
    }

    pub(super) async fn statement_update(
        &self,
        command: &CommandStatementUpdate,
        request: &Puts,
    ) -> Result<i64, Status> {
        let client = client(request)?;
        let mut held = self.held(&client, command.transaction_id.as_ref()).await?;
        let statement = prepared(&held.session, &command.query).map_err(refused)?;
        held.change(&statement, &[]).await.map_err(refused)
    }

    pub(super) async fn statement_ingest(
        &self,
        command: &CommandStatementIngest,
        request: Puts,
    ) -> Result<i64, Status> {
        let client = client(&request)?;
        let held = self.held(&client, command.transaction_id.as_ref()).await?;
        ingest::ingest(held, command, request.into_inner()).await
    }
}

fn schema_bytes(schema: &Schema) -> Result<Bytes, Status> {
    let options = IpcWriteOptions::default();
    let message = IpcMessage::try_from(SchemaAsIpc::new(schema, &options));
    let message = message.map_err(|error| refused(Error::new("XX000", error.to_string())))?;
    Ok(message.0)
}

/// Statements that are prepared first.
impl Service {
    pub(super) async fn prepare(
        &self,
        query: ActionCreatePreparedStatementRequest,
        request: &Request<Action>,
    ) -> Result<ActionCreatePreparedStatementResult, Status> {
        let client = client(request)?;
        let held = self.held(&client, query.transaction_id.as_ref()).await?;
        let statement = prepared(&held.session, &query.query).map_err(refused)?;
        let described = statement.describe(&held.session).await.map_err(refused)?;
        let kinds = described.parameters.into_iter().enumerate();
        let fields = kinds.map(|(at, kind)| Field::new(format!("${}", at + 1), kind, true));
        let parameters = plain_schema(&Schema::new(fields.collect::<Vec<_>>()));
        let columns = described.columns.map(|columns| plain_schema(&columns));
        let kept = Kept {
            statement: Arc::new(statement),
            columns: columns.clone(),
            transaction: query.transaction_id,
            values: Arc::default(),
            bytes: 0,
        };
        let kept = self.statements.keep(kept, &client);
        Ok(ActionCreatePreparedStatementResult {
            prepared_statement_handle: Bytes::from(kept.map_err(refused)?),
            dataset_schema: match columns {
                Some(columns) => schema_bytes(&columns)?,
                None => Bytes::new(),
            },
            parameter_schema: match parameters.fields().is_empty() {
                true => Bytes::new(),
                false => schema_bytes(&parameters)?,
            },
        })
    }

    pub(super) fn close(
        &self,
        query: &ActionClosePreparedStatementRequest,
        request: &Request<Action>,
    ) -> Result<(), Status> {
        let client = client(request)?;
        let name = &query.prepared_statement_handle;
        self.statements.close(name, &client);
        Ok(())
    }

    pub(super) async fn prepared_info(
        &self,
        query: CommandPreparedStatementQuery,
        request: Asks,
    ) -> Info {
        let name = &query.prepared_statement_handle;
        let (mut held, kept) = self.kept(name, &request).await?;
        let Some(columns) = &kept.columns else {
            let rows = ingest::changes(&mut held, &kept).await?;
            return done(rows, request);
        };
        info(columns, &query, request)
    }

    pub(super) async fn prepared_rows(
        &self,
        query: &CommandPreparedStatementQuery,
        request: &Fetches,
    ) -> Get {
        let (held, kept) = self.kept(&query.prepared_statement_handle, request).await?;
        let values = kept.runs();
        let rows = sent(held, kept.statement, values, kept.columns.as_ref()).await?;
        Ok(Response::new(rows))
    }

    pub(super) async fn prepared_bind(
        &self,
        query: CommandPreparedStatementQuery,
        request: Puts,
    ) -> Result<DoPutPreparedStatementResult, Status> {
        let client = client(&request)?;
        let name = query.prepared_statement_handle;
        let values = bound(request.into_inner()).await?;
        let bound = self.statements.bind(&name, &client, values);
        bound.map_err(refused)?;
        Ok(DoPutPreparedStatementResult {
            prepared_statement_handle: Some(name),
        })
    }

    pub(super) async fn prepared_update(
        &self,
        query: &CommandPreparedStatementUpdate,
        request: Puts,
    ) -> Result<i64, Status> {
        let name = &query.prepared_statement_handle;
        let (mut held, kept) = self.kept(name, &request).await?;
        ingest::updates(&mut held, &kept, request.into_inner()).await
    }
}

/// All values that a client sends, and their bytes.
async fn bound(sent: PeekableFlightDataStream) -> Result<(Vec<Vec<Parameter>>, usize), Status> {
    let mut batches = ingest::batches(sent);
    let (mut all, mut bytes) = (Vec::new(), 0);
    while let Some(batch) = batches
        .try_next()
        .await
        .map_err(|error| ingest::unreadable(&error))?
    {
        bytes += batch.get_array_memory_size();
        if bytes > BOUND {
            let message = format!("a statement is bound to more than {BOUND} bytes");
            let error = Error::new("54000", message);
            return Err(refused(
                error.with_hint("put rows into a table by ingestion"),
            ));
        }
        all.extend(values::rows(&batch).map_err(refused)?);
    }
    Ok((all, bytes))
}

/// Transactions of several calls.
impl Service {
    pub(super) async fn begin(
        &self,
        request: &Request<Action>,
    ) -> Result<ActionBeginTransactionResult, Status> {
        let work = self.own(&client(request)?)?;
        let name = self.transactions.begin(work).await.map_err(refused)?;
        Ok(ActionBeginTransactionResult {
            transaction_id: Bytes::from(name),
        })
    }

    pub(super) async fn end(
        &self,
        query: &ActionEndTransactionRequest,
        request: &Request<Action>,
    ) -> Result<(), Status> {
        let client = client(request)?;
        let held = self.transactions.end(&query.transaction_id, &client).await;
        let held = held.map_err(refused)?;
        let failed = held.session.transaction_failed();
        let commits = query.action() == EndTransaction::Commit;
        let sql = if commits { "COMMIT" } else { "ROLLBACK" };
        held.command(sql).await.map_err(refused)?;
        if failed && commits {
            let error = Error::new("40000", "a statement has failed: all was rolled back");
            return Err(refused(error));
        }
        Ok(())
    }
}
