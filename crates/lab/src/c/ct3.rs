//! C, table III: throughput.

use super::ct1::need;
use super::study::{Spread, Studies, Study, Variant, setup};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;

/// Table III.
pub static EXPERIMENT: Experiment = Experiment {
    id: "ct3",
    source: "C, table III",
    title: "Throughput of a column store with record ids, by factor",
    need,
    run,
};

fn run(setting: &Setting) -> Result<Outcome> {
    let studies = Studies::of(setting)?;
    Ok(Outcome {
        setup: format!(
            "{} Throughput is that of each fiftieth of a run.",
            setup(setting)
        ),
        plots: Vec::new(),
        tables: studies.tables("Throughput", "requests per second", 0, Study::throughput),
        claims: claims(&studies),
    })
}

fn claims(studies: &Studies) -> Vec<Claim> {
    vec![
        studies.claim(
            "Reads alone are served about four times as fast as a mixture: 47,850 and 11,475 \
             requests a second.",
            |study| {
                let [default, _, reads, ..] = throughput(study);
                (
                    reads.trimmed >= 2.0 * default.trimmed,
                    format!(
                        "Counted as twice at least: {}. {}",
                        beside(reads, default),
                        study.note(
                            "Reads alone find nothing in files that are empty.",
                            "A write costs little more than a read, see table I.",
                        )
                    ),
                )
            },
        ),
        studies.claim(
            "Writes alone are the slowest: 9,617 requests a second.",
            slowest,
        ),
        studies.claim(
            "High entropy has a little more throughput (12,045 and 11,475), and steadier.",
            |study| {
                let [default, .., high, _] = throughput(study);
                let steady = |spread: Spread| spread.trimmed_deviation / spread.trimmed;
                (
                    high.trimmed >= default.trimmed && steady(high) <= steady(default),
                    format!(
                        "{}; deviations {:.0} and {:.0}.",
                        beside(high, default),
                        high.trimmed_deviation,
                        default.trimmed_deviation
                    ),
                )
            },
        ),
        studies.claim(
            "One column has more throughput than two (12,277 and 11,475).",
            |study| {
                let [default, .., one] = throughput(study);
                let both = format!("{}.", beside(one, default));
                (one.trimmed >= default.trimmed, both)
            },
        ),
        studies.claim(
            "Whether it is warm matters little (11,475 hot, 12,095 cold).",
            |study| {
                let [default, cold, ..] = throughput(study);
                let cold_and_hot = beside(cold, default);
                (
                    (cold.trimmed / default.trimmed - 1.0).abs() <= 0.25,
                    format!("Counted as within a quarter: cold and hot {cold_and_hot}."),
                )
            },
        ),
    ]
}

fn throughput(study: &Study) -> [Spread; 6] {
    Variant::ALL.map(|variant| study.throughput(variant))
}

fn beside(a: Spread, b: Spread) -> String {
    let (a, b) = (a.trimmed, b.trimmed);
    format!("{a:.0} and {b:.0} requests a second, {:.2} times", a / b)
}

fn slowest(study: &Study) -> (bool, String) {
    let [default, cold, reads, writes, high, one] = throughput(study);
    let slowest = |some: &[Spread]| {
        let least = some.iter().map(|one| one.trimmed);
        least.fold(f64::INFINITY, f64::min)
    };
    (
        writes.trimmed < slowest(&[default, cold, reads, high, one]),
        format!(
            "Beside half of them: {}; with high entropy {:.0}; the slowest of the others, {:.0}.",
            beside(writes, default),
            high.trimmed,
            slowest(&[default, cold, reads, one]),
        ),
    )
}
