//! Running SQL on Freestone.

use crate::Result;
use crate::peer::quoted;
use crate::schema::Table;
use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use freestone::Session;
use freestone_storage::Scan;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;

/// The text of each cell, `None` for NULL.
pub type Cells = Vec<Vec<Option<String>>>;

/// Runs a query to its last batch; its seconds and result.
///
/// # Errors
/// Those of the query.
pub fn run(runtime: &Runtime, session: &Session, sql: &str) -> Result<(f64, Vec<RecordBatch>)> {
    let start = Instant::now();
    let batches = runtime.block_on(session.query(sql))?;
    Ok((start.elapsed().as_secs_f64(), batches))
}

/// Creates a table under `name` with options and copies a Parquet file into it.
///
/// # Errors
/// Those of the two statements.
pub fn fill(
    runtime: &Runtime,
    session: &Session,
    table: Table,
    name: &str,
    options: &str,
    file: &Path,
) -> Result<()> {
    let columns = table.columns();
    let file = quoted(file);
    let sql = format!("CREATE TABLE {name} ({columns}) WITH ({options}); COPY {name} FROM {file}");
    runtime.block_on(session.execute(&sql))?;
    Ok(())
}

/// A result as text.
///
/// # Errors
/// A type that Arrow cannot show.
pub fn cells(batches: &[RecordBatch]) -> Result<Cells> {
    let options = FormatOptions::default();
    let mut rows = Vec::new();
    for batch in batches {
        let columns = batch.columns();
        let shown = columns
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().zip(&shown);
            let text = |(column, shown): (&arrow::array::ArrayRef, &ArrayFormatter<'_>)| {
                (!column.is_null(row)).then(|| shown.value(row).to_string())
            };
            rows.push(cells.map(text).collect());
        }
    }
    Ok(rows)
}

/// Reads a scan with several workers, drops the batches and counts their rows.
///
/// # Errors
/// Those of the scan.
pub fn drain(scan: &Arc<Scan>, threads: usize) -> Result<usize> {
    let worker = || -> Result<usize> {
        let mut rows = 0;
        for batch in scan.worker() {
            rows += batch?.num_rows();
        }
        Ok(rows)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let rows = threads.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err("a scan panicked".into()))
        });
        rows.sum()
    })
}
