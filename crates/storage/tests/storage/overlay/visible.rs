//! Who sees new values, and when: snapshots, transactions, moves.

use super::*;
use crate::home::every_form;

#[test]
fn snapshots_see_the_values_of_their_moment() {
    let (old, new) = (small(1), small(2));
    for options in every_form(90_000) {
        let (store, _) = begun(Arc::<Faulty>::default(), &old, options);
        let after = with(&old, &new, &ALL);
        let before = store.snapshot();
        let mut own = store.begin().unwrap();
        lay_over(&mut own, &store, &ALL, &new).unwrap();
        assert_eq!(rows(&own.snapshot()), rows_of(&after), "its own");
        assert_eq!(rows(&store.snapshot()), rows_of(&old), "not committed yet");
        own.commit().unwrap();
        assert_eq!(rows(&before), rows_of(&old));
        assert_eq!(rows(&store.snapshot()), rows_of(&after));
    }
}

#[test]
fn what_is_rolled_back_leaves_nothing() {
    let (old, new) = (small(1), small(2));
    let files = Arc::new(Faulty::default());
    let (store, table) = two_blocks(&files, &old);
    let there = block_files(&files);
    let mut own = store.begin().unwrap();
    lay_over(&mut own, &store, &ALL, &new).unwrap();
    assert_eq!(block_files(&files).len(), 4);
    drop(own);
    assert_eq!(block_files(&files), there);
    let unused = new_columns(&store, &table_of(&store.snapshot()), &[TEXT], &new);
    drop(unused);
    assert_eq!(block_files(&files), there);

    let mut own = store.begin().unwrap();
    lay_over(&mut own, &store, &[TEXT], &new).unwrap();
    let (savepoint, with_text) = (own.savepoint(), block_files(&files));
    lay_over(&mut own, &store, &[INTEGER, TEXT], &small(3)).unwrap();
    own.roll_back_to(&savepoint);
    assert_eq!(rows(&own.snapshot()), rows_of(&with(&old, &new, &[TEXT])));
    assert_eq!(block_files(&files), with_text);
    own.commit().unwrap();
    assert_eq!(rows(&store.snapshot()), rows_of(&with(&old, &new, &[TEXT])));
    assert_eq!(block_files(&files), with_text);

    // Back to before the first: others may write again.
    let mut own = store.begin().unwrap();
    let savepoint = own.savepoint();
    lay_over(&mut own, &store, &[DECIMAL], &new).unwrap();
    own.roll_back_to(&savepoint);
    assert!(own.is_unchanged());
    deleted(&store, 5);
    own.commit().unwrap();
    store.checkpoint().unwrap();
    assert_eq!(block_files(&files), with_text);
    // Nothing may be laid over, too.
    let mut own = store.begin().unwrap();
    own.lay_over(table, Vec::new()).unwrap();
    own.commit().unwrap();
    assert_eq!(block_files(&files), with_text);
}

#[test]
fn newer_overlays_are_above_older_ones() {
    let (first, models) = (small(1), [small(2), small(3), small(4)]);
    let files = Arc::new(Faulty::default());
    let (store, _) = two_blocks(&files, &first);
    let mut now = first;
    let mut lay = |columns: &[usize], above: &Model| {
        laid_over(&store, columns, above);
        now = with(&now, above, columns);
        assert_eq!(rows(&store.snapshot()), rows_of(&now), "{columns:?}");
        block_files(&files).len()
    };
    // Files of two blocks: their own, and those of their overlays.
    assert_eq!(lay(&[INTEGER], &models[0]), 4);
    assert_eq!(lay(&[INTEGER], &models[1]), 4, "the first is gone");
    assert_eq!(lay(&[TEXT], &models[1]), 6);
    assert_eq!(lay(&[DECIMAL, INTEGER], &models[2]), 6);
    assert_eq!(lay(&[DECIMAL], &models[0]), 8, "the integers are needed");
    assert_eq!(lay(&ALL, &models[1]), 4);
    assert_eq!(lay(&[TEXT, INTEGER], &models[2]), 6);
    let reopened = Store::over_files(Arc::new(files.crash())).unwrap();
    assert_eq!(rows(&reopened.snapshot()), rows_of(&now));
}

