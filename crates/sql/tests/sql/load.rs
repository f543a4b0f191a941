//! `Database::load`, snapshots, and databases on disk.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
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
    sql.run("CREATE TABLE t (a INT); INSERT INTO t SELECT value FROM generate_series(1, 100000)");
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
