//! Figure 8: attributes of ORDERS, whose tuples are narrow, at 10 % selectivity.

use super::claims::bound_by_disks;
use super::disks::Conditions;
use super::setup::{Bench, measure_at, nanoseconds, need, rows};
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
    need: |setting| need(TABLE, tuples(setting), 2),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, TABLE, 1 << 20, 2)
}

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new();
    let count = tuples(setting);
    let measured = measure_at(setting, TABLE, count, &[0.1, 0.001])?;
    let [curves, few] = measured.as_slice() else {
        return Ok(Outcome::default());
    };
    let places = curves[1].places();
    let title = "ORDERS, 10 % selectivity: elapsed and CPU time";
    let label = "bytes of selected attributes per tuple";
    Ok(Outcome {
        setup: bench.describe(count, setting) + ".",
        plots: vec![
            plot(title, label, &places, curves, &bench.disks),
            compute_plot("ORDERS, 10 % selectivity: CPU time", curves),
            compute_plot("ORDERS, 0.1 % selectivity: CPU time", few),
        ],
        tables: Vec::new(),
        claims: vec![
            bound_by_disks(curves, &bench),
            as_before(curves, &bench),
            memory_keeps_up(curves, &bench),
            in_memory(curves),
            in_memory_few(few),
            Claim::untested(
                "System time is a smaller share of CPU time than for LINEITEM",
                "The scans read blocks in memory, so that no system time arises.",
            ),
        ],
    })
}

fn as_before(curves: &[Curve], bench: &Bench) -> Claim {
    let usual = Conditions::default();
    let found = crossover(&curves[0], &curves[1], &bench.disks, usual);
    let at = |curve: &Curve, k| curve.elapsed(&bench.disks, k, usual);
    let all = curves[1].attributes();
    let one = at(&curves[0], 1) / at(&curves[1], 1);
    Claim::tested(
        "Elapsed times behave as for LINEITEM: columns win until most of the tuple's bytes are \
         selected (here: lines cross above 70 %)",
        one > 1.0 && found.is_none_or(|share| share > 0.7),
        format!(
            "For one attribute columns are {one:.1} times as fast as rows, for all {:.2} times; \
             the lines cross at {}.",
            at(&curves[0], all) / at(&curves[1], all),
            found.map_or_else(
                || "no number of attributes".to_owned(),
                |share| format!("{:.0} % of the bytes", 100.0 * share)
            ),
        ),
    )
}

fn memory_keeps_up(curves: &[Curve], bench: &Bench) -> Claim {
    let bandwidth = freestone_calibrate::bandwidth();
    let share = |curve: &Curve| {
        let all = curve.attributes();
        let bytes: f64 = curve.reading(all, 0.0).bytes();
        bytes / bandwidth / curve.compute(all)
    };
    let shares = [share(&curves[0]), share(&curves[1])];
    Claim::tested(
        "Memory delivers narrow tuples faster than the CPU can process them",
        shares.iter().all(|share| *share < 1.0),
        format!(
            "Read in sequence, memory delivers {:.1} GB/s, {:.2} bytes per cycle; to deliver all \
             attributes it needs {:.0} % of the CPU time of rows, {:.0} % of that of pipelined \
             columns.",
            bandwidth / 1e9,
            bandwidth / bench.clock,
            100.0 * shares[0],
            100.0 * shares[1],
        ),
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

fn in_memory(curves: &[Curve]) -> Claim {
    let (rows, columns, single) = (&curves[0], &curves[1], &curves[2]);
    let pipelined = ratios(rows, columns);
    let holds = pipelined.iter().all(|ratio| *ratio > 1.0);
    let why = match holds {
        true => "",
        false => {
            " The document's scanners take a value at a time out of pages; Freestone's test \
             1,024 or more values of a column at once, which lie side by side in columns and \
             apart in rows."
        }
    };
    Claim::tested(
        "In memory, columns would be worse than rows for any number of attributes",
        holds,
        format!(
            "For 1 to 7 attributes pipelined columns take {} times the CPU time of rows (which \
             take {} per tuple for one attribute), the single iterator {} times.{why}",
            shown(&pipelined),
            nanoseconds(rows.compute(1)),
            shown(&ratios(rows, single)),
        ),
    )
}

fn in_memory_few(few: &[Curve]) -> Claim {
    let ratios = ratios(&few[0], &few[1]);
    Claim::tested(
        "In memory and at 0.1 % selectivity both would perform similarly (here: within a factor \
         of 1.5)",
        ratios.iter().all(|ratio| (1.0 / 1.5..1.5).contains(ratio)),
        format!(
            "For 1 to 7 attributes pipelined columns take {} times the CPU time of rows.",
            shown(&ratios)
        ),
    )
}
