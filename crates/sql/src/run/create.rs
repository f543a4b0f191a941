//! CREATE TABLE, CREATE TABLE AS, CREATE SCHEMA.

use std::sync::Arc;

use freestone_frontend::types::Type;
use freestone_storage::{
    CatalogEdit, Column, ColumnType, Materialized, Modifier, NewBlock, OnCommit as Ending,
    PartitionOf, TableOptions, TableSchema,
};
use sqlparser::ast::{
    CreateTable, CreateTableOptions, Expr, ObjectName, OnCommit, SchemaName, SqlOption,
    Statement as Ast, Value,
};

use super::Run;
use super::change::stored_as;
use super::declare::{Declared, check_system_name};
use super::identity::NewIdentity;
use super::partition::Divided;
use super::partition_key::{check_keys, indexes_of_partition};
use crate::dialect::like;
use crate::error::{Error, Result, did_you_mean};
use crate::front::{self, Digits};
use crate::ingest::{self, Checks, Target, Unopened};
use crate::names::{Name, fold, schema_name, shown_schema, table_name};
use crate::outcome::Outcome;
use crate::types::{DECIMAL_DIGITS, column_type_of, column_type_of_type, declared_of_type};
use crate::workload::Watching;

impl Run<'_> {
    pub(super) async fn create_table(&self, create: &CreateTable) -> Result<Outcome> {
        let Some(parent) = &create.partition_of else {
            return Box::pin(self.create_once(create, None)).await;
        };
        let parent = table_name(parent)?;
        for attempt in 1.. {
            let run = self.absorbed_beside(&parent, None)?;
            match Box::pin(run.create_once(create, None)).await {
                Err(error) if self.is_worth_again(&error, attempt) => {}
                done => return done,
            }
        }
        Err(Error::internal("a statement that was never run"))
    }

    /// Makes a table, or a materialized view.
    pub(super) async fn create_once(
        &self,
        create: &CreateTable,
        materialized: Option<Materialized>,
    ) -> Result<Outcome> {
        refuse_clauses(create)?;
        let name = table_name(&create.name)?;
        let partitions = create.partition_by.is_some() || create.partition_of.is_some();
        if partitions && create.query.is_some() {
            let message = "CREATE TABLE AS makes no partitioned table";
            return Err(Error::new("42601", message));
        }
        self.check_free(&name, create.or_replace)?;
        if create.if_not_exists && self.snapshot.table(&name.schema, &name.name).is_some() {
            return Ok(Outcome::done(match (&materialized, &create.query) {
                (Some(_), _) => "CREATE MATERIALIZED VIEW",
                (None, Some(_)) => "CREATE TABLE AS",
                (None, None) => "CREATE TABLE",
            }));
        }
        let is_temporary = self.session.temporary_schema() == Some(&name.schema);
        let on_commit = match create.on_commit {
            None | Some(OnCommit::PreserveRows) => None,
            Some(OnCommit::DeleteRows) => Some(Ending::DeleteRows),
            Some(OnCommit::Drop) => Some(Ending::Drop),
        };
        if on_commit.is_some() && !is_temporary {
            let message = "ON COMMIT can only be used on temporary tables";
            return Err(Error::new("42P16", message));
        }
        if on_commit == Some(Ending::Drop) && !self.session.in_transaction() {
            // It would be gone with the statement's own transaction.
            return Err(Error::unsupported(
                "ON COMMIT DROP outside of a transaction is not supported",
            )
            .with_hint("BEGIN … COMMIT is the time that such a table has."));
        }
        let divided = match &create.partition_of {
            Some(parent) => Some(self.divided_by(create, &table_name(parent)?, &name).await?),
            None => None,
        };
        let mut declared = Declared::new(self, &name);
        if let Some(divided) = &divided {
            declared.schema = self.schema_of_partition(&divided.parent);
        }
        declared.schema.on_commit = on_commit;
        declared.schema.materialized = materialized;
        for column in &create.columns {
            match like(column) {
                Some((other, options)) => declared.like(other, options)?,
                None if divided.is_some() => declared.column_of_partition(column)?,
                None => declared.column(column)?,
            }
        }
        for constraint in &create.constraints {
            declared.constraint(constraint)?;
        }
        check_names(&declared.schema)?;
        let identities = std::mem::take(&mut declared.identities);
        let mut schema = declared.finished()?;
        for column in &schema.columns {
            self.check_default(column)?;
        }
        if let Some(divided) = &divided {
            schema.partition = Some(PartitionOf {
                parent: divided.parent.id,
                bound: divided.bound.clone(),
                version: 0,
            });
            indexes_of_partition(&divided.parent, &name, &mut schema);
        }
        if let Some(by) = &create.partition_by {
            schema.partitioned = Some(self.partition_key(by, &schema, &name)?);
            check_keys(&schema, &name.name)?;
        }
        let Some(query) = &create.query else {
            must_have_columns(&schema)?;
            let options = match &divided {
                Some(divided) if create.table_options == CreateTableOptions::None => {
                    divided.parent.options.clone()
                }
                _ => table_options(create, &schema)?,
            };
            let declared = (schema, identities);
            let divided = divided.as_ref();
            self.commit_table(create, &name, declared, options, (divided, Vec::new()))?;
            return Ok(Outcome::done("CREATE TABLE"));
        };
        if !identities.is_empty() {
            return Err(Error::unsupported(
                "identity columns in CREATE TABLE AS are not supported",
            )
            .with_hint("create the table first, then INSERT INTO … SELECT"));
        }
        let ast = Ast::Query(query.clone());
        let targets: Vec<_> = stored_as(&self.snapshot, &schema.columns).collect();
        let relations = self.relations(&ast).await?;
        let plan = front::planned_into(&relations, &ast, &targets)?;
        let plan = plan.renamed()?;
        if schema.columns.is_empty() {
            let has_digits = |ty: &Type| matches!(ty, Type::Numeric(Some(_)));
            let digits = match plan.types.iter().any(has_digits) {
                true => front::digits_of(&relations, &ast)?,
                false => Vec::new(),
            };
            for (number, field) in plan.plan.schema().fields().iter().enumerate() {
                let ty = plan.types.get(number);
                let digits = digits.get(number).copied().unwrap_or(Digits::Declared);
                let (kind, modifier) = match (ty, digits) {
                    (_, Digits::OfConstants) => (ColumnType::Numeric, None),
                    (Some(ty), Digits::OfColumns) => {
                        (roomy(column_type_of_type(ty)?), Some(Modifier::AnyDigits))
                    }
                    (Some(ty), Digits::Declared) => {
                        (column_type_of_type(ty)?, declared_of_type(ty))
                    }
                    (None, _) => (column_type_of(field.data_type())?, None),
                };
                schema.columns.push(Column {
                    name: field.name().clone(),
                    kind,
                    nullable: true,
                    default: None,
                    identity: None,
                    modifier,
                    declared: ty.and_then(front::declared_by),
                    generated: false,
                    hidden: None,
                });
            }
        } else if schema.columns.len() != plan.names.len() {
            return Err(Error::new(
                "42601",
                format!(
                    "CREATE TABLE AS specifies {} columns, the query has {}",
                    schema.columns.len(),
                    plan.names.len()
                ),
            ));
        }
        check_names(&schema)?;
        must_have_columns(&schema)?;
        let options = table_options(create, &schema)?;
        if !schema.foreign_keys.is_empty() {
            return Err(
                Error::unsupported("FOREIGN KEY in CREATE TABLE AS is not supported")
                    .with_hint("ALTER TABLE … ADD CONSTRAINT adds it afterwards"),
            );
        }
        schema.index_keys();
        let target = Target::new(self.store(), Arc::new(schema.clone()), options.clone());
        let checks = Checks::of(self.expressions(), &schema, &name.name)?;
        let target = target.with_checks(checks);
        let physical = plan.runnable()?;
        let watching = self.watched(&physical, create);
        let streams = ingest::assigned(&target, &physical, self.threads())?;
        let streams = Watching::over_all(watching, streams, Unopened::map);
        let written = ingest::write(self.state(), &target, streams).await?;
        let declared = (schema, Vec::new());
        let blocks = (None, written.into_blocks());
        let rows = self.commit_table(create, &name, declared, options, blocks)?;
        let tag = match crate::dialect::is_without_data(query) {
            true => "CREATE TABLE AS".to_owned(),
            false => format!("SELECT {rows}"),
        };
        Ok(Outcome::Done { tag, rows })
    }

    /// A view of that name is in the way, and so is a table unless replaced.
    fn check_free(&self, name: &Name, replace: bool) -> Result<()> {
        let catalog = self.snapshot.catalog();
        let sequence = catalog.sequence(&name.schema, &name.name).is_some();
        if sequence {
            let message = format!("relation \"{name}\" already exists: a sequence");
            return Err(Error::new("42P07", message).at(name.position));
        }
        if self.snapshot.view(&name.schema, &name.name).is_some() {
            let what = if replace {
                "is not a table"
            } else {
                "already exists"
            };
            let sqlstate = if replace { "42809" } else { "42P07" };
            return Err(Error::new(sqlstate, format!("view \"{name}\" {what}")).at(name.position));
        }
        Ok(())
    }

    fn commit_table(
        &self,
        create: &CreateTable,
        name: &Name,
        (mut schema, identities): (TableSchema, Vec<NewIdentity>),
        options: TableOptions,
        (divided, blocks): (Option<&Divided>, Vec<NewBlock>),
    ) -> Result<u64> {
        let seen = self.snapshot.timestamp();
        let rows = self.edit(|edit| {
            if let Some(divided) = divided {
                divided.still_holds(edit, seen)?;
            }
            let exists = edit.catalog().table(&name.schema, &name.name).is_some();
            if exists && create.or_replace {
                edit.drop_table(&name.schema, &name.name, false)?;
            } else if exists && create.if_not_exists {
                return Ok(0);
            }
            self.has_schema(edit, name)?;
            for identity in identities {
                identity.create(edit, name, &mut schema)?;
            }
            let id = edit.create_table(&name.schema, &name.name, schema, options)?;
            Ok(edit.append(id, blocks)?)
        })?;
        self.session.database().keep_layouts();
        Ok(rows)
    }

    /// Makes sure that there is the schema of something new: the session's own is made with the
    /// first thing in it.
    ///
    /// # Errors
    /// `3F000`.
    pub(super) fn has_schema(&self, edit: &mut CatalogEdit, name: &Name) -> Result<()> {
        if edit.catalog().has_schema(&name.schema) {
            return Ok(());
        }
        match self.session.temporary_schema() == Some(&name.schema) {
            true => Ok(edit.create_schema(&name.schema)?),
            false => Err(unknown_schema(edit.catalog(), &name.schema)),
        }
    }

    pub(super) fn create_schema(&self, ast: &Ast) -> Result<Outcome> {
        let Ast::CreateSchema {
            schema_name: written,
            if_not_exists,
            with: None,
            options: None,
            default_collate_spec: None,
            clone: None,
        } = ast
        else {
            return Err(Error::unsupported("CREATE SCHEMA takes no options"));
        };
        let SchemaName::Simple(written) = written else {
            return Err(Error::unsupported(
                "CREATE SCHEMA … AUTHORIZATION is not supported",
            ));
        };
        let name = schema_name(written)?;
        if name.starts_with("pg_") || name == crate::names::INFORMATION_SCHEMA {
            return Err(
                Error::new("42939", format!("unacceptable schema name \"{name}\""))
                    .with_detail("this name is reserved for the system"),
            );
        }
        self.edit(|edit| {
            if *if_not_exists && edit.catalog().schemas().any(|known| known == name) {
                return Ok(());
            }
            Ok(edit.create_schema(&name)?)
        })?;
        Ok(Outcome::done("CREATE SCHEMA"))
    }
}

