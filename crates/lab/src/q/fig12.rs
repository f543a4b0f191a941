//! Conjunctions of three conditions (Q, figures 12 and 13).

use super::figure::{blocks, by_width, tested, widths};
use super::organisation::Organisation;
use super::query::{Access, Query};
use super::race::{Contender, Lab, Sweep, memory};
use super::tables::TableKind;
use crate::error::Result;
use crate::experiment::{Experiment, Need};
use crate::outcome::{Claim, Outcome};
use crate::setting::Setting;
use freestone_storage::Layout;

/// Figures 12 and 13: four ways to evaluate a conjunction; rows against columns.
pub const EXPERIMENT: Experiment = Experiment {
    id: "q12",
    source: "Q, figures 12 and 13",
    title: "Conjunctions",
    need,
    run,
};

const KIND: TableKind = TableKind::NarrowU;

const SCAN: &str = "scan";
const INDEX: &str = "CSB+-tree, then filter";
const SEARCH: &str = "search of the sorted column, then filter";
const BOTH: &str = "search and CSB+-tree, then filter";
const CHOSEN: &str = "as Freestone chooses";
const ROW: &str = "row store";
const COLUMN: &str = "column store";

/// Shares of rows that pass all three conditions; the first is that of the figures.
const SHARES: [f64; 3] = [0.01, 0.001, 0.1];

fn need(setting: &Setting) -> Need {
    Need {
        memory: memory(setting, KIND, 3),
        ..Need::default()
    }
}

/// Three conditions on columns that do not depend on each other, equally selective: the
/// sorted column, the indexed one, and one more.
fn query(projection: Vec<usize>, share: f64) -> Query {
    let conditions = [0, 1, 2].map(|column| (column, KIND.at_least(column, share.cbrt())));
    Query {
        projection,
        conditions: conditions.to_vec(),
    }
}

fn run(setting: &Setting) -> Result<Outcome> {
    let mut lab = Lab::new(setting, KIND, 3);
    let cut = blocks(setting, &lab);
    let load = |organisation: Organisation| lab.load(&organisation.indexed(1));
    let columns = load(Organisation::plain(Layout::Column, cut))?;
    let sorted = load(Organisation::plain(Layout::Column, cut).sorted(0))?;
    let rows = load(Organisation::plain(Layout::Row, cut))?;
    let ways = [
        Contender::new(SCAN, &columns, Access::Scan),
        Contender::new(INDEX, &columns, Access::Index),
        Contender::new(SEARCH, &sorted, Access::Scan),
        Contender::new(BOTH, &sorted, Access::Index),
        Contender::new(CHOSEN, &sorted, Access::Chosen),
    ];
    let layouts = [
        Contender::new(ROW, &rows, Access::Index),
        Contender::new(COLUMN, &columns, Access::Index),
    ];
    let generator = lab.generator();
    let widths = widths(&lab);
    let (mut plots, mut strategies, mut stores) = (Vec::new(), Vec::new(), Vec::new());
    for share in SHARES {
        let ask = |width: f64, turn: usize| {
            query(generator.projection(width as usize, turn as u64), share)
        };
        let (by_way, by_layout) = (
            lab.sweep(&ways, &widths, ask)?,
            lab.sweep(&layouts, &widths, ask)?,
        );
        let title = format!("conjunction of three conditions, {} %", share * 100.0);
        plots.push(by_width(
            &format!("Figure 12: {title}, column store"),
            &by_way,
        ));
        plots.push(by_width(
            &format!("Figure 13: {title}, CSB+-tree"),
            &by_layout,
        ));
        strategies.push(by_way);
        stores.push(by_layout);
    }
    Ok(Outcome {
        setup: lab.setup(
            "Each of the three conditions passes the cube root of the share by itself: 21.5 % for \
             1 %. Search and index, and index alone, are made to be used; the last curve of figure \
             12 is what Freestone chooses in sorted blocks that have the index.",
        ),
        plots,
        claims: claims(&strategies, &stores, &costs(&lab, &strategies[0])),
        ..Outcome::default()
    })
}

/// A ratio of two ways for each share.
fn listed(sweeps: &[Sweep], way: &str, other: &str) -> String {
    let each = sweeps.iter().zip(SHARES);
    let each = each
        .map(|(sweep, share)| format!("{} %: {} columns", share * 100.0, sweep.ratios(way, other)));
    each.collect::<Vec<String>>().join("; ")
}

