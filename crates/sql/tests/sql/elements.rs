//! Elements and slices of arrays, and parts of JSONB, that get values.

use crate::support::Sql;

#[test]
fn elements_get_values() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (k INT PRIMARY KEY, a INT[], b TEXT[], m INT[][], j JSONB, n INT)");
    sql.run("INSERT INTO t (k, a, m) VALUES (1, '{1,2,3}', '{{1,2},{3,4}}')");
    for (set, column, value) in [
        ("a[2] = 20", "a", "{1,20,3}"),
        ("a[5] = 5", "a", "{1,20,3,NULL,5}"),
        ("a[0] = n, n = 1", "a", "[0:5]={NULL,1,20,3,NULL,5}"),
        ("a[1:2] = '{7,8,9}'", "a", "[0:5]={NULL,7,8,3,NULL,5}"),
        ("a[:1] = ARRAY[6, 6]", "a", "[0:5]={6,6,8,3,NULL,5}"),
        ("a = '{}', b[3] = 'x'", "b", "[3:3]={x}"),
        ("a[2] = 1, a[3] = 2", "a", "[2:3]={1,2}"),
        ("a[1:2] = NULL", "a", "[2:3]={1,2}"),
        ("m[2][1] = 30", "m", "{{1,2},{30,4}}"),
        ("m[1:2][2:2] = '{5,6}'", "m", "{{1,5},{30,6}}"),
        ("j['a']['b'][1] = '2'", "j", "{\"a\": {\"b\": [null, 2]}}"),
        ("j['a'] = to_jsonb(n)", "j", "{\"a\": 1}"),
    ] {
        assert_eq!(sql.run(&format!("UPDATE t SET {set}")), "UPDATE 1", "{set}");
        assert_eq!(
            sql.one(&format!("SELECT {column}::text FROM t")),
            value,
            "{set}"
        );
    }
    sql.run(
        "INSERT INTO t (k, a[1], n, a[3]) VALUES (2, 1, 4, 3), (3, 5, 6, NULL);
         INSERT INTO t (k, b[1:2], j['x']) SELECT 4, '{p,q}', '1'",
    );
    assert_eq!(
        sql.rows("SELECT k, a::text, b::text, j::text, n FROM t WHERE k > 1 ORDER BY k"),
        [
            "2|{1,NULL,3}|NULL|NULL|4",
            "3|{5,NULL,NULL}|NULL|NULL|6",
            "4|NULL|{p,q}|{\"x\": 1}|NULL"
        ]
    );
    sql.run("INSERT INTO t (k, n) VALUES (2, 9) ON CONFLICT (k) DO UPDATE SET a[2] = excluded.n");
    assert_eq!(sql.one("SELECT a::text FROM t WHERE k = 2"), "{1,9,3}");
    sql.run("WITH x AS (UPDATE t SET a[1] = k RETURNING k) SELECT count(*) FROM x");
    assert_eq!(sql.one("SELECT a::text FROM t WHERE k = 4"), "{4}");
    for (statement, state) in [
        ("UPDATE t SET a[NULL] = 1", "22004"),
        ("UPDATE t SET a[1:2] = '{1}'", "2202E"),
        ("UPDATE t SET b = NULL, m[1][1][1] = 1 WHERE k = 1", "2202E"),
        ("UPDATE t SET m[5][5] = 1 WHERE k = 1", "2202E"),
        ("UPDATE t SET a[100000000] = 1", "54000"),
        ("UPDATE t SET n[1] = 1", "42804"),
        ("UPDATE t SET a[1] = 'x'", "22P02"),
        ("UPDATE t SET a = '{1}', a[1] = 1", "42601"),
        ("UPDATE t SET j['a'][1:2] = '1'", "42804"),
        ("INSERT INTO t (a, a[1]) VALUES ('{}', 1)", "42701"),
        ("INSERT INTO t (a[1], k) VALUES (1)", "42601"),
        ("INSERT INTO t (k, a[1]) VALUES (9, DEFAULT)", "0A000"),
    ] {
        assert_eq!(sql.state(statement), state, "{statement}");
    }
}

#[test]
fn forms_without_a_place_in_the_grammar_work_in_changes_and_views() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (k INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'ab'), (2, 'cd'), (3, NULL)");
    assert_eq!(
        sql.run("UPDATE t SET v = v || @ -1 WHERE v LIKE ANY (ARRAY['a%', 'x%'])"),
        "UPDATE 1"
    );
    assert_eq!(
        sql.run("DELETE FROM t WHERE k BETWEEN SYMMETRIC 3 AND 2 AND (t.*) IS NOT NULL"),
        "DELETE 1"
    );
    sql.run("CREATE VIEW w AS SELECT k, v LIKE ANY (ARRAY['a%']) AS l FROM t GROUP BY GROUPING SETS ((k, v))");
    assert_eq!(sql.rows("SELECT * FROM w ORDER BY k"), ["1|true", "3|NULL"]);
    assert_eq!(
        sql.run(
            "WITH q AS (SELECT 1 AS k) MERGE INTO t USING q ON t.k = q.k \
                 WHEN MATCHED THEN UPDATE SET v = (q.*)::text"
        ),
        "MERGE 1"
    );
    assert_eq!(sql.one("SELECT v FROM t WHERE k = 1"), "(1)");
    sql.run(
        "MERGE INTO t USING (VALUES (1), (3), (5), (6)) AS s (k) ON t.k = s.k
         WHEN MATCHED AND s.k = 1 THEN DO NOTHING WHEN MATCHED THEN DELETE
         WHEN NOT MATCHED AND s.k = 5 THEN DO NOTHING WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'new')",
    );
    assert_eq!(sql.rows("SELECT * FROM t ORDER BY k"), ["1|(1)", "6|new"]);
    sql.run("INSERT INTO t AS x VALUES (1, 'a'), (7, 'b') ON CONFLICT (k) DO UPDATE \
             SET v = (SELECT max(v) FROM t) || excluded.v WHERE EXISTS (SELECT FROM t AS y WHERE y.k = excluded.k AND y.v = x.v)");
    assert_eq!(
        sql.rows("SELECT * FROM t ORDER BY k"),
        ["1|newa", "6|new", "7|b"]
    );
}
