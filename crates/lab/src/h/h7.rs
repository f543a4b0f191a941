//! Figure 7: attributes of LINEITEM at 0.1 % selectivity, beside 10 and 50 %.

use super::claims::pair;
use super::disks::Conditions;
use super::setup::{Bench, Measured, measure, nanoseconds, need, percent, repetitions, rows};
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
    need: |setting| need(TABLE, tuples(setting), 4).measured(repetitions(setting)),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, TABLE, 1 << 19, 4)
}

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new();
    let count = tuples(setting);
    let measured = measure(setting, TABLE, count, &SHARES)?;
    let [few, some, _] = measured.as_slice() else {
        return Ok(Outcome::default());
    };
    let mut plots = vec![plot(
        "LINEITEM, 0.1 % selectivity: elapsed and CPU time",
        "bytes of selected attributes per tuple",
        &few.document[1].places(),
        &few.all(),
        &bench.disks,
    )];
    for (share, measured) in SHARES.iter().zip(&measured) {
        let title = format!("LINEITEM, {} % selectivity: CPU time", 100.0 * share);
        plots.push(compute_plot(&title, &measured.all()));
    }
    Ok(Outcome {
        setup: bench.describe(count, setting, true)
            + ". Figure 6 is of 10 %; 50 % shows the way to all.",
        plots,
        tables: Vec::new(),
        claims: vec![
            same_disks(few, some, &bench),
            negligible(few, some),
            rows_examine_all(few, some),
            strings(few),
            grows(&measured),
            moves_left(&measured),
            single(&measured),
        ],
    })
}

fn same_disks(few: &Measured, some: &Measured, bench: &Bench) -> Claim {
    let at =
        |curve: &Curve, attributes| curve.elapsed(&bench.disks, attributes, Conditions::default());
    let of = |few: &[Curve], some: &[Curve]| {
        let apart = few.iter().zip(some).flat_map(|(few, some)| {
            (1..=few.attributes()).map(move |k| (at(few, k) / at(some, k) - 1.0).abs())
        });
        let most = apart.fold(0.0, f64::max);
        (
            most < 0.02,
            format!(
                "Elapsed times at 0.1 and 10 % differ by at most {:.1} %.",
                100.0 * most
            ),
        )
    };
    Claim::replicated(
        "A more selective filter does not change the time of I/O (tolerance: 2 %)",
        of(&few.document, &some.document),
        of(&few.freestone, &some.freestone),
    )
}

/// CPU time per tuple that attributes after the first add.
fn added(curve: &Curve) -> f64 {
    curve.compute(curve.attributes()) - curve.compute(1)
}

fn negligible(few: &Measured, some: &Measured) -> Claim {
    let of = |few: &[Curve], some: &[Curve]| {
        let (columns, some) = (&few[1], &some[1]);
        let share = added(columns) / columns.compute(1);
        (
            share < 0.5 && added(columns) < 0.25 * added(some),
            format!(
                "Pipelined columns take {} per tuple for the first attribute; 15 more add {} \
                 ({}), at 10 % selectivity {}.",
                nanoseconds(columns.compute(1)),
                nanoseconds(added(columns)),
                percent(share),
                nanoseconds(added(some)),
            ),
        )
    };
    let (holds, mut freestone) = of(&few.freestone, &some.freestone);
    let (columns, single) = (&few.freestone[1], &few.freestone[2]);
    freestone += &format!(
        " A node is called for each 1,024 tuples, of which about one is left: it costs {:.0} ns \
         each time. The single iterator, which reads them only when a batch or block is full of \
         tuples that qualify, takes {} for the first, and 15 more add {}.",
        1e9 * 1024.0 * added(columns) / 15.0,
        nanoseconds(single.compute(1)),
        nanoseconds(added(single)),
    );
    Claim::replicated(
        "At 0.1 % selectivity, further attributes add negligible CPU time to columns (here: all \
         15 of them less than half of what the first takes, and less than a quarter of what \
         they add at 10 %)",
        of(&few.document, &some.document),
        (holds, freestone),
    )
}

