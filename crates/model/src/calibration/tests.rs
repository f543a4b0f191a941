//! Selections whose price is plain, and machine files.

use super::*;
use crate::correction::Correction;
use crate::costs::{ColdCosts, ColumnCosts, LayoutCosts};
use crate::curve::Curve;
use crate::selection::{Selection, Used};

fn used(kind: &str, bytes: f64) -> Used {
    Used {
        kind: kind.to_owned(),
        bytes,
        stored: 2.0,
    }
}

fn calibration() -> Calibration {
    let column = |kind: &str, bytes, test, read| ColumnCosts {
        kind: kind.to_owned(),
        bytes,
        test: Curve::flat(test),
        read: Curve::through([(0.01, read / 10.0), (1.0, read)]),
        cold: 1e-9,
    };
    let layout = LayoutCosts {
        layout: "column".to_owned(),
        block: 1000.0,
        rows: Curve::flat(1.0),
        lines: Curve::default(),
        crowd: Curve::default(),
        scan: 0.0,
        test: 0.0,
        part: 0.0,
        hot_correction: Correction::default(),
        cold_correction: Correction::default(),
        cold: ColdCosts {
            block: 1e-4,
            part: 1e-5,
            byte: 1e-10,
        },
        columns: vec![
            column("i64 bitpack", 8.0, 0.5, 2.0),
            column("text plain", 8.0, 3.0, 10.0),
            column("text plain", 32.0, 3.0, 30.0),
        ],
    };
    Calibration {
        machine: Machine::of_the_paper(),
        costs: Costs {
            layouts: vec![layout],
            ..Costs::default()
        },
        stated: None,
        operators: BTreeMap::new(),
    }
}

fn selection(share: f64, read: Vec<Used>) -> Selection {
    Selection {
        layout: "column".to_owned(),
        blocks: 2.0,
        rows: 1000.0,
        tuple_bytes: 100.0,
        stride: 100.0,
        tested: vec![(used("i64 bitpack", 8.0), 1.0)],
        share,
        read,
    }
}

#[test]
fn machine_files_are_read_as_they_were_written() {
    // Those of before say nothing of errors.
    let unstated = calibration();
    assert!(!unstated.written().unwrap().contains("stated"));
    assert_eq!(unstated.error(), None);
    let calibration = Calibration {
        operators: BTreeMap::from([("sort".into(), 35.5)]),
        stated: Some(Stated {
            hot: Spread::of([0.4, 0.1, 0.2]),
            cold: Spread::default(),
        }),
        ..unstated
    };
    assert_eq!(calibration.error(), Some(0.2));
    let text = calibration.written().unwrap();
    assert_eq!(Calibration::read(&text), Ok(calibration));
    assert!(Calibration::read("{}").is_err());
    let stopped = text.replacen("3200000000.0", "0.0", 1);
    assert!(
        Calibration::read(&stopped)
            .unwrap_err()
            .message
            .contains("clock")
    );
    let gaining = text.replacen("35.5", "-35.5", 1);
    let error = Calibration::read(&gaining).unwrap_err();
    assert!(
        error.message.contains("no -35.5 ns a row: sort"),
        "{error:?}"
    );
}

#[test]
fn operators_cost_what_was_measured_or_the_usual() {
    let mut calibration = calibration();
    assert_eq!(calibration.operator("sort"), 40.0);
    calibration.operators.insert("sort".into(), 12.5);
    assert_eq!(calibration.operator("sort"), 12.5);
    assert_eq!(calibration.operator("unheard of"), 0.0);
}

#[test]
fn the_reference_knows_every_layout() {
    let known = Calibration::reference().unwrap().costs.layouts;
    for layout in [
        "row",
        "column",
        "pax",
        "dsm",
        "inverted",
        "column pipelined",
    ] {
        assert!(known.iter().any(|costs| costs.layout == layout), "{layout}");
    }
}

#[test]
fn the_reference_knows_what_operators_cost() {
    let known = Calibration::reference().unwrap().operators;
    for operator in ["filter", "aggregate", "join", "sort", "top", "window"] {
        assert!(known[operator] > 0.0, "{operator}: {known:?}");
    }
}

/// Two blocks of 1,000 cycles over 1,000 rows, one cycle for rows, a test of a half.
#[test]
fn parts_of_a_scan_add_up() {
    let Calibration { machine, costs, .. } = calibration();
    let user = |selection| costs.scanner(&selection).unwrap().user_cycles;
    assert!((user(selection(1.0, Vec::new())) - 3.5).abs() < 1e-9);
    let numbers = vec![used("i64 bitpack", 8.0)];
    assert!((user(selection(1.0, numbers.clone())) - 5.5).abs() < 1e-9);
    assert!((user(selection(0.01, numbers)) - 3.7).abs() < 1e-9);
    // Between texts of 8 and 32 bytes; a codec that was not measured is as the others
    // of its type.
    let texts = vec![used("text symbols", 20.0)];
    assert!((user(selection(1.0, texts)) - 23.5).abs() < 1e-9);
    assert!(
        costs
            .seconds(&machine, &selection(1.0, Vec::new()))
            .unwrap()
            > 0.0
    );
    let unknown = Selection {
        layout: "heap".to_owned(),
        ..selection(1.0, Vec::new())
    };
    assert_eq!(costs.seconds(&machine, &unknown), None);
}

/// Of 1,000 rows of 2 bytes a tested column comes from memory, and a plain one whose
/// values are all wanted does not.
#[test]
fn whole_plain_columns_are_not_touched() {
    let Calibration { costs, .. } = calibration();
    let bytes = |kind, share| {
        let selection = selection(share, vec![used(kind, 8.0)]);
        costs.scanner(&selection).unwrap().bytes
    };
    assert_eq!(bytes("text plain", 1.0), 2.0);
    assert_eq!(bytes("i64 bitpack", 1.0), 4.0);
    assert!(bytes("text plain", 0.9) > 3.9);
}

/// 2,000 bytes of a column stay in caches that have room for them.
#[test]
fn what_the_caches_keep_is_not_waited_for() {
    let Calibration { mut costs, .. } = calibration();
    let bytes = |costs: &Costs| costs.scanner(&selection(1.0, Vec::new())).unwrap().bytes;
    costs.cached = 1999.0;
    assert_eq!(bytes(&costs), 2.0);
    costs.cached = 2000.0;
    assert_eq!(bytes(&costs), 0.0);
}

/// Of two blocks and a condition 600 cycles more, over 1,000 rows.
#[test]
fn conditions_are_begun_where_there_are_any() {
    let Calibration { mut costs, .. } = calibration();
    costs.layouts[0].test = 300.0;
    let untested = Selection {
        tested: Vec::new(),
        ..selection(1.0, Vec::new())
    };
    let user = |selection| costs.scanner(&selection).unwrap().user_cycles;
    assert!((user(untested) - 3.0).abs() < 1e-9);
    assert!((user(selection(1.0, Vec::new())) - 4.1).abs() < 1e-9);
}

/// 2 blocks, each of 2 columns; 4,000 bytes at the disk's 180 MB/s, which is slower
/// than a nanosecond a value.
#[test]
fn cold_blocks_wait_for_the_disk() {
    let Calibration { machine, costs, .. } = calibration();
    let selection = selection(0.5, vec![used("i64 bitpack", 8.0)]);
    let seconds = costs.cold_seconds(&machine, &selection).unwrap();
    let expected = 2.0 * (1e-4 + 2.0 * 1e-5) + 4000.0 / 180e6;
    assert!((seconds - expected).abs() < 1e-12, "{seconds} {expected}");
}
