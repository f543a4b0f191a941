//! COPY FROM a Parquet file.
//!
//! Threads take row groups from one queue and decode them batch by batch; the file
//! is never in memory as a whole. Columns are matched by name where every column of
//! the table is in the file, and by position otherwise. An error names the file, the
//! row group (from 0), the row in it (from 1), the column and the value.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};

use super::fill::Fill;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::values::{BadValue, assign, check_assignable, show, text_of_bytes};

/// Rows decoded into one batch.
const BATCH_ROWS: usize = 8192;

type Source = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What the reading threads share.
struct Shared {
    path: PathBuf,
    shown: String,
    metadata: ArrowReaderMetadata,
    /// Column of the file for each column that is wanted.
    columns: Vec<usize>,
    fill: Arc<Fill>,
    next_group: AtomicUsize,
}

/// Opens a file; yields one source per thread, at most one per row group.
///
/// # Errors
/// `58P01`; `22P04` when it is no Parquet file or has other columns; `42804` when a
/// column's type cannot be stored.
pub(super) fn open(
    path: &Path,
    shown: &str,
    fill: Arc<Fill>,
    threads: usize,
    progress: &Arc<Progress>,
) -> Result<Vec<Source>> {
    let file = File::open(path).map_err(|error| Error::file("open file", path, &error))?;
    let named = |error: Error| {
        let message = format!("\"{shown}\": {}", error.message);
        Error { message, ..error }
    };
    let load = |options| ArrowReaderMetadata::load(&file, options).map_err(|e| named(e.into()));
    let plain = load(ArrowReaderOptions::new().with_skip_arrow_metadata(true))?;
    let views = with_views(plain.schema());
    let metadata = load(
        ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_schema(views),
    )?;
    let columns = matched(metadata.schema(), &fill).map_err(named)?;
    for (index, column) in columns.iter().enumerate() {
        let field = metadata.schema().field(*column);
        check_assignable(field.data_type(), fill.column(index)?).map_err(named)?;
    }
    let rows = metadata.metadata().file_metadata().num_rows();
    progress.add_total(u64::try_from(rows).unwrap_or(0));
    let groups = metadata.metadata().num_row_groups();
    let shared = Arc::new(Shared {
        path: path.to_owned(),
        shown: shown.to_owned(),
        metadata,
        columns,
        fill,
        next_group: AtomicUsize::new(0),
    });
    Ok((0..threads.clamp(1, groups.max(1)))
        .map(|_| {
            Box::new(GroupReader {
                shared: Arc::clone(&shared),
                current: None,
                failed: false,
            }) as Source
        })
        .collect())
}

/// Strings as views, which the table wants anyway.
fn with_views(schema: &SchemaRef) -> SchemaRef {
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| {
            let kind = match field.data_type() {
                DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
                DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
                other => other.clone(),
            };
            field.as_ref().clone().with_data_type(kind)
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// The file's column for each wanted one: by name, or all by position.
fn matched(schema: &SchemaRef, fill: &Fill) -> Result<Vec<usize>> {
    let wanted = fill.columns.len();
    let found = schema.fields().len();
    if wanted != found {
        let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        return Err(
            Error::new("22P04", format!("expected {wanted} columns, found {found}"))
                .with_detail(format!("the file's columns are: {}", names.join(", "))),
        );
    }
    let by_name: Result<Vec<Option<usize>>> = (0..wanted)
        .map(|index| {
            let name = &fill.column(index)?.name;
            Ok(schema
                .fields()
                .iter()
                .position(|f| f.name().eq_ignore_ascii_case(name)))
        })
        .collect();
    let all: Option<Vec<usize>> = by_name?.into_iter().collect();
    Ok(all.unwrap_or_else(|| (0..wanted).collect()))
}

/// One thread's share: row groups from the queue.
struct GroupReader {
    shared: Arc<Shared>,
    current: Option<Group>,
    failed: bool,
}

struct Group {
    number: usize,
    /// Rows handed out so far.
    rows: usize,
    reader: ParquetRecordBatchReader,
}

impl GroupReader {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some(group) = &mut self.current else {
                let number = self.shared.next_group.fetch_add(1, Relaxed);
                if number >= self.shared.metadata.metadata().num_row_groups() {
                    return Ok(None);
                }
                self.current = Some(Group {
                    number,
                    rows: 0,
                    reader: self.shared.reader(number)?,
                });
                continue;
            };
            match group.reader.next() {
                None => self.current = None,
                Some(Ok(batch)) => {
                    let assigned = self.shared.assign(group, &batch)?;
                    group.rows += batch.num_rows();
                    return Ok(Some(assigned));
                }
                Some(Err(error)) => return Err(self.shared.explain(group.number, error.into())),
            }
        }
    }
}