fn rows_examine_all(few: &Measured, some: &Measured) -> Claim {
    let of = |few: &Curve, some: &Curve| {
        let last = few.attributes();
        let (all_few, all_some) = (few.compute(last), some.compute(last));
        (
            (all_few / all_some - 1.0).abs() < 0.25,
            format!(
                "Rows take {} per tuple for all attributes at 0.1 %, {} at 10 %; for one \
                 attribute {} and {}. What differs is making the tuples that qualify.",
                nanoseconds(all_few),
                nanoseconds(all_some),
                nanoseconds(few.compute(1)),
                nanoseconds(some.compute(1)),
            ),
        )
    };
    Claim::replicated(
        "Rows need as much CPU time as at 10 %, since they examine each tuple anyway and wait \
         for memory (tolerance: 25 %, for all attributes)",
        of(&few.document[0], &some.document[0]),
        of(&few.freestone[0], &some.freestone[0]),
    )
}

fn strings(few: &Measured) -> Claim {
    let of = |few: &Curve| {
        let each = (few.compute(11) - few.compute(8)) / 3.0;
        (
            each < few.compute(1) / 3.0,
            format!(
                "Attributes 9 to 11 add {} each per tuple, others {}; the first takes {}.",
                nanoseconds(each),
                nanoseconds(added(few) / 15.0),
                nanoseconds(few.compute(1))
            ),
        )
    };
    Claim::replicated(
        "The memory delay of long texts is no issue at 0.1 %: they cost much less than the \
         predicate on the first attribute (here: each of them less than a third)",
        of(&few.document[1]),
        of(&few.freestone[1]),
    )
}

/// From how many attributes on columns take more CPU time than rows.
fn crosses_at(curves: &[Curve]) -> Option<usize> {
    let (rows, columns) = pair(curves);
    (1..=rows.attributes()).find(|k| columns.compute(*k) > rows.compute(*k))
}

fn grows(measured: &[Measured]) -> Claim {
    let of = |curves: fn(&Measured) -> &[Curve]| {
        let each = measured.iter().map(|one| added(&curves(one)[1]) / 15.0);
        let each: Vec<f64> = each.collect();
        let shown: Vec<String> = each.iter().map(|seconds| nanoseconds(*seconds)).collect();
        let shown = shown.join(", ");
        (
            each.is_sorted(),
            format!("At 0.1, 10 and 50 % each further attribute adds {shown} per tuple."),
        )
    };
    Claim::replicated(
        "The more tuples qualify, the more CPU time each further pipelined column costs",
        of(|one| &one.document),
        of(|one| &one.freestone),
    )
}

fn moves_left(measured: &[Measured]) -> Claim {
    let of = |curves: fn(&Measured) -> &[Curve]| {
        let crossings = measured.iter().map(|one| crosses_at(curves(one)));
        let crossings: Vec<Option<usize>> = crossings.collect();
        // No crossing is one beyond the last attribute.
        let places = crossings
            .iter()
            .map(|crossing| crossing.unwrap_or(usize::MAX));
        let places: Vec<usize> = places.collect();
        let moves = places.windows(2).all(|pair| pair[0] >= pair[1]) && places[0] > places[2];
        let shown = crossings
            .iter()
            .map(|crossing| crossing.map_or("never".to_owned(), |k| format!("from {k} on")));
        let shown: Vec<String> = shown.collect();
        let ratios = measured.iter().map(|one| {
            let (rows, columns) = pair(curves(one));
            let all = rows.attributes();
            format!("{:.2}", columns.compute(all) / rows.compute(all))
        });
        let ratios: Vec<String> = ratios.collect();
        (
            moves,
            format!(
                "At 0.1, 10 and 50 % pipelined columns need more CPU time than rows: {}; for all \
                 attributes they take {} times that of rows.",
                shown.join(", "),
                ratios.join(", "),
            ),
        )
    };
    Claim::replicated(
        "With more tuples that qualify, the number of attributes from which on columns need more \
         CPU time than rows moves to the left",
        of(|one| &one.document),
        of(|one| &one.freestone),
    )
}

fn single(measured: &[Measured]) -> Claim {
    let ratio = |one: &Measured| one.freestone[1].mean_compute() / one.freestone[2].mean_compute();
    let ratios: Vec<f64> = measured.iter().map(ratio).collect();
    let shown: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    Claim::tested(
        "A scanner with a single iterator over all columns, which the document proposes and does \
         not measure, saves CPU time where many tuples qualify (here: at 50 %)",
        ratios.last().is_some_and(|ratio| *ratio > 1.0),
        format!(
            "On average over all numbers of attributes, Freestone's pipeline takes {} times the \
             CPU time of its single iterator at 0.1, 10 and 50 %.",
            shown.join(", ")
        ),
    )
}
