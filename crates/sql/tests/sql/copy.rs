//! COPY in both formats, and what is said about bad files.

use std::path::PathBuf;

use crate::support::{LAYOUTS, Sql};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }
}

#[test]
fn both_formats_round_trip_every_value() {
    let folder = Folder::new();
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (a INT, b TEXT, c DECIMAL(10,2), d DATE, e TIMESTAMP, f DOUBLE PRECISION, g BOOLEAN, h BYTEA, i UUID)
             WITH (layout = '{layout}');
             INSERT INTO t VALUES
               (1, 'plain', 1.5, '2024-01-01', '2024-01-01 10:20:30.123456', 0.1, true, '\\xdead', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
               (2, '', NULL, NULL, NULL, 1e300, false, NULL, NULL),
               (3, 'quote \" comma , line\nend', -0.01, '0001-01-01', '9999-12-31 23:59:59', -2.5, NULL, '\\x', NULL),
               (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
        ));
        let all = sql.sorted("SELECT * FROM t");
        for (file, options) in [
            ("t.csv", ""),
            ("h.csv", "(HEADER, DELIMITER ';', NULL 'nil', QUOTE '''')"),
            ("t.parquet", ""),
            ("p.dat", "(FORMAT parquet)"),
        ] {
            let path = folder.path(file);
            assert_eq!(sql.run(&format!("COPY t TO '{path}' {options}")), "COPY 4");
            sql.run("CREATE OR REPLACE TABLE u (a INT, b TEXT, c DECIMAL(10,2), d DATE, e TIMESTAMP, f DOUBLE PRECISION, g BOOLEAN, h BYTEA, i UUID)");
            assert_eq!(
                sql.run(&format!("COPY u FROM '{path}' {options}")),
                "COPY 4"
            );
            assert_eq!(sql.sorted("SELECT * FROM u"), all, "{layout} {file}");
        }
    }
}

#[test]
fn queries_are_copied_and_files_queried() {
    let folder = Folder::new();
    let sql = Sql::new();
    let (csv, parquet) = (folder.path("q.csv"), folder.path("q.parquet"));
    sql.run(&format!("COPY (SELECT value AS n, 'x' || value AS s FROM generate_series(1, 1000) AS g(value)) TO '{csv}' (HEADER)"));
    sql.run(&format!(
        "COPY (SELECT value AS n, 'x' || value AS s FROM generate_series(1, 1000) AS g(value)) TO '{parquet}'"
    ));
    for path in [&csv, &parquet] {
        assert_eq!(
            sql.one(&format!("SELECT count(*), sum(n), max(s) FROM '{path}'")),
            "1000|500500|x999"
        );
    }
    assert_eq!(
        sql.rows(&format!("DESCRIBE '{parquet}'")),
        ["n|INTEGER|YES|NULL|NULL", "s|TEXT|YES|NULL|NULL"]
    );
    sql.run(&format!(
        "CREATE TABLE t AS SELECT * FROM '{parquet}' WHERE n <= 10"
    ));
    assert_eq!(sql.one("SELECT count(*) FROM t"), "10");
    sql.run("CREATE TABLE d (s TEXT, n INT, z INT DEFAULT 5)");
    sql.run(&format!(
        "COPY d (n, s) FROM '{csv}' (HEADER); COPY d (s, n) FROM '{parquet}'"
    ));
    assert_eq!(
        sql.one("SELECT count(*), sum(n), sum(z) FROM d"),
        "2000|1001000|10000"
    );
    assert_eq!(sql.state("SELECT * FROM '/nowhere/x.parquet'"), "58P01");
    assert_eq!(sql.state("COPY d FROM '/nowhere/x.csv'"), "58P01");
    assert_eq!(sql.state("COPY d TO '/nowhere/x.csv'"), "58P01");
    assert_eq!(sql.state("COPY d FROM '/nowhere/x.unknown'"), "58P01");
}

