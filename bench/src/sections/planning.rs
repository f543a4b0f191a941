//! Time from the text of a query to a plan that runs, beside DataFusion's own.

use crate::bench::{Bench, THREADS};
use crate::pair::median;
use crate::report::{Bar, Row, Section};
use crate::schema::Table as Tpch;
use crate::{Result, queries};
use datafusion::datasource::MemTable;
use datafusion::physical_plan::common::collect;
use datafusion::prelude::{SessionConfig, SessionContext};
use freestone::{Outcome, Session};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;

/// Plans of each query on each side, in turn.
const ROUNDS: usize = 21;
/// Rows of each table that DataFusion plans for.
const ROWS: usize = 8192;

/// Measures the section.
///
/// # Errors
/// Those of loading and of planning.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    let session = bench.session()?;
    let theirs = datafusion_alone(bench)?;
    let runtime = &bench.runtime;
    // A commit after which no plan is taken for the same; it does not wait for the disk,
    // after which a processor is cold.
    let create = "SET durability = 'relaxed'; CREATE TABLE planned (number INT)";
    runtime.block_on(session.execute(create))?;
    let mut rows = Vec::new();
    let (mut sums, mut again) = ([0.0; 2], Vec::new());
    for query in 1..=queries::COUNT {
        eprintln!("planning: Q{query}");
        let sql = queries::text(query, bench.scale).ok_or("there is no such query")?;
        let mut seconds = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..=ROUNDS {
            runtime.block_on(session.execute("INSERT INTO planned VALUES (1)"))?;
            for seconds in &mut seconds[..2] {
                seconds.push(ours(runtime, &session, &sql)?);
            }
            let start = Instant::now();
            let plan = async { theirs.sql(&sql).await?.create_physical_plan().await };
            runtime.block_on(plan)?;
            seconds[2].push(start.elapsed().as_secs_f64());
        }
        // The first of each warms up.
        let times = seconds.map(|all| median(&all[1..]).unwrap_or_default() * 1e3);
        let [new, known, alone] = times;
        sums = [sums[0] + new, sums[1] + alone];
        again.push(known);
        rows.push(Row::new(format!("Q{query}"), "ms", new).beside(Some(alone)));
    }
    let drop = "DROP TABLE planned; RESET durability";
    runtime.block_on(session.execute(drop))?;
    let [new, alone] = sums;
    let total = Row::new("total", "ms", new).beside(Some(alone));
    rows.push(total.bar(Bar::Ratio(0.5)));
    let slowest = again.into_iter().fold(0.0, f64::max);
    let known = Row::new("slowest query that was seen before", "ms", slowest);
    rows.push(known.bar(Bar::AtMost(0.3)));
    let note = "from the text of a new query to its first thread, beside DataFusion alone";
    Ok(Section::new("planning", note, rows).beside("other"))
}

/// Seconds until a query runs.
fn ours(runtime: &Runtime, session: &Session, sql: &str) -> Result<f64> {
    let start = Instant::now();
    let statement = session.parse(sql)?.pop().ok_or("no statement")?;
    let outcome = runtime.block_on(session.run(&statement))?;
    let seconds = start.elapsed().as_secs_f64();
    // What was begun ends before anything else is timed.
    if let Outcome::Rows(rows) = outcome {
        runtime.block_on(collect(rows.stream))?;
    }
    Ok(seconds)
}

/// DataFusion with some rows of each table in memory.
fn datafusion_alone(bench: &mut Bench) -> Result<SessionContext> {
    let config = SessionConfig::new().with_target_partitions(THREADS);
    let context = SessionContext::new_with_config(config);
    let files = bench.files()?;
    for table in Tpch::ALL {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(files.of(table))?)?;
        let schema = Arc::clone(reader.schema());
        let mut rows = reader.with_batch_size(ROWS).build()?;
        let first = rows.next().transpose()?.into_iter().collect();
        let rows = MemTable::try_new(schema, vec![first])?;
        context.register_table(table.name(), Arc::new(rows))?;
    }
    Ok(context)
}