/// `3F000`, with the nearest schema.
pub(super) fn unknown_schema(catalog: &freestone_storage::Catalog, name: &str) -> Error {
    let message = format!("schema \"{}\" does not exist", shown_schema(name));
    let known = catalog.schemas().map(shown_schema);
    Error::new("3F000", message).with_hint_opt(did_you_mean("schema", name, known))
}

/// Clauses of other systems, refused by name.
fn refuse_clauses(create: &CreateTable) -> Result<()> {
    let clauses = [
        (create.temporary, "TEMPORARY"),
        (create.external, "EXTERNAL"),
        (create.dynamic, "DYNAMIC"),
        (create.global.is_some(), "GLOBAL"),
        (create.transient, "TRANSIENT"),
        (create.volatile, "VOLATILE"),
        (create.iceberg, "ICEBERG"),
        (create.location.is_some(), "LOCATION"),
        (create.file_format.is_some(), "STORED AS"),
        (create.like.is_some(), "LIKE"),
        (create.clone.is_some(), "CLONE"),
        (create.without_rowid, "WITHOUT ROWID"),
        (create.strict, "STRICT"),
        (create.on_cluster.is_some(), "ON CLUSTER"),
        (create.order_by.is_some(), "ORDER BY"),
        (create.cluster_by.is_some(), "CLUSTER BY"),
        (create.clustered_by.is_some(), "CLUSTERED BY"),
        (create.inherits.is_some(), "INHERITS"),
        (
            create.primary_key.is_some(),
            "PRIMARY KEY after the columns",
        ),
        (create.comment.is_some(), "COMMENT"),
    ];
    match clauses.iter().find(|(present, _)| *present) {
        Some((_, clause)) => Err(Error::unsupported(format!(
            "CREATE TABLE with {clause} is not supported"
        ))),
        None => Ok(()),
    }
}

