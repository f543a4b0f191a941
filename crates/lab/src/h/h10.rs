//! Figure 10: ORDERS with other prefetch depths.

use super::disks::Conditions;
use super::setup::{Bench, measure_freestone, need, repetitions, rows};
use super::sweep::Curve;
use super::tables::TableName;
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Axis, Claim, Outcome, Plot, Series};
use crate::setting::Setting;

const TABLE: TableName = TableName::Orders;
/// Prefetch depths in the order of the figure's legend.
const DEPTHS: [u64; 5] = [2, 4, 8, 16, 48];

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    id: "h10",
    source: "H, figure 10",
    title: "Prefetch depth, ORDERS",
    need: |setting| need(TABLE, tuples(setting), 2).measured(repetitions(setting)),
    run,
};

fn tuples(setting: &Setting) -> u64 {
    rows(setting, TABLE, 1 << 20, 2)
}

fn at_depth(depth: u64) -> Conditions {
    Conditions {
        depth,
        ..Conditions::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new();
    let count = tuples(setting);
    let curves = measure_freestone(setting, TABLE, count)?;
    let places = curves[1].places();
    let mut series = Vec::new();
    for curve in &curves[..2] {
        for depth in DEPTHS {
            let one = curve.elapsed_series(&bench.disks, &places, at_depth(depth));
            series.push(Series {
                name: format!("{}, depth {depth}", one.name),
                ..one
            });
        }
    }
    Ok(Outcome {
        setup: bench.describe(count, setting, false) + ".",
        plots: vec![Plot {
            title: "ORDERS, 10 % selectivity: elapsed time by prefetch depth".to_owned(),
            x: Axis {
                label: "bytes of selected attributes per tuple".to_owned(),
                ..Axis::default()
            },
            y: Axis {
                label: "seconds of virtual time for 60 million tuples".to_owned(),
                ..Axis::default()
            },
            series,
        }],
        tables: Vec::new(),
        claims: vec![
            rows_do_not_care(&curves[0], &bench),
            columns_do(&curves[1], &bench),
            aggressive(&curves, &bench),
        ],
    })
}

/// Elapsed time for all attributes at each depth.
fn times(curve: &Curve, bench: &Bench) -> Vec<f64> {
    let all = curve.attributes();
    let time = |depth| curve.elapsed(&bench.disks, all, at_depth(depth));
    DEPTHS.map(time).to_vec()
}

fn shown(times: &[f64]) -> String {
    let times: Vec<String> = times.iter().map(|time| format!("{time:.1}")).collect();
    times.join(", ")
}

fn rows_do_not_care(rows: &Curve, bench: &Bench) -> Claim {
    let times = times(rows, bench);
    let most = times.iter().copied().fold(0.0, f64::max);
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    Claim::tested(
        "With one scan in the system, prefetch depth does not affect rows (tolerance: 2 %)",
        most / least < 1.02,
        format!(
            "Rows take {} s at depths 2, 4, 8, 16 and 48.",
            shown(&times)
        ),
    )
}

fn columns_do(columns: &Curve, bench: &Bench) -> Claim {
    let times = times(columns, bench);
    Claim::tested(
        "Columns are slower the less is prefetched, since disks seek between them (here: by at \
         least 10 % from each depth to the one below)",
        times.windows(2).all(|pair| pair[0] > 1.1 * pair[1]),
        format!(
            "For all attributes columns take {} s at depths 2, 4, 8, 16 and 48; for one, which \
             is read in sequence, {:.1} s at depth 2.",
            shown(&times),
            columns.elapsed(&bench.disks, 1, at_depth(2)),
        ),
    )
}

fn aggressive(curves: &[Curve], bench: &Bench) -> Claim {
    let wins = |depth| {
        let faster = |k: &usize| {
            let time = |curve: &Curve| curve.elapsed(&bench.disks, *k, at_depth(depth));
            time(&curves[1]) < time(&curves[0])
        };
        (1..=curves[0].attributes()).filter(faster).count()
    };
    let counts = DEPTHS.map(wins);
    let shown: Vec<String> = counts.iter().map(ToString::to_string).collect();
    Claim::tested(
        "It makes sense for columns to prefetch aggressively: with depth 48 they win for more \
         numbers of attributes than with depth 2",
        counts[4] > counts[0],
        format!(
            "Columns are faster than rows for {} of 7 numbers of attributes at depths 2, 4, 8, \
             16 and 48.",
            shown.join(", ")
        ),
    )
}
