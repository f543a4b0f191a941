//! Sorted column stores against indexed row stores (Q, figures 4 and 5).

use super::figure::{INDEXED, by_share, judged, large_blocks};
use super::organisation::Organisation;
use super::query::{Access, Query};
use super::race::{Contender, Lab, Sweep, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Figures 4 and 5: column store against row store with an index, sorted column.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q4",
    source: "Q, figures 4 and 5",
    title: "Sorted column store and indexed row store",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;

const SORTED: &str = "column store, search";
const INDEX: &str = "row store, CSB+-tree";
const SCAN: &str = "row store, scan";

/// Projection widths: narrow ones, and wide ones.
const NARROW: [usize; 2] = [1, 3];
const WIDE: [usize; 2] = [5, 10];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 4),
        ..Need::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 4);
    let cut = large_blocks(&lab);
    let sorted = Organisation::plain(Layout::Column, cut).sorted(0);
    let indexed = Organisation::plain(Layout::Row, cut).indexed(0);
    let (columns, rows) = (lab.load(&sorted)?, lab.load(&indexed)?);
    let replicas = (lab.replica(&sorted)?, lab.replica(&indexed)?);
    let contenders = [
        Contender::new(SORTED, &columns, Access::Chosen),
        Contender::new(INDEX, &rows, Access::Index),
        Contender::new(SCAN, &rows, Access::Scan),
        Contender::paper(SORTED, &replicas.0, Access::Chosen),
        Contender::paper(INDEX, &replicas.1, Access::Index),
        Contender::paper(SCAN, &replicas.1, Access::Scan),
    ];
    let generator = lab.generator();
    let (mut plots, mut sweeps) = (Vec::new(), Vec::new());
    for (figure, widths) in [(4, NARROW), (5, WIDE)] {
        for width in widths {
            let sweep = lab.sweep(&contenders, &INDEXED, |share, turn| {
                Query::of(KIND, generator.projection(width, turn as u64), 0, share)
            })?;
            let title = format!("Figure {figure}: predicate on the sorted column, {width} columns");
            plots.push(by_share(&title, &sweep));
            sweeps.push((width, sweep));
        }
    }
    let setup = lab.setup(
        "The row store is not sorted. A scan of Freestone gives columns, of rows as well, from \
         which the tuples of the result are put together.",
    );
    Ok(Outcome {
        setup,
        plots,
        claims: claims(&lab, &sweeps),
        ..Outcome::default()
    })
}

/// A sweep for each width.
type Sweeps = Vec<(usize, Sweep)>;

/// The column store's time over that of a way to read rows, for some widths.
fn listed(sweeps: &Sweeps, widths: [usize; 2], other: &str) -> String {
    let some = sweeps.iter().filter(|(width, _)| widths.contains(width));
    let each = some.map(|(width, sweep)| {
        format!(
            "{width} columns: {} of the rows",
            sweep.ratios(SORTED, other)
        )
    });
    each.collect::<Vec<String>>().join("; ")
}

/// Nanoseconds of a thread that the five columns more of the widest projection cost each
/// row of a result of half of the rows: searched columns, and indexed rows.
fn more_columns(lab: &Lab, sweeps: &Sweeps) -> [String; 2] {
    let seconds = |width: usize, name: &str| {
        let sweep = sweeps.iter().find(|(known, _)| *known == width);
        let medians = sweep.map(|(_, sweep)| sweep.medians(name));
        let last = medians.and_then(|medians| medians.last().copied());
        last.map_or(f64::NAN, |(_, seconds)| seconds)
    };
    let rows = lab.rows as f64 * INDEXED[3] / lab.threads as f64;
    [SORTED, INDEX].map(|name| {
        let more = seconds(WIDE[1], name) - seconds(WIDE[0], name);
        format!("{:.1}", more * 1e9 / rows)
    })
}

fn claims(lab: &Lab, sweeps: &Sweeps) -> Vec<Claim> {
    let side = |number: usize| -> Sweeps {
        let sides = sweeps.iter().map(|(width, sweep)| (*width, sweep.sides()));
        sides
            .map(|(width, sides)| (width, sides[number].clone()))
            .collect()
    };
    let sides = [side(0), side(1)];
    let all = |sweeps: &Sweeps, widths: [usize; 2], holds: &dyn Fn(&Sweep) -> bool| {
        let some = sweeps.iter().filter(|(width, _)| widths.contains(width));
        some.into_iter().all(|(_, sweep)| holds(sweep))
    };
    let below = |sweep: &Sweep| {
        sweep.ratios(SORTED, INDEX).no_longer() && sweep.ratios(SORTED, SCAN).no_longer()
    };
    let equal = |sweep: &Sweep| sweep.ratios(SORTED, INDEX).about_one(0.25);
    let costs = |sweeps: &Sweeps| {
        let [sorted, indexed] = more_columns(lab, sweeps);
        format!(
            "With half of the rows, five columns more cost each of them {sorted} ns of a thread from \
             the column store and {indexed} ns from the row store"
        )
    };
    vec![
        judged(
            "Observation 6: on its sorted column a column store beats a row store for narrow \
             projections, with an index on the row store or without (holds if it takes no longer \
             with 1 and 3 columns at any share).",
            &sides,
            |sweeps| {
                let measured = format!(
                    "its time over that of the index is {}; of the scan, {}.",
                    listed(sweeps, NARROW, INDEX),
                    listed(sweeps, NARROW, SCAN)
                );
                (all(sweeps, NARROW, &below), measured)
            },
            ["", ""],
        ),
        judged(
            "Observation 6: for wide projections it is nearly equal to a row store with an index \
             (holds if within 25 % of each other with 5 and 10 columns at every share).",
            &sides,
            |sweeps| {
                let listed = listed(sweeps, WIDE, INDEX);
                let measured = format!("its time over that of the indexed row store is {listed}.");
                (all(sweeps, WIDE, &equal), measured)
            },
            [
                &format!("{}.", costs(&sides[0])),
                &format!(
                    "{}: Freestone copies the range that a search finds as one stretch of each \
                     column, and picks fields of rows that an index finds one by one, column after \
                     column.",
                    costs(&sides[1])
                ),
            ],
        ),
    ]
}
