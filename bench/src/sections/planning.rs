//! Time of a plan for a statement that was not seen before, beside DuckDB: EXPLAIN of each query
//! of TPC-H and of a join of two tables, in turns.

use crate::bench::Bench;
use crate::pair::median;
use crate::report::{Bar, Row, Section};
use crate::{Result, ours, queries};
use freestone::{Outcome, Session};
use futures::TryStreamExt;
use std::time::Instant;
use tokio::runtime::Runtime;

/// Turns of each side with each statement.
const ROUNDS: usize = 11;

/// Plans in a turn, of a statement that differs each time.
const TURN: usize = 8;

/// A join of two tables, whose text differs by a number.
fn join(number: usize) -> String {
    format!(
        "SELECT n_name, r_name, {number} AS number FROM nation, region WHERE n_regionkey = r_regionkey"
    )
}

/// Measures the section.
///
/// # Errors
/// Those of loading and of planning.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    bench.load_both()?;
    let session = bench.session()?;
    let mut rows = Vec::new();
    let (mut sums, mut again) = ([0.0; 2], Vec::new());
    for query in 1..=queries::COUNT {
        eprintln!("planning: Q{query}");
        let sql = queries::text(query, bench.scale).ok_or("there is no such query")?;
        let unseen = |number| format!("SELECT {number} AS number, query.* FROM ({sql}) AS query");
        let [new, theirs, known] = times(bench, &session, &unseen)?;
        sums = [sums[0] + new, sums[1] + theirs];
        again.push(known);
        rows.push(row(bench, format!("Q{query}"), new, theirs));
    }
    let [new, theirs] = sums;
    rows.push(row(bench, "total".to_owned(), new, theirs).bar(Bar::Ratio(0.5)));
    let [new, theirs, _] = times(bench, &session, &join)?;
    rows.push(row(bench, "a join of two tables".to_owned(), new, theirs).bar(Bar::AtMost(0.2)));
    let slowest = again.into_iter().fold(0.0, f64::max);
    let known = Row::new(
        "slowest query that was seen before, to its first thread",
        "ms",
        slowest,
    );
    rows.push(known.bar(Bar::AtMost(0.3)));
    let note = "EXPLAIN of statements that were not seen before";
    Ok(Section::new("planning", note, rows))
}

fn row(bench: &Bench, what: String, ours: f64, theirs: f64) -> Row {
    Row::new(what, "ms", ours).beside(bench.peer.is_some().then_some(theirs))
}

/// Median milliseconds of EXPLAIN here and at the peer, of texts that were not seen before: one
/// for each number; and of a start of the query where its plan is known.
fn times(
    bench: &mut Bench,
    session: &Session,
    query: &dyn Fn(usize) -> String,
) -> Result<[f64; 3]> {
    let mut seconds = [Vec::new(), Vec::new(), Vec::new()];
    // The first turn of each warms up.
    for round in 0..=ROUNDS {
        for number in 0..TURN {
            let explain = format!("EXPLAIN {}", query(round * TURN + number));
            let begin = Instant::now();
            ours::run(&bench.runtime, session, &explain)?;
            let new = begin.elapsed().as_secs_f64();
            seconds[0].extend((round > 0).then_some(new));
        }
        for number in 0..TURN {
            let explain = format!("EXPLAIN {}", query(round * TURN + number));
            let theirs = match &mut bench.peer {
                Some(peer) => peer.run(&explain)?.seconds.iter().sum(),
                None => 0.0,
            };
            seconds[1].extend((round > 0).then_some(theirs));
        }
        let known = started(&bench.runtime, session, &query(0))?;
        seconds[2].extend((round > 0).then_some(known));
    }
    Ok(seconds.map(|all| median(&all).unwrap_or_default() * 1e3))
}

/// Seconds until a query runs.
fn started(runtime: &Runtime, session: &Session, sql: &str) -> Result<f64> {
    let begin = Instant::now();
    let statement = session.parse(sql)?.pop().ok_or("no statement")?;
    let outcome = runtime.block_on(session.run(&statement))?;
    let seconds = begin.elapsed().as_secs_f64();
    // What was begun ends before anything else is timed.
    if let Outcome::Rows(rows) = outcome {
        let all: Vec<_> = runtime.block_on(rows.stream.try_collect())?;
        drop(all);
    }
    Ok(seconds)
}
