//! Blocks that get the layout that is wished for them.

use super::*;
use freestone_storage::{BlockId, KeyLookUp, Layout};
use std::collections::HashMap;

fn layouts(store: &Store) -> Vec<Layout> {
    let table = table_of(store);
    table.blocks().iter().map(|block| block.layout()).collect()
}

/// A wish of some layout for each block.
pub fn wishes(table: &Table, layout: impl Fn(usize) -> Layout) -> HashMap<BlockId, Layout> {
    let blocks = table.blocks().iter().enumerate();
    blocks
        .map(|(number, block)| (block.id(), layout(number)))
        .collect()
}

#[test]
fn blocks_get_the_layout_that_is_wished() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), OpenMode::Create).unwrap();
    let table = create(&store);
    load(&store, table, 0..5_000);
    store.vacuum(table).unwrap();
    let before = rows(&store.snapshot());
    let count = layouts(&store).len();
    assert!(count > 2 && layouts(&store) == vec![Layout::Column; count]);
    // One block is asked for rows; whoever knows a row by its old place finds it.
    let (old, known) = (store.begin().unwrap(), table_of(&store));
    let look_up = KeyLookUp::prepare(&known.schema, &[0], &[1]).unwrap();
    for _ in 0..10 {
        let found = known.find(&old.read_view(table), &look_up, &[Value::Int(7)]);
        assert_eq!(found.unwrap().len(), 1);
    }
    let row = find(&old.snapshot(), 7).unwrap();
    store.pause_mover();
    store.wish_layouts(
        table,
        wishes(&known, |number| match number {
            0 => Layout::Row,
            1 => Layout::Pax,
            _ => Layout::Column,
        }),
    );
    assert!(moves(&store).waiting.is_some(), "there is something to do");
    store.resume_mover();
    wait_until("written as wished", || moves(&store).waiting.is_none());
    let mut expected = vec![Layout::Row, Layout::Pax];
    expected.resize(count, Layout::Column);
    assert_eq!(layouts(&store), expected);
    assert_eq!(rows(&store.snapshot()), before);
    let heat = |store: &Store| -> Vec<u64> {
        let table = table_of(store);
        table.blocks().iter().map(|block| block.heat()).collect()
    };
    assert_eq!(heat(&store)[0], 10, "as hot as before");
    table_of(&store).blocks()[0].cool();
    assert_eq!(heat(&store)[0], 5);
    let mut old = old;
    old.delete(table, &[row]).unwrap();
    old.commit().unwrap();
    assert!(!rows(&store.snapshot()).contains_key(&7));
    // Back again; what was wished for blocks that are gone does not matter.
    store.wish_layouts(table, wishes(&known, |_| Layout::Inverted));
    store.vacuum(table).unwrap();
    store.wish_layouts(table, wishes(&table_of(&store), |_| Layout::Column));
    store.vacuum(table).unwrap();
    assert_eq!(layouts(&store), vec![Layout::Column; layouts(&store).len()]);
    drop((known, store));
    let store = Store::open(directory.path(), OpenMode::ReadOnly).unwrap();
    assert_eq!(rows(&store.snapshot()).len(), 4_999);
}

#[test]
fn the_layout_of_new_rows_is_automatic_where_the_table_says_so() {
    let store = Store::in_memory();
    let mut options = TableOptions::default();
    options.set("layout", "auto").unwrap();
    assert_eq!(options.entries()[0], ("layout", "auto".to_string()));
    let table = create_with(&store, options.clone());
    store
        .commit(|edit| edit.set_automatic_layout(table, Layout::Row))
        .unwrap();
    load(&store, table, 0..100);
    store.vacuum(table).unwrap();
    assert_eq!(layouts(&store), [Layout::Row]);
    assert_eq!(table_of(&store).options.layout_text(), "auto");
    options.set("layout", "pax").unwrap();
    assert!(!options.writes_as(&table_of(&store).options));
    let pax = options.clone();
    store.commit(|edit| edit.set_options(table, pax)).unwrap();
    store
        .commit(|edit| edit.set_automatic_layout(table, Layout::Row))
        .unwrap();
    assert_eq!(table_of(&store).options, options, "it is not automatic");
}