/// What the ways cost without output at the first of the shares.
fn costs(lab: &Lab, sweep: &Sweep) -> String {
    let alone = SHARES[0].cbrt();
    let nanoseconds = |way, rows: f64| {
        let seconds = sweep
            .medians(way)
            .first()
            .map_or(f64::NAN, |(_, seconds)| *seconds);
        seconds * 1e9 * lab.threads as f64 / rows
    };
    let rows = lab.rows as f64;
    format!(
        "Without output, a scan takes {:.1} ns of a thread for each row of the table, and the index \
         with its filter {:.1} ns for each of the {:.1} % that it finds: a condition is tested on \
         packed values, many at once, where rows are in order, while rows from an index have to be \
         brought into order and each of their values fetched.",
        nanoseconds(SCAN, rows),
        nanoseconds(INDEX, rows * alone),
        alone * 100.0
    )
}

fn claims(strategies: &[Sweep], stores: &[Sweep], filter: &str) -> Vec<Claim> {
    let all = |sweeps: &[Sweep], way: &str, other: &str| {
        sweeps
            .iter()
            .all(|sweep| sweep.ratios(way, other).at_most(1.0))
    };
    let one_percent = &strategies[..1.min(strategies.len())];
    let narrow = |sweep: &Sweep| sweep.ratios(COLUMN, ROW).of(|width| width == 1.0);
    vec![
        tested(
            "Figure 12: a scan is the slowest way to evaluate a conjunction of 1 % (holds if \
             search, index and both take no longer at any width).",
            [INDEX, SEARCH, BOTH]
                .iter()
                .all(|way| all(one_percent, way, SCAN)),
            format!(
                "Time over that of the scan, search: {}; index: {}; both: {}.",
                listed(one_percent, SEARCH, SCAN),
                listed(one_percent, INDEX, SCAN),
                listed(one_percent, BOTH, SCAN)
            ),
            filter,
        ),
        tested(
            "Observation 12: at 10 % and below, search of the sorted column and index together beat \
             either alone (holds if they take no longer than each at 0.1, 1 and 10 % and every \
             width).",
            all(strategies, BOTH, INDEX) && all(strategies, BOTH, SEARCH),
            format!(
                "Both over index alone: {}. Both over search alone: {}.",
                listed(strategies, BOTH, INDEX),
                listed(strategies, BOTH, SEARCH)
            ),
            filter,
        ),
        Claim::tested(
            "Figure 13: with an index on one of three columns, at 0.1 and 1 %, column stores are \
             slightly faster than row stores for narrow projections, against observation 7 (holds \
             if they are with one column).",
            stores
                .iter()
                .take(2)
                .all(|sweep| narrow(sweep).at_most(1.0)),
            format!(
                "Column store's time over the row store's: {}.",
                listed(stores, COLUMN, ROW)
            ),
        ),
        Claim::tested(
            "Section 4.6: which ways to use can be left to the block (holds if what Freestone \
             chooses in sorted blocks with an index takes at most 30 % longer than the best of the \
             two at every width and share).",
            strategies.iter().all(|sweep| {
                let (both, search) = (sweep.ratios(CHOSEN, BOTH), sweep.ratios(CHOSEN, SEARCH));
                let pairs = both.0.iter().zip(&search.0);
                pairs
                    .into_iter()
                    .all(|(both, search)| both.1.max(search.1) <= 1.3)
            }),
            format!(
                "Its time over search alone: {}; over both: {}.",
                listed(strategies, CHOSEN, SEARCH),
                listed(strategies, CHOSEN, BOTH)
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tables::Generator;
    use super::*;
    use freestone_storage::Value;

    #[test]
    fn conditions_pass_their_share_together() {
        let generator = Generator {
            kind: KIND,
            seed: 1,
        };
        let rows = 100_000;
        for share in SHARES {
            let query = query(Vec::new(), share);
            let passes = |row: &u64| {
                let mut conditions = query.conditions.iter();
                conditions.all(|(column, value)| {
                    let here = Value::Int(generator.integer(*column, *row).into());
                    value.total_order(&here).is_le()
                })
            };
            let passed = (0..rows).filter(passes).count() as f64;
            let expected = share * rows as f64;
            assert!(
                (passed - expected).abs() < 5.0 * expected.sqrt(),
                "{share}: {passed}"
            );
        }
    }
}
