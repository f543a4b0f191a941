//! `freestone tpch`: generate, load, query, verify.
//!
//! Everything goes the way a user's data and queries go: rows into
//! [`freestone::Database::load`], query texts through a session, over blocks on
//! disk. Nothing here knows how a query is run.
//!
//! | module | concern |
//! |---|---|
//! | `schema` | the eight tables, their generators |
//! | `load` | a database under its name, or none |
//! | `queries`, `answers` | the texts; whether a result is right |
//! | `runs` | running a query once, or as fast as it goes |
//! | `parquet`, `loading` | the tables as files; how long loading alone takes |
//! | `report` | table and JSON |
//! | `laboratory` | the same tables and queries for the lab |

mod answers;
mod interrupt;
mod laboratory;
mod load;
mod loading;
mod parquet;
mod queries;
mod report;
mod runs;
mod schema;

use crate::args::TpchArguments;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::progress::Bar;
use answers::{AnswerSet, Row};
use arrow::array::RecordBatch;
use freestone::Cells;
use freestone::{Progress, Session, SessionOptions};
use interrupt::Interrupt;
pub use laboratory::Laboratory;
use load::{Loaded, Plan, open_or_load};
use report::{QueryResult, Report};
use runs::Run;
use std::path::PathBuf;
use std::sync::Arc;

/// Does all that the arguments ask for.
///
/// # Errors
/// [`Failure::Reported`] when a query failed or an answer was wrong.
pub fn run(arguments: &TpchArguments) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let plan = Plan {
        scale: arguments.scale,
        layout: arguments.layout,
        threads: arguments.threads.unwrap_or(cores),
    };
    let runtime = crate::runtime(Some(plan.threads))?;
    runtime.block_on(benchmark(arguments, plan))
}

async fn benchmark(arguments: &TpchArguments, plan: Plan) -> Result<()> {
    let interrupt = Interrupt::listen();
    let name = format!("tpch-{}-{}", plan.scale, plan.layout.name());
    let path = arguments.db.clone().unwrap_or_else(|| PathBuf::from(name));
    let loaded = open_or_load(&path, plan, &interrupt).await?;
    if let Some(folder) = arguments.parquet.clone() {
        let interrupt = interrupt.clone();
        let work = move || parquet::ensure(&folder, plan.scale, plan.threads, &interrupt);
        let written = tokio::task::spawn_blocking(work).await;
        written.map_err(|_| Failure::Message("a writing thread panicked".into()))??;
    }
    let results = queries(arguments, plan, &loaded, &interrupt).await?;
    let loading = match &arguments.parquet {
        Some(folder) => Some(loading::measure(&path, folder, plan, &interrupt).await?),
        None => None,
    };
    let report = Report::new(
        &path,
        plan,
        arguments.runs,
        &loaded,
        loading.as_ref(),
        results,
    );
    let mut output = Output::stdout(0);
    report.print(&mut output)?;
    report.print_invitation(&mut output, &loaded)?;
    output.flush()?;
    if let Some(path) = &arguments.json {
        report.write_json(path)?;
    }
    if report.is_good() {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

/// Runs the queries.
async fn queries(
    arguments: &TpchArguments,
    plan: Plan,
    loaded: &Loaded,
    interrupt: &Interrupt,
) -> Result<Vec<QueryResult>> {
    let options = SessionOptions {
        threads: Some(plan.threads),
    };
    let session = loaded.database.session_with(options);
    if let Some(limit) = &arguments.memory_limit {
        let limit = limit.replace('\'', "''");
        session
            .execute(&format!("SET memory_limit = '{limit}'"))
            .await?;
    }
    let all: Vec<u8> = (1..=22).collect();
    let wanted = if arguments.queries.is_empty() {
        &all
    } else {
        &arguments.queries
    };
    let progress = Arc::new(Progress::default());
    progress.add_total(wanted.len() as u64);
    let bar = Bar::watch(Arc::clone(&progress), "querying");
    let mut results = Vec::new();
    for query in wanted.iter().copied().map(usize::from) {
        results.push(one(&session, query, plan.scale, arguments.runs, interrupt).await?);
        progress.add_done(1);
    }
    drop(bar);
    Ok(results)
}

/// Runs one query and checks its answer.
async fn one(
    session: &Session,
    query: usize,
    scale: f64,
    runs: Option<usize>,
    interrupt: &Interrupt,
) -> Result<QueryResult> {
    let Some(sql) = queries::text(query, scale) else {
        return Ok(QueryResult::failed(query, "there is no such query".into()));
    };
    let run = match runs {
        None => Run::once(session, &sql, interrupt).await,
        Some(runs) => Run::best(session, &sql, runs, interrupt).await,
    };
    let run = match run {
        Ok(run) => run,
        Err(Failure::Sql(error)) => return Ok(QueryResult::failed(query, error.to_string())),
        Err(failure) => return Err(failure),
    };
    let rows = rows(&run.batches);
    let mut result = QueryResult::done(query, rows.len() as u64, run.time, run.scans);
    if let Some(answers) = AnswerSet::for_scale(scale) {
        result.problem = answers.check(query, &rows).err();
        result.verified = Some(result.problem.is_none());
    }
    Ok(result)
}

/// A result as text, cell by cell.
fn rows(batches: &[RecordBatch]) -> Vec<Row> {
    let of_batch = |batch: &RecordBatch| -> Vec<Row> {
        let columns: Vec<Cells> = batch.columns().iter().map(|c| Cells::new(c)).collect();
        let row = |at| columns.iter().map(|column| column.text(at)).collect();
        (0..batch.num_rows()).map(row).collect()
    };
    batches.iter().flat_map(of_batch).collect()
}
