//! COPY FROM a CSV file.
//!
//! One thread reads, splits and parses; the writer works beside it. An error names
//! the file, the line, the column and the value.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;

use super::CopyOptions;
use super::fill::{Fill, not_null};
use super::records::{Record, Records};
use crate::error::{Error, Result};
use crate::values::ColumnBuilder;

/// Rows parsed into one batch.
const BATCH_ROWS: usize = 8192;

type Source = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Opens a file; the single source yields batches of the whole table.
///
/// # Errors
/// `58P01`, `42501`; `22P04` for a header with the wrong number of columns.
pub(super) fn open(
    path: &Path,
    shown: &str,
    options: &CopyOptions,
    fill: Arc<Fill>,
) -> Result<Vec<Source>> {
    let file = File::open(path).map_err(|error| Error::file("open file", path, &error))?;
    let forced = |names: &[String]| {
        (0..fill.columns.len())
            .map(|index| Ok(names.contains(&fill.column(index)?.name)))
            .collect::<Result<Vec<bool>>>()
    };
    let builders = (0..fill.columns.len())
        .map(|index| Ok(ColumnBuilder::of(fill.column(index)?, &fill.locale)))
        .collect::<Result<Vec<ColumnBuilder>>>()?;
    let mut reader = CsvReader {
        records: Records::new(file, options.delimiter, options.quote, options.escape),
        record: Record::default(),
        file: shown.to_owned(),
        null: options.null.clone(),
        force_null: forced(&options.force_null)?,
        force_not_null: forced(&options.force_not_null)?,
        fill,
        builders,
        ended: false,
    };
    if options.header {
        reader.skip_header()?;
    }
    Ok(vec![Box::new(reader)])
}

struct CsvReader {
    records: Records<File>,
    record: Record,
    file: String,
    null: String,
    force_null: Vec<bool>,
    force_not_null: Vec<bool>,
    fill: Arc<Fill>,
    builders: Vec<ColumnBuilder>,
    ended: bool,
}

impl CsvReader {
    /// The header must have as many names as there are columns.
    fn skip_header(&mut self) -> Result<()> {
        if self.next_record()? {
            self.check_width()?;
        }
        Ok(())
    }

    fn next_record(&mut self) -> Result<bool> {
        self.records
            .next(&mut self.record)
            .map_err(|error| placed(error, &self.file, self.record.line, None))
    }

    fn check_width(&self) -> Result<()> {
        let (found, expected) = (self.record.len(), self.fill.columns.len());
        let error = if found < expected {
            let missing = &self.fill.column(found)?.name;
            Error::new("22P04", format!("missing data for column \"{missing}\""))
        } else if found > expected {
            let extra = self.record.get(expected).map_or(&[][..], |field| field.0);
            let extra = String::from_utf8_lossy(extra);
            Error::new(
                "22P04",
                format!("extra data after last expected column: \"{extra}\""),
            )
        } else {
            return Ok(());
        };
        let error = error.with_detail(format!("expected {expected} columns, found {found}"));
        Err(placed(error, &self.file, self.record.line, None))
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let mut rows = 0;
        while rows < BATCH_ROWS {
            if !self.next_record()? {
                self.ended = true;
                break;
            }
            self.check_width()?;
            for index in 0..self.builders.len() {
                if let Err(error) = self.push(index) {
                    let column = &self.fill.column(index)?.name;
                    return Err(placed(error, &self.file, self.record.line, Some(column)));
                }
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let arrays: Vec<_> = self
            .builders
            .iter_mut()
            .map(ColumnBuilder::finish)
            .collect();
        self.fill.batch(&arrays, rows).map(Some)
    }

    fn push(&mut self, index: usize) -> Result<()> {
        let (bytes, quoted) = self.record.get(index).unwrap_or_default();
        let forced = |flags: &[bool]| flags.get(index).copied().unwrap_or(false);
        let may_be_null = if quoted {
            forced(&self.force_null)
        } else {
            !forced(&self.force_not_null)
        };
        let Some(builder) = self.builders.get_mut(index) else {
            return Ok(());
        };
        if may_be_null && bytes == self.null.as_bytes() {
            let column = self.fill.column(index)?;
            if !column.nullable {
                return Err(not_null(column));
            }
            builder.push_null();
            return Ok(());
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let bad: Vec<String> = bytes
                .iter()
                .skip(error.valid_up_to())
                .take(4)
                .map(|byte| format!("0x{byte:02x}"))
                .collect();
            Error::new(
                "22021",
                format!(
                    "invalid byte sequence for encoding \"UTF8\": {}",
                    bad.join(" ")
                ),
            )
            .with_detail(format!("value: \"{}\"", String::from_utf8_lossy(bytes)))
        })?;
        builder.push(text)
    }
}

impl Iterator for CsvReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.batch();
        if batch.is_err() {
            self.ended = true;
        }
        batch.transpose()
    }
}

/// Puts the place in front of a message.
fn placed(error: Error, file: &str, line: u64, column: Option<&str>) -> Error {
    let column = column.map_or_else(String::new, |name| format!(", column \"{name}\""));
    let message = format!("\"{file}\", line {line}{column}: {}", error.message);
    Error { message, ..error }
}
