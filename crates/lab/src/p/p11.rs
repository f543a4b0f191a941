//! P, figure 11: how long bulk-loading takes with each layout.

use super::lineitem;
use super::measure::{in_turns, percent, ratio, timed};
use super::plots::{plot, series};
use super::relation::PAGE_BYTES;
use super::table::{Model, load};
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome, Point};
use crate::setting::Setting;
use freestone_storage::{Store, TableOptions};

/// Figure 11.
pub static EXPERIMENT: Experiment = Experiment {
    id: "p11",
    source: "P, figure 11",
    title: "Bulk-loading LINEITEM",
    need: |setting| Need {
        memory: sizes(setting)[2] * 5_000_000,
        ..Need::default()
    },
    run,
};

/// Megabytes of LINEITEM as text; the paper's are those of all tables together.
fn sizes(setting: &Setting) -> [u64; 3] {
    setting.by_scale([10, 20, 50], [100, 200, 500])
}

/// Options that fill every page, which is the paper's worst case.
pub(super) fn exhaustive(model: Model) -> TableOptions {
    TableOptions {
        reorganise_percent: 0,
        ..model.options(PAGE_BYTES)
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let (sizes, schema) = (sizes(setting), lineitem::schema());
    // By size, layout and turn.
    let mut times = Vec::new();
    for size in sizes {
        let count = size as usize * 1_000_000 / lineitem::BYTES_A_ROW;
        let rows = lineitem::rows(count, setting.seed)?;
        times.push(in_turns(setting.repetitions(), &Model::ALL, |model| {
            let store = Store::in_memory();
            let options = exhaustive(*model);
            let loaded = timed(|| load(&store, "lineitem", &schema, &options, &rows));
            Ok(loaded?.1)
        })?);
    }
    let curves = Model::ALL.iter().enumerate().map(|(model, name)| {
        let points = sizes.iter().zip(&times);
        let points = points.map(|(size, times)| Point::of(*size as f64, &times[model]));
        series(name.to_string(), points)
    });
    let title = "Time to load LINEITEM";
    Ok(Outcome {
        setup: format!(
            "LINEITEM of {sizes:?} MB as text, 16 columns with their types, from arrays to \
             blocks in memory, on pages of 8 KiB that are filled as far as possible, without \
             codecs; processor time of one thread, {} repetitions in turns. Zone maps, sketches \
             and checksums are made as for every block; nothing is logged record by \
             record, as it was in the paper.",
            setting.repetitions()
        ),
        plots: vec![plot(title, "megabytes", "seconds", curves.collect())],
        tables: Vec::new(),
        claims: claims(&times),
    })
}

fn claims(times: &[Vec<Vec<f64>>]) -> Vec<Claim> {
    let last = &times[times.len() - 1];
    let (dsm, pax) = (ratio(&last[2], &last[0]), ratio(&last[1], &last[0]));
    vec![
        Claim::tested(
            "DSM takes much longer to load than NSM and PAX, since each value becomes a record \
             of its own beside its surrogate.",
            dsm > 1.5 && dsm > 1.5 * pax,
            format!(
                "Counted as half as long again at least: DSM takes {dsm:.2} times as long as \
                 NSM at the largest size. Freestone's `dsm` stores the surrogates of a column \
                 without NULLs as one run and copies the values as they are; NSM puts each \
                 record together value by value."
            ),
        ),
        Claim::tested(
            "Loading PAX takes at most 10 % longer than NSM, when pages are filled up.",
            pax <= 1.10,
            format!(
                "PAX takes {} of NSM's time at the largest size: it copies runs of values column by \
                 column.",
                percent(pax)
            ),
        ),
    ]
}
