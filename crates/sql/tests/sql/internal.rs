//! Types of PostgreSQL's own working: numbers of transactions, rights and expressions.

use freestone::Database;

use crate::support::Sql;

#[test]
fn columns_of_the_catalog_have_their_types() {
    let sql = Sql::new();
    for (table, column, wanted) in [
        ("pg_tablespace", "spcacl", "aclitem[]"),
        ("pg_class", "relacl", "aclitem[]"),
        ("pg_class", "relfrozenxid", "xid"),
        ("pg_class", "xmin", "xid"),
        ("pg_locks", "transactionid", "xid"),
        ("pg_constraint", "conbin", "pg_node_tree"),
        ("pg_type", "typdefaultbin", "pg_node_tree"),
        ("pg_proc", "proargmodes", "\"char\"[]"),
    ] {
        let query = format!("SELECT pg_typeof((SELECT {column} FROM {table} LIMIT 1))");
        assert_eq!(sql.one(&query), wanted, "{table}.{column}");
        let query = format!(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute
              WHERE attrelid = '{table}'::regclass AND attname = '{column}'"
        );
        // The catalog lists no columns of the system.
        if column != "xmin" {
            assert_eq!(sql.one(&query), wanted, "{table}.{column}");
        }
    }
    assert_eq!(
        sql.rows(
            "SELECT typname, typlen, typcategory, typarray::regtype::text FROM pg_type
              WHERE typname IN ('xid', 'xid8', 'cid', 'aclitem', 'pg_node_tree') ORDER BY oid"
        ),
        [
            "xid|4|U|xid[]",
            "cid|4|U|cid[]",
            "pg_node_tree|-1|Z|-",
            "aclitem|12|U|aclitem[]",
            "xid8|8|U|xid8[]",
        ]
    );
}

#[test]
fn rights_are_read_and_shown() {
    let sql = Sql::new();
    sql.run("CREATE ROLE \"Joe X\"");
    for (given, wanted) in [
        ("freestone=wr*/freestone", "freestone=r*w/freestone"),
        ("=r/freestone", "=r/freestone"),
        ("group freestone=/freestone", "freestone=/freestone"),
        ("\"Joe X\"=X/freestone", "\"Joe X\"=X/freestone"),
    ] {
        assert_eq!(sql.one(&format!("SELECT '{given}'::aclitem")), wanted);
        assert_eq!(
            sql.one(&format!("SELECT '{given}'::text::aclitem::text")),
            wanted
        );
    }
    for (given, state) in [
        ("nobody=r/freestone", "42704"),
        ("freestone=q/freestone", "22P02"),
        ("freestone", "22P02"),
        ("", "22P02"),
    ] {
        assert_eq!(sql.state(&format!("SELECT '{given}'::aclitem")), state);
    }
    let same = "'{freestone=r/freestone}'::aclitem[] = ARRAY['freestone=r/freestone'::aclitem]";
    assert_eq!(sql.one(&format!("SELECT {same}")), "true");
    assert_eq!(
        sql.state("SELECT '=r/freestone'::aclitem < '=r/freestone'"),
        "42883"
    );
    assert_eq!(
        sql.state("SELECT * FROM aclexplode('{=r/freestone}'::text[])"),
        "42883"
    );
    assert_eq!(
        sql.rows("SELECT grantee, privilege_type, is_grantable FROM aclexplode(acldefault('d', 10)) ORDER BY 1, 2"),
        ["0|CONNECT|false", "0|TEMPORARY|false", "10|CONNECT|false", "10|CREATE|false", "10|TEMPORARY|false"]
    );
    assert_eq!(
        sql.one("SELECT pg_typeof(acldefault('r', 10))"),
        "aclitem[]"
    );
}

