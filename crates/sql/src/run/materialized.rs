//! Materialized views: tables that have the rows of a query, as of the last REFRESH.
//!
//! ```text
//! CREATE MATERIALIZED VIEW m AS SELECT …     the rows become blocks of a table
//! REFRESH MATERIALIZED VIEW m                new blocks come in the place of all others
//! INSERT INTO m …                            refused: only REFRESH changes it
//! ```
//!
//! Readers go on with the blocks of their snapshot while others come in their place, so that
//! CONCURRENTLY asks for nothing; what PostgreSQL wants for it is wanted here. The blocks have the
//! table's layout, codecs and indexes.

use std::sync::Arc;

use freestone_storage::{Materialized, NewBlock, Table, ViewQuery};
use sqlparser::ast::{AlterTableOperation, CreateTableOptions, CreateView, Statement as Ast};

use super::Run;
use super::change::stored_as;
use super::redeclare::written;
use super::transaction::Task;
use super::view::{reads_of, refuse_files, view_sql};
use crate::dialect::without_data;
use crate::error::{Error, Result};
use crate::front;
use crate::ingest::{self, Unopened};
use crate::names::{Name, quoted, table_name};
use crate::outcome::Outcome;
use crate::statement::{parse, parse_one};
use crate::workload::Watching;

