//! Tables of which no block has rows of two ranges of a column.

use crate::support::{LAYOUTS, Sql};

/// How many blocks a query reads, and how many its zone maps rule out.
fn blocks(sql: &Sql, query: &str) -> (u64, u64) {
    let plan = sql.rows(&format!("EXPLAIN ANALYZE {query}")).join("\n");
    let number = |name: &str| -> u64 {
        let (_, rest) = plan.split_once(&format!("{name}=")).unwrap();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
        rest[..end].parse().unwrap()
    };
    (number("blocks_read"), number("blocks_pruned"))
}

fn filled(options: &str) -> Sql {
    let sql = Sql::new();
    sql.run(&format!(
        "CREATE TABLE t (k INT, day INT, city TEXT) WITH ({options}); \
         INSERT INTO t SELECT value, value * 7919 % 1000, 'city ' || value * 31 % 700 \
         FROM generate_series(1, 60000) AS g(value); VACUUM t"
    ));
    sql
}

#[test]
fn ranges_share_no_block() {
    for layout in LAYOUTS {
        let sql = filled(&format!(
            "layout = '{layout}', partition_by = 'range(day, 8)'"
        ));
        let query = "SELECT count(*), sum(k) FROM t WHERE day BETWEEN 300 AND 340";
        let expected = sql.rows("SELECT count(*), sum(k) FROM t WHERE day + 0 BETWEEN 300 AND 340");
        assert_eq!(sql.rows(query), expected);
        let (read, pruned) = blocks(&sql, query);
        assert!(
            read <= 2 && pruned >= 6,
            "{layout}: {read} read, {pruned} pruned"
        );
        // A range that is deleted takes its blocks with it.
        sql.run("DELETE FROM t WHERE day < 250; VACUUM t");
        let (read, _) = blocks(&sql, "SELECT sum(k) FROM t");
        assert!((6..=7).contains(&read), "{layout}: {read}");
    }
}

#[test]
fn ranges_lie_beside_the_order_of_another_column() {
    let sql = filled("partition_by = 'range(day, 4)', sort_by = 'k'");
    let both = "SELECT city FROM t WHERE day = 77 AND k < 2000 ORDER BY k";
    let plain = "SELECT city FROM t WHERE day + 0 = 77 AND k + 0 < 2000 ORDER BY k";
    assert_eq!(sql.rows(both), sql.rows(plain));
    let (read, pruned) = blocks(&sql, both);
    assert_eq!((read, pruned), (1, 3));
    sql.run("ALTER TABLE t SET (partition_by = 'range(city, 16)')");
    let (read, _) = blocks(&sql, "SELECT k FROM t WHERE city = 'city 5'");
    assert_eq!(read, 1);
    sql.run("ALTER TABLE t SET (partition_by = '')");
    let (read, _) = blocks(&sql, "SELECT sum(k) FROM t WHERE day = 5");
    assert_eq!(read, 1, "one block has room for all");
}

#[test]
fn rows_that_change_go_to_their_range() {
    let sql = filled("partition_by = 'range(day, 8)'");
    sql.run("UPDATE t SET day = 999 - day WHERE k % 10 = 0; INSERT INTO t VALUES (0, NULL, NULL)");
    let sums = "SELECT count(*), sum(day), count(day), sum(k) FROM t";
    let before = sql.rows(sums);
    sql.run("VACUUM t");
    assert_eq!(sql.rows(sums), before);
    let (read, _) = blocks(&sql, "SELECT sum(k) FROM t WHERE day = 501");
    assert_eq!(read, 1);
    sql.run("ALTER TABLE t RENAME COLUMN day TO \"the day\"");
    let (read, _) = blocks(&sql, "SELECT sum(k) FROM t WHERE \"the day\" = 501");
    assert_eq!(read, 1);
    sql.run("UPDATE t SET \"the day\" = \"the day\" + 5; VACUUM t");
    assert_eq!(
        sql.one("SELECT count(*) FROM t WHERE \"the day\" < 505"),
        "30000"
    );
    sql.run("ALTER TABLE t DROP COLUMN \"the day\"; VACUUM t");
    assert_eq!(sql.one("SELECT count(*) FROM t"), "60001");
}

#[test]
fn wrong_ranges_say_why() {
    let sql = Sql::new();
    for by in [
        "day",
        "range(day)",
        "range(day, 1)",
        "range(day, 1000)",
        "hash(day, 4)",
    ] {
        let error = sql.error(&format!(
            "CREATE TABLE t (day INT) WITH (partition_by = '{by}')"
        ));
        assert_eq!(error.sqlstate, "22023", "{by}");
        assert!(error.hint.unwrap().contains("range(column, n)"), "{by}");
    }
    let none = "CREATE TABLE t (day INT) WITH (partition_by = 'range(month, 4)')";
    assert_eq!(sql.state(none), "42703");
}
