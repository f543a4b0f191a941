//! `Database::load`, snapshots, and databases on disk.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use freestone::{Database, Error, Progress, Result};

use crate::support::{LAYOUTS, Sql};

fn batch(from: i64, rows: i64) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(from..from + rows));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(
        (from..from + rows).map(|n| format!("t{n}")),
    ));
    RecordBatch::try_from_iter([("id", ids), ("text", texts)]).unwrap()
}

type Source = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Values of each type in the order of a table that is sorted by it, NULLs last.
const SORTED: [(&str, &str); 14] = [
    ("BOOLEAN", "g % 2 = 0"),
    ("SMALLINT", "g % 1000"),
    ("BIGINT", "g * 5000000000"),
    ("REAL", "g % 1000 - 500"),
    ("DOUBLE PRECISION", "g / 7.0"),
    (
        "DECIMAL(30,5)",
        "(500 - g % 1000) * 12345678901234567890.12345",
    ),
    ("DATE", "date '2020-01-01' + g % 1000"),
    ("TIME", "time '00:00' + g * interval '1 second'"),
    (
        "TIMESTAMP",
        "timestamp '2020-01-01' - g * interval '1 hour'",
    ),
    (
        "TIMESTAMPTZ",
        "timestamptz '2020-01-01 00:00+00' - g * interval '1 hour'",
    ),
    ("INTERVAL", "(g % 1000 - 500) * interval '1 hour'"),
    ("TEXT", "md5(g::text)"),
    ("UUID", "md5(g::text)::uuid"),
    ("BYTEA", "decode(md5(g::text), 'hex')"),
];

#[test]
fn rows_are_written_in_the_order_of_a_column() {
    for (ty, value) in SORTED {
        let sql = Sql::new();
        sql.run(&format!(
            "SET threads = 1; CREATE TABLE t (a {ty}) WITH (sort_by = 'a');
             INSERT INTO t SELECT CASE WHEN g % 11 > 0 THEN {value} END
             FROM generate_series(1, 12000) AS g"
        ));
        let written = sql.rows_of_one_engine("SELECT a FROM t");
        assert_eq!(written.len(), 12_000, "{ty}");
        let sorted = sql.rows_of_one_engine("SELECT a FROM t ORDER BY a");
        assert!(written == sorted, "{ty}");
    }
}

#[test]
fn loads_from_several_threads_or_not_at_all() {
    for options in LAYOUTS
        .map(|l| format!("layout = '{l}'"))
        .into_iter()
        .chain(["sort_by = 'id'".to_owned()])
    {
        let database = Database::in_memory();
        let sql = Sql::on(&database);
        sql.run(&format!(
            "CREATE TABLE t (id INT NOT NULL, s TEXT) WITH ({options})"
        ));
        let source = |from: i64| -> Source {
            Box::new((0..10).map(move |n| Ok(batch(from + n * 100, 100))))
        };
        let progress = Progress::default();
        progress.add_total(2000);
        let rows = database
            .load("main", "t", vec![source(0), source(1000)], &progress)
            .unwrap();
        assert_eq!(rows, 2000);
        assert_eq!(progress.fraction(), Some(1.0));
        assert_eq!(
            sql.one("SELECT count(*), count(DISTINCT s), max(id) FROM t"),
            "2000|2000|1999"
        );
        let failing: Source = Box::new(
            (0..5)
                .map(|n| Ok(batch(n * 100, 100)))
                .chain([Err(Error::internal("stop"))]),
        );
        let error = database
            .load("main", "t", vec![source(5000), failing], &progress)
            .unwrap_err();
        assert_eq!(error.message, "stop");
        assert_eq!(sql.one("SELECT count(*) FROM t"), "2000");
    }
    let database = Database::in_memory();
    assert_eq!(
        database
            .load("main", "nosuch", vec![], &Progress::default())
            .unwrap_err()
            .sqlstate,
        "42P01"
    );
}

#[test]
fn a_database_on_disk_is_reopened() {
    let folder = tempfile::tempdir().unwrap();
    {
        let database = Database::open(folder.path()).unwrap();
        let sql = Sql::on(&database);
        sql.run("CREATE TABLE t (a INT, b TEXT); INSERT INTO t VALUES (1, 'x'); CREATE VIEW v AS SELECT a FROM t");
    }
    {
        let sql = Sql::on(&Database::open_existing(folder.path()).unwrap());
        assert_eq!(sql.one("SELECT a FROM v"), "1");
    }
    let sql = Sql::on(&Database::open_read_only(folder.path()).unwrap());
    assert_eq!(sql.one("SELECT b FROM t"), "x");
    assert_eq!(sql.state("INSERT INTO t VALUES (2, 'y')"), "25006");
    assert!(Database::open_existing(folder.path().join("nosuch")).is_err());
}

#[test]
fn readers_keep_their_snapshot() {
    let database = Database::in_memory();
    let sql = Sql::on(&database);
    sql.run("CREATE TABLE t (a INT); INSERT INTO t SELECT value FROM generate_series(1, 100000) AS g(value)");
    let runtime = crate::support::runtime();
    let statement = sql.session.parse("SELECT a FROM t").unwrap().remove(0);
    let outcome = runtime.block_on(sql.session.run(&statement)).unwrap();
    sql.run("DROP TABLE t");
    let freestone::Outcome::Rows(rows) = outcome else {
        panic!()
    };
    let rows: usize = runtime.block_on(async {
        use futures::TryStreamExt;
        let batches: Vec<RecordBatch> = rows.stream.try_collect().await.unwrap();
        batches.iter().map(RecordBatch::num_rows).sum()
    });
    assert_eq!(rows, 100_000);
}

#[test]
fn a_result_that_is_read_late_shows_its_moment() {
    use futures::StreamExt;
    const ROWS: usize = 1_500_000;
    for engine in ["auto", "bulk"] {
        let database = Database::in_memory();
        let (reader, writer) = (Sql::on(&database), Sql::on(&database));
        writer.run(&format!(
            "CREATE TABLE t WITH (layout = 'column', block_bytes = '256KiB') \
             AS SELECT value AS k, CAST(1 AS BIGINT) AS v FROM generate_series(1, {ROWS}) AS g(value)"
        ));
        reader.run(&format!("SET freestone.engine = '{engine}'"));
        let runtime = crate::support::runtime();
        let statement = reader.session.parse("SELECT k, v FROM t").unwrap();
        let outcome = runtime.block_on(reader.session.run(&statement[0]));
        let Ok(freestone::Outcome::Rows(mut rows)) = outcome else {
            panic!("a query gives rows")
        };
        let mut found = Vec::new();
        found.extend(runtime.block_on(rows.stream.next()));
        // What the second deletes lets the first be forgotten, unless somebody sees it.
        for rest in 7..10 {
            let update = format!("UPDATE t SET v = v + 1 WHERE k % 1000 = {rest}");
            assert_eq!(writer.run(&update), "UPDATE 1500");
        }
        found.extend(runtime.block_on(rows.stream.collect::<Vec<_>>()));
        let batches: Vec<RecordBatch> = found.into_iter().map(|batch| batch.unwrap()).collect();
        let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(count, ROWS, "{engine}");
        let sums = batches.iter().map(|batch| {
            arrow::compute::sum(
                batch
                    .column(1)
                    .as_primitive::<arrow::datatypes::Int64Type>(),
            )
        });
        assert_eq!(sums.flatten().sum::<i64>(), ROWS as i64, "{engine}");
    }
}
