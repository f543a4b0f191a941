//! Single rows and many: look-ups, durable changes, changes beside queries.
//!
//! SQLite is in this process as Freestone is, with its table's key as its row id
//! (its fastest way), `journal_mode = WAL` and `synchronous = FULL`: a commit that
//! is acknowledged survives power loss on both sides.

use crate::Result;
use crate::bench::Bench;
use crate::ours;
use crate::pair::median;
use crate::report::{Bar, Row, Section};
use crate::schema::Table as Tpch;
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use freestone::{Database, Parameter, Prepared, Session};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// Statements of each kind on each side.
const STATEMENTS: usize = 2_000;
/// Statements of a kind before the other side's turn.
const TURN: usize = 25;
/// Seconds of queries, alone and beside updates, and turns of both.
const SECONDS: u64 = 2;
const TURNS: usize = 5;
/// Updates a second beside queries.
const UPDATES: u64 = 5_000;
/// Rows of the bulk update.
const BULK: i64 = 1_000_000;
/// Tables that are updated so.
const BULK_RUNS: usize = 5;
/// Before the first update the table has been read once, as before any other figure.
const READ: &str = "SELECT sum(o_orderkey), sum(o_totalprice) FROM bulk";
/// Leaves versions of rows everywhere in the table.
const CHANGE_SOME: &str =
    "UPDATE bulk SET o_shippriority = o_shippriority + 1 WHERE o_orderkey % 32 = 7";

/// Measures the section.
///
/// # Errors
/// Those of loading and of the statements.
pub fn measure(bench: &mut Bench) -> Result<Section> {
    eprintln!("write: loading");
    let (place, database) = orders(bench, "freestone-write")?;
    let session = database.session();
    let (_, batches) = ours::run(&bench.runtime, &session, "SELECT * FROM orders")?;
    let sqlite_place = bench.place("sqlite.db");
    let mut theirs = sqlite(&sqlite_place, &batches)?;
    let keys = keys(&batches);
    drop(batches);
    let mut rows = Vec::new();
    eprintln!("write: single rows");
    rows.push(look_ups(&session, &theirs, &keys)?);
    rows.extend(changes(&session, &mut theirs, &keys)?);
    drop(theirs);
    eprintln!("write: many rows");
    rows.extend(bulk(bench, &session)?);
    eprintln!("write: queries beside updates");
    rows.push(beside(bench, &database, &keys)?);
    drop((session, database));
    std::fs::remove_dir_all(place)?;
    remove_sqlite(&sqlite_place);
    let note = "orders, layout row; the peer is SQLite for single rows, DuckDB for many, \
                Freestone alone for the last";
    Ok(Section::new("write", note, rows))
}

/// A database of its own with the orders as rows, and its folder.
pub(super) fn orders(bench: &mut Bench, name: &str) -> Result<(PathBuf, Database)> {
    let place = bench.place(name);
    if place.exists() {
        std::fs::remove_dir_all(&place)?;
    }
    let database = Database::open(&place)?;
    let session = database.session();
    let file = bench.files()?.of(Tpch::Orders);
    let columns = Tpch::Orders.columns();
    let columns = columns.replacen("NOT NULL", "PRIMARY KEY", 1);
    let create = format!("CREATE TABLE orders ({columns}) WITH (layout = 'row')");
    bench.runtime.block_on(session.execute(&create))?;
    let copy = format!("COPY orders FROM {}", crate::peer::quoted(&file));
    bench.runtime.block_on(session.execute(&copy))?;
    Ok((place, database))
}

/// A table like ours in SQLite.
fn sqlite(place: &Path, batches: &[arrow::array::RecordBatch]) -> Result<Connection> {
    remove_sqlite(place);
    let mut connection = Connection::open(place)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -1000000; \
         CREATE TABLE orders (o_orderkey INTEGER PRIMARY KEY, o_custkey INTEGER, \
         o_orderstatus TEXT, o_totalprice INTEGER, o_orderdate TEXT, o_orderpriority TEXT, \
         o_clerk TEXT, o_shippriority INTEGER, o_comment TEXT)",
    )?;
    let transaction = connection.transaction()?;
    {
        let sql = "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let mut insert = transaction.prepare(sql)?;
        for batch in batches {
            for row in ours::cells(std::slice::from_ref(batch))? {
                let cells = row.iter().map(|cell| cell.as_deref().unwrap_or_default());
                let values: Vec<rusqlite::types::Value> = cells
                    .enumerate()
                    .map(|(column, text)| value(column, text))
                    .collect();
                insert.execute(rusqlite::params_from_iter(values))?;
            }
        }
    }
    transaction.commit()?;
    Ok(connection)
}

/// Keys and counts are integers, a price its cents, all else text.
fn value(column: usize, text: &str) -> rusqlite::types::Value {
    let digits = || text.replace('.', "").parse().unwrap_or_default();
    match column {
        0 | 1 | 3 | 7 => rusqlite::types::Value::Integer(digits()),
        _ => rusqlite::types::Value::Text(text.to_string()),
    }
}

