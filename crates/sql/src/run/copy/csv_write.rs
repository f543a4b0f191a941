//! COPY TO a CSV file: values as PostgreSQL writes them.

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, Schema};
use std::io::Write;

use super::CopyOptions;
use crate::error::{Error, Result};
use crate::values::{Cells, Styles};

/// Writes batches as lines.
pub(super) struct CsvWriter<W> {
    output: W,
    options: CopyOptions,
    /// How values are shown.
    styles: Styles,
    force_quote: Vec<bool>,
    /// Whether there is one column: a line of it that is `\.` would end the data.
    single: bool,
}

impl<W: Write> CsvWriter<W> {
    /// Starts a file, with the names of the columns if there is to be a header.
    ///
    /// # Errors
    /// Those of writing.
    pub(super) fn new(
        output: W,
        options: &CopyOptions,
        schema: &Schema,
        styles: Styles,
    ) -> Result<Self> {
        let all = options.force_quote.iter().any(|name| name == "*");
        let forced = |name: &String| all || options.force_quote.contains(name);
        let mut writer = Self {
            output,
            options: options.clone(),
            styles,
            single: schema.fields().len() == 1,
            force_quote: schema.fields().iter().map(|f| forced(f.name())).collect(),
        };
        if options.header {
            let mut line = Vec::new();
            for (index, field) in schema.fields().iter().enumerate() {
                writer.separate(&mut line, index);
                writer.field(&mut line, field.name(), false);
            }
            writer.end(&mut line)?;
        }
        Ok(writer)
    }

    /// Writes the rows of a batch.
    ///
    /// # Errors
    /// Those of writing.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter();
        let columns: Vec<(Cells<'_>, bool)> = columns
            .map(|array| {
                let cells = Cells::styled(array, &self.styles);
                (cells, *array.data_type() == DataType::Boolean)
            })
            .collect();
        let mut line = Vec::new();
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            for (index, (cells, boolean)) in columns.iter().enumerate() {
                self.separate(&mut line, index);
                if cells.is_null(row) {
                    line.extend_from_slice(self.options.null.as_bytes());
                    continue;
                }
                text.clear();
                cells.write(row, &mut text);
                if *boolean {
                    text.truncate(1);
                }
                let force = self.force_quote.get(index).copied().unwrap_or(false);
                self.field(&mut line, &text, force);
            }
            self.end(&mut line)?;
        }
        Ok(())
    }

    /// The file, all lines written.
    pub(super) fn into_inner(self) -> W {
        self.output
    }

    fn separate(&self, line: &mut Vec<u8>, index: usize) {
        if index > 0 {
            line.push(self.options.delimiter);
        }
    }

    fn field(&self, line: &mut Vec<u8>, text: &str, force: bool) {
        let CopyOptions {
            delimiter,
            quote,
            escape,
            ..
        } = self.options;
        let special = |b: u8| b == delimiter || b == quote || b == b'\n' || b == b'\r';
        let ends = self.single && text == "\\.";
        let quoted = force || ends || text == self.options.null || text.bytes().any(special);
        if !quoted {
            line.extend_from_slice(text.as_bytes());
            return;
        }
        line.push(quote);
        for byte in text.bytes() {
            if byte == quote || byte == escape {
                line.push(escape);
            }
            line.push(byte);
        }
        line.push(quote);
    }

    fn end(&mut self, line: &mut Vec<u8>) -> Result<()> {
        line.push(b'\n');
        let written = self.output.write_all(line);
        line.clear();
        written.map_err(|error| Error::new("58030", error.to_string()))
    }
}
