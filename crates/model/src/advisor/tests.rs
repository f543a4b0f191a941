//! Workloads whose best design is plain.

use super::*;
use crate::calibration::Calibration;
use crate::correction::Correction;
use crate::costs::{ColdCosts, ColumnCosts, Costs, LayoutCosts};
use crate::curve::Curve;
use crate::machine::Machine;
use crate::selection::Used;
use std::collections::BTreeMap;
use std::convert::Infallible;

const COLUMNS: usize = 20;
const ROWS: f64 = 1e6;

/// Of rows a test or a value costs more the wider they are; of columns a value costs the
/// same in any table.
fn calibration() -> Calibration {
    let layout = |name: &str, test: Curve, read: Curve| LayoutCosts {
        layout: name.to_owned(),
        block: 1000.0,
        rows: Curve::flat(0.5),
        cold: ColdCosts::default(),
        lines: Curve::default(),
        crowd: Curve::default(),
        scan: 0.0,
        test: 0.0,
        part: 0.0,
        hot_correction: Correction::default(),
        cold_correction: Correction::default(),
        columns: vec![ColumnCosts {
            kind: "i64 plain".to_owned(),
            bytes: 8.0,
            test,
            read,
            cold: 0.0,
        }],
    };
    let rows = Curve::through([(8.0, 2.0), (200.0, 20.0)]);
    let read = Curve::through([(0.0001, 0.01), (1.0, 4.0)]);
    let columns = Curve::through([(0.0001, 0.01), (1.0, 1.0)]);
    Calibration {
        machine: Machine::of_the_paper(),
        costs: Costs {
            layouts: vec![
                layout("row", rows, read),
                layout("column", Curve::flat(1.0), columns.clone()),
                layout("column pipelined", Curve::flat(0.0), columns),
            ],
            ..Costs::default()
        },
        stated: None,
        operators: BTreeMap::new(),
    }
}

fn design(layout: &str) -> Design {
    Design {
        layout: layout.to_owned(),
        sort_by: None,
        partition_by: None,
        codec: "auto".to_owned(),
        indexes: Vec::new(),
        block_bytes: BLOCK_BYTES,
    }
}

/// Columns take half when they are coded; a row costs as much to fetch from columns as
/// it has.
fn stored(design: &Design) -> Stored {
    let stored = if design.codec == "auto" { 4.0 } else { 8.0 };
    let column = |number| {
        let used = Used {
            kind: "i64 plain".to_owned(),
            bytes: 8.0,
            stored,
        };
        (format!("c{number}"), used)
    };
    let by_column = design.layout == "column";
    let indexes = design.indexes.len() as f64;
    Stored {
        design: design.clone(),
        rows: ROWS,
        blocks: 10.0,
        columns: (0..COLUMNS).map(column).collect(),
        row_bytes: COLUMNS as f64 * stored + 8.0 * indexes,
        write_seconds: if by_column { 2e-6 } else { 1e-6 } + 5e-7 * indexes,
        fetch_seconds: if by_column { 4e-6 } else { 1e-6 },
        in_order: design.sort_by.is_none(),
        tried: None,
        mixture: Vec::new(),
    }
}

fn usage(read: usize, test: Test) -> Usage {
    Usage {
        read: (0..read).map(|number| format!("c{number}")).collect(),
        tested: vec![Tested {
            column: "c7".to_owned(),
            test,
        }],
        ..Usage::default()
    }
}

fn run(share: f64) -> Run {
    Run {
        seconds: 0.01,
        selected: share,
        scanned: 1.0,
        shares: vec![share],
    }
}

fn best(workload: &Workload, present: &str) -> Candidate {
    let mut trial = |design: &Design| Ok::<Stored, Infallible>(stored(design));
    let Ok(all) = search(
        &calibration(),
        workload,
        &stored(&design(present)),
        &mut trial,
    );
    assert!(all.iter().any(|one| one.stored.design == design(present)));
    all[0].clone()
}

