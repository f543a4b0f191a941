//! Records are read as they were written; damaged ones are named.

use super::*;
use crate::experiment::Need;
use crate::outcome::{Axis, Claim, Point, Series, Table};
use crate::setting::Scale;
use std::time::Duration;

const EXPERIMENT: Experiment = Experiment {
    id: "t1",
    source: "T, figure 1",
    title: "test",
    need: |setting| Need::default().measured(2 * setting.repetitions() - 1),
    run: |_| Ok(Outcome::default()),
};

fn record(found: Found) -> Record {
    let setting = Setting {
        scale: Scale::Quick,
        seed: u64::MAX,
        scratch: std::env::temp_dir(),
        threads: 2,
        memory: 1,
        sql: None,
    };
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let program = Program::here("abc");
    Record::new(
        &EXPERIMENT,
        &setting,
        &program,
        &Machine::here(),
        start,
        1.5,
        found,
    )
}

fn outcome() -> Outcome {
    let points = vec![
        Point::of(0.1, &[1.0, 2.0]),
        Point::exact(f64::NAN, 1.0),
        Point::exact(1.0, f64::INFINITY),
    ];
    let series = vec![Series {
        name: "s".to_string(),
        points,
    }];
    let plot = Plot {
        title: "p".to_string(),
        x: Axis::default(),
        y: Axis::default(),
        series,
    };
    let rows = vec![vec!["1".to_string()]];
    let table = Table {
        title: "t".to_string(),
        columns: vec!["c".to_string()],
        rows,
    };
    let claims = vec![Claim::tested("a", true, "b"), Claim::untested("c", "d")];
    Outcome {
        setup: "quick".to_string(),
        plots: vec![plot],
        tables: vec![table],
        claims,
    }
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for found in [
        Found::Outcome(outcome()),
        Found::Failure("no disk".to_string()),
    ] {
        let record = record(found);
        let path = record.write(&folder.path().join("new")).unwrap();
        assert!(path.ends_with("new/t1.json"));
        assert_eq!(Record::read(&path).unwrap(), record);
    }
}

#[test]
fn each_plot_is_drawn_beside_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = || -> Vec<usize> {
        let numbers = (1..=3).filter(|n| Record::drawing(folder.path(), "t1", *n).exists());
        numbers.collect()
    };
    let mut two = outcome();
    two.plots.push(outcome().plots.remove(0));
    record(Found::Outcome(two)).write(folder.path()).unwrap();
    assert_eq!(drawn(), [1, 2]);
    let svg = fs::read_to_string(folder.path().join("t1-1.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("<style>"), "{svg}");
    let one = record(Found::Outcome(outcome()));
    one.write(folder.path()).unwrap();
    assert_eq!(drawn(), [1], "that of the earlier run is gone");
    let failed = record(Found::Failure("no disk".to_string()));
    failed.write(folder.path()).unwrap();
    assert_eq!(drawn(), [0; 0]);
}

#[test]
fn points_that_are_no_numbers_are_left_out_and_counted() {
    let record = record(Found::Outcome(outcome()));
    assert_eq!(
        record.remarks,
        ["2 points of “p” were no numbers and were left out"]
    );
    assert_eq!(record.outcome().unwrap().plots[0].series[0].points.len(), 1);
    assert_eq!(record.date, "2023-11-14 22:13:20 UTC");
}

#[test]
fn an_experiment_says_how_often_it_measures() {
    let record = record(Found::Outcome(outcome()));
    assert_eq!((record.repetitions, &record.scale[..]), (9, "quick"));
}

#[test]
fn damaged_records_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = record(Found::Outcome(outcome()))
        .write(folder.path())
        .unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(folder.path().join("t2.json"), &text[..text.len() / 2]).unwrap();
    fs::write(
        folder.path().join("t3.json"),
        text.replace("\"form\": 1", "\"form\": 9"),
    )
    .unwrap();
    fs::write(folder.path().join("notes.txt"), "not a record").unwrap();
    let records = Records::read(folder.path()).unwrap();
    assert_eq!((records.whole.len(), records.damaged.len()), (1, 2));
    let said: Vec<String> = records.damaged.iter().map(Error::to_string).collect();
    assert!(said[0].contains("t2.json is damaged: EOF"), "{said:?}");
    assert!(
        said[0].contains("run `freestone lab run t2` again, or remove"),
        "{said:?}"
    );
    assert!(
        said[1].contains("t3.json was written by a newer program"),
        "{said:?}"
    );
}

#[test]
fn a_directory_without_records_says_how_to_make_them() {
    let folder = tempfile::tempdir().unwrap();
    for directory in [folder.path().to_path_buf(), folder.path().join("absent")] {
        let error = Records::read(&directory).unwrap_err();
        assert!(error.hint.contains("freestone lab run"), "{error}");
    }
}
