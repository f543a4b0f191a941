//! `SELECT … FROM 'file.parquet'` and `FROM 'file.csv'`.
//!
//! The file's columns are taken from the file (Parquet) or guessed from its first
//! rows (CSV with a header line). Paths are those of the process: relative ones start at its
//! working directory.

mod access;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use freestone_frontend::syntax::walk::visit_relations;
use freestone_storage::Catalog;
use sqlparser::ast::Statement as Ast;

use crate::error::{Error, Result};
use crate::names::file_name;
use crate::rights::Identity;
use crate::source::{FileTable, Source};

pub(crate) use access::{readable, writable};

/// Opens every file that a query names.
///
/// # Errors
/// `58P01` when a file is missing, `0A000` when its extension says nothing,
/// `22P04` when it is damaged.
pub(crate) fn open_all(
    (identity, catalog): (&Identity, &Catalog),
    ast: &Ast,
) -> Result<HashMap<String, Arc<Source>>> {
    let mut names = Vec::new();
    let _ = visit_relations(ast, |relation| {
        names.extend(file_name(relation).map(str::to_owned));
        ControlFlow::<()>::Continue(())
    });
    let mut files = HashMap::new();
    names.sort();
    names.dedup();
    for name in names {
        let path = readable(identity, catalog, &name)?;
        let table = FileTable::open(&name, path)?;
        files.insert(name, Arc::new(Source::File(table)));
    }
    Ok(files)
}

/// An absolute path to an existing file.
pub(crate) fn existing(name: &str) -> Result<PathBuf> {
    let path = PathBuf::from(name);
    let found = std::fs::canonicalize(&path).map_err(|e| Error::file("open file", &path, &e))?;
    if found.is_dir() {
        return Err(Error::new(
            "42809",
            format!("\"{name}\" is a directory, not a file"),
        ));
    }
    Ok(found)
}
