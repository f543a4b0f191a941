//! C, table III: throughput.

use super::ct1::need;
use super::study::{Study, Variant, setup, table};
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
    let study = Study::new(setting)?;
    let spread = |variant| study.throughput(variant);
    Ok(Outcome {
        setup: format!(
            "{} Throughput is that of each fiftieth of a run.",
            setup(setting)
        ),
        plots: Vec::new(),
        tables: vec![table("Throughput", "requests per second", 0, spread)],
        claims: claims(&study),
    })
}

fn claims(study: &Study) -> Vec<Claim> {
    let [default, cold, reads, writes, high, one] =
        Variant::ALL.map(|variant| study.throughput(variant));
    let beside =
        |a: f64, b: f64| format!("{a:.0} and {b:.0} requests a second, {:.2} times", a / b);
    vec![
        Claim::tested(
            "Reads alone are served about four times as fast as a mixture: 47,850 and 11,475 \
             requests a second.",
            reads.trimmed >= 2.0 * default.trimmed,
            format!(
                "Counted as twice at least: {}. A write costs little more than a read: it is \
                 appended to a log and to a table in memory.",
                beside(reads.trimmed, default.trimmed)
            ),
        ),
        Claim::tested(
            "Writes alone are the slowest: 9,617 requests a second.",
            [default, cold, reads, high, one]
                .iter()
                .all(|other| writes.trimmed < other.trimmed),
            format!(
                "Beside half of them: {}. A write costs about what a read does, see table I.",
                beside(writes.trimmed, default.trimmed)
            ),
        ),
        Claim::tested(
            "High entropy has a little more throughput (12,045 and 11,475), and steadier.",
            high.trimmed >= default.trimmed
                && high.deviation / high.trimmed <= default.deviation / default.trimmed,
            format!(
                "{}; deviations {:.0} and {:.0}.",
                beside(high.trimmed, default.trimmed),
                high.deviation,
                default.deviation
            ),
        ),
        Claim::tested(
            "One column has more throughput than two (12,277 and 11,475).",
            one.trimmed >= default.trimmed,
            format!("{}.", beside(one.trimmed, default.trimmed)),
        ),
        Claim::tested(
            "Whether it is warm matters little (11,475 hot, 12,095 cold).",
            (cold.trimmed / default.trimmed - 1.0).abs() <= 0.25,
            format!(
                "Counted as within a quarter: cold and hot {}.",
                beside(cold.trimmed, default.trimmed)
            ),
        ),
    ]
}
