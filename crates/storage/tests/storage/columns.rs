//! Columns come and go; the blocks stay, and answer as if they had been rewritten.

use crate::conformance::check_scan;
use crate::home::{Home, fill, options};
use crate::model::Model;
use crate::tables::{Dice, KINDS, Nulls, Recipe, Spread, rows, schema};
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use freestone_storage::{Column, DEFAULT_SCHEMA, Error, IndexKind, Layout};
use std::sync::Arc;

/// The first value of a column that is not NULL, or else a NULL, as an array of one.
fn one(array: &ArrayRef, null: bool) -> ArrayRef {
    let row = (0..array.len())
        .find(|row| array.is_null(*row) == null)
        .unwrap_or(0);
    array.slice(row, 1)
}

fn with_column(model: &Model, column: Column, value: &ArrayRef) -> Model {
    let count = model.batch.num_rows();
    let repeated =
        arrow_select::take::take(value, &UInt32Array::from(vec![0; count]), None).unwrap();
    let mut schema = model.schema.clone();
    schema.columns.push(column);
    let columns = model
        .batch
        .columns()
        .iter()
        .cloned()
        .chain([repeated])
        .collect();
    let batch = RecordBatch::try_new(schema.arrow(), columns).unwrap();
    Model::new(schema, batch)
}

fn without_column(model: &Model, number: usize) -> Model {
    let mut schema = model.schema.clone();
    schema.columns.remove(number);
    let mut columns = model.batch.columns().to_vec();
    columns.remove(number);
    let batch = RecordBatch::try_new(schema.arrow(), columns).unwrap();
    Model::new(schema, batch)
}

fn check(home: &Home, model: &Model, dice: &mut Dice) {
    let table = home.table();
    for _ in 0..3 {
        let predicate = model.predicate(dice, 2);
        check_scan(&table, model, dice, Some(predicate));
    }
    check_scan(&table, model, dice, None);
    table.statistics().unwrap();
    table
        .blocks()
        .iter()
        .for_each(|block| assert_eq!(block.columns().unwrap().len(), model.schema.columns.len()));
    home.store.verify(|report| report.outcome.unwrap());
}

#[test]
fn columns_come_and_go_without_a_block_being_written() {
    for (number, kind) in KINDS.into_iter().enumerate() {
        let recipe = |kind| Recipe {
            kind,
            nullable: true,
            nulls: Nulls::Random,
            spread: Spread::Few,
        };
        let recipes = [recipe(KINDS[(number + 5) % KINDS.len()]), recipe(kind)];
        let full = Model::new(schema(&recipes), rows(&recipes, 400, 8));
        let layout = Layout::ALL[number % Layout::ALL.len()];
        let narrow = without_column(&full, 2);
        let mut home = Home::new(false);
        fill(&home, &narrow, &[options(layout, 9000)], 200);
        let mut dice = Dice(number as u64);
        for null in [false, true] {
            let ids = home.table().block_ids();
            let value = one(full.batch.column(2), null);
            let column = full.schema.columns[2].clone();
            let id = home.table().id;
            home.store
                .commit(|edit| edit.add_column(id, column.clone(), &value))
                .unwrap();
            let model = with_column(&narrow, column, &value);
            home = home.reopened();
            check(&home, &model, &mut dice);
            home.store
                .commit(|edit| edit.drop_column(id, "c0"))
                .unwrap();
            check(&home, &without_column(&model, 1), &mut dice);
            assert_eq!(home.table().block_ids(), ids, "no block was written");
            let again = home
                .store
                .commit(|edit| edit.drop_column(id, "c0"))
                .unwrap_err();
            assert_eq!(again.sqlstate(), "42703");
            // Back to where it began, by way of a column that is there already.
            let (first, array) = (
                full.schema.columns[1].clone(),
                one(full.batch.column(1), false),
            );
            home.store
                .commit(|edit| edit.add_column(id, first, &array))
                .unwrap();
            home.store
                .commit(|edit| edit.drop_column(id, "c1"))
                .unwrap();
            let refreshed = with_column(
                &without_column(&narrow, 1),
                full.schema.columns[1].clone(),
                &array,
            );
            check(&home, &refreshed, &mut dice);
            return_to(&home, &narrow, layout);
        }
    }
}

/// Fills the table anew, with the columns of the model.
fn return_to(home: &Home, model: &Model, layout: Layout) {
    home.store
        .commit(|edit| edit.drop_table(DEFAULT_SCHEMA, "t", false))
        .unwrap();
    fill(home, model, &[options(layout, 9000)], 200);
}

#[test]
fn new_rows_keys_and_indexes_live_beside_old_blocks() {
    let recipe = |kind| Recipe {
        kind,
        nullable: false,
        nulls: Nulls::None,
        spread: Spread::Many,
    };
    let recipes = [recipe(KINDS[2]), recipe(KINDS[3])];
    let full = Model::new(schema(&recipes), rows(&recipes, 600, 8));
    for layout in Layout::ALL {
        let home = Home::new(false);
        fill(
            &home,
            &without_column(&full, 2),
            &[options(layout, 5000)],
            300,
        );
        let seen = home.table();
        let value = one(full.batch.column(2), false);
        let null = Arc::new(arrow_array::new_null_array(value.data_type(), 1)) as ArrayRef;
        let refused = home
            .store
            .commit(|edit| edit.add_column(seen.id, full.schema.columns[2].clone(), &null));
        assert!(
            matches!(refused, Err(Error::Invalid { .. })),
            "NOT NULL without a value"
        );
        home.store
            .commit(|edit| edit.add_column(seen.id, full.schema.columns[2].clone(), &value))
            .unwrap();
        let table = home.table();
        let blocks = crate::home::written(
            home.store.writer(&table.schema, &table.options).unwrap(),
            &full.batch,
            300,
        );
        home.store
            .commit(|edit| edit.append(table.id, blocks))
            .unwrap();
        let first = with_column(
            &without_column(&full, 2),
            full.schema.columns[2].clone(),
            &value,
        );
        let both =
            arrow_select::concat::concat_batches(&full.schema.arrow(), [&first.batch, &full.batch])
                .unwrap();
        let model = Model::new(full.schema.clone(), both);
        for columns in [vec![2], vec![1, 2]] {
            let seen = home.table();
            let name = format!("i{}", columns.len());
            let index = home
                .store
                .build_index(&seen, &name, IndexKind::Csb, columns, 1, &|| true)
                .unwrap();
            home.store
                .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
                .unwrap();
        }
        let mut dice = Dice(layout as u64);
        for _ in 0..4 {
            let predicate = Some(model.predicate(&mut dice, 1));
            let request = freestone_storage::ScanRequest {
                projection: vec![0, 1, 2],
                predicate: predicate.clone(),
                ..Default::default()
            };
            let found: usize = crate::home::one_worker(&home.table().scan(&request).unwrap())
                .iter()
                .map(RecordBatch::num_rows)
                .sum();
            assert_eq!(found, model.positions(predicate.as_ref()).len());
        }
        home.store
            .commit(|edit| edit.drop_column(table.id, "c0"))
            .unwrap();
        assert_eq!(
            home.table().schema.indexes.len(),
            1,
            "the index over the dropped column is gone"
        );
        let home = home.reopened();
        let request = freestone_storage::ScanRequest {
            projection: vec![0, 1],
            ..Default::default()
        };
        let found = crate::home::one_worker(&home.table().scan(&request).unwrap());
        assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 1200);
        home.store.verify(|report| report.outcome.unwrap());
    }
}
