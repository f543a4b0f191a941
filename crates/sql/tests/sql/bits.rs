//! Bit strings in tables: BIT and BIT VARYING.

use crate::support::{LAYOUTS, Sql};

#[test]
fn columns_hold_them_on_every_layout() {
    for layout in LAYOUTS {
        let sql = Sql::new();
        sql.run(&format!(
            "CREATE TABLE t (n integer, b bit(4), c bit varying, d varbit(3), f bit(2)[]) \
             WITH (layout = '{layout}')"
        ));
        sql.run(
            "INSERT INTO t VALUES (1, B'1010', X'1F', '101', '{10,01}'), (2, 'xA', '', NULL, NULL)",
        );
        sql.run("INSERT INTO t SELECT 3, 5::bit(4), b'1', B'1'::varbit, ARRAY[B'11', NULL]");
        sql.run("INSERT INTO t (n, c) SELECT n + 3, c || B'0' FROM t");
        assert_eq!(
            sql.rows("SELECT * FROM t ORDER BY n"),
            [
                "1|1010|00011111|101|{10,01}",
                "2|1010||NULL|NULL",
                "3|0101|1|1|{11,NULL}",
                "4|NULL|000111110|NULL|NULL",
                "5|NULL|0|NULL|NULL",
                "6|NULL|10|NULL|NULL",
            ],
            "{layout}"
        );
        assert_eq!(
            sql.rows("SELECT n FROM t WHERE b = B'1010' OR c > b'1' ORDER BY n"),
            ["1", "2", "6"]
        );
        assert_eq!(
            sql.rows("SELECT n FROM t ORDER BY c, n"),
            ["2", "5", "1", "4", "3", "6"]
        );
        assert_eq!(
            sql.one("SELECT bit_and(b), bit_or(b), bit_xor(b), count(DISTINCT b) FROM t"),
            "0000|1111|0101|2"
        );
        sql.run("UPDATE t SET b = ~b, c = set_bit(c, 0, 0) WHERE n = 3");
        assert_eq!(sql.one("SELECT b, c FROM t WHERE n = 3"), "1010|0");
        assert_eq!(sql.one("SELECT count(*) FROM t JOIN t u ON t.b = u.b"), "9");
    }
}

#[test]
fn columns_refuse_other_lengths() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a bit, b bit(4), d bit varying(3), f bit(2)[])");
    sql.run("INSERT INTO t (b) VALUES (B'0000')");
    for (statement, state, message) in [
        (
            "INSERT INTO t (b) VALUES (B'101')",
            "22026",
            "bit string length 3 does not match type bit(4)",
        ),
        (
            "INSERT INTO t (b) SELECT '10101'",
            "22026",
            "bit string length 5 does not match type bit(4)",
        ),
        (
            "INSERT INTO t (a) VALUES ('10')",
            "22026",
            "bit string length 2 does not match type bit(1)",
        ),
        (
            "INSERT INTO t (d) VALUES (B'1010')",
            "22001",
            "bit string too long for type bit varying(3)",
        ),
        (
            "INSERT INTO t (f) VALUES ('{10,1}')",
            "22026",
            "bit string length 1 does not match type bit(2)",
        ),
        (
            "UPDATE t SET b = B'1'",
            "22026",
            "bit string length 1 does not match type bit(4)",
        ),
        (
            "INSERT INTO t (b) VALUES ('1x10')",
            "22P02",
            "\"x\" is not a valid binary digit",
        ),
        (
            "INSERT INTO t (b) VALUES (5)",
            "42804",
            "column \"b\" is of type bit but expression is of type integer",
        ),
        (
            "CREATE TABLE u (a bit(0))",
            "22023",
            "length for type bit must be at least 1",
        ),
        (
            "CREATE TABLE u (a varbit(83886081))",
            "22023",
            "length for type varbit cannot exceed 83886080",
        ),
        (
            "CREATE TABLE u (a bit(3)) PARTITION BY HASH (a)",
            "0A000",
            "hash partitions by values of type bit are not supported",
        ),
    ] {
        let error = sql.error(statement);
        assert_eq!(
            (error.sqlstate.as_str(), error.message.as_str()),
            (state, message)
        );
    }
    // A cast that is written cuts and fills up.
    sql.run("INSERT INTO t (b, d) VALUES (B'1'::bit(4), B'1010'::varbit(3))");
    assert_eq!(
        sql.rows("SELECT b, d FROM t ORDER BY b"),
        ["0000|NULL", "1000|101"]
    );
}

#[test]
fn keys_and_indexes_hold_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE k (v bit(3) PRIMARY KEY, w varbit UNIQUE, x bit(2))");
    sql.run("CREATE INDEX ON k (x bit_ops)");
    sql.run("INSERT INTO k VALUES (B'101', B'1', B'00'), (B'100', B'10', B'01')");
    assert_eq!(sql.state("INSERT INTO k VALUES ('x5', B'11')"), "22026");
    assert_eq!(sql.state("INSERT INTO k VALUES ('101', B'11')"), "23505");
    assert_eq!(sql.state("INSERT INTO k VALUES (B'111', 'b10')"), "23505");
    sql.run("INSERT INTO k VALUES (B'101', B'11') ON CONFLICT (v) DO UPDATE SET w = excluded.w");
    // Any form of a literal finds the row.
    for literal in ["B'101'", "'101'", "'b101'"] {
        assert_eq!(
            sql.one(&format!("SELECT w FROM k WHERE v = {literal}")),
            "11"
        );
        assert_eq!(
            sql.one(&format!("SELECT v FROM k WHERE w IN ({literal}, 'b11')")),
            "101"
        );
    }
    sql.run("PREPARE p AS SELECT w FROM k WHERE v = $1");
    assert_eq!(sql.rows("EXECUTE p('b101')"), ["11"]);
    assert_eq!(sql.run("DELETE FROM k WHERE v = 'b100'"), "DELETE 1");
    assert_eq!(sql.one("SELECT v, w FROM k"), "101|11");
    sql.run("CREATE TABLE parts (v bit(2)) PARTITION BY RANGE (v)");
    sql.run("CREATE TABLE low PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (B'10')");
    sql.run("INSERT INTO parts VALUES (B'01')");
    assert_eq!(sql.state("INSERT INTO parts VALUES (B'11')"), "23514");
}

