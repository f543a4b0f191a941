//! index = scan: whichever way the rows are come by, they are the same.

use crate::conformance::check_scan;
use crate::home::{Home, fill, options};
use crate::model::Model;
use crate::tables::{Dice, KINDS, Nulls, Recipe, Spread, rows, schema};
use freestone_storage::{
    CodecChoice, ColumnType, CompareOp, DEFAULT_SCHEMA, IndexKind, Key, Layout, Predicate,
    ScanRequest, Table, TableOptions, Top, Value,
};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

pub fn create(home: &Home, name: &str, kind: IndexKind, columns: &[usize]) {
    let seen = home.table();
    let index = home
        .store
        .build_index(&seen, name, kind, columns.to_vec(), 2, &|| true)
        .unwrap();
    home.store
        .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
        .unwrap();
}

/// Conditions that an index may answer: equality, ranges and lists of values that occur.
fn sought(model: &Model, columns: &[usize], dice: &mut Dice) -> Predicate {
    let row = dice.below(model.batch.num_rows());
    let mut terms = Vec::new();
    for column in columns {
        let value = |row: usize| model.column(*column).nth(row).flatten().cloned();
        let Some(known) = value(row).filter(|value| !value.is_nan()) else {
            terms.push(Predicate::IsNull(*column));
            continue;
        };
        terms.push(match dice.below(5) {
            0 => {
                let others = (0..3).filter_map(|_| value(dice.below(model.batch.num_rows())));
                let values = others
                    .chain([known])
                    .filter(|value| !value.is_nan())
                    .collect();
                Predicate::In {
                    column: *column,
                    values,
                    negated: false,
                }
            }
            1 => Predicate::Compare {
                column: *column,
                op: CompareOp::GtEq,
                value: known,
            },
            2 => Predicate::Compare {
                column: *column,
                op: CompareOp::Lt,
                value: known,
            },
            _ => Predicate::Compare {
                column: *column,
                op: CompareOp::Eq,
                value: known,
            },
        });
        if dice.once_in(3) {
            break;
        }
    }
    if dice.once_in(4) {
        terms.push(model.predicate(dice, 1));
    }
    Predicate::And(terms)
}

fn check(table: &Table, model: &Model, columns: &[usize], dice: &mut Dice, times: usize) {
    for _ in 0..times {
        let predicate = sought(model, columns, dice);
        check_scan(table, model, dice, Some(predicate));
    }
}

/// Every type × every layout × every kind of index, before and after more rows come.
#[test]
fn every_type_under_every_index() {
    for kind in KINDS
        .into_iter()
        .filter(|kind| *kind != ColumnType::Interval)
    {
        for nulls in [Nulls::None, Nulls::Random, Nulls::All] {
            let spread = Spread::ALL[(nulls as usize + kind.to_string().len()) % 4];
            let recipes = [Recipe {
                kind,
                nullable: true,
                nulls,
                spread,
            }];
            let model = Model::new(schema(&recipes), rows(&recipes, 900, 11));
            for (number, layout) in Layout::ALL.into_iter().enumerate() {
                let codec = CodecChoice::all()
                    .nth((number * 5 + kind.to_string().len()) % 13)
                    .unwrap();
                let home = Home::new(false);
                fill(
                    &home,
                    &model,
                    &[TableOptions {
                        codec,
                        ..options(layout, 9000)
                    }],
                    450,
                );
                for index in IndexKind::ALL {
                    create(&home, &format!("i_{index}"), index, &[1]);
                }
                let home = home.reopened();
                check(&home.table(), &model, &[1], &mut Dice(number as u64 + 3), 6);
                home.store.verify(|report| report.outcome.unwrap());
            }
        }
    }
}

