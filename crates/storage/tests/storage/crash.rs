//! Whatever operation fails: afterwards the database is as before a step or as
//! after it, whole, and can go on.

use crate::tables::Dice;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringViewArray};
use freestone_storage::io::{Faulty, Files};
use freestone_storage::{
    Column, ColumnType, DEFAULT_SCHEMA, Layout, NewBlock, Result, ScanRequest, Store, TableOptions,
    TableSchema,
};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// One thing that a user does, all of it or nothing.
#[derive(Clone, Debug)]
enum Step {
    Create(&'static str, Layout, Range<i64>),
    Append(&'static str, Range<i64>),
    Rewrite(&'static str, Layout),
    Options(&'static str, Layout),
    Drop(&'static str),
    View(&'static str),
    DropView(&'static str),
    Schema(&'static str),
    /// Two tables in one commit.
    Swap(&'static str, &'static str),
}

/// What there is: per table the layouts of its blocks and its rows; views; schemas.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    tables: BTreeMap<String, (Vec<Layout>, Vec<i64>)>,
    views: Vec<String>,
    schemas: Vec<String>,
}

fn steps() -> Vec<Step> {
    use Step::*;
    vec![
        Create("t", Layout::Pax, 0..400),
        Append("t", 400..900),
        Create("u", Layout::Row, 0..50),
        View("v"),
        Rewrite("t", Layout::Column),
        Schema("s"),
        Options("t", Layout::Row),
        Append("t", 900..1000),
        Drop("u"),
        Create("u", Layout::Column, 50..60),
        Swap("u", "w"),
        DropView("v"),
        Rewrite("t", Layout::Pax),
        Drop("t"),
    ]
}

fn columns() -> TableSchema {
    let column = |name: &str, kind, nullable| Column {
        name: name.into(),
        kind,
        nullable,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: vec![
            column("id", ColumnType::BigInt, false),
            column("name", ColumnType::Text, true),
        ],
        keys: Vec::new(),
        ..TableSchema::default()
    }
}

fn options(layout: Layout) -> TableOptions {
    // Small blocks, so that each step writes several.
    TableOptions {
        layout,
        block_bytes: 4000,
        page_bytes: 1024,
        ..TableOptions::default()
    }
}

fn name(id: i64) -> Option<String> {
    (id % 3 != 0).then(|| format!("the name of number {id}"))
}

fn batch(ids: &[i64]) -> RecordBatch {
    let names: StringViewArray = ids.iter().map(|id| name(*id)).collect();
    let arrays: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(ids.to_vec())), Arc::new(names)];
    RecordBatch::try_new(columns().arrow(), arrays).unwrap()
}

fn blocks(store: &Store, options: &TableOptions, ids: &[i64]) -> Result<Vec<NewBlock>> {
    let mut writer = store.writer(&Arc::new(columns()), options)?;
    writer.push(&batch(ids))?;
    writer.finish()
}

/// The ids in a table; every other value follows from them.
fn ids(store: &Store, table: &str) -> Vec<i64> {
    let catalog = store.snapshot();
    let table = catalog.table(DEFAULT_SCHEMA, table).unwrap();
    let scan = table
        .scan(&ScanRequest {
            projection: vec![0, 1],
            ..ScanRequest::default()
        })
        .unwrap();
    let mut ids = Vec::new();
    for batch in scan.worker() {
        let batch = batch.unwrap();
        let names = batch.column(1).as_string_view();
        for (row, id) in batch
            .column(0)
            .as_primitive::<Int64Type>()
            .values()
            .iter()
            .enumerate()
        {
            assert_eq!(
                names.is_valid(row).then(|| names.value(row).to_string()),
                name(*id)
            );
            ids.push(*id);
        }
    }
    ids
}

fn run(store: &Store, step: &Step) -> Result<()> {
    let catalog = store.snapshot();
    let table = |name: &str| catalog.table(DEFAULT_SCHEMA, name).unwrap().clone();
    match step {
        Step::Create(name, layout, rows) => {
            let options = options(*layout);
            let blocks = blocks(store, &options, &rows.clone().collect::<Vec<_>>())?;
            store.commit(|edit| {
                let id = edit.create_table(DEFAULT_SCHEMA, name, columns(), options)?;
                edit.append(id, blocks).map(drop)
            })
        }
        Step::Append(name, rows) => {
            let table = table(name);
            let blocks = blocks(store, &table.options, &rows.clone().collect::<Vec<_>>())?;
            store.commit(|edit| edit.append(table.id, blocks).map(drop))
        }
        Step::Rewrite(name, layout) => {
            let (table, options) = (table(name), options(*layout));
            let blocks = blocks(store, &options, &ids(store, name))?;
            store.commit(|edit| edit.rewrite(table.id, &table, u64::MAX, options, blocks))
        }
        Step::Options(name, layout) => {
            let table = table(name);
            store.commit(|edit| edit.set_options(table.id, options(*layout)))
        }
        Step::Drop(name) => store.commit(|edit| edit.drop_table(DEFAULT_SCHEMA, name, false)),
        Step::View(name) => store.commit(|edit| edit.create_view(DEFAULT_SCHEMA, name, "SELECT 1")),
        Step::DropView(name) => store.commit(|edit| edit.drop_view(DEFAULT_SCHEMA, name)),
        Step::Schema(name) => store.commit(|edit| edit.create_schema(name)),
        Step::Swap(old, new) => {
            let options = options(Layout::Pax);
            let blocks = blocks(store, &options, &ids(store, old))?;
            store.commit(|edit| {
                edit.drop_table(DEFAULT_SCHEMA, old, false)?;
                let id = edit.create_table(DEFAULT_SCHEMA, new, columns(), options)?;
                edit.append(id, blocks).map(drop)
            })
        }
    }
}

fn state(store: &Store) -> State {
    let catalog = store.snapshot();
    let tables = catalog.tables(DEFAULT_SCHEMA).into_iter().map(|table| {
        let layouts = table.blocks().iter().map(|block| block.layout()).collect();
        (table.name.clone(), (layouts, ids(store, &table.name)))
    });
    State {
        tables: tables.collect(),
        views: catalog
            .views(DEFAULT_SCHEMA)
            .into_iter()
            .map(|view| view.name.clone())
            .collect(),
        schemas: catalog.schemas().map(str::to_string).collect(),
    }
}

/// Every state that the steps lead through, the empty one first.
fn states() -> Vec<State> {
    let store = Store::in_memory();
    let mut states = vec![state(&store)];
    for step in steps() {
        run(&store, &step).unwrap();
        states.push(state(&store));
    }
    states
}

/// Opens what a crash left: whole, without a file too many.
fn reopened(files: &Arc<Faulty>) -> Arc<Store> {
    let store = Store::over_files(files.clone()).unwrap();
    assert!(store.notes().is_empty(), "{:?}", store.notes());
    store.verify(|report| report.outcome.unwrap());
    let catalog = store.snapshot();
    let named = catalog
        .all_tables()
        .flat_map(|(_, table)| table.blocks().iter().map(|block| block.id()));
    let mut named: Vec<String> = named.map(|id| format!("{id}.block")).collect();
    named.sort();
    assert_eq!(
        files.list("blocks").unwrap(),
        named,
        "block files and those that tables name"
    );
    store
}

/// What goes wrong: every operation after some, or one.
#[derive(Clone, Copy, Debug)]
enum Fault {
    After(u64),
    Once(u64),
}

impl Fault {
    fn all(operations: u64) -> impl Iterator<Item = Fault> {
        (0..operations).flat_map(|limit| [Fault::After(limit), Fault::Once(limit)])
    }
}

/// Runs the steps until one fails; its number.
fn run_until_failure(files: &Arc<Faulty>, fault: Fault) -> (Arc<Store>, Option<usize>) {
    let store = Store::over_files(files.clone()).unwrap();
    match fault {
        Fault::After(limit) => files.fail_after(limit),
        Fault::Once(limit) => files.fail_once_after(limit),
    }
    let failed = steps().iter().position(|step| run(&store, step).is_err());
    (store, failed)
}

/// Holds the state against the two it may be, and goes on to the end from there.
fn check_and_go_on(files: &Arc<Faulty>, states: &[State], failed: Option<usize>, what: &str) {
    let store = reopened(files);
    let (found, last) = (state(&store), states.len() - 1);
    let done = match failed {
        Some(step) if found == states[step] => step,
        Some(step) => {
            assert_eq!(
                found,
                states[step + 1],
                "{what}: neither before nor after {:?}",
                steps()[step]
            );
            step + 1
        }
        None => {
            assert_eq!(found, states[last], "{what}");
            last
        }
    };
    for (number, step) in steps().iter().enumerate().skip(done) {
        run(&store, step).unwrap();
        assert_eq!(state(&store), states[number + 1], "{what}, then {step:?}");
    }
    drop(store);
    assert_eq!(
        state(&reopened(files)),
        states[last],
        "{what}, then all steps"
    );
}

/// How often something has to fail for every operation to have failed once.
fn operations() -> u64 {
    let files = Arc::new(Faulty::default());
    let (_, failed) = run_until_failure(&files, Fault::Once(u64::MAX / 2));
    assert_eq!(failed, None);
    files.operations()
}

#[test]
fn power_losses_leave_before_or_after() {
    let (states, operations) = (states(), operations());
    assert!(operations > 80, "{operations} operations");
    for fault in Fault::all(operations) {
        let files = Arc::new(Faulty::default());
        let (store, failed) = run_until_failure(&files, fault);
        drop(store);
        check_and_go_on(
            &Arc::new(files.crash()),
            &states,
            failed,
            &format!("loss, {fault:?}"),
        );
    }
}

/// Names that were not synced may survive a power loss, each for itself.
#[test]
fn power_losses_that_spare_some_names_leave_before_or_after() {
    let (states, operations) = (states(), operations());
    for fault in Fault::all(operations) {
        let files = Arc::new(Faulty::default());
        let (store, failed) = run_until_failure(&files, fault);
        for seed in 0..6 {
            let mut dice = Dice(seed);
            let left = files.crash_keeping(|_| seed == 0 || dice.once_in(2));
            check_and_go_on(
                &Arc::new(left),
                &states,
                failed,
                &format!("loss {seed}, {fault:?}"),
            );
        }
        drop(store);
    }
}

/// The process dies, the machine goes on: nothing is lost, nothing is tidied up.
#[test]
fn kills_leave_before_or_after() {
    let (states, operations) = (states(), operations());
    for fault in Fault::all(operations) {
        let files = Arc::new(Faulty::default());
        let (store, failed) = run_until_failure(&files, fault);
        // Dropping the store could tidy up; a killed process does not.
        let left = Arc::new(files.crash_keeping(|_| true));
        check_and_go_on(&left, &states, failed, &format!("kill, {fault:?}"));
        drop(store);
    }
}

/// A disk that fails for a while: the failed step changed nothing for this
/// process, and can be done again; after the database was opened again, if it
/// was the log that failed.
#[test]
fn the_process_goes_on_after_a_failure() {
    let (states, operations) = (states(), operations());
    for limit in 0..operations {
        let files = Arc::new(Faulty::default());
        let mut store = Store::over_files(files.clone()).unwrap();
        files.fail_after(limit);
        for (number, step) in steps().iter().enumerate() {
            if run(&store, step).is_err() {
                assert_eq!(
                    state(&store),
                    states[number],
                    "{step:?} failed and changed something"
                );
                files.heal();
                let again = run(&store, step);
                if again
                    .as_ref()
                    .is_err_and(|error| error.sqlstate() == "58030")
                {
                    drop(store);
                    store = Store::over_files(files.clone()).unwrap();
                    // What failed may have reached the disk.
                    if state(&store) == states[number] {
                        run(&store, step).unwrap();
                    }
                } else {
                    again.unwrap();
                }
            }
            assert_eq!(
                state(&store),
                states[number + 1],
                "failure after {limit}, {step:?}"
            );
        }
        drop(store);
        let left = Arc::new(files.crash());
        check_and_go_on(&left, &states, None, &format!("failure after {limit}"));
    }
}
