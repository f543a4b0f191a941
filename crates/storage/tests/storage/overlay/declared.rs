//! Tables that are declared otherwise after columns were laid over.

use super::*;
use crate::home::{every_form, written};
use arrow_array::{ArrayRef, Int64Array};
use freestone_storage::{Column, Error, IndexKind, Key, TableSchema};

fn number(name: &str) -> Column {
    Column {
        name: name.into(),
        kind: ColumnType::BigInt,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    }
}

fn without(rows: &Rows, column: usize) -> Rows {
    let mut rows = rows.clone();
    rows.values_mut().for_each(|row| drop(row.remove(column)));
    rows
}

/// Rows once the store is opened again are those that it shows.
fn check(files: &Faulty, store: &Store, expected: &Rows) {
    assert_eq!(rows(&store.snapshot()), *expected);
    let again = Store::over_files(Arc::new(files.crash())).unwrap();
    assert_eq!(rows(&again.snapshot()), *expected);
    store.verify(|report| report.outcome.unwrap());
}

#[test]
fn columns_come_and_go_beside_overlays() {
    let (old, one, two) = (small(1), small(2), small(3));
    for options in every_form(90_000) {
        let files = Arc::new(Faulty::default());
        let (store, id) = begun(files.clone(), &old, options);
        let blocks = table_of(&store.snapshot()).block_ids();
        laid_over(&store, &[INTEGER, TEXT], &one);
        let value: ArrayRef = Arc::new(Int64Array::from(vec![77]));
        store
            .commit(|edit| edit.add_column(id, number("later"), &value))
            .unwrap();
        let mut expected = rows_of(&with(&old, &one, &[INTEGER, TEXT]));
        for row in expected.values_mut() {
            row.push(Some(Value::Int(77)));
        }
        check(&files, &store, &expected);
        // No block has the new column, so none can have it laid over.
        let table = table_of(&store.snapshot());
        let block = &table.blocks()[0];
        for columns in [&[4][..], &[TEXT, 4]] {
            let first: Vec<u32> = (0..block.rows() as u32).collect();
            let mut arrays = one.take(&first, &columns[..columns.len() - 1]);
            let null = arrow_array::new_null_array(value.data_type(), first.len());
            arrays.push(null);
            let none = store.write_columns(&table, block, columns, arrays);
            assert!(none.unwrap().is_none());
        }
        // Another column goes, and numbers are others from then on.
        store.commit(|edit| edit.drop_column(id, "id")).unwrap();
        let table = table_of(&store.snapshot());
        let rows_now: Vec<Row> = table
            .look_up(
                &store.snapshot().read_view(id),
                &Predicate::IsNotNull(3),
                &[0, 1, 2, 3],
            )
            .unwrap()
            .into_iter()
            .map(|(_, row)| row)
            .collect();
        let narrow: Vec<Row> = without(&expected, 0).into_values().collect();
        assert_eq!(rows_now, narrow);
        // The column that was number 2 is number 1 now.
        let mut own = store.begin().unwrap();
        let halves = (0..2).map(|half| {
            let half = half as u32 * ROWS as u32 / 2;
            let ids: Vec<u32> = (half..half + ROWS as u32 / 2).collect();
            let block = &table.blocks()[usize::from(half > 0)];
            let arrays = two.take(&ids, &[TEXT]);
            store
                .write_columns(&table, block, &[1], arrays)
                .unwrap()
                .unwrap()
        });
        assert!(own.lay_over(id, halves.collect()).unwrap());
        own.commit().unwrap();
        // The column with the older overlay goes.
        store.commit(|edit| edit.drop_column(id, "c0")).unwrap();
        let again = Store::over_files(Arc::new(files.crash())).unwrap();
        for store in [&store, &again] {
            let snapshot = store.snapshot();
            let table = table_of(&snapshot);
            assert_eq!(table.block_ids(), blocks, "no block was written");
            let all = Predicate::IsNotNull(2);
            let found = table
                .look_up(&snapshot.read_view(id), &all, &[0, 1])
                .unwrap();
            let texts = rows_of(&two).into_values().map(|row| row[TEXT].clone());
            let decimals = rows_of(&old).into_values().map(|row| row[DECIMAL].clone());
            let expected: Vec<Row> = texts.zip(decimals).map(|(t, d)| vec![t, d]).collect();
            let found: Vec<Row> = found.into_iter().map(|(_, row)| row).collect();
            assert_eq!(found, expected);
            store.verify(|report| report.outcome.unwrap());
        }
    }
}

/// The table with another schema, for which its rows are right.
fn declare(store: &Store, change: impl FnOnce(&mut TableSchema)) {
    let snapshot = store.snapshot();
    let seen = table_of(&snapshot);
    let mut schema = (*seen.schema).clone();
    change(&mut schema);
    let options = seen.options.clone();
    let edit = |edit: &mut freestone_storage::CatalogEdit| {
        edit.declare(&seen, snapshot.timestamp(), schema, options)
    };
    store.commit(edit).unwrap();
}

