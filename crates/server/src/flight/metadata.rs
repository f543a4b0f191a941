//! What there is: schemas, tables, columns, keys.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow_flight::sql::metadata::{SqlInfoData, SqlInfoDataBuilder};
use arrow_flight::sql::{CommandGetDbSchemas, CommandGetTables, SqlInfo, SqlSupportedTransaction};
use freestone::{Error, Outcome, Parameter, Result};
use futures::TryStreamExt;

use super::results::plain_schema;
use super::work::{Work, prepared};

/// Kinds of relations, as clients call them.
pub(super) const TABLE_TYPES: [&str; 2] = ["BASE TABLE", "VIEW"];

/// See [`facts`].
static FACTS: LazyLock<Result<SqlInfoData>> = LazyLock::new(|| {
    let mut facts = SqlInfoDataBuilder::new();
    facts.append(SqlInfo::FlightSqlServerName, "Freestone");
    facts.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
    facts.append(SqlInfo::FlightSqlServerArrowVersion, "1.3");
    facts.append(SqlInfo::FlightSqlServerReadOnly, false);
    facts.append(SqlInfo::FlightSqlServerSql, true);
    facts.append(SqlInfo::FlightSqlServerSubstrait, false);
    facts.append(
        SqlInfo::FlightSqlServerTransaction,
        SqlSupportedTransaction::Transaction as i32,
    );
    facts.append(SqlInfo::FlightSqlServerBulkIngestion, true);
    facts.append(SqlInfo::FlightSqlServerIngestTransactionsSupported, true);
    facts.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
    facts.append(SqlInfo::SqlDdlTable, true);
    built(facts.build())
});

/// Facts of the server.
///
/// # Errors
/// `XX000` if they cannot be put down.
pub(super) fn facts() -> Result<&'static SqlInfoData> {
    FACTS.as_ref().map_err(Clone::clone)
}

/// What was built of an answer.
///
/// # Errors
/// `XX000` if it could not be.
pub(super) fn built<T>(built: Result<T, impl std::fmt::Display>) -> Result<T> {
    built.map_err(|error| Error::new("XX000", error.to_string()))
}

/// The rows of a query, as one batch.
///
/// # Errors
/// Those of the query.
pub(super) async fn asked(work: &mut Work, sql: &str, values: &[Parameter]) -> Result<RecordBatch> {
    let statement = prepared(&work.session, sql)?;
    let Outcome::Rows(rows) = work.run(&statement, values).await? else {
        return Err(Error::new("XX000", "a query without rows"));
    };
    let schema = SchemaRef::clone(&rows.schema);
    let batches: Vec<RecordBatch> = rows.stream.try_collect().await?;
    built(arrow::compute::concat_batches(&schema, &batches))
}

/// A batch with its columns as another schema has them.
///
/// # Errors
/// `XX000` if they cannot be.
pub(super) fn as_schema(batch: &RecordBatch, schema: SchemaRef) -> Result<RecordBatch> {
    let pairs = batch.columns().iter().zip(schema.fields());
    let columns = pairs.map(|(array, field)| arrow::compute::cast(array, field.data_type()));
    let columns = columns.collect::<Result<Vec<ArrayRef>, _>>();
    built(columns.and_then(|columns| RecordBatch::try_new(schema, columns)))
}

/// Texts of a column; NULL is empty.
fn texts(batch: &RecordBatch, column: usize) -> Result<Vec<String>> {
    let array = built(arrow::compute::cast(
        batch.column(column),
        &DataType::Utf8View,
    ))?;
    let array = array.as_string_view();
    let text = |row| match array.is_null(row) {
        true => String::new(),
        false => array.value(row).to_owned(),
    };
    Ok((0..array.len()).map(text).collect())
}

/// The database, which clients take for a catalog.
///
/// # Errors
/// Those of asking.
pub(super) async fn catalog(work: &mut Work) -> Result<String> {
    let batch = asked(work, "SELECT current_database()", &[]).await?;
    Ok(texts(&batch, 0)?.pop().unwrap_or_default())
}

/// The schemas that a client asks for.
///
/// # Errors
/// Those of asking.
pub(super) async fn schemas(work: &mut Work, command: CommandGetDbSchemas) -> Result<RecordBatch> {
    let sql = "SELECT catalog_name, schema_name FROM information_schema.schemata ORDER BY 2";
    let batch = asked(work, sql, &[]).await?;
    let mut builder = command.into_builder();
    for (catalog, schema) in texts(&batch, 0)?.iter().zip(texts(&batch, 1)?) {
        builder.append(catalog, schema);
    }
    built(builder.build())
}

/// The tables and views that a client asks for, with their columns if it wants them.
///
/// # Errors
/// Those of asking.
pub(super) async fn tables(work: &mut Work, command: CommandGetTables) -> Result<RecordBatch> {
    let sql = "SELECT table_catalog, table_schema, table_name, table_type \
               FROM information_schema.tables ORDER BY 2, 3";
    let batch = asked(work, sql, &[]).await?;
    let mut builder = command.into_builder();
    let with_columns = builder.include_schema();
    let (catalogs, schemas) = (texts(&batch, 0)?, texts(&batch, 1)?);
    let (names, kinds) = (texts(&batch, 2)?, texts(&batch, 3)?);
    let rows = catalogs.iter().zip(&schemas).zip(names.iter().zip(&kinds));
    for ((catalog, schema), (table, kind)) in rows {
        let fields = match with_columns {
            true => columns_of(work, schema, table).await?,
            false => Arc::new(Schema::empty()),
        };
        built(builder.append(catalog, schema, table, kind, &fields))?;
    }
    built(builder.build())
}

