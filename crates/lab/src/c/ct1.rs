//! C, table I: response times.

use super::study::{Study, Variant, protocol, setup, table};
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
        programs: Vec::new(),
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let study = Study::new(setting)?;
    let spread = |variant| study.response(variant);
    Ok(Outcome {
        setup: setup(setting),
        plots: Vec::new(),
        tables: vec![table("Response time of a request", "ms", 4, spread)],
        claims: claims(&study),
    })
}

fn claims(study: &Study) -> Vec<Claim> {
    let trimmed = |variant| study.response(variant).trimmed;
    let [default, cold, reads, writes, high, one] = Variant::ALL.map(trimmed);
    let most = |variant| study.response(variant).most;
    let deviation = |variant| study.response(variant).deviation;
    vec![
        Claim::tested(
            "Reads are much faster than writes: 0.006 ms beside 0.087 ms.",
            reads <= writes / 5.0,
            format!(
                "Counted as five times: {reads:.4} ms and {writes:.4} ms, {:.1} times. A write is \
                 appended to a log and to a table in memory; no storage file is searched for the \
                 value, or for free space, before a block is made of many.",
                writes / reads
            ),
        ),
        Claim::tested(
            "From half writes on more of them matter little (0.067 and 0.087 ms), as a logarithm \
             would have it.",
            writes <= 1.5 * default,
            format!(
                "Counted as at most half as long again: {default:.4} ms with half writes, \
                 {writes:.4} ms with writes alone, {:.2} times. Here a request costs what it \
                 costs, so that the mean is linear in the share of writes: half of {reads:.4} \
                 and half of {writes:.4} make {:.4} ms.",
                writes / default,
                (reads + writes) / 2.0
            ),
        ),
        Claim::tested(
            "High entropy makes requests faster (0.060 beside 0.067 ms), and steadier.",
            high <= default && deviation(Variant::HighEntropy) <= deviation(Variant::Default),
            format!(
                "{high:.4} beside {default:.4} ms, deviation {:.4} beside {:.4}, longest {:.2} \
                 beside {:.2} ms. Writes take {:.4} and {:.4} ms: new records are rows of a delta \
                 first, in which equal values are not sought.",
                deviation(Variant::HighEntropy),
                deviation(Variant::Default),
                most(Variant::HighEntropy),
                most(Variant::Default),
                study.response_of(Variant::HighEntropy, false).trimmed,
                study.response_of(Variant::Default, false).trimmed
            ),
        ),
        Claim::tested(
            "One column is a little faster than two (0.062 beside 0.067 ms).",
            (0.7..=1.0).contains(&(one / default)),
            format!(
                "Counted as 0.7 to 1 times as long: {one:.4} beside {default:.4} ms, {:.2} \
                 times. A column less is one value less to find and to write; both are \
                 fractions of a microsecond.",
                one / default
            ),
        ),
        Claim::tested(
            "Whether it is warm does not matter (0.067 hot, 0.062 cold).",
            (cold / default - 1.0).abs() <= 0.25,
            format!(
                "Counted as within a quarter: {default:.4} ms hot, {cold:.4} cold, {:.2} times.",
                cold / default
            ),
        ),
        Claim::untested(
            "Which garbage collector is used matters little.",
            "There is none here. The allocator takes its place, which is part of a program and \
             is not exchanged while it runs: the tables have the one row of this program's.",
        ),
    ]
}
