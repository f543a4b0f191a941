//! CREATE, ALTER and DROP AGGREGATE, and calls of what they make.

use freestone::Database;

use crate::support::Sql;

/// A session with aggregates and a table.
fn with_aggregates() -> Sql {
    let sql = Sql::new();
    sql.run(
        "CREATE AGGREGATE newsum (sfunc1 = int4pl, basetype = int4, stype1 = int4, initcond1 = '0');
         CREATE AGGREGATE newcnt(*) (sfunc = int8inc, stype = int8, initcond = '0', parallel = safe);
         CREATE AGGREGATE newcnt(\"any\") (sfunc = int8inc_any, stype = int8, initcond = '0');
         CREATE FUNCTION sum3(int8, int8, int8) RETURNS int8 LANGUAGE sql STRICT AS 'SELECT $1 + $2 + $3';
         CREATE AGGREGATE sum2(int8, int8) (sfunc = sum3, stype = int8, initcond = '0');
         CREATE AGGREGATE joined(text) (sfunc = textcat, stype = text);
         CREATE AGGREGATE mx(int4) (sfunc = int4larger, stype = int4);
         CREATE FUNCTION pairs(text[], int, text) RETURNS text[] LANGUAGE sql
           AS 'SELECT array_append($1, $2 || coalesce($3, ''-''))';
         CREATE FUNCTION shown(text[]) RETURNS text LANGUAGE sql AS 'SELECT array_to_string($1, ''+'')';
         CREATE AGGREGATE listed(int, text) (sfunc = pairs, stype = text[], initcond = '{}', finalfunc = shown);
         CREATE TABLE t (g int, a int, b text, c int8);
         INSERT INTO t VALUES (1,10,'x',1), (1,NULL,'y',2), (2,3,'z',NULL), (2,7,NULL,5), (1,2,'x',1)",
    );
    sql
}

#[test]
fn functions_lead_from_state_to_state() {
    let sql = with_aggregates();
    for (query, rows) in [
        (
            "SELECT newsum(a), newcnt(*), newcnt(a), sum2(a, c), joined(b ORDER BY b), mx(a) FROM t",
            ["22|5|4|26|xxyz|10"].as_slice(),
        ),
        (
            "SELECT g, newsum(a), newcnt(b), joined(b ORDER BY b DESC) FROM t GROUP BY g ORDER BY g",
            &["1|12|3|yxx", "2|10|1|z"],
        ),
        (
            "SELECT newsum(a) FILTER (WHERE g = 1), newsum(DISTINCT g), joined(DISTINCT b ORDER BY b) FROM t",
            &["12|3|xyz"],
        ),
        (
            "SELECT listed(a, b ORDER BY a, b) FROM t WHERE g = 2",
            &["3z+7-"],
        ),
        (
            "SELECT newcnt(*), mx(a), newsum(a), listed(a, b) FROM t WHERE false",
            &["0|NULL|0|"],
        ),
        (
            "SELECT g, newsum(a) OVER (PARTITION BY g ORDER BY a ROWS 1 PRECEDING), mx(a) OVER () \
             FROM t WHERE a > 2 ORDER BY 1, 2",
            &["1|10|10", "2|3|10", "2|10|10"],
        ),
        (
            "SELECT g FROM t GROUP BY g HAVING newsum(a) > 10 ORDER BY newsum(a)",
            &["1"],
        ),
        (
            "SELECT g, newsum(a) FROM t GROUP BY ROLLUP (g) ORDER BY g",
            &["1|12", "2|10", "NULL|22"],
        ),
    ] {
        assert_eq!(sql.rows(query), rows, "{query}");
    }
    for (query, state, message) in [
        (
            "SELECT newcnt() FROM t",
            "42809",
            "newcnt(*) must be used to call a parameterless aggregate function",
        ),
        (
            "SELECT newsum(b) FROM t",
            "42883",
            "function newsum(text) does not exist",
        ),
        (
            "SELECT newsum(newsum(a)) FROM t",
            "42803",
            "aggregate function calls cannot be nested",
        ),
        (
            "SELECT a FROM t WHERE newsum(a) > 1",
            "42803",
            "aggregate functions are not allowed in WHERE",
        ),
        (
            "SELECT newsum(2147483647) FROM t",
            "22003",
            "integer out of range",
        ),
    ] {
        let error = sql.error(query);
        assert_eq!(
            (error.sqlstate.as_str(), error.message.as_str()),
            (state, message)
        );
    }
}

#[test]
fn types_may_be_told_by_arguments() {
    let sql = with_aggregates();
    sql.run(
        "CREATE FUNCTION tfp(anyarray, anyelement) RETURNS anyarray LANGUAGE sql AS 'SELECT $1 || $2';
         CREATE FUNCTION ffp(anyarray) RETURNS anyarray LANGUAGE sql AS 'SELECT $1 || $1';
         CREATE AGGREGATE p(basetype = anyelement, sfunc = tfp, stype = anyarray, finalfunc = ffp, initcond = '{}');
         CREATE AGGREGATE q(int) (sfunc = tfp, stype = int[], initcond = '{}')",
    );
    assert_eq!(
        sql.one("SELECT p(g ORDER BY a)::text, p(b ORDER BY b)::text, q(g ORDER BY g)::text FROM t WHERE a < 8"),
        "{1,2,2,1,2,2}|{x,z,NULL,x,z,NULL}|{1,2,2}"
    );
    assert_eq!(
        sql.one("SELECT pg_typeof(p(1.5)), pg_typeof(q(1))"),
        "numeric[]|integer[]"
    );
    // A function that is replaced has its new meaning.
    sql.run(
        "CREATE OR REPLACE FUNCTION ffp(anyarray) RETURNS anyarray LANGUAGE sql AS 'SELECT $1'",
    );
    assert_eq!(
        sql.one("SELECT p(g ORDER BY g)::text FROM t"),
        "{1,1,1,2,2}"
    );
}

#[test]
fn definitions_that_do_not_fit_are_refused() {
    let sql = with_aggregates();
    sql.run(
        "CREATE FUNCTION least_of(int8, int8) RETURNS int8 LANGUAGE sql AS 'SELECT least($1, $2)'",
    );
    for (definition, state, message) in [
        (
            "bad(int4) (sfunc = int4larger)",
            "42P13",
            "aggregate stype must be specified",
        ),
        (
            "bad(int4) (stype = int4)",
            "42P13",
            "aggregate sfunc must be specified",
        ),
        (
            "bad (sfunc = int4larger, stype = int4)",
            "42P13",
            "aggregate input type must be specified",
        ),
        (
            "bad(int4) (sfunc = nosuch, stype = int4)",
            "42883",
            "function nosuch(integer, integer) does not exist",
        ),
        (
            "bad(int4) (sfunc = least_of, stype = int8)",
            "42804",
            "function least_of(bigint, bigint) requires run-time type coercion",
        ),
        (
            "bad(*) (sfunc = int8inc, stype = int8)",
            "42P13",
            "must not omit initial value when transition function is strict and transition type is \
             not compatible with input type",
        ),
        (
            "bad(*) (sfunc = tfp, stype = anyarray)",
            "42P13",
            "cannot determine transition data type",
        ),
        (
            "bad(int4) (sfunc = int4pl, stype = int4, parallel = pear)",
            "42601",
            "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE",
        ),
        (
            "bad(int4) (sfunc = int4pl, stype = int4, colour = red)",
            "42601",
            "aggregate attribute \"colour\" not recognized",
        ),
        (
            "bad(int4) (sfunc = int4pl, stype = int4, sortop = <)",
            "0A000",
            "an aggregate with SORTOP is not supported",
        ),
        (
            "bad(VARIADIC int4[]) (sfunc = int4pl, stype = int4)",
            "0A000",
            "an aggregate with VARIADIC is not supported",
        ),
        (
            "bad(numeric) (sfunc = numeric_avg_accum, stype = internal)",
            "0A000",
            "aggregates whose states are of the type internal are not supported",
        ),
        (
            "sum3(int4) (sfunc = int4pl, stype = int4)",
            "0A000",
            "a function and an aggregate of one name are not supported",
        ),
        (
            "mx(int4) (sfunc = int4larger, stype = int4)",
            "42723",
            "function \"mx\" already exists with same argument types",
        ),
    ] {
        let error = sql.error(&format!("CREATE AGGREGATE {definition}"));
        assert_eq!(
            (error.sqlstate.as_str(), error.message.as_str()),
            (state, message),
            "{definition}"
        );
    }
    sql.run("CREATE FUNCTION read(int, int) RETURNS int LANGUAGE sql AS 'SELECT max(a) + $1 + $2 FROM t'");
    let error = sql.error("CREATE AGGREGATE bad(int) (sfunc = read, stype = int)");
    assert_eq!(
        error.message,
        "function read has a query in its body, and cannot be that of an aggregate"
    );
}

#[test]
fn aggregates_are_altered_dropped_and_told() {
    let sql = with_aggregates();
    sql.run("CREATE VIEW v AS SELECT g, newsum(a) AS s FROM t GROUP BY g");
    assert_eq!(sql.rows("SELECT * FROM v ORDER BY g"), ["1|12", "2|10"]);
    for (statement, state) in [
        ("DROP AGGREGATE newsum(int4)", "2BP01"),
        ("DROP FUNCTION sum3(int8, int8, int8)", "2BP01"),
        ("DROP FUNCTION newsum(int4)", "42809"),
        ("DROP AGGREGATE sum3(int8, int8, int8)", "42809"),
        ("DROP AGGREGATE nosuch(*)", "42883"),
        (
            "ALTER FUNCTION sum3(int8, int8, int8) RENAME TO sum4",
            "0A000",
        ),
        ("ALTER FUNCTION newsum(int4) STRICT", "42809"),
        (
            "CREATE OR REPLACE AGGREGATE newsum(int4) (sfunc = int4pl, stype = int4, finalfunc = int8inc)",
            "42804",
        ),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
    assert_eq!(
        sql.rows(
            "SELECT proname, prokind, prosrc, proargtypes::text, prorettype::regtype FROM pg_proc \
             WHERE proname IN ('newcnt', 'listed') ORDER BY 1, 4"
        ),
        [
            "listed|a|aggregate_dummy|23 25|text",
            "newcnt|a|aggregate_dummy||bigint",
            "newcnt|a|aggregate_dummy|2276|bigint",
        ]
    );
    assert_eq!(
        sql.rows(
            "SELECT aggfnoid, aggtransfn, aggfinalfn, aggtranstype::regtype, agginitval \
             FROM pg_aggregate WHERE aggfnoid::text IN ('listed', 'mx') ORDER BY 1::text, 2::text"
        )
        .len(),
        2
    );
    sql.run("DROP AGGREGATE newsum(int4) CASCADE");
    assert_eq!(sql.state("SELECT * FROM v"), "42P01");
    sql.run("DROP FUNCTION sum3(int8, int8, int8) CASCADE");
    assert_eq!(sql.state("SELECT sum2(1, 2)"), "42883");
    sql.run("CREATE SCHEMA s; ALTER AGGREGATE mx(int4) RENAME TO my; ALTER AGGREGATE my(int4) SET SCHEMA s");
    assert_eq!(sql.one("SELECT s.my(a) FROM t"), "10");
    assert_eq!(sql.state("SELECT my(a) FROM t"), "42883");
    sql.run("BEGIN; CREATE AGGREGATE gone(int4) (sfunc = int4pl, stype = int4)");
    assert_eq!(sql.one("SELECT gone(a) FROM t"), "22");
    sql.run("ROLLBACK");
    assert_eq!(sql.state("SELECT gone(a) FROM t"), "42883");
}

#[test]
fn aggregates_are_there_when_the_database_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let first = Database::open(folder.path()).unwrap();
    Sql::on(&first).run(
        "CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1 + coalesce($2, 100)';
         CREATE AGGREGATE total(int) (sfunc = plus, stype = int, initcond = '5')",
    );
    drop(first);
    let again = Database::open(folder.path()).unwrap();
    let sql = Sql::on(&again);
    assert_eq!(
        sql.one("SELECT total(a) FROM (VALUES (1), (NULL), (2)) v (a)"),
        "108"
    );
}

#[test]
fn averages_call_a_volatile_function_once_a_row() {
    let sql = Sql::new();
    sql.run("CREATE SEQUENCE s");
    assert_eq!(
        sql.one("SELECT avg(nextval('s')) FROM generate_series(1, 3)"),
        "2.0000000000000000"
    );
    assert_eq!(sql.one("SELECT nextval('s')"), "4");
}

#[test]
fn sums_of_floats_follow_their_order() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (n FLOAT8); INSERT INTO t VALUES (9007199254740992), (1), (1), (0)");
    assert_eq!(
        sql.rows("SELECT sum(n ORDER BY n)::bigint, sum(n ORDER BY n DESC)::bigint FROM t"),
        ["9007199254740994|9007199254740992"]
    );
}

/// Sums that do not fit in 128 bits are refused, whichever operator adds them up.
#[test]
fn sums_of_decimals_do_not_wrap() {
    let sql = Sql::new();
    let nines = "9".repeat(38);
    sql.run(&format!(
        "CREATE TABLE t (id INT, n NUMERIC(38, 0)); INSERT INTO t VALUES (1, {nines}), (2, {nines})"
    ));
    for sum in ["sum(n)", "sum(n) FILTER (WHERE id > 0)", "avg(n)"] {
        for from in [
            format!("SELECT {sum} FROM t"),
            format!("SELECT id * 0, {sum} FROM t GROUP BY 1"),
            format!("SELECT array_agg(a.id) OVER (), (SELECT {sum} FROM t) FROM t a"),
            format!(
                "WITH q AS MATERIALIZED (SELECT * FROM t) SELECT {sum} FROM q, (SELECT count(*) FROM q) c"
            ),
        ] {
            assert_eq!(sql.state(&from), "22003", "{from}");
        }
    }
}
