//! Answers of the catalog, which are those of PostgreSQL 15.
//!
//! `catalog_answers.txt` has statements, each in one line, with the rows that PostgreSQL answers,
//! each as the text of a record, or `error` and the SQLSTATE. Entries are set apart by empty
//! lines, and are asked one after the other in one session.

use crate::support::Sql;

#[test]
fn the_catalog_answers_as_postgresql_does() {
    let sql = Sql::new();
    let all = include_str!("catalog_answers.txt").trim_end();
    let mut wrong = Vec::new();
    for entry in all.split("\n\n") {
        let (statement, wanted) = entry.split_once('\n').unwrap_or((entry, ""));
        if let Some(state) = wanted.strip_prefix("error ") {
            assert_eq!(sql.ended(statement), state, "{statement}");
        } else if statement.starts_with("SELECT") {
            let rows = sql.rows_of_one_engine(&format!("SELECT q::text FROM ({statement}) q"));
            let rows = rows.join("\n");
            if rows != wanted {
                wrong.push(format!(
                    "{statement}\nis answered\n{rows}\ninstead of\n{wanted}"
                ));
            }
        } else {
            sql.run(statement);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
