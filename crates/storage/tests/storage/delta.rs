//! Rows that are in no block and rows that are deleted, as of any moment.

use crate::home::{Home, every_form, fill, ids, one_worker, three_workers};
use crate::model::Model;
use crate::tables::{Dice, KINDS, Nulls, Recipe, Spread, rows, schema};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use freestone_storage::delta::{LATEST, OwnChanges, RowHome, TupleBatch, TupleShape};
use freestone_storage::{
    ArrayForm, Column, ColumnType, DEFAULT_SCHEMA, IndexKind, Predicate, ReadView, RowId, RowPlace,
    ScanRequest, Table, TableOptions, Top, Value,
};
use std::collections::HashMap;
use std::sync::Arc;

const ROWS: usize = 3_000;
const IN_BLOCKS: usize = 2_000;

/// When each row came and went.
struct Times {
    created: Vec<u64>,
    deleted: Vec<u64>,
}

impl Times {
    fn sees(&self, row: u32, timestamp: u64) -> bool {
        let row = row as usize;
        self.created[row] <= timestamp && timestamp < self.deleted[row]
    }
}

fn tuples(model: &Model, start: usize, len: usize) -> TupleBatch {
    let shape = TupleShape::of(&model.schema);
    TupleBatch::of(&model.schema, &shape, &model.batch.slice(start, len)).unwrap()
}

/// A table of blocks and delta, with rows deleted in both at 15, 25 and 35.
fn table(model: &Model, options: TableOptions, dice: &mut Dice) -> (Home, Arc<Table>, Times) {
    let home = Home::new(false);
    let first = Model::new(model.schema.clone(), model.batch.slice(0, IN_BLOCKS));
    fill(&home, &first, &[options], 700);
    let seen = home.table();
    let index = home
        .store
        .build_index(&seen, "i", IndexKind::Csb, vec![1], 1, &|| true)
        .unwrap();
    home.store
        .commit(|edit| edit.create_index(DEFAULT_SCHEMA, &seen, index))
        .unwrap();
    let table = home.table();
    let mut times = Times {
        created: vec![0; IN_BLOCKS],
        deleted: vec![u64::MAX; ROWS],
    };
    let share = (ROWS - IN_BLOCKS) / 4;
    for part in 0..4 {
        let timestamp = 10 * (part as u64 + 1);
        table.delta().append(
            tuples(model, IN_BLOCKS + part * share, share).iter(),
            timestamp,
        );
        times.created.extend(vec![timestamp; share]);
        let deleting = timestamp + 5;
        let mut gone: HashMap<RowHome, Vec<u32>> = HashMap::new();
        for (id, row) in all(&table, &ReadView::default()) {
            if dice.once_in(9) {
                times.deleted[row as usize] = deleting;
                let (home, row) = home_of(&table, id);
                gone.entry(home).or_default().push(row);
            }
        }
        for (home, rows) in gone {
            match home {
                RowHome::Block(id) => {
                    let mut blocks = table.blocks().iter();
                    let block = blocks.find(|block| block.id() == id).unwrap();
                    block.deletes().mark(rows, deleting, 0);
                }
                RowHome::Fragment(first) => {
                    let (fragment, _) = table.delta().find(first).unwrap();
                    fragment.deletes.mark(rows, deleting, 0);
                }
                RowHome::Own(_) => unreachable!(),
            }
        }
    }
    (home, table, times)
}

fn home_of(table: &Table, id: RowId) -> (RowHome, u32) {
    match id.place() {
        RowPlace::Block(block, row) => (RowHome::Block(block), row),
        RowPlace::Delta(number) => {
            let (fragment, row) = table.delta().find(number).unwrap();
            (RowHome::Fragment(fragment.first()), row)
        }
        RowPlace::Own(number) => (RowHome::Own(number), 0),
    }
}

/// Every row that a view sees: its id, and what its first column says it is.
fn all(table: &Table, view: &ReadView) -> Vec<(RowId, u32)> {
    let request = ScanRequest {
        projection: vec![0],
        view: view.clone(),
        row_ids: true,
        ..ScanRequest::default()
    };
    let batches = one_worker(&table.scan(&request).unwrap());
    let of_batch = |batch: &arrow_array::RecordBatch| {
        let rows = batch
            .column(0)
            .as_primitive::<Int64Type>()
            .values()
            .to_vec();
        let ids = batch
            .column(1)
            .as_primitive::<UInt64Type>()
            .values()
            .to_vec();
        ids.into_iter()
            .zip(rows)
            .map(|(id, row)| (RowId(id), row as u32))
            .collect::<Vec<_>>()
    };
    batches.iter().flat_map(of_batch).collect()
}

