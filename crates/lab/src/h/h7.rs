//! Figure 7: attributes of LINEITEM at 0.1 % selectivity, beside 10 and 50 %.

use super::disks::Conditions;
use super::setup::{Bench, measure_at, nanoseconds, need, percent, rows};
use super::sweep::{Curve, compute_plot, plot};
use super::tables::TableName;
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;

const TABLE: TableName = TableName::Lineitem;
/// That of the figure, that of figure 6, and one on the way to all tuples.
const SHARES: [f64; 3] = [0.001, 0.1, 0.5];

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    id: "h7",
    source: "H, figure 7",
    title: "Rows and columns of LINEITEM, 0.1 % selectivity",
    need: |setting| need(TABLE, tuples(setting), 2),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, TABLE, 1 << 18, 2)
}

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new();
    let count = tuples(setting);
    let measured = measure_at(setting, TABLE, count, &SHARES)?;
    let [few, some, _] = measured.as_slice() else {
        return Ok(Outcome::default());
    };
    let places = few[1].places();
    let mut plots = vec![plot(
        "LINEITEM, 0.1 % selectivity: elapsed and CPU time",
        "bytes of selected attributes per tuple",
        &places,
        few,
        &bench.disks,
    )];
    for (share, curves) in SHARES.iter().zip(&measured) {
        let title = format!("LINEITEM, {} % selectivity: CPU time", 100.0 * share);
        plots.push(compute_plot(&title, curves));
    }
    Ok(Outcome {
        setup: bench.describe(count, setting) + ". Figure 6 is of 10 %; 50 % shows the way to all.",
        plots,
        tables: Vec::new(),
        claims: vec![
            same_disks(few, some, &bench),
            negligible(few, some),
            rows_examine_all(&few[0], &some[0]),
            strings(&few[1]),
            grows(&measured),
            moves_left(&measured),
            single(&measured),
        ],
    })
}

fn same_disks(few: &[Curve], some: &[Curve], bench: &Bench) -> Claim {
    let at =
        |curve: &Curve, attributes| curve.elapsed(&bench.disks, attributes, Conditions::default());
    let apart = few.iter().zip(some).flat_map(|(few, some)| {
        (1..=few.attributes()).map(move |k| (at(few, k) / at(some, k) - 1.0).abs())
    });
    let most = apart.fold(0.0, f64::max);
    Claim::tested(
        "A more selective filter does not change the time of I/O (tolerance: 2 %)",
        most < 0.02,
        format!(
            "Elapsed times at 0.1 and 10 % differ by at most {:.1} %.",
            100.0 * most
        ),
    )
}

/// CPU time per tuple that attributes after the first add.
fn added(curve: &Curve) -> f64 {
    curve.compute(curve.attributes()) - curve.compute(1)
}

fn negligible(few: &[Curve], some: &[Curve]) -> Claim {
    let (columns, single) = (&few[1], &few[2]);
    let share = added(columns) / columns.compute(1);
    Claim::tested(
        "At 0.1 % selectivity, further attributes add negligible CPU time to columns (here: all \
         15 of them less than half of what the first takes, and less than a quarter of what \
         they add at 10 %)",
        share < 0.5 && added(columns) < 0.25 * added(&some[1]),
        format!(
            "Pipelined columns take {} per tuple for the first attribute; 15 more add {} ({}), \
             at 10 % selectivity {}. A node is called for each 1,024 tuples, of which about one \
             is left: it costs {:.0} ns each time. The single iterator, which reads them only \
             when a batch or block is full of tuples that qualify, takes {} for the first, and 15 more add {}.",
            nanoseconds(columns.compute(1)),
            nanoseconds(added(columns)),
            percent(share),
            nanoseconds(added(&some[1])),
            1e9 * 1024.0 * added(columns) / 15.0,
            nanoseconds(single.compute(1)),
            nanoseconds(added(single)),
        ),
    )
}

