//! Whatever is asked, the answer is that of blocks with the new values.

use super::*;
use crate::conformance::check_scan;
use crate::home::{Home, every_form, fill, ids, one_worker};
use crate::model::order;
use crate::tables::Dice;
use freestone_storage::{ColumnScanner, IndexKind, Key, Top};
use std::sync::atomic::Ordering::Relaxed;

/// What columns had, and what they get.
const CHANGES: [((Spread, Nulls), (Spread, Nulls)); 4] = [
    (
        (Spread::Ascending, Nulls::None),
        (Spread::Many, Nulls::Random),
    ),
    ((Spread::Many, Nulls::Random), (Spread::Few, Nulls::Runs)),
    (
        (Spread::Few, Nulls::All),
        (Spread::Ascending, Nulls::Random),
    ),
    (
        (Spread::Ascending, Nulls::Random),
        (Spread::Few, Nulls::All),
    ),
];

/// More rows than a zone has.
const MANY: usize = 9_500;

fn home_of(model: &Model, options: &TableOptions) -> Home {
    let home = Home::new(false);
    home.store.pause_mover();
    fill(&home, model, &[options.clone(), options.clone()], MANY);
    home
}

fn index(store: &Store, name: &str, kind: IndexKind, columns: &[usize]) {
    let seen = table_of(&store.snapshot());
    let index = store.build_index(&seen, name, kind, columns.to_vec(), 1, &|| true);
    let index = index.unwrap();
    let create =
        |edit: &mut freestone_storage::CatalogEdit| edit.create_index(DEFAULT_SCHEMA, &seen, index);
    store.commit(create).unwrap();
}

#[test]
fn every_form_answers_with_the_new_values() {
    for (number, (old, new)) in CHANGES.into_iter().enumerate() {
        let before = model(old.0, old.1, MANY, 3);
        let other = model(new.0, new.1, MANY, 4);
        for (form, options) in every_form(4 << 20).into_iter().enumerate() {
            // One column at a time, and all of them at once.
            let columns = match (form + number) % 4 {
                3 => ALL.to_vec(),
                one => vec![ALL[one]],
            };
            let home = home_of(&before, &options);
            assert_eq!(home.table().blocks().len(), 2);
            laid_over(&home.store, &columns, &other);
            let after = with(&before, &other, &columns);
            let (table, mut dice) = (home.table(), Dice(form as u64));
            check_scan(&table, &after, &mut dice, None);
            for round in 0..8 {
                // Conditions with values that there were, and that there are.
                let source = if round % 2 == 0 { &after } else { &before };
                let predicate = source.predicate(&mut dice, round / 3);
                check_scan(&table, &after, &mut dice, Some(predicate));
            }
            for column in &columns {
                let nulls = Predicate::IsNull(*column);
                check_scan(&table, &after, &mut dice, Some(nulls));
            }
            home.store.verify(|report| report.outcome.unwrap());
        }
    }
}

#[test]
fn both_column_scanners_agree_on_conjunctions() {
    let before = model(Spread::Ascending, Nulls::Random, MANY, 5);
    let other = model(Spread::Many, Nulls::Random, MANY, 6);
    for options in every_form(4 << 20) {
        let home = home_of(&before, &options);
        laid_over(&home.store, &[INTEGER, DECIMAL], &other);
        let after = with(&before, &other, &[INTEGER, DECIMAL]);
        let compare = |column, op, row: usize| Predicate::Compare {
            column,
            op,
            value: after.column(column).nth(row).flatten().cloned().unwrap(),
        };
        let present = |row: &usize| ALL.iter().all(|c| after.batch.column(*c).is_valid(*row));
        for row in (0..MANY).filter(present).step_by(1_500) {
            let terms = vec![
                compare(INTEGER, CompareOp::GtEq, row),
                compare(TEXT, CompareOp::LtEq, row),
                compare(DECIMAL, CompareOp::LtEq, row),
            ];
            let predicate = Predicate::And(terms);
            let expected = after.positions(Some(&predicate));
            assert!(expected.contains(&(row as u32)));
            for scanner in [ColumnScanner::Single, ColumnScanner::Pipelined] {
                let request = ScanRequest {
                    projection: vec![0, INTEGER, TEXT, DECIMAL],
                    predicate: Some(predicate.clone()),
                    scanner,
                    ..ScanRequest::default()
                };
                let found = one_worker(&home.table().scan(&request).unwrap());
                assert_eq!(ids(&found), expected, "{scanner:?} {predicate:?}");
                let all = &arrow_select::concat::concat_batches(&found[0].schema(), &found);
                let values = after.take(&expected, &request.projection);
                assert_eq!(all.as_ref().unwrap().columns(), values);
            }
        }
    }
}

