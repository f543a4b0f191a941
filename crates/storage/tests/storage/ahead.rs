//! Reading ahead changes when bytes are read, and nothing else.

use crate::home::{Home, every_form, fill, ids, one_worker, options, three_workers};
use crate::model::Model;
use crate::tables::{Nulls, Recipe, Spread, rows, schema};
use freestone_storage::{
    ColumnType, CompareOp, DEFAULT_SCHEMA, IndexKind, Layout, Predicate, ReadMethod, ReadOptions,
    Result, ScanRequest, TableOptions, Value,
};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

const ROWS: usize = 40_000;

/// Every way of reading, the first one without reading ahead.
fn ways() -> Vec<ReadOptions> {
    let usual = ReadOptions::default();
    let mut ways = vec![ReadOptions { depth: 0, ..usual }];
    for method in [ReadMethod::IoUring, ReadMethod::Threads] {
        for direct in [false, true] {
            for (unit_bytes, depth) in [(4096, 1), (8192, 7), (128 << 10, 48)] {
                ways.push(ReadOptions {
                    method,
                    unit_bytes,
                    depth,
                    direct,
                });
            }
        }
    }
    ways
}

/// What is in the page cache is read ahead, too.
fn always() -> ReadOptions {
    ReadOptions {
        method: ReadMethod::IoUring,
        ..ReadOptions::default()
    }
}

/// The table `t`: `id`, a number and a text, in blocks of about 5,000 rows.
fn model() -> Model {
    let recipe = |kind| Recipe {
        kind,
        nullable: true,
        nulls: Nulls::Random,
        spread: Spread::Many,
    };
    let recipes = [recipe(ColumnType::Integer), recipe(ColumnType::Text)];
    Model::new(schema(&recipes), rows(&recipes, ROWS, 3))
}

fn filled(model: &Model, parts: &[TableOptions]) -> Home {
    let home = Home::new(true);
    fill(&home, model, parts, 1000);
    home
}

fn below(column: usize, value: i128) -> Predicate {
    Predicate::Compare {
        column,
        op: CompareOp::Lt,
        value: Value::Int(value),
    }
}

fn request(predicate: Option<Predicate>) -> ScanRequest {
    ScanRequest {
        projection: vec![0, 1, 2],
        predicate,
        batch_rows: 500,
        ..ScanRequest::default()
    }
}

#[test]
fn rows_are_the_same() {
    let model = model();
    let mut home = filled(&model, &every_form(64 << 10));
    let some = Predicate::And(vec![below(0, 30_000), below(1, 0)]);
    let mut expected: Option<Vec<Vec<u32>>> = None;
    for way in ways() {
        home = home.reopened();
        home.store.set_read_options(way).unwrap();
        let mut found = Vec::new();
        for predicate in [Some(some.clone()), None] {
            let scan = home.table().scan(&request(predicate)).unwrap();
            found.push(ids(&three_workers(&scan)));
            let ahead = scan.metrics().bytes_ahead.load(Ordering::Relaxed);
            assert_eq!(ahead > 0, way.depth > 0, "{way:?}");
            // What is in memory is not asked for.
            let hot = home.table().scan(&request(None)).unwrap();
            assert_eq!(
                one_worker(&hot)
                    .iter()
                    .map(|rows| rows.num_rows())
                    .sum::<usize>(),
                ROWS
            );
            home = home.reopened();
            home.store.set_read_options(way).unwrap();
        }
        assert_eq!(found[1], (0..ROWS as u32).collect::<Vec<_>>());
        let expected = expected.get_or_insert_with(|| found.clone());
        assert_eq!(*expected, found, "{way:?}");
    }
}

#[test]
fn what_is_in_memory_is_not_asked_for() {
    let home = filled(&model(), &[options(Layout::Column, 64 << 10)]).reopened();
    home.store.set_read_options(always()).unwrap();
    let asked = || {
        let scan = home.table().scan(&request(None)).unwrap();
        one_worker(&scan);
        scan.metrics().bytes_ahead.load(Ordering::Relaxed)
    };
    assert!(asked() > 0);
    assert_eq!(asked(), 0);
}