#[test]
fn a_replaced_overlay_stays_as_long_as_it_is_seen() {
    let (old, one, two) = (small(1), small(2), small(3));
    let files = Arc::new(Faulty::default());
    let (store, _) = two_blocks(&files, &old);
    laid_over(&store, &[TEXT], &one);
    let seen = store.snapshot();
    // Another handle of the same block, with columns elsewhere.
    let id = table_of(&seen).id;
    store.commit(|edit| edit.drop_column(id, "c0")).unwrap();
    let narrow = store.snapshot();
    let expected = rows(&narrow);
    let mut own = store.begin().unwrap();
    let table = table_of(&own.snapshot());
    let text: Vec<NewColumns> = {
        let blocks = table.blocks().iter().map(|block| {
            let ids = block.read(0, 0..block.rows() as usize).unwrap();
            let ids = ids.as_primitive::<Int64Type>().values();
            let ids: Vec<u32> = ids.iter().map(|id| *id as u32).collect();
            let written = store.write_columns(&table, block, &[1], two.take(&ids, &[TEXT]));
            written.unwrap().unwrap()
        });
        blocks.collect()
    };
    drop(table);
    own.lay_over(id, text).unwrap();
    own.commit().unwrap();
    assert_eq!(block_files(&files).len(), 6);
    assert_eq!(rows(&seen), rows_of(&with(&old, &one, &[TEXT])));
    drop(seen);
    deleted(&store, 3);
    store.checkpoint().unwrap();
    assert_eq!(rows(&narrow), expected);
    drop(narrow);
    store.vacuum(id).unwrap();
    let left = table_of(&store.snapshot()).blocks().len();
    assert_eq!(block_files(&files).len(), left);
    let text = |model: &Model| rows_of(model).into_iter();
    let now = rows(&store.snapshot());
    let expected = text(&two).filter(|(id, _)| *id != 3);
    assert!(
        expected
            .map(|(id, row)| (id, row[TEXT].clone()))
            .eq(now.into_iter().map(|(id, row)| (id, row[1].clone())))
    );
}

#[test]
fn several_overlays_of_one_block_may_come_together() {
    let (old, one, two) = (small(1), small(2), small(3));
    let files = Arc::new(Faulty::default());
    let (store, table) = two_blocks(&files, &old);
    let mut own = store.begin().unwrap();
    let seen = table_of(&own.snapshot());
    let mut new = new_columns(&store, &seen, &[INTEGER, TEXT], &one);
    new.extend(new_columns(&store, &seen, &[TEXT, DECIMAL], &two));
    own.lay_over(table, new).unwrap();
    own.commit().unwrap();
    let after = with(&with(&old, &one, &[INTEGER, TEXT]), &two, &[TEXT, DECIMAL]);
    assert_eq!(rows(&store.snapshot()), rows_of(&after));
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let (old, new) = (small(1), small(2));
    let (store, _) = two_blocks(&Arc::default(), &old);
    let table = table_of(&store.snapshot());
    let block = &table.blocks()[0];
    let write = |columns: &[usize], arrays| store.write_columns(&table, block, columns, arrays);
    let few = new.take(&[0, 1, 2], &[INTEGER]);
    assert_eq!(write(&[INTEGER], few).unwrap_err().sqlstate(), "42804");
    let all: Vec<u32> = (0..block.rows() as u32).collect();
    let null = arrow_array::new_null_array(&arrow_schema_of(&old, 0), all.len());
    assert!(write(&[0], vec![null]).is_err(), "NULL where none may be");
    assert!(
        write(&[TEXT], new.take(&all, &[INTEGER])).is_err(),
        "a type"
    );
    let none = write(&[9], new.take(&all, &[INTEGER])).unwrap();
    assert!(none.is_none(), "there is no such column");
}

