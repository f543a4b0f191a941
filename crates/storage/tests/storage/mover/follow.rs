//! Rows that moved are followed: by commits, locks and keys.

use super::*;
use freestone_storage::io::{LogFile, ReadFile};
use std::sync::Mutex;

/// The ways in which rows come to other places.
const WAYS: [fn(&Arc<Store>, TableId); 4] = [
    |store, table| {
        store.move_delta(table).unwrap();
    },
    |store, table| store.vacuum(table).unwrap(),
    |store, table| {
        for name in ["i", "j"] {
            store.vacuum(table).unwrap();
            let seen = table_of(store);
            let index = store
                .build_index(&seen, name, IndexKind::Csb, vec![1], 1, &|| true)
                .unwrap();
            store
                .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
                .unwrap();
        }
    },
    |store, table| {
        // Every row moves three times.
        for key in [90, 91, 92] {
            store.vacuum(table).unwrap();
            let mut own = store.begin().unwrap();
            write(&mut own, table, key, None).unwrap();
            own.commit().unwrap();
        }
        store.vacuum(table).unwrap();
    },
];

#[test]
fn a_commit_after_a_move_stands() {
    for (number, way) in WAYS.iter().enumerate() {
        let files = Arc::new(Faulty::default());
        let (store, table) = half_moved(&files);
        let mut own = store.begin().unwrap();
        for key in [10, 60] {
            write(&mut own, table, key, None).unwrap();
            write(&mut own, table, key + 1, Some(-1)).unwrap();
        }
        way(&store, table);
        // What it has not touched yet it still can, and reads as before.
        for key in [20, 70] {
            write(&mut own, table, key, Some(-2)).unwrap();
        }
        let mine = rows(&own.snapshot());
        assert_eq!(
            (mine.get(&10), mine.get(&11)),
            (None, Some(&-1)),
            "{number}"
        );
        assert_eq!(mine.len(), 97);
        own.commit().unwrap();
        let mut expected = rows(&store.snapshot());
        for (key, value) in [(11, -1), (61, -1), (20, -2), (70, -2)] {
            assert_eq!(expected.insert(key, value), Some(value), "key {key}");
        }
        assert!(!expected.contains_key(&10) && !expected.contains_key(&60));
        let lost = Store::over_files(Arc::new(files.crash())).unwrap();
        assert_eq!(rows(&lost.snapshot()), expected, "{number}");
        store.vacuum(table).unwrap();
        assert_eq!(rows(&store.snapshot()), expected);
    }
}

#[test]
fn two_writers_of_a_moved_row_meet() {
    let refused = |outcome: Result<()>| assert_eq!(outcome.unwrap_err().sqlstate(), "40001");
    for way in WAYS {
        for key in [10, 60] {
            let files = Arc::new(Faulty::default());
            let (store, table) = half_moved(&files);
            // One holds the row by its old name; the other asks by the new one.
            let (mut old, mut older) = (store.begin().unwrap(), store.begin().unwrap());
            write(&mut old, table, key, Some(1)).unwrap();
            way(&store, table);
            let mut new = store.begin().unwrap();
            refused(write(&mut new, table, key, Some(2)));
            refused(write(&mut older, table, key, Some(3)));
            old.commit().unwrap();
            assert_eq!(rows(&store.snapshot())[&key], 1);
            refused(write(&mut older, table, key, Some(3)));

            // One takes it by its new name; the other asks by the old one.
            let key = key + 1;
            let mut new = store.begin().unwrap();
            write(&mut new, table, key, Some(2)).unwrap();
            refused(write(&mut older, table, key, Some(3)));
            new.commit().unwrap();
            refused(write(&mut older, table, key, Some(3)));
            drop(older);
            assert_eq!(rows(&store.snapshot())[&key], 2);

            // Who gives up lets the row go, whatever it is called by then.
            let key = key + 1;
            let mut old = store.begin().unwrap();
            write(&mut old, table, key, None).unwrap();
            store.vacuum(table).unwrap();
            drop(old);
            let mut new = store.begin().unwrap();
            write(&mut new, table, key, Some(4)).unwrap();
            new.commit().unwrap();
            assert_eq!(rows(&store.snapshot())[&key], 4);
        }
    }
}

