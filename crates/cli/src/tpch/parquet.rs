//! The eight tables as Parquet files: one per table, Snappy, Arrow's defaults
//! for everything else (row groups of 1,048,576 rows).
//!
//! A file is written under another name and renamed when it is complete. The
//! file `scale` says what the folder holds and is written last.

use super::interrupt::Interrupt;
use super::schema::Table;
use crate::failure::{Failure, Result};
use crate::progress::Bar;
use freestone::Progress;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Where a table's file is.
pub fn file(folder: &Path, table: Table) -> PathBuf {
    folder.join(format!("{}.parquet", table.name()))
}

/// Writes the files unless they are there. Blocks; several tables at a time.
///
/// # Errors
/// A folder of another scale, an interrupt, or what the disk says.
pub fn ensure(folder: &Path, scale: f64, threads: usize, interrupt: &Interrupt) -> Result<()> {
    let marker = folder.join("scale");
    match fs::read_to_string(&marker) {
        Ok(found) if found.trim() == scale.to_string() => return Ok(()),
        Ok(found) => {
            return Err(Failure::Message(format!(
                "{} holds TPC-H at scale {}, not {scale}; choose another --parquet",
                folder.display(),
                found.trim()
            )));
        }
        Err(_) => {}
    }
    let failed = |error| Failure::io(format!("cannot write to {}", folder.display()), error);
    fs::create_dir_all(folder).map_err(failed)?;
    let progress = Arc::new(Progress::default());
    progress.add_total(Table::ALL.iter().map(|table| table.rows(scale)).sum());
    let bar = Bar::watch(Arc::clone(&progress), "writing Parquet");
    let next = AtomicUsize::new(0);
    let outcome = Mutex::new(Ok(()));
    let work = || {
        // Large tables first, so that no thread is left with the largest.
        let take = || {
            Table::ALL
                .iter()
                .rev()
                .nth(next.fetch_add(1, Ordering::Relaxed))
        };
        while let Some(table) = take() {
            if let Err(failure) = write(folder, *table, scale, &progress, interrupt) {
                if let Ok(mut outcome) = outcome.lock() {
                    *outcome = Err(failure);
                }
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(Table::ALL.len()) {
            scope.spawn(work);
        }
    });
    drop(bar);
    outcome
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())?;
    fs::write(&marker, scale.to_string()).map_err(failed)
}

fn write(
    folder: &Path,
    table: Table,
    scale: f64,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<()> {
    let path = file(folder, table);
    let part = path.with_extension("part");
    let failed = |error: &dyn std::fmt::Display| {
        Failure::Message(format!("cannot write {}: {error}", path.display()))
    };
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let mut batches = table.generate(scale, 0, 1).peekable();
    let schema = match batches.peek() {
        Some(Ok(batch)) => batch.schema(),
        _ => return Err(failed(&"nothing was generated")),
    };
    let output = File::create(&part).map_err(|error| failed(&error))?;
    let mut writer =
        ArrowWriter::try_new(output, schema, Some(properties)).map_err(|error| failed(&error))?;
    for batch in batches {
        interrupt.check()?;
        let batch = batch.map_err(|error| failed(&error))?;
        writer.write(&batch).map_err(|error| failed(&error))?;
        progress.add_done(batch.num_rows() as u64);
    }
    writer.close().map_err(|error| failed(&error))?;
    fs::rename(&part, &path).map_err(|error| failed(&error))
}