fn check_names(schema: &TableSchema) -> Result<()> {
    for (index, column) in schema.columns.iter().enumerate() {
        check_system_name(&column.name)?;
        if schema.columns[..index]
            .iter()
            .any(|c| c.name == column.name)
        {
            let message = format!("column \"{}\" specified more than once", column.name);
            return Err(Error::new("42701", message));
        }
    }
    Ok(())
}

fn must_have_columns(schema: &TableSchema) -> Result<()> {
    if schema.columns.is_empty() {
        return Err(Error::unsupported("a table needs at least one column"));
    }
    Ok(())
}

fn table_options(create: &CreateTable, schema: &TableSchema) -> Result<TableOptions> {
    let written = match &create.table_options {
        CreateTableOptions::None => Vec::new(),
        CreateTableOptions::With(options) => options_of(options)?,
        other => {
            return Err(Error::unsupported(format!("\"{other}\" is not supported"))
                .with_hint("table options are written WITH (name = value, …)"));
        }
    };
    let mut options = TableOptions::default();
    for (name, value) in written {
        if !is_of_pages(&name) {
            options.set(&name, &value)?;
        }
    }
    options.check(schema)?;
    Ok(options)
}

/// Whether an option says how PostgreSQL keeps and cleans its pages, of which there are
/// none here; tools that make tables for it give them.
pub(super) fn is_of_pages(name: &str) -> bool {
    [
        "fillfactor",
        "log_autovacuum_min_duration",
        "parallel_workers",
        "user_catalog_table",
        "vacuum_index_cleanup",
        "vacuum_truncate",
    ]
    .contains(&name)
        || ["autovacuum_", "toast_", "toast."]
            .iter()
            .any(|of| name.starts_with(of))
}

