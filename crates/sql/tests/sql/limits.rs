//! What one session cannot take: threads, memory, and tables under another's name.

use arrow::datatypes::DataType;
use freestone::CopyStream;

use crate::support::{Sql, runtime};

/// The COPY that a text is.
fn copy(sql: &Sql, text: &str) -> CopyStream {
    let statements = sql.session.parse(text).unwrap();
    CopyStream::of(&statements[0]).unwrap().unwrap()
}

#[test]
fn threads_are_a_few_for_each_processor() {
    let sql = Sql::new();
    sql.run("SET threads = 16; SET freestone.threads = 1");
    for setting in ["threads", "freestone.threads"] {
        let error = sql.error(&format!("SET {setting} = 1000000"));
        assert_eq!(error.sqlstate, "22023");
        let hint = error.hint.unwrap();
        assert!(hint.starts_with("give a whole number from 1 to "), "{hint}");
    }
    assert_eq!(sql.one("SHOW threads"), "1");
}

#[test]
fn statements_are_kept_up_to_a_number() {
    let sql = Sql::new();
    let all: Vec<String> = (0..10_000)
        .map(|number| format!("PREPARE p{number} AS SELECT 1;"))
        .collect();
    sql.run(&all.concat());
    assert_eq!(sql.state("PREPARE one_more AS SELECT 1"), "54000");
    sql.run("DEALLOCATE p7; PREPARE one_more AS SELECT 1; EXECUTE one_more");
}

#[test]
fn a_line_without_end_is_not_waited_for() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (a TEXT)");
    let mut incoming = copy(&sql, "COPY t FROM STDIN").receive().unwrap();
    let part = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        incoming.push(&part).unwrap();
    }
    assert_eq!(incoming.push(b"y").unwrap_err().sqlstate, "54000");
    // One that ends in time is as good as any.
    let mut incoming = copy(&sql, "COPY t FROM STDIN").receive().unwrap();
    for _ in 0..65 {
        incoming.push(&part).unwrap();
        incoming.push(b"\n").unwrap();
    }
    runtime().block_on(incoming.finish(&sql.session)).unwrap();
    assert_eq!(sql.one("SELECT count(*) FROM t"), "65");
}

#[test]
fn what_copy_takes_is_of_the_session_s_own_table() {
    let sql = Sql::new();
    let kinds = |text: &str| {
        let fields = copy(&sql, text).kinds(&sql.session)?;
        let kinds = fields.iter().map(|field| field.data_type().clone());
        Ok::<Vec<_>, freestone::Error>(kinds.collect())
    };
    sql.run("CREATE TABLE t (a TEXT); CREATE TEMP TABLE t (a INT, b BIGINT); CREATE TEMP TABLE own (c BOOLEAN)");
    let binary = "FROM STDIN (FORMAT binary)";
    assert_eq!(
        kinds(&format!("COPY t {binary}")).unwrap(),
        [DataType::Int32, DataType::Int64]
    );
    assert_eq!(
        kinds(&format!("COPY own {binary}")).unwrap(),
        [DataType::Boolean]
    );
    sql.run("CREATE ROLE nobody; SET ROLE nobody");
    let error = kinds(&format!("COPY main.t {binary}")).unwrap_err();
    assert_eq!(error.sqlstate, "42501");
}