/// A block is skipped by what it has now, not by what it had.
#[test]
fn zone_maps_are_those_of_the_new_values() {
    let before = model(Spread::Ascending, Nulls::None, ROWS, 1);
    let other = model(Spread::Constant, Nulls::None, ROWS, 1);
    for options in every_form(4 << 20) {
        for column in ALL {
            let home = home_of(&before, &options);
            laid_over(&home.store, &[column], &other);
            let value = |model: &Model| model.column(column).next().flatten().cloned().unwrap();
            let (old, new) = (value(&before), value(&other));
            assert_ne!(old, new);
            for (value, rows, pruned) in [(old, 0, 2), (new, ROWS, 0)] {
                let request = ScanRequest {
                    projection: vec![0],
                    predicate: Some(equal(column, value.clone())),
                    ..ScanRequest::default()
                };
                let scan = home.table().scan(&request).unwrap();
                assert_eq!(ids(&one_worker(&scan)).len(), rows, "{value}");
                assert_eq!(scan.metrics().blocks_pruned.load(Relaxed), pruned);
            }
        }
    }
}

/// The statistics are those of a table that was filled with the new values.
#[test]
fn statistics_are_those_of_the_new_values() {
    for ((old, old_nulls), (new, new_nulls)) in CHANGES {
        let before = model(old, old_nulls, 2 * MANY, 3);
        let other = model(new, new_nulls, 2 * MANY, 4);
        for (form, options) in every_form(4 << 20).into_iter().enumerate() {
            let columns = [ALL[form % 3], ALL[(form + 1) % 3]];
            let (home, after) = (home_of(&before, &options), with(&before, &other, &columns));
            let former_bytes = home.table().bytes();
            laid_over(&home.store, &columns, &other);
            let fresh = home_of(&after, &options);
            let (table, fresh) = (home.table(), fresh.table());
            assert_eq!(table.statistics().unwrap(), fresh.statistics().unwrap());
            assert!(table.bytes() > former_bytes);
            for (block, fresh) in table.blocks().iter().zip(fresh.blocks()) {
                assert_eq!(block.sketches().unwrap(), fresh.sketches().unwrap());
                assert!(block.bytes_of(&columns).unwrap() > 0);
                let facts = block.columns().unwrap().into_iter();
                for (column, (facts, fresh_facts)) in
                    facts.zip(fresh.columns().unwrap()).enumerate()
                {
                    let mut facts = facts;
                    // The layout is another, and so are codec and bytes.
                    (facts.codec, facts.bytes) = (fresh_facts.codec, fresh_facts.bytes);
                    assert_eq!(facts, fresh_facts);
                    assert_eq!(block.zone(column).unwrap(), fresh.zone(column).unwrap());
                    let zones = block.fine_zones(column).unwrap();
                    assert_eq!(zones, fresh.fine_zones(column).unwrap());
                }
            }
        }
    }
}

fn check_first(home: &Home, after: &Model) {
    for column in ALL {
        for (descending, nulls_first) in [(false, false), (true, false), (true, true)] {
            let top = Top {
                column,
                descending,
                nulls_first,
                rows: 7,
            };
            let request = ScanRequest {
                projection: vec![0],
                top: Some(top),
                ..ScanRequest::default()
            };
            let found = ids(&one_worker(&home.table().scan(&request).unwrap()));
            let value = |row: &u32| after.column(column).nth(*row as usize).flatten();
            let mut first: Vec<u32> = after.positions(None);
            first.sort_by(|a, b| match (value(a), value(b)) {
                (Some(a), Some(b)) if descending => order(b, a),
                (Some(a), Some(b)) => order(a, b),
                (a, b) if nulls_first => a.is_some().cmp(&b.is_some()),
                (a, b) => a.is_none().cmp(&b.is_none()),
            });
            assert!(first[..7].iter().all(|row| found.contains(row)), "{top:?}");
        }
    }
}

/// What was in the order of a column or indexed by it is so no more.
#[test]
fn orders_and_indexes_of_former_values_are_not_used() {
    for (form, options) in every_form(4 << 20).into_iter().enumerate() {
        for sorted in [false, true] {
            let mut before = model(Spread::Ascending, Nulls::None, 400, 1);
            before.schema.keys.push(Key {
                name: "k".into(),
                columns: vec![INTEGER, 0],
                primary: false,
                ..Key::default()
            });
            before.schema.index_keys();
            let before = Model::new(before.schema.clone(), before.batch.clone());
            let other = model(Spread::Many, Nulls::Random, 400, 2);
            let options = TableOptions {
                sort_by: sorted.then(|| "c0".into()),
                ..options.clone()
            };
            let home = home_of(&before, &options);
            for (number, kind) in IndexKind::ALL.into_iter().enumerate() {
                index(&home.store, &format!("i{number}"), kind, &[ALL[number % 3]]);
                index(
                    &home.store,
                    &format!("j{number}"),
                    kind,
                    &[ALL[number % 3], 0],
                );
            }
            let old = rows_of(&before);
            let mut now = before;
            for columns in [vec![INTEGER], vec![TEXT, DECIMAL]] {
                laid_over(&home.store, &columns, &other);
                now = with(&now, &other, &columns);
                let mut dice = Dice(form as u64);
                for _ in 0..12 {
                    let predicate = now.predicate(&mut dice, 1);
                    check_scan(&home.table(), &now, &mut dice, Some(predicate));
                }
                check_first(&home, &now);
                for column in ALL {
                    check_values(&home.store.snapshot(), &[&old, &rows_of(&now)], column);
                }
            }
        }
    }
}
