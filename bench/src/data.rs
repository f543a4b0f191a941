//! The eight tables: as Parquet files that both sides load, and loaded.

use crate::bench::{THREADS, session};
use crate::peer::Peer;
use crate::schema::Table;
use crate::{Result, ours};
use freestone::Database;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::runtime::Runtime;

/// Parquet files: one per table, Snappy.
#[derive(Debug, Clone)]
pub struct Files {
    folder: PathBuf,
}

impl Files {
    /// Writes the files unless they are there.
    ///
    /// # Errors
    /// What the disk says.
    pub fn ensure(folder: &Path, scale: f64) -> Result<Files> {
        let files = Files {
            folder: folder.to_path_buf(),
        };
        if Table::ALL.iter().all(|table| files.of(*table).exists()) {
            return Ok(files);
        }
        eprintln!("writing TPC-H at scale {scale} as Parquet, once");
        fs::create_dir_all(folder)?;
        let next = AtomicUsize::new(0);
        // Large tables first, so that no thread is left with the largest.
        let take = || {
            let number = next.fetch_add(1, Ordering::Relaxed);
            Table::ALL.iter().rev().nth(number).copied()
        };
        let work = || -> Result<()> {
            while let Some(table) = take() {
                write(&files.of(table), table, scale)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err("a generator panicked".into()))
            })
        })?;
        Ok(files)
    }

    /// The file of a table.
    pub fn of(&self, table: Table) -> PathBuf {
        self.folder.join(format!("{}.parquet", table.name()))
    }
}

/// Writes one table under another name and renames it when it is complete.
fn write(path: &Path, table: Table, scale: f64) -> Result<()> {
    let part = path.with_extension("part");
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let mut batches = table.generate(scale, 0, 1).peekable();
    let schema = match batches.peek() {
        Some(Ok(batch)) => batch.schema(),
        _ => return Err(format!("no rows of {} were generated", table.name()).into()),
    };
    let mut writer = ArrowWriter::try_new(File::create(&part)?, schema, Some(properties))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(fs::rename(&part, path)?)
}

/// Loads all tables into a new database of Freestone at `path`, in place of
/// what was there; returns it and the seconds until everything was durable.
///
/// # Errors
/// Those of loading.
pub fn load_ours(
    runtime: &Runtime,
    path: &Path,
    files: &Files,
    options: &str,
) -> Result<(Database, f64)> {
    if path.exists() {
        fs::remove_dir_all(path)?;
    }
    let database = Database::open(path)?;
    let session = session(&database);
    let start = Instant::now();
    for table in Table::ALL {
        ours::fill(
            runtime,
            &session,
            table,
            table.name(),
            options,
            &files.of(table),
        )?;
    }
    Ok((database, start.elapsed().as_secs_f64()))
}

/// Loads all tables into a new database of another engine; returns the seconds
/// until everything was there.
///
/// # Errors
/// Those of the peer.
pub fn load_theirs(peer: &mut Peer, path: &Path, files: &Files) -> Result<f64> {
    peer.close()?;
    if path.exists() {
        fs::remove_file(path)?;
    }
    peer.open(path, THREADS)?;
    let tables = Table::ALL.map(|table| (table, files.of(table)));
    let start = Instant::now();
    peer.load(&tables)?;
    Ok(start.elapsed().as_secs_f64())
}

/// Bytes of all files in a folder and below.
///
/// # Errors
/// What the disk says.
pub fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += match about.is_dir() {
            true => folder_bytes(&entry.path())?,
            false => about.len(),
        };
    }
    Ok(bytes)
}