fn arrow_schema_of(model: &Model, column: usize) -> arrow_schema::DataType {
    model.batch.column(column).data_type().clone()
}

/// Deletes are of rows, whatever their values.
#[test]
fn deletes_stay_and_go_on() {
    let (old, new, third) = (small(1), small(2), small(3));
    for options in every_form(90_000) {
        let files = Arc::new(Faulty::default());
        let (store, table) = begun(files.clone(), &old, options);
        deleted(&store, 3);
        deleted(&store, 40);
        let before = store.snapshot();
        let mut own = store.begin().unwrap();
        delete(&mut own, 5).unwrap();
        lay_over(&mut own, &store, &[INTEGER, TEXT], &new).unwrap();
        delete(&mut own, 6).unwrap();
        own.commit().unwrap();
        deleted(&store, 41);
        let mut expected = rows_of(&with(&old, &new, &[INTEGER, TEXT]));
        [3, 40, 5, 6, 41]
            .iter()
            .for_each(|id| drop(expected.remove(id)));
        assert_eq!(rows(&store.snapshot()), expected);
        let mut former = rows_of(&old);
        [3, 40].iter().for_each(|id| drop(former.remove(id)));
        assert_eq!(rows(&before), former);
        drop(before);

        // An updated row is a new one, which overlays of blocks do not reach.
        let mut own = store.begin().unwrap();
        update(&mut own, 7, &third).unwrap();
        own.commit().unwrap();
        laid_over(&store, &[DECIMAL], &new);
        expected = expected
            .into_iter()
            .map(|(id, mut row)| {
                row[DECIMAL] = rows_of(&new)[&id][DECIMAL].clone();
                (id, row)
            })
            .collect();
        expected.insert(7, rows_of(&third)[&7].clone());
        assert_eq!(rows(&store.snapshot()), expected);

        // Rows that move take their values along.
        store.move_delta(table).unwrap();
        assert_eq!(rows(&store.snapshot()), expected);
        let kept = store.snapshot();
        store.vacuum(table).unwrap();
        assert_eq!(rows(&kept), expected);
        drop(kept);
        store.vacuum(table).unwrap();
        assert_eq!(rows(&store.snapshot()), expected);
        assert!(overlay_files(&store.snapshot()).is_empty());
        let left = table_of(&store.snapshot()).blocks().len();
        assert_eq!(block_files(&files).len(), left);
        // Blocks of blocks with overlays take overlays.
        laid_over(&store, &[TEXT], &third);
        for (id, row) in &mut expected {
            row[TEXT] = rows_of(&third)[id][TEXT].clone();
        }
        assert_eq!(rows(&store.snapshot()), expected);
        let reopened = Store::over_files(Arc::new(files.crash())).unwrap();
        assert_eq!(rows(&reopened.snapshot()), expected);
    }
}

/// A table that is sorted by a column that was laid over is sorted anew by VACUUM.
#[test]
fn sorted_tables_are_sorted_anew() {
    let (old, new) = (small(1), small(2));
    for options in every_form(90_000) {
        let options = TableOptions {
            sort_by: Some("c0".into()),
            ..options
        };
        let (store, table) = begun(Arc::<Faulty>::default(), &old, options);
        laid_over(&store, &[INTEGER], &new);
        let after = rows_of(&with(&old, &new, &[INTEGER]));
        check_values(&store.snapshot(), &[&rows_of(&old), &after], INTEGER);
        store.vacuum(table).unwrap();
        assert_eq!(rows(&store.snapshot()), after);
        check_values(&store.snapshot(), &[&rows_of(&old), &after], INTEGER);
        for block in table_of(&store.snapshot()).blocks() {
            assert_eq!(block.sort_column().unwrap(), Some(INTEGER));
        }
    }
}
