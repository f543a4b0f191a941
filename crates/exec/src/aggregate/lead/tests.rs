use super::*;
use crate::aggregate::{Aggregate, Function, GroupTable, Grouping, Parting};
use crate::expression::Expression;
use crate::vector::Batch;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int64Array, StringViewArray, UInt32Array};
use arrow_schema::DataType;
use proptest::prelude::*;

fn grouping(lead: usize) -> Grouping {
    let (int, text) = (DataType::Int64, DataType::Utf8View);
    Grouping {
        keys: vec![
            (Expression::Column(0), text.clone()),
            (Expression::Column(1), int.clone()),
            (Expression::Column(2), int.clone()),
            (Expression::Column(3), text),
        ],
        aggregates: vec![Aggregate {
            function: Function::Sum,
            argument: Some(Expression::Column(1)),
            filter: None,
            input: int.clone(),
            kind: int,
        }],
        lead: Lead(Arc::new(AtomicUsize::new(lead))),
    }
}

/// Numbers and oddities of rows, and whether their texts come as codes.
type Rows = (Vec<(u8, u8)>, bool);

/// Rows whose number leads to the rest of them, but for those that are odd.
fn batch(rows: &[(u8, u8)], coded: bool) -> Batch {
    let texts = |of: fn(u8) -> Option<String>| {
        let texts = rows
            .iter()
            .map(|(lead, odd)| of(lead.wrapping_add(odd / 250)));
        StringViewArray::from_iter(texts)
    };
    let first = texts(|lead| (lead % 7 > 0).then(|| format!("a longer text than a view {lead}")));
    let second = texts(|lead| Some(format!("{}", lead % 3)));
    let dictionary = |texts: StringViewArray| -> ArrayRef {
        let codes = UInt32Array::from_iter(
            (0..texts.len() as u32).map(|row| texts.is_valid(row as usize).then_some(row)),
        );
        match coded {
            true => Arc::new(DictionaryArray::try_new(codes, Arc::new(texts)).unwrap()),
            false => Arc::new(texts),
        }
    };
    let leads = rows.iter().map(|(lead, _)| i64::from(*lead));
    let others = rows
        .iter()
        .map(|(lead, odd)| (odd % 100 > 0 || lead % 5 > 0).then_some(i64::from(lead % 5)));
    let arrays: [ArrayRef; 4] = [
        dictionary(first),
        Arc::new(Int64Array::from_iter_values(leads)),
        Arc::new(Int64Array::from_iter(others)),
        dictionary(second),
    ];
    Batch {
        columns: arrays
            .iter()
            .map(|array| Vector::from_arrow(array).unwrap())
            .collect(),
        rows: rows.len(),
    }
}

fn shown(batch: &Batch) -> Vec<String> {
    let kinds = [0, 1, 1, 0, 1].map(|text| match text {
        0 => DataType::Utf8View,
        _ => DataType::Int64,
    });
    let columns = batch.columns.iter().zip(kinds);
    let arrays: Vec<ArrayRef> = columns
        .map(|(column, kind)| column.to_arrow(&kind).unwrap())
        .collect();
    let cell = |array: &ArrayRef, row: usize| format!("{:?}", array.slice(row, 1));
    let row = |row: usize| {
        arrays
            .iter()
            .map(|array| cell(array, row))
            .collect::<String>()
    };
    let mut rows: Vec<String> = (0..batch.rows).map(row).collect();
    rows.sort();
    rows
}

fn grouped(grouping: &Grouping, threads: &[Vec<Rows>], parts: usize) -> Vec<String> {
    let table = |batches: &Vec<Rows>| {
        let mut table = GroupTable::new(grouping).unwrap();
        for (rows, coded) in batches {
            table.add(batch(rows, *coded).into()).unwrap();
        }
        table
    };
    let mut tables = GroupTable::alike(threads.iter().map(table).collect()).unwrap();
    loop {
        let parting = Parting::of(&tables, parts);
        let merged = (0..parting.parts())
            .map(|part| GroupTable::merged(&tables, grouping, &parting, part).unwrap());
        match merged.collect::<Option<Vec<_>>>() {
            Some(merged) => {
                let mut rows: Vec<String> = merged
                    .into_iter()
                    .flat_map(|table| shown(&table.finish().unwrap()))
                    .collect();
                rows.sort();
                return rows;
            }
            None => tables = GroupTable::all_whole(tables).unwrap(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Whatever is guessed, groups are those of whole keys.
    #[test]
    fn a_lead_makes_no_difference(
        threads in proptest::collection::vec(
            proptest::collection::vec(
                (proptest::collection::vec((0u8..40, any::<u8>()), 1..60), any::<bool>()), 0..4),
            1..4),
        calm in any::<bool>(),
        parts in 1usize..3,
    ) {
        let mut threads = threads;
        if calm {
            threads.iter_mut().flatten().flat_map(|(rows, _)| rows).for_each(|(_, odd)| *odd = 1);
        }
        let led = grouping(1 + NONE + 1);
        let whole = grouped(&grouping(NONE), &threads, parts);
        prop_assert_eq!(grouped(&led, &threads, parts), whole);
        prop_assert!(!calm || led.lead.known() == Some(1));
    }
}

#[test]
fn the_column_with_most_values_leads() {
    let vector = |value: fn(i64) -> i64| {
        Vector::of(Values::Int((0..1000).map(value).collect::<Vec<_>>().into()))
    };
    let keys = [
        vector(|row| row % 3),
        vector(|row| row / 2),
        vector(|row| row / 3),
    ];
    let lead = Lead::default();
    assert_eq!(lead.guess(&[Kind::Int; 3], &keys, 100), None);
    assert_eq!(lead.guess(&[Kind::Int; 3], &keys, 1000), Some(1));
    lead.give_up();
    assert_eq!(lead.guess(&[Kind::Int; 3], &keys, 1000), None);
    let few = [vector(|row| row % 3), vector(|row| row % 5)];
    assert_eq!(Lead::default().guess(&[Kind::Int; 2], &few, 1000), None);
}
