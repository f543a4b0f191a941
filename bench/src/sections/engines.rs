//! The 22 queries of TPC-H beside other engines than DuckDB alone.

use super::tpch::totals;
use crate::bench::Bench;
use crate::engine::Engine;
use crate::pair::{Theirs, Turns};
use crate::peer::Peer;
use crate::report::{Bar, Row, Section};
use crate::{Result, queries};

/// Seconds that a query of another engine may take; one that takes longer counts so.
const LIMIT: u64 = 60;

/// The foreign keys that are not the beginning of a key, as `peers/common.py` has them:
/// engines that store rows get an index on each.
const INDEXES: [(&str, &str); 7] = [
    ("nation", "n_regionkey"),
    ("supplier", "s_nationkey"),
    ("customer", "c_nationkey"),
    ("partsupp", "ps_suppkey"),
    ("orders", "o_custkey"),
    ("lineitem", "l_partkey, l_suppkey"),
    ("lineitem", "l_suppkey"),
];

/// A query's best seconds of Freestone, and what each peer did.
type Times = (f64, Vec<Theirs>);

/// Measures the section `hyper`: the total beside the better of two at each query.
///
/// # Errors
/// Those of loading and of Freestone's queries.
pub fn hyper(bench: &mut Bench) -> Result<Section> {
    let (Some(mut hyper), true) = (bench.load_peer(Engine::Hyper, LIMIT)?, bench.peer.is_some())
    else {
        let note = "left out: it needs both DuckDB and Hyper";
        return Ok(Section::new("hyper", note, Vec::new()).beside("other"));
    };
    bench.load_both()?;
    let session = bench.session()?;
    let turns = Turns {
        runtime: &bench.runtime,
        session: &session,
        rounds: bench.rounds,
    };
    let duckdb = bench.peer.iter_mut();
    let mut peers: Vec<&mut Peer> = duckdb.chain([&mut hyper]).collect();
    let times = all(turns, "hyper", bench.scale, &mut peers)?;
    let mut rows = beside_each(&times, &[Engine::DuckDb, Engine::Hyper], None);
    rows.push(beside_better(&times).bar(Bar::Ratio(0.7)));
    let note = format!("the 22 queries, warm, beside DuckDB and {}", hyper.name());
    bench.end_peer(hyper)?;
    Ok(Section::new("hyper", &note, rows).beside("other"))
}

/// Measures the section `rows`: layout `row` beside engines that store rows.
///
/// # Errors
/// Those of loading and of Freestone's queries.
pub fn rows(bench: &mut Bench) -> Result<Section> {
    let (mut others, mut missing) = (Vec::new(), String::new());
    for engine in [Engine::Postgres, Engine::Sqlite] {
        match bench.load_peer(engine, LIMIT)? {
            Some(peer) => others.push(peer),
            None => missing += &format!("; {engine} is left out"),
        }
    }
    let (note, rows) = match others.is_empty() {
        true => ("not measured".to_owned(), Vec::new()),
        false => beside_rows(bench, others)?,
    };
    Ok(Section::new("rows", &(note + &missing), rows).beside("other"))
}

/// Loads layout `row` and runs all queries; what they are and the rows.
fn beside_rows(bench: &mut Bench, mut others: Vec<Peer>) -> Result<(String, Vec<Row>)> {
    let place = "freestone-row";
    let (database, _) = bench.load_ours(place, "layout = 'row'")?;
    let session = bench.session_on(&database)?;
    for (table, column) in INDEXES {
        let create = format!("CREATE INDEX ON {table} ({column})");
        bench.runtime.block_on(session.execute(&create))?;
    }
    let turns = Turns {
        runtime: &bench.runtime,
        session: &session,
        rounds: bench.rounds,
    };
    let mut peers: Vec<&mut Peer> = others.iter_mut().collect();
    let times = all(turns, "rows", bench.scale, &mut peers)?;
    drop((session, database));
    std::fs::remove_dir_all(bench.place(place))?;
    let engines: Vec<Engine> = others.iter().map(Peer::engine).collect();
    let names: Vec<String> = others.iter().map(Peer::name).collect();
    for peer in others {
        bench.end_peer(peer)?;
    }
    let names = names.join(" and ");
    let note = format!("the 22 queries, warm, layout row beside {names}");
    Ok((note, beside_each(&times, &engines, Some(Bar::Ratio(1.0)))))
}

/// Runs all queries.
fn all(turns: Turns<'_>, section: &str, scale: f64, peers: &mut [&mut Peer]) -> Result<Vec<Times>> {
    let run = |query: usize| -> Result<Times> {
        eprintln!("{section}: Q{query}");
        let sql = queries::text(query, scale).ok_or("there is no such query")?;
        turns.run(&sql, peers)
    };
    (1..=queries::COUNT).map(run).collect()
}

/// All queries beside each engine in turn, and their total; a bar is for each query.
fn beside_each(times: &[Times], engines: &[Engine], bar: Option<Bar>) -> Vec<Row> {
    let mut all = Vec::new();
    for (number, engine) in engines.iter().enumerate() {
        let row = |(query, (ours, theirs)): (usize, &Times)| {
            let theirs = theirs.get(number);
            let stopped = match theirs.is_some_and(|theirs| theirs.timed_out) {
                true => ", stopped",
                false => "",
            };
            let mut row = milliseconds(*ours, theirs.and_then(Theirs::best));
            row.what = format!("Q{query} beside {engine}{stopped}");
            row.problem = theirs.and_then(|theirs| theirs.problem.clone());
            row.bar = bar;
            row
        };
        let rows: Vec<Row> = (1..).zip(times).map(row).collect();
        let (mut total, mut mean) = totals(&rows);
        for sum in [&mut total, &mut mean] {
            sum.what = format!("{} beside {engine}", sum.what);
        }
        all.extend(rows);
        all.extend([total, mean]);
    }
    all
}

/// The total beside the better time of each query; none of theirs unless all
/// engines ran all of them.
fn beside_better(times: &[Times]) -> Row {
    let better = |theirs: &[Theirs]| {
        let times: Option<Vec<f64>> = theirs.iter().map(Theirs::best).collect();
        times?.into_iter().min_by(f64::total_cmp)
    };
    let row = |(ours, theirs): &Times| milliseconds(*ours, better(theirs));
    let rows: Vec<Row> = times.iter().map(row).collect();
    let (mut total, _) = totals(&rows);
    total.what = "total beside the better of each query".to_owned();
    total
}

/// A row of two times in seconds.
fn milliseconds(ours: f64, theirs: Option<f64>) -> Row {
    Row::new("", "ms", ours * 1e3).beside(theirs.map(|seconds| seconds * 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_of_each_query_counts() {
        let times = |pairs: &[[f64; 2]]| -> Vec<Times> {
            let theirs = |pair: &[f64; 2]| (1.0, Vec::from(pair.map(Theirs::of)));
            pairs.iter().map(theirs).collect()
        };
        let total = beside_better(&times(&[[3.0, 2.0], [1.0, 4.0]]));
        assert_eq!((total.freestone, total.peer), (2e3, Some(3e3)));
        let rows = beside_each(
            &times(&[[3.0, 2.0]]),
            &[Engine::DuckDb, Engine::Hyper],
            None,
        );
        let named: Vec<_> = rows
            .iter()
            .map(|row| (row.what.as_str(), row.peer))
            .collect();
        assert_eq!(named[0], ("Q1 beside DuckDB", Some(3e3)));
        assert_eq!(named[4], ("total beside Hyper", Some(2e3)));
    }
}
