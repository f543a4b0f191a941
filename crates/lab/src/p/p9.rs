//! P, figure 9: how sensitive NSM and PAX are to selectivity.

use super::bench::{Bench, Misses, OF_THE_MODEL, ROWS, SECOND_PENALTY, need};
use super::places::Places;
use super::plots::{listed, plot, series};
use super::selection::Selection;
use super::table::Model;
use crate::cache::{CacheMachine, here};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::measure::{in_turns, ratio};
use crate::outcome::{Claim, Outcome, Plot, Point};
use crate::setting::Setting;

/// Figure 9.
pub static EXPERIMENT: Experiment = Experiment {
    id: "p9",
    source: "P, figure 9",
    title: "Stalls and time by selectivity",
    need,
    run,
};

const SELECTIVITIES: [f64; 7] = [0.1, 1.0, 5.0, 20.0, 50.0, 80.0, 100.0];
const MODELS: [Model; 2] = [Model::Nsm, Model::Pax];

fn run(setting: &Setting) -> Result<Outcome> {
    let bench = Bench::new(ROWS, 8, setting.seed)?;
    let selections = SELECTIVITIES.map(|percent| Selection::apart(percent / 100.0));
    let machines = [CacheMachine::pentium(), here()];
    let misses = |machine: &CacheMachine| {
        MODELS.map(|model| {
            let points = selections.iter();
            let points = points.map(|selection| bench.misses(model, selection, machine));
            points.collect::<Vec<Misses>>()
        })
    };
    let (paper, ours) = (misses(&machines[0]), misses(&machines[1]));
    let places = Places::tagged(&bench.relation);
    let of_records = selections
        .iter()
        .map(|selection| bench.misses_at(&places, selection, &machines[0]));
    let of_records: Vec<Misses> = of_records.collect();
    let times = selections.iter().map(|selection| {
        in_turns(setting.repetitions(), &MODELS, |model| {
            bench.nanoseconds(*model, selection)
        })
    });
    let times = times.collect::<Result<Vec<Vec<Vec<f64>>>>>()?;
    let stalls = |model: usize, place: usize| {
        Point::exact(
            SELECTIVITIES[place],
            SECOND_PENALTY * paper[model][place].second,
        )
    };
    let counted =
        |model: usize, place: usize| Point::exact(SELECTIVITIES[place], ours[model][place].second);
    let measured =
        |model: usize, place: usize| Point::of(SELECTIVITIES[place], &times[place][model]);
    Ok(Outcome {
        setup: format!(
            "R of {} records as in figure 7: one attribute projected, another in the predicate, \
             more than a line apart. As in the document: records with a tag of 12 bytes. {OF_THE_MODEL} Caches: {}; {}. Times: Freestone's scans, one \
             thread, processor time, {} repetitions in turns.",
            bench.rows(),
            machines[0].described(),
            machines[1].described(),
            setting.repetitions(),
        ),
        plots: vec![
            drawn(
                "Stalls at the paper's penalty",
                "cycles per record",
                &stalls,
            ),
            drawn(
                "Misses of the second cache here",
                "misses per record",
                &counted,
            ),
            drawn("Time", "nanoseconds per record", &measured),
        ],
        tables: Vec::new(),
        claims: claims(&paper, &of_records, &times),
    })
}

fn drawn(title: &str, y: &str, point: &dyn Fn(usize, usize) -> Point) -> Plot {
    let curves = MODELS.iter().enumerate().map(|(model, name)| {
        let places = 0..SELECTIVITIES.len();
        series(name.to_string(), places.map(|place| point(model, place)))
    });
    plot(title, "selectivity (%)", y, curves.collect())
}

fn claims(misses: &[Vec<Misses>; 2], of_records: &[Misses], times: &[Vec<Vec<f64>>]) -> Vec<Claim> {
    let last = SELECTIVITIES.len() - 1;
    let more = |model: usize, from: usize, to: usize| {
        misses[model][to].second - misses[model][from].second
    };
    // Of each further percent that qualifies: from 1 to 20, and from 50 to 100.
    let slope =
        |from: usize, to: usize| more(1, from, to) / (SELECTIVITIES[to] - SELECTIVITIES[from]);
    let (early, late) = (slope(1, 3), slope(4, last));
    let (nsm, pax) = (more(0, 0, last), more(1, 0, last));
    let documents = of_records[last].second - of_records[0].second;
    let one_more = |more: f64| (0.8..=1.5).contains(&more);
    let ratios = times.iter().map(|point| ratio(&point[0], &point[1]));
    let ratios: Vec<f64> = ratios.collect();
    vec![
        Claim::replicated(
            "With NSM each record that qualifies costs one more miss.",
            (
                one_more(documents),
                format!(
                    "Counted as 0.8 to 1.5, between a selectivity of 0.1 and of 100 %: \
                     {documents:.2} more misses a record."
                ),
            ),
            (
                one_more(nsm),
                format!(
                    "{nsm:.2}. Records of Freestone have 65 bytes: for one in five the line of \
                     the projected value is that of the next record's predicate, too."
                ),
            ),
        ),
        Claim::tested(
            "PAX is insensitive to selectivity beside NSM.",
            pax < nsm / 3.0,
            format!(
                "Counted as less than a third of NSM's increase: {pax:.2} more misses a record \
                 beside {nsm:.2}. It does increase: a second minipage is read in the end."
            ),
        ),
        Claim::tested(
            "PAX's further misses come at a decreasing rate as more records qualify.",
            late < early / 2.0,
            format!(
                "A further percent that qualifies costs {:.4} misses a record between 1 and \
                 20 %, {:.4} between 50 and 100 %; NSM {:.4} and {:.4}.",
                early,
                late,
                more(0, 1, 3) / (SELECTIVITIES[3] - SELECTIVITIES[1]),
                more(0, 4, last) / (SELECTIVITIES[last] - SELECTIVITIES[4]),
            ),
        ),
        Claim::tested(
            "PAX is faster than NSM at every selectivity.",
            ratios.iter().all(|ratio| *ratio > 1.0),
            format!(
                "NSM takes {} times as long, from 0.1 to 100 %.",
                listed(&ratios)
            ),
        ),
    ]
}
