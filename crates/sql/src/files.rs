//! `SELECT … FROM 'file.parquet'` and `FROM 'file.csv'`.
//!
//! The file's columns are taken from the file (Parquet) or guessed from its first
//! rows (CSV with a header line); DataFusion's readers do the rest. Paths are
//! those of the process: relative ones start at its working directory.

mod access;

use std::collections::HashMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::session_state::SessionState;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use freestone_frontend::syntax::walk::visit_relations;
use freestone_storage::Catalog;
use parquet::file::metadata::ParquetMetaDataReader;

use crate::error::{Error, Result};
use crate::names::file_name;
use crate::rights::Identity;

pub(crate) use access::{readable, writable};

/// What a file's name says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values.
    Csv,
}

impl FileKind {
    /// By extension: `.parquet`, `.pq`, `.csv`, `.tsv`, `.tbl`, `.txt`.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "parquet" | "pq" => Some(Self::Parquet),
            "csv" | "tsv" | "tbl" | "txt" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// Opens every file that a query names.
///
/// # Errors
/// `58P01` when a file is missing, `0A000` when its extension says nothing,
/// `22P04` when it is damaged.
pub(crate) async fn open_all(
    state: &SessionState,
    (identity, catalog): (&Identity, &Catalog),
    ast: &Ast,
) -> Result<HashMap<String, Arc<dyn TableProvider>>> {
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
        let table = open(state, &name, path).await?;
        files.insert(name, table);
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

async fn open(state: &SessionState, name: &str, path: PathBuf) -> Result<Arc<dyn TableProvider>> {
    if FileKind::of(&path) == Some(FileKind::Parquet) {
        check_parquet(&path, name)?;
    }
    let (format, extension): (Arc<dyn FileFormat>, &str) = match FileKind::of(&path) {
        Some(FileKind::Parquet) => (Arc::new(ParquetFormat::default()), ""),
        Some(FileKind::Csv) => {
            let tabs = path
                .extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("tsv"));
            let delimiter = if tabs { b'\t' } else { b',' };
            let csv = CsvFormat::default()
                .with_has_header(true)
                .with_delimiter(delimiter);
            (Arc::new(csv), "")
        }
        None => {
            return Err(
                Error::unsupported(format!("cannot tell the format of \"{name}\""))
                    .with_hint("file names end in .parquet or .csv"),
            );
        }
    };
    let url = ListingTableUrl::parse(file_url(&path))?;
    let options = ListingOptions::new(format).with_file_extension(extension);
    let schema = options.infer_schema(state, &url).await.map_err(|error| {
        let error = Error::from(error);
        let message = format!("could not read \"{name}\": {}", error.message);
        Error { message, ..error }
    })?;
    let config = ListingTableConfig::new(url)
        .with_listing_options(options)
        .with_schema(schema);
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// The URL of one file. In a path DataFusion would take `*`, `?` and `[` as a pattern, and
/// read files that nobody has looked at.
fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => url.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => url.push(char::from(*byte)),
            byte => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

/// Reads the footer with the synchronous reader, which reports damage that makes
/// the asynchronous one panic.
fn check_parquet(path: &Path, name: &str) -> Result<()> {
    let file = File::open(path).map_err(|error| Error::file("open file", path, &error))?;
    ParquetMetaDataReader::new()
        .parse_and_finish(&file)
        .map(|_| ())
        .map_err(|error| {
            let error = Error::from(error);
            let message = format!("could not read \"{name}\": {}", error.message);
            Error { message, ..error }
        })
}