fn remove_sqlite(place: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = place.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}

/// Keys in an order that is random but the same in every run.
pub(super) fn keys(batches: &[arrow::array::RecordBatch]) -> Vec<i64> {
    let columns = batches.iter().map(|batch| batch.column(0));
    let mut all: Vec<i64> = columns
        .filter_map(|column| column.as_primitive_opt::<Int64Type>())
        .flat_map(|column| column.values().iter().copied())
        .collect();
    all.sort_unstable();
    let mut state = 7u64;
    for place in (1..all.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        all.swap(place, (state >> 33) as usize % (place + 1));
    }
    all
}

/// The median of what `run` takes for each of some keys, in microseconds.
fn each(keys: &[i64], mut run: impl FnMut(i64) -> Result<()>) -> Result<f64> {
    let mut seconds = Vec::with_capacity(keys.len());
    for key in keys {
        let start = Instant::now();
        run(*key)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(median(&seconds).unwrap_or_default() * 1e6)
}

/// Runs what waits for nothing but the disk, on this thread.
pub(super) fn now<T>(
    runtime: &Runtime,
    future: impl Future<Output = freestone::Result<T>>,
) -> Result<T> {
    Ok(runtime.block_on(future)?)
}

pub(super) fn single() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

fn look_ups(session: &Session, theirs: &Connection, keys: &[i64]) -> Result<Row> {
    let prepared = session.prepare("SELECT * FROM orders WHERE o_orderkey = $1")?;
    let runtime = single()?;
    let find = |key: i64| {
        let rows = now(&runtime, prepared.rows(session, &[key.into()]))?;
        match rows.len() {
            1 => Ok(()),
            count => Err(format!("key {key} has {count} rows").into()),
        }
    };
    let mut statement = theirs.prepare("SELECT * FROM orders WHERE o_orderkey = ?")?;
    let mut find_theirs = |key: i64| {
        let row = statement.query_row([key], |row| {
            let values = (0..9).map(|column| row.get::<_, rusqlite::types::Value>(column));
            values.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        match row.len() {
            9 => Ok(()),
            _ => Err("a row without its columns".into()),
        }
    };
    let keys = &keys[..STATEMENTS * 10];
    let (mut ours, mut other) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        ours.push(each(keys, find)?);
        other.push(each(keys, &mut find_theirs)?);
    }
    let row = Row::new(
        "prepared look-up of a row",
        "µs",
        median(&ours).unwrap_or_default(),
    );
    Ok(row.beside(median(&other)).bar(Bar::Ratio(1.0)))
}

/// Durable updates and inserts of single rows.
fn changes(session: &Session, theirs: &mut Connection, keys: &[i64]) -> Result<Vec<Row>> {
    let runtime = single()?;
    let sql = "UPDATE orders SET o_shippriority = $2 WHERE o_orderkey = $1";
    let update = session.prepare(sql)?;
    let columns = "1, 'O', 17.5, '1996-01-02', '5-LOW', 'Clerk#000000951', 0, 'inserted'";
    let insert = session.prepare(&format!("INSERT INTO orders VALUES ($1, {columns})"))?;
    let run = |prepared: &Prepared, values: &[Parameter]| {
        now(&runtime, prepared.run(session, values)).map(drop)
    };
    let mut their_update =
        theirs.prepare("UPDATE orders SET o_shippriority = ? WHERE o_orderkey = ?")?;
    let their_columns = columns.replace("17.5", "1750");
    let mut their_insert =
        theirs.prepare(&format!("INSERT INTO orders VALUES (?, {their_columns})"))?;
    let new = keys.iter().max().copied().unwrap_or_default();
    let (mut updates, mut inserts) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    // Short turns: a disk that slows down for a second does so for both.
    for (round, some) in keys[..STATEMENTS].chunks(TURN).enumerate() {
        let start = round * TURN;
        let number = round as i64;
        updates.0.push(each(some, |key| {
            run(&update, &[key.into(), number.into()])
        })?);
        updates.1.push(each(some, |key| {
            Ok(their_update.execute([number, key]).map(drop)?)
        })?);
        let fresh: Vec<i64> = (0..some.len())
            .map(|place| new + 1 + (start + place) as i64)
            .collect();
        inserts
            .0
            .push(each(&fresh, |key| run(&insert, &[key.into()]))?);
        inserts.1.push(each(&fresh, |key| {
            Ok(their_insert.execute([key]).map(drop)?)
        })?);
    }
    let row = |what: &str, (ours, theirs): (Vec<f64>, Vec<f64>)| {
        let row = Row::new(what, "µs", median(&ours).unwrap_or_default());
        row.beside(median(&theirs)).bar(Bar::Ratio(1.0))
    };
    Ok(vec![
        row("durable update of a row", updates),
        row("durable insert of a row", inserts),
    ])
}

/// Updates of a million rows, of tables freshly loaded and of tables of which some
/// rows were changed before, the same ones on both sides.
fn bulk(bench: &mut Bench, session: &Session) -> Result<Vec<Row>> {
    let find = format!(
        "SELECT o_orderkey FROM orders ORDER BY o_orderkey LIMIT 1 OFFSET {}",
        BULK - 1
    );
    let (_, found) = ours::run(&bench.runtime, session, &find)?;
    let last = ours::cells(&found)?;
    let last = last.first().and_then(|row| row.first().cloned().flatten());
    let last = last.ok_or("the table is too small for the bulk update")?;
    let file = crate::peer::quoted(&bench.files()?.of(Tpch::Orders));
    let update =
        format!("UPDATE bulk SET o_totalprice = o_totalprice + 1 WHERE o_orderkey <= {last}");
    bench.load_both()?;
    let columns = Tpch::Orders
        .columns()
        .replacen("NOT NULL", "PRIMARY KEY", 1);
    let (mut ours, mut theirs) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..BULK_RUNS {
        if let Some(peer) = &mut bench.peer {
            peer.run(&format!(
                "CREATE OR REPLACE TABLE bulk AS SELECT * FROM read_parquet({file})"
            ))?;
            peer.run(READ)?;
            theirs[0].push(peer.run(&update)?.seconds.iter().sum::<f64>());
            peer.run(CHANGE_SOME)?;
            theirs[1].push(peer.run(&update)?.seconds.iter().sum::<f64>());
            peer.run("DROP TABLE bulk")?;
        }
        let create = format!("CREATE TABLE bulk ({columns}) WITH (layout = 'row')");
        for sql in [create, format!("COPY bulk FROM {file}")] {
            bench.runtime.block_on(session.execute(&sql))?;
        }
        ours::run(&bench.runtime, session, READ)?;
        ours[0].push(ours::run(&bench.runtime, session, &update)?.0);
        bench.runtime.block_on(session.execute(CHANGE_SOME))?;
        ours[1].push(ours::run(&bench.runtime, session, &update)?.0);
        bench.runtime.block_on(session.execute("DROP TABLE bulk"))?;
    }
    let row = |what: String, which: usize| {
        let row = Row::new(what, "s", median(&ours[which]).unwrap_or_default());
        row.beside(median(&theirs[which]))
    };
    Ok(vec![
        row(format!("update of {BULK} rows"), 0).bar(Bar::Ratio(1.0)),
        row("the same after updates of one row in 32".to_owned(), 1),
    ])
}

/// A query alone, and while rows are updated, in turns: the machine is faster at times.
fn beside(bench: &Bench, database: &Database, keys: &[i64]) -> Result<Row> {
    let session = database.session();
    let sql = "SELECT o_orderpriority, count(*), sum(o_totalprice) FROM orders \
               WHERE o_orderdate >= DATE '1994-01-01' GROUP BY o_orderpriority";
    let query = || -> Result<f64> {
        let mut seconds = Vec::new();
        let start = Instant::now();
        while start.elapsed().as_secs() < SECONDS {
            seconds.push(ours::run(&bench.runtime, &session, sql)?.0);
        }
        Ok(median(&seconds).unwrap_or_default())
    };
    let mut ratios = Vec::new();
    for _ in 0..TURNS {
        bench.runtime.block_on(session.execute("VACUUM orders"))?;
        let alone = query()?;
        let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
        let (busy, rate) = std::thread::scope(|scope| {
            let start = Instant::now();
            let update = || updates(database, keys, &stop, &done);
            let writer = scope.spawn(move || update().map_err(|error| error.to_string()));
            let busy = query();
            stop.store(true, Ordering::Relaxed);
            let rate = done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
            writer.join().map_err(|_| "the writer panicked")??;
            busy.map(|busy| (busy, rate))
        })?;
        eprintln!(
            "write: query {:.1} ms alone, {:.1} ms beside {rate:.0} updates a second",
            alone * 1e3,
            busy * 1e3
        );
        ratios.push(busy / alone);
    }
    let what = format!("query beside {UPDATES} updates a second, over alone");
    Ok(Row::new(what, "x", median(&ratios).unwrap_or_default()).bar(Bar::AtMost(1.2)))
}

/// Updates so many rows a second, a hundredth of them in one transaction.
fn updates(database: &Database, keys: &[i64], stop: &AtomicBool, done: &AtomicU64) -> Result<()> {
    let (session, runtime) = (database.session(), single()?);
    let sql = "UPDATE orders SET o_shippriority = o_shippriority + 1 WHERE o_orderkey = $1";
    let update = session.prepare(sql)?;
    let start = Instant::now();
    for batch in keys.chunks(UPDATES as usize / 100) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        now(&runtime, session.execute("BEGIN"))?;
        for key in batch {
            now(&runtime, update.run(&session, &[(*key).into()]))?;
        }
        now(&runtime, session.execute("COMMIT"))?;
        let count = done.fetch_add(batch.len() as u64, Ordering::Relaxed);
        let due = Duration::from_secs_f64(count as f64 / UPDATES as f64);
        std::thread::sleep(due.saturating_sub(start.elapsed()));
    }
    Ok(())
}