impl Iterator for GroupReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self.next_batch();
        self.failed = batch.is_err();
        batch.transpose()
    }
}

impl Shared {
    fn reader(&self, group: usize) -> Result<ParquetRecordBatchReader> {
        let file = self.file()?;
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
            .with_row_groups(vec![group])
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error| self.explain(group, error.into()))
    }

    fn file(&self) -> Result<File> {
        File::open(&self.path).map_err(|error| Error::file("open file", &self.path, &error))
    }

    fn assign(&self, group: &Group, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (index, from) in self.columns.iter().enumerate() {
            let source = batch.column(*from);
            let column = self.fill.column(index)?;
            let checked =
                assign(source, column).and_then(|array| match self.fill.null_at(index, &array) {
                    Ok(None) => Ok(array),
                    Ok(Some(bad)) => Err(bad),
                    Err(error) => Err(BadValue { row: 0, error }),
                });
            arrays.push(checked.map_err(|bad| {
                let row = group.rows + bad.row + 1;
                let value = show(source, bad.row);
                let place = format!(
                    "row group {}, row {row}, column \"{}\"",
                    group.number, column.name
                );
                self.placed(&place, bad.error.with_detail(format!("value: {value}")))
            })?);
        }
        self.fill.batch(&arrays, batch.num_rows())
    }

    fn placed(&self, place: &str, error: Error) -> Error {
        let message = format!("\"{}\", {place}: {}", self.shown, error.message);
        Error { message, ..error }
    }

    /// Why a row group could not be decoded: text that is no UTF-8, if that is it.
    fn explain(&self, group: usize, error: Error) -> Error {
        for (index, from) in self.columns.iter().enumerate() {
            let kind = self.metadata.schema().field(*from).data_type();
            if *kind != DataType::Utf8View {
                continue;
            }
            if let Ok(Some((row, bad))) = self.bad_text(group, *from) {
                let name = self.fill.column(index).map_or("?", |column| &column.name);
                let place = format!("row group {group}, row {row}, column \"{name}\"");
                return self.placed(&place, bad);
            }
        }
        self.placed(&format!("row group {group}"), error)
    }

    /// The first row of a text column that is no UTF-8.
    fn bad_text(&self, group: usize, column: usize) -> Result<Option<(usize, Error)>> {
        let file = self.file()?;
        let fields: Vec<Field> = self
            .metadata
            .schema()
            .fields()
            .iter()
            .enumerate()
            .map(|(index, field)| match index == column {
                true => field.as_ref().clone().with_data_type(DataType::BinaryView),
                false => field.as_ref().clone(),
            })
            .collect();
        let options = ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_schema(Arc::new(Schema::new(fields)));
        let metadata = ArrowReaderMetadata::load(&file, options)?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), [column]);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_row_groups(vec![group])
            .with_batch_size(BATCH_ROWS)
            .with_projection(mask)
            .build()?;
        let mut before = 0;
        for batch in reader {
            let batch = batch?;
            if let Err(bad) = text_of_bytes(batch.column(0)) {
                return Ok(Some((before + bad.row + 1, bad.error)));
            }
            before += batch.num_rows();
        }
        Ok(None)
    }
}