fn check(
    table: &Table,
    model: &Model,
    view: &ReadView,
    sees: impl Fn(u32) -> bool,
    dice: &mut Dice,
) {
    for number in 0..12 {
        let predicate = (number > 0).then(|| model.predicate(dice, 2));
        let mut expected = model.positions(predicate.as_ref());
        expected.retain(|row| sees(*row));
        let request = ScanRequest {
            projection: vec![0, dice.below(model.schema.columns.len())],
            predicate: predicate.clone(),
            batch_rows: *dice.choose(&[0, 7, 100]),
            view: view.clone(),
            row_ids: dice.once_in(2),
            ..ScanRequest::default()
        };
        assert_eq!(
            ids(&one_worker(&table.scan(&request).unwrap())),
            expected,
            "{request:?}"
        );
        assert_eq!(
            ids(&three_workers(&table.scan(&request).unwrap())),
            expected
        );
        let Some(predicate) = predicate else {
            continue;
        };
        let found = table.look_up(view, &predicate, &[0]).unwrap();
        let mut rows: Vec<u32> = found
            .iter()
            .map(|(_, row)| match &row[0] {
                Some(Value::Int(row)) => *row as u32,
                other => panic!("{other:?}"),
            })
            .collect();
        rows.sort_unstable();
        assert_eq!(rows, expected, "look-up of {predicate:?}");
    }
}

fn model() -> Model {
    let recipes: Vec<Recipe> = KINDS
        .iter()
        .enumerate()
        .map(|(number, kind)| Recipe {
            kind: *kind,
            nullable: true,
            nulls: if number % 2 == 0 {
                Nulls::None
            } else {
                Nulls::Random
            },
            spread: Spread::ALL[number % 4],
        })
        .collect();
    Model::new(schema(&recipes), rows(&recipes, ROWS, 11))
}

#[test]
fn every_moment_is_as_it_was() {
    let model = model();
    for (number, options) in every_form(60_000).into_iter().enumerate() {
        let mut dice = Dice(number as u64 + 1);
        let (_home, table, times) = table(&model, options, &mut dice);
        for timestamp in [0, 9, 10, 14, 15, 20, 26, 35, 40, 45, LATEST] {
            let view = ReadView::at(timestamp);
            check(
                &table,
                &model,
                &view,
                |row| times.sees(row, timestamp),
                &mut dice,
            );
        }
        first_rows(&table, &times);
    }
}

/// Deleted rows are none of the first.
fn first_rows(table: &Table, times: &Times) {
    let wanted = 20;
    let request = ScanRequest {
        projection: vec![0],
        view: ReadView::at(30),
        top: Some(Top {
            column: 0,
            descending: false,
            nulls_first: false,
            rows: wanted,
        }),
        ..ScanRequest::default()
    };
    let found = ids(&one_worker(&table.scan(&request).unwrap()));
    let expected: Vec<u32> = (0..ROWS as u32)
        .filter(|row| times.sees(*row, 30))
        .take(wanted)
        .collect();
    assert_eq!(found[..wanted], expected);
}

#[test]
fn a_transaction_sees_its_own_changes() {
    let model = model();
    for (number, options) in every_form(60_000).into_iter().enumerate() {
        let mut dice = Dice(number as u64 + 77);
        let (_home, table, times) = table(&model, options, &mut dice);
        // It deletes some rows and inserts them again.
        let mut own = OwnChanges::default();
        let fragment = freestone_storage::delta::Fragment::new(1, table.schema.clone());
        let mut again = Vec::new();
        for (id, row) in all(&table, &ReadView::at(22)) {
            if dice.once_in(3) {
                let (home, place) = home_of(&table, id);
                own.deleted.entry(home).or_default().insert(place);
                if dice.once_in(2) {
                    fragment.push(tuples(&model, row as usize, 1).iter().next().unwrap(), 0);
                    again.push(row);
                }
            } else {
                again.push(row);
            }
        }
        own.fragments.push(Arc::new(fragment));
        let view = ReadView {
            timestamp: 22,
            own: Some(Arc::new(own)),
            own_before: u64::MAX,
        };
        again.sort_unstable();
        check(
            &table,
            &model,
            &view,
            |row| again.binary_search(&row).is_ok(),
            &mut dice,
        );
        let others = |row| times.sees(row, 22);
        check(&table, &model, &ReadView::at(22), others, &mut dice);
    }
}