/// A key that was given up in its new place is free for those who see the old one.
#[test]
fn keys_are_checked_where_rows_are() {
    for way in WAYS {
        let files = Arc::new(Faulty::default());
        let (store, table) = half_moved(&files);
        let mut own = store.begin().unwrap();
        way(&store, table);
        delete_all(&store, table, |key| key == 10 || key == 60);
        insert(&mut own, table, &[(10, 1), (60, 1)]).unwrap();
        let error = insert(&mut own, table, &[(11, 1)]).unwrap_err();
        assert_eq!(error.sqlstate(), "23505");
        insert(&mut own, table, &[(200, 1)]).unwrap();
        own.commit().unwrap();
        let after = rows(&store.snapshot());
        assert_eq!((after[&10], after[&60], after[&200]), (1, 1, 1));
    }
}

/// Whole blocks that a transaction adds do not conflict with a move of the table.
#[test]
fn blocks_are_added_beside_a_move() {
    for others in [false, true] {
        let (store, table) = half_moved(&Arc::new(Faulty::default()));
        let mut own = store.begin().unwrap();
        store.move_delta(table).unwrap();
        let seen = table_of(&store);
        let mut writer = store.writer(&seen.schema, &seen.options).unwrap();
        writer.push(&batch(&[(300, 1), (301, 1)])).unwrap();
        let blocks = writer.finish().unwrap();
        own.edit(|edit| edit.append(table, blocks)).unwrap();
        // What the transaction holds does not move.
        assert_eq!(store.move_delta(table).unwrap(), 0);
        if others {
            load(&store, table, 400..401);
            assert_eq!(store.move_delta(table).unwrap_err().sqlstate(), "40001");
            // Its keys were checked against less.
            assert_eq!(own.commit().unwrap_err().sqlstate(), "40001");
            assert_eq!(store.move_delta(table).unwrap(), 1);
        } else {
            own.commit().unwrap();
            assert_eq!(rows(&store.snapshot()).get(&301), Some(&1));
        }
    }
}

/// Rows that move, blocks that come and changes of rows leave all that is defined as it is; all other
/// changes of the catalog do not.
#[test]
fn definitions_stay_while_rows_move() {
    let (store, table) = half_moved(&Arc::new(Faulty::default()));
    let definitions = || Arc::clone(store.snapshot().definitions());
    let first = definitions();
    let same = || Arc::ptr_eq(&first, &definitions());
    store.move_delta(table).unwrap();
    store.vacuum(table).unwrap();
    load(&store, table, 400..410);
    delete_all(&store, table, |key| key > 404);
    let seen = table_of(&store);
    let mut own = store.begin().unwrap();
    let mut writer = store.writer(&seen.schema, &seen.options).unwrap();
    writer.push(&batch(&[(300, 1), (301, 1)])).unwrap();
    let blocks = writer.finish().unwrap();
    own.edit(|edit| edit.append(table, blocks)).unwrap();
    assert!(Arc::ptr_eq(&first, own.catalog().definitions()));
    own.commit().unwrap();
    assert!(same());

    let mut own = store.begin().unwrap();
    own.edit(|edit| edit.create_view(DEFAULT_SCHEMA, "v", "SELECT 1"))
        .unwrap();
    assert!(!Arc::ptr_eq(&first, own.catalog().definitions()));
    assert!(same());
    drop(own);
    assert!(same());
    let change = |edit: &dyn Fn(&mut CatalogEdit) -> Result<()>| {
        let before = definitions();
        store.commit(|draft| edit(draft)).unwrap();
        assert!(!Arc::ptr_eq(&before, &definitions()));
    };
    change(&|edit| edit.create_schema("other"));
    change(&|edit| edit.create_view(DEFAULT_SCHEMA, "v", "SELECT 1"));
    change(&|edit| edit.replace_view(DEFAULT_SCHEMA, "v", "SELECT 2"));
    change(&|edit| edit.set_function(DEFAULT_SCHEMA, "f()", "SELECT 1"));
    change(&|edit| edit.comment(table, |comments| comments.table = Some("text".into())));
    change(&|edit| edit.drop_view(DEFAULT_SCHEMA, "v"));
}

