//! The calls of Flight SQL, each with what answers it.

use std::pin::Pin;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow_flight::sql::server::{FlightSqlService, PeekableFlightDataStream};
use arrow_flight::sql::{
    ActionBeginTransactionRequest, ActionBeginTransactionResult,
    ActionClosePreparedStatementRequest, ActionCreatePreparedStatementRequest,
    ActionCreatePreparedStatementResult, ActionEndTransactionRequest, CommandGetCatalogs,
    CommandGetCrossReference, CommandGetDbSchemas, CommandGetExportedKeys, CommandGetImportedKeys,
    CommandGetPrimaryKeys, CommandGetSqlInfo, CommandGetTableTypes, CommandGetTables,
    CommandPreparedStatementQuery, CommandPreparedStatementUpdate, CommandStatementIngest,
    CommandStatementQuery, CommandStatementUpdate, DoPutPreparedStatementResult, ProstMessageExt,
    SqlInfo, TicketStatementQuery,
};
use arrow_flight::{
    Action, FlightDescriptor, FlightEndpoint, FlightInfo, HandshakeRequest, HandshakeResponse,
    Ticket,
};
use freestone::Error;
use futures::Stream;
use prost::Message;
use tokio::sync::watch;
use tonic::{Request, Response, Status, Streaming};

use super::calls::client;
use super::clients::Clients;
use super::metadata::{self, Place, built};
use super::prepared::Statements;
use super::refused;
use super::results::{Sent, sent_batch};
use super::work::{Transactions, Work};
use crate::startup::Door;

/// Answers calls.
pub(super) struct Service {
    pub(super) door: Arc<Door>,
    pub(super) stopping: watch::Receiver<bool>,
    pub(super) clients: Clients,
    pub(super) transactions: Transactions,
    pub(super) statements: Statements,
}

/// A call that asks where rows are to be had, and one that comes for them.
pub(super) type Asks = Request<FlightDescriptor>;
pub(super) type Fetches = Request<Ticket>;
pub(super) type Puts = Request<PeekableFlightDataStream>;
pub(super) type Info = Result<Response<FlightInfo>, Status>;
pub(super) type Get = Result<Response<Sent>, Status>;
pub(super) type Tokens = Pin<Box<dyn Stream<Item = Result<HandshakeResponse, Status>> + Send>>;

/// Columns of a result, and the ticket that it is to be had for.
pub(super) fn info(schema: &Schema, command: &impl ProstMessageExt, request: Asks) -> Info {
    let ticket = Ticket::new(command.as_any().encode_to_vec());
    let info = FlightInfo::new()
        .try_with_schema(schema)
        .map_err(|error| refused(Error::new("XX000", error.to_string())))?;
    let info = info.with_endpoint(FlightEndpoint::new().with_ticket(ticket));
    Ok(Response::new(info.with_descriptor(request.into_inner())))
}

impl Service {
    /// A batch about the database.
    async fn known<F>(&self, request: &Fetches, ask: F) -> Get
    where
        F: AsyncFnOnce(&mut Work) -> freestone::Result<RecordBatch>,
    {
        let mut work = self.own(&client(request)?)?;
        let batch = ask(&mut work).await.map_err(refused)?;
        Ok(Response::new(sent_batch(batch)))
    }
}

#[tonic::async_trait]
impl FlightSqlService for Service {
    type FlightService = Service;

    async fn do_handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Tokens>, Status> {
        self.token(&request)
    }

    async fn get_flight_info_statement(&self, query: CommandStatementQuery, request: Asks) -> Info {
        self.statement_info(query, request).await
    }

    async fn do_get_statement(&self, ticket: TicketStatementQuery, request: Fetches) -> Get {
        self.statement_rows(ticket, &request).await
    }

    async fn do_put_statement_update(
        &self,
        command: CommandStatementUpdate,
        request: Puts,
    ) -> Result<i64, Status> {
        self.statement_update(&command, &request).await
    }

    async fn do_put_statement_ingest(
        &self,
        command: CommandStatementIngest,
        request: Puts,
    ) -> Result<i64, Status> {
        self.statement_ingest(&command, request).await
    }

    async fn do_action_create_prepared_statement(
        &self,
        query: ActionCreatePreparedStatementRequest,
        request: Request<Action>,
    ) -> Result<ActionCreatePreparedStatementResult, Status> {
        self.prepare(query, &request).await
    }

    async fn do_action_close_prepared_statement(
        &self,
        query: ActionClosePreparedStatementRequest,
        request: Request<Action>,
    ) -> Result<(), Status> {
        self.close(&query, &request)
    }

    async fn get_flight_info_prepared_statement(
        &self,
        query: CommandPreparedStatementQuery,
        request: Asks,
    ) -> Info {
        self.prepared_info(query, request).await
    }

    async fn do_get_prepared_statement(
        &self,
        query: CommandPreparedStatementQuery,
        request: Fetches,
    ) -> Get {
        self.prepared_rows(&query, &request).await
    }

    async fn do_put_prepared_statement_query(
        &self,
        query: CommandPreparedStatementQuery,
        request: Puts,
    ) -> Result<DoPutPreparedStatementResult, Status> {
        self.prepared_bind(query, request).await
    }

