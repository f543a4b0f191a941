//! Overlays beside the tuple mover and other writers: no change is lost.

use super::*;
use crate::mover::{Hook, Hooked};
use arrow_array::{ArrayRef, Int64Array};
use freestone_storage::{Column, Error, RowPlace, TableSchema};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// An overlay that is committed while the mover writes the same rows.
#[test]
fn overlays_during_a_move_are_kept() {
    let (old, new) = (small(1), small(2));
    let after = rows_of(&with(&old, &new, &[INTEGER, TEXT]));
    for laid_before in [false, true] {
        let hooked = Arc::new(Hooked {
            files: Arc::default(),
            hook: Mutex::default(),
        });
        let options = options(Layout::Column, 90_000);
        let (store, table) = begun(hooked.clone(), &old, options);
        if laid_before {
            laid_over(&store, &[TEXT], &small(3));
        }
        deleted(&store, 9);
        let (other, values) = (store.clone(), small(2));
        *hooked.hook.lock().unwrap() = Some(Hook(Box::new(move || {
            laid_over(&other, &[INTEGER, TEXT], &values);
        })));
        store.vacuum(table).unwrap();
        assert!(hooked.hook.lock().unwrap().is_none(), "nothing was written");
        let mut expected = after.clone();
        expected.remove(&9);
        assert_eq!(rows(&store.snapshot()), expected);
        assert!(
            overlay_files(&store.snapshot()).is_empty(),
            "it began again"
        );
        let again = Store::over_files(Arc::new(hooked.files.crash())).unwrap();
        assert_eq!(rows(&again.snapshot()), expected);
    }
}

const KEYS: i64 = 40;

fn numbers(rows: &[(i64, i64)]) -> RecordBatch {
    let column = |of: fn(&(i64, i64)) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(of)))
    };
    let arrays = vec![column(|row| row.0), column(|row| row.1)];
    RecordBatch::try_new(schema_of_numbers().arrow(), arrays).unwrap()
}

fn schema_of_numbers() -> TableSchema {
    let column = |name: &str| Column {
        name: name.into(),
        kind: ColumnType::BigInt,
        nullable: false,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: vec![column("id"), column("n")],
        ..TableSchema::default()
    }
}

fn pair(row: &Row) -> (i64, i64) {
    match row[..] {
        [Some(Value::Int(id)), Some(Value::Int(n))] => (id as i64, n as i64),
        ref other => panic!("{other:?}"),
    }
}

/// Adds one to every number: in blocks by overlays, elsewhere row by row.
fn add_to_all(store: &Arc<Store>) -> Result<()> {
    let mut own = store.begin()?;
    let snapshot = own.snapshot();
    let table = table_of(&snapshot);
    let all = Predicate::IsNotNull(0);
    let found = table.look_up(&snapshot.read_view(table.id), &all, &[0, 1])?;
    let mut new = Vec::new();
    for block in table.blocks() {
        let values = block.read(1, 0..block.rows() as usize)?;
        let values = values.as_primitive::<Int64Type>().values();
        let more: ArrayRef = Arc::new(Int64Array::from_iter_values(values.iter().map(|n| n + 1)));
        new.extend(store.write_columns(&table, block, &[1], vec![more])?);
    }
    if !own.lay_over(table.id, new)? {
        return Err(Error::Conflict {
            message: "rows were moved".into(),
        });
    }
    for (name, row) in found {
        if let RowPlace::Delta(_) = name.place() {
            let (id, n) = pair(&row);
            own.delete(table.id, &[name])?;
            own.insert(table.id, &numbers(&[(id, n + 1)]))?;
        }
    }
    own.commit()
}

fn add_to_one(store: &Arc<Store>, id: i64) -> Result<()> {
    let mut own = store.begin()?;
    let snapshot = own.snapshot();
    let table = table_of(&snapshot);
    let view = snapshot.read_view(table.id);
    let sought = equal(0, Value::Int(id.into()));
    let (name, row) = table.look_up(&view, &sought, &[0, 1])?.remove(0);
    own.delete(table.id, &[name])?;
    own.insert(table.id, &numbers(&[(id, pair(&row).1 + 1)]))?;
    own.commit()
}

/// Whether it was done; of what may go wrong, only conflicts do.
fn done(outcome: Result<()>) -> bool {
    match outcome {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.sqlstate(), "40001", "{error}");
            false
        }
    }
}

#[test]
fn no_change_is_lost_among_threads() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    let options = TableOptions {
        block_bytes: 4096,
        ..options(Layout::Pax, 4096)
    };
    let create = |edit: &mut freestone_storage::CatalogEdit| {
        edit.create_table(DEFAULT_SCHEMA, "t", schema_of_numbers(), options.clone())
    };
    let id = store.commit(create).unwrap();
    let mut own = store.begin().unwrap();
    let first: Vec<(i64, i64)> = (0..KEYS).map(|id| (id, 0)).collect();
    own.insert(id, &numbers(&first)).unwrap();
    own.commit().unwrap();
    store.move_delta(id).unwrap();

    let to_all = AtomicI64::new(0);
    let to_one: Vec<AtomicI64> = (0..KEYS).map(|_| AtomicI64::new(0)).collect();
    let stop = AtomicBool::new(false);
    let until_stopped = |work: &mut dyn FnMut()| {
        while !stop.load(Ordering::Relaxed) {
            work();
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
    };
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let (store, to_all, to_one) = (&store, &to_all, &to_one);
            scope.spawn(move || {
                until_stopped(&mut || {
                    if done(add_to_all(store)) {
                        to_all.fetch_add(1, Ordering::Relaxed);
                    }
                });
            });
            let mut dice = crate::tables::Dice(seed);
            scope.spawn(move || {
                until_stopped(&mut || {
                    let key = dice.below(KEYS as usize);
                    if done(add_to_one(store, key as i64)) {
                        to_one[key].fetch_add(1, Ordering::Relaxed);
                    }
                });
            });
        }
        scope.spawn(|| {
            until_stopped(&mut || {
                done(store.move_delta(id).map(drop));
                done(store.vacuum(id));
            });
        });
        std::thread::sleep(std::time::Duration::from_secs(2));
        stop.store(true, Ordering::Relaxed);
    });
    let (all, ones): (i64, Vec<i64>) = (
        to_all.into_inner(),
        to_one.into_iter().map(AtomicI64::into_inner).collect(),
    );
    println!("{all} overlays, {} updates", ones.iter().sum::<i64>());
    assert!(all > 10 && ones.iter().sum::<i64>() > 10);
    let again = Store::over_files(Arc::new(files.crash())).unwrap();
    for store in [store, again] {
        let found: Vec<i64> = rows(&store.snapshot())
            .values()
            .map(|row| pair(row).1)
            .collect();
        let expected: Vec<i64> = ones.iter().map(|one| all + one).collect();
        assert_eq!(found, expected);
    }
}