/// An index is built over what is there when it is built, or is the transaction's own.
#[test]
fn an_index_is_built_beside_a_move() {
    for own_blocks in [false, true] {
        let (store, table) = half_moved(&Arc::new(Faulty::default()));
        let mut own = store.begin().unwrap();
        let mut seen = table_of(&store);
        if own_blocks {
            store.vacuum(table).unwrap();
            own = store.begin().unwrap();
            let mut writer = store.writer(&seen.schema, &seen.options).unwrap();
            writer.push(&batch(&[(300, 1)])).unwrap();
            let blocks = writer.finish().unwrap();
            own.edit(|edit| edit.append(table, blocks)).unwrap();
            seen = own.snapshot().table(DEFAULT_SCHEMA, "t").unwrap().clone();
        } else {
            store.vacuum(table).unwrap();
        }
        let index = store
            .build_index(&seen, "i", IndexKind::Csb, vec![1], 1, &|| true)
            .unwrap();
        match own_blocks {
            true => own
                .edit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
                .and_then(|()| own.commit()),
            false => store.commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index)),
        }
        .unwrap();
        let indexed = table_of(&store);
        let definition = indexed.schema.indexes.last().unwrap();
        for block in indexed.blocks() {
            assert!(block.index(definition).unwrap().is_some());
        }
        assert_eq!(rows(&store.snapshot()).len(), 99 + usize::from(own_blocks));
    }
}

/// A table that was only moved is dropped by who began before.
#[test]
fn a_moved_table_can_be_dropped() {
    for others in [false, true] {
        let (store, table) = half_moved(&Arc::new(Faulty::default()));
        let mut own = store.begin().unwrap();
        if others {
            load(&store, table, 200..300);
            let seen = table_of(&store);
            store
                .commit(|edit| edit.set_options(table, seen.options.clone()))
                .unwrap();
        }
        store.vacuum(table).unwrap();
        own.edit(|edit| edit.drop_table(DEFAULT_SCHEMA, "t", false))
            .unwrap();
        match others {
            true => assert_eq!(own.commit().unwrap_err().sqlstate(), "40001"),
            false => {
                own.commit().unwrap();
                assert!(store.snapshot().table(DEFAULT_SCHEMA, "t").is_none());
            }
        }
    }
}

/// Blocks written again by a transaction have the rows that it saw.
#[test]
fn a_rewrite_does_not_bring_rows_back() {
    for others in [false, true] {
        let (store, table) = half_moved(&Arc::new(Faulty::default()));
        store.vacuum(table).unwrap();
        let (mut own, seen) = (store.begin().unwrap(), table_of(&store));
        let all = seen_rows(&store);
        let mut writer = store.writer(&seen.schema, &seen.options).unwrap();
        writer.push(&batch(&all)).unwrap();
        let blocks = writer.finish().unwrap();
        let options = seen.options.clone();
        own.edit(|edit| edit.rewrite(table, &seen, u64::MAX, options, blocks))
            .unwrap();
        if others {
            delete_all(&store, table, |key| key == 1);
            assert_eq!(own.commit().unwrap_err().sqlstate(), "40001");
            assert_eq!(rows(&store.snapshot()).get(&1), None);
        } else {
            own.commit().unwrap();
            assert_eq!(seen_rows(&store), all);
        }
    }
}

fn seen_rows(store: &Store) -> Vec<(i32, i32)> {
    rows(&store.snapshot()).into_iter().collect()
}

