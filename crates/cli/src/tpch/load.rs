//! The eight tables in a Freestone database.
//!
//! A database is loaded under another name (`DIR.loading`) and renamed when it
//! is complete, so that a load that fails, is cancelled or is killed leaves no
//! half database; the next attempt removes what it left. What was loaded is
//! written down in the database itself, in the table `tpch_load`, so that a
//! second run can use it again.
//!
//! Rows go from the generators straight into [`Database::load`], one part of a
//! table per thread. In the `mixed` layout a table is loaded in six slices, and
//! its layout option changes between them: even `region` has blocks of all
//! three layouts.

use super::interrupt::Interrupt;
use super::schema::Table;
use crate::args::TpchLayout;
use crate::failure::{Failure, Result};
use crate::progress::Bar;
use freestone::{Database, Error, Progress, Session};
use freestone_storage::DEFAULT_SCHEMA;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Layouts of the slices of a `mixed` table.
const MIXED: [&str; 6] = ["row", "column", "pax", "row", "column", "pax"];

/// What to load.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Scale factor.
    pub scale: f64,
    /// Layout of every table.
    pub layout: TpchLayout,
    /// Sources read at a time.
    pub threads: usize,
}

/// A complete database.
pub struct Loaded {
    /// Open.
    pub database: Database,
    /// Seconds that generating and loading took when it was loaded.
    pub seconds: f64,
    /// Whether it had been there.
    pub reused: bool,
}

impl TpchLayout {
    /// The option's value; `mixed` is none, but a name all the same.
    pub fn name(self) -> &'static str {
        match self {
            TpchLayout::Row => "row",
            TpchLayout::Column => "column",
            TpchLayout::Pax => "pax",
            TpchLayout::Mixed => "mixed",
        }
    }

    /// The layout for a table that is loaded in one piece.
    pub fn of_one_piece(self) -> &'static str {
        match self {
            TpchLayout::Mixed => "column",
            layout => layout.name(),
        }
    }

    /// The layout of each slice in which a table is loaded.
    fn slices(self) -> &'static [&'static str] {
        match self {
            TpchLayout::Row => &["row"],
            TpchLayout::Column => &["column"],
            TpchLayout::Pax => &["pax"],
            TpchLayout::Mixed => &MIXED,
        }
    }
}

/// Opens the database in `path`, loading it first if it is not there.
///
/// # Errors
/// A directory that holds something else, or whatever the load meets.
pub async fn open_or_load(path: &Path, plan: Plan, interrupt: &Interrupt) -> Result<Loaded> {
    let is_there = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    if is_there {
        return reuse(path, plan).await;
    }
    let loading = with_suffix(path, ".loading");
    let outcome = load(&loading, plan, interrupt).await;
    let seconds = match outcome {
        Ok(seconds) => seconds,
        Err(failure) => {
            // The failure is the news; what stays behind is removed next time.
            let _ = fs::remove_dir_all(&loading);
            return Err(failure);
        }
    };
    publish(&loading, path)?;
    Ok(Loaded {
        database: Database::open_existing(path)?,
        seconds,
        reused: false,
    })
}

/// `path` with something added to its last part.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.components().as_path().as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Renames, durably.
fn publish(from: &Path, to: &Path) -> Result<()> {
    let failed = |error| {
        Failure::io(
            format!("cannot rename {} to {}", from.display(), to.display()),
            error,
        )
    };
    fs::rename(from, to).map_err(failed)?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = File::open(parent.unwrap_or(Path::new("."))).map_err(failed)?;
    folder.sync_all().map_err(failed)
}

/// Loads everything into a new database at `path`; returns the seconds.
async fn load(path: &Path, plan: Plan, interrupt: &Interrupt) -> Result<f64> {
    let database = empty(path)?;
    let session = database.session();
    let start = Instant::now();
    let progress = Arc::new(Progress::default());
    progress.add_total(Table::ALL.iter().map(|table| table.rows(plan.scale)).sum());
    let bar = Bar::watch(Arc::clone(&progress), "loading");
    let mut rows = 0;
    for table in Table::ALL {
        interrupt.check()?;
        let options = layout_option(plan.layout.slices()[0]);
        create(&session, table, &options).await?;
        rows += fill(&database, &session, table, plan, &progress, interrupt).await?;
    }
    drop(bar);
    let seconds = start.elapsed().as_secs_f64();
    let (scale, layout) = (plan.scale, plan.layout.name());
    let note = format!(
        "CREATE TABLE tpch_load (scale TEXT, layout TEXT, rows BIGINT, seconds DOUBLE PRECISION);
         INSERT INTO tpch_load VALUES ('{scale}', '{layout}', {rows}, {seconds})"
    );
    session.execute(&note).await?;
    Ok(seconds)
}

