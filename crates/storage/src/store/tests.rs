use super::*;
use crate::io::Faulty;
use crate::scan::ScanRequest;
use crate::schema::{Column, ColumnType};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringViewArray};

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
            column("n", ColumnType::Integer, false),
            column("s", ColumnType::Text, true),
        ],
        keys: vec![],
        ..TableSchema::default()
    }
}

fn batch(numbers: std::ops::Range<i32>) -> RecordBatch {
    let texts: StringViewArray = numbers
        .clone()
        .map(|n| (n % 3 != 0).then(|| format!("text number {n}")))
        .collect();
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(numbers)),
        Arc::new(texts),
    ];
    RecordBatch::try_new(columns().arrow(), arrays).unwrap()
}

fn add(store: &Store, name: &str, rows: std::ops::Range<i32>) -> Result<()> {
    let options = TableOptions {
        block_bytes: crate::schema::BLOCK_BYTES_MIN,
        ..TableOptions::default()
    };
    let mut writer = store.writer(&Arc::new(columns()), &options)?;
    writer.push(&batch(rows))?;
    let blocks = writer.finish()?;
    store.commit(|edit| {
        let id = edit.create_table(DEFAULT_SCHEMA, name, columns(), options)?;
        edit.append(id, blocks).map(drop)
    })
}

fn numbers(store: &Store, name: &str) -> Vec<i32> {
    let catalog = store.snapshot();
    let table = catalog.table(DEFAULT_SCHEMA, name).unwrap();
    let scan = table
        .scan(&ScanRequest {
            projection: vec![0],
            ..ScanRequest::default()
        })
        .unwrap();
    scan.worker()
        .flat_map(|batch| {
            batch
                .unwrap()
                .column(0)
                .as_primitive::<Int32Type>()
                .values()
                .to_vec()
        })
        .collect()
}

#[test]
fn rows_survive_reopening() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), OpenMode::Create).unwrap();
    add(&store, "t", 0..20_000).unwrap();
    assert!(
        store
            .snapshot()
            .table(DEFAULT_SCHEMA, "t")
            .unwrap()
            .blocks()
            .len()
            > 1
    );
    assert_eq!(
        Store::open(directory.path(), OpenMode::ReadWrite)
            .unwrap_err()
            .sqlstate(),
        "55006"
    );
    drop(store);
    let store = Store::open(directory.path(), OpenMode::ReadOnly).unwrap();
    assert_eq!(numbers(&store, "t"), (0..20_000).collect::<Vec<_>>());
    assert_eq!(add(&store, "u", 0..1).unwrap_err().sqlstate(), "25006");
    store.verify(|report| report.outcome.unwrap());
}

#[test]
fn other_directories_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("none");
    assert_eq!(
        Store::open(&missing, OpenMode::ReadWrite)
            .unwrap_err()
            .sqlstate(),
        "3D000"
    );
    std::fs::write(directory.path().join("letter.txt"), "dear").unwrap();
    for mode in [OpenMode::Create, OpenMode::ReadWrite, OpenMode::ReadOnly] {
        assert_eq!(
            Store::open(directory.path(), mode).unwrap_err().sqlstate(),
            "3D000"
        );
    }
    drop(Store::open(&missing, OpenMode::Create).unwrap());
    std::fs::write(missing.join("FORMAT"), "freestone 4\n").unwrap();
    let error = Store::open(&missing, OpenMode::Create).unwrap_err();
    assert_eq!(error.sqlstate(), "0A000");
    assert!(error.to_string().contains("format 4"), "{error}");
}

#[test]
fn a_failed_edit_changes_nothing_and_leaves_no_file() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    add(&store, "t", 0..10).unwrap();
    let before = files.list("blocks").unwrap();
    assert_eq!(add(&store, "t", 0..10).unwrap_err().sqlstate(), "42P07");
    assert_eq!(files.list("blocks").unwrap(), before);
}

#[test]
fn dropped_blocks_stay_while_a_snapshot_reads_them() {
    let files = Arc::new(Faulty::default());
    let store = Store::over_files(files.clone()).unwrap();
    add(&store, "t", 0..10).unwrap();
    let snapshot = store.snapshot();
    store
        .commit(|edit| edit.drop_table(DEFAULT_SCHEMA, "t", false))
        .unwrap();
    assert_eq!(files.list("blocks").unwrap().len(), 1);
    drop(snapshot);
    store.commit(|edit| edit.create_schema("other")).unwrap();
    assert!(files.list("blocks").unwrap().is_empty());
}

#[test]
fn every_failing_operation_leaves_before_or_after() {
    for operations in 0..40 {
        let files = Arc::new(Faulty::default());
        let store = Store::over_files(files.clone()).unwrap();
        add(&store, "t", 0..10).unwrap();
        files.fail_after(operations);
        let outcome = add(&store, "u", 0..20_000);
        let reopened = Store::over_files(Arc::new(files.crash())).unwrap();
        assert_eq!(numbers(&reopened, "t"), (0..10).collect::<Vec<_>>());
        match reopened.snapshot().table(DEFAULT_SCHEMA, "u") {
            Some(_) => assert_eq!(numbers(&reopened, "u"), (0..20_000).collect::<Vec<_>>()),
            None => assert!(
                outcome.is_err(),
                "an acknowledged table is gone after {operations} operations"
            ),
        }
        reopened.verify(|report| report.outcome.unwrap());
    }
}
