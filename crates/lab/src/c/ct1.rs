//! C, table I: response times.

use super::study::{Spread, Studies, Study, Variant, protocol, setup};
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;

/// Table I.
pub static EXPERIMENT: Experiment = Experiment {
    id: "ct1",
    source: "C, table I",
    title: "Response times of a column store with record ids, by factor",
    need,
    run,
};

/// What the three tables need.
pub(super) fn need(setting: &Setting) -> Need {
    let workload = protocol(setting);
    let records = (workload.records + workload.requests) as u64;
    Need {
        memory: records * 1_000,
        disk: records * 500,
        repetitions: Some(workload.runs),
        ..Need::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let studies = Studies::of(setting)?;
    Ok(Outcome {
        setup: setup(setting),
        plots: Vec::new(),
        tables: studies.tables("Response time of a request", "ms", 4, Study::response),
        claims: claims(&studies),
    })
}

fn claims(studies: &Studies) -> Vec<Claim> {
    vec![
        studies.claim(
            "Reads are much faster than writes: 0.006 ms beside 0.087 ms.",
            reads,
        ),
        studies.claim(
            "From half writes on more of them matter little (0.067 and 0.087 ms), as a logarithm \
             would have it.",
            more_writes,
        ),
        studies.claim(
            "High entropy makes requests faster (0.060 beside 0.067 ms), and steadier.",
            entropy,
        ),
        studies.claim(
            "One column is a little faster than two (0.062 beside 0.067 ms).",
            one_column,
        ),
        studies.claim(
            "Whether it is warm does not matter (0.067 hot, 0.062 cold).",
            warm,
        ),
        Claim::untested(
            "Which garbage collector is used matters little.",
            "There is none here. The allocator takes its place, which is part of a program and \
             is not exchanged while it runs: the tables have the one row of this program's.",
        ),
    ]
}

fn trimmed(study: &Study) -> [f64; 6] {
    Variant::ALL.map(|variant| study.response(variant).trimmed)
}

fn reads(study: &Study) -> (bool, String) {
    let [_, _, reads, writes, ..] = trimmed(study);
    let in_mixture = |read| study.response_of(Variant::Default, read).trimmed;
    (
        reads <= writes / 7.25,
        format!(
            "Counted as half of the document's 14.5 times at least: {reads:.4} ms and {writes:.4} ms, {:.1} times; in a mixture \
             a read takes {:.4} ms, a write {:.4}. {}",
            writes / reads,
            in_mixture(true),
            in_mixture(false),
            study.note(
                "Reads alone find nothing in files that are empty.",
                "A write is appended to a log and to a table in memory; no storage file is \
                 searched for the value, or for free space, before a block is made of many."
            )
        ),
    )
}

fn more_writes(study: &Study) -> (bool, String) {
    let [default, _, reads, writes, ..] = trimmed(study);
    (
        writes <= 1.5 * default,
        format!(
            "Counted as at most half as long again: {default:.4} ms with half writes, \
             {writes:.4} ms with writes alone, {:.2} times; half of {reads:.4} for reads alone \
             and half of {writes:.4} make {:.4} ms.",
            writes / default,
            (reads + writes) / 2.0
        ),
    )
}

fn entropy(study: &Study) -> (bool, String) {
    let [low, high]: [Spread; 2] =
        [Variant::Default, Variant::HighEntropy].map(|variant| study.response(variant));
    (
        high.trimmed <= low.trimmed && high.trimmed_deviation <= low.trimmed_deviation,
        format!(
            "{:.4} beside {:.4} ms, deviation {:.4} beside {:.4}, longest {:.2} beside {:.2} ms. \
             Writes take {:.4} and {:.4} ms: {}",
            high.trimmed,
            low.trimmed,
            high.trimmed_deviation,
            low.trimmed_deviation,
            high.most,
            low.most,
            study.response_of(Variant::HighEntropy, false).trimmed,
            study.response_of(Variant::Default, false).trimmed,
            study.note(
                "a value that is there has an entry of many keys, which is loaded and moved.",
                "new records are rows of a delta first, in which equal values are not sought."
            )
        ),
    )
}

fn one_column(study: &Study) -> (bool, String) {
    let [default, .., one] = trimmed(study);
    (
        (0.7..=1.0).contains(&(one / default)),
        format!(
            "Counted as 0.7 to 1 times as long: {one:.4} beside {default:.4} ms, {:.2} times. {}",
            one / default,
            study.note(
                "It is much faster: a request is nothing but the work of its columns, and no virtual \
                 machine is around.",
                "A column less is one value less to find and to write."
            )
        ),
    )
}

fn warm(study: &Study) -> (bool, String) {
    let [default, cold, ..] = trimmed(study);
    (
        (cold / default - 1.0).abs() <= 0.25,
        format!(
            "Counted as within a quarter: {default:.4} ms hot, {cold:.4} cold, {:.2} times.",
            cold / default
        ),
    )
}