#[test]
fn names_and_null_are_declared_otherwise() {
    let (old, one, two) = (small(1), small(2), small(3));
    let files = Arc::new(Faulty::default());
    let (store, _) = two_blocks(&files, &old);
    laid_over(&store, &[TEXT], &one);
    declare(&store, |schema| schema.columns[TEXT].name = "words".into());
    let now = with(&old, &one, &[TEXT]);
    check(&files, &store, &rows_of(&now));
    laid_over(&store, &[TEXT, INTEGER], &two);
    let now = with(&now, &two, &[TEXT, INTEGER]);
    check(&files, &store, &rows_of(&now));
    // What may be NULL now is not so in the block.
    declare(&store, |schema| schema.columns[0].nullable = true);
    let table = table_of(&store.snapshot());
    let block = &table.blocks()[0];
    let ids = block.read(0, 0..block.rows() as usize).unwrap();
    let none = store.write_columns(&table, block, &[0], vec![ids]);
    assert!(none.unwrap().is_none());
    laid_over(&store, &[DECIMAL], &two);
    let now = with(&now, &two, &[DECIMAL]);
    check(&files, &store, &rows_of(&now));
}

#[test]
fn indexes_find_the_new_values() {
    let (old, one, two) = (small(1), small(2), small(3));
    let known = [rows_of(&old), rows_of(&one), rows_of(&two)];
    let known: Vec<&Rows> = known.iter().collect();
    for options in every_form(90_000) {
        for kind in IndexKind::ALL {
            for column in ALL {
                let files = Arc::new(Faulty::default());
                let (store, id) = begun(files.clone(), &old, options.clone());
                let create = |name: &str| {
                    let seen = table_of(&store.snapshot());
                    let index = store.build_index(&seen, name, kind, vec![column], 1, &|| true);
                    let index = index.unwrap();
                    store
                        .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
                        .unwrap();
                };
                create("before");
                laid_over(&store, &[column], &one);
                check_values(&store.snapshot(), &known, column);
                create("after");
                let now = with(&old, &one, &[column]);
                check(&files, &store, &rows_of(&now));
                check_values(&store.snapshot(), &known, column);
                laid_over(&store, &[column], &two);
                check_values(&store.snapshot(), &known, column);
                let again = Store::over_files(Arc::new(files.crash())).unwrap();
                check_values(&again.snapshot(), &known, column);
                store.vacuum(id).unwrap();
                let table = table_of(&store.snapshot());
                for (block, index) in table
                    .blocks()
                    .iter()
                    .flat_map(|block| table.schema.indexes.iter().map(move |i| (block, i)))
                {
                    assert!(block.index(index).unwrap().is_some(), "written anew");
                }
                check_values(&store.snapshot(), &known, column);
            }
        }
    }
}

/// What was made of the values before an overlay does not take its place.
#[test]
fn work_on_former_values_is_refused() {
    type Finish = Box<dyn FnOnce(&mut freestone_storage::CatalogEdit) -> Result<()>>;
    type Way = fn(&Store, &Snapshot) -> Finish;
    fn rewritten(store: &Store, seen: &Table) -> Vec<freestone_storage::NewBlock> {
        let batch = small(1).batch;
        written(
            store.writer(&seen.schema, &seen.options).unwrap(),
            &batch,
            ROWS,
        )
    }
    let ways: [(&str, Way); 5] = [
        ("an index", |store, snapshot| {
            let seen = table_of(snapshot);
            let index = store.build_index(&seen, "i", IndexKind::Csb, vec![INTEGER], 1, &|| true);
            let index = index.unwrap();
            Box::new(move |edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
        }),
        ("blocks", |store, snapshot| {
            let (seen, timestamp) = (table_of(snapshot), snapshot.timestamp());
            let blocks = rewritten(store, &seen);
            let options = seen.options.clone();
            Box::new(move |edit| edit.rewrite(seen.id, &seen, timestamp, options, blocks))
        }),
        ("types", |store, snapshot| {
            let (seen, timestamp) = (table_of(snapshot), snapshot.timestamp());
            let blocks = rewritten(store, &seen);
            let schema = (*seen.schema).clone();
            Box::new(move |edit| edit.retype(&seen, timestamp, schema, blocks))
        }),
        ("a declaration", |_, snapshot| {
            let (seen, timestamp) = (table_of(snapshot), snapshot.timestamp());
            let mut schema = (*seen.schema).clone();
            schema.columns[0].name = "number".into();
            let options = seen.options.clone();
            Box::new(move |edit| edit.declare(&seen, timestamp, schema, options))
        }),
        ("a key", |_, snapshot| {
            let (seen, timestamp) = (table_of(snapshot), snapshot.timestamp());
            let key = Key {
                name: "k".into(),
                columns: vec![INTEGER],
                primary: false,
                ..Key::default()
            };
            let schema = seen.schema.clone();
            Box::new(move |edit| edit.add_key(&seen, timestamp, key, &schema))
        }),
    ];
    let (old, new) = (small(1), small(2));
    for (what, way) in ways {
        for in_transaction in [false, true] {
            let (store, _) = two_blocks(&Arc::default(), &old);
            let snapshot = store.snapshot();
            let finish = way(&store, &snapshot);
            laid_over(&store, &[INTEGER], &new);
            let outcome = match in_transaction {
                false => store.commit(finish),
                true => {
                    let mut own = store.begin().unwrap();
                    own.edit(finish).and_then(|()| own.commit())
                }
            };
            assert!(matches!(outcome, Err(Error::Conflict { .. })), "{what}");
            let expected = rows_of(&with(&old, &new, &[INTEGER]));
            assert_eq!(rows(&store.snapshot()), expected, "{what}");
            // Without an overlay in between it is done.
            let snapshot = store.snapshot();
            store.commit(way(&store, &snapshot)).unwrap();
        }
    }
}
