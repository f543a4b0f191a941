//! The keys of a join lead to their rows through an index, where they are few.

use crate::home::{Home, fill, ids, one_worker, options};
use crate::indexes::create;
use crate::model::Model;
use crate::tables::{Nulls, Recipe, Spread, rows, schema};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef};
use freestone_storage::{
    ColumnType, CompareOp, IndexKind, Layout, Predicate, ScanRequest, Value, ValueTest,
};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

#[derive(Debug)]
struct Wanted(Vec<i64>);

impl ValueTest for Wanted {
    fn is_worthwhile(&self) -> bool {
        true
    }

    fn retain(&self, values: &ArrayRef, positions: &mut Vec<u32>) {
        let values = values.as_primitive::<Int32Type>();
        let mut place = 0;
        positions.retain(|_| {
            place += 1;
            let wanted = self.0.contains(&values.value(place - 1).into());
            values.is_valid(place - 1) && wanted
        });
    }

    fn wanted(&self) -> &[i64] {
        &self.0
    }
}

#[test]
fn few_values_are_looked_up() {
    let recipe = |kind, nullable, nulls, spread| Recipe {
        kind,
        nullable,
        nulls,
        spread,
    };
    let recipes = [
        recipe(ColumnType::Integer, true, Nulls::Random, Spread::Many),
        recipe(ColumnType::BigInt, false, Nulls::None, Spread::Few),
        recipe(ColumnType::BigInt, true, Nulls::Random, Spread::Few),
    ];
    let model = Model::new(schema(&recipes), rows(&recipes, 40_000, 5));
    let values = model.column(1).flatten().filter_map(|value| match value {
        Value::Int(value) => i64::try_from(*value).ok(),
        _ => None,
    });
    let some: Vec<i64> = values.step_by(9_000).take(4).collect();
    let none = Predicate::Compare {
        column: 2,
        op: CompareOp::GtEq,
        value: model.column(2).flatten().next().cloned().unwrap(),
    };
    // The last index leaves out rows whose third column is NULL.
    for (columns, used) in [(vec![1], true), (vec![1, 2], true), (vec![1, 3], false)] {
        for layout in [Layout::Row, Layout::Pax, Layout::Column] {
            let home = Home::new(false);
            fill(&home, &model, &[options(layout, 300_000)], 10_000);
            create(&home, "index", IndexKind::Csb, &columns);
            let table = home.table();
            for (wanted, predicate) in [
                (some.clone(), None),
                (some.clone(), Some(none.clone())),
                (Vec::new(), Some(none.clone())),
                ((0..4000).collect(), None),
            ] {
                let request = ScanRequest {
                    projection: vec![0],
                    predicate: predicate.clone(),
                    ..ScanRequest::default()
                };
                let scan = table.scan(&request).unwrap();
                let few = (1..100).contains(&wanted.len());
                if !wanted.is_empty() {
                    scan.filter_values(1, Arc::new(Wanted(wanted.clone())));
                }
                let found = ids(&one_worker(&scan));
                let passing = model.positions(predicate.as_ref());
                assert!(found.iter().all(|row| passing.binary_search(row).is_ok()));
                let among = Predicate::In {
                    column: 1,
                    values: wanted
                        .iter()
                        .map(|value| Value::Int((*value).into()))
                        .collect(),
                    negated: false,
                };
                let mut terms: Vec<Predicate> = predicate.into_iter().collect();
                if !wanted.is_empty() {
                    terms.push(among);
                }
                for row in model.positions(Some(&Predicate::And(terms))) {
                    assert!(found.contains(&row), "{layout} {columns:?}: row {row}");
                }
                let by_index = scan.metrics().blocks_by_index.load(Relaxed);
                let all = scan.metrics().blocks_read.load(Relaxed);
                match few && used && layout == Layout::Row {
                    true => assert_eq!(by_index, all, "{columns:?}"),
                    false => assert!(few && used || by_index == 0, "{layout} {columns:?}"),
                }
            }
        }
    }
}
