//! Rows with the columns, types and lengths of TPC-H's LINEITEM.

use crate::error::{Error, Result};
use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringViewArray,
};
use freestone_calibrate::Random;
use freestone_storage::{Column, ColumnType, TableSchema};
use std::sync::Arc;

/// Bytes of a row as text, by which the benchmark's databases are measured: one of 1 GB
/// has six million of them.
pub(super) const BYTES_A_ROW: usize = 1_000_000_000 / 6_001_215;

const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
const INSTRUCTIONS: [&str; 4] = [
    "DELIVER IN PERSON",
    "COLLECT COD",
    "NONE",
    "TAKE BACK RETURN",
];
const WORDS: &str = "carefully final deposits sleep furiously among the even, regular ideas";

const NAMES: [&str; 16] = [
    "l_orderkey",
    "l_partkey",
    "l_suppkey",
    "l_linenumber",
    "l_quantity",
    "l_extendedprice",
    "l_discount",
    "l_tax",
    "l_returnflag",
    "l_linestatus",
    "l_shipdate",
    "l_commitdate",
    "l_receiptdate",
    "l_shipinstruct",
    "l_shipmode",
    "l_comment",
];

/// The table, nothing of which may be NULL.
pub(super) fn schema() -> TableSchema {
    let decimal = ColumnType::Decimal {
        precision: 15,
        scale: 2,
    };
    let kind = |number: usize| match number {
        0..=2 => ColumnType::BigInt,
        3 => ColumnType::Integer,
        4..=7 => decimal,
        8 | 9 => ColumnType::Char(1),
        10..=12 => ColumnType::Date,
        13 => ColumnType::Char(25),
        14 => ColumnType::Char(10),
        _ => ColumnType::Varchar(Some(44)),
    };
    let columns = NAMES.iter().enumerate().map(|(number, name)| Column {
        name: (*name).into(),
        kind: kind(number),
        nullable: false,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    });
    TableSchema {
        columns: columns.collect(),
        ..TableSchema::default()
    }
}

/// `rows` of it: values are drawn as `dbgen` does, comments have 10 to 43 characters.
pub(super) fn rows(rows: usize, seed: u64) -> Result<RecordBatch> {
    let draw = |column: u64, least: i64, most: i64| {
        let mut random = Random::stream(seed, column);
        (0..rows).map(move |_| least + random.below((most - least + 1) as u64) as i64)
    };
    let of = |column: u64, values: &'static [&'static str]| -> ArrayRef {
        let mut random = Random::stream(seed, column);
        let values = (0..rows).map(|_| values[random.below(values.len() as u64) as usize]);
        Arc::new(StringViewArray::from_iter_values(values))
    };
    let long = |values: &mut dyn Iterator<Item = i64>| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(values))
    };
    let dates = |column: u64| -> ArrayRef {
        // 1992-01-02 to 1998-12-01.
        let days = draw(column, 8_036, 10_561).map(|day| day as i32);
        Arc::new(Date32Array::from_iter_values(days))
    };
    let decimal = |column: u64, least: i64, most: i64| -> Result<ArrayRef> {
        let values = draw(column, least, most).map(i128::from);
        let array = Decimal128Array::from_iter_values(values).with_precision_and_scale(15, 2);
        Ok(Arc::new(array.map_err(wrong)?))
    };
    let mut comments = Random::stream(seed, 15);
    let comments = (0..rows).map(|_| {
        let start = comments.below(26) as usize;
        &WORDS[start..start + 10 + comments.below(34) as usize]
    });
    let parts = (rows as i64 / 30).max(1);
    let columns: Vec<ArrayRef> = vec![
        // Four lines an order on average.
        long(&mut (0..rows as i64).map(|row| 1 + row / 4)),
        long(&mut draw(1, 1, parts)),
        long(&mut draw(2, 1, (parts / 20).max(1))),
        Arc::new(Int32Array::from_iter_values(
            (0..rows as i32).map(|row| 1 + row % 4),
        )),
        decimal(4, 100, 5_000)?,
        decimal(5, 90_000, 10_500_000)?,
        decimal(6, 0, 10)?,
        decimal(7, 0, 8)?,
        of(8, &["R", "A", "N"]),
        of(9, &["O", "F"]),
        dates(10),
        dates(11),
        dates(12),
        of(13, &INSTRUCTIONS),
        of(14, &MODES),
        Arc::new(StringViewArray::from_iter_values(comments)),
    ];
    RecordBatch::try_new(schema().arrow(), columns).map_err(wrong)
}

fn wrong(error: impl std::fmt::Display) -> Error {
    Error::new(error.to_string(), "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;

    #[test]
    fn comments_have_the_lengths_of_the_benchmark() {
        let batch = rows(5_000, 3).unwrap();
        assert_eq!(batch.num_columns(), 16);
        let lengths: Vec<u32> = batch.column(15).as_string_view().lengths().collect();
        assert!(lengths.iter().all(|length| (10..=43).contains(length)));
        let mean = f64::from(lengths.iter().sum::<u32>()) / 5_000.0;
        assert!((mean - 26.5).abs() < 0.5, "{mean}");
    }
}
