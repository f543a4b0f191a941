//! Figure 8: attributes of ORDERS, whose tuples are narrow, at 10 % selectivity.

use super::claims::{bound_by_disks, pair};
use super::disks::Conditions;
use super::setup::{Bench, Measured, measure, nanoseconds, need, repetitions, rows};
use super::sweep::{Curve, compute_plot, crossover, plot};
use super::tables::TableName;
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;

const TABLE: TableName = TableName::Orders;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    id: "h8",
    source: "H, figure 8",
    title: "Rows and columns of ORDERS, 10 % selectivity",
    need: |setting| need(TABLE, tuples(setting), 4).measured(repetitions(setting)),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, TABLE, 1 << 20, 4)
}

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new();
    let count = tuples(setting);
    let measured = measure(setting, TABLE, count, &[0.1, 0.001])?;
    let [some, few] = measured.as_slice() else {
        return Ok(Outcome::default());
    };
    let places = some.document[1].places();
    let title = "ORDERS, 10 % selectivity: elapsed and CPU time";
    let label = "bytes of selected attributes per tuple";
    Ok(Outcome {
        setup: bench.describe(count, setting, true) + ".",
        plots: vec![
            plot(title, label, &places, &some.all(), &bench.disks),
            compute_plot("ORDERS, 10 % selectivity: CPU time", &some.all()),
            compute_plot("ORDERS, 0.1 % selectivity: CPU time", &few.all()),
        ],
        tables: Vec::new(),
        claims: vec![
            bound_by_disks(some, &bench),
            as_before(some, &bench),
            memory_keeps_up(some, &bench),
            in_memory(some),
            in_memory_few(few),
        ],
    })
}

fn as_before(measured: &Measured, bench: &Bench) -> Claim {
    let usual = Conditions::default();
    let of = |curves: &[Curve]| {
        let (rows, columns) = pair(curves);
        let found = crossover(rows, columns, &bench.disks, usual, &columns.places());
        let at = |curve: &Curve, k| curve.elapsed(&bench.disks, k, usual);
        let all = columns.attributes();
        let one = at(rows, 1) / at(columns, 1);
        (
            one > 1.0 && found.is_none_or(|share| share > 0.7),
            format!(
                "For one attribute columns are {one:.1} times as fast as rows, for all {:.2} \
                 times; the lines cross at {}.",
                at(rows, all) / at(columns, all),
                found.map_or_else(
                    || "no number of attributes".to_owned(),
                    |share| format!("{:.0} % of the bytes", 100.0 * share)
                ),
            ),
        )
    };
    Claim::replicated(
        "Elapsed times behave as for LINEITEM: columns win until most of the tuple's bytes are \
         selected (here: lines cross above 70 %)",
        of(&measured.document),
        of(&measured.freestone),
    )
}

fn memory_keeps_up(measured: &Measured, bench: &Bench) -> Claim {
    let bandwidth = freestone_calibrate::bandwidth();
    let of = |curves: &[Curve]| {
        let share = |curve: &Curve| {
            let all = curve.attributes();
            let bytes: f64 = curve.reading(all, 0.0).bytes();
            bytes / bandwidth / curve.compute(all)
        };
        let (rows, columns) = pair(curves);
        let shares = [share(rows), share(columns)];
        (
            shares.iter().all(|share| *share < 1.0),
            format!(
                "Read in sequence, memory delivers {:.1} GB/s, {:.2} bytes per cycle; to deliver \
                 all attributes it needs {:.0} % of the CPU time of rows, {:.0} % of that of \
                 pipelined columns.",
                bandwidth / 1e9,
                bandwidth / bench.clock,
                100.0 * shares[0],
                100.0 * shares[1],
            ),
        )
    };
    Claim::replicated(
        "Memory delivers narrow tuples faster than the CPU can process them",
        of(&measured.document),
        of(&measured.freestone),
    )
}

/// CPU time of columns as a multiple of that of rows, for each number of attributes.
fn ratios(rows: &Curve, columns: &Curve) -> Vec<f64> {
    let all = 1..=rows.attributes();
    all.map(|k| columns.compute(k) / rows.compute(k)).collect()
}

fn shown(ratios: &[f64]) -> String {
    let all: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    all.join(", ")
}

fn in_memory(measured: &Measured) -> Claim {
    let of = |curves: &[Curve]| {
        let (rows, columns) = pair(curves);
        let pipelined = ratios(rows, columns);
        (
            pipelined.iter().all(|ratio| *ratio > 1.0),
            format!(
                "For 1 to 7 attributes pipelined columns take {} times the CPU time of rows, \
                 which take {} per tuple for one attribute, {} for all.",
                shown(&pipelined),
                nanoseconds(rows.compute(1)),
                nanoseconds(rows.compute(rows.attributes())),
            ),
        )
    };
    let (holds, mut freestone) = of(&measured.freestone);
    freestone += &format!(
        " It tests 1,024 or more values of a column at once, which lie side by side in columns \
         and apart in rows. Its single iterator takes {} times.",
        shown(&ratios(&measured.freestone[0], &measured.freestone[2])),
    );
    Claim::replicated(
        "In memory, columns would be worse than rows for any number of attributes",
        of(&measured.document),
        (holds, freestone),
    )
}

fn in_memory_few(few: &Measured) -> Claim {
    let of = |curves: &[Curve]| {
        let (rows, columns) = pair(curves);
        let ratios = ratios(rows, columns);
        (
            ratios.iter().all(|ratio| (1.0 / 1.5..1.5).contains(ratio)),
            format!(
                "For 1 to 7 attributes pipelined columns take {} times the CPU time of rows: {} per \
                 tuple for the attribute of the predicate alone, where rows take {}. Next to nothing \
                 else is read; what differs is what testing one value costs, and rows do not wait \
                 for memory, which is fetched ahead.",
                shown(&ratios),
                nanoseconds(columns.compute(1)),
                nanoseconds(rows.compute(1)),
            ),
        )
    };
    Claim::replicated(
        "In memory and at 0.1 % selectivity both would perform similarly (here: within a factor \
         of 1.5)",
        of(&few.document),
        of(&few.freestone),
    )
}
