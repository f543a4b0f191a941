//! What the catalog, errors and descriptions tell people of rows that are not for them.

use arrow::datatypes::DataType;

use crate::roles_attacks::guarded;
use crate::support::{Sql, runtime};

#[test]
fn the_catalog_tells_names_and_no_more() {
    let (database, owner) = guarded();
    owner.run("GRANT INSERT ON secret TO nobody");
    let nobody = Sql::on(&database);
    nobody.run("SET ROLE nobody");
    let sizes = "SELECT reltuples, relpages > 0, pg_relation_size(oid) > 0 FROM pg_class WHERE relname = 'secret'";
    assert_eq!(nobody.rows(sizes), ["-1.0|false|false"]);
    assert_eq!(owner.rows(sizes), ["3.0|true|true"]);
    let text = "SELECT definition FROM pg_views WHERE viewname = 'shown'";
    assert_eq!(nobody.rows(text), [""]);
    assert!(owner.one(text).contains("FROM secret"));
    let text = "SELECT view_definition FROM information_schema.views";
    assert_eq!(nobody.rows(text), [""; 0]);
    let sequences = "SELECT sequence_name FROM information_schema.sequences ORDER BY 1";
    assert_eq!(nobody.rows(sequences), [""; 0]);
    assert_eq!(owner.rows(sequences), ["numbers", "sevens"]);
    for closed in ["pg_authid", "pg_shadow"] {
        let passwords = format!("SELECT count(*) > 0 FROM {closed}");
        assert_eq!(nobody.state(&passwords), "42501");
        assert_eq!(owner.one(&passwords), "true");
        let right = format!("SELECT has_table_privilege('{closed}', 'select')");
        assert_eq!(nobody.one(&right), "false");
        assert_eq!(owner.one(&right), "true");
    }
    let open =
        "SELECT has_table_privilege('pg_user', 'select'), has_table_privilege('pg_user', 'update')";
    assert_eq!(nobody.one(open), "true|false");
    let schemas = "SELECT schema_name FROM information_schema.schemata ORDER BY 1";
    assert_eq!(
        nobody.rows(schemas),
        ["information_schema", "pg_catalog", "public"]
    );
    assert!(nobody.rows("SHOW VIEWS").is_empty());
    owner.run(
        "GRANT USAGE ON SCHEMA vault TO nobody; GRANT USAGE ON SEQUENCE numbers TO nobody; \
         GRANT SELECT ON secret, shown TO nobody",
    );
    assert_eq!(nobody.rows(sequences), ["numbers"]);
    assert_eq!(
        nobody.rows(schemas),
        ["information_schema", "pg_catalog", "public", "vault"]
    );
    assert_eq!(nobody.rows(sizes), ["3.0|true|true"]);
    assert!(nobody.one(text).contains("FROM secret"));
    assert_eq!(nobody.rows("DESCRIBE secret").len(), 3);
}

#[test]
fn errors_show_rows_to_those_who_may_read_them() {
    let (database, owner) = guarded();
    owner.run(
        "CREATE TABLE paid (k INT PRIMARY KEY, v TEXT, n INT CHECK (n > 0)); \
         INSERT INTO paid VALUES (4711, 'hidden', 1); \
         CREATE TABLE payments (k INT REFERENCES paid); INSERT INTO payments VALUES (4711); \
         GRANT INSERT, UPDATE, DELETE ON paid TO nobody",
    );
    let nobody = Sql::on(&database);
    nobody.run("SET ROLE nobody");
    let ways = [
        ("UPDATE paid SET n = -1", "23514", "hidden"),
        (
            "PREPARE p AS UPDATE paid SET n = $1; EXECUTE p(-1)",
            "23514",
            "hidden",
        ),
        ("DELETE FROM paid", "23503", "4711"),
        ("INSERT INTO paid VALUES (4711, 'x', 1)", "23505", "4711"),
    ];
    let both = |sql: &Sql, text: &str, state: &str| {
        let error = sql.error(text);
        assert_eq!(error.sqlstate, state, "{text}: {error}");
        sql.run("DEALLOCATE ALL");
        error.to_string()
    };
    for (text, state, value) in ways {
        let told = both(&nobody, text, state);
        assert!(!told.contains(value), "{told}");
        let told = both(&owner, text, state);
        assert!(told.contains(value), "{told}");
    }
    let runtime = runtime();
    let insert = nobody
        .session
        .prepare("INSERT INTO paid VALUES ($1, 'x', 1)");
    let error = runtime.block_on(insert.unwrap().run(&nobody.session, &[4711i64.into()]));
    assert_eq!(error.unwrap_err().detail, None);
    owner.run("GRANT SELECT ON paid TO nobody");
    for (text, state, value) in ways {
        let told = both(&nobody, text, state);
        assert!(told.contains(value), "{told}");
    }
}

#[test]
fn who_may_change_rows_is_told_what_that_takes() {
    let (database, owner) = guarded();
    let nobody = Sql::on(&database);
    nobody.run("SET ROLE nobody");
    let runtime = runtime();
    let parameters = |text: &str| {
        let prepared = nobody.session.prepare(text).unwrap();
        let told = runtime.block_on(prepared.describe(&nobody.session));
        told.map(|told| told.parameters)
            .map_err(|error| error.sqlstate)
    };
    let ways = [
        ("INSERT INTO secret VALUES ($1)", DataType::Int32),
        ("UPDATE secret SET n = $1", DataType::Int32),
        ("UPDATE secret SET n = CAST($1 AS INT)", DataType::Int32),
    ];
    for (text, _) in &ways {
        assert_eq!(parameters(text), Err("42501".to_owned()), "{text}");
    }
    assert_eq!(parameters("DELETE FROM secret"), Err("42501".to_owned()));
    owner.run("GRANT INSERT, UPDATE, DELETE ON secret TO nobody");
    for (text, kind) in ways {
        assert_eq!(parameters(text), Ok(vec![kind]), "{text}");
    }
    assert_eq!(parameters("DELETE FROM secret"), Ok(vec![]));
    let merge = "MERGE INTO mine USING (SELECT CAST($1 AS BIGINT) AS x) AS s ON a = x AND b = $2 \
                 WHEN MATCHED THEN UPDATE SET a = $3 WHEN NOT MATCHED THEN INSERT VALUES (x, $4)";
    let kinds = [
        DataType::Int64,
        DataType::Utf8View,
        DataType::Int32,
        DataType::Utf8View,
    ];
    assert_eq!(parameters(merge), Ok(kinds.to_vec()));
    let text = "UPDATE mine SET b = 'it''s ' || $1, a = DEFAULT";
    assert_eq!(parameters(text).map(|all| all.len()), Ok(1));
    let reads = "UPDATE secret SET n = $1 WHERE k = $2";
    assert_eq!(parameters(reads), Err("42501".to_owned()));
    let reads = "INSERT INTO mine SELECT k FROM secret WHERE k = $1";
    assert_eq!(parameters(reads), Err("42501".to_owned()));
}
