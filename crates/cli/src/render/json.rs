//! Objects, one per row: in an array per result, or one per line.
//!
//! Integers, decimals and finite floats are numbers with all their digits;
//! booleans, NULL and JSON are themselves; arrays are arrays, of arrays if they have several
//! dimensions, and records are objects;
//! everything else is the string that the other formats show.

use super::Renderer;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type, SchemaRef};
use freestone::{Arrays, Cells, JSON, said_of_element, said_of_elements, said_type};
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
        let schema = batch.schema();
        let pairs = batch.columns().iter().zip(schema.fields());
        let columns: Vec<Value> = pairs
            .map(|(c, field)| Value::new(c, said_type(field)))
            .collect();
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
    /// The SQL type that is said.
    said: Option<String>,
}

impl<'a> Value<'a> {
    fn new(array: &'a dyn Array, said: Option<&str>) -> Self {
        Value {
            array,
            cells: Cells::new(array),
            said: said.map(str::to_owned),
        }
    }

    fn write(&self, row: usize, out: &mut String) {
        if self.cells.is_null(row) {
            out.push_str("null");
            return;
        }
        match self.said.as_deref() {
            Some("numeric") => return self.number(row, out),
            Some("json" | "jsonb") => return self.json(row, out),
            _ => {}
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
            kind if *kind == JSON => self.json(row, out),
            DataType::List(item) => {
                let said = said_of_elements(self.said.as_deref(), item);
                list(&self.array.as_list::<i32>().value(row), said, out);
            }
            DataType::LargeList(_) => list(&self.array.as_list::<i64>().value(row), None, out),
            DataType::Struct(_) if let Some(arrays) = Arrays::read(self.array) => {
                let said = said_of_element(self.said.as_deref());
                let elements = Value::new(arrays.values(), said);
                let start = arrays.range(row).start;
                nested(&elements, &arrays.bounds(row).lengths, start, out);
            }
            DataType::Struct(fields) => {
                let values = self.array.as_struct();
                let names: Vec<String> = fields.iter().map(|f| quote(f.name())).collect();
                let pairs = values.columns().iter().zip(fields);
                let columns: Vec<Value> = pairs
                    .map(|(c, field)| Value::new(c, said_type(field)))
                    .collect();
                object(&names, &columns, row, out);
            }
            _ => self.string(row, out),
        }
    }

    /// A number of its digits; JSON has none that are not finite.
    fn number(&self, row: usize, out: &mut String) {
        let text = self.cells.text(row).unwrap_or_default();
        match text.ends_with(|last: char| last.is_ascii_digit()) {
            true => out.push_str(&text),
            false => out.push_str(&quote(&text)),
        }
    }

    /// JSON as it is, but in one line; what is none is a string.
    fn json(&self, row: usize, out: &mut String) {
        let text = self.cells.text(row).unwrap_or_default();
        match serde_json::from_str::<serde_json::Value>(&text) {
            // There are no ends of lines within its strings.
            Ok(_) => out.push_str(&text.replace(['\n', '\r'], " ")),
            Err(_) => out.push_str(&quote(&text)),
        }
    }

    fn string(&self, row: usize, out: &mut String) {
        out.push_str(&quote(&self.cells.text(row).unwrap_or_default()));
    }
}

fn list(values: &dyn Array, said: Option<&str>, out: &mut String) {
    let elements = Value::new(values, said);
    out.push('[');
    for row in 0..values.len() {
        if row > 0 {
            out.push_str(", ");
        }
        elements.write(row, out);
    }
    out.push(']');
}

/// An array of arrays for each dimension but the last, of elements from a place on.
fn nested(elements: &Value, lengths: &[usize], start: usize, out: &mut String) {
    let Some((length, inner)) = lengths.split_first() else {
        out.push_str("[]");
        return;
    };
    let size: usize = inner.iter().product();
    out.push('[');
    for part in 0..*length {
        if part > 0 {
            out.push_str(", ");
        }
        match inner {
            [] => elements.write(start + part, out),
            inner => nested(elements, inner, start + part * size, out),
        }
    }
    out.push(']');
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
