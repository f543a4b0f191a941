//! What errors tell of rows: as in PostgreSQL, the row or key that violates a constraint is
//! shown only to those who may read it.

use std::sync::Arc;

use freestone_storage::{Catalog, Privileges, Table};
use sqlparser::ast::{
    CopySource, FromTable, ObjectName, Statement as Ast, TableFactor, TableObject, TableWithJoins,
};

use crate::error::Error;
use crate::names::table_name;
use crate::relations::updatable::table_under;
use crate::session::Session;

/// The error of a statement as its session may see it; without a statement it is that of a
/// commit, which may be about any table.
pub(crate) fn told(session: &Session, ast: Option<&Ast>, error: Error) -> Error {
    let is_of_row = error.sqlstate.starts_with("23") || error.sqlstate == "44000";
    let shows_row = is_of_row && error.detail.is_some();
    if !shows_row || !session.identity().is_limited() {
        return error;
    }
    let snapshot = session.database().store().snapshot();
    let rights = session.identity().rights(&snapshot);
    let own = ast.and_then(|ast| session.own_tables(ast).ok());
    let shown = own.is_some_and(|ast| {
        let mut tables = rows_of(&snapshot, &ast).into_iter();
        !matches!(*ast, Ast::Commit { .. })
            && tables.all(|table| rights.may(&table.id.into(), Privileges::SELECT))
    });
    match shown || rights.is_superuser() {
        true => error,
        false => Error {
            detail: None,
            ..error
        },
    }
}

/// The tables whose rows a statement may change: those that it names, or that are under views that
/// it names, and what follows by foreign keys. A table that only this transaction knows is its own.
fn rows_of<'a>(catalog: &'a Catalog, ast: &Ast) -> Vec<&'a Arc<Table>> {
    let names = changed(ast).into_iter();
    let names = names.filter_map(|name| table_name(name).ok());
    let mut tables: Vec<&Arc<Table>> = names
        .filter_map(|name| table_under(catalog, &name))
        .collect();
    let only_adds = match ast {
        Ast::Insert(insert) => insert.on.is_none(),
        other => matches!(other, Ast::Copy { .. }),
    };
    let mut at = 0;
    while let Some(parent) = tables.get(at).map(|table| table.id).filter(|_| !only_adds) {
        for (_, child) in catalog.all_tables() {
            let mut keys = child.schema.foreign_keys.iter();
            let follows = keys.any(|key| {
                let acts = [key.on_delete, key.on_update];
                key.parent == parent && acts.iter().any(|one| !one.refuses())
            });
            if follows && tables.iter().all(|known| known.id != child.id) {
                tables.push(child);
            }
        }
        at += 1;
    }
    tables
}

/// The tables that a statement names to be changed.
fn changed(ast: &Ast) -> Vec<&ObjectName> {
    match ast {
        Ast::Insert(insert) => match &insert.table {
            TableObject::TableName(name) => vec![name],
            _ => Vec::new(),
        },
        Ast::Update(update) => factors(std::slice::from_ref(&update.table)),
        Ast::Delete(delete) => match &delete.from {
            FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from) => factors(from),
        },
        Ast::Merge(merge) => factor(&merge.table).into_iter().collect(),
        Ast::Copy {
            source: CopySource::Table { table_name, .. },
            to: false,
            ..
        } => vec![table_name],
        _ => Vec::new(),
    }
}

fn factors(tables: &[TableWithJoins]) -> Vec<&ObjectName> {
    let tables = tables.iter();
    tables.filter_map(|one| factor(&one.relation)).collect()
}

fn factor(table: &TableFactor) -> Option<&ObjectName> {
    match table {
        TableFactor::Table { name, .. } => Some(name),
        _ => None,
    }
}
