//! The frame of the lab, from running experiments to the page: with two small
//! experiments made up here, and in a browser with one of the lab's own.

#![allow(clippy::unwrap_used, reason = "in tests, the panic is the report")]

mod support;

use freestone_lab::{
    Axis, Claim, Experiment, Found, Need, Outcome, Plot, Point, Record, Result, Scale, Series,
    Setting, Table, command, plot,
};
use std::fs;
use std::io::Write;
use std::path::Path;
use support::{browser, markup};

/// Times that are computed, over a logarithmic and a linear axis and over names.
const CURVES: Experiment = Experiment {
    id: "h6",
    source: "H, figure 6",
    title: "Columns & rows: time over <selected> bytes",
    need: |_| Need {
        memory: 1 << 10,
        disk: 1 << 10,
        programs: Vec::new(),
        ..Need::default()
    },
    run: curves,
};

/// Tables wider than any phone, and words longer than any line.
const TABLES: Experiment = Experiment {
    id: "q12",
    source: "Q, figures 12 to 14",
    title: "Load",
    need: |_| Need::default(),
    run: tables,
};

const MISSING: Experiment = Experiment {
    id: "p7",
    source: "P, figure 7",
    title: "Misses",
    need: |_| Need::default(),
    run: tables,
};

fn axis(label: &str, logarithmic: bool, names: &[&str]) -> Axis {
    let names = names.iter().map(|name| name.to_string()).collect();
    Axis {
        label: label.to_string(),
        logarithmic,
        names,
    }
}

fn curves(setting: &Setting) -> Result<Outcome> {
    fs::write(setting.scratch.join("data"), [0; 64])?;
    let curve = |name: &str, slope: f64, noise: f64, places: &[f64]| {
        let mean = |x: &f64| 0.4 + slope * x;
        let point = |x: &f64| Point {
            x: *x,
            mean: mean(x),
            deviation: noise * mean(x),
        };
        Series {
            name: name.to_string(),
            points: places.iter().map(point).collect(),
        }
    };
    let layouts: Vec<f64> = (0..4).map(f64::from).collect();
    let bytes: Vec<f64> = (0..16).map(|n| f64::from(8 * n + 4)).collect();
    let doublings: Vec<f64> = (1..10).map(|n| 2f64.powi(n)).collect();
    let dense: Vec<f64> = (1..200).map(|n| f64::from(n) / 4.0).collect();
    let names = ["rows", "columns, one iterator", "columns, pipelined", "PAX"];
    let many: Vec<String> = (0..16).map(|n| format!("l_a_long_column_{n}")).collect();
    let columns: Vec<f64> = (0..16).map(f64::from).collect();
    let plot = |title: &str, x, y, series| Plot {
        title: title.to_string(),
        x,
        y,
        series,
    };
    let four = |places: &[f64]| {
        let curve = |(name, slope): (&&str, f64)| curve(name, slope, 0.08, places);
        names
            .iter()
            .zip([0.001, 0.02, 0.015, 0.01])
            .map(curve)
            .collect::<Vec<_>>()
    };
    let steep = Axis {
        names: many,
        ..axis("column of LINEITEM", false, &[])
    };
    let nothing = vec![curve("a curve of nothing", 0.0, 0.0, &[])];
    let seconds = || axis("elapsed time (s)", false, &[]);
    Ok(Outcome {
        setup: "Sixteen columns, a seed; nothing is measured, everything is computed.".to_string(),
        plots: vec![
            plot(
                "Time over selected bytes",
                axis("selected bytes per tuple", false, &[]),
                seconds(),
                four(&bytes),
            ),
            plot(
                "Time over depth",
                axis("prefetch depth (I/O units)", true, &[]),
                axis("elapsed time (s)", true, &[]),
                four(&doublings),
            ),
            plot(
                "Contours",
                axis("tuple width (bytes)", false, &[]),
                axis("cycles per disk byte", true, &[]),
                four(&dense),
            ),
            plot(
                "Layouts",
                axis("layout", false, &names),
                seconds(),
                four(&layouts),
            ),
            plot(
                "Columns",
                steep,
                axis(
                    "bits per value, which is a long label of an axis that has to stand in two lines",
                    false,
                    &[],
                ),
                four(&columns),
            ),
            plot("Nothing", axis("x", true, &[]), seconds(), nothing),
        ],
        tables: Vec::new(),
        claims: vec![
            Claim::tested(
                "Columns are faster below 85 % of a tuple's bytes.",
                true,
                "They are, up to 88 %.",
            ),
            Claim::tested(
                "Rows are \"faster\" above.",
                false,
                "Nothing above was computed.",
            ),
            Claim::untested("Stalls fall by half.", "No counters."),
        ],
    })
}

