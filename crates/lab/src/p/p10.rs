//! P, figure 10: how sensitive NSM and PAX are to the number of attributes of R.

use super::bench::{Bench, Misses, OF_THE_MODEL, ROWS, need};
use super::plots::{listed, plot, series};
use super::replica::Replica;
use super::selection::Selection;
use super::table::Model;
use crate::cache::CacheMachine;
use crate::error::Result;
use crate::experiment::Experiment;
use crate::measure::{in_turns, ratio};
use crate::outcome::{Claim, Outcome, Point};
use crate::setting::Setting;

/// Figure 10.
pub static EXPERIMENT: Experiment = Experiment {
    id: "p10",
    source: "P, figure 10",
    title: "Time of a record by the number of attributes",
    need,
    run,
};

const DEGREES: [usize; 6] = [2, 4, 8, 16, 32, 64];
const MODELS: [Model; 2] = [Model::Nsm, Model::Pax];
const TIMED: [&str; 4] = [
    "NSM, as in the document",
    "PAX, as in the document",
    "NSM",
    "PAX",
];

/// What was measured at one degree: times of NSM and PAX with the document's program, then
/// with Freestone; misses.
struct Found {
    times: Vec<Vec<f64>>,
    misses: [Misses; 2],
}

fn run(setting: &Setting) -> Result<Outcome> {
    let machine = CacheMachine::pentium();
    let bytes = ROWS * 64;
    let found = DEGREES.iter().map(|degree| {
        // As in the paper R keeps its size: twice the attributes, half the records.
        let bench = Bench::new(bytes / (8 * degree), *degree, setting.seed)?;
        let selection = Selection::new(&[0], &[degree - 1], 0.5);
        let replica = Replica::new(&bench.relation, &MODELS)?;
        let variants = [(0, true), (1, true), (0, false), (1, false)];
        let times = in_turns(setting.repetitions(), &variants, |(model, document)| {
            let model = MODELS[*model];
            match document {
                true => bench.nanoseconds_of(|| Ok(replica.ask(model, &selection))),
                false => bench.nanoseconds(model, &selection),
            }
        })?;
        let misses = MODELS.map(|model| bench.misses(model, &selection, &machine));
        Ok(Found { times, misses })
    });
    let found = found.collect::<Result<Vec<Found>>>()?;
    let drawn =
        |title: &str, y: &str, names: &[&str], point: &dyn Fn(f64, &Found, usize) -> Point| {
            let curves = names.iter().enumerate().map(|(model, name)| {
                let points = DEGREES.iter().zip(&found);
                let points = points.map(|(degree, found)| point(*degree as f64, found, model));
                series(*name, points)
            });
            let mut plot = plot(title, "attributes of R", y, curves.collect());
            plot.x.logarithmic = true;
            plot
        };
    let measured = |x, found: &Found, model: usize| Point::of(x, &found.times[model]);
    let counted = |x, found: &Found, model: usize| Point::exact(x, found.misses[model].second);
    Ok(Outcome {
        setup: format!(
            "R of {} MB at every degree, attributes of 8 bytes, pages of 8 KiB; the first \
             attribute averaged, the last in the predicate, 50 % qualify. Times of one thread on \
             the processor, {} repetitions in turns, of the document's program, as in figure 8, \
             and of Freestone. {OF_THE_MODEL} Caches: {}.",
            bytes / 1_000_000,
            setting.repetitions(),
            machine.described(),
        ),
        plots: vec![
            drawn("Time", "nanoseconds per record", &TIMED, &measured),
            drawn(
                "Misses of the second cache",
                "misses per record",
                &["NSM", "PAX"],
                &counted,
            ),
        ],
        tables: Vec::new(),
        claims: claims(&found),
    })
}

fn claims(found: &[Found]) -> Vec<Claim> {
    // Of one program, whose times begin at a place.
    let converges = |first: usize| {
        let ratios = found
            .iter()
            .map(|found| ratio(&found.times[first], &found.times[first + 1]));
        let ratios: Vec<f64> = ratios.collect();
        let of_eight = ratios.get(2).copied().unwrap_or(0.0);
        let last = ratios.last().copied().unwrap_or(0.0);
        (
            last < 1.15 && last < of_eight,
            format!(
                "Counted as at most 15 % apart at 64 attributes. NSM takes {} times as long as \
                 PAX at 2 to 64 attributes.",
                listed(&ratios)
            ),
        )
    };
    let (holds, freestone) = converges(2);
    let misses = |model: usize| {
        let misses = found.iter().map(|found| found.misses[model].second);
        listed(&misses.collect::<Vec<f64>>())
    };
    let fewer = |found: &Found| found.misses[1].second < found.misses[0].second;
    vec![
        Claim::replicated(
            "PAX's time for a record converges to NSM's as the number of attributes grows, since \
             fewer records share a page.",
            converges(0),
            (
                holds,
                format!(
                    "{freestone} Getting the next page, which dominates in the paper, is adding \
                     to an offset."
                ),
            ),
        ),
        Claim::tested(
            "PAX has fewer misses at every number of attributes.",
            found.iter().skip(1).all(fewer),
            format!(
                "From 4 attributes on. Misses a record at 2 to 64 attributes: NSM {}; PAX {}.",
                misses(0),
                misses(1)
            ),
        ),
    ]
}