/// A key of the delta is found by its hash, without looking at other rows.
#[test]
fn keys_of_the_delta() {
    let column = |name: &str, kind| Column {
        name: name.into(),
        kind,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    let mut columns = schema(&[]);
    columns.columns = vec![
        column("k", ColumnType::Integer),
        column("v", ColumnType::Text),
    ];
    columns.keys = vec![freestone_storage::Key {
        name: "k".into(),
        columns: vec![0],
        primary: true,
        ..freestone_storage::Key::default()
    }];
    let delta = freestone_storage::Delta::new(Arc::new(columns), 5);
    let shape = TupleShape::of(delta.schema());
    let tuple = |key: Option<i32>, text: &str| {
        let mut bytes = Vec::new();
        let values = [
            key.map(|key| key.to_le_bytes().into()),
            Some(freestone_storage::delta::Stored::Bytes(text.as_bytes())),
        ];
        shape.encode_stored(&values, &mut bytes).unwrap();
        shape.check(&bytes).unwrap();
        bytes
    };
    let rows: Vec<Vec<u8>> = (0..20_000).map(|key| tuple(Some(key / 2), "x")).collect();
    assert_eq!(delta.append(rows.iter().map(Vec::as_slice), 1), 5);
    delta.append([tuple(None, "none").as_slice()].into_iter(), 2);
    let map = delta.map(&[0]).unwrap();
    let newest = |map: &freestone_storage::delta::KeyMap, key: i32| {
        let mut numbers = Vec::new();
        map.visit_newest(&[key.to_le_bytes().into()], |number| {
            numbers.push(number);
            false
        });
        numbers
    };
    let candidates = |key: i32| newest(map, key);
    assert_eq!(candidates(7), [20, 19]);
    assert!(candidates(10_000).is_empty());
    delta.truncate(20);
    assert_eq!(candidates(7), [19]);
    assert!(candidates(8).is_empty());
    assert_eq!((delta.rows(), delta.next(), delta.first()), (15, 20, 5));
    delta.append([tuple(Some(8), "y").as_slice()].into_iter(), 3);
    assert_eq!(candidates(8), [20]);
    let sealed = delta.seal();
    delta.append([tuple(Some(8), "z").as_slice()].into_iter(), 4);
    assert_eq!(
        sealed.iter().map(|fragment| fragment.len()).sum::<usize>(),
        16
    );
    let rest = delta.from(delta.schema().clone(), 21);
    assert_eq!((rest.first(), rest.rows()), (21, 1));
    assert_eq!(newest(rest.map(&[0]).unwrap(), 8), [21]);
}

/// What a delta is cut to may begin within a fragment, as when a log is read again.
#[test]
fn a_delta_goes_on_from_any_row() {
    let model = model();
    let schema = Arc::new(model.schema.clone());
    for first in 2..=31 {
        let delta = freestone_storage::Delta::new(schema.clone(), 1);
        delta.append(tuples(&model, 0, 20).iter(), 3);
        delta.append(tuples(&model, 20, 10).iter(), 5);
        let (fragment, _) = delta.find(1).unwrap();
        fragment.deletes.mark(vec![4, 25], 7, 0);
        let rest = delta.from(schema.clone(), first);
        assert_eq!(rest.rows(), 31 - first);
        let numbers = |timestamp| -> Vec<u64> {
            let fragments = rest.fragments().into_iter();
            let visible = fragments.flat_map(|fragment| {
                let rows = fragment.visible(timestamp, None).into_iter();
                rows.map(move |row| fragment.first() + u64::from(row))
                    .collect::<Vec<u64>>()
            });
            visible.collect()
        };
        let expected = |last: u64| -> Vec<u64> {
            (first..=last)
                .filter(|row| ![5, 26].contains(row))
                .collect()
        };
        assert_eq!(
            (numbers(4), numbers(9)),
            (expected(20), expected(30)),
            "from {first}"
        );
    }
}

#[test]
fn damaged_tuples_are_refused() {
    let model = model();
    let shape = TupleShape::of(&model.schema);
    let batch = tuples(&model, 0, 40);
    for tuple in batch.iter() {
        shape.check(tuple).unwrap();
        for len in 0..tuple.len() {
            assert!(shape.check(&tuple[..len]).is_err());
        }
        for place in 0..tuple.len() {
            let mut bytes = tuple.to_vec();
            bytes[place] ^= 0xff;
            // What passes the check can be read.
            if shape.check(&bytes).is_ok() {
                for column in 0..shape.columns() {
                    let _ = shape.column([bytes.as_slice()].into_iter(), column, ArrayForm::Sql);
                    let _ = shape.value(&bytes, column);
                }
            }
        }
    }
    let _ = Predicate::IsNull(0);
}
