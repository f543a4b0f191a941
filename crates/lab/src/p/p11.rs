//! P, figure 11: how long bulk-loading takes with each layout.

use super::lineitem;
use super::plots::{plot, series};
use super::relation::PAGE_BYTES;
use super::replica;
use super::table::{Model, load};
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::measure::{elapsed, in_turns, median, percent, ratio, timed};
use crate::outcome::{Claim, Outcome, Point};
use crate::setting::Setting;
use freestone_storage::{Store, TableOptions};

/// Figure 11.
pub static EXPERIMENT: Experiment = Experiment {
    id: "p11",
    source: "P, figure 11",
    title: "Bulk-loading LINEITEM",
    need: |setting| {
        let need = Need {
            memory: sizes(setting)[2] * 5_000_000,
            // Log and pages of each value with its surrogate and headers.
            disk: sizes(setting)[2] * 20_000_000,
            ..Need::default()
        };
        need.measured(setting.many_repetitions())
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

const NAMES: [&str; 6] = [
    "NSM, as in the document",
    "PAX, as in the document",
    "DSM, as in the document",
    "NSM",
    "PAX",
    "DSM",
];
/// Where Freestone's begin.
const FREESTONE: usize = 3;

/// Seconds until a text is loaded with the document's program, and log and pages are on disk.
fn load_as_in_the_document(model: Model, text: &str, setting: &Setting) -> Result<f64> {
    use replica::lineitem::{dsm, nsm, pax};
    let disk = replica::Disk::in_directory(&setting.scratch)?;
    let load = || match model {
        Model::Nsm => nsm(text, Some(&disk)).map(drop),
        Model::Pax => pax(text, 0.0, Some(&disk)).map(drop),
        Model::Dsm => dsm(text, Some(&disk)).map(drop),
    };
    Ok(elapsed(load)?.1)
}

fn run(setting: &Setting) -> Result<Outcome> {
    let (sizes, schema) = (sizes(setting), lineitem::schema());
    let variants: Vec<usize> = (0..NAMES.len()).collect();
    // By size, program with layout, and turn.
    let mut times = Vec::new();
    for size in sizes {
        let count = size as usize * 1_000_000 / lineitem::BYTES_A_ROW;
        let rows = lineitem::rows(count, setting.seed)?;
        let text = replica::lineitem::text(&rows)?;
        times.push(in_turns(
            setting.many_repetitions(),
            &variants,
            |variant| {
                let model = Model::ALL[variant % FREESTONE];
                if *variant < FREESTONE {
                    return load_as_in_the_document(model, &text, setting);
                }
                let store = Store::in_memory();
                let options = exhaustive(model);
                let loaded = timed(|| load(&store, "lineitem", &schema, &options, &rows));
                Ok(loaded?.1)
            },
        )?);
    }
    let curves = NAMES.iter().enumerate().map(|(model, name)| {
        let points = sizes.iter().zip(&times);
        let points = points.map(|(size, times)| Point::of(*size as f64, &times[model]));
        series(*name, points)
    });
    let title = "Time to load LINEITEM";
    Ok(Outcome {
        setup: format!(
            "LINEITEM of {sizes:?} MB as text, 16 columns with their types, on pages of 8 KiB that \
             are filled as far as possible, without codecs; one thread, {} repetitions in turns. As \
             in the document: from a text, a record at a time; NSM copies each, PAX each value and \
             moves minipages, DSM makes a record of each value and its surrogate, without an index; \
             each record is logged, and time is over when log and pages are on disk. Claims are \
             decided by it. Freestone: processor time from arrays to blocks in memory; zone maps, \
             sketches and checksums are made, and nothing is logged record by record.",
            setting.many_repetitions()
        ),
        plots: vec![plot(title, "megabytes", "seconds", curves.collect())],
        tables: Vec::new(),
        claims: claims(&times),
    })
}

fn claims(times: &[Vec<Vec<f64>>]) -> Vec<Claim> {
    let last = &times[times.len() - 1];
    // DSM and PAX beside NSM, of a program whose times begin at a place.
    let beside = |first: usize| {
        let ratio = |model: usize| ratio(&last[first + model], &last[first]);
        (ratio(2), ratio(1))
    };
    let slow = |first: usize| {
        let (dsm, pax) = beside(first);
        let because = format!(
            "Counted as half as long again at least: DSM takes {dsm:.2} times as long as NSM at \
             the largest size, PAX {pax:.2} times."
        );
        (dsm > 1.5 && dsm > 1.5 * pax, because)
    };
    let near = |first: usize| {
        let (_, pax) = beside(first);
        let because = format!(
            "PAX takes {} of NSM's time at the largest size.",
            percent(pax)
        );
        (pax <= 1.10, because)
    };
    let with = |(holds, because): (bool, String), why: &str| (holds, format!("{because} {why}"));
    let (is_near, because) = near(0);
    let seconds = |model: usize| median(&last[model]);
    let document = (
        is_near,
        format!(
            "{because} NSM takes {:.2} s, PAX {:.2} s: sixteen copies of a record instead of one, and \
             minipages that are moved (table 2 counts them).",
            seconds(0),
            seconds(1),
        ),
    );
    vec![
        Claim::replicated(
            "DSM takes much longer to load than NSM and PAX, since each value becomes a record \
             of its own beside its surrogate.",
            slow(0),
            with(
                slow(FREESTONE),
                "Its `dsm` stores the surrogates of a column without NULLs as one run and copies \
                 the values as they are; its NSM puts each record together value by value.",
            ),
        ),
        Claim::replicated(
            "Loading PAX takes at most 10 % longer than NSM, when pages are filled up.",
            document,
            with(
                near(FREESTONE),
                "It copies runs of values column by column.",
            ),
        ),
    ]
}
