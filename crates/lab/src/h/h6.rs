//! Figure 6: more and more attributes of LINEITEM at 10 % selectivity.

use super::claims::{bound_by_disks, pair};
use super::disks::{Conditions, seek_of};
use super::setup::{Bench, Measured, measure, nanoseconds, need, percent, repetitions, rows};
use super::sweep::{Curve, compute_plot, crossover, plot};
use super::tables::TableName;
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Claim, Outcome, Table};
use crate::setting::Setting;
use freestone_storage::io::Sim;

const TABLE: TableName = TableName::Lineitem;
/// Places of the three long texts: SHIPINSTRUCT, SHIPMODE, COMMENT.
const TEXTS: std::ops::Range<usize> = 8..11;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    id: "h6",
    source: "H, figure 6",
    title: "Rows and columns of LINEITEM, 10 % selectivity",
    need: |setting| need(TABLE, tuples(setting), 4).measured(repetitions(setting)),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, TABLE, 1 << 19, 4)
}

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new();
    let count = tuples(setting);
    let measured = measure(setting, TABLE, count, &[0.1])?;
    let Some(measured) = measured.first() else {
        return Ok(Outcome::default());
    };
    let all = measured.all();
    let (rows, columns) = pair(&measured.document);
    let title = "LINEITEM, 10 % selectivity: elapsed and CPU time";
    let label = "bytes of selected attributes per tuple";
    Ok(Outcome {
        setup: bench.describe(count, setting, true) + ".",
        plots: vec![
            plot(title, label, &columns.places(), &all, &bench.disks),
            compute_plot("LINEITEM, 10 % selectivity: CPU time", &all),
        ],
        tables: vec![crossovers(rows, columns, &bench)],
        claims: vec![
            flat(measured, &bench.disks),
            crosses(measured, &bench.disks),
            gains_by_bytes(measured, &bench.disks),
            bound_by_disks(measured, &bench),
            grows(measured),
            strings(measured),
            Claim::untested(
                "The program's own time divides into micro-operations and stalls for the first and \
                 second cache",
                "It takes hardware counters, which virtual machines rarely have. System time is in \
                 hsystem.",
            ),
        ],
    })
}

/// The crossover with the seeks that H gives, and without.
fn crossovers(rows: &Curve, columns: &Curve, bench: &Bench) -> Table {
    let row = |seek: f64| {
        let disks = Sim {
            seek_seconds: seek_of(seek, bench.clock),
            ..bench.disks
        };
        let found = crossover(
            rows,
            columns,
            &disks,
            Conditions::default(),
            &columns.places(),
        );
        vec![
            format!("{} ms", 1e3 * seek),
            found.map_or_else(|| "never".to_owned(), percent),
        ]
    };
    Table {
        title: "Share of a tuple's bytes from which on columns take longer than rows".to_owned(),
        columns: vec!["seek, at 3.2 GHz".to_owned(), "crossover".to_owned()],
        rows: [0.0, 5e-3, 7.5e-3, 10e-3].map(row).to_vec(),
    }
}

fn flat(measured: &Measured, disks: &Sim) -> Claim {
    let of = |curves: &[Curve]| {
        let rows = &curves[0];
        let at = |attributes| rows.elapsed(disks, attributes, Conditions::default());
        let (one, all) = (at(1), at(rows.attributes()));
        (
            (all / one - 1.0).abs() < 0.02,
            format!("Rows take {one:.1} s for one attribute, {all:.1} s for all."),
        )
    };
    Claim::replicated(
        "The row store does not care how many attributes are selected (tolerance: 2 %)",
        of(&measured.document),
        of(&measured.freestone),
    )
}

