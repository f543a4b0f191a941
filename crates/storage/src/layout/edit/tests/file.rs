//! Records that move from page to page.

use super::*;
use crate::codec::encode;
use crate::format::Codec;
use crate::layout::build;
use crate::schema::{Layout, TableOptions};
use arrow_array::{ArrayRef, BinaryViewArray, Int32Array};
use std::sync::Arc;

const COLUMNS: [PageColumn; 3] = [
    PageColumn {
        width: Some(4),
        nullable: false,
    },
    PageColumn {
        width: None,
        nullable: true,
    },
    PageColumn {
        width: Some(16),
        nullable: true,
    },
];

fn check<E: TestedPage>(file: &PageFile<E>, model: &[Option<Record>], columns: &[PageColumn]) {
    assert_eq!(file.records(), model.len());
    for (number, record) in model.iter().enumerate() {
        for column in 0..columns.len() {
            match record {
                Some(record) => {
                    assert_eq!(
                        file.value(number, column).unwrap(),
                        record[column].as_deref()
                    );
                }
                None => assert!(file.value(number, column).is_err()),
            }
        }
    }
}

/// The records that readers find on the pages, in order of their values.
fn sorted<E: TestedPage>(
    file: &PageFile<E>,
    rows: usize,
    columns: &[PageColumn],
    page_bytes: usize,
) -> Vec<Record> {
    let (pages, directory) = file.packed().unwrap();
    let store = E::store(columns, rows, page_bytes, pages, directory).unwrap();
    let mut found = read(&*store, columns, rows);
    found.sort();
    found
}

fn random<E: TestedPage>(
    seed: u64,
    steps: u64,
    page_bytes: usize,
    compaction: Compaction,
) -> UpdateCounts {
    let mut file = PageFile::<E>::new(&COLUMNS, page_bytes, compaction).unwrap();
    let mut model: Vec<Option<Record>> = Vec::new();
    let mut updates = 0;
    for step in 0..steps {
        let kind = noise(seed ^ step);
        let number = noise(!kind) as usize % model.len().max(1);
        match (kind % 8, model.get_mut(number)) {
            (0..3, _) | (_, None) => {
                let record = record(&COLUMNS, kind, 50);
                assert_eq!(file.insert(&slices(&record)).unwrap(), model.len());
                model.push(Some(record));
            }
            (3..7, Some(Some(record))) => {
                let column = kind as usize / 8 % COLUMNS.len();
                record[column] = value(COLUMNS[column], noise(kind + 1), 50);
                file.update(number, column, record[column].as_deref())
                    .unwrap();
                updates += 1;
            }
            (7, Some(place @ Some(_))) => {
                file.delete(number).unwrap();
                *place = None;
            }
            (_, Some(_)) => file.compact(),
        }
    }
    check(&file, &model, &COLUMNS);
    let mut live: Vec<Record> = model.iter().flatten().cloned().collect();
    live.sort();
    assert_eq!(sorted(&file, live.len(), &COLUMNS, page_bytes), live);
    let counts = file.counts();
    let sum = counts.in_place + counts.rewritten + counts.reorganised + counts.moved;
    assert_eq!(sum, updates);
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn records_keep_their_values_where_they_go(
        seed in any::<u64>(),
        steps in 1_u64..300,
        page_bytes in prop::sample::select(vec![200, 512, 4096]),
        compaction in compaction(),
    ) {
        random::<PaxPageEditor>(seed, steps, page_bytes, compaction);
        random::<SlottedPageEditor>(seed, steps, page_bytes, compaction);
    }
}

#[test]
fn records_move_in_both_forms() {
    for compaction in [Compaction::Now, Compaction::Deferred] {
        let pax = random::<PaxPageEditor>(7, 3000, 512, compaction);
        let slotted = random::<SlottedPageEditor>(7, 3000, 512, compaction);
        for seen in [pax, slotted] {
            assert!(seen.moved > 5 && seen.reorganised > 5, "{seen:?}");
        }
        assert!(pax.rewritten == 0 && slotted.rewritten > 5, "{slotted:?}");
    }
}

/// The experiment: a share of the records of a loaded table gets other values.
fn share<E: TestedPage>(options: &TableOptions) -> UpdateCounts {
    let rows = 2000_usize;
    let columns = &COLUMNS[..2];
    let text =
        |row: usize, step: usize| (!row.is_multiple_of(7)).then(|| vec![b'a'; (row * step) % 23]);
    let numbers: Int32Array = (0..rows as i32).collect();
    let texts: BinaryViewArray = (0..rows).map(|row| text(row, 5)).collect();
    let arrays: [ArrayRef; 2] = [Arc::new(numbers), Arc::new(texts)];
    let schema = schema(columns);
    let forms: Vec<PageColumn> = schema.columns.iter().map(PageColumn::of).collect();
    assert_eq!(forms, columns);
    let plain = |(array, column): (&ArrayRef, &Column)| {
        let dense = Dense::from_arrow(array, column).unwrap();
        let encoded = encode(&dense, column.kind.physical(), Codec::Plain).unwrap();
        (dense, encoded)
    };
    let (dense, encoded): (Vec<_>, Vec<_>) = arrays.iter().zip(&schema.columns).map(plain).unzip();
    let sections = build(&schema, &dense, &encoded, options).unwrap();
    let (pages, directory) = (&sections[0].bytes, &sections[1].bytes);
    let bytes = options.page_bytes;
    let mut file =
        PageFile::<E>::open(&forms, rows, bytes, pages, directory, Compaction::Now).unwrap();
    assert_eq!(file.pages(), directory.len() / 8);
    for row in (0..rows).step_by(3) {
        let number = (row as i32 + 1_000_000).to_le_bytes();
        assert_eq!(
            file.update(row, 0, Some(&number)).unwrap(),
            PageUpdate::InPlace
        );
        file.update(row, 1, text(row, 11).as_deref()).unwrap();
    }
    let model: Vec<Option<Record>> = (0..rows)
        .map(|row| match row % 3 {
            0 => (row as i32 + 1_000_000, text(row, 11)),
            _ => (row as i32, text(row, 5)),
        })
        .map(|(number, text)| Some(vec![Some(number.to_le_bytes().to_vec()), text]))
        .collect();
    check(&file, &model, columns);
    let mut records: Vec<Record> = model.into_iter().flatten().collect();
    records.sort();
    assert_eq!(sorted(&file, rows, columns, bytes as usize), records);
    let cut = &pages[..pages.len() - bytes as usize];
    let cut = PageFile::<E>::open(&forms, rows, bytes, cut, directory, Compaction::Now);
    assert_eq!(cut.unwrap_err().sqlstate(), "XX001");
    file.counts()
}

#[test]
fn a_share_of_a_loaded_table_is_updated() {
    let options = |layout, fill_percent| TableOptions {
        layout,
        slotted: layout == Layout::Row,
        page_bytes: 1024,
        fill_percent,
        ..TableOptions::default()
    };
    let pax = share::<PaxPageEditor>(&options(Layout::Pax, 100));
    assert!(pax.in_place > 667 && pax.moved > 0, "{pax:?}");
    let full = share::<SlottedPageEditor>(&options(Layout::Row, 100));
    let loose = share::<SlottedPageEditor>(&options(Layout::Row, 70));
    assert!(full.moved > 0 && full.reorganised > 0, "{full:?}");
    assert!(
        loose.rewritten > 0 && loose.moved < full.moved,
        "{loose:?} {full:?}"
    );
}
