//! A Markdown table; cells are not padded, so rows are written as they come.

use super::{Renderer, is_number};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use freestone::{Cells, Styles};
use std::io::{self, Write};

/// The Markdown renderer, of values in some styles.
pub struct Markdown(pub Styles);

impl Renderer for Markdown {
    fn start(&mut self, out: &mut dyn Write, schema: &SchemaRef) -> io::Result<()> {
        let names = schema.fields().iter().map(|field| escape(field.name()));
        writeln!(out, "| {} |", names.collect::<Vec<_>>().join(" | "))?;
        let rules = schema.fields().iter().map(|field| match is_number(field) {
            true => "---:",
            false => "---",
        });
        writeln!(out, "|{}|", rules.collect::<Vec<_>>().join("|"))
    }

    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|c| Cells::styled(c, &self.0))
            .collect();
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| match column.text(row) {
                Some(text) => escape(&text),
                None => "NULL".to_string(),
            });
            writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "))?;
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

fn escape(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('|', "\\|");
    escaped
        .replace("\r\n", "<br>")
        .replace(['\n', '\r'], "<br>")
}