fn tables(_: &Setting) -> Result<Outcome> {
    let columns: Vec<String> = (0..14)
        .map(|column| format!("column number {column}"))
        .collect();
    let row = |row: usize| {
        (0..14)
            .map(|column| format!("{}.{row} ms", row * column))
            .collect()
    };
    let long = "a_name_that_goes_on_and_on_without_a_space_".repeat(6);
    Ok(Outcome {
        setup: long.clone(),
        plots: Vec::new(),
        tables: vec![Table {
            title: long.clone(),
            columns,
            rows: (0..6).map(row).collect(),
        }],
        claims: vec![Claim::tested(long.clone(), true, long)],
    })
}

fn setting(folder: &Path) -> Setting {
    Setting {
        scale: Scale::Quick,
        seed: 7,
        scratch: folder.join("scratch"),
        threads: 2,
        memory: 1 << 20,
        sql: None,
    }
}

/// Runs both experiments, and gives the page of them.
fn page(folder: &Path) -> String {
    let known = [&CURVES, &TABLES];
    let records = folder.join("records");
    let mut events = 0;
    let all = ["all".to_string()];
    let summary = command::run(&all, &known, &setting(folder), &records, "abc", &mut |_| {
        events += 1
    });
    let summary = summary.unwrap();
    assert_eq!((events, summary.records.len()), (4, 2));
    assert!(
        summary
            .records
            .iter()
            .all(|record| matches!(record.found, Found::Outcome(_)))
    );
    assert!(records.join("h6.json").is_file() && records.join("q12.json").is_file());
    let to = folder.join("pages/lab.html");
    let written = command::report(&records, &[&CURVES, &TABLES, &MISSING], &to).unwrap();
    assert_eq!((written.records, written.damaged.len()), (2, 0));
    fs::read_to_string(to).unwrap()
}

#[test]
fn experiments_become_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(folder.path());
    let elements = markup::elements(&page).unwrap();
    let count = |name: &str| elements.iter().filter(|element| *element == name).count();
    assert_eq!((count("h1"), count("article")), (1, 3));
    assert_eq!(
        (count("svg"), count("table")),
        (6, 7),
        "each plot has its numbers"
    );
    assert_eq!(count("script"), 0);
    assert!(page.contains("Of 3 claims that this machine can test, 2 hold: 67 %."));
    assert!(page.contains("Not run yet, 1 of 3 experiments"));
    let drawings = markup::drawings(&page);
    assert_eq!(drawings.len(), 6);
    for drawing in drawings {
        let elements = markup::elements(drawing).unwrap();
        assert_eq!(elements[..3], ["svg", "title", "desc"]);
    }
}

#[test]
fn what_is_referred_to_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(folder.path());
    let values = |attribute: &str| -> Vec<String> {
        let parts = page.split(attribute).skip(1);
        parts
            .map(|part| part.split('"').next().unwrap().to_string())
            .collect()
    };
    let mut ids = values(" id=\"");
    let references = values(" href=\"#").into_iter();
    let labels = values(" aria-labelledby=\"").into_iter();
    let labels = labels.flat_map(|ids| ids.split(' ').map(String::from).collect::<Vec<_>>());
    for reference in references.chain(labels) {
        assert!(ids.contains(&reference), "{reference}");
    }
    ids.sort();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is used twice");
}

