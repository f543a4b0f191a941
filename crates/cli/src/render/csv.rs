//! RFC 4180 with PostgreSQL's rule for NULL: NULL is empty, an empty string is
//! two quotes.

use super::Renderer;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use freestone::{Cells, Styles};
use std::io::{self, Write};

/// The CSV renderer: a line buffer, nothing else.
#[derive(Default)]
pub struct Csv {
    line: String,
    cell: String,
    styles: Styles,
}

impl Csv {
    /// Values in these styles.
    pub fn new(styles: Styles) -> Self {
        Csv {
            styles,
            ..Csv::default()
        }
    }

    fn put(&mut self, at: usize, cell: Option<&str>) {
        if at > 0 {
            self.line.push(',');
        }
        let Some(cell) = cell else { return };
        if cell.is_empty() || cell.contains([',', '"', '\n', '\r']) {
            self.line.push('"');
            self.line.push_str(&cell.replace('"', "\"\""));
            self.line.push('"');
        } else {
            self.line.push_str(cell);
        }
    }

    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.line.push('\n');
        out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

impl Renderer for Csv {
    fn start(&mut self, out: &mut dyn Write, schema: &SchemaRef) -> io::Result<()> {
        for (at, field) in schema.fields().iter().enumerate() {
            self.put(at, Some(field.name()));
        }
        self.flush(out)
    }

    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        let columns: Vec<Cells> = batch
            .columns()
            .iter()
            .map(|c| Cells::styled(c, &self.styles))
            .collect();
        let mut cell = std::mem::take(&mut self.cell);
        for row in 0..batch.num_rows() {
            for (at, column) in columns.iter().enumerate() {
                cell.clear();
                let present = !column.is_null(row);
                if present {
                    column.write(row, &mut cell);
                }
                self.put(at, present.then_some(cell.as_str()));
            }
            self.flush(out)?;
        }
        self.cell = cell;
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