#[test]
fn few_columns_of_many_are_columns() {
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(usage(2, Test::Other), &run(0.5)));
    let found = best(&workload, "row");
    assert_eq!(found.stored.design.layout, "column");
    assert_eq!(found.stored.design.sort_by, None);
    let (row, column) = (stored(&design("row")), found.stored);
    let gains = gains(&calibration(), &workload, (&row, &column));
    assert!(gains[0].saved() > 0.0 && gains.len() == 1);
}

/// What a run did besides its scan stays, and no plan is in what was recorded.
#[test]
fn a_whole_run_is_the_recorded_one_and_its_plan() {
    let (row, column) = (stored(&design("row")), stored(&design("column")));
    let mut workload = Workload::default();
    let run = Run {
        seconds: 1.0,
        ..run(0.5)
    };
    workload.query(usage(2, Test::Other), &run);
    let [gain] = &gains(&calibration(), &workload, (&row, &column))[..] else {
        panic!("one query, one gain")
    };
    let (before, after) = gain.whole(1.0);
    assert!((before - (1.0 + gain.before.planning())).abs() < 1e-9);
    assert!((before - after - gain.saved()).abs() < 1e-9);
}

#[test]
fn look_ups_and_changes_are_rows() {
    let mut workload = Workload::default();
    workload.change(Change::LookUp, 900.0);
    workload.change(Change::Update, 900.0);
    assert_eq!(best(&workload, "column").stored.design.layout, "row");
}

/// Designs of three blocks, the first of which has `heat`, and of new rows.
fn by_block(looked_up: f64, heat: f64, present: Option<usize>) -> (Vec<usize>, usize) {
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(usage(2, Test::Other), &run(0.5)));
    workload.change(Change::LookUp, looked_up);
    let designs = [stored(&design("row")), stored(&design("column"))];
    let block = |heat| BlockUse {
        rows: ROWS / 3.0,
        heat,
        design: present,
    };
    let blocks = [block(heat), block(0.0), block(0.0)];
    block_designs(&calibration(), &workload, &designs, &blocks).unwrap()
}

#[test]
fn a_hot_block_is_rows_among_columns_and_goes_back_to_columns() {
    let (row, column) = (0, 1);
    let saved = |looked_up: f64| looked_up * 3e-6;
    let reading = |layout: &str| {
        let mut workload = Workload::default();
        (0..50).for_each(|_| workload.query(usage(2, Test::Other), &run(0.5)));
        total(&calibration(), &stored(&design(layout)), &workload).reading
    };
    // Rows cost a third of this more for one block's share of the scans.
    let scans = (reading("row") - reading("column")) / 3.0;
    let many = 3.0 * scans / 3e-6;
    assert!(saved(many) > 2.0 * scans);
    assert_eq!(by_block(many, 9.0, Some(column)).0, [row, column, column]);
    assert_eq!(
        by_block(many, 0.0, Some(column)).0,
        [column; 3],
        "of all alike"
    );
    assert_eq!(by_block(0.0, 9.0, Some(row)), (vec![column; 3], column));
    // What saves little is not worth writing a block.
    let few = 1.05 * scans / 3e-6;
    assert_eq!(by_block(few, 9.0, Some(column)).0, [column; 3]);
    assert_eq!(by_block(20.0 * many, 9.0, None).1, row, "new rows");
    // Of a block that nobody asks for anything no layout is better than the one it has.
    let mut workload = Workload::default();
    workload.change(Change::LookUp, 1000.0);
    let designs = [stored(&design("row")), stored(&design("column"))];
    let block = |heat| BlockUse {
        rows: ROWS / 2.0,
        heat,
        design: Some(column),
    };
    let found = block_designs(
        &calibration(),
        &workload,
        &designs,
        &[block(5.0), block(0.0)],
    );
    assert_eq!(found.unwrap().0, [row, column]);
}

