//! CREATE TABLE, CREATE TABLE AS, CREATE SCHEMA.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast::{
    ColumnDef, ColumnOption, CreateTable, CreateTableOptions, Expr, Ident, IndexColumn, ObjectName,
    SchemaName, SqlOption, Statement as Ast, TableConstraint, Value,
};
use freestone_storage::{Column, Key, TableOptions, TableSchema};

use super::Run;
use crate::error::{Error, Result, did_you_mean};
use crate::ingest::{self, Target};
use crate::plan::names::{Name, fold, position, schema_name, table_name};
use crate::plan::naming::rename_output;
use crate::session::Outcome;
use crate::types::{column_type, column_type_of};

impl Run<'_> {
    pub(super) async fn create_table(&self, create: &CreateTable) -> Result<Outcome> {
        refuse_clauses(create)?;
        let name = table_name(&create.name)?;
        self.check_free(&name, create.or_replace)?;
        if create.if_not_exists && self.snapshot.table(&name.schema, &name.name).is_some() {
            return Ok(Outcome::done("CREATE TABLE"));
        }
        let mut schema = written_schema(create)?;
        for column in &schema.columns {
            self.check_default(column)?;
        }
        let Some(query) = &create.query else {
            check_names(&schema)?;
            let options = table_options(create, &schema)?;
            self.commit_table(create, &name, schema, options, Vec::new())?;
            return Ok(Outcome::done("CREATE TABLE"));
        };
        let ast = Ast::Query(query.clone());
        let plan = rename_output(&ast, self.logical(&ast).await?)?;
        if schema.columns.is_empty() {
            for field in plan.schema().fields() {
                schema.columns.push(Column {
                    name: field.name().clone(),
                    kind: column_type_of(field.data_type())?,
                    nullable: true,
                    default: None,
                });
            }
        } else if schema.columns.len() != plan.schema().fields().len() {
            return Err(Error::new(
                "42601",
                format!(
                    "CREATE TABLE AS specifies {} columns, the query has {}",
                    schema.columns.len(),
                    plan.schema().fields().len()
                ),
            ));
        }
        check_names(&schema)?;
        let options = table_options(create, &schema)?;
        let target = Target::new(self.store(), Arc::new(schema.clone()), options.clone());
        let physical = self.physical(&plan).await?;
        let streams = ingest::assigned(&target, physical)?;
        let written = ingest::write(&self.state, &target, streams).await?;
        let rows = self.commit_table(create, &name, schema, options, written.into_blocks())?;
        Ok(Outcome::Done {
            tag: format!("SELECT {rows}"),
            rows,
        })
    }

    /// A view of that name is in the way, and so is a table unless replaced.
    fn check_free(&self, name: &Name, replace: bool) -> Result<()> {
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
        schema: TableSchema,
        options: TableOptions,
        blocks: Vec<freestone_storage::NewBlock>,
    ) -> Result<u64> {
        self.edit(|edit| {
            let exists = edit.catalog().table(&name.schema, &name.name).is_some();
            if exists && create.or_replace {
                edit.drop_table(&name.schema, &name.name)?;
            } else if exists && create.if_not_exists {
                return Ok(0);
            }
            if !edit.catalog().schemas().any(|known| known == name.schema) {
                return Err(unknown_schema(edit.catalog(), &name.schema));
            }
            let id = edit.create_table(&name.schema, &name.name, schema, options)?;
            Ok(edit.append(id, blocks)?)
        })
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
        if name.starts_with("pg_") || name == crate::plan::names::INFORMATION_SCHEMA {
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
    Error::new("3F000", format!("schema \"{name}\" does not exist")).with_hint_opt(did_you_mean(
        "schema",
        name,
        catalog.schemas(),
    ))
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
        (create.on_commit.is_some(), "ON COMMIT"),
        (create.on_cluster.is_some(), "ON CLUSTER"),
        (create.order_by.is_some(), "ORDER BY"),
        (create.partition_by.is_some(), "PARTITION BY"),
        (create.cluster_by.is_some(), "CLUSTER BY"),
        (create.clustered_by.is_some(), "CLUSTERED BY"),
        (create.inherits.is_some(), "INHERITS"),
        (create.partition_of.is_some(), "PARTITION OF"),
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

/// Columns and keys as written.
fn written_schema(create: &CreateTable) -> Result<TableSchema> {
    let mut schema = TableSchema {
        columns: Vec::with_capacity(create.columns.len()),
        keys: Vec::new(),
        ..TableSchema::default()
    };
    for (definition, index) in create.columns.iter().zip(0..) {
        add_column(&mut schema, definition, index)?;
    }
    for constraint in &create.constraints {
        match constraint {
            TableConstraint::PrimaryKey(key) => {
                add_key(&mut schema, key.name.as_ref(), &key.columns, true)?;
            }
            TableConstraint::Unique(key) => {
                add_key(&mut schema, key.name.as_ref(), &key.columns, false)?;
            }
            TableConstraint::ForeignKey(_) => return Err(no_constraint("FOREIGN KEY")),
            TableConstraint::Check(_) => return Err(no_constraint("CHECK")),
            other => {
                return Err(Error::unsupported(format!(
                    "the constraint \"{other}\" is not supported"
                )));
            }
        }
    }
    if schema.keys.iter().filter(|key| key.primary).count() > 1 {
        let name = &create.name;
        return Err(Error::new(
            "42P16",
            format!("multiple primary keys for table \"{name}\" are not allowed"),
        ));
    }
    let primary: Vec<usize> = schema
        .keys
        .iter()
        .filter(|key| key.primary)
        .flat_map(|key| key.columns.clone())
        .collect();
    for index in primary {
        if let Some(column) = schema.columns.get_mut(index) {
            column.nullable = false;
        }
    }
    name_keys(&mut schema, &table_name(&create.name)?.name);
    Ok(schema)
}

fn no_constraint(kind: &str) -> Error {
    Error::unsupported(format!("{kind} constraints are not supported yet"))
        .with_detail("NOT NULL, DEFAULT, PRIMARY KEY and UNIQUE are")
}

fn check_names(schema: &TableSchema) -> Result<()> {
    for (index, column) in schema.columns.iter().enumerate() {
        if schema.columns[..index]
            .iter()
            .any(|c| c.name == column.name)
        {
            let message = format!("column \"{}\" specified more than once", column.name);
            return Err(Error::new("42701", message));
        }
    }
    if schema.columns.is_empty() {
        return Err(Error::unsupported("a table needs at least one column"));
    }
    Ok(())
}

pub(super) fn add_column(
    schema: &mut TableSchema,
    definition: &ColumnDef,
    index: usize,
) -> Result<()> {
    let at = position(&definition.name);
    let kind = column_type(&definition.data_type).map_err(|error| error.at(at))?;
    let mut column = Column {
        name: fold(&definition.name),
        kind,
        nullable: true,
        default: None,
    };
    for option in &definition.options {
        match &option.option {
            ColumnOption::Null => column.nullable = true,
            ColumnOption::NotNull => column.nullable = false,
            ColumnOption::Default(expr) => column.default = Some(expr.to_string()),
            ColumnOption::PrimaryKey(_) | ColumnOption::Unique(_) => schema.keys.push(Key {
                name: option.name.as_ref().map(fold).unwrap_or_default(),
                columns: vec![index],
                primary: matches!(option.option, ColumnOption::PrimaryKey(_)),
            }),
            ColumnOption::ForeignKey(_) => return Err(no_constraint("FOREIGN KEY").at(at)),
            ColumnOption::Check(_) => return Err(no_constraint("CHECK").at(at)),
            other => {
                return Err(Error::unsupported(format!(
                    "the column option {other} is not supported"
                ))
                .at(at));
            }
        }
    }
    schema.columns.push(column);
    Ok(())
}

fn add_key(
    schema: &mut TableSchema,
    name: Option<&Ident>,
    columns: &[IndexColumn],
    primary: bool,
) -> Result<()> {
    let mut indexes = Vec::with_capacity(columns.len());
    for column in columns {
        let Expr::Identifier(ident) = &column.column.expr else {
            return Err(Error::unsupported("a key is made of plain columns"));
        };
        let name = fold(ident);
        let index = schema.index_of(&name).ok_or_else(|| {
            Error::new(
                "42703",
                format!("column \"{name}\" named in key does not exist"),
            )
            .at(position(ident))
        })?;
        indexes.push(index);
    }
    schema.keys.push(Key {
        name: name.map(fold).unwrap_or_default(),
        columns: indexes,
        primary,
    });
    Ok(())
}

/// PostgreSQL's names for keys without one: `t_pkey`, `t_a_b_key`.
fn name_keys(schema: &mut TableSchema, table: &str) {
    let columns = &schema.columns;
    for key in schema.keys.iter_mut().filter(|key| key.name.is_empty()) {
        let names: Vec<&str> = key
            .columns
            .iter()
            .filter_map(|column| columns.get(*column))
            .map(|column| column.name.as_str())
            .collect();
        key.name = if key.primary {
            format!("{table}_pkey")
        } else {
            format!("{table}_{}_key", names.join("_"))
        };
    }
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
        options.set(&name, &value)?;
    }
    options.check(schema)?;
    Ok(options)
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
