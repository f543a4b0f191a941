//! The loads that get killed, and the database they load into.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use freestone::Database;

use super::check::block_on;

/// Rows of the table that no load touches.
pub const KEEP_ROWS: u64 = 50_000;

/// Rows that `big` holds before the INSERT.
const OLD_ROWS: u64 = 1_000;

/// One way to load `big`.
#[derive(Debug)]
pub struct Load {
    /// For people.
    pub name: &'static str,
    /// The statement that a child process runs.
    pub sql: String,
    /// Statements that bring `big` to its state before the load.
    pub reset: Vec<String>,
    /// Rows of `big` before the load; `None`: there is no such table.
    pub before: Option<u64>,
}

impl Load {
    /// Starts the program with this load.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(&self, program: &Path, database: &Path) -> Result<Child, String> {
        Command::new(program)
            .arg(database)
            .args(["-c", &self.sql])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))
    }
}

/// Makes the database with `keep`, and the files that the loads read.
pub fn prepare(database: &Path, folder: &Path, rows: u64) -> Result<Vec<Load>, String> {
    let (csv, keep, parquet) = (
        folder.join("big.csv"),
        folder.join("keep.csv"),
        folder.join("big.parquet"),
    );
    write_rows(&csv, rows).map_err(|error| error.to_string())?;
    write_rows(&keep, KEEP_ROWS).map_err(|error| error.to_string())?;
    let (csv, keep, parquet) = (quoted(&csv), quoted(&keep), quoted(&parquet));
    let columns = "(id BIGINT, amount DECIMAL(12, 2), note TEXT)";
    // Small blocks: a load has many moments between them.
    let with = "WITH (block_bytes = '1MiB')";
    let copy = |table: &str, file: &str| {
        format!("COPY {table} FROM {file} WITH (FORMAT csv, HEADER true)")
    };
    execute(
        database,
        &[
            format!("CREATE TABLE keep {columns} {with}"),
            copy("keep", &keep),
            format!("CREATE TABLE big {columns} {with}"),
            copy("big", &csv),
            format!("COPY big TO {parquet} WITH (FORMAT parquet)"),
        ],
    )?;
    let drop = "DROP TABLE IF EXISTS big".to_string();
    let create = format!("CREATE TABLE big {columns} {with}");
    Ok(vec![
        Load {
            name: "COPY",
            sql: copy("big", &csv),
            reset: vec![drop.clone(), create.clone()],
            before: Some(0),
        },
        Load {
            name: "CREATE TABLE AS",
            sql: format!("CREATE TABLE big {with} AS SELECT * FROM {parquet}"),
            reset: vec![drop.clone()],
            before: None,
        },
        Load {
            name: "INSERT SELECT",
            sql: format!("INSERT INTO big SELECT * FROM {parquet}"),
            reset: vec![
                drop,
                create,
                format!("INSERT INTO big SELECT * FROM keep WHERE id <= {OLD_ROWS}"),
            ],
            before: Some(OLD_ROWS),
        },
    ])
}

/// Brings `big` to its state before `load`.
pub fn reset(database: &Path, load: &Load) -> Result<(), String> {
    execute(database, &load.reset)
}

fn execute(database: &Path, statements: &[String]) -> Result<(), String> {
    let database = Database::open(database).map_err(|error| error.to_string())?;
    let session = database.session();
    for sql in statements {
        block_on(session.execute(sql))?.map_err(|error| format!("{sql}: {error}"))?;
    }
    Ok(())
}

/// Rows `id, amount, note` with ids 1..=rows.
fn write_rows(path: &Path, rows: u64) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "id,amount,note")?;
    for id in 1..=rows {
        writeln!(
            file,
            "{id},{}.{:02},note number {}",
            id % 10_007,
            id % 100,
            id.wrapping_mul(2_654_435_761) % 1_000_003
        )?;
    }
    file.flush()
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "''"))
}