#[test]
fn bad_csv_is_placed_and_nothing_is_loaded() {
    let folder = Folder::new();
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT NOT NULL, c DATE)");
    let good = "1,x,2024-01-01\n";
    let cases: [(&[u8], &str, &[&str]); 7] = [
        (b"2,y\n", "22P04", &["line 2", "\"c\"", "missing"]),
        (b"2,y,2024-01-01,extra\n", "22P04", &["line 2", "extra"]),
        (
            b"two,y,2024-01-01\n",
            "22P02",
            &["line 2", "column \"a\"", "two"],
        ),
        (
            b"99999999999,y,\n",
            "22003",
            &["line 2", "column \"a\"", "99999999999"],
        ),
        (
            b"2,y,2024-02-30\n",
            "22008",
            &["line 2", "column \"c\"", "2024-02-30"],
        ),
        (
            b"2,\xff\xfe,\n",
            "22021",
            &["line 2", "column \"b\"", "0xff"],
        ),
        (b"2,,\n", "23502", &["line 2", "column \"b\""]),
    ];
    for (index, (bad, state, words)) in cases.into_iter().enumerate() {
        let name = format!("bad{index}.csv");
        let path = folder.write(&name, &[good.as_bytes(), bad].concat());
        let error = sql.error(&format!("COPY t FROM '{path}'"));
        assert_eq!(error.sqlstate, state, "{error}");
        assert!(error.message.contains(&name), "{error}");
        for word in words {
            assert!(error.message.contains(word), "{word}: {error}");
        }
    }
    let open = folder.write("open.csv", b"1,\"x,2024-01-01\n");
    assert_eq!(sql.state(&format!("COPY t FROM '{open}'")), "22P04");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "0");
    let path = folder.write("two.csv", b"a,b,c\r\n5,\"multi\nline\",\r\nx,y,\r\n");
    let error = sql.error(&format!("COPY t FROM '{path}' (HEADER)"));
    assert!(error.message.contains("line 4"), "{error}");
}

#[test]
fn bad_parquet_is_placed_and_nothing_is_loaded() {
    let folder = Folder::new();
    let sql = Sql::new();
    let path = folder.path("n.parquet");
    sql.run(&format!(
        "COPY (SELECT value AS a, 'text' AS b FROM generate_series(32000, 33000) AS g(value)) TO '{path}'"
    ));
    sql.run("CREATE TABLE t (a SMALLINT, b TEXT); CREATE TABLE one (a INT); CREATE TABLE flag (a BOOLEAN, b TEXT)");
    let error = sql.error(&format!("COPY t FROM '{path}'"));
    assert_eq!(error.sqlstate, "22003", "{error}");
    for word in [
        "n.parquet",
        "row group 0",
        "row 769",
        "column \"a\"",
        "32768",
    ] {
        assert!(error.message.contains(word), "{word}: {error}");
    }
    assert_eq!(sql.state(&format!("COPY one FROM '{path}'")), "22P04");
    assert_eq!(sql.state(&format!("COPY flag FROM '{path}'")), "42804");
    let broken = folder.write("broken.parquet", b"PAR1 this is no parquet PAR1");
    assert_eq!(sql.state(&format!("COPY t FROM '{broken}'")), "22P04");
    assert_eq!(sql.state(&format!("SELECT * FROM '{broken}'")), "22P04");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "0");
}

#[test]
fn the_text_format_is_that_of_files_without_a_known_name() {
    let folder = Folder::new();
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT, b TEXT, c BOOLEAN)");
    let path = folder.write(
        "t.data",
        b"1\ta\\tb\tt\n2\t\\N\tf\n3\tsay \"x\"\t\\N\n\\.\n4\tno\tt\n",
    );
    assert_eq!(sql.run(&format!("COPY t FROM '{path}'")), "COPY 3");
    let rows = ["1|a\tb|true", "2|NULL|false", "3|say \"x\"|NULL"];
    assert_eq!(sql.rows("SELECT * FROM t ORDER BY a"), rows);
    let bars = folder.write("t.csv", b"5|nil|f");
    let options = "(FORMAT text, DELIMITER '|', NULL 'nil')";
    assert_eq!(
        sql.run(&format!("COPY t FROM '{bars}' {options}")),
        "COPY 1"
    );
    assert_eq!(sql.one("SELECT b IS NULL FROM t WHERE a = 5"), "true");
    let out = folder.path("out");
    let query = "(SELECT * FROM t WHERE a < 3 ORDER BY a)";
    assert_eq!(sql.run(&format!("COPY {query} TO '{out}'")), "COPY 2");
    let text = std::fs::read_to_string(&out).unwrap();
    assert_eq!(text, "1\ta\\tb\tt\n2\t\\N\tf\n");
    sql.run(&format!("COPY t TO '{out}' WITH CSV HEADER"));
    assert!(
        std::fs::read_to_string(&out)
            .unwrap()
            .starts_with("a,b,c\n")
    );
    let short = folder.write("short", b"1\ta\n");
    assert_eq!(sql.state(&format!("COPY t FROM '{short}'")), "22P04");
}

#[test]
fn options_are_checked() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT)");
    for (options, state) in [
        ("(FORMAT orc)", "22023"),
        ("(DELIMITER ',,')", "42601"),
        ("(DELIMITER '\"')", "22023"),
        ("(NULL ',')", "22023"),
        ("(FORMAT parquet, HEADER)", "42601"),
        ("(ENCODING 'latin1')", "0A000"),
        ("(NOSUCH 1)", "42601"),
    ] {
        assert_eq!(
            sql.state(&format!("COPY t FROM 'x.csv' {options}")),
            state,
            "{options}"
        );
    }
    assert_eq!(sql.state("COPY t FROM STDIN"), "0A000");
}