/// Keys of several columns, in tables that are also sorted, and after the index is gone.
#[test]
fn several_columns_and_sorted_blocks() {
    let recipe = |kind, nulls, spread| Recipe {
        kind,
        nullable: true,
        nulls,
        spread,
    };
    let recipes = [
        recipe(ColumnType::Integer, Nulls::None, Spread::Few),
        recipe(ColumnType::Text, Nulls::Random, Spread::Few),
        recipe(ColumnType::Date, Nulls::None, Spread::Many),
        recipe(ColumnType::Double, Nulls::Random, Spread::Many),
    ];
    let model = Model::new(schema(&recipes), rows(&recipes, 9000, 5));
    for layout in Layout::ALL {
        let home = Home::new(false);
        let sorted = TableOptions {
            sort_by: Some("c2".into()),
            ..options(layout, 200_000)
        };
        fill(&home, &model, &[sorted, options(layout, 150_000)], 2500);
        for (name, columns) in [
            ("a", vec![1, 2]),
            ("b", vec![2, 3, 1]),
            ("c", vec![4]),
            // No NULL is in the way of using these for their first column alone.
            ("f", vec![1, 3]),
            ("g", vec![3, 1]),
        ] {
            create(&home, name, IndexKind::Csb, &columns);
        }
        create(&home, "d", IndexKind::Inverted, &[1, 3]);
        create(&home, "e", IndexKind::Bloom, &[2, 3]);
        let mut dice = Dice(layout as u64);
        for columns in [
            &[1, 2][..],
            &[2, 3, 1],
            &[3],
            &[3, 1],
            &[4],
            &[2],
            &[4, 3, 2],
        ] {
            check_unordered(&home.table(), &model, columns, &mut dice);
        }
        for name in ["a", "b", "c", "d", "e", "f", "g"] {
            home.store
                .commit(|edit| edit.drop_index(DEFAULT_SCHEMA, name))
                .unwrap();
        }
        check_unordered(&home.table(), &model, &[1, 2], &mut dice);
    }
}

/// As [`check`], for tables whose blocks are in another order than the model.
fn check_unordered(table: &Arc<Table>, model: &Model, columns: &[usize], dice: &mut Dice) {
    for _ in 0..12 {
        let predicate = sought(model, columns, dice);
        let request = ScanRequest {
            projection: vec![0],
            predicate: Some(predicate.clone()),
            ..ScanRequest::default()
        };
        let scan = table.scan(&request).unwrap();
        let found = crate::home::ids(&crate::home::one_worker(&scan));
        assert_eq!(found, model.positions(Some(&predicate)), "{predicate:?}");
    }
}

/// Few rows are fetched by index, many are scanned, and Bloom filters skip blocks.
#[test]
fn the_way_is_chosen_by_cost() {
    let recipes = [
        Recipe {
            kind: ColumnType::Integer,
            nullable: false,
            nulls: Nulls::None,
            spread: Spread::Many,
        },
        Recipe {
            kind: ColumnType::BigInt,
            // There might be NULLs, and are none.
            nullable: true,
            nulls: Nulls::None,
            spread: Spread::Few,
        },
    ];
    let model = Model::new(schema(&recipes), rows(&recipes, 40_000, 5));
    for layout in Layout::ALL {
        let home = Home::new(false);
        fill(&home, &model, &[options(layout, 300_000)], 10_000);
        create(&home, "many", IndexKind::Csb, &[1, 2]);
        create(&home, "few", IndexKind::Csb, &[2]);
        let table = home.table();
        let run = |predicate: Predicate| {
            let scan = table
                .scan(&ScanRequest {
                    projection: vec![0],
                    predicate: Some(predicate),
                    ..ScanRequest::default()
                })
                .unwrap();
            crate::home::one_worker(&scan);
            let metrics = scan.metrics();
            (
                metrics.blocks_by_index.load(Relaxed),
                metrics.blocks_read.load(Relaxed),
            )
        };
        let value = |column: usize| model.column(column).nth(777).flatten().cloned().unwrap();
        let equal = |column| Predicate::Compare {
            column,
            op: CompareOp::Eq,
            value: value(column),
        };
        let (by_index, read) = run(equal(1));
        assert_eq!(by_index, read, "{layout}: all blocks by index");
        let (by_index, _) = run(Predicate::Compare {
            column: 1,
            op: CompareOp::GtEq,
            value: Value::Int(i128::from(i32::MIN)),
        });
        assert_eq!(
            by_index, 0,
            "{layout}: no block by index when all rows are wanted"
        );
        create(&home, "filter", IndexKind::Bloom, &[1]);
        let table = home.table();
        let scan = table
            .scan(&ScanRequest {
                projection: vec![0],
                predicate: Some(equal(1)),
                ..ScanRequest::default()
            })
            .unwrap();
        crate::home::one_worker(&scan);
        assert!(
            scan.metrics().blocks_pruned_by_bloom.load(Relaxed) > 0,
            "{layout}: a Bloom filter skips blocks"
        );
    }
}

