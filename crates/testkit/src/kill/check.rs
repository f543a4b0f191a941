//! What a database must look like after a kill.

use std::fmt;
use std::future::Future;
use std::path::Path;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use freestone::{Database, Session};

use super::load::{KEEP_ROWS, Load};

/// What was found in a sound database.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Whether all rows of the load are there; if not, none is.
    pub complete: bool,
    /// Blocks whose checksums were verified.
    pub blocks: usize,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = if self.complete { "all rows" } else { "no row" };
        write!(f, "{rows:<8}  {:>3} blocks verified", self.blocks)
    }
}

/// Opens, verifies and counts.
pub fn check(path: &Path, load: &Load, rows: u64) -> Result<Seen, String> {
    let database =
        Database::open_existing(path).map_err(|error| format!("does not open: {error}"))?;
    let blocks = verify(&database)?;
    let session = database.session();
    if count(&session, "keep")? != Some(ids(KEEP_ROWS)) {
        return Err(format!(
            "keep has changed: {:?} (rows, sum of ids)",
            count(&session, "keep")?
        ));
    }
    let old = ids(load.before.unwrap_or(0));
    let all = (old.0 + rows, old.1 + ids(rows).1);
    let found = count(&session, "big")?;
    let complete = found == Some(all);
    if !complete && found != load.before.map(ids) {
        return Err(format!(
            "big holds {found:?} (rows, sum of ids); all would be {all:?}"
        ));
    }
    Ok(Seen { complete, blocks })
}

/// Every file in `blocks/` is a block of a table or laid over one: what a kill left
/// behind is gone after the next opening.
pub fn no_leftovers(path: &Path) -> Result<(), String> {
    let database = Database::open_existing(path).map_err(|error| error.to_string())?;
    verify(&database)?;
    let snapshot = database.store().snapshot();
    let blocks = snapshot.all_tables().flat_map(|(_, table)| table.blocks());
    let known: usize = blocks.map(|block| 1 + block.overlays().count()).sum();
    let files = std::fs::read_dir(path.join("blocks"))
        .map_err(|error| error.to_string())?
        .count();
    match files == known {
        true => Ok(()),
        false => Err(format!(
            "{files} files in blocks/, but the tables have {known}"
        )),
    }
}

/// How many blocks there are, all of them sound.
pub(super) fn verify(database: &Database) -> Result<usize, String> {
    let (mut blocks, mut bad) = (0, None);
    database.store().verify(|report| {
        blocks += 1;
        bad = bad.take().or(report.outcome.err());
    });
    match bad {
        None => Ok(blocks),
        Some(error) => Err(format!("does not verify: {error}")),
    }
}

/// Rows and sum of ids of a table with the ids 1..=rows.
fn ids(rows: u64) -> (u64, i64) {
    (rows, (rows * (rows + 1) / 2) as i64)
}

/// Rows and sum of ids, or `None` when there is no such table.
fn count(session: &Session, table: &str) -> Result<Option<(u64, i64)>, String> {
    let sql = format!(
        "SELECT count(*), CAST(coalesce(sum(id), 0) AS BIGINT), count(amount), count(note) FROM {table}"
    );
    let batches = match block_on(session.query(&sql))? {
        Ok(batches) => batches,
        Err(error) if error.sqlstate == "42P01" => return Ok(None),
        Err(error) => return Err(format!("{sql}: {error}")),
    };
    let batch = batches
        .iter()
        .find(|batch| batch.num_rows() == 1)
        .ok_or("no row of counts")?;
    let number = |column: usize| {
        let array = batch.column(column).as_primitive_opt::<Int64Type>();
        array
            .map(|array| array.value(0))
            .ok_or("a count that is no BIGINT")
    };
    let (rows, amounts, notes) = (number(0)?, number(2)?, number(3)?);
    match amounts == rows && notes == rows {
        true => Ok(Some((rows as u64, number(1)?))),
        false => Err(format!(
            "{table}: {rows} rows, {amounts} amounts, {notes} notes"
        )),
    }
}

/// Runs a future of the library to its end.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    Ok(runtime.block_on(future))
}
