//! COPY: files into tables, tables and queries into files.

mod csv_read;
mod csv_write;
pub(crate) mod fill;
mod options;
mod parquet_read;
mod records;
mod stream;
mod stream_options;
mod text;
mod write;

use std::path::Path;
use std::sync::Arc;

use freestone_storage::{Column, Table, TableSchema};
use sqlparser::ast::{CopyOption, CopySource, CopyTarget, Ident, Statement as Ast};
use tempfile::NamedTempFile;

use self::stream::StreamFormat;
use self::stream_options::{format_of, modern};
use self::text::{TextFormat, spooled};
use crate::error::{Error, Result};
use crate::files::{readable, writable};
use crate::ingest;
use crate::names::{Name, fold, quoted, table_name};
use crate::outcome::Outcome;
use crate::run::{Run, columns_named};
use crate::source::FileKind;

pub(crate) use self::options::CopyOptions;
pub use self::stream::{CopyStream, Incoming, Lines, Outgoing};

fn no_copy() -> Error {
    Error::internal("not a COPY")
}

/// Runs a COPY statement.
///
/// # Errors
/// Those of the file, of the options, and of INSERT; nothing is copied then.
pub(crate) async fn run(run: &Run<'_>, ast: &Ast) -> Result<Outcome> {
    let Ast::Copy {
        source,
        to,
        target,
        options,
        legacy_options,
        values: _,
    } = ast
    else {
        return Err(no_copy());
    };
    let CopyTarget::File { filename } = target else {
        return Err(
            Error::unsupported(format!("COPY … {target} is not supported"))
                .with_hint("here COPY reads and writes files: COPY t FROM 'file.csv'"),
        );
    };
    let mut options = options.clone();
    for option in legacy_options {
        modern(option, &mut options)?;
    }
    let text = text_of(&mut options, filename)?;
    let mut options = CopyOptions::read(&options, filename)?;
    options.text = text;
    if *to {
        copy_to(run, source, filename, &options).await
    } else {
        copy_from(run, source, filename, &options).await
    }
}

/// The text format, if options or a file's name ask for it; options become those of CSV then.
fn text_of(options: &mut Vec<CopyOption>, filename: &str) -> Result<Option<TextFormat>> {
    let named = options.iter().find_map(|option| match option {
        CopyOption::Format(name) => Some(name.value.to_lowercase()),
        _ => None,
    });
    let is_text = match named.as_deref() {
        Some(name) => name == "text",
        None => FileKind::of(Path::new(filename)).is_none(),
    };
    match is_text.then(|| format_of(options)).transpose()? {
        Some(StreamFormat::Text(format)) => Ok(Some(format)),
        _ => Ok(None),
    }
}

async fn copy_to(
    run: &Run<'_>,
    source: &CopySource,
    filename: &str,
    options: &CopyOptions,
) -> Result<Outcome> {
    let identity = run.session.identity();
    let path = writable(identity, run.snapshot.catalog(), filename)?;
    let ast = query_of(run, source)?;
    let outcome = run.query(&ast).await?;
    let outcome = match options.kind {
        FileKind::Csv => run.session.zoned(outcome),
        FileKind::Parquet => outcome,
    };
    let Outcome::Rows(rows) = outcome else {
        return Err(Error::internal("a query without rows"));
    };
    let rows = write::write_file(rows, &path, options, run.session.styles()).await?;
    Ok(Outcome::Done {
        tag: format!("COPY {rows}"),
        rows,
    })
}

/// The query whose rows COPY … TO writes.
fn query_of(run: &Run<'_>, source: &CopySource) -> Result<Ast> {
    match source {
        CopySource::Query(query) => {
            let ast = Ast::Query(query.clone());
            match crate::statement::Statement::of(ast.clone()).returns_rows() {
                true => Ok(ast),
                false => Err(Error::unsupported(
                    "COPY query must have a RETURNING clause",
                )),
            }
        }
        CopySource::Table {
            table_name: name,
            columns,
        } => {
            let full = table_name(name)?;
            let mut columns: Vec<String> = columns.iter().map(|c| quoted(&fold(c))).collect();
            if let Some(table) = run.snapshot.table(&full.schema, &full.name) {
                let all = &table.schema.columns;
                let computed = |column: &&Column| column.generated;
                if columns.is_empty() && all.iter().any(|column| column.generated) {
                    let plain = all.iter().filter(|column| !column.generated);
                    columns = plain.map(|column| quoted(&column.name)).collect();
                } else if let Some(column) = all
                    .iter()
                    .filter(computed)
                    .find(|column| columns.contains(&quoted(&column.name)))
                {
                    return Err(of_generated(column));
                }
            }
            let list = if columns.is_empty() {
                "*".to_owned()
            } else {
                columns.join(", ")
            };
            crate::statement::parse_one(&format!("SELECT {list} FROM {name}"))
        }
    }
}

/// Positions of the columns that rows come for: those that are listed, or all but those that
/// are computed.
///
/// # Errors
/// `42703`, `42701`; `42P10` for a generated column.
fn places(schema: &TableSchema, name: &Name, listed: &[Ident]) -> Result<Vec<usize>> {
    let columns = &schema.columns;
    if listed.is_empty() {
        let all = 0..columns.len();
        return Ok(all.filter(|at| !columns[*at].generated).collect());
    }
    let names: Vec<String> = listed.iter().map(fold).collect();
    let places = columns_named(schema, name, &names)?;
    match places.iter().find(|at| columns[**at].generated) {
        Some(at) => Err(of_generated(&columns[*at])),
        None => Ok(places),
    }
}

fn of_generated(column: &Column) -> Error {
    let message = format!("column \"{}\" is a generated column", column.name);
    Error::new("42P10", message).with_detail("Generated columns cannot be used in COPY.")
}

/// The table that rows are copied to.
///
/// # Errors
/// `42809` for a view; those of names.
fn table_to_fill<'r>(run: &'r Run<'_>, name: &Name) -> Result<&'r Arc<Table>> {
    if run.snapshot.view(&name.schema, &name.name).is_some() {
        let message = format!("cannot copy to view \"{}\"", name.name);
        return Err(Error::new("42809", message)
            .with_hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger."));
    }
    run.stored_table(name)
}

async fn copy_from(
    run: &Run<'_>,
    source: &CopySource,
    filename: &str,
    options: &CopyOptions,
) -> Result<Outcome> {
    let CopySource::Table {
        table_name: name,
        columns,
    } = source
    else {
        return Err(Error::new("42601", "COPY FROM needs a table"));
    };
    let name = table_name(name)?;
    let table = table_to_fill(run, &name)?;
    let columns = places(&table.schema, &name, columns)?;
    let path = readable(run.session.identity(), run.snapshot.catalog(), filename)?;
    let fill = Arc::new(fill::Fill::new(run, &table.schema, columns)?);
    let threads = run.state().options().threads;
    let progress = run.session.progress();
    // Its rows are read while they are loaded.
    let spool = options.text.as_ref().map(|format| spooled(&path, format));
    let spool = spool.transpose()?;
    let path = spool.as_ref().map_or(path.as_path(), NamedTempFile::path);
    let sources = match options.kind {
        FileKind::Csv => csv_read::open(path, filename, options, fill)?,
        FileKind::Parquet => parquet_read::open(path, filename, fill, threads, &progress)?,
    };
    let streams = ingest::iterators(sources, Ok);
    let rows = run.load(&name, table, streams).await?;
    Ok(Outcome::Done {
        tag: format!("COPY {rows}"),
        rows,
    })
}
