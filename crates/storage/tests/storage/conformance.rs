//! Every layout answers every question as the model does.

use crate::home::{Home, collected, every_form, fill, ids, one_worker, three_workers, written};
use crate::model::{Model, order};
use crate::tables::{Dice, KINDS, Nulls, Recipe, Spread, rows, schema};
use arrow_array::*;
use freestone_storage::row::cell;
use freestone_storage::{
    CodecChoice, ColumnScanner, ColumnType, CompareOp, Error, KeyLookUp, Predicate, ReadView,
    Result, ScanRequest, Table, TableOptions, Value,
};
use proptest::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

/// Compares columns, in order; no batch at all means no row.
#[track_caller]
fn assert_rows(
    found: Vec<RecordBatch>,
    expected: &[ArrayRef],
    count: usize,
    what: &dyn std::fmt::Debug,
) {
    assert_eq!(
        found.iter().map(RecordBatch::num_rows).sum::<usize>(),
        count,
        "rows of {what:?}"
    );
    for (column, (found, expected)) in collected(found, expected.len())
        .into_iter()
        .zip(expected)
        .enumerate()
    {
        match found {
            Some(found) => assert_eq!(&found, expected, "column {column} of {what:?}"),
            None => assert_eq!(expected.len(), 0),
        }
    }
}

/// filter(x) = take(x, positions where TRUE), for one condition read in several ways.
pub fn check_scan(table: &Table, model: &Model, dice: &mut Dice, predicate: Option<Predicate>) {
    let positions = model.positions(predicate.as_ref());
    let projection: Vec<usize> = (0..dice.below(5))
        .map(|_| dice.below(model.schema.columns.len()))
        .collect();
    let batch_rows = *dice.choose(&[0, 1, 7, 1000, 100_000]);
    let batch_rows = if batch_rows == 1 && positions.len() > 500 {
        0
    } else {
        batch_rows
    };
    let request = ScanRequest {
        projection: projection.clone(),
        predicate,
        limit: None,
        batch_rows,
        scanner: *dice.choose(&[ColumnScanner::Single, ColumnScanner::Pipelined]),
        ..ScanRequest::default()
    };
    let scan = table.scan(&request).unwrap();
    let found = one_worker(&scan);
    let most = if batch_rows == 0 { 8192 } else { batch_rows };
    assert!(
        found
            .iter()
            .all(|batch| (1..=most).contains(&batch.num_rows())),
        "{request:?}"
    );
    assert_rows(
        found,
        &model.take(&positions, &projection),
        positions.len(),
        &request,
    );
    let metrics = scan.metrics();
    assert_eq!(metrics.rows_returned.load(Relaxed), positions.len() as u64);
    let seen = metrics.blocks_pruned.load(Relaxed) + metrics.blocks_read.load(Relaxed);
    assert_eq!(seen, table.blocks().len() as u64);

    if let Some(predicate) = &request.predicate {
        check_look_up(table, model, predicate, &positions);
    }
    check_key(table, model, dice);

    let limit = dice.below(positions.len() + 3);
    let limited = ScanRequest {
        limit: Some(limit),
        ..request.clone()
    };
    let kept = &positions[..limit.min(positions.len())];
    assert_rows(
        one_worker(&table.scan(&limited).unwrap()),
        &model.take(kept, &projection),
        kept.len(),
        &limited,
    );

    let with_id = ScanRequest {
        projection: vec![0],
        ..request
    };
    assert_eq!(
        ids(&three_workers(&table.scan(&with_id).unwrap())),
        positions,
        "{with_id:?}"
    );
    let some = ids(&three_workers(
        &table
            .scan(&ScanRequest {
                limit: Some(limit),
                ..with_id.clone()
            })
            .unwrap(),
    ));
    assert_eq!(some.len(), kept.len(), "limit {limit} of {with_id:?}");
    assert!(
        some.windows(2).all(|pair| pair[0] < pair[1])
            && some.iter().all(|id| positions.contains(id))
    );
}

/// Rows looked up one by one have the values that columns have.
fn check_look_up(table: &Table, model: &Model, predicate: &Predicate, positions: &[u32]) {
    let columns: Vec<usize> = (0..model.schema.columns.len()).rev().collect();
    let expected = model.take(positions, &columns);
    let found = table
        .look_up(&ReadView::default(), predicate, &columns)
        .unwrap();
    assert_eq!(found.len(), positions.len(), "rows of {predicate:?}");
    for (row, (_, values)) in found.iter().enumerate() {
        for (value, column) in values.iter().zip(&expected) {
            let expected = cell(column, row);
            let same = match (value, &expected) {
                (Some(Value::Float(a)), Some(Value::Float(b))) => a.to_bits() == b.to_bits(),
                (value, expected) => *value == *expected,
            };
            assert!(
                same,
                "row {row} of {predicate:?}: {value:?}, not {expected:?}"
            );
        }
    }
}

