//! How long scans of tables take that are not in memory, by way of reading; measured,
//! not checked.
//!
//! Run alone: `cargo test --release -p freestone-storage cold -- --ignored --nocapture`.
//! Environment: `COLD_DIRECTORY` is where the table goes (else the system's temporary
//! folder), `COLD_BLOCKS` its blocks of 12 MiB (100), `COLD_RUNS` the runs of each way (5).

use crate::home::options;
use crate::tables::Dice;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use freestone_storage::{
    Column, ColumnType, DEFAULT_SCHEMA, Layout, OpenMode, ReadMethod, ReadOptions, ScanRequest,
    Store, TableSchema,
};
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const COLUMNS: usize = 12;
/// Rows of a block: 1 MiB of each column.
const ROWS: usize = 1 << 17;

fn from_environment(name: &str, otherwise: usize) -> usize {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Numbers that no codec makes smaller.
fn write(path: &Path, blocks: usize) {
    let store = Store::open(path, OpenMode::Create).unwrap();
    let column = |number| Column {
        name: format!("c{number}"),
        kind: ColumnType::BigInt,
        nullable: false,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    let schema = Arc::new(TableSchema {
        columns: (0..COLUMNS).map(column).collect(),
        ..TableSchema::default()
    });
    let options = options(Layout::Column, (ROWS * COLUMNS * 8) as u64);
    let mut writer = store.writer(&schema, &options).unwrap();
    let mut dice = Dice(1);
    for _ in 0..blocks {
        let mut values = || {
            (0..ROWS)
                .map(|_| dice.next() as i64 >> 1)
                .collect::<Int64Array>()
        };
        let arrays = (0..COLUMNS).map(|_| Arc::new(values()) as ArrayRef);
        let batch = RecordBatch::try_new(schema.arrow(), arrays.collect()).unwrap();
        writer.push(&batch).unwrap();
    }
    let blocks = writer.finish().unwrap();
    let create = |edit: &mut freestone_storage::CatalogEdit| {
        let id = edit.create_table(DEFAULT_SCHEMA, "t", (*schema).clone(), options.clone())?;
        edit.append(id, blocks)
    };
    store.commit(create).unwrap();
}

/// Has the system forget the blocks.
fn forget(path: &Path) {
    for entry in std::fs::read_dir(path.join("blocks")).unwrap() {
        let file = File::open(entry.unwrap().path()).unwrap();
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }
}

/// Seconds of a scan of some columns by so many threads, and its values in all.
fn scan(store: &Store, columns: usize, threads: usize) -> (f64, i64) {
    let began = Instant::now();
    let table = store.snapshot().table(DEFAULT_SCHEMA, "t").unwrap().clone();
    let request = ScanRequest {
        projection: (0..COLUMNS).step_by(COLUMNS / columns).collect(),
        ..ScanRequest::default()
    };
    let scan = table.scan(&request).unwrap();
    let sum = |batch: RecordBatch| {
        let columns = batch.columns().iter();
        let columns = columns.map(|column| column.as_any().downcast_ref::<Int64Array>().unwrap());
        let sums =
            columns.map(|values| values.values().iter().fold(0i64, |a, b| a.wrapping_add(*b)));
        sums.fold(0i64, i64::wrapping_add)
    };
    let all = std::thread::scope(|scope| {
        let work = || {
            scan.worker()
                .map(|batch| sum(batch.unwrap()))
                .fold(0, i64::wrapping_add)
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let sums = threads.into_iter().map(|thread| thread.join().unwrap());
        sums.fold(0, i64::wrapping_add)
    });
    (began.elapsed().as_secs_f64(), all)
}

fn ways() -> Vec<(String, ReadOptions)> {
    let usual = ReadOptions::default();
    let way = |method, direct, depth| ReadOptions {
        method,
        direct,
        depth,
        ..usual
    };
    let mut ways = vec![
        ("when needed".to_string(), way(ReadMethod::Auto, false, 0)),
        ("auto".into(), usual),
        ("when needed, direct".into(), way(ReadMethod::Auto, true, 0)),
        (
            "threads".into(),
            way(ReadMethod::Threads, false, usual.depth),
        ),
        (
            "threads, direct".into(),
            way(ReadMethod::Threads, true, usual.depth),
        ),
        (
            "io_uring".into(),
            way(ReadMethod::IoUring, false, usual.depth),
        ),
        (
            "io_uring, direct".into(),
            way(ReadMethod::IoUring, true, usual.depth),
        ),
    ];
    for depth in [2, 8, 192] {
        for direct in [false, true] {
            let name = format!(
                "io_uring{}, depth {depth}",
                if direct { ", direct" } else { "" }
            );
            ways.push((name, way(ReadMethod::IoUring, direct, depth)));
        }
    }
    for unit in [32 << 10, 512 << 10] {
        let options = ReadOptions {
            unit_bytes: unit,
            ..way(ReadMethod::IoUring, true, usual.depth)
        };
        ways.push((
            format!("io_uring, direct, unit {} KiB", unit >> 10),
            options,
        ));
    }
    ways
}

/// Whatever else runs on a machine only adds.
fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::MAX, f64::min)
}

/// Prints the fastest of scans that find nothing in memory, and of scans that find all
/// files in the page cache and none of it in the cache of blocks.
#[test]
#[ignore = "measures; run alone"]
fn cold_scans() {
    let directory = match std::env::var("COLD_DIRECTORY") {
        Ok(directory) => tempfile::tempdir_in(directory).unwrap(),
        Err(_) => tempfile::tempdir().unwrap(),
    };
    let (path, runs) = (directory.path(), from_environment("COLD_RUNS", 5));
    let blocks = from_environment("COLD_BLOCKS", 100);
    write(path, blocks);
    let once = Store::open(path, OpenMode::ReadOnly).unwrap();
    println!(
        "{} blocks of 12 MiB, reads ahead by {}",
        blocks,
        once.read_method()
    );
    drop(once);
    for (columns, threads) in [(3, 1), (12, 1), (3, 2), (12, 2)] {
        let mut times = vec![(Vec::new(), Vec::new()); ways().len()];
        let mut expected = None;
        for _ in 0..runs {
            for (place, (name, options)) in ways().into_iter().enumerate() {
                let store = Store::open(path, OpenMode::ReadOnly).unwrap();
                store.set_read_options(options).unwrap();
                forget(path);
                let (cold, sum) = scan(&store, columns, threads);
                assert_eq!(*expected.get_or_insert(sum), sum, "{name}");
                times[place].0.push(cold);
                // Everything is in the page cache, and little stays in the other.
                store.set_cache_bytes(64 << 20);
                let read_files = || {
                    for entry in std::fs::read_dir(path.join("blocks")).unwrap() {
                        std::io::copy(
                            &mut File::open(entry.unwrap().path()).unwrap(),
                            &mut std::io::sink(),
                        )
                        .unwrap();
                    }
                };
                read_files();
                times[place].1.push(scan(&store, columns, threads).0);
            }
        }
        let mebibytes = (blocks * columns) as f64;
        println!(
            "{columns} of {COLUMNS} columns, {threads} threads: cold ms, MiB/s; in page cache ms"
        );
        for ((name, _), (cold, cached)) in ways().into_iter().zip(times) {
            let (cold, cached) = (least(&cold), least(&cached));
            let (ms, rate) = (cold * 1e3, mebibytes / cold);
            println!("{name:<36} {ms:8.1} {rate:8.0} {:8.1}", cached * 1e3);
        }
    }
}
