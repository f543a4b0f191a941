//! COPY TO a CSV file: values as PostgreSQL writes them.

use std::io::Write;
use std::sync::Arc;

use datafusion::arrow::array::cast::AsArray;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type, Schema};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

use super::CopyOptions;
use crate::error::{Error, Result};
use crate::values::Cells;

/// Writes batches as lines.
pub(super) struct CsvWriter<W> {
    output: W,
    options: CopyOptions,
    force_quote: Vec<bool>,
    /// Whether there is one column: a line of it that is `\.` would end the data.
    single: bool,
}

impl<W: Write> CsvWriter<W> {
    /// Starts a file, with the names of the columns if there is to be a header.
    ///
    /// # Errors
    /// Those of writing.
    pub(super) fn new(output: W, options: &CopyOptions, schema: &Schema) -> Result<Self> {
        let all = options.force_quote.iter().any(|name| name == "*");
        let forced = |name: &String| all || options.force_quote.contains(name);
        let mut writer = Self {
            output,
            options: options.clone(),
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
        let options = FormatOptions::default()
            .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
            .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f%:z"))
            .with_datetime_format(Some("%Y-%m-%d %H:%M:%S%.f"));
        let shown: Vec<ArrayRef> = batch.columns().iter().map(shown).collect();
        let columns = shown
            .iter()
            .map(|array| Column::new(array, &options))
            .collect::<Result<Vec<_>>>()?;
        let mut line = Vec::new();
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            for (index, column) in columns.iter().enumerate() {
                self.separate(&mut line, index);
                text.clear();
                if column.format(row, &mut text)? {
                    let force = self.force_quote.get(index).copied().unwrap_or(false);
                    self.field(&mut line, &text, force);
                } else {
                    line.extend_from_slice(self.options.null.as_bytes());
                }
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

/// Arrays, records and times with zones as PostgreSQL's texts; others as they are.
fn shown(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::List(_) | DataType::Struct(_) | DataType::FixedSizeBinary(12) => {
            let cells = Cells::new(array);
            let texts = (0..array.len()).map(|row| cells.text(row));
            Arc::new(texts.collect::<StringViewArray>())
        }
        _ => Arc::clone(array),
    }
}

/// One column and how its values become text.
enum Column<'a> {
    Bool(&'a datafusion::arrow::array::BooleanArray),
    Real(&'a datafusion::arrow::array::Float32Array),
    Double(&'a datafusion::arrow::array::Float64Array),
    Uuid(&'a datafusion::arrow::array::FixedSizeBinaryArray),
    Bytea(&'a datafusion::arrow::array::BinaryViewArray),
    Other(&'a ArrayRef, ArrayFormatter<'a>),
}

impl<'a> Column<'a> {
    fn new(array: &'a ArrayRef, options: &FormatOptions<'a>) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Boolean => Self::Bool(array.as_boolean()),
            DataType::Float32 => Self::Real(array.as_primitive::<Float32Type>()),
            DataType::Float64 => Self::Double(array.as_primitive::<Float64Type>()),
            DataType::FixedSizeBinary(16) => Self::Uuid(array.as_fixed_size_binary()),
            DataType::BinaryView => Self::Bytea(array.as_binary_view()),
            _ => Self::Other(array, ArrayFormatter::try_new(array.as_ref(), options)?),
        })
    }

    /// Appends the value; false for NULL.
    fn format(&self, row: usize, out: &mut String) -> Result<bool> {
        use std::fmt::Write;
        match self {
            Self::Bool(array) if array.is_valid(row) => {
                out.push(if array.value(row) { 't' } else { 'f' });
            }
            Self::Real(array) if array.is_valid(row) => {
                float(
                    out,
                    f64::from(array.value(row)),
                    &array.value(row).to_string(),
                );
            }
            Self::Double(array) if array.is_valid(row) => {
                float(out, array.value(row), &array.value(row).to_string());
            }
            Self::Uuid(array) if array.is_valid(row) => out.push_str(&uuid_text(array.value(row))),
            Self::Bytea(array) if array.is_valid(row) => {
                out.push_str("\\x");
                out.push_str(&hex(array.value(row)));
            }
            Self::Other(array, formatter) if array.is_valid(row) => {
                write!(out, "{}", formatter.value(row))
                    .map_err(|_| Error::internal("a value could not be formatted"))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Shortest digits that read back as the same number, with an exponent for the
/// very large and very small.
fn float(out: &mut String, value: f64, plain: &str) {
    let size = value.abs();
    if value.is_nan() {
        out.push_str("NaN");
    } else if value.is_infinite() {
        out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    } else if size != 0.0 && !(1e-5..1e16).contains(&size) {
        out.push_str(&format!("{value:e}"));
    } else {
        out.push_str(plain);
    }
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}

/// A UUID in its usual form, `8-4-4-4-12` digits.
fn uuid_text(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    let mut out = String::with_capacity(36);
    for (index, digit) in digits.chars().enumerate() {
        if matches!(index, 8 | 12 | 16 | 20) {
            out.push('-');
        }
        out.push(digit);
    }
    out
}
