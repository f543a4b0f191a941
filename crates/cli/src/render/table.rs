//! Aligned columns: boxed and fitted to the terminal, or as `psql` writes them
//! to a file.
//!
//! Widths need the rows. At a terminal a table shows `max_rows` rows at most and
//! counts the others. Elsewhere the first [`WINDOW`] rows decide the widths and
//! later windows keep them as minimum, so that a result of any size is written
//! with the memory of one window.

use super::{Renderer, Target, count_of, is_number, printable};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table as Drawing, Width,
    modifiers::UTF8_ROUND_CORNERS, presets::UTF8_FULL_CONDENSED,
};
use freestone::Cells;
use std::io::{self, Write};

/// Rows held to find the widths of columns.
const WINDOW: usize = 10_000;

/// comfy-table's nineteen characters for psql's look: `-+-` under the header,
/// `|` between columns, no borders.
const PSQL: &str = "     -+ |          ";

/// The table renderer.
pub struct Table {
    target: Target,
    headers: Vec<String>,
    right: Vec<bool>,
    window: Vec<Vec<String>>,
    widths: Vec<u16>,
    rows: u64,
    shown: u64,
    headed: bool,
}

impl Table {
    /// A table for `target`.
    pub fn new(target: Target) -> Self {
        Table {
            target,
            headers: Vec::new(),
            right: Vec::new(),
            window: Vec::new(),
            widths: Vec::new(),
            rows: 0,
            shown: 0,
            headed: false,
        }
    }

    /// Draws the window; the first one with the header.
    fn draw(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut drawing = Drawing::new();
        match self.target.terminal_width {
            Some(width) => {
                drawing
                    .load_preset(UTF8_FULL_CONDENSED)
                    .apply_modifier(UTF8_ROUND_CORNERS);
                drawing
                    .set_content_arrangement(ContentArrangement::Dynamic)
                    .set_width(width);
            }
            None => {
                drawing.load_preset(PSQL).force_no_tty();
            }
        }
        if !self.headed {
            let cells = self.headers.iter().map(Cell::new);
            drawing.set_header(cells.map(|cell| cell.set_alignment(CellAlignment::Center)));
        }
        for row in self.window.drain(..) {
            let cells = row.into_iter().zip(&self.right).map(|(text, right)| {
                let side = if *right {
                    CellAlignment::Right
                } else {
                    CellAlignment::Left
                };
                Cell::new(text).set_alignment(side)
            });
            drawing.add_row(cells);
        }
        if self.headed {
            let least = |width: &u16| ColumnConstraint::LowerBoundary(Width::Fixed(*width));
            drawing.set_constraints(self.widths.iter().map(least));
        } else {
            self.widths = drawing.column_max_content_widths();
            // A constraint counts the padding, a content width does not.
            self.widths
                .iter_mut()
                .for_each(|width| *width = width.saturating_add(2));
        }
        self.headed = true;
        for line in drawing.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

impl Renderer for Table {
    fn start(&mut self, _out: &mut dyn Write, schema: &SchemaRef) -> io::Result<()> {
        self.headers = schema
            .fields()
            .iter()
            .map(|f| printable(f.name()))
            .collect();
        let fields = schema.fields().iter();
        self.right = fields.map(|field| is_number(field)).collect();
        Ok(())
    }

    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|c| Cells::styled(c, &self.target.styles))
            .collect();
        self.rows += batch.num_rows() as u64;
        for row in 0..batch.num_rows() {
            if self
                .target
                .max_rows
                .is_some_and(|most| self.shown >= most as u64)
            {
                return Ok(());
            }
            let cells = columns.iter().map(|column| match column.text(row) {
                Some(text) => printable(&text),
                None => "NULL".to_string(),
            });
            self.window.push(cells.collect());
            self.shown += 1;
            if self.window.len() >= WINDOW {
                self.draw(out)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.headers.is_empty() && (!self.headed || !self.window.is_empty()) {
            self.draw(out)?;
        }
        if self.target.uncounted {
            return Ok(());
        }
        let note = match self.shown < self.rows {
            true => format!(", {} shown", self.shown),
            false => String::new(),
        };
        writeln!(out, "({}{note})", count_of(self.rows, "row"))
    }
}
