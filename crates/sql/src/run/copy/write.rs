//! Writing the rows of a query to a file.
//!
//! The file appears under its name only when it is whole: rows go to a neighbour
//! that is renamed at the end, and removed when anything fails.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use futures::StreamExt;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::CopyOptions;
use super::csv_write::CsvWriter;
use super::stream::Lines;
use super::text::lines;
use crate::error::{Error, Result};
use crate::outcome::Rows;
use crate::source::FileKind;
use crate::values::{Styles, as_lists, lists_schema};

/// Level of zstd in Parquet files: little time, most of the gain.
const ZSTD: i32 = 1;

/// Writes all rows; returns how many.
///
/// # Errors
/// `58030`, `58P01`, `53100` of the disk; those of the query.
pub(super) async fn write_file(
    rows: Rows,
    path: &Path,
    options: &CopyOptions,
    styles: Styles,
) -> Result<u64> {
    let unfinished = Unfinished::create(path)?;
    let file = unfinished.open()?;
    let (file, count) = match options.kind {
        FileKind::Csv if options.text.is_some() => text(rows, file, options, styles).await?,
        FileKind::Csv => csv(rows, file, options, styles).await?,
        FileKind::Parquet => parquet(rows, file).await?,
    };
    file.sync_all()
        .map_err(|error| Error::file("write file", path, &error))?;
    unfinished.finish(path)?;
    Ok(count)
}

async fn csv(
    mut rows: Rows,
    file: File,
    options: &CopyOptions,
    styles: Styles,
) -> Result<(File, u64)> {
    let mut writer = CsvWriter::new(BufWriter::new(file), options, &rows.schema, styles)?;
    let mut count = 0;
    while let Some(batch) = rows.stream.next().await {
        let batch = batch?;
        writer.write(&batch)?;
        count += batch.num_rows() as u64;
    }
    let mut buffered = writer.into_inner();
    let disk = |error: std::io::Error| Error::new("58030", error.to_string());
    buffered.flush().map_err(disk)?;
    let file = buffered
        .into_inner()
        .map_err(|error| disk(error.into_error()))?;
    Ok((file, count))
}

async fn text(
    mut rows: Rows,
    file: File,
    options: &CopyOptions,
    styles: Styles,
) -> Result<(File, u64)> {
    let format = options.text.clone().unwrap_or_default();
    let disk = |error: std::io::Error| Error::new("58030", error.to_string());
    let mut output = BufWriter::new(file);
    let mut count = 0;
    while let Some(batch) = rows.stream.next().await {
        let batch = batch?;
        let mut found = Lines::default();
        lines(&batch, &styles, &format, &mut found);
        output.write_all(&found.bytes).map_err(disk)?;
        count += batch.num_rows() as u64;
    }
    let file = output.into_inner();
    let file = file.map_err(|error| disk(error.into_error()))?;
    Ok((file, count))
}

async fn parquet(mut rows: Rows, file: File) -> Result<(File, u64)> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD)?))
        .set_created_by(format!("freestone {}", env!("CARGO_PKG_VERSION")))
        .build();
    let schema = lists_schema(&rows.schema);
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties))?;
    let mut count = 0;
    while let Some(batch) = rows.stream.next().await {
        let batch = as_lists(&batch?)?;
        writer.write(&batch)?;
        count += batch.num_rows() as u64;
    }
    Ok((writer.into_inner()?, count))
}

/// A file under a temporary name.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn create(target: &Path) -> Result<Self> {
        let name = target.file_name().ok_or_else(|| {
            Error::new("42602", format!("\"{}\" is no file name", target.display()))
        })?;
        if target.is_dir() {
            return Err(Error::new(
                "42809",
                format!("\"{}\" is a directory", target.display()),
            ));
        }
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}.part", std::process::id()));
        Ok(Self {
            path: target.with_file_name(temporary),
        })
    }

    fn open(&self) -> Result<File> {
        File::create(&self.path).map_err(|error| Error::file("create file", &self.path, &error))
    }

    fn finish(self, target: &Path) -> Result<()> {
        std::fs::rename(&self.path, target)
            .map_err(|error| Error::file("create file", target, &error))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // Gone already after a rename.
        let _ = std::fs::remove_file(&self.path);
    }
}