/// A key finds the rows that the same equalities find.
fn check_key(table: &Table, model: &Model, dice: &mut Dice) {
    let columns = model.schema.columns.len();
    let key: Vec<usize> = match table.schema.indexes.len() {
        0 => (0..=dice.below(2)).map(|_| dice.below(columns)).collect(),
        count => table.schema.indexes[dice.below(count)].columns.clone(),
    };
    // Values of one row, but for one that may come from another.
    let count = model.column(0).count();
    let (row, other) = (dice.below(count.max(1)), dice.below(count.max(1)));
    let values = key.iter().enumerate().map(|(number, column)| {
        let row = if number == 1 { other } else { row };
        model.column(*column).nth(row).flatten().cloned()
    });
    let Some(values) = values.collect::<Option<Vec<Value>>>() else {
        return;
    };
    let intervals = |column: &usize| model.schema.columns[*column].kind == ColumnType::Interval;
    if key.iter().any(intervals) {
        return;
    }
    let terms = key.iter().zip(&values);
    let terms = terms.map(|(column, value)| Predicate::Compare {
        column: *column,
        op: CompareOp::Eq,
        value: value.clone(),
    });
    let predicate = Predicate::And(terms.collect());
    let prepared = KeyLookUp::prepare(&table.schema, &key, &[0]).unwrap();
    let view = ReadView::default();
    let found = table.find(&view, &prepared, &values).unwrap();
    let expected = table.look_up(&view, &predicate, &[0]).unwrap();
    // Debug forms, in which a NaN is equal to itself.
    let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
    assert!(found == expected, "{predicate:?}");
}

/// A condition that arrives late may keep rows away that do not meet it, and no others.
fn check_tighten(table: &Table, model: &Model, dice: &mut Dice) {
    let (early, late) = (model.predicate(dice, 1), model.predicate(dice, 1));
    let scan = table
        .scan(&ScanRequest {
            projection: vec![0],
            predicate: Some(early.clone()),
            limit: None,
            batch_rows: 100,
            ..ScanRequest::default()
        })
        .unwrap();
    let mut worker = scan.worker();
    let mut found: Vec<RecordBatch> = worker.by_ref().take(2).collect::<Result<_>>().unwrap();
    scan.tighten(&late).unwrap();
    found.extend(worker.map(Result::unwrap));
    let found = ids(&found);
    let all = model.positions(Some(&early));
    assert!(
        found.iter().all(|id| all.binary_search(id).is_ok())
            && found.windows(2).all(|pair| pair[0] < pair[1])
    );
    for id in model.positions(Some(&Predicate::And(vec![early.clone(), late.clone()]))) {
        assert!(
            found.binary_search(&id).is_ok(),
            "row {id} is missing: {early:?}, then {late:?}"
        );
    }
}

/// Predicates are TRUE of the rows of a sample that they are TRUE of, and a sample that
/// is whole has all rows.
fn check_sample(table: &Table, model: &Model, dice: &mut Dice) {
    let (sample, rows) = (table.sample(), model.batch.num_rows());
    assert_eq!(sample.is_whole(), rows <= 1024);
    match sample.is_whole() {
        true => assert_eq!(sample.rows(), rows),
        // Those of some of the blocks, which may be small.
        false => assert!((1..=1024).contains(&sample.rows())),
    }
    let predicate = model.predicate(dice, 2);
    let passing = sample.passing(&predicate).unwrap();
    let passing: Vec<u32> = passing.set_indices_u32().collect();
    if rows > 0 {
        let columns = (0..model.schema.columns.len()).map(|column| sample.column(column));
        let columns = columns.map(|column| column.unwrap().clone()).collect();
        let batch = RecordBatch::try_new(model.batch.schema(), columns).unwrap();
        let sampled = Model::new(model.schema.clone(), batch);
        assert_eq!(
            passing,
            sampled.positions(Some(&predicate)),
            "{predicate:?}"
        );
    }
    if sample.is_whole() {
        // Tables that are sorted have them in another order.
        let all = model.positions(Some(&predicate));
        assert_eq!(passing.len(), all.len(), "{predicate:?}");
    }
}