fn rows_examine_all(few: &Curve, some: &Curve) -> Claim {
    let last = few.attributes();
    let (all_few, all_some) = (few.compute(last), some.compute(last));
    let says = "Rows need as much CPU time as at 10 %, since they examine each tuple anyway and \
                wait for memory (tolerance: 25 %, for all attributes)";
    Claim::tested(
        says,
        (all_few / all_some - 1.0).abs() < 0.25,
        format!(
            "Rows take {} per tuple for all attributes at 0.1 %, {} at 10 %; for one attribute \
             {} and {}. What differs is making the tuples that qualify.",
            nanoseconds(all_few),
            nanoseconds(all_some),
            nanoseconds(few.compute(1)),
            nanoseconds(some.compute(1)),
        ),
    )
}

fn strings(few: &Curve) -> Claim {
    let each = (few.compute(11) - few.compute(8)) / 3.0;
    Claim::tested(
        "The memory delay of long texts is no issue at 0.1 %: they cost much less than the \
         predicate on the first attribute (here: each of them less than a third)",
        each < few.compute(1) / 3.0,
        format!(
            "Attributes 9 to 11 add {} each per tuple, as others do ({}); the first takes {}.",
            nanoseconds(each),
            nanoseconds(added(few) / 15.0),
            nanoseconds(few.compute(1))
        ),
    )
}

/// From how many attributes on columns take more CPU time than rows.
fn crosses_at(curves: &[Curve]) -> Option<usize> {
    let (rows, columns) = (&curves[0], &curves[1]);
    (1..=rows.attributes()).find(|k| columns.compute(*k) > rows.compute(*k))
}

fn grows(measured: &[Vec<Curve>]) -> Claim {
    let each: Vec<f64> = measured
        .iter()
        .map(|curves| added(&curves[1]) / 15.0)
        .collect();
    let shown: Vec<String> = each.iter().map(|seconds| nanoseconds(*seconds)).collect();
    Claim::tested(
        "The more tuples qualify, the more CPU time each further pipelined column costs",
        each.is_sorted(),
        format!(
            "At 0.1, 10 and 50 % each further attribute adds {} per tuple.",
            shown.join(", ")
        ),
    )
}

fn moves_left(measured: &[Vec<Curve>]) -> Claim {
    // No crossing is one beyond the last attribute.
    let crossings = measured.iter().map(|curves| crosses_at(curves));
    let crossings: Vec<Option<usize>> = crossings.collect();
    let places: Vec<usize> = crossings
        .iter()
        .map(|crossing| crossing.unwrap_or(usize::MAX))
        .collect();
    let moves = places.windows(2).all(|pair| pair[0] >= pair[1]) && places[0] > places[2];
    let shown: Vec<String> = crossings
        .iter()
        .map(|crossing| crossing.map_or("never".to_owned(), |k| format!("from {k} on")))
        .collect();
    let ratios = measured.iter().map(|curves| {
        let all = curves[0].attributes();
        format!("{:.2}", curves[1].compute(all) / curves[0].compute(all))
    });
    let ratios: Vec<String> = ratios.collect();
    Claim::tested(
        "With more tuples that qualify, the number of attributes from which on columns need more \
         CPU time than rows moves to the left",
        moves,
        format!(
            "At 0.1, 10 and 50 % pipelined columns need more CPU time than rows: {}. For all \
             attributes they take {} times that of rows, which gather each column out of tuples.",
            shown.join(", "),
            ratios.join(", "),
        ),
    )
}

fn single(measured: &[Vec<Curve>]) -> Claim {
    let ratio = |curves: &Vec<Curve>| curves[1].mean_compute() / curves[2].mean_compute();
    let ratios: Vec<f64> = measured.iter().map(ratio).collect();
    let shown: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    Claim::tested(
        "A scanner with a single iterator over all columns, which the document proposes and does \
         not measure, saves CPU time where many tuples qualify (here: at 50 %)",
        ratios.last().is_some_and(|ratio| *ratio > 1.0),
        format!(
            "On average over all numbers of attributes, the pipeline takes {} times the CPU time \
             of the single iterator at 0.1, 10 and 50 %.",
            shown.join(", ")
        ),
    )
}
