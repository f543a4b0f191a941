//! Writers side by side: of two that change the same rows, one is refused.

use super::*;
use crate::home::written;
use freestone_storage::{CatalogEdit, Error, IndexKind, Key, NewBlock, RowPlace};

#[track_caller]
fn is_conflict<T: std::fmt::Debug>(outcome: Result<T>) {
    assert!(
        matches!(outcome, Err(Error::Conflict { .. })),
        "{outcome:?}"
    );
}

fn store_of(model: &Model) -> (Arc<Store>, TableId) {
    two_blocks(&Arc::default(), model)
}

/// Rows of a model behind those of the others.
fn more(count: usize) -> RecordBatch {
    model(Spread::Many, Nulls::Random, ROWS + count, 9)
        .batch
        .slice(ROWS, count)
}

fn with_more(mut rows: Rows, count: usize) -> Rows {
    let all = rows_of(&model(Spread::Many, Nulls::Random, ROWS + count, 9));
    rows.extend(all.into_iter().skip(ROWS));
    rows
}

fn blocks_of(store: &Store, batch: &RecordBatch) -> Vec<NewBlock> {
    let table = table_of(&store.snapshot());
    written(
        store.writer(&table.schema, &table.options).unwrap(),
        batch,
        ROWS,
    )
}

#[test]
fn rows_that_others_changed_are_not_laid_over() {
    let (old, new) = (small(1), small(2));
    let ways: [fn(&Arc<Store>); 3] = [
        |store| deleted(store, 3),
        |store| {
            let mut own = store.begin().unwrap();
            update(&mut own, 3, &small(4)).unwrap();
            own.commit().unwrap();
        },
        |store| laid_over(store, &[TEXT], &small(4)),
    ];
    for way in ways {
        let (store, _) = store_of(&old);
        let mut own = store.begin().unwrap();
        way(&store);
        is_conflict(lay_over(&mut own, &store, &[INTEGER], &new));
        // Nothing of it is left, and it is in nobody's way.
        assert!(own.is_unchanged());
        deleted(&store, 50);
        let mut expected = rows(&store.snapshot());
        own.commit().unwrap();
        assert_eq!(rows(&store.snapshot()), expected);
        // One that begins now may.
        laid_over(&store, &[INTEGER], &new);
        for (id, row) in &mut expected {
            let name = find(&store.snapshot(), *id).unwrap();
            if let RowPlace::Block(..) = name.place() {
                row[INTEGER] = rows_of(&new)[id][INTEGER].clone();
            }
        }
        assert_eq!(rows(&store.snapshot()), expected);
    }
}

#[test]
fn blocks_that_nobody_changed_are_laid_over_beside_others() {
    let (old, new) = (small(1), small(2));
    let (store, table) = store_of(&old);
    let mut own = store.begin().unwrap();
    deleted(&store, 3);
    let seen = table_of(&own.snapshot());
    let mut columns = new_columns(&store, &seen, &[INTEGER], &new);
    let second = columns.pop().unwrap();
    assert!(own.lay_over(table, vec![second]).unwrap());
    own.commit().unwrap();
    let mut expected = rows_of(&old);
    expected.remove(&3);
    for (id, row) in expected.iter_mut().skip(ROWS / 2 - 1) {
        row[INTEGER] = rows_of(&new)[id][INTEGER].clone();
    }
    assert_eq!(rows(&store.snapshot()), expected);
}

#[test]
fn a_row_locked_by_another_is_a_conflict_until_that_ends() {
    let (old, new) = (small(1), small(2));
    for commits in [false, true] {
        let (store, _) = store_of(&old);
        let mut other = store.begin().unwrap();
        delete(&mut other, 3).unwrap();
        let mut own = store.begin().unwrap();
        is_conflict(lay_over(&mut own, &store, &[INTEGER], &new));
        match commits {
            true => other.commit().unwrap(),
            false => drop(other),
        }
        let outcome = lay_over(&mut own, &store, &[INTEGER], &new);
        assert_eq!(outcome.is_err(), commits, "{outcome:?}");
        drop(own);
        laid_over(&store, &[INTEGER], &new);
        let mut expected = rows_of(&with(&old, &new, &[INTEGER]));
        if commits {
            expected.remove(&3);
        }
        assert_eq!(rows(&store.snapshot()), expected);
    }
}