#[test]
fn columns_of_tables_are_of_few_of_them() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (x XID, y XID[]); INSERT INTO t VALUES ('7', '{1,2}'), ('-1', NULL)");
    assert_eq!(
        sql.rows("SELECT x, y, pg_typeof(x) FROM t WHERE x = 7"),
        ["7|{1,2}|xid"]
    );
    assert_eq!(sql.rows("SELECT x FROM t WHERE x = -1"), ["4294967295"]);
    sql.run("CREATE TABLE u AS SELECT x FROM t");
    assert_eq!(sql.one("SELECT pg_typeof(x) FROM u LIMIT 1"), "xid");
    for ty in ["XID8", "CID", "ACLITEM", "PG_NODE_TREE", "XID8[]"] {
        assert_eq!(
            sql.state(&format!("CREATE TABLE v (x {ty})")),
            "0A000",
            "{ty}"
        );
    }
}

#[test]
fn ages_are_those_of_transactions() {
    let sql = Sql::new();
    assert_eq!(sql.one("SELECT age('1'::xid)"), "2147483647");
    assert_eq!(sql.state("SELECT age(1)"), "42883");
    assert_eq!(sql.state("SELECT age(1::oid)"), "42883");
}

#[test]
fn transactions_have_numbers() {
    let database = Database::in_memory();
    let (a, b) = (Sql::on(&database), Sql::on(&database));
    let number = |sql: &Sql| {
        sql.one("SELECT pg_current_xact_id()")
            .parse::<u64>()
            .unwrap()
    };
    let (first, second) = (number(&a), number(&a));
    assert!(first >= 3 && second > first, "{first} {second}");
    a.run("BEGIN");
    assert_eq!(a.one("SELECT pg_current_xact_id_if_assigned()"), "NULL");
    let own = number(&a);
    assert!(own > second);
    assert_eq!(number(&a), own);
    assert_eq!(a.one("SELECT txid_current()"), own.to_string());
    assert_eq!(a.one("SELECT txid_current_if_assigned()"), own.to_string());
    assert_ne!(number(&b), own);
    assert_eq!(
        a.one("SELECT pg_xact_status(pg_current_xact_id())"),
        "in progress"
    );
    a.run("COMMIT; CREATE TABLE t (a INT); BEGIN; INSERT INTO t VALUES (1)");
    assert_eq!(
        a.one("SELECT pg_current_xact_id_if_assigned() IS NULL"),
        "false"
    );
    a.run("ROLLBACK");
    assert_eq!(a.one("SELECT txid_current() = txid_current()"), "true");
    assert_eq!(
        a.one("SELECT txid_current()::text = pg_current_xact_id()::text"),
        "true"
    );
    assert_eq!(
        a.one("SELECT pg_typeof(txid_current()), pg_typeof(pg_current_xact_id())"),
        "bigint|xid8"
    );
    assert_eq!(a.state("SELECT txid_current(1)"), "42883");
    assert_eq!(a.state("SELECT txid_status(999999999)"), "22023");
    assert_eq!(a.one("SELECT pg_xact_status('1')"), "committed");
}

#[test]
fn functions_about_the_catalog_are_in_it() {
    let sql = Sql::new();
    assert_eq!(
        sql.rows("SELECT proargtypes::regtype[], prorettype::regtype FROM pg_proc WHERE proname = 'obj_description' ORDER BY pronargs"),
        ["[0:0]={oid}|text", "[0:1]={oid,name}|text"]
    );
    assert_eq!(sql.one("SELECT 'format_type'::regproc"), "format_type");
    // Each that is listed can be called.
    let listed = sql.rows(
        "SELECT proname, proargtypes::regtype[]::text[], proretset FROM pg_proc
          WHERE proname ~ '^(pg_get_|pg_.*_is_visible|has_|to_reg|acl|txid_|pg_.*_size$)'",
    );
    assert!(listed.len() > 100, "{}", listed.len());
    for row in &listed {
        let mut parts = row.split('|');
        let (name, types) = (parts.next().unwrap(), parts.next().unwrap());
        let types = types.trim_matches(['{', '}']).replace(['"', '\\'], "");
        let types = types.split(',').filter(|ty| !ty.is_empty());
        let arguments: Vec<String> = types
            .map(|ty| match ty {
                "char" => "NULL::\"char\"".to_owned(),
                ty => format!("NULL::{ty}"),
            })
            .collect();
        let call = format!("SELECT count(*) FROM {name}({})", arguments.join(", "));
        assert_ne!(sql.ended(&call), "42883", "{call}");
    }
}