/// A table of which one block is looked up and all are scanned is a mixture, which costs
/// less than either layout; one that is scanned alone is none.
#[test]
fn what_is_hot_in_one_place_is_a_mixture() {
    let designs = [stored(&design("row")), stored(&design("column"))];
    let block = |heat| BlockUse {
        rows: ROWS / 3.0,
        heat,
        design: Some(1),
    };
    let blocks = [block(9.0), block(0.0), block(0.0)];
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(usage(2, Test::Other), &run(0.5)));
    assert_eq!(mixture(&calibration(), &workload, &designs, &blocks), None);
    let reading = |one: &Stored| total(&calibration(), one, &workload).reading;
    let scans = (reading(&designs[0]) - reading(&designs[1])) / 3.0;
    workload.change(Change::LookUp, 2.0 * scans / 3e-6);
    let mixed = mixture(&calibration(), &workload, &designs, &blocks).unwrap();
    assert_eq!(mixed.design.layout, AUTO);
    assert_eq!(mixed.mixture.len(), 2);
    let seconds = |one: &Stored| total(&calibration(), one, &workload).seconds();
    assert!(seconds(&mixed) < seconds(&designs[0]).min(seconds(&designs[1])));
}

/// Each block has an index of its own: look-ups by value descend fewer of larger blocks.
#[test]
fn blocks_grow_for_many_indexes_and_no_further_than_they_may() {
    let mut workload = Workload::default();
    // One of the columns the table may be sorted on.
    for column in ["c8", "c9"] {
        let mut single = usage(2, Test::Equal);
        single.tested[0].column = column.to_owned();
        (0..50).for_each(|_| workload.query(single.clone(), &run(1e-8)));
    }
    let large = |design: &Design| Stored {
        rows: 1e8,
        blocks: 1000.0,
        ..stored(design)
    };
    let present = large(&design("row"));
    let mut trial = |design: &Design| Ok::<Stored, Infallible>(large(design));
    let Ok(all) = search(&calibration(), &workload, &present, &mut trial);
    let best = &all[0].stored;
    assert_eq!(best.design.block_bytes, 64 << 20, "{}", best.design);
    assert_eq!(best.blocks, 250.0);
    // A block of 256 MiB would have more than 2^20 rows.
    assert_eq!(best.resized(256 << 20), None);
    assert_eq!(stored(&design("row")).resized(64 << 20), None, "too few");
    let smaller = best.resized(16 << 20).unwrap();
    assert_eq!(smaller.blocks, 1000.0);
    assert!(best.design.to_string().contains("blocks of 65536 KiB"));
}

#[test]
fn ranges_are_sorted() {
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(usage(3, Test::Range), &run(0.01)));
    let found = best(&workload, "column").stored.design;
    assert_eq!(found.sort_by.as_deref(), Some("c7"));
    assert_eq!(found.layout, "column");
}

/// Rows by a value are found by an index where the order is taken by a range.
#[test]
fn single_values_are_indexed() {
    let mut workload = Workload::default();
    let mut single = usage(2, Test::Equal);
    single.tested[0].column = "c9".to_owned();
    (0..50).for_each(|_| workload.query(usage(10, Test::Range), &run(0.001)));
    (0..50).for_each(|_| workload.query(single.clone(), &run(1e-6)));
    let found = best(&workload, "column").stored.design;
    assert_eq!(found.sort_by.as_deref(), Some("c7"));
    let index = Index {
        kind: "csb".to_owned(),
        column: "c9".to_owned(),
    };
    assert_eq!(found.indexes, std::slice::from_ref(&index));
    assert_eq!(
        found.to_string(),
        "layout column, sorted by c7, index (csb) on c9"
    );
    // Beside many writes it does not pay.
    workload.change(Change::Insert, 1e8);
    assert_eq!(best(&workload, "column").stored.design.indexes, []);
}

