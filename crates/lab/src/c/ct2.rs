//! C, table II: memory.

use super::ct1::need;
use super::study::{Spread, Studies, Study, Variant, setup};
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
    let studies = Studies::of(setting)?;
    Ok(Outcome {
        setup: setup(setting),
        plots: Vec::new(),
        tables: studies.tables("Memory of the records", "MB", 3, Study::memory),
        claims: claims(&studies),
    })
}

fn claims(studies: &Studies) -> Vec<Claim> {
    vec![
        studies.claim(
            "High entropy takes less memory than low entropy: 58 MB beside 124 MB on average.",
            |study| {
                let [default, .., high, _] = memory(study);
                let why = study.note(
                    "It is in maps of entries and keys; nothing that was loaded is left as garbage.",
                    "Low entropy makes blocks smaller, by a dictionary of each column.",
                );
                let both = format!("{:.3} MB beside {:.3} MB. {why}", high.mean, default.mean);
                (high.mean < default.mean, both)
            },
        ),
        studies.claim(
            "One column takes less than two: 90 MB beside 124 MB on average.",
            |study| {
                let [default, .., one] = memory(study);
                let both = format!("{:.3} MB beside {:.3} MB.", one.mean, default.mean);
                (one.mean < default.mean, both)
            },
        ),
        studies.claim("Reads alone take the steadiest memory.", |study| {
            let [default, _, reads, writes, ..] = memory(study);
            (
                reads.deviation <= default.deviation && reads.deviation <= writes.deviation,
                format!(
                    "Deviations: {:.3} MB with reads alone, {:.3} with half writes, {:.3} with \
                     writes alone.",
                    reads.deviation, default.deviation, writes.deviation
                ),
            )
        }),
        Claim::untested(
            "The longer it has run the more memory it takes: 124 MB hot, 93 MB cold.",
            "That is garbage of a virtual machine: the document clears all of the database's \
             structures after its requests for warming up. Here what they took is given back at once, \
             so that records take the same, hot or cold.",
        ),
        Claim::untested(
            "The parallel garbage collector takes the least memory at times, the serial one the \
             most.",
            "There is none here; memory that is not needed is given back at once.",
        ),
    ]
}

fn memory(study: &Study) -> [Spread; 6] {
    Variant::ALL.map(|variant| study.memory(variant))
}
