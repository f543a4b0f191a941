//! COPY … FROM STDIN and COPY … TO STDOUT: the rows come from a client, or go to one.
//!
//! What a client sends is kept in a file until it has sent all of it, so that rows
//! beyond all memory are taken and a client that gives up has changed nothing. Its text
//! format, tabs and backslashes, becomes CSV on the way in.

use std::io::{BufWriter, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, SchemaRef};
use freestone_storage::Column;
use futures::StreamExt;
use sqlparser::ast::{CopyOption, CopySource, CopyTarget, Statement as Ast};
use tempfile::NamedTempFile;

use super::csv_write::CsvWriter;
use super::stream_options::{format_of, modern};
use super::text::{Converted, TextFormat, disk, lines};
use super::{CopyOptions, no_copy, table_to_fill};
use crate::error::{Error, Result};
use crate::names::{fold, table_name};
use crate::outcome::{Outcome, Rows};
use crate::run::Run;
use crate::session::Session;
use crate::statement::Statement;
use crate::types::{TYPE_KEY, parameter_kind, type_held};
use crate::values::Styles;

/// How the rows of a stream are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StreamFormat {
    /// One line a row, columns apart by one byte, `\` before what means something.
    Text(TextFormat),
    /// CSV, by the statement's options.
    Csv,
    /// PostgreSQL's binary form. Who speaks its protocol reads and writes it; rows that come
    /// are given here as the text they stand for.
    Binary,
}

impl StreamFormat {
    /// The text format in which rows come, if they come in one.
    fn text(&self) -> Option<TextFormat> {
        match self {
            StreamFormat::Text(format) => Some(format.clone()),
            StreamFormat::Binary => Some(TextFormat::default()),
            StreamFormat::Csv => None,
        }
    }
}

/// A COPY between a table or a query and a client.
#[derive(Debug)]
pub struct CopyStream {
    statement: Statement,
    options: Vec<CopyOption>,
    format: StreamFormat,
    to_client: bool,
}

/// Rows that a client is sending.
pub struct Incoming {
    stream: CopyStream,
    file: BufWriter<NamedTempFile>,
    converted: Converted,
}

/// Rows that a client receives.
pub struct Outgoing {
    rows: Rows,
    format: StreamFormat,
    options: CopyOptions,
    headed: bool,
    /// How values are shown.
    styles: Styles,
    /// Rows so far.
    pub count: u64,
}

impl CopyStream {
    /// The COPY that a statement is; `None` for any other, and for one with a file.
    ///
    /// # Errors
    /// `0A000` and `22023` for options that a stream has not.
    pub fn of(statement: &Statement) -> Result<Option<CopyStream>> {
        if statement.outline().is_some() {
            return Ok(None);
        }
        let Some(Ast::Copy {
            to,
            target,
            options,
            legacy_options,
            ..
        }) = statement.sql()
        else {
            return Ok(None);
        };
        if !matches!(target, CopyTarget::Stdin | CopyTarget::Stdout) {
            return Ok(None);
        }
        let mut options: Vec<CopyOption> = options.clone();
        for option in legacy_options {
            modern(option, &mut options)?;
        }
        let format = format_of(&mut options)?;
        Ok(Some(CopyStream {
            statement: statement.clone(),
            options,
            format,
            to_client: *to,
        }))
    }

    /// Whether rows go to the client.
    pub fn is_to_client(&self) -> bool {
        self.to_client
    }

    /// Whether rows go in PostgreSQL's binary form.
    pub fn is_binary(&self) -> bool {
        self.format == StreamFormat::Binary
    }

    /// The columns that a client sends, which say their SQL types.
    ///
    /// # Errors
    /// `42703`, `42501` and those of names that are not there.
    pub fn kinds(&self, session: &Session) -> Result<Vec<Field>> {
        let ast = self.statement.sql().ok_or_else(no_copy)?;
        let ast = session.in_path(session.own_tables(ast)?)?;
        let Ast::Copy {
            source:
                CopySource::Table {
                    table_name: name,
                    columns,
                },
            ..
        } = ast.as_ref()
        else {
            return Err(Error::internal("rows come for a table"));
        };
        let run = Run::planning(session)?;
        let catalog = run.snapshot.catalog();
        run.rights(catalog).check(catalog, &ast)?;
        let table = table_to_fill(&run, &table_name(name)?)?;
        let all = &table.schema.columns;
        if columns.is_empty() {
            let plain = all.iter().filter(|column| !column.generated);
            return Ok(plain.map(said_field).collect());
        }
        let kinds = columns.iter().map(|column| {
            let place = table.schema.index_of(&fold(column)).ok_or_else(|| {
                let message = format!("column \"{column}\" of \"{name}\" does not exist");
                Error::new("42703", message)
            })?;
            Ok(said_field(&all[place]))
        });
        kinds.collect()
    }

    /// Columns of the client's rows.
    ///
    /// # Errors
    /// Those of names that are not there.
    pub fn columns(&self, session: &Session) -> Result<usize> {
        // A query may be deep.
        let Some(
            ast @ Ast::Copy {
                source: CopySource::Table { .. },
                ..
            },
        ) = self.statement.sql()
        else {
            return Ok(0);
        };
        let ast = session.in_path(session.own_tables(ast)?)?;
        let Ast::Copy { source, .. } = ast.as_ref() else {
            return Ok(0);
        };
        match source {
            CopySource::Table {
                table_name: name,
                columns,
            } => {
                let run = Run::planning(session)?;
                let catalog = run.snapshot.catalog();
                run.rights(catalog).check(catalog, &ast)?;
                let table = table_to_fill(&run, &table_name(name)?)?;
                Ok(match columns.len() {
                    0 => {
                        let all = table.schema.columns.iter();
                        all.filter(|column| !column.generated).count()
                    }
                    some => some,
                })
            }
            CopySource::Query(_) => Ok(0),
        }
    }

