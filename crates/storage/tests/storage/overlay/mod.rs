//! New values of whole columns, laid over blocks that stay.

mod conflicts;
mod declared;
mod files;
mod mixture;
mod reads;
mod visible;

use crate::home::{fill_store, options};
use crate::model::Model;
use crate::tables::{Nulls, Recipe, Spread, rows as batch_of, schema};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use freestone_storage::io::{Faulty, Files};
use freestone_storage::row::cell;
use freestone_storage::{
    ColumnType, CompareOp, DEFAULT_SCHEMA, Error, Layout, NewColumns, Predicate, Result, Row,
    RowId, ScanRequest, Snapshot, Store, Table, TableId, TableOptions, Transaction, Value,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows by `id`.
type Rows = BTreeMap<i64, Row>;

const INTEGER: usize = 1;
const TEXT: usize = 2;
const DECIMAL: usize = 3;
const ALL: [usize; 3] = [INTEGER, TEXT, DECIMAL];

const ROWS: usize = 60;

/// `id` is the number of the row; the others are as the constants say.
fn model(spread: Spread, nulls: Nulls, count: usize, seed: u64) -> Model {
    let decimal = ColumnType::Decimal {
        precision: 15,
        scale: 2,
    };
    let recipes = [ColumnType::Integer, ColumnType::Text, decimal].map(|kind| Recipe {
        kind,
        nullable: true,
        nulls,
        spread,
    });
    Model::new(schema(&recipes), batch_of(&recipes, count, seed))
}

/// Small models, one for each seed, that agree on nothing but `id`.
fn small(seed: u64) -> Model {
    model(Spread::Many, Nulls::Random, ROWS, seed)
}

/// One model with some columns of another.
fn with(below: &Model, above: &Model, columns: &[usize]) -> Model {
    let column = |number: usize| match columns.contains(&number) {
        true => above.batch.column(number).clone(),
        false => below.batch.column(number).clone(),
    };
    let arrays = (0..below.schema.columns.len()).map(column).collect();
    let batch = RecordBatch::try_new(below.schema.arrow(), arrays).unwrap();
    Model::new(below.schema.clone(), batch)
}

/// A database with the model's rows as blocks of `t`, which nothing moves by itself.
fn begun(files: Arc<dyn Files>, model: &Model, options: TableOptions) -> (Arc<Store>, TableId) {
    let store = Store::over_files(files).unwrap();
    store.pause_mover();
    fill_store(&store, model, &[options.clone(), options], ROWS);
    let table = table_of(&store.snapshot()).id;
    (store, table)
}

fn two_blocks(files: &Arc<Faulty>, model: &Model) -> (Arc<Store>, TableId) {
    begun(files.clone(), model, options(Layout::Pax, 90_000))
}

fn table_of(snapshot: &Snapshot) -> Arc<Table> {
    snapshot.table(DEFAULT_SCHEMA, "t").unwrap().clone()
}

/// The model's values of columns, for each block of a table.
fn try_columns(
    store: &Store,
    table: &Table,
    columns: &[usize],
    model: &Model,
) -> Result<Vec<NewColumns>> {
    let blocks = table.blocks().iter().map(|block| {
        let ids = block.read(0, 0..block.rows() as usize)?;
        let ids = ids.as_primitive::<Int64Type>().values();
        let ids: Vec<u32> = ids.iter().map(|id| *id as u32).collect();
        let arrays = model.take(&ids, columns);
        let written = store.write_columns(table, block, columns, arrays)?;
        Ok(written.unwrap())
    });
    blocks.collect()
}

fn new_columns(store: &Store, table: &Table, columns: &[usize], model: &Model) -> Vec<NewColumns> {
    try_columns(store, table, columns, model).unwrap()
}

fn lay_over(own: &mut Transaction, store: &Store, columns: &[usize], model: &Model) -> Result<()> {
    let table = table_of(&own.snapshot());
    let new = try_columns(store, &table, columns, model)?;
    match own.lay_over(table.id, new)? {
        true => Ok(()),
        // Whoever asks does it in another way, or again.
        false => Err(Error::Conflict {
            message: "rows were moved".into(),
        }),
    }
}

fn laid_over(store: &Arc<Store>, columns: &[usize], model: &Model) {
    let mut own = store.begin().unwrap();
    lay_over(&mut own, store, columns, model).unwrap();
    own.commit().unwrap();
}

/// What a snapshot sees, by scan and by the id of each row.
fn try_rows(snapshot: &Snapshot) -> Result<Rows> {
    let table = table_of(snapshot);
    let view = snapshot.read_view(table.id);
    let all: Vec<usize> = (0..table.schema.columns.len()).collect();
    let request = ScanRequest {
        projection: all.clone(),
        view: view.clone(),
        row_ids: true,
        ..ScanRequest::default()
    };
    let mut rows = Rows::new();
    for batch in table.scan(&request)?.worker() {
        let batch = batch?;
        let names = batch.column(all.len()).as_primitive::<UInt64Type>();
        for number in 0..batch.num_rows() {
            let columns = all.iter();
            let row: Row = columns.map(|c| cell(batch.column(*c), number)).collect();
            let found = table.row(&view, RowId(names.value(number)), &all)?;
            assert_eq!(found.as_ref(), Some(&row));
            let id = id_of(&row);
            assert!(rows.insert(id, row).is_none(), "id {id} twice");
        }
    }
    Ok(rows)
}

fn rows(snapshot: &Snapshot) -> Rows {
    try_rows(snapshot).unwrap()
}

fn id_of(row: &Row) -> i64 {
    match row[0] {
        Some(Value::Int(id)) => id as i64,
        ref other => panic!("{other:?}"),
    }
}

fn rows_of(model: &Model) -> Rows {
    let arrays = model.batch.columns();
    let row = |number| arrays.iter().map(|array| cell(array, number)).collect();
    let rows = (0..model.batch.num_rows()).map(|number| (number as i64, row(number)));
    rows.collect()
}

fn equal(column: usize, value: Value) -> Predicate {
    Predicate::Compare {
        column,
        op: CompareOp::Eq,
        value,
    }
}

/// The row of an `id` as a snapshot knows it.
fn find(snapshot: &Snapshot, id: i64) -> Option<RowId> {
    let table = table_of(snapshot);
    let view = snapshot.read_view(table.id);
    let predicate = equal(0, Value::Int(id.into()));
    let found = table.look_up(&view, &predicate, &[]).unwrap();
    assert!(found.len() < 2);
    found.first().map(|(row, _)| *row)
}

fn delete(own: &mut Transaction, id: i64) -> Result<()> {
    let snapshot = own.snapshot();
    let row = find(&snapshot, id).unwrap();
    let table = table_of(&snapshot).id;
    drop(snapshot);
    own.delete(table, &[row]).map(drop)
}

fn deleted(store: &Arc<Store>, id: i64) {
    let mut own = store.begin().unwrap();
    delete(&mut own, id).unwrap();
    own.commit().unwrap();
}

/// Gives a row new values, as the model has them.
fn update(own: &mut Transaction, id: i64, model: &Model) -> Result<()> {
    let table = table_of(&own.snapshot()).id;
    delete(own, id)?;
    own.insert(table, &model.batch.slice(id as usize, 1))
        .map(drop)
}

/// Each value of a column, old or new, finds the rows that have it now.
fn check_values(snapshot: &Snapshot, known: &[&Rows], column: usize) {
    let table = table_of(snapshot);
    let view = snapshot.read_view(table.id);
    let now = rows(snapshot);
    for row in known.iter().flat_map(|rows| rows.values()) {
        let Some(value) = row.get(column).cloned().flatten() else {
            continue;
        };
        let expected = now.iter();
        let expected = expected.filter(|(_, row)| row[column].as_ref() == Some(&value));
        let expected: Vec<i64> = expected.map(|(id, _)| *id).collect();
        let predicate = equal(column, value);
        let found = table.look_up(&view, &predicate, &[0]).unwrap();
        let mut found: Vec<i64> = found.iter().map(|(_, row)| id_of(row)).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{predicate:?}");
    }
}

/// The block files that there are.
fn block_files(files: &Faulty) -> Vec<String> {
    let names = files.list("blocks").unwrap().into_iter();
    names.map(|name| format!("blocks/{name}")).collect()
}

/// The files of the overlays of `t`.
fn overlay_files(snapshot: &Snapshot) -> Vec<String> {
    let table = table_of(snapshot);
    let overlays = table.blocks().iter().flat_map(|block| block.overlays());
    overlays
        .map(|overlay| format!("blocks/{}.block", overlay.id().0))
        .collect()
}