/// `name = value` pairs of WITH (…) and SET (…).
pub(super) fn options_of(options: &[SqlOption]) -> Result<Vec<(String, String)>> {
    options
        .iter()
        .map(|option| match option {
            SqlOption::KeyValue { key, value } => Ok((fold(key), option_value(value)?)),
            other => Err(Error::new(
                "42601",
                format!("expected name = value, found \"{other}\""),
            )),
        })
        .collect()
}

fn option_value(value: &Expr) -> Result<String> {
    match value {
        Expr::Value(value) => Ok(match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => text.clone(),
            other => other.to_string(),
        }),
        Expr::Identifier(ident) => Ok(fold(ident)),
        other => Err(Error::new(
            "42601",
            format!("an option takes a plain value, not \"{other}\""),
        )),
    }
}

/// The single-part name inside an `ObjectName`, for column lists.
pub(crate) fn column_ident(name: &ObjectName) -> Result<String> {
    match name.0.as_slice() {
        [part] => part
            .as_ident()
            .map(fold)
            .ok_or_else(|| Error::new("42601", format!("\"{name}\" is no column name"))),
        _ => Err(Error::new("42601", format!("\"{name}\" is no column name"))),
    }
}

/// A DECIMAL with as many digits before the point as its values have room for.
fn roomy(kind: ColumnType) -> ColumnType {
    match kind {
        ColumnType::Decimal { precision, scale } => ColumnType::Decimal {
            // Numbers of eight bytes have 18 digits.
            precision: if precision <= 18 { 18 } else { DECIMAL_DIGITS },
            scale,
        },
        other => other,
    }
}