/// ORDER BY … LIMIT needs of each block only the rows that come first.
#[test]
fn the_first_rows_are_among_those_given() {
    let recipe = |kind, nulls, spread| Recipe {
        kind,
        nullable: true,
        nulls,
        spread,
    };
    let recipes = [
        recipe(ColumnType::Integer, Nulls::None, Spread::Few),
        recipe(ColumnType::Text, Nulls::Random, Spread::Many),
        recipe(ColumnType::Double, Nulls::None, Spread::Many),
    ];
    let model = Model::new(schema(&recipes), rows(&recipes, 3000, 9));
    for layout in Layout::ALL {
        let home = Home::new(false);
        let sorted = TableOptions {
            sort_by: Some("c0".into()),
            ..options(layout, 90_000)
        };
        fill(&home, &model, &[sorted], 1500);
        create(&home, "b", IndexKind::Csb, &[2]);
        create(&home, "c", IndexKind::Csb, &[3]);
        for (column, descending, nulls_first, rows) in (1..4).flat_map(|column| {
            [(false, false), (true, false), (true, true)]
                .map(|(descending, first)| (column, descending, first, 7))
        }) {
            let top = Top {
                column,
                descending,
                nulls_first,
                rows,
            };
            let request = ScanRequest {
                projection: vec![0],
                top: Some(top),
                ..ScanRequest::default()
            };
            let scan = home.table().scan(&request).unwrap();
            let found = crate::home::ids(&crate::home::one_worker(&scan));
            let mut order: Vec<u32> = model.positions(None);
            let value = |row: &u32| model.column(column).nth(*row as usize).flatten().cloned();
            order.sort_by(|a, b| match (value(a), value(b)) {
                (Some(a), Some(b)) if descending => crate::model::order(&b, &a),
                (Some(a), Some(b)) => crate::model::order(&a, &b),
                (a, b) if nulls_first => a.is_some().cmp(&b.is_some()),
                (a, b) => a.is_none().cmp(&b.is_none()),
            });
            assert!(
                order[..rows].iter().all(|row| found.contains(row)),
                "{layout} {top:?}"
            );
            assert!(
                nulls_first || found.len() < 3000,
                "{layout} {top:?} gave {} rows",
                found.len()
            );
        }
    }
}

#[test]
fn keys_are_found_in_blocks_in_and_out_of_their_order() {
    let spread = |kind, spread| Recipe {
        kind,
        nullable: false,
        nulls: Nulls::None,
        spread,
    };
    // Runs of three, runs of a whole block, no order at all.
    let recipes = [
        spread(ColumnType::Integer, Spread::Ascending),
        spread(ColumnType::Text, Spread::Constant),
        spread(ColumnType::Text, Spread::Many),
        spread(ColumnType::Double, Spread::Ascending),
    ];
    for (columns, in_order) in [
        (vec![0], true),
        (vec![1, 0], true),
        (vec![2, 0], false),
        (vec![3], false),
        (vec![3, 1], false),
        (vec![4, 0], true),
    ] {
        let mut model = Model::new(schema(&recipes), rows(&recipes, 1200, 5));
        model.schema.keys.push(Key {
            name: "k".into(),
            columns: columns.clone(),
            primary: false,
            ..Key::default()
        });
        model.schema.index_keys();
        for layout in Layout::ALL {
            let home = Home::new(false);
            fill(&home, &model, &[options(layout, 60_000)], 400);
            let table = home.table();
            assert!(table.blocks().len() > 1);
            for block in table.blocks() {
                let index = block.index(&table.schema.indexes[0]).unwrap();
                assert_eq!(index.is_none(), in_order, "{layout} {columns:?}");
            }
            let mut dice = Dice(3);
            check(&table, &model, &columns, &mut dice, 15);
        }
    }
}

#[test]
fn the_index_of_a_key_stays_while_the_key_does() {
    let home = Home::new(false);
    let recipe = Recipe {
        kind: ColumnType::Text,
        nullable: true,
        nulls: Nulls::Random,
        spread: Spread::Many,
    };
    let mut model = Model::new(schema(&[recipe]), rows(&[recipe], 10, 5));
    model.schema.keys.push(Key {
        name: "k".into(),
        columns: vec![1],
        primary: false,
        ..Key::default()
    });
    fill(&home, &model, &[options(Layout::Row, 60_000)], 400);
    let drop = |edit: &mut freestone_storage::CatalogEdit| edit.drop_index(DEFAULT_SCHEMA, "k");
    let refused = home.store.commit(drop).unwrap_err();
    assert_eq!(refused.sqlstate(), "2BP01", "{refused}");
    let id = home.table().id;
    home.store
        .commit(|edit| edit.drop_column(id, "c0"))
        .unwrap();
    assert!(home.table().schema.indexes.is_empty());
}
