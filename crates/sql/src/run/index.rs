//! CREATE INDEX and DROP INDEX: every block of the table gets its own part.
//!
//! Blocks are indexed in parallel beside the old ones, and exchanged in one
//! commit; when the table changed meanwhile, the build starts again.

use datafusion::sql::sqlparser::ast::{
    CreateIndex, Expr, IndexColumn, IndexType, Statement as Ast,
};
use freestone_storage::{Catalog, IndexKind, Table};

use super::Run;
use super::redeclare::written;
use crate::error::{Error, Result};
use crate::names::{Name, fold, position, quoted, table_name};
use crate::session::Outcome;
use crate::statement::parse_one;

/// Builds begun before giving up on a table that keeps changing.
const ATTEMPTS: usize = 5;

impl Run<'_> {
    pub(super) async fn create_index(&self, create: &CreateIndex) -> Result<Outcome> {
        refuse_clauses(create)?;
        let name = table_name(&create.table_name)?;
        if self.is_partitioned(&name) {
            let table = self.stored_table(&name)?.clone();
            return self.index_partitions(&name, &table, create).await;
        }
        if create.unique {
            return self.create_unique(&name, create).await;
        }
        self.absorbed(&name)?.create_index_on(&name, create)
    }

    /// CREATE UNIQUE INDEX: a key, which has an index of its name.
    async fn create_unique(&self, name: &Name, create: &CreateIndex) -> Result<Outcome> {
        if kind_of(create.using.as_ref())? != IndexKind::Csb {
            return Err(Error::unsupported("a unique index is of the kind csb"));
        }
        let table = self.stored_table(name)?;
        let columns = columns_of(table, &create.columns)?;
        let index = self.index_name(create, table, &columns, &name.schema)?;
        // What the transaction has made, or others meanwhile.
        let known = [&self.snapshot, &self.store().snapshot()];
        if known.iter().any(|known| taken(known, &name.schema, &index)) {
            if create.if_not_exists {
                return Ok(Outcome::done("CREATE INDEX"));
            }
            let message = format!("relation \"{index}\" already exists");
            return Err(Error::new("42P07", message));
        }
        let columns = columns.iter().map(|column| {
            let column = &table.schema.columns[*column];
            quoted(&column.name)
        });
        let columns: Vec<String> = columns.collect();
        let text = format!(
            "ALTER TABLE {} ADD CONSTRAINT {} UNIQUE ({})",
            written(name),
            quoted(&index),
            columns.join(", ")
        );
        let Ast::AlterTable(alter) = parse_one(&text)? else {
            return Err(Error::internal("a unique index is no constraint"));
        };
        self.alter_table(&alter).await?;
        Ok(Outcome::done("CREATE INDEX"))
    }

    pub(super) fn create_index_on(&self, name: &Name, create: &CreateIndex) -> Result<Outcome> {
        let kind = kind_of(create.using.as_ref())?;
        for attempt in 1.. {
            let table = self.stored_table(name)?;
            let columns = columns_of(table, &create.columns)?;
            let index = self.index_name(create, table, &columns, &name.schema)?;
            let snapshot = self.store().snapshot();
            let known = [&snapshot, &self.snapshot];
            let mut known = known.iter().map(|one| one.index(&name.schema, &index));
            if create.if_not_exists && known.any(|found| found.is_some()) {
                break;
            }
            match self.build_index(table, &name.schema, &index, kind, columns) {
                Err(error) if error.sqlstate == "40001" && attempt < ATTEMPTS => {}
                done => {
                    done?;
                    break;
                }
            }
        }
        Ok(Outcome::done("CREATE INDEX"))
    }

    fn build_index(
        &self,
        table: &Table,
        schema: &str,
        name: &str,
        kind: IndexKind,
        columns: Vec<usize>,
    ) -> Result<()> {
        let progress = self.session.progress();
        progress.add_total(table.blocks().len() as u64);
        let threads = self.state().config().target_partitions();
        let done = || progress.add_done(1);
        let index = self
            .store()
            .build_index(table, name, kind, columns, threads, &done)?;
        self.edit(|edit| Ok(edit.create_index(schema, table, index)?))
    }

    /// The name given, or one made of table and columns that is free.
    fn index_name(
        &self,
        create: &CreateIndex,
        table: &Table,
        columns: &[usize],
        schema: &str,
    ) -> Result<String> {
        if let Some(given) = &create.name {
            return Ok(table_name(given)?.name);
        }
        let names = columns
            .iter()
            .map(|column| table.schema.columns[*column].name.as_str());
        let stem: Vec<&str> = std::iter::once(table.name.as_str()).chain(names).collect();
        let stem = format!("{}_idx", stem.join("_"));
        let snapshot = self.store().snapshot();
        let mut candidates =
            std::iter::once(stem.clone()).chain((1..).map(|number| format!("{stem}{number}")));
        Ok(candidates
            .find(|name| !taken(&snapshot, schema, name))
            .unwrap_or(stem))
    }
}

fn taken(catalog: &Catalog, schema: &str, name: &str) -> bool {
    catalog.index(schema, name).is_some()
        || catalog.table(schema, name).is_some()
        || catalog.view(schema, name).is_some()
}

fn kind_of(using: Option<&IndexType>) -> Result<IndexKind> {
    match using {
        None => Ok(IndexKind::Csb),
        Some(written) => Ok(written.to_string().parse()?),
    }
}

fn columns_of(table: &Table, written: &[IndexColumn]) -> Result<Vec<usize>> {
    let column = |written: &IndexColumn| {
        let Expr::Identifier(ident) = &written.column.expr else {
            return Err(Error::unsupported(format!(
                "an index over the expression {} is not supported",
                written.column.expr
            ))
            .with_hint("index the columns themselves"));
        };
        let name = fold(ident);
        table.schema.index_of(&name).ok_or_else(|| {
            let message = format!(
                "column \"{name}\" of table \"{}\" does not exist",
                table.name
            );
            Error::new("42703", message).at(position(ident))
        })
    };
    written.iter().map(column).collect()
}

fn refuse_clauses(create: &CreateIndex) -> Result<()> {
    let refuse = |what: &str, hint: &str| Err(Error::unsupported(what).with_hint(hint));
    if create.predicate.is_some() {
        return refuse(
            "an index with WHERE is not supported",
            "leave out the WHERE clause",
        );
    }
    if create.nulls_distinct == Some(false) {
        return refuse(
            "an index with NULLS NOT DISTINCT is not supported",
            "NULLs are not equal to each other in a unique index",
        );
    }
    if !create.include.is_empty() {
        return refuse(
            "INCLUDE is not supported",
            "blocks hold all columns beside the index; leave it out",
        );
    }
    if !create.with.is_empty() || !create.index_options.is_empty() {
        return refuse("indexes have no options", "leave out the options");
    }
    Ok(())
}