    /// Begins to take rows.
    ///
    /// # Errors
    /// `58030` if no file can be made.
    pub fn receive(self) -> Result<Incoming> {
        let file = NamedTempFile::new().map_err(|error| disk(&error))?;
        Ok(Incoming {
            stream: self,
            file: BufWriter::new(file),
            converted: Converted::default(),
        })
    }

    /// Begins to give rows.
    ///
    /// # Errors
    /// Those of the query.
    pub async fn send(self, session: &Session) -> Result<Outgoing> {
        let query = self.statement.walked(|ast| {
            let ast = session.own_tables(ast)?;
            let Ast::Copy { source, .. } = ast.as_ref() else {
                return Err(no_copy());
            };
            super::query_of(&Run::planning(session)?, source)
        });
        let query = self.statement.with(query.ok_or_else(no_copy)??);
        let Outcome::Rows(rows) = session.run(&query).await? else {
            return Err(Error::internal("a query without rows"));
        };
        Ok(Outgoing {
            rows,
            options: CopyOptions::read(&self.options, "stream.csv")?,
            format: self.format,
            headed: false,
            styles: session.styles(),
            count: 0,
        })
    }
}

impl Incoming {
    /// Takes the next bytes, wherever they begin and end.
    ///
    /// # Errors
    /// `58030` and `53100` of the disk, `54000` for a line of the text format that is too
    /// long.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        match self.stream.format.text() {
            Some(format) => self.converted.push(bytes, &format, &mut self.file),
            None => self.file.write_all(bytes).map_err(|error| disk(&error)),
        }
    }

    /// Puts all rows into the table.
    ///
    /// # Errors
    /// As COPY from a file; nothing is copied then.
    pub async fn finish(mut self, session: &Session) -> Result<Outcome> {
        if let Some(format) = self.stream.format.text() {
            self.converted.finish(&format, &mut self.file)?;
        }
        let file = self.file.into_inner();
        let file = file.map_err(|error| disk(error.error()))?;
        let path = file.path().to_string_lossy().into_owned();
        let mut ast = self.stream.statement.sql().ok_or_else(no_copy)?.clone();
        if let Ast::Copy {
            target,
            options,
            legacy_options,
            ..
        } = &mut ast
        {
            let filename = path.clone();
            *target = CopyTarget::File { filename };
            *options = self.stream.options;
            legacy_options.clear();
        }
        session.identity().receive(Some(path.clone().into()));
        let outcome = session.run(&Statement::of(ast)).await;
        session.identity().receive(None);
        outcome.map_err(|mut error| {
            let named = |text: &str| {
                text.replace(&format!("\"{path}\""), "STDIN")
                    .replace(&path, "STDIN")
            };
            for text in [Some(&mut error.message), error.detail.as_mut()] {
                text.into_iter().for_each(|text| *text = named(text));
            }
            error
        })
    }
}

/// The field of a column that says its SQL type.
fn said_field(column: &Column) -> Field {
    let said = [(TYPE_KEY.to_owned(), type_held(column).to_string())];
    Field::new(&column.name, parameter_kind(&column.kind), column.nullable)
        .with_metadata(said.into())
}

impl Outgoing {
    /// Columns of the rows.
    pub fn schema(&self) -> &SchemaRef {
        &self.rows.schema
    }

    /// The next rows as they are, for who writes them otherwise; `None` at the end.
    ///
    /// # Errors
    /// Those of the query.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.rows.stream.next().await.transpose()?;
        self.count += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        Ok(batch)
    }

    /// The next lines; `None` at the end.
    ///
    /// # Errors
    /// Those of the query.
    pub async fn next(&mut self) -> Result<Option<Lines>> {
        let batch = self.rows.stream.next().await.transpose()?;
        let begun = std::mem::replace(&mut self.headed, true);
        let mut found = Lines::default();
        match &self.format {
            StreamFormat::Csv => {
                let mut options = self.options.clone();
                options.header &= !begun;
                let mut writer = CsvWriter::new(found, &options, &self.rows.schema, self.styles)?;
                if let Some(batch) = &batch {
                    writer.write(batch)?;
                }
                found = writer.into_inner();
            }
            StreamFormat::Binary => return Err(Error::internal("binary rows are no lines")),
            StreamFormat::Text(format) => {
                if let Some(batch) = &batch {
                    lines(batch, &self.styles, format, &mut found);
                }
            }
        }
        self.count += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        // An empty result may have a header.
        Ok((batch.is_some() || !found.ends.is_empty()).then_some(found))
    }
}

/// Lines, one for each row and perhaps one of names: clients want them one by one.
#[derive(Debug, Default)]
pub struct Lines {
    pub(super) bytes: Vec<u8>,
    pub(super) ends: Vec<usize>,
}

impl Lines {
    /// Each with its line feed.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let each = starts.zip(&self.ends);
        each.map(|(start, end)| &self.bytes[*start..*end])
    }
}

/// A line is written at once.
impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.bytes.extend_from_slice(line);
        self.ends.push(self.bytes.len());
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
