use super::*;
use crate::h::stored::{Stored, both_layouts};
use crate::h::tables::{orders_z as freestone_z, plain};
use freestone_storage::{CodecName, TableOptions};

/// The tuples of a scanner, one after the other.
fn tuples(mut scanner: impl Operator) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(block) = scanner.next_block() {
        all.extend((0..block.count()).map(|tuple| block.tuple(tuple).to_vec()));
    }
    all
}

/// Freestone's, in the same form.
fn freestone(table: TableName, rows: u64, options: &TableOptions, query: Query) -> Vec<Vec<u8>> {
    let tables = Stored::make(table, rows, 5, &both_layouts(options)).unwrap();
    let worker = tables[0].scan(query, Scanner::Rows).unwrap().worker();
    let mut all = Vec::new();
    for batch in worker {
        let batch = batch.unwrap();
        let columns: Vec<Vec<u8>> = batch.columns().iter().map(flat).collect();
        let count = batch.num_rows();
        all.extend((0..count).map(|row| {
            let cells = columns.iter().map(|bytes| {
                let width = bytes.len() / count;
                &bytes[row * width..(row + 1) * width]
            });
            cells.flatten().copied().collect::<Vec<u8>>()
        }));
    }
    all
}

/// Rows and columns, with and without codecs, give Freestone's tuples for every number of
/// attributes.
#[test]
fn scanners_give_freestones_tuples() {
    let delta = freestone_z(CodecName::ForDelta);
    for (table, codecs, options) in [
        (TableName::Lineitem, vec![Codec::Plain; 16], plain()),
        (TableName::Orders, vec![Codec::Plain; 7], plain()),
        (
            TableName::Orders,
            orders_z(Codec::ForDelta(8)),
            delta.clone(),
        ),
        (TableName::Orders, orders_z(Codec::For(16)), delta),
    ] {
        let rows = 6_000;
        let (row_table, column_table) = make(table, rows, 5, &codecs).unwrap();
        for attributes in [1, 2, codecs.len()] {
            for share in [0.001, 0.1, 1.0] {
                let query = Query {
                    attributes,
                    threshold: table.threshold(share),
                };
                let expected = freestone(table, rows, &options, query);
                assert_eq!(tuples(row_table.scanner(query)), expected);
                assert_eq!(tuples(column_table.scanner(query).unwrap()), expected);
            }
        }
    }
}

/// 152 bytes as rows and 150 as columns, 32 and 32, 12 and 11.5; FOR takes a byte more.
#[test]
fn tuples_are_as_wide_as_in_the_document() {
    for (table, codecs, in_rows, in_columns) in [
        (TableName::Lineitem, vec![Codec::Plain; 16], 152.0, 150.0),
        (TableName::Orders, vec![Codec::Plain; 7], 32.0, 32.0),
        (TableName::Orders, orders_z(Codec::ForDelta(8)), 12.0, 11.5),
        (TableName::Orders, orders_z(Codec::For(16)), 13.0, 12.5),
    ] {
        // Pages are not a multiple of a tuple, and have a header and a trailer.
        let (rows, columns) = make(table, 60_000, 1, &codecs).unwrap();
        let all = codecs.len();
        let rows = rows.bytes_per_tuple(all).unwrap() / in_rows;
        let columns = columns.bytes_per_tuple(all).unwrap() / in_columns;
        assert!((1.0..1.05).contains(&rows), "{table:?} {rows}");
        assert!((1.0..1.02).contains(&columns), "{table:?} {columns}");
    }
}

#[test]
fn values_without_bits_are_refused() {
    let mut codecs = orders_z(Codec::ForDelta(8));
    codecs[0] = Codec::Pack(13);
    let error = make(TableName::Orders, 10, 1, &codecs).unwrap_err();
    assert!(error.to_string().contains("13 bits"), "{error}");
}
