//! Objects, one per row: in an array per result, or one per line.
//!
//! Integers, decimals and finite floats are numbers with all their digits;
//! booleans and NULL are themselves; lists are arrays and structs are objects;
//! everything else is the string that the other formats show.

use super::Renderer;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type, SchemaRef};
use freestone::Cells;
use std::io::{self, Write};

/// The JSON renderer.
pub struct Json {
    lines: bool,
    names: Vec<String>,
    rows: u64,
}

impl Json {
    /// One array of objects.
    pub fn array() -> Self {
        Json {
            lines: false,
            names: Vec::new(),
            rows: 0,
        }
    }

    /// One object per line.
    pub fn lines() -> Self {
        Json {
            lines: true,
            ..Json::array()
        }
    }
}

impl Renderer for Json {
    fn start(&mut self, out: &mut dyn Write, schema: &SchemaRef) -> io::Result<()> {
        self.names = schema.fields().iter().map(|f| quote(f.name())).collect();
        if self.lines {
            Ok(())
        } else {
            out.write_all(b"[")
        }
    }

    fn batch(&mut self, out: &mut dyn Write, batch: &RecordBatch) -> io::Result<()> {
        let columns: Vec<Value> = batch.columns().iter().map(|c| Value::new(c)).collect();
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            text.clear();
            if !self.lines {
                text.push_str(if self.rows == 0 { "\n  " } else { ",\n  " });
            }
            object(&self.names, &columns, row, &mut text);
            if self.lines {
                text.push('\n');
            }
            out.write_all(text.as_bytes())?;
            self.rows += 1;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match (self.lines, self.rows) {
            (true, _) => Ok(()),
            (false, 0) => out.write_all(b"]\n"),
            (false, _) => out.write_all(b"\n]\n"),
        }
    }
}

fn object(names: &[String], columns: &[Value], row: usize, out: &mut String) {
    out.push('{');
    for (at, (name, column)) in names.iter().zip(columns).enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(name);
        out.push_str(": ");
        column.write(row, out);
    }
    out.push('}');
}

/// Writes the values of one array.
struct Value<'a> {
    array: &'a dyn Array,
    cells: Cells<'a>,
}

impl<'a> Value<'a> {
    fn new(array: &'a dyn Array) -> Self {
        Value {
            array,
            cells: Cells::new(array),
        }
    }

    fn write(&self, row: usize, out: &mut String) {
        if self.cells.is_null(row) {
            out.push_str("null");
            return;
        }
        match self.array.data_type() {
            DataType::Float32
                if !self
                    .array
                    .as_primitive::<Float32Type>()
                    .value(row)
                    .is_finite() =>
            {
                self.string(row, out);
            }
            DataType::Float64
                if !self
                    .array
                    .as_primitive::<Float64Type>()
                    .value(row)
                    .is_finite() =>
            {
                self.string(row, out);
            }
            DataType::Boolean => self.cells.write(row, out),
            kind if kind.is_numeric() => self.cells.write(row, out),
            DataType::List(_) => list(&self.array.as_list::<i32>().value(row), out),
            DataType::LargeList(_) => list(&self.array.as_list::<i64>().value(row), out),
            DataType::Struct(fields) => {
                let values = self.array.as_struct();
                let names: Vec<String> = fields.iter().map(|f| quote(f.name())).collect();
                let columns: Vec<Value> = values.columns().iter().map(|c| Value::new(c)).collect();
                object(&names, &columns, row, out);
            }
            _ => self.string(row, out),
        }
    }

    fn string(&self, row: usize, out: &mut String) {
        out.push_str(&quote(&self.cells.text(row).unwrap_or_default()));
    }
}

fn list(values: &dyn Array, out: &mut String) {
    let elements = Value::new(values);
    out.push('[');
    for row in 0..values.len() {
        if row > 0 {
            out.push_str(", ");
        }
        elements.write(row, out);
    }
    out.push(']');
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
