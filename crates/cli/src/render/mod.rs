//! Results as text: one renderer per format.
//!
//! A renderer gets the schema, then batch after batch, then the end. The
//! formats that have no widths to find (csv, json, jsonl, markdown, line) write
//! each batch at once and hold nothing; `table` holds one window of rows.

mod csv;
mod json;
mod line;
mod markdown;
mod table;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, SchemaRef};
use clap::ValueEnum;
use freestone::{Styles, said_type};
use std::io::{self, Write};

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns with a row count
    Table,
    /// Comma-separated values with a header line; NULL is empty, an empty string is ""
    Csv,
    /// One array of objects per result
    Json,
    /// One object per line
    Jsonl,
    /// A Markdown table
    Markdown,
    /// One line per value, as psql's \x
    Line,
}

/// What the renderer may assume about where its output goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Target {
    /// Columns of the terminal; `None` when the output is a file or a pipe.
    pub terminal_width: Option<u16>,
    /// Show at most so many rows of a table; the rest are counted.
    pub max_rows: Option<usize>,
    /// Leave out the "(N rows)" below a table.
    pub uncounted: bool,
    /// How values are shown; JSON has the usual styles always.
    pub styles: Styles,
}

/// Writes one result.
pub trait Renderer {
    /// Before the first batch.
    fn start(&mut self, out: &mut dyn Write, schema: &SchemaRef) -> io::Result<()>;
    /// Batches have the schema given to `start`.
    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()>;
    /// After the last batch.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

impl Format {
    /// A renderer for one result.
    pub fn renderer(self, target: Target) -> Box<dyn Renderer> {
        match self {
            Format::Table => Box::new(table::Table::new(target)),
            Format::Csv => Box::new(csv::Csv::new(target.styles)),
            Format::Json => Box::new(json::Json::array()),
            Format::Jsonl => Box::new(json::Json::lines()),
            Format::Markdown => Box::new(markdown::Markdown(target.styles)),
            Format::Line => Box::new(line::Line::new(target.styles)),
        }
    }

    /// Whether a statement without rows says its command tag.
    pub fn shows_tags(self) -> bool {
        matches!(self, Format::Table | Format::Line)
    }
}

/// Whether the values of a column are numbers, which stand at the right.
fn is_number(field: &Field) -> bool {
    field.data_type().is_numeric() || said_type(field) == Some("numeric")
}

/// `1 row`, `2 rows`.
pub fn count_of(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Control characters other than newline and tab as escapes, so that data
/// cannot drive the terminal.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            '\t' => out.push_str("    "),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