/// Files that do something before the next block is written.
#[derive(Debug)]
pub struct Hooked {
    pub files: Arc<Faulty>,
    pub hook: Mutex<Option<Hook>>,
}

pub struct Hook(pub Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hook")
    }
}

impl Files for Hooked {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadFile>> {
        self.files.open(name)
    }
    fn write(&self, name: &str, parts: &[&[u8]]) -> Result<()> {
        let hook = self.hook.lock().unwrap().take();
        if let Some(Hook(hook)) = hook {
            hook();
        }
        self.files.write(name, parts)
    }
    fn log(&self, name: &str, bytes: u64) -> Result<Arc<dyn LogFile>> {
        self.files.log(name, bytes)
    }
    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.files.rename(from, to)
    }
    fn remove(&self, name: &str) -> Result<()> {
        self.files.remove(name)
    }
    fn list(&self, directory: &str) -> Result<Vec<String>> {
        self.files.list(directory)
    }
    fn sync_directory(&self, directory: &str) -> Result<()> {
        self.files.sync_directory(directory)
    }
    fn show(&self, name: &str) -> String {
        self.files.show(name)
    }
}

/// What happens while new blocks are written happens to the rows in them.
#[test]
fn changes_during_a_move_go_along() {
    for (from_blocks, sorted) in [(false, false), (true, false), (false, true), (true, true)] {
        let hooked = Arc::new(Hooked {
            files: Arc::default(),
            hook: Mutex::default(),
        });
        let store = Store::over_files(hooked.clone()).unwrap();
        let options = TableOptions {
            sort_by: sorted.then(|| "v".into()),
            ..TableOptions::default()
        };
        let table = create_with(&store, options);
        let mut own = store.begin().unwrap();
        let all: Vec<(i32, i32)> = (0..100).map(|key| (key, key * 7919 % 100)).collect();
        own.insert(table, &batch(&all)).unwrap();
        own.commit().unwrap();
        if from_blocks {
            store.move_delta(table).unwrap();
        }
        delete_all(&store, table, |key| key == 5);
        let (mut early, other) = (store.begin().unwrap(), store.clone());
        let before = store.snapshot();
        write(&mut early, table, 30, Some(-30)).unwrap();
        let late = Arc::new(Mutex::new(None));
        let given = late.clone();
        *hooked.hook.lock().unwrap() = Some(Hook(Box::new(move || {
            delete_all(&other, table, |key| key % 10 == 7);
            let mut own = other.begin().unwrap();
            write(&mut own, table, 40, Some(-40)).unwrap();
            own.commit().unwrap();
            let mut own = other.begin().unwrap();
            write(&mut own, table, 50, Some(-50)).unwrap();
            *given.lock().unwrap() = Some(own);
        })));
        match from_blocks {
            false => drop(store.move_delta(table).unwrap()),
            true => store.vacuum(table).unwrap(),
        }
        assert!(hooked.hook.lock().unwrap().is_none(), "nothing was written");
        assert_eq!(moves(&store).done.last_error, None);
        assert_eq!(rows(&before).len(), 99);
        let mut new = store.begin().unwrap();
        for key in [30, 50] {
            let refused = write(&mut new, table, key, None).unwrap_err();
            assert_eq!(refused.sqlstate(), "40001");
        }
        early.commit().unwrap();
        late.lock().unwrap().take().unwrap().commit().unwrap();
        let mut expected: Rows = all.into_iter().filter(|row| row.0 % 10 != 7).collect();
        expected.remove(&5);
        expected.extend([(30, -30), (40, -40), (50, -50)]);
        assert_eq!(rows(&store.snapshot()), expected);
        let lost = Store::over_files(Arc::new(hooked.files.crash())).unwrap();
        assert_eq!(rows(&lost.snapshot()), expected);
        store.vacuum(table).unwrap();
        assert_eq!(rows(&store.snapshot()), expected);
    }
}