fn crosses(measured: &Measured, disks: &Sim) -> Claim {
    let of = |curves: &[Curve]| {
        let (rows, columns) = pair(curves);
        let all = columns.attributes();
        let at =
            |curve: &Curve, attributes| curve.elapsed(disks, attributes, Conditions::default());
        let usual = Conditions::default();
        let (holds, because) = match crossover(rows, columns, disks, usual, &columns.places()) {
            None => (false, "Columns are never slower.".to_owned()),
            Some(share) => (
                (0.78..=0.95).contains(&share),
                format!("The lines cross at {} of the bytes.", percent(share)),
            ),
        };
        let ends = format!(
            "For one attribute columns take {:.1} s and rows {:.1} s, for all {:.1} s and {:.1} s.",
            at(columns, 1),
            at(rows, 1),
            at(columns, all),
            at(rows, all)
        );
        (holds, format!("{because} {ends}"))
    };
    Claim::replicated(
        "Columns win until more than 85 % of a tuple's bytes are selected, where seeks between \
         columns cost more than the bytes that are not read (here: the lines cross between 78 \
         and 95 %; the table gives it for other seeks)",
        of(&measured.document),
        of(&measured.freestone),
    )
}

/// How many times as fast columns are, beside how many times as many bytes rows read.
fn gains_by_bytes(measured: &Measured, disks: &Sim) -> Claim {
    let of = |curves: &[Curve]| {
        let (rows, columns) = pair(curves);
        let at = |attributes| {
            let time = |curve: &Curve| curve.elapsed(disks, attributes, Conditions::default());
            let bytes = |curve: &Curve| curve.reading(attributes, 0.0).bytes();
            [time(rows) / time(columns), bytes(rows) / bytes(columns)]
        };
        let (one, all) = (at(1), at(columns.attributes()));
        let is_near = |a: f64, b: f64| (a / b - 1.0).abs() <= 0.1;
        (
            is_near(one[0], one[1]) && is_near(all[0], 1.0),
            format!(
                "For one attribute columns are {:.1} times as fast, where rows read {:.1} times as \
                 many bytes; for all, {:.2} times.",
                one[0], one[1], all[0]
            ),
        )
    };
    Claim::replicated(
        "Columns are N times as fast for an Nth of the bytes, which converges to 1 as all attributes \
         are selected (tolerance: 10 %, for one attribute and for all)",
        of(&measured.document),
        of(&measured.freestone),
    )
}

fn grows(measured: &Measured) -> Claim {
    let of = |curves: &[Curve]| {
        let (rows, columns) = pair(curves);
        let (one, many) = (columns.compute(1), columns.compute(columns.attributes()));
        let (row_mean, column_mean) = (rows.mean_compute(), columns.mean_compute());
        (
            many > one && column_mean <= 1.1 * row_mean,
            format!(
                "Pipelined columns take {} of CPU per tuple for one attribute and {} for all; on \
                 average {}, rows {}.",
                nanoseconds(one),
                nanoseconds(many),
                nanoseconds(column_mean),
                nanoseconds(row_mean)
            ),
        )
    };
    Claim::replicated(
        "Columns need more CPU for each attribute, and on average slightly less than rows (here: \
         at most 10 % more)",
        of(&measured.document),
        of(&measured.freestone),
    )
}

fn strings(measured: &Measured) -> Claim {
    let of = |curves: &[Curve]| {
        let (_, columns) = pair(curves);
        let added = |attribute: usize| columns.compute(attribute + 1) - columns.compute(attribute);
        let mean = |range: std::ops::Range<usize>| {
            let count = range.len() as f64;
            range.map(added).sum::<f64>() / count
        };
        let texts = mean(TEXTS);
        let integers = mean(TEXTS.end..columns.attributes());
        (
            texts > 1.5 * integers,
            format!(
                "Each of the three texts adds {} per tuple, each of the five integers after them \
                 {}.",
                nanoseconds(texts),
                nanoseconds(integers)
            ),
        )
    };
    Claim::replicated(
        "The long texts, attributes 9 to 11, add much more CPU time than the integers after \
         them (here: at least 1.5 times as much each)",
        of(&measured.document),
        of(&measured.freestone),
    )
}
