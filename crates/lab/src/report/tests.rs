//! The page says what was found, what was not, and on what.

use super::*;
use crate::error::Error;
use crate::experiment::Need;
use crate::outcome::{Claim, Table};
use crate::record::{Found, Program};
use crate::setting::{Scale, Setting};
use std::time::SystemTime;

const fn experiment(id: &'static str, source: &'static str) -> Experiment {
    Experiment {
        id,
        source,
        title: "scan <rows> & columns",
        need: |_| Need::default(),
        run: |_| Ok(Outcome::default()),
    }
}

const RUN: Experiment = experiment("h6", "H, figure 6");
const FAILED: Experiment = experiment("h7", "H, figure 7");
const MISSING: Experiment = experiment("q1", "Q, figure 1");

fn record(experiment: &Experiment, found: Found) -> Record {
    let scratch = std::env::temp_dir();
    let setting = Setting {
        scale: Scale::Quick,
        seed: 42,
        scratch,
        threads: 2,
        memory: 1,
        sql: None,
    };
    let machine = Machine {
        processor: Some("Fast 9".to_string()),
        threads: 2,
        l2: Some(2 << 20),
        ..Machine::default()
    };
    let program = Program::here("abc123");
    Record::new(
        experiment,
        &setting,
        &program,
        &machine,
        SystemTime::UNIX_EPOCH,
        1.5,
        found,
    )
}

fn outcome() -> Outcome {
    let rows = vec![vec!["<b>".to_string(), "1".to_string()]];
    Outcome {
        setup: "1 M rows, 3 repetitions".to_string(),
        tables: vec![Table {
            title: "Sizes".to_string(),
            columns: vec!["a".to_string(), "b".to_string()],
            rows,
        }],
        claims: vec![
            Claim::tested("columns win below 85 %", true, "crossover at 90 %"),
            Claim::tested("rows win above", false, "they do not"),
            Claim::untested("misses fall", "no counters"),
        ],
        ..Outcome::default()
    }
}

fn page_of(whole: Vec<Record>) -> String {
    let damaged = vec![Error::new("h9.json is damaged", "run it again")];
    page(&Records { whole, damaged }, &[&RUN, &FAILED, &MISSING])
}

#[test]
fn verdicts_are_counted_and_given_with_their_reasons() {
    let page = page_of(vec![record(&RUN, Found::Outcome(outcome()))]);
    assert!(page.contains("Of 2 claims that this machine can test, 1 hold: 50 %."));
    assert!(page.contains("crossover at 90 %") && page.contains("no counters"));
    assert!(page.contains("<li><a href=\"#h6\">H, figure 6</a>: rows win above</li>"));
    assert!(page.contains("1 claim holds, 1 does not hold, 1 cannot be tested"));
}

#[test]
fn the_setting_is_told() {
    let page = page_of(vec![record(&RUN, Found::Outcome(outcome()))]);
    for part in [
        "Measured on Fast 9, 2 cores, L2 2 MiB.",
        "seed 42",
        "quick scale",
        "commit abc123",
        "1970-01-01",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let mut other = record(&FAILED, Found::Outcome(outcome()));
    other.scale = "6".to_string();
    other.machine.processor = Some("Slow 1".to_string());
    let page = page_of(vec![record(&RUN, Found::Outcome(outcome())), other]);
    assert!(page.contains("Measured on 2 machines"), "which differ");
    assert!(page.contains("tables 6 times those of quick scale"));
    assert_eq!(
        page.matches("Slow 1").count(),
        2,
        "at the top and with its experiment"
    );
}

#[test]
fn what_speaks_against_the_numbers_is_told() {
    let mut disturbed = record(&RUN, Found::Outcome(outcome()));
    disturbed.load = Some(3.5);
    let page = page_of(vec![disturbed, record(&FAILED, Found::Outcome(outcome()))]);
    assert!(page.contains("2 of 2 at quick scale"));
    assert!(page.contains("1 of 2 began while other work kept the machine busy"));
    assert_eq!(
        page.matches("disturbed by other work (load 3.5)").count(),
        1
    );
}

#[test]
fn what_is_missing_is_named() {
    let failure = Found::Failure("no <disk>".to_string());
    let page = page_of(vec![
        record(&RUN, Found::Outcome(outcome())),
        record(&FAILED, failure),
    ]);
    assert!(page.contains("Not run yet, 1 of 3 experiments: <a href=\"#q1\""));
    assert!(page.contains("freestone lab run q1"));
    assert!(page.contains("failed: no &lt;disk&gt;"));
    assert!(page.contains("h9.json is damaged (run it again)"));
}

#[test]
fn records_of_unknown_experiments_are_shown() {
    let old = experiment("x1", "X, figure 1");
    let page = page_of(vec![record(&old, Found::Outcome(outcome()))]);
    assert!(page.contains("<article id=\"x1\">") && page.contains("<h2>X</h2>"));
}

#[test]
fn text_is_escaped_and_nothing_is_loaded() {
    let page = page_of(vec![record(&RUN, Found::Outcome(outcome()))]);
    assert!(page.contains("scan &lt;rows&gt; &amp; columns") && page.contains("&lt;b&gt;"));
    for outside in ["<script", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_page_of_nothing_is_a_page() {
    let page = page(&Records::default(), &[]);
    assert!(page.contains("No claim has been put to the test yet."));
}
