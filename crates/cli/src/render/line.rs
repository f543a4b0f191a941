//! One line per value, a rule per row: psql's `\x`.

use super::{Renderer, count_of, printable};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use freestone::{Cells, Styles};
use std::io::{self, Write};

/// The line renderer.
#[derive(Default)]
pub struct Line {
    names: Vec<String>,
    width: usize,
    rows: u64,
    styles: Styles,
}

impl Line {
    /// Values in these styles.
    pub fn new(styles: Styles) -> Self {
        Line {
            styles,
            ..Line::default()
        }
    }
}

impl Renderer for Line {
    fn start(&mut self, _out: &mut dyn Write, schema: &SchemaRef) -> io::Result<()> {
        self.names = schema
            .fields()
            .iter()
            .map(|f| printable(f.name()))
            .collect();
        self.width = self
            .names
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0);
        Ok(())
    }

    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        let columns: Vec<Cells> = batch
            .columns()
            .iter()
            .map(|c| Cells::styled(c, &self.styles))
            .collect();
        for row in 0..batch.num_rows() {
            self.rows += 1;
            let title = format!("[ RECORD {} ]", self.rows);
            writeln!(out, "-{title:-<width$}", width = self.width + 16)?;
            for (name, column) in self.names.iter().zip(&columns) {
                let text = column
                    .text(row)
                    .map_or("NULL".into(), |text| printable(&text));
                for (at, line) in text.split('\n').enumerate() {
                    let label = if at == 0 { name } else { "" };
                    writeln!(out, "{label:<width$} | {line}", width = self.width)?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "({})", count_of(self.rows, "row"))
    }
}
