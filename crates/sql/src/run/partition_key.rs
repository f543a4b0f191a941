//! The keys of partitioned tables as they are written, and what partitions have from their parent.

use freestone_frontend::functions::ordering::comparator;
use freestone_frontend::types::Type;
use freestone_storage::{
    Column, Comments, IndexDefinition, PartitionKey, PartitionStrategy, Table, TableSchema,
};
use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::Run;
use super::partition::wrong;
use crate::error::{Error, Result};
use crate::front::{Columns, columns_in, has_query, is_immutable};
use crate::grammar::printed;
use crate::names::{Name, Parts, fold, position, quoted};
use crate::partition::{column_of_part, names_of};
use crate::relations::Relations;
use crate::routing::{Key, is_hashed};
use crate::types::column_type_of_type;

impl Run<'_> {
    /// The key that PARTITION BY asks for.
    ///
    /// # Errors
    /// `42P17`, `42703`, `22023` and their kin for what is no key.
    pub(super) fn partition_key(
        &self,
        written: &Expr,
        schema: &TableSchema,
        name: &Name,
    ) -> Result<PartitionKey> {
        let syntax = || {
            let message = format!("\"{written}\" is no partition key");
            Error::new("42601", message).with_hint("PARTITION BY RANGE, LIST or HASH (columns)")
        };
        let Expr::Function(call) = written else {
            return Err(syntax());
        };
        let (Some(strategy), FunctionArguments::List(list)) = (
            call.name.0.last().and_then(|part| part.as_ident()),
            &call.args,
        ) else {
            return Err(syntax());
        };
        let strategy = match fold(strategy).as_str() {
            "range" => PartitionStrategy::Range,
            "list" => PartitionStrategy::List,
            "hash" => PartitionStrategy::Hash,
            other => {
                let message = format!("unrecognized partitioning strategy \"{other}\"");
                return Err(Error::new("22023", message));
            }
        };
        let mut parts = Vec::with_capacity(list.args.len());
        for arg in &list.args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg else {
                return Err(syntax());
            };
            parts.push(self.part_of_key(expr, schema, name)?);
        }
        if parts.is_empty() {
            return Err(syntax());
        }
        if strategy == PartitionStrategy::List && parts.len() > 1 {
            let message = "cannot use \"list\" partition strategy with more than one column";
            return Err(wrong(message));
        }
        let key = PartitionKey { strategy, parts };
        let computed = Key::of(self.expressions(), &key, schema, &name.name)?;
        let method = match strategy {
            PartitionStrategy::Hash => "hash",
            _ => "btree",
        };
        for part in &computed.parts {
            let ordered = strategy == PartitionStrategy::Hash || comparator(&part.ty).is_ok();
            if !ordered || matches!(part.ty, Type::Json | Type::JsonPath) {
                let message = format!(
                    "data type {} has no default operator class for access method \"{method}\"",
                    part.ty.standard_name()
                );
                return Err(Error::new("42704", message).with_hint(format!(
                    "You must specify a {method} operator class or define a default {method} \
                     operator class for the data type."
                )));
            }
            if strategy == PartitionStrategy::Hash && !is_hashed(&part.ty) {
                return Err(Error::unsupported(format!(
                    "hash partitions by values of type {} are not supported",
                    part.ty.standard_name()
                )));
            }
            column_type_of_type(&part.ty)?;
        }
        Ok(key)
    }

    fn part_of_key(&self, expr: &Expr, schema: &TableSchema, name: &Name) -> Result<String> {
        let mut expr = expr;
        loop {
            expr = match expr {
                Expr::Nested(inner) => inner,
                // Texts have one order.
                Expr::Collate {
                    expr: inner,
                    collation,
                } if ["\"C\"", "\"POSIX\"", "\"default\""]
                    .contains(&collation.to_string().as_str()) =>
                {
                    inner
                }
                _ => break,
            };
        }
        if let Expr::Identifier(ident) = expr {
            let column = fold(ident);
            let Some(at) = schema.index_of(&column) else {
                let message = format!("column \"{column}\" named in partition key does not exist");
                return Err(Error::new("42703", message).at(position(ident)));
            };
            must_not_be_generated(&schema.columns[at])?;
            return Ok(quoted(&column));
        }
        if has_query(expr) {
            let message = "cannot use subquery in partition key expression";
            return Err(Error::unsupported(message));
        }
        let columns = Columns::of(schema, &name.name);
        self.expressions().type_of(expr, &columns)?;
        for at in columns_in(expr, schema, name) {
            must_not_be_generated(&schema.columns[at])?;
        }
        let relations = Relations::new(self.state(), self.snapshot.clone());
        if !is_immutable(&relations, expr, &columns)? {
            let message = "functions in partition key expression must be marked IMMUTABLE";
            return Err(wrong(message));
        }
        if columns_in(expr, schema, name).is_empty() {
            return Err(wrong("cannot use constant expression as partition key"));
        }
        Ok(printed(expr))
    }

    /// The columns and constraints of a partition, as its parent has them.
    pub(super) fn schema_of_partition(&self, parent: &Table) -> TableSchema {
        let mut schema = (*parent.schema).clone();
        for column in &mut schema.columns {
            if column.identity.take().is_some() {
                column.default = None;
            }
        }
        // Keys of each table have names of their own, and so have indexes.
        schema.keys.iter_mut().for_each(|key| key.name.clear());
        schema.indexes.clear();
        schema.index_numbers = 0;
        schema.comments = Comments::default();
        schema.partitioned = None;
        schema.partition = None;
        schema.on_commit = None;
        schema
    }
}

