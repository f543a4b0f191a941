//! Frames of the program, lent to a session by name.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use freestone::{Frame, Parameter};

use crate::support::{Sql, runtime};

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("k", DataType::Int64, true)]))
}

fn batch(numbers: std::ops::Range<i64>) -> RecordBatch {
    let column = Arc::new(Int64Array::from_iter_values(numbers));
    RecordBatch::try_new(schema(), vec![column]).unwrap()
}

fn kept(numbers: std::ops::Range<i64>) -> Frame {
    Frame::of_batches(schema(), &[batch(numbers)]).unwrap()
}

fn once(numbers: std::ops::Range<i64>) -> Frame {
    let batches = vec![Ok(batch(numbers.clone())), Ok(batch(numbers))];
    Frame::of_reader(Box::new(RecordBatchIterator::new(batches, schema()))).unwrap()
}

/// The first number of a query's result, or the SQLSTATE of its error.
fn number(sql: &Sql, frame: Frame, query: &str) -> Result<i64, String> {
    let frames = HashMap::from([("frame".to_owned(), frame)]);
    let work = sql.session.lending(frames, sql.session.query(query));
    let batches = runtime().block_on(work).map_err(|error| error.sqlstate)?;
    let columns = batches.iter().find(|batch| batch.num_rows() > 0);
    let column = columns.unwrap().column(0).as_any();
    Ok(column.downcast_ref::<Int64Array>().unwrap().value(0))
}

#[test]
fn a_frame_is_a_table_while_it_is_lent() {
    let sql = Sql::new();
    let all = "SELECT sum(k)::BIGINT FROM frame";
    assert_eq!(number(&sql, kept(0..200_000), all), Ok(19_999_900_000));
    assert_eq!(number(&sql, once(0..10), all), Ok(90));
    // Another frame, another answer; no frame, no table.
    assert_eq!(number(&sql, kept(0..3), all), Ok(3));
    assert_eq!(sql.error(all).sqlstate, "42P01");
    sql.run("CREATE TABLE t (k BIGINT)");
    let insert = "INSERT INTO t SELECT k FROM frame RETURNING k";
    assert_eq!(number(&sql, kept(7..8), insert), Ok(7));
    let joined = "SELECT t.k FROM t JOIN frame USING (k)";
    assert_eq!(number(&sql, kept(0..100), joined), Ok(7));
}

#[test]
fn tables_of_the_database_come_first() {
    let sql = Sql::new();
    sql.run("CREATE TABLE frame (k BIGINT); INSERT INTO frame VALUES (-1)");
    assert_eq!(number(&sql, kept(5..6), "SELECT k FROM frame"), Ok(-1));
    assert!(sql.session.has_table("frame"));
    assert!(!sql.session.has_table("frames"));
    let sql = Sql::new();
    let named = "WITH frame AS (SELECT 8::BIGINT AS k) SELECT k FROM frame";
    assert_eq!(number(&sql, kept(5..6), named), Ok(8));
}

#[test]
fn a_stream_is_read_once() {
    let sql = Sql::new();
    let twice = "SELECT a.k FROM frame a JOIN frame b ON a.k < b.k";
    assert_eq!(number(&sql, once(0..10), twice), Err("55000".to_owned()));
}

#[test]
fn statements_tell_the_tables_that_they_name() {
    let sql = Sql::new();
    let text = "WITH w AS (SELECT * FROM \"A\") SELECT * FROM B, s.c, 'f.csv', w \
                WHERE EXISTS (SELECT 1 FROM d, b)";
    let statements = sql.session.parse(text).unwrap();
    assert_eq!(statements[0].tables(), ["A", "b", "d", "w"]);
}

#[test]
fn lists_are_parameters() {
    let sql = Sql::new();
    let prepared = sql
        .session
        .prepare("SELECT 2 = ANY($1), 5 = ANY($1)")
        .unwrap();
    let list = Parameter::List(vec![1.into(), 2.into(), Parameter::Null]);
    let rows = runtime().block_on(prepared.rows(&sql.session, &[list]));
    let shown = format!("{:?}", rows.unwrap());
    assert_eq!(shown, "[[Some(Bool(true)), None]]");
}