/// The same damage gives the same error, and the same rows before it.
#[test]
fn damage_is_found_where_it_is() {
    let model = model();
    for damage in [Damage::Flip, Damage::Cut, Damage::Gone] {
        let mut home = filled(&model, &[options(Layout::Column, 64 << 10)]);
        let path = home.store.path().unwrap().join("blocks/3.block");
        damage.to(&path);
        let mut expected = None;
        for way in ways() {
            home = home.reopened();
            home.store.set_read_options(way).unwrap();
            let scan = home.table().scan(&request(None)).unwrap();
            let batches: Vec<Result<_>> = scan.worker().collect();
            let rows: usize = batches.iter().flatten().map(|batch| batch.num_rows()).sum();
            let error = batches.into_iter().find_map(Result::err);
            let found = (rows, error.unwrap().to_string());
            assert!(found.1.contains("3.block"), "{}", found.1);
            let expected = expected.get_or_insert_with(|| found.clone());
            assert_eq!(*expected, found, "{way:?} {damage:?}");
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    Flip,
    Cut,
    Gone,
}

impl Damage {
    fn to(self, path: &PathBuf) {
        let mut bytes = std::fs::read(path).unwrap();
        let len = bytes.len();
        match self {
            Damage::Flip => bytes[len - 100] ^= 1,
            Damage::Cut => bytes.truncate(len - 5000),
            Damage::Gone => return std::fs::remove_file(path).unwrap(),
        }
        std::fs::write(path, bytes).unwrap();
    }
}

/// What is read ahead counts, and is given back when a scan ends early.
#[test]
fn memory_has_a_limit() {
    let mut home = filled(&model(), &[options(Layout::Column, 64 << 10)]);
    for way in ways() {
        home = home.reopened();
        home.store.set_read_options(way).unwrap();
        for limit in [0, 100_000, 1 << 20, u64::MAX] {
            home.store.set_cache_bytes(limit);
            let scan = home.table().scan(&request(None)).unwrap();
            let mut rows = 0;
            for batch in scan.worker() {
                rows += batch.unwrap().num_rows();
                assert!(home.store.cache_bytes() <= limit, "{way:?}");
            }
            assert_eq!(rows, ROWS);
            // Given up after the first batch, with reads under way.
            let early = home.table().scan(&request(None)).unwrap();
            assert!(early.worker().next().unwrap().is_ok());
        }
        home.store.set_cache_bytes(0);
        // The system may still write to what was given up.
        for _ in 0..1000 {
            let all = home.table().scan(&request(None)).unwrap();
            one_worker(&all);
            if home.store.cache_bytes() == 0 {
                break;
            }
            std::thread::yield_now();
        }
        assert_eq!(home.store.cache_bytes(), 0, "{way:?}");
    }
}

/// A few rows are not worth more blocks than they are in.
#[test]
fn limits_ask_for_what_they_reach() {
    let home = filled(&model(), &[options(Layout::Column, 64 << 10)]).reopened();
    home.store.set_read_options(always()).unwrap();
    let asked = |limit| {
        let limited = ScanRequest {
            limit,
            ..request(None)
        };
        let home = home.table();
        let scan = home.scan(&limited).unwrap();
        let rows: usize = one_worker(&scan).iter().map(|rows| rows.num_rows()).sum();
        assert_eq!(rows, limit.unwrap_or(ROWS));
        scan.metrics().bytes_ahead.load(Ordering::Relaxed)
    };
    let few = asked(Some(10));
    let all = asked(None);
    assert!(few > 0 && few * 2 < all, "{few} of {all}");
}

/// Columns that no row is left to be read of stop being asked for.
#[test]
fn what_blocks_do_not_use_is_not_asked_for() {
    let parts = [options(Layout::Column, 8 << 10)];
    let home = filled(&model(), &parts).reopened();
    let narrow = ReadOptions {
        depth: 6,
        ..always()
    };
    home.store.set_read_options(narrow).unwrap();
    // Zone maps do not know that no value is one of these.
    let none = Predicate::And(vec![Predicate::Compare {
        column: 1,
        op: CompareOp::Eq,
        value: Value::Int(12_345_678),
    }]);
    let scan = home.table().scan(&request(Some(none))).unwrap();
    assert!(one_worker(&scan).is_empty());
    let read = scan.metrics().bytes_read.load(Ordering::Relaxed);
    let ahead = scan.metrics().bytes_ahead.load(Ordering::Relaxed);
    assert!(ahead > 0 && ahead * 2 < read, "{ahead} of {read}");
}

/// Blocks that Bloom filters rule out are not asked for.
#[test]
fn filters_rule_out_blocks_ahead() {
    let home = filled(&model(), &[options(Layout::Column, 64 << 10)]);
    let seen = home.table();
    let index = home
        .store
        .build_index(&seen, "i", IndexKind::Bloom, vec![1], 2, &|| true);
    let index = index.unwrap();
    let made = home
        .store
        .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index));
    made.unwrap();
    let home = home.reopened();
    home.store.set_read_options(always()).unwrap();
    let rare = Predicate::Compare {
        column: 1,
        op: CompareOp::Eq,
        value: Value::Int(12_345_678),
    };
    let scan = home.table().scan(&request(Some(rare))).unwrap();
    assert!(one_worker(&scan).is_empty());
    let metrics = scan.metrics();
    assert!(metrics.blocks_pruned_by_bloom.load(Ordering::Relaxed) > 5);
    assert_eq!(metrics.blocks_read.load(Ordering::Relaxed), 0);
    assert_eq!(metrics.bytes_ahead.load(Ordering::Relaxed), 0);
}