/// A narrow range is found by an index where the order is taken by a wider one; an index
/// that is there for it stays.
#[test]
fn narrow_ranges_are_indexed() {
    let mut workload = Workload::default();
    let mut narrow = usage(2, Test::Range);
    narrow.tested[0].column = "c9".to_owned();
    (0..50).for_each(|_| workload.query(usage(10, Test::Range), &run(0.01)));
    (0..50).for_each(|_| workload.query(narrow.clone(), &run(1e-5)));
    let found = best(&workload, "column").stored.design;
    assert_eq!(
        found.to_string(),
        "layout column, sorted by c7, index (csb) on c9"
    );
    // Another kind that keeps values in order does as well, and a filter does not.
    let with = |kind: &str| {
        let mut design = found.clone();
        design.indexes[0].kind = kind.to_owned();
        let run = run(1e-5);
        price(&calibration(), &stored(&design), &narrow, &run).unwrap()
    };
    assert_eq!(with("inverted"), with("csb"));
    assert!(with("csb").planned, "only single values need no plan");
    assert!(with("bloom").seconds > 2.0 * with("csb").seconds);
    // By wide ranges an index would give too many rows.
    let mut wide = Workload::default();
    narrow.read.clear();
    (0..50).for_each(|_| wide.query(narrow.clone(), &run(0.2)));
    let mut trial = |design: &Design| {
        assert_eq!(design.indexes, [], "not even tried");
        Ok::<Stored, Infallible>(stored(design))
    };
    let present = stored(&design("column"));
    let Ok(_) = search(&calibration(), &wide, &present, &mut trial);
}

/// An index that needs no plan beats an order that finds the rows as quickly.
#[test]
fn an_index_is_tried_without_the_order_too() {
    let mut workload = Workload::default();
    let mut single = usage(2, Test::Equal);
    single.tested[0].column = "c9".to_owned();
    (0..50).for_each(|_| workload.query(single.clone(), &run(1e-6)));
    let found = best(&workload, "column").stored.design;
    assert_eq!(found.indexes.len(), 1);
}

/// Conditions on two columns: an order helps one, ranges the other.
#[test]
fn ranges_are_cut_beside_an_order() {
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(usage(2, Test::Range), &run(0.2)));
    let mut other = usage(2, Test::Range);
    other.tested[0].column = "c9".to_owned();
    (0..50).for_each(|_| workload.query(other.clone(), &run(0.2)));
    let found = best(&workload, "column").stored.design;
    let partition = found.partition_by.clone().unwrap();
    let mut columns = [found.sort_by.clone().unwrap(), partition.column.clone()];
    columns.sort();
    assert_eq!(columns, ["c7", "c9"], "{found}");
    assert!(found.to_string().contains(" ranges of c"), "{found}");
}

/// Rows that change go to their range, where the whole of a sorted table would be written anew.
#[test]
fn tables_that_change_are_cut_where_sorting_costs_too_much() {
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(usage(2, Test::Range), &run(0.01)));
    assert_eq!(best(&workload, "column").stored.design.partition_by, None);
    workload.updated = 1_000.0;
    let found = best(&workload, "column").stored.design;
    assert_eq!(
        (found.sort_by, found.partition_by.map(|one| one.column)),
        (None, Some("c7".into()))
    );
}

/// What was tried is believed more than the model.
#[test]
fn trials_correct_the_model() {
    let workload = |usage: &Usage| {
        let mut workload = Workload::default();
        (0..50).for_each(|_| workload.query(usage.clone(), &run(0.5)));
        workload
    };
    let few = usage(2, Test::Other);
    let mut trial = |design: &Design| {
        let seconds = if design.layout == "row" { 1e-4 } else { 2e-3 };
        let tried = Tried {
            rows: 1e5,
            usages: vec![TriedUsage {
                usage: few.clone(),
                seconds,
                fetch_seconds: 1e-6,
            }],
        };
        Ok::<Stored, Infallible>(Stored {
            tried: Some(tried),
            ..stored(design)
        })
    };
    let present = trial(&design("column"));
    let Ok(present) = present;
    let Ok(all) = search(&calibration(), &workload(&few), &present, &mut trial);
    assert_eq!(all[0].stored.design.layout, "row");
}