#[test]
fn the_catalog_tells_their_lengths() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a bit, b bit(4), c varbit, d varbit(3), e bit(2)[])");
    sql.run("CREATE TABLE u AS SELECT B'1' AS a, b, c, d, e FROM t");
    for (table, first) in [("t", "bit(1)|1"), ("u", "\"bit\"|-1")] {
        let told = format!(
            "SELECT format_type(atttypid, atttypmod), atttypmod FROM pg_attribute \
             WHERE attrelid = '{table}'::regclass AND attnum > 0 ORDER BY attnum"
        );
        assert_eq!(
            sql.rows(&told),
            [
                first,
                "bit(4)|4",
                "bit varying|-1",
                "bit varying(3)|3",
                "bit(2)[]|2"
            ]
        );
    }
    assert_eq!(
        sql.rows(
            "SELECT data_type, character_maximum_length, character_octet_length, udt_name \
             FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position"
        ),
        [
            "bit|1|NULL|bit",
            "bit|4|NULL|bit",
            "bit varying|NULL|NULL|varbit",
            "bit varying|3|NULL|varbit",
            "ARRAY|NULL|NULL|_bit"
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT typname, typcategory, typispreferred, typarray FROM pg_type \
             WHERE typname IN ('bit', 'varbit') ORDER BY oid"
        ),
        ["bit|V|false|1561", "varbit|V|true|1563"]
    );
    assert_eq!(sql.one("SELECT pg_typeof(b), pg_typeof(c || b) FROM (SELECT B'1'::bit(4) AS b, B'0'::varbit AS c) s"), "bit|bit varying");
}

#[test]
fn foreign_keys_are_of_bits_alone() {
    let sql = Sql::new();
    sql.run("CREATE TABLE p (b varbit PRIMARY KEY, t text UNIQUE)");
    sql.run("CREATE TABLE c (b bit(2) REFERENCES p)");
    sql.run("INSERT INTO p VALUES (B'10', '10'); INSERT INTO c VALUES ('10')");
    assert_eq!(sql.state("INSERT INTO c VALUES (B'11')"), "23503");
    let error = sql.error("CREATE TABLE d (b bit(2) REFERENCES p (t))");
    assert_eq!(error.sqlstate, "42804");
    assert_eq!(
        error.message,
        "foreign key columns \"b\" and \"t\" are of different types: BIT(2) and TEXT"
    );
    assert_eq!(sql.state("ALTER TABLE c ALTER b TYPE text"), "0A000");
}

#[test]
fn columns_change_their_type() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a varbit, b text)");
    sql.run("INSERT INTO t VALUES (B'10', '0101'), (B'11', 'x1')");
    assert_eq!(sql.state("ALTER TABLE t ALTER a TYPE bit(3)"), "22026");
    sql.run(
        "ALTER TABLE t ALTER a TYPE bit(3) USING a::bit(3), ALTER b TYPE varbit USING b::varbit",
    );
    sql.run("ALTER TABLE t ADD c bit(2) DEFAULT B'01' CHECK (c <> B'11')");
    assert_eq!(
        sql.rows("SELECT * FROM t ORDER BY a"),
        ["100|0101|01", "110|0001|01"]
    );
    assert_eq!(sql.state("INSERT INTO t (c) VALUES (B'11')"), "23514");
    assert_eq!(sql.state("CREATE DOMAIN nibble AS bit(4)"), "0A000");
    sql.run("CREATE VIEW w AS SELECT c & B'01' AS low, X'F0' AS high FROM t WHERE a = B'100'");
    assert_eq!(sql.one("SELECT * FROM w"), "01|11110000");
}

#[test]
fn files_and_prepared_statements_give_them() {
    let folder = tempfile::tempdir().unwrap();
    let sql = Sql::new();
    sql.run("CREATE TABLE t (b bit(4), c varbit)");
    sql.run("PREPARE p AS INSERT INTO t VALUES ($1, $2)");
    sql.run("EXECUTE p('1010', 'x1F')");
    assert_eq!(sql.state("EXECUTE p('101', '')"), "22026");
    for form in ["csv", "parquet"] {
        let path = folder.path().join(format!("t.{form}"));
        let path = path.display();
        sql.run(&format!("COPY t TO '{path}'; CREATE TABLE {form} (LIKE t)"));
        sql.run(&format!("COPY {form} FROM '{path}'"));
        assert_eq!(sql.one(&format!("SELECT * FROM {form}")), "1010|00011111");
        sql.run(&format!("CREATE TABLE short_{form} (b bit(3), c varbit)"));
        assert_eq!(
            sql.state(&format!("COPY short_{form} FROM '{path}'")),
            "22026"
        );
    }
}
