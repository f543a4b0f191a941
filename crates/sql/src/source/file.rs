//! Files as relations: their columns, and readers of their rows.
//!
//! Row groups of a Parquet file are parts that threads read side by side. The types of a CSV file's
//! columns are guessed from its first rows; it is read from one end to the other.

use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow_csv::reader::{Format, ReaderBuilder};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use super::Part;
use crate::error::{Error, Result};

/// Rows of a CSV file from which the types of its columns are guessed.
const GUESSED_FROM: usize = 1000;

/// The form of a file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values.
    Csv,
}

impl FileKind {
    /// By extension: `.parquet`, `.pq`, `.csv`, `.tsv`, `.tbl`, `.txt`.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "parquet" | "pq" => Some(Self::Parquet),
            "csv" | "tsv" | "tbl" | "txt" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// A file that a query reads.
pub(crate) struct FileTable {
    path: PathBuf,
    /// The name in the query.
    name: String,
    form: Form,
}

enum Form {
    Parquet(ArrowReaderMetadata),
    Csv(SchemaRef, Format),
}

impl FileTable {
    /// A file that is there.
    ///
    /// # Errors
    /// `0A000` if its name does not say what it is, `22P04` if it is damaged.
    pub(crate) fn open(name: &str, path: PathBuf) -> Result<Self> {
        let mut file = opened(&path)?;
        let form = match FileKind::of(&path) {
            Some(FileKind::Parquet) => parquet(&file).map_err(|error| named(name, error))?,
            Some(FileKind::Csv) => {
                let extension = path.extension();
                let tabs = extension.is_some_and(|e| e.eq_ignore_ascii_case("tsv"));
                let format = Format::default().with_header(true).with_delimiter(if tabs {
                    b'\t'
                } else {
                    b','
                });
                let guessed = format.infer_schema(&mut file, Some(GUESSED_FROM));
                let (schema, _) = guessed.map_err(|error| named(name, error.into()))?;
                Form::Csv(Arc::new(with_views(&schema)), format)
            }
            None => {
                let error = Error::unsupported(format!("cannot tell the format of \"{name}\""));
                return Err(error.with_hint("file names end in .parquet or .csv"));
            }
        };
        Ok(Self {
            path,
            name: name.to_owned(),
            form,
        })
    }

    /// Names and types of its columns.
    pub(crate) fn schema(&self) -> SchemaRef {
        match &self.form {
            Form::Parquet(metadata) => Arc::clone(metadata.schema()),
            Form::Csv(schema, _) => Arc::clone(schema),
        }
    }

    /// Some columns of its rows, in parts.
    ///
    /// # Errors
    /// Errors of opening it.
    pub(crate) fn parts(&self, projection: &[usize], batch_rows: usize) -> Result<Vec<Part>> {
        match &self.form {
            Form::Parquet(metadata) => {
                let groups = 0..metadata.metadata().num_row_groups();
                let parts = groups.map(|group| self.group(metadata, group, projection, batch_rows));
                parts.collect()
            }
            Form::Csv(schema, format) => {
                let mut file = opened(&self.path)?;
                file.rewind()
                    .map_err(|error| Error::file("read", &self.path, &error))?;
                let reader = ReaderBuilder::new(Arc::clone(schema))
                    .with_format(format.clone())
                    .with_batch_size(batch_rows)
                    .with_projection(sorted(projection))
                    .build(file)
                    .map_err(|error| named(&self.name, error.into()))?;
                let (name, order) = (self.name.clone(), order(projection));
                let batches = reader.map(move |batch| {
                    let batch = batch.and_then(|batch| batch.project(&order));
                    batch.map_err(|error| named(&name, error.into()))
                });
                Ok(vec![Box::new(batches)])
            }
        }
    }

    /// The rows of a row group.
    fn group(
        &self,
        metadata: &ArrowReaderMetadata,
        group: usize,
        projection: &[usize],
        batch_rows: usize,
    ) -> Result<Part> {
        let file = opened(&self.path)?;
        let mask = metadata.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::roots(mask, projection.iter().copied());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
            .with_row_groups(vec![group])
            .with_projection(mask)
            .with_batch_size(batch_rows)
            .build()
            .map_err(|error| named(&self.name, error.into()))?;
        let (name, order) = (self.name.clone(), order(projection));
        Ok(Box::new(reader.map(move |batch| {
            let batch = batch.and_then(|batch| batch.project(&order));
            batch.map_err(|error| named(&name, error.into()))
        })))
    }
}

fn parquet(file: &File) -> Result<Form> {
    let options = || ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let plain = ArrowReaderMetadata::load(file, options())?;
    let views = Arc::new(with_views(plain.schema()));
    let metadata = ArrowReaderMetadata::load(file, options().with_schema(views))?;
    Ok(Form::Parquet(metadata))
}

/// Strings as views, which the engine wants anyway.
fn with_views(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let kind = match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
            DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
            other => other.clone(),
        };
        Field::clone(field).with_data_type(kind)
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// Columns in the order of the file, in which readers give them.
fn sorted(projection: &[usize]) -> Vec<usize> {
    let mut sorted = projection.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Where each column of a projection is among those in the order of the file.
fn order(projection: &[usize]) -> Vec<usize> {
    let sorted = sorted(projection);
    let places = projection.iter();
    let places = places.map(|column| sorted.partition_point(|known| known < column));
    places.collect()
}

fn opened(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Error::file("open file", path, &error))
}

fn named(name: &str, error: Error) -> Error {
    let message = format!("could not read \"{name}\": {}", error.message);
    Error { message, ..error }
}