#[test]
fn each_plot_is_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    page(folder.path());
    let records = folder.path().join("records");
    let outcome = Record::read(&Record::path(&records, "h6")).unwrap();
    let plots = &outcome.outcome().unwrap().plots;
    assert_eq!(plots.len(), 6);
    for (number, plot) in (1..).zip(plots) {
        let svg = fs::read_to_string(Record::drawing(&records, "h6", number)).unwrap();
        let elements = markup::elements(&svg).unwrap();
        assert_eq!(elements[..4], ["svg", "title", "desc", "style"]);
        let title = plot::escape(&plot.title);
        assert!(svg.contains(&format!(">{title}</title>")), "{title}");
    }
    assert!(!records.join("h6-7.svg").exists());
    assert!(!records.join("q12-1.svg").exists(), "it has no plots");
}

/// A page of one of the lab's own experiments, run with hardly any tuples.
fn real_page(folder: &Path) -> String {
    let known = freestone_lab::all();
    let setting = Setting {
        memory: 2 << 20,
        ..setting(folder)
    };
    let records = folder.join("real");
    let ids = ["h10".to_string()];
    let summary = command::run(&ids, &known, &setting, &records, "abc", &mut |_| ()).unwrap();
    let failures: Vec<_> = summary.failures().collect();
    assert!(failures.is_empty(), "{failures:?}");
    let to = folder.join("real.html");
    assert_eq!(command::report(&records, &known, &to).unwrap().records, 1);
    fs::read_to_string(to).unwrap()
}

#[test]
fn a_page_of_a_real_record_is_well_formed() {
    let folder = tempfile::tempdir().unwrap();
    let page = real_page(folder.path());
    markup::elements(&page).unwrap();
    assert!(
        page.contains("prefetch depth"),
        "the experiment's text is there"
    );
    assert!(!markup::drawings(&page).is_empty());
}

#[test]
fn a_browser_shows_all_of_the_pages_at_any_width() {
    let Some(browser) = browser::find() else {
        let said = "the page in a browser; none of the Chromium family is installed";
        assert!(std::env::var_os("CI").is_none(), "not tested: {said}");
        // Not by the macro, whose text the harness hides when a test passes.
        writeln!(std::io::stderr(), "skipped: {said}").unwrap();
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for page in [page(folder.path()), real_page(folder.path())] {
        let widths = browser::widths(&browser, &page, &[375, 800, 1400], folder.path());
        let windows: Vec<u32> = widths.iter().map(|width| width.window).collect();
        assert_eq!(windows, [375, 800, 1400], "the frames are as wide as asked");
        for width in widths {
            assert!(width.scroll <= width.window, "{width:?}");
            assert!(width.beyond.is_empty(), "{width:?}");
            assert!(width.clashes.is_empty(), "{width:?}");
        }
    }
}

#[test]
fn the_list_is_a_table() {
    let list = command::list(&[&CURVES, &TABLES]);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines[0], "id   source               title");
    assert_eq!(lines[2], "q12  Q, figures 12 to 14  Load");
}

#[test]
fn nothing_runs_if_something_is_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let ids = ["h6".to_string(), "h66".to_string()];
    let poor = Setting {
        memory: 0,
        ..setting(folder.path())
    };
    let records = folder.path().join("records");
    let run = command::run(&ids, &[&CURVES], &poor, &records, "unknown", &mut |_| {
        panic!("runs")
    });
    let error = run.unwrap_err().to_string();
    assert!(
        error.contains("`h66` (did you mean `h6`?") && error.contains("1 KiB of memory"),
        "{error}"
    );
    assert!(!records.exists());
    let report = command::report(&records, &[&CURVES], &folder.path().join("lab.html"));
    assert!(report.unwrap_err().hint.contains("freestone lab run"));
}

#[test]
fn the_setting_is_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let setting = command::setting(Scale::Quick, 3, folder.path());
    assert_eq!((setting.scale, setting.seed), (Scale::Quick, 3));
    assert!(setting.threads >= 1 && setting.memory > 1 << 20);
    let ids = ["Q12".to_string()];
    let run = command::run(
        &ids,
        &[&TABLES],
        &setting,
        folder.path(),
        "unknown",
        &mut |_| (),
    );
    assert_eq!(run.unwrap().tally().hold, 1);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "only the record: {left:?}");
}