async fn columns_of(work: &mut Work, schema: &str, table: &str) -> Result<SchemaRef> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let sql = format!("SELECT * FROM {}.{}", quoted(schema), quoted(table));
    let described = prepared(&work.session, &sql)?.describe(&work.session).await;
    // Some are shown to everybody and may be read by few.
    let columns = described.ok().and_then(|described| described.columns);
    Ok(columns.map_or_else(|| Arc::new(Schema::empty()), |all| plain_schema(&all)))
}

/// The columns of a table's primary key, in their order.
///
/// # Errors
/// Those of asking.
pub(super) async fn primary_keys(work: &mut Work, of: Place<'_>) -> Result<RecordBatch> {
    let sql = "SELECT k.table_catalog, k.table_schema, k.table_name, k.column_name, \
                      k.ordinal_position, k.constraint_name \
               FROM information_schema.key_column_usage k \
               JOIN information_schema.table_constraints c \
                 ON c.constraint_schema = k.constraint_schema AND c.constraint_name = k.constraint_name \
                AND c.table_name = k.table_name \
               WHERE c.constraint_type = 'PRIMARY KEY' AND k.table_name = $1 AND k.table_schema = $2 \
               ORDER BY 5";
    let batch = asked(work, sql, &of.values()).await?;
    as_schema(&batch, primary_keys_schema())
}

/// A table that a client names.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    schema: Option<&'a str>,
    table: &'a str,
}

impl<'a> Place<'a> {
    pub(super) fn new(schema: Option<&'a str>, table: &'a str) -> Self {
        Self { schema, table }
    }

    fn values(&self) -> [Parameter; 2] {
        let schema = self.schema.unwrap_or("public");
        [self.table, schema].map(|text| Parameter::Text(text.to_owned()))
    }
}

/// Pairs of columns of foreign keys: those that refer to a table (`to`), those of a table
/// (`from`), or both.
///
/// # Errors
/// Those of asking.
pub(super) async fn foreign_keys(
    work: &mut Work,
    from: Option<Place<'_>>,
    to: Option<Place<'_>>,
) -> Result<RecordBatch> {
    let mut values = Vec::new();
    let mut conditions = String::from("con.contype = 'f'");
    for (place, alias) in [(from, "f"), (to, "p")] {
        if let Some(place) = place {
            let [table, schema] = place.values();
            values.extend([table, schema]);
            let (one, two) = (values.len() - 1, values.len());
            conditions.push_str(&format!(
                " AND {alias}.relname = ${one} AND {alias}n.nspname = ${two}"
            ));
        }
    }
    let sql = format!(
        "SELECT current_database(), pn.nspname, p.relname, pa.attname, \
                current_database(), fn.nspname, f.relname, fa.attname, \
                pos.n, con.conname, pk.conname, \
                {}, {} \
         FROM pg_catalog.pg_constraint con \
         JOIN pg_catalog.pg_class f ON f.oid = con.conrelid \
         JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace \
         JOIN pg_catalog.pg_class p ON p.oid = con.confrelid \
         JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace \
         JOIN (SELECT value AS n FROM generate_series(1, 32) AS g(value)) pos \
           ON pos.n <= array_length(con.conkey, 1) \
         JOIN pg_catalog.pg_attribute fa ON fa.attrelid = f.oid AND fa.attnum = con.conkey[pos.n] \
         JOIN pg_catalog.pg_attribute pa ON pa.attrelid = p.oid AND pa.attnum = con.confkey[pos.n] \
         LEFT JOIN pg_catalog.pg_constraint pk ON pk.conrelid = p.oid AND pk.contype = 'p' \
         WHERE {conditions} ORDER BY 2, 3, 6, 7, 9",
        rule("con.confupdtype"),
        rule("con.confdeltype"),
    );
    let batch = asked(work, &sql, &values).await?;
    as_schema(&batch, foreign_keys_schema())
}

/// A rule of a foreign key as Flight SQL numbers it.
fn rule(column: &str) -> String {
    format!(
        "CASE {column} WHEN 'c' THEN 0 WHEN 'r' THEN 1 WHEN 'n' THEN 2 WHEN 'd' THEN 4 ELSE 3 END"
    )
}

fn schema_of(columns: &[(&str, DataType, bool)]) -> SchemaRef {
    let fields = columns.iter();
    let fields = fields.map(|(name, kind, nullable)| Field::new(*name, kind.clone(), *nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Columns that the protocol wants of primary keys.
pub(super) fn primary_keys_schema() -> SchemaRef {
    schema_of(&[
        ("catalog_name", DataType::Utf8, true),
        ("db_schema_name", DataType::Utf8, true),
        ("table_name", DataType::Utf8, false),
        ("column_name", DataType::Utf8, false),
        ("key_sequence", DataType::Int32, false),
        ("key_name", DataType::Utf8, true),
    ])
}

/// Columns that the protocol wants of foreign keys.
pub(super) fn foreign_keys_schema() -> SchemaRef {
    schema_of(&[
        ("pk_catalog_name", DataType::Utf8, true),
        ("pk_db_schema_name", DataType::Utf8, true),
        ("pk_table_name", DataType::Utf8, false),
        ("pk_column_name", DataType::Utf8, false),
        ("fk_catalog_name", DataType::Utf8, true),
        ("fk_db_schema_name", DataType::Utf8, true),
        ("fk_table_name", DataType::Utf8, false),
        ("fk_column_name", DataType::Utf8, false),
        ("key_sequence", DataType::Int32, false),
        ("fk_key_name", DataType::Utf8, true),
        ("pk_key_name", DataType::Utf8, true),
        ("update_rule", DataType::UInt8, false),
        ("delete_rule", DataType::UInt8, false),
    ])
}
