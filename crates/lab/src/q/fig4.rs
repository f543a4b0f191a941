//! Sorted column stores against indexed row stores (Q, figures 4 and 5).

use super::figure::{INDEXED, blocks, by_share, tested};
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
        memory: memory(setting, KIND, 2),
        ..Need::default()
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 2);
    let cut = blocks(setting, &lab);
    let columns = lab.load(&Organisation::plain(Layout::Column, cut).sorted(0))?;
    let rows = lab.load(&Organisation::plain(Layout::Row, cut).indexed(0))?;
    let contenders = [
        Contender::new(SORTED, &columns, Access::Chosen),
        Contender::new(INDEX, &rows, Access::Index),
        Contender::new(SCAN, &rows, Access::Scan),
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
        claims: claims(&sweeps, more_columns(&lab, &sweeps)),
        ..Outcome::default()
    })
}

/// The column store's time over that of a way to read rows, for some widths.
fn listed(sweeps: &[(usize, Sweep)], widths: [usize; 2], other: &str) -> String {
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
fn more_columns(lab: &Lab, sweeps: &[(usize, Sweep)]) -> [String; 2] {
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

fn claims(sweeps: &[(usize, Sweep)], costs: [String; 2]) -> Vec<Claim> {
    let all = |widths: [usize; 2], holds: &dyn Fn(&Sweep) -> bool| {
        let some = sweeps.iter().filter(|(width, _)| widths.contains(width));
        some.into_iter().all(|(_, sweep)| holds(sweep))
    };
    let below = |sweep: &Sweep| {
        sweep.ratios(SORTED, INDEX).at_most(1.0) && sweep.ratios(SORTED, SCAN).at_most(1.0)
    };
    let equal = |sweep: &Sweep| sweep.ratios(SORTED, INDEX).about_one(0.25);
    let near = all(WIDE, &equal);
    vec![
        Claim::tested(
            "Observation 6: on its sorted column a column store beats a row store for narrow \
             projections, with an index on the row store or without (holds if it takes no longer \
             with 1 and 3 columns at any share).",
            all(NARROW, &below),
            format!(
                "Its time over that of the index, {}; of the scan, {}.",
                listed(sweeps, NARROW, INDEX),
                listed(sweeps, NARROW, SCAN)
            ),
        ),
        tested(
            "Observation 6: for wide projections it is nearly equal to a row store with an index \
             (holds if within 25 % of each other with 5 and 10 columns at every share).",
            near,
            format!(
                "The column store's time over that of the indexed row store: {}.",
                listed(sweeps, WIDE, INDEX)
            ),
            &format!(
                "With half of the rows, five columns more cost each of them {} ns of a thread from \
                 the column store and {} ns from the row store: Freestone copies the range that a \
                 search finds as one stretch of each column, and picks fields of rows that an index \
                 finds one by one, column after column.",
                costs[0], costs[1]
            ),
        ),
    ]
}
