//! COMMENT ON.

use crate::support::Sql;

const ALL: &str = "SELECT c.relname, d.objsubid, d.description FROM pg_description d \
                   JOIN pg_class c ON c.oid = d.objoid";

#[test]
fn comments_are_kept_shown_and_go_with_their_parts() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT PRIMARY KEY, b TEXT, c INT CONSTRAINT pos CHECK (c > 0))");
    sql.run("CREATE INDEX by_b ON t (b)");
    for about in [
        "TABLE t IS 'the table'",
        "COLUMN t.b IS 'it''s b'",
        "COLUMN main.t.c IS 'c'",
        "CONSTRAINT pos ON t IS 'positive'",
        "CONSTRAINT t_pkey ON main.t IS 'key'",
        "INDEX by_b IS 'to find b'",
    ] {
        sql.run(&format!("COMMENT ON {about}"));
    }
    let all = ["by_b|0|to find b", "t|0|the table", "t|2|it's b", "t|3|c"];
    assert_eq!(sql.sorted(ALL), all);
    let of_constraints = "SELECT conname, obj_description(oid, 'pg_constraint') FROM pg_constraint";
    assert_eq!(sql.sorted(of_constraints), ["pos|positive", "t_pkey|key"]);
    assert_eq!(
        sql.one("SELECT col_description(oid, 2) FROM pg_class WHERE relname = 't'"),
        "it's b"
    );
    // They follow what they are about.
    sql.run("ALTER TABLE t RENAME COLUMN c TO d");
    sql.run("ALTER TABLE t DROP COLUMN b");
    assert_eq!(sql.sorted(ALL), ["t|0|the table", "t|2|c"]);
    sql.run("ALTER TABLE t DROP CONSTRAINT pos");
    sql.run("ALTER TABLE t ADD CONSTRAINT pos CHECK (d > 1)");
    assert_eq!(sql.sorted(of_constraints), ["pos|NULL", "t_pkey|key"]);
    // NULL and an empty text take them away.
    sql.run("COMMENT ON TABLE t IS NULL");
    sql.run("COMMENT ON COLUMN t.d IS ''");
    assert!(sql.sorted(ALL).is_empty());
}

#[test]
fn comments_on_what_is_not_there() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a INT)");
    sql.run("CREATE VIEW v AS SELECT a FROM t");
    for (about, state) in [
        ("TABLE nowhere IS 'x'", "42P01"),
        ("COLUMN t.b IS 'x'", "42703"),
        ("COLUMN a IS 'x'", "42601"),
        ("CONSTRAINT c ON t IS 'x'", "42704"),
        ("CONSTRAINT c ON nowhere IS 'x'", "42P01"),
        ("INDEX i IS 'x'", "42704"),
        ("VIEW v IS 'x'", "0A000"),
    ] {
        assert_eq!(sql.state(&format!("COMMENT ON {about}")), state, "{about}");
    }
    // A comment is rolled back like everything else.
    sql.run("BEGIN");
    sql.run("COMMENT ON TABLE t IS 'x'");
    sql.run("ROLLBACK");
    assert!(sql.sorted(ALL).is_empty());
}
