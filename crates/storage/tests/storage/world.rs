//! A database of small tables as a model: what is in it, and how it is read.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringViewArray};
use freestone_storage::{
    Column, ColumnType, DEFAULT_SCHEMA, Key, RowId, ScanRequest, Snapshot, TableSchema,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The values of a row behind its key, in the order of the columns.
pub type Cells = Vec<Option<i64>>;

/// The rows of a table by key, with their ids.
pub type Found = BTreeMap<i64, (RowId, Cells)>;

/// A table: the key `k`, and further columns whose names begin with `n` if they
/// hold numbers, and with `t` if they hold texts that follow from numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelTable {
    pub columns: Vec<String>,
    pub indexes: BTreeSet<String>,
    pub rows: BTreeMap<i64, Cells>,
}

/// Everything that can be seen, by name of the table.
pub type World = BTreeMap<String, ModelTable>;

pub fn column(name: &str) -> Column {
    Column {
        name: name.into(),
        kind: match name.starts_with('t') {
            true => ColumnType::Text,
            false => ColumnType::BigInt,
        },
        nullable: name != "k",
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    }
}

pub fn schema(columns: &[String], name: &str) -> TableSchema {
    let others = columns.iter().map(|name| column(name));
    TableSchema {
        columns: std::iter::once(column("k")).chain(others).collect(),
        keys: vec![Key {
            name: format!("{name}_key"),
            columns: vec![0],
            primary: true,
            ..Key::default()
        }],
        ..TableSchema::default()
    }
}

/// Values of one column.
pub fn array(name: &str, values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    match name.starts_with('t') {
        true => Arc::new(
            values
                .map(|value| value.map(|value| format!("text {value}")))
                .collect::<StringViewArray>(),
        ),
        false => Arc::new(values.collect::<Int64Array>()),
    }
}

pub fn batch(columns: &[String], rows: &[(i64, Cells)]) -> RecordBatch {
    let keys = rows.iter().map(|(key, _)| Some(*key));
    let mut arrays = vec![array("k", keys)];
    for (number, name) in columns.iter().enumerate() {
        arrays.push(array(name, rows.iter().map(|(_, cells)| cells[number])));
    }
    RecordBatch::try_new(schema(columns, "").arrow(), arrays).unwrap()
}

fn value(array: &ArrayRef, row: usize) -> Option<i64> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.as_string_view_opt() {
        Some(texts) => {
            let number = texts.value(row).strip_prefix("text ");
            number.unwrap().parse().unwrap()
        }
        None => array.as_primitive::<Int64Type>().value(row),
    })
}

/// The rows of a table that a snapshot sees.
///
/// # Errors
/// Why they cannot be read.
pub fn try_rows(snapshot: &Snapshot, name: &str) -> freestone_storage::Result<Found> {
    let table = snapshot.table(DEFAULT_SCHEMA, name).unwrap();
    let columns = table.schema.columns.len();
    let request = ScanRequest {
        projection: (0..columns).collect(),
        view: snapshot.read_view(table.id),
        row_ids: true,
        ..ScanRequest::default()
    };
    let mut rows = Found::new();
    for batch in table.scan(&request)?.worker() {
        let batch = batch?;
        let ids = batch.column(columns).as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            let key = value(batch.column(0), row).unwrap();
            let cells = (1..columns).map(|column| value(batch.column(column), row));
            let found = (RowId(ids.value(row)), cells.collect());
            let twice = rows.insert(key, found);
            assert!(twice.is_none(), "key {key} of {name} is there twice");
        }
    }
    Ok(rows)
}

pub fn rows(snapshot: &Snapshot, name: &str) -> Found {
    try_rows(snapshot, name).unwrap()
}

/// All that a snapshot sees.
pub fn world(snapshot: &Snapshot) -> World {
    try_world(snapshot).unwrap()
}

/// All that a snapshot sees.
///
/// # Errors
/// Why it cannot be read.
pub fn try_world(snapshot: &Snapshot) -> freestone_storage::Result<World> {
    let tables = snapshot.tables(DEFAULT_SCHEMA).into_iter().map(|table| {
        let names = table.schema.columns[1..].iter();
        let found = try_rows(snapshot, &table.name)?;
        let model = ModelTable {
            columns: names.map(|column| column.name.clone()).collect(),
            indexes: table
                .schema
                .indexes
                .iter()
                .filter(|index| !table.schema.is_of_key(index))
                .map(|index| index.name.clone())
                .collect(),
            rows: found
                .into_iter()
                .map(|(key, (_, cells))| (key, cells))
                .collect(),
        };
        Ok((table.name.clone(), model))
    });
    tables.collect()
}
