//! P, table 1: spatial locality between records, and what putting one together costs.

use super::bench::OF_THE_MODEL;
use super::places::Places;
use super::relation::Relation;
use super::table::Model;
use crate::cache::CacheMachine;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome, Table};
use crate::setting::Setting;
use freestone_calibrate::Random;
use freestone_storage::Store;

/// Table 1.
pub static EXPERIMENT: Experiment = Experiment {
    id: "pt1",
    source: "P, table 1",
    title: "What characterises NSM, DSM and PAX",
    need: |setting| Need {
        memory: records(setting) as u64 * 64 * 10,
        ..Need::default()
    },
    run,
};

const DEGREE: usize = 8;

fn records(setting: &Setting) -> usize {
    setting.by_scale(200_000, 1_200_000)
}

/// What a layout needs.
struct Found {
    model: Model,
    /// Lines from memory for a value, when one attribute is scanned.
    scanned: f64,
    /// Lines for a record at random, all attributes of it.
    record: f64,
    /// Pages of 4 KiB, as of memory or disk, that such a record lies on.
    pages: f64,
}

fn run(setting: &Setting) -> Result<Outcome> {
    let relation = Relation::new(records(setting), DEGREE, setting.seed);
    let store = Store::in_memory();
    let tables = relation.tables(&store)?;
    let machine = CacheMachine::pentium();
    let mut found = Vec::new();
    for (model, table) in &tables {
        let places = match model {
            Model::Nsm => Places::nsm(&relation)?,
            Model::Pax => Places::pax(&relation)?,
            Model::Dsm => Places::dsm(table)?,
        };
        found.push(characterise(*model, &places, &machine, setting.seed));
    }
    Ok(Outcome {
        setup: format!(
            "R of {} records with {DEGREE} attributes of 8 bytes on pages of 8 KiB. \
             {OF_THE_MODEL} Caches: {}. A record at random is read whole, 2,000 of them.",
            relation.rows(),
            machine.described()
        ),
        plots: Vec::new(),
        tables: vec![table(&found)],
        claims: claims(&found),
    })
}

fn characterise(model: Model, places: &Places, machine: &CacheMachine, seed: u64) -> Found {
    const RECORDS: usize = 2_000;
    let mut caches = machine.caches();
    let mut rows = 0;
    for part in &places.parts {
        rows += part.rows.len();
        part.rows
            .clone()
            .for_each(|row| caches.read(part.value(row, 0), 8));
    }
    let scanned = caches.counts().from_memory() as f64 / rows as f64;
    let (mut caches, mut random) = (machine.caches(), Random::stream(seed, 99));
    let mut pages = 0;
    for _ in 0..RECORDS {
        let row = random.below(rows as u64) as usize;
        let part = places.parts.partition_point(|part| part.rows.end <= row);
        let part = &places.parts[part];
        if places.slotted {
            caches.read(part.slot(row), Places::SLOT);
        }
        let values = (0..DEGREE).map(|attribute| part.value(row, attribute));
        let mut touched: Vec<u64> = values
            .inspect(|address| caches.read(*address, 8))
            .map(|address| address >> 12)
            .collect();
        touched.sort_unstable();
        touched.dedup();
        pages += touched.len();
    }
    Found {
        model,
        scanned,
        record: caches.counts().from_memory() as f64 / RECORDS as f64,
        pages: pages as f64 / RECORDS as f64,
    }
}

fn table(found: &[Found]) -> Table {
    let row = |name: &str, value: &dyn Fn(&Found) -> f64| {
        let values = found.iter().map(|found| format!("{:.2}", value(found)));
        std::iter::once(name.to_string()).chain(values).collect()
    };
    let names = found.iter().map(|found| found.model.to_string());
    Table {
        title: "Locality and the cost of records".into(),
        columns: std::iter::once(String::new()).chain(names).collect(),
        rows: vec![
            row("lines for a value of a scanned attribute", &|found| {
                found.scanned
            }),
            row("lines for a whole record at random", &|found| found.record),
            row("4 KiB pages for a whole record at random", &|found| {
                found.pages
            }),
        ],
    }
}

fn claims(found: &[Found]) -> Vec<Claim> {
    let [nsm, pax, dsm] = found else {
        return Vec::new();
    };
    vec![
        Claim::tested(
            "DSM and PAX have spatial locality between records, NSM has not.",
            dsm.scanned < 0.3 && pax.scanned < 0.3 && nsm.scanned >= 1.0,
            format!(
                "Lines of 32 bytes hold four values: {:.2} lines a value with DSM, {:.2} with \
                 PAX, {:.2} with NSM (counted as locality below 0.3).",
                dsm.scanned, pax.scanned, nsm.scanned
            ),
        ),
        Claim::tested(
            "A record is put together at low cost with NSM and PAX, not with DSM.",
            nsm.pages < 3.0 && pax.pages < 3.0 && dsm.pages >= DEGREE as f64 - 1.0,
            format!(
                "In places that are read: a record of {DEGREE} attributes lies on {:.1} pages of \
                 4 KiB with NSM, {:.1} with PAX, {:.1} with DSM, counted as low below 3. In \
                 lines PAX is no better than DSM: {:.1}, {:.1} and {:.1}; joins of surrogates, \
                 which the paper means, Freestone's `dsm` does not need.",
                nsm.pages, pax.pages, dsm.pages, nsm.record, pax.record, dsm.record
            ),
        ),
    ]
}