#[test]
fn others_wait_for_the_end_of_one_that_has_laid_over() {
    let (old, new) = (small(1), small(2));
    for commits in [false, true] {
        let (store, table) = store_of(&old);
        let elsewhere = |edit: &mut CatalogEdit| {
            let options = TableOptions::default();
            edit.create_table(DEFAULT_SCHEMA, "u", old.schema.clone(), options)
        };
        let elsewhere = store.commit(elsewhere).unwrap();
        let mut own = store.begin().unwrap();
        lay_over(&mut own, &store, &[INTEGER], &new).unwrap();
        let mut other = store.begin().unwrap();
        is_conflict(delete(&mut other, 3));
        is_conflict(update(&mut other, 40, &new));
        is_conflict(lay_over(&mut other, &store, &[TEXT], &new));
        is_conflict(store.vacuum(table));
        // New rows are nobody's, and other tables are others.
        other.insert(table, &more(2)).unwrap();
        other.insert(elsewhere, &old.batch).unwrap();
        other.commit().unwrap();
        // Its own rows it may change.
        delete(&mut own, 5).unwrap();
        match commits {
            true => own.commit().unwrap(),
            false => drop(own),
        }
        deleted(&store, 3);
        store.vacuum(table).unwrap();
        let mut expected = rows_of(&old);
        if commits {
            expected = rows_of(&with(&old, &new, &[INTEGER]));
            expected.remove(&5);
        }
        expected.remove(&3);
        assert_eq!(rows(&store.snapshot()), with_more(expected, 2));
    }
}

/// Ways in which an overlay comes before or after its rows are somewhere else.
type Way = fn(&Arc<Store>, TableId, &dyn Fn());

const WAYS: [Way; 6] = [
    |_, _, lay| lay(),
    |store, table, lay| {
        store.vacuum(table).unwrap();
        lay();
    },
    |store, table, lay| {
        store.move_delta(table).unwrap();
        lay();
        store.vacuum(table).unwrap();
    },
    |store, table, lay| {
        store.vacuum(table).unwrap();
        lay();
        store.vacuum(table).unwrap();
        deleted(store, 50);
        store.vacuum(table).unwrap();
    },
    |store, _, lay| {
        index(store, "i");
        lay();
    },
    |store, table, lay| {
        store.move_delta(table).unwrap();
        lay();
        index(store, "i");
        index(store, "j");
    },
];

fn index(store: &Store, name: &str) {
    let seen = table_of(&store.snapshot());
    let index = store.build_index(&seen, name, IndexKind::Csb, vec![INTEGER], 1, &|| true);
    let index = index.unwrap();
    let create = |edit: &mut CatalogEdit| edit.create_index(DEFAULT_SCHEMA, &seen, index);
    store.commit(create).unwrap();
}

/// One with an older snapshot would write what it made of the former values.
#[test]
fn older_snapshots_do_not_write_over_new_values() {
    let (old, new) = (small(1), small(2));
    for (number, way) in WAYS.into_iter().enumerate() {
        let (store, table) = store_of(&old);
        // Of a block, of the delta, and a block with deleted rows.
        let mut own = store.begin().unwrap();
        update(&mut own, 20, &old).unwrap();
        delete(&mut own, 21).unwrap();
        own.commit().unwrap();
        let mut late = store.begin().unwrap();
        way(&store, table, &|| laid_over(&store, &[INTEGER], &new));
        let expected = rows(&store.snapshot());
        let moved = expected[&20][INTEGER] == rows_of(&new)[&20][INTEGER];
        assert_eq!(
            moved,
            (1..4).contains(&number) || number == 5,
            "way {number}"
        );
        for id in [3, 40] {
            is_conflict(delete(&mut late, id));
            // Asking again does not help.
            is_conflict(update(&mut late, id, &old));
        }
        if moved {
            is_conflict(update(&mut late, 20, &old));
        } else {
            update(&mut late, 20, &old).unwrap();
        }
        late.commit().unwrap();
        assert_eq!(rows(&store.snapshot()), expected, "way {number}");
        // Those that begin now see the new values and may.
        deleted(&store, 3);
        deleted(&store, 20);
    }
}

