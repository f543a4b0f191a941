//! Which codec and which way in are chosen, for the tables of Q9.
//!
//! The report is held against `choices.txt`; `BLESS=1` writes it anew. A change
//! there is a change of behaviour and wants a reason.

use crate::home::{Home, one_worker};
use crate::tables::Dice;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringViewArray};
use freestone_storage::{
    Column, ColumnType, CompareOp, DEFAULT_SCHEMA, IndexKind, Layout, Predicate, ScanRequest,
    Table, TableOptions, TableSchema, Value,
};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Rows of each table: enough for zones and chunks to matter.
const ROWS: usize = 40_000;

struct Sample {
    name: &'static str,
    kind: ColumnType,
    columns: Vec<ArrayRef>,
}

fn uniform(dice: &mut Dice, largest: usize) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(
        (0..ROWS).map(|_| 1 + dice.below(largest) as i32),
    ))
}

fn text(dice: &mut Dice) -> ArrayRef {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
    let value = |dice: &mut Dice| {
        (0..20)
            .map(|_| *dice.choose(LETTERS) as char)
            .collect::<String>()
    };
    Arc::new(StringViewArray::from_iter_values(
        (0..ROWS).map(|_| value(dice)),
    ))
}

/// Narrow-U, Narrow-E, Wide-E and Strings (Q9).
fn samples() -> Vec<Sample> {
    let mut dice = Dice(42);
    let power = |exponent: f64| exponent.exp2() as usize;
    let integers = |name, columns| Sample {
        name,
        kind: ColumnType::Integer,
        columns,
    };
    vec![
        integers(
            "narrow_u",
            (0..10).map(|_| uniform(&mut dice, 100_000_000)).collect(),
        ),
        integers(
            "narrow_e",
            (1..=10)
                .map(|i| uniform(&mut dice, power(2.7 * f64::from(i))))
                .collect(),
        ),
        integers(
            "wide_e",
            (1..=50)
                .map(|i| uniform(&mut dice, power(4.0 + 23.0 / 50.0 * f64::from(i))))
                .collect(),
        ),
        Sample {
            name: "strings",
            kind: ColumnType::Text,
            columns: (0..10).map(|_| text(&mut dice)).collect(),
        },
    ]
}

fn load(sample: &Sample, layout: Layout, sort_by: Option<String>) -> Home {
    let column = |number| Column {
        name: format!("c{number}"),
        kind: sample.kind,
        nullable: false,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    let schema = TableSchema {
        columns: (0..sample.columns.len()).map(column).collect(),
        ..TableSchema::default()
    };
    let batch = RecordBatch::try_new(schema.arrow(), sample.columns.clone()).unwrap();
    let home = Home::new(false);
    let options = TableOptions {
        layout,
        sort_by,
        ..TableOptions::default()
    };
    let table = |schema: TableSchema| {
        home.store
            .commit(|edit| edit.create_table(DEFAULT_SCHEMA, "t", schema, options.clone()))
            .unwrap();
        home.table()
    };
    let table = table(schema);
    let mut writer = home.store.writer(&table.schema, &options).unwrap();
    writer.push(&batch).unwrap();
    let blocks = writer.finish().unwrap();
    home.store
        .commit(|edit| edit.append(table.id, blocks))
        .unwrap();
    home
}

/// The way that most blocks took for `c0 < value`.
fn way(table: &Table, value: Value) -> &'static str {
    let predicate = Predicate::Compare {
        column: 0,
        op: CompareOp::Lt,
        value,
    };
    let request = ScanRequest {
        projection: vec![1],
        predicate: Some(predicate),
        ..ScanRequest::default()
    };
    let scan = table.scan(&request).unwrap();
    one_worker(&scan);
    let metrics = scan.metrics();
    let counts = [
        (metrics.blocks_by_both.load(Relaxed), "search and index"),
        (metrics.blocks_by_index.load(Relaxed), "index"),
        (metrics.blocks_searched.load(Relaxed), "search"),
        (metrics.blocks_read.load(Relaxed), "scan"),
    ];
    counts
        .into_iter()
        .find(|(count, _)| *count > 0)
        .map_or("pruned", |(_, way)| way)
}

/// The value below which a share of the rows of `c0` lies.
fn quantile(sample: &Sample, share: f64) -> Value {
    use arrow_array::cast::AsArray;
    let at = (ROWS as f64 * share) as usize;
    let first = &sample.columns[0];
    match sample.kind {
        ColumnType::Integer => {
            let mut values = first
                .as_primitive::<arrow_array::types::Int32Type>()
                .values()
                .to_vec();
            values.sort_unstable();
            Value::Int(values[at].into())
        }
        _ => {
            let mut values: Vec<&str> = first.as_string_view().iter().flatten().collect();
            values.sort_unstable();
            Value::Bytes(values[at].as_bytes().to_vec())
        }
    }
}

#[test]
fn codecs_and_ways_are_those_written_down() {
    let mut report = String::new();
    for sample in samples() {
        for layout in [Layout::Column, Layout::Row, Layout::Pax] {
            let home = load(&sample, layout, None);
            let facts = home.table().blocks()[0].columns().unwrap();
            let codecs: Vec<&str> = facts.iter().map(|facts| facts.codec).collect();
            let runs = codecs
                .chunk_by(|a, b| a == b)
                .map(|run| format!("{} x {}", run.len(), run[0]));
            writeln!(
                report,
                "{} {layout}: {}",
                sample.name,
                runs.collect::<Vec<_>>().join(", ")
            )
            .unwrap();
            let seen = home.table();
            let index = home
                .store
                .build_index(&seen, "i", IndexKind::Csb, vec![0], 1, &|| true)
                .unwrap();
            home.store
                .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
                .unwrap();
            let sorted = load(&sample, layout, Some("c0".into()));
            for share in [0.001, 0.01, 0.1, 0.5] {
                let value = quantile(&sample, share);
                let ways = [
                    way(&seen, value.clone()),
                    way(&home.table(), value.clone()),
                    way(&sorted.table(), value),
                ];
                writeln!(
                    report,
                    "  {share}: plain {}, indexed {}, sorted {}",
                    ways[0], ways[1], ways[2]
                )
                .unwrap();
            }
        }
    }
    let file = "tests/storage/choices.txt";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file, &report).unwrap();
    }
    assert_eq!(
        report,
        std::fs::read_to_string(file).unwrap(),
        "BLESS=1 writes choices.txt anew"
    );
}