    async fn do_put_prepared_statement_update(
        &self,
        query: CommandPreparedStatementUpdate,
        request: Puts,
    ) -> Result<i64, Status> {
        self.prepared_update(&query, request).await
    }

    async fn do_action_begin_transaction(
        &self,
        _: ActionBeginTransactionRequest,
        request: Request<Action>,
    ) -> Result<ActionBeginTransactionResult, Status> {
        self.begin(&request).await
    }

    async fn do_action_end_transaction(
        &self,
        query: ActionEndTransactionRequest,
        request: Request<Action>,
    ) -> Result<(), Status> {
        self.end(&query, &request).await
    }

    async fn get_flight_info_catalogs(&self, query: CommandGetCatalogs, request: Asks) -> Info {
        info(&query.into_builder().schema(), &query, request)
    }

    async fn do_get_catalogs(&self, query: CommandGetCatalogs, request: Fetches) -> Get {
        let ask = async |work: &mut Work| {
            let mut builder = query.into_builder();
            builder.append(metadata::catalog(work).await?);
            built(builder.build())
        };
        self.known(&request, ask).await
    }

    async fn get_flight_info_schemas(&self, query: CommandGetDbSchemas, request: Asks) -> Info {
        let schema = query.clone().into_builder().schema();
        info(&schema, &query, request)
    }

    async fn do_get_schemas(&self, query: CommandGetDbSchemas, request: Fetches) -> Get {
        let ask = async |work: &mut Work| metadata::schemas(work, query).await;
        self.known(&request, ask).await
    }

    async fn get_flight_info_tables(&self, query: CommandGetTables, request: Asks) -> Info {
        let schema = query.clone().into_builder().schema();
        info(&schema, &query, request)
    }

    async fn do_get_tables(&self, query: CommandGetTables, request: Fetches) -> Get {
        let ask = async |work: &mut Work| metadata::tables(work, query).await;
        self.known(&request, ask).await
    }

    async fn get_flight_info_table_types(
        &self,
        query: CommandGetTableTypes,
        request: Asks,
    ) -> Info {
        info(&query.into_builder().schema(), &query, request)
    }

    async fn do_get_table_types(&self, query: CommandGetTableTypes, request: Fetches) -> Get {
        let ask = async |_: &mut Work| {
            let mut builder = query.into_builder();
            let kinds = metadata::TABLE_TYPES.iter();
            kinds.for_each(|kind| builder.append(kind));
            built(builder.build())
        };
        self.known(&request, ask).await
    }

    async fn get_flight_info_sql_info(&self, query: CommandGetSqlInfo, request: Asks) -> Info {
        let facts = metadata::facts().map_err(refused)?;
        info(&facts.schema(), &query, request)
    }

    async fn do_get_sql_info(&self, query: CommandGetSqlInfo, request: Fetches) -> Get {
        let ask = async |_: &mut Work| built(query.into_builder(metadata::facts()?).build());
        self.known(&request, ask).await
    }

    async fn get_flight_info_primary_keys(
        &self,
        query: CommandGetPrimaryKeys,
        request: Asks,
    ) -> Info {
        info(&metadata::primary_keys_schema(), &query, request)
    }

    async fn do_get_primary_keys(&self, query: CommandGetPrimaryKeys, request: Fetches) -> Get {
        let of = Place::new(query.db_schema.as_deref(), &query.table);
        let ask = async |work: &mut Work| metadata::primary_keys(work, of).await;
        self.known(&request, ask).await
    }

    async fn get_flight_info_exported_keys(
        &self,
        query: CommandGetExportedKeys,
        request: Asks,
    ) -> Info {
        info(&metadata::foreign_keys_schema(), &query, request)
    }

    async fn do_get_exported_keys(&self, query: CommandGetExportedKeys, request: Fetches) -> Get {
        let to = Place::new(query.db_schema.as_deref(), &query.table);
        let ask = async |work: &mut Work| metadata::foreign_keys(work, None, Some(to)).await;
        self.known(&request, ask).await
    }

    async fn get_flight_info_imported_keys(
        &self,
        query: CommandGetImportedKeys,
        request: Asks,
    ) -> Info {
        info(&metadata::foreign_keys_schema(), &query, request)
    }

    async fn do_get_imported_keys(&self, query: CommandGetImportedKeys, request: Fetches) -> Get {
        let from = Place::new(query.db_schema.as_deref(), &query.table);
        let ask = async |work: &mut Work| metadata::foreign_keys(work, Some(from), None).await;
        self.known(&request, ask).await
    }

    async fn get_flight_info_cross_reference(
        &self,
        query: CommandGetCrossReference,
        request: Asks,
    ) -> Info {
        info(&metadata::foreign_keys_schema(), &query, request)
    }

    async fn do_get_cross_reference(
        &self,
        query: CommandGetCrossReference,
        request: Fetches,
    ) -> Get {
        let from = Place::new(query.fk_db_schema.as_deref(), &query.fk_table);
        let to = Place::new(query.pk_db_schema.as_deref(), &query.pk_table);
        let ask = async |work: &mut Work| metadata::foreign_keys(work, Some(from), Some(to)).await;
        self.known(&request, ask).await
    }

    async fn register_sql_info(&self, _: i32, _: &SqlInfo) {}
}
