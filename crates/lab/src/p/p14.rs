//! P, figure 14: PAX and NSM on the caches of three machines.

use super::bench::{Bench, OF_THE_MODEL, ROWS, need};
use super::plots::listed;
use super::selection::Selection;
use super::table::Model;
use super::tpch;
use crate::cache::{CacheMachine, here};
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::measure::{in_turns, percent, ratio};
use crate::outcome::{Axis, Claim, Outcome, Plot, Point, Series};
use crate::setting::Setting;

/// Figure 14.
pub static EXPERIMENT: Experiment = Experiment {
    id: "p14",
    source: "P, figure 14",
    title: "PAX beside NSM on the caches of three machines",
    need: |setting| Need {
        disk: (2e9 * SCALE) as u64,
        ..need(setting)
    },
    run,
};

/// Of TPC-H.
const SCALE: f64 = 0.05;

/// Range selections: their projected attributes, and the share that qualifies.
const SELECTIONS: [(usize, f64); 4] = [(1, 0.02), (1, 0.1), (2, 0.1), (4, 0.1)];

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new(ROWS, 8, setting.seed)?;
    let selections = SELECTIONS.map(|(projected, share)| {
        let projected: Vec<usize> = (0..projected).collect();
        Selection::new(&projected, &[7], share)
    });
    let machines = [
        CacheMachine::pentium(),
        CacheMachine::ultra_sparc(),
        CacheMachine::alpha(),
        here(),
    ];
    let saved: Vec<Vec<f64>> = machines
        .iter()
        .map(|machine| {
            let selections = selections.iter();
            let saved = selections.map(|selection| saved(&bench, selection, machine));
            saved.collect()
        })
        .collect();
    let times = selections.iter().map(|selection| {
        let times = in_turns(setting.repetitions(), &[Model::Nsm, Model::Pax], |model| {
            bench.nanoseconds(*model, selection)
        })?;
        Ok(1.0 - 1.0 / ratio(&times[0], &times[1]))
    });
    let times = times.collect::<Result<Vec<f64>>>()?;
    let of_queries = tpch::speed_ups(setting, &[SCALE])?;
    let of_queries = of_queries.as_deref().and_then(<[Vec<f64>]>::first);
    let of_queries: Option<Vec<f64>> = of_queries.map(|found| {
        let saved = found.iter().map(|speed_up| 1.0 - 1.0 / (1.0 + speed_up));
        saved.collect()
    });
    let names: Vec<String> = machines.iter().map(CacheMachine::described).collect();
    Ok(Outcome {
        setup: format!(
            "R of {} records as in figure 7; range selections of one, two and four attributes, \
             2 or 10 % of the records qualify. {OF_THE_MODEL} Caches: {}. Time was measured on \
             this machine only, that of TPC-H's queries as in figure 12, at scale factor {SCALE}.",
            bench.rows(),
            names.join("; ")
        ),
        plots: vec![plot(&machines, &saved)],
        tables: Vec::new(),
        claims: claims(&saved, &times, of_queries.as_deref()),
    })
}

fn of_queries(saved: Option<&[f64]>) -> Claim {
    let says = "TPC-H queries 1, 6, 12 and 14 take 8 to 40 % less time with PAX on all machines.";
    let Some(saved) = saved else {
        let why = "It needs SQL, which whoever ran the lab has not given it.";
        return Claim::untested(says, why);
    };
    Claim::tested(
        says,
        saved.iter().all(|saved| *saved >= 0.08),
        format!(
            "On this machine, counted as 8 % at least: {} less. The others are not at hand.",
            listed(saved)
        ),
    )
}

/// By how much PAX's rate of misses of the furthest cache is below NSM's.
fn saved(bench: &Bench, selection: &Selection, machine: &CacheMachine) -> f64 {
    let [nsm, pax] = [Model::Nsm, Model::Pax].map(|model| bench.misses(model, selection, machine));
    1.0 - pax.second / nsm.second
}

fn plot(machines: &[CacheMachine], saved: &[Vec<f64>]) -> Plot {
    let series = SELECTIONS.iter().enumerate().map(|(number, selection)| {
        let points = saved.iter().zip(0..);
        Series {
            name: format!("{} attributes, {}", selection.0, percent(selection.1)),
            points: points
                .map(|(saved, place)| Point::exact(f64::from(place), 100.0 * saved[number]))
                .collect(),
        }
    });
    Plot {
        title: "Misses of the furthest cache that PAX saves".into(),
        x: Axis {
            names: machines
                .iter()
                .map(|machine| machine.name.clone())
                .collect(),
            ..Axis::default()
        },
        y: Axis {
            label: "percent of NSM's".into(),
            ..Axis::default()
        },
        series: series.collect(),
    }
}

/// `times` are shares of NSM's time that PAX saves for range selections, `queries` for
/// TPC-H's, which need SQL.
fn claims(saved: &[Vec<f64>], times: &[f64], queries: Option<&[f64]>) -> Vec<Claim> {
    let [xeon, sparc, alpha, ours] = saved else {
        return Vec::new();
    };
    let more = |machine: &[f64]| machine.iter().zip(xeon).all(|(saved, xeon)| saved > xeon);
    vec![
        Claim::tested(
            "In scans PAX saves more misses where lines are longer: more on UltraSparc and Alpha \
             (64 bytes) than on the Xeon (32).",
            more(sparc) && more(alpha),
            format!(
                "Shares of NSM's misses that PAX saves, by selection: Xeon {}; UltraSparc {}; \
                 Alpha {}; here {}. Records of R have 65 bytes: with lines of 64 NSM still \
                 misses one for each, and has further attributes of the record with it.",
                listed(xeon),
                listed(sparc),
                listed(alpha),
                listed(ours)
            ),
        ),
        Claim::tested(
            "Range selections take 3 to 15 % less time with PAX on all machines.",
            times.iter().all(|saved| *saved >= 0.03),
            format!(
                "On this machine, counted as 3 % at least: {} less. The others are not at hand.",
                listed(times)
            ),
        ),
        of_queries(queries),
    ]
}
