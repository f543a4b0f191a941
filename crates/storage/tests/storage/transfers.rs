//! Transfers between accounts from eight threads, while rows are moved into blocks,
//! checkpoints are made, and readers inside and beside the store look on.

use crate::tables::Dice;
use crate::world::{batch, schema, try_rows};
use freestone_storage::{
    CompareOp, DEFAULT_SCHEMA, OpenMode, Predicate, Result, RowId, Snapshot, Store, TableId,
    TableOptions, Transaction, Value,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

const ACCOUNTS: i64 = 300;
const BALANCE: i64 = 100;

/// An account: its balance, and how often it was changed.
fn columns() -> Vec<String> {
    vec!["n_balance".to_string(), "n_changes".to_string()]
}

fn create(store: &Arc<Store>) -> TableId {
    let create = store.commit(|edit| {
        let schema = schema(&columns(), "t");
        edit.create_table(DEFAULT_SCHEMA, "t", schema, TableOptions::default())
    });
    let table = create.unwrap();
    let all: Vec<(i64, Vec<Option<i64>>)> = (0..ACCOUNTS)
        .map(|key| (key, vec![Some(BALANCE), Some(0)]))
        .collect();
    let mut first = store.begin().unwrap();
    first.insert(table, &batch(&columns(), &all)).unwrap();
    first.commit().unwrap();
    table
}

/// Sums of balances and of changes.
fn sums(snapshot: &Snapshot) -> Result<(i64, i64)> {
    let found = try_rows(snapshot, "t")?;
    assert_eq!(found.len() as i64, ACCOUNTS);
    let sum = |column: usize| {
        let values = found.values().map(|(_, cells)| cells[column].unwrap());
        values.sum()
    };
    Ok((sum(0), sum(1)))
}

fn account(transaction: &Transaction, table: TableId, key: i64) -> Result<(RowId, i64, i64)> {
    let snapshot = transaction.snapshot();
    let predicate = Predicate::Compare {
        column: 0,
        op: CompareOp::Eq,
        value: Value::Int(key.into()),
    };
    let view = snapshot.read_view(table);
    let table = snapshot.table(DEFAULT_SCHEMA, "t").unwrap();
    let found = table.look_up(&view, &predicate, &[1, 2])?;
    assert_eq!(found.len(), 1, "account {key}");
    let number = |value: &Option<Value>| match value {
        Some(Value::Int(value)) => *value as i64,
        other => panic!("{other:?}"),
    };
    let (id, row) = &found[0];
    Ok((*id, number(&row[0]), number(&row[1])))
}

fn transfer(store: &Arc<Store>, table: TableId, dice: &mut Dice) -> Result<()> {
    let mut transaction = store.begin()?;
    let from = dice.below(ACCOUNTS as usize) as i64;
    let to = (from + 1 + dice.below(ACCOUNTS as usize - 1) as i64) % ACCOUNTS;
    let amount = dice.below(20) as i64;
    for (key, change) in [(from, -amount), (to, amount)] {
        let (id, balance, changes) = account(&transaction, table, key)?;
        transaction.delete(table, &[id])?;
        let changed = (key, vec![Some(balance + change), Some(changes + 1)]);
        let first = transaction.insert(table, &batch(&columns(), &[changed]))?;
        transaction.check_keys(table, first)?;
    }
    match dice.below(3) {
        0 => given_up(transaction),
        _ => transaction.commit(),
    }
}

/// Commits without waiting for the end: what is given up once it is in the log is
/// committed all the same.
fn given_up(transaction: Transaction) -> Result<()> {
    let commit = std::pin::pin!(transaction.commit_async());
    match commit.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => Ok(()),
    }
}

/// Two seconds, or whatever `FREESTONE_TRANSFER_SECONDS` asks for.
fn duration() -> Duration {
    let seconds = std::env::var("FREESTONE_TRANSFER_SECONDS").ok();
    Duration::from_secs(seconds.map_or(2, |seconds| seconds.parse().unwrap()))
}

/// Ends the others when a thread fails, which would wait for them otherwise.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn transfers_keep_the_sum() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), OpenMode::Create).unwrap();
    let table = create(&store);
    let beside = Store::open(directory.path(), OpenMode::ReadOnly).unwrap();
    let (done, refused, looks, over) = (
        AtomicU64::new(0),
        AtomicU64::new(0),
        AtomicU64::new(0),
        AtomicBool::new(false),
    );
    let goes_on = || !over.load(Ordering::Relaxed);
    let look = |store: &Store| {
        let _stop = Stop(&over);
        let mut newest = 0;
        while goes_on() {
            match sums(&store.snapshot()) {
                Ok((balances, changes)) => {
                    assert_eq!(balances, ACCOUNTS * BALANCE);
                    assert!(changes >= newest && changes % 2 == 0, "time goes on");
                    newest = changes;
                    looks.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => assert_eq!(error.sqlstate(), "40001", "{error}"),
            }
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (store, done, refused, over) = (&store, &done, &refused, &over);
            scope.spawn(move || {
                let _stop = Stop(over);
                let mut dice = Dice(thread);
                while !over.load(Ordering::Relaxed) {
                    let count = match transfer(store, table, &mut dice) {
                        Ok(()) => done,
                        Err(error) => {
                            assert_eq!(error.sqlstate(), "40001", "{error}");
                            refused
                        }
                    };
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(|| look(&store));
        scope.spawn(|| look(&beside));
        scope.spawn(|| {
            let _stop = Stop(&over);
            while goes_on() {
                std::thread::sleep(Duration::from_millis(15));
                store.move_delta(table).unwrap();
                store.checkpoint().unwrap();
            }
        });
        let end = Instant::now() + duration();
        while goes_on() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        over.store(true, Ordering::Relaxed);
    });
    let (done, refused, looks) = (done.into_inner(), refused.into_inner(), looks.into_inner());
    println!("{done} transfers, {refused} refused, {looks} looks");
    assert!(done > 100 && looks > 20);
    // Each change is of the version before it, so none is lost.
    let expected = (ACCOUNTS * BALANCE, 2 * done as i64);
    assert_eq!(sums(&store.snapshot()).unwrap(), expected);
    assert_eq!(sums(&beside.snapshot()).unwrap(), expected);
    drop(store);
    let store = Store::open(directory.path(), OpenMode::ReadWrite).unwrap();
    assert_eq!(sums(&store.snapshot()).unwrap(), expected);
}