/// Row counts, NULL counts and bounds say what is so.
fn check_statistics(table: &Table, model: &Model) {
    let statistics = table.statistics().unwrap();
    assert_eq!(statistics.rows, model.batch.num_rows() as u64);
    for (number, known) in statistics.columns.iter().enumerate() {
        let values = || model.column(number).flatten();
        let kind = model.schema.columns[number].kind;
        assert_eq!(
            known.null_count,
            model.column(number).filter(Option::is_none).count() as u64,
            "{kind}"
        );
        let (Some(min), Some(max)) = (&known.min, &known.max) else {
            let unordered =
                kind == ColumnType::Interval || values().any(freestone_storage::Value::is_nan);
            // An all-0xFF value longer than a bound has no bound above it.
            let boundless = kind == ColumnType::Bytea;
            assert!(
                unordered || boundless || values().next().is_none(),
                "no bounds for {kind}"
            );
            continue;
        };
        assert!(
            values().all(|v| order(min, v).is_le() && order(v, max).is_le()),
            "{kind} beyond {min}..={max}"
        );
        if known.exact_bounds {
            assert!(
                [min, max].iter().all(|bound| values().any(|v| v == *bound)),
                "{kind} has no {min} or {max}"
            );
        }
        let mut sorted: Vec<_> = values().collect();
        sorted.sort_by(|a, b| order(a, b));
        sorted.dedup_by(|a, b| order(a, b).is_eq());
        let (exact, estimate) = (sorted.len() as f64, known.distinct as f64);
        assert!(
            (exact - estimate).abs() <= if exact <= 60.0 { 0.0 } else { 0.2 * exact },
            "{kind}: {estimate} of {exact}"
        );
    }
}

fn check_everything(table: &Table, model: &Model, dice: &mut Dice, predicates: usize) {
    let all: Vec<usize> = (0..model.schema.columns.len()).collect();
    let scan = table
        .scan(&ScanRequest {
            projection: all.clone(),
            ..ScanRequest::default()
        })
        .unwrap();
    let every: Vec<u32> = model.positions(None);
    assert_rows(
        one_worker(&scan),
        &model.take(&every, &all),
        every.len(),
        &"all rows",
    );
    check_scan(table, model, dice, None);
    for _ in 0..predicates {
        let predicate = model.predicate(dice, 2);
        check_scan(table, model, dice, Some(predicate));
        check_tighten(table, model, dice);
    }
    check_statistics(table, model);
    check_sample(table, model, dice);
}

/// Every layout × every codec × every type × every pattern of NULLs.
#[test]
fn every_type_in_every_layout_and_codec() {
    for kind in KINDS {
        for nulls in Nulls::ALL {
            let spread = Spread::ALL[(nulls as usize + kind.to_string().len()) % 4];
            let recipes = [Recipe {
                kind,
                nullable: true,
                nulls,
                spread,
            }];
            let model = Model::new(schema(&recipes), rows(&recipes, 600, 5));
            for (form, codec) in every_form(8000)
                .into_iter()
                .flat_map(|form| CodecChoice::all().map(move |codec| (form.clone(), codec)))
            {
                let home = Home::new(false);
                let layout = form.layout;
                fill(&home, &model, &[TableOptions { codec, ..form }], 300);
                let table = home.table();
                assert!(table.blocks().iter().all(|block| block.layout() == layout));
                let seed = kind.to_string().len() as u64 + codec.to_string().len() as u64;
                check_everything(&table, &model, &mut Dice(seed), 1);
            }
        }
    }
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let (kinds, nulls, spreads) = (KINDS.to_vec(), Nulls::ALL.to_vec(), Spread::ALL.to_vec());
    (
        prop::sample::select(kinds),
        any::<bool>(),
        prop::sample::select(nulls),
        prop::sample::select(spreads),
    )
        .prop_map(|(kind, nullable, nulls, spread)| Recipe {
            kind,
            nullable,
            nulls,
            spread,
        })
}

fn row_counts() -> impl Strategy<Value = usize> {
    prop_oneof![2 => 1..40_usize, 4 => 1..3000_usize, 1 => 8193..20_000_usize]
}