/// What others have moved is not laid over as it was.
#[test]
fn blocks_that_were_moved_are_not_laid_over() {
    let (old, new) = (small(1), small(2));
    let ways: [fn(&Arc<Store>, TableId); 3] = [
        |store, table| {
            deleted(store, 7);
            store.vacuum(table).unwrap();
        },
        |store, table| store.vacuum(table).unwrap(),
        |store, _| index(store, "i"),
    ];
    for way in ways {
        let (store, table) = store_of(&old);
        let mut own = store.begin().unwrap();
        way(&store, table);
        let expected = rows(&store.snapshot());
        let laid = lay_over(&mut own, &store, &[INTEGER], &new);
        is_conflict(laid.and_then(|()| own.commit()));
        assert_eq!(rows(&store.snapshot()), expected);
        laid_over(&store, &[INTEGER], &new);
        deleted(&store, 30);
    }
}

#[test]
fn loads_and_overlays_come_in_any_order() {
    let (old, new) = (small(1), small(2));
    let after = rows_of(&with(&old, &new, &[INTEGER]));
    for (load_ends_first, in_blocks) in [(true, true), (true, false), (false, true), (false, false)]
    {
        let (store, table) = store_of(&old);
        let (mut own, mut load) = (store.begin().unwrap(), store.begin().unwrap());
        lay_over(&mut own, &store, &[INTEGER], &new).unwrap();
        match in_blocks {
            true => {
                let blocks = blocks_of(&store, &more(5));
                load.edit(|edit| edit.append(table, blocks)).map(drop)
            }
            false => load.insert(table, &more(5)).map(drop),
        }
        .unwrap();
        match load_ends_first {
            true => {
                load.commit().unwrap();
                own.commit().unwrap();
            }
            false => {
                own.commit().unwrap();
                load.commit().unwrap();
            }
        }
        let expected = with_more(after.clone(), 5);
        assert_eq!(rows(&store.snapshot()), expected);
        store.vacuum(table).unwrap();
        assert_eq!(rows(&store.snapshot()), expected);
    }
}

/// Keys are checked against the values that the transaction has laid over.
#[test]
fn keys_see_what_was_laid_over() {
    let mut old = model(Spread::Many, Nulls::None, ROWS, 1);
    old.schema.keys.push(Key {
        name: "k".into(),
        columns: vec![INTEGER],
        primary: false,
        ..Key::default()
    });
    old.schema.index_keys();
    let (old, new) = (
        Model::new(old.schema, old.batch),
        model(Spread::Many, Nulls::None, ROWS, 2),
    );
    for committed in [false, true] {
        let (store, table) = store_of(&old);
        let mut own = store.begin().unwrap();
        lay_over(&mut own, &store, &[INTEGER], &new).unwrap();
        if committed {
            own.commit().unwrap();
            own = store.begin().unwrap();
        }
        // The key of a row that has another now.
        let first = own.insert(table, &old.batch.slice(4, 1)).unwrap();
        own.check_keys(table, first).unwrap();
        let savepoint = own.savepoint();
        let first = own.insert(table, &new.batch.slice(4, 1)).unwrap();
        let taken = own.check_keys(table, first).unwrap_err();
        assert_eq!(taken.sqlstate(), "23505");
        own.roll_back_to(&savepoint);
        own.commit().unwrap();
    }
}

#[test]
fn one_that_has_read_former_values_is_not_serialisable() {
    let (old, new) = (small(1), small(2));
    let (store, table) = store_of(&old);
    let mut own = store.begin().unwrap();
    own.make_serializable();
    assert_eq!(rows(&own.snapshot()), rows_of(&old));
    laid_over(&store, &[INTEGER], &new);
    own.insert(table, &more(1)).unwrap();
    is_conflict(own.commit());
    assert_eq!(
        rows(&store.snapshot()),
        rows_of(&with(&old, &new, &[INTEGER]))
    );
}
