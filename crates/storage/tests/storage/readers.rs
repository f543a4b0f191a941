//! Stores that are open for reading beside one that writes.

use crate::crash_model::Where;
use crate::history::History;
use crate::tables::Dice;
use crate::world::{World, batch, rows, schema, try_world, world};
use freestone_storage::io::{Faulty, Files};
use freestone_storage::{
    DEFAULT_SCHEMA, OpenMode, Snapshot, Store, TableId, TableOptions, VerifyReport,
};
use std::sync::Arc;
use std::time::Instant;

const HISTORIES: u64 = 200;
const STEPS: usize = 150;

/// A reader, and what it saw at some moments.
struct Reader {
    store: Arc<Store>,
    kept: Vec<(Snapshot, Arc<World>)>,
}

impl Reader {
    fn of(files: &Arc<Faulty>) -> Reader {
        Reader {
            store: Store::read_files(files.clone()).unwrap(),
            kept: Vec::new(),
        }
    }

    fn look(&mut self, committed: &Arc<World>, dice: &mut Dice) {
        self.store.refresh().unwrap();
        let mut snapshot = self.store.snapshot();
        // What was read once stays open.
        if dice.once_in(2) {
            // The tuple mover works beside this and removes files, too.
            let seen = (0..100).find_map(|_| match try_world(&snapshot) {
                Err(error) if error.sqlstate() == "40001" => {
                    snapshot = self.store.snapshot();
                    None
                }
                seen => Some(seen.unwrap()),
            });
            assert_eq!(seen.unwrap(), **committed);
        }
        if dice.once_in(3) {
            self.kept.push((snapshot, committed.clone()));
        }
    }

    /// Snapshots show what they showed, unless the writer has removed their files.
    fn look_back(&mut self, dice: &mut Dice) -> (usize, usize) {
        if self.kept.is_empty() {
            return (0, 0);
        }
        let (snapshot, expected) = self.kept.swap_remove(dice.below(self.kept.len()));
        match try_world(&snapshot) {
            Ok(found) => {
                assert_eq!(found, *expected, "an older snapshot");
                (1, 0)
            }
            Err(error) => {
                assert_eq!(error.sqlstate(), "40001", "{error}");
                (0, 1)
            }
        }
    }
}

#[test]
fn readers_follow_random_histories() {
    let (mut same, mut too_old) = (0, 0);
    for seed in 0..HISTORIES {
        let _where = Where(format!("seed {seed}"));
        let files = Arc::new(Faulty::default());
        let mut history = History::begin(files.clone(), seed).unwrap();
        let mut dice = Dice(seed ^ 0x4ead);
        let mut readers = [Reader::of(&files), Reader::of(&files)];
        for _ in 0..STEPS {
            history.step().unwrap();
            // One looks often, one falls behind checkpoints.
            for (reader, rarely) in readers.iter_mut().zip([2, 25]) {
                if dice.once_in(rarely) {
                    reader.look(&history.committed, &mut dice);
                }
                if dice.once_in(4) {
                    let (as_before, gone) = reader.look_back(&mut dice);
                    same += as_before;
                    too_old += gone;
                }
            }
            if dice.once_in(30) {
                let number = dice.below(readers.len());
                readers[number] = Reader::of(&files);
            }
        }
    }
    println!("{same} older snapshots were as before, of {too_old} files were gone");
    assert!(same > 5 * too_old && too_old > 0);
}

fn columns() -> Vec<String> {
    vec!["n1".to_string()]
}

fn create(store: &Store) -> TableId {
    let create = store.commit(|edit| {
        let schema = schema(&columns(), "t");
        edit.create_table(DEFAULT_SCHEMA, "t", schema, TableOptions::default())
    });
    create.unwrap()
}

fn insert(store: &Arc<Store>, table: TableId, keys: std::ops::Range<i64>) {
    let added: Vec<(i64, Vec<Option<i64>>)> = keys.map(|key| (key, vec![Some(key)])).collect();
    let mut transaction = store.begin().unwrap();
    transaction
        .insert(table, &batch(&columns(), &added))
        .unwrap();
    transaction.commit().unwrap();
}

fn count(store: &Store) -> usize {
    rows(&store.snapshot(), "t").len()
}

/// As two processes do it: two stores on one directory.
#[test]
fn a_reader_sees_each_commit_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let writer = Store::open(directory.path(), OpenMode::Create).unwrap();
    let reader = Store::open(directory.path(), OpenMode::ReadOnly).unwrap();
    assert!(!reader.refresh().unwrap());
    let table = create(&writer);
    insert(&writer, table, 0..10);
    assert_eq!(count(&reader), 10);
    let before = reader.snapshot();
    writer.move_delta(table).unwrap();
    insert(&writer, table, 10..20);
    // Two checkpoints remove the part of the log that the reader has come to.
    for round in 2..5 {
        writer.checkpoint().unwrap();
        insert(&writer, table, round * 10..round * 10 + 10);
    }
    assert!(reader.refresh().unwrap());
    assert_eq!(count(&reader), 50);
    assert_eq!(
        rows(&before, "t").len(),
        10,
        "the delta that it saw is kept"
    );
    assert_eq!(reader.begin().unwrap_err().sqlstate(), "25006");
    writer
        .commit(|edit| edit.drop_table(DEFAULT_SCHEMA, "t", false))
        .unwrap();
    assert!(world(&reader.snapshot()).is_empty());
    drop(writer);
    // Another writer goes on.
    let writer = Store::open(directory.path(), OpenMode::ReadWrite).unwrap();
    let table = create(&writer);
    insert(&writer, table, 0..7);
    assert_eq!(count(&reader), 7);
    reader.verify(|report| report.outcome.unwrap());

    let begun = Instant::now();
    (0..1000).for_each(|_| drop(reader.snapshot()));
    println!("a snapshot without news takes {:?}", begun.elapsed() / 1000);
}

/// A block file that the writer has removed is 40001 for an older snapshot; one
/// that is lost is damage.
#[test]
fn removed_files_are_told_from_lost_ones() {
    let files = Arc::new(Faulty::default());
    let writer = Store::over_files(files.clone()).unwrap();
    let table = create(&writer);
    insert(&writer, table, 0..10);
    writer.move_delta(table).unwrap();
    let reader = Store::read_files(files.clone()).unwrap();
    let old = reader.snapshot();
    let outcomes = |store: &Store| {
        let mut states = Vec::new();
        store.verify(|VerifyReport { outcome, .. }| {
            states.push(outcome.err().map(|error| error.sqlstate()));
        });
        states
    };
    writer
        .commit(|edit| edit.drop_table(DEFAULT_SCHEMA, "t", false))
        .unwrap();
    let table = create(&writer);
    assert!(files.list("blocks").unwrap().is_empty());
    let error = try_world(&old).unwrap_err();
    assert_eq!(error.sqlstate(), "40001");
    assert!(error.to_string().contains("too old"), "{error}");
    assert_eq!(count(&reader), 0, "the next snapshot does without it");

    insert(&writer, table, 0..10);
    writer.move_delta(table).unwrap();
    assert_eq!(outcomes(&reader), [None]);
    let other = Store::read_files(files.clone()).unwrap();
    files
        .remove(&format!("blocks/{}", files.list("blocks").unwrap()[0]))
        .unwrap();
    assert_eq!(outcomes(&other), [Some("XX001")]);
}