fn layouts() -> impl Strategy<Value = Vec<TableOptions>> {
    let block_bytes = prop::sample::select(vec![500, 5000, 60_000, 1 << 24]);
    let page_bytes = prop::sample::select(vec![1024, 8192, 65_536]);
    let part = (
        prop::sample::select(every_form(0)),
        block_bytes,
        page_bytes,
        prop::sample::select(CodecChoice::all().collect::<Vec<_>>()),
    )
        .prop_map(|(form, block_bytes, page_bytes, codec)| TableOptions {
            block_bytes,
            page_bytes,
            codec,
            ..form
        });
    prop::collection::vec(part, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Blocks of several layouts in one table, in memory and on disk.
    #[test]
    fn mixed_tables(
        recipes in prop::collection::vec(recipe(), 1..6),
        count in row_counts(),
        mut parts in layouts(),
        seed in any::<u64>(),
        on_disk in prop::bool::weighted(0.3),
        cut in prop::sample::select(vec![97_usize, 5000, 1 << 20]),
    ) {
        if count > 3000 || on_disk {
            parts.iter_mut().for_each(|part| part.block_bytes = part.block_bytes.max(60_000));
        }
        let model = Model::new(schema(&recipes), rows(&recipes, count, seed));
        let home = Home::new(on_disk);
        fill(&home, &model, &parts, cut);
        let home = home.reopened();
        check_everything(&home.table(), &model, &mut Dice(seed), 3);
        home.store.verify(|report| report.outcome.unwrap());
    }

    /// Blocks sorted on a column: the same rows, and each block in order.
    #[test]
    fn sorted_tables(
        recipes in prop::collection::vec(recipe(), 1..4),
        count in 1..5000_usize,
        form in prop::sample::select(every_form(40_000)),
        seed in any::<u64>(),
    ) {
        let model = Model::new(schema(&recipes), rows(&recipes, count, seed));
        let home = Home::new(false);
        let sorted = TableOptions { sort_by: Some("c0".into()), ..form };
        fill(&home, &model, std::slice::from_ref(&sorted), 1000);
        let table = home.table();
        for block in table.blocks() {
            let column = block.read(1, 0..block.rows() as usize).unwrap();
            let kind = model.schema.columns[1].kind;
            let cells: Vec<_> = (0..column.len()).map(|row| crate::model::cell(kind, &column, row)).collect();
            let in_order = |pair: &[Option<freestone_storage::Value>]| match (&pair[0], &pair[1]) {
                (Some(a), Some(b)) => kind == ColumnType::Interval || order(a, b).is_le(),
                (None, Some(_)) => false,
                _ => true,
            };
            prop_assert!(cells.windows(2).all(in_order), "{kind} in block {}", block.id());
        }
        let mut dice = Dice(seed);
        for _ in 0..3 {
            let predicate = Some(model.predicate(&mut dice, 2));
            let projection = (0..model.schema.columns.len()).collect::<Vec<_>>();
            let positions = model.positions(predicate.as_ref());
            let scan = table.scan(&ScanRequest { projection: projection.clone(), predicate, limit: None, batch_rows: 0, ..ScanRequest::default() }).unwrap();
            let found = three_workers(&scan);
            let joined: Vec<ArrayRef> = collected(found, projection.len()).into_iter().flatten().collect();
            if let Some(ids) = joined.first() {
                let order = arrow_ord::sort::sort_to_indices(ids, None, None).unwrap();
                let restored: Vec<ArrayRef> = joined.iter().map(|array| arrow_select::take::take(array, &order, None).unwrap()).collect();
                prop_assert_eq!(restored, model.take(&positions, &projection));
            } else {
                prop_assert_eq!(positions.len(), 0);
            }
        }
        check_statistics(&table, &model);
        check_sample(&table, &model, &mut dice);
    }

    /// A table rewritten into another layout answers as before; so does an old snapshot.
    #[test]
    fn rewritten_tables(recipes in prop::collection::vec(recipe(), 1..4), count in 1..2000_usize, seed in any::<u64>()) {
        let model = Model::new(schema(&recipes), rows(&recipes, count, seed));
        let home = Home::new(false);
        let mut dice = Dice(seed);
        fill(&home, &model, &[dice.choose(&every_form(9000)).clone()], 1000);
        for wanted in every_form(20_000) {
            let before = home.table();
            let blocks = written(home.store.writer(&before.schema, &wanted).unwrap(), &model.batch, 500);
            home.store.commit(|edit| edit.rewrite(before.id, &before, u64::MAX, wanted, blocks)).unwrap();
            let stale = home.store.commit(|edit| edit.rewrite(before.id, &before, u64::MAX, before.options.clone(), Vec::new()));
            let refused = matches!(stale, Err(Error::Conflict { .. }));
            prop_assert!(refused);
            check_everything(&home.table(), &model, &mut dice, 1);
            check_everything(&before, &model, &mut dice, 1);
        }
    }
}