impl Run<'_> {
    pub(super) async fn create_materialized(&self, view: &CreateView) -> Result<Outcome> {
        if view.or_replace {
            let message = "CREATE OR REPLACE of a materialized view is not supported";
            return Err(Error::unsupported(message).with_hint("DROP MATERIALIZED VIEW first."));
        }
        let name = table_name(&view.name)?;
        let mut defined = view.clone();
        let inner = without_data(&view.query).cloned();
        let populated = inner.is_none();
        if let Some(query) = inner {
            *defined.query = query;
        }
        let sql = view_sql(&defined, &name.name);
        let ast = parse_one(&sql)?;
        refuse_files(&ast)?;
        let relations = self.relations(&ast).await?.listing();
        front::planned(&relations, &ast)?;
        let reads = reads_of(&relations)?;
        let rows = match populated {
            true => sql.clone(),
            false => format!("SELECT * FROM ({sql}) AS {} LIMIT 0", quoted("rows")),
        };
        let text = format!("CREATE TABLE {} AS {rows}", written(&name));
        let Ast::CreateTable(mut create) = parse_one(&text)? else {
            return Err(Error::internal("a materialized view is no table"));
        };
        create.if_not_exists = view.if_not_exists;
        create.name = view.name.clone();
        create.table_options = match &view.options {
            CreateTableOptions::Options(options) => CreateTableOptions::With(options.clone()),
            other => other.clone(),
        };
        let query = ViewQuery {
            sql,
            reads,
            ..ViewQuery::default()
        };
        let materialized = Materialized { query, populated };
        let made = Box::pin(self.create_once(&create, Some(materialized))).await?;
        Ok(match populated {
            true => made,
            false => Outcome::done("CREATE MATERIALIZED VIEW"),
        })
    }

    /// Puts the rows that the query has now in the place of those that a view has; none `empty`.
    ///
    /// # Errors
    /// `42P01` and `42809` for what is no materialized view, `42501`; `55000` for CONCURRENTLY
    /// without a unique index; those of the query.
    pub(super) async fn refresh(
        &self,
        name: &Name,
        (concurrently, empty): (bool, bool),
    ) -> Result<Outcome> {
        let run = self.within()?;
        let (table, view) = run.materialized(name)?;
        let rights = self.rights(run.snapshot.catalog());
        rights.owner("materialized view", &name.name, &table.id.into())?;
        if concurrently && empty {
            let message = "REFRESH options CONCURRENTLY and WITH NO DATA cannot be used together";
            return Err(Error::new("42601", message));
        }
        if concurrently && !view.populated {
            let message = "CONCURRENTLY cannot be used when the materialized view is not populated";
            return Err(Error::unsupported(message));
        }
        if concurrently && table.schema.keys.is_empty() {
            let message = format!("cannot refresh materialized view \"{name}\" concurrently");
            return Err(Error::new("55000", message).with_hint(
                "Create a unique index with no WHERE clause on one or more columns of the \
                 materialized view.",
            ));
        }
        let blocks = match empty {
            true => Vec::new(),
            false => run.blocks_of_query(&table, &view.query).await?,
        };
        let seen = run.snapshot.timestamp();
        self.edit(|edit| {
            edit.rewrite(table.id, &table, seen, table.options.clone(), blocks)?;
            let view = Materialized {
                query: view.query.clone(),
                populated: !empty,
            };
            Ok(edit.set_materialized(table.id, view)?)
        })?;
        Ok(Outcome::done("REFRESH MATERIALIZED VIEW"))
    }

    /// Blocks with the rows of a query, as a table has them.
    async fn blocks_of_query(&self, table: &Table, query: &ViewQuery) -> Result<Vec<NewBlock>> {
        let ast = parse_one(&query.sql)?;
        let columns = table.schema.declared();
        let targets: Vec<_> = stored_as(&self.snapshot, columns).collect();
        let relations = self.relations(&ast).await?.noting(&query.reads);
        let plan = front::planned_into(&relations, &ast, &targets)?;
        if plan.names.len() != columns.len() {
            return Err(Error::new(
                "42601",
                format!(
                    "the query of materialized view \"{}\" has {} columns by now",
                    table.name,
                    plan.names.len()
                ),
            )
            .with_hint("DROP it and create it anew."));
        }
        let target = self.target(table)?;
        let physical = plan.runnable()?;
        let watching = self.watched(&physical, &ast);
        let streams = ingest::assigned(&target, &physical, self.threads())?;
        let streams = Watching::over_all(watching, streams, Unopened::map);
        Ok(ingest::write(self.state(), &target, streams)
            .await?
            .into_blocks())
    }

    /// The materialized view of a name.
    ///
    /// # Errors
    /// `42P01`, `42809`.
    fn materialized(&self, name: &Name) -> Result<(Arc<Table>, Materialized)> {
        let table = self.stored_table(name)?;
        match &table.schema.materialized {
            Some(view) => Ok((Arc::clone(table), view.clone())),
            None => {
                let message = format!("\"{name}\" is not a materialized view");
                Err(Error::new("42809", message).at(name.position))
            }
        }
    }

    /// ALTER MATERIALIZED VIEW: as ALTER TABLE, of a materialized view.
    ///
    /// # Errors
    /// `42809` for anything else; those of ALTER TABLE.
    pub(super) async fn alter_materialized(
        &self,
        name: &Name,
        if_exists: bool,
        change: &str,
    ) -> Result<Outcome> {
        let catalog = self.snapshot.catalog();
        if catalog.table(&name.schema, &name.name).is_some() || !if_exists {
            self.materialized(name)?;
        }
        let exists = if if_exists { "IF EXISTS " } else { "" };
        let text = format!("ALTER TABLE {exists}{} {change}", written(name));
        for statement in parse(&text)? {
            let task = Task::of(statement.tree());
            Box::pin(self.dispatch(task)).await?;
        }
        Ok(Outcome::done("ALTER MATERIALIZED VIEW"))
    }
}

/// Refuses a change that a materialized view cannot have: its columns are those of its query.
///
/// # Errors
/// `42809`.
pub(super) fn may_alter(table: &Table, change: &AlterTableOperation) -> Result<()> {
    use AlterTableOperation as A;
    let possible = matches!(
        change,
        A::RenameTable { .. }
            | A::RenameColumn { .. }
            | A::OwnerTo { .. }
            | A::SetOptionsParens { .. }
            | A::SetTblProperties { .. }
    );
    match table.schema.materialized.is_some() && !possible {
        true => {
            let message = format!("\"{}\" is not a table", table.name);
            Err(Error::new("42809", message)
                .with_detail("This operation is not supported for materialized views."))
        }
        false => Ok(()),
    }
}
