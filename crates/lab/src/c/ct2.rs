//! C, table II: memory.

use super::ct1::need;
use super::study::{Study, Variant, setup, table};
use crate::error::Result;
use crate::experiment::Experiment;
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;

/// Table II.
pub static EXPERIMENT: Experiment = Experiment {
    id: "ct2",
    source: "C, table II",
    title: "Memory of a column store with record ids, by factor",
    need,
    run,
};

fn run(setting: &Setting) -> Result<Outcome> {
    let study = Study::new(setting)?;
    let spread = |variant| study.memory(variant);
    Ok(Outcome {
        setup: setup(setting),
        plots: Vec::new(),
        tables: vec![table("Memory of the records", "MB", 2, spread)],
        claims: claims(&study),
    })
}

fn claims(study: &Study) -> Vec<Claim> {
    let [default, cold, reads, writes, high, one] =
        Variant::ALL.map(|variant| study.memory(variant));
    vec![
        Claim::tested(
            "High entropy takes less memory than low entropy: 58 MB beside 124 MB on average.",
            high.mean < default.mean,
            format!(
                "{:.2} MB beside {:.2} MB. Low entropy makes blocks smaller here, by a dictionary \
                 of each column; that entries which are all different should take less is no \
                 property of the data.",
                high.mean, default.mean
            ),
        ),
        Claim::tested(
            "One column takes less than two: 90 MB beside 124 MB on average.",
            one.mean < default.mean,
            format!("{:.2} MB beside {:.2} MB.", one.mean, default.mean),
        ),
        Claim::tested(
            "Reads alone take the steadiest memory.",
            reads.deviation <= default.deviation && reads.deviation <= writes.deviation,
            format!(
                "Deviations: {:.3} MB with reads alone, {:.3} with half writes, {:.3} with writes \
                 alone.",
                reads.deviation, default.deviation, writes.deviation
            ),
        ),
        Claim::tested(
            "The longer it has run the more memory it takes: 124 MB hot, 93 MB cold.",
            default.mean > 1.1 * cold.mean,
            format!(
                "Counted as a tenth more at least: {:.2} MB hot, {:.2} MB cold. After the requests \
                 for warming up all records are made anew, and nothing of the former stays \
                 in memory that is not collected.",
                default.mean, cold.mean
            ),
        ),
        Claim::untested(
            "The parallel garbage collector takes the least memory at times, the serial one the \
             most.",
            "There is none here; memory that is not needed is given back at once.",
        ),
    ]
}