/// A database without tables; what an earlier attempt left there is removed.
///
/// # Errors
/// Those of opening; among them, that another process is loading right now.
pub fn empty(path: &Path) -> Result<Database> {
    let database = Database::open(path)?;
    if database.store().snapshot().all_tables().next().is_none() {
        return Ok(database);
    }
    drop(database);
    fs::remove_dir_all(path)
        .map_err(|error| Failure::io(format!("cannot remove {}", path.display()), error))?;
    Ok(Database::open(path)?)
}

/// The option that gives a table its layout.
pub fn layout_option(layout: &str) -> String {
    format!("layout = '{layout}'")
}

/// Creates one of the tables, with options.
///
/// # Errors
/// Those of CREATE TABLE.
pub async fn create(session: &Session, table: Table, options: &str) -> Result<()> {
    let (name, columns) = (table.name(), table.columns());
    let sql = format!("CREATE TABLE {name} ({columns}) WITH ({options})");
    session.execute(&sql).await?;
    Ok(())
}

/// Generates a table into the database, slice by slice.
async fn fill(
    database: &Database,
    session: &Session,
    table: Table,
    plan: Plan,
    progress: &Arc<Progress>,
    interrupt: &Interrupt,
) -> Result<u64> {
    let slices = plan.layout.slices();
    let parts = slices.len() * plan.threads;
    let mut rows = 0;
    for (slice, layout) in slices.iter().enumerate() {
        if slice > 0 {
            let name = table.name();
            let sql = format!("ALTER TABLE {name} SET (layout = '{layout}', rewrite = false)");
            session.execute(&sql).await?;
        }
        let first = slice * plan.threads;
        let sources = (first..first + plan.threads).map(|part| {
            let interrupt = interrupt.clone();
            let batches = table.generate(plan.scale, part, parts).map(move |batch| {
                if interrupt.is_asked() {
                    return Err(Error::new("57014", "cancelled"));
                }
                Ok(batch?)
            });
            Box::new(batches) as Box<dyn Iterator<Item = freestone::Result<_>> + Send>
        });
        let sources: Vec<_> = sources.collect();
        let (database, progress) = (database.clone(), Arc::clone(progress));
        let work = move || database.load(DEFAULT_SCHEMA, table.name(), sources, &progress);
        let loaded = tokio::task::spawn_blocking(work).await;
        let loaded = loaded.map_err(|_| Failure::Message("a loading thread panicked".into()))?;
        interrupt.check()?;
        rows += loaded?;
    }
    Ok(rows)
}

/// Opens what is in `path` if it is what the plan asks for.
async fn reuse(path: &Path, plan: Plan) -> Result<Loaded> {
    let database = Database::open_existing(path)?;
    let shown = path.display();
    let catalog = database.store().snapshot();
    if catalog.table(DEFAULT_SCHEMA, "tpch_load").is_none() {
        return Err(Failure::Message(format!(
            "{shown} is a database, but not one of this command; choose another --db"
        )));
    }
    let session = database.session();
    let notes = session
        .query("SELECT scale, layout, rows, seconds FROM tpch_load")
        .await?;
    let row = super::rows(&notes).into_iter().next().unwrap_or_default();
    let note = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
    let (scale, layout) = (note(0), note(1));
    let (wanted_scale, wanted_layout) = (plan.scale.to_string(), plan.layout.name());
    if scale != wanted_scale || layout != wanted_layout {
        return Err(Failure::Message(format!(
            "{shown} holds TPC-H at scale {scale} in layout {layout}, not scale {wanted_scale} \
             in layout {wanted_layout}; choose another --db, or remove it"
        )));
    }
    let tables = Table::ALL.map(|table| catalog.table(DEFAULT_SCHEMA, table.name()));
    let rows: u64 = tables.iter().flatten().map(|table| table.rows()).sum();
    let layouts = plan.layout.slices();
    let blocks = || tables.iter().flatten().flat_map(|table| table.blocks());
    let as_loaded = tables.iter().all(Option::is_some)
        && rows.to_string() == note(2)
        && blocks().all(|block| layouts.contains(&block.layout().to_string().as_str()));
    if !as_loaded {
        return Err(Failure::Message(format!(
            "the TPC-H tables in {shown} have been changed since they were loaded; \
             choose another --db, or remove it"
        )));
    }
    Ok(Loaded {
        database: database.clone(),
        seconds: note(3).parse().unwrap_or(0.0),
        reused: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_goes_to_the_name() {
        assert_eq!(with_suffix(Path::new("a/b/"), ".x"), PathBuf::from("a/b.x"));
        assert_eq!(with_suffix(Path::new("./b"), ".x"), PathBuf::from("./b.x"));
    }
}