/// Rows that an index finds cost what fetching the wanted columns took, not their share of
/// what all columns take.
#[test]
fn rows_of_an_index_are_fetched_as_tried() {
    let single = usage(2, Test::Equal);
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(single.clone(), &run(1e-4)));
    // By shares of all columns `row` would be four times as fast.
    let mut trial = |design: &Design| {
        let by_row = design.layout == "row";
        let tried = Tried {
            rows: 1e5,
            usages: vec![TriedUsage {
                usage: single.clone(),
                seconds: 1e-3,
                fetch_seconds: if by_row { 4e-6 } else { 1e-6 },
            }],
        };
        Ok::<Stored, Infallible>(Stored {
            tried: Some(tried),
            ..stored(design)
        })
    };
    let Ok(present) = trial(&design("row"));
    let Ok(all) = search(&calibration(), &workload, &present, &mut trial);
    let indexed = all.iter().find(|one| !one.stored.design.indexes.is_empty());
    assert_eq!(indexed.unwrap().stored.design.layout, "column");
}

/// The layout that suits scans best need not be that of the rows that an index finds.
#[test]
fn rows_of_an_index_may_lie_otherwise_than_those_of_scans() {
    let single = usage(8, Test::Equal);
    let mut workload = Workload::default();
    (0..500).for_each(|_| workload.query(single.clone(), &run(1e-4)));
    let mut trial = |design: &Design| {
        let by_row = design.layout == "row";
        let tried = Tried {
            rows: 1e5,
            usages: vec![TriedUsage {
                usage: single.clone(),
                seconds: if by_row { 4e-3 } else { 1e-3 },
                fetch_seconds: if by_row { 1e-7 } else { 1e-6 },
            }],
        };
        Ok::<Stored, Infallible>(Stored {
            tried: Some(tried),
            ..stored(design)
        })
    };
    let Ok(present) = trial(&design("column"));
    let Ok(all) = search(&calibration(), &workload, &present, &mut trial);
    let found = &all[0].stored.design;
    assert_eq!((found.layout.as_str(), found.indexes.len()), ("row", 1));
}

/// An index that no condition could use is not tried, so that chance does not keep it.
#[test]
fn an_index_of_no_use_goes() {
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(usage(2, Test::Other), &run(0.5)));
    let index = Index {
        kind: "csb".to_owned(),
        column: "c7".to_owned(),
    };
    let present = stored(&Design {
        indexes: vec![index],
        ..design("row")
    });
    let mut trial = |design: &Design| {
        // Other codecs of the present design are tried with all that it has.
        assert!(design.layout == "row" || design.indexes.is_empty());
        Ok::<Stored, Infallible>(stored(design))
    };
    let Ok(all) = search(&calibration(), &workload, &present, &mut trial);
    assert_eq!(all[0].stored.design, design("column"));
}

/// A table that was to be small may stay so in another layout.
#[test]
fn the_present_codec_is_tried_too() {
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(usage(2, Test::Other), &run(0.5)));
    let present = stored(&Design {
        codec: "small".to_owned(),
        ..design("row")
    });
    let mut trial = |design: &Design| Ok::<Stored, Infallible>(stored(design));
    let Ok(all) = search(&calibration(), &workload, &present, &mut trial);
    let small = Design {
        codec: "small".to_owned(),
        ..design("column")
    };
    assert!(all.iter().any(|one| one.stored.design == small));
}

/// What is not better by more than the designs are alike stays as it is, or is smaller.
#[test]
fn nothing_to_gain_is_nothing_to_do() {
    let mut workload = Workload::default();
    (0..50).for_each(|_| workload.query(usage(2, Test::Other), &run(0.5)));
    let found = best(&workload, "column").stored;
    assert_eq!(found.design, design("column"));
    assert_eq!(missing(&workload), 0);
    assert_eq!(missing(&Workload::default()), QUERIES as u64);
}