fn must_not_be_generated(column: &Column) -> Result<()> {
    if column.generated {
        let detail = format!("Column \"{}\" is a generated column.", column.name);
        return Err(wrong("cannot use generated column in partition key").with_detail(detail));
    }
    Ok(())
}

/// Checks that keys of a partitioned table have all columns of its partition key, so that equal
/// keys are of one partition.
///
/// # Errors
/// `0A000` as PostgreSQL says it.
pub(super) fn check_keys(schema: &TableSchema, table: &str) -> Result<()> {
    let Some(by) = &schema.partitioned else {
        return Ok(());
    };
    for key in &schema.keys {
        let kind = if key.primary { "PRIMARY KEY" } else { "UNIQUE" };
        for part in &by.parts {
            let Some(column) = column_of_part(schema, part) else {
                let message =
                    format!("unsupported {kind} constraint with partition key definition");
                return Err(Error::unsupported(message).with_detail(format!(
                    "{kind} constraints cannot be used when partition keys include expressions."
                )));
            };
            if !key.columns.contains(&column) {
                let message =
                    "unique constraint on partitioned table must include all partitioning columns";
                return Err(Error::unsupported(message).with_detail(format!(
                    "{kind} constraint on table \"{table}\" lacks column \"{}\" which is part of \
                     the partition key.",
                    schema.columns[column].name
                )));
            }
        }
    }
    Ok(())
}

/// Gives a partition the indexes of its parent, under names of its own.
pub(super) fn indexes_of_partition(parent: &Table, name: &Name, schema: &mut TableSchema) {
    for index in &parent.schema.indexes {
        if parent.schema.is_of_key(index) {
            continue;
        }
        let mut columns = names_of(&parent.schema, &index.columns);
        columns.extend(names_of(&parent.schema, &index.form.include));
        let columns = columns.join("_");
        let parts = Parts {
            table: &name.name,
            columns: Some(&columns),
            kind: "idx",
        };
        let name = parts.free(|name| schema.indexes.iter().any(|known| known.name == name));
        schema.index_numbers += 1;
        let number = schema.index_numbers;
        schema.indexes.push(IndexDefinition {
            number,
            name,
            ..index.clone()
        });
    }
}
